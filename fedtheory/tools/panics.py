"""Compiled solvers that panic: their exception is no `Exception`, and must not take a check down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.core.errors import SolverFailed


def run_clarabel(make_solver: Callable[..., Any], *data: Any) -> Any:
    """Return Clarabel's answer; where its compiled code gives up in a panic, which is no `Exception`, the solver has failed.

    Raises
    ------
    SolverFailed
        It panicked.
    """
    try:
        return make_solver(*data).solve()
    except BaseException as failure:
        if type(failure).__name__ == "PanicException":
            raise SolverFailed(f"Clarabel gave up: {failure}") from failure
        raise
