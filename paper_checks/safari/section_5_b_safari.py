"""Section 5: 2), what SAFARI gains over FedAvg: Table 2 with the baseline that it lacks, Algorithm 1 as printed, Table 3, Figure 2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading, matches
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import draw_curves, ordered
from paper_checks.formulas import of_the_tables
from paper_checks.safari.notation import claim
from paper_checks.safari.protocol import DOUBT
from paper_checks.safari.published import ABSENT, BY_PROBABILITY, CLASSES, FEDAVG, GAIN, GAIN_BY_SERVER, pick
from paper_checks.safari.readouts import (
    Cell,
    at_best,
    beside_server,
    compare_levels,
    exceeds,
    exceeds_by_more,
    is_alike,
)
from paper_checks.safari.runs import (
    CIFAR,
    FIVE_PASSES,
    IDLE,
    MNIST,
    ONE_PASS,
    ONE_STEP,
    OTHER_SEEDS,
    MakeRuns,
    Q,
    Study,
    chosen,
    claim_on,
    fedavg,
    make_grid,
    safari,
    server_alone,
)
from paper_checks.safari.section_5_a_fedavg import claim_number
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Table 2 ---------------------------------------------------------------------------------------------------------
#: where the text sees no difference: "from p = 10 to p = 5" on MNIST (Table 3 is of s = 4), "p = 10" on CIFAR-10
NO_GAIN = {"MNIST": ((10, 0), (10, 2), (10, 4), (5, 4)), "CIFAR-10": ((10, 0), (10, 2), (10, 4))}
#: a mistake: `idle` in the place of SAFARI
SERVER_IDLE = "rounds of the server that change nothing"


def idle(ctx: Context, study: Study, p: int, s: int) -> Repeated:
    """SAFARI whose server's rounds change nothing."""
    return safari(ctx, study, p, s, work=IDLE)


def _no_clients(ctx: Context, study: Study, p: int, s: int) -> Repeated:
    return server_alone(ctx, study, server=study.at(ctx).servers[0])


def check_gain(ctx: Context, *, study: Study, method: MakeRuns = safari) -> Iterator[Finding]:
    """Accuracy of SAFARI with q = 0.8 minus FedAvg's, by classes a client and clients absent."""
    a = study.at(ctx)

    def pair(p: int, s: int) -> tuple[Repeated, Repeated]:
        return method(ctx, study, p, s), fedavg(ctx, study, p, s)

    for p, s in ((1, 4), (1, 2), (2, 4)):
        text = f"{a.title}: SAFARI minus FedAvg"
        yield from exceeds(ctx, f"p = {p}, s = {s}: SAFARI gains", *pair(p, s), text, by=DOUBT)
    for name, more, less in (
        ("gain grows with absence", (1, 4), (1, 2)),
        ("gain grows with heterogeneity", (1, 4), (2, 4)),
    ):
        text = f"{a.title}: gain at (p, s) = {more} minus gain at {less}"
        yield from exceeds_by_more(ctx, name, pair(*more), pair(*less), text)
    for p, s in NO_GAIN[study.name]:
        yield from is_alike(ctx, f"p = {p}, s = {s}: no difference", *pair(p, s), f"{a.title}: SAFARI minus FedAvg")
    yield from beside_server(ctx, study, safari(ctx, study, 1, 4), f"{a.title}, p = 1, s = 4")
    cells = []
    for p, s in a.cells("SAFARI"):
        theirs = pick(GAIN[study.name][s], p)
        cells.append(Cell(f"s = {s}, p = {p}", theirs, safari(ctx, study, p, s), fedavg(ctx, study, p, s)))
    yield from compare_levels(ctx, study, "Table 2: gain of SAFARI over FedAvg", cells, "points")
    yield chosen(ctx, study)


def _gain_needs(ctx: Context, study: Study) -> Iterator[Repeated]:
    yield from make_grid(ctx, study, "SAFARI")
    yield from make_grid(ctx, study, "FedAvg")
    yield server_alone(ctx, study)


def claim_gain(study: Study) -> Claim:
    """SAFARI is above FedAvg where clients are absent and unlike."""
    text = (
        Clause(
            f"On {study.name} SAFARI with q = 0.8 is more than two points better than FedAvg where clients hold one class and two or four of ten "
            "never take part, or two classes and four never do;",
            ("p = 1, s = 4: SAFARI gains", "p = 1, s = 2: SAFARI gains", "p = 2, s = 4: SAFARI gains"),
        ),
        Clause(
            "the gain grows with absence and with heterogeneity;",
            ("gain grows with absence", "gain grows with heterogeneity"),
        ),
        Clause(
            f"with {'five or all' if study is MNIST else 'all'} classes on every client there is no difference beyond two points.",
            tuple(f"p = {p}, s = {s}: no difference" for p, s in NO_GAIN[study.name]),
        ),
    )
    no_clients, other = "clients' rounds thrown away, with the server's smallest set", "p = 10, s = 4: no difference"
    return claim_on(
        study,
        f"SAFARI-E3{study.suffix}",
        "Section 5, Table 2",
        text,
        partial(check_gain, study=study),
        (
            Fault(SERVER_IDLE, "p = 1, s = 4: SAFARI gains", {"method": idle}, or_undecided=True),
            Fault(no_clients, other, {"method": _no_clients}),
        ),
        lambda ctx: _gain_needs(ctx, study),
    )


CLAIMS += [claim_gain(study) for study in (MNIST, CIFAR)]


# ---- "31.07 %" -------------------------------------------------------------------------------------------------------
def _assisted(ctx: Context, server: int) -> tuple[Repeated, Repeated]:
    return safari(ctx, MNIST, 1, 4, server=MNIST.at(ctx).servers[server]), fedavg(ctx, MNIST, 1, 4)


def _idle(ctx: Context) -> tuple[Repeated, Repeated]:
    return idle(ctx, MNIST, 1, 4), fedavg(ctx, MNIST, 1, 4)


_GAIN = Fault(SERVER_IDLE, "a difference", {"pair": _idle}, or_undecided=True)
CLAIMS += [
    claim_number(
        "SAFARI-E3a",
        "Section 5 (2), Table 2",
        "four of ten absent and 1000 samples on the server SAFARI is above FedAvg",
        GAIN["MNIST"][4][-1],
        partial(_assisted, server=-1),
        _GAIN,
        -1,
    )
]


# ---- Algorithm 1 as printed ------------------------------------------------------------------------------------------
def check_one_step(ctx: Context, *, study: Study, method: MakeRuns | None = None) -> Iterator[Finding]:
    """Algorithm 1 as printed, with one step on the server's data in a server round, against FedAvg."""
    a = study.at(ctx)
    base = fedavg(ctx, study, 1, 4)
    printed = safari(ctx, study, 1, 4, work=ONE_STEP) if method is None else method(ctx, study, 1, 4)
    text = f"{a.title}, p = 1, s = 4: SAFARI with one step in a server round minus FedAvg"
    yield from exceeds(ctx, "Algorithm 1 gains", printed, base, text, by=DOUBT)
    gain = 100 * (at_best(ctx, printed) - at_best(ctx, base))
    theirs = GAIN[study.name][4][-1]
    assert theirs is not None
    told = "gain of one step a server round, which would be the paper's number if it ran the algorithm as printed"
    yield matches("reading: the paper's gain", theirs, gain, told, within=DOUBT, role="reading", unit=" points")
    yield from beside_server(ctx, study, printed, f"{a.title}, p = 1, s = 4, one step a server round")
    works = {"one step": ONE_STEP, "one pass": ONE_PASS, "five passes": FIVE_PASSES}
    passes = {label: work for label, work in works.items() if a.tables or work is not ONE_PASS}
    rows = [Cell("FedAvg", None, base)]
    rows += [Cell(f"SAFARI, {label}", None, safari(ctx, study, 1, 4, work=work)) for label, work in passes.items()]
    rows += [
        Cell(f"server alone, {label}", None, server_alone(ctx, study, work=work))
        for label, work in passes.items()
        if work is not ONE_STEP
    ]
    yield from compare_levels(ctx, study, f"p = 1, s = 4, {a.title}, by the work of a server round", rows)
    yield Reading(
        "Theorem 4 asks for eta_c K/eta_s = 2; with the paper's equal steps this ratio rho is the number of local steps. With one step a server "
        "round the limit of small steps is then within 1 - q rho/((1-q) + q rho) of FedAvg's, relatively (0.3 % at the inferred K = 94), so gains as "
        "in Table 2 point to server rounds of many steps. Accuracy rises in a server round and falls in client rounds, so it matters when it is read."
    )


def _step_needs(ctx: Context, study: Study) -> Iterator[Repeated]:
    yield fedavg(ctx, study, 1, 4)
    yield safari(ctx, study, 1, 4, work=ONE_STEP)
    for work in (ONE_PASS, FIVE_PASSES) if study.at(ctx).tables else (FIVE_PASSES,):
        yield safari(ctx, study, 1, 4, work=work)
        yield server_alone(ctx, study, work=work)


def claim_one_step(study: Study) -> Claim:
    """Algorithm 1 as printed is above FedAvg."""
    text = Clause(
        f"On {study.name} the algorithm as printed, with one step in a round of the server's, is more than two points better than FedAvg where "
        "clients hold one class and four of ten never take part.",
        ("Algorithm 1 gains",),
    )
    return claim_on(
        study,
        f"SAFARI-E3-STEP{study.suffix}",
        "Algorithm 1; Section 5, Table 2",
        (text,),
        partial(check_one_step, study=study),
        (Fault("five passes in the place of the step", "Algorithm 1 gains", {"method": safari}, holds=True),),
        lambda ctx: _step_needs(ctx, study),
    )


CLAIMS += [claim_one_step(study) for study in (MNIST, CIFAR)]

# ---- Table 3 ---------------------------------------------------------------------------------------------------------
#: a mistake, on runs of other seeds
SMALLEST_SET = "a server that uses the smallest set whatever it holds, other seeds"


def check_server_size(ctx: Context, *, study: Study, larger: MakeRuns | None = None) -> Iterator[Finding]:
    """Gain over FedAvg with 4 clients absent, by what the server holds; ``larger`` makes the runs with more than the least."""
    a = study.at(ctx)
    small = a.servers[0]

    def at(p: int, server: int) -> Repeated:
        if larger is not None and server > small:
            return larger(ctx, study, p, 4)
        return safari(ctx, study, p, 4, server=server)

    text = f"{a.title}: p = 1, s = 4, {small} samples on the server: SAFARI minus FedAvg"
    yield from exceeds(ctx, "the smallest set helps", at(1, small), fedavg(ctx, study, 1, 4), text, by=DOUBT)
    for k, (less, more) in enumerate(zip(a.servers, a.servers[1:], strict=False), 1):
        text = f"{a.title}: p = 1, s = 4, accuracy with {more} samples minus {less}"
        yield from exceeds(ctx, f"p = 1: step {k} up", at(1, more), at(1, less), text)
    text = f"{a.title}: p = 2, s = 4, accuracy with {a.servers[-1]} samples minus {small}"
    yield from exceeds(ctx, "p = 2: the largest set against the smallest", at(2, a.servers[-1]), at(2, small), text)
    assisted = safari(ctx, study, 1, 4, server=small)
    yield from beside_server(ctx, study, assisted, f"{a.title}, p = 1, s = 4, {small} samples", server=small)
    printed = GAIN_BY_SERVER[study.name]
    cells = []
    for p, server in a.by_server():
        theirs = pick(printed[server], p) if server in printed else None
        run = safari(ctx, study, p, 4, server=server)
        cells.append(Cell(f"{server} samples, p = {p}", theirs, run, fedavg(ctx, study, p, 4)))
    number = 3 if study is MNIST else 4
    yield from compare_levels(ctx, study, f"Table {number}: gain over FedAvg, s = 4, q = 0.8", cells, "points")
    runs = {"FedAvg": fedavg(ctx, study, 1, 4)} | {
        f"SAFARI, {server} samples": safari(ctx, study, 1, 4, server=server) for server in a.servers
    }
    yield draw_curves(ctx, f"{a.title}: p = 1, s = 4, q = 0.8", runs, "test_accuracy", ylabel="test accuracy")


def _still_small(ctx: Context, study: Study, p: int, s: int, q: float = Q) -> Repeated:
    return safari(ctx, study, p, s, server=study.at(ctx).servers[0], q=q, draws=OTHER_SEEDS)


def _server_needs(ctx: Context, study: Study) -> Iterator[Repeated]:
    a = study.at(ctx)
    yield server_alone(ctx, study, server=a.servers[0])
    for p, server in a.by_server():
        yield fedavg(ctx, study, p, 4)
        yield safari(ctx, study, p, 4, server=server)


def claim_server_size(study: Study) -> Claim:
    """The gain grows with what the server holds."""
    text = (
        Clause(
            f"On {study.name} with one class a client and four of ten clients absent the smallest set of the server, "
            f"{next(iter(GAIN_BY_SERVER[study.name]))} samples, helps already,",
            ("the smallest set helps",),
        ),
        Clause("and the gain grows with the set.", ("p = 1: step", "p = 2: the largest set against the smallest")),
    )
    return claim_on(
        study,
        f"SAFARI-E4{study.suffix}",
        f"Section 5, Table {3 if study is MNIST else 4}",
        text,
        partial(check_server_size, study=study),
        (Fault(SMALLEST_SET, "p = 1: step 1 up", {"larger": _still_small}, or_undecided=True),),
        lambda ctx: _server_needs(ctx, study),
    )


CLAIMS += [claim_server_size(MNIST)]

# ---- "16.65 %" -------------------------------------------------------------------------------------------------------
CLAIMS += [
    claim_number(
        "SAFARI-E4a",
        "Section 5 (2), Table 3",
        "four of ten absent and only 50 samples on the server SAFARI is above FedAvg",
        GAIN_BY_SERVER["MNIST"][50][-1],
        partial(_assisted, server=0),
        _GAIN,
        0,
    )
]

# ---- Numbers in sentences --------------------------------------------------------------------------------------------
Said = tuple[str, float | str, str]
#: the largest loss of FedAvg in Table 1; what SAFARI gains with the fewest and with the most samples at the server
LOST = {"MNIST": 27.44, "CIFAR-10": 25}
GAINED = {"MNIST": {50: 16.65, 1000: 31.07}, "CIFAR-10": {10000: 23.86}}


def lost() -> Iterator[Said]:
    """Table 1, none to four clients absent: so many points with one class a client."""
    for data, said in LOST.items():
        yield f"{pick(FEDAVG[data][0], 1)} - {pick(FEDAVG[data][4], 1)}", said, "0"


def gained() -> Iterator[Said]:
    """Tables 2 to 4: so many points with one class a client, and the same where two tables have one entry."""
    for data, by_samples in GAINED.items():
        for samples, said in by_samples.items():
            yield f"{pick(GAIN_BY_SERVER[data][samples], 1)}", said, "0"
        most = GAIN_BY_SERVER[data][max(GAIN_BY_SERVER[data])]
        for p in CLASSES:
            if pick(most, p) is not None:
                yield f"{pick(most, p)}", f"{pick(GAIN[data][4], p)}", "0"


def by_table_5() -> Iterator[Said]:
    """Table 2 with one class a client is Table 5 at q = 0.8 less Table 5 at q = 1, which is Table 1."""
    for data, rows in BY_PROBABILITY.items():
        for k, absent in enumerate(ABSENT):
            yield f"{rows[0.8][k]} - {rows[1.0][k]}", f"{pick(GAIN[data][absent], 1)}", "0"
            yield f"{rows[1.0][k]}", f"{pick(FEDAVG[data][absent], 1)}", "0"


def no_larger_loss() -> tuple[str, ...]:
    """No column of Table 1 loses more: "up to"."""
    return tuple(
        f"{pick(FEDAVG[data][0], p)} - {pick(FEDAVG[data][absent], p)} <= {said}"
        for data, said in LOST.items()
        for absent in ABSENT[1:]
        for p in CLASSES
    )


CLAIMS += [
    claim(
        "SAFARI-TAB",
        "Section 5 and Appendix; Tables 1 to 5",
        "FedAvg loses up to 27.44 points on MNIST and 25 on CIFAR-10 where four clients are absent; SAFARI gains 16.65 points with 50 samples at the "
        "server and 31.07 with 1000 on MNIST, and 23.86 with 10000 on CIFAR-10.",
        [Step("numbers", of_the_tables(*lost(), *gained(), *by_table_5(), at_most=no_larger_loss()))],
        kind="identity",
        readings=[
            "Per cent of accuracy are read as points. The numbers are Tables 1, 3 and 4's, and Tables 2 and 5 agree with them, entry by entry."
        ],
    )
]

# ---- Figure 2 --------------------------------------------------------------------------------------------------------
#: Figure 2's probability of a client round
FIGURE_Q = 0.4
#: share of what the smallest server set reaches, at which speeds are compared
LEVEL = 0.9


def check_figure(ctx: Context, *, larger: MakeRuns | None = None) -> Iterator[Finding]:
    """Accuracy by rounds for each server set: s = 4, p = 1, q = 0.4; ``larger`` makes the runs with more than the least."""
    a = CIFAR.at(ctx)
    sizes = a.servers
    runs = {server: safari(ctx, CIFAR, 1, 4, server=server, q=FIGURE_Q) for server in sizes}
    if larger is not None:
        runs |= {server: larger(ctx, CIFAR, 1, 4) for server in sizes[1:]}
    for k, (less, more) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
        text = f"{a.title}: accuracy with {more} samples on the server minus {less}"
        yield from exceeds(ctx, f"accuracy, step {k} up", runs[more], runs[less], text)
    level = LEVEL * float(at_best(ctx, runs[sizes[0]]).mean())
    slow, fast = (runs[size].first(ctx, "test_accuracy", level) for size in (sizes[0], sizes[-1]))
    never = float(a.rounds)  # a run that does not get there counts with all its rounds, which favours it
    yield ordered(
        "speed, the largest set against the smallest",
        np.minimum(slow, never),
        np.minimum(fast, never),
        f"{a.title}: rounds to {100 * level:.1f} % ({LEVEL:.0%} of the best round with the smallest set), {sizes[0]} samples minus {sizes[-1]}",
    )
    yield from beside_server(ctx, CIFAR, runs[sizes[-1]], f"{a.title}, p = 1, s = 4, q = {FIGURE_Q}")
    labels = {f"{server} samples": run for server, run in runs.items()} | {"FedAvg": fedavg(ctx, CIFAR, 1, 4)}
    title = f"Figure 2: s = 4, p = 1, q = {FIGURE_Q}"
    yield from compare_levels(ctx, CIFAR, title, [Cell(label, None, run) for label, run in labels.items()])
    yield draw_curves(ctx, f"{title} ({a.title})", labels, "test_accuracy", ylabel="test accuracy")
    yield chosen(ctx, CIFAR)


def _figure_needs(ctx: Context) -> Iterator[Repeated]:
    yield fedavg(ctx, CIFAR, 1, 4)
    yield server_alone(ctx, CIFAR)
    yield from (safari(ctx, CIFAR, 1, 4, server=n, q=FIGURE_Q) for n in CIFAR.at(ctx).servers)


CLAIMS += [
    claim_on(
        CIFAR,
        "SAFARI-E5",
        "Section 5, Figure 2",
        (
            Clause(
                "On CIFAR-10 with one class a client, 4 of ten clients absent and q = 0.4 SAFARI is faster",
                ("speed, the largest set",),
            ),
            Clause("and reaches a higher accuracy the more data the server has.", ("accuracy, step",)),
        ),
        check_figure,
        (Fault(SMALLEST_SET, "accuracy, step 1 up", {"larger": partial(_still_small, q=FIGURE_Q)}, or_undecided=True),),
        _figure_needs,
    )
]
