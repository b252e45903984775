"""The semidefinite programs behind a system at one point, in balanced units; their answers are proposals and decide nothing."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.system import NamedForm, System
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite.program import Matrix, Program

#: a left side above this, where all vectors together have size one in balanced units, suggests that a conclusion fails
SUSPECT = 3e-7
#: residuals of an answer that is looked at
ACCURACY = 1e-5


#: units of rows, values and of each block's leaves; and what finds them for values and Gram matrices
BalanceUnits: TypeAlias = tuple[Matrix, Matrix, list[Matrix]]
FindUnits: TypeAlias = Callable[[Matrix, Sequence[Matrix]], BalanceUnits]


def by_largest(values: Matrix, matrices: Sequence[Matrix]) -> BalanceUnits:
    """Leaves and rows are scaled in turn to a largest coefficient of one, in Gram matrices; values stay as they are."""
    rows, leaves = np.ones(len(values)), [np.ones(m.shape[1]) for m in matrices]
    for _ in range(4):
        for k, m in enumerate(matrices):
            inside = np.abs(m * rows[:, None, None] * np.outer(leaves[k], leaves[k]))
            leaves[k] = leaves[k] / np.sqrt(_or_one(inside.max(axis=(0, 1), initial=0.0)))
        largest = [np.abs(m * np.outer(u, u)).max(axis=(1, 2)) for m, u in zip(matrices, leaves, strict=True)]
        rows = 1 / _or_one(np.max(largest or [np.ones(len(values))], axis=0))
    return rows, np.ones(values.shape[1]), leaves


def by_least_squares(values: Matrix, matrices: Sequence[Matrix]) -> BalanceUnits:
    """The logarithms of all coefficients are as small as units of rows, values and leaves can make them.

    Other units of length and value change coefficients by such factors, so that these lead to the same numbers. Of the last row the largest is one.
    """
    count = len(values)
    firsts = np.cumsum([values.shape[1], *(m.shape[1] for m in matrices)])
    unknowns = int(firsts[-1])  # of values and leaves; each equation has one row alone, whose unknown is eliminated
    in_row, right_of_row = np.zeros(count), np.zeros(count)
    mixed, normal, right = np.zeros((count, unknowns)), np.zeros((unknowns, unknowns)), np.zeros(unknowns)
    for first, entries in [(0, values), *zip(firsts[:-1], map(np.triu, matrices), strict=True)]:
        row, *columns = np.nonzero(entries)
        sizes = np.log(np.abs(entries[row, *columns]))
        np.add.at(in_row, row, 1.0)
        np.subtract.at(right_of_row, row, sizes)
        places = [first + column for column in columns]
        for i in places:
            np.add.at(mixed, (row, i), 1.0)
            np.subtract.at(right, i, sizes)
            for j in places:
                np.add.at(normal, (i, j), 1.0)
    shares = mixed / _or_one(in_row)[:, None]
    logarithms = np.linalg.lstsq(normal - shares.T @ mixed, right - shares.T @ right_of_row, rcond=1e-10)[0]
    units, rows = np.exp(logarithms), np.exp(right_of_row / _or_one(in_row) - shares @ logarithms)
    numbers, leaves = units[: firsts[0]], [units[a:b] for a, b in itertools.pairwise(firsts)]
    last = [np.abs(values[-1] * numbers).max(initial=0.0)]
    last += [np.abs(m[-1] * np.outer(u, u)).max() for m, u in zip(matrices, leaves, strict=True)]
    return np.append(rows[:-1], 1 / _or_one(np.max(last))), numbers, leaves


#: of a search; and of what is said of a solver's answer itself, which must not hang on units
WAYS: tuple[FindUnits, ...] = (by_largest, by_least_squares)
IN_WORDS: tuple[FindUnits, ...] = (by_least_squares,)


def _or_one(sizes: Matrix) -> Matrix:
    """What to divide by: sizes, and one where there is nothing."""
    return np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True, eq=False)
class Balanced:
    """Rows and conclusion (the last) as floats, in units of leaves, values and rows in which coefficients are near one.

    There are two ways to choose these: by largest coefficients, which suits most systems, and by least squares, which is the same in all units of
    length and value. Whether a solver's answer is good may hang on the way, so that both are asked before it is believed that there is none.

    ``blocks``: which of S, Q and the constant (a 1x1 block, where one occurs) there are; ``leaves``, ``numbers``, ``rows``: the units.
    """

    blocks: tuple[int, ...]
    matrices: tuple[Matrix, ...]
    values: Matrix
    leaves: tuple[Matrix, ...]
    numbers: Matrix
    rows: Matrix

    @classmethod
    def of(cls, system: System, rows: Sequence[NamedForm], find_units: FindUnits = by_largest) -> Balanced:
        """Write them down."""
        forms = [*(form for _, form in rows), system.conclusion]
        sizes = (*system.sizes, 1)
        constant = any(form.constant != 0 for form in forms)
        blocks = tuple(k for k, n in enumerate(sizes) if n and (k < 2 or constant))
        dense = [np.zeros((len(forms), n, n)) for n in sizes]
        values = np.zeros((len(forms), system.values))
        for k, form in enumerate(forms):
            for (which, i, j), value in form.gram.items():
                share = float(value) / 2
                dense["SQ".index(which)][k, i, j] += share
                dense["SQ".index(which)][k, j, i] += share
            dense[2][k, 0, 0] = float(form.constant)
            for t, value in form.values.items():
                values[k, t] = float(value)
        matrices = [dense[k] for k in blocks]
        row_units, numbers, leaf_units = find_units(values, matrices)
        scaled = [m * np.outer(u, u) * row_units[:, None, None] for m, u in zip(matrices, leaf_units, strict=True)]
        return cls(blocks, tuple(scaled), values * row_units[:, None] * numbers, tuple(leaf_units), numbers, row_units)

    def program(self, bounds: Matrix, delta: float = 0.0, *, limited: bool) -> Program:
        """Maximise the conclusion (plus delta times the trace) where the rows are at most ``bounds``; limited: and the trace at most one."""
        own = [m[:-1] for m in self.matrices]
        goal = tuple(m[-1] + delta * np.eye(m.shape[1]) for m in self.matrices)
        linear = self.values[:-1]
        if limited:
            own = [np.concatenate([m, np.eye(m.shape[1])[None]]) for m in own]
            linear = np.vstack([linear, np.zeros((1, linear.shape[1]))])
            bounds = np.append(bounds, 1.0)
        return Program(tuple(m.shape[1] for m in self.matrices), goal, self.values[-1], tuple(own), linear, bounds)


def violation(
    system: System,
    rows: Sequence[NamedForm] | None = None,
    margin: float = 0.0,
    ways: Sequence[FindUnits] = WAYS,
) -> tuple[float, conic.Solution | None, Balanced]:
    """The largest left side of the conclusion, in units, where the rows are at most ``-margin`` and the trace is at most one.

    NaN where no solver's answer is good; infinite only along a direction that was checked. Of several ways the first answer of at most `SUSPECT` is
    taken, which is for what a checker reads afterwards: a search looks further. What is told in words asks `IN_WORDS`.
    """
    chosen = system.rows if rows is None else rows
    answers = []
    for way in ways:
        found = _violation(Balanced.of(system, chosen, way), margin)
        if found[0] <= SUSPECT or (margin and found[1] is not None):
            return found
        answers.append(found)
    return next((found for found in answers if not np.isnan(found[0])), answers[0])


def _violation(balanced: Balanced, margin: float) -> tuple[float, conic.Solution | None, Balanced]:
    program = balanced.program(np.full(len(balanced.rows) - 1, -margin), limited=True)
    try:
        found = conic.solve_program(program, tolerance=ACCURACY, solvers=("CLARABEL",))
    except conic.Infeasible:
        return -np.inf, None, balanced
    except conic.Unbounded:
        return np.inf, None, balanced
    except SolverFailed:
        return np.nan, None, balanced
    return found.value, found, balanced


def cheapest(
    system: System, rows: Sequence[NamedForm], weights: Any, delta: float = 0.0, conclusion: Form | None = None
) -> Matrix | None:
    """Multipliers of least weighted sum whose remainder is at least delta times the identity in units; None if neither way finds any."""
    asked = system if conclusion is None else system.with_conclusion(conclusion)
    for way in WAYS:
        balanced = Balanced.of(asked, rows, way)
        bounds = np.asarray(weights, float) * balanced.rows[:-1] / balanced.rows[-1]
        program = balanced.program(bounds, delta, limited=False)
        with contextlib.suppress(SolverFailed):
            found = conic.solve_program(program, tolerance=ACCURACY, solvers=("CLARABEL",))
            return np.asarray(found.multipliers * balanced.rows[:-1] / balanced.rows[-1])
    return None
