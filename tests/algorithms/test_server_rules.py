"""FedAvgM, FedNova, FedExP, FedAdagrad, FedAdam, FedYogi: what they equal. Loops by hand: `server_loops`, which conformance tests run."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from helpers import ROUNDING, assert_same_models, close, play, problem, x0_of
from server_loops import FedAdamLoop

from fedtheory import run
from fedtheory.algorithms import FedAvg, FedAvgM, FedExP, FedNova, FedOpt, GradientDescent, listed
from fedtheory.algorithms.mistakes import find_code_mistakes
from fedtheory.conformance.compare import conform
from fedtheory.core.arrays import squared_norm
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import All, Bernoulli, Clients, Uniform
from fedtheory.core.problem import gradient
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.proofs.spectrum import round_map, why_not_traceable
from problems.quadratics import Quadratic, random_quadratics, scalar_quadratics

LR = 0.2


@pytest.mark.parametrize("schedule", [All(), Uniform(2), Bernoulli(0.5)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("local", [GradientSteps(3, LR), StochasticSteps(3, LR, 2)], ids=["gd", "sgd"])
def test_what_is_fedavg(local, schedule) -> None:
    """FedAvgM without momentum, FedNova with equal steps, FedExP where epsilon leaves no extrapolation."""
    f = problem("logistic")
    plain = play(FedAvg(local), f, x0_of(f), 5, schedule)
    for twin in (FedAvgM(local, 0), FedNova(local), FedExP(local, 1e9)):
        assert_same_models(play(twin, f, x0_of(f), 5, schedule), plain)


def test_fedavgm_with_one_full_step_is_the_heavy_ball_method() -> None:
    f, server, beta = problem("quadratics"), 0.7, 0.6
    states = play(FedAvgM(GradientSteps(1, LR), beta, server), f, x0_of(f), 8)
    for before, now, after in zip(states, states[1:], states[2:], strict=False):
        close(after.x, now.x - server * LR * gradient(f, now.x) + beta * (now.x - before.x), ROUNDING)


def test_equal_clients_are_not_extrapolated() -> None:
    one = random_quadratics(1, 3, seed=3)
    f = Quadratic(np.repeat(one.A, 4, axis=0), np.repeat(one.b, 4, axis=0))
    assert_same_models(
        play(FedExP(GradientSteps(2, LR)), f, x0_of(f), 5), play(FedAvg(GradientSteps(2, LR)), f, x0_of(f), 5)
    )


def test_fedexp_goes_as_far_as_it_says() -> None:
    f, epsilon = problem("quadratics"), 0.01
    local = GradientSteps(2, LR)
    for before, after in pairwise(play(FedExP(local, epsilon), f, x0_of(f), 5)):
        moves = np.stack(
            [play(FedAvg(local), f.take(Clients(f.n, np.array([i]))), before.x, 1)[-1].x[0] for i in range(f.n)]
        )
        moves = before.x - moves
        mean = moves.mean(axis=0, keepdims=True)
        eta = max(1.0, float(squared_norm(moves).mean() / 2 / (squared_norm(mean)[0] + epsilon)))
        close(after.x, before.x - eta * mean, ROUNDING)
    assert eta > 1, "there was something to see"


def test_unequal_steps_pull_fedavg_to_the_busy_clients_and_fednova_not() -> None:
    """f_1 = (x - 1)^2/2, f_2 = (x + 1)^2/2 with 1 and 3 steps: a client counts w_i = 1 - (1 - lr)^{K_i} in FedAvg, w_i/K_i in FedNova.

    For small steps FedAvg ends at (1 - 3)/(1 + 3), FedNova at the minimiser, 0.
    """
    f, steps, lr = scalar_quadratics([1.0, 1.0], [1.0, -1.0]), np.array([1, 3]), 0.05
    counts = 1 - (1 - lr) ** steps
    for method, w in ((FedAvg, counts), (FedNova, counts / steps)):
        end = run(method(GradientSteps(steps, lr)), f, np.ones(1), 800, every=800).state.x[0, 0]
        assert end == pytest.approx((w[0] - w[1]) / (w[0] + w[1]), abs=1e-12)
    assert (counts[0] - counts[1]) / counts.sum() < -0.45 and abs(end) < 0.05


@pytest.mark.parametrize("beta1", [0, 0.5])
def test_adaptive_servers_with_a_large_tau_are_averaged_momentum(beta1) -> None:
    """sqrt(v) + tau is 2 tau (1 + r D^2/(4 tau^2)) in round r of Adagrad's, and nearer in Yogi's; Adam's v shrinks by beta2 instead."""
    f, tau = problem("quadratics"), 1e7
    local = GradientSteps(2, LR)
    plain = play(FedAvgM(local, beta1, 1 - beta1), f, x0_of(f), 5)
    for rule in ("adagrad", "yogi"):
        assert_same_models(play(FedOpt(local, rule, 2 * tau, beta1, tau=tau), f, x0_of(f), 5), plain)


def test_yogi_and_adam_part_where_moves_shrink() -> None:
    """From v above D^2 Yogi's v falls by (1 - beta2) D^2, Adam's by (1 - beta2) (v - D^2); from below both rise alike if v = 0."""
    f, local = problem("quadratics"), GradientSteps(1, LR)
    adam, yogi = (play(FedOpt(local, rule, 0.1, 0, 0.5, 10.0), f, x0_of(f), 1) for rule in ("adam", "yogi"))
    square = (LR * gradient(f, x0_of(f))) ** 2
    close(adam[1].v, 50 + square / 2, ROUNDING)
    close(yogi[1].v, 100 - square / 2, ROUNDING)


def test_a_second_moment_that_starts_at_zero_is_seen() -> None:
    """As in Flower's FedAdam; the source starts at tau^2 or above."""

    class Flowers(FedAdamLoop):
        def begin(self) -> None:
            """v = 0."""

    found = conform(Flowers(), "fedadam", seeds=1)
    assert not found.conforms and found.starts.keys() == {"v"} and found.updates == {"x": True, "m": True, "v": True}
    known = next(m for m in find_code_mistakes(FedOpt) if "starts at zero" in m.name)
    assert known.seen.startswith("https://github.com/adap/flower/")


def test_other_local_work_is_refused_by_fednova() -> None:
    with pytest.raises(InvalidInput, match="FedNova divides by the number of local steps"):
        FedNova(Exact())


@pytest.mark.parametrize("name", ["fedexp", "fedadagrad", "fedadam", "fedyogi"])
def test_engines_without_numbers_say_why(name) -> None:
    f = problem("quadratics")
    assert why_not_traceable(listed(name).build()) is not None
    with pytest.raises(CannotTrace, match="its server"):
        round_map(listed(name).build(), f, np.zeros(f.d))


def test_adagrad_reaches_the_solution_and_stays() -> None:
    f = problem("quadratics")
    method = FedOpt(GradientSteps(1, LR), "adagrad", server_lr=0.5, beta1=0)
    assert run(method, f, np.ones(f.d), 1500)["stationarity"][-1] < 1e-20
    x = f.solution()[None, :]
    assert FedOpt(GradientSteps(1, LR), "adam").solution_state(f, x) is None
    assert_same_models([method.round(f, method.solution_state(f, x), None, Key(0, 0))], [method.solution_state(f, x)])
    assert_same_models(
        play(FedExP(GradientSteps(1, LR), 1e9), f, x0_of(f), 4), play(GradientDescent(LR), f, x0_of(f), 4)
    )
