"""Personal models beside the server's: local training, and Ditto (Li et al. 2021; FedSLR, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithms.base import Method, is_one_plain_step
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import STEPPING, make_local_steps
from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.arrays import Array, average, gather, scatter, spread
from fedtheory.core.hyperparameters import NotNegative
from fedtheory.core.numbers import is_exactly
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class PersonalState:
    """Server model and personal models."""

    x: Array  # (..., 1, d)  server model
    personal: Array  # (..., n, d)  the clients' own models


@dataclass(frozen=True)
class LocalTraining(Method):
    """Every client trains alone, from where it stopped:  v_i <- v_i - lr g_i(v_i),  K steps.

    Nothing is sent. There is no server; x is the average of the v_i, for measuring only, and nobody reads it.
    Fixed points are the clients' own minimisers.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps` or `StochasticSteps`.

    Examples
    --------
    >>> state = run(LocalTraining(GradientSteps(5, 0.9)), problem, x0, 200).state
    >>> print(np.abs(problem.grad(state.personal)).max() < 1e-10)  # each client is at its own minimiser
    True
    """

    family = "personalised"
    sends = 0, 0

    local: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PersonalState:
        return PersonalState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: PersonalState, clients: Clients | None, key: Key) -> PersonalState:
        sub = Subproblem(problem.take(clients), clients=clients)
        v, _ = self.local(sub, gather(state.personal, clients), key, None)
        personal = scatter(state.personal, clients, v)
        return PersonalState(average(personal), personal)


@dataclass(frozen=True)
class Ditto(Method):
    """FedAvg, and beside it a personal model that is held near the server's.

    x_i from x^r by ``local`` on f_i,  x^{r+1} = mean_i x_i;
    v_i from v_i by ``personal`` on f_i(v) + (mu/2) ||v - x^r||^2   (Ditto, Algorithm 1: v <- v - lr (g_i(v) + mu (v - x^r))).

    Personal steps see the model the client received, x^r, not x^{r+1}, and clients that do not take part keep their v_i, both as in
    Algorithm 1. With samples the two kinds of steps draw independently.

    Fixed point, with one gradient step in FedAvg: x = x*, v_i = argmin f_i + (mu/2) ||. - x*||^2. Limits: mu = 0 is local
    training, mu to infinity with exact personal solves is v_i = x^r.

    Parameters
    ----------
    local : LocalSolver
        Steps of FedAvg.
    mu : number, array ``(*batch, 1, 1)`` or symbol
        Weight of the personal penalty (lambda in the paper), not negative.
    personal : LocalSolver, optional
        How v_i is moved; by default as ``local``. `Exact` needs mu > 0.

    Examples
    --------
    >>> state = run(Ditto(GradientSteps(2, 0.5), mu=0.5), problem, x0, 50).state
    >>> print(state.x.shape, state.personal.shape)
    (1, 5) (10, 5)
    """

    family = "personalised"

    local: LocalSolver
    mu: NotNegative
    personal: LocalSolver | None = None

    @property
    def _apart(self) -> bool:
        return is_exactly(self.mu, 0)

    def init(self, problem: Problem, x0: Array) -> PersonalState:
        return PersonalState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: PersonalState, clients: Clients | None, key: Key) -> PersonalState:
        f = problem.take(clients)
        x_i, _ = self.local(Subproblem(f, clients=clients), state.x, key, None)
        near = Subproblem(f, rho=None if self._apart else self.mu, z=state.x, clients=clients)
        v, _ = (self.personal or self.local)(near, gather(state.personal, clients), key.apart("personal"), None)
        return PersonalState(average(x_i, clients), scatter(state.personal, clients, v))

    def fixed_point(self, problem: Problem, x_star: Array) -> PersonalState | None:
        if self._apart or not is_one_plain_step(self.local):
            return None
        near = Subproblem(problem, rho=self.mu, z=x_star)
        personal, _ = Exact()(near, spread(x_star, problem.n), Key(0, 0), None)
        return PersonalState(x_star, personal)


PERSONAL_STEPS = Option(
    "personal_steps", int, 0, "Local steps on the personal part [default: as many as on the shared part]."
)
PERSONAL_EPOCHS = Option(
    "personal_epochs", int, 0, "Passes through the data for the personal part [default: as for the shared part]."
)


def choose_personal_work(personal_steps: int, personal_epochs: int, steps: Any, epochs: int) -> tuple[Any, int]:
    """Return the steps and passes of the personal part: its own where given, else those of the shared part."""
    return (personal_steps or 1, personal_epochs) if personal_steps or personal_epochs else (steps, epochs)


def make_personal_steps(
    personal_steps: int, personal_epochs: int, steps: Any, epochs: int, **stepping: Any
) -> LocalSolver:
    """Return the local solver of the personal part: that of the shared part, but for the number of steps."""
    steps, epochs = choose_personal_work(personal_steps, personal_epochs, steps, epochs)
    return make_local_steps(steps=steps, epochs=epochs, **stepping)


PERSONAL_WORK = BuiltField((*STEPPING, PERSONAL_STEPS, PERSONAL_EPOCHS), make_personal_steps)

LISTED = (
    listing("local", LocalTraining, "every client alone; FedSLR, Section 6"),
    listing(
        "ditto",
        Ditto,
        "Li, Hu, Beirami and Smith 2021, Algorithm 1; FedSLR, Section 6",
        personal=PERSONAL_WORK,
        changes={"mu": {"default": 1.0, "spelled": "personal-penalty", "called": "rho"}},
    ),
)
