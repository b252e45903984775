"""The programs whose solutions propose refutations: the worst case of a measure, and the largest ratio of a stated potential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.proofs.every_n.model import Function, Model
from fedtheory.proofs.every_n.units import measure_leaves
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN, worst_case_for_every_n
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.measures import find_measure
from fedtheory.proofs.potentials.program import PotentialSearch
from fedtheory.proofs.refutations.coordinates import WorstData, read_rows
from fedtheory.proofs.semidefinite.solve import solve_program
from fedtheory.proofs.semidefinite.units import power_of_two, units_of
from fedtheory.proofs.sizes import Sizes, sizes_of

#: heterogeneity, in natural sizes, that stands for none assumed, tried in turn
APART = (1, 4, 16, 64, 256)


@dataclass(frozen=True, eq=False)
class Proposal:
    """About the largest value that functions of the class reach, and what the functions are; ``why_not`` says why there are none."""

    value: float
    data: WorstData | None
    why_not: str | None = None


def propose_for_bound(asked: Any, limit: Fraction, time_limit: float | None = None) -> Proposal:
    """The worst case of a measure (`fedtheory.proofs.refutations.asked.AskedBound`).

    Where nothing bounds it because the class lets clients differ by any amount, functions that differ by as much as exceeding the limit takes.

    Raises
    ------
    CannotTrace, SolverFailed
        As in `worst_case_for_every_n`.
    """
    found = _solve(asked, asked.function_class, time_limit)
    given, measure = asked.function_class, find_measure(asked.measure)
    if found.unbounded:
        size = Fraction(given.L) * asked.radius if measure.of_minimiser else Fraction(given.L)
        for share in APART:
            if measure.of_minimiser and given.zeta is None:
                narrower = replace(given, zeta=share * size)
            elif given.bgd is None and given.dissimilarity is None:
                narrower = replace(given, bgd=(share * size, Fraction(0)))
            else:
                break
            found = _solve(asked, narrower, time_limit)
            if not found.unbounded and found.value > 1.05 * float(limit):
                break
    if found.unbounded:
        return Proposal(float("inf"), None, "the program is unbounded")
    reasons = [*given.relaxations(asked.measure), *filter(None, [found.why_no_instance()])]
    reasons += ["gradients have noise"] * (given.sigma is not None)
    if reasons:
        return Proposal(
            found.value, None, f"functions of this class are not rebuilt in fractions: {'; '.join(reasons)}"
        )
    return Proposal(found.value, _data_of_bound(found, asked.radius))


def _solve(asked: Any, function_class: FunctionClass, time_limit: float | None) -> WorstCaseForEveryN:
    return worst_case_for_every_n(
        asked.algorithm,
        function_class,
        rounds=asked.rounds,
        measure=asked.measure,
        radius=asked.radius,
        participation=asked.participation,
        time_limit=time_limit,
    )


def _data_of_bound(found: WorstCaseForEveryN, radius: Fraction) -> WorstData:
    """Coordinates in the sizes R, L R and L R^2."""
    measure, stated, solution = find_measure(found.measure), found.stated, found.solution
    usual = sizes_of(found.function_class, measure, radius)
    point = radius if measure.of_minimiser and power_of_two(float(radius)) == usual.point else Fraction(usual.point)
    steep = Fraction(found.function_class.L)
    exact: Any = (point, steep * point, steep * point**2, Fraction(1))
    leaves = measure_leaves(found.model.leaves, found.evaluations, (), found.start, Sizes(*exact))
    mean, deviation = ([Fraction(v) for v in block] for block in leaves)
    free = [] if found.free is None else [("Q", found.free)]
    products = solution.values[found.model.leaves.values :][: max(found.model.leaves.deviation - 1, 0)]
    first = next((leaf for _, leaf in found.start.terms), None)
    count = found.model.leaves.values
    size = exact[2]
    return WorstData(
        {
            "S": read_rows(solution.blocks[0], stated.mean, mean, first=first),
            "Q": read_rows(solution.blocks[1], stated.deviation, deviation, free, products),
        },
        {"S": mean, "Q": deviation},
        [float(v) * float(u) / float(size) for v, u in zip(solution.values[:count], stated.units.values, strict=False)],
        size,
        found.evaluations,
        {"x": found.start},
    )


def propose_for_decrease(asked: Any, search: PotentialSearch, time_limit: float | None = None) -> Proposal:
    """The largest E V(after) / V(before), as a worst case: maximise E V(after) where V(before) is at most one.

    Raises
    ------
    SolverFailed
        No answer was accepted: V may not bound the errors that a round depends on.
    """
    model, height = decrease_model(asked, search)
    (after,), sizes = model.objectives, search.units.leaves
    before = model.inequalities[0][1] + height
    names = {"S": model.leaves.mean, "Q": model.leaves.deviation}
    natural = {m: [sizes.get((m, k), Fraction(1)) for k in range(count)] for m, count in names.items()}
    program = model.program(time_limit)
    units = units_of(
        program,
        tuple(np.array([float(v) for v in natural[m]]) for m in ("S", "Q")),
        np.full(model.leaves.values, float(search.units.steepness)),
        float(height),
    )
    solution = solve_program(units.apply(program), time_limit=time_limit)
    seen = {
        key for form in (before, after, *search.decrease.forms) for m, i, j in form.gram for key in ((m, i), (m, j))
    }
    rows = {}
    for m, block, unit in zip(("S", "Q"), solution.blocks, units.leaves, strict=True):
        known = np.array([(m, k) in seen for k in range(len(block))], dtype=float)
        rows[m] = read_rows(block * np.outer(known, known), unit, natural[m])
    steep = Fraction(search.units.steepness)
    values = [float(v) * float(u) / float(steep) for v, u in zip(solution.values, units.values, strict=True)]
    data = WorstData(rows, natural, values, steep, search.decrease.evaluations, search.step.before)
    return Proposal(solution.value, data)


def decrease_model(asked: Any, search: PotentialSearch) -> tuple[Model, Fraction]:
    """E V(after) where V(before) is at most a height of its own size; the model, and that height."""
    before, after = search.stated(potential_terms(asked.weights))
    sizes = search.units.leaves
    height = max(
        (abs(Fraction(c)) * sizes[m, i] * sizes[m, j] for (m, i, j), c in before.gram.items()), default=Fraction(1)
    )
    own = Function("interpolation", search.decrease.evaluations, asked.function_class.L, asked.function_class.mu)
    return Model(
        search.step.leaves, (("V", before - height), *search.decrease.inequalities), (after,), functions=(own,)
    ), height


def potential_terms(weights: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """The terms of a potential of squared errors of fields, and of the gap, by the names that a search gives them."""
    return {"gap" if name == "gap" else f"field {name}": weight for name, weight in weights.items()}


def needed_clients(participation: Sampling | None) -> int:
    """How many clients an instance has: two stand for every n."""
    return 2 if participation is None else participation.n
