"""Scalar clients with piecewise linear gradients: any L-smooth f_i with chosen slopes, exact in fractions, the proximal step too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.core.arrays import Array
from fedtheory.core.problem import Certified
from problems.separable import Separable


@dataclass(frozen=True, eq=False)
class Ramps(Separable):
    """g_i(x) = level_i + slope_i0 x + sum_j (slope_ij - slope_i,j-1) (x - knot_j)_+.

    Parameters
    ----------
    level : array ``(n, 1)``
    slopes : array ``(n, knots + 1)``
        On the pieces from left to right.
    knots : array ``(knots,)``, rising
    name : str
    """

    level: Array
    slopes: Array
    knots: Array
    name: str = "piecewise linear gradients"

    def __post_init__(self) -> None:
        """Shapes differ by field: there is nothing to compare."""

    @property
    def d(self) -> int:
        """One coordinate."""
        return 1

    def _bends(self, slopes: Array, x: Array, knots: Array, power: int = 1) -> Array:
        return (np.diff(slopes, axis=-1) * np.maximum(x - knots, 0) ** power).sum(axis=-1, keepdims=True)

    def value(self, x: Array) -> Array:
        """Values f_i(x_i), with f_i(0) = 0 where no knot is negative."""
        smooth = self.level * x + self.slopes[:, :1] * x * x / 2
        return (smooth + self._bends(self.slopes, x, self.knots, 2) / 2)[..., 0]

    def grad(self, x: Array) -> Array:
        """Gradients."""
        return self.level + self.slopes[:, :1] * x + self._bends(self.slopes, x, self.knots)

    def prox(self, v: Array, step: Any) -> Array:
        """The x with x + step g_i(x) = v, for steps below the inverse of the steepest descent of a gradient."""
        images = self.knots + step * self._at_knots
        inverse = 1 / (1 + step * self.slopes)
        return self.knots[0] + (v - images[:, :1]) * inverse[:, :1] + self._bends(inverse, v, images)

    @property
    def _at_knots(self) -> Array:
        """Gradients at the knots: ``(n, knots)``."""
        return np.concatenate([self.grad(self.knots[j : j + 1]) for j in range(len(self.knots))], axis=-1)

    @property
    def steepest(self) -> Any:
        """L."""
        return np.abs(self.slopes).max()

    @property
    def apart(self) -> Any:
        """Largest difference of two clients' gradients, which is at a knot where they are parallel beyond; infinite where they are not."""
        outer, at = self.slopes[:, [0, -1]], self._at_knots
        return (at.max(axis=0) - at.min(axis=0)).max() if (outer == outer[:1]).all() else np.inf

    def certify(self) -> dict[str, Certified]:
        """L and G."""
        return {
            "L": Certified(float(self.steepest), "the steepest piece of a gradient"),
            "G": Certified(float(self.apart), "the largest difference of gradients at a knot; parallel beyond"),
        }
