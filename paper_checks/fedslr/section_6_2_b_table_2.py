"""Section 6.2: traffic and parameters, Table 2 recomputed from the networks, and the arithmetic of the sentences about it (no training)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from fedtheory.claims import Claim, Context, Finding, state
from fedtheory.claims.orderings import make_table
from fedtheory.core.layers import Layer
from paper_checks.fedslr import printed
from paper_checks.fedslr.networks import NETWORKS, ROUNDS, gigabytes, numbers, resnet18, sent
from paper_checks.fedslr.notation import PAPER, claim
from paper_checks.fedslr.runs import GKR, MIXED
from paper_checks.fedslr.section_6_2_a_table_1 import EXACTLY, above
from paper_checks.formulas import of_the_tables
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Table 2 ---------------------------------------------------------------------------------------------------------
#: half a unit of the second digit
DIGITS = "1/200"


def in_table_2(row: str, network: str) -> tuple[Fraction, Fraction]:
    """Traffic (GB) and parameters (M) of a row of Table 2, as printed."""
    place = 2 * [*NETWORKS].index(network)
    traffic, size = printed.TABLE_2[row][place : place + 2]
    return Fraction(str(traffic)), Fraction(str(size))


COUNTED = {
    "FedAvg": "fedavg",
    "SCAFFOLD": "scaffold",
    "APFL": "apfl",
    "FedSpa": "fedspa",
    "LG-FedAvg": "lg-fedavg",
    "FedRep": "fedrep",
}
#: models that a client uses, in networks: APFL mixes two, FedSpa keeps half of one
KEPT = {"APFL": Fraction(2), "FedSpa": Fraction(1, 2)}


def recounted(method: str, network: str, rounds: int = ROUNDS, scaffold: str = "scaffold") -> tuple[Fraction, Fraction]:
    """Traffic (GB) and parameters (M) of a method without compression, of a network as the paper describes it."""
    layers = resnet18(*NETWORKS[network])
    listed_as = scaffold if method == "SCAFFOLD" else COUNTED[method]
    return gigabytes(sum(sent(listed_as, layers)), rounds), KEPT.get(method, Fraction(1)) * numbers(layers) / 10**6


def list_recounted(ctx: Context) -> Iterator[Finding]:
    """Recomputed rows of Table 2 that need no training, beside what is printed."""
    rows = [
        [name, method, float(said[0]), float(round(found[0], 2)), float(said[1]), float(round(found[1], 2))]
        for name, method in product(NETWORKS, COUNTED)
        for said, found in [(in_table_2(method, name), recounted(method, name))]
    ]
    columns = ["data set", "method", "traffic printed (GB)", "ours", "parameters printed (M)", "ours"]
    yield make_table("Table 2, methods without compression", columns, rows)


def table_2(networks: Iterable[str], **changed: Any) -> list[tuple[str, float | str, str]]:
    """Rows of Table 2 without compression, as they are recounted."""
    return [
        (str(ours), str(said), DIGITS)
        for network, method in product(networks, COUNTED)
        for ours, said in zip(recounted(method, network, **changed), in_table_2(method, network), strict=True)
    ]


def other_columns() -> Iterator[tuple[str, float | str, str]]:
    """CIFAR-100 and TinyImageNet: the CIFAR-10 network's size; of LG-FedAvg and FedRep the share of the right network's last layer, and the rest."""
    whole = recounted("FedAvg", "CIFAR-10")[0]
    for network in (name for name in NETWORKS if name != "CIFAR-10"):
        layers = resnet18(*NETWORKS[network])
        last = Fraction(sent("lg-fedavg", layers)[0], numbers(layers)) * whole
        for method in COUNTED:
            traffic, size = recounted(method, "CIFAR-10")
            traffic = {"LG-FedAvg": last, "FedRep": whole - last}.get(method, traffic)
            for ours, said in zip((traffic, size), in_table_2(method, network), strict=True):
                yield str(ours), str(said), DIGITS


#: of the networks with 100 and 200 classes
RIGHT_SIZES = [
    (str(ours), said, margin)
    for network, of in {"CIFAR-100": ("897.6", "11.22"), "TinyImageNet": ("902.3", "11.28")}.items()
    for ours, said, margin in zip(recounted("FedAvg", network), of, ("1/20", DIGITS), strict=True)
]
CLAIMS += [
    claim(
        "FEDSLR-N21",
        "Table 2",
        "Traffic and parameters of the methods without compression are those of the networks that the paper describes.",
        [
            Step("every column", of_the_tables(*table_2(NETWORKS))),
            Step(
                "the CIFAR-10 network's",
                of_the_tables(*table_2(["CIFAR-10"]), *other_columns(), *RIGHT_SIZES),
                "repaired",
                wrong={
                    "999 rounds": of_the_tables(*table_2(["CIFAR-10"], rounds=999)),
                    "FedAvg for SCAFFOLD": of_the_tables(*table_2(["CIFAR-10"], scaffold="fedavg")),
                },
            ),
        ],
        false={"every column": "the CIFAR-10 network's"},
        kind="identity",
        besides=list_recounted,
        readings=[
            "The paper states no number of rounds: 893.92 GB are 1000 rounds of 10 clients with numbers of 4 bytes, both ways. Its columns of "
            "CIFAR-100 and TinyImageNet have the size of the CIFAR-10 network, while LG-FedAvg and FedRep have the shares of the right networks "
            "(last layer without biases on CIFAR, with biases on TinyImageNet). The differences are below one per cent and change no comparison."
        ],
        repaired="They are, on CIFAR-10, for 1000 rounds of 10 clients; the other columns have the size of the CIFAR-10 network (the right sizes are "
        "11.22 and 11.28 M, 897.6 and 902.3 GB) with the right networks' shares of the last layer.",
    ),
]


# ---- Traffic saved ---------------------------------------------------------------------------------------------------
TOTAL, ONE_WAY = float(in_table_2(GKR, "CIFAR-100")[0]), float(gigabytes(numbers(resnet18(10, 3))))


def downlink_saved(said: float) -> tuple[str, float, str]:
    """The downlink of CIFAR-100 as Table 2 gives it, the total less the uplink; half a unit of its last digit moves the saving as well."""
    return f"100*(2 - {TOTAL}/{ONE_WAY})", said, f"1/200 + (1/2)/{ONE_WAY}"


ALL_SAVED = (f"100*(1 - {TOTAL}/(2*{ONE_WAY}))", printed.TOTAL_SAVED, "1/2")
SAVED = 38.33
CLAIMS += [
    state(
        "FEDSLR-C2",
        PAPER,
        "Introduction; Section 6.2",
        f"On CIFAR-100 the downlink falls by {printed.DOWNLINK_SAVED} % and all traffic by about {printed.TOTAL_SAVED} %.",
        of_the_tables(downlink_saved(printed.DOWNLINK_SAVED), ALL_SAVED),
        kind="identity",
        repaired=of_the_tables(downlink_saved(SAVED), ALL_SAVED),
        repaired_text=f"By {SAVED} %, and about {printed.TOTAL_SAVED} %. Nothing rests on the last digit.",
    ),
]


# ---- Parameters saved ------------------------------------------------------------------------------------------------
def size_of(model: str, network: str) -> float:
    """Parameters in millions, as Table 2 prints them."""
    return printed.TABLE_2[model][2 * [*NETWORKS].index(network) + 1]


def fewer(model: str) -> str:
    """Parameters that a model has less than the network, in per cent, on CIFAR-100."""
    return f"100*(1 - {size_of(model, 'CIFAR-100')}/{size_of('FedAvg', 'CIFAR-100')})"


SIZES = of_the_tables((fewer(GKR), printed.GKR_FEWER, DIGITS), (fewer(MIXED), printed.MIXED_FEWER, DIGITS))
CLAIMS += [
    state(
        "FEDSLR-C4",
        PAPER,
        "Introduction; Table 2",
        "On CIFAR-100 GKR has 50.40 % and the mixed model 40.11 % fewer parameters than the network.",
        SIZES,
        kind="identity",
    ),
]


# ---- SCAFFOLD --------------------------------------------------------------------------------------------------------
#: numbers that a client of each sends and receives, of a model of one number; what Table 2 has is rounded to 0.005
ONE_NUMBER = (Layer("a number", (1,)),)
TWICE = of_the_tables(
    (str(sum(sent("scaffold", ONE_NUMBER))), 2 * sum(sent("fedavg", ONE_NUMBER)), EXACTLY),
    *(
        said
        for network in NETWORKS
        for (traffic, size), (once, other) in [[map(float, in_table_2(row, network)) for row in ("SCAFFOLD", "FedAvg")]]
        for said in ((f"{traffic}", f"2*{once}", "3/200"), (f"{size}", f"{other}", EXACTLY))
    ),
)
CLAIMS += [
    state(
        "FEDSLR-C5",
        PAPER,
        "Table 2; Appendix B.3.4",
        "SCAFFOLD has twice the traffic of FedAvg, and as many parameters.",
        TWICE,
        kind="identity",
    ),
]


# ---- The mixed model beside GKR --------------------------------------------------------------------------------------
def more(network: str) -> str:
    """Parameters that the mixed model has more than GKR, in per cent."""
    return f"100*({size_of('FedSLR (mixed)', network)}/{size_of('FedSLR (GKR)', network)} - 1)"


GAIN = (above(MIXED, GKR), printed.MIXED_GAIN, EXACTLY)
#: parameters are printed to 0.005 M, which moves a ratio by less than 0.3 points
MIXED_AS_PRINTED = of_the_tables(GAIN, (more("CIFAR-100"), printed.MIXED_MORE, "1/2 + 3/10"))
MIXED_AS_TABLED = of_the_tables(
    GAIN, *((more(name), said, "1/20") for name, said in zip(NETWORKS, (12.8, 20.8, 42.1), strict=True))
)
CLAIMS += [
    state(
        "FEDSLR-C8",
        PAPER,
        "Section 6.2; Table 2",
        "On CIFAR-100 the mixed model gains 17.97 points over GKR with 29 % more parameters.",
        MIXED_AS_PRINTED,
        kind="identity",
        repaired=MIXED_AS_TABLED,
        repaired_text="It has 20.8 % more on CIFAR-100, 12.8 % on CIFAR-10 and 42.1 % on TinyImageNet.",
    ),
]
