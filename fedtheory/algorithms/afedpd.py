"""A-FedPD (Sun et al., Algorithm 1) and, with SAM's gradient in the local steps, A-FedPDSAM (Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fedtheory.algorithms.base import Fixes, Method
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import SAM
from fedtheory.algorithms.mistakes import (
    HELD_GRADIENT,
    NOT_RESET,
    WRONG_ASCENT,
    WRONG_PENALTY,
    Mistake,
    list_average_mistakes,
)
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class AFedPDState:
    """Models, the part of the duals that all clients have in common, and what is a client's own."""

    x: Array  # (..., 1, d)  theta: the model that is broadcast
    x_bar: Array  # (..., 1, d)  theta-bar: average of the active clients' models
    lam: Array  # (..., 1, d)  lambda-bar, the average of all duals
    x_i: Array  # (..., n, d)  local models; a client that did not take part keeps its last one
    mu_i: Array  # (..., n, d)  lambda_i - lambda-bar; their sum is zero

    @property
    def lam_i(self) -> Array:
        """The duals lambda_i ``(..., n, d)``."""
        return self.lam + self.mu_i


@dataclass(frozen=True)
class AFedPD(Method):
    """Absent clients' duals move as if each had returned the average of the active models.

    x_i^{t+1}   = argmin  f_i(x) + <lam_i^t, x> + (rho/2) ||x - x^t||^2  (or local steps towards it, from x^t),  i active,
    xbar^{t+1}  = mean_{active} x_i^{t+1},
    lam_i^{t+1} = lam_i^t + rho (x_i^{t+1} - x^t)  for active i,   lam_i^t + rho (xbar^{t+1} - x^t)  for all others,
    x^{t+1}     = xbar^{t+1} + lambar^{t+1} / rho,   lambar = mean_i lam_i.

    The increment of the absent clients' duals is that of the mean: lambar^{t+1} = lambar^t + rho (xbar^{t+1} - x^t). So with
    lam_i = lambar + mu_i only the deviations of active clients move, mu_i^{t+1} = mu_i^t + rho (x_i^{t+1} - xbar^{t+1}), and a
    round touches the active clients alone. The models extrapolate: x^{t+1} = 2 xbar^{t+1} - xbar^t, with xbar^0 = x^0. The local
    problem is that of mu_i with the centre xbar^t (AFEDPD-D1 to AFEDPD-D3 and AFEDPD-D5).

    Guarantee: with all clients this is `FedADMM`, and with exact solves and rho >= (3 + sqrt(21)) L
    (1/T) sum_{t=1}^T ||grad f(xbar^t)||^2 <= (4 rho (f(xbar^1) - f*) + L^2 mean_i ||x_i^1 - x^0||^2) / T (repaired Theorem 1). With
    one client a round mu_i stays zero: it is a proximal-point method with a random client and keeps that method's noise floor.

    Departures: the algorithm returns a "global average model", x or xbar; both are in the state. Local work starts at x^t, as printed.
    D-Update prints rho_t where everything else has rho, and no rule for it: here one rho stands in local work, dual steps and server. Algorithm 2
    (A-FedPDSAM) prints rho for the radius of SAM's step as well; here the radius is a number of its own, as in the paper's Table 3.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Penalty of the augmented Lagrangian, the same in all rounds (the paper's rho_t is not followed).
    local : LocalSolver
        `SamSteps` gives A-FedPDSAM.

    Examples
    --------
    >>> trace = run(AFedPD(rho=1.0), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "primal-dual"
    sends = 1, 2  # model up; model and dual down, because the server keeps the duals
    fixes: ClassVar[Fixes] = {
        "lam": lambda known: average(known["lam_i"]),
        "mu_i": lambda known: known["lam_i"] - average(known["lam_i"]),
    }

    rho: Positive
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> AFedPDState:
        return AFedPDState(x0, x0, 0 * x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: AFedPDState, clients: Clients | None, key: Key) -> AFedPDState:
        mu_i = gather(state.mu_i, clients)
        sub = Subproblem(problem.take(clients), a=state.lam + mu_i, rho=self.rho, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        x_bar = average(x_i, clients)
        lam = state.lam + self.rho * (x_bar - state.x)
        return AFedPDState(
            x=x_bar + lam / self.rho,
            x_bar=x_bar,
            lam=lam,
            x_i=scatter(state.x_i, clients, x_i),
            mu_i=scatter(state.mu_i, clients, mu_i + self.rho * (x_i - x_bar)),
        )

    def fixed_point(self, problem: Problem, x_star: Array) -> AFedPDState:
        g = problem.grad(x_star)
        mean = average(g)
        return AFedPDState(x_star, x_star, -mean, spread(x_star, problem.n), mean - g)


LISTED = (
    listing("a-fedpd", AFedPD, "A-FedPD, Algorithm 1"),
    listing("a-fedpdsam", AFedPD, "A-FedPD, Algorithm 2", local=SAM),
)

_MEAN = "lam = state.lam + self.rho * (x_bar - state.x)"
_SERVER = "x=x_bar + lam / self.rho"
_DUALS = f"""{_MEAN}
        return AFedPDState(
            x=x_bar + lam / self.rho,
            x_bar=x_bar,
            lam=lam,
            x_i=scatter(state.x_i, clients, x_i),
            mu_i=scatter(state.mu_i, clients, mu_i + self.rho * (x_i - x_bar)),
        )"""
_WITHOUT_VIRTUAL = """all_lam = scatter(state.lam + state.mu_i, clients, state.lam + mu_i + self.rho * (x_i - state.x))
        lam = average(all_lam)
        return AFedPDState(
            x=x_bar + lam / self.rho,
            x_bar=x_bar,
            lam=lam,
            x_i=scatter(state.x_i, clients, x_i),
            mu_i=all_lam - lam,
        )"""
MISTAKES = {
    AFedPD: (
        Mistake("sign of the dual in local work", "a=state.lam + mu_i", "a=-state.lam - mu_i"),
        Mistake("no dual in local work", "a=state.lam + mu_i", "a=0 * mu_i"),
        Mistake("dual applied twice in local work", "a=state.lam + mu_i", "a=2 * (state.lam + mu_i)"),
        *WRONG_PENALTY,
        Mistake("dual step of the mean without rho", _MEAN, "lam = state.lam + x_bar - state.x"),
        Mistake("sign of the dual step of the mean", _MEAN, "lam = state.lam - self.rho * (x_bar - state.x)"),
        Mistake("no dual at the server", _SERVER, "x=x_bar"),
        Mistake(
            "server dual over active clients",
            _SERVER,
            "x=x_bar + lam / self.rho + average(mu_i + self.rho * (x_i - x_bar), clients) / self.rho",
        ),
        Mistake("no virtual update of absent clients' duals", _DUALS, _WITHOUT_VIRTUAL),
        Mistake("server dual of before the round", _SERVER, "x=x_bar + state.lam / self.rho"),
        Mistake("sign of the server's dual", _SERVER, "x=x_bar - lam / self.rho"),
        Mistake("server dual not divided by rho", _SERVER, "x=x_bar + lam"),
        NOT_RESET,
        HELD_GRADIENT,
        *WRONG_ASCENT,
        *list_average_mistakes("x_i", absent="state.x"),
    ),
}
