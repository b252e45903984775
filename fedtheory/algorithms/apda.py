"""APDA-Inexact (Sadiev, Kovalev and Richtarik 2022, Algorithm 2): an accelerated primal-dual method with inexact proximal steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, Scalar, average, is_array, namespace, numbers_of, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import NotNegative, Positive, plain
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class APDAState:
    """Local models and two successive dual points, extrapolated."""

    x: Array  # (..., 1, d)  mean_i x_i
    x_i: Array  # (..., n, d)  local models
    y_i: Array  # (..., n, d)  dual variables, of zero sum
    ahead_i: Array  # (..., n, d)  extrapolated dual variables


@dataclass(frozen=True)
class APDA(Method):
    """Chambolle and Pock's method on consensus, with inexact proximal steps and a damped dual step.

    xh_i ~= argmin f_i(x) + ||x - (x_i - eta_x a_i)||^2 / (2 eta_x)  from x_i,     a = y + theta (y - y_previous),
    x_i^+ = x_i - eta_x (grad f_i(xh_i) + a_i),
    y^+ = the part of zero mean of  y_i + eta_y x_i^+ - eta_y beta_y (y_i + grad f_i(xh_i)).

    The term with beta_y vanishes at the solution, y_i = -grad f_i(x*), and makes the dual iteration contract although the dual
    function is not strongly convex. Guarantee (the original's theorem, in orders): with eta_x of order 1/sqrt(mu L), eta_x eta_y of order
    one and beta_y of order 1/L, linear convergence in O(sqrt(kappa) log(1/eps)) rounds. Relation: with exact steps, beta_y = 0, theta = 1
    and eta_x eta_y = 1 it is Douglas-Rachford splitting, that is `FedPD` with eta = eta_x and zero duals.

    Source: DualFL prints no rule for this baseline. The defaults of eta_y and theta are those of DualFL's Table 2, that of beta_y is the
    ratio of the tuned values there.

    Departures: the rule is the original's as remembered, not copied from its text, for min_x max_y sum_i f_i(x_i) + <y, x> - H*(y) with H
    the indicator of consensus; it is checked by its relation to FedPD, its fixed point and the growth of its rounds with kappa. Where the
    damping term could be read with y or with a, y is taken; both have the same fixed points.

    Parameters
    ----------
    eta_x : number, array ``(*batch, 1, 1)`` or symbol
        Primal step.
    local : LocalSolver
    eta_y : the same, optional
        Dual step; 1/(32 eta_x) by default.
    beta_y : the same, optional
        Damping of the dual step, 0 allowed; 10 eta_x by default.
    theta : the same, optional
        Extrapolation; max{2/(2 + mu eta_x), 1 - beta_y eta_y} by default, which needs numbers.
    mu : number or array ``(*batch, 1, 1)``
        Strong convexity for the default of theta, 0 if unknown.

    Examples
    --------
    >>> trace = run(APDA(eta_x=3.0, eta_y=0.08, beta_y=0.5, mu=0.1), problem, x0, 400)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "accelerated"
    partial = False
    instead = "5GCS"

    eta_x: Positive
    local: LocalSolver = Exact()
    eta_y: Positive | None = None
    beta_y: NotNegative | None = None
    theta: Positive | None = None
    mu: Scalar = 0

    def __post_init__(self) -> None:
        """Refuse hyper-parameters outside the method's definition."""
        super().__post_init__()
        mu = numbers_of(plain(self, "mu"))
        if mu is not None and not np.all(mu >= 0):
            raise InvalidInput(f"mu must not be negative, got {self.mu}")

    def _parameters(self) -> tuple[Scalar, Scalar, Scalar]:
        """eta_y, beta_y, theta."""
        eta_y = 1 / (32 * self.eta_x) if self.eta_y is None else self.eta_y
        beta_y = 10 * self.eta_x if self.beta_y is None else self.beta_y
        if self.theta is not None:
            return eta_y, beta_y, self.theta
        return eta_y, beta_y, _larger(2 / (2 + self.mu * self.eta_x), 1 - beta_y * eta_y)

    def init(self, problem: Problem, x0: Array) -> APDAState:
        zero = spread(0 * x0, problem.n)
        return APDAState(x0, spread(x0, problem.n), zero, zero)

    def round(self, problem: Problem, state: APDAState, clients: Clients | None, key: Key) -> APDAState:
        eta_y, beta_y, theta = self._parameters()
        sub = Subproblem(problem, rho=1 / self.eta_x, z=state.x_i - self.eta_x * state.ahead_i)
        near, _ = self.local(sub, state.x_i, key, None)
        slope = problem.grad(near)
        x_i = state.x_i - self.eta_x * (slope + state.ahead_i)
        upload = state.y_i + eta_y * x_i - eta_y * beta_y * (state.y_i + slope)
        y_i = upload - average(upload)
        return APDAState(average(x_i), x_i, y_i, y_i + theta * (y_i - state.y_i))

    def fixed_point(self, problem: Problem, x_star: Array) -> APDAState:
        y_i = -problem.grad(x_star)
        return APDAState(x_star, spread(x_star, problem.n), y_i, y_i)


def _larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two hyper-parameters."""
    if is_array(a) or is_array(b):
        xp = namespace(a, b)
        return xp.where(a > b, a + 0 * b, b + 0 * a)
    try:
        return max(a, b)
    except TypeError as error:
        raise InvalidInput("the default of APDA's theta compares numbers; give theta itself with symbols") from error


LISTED = (
    listing(
        "apda-inexact",
        APDA,
        "Sadiev et al. 2022, Algorithm 2",
        changes={"eta_x": {"default": 0.1, "called": "eta"}, "mu": {"spelled": "strong-convexity"}},
    ),
)
