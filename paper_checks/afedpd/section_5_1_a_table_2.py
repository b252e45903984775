"""Section 5.1: Table 2, orderings of test accuracies that are read off it, and what the text says in its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import hypot, isnan, sqrt

import numpy as np

from fedtheory.claims import (
    Claim,
    Clause,
    Context,
    Fault,
    Finding,
    Part,
    PrintedCell,
    Reading,
    Role,
    Size,
    Table,
    Theorem,
    compare_cells,
    holds,
    state,
)
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.magnitudes import count_within
from fedtheory.claims.orderings import draw_curves, make_table, ordered
from paper_checks.afedpd.notation import PAPER, claim, of_numbers, rounded_to
from paper_checks.afedpd.published import TABLE_2, TABLE_2_COLUMNS, TABLE_2_METHODS, Cell, printed
from paper_checks.afedpd.runs import (
    ACTIVE_DUALS,
    HARD_SPLIT,
    RunsBySplit,
    Swap,
    accuracy_entry,
    best_accuracy,
    chosen,
    claim_on_runs,
    final_accuracy,
    final_loss,
    grid,
    mutants,
    not_run,
)
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Orderings in Table 2 --------------------------------------------------------------------------------------------
#: what Table 2 and its text say, clause by clause: the better method, then the worse one
ORDERS = (
    ("A-FedPDSAM is above all other methods", tuple(("A-FedPDSAM", other) for other in TABLE_2_METHODS[:-1])),
    ("FedSpeed above A-FedPD", (("FedSpeed", "A-FedPD"),)),
    ("A-FedPD above FedDyn and SCAFFOLD", (("A-FedPD", "FedDyn"), ("A-FedPD", "SCAFFOLD"))),
    (
        "SCAFFOLD, FedSAM, FedDyn, FedSpeed and A-FedPD above FedAvg",
        tuple((other, "FedAvg") for other in ("SCAFFOLD", "FedSAM", "FedDyn", "FedSpeed", "A-FedPD")),
    ),
)
EASIER = "every method is better on IID than on Dir-0.1 clients"
SEEDS, STUDENT = 4, 3.1824463  #: the paper's seeds, and Student's 97.5 % point with a degree less
#: of mean 0 and deviation 1, without correlation
NOISE = sqrt(3) / 2 * np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
Key = tuple[str, str]  #: method and split


@dataclass(frozen=True)
class Columns:
    """What one claim is about: a network, and splits; ``sizes`` have something like it, and ``why`` the others have not."""

    network: str
    splits: tuple[str, ...]
    sizes: tuple[Size, ...] = ("laptop", "small", "paper")
    why: str = ""

    def runs(self, ctx: Context) -> dict[Key, Repeated]:
        """All runs of a claim."""
        return grid(ctx, TABLE_2_METHODS, self.splits, network=self.network) if ctx.size in self.sizes else {}

    def cell(self, key: Key) -> Cell:
        """Return the paper's cell for CIFAR-10."""
        return TABLE_2[self.network][key[0], "CIFAR-10", key[1]]

    def comparisons(self) -> Iterator[tuple[str, str, Key, Key]]:
        """Yield clause, name, better and worse cell of all comparisons that Table 2 and its text make."""
        for said, pairs in ORDERS:
            for split in self.splits:
                for better, worse in pairs:
                    yield said, f"{better} over {worse}, {split}", (better, split), (worse, split)
        if len(self.splits) > 1:
            easy, hard = self.splits[0], self.splits[-1]
            for label in TABLE_2_METHODS:
                yield EASIER, f"{label}: {easy} over {hard}", (label, easy), (label, hard)

    def role(self, better: Key, worse: Key, *, opposite: bool = False) -> Role:
        """Whether a comparison decides: where four paired runs tell its cells apart at 5 %, their noise being independent, or ``opposite``."""
        (a, s), (b, t) = self.cell(better), self.cell(worse)
        deviation = s + t if opposite else hypot(s, t)
        return "printed" if a - b > STUDENT * deviation / sqrt(SEEDS) else "reading"

    def clauses(self) -> tuple[Clause, ...]:
        """Return the statement, without what four seeds cannot tell."""
        decided: dict[str, list[str]] = {}
        apart: dict[str, list[str]] = {}
        for said, name, better, worse in self.comparisons():
            (decided if self.role(better, worse) == "printed" else apart).setdefault(said, []).append(name)
        found = []
        for said, names in decided.items():
            text = said + (f" (apart from {'; '.join(apart[said])})" if said in apart else "")
            end = "." if said == [*decided][-1] else ","
            found.append(Clause(text + end, tuple(names)))
        start = f"{self.network}, {', '.join(self.splits)} clients: {found[0].text}"
        return Clause(start, found[0].decided_by), *found[1:]


def check_power(of: Columns, deviations: float = 1.0) -> Iterator[Finding]:
    """With the paper's own numbers as four runs every comparison that decides comes out as the paper says, at 5 %.

    ``deviations``: by what the paper's are multiplied.
    """
    decisive = [(name, a, b) for _, name, a, b in of.comparisons() if of.role(a, b) == "printed"]
    made_up = {
        name: [(of.cell(key)[0] + deviations * of.cell(key)[1] * NOISE[k]) / 100 for k, key in enumerate((a, b))]
        for name, a, b in decisive
    }
    undecided = [name for name, (a, b) in made_up.items() if not ordered(name, a, b, "").holds]
    told = f"{len(decisive) - len(undecided)} of {len(decisive)} comparisons hold, at 5 % each, with the paper's own numbers as four runs"
    yield holds("four seeds are enough", not undecided, "numeric", "; not ".join([told, *undecided]))
    hidden = [name for name, a, b in decisive if of.role(a, b, opposite=True) == "reading"]
    left_out = [name for _, name, a, b in of.comparisons() if of.role(a, b) == "reading"]
    yield Reading(
        "A comparison decides where four runs with the paper's own means and deviations for CIFAR-10 tell at 5 %, their noise being "
        f"independent; left out of the statement, and readings: {'; '.join(left_out) or 'none'}. "
        f"Noise that is opposite from method to method would hide: {'; '.join(hidden) or 'none'}."
    )


def beside(ctx: Context, of: Columns, found: dict[Key, Repeated]) -> Table:
    """Return the table of the paper's accuracies with ours beside them."""
    columns = [f"{data} {split}" for data, split in TABLE_2_COLUMNS]
    splits = of.splits if found else ()
    rows = [
        [
            label,
            *(printed(TABLE_2[of.network][label, *column]) for column in TABLE_2_COLUMNS),
            *(accuracy_entry(ctx, found[label, split]) for split in splits),
        ]
        for label in TABLE_2_METHODS
    ]
    title = f"Table 2, {of.network}: test accuracy (%), the paper's and ours after the last round ({ctx.size} size)"
    return make_table(
        title, ["method", *(f"paper: {c}" for c in columns), *(f"ours: {split}" for split in splits)], rows
    )


def magnitudes(ctx: Context, of: Columns, found: dict[Key, Repeated]) -> Iterator[Finding]:
    """Printed cells beside ours, by the last round and by the best one."""
    for what, read in (("after the last round", final_accuracy), ("best round", best_accuracy)):
        cells = [
            PrintedCell(f"{label}, {split}", mean, 100 * read(ctx, found[label, split]), deviation, SEEDS)
            for split in of.splits
            for label in TABLE_2_METHODS
            for mean, deviation in [of.cell((label, split))]
        ]
        yield compare_cells(f"Table 2, {of.network}, CIFAR-10, {what}: {count_within(cells)}", cells)
    yield Reading(
        "Clients have 400 images for the paper's 500, and tests are on images held out: a number may lie outside for that."
    )


def check_columns(of: Columns) -> Callable[..., Iterator[Finding]]:
    """Return the check of these columns of Table 2."""

    def check(ctx: Context, *, swap: Swap | None = None, deviations: float = 1.0) -> Iterator[Finding]:
        """Compare methods two by two, and each with itself on the hardest split.

        ``swap`` runs a mutant on the hard split under a method's name; ``deviations`` takes other ones for the paper's.
        """
        found = of.runs(ctx)
        if swap:
            found |= {(label, HARD_SPLIT): mutants(ctx)[other, HARD_SPLIT] for label, other in swap.items()}
        yield from check_power(of, deviations)
        if not found:
            for _, name, better, worse in of.comparisons():
                if of.role(better, worse) == "printed":
                    yield not_run(name, ctx, of.why)
            yield beside(ctx, of, found)
            return
        final = {key: final_accuracy(ctx, group) for key, group in found.items()}
        for _, name, better, worse in of.comparisons():
            gap = of.cell(better)[0] - of.cell(worse)[0]
            text = f"test accuracy after the last round, {' on '.join(better)} minus {' on '.join(worse)}, the paper's gap {gap:+.2f}"
            role = of.role(better, worse)
            yield ordered(name, final[better], final[worse], text, role=role, scale=100, unit=" points")
        for _, name, better, worse in of.comparisons():
            if better[1] == worse[1]:
                text = f"training loss after the last round, {' on '.join(worse)} minus {' on '.join(better)}"
                a, b = final_loss(ctx, found[worse]), final_loss(ctx, found[better])
                yield ordered(f"loss: {name}", a, b, text, role="reading", diverged="highest")
        yield beside(ctx, of, found)
        if ctx.size == "paper":
            yield from magnitudes(ctx, of, found)
        yield chosen(ctx)
        hardest = {label: found[label, of.splits[-1]] for label in TABLE_2_METHODS}
        yield draw_curves(ctx, f"Test accuracy of the broadcast model, {of.splits[-1]}", hardest, "test_accuracy")
        if ctx.size == "laptop":
            yield Reading(
                "The digits' test set has 397 images, a quarter of a point each, and all methods come above 95 %: accuracies differ by "
                "fractions of what they do on CIFAR-10, and training losses tell the methods apart. This size says nothing on CIFAR-10."
            )

    return check


def claim_on_table_2(id: str, source: str, of: Columns, *faults: Fault) -> Claim:
    """Return a claim about columns of Table 2."""
    planted: Callable[[Context], RunsBySplit] = lambda ctx: mutants(ctx) if "laptop" in of.sizes else {}  # noqa: E731
    check, network = check_columns(of), of.network
    return claim_on_runs(id, source, of.clauses(), check, of.runs, *faults, planted=planted, network=network)


ERRORS = Fault("standard errors taken for the paper's deviations", "four seeds are enough", {"deviations": sqrt(SEEDS)})
CLAIMS += [
    claim_on_table_2(
        "AFEDPD-Q9",
        "Table 2, LeNet on CIFAR-10: IID and Dir-0.1",
        Columns("LeNet", ("IID", "Dir-0.1")),
        ERRORS,
        Fault(ACTIVE_DUALS[0], f"A-FedPD over FedAvg, {HARD_SPLIT}", {"swap": ACTIVE_DUALS[1]}, or_undecided=True),
    ),
    claim_on_table_2(
        "AFEDPD-Q9-DIR1",
        "Table 2, LeNet on CIFAR-10: Dir-1.0",
        Columns("LeNet", ("Dir-1.0",), ("small", "paper"), "AFEDPD-Q9 has the two ends of the splits"),
        ERRORS,
    ),
    claim_on_table_2(
        "AFEDPD-Q9-RESNET18",
        "Table 2, ResNet-18 on CIFAR-10",
        Columns("ResNet-18", ("IID", "Dir-1.0", "Dir-0.1"), ("paper",), "no other network is like ResNet-18"),
        ERRORS,
    ),
]

# ---- Sentences about the numbers of Table 2 --------------------------------------------------------------------------
NETWORKS = tuple(TABLE_2)
PRIMAL, PRIMAL_DUAL = ("SCAFFOLD", "FedSAM"), ("FedDyn", "FedSpeed", "A-FedPD", "A-FedPDSAM")
DataAndSplit = tuple[str, str]


def cell(network: str, method: str, column: DataAndSplit) -> str:
    """A mean of Table 2, as it is printed."""
    return f"{TABLE_2[network][method, *column][0]:.2f}"


def is_printed(network: str, method: str, column: DataAndSplit) -> bool:
    """Whether Table 2 has a number there, and not a dash."""
    return not isnan(TABLE_2[network][method, *column][0])


def mean_gap(above: str, below: str, networks: Iterable[str], columns: Iterable[DataAndSplit]) -> str:
    """By how many points one method is above another on average."""
    cells = [(n, c) for n in networks for c in columns if is_printed(n, above, c) and is_printed(n, below, c)]
    return f"({' + '.join(f'({cell(n, above, c)} - {cell(n, below, c)})' for n, c in cells)})/{len(cells)}"


TEXT = "Section 5.1, Table 2"


# ---- FedDyn beside SCAFFOLD ------------------------------------------------------------------------------------------
def improves(factor: str = "1", points: str = "0") -> list[str]:
    """FedDyn is above SCAFFOLD by so much in each column of LeNet."""
    return [
        f"{factor}*{cell('LeNet', 'SCAFFOLD', column)} + {points} <= {cell('LeNet', 'FedDyn', column)}"
        for column in TABLE_2_COLUMNS
    ]


def two_readings(context: Context) -> Iterator[Finding]:
    """By how much FedDyn improves on SCAFFOLD at best."""
    pairs = [(float(cell("LeNet", "SCAFFOLD", c)), float(cell("LeNet", "FedDyn", c))) for c in TABLE_2_COLUMNS]
    gains = ", ".join(f"{high - low:.2f}" for low, high in pairs)
    shares = ", ".join(f"{100 * (high - low) / low:.2f}" for low, high in pairs)
    yield Part("some column", None, "exact", f"in points {gains}; in per cent of SCAFFOLD's accuracy {shares}")


CLAIMS += [
    claim(
        "AFEDPD-TAB2-FEDDYN",
        TEXT,
        "On LeNet FedDyn improves on SCAFFOLD by at least 1 %.",
        [
            Step("1 point in each column", of_numbers(improves(points="1")), "reading"),
            Step("1 % of SCAFFOLD's accuracy in each column", of_numbers(improves(factor="1.01")), "reading"),
            Step("from -.06 points on", of_numbers(improves(points="(-0.06)")), "reading"),
        ],
        false={
            "1 point in each column": "from -.06 points on",
            "1 % of SCAFFOLD's accuracy in each column": "from -.06 points on",
        },
        besides=two_readings,
        readings=[
            "The text says that FedDyn 'could achieve at least 1% improvements'. In each column that is false, in points and relative to SCAFFOLD's "
            "accuracy. As a possibility it is false in points and true relative to SCAFFOLD's accuracy, and the text does not say which is meant."
        ],
        kind="identity",
    )
]


# ---- Primal and primal-dual methods ----------------------------------------------------------------------------------
def primal_below(methods: Iterable[str]) -> list[str]:
    """SCAFFOLD and FedSAM are below these, wherever both have a number."""
    return [
        f"{cell(network, low, column)} < {cell(network, high, column)}"
        for high in methods
        for network in NETWORKS
        for column in TABLE_2_COLUMNS
        for low in PRIMAL
        if is_printed(network, high, column)
    ]


def on_average() -> list[str]:
    """Each primal-dual method is above SCAFFOLD and FedSAM, averaged over the columns where both have a number."""
    return [f"0 < {mean_gap(high, low, NETWORKS, TABLE_2_COLUMNS)}" for high in PRIMAL_DUAL for low in PRIMAL]


CLAIMS += [
    claim(
        "AFEDPD-TAB2-PRIMAL",
        TEXT,
        "SCAFFOLD and FedSAM are less than the primal-dual methods.",
        [
            Step("on average", of_numbers(on_average())),
            Step("in each column", of_numbers(primal_below(PRIMAL_DUAL)), "reading"),
            Step(
                "than FedSpeed and A-FedPDSAM in each", of_numbers(primal_below(("FedSpeed", "A-FedPDSAM"))), "reading"
            ),
        ],
        false={"in each column": "than FedSpeed and A-FedPDSAM in each"},
        readings=[
            "On average over the columns where both have a number, as the sentence after it speaks of averages. In single columns it is otherwise: "
            "SCAFFOLD is above FedDyn on LeNet (CIFAR-100, Dir-0.1) and on ResNet-18 (CIFAR-10, IID and Dir-1.0), and above A-FedPD in all three "
            "columns of ResNet-18 on CIFAR-100, FedSAM in two of them and above FedDyn in one."
        ],
        kind="identity",
    )
]


# ---- Averages --------------------------------------------------------------------------------------------------------
def averages(networks: Iterable[str]) -> Theorem:
    """The two averages of the text, over the columns of these networks."""
    used = tuple(networks)
    whole, on_cifar_10 = TABLE_2_COLUMNS, TABLE_2_COLUMNS[:3]
    gaps = mean_gap("FedSpeed", "SCAFFOLD", used, whole), mean_gap("A-FedPD", "FedDyn", used, on_cifar_10)
    return of_numbers(rounded_to(gaps[0], "3.2") + rounded_to(gaps[1], "0.8"))


CLAIMS += [
    state(
        "AFEDPD-TAB2-AVERAGES",
        PAPER,
        TEXT,
        "SCAFFOLD is on average 3.2 % lower than FedSpeed, and A-FedPD on average about 0.8 % higher than FedDyn on CIFAR-10.",
        averages(NETWORKS),
        repaired=averages(("LeNet",)),
        repaired_text="On LeNet; over both networks, as the drops of SCAFFOLD in the sentence between are averaged, it is 2.85 and 1.17 points.",
        assumptions=("percent are points of accuracy, averaged over the columns of Table 2",),
        kind="identity",
    )
]


# ---- What heterogeneity costs ----------------------------------------------------------------------------------------
def mean_drop(method: str, data: str) -> str:
    """What a method loses from IID to Dir-0.1 on average over the networks."""
    drops = [f"({cell(n, method, (data, 'IID'))} - {cell(n, method, (data, 'Dir-0.1'))})" for n in NETWORKS]
    return f"({' + '.join(drops)})/{len(drops)}"


CLAIMS += [
    state(
        "AFEDPD-TAB2-DROPS",
        PAPER,
        TEXT,
        "As heterogeneity increases, SCAFFOLD drops on average about 5.6 % on CIFAR-10 and 3.43 % on CIFAR-100.",
        of_numbers(
            rounded_to(mean_drop("SCAFFOLD", "CIFAR-10"), "5.6")
            + rounded_to(mean_drop("SCAFFOLD", "CIFAR-100"), "3.43")
        ),
        assumptions=("from IID to Dir-0.1, in points, averaged over the two networks",),
        kind="identity",
    )
]
