"""Weights of a potential as rational functions of the parameters, by semidefinite programs at many points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from fedtheory.claims.statements.theorems.potential_programs import MISSED, PotentialProgram, WeightPlace
from fedtheory.proofs.parameters.closed_forms import fit, monomials
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.semidefinite.program import Matrix

#: how near to the room for it a coefficient must be
NEAR_ROOM = 2e-3
#: simple monomials that are guessed; coefficients, terms and degree of simple polynomials; guesses of a coefficient, and choices that are tried
GUESSES, COEFFICIENTS, TERMS, DEGREE, BRANCHES, TRIES = 300, ("1", "1/2", "2", "1/4"), 3, 2, 3, 24

Rooms = list[tuple[float, float]]
Chosen = Mapping[WeightPlace, RationalFunction]


@dataclass
class WeightFit:
    """Coefficients as rational functions of the parameters ``names``, by programs at points, where the other parameters are one."""

    field: ParameterField
    names: Sequence[str]
    points: Sequence[Mapping[str, Fraction]]
    programs: Sequence[PotentialProgram]
    _left: int = TRIES

    def find(self, places: Sequence[WeightPlace], known: Chosen) -> Chosen | None:
        """Those of all places, of which some are known; the place with the least room is decided first."""
        self._left = TRIES
        return self._find([place for place in places if place not in known], known) if self._holds(known) else None

    def _find(self, places: Sequence[WeightPlace], found: Chosen) -> Chosen | None:
        if not places:
            return found
        rooms = {place: self._rooms(place, found) for place in places}
        place = min(places, key=lambda place: _width(rooms[place]))
        guesses = (guess for guess in self._guess(rooms[place]) if self._holds({**found, place: guess}))
        for guess in itertools.islice(guesses, BRANCHES):
            self._left -= 1
            every = self._find([other for other in places if other != place], {**found, place: guess})
            if every is not None or self._left <= 0:
                return every
        return None

    def _at_points(self, found: Chosen) -> list[dict[WeightPlace, float]]:
        return [{place: float(v.at(point)) for place, v in found.items()} for point in self.points]

    def _holds(self, found: Chosen) -> bool:
        pairs = zip(self.programs, self._at_points(found), strict=True)
        return all(program.missed(at) <= MISSED for program, at in pairs)

    def _rooms(self, place: WeightPlace, found: Chosen) -> Rooms:
        """The room for a coefficient at every point; none where a solver finds none at one of them."""
        pairs = zip(self.programs, self._at_points(found), strict=True)
        rooms = [program.room(place, at) for program, at in pairs]
        kept = [room for room in rooms if room is not None]
        return kept if len(kept) == len(rooms) else []

    def _guess(self, rooms: Rooms) -> Iterator[RationalFunction]:
        """Rational functions that lie in the rooms at all points: zero, simple monomials and polynomials, and those through ends and middles."""
        if not rooms:
            return
        low, high = np.array([min(room) for room in rooms]), np.array([max(room) for room in rooms])
        near = NEAR_ROOM * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        low_enough, high_enough = low - near, high + near
        if np.all(low_enough <= 0) and np.all(high_enough >= 0):
            yield self.field.zero
        for guess, values in self._monomials:
            for sign in (1, -1):
                if np.all(sign * values >= low_enough) and np.all(sign * values <= high_enough):
                    yield guess * sign
        table, values = self._polynomials
        inside = np.all((values >= low_enough) & (values <= high_enough), axis=1)
        for k in np.flatnonzero(inside):
            yield self._polynomial(table[k])
        for values in (low, high, (low + high) / 2):
            found = fit(self.field, self.names, self.points, values)
            if found is not None:
                yield found

    @cached_property
    def _monomials(self) -> list[tuple[RationalFunction, Matrix]]:
        simple = itertools.islice(monomials(self.field, self.names), GUESSES)
        return [(guess, np.array([float(guess.at(point)) for point in self.points])) for guess in simple]

    @cached_property
    def _powers(self) -> list[tuple[int, ...]]:
        every = itertools.product(range(DEGREE + 1), repeat=len(self.names))
        return sorted((e for e in every if sum(e) <= DEGREE), key=sum)

    @cached_property
    def _polynomials(self) -> tuple[list[dict[int, Fraction]], Matrix]:
        """Sums of a few monomials with simple coefficients, the simplest first, and their values at the points."""
        sizes = [Fraction(c) * sign for c in COEFFICIENTS for sign in (1, -1)]
        table = [
            dict(zip(places, chosen, strict=True))
            for terms in range(2, TERMS + 1)
            for places in itertools.combinations(range(len(self._powers)), terms)
            for chosen in itertools.product(sizes, repeat=terms)
        ]
        table.sort(key=lambda row: (len(row), sum(sizes.index(c) for c in row.values())))
        x = np.array([[float(point[name]) for name in self.names] for point in self.points])
        columns = np.array([np.prod(x ** np.array(e), axis=1) for e in self._powers])
        dense = np.array([[float(row.get(k, 0)) for k in range(len(self._powers))] for row in table])
        return table, dense.reshape(len(table), len(self._powers)) @ columns

    def _polynomial(self, row: Mapping[int, Fraction]) -> RationalFunction:
        parameters, total = self.field.parameters(), self.field.zero
        for k, coefficient in row.items():
            term = self.field.number(coefficient)
            for name, power in zip(self.names, self._powers[k], strict=True):
                term = term * parameters[name] ** power
            total = total + term
        return total


def _width(rooms: Rooms) -> float:
    """How wide the narrowest room is, relative to what lies in it."""
    if not rooms:
        return float("inf")
    return float(np.min([abs(b - a) / max(abs(a), abs(b), 1e-3) for a, b in rooms]))
