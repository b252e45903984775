"""A program stated in PEPit as the data that this project's solvers take, and coordinates of its points from their answer.

PEPit's unknowns are the Gram matrix G of the leaf points and the leaf values F. Some vectors may grow without limit because no condition
sees the square of it: linear terms <b_i, x> with sum b_i = 0, which move every gradient of client i by b_i and no point, cost nothing if
nothing limits them. Where G may grow by D B D^T for every positive semidefinite B, a dual slack must vanish on the range of D, and the dual
has no interior. So the leaves are written as gamma + D b: the products <gamma, b> are then free values, G is that of gamma, and what is
left is regular. Values that only say the same in several ways (f_i + c_i with sum c_i = 0 where only the average's values are asked for) are
set to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import require
from fedtheory.proofs.semidefinite.program import Matrix, Program
from fedtheory.proofs.semidefinite.units import Units, unit_sizes, units_of
from fedtheory.proofs.sizes import Sizes

#: how large the blocks and products that must vanish along a direction may be for rounding's sake
VANISHING = 1e-10
#: squared length of the free vectors when points are rebuilt, relative to the products; its inverse is lost
LONG_VECTOR = 1e6


@dataclass(frozen=True, eq=False)
class StandardForm:
    """The program, and what its unknowns stand for.

    ``program`` is that of gamma; ``directions`` is D ``(leaves, m)``, with an identity in the rows ``pivots``; ``count`` values are PEPit's
    (the objective's own one included), the products <gamma_k, b_l> follow, and the program has those of both that are ``kept``. All is said
    in ``units`` of the leaf points and PEPit's values; `values` and `coordinates` return what they are in PEPit's own.
    """

    program: Program
    directions: Matrix
    pivots: tuple[int, ...]
    count: int
    kept: tuple[int, ...]
    units: Units

    @property
    def leaves(self) -> int:
        """Number of leaf points, the size of PEPit's Gram matrix."""
        return len(self.directions)

    def values(self, answer: Matrix) -> Matrix:
        """PEPit's values of an answer."""
        return np.asarray(self._all(answer)[: self.count] * self.units.values)

    def _all(self, answer: Matrix) -> Matrix:
        others, m = self.leaves - len(self.pivots), len(self.pivots)
        found = np.zeros(self.count + others * m)
        found[list(self.kept)] = answer
        return found

    def coordinates(self, block: Matrix, answer: Matrix) -> Matrix:
        """Coordinates of the leaf points, one a row, whose Gram matrix belongs to an answer."""
        eigenvalues, vectors = np.linalg.eigh(block)
        keep = eigenvalues > 1e-9 * max(eigenvalues[-1], 1e-300) if len(block) else np.zeros(0, dtype=bool)
        others = [k for k in range(self.leaves) if k not in self.pivots]
        m = self.directions.shape[1]
        products = self._all(answer)[self.count :].reshape(len(others), m)
        length = np.sqrt(LONG_VECTOR * np.sum(products**2))
        found = np.zeros((self.leaves, int(keep.sum()) + m))
        found[others, : int(keep.sum())] = vectors[:, keep] * np.sqrt(eigenvalues[keep])
        if length:  # products that vanish need no free vectors at all
            found[others, int(keep.sum()) :] = products / length
            found[:, int(keep.sum()) :] += length * self.directions
        return np.asarray(found * self.units.leaves[0][:, None])


#: sizes of nothing in particular
ONES = Sizes(1.0, 1.0, 1.0, 1.0)


def read_standard_form(pep: Any, sizes: Sizes = ONES, start: Any = None) -> StandardForm:
    """The program of a PEPit problem whose functions, conditions and performance metrics have been declared, in units of these sizes.

    ``start`` is a point, as are the leaves at which functions were evaluated; other leaves are gradients, and errors of gradients.
    """
    constraints = list(pep.list_of_constraints)
    for function in pep.list_of_functions:
        function.set_class_constraints()
        constraints += function.list_of_class_constraints
    constraints.sort(key=lambda c: c.equality_or_inequality != "equality")
    equations = sum(c.equality_or_inequality == "equality" for c in constraints)
    goals = list(pep.list_of_performance_metrics)
    gram, values, constants = _coefficients([*(c.expression for c in constraints), *goals])
    count = len(constraints)
    if len(goals) == 1:
        objective, linear = gram[count], values[count]
        gram, values, constants = gram[:count], values[:count], constants[:count]
    else:  # the least of them: tau <= goal
        sign = np.where(np.arange(len(gram)) < count, 1.0, -1.0)
        objective, linear = np.zeros_like(gram[0]), np.append(np.zeros(values.shape[1]), 1.0)
        gram, constants = gram * sign[:, None, None], constants * sign
        values = np.column_stack([values * sign[:, None], np.arange(len(gram)) >= count])
    program = Program((len(objective),), (objective,), linear, (gram,), values, -constants, equations)
    leaves = _leaf_sizes(pep, len(objective), sizes, start)
    own = np.full(len(linear), sizes.value)
    if len(goals) > 1:
        own[-1] = sizes.goal
    units = units_of(program, (leaves,), own, sizes.goal)
    program = units.apply(program)
    form = _without_free_directions(program, _free_directions(pep, program, units.leaves[0]), units)
    return replace(form, program=unit_sizes(form.program).apply(form.program))


def _leaf_sizes(pep: Any, leaves: int, sizes: Sizes, start: Any) -> Matrix:
    found = np.full(leaves, sizes.gradient)
    points = [x for function in pep.list_of_functions for x, _, _ in function.list_of_points]
    for point in points if start is None else [start, *points]:
        if list(point.decomposition_dict.values()) == [1]:
            found[next(iter(point.decomposition_dict)).counter] = sizes.point
    return found


def _coefficients(expressions: Sequence[Any]) -> tuple[Matrix, Matrix, Matrix]:
    """Symmetric matrices, coefficients of the values, and constants of some expressions."""
    read = require("PEPit.tools.expressions_to_matrices", "worst cases").expression_to_matrices
    found = [read(expression) for expression in expressions]
    gram = np.array([g for g, _, _ in found], dtype=float)
    values = np.array([f for _, f, _ in found], dtype=float)
    return (gram + gram.transpose(0, 2, 1)) / 2, values, np.array([float(c) for _, _, c in found])


def read_leaf_weights(point: Any, leaves: int) -> NDArray[np.float64]:
    """A point's coefficients by leaf."""
    found = np.zeros(leaves)
    for leaf, weight in point.decomposition_dict.items():
        found[leaf.counter] += weight
    return found


def _free_directions(pep: Any, program: Program, units: Matrix) -> Matrix:
    """Directions ``(leaves, m)`` along which no condition is quadratic.

    Looked for among those that move all gradients of a function alike and no point, and among single leaves, such as the subgradient of a
    regulariser at a point where only its value is asked for.
    """
    size = program.sizes[0]
    matrices = np.concatenate([program.rows[0], program.objective[0][None]])
    still = [np.zeros(size)]
    for function in pep.list_of_functions:
        first = read_leaf_weights(function.list_of_points[0][1], size) if function.list_of_points else np.zeros(size)
        for x, g, _ in function.list_of_points:
            still += [units * read_leaf_weights(x, size), units * (read_leaf_weights(g, size) - first)]
    still = [row / max(np.abs(row).max(), np.finfo(float).tiny) for row in still]
    single = np.eye(size)[:, ~np.einsum("kii->ki", matrices).any(axis=0)]
    among = np.concatenate([_kernel(np.array(still)), single], axis=1)
    among = _kernel(_kernel(among.T).T)  # an orthonormal basis of what they span
    seen = np.einsum("ai,kij,jb->kab", among.T, matrices, among)
    return np.asarray(among @ _kernel(seen.reshape(len(matrices) * among.shape[1], among.shape[1])))


def _kernel(rows: Matrix) -> Matrix:
    """An orthonormal basis of the vectors that all rows are orthogonal to; rows of the size of rounding count as zero."""
    _, sizes, basis = np.linalg.svd(rows)
    rank = int(np.sum(sizes > VANISHING * max(1.0, sizes[0] if len(sizes) else 0.0)))
    return np.asarray(basis[rank:].T)


def _without_free_directions(program: Program, directions: Matrix, units: Units) -> StandardForm:
    from scipy import linalg

    size, m = directions.shape
    pivots = linalg.qr(directions.T, mode="r", pivoting=True)[1][:m]
    directions = directions @ np.linalg.inv(directions[pivots])
    directions[np.abs(directions) < VANISHING] = 0.0
    others = [k for k in range(size) if k not in pivots]

    def products(matrices: Matrix) -> Matrix:
        """<A, .> of gamma b^T + b gamma^T, as coefficients of the products <gamma_k, b_l>."""
        return np.asarray(2 * (matrices @ directions)[..., others, :].reshape(*matrices.shape[:-2], -1))

    (rows,), (objective,) = program.rows, program.objective
    linear = np.concatenate([program.objective_values, products(objective)])
    columns = np.concatenate([program.rows_values, products(rows)], axis=1)
    kept = _independent(np.concatenate([columns, linear[None]]))
    reduced = replace(
        program,
        sizes=(len(others),),
        objective=(objective[np.ix_(others, others)],),
        objective_values=linear[kept],
        rows=(rows[:, others][:, :, others],),
        rows_values=columns[:, kept],
    )
    return StandardForm(
        reduced, directions, tuple(pivots.tolist()), len(program.objective_values), tuple(kept.tolist()), units
    )


def _independent(columns: Matrix) -> NDArray[np.intp]:
    """Numbers of columns that span all of them, in their order."""
    from scipy import linalg

    triangle, order = linalg.qr(columns, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return np.sort(order[: len(sizes)][sizes > VANISHING * max(1.0, sizes.max(initial=0.0))])
