"""CompressedScaffnew (Condat, Agarsky and Richtarik 2022, Algorithm 1): Scaffnew in which each client sends some coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Method, State
from fedtheory.algorithms.listing import listing
from fedtheory.algorithms.mistakes import Mistake
from fedtheory.algorithms.scaffnew import ScaffnewState
from fedtheory.core.arrays import Array, average, beside, choose, like, spread
from fedtheory.core.errors import InvalidInput
from fedtheory.core.hyperparameters import ConstantStep, Probability
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key


@dataclass(frozen=True)
class CompressedScaffnew(Method):
    """A corrected gradient step a round; with probability p each coordinate is averaged over s clients that are drawn.

    xh_i = x_i - lr (grad f_i(x_i) - h_i).  Without communication x_i^+ = xh_i. With it (one coin for all clients), and q_i in {0, 1}^d
    such that every coordinate is one of exactly s of the q_i:
    xb = (1/s) sum_i q_i xh_i,  x_i^+ = xb,  h_i^+ = h_i + (p eta / lr) q_i (xb - xh_i),  eta = n (s - 1) / (s (n - 1)).

    The q_i are the columns of one fixed pattern in random order. A client sends about s d/n coordinates, and receives xb whole.
    With s = n it is `Scaffnew`. Guarantee (source; lr < 2/L, mu-strongly convex f_i): linear, to x*, by a factor
    max{(1 - lr mu)^2, (1 - lr L)^2, 1 - c} a round, c of the order p^2 s/n.

    Departures: the source lets eta be smaller.

    Parameters
    ----------
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size.
    p : number in (0, 1] or array ``(*batch, 1, 1)``
        Probability of communication.
    copies : int
        How many clients send each coordinate, the s above: 2, ..., n; 0 for all of them, uncompressed.

    Examples
    --------
    >>> trace = run(CompressedScaffnew(lr=1.0, p=0.5, copies=3), problem, x0, 2000)
    >>> print(trace["stationarity"][-1] < 1e-12)
    True
    """

    family = "compressed"
    partial = False
    instead = "5GCS"
    unweighted = "each coordinate is sent by s of n clients and their sum divided by s, which keeps a common point only where all count equally"

    lr: ConstantStep
    p: Probability
    copies: int = 2

    def __post_init__(self) -> None:
        """Refuse a number of copies that is neither 0 nor at least 2."""
        super().__post_init__()
        if not isinstance(self.copies, int | np.integer) or self.copies < 0 or self.copies == 1:
            raise InvalidInput(
                "copies, the number of clients that send each coordinate, must be 0 (all of them) or a whole number of at least 2, "
                f"got {self.copies!r}"
            )

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers; None without compression."""
        return None if self.copies == 0 else "it draws who sends which coordinates"

    def init(self, problem: Problem, x0: Array) -> ScaffnewState:
        return ScaffnewState(x0, spread(x0, problem.n), spread(0 * x0, problem.n))

    def round(self, problem: Problem, state: ScaffnewState, clients: Clients | None, key: Key) -> ScaffnewState:
        n = problem.n
        s = self._count(n)
        ahead = state.x_i - self.lr * (problem.grad(state.x_i) - state.h_i)
        q = 1 if s == n else like(_draw_pattern(key, n, s, problem.d), ahead)
        xb = average(q * ahead) * n / s
        coin = key.coin("communicate", self.p)
        x_i = choose(coin, spread(xb, n), ahead)
        eta = n * (s - 1) / (s * (n - 1)) if s < n else 1
        h_i = state.h_i + beside(self.p, xb) * eta * q * (x_i - ahead) / self.lr
        return ScaffnewState(average(x_i), x_i, h_i)

    def _count(self, n: int) -> int:
        """The number of clients that send each coordinate."""
        if self.copies > n:
            raise InvalidInput(
                f"each coordinate is to be sent by {self.copies} clients, and there are n={n}; choose copies <= n"
            )
        return self.copies or n

    def traffic(self, key: Key, state: State) -> tuple[Array, Array]:
        """A share s/n of the coordinates up on average, and the model down, in a round that communicates."""
        sent = np.asarray(key.coin("communicate", self.p), dtype=float)
        n = state.x_i.shape[-2]
        return sent * self._count(n) / n, sent

    def fixed_point(self, problem: Problem, x_star: Array) -> ScaffnewState:
        """h_i = grad f_i(x*): a fixed point whatever the coins."""
        return ScaffnewState(x_star, spread(x_star, problem.n), problem.grad(x_star))


def _draw_pattern(key: Key, n: int, s: int, d: int) -> NDArray[np.float64]:
    """The q_i ``(*batch, n, d)``: coordinate k belongs to the places s k, ..., s k + s - 1 of n, in a circle; clients take places at random."""
    places = np.argsort(key.uniform("pattern", (n,)), axis=-1)
    circle = (np.arange(n)[:, None] - s * np.arange(d)) % n < s
    return circle.astype(float)[places]


LISTED = (
    listing(
        "compressed-scaffnew",
        CompressedScaffnew,
        "Condat, Agarsky and Richtarik 2022, Algorithm 1",
        # conformance checks compare without compression: nobody else draws the same coordinates
        changes={"p": {"called": "q"}, "copies": {"telling": 0}},
    ),
)

_CONTROL = "beside(self.p, xb) * eta * q * (x_i - ahead) / self.lr"
MISTAKES = {
    CompressedScaffnew: (
        Mistake("sign of the correction", "problem.grad(state.x_i) - state.h_i", "problem.grad(state.x_i) + state.h_i"),
        Mistake("no p in the control update", "beside(self.p, xb) * eta", "eta"),
        Mistake("no 1/lr in the control update", _CONTROL, _CONTROL.removesuffix(" / self.lr")),
        Mistake("sign of the control update", "(x_i - ahead) / self.lr", "(ahead - x_i) / self.lr"),
        Mistake("control variates never updated", f"state.h_i + {_CONTROL}", "state.h_i"),
        Mistake("control update also without communication", "q * (x_i - ahead)", "q * (xb - ahead)"),
        Mistake("communicates in every round", "choose(coin,", "choose(True,"),
    ),
}
