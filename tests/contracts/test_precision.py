"""x0's dtype is that of a run: float32 in, float32 through, whatever the data and the hyper-parameters were given in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from array_api_compat import array_namespace
from helpers import CASES, Case, Library, build, draw, for_every_method, problem, ragged_logistic, rows_on_libraries

from fedtheory import metrics, run
from fedtheory.algorithms import ALGORITHMS, FedAvg, FedPD, Scaffold
from fedtheory.core.arrays import along_batch, to_numpy
from fedtheory.core.participation import All, Bernoulli, Fixed, Uniform
from fedtheory.core.precision import bits_of, find_floats, in_precision_of
from fedtheory.core.problem import move_to_library
from fedtheory.core.states import arrays_of
from fedtheory.local import GradientSteps
from fedtheory.running.runner import shape_start
from problems.quadratics import random_quadratics

ROUNDS = 2


@for_every_method([row for row in rows_on_libraries() if not row[1].frozen])
def test_a_run_is_in_the_precision_of_its_start(case: Case, xp: Library) -> None:
    """States and gradients are float32; metrics are those of the problem as given, in double precision, at the float32 models."""
    f, x0 = xp.problem(case.problem), xp.array(case.x0[0])
    single = array_namespace(x0).astype(x0, array_namespace(x0).float32)
    trace = run(case.algorithm(), f, single, ROUNDS, progress=False)
    for name, value in arrays_of(trace.state).items():
        assert value.dtype == single.dtype, name
    assert in_precision_of(f, single).grad(trace.state.x).dtype == single.dtype
    assert f.grad(in_precision_of(trace.state, x0).x).dtype == x0.dtype  # the problem itself stays as it was
    measured = metrics.stationarity(f, in_precision_of(trace.state, x0))
    assert trace["stationarity"].dtype == np.float64
    np.testing.assert_array_equal(trace["stationarity"][..., -1], to_numpy(measured))
    if xp.name == "numpy":  # the same as with a problem that was moved by hand
        by_hand = run(case.algorithm(), move_to_library(f, single), single, ROUNDS, progress=False)
        for name, value in arrays_of(by_hand.state).items():
            np.testing.assert_array_equal(value, getattr(trace.state, name), err_msg=name)


@pytest.mark.parametrize("entry", ALGORITHMS, ids=lambda entry: entry.name)
def test_double_precision_of_hyper_parameters_does_not_enter(entry) -> None:
    """Arrays along the batch, and participation with weights of its own; arrays given in float64 are rounded."""
    case = next(c for c in CASES if c.entry is entry)
    roles = {option.role: option.batched for option in entry.options}
    given = {role: value for role, value in case.options().items() if role in roles}
    arrays = {role: along_batch([v, 0.9 * v]) for role, v in given.items() if roles[role] and isinstance(v, float)}
    assert arrays or not any(roles.values())
    algorithm = build(entry, **{**given, **arrays})
    single = case.x0[0].astype(np.float32)
    for schedule in (All(), Uniform(2), Bernoulli(0.7), Fixed((0, 2))):
        if not isinstance(schedule, All) and not getattr(type(algorithm), "partial", True):
            continue
        state = run(algorithm, case.problem, single, 2, participation=schedule, progress=False).state
        assert {v.dtype for v in arrays_of(state).values()} == {single.dtype}, schedule


def test_schedules_and_counts_do_not_enter() -> None:
    f, x0 = ragged_logistic(), np.ones(3, dtype=np.float32)
    for local in (
        GradientSteps(2, lambda r, q: np.float64(0.1) / (1 + r)),
        GradientSteps(np.array([1, 2, 3, 1]), 0.1),
        GradientSteps(2, np.float64(0.1)),
    ):
        for method in (FedAvg(local), FedPD(0.5, local)):
            state = run(method, f, x0, 3, progress=False).state
            assert {v.dtype for v in arrays_of(state).values()} == {x0.dtype}
    state = run(Scaffold(GradientSteps(2, lambda r, q: np.float64(0.1))), f, x0, 3, progress=False).state
    assert {v.dtype for v in arrays_of(state).values()} == {x0.dtype}


def test_a_double_start_is_not_rounded_to_single_data() -> None:
    """The other way about: data in float32 are widened, which changes nothing in them."""
    f = move_to_library(problem("logistic"), np.zeros(1, np.float32))
    trace = run(FedAvg(GradientSteps(2, 0.1)), f, np.ones(3), 2, progress=False)
    assert trace.state.x.dtype == np.float64
    widened = dataclasses.replace(f, signed=f.signed.astype(float), weights=f.weights.astype(float))
    np.testing.assert_array_equal(trace["stationarity"][-1], metrics.stationarity(widened, trace.state))


def test_what_is_seen_of_an_object() -> None:
    f = problem("server-assisted")
    assert len(list(find_floats(f))) > 2 and all(bits_of(a) == 64 for a in find_floats(f))
    assert in_precision_of(f, np.zeros(1)) is f  # nothing to do, nothing copied
    half = in_precision_of(f, np.zeros(1, np.float32))
    assert {bits_of(a) for a in find_floats(half)} == {32}
    symbols: Any = np.array([None, None], dtype=object)
    assert not list(find_floats(symbols)) and in_precision_of(3.0, np.zeros(1)) == 3.0
    whole = run(FedAvg(GradientSteps(1, 0.1)), random_quadratics(2, 2), draw(2), 1, progress=False)
    assert whole.state.x.dtype == np.float64 and shape_start(f, np.zeros(3)).shape == (1, 3)
