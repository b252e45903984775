"""Rules about limits, ``X[t] -> a as t``, and along an infinite set J of rounds, ``X[t] -> a as t in J``, which may be any.

Lines that a limit is made of hold for all rounds, so that nothing that is supposed of one case is used of them.

A limit that is known takes the place of its quantity where this stands in the first power with a factor without t: so in ``squeeze`` and ``limit``.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .algebra import Monomial, PowerOfAtom, Quotient, power_of_atom, value_of
from .formulas import Sentence, read, show_tree, split_pieces, substitute
from .proof_lines import ProofLine
from .reader import show_briefly
from .refusals import TermRefused
from .terms import Checker, names_in

Premises = Mapping[str, Sentence]
_ONE = Quotient.number(1)


@dataclass(frozen=True)
class KnownLimit:
    """``name[t] -> value as t``, along the set ``along`` of rounds where it is not empty."""

    name: str
    value: Quotient
    t: str
    along: str


def by_squeeze(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """A limit between two bounds; Y[t] -> b stands for limits that are known.

    a <= X[t],   X[t] <= a + r(t, Y[t]),   Y[t] -> b,   r(t, b) -> 0
    ----------------------------------------------------------------
                            X[t] -> a as t
    """
    pieces, t = split_pieces(text), goal.to_infinity
    if goal.sign != "->" or len(pieces) < 2 or t in names_in(checker.value(goal.right)):
        raise TermRefused(
            line.name,
            line.rule,
            "'squeeze below, above', limits after these, and a line 'X[t] -> a as t', a without t",
            f"{goal} by squeeze {text}",
        )
    below, above = (checker.premise(line, goal, piece, more) for piece in pieces[:2])
    limits = [_known(checker, line, goal, piece) for piece in pieces[2:]]
    if any(limit.t != t or limit.along not in ("", goal.along) for limit in limits):
        raise TermRefused(line.name, line.rule, f"limits as {t}{f' in {goal.along}' if goal.along else ''}", pieces[2:])
    x, a = checker.value(goal.left), checker.value(goal.right)
    for name, premise in zip(pieces, (below, above), strict=False):
        if premise.exists or premise.sign not in ("<=", "<", "=="):
            raise TermRefused(line.name, line.rule, f"a bound of {show_tree(goal.left)}", f"{name}: {premise}")
    under, over = x - a - checker.gap(below), checker.gap(above) - (a - x)
    for name, rest in ((pieces[0], under), (pieces[1], over)):
        left = at_limits(line, rest, limits)
        if not vanishes(checker, left, t):
            raise TermRefused(line.name, line.rule, f"{name} to leave what vanishes as {t} grows", show_briefly(left))
    return text


def by_limit(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """What inequalities become in the limit.

    L(X[t]) <= R(X[t]) for all t,   X[t] -> a as t, or as t in J
    ------------------------------------------------------------
                           L(a) <= R(a)

    L <= R + r(t) for all t,   r(t) -> 0
    ------------------------------------   "limit as t of NAME"
                   L <= R
    """
    if found := re.fullmatch(r"as (\w+) of (\w+)", text):
        return _by_vanishing(checker, line, goal, *found.groups())
    pieces = split_pieces(text.removeprefix("of "))
    if not text.startswith("of ") or len(pieces) < 2 or goal.sign != "<=" or goal.exists:
        raise TermRefused(
            line.name,
            line.rule,
            "'limit of NAME, limit, ...' or 'limit as t of NAME', and a line '<='",
            f"{goal} by limit {text}",
        )
    premise = checker.premise(line, goal, pieces[0], {})
    if premise.exists or premise.sign == "->":
        raise TermRefused(line.name, line.rule, "an inequality or equality", f"{pieces[0]}: {premise}")
    limits = [_known(checker, line, goal, piece) for piece in pieces[1:]]
    if len({limit.t for limit in limits}) > 1 or len({limit.along for limit in limits} - {""}) > 1:
        raise TermRefused(line.name, line.rule, "limits in one round, along one set of rounds", pieces[1:])
    rest = at_limits(line, checker.gap(premise), limits)
    if limits[0].t in names_in(rest):
        raise TermRefused(
            line.name, line.rule, f"nothing that speaks of {limits[0].t} in the limit", show_briefly(rest)
        )
    checker.settle(line, goal, checker.gap(goal) - rest)
    return text


def _by_vanishing(checker: Checker, line: ProofLine, goal: Sentence, t: str, name: str) -> str:
    premise = checker.premise(line, goal, name, {})
    if goal.sign != "<=" or goal.exists or premise.exists or premise.sign == "->" or t not in checker.signature.rounds:
        raise TermRefused(line.name, line.rule, f"a line '<=', and one for all rounds {t}", f"{goal}; {premise}")
    rest = checker.gap(premise)
    below = Quotient({(): Fraction(1)}, dict(rest.below))
    with_t = {at: v for at, v in rest.numerator.items() if any(t in names_in(Quotient.atom(a)) for a, _ in at)}
    left = Quotient({at: v for at, v in rest.numerator.items() if at not in with_t}, dict(rest.below))
    if t in names_in(below) or not vanishes(checker, Quotient(with_t, dict(rest.below)), t):
        raise TermRefused(line.name, line.rule, f"{name} to leave what vanishes as {t} grows", show_briefly(rest))
    checker.settle(line, goal, checker.gap(goal) - left)
    return f"as {t} of {name}"


def by_monotone(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """A sequence that does not rise goes, from above, to what it goes to along an infinite set of rounds.

    X[t+1] <= X[t],   X[t] -> a as t in J
    -------------------------------------
        a <= X[t],   X[t] -> a as t
    """
    pieces = split_pieces(text)
    if len(pieces) != 2:
        raise TermRefused(line.name, line.rule, "'monotone NAME, limit'", text)
    falls, limit = checker.premise(line, goal, pieces[0], {}), _known(checker, line, goal, pieces[1])
    now, then = (value_of(read(f"{limit.name}[{limit.t}{shift}]")) for shift in ("", "+1"))
    if falls.exists or falls.sign == "->" or not checker.domain.is_nonnegative(now - then - checker.gap(falls)):
        raise TermRefused(line.name, line.rule, f"{then.text()} <= {now.text()}", f"{pieces[0]}: {falls}")
    if goal.sign == "->":
        same = (checker.value(goal.left) - now).zero and (checker.value(goal.right) - limit.value).zero
        if not same or goal.to_infinity != limit.t:
            raise TermRefused(line.name, line.rule, f"{now.text()} -> {limit.value.text()} as {limit.t}", goal)
        return text
    if goal.sign != "<=" or goal.exists:
        raise TermRefused(line.name, line.rule, f"{limit.value.text()} <= {now.text()}", goal)
    checker.settle(line, goal, checker.gap(goal) - (now - limit.value))
    return text


def by_series(checker: Checker, line: ProofLine, goal: Sentence, text: str, more: Premises) -> str:
    """Terms of a sum that stays below a number.

    0 <= X[t],   c sum(X[t], t, a, T) <= R for all T,   c > 0,   R without T
    ------------------------------------------------------------------------
                              X[t] -> 0 as t
    """
    pieces = split_pieces(text)
    if len(pieces) != 2 or goal.sign != "->":
        raise TermRefused(
            line.name, line.rule, "'series sign, bound', and a line 'X[t] -> 0 as t'", f"{goal} by series {text}"
        )
    sign, bound = (checker.premise(line, goal, piece, {}) for piece in pieces)
    gap = checker.gap(bound)
    sums = [atom for atom in gap.atoms if atom.startswith("sum(")]
    parts = gap.linear_in(sums[0]) if len(sums) == 1 else None
    if bound.exists or sign.exists or "->" in (bound.sign, sign.sign) or parts is None:
        raise TermRefused(line.name, line.rule, "'0 <= X[t]', and a bound of one sum", f"{sign}; {bound}")
    tree = read(sums[0])
    assert isinstance(tree, ast.Call)
    body, _, _, end = tree.args
    if (
        not isinstance(end, ast.Name)
        or end.id not in checker.signature.rounds
        or {end.id} & (names_in(parts[0]) | names_in(parts[1]))
    ):
        raise TermRefused(line.name, line.rule, "a sum up to any round, and a bound that does not speak of it", bound)
    if not checker.is_positive(-parts[1]):
        raise TermRefused(line.name, line.rule, "a positive factor of the sum", show_briefly(-parts[1]))
    x = checker.value(goal.left)
    term = checker.value(substitute(body, {"_": ast.Name(goal.to_infinity, ast.Load())}))
    if not (
        (term - x).zero and checker.value(goal.right).zero and checker.domain.is_nonnegative(x - checker.gap(sign))
    ):
        raise TermRefused(line.name, line.rule, f"0 <= {term.text()} -> 0", f"{sign}; {goal}")
    return text


def _known(checker: Checker, line: ProofLine, goal: Sentence, text: str) -> KnownLimit:
    """A premise ``X[t] -> a as t``, a without t."""
    premise = checker.premise(line, goal, text, {})
    match premise.left:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)) if (
            premise.sign == "->" and index == premise.to_infinity
        ):
            value = checker.value(premise.right)
            if index not in names_in(value):
                return KnownLimit(name, value, index, premise.along)
    raise TermRefused(line.name, line.rule, "a limit X[t] -> a as t, a without t", f"{text}: {premise}")


def at_limits(line: ProofLine, rest: Quotient, limits: Sequence[KnownLimit]) -> Quotient:
    """Limits in the places of their quantities; of later and earlier rounds, too, where a limit is along all rounds."""
    for limit in limits:
        for atom in sorted(rest.atoms):
            shift = _shift(atom, limit)
            if shift is None or (shift and limit.along):
                continue
            parts = rest.linear_in(atom)
            if parts is None or limit.t in names_in(parts[1]):
                raise TermRefused(
                    line.name,
                    line.rule,
                    f"{atom} in the first power, with a factor without {limit.t}",
                    show_briefly(rest),
                )
            rest = parts[0] + parts[1] * limit.value
    return rest


def _shift(atom: str, limit: KnownLimit) -> Fraction | None:
    """k where an atom is X[t + k]."""
    match read(atom):
        case ast.Subscript(value=ast.Name(id=name), slice=index) if name == limit.name:
            return (value_of(index) - Quotient.atom(limit.t)).constant()
    return None


def vanishes(checker: Checker, rest: Quotient, t: str) -> bool:
    """Whether every term tends to zero as t grows: by a power b^t with 0 <= b < 1, or since t stands in higher powers below than above."""
    low: PowerOfAtom = 0
    for key, power in rest.below.items():
        degree: PowerOfAtom = max(dict(at).get(t, 0) for at, _ in key)
        lead = Quotient(
            {tuple(item for item in at if item[0] != t): v for at, v in key if dict(at).get(t, 0) == degree}
        )
        if any(
            t in names_in(Quotient.atom(name)) for at, _ in key for name, _ in at if name != t
        ) or not checker.domain.is_nonzero(lead):
            return False
        low += degree * power
    return all(_term_vanishes(checker, at, t, low) for at in rest.numerator)


def _term_vanishes(checker: Checker, monomial: Monomial, t: str, low: PowerOfAtom) -> bool:
    degree: PowerOfAtom = -low
    bases: list[tuple[Quotient, Fraction]] = []
    for name, power in monomial:
        if name == t:
            degree += power
        elif t in names_in(Quotient.atom(name)):
            base, exponent = power_of_atom(name) or ("", "")
            if exponent != t or t in names_in(checker.value(read(base))):
                return False
            bases.append((checker.value(read(base)), Fraction(power)))
    if not bases:
        return degree < 0
    whole = math.lcm(*(power.denominator for _, power in bases))  # of roots, the power that has none
    factor = _ONE
    for at, power in bases:
        factor = factor * at ** int(power * whole)
    falls = checker.is_positive(_ONE - factor) or (degree < 0 and checker.is_nonnegative(_ONE - factor))
    return falls and checker.is_nonnegative(factor)
