"""Matrix problems for composite methods: a common low-rank matrix plus sparse deviations of the clients (I-LRS and I-ROB in the FedSLR claims)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, namespace, rows_times, take, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.layers import Layer
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.regularisers import NuclearNorm, Regularised, regularised
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Points, SampleNumbers
from problems.quadratics import Quadratic, check_counts


@dataclass(frozen=True, eq=False)
class LowRankTask:
    """A composite problem whose clients' true models are known: W_i = low_rank + sparse_i.

    ``problem``: the clients' losses plus the nuclear norm. ``low_rank`` ``(1, d)``, ``sparse`` ``(n, d)``: the two parts of the
    truth, flat in row-major order.
    """

    problem: Regularised
    low_rank: NDArray[np.float64]
    sparse: NDArray[np.float64]

    def error(self, models: Array) -> NDArray[np.float64]:
        """Mean over clients of ||W_i - truth_i|| / ||truth_i|| in the Frobenius norm: ``(..., n, d) -> (...)``."""
        truth = self.low_rank + self.sparse
        apart = np.linalg.norm(to_numpy(models) - truth, axis=-1) / np.linalg.norm(truth, axis=-1)
        return np.asarray(apart.mean(axis=-1))


def low_rank_regression(
    n: int = 8,
    rows: int = 12,
    columns: int = 10,
    *,
    rank: int = 2,
    nonzeros: int = 6,
    size: float = 2.0,
    samples: int = 60,
    noise: float = 0.1,
    weight: float = 0.3,
    seed: int = 0,
) -> LowRankTask:
    """Linear regression f_i(W) = ||A_i vec(W) - b_i||^2 / (2 samples), Gaussian A_i, plus ``weight`` times the nuclear norm.

    The truth is a matrix of the given rank plus, for every client, ``nonzeros`` entries of +-``size``. The FedSLR claims
    call it I-LRS, which is what the defaults draw, number for number.
    """
    check_counts(n, rows * columns)
    d = rows * columns
    if not (1 <= rank <= min(rows, columns) and 0 <= nonzeros <= d and samples >= 1):
        raise InvalidInput(
            f"expected 1 <= rank <= {min(rows, columns)}, 0 <= nonzeros <= {d} and samples >= 1; "
            f"got rank={rank}, nonzeros={nonzeros}, samples={samples}"
        )
    rng = np.random.default_rng(seed)
    low_rank = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns)) / np.sqrt(rank)
    a = np.array([rng.normal(size=(samples, d)) for _ in range(n)])
    sparse = _sparse(rng, n, d, nonzeros, size)
    truth = low_rank.ravel() + sparse
    b = np.array([a[i] @ truth[i] + noise * rng.normal(size=samples) for i in range(n)])
    gram = np.swapaxes(a, -1, -2) @ a / samples
    smooth = Quadratic(
        (gram + np.swapaxes(gram, -1, -2)) / 2,
        (b[:, None, :] @ a)[:, 0, :] / samples,
        (b * b).sum(axis=-1) / (2 * samples),
        name=f"low-rank regression, {rows} x {columns}",
    )
    return LowRankTask(
        regularised(smooth, NuclearNorm(weight, _matrix(rows, columns))), low_rank.reshape(1, -1), sparse
    )


@dataclass(frozen=True, eq=False)
class CauchyRegression:
    """f_i(x) = (1/m) sum_j log(1 + (a_ij^T x - b_ij)^2): non-convex, smooth, with bounded gradients.

    The loss phi(r) = log(1 + r^2) has |phi'| = |2 r / (1 + r^2)| <= 1 and phi'' = 2 (1 - r^2) / (1 + r^2)^2 in [-1/4, 2].

    Parameters
    ----------
    features : array ``(n, m, d)``
    targets : array ``(n, m)``
    name : str
    """

    features: Array
    targets: Array
    name: str = "Cauchy regression"

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.features.shape[-3])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.features.shape[-1])

    @property
    def n_samples(self) -> NDArray[np.int64]:
        """Samples of each client ``(n,)``."""
        return np.full(self.n, self.features.shape[-2])

    def _residual(self, x: Array) -> Array:
        return rows_times(x, namespace(x).matrix_transpose(self.features)) - self.targets

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        r = self._residual(x)
        return namespace(x).sum(namespace(x).log(1 + r * r), axis=-1) / r.shape[-1]

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        r = self._residual(x)
        return rows_times(2 * r / (1 + r * r), self.features) / r.shape[-1]

    def hess(self, x: Points) -> Matrices:
        """Hessians of f_i at x_i."""
        xp, r = namespace(x), self._residual(x)
        curvature = 2 * (1 - r * r) / (1 + r * r) ** 2
        return xp.matmul(xp.matrix_transpose(self.features) * curvature[..., None, :], self.features) / r.shape[-1]

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches."""
        xp = namespace(x)
        features = take(self.features, samples)
        r = xp.matmul(features, x[..., None])[..., 0] - take(self.targets[..., None], samples)[..., 0]
        return xp.matmul((2 * r / (1 + r * r))[..., None, :], features)[..., 0, :] / r.shape[-1]

    def take(self, clients: Clients | None) -> CauchyRegression:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        features, targets = take(self.features, clients.index, axes_behind=2), take(self.targets, clients.index)
        return replace(self, features=features, targets=targets)

    def lower_bound(self) -> Certified:
        """Zero: the loss is not negative."""
        return Certified(0.0, "log(1 + r^2) >= 0")

    @cached_property
    def _largest(self) -> tuple[NDArray[np.float64], float]:
        """Largest eigenvalue of A_i^T A_i / m, by client and of the average, widened by the eigensolver's backward error."""
        a = to_numpy(self.features)
        gram = np.swapaxes(a, -1, -2) @ a / a.shape[-2]
        wide = 1 + 16 * (self.d + a.shape[-2]) * np.finfo(float).eps
        return np.linalg.eigvalsh(gram)[..., -1] * wide, float(np.linalg.eigvalsh(gram.mean(axis=0))[-1]) * wide

    def certify(self) -> dict[str, Certified]:
        """L and mu from the range of phi'', G from |phi'| <= 1."""
        own, average = self._largest
        how = "phi'' in [-1/4, 2] times the largest eigenvalue of A_i^T A_i / m, widened"
        norms = np.linalg.norm(to_numpy(self.features), axis=-1).mean(axis=-1)
        found = {
            "L_i": Certified(2 * own, how),
            "L": Certified(2 * own.max(axis=-1), how),
            "L_avg": Certified(2 * average, how),
            "mu_i": Certified(-own / 4, how),
            "mu": Certified(-own.max(axis=-1) / 4, how),
            "mu_avg": Certified(-average / 4, how),
            "B": Certified(norms.max(), "|phi'| <= 1: ||grad f_i|| <= mean_j ||a_ij||"),
        }
        if self.n > 1:
            largest = np.sort(norms)[-2:]
            found["G"] = Certified(largest.sum(), "||grad f_i|| + ||grad f_j||, each at most mean ||a||")
        return found


def robust_low_rank_regression(
    n: int = 4, rows: int = 6, columns: int = 5, *, samples: int = 25, weight: float = 0.02, seed: int = 0
) -> LowRankTask:
    """Cauchy regression onto a matrix of rank one plus 10 % sparse deviations, 20 % of the targets gross outliers, plus the nuclear norm.

    Meets FedSLR's A1 to A3 (smooth, bounded gradients, bounded below), non-convex. The FedSLR claims call it I-ROB.
    """
    check_counts(n, rows * columns)
    d = rows * columns
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(n, samples, d)) / np.sqrt(d)
    low_rank = np.outer(rng.normal(size=rows), rng.normal(size=columns)).reshape(1, -1)
    sparse = _sparse(rng, n, d, d // 10, 2.0)
    b = (a @ (low_rank + sparse)[..., None])[..., 0] + 0.1 * rng.normal(size=(n, samples))
    b = b + np.where(rng.uniform(size=b.shape) < 0.2, 5 * rng.normal(size=b.shape), 0)
    smooth = CauchyRegression(a, b, name=f"robust low-rank regression, {rows} x {columns}")
    return LowRankTask(regularised(smooth, NuclearNorm(weight, _matrix(rows, columns))), low_rank, sparse)


def _matrix(rows: int, columns: int) -> tuple[Layer, ...]:
    return (Layer("matrix", (rows, columns)),)


def _sparse(rng: np.random.Generator, n: int, d: int, nonzeros: int, size: float) -> NDArray[np.float64]:
    """One row a client with ``nonzeros`` entries of +-size."""
    found = np.zeros((n, d))
    for row in found:
        where = rng.choice(d, nonzeros, replace=False)
        row[where] = rng.choice([-1, 1], nonzeros) * size
    return found
