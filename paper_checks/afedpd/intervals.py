"""Local intervals at a fixed number of local steps in all: Fig. 2(b) and (c)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Claim, Context, Fault, Finding, Picture, Reading, Role
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from paper_checks.afedpd.runs import (
    DECAY,
    HARD_SPLIT,
    PAPER,
    Swap,
    best_accuracy,
    late_loss,
    over_seeds,
    scale,
    training,
)

SWEPT = ("FedAvg", "SCAFFOLD", "FedDyn", "A-FedPD")


def intervals(ctx: Context) -> tuple[int, ...]:
    """Local steps K; the rounds are T = T_0 K_0 / K with those of Table 2."""
    chosen: tuple[int, ...] = ctx.sized((5, 20, 40, 100), (5, 20, 50), (10, 20, 50, 100, 200))
    return chosen


def rounds_of(ctx: Context, steps: int) -> int:
    """Rounds with the same local steps in all."""
    return scale(ctx).rounds * scale(ctx).steps // steps


def interval_runs(ctx: Context) -> dict[tuple[str, int], Repeated]:
    """Return runs of methods with each K; the step size decays by the same factor from the first to the last round."""
    found = {}
    for label in SWEPT:
        for steps in intervals(ctx):
            # the exponent is 1 for the interval of Table 2, so that its runs are those of Table 2
            decay = DECAY if steps == scale(ctx).steps else DECAY ** (steps / scale(ctx).steps)
            one = training(ctx, label, HARD_SPLIT, steps=steps, rounds=rounds_of(ctx, steps), decay=decay)
            found[label, steps] = over_seeds(ctx, one)
    return found


def both(
    ctx: Context, found: Mapping[tuple[str, int], Repeated], swap: Swap | None
) -> tuple[dict[tuple[str, int], NDArray[np.float64]], ...]:
    """Best accuracies and final losses, by method and K."""
    of = {key: found[(swap or {}).get(key[0], key[0]), key[1]] for key in found}
    return {key: best_accuracy(ctx, group) for key, group in of.items()}, {
        key: late_loss(ctx, group) for key, group in of.items()
    }


def tables(
    ctx: Context,
    best: Mapping[tuple[str, int], NDArray[np.float64]],
    losses: Mapping[tuple[str, int], NDArray[np.float64]],
) -> Iterator[Finding]:
    """What both claims show."""
    several = intervals(ctx)
    columns = ("method", *(f"K = {steps}, T = {rounds_of(ctx, steps)}" for steps in several))
    yield make_table(
        "best test accuracy (%)",
        columns,
        [[label, *(mean_and_deviation(best[label, k]) for k in several)] for label in SWEPT],
    )
    yield make_table(
        "training loss at the end",
        columns,
        [[label, *(mean_and_deviation(losses[label, k], 3, 1) for k in several)] for label in SWEPT],
    )
    series = [
        {"label": label, "x": [*several], "y": [float(losses[label, k].mean()) for k in several]} for label in SWEPT
    ]
    yield Picture(
        f"Training loss at the end, {HARD_SPLIT}, T K fixed",
        "local steps K",
        "training loss",
        series,
        logx=True,
        logy=True,
    )


def check_intervals(ctx: Context, *, swap: Swap | None = None, backwards: bool = False) -> Iterator[Finding]:
    """Accuracy and loss with the shortest and the longest interval, and methods at the longest."""
    best, losses = both(ctx, interval_runs(ctx), swap)
    several = intervals(ctx)
    short, long = (several[-1], several[0]) if backwards else (several[0], several[-1])
    for label in SWEPT:
        text = f"{HARD_SPLIT}, best accuracy of {label}, K = {short} minus K = {long}"
        yield ordered(
            f"{label} loses accuracy with K", best[label, short], best[label, long], text, scale=100, unit=" points"
        )
        text = f"{HARD_SPLIT}, training loss of {label} at the end, K = {long} minus K = {short}"
        yield ordered(f"loss: {label} loses with K", losses[label, long], losses[label, short], text, role="reading")
    for label in SWEPT[:-1]:
        text = f"{HARD_SPLIT}, K = {several[-1]}, best accuracy, A-FedPD minus {label}"
        yield ordered(
            f"A-FedPD over {label} at the longest interval",
            best["A-FedPD", several[-1]],
            best[label, several[-1]],
            text,
            scale=100,
            unit=" points",
        )
        text = f"{HARD_SPLIT}, K = {several[-1]}, training loss at the end, {label} minus A-FedPD"
        mine, theirs = losses["A-FedPD", several[-1]], losses[label, several[-1]]
        yield ordered(f"loss: A-FedPD below {label} at the longest interval", theirs, mine, text, role="reading")
    yield from tables(ctx, best, losses)
    yield Reading(
        "The caption of Fig. 2 fixes the local steps in all, so fewer rounds go with longer intervals; the step size decays by the same "
        "factor over the run. The figure names no split; this is Dir-0.1."
    )


def check_rounds(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """A-FedPD with fewer rounds against others with more, at equal local steps in all."""
    best, losses = both(ctx, interval_runs(ctx), swap)
    several = intervals(ctx)
    for label in SWEPT[:-1]:
        role: Role = "reading" if label == "FedAvg" else "printed"
        a, b = (np.mean([best[name, steps] for steps in several], axis=0) for name in ("A-FedPD", label))
        text = f"{HARD_SPLIT}, best accuracy, mean over all T, A-FedPD minus {label}"
        yield ordered(f"A-FedPD over {label}", a, b, text, role=role, scale=100, unit=" points")
        for steps in several:
            name = f"T = {rounds_of(ctx, steps)}"
            text = f"{HARD_SPLIT}, {name}, best accuracy, A-FedPD minus {label}"
            a, b = best["A-FedPD", steps], best[label, steps]
            yield ordered(f"A-FedPD over {label}, {name}", a, b, text, role="reading", scale=100, unit=" points")
            text = f"{HARD_SPLIT}, {name}, training loss at the end, {label} minus A-FedPD"
            a, b = losses[label, steps], losses["A-FedPD", steps]
            yield ordered(f"loss: A-FedPD below {label}, {name}", a, b, text, role="reading")
    full = scale(ctx).steps
    fewer = next(steps for steps in several if steps >= 2 * full)
    share = rounds_of(ctx, fewer) / scale(ctx).rounds
    for label in ("SCAFFOLD", "FedDyn"):
        text = f"{HARD_SPLIT}, A-FedPD with {rounds_of(ctx, fewer)} rounds minus {label} with {scale(ctx).rounds}"
        a, b = best["A-FedPD", fewer], best[label, full]
        yield ordered(
            f"{share:.0%} of the rounds of {label}",
            a,
            b,
            f"{text}, best accuracy",
            role="reading",
            scale=100,
            unit=" points",
        )
        a, b = losses[label, full], losses["A-FedPD", fewer]
        yield ordered(
            f"loss: {share:.0%} of the rounds of {label}",
            a,
            b,
            f"{text}, its training loss minus A-FedPD's",
            role="reading",
        )
    yield from tables(ctx, best, losses)
    yield Reading(
        "The text's savings (half of SCAFFOLD's communication, a third of FedDyn's) are read off curves that are not in the text; a reading "
        "here tells whether A-FedPD with about half of the rounds does as well. AFEDPD-Q6 counts rounds to a target."
    )


CLAIMS = [
    Claim(
        "AFEDPD-Q8",
        PAPER,
        "ordering",
        "Section 5 (local intervals), Fig. 2(b)",
        "All methods lose accuracy as the local interval grows, and A-FedPD stays the best at the longest.",
        check_intervals,
        (Fault("shortest and longest interval change places", "A-FedPD loses accuracy with K", {"backwards": True}),),
        needs=lambda ctx: list_runs(interval_runs(ctx).values()),
    ),
    Claim(
        "AFEDPD-Q8-FIG2C",
        PAPER,
        "ordering",
        "Section 5 (communication rounds), Fig. 2(c)",
        "At equal local steps in all A-FedPD is ahead of SCAFFOLD and FedDyn, and saves communication.",
        check_rounds,
        (Fault("FedAvg in A-FedPD's place", "A-FedPD over SCAFFOLD", {"swap": {"A-FedPD": "FedAvg"}}),),
        needs=lambda ctx: list_runs(interval_runs(ctx).values()),
    ),
]
