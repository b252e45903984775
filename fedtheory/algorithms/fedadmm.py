"""FedADMM (Wang et al. 2022; A-FedPD, equation (6)): consensus ADMM with some of the clients a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import MIXED_SAM
from fedtheory.algorithms.mistakes import (
    HELD_GRADIENT,
    NOT_RESET,
    WRONG_ASCENT,
    WRONG_PENALTY,
    Mistake,
    list_dual_mistakes,
)
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import shared_regulariser
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedADMMState:
    """Models and duals; those of a client that did not take part are its last ones."""

    x: Array  # (..., 1, d)  server model
    x_bar: Array  # (..., 1, d)  average of the models that came in
    x_i: Array  # (..., n, d)  local models
    lam_i: Array  # (..., n, d)  duals lambda_i


@dataclass(frozen=True)
class FedADMM(Method):
    """Active clients minimise their augmented Lagrangians and move their duals; the server averages z_i = x_i + lam_i / rho.

    x_i^{t+1}   = argmin  f_i(x) + <lam_i^t, x> + (rho/2) ||x - x^t||^2  (or local steps towards it, from x^t),
    lam_i^{t+1} = lam_i^t + rho (x_i^{t+1} - x^t)                         on active clients; the others keep both,
    x^{t+1}     = prox_{h/rho}( mean_i z_i^{t+1} ),  h the shared regulariser (the identity without one).

    The mean is over all clients, with the last z_i of those that were away (``averages="all"``, Wang et al. 2022), or over the
    active ones (``"active"``, as A-FedPD's equation (6) prints it). With all clients they are the same method; with exact solves it is
    FedPD(1/rho) that starts with zero duals and communicates every round (FedPD starts inexact local work at a client's own model).

    Guarantee: averaging all, the state at a solution is kept whoever takes part. Averaging the active ones it is not, so even a
    stable run keeps a noise floor under heterogeneity, and on identical quadratics of curvature a it is unstable in mean square
    below a threshold of rho/a that rises, for a given number of clients, as fewer take part (AFEDPD-D11 and AFEDPD-D12).

    Departure: equation (6) prints the proximal weight of the server as 1/(2 rho); minimising the augmented Lagrangian gives rho/2.
    The first duals are zero and the first z_i are x^0.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Penalty of the augmented Lagrangian.
    local : LocalSolver
    averages : "all" or "active"
        Whose z_i the server averages.

    Examples
    --------
    >>> trace = run(FedADMM(rho=1.0), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "primal-dual"

    rho: Positive
    local: LocalSolver = Exact()
    averages: Literal["all", "active"] = "all"

    def init(self, problem: Problem, x0: Array) -> FedADMMState:
        return FedADMMState(x0, x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: FedADMMState, clients: Clients | None, key: Key) -> FedADMMState:
        lam = gather(state.lam_i, clients)
        sub = Subproblem(problem.take(clients), a=lam, rho=self.rho, z=state.x, clients=clients)
        x, _ = self.local(sub, state.x, key, None)
        lam = lam + self.rho * (x - state.x)
        x_i, lam_i = scatter(state.x_i, clients, x), scatter(state.lam_i, clients, lam)
        z = average(x_i + lam_i / self.rho) if self.averages == "all" else average(x + lam / self.rho, clients)
        new = shared_regulariser(problem).prox(z, 1 / self.rho)
        return FedADMMState(new, average(x, clients), x_i, lam_i)

    def fixed_point(self, problem: Problem, x_star: Array) -> FedADMMState:
        return FedADMMState(x_star, x_star, spread(x_star, problem.n), -problem.grad(x_star))


LISTED = (
    listing("fedadmm", FedADMM, "Wang et al. 2022", averages="all"),
    listing(
        "fedadmm-active",
        FedADMM,
        "A-FedPD, equation (6): the server averages active clients only",
        averages="active",
        composite=False,
    ),
    listing(
        "fedspeed-active",
        FedADMM,
        "Sun et al. 2023 (FedSpeed): the server averages active clients only",
        averages="active",
        composite=False,
        local=MIXED_SAM,
    ),
)

_DUAL = "lam = lam + self.rho * (x - state.x)"
_SERVER = 'z = average(x_i + lam_i / self.rho) if self.averages == "all" else average(x + lam / self.rho, clients)'
MISTAKES = {
    FedADMM: (
        *list_dual_mistakes("lam"),
        Mistake("neither dual nor penalty in local work", ", a=lam, rho=self.rho, z=state.x", ""),
        *WRONG_PENALTY,
        Mistake("sign of the dual step", _DUAL, "lam = lam - self.rho * (x - state.x)"),
        Mistake("dual step without rho", _DUAL, "lam = lam + (x - state.x)"),
        Mistake("dual step with the mean model", _DUAL, "lam = lam + self.rho * (x - average(x, clients))"),
        Mistake("duals never updated", _DUAL, "lam = lam + 0 * x"),
        Mistake(
            "stale dual sent",
            _SERVER,
            'z = average(x_i + state.lam_i / self.rho) if self.averages == "all" else average(x + gather(state.lam_i, clients) / self.rho, clients)',
        ),
        Mistake(
            "server averages models only",
            _SERVER,
            'z = average(x_i) if self.averages == "all" else average(x, clients)',
        ),
        Mistake(
            "dual not divided by rho",
            _SERVER,
            'z = average(x_i + lam_i) if self.averages == "all" else average(x + lam, clients)',
        ),
        Mistake(
            "sign of the dual at the server",
            _SERVER,
            'z = average(x_i - lam_i / self.rho) if self.averages == "all" else average(x - lam / self.rho, clients)',
        ),
        NOT_RESET,
        HELD_GRADIENT,
        *WRONG_ASCENT,
        Mistake(
            "local work from the client's own model",
            "self.local(sub, state.x, key, None)",
            "self.local(sub, gather(state.x_i, clients), key, None)",
            silent=True,  # an argmin has no start
        ),
    ),
}
