"""At the solution: a method that knows its duals there stays, and a method that says it has none moves."""

from __future__ import annotations

import dataclasses

import numpy as np
from helpers import (
    NEWTON,
    NUMPY,
    SUMMATION,
    UNSOLVED,
    Case,
    Library,
    assert_same,
    close,
    fields,
    for_every_method,
    play,
    rows,
    rows_beside_numpy,
    stationary_point,
)

from fedtheory.core.arrays import to_numpy
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key, ScriptedKey

#: with differences of gradients the noise of minibatches cancels
VARIANCE_REDUCED = ("fedpd-vr", "fedprox-vr", "f-svrg", "s-local-svrg")


@for_every_method(rows_beside_numpy(lambda c: c.problem_name not in UNSOLVED))
def test_the_solution_with_its_duals_is_a_fixed_point(case: Case, other: Library) -> None:
    for xp, rounds in ((NUMPY, 4), (other, 1)):
        f = xp.problem(case.problem)
        x = xp.array(stationary_point(case.problem_name))
        algorithm = case.algorithm()
        state = algorithm.solution_state(f, x)
        noisy = case.kind in ("batch", "epochs") and case.entry.name not in VARIANCE_REDUCED
        if state is None or noisy:
            moved = play(case.algorithm(), f, x, 1)[-1]
            models = [to_numpy(model) for model in (moved.x, getattr(moved, "personal", moved.x))]
            change = max(np.abs(model - to_numpy(x)).max() for model in models)
            assert change > 1e-6 or _unbiased_here(case), "a biased method says None, rightly"
            continue
        for r in range(rounds):
            # a round that skips moves the clients, see below
            scripted = case.kind == "skip" and algorithm.numeric_only is None
            key = ScriptedKey(r, {"communicate": True, "anchor": True}) if scripted else Key(1, r)
            state = algorithm.round(f, state, None, key)
        # grad f(x*) is zero up to 1e-15; rounds are Lipschitz with a constant of order one
        assert_same(state, _on_host(algorithm.solution_state(f, x)), 1e-12 if case.tolerance < NEWTON else NEWTON)


def _on_host(state):
    return dataclasses.replace(state, **fields(state))


def _unbiased_here(case: Case) -> bool:
    """Equal curvatures leave local steps unbiased (FEDPD-D12); personal parts move, the server's model need not."""
    return case.problem_name == "same-curvature" or getattr(case.algorithm(), "personal", None) is not None


@for_every_method(
    rows(lambda c: c.kind == "skip" and c.entry.name.startswith("fedpd") and c.problem_name not in UNSOLVED)
)
def test_one_skipped_round_leaves_the_servers_model_at_the_solution(case: Case) -> None:
    """The clients go their own way, x_{0,i} = x* - eta grad f_i(x*), and their mean stays (FEDPD-D3)."""
    f, x = case.problem, stationary_point(case.problem_name)
    algorithm = case.algorithm()
    new = algorithm.round(f, algorithm.solution_state(f, x), None, ScriptedKey(0, {"communicate": False}))
    close(new.x, x, SUMMATION)
    close(new.x0_i, x - algorithm.eta * f.grad(x), SUMMATION)


@for_every_method(rows(lambda c: c.entry.name == "scaffold" and c.kind == "steps" and c.problem_name not in UNSOLVED))
def test_control_variates_keep_the_solution_for_every_subset_of_clients(case: Case) -> None:
    f, x = case.problem, stationary_point(case.problem_name)
    state = case.algorithm().solution_state(f, x)
    new = case.algorithm().round(f, state, Clients(f.n, np.array([1])), Key(0, 0))
    assert_same(new, state, SUMMATION)
