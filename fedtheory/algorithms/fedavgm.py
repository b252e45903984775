"""FedAvgM (Hsu, Qi and Brown 2019): FedAvg whose server moves with momentum."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average
from fedtheory.core.hyperparameters import Momentum, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class MomentumState:
    """Server model and velocity."""

    x: Array  # (..., 1, d)  server model
    v: Array  # (..., 1, d)  velocity: the mean moves of all rounds so far, older ones counting less


@dataclass(frozen=True)
class FedAvgM(Method):
    """FedAvg with heavy-ball momentum at the server.

    y_i is K local steps from x^r,  v^{r+1} = momentum v^r + mean_{active}(x^r - y_i),  x^{r+1} = x^r - server_lr v^{r+1},  v^0 = 0.

    Relations: momentum = 0 and server_lr = 1 is `FedAvg`. One full local step with everyone is the heavy-ball method,
    x^{r+1} = x^r - server_lr lr grad f(x^r) + momentum (x^r - x^{r-1}).

    Guarantee: none of its own in the source, which compares it with FedAvg in experiments. As for FedAvg, more than one local step of
    constant size biases the limit: momentum does not move fixed points.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    momentum : number in [0, 1), array ``(*batch, 1, 1)`` or symbol
        Share of the velocity that stays (beta in the paper).
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server along the velocity; 1 in the paper.

    Examples
    --------
    >>> trace = run(FedAvgM(GradientSteps(1, 0.5), momentum=0.5), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"

    local: LocalSolver
    momentum: Momentum = 0.9
    server_lr: Positive = 1

    def init(self, problem: Problem, x0: Array) -> MomentumState:
        return MomentumState(x0, 0 * x0)

    def round(self, problem: Problem, state: MomentumState, clients: Clients | None, key: Key) -> MomentumState:
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        v = self.momentum * state.v + average(state.x - y, clients)
        return MomentumState(state.x - self.server_lr * v, v)

    def fixed_point(self, problem: Problem, x_star: Array) -> MomentumState | None:
        """x* at rest is kept only with one local step."""
        return MomentumState(x_star, 0 * x_star) if is_one_plain_step(self.local) else None


_AVERAGE = "average(state.x - y, clients)"

MISTAKES = {
    FedAvgM: (
        Mistake("velocity is a running mean", _AVERAGE, f"(1 - self.momentum) * {_AVERAGE}"),
        Mistake("server moves along the old velocity", "self.server_lr * v, v)", "self.server_lr * state.v, v)"),
        Mistake(
            "Nesterov's momentum",
            "self.server_lr * v, v)",
            f"self.server_lr * (self.momentum * v + {_AVERAGE}), v)",
        ),
        Mistake("velocity never kept", "self.server_lr * v, v)", "self.server_lr * v, state.v)"),
        Mistake("sign of the velocity", "self.momentum * state.v", "-self.momentum * state.v"),
        Mistake(
            "server step in the velocity that is kept",
            "self.server_lr * v, v)",
            "self.server_lr * v, self.server_lr * v)",
        ),
        NOT_RESET,
        HELD_GRADIENT,
        *list_average_mistakes("state.x - y"),
    ),
}

LISTED = (listing("fedavgm", FedAvgM, "Hsu, Qi and Brown 2019"),)
