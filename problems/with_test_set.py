"""A model with samples set apart to test it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.core.arrays import Array, like, namespace
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.shapes import ClientValues, Points
from fedtheory.core.wrapped import Wrapped
from problems.datasets import Dataset
from problems.splits import client_tests


@dataclass(frozen=True, eq=False)
class WithTestSet(Wrapped):
    """A classifier's problem in every respect, plus its accuracies on samples that no client holds.

    Parameters
    ----------
    inner : Problem
        The model, with ``logits(x, features)``: parameters ``(..., d)`` on samples ``(..., m, inputs)`` to scores ``(..., m, classes)``.
    features : array ``(k, inputs)``
    labels : integer array ``(k,)``
    of_client : integer array ``(n, m)``, optional
        Which of the samples are like each client's own data (`problems.splits.client_tests`); -1 fills up.
    """

    __test__ = False  # no test case, whatever pytest thinks of the name

    features: Array
    labels: Array
    of_client: Array | None = None

    @classmethod
    def on(
        cls, model: Any, clients: Sequence[Dataset], test: Dataset, tests_a_client: int = 0, seed: int = 0
    ) -> WithTestSet:
        """Test the model of these clients on a data set, each client also on ``tests_a_client`` samples like its own."""
        if not hasattr(model, "logits"):
            raise NotAvailable(
                f"{model.name!r} has two classes and no scores for them; it cannot be tested for accuracy"
            )
        own = client_tests(clients, test, tests_a_client, seed) if tests_a_client else None
        return cls(model, test.features, np.asarray(test.labels, dtype=np.int64), own)

    def test_accuracy(self, x: Points) -> ClientValues:
        """Share of the test samples that a model gets right."""
        xp = namespace(x)
        right = self._guesses(x, _beside(self.features, x)) == _beside(self.labels, x)
        return xp.mean(xp.astype(right, xp.float64), axis=-1)  # type: ignore[no-any-return]

    test_accuracy.__test__ = False  # type: ignore[attr-defined]  # no test case, whatever pytest thinks of the name

    @property
    def personal_accuracy(self) -> Callable[[Points], ClientValues] | None:
        """Share of its own test samples that each client's model gets right; None without such samples."""
        return None if self.of_client is None else self._personal_accuracy

    def _personal_accuracy(self, x: Points) -> ClientValues:
        own = self.of_client
        assert own is not None
        if own.shape[0] != self.n:
            raise InvalidInput(
                f"there are test samples for all {own.shape[0]} clients and models of {self.n}; ask the problem of all clients"
            )
        xp, own = namespace(x), _beside(own, x)
        counts = own >= 0
        flat = xp.reshape(xp.where(counts, own, xp.zeros_like(own)), (-1,))
        features, labels = (xp.take(_beside(values, x), flat, axis=0) for values in (self.features, self.labels))
        guesses = self._guesses(x, xp.reshape(features, (*own.shape, -1)))
        right = xp.astype((guesses == xp.reshape(labels, own.shape)) & counts, xp.float64)
        held = xp.sum(xp.astype(counts, xp.float64), axis=-1)
        return xp.sum(right, axis=-1) / xp.where(held > 0, held, xp.ones_like(held))  # type: ignore[no-any-return]

    def _guesses(self, x: Array, features: Array) -> Array:
        return namespace(x).argmax(self.inner.logits(x, features), axis=-1)


def _beside(values: Array, x: Array) -> Array:
    """Test data of NumPy, or moved with the problem, in the library of x."""
    return like(values, x) if isinstance(values, np.ndarray) else values
