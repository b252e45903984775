"""The clients' samples as rows a_ik: an array ``(*batch, n, m, d)``, or the same without its zeros, through one set of functions.

A problem of linear models sees its data through these functions only, A_i being the matrix of client i's rows:

- `row_products`   A_i x_i         ``(..., n, d) -> (..., n, m)``
- `combine_rows`   A_i^T v_i       ``(..., n, m) -> (..., n, d)``
- `weighted_gram`  A_i^T W_i A_i   ``(..., n, m) -> (..., n, d, d)``

and through `pick_samples`, `take_clients` and `slice_clients`. `SparseRows` is of the host (SciPy); on other array libraries rows are dense, and
`fedtheory.core.problem.move_to_library` makes them so. `sparse_pays` is the rule which of the two is faster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, like, namespace, rows_times, take, to_numpy
from fedtheory.core.errors import InvalidInput

#: measured (2 cores of 2020s servers, gradients at one and at eight points a client): from 2e6 numbers (16 MB, more than a core's cache) on and with
#: one in seven of them not zero, sparse rows are 2 to 20 times as fast; smaller data that is in cache gains little, or loses
LARGE, DENSITY = 2 * 10**6, 0.15
#: how often the power method multiplies, and how close to an eigenvalue it stops
POWERS, CLOSE = 500, 1e-9
#: what an entry of sparse rows costs in a product, in entries of an array that is in cache
COST = 4


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of all clients in compressed form: row r = (... n + i) m + k, the k-th of client i, has ``starts[r + 1] - starts[r]`` entries.

    Parameters
    ----------
    values, columns : arrays ``(entries,)``
        Entries that are not zero, and the coordinates they belong to.
    starts : integer array ``(rows + 1,)``
        Where the entries of each row begin, and where the last end.
    shape : tuple
        ``(*batch, n, m, d)``, the shape of the array that this stands for. Only a selection has batch axes, of runs that selected differently.

    Raises
    ------
    InvalidInput
        The parts do not fit each other.
    """

    values: NDArray[Any]
    columns: NDArray[Any]
    starts: NDArray[Any]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check that the parts fit each other."""
        if len(self.shape) < 3 or self.starts.shape != (prod(self.shape[:-1]) + 1,):
            raise InvalidInput(
                f"starts has shape {self.starts.shape} for rows of shape {self.shape}; expected one number more than there are rows "
                "in (*batch, n, m, d)"
            )
        if not self.values.shape == self.columns.shape == (self.starts[-1],):
            raise InvalidInput(
                f"values and columns have shapes {self.values.shape} and {self.columns.shape}; expected ({self.starts[-1]},)"
            )
        if len(self.columns) and not 0 <= self.columns.min() <= self.columns.max() < self.shape[-1]:
            raise InvalidInput(
                f"columns run from {self.columns.min()} to {self.columns.max()}; expected 0 to {self.shape[-1] - 1}"
            )

    @classmethod
    def stack(cls, matrices: Sequence[Any]) -> SparseRows:
        """Stack one matrix of SciPy ``(n_i, d)`` in CSR format a client, empty rows behind the shorter ones."""
        n, m, d = len(matrices), max(a.shape[0] for a in matrices), matrices[0].shape[1]
        counts = np.zeros((n, m), dtype=np.int64)
        for i, a in enumerate(matrices):
            counts[i, : a.shape[0]] = np.diff(a.indptr)
        values = np.concatenate([a.data for a in matrices])
        return cls(values, np.concatenate([a.indices for a in matrices]), _starts(counts.ravel()), (n, m, d))

    @property
    def ndim(self) -> int:
        """Number of axes of the array that this stands for."""
        return len(self.shape)

    @cached_property
    def matrix(self) -> Any:
        """All rows below each other, a matrix of SciPy ``(rows, d)``."""
        return self._matrix(self.columns, self.shape[-1])

    def dense(self) -> NDArray[Any]:
        """The array that this stands for."""
        return np.asarray(self.matrix.toarray()).reshape(self.shape)

    @cached_property
    def _blocks(self) -> tuple[Any, Any]:
        """The block-diagonal matrix ``(rows, n d)`` with a block a client, and its transpose."""
        clients, m, d = prod(self.shape[:-2]), *self.shape[-2:]
        owner = np.repeat(np.arange(clients), np.diff(self.starts[::m]))
        found = self._matrix(self.columns + d * owner, clients * d)
        return found, found.T

    def _matrix(self, columns: NDArray[Any], width: int) -> Any:
        from scipy import sparse

        short = max(width, len(self.values)) < 2**31  # which products read in less time
        columns, starts = (a.astype(np.int32 if short else np.int64) for a in (columns, self.starts))
        return sparse.csr_array((self.values, columns, starts), shape=(len(self.starts) - 1, width))

    def times(self, x: Array) -> Array:
        """A_i X_i: ``(..., n, d, k) -> (..., n, m, k)``; of points that are common to the clients, ``(..., 1, d, k)``."""
        common = x.shape[-3] == 1 and len(self.shape) == 3
        return self._apply(self.matrix if common else self._blocks[0], x, False, common)

    def transposed_times(self, v: Array) -> Array:
        """A_i^T V_i: ``(..., n, m, k) -> (..., n, d, k)``."""
        return self._apply(self._blocks[1], v, True, False)

    def _apply(self, matrix: Any, x: Array, transposed: bool, common: bool) -> Array:
        """One product for all clients, with the runs of a batch and the k vectors of a client as its columns."""
        xp = namespace(x)
        lead, n, k = self.shape[:-3], self.shape[-3], x.shape[-1]
        entering, leaving = self.shape[:-3:-1] if not transposed else self.shape[-2:]
        batch = np.broadcast_shapes(lead, tuple(x.shape[:-3]))
        if lead and batch != lead:  # the runs differ in more than what they selected
            rows = xp.asarray(self.dense())
            return xp.matmul(xp.matrix_transpose(rows) if transposed else rows, x)
        if not common:
            x = xp.broadcast_to(x, (*batch, n, entering, k))
        if lead:
            return xp.reshape(_multiply(matrix, xp.reshape(x, (-1, k))), (*lead, n, leaving, k))
        runs = xp.reshape(x, (-1, 1 if common else n, entering, k))
        columns = xp.reshape(xp.moveaxis(runs, 0, 2), (-1, runs.shape[0] * k))
        found = xp.reshape(_multiply(matrix, columns), (n, leaving, runs.shape[0], k))
        return xp.reshape(xp.moveaxis(found, 2, 0), (*batch, n, leaving, k))

    def gram(self, weights: NDArray[Any]) -> NDArray[Any]:
        """A_i^T W_i A_i: ``(..., n, m) -> (..., n, d, d)``."""
        each = np.reshape(weights, (-1, len(self.starts) - 1))
        found = [(self._blocks[1] @ self._weighted(w)).toarray() for w in each]
        return np.reshape(found, (*weights.shape[:-1], self.shape[-1], self.shape[-1]))

    def total_gram(self, weights: NDArray[Any]) -> NDArray[Any]:
        """sum_i A_i^T W_i A_i: ``(..., n, m) -> (..., d, d)``."""
        each = np.reshape(weights, (-1, len(self.starts) - 1))
        found = [(self.matrix.T @ self._weighted(w)).toarray() for w in each]
        return np.reshape(found, (*weights.shape[:-2], self.shape[-1], self.shape[-1]))

    def _weighted(self, weights: NDArray[Any]) -> Any:
        """All rows times numbers ``(rows,)``."""
        return replace(self, values=self.values * np.repeat(weights, np.diff(self.starts))).matrix

    def products_with_each_other(self) -> NDArray[Any]:
        """A_i A_i^T ``(n, m, m)``."""
        n, m = self.shape[-3:-1]
        each = [self.slice(i, i + 1).matrix for i in range(n)]
        return np.reshape([(a @ a.T).toarray() for a in each], (n, m, m))

    def squares(self) -> NDArray[Any]:
        """||a_ik||^2 ``(*batch, n, m)``."""
        rows = len(self.starts) - 1
        owner = np.repeat(np.arange(rows), np.diff(self.starts))
        return np.bincount(owner, self.values * self.values, minlength=rows).reshape(self.shape[:-1])

    def bound_curvatures(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Upper bounds ``(n,)`` of the largest eigenvalues of A_i^T W_i A_i, w >= 0, by products alone.

        The eigenvalue is at most that of B = |A|^T W |A|, and this at most max_j (B v)_j / v_j for every positive v (Collatz and Wielandt);
        v comes from the power method. Where no entry is negative, or each row has one sign, A^T W A = B and the bound is as close as the
        power method gets. Widened by rounding: all terms of B v are of one sign.
        """
        sizes = replace(self, values=np.abs(self.values))
        v = np.ones((self.shape[0], self.shape[-1]))
        best = np.full(self.shape[0], np.inf)
        for _ in range(POWERS):
            image = combine_rows(sizes, weights * row_products(sizes, v))
            best = np.minimum(best, (image / v).max(axis=-1))
            from_below = (image * v).sum(axis=-1) / (v * v).sum(axis=-1)
            if np.all(best - from_below <= CLOSE * best):
                break
            v = image / np.maximum(image.max(axis=-1, keepdims=True), np.finfo(float).tiny) + CLOSE
        return best * (1 + 8 * sum(self.shape[-2:]) * np.finfo(float).eps)

    def pooled(self) -> SparseRows:
        """All clients' rows as those of one client ``(1, n m, d)``."""
        return replace(self, shape=(1, prod(self.shape[:-1]), self.shape[-1]))

    def pick(self, samples: NDArray[np.integer[Any]]) -> SparseRows:
        """Samples by their numbers ``(..., n, b)``."""
        clients = np.arange(prod(self.shape[:-2])).reshape(self.shape[:-2])
        return self._select(clients[..., None] * self.shape[-2] + samples)

    def take(self, index: NDArray[np.integer[Any]]) -> SparseRows:
        """Clients by their numbers ``(..., clients)``."""
        lead, n, m = self.shape[:-3], *self.shape[-3:-1]
        clients = np.arange(prod(lead)).reshape(lead)[..., None] * n + index
        return self._select(clients[..., None] * m + np.arange(m))

    def _select(self, rows: NDArray[np.integer[Any]]) -> SparseRows:
        flat = rows.ravel()
        starts = _starts(np.diff(self.starts)[flat])
        place = np.repeat(self.starts[flat] - starts[:-1], np.diff(starts)) + np.arange(starts[-1])
        return SparseRows(self.values[place], self.columns[place], starts, (*rows.shape, self.shape[-1]))

    def slice(self, first: int, last: int) -> SparseRows:
        """Clients first, ..., last - 1; the entries are not copied."""
        m = self.shape[-2]
        if len(self.shape) > 3:
            return self.take(np.arange(first, last))
        starts = self.starts[first * m : last * m + 1]
        part = slice(starts[0], starts[-1])
        return SparseRows(self.values[part], self.columns[part], starts - starts[0], (last - first, *self.shape[-2:]))

    def moved(self, reference: Array) -> Rows:
        """The rows in the library and dtype of a reference array: sparse for NumPy, else dense."""
        if isinstance(reference, np.ndarray):
            return replace(self, values=like(self.values, reference))
        return like(self.dense(), reference)


def sparse_pays(samples: int, d: int, entries: int) -> bool:
    """Whether rows with so many entries that are not zero are faster without the zeros: large ones of low density."""
    return samples * d >= LARGE and entries <= DENSITY * samples * d


Rows: TypeAlias = Any  # an array (*batch, n, m, d), or SparseRows of that shape


def row_products(rows: Rows, x: Array) -> Array:
    """Inner products <a_ik, x_i>: ``(..., n, d) -> (..., n, m)``."""
    if isinstance(rows, SparseRows):
        return rows.times(x[..., None])[..., 0]
    return rows_times(x, namespace(rows).matrix_transpose(rows))


def combine_rows(rows: Rows, v: Array) -> Array:
    """Sums sum_k v_ik a_ik: ``(..., n, m) -> (..., n, d)``."""
    return rows.transposed_times(v[..., None])[..., 0] if isinstance(rows, SparseRows) else rows_times(v, rows)


def rows_times_matrices(rows: Rows, x: Array) -> Array:
    """Products A_i X_i: ``(..., n, d, k) -> (..., n, m, k)``."""
    return rows.times(x) if isinstance(rows, SparseRows) else namespace(rows, x).matmul(rows, x)


def transposed_rows_times(rows: Rows, v: Array) -> Array:
    """Products A_i^T V_i: ``(..., n, m, k) -> (..., n, d, k)``."""
    if isinstance(rows, SparseRows):
        return rows.transposed_times(v)
    xp = namespace(rows, v)
    return xp.matmul(xp.matrix_transpose(rows), v)


def weighted_gram(rows: Rows, weights: Array) -> Array:
    """Sums sum_k w_ik a_ik a_ik^T: ``(..., n, m) -> (..., n, d, d)``."""
    if isinstance(rows, SparseRows):
        return rows.gram(np.broadcast_to(weights, np.broadcast_shapes(weights.shape, rows.shape[:-1])))
    xp = namespace(rows, weights)
    return xp.matmul(xp.matrix_transpose(rows) * weights[..., None, :], rows)


def total_gram(rows: Rows, weights: Array) -> Array:
    """Sums over all clients sum_ik w_ik a_ik a_ik^T: ``(..., n, m) -> (..., d, d)``, in one product."""
    if isinstance(rows, SparseRows):
        return rows.total_gram(weights)
    xp = namespace(rows, weights)
    *batch, n, m, d = rows.shape
    flat = xp.reshape(rows, (*batch, n * m, d))
    return xp.matmul(xp.matrix_transpose(flat) * xp.reshape(weights, (*weights.shape[:-2], 1, n * m)), flat)


def row_gram(rows: Rows) -> Array:
    """Inner products <a_ik, a_il> of a client's rows ``(..., n, m, m)``."""
    if isinstance(rows, SparseRows):
        return rows.products_with_each_other()
    xp = namespace(rows)
    return xp.matmul(rows, xp.matrix_transpose(rows))


def row_cost(rows: Rows) -> float:
    """What a product with one row costs, in entries of an array: d, or less where rows are sparse."""
    if isinstance(rows, SparseRows):
        return COST * len(rows.values) / prod(rows.shape[:-1])
    return float(rows.shape[-1])


def row_squares(rows: Rows) -> NDArray[Any]:
    """Squared norms ||a_ik||^2 ``(*batch, n, m)``, on the host."""
    return rows.squares() if isinstance(rows, SparseRows) else np.asarray((to_numpy(rows) ** 2).sum(axis=-1))


def pick_samples(rows: Rows, samples: NDArray[np.integer[Any]]) -> Rows:
    """The rows of minibatches of each client's samples, by their numbers: ``(..., n, b)`` to rows ``(..., n, b, d)``."""
    return rows.pick(samples) if isinstance(rows, SparseRows) else take(rows, samples)


def take_clients(rows: Rows, index: NDArray[np.integer[Any]]) -> Rows:
    """The rows of some clients, by their numbers ``(..., clients)``."""
    return rows.take(index) if isinstance(rows, SparseRows) else take(rows, index, axes_behind=2)


def slice_clients(rows: Rows, first: int, last: int) -> Rows:
    """The rows of the clients first, ..., last - 1, without copying."""
    return rows.slice(first, last) if isinstance(rows, SparseRows) else rows[..., first:last, :, :]


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)])


def _multiply(matrix: Any, x: Array) -> Array:
    """Product of a matrix of SciPy with an array ``(columns, k)`` of NumPy, or of a library with ``times_matrix`` of its own (enclosures).

    Raises
    ------
    InvalidInput
        The array is of another library.
    """
    if isinstance(x, np.ndarray):
        return (matrix @ x[:, 0])[:, None] if x.shape[1] == 1 else matrix @ x
    own = getattr(namespace(x), "times_matrix", None)
    if own is None:
        raise InvalidInput(
            f"sparse samples are NumPy's, and the points are of {type(x).__module__.split('.')[0]}; "
            "move_to_library(problem, x0) takes the problem to the library of x0"
        )
    return own(matrix, x)
