"""Methods whose server remembers every client's last update: MIFA (Gu et al. 2021) and FedVARP (Jhunjhunwala et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import GradientSteps, LocalSolver, step_size
from fedtheory.local.stochastic import Epochs, StochasticSteps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class UpdatesState:
    """Server model, and what every client sent last."""

    x: Array  # (..., 1, d)  server model
    g_i: Array  # (..., n, d)  last updates: the sum of the gradients along a client's path


class _RemembersUpdates(Method):
    """What the two methods share: the same state, local steps of one size a round, and the same fixed point."""

    family = "averaging"

    local: LocalSolver

    def __post_init__(self) -> None:
        """Refuse local solvers without a step size."""
        super().__post_init__()
        if not isinstance(self.local, GradientSteps | StochasticSteps | Epochs | SamSteps):
            raise InvalidInput(
                f"{type(self).__name__} divides moves by the local step size, so it needs GradientSteps, StochasticSteps, Epochs or "
                f"SamSteps, got {self.local}"
            )

    def init(self, problem: Problem, x0: Array) -> UpdatesState:
        return UpdatesState(x0, spread(0 * x0, problem.n))

    def fixed_point(self, problem: Problem, x_star: Array) -> UpdatesState | None:
        """g_i = grad f_i(x*), with one local step."""
        return UpdatesState(x_star, problem.grad(x_star)) if is_one_plain_step(self.local) else None


@dataclass(frozen=True)
class MIFA(_RemembersUpdates):
    """Memory-augmented impatient federated averaging: who is absent counts with what it sent last.

    Active clients: y_i is K local steps of size lr_r from x^r,  G_i = (x^r - y_i) / lr_r;  absent ones keep their G_i.
    x^{r+1} = x^r - lr_r mean_{all i} G_i.

    With everyone it is `FedAvg`. Guarantee (source; any pattern of absences with bounded mean and maximum, all
    clients heard in the first round): the rates of FedAvg with everyone, up to constants of the absences; no client is favoured for
    coming more often. With one full local step it is the incremental aggregated gradient method.

    Departures: the source hears everyone before it begins; here a client that was not heard yet counts with G_i = 0. Clients send G_i,
    as in Algorithm 1; the source's variant in which clients remember sends differences, and has the same iterates.

    Parameters
    ----------
    local : GradientSteps, StochasticSteps, Epochs or SamSteps
        K steps of one size a round, ``local.lr``; where sizes differ within a round, the first stands for all.

    Examples
    --------
    >>> trace = run(MIFA(GradientSteps(1, 0.1)), problem, x0, 1000, participation=Uniform(2))
    >>> print(trace["stationarity"][-1] < 1e-12)  # FedAvg's noise of sampling is gone
    True
    """

    local: LocalSolver

    def round(self, problem: Problem, state: UpdatesState, clients: Clients | None, key: Key) -> UpdatesState:
        local: Any = self.local
        lr = step_size(local.lr, key.round, 0)
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        g_i = scatter(state.g_i, clients, (state.x - y) / lr)
        return UpdatesState(state.x - lr * average(g_i), g_i)


@dataclass(frozen=True)
class FedVARP(_RemembersUpdates):
    """Variance reduction for partial participation, SAGA's correction on the level of clients.

    Active clients: y_i is K local steps of size lr_r from x^r,  D_i = (x^r - y_i) / lr_r,
    v = mean_{active}(D_i - G_i) + mean_{all i} G_i,  x^{r+1} = x^r - server_lr lr_r v;  then G_i = D_i for active clients.

    With everyone it is `FedAvg` with a server step. v is unbiased under uniform sampling, which MIFA's mean of G_i is not. Guarantee
    (source; smooth, non-convex): the error of sampling clients is gone, without additional work or traffic of the clients.

    Departures: the source divides D_i by K as well, and multiplies the server's step by K.

    Parameters
    ----------
    local : GradientSteps, StochasticSteps, Epochs or SamSteps
        K steps of one size a round, ``local.lr``; where sizes differ within a round, the first stands for all.
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server.

    Examples
    --------
    >>> trace = run(FedVARP(GradientSteps(1, 0.1)), problem, x0, 1000, participation=Uniform(2))
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    local: LocalSolver
    server_lr: Positive = 1

    def round(self, problem: Problem, state: UpdatesState, clients: Clients | None, key: Key) -> UpdatesState:
        local: Any = self.local
        lr = step_size(local.lr, key.round, 0)
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        d_i = (state.x - y) / lr
        v = average(d_i - gather(state.g_i, clients), clients) + average(state.g_i)
        return UpdatesState(state.x - self.server_lr * lr * v, scatter(state.g_i, clients, d_i))


_STORED = "scatter(state.g_i, clients, (state.x - y) / lr)"
_V = "average(d_i - gather(state.g_i, clients), clients) + average(state.g_i)"

MISTAKES = {
    MIFA: (
        Mistake(
            "mean over active instead of all clients",
            "average(g_i), g_i)",
            "average(gather(g_i, clients), clients), g_i)",
        ),
        Mistake("absent clients count zero", _STORED, _STORED.replace("state.g_i", "0 * state.g_i")),
        Mistake("updates of before the round", "average(g_i), g_i)", "average(state.g_i), g_i)"),
        Mistake("updates accumulated", "(state.x - y) / lr)", "gather(state.g_i, clients) + (state.x - y) / lr)"),
        Mistake(
            "moves remembered without their step size",
            f"{_STORED}\n        return UpdatesState(state.x - lr *",
            f"{_STORED.replace(' / lr', '')}\n        return UpdatesState(state.x -",
        ),
        Mistake("sum instead of mean", "lr * average(g_i)", "problem.n * lr * average(g_i)"),
        NOT_RESET,
        HELD_GRADIENT,
    ),
    FedVARP: (
        Mistake("no correction by what is remembered", _V, "average(d_i, clients)"),
        Mistake("SAG's weights: the correction is over all clients", _V, "average(scatter(state.g_i, clients, d_i))"),
        Mistake(
            "remembered updates of active clients are subtracted twice",
            "average(d_i - gather",
            "average(d_i - 2 * gather",
        ),
        Mistake(
            "mean of the remembered over active clients",
            "+ average(state.g_i)\n",
            "+ average(gather(state.g_i, clients), clients) / 2\n",
        ),
        Mistake(
            "mean of what is remembered after the round",
            "+ average(state.g_i)\n",
            "+ average(scatter(state.g_i, clients, d_i))\n",
        ),
        Mistake("updates never remembered", "scatter(state.g_i, clients, d_i))\n", "state.g_i)\n"),
        Mistake(
            "updates accumulated",
            "scatter(state.g_i, clients, d_i))\n",
            "scatter(state.g_i, clients, gather(state.g_i, clients) + d_i))\n",
        ),
        NOT_RESET,
        HELD_GRADIENT,
    ),
}

LISTED = (
    listing("mifa", MIFA, "Gu, Huang, Zhang and Huang 2021, Algorithm 1"),
    listing("fedvarp", FedVARP, "Jhunjhunwala, Sharma, Nagarkatti and Joshi 2022, Algorithm 2"),
)
