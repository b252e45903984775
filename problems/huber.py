"""Distances to the clients' own points, absolute or Huber's, plus linear and quadratic terms: closed forms throughout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, Scalar, clamp, inner, like, namespace, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable, require
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Matrices, Minimiser, Points
from problems.quadratics import check_counts, mean_towards
from problems.separable import Separable


@dataclass(frozen=True, eq=False)
class Huber(Separable):
    """f_i(x) = sum_k  w_ik H(x_k - c_ik; t_ik) + g_ik x_k + (h_ik/2) x_k^2.

    H(u; t) = u^2/(2t) for |u| <= t and |u| - t/2 beyond; H(u; 0) = |u|, where `grad` is the subgradient with sign(0) = 0.

    Parameters
    ----------
    weight, centre, width, linear, ridge : arrays ``(*batch, n, d)``
        w >= 0, c, t >= 0, g, h >= 0.
    name : str
    """

    weight: Array
    centre: Array
    width: Array
    linear: Array
    ridge: Array
    name: str = "distances"

    def __post_init__(self) -> None:
        """Check shapes and signs."""
        super().__post_init__()
        for label in ("weight", "width", "ridge"):
            values = to_numpy(getattr(self, label))
            if not np.all(values >= 0):
                raise InvalidInput(f"{label} must not be negative, got {values.min():.3g}")

    @property
    def _kinked(self) -> bool:
        return bool(np.any((to_numpy(self.width) == 0) & (to_numpy(self.weight) > 0)))

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        xp = namespace(x)
        size = xp.abs(x - self.centre)
        inside = size * size / (2 * _or_one(self.width))
        distance = xp.where(size <= self.width, inside, size - self.width / 2)
        return xp.sum(self.weight * distance + self.linear * x + self.ridge * x * x / 2, axis=-1)

    def grad(self, x: Points) -> ClientPoints:
        """Return w H'(x - c) + g + h x."""
        xp = namespace(x)
        u = x - self.centre
        slope = xp.where(self.width > 0, clamp(u / _or_one(self.width), low=-1.0, high=1.0), xp.sign(u))
        return self.weight * slope + self.linear + self.ridge * x

    @property
    def hess(self) -> Callable[[Points], Matrices] | None:  # type: ignore[override]
        """Diagonal Hessians (those of the pieces); None where a distance has a kink."""
        return super().hess if not self._kinked else None

    def curvature(self, x: Points) -> ClientPoints:
        """Second derivatives."""
        xp = namespace(x)
        inside = xp.abs(x - self.centre) <= self.width
        return self.weight / _or_one(self.width) * xp.astype(inside, x.dtype) + self.ridge

    def _balance(self, s: Array, q: Array) -> Array:
        """The x at which w H'(x - c) + q x contains s, coordinate by coordinate; q > 0, or q = 0 and |s| <= w."""
        xp = namespace(s)
        s = s - q * self.centre
        reach = self.weight + q * self.width
        inside = self.width * s / _or_one(reach)
        outside = xp.sign(s) * (xp.abs(s) - self.weight) / _or_one(q)
        return self.centre + xp.where((xp.abs(s) <= reach) | (q == 0), inside, outside)

    def prox(self, v: Points, step: Scalar) -> ClientPoints:
        """argmin_x f_i(x) + ||x - v_i||^2 / (2 step)."""
        return self._balance(v / step - self.linear, self.ridge + 1 / step)

    def conjugate(self, y: Points) -> ClientValues:
        """f_i^*(y_i); infinite where h = 0 and |y - g| > w in a coordinate, up to rounding (8 eps)."""
        xp = namespace(y)
        x = self._balance(y - self.linear, self.ridge)
        finite = inner(x, y) - self.value(x)
        return xp.where(xp.all(self._inside(y), axis=-1), finite, xp.full_like(finite, float("inf")))

    def conjugate_grad(self, y: Points) -> ClientPoints:
        """argmax_x <x, y_i> - f_i(x), one of them where h = 0.

        Raises
        ------
        InvalidInput
            A y_i lies outside the domain of f_i^*.
        """
        if not bool(namespace(y).all(self._inside(y))):
            raise InvalidInput(
                f"a dual point lies outside the domain of a conjugate of {self.name!r}: where ridge = 0, |y - linear| <= weight"
            )
        return self._balance(y - self.linear, self.ridge)

    def _inside(self, y: Array) -> Array:
        xp = namespace(y)
        slack = 8 * float(xp.finfo(y.dtype).eps) * (xp.abs(y) + xp.abs(self.linear))
        return (self.ridge > 0) | (xp.abs(y - self.linear) <= self.weight + slack)

    def ridged(self, weight: float) -> Huber:
        """The same clients with (weight/2)||x||^2 added."""
        return replace(self, ridge=self.ridge + weight)

    def solution(self) -> Minimiser:
        """A minimiser of the average: the zero of a piecewise linear, non-decreasing derivative.

        Raises
        ------
        NotAvailable
            The average has no minimiser.
        """
        fields = [
            np.moveaxis(to_numpy(a), -2, -1) for a in (self.weight, self.centre, self.width, self.linear, self.ridge)
        ]
        flat = [a.reshape(-1, self.n) for a in fields]
        found = [self._zero(*(a[k] for a in flat)) for k in range(len(flat[0]))]
        return like(np.array(found).reshape(fields[0].shape[:-1]), self.weight)

    def _zero(self, w: Any, c: Any, t: Any, g: Any, h: Any) -> float:
        """Zero of mean_i [w_i H'(x - c_i; t_i) + g_i + h_i x]."""

        def slope(x: float, side: int) -> float:  # the limit from the left (-1) or from the right (+1)
            u = x - c
            with np.errstate(divide="ignore", invalid="ignore"):
                bent = np.where(t > 0, np.clip(u / t, -1, 1), np.where(u == 0, side, np.sign(u)))
            return float(np.mean(w * bent + g + h * x))

        bend = float(np.mean(h))
        points = np.unique(np.concatenate([c - t, c + t]))
        right = [slope(p, +1) for p in points]
        rising = next((k for k, value in enumerate(right) if value >= 0), len(points))
        left = slope(points[rising], -1) if rising < len(points) else None
        if left is not None and left <= 0:
            return float(points[rising])
        if 0 < rising < len(points) and left is not None:  # between two breakpoints the derivative is linear
            share = -right[rising - 1] / (left - right[rising - 1])
            return float(points[rising - 1] + share * (points[rising] - points[rising - 1]))
        if not bend > 0:
            raise NotAvailable(f"the average of {self.name!r} has no minimiser: its derivative does not change sign")
        edge, value = (points[0], left) if left is not None else (points[-1], right[-1])
        return float(edge - value / bend)

    def bracket(self) -> tuple[NDArray[np.float64], float, float]:
        """Return `solution`, a bound of f(x) - f*, and one of the distance from x to the unique minimiser (infinity where it is not unique).

        In fractions, coordinate by coordinate: where zero lies between the derivatives from the left and from the right, x is a minimiser,
        the only one where it lies strictly between. Elsewhere the derivative's sign says on which side of x minimisers lie, the first of the
        floats x +- 2^k ulp with the other sign encloses one at a distance w, and f(x) - f* <= |derivative| w.

        Raises
        ------
        InvalidInput
            A batch of instances.
        NotAvailable
            The average has no minimiser.
        """
        if self.weight.ndim > 2:
            raise InvalidInput("a bracket is of one instance, not of a batch")
        x = to_numpy(self.solution())
        gap, square, unique = Fraction(0), Fraction(0), True
        for k in range(self.d):
            columns = [
                to_numpy(a)[:, k].tolist() for a in (self.weight, self.centre, self.width, self.linear, self.ridge)
            ]
            clients = [tuple(map(Fraction, row)) for row in zip(*columns, strict=True)]
            steepness, reach, alone = _enclose_zero(clients, float(x[k]))
            gap, square, unique = gap + steepness * reach, square + reach**2, unique and alone
        return x, _above(gap), _above_root(square) if unique else float("inf")

    def to_cvxpy(self) -> tuple[Any, Any]:
        """Return the average as a CVXPY expression of a variable (d,): ``(variable, objective)``."""
        if self.weight.ndim > 2:
            raise NotAvailable("a batch of instances has no single CVXPY model; take one instance")
        cp = require("cvxpy", "ground truth from an independent solver")
        w, c, t, g, h = (to_numpy(a) for a in (self.weight, self.centre, self.width, self.linear, self.ridge))
        x = cp.Variable(self.d)
        total = g.sum(axis=0) @ x + h.sum(axis=0) @ cp.square(x) / 2
        for i in range(self.n):
            u, round_ = x - c[i], t[i] > 0
            scale = np.where(round_, t[i], 1.0)
            if np.any(round_):
                total = total + (w[i] * scale * round_ / 2) @ cp.huber(cp.multiply(1 / scale, u), 1)
            if not np.all(round_):
                total = total + (w[i] * ~round_) @ cp.abs(u)
        return x, total / self.n

    def certify(self) -> dict[str, Certified]:
        """L = max w/t + h, exactly, and none with a kink; mu = min h, exactly."""
        w, t, h = (to_numpy(a) for a in (self.weight, self.width, self.ridge))
        below = "least ridge: beyond its width a distance is linear"
        found = {
            "mu_i": Certified(h.min(axis=-1), below),
            "mu": Certified(h.min(axis=(-1, -2)), below),
            "mu_avg": Certified(mean_towards(h, -np.inf, axis=-2).min(axis=-1), below),
        }
        if self._kinked:
            return found
        bend = w / np.where(t > 0, t, 1.0) + h
        how = "largest weight/width + ridge"
        return found | {
            "L_i": Certified(bend.max(axis=-1), how),
            "L": Certified(bend.max(axis=(-1, -2)), how),
            "L_avg": Certified(bend.mean(axis=-2).max(axis=-1), how + ", averaged"),
        }


def _slopes(clients: Sequence[tuple[Fraction, ...]], x: Fraction) -> tuple[Fraction, Fraction]:
    """Mean derivative from the left and from the right of terms (w, c, t, g, h), exactly."""
    ends = []
    for side in (-1, 1):
        total = Fraction(0)
        for w, c, t, g, h in clients:
            u = x - c
            bent = max(min(u / t, Fraction(1)), Fraction(-1)) if t else Fraction((u > 0) - (u < 0) or side)
            total += w * bent + g + h * x
        ends.append(total / len(clients))
    return ends[0], ends[1]


def _enclose_zero(clients: Sequence[tuple[Fraction, ...]], x: float) -> tuple[Fraction, Fraction, bool]:
    """Least size of a subgradient at x, how far a minimiser is at most, and whether it is certain to be the only one."""
    left, right = _slopes(clients, Fraction(x))
    if left <= 0 <= right:
        return Fraction(0), Fraction(0), left < 0 < right
    step = np.spacing(abs(x)) * (1 if right < 0 else -1)
    while np.isfinite(x + step):
        other = Fraction(x + step)
        low, high = _slopes(clients, other)
        if (high >= 0) if right < 0 else (low <= 0):
            crossed = low > 0 if right < 0 else high < 0
            alone = low < 0 < high or (crossed and _rises(clients, Fraction(x), other))
            return min(abs(left), abs(right)), abs(other - Fraction(x)), alone
        step *= 2
    raise NotAvailable("the average has no minimiser: its derivative does not change sign")


def _rises(clients: Sequence[tuple[Fraction, ...]], x: Fraction, y: Fraction) -> bool:
    """Whether the mean derivative rises strictly between two points: a client with ridge, or one whose bend covers them."""
    low, high = min(x, y), max(x, y)
    return any(h > 0 or (w > 0 and c - t <= low and high <= c + t and t > 0) for w, c, t, _, h in clients)


def _above(value: Fraction) -> float:
    """A float that is not below."""
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))


def _above_root(value: Fraction) -> float:
    """A float that the root is not above."""
    root = float(np.sqrt(_above(value)))
    return root if Fraction(root) ** 2 >= value else float(np.nextafter(root, np.inf))


def _or_one(a: Array) -> Array:
    """Positive entries as they are, others one: for quotients that are not used there."""
    xp = namespace(a)
    return xp.where(a > 0, a, xp.ones_like(a))


def random_huber(
    n: int, d: int, *, width: float = 0.5, mu: float = 0.1, heterogeneity: float = 1.0, seed: int = 0
) -> Huber:
    """Distances of weight one to normal points, plus (mu/2)||x||^2; ``width=0`` is the l1 distance (L1 in the DualFL claims)."""
    check_counts(n, d)
    centre = heterogeneity * np.random.default_rng(seed).standard_normal((n, d))
    return _filled(1.0, centre, width, 0.0, mu, f"{'Huber' if width else 'absolute'} distances (mu={mu})")


def huber_pair() -> Huber:
    """f_1 = Hub_2(x - 1), f_2 = 3 Hub_2(x + 1) with Hub_t = t H(.; t): x* = -1/2, f* = 3/4 (HUB in the DualFL claims)."""
    return _filled([[2.0], [6.0]], [[1.0], [-1.0]], 2.0, 0.0, 0.0, "pair of Huber functions")


def linear_pair() -> Huber:
    """f_1 = 2x, f_2 = Hub_1(x - 0.3) - 2x: x* = 0.3, L = 1 (LIN in the DualFL claims)."""
    return _filled([[0.0], [1.0]], [[0.0], [0.3]], 1.0, [[2.0], [-2.0]], 0.0, "linear and Huber function")


def _filled(weight: Any, centre: Any, width: Any, linear: Any, ridge: Any, name: str) -> Huber:
    parts: list[NDArray[Any]] = [np.asarray(a, dtype=float) for a in (weight, centre, width, linear, ridge)]
    w, c, t, g, h = (np.array(a) for a in np.broadcast_arrays(*parts))
    return Huber(w, c, t, g, h, name)
