"""The fixed point of a mean round: exact on quadratics, near the average of drawn runs on logistic regression, refused where it makes no sense."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.algorithms import FedAvg, FedPD, Safari, Scaffold
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.participation import Fixed, Uniform
from fedtheory.core.problem import constant
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.mean_round import mean_fixed_point, mean_round
from fedtheory.running.runner import run
from paper_checks.safari.z_ours_where_safari_settles import PRESENT, STEPS, settle, sorted_clients
from problems.biased_participation import mean_limit, one_sided_pair
from problems.quadratics import random_quadratics, scalar_quadratics


def test_the_biased_pair_settles_where_its_moments_do() -> None:
    q, eta_c, eta_s = 0.4, 0.05, 0.1
    method = Safari(q, GradientSteps(3, eta_c), GradientSteps(1, eta_s))
    found = mean_fixed_point(method, one_sided_pair(), np.array([2.0]), {"communicate": q}, (0,))
    assert found == pytest.approx([mean_limit(q, eta_c, eta_s, 3)], rel=1e-9)


def test_fedavg_settles_where_a_long_run_ends() -> None:
    """No coin and all clients: the mean round is the round; its bias is that of heterogeneity."""
    problem = random_quadratics(4, 3, L=1.0, mu=0.2, seed=3)
    method = FedAvg(GradientSteps(4, 0.3))
    found = mean_fixed_point(method, problem, np.zeros(3))
    assert np.allclose(found, run(method, problem, np.zeros(3), 500).state.x[0], atol=1e-9)
    assert np.linalg.norm(found - problem.solution()) > 1e-3


def test_a_uniform_draw_has_the_mean_of_all() -> None:
    problem = scalar_quadratics([1.0, 2.0, 3.0], [1.0, -1.0, 0.5])
    method, x = FedAvg(GradientSteps(2, 0.1)), np.array([0.7])
    ends = [run(method, problem, x, 1, participation=Fixed((i,))).state.x[0] for i in range(3)]
    assert np.allclose(mean_round(method, problem, x), np.mean(ends, axis=0))


def test_drawn_runs_average_to_it_on_logistic_regression() -> None:
    """To a hundredth of its size, over the second half of 15000 rounds, and far nearer than the minimiser."""
    q, ratio = 0.6, 2.0
    settled, weighted, true = settle(q, ratio)
    problem, clients = sorted_clients()
    eta = 0.02 / float(constant(clients, "L").value)
    method = Safari(q, GradientSteps(STEPS, ratio * eta / STEPS), GradientSteps(1, eta))
    late: list[np.ndarray] = []
    state_of = {"x": lambda problem, state: late.append(state.x[..., 0, :]) or np.zeros(())}
    run(method, problem, true, 15000, participation=Uniform(5, PRESENT), metrics=state_of, seed=1)
    mean = np.mean(late[len(late) // 2 :], axis=0)
    error = np.linalg.norm(mean - settled)
    assert error < 0.01 * np.linalg.norm(settled) and error < 0.05 * np.linalg.norm(weighted - true)


def test_what_has_no_mean_round_is_refused() -> None:
    problem = scalar_quadratics([1.0, 2.0], [1.0, -1.0])
    with pytest.raises(InvalidInput, match="the state of Scaffold has the fields"):
        mean_round(Scaffold(GradientSteps(1, 0.1)), problem, np.zeros(1))
    with pytest.raises(InvalidInput, match=r"the state of FedPD has the fields"):
        mean_fixed_point(FedPD(0.1), problem, np.zeros(1))
    with pytest.raises(InvalidInput, match=r"probability 1\.5; expected a number in \[0, 1\]"):
        method = Safari(0.5, GradientSteps(1, 0.1), GradientSteps(1, 0.1))
        mean_round(method, one_sided_pair(), np.zeros(1), {"communicate": 1.5})


def test_a_round_that_moves_every_point_has_none() -> None:
    """f_1 + f_2 is linear: gradient steps never rest."""
    tilted = scalar_quadratics([1.0, -1.0], [1.0, -2.0])
    with pytest.raises(SolverFailed, match="no fixed point of the mean round of FedAvg"):
        mean_fixed_point(FedAvg(GradientSteps(1, 0.1)), tilted, np.zeros(1))
