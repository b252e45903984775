"""The runs of the A-FedPD paper's experiments at three sizes, and what was chosen where the paper leaves it open.

laptop: a perceptron on scikit-learn's digits; all claims of the paper take a minute and a half on one core.
small: a small CNN on CIFAR-10 (PyTorch on a CPU, data folder); about an hour on two idle cores. The estimate: 740 000
minibatch gradients of a client at 6.5 ms, 1 200 training losses at 2 s, 153 problems built at 6 s are 8 200 seconds of a busy core.
paper: LeNet and ResNet-18 on CIFAR-10 at the paper's sizes, with its four seeds; for a GPU.

Whatever the size, no data folder here trains on the paper's data whole: 10 000 of CIFAR-10's 50 000 training images are held out for tests, in
the place of its test set. So all runs are analogues (`setting_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Check, Claim, Clause, Context, Fault, Need, Part, Setting, Table
from fedtheory.claims.experiments import Repeated, Training, claim_ordering, list_runs, repeat_run
from fedtheory.claims.logs import Log
from fedtheory.claims.orderings import make_table, mean_and_deviation
from paper_checks.afedpd.protocol import PROTOCOL

RunsBySplit = dict[tuple[str, str], Repeated]
RunsByNumber = dict[tuple[str, int], Repeated]


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


def gradients_a_step(label: str) -> int:
    """Minibatch gradients of a local step: two where SAM's ascent takes one."""
    return 2 if "radius" in METHODS[label].own else 1


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
    evaluations: int
    options: Mapping[str, Any]
    iid: Mapping[str, Any]


SCALES = {
    "laptop": Scale(
        {"LeNet": ("digits-mlp", {"hidden": 32})},
        clients=50,
        participants=5,
        steps=20,
        batch=20,
        rounds=100,
        samples=60,
        evaluations=25,
        options={"test": "own"},
        iid={"split": "dirichlet-labels", "concentration": 1e6, "draw": "with"},
    ),
    "small": Scale(
        {"LeNet": ("cifar10-small", {})},
        clients=50,
        participants=5,
        steps=20,
        batch=20,
        rounds=40,
        samples=200,
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
        samples=400,
        evaluations=160,
        options={"augment": "crop-flip"},
        iid={"split": "iid"},
    ),
}

SPLITS = {"IID": None, "Dir-1.0": 1.0, "Dir-0.6": 0.6, "Dir-0.1": 0.1}  # concentration for every class
HARD_SPLIT = "Dir-0.1"  #: of the claims on a single split
DECAY, PAPER_ROUNDS = 0.998, 800
Swap = Mapping[str, str]  #: methods whose runs are taken from another one, as a planted fault
AGAIN = "A-FedPD, other seeds"  #: what differs from A-FedPD by the level of noise alone
OTHER_SEEDS = 500  #: how far these seeds are from those that are judged
#: mistakes in A-FedPD that make it methods which run here anyway (a test holds that they do)
NO_DUALS = "no duals and no penalty in A-FedPD, which makes it FedAvg", {"A-FedPD": "FedAvg"}
ACTIVE_DUALS = (
    "no virtual update of absent clients' duals, and active clients' alone at the server: equation (6)",
    {"A-FedPD": "FedADMM"},
)


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


def setting_of(*networks: str) -> Callable[[Context], Setting]:
    """Return what a claim ran on, by size: data, and what stands for these networks of the paper."""

    def setting(ctx: Context) -> Setting:
        stand_ins = ", ".join(MODELS[ctx.size][name] for name in networks)
        return Setting(f"{DATA[ctx.size]}; {scale(ctx).clients} clients", stand_ins, own=False)

    return setting


_CIFAR_10 = "CIFAR-10, 40000 of its training images, tested on the other 10000"
DATA = {"laptop": "scikit-learn's digits", "small": _CIFAR_10, "paper": _CIFAR_10}
MODELS = {
    "laptop": {"LeNet": "perceptron 64-32-10 for LeNet", "ResNet-18": "nothing like ResNet-18"},
    "small": {"LeNet": "small CNN for LeNet", "ResNet-18": "nothing like ResNet-18"},
    "paper": {"LeNet": "LeNet", "ResNet-18": "ResNet-18"},
}


def over_seeds(ctx: Context, one: Training, *, others: bool = False) -> Repeated:
    """Return a run with the protocol's seeds, or with as many others."""
    return repeat_run(one, (seed + OTHER_SEEDS * others for seed in PROTOCOL.judged(ctx)))


def grid(ctx: Context, labels: Iterable[str], splits: Iterable[str], **told: Any) -> RunsBySplit:
    """Return runs of methods on splits over all seeds, by (label, split)."""
    labels = (*labels,)
    return {
        (label, split): over_seeds(ctx, training(ctx, label, split, **told)) for split in splits for label in labels
    }


def mutants(ctx: Context) -> RunsBySplit:
    """Return the runs that only planted faults read: A-FedPD as equation (6), and with other seeds, on the hard split."""
    return {
        ("FedADMM", HARD_SPLIT): over_seeds(ctx, training(ctx, "FedADMM", HARD_SPLIT)),
        (AGAIN, HARD_SPLIT): over_seeds(ctx, training(ctx, "A-FedPD", HARD_SPLIT), others=True),
    }


def list_needed(
    ctx: Context, runs: Mapping[Any, Repeated], faults: Mapping[Any, Repeated] | None = None
) -> list[Training]:
    """Return the runs of a claim, each once; with those of its faults at laptop size, where faults are planted."""
    groups = [*runs.values(), *((faults or {}).values() if ctx.size == "laptop" else ())]
    return [*{training.key: training for training in list_runs(groups)}.values()]


def not_run(name: str, ctx: Context, why: str) -> Part:
    """Part: what this size does not run, and so does not decide."""
    return Part(name, None, "real data", f"not run at {ctx.size} size: {why}")


def claim_on_runs(
    id: str,
    source: str,
    clauses: tuple[Clause, ...],
    check: Check,
    runs: Callable[[Context], Mapping[Any, Repeated]],
    *faults: Fault,
    planted: Callable[[Context], Mapping[Any, Repeated]] = lambda ctx: {},
    network: str = "LeNet",
) -> Claim:
    """Return a claim about runs, with those that only its planted faults read."""

    def needs(ctx: Context) -> Sequence[Need]:
        return list_needed(ctx, runs(ctx), planted(ctx))

    return claim_ordering(id, PROTOCOL, source, clauses, check, faults, needs, setting_of(network))


# ---- what is read off them: of the average of the models that came in, where a method broadcasts another model ------------


def column(group: Repeated, name: str) -> str:
    """Return the metric ``value`` or ``test_accuracy`` of the average model."""
    average = name.replace("test_", "average_") if name.startswith("test_") else f"average_{name}"
    return average if average in group.trainings[0].metrics else name


def final_accuracy(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Return the test accuracy after the last round, a seed an entry; NaN if diverged."""
    return group.last(ctx, column(group, "test_accuracy"))


def best_accuracy(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Return the best test accuracy over the rounds, a seed an entry."""
    return group.best(ctx, column(group, "test_accuracy"))


def final_loss(ctx: Context, group: Repeated, *, broadcast: bool = False) -> NDArray[np.float64]:
    """Return the training loss after the last round, of the average or the broadcast model; a seed an entry."""
    return group.last(ctx, "value" if broadcast else column(group, "value"))


def mean_loss(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Return the mean training loss over all rounds, which is smaller the faster it falls; a seed an entry, NaN if diverged."""
    return group.last(ctx, column(group, "value"), 1.0)


def accuracy_entry(ctx: Context, group: Repeated) -> str:
    """Return the accuracy after the last round as a table shows it, with the best round's behind it."""
    return f"{mean_and_deviation(final_accuracy(ctx, group))} (best {mean_and_deviation(best_accuracy(ctx, group))})"


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
    ["reported accuracy", "after the last round, the best measured one beside it", "the authors' public simulator takes the best"],
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
        ["network", "perceptron 64-32-10 for LeNet", "a stand-in"],
        ["Dir-1.0, ResNet-18, decays of the step", "not run", "a perceptron of another width, a third split and 100 rounds say nothing more"],
        ["C, P, K, batch, T, samples a client", "50, 5, 20, 20, 100, 60", "the paper's C/P = 10 with fewer clients; 60 drawn with replacement"],
        ["IID", "even class shares, drawn with replacement", "1400 images do not give 50 clients 60 each"],
    ],
    "small": [
        ["network", "small CNN for LeNet", "what a CPU can do"],
        ["ResNet-18", "not run", "nothing that a CPU can do is like it"],
        ["IID", "equal parts of a shuffle, without replacement", "the authors' public simulator"],
        ["C, P, K, batch, T, samples a client", "50, 5, 20, 20, 40, 200", "an hour on two cores"],
        ["test images", "the last 10000 of the training images, which no client has", "the folder has 1000 of the test images"],
    ],
    "paper": [
        ["images a client", "400 of 40000", "the paper's 500 of 50000, of which 10000 are held out here"],
        ["seeds", "four, as the paper", "--seeds has more or fewer; runs that are kept are among them"],
        ["LeNet, ResNet-18", "networks lenet and resnet18 (GroupNorm)", "the authors' public simulator"],
        ["IID", "equal parts of a shuffle, without replacement", "the authors' public simulator"],
        ["augmentation", "crop and flip with probability 1/2 each", "'standard'; the authors' public simulator"],
        ["test images", "the last 10000 of the training images, which no client has", "the folder has 1000 of the test images"],
        ["measured", "every fifth round", "training loss on 50000 images costs as much as a round"],
    ],
}
# fmt: on
