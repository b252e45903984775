"""The runs of the paper's experiments at three sizes, and what was chosen where the paper leaves it open.

laptop: softmax regression (for MNIST) and a perceptron (for CIFAR-10's network) on scikit-learn's digits, the comparisons that decide; one core, a
minute. small: softmax regression on a fifth of MNIST, 6 to 8 s of one core a run, and a small CNN on a tenth of CIFAR-10 (PyTorch on a CPU), of
which a round took 0.3 to 0.65 s on a busy machine. paper: softmax regression on MNIST as in the paper, which needs no GPU: 11 to 16 s of one core a
run, all cells of the tables. McMahan's CNN on CIFAR-10, 5000 rounds, is for a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fedtheory.claims.claim import Check, Claim, Fault, Table
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Repeated, Training, claim_ordering, list_runs, repeat_run
from fedtheory.claims.orderings import make_table
from fedtheory.claims.protocol import Clause, Protocol, Setting
from paper_checks.safari import published
from paper_checks.safari.protocol import ELSEWHERE, PROTOCOL

PAPER = "safari"
#: what one server round does to its own data: some passes, or Algorithm 1's one step
FIVE_PASSES, ONE_PASS, ONE_STEP = {"server_epochs": 5}, {"server_epochs": 1}, {"server_steps": 1}
#: a mistake that faults plant: the server's rounds do nothing that could be seen
IDLE = {"server_epochs": 1, "server_lr": 1e-6}
Q = 0.8  #: probability of a client round in most of the paper's tables
OTHER = 500  #: how far other seeds are away that faults compare with
#: classes a client and clients absent, where a table decides: of FedAvg, and of SAFARI
DECIDING = {
    "FedAvg": ((1, 0), (1, 2), (1, 4), (2, 0), (2, 4), (5, 0), (5, 4), (10, 0), (10, 2), (10, 4)),
    "SAFARI": ((1, 2), (1, 4), (2, 4), (5, 4), (10, 0), (10, 2), (10, 4)),
}
Cells = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Scale:
    """What a study is at one size.

    ``data``, ``model``: in words; ``own``: both are the paper's, whole. ``servers``: samples that the server may hold, the last of them in every
    comparison that does not vary them. ``teams``: clients a round of Tables 10 and 11. ``tables``: all their cells are run, not those alone
    that decide.
    """

    data: str
    model: str
    family: str
    options: Mapping[str, Any]
    batch: int
    rounds: int
    samples: int
    servers: tuple[int, ...]
    teams: tuple[int, ...] = ()
    every: int = 1
    clients: int = 10
    participants: int = 5
    start: float | None = None
    own: bool = False
    tables: bool = False

    @property
    def title(self) -> str:
        """Data and model."""
        return f"{self.data}, {self.model}"

    def cells(self, method: Literal["FedAvg", "SAFARI"]) -> Cells:
        """Return the pairs of classes a client and clients absent that are run at this size."""
        every = tuple((p, s) for p in published.CLASSES for s in published.ABSENT)
        return every if self.tables else DECIDING[method]

    def by_server(self) -> Cells:
        """Return the pairs of classes a client and samples of the server that are run with four clients absent."""
        if self.tables:
            return tuple((p, server) for p in published.CLASSES for server in self.servers)
        return (*((1, server) for server in self.servers), (2, self.servers[0]), (2, self.servers[-1]))


@dataclass(frozen=True)
class Study:
    """One data set of the paper and what stands for it at each size; ``suffix`` ends the ids of its claims."""

    name: str
    suffix: str
    protocol: Protocol = field(repr=False)
    scales: Mapping[str, Scale] = field(repr=False)

    def at(self, ctx: Context) -> Scale:
        """Return the numbers at the size asked for."""
        return self.scales[ctx.size]

    def setting(self, ctx: Context) -> Setting:
        """Return what it runs on at the size asked for."""
        a = self.at(ctx)
        stands = "" if a.data.startswith(self.name) else f" for {self.name}"
        return Setting(f"{a.data}{stands}, {a.clients} clients", a.model, a.own)


_OWN = {"test": "own"}
_SOFTMAX = "softmax regression"

MNIST = Study(
    "MNIST",
    "",
    PROTOCOL,
    {
        "laptop": Scale(
            "scikit-learn's digits",
            _SOFTMAX,
            "digits-softmax",
            _OWN,
            16,
            50,
            100,
            (20, 50, 100),
            (1, 5),
            start=0.0,
        ),
        "small": Scale(
            "MNIST, 1000 of 6000 images a client",
            _SOFTMAX,
            "mnist-softmax",
            _OWN,
            64,
            150,
            1000,
            (50, 100, 500, 1000),
            (1, 5),
            start=0.0,
        ),
        "paper": Scale(
            "MNIST, 5000 images a client",
            _SOFTMAX,
            "mnist-softmax",
            _OWN,
            64,
            150,
            5000,
            (50, 100, 500, 1000),
            (1, 2, 3, 4, 5, 6),
            start=0.0,
            own=True,
            tables=True,
        ),
    },
)

CIFAR = Study(
    "CIFAR-10",
    "-CIFAR",
    ELSEWHERE,
    {
        "laptop": Scale(
            "scikit-learn's digits",
            "perceptron 64-32-10",
            "digits-mlp",
            _OWN | {"hidden": 32},
            16,
            40,
            100,
            (20, 50, 100),
            (1, 5),
        ),
        "small": Scale(
            "CIFAR-10, 500 of 5000 images a client",
            "a small CNN",
            "cifar10-small",
            {},
            50,
            80,
            500,
            (50, 200, 1000),
            (1, 5),
            every=4,
        ),
        "paper": Scale(
            "CIFAR-10, 2900 images a client, the last 10,000 training images for tests",
            "McMahan's CNN, where the paper gives none",
            "cifar10-cnn",
            {},
            500,
            5000,
            2900,
            (500, 5000, 10000),
            (1, 2, 4, 5),
            every=25,
            tables=True,
        ),
    },
)

#: M = 150 clients at small and paper size, of which fifths stay away; the server holds 1, 10 and 20 % of the training set
FASHION = Study(
    "Fashion-MNIST",
    "",
    ELSEWHERE,
    {
        "laptop": Scale(
            "scikit-learn's digits",
            _SOFTMAX,
            "digits-softmax",
            _OWN,
            16,
            40,
            28,
            (14, 140, 280),
            clients=30,
            start=0.0,
        ),
        **dict.fromkeys(
            ("small", "paper"),
            Scale(
                "MNIST",
                _SOFTMAX,
                "mnist-softmax",
                _OWN,
                64,
                150,
                280,
                (600, 6000, 12000),
                clients=150,
                participants=10,
                start=0.0,
            ),
        ),
    },
)


@dataclass(frozen=True)
class Draws:
    """What the seeds draw: all of a run, or only first model, clients and batches on one split. ``further``: how far the seeds are away."""

    one_split: bool = False
    further: int = 0


ALL, FIRST_MODELS, OTHER_SEEDS = Draws(), Draws(one_split=True), Draws(further=OTHER)
MakeRuns = Callable[..., Repeated]  #: of context, study, classes a client, clients absent


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
    draws: Draws = ALL,
) -> Repeated:
    a = study.at(ctx)
    judged = study.protocol.judged(ctx)
    start: Any = a.start
    options = dict(a.options)
    if draws.one_split:
        options["seed"], start = judged.start, "random"
    base = Training(
        method,
        a.family,
        a.rounds,
        {"lr": 0.1, "batch": a.batch} | dict(own),
        {
            **options,
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
        start=start,
    )
    return repeat_run(base, (seed + draws.further for seed in judged))


def fedavg(
    ctx: Context,
    study: Study,
    p: int,
    s: int,
    m: int | None = None,
    server: int | None = None,
    draws: Draws = ALL,
) -> Repeated:
    """Return FedAvg with p classes a client, s clients absent for ever, m a round; what the server holds, it does not use."""
    return _training(ctx, study, "fedavg", {"epochs": 1}, p=p, s=s, m=m, server=server, draws=draws)


def safari(
    ctx: Context,
    study: Study,
    p: int,
    s: int,
    m: int | None = None,
    server: int | None = None,
    q: float = Q,
    work: Mapping[str, float] = FIVE_PASSES,
    draws: Draws = ALL,
) -> Repeated:
    """Return SAFARI with this probability of a client round and this work in the others."""
    own = {"epochs": 1, "q": q, **work}
    return _training(ctx, study, "safari", own, p=p, s=s, m=m, server=server, draws=draws)


def server_alone(
    ctx: Context,
    study: Study,
    server: int | None = None,
    work: Mapping[str, float] = FIVE_PASSES,
    draws: Draws = ALL,
) -> Repeated:
    """Return SAFARI with q = 0: training on the server's data, without clients."""
    return _training(ctx, study, "server-sgd", work, p=1, s=4, server=server, draws=draws)


def make_grid(ctx: Context, study: Study, method: Literal["FedAvg", "SAFARI"]) -> Iterable[Repeated]:
    """Return the runs of Tables 1 and 2 at this size."""
    run = fedavg if method == "FedAvg" else safari
    return (run(ctx, study, p, s) for p, s in study.at(ctx).cells(method))


def claim_on(
    study: Study,
    id: str,
    source: str,
    clauses: Sequence[Clause],
    check: Check,
    faults: Sequence[Fault],
    needs: Callable[[Context], Iterable[Repeated]],
) -> Claim:
    """Return the claim that these clauses make on a study, by its protocol."""

    def trainings(ctx: Context) -> list[Training]:
        return list_runs(needs(ctx))

    return claim_ordering(id, study.protocol, source, clauses, check, tuple(faults), trainings, study.setting)


# ---- what the paper leaves open ---------------------------------------------------------------------------------------------


def chosen(ctx: Context, study: Study) -> Table:
    """Return the settings that the paper does not give, and those that differ at this size, with the reason."""
    title = f"settings at {ctx.size} size: {study.at(ctx).title}"
    return make_table(
        title, ["setting", "paper", "here", "why"], [*_chosen_data(ctx, study), *_chosen_rounds(ctx, study)]
    )


def _chosen_data(ctx: Context, study: Study) -> list[list[str]]:
    a = study.at(ctx)
    steps = -(-a.samples // a.batch)
    return [
        [
            "model",
            "not given" if study is not MNIST else "logistic regression",
            a.model + (", no intercept" if "softmax" in a.family else ""),
            "",
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
    ]


def _chosen_rounds(ctx: Context, study: Study) -> list[list[str]]:
    a = study.at(ctx)
    return [
        [
            "work of a server round",
            "one step in Algorithm 1",
            "5 passes in the clients' batches",
            "SAFARI-E3-STEP is on the one step, and E3 has one pass beside it",
        ],
        ["clients a round", "5" if study is not FASHION else "not given", str(a.participants), ""],
        ["rounds", {"MNIST": "150", "CIFAR-10": "5000"}.get(study.name, "not given"), str(a.rounds), ""],
        [
            "accuracy",
            "not given when",
            "the best round; the mean over the last 40 % of the rounds ('end') beside it",
            "the protocol's; accuracy jumps up in a server round and falls in client rounds",
        ],
        [
            "first model",
            "not given",
            "zero" if a.start == 0 else "random",
            "seeds also draw split, server's data and batches",
        ],
        [
            "seeds",
            {"MNIST": "5", "CIFAR-10": "3"}.get(study.name, "not given"),
            str(len(study.protocol.judged(ctx))),
            "",
        ],
    ]
