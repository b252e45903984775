"""Non-convex families whose constants are exact, quadratics made to measure, witnesses of dual drift."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import close, problem
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.problem import constant, gradient, heterogeneity_at, objective
from problems.dual_drift import convex_and_concave, opposite_clients, strictly_non_convex
from problems.nonconvex import Cauchy, Cosines, QuadraticPlusCosine, random_cauchy, random_cosines
from problems.prescribed_quadratics import prescribed_quadratics
from problems.quadratics import random_quadratics, scalar_quadratics

# ---- constants are attained ---------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), terms=st.integers(1, 4), ridge=st.floats(0, 2))
@settings(max_examples=40)
def test_constants_of_cosines_are_attained(seed, terms, ridge) -> None:
    """With independent directions the phases can be met one by one: all cosines are -sign(a), or all are +sign(a)."""
    rng = np.random.default_rng(seed)
    f = Cosines(
        rng.standard_normal((3, terms)), rng.standard_normal((3, terms, 4)), rng.uniform(0, 6, (3, terms)), ridge=ridge
    )
    L, mu = constant(f, "L_i").value, constant(f, "mu_i").value
    for sign, end in ((1, -1), (-1, 0)):
        angle = np.where(sign * f.amplitude > 0, np.pi, 0) - f.phase
        x = np.stack([np.linalg.lstsq(w, t, rcond=None)[0] for w, t in zip(f.direction, angle, strict=True)])
        attained = np.linalg.eigvalsh(f.hess(x))[:, end]
        # the conditioning of the directions enters the angles, whose cosines are flat at these points
        np.testing.assert_allclose(attained, L if sign == 1 else mu, rtol=0, atol=1e-6 * L.max())


def test_random_cosines_have_the_constant_asked_for() -> None:
    f = random_cosines(5, 3, L=2.5, batch=(2,), seed=1)
    close(constant(f, "L_i").value, np.full((2, 5), 2.5), 1e-13)
    close(constant(f, "mu_i").value, np.full((2, 5), -2.0), 1e-13)  # ridge 0.25, waves 2.25
    assert np.all(constant(f, "L_avg").value < 2.5)


def test_constants_of_a_quadratic_plus_cosine_are_attained() -> None:
    """At w x = 0 and w x = pi, for either sign of c."""
    f = problem("quadratic-plus-cosine")
    ends = np.stack([f.curvature(0 * f.h), f.curvature(np.pi / f.w)])
    np.testing.assert_allclose(np.abs(ends).max(axis=(0, 2)), constant(f, "L_i").value, rtol=1e-13)
    np.testing.assert_allclose(ends.min(axis=(0, 2)), constant(f, "mu_i").value, rtol=1e-13)


def test_constants_of_cauchy_losses_are_attained() -> None:
    """At the centre, and sqrt(3) away from it."""
    f = random_cauchy(4, 3, L=1.7, seed=2)
    np.testing.assert_allclose(f.curvature(f.centre), f.scale, rtol=1e-14)
    np.testing.assert_allclose(f.curvature(f.centre + np.sqrt(3)), -f.scale / 8, rtol=1e-14)
    assert float(constant(f, "L")) == 1.7
    assert float(constant(f, "mu")) == -1.7 / 8


@pytest.mark.parametrize("name", ["cosines", "cauchy", "quadratic-plus-cosine"])
def test_lower_bounds_lie_below(name) -> None:
    f = problem(name)
    points = 4 * np.random.default_rng(0).standard_normal((2000, 1, f.d))
    assert float(f.lower_bound()) <= float(objective(f, points).min())


def test_what_is_unbounded_below_has_no_lower_bound() -> None:
    parts = {name: np.full((2, 1), value) for name, value in {"b": 0.0, "c": 1.0, "w": 1.0}.items()}
    assert float(QuadraticPlusCosine(np.zeros((2, 1)), **parts).lower_bound()) == 0
    tilted = parts | {"b": np.ones((2, 1))}
    for bad in (
        QuadraticPlusCosine(np.array([[1.0], [-2.0]]), **parts),
        QuadraticPlusCosine(np.zeros((2, 1)), **tilted),
    ):
        with pytest.raises(NotAvailable, match="is unbounded below"):
            bad.lower_bound()


# ---- made to measure ----------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 6),
    d=st.integers(1, 5),
    zeta=st.floats(0, 10),
    diversity=st.sampled_from([0.0, 0.25, 1.0]),
    mu=st.floats(0.05, 1),
)
@settings(max_examples=40)
def test_prescribed_quadratics_are_what_was_asked_for(seed, n, d, zeta, diversity, mu) -> None:
    f = prescribed_quadratics(n, d, zeta=zeta, L=2.0, mu=mu, diversity=diversity, seed=seed)
    x = f.solution()[None, :]
    g = f.grad(x)
    close(gradient(f, x), np.zeros((1, d)), 1e-13)
    assert float(heterogeneity_at(f, x)) == pytest.approx(zeta, abs=1e-12 * max(1, zeta))
    close(g.sum(axis=0), np.zeros(d), 1e-12)
    slack = 16 * d * np.finfo(float).eps * 2.0  # 8 d eps L each for the rotation and for certifying the eigenvalues
    assert float(constant(f, "L")) <= 2 + slack and float(constant(f, "mu")) >= mu - slack
    assert np.array_equal(f.A, np.broadcast_to(f.A[0], f.A.shape)) == (diversity == 0 or (d == 1))


def test_solution_and_gradients_can_be_given() -> None:
    x, g = np.array([1.0, -2.0]), np.array([[1.0, 0.0], [-3.0, 2.0], [2.0, -2.0]])
    f = prescribed_quadratics(3, 2, solution=x, gradients=g, seed=3)
    close(f.solution(), x, 1e-14)
    close(f.grad(x[None, :]), g, 1e-14)
    drawn = prescribed_quadratics(3, 2, solution=x, seed=3)
    np.testing.assert_array_equal(drawn.A, f.A)


def test_no_diversity_is_one_curvature_bit_for_bit_and_heterogeneity_runs_along_a_batch() -> None:
    zeta = np.array([0.0, 0.5, 4.0])
    f = prescribed_quadratics(4, 3, zeta=zeta, diversity=0, batch=(3,), seed=1)
    assert constant(f, "G").value.shape == (3,)
    np.testing.assert_allclose(constant(f, "zeta").value, zeta, atol=1e-13)
    assert constant(f, "G").value[0] == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"mu": 0.0}, "expected 0 < mu <= L"),
        ({"diversity": 1.5}, r"diversity must lie in \[0, 1\], got 1.5"),
        ({"zeta": -1.0}, "zeta must not be negative"),
        ({"gradients": np.ones((3, 2))}, "gradients at the solution must sum to zero"),
        ({"gradients": np.zeros((3, 2)), "zeta": 1.0}, "not both"),
        ({"n": 1}, "one client alone has gradient zero"),
    ],
)
def test_impossible_wishes_are_refused(options, match) -> None:
    with pytest.raises(InvalidInput, match=match):
        prescribed_quadratics(**({"n": 3, "d": 2} | options))


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Cosines(np.ones((2, 3)), np.ones((2, 4, 5)), np.ones((2, 3))), "got amplitude .2, 3., phase"),
        (lambda: Cosines(np.ones((2, 3)), np.ones((2, 3, 5)), np.ones((2, 3)), ridge=-1), "ridge must not be negative"),
        (lambda: Cauchy(-np.ones((2, 3)), np.ones((2, 3))), "scale must not be negative"),
        (lambda: random_cosines(2, 2, terms=0), "expected terms >= 1"),
        (lambda: random_cauchy(2, 2, L=0), "L must be positive"),
        (lambda: strictly_non_convex(random_quadratics(2, 2), 1.0), "expected scalar quadratics"),
    ],
)
def test_impossible_instances_are_refused(make, match) -> None:
    with pytest.raises(InvalidInput, match=match):
        make()


# ---- witnesses -----------------------------------------------------------------------------------------------------


def test_witnesses_are_what_their_docstrings_say() -> None:
    f = opposite_clients(2.0, 3.0)
    assert f.solution()[0] == 0
    np.testing.assert_array_equal(-f.grad(np.zeros((1, 1)))[:, 0], [6.0, -6.0])
    g = convex_and_concave()
    assert float(constant(g, "L")) == 1 and float(constant(g, "mu")) == -0.5 and float(constant(g, "mu_avg")) == 0.25


def test_cosines_beside_quadratics_change_no_value_on_the_line() -> None:
    plain = scalar_quadratics([1.0, -0.5], [2.0, 1.0])
    f = strictly_non_convex(plain, 1.0)
    x = np.linspace(-3, 3, 7)[:, None, None]
    both = np.concatenate([x, 0 * x], axis=-1)
    close(f.value(both), plain.value(x) - plain.c, 1e-15)
    close(f.grad(both)[..., :1], plain.grad(x), 1e-15)
    assert not np.any(f.grad(both)[..., 1])
    assert float(constant(f, "L")) == 1 and float(constant(f, "mu")) == -1, "strictly non-convex, with the same L"
    convex = scalar_quadratics([1.0, 1.0], [1.0, -1.0])
    assert float(strictly_non_convex(convex, 1.0).lower_bound()) == 0
