"""5GCS (Grudzien, Malinovsky and Richtarik 2023, Algorithm 1): communication acceleration with client sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, Scalar, average, gather, numbers_of, scatter, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Positive, plain
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FiveGCSState:
    """Server model and dual variables."""

    x: Array  # (..., 1, d)  server model
    v: Array  # (..., 1, d)  mean_i u_i
    u_i: Array  # (..., n, d)  dual variables: gradients of f_i - (mu/2)||.||^2


@dataclass(frozen=True)
class FiveGCS(Method):
    """A primal-dual method whose dual blocks are those of the clients that take part.

    xh = (x - eta v) / (1 + eta mu),
    y_i ~= argmin f_i(y) - (mu/2) ||y||^2 + (penalty/2) ||y - (xh + u_i/penalty)||^2  from xh,   u_i^+ = grad f_i(y_i) - mu y_i   (active i),
    v^+ = mean of all u_i,  x^+ = xh - eta (n/m) (v^+ - v),  m active clients.

    The paper writes F_i = (f_i - (mu/2)||.||^2)/n, its u_i is u_i/n here, its tau is penalty/n, its v the same. Guarantee (m of n clients
    drawn uniformly, tau = 1/(2 eta n), mu-strongly convex and L-smooth f_i, eta <= (3/16) sqrt(m/(L mu n))): linear convergence in
    O((n/m + sqrt(kappa n/m)) log(1/eps)) rounds.
    Relation: with all clients, mu = 0 and penalty = 1/eta it is `FedPD` with zero duals, its x_0 being xh and its lam_i being -u_i.

    Source: DualFL prints no rule for this baseline; this one is the original's as remembered, and checked as the randomised
    primal-dual splitting that it is (equivalence with FedPD, fixed points, convergence under sampling).

    Parameters
    ----------
    eta : number, array ``(*batch, 1, 1)`` or symbol
        Primal step.
    mu : number, array ``(*batch, 1, 1)`` or symbol
        Strong convexity that is split off; 0 is allowed, anything up to the true constant is meant.
    local : LocalSolver
    penalty : number, array ``(*batch, 1, 1)`` or symbol, optional
        Penalty of the local problems, n tau, above mu; 1/(2 eta) by default.

    Examples
    --------
    >>> trace = run(FiveGCS(eta=0.6, mu=0.1), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "accelerated"

    eta: Positive
    mu: Scalar = 0
    local: LocalSolver = Exact()
    penalty: Positive | None = None

    def __post_init__(self) -> None:
        """Refuse hyper-parameters outside the method's definition."""
        super().__post_init__()
        mu, penalty = plain(self, "mu"), self._penalty
        least, above = numbers_of(mu), numbers_of(penalty - mu)
        if least is None or above is None:
            return
        if not (np.all(least >= 0) and np.all(above > 0)):
            raise InvalidInput(
                f"5GCS needs 0 <= mu < penalty, got mu={mu}, penalty={penalty} (1/(2 eta) by default); lower eta"
            )

    @property
    def _penalty(self) -> Scalar:
        return 1 / (2 * self.eta) if self.penalty is None else self.penalty

    def init(self, problem: Problem, x0: Array) -> FiveGCSState:
        return FiveGCSState(x0, 0 * x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: FiveGCSState, clients: Clients | None, key: Key) -> FiveGCSState:
        ahead = (state.x - self.eta * state.v) / (1 + self.eta * self.mu)
        u_i, f = gather(state.u_i, clients), problem.take(clients)
        rest = self._penalty - self.mu  # the two quadratics, put together
        sub = Subproblem(f, rho=rest, z=(self._penalty * ahead + u_i) / rest, clients=clients)
        y_i, _ = self.local(sub, ahead, key, None)
        new = f.grad(y_i) - self.mu * y_i
        all_u = scatter(state.u_i, clients, new)
        # (n/m) (v^+ - v) is the average change of the active clients
        return FiveGCSState(ahead - self.eta * average(new - u_i, clients), average(all_u), all_u)

    def fixed_point(self, problem: Problem, x_star: Array) -> FiveGCSState:
        """u_i = grad f_i(x*) - mu x*: a fixed point for every subset of clients."""
        u_i = problem.grad(x_star) - self.mu * x_star
        return FiveGCSState(x_star, average(u_i), u_i)


LISTED = (
    listing("5gcs", FiveGCS, "Grudzien et al. 2023, Algorithm 1", changes={"mu": {"spelled": "strong-convexity"}}),
)
