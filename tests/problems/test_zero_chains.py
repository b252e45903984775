"""Zero-chains: each communication unlocks one coordinate."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import play, problem, ragged_logistic
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import FedAvg, FedPD, Scaffold
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import constant, gradient, move_to_library, objective
from fedtheory.local.solvers import GradientSteps
from problems.finite_sum import SampledQuadratic, rough_samples
from problems.lower_bound import printed_chain, supports, two_group_chain, unreached
from problems.quadratics import random_quadratics, scalar_quadratics

METHODS = {
    "fedavg": FedAvg(GradientSteps(30, 0.5)),
    "scaffold": Scaffold(GradientSteps(30, 0.5)),
    "fedpd": FedPD(0.3, GradientSteps(30, 0.3), init_dual="zero"),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_each_communication_unlocks_one_coordinate(method) -> None:
    """From zero, after t communications exactly the first t + 1 coordinates may be non-zero (FEDPD-T4s)."""
    f = two_group_chain(8)
    states = play(method, f, unreached(f.d)[None, :], 8)
    reached = [supports(state.x)[0].sum() for state in states]
    assert reached == [0, 2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_float_supports_lie_inside_the_propagated_ones(method) -> None:
    f = two_group_chain(5)
    exact = play(method, f, unreached(f.d)[None, :], 5)
    floats = play(method, f, np.zeros((1, f.d)), 5)
    for e, x in zip(exact, floats, strict=True):
        assert np.all(supports(e.x) | (x.x == 0))
    assert floats[1].x[0, 0] != 0


def test_a_client_alone_cannot_go_on() -> None:
    """The first group holds the first link and the even ones: alone it reaches two coordinates for ever."""
    f = two_group_chain(6, n=4)
    x = unreached(f.d)[None, :]
    from fedtheory.core.participation import Fixed

    states = play(METHODS["fedavg"], f, x, 5, Fixed((0, 1)))
    assert supports(states[-1].x)[0].sum() == 2


@given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 100), epsilon=st.floats(0.01, 10))
@settings(max_examples=50)
def test_an_unreached_end_keeps_the_gradient_large(seed, scale, epsilon) -> None:
    """||grad f||^2 > epsilon where the last coordinate is zero; in fact at least 6.39 epsilon (FEDPD-D11)."""
    f = two_group_chain(4, epsilon=epsilon)
    x = scale / f.scale * np.random.default_rng(seed).standard_normal((1, f.d))
    x[0, -1] = 0
    assert (gradient(f, x) ** 2).sum() > epsilon
    at_zero = (gradient(f, np.zeros((1, f.d))) ** 2).sum()
    assert at_zero == pytest.approx(epsilon * (4 * (1 - np.exp(-1.0))) ** 2, rel=1e-12)


def test_chain_infimum_in_closed_form() -> None:
    """g(0) - inf g = 2 pi (1 - 1/e) + 4 pi T, approached along (1, 1, ...) (FEDPD-D11)."""
    T = 4
    f = two_group_chain(T)
    low = float(f.lower_bound().value)
    at_zero = float(objective(f, np.zeros((1, f.d))))
    assert (at_zero - low) / f.amplitude == pytest.approx(2 * np.pi * (1 - np.exp(-1.0)) + 4 * np.pi * T, rel=1e-12)
    far = float(objective(f, np.full((1, f.d), 1e6 / f.scale)))
    assert 0 <= far - low <= 1e-4 * abs(low)


def test_printed_chain_differs_from_what_it_promises_in_smoothness_only() -> None:
    """It is certified 27 L-smooth for the L it was asked for (supplement, Lemma 5), its average as the repaired one."""
    f = printed_chain(4, 2, L=2.0, epsilon=0.5)
    assert float(constant(f, "L")) == pytest.approx(27 * 2.0, rel=1e-12)
    assert float(constant(two_group_chain(4, L=2.0, epsilon=0.5), "L")) == pytest.approx(2.0, rel=1e-12)
    states = play(METHODS["fedavg"], f, unreached(f.d)[None, :], 4)
    assert [supports(s.x)[0].sum() for s in states] == [0, 2, 3, 4, 5]


def test_moving_to_another_precision_leaves_the_original() -> None:
    f = problem("logistic")
    moved = move_to_library(f, np.zeros(1, dtype=np.float32))
    assert moved.signed.dtype == np.float32 and f.signed.dtype == np.float64
    assert dataclasses.replace(moved, signed=f.signed, weights=f.weights) is not f


def test_a_changed_copy_of_some_clients_has_its_own_spectrum() -> None:
    full = random_quadratics(4, 3, seed=0)
    taken = full.take(Clients(4, np.array([2, 0])))
    v = np.ones((2, 3))
    assert np.allclose(taken.prox(v, 0.5), full.prox(np.ones((4, 3)), 0.5)[[2, 0]], rtol=1e-14)
    doubled = dataclasses.replace(taken, A=2 * taken.A)
    g = doubled.grad(doubled.prox(v, 0.5)) + (doubled.prox(v, 0.5) - v) / 0.5
    assert np.abs(g).max() < 1e-13  # rounding: entries are of order one


def test_a_proximal_problem_that_is_not_convex_is_refused() -> None:
    concave = scalar_quadratics([1.0, -2.0])
    assert np.isfinite(concave.prox(np.ones((2, 1)), 0.49)).all()
    with pytest.raises(InvalidInput, match="is not a convex problem: it needs step < 1/h"):
        concave.prox(np.ones((2, 1)), 0.51)


def test_the_noise_of_sampled_gradients_stays_below_sigma() -> None:
    rng = np.random.default_rng(0)
    f = ragged_logistic()
    sigma = float(constant(f, "sigma"))
    for x in (np.zeros((1, f.d)), 3 * rng.standard_normal((1, f.d))):
        for client in range(f.n):
            count = int(f.n_samples[client])
            every = np.stack([f.sample_grad(x, np.full((f.n, 1), k))[client] for k in range(count)])
            assert ((every - every.mean(axis=0)) ** 2).sum(axis=-1).mean() <= sigma**2
    b = rng.standard_normal((2, 5, 3))
    additive = SampledQuadratic(np.ones((2, 5, 3)), b)
    spread = ((b - b.mean(axis=1, keepdims=True)) ** 2).sum(axis=-1).mean(axis=-1).max()
    assert float(constant(additive, "sigma")) == pytest.approx(np.sqrt(spread), rel=1e-14)
    with pytest.raises(NotAvailable, match="no certified constant 'sigma'"):
        constant(rough_samples(2, 20.0, 1.0), "sigma")
