"""Quadratics that are finite sums of samples, with sample losses rougher than their mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, Scalar, identity, inner, namespace, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Minimiser, Points, SampleNumbers
from problems.quadratics import mean_towards


@dataclass(frozen=True, eq=False)
class SampledQuadratic:
    """f_i(x) = mean_k [ sum_j h_ikj x_j^2 / 2 - b_ikj x_j ], with separable samples.

    Parameters
    ----------
    h, b : arrays ``(*batch, n, m, d)``
        Curvatures and linear terms of the m samples of each client.
    name : str
    """

    h: Array
    b: Array
    name: str = "sampled quadratics"

    def __post_init__(self) -> None:
        """Check the shapes."""
        if self.h.ndim < 3 or self.h.shape != self.b.shape:
            raise InvalidInput(
                f"h and b must share a shape (*batch, n, samples, d); got {tuple(self.h.shape)} and {tuple(self.b.shape)}"
            )

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.h.shape[-3])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.h.shape[-1])

    @property
    def n_samples(self) -> NDArray[np.int64]:
        """Samples of each client ``(n,)``."""
        return np.full(self.n, int(self.h.shape[-2]))

    @cached_property
    def _mean(self) -> tuple[Array, Array]:
        xp = namespace(self.h)
        return xp.mean(self.h, axis=-2), xp.mean(self.b, axis=-2)

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        h, b = self._mean
        return inner(h * x, x) / 2 - inner(b, x)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        h, b = self._mean
        return h * x - b

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches."""
        xp = namespace(x, self.h)
        h, b = (xp.mean(take(a, samples), axis=-2) for a in (self.h, self.b))
        return h * x - b

    def hess(self, x: Points) -> Matrices:
        """Diagonal Hessians ``(*batch, n, d, d)``."""
        return self._mean[0][..., None] * identity(self.d, self.h)

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """(v + step b)/(1 + step h), coordinate by coordinate."""
        h, b = self._mean
        return (v + step * b) / (1 + step * h)

    def conjugate(self, y: Points) -> ClientValues:
        """Sum of (y + b)^2 / (2 h); infinite where h < 0, or h = 0 and y + b is not."""
        xp = namespace(y, self.h)
        h, b = self._mean
        s = y + b
        inside = xp.all((h > 0) | ((h == 0) & (s == 0)), axis=-1)
        half = xp.sum(s * s / xp.where(h > 0, h, xp.ones_like(h)), axis=-1) / 2
        return xp.where(inside, half, xp.full_like(half, float("inf")))

    def conjugate_grad(self, y: Points) -> ClientPoints:
        """(y + b) / h, zero where h = 0 = y + b.

        Raises
        ------
        InvalidInput
            A y_i lies outside the domain of f_i^*.
        """
        xp = namespace(y, self.h)
        h, b = self._mean
        s = y + b
        if not bool(xp.all((h > 0) | ((h == 0) & (s == 0)))):
            raise InvalidInput(
                f"a dual point lies outside the domain of a conjugate of {self.name!r}: the mean curvatures h must be positive"
            )
        return s / xp.where(h > 0, h, xp.ones_like(h))

    def ridged(self, weight: Scalar) -> SampledQuadratic:
        """The same clients with (weight/2)||x||^2 added; a negative weight takes ridge away."""
        return replace(self, h=self.h + weight)

    def take(self, clients: Clients | None) -> SampledQuadratic:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        index = clients.index
        return replace(self, h=take(self.h, index, axes_behind=2), b=take(self.b, index, axes_behind=2))

    def solution(self) -> Minimiser:
        """Minimiser of the average.

        Raises
        ------
        NotAvailable
            The average is concave or flat in a coordinate, so there is no unique minimiser.
        """
        xp = namespace(self.h)
        h, b = self._mean
        lowest = float(np.min(self._average_curvature(-np.inf)))
        if not lowest > 0:
            raise NotAvailable(
                f"the average of {self.name!r} is not strongly convex (lowest mean curvature {lowest:.3g}), so it has no unique minimiser"
            )
        return xp.mean(b, axis=-2) / xp.mean(h, axis=-2)

    def _average_curvature(self, side: float) -> NDArray[np.float64]:
        """Curvatures of the average ``(*batch, d)``, rounded towards ``side``."""
        samples = np.swapaxes(to_numpy(self.h), -1, -3)  # (*batch, d, m, n)
        return mean_towards(samples.reshape(*samples.shape[:-2], -1), side, axis=-1)

    def certify(self) -> dict[str, Certified]:
        """L, mu, L_sample: exact, curvatures are numbers."""
        h = to_numpy(self._mean[0])
        samples = to_numpy(self.h)
        how = "curvatures are given coordinate by coordinate"
        noise = {}
        if np.array_equal(samples, np.broadcast_to(samples[..., :1, :], samples.shape)):
            b = to_numpy(self.b)
            spread = ((b - b.mean(axis=-2, keepdims=True)) ** 2).sum(axis=-1).mean(axis=-1)
            noise["sigma"] = Certified(
                np.sqrt(spread.max(axis=-1)),
                "a client's samples share their curvature, so the noise does not depend on x",
            )
        return noise | {
            "L_i": Certified(np.abs(h).max(axis=-1), how),
            "L": Certified(np.abs(h).max(axis=(-1, -2)), how),
            "L_avg": Certified(np.abs(h.mean(axis=-2)).max(axis=-1), how),
            "L_sample": Certified(np.abs(samples).max(axis=(-1, -2, -3)), how),
            "mu_i": Certified(h.min(axis=-1), how),
            "mu": Certified(h.min(axis=(-1, -2)), how),
            "mu_avg": Certified(self._average_curvature(-np.inf).min(axis=-1), how),
        }


def rough_samples(n: int, H: float, mean: float, samples: int = 40) -> SampledQuadratic:
    """Every client holds samples +-(H/2) x^2 whose mean is (mean/2) x^2: smooth f_i, rough samples.

    The number of positive samples is rounded, so ``mean`` must be H (2k/samples - 1) for an integer k. The FedPD
    claims call it I-SAMPLE.
    """
    positive = samples * (1 + mean / H) / 2
    k = round(positive)
    if abs(k - positive) > 1e-9:
        raise InvalidInput(f"{samples} samples of +-{H}/2 x^2 cannot have the mean curvature {mean}")
    h = np.concatenate([np.full(k, H), np.full(samples - k, -H)])
    h = np.broadcast_to(h[None, :, None], (n, samples, 1)).copy()
    return SampledQuadratic(h, np.zeros_like(h), f"rough samples (H={H}, mean {mean})")


def random_finite_sum(
    n: int, samples: int, d: int, *, L: float = 1.0, mu: float = 0.1, noise: float = 1.0, seed: int = 0
) -> SampledQuadratic:
    """Draw samples with curvatures in [mu, L] and linear terms spread over clients and samples."""
    rng = np.random.default_rng(seed)
    h = rng.uniform(mu, L, (n, samples, d))
    h[:, 0] = L
    b = rng.standard_normal((n, 1, d)) + noise * rng.standard_normal((n, samples, d))
    return SampledQuadratic(h, b)
