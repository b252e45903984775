"""Personal models beside the server's: local training, and Ditto (Li et al. 2021; FedSLR, Section 6)."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Listed, State, numeric_only_of, one_plain_step
from fedtheory.algorithms.settings import LOCAL
from fedtheory.core.arrays import Array, Scalar, average, gather, scatter, spread
from fedtheory.core.hyperparameters import positive
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
class LocalTraining:
    """Every client trains alone, from where it stopped:  v_i <- v_i - lr g_i(v_i),  K steps.

    Nothing is sent. There is no server; x is the average of the v_i, for measuring only, and nobody reads it.

    Parameters
    ----------
    local : LocalSolver
        `GradientSteps` or `StochasticSteps`.
    """

    local: LocalSolver

    def init(self, problem: Problem, x0: Array) -> PersonalState:
        """v_i = x^0."""
        return PersonalState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: PersonalState, clients: Clients | None, key: Key) -> PersonalState:
        """Local work from the clients' own models."""
        sub = Subproblem(problem.take(clients), clients=clients)
        v, _ = self.local(sub, gather(state.personal, clients), key, None)
        personal = scatter(state.personal, clients, v)
        return PersonalState(average(personal), personal)

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Nothing."""
        return 0, 0

    def solution_state(self, problem: Problem, x_star: Array) -> None:
        """None: clients go to minimisers of their own."""
        return None


@dataclass(frozen=True)
class Ditto:
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
    """

    local: LocalSolver
    mu: Scalar
    personal: LocalSolver | None = None

    def __post_init__(self) -> None:
        """Refuse a negative weight."""
        if not self._apart:
            positive(self, "mu")

    @property
    def numeric_only(self) -> str | None:
        """Whatever its solvers say."""
        return numeric_only_of(self.local, self.personal)

    @property
    def _apart(self) -> bool:
        return isinstance(self.mu, int | float) and self.mu == 0

    def init(self, problem: Problem, x0: Array) -> PersonalState:
        """v_i = x^0."""
        return PersonalState(x0, spread(x0, problem.n))

    def round(self, problem: Problem, state: PersonalState, clients: Clients | None, key: Key) -> PersonalState:
        """FedAvg's round, and the clients' personal steps towards the model they received."""
        f = problem.take(clients)
        x_i, _ = self.local(Subproblem(f, clients=clients), state.x, key, None)
        near = Subproblem(f, rho=None if self._apart else self.mu, z=state.x, clients=clients)
        v, _ = (self.personal or self.local)(near, gather(state.personal, clients), key.apart("personal"), None)
        return PersonalState(average(x_i, clients), scatter(state.personal, clients, v))

    def traffic(self, key: Key, state: State) -> tuple[int, int]:
        """Model up, model down; personal models stay where they are."""
        return 1, 1

    def solution_state(self, problem: Problem, x_star: Array) -> PersonalState | None:
        """x* with the personal minimisers, kept only with one gradient step in FedAvg."""
        if self._apart or not one_plain_step(self.local):
            return None
        near = Subproblem(problem, rho=self.mu, z=x_star)
        personal, _ = Exact()(near, spread(x_star, problem.n), Key(0, 0), None)
        return PersonalState(x_star, personal)


LISTED = (
    Listed(
        "local",
        "personalised",
        "every client alone; FedSLR, Section 6",
        lambda s: LocalTraining(s.local()),
        LOCAL,
        True,
    ),
    Listed(
        "ditto",
        "personalised",
        "Li, Hu, Beirami and Smith 2021, Algorithm 1; FedSLR, Section 6",
        lambda s: Ditto(s.local(), s.rho, s.personal().local()),
        ("rho", *LOCAL, "personal_steps", "personal_epochs"),
        True,
    ),
)
