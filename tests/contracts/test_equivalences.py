"""Methods that are the same method, iterate by iterate; exact golden numbers; structural identities.

Where a reference implementation is needed it is written here in plain NumPy loops, without the package.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction as Q
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from helpers import ROUNDING, assert_same_models, close, play, problem, ragged_logistic, start, x0_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import (
    AcceleratedGradient,
    FedAvg,
    FedDane,
    FedPD,
    FedProx,
    FedSplit,
    GradientDescent,
    Scaffold,
    TripleMomentum,
    VrlSgd,
    every,
)
from fedtheory.core.participation import All, Bernoulli, Clients, Fixed, Uniform
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.local import execution as blocks
from fedtheory.local.inexact import ToAccuracy
from fedtheory.local.solvers import AcceleratedSteps, Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps, VarianceReduced
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.symbolic import play_exactly
from problems.fedavg_divergence import fedavg_counterexample
from problems.logistic import fedpd_synthetic
from problems.quadratics import Quadratic, random_indefinite, random_quadratics, same_curvature, scalar_quadratics
from problems.separable import random_sines, skipping_instance

SMOOTH = ("quadratics", "indefinite", "logistic", "penalised-logistic", "sines", "skipping", "zero-chain")

# ---- golden numbers -----------------------------------------------------------------------------------------------

TEN = Q(1, 10)

#: f_1 = (x-1)^2/2, f_2 = 3(x+1)^2/2, x^0 = 2; server models after rounds 1, 2, ...
GOLDEN = {
    "FedPD exact": (FedPD(TEN), "3/2 166/143 126/143"),
    "FedPD exact, zero duals": (FedPD(TEN, init_dual="zero"), "174/143 10/11 13680/20449"),
    "FedPD exact, round 1 skipped": (FedPD(TEN, p=lambda r: int(r == 1)), "3/2 166/143 18962/20449 13740/20449"),
    "FedPD, Oracle I": (
        FedPD(TEN, GradientSteps(2, TEN), init_dual="zero"),
        "32/25 2381/2500 90061/125000",
    ),
    "FedPD, Oracle II with exact gradients": (
        FedPD(TEN, FedPD.oracle_two(TEN, Q(1, 2), 2, None, 1), init_dual="zero"),
        "11/9 1583/1728 252367/373248",
    ),
    "FedAvg": (FedAvg(GradientSteps(3, TEN)), "879/1000 4346/15625 -0.043914816"),
    "FedProx": (FedProx(Q(10)), "230/143 26170/20449 2935910/2924207"),
    "SCAFFOLD": (Scaffold(GradientSteps(3, TEN)), "879/1000 76679/375000 ~-0.151821778222"),
    "VRL-SGD": (VrlSgd(GradientSteps(3, TEN)), "879/1000 76679/375000 ~-0.151821778222"),
    "FedSplit": (FedSplit(TEN), "174/143 86/143 5242/20449"),
    "FedDANE": (FedDane(Q(10)), "226/143 25178/20449 2750794/2924207"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_rational_numbers(name: str) -> None:
    """Exact: the very code that runs on floats, on fractions."""
    algorithm, listed = GOLDEN[name]
    expected = listed.split()
    f = scalar_quadratics([Q(1), Q(3)], [Q(1), Q(-1)])
    states = play_exactly(algorithm, f, np.array([Q(2)]), len(expected))
    for state, want in zip(states[1:], expected, strict=True):
        got = state.x[0, 0]
        if want.startswith("~"):  # printed to twelve places
            assert abs(got - Q(want[1:])) <= Q(1, 2 * 10**12)
        else:
            assert got == Q(want)


@pytest.mark.parametrize(("steps", "factor"), [(2, 1.04), (8, 2.2337946)])
def test_fedavg_counterexample_grows_by_the_stated_factor(steps, factor) -> None:
    """x^r = m^r x^0 with m = ((1-z)^Q + (1+z)^Q)/2, z = 2 eta."""
    z = 2 * 0.1
    m = ((1 - z) ** steps + (1 + z) ** steps) / 2
    assert m == pytest.approx(factor, rel=1e-7)
    states = play(FedAvg(GradientSteps(steps, 0.1)), fedavg_counterexample(), np.array([[1.0]]), 50)
    assert states[-1].x[0, 0] == pytest.approx(m**50, rel=1e-12)
    # FedPD with exact solves does not diverge there: the map has eigenvalues 0 and 1 (D14)
    states = play(FedPD(0.4), fedavg_counterexample(), np.array([[1.0]]), 200)
    assert abs(states[-1].x[0, 0]) < 10


# ---- averaging methods --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_one_local_step_of_fedavg_is_gradient_descent(name: str) -> None:
    f = problem(name)
    lr = 0.5 / float(constant(f, "L"))
    descent = play(GradientDescent(lr), f, x0_of(f), 6)
    for solver in (
        GradientSteps(1, lr),
        AcceleratedSteps(1, lr, 0.7),
        VarianceReduced(1, lr, None),
    ):
        assert_same_models(play(FedAvg(solver), f, x0_of(f), 6), descent)


@pytest.mark.parametrize("solver", [GradientSteps(3, 0.1), StochasticSteps(3, 0.1, 2)], ids=["gd", "sgd"])
@pytest.mark.parametrize("schedule", [All(), Uniform(2), Bernoulli(0.5), Fixed((0, 3))], ids=lambda s: type(s).__name__)
def test_fedprox_without_penalty_is_fedavg(solver, schedule) -> None:
    f = problem("logistic")
    ours = play(FedProx(0, solver), f, x0_of(f), 5, schedule)
    assert_same_models(ours, play(FedAvg(solver), f, x0_of(f), 5, schedule), 0.0)


def test_fedprox_with_one_gradient_step_is_gradient_descent() -> None:
    """At the start of a round the proximal term has no gradient."""
    f = problem("quadratics")
    ours = play(FedProx(5.0, GradientSteps(1, 0.3)), f, x0_of(f), 5)
    assert_same_models(ours, play(GradientDescent(0.3), f, x0_of(f), 5))


@pytest.mark.parametrize("name", ["logistic", "penalised-logistic"])
@pytest.mark.parametrize("batch", [None, 2])
def test_scaffold_is_vrl_sgd(name: str, batch: int | None) -> None:
    """Delta_i = c_i - c, with full participation and c^0 = 0, on the same samples too (FEDPD-D6)."""
    f = problem(name)
    solver = GradientSteps(3, 0.1) if batch is None else StochasticSteps(3, 0.1, batch)
    scaffold, vrl = (play(algorithm(solver), f, x0_of(f), 6) for algorithm in (Scaffold, VrlSgd))
    assert_same_models(scaffold, vrl)
    for ours, theirs in zip(scaffold, vrl, strict=True):
        close(ours.c_i - ours.c, theirs.delta_i, ROUNDING)


def test_scaffold_control_variate_is_the_servers_movement() -> None:
    """mean_i c_i^{r+1} = (x^r - x^{r+1})/(K lr): only models need to travel (FEDPD-D5)."""
    f, lr = problem("quadratics"), 0.2
    states = play(Scaffold(GradientSteps(3, lr)), f, x0_of(f), 5)
    for old, new in pairwise(states):
        close(new.c, (old.x - new.x) / (3 * lr), ROUNDING)


@pytest.mark.parametrize("method", [Scaffold, VrlSgd, FedAvg])
def test_equal_clients_make_local_methods_plain_gradient_descent(method) -> None:
    """K local steps a round on equal clients are K rounds of gradient descent."""
    one = random_quadratics(1, 3, seed=3)
    f = Quadratic(np.repeat(one.A, 4, axis=0), np.repeat(one.b, 4, axis=0))
    ours = play(method(GradientSteps(3, 0.4)), f, x0_of(f), 4)
    assert_same_models(ours, play(GradientDescent(0.4), f, x0_of(f), 12)[::3])


def test_feddane_on_equal_clients_is_the_proximal_point_method() -> None:
    """The correction g - grad f_i vanishes, so a round is the exact proximal step with step 1/rho."""
    one = random_quadratics(1, 3, seed=3)
    f = Quadratic(np.repeat(one.A, 4, axis=0), np.repeat(one.b, 4, axis=0))
    x, rho = x0_of(f), 2.0
    for state in play(FedDane(rho), f, x, 4)[1:]:
        x = np.linalg.solve(one.A[0] + rho * np.eye(3), one.b[0] + rho * x[0])[None, :]
        close(state.x, x, ROUNDING)


def test_feddane_with_some_clients_is_feddane_on_those_alone() -> None:
    f, clients = problem("quadratics"), Clients(4, np.array([3, 1]))
    algorithm = FedDane(2.0)
    found = algorithm.round(f, algorithm.init(f, x0_of(f)), clients, Key(0, 0))
    close(found.x, play(algorithm, f.take(clients), x0_of(f), 1)[-1].x, ROUNDING)


@pytest.mark.parametrize("control", ["path", "gradient"])
@pytest.mark.parametrize("steps", [3, np.array([3, 1, 4, 2])], ids=["equal", "unequal"])
def test_partial_scaffold_against_a_loop(control, steps) -> None:
    """Karimireddy et al. 2020, Algorithm 1, options II and I, client by client, with server step 0.7."""
    f, lr, server = problem("quadratics"), 0.2, 0.7
    A, b, n = f.A, f.b, f.n
    K = np.broadcast_to(steps, n)
    subsets = [[0, 2], [1, 2], [3, 0]]
    x, c, c_i = start(f), np.zeros(f.d), np.zeros((n, f.d))
    algorithm = Scaffold(GradientSteps(steps, lr), server, control)
    state = algorithm.init(f, x0_of(f))
    for r, subset in enumerate(subsets):
        moves, changes = [], []
        for i in subset:
            y = x.copy()
            for _ in range(K[i]):
                y = y - lr * (A[i] @ y - b[i] - c_i[i] + c)
            new = c_i[i] - c + (x - y) / (K[i] * lr) if control == "path" else A[i] @ x - b[i]
            moves.append(y - x)
            changes.append(new - c_i[i])
            c_i[i] = new
        x = x + server * np.mean(moves, axis=0)
        c = c + len(subset) / n * np.mean(changes, axis=0)
        state = algorithm.round(f, state, Clients(n, np.array(subset)), Key(0, r))
        close(state.x[0], x, ROUNDING)
        close(state.c[0], c, ROUNDING)
        close(state.c_i, c_i, ROUNDING)


def test_accelerated_gradient_is_accelerated_steps_of_one_client() -> None:
    f = random_quadratics(1, 4, mu=0.05, seed=8)
    momentum = (1 - np.sqrt(0.05)) / (1 + np.sqrt(0.05))
    outer = play(AcceleratedGradient(1.0, momentum), f, x0_of(f), 7)
    for k in range(1, 8):
        inner = play(FedAvg(AcceleratedSteps(k, 1.0, momentum)), f, x0_of(f), 1)[-1]
        close(inner.x, outer[k].x, ROUNDING)


def test_triple_momentum_against_its_cases_and_a_loop() -> None:
    """Gradient descent, Nesterov's method, and the three sequences of the source with its own three numbers, whose factor is theirs."""
    f = problem("quadratics")
    for twin, method in (
        (GradientDescent(0.9), TripleMomentum(0.9)),
        (AcceleratedGradient(0.9, 0.3), TripleMomentum(0.9, 0.3, 0.3)),
    ):
        field = "y" if hasattr(twin, "momentum") else "x"
        for one, other in zip(play(twin, f, x0_of(f), 6), play(method, f, x0_of(f), 6), strict=True):
            close(getattr(one, field), other.x, ROUNDING)
    A, b = f.A.mean(axis=0), f.b.mean(axis=0)
    low, high = np.linalg.eigvalsh(A)[[0, -1]]
    q = 1 - np.sqrt(low / high)
    alpha, beta, gamma = (1 + q) / high, q**2 / (2 - q), q**2 / ((1 + q) * (2 - q))
    old = xi = y = start(f)
    for state in play(TripleMomentum(alpha, beta, gamma), f, x0_of(f), 12)[1:]:
        old, xi = xi, (1 + beta) * xi - beta * old - alpha * (A @ y - b)
        y = (1 + gamma) * xi - gamma * old
        close(state.x[0], y, ROUNDING)
    x_star = np.linalg.solve(A, b)
    assert np.linalg.norm(y - x_star) < 12 * q**12 * np.linalg.norm(start(f) - x_star)


def test_accelerated_gradient_against_a_loop() -> None:
    """Momentum r/(r+3) by default."""
    f = problem("quadratics")
    A, b = f.A.mean(axis=0), f.b.mean(axis=0)
    x = y = start(f)
    for r, state in enumerate(play(AcceleratedGradient(0.9), f, x0_of(f), 8)[1:]):
        new = y - 0.9 * (A @ y - b)
        x, y = new, new + r / (r + 3) * (new - x)
        close(state.x[0], x, ROUNDING)
        close(state.y[0], y, ROUNDING)


def test_fixed_points_of_biased_methods() -> None:
    """sum w_i c_i / sum w_i, with w_i = 1 - (1 - lr a_i)^K (FedAvg), a_i rho/(rho + a_i) (FedProx); D12's numbers."""
    f = scalar_quadratics([1.0, 5.0, 0.5], [2.0, -1.0, 4.0])
    a, c = np.array([1.0, 5.0, 0.5]), np.array([2.0, -1.0, 4.0])
    assert f.solution()[0] == pytest.approx(-0.153846, abs=1e-6)
    for algorithm, w, printed in (
        (FedProx(2.0), 2 * a / (2 + a), 0.603053),
        (FedAvg(GradientSteps(8, 0.05)), 1 - (1 - 0.05 * a) ** 8, 0.356853),
    ):
        fixed = np.sum(w * c) / np.sum(w)
        assert fixed == pytest.approx(printed, abs=1e-6)
        # contraction at least 0.7 a round: 300 rounds reach rounding
        assert play(algorithm, f, np.array([[3.0]]), 300)[-1].x[0, 0] == pytest.approx(fixed, abs=1e-13)
    assert play(FedPD(0.1), f, np.array([[3.0]]), 600)[-1].x[0, 0] == pytest.approx(f.solution()[0], abs=1e-13)


# ---- primal-dual methods ------------------------------------------------------------------------------------------


def admm(A, b, x0, eta, rounds, zero_duals=False):
    """Consensus ADMM in the order (z, x, y), client by client: z = mean(x_i + eta y_i); x_i; y_i."""
    n, d = b.shape
    y = [np.zeros(d) if zero_duals else -(A[i] @ x0 - b[i]) for i in range(n)]
    z, found = x0.copy(), []
    for _ in range(rounds):
        x = [np.linalg.solve(A[i] + np.eye(d) / eta, b[i] - y[i] + z / eta) for i in range(n)]
        y = [y[i] + (x[i] - z) / eta for i in range(n)]
        z = sum(x[i] + eta * y[i] for i in range(n)) / n
        found.append((z, np.array(x), np.array(y)))
    return found


@given(
    seed=st.integers(0, 10**6), n=st.integers(1, 5), d=st.integers(1, 4), u=st.floats(0.05, 0.45), zero=st.booleans()
)
@settings(max_examples=40)
def test_fedpd_with_exact_solves_is_admm(seed, n, d, u, zero) -> None:
    """FEDPD-EQ1, on indefinite clients too; u = L eta < 1/2 keeps both stable."""
    f = random_indefinite(n, d, seed=seed)
    x0 = np.random.default_rng(seed).standard_normal(d)
    ours = play(FedPD(u, init_dual="zero" if zero else "grad"), f, x0[None, :], 8)[1:]
    for state, (z, x, y) in zip(ours, admm(f.A, f.b, x0, u, 8, zero), strict=True):
        close(state.x[0], z, 1e-11)  # 1/eta = 20 multiplies rounding in the duals
        close(state.x_i, x, 1e-11)
        close(state.lam_i, y, 1e-11)


def proximal(f, v, step):
    """Proximal steps of quadratics, client by client."""
    return np.array([np.linalg.solve(np.eye(f.d) + step * f.A[i], v[i] + step * f.b[i]) for i in range(f.n)])


def test_fedpd_is_douglas_rachford_and_fedsplit_peaceman_rachford() -> None:
    """In v_i = x_{0,i} - eta lam_i, and in z_i (FEDPD-D6)."""
    f, eta = problem("indefinite"), 0.3
    states = play(FedPD(eta), f, x0_of(f), 6)
    v = states[0].x0_i - eta * states[0].lam_i
    for state in states[1:]:
        x = proximal(f, v, eta)
        v = v + (2 * x - v).mean(axis=0) - x
        close(state.x0_i - eta * state.lam_i, v, ROUNDING)
        close(state.x_i, x, ROUNDING)

    f, s = problem("quadratics"), 0.7
    states = play(FedSplit(s), f, x0_of(f), 6)
    z = states[0].z_i
    for state in states[1:]:
        reflected = 2 * z.mean(axis=0) - z
        z = 2 * proximal(f, reflected, s) - reflected
        close(state.z_i, z, ROUNDING)
        close(state.x[0], z.mean(axis=0), ROUNDING)


def test_fedpd_skipped_round_is_a_local_proximal_step() -> None:
    """v_i <- prox_i(v_i)."""
    f, eta = problem("indefinite"), 0.3
    algorithm = FedPD(eta, p=0.5)
    state = algorithm.round(f, algorithm.init(f, x0_of(f)), None, ScriptedKey(0, {"communicate": True}))
    new = algorithm.round(f, state, None, ScriptedKey(1, {"communicate": False}))
    close(new.x0_i - eta * new.lam_i, proximal(f, state.x0_i - eta * state.lam_i, eta), ROUNDING)
    close(new.x0_i, new.x_i + eta * new.lam_i, 0.0)
    close(new.x, new.x0_i.mean(axis=0, keepdims=True), ROUNDING)


@given(
    seed=st.integers(0, 10**6),
    eta=st.floats(0.05, 0.5),
    gamma=st.one_of(st.none(), st.floats(0.01, 10)),
    steps=st.integers(1, 4),
    period=st.integers(1, 3),
)
@settings(max_examples=40)
def test_oracle_two_with_exact_gradients_is_oracle_one(seed, eta, gamma, steps, period) -> None:
    """With step eta gamma/(eta + gamma), whatever the period: differences of gradients telescope."""
    f = random_indefinite(3, 2, seed=seed)
    step = eta if gamma is None else eta * gamma / (eta + gamma)
    two = FedPD(eta, FedPD.oracle_two(eta, gamma, steps, None, period))
    one = FedPD(eta, GradientSteps(steps, step))
    assert_same_models(play(two, f, x0_of(f), 6), play(one, f, x0_of(f), 6), 1e-11, ("x", "x_i", "lam_i"))


def test_oracle_two_step_solves_its_subproblem() -> None:
    """x^+ minimises <g + lam, x> + ||x - x_q||^2/(2 gamma) + ||x - x_0||^2/(2 eta): its derivative vanishes there."""
    f, eta, gamma = problem("sines"), 0.2, 0.5
    algorithm = FedPD(eta, FedPD.oracle_two(eta, gamma, 1, None, 1))
    state = play(algorithm, f, x0_of(f), 3)[-1]
    new = algorithm.round(f, state, None, Key(0, 3))
    slope = f.grad(state.x_i) + state.lam_i + (new.x_i - state.x_i) / gamma + (new.x_i - state.x0_i) / eta
    close(slope, np.zeros_like(slope), ROUNDING)


@pytest.mark.parametrize("name", ["quadratics", "logistic", "sines", "skipping"])
def test_many_gradient_steps_are_an_exact_solve(name: str) -> None:
    """With eta_1 = eta the subproblem's gradient shrinks by u = L eta a step: u^40 < 1e-24."""
    f = problem(name)
    eta = 0.25 / float(constant(f, "L"))
    exact = play(FedPD(eta), f, x0_of(f), 5)
    steps = play(FedPD(eta, GradientSteps(40, eta)), f, x0_of(f), 5)
    accurate = play(FedPD(eta, ToAccuracy(1e-26, eta)), f, x0_of(f), 5)
    assert_same_models(steps, exact, 1e-11, ("x", "x_i", "lam_i"))
    assert_same_models(accurate, exact, 1e-11, ("x", "x_i", "lam_i"))


@pytest.mark.parametrize("local_solver", [Exact(), GradientSteps(2, 0.2)], ids=["exact", "two steps"])
@pytest.mark.parametrize("name", ["quadratics", "sines"])
def test_mean_identity_of_fedpd(name: str, local_solver) -> None:
    """xbar_0^{r+1} = 2 xbar^{r+1} - xbar^r and mean lam^{r+1} = (xbar^{r+1} - xbar^r)/eta, skipping or not (D3)."""
    f, eta = problem(name), 0.2
    algorithm = FedPD(eta, local_solver, p=0.5)
    states = [algorithm.init(f, x0_of(f))]
    for r, sends in enumerate([True, False, False, True, False, True]):
        states.append(algorithm.round(f, states[-1], None, ScriptedKey(r, {"communicate": sends})))
    for old, new in pairwise(states[1:]):
        before, after = (s.x_i.mean(axis=0, keepdims=True) for s in (old, new))
        close(new.x, 2 * after - before, ROUNDING)
        close(new.lam_i.mean(axis=0, keepdims=True), (after - before) / eta, ROUNDING)


def test_equal_curvatures_make_skipping_harmless() -> None:
    """The mean trajectory does not depend on p (FEDPD-D4)."""
    f = same_curvature(3, 2, seed=2)
    always, seldom = (play(FedPD(0.3, p=p), f, x0_of(f), 9) for p in (0, every(3)))
    assert_same_models(always, seldom)


def test_first_round_of_fedpd_is_a_gradient_step() -> None:
    """With lam_i^0 = -grad f_i(x^0): x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0) (FEDPD-D13)."""
    for name in ("indefinite", "sines", "penalised-logistic"):
        f = problem(name)
        eta = 0.25 / float(constant(f, "L"))
        new = play(FedPD(eta), f, x0_of(f), 1)[-1]
        close(new.x_i, np.broadcast_to(x0_of(f), (f.n, f.d)), ROUNDING)
        close(new.x, play(GradientDescent(eta), f, x0_of(f), 1)[-1].x, ROUNDING)


def test_fedpd_without_duals_solves_fedprox_problems_but_averages_otherwise() -> None:
    """Round one from zero duals: the local answers are FedProx's with rho = 1/eta, the server averages 2 x_i - x_0."""
    f, eta = problem("quadratics"), 0.3
    pd = play(FedPD(eta, init_dual="zero"), f, x0_of(f), 1)[-1]
    answers, _ = Exact()(Subproblem(f, rho=1 / eta, z=x0_of(f)), x0_of(f), Key(0, 0), None)
    close(pd.x_i, answers, ROUNDING)
    close(pd.x, (2 * answers - x0_of(f)).mean(axis=0, keepdims=True), ROUNDING)


def test_deterministic_skipping_is_the_scripted_schedule() -> None:
    """every(3) communicates in rounds 2, 5, 8; a random p with these coins gives the same states."""
    f = problem("sines")
    scripted = FedPD(0.2, p=0.5)
    state = scripted.init(f, x0_of(f))
    states = [state]
    for r in range(9):
        state = scripted.round(f, state, None, ScriptedKey(r, {"communicate": r % 3 == 2}))
        states.append(state)
    assert_same_models(play(FedPD(0.2, p=every(3)), f, x0_of(f), 9), states, 0.0, ("x", "x_i", "x0_i", "lam_i"))


def test_fedprox_vr_is_sarah() -> None:
    """v_q = v_{q-1} + h(x_q) - h(x_{q-1}) + rho (x_q - x_{q-1}), restarted every round, client by client."""
    f, rho, lr, steps = ragged_logistic(seed=5), 0.8, 0.2, 4
    x = start(f)
    states = play(FedProx(rho, VarianceReduced(steps, lr, 2)), f, x[None, :], 3, seed=11)
    for r in range(3):
        lots = Key(11, r).client_uniform("samples", f.n, steps * 2).reshape(f.n, steps, 2)
        answers = []
        for i in range(f.n):
            rows = f.signed[i, : f.n_samples[i]]

            def h(point, numbers, rows=rows):
                chosen = rows[numbers]
                return np.mean(-chosen / (1 + np.exp(chosen @ point))[:, None], axis=0) + f.l2 * point

            y, v = x, h(x, np.arange(len(rows)))
            for q in range(steps):
                numbers = np.floor(lots[i, q] * len(rows)).astype(int)
                new = y - lr * v
                v = v + h(new, numbers) - h(y, numbers) + rho * (new - y)
                y = new
            answers.append(y)
        x = np.mean(answers, axis=0)
        close(states[r + 1].x[0], x, ROUNDING)


# ---- how the work is done does not matter --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver",
    [
        GradientSteps(3, 0.1),
        GradientSteps(np.array([1, 3, 2, 4, 1, 2, 5]), 0.1),
        AcceleratedSteps(3, 0.1, 0.5),
    ],
    ids=["steps", "unequal steps", "accelerated"],
)
@pytest.mark.parametrize("schedule", [All(), Uniform(5), Bernoulli(0.7)], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("make", [random_quadratics, random_sines], ids=["quadratics", "sines"])
def test_blocks_of_clients_are_all_clients_at_once(solver, schedule, make, monkeypatch) -> None:
    f = make(7, 3, seed=4)
    if make is random_sines:  # it has no client_bytes, so it is never cut; say it is large
        f = _Sized(f)
    algorithm = FedProx(0.5, solver)
    whole = play(algorithm, f, x0_of(f), 3, schedule)
    cuts = []

    def cut(work, sub, start):
        def counted(part, x, first):
            cuts.append(part.f.n)
            return work(part, x, first)

        return in_blocks(counted, sub, start, limit=0)

    in_blocks = blocks.run_in_blocks
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 3 * f.client_bytes)
    monkeypatch.setattr(blocks, "run_in_blocks", cut)
    in_parts = play(algorithm, f, x0_of(f), 3, schedule)
    # a batched problem (rows of a batch with their own clients) is done whole; one run is cut in blocks of three
    assert max(cuts) <= 3 and min(cuts) < 3
    assert_same_models(in_parts, whole)


class _Sized:
    """A problem with a size, so that it is worked through in blocks."""

    client_bytes = 8

    def __init__(self, inner) -> None:
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def take(self, clients):
        return _Sized(self.inner.take(clients))

    def slice(self, first, last):
        return _Sized(self.inner.slice(first, last))


def test_blocks_see_their_own_duals(monkeypatch) -> None:
    """FedPD's per-client linear terms and centres are cut along with the clients."""
    f = random_quadratics(7, 3, seed=4)
    algorithm = FedPD(0.3, GradientSteps(2, 0.2), p=every(2))
    whole = play(algorithm, f, x0_of(f), 4)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2 * f.client_bytes)
    monkeypatch.setattr(blocks, "run_in_blocks", partial(blocks.run_in_blocks, limit=0))
    assert_same_models(play(algorithm, f, x0_of(f), 4), whole, names=("x", "x_i", "lam_i", "x0_i"))


@pytest.mark.parametrize("threads", ["3", "3,2", ""], ids=["three", "nested", "unset"])
def test_threads_change_nothing(threads, monkeypatch) -> None:
    """Bit for bit; the variable may hold a list, one number for each level of nesting, as OpenMP has it."""
    f = random_quadratics(7, 3, seed=4)
    algorithm = FedPD(0.3, GradientSteps(2, lambda r, q: 0.2 / (r + 1)))
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2 * f.client_bytes)
    monkeypatch.setattr(blocks, "run_in_blocks", partial(blocks.run_in_blocks, limit=0))
    runs = []
    for value in ("1", threads):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        runs.append(play(algorithm, f, x0_of(f), 4))
    assert_same_models(*runs, 0.0, ("x", "x_i", "lam_i"))


def test_a_big_problem_is_cut_by_itself() -> None:
    """Above the limit the solver cuts without being told, and the answer is that of a loop over clients."""
    f = random_quadratics(40, 180, seed=0)  # 40 x 0.26 MB = 10.4 MB, above 8 MiB
    assert f.client_bytes * f.n > 2 * blocks.BLOCK_BYTES
    new = play(FedAvg(GradientSteps(2, 0.5)), f, x0_of(f), 1)[-1]
    answers = []
    for i in range(f.n):
        y = start(f)
        for _ in range(2):
            y = y - 0.5 * (f.A[i] @ y - f.b[i])
        answers.append(y)
    close(new.x[0], np.mean(answers, axis=0), ROUNDING)


@pytest.mark.parametrize(
    "algorithm", [FedPD(0.3), FedProx(2.0), FedSplit(0.3), FedDane(2.0)], ids=lambda a: type(a).__name__
)
def test_newton_and_the_closed_form_agree(algorithm) -> None:
    """Without its proximal step a quadratic is solved by Newton's method."""
    f = problem("indefinite")
    newton = _WithoutProx(f)
    ours, theirs = (play(algorithm, g, x0_of(f), 5) for g in (newton, f))
    assert_same_models(ours, theirs)


class _WithoutProx:
    """A quadratic that does not know its proximal step."""

    prox = None

    def __init__(self, inner) -> None:
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def take(self, clients):
        return _WithoutProx(self.inner.take(clients))


def test_weights_make_copies_of_clients() -> None:
    """Every client twice is every client once, for methods that average (the mean is unchanged)."""
    f = fedpd_synthetic("strong", n=3, samples=5, d=2, seed=1)
    twice = dataclasses.replace(f, signed=np.repeat(f.signed, 2, axis=0), weights=np.repeat(f.weights, 2, axis=0))
    for algorithm in (FedPD(0.2), Scaffold(GradientSteps(2, 0.1)), FedAvg(GradientSteps(3, 0.2)), FedSplit(0.2)):
        assert_same_models(play(algorithm, twice, x0_of(f), 4), play(algorithm, f, x0_of(f), 4), 1e-10)


def test_skipping_instance_leaves_the_solution_after_one_skip() -> None:
    """x* = 0 is where the run starts; prox_i(0) and the next model are those derived for FEDPD-T3."""
    f, eta = skipping_instance(1.0, 0.5), 2 / 15
    algorithm = FedPD(eta, p=0.5)
    state = algorithm.init(f, np.zeros((1, 1)))
    for r, sends in enumerate([False, True]):
        state = algorithm.round(f, state, None, ScriptedKey(r, {"communicate": sends}))
    np.testing.assert_allclose(state.x_i[:, 0], [-0.111149, 0.124940], atol=5e-7)
    assert state.x[0, 0] == pytest.approx(0.0137909, abs=5e-8)
