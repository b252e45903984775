"""Lines about limits as lemmas of Rocq: squeezed ones, what inequalities become in the limit, and sequences that do not rise."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.claims.statements.theorems.rocq.signs import Signs
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import AtomPolynomial, Monomial, Quotient, power_of_atom, value_of
from fedtheory.proofs.checker.formulas import Sentence, read, show_tree, split_pieces
from fedtheory.proofs.checker.limits import KnownLimit, _known, _shift, at_limits
from fedtheory.proofs.checker.proof_lines import ProofLine
from fedtheory.proofs.checker.terms import Checker, names_in
from fedtheory.proofs.rocq.expressions import ONE, Real, identifier


class LimitWriter(Protocol):
    """What lines about limits ask of a script (`fedtheory.claims.statements.theorems.rocq.script.Script`)."""

    checker: Checker
    formulas: Formulas
    signs: Signs

    def premise(self, goal: Sentence, text: str, more: Mapping[str, Sentence]) -> str:
        """An earlier line, at the rounds that it is used at."""

    def divisors(self, *quotients: Quotient) -> list[str]:
        """Facts that what is divided by is above or below zero."""

    def divided_by(self, goal: Sentence) -> list[Quotient]:
        """What a sentence divides by where it was written, and its normal form may not."""

    def finish(self) -> str:
        """The last step, arithmetic."""

    def lemma(self, name: str) -> str:
        """A line, for the parameters that it is used for."""

    def rounds(self, sentence: Sentence) -> list[str]:
        """The rounds that a sentence is said of."""


_ONE = Quotient.number(1)


def along(sentence: Sentence | KnownLimit) -> str:
    """The set of rounds of a limit, as Rocq reads it."""
    return identifier(sentence.along) if sentence.along else "(fun _ => True)"


def settle(script: LimitWriter, left: Quotient) -> str:
    """A goal from what was shown last, ``most``, and what is left of it, which is at least zero."""
    fact = "(both _ _ (weigh 1 _ _ ltac:(lra) most) nothing)"
    return f"refine (combine 1 _ _ _ {script.formulas.quotient(left).text(9)} ltac:(lra) {fact}\n    {script.signs.prove(left)} _)."


def write_limit(script: LimitWriter, line: ProofLine, goal: Sentence, text: str) -> str:
    """``limit of NAME, limit, ...``."""
    name, *known = split_pieces(text.removeprefix("of "))
    limits = [_known(script.checker, line, goal, piece) for piece in known]
    premise = script.checker.premise(line, goal, name, {})
    gap = script.checker.gap(premise)
    rest = at_limits(line, gap, limits)
    left, formulas = script.checker.gap(goal) - rest, script.formulas
    t, j = limits[0].t, next((limit for limit in limits if limit.along), limits[0])
    word, first = identifier(t), script.checker.signature.rounds[t]
    fact = script.premise(goal, name, {})
    fact = f"(Req_le _ _ {fact})" if premise.sign == "==" else f"(Rlt_le _ _ {fact})" if premise.sign == "<" else fact
    end = f"{identifier(j.along)}_endless" if j.along else "endless_all"
    shown = formulas.quotient(gap)
    above = (
        f"(fun ({word} : nat) ({word}_least : ({first} <= {word})%nat) => combine 1 0 ({shown}) _ 0 ltac:(lra)\n"
        f"      (weigh 1 _ _ ltac:(lra) {fact}) nothing ltac:(normal; field; nonzero))"
    )
    lines = [
        f"pose proof (limit_in {along(j)} (fun {word} : nat => {shown}) ({formulas.quotient(rest)}) {first} {end}\n    {above}",
        f"    {tends_to(script, gap, rest, t, known, limits, along(j), first)}) as most.",
        *script.divisors(left),
        settle(script, left),
        script.finish(),
    ]
    return "\n  ".join(lines)


def tends_to(
    script: LimitWriter,
    over: Quotient,
    rest: Quotient,
    t: str,
    premises: Sequence[str],
    limits: Sequence[KnownLimit],
    j: str,
    first: int,
) -> str:
    """A proof that a formula tends to what is left of it at known limits, or to zero where this vanishes as rounds go on."""
    formulas, parts, left = script.formulas, list[tuple[Quotient, str, Quotient, str]](), over
    word = identifier(t)
    for premise, limit in zip(premises, limits, strict=True):
        for atom in sorted(left.atoms):
            shift = _shift(atom, limit)
            if shift is None or (shift and limit.along):
                continue
            split = left.linear_in(atom)
            assert split is not None  # the rule has seen it
            left = split[0]
            known = script.premise(script.checker.known[premise], premise, {})
            if shift < 0:
                raise NotAvailable(f"the limit of {atom} is not written for Rocq")
            for _ in range(int(shift)):
                known = f"(tends_later _ _ {known})"
            known = known if limit.along else f"(tends_along {j} _ _ {known})"
            parts.append((split[1], f"{formulas.atom(atom)}", limit.value, known))
    if t in names_in(left) and not parts:
        return write_vanishing(script, rest, t, j, first)
    if t in names_in(left):  # what vanishes, less the limits of the other parts
        apart, end = left - rest, Quotient.number(0)
        c = formulas.quotient(apart).text(9)
        shown = Tending(
            f"{c} * 1 + ({formulas.quotient(rest)})",
            f"{c} * 1 + 0",
            f"(tends_in_add {j} _ _ {c} _ _ (tends_in_number {j} 1) {write_vanishing(script, rest, t, j, first)})",
        )
    else:
        alone, end = formulas.quotient(left).text(9), rest
        shown = Tending(alone, alone, f"(tends_in_number {j} {alone})")
    for factor, own, limit_value, known in parts:
        c = formulas.quotient(factor).text(9)
        value = f"{c} * ({formulas.quotient(limit_value)}) + ({shown.value})"
        functions = f"(fun {word} : nat => {own}) (fun {word} : nat => {shown.text})"
        proof = f"(tends_in_add {j} {functions} {c} _ _ {known} {shown.proof})"
        shown = Tending(f"{c} * ({own}) + ({shown.text})", value, proof)
    used = [over, rest, end, *(q for part in parts for q in (part[0], part[2]))]
    still = [q for q in used if t not in names_in(q)]
    facts = script.divisors(*used), script.divisors(*still)
    return shown.equal(formulas.quotient(over), formulas.quotient(end), word, j, first, *facts)


@dataclass(frozen=True)
class Tending:
    """A formula in a round, what it tends to, and a proof."""

    text: str
    value: str
    proof: str

    def times(self, other: Tending, word: str, j: str) -> Tending:
        """The product."""
        functions = f"(fun {word} : nat => {self.text}) (fun {word} : nat => {other.text})"
        proof = f"(tends_in_times {j} {functions} ({self.value}) ({other.value}) {self.proof} {other.proof})"
        return Tending(f"({self.text}) * ({other.text})", f"({self.value}) * ({other.value})", proof)

    def plus(self, other: Tending, word: str, j: str) -> Tending:
        """The sum."""
        functions = f"(fun {word} : nat => {self.text}) (fun {word} : nat => {other.text})"
        proof = f"(tends_in_add {j} {functions} 1 ({self.value}) ({other.value}) {self.proof} {other.proof})"
        return Tending(f"1 * ({self.text}) + ({other.text})", f"1 * ({self.value}) + ({other.value})", proof)

    def equal(
        self, text: Real, value: Real, word: str, j: str, first: int, facts: Sequence[str], still: Sequence[str]
    ) -> str:
        """A proof for a formula that is the same from a round on; ``still``: facts that speak of no round."""
        posed, known = (" ".join(found).replace(". pose", "; pose").rstrip(".") or "idtac" for found in (facts, still))
        functions = f"(fun {word} : nat => {self.text}) (fun {word} : nat => {text})"
        each = f"ltac:(intros {word} {word}_least; {posed}; normal; field; nonzero)"
        exact = f"ltac:({known}; normal; field; nonzero)"
        return f"(tends_in_equal {j} {functions} ({self.value}) ({value}) {first}\n      {each} {exact} {self.proof})"


def write_vanishing(script: LimitWriter, rest: Quotient, t: str, j: str, first: int) -> str:
    """A proof that a formula tends to zero: every term by a power whose base is below one, or by higher powers of the round below than above."""
    if rest.zero:
        return f"(tends_in_number {j} 0)"
    formulas, word = script.formulas, identifier(t)
    below, low, free = list[Tending](), 0, _ONE
    for key, power in rest.below.items():
        if t not in names_in(Quotient(dict(key))):
            free = free * Quotient({(): Fraction(1)}, {key: power})
            continue
        degree, inverse = _inverse_of(script, dict(key), t, j)
        below += [inverse] * power
        low += degree * power
    total: Tending | None = None
    for monomial, size in rest.numerator.items():
        term = _term(script, monomial, free * Quotient.number(size), t, j, low)
        for inverse in below:
            term = term.times(inverse, word, j)
        total = term if total is None else total.plus(term, word, j)
    assert total is not None
    facts = [*script.divisors(rest), f"assert (0 < INR {word}) by (apply lt_0_INR; lia)."]
    posed = " ".join(facts).replace(". ", "; ").rstrip(".")
    functions = f"(fun {word} : nat => {total.text}) (fun {word} : nat => {formulas.quotient(rest)})"
    each = f"ltac:(intros {word} {word}_least; {posed}; powers; field; nonzero)"
    exact = f"ltac:({' '.join(script.divisors(free)).replace('. pose', '; pose').rstrip('.') or 'idtac'}; ring)"
    return f"(tends_in_equal {j} {functions} ({total.value}) 0 {max(first, 1)}\n      {each} {exact} {total.proof})"


def _inverse_of(script: LimitWriter, polynomial: AtomPolynomial, t: str, j: str) -> tuple[int, Tending]:
    """The degree d of a polynomial in t, and t^d over it, which tends to one over its leading coefficient."""
    formulas, word = script.formulas, identifier(t)
    if any(t in names_in(Quotient.atom(n)) for at in polynomial for n, _ in at if n != t):
        raise NotAvailable(f"the limit of one over {Quotient(polynomial).text()} is not written for Rocq")
    factors: dict[int, AtomPolynomial] = {}
    for at, size in polynomial.items():
        factors.setdefault(int(dict(at).get(t, 0)), {})[tuple(item for item in at if item[0] != t)] = size
    degree = max(factors)
    lead = Quotient(factors[degree])
    own = formulas.quotient(lead).text(9)
    found = Tending(own, own, f"(tends_in_number {j} {own})")
    for k, factor in sorted(factors.items()):
        if k < degree:
            c, power = formulas.quotient(Quotient(factor)).text(9), f"(/ INR {word}) ^ {degree - k}"
            functions = f"(fun {word} : nat => {power}) (fun {word} : nat => {found.text})"
            proof = f"(tends_in_add {j} {functions} {c} 0 ({found.value}) (tends_in_inverse_power {j} {degree - k} ltac:(lia)) {found.proof})"
            found = Tending(f"{c} * {power} + ({found.text})", f"{c} * 0 + ({found.value})", proof)
    strict = script.signs.prove(lead, strict=True) if script.checker.domain.is_positive(lead) else ""
    if not strict:
        raise NotAvailable(f"the sign of {lead.text()} is not written for Rocq")
    exact = f"ltac:(pose proof {strict}; replace ({found.value}) with {own} by ring; lra)"
    function = f"(fun {word} : nat => {found.text})"
    return degree, Tending(
        f"/ ({found.text})",
        f"/ ({found.value})",
        f"(tends_in_over {j} {function} ({found.value}) {exact} {found.proof})",
    )


def _term(script: LimitWriter, monomial: Monomial, free: Quotient, t: str, j: str, low: int) -> Tending:
    """A term times t^-low, which tends to zero."""
    formulas, word, degree, base, above, under = script.formulas, identifier(t), Fraction(-low), _ONE, ONE, ONE
    for atom, power in monomial:
        power_of = power_of_atom(atom)
        if atom == t:
            degree += power
        elif power_of is not None and power_of[1] == t and int(power) == power:
            piece, whole = value_of(read(power_of[0])), int(power)
            base, factor = base * piece**whole, formulas.quotient(piece) ** abs(whole)
            above, under = (above * factor, under) if whole > 0 else (above, under * factor)
        elif t in names_in(Quotient.atom(atom)):
            raise NotAvailable(f"the limit of {atom} is not written for Rocq")
        else:
            free = free * Quotient.atom(atom, power)
    if degree.denominator != 1:
        raise NotAvailable(f"the limit of {t} to the power {degree} is not written for Rocq")
    c = formulas.quotient(free).text(9)
    found = Tending(c, c, f"(tends_in_number {j} {c})")
    inverse = f"(/ INR {word}) ^ {-degree}"
    if base.constant() == 1:
        if degree >= 0:
            raise NotAvailable(f"the limit of {t} to the power {degree} is not written for Rocq")
        return found.times(Tending(inverse, "0", f"(tends_in_inverse_power {j} {-degree} ltac:(lia))"), word, j)
    # the base as a product, as its powers are written, and as a formula, whose sign is shown
    shown, own = (above / under).text(9), formulas.quotient(base).text(9)
    same = f"{' '.join(script.divisors(base)).replace('. pose', '; pose').rstrip('.') or 'idtac'}; replace {shown} with {own} by (field; nonzero)"
    nonneg = f"(ltac:({same}; exact {script.signs.prove(base)}) : 0 <= {shown})"
    if not script.checker.domain.is_positive(_ONE - base):
        if degree >= 0:
            raise NotAvailable(f"the limit of {base.text()} to the power {t} is not written for Rocq")
        at_most = f"ltac:({same}; pose proof {script.signs.prove(_ONE - base)}; lra)"
        bounded = f"(pow_bounded {shown} {nonneg} {at_most})"
        zero = f"(tends_in_inverse_power {j} {-degree} ltac:(lia))"
        proof = f"(tends_in_bounded {j} (fun {word} : nat => {inverse}) (fun {word} : nat => {shown} ^ {word}) {zero} {bounded})"
        return found.times(Tending(f"({inverse}) * ({shown} ^ {word})", "0", proof), word, j)
    below_one = f"(ltac:({same}; pose proof {script.signs.prove(_ONE - base, strict=True)}; lra) : {shown} < 1)"
    falls = f"(conj {nonneg} {below_one})"
    most = max(int(degree), 0)
    falling = Tending(f"INR {word} ^ {most} * {shown} ^ {word}", "0", f"(tends_in_power {j} {most} {shown} {falls})")
    found = found.times(falling, word, j)
    if degree < 0:
        found = found.times(Tending(inverse, "0", f"(tends_in_inverse_power {j} {-degree} ltac:(lia))"), word, j)
    return found


def write_squeeze(script: LimitWriter, line: ProofLine, goal: Sentence, text: str) -> str:
    """``squeeze NAME, NAME, limit ...``."""
    below, above, *known = split_pieces(text)
    checker, formulas, t = script.checker, script.formulas, goal.to_infinity
    limits = [_known(checker, line, goal, piece) for piece in known]
    x, a = checker.value(goal.left), checker.value(goal.right)
    premises = [checker.premise(line, goal, piece, {}) for piece in (below, above)]
    under, over = x - a - checker.gap(premises[0]), checker.gap(premises[1]) - (a - x)
    word, j, first = identifier(t), along(goal), checker.signature.rounds[t]
    opened = (
        f"intros {word} {word}_least. pose proof (at_least {first} {word} {first} eq_refl {word}_least) as {word}_low."
    )
    lines = ["" if goal.along else "apply tends_all."]
    ends = " ".join(f"(fun {word} : nat => {formulas.quotient(rest)})" for rest in (under, over))
    lines.append(f"apply (squeeze_in {j} _ {ends} {formulas.read(goal.right).text(9)} {first}).")
    for name, premise, rest in ((below, premises[0], under), (above, premises[1], over)):
        fact = script.premise(goal, name, {})
        fact = (
            f"(Req_le _ _ {fact})" if premise.sign == "==" else f"(Rlt_le _ _ {fact})" if premise.sign == "<" else fact
        )
        facts = " ".join(script.divisors(rest, checker.gap(premise)))
        formulas.roots.clear()
        for q in (x, a, rest, checker.gap(premise)):  # their roots are noted
            formulas.quotient(q)
        lines += [
            f"{{ {opened} {facts} refine (combine 1 _ _ _ 0 ltac:(lra) (weigh 1 _ _ ltac:(lra) {fact}) nothing _).",
            f"  {script.finish()} }}",
        ]
    for rest in (under, over):
        lines.append(
            f"{{ exact {tends_to(script, rest, at_limits(line, rest, limits), t, known, limits, j, first)}. }}"
        )
    return "\n  ".join(lines).strip()


def write_series(script: LimitWriter, line: ProofLine, goal: Sentence, text: str) -> str:
    """``series sign, bound``."""
    sign, bound = split_pieces(text)
    checker, formulas, t = script.checker, script.formulas, goal.to_infinity
    premises = [checker.premise(line, goal, piece, {}) for piece in (sign, bound)]
    gap = checker.gap(premises[1])
    (atom,) = [atom for atom in gap.atoms if atom.startswith("sum(")]
    parts, tree = gap.linear_in(atom), read(atom)
    assert parts is not None and isinstance(tree, ast.Call) and isinstance(tree.args[3], ast.Name)
    rest, factor, end = parts[0], -parts[1], tree.args[3].id
    word, last, first = identifier(t), identifier(end), int(show_tree(tree.args[2]))
    spare = checker.value(goal.left) - checker.gap(premises[0])
    low = script.premise(goal, sign, {})
    low = (
        f"(Req_le _ _ {low})" if premises[0].sign == "==" else f"(Rlt_le _ _ {low})" if premises[0].sign == "<" else low
    )
    begin = max(first, checker.signature.rounds[t], checker.signature.rounds[end])
    at = [f"{last} ltac:(lia)" if name == end else "" for name in script.rounds(checker.known[bound.partition("(")[0]])]
    if "" in at or "(" in bound:
        raise NotAvailable(f"{line.name}: a bound of a sum that speaks of other rounds is not written for Rocq")
    most = f"({script.lemma(bound)}{''.join(f' {k}' for k in at)})"
    most = (
        f"(Req_le _ _ {most})"
        if premises[1].sign == "=="
        else f"(Rlt_le _ _ {most})"
        if premises[1].sign == "<"
        else most
    )
    shown, over = formulas.quotient(checker.value(goal.left)), formulas.quotient(rest / factor).text(9)
    facts = " ".join(script.divisors(rest, factor, rest / factor))
    lines = [
        f"apply (series_rule (fun {word} : nat => {shown}) {first} {begin} {over}).",
        f"{{ intros {word} {word}_least. refine (combine 1 _ _ _ {formulas.quotient(spare).text(9)} ltac:(lra) (weigh 1 _ _ ltac:(lra) {low})",
        f"  {script.signs.prove(spare)} _). normal; field; nonzero. }}",
        f"{{ intros {last} {last}_least. {facts}",
        f"  refine (combine {formulas.quotient(factor).text(9)} _ _ _ 0 {script.signs.prove(factor, strict=True)}",
        f"  (weigh 1 _ _ ltac:(lra) {most}) nothing _). field; nonzero. }}",
        "lia.",
    ]
    return "\n  ".join(lines)


def write_monotone(
    script: LimitWriter, line: ProofLine, goal: Sentence, text: str, more: Mapping[str, Sentence]
) -> str:
    """``monotone NAME, limit``."""
    falls, known = split_pieces(text)
    checker, formulas = script.checker, script.formulas
    limit = _known(checker, line, goal, known)
    now, then = (value_of(read(f"{limit.name}[{limit.t}{shift}]")) for shift in ("", "+1"))
    word, first = identifier(limit.t), checker.signature.rounds[limit.t]
    premise = checker.premise(line, goal, falls, {})
    spare = now - then - checker.gap(premise)
    end = f"{identifier(limit.along)}_endless" if limit.along else "endless_all"
    fact = script.premise(premise, falls, {})
    fact = f"(Req_le _ _ {fact})" if premise.sign == "==" else f"(Rlt_le _ _ {fact})" if premise.sign == "<" else fact
    holds = script.premise(checker.known[known], known, {})
    holds = holds if limit.along else f"(tends_along (fun _ => True) _ _ {holds})"
    ends, spared = f"({formulas.quotient(then)}) ({formulas.quotient(now)})", f"({formulas.quotient(spare)})"
    step = (
        f"(fun ({word} : nat) ({word}_least : ({first} <= {word})%nat) => combine 1 {ends} _ {spared}\n"
        f"      ltac:(lra) (weigh 1 _ _ ltac:(lra) {fact}) {script.signs.prove(spare)} ltac:(normal; field; nonzero))"
    )
    function = f"(fun {word} : nat => {formulas.quotient(now)})"
    given = f"{along(limit)} {function} ({formulas.quotient(limit.value)}) {first} {end}\n    {step} {holds}"
    if goal.sign == "->":
        return f"exact (falls_to_limit {given})."
    left = checker.gap(goal) - (now - limit.value)
    return "\n  ".join(
        [
            f"pose proof (above_limit {given} {word} ltac:(lia)) as most; cbv beta in most.",
            settle(script, left),
            "normal; field; nonzero.",
        ]
    )
