"""The maximum of a program, believed where its residuals bound its error; or a direction that shows that there is none.

The programs come in units of their own (`fedtheory.proofs.semidefinite.units`). A solver's residuals are a reason to believe its value when all
feasible points are limited (`find_limits`). Without limits a value may stand where the maximum is infinite, so that none is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.semidefinite.program import Program
from fedtheory.proofs.semidefinite.solve import (
    Infeasible,
    Limits,
    Solution,
    bound_above,
    find_growth,
    find_limits,
    judge,
    overshoot,
    solve_program,
)
from fedtheory.proofs.semidefinite.solvers import ask
from fedtheory.proofs.semidefinite.units import Units, power_of_two, unit_sizes, units_of

#: without limits a first-order solver runs to its last iteration, and hardly ever shows more
FAST = ("CLARABEL",)
#: how often units are taken from a solution that was not believed
CHANGES = 2
#: values, in units of the objective, whose residuals are small relative to them; the unit of others is changed
ABOUT_ONE = 2.0**-3, 2.0**3
#: the relative error that residuals leave possible, as a multiple of the tolerance of one residual: wished for, and put up with
ALLOWED_ERROR = 10.0, 50.0
#: a value that is smaller, in the unit of its measure, is not told from zero
NEGLIGIBLE_VALUE = 1e-12
#: the relative size of what is not told apart by a solver
SMALLEST = 2.0**-30


def maximise(
    program: Program,
    *,
    stated_exactly: Callable[[], Program] | None = None,
    tolerance: float = 1e-6,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
    time_limit: float | None = None,
    agree: bool = False,
) -> tuple[Solution, bool]:
    """The solution, and whether the program is unbounded (the solution is then a direction that shows it).

    A value is believed when it is accurate relative to its own size: the residuals are, and so is what they can add to it where all
    feasible points are limited (`bound_above`). Where it is not, leaves and values get the sizes that they have in the solution, and the
    program is solved again.

    Parameters
    ----------
    program : in units of its own.
    stated_exactly : makes the same program from fractions; asked where nothing limits the one given, which may be rounding's fault.
    tolerance, solvers, time_limit, agree : those of `solve_program`.

    Raises
    ------
    SolverFailed
        No solver's answer was accepted, or nothing limits the feasible points and nothing shows that the program is unbounded.
    """
    options: dict[str, Any] = {"tolerance": tolerance, "solvers": solvers, "time_limit": time_limit, "agree": agree}
    units = unit_sizes(program)
    reason: SolverFailed | None = None
    best: tuple[float, Solution] | None = None
    for change in range(CHANGES + 1):
        inside = units.apply(program)
        limits = find_limits(inside, solvers=FAST, time_limit=time_limit)
        if not isinstance(limits, Limits) and change == 0 and stated_exactly is not None:
            limits = find_limits(stated_exactly(), solvers=FAST, time_limit=time_limit)
        if isinstance(limits, Limits):
            try:
                asked = options if change == 0 or agree else options | {"solvers": FAST}
                found, error = _solve(inside, limits, **asked)
                if error <= ALLOWED_ERROR[0] * tolerance:
                    return units.restore(found), False
                if best is None or error < best[0]:
                    best = error, units.restore(found)
            except Infeasible:
                raise
            except SolverFailed as failed:
                reason = failed
        units = _learn(program, units, time_limit)
    if best is None and reason is None:
        limits = find_limits(program, solvers=solvers, time_limit=time_limit)
        if not isinstance(limits, Limits):
            return _show_unbounded(program, time_limit), True
        found, error = _solve(program, limits, **options)
        best = error, found
    if best is not None and best[0] <= ALLOWED_ERROR[1] * tolerance:
        return best[1], False
    if best is None:
        raise reason or SolverFailed("no answer was found")
    raise SolverFailed(
        f"the value of this program is not known well enough: {best[1].solver} returned {best[1].value:.9g} (in units of the program), and "
        f"its residuals exclude no more than values that are larger by the factor {1 + best[0]:.6g}; lower the number of rounds or local steps"
    )


def _solve(program: Program, limits: Limits, **options: Any) -> tuple[Solution, float]:
    """A solution with residuals that are small relative to its value, and by how much the value may be exceeded, relative to it."""
    units, program, found = _in_its_unit(program, **options)
    error = bound_above(program, found, limits) - found.value
    return units.restore(found), error / max(abs(found.value), NEGLIGIBLE_VALUE)


def solve_in_its_unit(program: Program, **options: Any) -> Solution:
    """`solve_program` with residuals that are small relative to the value: the objective gets the unit that makes it one.

    Raises
    ------
    SolverFailed
        As in `solve_program`.
    """
    units, _, found = _in_its_unit(program, **options)
    return units.restore(found)


def _in_its_unit(program: Program, **options: Any) -> tuple[Units, Program, Solution]:
    found = solve_program(program, **options)
    size = abs(found.value)
    units = unit_sizes(program)
    if not ABOUT_ONE[0] <= size <= ABOUT_ONE[1] and size > NEGLIGIBLE_VALUE:
        units = replace(units, goal=power_of_two(size))
        program = units.apply(program)
        found = solve_program(program, **options)
    return units, program, replace(found, overshoot=overshoot(program, found))


def _learn(program: Program, units: Units, time_limit: float | None) -> Units:
    """Units that are the sizes in a solver's answer, believed or not, where those are larger than the ones before."""
    inside = units.apply(program)
    x, y, status, seconds = ask(FAST[0], inside, time_limit)
    if not np.isfinite(x).all():
        return units
    found = judge(inside, x, np.nan_to_num(y), FAST[0], status, seconds)
    leaves = [d * np.sqrt(np.maximum(np.diag(b), 1.0)) for d, b in zip(units.leaves, found.blocks, strict=True)]
    values = units.values * np.maximum(np.abs(found.values), 1.0)
    return units_of(program, tuple(leaves), values, units.goal * max(abs(found.lower), SMALLEST))


def _show_unbounded(program: Program, time_limit: float | None) -> Solution:
    """A direction along which the objective grows, which was checked."""
    try:
        solve_program(program, solvers=FAST, time_limit=time_limit)
    except Infeasible:
        raise
    except SolverFailed:
        pass  # an answer would not be believed, either
    found = find_growth(program, solvers=FAST, time_limit=time_limit)
    if found is None:
        raise SolverFailed(
            "the feasible set of this semidefinite program was not seen to be bounded, so that a solver may report a number where the worst case "
            "is infinite, and it could not be decided which of the two holds; lower the number of rounds or local steps, or, where clients may "
            "differ by any amount and that matters, bound by how much (zeta, bgd or dissimilarity)"
        )
    return found
