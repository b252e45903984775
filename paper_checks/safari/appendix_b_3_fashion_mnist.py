"""Appendix B.3: Tables 6 and 7, many clients: the Fashion-MNIST experiments on data at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading
from fedtheory.claims.experiments import Repeated
from paper_checks.safari import published
from paper_checks.safari.protocol import DOUBT
from paper_checks.safari.readouts import Cell, beside_server, compare_levels, exceeds
from paper_checks.safari.runs import ALL, FASHION, OTHER_SEEDS, Draws, chosen, claim_on, fedavg, safari, server_alone
from paper_checks.safari.section_5_b_safari import SMALLEST_SET

CLAIMS: list[Claim] = []

# ---- Tables 6 and 7 --------------------------------------------------------------------------------------------------
#: classes a client, which the paper does not give
CLASSES_HELD = 2
FIFTHS = (0, 1, 2, 3, 4)  #: of the clients, that never take part
SERVER_ABSENT = 3  #: fifths absent where the server's data is varied


def _fedavg(ctx: Context, fifths: int, server: int | None = None, draws: Draws = ALL) -> Repeated:
    """FedAvg; what a server would hold decides which samples the clients are left with."""
    a = FASHION.at(ctx)
    held = a.servers[1] if server is None else server
    return fedavg(ctx, FASHION, CLASSES_HELD, a.clients * fifths // 5, server=held, draws=draws)


def _safari(ctx: Context, server: int, draws: Draws = ALL) -> Repeated:
    absent = FASHION.at(ctx).clients * SERVER_ABSENT // 5
    return safari(ctx, FASHION, CLASSES_HELD, absent, server=server, draws=draws)


def _shown(ctx: Context) -> tuple[int, ...]:
    """Fifths that are run: those that decide at laptop size."""
    return (0, 3, 4) if ctx.size == "laptop" else FIFTHS


def check_many_clients(
    ctx: Context,
    *,
    fewer: Callable[[Context, int], Repeated] = _fedavg,
    larger: Callable[[Context, int], Repeated] = _safari,
) -> Iterator[Finding]:
    """FedAvg by the share of clients absent, SAFARI by what the server holds; ``fewer`` and ``larger`` make the runs with more of either."""
    a = FASHION.at(ctx)
    runs = {k: _fedavg(ctx, k) for k in _shown(ctx)}
    for name, k in (("most", 4), ("three fifths", 3)):
        text = f"{a.title}: accuracy of FedAvg, s = 0 minus s = {a.clients * k // 5}"
        yield from exceeds(ctx, f"none absent against {name}", runs[0], fewer(ctx, k), text, by=DOUBT)
    base = _fedavg(ctx, SERVER_ABSENT, a.servers[0])
    least, more, most = _safari(ctx, a.servers[0]), larger(ctx, a.servers[1]), _safari(ctx, a.servers[2])
    text = f"{a.title}, three fifths absent"
    yield from exceeds(ctx, "FedAvg to the smallest set", least, base, text)
    yield from exceeds(ctx, "the smallest set to the next", more, least, text)
    yield from exceeds(ctx, "the next set to the largest", most, more, text)
    yield from beside_server(ctx, FASHION, most, text)
    absent = zip(FIFTHS, published.FASHION_BY_ABSENT.values(), strict=True)
    cells = [Cell(f"{k}/5 absent", mean, runs[k], deviation=dev) for k, (mean, dev) in absent if k in runs]
    yield from compare_levels(ctx, FASHION, "Table 6: FedAvg", cells)
    rows = zip(published.FASHION_BY_SERVER.items(), (base, least, more, most), strict=True)
    cells = [Cell(label, mean, run, deviation=dev) for (label, (mean, dev)), run in rows]
    yield from compare_levels(ctx, FASHION, "Table 7: by the server's data, 3/5 absent", cells)
    yield Reading(
        "Fashion-MNIST itself is not at hand: digits stand in at laptop size, MNIST at the others. The paper gives neither the model nor "
        f"the classes a client nor the clients a round nor how often it repeats; {CLASSES_HELD} classes are taken here. It has no sentence on the "
        "tables but that they validate its theory, so that each step of them is judged; from 10 to 20 % of the data on the server its own "
        "accuracy falls by 0.44 points."
    )
    if ctx.size == "laptop":
        yield Reading(
            f"One per cent of the digits is {a.servers[0]} samples for ten classes, of Fashion-MNIST 600: Table 7's first step is hard to see here."
        )
    yield chosen(ctx, FASHION)


def _none_more(ctx: Context, fifths: int) -> Repeated:
    return _fedavg(ctx, 0, draws=OTHER_SEEDS)


def _still_small(ctx: Context, server: int) -> Repeated:
    return _safari(ctx, FASHION.at(ctx).servers[0], draws=OTHER_SEEDS)


def _needs(ctx: Context) -> Iterator[Repeated]:
    servers = FASHION.at(ctx).servers
    yield from (_fedavg(ctx, k) for k in _shown(ctx))
    yield _fedavg(ctx, SERVER_ABSENT, servers[0])
    yield from (_safari(ctx, server) for server in servers)
    yield server_alone(ctx, FASHION)


CLAIMS += [
    claim_on(
        FASHION,
        "SAFARI-E8",
        "Appendix B.3, Tables 6 and 7",
        (
            Clause(
                "With many clients (Fashion-MNIST) FedAvg loses more than two points where three or four fifths of them never take part,",
                ("none absent against most", "none absent against three fifths"),
            ),
            Clause(
                "and where three fifths never do SAFARI gains with the server's data, from none to 1 %, to 10 % and to 20 % of it.",
                ("FedAvg to the smallest set", "the smallest set to the next", "the next set to the largest"),
            ),
        ),
        check_many_clients,
        (
            Fault("none absent, other seeds", "none absent against most", {"fewer": _none_more}, or_undecided=True),
            Fault(SMALLEST_SET, "the smallest set to the next", {"larger": _still_small}, or_undecided=True),
        ),
        _needs,
    )
]
