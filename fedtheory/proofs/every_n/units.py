"""A model's program in units of its own: the size of every leaf, and what becomes of it along free directions."""

from __future__ import annotations

from collections.abc import Sequence
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
    by_block, kept, values = {"S": mean, "Q": deviation}, {}, [sizes.value] * model.leaves.values
    for matrix, leaves in by_block.items():
        kept[matrix] = list(range(len(leaves)))
    for matrix, direction in free:  # as `Model.along`: products with the direction's vector become values
        pivot = next(i for i in kept[matrix] if direction[i] != 0)
        kept[matrix].remove(pivot)
        values += [float(by_block[matrix][i] * by_block[matrix][pivot]) for i in kept[matrix]]
    program = model.freed(free).program(time_limit)
    values += [sizes.goal] * (len(program.objective_values) - len(values))  # the least of several objectives
    units = units_of(program, tuple(by_block[m][kept[m]] for m in ("S", "Q")), np.array(values), sizes.goal)
    return InUnits(units.apply(program), units, mean, deviation)


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
