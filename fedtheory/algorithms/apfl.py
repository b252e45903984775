"""APFL (Deng, Kamani and Mahdavi 2020; FedSLR, Section 6): a mixture of the server's model and an own one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.changed_gradients import ChangedGradients, Oracle
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, Scalar, average, gather, namespace, numbers_of, scatter, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import plain
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class ApflState:
    """Server model, the clients' own models, and the mixtures they use."""

    x: Array  # (..., 1, d)  server model
    personal: Array  # (..., n, d)  alpha v_i + (1 - alpha) x
    v_i: Array  # (..., n, d)  own models


@dataclass(frozen=True)
class Apfl(Method):
    """Each client trains a copy u of the server's model, and an own model v for the mixture alpha v + (1 - alpha) u.

    K steps, from u = x^r and v = v_i, both with the same samples and both evaluated before the step (Algorithm 1):
    u <- u - lr g_i(u),   v <- v - lr alpha g_i(alpha v + (1 - alpha) u);
    x^{r+1} = mean_i u_i,  the client uses alpha v_i + (1 - alpha) x^{r+1}.

    alpha = 0 is FedAvg, alpha = 1 local training; the mixtures go to the clients' own minimisers. Departures: alpha is the same for all
    clients and does not adapt (as in FedSLR's comparison); the deployed mixture is the last one, not the paper's average over iterations.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps` or `StochasticSteps`.
    alpha : number in [0, 1], array ``(*batch, 1, 1)`` or symbol
        Share of the own model.

    Examples
    --------
    >>> state = run(Apfl(GradientSteps(2, 0.5), alpha=0.5), problem, x0, 50).state
    >>> print(state.personal.shape)
    (10, 5)
    """

    family = "personalised"

    local: LocalSolver
    alpha: Scalar = 0.5

    def __post_init__(self) -> None:
        """Refuse shares outside [0, 1]."""
        super().__post_init__()
        shares = numbers_of(plain(self, "alpha"))
        if shares is not None and not np.all((shares >= 0) & (shares <= 1)):
            raise InvalidInput(f"alpha, the share of the own model, must lie in [0, 1], got {self.alpha}")

    def init(self, problem: Problem, x0: Array) -> ApflState:
        copies = spread(x0, problem.n)
        return ApflState(x0, copies, copies)

    def round(self, problem: Problem, state: ApflState, clients: Clients | None, key: Key) -> ApflState:
        sub = Subproblem(self._pairs(problem.take(clients)), clients=clients)
        y, _ = self.local(sub, _pair(state.x, gather(state.v_i, clients)), key, None)
        u, v = _parts(y)
        x, v_i = average(u, clients), scatter(state.v_i, clients, v)
        return ApflState(x, self._mix(v_i, x), v_i)

    def _mix(self, v: Array, u: Array) -> Array:
        return self.alpha * v + (1 - self.alpha) * u

    def _pairs(self, f: Problem) -> Any:
        """Show the client's problem in pairs ``(..., m, 2 d)``."""

        def through(pair: Array, oracle: Oracle) -> Array:
            u, v = _parts(pair)
            return _pair(oracle(u), self.alpha * oracle(self._mix(v, u)))

        return ChangedGradients(f, through)


def _pair(u: Array, v: Array) -> Array:
    xp = namespace(u, v)
    return xp.concat(xp.broadcast_arrays(u, v), axis=-1)


def _parts(pair: Array) -> tuple[Array, Array]:
    d = pair.shape[-1] // 2
    return pair[..., :d], pair[..., d:]


LISTED = (listing("apfl", Apfl, "Deng, Kamani and Mahdavi 2020, Algorithm 1; FedSLR, Section 6"),)
