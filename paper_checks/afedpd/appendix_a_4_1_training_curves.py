"""Appendix A.4.1: training losses by rounds (Figure 6)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Picture, Reading, Table
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.afedpd.runs import (
    ACTIVE_DUALS,
    AGAIN,
    HARD_SPLIT,
    RunsBySplit,
    Swap,
    accuracy_entry,
    claim_on_runs,
    column,
    final_accuracy,
    grid,
    mean_loss,
    mutants,
)

CLAIMS: list[Claim] = []

# ---- Figure 6 --------------------------------------------------------------------------------------------------------
SLOWER = ("FedAvg", "SCAFFOLD", "FedSAM", "FedDyn", "FedSpeed", "FedCM")
PLAIN = ("FedAvg", "SCAFFOLD", "FedCM")  # one gradient a step and no penalty
ENDS = ("IID", HARD_SPLIT)


def loss_splits(ctx: Context) -> tuple[str, ...]:
    """Fig. 6 has four splits; below the paper's size its ends."""
    return ("IID", "Dir-1.0", "Dir-0.6", "Dir-0.1") if ctx.size == "paper" else ENDS


def loss_runs(ctx: Context) -> RunsBySplit:
    """Return the runs of Fig. 6."""
    return grid(ctx, (*SLOWER, "A-FedPD", "A-FedPDSAM"), loss_splits(ctx))


class Losses:
    """Mean training losses over the rounds, by method and split.

    ``swap`` runs one method under another's name, on the hard split alone where its mutant runs there only.
    """

    def __init__(self, ctx: Context, swap: Swap | None) -> None:
        self.ctx, self.swap, self.found = ctx, swap or {}, loss_runs(ctx)
        self.planted = mutants(ctx) if swap else {}

    def of(self, label: str, split: str) -> NDArray[np.float64]:
        """Return a seed an entry."""
        key = self.swap.get(label, label), split
        return mean_loss(self.ctx, self.planted.get(key) or self.found.get(key) or self.found[label, split])

    def table(self) -> Table:
        """Return all of them."""
        splits = loss_splits(self.ctx)
        labels = (*SLOWER, "A-FedPD", "A-FedPDSAM")
        rows = [[label, *(mean_and_deviation(self.of(label, split), 4, 1) for split in splits)] for label in labels]
        return make_table("mean training loss over the rounds", ["method", *splits], rows)


# ---- A-FedPD falls fastest -------------------------------------------------------------------------------------------
def check_losses(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """Mean training loss over the rounds of A-FedPD against the others', a part a method and split."""
    losses, splits = Losses(ctx, swap), loss_splits(ctx)
    for split in splits:
        for label in SLOWER:
            text = f"{split}, mean training loss over the rounds of {label} minus A-FedPD"
            name = f"A-FedPD falls faster than {label}, {split}"
            yield ordered(name, losses.of(label, split), losses.of("A-FedPD", split), text, diverged="highest")
    yield losses.table()
    yield Reading(
        "'Fastest convergence' is read as the smallest training loss on average over all rounds. The loss is of the average of the models "
        "that came in and includes weight decay; Fig. 6 has curves and no numbers, and says neither. That the lead is clearest on IID clients "
        "is AFEDPD-Q4-IID, that FedDyn's falls fast AFEDPD-Q4-NEXT."
    )
    series = []
    for label in ("FedAvg", "SCAFFOLD", "FedDyn", "A-FedPD", "A-FedPDSAM"):
        group = losses.found[label, HARD_SPLIT]
        series += draw_curves(ctx, "", {label: group}, column(group, "value")).series
    yield Picture(f"Training loss, {HARD_SPLIT}", "communication rounds", "training loss", series, logy=True)


CLAIMS += [
    claim_on_runs(
        "AFEDPD-Q4",
        "Appendix A.4.1, Fig. 6",
        (
            Clause(
                "The training loss of A-FedPD falls fastest on every split, of all methods but its variant with SAM.",
                tuple(f"A-FedPD falls faster than {label}, {split}" for label in SLOWER for split in ENDS),
            ),
        ),
        check_losses,
        loss_runs,
        Fault(ACTIVE_DUALS[0], f"A-FedPD falls faster than SCAFFOLD, {HARD_SPLIT}", {"swap": ACTIVE_DUALS[1]}),
        Fault(
            "FedDyn with a virtual update of absent clients' duals, which makes it A-FedPD, with other seeds",
            f"A-FedPD falls faster than FedDyn, {HARD_SPLIT}",
            {"swap": {"FedDyn": AGAIN}},
            or_undecided=True,
        ),
        planted=mutants,
    )
]


# ---- Where the lead is clearest --------------------------------------------------------------------------------------
def check_clearest(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """The lead of A-FedPD over the best of the others, by split."""
    losses = Losses(ctx, swap)
    gain = {
        split: np.min([losses.of(label, split) for label in SLOWER], axis=0) - losses.of("A-FedPD", split)
        for split in loss_splits(ctx)
    }
    for split in loss_splits(ctx)[1:]:
        text = f"lead of A-FedPD in mean training loss over the best other method of the seed, IID minus {split}"
        yield ordered(f"clearest on IID, not {split}", gain["IID"], gain[split], text)
    yield losses.table()
    yield Reading("'Clearest' is read as the largest lead in mean training loss; Fig. 6 has curves and no numbers.")


CLAIMS += [
    claim_on_runs(
        "AFEDPD-Q4-IID",
        "Appendix A.4.1, Fig. 6",
        (Clause("A-FedPD's lead in training loss is clearest on IID clients.", ("clearest on IID",)),),
        check_clearest,
        loss_runs,
        Fault(ACTIVE_DUALS[0], f"clearest on IID, not {HARD_SPLIT}", {"swap": ACTIVE_DUALS[1]}, holds=True),
        planted=mutants,
    )
]


# ---- FedDyn ----------------------------------------------------------------------------------------------------------
def check_next(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """Mean training loss over the rounds of FedDyn against the others'."""
    losses = Losses(ctx, swap)
    for split in loss_splits(ctx):
        for label in SLOWER:
            if label == "FedDyn":
                continue
            text = f"{split}, mean training loss over the rounds of {label} minus FedDyn"
            name, a, b = f"FedDyn before {label}, {split}", losses.of(label, split), losses.of("FedDyn", split)
            yield ordered(name, a, b, text, role="printed" if label in PLAIN else "reading")
    yield losses.table()
    yield Reading(
        "The paper speaks of 'the fast rate' of FedDyn, and of A-FedPD's as faster (AFEDPD-Q4). 'Fast' is read against the methods without a "
        "penalty and without SAM, whose ascent slows the loss by the paper's own word (AFEDPD-Q4-SAM); the others are readings."
    )


CLAIMS += [
    claim_on_runs(
        "AFEDPD-Q4-NEXT",
        "Appendix A.4.1, Fig. 6",
        (
            Clause(
                "The training loss of FedDyn falls fast: faster than those of FedAvg, SCAFFOLD and FedCM.",
                tuple(f"FedDyn before {label}, {split}" for label in PLAIN for split in ENDS),
            ),
        ),
        check_next,
        loss_runs,
        Fault(
            "FedDyn's server averages the duals of active clients alone: equation (6)",
            f"FedDyn before SCAFFOLD, {HARD_SPLIT}",
            {"swap": {"FedDyn": "FedADMM"}},
        ),
        planted=mutants,
    )
]


# ---- With SAM --------------------------------------------------------------------------------------------------------
def check_sam(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """Mean training loss over the rounds of A-FedPDSAM against A-FedPD's, and their final accuracies."""
    found = loss_runs(ctx) | mutants(ctx)
    splits = loss_splits(ctx)

    def of(label: str, split: str) -> Repeated:
        return found.get(((swap or {}).get(label, label), split)) or found[label, split]

    for split in splits:
        text = f"{split}, mean training loss over the rounds of A-FedPDSAM minus A-FedPD"
        a, b = (mean_loss(ctx, of(label, split)) for label in ("A-FedPDSAM", "A-FedPD"))
        yield ordered(f"loss falls more slowly, {split}", a, b, text, diverged="highest")
        text = f"{split}, test accuracy of A-FedPDSAM minus A-FedPD after the last round"
        a, b = (final_accuracy(ctx, of(label, split)) for label in ("A-FedPDSAM", "A-FedPD"))
        yield ordered(f"accuracy is better, {split}", a, b, text, scale=100, unit=" points")
    rows = [
        [
            split,
            label,
            mean_and_deviation(mean_loss(ctx, of(label, split)), 4, 1),
            accuracy_entry(ctx, of(label, split)),
        ]
        for split in splits
        for label in ("A-FedPD", "A-FedPDSAM")
    ]
    yield make_table("A-FedPD with and without SAM", ("split", "method", "mean loss", "test accuracy (%)"), rows)
    yield Reading(
        "The loss is that of the models as they are, without SAM's ascent. The paper explains the slower fall by less overfitting, of networks "
        "and numbers of rounds that only its own size has."
    )


CLAIMS += [
    claim_on_runs(
        "AFEDPD-Q4-SAM",
        "Appendix A.4.1, Fig. 6",
        (
            Clause(
                "With SAM the training loss of A-FedPD falls more slowly,",
                tuple(f"loss falls more slowly, {split}" for split in ENDS),
            ),
            Clause("and its accuracy is better.", tuple(f"accuracy is better, {split}" for split in ENDS)),
        ),
        check_sam,
        lambda ctx: {key: group for key, group in loss_runs(ctx).items() if key[0].startswith("A-FedPD")},
        Fault(
            "no ascent in A-FedPDSAM, which makes it A-FedPD, with other seeds",
            f"loss falls more slowly, {HARD_SPLIT}",
            {"swap": {"A-FedPDSAM": AGAIN}},
            holds=None,
        ),
        Fault(
            "no ascent, no virtual update, and the duals of active clients alone in A-FedPDSAM, which makes it equation (6)",
            f"accuracy is better, {HARD_SPLIT}",
            {"swap": {"A-FedPDSAM": "FedADMM"}},
        ),
        planted=mutants,
    )
]
