"""What `fedtheory list` says of engines is true: those it names run the method, the others refuse it with the reason it gives."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from helpers import build, dressed, problem, start

from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import CannotTrace
from fedtheory.proofs.engines import ENGINES, why_not
from fedtheory.proofs.spectrum import round_map
from fedtheory.proofs.symbolic import play_exactly
from fedtheory.running.runner import run
from problems.quadratics import scalar_quadratics


def _numeric(entry) -> None:
    f = dressed(entry, problem("quadratics"))
    trace = run(build(entry, lr=0.01, eta=0.01, rho=10.0), f, start(f), 2)
    assert np.isfinite(trace["stationarity"]).all()


def _spectrum(entry) -> None:
    f = dressed(entry, problem("quadratics"))
    found = round_map(build(entry), f, start(f), coins=defaultdict(lambda: True))
    assert np.isfinite(found.matrix).all()


def _symbolic(entry) -> None:
    f = dressed(entry, scalar_quadratics([Fraction(1), Fraction(3)], [Fraction(1), Fraction(-1)]))
    tens = dict.fromkeys(
        ("lr", "eta", "alpha", "l1", "inner_lr", "model_lr", "q", "nu", "momentum", "mu", "error"), Fraction(1, 10)
    )
    method = build(entry, rho=Fraction(1), **tens)
    state = play_exactly(method, f, np.array([Fraction(2)]), 1, {0: defaultdict(lambda: True)})[-1]
    assert isinstance(state.x[0, 0], Fraction | int)


RUN = {"numeric": _numeric, "spectrum": _spectrum, "symbolic": _symbolic}  # worst cases: test_worst_case.py


@pytest.mark.parametrize("engine", RUN)
@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda e: e.name)
def test_engines_run_what_they_are_said_to_run(entry, engine) -> None:
    reason = why_not(entry).get(engine)
    if reason is None:
        RUN[engine](entry)
        return
    with pytest.raises(CannotTrace) as caught:
        RUN[engine](entry)
    assert reason in str(caught.value)


def test_every_engine_is_asked() -> None:
    assert {*RUN, "worst case"} == set(ENGINES)
