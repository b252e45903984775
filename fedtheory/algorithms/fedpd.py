"""FedPD: Federated Primal-Dual (Zhang et al., Algorithm 2), with Oracle I or II and random skipping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from fedtheory.algorithms.base import Method, State
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import BATCH, STEPS
from fedtheory.algorithms.mistakes import Mistake
from fedtheory.algorithms.options import BuiltField, Option
from fedtheory.core.arrays import Array, Scalar, average, choose, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import Positive, on_host
from fedtheory.core.numbers import at_least_one, is_exactly
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


def _skipping(owner: Any, name: str) -> None:
    """Refuse a probability of skipping outside [0, 1)."""
    p = on_host(owner, name)
    if not (np.all(np.asarray(p) >= 0) and np.all(np.asarray(p) < 1)):
        raise InvalidInput(f"the probability {name} of skipping communication must lie in [0, 1), got {p}")


@dataclass(frozen=True)
class FedPD(Method):
    """Every client minimises its augmented Lagrangian, moves its dual, and the server averages x_i + eta lam_i.

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
        Penalty parameter: the penalty of the augmented Lagrangian is 1/(2 eta).
    local : LocalSolver
        `Exact`; Oracle I: `GradientSteps`, `StochasticSteps`, `ToAccuracy`; Oracle II: `oracle_two`.
    p : number in [0, 1), array ``(*batch, 1, 1)``, or function of the round
        Probability of skipping communication. A function may return exactly 0 or 1, for a deterministic schedule.
    init_dual : "grad" or "zero"
        Start of the duals: minus the gradients, or zero.

    Examples
    --------
    >>> trace = run(FedPD(eta=1.0), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "primal-dual"
    partial = False
    open_starts: ClassVar[Mapping[str, str]] = {"lam_i": "init_dual"}

    eta: Positive
    local: LocalSolver = Exact()
    p: Annotated[Scalar, _skipping] | Callable[[int], float] = 0
    init_dual: Literal["grad", "zero"] = "grad"

    @staticmethod
    def oracle_two(eta: Scalar, gamma: Scalar | None, steps: int, batch: int | None, period: int) -> VarianceReduced:
        """Oracle II (Algorithm 4) for this eta: Q steps, proximal parameter gamma (None: infinity), B, and I."""
        s = eta if gamma is None else eta * gamma / (eta + gamma)
        return VarianceReduced(steps=steps, lr=s, batch=batch, period=period)

    def init(self, problem: Problem, x0: Array) -> FedPDState:
        copies = spread(x0, problem.n)
        lam = -problem.grad(x0) if self.init_dual == "grad" else spread(0 * x0, problem.n)
        return FedPDState(x=x0, x_i=copies, x0_i=copies, lam_i=lam, memory=self.local.memory(problem, x0))

    def round(self, problem: Problem, state: FedPDState, clients: Clients | None, key: Key) -> FedPDState:
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

    def fixed_point(self, problem: Problem, x_star: Array) -> FedPDState:
        """x_i = x_{0,i} = x*, lam_i = -grad f_i(x*): a fixed point of rounds that communicate."""
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


def _rhythm(p: Any, communicate_every: int) -> Any:
    """Return the probability p of skipping, or a fixed rhythm where that is asked for."""
    if communicate_every == 1:
        return p
    if is_exactly(p, 0):
        return Every(communicate_every)
    raise InvalidInput(
        f"skipping is random or in a fixed rhythm, got p = {p} and communicate_every = {communicate_every}"
    )


RHYTHM = BuiltField(
    (
        Option("p", float, 0, "Probability of skipping communication.", batched=True, telling=0.4),
        Option("communicate_every", int, 1, "Communicate in every so many rounds only."),
    ),
    _rhythm,
)
ORACLE_TWO = BuiltField(
    (
        Option("eta", float, 0.1, "Penalty parameter.", batched=True),  # the method's own
        Option("gamma", float, None, "Proximal parameter of a step of Oracle II [default: infinite].", batched=True),
        STEPS,
        BATCH,
        Option("period", int, 1, "Rounds between exact gradients."),
    ),
    FedPD.oracle_two,
)

LISTED = (
    listing("fedpd", FedPD, "FedPD, Algorithms 2 and 3 (Oracle I)", p=RHYTHM),
    listing("fedpd-vr", FedPD, "FedPD, Algorithms 2 and 4 (Oracle II)", p=RHYTHM, local=ORACLE_TWO),
)

_DUAL = "lam = state.lam_i + (x_i - state.x0_i) / self.eta"
_UPLOAD = "upload = x_i + self.eta * lam"
MISTAKES = {
    FedPD: (
        Mistake("sign of the dual in local work", "a=state.lam_i,", "a=-state.lam_i,"),
        Mistake("local penalty doubled", "rho=1 / self.eta", "rho=2 / self.eta"),
        Mistake("local penalty halved", "rho=1 / self.eta", "rho=1 / (2 * self.eta)"),
        Mistake("sign of the dual step", _DUAL, "lam = state.lam_i - (x_i - state.x0_i) / self.eta"),
        Mistake("dual step multiplied by eta", _DUAL, "lam = state.lam_i + self.eta * (x_i - state.x0_i)"),
        Mistake("duals never updated", _DUAL, "lam = state.lam_i + 0 * x_i"),
        Mistake("stale dual sent", _UPLOAD, "upload = x_i + self.eta * state.lam_i"),
        Mistake("models sent without duals", _UPLOAD, "upload = x_i"),
        Mistake("dual not multiplied by eta", _UPLOAD, "upload = x_i + lam"),
        Mistake("sign of the dual sent", _UPLOAD, "upload = x_i - self.eta * lam"),
        Mistake("local work from the server's copy", "self.local(sub, state.x_i,", "self.local(sub, state.x0_i,"),
        Mistake("skipping keeps the old copy", "spread(x, problem.n), upload)", "spread(x, problem.n), state.x0_i)"),
    ),
}
