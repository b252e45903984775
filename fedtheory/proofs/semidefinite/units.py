"""Programs in units of their own, so that neither the solvers nor the judgement of their answers depend on those of the question.

Every leaf of a Gram matrix, every function value and the objective has a size of its own, a power of two, and so has every row. Multiplying
by them is exact in binary floating point: the program changes its coordinates and nothing else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fedtheory.proofs.semidefinite.program import Matrix, Program
from fedtheory.proofs.semidefinite.solve import Solution


def power_of_two(size: float) -> float:
    """The power of two next to a positive number."""
    return 2.0 ** round(math.log2(size))


@dataclass(frozen=True, eq=False)
class Units:
    """Sizes, powers of two: of the leaves of each block, of the values, of the objective, and of the rows.

    An unknown X_ij of a program is ``leaves[i] * leaves[j]`` times that of the program in units, a value ``values[t]`` times, the
    objective ``goal`` times; a row is divided by ``rows[k]``.
    """

    leaves: tuple[Matrix, ...]
    values: Matrix
    goal: float
    rows: Matrix

    def apply(self, program: Program) -> Program:
        """The program in units."""
        grams = [np.outer(d, d) for d in self.leaves]
        return Program(
            program.sizes,
            tuple(c * gram / self.goal for c, gram in zip(program.objective, grams, strict=True)),
            program.objective_values * self.values / self.goal,
            tuple(a * gram / self.rows[:, None, None] for a, gram in zip(program.rows, grams, strict=True)),
            program.rows_values * self.values / self.rows[:, None],
            program.bounds / self.rows,
            program.equations,
        )

    def restore(self, solution: Solution) -> Solution:
        """A solution of the program in units as one of the program; its residuals stay those of the program in units, with ``unit``."""
        return replace(
            solution,
            value=solution.value * self.goal,
            lower=solution.lower * self.goal,
            blocks=tuple(x * np.outer(d, d) for x, d in zip(solution.blocks, self.leaves, strict=True)),
            values=solution.values * self.values,
            multipliers=solution.multipliers * self.goal / self.rows,
            difference=None if solution.difference is None else solution.difference * self.goal,
            unit=solution.unit * self.goal,
            overshoot=solution.overshoot * self.goal,
        )


def units_of(program: Program, leaves: tuple[Matrix, ...], values: Matrix, goal: float) -> Units:
    """Units with rows whose largest entry is about one.

    Parameters
    ----------
    leaves, values, goal : their sizes; rounded to powers of two
    """
    units = Units(
        tuple(np.array([power_of_two(d) for d in block]) for block in leaves),
        np.array([power_of_two(v) for v in values]),
        power_of_two(goal),
        np.ones(program.constraints),
    )
    inside = units.apply(program)
    entries = [np.abs(a).reshape(program.constraints, -1) for a in (*inside.rows, inside.rows_values)]
    largest = np.max(np.concatenate(entries, axis=1), axis=1, initial=0.0)
    return replace(units, rows=np.array([power_of_two(v) if v > 0 else 1.0 for v in largest]))


def unit_sizes(program: Program) -> Units:
    """Units in which leaves, values and the objective stay as they are."""
    return units_of(program, tuple(np.ones(size) for size in program.sizes), np.ones(program.rows_values.shape[1]), 1.0)
