"""The primal-dual family: one method under several names, the printed variants that are others, and what is known in closed form.

References are written here in plain NumPy loops, client by client and in their papers' own variables.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction as Q
from itertools import combinations, pairwise

import numpy as np
import pytest
from helpers import assert_same, close, fields, play, problem, start, x0_of
from hypothesis import given, settings
from hypothesis import strategies as st
from primal_dual_runs import ROUNDING, active_sets, runs, same_iterates, schedules

from fedtheory.algorithms import AFedPD, FedADMM, FedDR, FedDyn, FedPD, FedSplit
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import All, Clients, Uniform
from fedtheory.core.problem import constant, gradient, objective
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics, primal_dual
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.spectrum import round_map, spectral_radius
from fedtheory.running.runner import run
from problems.dual_drift import convex_and_concave, strictly_non_convex
from problems.prescribed_quadratics import prescribed_quadratics
from problems.quadratics import random_indefinite, random_quadratics, scalar_quadratics

# ---- references in their papers' own variables --------------------------------------------------------------------


def steps_on(f, steps, lr):
    """Local solver of the references: gradient steps on f_i(y) + <a, y> + (rho/2)||y - z||^2, client by client."""

    def solve(i, a, rho, z, begin):
        y = begin
        for _ in range(steps):
            everyone = np.broadcast_to(y, (f.n, f.d))
            y = y - lr * (f.grad(everyone)[i] + a + rho * (y - z))
        return y

    return solve


def exactly_on(f):
    """Exact minimisers of the same, for quadratics."""
    return lambda i, a, rho, z, begin: np.linalg.solve(f.A[i] + rho * np.eye(f.d), f.b[i] - a + rho * z)


def eager_afedpd(f, x0, rho, active, solve):
    """A-FedPD, Algorithm 1, line by line, with all n duals updated every round."""
    theta, lam = x0, np.zeros((f.n, f.d))
    for here in active:
        if here:
            local = {i: solve(i, lam[i], rho, theta, theta) for i in here}
            bar = sum(local.values()) / len(here)
            lam = np.array([lam[i] + rho * (local.get(i, bar) - theta) for i in range(f.n)])
            theta = bar + lam.mean(axis=0) / rho
        yield theta, lam


def feddyn_of_acar(f, x0, alpha, active, solve):
    """FedDyn in the variables of Acar et al.: gradients g_i, server state h, penalty alpha."""
    theta, g, h = x0, np.zeros((f.n, f.d)), np.zeros(f.d)
    for here in active:
        if here:
            local = {i: solve(i, -g[i], alpha, theta, theta) for i in here}
            g = np.array([g[i] - alpha * (local[i] - theta) if i in local else g[i] for i in range(f.n)])
            h = h - alpha / f.n * sum(local[i] - theta for i in here)
            theta = sum(local.values()) / len(here) - h / alpha
        yield theta, -g


def feddr_of_tran_dinh(f, x0, eta, alpha, rounds):
    """FedDR with exact proximal steps, all of them taken once before round one."""

    def proximal(y):
        return np.array([np.linalg.solve(np.eye(f.d) + eta * f.A[i], y[i] + eta * f.b[i]) for i in range(f.n)])

    y = np.tile(x0, (f.n, 1))
    x = proximal(y)
    bar = (2 * x - y).mean(axis=0)
    yield bar, x
    for _ in range(rounds):
        y = y + alpha * (bar - x)
        x = proximal(y)
        bar = (2 * x - y).mean(axis=0)
        yield bar, x


def fedadmm_of_wang(f, x0, rho, active, solve):
    """FedADMM: the server keeps the last z_i = x_i + lam_i/rho of every client."""
    theta, lam, z = x0, np.zeros((f.n, f.d)), np.tile(x0, (f.n, 1))
    for here in active:
        lam, z = lam.copy(), z.copy()
        for i in here:
            x = solve(i, lam[i], rho, theta, theta)
            lam[i] = lam[i] + rho * (x - theta)
            z[i] = x + lam[i] / rho
        theta = z.mean(axis=0)
        yield theta, lam


REFERENCES = {
    "a-fedpd": (AFedPD, eager_afedpd),
    "feddyn": (FedDyn, feddyn_of_acar),
    "fedadmm": (FedADMM, fedadmm_of_wang),
}


@schedules
@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("inner", ["exact", "steps"])
def test_a_method_is_its_papers_loop(name, inner, schedule) -> None:
    """For A-FedPD: duals stored as a common part and deviations are the eagerly updated ones, over many rounds."""
    f, rho, rounds = problem("quadratics"), 0.7, 150
    local, solve = (Exact(), exactly_on(f)) if inner == "exact" else (GradientSteps(3, 0.3), steps_on(f, 3, 0.3))
    make, reference = REFERENCES[name]
    ours = runs(make(rho, local), f, rounds, schedule)[1:]
    theirs = reference(f, start(f), rho, active_sets(f, schedule, rounds), solve)
    for state, (theta, lam) in zip(ours, theirs, strict=True):
        close(state.x[0], theta, ROUNDING)
        close(state.lam_i, lam, ROUNDING)


@pytest.mark.parametrize("name", ["cosines", "sines", "cauchy"])
def test_lazy_duals_are_the_eager_ones_on_non_convex_problems(name) -> None:
    f = problem(name)
    ours = runs(AFedPD(2.5, GradientSteps(4, 0.2)), f, 400, Uniform(2))[1:]
    active = active_sets(f, Uniform(2), 400)
    for state, (theta, lam) in zip(ours, eager_afedpd(f, start(f), 2.5, active, steps_on(f, 4, 0.2)), strict=True):
        close(state.x[0], theta, ROUNDING)
        close(state.lam_i, lam, ROUNDING)


def test_forgetting_the_absent_clients_is_seen() -> None:
    """A planted fault: without the virtual update (absent duals stay), the models differ after two rounds."""
    f = problem("quadratics")
    active = active_sets(f, Uniform(2), 10)
    ours = runs(AFedPD(0.7), f, 10, Uniform(2))[-1]

    def stale(theta, lam):
        for here in active:
            local = {i: exactly_on(f)(i, lam[i], 0.7, theta, theta) for i in here}
            lam = np.array([lam[i] + 0.7 * (local.get(i, theta) - theta) for i in range(f.n)])
            theta = sum(local.values()) / len(here) + lam.mean(axis=0) / 0.7
        return theta

    assert np.abs(ours.x[0] - stale(start(f), np.zeros((f.n, f.d)))).max() > 1e-2


@pytest.mark.parametrize("alpha", [1.0, 0.5, 1.7])
def test_feddr_is_tran_dinhs_one_round_later(alpha) -> None:
    f, eta = problem("indefinite"), 0.3
    ours = runs(FedDR(eta, alpha), f, 40)[1:]
    for state, (bar, x) in zip(ours, feddr_of_tran_dinh(f, start(f), eta, alpha, 39), strict=True):
        close(state.x[0], bar, ROUNDING)
        close(state.x_i, x, ROUNDING)


def test_duals_by_runs_of_a_batch() -> None:
    """Each run of a batch has its own clients, penalty and duals."""
    f, seeds, rhos = problem("cosines"), np.array([3, 4, 5]), [0.9, 2.0, 5.0]
    together = play(AFedPD(along_batch(rhos), GradientSteps(2, 0.1)), f, x0_of(f), 60, Uniform(2), seed=seeds)[-1]
    for k in range(3):
        active = active_sets(f, Uniform(2), 60, seed=int(seeds[k]))
        *_, (theta, lam) = eager_afedpd(f, start(f), rhos[k], active, steps_on(f, 2, 0.1))
        close(together.x[k, 0], theta, ROUNDING)
        close(together.lam_i[k], lam, ROUNDING)


# ---- one method under six names ------------------------------------------------------------------------------------


def as_fedpd(state, eta):
    """A FedDR state in FedPD's variables: lam_i = (x_i - y_i) / eta."""
    lam = (state.x_i - state.y_i) / eta
    return type("State", (), {"x": state.x, "x_i": state.x_i, "lam_i": lam})


@pytest.mark.parametrize(
    "name", ["quadratics", "indefinite", "logistic", "penalised-logistic", "sines", "cosines", "cauchy"]
)
def test_with_all_clients_the_family_is_one_method(name) -> None:
    """FedPD(eta, zero duals) = FedDR(eta, 1) = FedADMM(1/eta) = FedDyn(1/eta) = A-FedPD(1/eta), iterate by iterate."""
    f = problem(name)
    eta = 0.3 / float(constant(f, "L"))
    base = runs(FedPD(eta, init_dual="zero"), f, 30)
    for algorithm in (FedADMM(1 / eta), FedADMM(1 / eta, averages="active"), FedDyn(1 / eta), AFedPD(1 / eta)):
        same_iterates(runs(algorithm, f, 30), base, rtol=1e-10)  # Newton's method inside a round stops at its own floor
    same_iterates([as_fedpd(s, eta) for s in runs(FedDR(eta), f, 30)], base, rtol=1e-10)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), d=st.integers(1, 4), rho=st.floats(2.5, 20))
@settings(max_examples=30)
def test_the_family_on_random_indefinite_clients(seed, n, d, rho) -> None:
    f = random_indefinite(n, d, seed=seed)
    base = runs(FedPD(1 / rho, init_dual="zero"), f, 12)
    for algorithm in (FedADMM(rho), FedADMM(rho, averages="active"), FedDyn(rho), AFedPD(rho)):
        same_iterates(runs(algorithm, f, 12), base)
    same_iterates([as_fedpd(s, 1 / rho) for s in runs(FedDR(1 / rho), f, 12)], base)


@pytest.mark.parametrize("local", [GradientSteps(3, 0.2), StochasticSteps(3, 0.2, 2), SamSteps(3, 0.2, 0.1)], ids=str)
def test_with_all_clients_inexact_local_work_makes_no_difference(local) -> None:
    """All start local work at the server's model (FedPD starts at the client's own and is another method then)."""
    f, rho = problem("penalised-logistic"), 1.3
    base = runs(AFedPD(rho, local), f, 20)
    for algorithm in (FedADMM(rho, local), FedADMM(rho, local, averages="active"), FedDyn(rho, local)):
        same_iterates(runs(algorithm, f, 20), base, ("x", "x_bar", "x_i", "lam_i"))
    same_iterates([as_fedpd(s, 1 / rho) for s in runs(FedDR(1 / rho, 1, local), f, 20)], base)


def test_the_family_exactly_on_fractions() -> None:
    f, x0 = scalar_quadratics([Q(1), Q(3)], [Q(1), Q(-1)]), np.array([[Q(2)]])
    family = (FedPD(Q(1, 10), init_dual="zero"), FedADMM(Q(10)), FedDyn(Q(10)), AFedPD(Q(10)), FedDR(Q(1, 10), Q(1)))
    found = [[state.x[0, 0] for state in play(a, f, x0, 5)] for a in family]
    assert all(numbers == found[0] for numbers in found)
    assert found[0][1:4] == [Q(174, 143), Q(10, 11), Q(13680, 20449)]


@schedules
@pytest.mark.parametrize("local", [Exact(), GradientSteps(3, 0.2)], ids=["exact", "steps"])
def test_feddr_is_fedadmm_that_averages_all_whoever_takes_part(local, schedule) -> None:
    """y_i = x^t - eta lam_i; also with inexact local work."""
    f, eta = problem("quadratics"), 0.4
    dr, admm = runs(FedDR(eta, 1, local), f, 40, schedule), runs(FedADMM(1 / eta, local), f, 40, schedule)
    same_iterates([as_fedpd(s, eta) for s in dr], admm)


def test_fully_relaxed_feddr_is_fedsplit() -> None:
    """z_i = 2 x_i - y_i."""
    f, eta = problem("quadratics"), 0.4
    relaxed, split = runs(FedDR(eta, 2), f, 25), runs(FedSplit(eta), f, 25)
    for ours, theirs in zip(relaxed, split, strict=True):
        close(ours.x, theirs.x, ROUNDING)
        close(2 * ours.x_i - ours.y_i, theirs.z_i, ROUNDING)


@schedules
@pytest.mark.parametrize("pair", ["fedspeed", "fedspeed-active", "a-fedpdsam"])
@pytest.mark.parametrize("off", [{"radius": 0}, {"radius": 0.3, "weight": 0}], ids=["no ascent", "no weight"])
def test_without_sam_the_base_method_is_left(pair, off, schedule) -> None:
    f, rho = problem("cosines"), 1.5
    make = {
        "fedspeed": lambda local: FedDyn(rho, local),
        "fedspeed-active": lambda local: FedADMM(rho, local, averages="active"),
        "a-fedpdsam": lambda local: AFedPD(rho, local),
    }[pair]
    same_iterates(
        runs(make(SamSteps(3, 0.2, **off)), f, 15, schedule),
        runs(make(GradientSteps(3, 0.2)), f, 15, schedule),
        rtol=1e-13,
    )


@pytest.mark.parametrize("epsilon", [0.0, 1e-2], ids=["as printed", "as run"])
def test_a_fedpdsam_is_its_papers_loop(epsilon) -> None:
    """Algorithm 2: the gradient is taken at theta + r g / (||g|| + epsilon), the rest of the step where the client stands."""
    f, rho, lr, r = problem("cosines"), 1.5, 0.2, 0.3

    def solve(i, a, penalty, z, begin):
        y = begin
        for _ in range(3):
            g = f.grad(np.tile(y, (f.n, 1)))[i]
            g = f.grad(np.tile(y + r * g / (np.linalg.norm(g) + epsilon), (f.n, 1)))[i]
            y = y - lr * (g + a + penalty * (y - z))
        return y

    ours = runs(AFedPD(rho, SamSteps(3, lr, r, epsilon=epsilon)), f, 40, Uniform(2))[1:]
    theirs = eager_afedpd(f, start(f), rho, active_sets(f, Uniform(2), 40), solve)
    for state, (theta, lam) in zip(ours, theirs, strict=True):
        close(state.x[0], theta, ROUNDING)
        close(state.lam_i, lam, ROUNDING)


@pytest.mark.parametrize("steps", [None, 2], ids=["exact", "two steps"])
def test_the_family_has_one_worst_case(steps) -> None:
    """Over the whole class of convex clients: the traced rounds state the same program, the printed FedDyn's a worse one."""
    pytest.importorskip("PEPit")
    rho, local = 2.0, Exact() if steps is None else GradientSteps(steps, 0.2)
    functions = FunctionClass(1.0, 0.2, zeta=1.0)

    def value(algorithm):
        return worst_case_for_one_n(algorithm, functions, n=2, rounds=2).value

    base = value(AFedPD(rho, local))
    for algorithm in (FedADMM(rho, local), FedADMM(rho, local, "active"), FedDyn(rho, local), FedDR(1 / rho, 1, local)):
        assert value(algorithm) == pytest.approx(base, rel=1e-5)
    assert value(FedDyn(rho, local, "old")) > 1.1 * base


# ---- printed rules that are others ---------------------------------------------------------------------------------


def test_printed_feddyn_is_another_method_that_converges_with_all_clients() -> None:
    """Equation (7) of A-FedPD adds lambda^t, FedDyn lambda^{t+1}."""
    f = problem("quadratics")
    printed, meant = (runs(FedDyn(1.0, server_dual=which), f, 400) for which in ("old", "new"))
    assert max(np.abs(p.x - m.x).max() for p, m in zip(printed, meant, strict=True)) > 1e-2
    for states in (printed, meant):
        close(states[-1].x[0], f.solution(), 1e-12)


def test_averaging_active_clients_only_loses_the_solution() -> None:
    """Equation (6) of A-FedPD: the others keep x* for every subset of the clients, the printed FedADMM moves to z_i = x* + lam_i/rho."""
    f, rho = problem("quadratics"), 0.8
    x = f.solution()[None, :]
    for subset in ([1], [3, 0], [0, 1, 2]):
        clients = Clients(f.n, np.array(subset))
        for algorithm in (FedADMM(rho), FedDyn(rho), FedDyn(rho, server_dual="old"), FedDR(1 / rho, 0.7), AFedPD(rho)):
            state = algorithm.solution_state(f, x)
            assert_same(
                algorithm.round(f, state, clients, Key(0, 0)), dataclasses.replace(state, **fields(state)), 1e-13
            )
        printed = FedADMM(rho, averages="active")
        moved = printed.round(f, printed.solution_state(f, x), clients, Key(0, 0))
        close(moved.x[0], x[0] - f.grad(x)[subset].mean(axis=0) / rho, 1e-13)
        assert np.abs(moved.x - x).max() > 0.05


def mean_square_radius(algorithm, f, m, names):
    """Spectral radius of E[M (x) M] over all subsets of m clients, M the map of one round on the fields that feed back."""
    total = 0
    subsets = list(combinations(range(f.n), m))
    for subset in subsets:
        found = round_map(algorithm, f, np.zeros(f.d), clients=Clients(f.n, np.array(subset)))
        matrix = np.block([[found.block(to, source) for source in names] for to in names]).astype(float)
        total = total + np.kron(matrix, matrix)
    return float(np.abs(np.linalg.eigvals(total / len(subsets))).max())


@pytest.mark.parametrize(("n", "m", "threshold"), [(10, 1, 0.24013), (10, 2, 0.16305), (10, 5, 0.05034)])
def test_threshold_of_dual_drift(n, m, threshold) -> None:
    """AFEDPD-D11: with n identical clients the printed FedADMM is mean-square unstable iff rho/a is below this."""
    f = scalar_quadratics([1.0] * n)
    below, above = (
        mean_square_radius(FedADMM(rho, averages="active"), f, m, ("x", "lam_i"))
        for rho in (threshold - 1e-4, threshold + 1e-4)
    )
    assert above < 1 < below


def test_dual_drift_of_the_printed_fedadmm() -> None:
    """AFEDPD-D11: four identical clients, one a round, rho = a/20: radius 1.2315; the meant methods are stable."""
    f = scalar_quadratics([1.0] * 4)
    drifting = mean_square_radius(FedADMM(0.05, averages="active"), f, 1, ("x", "lam_i"))
    assert drifting == pytest.approx(1.2315, abs=5e-5)
    assert mean_square_radius(FedADMM(0.05), f, 1, ("x", "x_i", "lam_i")) < 0.98
    assert mean_square_radius(FedDyn(0.05), f, 1, ("x", "lam_i")) < 0.98


# ---- a penalty that is too small ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "radius"), [(0.55, 1.332), (0.58, 1.071), (1.0, 0.5)])
def test_a_small_penalty_diverges_on_a_convex_average(rho, radius) -> None:
    """AFEDPD-T1 for any rho; every local problem is strongly convex and solved exactly."""
    f = convex_and_concave()
    assert spectral_radius(FedADMM(rho), f, np.zeros(1)) == pytest.approx(radius, abs=5e-4)
    flat = AFedPD(rho)
    states = runs(flat, f, 60)
    assert (np.abs(states[-1].x_bar[0, 0]) > 10) == (radius > 1)
    beside = strictly_non_convex(f, 1.0)
    x0 = np.array([[start(f)[0], 0.0]])
    for left, right in zip(states, play(flat, beside, x0, 60), strict=True):
        # Newton's method in place of the closed form, in a map that may expand
        close(right.x_bar[:, :1], left.x_bar, 1e-9)
        assert not np.any(right.x_bar[:, 1])


# ---- composite problems ---------------------------------------------------------------------------------------------


class Composite:
    """A problem with a shared regulariser."""

    def __init__(self, inner, regulariser) -> None:
        self.inner, self.regulariser = inner, regulariser

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def take(self, clients):
        return self if clients is None else Composite(self.inner.take(clients), self.regulariser)


@pytest.mark.parametrize("schedule", [All(), Uniform(2)], ids=["all", "two"])
@pytest.mark.parametrize("algorithm", [FedADMM(0.8), FedDR(0.7, 1.3)], ids=lambda a: type(a).__name__)
def test_splittings_solve_problems_with_a_shared_regulariser(algorithm, schedule) -> None:
    """The limit is a fixed point of proximal gradient steps, and sparse."""
    f = Composite(random_quadratics(4, 5, mu=0.3, seed=3), L1(0.4))
    x = runs(algorithm, f, 1500, schedule)[-1].x
    forward = x - 0.5 * gradient(f, x)
    close(x, f.regulariser.prox(forward, 0.5), 1e-12)
    assert 0 < np.count_nonzero(x) < 5
    state = algorithm.solution_state(f, x)
    assert_same(
        algorithm.round(f, state, Clients(4, np.array([1])), Key(0, 0)),
        dataclasses.replace(state, **fields(state)),
        1e-11,
    )


# ---- metrics --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "closes"), [(10, True), (2, True), (1, False)])
def test_primal_dual_gap_bounds_the_gap_and_closes_unless_one_client_comes_at_a_time(m, closes) -> None:
    """AFEDPD-D15."""
    f = random_quadratics(10, 3, mu=0.3, seed=4)
    best = float(f.lower_bound().value)
    found = run(
        AFedPD(2.0),
        f,
        start(f),
        500,
        participation=Uniform(m),
        metrics={
            "certificate": primal_dual.at_average(primal_dual.primal_dual_gap),
            "gap": primal_dual.at_average(metrics.gap(best)),
            "error": primal_dual.dual_error(f, f.solution()),
            "mean dual": primal_dual.mean_dual,
            "consensus": metrics.consensus,
        },
    )
    assert np.all(found["certificate"] >= found["gap"] - 1e-14)
    last = {name: float(found[name][-1]) for name in found.metrics}
    if closes:
        assert all(value < 1e-10 for value in last.values()), last
    else:
        assert last["certificate"] > 0.1 and last["error"] > 0.1 and last["consensus"] > 0.01


def test_mean_dual_of_a_fedpd_is_the_step_of_the_average() -> None:
    f, rho = problem("cosines"), 1.9
    for old, new in pairwise(runs(AFedPD(rho), f, 20, Uniform(2))):
        expected = rho**2 * ((new.x_bar - old.x_bar) ** 2).sum()
        assert primal_dual.mean_dual(f, new) == pytest.approx(expected, rel=1e-9, abs=1e-24)


def test_lagrangian_at_the_solution_is_the_objective_and_the_server_minimises_it() -> None:
    """AFEDPD-S5: theta^{t+1} minimises the augmented Lagrangian given models and duals, with all clients."""
    f, rho = problem("quadratics"), 0.9
    lagrangian = primal_dual.lagrangian(rho)
    x = f.solution()[None, :]
    assert lagrangian(f, AFedPD(rho).solution_state(f, x)) == pytest.approx(float(objective(f, x)), rel=1e-13)
    for algorithm in (AFedPD(rho), FedADMM(rho), FedDyn(rho), FedPD(1 / rho)):
        state = play(algorithm, f, x0_of(f), 4)[-1]
        level = lagrangian(f, state)
        for move in 1e-3 * np.eye(f.d):
            for sign in (1, -1):
                aside = lagrangian(f, dataclasses.replace(state, x=state.x + sign * move))
                assert aside - level == pytest.approx(
                    rho / 2 * 1e-6, rel=1e-6
                )  # rounding: 1e-16 of a difference of 1e-6
    batch = primal_dual.lagrangian(along_batch([rho, 2.0]))
    np.testing.assert_allclose(
        batch(f, state), [lagrangian(f, state), primal_dual.lagrangian(2.0)(f, state)], rtol=1e-14
    )


def test_dual_error_vanishes_at_the_solution_and_only_there() -> None:
    f = prescribed_quadratics(4, 3, zeta=1.5, seed=2)
    x = f.solution()
    state = FedDyn(1.0).solution_state(f, x[None, :])
    metric = primal_dual.dual_error(f, x)
    assert metric(f, state) == 0
    assert metric(f, dataclasses.replace(state, lam_i=0 * state.lam_i)) == pytest.approx(1.5**2, rel=1e-12)


def test_metrics_say_what_they_need() -> None:
    f = problem("sines")
    state = AFedPD(1.0).init(f, x0_of(f))
    with pytest.raises(NotAvailable, match="a dual value needs 'conjugate'"):
        primal_dual.primal_dual_gap(f, state)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: FedADMM(1.0, averages="some"), "averages must be 'all' or 'active', got 'some'"),
        (lambda: FedDyn(1.0, server_dual="both"), "server_dual must be 'new' or 'old', got 'both'"),
        (lambda: FedDR(0.1, 0), "alpha must be positive, got 0"),
        (lambda: AFedPD(0), "rho must be positive, got 0"),
    ],
)
def test_wrong_settings_are_named(make, match) -> None:
    with pytest.raises(InvalidInput, match=match):
        make()
