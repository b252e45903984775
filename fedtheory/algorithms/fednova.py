"""FedNova (Wang et al. 2020): clients with unequal numbers of local steps count equally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, gather, is_array, like, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import GradientSteps, LocalSolver
from fedtheory.local.stochastic import Epochs, StochasticSteps, count_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedNova(Method):
    """FedAvg with moves that are divided by their numbers of local steps, and scaled back together.

    y_i is tau_i local steps from x^r,  d_i = (y_i - x^r) / tau_i,  tau = mean_{active} tau_i,
    x^{r+1} = x^r + server_lr tau mean_{active} d_i.

    FedAvg with unequal numbers of steps tends, for small steps, to a stationary point of sum_i tau_i f_i, not of sum_i f_i: clients
    with more steps count more. Here they count equally (the source has the weights that any local optimiser gives). What stays is the bias of
    more than one local step, which vanishes with the step size. Equal numbers of steps give `FedAvg`.

    The means are by the clients' weights where the problem has some, as in the source.

    Departures: local steps are plain (the source also treats momentum and a proximal term, whose normaliser is another number than tau_i).

    Parameters
    ----------
    local : GradientSteps, StochasticSteps, Epochs or SamSteps
        ``local.steps`` is one number or one a client, the tau_i.
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server on the scaled mean move; 1 in the paper.

    Examples
    --------
    >>> steps = np.array([1, 9, 1, 9, 1, 9, 1, 9, 1, 9])
    >>> nova, plain = (run(kind(GradientSteps(steps, 0.05)), problem, x0, 300) for kind in (FedNova, FedAvg))
    >>> print(nova["stationarity"][-1] < plain["stationarity"][-1] / 10)
    True
    """

    family = "averaging"

    local: LocalSolver
    server_lr: Positive = 1

    def __post_init__(self) -> None:
        """Refuse local solvers without a number of steps."""
        super().__post_init__()
        if not isinstance(self.local, GradientSteps | StochasticSteps | Epochs | SamSteps):
            raise InvalidInput(
                "FedNova divides by the number of local steps, so it needs GradientSteps, StochasticSteps, Epochs or SamSteps, "
                f"got {self.local}"
            )

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        tau = self._steps(sub, y)
        d = (y - state.x) / tau
        effective = average(tau, clients) if is_array(tau) else tau
        return PointState(state.x + self.server_lr * effective * average(d, clients))

    def _steps(self, sub: Subproblem, y: Array) -> Any:
        """The number of local steps, or the active clients' own numbers ``(m, 1)``."""
        steps = count_steps(self.local, sub.f)
        return like(gather(to_numpy(steps).astype(float)[:, None], sub.clients), y) if is_array(steps) else steps

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local step."""
        return PointState(x_star) if is_one_plain_step(self.local) else None


_EFFECTIVE = "effective = average(tau, clients) if is_array(tau) else tau"
_MOVES = "d = (y - state.x) / tau"

MISTAKES = {
    FedNova: (
        Mistake("moves not divided by their steps", f"{_MOVES}\n        {_EFFECTIVE}", "d, effective = y - state.x, 1"),
        Mistake("moves not scaled back", _EFFECTIVE, "effective = 1"),
        Mistake(
            "scaled back by the largest number of steps",
            _EFFECTIVE,
            "effective = np.max(count_steps(self.local, sub.f))",
        ),
        Mistake(
            "scaled back by the mean over all clients",
            _EFFECTIVE,
            "effective = np.mean(count_steps(self.local, sub.f))",
        ),
        Mistake("multiplied by the steps in place of divided", _MOVES, "d = (y - state.x) * tau"),
        NOT_RESET,
        HELD_GRADIENT,
        # weighed by their steps the moves are those that are not divided
        *list_average_mistakes("d")[:2],
    ),
}

LISTED = (listing("fednova", FedNova, "Wang, Liu, Liang, Joshi and Poor 2020"),)
