"""The runs of the paper's experiments at three sizes, and what was chosen where the paper leaves it open.

laptop: softmax regression (for MNIST) and a perceptron (for CIFAR-10's network) on scikit-learn's digits; some three minutes on one core.
small: softmax regression on a fifth of MNIST and a small CNN on a tenth of CIFAR-10 (PyTorch on a CPU). One run of MNIST takes 6 to 8 s of
one core, and so did one with 150 clients; a round of the CNN took 0.3 to 0.65 s on a busy machine. 315 runs of the first kinds and 147 of
80 rounds of the last are an hour to an hour and a half on two cores.
paper: softmax regression on MNIST as in the paper, which needs no GPU: 11 to 16 s of one core a run, 485 runs, about an hour on two cores.
McMahan's CNN on CIFAR-10, 5000 rounds, is for a GPU: 207 runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Context, Table
from fedtheory.claims.experiments import Log, Repeated, Training, repeat_run
from fedtheory.claims.orderings import make_table
from fedtheory.running.families import read_options

PAPER = "safari"
#: what one server round does to its own data: some passes, or Algorithm 1's one step
FIVE_PASSES, ONE_PASS, ONE_STEP = {"server_epochs": 5}, {"server_epochs": 1}, {"server_steps": 1}
#: the share of the rounds, at the end, over which accuracies are averaged: the last 60 of 150
END = 0.4
Q = 0.8  #: probability of a client round in most of the paper's tables


@dataclass(frozen=True)
class Scale:
    """What a study is at one size.

    ``servers``: samples that the server may hold, the last of them in every comparison that does not vary them. ``by_server``: classes
    a client at which they are varied. ``teams``: clients a round of Tables 10 and 11.
    """

    title: str
    family: str
    options: Mapping[str, Any]
    batch: int
    rounds: int
    samples: int
    servers: tuple[int, ...]
    seeds: int
    by_server: tuple[int, ...]
    teams: tuple[int, ...]
    every: int = 1
    clients: int = 10
    participants: int = 5
    start: float | None = None


@dataclass(frozen=True)
class Study:
    """One data set of the paper and what stands for it at each size; ``suffix`` ends the ids of its claims."""

    name: str
    suffix: str
    scales: Mapping[str, Scale] = field(repr=False)

    def at(self, ctx: Context) -> Scale:
        """Return the numbers at the size asked for."""
        return self.scales[ctx.size]


_OWN = {"test": "own"}

MNIST = Study(
    "MNIST",
    "",
    {
        "laptop": Scale(
            "digits, softmax regression",
            "digits-softmax",
            _OWN,
            16,
            150,
            100,
            (20, 50, 100),
            8,
            (2, 1),
            (1, 5),
            start=0.0,
        ),
        "small": Scale(
            "MNIST, 1000 images a client, softmax regression",
            "mnist-softmax",
            _OWN,
            64,
            150,
            1000,
            (50, 100, 500, 1000),
            5,
            (2, 1),
            (1, 2, 5),
            start=0.0,
        ),
        "paper": Scale(
            "MNIST, softmax regression",
            "mnist-softmax",
            _OWN,
            64,
            150,
            5000,
            (50, 100, 500, 1000),
            5,
            (10, 5, 2, 1),
            (1, 2, 3, 4, 5, 6),
            start=0.0,
        ),
    },
)

CIFAR = Study(
    "CIFAR-10",
    "-CIFAR",
    {
        "laptop": Scale(
            "digits, perceptron 64-32-10",
            "digits-mlp",
            _OWN | {"hidden": 32},
            16,
            100,
            100,
            (20, 50, 100),
            8,
            (2, 1),
            (1, 5),
        ),
        "small": Scale(
            "CIFAR-10, 500 images a client, small CNN",
            "cifar10-small",
            {},
            50,
            80,
            500,
            (50, 200, 1000),
            3,
            (2, 1),
            (1, 5),
            every=4,
        ),
        "paper": Scale(
            "CIFAR-10, McMahan's CNN",
            "cifar10-cnn",
            {},
            500,
            5000,
            3500,
            (500, 5000, 10000),
            3,
            (10, 5, 2, 1),
            (1, 2, 4, 5),
            every=25,
        ),
    },
)

#: M = 150 clients at small and paper size, of which fifths stay away; the server holds 1, 10 and 20 % of the training set
FASHION = Study(
    "Fashion-MNIST",
    "",
    {
        "laptop": Scale(
            "digits, 30 clients, softmax regression",
            "digits-softmax",
            _OWN,
            16,
            150,
            32,
            (14, 140, 280),
            8,
            (),
            (),
            clients=30,
            start=0.0,
        ),
        "small": Scale(
            "MNIST, 150 clients, softmax regression",
            "mnist-softmax",
            _OWN,
            64,
            150,
            280,
            (600, 6000, 12000),
            3,
            (),
            (),
            clients=150,
            participants=10,
            start=0.0,
        ),
        "paper": Scale(
            "MNIST, 150 clients, softmax regression",
            "mnist-softmax",
            _OWN,
            64,
            150,
            280,
            (600, 6000, 12000),
            5,
            (),
            (),
            clients=150,
            participants=10,
            start=0.0,
        ),
    },
)


def _training(
    ctx: Context,
    study: Study,
    method: str,
    own: Mapping[str, Any],
    *,
    p: int,
    s: int,
    m: int | None = None,
    server: int | None = None,
) -> Repeated:
    a = study.at(ctx)
    base = Training(
        method,
        a.family,
        a.rounds,
        {"lr": 0.1, "batch": a.batch} | dict(own),
        {
            **a.options,
            "clients": a.clients,
            "split": "classes",
            "classes_per_client": p,
            "samples_per_client": a.samples,
            "server": str(a.servers[-1] if server is None else server),
        },
        metrics=("test_accuracy",),
        participants=a.participants if m is None else m,
        available=a.clients - s,
        every=a.every,
        start=a.start,
    )
    return repeat_run(base, range(ctx.seed, ctx.seed + a.seeds))


def fedavg(ctx: Context, study: Study, p: int, s: int, m: int | None = None, server: int | None = None) -> Repeated:
    """Return FedAvg with p classes a client, s clients absent for ever, m a round; what the server holds, it does not use."""
    return _training(ctx, study, "fedavg", {"epochs": 1}, p=p, s=s, m=m, server=server)


def safari(
    ctx: Context,
    study: Study,
    p: int,
    s: int,
    m: int | None = None,
    server: int | None = None,
    q: float = Q,
    work: Mapping[str, int] = FIVE_PASSES,
) -> Repeated:
    """Return SAFARI with this probability of a client round and this work in the others."""
    return _training(ctx, study, "safari", {"epochs": 1, "q": q, **work}, p=p, s=s, m=m, server=server)


def server_alone(
    ctx: Context, study: Study, server: int | None = None, work: Mapping[str, int] = FIVE_PASSES
) -> Repeated:
    """Return SAFARI with q = 0: training on the server's data, without clients."""
    return _training(ctx, study, "server-sgd", work, p=1, s=4, server=server)


# ---- how an accuracy is read off a run ---------------------------------------------------------------------------------


def at_end(ctx: Context, run: Repeated) -> NDArray[np.float64]:
    """Return each seed's test accuracy at the end: the mean over the last 40 % of the measurements."""
    return run.last(ctx, "test_accuracy", END)


def at_best(ctx: Context, run: Repeated) -> NDArray[np.float64]:
    """Return each seed's best test accuracy."""
    return run.best(ctx, "test_accuracy")


def after_server(ctx: Context, run: Repeated) -> NDArray[np.float64] | None:
    """Return each seed's mean accuracy right after the server's rounds of the last 40 %; None where not every round is measured."""
    found = [read_after_server(log) for log in run.logs(ctx)]
    return None if any(mean is None for mean in found) else np.array(found, dtype=float)


def read_after_server(log: Log) -> float | None:
    """Return one run's mean accuracy right after the server's rounds of the last 40 %; None where not every round is measured."""
    if len(log["round"]) < 2 or np.any(np.diff(log["round"]) != 1):
        return None
    silent = np.concatenate([[False], np.diff(log["floats_up"]) == 0])  # nothing is sent in a round of the server's
    silent[: -round(END * len(silent))] = False
    return float(log["test_accuracy"][silent].mean()) if silent.any() else None


@cache
def _parts(dataset: str, data: str | None) -> tuple[Any, Any]:
    from problems.networks.families import load_part

    return load_part(dataset, "train", data), load_part(dataset, "test", data)


def coverage(ctx: Context, run: Repeated) -> NDArray[np.float64]:
    """Return for each seed the share of the test set whose classes the clients that may take part hold, exactly."""
    found = []
    for training in run.trainings:
        family, options = read_options(training.problem, {**training.options, "seed": training.seed, "data": ctx.data})
        train, test = _parts(family.dataset, ctx.data)
        held = np.concatenate(family.split(train, options)[: training.available])
        found.append(float(np.isin(test.labels, np.unique(train.labels[held])).mean()))
    return np.array(found)


# ---- what the paper leaves open ---------------------------------------------------------------------------------------------


def chosen(ctx: Context, study: Study) -> Table:
    """Return the settings that the paper does not give, and those that differ at this size, with the reason."""
    a = study.at(ctx)
    steps = -(-a.samples // a.batch)
    return make_table(
        f"settings at {ctx.size} size: {a.title}",
        ["setting", "paper", "here", "why"],
        [
            [
                "model",
                "not given" if study is not MNIST else "softmax regression",
                a.family,
                "compare orderings, not levels",
            ],
            [
                "samples a client",
                "equal",
                f"{a.samples}, {steps} steps of {a.batch} an epoch",
                "one class a client limits all clients to the smallest class, less what the server holds",
            ],
            [
                "classes",
                "'randomly selects p'",
                "each class on equally many clients (one more at most)",
                "independent draws with p = 1 would miss classes at s = 0",
            ],
            ["absent clients", "not given", "drawn anew for every seed", "s = 0, 2, 4 are nested for a seed"],
            [
                "server's data",
                "disjoint?",
                "a uniform sample, set apart from the clients'",
                "an i.i.d. sample of the population",
            ],
            [
                "server's data where it is not varied",
                "not given",
                str(a.servers[-1]),
                "Tables 2, 5 and 8-11 match the largest set",
            ],
            [
                "work of a server round",
                "one step in Algorithm 1",
                "5 passes in the clients' batches",
                "one step gains nothing (SAFARI-E3); one pass is a reading there",
            ],
            ["clients a round", "5" if study is not FASHION else "not given", str(a.participants), ""],
            ["rounds", {"MNIST": "150", "CIFAR-10": "5000"}.get(study.name, "not given"), str(a.rounds), ""],
            [
                "accuracy",
                "not given when",
                f"mean over the last {END:.0%} of the rounds ('end'); the best round beside it",
                "accuracy jumps up in a server round and falls in client rounds",
            ],
            [
                "first model",
                "not given",
                "zero" if a.start == 0 else "random",
                "seeds also draw split, server's data and batches",
            ],
            ["seeds", {"MNIST": "5", "CIFAR-10": "3"}.get(study.name, "not given"), str(a.seeds), ""],
        ],
    )
