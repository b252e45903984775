"""What FedSLR sends and keeps: Table 2 recomputed from the networks, and the arithmetic of the sentences about it (no training)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import listed
from fedtheory.claims.claim import Claim, Covered, Fault, Finding, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.orderings import make_table
from fedtheory.claims.parts import at_most, decided, equal, holds
from fedtheory.core.layers import Layer, factor_floats, split_layers, to_matrix, truncate
from fedtheory.core.randomness import Key
from fedtheory.proofs.facts import compare
from paper_checks.fedslr import printed
from paper_checks.fedslr.convolutions import as_two_convolutions, convolve
from paper_checks.fedslr.runs import PAPER

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


def as_printed(value: Fraction | float, number: float, digits: int = 2) -> bool:
    """Whether a value rounds to a printed number."""
    return compare(abs(Fraction(value) - Fraction(str(number))), "<=", Fraction(1, 2 * 10**digits))


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


def check_table_2(ctx: Context, *, rounds: int = ROUNDS, scaffold: str = "scaffold") -> Iterator[Finding]:
    """Recompute the rows of Table 2 that need no training."""
    counted = COUNTED | {"SCAFFOLD": scaffold}
    layers = {name: resnet18(*asked) for name, asked in NETWORKS.items()}
    rows, own = [], {}
    for place, (name, network) in enumerate(layers.items()):
        d = numbers(network)
        own[name] = d
        for method, short in counted.items():
            traffic, size = gigabytes(sum(sent(short, network)), rounds), KEPT.get(method, Fraction(1)) * d / 10**6
            said = printed.TABLE_2[method][2 * place : 2 * place + 2]
            rows.append([name, method, said[0], float(round(traffic, 2)), said[1], float(round(size, 2))])
            if name == "CIFAR-10":
                yield decided(
                    f"{method} on CIFAR-10",
                    as_printed(traffic, said[0]) and as_printed(size, said[1]),
                    f"{float(traffic):.2f} GB and {float(size):.2f} M numbers, printed {said[0]} and {said[1]}",
                    "count",
                )
    ten = layers["CIFAR-10"]
    for name in ("CIFAR-100", "TinyImageNet"):
        full = gigabytes(2 * own[name], rounds)
        yield decided(
            f"FedAvg (*) on {name}",
            as_printed(full, printed.TABLE_2["FedAvg"][0]),
            f"the network for {NETWORKS[name][0]} classes has {own[name]:,} numbers, {float(full):.2f} GB; printed 11.17 M and 893.92",
            "count",
        )
    whole = gigabytes(2 * numbers(ten), rounds)
    for place, (name, network) in enumerate(layers.items()):
        share = Fraction(sent("lg-fedavg", network)[0], own[name])
        lg, rep = printed.TABLE_2["LG-FedAvg"][2 * place], printed.TABLE_2["FedRep"][2 * place]
        yield decided(
            f"shares of the last layer on {name}",
            as_printed(share * whole, lg) and as_printed((1 - share) * whole, rep),
            f"the last layer is {float(100 * share):.4f} % of the network for {name}; that share of 893.92 GB is {float(share * whole):.2f}, "
            f"the rest {float((1 - share) * whole):.2f}; printed {lg} and {rep}",
            "count",
            "repaired",
        )
    yield make_table(
        "Table 2, methods without compression",
        ["data set", "method", "traffic printed (GB)", "ours", "parameters printed (M)", "ours"],
        rows,
    )
    yield Reading(
        "The paper states no number of rounds: 893.92 GB are 1000 rounds of 10 clients with numbers of 4 bytes, both ways. Its columns of "
        "CIFAR-100 "
        "and TinyImageNet have the size of the CIFAR-10 network, while LG-FedAvg and FedRep have the shares of the right networks (last "
        "layer without "
        "biases on CIFAR, with biases on TinyImageNet). The differences are below one per cent and change no comparison."
    )


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
    settings = list(itertools.product((1, 2, 3), (0, 1, 2)))
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
        f"At full rank the factors of ResNet-18's layers hold {full:,} numbers, {full / dense_size:.2f} times the layers; the paper names "
        f"no way out, "
        "here the smaller of both is sent (as the public code counts)."
    )


def check_downlink(ctx: Context, *, rounds: int = ROUNDS) -> Iterator[Finding]:
    """Savings of the downlink and of all traffic, from Table 2."""
    one_way = gigabytes(numbers(resnet18(10, 3)), rounds)
    rows, saved = [], {}
    for place, name in enumerate(NETWORKS):
        total = Fraction(str(printed.TABLE_2["FedSLR (GKR)"][2 * place]))
        down = total - one_way
        own = gigabytes(numbers(resnet18(*NETWORKS[name])), rounds)
        saved[name] = (100 * (1 - down / one_way), 100 * (1 - total / (2 * one_way)))
        rows.append(
            [name, float(total), *(round(float(v), 2) for v in (down, *saved[name], 100 * (1 - (total - own) / own)))]
        )
    down_saved, total_saved = saved["CIFAR-100"]
    text = (
        f"CIFAR-100: {float(down_saved):.2f} % less, printed {printed.DOWNLINK_SAVED}; compared to a tenth of a point"
    )
    yield decided("downlink", as_printed(down_saved, round(printed.DOWNLINK_SAVED, 1), 1), text, "count")
    text = f"CIFAR-100: {float(total_saved):.2f} % less, printed about {printed.TOTAL_SAVED}"
    yield decided("all traffic", as_printed(total_saved, printed.TOTAL_SAVED, 0), text, "count")
    yield make_table(
        "What FedSLR saves, from Table 2",
        [
            "data set",
            "total (GB)",
            "downlink (GB)",
            "downlink saved (%)",
            "total saved (%)",
            "downlink saved of the right network (%)",
        ],
        rows,
    )
    yield Reading(
        "The dense traffic is the CIFAR-10 network's, as in Table 2. Against the network for 100 classes (897.6 GB both ways) the 894.06 GB "
        "of eta_g = 2 in "
        "Table 5 are a saving of 0.4 %, and the downlink's saving at eta_g = 10 is 39.0 %."
    )


def check_uplink(ctx: Context, *, method: str = "fedslr-global") -> Iterator[Finding]:
    """The uplink is a whole model, however low the rank; and no total of the tables is below it."""
    layers = resnet18(10, 3)
    up, _ = sent(method, layers)
    d = numbers(layers)
    said = f"{up:,} numbers up from every active client, the network has {d:,}"
    yield holds("uplink", up == d, "count", said, covered=Covered(1, "cases", whole=True))
    totals = [row[1] for tab in (printed.TABLE_3, printed.TABLE_4, printed.TABLE_5) for row in tab.values()]
    totals += list(printed.TABLE_2["FedSLR (GKR)"][::2])
    text = f"the uplink alone is {float(gigabytes(d)):.2f} GB, the smallest printed total {min(totals)}"
    yield at_most(
        "printed totals", float(gigabytes(d)), totals, "count", text, covered=Covered(len(totals), "cases", whole=True)
    )


def check_sizes(ctx: Context, *, row: str = "FedSLR (GKR)") -> Iterator[Finding]:
    """Fewer parameters than the network, on CIFAR-100."""
    dense = Fraction(str(printed.TABLE_2["FedAvg"][3]))
    for part, name, said in (("GKR", row, printed.GKR_FEWER), ("mixed model", "FedSLR (mixed)", printed.MIXED_FEWER)):
        fewer = 100 * (1 - Fraction(str(printed.TABLE_2[name][3])) / dense)
        text = f"{printed.TABLE_2[name][3]} of {float(dense)} M: {float(fewer):.3f} % fewer, printed {said}"
        yield decided(part, as_printed(fewer, said), text, "count")


def check_scaffold(ctx: Context, *, method: str = "scaffold") -> Iterator[Finding]:
    """Twice the traffic of FedAvg."""
    layers = resnet18(10, 3)
    ours, plain = sum(sent(method, layers)), sum(sent("fedavg", layers))
    yield decided(
        "counted", compare(ours, "==", 2 * plain), f"{ours:,} numbers a client and round, FedAvg {plain:,}", "count"
    )
    text = f"twice FedAvg is {float(gigabytes(2 * plain)):.2f} GB, printed {printed.TABLE_2['SCAFFOLD'][0]}"
    yield holds("printed", as_printed(gigabytes(2 * plain), printed.TABLE_2["SCAFFOLD"][0]), "count", text)


def check_mixed(ctx: Context, *, said: float = printed.MIXED_MORE) -> Iterator[Finding]:
    """How many parameters the personal components add to GKR."""
    more = {}
    for place, name in enumerate(NETWORKS):
        gkr, mixed = (Fraction(str(printed.TABLE_2[row][2 * place + 1])) for row in ("FedSLR (GKR)", "FedSLR (mixed)"))
        more[name] = 100 * (mixed / gkr - 1)
    gain = printed.gap("FedSLR (mixed)", "FedSLR (GKR)", "non-iid", "CIFAR-100")[0]
    text = ", ".join(f"{name} {float(value):.1f} %" for name, value in more.items())
    told = "accuracy that the mixed model gains on CIFAR-100, in points"
    yield equal("gain", gain, printed.MIXED_GAIN, "count", told, rtol=1e-9)
    # parameters are printed to 0.005 M, which moves a ratio by less than 0.3 points
    yield decided(
        "parameters added",
        compare(abs(more["CIFAR-100"] - Fraction(str(said))), "<=", Fraction(1, 2) + Fraction(3, 10)),
        f"Table 2: {text}; printed {said:g} % beside CIFAR-100's gain",
        "count",
    )
    yield decided(
        "as Table 2 has them",
        all(
            as_printed(more[name], value, 1)
            for name, value in (("CIFAR-10", 12.8), ("CIFAR-100", 20.8), ("TinyImageNet", 42.1))
        ),
        text,
        "count",
        "repaired",
    )
    yield Reading(f"No data set of Table 2 has 29 %; the mean over the three is {float(sum(more.values()) / 3):.1f} %.")


CLAIMS = [
    Claim(
        "FEDSLR-N21",
        PAPER,
        "identity",
        "Table 2",
        "Traffic and parameters of the methods without compression are those of the networks that the paper describes.",
        check_table_2,
        (
            Fault("999 rounds", "FedAvg on CIFAR-10", {"rounds": 999}),
            Fault("FedAvg for SCAFFOLD", "SCAFFOLD on CIFAR-10", {"scaffold": "fedavg"}),
        ),
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
    Claim(
        "FEDSLR-C2",
        PAPER,
        "identity",
        "Introduction; Section 6.2",
        "On CIFAR-100 the downlink falls by 38.34 % and all traffic by about 19 %.",
        check_downlink,
        (Fault("900 rounds", "downlink", {"rounds": 900}),),
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
    Claim(
        "FEDSLR-C4",
        PAPER,
        "identity",
        "Introduction; Table 2",
        "On CIFAR-100 GKR has 50.40 % and the mixed model 40.11 % fewer parameters than the network.",
        check_sizes,
        (Fault("FedSpa's row", "GKR", {"row": "FedSpa"}),),
    ),
    Claim(
        "FEDSLR-C5",
        PAPER,
        "identity",
        "Table 2; Appendix B.3.4",
        "SCAFFOLD has twice the traffic of FedAvg.",
        check_scaffold,
        (Fault("FedDyn for SCAFFOLD", "counted", {"method": "feddyn"}),),
    ),
    Claim(
        "FEDSLR-C8",
        PAPER,
        "identity",
        "Section 6.2; Table 2",
        "On CIFAR-100 the mixed model gains 17.97 points over GKR with 29 % more parameters.",
        check_mixed,
        (Fault("20.8 %", "parameters added", {"said": 20.8}, holds=True),),
        repaired="It has 20.8 % more on CIFAR-100, 12.8 % on CIFAR-10 and 42.1 % on TinyImageNet.",
    ),
]
