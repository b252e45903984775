"""What can be measured of a primal-dual method: Lagrangian, duality gap, how far the duals are from where they belong.

The problem min_x f(x) is min (1/n) sum_i f_i(x_i) s.t. x_i = x; with duals lam_i its augmented Lagrangian is

    (1/n) sum_i [ f_i(x_i) + <lam_i, x_i - x> + (rho/2) ||x_i - x||^2 ],

and minimising the plain one over x and all x_i gives the dual function  (1/n) sum_i inf_y { f_i(y) + <lam_i, y> }  where the duals sum
to zero, minus infinity elsewhere. At a solution x_i = x = x* and lam_i = -grad f_i(x*). All metrics are functions
``(problem, state) -> (*batch,)`` of states with fields x, x_i ``(..., n, d)`` and lam_i; those that need a constant are made by a
function of it.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from fedtheory.core.arrays import (
    Array,
    Scalar,
    average,
    beside,
    inner,
    is_array,
    mean_of_clients,
    namespace,
    squared_norm,
)
from fedtheory.core.client_weights import weighing
from fedtheory.core.duality import dualfl_gap, duality_gap, local_gap
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import Problem
from fedtheory.core.regularisers import shared_regulariser
from fedtheory.core.shapes import Minimiser, RunValues, ServerPoint
from fedtheory.measures.metrics import Metric


def mean_dual(problem: Problem, state: Any) -> RunValues:
    """||mean_i lam_i||^2, zero for dual feasible lam_i; for A-FedPD it is rho^2 ||xbar^t - xbar^{t-1}||^2."""
    with weighing(problem):
        return squared_norm(average(state.lam_i))[..., 0]


def dual_error(problem: Problem, x_star: Minimiser | ServerPoint) -> Metric:
    """mean_i ||lam_i + grad f_i(x*)||^2."""
    g = problem.grad(x_star[None, :] if x_star.ndim == 1 else x_star)
    return lambda problem, state: mean_of_clients(squared_norm(state.lam_i + beside(g, state.lam_i)))


def lagrangian(rho: Scalar) -> Metric:
    """Augmented Lagrangian at (x_i, x, lam_i) with penalty rho, a number or an array ``(*batch, 1, 1)``; plus h(x) where f has a shared h."""
    weight = rho[..., 0] if is_array(rho) else rho

    def metric(problem: Problem, state: Any) -> RunValues:
        apart = state.x_i - state.x
        with weighing(problem):
            smooth = mean_of_clients(
                problem.value(state.x_i) + inner(state.lam_i, apart) + weight / 2 * squared_norm(apart)
            )
        return smooth + shared_regulariser(problem).value(state.x)[..., 0]

    return metric


def primal_dual_gap(problem: Problem, state: Any) -> RunValues:
    """`fedtheory.core.duality.duality_gap` at the dual points -lam_i: at least the error of x in the objective, for all lam_i.

    Without a regulariser it is f(x) - (1/n) sum_i inf_y { f_i(y) + <mu_i, y> } with mu_i = lam_i - mean lam_i; infinite where a client's
    infimum is not finite, and no certificate of convergence for non-convex f_i, whose gap does not close. Source:
    AFEDPD-D15.

    Raises
    ------
    NotAvailable
        The clients' conjugates are not known.
    """
    return duality_gap(problem, state.x, -state.lam_i)


def at_average(metric: Metric) -> Metric:
    """Measure at the average x_bar of the models that came in instead of the server's model x, for methods that keep both."""
    return lambda problem, state: metric(problem, dataclasses.replace(state, x=state.x_bar))


def gap_of_dual_points(dual: str) -> Metric:
    """P(x) - D(y) with the dual points y_i (subgradients of f_i in the limit) read from the state's field ``dual``."""
    return lambda problem, state: duality_gap(problem, state.x, _field(state, dual))


def gap_of_dualfl(nu: float, z: str = "z_i") -> Metric:
    """P(x) + E_d(xi)/n of DualFL, whose state keeps z_i = zeta_i + x - x_i of the last round: xi_i = nu (zeta_i - x_i) = nu (z_i - x)."""
    return lambda problem, state: dualfl_gap(problem, state.x, nu * (_field(state, z) - state.x), nu)


def largest_local_gap(nu: float, model: str = "x_i", z: str = "z_i") -> Metric:
    """max_i Gamma_i of DualFL's last local solves, from the fields of x_i and of z_i = zeta_i + x - x_i."""

    def largest(problem: Problem, state: Any) -> RunValues:
        x_i = _field(state, model)
        gaps = local_gap(problem, x_i, _field(state, z) - state.x + x_i, nu)
        return namespace(gaps).max(gaps, axis=-1)

    return largest


def _field(state: Any, name: str) -> Array:
    found = getattr(state, name, None)
    if not is_array(found):
        fields = [key for key in getattr(type(state), "__dataclass_fields__", {}) if is_array(getattr(state, key))]
        raise InvalidInput(f"the state has no array {name!r}; its arrays are {', '.join(fields) or 'none'}")
    return found
