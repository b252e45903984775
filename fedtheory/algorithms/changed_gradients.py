"""A problem as a method shows it to its local solver: gradients that the method has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, choose, namespace
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import Problem
from fedtheory.core.wrapped import Wrapped

Oracle = Callable[[Array], Array]  # gradients of all f_i at points (..., n, d)


@dataclass(frozen=True, eq=False)
class ChangedGradients(Wrapped):
    """The clients' objectives with ``through(x, *oracles)`` in place of their gradients.

    With full gradients all ``draws`` oracles are the same. With minibatches each has its own part of the batch, so that they are
    independent; the batch is split evenly. Values, proximal steps and the like belong to the true gradients and are not handed on.
    """

    through: Callable[..., Array]
    draws: int = 1

    handed_on: ClassVar[frozenset[str]] = frozenset({"n", "name", "n_samples", "variants", "sample_grad"})

    def grad(self, x: Array) -> Array:
        """The changed gradients at x."""
        return self.through(x, *[self.inner.grad] * self.draws)

    def changed_sample_grad(self, given: Any, x: Array, samples: NDArray[np.int64]) -> Array:
        """The same for minibatches ``(..., n, batch)``."""
        batch = samples.shape[-1]
        if batch % self.draws:
            raise InvalidInput(
                f"a step of this method needs {self.draws} independent minibatches of one size; batch={batch} samples a step "
                f"cannot be split so: choose a multiple of {self.draws}"
            )
        size = batch // self.draws
        parts = [samples[..., k * size : (k + 1) * size] for k in range(self.draws)]
        return self.through(x, *[lambda y, part=part: given(y, part) for part in parts])


def restrict_gradients(f: Problem, coordinates: Array) -> Any:
    """Keep the gradients in some coordinates (a boolean array ``(d,)`` or ``(..., n, d)``) and set the others to zero."""

    def through(x: Array, oracle: Oracle) -> Array:
        g = oracle(x)
        return choose(coordinates, g, namespace(g).zeros_like(g))

    return ChangedGradients(f, through)
