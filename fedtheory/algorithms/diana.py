"""DIANA (Mishchenko et al. 2019) and FedPAQ (Reisizadeh et al. 2020): methods with unbiased compressors."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method, State, is_one_plain_step
from fedtheory.algorithms.compressing import ANY_UNBIASED, UNBIASED
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, spread
from fedtheory.core.hyperparameters import ConstantStep, Positive, Share
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.compression import Compressor, require_unbiased
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class DianaState:
    """Server model, and what gradients are compared with."""

    x: Array  # (..., 1, d)  server model
    h_i: Array  # (..., n, d)  control variates, known to client and server (which needs their mean only)


@dataclass(frozen=True)
class Diana(Method):
    """Compressed differences of gradients and control variates that learn them.

    D_i = C(grad f_i(x^r) - h_i),  x^{r+1} = x^r - lr mean_i (h_i + D_i),  h_i <- h_i + alpha D_i,  h_i = 0 at first.

    Without compression it is gradient descent. Guarantee (source, and Horvath et al. 2019; L-smooth, mu-strongly convex f_i,
    alpha <= 1/(1 + omega), lr small of the order 1/(L (1 + omega/n))): E[||x - x*||^2 + c lr^2 mean_i ||h_i - grad f_i(x*)||^2] shrinks by
    1 - min{lr mu, alpha/2} a round: to x* itself, where compressed gradients alone (h_i = 0) end in noise.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    alpha : number in (0, 1], array ``(*batch, 1, 1)`` or symbol
        Step size of the control variates, at most 1/(1 + omega) in theory.
    compressor : Compressor
        An unbiased one: `RandK`, or `Quantised`.

    Examples
    --------
    >>> trace = run(Diana(0.3, 0.4, RandK(0.4)), problem, x0, 1000)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "compressed"
    partial = False
    instead = "EF21"

    lr: ConstantStep
    alpha: Share
    compressor: Compressor

    def __post_init__(self) -> None:
        """Refuse biased compressors."""
        super().__post_init__()
        require_unbiased("DIANA", self.compressor)

    def init(self, problem: Problem, x0: Array) -> DianaState:
        return DianaState(x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: DianaState, clients: Clients | None, key: Key) -> DianaState:
        sent = self.compressor(problem.grad(state.x) - state.h_i, problem, key, None)
        x = state.x - self.lr * average(state.h_i + sent)
        return DianaState(x, state.h_i + self.alpha * sent)

    def traffic(self, key: Key, state: State) -> tuple[float, float]:
        return self.compressor.sends(state.x.shape[-1]), 1

    def fixed_point(self, problem: Problem, x_star: Array) -> DianaState:
        return DianaState(x_star, problem.grad(x_star))


@dataclass(frozen=True)
class FedPAQ(Method):
    """FedAvg with compressed moves: "periodic averaging and quantisation".

    y_i is K local steps from x^r,  x^{r+1} = x^r + server_lr mean_{active} C(y_i - x^r).

    Without compression it is FedAvg with a server step. Guarantee (source; equal distributions at the clients, step sizes
    that fall): O(1/T) for strongly convex, O(1/sqrt(T)) for non-convex objectives, the constants growing with omega. Where clients differ it has
    the bias of FedAvg, and constant steps leave the noise of compression, since moves do not vanish at x*.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    compressor : Compressor
        An unbiased one: `RandK`, or `Quantised`.
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server; 1 in the paper.

    Examples
    --------
    >>> trace = run(FedPAQ(GradientSteps(1, 0.1), Quantised(8)), problem, x0, 300)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0] / 100)
    True
    """

    family = "compressed"

    local: LocalSolver
    compressor: Compressor
    server_lr: Positive = 1

    def __post_init__(self) -> None:
        """Refuse biased compressors."""
        super().__post_init__()
        require_unbiased("FedPAQ", self.compressor)

    def init(self, problem: Problem, x0: Array) -> PointState:
        return PointState(x0)

    def round(self, problem: Problem, state: PointState, clients: Clients | None, key: Key) -> PointState:
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        sent = self.compressor(y - state.x, sub.f, key, clients)
        return PointState(state.x + self.server_lr * average(sent, clients))

    def traffic(self, key: Key, state: State) -> tuple[float, float]:
        return self.compressor.sends(state.x.shape[-1]), 1

    def fixed_point(self, problem: Problem, x_star: Array) -> PointState | None:
        """None with compression; without it, as FedAvg."""
        whole = self.compressor.omega(problem.d) == 0
        return PointState(x_star) if whole and is_one_plain_step(self.local) else None


_SENT = "self.compressor(problem.grad(state.x) - state.h_i, problem, key, None)"

MISTAKES = {
    Diana: (
        Mistake("control variates not added back", "average(state.h_i + sent)", "average(sent)"),
        Mistake(
            "control variates of after the round",
            "average(state.h_i + sent)",
            "average(state.h_i + self.alpha * sent + sent)",
        ),
        Mistake("alpha in the model's step", "average(state.h_i + sent)", "average(state.h_i + self.alpha * sent)"),
        Mistake("no alpha in the control variates", "state.h_i + self.alpha * sent)", "state.h_i + sent)"),
        Mistake("step size in the control variates", "self.alpha * sent)", "self.lr * self.alpha * sent)"),
        Mistake("control variates never updated", "state.h_i + self.alpha * sent)", "state.h_i)"),
        Mistake(
            "gradients compressed, not differences", _SENT, "self.compressor(problem.grad(state.x), problem, key, None)"
        ),
        Mistake("sum instead of mean", "average(state.h_i + sent)", "problem.n * average(state.h_i + sent)"),
    ),
    FedPAQ: (
        Mistake(
            "models compressed, not moves",
            "self.compressor(y - state.x, sub.f, key, clients)",
            "self.compressor(y, sub.f, key, clients) - state.x",
        ),
        NOT_RESET,
        HELD_GRADIENT,
        *list_average_mistakes("sent")[:2],
    ),
}

LISTED = (
    listing("diana", Diana, "Mishchenko, Gorbunov, Takac and Richtarik 2019", compressor=UNBIASED),
    listing(
        "diana-any",
        Diana,
        "Mishchenko, Gorbunov, Takac and Richtarik 2019: every unbiased compressor in worst cases, one that sends all or nothing in runs",
        compressor=ANY_UNBIASED,
    ),
    listing("fedpaq", FedPAQ, "Reisizadeh et al. 2020, Algorithm 1", compressor=UNBIASED),
)
