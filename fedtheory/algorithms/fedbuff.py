"""Asynchronous methods, a buffer of arrivals a round: FedBuff (Nguyen et al. 2022) and FedAsync (Xie, Koyejo and Gupta 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, Scalar, average, gather, namespace, scatter, spread
from fedtheory.core.hyperparameters import NotNegative, Positive, Share
from fedtheory.core.numbers import is_exactly
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class ArrivalsState:
    """Server model, and what every client is working from."""

    x: Array  # (..., 1, d)  server model
    x_i: Array  # (..., n, d)  the model that a client received last
    age: Array | None  # (..., n, 1)  rounds since then; None where nothing asks for it


def _weigh(power: Scalar, age: Array | None, clients: Clients | None) -> Array | int:
    """(1 + age)^(-power) of the active clients ``(..., m, 1)``."""
    return 1 if age is None else (1 + gather(age, clients)) ** (-power)


class _Asynchronous(Method):
    """What the two methods share. A round is a flush of the buffer: active clients are those that arrive, and then receive x^{r+1}."""

    family = "averaging"
    unweighted = "whoever arrives counts equally in its source, and in a buffer of one client the weight would cancel"

    local: LocalSolver
    power: NotNegative

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers: weights by age; None where all weigh the same."""
        return super().numeric_only if is_exactly(self.power, 0) else "it weighs updates by their ages, which it counts"

    def init(self, problem: Problem, x0: Array) -> ArrivalsState:
        age = None if is_exactly(self.power, 0) else spread(0 * x0[..., :1], problem.n)
        return ArrivalsState(x0, spread(x0, problem.n), age)

    def _arrive(self, state: ArrivalsState, clients: Clients | None, x: Array, m: int) -> ArrivalsState:
        """Give the new model to the m clients that arrived; the others grow older."""
        x_i = scatter(state.x_i, clients, spread(x, m))
        if state.age is None:
            return ArrivalsState(x, x_i, None)
        age = scatter(state.age + 1, clients, 0 * gather(state.age, clients))
        return ArrivalsState(x, x_i, namespace(x).broadcast_to(age, (*x.shape[:-2], *age.shape[-2:])))

    def fixed_point(self, problem: Problem, x_star: Array) -> ArrivalsState | None:
        """x* everywhere, with one local step."""
        return self.init(problem, x_star) if is_one_plain_step(self.local) else None


@dataclass(frozen=True)
class FedBuff(_Asynchronous):
    """FedAvg whose clients work from old models: the server moves when a buffer is full.

    The arriving clients S: y_i is K local steps from x_i, the model that client i received tau_i rounds ago;
    x^{r+1} = x^r + server_lr sum_{i in S} s_i (y_i - x_i) / |S|,  s_i = (1 + tau_i)^(-power);  x_i = x^{r+1} for i in S.

    Who arrives when is the participation: the size of the buffer is the number of active clients, and a schedule in which everybody
    comes once in D rounds at least bounds all delays by D - 1. With everyone in every round it is `FedAvg` with a server step.

    ``divide="weights"`` divides by sum_{i in S} s_i in the place of |S|, as some implementations do. In a buffer whose clients are equally
    old, any buffer of one client say, the weights cancel then, and nothing damps old moves: n clients with f_i = L x^2/2 that come in turn
    diverge for server_lr lr = 1/L and n >= 3, while division by |S| with power = 1 converges for every n. In the limit of small steps a client
    counts with the sum of what its moves are multiplied by: neither division is unbiased where clients come unequally often.

    Guarantee (source; smooth, bounded gradients and delays, arrivals uniform over clients, power = 0): a small mean
    ||grad f||^2 for small steps.

    Departures: the source's clients draw their samples when they receive the model, here when they arrive, which is the same in law.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server.
    power : number or array ``(*batch, 1, 1)``
        How fast weights fall with age; 0.5 in the source, 0 for equal weights.
    divide : "size" or "weights"
        By what the sum of the weighed moves is divided.

    Examples
    --------
    >>> in_turn = Schedule(lambda round: [round % 10])
    >>> trace = run(FedBuff(GradientSteps(1, 0.1), power=0), problem, x0, 3000, participation=in_turn)
    >>> print(trace["stationarity"][-1] < 1e-2)
    True
    """

    local: LocalSolver
    server_lr: Positive = 1
    power: NotNegative = 0.5
    divide: Literal["size", "weights"] = "size"

    def round(self, problem: Problem, state: ArrivalsState, clients: Clients | None, key: Key) -> ArrivalsState:
        start = gather(state.x_i, clients)
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, start, key, None)
        s = _weigh(self.power, state.age, clients)
        weighed = self.divide == "weights" and state.age is not None
        move = average(s * (y - start), clients) / (average(s, clients) if weighed else 1)
        return self._arrive(state, clients, state.x + self.server_lr * move, sub.f.n)


@dataclass(frozen=True)
class FedAsync(_Asynchronous):
    """The server mixes models that were trained from old ones into its own.

    The arriving clients S: y_i is local work from x_i, the model that client i received tau_i rounds ago, on f_i + (rho/2) ||. - x_i||^2;
    x^{r+1} = x^r + alpha mean_{i in S} s_i (y_i - x^r),  s_i = (1 + tau_i)^(-power);  x_i = x^{r+1} for i in S.

    The source has |S| = 1. What is mixed is the model y_i, not its move: an old model pulls the server back towards x_i, while
    `FedBuff` adds the move y_i - x_i. With everyone in every round it is FedAvg (rho = 0, alpha = 1) or FedProx.

    Guarantee (source; weakly convex, bounded delays): a small least expected ||grad f||^2 for small steps.

    Departures: a server that waits for more than one client averages what arrives.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    alpha : number in (0, 1] or array ``(*batch, 1, 1)``
        Weight of a fresh model in the mixture.
    power : number or array ``(*batch, 1, 1)``
        How fast weights fall with age (the polynomial s of the source); 0 for equal weights.
    rho : number or array ``(*batch, 1, 1)``
        Weight of the proximal term; 0 for none.

    Examples
    --------
    >>> in_turn = Schedule(lambda round: [round % 10])
    >>> trace = run(FedAsync(GradientSteps(1, 0.5), alpha=0.1), problem, x0, 300, participation=in_turn)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0])
    True
    """

    local: LocalSolver
    alpha: Share
    power: NotNegative = 0.5
    rho: NotNegative = 0

    def round(self, problem: Problem, state: ArrivalsState, clients: Clients | None, key: Key) -> ArrivalsState:
        start = gather(state.x_i, clients)
        rho = None if is_exactly(self.rho, 0) else self.rho
        sub = Subproblem(problem.take(clients), rho=rho, z=start, clients=clients)
        y, _ = self.local(sub, start, key, None)
        s = _weigh(self.power, state.age, clients)
        return self._arrive(state, clients, state.x + self.alpha * average(s * (y - state.x), clients), sub.f.n)


_MOVE = "average(s * (y - start), clients)"
_MIX = "average(s * (y - state.x), clients)"

#: of both
_OF_OLD_MODELS = (
    Mistake(
        "local work from the server's model",
        "start = gather(state.x_i, clients)",
        "start = state.x + 0 * gather(state.x_i, clients)",
    ),
    Mistake("ages not counted", "s = _weigh(self.power, state.age, clients)", "s = 1 + 0 * start[..., :1]"),
    Mistake("weights rise with age", "_weigh(self.power,", "_weigh(-self.power,"),
)

MISTAKES = {
    FedBuff: (
        Mistake("moves from the server's model", _MOVE, _MIX),
        *_OF_OLD_MODELS,
        *list_average_mistakes("s * (y - start)")[:2],
        Mistake(
            "all local gradients at the first point",
            "self.local(sub, start, key, None)",
            "self.local(replace(sub, f=hold_gradients(sub.f, start)), start, key, None)",
        ),
    ),
    FedAsync: (
        Mistake("moves from the old model, as in FedBuff", _MIX, _MOVE),
        *_OF_OLD_MODELS,
        *list_average_mistakes("s * (y - state.x)")[:2],
        Mistake("penalty around the server's model", "z=start", "z=state.x"),
    ),
}

LISTED = (
    listing(
        "fedbuff",
        FedBuff,
        "Nguyen et al. 2022, Algorithm 1; divided by the size of the buffer",
        divide="size",
        changes={"power": {"telling": 0.7}},
    ),
    listing(
        "fedbuff-weights",
        FedBuff,
        "Nguyen et al. 2022, divided by the sum of the weights, as some implementations do",
        divide="weights",
        changes={"power": {"telling": 0.7}},
    ),
    listing(
        "fedasync",
        FedAsync,
        "Xie, Koyejo and Gupta 2019, Algorithm 1",
        changes={"rho": {"default": 0}, "power": {"telling": 0.7}},
    ),
)
