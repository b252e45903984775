"""SAFARI (server-assisted federated averaging) and its limit without clients: SGD on the server's data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Method, State
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import BATCH, CLIP, LR, LR_DECAY, make_local_steps
from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.arrays import Array, Scalar, average, choose_lazily
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import on_host
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, need
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class ServerSgd(Method):
    """x^{r+1} = what the server makes of x^r on its own data; clients do nothing.

    Its data need not have the solution of the clients, so x* is no fixed point.

    Source: SAFARI, Algorithm 1 with q = 0 (Remark 5).

    Parameters
    ----------
    server : LocalSolver
        `StochasticSteps` or `GradientSteps` on ``problem.server``.

    Examples
    --------
    >>> from fedtheory.problems.server import ServerAssisted
    >>> served = ServerAssisted(problem, Pooled(problem))
    >>> trace = run(ServerSgd(GradientSteps(1, 1.0)), served, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "control"
    sends = 0, 0

    server: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        return PointState(_at_server(self.server, problem, state.x, key))


@dataclass(frozen=True)
class Safari(Method):
    """A coin a round: a round of FedAvg with the clients that take part, or work on the server's own data.

    With probability q:  x^{r+1} = mean_{active} y_i,  y_i = K local (stochastic) gradient steps from x^r;
    else:  x^{r+1} = ``server_steps`` (stochastic) gradient steps from x^r on the server's data.

    The server's data is ``problem.server``, an objective with n = 1. Guarantee claimed (Theorems 4 and 5, Remark 3): a stationary
    point of the average although only some clients ever take part. With q fixed this fails when those clients are biased: for
    small steps the limit solves (1-q) grad F + q (K eta_c / eta_s) grad F_D = 0, F_D the average of the clients that take part
    (SAFARI-X2).

    Relations: q = 1 is FedAvg, q = 0 `ServerSgd`. Source: SAFARI, Algorithm 1. Departures: K local steps (the printed index runs to
    K + 1); the server may take more than the one step of Algorithm 1, which the experiments seem to need.

    Parameters
    ----------
    q : number in [0, 1], array ``(*batch, 1, 1)``, or function of the round
        Probability of a client round.
    local : LocalSolver
        `StochasticSteps` or `GradientSteps`, with the paper's K and eta_c.
    server : LocalSolver
        The same for the server, one step of size eta_s in Algorithm 1.

    Examples
    --------
    >>> method = Safari(1, GradientSteps(4, 0.5), GradientSteps(1, 0.5))  # q = 1: no round at the server
    >>> plain = run(FedAvg(GradientSteps(4, 0.5)), problem, x0, 20)
    >>> print(np.array_equal(run(method, problem, x0, 20).state.x, plain.state.x))
    True
    """

    family = "averaging"

    q: Scalar | Callable[[int], float]
    local: LocalSolver
    server: LocalSolver

    def __post_init__(self) -> None:
        """Refuse what is not a probability."""
        super().__post_init__()
        on_host(self, "q")
        if not callable(self.q) and not (np.all(np.asarray(self.q) >= 0) and np.all(np.asarray(self.q) <= 1)):
            raise InvalidInput(f"the probability q of a client round must lie in [0, 1], got {self.q}")

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        return PointState(
            choose_lazily(
                self._client_round(key),
                lambda: self._at_clients(problem, state.x, clients, key),
                lambda: _at_server(self.server, problem, state.x, key),
            )
        )

    def _at_clients(self, problem: Problem, x: Array, clients: Clients | None, key: Key) -> Array:
        y, _ = self.local(Subproblem(problem.take(clients), clients=clients), x, key, None)
        return average(y, clients)

    def _client_round(self, key: Key) -> bool | Array:
        return key.coin("communicate", self.q(key.round) if callable(self.q) else self.q)

    def traffic(self, key: Key, state: State) -> tuple[Array, Array]:
        """Model up and down in a client round, nothing in a server round."""
        sent = np.asarray(self._client_round(key), dtype=float)
        return sent, sent


def _at_server(solver: LocalSolver, problem: Problem, x: Array, key: Key) -> Array:
    server = need(problem, "server", "a round on the server's data")
    return solver(Subproblem(server), x, key, None)[0]


def _server_work(
    lr: Any,
    batch: int | None,
    lr_decay: Any,
    clip: float | None,
    server_lr: Any,
    server_steps: int,
    server_epochs: int,
) -> LocalSolver:
    """Return the server's work: its own steps or passes, of size ``server_lr`` times the clients' step, else as theirs."""
    return make_local_steps(server_lr * lr, server_steps, server_epochs, batch, lr_decay, clip)


_SERVER = BuiltField(
    (
        LR,
        BATCH,
        LR_DECAY,
        CLIP,
        Option("server_lr", float, 1, "Step size of the server, relative to the clients'.", batched=True, telling=0.8),
        Option("server_steps", int, 1, "Steps of the server on its own data."),
        Option(
            "server_epochs", int, 0, "Passes of the server through its own data, in place of steps [default: none]."
        ),
    ),
    _server_work,
)

LISTED = (
    listing("safari", Safari, "SAFARI, Algorithm 1", needs=("server",), server=_SERVER),
    listing("server-sgd", ServerSgd, "SAFARI, Remark 5", needs=("server",), server=_SERVER),
)
