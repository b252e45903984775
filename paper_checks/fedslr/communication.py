"""What FedSLR sends and keeps: Table 2 recomputed from the networks, and the arithmetic of the sentences about it (no training)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import listed
from fedtheory.claims import state
from fedtheory.claims.claim import Claim, Covered, Fault, Finding, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.orderings import make_table
from fedtheory.claims.parts import at_most, holds
from fedtheory.core.layers import Layer, factor_floats, split_layers, to_matrix, truncate
from fedtheory.core.randomness import Key
from paper_checks.fedslr import printed
from paper_checks.fedslr.convolutions import as_two_convolutions, convolve
from paper_checks.fedslr.exact_runs import PAPER, claim
from paper_checks.formulas import of_the_tables
from paper_checks.steps import Step

BYTES, ACTIVE, ROUNDS = 4, 10, 1000  #: of a number; clients a round; rounds, which the paper does not state
#: classes, side of the first kernel, and whether the last layer has biases (the public code; the paper does not say)
NETWORKS = {"CIFAR-10": (10, 3, False), "CIFAR-100": (100, 3, False), "TinyImageNet": (200, 7, True)}


def resnet18(classes: int, stem: int, bias: bool = True) -> tuple[Layer, ...]:
    """Parameters of ResNet-18 with group normalisation (He et al. 2016, Table 1) for colour images."""
    layers = [Layer("conv1", (64, 3, stem, stem)), *_norm("norm1", 64)]
    into = 64
    for stage, out in enumerate((64, 128, 256, 512), 1):
        for half in "ab":
            name = f"block{stage}{half}"
            layers += [Layer(f"{name}.conv1", (out, into, 3, 3)), *_norm(f"{name}.norm1", out)]
            layers += [Layer(f"{name}.conv2", (out, out, 3, 3)), *_norm(f"{name}.norm2", out)]
            if into != out:
                layers += [Layer(f"{name}.shortcut", (out, into, 1, 1)), *_norm(f"{name}.shortcut norm", out)]
            into = out
    layers.append(Layer("dense1.weight", (classes, 512)))
    return (*layers, Layer("dense1.bias", (classes,))) if bias else tuple(layers)


def _norm(name: str, channels: int) -> tuple[Layer, Layer]:
    return Layer(f"{name}.weight", (channels,)), Layer(f"{name}.bias", (channels,))


def numbers(layers: tuple[Layer, ...]) -> int:
    """Parameters of a network."""
    return sum(layer.size for layer in layers)


@cache
def sent(method: str, layers: tuple[Layer, ...]) -> tuple[int, int]:
    """Numbers that a client sends and receives in a round, as the listed method counts them on a network of these layers."""
    d = numbers(layers)
    network: Any = SimpleNamespace(
        n=1, d=d, layers=layers, name="counted only", grad=np.zeros_like, take=lambda clients: network
    )
    algorithm = listed(method).build()
    up, down = algorithm.traffic(Key(0, 0), algorithm.init(network, np.zeros((1, d), dtype=np.float32)))
    return round(up * d), round(down * d)


def gigabytes(count: int, rounds: int = ROUNDS) -> Fraction:
    """Traffic of all rounds if every active client sends or receives so many numbers a round."""
    return Fraction(BYTES * ACTIVE * rounds * count, 10**9)


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
#: half a unit of the second digit; and none, for differences of numbers with as many digits
DIGITS, NONE = "1/200", "0"


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


def check_factors(ctx: Context, *, scheme: int = 2) -> Iterator[Finding]:
    """Numbers of factored layers, and what a factored convolution computes."""
    rng = ctx.rng()
    for layer in (Layer("linear", (9, 14)), Layer("convolution", (5, 4, 3, 3))):
        rows, columns = layer.matrix_shape or (0, 0)
        x = rng.standard_normal((1, layer.size))
        whole = to_matrix(split_layers(x, (layer,))[0], layer)[0]
        u, s, vt = np.linalg.svd(whole, full_matrices=False)
        ours, sizes = [], []
        for r in range(len(s) + 1):
            ours.append(int(factor_floats(truncate(x, (layer,), r), (layer,))[0]))
            sizes.append(min(u[:, :r].size + vt[:r].size, whole.size))
        yield holds(
            f"numbers of a {layer.name} layer",
            ours == sizes == [min(r * (rows + columns), rows * columns) for r in range(len(s) + 1)],
            "count",
            f"for every rank r of {rows} x {columns}, U and V hold r (d1 + d2) numbers, fewer than the matrix below r = "
            f"{float(Fraction(rows * columns, rows + columns)):.2f}",
            covered=Covered(len(sizes), "cases"),
        )
    worst = 0.0
    settings = list(product((1, 2, 3), (0, 1, 2)))
    for stride, padding in settings:
        kernel = rng.standard_normal((6, 5, 3, 3))
        images = rng.standard_normal((4, 5, 9, 8))
        low, first, second = as_two_convolutions(kernel, 4, scheme)
        dense = convolve(images, low, (stride, stride), (padding, padding))
        inner = convolve(images, first, (1, stride), (0, padding))
        found = convolve(inner, second, (stride, 1), (padding, 0))
        worst = max(worst, float(np.abs(found - dense).max() / np.abs(dense).max()))
    text = "r filters of one row, then r columns for each output, against the convolution of rank r: largest relative difference"
    yield at_most(
        "two convolutions for one", worst, 1e-12, "numeric", text, covered=Covered(len(settings), "instances")
    )
    layers = resnet18(10, 3)
    matrices = [layer for layer in layers if layer.matrix_shape is not None]
    dense_size = sum(layer.size for layer in matrices)
    full = sum(min(layer.matrix_shape or ()) * sum(layer.matrix_shape or ()) for layer in matrices)
    yield Reading(
        f"At full rank the factors of ResNet-18's layers hold {full:,} numbers, {full / dense_size:.2f} times the layers; the paper names no way "
        "out, here the smaller of both is sent (as the public code counts)."
    )


def check_uplink(ctx: Context, *, method: str = "fedslr-global") -> Iterator[Finding]:
    """The uplink is a whole model, however low the rank; and no total of the tables is below it."""
    (up, _), d = sent(method, resnet18(10, 3)), numbers(resnet18(10, 3))
    said = f"{up:,} numbers up from every active client, the network has {d:,}"
    yield holds("uplink", up == d, "count", said, covered=Covered(1, "cases", whole=True))
    totals = [row[1] for tab in (printed.TABLE_3, printed.TABLE_4, printed.TABLE_5) for row in tab.values()]
    totals += list(printed.TABLE_2["FedSLR (GKR)"][::2])
    least, every = float(gigabytes(d)), Covered(len(totals), "cases", whole=True)
    text = f"the uplink alone is {least:.2f} GB, the smallest printed total {min(totals)}"
    yield at_most("printed totals", least, totals, "count", text, covered=every)


def size_of(model: str, network: str) -> float:
    """Parameters in millions, as Table 2 prints them."""
    return printed.TABLE_2[model][2 * [*NETWORKS].index(network) + 1]


def accuracy(model: str, split: str) -> float:
    """On CIFAR-100, as Table 1 prints it."""
    return printed.TABLE_1[model][printed.COLUMNS.index(("CIFAR-100", split))]


def fewer(model: str) -> str:
    """Parameters that a model has less than the network, in per cent, on CIFAR-100."""
    return f"100*(1 - {size_of(model, 'CIFAR-100')}/{size_of('FedAvg', 'CIFAR-100')})"


def more(network: str) -> str:
    """Parameters that the mixed model has more than GKR, in per cent."""
    return f"100*({size_of('FedSLR (mixed)', network)}/{size_of('FedSLR (GKR)', network)} - 1)"


def above(first: str, second: str, split: str = "non-iid") -> str:
    """Points by which one model is more accurate than another, on CIFAR-100."""
    return f"{accuracy(first, split)} - {accuracy(second, split)}"


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


GKR, MIXED = "FedSLR (GKR)", "FedSLR (mixed)"
SIZES = of_the_tables((fewer(GKR), printed.GKR_FEWER, DIGITS), (fewer(MIXED), printed.MIXED_FEWER, DIGITS))
GAIN = (above(MIXED, GKR), printed.MIXED_GAIN, NONE)
#: parameters are printed to 0.005 M, which moves a ratio by less than 0.3 points
MIXED_AS_PRINTED = of_the_tables(GAIN, (more("CIFAR-100"), printed.MIXED_MORE, "1/2 + 3/10"))
MIXED_AS_TABLED = of_the_tables(
    GAIN, *((more(name), said, "1/20") for name, said in zip(NETWORKS, (12.8, 20.8, 42.1), strict=True))
)
#: accuracies are printed to 0.005 points, which moves a ratio of a difference to the smaller one by less than 0.02 per cent
GAINS = of_the_tables(
    (above(MIXED, "Ditto"), printed.OVER_DITTO, NONE),
    (above(MIXED, "FedSpa"), printed.OVER_FEDSPA, NONE),
    (above(MIXED, "Per-FedAvg"), printed.OVER_PER_FEDAVG, NONE),
    (above(GKR, MIXED, "iid"), printed.BELOW_GKR, NONE),
    (f"100*({above(GKR, 'FedAvg', 'iid')})/{accuracy('FedAvg', 'iid')}", printed.OVER_FEDAVG, "1/200 + 1/50"),
)


def downlink_saved(said: float) -> tuple[str, float, str]:
    """The downlink of CIFAR-100 as Table 2 gives it, the total less the uplink; half a unit of its last digit moves the saving as well."""
    return f"100*(2 - {TOTAL}/{ONE_WAY})", said, f"1/200 + (1/2)/{ONE_WAY}"


TOTAL, ONE_WAY = float(in_table_2(GKR, "CIFAR-100")[0]), float(gigabytes(numbers(resnet18(10, 3))))
ALL_SAVED = (f"100*(1 - {TOTAL}/(2*{ONE_WAY}))", printed.TOTAL_SAVED, "1/2")
SAVED = 38.33
#: of the networks with 100 and 200 classes
RIGHT_SIZES = [
    (str(ours), said, margin)
    for network, of in {"CIFAR-100": ("897.6", "11.22"), "TinyImageNet": ("902.3", "11.28")}.items()
    for ours, said, margin in zip(recounted("FedAvg", network), of, ("1/20", DIGITS), strict=True)
]
#: numbers that a client of each sends and receives, of a model of one number; what Table 2 has is rounded to 0.005
ONE_NUMBER = (Layer("a number", (1,)),)
TWICE = of_the_tables(
    (str(sum(sent("scaffold", ONE_NUMBER))), 2 * sum(sent("fedavg", ONE_NUMBER)), NONE),
    *(
        said
        for network in NETWORKS
        for (traffic, size), (once, other) in [[map(float, in_table_2(row, network)) for row in ("SCAFFOLD", "FedAvg")]]
        for said in ((f"{traffic}", f"2*{once}", "3/200"), (f"{size}", f"{other}", NONE))
    ),
)


CLAIMS = [
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
    Claim(
        "FEDSLR-C1",
        PAPER,
        "identity",
        "Section 4.2; footnote 1",
        "A layer of rank r is r (d1 + d2) numbers and runs as two small layers; that pays below r = d1 d2 / (d1 + d2).",
        check_factors,
        (Fault("the matrix (out, in * height * width)", "two convolutions for one", {"scheme": 1}),),
    ),
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
    Claim(
        "FEDSLR-C3",
        PAPER,
        "identity",
        "Footnote 2; Table 2",
        "The uplink is not reduced.",
        check_uplink,
        (Fault("the last layer alone goes up", "uplink", {"method": "lg-fedavg"}),),
    ),
    state(
        "FEDSLR-C4",
        PAPER,
        "Introduction; Table 2",
        "On CIFAR-100 GKR has 50.40 % and the mixed model 40.11 % fewer parameters than the network.",
        SIZES,
        kind="identity",
    ),
    state(
        "FEDSLR-C5",
        PAPER,
        "Table 2; Appendix B.3.4",
        "SCAFFOLD has twice the traffic of FedAvg, and as many parameters.",
        TWICE,
        kind="identity",
    ),
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
