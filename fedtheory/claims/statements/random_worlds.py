"""Lemmas on random functions: every vector and value of a lemma's text is that of actual quadratics of several clients, in fractions.

A lemma speaks of functions of a class through gradients and values at some points. Here every client has f_i(x) = a_i x^2/2 + b_i x + c_i with a_i in
the class. What the text says of gradients (grad f_i at this vector is that vector) is then linear in the vectors and the b_i: a random solution is
an instance that meets it exactly. Further hypotheses are looked at, and instances that break one are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.worlds import Concrete, FunctionOf, SymbolicWorld, _World
from fedtheory.core.errors import FedtheoryError

_Row = list[Fraction]


@dataclass(frozen=True)
class Tried:
    """How many instances met a lemma's hypotheses, and the parameters and the excess where its conclusion fails worst."""

    met: int
    drawn: int
    worst: tuple[Mapping[str, Fraction], Fraction] | None


def try_lemma(lemma: Lemma, *, seed: int = 0, draws: int = 6, units: Sequence[Fraction] = (Fraction(1),)) -> Tried:
    """Hold a lemma against random quadratics at simple points and corners of its region, lengths in each of some units.

    Parameters
    ----------
    draws : int
        Instances at each point and in each unit.
    units : lengths
        What vectors are multiplied with.
    """
    rng = np.random.default_rng(seed)
    met = drawn = 0
    worst: tuple[Mapping[str, Fraction], Fraction] | None = None
    for point in _list_points(lemma):
        for unit in units:
            for _ in range(draws):
                drawn += 1
                excess = _excess_of(lemma, point, unit, rng)
                if excess is None:
                    continue
                met += 1
                if excess > 0 and (worst is None or excess > worst[1]):
                    worst = point, excess
    return Tried(met, drawn, worst)


def _list_points(lemma: Lemma, most: int = 12) -> list[dict[str, Fraction]]:
    points = [*lemma.region.simple_points(most), *lemma.region.corners(most)]
    return points[:: max(1, len(points) // most)]


def _excess_of(
    lemma: Lemma, point: Mapping[str, Fraction], unit: Fraction, rng: np.random.Generator
) -> Fraction | None:
    """The conclusion's left side on a random instance; None where the instance breaks a hypothesis or there is none but zero."""
    parameters, constants = SimpleNamespace(**point), SimpleNamespace(**lemma.constants)
    text = SymbolicWorld()
    lemma.build(text, parameters, constants)
    drawn = _Drawn(text, int(rng.integers(2, 5)), unit, rng)
    world = _NumberWorld(drawn)
    conclusion = lemma.build(world, parameters, constants)
    if any(left > 0 for _, left in world.hypotheses):
        return None
    return Fraction(conclusion)


class _Drawn:
    """Random vectors of n clients and quadratics that have the gradients which a text gives them."""

    def __init__(self, text: SymbolicWorld, n: int, unit: Fraction, rng: np.random.Generator) -> None:
        self.n, self.rng, self.unit = n, rng, unit
        means, away = len(text.mean), len(text.deviation)
        self._first_away, self._first_shift = means, means + away * (n - 1)
        self.bends = {f.name: self._draw_bends(f) for f in text.functions}
        self.constants = {f.name: self._draw_constants(f) for f in text.functions}
        self._place = {}
        size = self._first_shift
        for f in text.functions:
            for i in range(n if f.client else 1):
                self._place[f.name, i] = size
                size += 1
        rows = [row for f in text.functions for row in self._list_equations(f, size)]
        self.solution = _solve_at_random(rows, size, unit, rng)

    def _draw_bends(self, f: FunctionOf) -> _Row:
        low = Fraction(f.mu)
        high = Fraction(f.L) if f.L is not None else low + Fraction(int(self.rng.integers(1, 20)), 4)
        if high < low:
            raise FedtheoryError(f"the class of {f.name} is empty")
        shares = [Fraction(int(k), 4) for k in self.rng.integers(0, 5, self.n if f.client else 1)]
        return [low + share * (high - low) for share in shares]

    def _draw_constants(self, f: FunctionOf) -> _Row:
        scale = self.unit**2
        return [scale * Fraction(int(k), 7) for k in self.rng.integers(-9, 10, self.n if f.client else 1)]

    def _row(self, vector: Any, client: int, size: int) -> _Row:
        """A vector of a client as a combination of what is unknown."""
        row = [Fraction(0)] * size
        for (part, k), weight in vector.terms.items():
            if part == "mean":
                row[k] += weight
                continue
            first = self._first_away + k * (self.n - 1)
            if client < self.n - 1:
                row[first + client] += weight
            else:  # deviations add up to zero
                for j in range(self.n - 1):
                    row[first + j] -= weight
        return row

    def _list_equations(self, f: FunctionOf, size: int) -> Iterator[_Row]:
        """grad f_i(x) = g, of every client and every point."""
        for evaluation in f.evaluations:
            for i in range(self.n if f.client else 1):
                x, g = self._row(evaluation.x, i, size), self._row(evaluation.g, i, size)
                row = [self.bends[f.name][i] * a - b for a, b in zip(x, g, strict=True)]
                row[self._place[f.name, i]] += 1
                yield row

    def leaf(self, mean: int, deviation: int | None) -> Concrete:
        """A vector of the text, from its number among the means, and among the deviations."""
        terms = {("mean", mean): Fraction(1)}
        if deviation is not None:
            terms["deviation", deviation] = Fraction(1)
        vector = SimpleNamespace(terms=terms)
        found = []
        for i in range(self.n):
            row = self._row(vector, i, len(self.solution))
            found.append((sum((a * b for a, b in zip(row, self.solution, strict=True)), Fraction(0)),))
        return Concrete(tuple(found))

    def value(self, f: FunctionOf, x: Concrete) -> Fraction:
        """The mean over clients of f_i(x_i), or f(x)."""
        total = Fraction(0)
        count = self.n if f.client else 1
        for i in range(count):
            (at,) = x.clients[i]
            shift = self.solution[self._place[f.name, i]]
            total += self.bends[f.name][i] * at * at / 2 + shift * at + self.constants[f.name][i]
        return total / count


class _NumberWorld(_World):
    """A text read with random instances."""

    def __init__(self, drawn: _Drawn) -> None:
        super().__init__()
        self.drawn = drawn
        self._means = self._deviations = 0

    def vector(self, name: str, client: bool = False) -> Concrete:
        """The next vector."""
        mean, deviation = self._means, self._deviations if client else None
        self._means += 1
        self._deviations += int(client)
        return self.drawn.leaf(mean, deviation)

    def at(self, f: FunctionOf, x: Concrete, name: str, g: Concrete | None = None) -> tuple[Concrete, Fraction]:
        """Gradient and value of f at x."""
        slope = self.vector(name, f.client) if g is None else g
        self._value(name)
        return slope, self.drawn.value(f, x)

    def value(self, name: str) -> Fraction:
        """A number of any size and sign."""
        self._value(name)
        sign = int(self.drawn.rng.integers(-1, 2))
        return sign * Fraction(10) ** int(self.drawn.rng.integers(-2, 6)) * self.drawn.unit**2


def _solve_at_random(rows: Sequence[_Row], size: int, unit: Fraction, rng: np.random.Generator) -> _Row:
    """A random solution of a homogeneous system, in fractions."""
    kept: list[tuple[int, _Row]] = []  # reduced rows, by the place of their leading entry
    for given in rows:
        row = list(given)
        for lead, known in kept:
            if row[lead]:
                row = [a - row[lead] * b for a, b in zip(row, known, strict=True)]
        first = next((k for k, entry in enumerate(row) if entry), -1)
        if first < 0:
            continue
        row = [entry / row[first] for entry in row]
        kept = [
            (k, [a - other[first] * b for a, b in zip(other, row, strict=True)] if other[first] else other)
            for k, other in kept
        ]
        kept.append((first, row))
    leads = {lead for lead, _ in kept}
    found = [Fraction(0) if k in leads else unit * Fraction(int(rng.integers(-9, 10)), 3) for k in range(size)]
    for lead, row in kept:
        found[lead] = -sum((a * b for k, (a, b) in enumerate(zip(row, found, strict=True)) if k != lead), Fraction(0))
    return found
