"""Separable problems f_i(x) = sum_k phi_ik(x_k): smooth, possibly non-convex, with exact constants.

They are the small witnesses of the papers: the FedAvg counterexamples, instances of skipping, sums of sines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, identity, is_array, is_object, namespace, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Points
from fedtheory.local.conjugates import newton_conjugate
from problems.quadratics import check_counts, mean_towards


class Separable:
    """What separable families share: counts, taking clients, and diagonal Hessians.

    All array fields have one shape, ``(*batch, n, d)`` or, with ``_axes_behind`` axes after the clients', longer.
    """

    name: str
    _axes_behind: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check that the parameters have one shape."""
        current = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        shapes = {name: tuple(value.shape) for name, value in current.items() if is_array(value)}
        if len(set(shapes.values())) > 1:
            raise InvalidInput(f"the parameters of {self.name!r} must have one shape, got {shapes}")

    @property
    def _first(self) -> Array:
        return getattr(self, fields(self)[0].name)  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self._first.shape[-1 - self._axes_behind])

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self._first.shape[-self._axes_behind])

    def take(self, clients: Clients | None) -> Self:
        """Restrict to the clients that take part."""
        return self if clients is None else self._map(lambda a: take(a, clients.index, axes_behind=self._axes_behind))

    def slice(self, first: int, last: int) -> Self:
        """Clients first, ..., last - 1."""
        return self._map(lambda a: take(a, np.arange(first, last), axes_behind=self._axes_behind))

    def _map(self, change: Any) -> Self:
        current = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        arrays = {name: change(value) for name, value in current.items() if is_array(value)}
        return replace(self, **arrays)  # type: ignore[type-var]

    def curvature(self, x: Points) -> ClientPoints:
        """Second derivatives phi_ik''(x_k)."""
        raise NotImplementedError

    def hess(self, x: Points) -> Matrices:
        """Diagonal Hessians."""
        second = self.curvature(x)
        return second[..., None] * identity(second.shape[-1], second)


@dataclass(frozen=True, eq=False)
class RootPlusQuadratic(Separable):
    """f_i(x) = sum_k  h_ik x_k^2 / 2 + g_ik x_k + c_ik sqrt(1 + x_k^2).

    The second derivative h + c (1 + x^2)^{-3/2} lies between h and h + c, so L and mu are exact.

    Parameters
    ----------
    h, g, c : arrays ``(*batch, n, d)``
    name : str
    """

    h: Array
    g: Array
    c: Array
    name: str = "quadratic plus root"

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x)
        return xp.sum(self.h * x * x / 2 + self.g * x + self.c * (1 + x * x) ** 0.5, axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Return h x + g + c x / sqrt(1 + x^2)."""
        return self.h * x + self.g + self.c * x / (1 + x * x) ** 0.5

    def curvature(self, x: Points) -> ClientPoints:
        """Return h + c (1 + x^2)^{-3/2}."""
        return self.h + self.c * (1 + x * x) ** -1.5

    @property
    def conjugate(self) -> Callable[[Points], ClientValues] | None:
        """f_i^*(y_i) by Newton's method, from above (`fedtheory.local.conjugates.newton_conjugate`); None without strong convexity."""
        return (lambda y: newton_conjugate(self, y, self._modulus)[0]) if self._modulus > 0 else None

    @cached_property
    def _modulus(self) -> float:
        if is_object(self.h):
            return 0.0
        h, c = to_numpy(self.h), to_numpy(self.c)
        return float(np.min(np.minimum(h, h + c)))

    def ridged(self, weight: float) -> RootPlusQuadratic:
        """The same clients with (weight/2)||x||^2 added; a negative weight takes ridge away."""
        return replace(self, h=self.h + weight)

    def certify(self) -> dict[str, Certified]:
        """L and mu from the exact range of the second derivative; G if all h_i agree."""
        h, g, c = (to_numpy(a) for a in (self.h, self.g, self.c))
        both = np.concatenate([h, c], axis=-2)  # their mean is exactly half of that of h + c
        low, high = ((mean_towards(h, side, -2), 2 * mean_towards(both, side, -2)) for side in (-np.inf, np.inf))
        mean = np.minimum(*low), np.maximum(*high)  # the average is of the same form, with the mean h and c
        found = curvature_constants((h, h + c), mean, "exact range of h + c (1 + x^2)^{-3/2}")
        if np.array_equal(h, np.broadcast_to(h[..., :1, :], h.shape)):
            apart = np.abs(g[..., :, None, :] - g[..., None, :, :]) + np.abs(c[..., :, None, :] - c[..., None, :, :])
            found["G"] = Certified(
                np.sqrt((apart**2).sum(axis=-1).max(axis=(-1, -2))),
                "all h_i agree; |x / sqrt(1 + x^2)| < 1, the supremum is approached as x grows",
            )
        return found


@dataclass(frozen=True, eq=False)
class Sines(Separable):
    """f_i(x) = sum_k sum_j a_ikj sin(w_ikj x_k + phi_ikj): smooth, non-convex, bounded.

    Parameters
    ----------
    amplitude, frequency, phase : arrays ``(*batch, n, d, terms)``
    name : str
    """

    amplitude: Array
    frequency: Array
    phase: Array
    name: str = "sums of sines"
    _axes_behind: ClassVar[int] = 2

    def _sum(self, function: Any, power: int, x: Array) -> Array:
        xp = namespace(x)
        angle = self.frequency * x[..., None] + self.phase
        return xp.sum(self.amplitude * self.frequency**power * function(xp, angle), axis=-1)

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        return namespace(x).sum(self._sum(lambda xp, t: xp.sin(t), 0, x), axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        return self._sum(lambda xp, t: xp.cos(t), 1, x)

    def curvature(self, x: Points) -> ClientPoints:
        """Second derivatives."""
        return -self._sum(lambda xp, t: xp.sin(t), 2, x)

    def lower_bound(self) -> Certified:
        """-mean_i sum |amplitudes|, below the infimum."""
        total = np.abs(to_numpy(self.amplitude)).sum(axis=(-1, -2)).mean(axis=-1)
        return Certified(-total, "sum of the amplitudes")

    def certify(self) -> dict[str, Certified]:
        """L_i <= max_k sum_j |a| w^2."""
        bound = (np.abs(to_numpy(self.amplitude)) * to_numpy(self.frequency) ** 2).sum(axis=-1)
        how = "sum of |amplitude| frequency^2 of the terms"
        return curvature_constants((-bound, bound), (-bound.mean(axis=-2), bound.mean(axis=-2)), how)


@dataclass(frozen=True, eq=False)
class PowerTail(Separable):
    """f_i(x) = sum_k  (1 + x_k^2)^{-a/2} + g_ik x_k + c_ik sqrt(1 + x_k^2), 0 < a <= 1: no minimiser, slowly decaying gradient.

    With mean g = mean c = 0 the average is (1 + x^2)^{-a/2}, whose gradient decays so slowly that first-order methods need
    close to 1/epsilon rounds. |phi''| <= a + |c|, because |(a+1) t - 1| <= (1+t)^{a/2+2} for t >= 0 and a <= 1.

    Parameters
    ----------
    g, c : arrays ``(*batch, n, d)``
    a : number
    name : str
    """

    g: Array
    c: Array
    a: float
    name: str = "power tail"

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        s = 1 + x * x
        return namespace(x).sum(s ** (-self.a / 2) + self.g * x + self.c * s**0.5, axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        s = 1 + x * x
        return -self.a * x * s ** (-self.a / 2 - 1) + self.g + self.c * x / s**0.5

    def curvature(self, x: Points) -> ClientPoints:
        """Second derivatives."""
        s = 1 + x * x
        return self.a * ((self.a + 1) * x * x - 1) * s ** (-self.a / 2 - 2) + self.c * s**-1.5

    def lower_bound(self) -> Certified:
        """Zero where the heterogeneity cancels in the mean; it is not attained."""
        if np.any(to_numpy(self.g).mean(axis=-2)) or np.any(to_numpy(self.c).mean(axis=-2)):
            raise NotAvailable(f"{self.name!r} is bounded below by zero only when g and c average to zero")
        return Certified(0.0, "(1 + x^2)^{-a/2} > 0")

    def certify(self) -> dict[str, Certified]:
        """L_i = a + max |c_i|."""
        size = self.a + np.abs(to_numpy(self.c)).max(axis=-1)
        how = "|phi''| <= a + |c|"
        return {"L_i": Certified(size, how), "L": Certified(size.max(axis=-1), how)}


@dataclass(frozen=True, eq=False)
class Power(Separable):
    """f_i(x) = sum_k pi(x_k) + g_ik x_k with pi(t) = |t|^p / p for |t| <= 1 and |t| - 1 + 1/p beyond.

    Convex, (p-1)-smooth, |pi'| <= 1; where the g_i average to zero the minimum is 0 at the origin, and the Kurdyka-Lojasiewicz exponent there
    is 1 - 1/p: |pi'(t)| = |t|^(p-1) = (p pi(t))^(1 - 1/p).

    Parameters
    ----------
    g : array ``(*batch, n, d)``
        Linear terms, the clients' heterogeneity.
    p : number
        At least 2.
    name : str
    """

    g: Array
    p: float
    name: str = "power"

    def __post_init__(self) -> None:
        """Refuse powers that are not smooth."""
        if not self.p >= 2:
            raise InvalidInput(f"p must be at least 2 for a smooth function, got {self.p}")

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp, t = namespace(x), namespace(x).abs(x)
        inner = xp.where(t <= 1, t, xp.ones_like(t)) ** self.p / self.p
        return xp.sum(inner + xp.where(t > 1, t - 1, 0 * t) + self.g * x, axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """sign(x) min(|x|, 1)^(p-1) + g."""
        xp, t = namespace(x), namespace(x).abs(x)
        return xp.sign(x) * xp.where(t <= 1, t, xp.ones_like(t)) ** (self.p - 1) + self.g

    def curvature(self, x: Points) -> ClientPoints:
        """(p-1) |x|^(p-2) where |x| <= 1, zero beyond."""
        xp, t = namespace(x), namespace(x).abs(x)
        inside = (self.p - 1) * xp.where(t <= 1, t, xp.ones_like(t)) ** (self.p - 2)
        return xp.where(t <= 1, inside, 0 * t) + 0 * self.g

    def certify(self) -> dict[str, Certified]:
        """L = p - 1 and mu = 0 for every client and for the average; G from the linear terms."""
        g, how = to_numpy(self.g), "0 <= pi'' <= p - 1, attained"
        flat, steep = np.zeros(g.shape), np.full(g.shape, self.p - 1.0)
        apart = np.linalg.norm(g[..., :, None, :] - g[..., None, :, :], axis=-1)
        return curvature_constants((flat, steep), (flat[..., 0, :], steep[..., 0, :]), how) | {
            "G": Certified(apart.max(axis=(-1, -2)), "gradients differ by g_i - g_j everywhere"),
        }


def curvature_constants(
    ends: tuple[NDArray[Any], NDArray[Any]], mean_ends: tuple[NDArray[Any], NDArray[Any]], how: str
) -> dict[str, Certified]:
    """L and mu of clients and average from the two ends ``(*batch, n, d)``, ``(*batch, d)`` of what second derivatives can be."""
    low, high = np.minimum(*ends), np.maximum(*ends)
    low_avg, high_avg = np.minimum(*mean_ends), np.maximum(*mean_ends)
    size = np.maximum(np.abs(low), np.abs(high)).max(axis=-1)
    return {
        "L_i": Certified(size, how),
        "L": Certified(size.max(axis=-1), how),
        "L_avg": Certified(np.maximum(np.abs(low_avg), np.abs(high_avg)).max(axis=-1), how + ", averaged"),
        "mu_i": Certified(low.min(axis=-1), how),
        "mu": Certified(low.min(axis=(-1, -2)), how),
        "mu_avg": Certified(low_avg.min(axis=-1), how + ", averaged"),
    }


def random_sines(n: int, d: int = 1, *, L: float = 1.0, batch: tuple[int, ...] = (), seed: int = 0) -> Sines:
    """Three random sines a client and coordinate, frequencies in [0.2, 2], scaled to sum |a| w^2 = L.

    The FedPD claims call this family I-TRIG.
    """
    check_counts(n, d)
    if not L > 0:
        raise InvalidInput(f"L must be positive, got {L}")
    rng = np.random.default_rng(seed)
    shape = (*batch, n, d, 3)
    frequency = rng.uniform(0.2, 2, shape)
    amplitude = rng.standard_normal(shape)
    amplitude = amplitude * L / (np.abs(amplitude) * frequency**2).sum(axis=-1, keepdims=True)
    return Sines(amplitude, frequency, rng.uniform(0, 2 * np.pi, shape))


def root_plus_quadratic(h: Any, g: Any, c: Any, name: str = "quadratic plus root") -> RootPlusQuadratic:
    """Scalar instance from lists of length n (d = 1)."""
    try:
        h, g, c = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (h, g, c)))
    except ValueError as error:
        raise InvalidInput(f"h, g and c must be numbers or lists of one length n ({error})") from error
    if not (np.isfinite(h).all() and np.isfinite(g).all() and np.isfinite(c).all()):
        raise InvalidInput("h, g or c contains NaN or infinite values; expected finite numbers")
    return RootPlusQuadratic(np.array(h)[..., None], np.array(g)[..., None], np.array(c)[..., None], name)


def skipping_instance(g: float, c: float) -> RootPlusQuadratic:
    """Return two clients x^2/2 +- (g x + c sqrt(1 + x^2)): f = x^2/2, x* = 0, L = 1 + c, G = 2 (g + c).

    The FedPD claims call it I-SKIP(g, c); gradients are dissimilar, yet boundedly so.
    """
    return root_plus_quadratic([1, 1], [g, -g], [c, -c], name=f"skipping instance (g={g}, c={c})")
