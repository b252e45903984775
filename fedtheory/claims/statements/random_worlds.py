"""Lemmas on random functions: every vector and value of a lemma's text is that of actual quadratics of several clients, in fractions.

A lemma speaks of functions of a class through gradients and values at some points. Here every client has f_i(x) = a_i x^2/2 + b_i x + c_i with a_i in
the class. What the text says of gradients (grad f_i at this vector is that vector) is then linear in the vectors and the b_i: a random solution is
an instance that meets it exactly. Further hypotheses are looked at, and instances that break one are left out. Of many clients several are alike,
so that thirty cost what three do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims.statements.client_counts import name_numbers
from fedtheory.claims.statements.lemma import Lemma, LemmaOutcome
from fedtheory.claims.statements.on_region import show_values
from fedtheory.claims.statements.unit_reading import UNCHECKED
from fedtheory.claims.statements.worlds import Concrete, FunctionOf, SymbolicWorld, _World
from fedtheory.core.errors import CannotTrace, EnginesDisagree, FedtheoryError
from fedtheory.proofs.guard import CANNOT_RUN, NUMBERS

_Row = list[Fraction]
#: numbers of clients that are tried, and kinds of clients that differ
TRIED_NUMBERS, KINDS = (1, *NUMBERS), 3
#: what a lemma is held against before it is called true: instances that meet its hypotheses with each number of clients, those that are drawn at
#: each point and in each unit at most, and the units of lengths
ENOUGH, GUARDING_DRAWS, MOST_DRAWN = 2, 4, 120
GUARDING_UNITS = (Fraction(1), Fraction(10**6), Fraction(1, 1000))


@dataclass(frozen=True)
class Tried:
    """How many instances met a lemma's hypotheses, and the parameters and the excess where its conclusion fails worst.

    ``numbers``: how many clients those had; none where the lemma speaks of no clients.
    """

    met: int
    drawn: int
    worst: tuple[Mapping[str, Fraction], Fraction] | None
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.worst is not None:
            return f"a random instance at {show_values(self.worst[0])} exceeds it by {float(self.worst[1]):.6g}"
        if not self.met:
            return "no random instance meets its hypotheses"
        told = f", {name_numbers(self.numbers)}" if self.numbers else ""
        return f"it holds on {self.met} random instances{told}"


def try_lemma(
    lemma: Lemma,
    *,
    seed: int = 0,
    draws: int = 6,
    units: Sequence[Fraction] = (Fraction(1),),
    numbers: Sequence[int] = TRIED_NUMBERS,
    enough: int | None = None,
) -> Tried:
    """Hold a lemma against random quadratics at simple points and corners of its region, lengths in each of some units.

    Parameters
    ----------
    draws : int
        Instances at each point and in each unit.
    units : lengths
        What vectors are multiplied with.
    numbers : of clients, in turn
    enough : int, optional
        Instances with each number of clients that meet the hypotheses; there are no more of it then.
    """
    rng = np.random.default_rng(seed)
    cases = [(point, unit) for point in _list_points(lemma) for unit in units for _ in range(draws)]
    if enough is not None:
        cases = [cases[int(k)] for k in rng.permutation(len(cases))[:MOST_DRAWN]]
    met, drawn, clients = [0] * len(numbers), 0, False
    worst: tuple[Mapping[str, Fraction], Fraction] | None = None
    for point, unit in cases:
        left = [k for k, count in enumerate(met) if enough is None or count < enough]
        if not left:
            break
        k, drawn = left[drawn % len(left)], drawn + 1
        try:
            text = _read(lemma, point)
            clients = bool(text.deviation)
            excess = _excess_of(lemma, point, _Drawn(text, numbers[k] if clients else 1, unit, rng))
        except CANNOT_RUN:  # as at an end of the region where the text divides by zero
            continue
        if excess is None:
            continue
        met[k] += 1
        if excess > 0 and (worst is None or excess > worst[1]):
            worst = point, excess
    told = tuple(n for n, count in zip(numbers, met, strict=True) if count) if clients else ()
    return Tried(sum(met), drawn, worst, told)


def guard_lemma(lemma: Lemma, outcome: LemmaOutcome) -> Tried:
    """Hold what engines say of a lemma against a few random instances, for several numbers of clients and in several units.

    Raises
    ------
    EnginesDisagree
        A derivation proves the lemma for all parameters and an instance breaks it, or its hypotheses are said to contradict each other and one meets
        them.
    """
    tried = _guard(lemma.name, lemma.source, lemma.region, lemma.build, tuple(lemma.constants.items()))
    wrong = outcome.vacuous and tried.met
    if wrong or (tried.worst is not None and outcome.word == "proved for all parameters"):
        said = outcome.vacuous or f"a derivation proves the lemma {lemma.name!r} for all parameters"
        seen = "a random instance meets the hypotheses" if wrong else tried
        raise EnginesDisagree(f"{said}, and {seen}; one of the two engines is wrong")
    return tried


@lru_cache(maxsize=512)
def _guard(name: str, source: str, region: Any, build: Any, constants: tuple[tuple[str, Fraction], ...]) -> Tried:
    lemma = Lemma(name, source, region, build, dict(constants), UNCHECKED)
    return try_lemma(lemma, draws=GUARDING_DRAWS, units=GUARDING_UNITS, enough=ENOUGH)


def _read(lemma: Lemma, point: Mapping[str, Fraction]) -> SymbolicWorld:
    text = SymbolicWorld()
    lemma.build(text, SimpleNamespace(**point), SimpleNamespace(**lemma.constants))
    return text


def _list_points(lemma: Lemma, most: int = 12) -> list[dict[str, Fraction]]:
    points = [*lemma.region.simple_points(most), *lemma.region.corners(most)]
    return points[:: max(1, len(points) // most)]


def _excess_of(lemma: Lemma, point: Mapping[str, Fraction], drawn: _Drawn) -> Fraction | None:
    """The conclusion's left side on a random instance; None where the instance breaks a hypothesis or there is none but zero."""
    world = _NumberWorld(drawn)
    conclusion = lemma.build(world, SimpleNamespace(**point), SimpleNamespace(**lemma.constants))
    if not all(isinstance(left, int | Fraction) for left in (conclusion, *(left for _, left in world.hypotheses))):
        raise CannotTrace(f"the text of {lemma.name!r} computes with floats")
    if any(left > 0 for _, left in world.hypotheses):
        return None
    return Fraction(conclusion)


class _Drawn:
    """Random vectors of n clients and quadratics that have the gradients which a text gives them; clients of one of `KINDS` kinds are alike.

    ``alike``: how many clients are of each kind; ``kinds`` counts these.
    """

    def __init__(self, text: SymbolicWorld, clients: int, unit: Fraction, rng: np.random.Generator) -> None:
        self.alike = _divide(clients, rng)
        self.kinds, self.rng, self.unit = len(self.alike), rng, unit
        means, away = len(text.mean), len(text.deviation)
        self._first_away, self._first_shift = means, means + away * (self.kinds - 1)
        self.bends = {f.name: self._draw_bends(f) for f in text.functions}
        self.constants = {f.name: self._draw_constants(f) for f in text.functions}
        self._place = {}
        size = self._first_shift
        for f in text.functions:
            for i in range(self.kinds if f.client else 1):
                self._place[f.name, i] = size
                size += 1
        rows = [row for f in text.functions for row in self._list_equations(f, size)]
        self.solution = _solve_at_random(rows, size, unit, rng)

    def _draw_bends(self, f: FunctionOf) -> _Row:
        low = Fraction(f.mu)
        high = Fraction(f.L) if f.L is not None else low + Fraction(int(self.rng.integers(1, 20)), 4)
        if high < low:
            raise FedtheoryError(f"the class of {f.name} is empty")
        shares = [Fraction(int(k), 4) for k in self.rng.integers(0, 5, self.kinds if f.client else 1)]
        return [low + share * (high - low) for share in shares]

    def _draw_constants(self, f: FunctionOf) -> _Row:
        scale = self.unit**2
        return [scale * Fraction(int(k), 7) for k in self.rng.integers(-9, 10, self.kinds if f.client else 1)]

    def _row(self, vector: Any, client: int, size: int) -> _Row:
        """A vector of a client as a combination of what is unknown."""
        row = [Fraction(0)] * size
        for (part, k), weight in vector.terms.items():
            if part == "mean":
                row[k] += weight
                continue
            first = self._first_away + k * (self.kinds - 1)
            if client < self.kinds - 1:
                row[first + client] += weight
            else:  # deviations of all clients add up to zero
                for j in range(self.kinds - 1):
                    row[first + j] -= weight * Fraction(self.alike[j], self.alike[-1])
        return row

    def _list_equations(self, f: FunctionOf, size: int) -> Iterator[_Row]:
        """grad f_i(x) = g, of every client and every point."""
        for evaluation in f.evaluations:
            for i in range(self.kinds if f.client else 1):
                x, g = self._row(evaluation.x, i, size), self._row(evaluation.g, i, size)
                row = [self.bends[f.name][i] * a - b if a else -b for a, b in zip(x, g, strict=True)]
                row[self._place[f.name, i]] += 1
                yield row

    def leaf(self, mean: int, deviation: int | None) -> Concrete:
        """A vector of the text, from its number among the means, and among the deviations."""
        terms = {("mean", mean): Fraction(1)}
        if deviation is not None:
            terms["deviation", deviation] = Fraction(1)
        vector = SimpleNamespace(terms=terms)
        found = []
        for i in range(self.kinds):
            row = self._row(vector, i, len(self.solution))
            found += [(sum((a * b for a, b in zip(row, self.solution, strict=True) if a), Fraction(0)),)] * self.alike[
                i
            ]
        return Concrete(tuple(found))

    def value(self, f: FunctionOf, x: Concrete) -> Fraction:
        """The mean over clients of f_i(x_i), or f(x)."""
        total, first = Fraction(0), 0
        alike = self.alike if f.client else (1,)
        for i, count in enumerate(alike):
            (at,) = x.clients[first]
            shift = self.solution[self._place[f.name, i]]
            total += count * (self.bends[f.name][i] * at * at / 2 + shift * at + self.constants[f.name][i])
            first += count
        return total / first


def _divide(clients: int, rng: np.random.Generator) -> tuple[int, ...]:
    """How many clients are of each kind: one each where they are few, else a random division, one of the first kind half of the time."""
    if clients <= KINDS:
        return (1,) * clients
    first = 1 if rng.random() < 0.5 else int(rng.integers(1, clients - 1))
    second = int(rng.integers(1, clients - first))
    return first, second, clients - first - second


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
                factor = row[lead]
                row = [a - factor * b if b else a for a, b in zip(row, known, strict=True)]
        first = next((k for k, entry in enumerate(row) if entry), -1)
        if first < 0:
            continue
        row = [entry / row[first] if entry else entry for entry in row]
        kept = [
            (k, [a - other[first] * b if b else a for a, b in zip(other, row, strict=True)] if other[first] else other)
            for k, other in kept
        ]
        kept.append((first, row))
    leads = {lead for lead, _ in kept}
    found = [Fraction(0) if k in leads else unit * Fraction(int(rng.integers(-9, 10)), 3) for k in range(size)]
    for lead, row in kept:
        found[lead] = -sum(
            (a * b for k, (a, b) in enumerate(zip(row, found, strict=True)) if a and k != lead), Fraction(0)
        )
    return found
