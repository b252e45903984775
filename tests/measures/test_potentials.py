"""Potentials fall where the theory says they do, by as much, and a planted fault makes them rise."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import play, start

from fedtheory.algorithms import AFedPD, FedPD, FedSLR
from fedtheory.core.arrays import average
from fedtheory.core.problem import constant, gradient
from fedtheory.core.regularisers import L1, regularised, shared_regulariser
from fedtheory.measures.metrics import value
from fedtheory.measures.potentials import a_fedpd, decrease, dual_inertia, fedslr, fedslr_decrease, fedslr_subgradient
from fedtheory.measures.primal_dual import lagrangian
from fedtheory.running.runner import run
from problems.low_rank import low_rank_regression, robust_low_rank_regression
from problems.quadratics import random_indefinite, random_quadratics, scalar_quadratics
from problems.separable import random_sines

#: potentials of size one are sums of hundreds of terms, so rounding is below this
ROUNDING = 1e-13

INSTANCES = {
    "indefinite": lambda seed: random_indefinite(4, 3, seed=seed),
    "indefinite + l1": lambda seed: regularised(random_indefinite(4, 3, seed=seed), L1(0.3)),
    "robust low rank": lambda seed: robust_low_rank_regression(seed=seed).problem,
    "low rank": lambda seed: low_rank_regression(4, 4, 3, nonzeros=2, samples=30, seed=seed).problem,
    "sines": lambda seed: random_sines(4, 2, seed=seed),
}


def squares(x):
    """mean_i ||x_i||^2 of one run."""
    return float(np.mean(np.sum(x * x, axis=-1)))


# ---- FedSLR -------------------------------------------------------------------------------------------------------


def excess(f, eta, states, first=0):
    """D_{t+1} - D_t + C mean ||dw_i||^2 + c ||dw||^2 by round, in units of the potential; Lemma 3 says it is not positive."""
    big, small = fedslr_decrease(eta, float(constant(f, "L")))
    found = []
    for old, new in zip(states[first:-1], states[first + 1 :], strict=True):
        before, after = (float(fedslr(eta)(f, s)) for s in (old, new))
        found.append(
            (after - before + big * squares(new.x_i - old.x_i) + small * squares(new.x - old.x)) / (1 + abs(before))
        )
    return np.array(found)


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("x", [0.1, 0.3, 0.45, 0.49])
def test_fedslr_falls_by_what_lemma_3_says(name, x) -> None:
    for seed in range(3):
        f = INSTANCES[name](seed)
        eta = x / float(constant(f, "L"))
        states = play(FedSLR(eta), f, start(f)[None], 12)
        assert excess(f, eta, states).max() <= ROUNDING
        fell = decrease([float(fedslr(eta)(f, s)) for s in states])
        assert fell.shape == (12,) and (fell >= -ROUNDING * (1 + np.abs(fell).max())).all()


def test_the_coefficient_of_lemma_3_cannot_be_larger() -> None:
    """A concave quadratic without h attains it: every one of the three steps of the proof is an equality there."""
    f, L = scalar_quadratics([-1.0, -1.0], [0.3, -0.8]), 1.0
    for eta in (0.1, 0.3, 0.45):
        states = play(FedSLR(eta), f, start(f)[None], 8)
        big, small = fedslr_decrease(eta, L)
        D = np.array([float(fedslr(eta)(f, s)) for s in states])
        own = np.array([squares(new.x_i - old.x_i) for old, new in zip(states, states[1:], strict=False)])
        common = np.array([squares(new.x - old.x) for old, new in zip(states, states[1:], strict=False)])
        np.testing.assert_allclose(decrease(D), big * own + small * common, rtol=0, atol=1e-13 * np.abs(D).max())
        more = (decrease(D) < 1.02 * big * own + small * common)[1:]  # in round 0 no client moves
        assert more.all(), "planted fault: 2 % more"


def test_steps_beyond_the_limit_and_wrong_signs_make_it_rise() -> None:
    """The coefficient changes sign at eta = 1/(2L) (the paper's C2), and a dual of the wrong sign is no dual.

    -w^2/2 + |w|: the server stays at zero, and w_{i,t+1} = -(x/(1-x)) w_{i,t} exactly (FEDSLR-N2).
    """
    f = regularised(scalar_quadratics([-1.0], [0.0]), L1(1.0))
    for eta in (0.45, 0.49, 0.5, 0.51):
        states = play(FedSLR(eta, init_dual="zero"), f, np.full((1, 1), 0.1), 10)[1:]
        assert not any(s.x.any() for s in states)
        D = np.array([float(fedslr(eta)(f, s)) for s in states])
        np.testing.assert_allclose(D[1:] / D[:-1], (eta / (1 - eta)) ** 2, rtol=1e-12)
        assert D[0] > 0 and (decrease(D) > 0).all() == (eta < 0.5)
    for name, make in INSTANCES.items():
        g = make(0)
        eta = 0.3 / float(constant(g, "L"))
        assert excess(g, eta, play(WrongServer(eta), g, start(g)[None], 12)).max() > 1e-6, name


class WrongServer(FedSLR):
    """Planted fault: the server adds the duals instead of subtracting them."""

    def round(self, problem, state, clients, key):
        new = super().round(problem, state, clients, key)
        return dataclasses.replace(new, x=average(new.x_i) + self.eta * average(new.gamma_i))


class WrongDual(FedSLR):
    """Planted fault: the duals move the wrong way."""

    def round(self, problem, state, clients, key):
        new = super().round(problem, state, clients, key)
        return dataclasses.replace(new, gamma_i=2 * state.gamma_i - new.gamma_i)


def test_with_duals_zero_the_first_round_may_rise() -> None:
    """I-HET2 (FEDSLR-N11): 0.5, 0.56, 0.5024 for L = b = 1, x = 1/4; from round 1 on it falls."""
    f = scalar_quadratics([1.0, 1.0], [1.0, -1.0])
    states = play(FedSLR(0.25, init_dual="zero"), f, np.zeros((1, 1)), 10)
    found = [float(fedslr(0.25)(f, s)) for s in states]
    np.testing.assert_allclose(found[:3], [0.5, 0.56, 0.5024], rtol=1e-14)
    assert excess(f, 0.25, states, first=1).max() <= ROUNDING < excess(f, 0.25, states).max()


@pytest.mark.parametrize("name", INSTANCES)
def test_the_potential_lies_above_the_objective(name) -> None:
    """D_t >= f(w_t) + h(w_t) + (1/(2 eta) - L/2) mean ||w_t - w_{i,t}||^2 (FEDSLR-N4)."""
    f = INSTANCES[name](1)
    L = float(constant(f, "L"))
    eta = 0.45 / L

    def slack(method):
        return [
            float(fedslr(eta)(f, s) - value(f, s)) - (1 / eta - L) / 2 * squares(s.x - s.x_i)
            for s in play(method, f, start(f)[None], 10)
        ]

    assert min(slack(FedSLR(eta))) >= -1e-12
    assert min(slack(WrongDual(eta))) < -1e-6, "planted fault"


def test_potentials_are_metrics_with_batches() -> None:
    f = robust_low_rank_regression().problem
    etas = np.array([0.1, 0.3])[:, None, None] / float(constant(f, "L"))
    together = run(FedSLR(etas), f, start(f), 5, metrics={"D": fedslr(etas)})["D"]
    assert together.shape == (2, 6)
    for k in range(2):
        alone = run(FedSLR(float(etas[k, 0, 0])), f, start(f), 5, metrics={"D": fedslr(float(etas[k, 0, 0]))})["D"]
        np.testing.assert_allclose(together[k], alone, rtol=1e-12)
    assert (decrease(together) > 0).all()


@pytest.mark.parametrize("name", INSTANCES)
def test_the_subgradient_of_the_potential(name) -> None:
    """Block by block: the x block holds zero, the others are gradients (FEDSLR-N5)."""
    f = INSTANCES[name](2)
    eta = 0.4 / float(constant(f, "L"))
    for state in play(FedSLR(eta), f, start(f)[None], 6)[1:]:
        common = average(state.gamma_i) + (state.x - average(state.x_i)) / eta
        own = f.grad(state.x_i) - state.gamma_i - (state.x - state.x_i) / eta
        dual = state.x - state.x_i
        server = float(shared_regulariser(f).distance(state.x, common)[0])
        assert server < 1e-11
        by_hand = np.sqrt(server**2 + ((own**2).sum() + (dual**2).sum()) / f.n**2)
        assert float(fedslr_subgradient(eta)(f, state)) == pytest.approx(by_hand, rel=1e-8)


# ---- FedPD and A-FedPD ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["indefinite", "sines"])
def test_the_augmented_lagrangian_of_fedpd_falls(name) -> None:
    """FEDPD-D1; the Lagrangian is FedSLR's potential with lambda_i = -gamma_i and no h."""
    for seed in range(3):
        f = INSTANCES[name](seed)
        eta = 0.45 / float(constant(f, "L"))
        states = play(FedPD(eta), f, start(f)[None], 12)
        found = np.array([float(lagrangian(1 / eta)(f, s)) for s in states])
        big, small = fedslr_decrease(eta, float(constant(f, "L")))
        for r, (old, new) in enumerate(zip(states, states[1:], strict=False)):
            owed = big * squares(new.x_i - old.x_i) + small * squares(new.x - old.x)
            assert decrease(found)[r] >= owed - ROUNDING * (1 + np.abs(found).max())
        same = [float(fedslr(eta)(f, s)) for s in play(FedSLR(eta), f, start(f)[None], 12)]
        np.testing.assert_allclose(found, same, rtol=1e-11)


@pytest.mark.parametrize("name", ["indefinite", "sines"])
def test_the_potential_of_a_fedpd_falls_by_the_gradient(name) -> None:
    """AFEDPD-T1R (i): by ||grad f(xbar)||^2 / (4 rho) a round, from round 1 on."""
    for seed in range(3):
        f = INSTANCES[name](seed)
        L = float(constant(f, "L"))
        rho = 7.6 * L
        states = play(AFedPD(rho), f, start(f)[None], 15)[1:]
        fell = decrease([float(a_fedpd(rho, L)(f, s)) for s in states])
        owed = np.array([squares(gradient(f, average(s.x_i))) / (4 * rho) for s in states[:-1]])
        assert (fell >= owed - ROUNDING).all()
        assert (fell < 20 * owed).any(), "planted fault: a twentieth of rho"


# ---- DualFL -------------------------------------------------------------------------------------------------------


def dual_ascent(f, nu, rho, rounds, sign=1):
    """Accelerated gradient with step nu on sum_j f_j^*(lam_j), sum_j lam_j = 0; yields (lam, y, t)."""
    lam = y = np.zeros((f.n, f.d))
    t = 1.0
    for _ in range(rounds):
        theta = np.linalg.solve(f.A, (f.b + y)[..., None])[..., 0]
        new = y - nu * (theta - theta.mean(axis=0))
        following = (1 - rho * t * t + np.sqrt((1 - rho * t * t) ** 2 + 4 * t * t)) / 2
        beta = (t - 1) / following * (1 - following * rho) / (1 - rho)
        y, lam, t = new + sign * beta * (new - lam), new, following
        yield lam, y, t


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_potential_of_dualfl_falls_by_one_minus_rho_t(share) -> None:
    for seed in range(4):
        f = random_quadratics(4, 3, mu=0.05, seed=seed)
        mu, L = float(constant(f, "mu")), float(constant(f, "L"))
        rho, star = share * mu / L, f.grad(f.solution()[None])

        def conjugate(lam, f=f):
            shifted = lam + f.b
            return 0.5 * (shifted * np.linalg.solve(f.A, shifted[..., None])[..., 0]).sum()

        def potentials(sign, f=f, mu=mu, rho=rho, star=star, conjugate=conjugate):
            steps = list(dual_ascent(f, mu, rho, 40, sign))
            found = [float(dual_inertia(conjugate(l) - conjugate(star), l, y, star, mu, rho, t)) for l, y, t in steps]
            return np.array(found), np.array([t for _, _, t in steps])

        V, t = potentials(1)
        first = (star**2).sum() / (2 * mu)  # before round 1, lam = y = 0
        factors = 1 - rho * np.concatenate([[1.0], t[:-1]])
        assert (factors * np.concatenate([[first], V[:-1]]) * (1 + 1e-12) + 1e-13 * first >= V).all()
        wrong, _ = potentials(-1)
        assert (wrong[1:] > factors[1:] * wrong[:-1] * (1 + 1e-9)).any(), "planted fault: inertia of the wrong sign"


# ---- the parts ----------------------------------------------------------------------------------------------------


def test_the_augmented_lagrangian_is_its_formula() -> None:
    f = regularised(random_quadratics(3, 2, seed=1), L1(0.4))
    rng = np.random.default_rng(2)
    x, x_i, lam_i = rng.standard_normal((1, 2)), rng.standard_normal((3, 2)), rng.standard_normal((3, 2))
    by_hand = 0.4 * np.abs(x).sum()
    for i in range(3):
        own = x_i[i] @ f.A[i] @ x_i[i] / 2 - f.b[i] @ x_i[i]
        by_hand += (own + lam_i[i] @ (x_i[i] - x[0]) + 0.7 / 2 * ((x_i[i] - x[0]) ** 2).sum()) / 3
    assert float(lagrangian(0.7)(f, SimpleNamespace(x=x, x_i=x_i, lam_i=lam_i))) == pytest.approx(by_hand, rel=1e-13)


def test_decrease_is_along_rounds() -> None:
    np.testing.assert_array_equal(decrease([[3.0, 1.0, 2.0], [0.0, 0.0, -1.0]]), [[2.0, -1.0], [0.0, 1.0]])
