"""Composite methods: FedSLR, LPGD, GPGD, proximal gradient, low-rank problems, engines.

Reference implementations are written here in plain NumPy loops, from the paper's pseudo-code.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction as Q
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import close, draw, play, problem, small_perceptron, start
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import (
    FedAvg,
    FedDyn,
    FedPD,
    FedSLR,
    GlobalProximal,
    GradientDescent,
    LocalProximal,
    ProximalGradient,
)
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import CannotTrace, InvalidInput, NotAvailable
from fedtheory.core.layers import Layer, factor_floats, ranks, split_layers, truncate
from fedtheory.core.participation import Clients, Uniform
from fedtheory.core.problem import constant, objective
from fedtheory.core.regularisers import L1, NuclearNorm, Ridge, Zero, regularised, slope
from fedtheory.local.proximal_steps import ProximalSteps
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.measures import metrics
from fedtheory.measures.catalogue import look_up, offered_metrics
from fedtheory.measures.ground_truth import certify_point, ground_truth
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.one_n.worst_case import worst_case_for_one_n
from fedtheory.proofs.symbolic import play_exactly
from fedtheory.running.families import build_problem
from fedtheory.running.runner import run
from problems.low_rank import low_rank_regression, robust_low_rank_regression
from problems.quadratics import random_quadratics, same_curvature, scalar_quadratics

ROUNDING = 1e-12  # the two sides do the same few hundred operations in another order


# ---- FedSLR: one implementation, three algorithms ------------------------------------------------------------------

TASK = low_rank_regression(4, 4, 3, rank=1, nonzeros=2, samples=30, seed=3)
LRS = TASK.problem
MATRIX = (Layer("matrix", (4, 3)),)


def shrink(x, threshold):
    u, s, vt = np.linalg.svd(x.reshape(4, 3), full_matrices=False)
    return (u @ np.diag(np.maximum(s - threshold, 0)) @ vt).ravel()


def soft(x, threshold):
    return np.sign(x) * np.maximum(np.abs(x) - threshold, 0)


def algorithm_one(f, eta, lam, mu, steps, lr, w, rounds, sets=None, printed=False):
    """FedSLR's Algorithms 1 and 2 on quadratics f.A, f.b, LR+S, in loops; yields (w, w_i, gamma_i, p_i)."""
    n, d = f.b.shape
    wi, gamma, p = [w] * n, [f.A[i] @ w - f.b[i] for i in range(n)], [np.zeros(d)] * n
    yield w, wi, gamma, p
    for t in range(rounds):
        active = range(n) if sets is None else sets[t]
        wi, gamma, p = list(wi), list(gamma), list(p)
        for i in active:
            wi[i] = np.linalg.solve(f.A[i] + np.eye(d) / eta, f.b[i] + gamma[i] + w / eta)
            gamma[i] = gamma[i] + (w - wi[i]) / eta
            for _ in range(steps):
                p[i] = soft(p[i] - lr * (f.A[i] @ (w + p[i]) - f.b[i]), lr * mu)
        mean = sum(gamma) / n
        v = sum(wi[i] for i in active) / len(active) - (mean / eta if printed else eta * mean)
        w = shrink(v, lam * eta)
        yield w, wi, gamma, p


@pytest.mark.parametrize("sets", [None, [[0, 2], [1, 2], [3], [0, 1, 2, 3], [1]]], ids=["all", "subsets"])
@pytest.mark.parametrize("printed", [False, True])
def test_fedslr_is_the_papers_pseudo_code(sets, printed) -> None:
    from fedtheory.core.participation import Schedule

    eta, mu, lr, x0 = 0.11, 0.05, 0.07, start(LRS)
    method = FedSLR(eta, Exact(), ProximalSteps(3, lr, L1(mu)), printed=printed)
    schedule = None if sets is None else Schedule(lambda r: sets[r])
    ours = play(method, LRS, x0[None, :], 5, schedule)
    theirs = algorithm_one(LRS.inner, eta, LRS.regulariser.weight, mu, 3, lr, x0, 5, sets, printed)
    for state, (w, wi, gamma, p) in zip(ours, theirs, strict=True):
        close(state.x[0], w, ROUNDING)
        close(state.x_i, np.array(wi), ROUNDING)
        close(state.gamma_i, np.array(gamma), ROUNDING)
        close(state.p_i, np.array(p), ROUNDING)
        close(state.personal, w + np.array(p), ROUNDING)


@pytest.mark.parametrize("server", ["duals", "average"])
def test_algorithm_2_with_everyone_is_algorithm_1(server) -> None:
    method = FedSLR(0.1, personal=ProximalSteps(2, 0.05, L1(0.1)), server=server)
    everyone = Uniform(LRS.n)
    ours, theirs = play(method, LRS, start(LRS)[None], 20, everyone), play(method, LRS, start(LRS)[None], 20)
    for left, right in zip(ours, theirs, strict=True):
        for name in ("x", "x_i", "gamma_i", "p_i"):
            close(getattr(left, name), getattr(right, name), ROUNDING, name)


@pytest.mark.parametrize("participation", [None, Uniform(2), Uniform(1)], ids=["all", "two", "one"])
@pytest.mark.parametrize("init_dual", ["grad", "zero"])
def test_algorithm_3_keeps_the_average_alone_and_is_the_same(participation, init_dual) -> None:
    """FEDSLR-D5 and FEDSLR-N20."""
    left = play(FedSLR(0.1, init_dual=init_dual), LRS, start(LRS)[None], 30, participation)
    right = play(FedSLR(0.1, init_dual=init_dual, server="average"), LRS, start(LRS)[None], 30, participation)
    for ours, theirs in zip(left, right, strict=True):
        close(ours.x, theirs.x, ROUNDING)
        close(theirs.gamma, theirs.gamma_i.mean(axis=-2, keepdims=True), ROUNDING)


@pytest.mark.parametrize("name", ["quadratics", "indefinite", "penalised-logistic", "sines"])
def test_without_regulariser_and_personal_part_it_is_fedpd(name) -> None:
    f = problem(name)
    eta = 0.3 / float(constant(f, "L"))
    left, right = (play(method, f, start(f)[None], 30) for method in (FedSLR(eta), FedPD(eta)))
    for ours, theirs in zip(left, right, strict=True):
        close(ours.x, theirs.x, 1e-10)
        close(ours.gamma_i, -theirs.lam_i, 1e-10)


@pytest.mark.parametrize("participation", [None, Uniform(2), Uniform(1)], ids=["all", "two", "one"])
@pytest.mark.parametrize("name", ["quadratics", "penalised-logistic"])
def test_without_regulariser_it_is_feddyn_also_on_subsets(name, participation) -> None:
    """FEDSLR-N12: lam = 0, alpha = 1/eta; so the paper's eta = 10 and its FedDyn penalty 0.1 are one setting.

    gamma_i = g_i = -lam_i, and the server's dual h of FedDyn is the average of all g_i, which FedSLR's server takes afresh.
    """
    f, eta = problem(name), 10.0 if name == "quadratics" else 0.1
    left = play(FedSLR(eta, init_dual="zero"), f, start(f)[None], 40, participation)
    right = play(FedDyn(1 / eta), f, start(f)[None], 40, participation)
    for ours, theirs in zip(left, right, strict=True):
        for field in ("x", "x_i", "lam_i"):
            close(getattr(ours, field), getattr(theirs, field), 1e-10, field)


def test_the_printed_algorithm_2_solves_another_problem() -> None:
    """It divides the dual by eta where Algorithms 1 and 3 multiply: fixed points belong to eta^2 lam (FEDSLR-N15)."""
    eta, weight = 0.8, LRS.regulariser.weight
    printed = run(FedSLR(eta, printed=True), LRS, start(LRS), 400).state.x[0]
    meant = run(FedSLR(eta), LRS, start(LRS), 400).state.x[0]
    close(meant, ground_truth(LRS).x, 1e-9)
    scaled = regularised(LRS.inner, NuclearNorm(eta**2 * weight, MATRIX))
    close(printed, ground_truth(scaled).x, 1e-9)
    assert np.linalg.norm(printed - meant) > 1e-2
    both = (run(FedSLR(1.0, printed=flag), LRS, start(LRS), 50).state.x for flag in (False, True))
    close(*both, ROUNDING)


def test_the_personal_part_never_acts_on_the_global_one() -> None:
    """FEDSLR-N22, bit for bit, with minibatches too."""
    f = robust_low_rank_regression(seed=2).problem
    local = StochasticSteps(3, 0.1, 2)
    runs = [
        run(FedSLR(0.3, local, personal), f, start(f), 10, participation=Uniform(2))
        for personal in (None, ProximalSteps(3, 0.1, L1(0.01), 2), ProximalSteps(1, 0.2, L1(0.5)))
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.state.x, runs[0].state.x)
    np.testing.assert_array_equal(runs[0].state.personal, np.broadcast_to(runs[0].state.x, (f.n, f.d)))


class Samples:
    """A problem that notes the minibatches it is asked for."""

    def __init__(self, inner, seen) -> None:
        self.inner, self.seen = inner, seen

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def sample_grad(self, x, samples):
        self.seen.append(samples)
        return self.inner.sample_grad(x, samples)

    def take(self, clients):
        return Samples(self.inner.take(clients), self.seen)


def test_the_two_phases_draw_their_own_minibatches() -> None:
    seen: list = []
    f = Samples(robust_low_rank_regression(seed=2).problem, seen)
    play(FedSLR(0.3, StochasticSteps(3, 0.1, 4), ProximalSteps(3, 0.1, L1(0.01), 4)), f, start(f)[None], 1)
    assert len(seen) == 6 and all(samples.shape == (f.n, 4) for samples in seen)
    assert not any(np.array_equal(one, two) for one, two in zip(seen[:3], seen[3:], strict=True))


@pytest.mark.parametrize(
    "shared, personal",
    [
        (NuclearNorm(0.1, MATRIX), L1(0.05)),
        (L1(0.1), NuclearNorm(0.05, MATRIX)),
        (NuclearNorm(0.1, MATRIX), NuclearNorm(0.05, MATRIX)),
        (L1(0.1), L1(0.05)),
    ],
    ids=["LR+S", "S+LR", "LR+LR", "S+S"],
)
def test_every_combination_solves_its_two_problems(shared, personal) -> None:
    """(P1) against the ground truth, (P2) by its optimality condition; all four are choices of two regularisers (A.3)."""
    f = regularised(LRS.inner, shared)
    L = float(constant(f, "L"))
    state = run(FedSLR(1 / L, personal=ProximalSteps(20, 1 / L, personal)), f, start(f), 1500).state
    close(state.x[0], ground_truth(f).x, 1e-9)
    gradients = f.grad(state.personal)
    close(personal.distance(state.p_i, gradients), np.zeros(f.n), 1e-8)
    assert (np.linalg.norm(gradients, axis=-1) > 1e-2).all(), "without the regulariser these are no solutions"


@pytest.mark.parametrize("server", ["duals", "average"])
def test_the_composite_solution_with_its_duals_is_a_fixed_point(server) -> None:
    method, x = FedSLR(0.1, server=server), ground_truth(LRS).x[None, :]
    state = method.solution_state(LRS, x)
    for participation in (None, Uniform(2)):
        new = state
        for r in range(3):
            from fedtheory.core.randomness import Key

            key = Key(0, r)
            new = method.round(LRS, new, None if participation is None else participation.draw(LRS.n, key), key)
        for name in ("x", "x_i", "gamma_i"):
            close(getattr(new, name), getattr(state, name), 1e-11, name)
    assert FedSLR(0.1, printed=True).solution_state(LRS, x) is None
    assert FedSLR(0.1, personal=ProximalSteps(1, 0.1, L1(1.0))).solution_state(LRS, x) is None


def test_inexact_local_work_keeps_the_limit() -> None:
    """FEDSLR-N14: any number of inner gradient steps has the same fixed points, only the speed differs."""
    L = float(constant(LRS, "L"))
    truth = ground_truth(LRS).x
    for steps in (1, 4):
        local = GradientSteps(steps, 0.5 / (2 * L))
        close(run(FedSLR(1 / L, local), LRS, start(LRS), 3000, every=3000).state.x[0], truth, 1e-9)


def test_a_run_that_diverges_does_not_stop_the_others() -> None:
    """Printed Algorithm 2 diverges for small eta (FEDSLR-N15); a singular value decomposition refuses infinities."""
    etas = along_batch([0.02, 1.0])
    trace = run(FedSLR(etas, printed=True), LRS, start(LRS), 600, every=600)
    assert trace.diverged.tolist() == [True, False]
    close(trace.state.x[1], run(FedSLR(1.0, printed=True), LRS, start(LRS), 600, every=600).state.x, 1e-10)
    x = np.stack([np.full((1, 12), np.inf), draw((1, 12))])
    shrunk = LRS.regulariser.prox(x, 1.0)
    assert np.isnan(shrunk[0]).all()
    close(shrunk[1], LRS.regulariser.prox(x[1], 1.0), ROUNDING)


def test_fedslr_refuses_settings_it_does_not_have() -> None:
    for bad, message in (
        ({"eta": 0}, "eta must be positive"),
        ({"eta": 1, "init_dual": "one"}, "init_dual must be 'grad' or 'zero', got 'one'"),
        ({"eta": 1, "server": "none"}, "server must be 'duals' or 'average', got 'none'"),
    ):
        with pytest.raises(InvalidInput, match=message):
            FedSLR(**bad)
    with pytest.raises(InvalidInput, match="Exact has no step size lr; expected a step for the server"):
        GlobalProximal(Exact())
    assert GlobalProximal(Exact(), 0.25).step == 0.25 and GlobalProximal(GradientSteps(1, 0.5)).step == 0.5
    for bad in ({"steps": 0}, {"lr": -1.0}, {"batch": 0}):
        with pytest.raises(InvalidInput):
            ProximalSteps(**({"steps": 1, "lr": 0.1, "regulariser": Zero()} | bad))


# ---- traffic ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("participation", [None, Uniform(3)], ids=["all", "three"])
def test_floats_sent_are_those_of_the_factors(participation) -> None:
    """Down: the factors of the model that a round starts from; up: the local model in full, and before the first round all first duals."""
    method, rounds, f = FedSLR(1.0), 12, regularised(LRS.inner, NuclearNorm(1.5, MATRIX))
    states = play(method, f, start(f)[None], rounds, participation)
    trace = run(method, f, start(f), rounds, participation=participation)
    m = f.n if participation is None else 3
    sent = [int(factor_floats(state.x, MATRIX)[0]) * m for state in states[:-1]]
    assert len(set(sent)) > 1, "the rank must change for this to test anything"
    np.testing.assert_allclose(trace.floats_down, np.concatenate([[0], np.cumsum(sent)]), rtol=1e-13)
    np.testing.assert_array_equal(trace.floats_up, f.n * f.d + np.arange(rounds + 1) * m * f.d)
    from_zero = run(FedSLR(1.0, init_dual="zero"), f, start(f), rounds, participation=participation)
    np.testing.assert_array_equal(from_zero.floats_up, np.arange(rounds + 1) * m * f.d)


def test_without_a_nuclear_norm_models_are_sent_in_full() -> None:
    for f in (LRS.inner, regularised(LRS.inner, L1(0.3))):
        trace = run(FedSLR(0.3), f, start(f), 3)
        np.testing.assert_array_equal(trace.floats_down, np.arange(4) * f.n * f.d)


# ---- proximal gradient and its federated readings -------------------------------------------------------------------


def same(left, right, rounds=25, f=LRS, participation=None, rtol=1e-10):
    for ours, theirs in zip(
        play(left, f, start(f)[None], rounds, participation),
        play(right, f, start(f)[None], rounds, participation),
        strict=True,
    ):
        close(ours.x, theirs.x, rtol)


def test_reductions_of_the_proximal_methods() -> None:
    lr, f = 0.05, LRS.inner
    same(ProximalGradient(lr), GradientDescent(lr), f=f)
    for steps, participation in ((1, None), (3, None), (3, Uniform(2))):
        same(LocalProximal(steps, lr), FedAvg(GradientSteps(steps, lr)), f=f, participation=participation)
        same(
            GlobalProximal(GradientSteps(steps, lr), lr),
            FedAvg(GradientSteps(steps, lr)),
            f=f,
            participation=participation,
        )
    same(GlobalProximal(GradientSteps(1, lr), lr), ProximalGradient(lr))
    alone = LRS.take(Clients(LRS.n, np.array([1])))
    thrice = play(ProximalGradient(lr), alone, start(LRS)[None], 9)[::3]
    for ours, theirs in zip(play(LocalProximal(3, lr), alone, start(LRS)[None], 3), thrice, strict=True):
        close(ours.x, theirs.x, ROUNDING)
    with pytest.raises(AssertionError):
        same(LocalProximal(1, lr), ProximalGradient(lr))  # the average of proximal points is another point


def test_proximal_gradient_and_fedslr_reach_the_optimum_where_the_others_are_biased() -> None:
    """FEDSLR-D2c, on I-LRS: relative distances 5.9 % (GPGD, K = 2) and 1.6 % (LPGD, K = 1)."""
    f = low_rank_regression().problem
    truth, lr, zero = ground_truth(f, witness=False).x, 0.5 / float(constant(f, "L")), np.zeros(f.d)

    def apart(method, rounds):
        return np.linalg.norm(run(method, f, zero, rounds, every=rounds).state.x[0] - truth) / np.linalg.norm(truth)

    assert apart(GlobalProximal(GradientSteps(1, lr), lr), 1500) < 1e-6
    assert apart(FedSLR(1.0, init_dual="zero"), 300) < 1e-6
    assert apart(GlobalProximal(GradientSteps(2, lr), lr), 1000) == pytest.approx(0.059, abs=1e-3)
    assert apart(LocalProximal(1, lr), 1000) == pytest.approx(0.016, abs=1e-3)
    assert apart(GlobalProximal(GradientSteps(2, lr), 2 * lr), 1000) == pytest.approx(0.033, abs=1e-3)


@given(eta=st.floats(0.02, 0.2), steps=st.sampled_from([1, 3, 10]))
@settings(max_examples=10)
def test_fixed_point_of_gpgd_on_scalar_quadratics(eta, steps) -> None:
    """FEDSLR-N19: sum (1 - q_i^K) b_i / sum (1 - q_i^K) with q_i = 1 - eta h_i."""
    h, b = np.array([1.0, 4.0]), np.array([0.0, 1.0])
    weight = 1 - (1 - eta * h) ** steps
    limit = run(GlobalProximal(GradientSteps(steps, eta), eta), scalar_quadratics(h, b), np.ones(1), 1500).state.x
    assert float(limit[0, 0]) == pytest.approx((weight * b).sum() / weight.sum(), rel=1e-12)


# ---- problems -----------------------------------------------------------------------------------------------------


def test_low_rank_regression_is_the_instance_of_the_claims() -> None:
    """I-LRS: smoothness constant, optimum and its singular values, found with other code and CVXPY."""
    task = low_rank_regression()
    assert float(constant(task.problem, "L")) == pytest.approx(5.564983, abs=1e-6)
    truth = ground_truth(task.problem)
    assert truth.f == pytest.approx(12.3040757462, abs=1e-9)
    assert truth.witness == pytest.approx(truth.f, abs=1e-7)
    values = np.linalg.svd(truth.x.reshape(12, 10), compute_uv=False)
    np.testing.assert_allclose(values[:8], [6.9092, 3.2859, 1.3178, 0.8290, 0.5957, 0.4588, 0.3750, 0.0733], atol=5e-5)
    assert ranks(truth.x[None], task.problem.layers).item() == 8
    assert task.error(task.low_rank + task.sparse) == 0
    assert task.error(task.low_rank) == pytest.approx(
        np.mean(np.linalg.norm(task.sparse, axis=1) / np.linalg.norm(task.low_rank + task.sparse, axis=1))
    )


def test_robust_regression_meets_the_papers_assumptions() -> None:
    """A1 and A2 are certified; the bound on gradients holds far out, where the loss is flat."""
    f = robust_low_rank_regression().problem
    B, L = float(constant(f, "B")), float(constant(f, "L"))
    for scale in (0.1, 1.0, 10.0, 1e3):
        x, y = scale * draw((50, f.n, f.d), 1), scale * draw((50, f.n, f.d), 2)
        assert np.linalg.norm(f.grad(x), axis=-1).max() <= B
        apart = np.linalg.norm(f.grad(x) - f.grad(y), axis=-1) / np.linalg.norm(x - y, axis=-1)
        assert apart.max() <= L
    assert float(f.lower_bound()) == 0 and (f.value(x) >= 0).all()


def test_low_rank_plus_sparse_pays_on_data_that_is_low_rank_plus_sparse() -> None:
    """FedSLR's low-rank regression at small scale: the mixed model beats the global one and the lasso of every client alone."""
    task = low_rank_regression(12, 8, 6, rank=1, nonzeros=3, samples=30, weight=0.1, seed=1)
    f, L = task.problem, float(constant(task.problem, "L"))
    state = run(FedSLR(3 / L, personal=ProximalSteps(10, 1 / L, L1(0.1))), f, np.zeros(f.d), 400, every=400).state
    alone = run(
        FedSLR(1.0, personal=ProximalSteps(10, 1 / L, L1(0.1))),
        regularised(f.inner, NuclearNorm(1e3, f.layers)),
        np.zeros(f.d),
        400,
        every=400,
    ).state
    assert not alone.x.any(), "a huge weight leaves the personal part alone"
    assert task.error(state.personal) < 0.9 * task.error(state.x)
    assert task.error(state.personal) < 0.9 * task.error(alone.personal)


@pytest.mark.parametrize("bad", [{"rank": 0}, {"rank": 9}, {"nonzeros": 1000}, {"samples": 0}])
def test_low_rank_problems_refuse_nonsense(bad) -> None:
    with pytest.raises(InvalidInput, match="expected 1 <= rank <= 5"):
        low_rank_regression(2, 6, 5, **bad)


# ---- ground truth and engines -------------------------------------------------------------------------------------


def test_the_composite_certificate_covers_the_distance() -> None:
    truth = ground_truth(LRS)
    assert truth.gap < 1e-24 and "least subgradient of f + h" in truth.how
    assert float(slope(LRS, truth.x[None])) < 1e-12
    mu = float(constant(LRS, "mu_avg"))
    for seed in range(20):
        near = truth.x + 10.0 ** -(seed / 3) * draw(LRS.d, seed)
        gap, distance = certify_point(LRS, near, mu)
        assert np.linalg.norm(near - truth.x) <= distance + truth.distance
        assert float(objective(LRS, near[None])) - truth.f <= gap + truth.gap
    stationary = metrics.stationarity(LRS, dataclasses.make_dataclass("S", ["x"])(truth.x[None]))
    assert float(stationary) < 1e-24


def test_worst_cases_of_composite_objectives() -> None:
    """Known exactly: max(1 - lr mu, |1 - lr L|)^(2R) in distance, L R_0^2/(4 R) in value at lr = 1/L (Taylor et al. 2018)."""
    for n, lr in ((1, 0.5), (2, 1.5)):
        answer = worst_case_for_one_n(ProximalGradient(lr), FunctionClass(1.0, 0.2, composite=True), n=n, rounds=2)
        assert answer.value == pytest.approx(max(1 - 0.2 * lr, abs(1 - lr)) ** 4, rel=1e-5)
    answer = worst_case_for_one_n(
        ProximalGradient(1.0), FunctionClass(1.0, composite=True), n=1, rounds=2, measure="gap"
    )
    assert answer.value == pytest.approx(1 / 8, rel=1e-5)
    with pytest.raises(InvalidInput, match=r"cannot be run: the class is composite"):
        answer.replay()
    smooth = worst_case_for_one_n(FedSLR(1.0), FunctionClass(1.0, 0.2), n=2, rounds=1)
    shared = worst_case_for_one_n(FedSLR(1.0), FunctionClass(1.0, 0.2, composite=True), n=2, rounds=1)
    assert smooth.value <= shared.value * (1 + 1e-4), "h = 0 is one of the regularisers"
    with pytest.raises(InvalidInput, match="gradient of f alone; composite classes go with"):
        worst_case_for_one_n(
            ProximalGradient(1.0), FunctionClass(1.0, composite=True), n=1, rounds=1, measure="stationarity"
        )
    with pytest.raises(InvalidInput, match="need convex f_i"):
        FunctionClass(1.0, -1.0, composite=True)


def test_engines_without_numbers_name_what_they_cannot_run() -> None:
    personal = FedSLR(1.0, personal=ProximalSteps(1, 0.1, L1(1.0)))
    with pytest.raises(
        CannotTrace, match=r"worst-case engine .* FedSLR: ProximalSteps: the proximal step of the l1 norm"
    ):
        worst_case_for_one_n(personal, FunctionClass(1.0), n=1, rounds=1)
    quadratic = scalar_quadratics([Q(1)], [Q(0)])
    nuclear = regularised(quadratic, NuclearNorm(1.0, (Layer("scalar", (1, 1)),)))
    with pytest.raises(CannotTrace, match="a nuclear norm cannot be followed symbolically"):
        play_exactly(FedSLR(Q(1)), nuclear, np.array([Q(1)], dtype=object), 1)
    batched = FedSLR(1.0, personal=ProximalSteps(1, 0.1, Ridge(1.0), batch=1))
    with pytest.raises(CannotTrace, match="draws samples at random"):
        worst_case_for_one_n(batched, FunctionClass(1.0), n=1, rounds=1)


def test_linear_heterogeneity_never_reaches_the_global_model() -> None:
    """FEDSLR-N16: clients of one curvature move it as their average does, whatever their linear terms."""
    f = same_curvature(3, 4, mu=0.3, seed=3)
    alike = dataclasses.replace(f, b=np.broadcast_to(f.b.mean(axis=-2, keepdims=True), f.b.shape).copy())
    method = FedSLR(0.4 / float(constant(f, "L")), init_dual="zero")
    pairs = zip(*(play(method, regularised(g, L1(0.2)), start(g)[None], 40) for g in (f, alike)), strict=True)
    assert all(np.abs(ours.x - theirs.x).max() < 1e-12 for ours, theirs in pairs)


def test_exact_phase_one_contracts_by_one_over_one_plus_x() -> None:
    """FEDSLR-N14, in fractions: s_t = w_t + eta gamma_t obeys s_{t+1} = s_t / (1 + eta h)."""
    eta, h = Q(3, 10), Q(7, 10)
    states = play_exactly(
        FedSLR(eta, init_dual="zero"), scalar_quadratics([h], [Q(0)]), np.array([Q(2)], dtype=object), 4
    )
    s = [state.x[0, 0] + eta * state.gamma_i[0, 0] for state in states]
    assert all(new == old / (1 + eta * h) for old, new in zip(s, s[1:], strict=False))


# ---- what is measured along a run, and how FedSLR is asked for by name ------------------------------------------------


def test_sizes_and_ranks_of_models() -> None:
    f = small_perceptron()
    x = truncate(draw((3, 1, f.d)), f.layers, 2)
    measured = offered_metrics(FedSLR(0.1, personal=ProximalSteps(1, 0.1, L1(0.1))).init(f, x[0]), f)
    assert {"factored_size", "component_size"} <= measured.keys()
    p = draw((3, f.n, f.d)) * (np.arange(f.d) < np.arange(f.n)[:, None])

    state = SimpleNamespace(x=x, p_i=p)
    np.testing.assert_array_equal(metrics.factored_size(f, state), factor_floats(x, f.layers)[..., 0])
    np.testing.assert_array_equal(metrics.component_size(f, state), np.full(3, (f.n - 1) / 2))
    np.testing.assert_array_equal(look_up("rank of first weights").on(f)(f, state), [2, 2, 2])
    with pytest.raises(
        InvalidInput, match="'first biases' is not a layer with a rank; these are: first weights, second"
    ):
        look_up("rank of first biases").on(f)(f, state)


def test_components_may_start_at_a_copy_of_the_matrices() -> None:
    f = small_perceptron()
    x0 = draw((1, f.d))
    p = FedSLR(0.1, personal=ProximalSteps(1, 0.1, L1(0.1)), init_personal="copy").init(f, x0).p_i
    for part, first, layer in zip(split_layers(p, f.layers), split_layers(x0, f.layers), f.layers, strict=True):
        expected = np.zeros_like(first) if layer.matrix_shape is None else first
        np.testing.assert_array_equal(part, np.repeat(expected, f.n, axis=0))
    with pytest.raises(InvalidInput, match="init_personal must be 'zero' or 'copy', got 'ones'"):
        FedSLR(0.1, init_personal="ones")  # type: ignore[arg-type]
    with pytest.raises(NotAvailable, match="layers"):
        FedSLR(0.1, personal=ProximalSteps(1, 0.1, L1(0.1)), init_personal="copy").init(
            random_quadratics(2, 3), np.zeros((1, 3))
        )


def test_networks_may_share_a_nuclear_norm() -> None:
    asked = {"clients": 3, "split": "iid", "test": "own", "tests_a_client": 5, "hidden": 6}
    plain, f = (build_problem("digits-mlp", nuclear=weight, **asked) for weight in (0.0, 0.3))
    x = draw((1, f.d))
    assert not hasattr(plain, "regulariser")
    nuclear = sum(
        np.linalg.norm(part, "nuc") for part in (split_layers(x, f.layers)[0][0], split_layers(x, f.layers)[2][0])
    )
    np.testing.assert_allclose(metrics.value(f, SimpleNamespace(x=x)) - plain.value(x).mean(axis=-1), 0.3 * nuclear)
    np.testing.assert_array_equal(f.personal_accuracy(x), plain.personal_accuracy(x))
    with pytest.raises(NotAvailable, match=r"a nuclear norm of layers \(--nuclear\)"):
        build_problem("quadratics", nuclear=0.1)
