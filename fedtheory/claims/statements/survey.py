"""Where in a region a claim is least certain: worst cases at its corners, at random points, and by local search from the worst of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.outcomes import show_point
from fedtheory.core.errors import CannotTrace, FedtheoryError, SolverFailed
from fedtheory.core.exact import in_floats
from fedtheory.proofs.every_n.one_curvature import is_nearly_one_curvature, largest_in_shifted_coordinates
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.worst_case import worst_case_for_every_n
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.potentials.smallest_rate import search_potentials
from fedtheory.proofs.refutations.asked import AskedBound, AskedDecrease
from fedtheory.proofs.refutations.programs import decrease_model, potential_terms
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.semidefinite.solve import TooLarge
from fedtheory.proofs.sizes import sizes_of
from fedtheory.proofs.stated_bounds import ERROR

#: coordinates of points in their box are multiples of this
GRID = Fraction(1, 1024)
#: most corners of the real parameters for one choice of the whole numbers
MOST_CORNERS = 16
#: most points of a region without real parameters that are all visited
MOST_POINTS = 200
#: ratios mu/L above which points may be left out without sinking the word: the class there is almost one function
CORNER = 0.99
#: a worst case below this, in the unit of its measure, is not told from zero
NOTHING_LEFT = 1e-9


@dataclass(frozen=True)
class PointValue:
    """Claimed value and worst case at a point; the worst case may be infinite."""

    point: Mapping[str, Fraction]
    claimed: Fraction
    worst: float

    @property
    def ratio(self) -> float:
        """Claimed over worst case: below one where the claim fails."""
        return compare_to_worst(self.claimed, self.worst)


def compare_to_worst(claimed: Fraction, worst: float) -> float:
    """Claimed over worst case; zero where nothing bounds the worst case, infinite where that is zero and the claim is not negative."""
    if math.isinf(worst):
        return 0.0
    return float(claimed) / worst if worst > 0 else math.copysign(math.inf, claimed)


def worst_value(asked: AskedBound | AskedDecrease, time_limit: float | None = None) -> float:
    """The worst case over the class as a number: the largest value of the measure, or of E V(after) / V(before).

    It is zero where it is `NOTHING_LEFT` of its unit. Where the method makes numbers that are no fractions, such as square roots, it is followed
    in floats.

    Raises
    ------
    FedtheoryError
        The question makes no sense, or no solver's answer was accepted.
    """
    return worst_between(asked, time_limit)[1]


def worst_between(asked: AskedBound | AskedDecrease, time_limit: float | None = None) -> tuple[float, float]:
    """What the worst case is at least and at most, by a solver's residuals; the second is `worst_value`."""
    try:
        return _worst_between(asked, time_limit)
    except CannotTrace:
        return _worst_between(in_floats(asked), time_limit)


def _worst_between(asked: AskedBound | AskedDecrease, time_limit: float | None) -> tuple[float, float]:
    """In the coordinates that suit the class; where that fails, in others."""
    if is_nearly_one_curvature(asked.function_class):
        try:
            return _in_shifted_coordinates(asked, time_limit)
        except (CannotTrace, SolverFailed):
            return _in_own_coordinates(asked, time_limit)
    try:
        return _in_own_coordinates(asked, time_limit)
    except TooLarge:
        raise
    except SolverFailed:
        if not asked.function_class.mu > 0:
            raise
        try:
            return _in_shifted_coordinates(asked, time_limit)
        except CannotTrace:
            pass
        raise


def _in_own_coordinates(asked: AskedBound | AskedDecrease, time_limit: float | None) -> tuple[float, float]:
    if isinstance(asked, AskedDecrease):
        search = search_potentials(asked.algorithm, asked.function_class, asked.participation)
        solution = search.solve_ratio(*search.stated(potential_terms(asked.weights)), time_limit=time_limit)
        unit = 1.0
    else:
        found = worst_case_for_every_n(
            asked.algorithm,
            asked.function_class,
            rounds=asked.rounds,
            measure=asked.measure,
            radius=asked.radius,
            participation=asked.participation,
            time_limit=time_limit,
        )
        if found.unbounded:
            return found.value, found.value
        solution, unit = found.solution, found.stated.units.goal
    if solution.value <= NOTHING_LEFT:
        return 0.0, 0.0
    return (solution.value - solution.overshoot) * unit, solution.value * unit


def _in_shifted_coordinates(asked: AskedBound | AskedDecrease, time_limit: float | None) -> tuple[float, float]:
    given = asked.function_class
    if isinstance(asked, AskedDecrease):
        search = search_potentials(asked.algorithm, given, asked.participation)
        model, height = decrease_model(asked, search)
        parts = {"S": "mean", "Q": "deviation"}
        free = {"S": search.model.space.free["mean"], "Q": search.model.space.free["deviation"]}
        known: dict[Any, float] = {
            (parts[m], k): float(v) for (m, k), v in search.units.leaves.items() if k < len(free[m])
        }
        least, most = largest_in_shifted_coordinates(model, search.decrease.evaluations, given, known, time_limit)
        return least / float(height), most / float(height)
    model, problem, start, _ = state_program(
        asked.algorithm, given, asked.rounds, asked.measure, asked.radius, asked.participation, time_limit
    )
    size = sizes_of(given, find_measure(asked.measure), asked.radius).point
    steep = float(given.L - given.mu)
    apart = max(float(given.zeta), 2.0**-30 * steep * size) if given.zeta is not None else steep * size
    known = dict.fromkeys(start.terms, size) | {("deviation", 0): apart}
    return largest_in_shifted_coordinates(model, problem.evaluations, given, known, time_limit)


@dataclass(frozen=True)
class Place:
    """A point by the whole numbers and the coordinates of the real parameters in their box."""

    whole: tuple[tuple[str, Fraction], ...]
    box: tuple[Fraction, ...]


class Survey:
    """Points of a region with their claimed values and worst cases, as they are computed; ``unsolved`` holds those without, and why.

    ``beside``: values at points that are no place of a box, added by who found them.
    """

    def __init__(self, statement: Bound | Contraction, time_limit: float | None = None) -> None:
        self.statement, self.time_limit = statement, time_limit
        self.found: dict[Place, PointValue] = {}
        self.beside: list[PointValue] = []
        self.unsolved: dict[Place, tuple[Mapping[str, Fraction], str]] = {}
        self.cases: dict[tuple[tuple[str, Fraction], ...], Region] = {
            tuple(fixed.items()): case for fixed, case in statement.parameters.cases()
        }

    @property
    def solved(self) -> list[PointValue]:
        """What was found, the worst first."""
        return sorted([*self.found.values(), *self.beside], key=lambda value: value.ratio)

    def point_of(self, place: Place) -> dict[str, Fraction] | None:
        """The point of a place; None outside of the statement's region."""
        point = {**dict(place.whole), **self.cases[place.whole].point_of_box(place.box)}
        return point if self.statement.inside(point) else None

    def at(self, place: Place) -> PointValue | None:
        """The point of a place; None outside of the region, or where nothing was solved."""
        if place in self.found or place in self.unsolved:
            return self.found.get(place)
        point = self.point_of(place)
        if point is None:
            return None
        try:
            self.found[place] = self.solve(point)
        except FedtheoryError as error:
            self.unsolved[place] = (point, f"{type(error).__name__}: {error}")
        return self.found.get(place)

    def solve(self, point: Mapping[str, Fraction]) -> PointValue:
        """Claimed value and worst case at any point.

        Raises
        ------
        FedtheoryError
            The claim has no value there, or there is no worst case.
        """
        claimed = self.statement.claim_at(point)
        least, most = worst_between(self.statement.asked_at(point), self.time_limit)
        if least <= claimed < most * (1 - ERROR):
            raise SolverFailed(
                f"the worst case is not known well enough: by the solver's residuals it lies between {least:.9g} and {most:.9g}, and "
                f"{float(claimed):.9g} is claimed"
            )
        return PointValue(point, claimed, most)

    def left_out(self) -> str:
        """How many points were not solved, where they lie and why; empty where all were."""
        if not self.unsolved:
            return ""
        point, why = next(iter(self.unsolved.values()))
        count = f"{len(self.unsolved)} of {len(self.unsolved) + len(self.solved)} points left out"
        ratio = self.least_ratio_left_out()
        where = "" if ratio is None else f", all with mu/L >= {ratio:.4g}"
        return f"{count}{where}, e.g. {show_point(point)}: {why[:200]}"

    def least_ratio_left_out(self) -> float | None:
        """The smallest mu/L of the points that were not solved, where that is near one; None where it is not."""
        found = [self._ratio_of_curvatures(point) for point, _ in self.unsolved.values()]
        return min(found) if found and min(found) >= CORNER else None

    def _ratio_of_curvatures(self, point: Mapping[str, Fraction]) -> float:
        try:
            given = self.statement.functions_at(point)
        except (FedtheoryError, ArithmeticError):
            return 0.0
        return float(given.mu) / float(given.L)

    def corners(self, most_cases: int) -> Iterator[Place]:
        """Corners of the real parameters, and their middle, for the first, the last and some whole numbers in between.

        For all of them, up to `MOST_POINTS`, where there are no others.
        """
        finite = not any(case.parameters for case in self.cases.values())
        for whole in _spread(list(self.cases), MOST_POINTS if finite else most_cases):
            k = len(self.cases[whole].parameters)
            ends = itertools.product((Fraction(0), Fraction(1)), repeat=k)
            for box in dict.fromkeys((*itertools.islice(ends, MOST_CORNERS), (Fraction(1, 2),) * k)):
                yield Place(whole, tuple(box))

    def draw(self, rng: np.random.Generator) -> Place:
        """A random place."""
        whole = list(self.cases)[int(rng.integers(len(self.cases)))]
        k = len(self.cases[whole].parameters)
        return Place(whole, tuple(round(float(u) / GRID) * GRID for u in rng.random(k)))

    def descend(self, budget: int) -> int:
        """Local search from the worst point: every coordinate up and down, by steps that are halved; how many points it took."""
        places = sorted(self.found, key=lambda place: self.found[place].ratio)
        if not places or not self.statement.parameters.parameters:
            return 0
        best, step, spent = places[0], Fraction(1, 4), 0
        while spent < budget and step >= GRID and self.found[best].ratio > 0:
            before = self.found[best].ratio
            for place in self.neighbours(best, step):
                spent += place not in self.found
                value = self.at(place)
                if value is not None and value.ratio < self.found[best].ratio - 1e-12:
                    best = place
            if self.found[best].ratio >= before:
                step /= 2
        return spent

    def neighbours(self, place: Place, step: Fraction) -> Iterator[Place]:
        """One coordinate moved at a time; whole numbers by one."""
        for k in range(len(place.box)):
            for sign in (1, -1):
                u = min(max(place.box[k] + sign * step, Fraction(0)), Fraction(1))
                if u != place.box[k]:
                    yield Place(place.whole, (*place.box[:k], u, *place.box[k + 1 :]))
        for k, (name, value) in enumerate(place.whole):
            for sign in (1, -1):
                whole = (*place.whole[:k], (name, value + sign), *place.whole[k + 1 :])
                if whole in self.cases:
                    yield Place(whole, place.box)

    def is_whole(self) -> bool:
        """Whether the region has no real parameters, so that its points can be counted, and all of them were solved."""
        places = [Place(whole, ()) for whole, case in self.cases.items() if not case.parameters]
        inside = [place for place in places if self.point_of(place) is not None]
        return len(places) == len(self.cases) and all(place in self.found for place in inside)


def _spread(items: Sequence[Any], most: int) -> list[Any]:
    """At most so many, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(k * (len(items) - 1) / (most - 1))] for k in range(most)]
