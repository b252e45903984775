"""Instances: derivatives, proximal steps, certified constants, solutions, families by name."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from helpers import BATCHED, PROBLEMS, close, play, problem, ragged_logistic, row_of, smoothness, start
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.algorithms import GradientDescent, ProximalGradient
from fedtheory.core.arrays import to_numpy
from fedtheory.core.errors import InvalidInput, MissingExtra, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import CONSTANTS, can, constant, constants, gradient, heterogeneity_at, need, objective
from fedtheory.local.solvers import newton_prox
from fedtheory.measures.ground_truth import ground_truth
from problems.catalogue import PROBLEMS as CATALOGUE
from problems.catalogue import DataFamily, Family
from problems.datasets import BUNDLED
from problems.fedavg_divergence import coercive_counterexample, curved_counterexample, fedavg_counterexample
from problems.finite_sum import SampledQuadratic, rough_samples
from problems.logistic import Logistic, fedpd_synthetic, logistic
from problems.lower_bound import printed_chain, two_group_chain
from problems.mlp import digits_task
from problems.options import Options
from problems.quadratics import Quadratic, random_indefinite, random_quadratics, same_curvature, scalar_quadratics
from problems.separable import RootPlusQuadratic, random_sines, root_plus_quadratic, skipping_instance

NAMES = sorted(PROBLEMS)
CERTIFIED = [name for name in NAMES if name != "perceptron"]  # a network has no constants
points = given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.01, 1.0, 30.0]))


def draw(f, seed, scale, shape=()):
    return scale * np.random.default_rng(seed).standard_normal((*shape, f.n, f.d))


STEP = 1e-5  # of central differences: near eps^(1/3), where truncation and rounding balance

# ---- derivatives --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@points
@settings(max_examples=15)
def test_gradients_are_central_differences_of_values(name, seed, scale) -> None:
    f = problem(name)
    x = draw(f, seed, scale)
    g, values = f.grad(x), f.value(x)
    # truncation STEP^2 = 1e-10; rounding in x + STEP: eps 100/STEP = 2e-9 of the gradient; in f: eps/STEP, times five
    allowed = 2e-8 * (1 + np.abs(g).max()) + 1e-10 * np.abs(values).max()
    for k in range(f.d):
        e = np.eye(f.d)[k] * STEP
        slope = (f.value(x + e) - f.value(x - e)) / (2 * STEP)
        np.testing.assert_allclose(g[:, k], slope, rtol=0, atol=allowed)


@pytest.mark.parametrize("name", [n for n in NAMES if can(problem(n), "hess")])
@points
@settings(max_examples=15)
def test_hessians_are_central_differences_of_gradients(name, seed, scale) -> None:
    f = problem(name)
    x = draw(f, seed, scale)
    hess = np.broadcast_to(f.hess(x), (f.n, f.d, f.d))
    close(hess, np.swapaxes(hess, -1, -2), 1e-14)
    for k in range(f.d):
        e = np.eye(f.d)[k] * STEP
        difference = (f.grad(x + e) - f.grad(x - e)) / (2 * STEP)
        np.testing.assert_allclose(hess[:, :, k], difference, rtol=0, atol=2e-8 * (1 + np.abs(f.grad(x)).max()))


@pytest.mark.parametrize("name", [n for n in NAMES if can(problem(n), "hess")])
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.95))
@settings(max_examples=15)
def test_proximal_steps_meet_their_optimality_condition(name, seed, share) -> None:
    """grad f_i(p) + (p - v)/step = 0 for step < 1/L, where the subproblem is strongly convex."""
    f = problem(name)
    step = share / float(constant(f, "L"))
    v = draw(f, seed, 2.0)
    answers = [newton_prox(f, v, step)] + ([f.prox(v, step)] if can(f, "prox") else [])
    for p in answers:
        close(step * f.grad(p) + p - v, np.zeros_like(v), 1e-13)  # a few times eps times |v|
        lower = f.value(p) + ((p - v) ** 2).sum(-1) / (2 * step)
        for other in (v, p + 0.1, 0 * v):
            assert np.all(lower <= f.value(other) + ((other - v) ** 2).sum(-1) / (2 * step) + 1e-12 * (1 + abs(lower)))


@pytest.mark.parametrize("name", [n for n in NAMES if can(problem(n), "sample_grad")])
@points
@settings(max_examples=15)
def test_sample_gradients_average_to_the_gradient(name, seed, scale) -> None:
    """The exact expectation over a uniform sample, and over a pair with replacement."""
    f = problem(name)
    x = draw(f, seed, scale)
    total = np.zeros_like(x)
    for i, count in enumerate(f.n_samples):
        alone, xi = f.take(Clients(f.n, np.array([i]))), x[i : i + 1]
        single = np.array([alone.sample_grad(xi, np.array([[k]]))[0] for k in range(count)])
        total[i] = single.mean(axis=0)
        pair = alone.sample_grad(xi, np.array([[0, count - 1]]))[0]
        close(pair, (single[0] + single[count - 1]) / 2, 1e-13)
    close(total, f.grad(x), 1e-13)


def test_sample_counts_are_the_clients_own() -> None:
    np.testing.assert_array_equal(ragged_logistic().n_samples, [5, 3, 4, 6])


@pytest.mark.parametrize("name", [n for n in NAMES if can(problem(n), "to_cvxpy")])
def test_the_cvxpy_model_is_the_objective(name) -> None:
    f = problem(name)
    try:
        variable, expression = f.to_cvxpy()
    except NotAvailable as error:
        assert f.beta > 0 and "not convex" in str(error)
        return
    for scale in (0.0, 1.0, -3.0):
        variable.value = scale * start(f)
        assert float(expression.value) == pytest.approx(float(objective(f, variable.value[None, :])), rel=1e-12)


# ---- restricting, batching, moving --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("index", [[1], [1, 0], [[0, 1], [1, 0], [1, 1]]], ids=str)
def test_restricting_to_clients_selects_their_rows(name, index) -> None:
    """Also when each run of a batch has its own clients."""
    f, index = problem(name), np.array(index)
    x = draw(f, 3, 1.0, index.shape[:-1])
    part = f.take(Clients(f.n, index))
    assert part.d == f.d and part.n == index.shape[-1]
    xi = np.take_along_axis(x, index[..., None], axis=-2)
    close(part.grad(xi), np.take_along_axis(f.grad(x), index[..., None], axis=-2), 1e-14)
    close(part.value(xi), np.take_along_axis(f.value(x), index, axis=-1), 1e-14)
    if can(f, "prox"):
        close(part.prox(xi, 0.3), np.take_along_axis(f.prox(x, 0.3), index[..., None], axis=-2), 1e-13)
    if can(f, "sample_grad"):
        samples = np.arange(f.n)[:, None] % 2
        whole = f.sample_grad(x, np.broadcast_to(samples, (*index.shape[:-1], f.n, 1)))
        close(part.sample_grad(xi, samples[index]), np.take_along_axis(whole, index[..., None], axis=-2), 1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_all_clients_is_the_problem_itself_and_slices_are_restrictions(name) -> None:
    f = problem(name)
    assert f.take(None) is f
    if can(f, "slice"):
        x = draw(f, 0, 1.0)
        part = f.slice(1, f.n)
        close(part.grad(x[1:]), f.grad(x)[1:], 1e-14)
        close(part.value(x[1:]), f.value(x)[1:], 1e-14)


@pytest.mark.parametrize("name", sorted(BATCHED))
def test_a_batch_of_instances_is_its_instances(name) -> None:
    f = BATCHED[name]()
    x = draw(f, 1, 1.0, (2,))
    for k in range(2):
        one = row_of(f, k)
        close(f.grad(x)[k], one.grad(x[k]), 1e-14)
        close(f.value(x)[k], one.value(x[k]), 1e-14)
        for constant_name, certified in constants(one).items():
            found = np.asarray(constants(f)[constant_name].value)
            np.testing.assert_allclose(found[k], certified.value, rtol=1e-12, err_msg=constant_name)
        if can(f, "lower_bound"):
            assert np.broadcast_to(f.lower_bound().value, (2,))[k] == pytest.approx(
                float(one.lower_bound().value), rel=1e-12
            )


@pytest.mark.parametrize("name", NAMES)
@points
@settings(max_examples=5)
def test_a_common_point_is_every_clients_point(name, seed, scale) -> None:
    """(..., 1, d) broadcasts: the server's model at all clients."""
    f = problem(name)
    x = draw(f, seed, scale)[:1]
    spread = np.broadcast_to(x, (f.n, f.d))
    close(f.grad(x), f.grad(spread), 1e-14)
    close(f.value(x), f.value(spread), 1e-14)
    close(gradient(f, x), f.grad(spread).mean(axis=0, keepdims=True), 1e-14)


# ---- certified constants ------------------------------------------------------------------------------------------


def _pairs(f, seed, scale):
    """Nearby and far pairs of points of every client."""
    rng, x = np.random.default_rng(seed), draw(f, seed, scale)
    return [(x, x + apart * scale * rng.standard_normal(x.shape)) for apart in (1e-3, 1.0)]


def _differences(f, grad, x, y):
    """||dx||, ||dg||, <dg, dx>, and what cancellation in dg makes of the gradient's size."""
    dx, dg = x - y, grad(x) - grad(y)
    noise = 10e-15 * (1 + np.abs(f.grad(x)).max())
    return np.linalg.norm(dx, axis=-1), np.linalg.norm(dg, axis=-1), (dg * dx).sum(-1), noise


@pytest.mark.parametrize("name", CERTIFIED)
@points
@settings(max_examples=25)
def test_certified_constants_of_clients_hold_between_sampled_points(name, seed, scale) -> None:
    """||dg|| <= L ||dx||, <dg, dx> >= mu ||dx||^2."""
    f = problem(name)
    known = constants(f)
    for x, y in _pairs(f, seed, scale):
        length, change, product, noise = _differences(f, f.grad, x, y)
        if "L" not in known:  # kinks: strong convexity only
            assert np.all(product >= known["mu_i"].value * length**2 * (1 - 1e-9) - noise * length)
            continue
        L_i = known["L_i"].value if "L_i" in known else np.full(f.n, float(known["L"]))
        assert np.all(change <= L_i * length * (1 + 1e-9) + noise)
        assert np.all(L_i <= known["L"].value * (1 + 1e-15))
        if "mu_i" in known:
            assert np.all(product >= known["mu_i"].value * length**2 - 1e-9 * L_i * length**2 - noise * length)
            assert np.all(known["mu_i"].value >= known["mu"].value - 1e-15)


@pytest.mark.parametrize("name", [name for name in CERTIFIED if "L_avg" in constants(problem(name))])
@points
@settings(max_examples=25)
def test_certified_constants_of_the_average_hold_between_sampled_points(name, seed, scale) -> None:
    f = problem(name)
    known = constants(f)
    L, mu = float(known["L_avg"]), float(known["mu_avg"])
    for x, y in _pairs(f, seed, scale):
        length, change, product, noise = _differences(f, partial(gradient, f), x[:1], y[:1])
        assert change <= L * length * (1 + 1e-9) + noise
        assert product >= (mu - 1e-9 * L) * length**2 - noise * length


@pytest.mark.parametrize("name", ["same-curvature", "logistic", "penalised-logistic", "skipping"])
@points
@settings(max_examples=25)
def test_dissimilarity_constant_bounds_sampled_differences(name, seed, scale) -> None:
    """A4 in its pairwise form, and the centred form where there is one."""
    f = problem(name)
    g = f.grad(draw(f, seed, 10 * scale)[:1])
    apart = np.linalg.norm(g[:, None] - g[None, :], axis=-1).max()
    assert apart <= float(constant(f, "G")) * (1 + 1e-12)
    if "G_centred" in constants(f):
        centred = np.linalg.norm(g - g.mean(axis=0), axis=-1).max()
        assert centred <= float(constant(f, "G_centred")) * (1 + 1e-12)


def test_constants_that_are_exact_are_attained() -> None:
    f = problem("quadratics")  # spectra contain both ends by construction
    assert float(constant(f, "L")) == pytest.approx(1.0, rel=1e-13)
    assert float(constant(f, "mu")) == pytest.approx(0.2, rel=1e-12)
    f = skipping_instance(1.0, 0.5)  # L = 1 + c at x = 0; G = 2 (g + c) as x grows
    assert float(constant(f, "L")) == 1.5 == f.curvature(np.zeros((1, 1))).max()
    assert float(constant(f, "mu")) == 0.5 == f.curvature(np.zeros((1, 1))).min()
    far = f.grad(np.array([[1e4]]))[:, 0]
    assert float(constant(f, "G")) == 3.0
    assert abs(far[0] - far[1]) == pytest.approx(3.0, rel=1e-8)
    for f in (ragged_logistic(l2=0.1), problem("penalised-logistic")):  # curvature 1/4 and 2 alpha beta at x = 0
        top = np.linalg.eigvalsh(f.hess(np.zeros((1, f.d))))[..., -1]
        np.testing.assert_allclose(constant(f, "L_i").value, top, rtol=1e-12)
    f = same_curvature(4, 3, seed=1)
    g = f.grad(np.ones((1, 3)))
    assert float(constant(f, "G")) == pytest.approx(np.linalg.norm(g[:, None] - g[None, :], axis=-1).max(), rel=1e-12)
    f = coercive_counterexample()
    assert float(constant(f, "L")) == 3.0


def test_the_penalty_dips_as_far_as_certified() -> None:
    """alpha x^2/(1 + alpha x^2) has least curvature -alpha/2, at alpha x^2 = 1."""
    f = logistic([np.zeros((1, 1))], [[1]], alpha=2.0, beta=0.3)
    least = f.hess(np.array([[np.sqrt(1 / 2.0)]]))[0, 0, 0]
    assert least == pytest.approx(-0.3 * 2.0 / 2, rel=1e-12)
    assert float(constant(f, "mu")) == pytest.approx(least, rel=1e-12)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=25)
def test_sample_smoothness_bounds_single_samples(seed) -> None:
    f = ragged_logistic(seed=seed % 7, beta=0.2)
    x, y = draw(f, seed, 3.0), draw(f, seed + 1, 3.0)
    for k in range(3):
        numbers = np.full((f.n, 1), k)
        dg = f.sample_grad(x, numbers) - f.sample_grad(y, numbers)
        assert np.all(np.linalg.norm(dg, axis=-1) <= float(constant(f, "L_sample")) * np.linalg.norm(x - y, axis=-1))


@given(seed=st.integers(0, 10**6), extra=st.floats(1.05, 4.0))
@settings(max_examples=30)
def test_bounded_dissimilarity_is_the_supremum(seed, extra) -> None:
    """G^2 = max_x mean ||g_i||^2 - D^2 ||grad f||^2: never exceeded, and attained where the derivative vanishes."""
    f = random_quadratics(3, 2, mu=0.2, seed=seed)
    with pytest.raises(NotAvailable, match=r"needs D > ([\d.]+)") as refused:
        f.bounded_dissimilarity(1.0)  # D = 1 never works for unequal curvatures
    D = extra * float(str(refused.value).rsplit(">", maxsplit=1)[1])
    G = float(f.bounded_dissimilarity(D))

    def excess(x):
        g = f.grad(x[None, :])
        return (g**2).sum(-1).mean() - D**2 * (g.mean(axis=0) ** 2).sum()

    rng = np.random.default_rng(seed)
    for scale in (0.1, 1, 10, 100):
        assert excess(scale * rng.standard_normal(2)) <= G**2 * (1 + 1e-9)
    # the maximiser solves a linear system: the gradient of the excess is affine in x
    slope = np.array([excess(e) - excess(-e) for e in np.eye(2)]) / 2
    bend = (
        np.array(
            [[excess(a + b) - excess(a - b) - excess(b - a) + excess(-a - b) for a in np.eye(2)] for b in np.eye(2)]
        )
        / 4
    )
    best = np.linalg.solve(-bend, slope)
    assert excess(best) == pytest.approx(G**2, rel=1e-7)  # the system comes from differences of numbers of size 10 D^2


def test_bounded_dissimilarity_of_the_curved_counterexample() -> None:
    """D^2 = 2 (a^2 + b^2)/(a - b)^2 is the threshold, 10 for a = 2, b = 1; all gradients vanish at x*, so G = 0."""
    f = curved_counterexample(2.0, 1.0)
    with pytest.raises(NotAvailable, match=r"needs D > 3\.16228"):
        f.bounded_dissimilarity(np.sqrt(10.0))
    assert float(f.bounded_dissimilarity(3.2)) == 0.0


def test_unknown_and_missing_constants_are_named() -> None:
    f = problem("sines")
    with pytest.raises(NotAvailable, match=r"no certified constant 'G' \(pairwise.*it has L_i, L,"):
        constant(f, "G")
    with pytest.raises(NotAvailable, match="known names are L, L_i"):
        constant(f, "smoothness")
    with pytest.raises(
        NotAvailable, match=r"rates needs 'solution' \(the minimiser in closed form\).*it gives value, grad, hess"
    ):
        need(f, "solution", "rates")
    with pytest.raises(NotAvailable, match="its loss is not globally smooth"):
        constant(problem("perceptron"), "L")
    for name in CERTIFIED:
        assert set(constants(problem(name))) <= set(CONSTANTS)
        assert all(certified.how for certified in constants(problem(name)).values())
    with pytest.raises(TypeError):
        float(constant(problem("quadratics"), "L_i"))  # no silent choice among clients


# ---- solutions and lower bounds -----------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), d=st.integers(1, 5), kappa=st.floats(1, 1e4))
@settings(max_examples=30)
def test_closed_form_solution_lies_within_the_certificate(seed, n, d, kappa) -> None:
    f = random_quadratics(n, d, mu=1 / kappa, seed=seed)
    truth, x = ground_truth(f, witness=False), f.solution()
    # the closed form itself is a linear solve with condition number up to kappa
    assert np.linalg.norm(truth.x - x) <= truth.distance + 1e-15 * kappa * 10 * (1 + np.linalg.norm(x))
    assert truth.gap < 1e-20
    assert truth.f == pytest.approx(float(f.lower_bound().value), abs=1e-12 * kappa)
    zeta = heterogeneity_at(f, x[None, :])
    assert float(zeta) == pytest.approx(float(constant(f, "zeta")), rel=1e-12)


def test_solution_in_fractions_is_exact() -> None:
    f = scalar_quadratics([Fraction(1), Fraction(3)], [Fraction(1), Fraction(-1)])
    assert f.solution()[0] == Fraction(-1, 2)
    two = np.array([[[2, 1], [1, 2]], [[4, 0], [0, 2]]]) + Fraction(0)
    f = Quadratic(two, np.array([[1, 0], [0, 1]]) + Fraction(0))
    # mean A = [[3, 1/2], [1/2, 2]], mean b = (1/2, 1/2): x* = (3/23, 5/23) by Cramer's rule
    assert [Fraction(int(v.p), int(v.q)) for v in f.solution()] == [Fraction(3, 23), Fraction(5, 23)]


@pytest.mark.parametrize("name", [n for n in NAMES if can(problem(n), "lower_bound")])
@points
@settings(max_examples=25)
def test_lower_bounds_lie_below(name, seed, scale) -> None:
    f = problem(name)
    x = draw(f, seed, scale)[:1]
    for _ in range(20):
        x = x - gradient(f, x) / smoothness(name)
    low = float(f.lower_bound().value)
    assert float(objective(f, x)) >= low - 1e-12 * (1 + abs(low))


def test_no_unique_minimiser_is_said() -> None:
    with pytest.raises(NotAvailable, match="not positive definite"):
        fedavg_counterexample().solution()
    with pytest.raises(NotAvailable, match="one instance"):
        random_quadratics(2, 2, batch=(2,)).to_cvxpy()


def test_counterexamples_are_what_they_say() -> None:
    x = np.linspace(-3, 3, 7)[:, None, None]
    np.testing.assert_array_equal(objective(fedavg_counterexample(), x), np.zeros(7))
    np.testing.assert_array_equal(fedavg_counterexample().grad(np.ones((1, 1))), [[2.0], [-2.0]])
    np.testing.assert_allclose(objective(coercive_counterexample(), x), np.sqrt(1 + x[:, 0, 0] ** 2), rtol=1e-15)
    np.testing.assert_allclose(objective(curved_counterexample(2.0, 1.0), x), x[:, 0, 0] ** 2 / 4, rtol=1e-15)
    np.testing.assert_allclose(objective(skipping_instance(3.0, 0.5), x), x[:, 0, 0] ** 2 / 2, rtol=1e-14)


def test_random_families_have_the_stated_spectra() -> None:
    f = random_indefinite(6, 4, L=2.0, batch=(20,), seed=0)
    eigenvalues = np.linalg.eigvalsh(f.A)
    assert np.abs(eigenvalues).max() <= 2.0
    assert (eigenvalues < 0).any(axis=(-1, -2)).all(), "clients are indefinite"
    assert np.linalg.eigvalsh(f.A.mean(axis=-3)).min() > 0, "averages are not"
    f = random_sines(5, 3, L=4.0, seed=0)
    np.testing.assert_allclose((np.abs(f.amplitude) * f.frequency**2).sum(-1), 4.0, rtol=1e-13)
    f = random_quadratics(4, 3, heterogeneity=0.0, seed=0)
    assert float(constant(f, "zeta")) < 1e-14, "without heterogeneity the clients share their minimiser"


def test_same_seed_same_instance() -> None:
    for make in (random_quadratics, random_indefinite, random_sines, same_curvature):
        one, two, other = make(3, 2, seed=1), make(3, 2, seed=1), make(3, 2, seed=2)
        x = np.ones((1, 2))
        np.testing.assert_array_equal(one.grad(x), two.grad(x))
        assert np.abs(one.grad(x) - other.grad(x)).max() > 1e-3


# ---- bad input ----------------------------------------------------------------------------------------------------


def features(m, d=2):
    return np.ones((m, d))


NAN = float("nan")
BAD = {
    "labels": (
        lambda: logistic([features(3)], [[1, 2, 1]]),
        r"client 0 has labels \[1, 2\]; expected -1 and \+1, or 0",
    ),
    "NaN labels": (lambda: logistic([features(2)], [[1, NAN]]), "client 0 has labels"),
    "words as labels": (lambda: logistic([features(2)], [["a", "b"]]), "client 0 has labels"),
    "labels in a column": (lambda: logistic([features(3)], [np.ones((3, 1))]), r"labels of shape \(3, 1\); expected"),
    "client without data": (lambda: logistic([features(2), features(0)], [[1, -1], []]), "client 1 has no data"),
    "no clients": (lambda: logistic([], []), "got 0 feature matrices"),
    "one label vector short": (lambda: logistic([features(2)] * 2, [[1, -1]]), "2 feature matrices and 1 label"),
    "NaN features": (lambda: logistic([features(2) * NAN], [[1, -1]]), "client 0 has NaN or infinite features"),
    "unequal dimensions": (lambda: logistic([features(2), features(2, 3)], [[1, -1]] * 2), r"client 1 .*\(n_i, 2\)"),
    "flat features": (lambda: logistic([np.ones(3)], [[1, 1, 1]]), r"expected \(n_i, d\)"),
    "a number as features": (lambda: logistic([3.0], [[1]]), r"expected \(n_i, d\)"),
    "too few labels": (lambda: logistic([features(3)], [[1, -1]]), r"shape \(3, 2\) and labels of shape \(2,\)"),
    "negative l2": (lambda: logistic([features(2)], [[1, -1]], l2=-1), "expected l2 >= 0"),
    "NaN l2": (lambda: logistic([features(2)], [[1, -1]], l2=NAN), "expected l2 >= 0"),
    "weights": (lambda: Logistic(np.ones((2, 3, 1)), np.ones((3, 2))), r"weights \(3, 2\); expected"),
    "kind": (lambda: fedpd_synthetic("medium"), "must be 'weak' or 'strong', got 'medium'"),
    "A not square": (lambda: Quadratic(np.ones((2, 3, 2)), np.ones((2, 3))), r"expected \(\*batch, n, d, d\)"),
    "b": (lambda: Quadratic(np.ones((2, 1, 1)), np.ones((3, 1))), r"b has shape \(3, 1\); expected .* \(..., 2, 1\)"),
    "batch axes": (
        lambda: Quadratic(np.ones((2, 1, 1, 1)), np.ones((3, 1, 1))),
        r"\(2,\) and \(3,\), which do not fit",
    ),
    "c": (lambda: Quadratic(np.ones((2, 1, 1)), np.ones((2, 1)), np.ones(5)), r"c has shape \(5,\); expected"),
    "asymmetric": (lambda: Quadratic(np.array([[[1, 1], [0, 1.0]]]), np.ones((1, 2))), "not symmetric"),
    "NaN in A": (lambda: Quadratic(np.full((1, 1, 1), NAN), np.ones((1, 1))), "NaN or infinite"),
    "infinite b": (lambda: Quadratic(np.ones((1, 1, 1)), np.full((1, 1), np.inf)), "NaN or infinite"),
    "NaN in c": (lambda: Quadratic(np.ones((1, 1, 1)), np.ones((1, 1)), np.full(1, NAN)), "NaN or infinite"),
    "mu above L": (lambda: random_quadratics(2, 2, L=1, mu=2), "expected 0 < mu <= L, got mu=2, L=1"),
    "mu above L, one curvature": (lambda: same_curvature(2, 2, L=1, mu=2), "expected 0 < mu <= L"),
    "L": (lambda: random_indefinite(2, 2, L=0), "expected L > 0"),
    "L of sines": (lambda: random_sines(2, 2, L=-1), "L must be positive"),
    "counts": (lambda: random_sines(0), "the number of clients n must be a whole number of at least 1, got 0"),
    "words for counts": (lambda: random_quadratics("many", 3), "whole number of at least 1, got 'many'"),
    "NaN in h": (lambda: root_plus_quadratic([1, NAN], [0, 0], [1, 1]), "NaN or infinite"),
    "lengths": (lambda: root_plus_quadratic([1, 2, 3], [0, 0], [1, 1]), "lists of one length"),
    "shapes": (lambda: RootPlusQuadratic(np.ones((2, 1)), np.ones((3, 1)), np.ones((2, 1))), "must have one shape"),
    "samples": (
        lambda: SampledQuadratic(np.ones((2, 3, 1)), np.ones((2, 2, 1))),
        r"must share a shape \(\*batch, n, s",
    ),
    "links": (lambda: two_group_chain(0), "expected T >= 1"),
    "odd clients": (lambda: two_group_chain(2, n=3), "even number of clients"),
    "chain's L": (lambda: two_group_chain(2, L=0), "expected L > 0"),
    "chain's epsilon": (lambda: printed_chain(2, 2, epsilon=-1), "epsilon > 0"),
    "chain's clients": (lambda: printed_chain(3, 2), "T a multiple of n"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_refused_with_what_was_expected(name) -> None:
    make, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        make()


def test_labels_of_either_kind_mean_the_same() -> None:
    rows = np.random.default_rng(0).standard_normal((4, 2))
    signs, bits = logistic([rows], [[1, -1, -1, 1]]), logistic([rows], [[1, 0, 0, 1]])
    np.testing.assert_array_equal(signs.signed, bits.signed)


# ---- data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["iid", "shards"])
def test_digits_are_split_once_over_clients_and_tested_apart(split) -> None:
    task = digits_task(split, n=10, seed=3)
    f = task.problem
    assert int(f.n_samples.sum()) == 1400 and len(task.test_labels) == 397
    np.testing.assert_allclose(f.weights.sum(axis=-1), 1, rtol=1e-13)
    # every image is in one place only: the sum of all pixels is the data set's
    from sklearn.datasets import load_digits

    everything = f.features.sum() + task.test_features.sum()
    assert everything == pytest.approx(load_digits().data.sum() / 16, rel=1e-12)
    kinds = [np.unique(f.targets[i, : f.n_samples[i]].argmax(axis=-1)).size for i in range(f.n)]
    assert max(kinds) <= 4 if split == "shards" else min(kinds) == 10  # two shards of 70: at most two labels in each
    x = f.initial(1)
    assert 0 <= f.accuracy(x, task.test_features, task.test_labels) < 0.4, "an untrained network guesses"
    state = play(GradientDescent(0.5), f, x[None, :], 60)[-1]
    assert f.accuracy(state.x[0], task.test_features, task.test_labels) > 0.7, "a trained one does not"
    with pytest.raises(InvalidInput, match="must be 'iid' or 'shards', got 'halves'"):
        digits_task("halves")


def test_rough_samples_average_to_a_smooth_client() -> None:
    """f_i = (mean/2) x^2 of samples +-(H/2) x^2: L = mean, L_sample = H."""
    f = rough_samples(2, H=10.0, mean=0.5)
    assert float(constant(f, "L")) == pytest.approx(0.5, rel=1e-14) and float(constant(f, "L_sample")) == 10.0
    close(f.grad(np.ones((1, 1))), np.full((2, 1), 0.5), 1e-13)
    with pytest.raises(InvalidInput, match=r"cannot have the mean curvature 0\.3"):
        rough_samples(2, H=10.0, mean=0.3)


ALWAYS_THERE = [
    pytest.param(family, id=family.name, marks=[pytest.mark.torch] if getattr(family, "network", None) else [])
    for family in CATALOGUE
    if not isinstance(family, DataFamily) or family.dataset in BUNDLED
]


class Reading(Options):
    """Options that note which of them are read."""

    noted: ClassVar[set[str]] = set()

    def __getattribute__(self, name):
        if name in Options.__dataclass_fields__:
            Reading.noted.add(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("family", ALWAYS_THERE)
def test_catalogue_families_say_what_they_read(family) -> None:
    asked = Reading(clients=4, dimension=5)
    Reading.noted.clear()
    try:
        family.build(asked)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    assert Reading.noted - {"seed", "data"} <= {*family.reads} <= {f.name for f in dataclasses.fields(Options)}
    if isinstance(family, Family):
        assert {*family.reads} <= Reading.noted, "nothing is said to be read that is not"


@pytest.mark.parametrize("family", ALWAYS_THERE)
def test_catalogue_families_build_what_is_asked(family) -> None:
    f = family.build(Options(clients=4, dimension=5, l2=0.1, seed=3))
    network = hasattr(f, "initial")  # it starts at its own weights, and has no L
    x = f.initial(0)[None, :] if network else start(f)[None, :]
    g = to_numpy(f.grad(x))
    assert g.shape == (f.n, f.d) and np.isfinite(g).all()
    assert family.description and f.name
    if not network and "L" not in constants(f):
        assert family.name in ("tv-chain", "absolute", "hinge")  # kinks, where gradient descent may rise
        return
    smooth = 10.0 if network else float(constant(f, "L"))
    run_down = play(ProximalGradient(0.5 / smooth), f, x, 5)
    # descent lemma: steps below 2/L never raise the objective, regulariser included
    values = [float(objective(f, state.x)) for state in run_down]
    assert all(b <= a + 1e-12 * (1 + abs(a)) for a, b in pairwise(values))
