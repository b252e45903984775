"""The search for multipliers as rational functions of the parameters: exact equations first, guesses from values at points last.

1. Few premises: rows are left out as long as the conclusion still holds at some points.
2. Exact equations: what a proof must satisfy, balanced values and Z n = 0 at instances that make the conclusion an equality. Multipliers that
   they determine are rational functions, without any guess.
3. The last free multiplier of a tight conclusion is the double root of det Z.
4. Otherwise its interval at each point: no room, a fit; room, simple monomials inside, then fits of the ends and of the middle.
5. Where all that fails and there is room: polynomials that are good at all points at once (`fedtheory.proofs.parameters.joint`).

Every candidate is a derivation that is checked (`fedtheory.proofs.parameters.derivation.store`); nothing here decides.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.core.exact import reduce_rows
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.closed_forms import fit, monomials
from fedtheory.proofs.parameters.derivation import NotProved, check_at_point, store
from fedtheory.proofs.parameters.double_roots import find_double_root
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.joint import joint_multipliers
from fedtheory.proofs.parameters.points import prove_at_point
from fedtheory.proofs.parameters.programs import SUSPECT, cheapest, violation
from fedtheory.proofs.parameters.quadratics import necessary_equations
from fedtheory.proofs.parameters.scalings import find_scalings, normalise, restore
from fedtheory.proofs.parameters.system import NamedForm, System, remainder
from fedtheory.proofs.semidefinite.program import Matrix

#: derivations that are tried, and seconds
TRIES, SECONDS = 12, 40.0
#: points at which premises are left out, and intervals narrower than which leave no room
FEW_POINTS, NO_ROOM = 6, 3e-3

#: denominators of multipliers that depend on no parameter but units
SIMPLE_CONSTANTS = (1, 2, 6, 12, 30, 60, 250)

#: points that polynomials must be good at, and t near an end
MOST_CORNERS, MOST_POINTS, NEAR, VERY_NEAR = 27, 24, Fraction(1, 40), Fraction(1, 10**6)

Equation = tuple[list[Any], Any]


class MultiplierSearch:
    """A search for the derivation of one system: ``data`` and ``multipliers`` hold it once it was found, ``log`` what was tried."""

    def __init__(self, field: ParameterField, system: System, seconds: float = SECONDS, seed: int = 1) -> None:
        """Draw points of the region; parameters that only set units are one there."""
        self.field = field
        self.system = system
        self.scalings = find_scalings(field, system)
        lots, k = random.Random(seed), len(field.names)
        free = k - len(self.scalings)
        count = 1 if free == 0 else 22 + 10 * (free - 1)
        ts = [[Fraction(lots.randint(1, 24), lots.randint(5, 16)) for _ in range(k)] for _ in range(count)]
        self.points = [normalise(field.region.point(t), self.scalings) for t in ts]
        self.log: dict[str, Any] = {}
        self.data: dict[str, Any] | None = None
        self.multipliers: dict[str, Any] = {}
        self._seconds = seconds
        self._until = 0.0
        self._tries = TRIES
        self._at: list[System] = []
        self._kept: list[int] = []
        self._rows: list[NamedForm] = []
        self._equations: list[Equation] = []

    def run(self) -> dict[str, Any] | None:
        """The derivation as data, or None."""
        begun = time.process_time()
        self._until = begun + self._seconds
        try:
            self._at = [self.system.at(point) for point in self.points]
        except ZeroDivisionError:
            self.log["stuck"] = "the statement itself has a pole in the region"
            return None
        first = self._few_premises(self._at[:FEW_POINTS])
        if first is None:
            return None
        self._kept = first
        self._rows = [self.system.rows[k] for k in first]
        balance = self._balance()
        tight = necessary_equations(self.system, self.field.zero, [form for _, form in self._rows])
        self.log["premises"] = [name for name, _ in self._rows]
        for equations in ([*balance, *tight], balance) if tight else (balance,):
            self._equations, self._tries = _independent(equations, len(self._rows)), TRIES
            if self._search({}):
                break
        if self.data is None and len(self.scalings) == len(self.field.names):
            self._from_one_point()
        if self.data is None:
            self._from_all_points()
        self.log["seconds"] = round(time.process_time() - begun, 2)
        return self.data

    def _from_one_point(self) -> None:
        """Where all parameters only set units, a proof at one point is one for all."""
        found = prove_at_point(self._at[0])
        if found is not None:
            one = self.field.one
            named = {name: restore(self.field, one * value, name, self.scalings) for name, value in found.items()}
            self._store(named)

    def _from_all_points(self) -> None:
        """Where there is room: polynomials that are good at all points and near the corners at once; of few rows, then of all."""

        def ends(near: Fraction) -> list[dict[str, Fraction]]:
            ts = itertools.product((near, 1 / near, Fraction(1)), repeat=len(self.field.names))
            return [normalise(self.field.region.point(t), self.scalings) for t in itertools.islice(ts, MOST_CORNERS)]

        corners, edges = ends(NEAR), ends(VERY_NEAR)
        points = [point for k, point in enumerate(corners) if point not in corners[:k]] + self.points[:MOST_POINTS]
        try:
            systems = [self.system.at(point) for point in points]
        except ZeroDivisionError:
            return
        for places in (self._kept, range(len(self.system.rows))):
            rows = [self.system.rows[c] for c in places]
            for candidate in joint_multipliers(self.field, rows, points, edges, systems, places, self.scalings):
                if time.process_time() > self._until:
                    return
                if self._try_named({name: value for name, value in candidate.items() if value != 0}):
                    self.log["polynomial multipliers"] = len(rows)
                    return

    def _few_premises(self, at: Sequence[System]) -> list[int] | None:
        """Rows that suffice at some points, the least useful left out first; None if floats see no proof at the first one."""
        kept = list(range(len(self.system.rows)))
        weights = None
        for relaxed in (-1e-9, -1e-7, -1e-6):
            weights = cheapest(at[0], at[0].rows, np.ones(len(kept)), relaxed)
            if weights is not None:
                break
        if weights is None:
            return None
        for j in sorted(kept, key=lambda j: (weights[j], j)):
            rest = [i for i in kept if i != j]
            if all(violation(system, [system.rows[i] for i in rest])[0] <= SUSPECT for system in at):
                kept = rest
        return kept

    def _balance(self) -> list[Equation]:
        zero = self.field.zero
        return [
            ([zero + form.values.get(t, 0) for _, form in self._rows], zero + self.system.conclusion.values.get(t, 0))
            for t in range(self.system.values)
        ]

    def _search(self, fixed: Mapping[int, RationalFunction]) -> bool:
        """Fix one multiplier after the other; whether a derivation was found."""
        if time.process_time() > self._until or self._tries <= 0:
            return False
        known = self._propagate(fixed)
        if known is None:
            return False
        still = [j for j in range(len(self._rows)) if j not in known]
        if not still:
            return self._try(known)
        for j, candidate in self._candidates(known, still):
            try:
                if self._search({**known, j: candidate}):
                    return True
            except ZeroDivisionError:
                continue
        return False

    def _try(self, known: Mapping[int, RationalFunction]) -> bool:
        self._tries -= 1
        return self._try_named({self._rows[j][0]: value for j, value in known.items() if value != 0})

    def _try_named(self, named: Mapping[str, RationalFunction]) -> bool:
        for point, system in zip(self.points[:3], self._at, strict=False):
            try:
                values = [named[name].at(point) if name in named else Fraction(0) for name, _ in system.rows]
            except ZeroDivisionError:
                return False
            if not check_at_point(system, values):
                return False
        return self._store(named)

    def _store(self, named: Mapping[str, RationalFunction]) -> bool:
        try:
            self.data = store(self.field, self.system, named)
        except NotProved as reason:
            self.log["not proved"] = str(reason)[:200]
            return False
        self.multipliers = dict(named)
        return True

    def _propagate(self, fixed: Mapping[int, RationalFunction]) -> dict[int, RationalFunction] | None:
        """Multipliers that the equations determine, given those already chosen; None if they contradict."""
        still = [j for j in range(len(self._rows)) if j not in fixed]
        if not still or not self._equations:
            return dict(fixed)
        table, pivots = self._reduced(fixed, still)
        if any(row[-1] != 0 for row in table[len(pivots) :]):
            return None
        found = dict(fixed)
        for row, column in zip(table, pivots, strict=False):
            if all(row[m] == 0 for m in range(len(still)) if m != column):
                found[still[column]] = row[-1]
        return found

    def _reduced(
        self, fixed: Mapping[int, RationalFunction], still: Sequence[int]
    ) -> tuple[list[list[Any]], list[int]]:
        zero = self.field.zero
        table = []
        for row, right in self._equations:
            rest = right - sum((row[j] * value for j, value in fixed.items()), zero)
            table.append([*(row[j] for j in still), rest])
        return reduce_rows(table, len(still))

    def _candidates(
        self, known: Mapping[int, RationalFunction], still: Sequence[int]
    ) -> Iterator[tuple[int, RationalFunction]]:
        """Values of one multiplier, the one with least room."""
        if len(still) == len(self._reduced(known, still)[1]) + 1:
            root = self._double_root(known, still, still[-1])
            if root is not None:
                self.log["double root"] = self._rows[still[-1]][0]
                yield still[-1], root
        options = []
        for j in still:
            interval = self._interval(known, still, j)
            if interval is None:
                self.log["stuck"] = f"no interval for {self._rows[j][0]}"
                return
            low, high, points = interval
            width = float(np.quantile((high - low) / np.maximum(1e-3, high), 0.9))
            options.append((width, j, low, high, points))
            if width < NO_ROOM:
                break
        width, j, low, high, points = min(options, key=lambda option: option[:2])
        self.log.setdefault("room", {})[self._rows[j][0]] = round(width, 5)
        for candidate in self._between(self._rows[j][0], low, high, points, narrow=width < NO_ROOM):
            yield j, candidate

    def _between(
        self, row: str, low: Matrix, high: Matrix, points: Sequence[Mapping[str, Fraction]], *, narrow: bool
    ) -> Iterator[RationalFunction]:
        """Functions of the parameters for the multiplier of a row, from the smallest and largest values that it has at points."""
        bases = {scaling.base for scaling in self.scalings}
        names = [p for p in self.field.names if p not in bases]

        def fitted(values: Matrix) -> list[RationalFunction]:
            if not names:
                simple = dict.fromkeys(Fraction(float(values[0])).limit_denominator(most) for most in SIMPLE_CONSTANTS)
                close = [c for c in simple if abs(float(c) - values[0]) <= NO_ROOM * abs(values[0])]
                return [restore(self.field, self.field.number(c), row, self.scalings) for c in close[:3]]
            found = fit(self.field, names, points, values)
            return [] if found is None else [restore(self.field, found, row, self.scalings)]

        middle = fitted((low + high) / 2)
        if narrow:
            yield from middle
        inside: list[RationalFunction] = []
        for guess in monomials(self.field, names):
            values = np.array([float(guess.at(point)) for point in points])
            if np.all(values >= low - 1e-9) and np.all(values <= high + 1e-9):
                inside.append(restore(self.field, guess, row, self.scalings))
            if len(inside) == 3:
                break
        if narrow:  # how narrow it is hangs on a solver's digits
            yield from inside
            return
        yield from (*inside[:2], *fitted(low), *fitted(high), *middle, *inside[2:])

    def _interval(
        self, known: Mapping[int, RationalFunction], still: Sequence[int], j: int
    ) -> tuple[Matrix, Matrix, list[dict[str, Fraction]]] | None:
        """Smallest and largest value of a multiplier at the points, the others free; without the points where the solver gives up."""
        lows, highs, points = [], [], []
        weights = np.array([float(m == j) for m in still])
        for point, system in zip(self.points, self._at, strict=True):
            try:
                values = {m: value.at(point) for m, value in known.items()}
            except ZeroDivisionError:
                continue
            conclusion = system.conclusion
            for m, value in values.items():
                if value != 0:
                    conclusion = conclusion - system.rows[self._kept[m]][1] * value
            rows = [system.rows[self._kept[m]] for m in still]
            for relaxed in (-1e-9, -1e-8, -1e-7, -1e-6):
                least = cheapest(system, rows, weights + 1e-9, relaxed, conclusion)
                most = None if least is None else cheapest(system, rows, -weights + 1e-9, relaxed, conclusion)
                if least is not None and most is not None:
                    lows.append(max(float(least[list(still).index(j)]), 0.0))
                    highs.append(float(most[list(still).index(j)]))
                    points.append(point)
                    break
        if len(points) <= 0.7 * len(self.points):
            return None
        return np.array(lows), np.array(highs), points

    def _double_root(
        self, known: Mapping[int, RationalFunction], still: Sequence[int], j: int
    ) -> RationalFunction | None:
        """The free multiplier s of a tight conclusion: det Z(s) has a double root there."""
        zero, one = self.field.zero, self.field.one
        order = [m for m in still if m != j]
        table = []
        for row, right in self._equations:
            rest = right - sum((row[m] * value for m, value in known.items()), zero)
            table.append([*(row[m] for m in order), row[j], rest])
        reduced, pivots = reduce_rows(table, len(order))
        if len(pivots) < len(order):
            return None
        base: dict[int, Any] = {**known, j: zero}
        slope: dict[int, Any] = {**dict.fromkeys(known, zero), j: one}
        for row, column in zip(reduced, pivots, strict=False):
            base[order[column]], slope[order[column]] = row[-1], -row[-2]
        flat = self.system.with_conclusion(Form())
        start = self.system.matrices(
            remainder(self.system, [base[m] for m in range(len(self._rows))], self._rows), zero
        )
        along = self.system.matrices(remainder(flat, [slope[m] for m in range(len(self._rows))], self._rows), zero)
        for a, b in zip(start[:2], along[:2], strict=True):
            if not 1 < len(a) <= 6 or all(value == 0 for row in b for value in row):
                continue
            live = [i for i in range(len(a)) if any(v != 0 for v in (*a[i], *b[i]))]
            root = find_double_root(self.field, *([[matrix[i][k] for k in live] for i in live] for matrix in (a, b)))
            if root is not None:
                return root
        return None


def _independent(equations: Sequence[Equation], width: int) -> list[Equation]:
    """The same equations without those that follow."""
    table, _ = reduce_rows([[*row, right] for row, right in equations], width)
    return [(row[:-1], row[-1]) for row in table if any(value != 0 for value in row)]


def search_multipliers(field: ParameterField, system: System, seconds: float = SECONDS) -> MultiplierSearch:
    """Look for a derivation; `MultiplierSearch.data` holds it, where it was found."""
    search = MultiplierSearch(field, system, seconds)
    search.run()
    return search
