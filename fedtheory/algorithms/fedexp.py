"""FedExP (Jhunjhunwala, Wang and Joshi 2023, Algorithm 1): the server goes further where the clients' moves disagree."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, clamp, squared_norm
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True)
class FedExP(Method):
    """FedAvg with a server step that is read off the moves.

    y_i is K local steps from x^r,  D_i = x^r - y_i,  D = mean_{active} D_i,
    eta = max{1, mean_{active} ||D_i||^2 / (2 (||D||^2 + epsilon))},  x^{r+1} = x^r - eta D.

    The step is that of extrapolated parallel projections, halved. eta = 1 is `FedAvg`: always where clients are equal, or where epsilon
    is large. Guarantee (source; convex, over-parametrised, full participation): as for FedAvg with steps of 1/(6 K L), with
    sum_r eta_r in the place of the number of rounds; it speaks of an average of the models.

    Departures: what the source hands out at the end is the mean of the last two models, since eta makes them oscillate; here x is the
    model of the round.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    epsilon : number or array ``(*batch, 1, 1)``
        Keeps eta bounded; it has the unit of a squared length. The source tunes it; 0.001 is its usual value.

    Examples
    --------
    >>> exp, plain = (run(method(GradientSteps(2, 0.1)), problem, x0, 20) for method in (FedExP, FedAvg))
    >>> print(exp["stationarity"][-1] < plain["stationarity"][-1])
    True
    """

    family = "averaging"

    local: LocalSolver
    epsilon: Positive = 0.001

    @property
    def numeric_only(self) -> str:
        """Why it needs numbers."""
        return "its server's step is the larger of two numbers, one of them a quotient of norms"

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        moves = state.x - y
        mean = average(moves, clients)
        spread_of_moves = average(squared_norm(moves)[..., None], clients)
        eta = clamp(spread_of_moves / (2 * (squared_norm(mean)[..., None] + self.epsilon)), low=1.0)
        return PointState(state.x - eta * mean)

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """x* is kept only with one local step."""
        return PointState(x_star) if is_one_plain_step(self.local) else None


_ETA = "clamp(spread_of_moves / (2 * (squared_norm(mean)[..., None] + self.epsilon)), low=1.0)"

MISTAKES = {
    FedExP: (
        Mistake("no factor 2", _ETA, _ETA.replace("2 * ", "")),
        Mistake(
            "step not held above 1", _ETA, "spread_of_moves / (2 * (squared_norm(mean)[..., None] + self.epsilon))"
        ),
        Mistake("no extrapolation", "eta * mean", "mean"),
        Mistake(
            "sum of the norms in place of their mean", "spread_of_moves / ", "moves.shape[-2] * spread_of_moves / "
        ),
        NOT_RESET,
        HELD_GRADIENT,
        *list_average_mistakes("moves"),
    ),
}

LISTED = (listing("fedexp", FedExP, "Jhunjhunwala, Wang and Joshi 2023, Algorithm 1"),)
