"""Functions whose Kurdyka-Lojasiewicz exponent at the minimiser is known (I-POW, I-ZS, I-SHARP in the FedSLR claims)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.layers import Layer
from fedtheory.core.regularisers import L1, NuclearNorm, regularised
from problems.quadratics import Quadratic
from problems.separable import Power


@dataclass(frozen=True, eq=False)
class KnownExponent:
    """An instance, its minimiser ``x`` ``(d,)``, its minimum, the exponent theta of f + h at x, and why."""

    problem: Any
    x: NDArray[np.float64]
    minimum: float
    theta: float
    how: str


def power(p: float, slope: float = 0.0) -> KnownExponent:
    """|t|^p / p near the origin; with a slope, two clients that differ by -+ slope * t. Instance I-POW(p)."""
    g = np.array([[0.0]]) if slope == 0 else np.array([[-slope], [slope]])
    f = Power(g, p, name=f"power {p}")
    return KnownExponent(f, np.zeros(1), 0.0, 1 - 1 / p, "|pi'| = (p pi)^(1 - 1/p)")


def sharp() -> KnownExponent:
    """f(t) = (t - 0.3)^2 / 2 plus |t|: sharp at 0, exponent 0. Instance I-SHARP."""
    f = regularised(Quadratic(np.ones((1, 1, 1)), np.array([[0.3]]), np.array([0.045]), name="sharp"), L1(1.0))
    return KnownExponent(f, np.zeros(1), 0.045, 0.0, "0 lies inside the subdifferential [-1.3, 0.7] at 0")


def no_strict_complementarity() -> KnownExponent:
    """A nuclear-norm instance with exponent 3/4: f(W) = y^T Q y / 2 - q^T y with y = (W_11, W_22), plus ||W||_*. Instance I-ZS.

    The optimum is diag(1, 0) with grad f = -I: the second singular value of -grad f is exactly the weight, although W has rank one. Along
    W(e) = [[a, e], [e, e^2/a]], a minimising, f + h - min = e^4/6 + o(e^4) while the distance of 0 to the subdifferential is of order e^3.
    """
    curvature, linear = np.array([[1.5, -2.0], [-2.0, 3.0]]), np.array([2.5, -1.0])
    a, b = np.zeros((1, 4, 4)), np.zeros((1, 4))
    seen = np.ix_([0, 3], [0, 3])
    a[0][seen], b[0, [0, 3]] = curvature, linear
    smooth = Quadratic(a, b, name="no strict complementarity")
    f = regularised(smooth, NuclearNorm(1.0, (Layer("matrix", (2, 2)),)))
    # y = (1, 0): 0.75 - 2.5 + 1
    return KnownExponent(
        f, np.array([1.0, 0.0, 0.0, 0.0]), -0.75, 0.75, "gap ~ e^4/6 against subgradients of order e^3"
    )
