"""What runs on an accelerator, under a stand-in for CuPy and on array-api-strict's second device: the same numbers, and what they cost.

`test_arrays_kept` plays every method's rounds there on every problem; here are whole runs, with metrics, traffic and who takes part, and what
they ask of the device: how often the host waits for it, and what crosses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stand_in_cupy
from helpers import (
    CASES,
    LIBRARIES,
    Case,
    Library,
    as_parameters,
    close,
    for_every_method,
    start,
)

from fedtheory.core.participation import Bernoulli
from fedtheory.measures.catalogue import offered_metrics
from fedtheory.running.runner import run, shape_start

AWAY = [library for library in LIBRARIES if library.name in ("cupy-stand-in", "array-api-strict-device")]
pytestmark = pytest.mark.skipif(stand_in_cupy.cupy is None, reason="CuPy itself is installed")


@pytest.fixture(params=as_parameters(AWAY))
def away(request: pytest.FixtureRequest) -> Library:
    return request.param


def _both(case: Case, library: Library, **options: Any) -> tuple[Any, Any]:
    """The same run on the host and on the device, with all metrics that the method and the problem offer."""
    method, f, x0 = case.algorithm(), case.problem, start(case.problem)
    found = []
    for there in (None, library):
        on, x = (f, x0) if there is None else (there.problem(f), there.array(x0))
        chosen = offered_metrics(method.init(on, shape_start(on, x)), on)
        chosen.pop("primal_dual_gap", None)
        found.append(run(method, on, x, 3, metrics=chosen, progress=False, **options))
    return found[0], found[1]


#: one problem that a method runs on for each kind of settings, going round, and a nuclear norm for all
_ROUND = [case for k, case in enumerate(CASES) if k % 7 == 0 or case.problem_name == "robust-low-rank"]


@for_every_method([(case, AWAY[k % len(AWAY)]) for k, case in enumerate(_ROUND)])
def test_whole_runs_are_those_of_the_host(case: Case, library: Library) -> None:
    """Metrics, floats sent and the last state, with everyone and with a random part of the clients."""
    parts = [None, Bernoulli(0.6)] if case.entry.partial else [None]
    for participation in parts:
        ours, theirs = _both(case, library, participation=participation)
        for name, values in ours.metrics.items():
            close(theirs.metrics[name], values, 1e-9, name)
        np.testing.assert_array_equal(theirs.floats_up, ours.floats_up)
        np.testing.assert_array_equal(theirs.floats_down, ours.floats_down)
        close(theirs.state.x, ours.state.x, 1e-9)
