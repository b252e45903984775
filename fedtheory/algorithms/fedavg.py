"""FedAvg (McMahan et al. 2017; FedPD, Algorithm 1), with SAM's gradient FedSAM, and FedProx (Li et al. 2020; FedPD, Section IV-C)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import BATCH, LR, LR_DECAY, SAM, STEPS, make_step_size
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, WRONG_ASCENT, Mistake, list_average_mistakes
from fedtheory.algorithms.options import BuiltField
from fedtheory.core.arrays import Array, average
from fedtheory.core.hyperparameters import NotNegative
from fedtheory.core.numbers import is_exactly
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.stochastic import VarianceReduced
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedAvg(Method):
    """Clients descend on their own objective from the server's model; the server averages.

    x_i^{r,0} = x^r,  x_i^{r,q+1} = x_i^{r,q} - lr g_i(x_i^{r,q}),  x^{r+1} = mean_i x_i^{r,K}.

    Guarantee: none without a bound on the clients' heterogeneity (FedPD, Claim II.2). With K > 1 and a constant
    step the fixed point is biased; on quadratics it is where sum_i (I - (I - lr A_i)^K)(x - x_i*) = 0.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps` for FedAvg-GD, `StochasticSteps` for FedAvg-SGD, `fedtheory.local.sam.SamSteps` for FedSAM.

    Examples
    --------
    >>> trace = run(FedAvg(GradientSteps(4, 0.5)), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)  # local steps bias it
    False
    """

    family = "averaging"

    local: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        sub = Subproblem(problem.take(clients), clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        return PointState(average(x_i, clients))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local step."""
        return PointState(x_star) if is_one_plain_step(self.local) else None


@dataclass(frozen=True)
class FedProx(Method):
    """FedAvg with a proximal term: the client minimises f_i(x) + (rho/2) ||x - x^r||^2.

    x_i = argmin f_i + (rho/2) ||. - x^r||^2 (or local steps towards it),  x^{r+1} = mean_i x_i.

    Guarantee: with exact solves the fixed point on quadratics is where
    sum_i A_i (A_i + rho I)^{-1} (A_i x - b_i) rho = 0, which is not the minimiser of f unless the curvatures agree.

    Parameters
    ----------
    rho : number, array ``(*batch, 1, 1)`` or symbol
        Weight of the proximal term; 0 gives FedAvg.
    local : LocalSolver
        `Exact`, `GradientSteps` (FedProx-GD), `StochasticSteps` (FedProx-SGD), `VarianceReduced` (FedProx-VR).

    Examples
    --------
    >>> trace = run(FedProx(rho=1.0), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)  # its limit is not the minimiser
    False
    """

    family = "averaging"

    rho: NotNegative
    local: LocalSolver = Exact()

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        rho = None if is_exactly(self.rho, 0) else self.rho
        sub = Subproblem(problem.take(clients), rho=rho, z=state.x, clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        return PointState(average(x_i, clients))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local gradient step."""
        return PointState(x_star) if is_one_plain_step(self.local) else None


_AVERAGES = list_average_mistakes("x_i", absent="state.x")

MISTAKES = {
    FedAvg: (NOT_RESET, HELD_GRADIENT, *WRONG_ASCENT, *_AVERAGES),
    FedProx: (
        NOT_RESET,
        HELD_GRADIENT,
        *_AVERAGES,
        Mistake("proximal sign", "rho=rho", "rho=-rho"),
    ),
}

_SARAH = BuiltField(
    (LR, STEPS, BATCH, LR_DECAY),
    lambda lr, steps, batch, lr_decay: VarianceReduced(steps, make_step_size(lr, lr_decay), batch),
)

LISTED = (
    listing("fedavg", FedAvg, "McMahan et al. 2017; FedPD, Algorithm 1"),
    listing("fedsam", FedAvg, "Qu et al. 2022, Algorithm 1; A-FedPD, Table 3", local=SAM),
    listing("fedprox", FedProx, "Li et al. 2020; FedPD, Section IV-C"),
    listing("fedprox-vr", FedProx, "FedPD, Section IV-C: FedProx with SARAH", local=_SARAH),
)
