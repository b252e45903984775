"""Runs of a method on random functions of a class, for several numbers of clients: what is claimed of all of them must hold on these.

Whatever an engine says over a class is held against such runs before it is believed. They are of no use as a proof; they find engines that are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import EnginesDisagree, FedtheoryError
from fedtheory.core.exact import in_floats
from fedtheory.core.problem import objective
from fedtheory.proofs.crowds import Crowd
from fedtheory.proofs.function_class import FunctionClass, require_question
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.members import (
    COORDINATES,
    OF_CLIENTS,
    SeparablePieces,
    brought_back,
    draw_members,
    excess_of,
    members_of,
)
from fedtheory.proofs.sizes import sizes_of
from fedtheory.running.enumeration import enumerate_courses
from fedtheory.running.falsifier import Candidates, Search, falsify

#: numbers of clients that are tried where the class leaves it open; the search is longest for the second
NUMBERS = (2, 3, 5, 8, 30)
#: runs for each number of clients, where nothing else is said
RUNS = 64
#: runs that a picture shows the spread of
CURVES = 64
#: numbers (runs, clients, coordinates, choices) that are computed with at once
MOST_NUMBERS = 400_000
#: relative excess over a claim that is put down to rounding, and what is not told from zero in units of the measure
BEYOND_ROUNDING, NOTHING = 1e-6, 1e-9
#: by so much is a run kept below a limit that it would reach exactly, where rounding might take it beyond
ROUNDED = 1e-9

CANNOT_RUN = (FedtheoryError, ArithmeticError, TypeError, ValueError)


@dataclass(frozen=True)
class Runs:
    """The largest measured / claimed of some runs, with how many clients that was (None: not known), and all numbers of clients that were tried.

    Where no runs were made, ``why_none`` says why: what is claimed was held against nothing.
    """

    largest: float
    clients: int | None
    numbers: tuple[int, ...]
    why_none: str = ""

    @classmethod
    def none(cls, why: Any) -> Runs:
        """No runs, and why."""
        return cls(-math.inf, None, (), str(why))

    @classmethod
    def together(cls, found: Sequence[Runs]) -> Runs:
        """The worst of several, with the numbers of clients of all."""
        worst = max(found, key=lambda seen: seen.largest, default=cls.none("no run was asked for"))
        return replace(worst, numbers=tuple(sorted({n for seen in found for n in seen.numbers})))

    @property
    def exceeds(self) -> bool:
        """Whether a run exceeds the claim by more than rounding."""
        return self.largest > 1 + BEYOND_ROUNDING

    def told(self) -> str:
        """With how many clients, or why there are none."""
        if self.why_none:
            return f"no runs: {self.why_none}"
        return f"runs with n = {', '.join(map(str, self.numbers))}" if self.numbers else "runs"

    def __str__(self) -> str:
        if self.why_none:
            return self.told()
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

    def runs(self, claimed: float, budget: int = 5 * RUNS, seed: int = 0) -> Runs:
        """The largest measured / claimed of a search over functions, starts and numbers of clients, or why there are no such runs.

        Parameters
        ----------
        budget : candidates in all: random ones, then local search from the worst (`fedtheory.running.falsifier`)
        """
        try:
            question = _BoundOnRuns(self)
        except CANNOT_RUN as error:
            return Runs.none(error)
        return runs_on(question, self.participation, claimed, budget, seed)

    def measures_of_runs(self, seed: int = 0, n: int = NUMBERS[1]) -> tuple[float, ...]:
        """The measures of up to `CURVES` runs on random functions of the class; none where they cannot be made."""
        n = n if self.participation is None else self.participation.n
        try:
            question, crowd = _BoundOnRuns(self), Crowd.of(n, self.participation, self.rounds)
            count = min(CURVES, _most_at_once(crowd))
            with np.errstate(all="ignore"):
                drawn = question.draw(np.random.default_rng(seed), count, len(crowd.kinds))
                reached = question.measured(drawn, crowd)
        except CANNOT_RUN:
            return ()
        return tuple(float(value) for value in reached if np.isfinite(value))


def require_within(found: Runs, proved: Any) -> Runs:
    """Hold what was proved against runs, which are returned.

    Raises
    ------
    EnginesDisagree
        A run exceeds it.
    """
    if found.exceeds:
        raise EnginesDisagree(
            f"at most {float(proved):.9g} is proved, and {found}; one of the two engines is wrong, or the method is another one in each"
        )
    return found


def runs_on(question: Any, who: Any, claimed: float, budget: int, seed: int) -> Runs:
    """The largest measured / claimed for a question that draws candidates and measures them, or why it cannot be run."""
    numbers = NUMBERS if who is None else (who.n,)
    found: dict[int, float] = {}
    for n in numbers:
        share = budget if len(numbers) == 1 else budget // 2 if n == NUMBERS[1] else budget // (2 * len(numbers) - 2)
        try:
            crowd = Crowd.of(n, who, question.rounds)
            most = _most_at_once(crowd)
            found[n] = _largest(question, crowd, claimed, max(min(share, 8 * most), 4), min(256, most), seed)
        except CANNOT_RUN as error:
            return Runs.none(error)
    worst = max(found, key=lambda n: found[n])
    return Runs(max(found[worst], 0.0), worst, numbers)


def _most_at_once(crowd: Crowd) -> int:
    """How many candidates are measured at once."""
    return max(MOST_NUMBERS // (crowd.n * COORDINATES * len(crowd.choices)), 2)


def _largest(question: Any, crowd: Crowd, claimed: float, budget: int, batch: int, seed: int) -> float:
    nothing, given = NOTHING * question.unit, question.function_class

    def ratio(candidates: Candidates) -> NDArray[np.float64]:
        reached = question.measured(candidates, crowd)
        return np.where(
            reached > nothing, reached / claimed if claimed else np.inf, np.where(np.isfinite(reached), 0, -np.inf)
        )

    search = Search(
        lambda rng, count: question.draw(rng, count, len(crowd.kinds)), ratio, lambda moved: brought_back(given, moved)
    )
    return falsify(search, budget, seed=seed + crowd.n, batch=batch).ratio


class _BoundOnRuns:
    """A measure after some rounds, from starts that are as far away as the class lets them be."""

    def __init__(self, asked: BoundQuestion) -> None:
        self.asked: BoundQuestion = in_floats(asked)
        self.function_class, self.rounds = self.asked.function_class, self.asked.rounds
        self.measure = find_measure(asked.measure)
        require_question(self.function_class, self.measure, self.rounds, self.asked.radius)
        self.unit = sizes_of(asked.function_class, self.measure, asked.radius).goal

    def draw(self, rng: np.random.Generator, count: int, kinds: int) -> Candidates:
        """Random functions and starts."""
        start = rng.standard_normal((count, 1, COORDINATES))
        return draw_members(self.function_class, rng, count, kinds) | {"start": start}

    def measured(self, candidates: Candidates, crowd: Crowd) -> NDArray[np.float64]:
        """The measure on every candidate; -inf where f has no minimiser, or the run leaves where the class's condition on gradients holds."""
        candidates, given = crowd.of_all(candidates, OF_CLIENTS), self.function_class
        functions, start = self._admissible(candidates)
        values, models = self._followed(functions, start, crowd)
        admitted = given.convex | (candidates["inside"].mean(axis=-2) > 1e-3 * float(given.L)).all(axis=-1)
        if given.bgd is not None and float(given.bgd[1]) < 1:
            size = np.sqrt(np.minimum(1, (1 - ROUNDED) / excess_of(given, functions, models)))[:, None, None]
            functions, start = functions.times(size), start * size
            values, models = self._followed(functions, start, crowd)
            admitted &= excess_of(given, functions, models) <= 1
        return np.where(admitted, self.measure.summarise(values), -np.inf)

    def _followed(
        self, functions: SeparablePieces, start: NDArray[np.float64], crowd: Crowd
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
        """The expected metric after 0..R rounds ``(R + 1, count)``, and the server's models in all courses."""
        values, models = np.zeros((self.rounds + 1, len(start))), list[NDArray[np.float64]]()
        for weight, states in enumerate_courses(self.asked.algorithm, functions, start, self.rounds, crowd.choices):
            for r, state in enumerate(states):
                values[r] += float(weight) * np.broadcast_to(self.measure.metric(functions, state), len(start))
            models += [state.x for state in states]
        return values, models

    def _admissible(self, candidates: Candidates) -> tuple[SeparablePieces, NDArray[np.float64]]:
        """Functions and start within the radius, or with f(x^0) - inf f within it."""
        given, radius = self.function_class, float(self.asked.radius)
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
