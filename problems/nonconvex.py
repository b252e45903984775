"""Smooth non-convex problems whose smoothness constants are exact: sums of cosines, quadratics plus cosines, Cauchy losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, identity, namespace, rows_times, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Points
from problems.quadratics import check_counts, eigen_range
from problems.separable import Separable, curvature_constants


@dataclass(frozen=True, eq=False)
class Cosines:
    """f_i(x) = sum_j a_ij cos(<w_ij, x> + phi_ij) + (ridge/2) ||x||^2: smooth, non-convex, bounded below.

    The Hessian lies between ridge I - S_i and ridge I + S_i with S_i = sum_j |a_ij| w_ij w_ij^T. Where a client's directions are
    linearly independent both ends are attained, so that its smoothness constant ridge + ||S_i|| is exact.

    Parameters
    ----------
    amplitude, phase : arrays ``(*batch, n, terms)``
    direction : array ``(*batch, n, terms, d)``
    ridge : number, not negative
    name : str

    Raises
    ------
    InvalidInput
        Shapes do not fit, or the ridge is negative.
    """

    amplitude: Array
    direction: Array
    phase: Array
    ridge: float = 0.0
    name: str = "sums of cosines"

    def __post_init__(self) -> None:
        """Check shapes and the ridge."""
        shapes = [tuple(a.shape) for a in (self.amplitude, self.direction, self.phase)]
        if len(shapes[1]) < 3 or shapes[0] != shapes[1][:-1] or shapes[2] != shapes[0]:
            raise InvalidInput(
                "expected amplitude and phase (*batch, n, terms) and direction (*batch, n, terms, d), "
                f"got amplitude {shapes[0]}, phase {shapes[2]} and direction {shapes[1]}"
            )
        if not self.ridge >= 0:
            raise InvalidInput(f"ridge must not be negative, got {self.ridge}")

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.direction.shape[-3])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.direction.shape[-1])

    def _angle(self, x: Array) -> Array:
        return rows_times(x, namespace(self.direction).matrix_transpose(self.direction)) + self.phase

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x)
        return xp.sum(self.amplitude * xp.cos(self._angle(x)), axis=-1) + self.ridge / 2 * xp.sum(x * x, axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        weight = self.amplitude * namespace(x).sin(self._angle(x))
        return self.ridge * x - rows_times(weight, self.direction)

    def hess(self, x: Points) -> Matrices:
        """Hessians of f_i at x_i."""
        xp = namespace(x)
        weight = self.amplitude * xp.cos(self._angle(x))
        waves = xp.matmul(xp.matrix_transpose(self.direction) * weight[..., None, :], self.direction)
        return self.ridge * identity(self.d, waves) - waves

    def take(self, clients: Clients | None) -> Cosines:
        """Restrict to the clients that take part."""
        if clients is None:
            return self
        index = clients.index
        rows = (take(self.amplitude, index), take(self.direction, index, axes_behind=2), take(self.phase, index))
        return Cosines(*rows, self.ridge, self.name)

    def lower_bound(self) -> Certified:
        """-mean_i sum_j |a_ij|, below the infimum."""
        total = np.abs(to_numpy(self.amplitude)).sum(axis=-1).mean(axis=-1)
        return Certified(-total, "sum of the amplitudes")

    def certify(self) -> dict[str, Certified]:
        """L_i = ridge + ||S_i|| and mu_i = ridge - ||S_i||; of the average, the same with mean S_i."""
        direction = to_numpy(self.direction)
        weighted = np.abs(to_numpy(self.amplitude))[..., None] * direction
        spread = np.swapaxes(direction, -1, -2) @ weighted
        size, average = eigen_range(spread)[1], eigen_range(spread.mean(axis=-3))[1]
        how = "ridge +- largest eigenvalue of sum |amplitude| direction direction^T, widened; exact for independent directions"
        return {
            "L_i": Certified(self.ridge + size, how),
            "L": Certified((self.ridge + size).max(axis=-1), how),
            "L_avg": Certified(self.ridge + average, how),
            "mu_i": Certified(self.ridge - size, how),
            "mu": Certified((self.ridge - size).min(axis=-1), how),
            "mu_avg": Certified(self.ridge - average, how),
        }


@dataclass(frozen=True, eq=False)
class QuadraticPlusCosine(Separable):
    """f_i(x) = sum_k  h_ik x_k^2 / 2 - b_ik x_k + c_ik (1 - cos(w_ik x_k)).

    The second derivative h + c w^2 cos(w x) takes all values between h - |c| w^2 and h + |c| w^2, so L and mu are exact.

    Parameters
    ----------
    h, b, c, w : arrays ``(*batch, n, d)``
    name : str
    """

    h: Array
    b: Array
    c: Array
    w: Array
    name: str = "quadratic plus cosine"

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x)
        return xp.sum(self.h * x * x / 2 - self.b * x + self.c * (1 - xp.cos(self.w * x)), axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Return h x - b + c w sin(w x)."""
        return self.h * x - self.b + self.c * self.w * namespace(x).sin(self.w * x)

    def curvature(self, x: Points) -> ClientPoints:
        """Return h + c w^2 cos(w x)."""
        return self.h + self.c * self.w**2 * namespace(x).cos(self.w * x)

    def lower_bound(self) -> Certified:
        """Infimum of the mean quadratic, plus mean min(0, 2 c), coordinate by coordinate; exact where all c >= 0 and b = 0 or w = 0.

        Raises
        ------
        NotAvailable
            The mean quadratic of a coordinate is unbounded below.
        """
        h, b = (to_numpy(a).mean(axis=-2) for a in (self.h, self.b))
        if np.any((h < 0) | ((h == 0) & (b != 0))):
            raise NotAvailable(f"{self.name!r} is unbounded below: some mean h is negative, or zero with mean b != 0")
        lowest = -(b**2) / (2 * np.where(h > 0, h, 1))
        waves = np.minimum(0, 2 * to_numpy(self.c)).mean(axis=-2)
        return Certified((lowest + waves).sum(axis=-1), "infimum of the mean quadratic, and 0 <= 1 - cos <= 2")

    def certify(self) -> dict[str, Certified]:
        """L and mu from the exact range of the second derivative."""
        h, wave = to_numpy(self.h), np.abs(to_numpy(self.c)) * to_numpy(self.w) ** 2
        return _from_range(h - wave, h + wave, "exact range of h + c w^2 cos(w x)")


@dataclass(frozen=True, eq=False)
class Cauchy(Separable):
    """f_i(x) = sum_k (s_ik / 2) log(1 + (x_k - m_ik)^2): a robust loss, non-convex, with gradients that fade.

    The second derivative s (1 - t^2)/(1 + t^2)^2, t = x - m, lies between -s/8 (at t^2 = 3) and s (at t = 0): L and mu are exact.

    Parameters
    ----------
    scale, centre : arrays ``(*batch, n, d)``
        s, not negative, and m.
    name : str
    """

    scale: Array
    centre: Array
    name: str = "Cauchy losses"

    def __post_init__(self) -> None:
        """Check shapes and the scales."""
        super().__post_init__()
        if not bool(namespace(self.scale).all(self.scale >= 0)):
            raise InvalidInput("scale must not be negative")

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x)
        return xp.sum(self.scale / 2 * xp.log1p((x - self.centre) ** 2), axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Return s t / (1 + t^2)."""
        t = x - self.centre
        return self.scale * t / (1 + t * t)

    def curvature(self, x: Points) -> ClientPoints:
        """Return s (1 - t^2)/(1 + t^2)^2."""
        square = (x - self.centre) ** 2
        return self.scale * (1 - square) / (1 + square) ** 2

    def lower_bound(self) -> Certified:
        """Zero, the infimum where all clients have one centre."""
        return Certified(0.0, "logarithms of numbers of at least 1")

    def certify(self) -> dict[str, Certified]:
        """L_i = max_k s_ik, mu_i = -L_i/8."""
        scale = to_numpy(self.scale)
        return _from_range(-scale / 8, scale, "exact range of s (1 - t^2)/(1 + t^2)^2")


def _from_range(low: NDArray[Any], high: NDArray[Any], how: str) -> dict[str, Certified]:
    """Constants from the ranges ``(*batch, n, d)`` of second derivatives; of the average, from the mean ranges."""
    return curvature_constants((low, high), (low.mean(axis=-2), high.mean(axis=-2)), how)


def random_cosines(
    n: int, d: int, *, terms: int = 4, L: float = 1.0, batch: tuple[int, ...] = (), seed: int = 0
) -> Cosines:
    """Draw sums of cosines with frequencies in [0.5, 2] that are all equally curved, a ridge of L/10, and L_i = L for every client.

    Source: the instances on which AFEDPD-T1R is checked; there the amplitudes are such that the sum of the terms' curvatures is 0.9 L, here
    such that the norm of their sum is.
    """
    check_counts(n, d)
    if terms < 1 or not L > 0:
        raise InvalidInput(f"expected terms >= 1 and L > 0, got terms={terms}, L={L}")
    rng = np.random.default_rng(seed)
    unit = rng.standard_normal((*batch, n, terms, d))
    unit = unit / np.linalg.norm(unit, axis=-1, keepdims=True)
    frequency = rng.uniform(0.5, 2, (*batch, n, terms))
    norm = np.linalg.eigvalsh(np.swapaxes(unit, -1, -2) @ unit)[..., -1]
    return Cosines(
        amplitude=0.9 * L / norm[..., None] / frequency**2,
        direction=frequency[..., None] * unit,
        phase=rng.uniform(0, 2 * np.pi, (*batch, n, terms)),
        ridge=0.1 * L,
    )


def random_cauchy(
    n: int, d: int, *, L: float = 1.0, heterogeneity: float = 1.0, batch: tuple[int, ...] = (), seed: int = 0
) -> Cauchy:
    """Draw Cauchy losses with scales in [L/2, L], L among them, around centres spread by ``heterogeneity``."""
    check_counts(n, d)
    if not L > 0:
        raise InvalidInput(f"L must be positive, got {L}")
    rng = np.random.default_rng(seed)
    scale = rng.uniform(L / 2, L, (*batch, n, d))
    scale[..., 0, 0] = L
    return Cauchy(scale, heterogeneity * rng.standard_normal((*batch, n, d)))
