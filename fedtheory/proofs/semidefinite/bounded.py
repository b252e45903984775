"""The maximum of a program, believed where its residuals bound its error; or what shows that there is none.

A solver's residuals are a reason to believe its value when all feasible points are limited (`find_limits`). Without limits a value may stand
where the maximum is infinite, so that none is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fedtheory.core.errors import SolverFailed
from fedtheory.proofs.semidefinite.program import Program
from fedtheory.proofs.semidefinite.solve import Infeasible, Limits, Solution, find_growth, find_limits, solve_program

#: a program that seems to be unbounded must reach this many times the size of the start before it is believed
CAP = 1e4
#: without limits a first-order solver runs to its last iteration, and hardly ever shows more
FAST = ("CLARABEL",)


def maximise(
    program: Program,
    *,
    size: float,
    stated_exactly: Callable[[], Program] | None = None,
    tolerance: float = 1e-6,
    solvers: Sequence[str] = ("CLARABEL", "SCS"),
    time_limit: float | None = None,
    agree: bool = False,
) -> tuple[Solution, bool]:
    """The solution, and whether the program is unbounded (the solution is then a direction, or a point at a cap, which shows it).

    Parameters
    ----------
    size : how large the start may be; an unbounded program reaches ``CAP`` times as much.
    stated_exactly : makes the same program from fractions; asked where nothing limits the one given, which may be rounding's fault.
    tolerance, solvers, time_limit, agree : those of `solve_program`.

    Raises
    ------
    SolverFailed
        No solver's answer was accepted, or nothing limits the feasible points and nothing shows that the program is unbounded.
    """
    limited = isinstance(find_limits(program, time_limit=time_limit), Limits)
    if not limited and stated_exactly is not None:
        limited = isinstance(find_limits(stated_exactly(), time_limit=time_limit), Limits)
    if limited:
        found = solve_program(program, tolerance=tolerance, solvers=solvers, time_limit=time_limit, agree=agree)
        return found, False
    return _show_unbounded(program, CAP * size, time_limit), True


def _show_unbounded(program: Program, cap: float, time_limit: float | None) -> Solution:
    """A direction along which the objective grows, or a solution that reaches a high cap."""
    try:
        solve_program(program, solvers=FAST, time_limit=time_limit)
    except Infeasible:
        raise
    except SolverFailed:
        pass  # an answer would not be believed, either
    found = find_growth(program, solvers=FAST, time_limit=time_limit) or reach_cap(program, cap, time_limit)
    if found is None:
        raise SolverFailed(
            "the feasible set of this semidefinite program is not bounded, so that a solver may report a number where the worst case is "
            "infinite, and it could not be decided which of the two holds; bound how much the clients differ (zeta, bgd or dissimilarity)"
        )
    return found


def reach_cap(program: Program, cap: float, time_limit: float | None) -> Solution | None:
    """A solution that reaches a cap far above any useful bound, which bounded programs do not, or None."""
    capped = replace(
        program,
        rows=tuple(np.concatenate([rows, c[None]]) for rows, c in zip(program.rows, program.objective, strict=True)),
        rows_values=np.concatenate([program.rows_values, program.objective_values[None]]),
        bounds=np.append(program.bounds, cap),
    )
    try:
        found = solve_program(capped, tolerance=1e-4, solvers=FAST, time_limit=time_limit)
    except SolverFailed:
        return None
    return found if found.lower >= (1 - 1e-3) * cap else None
