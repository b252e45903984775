"""The runs of the A-FedPD paper's experiments at three sizes, and what was chosen where the paper leaves it open.

laptop: a perceptron on scikit-learn's digits; all claims of the paper take about four minutes on one core.
small: a small CNN, and LeNet for ResNet-18, on CIFAR-10 (PyTorch on a CPU, data folder); about an hour on two idle cores. The estimate: 690 000
steps of one client at 6.5 ms (20 images, forth and back) and 96 000 of LeNet at 18 ms, 1 500 training losses at 2 s, 160 problems built
at 6 s are 10 500 seconds of a core, measured while others used the machine; half of that or a little more when it is idle.
paper: LeNet and ResNet-18 on CIFAR-10 at the paper's sizes, one seed a verdict; for a GPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Context, Table
from fedtheory.claims.experiments import Log, Repeated, Training, repeat_run
from fedtheory.claims.orderings import make_table

PAPER = "a-fedpd"


@dataclass(frozen=True)
class Contender:
    """One method of the experiments: its name here, and the hyper-parameters that are its own (Table 3)."""

    name: str
    own: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_primal_dual(self) -> bool:
        """Whether it has a penalty, and so a model that is broadcast beside the average of those that come in."""
        return "rho" in self.own


_SAM = {"radius": 0.1, "sam_epsilon": 0.01}
#: the methods by their labels in the paper
METHODS = {
    "FedAvg": Contender("fedavg"),
    "FedCM": Contender("fedcm", {"alpha": 0.1}),
    "SCAFFOLD": Contender("scaffold"),
    "FedSAM": Contender("fedsam", _SAM | {"radius": 0.05}),
    "FedDyn": Contender("feddyn", {"rho": 0.1}),
    "FedSpeed": Contender("fedspeed", _SAM | {"rho": 0.1, "alpha": 1.0}),
    "A-FedPD": Contender("a-fedpd", {"rho": 0.1}),
    "A-FedPDSAM": Contender("a-fedpdsam", _SAM | {"rho": 0.1}),
    "FedADMM": Contender("fedadmm-active", {"rho": 0.1}),  # equation (6)
}


@dataclass(frozen=True)
class Scale:
    """What the experiments are at one size."""

    networks: Mapping[
        str, tuple[str, Mapping[str, Any]]
    ]  # the paper's networks to families and what they are asked for
    clients: int
    participants: int
    steps: int
    batch: int
    rounds: int
    samples: int
    seeds: int
    evaluations: int
    options: Mapping[str, Any]
    iid: Mapping[str, Any]


SCALES = {
    "laptop": Scale(
        {"LeNet": ("digits-mlp", {"hidden": 32}), "ResNet-18": ("digits-mlp", {"hidden": 64})},
        clients=50,
        participants=5,
        steps=20,
        batch=20,
        rounds=100,
        samples=60,
        seeds=6,
        evaluations=50,
        options={"test": "own"},
        iid={"split": "dirichlet-labels", "concentration": 1e6, "draw": "with"},
    ),
    "small": Scale(
        {"LeNet": ("cifar10-small", {}), "ResNet-18": ("cifar10-lenet", {})},
        clients=50,
        participants=5,
        steps=20,
        batch=20,
        rounds=40,
        samples=200,
        seeds=3,
        evaluations=8,
        options={"augment": "crop-flip"},
        iid={"split": "iid"},
    ),
    "paper": Scale(
        {"LeNet": ("cifar10-lenet", {}), "ResNet-18": ("cifar10-resnet18", {})},
        clients=100,
        participants=10,
        steps=50,
        batch=50,
        rounds=800,
        samples=500,
        seeds=1,
        evaluations=160,
        options={"augment": "crop-flip"},
        iid={"split": "iid"},
    ),
}

SPLITS = {"IID": None, "Dir-1.0": 1.0, "Dir-0.6": 0.6, "Dir-0.1": 0.1}  # concentration for every class
HARD_SPLIT = "Dir-0.1"  #: of the claims on a single split
DECAY, PAPER_ROUNDS = 0.998, 800
Swap = Mapping[str, str]  #: methods whose runs are taken from another one, as a planted fault
TITLES = {"laptop": "digits", "small": "CIFAR-10, small CNN", "paper": "CIFAR-10"}


def scale(ctx: Context) -> Scale:
    """Return the experiments' numbers at the size asked for."""
    return SCALES[ctx.size]


def training(
    ctx: Context,
    label: str,
    split: str,
    *,
    network: str = "LeNet",
    participants: int | None = None,
    steps: int | None = None,
    rounds: int | None = None,
    decay: float | None = None,
    rho: float | None = None,
) -> Training:
    """Return one run of a method by its label; what is not told is as in Table 2."""
    s, method = scale(ctx), METHODS[label]
    problem, asked = s.networks[network]
    rounds = s.rounds if rounds is None else rounds
    settings = {"lr": 0.1, "lr_decay": DECAY, "steps": s.steps, "batch": s.batch, "clip": 10.0} | dict(method.own)
    told = {"steps": steps, "lr_decay": decay, "rho": rho}
    settings |= {name: value for name, value in told.items() if value is not None}
    concentration = SPLITS[split]
    drawn = (
        dict(s.iid)
        if concentration is None
        else {"split": "dirichlet-labels", "concentration": concentration, "draw": "with"}
    )
    options = {"clients": s.clients, "l2": 1e-3, "samples_per_client": s.samples}
    losses = ("average_value", "average_accuracy") if method.is_primal_dual else ("value",)
    both = ("value",) if label == "FedADMM" else ()
    residuals = () if label == "FedCM" else ("primal_residual", "dual_residual")
    return Training(
        method.name,
        problem,
        rounds,
        settings,
        options | dict(s.options) | dict(asked) | drawn,
        (*losses, *both, "test_accuracy", *residuals),
        participants=s.participants if participants is None else participants,
        every=max(1, rounds // s.evaluations),
    )


def over_seeds(ctx: Context, one: Training, seeds: int | None = None) -> Repeated:
    """Return a run with the seeds of this size, or the first so many of them."""
    count = scale(ctx).seeds
    return repeat_run(one, (ctx.seed + k for k in range(count if seeds is None else min(seeds, count))))


def grid(
    ctx: Context, labels: Iterable[str], splits: Iterable[str], *, seeds: int | None = None, **told: Any
) -> dict[tuple[str, str], Repeated]:
    """Return runs of methods on splits over all seeds, or the first so many, by (label, split)."""
    labels = (*labels,)
    return {
        (label, split): over_seeds(ctx, training(ctx, label, split, **told), seeds)
        for split in splits
        for label in labels
    }


# ---- what is read off them: of the average of the models that came in, where a method broadcasts another model ------------


def column(group: Repeated, name: str) -> str:
    """Return the metric ``value`` or ``test_accuracy`` of the average model."""
    average = name.replace("test_", "average_") if name.startswith("test_") else f"average_{name}"
    return average if average in group.trainings[0].metrics else name


def best_accuracy(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Return the best test accuracy over the rounds, a seed an entry."""
    return group.best(ctx, column(group, "test_accuracy"))


def first_accuracy(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Return the test accuracy before any training, a seed an entry."""
    return group.at(ctx, column(group, "test_accuracy"), 0)


def late_loss(ctx: Context, group: Repeated, *, broadcast: bool = False, share: float = 0.1) -> NDArray[np.float64]:
    """Return the mean training loss over the last measurements, of the average or the broadcast model; a seed an entry."""
    return group.last(ctx, "value" if broadcast else column(group, "value"), share)


def mean_loss(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Return the mean training loss over all rounds, which is smaller the faster it falls; a seed an entry, NaN if diverged."""
    name = column(group, "value")
    return np.array([float("nan") if log.diverged else float(log[name].mean()) for log in group.logs(ctx)])


def rounds_to(ctx: Context, group: Repeated, level: float) -> NDArray[np.float64]:
    """Return the first measured round with this accuracy, one more than there are where it is never reached."""
    never = group.trainings[0].rounds + 1
    return np.minimum(group.first(ctx, column(group, "test_accuracy"), level), never)


def rounds_to_loss(ctx: Context, group: Repeated, level: float) -> NDArray[np.float64]:
    """Return the first measured round with this training loss, one more than there are where it is never reached."""
    never = group.trainings[0].rounds + 1
    return np.minimum(group.first(ctx, column(group, "value"), level, above=False), never)


def residual_ratio(log: Log) -> NDArray[np.float64]:
    """Return the primal over the dual residual without its factor rho, from the first round on."""
    return log["primal_residual"][1:] / log["dual_residual"][1:]


def chosen(ctx: Context) -> Table:
    """Return the list of what the paper leaves open, or cannot be had here, with the choice and its reason."""
    return make_table(
        "what the paper leaves open, and what was chosen", ("setting", "chosen", "why"), CHOSEN + WHERE[ctx.size]
    )


# fmt: off
CHOSEN = [
    ["model that is measured", "average of the models that came in", "the algorithm returns a 'global average model'; both are kept"],
    ["reported accuracy", "best measured round", "as the authors' public simulator"],
    ["FedSpeed's server", "FedDyn's, perturbed gradients alone (alpha = 1)", "the paper has no equations; the authors' public simulator"],
    ["FedADMM", "equation (6), h = 0", "as the paper prints it"],
    ["FedDyn's server", "with its new dual", "Acar et al.; equation (7) prints the old one"],
    ["A-FedPD: step, rho, batch", "as FedDyn's 0.1, 0.1, 50", "Table 3 has no column for it; the text refers to the others"],
    ["SAM", "radius 0.1 (FedSAM 0.05), eps 0.01", "Table 3, blank columns filled by the text"],
    ["FedDyn's step decay, batch", "0.998, as all others'", "Table 3 offers 0.998 or 1, and 20 or 50"],
    ["weight decay", "(0.001/2) ||x||^2 in every f_i", "PyTorch's SGD adds it to the gradient, which SAM's ascent then does not see"],
    ["gradient clipping", "norm 10, of the whole direction", "the authors' public simulator clips the gradient before weight decay"],
    ["clients of a round", "P of C, uniform without replacement", "the paper's P; the public simulator tosses a coin for each client"],
    ["Dirichlet", "concentration for every class, drawn with replacement", "the authors' public simulator; see AFEDPD-Q11"],
    ["brightness shift", "none", "parameters are not given, nor whether Table 2 uses it"],
    ["CIFAR-100", "not run", "not in the data folder; its numbers are in the tables"],
]
WHERE = {
    "laptop": [
        ["task", "digits, 1400 training and 397 test images", "no download, minutes"],
        ["network", "perceptron 64-32-10 for LeNet, 64-64-10 for ResNet-18", "stand-ins of two widths"],
        ["C, P, K, batch, T, samples a client", "50, 5, 20, 20, 100, 60", "the paper's C/P = 10 with fewer clients; 60 drawn with replacement"],
        ["IID", "even class shares, drawn with replacement", "1400 images do not give 50 clients 60 each"],
    ],
    "small": [
        ["network", "small CNN for LeNet, LeNet for ResNet-18", "what a CPU can do"],
        ["IID", "equal parts of a shuffle, without replacement", "the authors' public simulator"],
        ["C, P, K, batch, T, samples a client", "50, 5, 20, 20, 40, 200", "an hour on two cores"],
        ["test images", "the first 1000 where the folder has no more", "a point is ten images"],
    ],
    "paper": [
        ["seeds", "one a verdict (--seed), the paper has four", "one seed of eight methods and two splits is what a GPU does in an hour"],
        ["LeNet, ResNet-18", "networks lenet and resnet18 (GroupNorm)", "the authors' public simulator"],
        ["IID", "equal parts of a shuffle, without replacement", "the authors' public simulator"],
        ["augmentation", "crop and flip with probability 1/2 each", "'standard'; the authors' public simulator"],
        ["test images", "the first 1000 where the folder has no more", "a point is ten images"],
        ["measured", "every fifth round", "training loss on 50000 images costs as much as a round"],
    ],
}
# fmt: on
