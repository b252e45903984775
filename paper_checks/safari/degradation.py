"""FedAvg when some clients never take part: Table 1, and the ceiling that the classes of the others set (claims E1, E2, E11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Claim, Context, Fault, Finding, Part, Reading, Table
from fedtheory.claims.experiments import Repeated, Training, list_runs
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from paper_checks.safari import published
from paper_checks.safari.runs import (
    PAPER,
    Study,
    at_best,
    at_end,
    chosen,
    coverage,
    fedavg,
    safari,
)

#: the paper's "no difference": within two points
DOUBT = 2.0
MakeRuns = Callable[[Context, Study, int, int], Repeated]


def _grid(ctx: Context, study: Study) -> list[Training]:
    return list_runs(fedavg(ctx, study, p, s) for p in published.CLASSES for s in published.ABSENT)


def _table_one(ctx: Context, study: Study) -> Table:
    rows = []
    for s in published.ABSENT:
        runs = [fedavg(ctx, study, p, s) for p in published.CLASSES]
        rows.append([s, "paper", *published.FEDAVG[study.name][s]])
        rows.append([s, "ours, end", *(mean_and_deviation(at_end(ctx, run)) for run in runs)])
        rows.append([s, "ours, best", *(mean_and_deviation(at_best(ctx, run)) for run in runs)])
    columns = ["s", "", *(f"p={p}" for p in published.CLASSES)]
    return make_table(
        f"Table 1, {study.name} (ours: {study.at(ctx).title}): test accuracy of FedAvg (%)", columns, rows
    )


def check_drop(ctx: Context, *, study: Study, absent: Sequence[int] = published.ABSENT) -> Iterator[Finding]:
    """Accuracy of FedAvg with none, some and most clients absent."""
    none, some, most = absent
    title = study.at(ctx).title

    def compared(p: int, few: int, many: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return at_end(ctx, fedavg(ctx, study, p, few)), at_end(ctx, fedavg(ctx, study, p, many))

    for p, few, many, name in (
        (1, none, some, "p = 1: none absent against some"),
        (1, some, most, "p = 1: some absent against most"),
        (2, none, most, "p = 2: none absent against most"),
    ):
        text = f"{title}: FedAvg's accuracy at the end, s = {few} minus s = {many}"
        yield ordered(name, *compared(p, few, many), text, by=DOUBT, scale=100, unit=" points")
    for p, few, many, why in (
        (2, none, some, "Table 1 has a rise of 0.4 points on MNIST"),
        (5, none, most, "0.7 points on MNIST, 3.9 on CIFAR-10"),
    ):
        text = f"p = {p}, s = {few} minus s = {many} ({why})"
        yield ordered(f"reading: {text[:5]}", *compared(p, few, many), text, scale=100, unit=" points", role="reading")
    held = coverage(ctx, fedavg(ctx, study, 2, most))
    yield Reading(
        f"Seeds draw the split. With p = 2 every class has two holders, and s = {most} loses a class only where both stay away: the classes of the "
        f"others cover {', '.join(f'{100 * share:.0f} %' for share in held)} of the test data, seed by seed, and intervals at p = 2 are as wide "
        "as this lottery. The paper seems to keep one split for all its repetitions."
    )
    yield _table_one(ctx, study)
    yield chosen(ctx, study)


def check_heterogeneity(ctx: Context, *, study: Study, most_heterogeneous: int = 1) -> Iterator[Finding]:
    """The drop from s = 0 to s = 4, by classes a client."""
    title = study.at(ctx).title

    def drop(p: int) -> NDArray[np.float64]:
        return at_end(ctx, fedavg(ctx, study, p, 0)) - at_end(ctx, fedavg(ctx, study, p, 4))

    drops = {p: drop(p) for p in published.CLASSES}
    for name, p, other in (("p = 1 against p = 2", most_heterogeneous, 2), ("p = 2 against p = 5", 2, 5)):
        yield ordered(
            name,
            drops[p],
            drops[other],
            f"{title}: drop of FedAvg from s = 0 to s = 4 with p = {p} minus that with p = {other}",
            scale=100,
            unit=" points",
        )
    paper = {
        p: a - b for p, a, b in zip(published.CLASSES, *(published.FEDAVG[study.name][s] for s in (0, 4)), strict=True)
    }
    limit = np.full(len(drops[10]), DOUBT / 100)
    negligible = ordered(
        "p = 10: negligible",
        limit,
        drops[10],
        f"{title}: two points minus the drop with p = 10 (two points is the paper's own mark; its drop is {paper[10]:.2f} points)",
        scale=100,
        unit=" points",
        role="printed" if _negligible(study) else "reading",
    )
    yield negligible
    if not _negligible(study):
        yield Reading(
            f"The text calls a drop of {paper[10]:.2f} points with p = 10 negligible, although two points is its own mark of a difference; "
            "this part does not decide."
        )
    yield make_table(
        f"drop from s = 0 to s = 4 (points), {study.name}",
        ["", *(f"p={p}" for p in published.CLASSES)],
        [
            ["paper", *(round(paper[p], 2) for p in published.CLASSES)],
            ["ours, end", *(mean_and_deviation(drops[p]) for p in published.CLASSES)],
        ],
    )


def _negligible(study: Study) -> bool:
    """Whether the paper's drop with all classes on every client is below its own mark."""
    full, short = (published.FEDAVG[study.name][s][0] for s in (0, 4))
    return full - short < DOUBT


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
        theirs = published.FEDAVG[study.name][s][-1]
        share = 100 * sum(few) / sum(published.TEST_IMAGES[study.name])
        yield Part(
            f"s = {s}: the paper's own number",
            theirs <= share,
            "count",
            f"{study.name}, p = 1, s = {s}: the paper has {theirs} %, and any {10 - s} classes have at least {share:.2f} % of the test images",
            margin=(share - theirs) / share,
        )
        rows.append(
            [
                s,
                theirs,
                mean_and_deviation(best),
                mean_and_deviation(end),
                mean_and_deviation(ceiling),
                mean_and_deviation(ceiling - end),
            ]
        )
    yield ordered(
        "reading: with all clients",
        at_end(ctx, fedavg(ctx, study, 1, 0)),
        at_end(ctx, fedavg(ctx, study, 1, 4)),
        f"{title}: FedAvg with every class there minus s = 4, at the same heterogeneity",
        scale=100,
        unit=" points",
        role="reading",
    )
    yield make_table(
        f"one class a client, {study.name}: accuracy and ceiling (%)",
        ["s", "paper", "ours, best", "ours, end", "ceiling", "ceiling minus end"],
        rows,
    )
    yield Reading(
        "Theorem 1's process hides samples of one class from the learner; with one class a client, clients that stay away do exactly that, "
        "so 1 - omega = s/M is lost with certainty. The paper does not spell the link out."
    )


def claims(study: Study) -> list[Claim]:
    """Return the claims on a data set."""
    first, data = published.FEDAVG[study.name][0], study.name
    drop = first[-1] - published.FEDAVG[data][4][-1]
    return [
        Claim(
            f"SAFARI-E1{study.suffix}",
            PAPER,
            "ordering",
            "Section 5, Table 1",
            f"On {data} FedAvg loses accuracy as more clients never take part and clients hold few classes: up to {drop:.2f} points.",
            partial(check_drop, study=study),
            (Fault("absence reversed", "p = 1: some absent against most", {"absent": published.ABSENT[::-1]}),),
            needs=lambda ctx: _grid(ctx, study),
        ),
        Claim(
            f"SAFARI-E2{study.suffix}",
            PAPER,
            "ordering",
            "Section 5, Table 1",
            f"On {data} the loss of FedAvg to absent clients grows as clients hold fewer classes"
            + ("; with all classes on every client it is negligible." if _negligible(study) else "."),
            partial(check_heterogeneity, study=study),
            (Fault("all classes in the place of one", "p = 1 against p = 2", {"most_heterogeneous": 10}),),
            needs=lambda ctx: _grid(ctx, study),
        ),
        Claim(
            f"SAFARI-E11{study.suffix}",
            PAPER,
            "ordering",
            "Section 5 (with Theorem 1)",
            f"On {data} with one class a client FedAvg shows the worst case of Theorem 1: it stays below the share of the test data whose "
            "classes the clients that take part hold.",
            partial(check_ceiling, study=study),
            (
                Fault("SAFARI, which sees every class", "s = 4: below the ceiling", {"method": safari}),
                Fault("FedAvg with all clients", "s = 4: below the ceiling", {"method": _everyone}),
            ),
            needs=lambda ctx: [
                *list_runs(fedavg(ctx, study, 1, s) for s in (0, 2, 4)),
                *list_runs(safari(ctx, study, 1, s) for s in (2, 4)),
            ],
        ),
    ]


def _everyone(ctx: Context, study: Study, p: int, s: int) -> Repeated:
    return fedavg(ctx, study, p, 0)
