"""FedLin (Mitra et al. 2021): local steps corrected by the exact average gradient."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, average
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedLin(Method):
    """y <- y - lr (g_i(y) - grad f_i(x^r) + mean_j grad f_j(x^r)),  K_i steps from x^r;  x^{r+1} = mean_i y_i.

    Guarantee: x* is a fixed point whatever the numbers of steps; linear convergence on strongly convex problems.

    Source: Mitra et al. 2021, Algorithm 1; DualFL, Section 1. Departures: the original lets the step sizes differ from client to
    client; here the numbers of steps may (`GradientSteps`). It also has variants that sparsify the gradients at clients or server, with error
    feedback; here gradients are exchanged in full, which is the original without compression.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`; `StochasticSteps` for the noisy variant.

    Examples
    --------
    >>> trace = run(FedLin(GradientSteps(4, 0.5)), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"
    sends = 2, 2  # gradient and model, both ways
    partial = False
    instead = "Scaffold"

    local: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        g_i = problem.grad(state.x)
        y, _ = self.local(Subproblem(problem, a=average(g_i) - g_i), state.x, key, None)
        return PointState(average(y))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState:
        return PointState(x_star)


LISTED = (listing("fedlin", FedLin, "Mitra et al. 2021, Algorithm 1; DualFL, Section 1"),)
