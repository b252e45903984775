"""Section 5.1: Figures 2 and 3: participation ratios, local intervals and rounds at equal local steps in all, and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Picture, Reading, Role
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.afedpd.runs import (
    ACTIVE_DUALS,
    DECAY,
    HARD_SPLIT,
    NO_DUALS,
    RunsByNumber,
    RunsBySplit,
    Swap,
    accuracy_entry,
    claim_on_runs,
    column,
    final_accuracy,
    final_loss,
    gradients_a_step,
    grid,
    over_seeds,
    scale,
    training,
)
from paper_checks.afedpd.section_1_introduction import counts, drift_runs, participation_runs, percent

CLAIMS: list[Claim] = []


# ---- Figure 2(a): participation ratios -------------------------------------------------------------------------------
def methods_of_fig_2a(ctx: Context) -> tuple[str, ...]:
    """Methods of Fig. 2(a), whose legend is not in the text; A-FedPD is the last."""
    return (*ctx.sized((), (), ("SCAFFOLD", "FedSpeed")), "FedAvg", "FedDyn", "A-FedPD")


def sweep_runs(ctx: Context) -> RunsByNumber:
    """Return runs of Fig. 2(a)."""
    return participation_runs(ctx, methods_of_fig_2a(ctx))


def spread_over_ratios(of: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Largest minus smallest over the ratios, a seed an entry."""
    return np.asarray(np.max(of, axis=0) - np.min(of, axis=0))


def check_sweep(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """How much accuracy and loss vary over the ratios."""
    found, several, labels = sweep_runs(ctx) | drift_runs(ctx), counts(ctx), methods_of_fig_2a(ctx)
    of = {label: [found[(swap or {}).get(label, label), count] for count in several] for label in labels}
    for name, read, by in (("", final_accuracy, 100.0), ("loss: ", final_loss, 1.0)):
        ours = spread_over_ratios([read(ctx, group) for group in of["A-FedPD"]])
        for label in labels[:-1]:
            what = "training loss" if name else "test accuracy"
            text = f"{HARD_SPLIT}, largest minus smallest {what} over the ratios, {label} minus A-FedPD"
            theirs = spread_over_ratios([read(ctx, group) for group in of[label]])
            part = f"{name}A-FedPD steadier than {label}"
            role: Role = "reading" if name else "printed"
            yield ordered(part, theirs, ours, text, scale=by, unit="" if name else " points", role=role)
    columns = ("method", *(percent(ctx, c) for c in several), "largest - smallest")
    rows = [
        [
            label,
            *(accuracy_entry(ctx, group) for group in of[label]),
            mean_and_deviation(spread_over_ratios([final_accuracy(ctx, group) for group in of[label]])),
        ]
        for label in labels
    ]
    yield make_table("test accuracy (%) by participation ratio", columns, rows)
    rows = [[label, *(mean_and_deviation(final_loss(ctx, group), 3, 1) for group in of[label])] for label in labels]
    yield make_table("training loss after the last round by participation ratio", columns[:-1], rows)
    yield draw_curves(
        ctx,
        f"Test accuracy, {percent(ctx, several[0])} of the clients, {HARD_SPLIT}",
        {label: of[label][0] for label in labels},
        "test_accuracy",
    )
    yield Reading(
        "'Steadier' is read as a smaller difference between the best and the worst ratio, at a fixed number of rounds; the paper's ratios "
        f"are 5 to 100 %, those here {percent(ctx, several[0])} to {percent(ctx, several[-1])}. Its 'best in 20 to 80 %' is not judged: "
        "only its own size has ratios above. Fig. 2(a) names no split; this is Dir-0.1."
    )


CLAIMS += [
    claim_on_runs(
        "AFEDPD-Q7",
        "Section 5 (participation ratios), Fig. 2(a)",
        (
            Clause(
                "Over the participation ratios the accuracy of A-FedPD varies less than those of FedAvg and FedDyn.",
                ("A-FedPD steadier than FedAvg", "A-FedPD steadier than FedDyn"),
            ),
        ),
        check_sweep,
        sweep_runs,
        Fault(ACTIVE_DUALS[0], "A-FedPD steadier than FedDyn", {"swap": ACTIVE_DUALS[1]}),
        planted=drift_runs,
    )
]

# ---- Figure 2(b): local intervals ------------------------------------------------------------------------------------
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


def without_duals(ctx: Context) -> RunsByNumber:
    """Return what A-FedPD without duals and penalty, which is FedAvg, does with the longest interval, with other seeds."""
    [*_, long] = intervals(ctx)
    return {("A-FedPD", long): run_with(ctx, "FedAvg", long, others=True)}


def interval_tables(ctx: Context, found: RunsByNumber) -> Iterator[Finding]:
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
    yield from interval_tables(ctx, found)
    yield Reading(
        "The caption of Fig. 2 fixes the local steps in all, so fewer rounds go with longer intervals; the step size decays by the same "
        "factor over the run. The figure names no split; this is Dir-0.1."
    )


CLAIMS += [
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
    )
]


# ---- Figure 2(c): rounds ---------------------------------------------------------------------------------------------
def halved_runs(ctx: Context) -> RunsByNumber:
    """Return A-FedPD with half of Table 2's rounds, of twice as many steps."""
    return {("A-FedPD", 2 * scale(ctx).steps): run_with(ctx, "A-FedPD", 2 * scale(ctx).steps)}


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
    yield from interval_tables(ctx, found)
    yield Reading(
        "The text says that A-FedPD 'saves about half the communication overhead compared to SCAFFOLD, and about one-third of FedDyn'. The first is "
        "read as: with half of the rounds, and so of what is sent, it comes to a better accuracy than SCAFFOLD with all. With two thirds of FedDyn's "
        "rounds nothing is run; with half of them, which asks for more, it is a reading."
    )


CLAIMS += [
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
    )
]

# ---- Figure 3: wall-clock time ---------------------------------------------------------------------------------------
METHODS_OF_FIG_3 = ("FedAvg", "SCAFFOLD", "FedDyn", "FedSpeed", "A-FedPD", "A-FedPDSAM")
EARLY = 0.25


def cost_runs(ctx: Context) -> RunsBySplit:
    """Return runs of Fig. 3, whose split is not named."""
    return grid(ctx, METHODS_OF_FIG_3, ("IID",))


def at_cost(ctx: Context, group: Repeated, share: float, gradients: int) -> NDArray[np.float64]:
    """Return the accuracy when a method, with so many gradients a step, has used up this share of T plain rounds' gradients."""
    name = column(group, "test_accuracy")
    until = share * group.trainings[0].rounds / gradients
    return np.array([log.at(name, int(log["round"][log["round"] <= until][-1])) for log in group.logs(ctx)])


def check_equal_costs(ctx: Context, *, one_price: bool = False) -> Iterator[Finding]:
    """Early: plain steps ahead of SAM's at equal cost; at the end, after equal rounds: A-FedPDSAM ahead of all.

    ``one_price`` forgets the second gradient of SAM's steps.
    """
    found = {label: group for (label, _), group in cost_runs(ctx).items()}

    def reached(label: str, share: float) -> NDArray[np.float64]:
        return at_cost(ctx, found[label], share, 1 if one_price else gradients_a_step(label))

    for plain in ("A-FedPD", "SCAFFOLD"):
        for costly in ("A-FedPDSAM", "FedSpeed"):
            text = f"IID, accuracy after the gradients of {EARLY:.0%} of the plain rounds, {plain} minus {costly}"
            a, b = reached(plain, EARLY), reached(costly, EARLY)
            yield ordered(f"early: {plain} ahead of {costly}", a, b, text, scale=100, unit=" points")
    for other in METHODS_OF_FIG_3[:-1]:
        text = f"IID, accuracy after the last round, A-FedPDSAM minus {other}"
        a, b = (final_accuracy(ctx, found[label]) for label in ("A-FedPDSAM", other))
        yield ordered(f"end: A-FedPDSAM ahead of {other}", a, b, text, scale=100, unit=" points")
    budgets = (0.1, EARLY, 0.5, 1.0)
    rows = [
        [label, gradients_a_step(label), *(mean_and_deviation(reached(label, share)) for share in budgets)]
        for label in METHODS_OF_FIG_3
    ]
    columns = ["method", "gradients a step", *(f"{share:.0%}" for share in budgets)]
    yield make_table("accuracy (%) by cost, in gradients of T rounds of plain steps", columns, rows)
    yield Reading(
        "Fig. 3's axis is seconds on a GPU. Here cost is counted in gradients, two a step of SAM's (AFEDPD-Q12 measures seconds), so that "
        "the verdict does not hang on the machine; the figure's 'early' is read as a quarter of the budget. It names no split; this is IID."
    )


CLAIMS += [
    claim_on_runs(
        "AFEDPD-FIG3",
        "Section 5 (wall-clock time), Fig. 3",
        (
            Clause(
                "For the same cost A-FedPD and SCAFFOLD are ahead of the methods with SAM early on;",
                tuple(f"early: {a} ahead of {b}" for a in ("A-FedPD", "SCAFFOLD") for b in ("A-FedPDSAM", "FedSpeed")),
            ),
            Clause(
                "A-FedPDSAM is best at the end.",
                tuple(f"end: A-FedPDSAM ahead of {label}" for label in METHODS_OF_FIG_3[:-1]),
            ),
        ),
        check_equal_costs,
        cost_runs,
        Fault(
            "the second gradient of SAM's steps is forgotten",
            "early: A-FedPD ahead of A-FedPDSAM",
            {"one_price": True},
            or_undecided=True,
        ),
    )
]
