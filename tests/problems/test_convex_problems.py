"""Support vector machines, softmax regression, chains, distances, regularised problems: what is their own."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import LIBRARIES, as_parameters, close, play, ragged_logistic, ragged_softmax, ragged_svm
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import FedAvg, FedPD, Scaffold
from fedtheory.core.arrays import average, to_numpy
from fedtheory.core.duality import fenchel_young_gap
from fedtheory.core.errors import InvalidInput, NotAvailable, SolverFailed
from fedtheory.core.participation import Clients
from fedtheory.core.problem import can, constant, constants, move_to_library, objective
from fedtheory.core.regularisers import L1, Regularised, Ridge
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.ground_truth import ground_truth, solve_consensus
from problems.chains import TotalVariation, nesterov_chain, total_variation_chain
from problems.datasets import breast_cancer
from problems.huber import Huber, huber_pair, linear_pair, random_huber
from problems.logistic import logistic
from problems.lower_bound import supports, unreached
from problems.quadratics import random_indefinite, random_quadratics
from problems.softmax import softmax
from problems.splits import by_sorted_label, federate
from problems.svm import SupportVectorMachine, svm

seeds = st.integers(0, 10**6)


def draw(f, seed, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal((f.n, f.d))


# ---- support vector machines --------------------------------------------------------------------------------------


def test_the_three_losses_by_hand() -> None:
    """One sample s = 1: margins 2, 1, 3/4, 0 and -1 with width 1/2."""
    at = np.array([2.0, 1.0, 0.75, 0.0, -1.0])[:, None, None]
    one = {"features": [[[1.0]]], "labels": [[1]]}
    hinge, smooth = svm(**one, l2=0.0), svm(**one, l2=0.0, width=0.5)
    squared = svm(**one, l2=0.0, width=0.5, squared=True)
    np.testing.assert_array_equal(hinge.value(at)[:, 0], [0, 0, 0.25, 1, 2])
    np.testing.assert_array_equal(hinge.grad(at)[:, 0, 0], [0, 0, -1, -1, -1])
    np.testing.assert_array_equal(smooth.value(at)[:, 0], [0, 0, 0.0625, 0.75, 1.75])
    np.testing.assert_array_equal(smooth.grad(at)[:, 0, 0], [0, 0, -0.5, -1, -1])
    np.testing.assert_array_equal(squared.value(at)[:, 0], [0, 0, 0.0625, 1, 4])
    np.testing.assert_array_equal(squared.grad(at)[:, 0, 0], [0, 0, -0.5, -2, -4])
    assert not can(hinge, "hess") and not can(hinge, "conjugate") and can(smooth, "hess")
    assert set(constants(hinge)) == {"mu", "mu_i", "mu_avg"}


def test_rounding_the_hinge_lowers_it_by_at_most_half_the_width() -> None:
    sharp = ragged_svm(l2=0.1)
    for width in (0.1, 1.0):
        f = dataclasses.replace(sharp, width=width)
        x = draw(f, 0, 3.0)
        assert np.all(sharp.value(x) >= f.value(x)) and np.all(sharp.value(x) <= f.value(x) + width / 2)


@given(seed=seeds, width=st.sampled_from([0.0, 1e-3, 0.3]), squared=st.booleans(), l2=st.sampled_from([1e-3, 0.1, 3.0]))
@settings(max_examples=30)
def test_the_interior_point_method_closes_its_gap(seed, width, squared, l2) -> None:
    """f^* lies in [upper - gap, upper], and the gap is rounding; filled-up clients are the clients without filling."""
    if squared and not width:
        return
    f = ragged_svm(l2=l2, width=width, squared=squared, seed=seed % 13)
    y = draw(f, seed, 2.0)
    x, upper, gap = f.dual(y)
    size = 1 + np.abs(upper) + np.abs((x * y).sum(-1)) + f.value(x)
    assert np.all(gap >= -1e-14 * size) and np.all(gap <= 1e-13 * size)
    for i, m in enumerate(f.n_samples):
        alone = dataclasses.replace(f, signed=f.signed[i : i + 1, :m], weights=f.weights[i : i + 1, :m])
        assert alone.dual(y[i : i + 1])[1][0] == pytest.approx(upper[i], abs=2e-13 * size[i])


def test_narrow_rounding_is_solved_where_newton_alone_stalls() -> None:
    f = ragged_svm(l2=0.01, width=1e-3)
    y = draw(f, 1, 2.0)
    close(f.grad(f.conjugate_grad(y)), y, 1e-10)


def test_real_data_support_vector_machine_is_certified() -> None:
    """HINGE: breast_cancer over clients, mean hinge plus ridge."""
    data = breast_cancer()
    base = federate(data, by_sorted_label(data.labels, 4))
    f = SupportVectorMachine(base.signed, base.weights, 0.1)
    truth = ground_truth(f).good_to(1e-12)
    assert "duality gap" in truth.how and abs(truth.witness - truth.f) < 1e-9 and truth.distance < 1e-5
    assert objective(f, truth.x[None, :] + 1e-3) > truth.f


def test_svm_settings_are_checked() -> None:
    for wrong, words in (({"l2": -1.0}, "l2 >= 0"), ({"l2": 1.0, "squared": True}, "needs width > 0, got 0")):
        with pytest.raises(InvalidInput, match=words):
            svm([[[1.0]]], [[1]], **wrong)
    with pytest.raises(InvalidInput, match=r"expected \(\*batch, n, m, d\) and \(n, m\)"):
        SupportVectorMachine(np.zeros((2, 3, 1)), np.zeros((2, 2)))


# ---- softmax regression -------------------------------------------------------------------------------------------


def test_two_classes_are_logistic_regression() -> None:
    """log(e^{z0} + e^{z1}) - z_b = log(1 + exp(-s (z1 - z0))) with s = 2b - 1."""
    rng = np.random.default_rng(0)
    features, labels = [rng.standard_normal((m, 3)) for m in (4, 5)], [np.arange(m) % 2 for m in (4, 5)]
    two, one = softmax(features, labels), logistic(features, labels)
    w = rng.standard_normal((2, 3, 2))
    x, z = w.reshape(2, 6), w[..., 1] - w[..., 0]
    close(two.value(x), one.value(z), 1e-14)
    g = two.grad(x).reshape(2, 3, 2)
    close(g[..., 1], one.grad(z), 1e-14)
    close(g[..., 0], -one.grad(z), 1e-14)


def test_the_smoothness_of_softmax_is_attained_by_two_classes_at_zero() -> None:
    rng = np.random.default_rng(1)
    f = softmax([rng.standard_normal((6, 2))], [np.arange(6) % 2], l2=0.3)
    top = np.linalg.eigvalsh(f.hess(np.zeros((1, 4))))[0, -1]
    assert float(constant(f, "L")) == pytest.approx(top, rel=1e-12)


def test_a_common_shift_of_the_classes_costs_ridge_only() -> None:
    """The curvature along equal columns is l2, so mu = l2 is exact."""
    f = ragged_softmax(l2=0.2)
    shift = np.repeat(np.array([[1.0, -2.0]]), 3, axis=0).T.reshape(1, 6)
    x = draw(f, 2)
    close(f.value(x + shift) - f.value(x), 0.1 * (((x + shift) ** 2).sum(-1) - (x * x).sum(-1)), 1e-13)


def test_softmax_truth_is_certified_and_its_layer_is_its_matrix() -> None:
    f = ragged_softmax()
    assert ground_truth(f).good_to(1e-25).witness == pytest.approx(ground_truth(f).f, abs=1e-7)
    assert [(layer.name, layer.shape) for layer in f.layers] == [("W", (2, 3))]


def test_softmax_input_is_checked() -> None:
    for features, labels, words in (
        ([[[1.0]], [[1.0, 2.0]]], [[0], [0]], "the same inputs for all"),
        ([[[1.0]]], [[0.5]], "whole numbers from 0"),
        ([[[np.nan]]], [[0]], "NaN or infinite"),
        ([[[1.0]]], [[0], [1]], "one a client"),
    ):
        with pytest.raises(InvalidInput, match=words):
            softmax([np.array(a) for a in features], [np.array(b) for b in labels])


# ---- chains -------------------------------------------------------------------------------------------------------


def test_nesterov_chain_has_its_constants_and_its_solution() -> None:
    """Every client has the modulus mu and the smoothness L exactly; x*_j -> q^j."""
    f = nesterov_chain(60, L=1.0, mu=0.04, n=4)
    np.testing.assert_allclose(constant(f, "L_i").value, 1.0, rtol=1e-12)
    np.testing.assert_allclose(constant(f, "mu_i").value, 0.04, rtol=1e-11)
    q = (5 - 1) / (5 + 1)
    np.testing.assert_allclose(f.solution(), q ** np.arange(1, 61), atol=2 * q**60)
    np.testing.assert_allclose(nesterov_chain(7, mu=0.0).solution(), np.ones(7), rtol=1e-12)
    assert float(nesterov_chain(7, mu=0.0).lower_bound().value) == pytest.approx(0, abs=1e-15)
    with pytest.raises(InvalidInput, match="an even number of clients"):
        nesterov_chain(5, n=3)


METHODS = {
    "fedavg": FedAvg(GradientSteps(30, 0.3)),
    "scaffold": Scaffold(GradientSteps(30, 0.3)),
    "fedpd": FedPD(0.3, GradientSteps(30, 0.2), init_dual="zero"),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("n", [2, 4])
def test_each_communication_reaches_one_coordinate_of_nesterovs_chain(method, n) -> None:
    """So the error after t rounds is at least that of the best point with t coordinates: sum_{j > t} q^2j."""
    f = nesterov_chain(8, n=n)
    reached = [supports(state.x)[0].sum() for state in play(method, f, unreached(8)[None, :], 8)]
    assert reached == list(range(9))
    x = f.solution()
    for t, state in enumerate(play(method, f, np.zeros((1, 8)), 8)):
        assert np.all(state.x[0, t:] == 0)
        assert ((state.x[0] - x) ** 2).sum() >= (x[t:] ** 2).sum()


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_each_communication_reaches_one_coordinate_of_the_total_variation_chain(method) -> None:
    f = total_variation_chain(6)
    for t, state in enumerate(play(method, f, np.zeros((1, 6)), 6)):
        assert np.all(state.x[0, t:] == 0) and (t == 0 or state.x[0, t - 1] != 0)


def test_total_variation_solution_is_checked_before_it_is_given() -> None:
    f = total_variation_chain(20)
    np.testing.assert_allclose(f.solution(), np.full(20, 1 / 40), rtol=1e-14)
    truth = ground_truth(f).good_to(1e-12)
    assert np.linalg.norm(truth.x - f.solution()) <= truth.distance
    strong = total_variation_chain(20, pull=3.0)
    with pytest.raises(NotAvailable, match="not constant along the chain"):
        strong.solution()
    assert np.ptp(ground_truth(strong).good_to(1e-12).x) > 0.01
    with pytest.raises(NotAvailable, match="no unique minimiser"):
        total_variation_chain(4, mu=0.0).solution()


def test_total_variation_without_ridge_has_a_thin_conjugate() -> None:
    """g = |x2 - x1| - x3: y + l = (t, -t, 0) with |t| <= 1 and nothing else (dual of DualFL's local problem at nu = mu)."""
    f = TotalVariation(np.array([[1.0, 0.0]]), np.array([[0.0, 0.0, 1.0]]), mu=0.0)
    for t, value in ((0.3, 0.0), (-1.0, 0.0), (1.0 + 1e-9, np.inf)):
        assert f.conjugate(np.array([[t, -t, -1.0]]))[0] == value
    assert f.conjugate(np.array([[0.3, -0.2, -1.0]]))[0] == np.inf
    assert f.conjugate(np.array([[0.3, -0.3, -0.9]]))[0] == np.inf
    x = draw(f, 0)
    np.testing.assert_allclose(fenchel_young_gap(f, x, f.grad(x)), 0, atol=1e-14)
    assert not can(f, "conjugate_grad")


def test_couplings_of_a_client_must_not_touch() -> None:
    with pytest.raises(InvalidInput, match="no two neighbours"):
        TotalVariation(np.ones((1, 2)), np.zeros((1, 3)))
    with pytest.raises(InvalidInput, match="at least two coordinates"):
        total_variation_chain(1)


# ---- distances ----------------------------------------------------------------------------------------------------

DISTANCES = {
    "huber": lambda s: random_huber(3, 4, width=0.5, mu=0.1, seed=s),
    "absolute": lambda s: random_huber(3, 4, width=0.0, mu=0.1, seed=s),
    "total variation": lambda s: TotalVariation(
        np.array([[0.7, 0, 0.2], [0, 1.3, 0], [0, 0, 0.4]]), np.random.default_rng(s).standard_normal((3, 4)), 0.1
    ),
}


@pytest.mark.parametrize("make", DISTANCES.values(), ids=DISTANCES)
@given(seed=seeds, step=st.sampled_from([0.01, 1.0, 50.0]))
@settings(max_examples=20)
def test_proximal_steps_leave_subgradients(make, seed, step) -> None:
    """(v - p)/step is a subgradient of f_i at p = prox(v): their Fenchel-Young gap is zero."""
    f = make(seed % 5)
    v = draw(f, seed, 3.0)
    p = f.prox(v, step)
    gap = fenchel_young_gap(f, p, (v - p) / step)
    size = 1 + np.abs(f.value(p)) + ((v - p) ** 2).sum(-1) / step**2
    assert np.all(np.abs(gap) <= 1e-13 * size)


@given(seed=seeds, n=st.integers(1, 4), mu=st.sampled_from([0.0, 0.1]), width=st.sampled_from([0.0, 0.4]))
@settings(max_examples=40)
def test_solutions_of_distances_are_minimisers(seed, n, mu, width) -> None:
    """Also with widths, weights and kinks mixed among clients; against small steps in every direction."""
    rng = np.random.default_rng(seed)
    f = random_huber(n, 3, width=width, mu=mu, seed=seed)
    f = dataclasses.replace(f, weight=rng.uniform(0, 2, (n, 3)), width=f.width * rng.integers(0, 2, (n, 3)))
    x = f.solution()[None, :]
    value = float(objective(f, x))
    for k in range(3):
        for step in (1e-6, -1e-6, 0.1, -0.1, 5, -5):
            assert float(objective(f, x + step * np.eye(3)[k])) >= value - 1e-14 * (1 + abs(value))


def test_the_pairs_with_known_solutions() -> None:
    """HUB: x* = -1/2, f* = 3/4. LIN: x* = 0.3, L = 1."""
    f = huber_pair()
    np.testing.assert_allclose(f.solution(), [-0.5], rtol=1e-15)
    assert float(objective(f, f.solution()[None, :])) == pytest.approx(0.75, rel=1e-15)
    f = linear_pair()
    np.testing.assert_allclose(f.solution(), [0.3], rtol=1e-15)
    assert float(constant(f, "L")) == 1.0 and float(constant(f, "mu")) == 0.0
    assert f.conjugate(np.array([[2.0], [-2.0]])).tolist() == [0.0, 0.0]
    assert np.isposinf(f.conjugate(np.array([[2.0 + 1e-12], [0.0]]))).all()
    with pytest.raises(InvalidInput, match=r"\|y - linear\| <= weight"):
        f.conjugate_grad(np.zeros((2, 1)))
    down = dataclasses.replace(f, linear=f.linear - 3)
    with pytest.raises(NotAvailable, match="its derivative does not change sign"):
        down.solution()
    with pytest.raises(InvalidInput, match="width must not be negative, got -1"):
        dataclasses.replace(f, width=f.width - 2)


def test_absolute_distances_have_kinks_and_say_so() -> None:
    f = random_huber(3, 2, width=0.0, seed=1)
    assert not can(f, "hess") and "L" not in constants(f)
    np.testing.assert_array_equal(f.grad(f.centre), f.linear + f.ridge * f.centre)
    truth = ground_truth(f).good_to(1e-11)
    assert np.linalg.norm(truth.x - f.solution()) <= truth.distance


def test_distances_batch_and_move(xp) -> None:
    f = random_huber(3, 4, width=0.3, seed=2)
    batch = dataclasses.replace(
        f, **{k: np.stack([getattr(f, k), 1 + getattr(f, k)]) for k in ("weight", "centre", "width", "linear", "ridge")}
    )
    x = np.random.default_rng(0).standard_normal((2, 3, 4))
    moved = xp.problem(batch)
    close(to_numpy(moved.prox(xp.array(x), 0.7))[0], f.prox(x[0], 0.7), 1e-14)
    close(to_numpy(moved.solution())[0], f.solution(), 1e-14)
    assert type(moved.solution()) is type(xp.array(x))


# ---- regularised problems -----------------------------------------------------------------------------------------


def test_a_regularised_problem_is_its_clients_and_a_regulariser() -> None:
    base, h = random_quadratics(4, 3, mu=0.2, seed=1), L1(0.3)
    f = Regularised(base, h)
    x = draw(f, 0)
    np.testing.assert_array_equal(f.grad(x), base.grad(x))
    np.testing.assert_array_equal(f.prox(x, 0.3), base.prox(x, 0.3))
    assert float(objective(f, x[:1])) == pytest.approx(
        float(objective(base, x[:1])) + 0.3 * np.abs(x[0]).sum(), rel=1e-14
    )
    assert not can(f, "solution"), "the base's solution is another point"
    part = f.take(Clients(4, np.array([2, 0])))
    assert part.regulariser is h and part.n == 2 and f.take(None) is f
    np.testing.assert_array_equal(part.grad(x[[2, 0]]), base.grad(x)[[2, 0]])
    assert f.slice(1, 3).regulariser is h and f.ridged(0.1).regulariser is h
    variable, expression = f.to_cvxpy()
    variable.value = x[0]
    assert float(expression.value) == pytest.approx(float(objective(f, x[:1])), rel=1e-12)
    with pytest.raises(AttributeError):
        _ = f.nothing


def test_a_ridge_outside_has_the_solution_of_a_ridge_inside() -> None:
    base = random_quadratics(3, 2, mu=0.2, seed=4)
    np.testing.assert_allclose(ground_truth(Regularised(base, Ridge(0.5))).x, base.ridged(0.5).solution(), rtol=1e-12)


@pytest.mark.parametrize("xp", as_parameters(LIBRARIES))
def test_moving_a_regularised_problem_moves_both_parts(xp) -> None:
    f = Regularised(random_quadratics(3, 2, mu=0.2, seed=4), L1(np.full((1, 1), 0.2)))
    moved = move_to_library(f, xp.example)
    x = draw(f, 0)[:1]
    assert type(moved.inner.A) is type(xp.example) and type(moved.regulariser.weight) is type(xp.example)
    close(to_numpy(moved.grad(xp.array(x))), f.grad(x), 1e-14)


# ---- ground truth of composite and nonsmooth problems ---------------------------------------------------------------


def test_soft_thresholding_is_the_composite_truth() -> None:
    """f_i = ||x - c_i||^2/2 and h = w ||x||_1: x* = soft(mean c, w)."""
    rng = np.random.default_rng(0)
    base = dataclasses.replace(
        random_quadratics(3, 6, seed=0), A=np.stack([np.eye(6)] * 3), b=rng.standard_normal((3, 6))
    )
    f = Regularised(base, L1(0.4))
    mean = base.b.mean(axis=0)
    expected = np.sign(mean) * np.maximum(np.abs(mean) - 0.4, 0)
    for witness in (True, False):
        truth = ground_truth(f, witness=witness).good_to(1e-25)
        assert np.linalg.norm(truth.x - expected) <= truth.distance + 1e-15
        assert truth.f == pytest.approx(float(objective(f, expected[None, :])), rel=1e-14)
    assert np.any(expected == 0) and "the least subgradient of f + h" in truth.how


@pytest.mark.parametrize("h", [L1(0.2), Ridge(0.3)], ids=["l1", "ridge"])
def test_a_ridge_as_regulariser_or_inside_is_the_same(h) -> None:
    """Two ways to one solution: nonsmooth clients with h outside, and, for the ridge, inside."""
    outside = ground_truth(Regularised(ragged_svm(seed=1), h))
    if isinstance(h, Ridge):
        inside = ground_truth(ragged_svm(seed=1, l2=0.4))
        assert outside.f == pytest.approx(inside.f, abs=inside.gap + outside.gap)
        assert np.linalg.norm(outside.x - inside.x) <= inside.distance + outside.distance
    assert outside.gap < 1e-12


def test_indefinite_clients_with_a_convex_average_are_certified() -> None:
    """Their conjugates are infinite; strong convexity of the average suffices."""
    truth = ground_truth(Regularised(random_indefinite(4, 3, seed=2), L1(0.1)))
    assert truth.gap < 1e-25 and "the least subgradient of f + h" in truth.how


def test_problems_that_are_convex_only_are_certified_by_duality() -> None:
    truth = ground_truth(huber_pair())
    assert truth.f == pytest.approx(0.75, abs=truth.gap) and truth.gap < 1e-12 and truth.distance == np.inf
    assert abs(truth.x[0] + 0.5) < 1e-6


def test_dual_points_of_cvxpy_are_subgradients_that_cancel() -> None:
    f = ragged_svm(seed=1)
    x, y, value, solver = solve_consensus(f)
    assert solver == "CLARABEL" and np.abs(average(y)).max() < 1e-9
    assert fenchel_young_gap(f, x[None, :], y).max() < 1e-9
    assert fenchel_young_gap(f, x[None, :], -y).max() > 1e-3, "the other sign is not"
    assert value == pytest.approx(float(objective(f, x[None, :])), abs=1e-10)


def test_a_bad_solver_gives_a_weak_certificate_and_not_a_wrong_one(monkeypatch) -> None:
    """The certificate is computed from the points: a rough solver's answer is certified roughly."""
    from fedtheory.measures import ground_truth as engine

    f = ragged_svm(seed=1)
    good = ground_truth(f)
    x, y, _, _ = solve_consensus(f)
    x, y = x + 0.01, y + 0.01 * draw(f, 0)
    monkeypatch.setattr(engine, "solve_consensus", lambda g: (x, y, float(objective(g, x[None, :])), "rough"))
    rough = ground_truth(f)
    assert rough.gap > 1e-6 and rough.f - good.f <= rough.gap
    assert np.linalg.norm(rough.x - good.x) <= rough.distance + good.distance
    with pytest.raises(SolverFailed, match="certificate of the ground truth is too weak"):
        rough.good_to(1e-9)
    monkeypatch.setattr(engine, "solve_consensus", lambda g: (x, y, good.f - 1, "lying"))
    with pytest.raises(SolverFailed, match="lying found the value"):
        ground_truth(f)


def test_what_has_no_certificate_says_so() -> None:
    with pytest.raises(NotAvailable, match=r"needs Hessians .* or conjugates"):
        ground_truth(_WithoutAbilities(ragged_svm(seed=1)))
    with pytest.raises(NotAvailable, match=r"not certified strongly convex \(mu_avg = 0"):
        ground_truth(ragged_svm(l2=0.0))
    with pytest.raises(NotAvailable, match=r"not certified strongly convex \(mu_avg = 0"):
        ground_truth(Regularised(ragged_logistic(l2=0.0), L1(0.1)))
    with pytest.raises(NotAvailable, match="conjugates are infinite at the dual points"):
        ground_truth(Regularised(_thin(), L1(0.1)))


def _thin() -> Huber:
    """Linear clients whose slopes no solver finds exactly."""
    slope = np.array([[1 / 3], [-1 / 7]])
    return Huber(0 * slope, 0 * slope, 0 * slope, slope, 0 * slope)


class _WithoutAbilities:
    """A problem that gives values, gradients and constants only."""

    def __init__(self, inner) -> None:
        self.inner, self.name, self.n, self.d = inner, inner.name, inner.n, inner.d
        self.value, self.grad, self.certify, self.take = inner.value, inner.grad, inner.certify, inner.take
