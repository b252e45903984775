"""The solvers that are asked: Clarabel's and SCS's own sparse interfaces."""

from __future__ import annotations

import contextlib
import io
import time
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput, require
from fedtheory.proofs.semidefinite.program import Matrix, Program, pack, triangle
from fedtheory.tools.panics import run_clarabel


def ask(name: str, program: Program, time_limit: float | None, **settings: float) -> tuple[Matrix, Matrix, str, float]:
    """Ask a solver by name; return x, y, its status and the seconds it took."""
    known = {"CLARABEL": solve_with_clarabel, "SCS": solve_with_scs}
    if name not in known:
        raise InvalidInput(f"unknown solver {name!r}; known are {' and '.join(known)}")
    begun = time.perf_counter()
    x, y, status = known[name](program, time_limit, **settings)
    return x, y, status, time.perf_counter() - begun


def require_solvers() -> None:
    """Say now which solver is missing, before a program that cannot be solved is taken for one that has no answer.

    Raises
    ------
    MissingExtra
        One is not installed.
    """
    for module in ("clarabel", "scs"):
        require(module, "worst cases")


def _standard(program: Program) -> tuple[Any, Matrix, Matrix]:
    """A, b, q of  minimise q.x  subject to  A x + s = b,  s in (nonnegative, semidefinite triangles)."""
    from scipy import sparse

    packed = [pack(rows) for rows in program.rows]
    total, first = sum(p.shape[1] for p in packed), program.constraints
    by_column = np.concatenate([*packed, program.rows_values], axis=1).T
    columns, rows = np.nonzero(by_column)
    ends = np.cumsum(np.bincount(columns, minlength=len(by_column)))
    # below its inequalities each entry of a semidefinite block is an entry of s
    indices = np.insert(rows, ends[:total], first + np.arange(total))
    values = np.insert(by_column[columns, rows], ends[:total], -1.0)
    starts = np.concatenate([[0], ends + np.minimum(np.arange(1, len(ends) + 1), total)])
    a = sparse.csc_matrix((values, indices, starts), shape=(first + total, len(by_column)))
    q = -np.concatenate([*(pack(c) for c in program.objective), program.objective_values])
    return a, np.concatenate([program.bounds, np.zeros(total)]), q


#: rows from which on another factorisation pays
LARGE = 300


def solve_with_clarabel(
    program: Program, time_limit: float | None, accuracy: float = 1e-10
) -> tuple[Matrix, Matrix, str]:
    """Solve by Clarabel's interior-point method; return x, y and its status."""
    from scipy import sparse

    clarabel = require("clarabel", "worst cases")
    a, b, q = _standard(program)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    settings.max_threads = 1
    if len(b) > LARGE:
        settings.direct_solve_method = "faer"  # supernodal: several times faster on dense blocks than the default
    if time_limit is not None:
        settings.time_limit = time_limit
    cones = [
        clarabel.ZeroConeT(program.equations),
        clarabel.NonnegativeConeT(program.constraints - program.equations),
        *(clarabel.PSDTriangleConeT(s) for s in program.sizes),
    ]
    found = run_clarabel(clarabel.DefaultSolver, sparse.csc_matrix((len(q), len(q))), q, a, b, cones, settings)
    return np.asarray(found.x), np.asarray(found.z)[: program.constraints], str(found.status)


def solve_with_scs(program: Program, time_limit: float | None, accuracy: float = 1e-9) -> tuple[Matrix, Matrix, str]:
    """Solve by SCS, a first-order method; return x, y and its status."""
    scs = require("scs", "worst cases")
    a, b, q = _standard(program)
    # SCS wants lower triangles by columns, which for a symmetric matrix are the upper ones by rows
    order, first = list(range(program.constraints)), program.constraints
    for size in program.sizes:
        rows, columns, _ = triangle(size)
        place = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(rows, columns, strict=True))}
        order += [first + place[(j, i)] for j in range(size) for i in range(j, size)]
        first += len(rows)
    data = {"A": a.tocsr()[order].tocsc(), "b": b[order], "c": q}
    cone = {"z": program.equations, "l": program.constraints - program.equations, "s": list(program.sizes)}
    limit = {} if time_limit is None else {"time_limit_secs": time_limit}
    with contextlib.redirect_stdout(
        io.StringIO()
    ):  # it may write of an error though it is not verbose; the status says it, too
        found = scs.solve(data, cone, verbose=False, eps_abs=accuracy, eps_rel=accuracy, max_iters=100_000, **limit)
    return np.asarray(found["x"]), np.asarray(found["y"])[: program.constraints], str(found["info"]["status"])
