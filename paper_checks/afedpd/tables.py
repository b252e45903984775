"""What the A-FedPD paper's text says in numbers of its own tables, whole tables as data (`published`): sentences of exact numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan

from fedtheory.claims import Claim, Context, Finding, Part, Theorem, state
from paper_checks.afedpd.published import TABLE_2, TABLE_2_COLUMNS, TABLE_4
from paper_checks.afedpd.theory import PAPER, claim
from paper_checks.steps import Step

NETWORKS = tuple(TABLE_2)
CIFAR_10 = TABLE_2_COLUMNS[:3]
PRIMAL, PRIMAL_DUAL = ("SCAFFOLD", "FedSAM"), ("FedDyn", "FedSpeed", "A-FedPD", "A-FedPDSAM")
Column = tuple[str, str]


def of_numbers(sentences: Iterable[str]) -> Theorem:
    """Sentences of numbers alone."""
    said = tuple(dict.fromkeys(sentences))
    return Theorem("", said, "\n".join(f"number_{k + 1}: claim {k + 1} by combine" for k in range(len(said))))


def cell(network: str, method: str, column: Column) -> str:
    """A mean of Table 2, as it is printed."""
    return f"{TABLE_2[network][method, *column][0]:.2f}"


def is_printed(network: str, method: str, column: Column) -> bool:
    """Whether Table 2 has a number there, and not a dash."""
    return not isnan(TABLE_2[network][method, *column][0])


def mean_gap(above: str, below: str, networks: Iterable[str], columns: Iterable[Column]) -> str:
    """By how many points one method is above another on average."""
    cells = [(n, c) for n in networks for c in columns if is_printed(n, above, c) and is_printed(n, below, c)]
    return f"({' + '.join(f'({cell(n, above, c)} - {cell(n, below, c)})' for n, c in cells)})/{len(cells)}"


def mean_drop(method: str, data: str) -> str:
    """What a method loses from IID to Dir-0.1 on average over the networks."""
    drops = [f"({cell(n, method, (data, 'IID'))} - {cell(n, method, (data, 'Dir-0.1'))})" for n in NETWORKS]
    return f"({' + '.join(drops)})/{len(drops)}"


def rounds_to(value: str, printed: str) -> list[str]:
    """A number is printed as its value rounded to so many digits."""
    half = f"5/10**{len(printed.partition('.')[2]) + 1}"
    return [f"{printed} - {half} <= {value}", f"{value} <= {printed} + {half}"]


def improves(factor: str = "1", points: str = "0") -> list[str]:
    """FedDyn is above SCAFFOLD by so much in each column of LeNet."""
    return [
        f"{factor}*{cell('LeNet', 'SCAFFOLD', column)} + {points} <= {cell('LeNet', 'FedDyn', column)}"
        for column in TABLE_2_COLUMNS
    ]


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


def averages(networks: Iterable[str]) -> Theorem:
    """The two averages of the text, over the columns of these networks."""
    used = tuple(networks)
    gaps = mean_gap("FedSpeed", "SCAFFOLD", used, TABLE_2_COLUMNS), mean_gap("A-FedPD", "FedDyn", used, CIFAR_10)
    return of_numbers(rounds_to(gaps[0], "3.2") + rounds_to(gaps[1], "0.8"))


def at_least(factor: int, data: str) -> list[str]:
    """A-FedPD and A-FedPDSAM reach the target that FedAvg reaches in so many times fewer rounds."""
    (needed,) = (rounds for rounds in TABLE_4[data].values() if "FedAvg" in rounds)
    return [f"{factor}*{needed[method]} <= {needed['FedAvg']}" for method in ("A-FedPD", "A-FedPDSAM")]


def on_average() -> list[str]:
    """Each primal-dual method is above SCAFFOLD and FedSAM, averaged over the columns where both have a number."""
    return [f"0 < {mean_gap(high, low, NETWORKS, TABLE_2_COLUMNS)}" for high in PRIMAL_DUAL for low in PRIMAL]


def two_readings(context: Context) -> Iterator[Finding]:
    """By how much FedDyn improves on SCAFFOLD at best."""
    pairs = [(float(cell("LeNet", "SCAFFOLD", c)), float(cell("LeNet", "FedDyn", c))) for c in TABLE_2_COLUMNS]
    gains = ", ".join(f"{high - low:.2f}" for low, high in pairs)
    shares = ", ".join(f"{100 * (high - low) / low:.2f}" for low, high in pairs)
    yield Part("some column", None, "exact", f"in points {gains}; in per cent of SCAFFOLD's accuracy {shares}")


TEXT = "Section 5.1, Table 2"
CLAIMS: list[Claim] = [
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
    ),
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
    ),
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
    ),
    state(
        "AFEDPD-TAB2-DROPS",
        PAPER,
        TEXT,
        "As heterogeneity increases, SCAFFOLD drops on average about 5.6 % on CIFAR-10 and 3.43 % on CIFAR-100.",
        of_numbers(
            rounds_to(mean_drop("SCAFFOLD", "CIFAR-10"), "5.6") + rounds_to(mean_drop("SCAFFOLD", "CIFAR-100"), "3.43")
        ),
        assumptions=("from IID to Dir-0.1, in points, averaged over the two networks",),
        kind="identity",
    ),
    state(
        "AFEDPD-TAB4-TEXT",
        PAPER,
        "Appendix A.4.3, Table 4",
        "A-FedPD and A-FedPDSAM reach targets at least 3 times as fast on CIFAR-10, and 6 times on CIFAR-100, as FedAvg.",
        of_numbers(at_least(3, "CIFAR-10") + at_least(6, "CIFAR-100")),
        assumptions=("the targets that FedAvg reaches, 81 % and 40 %",),
        kind="identity",
    ),
]
