"""SCAFFOLD (Karimireddy et al. 2020, Algorithm 1, control update options I and II; FedPD, Section IV-C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fedtheory.algorithms.base import Listed, State, settles
from fedtheory.algorithms.settings import LOCAL
from fedtheory.core.arrays import Array, Scalar, average, gather, is_array, like, scatter, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import at_least_one, positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver, path_length
from fedtheory.local.stochastic import Passes, number_of_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class ScaffoldState:
    """Server model and control variates."""

    x: Array  # (..., 1, d)  server model
    c: Array  # (..., 1, d)  server control variate, the average of all c_i
    c_i: Array  # (..., n, d)  client control variates


@dataclass(frozen=True)
class Scaffold:
    """Local steps corrected by control variates.

    y_i^{q+1} = y_i^q - lr (g_i(y_i^q) - c_i + c),  y_i^0 = x^r,  K steps,
    c_i^+ = c_i - c + (x^r - y_i^K) / (K lr)  (option II, ``control="path"``), or grad f_i(x^r) (option I, ``"gradient"``),
    x^{r+1} = x^r + server_lr * mean_{active}(y_i^K - x^r),  c^{r+1} = c + (m/n) mean_{active}(c_i^+ - c_i).

    Departure: FedPD prints the server update with server_lr = 1 and full participation; partial participation is
    the original paper's. The original has one K for all clients; where ``local.steps`` has one a client, option II divides by a
    client's own, so that c_i^+ stays the mean of the gradients along its path.

    Parameters
    ----------
    local : GradientSteps, StochasticSteps or Epochs
        K = ``local.steps`` steps of size ``local.lr``; where sizes follow a schedule, their sum over the round stands for K lr. `Epochs`
        takes as many steps as its passes have minibatches.
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
    control : "path" or "gradient"
        Option II or option I; the latter costs a full gradient more a round.
    """

    local: LocalSolver
    server_lr: Scalar = 1
    control: Literal["path", "gradient"] = "path"

    def __post_init__(self) -> None:
        """Refuse local solvers without a fixed number of equal steps."""
        steps, lr = getattr(self.local, "steps", None), getattr(self.local, "lr", None)
        if steps is None or lr is None or (callable(lr) and is_array(steps)):
            raise InvalidInput(
                f"SCAFFOLD's control update divides by K lr, so it needs GradientSteps, StochasticSteps or Epochs, with equal numbers of steps "
                f"where sizes follow a schedule, got {self.local}"
            )
        if not isinstance(steps, Passes):
            for count in np.asarray(steps).ravel() if is_array(steps) else (steps,):
                at_least_one("local.steps", count)
        if self.control not in ("path", "gradient"):
            raise InvalidInput(f"control must be 'path' or 'gradient', got {self.control!r}")
        positive(self, "server_lr")

    def init(self, problem: Problem, x0: Array) -> ScaffoldState:
        """Start at x0 with control variates zero."""
        return ScaffoldState(x0, 0 * x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: ScaffoldState, clients: Clients | None, key: Key) -> ScaffoldState:
        """Corrected local steps, then server and control updates."""
        c_i = gather(state.c_i, clients)
        sub = Subproblem(problem.take(clients), a=state.c - c_i, clients=clients)
        y, _ = self.local(sub, state.x, key, None)
        local: Any = self.local
        path = c_i - state.c + (state.x - y) / path_length(local.lr, self._steps(sub, y), key.round)
        c_new = path if self.control == "path" else sub.f.grad(state.x)
        all_c = scatter(state.c_i, clients, c_new)
        return ScaffoldState(
            x=state.x + self.server_lr * average(y - state.x, clients),
            c=average(all_c),  # = c + (m/n) mean of the changes
            c_i=all_c,
        )

    def _steps(self, sub: Subproblem, y: Array) -> Any:
        """K, or the active clients' own numbers of steps ``(m, 1)``."""
        steps = number_of_steps(self.local, sub.f)
        return like(gather(np.asarray(steps, dtype=float)[:, None], sub.clients), y) if is_array(steps) else steps

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Model and control variate, both ways."""
        return 2, 2

    def solution_state(self, problem: Problem, x_star: Array) -> ScaffoldState | None:
        """c_i = grad f_i(x*), c = 0."""
        if not settles(self.local):
            return None
        g = problem.grad(x_star)
        return ScaffoldState(x_star, average(g), g)


LISTED = (
    Listed(
        "scaffold",
        "averaging",
        "Karimireddy et al. 2020; FedPD, Section IV-C",
        lambda s: Scaffold(s.local(), s.server_lr),
        (*LOCAL, "server_lr"),
        True,
    ),
    Listed(
        "scaffold-gradient",
        "averaging",
        "Karimireddy et al. 2020, option I: control variates are gradients at the server's model",
        lambda s: Scaffold(s.local(), s.server_lr, control="gradient"),
        (*LOCAL, "server_lr"),
        True,
    ),
)
