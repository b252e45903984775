"""Runs that are played as one have the numbers that each has alone, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.algorithms import listed
from fedtheory.core.participation import choose_participation
from fedtheory.core.problem import Problem
from fedtheory.measures.catalogue import choose_metrics
from fedtheory.running.families import build_problem, make_first_model
from fedtheory.running.record import Trace
from fedtheory.running.runner import run, shape_start
from fedtheory.running.together import run_together, sort_alike

SEEDS = (3, 4, 7)
SHARDS = {"clients": 6, "hidden": 8, "split": "shards", "shards": 2}
OWN = {"clients": 4, "split": "iid", "l2": 0.01, "samples_per_client": 20}
#: method, settings, family, its options, metrics, clients a round, rounds, and rounds between measurements
RUNS: dict[str, tuple[str, dict[str, Any], str, dict[str, Any], tuple[str, ...], int | None, int, Any]] = {
    "minibatches of some": ("a-fedpd", {"lr": 0.1, "steps": 5, "batch": 4}, "digits-mlp", SHARDS, ("value",), 3, 6, 2),
    "residuals": (
        "scaffold",
        {"lr": 0.1, "steps": 3, "batch": 4},
        "digits-mlp",
        SHARDS,
        ("primal_residual",),
        None,
        6,
        1,
    ),
    "solved": ("dualfl", {"rho": 0.01, "nu": 0.01, "accuracy": 1e-8}, "digits-softmax", OWN, ("value",), None, 6, 1),
    "coins": ("scaffnew", {"lr": 0.05, "p": 0.3}, "digits-softmax", OWN, ("value",), None, 30, "sent"),
    "one diverges": ("fedavg", {"lr": 2.55, "steps": 1}, "quadratics", {"clients": 4}, ("value",), None, 1400, 100),
}


def _begin(name: str) -> tuple[Any, list[Problem], list[Any], list[Any]]:
    method, settings, family, options, metrics, *_ = RUNS[name]
    problems = [build_problem(family, **options, seed=seed) for seed in SEEDS]
    starts = [make_first_model(problem, None, seed) for problem, seed in zip(problems, SEEDS, strict=True)]
    chosen = [
        choose_metrics(metrics, listed(method).build(**settings), problem, shape_start(problem, start))
        for problem, start in zip(problems, starts, strict=True)
    ]
    return chosen[0][0], problems, starts, [measured for _, measured in chosen]


def _both(name: str) -> tuple[list[Trace], list[Trace]]:
    """Traces of the runs as one, and of each alone."""
    method, problems, starts, metrics = _begin(name)
    *_, active, rounds, every = RUNS[name]
    asked: dict[str, Any] = {"participation": choose_participation(active), "every": every}
    together = run_together(method, problems, starts, rounds, seeds=SEEDS, metrics=metrics, **asked)
    alone = [
        run(method, problem, start, rounds, seed=seed, metrics=own, progress=False, **asked)
        for problem, start, seed, own in zip(problems, starts, SEEDS, metrics, strict=True)
    ]
    return together, alone


@pytest.mark.parametrize("name", RUNS)
def test_each_run_has_the_numbers_that_it_has_alone(name) -> None:
    for found, alone in zip(*_both(name), strict=True):
        for column in ("rounds", "floats_up", "floats_down", "diverged_at"):
            np.testing.assert_array_equal(getattr(found, column), getattr(alone, column), strict=True)
        for metric, values in alone.metrics.items():
            np.testing.assert_array_equal(found[metric], values, strict=True)
        np.testing.assert_array_equal(found.state.x, alone.state.x, strict=True)
        assert found.info["seed"] == alone.info["seed"] and found.info["together"] == len(SEEDS)


def test_runs_of_coins_differ_in_the_rounds_that_send() -> None:
    together, _ = _both("coins")
    assert len({tuple(trace.rounds) for trace in together}) == len(SEEDS)


def test_one_of_them_diverges() -> None:
    """Else the case above shows nothing."""
    together, _ = _both("one diverges")
    assert len({bool(trace.diverged) for trace in together}) == 2


def test_instances_of_other_shapes_are_not_alike() -> None:
    def build(seed: int, **options: Any) -> Problem:
        return build_problem("digits-softmax", **{**OWN, **options}, seed=seed)

    problems = [build(0), build(0, clients=5), build(1), build(1, l2=0.1), build(2)]
    assert sort_alike(problems) == [[0, 2, 4], [1], [3]]
    unequal = [build_problem("digits-softmax", **OWN, seed=seed, weights="2/5,1/5,1/5,1/5") for seed in (0, 1)]
    assert sort_alike(unequal) == [[0], [1]]


def test_a_test_set_is_each_runs_own() -> None:
    problems = [build_problem("digits-mlp", clients=4, hidden=4, test="own", seed=seed) for seed in SEEDS]
    assert sort_alike(problems) == [[0, 1, 2]]
