"""SCAFFOLD (Karimireddy et al. 2020, Algorithm 1, control update options I and II; FedPD, Section IV-C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from fedtheory.algorithms.base import Fixes, Method
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import HELD_GRADIENT, NOT_RESET, Mistake, list_average_mistakes
from fedtheory.core.arrays import Array, average, gather, is_array, like, scatter, spread, to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Positive
from fedtheory.core.numbers import at_least_one
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import LocalSolver, path_length
from fedtheory.local.stochastic import Passes, count_steps
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class ScaffoldState:
    """Server model and control variates."""

    x: Array  # (..., 1, d)  server model
    c: Array  # (..., 1, d)  server control variate, the average of all c_i
    c_i: Array  # (..., n, d)  client control variates


@dataclass(frozen=True)
class Scaffold(Method):
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
        Step size of the server.
    control : "path" or "gradient"
        Option II or option I; the latter costs a full gradient more a round.

    Examples
    --------
    >>> trace = run(Scaffold(GradientSteps(4, 0.5)), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"
    sends = 2, 2  # model and control variate, both ways
    fixes: ClassVar[Fixes] = {"c": lambda known: average(known["c_i"])}

    local: LocalSolver
    server_lr: Positive = 1
    control: Literal["path", "gradient"] = "path"

    def __post_init__(self) -> None:
        """Refuse local solvers without a fixed number of equal steps."""
        super().__post_init__()
        steps, lr = getattr(self.local, "steps", None), getattr(self.local, "lr", None)
        if steps is None or lr is None or (callable(lr) and is_array(steps)):
            raise InvalidInput(
                f"SCAFFOLD's control update divides by K lr, so it needs GradientSteps, StochasticSteps or Epochs, with equal numbers of steps "
                f"where sizes follow a schedule, got {self.local}"
            )
        if not isinstance(steps, Passes):
            for count in to_numpy(steps).ravel() if is_array(steps) else (steps,):
                at_least_one("local.steps", count)

    def init(self, problem: Problem, x0: Array) -> ScaffoldState:
        return ScaffoldState(x0, 0 * x0, spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: ScaffoldState, clients: Clients | None, key: Key) -> ScaffoldState:
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
        steps = count_steps(self.local, sub.f)
        return like(gather(to_numpy(steps).astype(float)[:, None], sub.clients), y) if is_array(steps) else steps

    def fixed_point(self, problem: Problem, x_star: Array) -> ScaffoldState:
        g = problem.grad(x_star)
        return ScaffoldState(x_star, average(g), g)


_CONTROL = "path_length(local.lr, self._steps(sub, y), key.round)"
_SERVER = "c=average(all_c),"
_PFLLIB = "https://github.com/TsingZ0/PFLlib/issues/160"
_PLATO = "https://github.com/TL-System/plato/issues/382"

MISTAKES = {
    Scaffold: (
        Mistake("no 1/K in the control update", _CONTROL, "step_size(local.lr, key.round, 0)", seen=_PFLLIB),
        Mistake("no 1/lr in the control update", _CONTROL, "self._steps(sub, y)", seen=_PLATO),
        Mistake("control update not scaled", f" / {_CONTROL}", ""),
        Mistake("largest K in the control update", "self._steps(sub, y),", "np.max(self.local.steps),"),
        Mistake("K + 1 in the control update", "self._steps(sub, y),", "self._steps(sub, y) + 1,"),
        Mistake("K - 1 in the control update", "self._steps(sub, y),", "self._steps(sub, y) - 1,"),
        Mistake("server step in the control update", _CONTROL, f"(self.server_lr * {_CONTROL})"),
        Mistake(
            "control update with the new server model",
            "(state.x - y) /",
            "(state.x + self.server_lr * average(y - state.x, clients) - y) /",
        ),
        Mistake("sign of the control update", "(state.x - y) /", "(y - state.x) /"),
        Mistake("server control left out of the control update", "c_i - state.c +", "c_i +"),
        Mistake("client control left out of the control update", "c_i - state.c +", "-state.c +"),
        Mistake("sign of the correction", "a=state.c - c_i", "a=c_i - state.c"),
        Mistake("correction without the server control", "a=state.c - c_i", "a=-c_i"),
        Mistake("correction without the client control", "a=state.c - c_i", "a=state.c + 0 * c_i"),
        Mistake("correction applied twice", "a=state.c - c_i", "a=2 * (state.c - c_i)"),
        Mistake("no correction", "a=state.c - c_i", "a=0 * c_i"),
        Mistake(
            "new c_i sent instead of its change",
            _SERVER,
            "c=state.c + c_i.shape[-2] / problem.n * average(c_new, clients),",
            seen=_PLATO,
        ),
        Mistake("server control is the mean of active c_i", _SERVER, "c=average(c_new, clients),"),
        Mistake(
            "no m/n in the server control",
            _SERVER,
            "c=state.c + average(c_new - c_i, clients),",
            seen="https://github.com/Xtra-Computing/NIID-Bench/issues/12",
        ),
        Mistake(
            "sum of the changes in the server control",
            _SERVER,
            "c=state.c + c_i.shape[-2] * average(c_new - c_i, clients),",
        ),
        Mistake("server control never updated", _SERVER, "c=state.c,"),
        Mistake("client controls never updated", "c_i=all_c,", "c_i=state.c_i,"),
        NOT_RESET,
        HELD_GRADIENT,
        *list_average_mistakes("y - state.x"),
    ),
}

# the paper's increment: the same from a start at which c is the mean of all c_i
AS_PRINTED = {Scaffold: Mistake("", _SERVER, "c=state.c + average(all_c - state.c_i),")}

LISTED = (
    listing("scaffold", Scaffold, "Karimireddy et al. 2020; FedPD, Section IV-C", control="path"),
    listing(
        "scaffold-gradient",
        Scaffold,
        "Karimireddy et al. 2020, option I: control variates are gradients at the server's model",
        control="gradient",
    ),
)
