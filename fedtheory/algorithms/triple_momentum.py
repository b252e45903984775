"""Gradient steps with momentum, taken ahead of it: gradient descent, the heavy ball, Nesterov's method and triple momentum are cases of it."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, Scalar
from fedtheory.core.hyperparameters import ConstantStep
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, gradient
from fedtheory.core.randomness import Key


@dataclass(frozen=True, slots=True, eq=False)
class AheadState:
    """The point at which the next gradient is taken, and two successive points of the momentum."""

    x: Array  # (..., 1, d)  v^r + ahead (v^r - v^{r-1})
    v: Array  # (..., 1, d)  v^r
    before: Array  # (..., 1, d)  v^{r-1}


@dataclass(frozen=True)
class TripleMomentum(Method):
    """v^{r+1} = v^r + momentum (v^r - v^{r-1}) - lr grad f(x^r),  x^{r+1} = v^{r+1} + ahead (v^{r+1} - v^r).

    momentum = ahead = 0 is gradient descent, ahead = 0 the heavy ball, ahead = momentum Nesterov's method with constant momentum. With
    q = 1 - sqrt(mu/L), lr = (1 + q)/L, momentum = q^2/(2 - q) and ahead = q^2/((1 + q)(2 - q)) it is the triple momentum method.
    Guarantee: with these three the factor of the squared error is (1 - sqrt(mu/L))^2 a round.
    Departures: the server's model is x^r, where gradients are taken; the source also has an output beside it.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    momentum : the same
        Weight of the last move.
    ahead : the same
        How far ahead of v^r gradients are taken, in units of the last move.

    Examples
    --------
    >>> trace = run(TripleMomentum(lr=1.0, momentum=0.3, ahead=0.3), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "control"
    partial = False
    instead = "FedAvg with one local step"

    lr: ConstantStep
    momentum: Scalar = 0
    ahead: Scalar = 0

    def init(self, problem: Problem, x0: Array) -> AheadState:
        return AheadState(x0, x0, x0)

    def round(self, problem: Problem, state: AheadState, clients: Clients | None, key: Key) -> AheadState:
        v = state.v + self.momentum * (state.v - state.before) - self.lr * gradient(problem, state.x)
        return AheadState(v + self.ahead * (v - state.v), v, state.v)

    def fixed_point(self, problem: Problem, x_star: Array) -> AheadState:
        return AheadState(x_star, x_star, x_star)


LISTED = (
    listing(
        "triple-momentum",
        TripleMomentum,
        "Van Scoy, Freeman and Lynch 2018",
        changes={"ahead": {"telling": 0.2}},
    ),
)
