"""VRL-SGD (Liang et al. 2019): local steps corrected by an estimate of client drift that needs the models alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, average, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver, path_length
from fedtheory.local.stochastic import Passes, count_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class VrlState:
    """Server model and the clients' corrections."""

    x: Array  # (..., 1, d)  server model
    delta_i: Array  # (..., n, d)  corrections Delta_i


@dataclass(frozen=True)
class VrlSgd(Method):
    """x_i <- x_i - lr (g_i - Delta_i), K steps;  x = mean_i x_i;  Delta_i <- Delta_i + (x - x_i) / (K lr).

    Relation: with full participation it is SCAFFOLD, with Delta_i = c_i - c (FEDPD-D6).

    Parameters
    ----------
    local : GradientSteps, StochasticSteps or Epochs
        K = ``local.steps`` steps of size ``local.lr``; where sizes follow a schedule, their sum over the round stands for K lr.

    Examples
    --------
    >>> trace = run(VrlSgd(GradientSteps(4, 0.5)), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"
    partial = False
    instead = "Scaffold"

    local: LocalSolver

    def __post_init__(self) -> None:
        """Refuse local solvers without one number of steps."""
        super().__post_init__()
        steps, lr = getattr(self.local, "steps", None), getattr(self.local, "lr", None)
        if not isinstance(steps, int | Passes) or lr is None:
            raise InvalidInput(
                f"VRL-SGD divides by K lr, so it needs GradientSteps, StochasticSteps or Epochs with one number of steps, got {self.local}"
            )

    def init(self, problem: Problem, x0: Array) -> VrlState:
        return VrlState(x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: VrlState, clients: Clients | None, key: Key) -> VrlState:
        x_i, _ = self.local(Subproblem(problem, a=-state.delta_i), state.x, key, None)
        x = average(x_i)
        local: Any = self.local
        return VrlState(x, state.delta_i + (x - x_i) / path_length(local.lr, count_steps(local, problem), key.round))

    def fixed_point(self, problem: Problem, x_star: Array) -> VrlState:
        g = problem.grad(x_star)
        return VrlState(x_star, g - average(g))


LISTED = (listing("vrl-sgd", VrlSgd, "Liang et al. 2019; FedPD, Table I"),)
