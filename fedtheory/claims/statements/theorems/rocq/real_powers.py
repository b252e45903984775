"""Lines about powers with real exponents as lemmas of Rocq: Bernoulli's inequality, the exponential's tangent, powers of both sides.

A power is `Rpower b s` or `exp x` in Rocq, and in the normal form of formulas a product of powers of what its base is taken apart into: both are the
same since their logarithms are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from fedtheory.claims.statements.theorems.rocq.limits import LimitWriter, settle
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import (
    EULER,
    Quotient,
    base_pieces,
    exponent_of,
    multiply_exponents,
    power_of_atom,
    value_of,
)
from fedtheory.proofs.checker.formulas import Sentence, read, split_pieces
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.rocq.expressions import ONE, Real

_ONE = Quotient.number(1)


def write_bernoulli(script: LimitWriter, goal: Sentence, text: str) -> str:
    """``bernoulli x, s``."""
    checker = script.checker
    x, s = (checker.value(read(piece)) for piece in split_pieces(text))
    _note_roots(script, goal)
    base, tangent = _ONE + x, _ONE + s * x
    power = checker.value(read(f"(1 + ({x.text()}))**({s.text()})"))
    if checker.is_nonnegative(-s):
        lemma, fact, ends = "negative", power - tangent, (-s,)
    elif checker.is_nonnegative(s - _ONE):
        lemma, fact, ends = "above", power - tangent, (s - _ONE,)
    else:
        lemma, fact, ends = "between", tangent - power, (s, _ONE - s)  # type: ignore[assignment]
    x_shown, s_shown = (script.formulas.quotient(q).text(9) for q in (x, s))
    inside = _at_most(script, "(-1)", x_shown, base, strict=True)
    at = [
        _at_most(script, *pair, end)
        for pair, end in zip(
            {"above": [("1", s_shown)], "negative": [(s_shown, "0")]}.get(lemma, [("0", s_shown), (s_shown, "1")]),
            ends,
            strict=True,
        )
    ]
    within = at[0] if len(at) == 1 else f"(conj {at[0]} {at[1]})"
    return _from_powers(
        script,
        checker.gap(goal) - fact,
        [power, tangent],
        f"pose proof (bernoulli_{lemma} {x_shown} {s_shown} {inside} {within}) as most.",
        [same_power(script, (f"1 + {x_shown}", s_shown), (base, s), " in most")],
    )


def write_exponential(script: LimitWriter, goal: Sentence, text: str) -> str:
    """``exponential x``."""
    checker, x = script.checker, script.checker.value(read(text))
    power = checker.value(read(f"exp({x.text()})"))
    _note_roots(script, goal)
    shown = script.formulas.quotient(x).text(9)
    return _from_powers(
        script,
        checker.gap(goal) - (power - _ONE - x),
        [x],
        f"pose proof (exponential_rule {shown}) as most.",
        [same_exponential(script, shown, x, " in most")],
    )


def write_logarithm(script: LimitWriter, goal: Sentence, text: str) -> str:
    """``logarithm x``."""
    checker, x = script.checker, script.checker.value(read(text))
    fact, gap = x - checker.value(read(f"exp(log({text}))")), checker.gap(goal)
    _note_roots(script, goal)
    own = f"exp_ln {script.formulas.quotient(x).text(9)} {script.signs.prove(x, strict=True)}"
    side = "1" if (gap - fact).zero else "(-1)"
    refined = f"refine (combine_equal 1 _ _ _ _ (weigh_zero {side} _ _ ({own})) _); [lra |]."
    return "\n  ".join([*script.divisors(x, gap, *script.divided_by(goal)), refined, script.finish()])


def write_power(script: LimitWriter, line: ProofLine, goal: Sentence, text: str, more: Mapping[str, Sentence]) -> str:
    """``power NAME, s``."""
    checker = script.checker
    name, exponent = split_pieces(text)
    premise, s = checker.premise(line, goal, name, more), checker.value(read(exponent))
    sides = [checker.value(premise.left), checker.value(premise.right)]
    small, large = (value_of(read(f"({side.text()})**({s.text()})")) for side in sides)
    _note_roots(script, goal)
    *shown, power_shown = (script.formulas.quotient(q).text(9) for q in (*sides, s))
    fact = script.premise(goal, name, more)
    fact = f"(Req_le _ _ {fact})" if premise.sign == "==" else f"(Rlt_le _ _ {fact})" if premise.sign == "<" else fact
    facts = "".join(f"{posed.rstrip('.')}; " for posed in script.divisors(*sides, *script.divided_by(premise)))
    order = f"(combine 1 {shown[0]} {shown[1]} _ 0 Rlt_0_1 (weigh 1 _ _ ltac:(lra) {fact}) nothing ltac:({facts}normal; field; nonzero))"
    below = f"{script.signs.prove(sides[0], strict=True)} {order} {script.signs.prove(s)}"
    return _from_powers(
        script,
        checker.gap(goal) - (large - small),
        [small, large],
        f"pose proof (power_rule {' '.join(shown)} {power_shown} {below}) as most.",
        [
            same_power(script, (side_shown, power_shown), (side, s), " in most")
            for side_shown, side in zip(shown, sides, strict=True)
        ],
    )


def _note_roots(script: LimitWriter, goal: Sentence) -> None:
    """Roots of this line, and no others."""
    script.formulas.roots.clear()
    script.formulas.sentence(goal)
    script.formulas.real_powers = True


def _from_powers(script: LimitWriter, left: Quotient, met: list[Quotient], most: str, same: list[str]) -> str:
    """The goal from an inequality between powers, once these are written in their normal form."""
    return "\n  ".join([*script.divisors(left, *met), most, *filter(None, same), settle(script, left), script.finish()])


def _at_most(script: LimitWriter, low: str, high: str, gap: Quotient, *, strict: bool = False) -> str:
    """An inequality from the sign of its gap."""
    word, sign = ("combine_less", "<") if strict else ("combine", "<=")
    facts = _posed(script, gap)
    rest, proof = script.formulas.quotient(gap).text(9), script.signs.prove(gap, strict=strict)
    return (
        f"({word} 1 {low} {high} 0 {rest} Rlt_0_1 nothing {proof} ltac:({facts}field; nonzero) : {low} {sign} {high})"
    )


def same_power(script: LimitWriter, shown: tuple[str, str], values: tuple[Quotient, Quotient], where: str = "") -> str:
    """A power, its base and exponent as they are shown, is a product of powers, which is put in its place."""
    formulas, (base_shown, s_shown), (base, s) = script.formulas, shown, values
    positive = "".join(f"pose proof {script.signs.prove(q, strict=True)}; " for q in _pieces(base))
    product = formulas.product(base)
    proof = f"{positive}replace ({base_shown}) with ({product}) by (field; nonzero); by_logs; field; nonzero"
    return _put(f"Rpower ({base_shown}) {s_shown}", product_of_powers(script, base, s).text(69), proof, where)


def _put(shown: str, product: str, proof: str, where: str) -> str:
    """Tactics that write a product for what is shown; none where both are the same but for parentheses, which ``alike`` looks through."""
    if re.sub(r"[()]", "", shown) == re.sub(r"[()]", "", product):
        return ""
    return f"assert (same : {shown} = {product}) by ({proof}). rewrite same{where}; clear same."


def same_exponential(script: LimitWriter, shown: str, x: Quotient, where: str = "") -> str:
    """The exponential of a sum, as it is shown, is a product, which is put in its place."""
    product = product_of_powers(script, Quotient.atom(f"({EULER})**(1)"), x)
    return _put(f"exp {shown}", product.text(69), f"{_posed(script, x)}by_logs; field; nonzero", where)


def _posed(script: LimitWriter, *quotients: Quotient) -> str:
    return "".join(f"{fact.rstrip('.')}; " for fact in script.divisors(*quotients))


def _pieces(base: Quotient) -> list[Quotient]:
    """What a base is taken apart into, but numbers."""
    found = [value_of(read((power_of_atom(text) or (text, ""))[0])) for text, _ in base_pieces(base)]
    return [q for q in found if q.constant() is None]


def product_of_powers(script: LimitWriter, base: Quotient, exponent: Quotient) -> Real:
    """A power as a product: of what its base is taken apart into, by each term of its exponent."""
    formulas, above, below = script.formulas, ONE, ONE
    for text, power in base_pieces(base):
        inner, own = power_of_atom(text) or (text, "1")
        for at, size in exponent.numerator.items():
            whole = Fraction(power * size)
            unit = exponent_of(at)
            both = unit if own == "1" else multiply_exponents(own, unit)
            if both:
                factor = formulas.polynomial({((f"({inner})**({both})", abs(whole)),): Fraction(1)})
            elif whole.denominator == 1:
                factor = formulas.quotient(value_of(read(inner))) ** abs(int(whole))
            elif whole.denominator == 2:
                factor = formulas.polynomial({((f"({inner})**(1)", abs(whole)),): Fraction(1)})
            else:
                raise NotAvailable(f"{inner} to the power {whole} is not written for Rocq")
            above, below = (above * factor, below) if whole > 0 else (above, below * factor)
    return above / below
