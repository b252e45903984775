"""What a family of instances may be asked for, and how real data is split among clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput, NotAvailable
from problems import splits
from problems.datasets import Dataset

#: how a linear model keeps its samples, by the words for it
ROWS: dict[str, bool | None] = {"auto": None, "sparse": True, "dense": False}

NO_SERVER, AVERAGE = "none", "average"  #: words for a server without data, and for one that knows the clients' average


@dataclass(frozen=True)
class Rule:
    """A way to split a data set, and the options that it reads beside clients and seed."""

    cut: Callable[[Dataset, Options], splits.Split]
    uses: tuple[str, ...] = ()


#: the splits by name
SPLITS: dict[str, Rule] = {
    "sorted": Rule(lambda d, o: splits.by_sorted_label(d.labels, o.clients, o.seed)),
    "iid": Rule(
        lambda d, o: splits.iid(d.labels, o.clients, o.seed, per_client=o.samples_per_client), ("samples_per_client",)
    ),
    "classes": Rule(
        lambda d, o: splits.by_classes(
            d.labels, o.clients, o.classes_per_client, o.seed, per_client=o.samples_per_client
        ),
        ("classes_per_client", "samples_per_client"),
    ),
    "shards": Rule(
        lambda d, o: splits.by_shards(d.labels, o.clients, o.shards, o.seed, per_client=o.samples_per_client),
        ("shards", "samples_per_client"),
    ),
    "dirichlet": Rule(lambda d, o: splits.dirichlet(d.labels, o.clients, o.concentration, o.seed), ("concentration",)),
    "dirichlet-labels": Rule(
        lambda d, o: splits.dirichlet_labels(
            d.labels,
            o.clients,
            o.concentration,
            o.seed,
            per_client=o.samples_per_client,
            in_total=o.concentration_of == "total",
            draw=o.draw,
        ),
        ("concentration", "concentration_of", "samples_per_client", "draw"),
    ),
    "group": Rule(lambda d, o: splits.by_group(_groups(d), o.clients, o.seed)),
}


def _asked(default: Any, text: str, *choices: str, strict: bool = False) -> Any:
    """Return a field that the command line offers: its help text, the words it may be, and whether families that do not read it refuse it."""
    return field(default=default, metadata={"help": text, "choices": choices, "strict": strict})


def _of_split(name: str, default: Any, text: str = "", *choices: str) -> Any:
    """Return a field that only some splits read."""
    users = [f"{split!r}" for split, rule in SPLITS.items() if name in rule.uses]
    return _asked(default, f"Of the split{'s' * (len(users) > 1)} {', '.join(users)}{text and ': '}{text}.", *choices)


@dataclass(frozen=True)
class Options:
    """What a family may be asked for; every family reads some (`Family.reads`).

    The command line offers the fields that have a help text, and takes it, the choices and the type from here; ``seed`` (of data, of
    splits) and ``data`` (the folder of data sets) have options of their own there.
    """

    clients: int = _asked(10, "Number of clients n.")
    dimension: int = _asked(10, "Number of coordinates d; of a matrix, its side.")
    L: float = _asked(1.0, "Smoothness constant.")
    mu: float = _asked(0.1, "Strong convexity constant.")
    heterogeneity: float = _asked(
        1.0, "How far the clients' minimisers are apart; of 'prescribed', the gradients at x*."
    )
    l2: float = _asked(0.0, "Weight of the ridge (l2/2) ||x||^2.")
    rows: str = _asked("auto", "Of linear models: samples with or without their zeros, or what is faster.", *ROWS)
    bias: float = _asked(0.0, "Constant feature of softmax regression; 0 for none.")
    coordinates: str = _asked(
        "all", "Of softmax regression's features: all of them, or orthonormal ones of the samples' span.", "all", "span"
    )
    beta: float = _asked(0.0, "Weight of the non-convex penalty.")
    lam: float = _asked(0.1, "Weight of the nuclear norm of low-rank problems.")
    nuclear: float = _asked(0.0, "Weight of a nuclear norm of all layers that are matrices, shared by all clients.")
    hidden: int = _asked(32, "Hidden units of a network.")
    device: str = field(
        default="cpu", metadata={"strict": True}
    )  # where PyTorch computes networks; --device is the command's own
    precision: str = _asked(
        "single", "Of PyTorch's networks; mixed has layers in bfloat16.", "single", "double", "mixed", strict=True
    )
    augment: str = _asked("none", "Random crops and flips of a network's images.", "none", "crop-flip", strict=True)
    test: str = _asked(
        "none",
        "Keep the testing part of real data, or some samples of a set without one, and measure accuracy; networks of PyTorch always do.",
        *("none", "own"),
    )
    tests_a_client: int = _asked(0, "Test samples of each client, with the class shares of its data.")
    split: str = _asked("sorted", "Of real data.", *SPLITS)
    classes_per_client: int = _of_split("classes_per_client", 2)
    shards: int = _of_split("shards", 2, "pieces of the sorted data that a client gets")
    samples_per_client: int | None = _of_split("samples_per_client", None)
    concentration: float = _of_split("concentration", 0.5)
    concentration_of: str = _of_split(
        "concentration_of", "class", "of each class, or summed over them", "class", "total"
    )
    draw: splits.Draw = _of_split(
        "draw",
        "without",
        "without replacement, classes refilled when used up, or with replacement",
        *get_args(splits.Draw),
    )
    server: str = _asked(
        NO_SERVER, f"Data of the server's own: {NO_SERVER}, {AVERAGE}, or a number of samples of real data."
    )
    brightness: float = _asked(0.0, "Spread of the clients' log-brightness, of images.")
    colour: float = _asked(0.0, "Spread of the log-brightness of a colour channel, of images.")
    seed: int = 0
    data: str | None = None


def _groups(dataset: Dataset) -> NDArray[np.int64]:
    if dataset.groups is None:
        raise NotAvailable(
            f"the data set {dataset.name!r} does not say which group a sample is of; choose another split"
        )
    return dataset.groups


def divide(dataset: Dataset, o: Options) -> splits.Split:
    """Split a data set as the options say.

    Raises
    ------
    InvalidInput
        The split is unknown, does not read an option that was given, or cannot be had on this data.
    """
    if o.split not in SPLITS:
        raise InvalidInput(f"unknown split {o.split!r}; known are {', '.join(SPLITS)}")
    rule = SPLITS[o.split]
    defaults = Options()
    for name in sorted({use for other in SPLITS.values() for use in other.uses} - {*rule.uses}):
        if getattr(o, name) != getattr(defaults, name):
            known = ", ".join(other for other, found in SPLITS.items() if name in found.uses)
            raise InvalidInput(f"the split {o.split!r} does not use --{name.replace('_', '-')}; these do: {known}")
    return rule.cut(dataset, o)
