"""FedDyn (Acar et al. 2021; A-FedPD, equation (7)), and FedSpeed: FedDyn with SAM's gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from fedtheory.algorithms.base import Fixes, Method
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import MIXED_SAM
from fedtheory.algorithms.mistakes import (
    HELD_GRADIENT,
    NOT_RESET,
    WRONG_ASCENT,
    WRONG_PENALTY,
    Mistake,
    list_average_mistakes,
    list_dual_mistakes,
)
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedDynState:
    """Models, and duals of the clients and of the server; a client that did not take part keeps its last ones."""

    x: Array  # (..., 1, d)  server model
    x_bar: Array  # (..., 1, d)  average of the models that came in
    lam: Array  # (..., 1, d)  the server's dual, the average of all lambda_i
    x_i: Array  # (..., n, d)  local models
    lam_i: Array  # (..., n, d)  duals lambda_i


@dataclass(frozen=True)
class FedDyn(Method):
    """Active clients minimise their augmented Lagrangians; the server averages active models and adds the mean of all duals.

    x_i^{t+1}   = argmin  f_i(x) + <lam_i^t, x> + (rho/2) ||x - x^t||^2  (or local steps towards it, from x^t),
    lam_i^{t+1} = lam_i^t + rho (x_i^{t+1} - x^t)                         on active clients; the others keep both,
    lam^{t+1}   = lam^t + rho (1/n) sum_{active} (x_i^{t+1} - x^t) = mean_i lam_i^{t+1},
    x^{t+1}     = mean_{active} x_i^{t+1} + lam^{t+1} / rho .

    Acar et al. write alpha for rho, -g_i for lam_i and -h for lam. With all clients this is `FedADMM`.

    Departure: A-FedPD's equation (7) prints lam^t instead of lam^{t+1} in the last line, which is another method, also with all
    clients (``server_dual="old"``). Acar et al. and the default use the new one.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Penalty.
    local : LocalSolver
        With `SamSteps` this is FedSpeed in the form of its authors' simulator, whose server is this one; the server that the
        FedSpeed paper prints averages x_i + lam_i / rho over active clients and is `FedADMM` with ``averages="active"``.
    server_dual : "new" or "old"

    Examples
    --------
    >>> trace = run(FedDyn(rho=1.0), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "primal-dual"
    fixes: ClassVar[Fixes] = {"lam": lambda known: average(known["lam_i"])}

    rho: Positive
    local: LocalSolver = Exact()
    server_dual: Literal["new", "old"] = "new"

    def init(self, problem: Problem, x0: Array) -> FedDynState:
        """Models at x^0, duals zero."""
        return FedDynState(x0, x0, 0 * x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: FedDynState, clients: Clients | None, key: Key) -> FedDynState:
        """Local work, dual steps, the server's average."""
        lam_i = gather(state.lam_i, clients)
        sub = Subproblem(problem.take(clients), a=lam_i, rho=self.rho, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        all_lam = scatter(state.lam_i, clients, lam_i + self.rho * (x_i - state.x))
        lam = average(all_lam)
        x_bar = average(x_i, clients)
        return FedDynState(
            x=x_bar + (lam if self.server_dual == "new" else state.lam) / self.rho,
            x_bar=x_bar,
            lam=lam,
            x_i=scatter(state.x_i, clients, x_i),
            lam_i=all_lam,
        )

    def fixed_point(self, problem: Problem, x_star: Array) -> FedDynState:
        """x_i = x*, lam_i = -grad f_i(x*), whose mean is zero."""
        g = problem.grad(x_star)
        return FedDynState(x_star, x_star, -average(g), spread(x_star, problem.n), -g)


_DUAL = "lam_i + self.rho * (x_i - state.x)"
_MEAN = "lam = average(all_lam)"
_SERVER = '(lam if self.server_dual == "new" else state.lam) / self.rho'


def _both_duals(name: str, step: str) -> Mistake:
    """A wrong dual step of the clients that the server follows with the mean of their duals."""
    old = f"all_lam = scatter(state.lam_i, clients, {_DUAL})\n        {_MEAN}"
    new = old.replace(_DUAL, step).replace(_MEAN, "lam = state.lam + average(all_lam - state.lam_i)")
    return Mistake(name, old, new)


MISTAKES = {
    FedDyn: (
        *list_dual_mistakes("lam_i"),
        Mistake(
            "neither dual nor penalty in local work",
            ", a=lam_i, rho=self.rho, z=state.x",
            "",
            seen="fedlab 1.3.0, contrib/algorithm/feddyn.py: both are computed from parameters that are cut off from differentiation",
        ),
        *WRONG_PENALTY,
        Mistake(
            "norm of the penalty not squared",
            "problem.take(clients), a=lam_i, rho=self.rho, z=state.x",
            "add_norm(problem.take(clients), self.rho / 2, state.x), a=lam_i",
            seen="PFLlib, system/flcore/clients/clientdyn.py: alpha/2 * torch.norm(v1 - self.global_model_vector, 2)",
        ),
        Mistake("sign of the dual step", _DUAL, "lam_i - self.rho * (x_i - state.x)"),
        Mistake("dual step without rho", _DUAL, "lam_i + (x_i - state.x)"),
        Mistake("duals replaced", _DUAL, "self.rho * (x_i - state.x)"),
        _both_duals("sign of the dual step, at clients and server", "lam_i - self.rho * (x_i - state.x)"),
        _both_duals("dual step without rho, at clients and server", "lam_i + (x_i - state.x)"),
        Mistake("dual step with the mean model", _DUAL, "lam_i + self.rho * (x_i - average(x_i, clients))"),
        Mistake("client duals never updated", "lam_i=all_lam,", "lam_i=state.lam_i,"),
        Mistake(
            "server dual over active clients", _MEAN, "lam = state.lam + self.rho * average(x_i - state.x, clients)"
        ),
        Mistake(
            "server model subtracted once",
            _MEAN,
            "lam = state.lam + self.rho / problem.n * (x_i.shape[-2] * average(x_i, clients) - state.x)",
            seen="https://github.com/SMILELab-FL/FedLab/issues/319",
        ),
        Mistake("server dual never updated", _MEAN, "lam = state.lam"),
        Mistake("sign of the server's dual", f"x=x_bar + {_SERVER}", f"x=x_bar - {_SERVER}"),
        Mistake("no dual at the server", f"x=x_bar + {_SERVER}", "x=x_bar"),
        Mistake("server dual not divided by rho", _SERVER, _SERVER.removesuffix(" / self.rho")),
        NOT_RESET,
        HELD_GRADIENT,
        *WRONG_ASCENT,
        *list_average_mistakes("x_i", absent="state.x"),
    ),
}

# the paper's increment: the same from a start at which lam is the mean of all lam_i
AS_PRINTED = {
    FedDyn: Mistake(
        "", _MEAN, "lam = state.lam + average(scatter(0 * state.lam_i, clients, self.rho * (x_i - state.x)))"
    )
}

LISTED = (
    listing("feddyn", FedDyn, "Acar et al. 2021", server_dual="new"),
    listing("feddyn-printed", FedDyn, "A-FedPD, equation (7): the server uses its previous dual", server_dual="old"),
    listing(
        "fedspeed",
        FedDyn,
        "Sun et al. 2023 (FedSpeed), with the server of its authors' simulator",
        server_dual="new",
        local=MIXED_SAM,
    ),
)
