"""The runs of FedSLR's experiments at three sizes, and the settings that the paper leaves open.

*laptop*: scikit-learn's digits, a perceptron with 64 hidden units: 240 runs, about three minutes of one core for all claims together.
*small*: CIFAR-10, a CNN with two convolutions: 105 runs of 40 rounds, estimated at 1.9 hours of one core, so about an hour on two. The estimate:
on a busy core a round took 0.6 s with FedAvg, 1.9 s with Ditto and 2.2 s with FedSLR, and building an instance 5 s; the others lie between.
*paper*: the paper's own sizes on CIFAR-10, a GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Table
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Repeated, Training, repeat_run
from fedtheory.claims.orderings import make_table
from paper_checks.fedslr.protocol import END, PROTOCOL

IID, NON_IID = "iid", "non-iid"


@dataclass(frozen=True)
class Scale:
    """One size of all experiments.

    ``lam``, ``mu``, ``eta``, ``epochs``, ``pure``: the values of Tables 3 to 7, in rising order; the runs of Table 1 have those of ``main``.
    ``tests``: test samples a client; ``draw``: how samples of a Dirichlet split are drawn (`problems.splits.draw_by_proportions`).
    """

    problem: str
    clients: int
    samples: int
    tests: int
    participants: int
    rounds: int
    every: int
    options: Mapping[str, Any]
    main: Mapping[str, float]
    lam: tuple[float, ...]
    mu: tuple[float, ...]
    eta: tuple[float, ...]
    pure: tuple[float, ...]
    per_fedavg_lr: float
    epochs: tuple[int, ...] = (1, 2, 4)
    draw: str = "without"
    batch: int = 20

    @property
    def epoch(self) -> int:
        """Steps of a pass through a client's samples."""
        return -(-self.samples // self.batch)


LAPTOP = Scale(
    problem="digits-mlp",
    clients=40,
    samples=35,
    tests=40,
    participants=8,
    rounds=120,
    every=3,
    options={"hidden": 64, "test": "own"},
    main={"lam": 1e-3, "mu": 1e-3, "eta": 10},
    lam=(0, 1e-4, 1e-3, 1e-2, 3e-2),
    mu=(1e-4, 1e-3, 1e-2, 1e-1),
    eta=(2, 10, 20, 100),
    pure=(1e-4, 1e-3, 1e-2),
    per_fedavg_lr=0.1,
)
SMALL = Scale(
    problem="cifar10-small",
    clients=40,
    samples=250,
    tests=100,
    participants=8,
    rounds=40,
    every=2,
    options={"augment": "crop-flip"},
    main={"lam": 1e-4, "mu": 1e-3, "eta": 10},
    lam=(0, 1e-4, 1e-3, 1e-2),
    mu=(1e-4, 1e-3, 1e-2),
    eta=(2, 10, 100),
    pure=(1e-5, 1e-3),
    per_fedavg_lr=0.1,
    draw="refill",
)
PAPERS = Scale(
    problem="cifar10-resnet18-3x3",
    clients=100,
    samples=400,
    tests=100,
    participants=10,
    rounds=1000,
    every=10,
    options={"augment": "crop-flip"},
    main={"lam": 1e-4, "mu": 1e-3, "eta": 10},
    lam=(0, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3),
    mu=(1e-4, 5e-4, 1e-3, 5e-3, 1e-2),
    eta=(2, 10, 20, 100),
    pure=(1e-5, 1e-4, 1e-3),
    per_fedavg_lr=1e-3,
    epochs=(1, 2, 3, 4),
    draw="refill",
)


def scale(ctx: Context) -> Scale:
    """Return the sizes of this check."""
    found: Scale = ctx.sized(LAPTOP, SMALL, PAPERS)
    return found


@dataclass(frozen=True)
class TableRow:
    """A row of Table 1: a listed method, its settings beside the common ones, and the accuracy that is read."""

    name: str
    settings: Mapping[str, Any]
    accuracy: str = "personal_accuracy"


METHODS: dict[str, TableRow] = {
    "SCAFFOLD": TableRow("scaffold", {}),
    "FedDyn": TableRow("feddyn", {"rho": 0.1}),
    "FedAvg": TableRow("fedavg", {}),
    "FedSLR (GKR)": TableRow("fedslr", {}, "common_accuracy"),
    "Per-FedAvg": TableRow("per-fedavg-fo", {"alpha": 0.01}),
    "LG-FedAvg": TableRow("lg-fedavg", {}),
    "FedRep": TableRow("fedrep", {"personal_epochs": 1}),
    "Ditto": TableRow("ditto", {"mu": 0.1, "personal_epochs": 1}),
    "APFL": TableRow("apfl", {"alpha": 0.5}),
    "Local": TableRow("local", {}),
    "FedSpa": TableRow("fedspa", {"density": 0.5}),
    "FedSLR (mixed)": TableRow("fedslr", {}),
}
GLOBAL = ("SCAFFOLD", "FedDyn", "FedAvg", "FedSLR (GKR)")
MIXED, GKR = "FedSLR (mixed)", "FedSLR (GKR)"
PERSONAL = tuple(name for name in METHODS if name not in GLOBAL)


def options(ctx: Context, split: str) -> dict[str, Any]:
    """Return what the problem is asked for."""
    s = scale(ctx)
    cut: dict[str, Any] = {"split": "iid"}
    if split == NON_IID:
        cut = {"split": "dirichlet-labels", "concentration": 0.1, "draw": s.draw}
    common = {"clients": s.clients, "samples_per_client": s.samples, "tests_a_client": s.tests, "l2": 1e-3}
    return {**common, **cut, **s.options}


def of(ctx: Context, label: str, split: str = NON_IID) -> Repeated:
    """Return the runs of a row of Table 1."""
    if label in (MIXED, GKR):
        return fedslr(ctx, split)
    s, method = scale(ctx), METHODS[label]
    work: dict[str, Any] = {"lr": 0.1, "lr_decay": 0.998, "epochs": 2, "batch": s.batch}
    if label == "Per-FedAvg":  # its steps need several minibatches each, which passes do not give
        work = {**work, "lr": s.per_fedavg_lr, "steps": 2 * s.epoch}
        del work["epochs"]
    if label == "FedSpa":
        work["horizon"] = s.rounds
    return _repeated(ctx, method.name, {**work, **method.settings}, options(ctx, split))


def fedslr(
    ctx: Context, split: str = NON_IID, *, component: str = "zero", epochs: int = 2, **changed: float
) -> Repeated:
    """Return runs of FedSLR with some of ``lam``, ``mu`` and ``eta`` changed."""
    s = scale(ctx)
    value = {**s.main, **changed}
    settings: dict[str, Any] = {"lr": 0.1, "lr_decay": 0.998, "epochs": epochs, "batch": s.batch, "personal_epochs": 1}
    settings |= {"eta": value["eta"], "l1": value["mu"], "init_dual": "zero", "init_personal": component}
    asked = options(ctx, split) | ({"nuclear": value["lam"]} if value["lam"] else {})
    extra = ("common_accuracy", "factored_size", "component_size")
    return _repeated(ctx, "fedslr", settings, asked, extra)


def _repeated(
    ctx: Context, method: str, settings: Mapping[str, Any], asked: Mapping[str, Any], extra: tuple[str, ...] = ()
) -> Repeated:
    s = scale(ctx)
    metrics = ("personal_accuracy", *extra)
    one = Training(method, s.problem, s.rounds, settings, asked, metrics, participants=s.participants, every=s.every)
    return repeat_run(one, PROTOCOL.judged(ctx))


def final_accuracy(ctx: Context, label: str, split: str = NON_IID, mistake: str = "") -> NDArray[np.float64]:
    """Return the accuracies of a row of Table 1, one a seed: the mean over clients, at the end; of a method with a mistake in it as a fault."""
    return of(ctx, label, split).mistaken(mistake).last(ctx, METHODS[label].accuracy, END)


#: settings that the paper leaves open or that a size changes: what the paper says | what stands here | why
OPEN = """
data sets | CIFAR-10, CIFAR-100, TinyImageNet | {data} | the others are not in the data folder
network | ResNet-18, group norm | {problem} | {network}
rounds | not stated | {rounds} | {rounds_from}
clients, a round | 100, 10 | {clients}, {participants} | {size}
seeds | not stated | {seeds} | paired over splits, first weights and draws
accuracy | when: not stated | mean over the last {end:.0%} of the measurements | less noise than one round
Dirichlet(0.1) | of each class or in total: not stated | 0.1 for each class, {samples} samples a client, draw {draw!r} | the authors' public \
code; with 0.1 in total clients would have one class
augmentation | not stated | {augment} | {augmented}
weight decay | 1e-3 | 1e-3, part of every f_i | also where components are trained, as in the public code
gamma_0 | not stated | 0 | the public code; equals FedDyn's start
p_0 | not stated | 0; in Tables 7 and 8 also a copy of w_0 | sparse from the start; the public code copies matrices
lam | 1e-4 | {lam} | {penalty}
FedSpa | sparsity and masks not stated | density 0.5, moving masks | half the traffic in Table 2
Per-FedAvg | own step 0.01, rate 0.001 (of a method that is not named) | own step 0.01, rate {rate:g}, first-order, drawn batches | {slow}
Per-FedAvg, tests | not stated | a client's model is that of the last round it took part in | adapting all clients costs full gradients
FedRep, Ditto | FedRep: not stated; Ditto: 1 personal epoch | 1 personal epoch each | then 2 shared ones as everybody
APFL | mixing 0.5 | 0.5, does not adapt | as the paper
"""


def chosen(ctx: Context) -> Table:
    """Return the settings that the paper leaves open or that this size changes, with the value here and why."""
    s = scale(ctx)
    laptop, paper = ctx.size == "laptop", ctx.size == "paper"
    told = {
        "data": "scikit-learn digits" if laptop else "CIFAR-10",
        "network": "group norm with 2 groups, last layer with biases" if paper else "size of the run",
        "rounds_from": "1000 follow from Table 2" if paper else "size of the run",
        "size": "as the paper" if paper else "size of the run",
        "seeds": len(PROTOCOL.judged(ctx)),
        "end": END,
        "augment": s.options.get("augment", "none"),
        "augmented": "none on digits" if laptop else "the public code (crops and flips)",
        "lam": s.main["lam"],
        "penalty": "64 x 64 matrices need more to fall below break-even" if laptop else "as the paper",
        "rate": s.per_fedavg_lr,
        "slow": "as read from the paper" if paper else "with 0.001 it learns next to nothing in so few rounds",
    }
    values = {name: getattr(s, name) for name in ("problem", "rounds", "clients", "participants", "samples", "draw")}
    rows = [line.split(" | ") for line in OPEN.format(**told, **values).strip().splitlines()]
    return make_table(f"Settings ({ctx.size} size)", ["setting", "paper", "here", "why"], rows)
