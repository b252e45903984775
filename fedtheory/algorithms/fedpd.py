"""FedPD: Federated Primal-Dual (Zhang et al., Algorithm 2), with Oracle I or II and random skipping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fedtheory.algorithms.base import Listed, State, needs_everyone, settles
from fedtheory.algorithms.settings import LOCAL, Settings
from fedtheory.core.arrays import Array, Scalar, average, choose, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import at_least_one, plain, positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, LocalSolver
from fedtheory.local.stochastic import VarianceReduced
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class FedPDState:
    """Models, local copies of the server's model, duals."""

    x: Array  # (..., 1, d)  mean_i x_{0,i}: the server's model, virtual in a round that skips communication
    x_i: Array  # (..., n, d)  local models
    x0_i: Array  # (..., n, d)  clients' copies x_{0,i} of the server's model
    lam_i: Array  # (..., n, d)  duals lambda_i; they never leave the client
    memory: Array | None  # (..., n, d)  what the local solver carries on (Oracle II: g_i)


@dataclass(frozen=True)
class FedPD:
    """Every client treats its augmented Lagrangian, moves its dual, and the server averages x_i + eta lam_i.

    x_i^{r+1}    = Oracle_i of  f_i(x) + <lam_i^r, x - x_{0,i}^r> + ||x - x_{0,i}^r||^2 / (2 eta),  started at x_i^r
    lam_i^{r+1}  = lam_i^r + (x_i^{r+1} - x_{0,i}^r) / eta
    x_{0,i}^{r+} = x_i^{r+1} + eta lam_i^{r+1}
    with probability 1 - p (one coin for all clients)  x_{0,i}^{r+1} = mean_j x_{0,j}^{r+},  else  x_{0,i}^{r+}.

    Guarantee (p = 0, exact solves, lam_i^0 = -grad f_i(x^0), u = L eta < 1/2): sum_{r=1}^T ||grad f(x_0^r)||^2 <=
    (4 (1+u)^2 / eta) max{1, u^2/((1-2u)(1+u))} (f(x^0) - f(x_0^T)); the paper's Theorem 1 states O(1/T) for
    u < (sqrt 5 - 1)/4.

    Departure: Algorithm 2 leaves lam_i^0 open. Its proof uses -grad f_i(x^0) (``init_dual="grad"``, the default);
    the authors' code starts at zero (``"zero"``).

    Parameters
    ----------
    eta : number, array ``(*batch, 1, 1)`` or symbol
        The penalty of the augmented Lagrangian is 1/(2 eta).
    local : LocalSolver
        `Exact`; Oracle I: `GradientSteps`, `StochasticSteps`, `ToAccuracy`; Oracle II: `oracle_two`.
    p : number in [0, 1), array ``(*batch, 1, 1)``, or function of the round
        Probability of skipping communication. A function may return exactly 0 or 1, for a deterministic schedule.
    init_dual : "grad" or "zero"
    """

    eta: Scalar
    local: LocalSolver = Exact()
    p: Scalar | Callable[[int], float] = 0
    init_dual: Literal["grad", "zero"] = "grad"

    def __post_init__(self) -> None:
        """Refuse settings outside the algorithm's definition."""
        positive(self, "eta")
        plain(self, "p")
        if not callable(self.p) and not (np.all(np.asarray(self.p) >= 0) and np.all(np.asarray(self.p) < 1)):
            raise InvalidInput(f"the probability p of skipping communication must lie in [0, 1), got {self.p}")
        if self.init_dual not in ("grad", "zero"):
            raise InvalidInput(f"init_dual must be 'grad' or 'zero', got {self.init_dual!r}")

    @staticmethod
    def oracle_two(eta: Scalar, gamma: Scalar | None, steps: int, batch: int | None, period: int) -> VarianceReduced:
        """Oracle II (Algorithm 4) for this eta: Q steps, proximal parameter gamma (None: infinity), B, and I."""
        s = eta if gamma is None else eta * gamma / (eta + gamma)
        return VarianceReduced(steps=steps, lr=s, batch=batch, period=period)

    def init(self, problem: Problem, x0: Array) -> FedPDState:
        """x_i = x_{0,i} = x^0 and the duals of ``init_dual``."""
        copies = spread(x0, problem.n)
        lam = -problem.grad(x0) if self.init_dual == "grad" else spread(0 * x0, problem.n)
        return FedPDState(x=x0, x_i=copies, x0_i=copies, lam_i=lam, memory=self.local.memory(problem, x0))

    def round(self, problem: Problem, state: FedPDState, clients: Clients | None, key: Key) -> FedPDState:
        """One pass of Algorithm 2's loop."""
        needs_everyone("FedPD", clients, "a method with partial participation such as Scaffold")
        sub = Subproblem(problem, a=state.lam_i, rho=1 / self.eta, z=state.x0_i)
        x_i, memory = self.local(sub, state.x_i, key, state.memory)
        lam = state.lam_i + (x_i - state.x0_i) / self.eta
        upload = x_i + self.eta * lam
        x = average(upload)
        x0_i = choose(self._communicates(key), spread(x, problem.n), upload)
        return FedPDState(x=x, x_i=x_i, x0_i=x0_i, lam_i=lam, memory=memory)

    def _communicates(self, key: Key) -> bool | Array:
        p = self.p(key.round) if callable(self.p) else self.p
        return key.coin("communicate", 1 - p)

    def traffic(self, key: Key, state: State) -> tuple[Array, Array]:
        """Model up and down in a round that communicates, nothing in one that skips."""
        sent = np.asarray(self._communicates(key), dtype=float)
        return sent, sent

    def solution_state(self, problem: Problem, x_star: Array) -> FedPDState | None:
        """x_i = x_{0,i} = x*, lam_i = -grad f_i(x*): a fixed point of rounds that communicate."""
        if not settles(self.local):
            return None
        g, copies = problem.grad(x_star), spread(x_star, problem.n)
        memory = None if self.local.memory(problem, x_star) is None else g
        return FedPDState(x_star, copies, copies, -g, memory)


@dataclass(frozen=True)
class Every:
    """Deterministic skipping: communicate in every ``rounds``-th round only, as a function for ``FedPD.p``."""

    rounds: int

    def __post_init__(self) -> None:
        """Refuse a number below one."""
        at_least_one("communicate_every", self.rounds)

    def __call__(self, round: int) -> float:
        """Return the probability of skipping: 0 or 1."""
        return 0 if (round + 1) % self.rounds == 0 else 1


def every(rounds: int) -> Every:
    """Return deterministic skipping for ``FedPD.p``: communicate in every ``rounds``-th round only."""
    return Every(rounds)


def _build(s: Settings, local: LocalSolver) -> FedPD:
    if s.communicate_every == 1:
        p = s.p
    elif isinstance(s.p, int | float) and s.p == 0:
        p = Every(s.communicate_every)
    else:
        raise InvalidInput(
            f"skipping is random or in a fixed rhythm, got p = {s.p} and communicate_every = {s.communicate_every}"
        )
    return FedPD(s.eta, local, p, "zero" if s.zero_duals else "grad")


LISTED = (
    Listed(
        "fedpd",
        "primal-dual",
        "FedPD, Algorithms 2 and 3 (Oracle I)",
        lambda s: _build(s, s.local()),
        ("eta", *LOCAL, "exact", "p", "communicate_every", "zero_duals"),
        False,
    ),
    Listed(
        "fedpd-vr",
        "primal-dual",
        "FedPD, Algorithms 2 and 4 (Oracle II)",
        lambda s: _build(s, FedPD.oracle_two(s.eta, s.gamma, s.steps, s.batch, s.period)),
        ("eta", "gamma", "steps", "batch", "period", "p", "communicate_every", "zero_duals"),
        False,
    ),
)
