"""Runs of a method on random functions of a class, for several numbers of clients: what is claimed of all of them must hold on these.

Whatever an engine says over a class is held against such runs before it is believed. They are of no use as a proof; they find engines that are wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import EnginesDisagree, FedtheoryError
from fedtheory.core.exact import in_floats
from fedtheory.core.problem import objective
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.members import COORDINATES, SeparablePieces, brought_back, draw_members, has_members, members_of
from fedtheory.proofs.sizes import sizes_of
from fedtheory.running.enumeration import enumerate_courses, who_takes_part
from fedtheory.running.falsifier import Candidates, Search, falsify

#: numbers of clients that are tried where the class leaves it open; the search is longest for the second
NUMBERS = (2, 3, 5, 8, 30)
#: runs for each number of clients, where nothing else is said
RUNS = 64
#: runs that a picture shows the spread of
CURVES = 64
#: most choices of clients that are gone through, and numbers (runs, clients, coordinates, choices) that are computed with at once
MOST_CHOICES, MOST_NUMBERS = 300, 400_000
#: relative excess over a claim that is put down to rounding, and what is not told from zero in units of the measure
BEYOND_ROUNDING, NOTHING = 1e-6, 1e-9

CANNOT_RUN = (FedtheoryError, ArithmeticError, TypeError, ValueError)


@dataclass(frozen=True)
class Runs:
    """The largest measured / claimed of some runs, with how many clients that was (None: not known), and all numbers of clients that were tried."""

    largest: float
    clients: int | None
    numbers: tuple[int, ...]

    @property
    def exceeds(self) -> bool:
        """Whether a run exceeds the claim by more than rounding."""
        return self.largest > 1 + BEYOND_ROUNDING

    def __str__(self) -> str:
        with_n = "" if self.clients is None else f" with {self.clients} clients"
        return f"a run{with_n} reaches {self.largest:.6g} of what is claimed"


@dataclass(frozen=True, eq=False)
class BoundQuestion:
    """``measure`` after ``rounds`` rounds of a method over a class, in expectation over coins and who takes part (None: all of any number)."""

    algorithm: Algorithm
    function_class: FunctionClass
    rounds: int
    measure: MeasureName
    radius: Any
    participation: Any = None

    def runs(self, claimed: float, budget: int = 5 * RUNS, seed: int = 0) -> Runs | None:
        """The largest measured / claimed of a search over functions, starts and numbers of clients; None where there are no such runs.

        Parameters
        ----------
        budget : candidates in all: random ones, then local search from the worst (`fedtheory.running.falsifier`)
        """
        if not self._has_runs():
            return None
        try:
            question = _BoundOnRuns(self)
        except CANNOT_RUN:
            return None
        return runs_on(question, self.participation, claimed, budget, seed)

    def measures_of_runs(self, seed: int = 0, n: int = NUMBERS[1]) -> tuple[float, ...]:
        """The measures of `CURVES` runs on random functions of the class; none where it is not one of theirs."""
        if not self._has_runs():
            return ()
        n = n if self.participation is None else self.participation.n
        try:
            question = _BoundOnRuns(self)
            with np.errstate(all="ignore"):
                reached = question.measured(question.draw(np.random.default_rng(seed), CURVES, n))
        except CANNOT_RUN:
            return ()
        return tuple(float(value) for value in reached if np.isfinite(value))

    def _has_runs(self) -> bool:
        given = self.function_class
        return has_members(given) and (find_measure(self.measure).of_minimiser or not given.composite)


def require_within(found: Runs | None, proved: Any) -> Runs | None:
    """Hold what was proved against runs, which are returned.

    Raises
    ------
    EnginesDisagree
        A run exceeds it.
    """
    if found is not None and found.exceeds:
        raise EnginesDisagree(
            f"at most {float(proved):.9g} is proved, and {found}; one of the two engines is wrong, or the method is another one in each"
        )
    return found


def runs_on(question: Any, who: Any, claimed: float, budget: int, seed: int) -> Runs | None:
    """The largest measured / claimed for a question that draws candidates and measures them; None where it cannot be run."""
    numbers = NUMBERS if who is None else (who.n,)
    choices = 1 if who is None or who.s == who.n else math.comb(who.n, who.s)
    if choices > MOST_CHOICES:
        return None
    found: dict[int, float] = {}
    for n in numbers:
        share = budget if len(numbers) == 1 else budget // 2 if n == NUMBERS[1] else budget // (2 * len(numbers) - 2)
        most = max(MOST_NUMBERS // (n * COORDINATES * choices), 2)
        try:
            found[n] = _largest(question, n, claimed, max(min(share, 8 * most), 4), min(256, most), seed)
        except CANNOT_RUN:
            return None
    worst = max(found, key=lambda n: found[n])
    return Runs(max(found[worst], 0.0), worst, numbers)


def _largest(question: Any, n: int, claimed: float, budget: int, batch: int, seed: int) -> float:
    nothing, given = NOTHING * question.unit, question.function_class

    def ratio(candidates: Candidates) -> NDArray[np.float64]:
        reached = question.measured(candidates)
        return np.where(
            reached > nothing, reached / claimed if claimed else np.inf, np.where(np.isfinite(reached), 0, -np.inf)
        )

    search = Search(lambda rng, count: question.draw(rng, count, n), ratio, lambda moved: brought_back(given, moved))
    return falsify(search, budget, seed=seed + n, batch=batch).ratio


class _BoundOnRuns:
    """A measure after some rounds, from starts that are as far away as the class lets them be."""

    def __init__(self, asked: BoundQuestion) -> None:
        self.asked: BoundQuestion = in_floats(asked)
        self.function_class = self.asked.function_class
        self.measure = find_measure(asked.measure)
        self.unit = sizes_of(asked.function_class, self.measure, asked.radius).goal

    def draw(self, rng: np.random.Generator, count: int, n: int) -> Candidates:
        """Random functions and starts."""
        start = rng.standard_normal((count, 1, COORDINATES))
        return draw_members(self.asked.function_class, rng, count, n) | {"start": start}

    def measured(self, candidates: Candidates) -> NDArray[np.float64]:
        """The measure on every candidate; -inf where f has no minimiser."""
        functions, start = self._admissible(candidates)
        count, asked = len(start), self.asked
        values: list[Any] = [0.0] * (asked.rounds + 1)
        for weight, states in enumerate_courses(
            asked.algorithm, functions, start, asked.rounds, who_takes_part(asked.participation)
        ):
            for r, state in enumerate(states):
                values[r] = values[r] + float(weight) * np.broadcast_to(self.measure.metric(functions, state), count)
        reached = self.measure.summarise(np.array([np.broadcast_to(v, count) for v in values]))
        curved = candidates["inside"].mean(axis=-2) > 1e-3 * float(asked.function_class.L)
        return np.where(asked.function_class.convex | curved.all(axis=-1), reached, -np.inf)

    def _admissible(self, candidates: Candidates) -> tuple[SeparablePieces, NDArray[np.float64]]:
        """Functions and start within the radius, or with f(x^0) - inf f within it."""
        given, radius = self.asked.function_class, float(self.asked.radius)
        start = candidates["start"]
        if self.measure.of_minimiser:
            length = np.sqrt((start**2).sum((-1, -2), keepdims=True))
            return members_of(given, candidates, radius), radius * start / length
        size = np.sqrt(2 * radius / float(given.L))
        functions, start = members_of(given, candidates, size), size * start
        height = objective(functions, start) - objective(functions, 0 * start)
        scale = np.sqrt(radius / np.maximum(height, 1e-300))[:, None, None]
        scale = scale if _limits_differences(given) is None else np.minimum(scale, 1)
        return functions.times(scale), start * scale


def _limits_differences(given: Any) -> Any:
    """What limits how much clients' gradients differ, or None."""
    return next((v for v in (given.zeta, given.bgd, given.dissimilarity) if v is not None), None)
