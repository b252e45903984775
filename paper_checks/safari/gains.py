"""What SAFARI gains over FedAvg: Table 2 with the missing baseline, server set sizes (Tables 3, 4), seeds (Tables 8, 9): claims E3, E4, E9."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.chance import chance_of_deviation
from fedtheory.claims.claim import Claim, Context, Fault, Finding, Part, Reading, Table
from fedtheory.claims.experiments import Training, list_runs
from fedtheory.claims.orderings import alike, draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.safari import published
from paper_checks.safari.degradation import DOUBT, MakeRuns
from paper_checks.safari.runs import (
    FIVE_PASSES,
    MNIST,
    ONE_PASS,
    ONE_STEP,
    PAPER,
    Study,
    after_server,
    at_best,
    at_end,
    chosen,
    fedavg,
    safari,
    server_alone,
)

#: "small" deviations of the paper, in points: all of Tables 8 and 9 are below
LITTLE = 1.0
POINTS: dict[str, Any] = {"scale": 100, "unit": " points"}


def _grid(ctx: Context, study: Study) -> list[Training]:
    return list_runs(
        method(ctx, study, p, s) for method in (fedavg, safari) for p in published.CLASSES for s in published.ABSENT
    )


def check_gain(ctx: Context, *, study: Study, method: MakeRuns = safari) -> Iterator[Finding]:
    """Accuracy of SAFARI with q = 0.8 minus FedAvg's, by classes a client and clients absent."""
    title = study.at(ctx).title

    def gain(p: int, s: int, method: MakeRuns = method) -> NDArray[np.float64]:
        return at_end(ctx, method(ctx, study, p, s)) - at_end(ctx, fedavg(ctx, study, p, s))

    for p, s in ((1, 4), (1, 2), (2, 4)):
        a, b = (at_end(ctx, run(ctx, study, p, s)) for run in (method, fedavg))
        yield ordered(
            f"p = {p}, s = {s}: SAFARI gains",
            a,
            b,
            f"{title}: accuracy at the end, SAFARI minus FedAvg",
            by=DOUBT,
            **POINTS,
        )
    for name, more, less in (
        ("gain grows with absence", (1, 4), (1, 2)),
        ("gain grows with heterogeneity", (1, 4), (2, 4)),
    ):
        text = f"{title}: gain at (p, s) = {more} minus gain at {less}"
        yield ordered(name, gain(*more), gain(*less), text, **POINTS)
    for s in published.ABSENT:
        a, b = (at_end(ctx, run(ctx, study, 10, s)) for run in (method, fedavg))
        yield alike(f"p = 10, s = {s}: no difference", a, b, f"{title}: SAFARI minus FedAvg", within=DOUBT, **POINTS)
    for p, s in ((5, 4), (2, 2), (2, 0), (1, 0)):
        theirs = published.GAIN[study.name][s][published.CLASSES.index(p)]
        yield ordered(
            f"reading: p = {p}, s = {s}",
            gain(p, s, safari),
            0 * gain(p, s, safari),
            f"SAFARI minus FedAvg (the paper has {theirs if theirs is not None else 'less than 2'})",
            role="reading",
            **POINTS,
        )
    yield from _server_work(ctx, study)
    yield _table_two(ctx, study)
    yield chosen(ctx, study)


def _server_work(ctx: Context, study: Study) -> Iterator[Finding]:
    """The missing baseline, and what one server round does."""
    works = {"one step (Algorithm 1)": ONE_STEP, "one pass": ONE_PASS, "five passes": FIVE_PASSES}
    base = fedavg(ctx, study, 1, 4)
    rows: list[list[Any]] = [
        ["FedAvg", mean_and_deviation(at_end(ctx, base)), mean_and_deviation(at_best(ctx, base)), None]
    ]
    for label, work in works.items():
        run = safari(ctx, study, 1, 4, work=work)
        after = after_server(ctx, run)
        rows.append(
            [
                f"SAFARI, {label}",
                mean_and_deviation(at_end(ctx, run)),
                mean_and_deviation(at_best(ctx, run)),
                None if after is None else mean_and_deviation(after),
            ]
        )
        if work is not FIVE_PASSES:
            yield ordered(
                f"reading: a server round of {label}",
                at_end(ctx, run),
                at_end(ctx, base),
                "SAFARI minus FedAvg at p = 1, s = 4",
                role="reading",
                **POINTS,
            )
    for label, work in (("one pass", ONE_PASS), ("five passes", FIVE_PASSES)):
        alone, with_clients = server_alone(ctx, study, work=work), safari(ctx, study, 1, 4, work=work)
        rows.append(
            [
                f"server alone, {label}",
                mean_and_deviation(at_end(ctx, alone)),
                mean_and_deviation(at_best(ctx, alone)),
                None,
            ]
        )
        yield ordered(
            f"reading: clients add to the server alone, {label}",
            at_end(ctx, with_clients),
            at_end(ctx, alone),
            "SAFARI minus training on the server's data without any client, p = 1, s = 4: the paper has no such baseline, though "
            "Theorem 3 is about it",
            role="reading",
            **POINTS,
        )
    yield make_table(
        f"p = 1, s = 4, {study.at(ctx).title}: accuracy (%)", ["", "end", "best", "after server rounds"], rows
    )
    yield Reading(
        "Theorem 4 asks for eta_c K/eta_s = 2; with the paper's equal steps this ratio rho is the number of local steps. With one step a server "
        "round the limit of small steps is then within 1 - q rho/((1-q) + q rho) of FedAvg's, relatively (0.3 % at the inferred K = 94), so "
        "gains as in Table 2 point to server rounds of many steps. Accuracy rises in a server round and falls in client rounds, so it matters "
        "when it is read."
    )


def _table_two(ctx: Context, study: Study) -> Table:
    rows = []
    for s in published.ABSENT:
        pairs = [(safari(ctx, study, p, s), fedavg(ctx, study, p, s)) for p in published.CLASSES]
        rows.append([s, "paper", *(v if v is not None else "-" for v in published.GAIN[study.name][s])])
        for name, read in (("end", at_end), ("best", at_best)):
            rows.append([s, f"ours, {name}", *(mean_and_deviation(read(ctx, a) - read(ctx, b)) for a, b in pairs)])
    columns = ["s", "", *(f"p={p}" for p in published.CLASSES)]
    return make_table(
        f"Table 2, {study.name} (ours: {study.at(ctx).title}): gain of SAFARI over FedAvg (points)", columns, rows
    )


def check_server_size(ctx: Context, *, study: Study, reverse: bool = False) -> Iterator[Finding]:
    """Gain over FedAvg with 4 clients absent, by what the server holds."""
    a = study.at(ctx)
    sizes = a.servers[::-1] if reverse else a.servers

    def gain(p: int, server: int) -> NDArray[np.float64]:
        return at_end(ctx, safari(ctx, study, p, 4, server=server)) - at_end(ctx, fedavg(ctx, study, p, 4))

    small = sizes[0]
    yield ordered(
        "the smallest set helps",
        at_end(ctx, safari(ctx, study, 1, 4, server=small)),
        at_end(ctx, fedavg(ctx, study, 1, 4)),
        f"{a.title}: p = 1, s = 4, {small} samples on the server: SAFARI minus FedAvg",
        by=DOUBT,
        **POINTS,
    )
    for k, (less, more) in enumerate(zip(sizes, sizes[1:], strict=False), 1):
        text = f"{a.title}: p = 1, s = 4, accuracy with {more} samples minus {less}"
        yield ordered(f"p = 1: step {k} up", gain(1, more), gain(1, less), text, **POINTS)
    text = f"{a.title}: p = 2, s = 4, accuracy with {sizes[-1]} samples minus {small}"
    yield ordered("p = 2: the largest set against the smallest", gain(2, sizes[-1]), gain(2, small), text, **POINTS)
    alone = server_alone(ctx, study, server=small)
    yield ordered(
        "reading: clients add to the smallest set alone",
        at_end(ctx, safari(ctx, study, 1, 4, server=small)),
        at_end(ctx, alone),
        f"p = 1, s = 4, {small} samples: SAFARI minus the server alone",
        role="reading",
        **POINTS,
    )
    rows: list[list[Any]] = [
        ["paper", server, *(v if v is not None else "-" for v in values)]
        for server, values in published.GAIN_BY_SERVER[study.name].items()
    ]
    for server in a.servers:
        found = {p: gain(p, server) for p in a.by_server}
        rows.append(
            ["ours, end", server, *(mean_and_deviation(found[p]) if p in found else None for p in published.CLASSES)]
        )
    columns = ["", "server's samples", *(f"p={p}" for p in published.CLASSES)]
    number = 3 if study is MNIST else 4
    yield make_table(
        f"Table {number} (ours: {a.title}): gain of SAFARI over FedAvg, s = 4, q = 0.8 (points)", columns, rows
    )
    runs = {"FedAvg": fedavg(ctx, study, 1, 4)} | {
        f"SAFARI, {server} samples": safari(ctx, study, 1, 4, server=server) for server in a.servers
    }
    yield draw_curves(ctx, f"{a.title}: p = 1, s = 4, q = 0.8", runs, "test_accuracy", ylabel="test accuracy")


def check_seeds(ctx: Context, *, study: Study, better: MakeRuns = safari) -> Iterator[Finding]:
    """Deviations over seeds, and whether every seed has the methods in the same order."""
    title = study.at(ctx).title
    for s in (2, 4):
        a, b = at_best(ctx, better(ctx, study, 1, s)), at_best(ctx, fedavg(ctx, study, 1, s))
        worst = float((a - b).min())
        yield Part(
            f"s = {s}: the same order in every seed",
            worst > 0 if np.isfinite(worst) else None,
            "real data",
            f"{title}, p = 1, s = {s}: best accuracy of SAFARI minus FedAvg in the least favourable of {len(a)} seeds: {100 * worst:+.2f} points",
            margin=worst,
            data={"SAFARI": a.tolist(), "FedAvg": b.tolist()},
        )
    for name, method in (("FedAvg", fedavg), ("SAFARI", better)):
        repeated = [at_best(ctx, method(ctx, study, 10, s)) for s in published.ABSENT]
        widest = max(repeated, key=lambda accuracies: accuracies.std(ddof=1))
        deviation = 100 * float(widest.std(ddof=1))
        known = np.isfinite(repeated).all()
        chance = chance_of_deviation(100 * widest, LITTLE) if known else None
        if chance is not None and deviation >= LITTLE:  # one of several is enough to fail
            chance = replace(chance, value=min(1.0, len(repeated) * chance.value))
        yield Part(
            f"p = 10: {name} varies by less than a point",
            deviation < LITTLE if known else None,
            "real data",
            f"{title}: largest deviation of the best accuracy over seeds, s = 0, 2, 4: {deviation:.2f} points (all the paper's are below 1)",
            margin=1 - deviation / LITTLE,
            chance=chance,
        )
    yield Reading(
        "The paper repeats with other first models. Here a seed also draws the split, the classes of the clients that stay away, the server's "
        "data and all batches, so deviations at small p are those of which classes are missing. They are of best rounds: SAFARI's printed "
        "deviations (0.1 to 0.6) are far below what one round changes, so its accuracies cannot be of a fixed last round."
    )
    rows: list[list[Any]] = []
    for (s, name), values in published.REPEATED[study.name].items():
        runs = [(fedavg if name == "FedAvg" else safari)(ctx, study, p, s) for p in published.CLASSES]
        rows.append([s, name, "paper", *(f"{mean} +- {dev}" for mean, dev in values)])
        for label, read in (("end", at_end), ("best", at_best)):
            rows.append([s, name, f"ours, {label}", *(mean_and_deviation(read(ctx, run)) for run in runs)])
    columns = ["s", "method", "", *(f"p={p}" for p in published.CLASSES)]
    yield make_table(f"Table {8 if study is MNIST else 9} (ours: {title}): accuracy (%)", columns, rows)


def _server_needs(ctx: Context, study: Study) -> list[Training]:
    a = study.at(ctx)
    ps = {*a.by_server, 1, 2}
    return [
        *list_runs(fedavg(ctx, study, p, 4) for p in ps),
        *list_runs(safari(ctx, study, p, 4, server=server) for p in ps for server in a.servers),
        *list_runs([server_alone(ctx, study, server=a.servers[0]), server_alone(ctx, study, server=a.servers[-1])]),
    ]


def _gain_needs(ctx: Context, study: Study) -> list[Training]:
    return [
        *_grid(ctx, study),
        *list_runs(safari(ctx, study, 1, 4, work=work) for work in (ONE_STEP, ONE_PASS)),
        *list_runs(server_alone(ctx, study, work=work) for work in (ONE_PASS, FIVE_PASSES)),
    ]


def claims(study: Study) -> list[Claim]:
    """Return the claims on a data set."""
    data = study.name
    smallest, helped = next(iter(published.GAIN_BY_SERVER[data].items()))
    return [
        Claim(
            f"SAFARI-E3{study.suffix}",
            PAPER,
            "ordering",
            "Section 5, Table 2",
            f"On {data} SAFARI with q = 0.8 is clearly better than FedAvg where clients hold few classes and several never take part, by up "
            f"to {published.GAIN[data][4][-1]} points; with all classes on every client there is no difference beyond two points.",
            partial(check_gain, study=study),
            (
                Fault("FedAvg in SAFARI's place", "p = 1, s = 4: SAFARI gains", {"method": fedavg}),
                Fault("FedAvg in SAFARI's place", "gain grows with absence", {"method": fedavg}, holds=None),
            ),
            needs=lambda ctx: _gain_needs(ctx, study),
        ),
        Claim(
            f"SAFARI-E4{study.suffix}",
            PAPER,
            "ordering",
            f"Section 5, Table {3 if study is MNIST else 4}",
            f"On {data} a server set of {smallest} samples helps already ({helped[-1]} points at p = 1, s = 4), and the gain grows "
            "with the set.",
            partial(check_server_size, study=study),
            (Fault("sizes reversed", "p = 1: step 1 up", {"reverse": True}),),
            needs=lambda ctx: _server_needs(ctx, study),
        ),
        Claim(
            f"SAFARI-E9{study.suffix}",
            PAPER,
            "ordering",
            f"Appendix B.4, Table {8 if study is MNIST else 9}",
            f"On {data} repetitions vary little, and SAFARI is ahead of FedAvg in all of them where clients never take part.",
            partial(check_seeds, study=study),
            (Fault("FedAvg in SAFARI's place", "s = 4: the same order in every seed", {"better": fedavg}),),
            needs=lambda ctx: _grid(ctx, study),
        ),
    ]
