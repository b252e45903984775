"""Small witnesses of what primal-dual methods do with few clients a round or a small penalty (A-FedPD)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.core.arrays import Array, namespace
from fedtheory.core.errors import InvalidInput
from problems.nonconvex import QuadraticPlusCosine
from problems.quadratics import Quadratic, scalar_quadratics


def opposite_clients(curvature: Any = 1.0, distance: Any = 1.0) -> Quadratic:
    """f_1 = (a/2)(x - b)^2, f_2 = (a/2)(x + b)^2: x* = 0, and the optimal duals are a b and -a b.

    With one of the two a round A-FedPD never learns them: with exact solves E ||grad f(xbar^t)||^2 -> a^3 b^2 / (a + 2 rho)
    (AFEDPD-D13, there with a = b = 1). ``curvature`` and ``distance`` may be numbers, fractions or symbols.
    """
    return scalar_quadratics(
        np.array([curvature, curvature]),
        np.array([distance, -distance]),
        name=f"opposite clients ({curvature}, {distance})",
    )


def convex_and_concave(convex: Any = 1.0, concave: Any = 0.5) -> Quadratic:
    """f_1 = (p/2) x^2, f_2 = -(q/2) x^2: f is convex for p >= q, and a penalty little above q makes FedPD diverge.

    Against AFEDPD-T1 for any rho, with p = 1, q = 1/2: spectral radius 1.332 at rho = 0.55, 0.968 at rho = 0.6.
    """
    return scalar_quadratics(np.array([convex, -concave]), name=f"convex and concave ({convex}, {concave})")


def strictly_non_convex(quadratic: Quadratic, L: float) -> QuadraticPlusCosine:
    """Scalar quadratics with a second coordinate y and L (1 - cos y) added to every client.

    From a start with y = 0 the second coordinate never moves and adds nothing to any value or gradient, so a statement about smooth
    non-convex problems meets the numbers of the quadratic one.

    Raises
    ------
    InvalidInput
        The quadratics have more than one coordinate, or L is not positive.
    """
    if quadratic.d != 1 or not L > 0:
        raise InvalidInput(f"expected scalar quadratics and L > 0, got d={quadratic.d} and L={L}")
    h, b = quadratic.A[..., 0], quadratic.b
    zero, one = 0 * h, 0 * h + 1

    def beside(x: Array, y: Array) -> Array:
        return namespace(x).concat((x, y), axis=-1)

    return QuadraticPlusCosine(
        h=beside(h, zero),
        b=beside(b, zero),
        c=beside(zero, L * one),
        w=beside(one, one),
        name=f"{quadratic.name} beside cosines",
    )
