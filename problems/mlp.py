"""A small multilayer perceptron with hand-written gradients: neural-network experiments at laptop size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, namespace, squared_norm, take, to_numpy
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.layers import Layer
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Points, SampleNumbers
from problems.datasets import Dataset, digits
from problems.samples import Classified, cross_entropy, probabilities
from problems.splits import by_shards, clients_of, hold_out, iid, pad_clients


@dataclass(frozen=True, eq=False)
class MultilayerPerceptron(Classified):
    """Mean cross-entropy of a network  inputs -> hidden (ReLU) -> classes plus (l2/2) ||x||^2, one flat parameter vector a client.

    The vector holds, in this order, the first weights (inputs, hidden), biases (hidden,), second weights (hidden, classes)
    and biases (classes,).

    Parameters
    ----------
    features, targets, weights : arrays
        See `problems.samples.Classified`; a sample of client i weighs 1/n_i.
    hidden : int
    name : str
    l2 : float
        Weight decay: (l2/2) ||x||^2 is part of every f_i, biases included.
    """

    hidden: int
    name: str = "multilayer perceptron"
    l2: float = 0.0

    @property
    def d(self) -> int:
        """Number of parameters."""
        return (self.inputs + 1) * self.hidden + (self.hidden + 1) * self.classes

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Weights and biases, in the order of the parameter vector."""
        return (
            Layer("first weights", (self.inputs, self.hidden)),
            Layer("first biases", (self.hidden,)),
            Layer("second weights", (self.hidden, self.classes)),
            Layer("second biases", (self.classes,)),
        )

    def _split(self, x: Array) -> tuple[Array, Array, Array, Array]:
        xp = namespace(x)
        p, h, c = self.inputs, self.hidden, self.classes
        lead = x.shape[:-1]
        cuts = list(accumulate([p * h, h, h * c]))
        return (
            xp.reshape(x[..., : cuts[0]], (*lead, p, h)),
            x[..., None, cuts[0] : cuts[1]],
            xp.reshape(x[..., cuts[1] : cuts[2]], (*lead, h, c)),
            x[..., None, cuts[2] :],
        )

    def logits(self, x: Array, features: Array) -> Array:
        """Outputs of the network: parameters ``(..., d)`` on samples ``(..., m, inputs)`` to ``(..., m, classes)``."""
        w1, b1, w2, b2 = self._split(x)
        xp = namespace(x)
        hidden = xp.matmul(features, w1) + b1
        return xp.matmul(xp.maximum(hidden, xp.zeros_like(hidden)), w2) + b2

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        losses = cross_entropy(self.logits(x, self.features), self.targets)
        loss = namespace(losses).sum(self.weights * losses, axis=-1)
        return loss + self.l2 / 2 * squared_norm(x) if self.l2 else loss

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        return self._backward(x, self.features, self.targets, self.weights[..., None])

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches."""
        return self._backward(x, take(self.features, samples), take(self.targets, samples), self._shares(samples))

    def _backward(self, x: Array, features: Array, targets: Array, weights: Any) -> Array:
        xp = namespace(x)
        w1, b1, w2, b2 = self._split(x)
        hidden = xp.matmul(features, w1) + b1
        active = xp.maximum(hidden, xp.zeros_like(hidden))
        out = xp.matmul(active, w2) + b2
        slope = weights * (probabilities(out) - targets)
        back = xp.matmul(slope, xp.matrix_transpose(w2)) * xp.astype(hidden > 0, hidden.dtype)
        parts = [
            xp.matmul(xp.matrix_transpose(features), back),
            xp.sum(back, axis=-2),
            xp.matmul(xp.matrix_transpose(active), slope),
            xp.sum(slope, axis=-2),
        ]
        lead = parts[1].shape[:-1]
        g = xp.concat([xp.reshape(part, (*lead, -1)) for part in parts], axis=-1)
        return g + self.l2 * x if self.l2 else g

    def lower_bound(self) -> Certified:
        """Zero: cross-entropy is not negative."""
        return Certified(0.0, "cross-entropy is not negative")

    def certify(self) -> dict[str, Certified]:
        """Refuse: the loss of a network has no global smoothness constant."""
        raise NotAvailable(f"{self.name!r} has no certified constants: its loss is not globally smooth")

    def accuracy(self, x: Array, features: Array, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Share of samples ``(m, inputs)`` classified right by parameters ``(..., d)``: ``(...)``."""
        guess = to_numpy(namespace(x).argmax(self.logits(x, features), axis=-1))
        return np.asarray((guess == labels).mean(axis=-1))

    def initial(self, seed: int = 0) -> NDArray[np.float64]:
        """Random start ``(d,)``: He-scaled weights, zero biases."""
        rng = np.random.default_rng(seed)
        first = rng.standard_normal((self.inputs, self.hidden)) * np.sqrt(2 / self.inputs)
        second = rng.standard_normal((self.hidden, self.classes)) * np.sqrt(2 / self.hidden)
        return np.concatenate([first.ravel(), np.zeros(self.hidden), second.ravel(), np.zeros(self.classes)])


def perceptron(
    clients: Sequence[Dataset], hidden: int, name: str = "multilayer perceptron", l2: float = 0.0
) -> MultilayerPerceptron:
    """Build the network's problem from one data set a client (`problems.splits.pad_clients` says which); samples weigh 1/n_i."""
    if hidden < 1:
        raise InvalidInput(f"expected at least one hidden unit, got {hidden}")
    if not l2 >= 0:
        raise InvalidInput(f"expected a weight decay l2 >= 0, got {l2}")
    return MultilayerPerceptron(*pad_clients(clients), hidden, name, l2)


@dataclass(frozen=True, eq=False)
class DigitsTask:
    """The handwritten digits of scikit-learn over clients, with a test set held out."""

    problem: MultilayerPerceptron
    test_features: NDArray[np.floating[Any]]
    test_labels: NDArray[np.int64]


def digits_task(split: str, *, n: int = 20, hidden: int = 32, shards: int = 2, seed: int = 0) -> DigitsTask:
    """Digits (1797 images of 8 x 8, 10 classes): 1400 for training over n clients, 397 for testing.

    ``split``: ``"iid"``, or ``"shards"``: sorted by label into ``shards`` pieces a client.
    """
    train, test = hold_out(digits(), 397, seed)
    if split == "iid":
        parts = iid(train.labels, n, seed)
    elif split == "shards":
        parts = by_shards(train.labels, n, shards, seed)
    else:
        raise InvalidInput(f"split must be 'iid' or 'shards', got {split!r}")
    problem = perceptron(clients_of(train, parts), hidden, f"digits, {split}, {n} clients")
    return DigitsTask(problem, test.features, test.labels)
