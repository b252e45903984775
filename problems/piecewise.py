"""Functions of one variable whose derivative is piecewise linear, in fractions or floats: instances on which a method runs exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import take
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Points


@dataclass(frozen=True, eq=False)
class PiecewiseQuadratic:
    """Clients f_i on the line: f_i' joins the points (knots_ik, slopes_ik) by straight lines and is constant beyond; f_i(knots_i0) = base_i.

    f_i' is bounded by the largest slope, and Lipschitz by the largest rise between two knots: smooth, not convex in general.

    Parameters
    ----------
    knots, slopes : arrays ``(n, m)``
        Knots strictly increasing, m >= 2.
    base : array ``(n, 1)``
    name : str
    """

    knots: NDArray[Any]
    slopes: NDArray[Any]
    base: NDArray[Any]
    name: str = "piecewise quadratic"

    def __post_init__(self) -> None:
        """Check shapes and the order of the knots."""
        if self.knots.shape != self.slopes.shape or self.knots.ndim != 2 or self.knots.shape[1] < 2:
            raise InvalidInput(
                f"knots and slopes of {self.name!r} need one shape (n, m), m >= 2; got {self.knots.shape} and {self.slopes.shape}"
            )
        if not np.all(self.knots[:, 1:] > self.knots[:, :-1]):
            raise InvalidInput(f"the knots of {self.name!r} must increase strictly")

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.knots.shape[0])

    @property
    def d(self) -> int:
        """One coordinate."""
        return 1

    @property
    def curvatures(self) -> NDArray[Any]:
        """f_i'' between knots, ``(n, m - 1)``."""
        return np.asarray((self.slopes[:, 1:] - self.slopes[:, :-1]) / (self.knots[:, 1:] - self.knots[:, :-1]))

    def grad(self, x: Points) -> ClientPoints:
        """f_i'(x_i)."""
        return self.slopes[:, :1] + (self.curvatures * self._reached(x, self.knots)).sum(axis=-1, keepdims=True)

    def value(self, x: Points) -> ClientValues:
        """f_i(x_i)."""
        inside = self._reached(x, self.knots)
        beyond = x - self.knots[:, :-1] - inside
        total = (self.curvatures * inside * (inside / 2 + beyond)).sum(axis=-1, keepdims=True)
        return np.asarray((self.base + self.slopes[:, :1] * (x - self.knots[:, :1]) + total)[..., 0])

    def prox(self, v: Points, step: Any) -> ClientPoints:
        """argmin_x f_i(x) + (x - v_i)^2 / (2 step): the inverse of the increasing x + step f_i'(x).

        Raises
        ------
        InvalidInput
            It does not increase, as step times the largest concavity is 1 or more.
        """
        flatter = 1 + step * self.curvatures
        if not np.all(flatter > 0):
            raise InvalidInput(f"the proximal step of {self.name!r} needs step < 1/(largest concavity), got {step}")
        images = self.knots + step * self.slopes
        bent = ((1 / flatter - 1) * self._reached(v, images)).sum(axis=-1, keepdims=True)
        return np.asarray(v - step * self.slopes[:, :1] + bent)

    @staticmethod
    def _reached(x: NDArray[Any], knots: NDArray[Any]) -> NDArray[Any]:
        """How far into each piece x is: x cut to [k-th knot, next knot], less the k-th."""
        low, high = knots[:, :-1], knots[:, 1:]
        return np.asarray(np.where(x < low, low, np.where(x > high, high, x)) - low)

    def take(self, clients: Clients | None) -> PiecewiseQuadratic:
        """Restrict to the clients that take part."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "name"}
        return self if clients is None else replace(self, **{k: take(a, clients.index) for k, a in arrays.items()})

    def lower_bound(self) -> Certified:
        """mean_i min f_i, at knots or where f_i' vanishes between them.

        Raises
        ------
        NotAvailable
            A client is not bounded below.
        """
        if np.any(self.slopes[:, 0] > 0) or np.any(self.slopes[:, -1] < 0):
            raise NotAvailable(f"a client of {self.name!r} is not bounded below")
        bends = self.curvatures
        roots = self.knots[:, :-1] - self.slopes[:, :-1] / np.where(bends == 0, 1, bends)
        inside = (bends > 0) & (roots > self.knots[:, :-1]) & (roots < self.knots[:, 1:])
        places = np.concatenate([self.knots, np.where(inside, roots, self.knots[:, :-1])], axis=1)
        least = np.min([self.value(place[:, None]) for place in places.T], axis=0)
        return Certified(float(np.mean(least)), "least of the values at knots and at zeros of the derivative")

    def certify(self) -> dict[str, Certified]:
        """L, mu and the bound B of the gradients, exactly."""
        bends, how = self.curvatures.astype(float), "pieces of the derivative"
        low = np.minimum(bends.min(axis=1), 0)
        size = np.abs(bends).max(axis=1)
        return {
            "L_i": Certified(size, how),
            "L": Certified(size.max(), how),
            "mu_i": Certified(low, how),
            "mu": Certified(low.min(), how),
            "B": Certified(np.abs(self.slopes.astype(float)).max(), "largest slope at a knot; constant beyond"),
        }


def piecewise_quadratic(knots: Sequence[Any], slopes: Sequence[Any], base: Any = 0, *, name: str) -> PiecewiseQuadratic:
    """One client, in fractions."""

    def row(values: Sequence[Any]) -> NDArray[Any]:
        made = np.empty((1, len(values)), dtype=object)
        made[0] = [Fraction(value) for value in values]
        return made

    return PiecewiseQuadratic(row(knots), row(slopes), row([base]), name)


def plateau() -> PiecewiseQuadratic:
    """-w^2/2 for |w| <= 1, back to slope 0 at |w| = 2, then the constant -1: L = B = 1. Instance I-PLAT of the FedSLR claims."""
    return piecewise_quadratic([-2, -1, 0, 1, 2], [0, 1, 0, -1, 0], -1, name="plateau")


def flattened_square(curvature: Any, width: Any, centre: Any = 0) -> PiecewiseQuadratic:
    """(L/2)(w - centre)^2 for |w - centre| <= width, with constant slope beyond, so that gradients are bounded by L width.

    Instances I-UNIT, I-T3X and I-SHARP of the FedSLR claims.
    """
    L, reach, middle = Fraction(curvature), Fraction(width), Fraction(centre)
    steep = L * reach
    return piecewise_quadratic(
        [middle - reach, middle, middle + reach], [-steep, 0, steep], steep * reach / 2, name="flattened square"
    )
