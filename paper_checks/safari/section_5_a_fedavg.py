"""Section 5: 1), FedAvg when some clients never take part: Table 1, and the ceiling that the classes of the others set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Part, Reading, matches
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from paper_checks.safari import published
from paper_checks.safari.protocol import DOUBT
from paper_checks.safari.readouts import (
    POINTS,
    Accuracies,
    Cell,
    at_best,
    at_end,
    beside_server,
    compare_levels,
    coverage,
    exceeds,
    exceeds_by_more,
)
from paper_checks.safari.runs import (
    CIFAR,
    MNIST,
    OTHER_SEEDS,
    MakeRuns,
    Study,
    chosen,
    claim_on,
    fedavg,
    make_grid,
    safari,
    server_alone,
)

CLAIMS: list[Claim] = []


# ---- Table 1 ---------------------------------------------------------------------------------------------------------
def check_drop(ctx: Context, *, study: Study, fewer: MakeRuns = fedavg) -> Iterator[Finding]:
    """Accuracy of FedAvg with none, some and most clients absent; ``fewer`` makes the runs with more of them absent."""
    title = study.at(ctx).title
    for p, few, many, name in (
        (1, 0, 2, "p = 1: none absent against some"),
        (1, 2, 4, "p = 1: some absent against most"),
        (2, 0, 4, "p = 2: none absent against most"),
    ):
        runs = fedavg(ctx, study, p, few), fewer(ctx, study, p, many)
        yield from exceeds(ctx, name, *runs, f"{title}: accuracy of FedAvg, s = {few} minus s = {many}", by=DOUBT)
    text = "p = 5, s = 0 minus s = 4 (the paper: 0.7 points on MNIST, 3.9 on CIFAR-10), best round"
    none, most = (at_best(ctx, fedavg(ctx, study, 5, s)) for s in (0, 4))
    yield ordered("reading: p = 5", none, most, text, role="reading", **POINTS)
    held = coverage(ctx, fedavg(ctx, study, 2, 4))
    yield Reading(
        "Seeds draw the split. With p = 2 every class has two holders, and s = 4 loses a class only where both stay away: the classes of the "
        f"others cover {', '.join(f'{100 * share:.0f} %' for share in held)} of the test data, seed by seed, and intervals at p = 2 are as wide "
        "as this lottery. The paper seems to keep one split for all its repetitions. In its Table 1 on MNIST accuracy at p = 2 rises by 0.4 points "
        "from s = 0 to s = 2, so the statement is on s = 4 there."
    )
    cells = study.at(ctx).cells("FedAvg")
    table = published.FEDAVG[study.name]
    yield from compare_levels(
        ctx,
        study,
        "Table 1",
        [Cell(f"s = {s}, p = {p}", published.pick(table[s], p), fedavg(ctx, study, p, s)) for p, s in cells],
    )
    yield chosen(ctx, study)


def _as_few(ctx: Context, study: Study, p: int, s: int) -> Repeated:
    """FedAvg with two clients absent in the place of four, other seeds."""
    return fedavg(ctx, study, p, min(s, 2), draws=OTHER_SEEDS)


def claim_drop(study: Study) -> Claim:
    """FedAvg loses accuracy where clients are absent."""
    text = Clause(
        f"On {study.name} FedAvg loses accuracy as more clients never take part, where clients hold one class (from none absent to two, and from two "
        "to four of ten) or two classes (from none to four).",
        ("p = 1: none absent", "p = 1: some absent", "p = 2: none absent"),
    )
    name, part = "as many absent, other seeds", "p = 1: some absent against most"
    return claim_on(
        study,
        f"SAFARI-E1{study.suffix}",
        "Section 5, Table 1",
        (text,),
        partial(check_drop, study=study),
        (Fault(name, part, {"fewer": _as_few}, or_undecided=True),),
        lambda ctx: make_grid(ctx, study, "FedAvg"),
    )


CLAIMS += [claim_drop(study) for study in (MNIST, CIFAR)]

# ---- "27.44 %" -------------------------------------------------------------------------------------------------------
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


def claim_number(
    id: str, source: str, text: str, printed: float | None, pair: Pair, fault: Fault, server: int | None = None
) -> Claim:
    """The number in a sentence on MNIST, a claim beside the ordering that it belongs to."""
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


def _none_and_most_absent(ctx: Context) -> tuple[Repeated, Repeated]:
    return fedavg(ctx, MNIST, 1, 0), fedavg(ctx, MNIST, 1, 4)


def _none_more_absent(ctx: Context) -> tuple[Repeated, Repeated]:
    return fedavg(ctx, MNIST, 1, 4, draws=OTHER_SEEDS), fedavg(ctx, MNIST, 1, 4)


CLAIMS += [
    claim_number(
        "SAFARI-E1a",
        "Section 5 (1)",
        "FedAvg loses accuracy when four of ten clients never take part,",
        published.loss("MNIST", 1),
        _none_and_most_absent,
        Fault("none more absent, other seeds", "a difference", {"pair": _none_more_absent}, or_undecided=True),
    )
]


# ---- By classes a client ---------------------------------------------------------------------------------------------
def check_heterogeneity(ctx: Context, *, study: Study, fewest: MakeRuns | None = None) -> Iterator[Finding]:
    """The drop from s = 0 to s = 4, by classes a client; ``fewest`` makes the runs in the place of those with one."""
    title = study.at(ctx).title
    runs = {p: (fedavg(ctx, study, p, 0), fedavg(ctx, study, p, 4)) for p in published.CLASSES}
    if fewest is not None:
        runs[1] = (fewest(ctx, study, 1, 0), fewest(ctx, study, 1, 4))
    for p, other in ((1, 2), (2, 5)):
        text = f"{title}: drop of FedAvg from s = 0 to s = 4 with p = {p} minus that with p = {other}"
        yield from exceeds_by_more(ctx, f"p = {p} against p = {other}", runs[p], runs[other], text)
    drops = at_best(ctx, runs[10][0]) - at_best(ctx, runs[10][1])
    printed, most = {p: published.loss(study.name, p) for p in runs}, negligible(study)
    yield ordered(
        "p = 10: negligible",
        np.full(len(drops), most / 100),
        drops,
        f"{title}: {most:.2f} points minus the drop with p = 10, best round (its drop in the paper is {printed[10]:.2f} points)",
        **POINTS,
    )
    if most > DOUBT:
        yield Reading(
            f"The text calls a drop of {printed[10]:.2f} points with p = 10 negligible, although two points is its own mark of a difference "
            "elsewhere: here as much is negligible."
        )
    cells = [Cell(f"p = {p}", printed[p], *pair) for p, pair in runs.items()]
    yield from compare_levels(ctx, study, "Table 1: drop from s = 0 to s = 4", cells, "points")


def negligible(study: Study) -> float:
    """The largest drop that counts as negligible: the paper's own mark, or what it calls so where that is more."""
    return max(DOUBT, published.loss(study.name, 10))


def _five_classes(ctx: Context, study: Study, p: int, s: int) -> Repeated:
    return fedavg(ctx, study, 5, s)


def claim_heterogeneity(study: Study) -> Claim:
    """It loses the more the fewer classes clients hold."""
    grows = Clause(
        f"On {study.name} the loss of FedAvg to absent clients grows as clients hold fewer classes;",
        ("p = 1 against p = 2", "p = 2 against p = 5"),
    )
    none_lost = Clause("with all classes on every client it is negligible.", ("p = 10: negligible",))
    return claim_on(
        study,
        f"SAFARI-E2{study.suffix}",
        "Section 5, Table 1",
        (grows, none_lost),
        partial(check_heterogeneity, study=study),
        (Fault("five classes a client in the place of one", "p = 1 against p = 2", {"fewest": _five_classes}),),
        lambda ctx: (fedavg(ctx, study, p, s) for p in published.CLASSES for s in (0, 4)),
    )


CLAIMS += [claim_heterogeneity(study) for study in (MNIST, CIFAR)]


# ---- The worst case of Theorem 1 -------------------------------------------------------------------------------------
def check_ceiling(ctx: Context, *, study: Study, method: MakeRuns = fedavg) -> Iterator[Finding]:
    """Accuracy with one class a client against the share of the test set in classes that can be learnt."""
    title = study.at(ctx).title
    rows = []
    for s in (2, 4):
        run = method(ctx, study, 1, s)
        ceiling, best, end = coverage(ctx, fedavg(ctx, study, 1, s)), at_best(ctx, run), at_end(ctx, run)
        room = float((ceiling - best).min())
        yield Part(
            f"s = {s}: below the ceiling",
            bool(np.all(best <= ceiling)) if np.isfinite(best).all() else None,
            "real data",
            f"{title}, p = 1, s = {s}: the best accuracy of any round, in each of {len(best)} seeds, against the exact share of test data "
            f"in classes of clients that may take part; the closest is {100 * room:.2f} points below",
            margin=room,
            data={"ceiling": ceiling.tolist(), "best": best.tolist()},
        )
        few = sorted(published.TEST_IMAGES[study.name])[: 10 - s]
        theirs = published.pick(published.FEDAVG[study.name][s], 1)
        share = 100 * sum(few) / sum(published.TEST_IMAGES[study.name])
        assert theirs is not None
        yield Part(
            f"s = {s}: the paper's own number",
            theirs <= share,
            "count",
            f"{study.name}, p = 1, s = {s}: the paper has {theirs} %, and any {10 - s} classes have at least {share:.2f} % of the test images",
            margin=(share - theirs) / share,
        )
        ours: tuple[Accuracies, ...] = (best, end, ceiling, ceiling - best)
        rows.append([s, theirs, *(mean_and_deviation(values) for values in ours)])
    yield make_table(
        f"one class a client, {study.name} (ours: {title}): accuracy and ceiling (%)",
        ["s", "paper", "ours, best", "ours, end", "ceiling", "ceiling minus best"],
        rows,
    )
    yield Reading(
        "Theorem 1's process hides samples of one class from the learner; with one class a client, clients that stay away do exactly that, "
        "so 1 - omega = s/M is lost with certainty. The paper says that its experiments validate the theorem's worst case and does not spell "
        "the link out; this reading of it is ours."
    )


def _everyone(ctx: Context, study: Study, p: int, s: int) -> Repeated:
    return fedavg(ctx, study, p, 0)


def claim_ceiling(study: Study) -> Claim:
    """It stays below the ceiling that the classes of the others set."""
    text = Clause(
        f"On {study.name} with one class a client FedAvg shows the worst case of Theorem 1: it stays below the share of the test data whose "
        "classes the clients that take part hold.",
        ("s = 2: below", "s = 4: below", "s = 2: the paper's own", "s = 4: the paper's own"),
    )
    part = "s = 4: below the ceiling"
    return claim_on(
        study,
        f"SAFARI-E11{study.suffix}",
        "Section 5 (with Theorem 1)",
        (text,),
        partial(check_ceiling, study=study),
        (
            Fault("SAFARI, which sees every class", part, {"method": safari}),
            Fault("absent clients take part all the same", part, {"method": _everyone}),
        ),
        lambda ctx: (fedavg(ctx, study, 1, s) for s in (2, 4)),
    )


CLAIMS += [claim_ceiling(study) for study in (MNIST, CIFAR)]
