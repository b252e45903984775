"""Scaffnew, RandProx, 5GCS, APDA-Inexact: what is the same method, references in plain loops, contraction."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import close, composite_solution, play, problem, start, x0_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import (
    APDA,
    FedPD,
    FiveGCS,
    GradientDescent,
    RandProx,
    Scaffnew,
)
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import gradient
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.core.regularisers import L1, Regularised, Ridge
from fedtheory.local.solvers import GradientSteps
from problems.quadratics import random_quadratics

ROUNDING = 1e-12  # the same arithmetic in another order


# ---- Scaffnew and RandProx --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quadratics", "logistic", "sines"])
def test_scaffnew_that_always_communicates_is_gradient_descent(name) -> None:
    """And its control variates are h_i = grad f_i(x) - grad f(x) of the round before."""
    f, lr = problem(name), 0.1
    states = play(Scaffnew(lr, 1), f, x0_of(f), 6)
    for old, new, descent in zip(states, states[1:], play(GradientDescent(lr), f, x0_of(f), 6)[1:], strict=False):
        close(new.x, descent.x, ROUNDING)
        close(new.h_i, f.grad(old.x) - gradient(f, old.x), 1e-11)


COINS = [True, False, False, True, True, False, True, False]


def test_scaffnew_against_a_loop() -> None:
    f, lr, p = problem("quadratics"), 0.2, 0.4
    algorithm = Scaffnew(lr, p)
    state = algorithm.init(f, x0_of(f))
    x, h = np.repeat(x0_of(f), f.n, axis=0), np.zeros((f.n, f.d))
    for r, sends in enumerate(COINS):
        ahead = np.stack([x[i] - lr * (f.A[i] @ x[i] - f.b[i] - h[i]) for i in range(f.n)])
        x = np.repeat(ahead.mean(axis=0)[None, :], f.n, axis=0) if sends else ahead
        h = h + p / lr * (x - ahead)
        state = algorithm.round(f, state, None, ScriptedKey(r, {"communicate": sends}))
        close(state.x_i, x, ROUNDING)
        close(state.h_i, h, ROUNDING)
        close(state.x[0], ahead.mean(axis=0), ROUNDING)


def test_scaffnew_is_randprox() -> None:
    """u_i = -h_i, with the same coins."""
    f = problem("quadratics")
    ours, theirs = (play(m, f, x0_of(f), 30, seed=[1, 2]) for m in (RandProx(0.3, 0.4), Scaffnew(0.3, 0.4)))
    for a, b in zip(ours, theirs, strict=True):
        close(a.x_i, b.x_i, ROUNDING)
        close(a.u_i, -b.h_i, 1e-11)
    assert np.abs(ours[-1].x_i[0] - ours[-1].x_i[1]).max() > 1e-6, "the two seeds differ"


def test_randprox_against_its_definition() -> None:
    """u^+ = u + R(prox_{tau H*}(u + tau xh) - u)/(1 + omega), R(r) = r/p or 0, omega = 1/p - 1, H* the indicator of zero sum."""
    f, lr, p, relax = problem("quadratics"), 0.2, 0.4, 0.6
    tau, omega = relax * p / lr, 1 / p - 1
    algorithm = RandProx(lr, p, relax)
    state = algorithm.init(f, x0_of(f))
    x, u = np.repeat(x0_of(f), f.n, axis=0), np.zeros((f.n, f.d))
    for r, sends in enumerate(COINS):
        ahead = x - lr * (f.grad(x) + u)
        target = u + tau * ahead
        step = (target - target.mean(axis=0)) - u
        new = u + (step / p if sends else 0 * step) / (1 + omega)
        x, u = ahead - lr * (1 + omega) * (new - u), new
        state = algorithm.round(f, state, None, ScriptedKey(r, {"communicate": sends}))
        close(state.x_i, x, ROUNDING)
        close(state.u_i, u, ROUNDING)


@given(seed=st.integers(0, 10**6), p=st.floats(0.05, 1.0), share=st.floats(0.05, 1.0), relax=st.floats(0.1, 1.0))
@settings(max_examples=60, deadline=None)
def test_scaffnew_contracts_in_expectation(seed, p, share, relax) -> None:
    """Over both coins, from any state whose duals have zero sum; RandProx with lr tau = relax p."""
    f = random_quadratics(3, 2, L=5.0, mu=1.0, seed=seed)
    lr = share / 5.0
    rng = np.random.default_rng(seed)
    x_star = f.solution()[None, :]
    for algorithm in (Scaffnew(lr, p), RandProx(lr, p, relax)):
        name = "h_i" if isinstance(algorithm, Scaffnew) else "u_i"
        weight = 1.0 if name == "h_i" else relax
        dual = rng.standard_normal((f.n, f.d))
        fixed = algorithm.solution_state(f, x_star)
        state = dataclasses.replace(fixed, x_i=rng.standard_normal((f.n, f.d)), **{name: dual - dual.mean(axis=0)})

        def size(s, fixed=fixed, name=name, weight=weight):
            duals = np.sum((getattr(s, name) - getattr(fixed, name)) ** 2)
            return np.sum((s.x_i - x_star) ** 2) + lr**2 / (weight * p**2) * duals

        heads, tails = (
            size(algorithm.round(f, state, None, ScriptedKey(0, {"communicate": c}))) for c in (True, False)
        )
        mean = heads if p == 1.0 else p * heads + (1 - p) * tails
        assert mean <= max(1 - lr * 1.0, 1 - weight * p**2) * size(state) * (1 + 1e-12)


def test_scaffnew_keeps_the_solution_whatever_the_coins() -> None:
    f = problem("quadratics")
    x = f.solution()[None, :]
    for algorithm in (Scaffnew(0.2, 0.4), RandProx(0.2, 0.4, 0.5)):
        fixed = state = algorithm.solution_state(f, x)
        for r, sends in enumerate(COINS):
            state = algorithm.round(f, state, None, ScriptedKey(r, {"communicate": sends}))
        close(state.x_i, fixed.x_i, ROUNDING)
        assert algorithm.traffic(ScriptedKey(0, {"communicate": False}), None) == (0, 0)


@pytest.mark.parametrize("h", [L1(0.3), Ridge(0.7)], ids=["l1", "ridge"])
def test_randprox_with_a_regulariser_solves_the_composite_problem(h) -> None:
    f = problem("quadratics")
    x = composite_solution(f, h)
    state = play(RandProx(1.0, 0.5), Regularised(f, h), x0_of(f), 1500, seed=3)[-1]
    close(state.x, x, 1e-8)
    algorithm = RandProx(1.0, 0.5)
    fixed = algorithm.solution_state(f, x)
    for sends in (True, False):
        new = algorithm.round(Regularised(f, h), fixed, None, ScriptedKey(0, {"communicate": sends}))
        close(new.x_i, fixed.x_i, 1e-11)


@pytest.mark.parametrize("bad", [0, -0.1, 1.1, float("nan")])
def test_probabilities_of_communication_lie_in_the_unit_interval(bad) -> None:
    for method in (Scaffnew, RandProx):
        with pytest.raises(InvalidInput, match=r"must lie in \(0, 1\], got"):
            method(0.1, bad)


# ---- 5GCS and APDA-Inexact --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quadratics", "logistic", "finite-sum"])
def test_5gcs_and_apda_at_their_simplest_are_fedpd(name) -> None:
    """Exact solves, zero duals. 5GCS: mu = 0, n tau = 1/eta, x_0 = xh, lam = -u. APDA: beta_y = 0, theta = 1, eta_x eta_y = 1."""
    f, eta = problem(name), 0.3
    pd = play(FedPD(eta, init_dual="zero"), f, x0_of(f), 8)
    gcs = play(FiveGCS(eta, penalty=1 / eta), f, x0_of(f), 8)
    apda = play(APDA(eta, eta_y=1 / eta, beta_y=0, theta=1), f, x0_of(f), 8)
    for a, b, c in zip(pd[1:], gcs[1:], apda[1:], strict=True):
        close(-b.u_i, a.lam_i, 1e-10)
        close(b.x - eta * b.v, a.x, 1e-10)  # the point the next round is solved around
        close(c.x_i, a.x_i, 1e-10)
        close(c.x_i - eta * c.ahead_i, a.x0_i - eta * a.lam_i, 1e-10)  # Douglas-Rachford's variable


def test_5gcs_against_the_papers_scaling() -> None:
    """F_i = (f_i - mu/2 ||.||^2)/n, u_i = grad F_i, tau = 1/(2 gamma n), cohorts of two."""
    f, gamma, mu = problem("quadratics"), 0.4, 0.15
    n, tau = f.n, 1 / (2 * 0.4 * f.n)
    algorithm = FiveGCS(gamma, mu)
    state = algorithm.init(f, x0_of(f))
    x, u = start(f), np.zeros((n, f.d))
    for r, cohort in enumerate([[0, 2], [1, 3], [3, 0], [2, 1]]):
        v = u.sum(axis=0)
        ahead = (x - gamma * v) / (1 + gamma * mu)
        for i in cohort:
            hessian = (f.A[i] - mu * np.eye(f.d)) / n
            y = np.linalg.solve(hessian + tau * np.eye(f.d), f.b[i] / n + tau * ahead + u[i])
            u[i] = hessian @ y - f.b[i] / n
        x = ahead - gamma * n / len(cohort) * (u.sum(axis=0) - v)
        state = algorithm.round(f, state, Clients(n, np.array(cohort)), Key(0, r))
        close(state.x[0], x, 1e-11)
        close(state.u_i, n * u, 1e-11)
        close(state.v[0], u.sum(axis=0), 1e-11)


def test_apda_against_a_loop() -> None:
    f, eta_x, eta_y, beta_y, theta, steps = problem("quadratics"), 0.2, 0.3, 0.4, 0.9, 2
    states = play(APDA(eta_x, GradientSteps(steps, 0.1), eta_y, beta_y, theta), f, x0_of(f), 5)
    x, y, a = np.repeat(x0_of(f), f.n, axis=0), np.zeros((f.n, f.d)), np.zeros((f.n, f.d))
    for state in states[1:]:
        near = x
        for _ in range(steps):
            near = near - 0.1 * (f.grad(near) + (near - (x - eta_x * a)) / eta_x)
        g = f.grad(near)
        x = x - eta_x * (g + a)
        w = y + eta_y * x - eta_y * beta_y * (y + g)
        new = w - w.mean(axis=0)
        y, a = new, new + theta * (new - y)
        close(state.x_i, x, ROUNDING)
        close(state.y_i, y, ROUNDING)
        close(state.ahead_i, a, ROUNDING)


def test_defaults_of_apda_are_table_2s() -> None:
    eta_y, beta_y, theta = APDA(1e-3, mu=1e-2)._parameters()
    assert (eta_y, beta_y) == (pytest.approx(31.25), pytest.approx(1e-2))
    assert theta == pytest.approx(max(2 / (2 + 1e-5), 1 - 0.3125))
    along = APDA(along_batch([1e-3, 1.0]), mu=3.0, beta_y=1e-2)._parameters()[2]
    assert along[:, 0, 0] == pytest.approx([2 / 2.003, 1 - 1e-2 / 32])
    sympy = pytest.importorskip("sympy")
    with pytest.raises(InvalidInput, match="give theta itself"):
        APDA(0.1, mu=sympy.Symbol("mu"))._parameters()


@pytest.mark.parametrize(
    ("eta", "mu", "penalty"), [(0.1, 6.0, None), (0.1, -1.0, None), (0.1, 1.0, 0.5), (0.1, float("nan"), None)]
)
def test_5gcs_needs_a_penalty_above_the_convexity_it_splits_off(eta, mu, penalty) -> None:
    with pytest.raises(InvalidInput, match="5GCS needs 0 <= mu < penalty"):
        FiveGCS(eta, mu, penalty=penalty)
