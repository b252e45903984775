"""Operator splittings of the consensus problem: FedSplit (Peaceman-Rachford) and FedDR (Douglas-Rachford, relaxed)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import shared_regulariser
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedSplitState:
    """Server average and client variables."""

    x: Array  # (..., 1, d)  mean_i z_i
    z_i: Array  # (..., n, d)  client variables


@dataclass(frozen=True)
class FedSplit(Method):
    """x = mean_i z_i,  x_i = prox_{s f_i}(2 x - z_i),  z_i <- z_i + 2 (x_i - x).

    Guarantee: linear convergence on strongly convex problems. Relation: the over-relaxed form of the splitting that FedPD
    with exact solves is (FEDPD-D6).

    Parameters
    ----------
    s : number, array ``(*batch, 1, 1)`` or symbol
        Step of the proximal operators.
    local : LocalSolver

    Examples
    --------
    >>> trace = run(FedSplit(s=1.0), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "primal-dual"
    partial = False
    instead = "Scaffold"

    s: Positive
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> FedSplitState:
        return FedSplitState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: FedSplitState, clients: Clients | None, key: Key) -> FedSplitState:
        sub = Subproblem(problem, rho=1 / self.s, z=2 * state.x - state.z_i)
        x_i, _ = self.local(sub, state.x, key, None)
        z_i = state.z_i + 2 * (x_i - state.x)
        return FedSplitState(average(z_i), z_i)

    def fixed_point(self, problem: Problem, x_star: Array) -> FedSplitState:
        """z_i = x* - s grad f_i(x*), whose average is x*."""
        z_i = x_star - self.s * problem.grad(x_star)
        return FedSplitState(average(z_i), z_i)


@dataclass(frozen=True, slots=True, eq=False)
class FedDRState:
    """Server model and client variables; those of a client that did not take part are its last ones."""

    x: Array  # (..., 1, d)  prox of the mean of 2 x_i - y_i
    x_i: Array  # (..., n, d)  local models
    y_i: Array  # (..., n, d)  points that the proximal steps were taken at


@dataclass(frozen=True)
class FedDR(Method):
    """Relaxed Douglas-Rachford splitting with some of the clients a round (Tran-Dinh et al. 2021, Algorithm 1).

    y_i^{t+1} = y_i^t + alpha (x^t - x_i^t),
    x_i^{t+1} = prox_{eta f_i}(y_i^{t+1})  (or local steps towards it, from x^t)   on active clients; the others keep both,
    x^{t+1}   = prox_{eta h}( mean_i (2 x_i^{t+1} - y_i^{t+1}) ),  mean over all clients, h the shared regulariser.

    With alpha = 1 it is FedADMM that averages all clients, with rho = 1/eta and y_i = x^t - eta lam_i: the same iterates for every
    participation and local solver. With alpha = 2, all clients and exact solves it is FedSplit with s = eta.

    Departure: the original takes a proximal step on every client before the first round; here x_i^0 = y_i^0 = x^0 and a client's
    first proximal step at x^0 is its first round. With all clients its round t is this round t + 1.

    Parameters
    ----------
    eta : number, array ``(*batch, 1, 1)`` or symbol
        Step of the proximal operators.
    alpha : number, array ``(*batch, 1, 1)`` or symbol
        Relaxation, in (0, 2] where convergence is known for convex problems.
    local : LocalSolver

    Examples
    --------
    >>> trace = run(FedDR(eta=1.0), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "primal-dual"

    eta: Positive
    alpha: Positive = 1
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> FedDRState:
        return FedDRState(x0, spread(x0, problem.n), spread(x0, problem.n))

    def round(self, problem: Problem, state: FedDRState, clients: Clients | None, key: Key) -> FedDRState:
        y = gather(state.y_i, clients) + self.alpha * (state.x - gather(state.x_i, clients))
        sub = Subproblem(problem.take(clients), rho=1 / self.eta, z=y, clients=clients)
        x, _ = self.local(sub, state.x, key, None)
        x_i, y_i = scatter(state.x_i, clients, x), scatter(state.y_i, clients, y)
        return FedDRState(shared_regulariser(problem).prox(average(2 * x_i - y_i), self.eta), x_i, y_i)

    def fixed_point(self, problem: Problem, x_star: Array) -> FedDRState:
        return FedDRState(x_star, spread(x_star, problem.n), x_star + self.eta * problem.grad(x_star))


LISTED = (
    listing(
        "fedsplit",
        FedSplit,
        "Pathak and Wainwright 2020; FedPD, Table I",
        changes={"s": {"default": 0.1, "called": "eta"}},
    ),
    listing("feddr", FedDR, "Tran-Dinh et al. 2021, Algorithm 1", changes={"alpha": {"default": 0.5}}),
)
