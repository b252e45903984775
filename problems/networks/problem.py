"""A neural network as one more problem: gradients from PyTorch, parameters one flat vector a client."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array, take
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.layers import Layer
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Certified
from fedtheory.core.shapes import ClientPoints, ClientValues, Points, SampleNumbers
from fedtheory.tools.memory import require_room
from problems.datasets import Dataset
from problems.networks.architectures import Architecture, torch
from problems.networks.augmentation import VARIANTS, augment
from problems.networks.oracle import Arithmetic, device_of, gradients, outputs
from problems.networks.plan import Plan
from problems.splits import client_tests

BLOCK = 250  #: samples a client of which a full gradient takes at once


@dataclass(frozen=True, eq=False)
class Tests:
    """Images to test on.

    Parameters
    ----------
    images : tensor ``(k, channels, height, width)``
    labels : tensor ``(k,)``
    of_client : integer array ``(n, m)``, optional
        Which of them are like each client's own data; -1 fills up.
    """

    __test__ = False  # no test case, whatever pytest thinks of the name

    images: Array
    labels: Array
    of_client: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """Mean cross-entropy of a network on each client's images, plus (l2/2) ||x||^2.

    Points are torch tensors ``(..., n, d)`` on the device and in the precision of the images. The samples of all clients lie in one
    tensor, client i's from ``first[i]`` on, so that a round touches and copies only those that it draws.

    With ``augmented``, samples are images in one of `augmentation.VARIANTS` variants, and ``n_samples`` counts them so; ``value``, ``grad``
    and accuracies are of the images as they are. So full gradients are not the mean of minibatch gradients then, and methods that mix
    both (variance reduction) are biased.

    Parameters
    ----------
    architecture : Architecture
    images : tensor ``(samples, channels, height, width)``
    labels : tensor ``(samples,)``
    first, counts : integer arrays ``(n,)``
        Where each client's samples begin, and how many it has.
    l2 : float
        Weight decay. PyTorch's SGD adds it where a client stands, this adds it to f_i; SAM's ascent sees the difference.
    augmented : bool
    arithmetic : Arithmetic
    plan : Plan
        Clients together or one by one.
    tests : Tests, optional
    name : str
    """

    architecture: Architecture
    images: Array
    labels: Array
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    l2: float = 0.0
    augmented: bool = False
    arithmetic: Arithmetic = Arithmetic()
    plan: Plan = dataclasses.field(default_factory=Plan)
    tests: Tests | None = None
    name: str = "network"

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.counts.shape[-1])

    @property
    def d(self) -> int:
        """Number of parameters."""
        return self.architecture.d

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Weights and biases, in the order of the parameter vector."""
        return self.architecture.layers

    @property
    def n_samples(self) -> NDArray[np.int64]:
        """Samples of each client ``(n,)``, all variants counted where they are augmented."""
        return self.counts * (VARIANTS if self.augmented else 1)

    @property
    def variants(self) -> int | None:
        """Samples in a row that are one image, where they are augmented."""
        return VARIANTS if self.augmented else None

    def initial(self, seed: int = 0) -> Array:
        """Random start ``(d,)``, PyTorch's own; the same on every device."""
        return self.architecture.initial(seed).to(self.images)

    # ---- losses and gradients ---------------------------------------------------------------------------------------

    def value(self, x: Points) -> ClientValues:
        """Values f_i(x_i)."""
        lead, points, first, counts = self._rows(x)
        pt = torch()
        if x.shape[-2] == 1 and not lead:  # one model: all clients' samples in a row
            number = np.concatenate([np.arange(f, f + c) for f, c in zip(first, counts, strict=True)])
            losses = self._losses(x[0], number).split(counts.tolist())
            found = pt.stack([part.mean() for part in losses])
        else:
            found = pt.stack(
                [self._losses(p, np.arange(f, f + c)).mean() for p, f, c in zip(points, first, counts, strict=True)]
            )
        found = found.reshape(*lead, self.n)
        return found + self.l2 / 2 * (x * x).sum(dim=-1) if self.l2 else found

    def _losses(self, x: Array, number: NDArray[np.int64]) -> Array:
        index = self._there(number)
        out = outputs(self.architecture, self.arithmetic, x, self.images[index])
        return torch().nn.functional.cross_entropy(out, self.labels[index], reduction="none")

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of f_i at x_i."""
        lead, points, first, counts = self._rows(x)
        total = torch().zeros_like(points, memory_format=torch().contiguous_format)
        for begin in range(0, int(counts.max()), BLOCK):
            rows = np.flatnonzero(counts > begin)
            real = np.minimum(counts[rows] - begin, BLOCK)
            within = np.minimum(np.arange(real.max()), real[:, None] - 1)
            weights = (np.arange(real.max()) < real[:, None]) / counts[rows, None]
            part = self._gradients(points[self._there(rows)], first[rows, None] + begin + within, weights, real)
            total.index_add_(0, self._there(rows), part)
        return self._with_decay(total.reshape(*lead, self.n, self.d), x)

    def sample_grad(self, x: Points, samples: SampleNumbers) -> ClientPoints:
        """Mean gradient over minibatches.

        Raises
        ------
        InvalidInput
            A client has fewer images than the batch.
        """
        batch = samples.shape[-1]
        if batch > self.counts.min():
            raise InvalidInput(
                f"a batch of {batch} samples is more than a client has: the smallest has {self.counts.min()}; lower the batch, or give "
                "clients more data"
            )
        lead, points, first, _ = self._rows(x, samples.shape[:-2])
        drawn = np.broadcast_to(samples, (*lead, self.n, batch)).reshape(-1, batch)
        variants = None
        if self.augmented:
            drawn, variants = np.divmod(drawn, VARIANTS)
        found = self._gradients(points, first[:, None] + drawn, variants=variants)
        return self._with_decay(found.reshape(*lead, self.n, self.d), x)

    def one_by_one(self, m: int, batch: int) -> bool:
        """Whether minibatch gradients of m clients are computed one after the other (`fedtheory.local.execution.run_minibatch_steps`)."""
        return self.plan.one_by_one(m, batch)

    def _gradients(
        self,
        points: Array,
        number: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
        real: NDArray[np.int64] | None = None,
        *,
        variants: NDArray[np.int64] | None = None,
    ) -> Array:
        index = self._there(number)
        images = self.images[index]
        if variants is not None:
            images = augment(images.flatten(0, 1), self._there(variants.ravel())).reshape(images.shape)
        work = (self.architecture, self.arithmetic, self.plan, points, images, self.labels[index])
        if weights is None or real is None:
            return gradients(*work)
        return gradients(*work, self._there(weights).to(points.dtype), real.tolist())

    def _with_decay(self, g: Array, x: Array) -> Array:
        return g + self.l2 * x if self.l2 else g

    def _rows(self, x: Array, batch: Sequence[int] = ()) -> tuple[Any, Array, NDArray[np.int64], NDArray[np.int64]]:
        """Batch axes, and one row for every client of every run: points ``(rows, d)``, first samples, counts ``(rows,)``.

        Raises
        ------
        InvalidInput
            x is no tensor, or lies elsewhere than the images.
        """
        device, dtype = getattr(x, "device", None), getattr(x, "dtype", None)
        if device != self.images.device or dtype != self.images.dtype:
            raise InvalidInput(
                f"{self.name} has its images as {self.images.dtype} on {self.images.device} and was asked about a point "
                f"{dtype or type(x).__name__} on {device or 'the host'}; start from problem.initial(seed)"
            )
        lead = np.broadcast_shapes(tuple(x.shape[:-2]), self.counts.shape[:-1], tuple(batch))
        points = x.detach().broadcast_to(*lead, self.n, self.d).reshape(-1, self.d)
        first, counts = (np.broadcast_to(k, (*lead, self.n)).ravel() for k in (self.first, self.counts))
        return lead, points, first, counts

    def _there(self, values: NDArray[Any]) -> Array:
        """Host numbers on the device of the images, without waiting for it."""
        return torch().from_numpy(np.ascontiguousarray(values)).to(self.images.device, non_blocking=True)

    # ---- who takes part ---------------------------------------------------------------------------------------------

    def take(self, clients: Clients | None) -> Network:
        """Restrict to the clients that take part; no images are copied."""
        if clients is None:
            return self
        return replace(self, first=take(self.first, clients.index, 0), counts=take(self.counts, clients.index, 0))

    def slice(self, first: int, last: int) -> Network:
        """Restrict to the clients first, ..., last - 1."""
        tests = self.tests
        if tests is not None and tests.of_client is not None:
            tests = replace(tests, of_client=tests.of_client[first:last])
        return replace(self, first=self.first[..., first:last], counts=self.counts[..., first:last], tests=tests)

    # ---- constants --------------------------------------------------------------------------------------------------

    def lower_bound(self) -> Certified:
        """Zero: cross-entropy is not negative."""
        return Certified(0.0, "cross-entropy and weight decay are not negative")

    def certify(self) -> dict[str, Certified]:
        """Refuse: the loss of a network has no global smoothness constant."""
        raise NotAvailable(f"{self.name!r} has no certified constants: its loss is not globally smooth")

    # ---- accuracy ---------------------------------------------------------------------------------------------------

    @property
    def test_accuracy(self) -> Callable[[Points], ClientValues] | None:
        """Share of the test images that a model gets right; None without a test set."""
        return None if self.tests is None else self._test_accuracy

    def _test_accuracy(self, x: Points) -> ClientValues:
        tests = self.tests
        assert tests is not None
        points = x.reshape(-1, self.d)
        shares = [self._right(point, tests.images, tests.labels) for point in points]
        return torch().stack(shares).reshape(x.shape[:-1])

    @property
    def personal_accuracy(self) -> Callable[[Points], ClientValues] | None:
        """Share of its own test images that each client's model gets right; None without such images."""
        return None if self.tests is None or self.tests.of_client is None else self._personal_accuracy

    def _personal_accuracy(self, x: Points) -> ClientValues:
        tests = self.tests
        assert tests is not None and tests.of_client is not None
        if self.counts.ndim > 1 or len(tests.of_client) != self.n:
            raise InvalidInput(
                f"there are test samples for all {len(tests.of_client)} clients and models of {self.n}; ask the problem of all clients"
            )
        own = [self._there(row[row >= 0]) for row in tests.of_client]
        if x.shape[-2] == 1:  # a common model: its answers to all images are enough
            right = [self._hits(point, tests.images, tests.labels) for point in x.reshape(-1, self.d)]
            shares = [hits[index].mean() for hits in right for index in own]
        else:
            points = x.reshape(-1, self.d)
            shares = [
                self._right(point, tests.images[own[k % self.n]], tests.labels[own[k % self.n]])
                for k, point in enumerate(points)
            ]
        return torch().stack(shares).reshape(*x.shape[:-2], self.n)

    def _hits(self, x: Array, images: Array, labels: Array) -> Array:
        out = outputs(self.architecture, self.arithmetic, x, images)
        return (out.argmax(dim=-1) == labels).to(self.images.dtype)

    def _right(self, x: Array, images: Array, labels: Array) -> Array:
        return self._hits(x, images, labels).mean()

    # ---- what an option costs ---------------------------------------------------------------------------------------

    def effect_of_arithmetic(self, x: Array, batch: int = 50) -> float:
        """Largest relative error that ``arithmetic`` makes in a client's gradient at a common point ``(1, d)``.

        ||g - g_exact|| / ||g_exact|| on each client's first samples, g_exact in this precision without mixed types and TF32.
        """
        first = np.minimum(np.arange(batch), self.counts[:, None] - 1)
        plain = replace(self, arithmetic=Arithmetic(), augmented=False, plan=Plan("one by one"))
        ours, exact = replace(self, augmented=False), plain
        batches = first[:, : int(self.counts.min())]
        g, g_exact = ours.sample_grad(x, batches), exact.sample_grad(x, batches)
        return float(((g - g_exact).norm(dim=-1) / g_exact.norm(dim=-1)).max())


def network(
    clients: Sequence[Dataset],
    kind: str,
    *,
    width: int = 64,
    l2: float = 0.0,
    augmented: bool = False,
    test: Dataset | None = None,
    tests_a_client: int = 0,
    seed: int = 0,
    device: str = "cpu",
    dtype: str = "float32",
    arithmetic: Arithmetic | None = None,
    together: str = "measure",
) -> Network:
    """Build a network's problem from one data set of images a client.

    Channels are shifted and scaled to mean 0 and variance 1 over all clients' training images; a crop's border is zero after that, the
    mean colour.

    Parameters
    ----------
    clients : data sets with a shape and named classes
    kind : str
        A name in `architectures.ARCHITECTURES`.
    width : int
        Hidden units of the perceptron.
    l2 : float
        Weight decay.
    augmented : bool
        Random flips and crops.
    test : Dataset, optional
    tests_a_client : int
        Test images of each client, with the class shares of its training data (`client_tests`); 0 for none.
    seed : int
        Of the clients' test images.
    device : "cpu", "cuda", "cuda:1", ...
    dtype : "float32" or "float64"
    arithmetic : Arithmetic, optional
    together : "measure" or one of `plan.WAYS`

    Raises
    ------
    MissingExtra
        PyTorch is not installed.
    InvalidInput
        Data, device or an option cannot be used, or the data does not fit in memory.
    """
    pt, where = torch(), device_of(device)
    if not clients or not all(len(client) for client in clients):
        raise InvalidInput("expected at least one client, and a sample on each")
    if dtype not in ("float32", "float64"):
        raise InvalidInput(f"networks compute in float32 or float64, got {dtype!r}")
    shape, classes = clients[0].shape, len(clients[0].classes)
    if len(shape) not in (2, 3) or classes < 2:
        raise InvalidInput(f"{clients[0].name} are not images with named classes, which a network of this kind takes")
    if l2 < 0:
        raise InvalidInput(f"weight decay l2 must not be negative, got {l2}")
    height, width_of_image, channels = (*shape, 1)[:3]
    architecture = Architecture(kind, (channels, height, width_of_image), classes, width)
    counts = np.array([len(client) for client in clients])
    numbers = (int(counts.sum()) + (0 if test is None else len(test))) * height * width_of_image * channels
    itemsize = 4 if dtype == "float32" else 8
    advice = "take fewer samples a client (--samples-per-client)"
    require_room(f"{numbers} pixels of {clients[0].name}", 2 * itemsize * numbers, pt.empty(0, device=where), advice)
    flat = np.concatenate([client.features for client in clients])
    pixels = flat.reshape(-1, channels)
    centre, scale = pixels.mean(axis=0, dtype=np.float64), pixels.std(axis=0, dtype=np.float64)

    def place(features: NDArray[Any]) -> Array:
        images = (features.reshape(-1, height, width_of_image, channels) - centre) / np.where(scale > 0, scale, 1)
        return pt.from_numpy(np.ascontiguousarray(np.moveaxis(images, -1, 1), dtype=dtype)).to(where)

    def mark(labels: NDArray[Any]) -> Array:
        return pt.from_numpy(np.asarray(labels, dtype=np.int64)).to(where)

    tests = None
    if test is not None:
        own = client_tests(clients, test, tests_a_client, seed) if tests_a_client else None
        tests = Tests(place(test.features), mark(test.labels), own)
    return Network(
        architecture,
        place(flat),
        mark(np.concatenate([client.labels for client in clients])),
        np.cumsum(counts) - counts,
        counts,
        l2,
        augmented,
        arithmetic or Arithmetic(),
        Plan(together),
        tests,
        f"{kind} on {clients[0].name}, {len(clients)} clients",
    )
