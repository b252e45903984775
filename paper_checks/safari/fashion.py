"""Many clients: the Fashion-MNIST experiments (Tables 6 and 7, claim E8) on data at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fedtheory.claims.claim import Claim, Context, Fault, Finding, Reading
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from paper_checks.safari import published
from paper_checks.safari.degradation import DOUBT
from paper_checks.safari.gains import POINTS
from paper_checks.safari.runs import FASHION, PAPER, at_best, at_end, chosen, fedavg, safari

#: classes a client, which the paper does not give
CLASSES_HELD = 2
FIFTHS = (0, 1, 2, 3, 4)  #: of the clients, that never take part
SERVER_ABSENT = 3  #: fifths absent where the server's data is varied


def _fedavg(ctx: Context, fifths: int, server: int | None = None) -> Repeated:
    """FedAvg; what a server would hold decides which samples the clients are left with."""
    a = FASHION.at(ctx)
    return fedavg(
        ctx, FASHION, CLASSES_HELD, a.clients * fifths // 5, server=a.servers[1] if server is None else server
    )


def _safari(ctx: Context, server: int) -> Repeated:
    return safari(ctx, FASHION, CLASSES_HELD, FASHION.at(ctx).clients * SERVER_ABSENT // 5, server=server)


def check_many_clients(ctx: Context, *, fifths: Sequence[int] = FIFTHS, reverse: bool = False) -> Iterator[Finding]:
    """FedAvg by the share of clients absent, SAFARI by what the server holds."""
    a = FASHION.at(ctx)
    runs = [_fedavg(ctx, k) for k in fifths]
    for name, k in (("most", 4), ("three fifths", 3)):
        yield ordered(
            f"none absent against {name}",
            at_end(ctx, runs[0]),
            at_end(ctx, runs[k]),
            f"{a.title}: FedAvg's accuracy at the end, s = {a.clients * fifths[0] // 5} minus s = {a.clients * fifths[k] // 5}",
            by=DOUBT,
            **POINTS,
        )
    sizes = a.servers[::-1] if reverse else a.servers
    base = _fedavg(ctx, SERVER_ABSENT, sizes[0])
    assisted = [_safari(ctx, server) for server in sizes]
    steps = [
        ("FedAvg to the smallest set", base, assisted[0]),
        ("the smallest set to the next", assisted[0], assisted[1]),
    ]
    for name, less, more in steps:
        yield ordered(
            name, at_end(ctx, more), at_end(ctx, less), f"{a.title}, three fifths absent: accuracy at the end", **POINTS
        )
    yield ordered(
        "reading: the next to the largest",
        at_end(ctx, assisted[2]),
        at_end(ctx, assisted[1]),
        "20 % minus 10 % of the data on the server (the paper: -0.44)",
        role="reading",
        **POINTS,
    )
    yield make_table(
        f"Table 6 (ours: {a.title}): accuracy of FedAvg (%)",
        ["share absent", "paper", "ours, end", "ours, best"],
        [
            [f"{k}/5", f"{mean} +- {dev}", mean_and_deviation(at_end(ctx, run)), mean_and_deviation(at_best(ctx, run))]
            for k, run, (mean, dev) in zip(fifths, runs, published.FASHION_BY_ABSENT.values(), strict=True)
        ],
    )
    rows: list[list[Any]] = []
    for (label, (mean, dev)), run in zip(published.FASHION_BY_SERVER.items(), (base, *assisted), strict=True):
        rows.append(
            [label, f"{mean} +- {dev}", mean_and_deviation(at_end(ctx, run)), mean_and_deviation(at_best(ctx, run))]
        )
    yield make_table(
        f"Table 7 (ours: {a.title}): accuracy by the server's data, 3/5 absent (%)",
        ["", "paper", "ours, end", "ours, best"],
        rows,
    )
    yield Reading(
        "Fashion-MNIST itself is not at hand: digits stand in at laptop size, MNIST at the others. The paper gives neither the model nor "
        f"the classes a client nor the clients a round; {CLASSES_HELD} classes are taken here."
    )
    if ctx.size == "laptop":
        yield Reading(
            f"One per cent of the digits is {a.servers[0]} samples for ten classes, of Fashion-MNIST 600: Table 7's first step is hard to see here."
        )
    yield chosen(ctx, FASHION)


def _ends(ctx: Context) -> tuple[int, int]:
    """The smallest and the largest set: where Table 7 begins, and where it would begin in the reversed order of a fault."""
    servers = FASHION.at(ctx).servers
    return servers[0], servers[-1]


CLAIMS = [
    Claim(
        "SAFARI-E8",
        PAPER,
        "ordering",
        "Appendix B.3, Tables 6 and 7",
        "With many clients (Fashion-MNIST) FedAvg loses accuracy as more of them never take part, and SAFARI gains with the server's data.",
        check_many_clients,
        (
            Fault("absence reversed", "none absent against most", {"fifths": FIFTHS[::-1]}),
            Fault("sizes reversed", "the smallest set to the next", {"reverse": True}),
        ),
        needs=lambda ctx: list_runs(
            [
                *(_fedavg(ctx, k) for k in FIFTHS),
                *(_fedavg(ctx, SERVER_ABSENT, n) for n in _ends(ctx)),
                *(_safari(ctx, server) for server in FASHION.at(ctx).servers),
            ]
        ),
    ),
]
