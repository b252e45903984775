"""Local steps corrected by the gradients at a common anchor: federated SVRG (F-SVRG) and S-Local-SVRG."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.algorithms.base import Method, State
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.local_work import LR, LR_DECAY, make_step_size
from fedtheory.algorithms.options import BuiltField
from fedtheory.core.arrays import Array, average, choose, choose_lazily
from fedtheory.core.hyperparameters import Count, Positive, Probability
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import step_size
from fedtheory.local.stochastic import make_gradient
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class LocalSvrgState:
    """Server model, anchor, and the clients' gradients at the anchor."""

    x: Array  # (..., 1, d)  server model
    w: Array  # (..., 1, d)  anchor
    g_i: Array  # (..., n, d)  grad f_i(w)


@dataclass(frozen=True)
class LocalSvrg(Method):
    """y <- y - lr (h_i(y; xi) - h_i(w; xi) + mean_j grad f_j(w)),  K steps from x^r;  x^{r+1} = mean_i y_i;

    w <- x^{r+1} with probability q (one coin for all clients), w^0 = x^0. The two sample gradients of a step share their samples
    xi. With q = 1 this is F-SVRG, with full gradients then also FedLin; with q < 1 it is S-Local-SVRG with K local steps between
    communications.

    Guarantee: x* is a fixed point, noise included.

    Traffic: model up and down, with a new anchor also the gradients up and their mean down; those at the first anchor x^0 are counted
    before the first round.

    Source: F-SVRG: Konecny et al. 2016; FedPD, Table I. S-Local-SVRG: Gorbunov, Hanzely and Richtarik 2021, where communication
    may also be random; DualFL, Section 1.

    Parameters
    ----------
    steps : int
        Local steps a round, K.
    lr : number, array ``(*batch, 1, 1)``, symbol, or function of (round, local step)
        Local step size.
    batch : int or None
        Samples a local step [default: full gradients].
    q : number in (0, 1] or array ``(*batch, 1, 1)``
        Probability that a round ends with a new anchor.

    Examples
    --------
    >>> trace = run(LocalSvrg(4, lr=0.3), problem, x0, 100)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "averaging"
    partial = False
    instead = "Scaffold"

    steps: Count
    lr: Positive
    batch: Count | None = None
    q: Probability = 1

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers: it draws minibatches; None with full gradients."""
        return None if self.batch is None else "it draws samples at random"

    def init(self, problem: Problem, x0: Array) -> LocalSvrgState:
        return LocalSvrgState(x0, x0, problem.grad(x0))

    def round(self, problem: Problem, state: LocalSvrgState, clients: Clients | None, key: Key) -> LocalSvrgState:
        x = average(self._descend(problem, state, key))
        fresh = self._renews(key)
        g_i = choose_lazily(fresh, lambda: problem.grad(x), lambda: state.g_i)
        return LocalSvrgState(x, choose(fresh, x, state.w), g_i)

    def _descend(self, problem: Problem, state: LocalSvrgState, key: Key) -> Array:
        grad = make_gradient(Subproblem(problem), key, self.steps, self.batch)
        g, y = average(state.g_i), state.x
        for k in range(self.steps):
            there = state.g_i if self.batch is None else grad(state.w, k)
            y = y - step_size(self.lr, key.round, k) * (grad(y, k) - there + g)
        return y

    def _renews(self, key: Key) -> bool | Array:
        return key.coin("anchor", self.q)

    @property
    def first_exchange(self) -> tuple[int, int]:
        """Of the gradients at the first anchor x^0: each client's up, their mean down."""
        return 1, 1

    def traffic(self, key: Key, state: State) -> tuple[Array, Array]:
        """Model up and down, with a new anchor also gradients."""
        sent = 1 + np.asarray(self._renews(key), dtype=float)
        return sent, sent

    def fixed_point(self, problem: Problem, x_star: Array) -> LocalSvrgState:
        return LocalSvrgState(x_star, x_star, problem.grad(x_star))


_STEPS = {"default": 1, "spelled": "local-steps"}
_SIZE = BuiltField((LR, LR_DECAY), make_step_size)

LISTED = (
    listing("f-svrg", LocalSvrg, "Konecny et al. 2016; FedPD, Table I", changes={"steps": _STEPS}, lr=_SIZE, q=1),
    listing(
        "s-local-svrg",
        LocalSvrg,
        "Gorbunov, Hanzely and Richtarik 2021; DualFL, Section 1",
        changes={"steps": _STEPS, "q": {"default": 0.5}},
        lr=_SIZE,
    ),
)
