"""The families of instances by name, for the command line and the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

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
    prescribed_quadratics,
    quadratics,
    separable,
    splits,
)
from problems.datasets import BUNDLED, LIBSVM, Dataset, load
from problems.logistic import fedpd_synthetic
from problems.low_rank import low_rank_regression, robust_low_rank_regression
from problems.mlp import perceptron
from problems.networks.families import KINDS, list_part_files, load_part
from problems.networks.families import model as network_model
from problems.options import AVERAGE, NO_SERVER, ROWS, SPLITS, Options, divide
from problems.server import ServerAssisted
from problems.shifts import shift_brightness
from problems.softmax import Softmax
from problems.svm import svm
from problems.with_test_set import WithTestSet

_OF_ALL = ("nuclear", "server")
_OF_NETWORKS = tuple(f.name for f in fields(Options) if f.metadata.get("strict"))
_OF_DATA = (
    *("clients", "split", *dict.fromkeys(name for rule in SPLITS.values() for name in rule.uses)),
    *("test", "tests_a_client", "brightness", "colour"),
)


@dataclass(frozen=True)
class Family:
    """A family of instances: its name, what it is, how to build one, and the options that this reads."""

    name: str
    text: str
    make: Callable[[Options], Any]
    own: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The options that it reads, beside the seed."""
        return *self.own, *_OF_ALL

    @property
    def description(self) -> str:
        """What it is, and its own options."""
        return f"{self.text} ({', '.join(self.own)})" if self.own else self.text

    def build(self, o: Options) -> Any:
        """Return an instance."""
        if count_server_samples(o):
            raise NotAvailable(
                f"{self.name!r} is not built on a data set, so its server cannot hold samples; use --server {AVERAGE}"
            )
        return _assisted(self.make(o), o)


@lru_cache(maxsize=1)
def _load_whole(name: str, folder: str | None) -> Dataset:
    """A data set without its testing part; the last is kept, for a process that makes many runs on it."""
    return load(name, folder)


def count_server_samples(o: Options) -> int:
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
    text: str
    dataset: str
    own: tuple[str, ...]
    model: Callable[[list[Dataset], Options], Any] | None = None
    network: Callable[[list[Dataset], Dataset | None, Dataset, Options], tuple[Any, Any]] | None = None

    @property
    def reads(self) -> tuple[str, ...]:
        """The options that it reads, beside the seed and the folder of data sets."""
        network = _OF_NETWORKS if self.network is not None else ()
        return *_OF_DATA, *self.own, *network, *_OF_ALL

    @property
    def description(self) -> str:
        """What it is, and its main options."""
        network = _OF_NETWORKS if self.network is not None else ()
        return f"{self.text} (clients, split, {', '.join((*self.own, *network))})"

    def load(self, o: Options) -> Dataset:
        """Return the data set, or its training part."""
        return load_part(self.dataset, "train", o.data) if self._tested(o) else _load_whole(self.dataset, o.data)

    def files(self, o: Options) -> dict[str, Path]:
        """Return the files that an instance is read from, by name."""
        return list_part_files(self.dataset, o.data, tested=self._tested(o))

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
        if not count_server_samples(o):
            return divide(dataset, o)
        rest, _ = self._held(dataset, o)
        return [rest[part] for part in divide(dataset.take(rest), o)]

    def _held(self, dataset: Dataset, o: Options) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return splits.set_apart(len(dataset), count_server_samples(o), o.seed)

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
            problem = WithTestSet.on(
                problem, clients, load_part(self.dataset, "test", o.data), o.tests_a_client, o.seed
            )
        return _assisted(problem, o, None if of_server is None else self.model([of_server], o))

    def build(self, o: Options) -> Any:
        """Return an instance."""
        dataset = self.load(o)
        return self.on(dataset, self.split(dataset, o), o)


# ---- models of one data set a client ------------------------------------------------------------------------------


def _kept_sparse(o: Options) -> bool | None:
    if o.rows not in ROWS:
        raise InvalidInput(f"--rows is {', '.join(ROWS)}, got {o.rows!r}")
    return ROWS[o.rows]


def _logistic(clients: list[Dataset], o: Options) -> Any:
    return splits.logistic_of(clients, l2=o.l2, beta=o.beta, sparse=_kept_sparse(o))


def _machine(width: float) -> Callable[[list[Dataset], Options], Any]:
    def model(clients: list[Dataset], o: Options) -> Any:
        return svm(
            [client.features for client in clients],
            [client.labels for client in clients],
            l2=o.l2,
            width=width,
            sparse=_kept_sparse(o),
            name=f"support vector machine on {clients[0].name}, {len(clients)} clients",
        )

    return model


def _softmax(clients: list[Dataset], o: Options) -> Any:
    if o.bias:
        if o.test != "none":
            raise InvalidInput("--bias adds a feature that test samples do not have; leave --test out")
        wider = (np.column_stack([c.features, np.full(len(c), o.bias)]) for c in clients)
        clients = [replace(c, features=features, shape=()) for c, features in zip(clients, wider, strict=True)]
    name = f"softmax regression on {clients[0].name}, {len(clients)} clients"
    if o.coordinates == "all":
        return Softmax(*splits.pad_clients(clients, sparse=_kept_sparse(o)), o.l2, name=name)
    if o.coordinates != "span" or o.test != "none" or o.server not in (NO_SERVER, AVERAGE):
        raise InvalidInput(
            f"--coordinates is all or span, got {o.coordinates!r}; those of the clients' span do not fit test samples or a server's own: leave "
            "--test and --server N out"
        )
    return Softmax(*splits.pad_clients(clients, sparse=False), o.l2, name=name).in_span()


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
    suffix: str, text: str, own: tuple[str, ...], model: Callable[[list[Dataset], Options], Any], *names: str
) -> tuple[DataFamily, ...]:
    return tuple(
        DataFamily(
            (name if name in LIBSVM else name.replace("_", "-")) + suffix,
            text.format(name=name) + ("" if name in BUNDLED else ", from the data folder"),
            name,
            own,
            model,
        )
        for name in names
    )


PROBLEMS: tuple[Family | DataFamily, ...] = (
    Family(
        "quadratics",
        "random strongly convex quadratics",
        lambda o: quadratics.random_quadratics(
            o.clients, o.dimension, L=o.L, mu=o.mu, heterogeneity=o.heterogeneity, seed=o.seed
        ),
        (
            "clients",
            "dimension",
            "L",
            "mu",
            "heterogeneity",
        ),
    ),
    Family(
        "indefinite",
        "random quadratics whose clients are indefinite and whose average is convex",
        lambda o: quadratics.random_indefinite(o.clients, o.dimension, L=o.L, seed=o.seed),
        (
            "clients",
            "dimension",
            "L",
        ),
    ),
    Family(
        "same-curvature",
        "quadratics of one curvature, so that gradient dissimilarity is bounded",
        lambda o: quadratics.same_curvature(o.clients, o.dimension, L=o.L, mu=o.mu, seed=o.seed),
        (
            "clients",
            "dimension",
            "L",
            "mu",
        ),
    ),
    Family(
        "sines",
        "sums of sines: smooth and non-convex",
        lambda o: separable.random_sines(o.clients, o.dimension, L=o.L, seed=o.seed),
        (
            "clients",
            "dimension",
            "L",
        ),
    ),
    Family(
        "prescribed",
        "quadratics of given root mean square gradient at the solution",
        lambda o: prescribed_quadratics.prescribed_quadratics(
            o.clients, o.dimension, zeta=o.heterogeneity, L=o.L, mu=o.mu, seed=o.seed
        ),
        (
            "clients",
            "dimension",
            "L",
            "mu",
            "heterogeneity",
        ),
    ),
    Family(
        "cosines",
        "sums of cosines of linear forms and a ridge: smooth and non-convex, all clients with the same exact L",
        lambda o: nonconvex.random_cosines(o.clients, o.dimension, L=o.L, seed=o.seed),
        (
            "clients",
            "dimension",
            "L",
        ),
    ),
    Family(
        "cauchy",
        "Cauchy losses: smooth, non-convex, with fading gradients",
        lambda o: nonconvex.random_cauchy(o.clients, o.dimension, L=o.L, heterogeneity=o.heterogeneity, seed=o.seed),
        (
            "clients",
            "dimension",
            "L",
            "heterogeneity",
        ),
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
        "two quadratics with minimisers +-heterogeneity and a server that knows their average",
        lambda o: biased_participation.one_sided_pair(o.heterogeneity, o.L),
        (
            "L",
            "heterogeneity",
        ),
    ),
    Family(
        "zero-chain",
        "lower-bound chain of T = dimension - 1 links (FedPD, Claim II.1, repaired)",
        lambda o: lower_bound.two_group_chain(o.dimension - 1, L=o.L, n=o.clients),
        (
            "clients",
            "dimension",
            "L",
        ),
    ),
    Family(
        "low-rank",
        "regression onto a common low-rank matrix (dimension^2) plus sparse deviations, nuclear norm",
        lambda o: low_rank_regression(o.clients, o.dimension, o.dimension, weight=o.lam, seed=o.seed).problem,
        (
            "clients",
            "dimension",
            "lam",
        ),
    ),
    Family(
        "robust-low-rank",
        "the same with a bounded, non-convex loss and gross outliers",
        lambda o: robust_low_rank_regression(o.clients, o.dimension, o.dimension, weight=o.lam, seed=o.seed).problem,
        (
            "clients",
            "dimension",
            "lam",
        ),
    ),
    Family(
        "synthetic-weak",
        "FedPD's penalised logistic regression, weakly non-iid",
        lambda o: fedpd_synthetic("weak", n=o.clients, d=o.dimension, seed=o.seed),
        (
            "clients",
            "dimension",
        ),
    ),
    Family(
        "synthetic-strong",
        "FedPD's penalised logistic regression, strongly non-iid",
        lambda o: fedpd_synthetic("strong", n=o.clients, d=o.dimension, seed=o.seed),
        (
            "clients",
            "dimension",
        ),
    ),
    Family(
        "nesterov-chain",
        "Nesterov's smooth convex lower-bound chain over two groups of clients",
        lambda o: chains.nesterov_chain(o.dimension, L=o.L, mu=o.mu, n=o.clients),
        (
            "clients",
            "dimension",
            "L",
            "mu",
        ),
    ),
    Family(
        "tv-chain",
        "nonsmooth convex lower-bound chain over two clients",
        lambda o: chains.total_variation_chain(o.dimension, mu=o.mu),
        (
            "dimension",
            "mu",
        ),
    ),
    Family(
        "huber",
        "Huber distances to random points",
        lambda o: huber.random_huber(o.clients, o.dimension, mu=o.mu, heterogeneity=o.heterogeneity, seed=o.seed),
        (
            "clients",
            "dimension",
            "mu",
            "heterogeneity",
        ),
    ),
    Family(
        "absolute",
        "l1 distances to random points, nonsmooth",
        lambda o: huber.random_huber(
            o.clients, o.dimension, width=0, mu=o.mu, heterogeneity=o.heterogeneity, seed=o.seed
        ),
        (
            "clients",
            "dimension",
            "mu",
            "heterogeneity",
        ),
    ),
    DataFamily(
        "hinge",
        "support vector machine on breast_cancer, nonsmooth",
        "breast_cancer",
        ("l2", "rows"),
        _machine(0.0),
    ),
    DataFamily(
        "smoothed-hinge",
        "support vector machine with a hinge rounded over a width of 1/2, on breast_cancer",
        "breast_cancer",
        ("l2", "rows"),
        _machine(0.5),
    ),
    *_on_data("", "logistic regression on {name}", ("l2", "beta", "rows"), _logistic, "breast_cancer", *LIBSVM),
    *_on_data(
        "-softmax",
        "softmax regression on {name}",
        ("l2", "bias", "coordinates", "rows"),
        _softmax,
        *("digits", "iris", "wine", "mnist", "emnist_letters", "cifar10", "shakespeare"),
    ),
    *_on_data(
        "-parity",
        "logistic regression: even or odd {name}",
        ("l2", "beta", "rows"),
        _parity,
        "digits",
        "mnist",
    ),
    *_on_data(
        "-mlp",
        "one-hidden-layer network on {name}",
        ("hidden", "l2"),
        _network,
        *("digits", "mnist", "emnist_letters", "cifar10", "shakespeare"),
    ),
    *(
        DataFamily(
            f"{dataset.replace('_', '-')}-{suffix}",
            f"network {kind!r} on {dataset} by PyTorch",
            dataset,
            ("hidden", "l2"),
            network=network_model(kind),
        )
        for dataset, kinds in KINDS.items()
        for suffix, kind in kinds.items()
    ),
)
