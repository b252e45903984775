"""FedAvg with the clients' numbers of samples as weights (McMahan et al. 2017, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, average_weighted
from fedtheory.core.arrays import Array
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.stochastic import count_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class WeightedFedAvg(Method):
    """Clients descend on their own objective from the server's model; the server averages, larger clients counting more.

    x_i^{r,0} = x^r,  x_i^{r,q+1} = x_i^{r,q} - lr g_i(x_i^{r,q}),  q < K_i;
    x^{r+1} = sum_{active} K_i x_i^{r,K_i} / sum_{active} K_i.

    With one number of steps for all it is `FedAvg`, whose weights are equal.

    Departure: the original's weights are n_i / n, the shares of the samples. There a client passes E times through its n_i samples in
    minibatches of B, so that K_i = E n_i / B, and the shares of the steps are these; here the numbers of steps alone are known.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps`, or `Epochs`, with as many steps a client as its passes have minibatches.

    Examples
    --------
    >>> steps = np.array([1, 3, 1, 3, 1, 3, 1, 3, 1, 3])
    >>> weighted, plain = (run(kind(GradientSteps(steps, 0.1)), problem, x0, 1) for kind in (WeightedFedAvg, FedAvg))
    >>> print(np.allclose(weighted.state.x, plain.state.x))  # clients with three steps count three times
    False
    """

    family = "averaging"
    unweighted = "its own weights are the clients' numbers of steps; FedAvg takes the problem's weights"

    local: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        sub = Subproblem(problem.take(clients), clients=clients)
        x_i, _ = self.local(sub, state.x, key, None)
        samples: Any = count_steps(self.local, problem)  # in units of B / E
        return PointState(average_weighted(x_i, samples, clients))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local step."""
        return PointState(x_star) if is_one_plain_step(self.local) else None


_EACH = "np.broadcast_to(samples, problem.n)"
_SERVER = "average_weighted(x_i, samples, clients)"

MISTAKES = {
    WeightedFedAvg: (
        NOT_RESET,
        HELD_GRADIENT,
        Mistake(
            "clients not weighed by their samples",
            _SERVER,
            "average(x_i, clients)",
            seen="https://github.com/SMILELab-FL/FedLab/issues/305",
        ),
        Mistake(
            "weights are shares of all samples, not of the active clients'",
            _SERVER,
            f"{_SERVER} * np.mean({_EACH}[slice(None) if clients is None else clients.index]) * x_i.shape[-2] / np.sum({_EACH})",
        ),
    ),
}

LISTED = (
    listing("fedavg-weighted", WeightedFedAvg, "McMahan et al. 2017, Algorithm 1: weights are shares of the samples"),
)
