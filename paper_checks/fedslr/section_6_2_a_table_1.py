"""Section 6.2: accuracy and convergence of FedSLR beside ten other methods, Table 1 and Figure 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Part, Reading, Role, Table, state
from fedtheory.claims.experiments import Training, list_runs
from fedtheory.claims.magnitudes import PrintedCell, compare_cells, count_within
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered, ordered_in_points
from paper_checks.fedslr import printed
from paper_checks.fedslr.notation import PAPER
from paper_checks.fedslr.protocol import EARLY, END, LEVEL, claim_experiment
from paper_checks.fedslr.runs import GKR, IID, METHODS, MIXED, NON_IID, PERSONAL, chosen, final_accuracy, of, scale
from paper_checks.formulas import of_the_tables

CLAIMS: list[Claim] = []


# ---- Table 1 ---------------------------------------------------------------------------------------------------------
def table_1(ctx: Context, split: str) -> Table:
    """Return Table 1's columns of a split beside ours."""
    places = [k for k, (_, of_split) in enumerate(printed.COLUMNS) if of_split == split]
    names = [printed.COLUMNS[k][0] for k in places]
    rows = [
        [label, *(printed.TABLE_1[label][k] for k in places), mean_and_deviation(final_accuracy(ctx, label, split))]
        for label in METHODS
    ]
    return make_table(f"Table 1, {split} ({ctx.size} size)", ["method", *names, "ours"], rows)


def compare_with_table_1(ctx: Context, split: str) -> Iterator[Finding]:
    """CIFAR-10's column of Table 1 with our intervals, where CIFAR-10 is trained on by the paper's network."""
    if ctx.size != "paper":
        return
    place = printed.COLUMNS.index(("CIFAR-10", split))
    cells = [
        PrintedCell(label, printed.TABLE_1[label][place], 100 * final_accuracy(ctx, label, split)) for label in METHODS
    ]
    yield compare_cells(f"Table 1, CIFAR-10, {split}", cells)
    yield Reading(f"Table 1, CIFAR-10, {split}: {count_within(cells)}.")


def accuracy_after(ctx: Context, label: str, split: str, share: float) -> NDArray[np.float64]:
    """Return accuracies after a share of the rounds, one a seed."""
    found = []
    for log in of(ctx, label, split).logs(ctx):
        k = int(np.searchsorted(log["round"], share * log["round"][-1]))
        value = log[METHODS[label].accuracy][k]
        found.append(value if np.isfinite(value) else np.nan)
    return np.array(found)


def list_rows(ctx: Context, split: str, labels: Sequence[str] = tuple(METHODS)) -> list[Training]:
    """The runs of rows of Table 1."""
    return list_runs([of(ctx, label, split) for label in labels])


READ_OFF = Reading(
    f"Accuracy: mean over clients on their own test samples, over the last {END:.0%} of the measurements. The paper prints no deviations; where "
    "its numbers differ by less than a point, few seeds may leave a comparison open."
)
#: as texts name them
SHORT = {MIXED: "mixed model", GKR: "GKR", NON_IID: "Non-IID", IID: "IID"}


def more_accurate(
    ctx: Context,
    name: str,
    first: str,
    second: str,
    split: str,
    *,
    role: Role = "printed",
    mistake: str = "",
    instead: str = "",
) -> Part:
    """Part: a method of Table 1 is more accurate than another; as faults, with a mistake in the first, or another ``instead`` of it."""
    what, higher, lower = (SHORT.get(label, label) for label in (split, first, second))
    text = f"{what} accuracy, {higher} minus {lower} (paper {printed.gap(first, second, split)})"
    top = final_accuracy(ctx, instead or first, split, mistake)
    return ordered_in_points(name, top, final_accuracy(ctx, second, split), text, role=role)


#: mistakes that cost accuracy on digits; others of the method, such as the sign of the dual in local work, cost next to none there
ACTIVE, WITHOUT_DUAL = "server dual over active clients", "no dual at the server"


# ---- Best with Non-IID clients ---------------------------------------------------------------------------------------
def check_non_iid(ctx: Context, *, mistake: str = "") -> Iterator[Finding]:
    """Compare the mixed model with every other method on Dirichlet splits."""
    for other in METHODS:
        if other != MIXED:
            yield more_accurate(ctx, f"above {other}", MIXED, other, NON_IID, mistake=mistake)
    yield table_1(ctx, NON_IID)
    yield from compare_with_table_1(ctx, NON_IID)
    yield chosen(ctx)
    yield READ_OFF


CLAIMS += [
    claim_experiment(
        "FEDSLR-Q1",
        "Section 6.2; Table 1; Fig. 2",
        (
            Clause(
                "With Non-IID clients FedSLR's mixed model is more accurate than every other method.",
                tuple(f"above {other}" for other in METHODS if other != MIXED),
            ),
        ),
        check_non_iid,
        (Fault(ACTIVE, "above Ditto", {"mistake": ACTIVE}, or_undecided=True),),
        lambda ctx: list_rows(ctx, NON_IID),
    ),
]


# ---- Most resilient with iid clients ---------------------------------------------------------------------------------
def check_iid(ctx: Context, *, mistake: str = "", top: str = "FedDyn") -> Iterator[Finding]:
    """Compare personalised methods with the best global one and with each other on an iid split."""
    for other in PERSONAL:
        yield more_accurate(ctx, f"FedDyn above {other}", "FedDyn", other, IID, instead=top)
        if other != MIXED:
            yield more_accurate(ctx, f"mixed above {other}", MIXED, other, IID, mistake=mistake)
    yield more_accurate(ctx, "mixed below GKR", GKR, MIXED, IID, role="reading")
    yield table_1(ctx, IID)
    yield from compare_with_table_1(ctx, IID)
    if ctx.size == "laptop":
        yield Reading(
            "With iid digits the methods whose clients use a commonly trained model (FedDyn, Per-FedAvg, FedSpa, GKR, the mixed model) come "
            "close to each other."
        )
    yield READ_OFF


CLAIMS += [
    claim_experiment(
        "FEDSLR-Q2",
        "Section 6.2; Table 1; Fig. 2",
        (
            Clause(
                "With iid clients personalised methods stay below FedDyn,",
                tuple(f"FedDyn above {other}" for other in PERSONAL),
            ),
            Clause(
                "and FedSLR's mixed model is the best of them.",
                tuple(f"mixed above {other}" for other in PERSONAL if other != MIXED),
            ),
        ),
        check_iid,
        (
            Fault(WITHOUT_DUAL, "mixed above APFL", {"mistake": WITHOUT_DUAL}, or_undecided=True),
            Fault("clients that never communicate in FedDyn's place", "FedDyn above Ditto", {"top": "Local"}),
        ),
        lambda ctx: list_rows(ctx, IID),
    ),
]


# ---- GKR and FedAvg --------------------------------------------------------------------------------------------------
#: when GKR is compared, after which share of the rounds, and whether the statement says so
MOMENTS: tuple[tuple[str, float, Role], ...] = (
    ("at the end", 1.0, "printed"),
    ("after a quarter of the rounds", EARLY, "reading"),
)


def check_gkr(ctx: Context, *, mistake: str = "") -> Iterator[Finding]:
    """Compare GKR with FedAvg, at the end and on the way; and with FedDyn, which is FedSLR without the low-rank penalty."""
    for split, (when, share, role) in product((NON_IID, IID), MOMENTS):
        found = {
            label: final_accuracy(ctx, label, split, wrong) if share == 1 else accuracy_after(ctx, label, split, share)
            for label, wrong in ((GKR, mistake), ("FedAvg", ""), ("FedDyn", ""))
        }
        name = f"{split} {when}"
        compared: tuple[tuple[str, str, str, Role], ...] = (
            (name, GKR, "GKR", role),
            (f"{name}, the control", "FedDyn", "FedDyn (lam = 0)", "reading"),
        )
        for part, label, told, part_role in compared:
            gaps = printed.gap(label, "FedAvg", split)
            text = f"accuracy {when}, {split}, {told} minus FedAvg (paper, at the end, {gaps})"
            yield ordered_in_points(part, found[label], found["FedAvg"], text, role=part_role)
    if ctx.size == "laptop":
        yield Reading(
            "On digits FedAvg catches up towards the end; after a quarter of the rounds the difference is larger."
        )
    yield Reading(
        "FedDyn with penalty 1/eta_g is FedSLR with lam = 0, iterate by iterate, and is above GKR in all six columns of the paper's Table 1. So "
        "the gain over FedAvg comes with the dual variables; the tables do not show that a low rank adds to it. The introduction's 7.23 % is "
        "relative, on the iid split of CIFAR-100 (66.40/61.92); the gain there is 4.48 points, and 8.44 on the Non-IID one."
    )
    yield table_1(ctx, NON_IID)


CLAIMS += [
    claim_experiment(
        "FEDSLR-Q3",
        "Introduction; Table 1",
        (
            Clause(
                "FedSLR's global model (GKR) is more accurate than FedAvg's.",
                (f"{NON_IID} at the end", f"{IID} at the end"),
            ),
        ),
        check_gkr,
        (Fault(ACTIVE, f"{NON_IID} at the end", {"mistake": ACTIVE}),),
        lambda ctx: [
            *(t for split in (NON_IID, IID) for t in list_rows(ctx, split, (GKR, "FedAvg", "FedDyn"))),
            *list_rows(ctx, NON_IID),
        ],
    ),
]


# ---- Convergence -----------------------------------------------------------------------------------------------------
def rounds_to(ctx: Context, label: str, split: str, level: float) -> NDArray[np.float64]:
    """Rounds until an accuracy is reached, one a seed; all of them where it never is."""
    found = of(ctx, label, split).first(ctx, METHODS[label].accuracy, level)
    return np.where(np.isfinite(found), found, scale(ctx).rounds)


def check_convergence(ctx: Context, *, label: str = MIXED) -> Iterator[Finding]:
    """Count rounds until an accuracy is reached, for the mixed model and for the median of the other personalised methods."""
    others = [name for name in PERSONAL if name not in (MIXED, "Local")]
    rows = []
    for split in (NON_IID, IID):
        level = LEVEL * max(float(np.nanmean(final_accuracy(ctx, name, split))) for name in others)
        rounds = {name: rounds_to(ctx, name, split, level) for name in (*others, MIXED, GKR, "FedAvg")}
        ours = rounds_to(ctx, label, split, level)
        yield ordered(
            split,
            np.median([rounds[name] for name in others], axis=0),
            ours,
            f"{split}: rounds to {100 * level:.1f} %, median of the other personalised methods minus mixed model",
            by=-scale(ctx).every,
            unit=" rounds",
        )
        rows += [[split, f"{100 * level:.1f} %", name, float(found.mean())] for name, found in rounds.items()]
    yield make_table(
        f"Rounds to an accuracy ({ctx.size} size)", ["split", "accuracy", "method", "rounds, mean over seeds"], rows
    )
    yield Reading(
        f"'Competitive' is read as: no later than the median of the other personalised methods that communicate, to {LEVEL:.0%} of the best "
        "final accuracy among them; one measurement later is allowed; a method that never comes there counts with all rounds. The paper's numbers "
        "are in a picture only."
    )
    yield draw_curves(
        ctx,
        f"Accuracy on clients' own data, Non-IID ({ctx.size} size)",
        {name: of(ctx, name) for name in METHODS if name != GKR},
        "personal_accuracy",
        ylabel="accuracy",
    )


CLAIMS += [
    claim_experiment(
        "FEDSLR-Q4",
        "Section 6.2; Fig. 2",
        (Clause("FedSLR converges as fast as other personalised methods.", (NON_IID, IID)),),
        check_convergence,
        (Fault("clients that never communicate", IID, {"label": "Local"}),),
        lambda ctx: [*list_rows(ctx, NON_IID), *list_rows(ctx, IID)],
    ),
]


# ---- Table 1: gains in points ----------------------------------------------------------------------------------------
#: nothing, for differences of numbers with as many digits
EXACTLY = "0"


def accuracy(model: str, split: str) -> float:
    """On CIFAR-100, as Table 1 prints it."""
    return printed.TABLE_1[model][printed.COLUMNS.index(("CIFAR-100", split))]


def above(first: str, second: str, split: str = "non-iid") -> str:
    """Points by which one model is more accurate than another, on CIFAR-100."""
    return f"{accuracy(first, split)} - {accuracy(second, split)}"


#: accuracies are printed to 0.005 points, which moves a ratio of a difference to the smaller one by less than 0.02 per cent
GAINS = of_the_tables(
    (above(MIXED, "Ditto"), printed.OVER_DITTO, EXACTLY),
    (above(MIXED, "FedSpa"), printed.OVER_FEDSPA, EXACTLY),
    (above(MIXED, "Per-FedAvg"), printed.OVER_PER_FEDAVG, EXACTLY),
    (above(GKR, MIXED, "iid"), printed.BELOW_GKR, EXACTLY),
    (f"100*({above(GKR, 'FedAvg', 'iid')})/{accuracy('FedAvg', 'iid')}", printed.OVER_FEDAVG, "1/200 + 1/50"),
)
CLAIMS += [
    state(
        "FEDSLR-C9",
        PAPER,
        "Introduction; Section 6.2; Table 1",
        "On CIFAR-100 the mixed model is 3.52, 8.32 and 18.46 points above Ditto, FedSpa and Per-FedAvg (Non-IID) and 1.45 below GKR (IID); GKR is "
        "7.23 % more accurate than FedAvg: of FedAvg's accuracy, with IID data.",
        GAINS,
        kind="identity",
    ),
]
