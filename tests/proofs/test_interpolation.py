"""Functions of a class through given data: they are in the class, pass through the data, and have exact proximal steps."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.core.participation import Clients
from fedtheory.core.problem import constant
from fedtheory.proofs.agreement import require_membership
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.interpolation import Interpolated, prox_of_max_affine
from fedtheory.proofs.measures import find_measure
from problems.quadratics import random_indefinite, random_quadratics

# Multipliers are refined to rounding on their active set. Data on the border of the class make that set degenerate; the
# conic solver's gap of 1e-12 is then left, and points are known to its square root, times the size of the data.
ACCURACY = 1e-5

drawn = given(seed=st.integers(0, 10**6), p=st.integers(1, 5), convex=st.booleans())


def sampled(seed, p, convex, n=2, d=2):
    """Data of quadratics of the class, so that interpolation conditions hold: (function, points, interpolation)."""
    f = random_quadratics(n, d, mu=0.1, seed=seed) if convex else random_indefinite(n, d, seed=seed)
    points = np.random.default_rng(seed).standard_normal((p, n, d))
    g = Interpolated(
        points=np.swapaxes(points, 0, 1),
        grads=np.swapaxes(f.grad(points), 0, 1),
        values=np.swapaxes(f.value(points), 0, 1),
        L=1.0,
        mu=0.1 if convex else -1.0,
    )
    return f, points, g


@drawn
@settings(max_examples=25)
def test_it_passes_through_its_data(seed, p, convex) -> None:
    f, points, g = sampled(seed, p, convex)
    for x in points:
        np.testing.assert_allclose(g.grad(x), f.grad(x), atol=ACCURACY)
        np.testing.assert_allclose(g.value(x), f.value(x), atol=ACCURACY)


@drawn
@settings(max_examples=25)
def test_it_lies_in_its_class(seed, p, convex) -> None:
    """<dg, dx> between mu ||dx||^2 and L ||dx||^2, and ||dg|| <= L ||dx||, between random points."""
    _, _, g = sampled(seed, p, convex)
    rng = np.random.default_rng(seed + 1)
    for scale in (0.1, 1.0, 10.0):
        x, y = scale * rng.standard_normal((2, g.n, g.d))
        dx, dg = x - y, g.grad(x) - g.grad(y)
        square = (dx**2).sum(-1)
        product = (dg * dx).sum(-1)
        slack = ACCURACY * (1 + square)
        assert np.all(product <= g.L * square + slack) and np.all(product >= g.mu * square - slack)
        assert np.all(np.linalg.norm(dg, axis=-1) <= g.L * np.sqrt(square) + slack)
    assert float(constant(g, "L")) == 1.0 and float(constant(g, "mu")) == g.mu


@drawn
@settings(max_examples=15)
def test_gradients_are_differences_of_values(seed, p, convex) -> None:
    _, _, g = sampled(seed, p, convex)
    x = np.random.default_rng(seed + 2).standard_normal((g.n, g.d))
    h = 1e-3  # values are known to 1e-9; the gradient is only Lipschitz: the difference is off by up to L h
    for k in range(g.d):
        e = h * np.eye(g.d)[k]
        np.testing.assert_allclose((g.value(x + e) - g.value(x - e)) / (2 * h), g.grad(x)[:, k], atol=2 * h)


@given(seed=st.integers(0, 10**6), p=st.integers(1, 5), convex=st.booleans(), share=st.floats(0.05, 0.9))
@settings(max_examples=25)
def test_proximal_steps_meet_their_optimality_condition(seed, p, convex, share) -> None:
    _, _, g = sampled(seed, p, convex)
    v = 2 * np.random.default_rng(seed + 3).standard_normal((g.n, g.d))
    x = g.prox(v, share)
    np.testing.assert_allclose(share * g.grad(x) + x - v, 0, atol=ACCURACY * (1 + np.abs(v).max()))


@given(seed=st.integers(0, 10**6), p=st.integers(1, 6), d=st.integers(1, 3), step=st.floats(0.01, 10))
@settings(max_examples=40)
def test_prox_of_a_maximum_beats_every_other_point(seed, p, d, step) -> None:
    """Against random points near and far, and against the pieces' own proximal steps."""
    rng = np.random.default_rng(seed)
    q, offset, w = rng.standard_normal((p, d)), rng.standard_normal(p), rng.standard_normal(d)

    def objective(z):
        return np.max(offset + q @ z) + np.sum((z - w) ** 2) / (2 * step)

    best = objective(prox_of_max_affine(q, offset, w, step))
    others = [
        prox_of_max_affine(q, offset, w, step) + s * rng.standard_normal(d) for s in (1e-4, 1e-2, 1.0) for _ in range(5)
    ]
    for other in [*others, *(w - step * piece for piece in q), w]:
        assert best <= objective(other) + 1e-9 * (1 + abs(best))


def test_active_pieces_meet_to_rounding() -> None:
    """At the answer the active pieces are equal; the conic solver alone leaves them 1e-10 apart, the refinement 1e-14."""
    apart = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        q, offset, w = rng.standard_normal((5, 3)), rng.standard_normal(5), rng.standard_normal(3)
        levels = offset + q @ prox_of_max_affine(q, offset, w, 1.0)
        active = levels[levels > levels.max() - 1e-6]
        apart.append(np.ptp(active))
    assert np.count_nonzero(apart) > 50 and max(apart) < 1e-12


def test_prox_of_one_piece_and_of_an_absolute_value() -> None:
    w = np.array([0.3, -2.0])
    np.testing.assert_allclose(
        prox_of_max_affine(np.array([[1.0, 2.0]]), np.zeros(1), w, 0.5), w - [0.5, 1.0], atol=1e-12
    )
    # max(z, -z) = |z|: soft thresholding
    pieces = np.array([[1.0], [-1.0]])
    for w, expected in ((3.0, 2.0), (0.4, 0.0), (-1.5, -0.5)):
        found = prox_of_max_affine(pieces, np.zeros(2), np.array([w]), 1.0)
        assert found[0] == pytest.approx(expected, abs=1e-10)


def test_restricting_to_clients() -> None:
    _, points, g = sampled(3, 4, True, n=3)
    part = g.take(Clients(3, np.array([2, 0])))
    np.testing.assert_allclose(part.grad(points[0][[2, 0]]), g.grad(points[0])[[2, 0]], atol=1e-12)
    assert g.take(None) is g and (g.n, g.d, part.n) == (3, 2, 2)
    common = g.grad(np.ones((1, 2)))
    np.testing.assert_allclose(common, g.grad(np.ones((3, 2))), atol=1e-12)


E1 = np.array([1.0, 0.0])
GIVEN = FunctionClass(1.0, 0.1, zeta=1.0)


@pytest.mark.parametrize(
    ("slopes", "x0", "functions", "message"),
    [
        ((E1, -E1), E1, GIVEN, None),
        ((E1, -E1), 2 * E1, GIVEN, r"start 2 from x\*, not 1"),
        ((E1, 0 * E1), E1, GIVEN, r"the average of .* has the gradient 0\.5 at x\*, not 0"),
        ((E1, -E1), E1, replace(GIVEN, zeta=0.5), r"clients that differ by more than zeta=0\.5 at x\*"),
        ((E1, -E1), E1, FunctionClass(1.0, 0.1, dissimilarity=2.0), None),
        ((E1, -E1), E1, FunctionClass(1.0, 0.1, dissimilarity=1.5), r"differ by 2, more than G=1\.5"),
        ((E1, -E1), E1, FunctionClass(1.0, 0.1, bgd=(1.0, 1.0)), None),
        ((E1, -E1), E1, FunctionClass(1.0, 0.1, bgd=(0.9, 1.0)), r"differ by more than \(G, D\)=\(0\.9, 1\.0\) allows"),
    ],
    ids=["inside", "start", "minimiser", "zeta", "alike", "apart", "(G, D)", "beyond (G, D)"],
)
def test_a_rebuilt_instance_is_of_its_class_or_refused(slopes, x0, functions, message) -> None:
    """Two clients with these gradients at the origin, where the average is to have its minimiser."""
    instance = Interpolated(np.zeros((2, 1, 2)), np.array(slopes)[:, None], np.zeros((2, 1)), 1.0, 0.1)
    expected = nullcontext() if message is None else pytest.raises(SolverFailed, match=message)
    with expected:
        require_membership(instance, x0, functions, find_measure("squared_distance"), 1.0)


def test_bad_input_is_refused() -> None:
    _, points, g = sampled(0, 3, False)
    with pytest.raises(InvalidInput, match="expected mu < L"):
        Interpolated(g.points, g.grads, g.values, 1.0, 1.0)
    with pytest.raises(InvalidInput, match=r"must have shape \(n, p, d\) and values \(n, p\)"):
        Interpolated(g.points, g.grads, g.values[:, :1], 1.0, -1.0)
    with pytest.raises(InvalidInput, match=r"one run at a time; x must have shape \(n, d\)"):
        g.grad(points)
    with pytest.raises(InvalidInput, match=r"conjugates need strongly convex functions \(mu > 0\), got mu=-"):
        g.conjugate_grad(points[0])
    with pytest.raises(InvalidInput, match=r"step=1.5 is too large: the subproblem needs step < 1/\|mu\|"):
        g.prox(points[0], 1.5)
