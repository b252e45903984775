"""How sharp a statement is: each number, sign, exponent, term, factor and hypothesis of it changed, one at a time, towards a stronger claim.

The stronger claim should fall: an exact instance refutes it, at a solved point the worst case over the class exceeds it, or it makes no sense. One
that a theorem's own script proves, with other multipliers, is slack of the statement, and is told with its size; so is one against which nothing is
found, of statements without a script. One that a script does not prove and no instance refutes is not reached by the proof: whether it is true is
open. One that the proof proves and an instance refutes survives, which is a fault of an engine.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from fedtheory.claims.claim import JudgedChange, Part
from fedtheory.claims.context import Context
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.inequality import Inequality
from fedtheory.claims.statements.judging import EFFORTS
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.near_lemmas import judge_near_lemmas
from fedtheory.claims.statements.outcomes import show_point
from fedtheory.claims.statements.sensitivity import ALIKE_RATIOS
from fedtheory.claims.statements.survey import PointValue, Survey, compare_to_worst
from fedtheory.claims.statements.theorems.as_parts import find_proof
from fedtheory.claims.statements.theorems.freed import is_within_reach
from fedtheory.claims.statements.theorems.mistakes import (
    NearMiss,
    find_refusal,
    is_implied,
    list_changed_formulas,
    list_near_misses,
    list_wider_regions,
)
from fedtheory.claims.statements.theorems.proving import ProvedTheorem, prove_theorem
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, Guarded, refute_theorem
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.checker.formulas import Unreadable, read, show_tree
from fedtheory.proofs.checker.refusals import Refused

#: claimed / worst case below which a change fails: the residuals of an accepted solution are half as large
FAILS = 1 - 1e-4
#: for one line of a script that is asked of a wider region or earlier rounds
SCRIPT_SECONDS = 5.0
#: factors of a number between which it is looked how far it may go, and how near to its end
LEAST_FACTOR, SIZE_ACCURACY = Fraction(1, 4096), Fraction(1, 100)
#: random points beside the corners, and steps of the local search, with which a statement and its changes are looked at
DRAWN, DESCENDED = 6, 20

#: claims share statements: what came of one is kept by its id, with the statement, so that no id is used again
_changes: dict[tuple[int, str, int], tuple[Any, list[JudgedChange]]] = {}


def judge_near_misses(statement: Any, context: Context | None = None) -> Iterator[JudgedChange]:
    """What comes of every change of a statement; nothing for one that is false or not proved as it stands."""
    context = context or Context()
    key = id(statement), context.budget, context.seed
    if key not in _changes:
        _changes[key] = statement, list(_judge(statement, context))
    yield from _changes[key][1]


def _judge(statement: Any, context: Context) -> Iterator[JudgedChange]:
    if isinstance(statement, Theorem):
        found = _of_theorem(statement)
    elif isinstance(statement, Lemma):
        found = judge_near_lemmas(statement)
    elif isinstance(statement, Bound | Contraction):
        found = _of_claimed(statement, context.budget, context.seed)
    elif isinstance(statement, Inequality):
        return
    else:
        found = _of_kind(statement, context)
    about = _name(statement)
    yield from (replace(change, about=about) for change in found)


def _name(statement: Any) -> str:
    """A name by which the same statement in two claims is known."""
    named = [getattr(statement, word, "") for word in ("name", "source")]
    said = "" if isinstance(statement, Lemma) else str(statement)
    if isinstance(statement, Theorem):
        said = "" if statement.name else "; ".join((*statement.claims, statement.region))
    return ", ".join(part for part in (*named, said) if part)


def _of_theorem(theorem: Theorem) -> Iterator[JudgedChange]:
    proof = find_proof(theorem)
    if isinstance(proof, ProvedTheorem):
        theorem = proof.theorem
        yield from (_of_mistake(theorem, proof.data, mistake) for mistake in list_near_misses(theorem))


def _of_mistake(theorem: Theorem, data: Mapping[str, Any], mistake: NearMiss) -> JudgedChange:
    """Weaker, or proved, or refuted, or neither of these."""
    if is_implied(theorem, mistake.theorem):
        return JudgedChange(mistake.what, "weaker", "")
    proves = partial(_proves, theorem, data)
    if proves(mistake.theorem):
        against = refute_theorem(mistake.theorem)
        if isinstance(against, BrokenClaim):
            return JudgedChange(mistake.what, "survives", f"proved, and an instance refutes it by {against.gap}")
        return JudgedChange(mistake.what, "slack", f"the same script proves it{_how_far(mistake, proves)}")
    against = _refute(mistake.theorem)
    if isinstance(against, BrokenClaim):
        at = ", ".join(f"{name} = {value}" for name, value in {**against.instance.point, **against.rounds}.items())
        return JudgedChange(mistake.what, "falls", f"an instance at {at} refutes it by {against.gap}")
    looked = f"no violation at {against.points} points" if against.points else "it is not tried on instances"
    return JudgedChange(mistake.what, "not reached", f"the same script does not prove it; {looked}")


def _refute(other: Theorem) -> BrokenClaim | Guarded:
    """An instance against one of the claims; an equality is refuted by one on either side."""
    against = refute_theorem(other)
    equal = any(said.sign == "==" for said in other.sentences)
    if isinstance(against, BrokenClaim) or not equal:
        return against
    turned = [str(replace(said, left=said.right, right=said.left)) for said in other.sentences if said.sign == "=="]
    below = refute_theorem(other.with_claim(*(text.replace("==", "<=", 1) for text in turned)))
    return below if isinstance(below, BrokenClaim) else against


def _proves(theorem: Theorem, data: Mapping[str, Any], other: Theorem) -> bool:
    """Whether the theorem's own term proves another one, or its script with other multipliers, or for a wider range with other derivations.

    A hypothesis by name is used by a line, or the theorem could not be said: without it the script proves nothing.
    """
    if other.given != theorem.given:
        return False
    if (other.region, other.rounds) != (theorem.region, theorem.rounds):
        with contextlib.suppress(FedtheoryError, Refused):
            prove_theorem(replace(other, proof=theorem.proof), SCRIPT_SECONDS)
            return True
        return False
    return find_refusal(theorem, data, other) is None or is_within_reach(theorem, data, other)


def _how_far(mistake: NearMiss, proves: Callable[[Theorem], bool]) -> str:
    """How far a number may go, by bisection; nothing of other changes."""
    if mistake.scaled is None or mistake.factor is None:
        return ""
    scaled, step = mistake.scaled, Fraction(2) if mistake.factor > 1 else Fraction(1, 2)
    good = mistake.factor
    bad = good * step
    while proves(scaled(bad)):
        good, bad = bad, bad * step
        if not LEAST_FACTOR <= bad <= 1 / LEAST_FACTOR:
            return f", and still x {good}"
    while abs(bad / good - 1) > SIZE_ACCURACY:
        middle = ((good + bad) / 2).limit_denominator(10**4)
        good, bad = (middle, bad) if proves(scaled(middle)) else (good, middle)
    return f", up to x {float(good):.3g}" if step > 1 else f", down to x {float(good):.3g}"


def _of_kind(statement: Any, context: Context) -> Iterator[JudgedChange]:
    """The near misses that a kind of statement has of its own: the word falls where a part is against it, or none holds."""
    if not _ask(statement, context)[0]:
        return  # it is false as it stands
    for what, near in statement.near_misses().items():
        holds, said = _ask(near, context)
        yield JudgedChange(what, "slack" if holds else "falls", said)


def _ask(statement: Any, context: Context) -> tuple[bool, str]:
    """Whether a part of a statement's check holds and none is against it, and what the first that decides says."""
    try:
        parts = [finding for finding in statement.findings(context) if isinstance(finding, Part)]
    except FedtheoryError as error:
        return False, str(error)
    against = next((part for part in parts if part.holds is False), None)
    shown = against or next((part for part in parts if part.holds), None)
    return against is None and shown is not None, "nothing holds" if shown is None else shown.text


def judge_changes(context: Context, *, statements: Sequence[Any]) -> Iterator[JudgedChange]:
    """What comes of every change of each of a claim's statements, as `Claim.near_misses` is asked."""
    for statement in statements:
        yield from judge_near_misses(statement, context)


def _of_claimed(statement: Bound | Contraction, budget: str, seed: int) -> Iterator[JudgedChange]:
    solved = _solve(statement, budget, seed)
    if not solved or min(value.ratio for value in solved) < FAILS:
        return  # it is false as it stands
    try:
        tree = read(str(statement.claim_text))
    except Unreadable:
        return
    for changed in list_changed_formulas(tree):
        text = show_tree(changed.tree)
        try:
            other = replace(statement, claimed=text)
        except InvalidInput as error:
            yield JudgedChange(f"{changed.what}: {text}", "falls", str(error))
            continue
        yield _compare(f"{changed.what}: {text}", other, solved)
    for what, change in _wider(statement):
        yield _look(what, statement, change, budget, seed)


def _solve(statement: Bound | Contraction, budget: str, seed: int) -> list[PointValue]:
    import numpy as np

    effort = EFFORTS[budget]
    survey, rng = Survey(statement, effort.time_limit), np.random.default_rng(seed)
    for place in survey.corners(effort.cases):
        survey.at(place)
    if statement.parameters.parameters:
        for _ in range(DRAWN):
            survey.at(survey.draw(rng))
        survey.descend(DESCENDED)
    return list(survey.solved)


def _compare(what: str, other: Bound | Contraction, solved: Sequence[PointValue]) -> JudgedChange:
    least, stronger = 1.0, False
    for value in solved:
        try:
            claimed = other.claim_at(value.point)
        except (FedtheoryError, ZeroDivisionError, OverflowError):
            continue
        if compare_to_worst(claimed, value.worst) < FAILS:
            return JudgedChange(what, "falls", f"exceeded at {show_point(value.point)}")
        share = float(claimed / value.claimed) if value.claimed else 1.0
        stronger, least = stronger or share < 1 - ALIKE_RATIOS, min(least, share)
    if not stronger:
        return JudgedChange(what, "weaker", "")
    return JudgedChange(what, "slack", f"as little as {least:.6g} of what is claimed holds at the {len(solved)} points")


def _wider(statement: Bound | Contraction) -> Iterator[tuple[str, dict[str, Any]]]:
    for what, region in list_wider_regions(str(statement.region)):
        yield what, {"region": region}
    for condition in statement.where:
        rest = tuple(other for other in statement.where if other != condition)
        yield f"without the condition {condition}", {"where": rest}


def _look(what: str, statement: Bound | Contraction, change: dict[str, Any], budget: str, seed: int) -> JudgedChange:
    try:
        solved = _solve(replace(statement, **change), budget, seed)
    except FedtheoryError as error:
        return JudgedChange(what, "falls", str(error))
    failing = next((value for value in solved if value.ratio < FAILS), None)
    if failing is not None:
        return JudgedChange(what, "falls", f"exceeded at {show_point(failing.point)}")
    return JudgedChange(what, "slack", f"no violation at the {len(solved)} points that were solved")
