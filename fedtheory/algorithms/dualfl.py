"""DualFL (Park and Xu 2024, Algorithm 1): accelerated federated learning through the dual problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import TELLING, listing
from fedtheory.algorithms.mistakes import Mistake
from fedtheory.algorithms.momentum import beta
from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.arrays import Array, Scalar, average, spread
from fedtheory.core.hyperparameters import Momentum, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, can
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import shared_regulariser
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class DualFLState:
    """Server model, local models, control variates."""

    x: Array  # (..., 1, d)  theta^(n)
    x_i: Array  # (..., n, d)  theta_j^(n), where the next local solve starts
    zeta_i: Array  # (..., n, d)  zeta_j^(n)
    z_i: Array  # (..., n, d)  zeta_j^(n-1) + theta^(n) - theta_j^(n), what the inertia acts on


@dataclass(frozen=True)
class DualFL(Method):
    """Local problems shifted by control variates, which are updated with momentum.

    theta_j^{n+1} ~= argmin f_j - nu <zeta_j^n, .>,  theta^{n+1} = mean_j theta_j^{n+1},
    zeta_j^{n+1} = (1 + beta_n) (zeta_j^n + theta^{n+1} - theta_j^{n+1}) - beta_n (zeta_j^{n-1} + theta^n - theta_j^n),
    with beta_n of equation (5), see `momentum.beta`. The method is accelerated gradient with step nu on the consensus dual
    min sum_j f_j^*(lam_j), sum_j lam_j = 0 (`DualAscent`), with lam_j = nu zeta_j.

    Guarantee (exact solves, f_j mu-strongly convex, nu <= mu, V = mean_j ||grad f_j(x*)||^2, n >= 1):
    ||theta^n - x*||^2 <= min{4/(n+1)^2, (1 + sqrt rho)(1 - sqrt rho)^n} V / (nu^2 (1 - rho)) for rho = nu/L', L' >= L, or rho = 0
    (then without smoothness); Theorems 3.2 and 3.3 state the orders, also for local solves whose primal-dual gap is at most
    `allowed_gap`. nu > 4 mu/3 diverges on quadratics.

    Not strongly convex clients (Section 4): run on f_j + (alpha/2)||.||^2 with nu = alpha, see `DualFL.regularised`; as listed,
    `dualfl-regularised` has nu = alpha unless nu is given.

    A shared regulariser h of the problem is treated by the server, theta^{n+1} = prox_{h/nu}(mean_j (theta_j^{n+1} - zeta_j^n)),
    which is accelerated proximal gradient on the dual of mean_j f_j + h: with lam_j = y_j - nu theta_j + nu p, the proximal step
    of lam -> n h^*(-mean lam) is p = prox_{h/nu}(mean(theta_j - zeta_j)). Without h, mean zeta = 0 and p is the printed average.

    Departures: the printed theta^0 = 0 influences nothing (beta_0 = 0) unless local solves are inexact, and then only as the point
    they start from; here it is x^0. The regulariser is not in the paper.

    Parameters
    ----------
    nu : number, array ``(*batch, 1, 1)`` or symbol
        Splitting parameter, at most mu.
    rho : number in [0, 1), array ``(*batch, 1, 1)`` or symbol
        Momentum parameter: nu/L, or 0 without smoothness.
    local : LocalSolver
        Any; `Exact` needs gradients of the conjugates, or Hessians.
    upload : "model" or "dual"
        What a client sends after local work: its model, or its model shifted by the residual. For an inexact local solve t_j with
        residual r_j = grad f_j(t_j) - nu zeta_j that is t_j, as printed, or t_j - r_j/nu. The dual point nu (zeta_j - theta_j) is
        then grad f_j(t_j) - nu t_j, which lies in the domain of the conjugate of f_j - (nu/2)||.||^2; its dual error is at most
        ||r_j||^2/(2 nu), also for nu = mu, where the printed gap can be infinite.
    alpha : number, array ``(*batch, 1, 1)`` or symbol, optional
        Weight of the quadratic that Section 4 adds to every f_j.

    Examples
    --------
    >>> trace = run(DualFL(nu=0.1, rho=0.1), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "dual"
    partial = False
    instead = "5GCS"

    nu: Positive
    rho: Momentum = 0.0
    local: LocalSolver = Exact()
    upload: Literal["model", "dual"] = "model"
    alpha: Positive | None = None

    @staticmethod
    def regularised(alpha: Scalar, L: Scalar | None = None, local: LocalSolver | None = None) -> DualFL:
        """Section 4 for clients that are convex only: nu = alpha, and rho = alpha/(L + alpha) when they are L-smooth.

        Guarantee: for ||grad f|| <= eps take alpha = eps/(2 R) with R at least the norm of the least-norm minimiser (Theorem 4.3).
        """
        return DualFL(alpha, 0.0 if L is None else alpha / (L + alpha), local or Exact(), alpha=alpha)

    def init(self, problem: Problem, x0: Array) -> DualFLState:
        zero = spread(0 * x0, problem.n)
        return DualFLState(x0, spread(x0, problem.n), zero, zero)

    def round(self, problem: Problem, state: DualFLState, clients: Clients | None, key: Key) -> DualFLState:
        sub = self._local_problem(problem, state)
        t_i, _ = self.local(sub, state.x_i, key, None)
        x_i = t_i if self.upload == "model" else t_i - sub.grad(t_i) / self.nu
        x = self._server(problem, state, x_i)
        z_i = state.zeta_i + x - x_i
        return DualFLState(x, x_i, z_i + beta(self.rho, key.round) * (z_i - state.z_i), z_i)

    def _local_problem(self, problem: Problem, state: DualFLState) -> Subproblem:
        linear = Subproblem(problem, a=-self.nu * state.zeta_i)
        return linear if self.alpha is None else replace(linear, rho=self.alpha, z=0 * state.x)

    def _server(self, problem: Problem, state: DualFLState, x_i: Array) -> Array:
        if not can(problem, "regulariser"):
            return average(x_i)
        return shared_regulariser(problem).prox(average(x_i - state.zeta_i), 1 / self.nu)

    def fixed_point(self, problem: Problem, x_star: Array) -> DualFLState | None:
        """Control variates with nu zeta_j = grad f_j(x*); none with alpha, whose limit is the minimiser of the penalised objective."""
        if self.alpha is not None:
            return None
        zeta_i = problem.grad(x_star) / self.nu
        return DualFLState(x_star, spread(x_star, problem.n), zeta_i, zeta_i)


def allowed_gap(n: int, nu: float, gamma: float, rho: float | None = None) -> Callable[[int], float]:
    """Largest local primal-dual gap in round r: condition (8), or (9) where the momentum parameter rho is given.

    (8): 1/(n nu (r+1)^(4+gamma)); (9): ((1 - sqrt rho)/(1 + gamma))^r / n. Both are absolute, in units of the objective.
    """
    if rho is None:
        return lambda r: 1 / (n * nu * (r + 1) ** (4 + gamma))
    return lambda r: ((1 - rho**0.5) / (1 + gamma)) ** r / n


_SECTION_FOUR = BuiltField(
    (
        Option(
            "nu",
            float,
            None,
            "Splitting parameter [default: alpha, as in Section 4].",
            batched=True,
            telling=TELLING["nu"],
        ),
        Option("alpha", float, 1.0, ""),  # the field's own option stands in its place
    ),
    lambda nu, alpha: alpha if nu is None else nu,
)

LISTED = (
    listing(
        "dualfl",
        DualFL,
        "Park and Xu 2024, Algorithm 1",
        alpha=None,
        changes={"rho": {"called": "momentum"}},
        strongly_convex=True,
        composite=False,
    ),
    listing(
        "dualfl-regularised",
        DualFL,
        "Park and Xu 2024, Algorithm 1 on problem (10)",
        composite=False,
        changes={"rho": {"called": "momentum"}, "alpha": {"default": 1.0, "called": "rho"}},
        nu=_SECTION_FOUR,
    ),
)

_BETA = "beta(self.rho, key.round)"
_AHEAD = f"z_i + {_BETA} * (z_i - state.z_i)"
_CONTROL = "z_i = state.zeta_i + x - x_i"
MISTAKES = {
    DualFL: (
        Mistake("momentum of the round after", _BETA, "beta(self.rho, key.round + 1)"),
        Mistake("momentum of the round before", _BETA, "beta(self.rho, max(key.round - 1, 0))"),
        Mistake("momentum of the first round in all", _BETA, "beta(self.rho, 0)"),
        Mistake("momentum without strong convexity (rho = 0)", _BETA, "beta(0.0, key.round)"),
        Mistake("extrapolation backwards", _AHEAD, _AHEAD.replace("+", "-", 1)),
        Mistake("extrapolation from the extrapolated point", "(z_i - state.z_i)", "(z_i - state.zeta_i)"),
        Mistake("sign of the control variate in local work", "a=-self.nu * state.zeta_i", "a=self.nu * state.zeta_i"),
        Mistake("control variate not multiplied by nu", "a=-self.nu * state.zeta_i", "a=-state.zeta_i"),
        Mistake("control variate applied twice", "a=-self.nu * state.zeta_i", "a=-2 * self.nu * state.zeta_i"),
        Mistake("sign of the control update", _CONTROL, "z_i = state.zeta_i - x + x_i"),
        Mistake("control update with the old server model", _CONTROL, "z_i = state.zeta_i + state.x - x_i"),
        Mistake("control variates replaced", _CONTROL, "z_i = x - x_i"),
        Mistake(
            "local work from the server's model",
            "self.local(sub, state.x_i, key, None)",
            "self.local(sub, state.x, key, None)",
            silent=True,  # an argmin has no start
        ),
    ),
}
