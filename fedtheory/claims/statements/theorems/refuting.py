"""Exact instances against a theorem: its claim at a few rounds and parameters, by substitution, and fractions that break it.

At a point of the region and for small rounds the claim is one inequality about the quantities of a few states; where a semidefinite program sees it
fail, fractions are looked for, and the method's own rounds are played on them.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.played import ConcreteSpace, play_on_instance
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.states import StateTrace, SymbolicSpace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.exact import in_floats
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.programs import SUSPECT, violation
from fedtheory.proofs.parameters.refutations import Instance, find_instance
from fedtheory.proofs.parameters.system import System
from fedtheory.tools.untrusted import parse_json

#: rounds beyond the least that are tried, points of each case, and most states that are unrolled
LATER, POINTS, CORNERS, MOST_STATES = 3, 6, 27, 6
#: the kind of an instance that has parameters and rounds alone
WITHOUT_STATES = "numbers"


@dataclass(frozen=True)
class BrokenClaim:
    """A claim that fails: which one, for which rounds, and the instance; ``gap``, left side less right side, is above zero."""

    claim: int
    rounds: Mapping[str, int]
    instance: Instance
    gap: Fraction

    def store(self) -> dict[str, str]:
        """As plain data."""
        return {
            "statement": "theorem for every round",
            "claim": str(self.claim),
            "rounds": json.dumps(dict(self.rounds)),
            "data": json.dumps(self.instance.store()),
        }

    @classmethod
    def read(cls, data: Mapping[str, str]) -> BrokenClaim:
        """From plain data."""
        instance = Instance.read(parse_json(data["data"]), (WITHOUT_STATES,))
        rounds = {str(name): int(k) for name, k in parse_json(data["rounds"]).items()}
        return cls(int(data["claim"]), rounds, instance, instance.left)


@dataclass(frozen=True)
class Guarded:
    """What was looked at without finding a violation: points, rounds, and why some could not be."""

    points: int
    rounds: tuple[Mapping[str, int], ...]
    left_out: tuple[str, ...] = ()


def refute_theorem(theorem: Theorem) -> BrokenClaim | Guarded:
    """An exact instance against a claim; or what was looked at."""
    looked, left_out, seen = 0, list[str](), list[Mapping[str, int]]()
    for claim, sentence in enumerate(theorem.sentences):
        for rounds in _small_rounds(theorem, sentence):
            for point in _points(theorem, sentence):
                try:
                    found = _refute_at(theorem, claim, sentence, rounds, point)
                except (FedtheoryError, ZeroDivisionError, TypeError, ValueError) as error:
                    left_out.append(str(error))
                    continue
                if found is not None:
                    return found
                looked += 1
                if rounds not in seen:
                    seen.append(rounds)
    return Guarded(looked, tuple(seen), tuple(dict.fromkeys(left_out)))


def replay_claim(theorem: Theorem, broken: BrokenClaim, *, floats: bool = False) -> Any:
    """Left side less right side on the numbers of an instance, by the states' own rounds: a fraction, or in floats.

    Raises
    ------
    InvalidInput
        The instance lies outside of the region, or does not meet the classes.
    """
    sentence, instance = theorem.sentences[broken.claim], broken.instance
    if not theorem.parameters.inside(instance.point):
        raise InvalidInput("the point lies outside of the region")
    low = any(broken.rounds.get(name, least) < least for name, least in theorem.rounds.items())
    if low or any(instance.point.get(name) != k for name, k in sentence.fixed):
        raise InvalidInput("the rounds lie before those that the claim is about")
    plain = in_floats(instance) if floats else instance
    numbers = {**plain.point, **_fractions(broken.rounds)}
    if theorem.states is None:
        _require_hypotheses(theorem, instance.point)
        return Sides(numbers, _none, theorem.formulas).gap(sentence)
    base, last, start = _extent(theorem, sentence, broken.rounds, instance.point)
    trace, _ = _on_symbols(theorem, sentence, broken.rounds, instance.point)
    played, world = play_on_instance(theorem.states, trace, plain, last, start=start)

    def lookup(name: str, k: int) -> Any:
        return _expected(theorem, played[k - base], name, ConcreteSpace(), plain.point)

    gap = Sides(numbers, lookup, theorem.formulas).gap(sentence)
    unmet = [] if floats else world.broken()
    if unmet:
        raise InvalidInput(f"the instance does not meet {unmet[0]}")
    return gap


def _expected(theorem: Theorem, outcomes: Any, name: str, space: Any, point: Mapping[str, Fraction]) -> Any:
    """A quantity's expectation over the outcomes of the draws."""
    total: Any = Form() if isinstance(space, SymbolicSpace) else Fraction(0)
    for chance, known in outcomes:
        found = evaluate_quantity(theorem.quantities[name], space, {**known, **point}, theorem.formulas)
        total = total + found * chance
    return total


def _on_symbols(
    theorem: Theorem, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> tuple[StateTrace, Any]:
    """The rounds on leaves, and left side less right side as a form."""
    base, last, start = _extent(theorem, sentence, rounds, point)
    assert theorem.states is not None
    trace = theorem.states.trace(point, theorem.parameters, last, start=start)

    def lookup(name: str, k: int) -> Form:
        return _expected(theorem, trace.states[k - base], name, SymbolicSpace(), point)  # type: ignore[no-any-return]

    return trace, Sides({**point, **_fractions(rounds)}, lookup, theorem.formulas).gap(sentence)


def _refute_at(
    theorem: Theorem, claim: int, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> BrokenClaim | None:
    if theorem.states is None:
        _require_hypotheses(theorem, point)
        gap = Fraction(Sides({**point, **_fractions(rounds)}, _none, theorem.formulas).gap(sentence))
        failed = gap > 0 or (sentence.sign == "==" and gap != 0)
        empty = Instance(WITHOUT_STATES, dict(point), (), (), (), gap)
        return BrokenClaim(claim, dict(rounds), empty, gap) if failed else None
    trace, conclusion = _on_symbols(theorem, sentence, rounds, point)
    system = trace.system(conclusion if isinstance(conclusion, Form) else Form(constant=conclusion))
    return _instance(theorem, claim, system, rounds, point)


def _require_hypotheses(theorem: Theorem, point: Mapping[str, Fraction]) -> None:
    """Parameters meet what is given of them; where more than parameters is spoken of, no point is known to."""
    for name, hypothesis in theorem.hypotheses.items():
        if hypothesis.names & theorem.rounds.keys():
            raise InvalidInput("the claim rests on hypotheses about rounds, so that it is not tried on instances")
        gap = Sides(point, _none, theorem.formulas).gap(hypothesis)
        met = gap == 0 if hypothesis.sign == "==" else gap < 0 if hypothesis.sign == "<" else gap <= 0
        if not met:
            raise InvalidInput(f"the point does not meet the hypothesis {name}")


def _instance(
    theorem: Theorem, claim: int, system: System, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> BrokenClaim | None:
    worst, _, _ = violation(system)
    if worst <= SUSPECT:
        return None
    instance = find_instance(system, point, worst)
    if instance is None:
        raise InvalidInput(
            f"floats see the claim fail at {dict(point)}, rounds {dict(rounds)}, and no exact instance was found"
        )
    broken = BrokenClaim(claim, dict(rounds), instance, instance.left)
    gap = replay_claim(theorem, broken)
    if gap != instance.left or gap <= 0:
        raise InvalidInput(f"on the instance the states' own rounds come to {gap}, and not to {instance.left}")
    return broken


def _extent(
    theorem: Theorem, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> tuple[int, int, bool]:
    """The first round of the states that are played, how many follow, and whether they begin at the start."""
    asked: list[int] = []

    def lookup(name: str, k: int) -> Fraction:
        if name in theorem.sequences:
            raise InvalidInput(
                f"the numbers {name}[t] are known by hypotheses only, so that the claim is not tried on instances"
            )
        asked.append(k)
        return Fraction(1)

    if theorem.given:
        raise InvalidInput("the claim rests on hypotheses about quantities, so that it is not tried on instances")
    Sides({**point, **_fractions(rounds)}, lookup, theorem.formulas).gap(sentence)
    begins = theorem.states is None or getattr(theorem.states, "start", True) is not None
    base = 0 if begins else min(asked, default=0)
    last = max(asked, default=0) - base
    if last >= MOST_STATES:
        raise InvalidInput(f"{last + 1} states are more than the {MOST_STATES} that are unrolled")
    return base, last, begins and theorem.states is not None


def _small_rounds(theorem: Theorem, sentence: Sentence) -> Iterator[dict[str, int]]:
    names = sorted(sentence.names & theorem.rounds.keys())
    for later in itertools.product(range(LATER), repeat=len(names)):
        yield {name: theorem.rounds[name] + k for name, k in zip(names, later, strict=True)}


def _points(theorem: Theorem, sentence: Sentence) -> Iterator[dict[str, Fraction]]:
    for fixed, region in theorem.parameters.cases():
        if all(fixed.get(name) == k for name, k in sentence.fixed):
            points = [*region.simple_points(POINTS), *region.corners(CORNERS)]
            for k, point in enumerate(points):
                if point not in points[:k]:
                    yield {**fixed, **point}


def _fractions(rounds: Mapping[str, int]) -> dict[str, Fraction]:
    return {name: Fraction(k) for name, k in rounds.items()}


def _none(name: str, k: int) -> Any:
    raise InvalidInput(f"{name}[{k}] has no value")
