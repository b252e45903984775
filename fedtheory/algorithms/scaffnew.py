"""Scaffnew (ProxSkip; Mishchenko et al. 2022, Algorithm 2) and RandProx (Condat and Richtarik 2023, Algorithm 2) for consensus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Method, State
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import Mistake
from fedtheory.core.arrays import Array, Scalar, average, beside, choose, spread
from fedtheory.core.hyperparameters import ConstantStep, Positive, Probability
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import shared_regulariser


def _communicates(p: Scalar, key: Key) -> Any:
    """The round's coin, one for all clients."""
    return key.coin("communicate", p)


def _sent(p: Scalar, key: Key) -> tuple[Array, Array]:
    """Model up and down in a round that communicates, nothing in one that does not."""
    sent = np.asarray(_communicates(p, key), dtype=float)
    return sent, sent


@dataclass(frozen=True, slots=True, eq=False)
class ScaffnewState:
    """Local models and control variates."""

    x: Array  # (..., 1, d)  mean_i x_i: the server's model, virtual in a round that skips communication
    x_i: Array  # (..., n, d)  local models
    h_i: Array  # (..., n, d)  control variates, of zero sum


@dataclass(frozen=True)
class Scaffnew(Method):
    """A corrected gradient step a round, and with probability p an average.

    xh_i = x_i - lr (grad f_i(x_i) - h_i),
    x_i^+ = mean_j xh_j with probability p (one coin for all clients), else xh_i,
    h_i^+ = h_i + (p/lr) (x_i^+ - xh_i).

    A round here is one iteration of the method: most communicate nothing, see ``traffic``. Guarantee (lr <= 1/L, mu-strongly convex
    f_i): E[sum_i ||x_i - x*||^2 + (lr/p)^2 sum_i ||h_i - grad f_i(x*)||^2] shrinks by max{1 - lr mu, 1 - p^2} a round; p = 1/sqrt(kappa)
    gives O(sqrt(kappa) log(1/eps)) communications. With p = 1 it is gradient descent.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    p : number in (0, 1] or array ``(*batch, 1, 1)``
        Probability of communication.

    Examples
    --------
    >>> trace = run(Scaffnew(lr=1.0, p=0.5), problem, x0, 400)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "accelerated"
    partial = False
    instead = "5GCS"

    lr: ConstantStep
    p: Probability

    def init(self, problem: Problem, x0: Array) -> ScaffnewState:
        return ScaffnewState(x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: ScaffnewState, clients: Clients | None, key: Key) -> ScaffnewState:
        ahead = state.x_i - self.lr * (problem.grad(state.x_i) - state.h_i)
        x = average(ahead)
        x_i = choose(_communicates(self.p, key), spread(x, problem.n), ahead)
        return ScaffnewState(x, x_i, state.h_i + beside(self.p, x) * (x_i - ahead) / self.lr)

    def traffic(self, key: Key, state: State) -> tuple[Array, Array]:
        return _sent(self.p, key)

    def fixed_point(self, problem: Problem, x_star: Array) -> ScaffnewState:
        """h_i = grad f_i(x*): a fixed point whatever the coins."""
        return ScaffnewState(x_star, spread(x_star, problem.n), problem.grad(x_star))


@dataclass(frozen=True, slots=True, eq=False)
class RandProxState:
    """Local models and dual variables."""

    x: Array  # (..., 1, d)  mean_i x_i: the server's model, virtual in a round that skips communication
    x_i: Array  # (..., n, d)  local models
    u_i: Array  # (..., n, d)  dual variables, of zero sum


@dataclass(frozen=True)
class RandProx(Method):
    """Primal-dual splitting whose dual step is taken with probability p only.

    RandProx on  min sum_i f_i(x_i) + h(x_i)  subject to  x_1 = ... = x_n  with the Bernoulli oracle R(r) = r/p or 0, omega = 1/p - 1:

    xh_i = prox_{lr h}(x_i - lr grad f_i(x_i) - lr u_i),
    u^+ = u + R(prox_{tau H*}(u + tau xh) - u) / (1 + omega),  x^+ = xh - lr (1 + omega) (u^+ - u),

    where H is the indicator of consensus, so that prox_{tau H*}(u + tau xh) - u = tau (xh_i - mean_j xh_j). h is the problem's shared
    regulariser, zero if it has none. The dual step is tau = relax p/lr: a communicating round averages in part,
    x_i^+ = (1 - relax) xh_i + relax mean_j xh_j. With relax = 1 and no h it is `Scaffnew`, u_i = -h_i.

    Guarantee (relax <= 1, lr < 2/L, convex f_i): convergence; linear for strongly convex f_i and h = 0, as for `Scaffnew` with p^2
    replaced by relax p^2. A round is one iteration.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    p : number in (0, 1] or array ``(*batch, 1, 1)``
        Probability of communication.
    relax : number, array ``(*batch, 1, 1)`` or symbol
        Share of the way to the average that a communicating round goes, lr tau/p, at most 1.

    Examples
    --------
    >>> trace = run(RandProx(lr=1.0, p=0.5), problem, x0, 400)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "accelerated"
    partial = False
    instead = "5GCS"

    lr: ConstantStep
    p: Probability
    relax: Positive = 1

    def init(self, problem: Problem, x0: Array) -> RandProxState:
        return RandProxState(x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: RandProxState, clients: Clients | None, key: Key) -> RandProxState:
        ahead = state.x_i - self.lr * (problem.grad(state.x_i) + state.u_i)
        ahead = shared_regulariser(problem).prox(ahead, self.lr)
        p = beside(self.p, ahead)
        tau = self.relax * p / self.lr
        u_i = choose(_communicates(self.p, key), state.u_i + tau * (ahead - average(ahead)), state.u_i)
        x_i = ahead - self.lr * (u_i - state.u_i) / p
        return RandProxState(average(x_i), x_i, u_i)

    def traffic(self, key: Key, state: State) -> tuple[Array, Array]:
        return _sent(self.p, key)

    def fixed_point(self, problem: Problem, x_star: Array) -> RandProxState:
        """u_i = grad f(x*) - grad f_i(x*): a fixed point whatever the coins."""
        g = problem.grad(x_star)
        return RandProxState(x_star, spread(x_star, problem.n), average(g) - g)


LISTED = (
    listing("scaffnew", Scaffnew, "Mishchenko et al. 2022, Algorithm 2", changes={"p": {"called": "q"}}),
    listing(
        "randprox",
        RandProx,
        "Condat and Richtarik 2023, Algorithm 2",
        changes={"p": {"called": "q"}, "relax": {"default": 0.5, "called": "alpha"}},
    ),
)

_CONTROL = "beside(self.p, x) * (x_i - ahead)"
MISTAKES = {
    Scaffnew: (
        Mistake("sign of the correction", "problem.grad(state.x_i) - state.h_i", "problem.grad(state.x_i) + state.h_i"),
        Mistake("no p in the control update", _CONTROL, "(x_i - ahead)"),
        Mistake("1/p in the control update", _CONTROL, "(x_i - ahead) / self.p"),
        Mistake("no 1/lr in the control update", f"{_CONTROL} / self.lr", _CONTROL),
        Mistake("sign of the control update", _CONTROL, "beside(self.p, x) * (ahead - x_i)"),
        Mistake("control variates never updated", f"state.h_i + {_CONTROL} / self.lr", "state.h_i"),
        Mistake(
            "correction applied twice", "problem.grad(state.x_i) - state.h_i", "problem.grad(state.x_i) - 2 * state.h_i"
        ),
        Mistake(
            "gradient at the server's model", "problem.grad(state.x_i) - state.h_i", "problem.grad(state.x) - state.h_i"
        ),
        Mistake("communicates in every round", "choose(_communicates(self.p, key),", "choose(True,"),
        Mistake(
            "the coin the other way", "choose(_communicates(self.p, key),", "choose(not _communicates(self.p, key),"
        ),
        Mistake("control update also without communication", _CONTROL, "beside(self.p, x) * (x - ahead)"),
        Mistake("control update with the model before the step", _CONTROL, "beside(self.p, x) * (x_i - state.x_i)"),
    ),
}
