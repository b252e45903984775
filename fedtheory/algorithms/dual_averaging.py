"""FedDualAvg (Yuan, Zaheer and Reddi 2021): federated dual averaging for a smooth average plus a shared regulariser."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithms.base import Method
from fedtheory.algorithms.listing import listing
from fedtheory.core.arrays import Array, average
from fedtheory.core.hyperparameters import ConstantStep, Count, Positive
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, can
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import shared_regulariser
from fedtheory.local.stochastic import make_gradient
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, slots=True, eq=False)
class DualAveragingState:
    """Server model and dual average."""

    x: Array  # (..., 1, d)  server model, prox of z
    z: Array  # (..., 1, d)  minus the gradients followed so far, from x^0


@dataclass(frozen=True)
class FedDualAvg(Method):
    """Clients sum gradients in the dual space, and every step maps the sum to a model by the proximal operator of h.

    z_i^0 = z^r,  z_i^{k+1} = z_i^k - lr g_i(w),  w = prox_{s h}(z_i^k),  s = lr (server_lr r K + k),  K steps;
    z^{r+1} = z^r + server_lr mean_{active}(z_i^K - z^r),  x^{r+1} = prox_{s h}(z^{r+1}),  s = lr server_lr (r + 1) K.

    h is the problem's ``regulariser``; a problem without one has h = 0, and then this is FedAvg with a server step. The gradients
    are of f_i without h. With K = 1, full gradients and server_lr = 1 it is dual averaging:
    x^r = argmin_x <sum of the gradients, x> + r h(x) + ||x - x^0||^2 / (2 lr).

    Source: Yuan, Zaheer and Reddi 2021, Algorithm 2 (Euclidean); DualFL, Section 7.

    Parameters
    ----------
    steps : int
        Local steps a round, K.
    lr : number, array ``(*batch, 1, 1)`` or symbol
        Local step size.
    batch : int or None
        Samples a local step [default: full gradients].
    server_lr : number, array ``(*batch, 1, 1)`` or symbol
        Step size of the server.

    Examples
    --------
    >>> trace = run(FedDualAvg(2, lr=0.1), problem, x0, 50)
    >>> print(trace["stationarity"][-1] < trace["stationarity"][0])
    True
    """

    family = "averaging"

    steps: Count
    lr: ConstantStep
    batch: Count | None = None
    server_lr: Positive = 1

    @property
    def numeric_only(self) -> str | None:
        """Why it needs numbers: it draws minibatches; None with full gradients."""
        return None if self.batch is None else "it draws samples at random"

    def init(self, problem: Problem, x0: Array) -> DualAveragingState:
        return DualAveragingState(x0, x0)

    def round(
        self, problem: Problem, state: DualAveragingState, clients: Clients | None, key: Key
    ) -> DualAveragingState:
        moved = average(self._descend(problem, state.z, clients, key) - state.z, clients)
        z = state.z + self.server_lr * moved
        x = shared_regulariser(problem).prox(z, self.lr * self.server_lr * (key.round + 1) * self.steps)
        return DualAveragingState(x, z)

    def _descend(self, problem: Problem, z: Array, clients: Clients | None, key: Key) -> Array:
        h = shared_regulariser(problem)
        grad = make_gradient(Subproblem(problem.take(clients), clients=clients), key, self.steps, self.batch)
        for k in range(self.steps):
            w = h.prox(z, self.lr * (self.server_lr * key.round * self.steps + k))
            z = z - self.lr * grad(w, k)
        return z

    def fixed_point(self, problem: Problem, x_star: Array) -> DualAveragingState | None:
        """x* is kept only with one full-gradient step and no regulariser, whose weight grows from round to round."""
        plain = self.steps == 1 and self.batch is None and not can(problem, "regulariser")
        return DualAveragingState(x_star, x_star) if plain else None


LISTED = (
    listing(
        "feddualavg",
        FedDualAvg,
        "Yuan, Zaheer and Reddi 2021, Algorithm 2; DualFL, Section 7",
        changes={"steps": {"default": 1, "spelled": "local-steps"}},
    ),
)
