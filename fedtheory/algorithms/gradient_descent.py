"""Gradient descent and Nesterov's accelerated gradient on the average objective, as baselines."""

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
class PointState:
    """The server's model alone."""

    x: Array  # (..., 1, d)


@dataclass(frozen=True)
class GradientDescent(Method):
    """x^{r+1} = x^r - lr grad f(x^r).

    Guarantee: for L-smooth, mu-strongly convex f and lr <= 1/L, ||x^r - x*|| <= (1 - lr mu)^r ||x^0 - x*||.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.

    Examples
    --------
    >>> trace = run(GradientDescent(lr=1.0), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "control"
    partial = False
    instead = "FedAvg with one local step"

    lr: ConstantStep

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        return PointState(state.x - self.lr * gradient(problem, state.x))

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState:
        return PointState(x_star)


@dataclass(frozen=True, slots=True, eq=False)
class AcceleratedState:
    """Two successive points of the accelerated method."""

    x: Array  # (..., 1, d)  x^r
    y: Array  # (..., 1, d)  extrapolated point


@dataclass(frozen=True)
class AcceleratedGradient(Method):
    """x^{r+1} = y^r - lr grad f(y^r),  y^{r+1} = x^{r+1} + beta_r (x^{r+1} - x^r).

    beta_r is ``momentum``, or r/(r+3) when that is None (convex case). Source: Nesterov 2004, Section 2.2.
    Guarantee: with lr = 1/L, f(x^r) - f* <= 2 L ||x^0 - x*||^2 / (r+1)^2 for r/(r+3); with
    momentum (sqrt(L) - sqrt(mu)) / (sqrt(L) + sqrt(mu)) the factor is 1 - sqrt(mu/L) a round.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    momentum : the same, or None
        Weight of the extrapolation [default: r/(r+3) in round r].

    Examples
    --------
    >>> trace = run(AcceleratedGradient(lr=1.0), problem, x0, 400)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "control"
    partial = False
    instead = "FedAvg with one local step"

    lr: ConstantStep
    momentum: Scalar | None = None

    def init(self, problem: Problem, x0: Array) -> AcceleratedState:
        return AcceleratedState(x0, x0)

    def round(self, problem: Problem, state: AcceleratedState, clients: Clients | None, key: Key) -> AcceleratedState:
        x = state.y - self.lr * gradient(problem, state.y)
        moved = x - state.x
        # multiplied before it is divided, so that fractions stay fractions
        ahead = moved * key.round / (key.round + 3) if self.momentum is None else self.momentum * moved
        return AcceleratedState(x, x + ahead)

    def fixed_point(self, problem: Problem, x_star: Array) -> AcceleratedState:
        return AcceleratedState(x_star, x_star)


LISTED = (
    listing("gd", GradientDescent, "Nesterov 2004"),
    listing("agd", AcceleratedGradient, "Nesterov 2004, Section 2.2", momentum=None),
)
