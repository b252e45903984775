"""A model's program in units of its own: the size of every leaf, and what becomes of it along free directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.proofs.every_n.model import Direction, Model
from fedtheory.proofs.every_n.oracles import Evaluation, Leaves, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.semidefinite.program import Matrix, Program
from fedtheory.proofs.semidefinite.units import Units, units_of
from fedtheory.proofs.sizes import Sizes


@dataclass(frozen=True, eq=False)
class InUnits:
    """A program in ``units``; ``mean`` and ``deviation`` are the sizes of all leaves of the model, those along free directions included."""

    program: Program
    units: Units
    mean: Matrix
    deviation: Matrix


def state_in_units(
    model: Model,
    problem: SymmetricProblem,
    start: Vector,
    free: Sequence[Direction],
    sizes: Sizes,
    time_limit: float | None = None,
) -> InUnits:
    """The model's program along its free directions, in units."""
    h = problem.regulariser
    mean, deviation = measure_leaves(
        model.leaves, problem.evaluations, () if h is None else h.evaluations, start, sizes
    )
    return in_units(
        model, free, {"S": mean, "Q": deviation}, [sizes.value] * model.leaves.values, sizes.goal, time_limit
    )


def in_units(
    model: Model,
    free: Sequence[Direction],
    leaves: Mapping[str, Matrix],
    known_values: Sequence[float],
    goal: float,
    time_limit: float | None = None,
) -> InUnits:
    """The same with the sizes of all leaves of S and Q, of the values, and of what is asked for."""
    kept, values = {matrix: list(range(len(sizes))) for matrix, sizes in leaves.items()}, [*known_values]
    for matrix, direction in free:  # as `Model.along`: products with the direction's vector become values
        pivot = next(i for i in kept[matrix] if direction[i] != 0)
        kept[matrix].remove(pivot)
        values += [float(leaves[matrix][i] * leaves[matrix][pivot]) for i in kept[matrix]]
    program = model.freed(free).program(time_limit)
    values += [goal] * (len(program.objective_values) - len(values))  # the least of several objectives
    units = units_of(program, tuple(leaves[m][kept[m]] for m in ("S", "Q")), np.array(values), goal)
    return InUnits(units.apply(program), units, leaves["S"], leaves["Q"])


def measure_leaves(
    leaves: Leaves, evaluations: Sequence[Evaluation], of_regulariser: Sequence[Evaluation], start: Vector, sizes: Sizes
) -> tuple[Matrix, Matrix]:
    """A leaf that is a point has the size of points; the others are gradients, and errors of gradients."""
    found = {
        "mean": np.full(leaves.mean, sizes.gradient),
        "deviation": np.full(leaves.deviation, sizes.gradient),
    }
    for point in (start, *(e.x for e in (*evaluations, *of_regulariser))):
        means = [leaf for part, leaf in point.terms if part == "mean"]
        if len(means) == 1:
            partner = leaves.origins[means[0]][0]
            own = {("mean", means[0]): 1} | ({} if partner is None else {("deviation", partner): 1})
            if point.terms == own:
                for part, leaf in own:
                    found[part][leaf] = sizes.point
    return found["mean"], found["deviation"]
