"""FedADMM (Wang et al. 2022; A-FedPD, equation (6)): consensus ADMM with some of the clients a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedtheory.algorithms.base import Listed, State, settles
from fedtheory.algorithms.settings import LOCAL
from fedtheory.core.arrays import Array, Scalar, average, gather, scatter, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import positive
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
class FedADMM:
    """Active clients treat their augmented Lagrangians and move their duals; the server averages z_i = x_i + lam_i / rho.

    x_i^{t+1}   = argmin  f_i(x) + <lam_i^t, x> + (rho/2) ||x - x^t||^2  (or local steps towards it, from x^t),
    lam_i^{t+1} = lam_i^t + rho (x_i^{t+1} - x^t)                         on active clients; the others keep both,
    x^{t+1}     = prox_{h/rho}( mean_i z_i^{t+1} ),  h the shared regulariser (the identity without one).

    The mean is over all clients, with the last z_i of those that were away (``averages="all"``, Wang et al. 2022), or over the
    active ones (``"active"``, as A-FedPD's equation (6) prints it). With all clients they are the same method; with exact solves it is
    FedPD(1/rho) that starts with zero duals and communicates every round (FedPD starts inexact local work at a client's own model).

    Guarantee: averaging all, the state at a solution is kept whoever takes part. Averaging the active ones it is not, so even a
    stable run keeps a noise floor under heterogeneity, and on identical quadratics of curvature a it is unstable in mean square
    below a threshold of rho/a that rises as fewer take part (AFEDPD-D11 and AFEDPD-D12).

    Departure: equation (6) prints the proximal weight of the server as 1/(2 rho); minimising the augmented Lagrangian gives rho/2.
    The first duals are zero and the first z_i are x^0.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Penalty.
    local : LocalSolver
    averages : "all" or "active"
        Whose z_i the server averages.
    """

    rho: Scalar
    local: LocalSolver = Exact()
    averages: Literal["all", "active"] = "all"

    def __post_init__(self) -> None:
        """Refuse settings outside the algorithm's definition."""
        positive(self, "rho")
        if self.averages not in ("all", "active"):
            raise InvalidInput(f"averages must be 'all' or 'active', got {self.averages!r}")

    def init(self, problem: Problem, x0: Array) -> FedADMMState:
        """Models at x^0, duals zero."""
        return FedADMMState(x0, x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: FedADMMState, clients: Clients | None, key: Key) -> FedADMMState:
        """Local work, dual steps, the server's average."""
        lam = gather(state.lam_i, clients)
        sub = Subproblem(problem.take(clients), a=lam, rho=self.rho, z=state.x, clients=clients)
        x, _ = self.local(sub, state.x, key, None)
        lam = lam + self.rho * (x - state.x)
        x_i, lam_i = scatter(state.x_i, clients, x), scatter(state.lam_i, clients, lam)
        z = average(x_i + lam_i / self.rho) if self.averages == "all" else average(x + lam / self.rho, clients)
        new = shared_regulariser(problem).prox(z, 1 / self.rho)
        return FedADMMState(new, average(x, clients), x_i, lam_i)

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """z_i up, x down."""
        return 1, 1

    def solution_state(self, problem: Problem, x_star: Array) -> FedADMMState | None:
        """x_i = x*, lam_i = -grad f_i(x*)."""
        if not settles(self.local):
            return None
        return FedADMMState(x_star, x_star, spread(x_star, problem.n), -problem.grad(x_star))


LISTED = (
    Listed(
        "fedadmm",
        "primal-dual",
        "Wang et al. 2022",
        lambda s: FedADMM(s.rho, s.local()),
        ("rho", *LOCAL, "exact"),
        True,
    ),
    Listed(
        "fedadmm-active",
        "primal-dual",
        "A-FedPD, equation (6): the server averages active clients only",
        lambda s: FedADMM(s.rho, s.local(), averages="active"),
        ("rho", *LOCAL, "exact"),
        True,
    ),
    Listed(
        "fedspeed-active",
        "primal-dual",
        "Sun et al. 2023 (FedSpeed): the server averages active clients only",
        lambda s: FedADMM(s.rho, s.sam(s.alpha), averages="active"),
        ("rho", *LOCAL, "radius", "sam_epsilon", "alpha"),
        True,
    ),
)
