"""Duality of the consensus problem: Fenchel-Young gaps, dual values, primal-dual gaps of the whole problem and of the clients.

Everything is in the scale of averages. The primal objective is

    P(x) = mean_i f_i(x) + h(x),

with h the problem's shared regulariser (zero where it has none), and the dual objective for dual points y_1, ..., y_n is

    D(y) = -mean_i f_i^*(y_i) - h^*(-mean_i y_i) <= P(x)   for all x and y.

Without a regulariser h^* is infinite off zero: then only y with mean zero count, and every y is first replaced by y_i - mean y. A gap
P(x) - D(y) is a sum of terms that are not negative, Fenchel-Young gaps of the clients and of h, and it bounds P(x) - P* from above.

How the papers' duals fit in:

- FedPD, A-FedPD, FedADMM, FedDyn: the duals lam_i of the constraints x_i = x give y_i = -(lam_i - mean lam) (AFEDPD-D2).
- DualFL (equation (20)): with g_i = f_i - (nu/2)||x||^2 and h = (nu/2)||x||^2, its dual energy is E_d(xi) = -n D(xi); the n is easily
  forgotten.

Where a problem's conjugate is computed numerically it is an upper bound (`fedtheory.local.conjugates.newton_conjugate`), so D stays a lower bound.
"""

from __future__ import annotations

from typing import Any

from fedtheory.core.arrays import Scalar, average, clamp, inner, mean_of_clients, namespace, squared_norm
from fedtheory.core.client_weights import by_weights_of_argument
from fedtheory.core.problem import Problem, need, objective
from fedtheory.core.regularisers import Regulariser, Ridge
from fedtheory.core.shapes import ClientPoints, ClientValues, Points, RunValues, ServerPoint


def fenchel_young_gap(problem: Problem, x: Points, y: Points) -> ClientValues:
    """f_i(x_i) + f_i^*(y_i) - <x_i, y_i>; never negative, and zero if and only if y_i is a subgradient of f_i at x_i."""
    conjugate = need(problem, "conjugate", "a Fenchel-Young gap")
    return problem.value(x) + conjugate(y) - inner(x, y)


@by_weights_of_argument(0)
def dual_value(problem: Problem, y: ClientPoints) -> RunValues:
    """D(y) of the module's docstring, a lower bound of the optimal value.

    Parameters
    ----------
    y : ClientPoints
        Dual points; for a problem without a regulariser their mean is taken away first.
    """
    conjugate = need(problem, "conjugate", "a dual value")
    regulariser = getattr(problem, "regulariser", None)
    if regulariser is None:
        return -mean_of_clients(conjugate(y - average(y)))
    return -mean_of_clients(conjugate(y)) - regulariser.conjugate(-average(y))[..., 0]


def duality_gap(problem: Problem, x: ServerPoint, y: ClientPoints) -> RunValues:
    """P(x) - D(y), which is at least P(x) - P*."""
    return objective(problem, x) - dual_value(problem, y)


@by_weights_of_argument(0)
def dual_point(
    problem: Problem, x: ServerPoint, y: ClientPoints, step: Scalar
) -> tuple[ServerPoint, ClientPoints, ServerPoint]:
    """Make a primal-dual pair out of approximate subgradients y_i of f_i at a common point x, feasible whatever they are.

    Without a regulariser: x and y_i - mean y. With one, a proximal step x+ = prox_{step h}(x - step mean y) yields the exact
    subgradient p = (x - step mean y - x+)/step of h at x+, and y is shifted to have the mean -p.

    Returns
    -------
    x : ServerPoint
        The primal point.
    y : ClientPoints
        The dual points.
    p : ServerPoint
        The subgradient of h at x, -mean y; h^*(p) = <x, p> - h(x).
    """
    mean = average(y)
    regulariser: Regulariser | None = getattr(problem, "regulariser", None)
    if regulariser is None:
        return x, y - mean, 0 * mean
    v = x - step * mean
    new = regulariser.prox(v, step)
    p = (v - new) / step
    return new, y - (mean + p), p


@by_weights_of_argument(0)
def certified_gap(problem: Problem, x: ServerPoint, y: ClientPoints, p: ServerPoint) -> tuple[RunValues, RunValues]:
    """P(x) - D(y) for a pair made by `dual_point`, with room for rounding: the bound and the room in it.

    With h^*(p) = <x, p> - h(x) the gap is mean_i [f_i(x) + f_i^*(y_i)] + <x, p>. The room is (16 + d) eps times the sizes of these
    terms and of <x, y_i>, an estimate of what their evaluation and cancellation may lose.
    """
    xp = namespace(y)
    conjugate = need(problem, "conjugate", "a duality gap")
    primal, dual, pairing = problem.value(x), conjugate(y), inner(x, p)[..., 0]
    sizes = mean_of_clients(xp.abs(primal) + xp.abs(dual) + xp.abs(inner(x, y))) + xp.abs(pairing)
    room = (16 + problem.d) * float(xp.finfo(y.dtype).eps) * sizes
    return clamp(mean_of_clients(primal + dual) + pairing, low=0.0) + room, room


# ---- DualFL -------------------------------------------------------------------------------------------------------


@by_weights_of_argument(0)
def dualfl_dual_value(problem: Problem, xi: ClientPoints, nu: float) -> RunValues:
    """-E_d(xi)/n of DualFL's dual (20): -mean_i g_i^*(xi_i) - ||mean xi||^2/(2 nu), g_i = f_i - (nu/2)||x||^2; a lower bound of P*.

    The optimal duals are xi_i = s_i - nu x* with subgradients s_i of f_i at x* that average to zero, and x* = -mean(xi)/nu.

    Parameters
    ----------
    xi : ClientPoints
    nu : number
        At most the strong convexity constant of every f_i.
    """
    conjugate = need(_without_ridge(problem, nu), "conjugate", "DualFL's dual")
    return -mean_of_clients(conjugate(xi)) - Ridge(nu).conjugate(-average(xi))[..., 0]


def dualfl_gap(problem: Problem, x: ServerPoint, xi: ClientPoints, nu: float) -> RunValues:
    """P(x) + E_d(xi)/n; at least P(x) - P*."""
    return objective(problem, x) - dualfl_dual_value(problem, xi, nu)


@by_weights_of_argument(0)
def dualfl_exact_gap(problem: Problem, x: ServerPoint, x_i: ClientPoints, xi: ClientPoints, nu: float) -> RunValues:
    """P(x) + E_d(xi)/n without a conjugate, for duals xi_i that are subgradients of g_i at x_i, as after exact local solves.

    Then g_i^*(xi_i) = <xi_i, x_i> - g_i(x_i), so that
    E_d(xi)/n = mean_i [<xi_i, x_i> - g_i(x_i)] + ||mean xi||^2/(2 nu). With inexact solves it is
    no bound: every g_i^* is underestimated.
    """
    shifted = problem.value(x_i) - (nu / 2) * squared_norm(x_i)
    energy = mean_of_clients(inner(xi, x_i) - shifted) + Ridge(nu).conjugate(-average(xi))[..., 0]
    return objective(problem, x) + energy


def local_primal(problem: Problem, x: Points, zeta: Points, nu: float) -> ClientValues:
    """E^{n,i}(x_i) = f_i(x_i) - nu <zeta_i, x_i>, the client's objective (2) of DualFL."""
    return problem.value(x) - nu * inner(zeta, x)


def local_dual(problem: Problem, xi: Points, zeta: Points, nu: float) -> ClientValues:
    """E_d^{n,i}(xi_i) = g_i^*(xi_i) + ||xi_i - nu zeta_i||^2/(2 nu), to be minimised; minus it is a lower bound of (2)."""
    conjugate = need(_without_ridge(problem, nu), "conjugate", "the dual of a client's problem")
    return conjugate(xi) + squared_norm(xi - nu * zeta) / (2 * nu)


def local_gap(problem: Problem, x: Points, zeta: Points, nu: float) -> ClientValues:
    """Gamma^{n,i}(x_i) of DualFL (7), the clients' stopping criterion.

    It is E^{n,i}(x_i) + E_d^{n,i}(xi_i) at xi_i = nu (zeta_i - x_i), which is the Fenchel-Young gap of g_i at (x_i, xi_i). With nu at
    the modulus of f_i the domain of g_i^* may be so thin that Gamma is infinite at all but the solution (DUALFL-G1).
    """
    return fenchel_young_gap(_without_ridge(problem, nu), x, nu * (zeta - x))


def _without_ridge(problem: Problem, nu: float) -> Any:
    """The problem of the g_i = f_i - (nu/2)||x||^2."""
    return need(problem, "ridged", "taking (nu/2)||x||^2 out of the clients' objectives")(-nu)


# ---- as metrics of a run; for states with duals lam_i see `fedtheory.measures.primal_dual.primal_dual_gap` ---------------------
