"""FedDANE (Li et al. 2020): a federated Newton-type method with two exchanges a round (FedPD, Section IV-C)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Listed, State, settles
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.settings import LOCAL
from fedtheory.core.arrays import Array, Scalar, average
from fedtheory.core.hyperparameters import positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedDane:
    """Clients minimise f_i(x) + <g - grad f_i(x^r), x - x^r> + (rho/2) ||x - x^r||^2, g = mean_i grad f_i(x^r).

    The global gradient g enters the local problem, so a round has two exchanges and leaves the compute-then-aggregate
    protocol. With some of the clients, g and the mean of the answers are over these, and the round is that of their own average.

    Departure: with some of the clients Li et al. draw twice, for the gradients and for the local problems; here one draw serves both.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        The paper's mu.
    local : LocalSolver
    """

    rho: Scalar
    local: LocalSolver = Exact()

    def __post_init__(self) -> None:
        """Refuse a penalty that is not positive."""
        positive(self, "rho")

    def init(self, problem: Problem, x0: Array) -> PointState:
        """Start at x0."""
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        """Exchange gradients, solve, average."""
        here = problem.take(clients)
        g_i = here.grad(state.x)
        sub = Subproblem(here, a=average(g_i, clients) - g_i, rho=self.rho, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        return PointState(average(x_i, clients))

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Gradient and model, both ways."""
        return 2, 2

    def solution_state(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* solves every client's problem."""
        if not settles(self.local):
            return None
        return PointState(x_star)


LISTED = (
    Listed(
        "feddane",
        "averaging",
        "Li et al. 2020; FedPD, Section IV-C",
        lambda s: FedDane(s.rho, s.local()),
        ("rho", *LOCAL, "exact"),
        True,
    ),
)
