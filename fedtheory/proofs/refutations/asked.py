"""What is refuted: a bound on a measure after some rounds, or a factor by which a potential falls in every round; run exactly on given functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import Row
from fedtheory.core.problem import objective
from fedtheory.core.states import arrays_of
from fedtheory.proofs.certificates.questions import ask_worst_case, store_class, store_object, store_participation
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.guard import BoundQuestion
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.potentials.guard import DecreaseQuestion
from fedtheory.proofs.potentials.invariants import follow_errors
from fedtheory.proofs.refutations.candidates import (
    Candidate,
    Start,
    with_minimiser,
    within_height,
    within_radius,
)
from fedtheory.proofs.refutations.envelopes import array_of
from fedtheory.running.enumeration import enumerate_courses, enumerate_outcomes, who_takes_part


class Asked(Protocol):
    """A claim about a method over a class; all numbers are fractions."""

    @property
    def algorithm(self) -> Algorithm:
        """The method."""

    @property
    def function_class(self) -> FunctionClass:
        """What is assumed of the functions."""

    @property
    def participation(self) -> Sampling | None:
        """Who takes part; None for any number of clients, all of them."""

    @property
    def mirrored(self) -> bool:
        """Whether functions have to be bounded below."""

    def settle(self, candidate: Candidate, denominator: int) -> Candidate:
        """The candidate, moved and scaled until the assumptions hold exactly."""

    def reached(self, functions: Any, start: Mapping[str, Any]) -> Any:
        """What a run from the start reaches; exact on functions and a start in fractions, floats on floats."""

    def describe(self) -> dict[str, Any]:
        """The question as plain data."""


@dataclass(frozen=True, eq=False)
class AskedBound(BoundQuestion):
    """A bound on a measure after some rounds."""

    @property
    def mirrored(self) -> bool:
        """Measures that do not speak of a minimiser speak of the infimum."""
        return not find_measure(self.measure).of_minimiser

    def settle(self, candidate: Candidate, denominator: int) -> Candidate:
        """With x* = 0, within the radius and zeta; or with f(x^0) - inf f within the radius."""
        if self.mirrored:
            return within_height(candidate, self.radius, denominator)
        candidate = with_minimiser(candidate, self.function_class)
        return within_radius(candidate, self.function_class, self.radius, denominator)

    def reached(self, functions: Any, start: Mapping[str, Any]) -> Any:
        """The measure, all outcomes enumerated."""
        measure = find_measure(self.measure)
        last = measure.over_rounds == "last"
        totals: list[Any] = [0] * (self.rounds + 1)
        runs = enumerate_courses(self.algorithm, functions, start["x"], self.rounds, who_takes_part(self.participation))
        for weight, states in runs:
            for r in range(self.rounds if last else 1, self.rounds + 1):
                totals[r] += weight * _plain(measure.metric(functions, states[r]))
        if last:
            return totals[-1]
        return sum(totals[1:]) if measure.over_rounds == "sum" else min(totals[1:])

    def describe(self) -> dict[str, Any]:
        """The question as certificates have it."""
        given = self.algorithm, self.function_class, self.rounds, self.measure, self.radius, self.participation
        return ask_worst_case(*given)


@dataclass(frozen=True, eq=False)
class AskedDecrease(DecreaseQuestion):
    """A factor of a potential.

    States are all those on which the relations between fields hold that are proved from the method's rounds.
    """

    mirrored = False

    def settle(self, candidate: Candidate, denominator: int) -> Candidate:
        """With x* = 0; a ratio knows no scale."""
        return with_minimiser(candidate, self.function_class)

    def reached(self, functions: Any, start: Mapping[str, Any]) -> Any:
        """E V(after) / V(before), all outcomes enumerated."""
        origin = next(iter(start.values()))[:1] * 0
        star = self.algorithm.solution_state(functions, origin)
        if star is None:
            raise SolverFailed(f"{self.algorithm} has no fixed point at x*, where a potential could vanish")

        def potential(state: Any) -> Any:
            total: Any = 0
            for name, weight in self.weights.items():
                if name == "gap":
                    total += weight * _plain(objective(functions, state.x) - objective(functions, origin))
                else:
                    error = getattr(state, name) - getattr(star, name)
                    total += weight * (error**2).sum() / len(error)
            return total

        fields = {name: at + start[name] for name, at in arrays_of(star).items() if name in start}
        begin = dataclasses.replace(star, **fields)
        after: Any = 0
        for share, clients in who_takes_part(self.participation):

            def step(key: Any, clients: Any = clients) -> Any:
                return self.algorithm.round(functions, begin, clients, key)

            for chance, state in enumerate_outcomes(step, 0):
                after += share * chance * potential(state)
        before = potential(begin)
        if before == 0:
            raise SolverFailed("the potential vanishes at the start")
        return after / before

    def broken_relation(self, start: Start) -> str | None:
        """A relation between fields that rounds keep and the start does not; None if it satisfies all."""
        for relation in follow_errors(self.algorithm, self.function_class, self.participation).space.named():
            rows = [
                [weight * v for v in row]
                for name, weight in relation.weights
                for row in _mean_or_apart(start[name], relation.kind, start)
            ]
            count = len(rows) // len(relation.weights)
            for i in range(count):
                if any(sum(column, Fraction(0)) for column in zip(*rows[i::count], strict=True)):
                    return str(relation)
        return None

    def describe(self) -> dict[str, Any]:
        """The question; its rate is what is claimed."""
        return {
            "kind": "decrease",
            "method": store_object(self.algorithm),
            "functions": store_class(self.function_class),
            "participation": store_participation(self.participation),
            "potential": {name: str(weight) for name, weight in self.weights.items()},
        }


def _mean_or_apart(rows: list[Row], kind: str, start: Start) -> list[Row]:
    """The average over clients of a field's rows, or every client's deviation from it."""
    mean = [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]
    if kind == "mean":
        return [mean]
    n = max(len(other) for other in start.values())
    each = rows if len(rows) == n else rows * n
    return [[a - b for a, b in zip(row, mean, strict=True)] for row in each]


def _plain(value: Any) -> Any:
    """The one number of an array."""
    return np.asarray(value).reshape(-1)[0]


def start_arrays(start: Start) -> dict[str, NDArray[Any]]:
    """A start as arrays of fractions."""
    return {name: array_of(rows) for name, rows in start.items()}
