"""Small networks on the handwritten digits, and how their numbers are compared; what imports this is skipped without PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.core.randomness import Key
from fedtheory.local.stochastic import draw_samples
from fedtheory.local.subproblem import Subproblem
from problems.datasets import Dataset, digits
from problems.networks import network
from problems.networks.problem import Network
from problems.splits import by_classes, clients_of, hold_out

torch = pytest.importorskip("torch", reason="networks need PyTorch, the extra 'cnn'")

N, BATCH = 4, 8


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def split_digits() -> tuple[list[Dataset], Dataset]:
    """Four clients with three classes each and unequal amounts of data, 9 to 90 images."""
    train, test = hold_out(digits(), 397)
    clients = clients_of(train, by_classes(train.labels, N, 3))
    return [c.take(np.arange(size)) for c, size in zip(clients, (90, 9, 40, 31), strict=True)], test


def small(kind: str = "small-cnn", **options) -> Network:
    clients, test = split_digits()
    given = {"test": test, "tests_a_client": 20, "dtype": "float64", "together": "one by one"} | options
    return network(clients, kind, **given)


def close(left, right, rtol: float) -> None:
    size = max(1.0, float(right.abs().max()))
    assert left.shape == right.shape and left.dtype == right.dtype
    assert float((left - right).abs().max()) <= rtol * size


def points(f: Network, *lead: int):
    """Random models around the start, one a client."""
    noise = torch.from_numpy(np.random.default_rng(5).standard_normal((*lead, f.n, f.d)))
    return f.initial(0) + 0.05 * noise


def some_samples(f: Network, batch: int = BATCH) -> np.ndarray:
    return draw_samples(Subproblem(f), Key(3, 0), 1, batch)[:, 0]
