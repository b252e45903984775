"""VRL-SGD (Liang et al. 2019): local steps corrected by a drift that clients learn from the models alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Listed, State, needs_everyone, settles
from fedtheory.algorithms.settings import LOCAL
from fedtheory.core.arrays import Array, average, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver, path_length
from fedtheory.local.stochastic import Passes, number_of_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class VrlState:
    """Server model and the clients' corrections."""

    x: Array  # (..., 1, d)  server model
    delta_i: Array  # (..., n, d)  corrections Delta_i


@dataclass(frozen=True)
class VrlSgd:
    """x_i <- x_i - lr (g_i - Delta_i), K steps;  x = mean_i x_i;  Delta_i <- Delta_i + (x - x_i) / (K lr).

    Relation: with full participation it is SCAFFOLD, with Delta_i = c_i - c (FEDPD-D6).

    Parameters
    ----------
    local : GradientSteps, StochasticSteps or Epochs
        K = ``local.steps`` steps of size ``local.lr``; where sizes follow a schedule, their sum over the round stands for K lr.
    """

    local: LocalSolver

    def __post_init__(self) -> None:
        """Refuse local solvers without one number of steps."""
        steps, lr = getattr(self.local, "steps", None), getattr(self.local, "lr", None)
        if not isinstance(steps, int | Passes) or lr is None:
            raise InvalidInput(
                f"VRL-SGD divides by K lr, so it needs GradientSteps, StochasticSteps or Epochs with one number of steps, got {self.local}"
            )

    def init(self, problem: Problem, x0: Array) -> VrlState:
        """Start at x0 with no correction."""
        return VrlState(x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: VrlState, clients: Clients | None, key: Key) -> VrlState:
        """Corrected local steps, the average, then the corrections."""
        needs_everyone("VRL-SGD", clients, "Scaffold")
        x_i, _ = self.local(Subproblem(problem, a=-state.delta_i), state.x, key, None)
        x = average(x_i)
        local: Any = self.local
        return VrlState(
            x, state.delta_i + (x - x_i) / path_length(local.lr, number_of_steps(local, problem), key.round)
        )

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Model up, model down."""
        return 1, 1

    def solution_state(self, problem: Problem, x_star: Array) -> VrlState | None:
        """Delta_i = grad f_i(x*) - grad f(x*)."""
        if not settles(self.local):
            return None
        g = problem.grad(x_star)
        return VrlState(x_star, g - average(g))


LISTED = (
    Listed(
        "vrl-sgd",
        "averaging",
        "Liang et al. 2019; FedPD, Table I",
        lambda s: VrlSgd(s.local()),
        LOCAL,
        False,
    ),
)
