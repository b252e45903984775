"""A-FedPD: identities of its variables, one client a round."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from helpers import close, play, problem, start, x0_of
from primal_dual_runs import active_sets, runs, schedules

from fedtheory.algorithms import AFedPD, FedADMM, FedDR, FedDyn, FedPD, FedProx
from fedtheory.core.participation import Clients, Fixed, Uniform
from fedtheory.core.problem import constant, gradient, objective
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.measures import metrics, primal_dual
from problems.dual_drift import opposite_clients
from problems.nonconvex import random_cosines
from problems.prescribed_quadratics import prescribed_quadratics
from problems.quadratics import scalar_quadratics

# ---- identities of A-FedPD -----------------------------------------------------------------------------------------


@schedules
@pytest.mark.parametrize("name", ["quadratics", "cosines"])
@pytest.mark.parametrize("local", [Exact(), GradientSteps(2, 0.2)], ids=["exact", "steps"])
def test_the_servers_model_extrapolates_and_the_deviations_sum_to_zero(name, local, schedule) -> None:
    """AFEDPD-D1, AFEDPD-D2 and AFEDPD-S1: theta^{t+1} = 2 bar^{t+1} - bar^t, lambar^{t+1} = rho (bar^{t+1} - bar^t), sum mu_i = 0."""
    f, rho = problem(name), 1.7
    for old, new in pairwise(runs(AFedPD(rho, local), f, 100, schedule)):
        if new is old:
            continue
        close(new.x, 2 * new.x_bar - old.x_bar, 1e-12)
        close(new.lam, rho * (new.x_bar - old.x_bar), 1e-12)
        close(new.lam_i.mean(axis=0, keepdims=True), new.lam, 1e-12)
        close(new.mu_i.sum(axis=0), np.zeros(f.d), 1e-12)


@schedules
def test_a_round_leaves_absent_clients_alone(schedule) -> None:
    """Bit for bit: nothing that belongs to a client is written unless it takes part, virtual update or not."""
    f = problem("cosines")
    states = runs(AFedPD(1.7, GradientSteps(2, 0.2)), f, 30, schedule)
    for old, new, here in zip(states, states[1:], active_sets(f, schedule, 30), strict=False):
        absent = np.setdiff1d(np.arange(f.n), here)
        np.testing.assert_array_equal(new.mu_i[absent], old.mu_i[absent])
        np.testing.assert_array_equal(new.x_i[absent], old.x_i[absent])
        if here:
            assert np.abs(new.lam_i[absent] - old.lam_i[absent]).max(initial=1.0) > 1e-12


def test_deviations_are_what_the_local_problem_sees() -> None:
    """D3: exact local work solves f_i + <mu_i, .> + (rho/2)||. - bar^t||^2, whatever theta^t is."""
    f, rho = problem("cosines"), 1.7
    for old, new in pairwise(runs(AFedPD(rho), f, 10)):
        slope = f.grad(new.x_i) + old.mu_i + rho * (new.x_i - old.x_bar)
        close(slope, np.zeros_like(slope), 1e-12)


@schedules
def test_feddyns_server_dual_is_the_increments_sum(schedule) -> None:
    """lam^{t+1} = lam^t + rho (1/n) sum over active clients of (x_i^{t+1} - x^t), as equation (7) has it."""
    f, rho = problem("quadratics"), 0.9
    states = runs(FedDyn(rho), f, 80, schedule)
    active = active_sets(f, schedule, 80)
    for (old, new), here in zip(pairwise(states), active, strict=True):
        increment = sum((new.x_i[i] - old.x[0] for i in here), np.zeros(f.d)) * rho / f.n
        close(new.lam[0], old.lam[0] + increment, 1e-12)
        close(new.lam_i.mean(axis=0), new.lam[0], 1e-12)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_identical_clients_make_participation_irrelevant(m) -> None:
    """D9: bar^t - x* shrinks by rho/(a + rho) a round, however few take part."""
    a, rho = 0.6, 1.1
    f = scalar_quadratics([a] * 5, [2.0] * 5)
    states = runs(AFedPD(rho), f, 30, Uniform(m))
    for t, state in enumerate(states):
        assert state.x_bar[0, 0] - 2 == pytest.approx((rho / (a + rho)) ** t * (start(f)[0] - 2), abs=1e-13)


@pytest.mark.parametrize("m", [1, 3, 5])
def test_few_local_steps_are_momentum(m) -> None:
    """D6: with c = (1 - lr (a + rho))^K, e = bar - x* obeys e^{t+1} = ((1-c) rho/(a+rho) + c) e^t + c (e^t - e^{t-1}); equal clients."""
    a, rho, lr, steps = 0.6, 1.1, 0.15, 3
    f = scalar_quadratics([a] * 5, [2.0] * 5)
    states = runs(AFedPD(rho, GradientSteps(steps, lr)), f, 30, Uniform(m))
    e = [state.x_bar[0, 0] - 2 for state in states]
    c = (1 - lr * (a + rho)) ** steps
    for t in range(1, 30):
        expected = ((1 - c) * rho / (a + rho) + c) * e[t] + c * (e[t] - e[t - 1])
        assert e[t + 1] == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_gossip_rate_of_the_deviations(m) -> None:
    """D8: for one curvature a, E s shrinks by 1 - (1 - kappa^2)(m - 1)/(n - 1), kappa = a/(a + rho); all subsets enumerated."""
    n, a, rho = 5, 0.7, 1.3
    f = prescribed_quadratics(n, 1, L=a, mu=a, zeta=2.0, seed=1)
    state = play(AFedPD(rho), f, x0_of(f), 2, Fixed((0, 1, 3)))[-1]
    at_star = AFedPD(rho).solution_state(f, f.solution()[None, :]).mu_i

    def s(state):
        return ((state.mu_i - at_star) ** 2).mean(axis=(-2, -1))

    subsets = np.array(list(combinations(range(n), m)))
    after = AFedPD(rho).round(f, state, Clients(n, subsets), Key(0, 0))
    kappa = a / (a + rho)
    assert s(after).mean() == pytest.approx(s(state) * (1 - (1 - kappa**2) * (m - 1) / (n - 1)), rel=1e-13)
    if m == 1:
        assert np.array_equal(after.mu_i, np.broadcast_to(state.mu_i, after.mu_i.shape))


@pytest.mark.parametrize("seed", range(4))
def test_guarantee_with_all_clients_on_sums_of_cosines(seed) -> None:
    """Repaired Theorem 1: exact solves, rho >= (3 + sqrt 21) L; the one-step form, and the running average for every T."""
    f = random_cosines(6, 3, seed=seed)
    L = float(constant(f, "L"))
    rho = (3 + 21**0.5) * L
    x0 = 3 * x0_of(f)
    states = play(AFedPD(rho), f, x0, 200)[1:]
    slope = np.array([float((gradient(f, s.x_bar) ** 2).sum()) for s in states])
    level = np.array([float(objective(f, s.x_bar)) for s in states])
    before = [s.x_bar - s.lam / rho for s in states]  # the average one round earlier, by the extrapolation identity
    apart = np.array([((s.x_i - b) ** 2).sum(axis=-1).mean() for s, b in zip(states, before, strict=True)])
    potential = level + L**2 / (4 * rho) * apart
    assert np.all(potential[1:] <= potential[:-1] - slope[:-1] / (4 * rho) + 1e-14)
    bound = 4 * rho * (level[0] - level.min()) + L**2 * apart[0]  # f* <= the smallest value seen: a smaller right side
    assert np.all(np.cumsum(slope) <= bound) and slope[0] > 1e-3


# ---- one client a round ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quadratics", "cosines"])
def test_with_one_client_a_round_it_is_fedprox(name) -> None:
    """AFEDPD-D4: no deviation is ever learnt, bit for bit, and bar^t is FedProx's model."""
    f = problem(name)
    ours = runs(AFedPD(2.3), f, 40, Uniform(1))
    prox = runs(FedProx(2.3), f, 40, Uniform(1))
    for a, b in zip(ours, prox, strict=True):
        assert not np.any(a.mu_i)
        close(a.x_bar, b.x, 1e-11)


@pytest.mark.parametrize("rho", [0.5, 2.0, 10.0])
def test_noise_floor_with_one_of_two_opposite_clients(rho) -> None:
    """D13: the mean over all 2^T schedules is the moment recursion, whose limit a^3 b^2/(a + 2 rho) stays above zero."""
    a, b, rounds = 1.3, 0.8, 9
    f = opposite_clients(a, b)
    lots = np.array(list(product([0, 1], repeat=rounds)))
    algorithm = AFedPD(rho)
    state, moment = algorithm.init(f, np.array([[0.4]])), 0.4**2
    for t in range(rounds):
        state = algorithm.round(f, state, Clients(2, lots[:, t : t + 1]), Key(0, t))
        moment = (rho**2 * moment + (a * b) ** 2) / (a + rho) ** 2
        measured = primal_dual.at_average(metrics.stationarity)(f, state)
        assert measured.mean() == pytest.approx(a**2 * moment, rel=1e-13)
    for _ in range(2000):
        moment = (rho**2 * moment + (a * b) ** 2) / (a + rho) ** 2
    assert a**2 * moment == pytest.approx(a**3 * b**2 / (a + 2 * rho), rel=1e-12)
    together = runs(AFedPD(rho), f, 300)[-1]
    assert np.abs(together.x_bar).max() < 1e-12, "with both clients the floor is gone"


def test_noise_floor_in_symbols() -> None:
    """D13 from the round itself: bar' = (rho bar +- a b)/(a + rho); the stationary mean square and gradient follow."""
    sympy = pytest.importorskip("sympy")
    a, b, rho, theta, v = sympy.symbols("a b rho theta v", positive=True)
    f, algorithm = opposite_clients(a, b), AFedPD(rho)
    state = algorithm.init(f, np.array([[theta]], dtype=object))
    after = []
    for i in (0, 1):
        first = algorithm.round(f, state, Clients(2, np.array([i])), Key(0, 0))
        for j in (0, 1):
            second = algorithm.round(f, first, Clients(2, np.array([j])), Key(0, 1))
            bar, new = first.x_bar[0, 0], second.x_bar[0, 0]
            assert sympy.simplify(new - (rho * bar + (-1) ** j * a * b) / (a + rho)) == 0
            assert all(sympy.simplify(entry) == 0 for entry in second.mu_i.ravel())
            assert sympy.simplify(second.x[0, 0] - (2 * new - bar)) == 0
        after.append(first.x_bar[0, 0])
    mean_square = sympy.expand(sympy.simplify(sum(e**2 for e in after) / 2)).subs(theta, sympy.sqrt(v))
    (floor,) = sympy.solve(sympy.Eq(mean_square, v), v)
    slope = gradient(f, np.array([[theta]], dtype=object))[0, 0]
    assert sympy.simplify((slope**2).subs(theta, sympy.sqrt(floor)) - a**3 * b**2 / (a + 2 * rho)) == 0
    assert sympy.simplify((slope**2).subs(theta, sympy.sqrt(floor)).subs({a: 1, b: 1}) - 1 / (1 + 2 * rho)) == 0


def test_closed_form_of_one_round_with_all_clients() -> None:
    """SymPy: A-FedPD, FedADMM, FedDyn and FedPD have one and the same two-round model, the printed FedDyn has not."""
    sympy = pytest.importorskip("sympy")
    a1, a2, c1, c2, rho, theta = sympy.symbols("a1 a2 c1 c2 rho theta", positive=True)
    f, x0 = scalar_quadratics(np.array([a1, a2]), np.array([c1, c2])), np.array([[theta]], dtype=object)
    family = (
        FedADMM(rho),
        FedADMM(rho, averages="active"),
        FedDyn(rho),
        FedPD(1 / rho, init_dual="zero"),
        FedDR(1 / rho, 1),
    )
    base = play(AFedPD(rho), f, x0, 2)[-1].x[0, 0]
    for algorithm in family:
        assert sympy.simplify(play(algorithm, f, x0, 2)[-1].x[0, 0] - base) == 0
    assert sympy.simplify(play(FedDyn(rho, server_dual="old"), f, x0, 2)[-1].x[0, 0] - base) != 0
