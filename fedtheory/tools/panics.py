"""Compiled solvers that panic: their exception is no `Exception`, and must not take a check down."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fedtheory.core.errors import SolverFailed


def run_clarabel(make_solver: Callable[..., Any], *data: Any) -> Any:
    """Return Clarabel's answer; where its compiled code gives up in a panic, which is no `Exception`, the solver has failed.

    What the compiled code writes about its panic is not shown: the failure says what is to be said.

    Raises
    ------
    SolverFailed
        It panicked.
    """
    try:
        with _errors_of_success():
            return make_solver(*data).solve()
    except BaseException as failure:
        if _is_panic(failure):
            raise SolverFailed(f"Clarabel gave up: {failure}") from failure
        raise


def _is_panic(failure: BaseException) -> bool:
    return type(failure).__name__ == "PanicException"


@contextmanager
def _errors_of_success() -> Iterator[None]:
    """Hold back what the process writes to its error output, and write it afterwards unless it is about a panic."""
    try:
        own = os.dup(2)
    except OSError:  # there is no error output
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        panicked = False
        try:
            yield
        except BaseException as failure:
            panicked = _is_panic(failure)
            raise
        finally:
            os.dup2(own, 2)
            os.close(own)
            if not panicked and held.tell():
                held.seek(0)
                os.write(2, held.read())
