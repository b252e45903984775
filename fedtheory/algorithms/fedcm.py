"""FedCM (Xu et al. 2021): local steps along a mixture of the client's gradient and the last round's average direction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, Scalar, average
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Positive, Share
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.sam import SamSteps
from fedtheory.local.solvers import GradientSteps, LocalSolver, Step, path_length
from fedtheory.local.stochastic import Epochs, Passes, StochasticSteps, count_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedCMState:
    """Server model and average direction."""

    x: Array  # (..., 1, d)  server model
    direction: Array  # (..., 1, d)  Delta, what the last round's steps followed on average


@dataclass(frozen=True)
class FedCM(Method):
    """y <- y - lr (alpha g_i(y) + (1 - alpha) Delta^r),  K steps from x^r;

    Delta^{r+1} = mean_{active}(x^r - y_i) / (sum of the K step sizes),  x^{r+1} = x^r + server_lr mean_{active}(y_i - x^r),
    Delta^0 = 0. The mixture is a step of size alpha lr on f_i plus the linear term with gradient Delta (1 - alpha)/alpha.

    Relations: alpha = 1 is FedAvg; with one full-gradient step, server_lr = 1 and everyone it is gradient descent with an
    exponentially averaged gradient. With more steps its fixed point is FedAvg's with steps alpha lr.

    Source: Xu et al. 2021, Algorithm 1, as a baseline of A-FedPD (alpha = 0.1) and DualFL. Departure: the original's server makes a step of
    size eta_g along the direction, x^{r+1} = x^r - eta_g Delta^{r+1}. Here ``server_lr`` multiplies the mean move, as in the other averaging
    methods; for K steps of size lr the two agree with server_lr = eta_g / (K lr).

    Parameters
    ----------
    local : GradientSteps, StochasticSteps, Epochs or SamSteps
        K steps of size ``local.lr``, a constant or a schedule. What ``local.clip`` bounds is the mixture alpha g_i + (1 - alpha) Delta.
    alpha : number in (0, 1], array ``(*batch, 1, 1)`` or symbol
        Weight of the client's own gradient.
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server on the mean move; the paper's eta_g is server_lr times the sum of the K step sizes.

    Examples
    --------
    >>> trace = run(FedCM(GradientSteps(1, 0.5), alpha=0.5), problem, x0, 200)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"
    sends = 1, 2  # model up; model and direction down

    local: LocalSolver
    alpha: Share
    server_lr: Positive = 1

    def __post_init__(self) -> None:
        """Refuse local solvers without a number of plain steps."""
        super().__post_init__()
        local = self.local
        plain = isinstance(local, GradientSteps | StochasticSteps | Epochs | SamSteps)
        if not plain or not isinstance(local.steps, int | Passes):  # type: ignore[attr-defined]
            raise InvalidInput(
                f"FedCM divides by the sum of the step sizes, so it needs GradientSteps, StochasticSteps, Epochs or SamSteps with "
                f"one number of steps, got {local}"
            )

    def init(self, problem: Problem, x0: Array) -> FedCMState:
        return FedCMState(x0, 0 * x0)

    def round(self, problem: Problem, state: FedCMState, clients: Clients | None, key: Key) -> FedCMState:
        pull = state.direction * (1 - self.alpha) / self.alpha
        local: Any = self.local
        mixed = replace(local, lr=_times(self.alpha, local.lr), **self._clip())
        sub = Subproblem(problem.take(clients), a=pull, clients=clients)
        y, _ = mixed(sub, state.x, key, None)
        moved = average(y - state.x, clients)
        length = path_length(local.lr, count_steps(local, sub.f), key.round)
        return FedCMState(state.x + self.server_lr * moved, -moved / length)

    def _clip(self) -> dict[str, Any]:
        """Return the bound on what the solver sees, the mixture divided by alpha."""
        clip = getattr(self.local, "clip", None)
        return {} if clip is None else {"clip": clip / self.alpha}

    def fixed_point(self, problem: Problem, x_star: Array) -> FedCMState | None:
        return FedCMState(x_star, 0 * x_star) if is_one_plain_step(self.local) else None


def _times(alpha: Scalar, lr: Step) -> Step:
    return (lambda r, q: alpha * lr(r, q)) if callable(lr) else alpha * lr


LISTED = (listing("fedcm", FedCM, "Xu et al. 2021, Algorithm 1; A-FedPD, Table 2; DualFL, Remark 7.1"),)

_DIRECTION = "-moved / length"
_MIXTURE = """pull = state.direction * (1 - self.alpha) / self.alpha
        local: Any = self.local
        mixed = replace(local, lr=_times(self.alpha, local.lr)"""
_STEP = "mixed(sub, state.x, key, None)"
MISTAKES = {
    FedCM: (
        Mistake("direction not divided by the path's length", _DIRECTION, "-moved"),
        Mistake("no 1/K in the direction", _DIRECTION, "-moved / step_size(local.lr, key.round, 0)"),
        Mistake("no 1/lr in the direction", _DIRECTION, "-moved / count_steps(local, sub.f)"),
        Mistake("sign of the direction", _DIRECTION, "moved / length"),
        Mistake("server step in the direction", _DIRECTION, "-self.server_lr * moved / length"),
        Mistake("direction accumulated", _DIRECTION, "state.direction - moved / length"),
        Mistake("direction never updated", _DIRECTION, "state.direction"),
        Mistake(
            "alpha in the place of 1 - alpha",
            _MIXTURE,
            _MIXTURE.replace("(1 - self.alpha) / self.alpha", "self.alpha / (1 - self.alpha)").replace(
                "_times(self.alpha", "_times(1 - self.alpha"
            ),
        ),
        Mistake("direction not weighed by 1 - alpha", "(1 - self.alpha) / self.alpha", "1 / self.alpha"),
        Mistake(
            "gradient not weighed by alpha",
            _MIXTURE,
            _MIXTURE.replace(" / self.alpha", "").replace("_times(self.alpha, local.lr)", "local.lr"),
        ),
        Mistake("direction applied twice", "(1 - self.alpha) / self.alpha", "2 * (1 - self.alpha) / self.alpha"),
        Mistake(
            "all local gradients at the first point",
            _STEP,
            "mixed(replace(sub, f=hold_gradients(sub.f, state.x)), state.x, key, None)",
        ),
        Mistake(
            "model not reset between clients", _STEP, "(train_in_sequence(mixed, problem, sub, state.x, key), None)"
        ),
        *list_average_mistakes("y - state.x")[:2],
    ),
}
