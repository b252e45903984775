"""A problem as a method shows it to its local solver: gradients that the method has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, choose, namespace
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import Problem

Oracle = Callable[[Array], Array]  # gradients of all f_i at points (..., n, d)


@dataclass(frozen=True, eq=False)
class ChangedGradients:
    """The clients' objectives with ``through(x, *oracles)`` in place of their gradients.

    With full gradients all ``draws`` oracles are the same. With minibatches each has its own part of the batch, so that they are
    independent; the batch is split evenly.
    """

    f: Problem
    through: Callable[..., Array]
    draws: int = 1

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.f.n

    @property
    def name(self) -> str:
        """Name of the problem that is seen."""
        return self.f.name

    def grad(self, x: Array) -> Array:
        """What the method makes of the gradients at x."""
        return self.through(x, *[self.f.grad] * self.draws)

    @property
    def n_samples(self) -> Any:
        """Samples of each client, if the problem has samples."""
        return getattr(self.f, "n_samples", None)

    @property
    def variants(self) -> int | None:
        """Variants of one datum, where the problem has them."""
        return getattr(self.f, "variants", None)

    @property
    def sample_grad(self) -> Callable[[Array, NDArray[np.int64]], Array] | None:
        """The same for minibatches ``(..., n, batch)``, if the problem has samples."""
        inner = getattr(self.f, "sample_grad", None)
        return None if inner is None else lambda x, samples: self._on_samples(inner, x, samples)

    def _on_samples(self, inner: Any, x: Array, samples: NDArray[np.int64]) -> Array:
        batch = samples.shape[-1]
        if batch % self.draws:
            raise InvalidInput(
                f"a step of this method needs {self.draws} independent minibatches of one size; batch={batch} samples a step "
                f"cannot be split so: choose a multiple of {self.draws}"
            )
        parts = np.split(samples, self.draws, axis=-1)
        return self.through(x, *[lambda y, part=part: inner(y, part) for part in parts])


def restricted_to(f: Problem, coordinates: Array) -> Any:
    """Show the gradients in some coordinates (a boolean array ``(d,)`` or ``(..., n, d)``) and zeros in the others."""

    def through(x: Array, oracle: Oracle) -> Array:
        g = oracle(x)
        return choose(coordinates, g, namespace(g).zeros_like(g))

    return ChangedGradients(f, through)
