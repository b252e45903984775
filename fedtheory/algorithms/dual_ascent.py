"""Two dual methods with the iterates of DualFL: FISTA on its dual problem, and accelerated ascent on the consensus dual."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.momentum import beta
from fedtheory.core.arrays import Array, average, spread
from fedtheory.core.hyperparameters import Momentum, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class DualFistaState:
    """Primal models and two successive dual points."""

    x: Array  # (..., 1, d)  -mean_j xi_j / nu
    x_i: Array  # (..., n, d)  local models, where the next proximal step starts
    xi_i: Array  # (..., n, d)  dual iterates xi_j
    eta_i: Array  # (..., n, d)  extrapolated dual iterates eta_j


@dataclass(frozen=True)
class DualFista(Method):
    """(Inexact) FISTA on  min_xi sum_j g_j^*(xi_j) + ||sum_j xi_j||^2 / (2 n nu),  g_j = f_j - (nu/2) ||.||^2.

    xi_j^{r+1} ~= argmin g_j^*(xi) + ||xi - w_j||^2 / (2 nu),  w_j = eta_j^r - mean_i eta_i^r,
    eta^{r+1} = xi^{r+1} + beta_r (xi^{r+1} - xi^r),  x = -mean_j xi_j / nu,  beta_r of `momentum.beta`.

    Source: Park and Xu 2024, Algorithm 2, in the block form of Lemma 6.4. The proximal step of g_j^* is taken through the primal,
    w_j - nu argmin (f_j - <w_j, .>) (Moreau). Guarantee: with exact steps, nu <= mu and rho = nu/L, the dual error is at most
    min{4/(r+1)^2, (1 + sqrt rho)(1 - sqrt rho)^r} ||xi^0 - xi*||^2 / (2 nu (1 - rho)). It is DualFL: x and the local models agree.

    Departure: printed with xi^0 = eta^0 = 0, so x = 0 at first; here xi_j^0 = eta_j^0 = -nu x^0, which gives x = x^0 and the same
    iterates afterwards, because w_j^0 = 0 either way.

    Parameters
    ----------
    nu : number, array ``(*batch, 1, 1)`` or symbol
        Splitting parameter, at most mu.
    rho : number in [0, 1), array ``(*batch, 1, 1)`` or symbol
        Momentum parameter: nu/L, or 0 without smoothness.
    local : LocalSolver

    Examples
    --------
    >>> trace = run(DualFista(nu=0.1, rho=0.1), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "dual"
    partial = False
    instead = "5GCS"

    nu: Positive
    rho: Momentum = 0.0
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> DualFistaState:
        dual = spread(-self.nu * x0, problem.n)
        return DualFistaState(x0, spread(x0, problem.n), dual, dual)

    def round(self, problem: Problem, state: DualFistaState, clients: Clients | None, key: Key) -> DualFistaState:
        w_i = state.eta_i - average(state.eta_i)
        x_i, _ = self.local(Subproblem(problem, a=-w_i), state.x_i, key, None)
        xi_i = w_i - self.nu * x_i
        eta_i = xi_i + beta(self.rho, key.round) * (xi_i - state.xi_i)
        return DualFistaState(-average(xi_i) / self.nu, x_i, xi_i, eta_i)

    def fixed_point(self, problem: Problem, x_star: Array) -> DualFistaState:
        dual = problem.grad(x_star) - self.nu * x_star
        return DualFistaState(x_star, spread(x_star, problem.n), dual, dual)


@dataclass(frozen=True, slots=True, eq=False)
class DualAscentState:
    """Primal models and two successive dual points."""

    x: Array  # (..., 1, d)  average of the local models
    x_i: Array  # (..., n, d)  local models
    s_i: Array  # (..., n, d)  dual iterates, of zero sum: gradients of f_i in the limit
    y_i: Array  # (..., n, d)  extrapolated dual iterates


@dataclass(frozen=True)
class DualAscent(Method):
    """Nesterov's accelerated gradient on the consensus dual  min sum_j f_j^*(s_j)  subject to  sum_j s_j = 0.

    x_j = grad f_j^*(y_j) = argmin f_j - <y_j, .>,  s_j^+ = y_j - step (x_j - mean_i x_i),  y^+ = s^+ + beta_r (s^+ - s).

    The dual is 1/mu-smooth and, for L-smooth f_j, 1/L-strongly convex: step <= mu, rho = step/L. With exact solves it is DualFL with
    nu = step and zeta_j = y_j / step. Without acceleration it is dual decomposition, the baseline that shows what acceleration gains:
    O(kappa log(1/eps)) rounds in place of O(sqrt(kappa) log(1/eps)).

    Parameters
    ----------
    step : number, array ``(*batch, 1, 1)`` or symbol
        Step of the ascent, at most mu.
    rho : number in [0, 1), array ``(*batch, 1, 1)``, symbol, or None
        Momentum parameter of `momentum.beta`: step/L, or 0 without smoothness; None for plain dual ascent.
    local : LocalSolver

    Examples
    --------
    >>> trace = run(DualAscent(step=0.1), problem, x0, 400)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "dual"
    partial = False
    instead = "5GCS"

    step: Positive
    rho: Momentum | None = 0.0
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> DualAscentState:
        zero = spread(0 * x0, problem.n)
        return DualAscentState(x0, spread(x0, problem.n), zero, zero)

    def round(self, problem: Problem, state: DualAscentState, clients: Clients | None, key: Key) -> DualAscentState:
        x_i, _ = self.local(Subproblem(problem, a=-state.y_i), state.x_i, key, None)
        x = average(x_i)
        s_i = state.y_i - self.step * (x_i - x)
        y_i = s_i if self.rho is None else s_i + beta(self.rho, key.round) * (s_i - state.s_i)
        return DualAscentState(x, x_i, s_i, y_i)

    def fixed_point(self, problem: Problem, x_star: Array) -> DualAscentState:
        g = problem.grad(x_star)
        return DualAscentState(x_star, spread(x_star, problem.n), g, g)


_STEP = {"default": 0.1, "called": "nu"}
_MOMENTUM = {"called": "momentum"}
LISTED = (
    listing(
        "dual-fista",
        DualFista,
        "Park and Xu 2024, Algorithm 2",
        changes={"rho": _MOMENTUM},
        strongly_convex=True,
    ),
    listing(
        "accelerated-dual-ascent",
        DualAscent,
        "Nesterov 2004, Section 2.2, on the consensus dual",
        changes={"step": _STEP, "rho": _MOMENTUM},
        strongly_convex=True,
    ),
    listing(
        "dual-ascent",
        DualAscent,
        "dual decomposition, Everett 1963",
        rho=None,
        changes={"step": _STEP},
        strongly_convex=True,
    ),
)
