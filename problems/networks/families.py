"""What the catalogue needs of networks: training and testing parts of data sets, and a model of one data set a client."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput
from problems.datasets import Dataset, cifar10, emnist_letters, load, mnist
from problems.datasets.files import list_data_files
from problems.datasets.handwriting import Part
from problems.networks.oracle import Arithmetic
from problems.networks.problem import Network, network
from problems.splits import hold_out

#: sets that come in a training and a testing part
WITH_PARTS: dict[str, Callable[..., Dataset]] = {"mnist": mnist, "emnist_letters": emnist_letters}
#: sets whose testing part is the last so many images of the training part: of CIFAR-10 the official one is often there in part only (its
#: first 1000 images, or all of them with loss), and a test must not depend on which of them is
LAST_HELD_OUT: dict[str, tuple[Callable[..., Dataset], int]] = {"cifar10": (cifar10, 10_000)}
HELD_OUT = 397  #: samples set apart where a set has no testing part (of 1797 digits)

#: the networks that each data set is offered with: suffix of the family's name to the kind of network
KINDS: dict[str, dict[str, str]] = {
    "digits": {"cnn": "small-cnn"},
    "mnist": {"cnn": "mcmahan", "lenet": "lenet", "small": "small-cnn"},
    "emnist_letters": {"cnn": "femnist", "small": "small-cnn"},
    "cifar10": {
        "small": "small-cnn",
        "cnn": "mcmahan",
        "lenet": "lenet",
        "vgg11": "vgg11",
        "resnet18": "resnet18",
        "resnet18-3x3": "resnet18-3x3",
    },
}


@lru_cache(maxsize=2)
def load_part(name: str, part: Part, folder: str | None = None) -> Dataset:
    """Return a data set's training or testing part, by `WITH_PARTS` and `LAST_HELD_OUT`; of others `HELD_OUT` samples drawn once are the latter.

    The last two are kept: a process that makes many runs asks for them again and again.
    """
    if name in WITH_PARTS:
        return WITH_PARTS[name](folder, part)
    if name in LAST_HELD_OUT:
        whole, count = _load_whole(name, folder), LAST_HELD_OUT[name][1]
        if len(whole) <= count:
            raise InvalidInput(
                f"{whole.name} has {len(whole)} images; the last {count} are held out for tests, so more are needed"
            )
        rows = slice(None, -count) if part == "train" else slice(-count, None)
        return replace(whole, features=whole.features[rows], labels=whole.labels[rows])
    return hold_out(load(name, folder), HELD_OUT)[part == "test"]


@lru_cache(maxsize=1)
def _load_whole(name: str, folder: str | None) -> Dataset:
    return LAST_HELD_OUT[name][0](folder, "train")


def list_part_files(name: str, folder: str | None = None, *, tested: bool) -> dict[str, Path]:
    """Return the files that `load_part` reads for a training part, and where it is ``tested`` for the testing part, by name."""
    return list_data_files(name, folder, ("train", "test") if tested and name in WITH_PARTS else ("train",))


def model(kind: str) -> Callable[[list[Dataset], Dataset | None, Dataset, Any], tuple[Network, Network | None]]:
    """Return how to build a network of a kind from the clients' data, the server's where it has some, test data and the catalogue's options.

    It gives the clients' problem and the server's. Both have their images in one tensor, scaled alike.
    """

    def build(clients: list[Dataset], held: Dataset | None, test: Dataset, o: Any) -> tuple[Network, Network | None]:
        whole = network(
            clients if held is None else [*clients, held],
            kind,
            width=o.hidden,
            l2=o.l2,
            augmented=o.augment == "crop-flip",
            test=test,
            tests_a_client=o.tests_a_client,
            seed=o.seed,
            device=o.device,
            dtype="float64" if o.precision == "double" else "float32",
            arithmetic=Arithmetic(mixed=o.precision == "mixed"),
        )
        if held is None:
            return whole, None
        n = len(clients)
        name = f"{kind} on {clients[0].name}"
        ours = replace(whole.slice(0, n), name=f"{name}, {n} clients")
        return ours, replace(whole.slice(n, n + 1), tests=None, name=f"{name}, the server's")

    return build
