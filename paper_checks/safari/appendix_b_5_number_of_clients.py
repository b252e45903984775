"""Appendix B.5: Tables 10 and 11, by clients a round."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import ordered
from paper_checks.safari import published
from paper_checks.safari.readouts import POINTS, Cell, at_best, compare_levels, exceeds, exceeds_by_more, is_alike
from paper_checks.safari.runs import CIFAR, MNIST, Study, claim_on, fedavg, safari

CLAIMS: list[Claim] = []

# ---- Tables 10 and 11 ------------------------------------------------------------------------------------------------
#: classes a client where clients are not alike
UNLIKE = (5, 2, 1)


def check_participants(ctx: Context, *, study: Study, exchanged: bool = False) -> Iterator[Finding]:
    """Accuracy of FedAvg with 4 clients absent, by clients a round; ``exchanged``: one of them for five, and five for one."""
    a = study.at(ctx)
    few, many = (5, 1) if exchanged else (1, 5)
    spread = published.BY_PARTICIPANTS[study.name]

    def theirs(name: str, p: int) -> float:
        k = published.CLASSES.index(p)
        return spread[5, name][k] - spread[1, name][k]

    pairs = {p: (fedavg(ctx, study, p, 4, few), fedavg(ctx, study, p, 4, many)) for p in published.CLASSES}
    for p in UNLIKE:
        text = f"{a.title}, s = 4: FedAvg with m = 1 minus m = 5 (the paper: {-theirs('FedAvg', p):+.2f})"
        yield from exceeds(ctx, f"p = {p}: m lowers the accuracy", *pairs[p], text)
    for p, other in zip(UNLIKE[1:], UNLIKE, strict=False):
        text = f"{a.title}, s = 4: loss of FedAvg from m = 1 to m = 5 at p = {p} minus that at p = {other}"
        yield from exceeds_by_more(ctx, f"p = {p} against p = {other}: more pronounced", pairs[p], pairs[other], text)
    for p in UNLIKE:
        text = f"{a.title}, s = 4: FedAvg with m = 5 minus m = 1 (the paper: {theirs('FedAvg', p):+.2f}), best round"
        one, five = (at_best(ctx, run) for run in pairs[p])
        yield ordered(f"reading: p = {p}: a small m does", five, one, text, role="reading", **POINTS)
    text = f"{a.title}, s = 4: m = 5 minus m = 1 (the paper: {theirs('FedAvg', 10):+.2f})"
    single, several = pairs[10]
    yield from is_alike(ctx, "reading: p = 10: no difference", several, single, text, role="reading")
    if a.tables:
        for p in (2, 1):
            loss, assisted = (
                at_best(ctx, run(ctx, study, p, 4, 5)) - at_best(ctx, run(ctx, study, p, 4, 1))
                for run in (fedavg, safari)
            )
            text = (
                f"{a.title}, s = 4: loss of FedAvg from m = 5 to m = 1 minus that of SAFARI "
                f"(the paper: {theirs('FedAvg', p):.2f} and {theirs('SAFARI', p):.2f})"
            )
            yield ordered(f"reading: p = {p}: it hurts SAFARI less", loss, assisted, text, role="reading", **POINTS)
    losses = ", ".join(f"{theirs('FedAvg', p):.2f}" for p in published.CLASSES)
    yield Reading(
        "The text says that m has a negative effect on accuracy, the more pronounced the less alike clients are; the paper's own table says the "
        f"opposite of the first: from m = 1 to m = 5 FedAvg gains, at p = 10, 5, 2, 1, {losses} points. Perhaps a small m was meant, which is a "
        "reading beside the parts; its effect does not grow with heterogeneity in the table of MNIST either."
    )
    cells = []
    for (m, name), values in spread.items():
        if m in a.teams and (a.tables or name == "FedAvg"):
            method = fedavg if name == "FedAvg" else safari
            cells += [
                Cell(f"{name}, m = {m}, p = {p}", published.pick(values, p), method(ctx, study, p, 4, m))
                for p in published.CLASSES
            ]
    yield from compare_levels(ctx, study, f"Table {10 if study is MNIST else 11}: by clients a round, s = 4", cells)


def _teams(ctx: Context, study: Study) -> Iterator[Repeated]:
    a = study.at(ctx)
    for p in published.CLASSES:
        for method in (fedavg, safari) if a.tables else (fedavg,):
            yield from (method(ctx, study, p, 4, m) for m in a.teams)


def claim_participants(study: Study) -> Claim:
    """More clients a round lower FedAvg's accuracy."""
    negative = Clause(
        f"On {study.name} the number of clients a round has a negative effect on the accuracy of FedAvg where clients are not alike,",
        tuple(f"p = {p}: m lowers the accuracy" for p in UNLIKE),
    )
    pronounced = Clause(
        "the more pronounced the less alike they are.",
        tuple(f"p = {p} against p = {q}: more pronounced" for p, q in zip(UNLIKE[1:], UNLIKE, strict=False)),
    )
    name, part = "one and five clients a round exchanged", "p = 2: m lowers the accuracy"
    return claim_on(
        study,
        f"SAFARI-E10{study.suffix}",
        f"Appendix B.5, Table {10 if study is MNIST else 11}",
        (negative, pronounced),
        partial(check_participants, study=study),
        (Fault(name, part, {"exchanged": True}, holds=True),),
        lambda ctx: _teams(ctx, study),
    )


CLAIMS += [claim_participants(study) for study in (MNIST, CIFAR)]
