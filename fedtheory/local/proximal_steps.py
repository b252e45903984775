"""Proximal gradient steps of a client, on its own objective or on a personal component on top of a common model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.core.arrays import Array, Scalar, gather
from fedtheory.core.participation import Clients
from fedtheory.core.problem import need
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import Regulariser
from fedtheory.local.solvers import Memoryless, Step, step_size
from fedtheory.local.stochastic import Passes, check_sampling, gradients, number_of_steps, shortened
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, eq=False)
class Shifted:
    """The problem p -> f_i(c_i + p): what a personal component p on top of a common model c sees."""

    f: Any
    centre: Array

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.f.n)

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return int(self.f.d)

    @property
    def name(self) -> str:
        """Name of f."""
        return f"{self.f.name}, shifted"

    @property
    def n_samples(self) -> Any:
        """Samples of each client, for stochastic steps."""
        return need(self.f, "n_samples", "a stochastic local solver")

    @property
    def variants(self) -> int | None:
        """Variants of one datum, where f has them."""
        return getattr(self.f, "variants", None)

    def value(self, x: Array) -> Array:
        """f_i(c_i + p_i)."""
        return self.f.value(self.centre + x)

    def grad(self, x: Array) -> Array:
        """Gradients of f_i at c_i + p_i."""
        return self.f.grad(self.centre + x)

    def take(self, clients: Clients | None) -> Shifted:
        """Restrict to the clients that take part."""
        return Shifted(self.f.take(clients), gather(self.centre, clients))

    def sample_grad(self, x: Array, samples: Any) -> Array:
        """Minibatch gradients at c_i + p_i."""
        return need(self.f, "sample_grad", "a stochastic local solver")(self.centre + x, samples)


@dataclass(frozen=True)
class ProximalSteps(Memoryless):
    """K proximal (stochastic) gradient steps  x <- prox_{lr h}(x - lr g(x))  on a subproblem plus h.

    With ``clip`` the direction g is shortened to that norm where it is longer.

    Source: FedSLR, (7) with h = mu ||.||_1 and (18) with the nuclear norm.

    Parameters
    ----------
    steps : int or Passes
        K, or passes through the samples (`fedtheory.local.stochastic.Passes`).
    lr : number, array ``(*batch, 1, 1)``, or function of (round, local step)
    regulariser : Regulariser
        The h of this client-side problem.
    batch : int, optional
        Samples a step and client; full gradients by default.
    clip : number or array ``(*batch, 1, 1)``, optional
        Largest norm of g.
    """

    steps: int | Passes
    lr: Step
    regulariser: Regulariser
    batch: int | None = None
    clip: Scalar | None = None

    def __post_init__(self) -> None:
        """Refuse settings that make no sense."""
        check_sampling(self)

    @property
    def numeric_only(self) -> str | None:  # type: ignore[override]
        """Random with minibatches; clipping looks at norms; otherwise what the regulariser says."""
        if self.batch is not None:
            return "it draws samples at random"
        return self.regulariser.numeric_only if self.clip is None else "it clips directions by their norms"

    def __call__(self, sub: Subproblem, start: Array, key: Key, memory: None) -> tuple[Array, None]:
        """Take the steps."""
        gradient = gradients(sub, key, self.steps, self.batch)
        x = start
        for q in range(number_of_steps(self, sub.f)):
            lr = step_size(self.lr, key.round, q)
            x = self.regulariser.prox(x - lr * shortened(sub.shift(gradient(x, q), x), self.clip), lr)
        return x, None
