"""Methods with contractive compressors: error feedback (Stich and Karimireddy 2020) and EF21 (Richtarik, Sokolov and Fatkhullin 2021)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method, State, is_one_plain_step
from fedtheory.algorithms.compressing import ANY_CONTRACTIVE, CONTRACTIVE
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.hyperparameters import ConstantStep
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.compression import Compressor, require_contractive
from fedtheory.local.solvers import LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class ErrorState:
    """Server model, and what clients have not sent yet."""

    x: Array  # (..., 1, d)  server model
    e_i: Array  # (..., n, d)  errors of compression, added up


@dataclass(frozen=True)
class ErrorFeedback(Method):
    """FedAvg with compressed moves; what compression leaves out is sent later.

    y_i is K local steps from x^r,  p_i = e_i + x^r - y_i,  x^{r+1} = x^r - mean_{active} C(p_i),  e_i <- p_i - C(p_i),  e_i = 0 at first.

    With one local step it is error feedback (EF-SGD). Without compression it is `FedAvg`. x^r - mean_i e_i moves as the model of FedAvg does,
    with gradients at the x^r (everyone). Guarantee (source; one step, smooth, non-convex): as SGD, up to terms of higher order
    in the step, which grow with the gradients' size at the solution where clients differ: constant steps do not reach it (`EF21` does).

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps`, `StochasticSteps` or any other.
    compressor : Compressor
        A contractive one: `TopK`, or `RandK` without scaling.

    Examples
    --------
    >>> trace = run(ErrorFeedback(GradientSteps(1, 0.1), TopK(0.4)), problem, x0, 500)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0] / 100)
    True
    """

    family = "compressed"

    local: LocalSolver
    compressor: Compressor

    def __post_init__(self) -> None:
        """Refuse compressors that are not contractive."""
        super().__post_init__()
        require_contractive("error feedback", self.compressor)

    def init(self, problem: Problem, x0: Array) -> ErrorState:
        return ErrorState(x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: ErrorState, clients: Clients | None, key: Key) -> ErrorState:
        sub = Subproblem(problem.take(clients), clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        p = gather(state.e_i, clients) + state.x - y
        sent = self.compressor(p, sub.f, key, clients)
        return ErrorState(state.x - average(sent, clients), scatter(state.e_i, clients, p - sent))

    def traffic(self, key: Key, state: State) -> tuple[float, float]:
        return self.compressor.sends(state.x.shape[-1]), 1

    def fixed_point(self, problem: Problem, x_star: Array) -> ErrorState | None:
        """None with compression; without it, as FedAvg."""
        whole = self.compressor.omega(problem.d) == 0
        return self.init(problem, x_star) if whole and is_one_plain_step(self.local) else None


@dataclass(frozen=True, slots=True, eq=False)
class EF21State:
    """Server model, and the clients' gradients as the server knows them."""

    x: Array  # (..., 1, d)  server model
    g_i: Array  # (..., n, d)  estimates of grad f_i(x), known to client and server


@dataclass(frozen=True)
class EF21(Method):
    """Compressed changes of gradients: the error of compression vanishes with the changes.

    x^{r+1} = x^r - lr mean_{all i} g_i^r,  g_i^{r+1} = g_i^r + C(grad f_i(x^{r+1}) - g_i^r) for active clients,  g_i^0 = grad f_i(x^0).

    Without compression it is gradient descent. Guarantee (source; f_i L_i-smooth, everyone, theta = 1 - sqrt(1 - delta),
    beta = (1 - delta)/theta, lr <= 1/(L + Lt sqrt(beta/theta)) with Lt^2 = mean L_i^2): least expected ||grad f||^2 = O(1/T); linear under the
    Polyak-Lojasiewicz inequality. Partial participation is that of EF21-PP (Fatkhullin et al. 2021).

    Departures: the source starts with g_i^0 = C(grad f_i(x^0)), or any other; here clients send their first gradients in full.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    compressor : Compressor
        A contractive one: `TopK`, or `RandK` without scaling.

    Examples
    --------
    >>> trace = run(EF21(0.3, TopK(0.4)), problem, x0, 1000)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "compressed"

    lr: ConstantStep
    compressor: Compressor

    def __post_init__(self) -> None:
        """Refuse compressors that are not contractive."""
        super().__post_init__()
        require_contractive("EF21", self.compressor)

    @property
    def first_exchange(self) -> tuple[int, int]:
        """First gradients."""
        return 1, 0

    def init(self, problem: Problem, x0: Array) -> EF21State:
        return EF21State(x0, problem.grad(x0))

    def round(self, problem: Problem, state: EF21State, clients: Clients | None, key: Key) -> EF21State:
        x = state.x - self.lr * average(state.g_i)
        f, g_i = problem.take(clients), gather(state.g_i, clients)
        sent = self.compressor(f.grad(x) - g_i, f, key, clients)
        return EF21State(x, scatter(state.g_i, clients, g_i + sent))

    def traffic(self, key: Key, state: State) -> tuple[float, float]:
        return self.compressor.sends(state.x.shape[-1]), 1

    def fixed_point(self, problem: Problem, x_star: Array) -> EF21State:
        return EF21State(x_star, problem.grad(x_star))


_EF_LOST = "scatter(state.e_i, clients, p - sent)"
_EF21_SENT = "self.compressor(f.grad(x) - g_i, f, key, clients)"

MISTAKES = {
    ErrorFeedback: (
        Mistake("errors forgotten", _EF_LOST, "state.e_i"),
        Mistake("sign of the errors", _EF_LOST, "scatter(state.e_i, clients, sent - p)"),
        Mistake(
            "errors accumulated twice", _EF_LOST, "scatter(state.e_i, clients, gather(state.e_i, clients) + p - sent)"
        ),
        Mistake("error of the move without the old error", _EF_LOST, "scatter(state.e_i, clients, state.x - y - sent)"),
        Mistake(
            "errors not added before compression",
            "self.compressor(p, sub.f, key, clients)",
            "self.compressor(state.x - y, sub.f, key, clients)",
        ),
        *list_average_mistakes("sent")[:2],
        NOT_RESET,
        HELD_GRADIENT,
    ),
    EF21: (
        Mistake(
            "gradients compressed, not their changes",
            _EF21_SENT,
            "self.compressor(f.grad(x), f, key, clients) - g_i",
        ),
        Mistake("estimates replaced by what was sent", "g_i + sent)", "sent)"),
        Mistake("gradients at the old model", "grad(x) - g_i", "grad(state.x) - g_i"),
        Mistake(
            "mean over active instead of all clients",
            "average(state.g_i)",
            "average(gather(state.g_i, clients), clients)",
        ),
        Mistake("sum instead of mean", "average(state.g_i)", "problem.n * average(state.g_i)"),
        Mistake("estimates start at zero", "EF21State(x0, problem.grad(x0))", "EF21State(x0, 0 * problem.grad(x0))"),
        Mistake("step size in what is compressed", "grad(x) - g_i", "grad(x) * self.lr - g_i"),
    ),
}

LISTED = (
    listing("ef", ErrorFeedback, "Stich and Karimireddy 2020; with local steps", compressor=CONTRACTIVE),
    listing("ef21", EF21, "Richtarik, Sokolov and Fatkhullin 2021, Algorithm 2", compressor=CONTRACTIVE),
    listing(
        "ef21-any",
        EF21,
        "Richtarik, Sokolov and Fatkhullin 2021, Algorithm 2: every contractive compressor in worst cases, (1 - error) v in runs",
        compressor=ANY_CONTRACTIVE,
    ),
)
