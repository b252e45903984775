"""Appendix B.4: Tables 8 and 9, repetitions that share a split and differ in the first model, clients and batches, as the paper's do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Part, Reading
from fedtheory.claims.chance import chance_of_deviation, chance_of_mean
from fedtheory.claims.experiments import Repeated
from paper_checks.safari import published
from paper_checks.safari.protocol import LITTLE
from paper_checks.safari.readouts import Cell, at_best, beside_server, compare_levels
from paper_checks.safari.runs import (
    CIFAR,
    FIRST_MODELS,
    MNIST,
    OTHER,
    Draws,
    MakeRuns,
    Study,
    claim_on,
    fedavg,
    safari,
    server_alone,
)

CLAIMS: list[Claim] = []

# ---- Tables 8 and 9 --------------------------------------------------------------------------------------------------
METHODS: dict[str, MakeRuns] = {"FedAvg": fedavg, "SAFARI": safari}
#: classes a client and clients absent, of what is repeated
REPEATED = ((10, 4), (1, 4), (1, 2))


def repeat(ctx: Context, study: Study, method: MakeRuns, p: int, s: int) -> Repeated:
    """Return runs on one split."""
    return method(ctx, study, p, s, draws=FIRST_MODELS)


def check_repetitions(
    ctx: Context, *, study: Study, better: MakeRuns = safari, split: MakeRuns | None = None
) -> Iterator[Finding]:
    """Whether every repetition has the methods in the same order, and deviations; ``split`` makes FedAvg's runs with one class a client."""
    title = study.at(ctx).title
    for s in (2, 4):
        a, b = (at_best(ctx, repeat(ctx, study, method, 1, s)) for method in (better, METHODS["FedAvg"]))
        worst = float((a - b).min())
        yield Part(
            f"s = {s}: the same order in every repetition",
            worst > 0 if np.isfinite(worst) else None,
            "real data",
            f"{title}, p = 1, s = {s}: best accuracy of SAFARI minus FedAvg in the least favourable of {len(a)} repetitions: "
            f"{100 * worst:+.2f} points",
            margin=worst,
            data={"SAFARI": a.tolist(), "FedAvg": b.tolist()},
            chance=chance_of_mean(a - b) if np.isfinite(worst) else None,
        )
    for p, s in REPEATED:
        for name, method in METHODS.items():
            run = repeat(ctx, study, method, p, s)
            if split is not None and (p, name) == (1, "FedAvg"):
                run = split(ctx, study, p, s)
            accuracies = 100 * at_best(ctx, run)
            known = np.isfinite(accuracies).all()
            deviation = float(accuracies.std(ddof=1))
            yield Part(
                f"varies little: {name}, p = {p}, s = {s}",
                deviation < LITTLE if known else None,
                "real data",
                f"{title}: deviation of the best accuracy over {len(accuracies)} first models, draws of clients and of batches: {deviation:.2f} "
                f"points, against {LITTLE:g}",
                margin=1 - deviation / LITTLE,
                chance=chance_of_deviation(accuracies, LITTLE) if known else None,
            )
    assisted = repeat(ctx, study, safari, 1, 4)
    yield from beside_server(ctx, study, assisted, f"{title}, p = 1, s = 4, one split", draws=FIRST_MODELS)
    cells = []
    for p, s in REPEATED:
        for name, method in METHODS.items():
            mean, deviation = published.REPEATED[study.name][s, name][published.CLASSES.index(p)]
            run = repeat(ctx, study, method, p, s)
            cells.append(
                Cell(f"{name}, p = {p}, s = {s}", mean, run, deviation=deviation, repeats=5 if study is MNIST else 3)
            )
    yield from compare_levels(ctx, study, f"Table {8 if study is MNIST else 9}", cells)
    yield Reading(
        "The paper says 'random initializations' and neither whether its repetitions share a split and the server's data nor from which law first "
        "models are drawn. Here they share both, and weights are uniform on +-1/sqrt(inputs) for softmax regression, a network's own otherwise; "
        "clients and batches are drawn anew. Where the split is drawn, too, deviations are those of which classes are missing."
    )


def _other_models(ctx: Context, study: Study, p: int, s: int, draws: Draws) -> Repeated:
    """FedAvg in the place of SAFARI, from other first models."""
    return fedavg(ctx, study, p, s, draws=replace(draws, further=OTHER))


def _needs(ctx: Context, study: Study) -> Iterator[Repeated]:
    yield server_alone(ctx, study, draws=FIRST_MODELS)
    for p, s in REPEATED:
        yield from (repeat(ctx, study, method, p, s) for method in METHODS.values())


def claim_repetitions(study: Study) -> Claim:
    """Repetitions vary little, and have the methods in one order."""
    text = (
        Clause(
            f"On {study.name} repetitions with other first models vary by less than a point, with four of ten clients absent and all classes or one "
            "on every client, and with two absent and one class,",
            tuple(f"varies little: {name}, p = {p}, s = {s}" for p, s in REPEATED for name in METHODS),
        ),
        Clause(
            "and SAFARI is ahead of FedAvg in all of them where clients hold one class and some never take part.",
            ("s = 2: the same order", "s = 4: the same order"),
        ),
    )
    name, part = "FedAvg from other first models in SAFARI's place", "s = 4: the same order in every repetition"
    return claim_on(
        study,
        f"SAFARI-E9{study.suffix}",
        f"Appendix B.4, Table {8 if study is MNIST else 9}",
        text,
        partial(check_repetitions, study=study),
        (
            Fault(name, part, {"better": _other_models}),
            Fault("the split drawn as well", "varies little: FedAvg, p = 1, s = 4", {"split": fedavg}),
        ),
        lambda ctx: _needs(ctx, study),
    )


CLAIMS += [claim_repetitions(study) for study in (MNIST, CIFAR)]
