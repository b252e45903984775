"""FedAdagrad, FedYogi and FedAdam (Reddi et al. 2021, Algorithm 2): an adaptive optimiser at the server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, namespace
from fedtheory.core.hyperparameters import Momentum, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class MomentsState:
    """Server model, and running moments of the mean moves."""

    x: Array  # (..., 1, d)  server model
    m: Array  # (..., 1, d)  first moment
    v: Array  # (..., 1, d)  second moment, coordinate by coordinate


@dataclass(frozen=True)
class FedOpt(Method):
    """FedAvg whose mean move is handed to an optimiser as if it were a negative gradient.

    y_i is K local steps from x^r,  D = mean_{active}(y_i - x^r),  m <- beta1 m + (1 - beta1) D,
    v <- v + D^2 (``"adagrad"``),  v - (1 - beta2) D^2 sign(v - D^2) (``"yogi"``),  beta2 v + (1 - beta2) D^2 (``"adam"``),
    x^{r+1} = x^r + server_lr m / (sqrt(v) + tau),  squares, roots and quotients coordinate by coordinate; m = 0 and v = tau^2 at first.

    There is no correction of the moments for their start. Guarantee (source, for Adagrad and Adam; bounded gradients and variances, small
    local steps, everyone): O(1/sqrt(n K T)) for the least expected ||grad f||^2 over T rounds, with beta1 = 0.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    rule : "adagrad", "yogi" or "adam"
        How the second moment moves.
    server_lr : number or array ``(*batch, 1, 1)``
        Step size of the server.
    beta1 : number in [0, 1) or array ``(*batch, 1, 1)``
        Share of the first moment that stays.
    beta2 : number in [0, 1) or array ``(*batch, 1, 1)``
        Share of the second moment that stays.
    tau : number or array ``(*batch, 1, 1)``
        How adaptive it is, the less the larger; it has the unit of a length.

    Examples
    --------
    >>> trace = run(FedOpt(GradientSteps(1, 0.5), "adagrad", server_lr=0.5), problem, x0, 500)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"

    local: LocalSolver
    rule: Literal["adagrad", "yogi", "adam"]
    server_lr: Positive = 0.1
    beta1: Momentum = 0.9
    beta2: Momentum = 0.99
    tau: Positive = 0.001

    @property
    def numeric_only(self) -> str:
        """Why it needs numbers."""
        return "its server divides coordinates by square roots of their squares"

    def init(self, problem: Problem, x0: Array) -> MomentsState:
        return MomentsState(x0, 0 * x0, self.tau**2 + 0 * x0)

    def round(self, problem: Problem, state: MomentsState, clients: Clients | None, key: Key) -> MomentsState:
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        move = average(y - state.x, clients)
        m = self.beta1 * state.m + (1 - self.beta1) * move
        v = self._second_moment(state.v, move**2)
        x = state.x + self.server_lr * m / (namespace(v).sqrt(v) + self.tau)
        return MomentsState(x, m, v)

    def _second_moment(self, v: Array, square: Array) -> Array:
        if self.rule == "adagrad":
            return v + square
        if self.rule == "yogi":
            return v - (1 - self.beta2) * square * namespace(v).sign(v - square)
        return self.beta2 * v + (1 - self.beta2) * square

    def fixed_point(self, problem: Problem, x_star: Array) -> MomentsState | None:
        """None: the second moment goes on moving where nothing else does, but for Adagrad's."""
        if self.rule != "adagrad" or not is_one_plain_step(self.local):
            return None
        return MomentsState(x_star, 0 * x_star, self.tau**2 + 0 * x_star)


_STEP = "m / (namespace(v).sqrt(v) + self.tau)"
_FIRST = "(1 - self.beta1) * move"

MISTAKES = {
    FedOpt: (
        Mistake("tau inside the root", _STEP, "m / namespace(v).sqrt(v + self.tau)"),
        Mistake("no tau", _STEP, "m / namespace(v).sqrt(v)"),
        Mistake("no root", _STEP, "m / (v + self.tau)"),
        Mistake(
            "second moment starts at zero",
            "self.tau**2 + 0 * x0",
            "0 * x0",
            seen="https://github.com/adap/flower/blob/18638bc758665120e91e6f3071e65367da83b297/src/py/flwr/server/strategy/fedadam.py",
        ),
        Mistake("first moment not damped", _FIRST, "move", needs="beta2"),
        Mistake("step along the move in place of its moment", _STEP, _STEP.replace("m /", "move /"), needs="beta2"),
        Mistake(
            "root of the second moment of before the round",
            _STEP,
            _STEP.replace("(v)", "(state.v)").replace("sqrt(v)", "sqrt(state.v)"),
        ),
        Mistake("norm in place of coordinates", "move**2)", "(move**2).sum(-1, keepdims=True) + 0 * move)"),
        Mistake(
            "moments corrected for their start, as Adam's are",
            _STEP,
            "(m / (1 - self.beta1 ** (key.round + 1))) / (namespace(v).sqrt(v / (1 - self.beta2 ** (key.round + 1))) + self.tau)",
            needs="beta2",
        ),
        NOT_RESET,
        HELD_GRADIENT,
        *list_average_mistakes("y - state.x"),
    ),
}

_SOURCE = "Reddi et al. 2021, Algorithm 2"
_CALLED: dict[str, dict[str, Any]] = {
    "beta1": {"called": "momentum"},
    "beta2": {"telling": 0.95},
    "tau": {"telling": 0.05},
}

LISTED = (
    listing(
        "fedadagrad",
        FedOpt,
        _SOURCE,
        rule="adagrad",
        beta2=FedOpt.beta2,  # which its sum does not use
        changes=_CALLED | {"beta1": {"called": "momentum", "default": 0}},
    ),
    listing("fedadam", FedOpt, _SOURCE, rule="adam", changes=_CALLED),
    listing("fedyogi", FedOpt, _SOURCE, rule="yogi", changes=_CALLED),
)
