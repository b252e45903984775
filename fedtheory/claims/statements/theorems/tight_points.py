"""Points at which hypotheses on numbers, such as ``N >= L/mu*log(D/e)``, are just met: where a claim about the rounds to an accuracy e is hardest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from fractions import Fraction

from fedtheory.claims.statements.theorems.irrational import is_above, place_between
from fedtheory.claims.statements.theorems.sequences import own_of_claim, speaks_of_numbers_alone
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.checker.formulas import Sentence

#: by which factor a parameter is moved until a hypothesis is met, or fails, and how often; then by how little the two may differ
FACTOR, STEPS, NEAR = Fraction(2), 24, Fraction(1, 2000)


def list_tight_points(
    theorem: Theorem, claim: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> Iterator[Mapping[str, Fraction]]:
    """The point; and for each such hypothesis one with another value of a parameter that the claim speaks of, too."""
    yield point
    for hypothesis in theorem.hypotheses.values():
        if hypothesis.sign not in ("<=", "<") or hypothesis.exists or not hypothesis.names & rounds.keys():
            continue
        if not speaks_of_numbers_alone(theorem, hypothesis) or hypothesis.names - {*point, *rounds, *theorem.formulas}:
            continue
        for name in reversed(theorem.parameters.names):
            if name in hypothesis.names and name in claim.names:
                with contextlib.suppress(FedtheoryError, ArithmeticError, ValueError):
                    found = _just_met(theorem, hypothesis, rounds, point, name)
                    if found != point and theorem.parameters.inside(found):
                        yield found


def _just_met(
    theorem: Theorem, hypothesis: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction], name: str
) -> dict[str, Fraction]:
    """The point with the value of a parameter that meets a hypothesis, while one that is a little further does not."""

    def is_met(value: Fraction) -> bool:
        numbers = {**point, name: value, **own_of_claim(theorem, rounds)}
        gap = Sides(numbers, _nothing, theorem.formulas, irrational=place_between).gap(hypothesis)
        return not is_above(gap, hypothesis.sign == "<")

    good = bad = point[name]
    met = is_met(good)
    for k in range(1, STEPS):
        others = [v for v in (point[name] * FACTOR**k, point[name] / FACTOR**k) if is_met(v) != met]
        if others:
            good, bad = (point[name], others[0]) if met else (others[0], point[name])
            break
    while abs(good - bad) > NEAR * good:
        middle = ((good + bad) / 2).limit_denominator(int(16 / (abs(good - bad))) + 1)
        good, bad = (middle, bad) if is_met(middle) else (good, middle)
    return {**point, name: good}


def _nothing(name: str, k: int) -> Fraction:
    raise InvalidInput(f"{name}[{k}] is no number that a hypothesis on parameters may speak of")
