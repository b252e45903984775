"""Local intervals at a fixed number of local steps in all: Fig. 2(b) and (c)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Clause, Context, Fault, Finding, Picture, Reading, Role
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from paper_checks.afedpd.runs import (
    DECAY,
    HARD_SPLIT,
    NO_DUALS,
    RunsByNumber,
    Swap,
    accuracy_entry,
    claim_on_runs,
    final_accuracy,
    final_loss,
    over_seeds,
    scale,
    training,
)

SWEPT = ("FedAvg", "SCAFFOLD", "FedDyn", "A-FedPD")


def intervals(ctx: Context) -> tuple[int, ...]:
    """Local steps K; the rounds are T = T_0 K_0 / K with those of Table 2."""
    chosen: tuple[int, ...] = ctx.sized((5, 20, 100), (5, 20, 50), (10, 20, 50, 100, 200))
    return chosen


def rounds_of(ctx: Context, steps: int) -> int:
    """Rounds with the same local steps in all."""
    return scale(ctx).rounds * scale(ctx).steps // steps


def run_with(ctx: Context, label: str, steps: int, *, others: bool = False) -> Repeated:
    """Return the runs of a method with an interval; the step size decays by the same factor from the first to the last round."""
    # the exponent is 1 for the interval of Table 2, so that its runs are those of Table 2
    decay = DECAY if steps == scale(ctx).steps else DECAY ** (steps / scale(ctx).steps)
    one = training(ctx, label, HARD_SPLIT, steps=steps, rounds=rounds_of(ctx, steps), decay=decay)
    return over_seeds(ctx, one, others=others)


def interval_runs(ctx: Context) -> RunsByNumber:
    """Return runs of methods with each K."""
    return {(label, steps): run_with(ctx, label, steps) for label in SWEPT for steps in intervals(ctx)}


def halved_runs(ctx: Context) -> RunsByNumber:
    """Return A-FedPD with half of Table 2's rounds, of twice as many steps."""
    return {("A-FedPD", 2 * scale(ctx).steps): run_with(ctx, "A-FedPD", 2 * scale(ctx).steps)}


def without_duals(ctx: Context) -> RunsByNumber:
    """Return what A-FedPD without duals and penalty, which is FedAvg, does with the longest interval, with other seeds."""
    [*_, long] = intervals(ctx)
    return {("A-FedPD", long): run_with(ctx, "FedAvg", long, others=True)}


def tables(ctx: Context, found: RunsByNumber) -> Iterator[Finding]:
    """What both claims show."""
    several = intervals(ctx)
    columns = ("method", *(f"K = {steps}, T = {rounds_of(ctx, steps)}" for steps in several))
    rows = [[label, *(accuracy_entry(ctx, found[label, k]) for k in several)] for label in SWEPT]
    yield make_table("test accuracy (%)", columns, rows)
    losses = {key: final_loss(ctx, group) for key, group in found.items()}
    rows = [[label, *(mean_and_deviation(losses[label, k], 3, 1) for k in several)] for label in SWEPT]
    yield make_table("training loss after the last round", columns, rows)
    series = [repeat_curve(label, several, np.stack([losses[label, k] for k in several], axis=1)) for label in SWEPT]
    title = f"Training loss after the last round, {HARD_SPLIT}, T K fixed"
    yield Picture(title, "local steps K", "training loss", series, logx=True, logy=True)


def check_intervals(ctx: Context, *, plain: bool = False) -> Iterator[Finding]:
    """Accuracy with the shortest and the longest interval, and methods at the longest; ``plain`` has A-FedPD without duals there."""
    found = interval_runs(ctx) | (without_duals(ctx) if plain else {})
    short, *_, long = intervals(ctx)
    final = {(label, k): final_accuracy(ctx, found[label, k]) for label in SWEPT for k in (short, long)}
    for label in SWEPT:
        text = f"{HARD_SPLIT}, accuracy of {label} after the last round, K = {short} minus K = {long}"
        a, b = final[label, short], final[label, long]
        yield ordered(f"{label} loses accuracy", a, b, text, scale=100, unit=" points")
    for label in SWEPT[:-1]:
        text = f"{HARD_SPLIT}, K = {long}, accuracy after the last round, A-FedPD minus {label}"
        a, b, name = final["A-FedPD", long], final[label, long], f"A-FedPD over {label} at the longest interval"
        yield ordered(name, a, b, text, scale=100, unit=" points")
    yield from tables(ctx, found)
    yield Reading(
        "The caption of Fig. 2 fixes the local steps in all, so fewer rounds go with longer intervals; the step size decays by the same "
        "factor over the run. The figure names no split; this is Dir-0.1."
    )


def check_rounds(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """A-FedPD against others at equal local steps in all, and with half of their rounds."""
    found, several, full = interval_runs(ctx) | halved_runs(ctx), intervals(ctx), scale(ctx).steps

    def final(label: str, steps: int) -> NDArray[np.float64]:
        return final_accuracy(ctx, found[(swap or {}).get(label, label), steps])

    role: Role
    for label in SWEPT[:-1]:
        a, b = (np.mean([final(name, steps) for steps in several], axis=0) for name in ("A-FedPD", label))
        text = f"{HARD_SPLIT}, accuracy after the last round, mean over all T, A-FedPD minus {label}"
        role = "reading" if label == "FedAvg" else "printed"
        yield ordered(f"A-FedPD over {label}", a, b, text, role=role, scale=100, unit=" points")
    half, all_rounds = rounds_of(ctx, 2 * full), scale(ctx).rounds
    for label in ("SCAFFOLD", "FedDyn"):
        text = f"{HARD_SPLIT}, accuracy of A-FedPD after {half} rounds minus {label} after {all_rounds}"
        a, b = final("A-FedPD", 2 * full), final(label, full)
        role = "printed" if label == "SCAFFOLD" else "reading"
        yield ordered(f"with half of the rounds over {label}", a, b, text, role=role, scale=100, unit=" points")
    yield from tables(ctx, found)
    yield Reading(
        "The text says that A-FedPD 'saves about half the communication overhead compared to SCAFFOLD, and about one-third of FedDyn'. The first is "
        "read as: with half of the rounds, and so of what is sent, it comes to a better accuracy than SCAFFOLD with all. With two thirds of FedDyn's "
        "rounds nothing is run; with half of them, which asks for more, it is a reading."
    )


CLAIMS = [
    claim_on_runs(
        "AFEDPD-Q8",
        "Section 5 (local intervals), Fig. 2(b)",
        (
            Clause(
                "All methods lose accuracy as the local interval grows,",
                tuple(f"{label} loses accuracy" for label in SWEPT),
            ),
            Clause(
                "and A-FedPD stays the best at the longest.",
                tuple(f"A-FedPD over {label} at the longest interval" for label in SWEPT[:-1]),
            ),
        ),
        check_intervals,
        interval_runs,
        Fault(
            f"{NO_DUALS[0]}, with other seeds",
            "A-FedPD over FedAvg at the longest interval",
            {"plain": True},
            or_undecided=True,
        ),
        planted=without_duals,
    ),
    claim_on_runs(
        "AFEDPD-Q8-FIG2C",
        "Section 5 (communication rounds), Fig. 2(c)",
        (
            Clause(
                "At equal local steps in all A-FedPD is ahead of SCAFFOLD and FedDyn,",
                ("A-FedPD over SCAFFOLD", "A-FedPD over FedDyn"),
            ),
            Clause(
                "and with half of SCAFFOLD's communication A-FedPD is still ahead of it.",
                ("with half of the rounds over SCAFFOLD",),
            ),
        ),
        check_rounds,
        lambda ctx: interval_runs(ctx) | halved_runs(ctx),
        Fault(NO_DUALS[0], "A-FedPD over FedDyn", {"swap": NO_DUALS[1]}, or_undecided=True),
    ),
]
