"""Table 2: test accuracies, and the orderings that are read off them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Claim, Context, Fault, Finding, Part, Reading
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.afedpd.published import TABLE_2, TABLE_2_COLUMNS, TABLE_2_METHODS, printed
from paper_checks.afedpd.runs import PAPER, best_accuracy, chosen, first_accuracy, grid, late_loss

#: what Table 2 and its text say: the better method, then the worse one
ORDER = (
    ("A-FedPDSAM", "FedSpeed"),
    ("A-FedPDSAM", "A-FedPD"),
    ("FedSpeed", "A-FedPD"),
    ("A-FedPD", "FedDyn"),
    ("A-FedPD", "SCAFFOLD"),
    *((other, "FedAvg") for other in ("SCAFFOLD", "FedSAM", "FedDyn", "FedSpeed", "A-FedPD")),
)
FEW = ("FedAvg", "SCAFFOLD", "FedDyn", "FedSpeed", "A-FedPD", "A-FedPDSAM")
POINT = (
    1.0  #: a gap of accuracies that is smaller than this many points, in the paper's own table, is no claim of its own
)


@dataclass(frozen=True)
class Column:
    """What one claim is about: a network, and splits."""

    network: str
    splits: tuple[str, ...]
    few_methods: bool = False  # below the paper's size, only those that the orderings need most
    one_split: bool = False  # below the paper's size, only the last
    seeds: int | None = None  # the first so many

    def labels(self, ctx: Context) -> tuple[str, ...]:
        """Return the methods that it runs."""
        return FEW if self.few_methods and ctx.size != "paper" else TABLE_2_METHODS

    def columns(self, ctx: Context) -> tuple[str, ...]:
        """Return the splits that it runs."""
        return self.splits[-1:] if self.one_split and ctx.size != "paper" else self.splits

    def order(self, ctx: Context) -> list[tuple[str, str]]:
        """Return the comparisons that its methods allow."""
        return [pair for pair in ORDER if {*pair} <= {*self.labels(ctx)}]

    def gap(self, better: str, worse: str, split: str, worse_split: str | None = None) -> tuple[float, float]:
        """Return the paper's own gap between two cells on CIFAR-10, and its deviation."""
        numbers = TABLE_2[self.network]
        a, b = numbers[better, "CIFAR-10", split], numbers[worse, "CIFAR-10", worse_split or split]
        return a[0] - b[0], hypot(a[1], b[1])


def table_runs(ctx: Context, of: Column) -> dict[tuple[str, str], Repeated]:
    """All runs of a claim."""
    return grid(ctx, of.labels(ctx), of.columns(ctx), seeds=of.seeds, network=of.network)


def separated(gap: tuple[float, float]) -> bool:
    """Whether the paper's own numbers separate two cells: by a point, and by twice the deviation of their difference."""
    return gap[0] >= POINT and gap[0] > 2 * gap[1]


def compare_cells(
    name: str, a: NDArray[np.float64], b: NDArray[np.float64], text: str, gap: tuple[float, float]
) -> Iterator[Part]:
    """Compare accuracies; a printed part where the paper's numbers are apart. One seed gives the rule of a point beside it."""
    text += f", the paper's gap {gap[0]:+.2f}"
    yield ordered(name, a, b, text, role="printed" if separated(gap) else "reading", scale=100, unit=" points")
    if a.size == 1 and np.isfinite([*a, *b]).all():
        seen = 100 * float(a[0] - b[0])
        holds = True if seen > POINT else False if seen < -POINT else None
        said = f"{text}, here {seen:+.2f}: one seed counts as decided beyond {POINT:g} point"
        yield Part(f"rule of a point: {name}", holds, "real data", said, role="reading")


def check_table(of: Column) -> Callable[..., Iterator[Finding]]:
    """Return the check of these columns of Table 2."""

    def check(
        ctx: Context, *, swap: Mapping[str, str] | None = None, backwards: bool = False, untrained: str | None = None
    ) -> Iterator[Finding]:
        """Compare methods two by two, and each with itself on the hardest split.

        ``swap`` runs one method under another's name; ``backwards`` calls the hardest split the easiest; ``untrained`` takes the first model
        of a method in the place of its best.
        """
        found, splits = table_runs(ctx, of), of.columns(ctx)

        def run_of(label: str, split: str) -> Repeated:
            return found[(swap or {}).get(label, label), split]

        for split in splits:
            for better, worse in of.order(ctx):
                a, b = (
                    (first_accuracy if label == untrained else best_accuracy)(ctx, run_of(label, split))
                    for label in (better, worse)
                )
                text = f"{split}, best test accuracy of {better} minus {worse}"
                yield from compare_cells(f"{better} over {worse}, {split}", a, b, text, of.gap(better, worse, split))
        if len(splits) > 1:
            easy, hard = splits[0], splits[-1]
            runs_of = (hard, easy) if backwards else (easy, hard)
            for label in of.labels(ctx):
                a, b = (best_accuracy(ctx, run_of(label, split)) for split in runs_of)
                text = f"best test accuracy of {label}, {easy} minus {hard}"
                yield from compare_cells(f"{label}: {easy} over {hard}", a, b, text, of.gap(label, label, easy, hard))
        for split in splits:
            for better, worse in of.order(ctx):
                yield ordered(
                    f"loss: {better} below {worse}, {split}",
                    late_loss(ctx, run_of(worse, split)),
                    late_loss(ctx, run_of(better, split)),
                    f"{split}, training loss at the end of {worse} minus {better}",
                    role="reading",
                )
        yield beside(ctx, of, found)
        yield chosen(ctx)
        hardest = {label: found[label, splits[-1]] for label in of.labels(ctx)}
        yield draw_curves(ctx, f"Test accuracy of the broadcast model, {splits[-1]}", hardest, "test_accuracy")
        yield Reading(
            "An ordering is a printed part where the paper's own numbers for CIFAR-10 are a point and two deviations apart; smaller gaps "
            "and training losses are readings. Accuracies are the best over the measured rounds, as the paper's are."
        )
        if ctx.size == "laptop":
            yield Reading(
                "The digits' test set has 397 images, a quarter of a point each, and all methods come above 95 %: accuracies differ by "
                "fractions of what they do on CIFAR-10, and training losses tell the methods apart. This size says nothing on CIFAR-10."
            )

    return check


def beside(ctx: Context, of: Column, found: Mapping[tuple[str, str], Repeated]) -> Finding:
    """Return the table of the paper's accuracies with ours beside them."""
    splits, columns = of.columns(ctx), [f"{data} {split}" for data, split in TABLE_2_COLUMNS]
    rows = []
    for label in TABLE_2_METHODS:
        ours = [
            mean_and_deviation(best_accuracy(ctx, found[label, split])) if (label, split) in found else None
            for split in splits
        ]
        rows.append([label, *(printed(TABLE_2[of.network][label, *column]) for column in TABLE_2_COLUMNS), *ours])
    seeds = len(next(iter(found.values())).trainings)
    title = f"Table 2, {of.network}: best test accuracy (%), the paper's and ours ({ctx.size} size, seeds: {seeds})"
    return make_table(
        title, ["method", *(f"paper: {c}" for c in columns), *(f"ours: {split}" for split in splits)], rows
    )


def claim(id: str, source: str, statement: str, of: Column, *faults: Fault) -> Claim:
    """Return a claim about columns of Table 2."""
    return Claim(
        id,
        PAPER,
        "ordering",
        source,
        statement,
        check_table(of),
        faults,
        needs=lambda ctx: list_runs(table_runs(ctx, of).values()),
    )


CLAIMS = [
    claim(
        "AFEDPD-Q9",
        "Table 2, LeNet on CIFAR-10: IID and Dir-0.1",
        "A-FedPDSAM is better than FedSpeed, FedSpeed than A-FedPD, A-FedPD than FedDyn and SCAFFOLD, all of them than FedAvg; every method "
        "is better on IID clients than on Dir-0.1.",
        Column("LeNet", ("IID", "Dir-0.1")),
        Fault("splits change places", "FedSAM: IID over Dir-0.1", {"backwards": True}),
        Fault("FedAvg in A-FedPD's place", "loss: A-FedPD below SCAFFOLD, Dir-0.1", {"swap": {"A-FedPD": "FedAvg"}}),
    ),
    claim(
        "AFEDPD-Q9-DIR1",
        "Table 2, LeNet on CIFAR-10: Dir-1.0",
        "The same orderings with Dir-1.0 clients.",
        Column("LeNet", ("Dir-1.0",), few_methods=True, seeds=4),
        Fault("FedAvg in A-FedPD's place", "loss: A-FedPD below SCAFFOLD, Dir-1.0", {"swap": {"A-FedPD": "FedAvg"}}),
        Fault("A-FedPD untrained", "A-FedPD over FedAvg, Dir-1.0", {"untrained": "A-FedPD"}),
    ),
    claim(
        "AFEDPD-Q9-RESNET18",
        "Table 2, ResNet-18 on CIFAR-10",
        "The same orderings with ResNet-18.",
        Column("ResNet-18", ("IID", "Dir-1.0", "Dir-0.1"), few_methods=True, seeds=4, one_split=True),
        Fault(
            "FedSpeed and FedAvg change places",
            "FedSpeed over FedAvg, Dir-0.1",
            {"swap": {"FedSpeed": "FedAvg", "FedAvg": "FedSpeed"}},
        ),
    ),
]
