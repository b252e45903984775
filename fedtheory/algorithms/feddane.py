"""FedDANE (Li et al. 2020): a federated Newton-type method with two exchanges a round (FedPD, Section IV-C)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, average
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedDane(Method):
    """Clients minimise f_i(x) + <g - grad f_i(x^r), x - x^r> + (rho/2) ||x - x^r||^2, g = mean_i grad f_i(x^r).

    The global gradient g enters the local problem, so a round has two exchanges and leaves the compute-then-aggregate
    protocol. With some of the clients, g and the mean of the answers are over these, and the round is that of their own average.

    Departure: with some of the clients Li et al. draw twice, for the gradients and for the local problems; here one draw serves both.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Weight of the proximal term, the paper's mu.
    local : LocalSolver

    Examples
    --------
    >>> trace = run(FedDane(rho=1.0), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"
    sends = 2, 2  # gradient and model, both ways

    rho: Positive
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        here = problem.take(clients)
        g_i = here.grad(state.x)
        sub = Subproblem(here, a=average(g_i, clients) - g_i, rho=self.rho, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        return PointState(average(x_i, clients))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState:
        return PointState(x_star)


LISTED = (listing("feddane", FedDane, "Li et al. 2020; FedPD, Section IV-C"),)
