"""What the A-FedPD paper's text says in numbers of its own tables, whole tables as data (`published`): sentences of exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isnan

from fedtheory.claims import Claim, Theorem, state
from paper_checks.afedpd.protocol import PAPER
from paper_checks.afedpd.published import FACTORS_4, FACTORS_56, SECONDS, TABLE_2, TABLE_2_COLUMNS, TABLE_4
from paper_checks.steps import Step, claim_steps

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


def within(below: str, above: str) -> Callable[[str, str], list[str]]:
    """A quotient lies from so much below what is printed to less than so much above it."""
    return lambda value, printed: [f"{printed} - {below} <= {value}", f"{value} < {printed} + {above}"]


def quotients(read: Callable[[str, str], list[str]]) -> Theorem:
    """All factors that Tables 4, 5 and 6 print, beside the numbers of which they are quotients."""
    found = []
    for data, targets in TABLE_4.items():
        for level, rounds in targets.items():
            slowest = next(iter(rounds.values()))
            for method, printed in FACTORS_4[data][level].items():
                found += read(f"{slowest}/{rounds[method]}", printed)
    for network, seconds in SECONDS.items():
        for method, printed in FACTORS_56[network].items():
            found += read(f"{seconds[method]}/{seconds['FedAvg']}", printed)
    return of_numbers(found)


TEXT = "Section 5.1, Table 2"
CLAIMS: list[Claim] = [
    claim_steps(
        "AFEDPD-TAB2-FEDDYN",
        PAPER,
        TEXT,
        "On LeNet FedDyn improves on SCAFFOLD by at least 1 %.",
        [
            Step("1 point in each column", of_numbers(improves(points="1"))),
            Step("1 % of SCAFFOLD's accuracy in each column", of_numbers(improves(factor="1.01")), "reading"),
            Step("from -.06 points on", of_numbers(improves(points="(-0.06)")), "reading"),
        ],
        false={
            "1 point in each column": "from -.06 points on",
            "1 % of SCAFFOLD's accuracy in each column": "from -.06 points on",
        },
        readings=[
            "The differences are .24, .59, .85, .62, .53 and -.06 points, in no column 1; relative to SCAFFOLD's accuracy three of six exceed 1 %."
        ],
        kind="identity",
    ),
    claim_steps(
        "AFEDPD-TAB2-PRIMAL",
        PAPER,
        TEXT,
        "SCAFFOLD and FedSAM are less than the primal-dual methods.",
        [
            Step("in each column", of_numbers(primal_below(PRIMAL_DUAL))),
            Step("than FedSpeed and A-FedPDSAM", of_numbers(primal_below(("FedSpeed", "A-FedPDSAM"))), "reading"),
        ],
        false={"in each column": "than FedSpeed and A-FedPDSAM"},
        readings=[
            "SCAFFOLD is above FedDyn on LeNet (CIFAR-100, Dir-0.1) and on ResNet-18 (CIFAR-10, IID and Dir-1.0), and above A-FedPD "
            "in all three columns "
            "of ResNet-18 on CIFAR-100, FedSAM in two of them and above FedDyn in one. Than FedSpeed and A-FedPDSAM, which take "
            "SAM's steps, both are less everywhere."
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
    claim_steps(
        "AFEDPD-TAB456",
        PAPER,
        "Tables 4, 5 and 6",
        "The factors that are printed are quotients of the rounds, or seconds, above them, to a unit of the second digit.",
        [
            Step("to 1/100", quotients(within("1/100", "1/100"))),
            Step("rounded", quotients(within("5/1000", "5/1000")), "reading"),
            Step("cut off", quotients(within("0", "1/100")), "reading"),
        ],
        false={"rounded": "to 1/100", "cut off": "to 1/100"},
        readings=[
            "Most are cut off (501/170 = 2.947 is printed 2.94), one is rounded up (677/421 = 1.608, printed 1.61): neither rule holds for all."
        ],
        kind="identity",
    ),
]
