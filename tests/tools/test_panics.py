"""A solver whose compiled code panics has failed, and takes nothing down with it."""

from __future__ import annotations

import os

import pytest

from fedtheory.core.errors import SolverFailed
from fedtheory.tools.panics import run_clarabel


class PanicException(BaseException):
    """What compiled code raises under this name; it is no `Exception`."""


def test_a_panic_is_a_failed_solver() -> None:
    def panics(*data: object) -> object:
        raise PanicException("eigenvalues did not converge")

    with pytest.raises(SolverFailed, match="Clarabel gave up: eigenvalues did not converge"):
        run_clarabel(panics)


def test_an_interruption_is_none() -> None:
    def interrupted(*data: object) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_clarabel(interrupted)


@pytest.mark.parametrize("failure", [None, PanicException("it"), ValueError("it")])
def test_only_a_panics_own_words_are_held_back(failure, capfd) -> None:
    class Solver:
        def solve(self) -> int:
            os.write(2, b"thread panicked at cones.rs\n")
            if failure is not None:
                raise failure
            return 7

    try:
        assert run_clarabel(Solver) == 7
    except (SolverFailed, ValueError) as raised:
        assert "it" in str(raised)
    assert (capfd.readouterr().err == "") is isinstance(failure, PanicException)
