"""Layers as matrices and regularisers: values, proximal steps, subdifferentials."""

from __future__ import annotations

from fractions import Fraction as Q

import numpy as np
import pytest
from helpers import close, draw, small_perceptron
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.core.arrays import along_batch, to_numpy
from fedtheory.core.errors import CannotTrace, InvalidInput, NotAvailable
from fedtheory.core.layers import (
    Layer,
    factor_floats,
    from_matrix,
    layer_mask,
    ranks,
    split_layers,
    to_matrix,
    truncate,
)
from fedtheory.core.participation import Clients
from fedtheory.core.problem import constant, objective
from fedtheory.core.regularisers import L1, NuclearNorm, Ridge, Zero, regularised
from problems.quadratics import random_quadratics

# ---- layers -------------------------------------------------------------------------------------------------------

ROUNDING = 1e-12  # the two sides do the same few hundred operations in another order

CONV = Layer("convolution", (3, 2, 2, 4))
NET = (CONV, Layer("biases", (3,)), Layer("head", (5, 3)))
D = 48 + 3 + 15


def test_a_convolution_is_the_matrix_of_the_paper(xp) -> None:
    """Rows are (output, first kernel index), columns (input, second kernel index)."""
    w = draw((2, 3, 2, 2, 4))
    matrix = to_numpy(to_matrix(xp.array(w), CONV))
    assert matrix.shape == (2, 6, 8) and CONV.matrix_shape == (6, 8)
    for o, i, a, b in np.ndindex(3, 2, 2, 4):
        np.testing.assert_array_equal(matrix[:, o * 2 + a, i * 4 + b], w[:, o, i, a, b])
    back = to_numpy(from_matrix(to_matrix(xp.array(w), CONV), CONV))
    np.testing.assert_array_equal(back, w.reshape(2, -1))


def convolve(image, weights):
    """Valid convolution (correlation) of ``(in, h, w)`` with ``(out, in, kh, kw)``, in loops."""
    out, _, kh, kw = weights.shape
    h, w = image.shape[1] - kh + 1, image.shape[2] - kw + 1
    found = np.zeros((out, h, w))
    for o, i, j in np.ndindex(out, h, w):
        found[o, i, j] = (weights[o] * image[:, i : i + kh, j : j + kw]).sum()
    return found


def test_a_factorised_convolution_is_two_convolutions() -> None:
    """V as r filters of size 1 x kw, then U as o filters of size kh x 1; this pins the convention."""
    out, into, kh, kw = CONV.shape
    u, v = draw((out * kh, 2), 1), draw((into * kw, 2), 2)
    weights = from_matrix(u @ v.T, CONV).reshape(CONV.shape)
    first = v.T.reshape(2, into, 1, kw)
    second = u.reshape(out, kh, 2).transpose(0, 2, 1)[..., None]
    image = draw((into, 7, 9), 3)
    close(convolve(convolve(image, first), second), convolve(image, weights), 1e-13)


def test_views_and_masks_cover_the_model() -> None:
    x = draw((2, 3, D))
    parts = split_layers(x, NET)
    assert [p.shape for p in parts] == [(2, 3, 3, 2, 2, 4), (2, 3, 3), (2, 3, 5, 3)]
    np.testing.assert_array_equal(np.concatenate([p.reshape(2, 3, -1) for p in parts], axis=-1), x)
    mask = layer_mask(NET, ["head", "biases"])
    assert mask.shape == (D,) and mask.dtype == bool and not mask[:48].any() and mask[48:].all()
    np.testing.assert_array_equal(layer_mask(NET, [layer.name for layer in NET]), True)
    assert not layer_mask(NET, []).any()
    with pytest.raises(
        InvalidInput, match="not a collection of layers of this model; its layers are convolution, biases, head"
    ):
        layer_mask(NET, ["tail"])
    with pytest.raises(InvalidInput, match="'head' is not a collection"):
        layer_mask(NET, "head")
    with pytest.raises(InvalidInput, match="have 66 coordinates, the model 65"):
        split_layers(x[..., :-1], NET)
    with pytest.raises(InvalidInput, match=r"has shape \(2, 3, 4\); expected"):
        Layer("cube", (2, 3, 4))


def test_the_perceptron_tells_its_layers() -> None:
    """The layers are the blocks that the network multiplies with."""
    f = small_perceptron()
    x = draw((3, f.d))
    w1, b1, w2, b2 = split_layers(x, f.layers)
    hidden = np.maximum(f.features @ w1 + b1[:, None, :], 0)
    close(hidden @ w2 + b2[:, None, :], f.logits(x, f.features), ROUNDING)


def of_ranks(first, head, seed=0):
    """A model of `NET` whose matrices have the given ranks."""
    rng = np.random.default_rng(seed)
    conv = rng.standard_normal((6, first)) @ rng.standard_normal((first, 8))
    last = rng.standard_normal((5, head)) @ rng.standard_normal((head, 3))
    return np.concatenate([from_matrix(conv, CONV), rng.standard_normal(3), last.ravel()])[None, :]


def test_factors_are_counted_exactly(xp) -> None:
    """r (rows + columns) floats a matrix, rows * columns where that is fewer, vectors in full."""
    for first, head, expected in (
        (0, 0, 3),
        (1, 1, 14 + 3 + 8),
        (2, 1, 28 + 3 + 8),
        (3, 2, 42 + 3 + 15),  # 2 * 8 > 15
        (4, 3, 48 + 3 + 15),
        (6, 3, 48 + 3 + 15),
    ):
        x = xp.array(of_ranks(first, head))
        assert to_numpy(ranks(x, NET)).tolist() == [[first, head]]
        assert to_numpy(factor_floats(x, NET)).tolist() == [expected]
    both = np.stack([of_ranks(1, 1), of_ranks(2, 1)])
    assert to_numpy(factor_floats(xp.array(both), NET)).tolist() == [[25], [39]]


def test_truncation_is_the_best_approximation_layer_by_layer(xp) -> None:
    """Eckart and Young: the squared error is the sum of the squared singular values left out; vectors stay."""
    x = draw((2, D))
    for rank in (0, 1, 2, 9):
        cut = to_numpy(truncate(xp.array(x), NET, rank))
        lost = sum(
            (np.linalg.svd(to_matrix(part, layer), compute_uv=False)[:, rank:] ** 2).sum(-1)
            for part, layer in zip(split_layers(x, NET), NET, strict=True)
            if layer.matrix_shape
        )
        close(((cut - x) ** 2).sum(-1), lost, 1e-13)
        assert (to_numpy(ranks(cut, NET)) <= rank).all()
        np.testing.assert_array_equal(cut[:, 48:51], x[:, 48:51])
    with pytest.raises(InvalidInput, match="must not be negative"):
        truncate(x, NET, -1)


# ---- regularisers -------------------------------------------------------------------------------------------------

REGULARISERS = {"zero": Zero(), "ridge": Ridge(0.7), "l1": L1(0.7), "nuclear": NuclearNorm(0.7, NET)}
every_one = pytest.mark.parametrize("h", REGULARISERS.values(), ids=REGULARISERS)


@every_one
@given(seed=st.integers(0, 10**6), step=st.sampled_from([0.1, 1.0, 3.0]))
@settings(max_examples=15)
def test_moreau(h, seed, step) -> None:
    """p = prox(v) iff u = (v - p)/step is a subgradient at p: h(p) + h*(u) = <p, u>, the equality case of Fenchel and Young."""
    v = draw((2, D), seed)
    p = h.prox(v, step)
    u = (v - p) / step
    inside = h.conjugate((1 - 1e-12) * u)  # on the border of the domain, up to rounding
    assert np.isfinite(inside).all()
    close(h.value(p) + inside, (p * u).sum(-1), 1e-10)
    other = draw((2, D), seed + 1)
    assert (
        h.value(p) + ((p - v) ** 2).sum(-1) / (2 * step) <= h.value(other) + ((other - v) ** 2).sum(-1) / (2 * step)
    ).all()
    close(h.distance(p, -u), np.zeros(2), 1e-12)


@every_one
def test_regularisers_on_every_library(h, xp) -> None:
    v, g = draw((2, 3, D)), draw((2, 3, D), 1)
    p = h.prox(v, 0.5)
    for name, ours, theirs in (
        ("prox", h.prox(xp.array(v), 0.5), p),
        ("value", h.value(xp.array(v)), h.value(v)),
        ("conjugate", h.conjugate(xp.array(0 * v)), np.zeros((2, 3))),
        ("distance", h.distance(xp.array(p), xp.array(g)), h.distance(p, g)),
    ):
        assert type(ours) is type(xp.array(v)), name
        close(ours, theirs, ROUNDING, name)
    assert np.isinf(h.conjugate(100 * v)).all() or isinstance(h, Ridge)


@pytest.mark.parametrize("kind", [Ridge, L1, lambda w: NuclearNorm(w, NET)], ids=["ridge", "l1", "nuclear"])
def test_weights_along_a_batch(kind) -> None:
    weights = [0.1, 0.5, 2.0]
    together = kind(along_batch(weights))
    v, g = draw((3, 2, D)), draw((3, 2, D), 1)
    for k, weight in enumerate(weights):
        alone = kind(weight)
        close(together.prox(v, 0.3)[k], alone.prox(v[k], 0.3), ROUNDING)
        close(together.value(v)[k], alone.value(v[k]), ROUNDING)
        close(together.distance(v, g)[k], alone.distance(v[k], g[k]), ROUNDING)
        np.testing.assert_array_equal(np.isinf(together.conjugate(0.3 * v)[k]), np.isinf(alone.conjugate(0.3 * v[k])))


@pytest.mark.parametrize("h", [L1(0.7), NuclearNorm(0.7, NET), Zero()], ids=["l1", "nuclear", "zero"])
def test_prox_and_value_against_cvxpy(h) -> None:
    """FedSLR, (15) to (17)."""
    import cvxpy

    v, x = draw((1, D)), cvxpy.Variable(D)
    expression = cvxpy.Constant(0) + h.to_cvxpy(x)
    x.value = v[0]
    assert float(expression.value) == pytest.approx(float(h.value(v)[0]), rel=1e-12)
    cvxpy.Problem(cvxpy.Minimize(0.4 * expression + cvxpy.sum_squares(x - v[0]) / 2)).solve(solver="CLARABEL")
    close(h.prox(v, 0.4)[0], x.value, 1e-5)  # the accuracy of an interior-point method's minimiser


def test_distance_to_the_subdifferential_against_cvxpy() -> None:
    """All subgradients at a matrix of rank one are weight (U V^T + U_0 Z V_0^T) with ||Z||_2 <= 1."""
    import cvxpy

    layers = (Layer("matrix", (4, 3)),)
    for seed, scale in ((0, 1.0), (1, 0.2), (2, 3.0)):
        w, g = np.outer(draw(4, seed), draw(3, seed + 9)), scale * draw((4, 3), seed + 20)
        u, _, vt = np.linalg.svd(w)
        z = cvxpy.Variable((3, 2))
        subgradient = 0.6 * (np.outer(u[:, 0], vt[0]) + u[:, 1:] @ z @ vt[1:])
        model = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(g + subgradient, "fro")), [cvxpy.sigma_max(z) <= 1])
        model.solve(solver="CLARABEL")
        found = NuclearNorm(0.6, layers).distance(w.reshape(1, -1), g.reshape(1, -1))
        assert float(found[0]) == pytest.approx(float(model.value), rel=1e-6)


def test_thresholds_above_everything_give_exact_zeros() -> None:
    x = draw((2, D))
    shrunk = NuclearNorm(100.0, NET).prox(x, 1.0)
    assert not shrunk[:, :48].any() and not shrunk[:, 51:].any()
    np.testing.assert_array_equal(shrunk[:, 48:51], x[:, 48:51])
    assert not L1(100.0).prox(x, 1.0).any()
    assert (ranks(NuclearNorm(0.9, NET).prox(x, 1.0), NET) < ranks(x, NET)).any()


def test_regularisers_refuse_what_they_cannot_treat() -> None:
    import sympy

    symbols = np.array([list(sympy.symbols("a b c d", real=True))], dtype=object)
    with pytest.raises(CannotTrace, match=r"NuclearNorm cannot run on symbols: .*singular value decomposition"):
        NuclearNorm(1.0, (Layer("m", (2, 2)),)).prox(symbols, 1)
    with pytest.raises(CannotTrace, match=r"L1 cannot run on symbols: .*sizes and signs"):
        L1(1.0).prox(symbols, 1)
    halves = L1(Q(1, 2)).prox(np.array([[Q(3), Q(-1, 4), Q(-1)]], dtype=object), 1)
    assert halves.tolist() == [[Q(5, 2), 0, Q(-1, 2)]], "fractions have signs"
    with pytest.raises(InvalidInput, match=r"none of the layers .* is a matrix"):
        NuclearNorm(1.0, (Layer("biases", (3,)),))
    with pytest.raises(InvalidInput, match="weight must be positive"):
        NuclearNorm(-1.0, NET)


def test_a_regularised_problem_is_f_with_another_objective() -> None:
    f, h = random_quadratics(3, 4, seed=1), NuclearNorm(0.5, (Layer("matrix", (2, 2)),))
    both, x = regularised(f, h), draw((3, 4))
    np.testing.assert_array_equal(both.grad(x), f.grad(x))
    np.testing.assert_array_equal(both.value(x), f.value(x))
    assert float(objective(both, x[:1])) == pytest.approx(float(objective(f, x[:1]) + h.value(x[:1])[0]), rel=1e-15)
    assert both.layers == h.layers and constant(both, "L") is not None
    part = both.take(Clients(3, np.array([2])))
    assert part.n == 1 and part.regulariser is h
    assert not hasattr(both, "solution"), "the minimiser of f is not that of f + h"
    with pytest.raises(NotAvailable, match="has a regulariser already"):
        regularised(both, L1(1.0))
