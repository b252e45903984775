"""FedAvg (McMahan et al. 2017; FedPD, Algorithm 1), with SAM's gradient FedSAM, and FedProx (Li et al. 2020; FedPD, Section IV-C)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Listed, State, one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.settings import LOCAL
from fedtheory.core.arrays import Array, Scalar, average
from fedtheory.core.hyperparameters import positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.stochastic import VarianceReduced
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedAvg:
    """Clients descend on their own objective from the server's model; the server averages.

    x_i^{r,0} = x^r,  x_i^{r,q+1} = x_i^{r,q} - lr g_i(x_i^{r,q}),  x^{r+1} = mean_i x_i^{r,K}.

    Guarantee: none without a bound on the clients' heterogeneity (FedPD, Claim II.2). With K > 1 and a constant
    step the fixed point is biased; on quadratics it is where sum_i (I - (I - lr A_i)^K)(x - x_i*) = 0.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps` for FedAvg-GD, `StochasticSteps` for FedAvg-SGD, `fedtheory.local.sam.SamSteps` for FedSAM.
    """

    local: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PointState:
        """Start at x0."""
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        """Local work from the server's model, then the average."""
        sub = Subproblem(problem.take(clients), clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        return PointState(average(x_i, clients))

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Model up, model down."""
        return 1, 1

    def solution_state(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local step."""
        return PointState(x_star) if one_plain_step(self.local) else None


@dataclass(frozen=True)
class FedProx:
    """FedAvg with a proximal term: the client minimises f_i(x) + (rho/2) ||x - x^r||^2.

    x_i = argmin f_i + (rho/2) ||. - x^r||^2 (or local steps towards it),  x^{r+1} = mean_i x_i.

    Guarantee: with exact solves the fixed point on quadratics is where
    sum_i A_i (A_i + rho I)^{-1} (A_i x - b_i) rho = 0, which is not the minimiser of f unless the curvatures agree.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Penalty; 0 gives FedAvg.
    local : LocalSolver
        `Exact`, `GradientSteps` (FedProx-GD), `StochasticSteps` (FedProx-SGD), `VarianceReduced` (FedProx-VR).
    """

    rho: Scalar
    local: LocalSolver = Exact()

    def __post_init__(self) -> None:
        """Refuse a negative penalty."""
        if not (isinstance(self.rho, int | float) and self.rho == 0):
            positive(self, "rho")

    def init(self, problem: Problem, x0: Array) -> PointState:
        """Start at x0."""
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        """Proximal local work around the server's model, then the average."""
        rho = None if isinstance(self.rho, int | float) and self.rho == 0 else self.rho
        sub = Subproblem(problem.take(clients), rho=rho, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        return PointState(average(x_i, clients))

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Model up, model down."""
        return 1, 1

    def solution_state(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local gradient step."""
        return PointState(x_star) if one_plain_step(self.local) else None


LISTED = (
    Listed(
        "fedavg",
        "averaging",
        "McMahan et al. 2017; FedPD, Algorithm 1",
        lambda s: FedAvg(s.local()),
        LOCAL,
        True,
    ),
    Listed(
        "fedsam",
        "averaging",
        "Qu et al. 2022, Algorithm 1; A-FedPD, Table 3",
        lambda s: FedAvg(s.sam()),
        (*LOCAL, "radius", "sam_epsilon"),
        True,
    ),
    Listed(
        "fedprox",
        "averaging",
        "Li et al. 2020; FedPD, Section IV-C",
        lambda s: FedProx(s.rho, s.local()),
        ("rho", *LOCAL, "exact"),
        True,
    ),
    Listed(
        "fedprox-vr",
        "averaging",
        "FedPD, Section IV-C: FedProx with SARAH",
        lambda s: FedProx(s.rho, VarianceReduced(s.steps, s.step, s.batch)),
        ("rho", "lr", "lr_decay", "steps", "batch"),
        True,
    ),
)
