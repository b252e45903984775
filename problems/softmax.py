"""Multinomial (softmax) logistic regression with a ridge (DualFL, equation (31))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fedtheory.core.arrays import Array, identity, like, namespace, squared_norm, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable, require
from fedtheory.core.layers import Layer
from fedtheory.core.problem import Certified
from fedtheory.core.sample_rows import (
    Rows,
    SparseRows,
    pick_samples,
    row_squares,
    rows_times_matrices,
    slice_clients,
    transposed_rows_times,
)
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Points, SampleNumbers
from fedtheory.local.conjugates import newton_conjugate
from problems.samples import (
    Classified,
    as_matrix,
    cross_entropy,
    entries_of,
    equal_weights,
    fill_up,
    largest_curvatures,
    one_hot,
    probabilities,
    stack_rows,
)


@dataclass(frozen=True, eq=False)
class Softmax(Classified):
    """f_i(x) = sum_k w_ik [ log sum_l exp(<a_ik, W_l>) - <a_ik, W_{b_ik}> ] + (l2/2) ||x||^2, x = W (inputs, classes) row by row.

    A bias is a feature that is 1 for every sample.

    Parameters
    ----------
    features, targets, weights : arrays
        a_ik, b_ik and w_ik, see `problems.samples.Classified`.
    l2 : number
    name : str
    """

    l2: float = 0.0
    name: str = "softmax regression"

    def __post_init__(self) -> None:
        """Check the ridge and the shapes."""
        if not self.l2 >= 0:
            raise InvalidInput(f"expected l2 >= 0, got {self.l2}")
        shapes = tuple(tuple(a.shape) for a in (self.features, self.targets, self.weights))
        if self.features.ndim < 3 or shapes[1][-3:-1] != shapes[0][-3:-1] or shapes[2][-2:] != shapes[0][-3:-1]:
            raise InvalidInput(
                f"features, targets and weights have shapes {shapes}; expected (*batch, n, m, inputs), (n, m, classes), (n, m)"
            )

    @property
    def d(self) -> int:
        """Number of parameters, inputs times classes."""
        return self.inputs * self.classes

    @property
    def layers(self) -> tuple[Layer, ...]:
        """One matrix."""
        return (Layer("W", (self.inputs, self.classes)),)

    def logits(self, x: Array, features: Rows) -> Array:
        """Scores of the classes: parameters ``(..., d)`` on samples ``(..., m, inputs)`` to ``(..., m, classes)``."""
        return rows_times_matrices(features, self._matrices(x))

    def _matrices(self, x: Array) -> Array:
        return namespace(x).reshape(x, (*x.shape[:-1], self.inputs, self.classes))

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        loss = cross_entropy(self.logits(x, self.features), self.targets)
        return namespace(loss).sum(self.weights * loss, axis=-1) + (self.l2 / 2) * squared_norm(x)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        return self._grad(x, self.features, self.targets, self.weights[..., None])

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches of samples by their numbers."""
        return self._grad(x, pick_samples(self.features, samples), take(self.targets, samples), self._shares(samples))

    def _grad(self, x: Array, features: Rows, targets: Array, weights: Any) -> Array:
        slope = weights * (probabilities(self.logits(x, features)) - targets)
        return self._vectors(transposed_rows_times(features, slope)) + self.l2 * x

    def _vectors(self, matrices: Array) -> Array:
        return namespace(matrices).reshape(matrices, (*matrices.shape[:-2], self.d))

    def hess_times(self, x: Points, v: Points) -> ClientPoints:
        """Hessians of f_i at x_i times vectors v_i."""
        p = probabilities(self.logits(x, self.features))
        u = p * self.logits(v, self.features)
        along = self.weights[..., None] * (u - p * namespace(u).sum(u, axis=-1, keepdims=True))
        return self._vectors(transposed_rows_times(self.features, along)) + self.l2 * v

    def hess(self, x: Points) -> Matrices:
        """Hessians sum_k w_k a a^T (x) (diag(p) - p p^T) + l2 I."""
        p = probabilities(self.logits(x, self.features))  # (..., n, m, classes)
        a = self.features.dense() if isinstance(self.features, SparseRows) else self.features
        xp = namespace(x, a)
        rows = xp.reshape(a[..., :, None] * p[..., None, :], (*p.shape[:-1], self.d))
        outer = xp.matmul(xp.matrix_transpose(rows), self.weights[..., None] * rows)
        weight = xp.matrix_transpose(self.weights[..., None] * p)[..., :, None, :]  # (..., n, classes, 1, m)
        blocks = xp.matmul(xp.matrix_transpose(a)[..., None, :, :] * weight, a[..., None, :, :])
        blocks = xp.moveaxis(blocks, -3, -2)  # (..., n, inputs, classes, inputs)
        spread = blocks[..., None] * identity(self.classes, x)[:, None, :]
        diagonal = xp.reshape(spread, (*spread.shape[:-4], self.d, self.d))
        return diagonal - outer + self.l2 * identity(self.d, x)

    @property
    def conjugate(self) -> Callable[[Points], ClientValues] | None:
        """f_i^*(y_i) by Newton's method, from above (`fedtheory.local.conjugates.newton_conjugate`); None without a ridge."""
        return (lambda y: newton_conjugate(self, y, self.l2)[0]) if self.l2 else None

    def ridged(self, weight: float) -> Softmax:
        """The same clients with (weight/2)||x||^2 added."""
        return replace(self, l2=self.l2 + weight)

    def in_span(self) -> Softmax:
        """The same clients in orthonormal coordinates of the span of all their samples: W = Q V with Q (inputs, rank), V (rank, classes).

        Values, gradients and inner products of models in the span are the same, and a gradient there stays in it. A method that starts at 0 and
        only combines models and gradients linearly, with weights that depend on values and inner products alone, therefore has the same iterates
        up to rounding, at the cost of rank instead of inputs. A start or a regulariser that is not a function of the singular values of W
        would mean something else. Singular values that are rounding beside the largest are left out.
        """
        if self.features.ndim > 3:
            raise NotAvailable("the instances of a batch span different spaces; take one instance")
        features = self.features.dense() if isinstance(self.features, SparseRows) else self.features
        rows = to_numpy(features).reshape(-1, self.inputs)
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        rank = int((sizes > max(rows.shape) * np.finfo(float).eps * sizes[0]).sum())
        return replace(self, features=like(rows @ basis[:rank].T, features).reshape(*features.shape[:-1], rank))

    def slice(self, first: int, last: int) -> Softmax:
        """Clients first, ..., last - 1, without copying."""
        features, targets = slice_clients(self.features, first, last), self.targets[..., first:last, :, :]
        return replace(self, features=features, targets=targets, weights=self.weights[..., first:last, :])

    def lower_bound(self) -> Certified:
        """Zero: no term is negative."""
        return Certified(0.0, "every term is non-negative")

    def to_cvxpy(self) -> tuple[Any, Any]:
        """Return the average as a CVXPY expression of a variable (d,): ``(variable, objective)``."""
        if self.features.ndim > 3:
            raise NotAvailable("a batch of instances has no single CVXPY model; take one instance")
        cp = require("cvxpy", "ground truth from an independent solver")
        weights = to_numpy(self.weights).ravel() / self.n
        keep = weights > 0
        thin = isinstance(self.features, SparseRows)
        features = (self.features.matrix if thin else to_numpy(self.features).reshape(-1, self.inputs))[keep]
        targets = to_numpy(self.targets).reshape(-1, self.classes)[keep]
        x = cp.Variable(self.d)
        out = features @ cp.reshape(x, (self.inputs, self.classes), order="C")
        loss = cp.log_sum_exp(out, axis=1) - cp.sum(cp.multiply(targets, out), axis=1)
        return x, weights[keep] @ loss + (self.l2 / 2) * cp.sum_squares(x)

    def certify(self) -> dict[str, Certified]:
        """L and mu: diag(p) - p p^T lies between 0 and I/2 for every probability vector p.

        The upper end is Gershgorin's: row l has the sum of absolute values 2 p_l (1 - p_l) <= 1/2. It is reached at p = (1/2, 1/2, 0, ...).
        """
        top, mean, found_by = largest_curvatures(self.features, self.weights)
        size, average = top / 2 + self.l2, mean / 2 + self.l2
        batch = size.shape
        squares = row_squares(self.features)
        squares = squares if self._scales is None else to_numpy(self._scales) * squares
        how, below = f"lambda_max(A_i^T W_i A_i)/2 ({found_by}) plus l2", "l2; the losses are convex"
        return {
            "L_i": Certified(size, how),
            "L": Certified(size.max(axis=-1), how),
            "L_avg": Certified(average, how),
            "L_sample": Certified(squares.max(axis=(-1, -2)) / 2 + self.l2, "max n_i w_ik ||a_ik||^2/2 plus l2"),
            "mu_i": Certified(np.full(batch, self.l2), below),
            "mu": Certified(np.full(batch[:-1], self.l2)[()], below),
            "mu_avg": Certified(np.full(batch[:-1], self.l2)[()], below),
        }


def softmax(
    features: list[Any] | Array,
    labels: list[Any] | Array,
    *,
    l2: float = 0.0,
    name: str = "softmax regression",
    sparse: bool | None = None,
) -> Softmax:
    """Build the problem from one feature matrix ``(n_i, inputs)`` and one label vector ``(n_i,)`` a client.

    Labels are whole numbers from 0; there are as many classes as the largest one says. Every client's samples weigh 1/n_i. Features may be
    sparse, and ``sparse`` says how they are kept, as in `problems.logistic.logistic`.

    Raises
    ------
    InvalidInput
        A client has no data, values are not finite, labels are something else, or shapes do not fit.
    """
    if len(features) != len(labels) or len(features) == 0:
        raise InvalidInput(
            f"got {len(features)} feature matrices and {len(labels)} label vectors; expected one a client"
        )
    matrices, vectors = [as_matrix(a) for a in features], [np.asarray(b) for b in labels]
    for i, (a, b) in enumerate(zip(matrices, vectors, strict=True)):
        if a.ndim != 2 or a.shape[0] == 0 or b.shape != (a.shape[0],) or a.shape[1] != matrices[0].shape[1]:
            raise InvalidInput(
                f"client {i} has features of shape {a.shape} and labels of shape {b.shape}; expected (n_i, inputs), the same "
                "inputs for all, and (n_i,) with n_i >= 1"
            )
        if not np.isfinite(entries_of(a)).all():
            raise InvalidInput(f"client {i} has NaN or infinite features; clean the data first")
        if not (np.all(b == np.round(b)) and b.min() >= 0):
            raise InvalidInput(f"client {i} has labels {np.unique(b)[:5].tolist()}; expected whole numbers from 0")
    classes = 1 + int(max(b.max() for b in vectors))
    targets = fill_up([one_hot(b, classes) for b in vectors])
    return Softmax(stack_rows(matrices, sparse), targets, equal_weights(vectors), l2, name)
