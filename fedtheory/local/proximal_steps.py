"""Proximal gradient steps of a client, on its own objective or on a personal component on top of a common model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fedtheory.core.arrays import Array, Scalar, gather
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import Regulariser
from fedtheory.core.shapes import ClientPoints, Points
from fedtheory.core.wrapped import Wrapped
from fedtheory.local.solvers import Memoryless, Step, step_size
from fedtheory.local.stochastic import Passes, check_sampling, clip_norms, count_steps, make_gradient
from fedtheory.local.subproblem import Subproblem


@dataclass(frozen=True, eq=False)
class ShiftedProblem(Wrapped):
    """The problem p -> f_i(c_i + p) of a personal component p that is added to a common model c."""

    centre: Array

    handed_on: ClassVar[frozenset[str]] = frozenset({"n", "d", "n_samples", "variants", "sample_grad"})

    @property
    def name(self) -> str:
        """Name of f."""
        return f"{self.inner.name}, shifted"

    def value(self, x: Array) -> Array:
        """f_i(c_i + p_i)."""
        return self.inner.value(self.centre + x)

    def grad(self, x: Array) -> Array:
        """Gradients of f_i at c_i + p_i."""
        return self.inner.grad(self.centre + x)

    def take(self, clients: Clients | None) -> ShiftedProblem:
        """Restrict to the clients that take part."""
        return ShiftedProblem(self.inner.take(clients), gather(self.centre, clients))

    def changed_sample_grad(self, given: Any, x: Array, samples: Any) -> Array:
        """Minibatch gradients at c_i + p_i."""
        found: Array = given(self.centre + x, samples)
        return found


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

    Examples
    --------
    >>> local = ProximalSteps(5, 0.5, L1(0.1))
    >>> state = run(FedSLR(eta=0.4, personal=local), problem, x0, 50).state
    >>> print((state.p_i == 0).any())  # personal components have zeros
    True
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
        """Why it needs numbers (minibatches, clipping, or a reason of the regulariser's), or None."""
        if self.batch is not None:
            return "it draws samples at random"
        return self.regulariser.numeric_only if self.clip is None else "it clips directions by their norms"

    def __call__(self, sub: Subproblem, start: Points, key: Key, memory: None) -> tuple[ClientPoints, None]:
        """Take the steps."""
        gradient = make_gradient(sub, key, self.steps, self.batch)
        x = start
        for q in range(count_steps(self, sub.f)):
            lr = step_size(self.lr, key.round, q)
            x = self.regulariser.prox(x - lr * clip_norms(sub.shift(gradient(x, q), x), self.clip), lr)
        return x, None
