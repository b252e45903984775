"""The families of instances by name, for the command line and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.core.problem import Pooled, can, need
from fedtheory.core.regularisers import NuclearNorm, regularised
from problems import (
    biased_participation,
    chains,
    dual_drift,
    fedavg_divergence,
    huber,
    lower_bound,
    nonconvex,
    prescribed,
    quadratics,
    separable,
    splits,
)
from problems.datasets import BUNDLED, LIBSVM, Dataset, load
from problems.logistic import fedpd_synthetic
from problems.low_rank import low_rank_regression, robust_low_rank_regression
from problems.mlp import perceptron
from problems.networks.families import KINDS, load_part
from problems.networks.families import model as network_model
from problems.server import ServerAssisted
from problems.shifts import shift_brightness
from problems.softmax import Softmax
from problems.svm import svm
from problems.tested import Tested

NO_SERVER, AVERAGE = "none", "average"  #: words for a server without data, and for one that knows the clients' average


@dataclass(frozen=True)
class Options:
    """What a family may be asked for: clients, coordinates, constants, heterogeneity, penalties, network, data, split, server, seed.

    ``nuclear``: weight of a nuclear norm of all layers that are matrices, which every client shares; none by default.
    ``server``: the server's own data, ``"none"``, ``"average"`` (it knows the clients' average), or a number of samples of real data.
    ``test``: ``"own"`` sets the data set's testing part (or some samples of a set without one) apart and measures accuracy on it; PyTorch's
    networks always do. ``tests_a_client``: how many of them each client is tested on, with the class shares of its own data.
    ``ONLY_NETWORKS``: fields that only networks read, and what everybody else has there.
    """

    ONLY_NETWORKS: ClassVar[dict[str, str]] = {"device": "cpu", "precision": "single", "augment": "none"}

    clients: int = 10
    dimension: int = 10
    L: float = 1.0
    mu: float = 0.1
    heterogeneity: float = 1.0
    l2: float = 0.0
    beta: float = 0.0
    lam: float = 0.1
    nuclear: float = 0.0
    hidden: int = 32
    device: str = "cpu"
    precision: str = "single"
    augment: str = "none"
    test: str = "none"
    tests_a_client: int = 0
    split: str = "sorted"
    classes_per_client: int = 2
    shards: int = 2
    samples_per_client: int | None = None
    concentration: float = 0.5
    concentration_of: str = "class"
    draw: splits.Draw = "without"
    brightness: float = 0.0
    colour: float = 0.0
    server: str = NO_SERVER
    seed: int = 0
    data: str | None = None


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


@dataclass(frozen=True)
class Family:
    """A family of instances: its name, what it is, and how to build one."""

    name: str
    description: str
    make: Callable[[Options], Any]

    def build(self, o: Options) -> Any:
        """Return an instance."""
        if server_samples(o):
            raise NotAvailable(
                f"{self.name!r} is not built on a data set, so its server cannot hold samples; use --server {AVERAGE}"
            )
        return _assisted(self.make(o), o)


def server_samples(o: Options) -> int:
    """Samples that the server is to hold.

    Raises
    ------
    InvalidInput
        The option ``server`` is neither a word nor a number of samples.
    """
    if o.server in (NO_SERVER, AVERAGE):
        return 0
    if not o.server.isdecimal() or int(o.server) < 1:
        raise InvalidInput(f"--server is {NO_SERVER}, {AVERAGE} or a number of samples, got {o.server!r}")
    return int(o.server)


def _assisted(problem: Any, o: Options, server: Any = None) -> Any:
    """The instance with the server's data and the nuclear norm that the options ask for."""
    found = _served(problem, o, server)
    if o.nuclear == 0:
        return found
    return regularised(found, NuclearNorm(o.nuclear, need(found, "layers", "a nuclear norm of layers (--nuclear)")))


def _served(problem: Any, o: Options, server: Any) -> Any:
    if o.server == NO_SERVER:
        return problem
    if can(problem, "server"):
        raise InvalidInput(f"{problem.name!r} has a server with data already; leave --server out")
    return ServerAssisted(problem, Pooled(problem) if server is None else server)


@dataclass(frozen=True)
class DataFamily:
    """A family on real data: a data set, and the model that is fitted to one data set a client.

    The steps are apart, so that the split can be looked at. A family with a ``network`` splits the training part of its set, and its
    instances know the testing part.
    """

    name: str
    description: str
    dataset: str
    model: Callable[[list[Dataset], Options], Any] | None = None
    network: Callable[[list[Dataset], Dataset | None, Dataset, Options], tuple[Any, Any]] | None = None

    def load(self, o: Options) -> Dataset:
        """Return the data set, or its training part."""
        return load_part(self.dataset, "train", o.data) if self._tested(o) else load(self.dataset, o.data)

    def _tested(self, o: Options) -> bool:
        """Whether the testing part of the set is kept for testing.

        Raises
        ------
        InvalidInput
            Tests are asked for that nothing can be tested on.
        """
        if o.test not in ("none", "own"):
            raise InvalidInput(f"--test is none or own, got {o.test!r}")
        if o.tests_a_client < 0 or (o.tests_a_client and o.test == "none" and self.network is None):
            raise InvalidInput(
                f"--tests-a-client {o.tests_a_client} needs --test own and a number that is not negative"
            )
        return o.test == "own" or self.network is not None

    def split(self, dataset: Dataset, o: Options) -> splits.Split:
        """Return the samples of each client, of those that the server does not hold."""
        rest, _ = self._held(dataset, o)
        return [rest[part] for part in divide(dataset.take(rest), o)]

    def _held(self, dataset: Dataset, o: Options) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return splits.set_apart(len(dataset), server_samples(o), o.seed)

    def label_counts(self, dataset: Dataset, split: splits.Split) -> tuple[Any, list[str]]:
        """Return samples of each class on each client ``(n, classes)``, and the classes' names."""
        kinds = np.unique(dataset.labels)
        return splits.label_counts(dataset.labels, split), [
            dataset.classes[k] if dataset.classes else f"{k:+d}" for k in kinds
        ]

    def on(self, dataset: Dataset, split: splits.Split, o: Options) -> Any:
        """Return the instance on a split data set."""
        clients = splits.clients_of(dataset, split)
        if o.brightness or o.colour:
            clients = shift_brightness(clients, brightness=o.brightness, colour=o.colour, seed=o.seed)
        held = self._held(dataset, o)[1]
        of_server = dataset.take(held) if len(held) else None
        if self.network is not None:
            problem, server = self.network(clients, of_server, load_part(self.dataset, "test", o.data), o)
            return _assisted(problem, o, server)
        assert self.model is not None
        problem = self.model(clients, o)
        if self._tested(o):
            problem = Tested.on(problem, clients, load_part(self.dataset, "test", o.data), o.tests_a_client, o.seed)
        return _assisted(problem, o, None if of_server is None else self.model([of_server], o))

    def build(self, o: Options) -> Any:
        """Return an instance."""
        dataset = self.load(o)
        return self.on(dataset, self.split(dataset, o), o)


# ---- models of one data set a client ------------------------------------------------------------------------------


def _logistic(clients: list[Dataset], o: Options) -> Any:
    return splits.logistic_of(clients, l2=o.l2, beta=o.beta)


def _machine(width: float) -> Callable[[list[Dataset], Options], Any]:
    def model(clients: list[Dataset], o: Options) -> Any:
        return svm(
            [client.features for client in clients],
            [client.labels for client in clients],
            l2=o.l2,
            width=width,
            name=f"support vector machine on {clients[0].name}, {len(clients)} clients",
        )

    return model


def _softmax(clients: list[Dataset], o: Options) -> Any:
    return Softmax(
        *splits.padded(clients), o.l2, name=f"softmax regression on {clients[0].name}, {len(clients)} clients"
    )


def _parity(clients: list[Dataset], o: Options) -> Any:
    """Even classes against odd ones: the split knows all classes, the model two."""
    signs = [
        replace(c, labels=np.where(c.labels % 2 == 0, 1, -1), classes=(), name=f"{c.name} (even or odd)")
        for c in clients
    ]
    return _logistic(signs, o)


def _network(clients: list[Dataset], o: Options) -> Any:
    name = f"network of {o.hidden} hidden units on {clients[0].name}, {len(clients)} clients"
    return perceptron(clients, o.hidden, name, o.l2)


def _on_data(
    suffix: str, text: str, model: Callable[[list[Dataset], Options], Any], *names: str
) -> tuple[DataFamily, ...]:
    return tuple(
        DataFamily(
            (name if name in LIBSVM else name.replace("_", "-")) + suffix,
            text.format(name=name) + ("" if name in BUNDLED else ", from the data folder"),
            name,
            model,
        )
        for name in names
    )


PROBLEMS: tuple[Family | DataFamily, ...] = (
    Family(
        "quadratics",
        "random strongly convex quadratics (clients, dimension, L, mu, heterogeneity)",
        lambda o: quadratics.random_quadratics(
            o.clients, o.dimension, L=o.L, mu=o.mu, heterogeneity=o.heterogeneity, seed=o.seed
        ),
    ),
    Family(
        "indefinite",
        "random quadratics whose clients are indefinite and whose average is convex (clients, dimension, L)",
        lambda o: quadratics.random_indefinite(o.clients, o.dimension, L=o.L, seed=o.seed),
    ),
    Family(
        "same-curvature",
        "quadratics of one curvature, so that gradient dissimilarity is bounded (clients, dimension, L, mu)",
        lambda o: quadratics.same_curvature(o.clients, o.dimension, L=o.L, mu=o.mu, seed=o.seed),
    ),
    Family(
        "sines",
        "sums of sines: smooth and non-convex (clients, dimension, L)",
        lambda o: separable.random_sines(o.clients, o.dimension, L=o.L, seed=o.seed),
    ),
    Family(
        "prescribed",
        "quadratics of given root mean square gradient at the solution (clients, dimension, L, mu, heterogeneity)",
        lambda o: prescribed.prescribed_quadratics(
            o.clients, o.dimension, zeta=o.heterogeneity, L=o.L, mu=o.mu, seed=o.seed
        ),
    ),
    Family(
        "cosines",
        "sums of cosines of linear forms and a ridge: smooth and non-convex, all clients with the same exact L (clients, dimension, L)",
        lambda o: nonconvex.random_cosines(o.clients, o.dimension, L=o.L, seed=o.seed),
    ),
    Family(
        "cauchy",
        "Cauchy losses: smooth, non-convex, with fading gradients (clients, dimension, L, heterogeneity)",
        lambda o: nonconvex.random_cauchy(o.clients, o.dimension, L=o.L, heterogeneity=o.heterogeneity, seed=o.seed),
    ),
    Family(
        "opposite-clients",
        "(x - 1)^2/2 and (x + 1)^2/2: A-FedPD with one client a round keeps a noise floor",
        lambda o: dual_drift.opposite_clients(),
    ),
    Family(
        "convex-and-concave",
        "x^2/2 and -x^2/4: primal-dual methods with a small penalty diverge",
        lambda o: dual_drift.convex_and_concave(),
    ),
    Family(
        "fedavg-counterexample",
        "x^2 and -x^2 (FedPD, Claim II.2)",
        lambda o: fedavg_divergence.fedavg_counterexample(),
    ),
    Family(
        "coercive-counterexample",
        "+-x^2 + sqrt(1 + x^2): FedAvg diverges, f is convex",
        lambda o: fedavg_divergence.coercive_counterexample(),
    ),
    Family(
        "skipping",
        "x^2/2 +- (x + sqrt(1 + x^2)/2): skipping communication leaves a floor",
        lambda o: separable.skipping_instance(1.0, 0.5),
    ),
    Family(
        "one-sided-pair",
        "two quadratics with minimisers +-heterogeneity and a server that knows their average (L, heterogeneity)",
        lambda o: biased_participation.one_sided_pair(o.heterogeneity, o.L),
    ),
    Family(
        "zero-chain",
        "lower-bound chain of T = dimension - 1 links (FedPD, Claim II.1, repaired)",
        lambda o: lower_bound.two_group_chain(o.dimension - 1, L=o.L, n=o.clients),
    ),
    Family(
        "low-rank",
        "regression onto a common low-rank matrix (dimension^2) plus sparse deviations, nuclear norm (clients, dimension, lam)",
        lambda o: low_rank_regression(o.clients, o.dimension, o.dimension, weight=o.lam, seed=o.seed).problem,
    ),
    Family(
        "robust-low-rank",
        "the same with a bounded, non-convex loss and gross outliers (clients, dimension, lam)",
        lambda o: robust_low_rank_regression(o.clients, o.dimension, o.dimension, weight=o.lam, seed=o.seed).problem,
    ),
    Family(
        "synthetic-weak",
        "FedPD's penalised logistic regression, weakly non-iid (clients, dimension)",
        lambda o: fedpd_synthetic("weak", n=o.clients, d=o.dimension, seed=o.seed),
    ),
    Family(
        "synthetic-strong",
        "FedPD's penalised logistic regression, strongly non-iid (clients, dimension)",
        lambda o: fedpd_synthetic("strong", n=o.clients, d=o.dimension, seed=o.seed),
    ),
    Family(
        "nesterov-chain",
        "Nesterov's smooth convex lower-bound chain over two groups of clients (clients, dimension, L, mu)",
        lambda o: chains.nesterov_chain(o.dimension, L=o.L, mu=o.mu, n=o.clients),
    ),
    Family(
        "tv-chain",
        "nonsmooth convex lower-bound chain over two clients (dimension, mu)",
        lambda o: chains.total_variation_chain(o.dimension, mu=o.mu),
    ),
    Family(
        "huber",
        "Huber distances to random points (clients, dimension, mu, heterogeneity)",
        lambda o: huber.random_huber(o.clients, o.dimension, mu=o.mu, heterogeneity=o.heterogeneity, seed=o.seed),
    ),
    Family(
        "absolute",
        "l1 distances to random points, nonsmooth (clients, dimension, mu, heterogeneity)",
        lambda o: huber.random_huber(
            o.clients, o.dimension, width=0, mu=o.mu, heterogeneity=o.heterogeneity, seed=o.seed
        ),
    ),
    DataFamily(
        "hinge",
        "support vector machine on breast_cancer, nonsmooth (clients, split, l2)",
        "breast_cancer",
        _machine(0.0),
    ),
    DataFamily(
        "smoothed-hinge",
        "support vector machine with a hinge rounded over a width of 1/2, on breast_cancer (clients, split, l2)",
        "breast_cancer",
        _machine(0.5),
    ),
    *_on_data("", "logistic regression on {name} (clients, split, l2, beta)", _logistic, "breast_cancer", *LIBSVM),
    *_on_data(
        "-softmax",
        "softmax regression on {name} (clients, split, shift, l2)",
        _softmax,
        *("digits", "iris", "wine", "mnist", "emnist_letters", "cifar10", "shakespeare"),
    ),
    *_on_data(
        "-parity",
        "logistic regression: even or odd {name} (clients, split, shift, l2, beta)",
        _parity,
        "digits",
        "mnist",
    ),
    *_on_data(
        "-mlp",
        "one-hidden-layer network on {name} (clients, split, shift, hidden)",
        _network,
        *("digits", "mnist", "emnist_letters", "cifar10", "shakespeare"),
    ),
    *(
        DataFamily(
            f"{dataset.replace('_', '-')}-{suffix}",
            f"network {kind!r} on {dataset} by PyTorch (clients, split, shift, l2, augment, device, precision)",
            dataset,
            network=network_model(kind),
        )
        for dataset, kinds in KINDS.items()
        for suffix, kind in kinds.items()
    ),
)
