"""The numbers in the paper's sentences on MNIST, each a claim of its own beside the ordering that it belongs to: claims E1a, E3a, E4a."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from fedtheory.claims.claim import Claim, Fault, Finding, Part
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.magnitudes import matches
from fedtheory.claims.orderings import mean_and_deviation
from fedtheory.claims.protocol import Clause
from paper_checks.safari import published
from paper_checks.safari.gains import idle
from paper_checks.safari.protocol import DOUBT
from paper_checks.safari.readouts import at_best, at_end, beside_server, exceeds
from paper_checks.safari.runs import MNIST, OTHER_SEEDS, claim_on, fedavg, safari, server_alone

Pair = Callable[[Context], tuple[Repeated, Repeated]]  #: of methods, the better one first


def check_number(ctx: Context, *, printed: float, pair: Pair, server: int | None) -> Iterator[Finding]:
    """How many points one method is above the other; ``server``: the place of its size, where the better one is SAFARI."""
    better, worse = pair(ctx)
    a = MNIST.at(ctx)
    yield from exceeds(ctx, "a difference", better, worse, f"{a.title}, p = 1", by=DOUBT)
    best, end = (100 * (read(ctx, better) - read(ctx, worse)) for read in (at_best, at_end))
    if a.own:
        yield matches("the number", printed, best, "best round", within=DOUBT, unit=" points")
        text = "mean of the last rounds"
        yield matches(
            "reading, at the end: the number", printed, end, text, within=DOUBT, role="reading", unit=" points"
        )
    else:
        ours = f"{mean_and_deviation(best, scale=1)} on {a.title}"
        told = f"printed {printed:g} points, ours {ours}: a number is judged on the paper's own data"
        yield Part("the number", None, "real data", told)
    if server is not None:
        yield from beside_server(ctx, MNIST, better, f"{a.title}, p = 1, s = 4", server=a.servers[server])


def _absent(ctx: Context) -> tuple[Repeated, Repeated]:
    return fedavg(ctx, MNIST, 1, 0), fedavg(ctx, MNIST, 1, 4)


def _none_more_absent(ctx: Context) -> tuple[Repeated, Repeated]:
    return fedavg(ctx, MNIST, 1, 4, draws=OTHER_SEEDS), fedavg(ctx, MNIST, 1, 4)


def _assisted(ctx: Context, server: int) -> tuple[Repeated, Repeated]:
    return safari(ctx, MNIST, 1, 4, server=MNIST.at(ctx).servers[server]), fedavg(ctx, MNIST, 1, 4)


def _idle(ctx: Context) -> tuple[Repeated, Repeated]:
    return idle(ctx, MNIST, 1, 4), fedavg(ctx, MNIST, 1, 4)


def _claim(
    id: str, source: str, text: str, printed: float | None, pair: Pair, fault: Fault, server: int | None
) -> Claim:
    assert printed is not None
    clauses = (
        Clause(f"On MNIST, with one class a client, {text}", ("a difference",)),
        Clause(f"by {printed:.2f} points.", ("the number",)),
    )
    return claim_on(
        MNIST,
        id,
        source,
        clauses,
        partial(check_number, printed=printed, pair=pair, server=server),
        (fault,),
        lambda ctx: [
            *pair(ctx),
            *([] if server is None else [server_alone(ctx, MNIST, MNIST.at(ctx).servers[server])]),
        ],
    )


_LOSS = Fault("none more absent, other seeds", "a difference", {"pair": _none_more_absent}, or_undecided=True)
_GAIN = Fault("rounds of the server that change nothing", "a difference", {"pair": _idle}, or_undecided=True)
CLAIMS = [
    _claim(
        "SAFARI-E1a",
        "Section 5 (1)",
        "FedAvg loses accuracy when four of ten clients never take part,",
        published.loss("MNIST", 1),
        _absent,
        _LOSS,
        None,
    ),
    _claim(
        "SAFARI-E3a",
        "Section 5 (2), Table 2",
        "four of ten absent and 1000 samples on the server SAFARI is above FedAvg",
        published.GAIN["MNIST"][4][-1],
        partial(_assisted, server=-1),
        _GAIN,
        -1,
    ),
    _claim(
        "SAFARI-E4a",
        "Section 5 (2), Table 3",
        "four of ten absent and only 50 samples on the server SAFARI is above FedAvg",
        published.GAIN_BY_SERVER["MNIST"][50][-1],
        partial(_assisted, server=0),
        _GAIN,
        0,
    ),
]
