"""Logistic regression with an l2 and a bounded non-convex penalty, over clients of any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, identity, namespace, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable, require
from fedtheory.core.problem import Certified
from fedtheory.core.sample_rows import Rows, combine_rows, pick_samples, row_products, total_gram, weighted_gram
from fedtheory.core.shapes import (
    ClientPoints,
    ClientValues,
    Matrices,
    Points,
    SampleNumbers,
    SampleValues,
    ServerPoint,
    SquareMatrices,
)
from fedtheory.local.conjugates import newton_conjugate
from problems.margins import Margins
from problems.samples import as_matrix, entries_of, equal_weights, scales_of, stack_rows, times_signs


@dataclass(frozen=True, eq=False)
class Logistic(Margins):
    """f_i(x) = sum_k w_ik log(1 + exp(-b_ik a_ik^T x)) + (l2/2) ||x||^2 + beta sum_j alpha x_j^2 / (1 + alpha x_j^2).

    With w_ik = 1/n_i this is the mean loss of client i's n_i samples. The non-convex penalty is the one of FedPD's
    first experiment (alpha = 1, beta = 0.1 in its code).

    Parameters
    ----------
    signed : array or `fedtheory.core.sample_rows.SparseRows` ``(*batch, n, m, d)``
        Rows b_ik a_ik; clients with fewer than m samples are filled up with zero rows of weight zero.
    weights : array ``(n, m)``
        w_ik >= 0.
    l2, alpha, beta : numbers
        Penalties.
    name : str
    """

    signed: Rows
    weights: Array
    l2: float = 0.0
    alpha: float = 1.0
    beta: float = 0.0
    name: str = "logistic regression"
    whole: tuple[Any, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the penalties and the shapes."""
        if not (self.l2 >= 0 and self.beta >= 0 and self.alpha > 0):
            raise InvalidInput(
                f"expected l2 >= 0, beta >= 0, alpha > 0; got l2={self.l2}, beta={self.beta}, alpha={self.alpha}"
            )
        self._check_shapes()

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x, self.signed)
        margin = row_products(self.signed, x)
        # log(1 + exp(-z)) without overflow
        loss = xp.maximum(-margin, xp.zeros_like(margin)) + xp.log1p(xp.exp(-xp.abs(margin)))
        return xp.sum(self.weights * loss, axis=-1) + self._penalty(x)

    def _penalty(self, x: Array) -> Array:
        xp = namespace(x)
        square = x * x
        total = (self.l2 / 2) * xp.sum(square, axis=-1)
        if self.beta:
            total = total + self.beta * xp.sum(self.alpha * square / (1 + self.alpha * square), axis=-1)
        return total

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        return self._add_penalty(combine_rows(self.signed, self.slopes(row_products(self.signed, x))), x)

    def slopes(self, margin: SampleValues) -> SampleValues:
        """Derivatives of the samples' losses in the margins b_ik a_ik^T x."""
        slope = namespace(margin).tanh(margin / 2)  # -sigmoid(-z) = (tanh(z/2) - 1) / 2
        slope -= 1  # on our own temporary
        slope *= self._half_weights
        return slope

    @property
    def linear_model(self) -> bool | None:
        """True without the non-convex penalty: local steps can then be taken in the span of the samples."""
        return True if not self.beta else None

    @cached_property
    def _half_weights(self) -> Array:
        return self.weights / 2

    def _add_penalty(self, g: Array, x: Array) -> Array:
        if self.l2:
            g = g + self.l2 * x
        if self.beta:
            g = g + (2 * self.alpha * self.beta) * x / (1 + self.alpha * x * x) ** 2
        return g

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches of samples by their numbers."""
        rows = pick_samples(self.signed, samples)
        margin = row_products(rows, x)
        slope = (namespace(margin).tanh(margin / 2) - 1) / 2
        scales = scales_of(self._scales, samples)
        slope = slope if scales is None else slope * scales
        return self._add_penalty(combine_rows(rows, slope) / slope.shape[-1], x)

    def hess(self, x: Points) -> Matrices:
        """Hessians of f_i at x_i."""
        h = weighted_gram(self.signed, self._curvatures(x))
        return h + self._penalty_curvatures(x)[..., None] * identity(self.d, x)

    def average_hess(self, x: ServerPoint) -> SquareMatrices:
        """Hessian of the average at a common point."""
        h = total_gram(self.signed, self._curvatures(x)) / self.n
        return h + self._penalty_curvatures(x) * identity(self.d, x)

    def hess_times(self, x: Points, v: Points) -> ClientPoints:
        """Hessians of f_i at x_i times vectors v_i."""
        along = self._curvatures(x) * row_products(self.signed, v)
        return combine_rows(self.signed, along) + self._penalty_curvatures(x) * v

    def _curvatures(self, x: Array) -> Array:
        """Second derivatives of the samples' losses in their margins."""
        margin = row_products(self.signed, x)
        sigma = (namespace(margin).tanh(margin / 2) + 1) / 2
        return self.weights * sigma * (1 - sigma)

    def _penalty_curvatures(self, x: Array) -> Array:
        square = self.alpha * x * x
        return self.l2 + 2 * self.alpha * self.beta * (1 - 3 * square) / (1 + square) ** 3

    @property
    def conjugate(self) -> Callable[[Points], ClientValues] | None:
        """f_i^*(y_i) by Newton's method, from above (`fedtheory.local.conjugates.newton_conjugate`).

        With r = y - grad f_i(x) at Newton's point x it is the value of the samples' dual,
        sum_k w_k phi^*(phi'(z_k)) + ||y - sum_k w_k phi'(z_k) s_k||^2/(2 l2) at the margins z_k = <s_k, x>, which exceeds
        <x, y> - f_i(x) by ||r||^2/(2 l2). None without a ridge or with the non-convex penalty.
        """
        return (lambda y: newton_conjugate(self, y, self.l2)[0]) if self.l2 and not self.beta else None

    def ridged(self, weight: float) -> Logistic:
        """The same clients with (weight/2)||x||^2 added; a negative weight takes ridge away."""
        return replace(self, l2=self.l2 + weight, whole=None)

    def to_cvxpy(self) -> tuple[Any, Any]:
        """Return the average as a CVXPY expression of a variable (d,): ``(variable, objective)``; convex penalty only."""
        if self.beta:
            raise NotAvailable("the penalty with beta > 0 is not convex, so CVXPY cannot state it; use beta = 0")
        rows, weights = self._samples()
        cp = require("cvxpy", "ground truth from an independent solver")
        x = cp.Variable(self.d)
        loss = cp.sum(cp.multiply(weights, cp.logistic(-rows @ x)))
        return x, loss + (self.l2 / 2) * cp.sum_squares(x)

    def certify(self) -> dict[str, Certified]:
        """L, mu (per client and of the average), sample smoothness and the dissimilarity constant G.

        The logistic loss has curvature in (0, 1/4]; the penalty's second derivative lies in
        [-alpha beta / 2, 2 alpha beta]. Two clients' mean losses have gradients A^T W v with weights v in (0, 1), of norm
        at most ||W^{1/2} A|| (sum of weights)^{1/2}; penalties cancel in differences (FedPD supplement, App. E).
        """
        weights = to_numpy(self.weights)
        top, average, found_by = self._curvatures_found
        bend, dip = 2 * self.alpha * self.beta, self.alpha * self.beta / 2
        floor = self.l2 - dip - (4 * np.finfo(float).eps * (self.l2 + dip) if dip else 0.0)  # below its own rounding
        how = f"lambda_max(A_i^T W_i A_i)/4 ({found_by}) plus the penalty's largest curvature"
        below = "l2 minus the penalty's largest negative curvature alpha beta / 2"
        size = top / 4 + self.l2 + bend
        norms = np.sort(np.sqrt(top * weights.sum(axis=-1)), axis=-1)
        samples = self._sample_sizes.max(axis=(-1, -2)) / 4 + self.l2 + bend
        batch = size.shape[:-1]
        noise = (weights * self._sample_sizes).sum(axis=-1).max(axis=-1)
        return {
            "L_i": Certified(size, how),
            "L": Certified(size.max(axis=-1), how),
            "L_avg": Certified(average / 4 + self.l2 + bend, how),
            "L_sample": Certified(samples, "max n_i w_ik ||a_ik||^2/4 plus the penalty's largest curvature"),
            "sigma": Certified(
                np.sqrt(noise),
                "root of the largest client mean of (n_i w_ik)^2 ||a_ik||^2: a sample's slope lies in (0, 1)",
            ),
            "mu_i": Certified(np.full(size.shape, floor), below),
            "mu": Certified(np.full(batch, floor)[()], below),
            "mu_avg": Certified(np.full(batch, floor)[()], below),
            "G": Certified(
                norms[..., -2:].sum(axis=-1) if self.n > 1 else norms[..., 0] * 0,
                "sum of the two largest ||W_i^{1/2} A_i|| (sum_k w_ik)^{1/2}; penalties cancel",
            ),
        }


def logistic(
    features: list[Any] | Array,
    labels: list[Any] | Array,
    *,
    l2: float = 0.0,
    alpha: float = 1.0,
    beta: float = 0.0,
    name: str = "logistic regression",
    sparse: bool | None = None,
) -> Logistic:
    """Build the problem from one feature matrix ``(n_i, d)`` and one label vector ``(n_i,)`` a client.

    Labels are -1 and +1, or 0 and 1. Every client's samples weigh 1/n_i. Matrices are arrays or sparse matrices of SciPy; ``sparse`` says how
    the samples are kept, by default as is faster (`fedtheory.core.sample_rows.sparse_pays`).

    Raises
    ------
    InvalidInput
        A client has no data, values are not finite, labels are something else, or dimensions differ.
    """
    if len(features) != len(labels) or len(features) == 0:
        raise InvalidInput(
            f"got {len(features)} feature matrices and {len(labels)} label vectors; expected one a client"
        )
    matrices = [as_matrix(a) for a in features]
    vectors = [_signs(np.asarray(b), i) for i, b in enumerate(labels)]
    if matrices[0].ndim != 2:
        raise InvalidInput(f"client 0 has features of shape {matrices[0].shape}; expected (n_i, d)")
    d = matrices[0].shape[1]
    for i, (a, b) in enumerate(zip(matrices, vectors, strict=True)):
        if b.ndim != 1 or a.shape != (len(b), d):
            raise InvalidInput(
                f"client {i} has features of shape {a.shape} and labels of shape {b.shape}; expected (n_i, {d}) and (n_i,)"
            )
        if a.shape[0] == 0:
            raise InvalidInput(f"client {i} has no data; give every client at least one sample or leave it out")
        if not np.isfinite(entries_of(a)).all():
            raise InvalidInput(f"client {i} has NaN or infinite features; clean the data first")
    signed = stack_rows([times_signs(a, b) for a, b in zip(matrices, vectors, strict=True)], sparse)
    return Logistic(signed, equal_weights(vectors), l2, alpha, beta, name)


def _signs(labels: NDArray[Any], client: int) -> NDArray[Any]:
    kinds = set(np.unique(labels).tolist())
    if kinds <= {-1, 1}:
        return labels.astype(float)
    if kinds <= {0, 1}:
        return 2.0 * labels.astype(float) - 1
    raise InvalidInput(f"client {client} has labels {sorted(kinds)[:5]}; expected -1 and +1, or 0 and 1")


def fedpd_synthetic(
    kind: str,
    *,
    n: int = 100,
    samples: int = 400,
    d: int = 20,
    seed: int = 0,
    alpha: float = 1.0,
    beta: float = 0.1,
) -> Logistic:
    """FedPD's first experiment: penalised logistic regression on Gaussian features (last feature constant 1).

    ``"weak"``: labels are random signs. ``"strong"``: client i labels with its own model, uniform on [-10, 10]^d, and
    standard normal noise: b = sign(a^T w_i + nu). Source: FedPD, Section V.
    """
    if kind not in ("weak", "strong"):
        raise InvalidInput(f"kind must be 'weak' or 'strong', got {kind!r}")
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, samples, d))
    features[..., -1] = 1
    if kind == "weak":
        labels = rng.choice([-1.0, 1.0], (n, samples))
    else:
        models = rng.uniform(-10, 10, (n, d, 1))
        labels = np.where((features @ models)[..., 0] + rng.standard_normal((n, samples)) >= 0, 1.0, -1.0)
    return logistic(
        list(features),
        list(labels),
        alpha=alpha,
        beta=beta,
        name=f"penalised logistic regression, {kind}ly non-iid",
    )
