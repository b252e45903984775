"""Potential (Lyapunov) functions of the methods as metrics, and their decrease by round.

| method | potential | never rises when (exact local solves, all clients) |
|---|---|---|
| FedPD, FedDyn, A-FedPD | `fedtheory.measures.primal_dual.lagrangian` | L eta < 1/2 (rho = 1/eta); FEDPD-D1 |
| A-FedPD | `a_fedpd`, of the averages | rho >= (3 + sqrt 21) L; AFEDPD-T1R |
| FedSLR | `fedslr` | eta < 1/(2L); FedSLR, Lemma 3 |
| DualFL | `dual_inertia` | times 1 - rho t_n: nu <= mu, rho <= nu/L; Chambolle and Pock 2016 on the consensus dual |
| SAFARI | the objective itself, `fedtheory.measures.metrics.value` | in expectation, for small steps |

The first three need duals -grad f_i(x^0) at the start; with zeros there they may rise in the first round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Scalar, average, is_array, mean_of_clients, squared_norm
from fedtheory.core.problem import Problem, objective
from fedtheory.core.shapes import Points, RunValues
from fedtheory.measures.metrics import Metric
from fedtheory.measures.primal_dual import lagrangian


def fedslr(eta: Scalar) -> Metric:
    """FedSLR's D_eta (10): the augmented Lagrangian with penalty 1/eta and duals -gamma_i, the regulariser included."""
    return lagrangian(1 / eta)


def fedslr_subgradient(eta: Scalar) -> Metric:
    """dist(0, dD_eta) at a state that a round with exact Phase I and all clients has led to (FEDSLR-N5).

    (1/n) sqrt(1 + 1/eta^2) sqrt(sum_i ||w_t - w_{i,t}||^2): there gamma_i = grad f_i(w_i), so the part of w_i is (w_i - w)/(n eta), that of gamma_i
    is (w - w_i)/n, and that of w holds zero by the server's step.
    """

    def metric(problem: Problem, state: Any) -> RunValues:
        apart = mean_of_clients(squared_norm(state.x - state.x_i)) * (1 + 1 / _alone(eta) ** 2) / state.x_i.shape[-2]
        return apart**0.5

    return metric


def fedslr_decrease(eta: Scalar, L: Scalar) -> tuple[Scalar, Scalar]:
    """Coefficients (C, c) of Lemma 3: D_t - D_{t+1} >= C mean_i ||w_{i,t+1} - w_{i,t}||^2 + c ||w_{t+1} - w_t||^2.

    C = (1 - 2 L eta)(1 + L eta)/(2 eta), which cannot be larger, and c = 1/(2 eta). The paper prints -C where its Theorem 2 needs C.
    """
    return (1 - 2 * L * eta) * (1 + L * eta) / (2 * eta), 1 / (2 * eta)


def a_fedpd(rho: Scalar, L: Scalar) -> Metric:
    """f(xbar^t) + (L^2/(4 rho)) mean_i ||x_i^t - xbar^{t-1}||^2, with all clients and from round 1 on.

    Then xbar^t = mean_i x_i^t, and xbar^{t-1} = 2 xbar^t - x^t because the server extrapolates. It falls by at least
    ||grad f(xbar^t)||^2 / (4 rho) a round when rho >= (3 + sqrt 21) L.
    """

    def metric(problem: Problem, state: Any) -> RunValues:
        x_bar = average(state.x_i)
        before = 2 * x_bar - state.x
        return objective(problem, x_bar) + L * L / (4 * rho) * mean_of_clients(squared_norm(state.x_i - before))

    return metric


def dual_inertia(
    dual_gap: RunValues, lam: Points, y: Points, lam_star: Points, nu: Scalar, rho: Scalar, t: Scalar
) -> RunValues:
    """Potential of DualFL, which is accelerated gradient with step nu on the consensus dual D(lam) = sum_j f_j^*(lam_j), sum_j lam_j = 0.

    t'^2 (D(lam) - D*) + ||z - lam*||^2 / (2 nu),  t'^2 = t (t - 1)/(1 - rho t),  z = lam + (y - lam) t (1 - rho)/(1 - rho t).

    After n >= 1 rounds with exact solves lam = nu z_i and y = nu zeta_i in DualFL's state, t = t_n and lam*_j = grad f_j(x*). Round n + 1
    multiplies it by at most 1 - rho t_n, for nu <= mu and rho <= nu/L, because t' is t_{n-1} and z = lam' + t_{n-1} (lam - lam') with the point
    lam' before lam. Source: Chambolle and Pock 2016, accelerated forward-backward splitting under strong convexity, with D as its smooth part.

    Parameters
    ----------
    dual_gap : RunValues
        D(lam) - D*.
    lam, y, lam_star : Points
    nu, rho, t : numbers
    """
    z = lam + (y - lam) * (t * (1 - rho) / (1 - rho * t))
    return t * (t - 1) / (1 - rho * t) * dual_gap + squared_norm(z - lam_star).sum(axis=-1) / (2 * nu)


def decrease(values: Any) -> NDArray[np.float64]:
    """How much a potential fell in each round: ``(..., R + 1) -> (..., R)``; negative where it rose."""
    values = np.asarray(values, dtype=float)
    return np.asarray(values[..., :-1] - values[..., 1:])


def _alone(weight: Scalar) -> Any:
    """Bring a weight ``(*batch, 1, 1)`` to the shape of a metric, ``(*batch)``."""
    return weight[..., 0, 0] if is_array(weight) else weight
