"""Clients with different numbers of samples in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, like, namespace, take, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.sample_rows import Rows, SparseRows, sparse_pays, take_clients, weighted_gram
from fedtheory.core.shapes import Lengths, Vectors

#: bytes that the clients' matrices A_i^T W_i A_i may take
ROOM = 2**29


def fill_up(matrices: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Stack one matrix ``(n_i, k)`` a client, zero rows behind the shorter ones: ``(n, m, k)`` with m the largest n_i."""
    filled = np.zeros((len(matrices), max(len(a) for a in matrices), matrices[0].shape[1]))
    for i, a in enumerate(matrices):
        filled[i, : len(a)] = a
    return filled


def as_matrix(features: Any) -> Any:
    """A client's features in double precision: an array, or a matrix of SciPy in CSR format where they are sparse."""
    if not hasattr(features, "tocsr"):
        return np.asarray(features, dtype=float)
    from scipy import sparse

    return sparse.csr_array(features, dtype=float)


def entries_of(matrix: Any) -> NDArray[Any]:
    """The entries of an array or, of a matrix of SciPy, those that are stored."""
    return np.asarray(getattr(matrix, "data", matrix)) if hasattr(matrix, "tocsr") else np.asarray(matrix)


def as_array(matrix: Any) -> NDArray[Any]:
    """A matrix of SciPy with its zeros; an array as it is."""
    return np.asarray(matrix.toarray() if hasattr(matrix, "tocsr") else matrix)


def times_signs(matrix: Any, signs: NDArray[Any]) -> Any:
    """Multiply the rows of a matrix with numbers ``(n_i,)``."""
    if not hasattr(matrix, "tocsr"):
        return signs[:, None] * matrix
    found = matrix.copy()
    found.data *= np.repeat(signs, np.diff(found.indptr))
    return found


def stack_rows(matrices: Sequence[Any], sparse: bool | None = None) -> Rows:
    """Stack one matrix ``(n_i, d)`` a client to rows ``(n, m, d)``: sparse ones, an array, or by default (None) what is faster."""
    if sparse is None:
        entries = sum(int(np.count_nonzero(entries_of(a))) for a in matrices)
        sparse = sparse_pays(sum(a.shape[0] for a in matrices), matrices[0].shape[1], entries)
    if not sparse:
        return fill_up([as_array(a) for a in matrices])
    from scipy.sparse import csr_array

    return SparseRows.stack([csr_array(a, dtype=float) for a in matrices])


def equal_weights(samples: Sequence[Any]) -> NDArray[np.float64]:
    """Weights ``(n, m)`` that go with `fill_up`: 1/n_i for the n_i samples of a client, 0 for filling."""
    return fill_up([np.full((len(a), 1), 1 / len(a)) for a in samples])[..., 0]


def sample_scales(weights: Array) -> Array | None:
    """n_i w_ik ``(n, m)``, by which a sample's gradient enters so that uniform draws have the mean grad f_i; None where all are one.

    Raises
    ------
    InvalidInput
        A weight is negative or not finite, or a sample of weight zero stands before one that counts.
    """
    host = to_numpy(weights)
    real = host > 0
    if not np.all(np.isfinite(host) & (host >= 0)):
        raise InvalidInput("the weights of samples must be finite and not negative")
    if np.any(real[..., 1:] & ~real[..., :-1]):
        raise InvalidInput("a sample of weight zero stands before one that counts; put a client's real samples first")
    scales = real.sum(axis=-1, keepdims=True) * host
    equal = np.abs(scales[real] - 1) <= 8 * np.finfo(host.dtype).eps
    return None if bool(np.all(equal)) else like(scales, weights)


def largest_curvatures(rows: Rows, weights: Array) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """Largest eigenvalues of A_i^T W_i A_i ``(*batch, n)`` and of their mean ``(*batch)``, and how they were found: widened by their rounding.

    Bounds from above (`SparseRows.bound_curvatures`) where rows are sparse and these matrices have no room.
    """
    n, d = rows.shape[-3], rows.shape[-1]
    if isinstance(rows, SparseRows) and 8 * n * d * d > ROOM:
        host = to_numpy(weights)
        average = rows.pooled().bound_curvatures(host.reshape(1, -1) / n)[0]
        return rows.bound_curvatures(host), average, "bounded by (|A|^T W |A| v)_j / v_j"
    gram = to_numpy(weighted_gram(rows, weights))
    slack = 1 + 8 * d * np.finfo(float).eps
    top, average = (np.linalg.eigvalsh(matrix)[..., -1] * slack for matrix in (gram, gram.mean(axis=-3)))
    return top, average, "widened"


def scales_of(scales: Array | None, samples: NDArray[np.integer[Any]]) -> Array | None:
    """Scales of the samples drawn, ``(..., n, b)``; None for ones."""
    return None if scales is None else take(scales[..., None], samples)[..., 0]


def one_hot(labels: Any, classes: int) -> NDArray[np.float64]:
    """Labels 0, 1, ... ``(n_i,)`` as rows of the identity matrix ``(n_i, classes)``."""
    return np.eye(classes)[np.asarray(labels).astype(np.int64)]


@dataclass(frozen=True, eq=False)
class Classified:
    """Labelled samples of every client, the data of problems of classification.

    Parameters
    ----------
    features : array or `fedtheory.core.sample_rows.SparseRows` ``(*batch, n, m, inputs)``
        Clients with fewer than m samples are filled up and their weights are zero.
    targets : array ``(n, m, classes)``
        One-hot labels.
    weights : array ``(n, m)``
        w_ik >= 0, positive for samples, which come first.
    """

    features: Rows
    targets: Array
    weights: Array

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.features.shape[-3])

    @property
    def inputs(self) -> int:
        """Number of features."""
        return int(self.features.shape[-1])

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.targets.shape[-1])

    @cached_property
    def n_samples(self) -> NDArray[np.int64]:
        """Samples of each client ``(n,)``."""
        return np.asarray((to_numpy(self.weights) > 0).sum(axis=-1))

    @cached_property
    def _scales(self) -> Array | None:
        return sample_scales(self.weights)

    def _shares(self, samples: NDArray[np.integer[Any]]) -> Any:
        """Weights of the samples of minibatches, for the mean gradient that uniform draws estimate."""
        scales = scales_of(self._scales, samples)
        return 1 / samples.shape[-1] if scales is None else scales[..., None] / samples.shape[-1]

    def take(self, clients: Clients | None) -> Self:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        index = clients.index
        features, targets = take_clients(self.features, index), take(self.targets, index, axes_behind=2)
        return replace(self, features=features, targets=targets, weights=take(self.weights, index))


def cross_entropy(logits: Vectors, targets: Vectors) -> Lengths:
    """Losses log sum_l exp(z_l) - <b, z> of samples: logits z and one-hot labels b."""
    xp = namespace(logits, targets)
    top = xp.max(logits, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(logits - top), axis=-1)) + top[..., 0] - xp.sum(targets * logits, axis=-1)


def probabilities(logits: Vectors) -> Vectors:
    """exp(z_l) / sum_k exp(z_k), the cross-entropy's slope plus the label."""
    xp = namespace(logits)
    soft = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return soft / xp.sum(soft, axis=-1, keepdims=True)
