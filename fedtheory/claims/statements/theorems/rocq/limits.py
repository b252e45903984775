"""Lines about limits as lemmas of Rocq: squeezed ones, what inequalities become in the limit, and sequences that do not rise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from fedtheory.claims.statements.theorems.rocq.formulas import Formulas
from fedtheory.claims.statements.theorems.rocq.signs import Signs
from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.algebra import Quotient, value_of
from fedtheory.proofs.checker.formulas import Sentence, read, split_pieces
from fedtheory.proofs.checker.limits import KnownLimit, _known, _shift, at_limits
from fedtheory.proofs.checker.terms import Checker, ProofLine, names_in
from fedtheory.proofs.rocq.expressions import identifier


class LimitWriter(Protocol):
    """What lines about limits ask of a script (`fedtheory.claims.statements.theorems.rocq.script.Script`)."""

    checker: Checker
    formulas: Formulas
    signs: Signs

    def premise(self, goal: Sentence, text: str, more: Mapping[str, Sentence]) -> str:
        """An earlier line, at the rounds that it is used at."""

    def divisors(self, *quotients: Quotient) -> list[str]:
        """Facts that what is divided by is above or below zero."""

    def finish(self) -> str:
        """The last step, arithmetic."""


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
    """A proof that a formula tends to what it is at known limits."""
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
            parts.append((split[1], f"fun {word} : nat => {formulas.atom(atom)}", limit.value, known))
    if t in names_in(left):
        raise NotAvailable(f"the limit of {over.text()} is not written for Rocq")
    alone = formulas.quotient(left).text(9)
    proof, shown, value = f"(tends_in_number {j} {alone})", alone, alone
    for factor, function, limit_value, known in parts:
        c = formulas.quotient(factor).text(9)
        own = function.partition("=> ")[2]
        proof = f"(tends_in_add {j} ({function}) (fun {word} : nat => {shown}) {c} _ _ {known} {proof})"
        shown, value = f"{c} * ({own}) + ({shown})", f"{c} * ({formulas.quotient(limit_value)}) + ({value})"
    facts = " ".join(script.divisors(over, rest, *(part[0] for part in parts))).replace(". pose", "; pose").rstrip(".")
    exact = f"ltac:({facts or 'idtac'}; normal; field; nonzero)"
    each = f"ltac:(intros {word} {word}_least; {facts or 'idtac'}; normal; field; nonzero)"
    functions = f"(fun {word} : nat => {shown}) (fun {word} : nat => {formulas.quotient(over)})"
    ends = f"({value}) ({formulas.quotient(rest)}) {first}"
    return f"(tends_in_equal {j} {functions} {ends}\n      {each} {exact} {proof})"


def write_squeeze(script: LimitWriter, line: ProofLine, goal: Sentence, text: str) -> str:
    """``squeeze below, above, limit, ...`` with limits that are known."""
    below, above, *known = split_pieces(text)
    checker, formulas, t = script.checker, script.formulas, goal.to_infinity
    limits = [_known(checker, line, goal, piece) for piece in known]
    x, a = checker.value(goal.left), checker.value(goal.right)
    premises = [checker.premise(line, goal, piece, {}) for piece in (below, above)]
    over, under = checker.gap(premises[1]) - (a - x), x - a - checker.gap(premises[0])
    if not under.zero:
        raise NotAvailable(f"{line.name}: a lower bound other than the limit is not written for Rocq")
    word, j, first = identifier(t), along(goal), checker.signature.rounds[t]
    rest = at_limits(line, over, limits)
    opened = f"intros {word} {word}_least"
    facts = " ".join(script.divisors(over))
    return "\n  ".join(
        [
            "" if goal.along else "apply tends_all.",
            f"apply (squeeze_in {j} _ (fun {word} : nat => {formulas.quotient(over)}) {formulas.read(goal.right).text(9)} {first}).",
            f"{{ {opened}; pose proof {script.premise(goal, below, {})}; lra. }}",
            f"{{ {opened}. {facts} refine (combine 1 _ _ _ 0 ltac:(lra) (weigh 1 _ _ ltac:(lra) {script.premise(goal, above, {})}) nothing _);",
            "  normal; field; nonzero. }",
            f"apply (tends_in_equal {j} (fun {word} : nat => {formulas.quotient(over)}) _ ({formulas.quotient(rest)}) 0 {first}); "
            f"[reflexivity | ring | exact {tends_to(script, over, rest, t, known, limits, j, first)}].",
        ]
    ).strip()


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
