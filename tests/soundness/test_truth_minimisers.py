"""Ground truths are true: minimisers, gaps and distances against exact rational answers, rounding included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.core.errors import InvalidInput, NotAvailable, SolverFailed
from fedtheory.core.exact import solve_exactly
from fedtheory.core.problem import can, constant, constants, objective
from fedtheory.core.regularisers import L1, regularised
from fedtheory.measures.catalogue import METRICS
from fedtheory.measures.ground_truth import certify_point, ground_truth
from fedtheory.tools.enclosures import Enclosed, Functions, Truth, enclosed
from problems.finite_sum import SampledQuadratic, random_finite_sum
from problems.huber import Huber, huber_pair, linear_pair, random_huber
from problems.logistic import Logistic
from problems.mlp import MultilayerPerceptron
from problems.quadratics import Quadratic, mean_towards, random_quadratics, scalar_quadratics
from problems.softmax import Softmax
from problems.svm import SupportVectorMachine


def exact_minimiser(f: Quadratic) -> tuple[list[Fraction], Fraction]:
    """x* and f* of an average of quadratics, in fractions of the floats that it is made of."""
    n, d = f.n, f.d
    a = [[sum((Fraction(float(f.A[i, j, k])) for i in range(n)), Fraction(0)) / n for k in range(d)] for j in range(d)]
    b = [sum((Fraction(float(f.b[i, j])) for i in range(n)), Fraction(0)) / n for j in range(d)]
    x = solve_exactly(a, b)
    assert x is not None
    c = Fraction(0) if f.c is None else sum((Fraction(float(v)) for v in f.c), Fraction(0)) / n
    return x, c - sum(p * q for p, q in zip(b, x, strict=True)) / 2


def exact_value(f: Quadratic, x: list[Fraction]) -> Fraction:
    total = Fraction(0)
    for i in range(f.n):
        for j in range(f.d):
            total += x[j] * sum(Fraction(float(f.A[i, j, k])) * x[k] for k in range(f.d)) / 2
            total -= Fraction(float(f.b[i, j])) * x[j]
        total += Fraction(0) if f.c is None else Fraction(float(f.c[i]))
    return total / f.n


def holds(f: Quadratic, x, gap: float, distance: float) -> None:
    here = [Fraction(float(v)) for v in x]
    star, least = exact_minimiser(f)
    assert exact_value(f, here) - least <= Fraction(gap)
    assert sum((p - q) ** 2 for p, q in zip(here, star, strict=True)) <= Fraction(distance) ** 2


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_true_on_ill_conditioned_draws(seed) -> None:
    """At condition number 1e7 the residual's rounding is what the distance is made of."""
    f = random_quadratics(3, 2 + seed % 3, L=1.0, mu=1e-7, heterogeneity=2.0, seed=seed)
    truth = ground_truth(f, witness=False)
    assert truth.rounding is not None and "rounding included" in truth.how
    holds(f, truth.x, truth.gap, truth.distance)
    star, least = exact_minimiser(f)
    here = exact_value(f, [Fraction(float(v)) for v in truth.x])
    assert abs(here - Fraction(truth.f)) <= Fraction(truth.rounding)
    assert Fraction(truth.lowest) <= least <= Fraction(truth.f) + Fraction(truth.rounding)
    assert len(star) == f.d


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_true_for_one_number(seed) -> None:
    """Where the float residual is zero the minimiser still is not a float."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        f = scalar_quadratics(rng.uniform(0.1, 3, 5), rng.standard_normal(5))
        truth = ground_truth(f, witness=False)
        holds(f, truth.x, truth.gap, truth.distance)
        star, _ = exact_minimiser(f)
        assert truth.distance > 0 or Fraction(float(truth.x[0])) == star[0]


@pytest.mark.parametrize("seed", range(3))
def test_bounds_are_true_where_clients_cancel(seed) -> None:
    """Curvatures of 1e6 whose mean is 1: the average is rounded, and so is its certified mu."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((4, 3, 3)) * 1e6
    a = a + np.swapaxes(a, -1, -2)
    a[3] = np.eye(3) * 4 - a[:3].sum(axis=0)
    f = Quadratic(a, rng.standard_normal((4, 3)))
    truth = ground_truth(f, witness=False)
    holds(f, truth.x, truth.gap, truth.distance)
    far = truth.x + 1e-3
    holds(f, far, *certify_point(f, far, float(constant(f, "mu_avg"))))


def test_gradients_and_values_are_of_one_function() -> None:
    """A matrix that is symmetric up to rounding: values see its symmetric part, and so must the residual."""
    a = np.array([[[1.0, 0.5], [0.5 + 1e-13, 1.0]]])
    f = Quadratic(a, np.ones((1, 2)))
    assert np.array_equal(f.A, np.swapaxes(f.A, -1, -2))
    truth = ground_truth(f, witness=False)
    holds(f, truth.x, truth.gap, truth.distance)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=6))
@settings(max_examples=60)
def test_means_are_rounded_the_way_that_is_asked(values) -> None:
    exact = sum(map(Fraction, values), Fraction(0)) / len(values)
    low, high = (float(mean_towards(np.array(values), side, axis=-1)) for side in (-np.inf, np.inf))
    assert Fraction(low) <= exact <= Fraction(high) and high <= np.nextafter(low, np.inf)


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-200, 1e-8, 1.0, 1e8]))
@settings(max_examples=60)
def test_enclosures_hold_in_exact_arithmetic(seed, scale) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((3, 4)) * scale
    x = Enclosed(values)
    exact = [[Fraction(float(v)) for v in row] for row in values]

    def inside(found: Enclosed, want: Fraction) -> bool:
        return abs(Fraction(float(found.middle)) - want) <= Fraction(float(found.radius))

    assert inside(Functions.sum(x), sum(map(sum, exact), Fraction(0)))
    assert inside((x * x)[1, 2], exact[1][2] ** 2) and inside((x / 3 - x)[0, 1], exact[0][1] / 3 - exact[0][1])
    if scale > 1e-100:
        assert inside((x[0] / x[1])[2], exact[0][2] / exact[1][2]) and inside((x**3)[0, 0], exact[0][0] ** 3)
    product = Functions.matmul(x, Functions.matrix_transpose(x))
    assert inside(product[0, 1], sum(p * q for p, q in zip(exact[0], exact[1], strict=True)))
    root = Functions.sqrt(Functions.abs(x))[2, 3]
    low, high = (Fraction(float(root.middle)) + s * Fraction(float(root.radius)) for s in (-1, 1))
    assert max(low, Fraction(0)) ** 2 <= abs(exact[2][3]) <= high**2


@pytest.mark.parametrize("name", ["exp", "log", "log1p", "tanh", "sin", "cos"])
def test_the_platform_is_as_exact_as_is_taken_for_granted(name) -> None:
    mpmath = pytest.importorskip("mpmath")
    rng = np.random.default_rng(0)
    points = np.exp(rng.uniform(-20, 4, 200)) * (1 if name in ("log", "log1p") else rng.choice([-1, 1], 200))
    points = points if name != "exp" else np.clip(points, -30, 30)
    found = getattr(Functions, name)(Enclosed(points))
    with mpmath.workdps(40):
        for v, middle, radius in zip(points, found.middle, found.radius, strict=True):
            assert abs(mpmath.mpf(float(middle)) - getattr(mpmath, name)(mpmath.mpf(float(v)))) <= mpmath.mpf(
                float(radius)
            )


def test_what_rounding_leaves_open_is_not_decided() -> None:
    doubtful = Enclosed(0.0, 1e-16)
    with pytest.raises(NotAvailable, match="undecided"):
        bool(doubtful > 0)
    either = Functions.where(doubtful > 0, 3.0, enclosed(1.0))
    assert either.middle - either.radius <= 1 and either.middle + either.radius >= 3
    assert bool(Truth(np.array(True), np.array(True)))
    with pytest.raises(TypeError, match="no array of NumPy"):
        np.asarray(doubtful)


class _Bare:
    """A problem whose data are not known."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


def test_what_cannot_be_enclosed_says_so() -> None:
    truth = ground_truth(_Bare(random_quadratics(2, 2, seed=0)), witness=False)
    assert truth.rounding is None and "rounding is not bounded (_Bare is no dataclass" in truth.how
    with pytest.raises(SolverFailed, match="rounding of the certificate is not bounded"):
        _ = truth.lowest


# ---- DualFL's general convex case ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_medians_are_certified_exactly(seed) -> None:
    """Distances without ridge: the medians, coordinate by coordinate, of an odd number of clients the only minimiser."""
    f = random_huber(5, 3, width=0.0, mu=0.0, seed=seed)
    truth = ground_truth(f)
    assert np.array_equal(truth.x, np.median(f.centre, axis=0))
    assert truth.gap == 0 and truth.distance == 0 and truth.lowest <= truth.f
    even = ground_truth(random_huber(4, 3, width=0.0, mu=0.0, seed=seed))
    assert even.gap == 0 and even.distance == float("inf")


@pytest.mark.parametrize("f", [huber_pair(), linear_pair(), random_huber(4, 2, width=0.7, mu=0.0, seed=1)])
def test_huber_without_ridge_is_bracketed(f) -> None:
    truth = ground_truth(f)
    assert truth.gap < 1e-28 and "exact arithmetic" in truth.how
    for step in (1e-3, -1e-3):
        assert float(objective(f, (truth.x + step)[None, :])) >= truth.lowest


def test_a_wrong_closed_form_is_widened(monkeypatch) -> None:
    f = random_huber(5, 2, width=0.3, mu=0.0, seed=2)
    good = ground_truth(f)
    monkeypatch.setattr(Huber, "solution", lambda self: good.x + 0.01)
    wrong = ground_truth(f)
    assert wrong.f - good.f <= wrong.gap + good.rounding + wrong.rounding and wrong.gap > 1e-5
    assert np.linalg.norm(wrong.x - good.x) <= wrong.distance


def test_a_regulariser_takes_the_closed_form_away() -> None:
    assert can(linear_pair(), "bracket") and not can(regularised(linear_pair(), L1(3.0)), "bracket")


def test_distance_needs_one_minimiser() -> None:
    METRICS["distance"].on(random_huber(3, 1, width=0.0, mu=0.0))
    with pytest.raises(NotAvailable, match=r"'distance' measures from the minimiser, and .* unique one"):
        METRICS["distance"].on(random_huber(4, 1, width=0.0, mu=0.0))


# ---- averages without a minimiser, weights of samples -------------------------------------------------------------------


@pytest.mark.parametrize("curvature", [-1.0, 0.0])
def test_a_concave_or_flat_average_has_no_minimiser(curvature) -> None:
    h = np.full((2, 3, 2), curvature)
    with pytest.raises(NotAvailable, match="no unique minimiser"):
        SampledQuadratic(h, np.ones_like(h)).solution()
    good = random_finite_sum(2, 3, 2, seed=0)
    assert good.solution().shape == (2,)


def unequal() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows, weights = rng.standard_normal((2, 4, 3)), rng.uniform(0.1, 1, (2, 4))
    rows[1, 3], weights[1, 3] = 0, 0
    return rows, weights / weights.sum(axis=-1, keepdims=True)


def weighted_models():
    rows, weights = unequal()
    targets = np.eye(2)[np.random.default_rng(1).integers(0, 2, (2, 4))]
    return [
        Logistic(rows, weights, l2=0.1),
        SupportVectorMachine(rows, weights, 0.1, 0.5),
        Softmax(rows, targets, weights, 0.1),
        MultilayerPerceptron(rows, targets, weights, 2, "network", 0.1),
    ]


@pytest.mark.parametrize("f", weighted_models(), ids=lambda f: type(f).__name__)
def test_weights_reach_the_gradients_of_samples(f) -> None:
    """Every sample drawn once: the mean of what is drawn is the client's gradient."""
    x = np.random.default_rng(2).standard_normal((2, f.d))
    for i, count in enumerate(f.n_samples):
        each = [f.sample_grad(x, np.full((2, 1), k))[i] for k in range(count)]
        assert np.mean(each, axis=0) == pytest.approx(f.grad(x)[i], abs=1e-13)
        if "L_sample" in (constants(f) if not isinstance(f, MultilayerPerceptron) else {}):
            y = x + 1e-4
            apart = [f.sample_grad(y, np.full((2, 1), k))[i] - each[k] for k in range(count)]
            assert np.linalg.norm(apart, axis=-1).max() <= float(constant(f, "L_sample")) * np.linalg.norm(
                y[i] - x[i]
            ) * (1 + 1e-9)


def test_weights_reach_the_noise() -> None:
    f = weighted_models()[0]
    x = -5 * f.signed[:, 0]
    for i, count in enumerate(f.n_samples):
        each = np.array([f.sample_grad(x, np.full((2, 1), k))[i] for k in range(count)])
        noise = ((each - f.grad(x)[i]) ** 2).sum(axis=-1).mean()
        assert noise <= float(constant(f, "sigma")) ** 2
    lone = Logistic(np.array([[[1.0], [10.0]]]), np.array([[0.01, 0.99]]))
    assert float(constant(lone, "sigma")) >= 1.98 * 10 / np.sqrt(2) * (1 - 1e-12)


def test_samples_without_weight_come_last() -> None:
    f = Logistic(np.ones((1, 2, 1)), np.array([[0.0, 1.0]]))
    with pytest.raises(InvalidInput, match="real samples first"):
        f.sample_grad(np.zeros((1, 1)), np.zeros((1, 1), int))
