"""Batch axes: a row of a run is the single run, whatever differs between the rows and whatever happens beside it."""

from __future__ import annotations

import numpy as np
from helpers import (
    BATCHED,
    NUMPY,
    ROUNDS,
    SUMMATION,
    Case,
    Library,
    close,
    fields,
    for_every_method,
    play,
    row_of,
    rows,
    rows_beside_numpy,
    start,
)

from fedtheory.core.arrays import along_batch
from fedtheory.running.runner import run


@for_every_method(rows_beside_numpy())
def test_a_batch_row_is_the_single_run(case: Case, other: Library) -> None:
    """Starting points and hyper-parameters along a batch axis: row k is the run with the k-th of each."""
    scales, points = [1.0, 0.1], case.x0 + np.array([0.0, -2.0])[:, None, None]
    alone = [case.played[-1], play(case.algorithm(scales[1]), case.problem, points[1], ROUNDS)[-1]]
    for xp in (NUMPY, other):
        batched = case.algorithm(along_batch(scales, xp.example))
        together = fields(play(batched, xp.problem(case.problem), xp.array(points), ROUNDS)[-1])
        for k in range(2):
            for name, value in fields(alone[k]).items():
                found = np.broadcast_to(together[name], (2, *value.shape))
                close(found[k], value, case.tolerance, f"{name}, row {k}, {xp}")


@for_every_method(rows_beside_numpy(lambda c: c.random))
def test_seeds_along_the_batch(case: Case, other: Library) -> None:
    """Row k of a run with several seeds is the run with the k-th; equal seeds give equal numbers, others others."""
    seeds, rounds = np.array([3, 4, 3]), 4
    alone = [fields(play(case.algorithm(), case.problem, case.x0, rounds, seed=seed)[-1]) for seed in (3, 4)]
    for xp in (NUMPY, other):
        f, x0 = xp.problem(case.problem), xp.array(case.x0)
        states = [fields(state) for state in play(case.algorithm(), f, x0, rounds, seed=seeds)[1:]]
        together = states[-1]
        for k in range(2):
            for name, value in alone[k].items():
                close(together[name][k], value, SUMMATION, f"{name}, row {k}, {xp}")
        assert all(np.array_equal(value[0], value[2]) for value in together.values())
        drawn = [
            value for state in states for value in state.values() if value.ndim == 3
        ]  # in some round the seeds tell
        assert any(np.abs(value[0] - value[1]).max() > 1e-6 for value in drawn)


@for_every_method(rows(lambda c: c.problem_name in BATCHED))
def test_a_batch_of_instances_is_the_instances(case: Case) -> None:
    """Data along a batch axis: row k is the run on instance k."""
    f = case.dress(BATCHED[case.problem_name]())
    x0 = start(f)[None, :]
    together = play(case.algorithm(), f, x0, ROUNDS)[-1]
    for k in range(2):
        alone = play(case.algorithm(), row_of(f, k), x0, ROUNDS)[-1]
        for name, value in fields(alone).items():
            close(np.broadcast_to(fields(together)[name], (2, *value.shape))[k], value, case.tolerance, name)


@for_every_method(rows(lambda c: c.problem_name in ("quadratics", "logistic") and c.kind != "batch"))
def test_runs_that_diverge_disturb_no_other(case: Case) -> None:
    """Bit for bit, whatever happens beside it: one run grows, one overflows."""
    f, x0 = case.problem, start(case.problem)
    fine, beside = (
        run(case.algorithm(along_batch([1.0, *others])), f, x0, 12, progress=False).state
        for others in ((0.1, 0.1), (30.0, 1e200))
    )
    for name, value in fields(fine).items():
        found = fields(beside)[name]
        assert found.shape == value.shape
        if value.ndim == 3:  # the others have no batch axis, and no step size
            np.testing.assert_array_equal(found[0], value[0], err_msg=name)
