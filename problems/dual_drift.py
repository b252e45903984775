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


def moment_map(method: str, rho: Any, clients: int, active: int, curvature: Any = 1, left: Any = 0) -> Any:
    """One round of the mean-square moments on f_i(x) = (a/2)(x - b_i)^2, whoever takes part: ``(4, 4)``, of fractions, floats or symbols.

    It acts on (E x^2, E x h, E h^2, E s), where x is the distance of the model from the optimum (of thetabar for A-FedPD), d_i = lambda_i -
    lambda_i^* the error of a dual, h = mean d_i and s = mean d_i^2 (AFEDPD-D7). Exact: a draw of P of C clients has E D = h, E D^2 = h^2 +
    v (s - h^2), v = (C-P)/(P (C-1)), for the mean D of their errors. For "fedadmm", which averages active clients alone, it is the map of equal
    clients; where they differ lambda^* adds v mean (lambda_i^*)^2/rho^2 to E x^2, and terms in mean d_i lambda_i^*, which die out.

    Parameters
    ----------
    method : "fedadmm" (averages active clients, A-FedPD's Eq. (6)), "feddyn", "feddyn-printed" (previous dual) or "a-fedpd" (with ``left`` = 0)
    rho, curvature : penalty, and a
    clients, active : C and P
    left : share of the way to the local solution that is left, (1 - eta (a + rho))^K for K gradient steps

    Raises
    ------
    InvalidInput
        Another method, or inexact solves of A-FedPD, whose model has a memory then.
    """
    a, C, P = curvature, clients, active
    one = (a + rho) / (a + rho)
    v = (C - P) * one / (P * (C - 1)) if C != 1 else 0 * one
    b = (1 - left) * rho / (a + rho)
    if method == "a-fedpd":
        if left != 0:
            raise InvalidInput("the moments of A-FedPD are those of exact solves; expected left=0")
        kept = a / (a + rho)
        row = [0 * one, 0 * one, 0 * one]
        lost = (1 - kept**2) * (P - 1) / (C - 1) if C != 1 else 0 * one
        return [
            [(one - kept) ** 2, 0 * one, 0 * one, v / (a + rho) ** 2],
            [*row, 0 * one],
            [*row, 0 * one],
            [*row, one - lost],
        ]
    # linear forms in (x, h, D)
    share = P * one / C
    moved = (-a * b * share, one, -b * share)
    servers = {
        "fedadmm": (-a * b / rho, 0 * one, (1 - b) / rho),
        "feddyn": tuple(m / rho for m in moved),
        "feddyn-printed": (0 * one, 1 / rho, 0 * one),
    }
    if method not in servers:
        raise InvalidInput(f"no moments of {method!r}; expected one of {', '.join((*servers, 'a-fedpd'))}")
    model = tuple(u + t for u, t in zip((one - a * b / rho, 0 * one, -b / rho), servers[method], strict=True))
    products = [
        _expected(left_form, right_form, v)
        for left_form, right_form in ((model, model), (model, moved), (moved, moved))
    ]
    own = [share * a**2 * b**2, -2 * share * a * b * (1 - b), 0 * one, 1 - share + share * (1 - b) ** 2]
    return [*products, own]


def active_average_row(rho: Any, clients: int, active: int, curvature: Any = 1, left: Any = 0) -> list[Any]:
    """E (mean of the active models - optimum)^2 after a round, on the moments before it; for FedADMM and FedDyn: ``(4,)``."""
    b = (1 - left) * rho / (curvature + rho)
    form = (1 - curvature * b / rho, 0 * b, -b / rho)
    return _expected(form, form, (clients - active) * (rho / rho) / (active * (clients - 1)))


def _expected(p: Any, q: Any, v: Any) -> list[Any]:
    """E of the product of two linear forms in (x, h, D), on (E x^2, E x h, E h^2, E s)."""
    drawn = p[2] * q[2]
    return [
        p[0] * q[0],
        p[0] * (q[1] + q[2]) + q[0] * (p[1] + p[2]),
        p[1] * q[1] + p[1] * q[2] + p[2] * q[1] + drawn * (1 - v),
        drawn * v,
    ]


def drift_radius(
    method: str, rho: float, clients: int, active: int, curvature: float = 1.0, left: float = 0.0
) -> float:
    """Spectral radius of `moment_map`: the factor of the mean square a round; unstable above 1."""
    matrix = np.array(moment_map(method, rho, clients, active, curvature, left), dtype=float)
    return float(np.abs(np.linalg.eigvals(matrix)).max())
