"""FedSplit (Pathak and Wainwright 2020): Peaceman-Rachford splitting of the consensus problem."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Listed, State, needs_everyone
from fedtheory.arrays import Array, Scalar, average, spread
from fedtheory.local import Exact, LocalSolver, Subproblem, positive
from fedtheory.participation import Clients
from fedtheory.problem import Problem
from fedtheory.randomness import Key


@dataclass(frozen=True, slots=True, eq=False)
class FedSplitState:
    """Server average and client variables."""

    x: Array  # (..., 1, d)  mean_i z_i
    z_i: Array  # (..., n, d)  client variables


@dataclass(frozen=True)
class FedSplit:
    """x = mean_i z_i,  x_i = prox_{s f_i}(2 x - z_i),  z_i <- z_i + 2 (x_i - x).

    Guarantee: linear convergence on strongly convex problems. Relation: the over-relaxed form of the splitting that FedPD
    with exact solves is (FedPD catalogue, D6).

    Parameters
    ----------
    s : number, array ``(*batch, 1, 1)`` or symbol
        Step of the proximal operators.
    local : LocalSolver
    """

    s: Scalar
    local: LocalSolver = Exact()

    def __post_init__(self) -> None:
        """Refuse a step that is not positive."""
        positive(self, "s")

    def init(self, problem: Problem, x0: Array) -> FedSplitState:
        """z_i = x^0."""
        return FedSplitState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: FedSplitState, clients: Clients | None, key: Key) -> FedSplitState:
        """Reflect, solve, reflect."""
        needs_everyone("FedSplit", clients, "Scaffold")
        sub = Subproblem(problem, rho=1 / self.s, z=2 * state.x - state.z_i)
        x_i, _ = self.local(sub, state.x, key, None)
        z_i = state.z_i + 2 * (x_i - state.x)
        return FedSplitState(average(z_i), z_i)

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """z_i up, x down."""
        return 1, 1

    def solution_state(self, problem: Problem, x_star: Array) -> FedSplitState:
        """z_i = x* - s grad f_i(x*), whose average is x*."""
        z_i = x_star - self.s * problem.grad(x_star)
        return FedSplitState(average(z_i), z_i)


LISTED = (
    Listed(
        "fedsplit",
        "primal-dual",
        "Pathak and Wainwright 2020; FedPD, Table I",
        lambda s: FedSplit(s.eta, s.local()),
        ("eta", "lr", "steps", "batch", "exact"),
        False,
    ),
)
