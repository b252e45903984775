"""Appendix D: character recognition (FEMNIST, Figures 3 to 5) at three sizes; every verdict names what stood in for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Need, Picture, Reading, Table
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import alike, draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.fedpd import character_runs as runs
from paper_checks.fedpd.notation import checked
from paper_checks.fedpd.protocol import POINTS_ALIKE, PROTOCOL

CLAIMS: list[Claim] = []
POINTS: dict[str, Any] = {"scale": 100, "unit": " (points)"}
SKIPPING = ("FedPD", "FedPD every 2nd", "FedPD every 4th")
TUNED = ("FedAvg", "FedProx", "FedPD")
Runs = Callable[[Context], Iterable[Repeated]]


def ordering_of_characters(
    id: str,
    figure: str,
    clauses: tuple[Clause, ...],
    check: Any,
    fault: Fault,
    reads: Runs,
    *assumed: str,
    tunes: tuple[str, ...] = (),
) -> Claim:
    """An ordering of runs; those that its fault alone reads are made when it is planted."""

    def needs(ctx: Context) -> list[Need]:
        return [*list_runs(reads(ctx)), *map(runs.TunedRuns, tunes)]

    common = ("full participation", "lam_i^0 = 0 (FedPD)", "FEMNIST is not at hand: the data that is named stands in")
    return checked(
        id,
        "ordering",
        f"Appendix D, {figure}",
        clauses,
        check,
        fault,
        assumes=(*common, *assumed),
        needs=needs,
        setting=runs.setting,
        protocol=PROTOCOL,
    )


def _trained(*names: str, splits: tuple[str, ...] = ("mild",)) -> Runs:
    return lambda ctx: (runs.trained(ctx, name, split) for name in names for split in splits)


def _mistaken(name: str, part: str) -> Fault:
    return Fault(name, part, {"mistake": name}, or_undecided=True)


# ---- Figure 3 --------------------------------------------------------------------------------------------------------
def check_ex7(ctx: Context, *, period: int | None = None) -> Iterator[Finding]:
    """Samples to a test accuracy: FedPD-VR, FedProx-VR, FedAvg-GD."""
    s = runs.scale(ctx)
    yield runs.chosen(ctx)
    groups = {name: runs.counted(ctx, name, period) for name in runs.COUNTED_METHODS}
    found = {name: runs.to_goal(group, group.logs(ctx), s) for name, group in groups.items()}
    names = list(groups)
    for first, second in zip(names, names[1:], strict=False):
        (fewer, sooner), (more, later) = found[first], found[second]
        said = ", ".join(
            f"{name} {mean_and_deviation(a, 0, 1)} ({int(r.sum())} of {r.size} runs reach it)"
            for name, (a, r) in ((first, found[first]), (second, found[second]))
        )
        where = f"{s.what}, two label shards a client: samples to {s.goal:.0%} test accuracy"
        part = ordered(f"{first} before {second}", more, fewer, f"{where}: {said}; difference")
        # a run that ends before the goal needs more than it took: that can only widen what is seen on the other side
        known = sooner.all() if part.holds else later.all()
        yield part if known else replace(part, holds=None)
    columns = ["paper: accuracy", "paper: samples", "ours: accuracy", "ours: samples"]
    yield make_table(
        "Fig. 3(a): at the end of the curves",
        ["method", *columns, f"ours: samples to {s.goal:.0%}"],
        [
            [
                name,
                *runs.FIGURE_3A[name],
                mean_and_deviation(group.last(ctx, "test_accuracy"), 3, 1),
                float(runs.sample_gradients(group.trainings[0], group.trainings[0].rounds, s)),
                mean_and_deviation(found[name][0], 0, 1) if found[name][1].all() else "not reached by all",
            ]
            for name, group in groups.items()
        ],
    )
    yield Reading(
        "Full gradients are counted in the rounds that take them; a minibatch counts at both points that its gradients are taken at."
    )
    series = []
    for name, group in groups.items():
        logs = group.logs(ctx)
        x = runs.sample_gradients(group.trainings[0], logs[0]["round"], s)
        series.append(repeat_curve(name, x[1:], [log["test_accuracy"][1:] for log in logs]))
    yield Picture("test accuracy against samples", "sample gradients", "test accuracy", series, logx=True)


CLAIMS += [
    ordering_of_characters(
        "FEDPD-EX7",
        "Fig. 3(a)",
        (
            Clause(
                "On character recognition FedPD-VR needs fewer samples than FedProx-VR,", ("FedPD-VR before FedProx",)
            ),
            Clause("which needs fewer than FedAvg-GD.", ("FedProx-VR before FedAvg",)),
        ),
        check_ex7,
        Fault("full gradients every round", "FedPD-VR before FedProx-VR", {"period": 1}),
        lambda ctx: (runs.counted(ctx, name) for name in runs.COUNTED_METHODS),
        "two label shards a client",
    )
]


def _after(ctx: Context, group: Repeated, communications: NDArray[np.float64], one: float) -> NDArray[np.float64]:
    """Test accuracy of each seed at its first measurement after so many communications (``one``: floats up of one of them)."""
    found = []
    for log, count in zip(group.logs(ctx), communications, strict=True):
        round = log.first("floats_up", count * one)
        found.append(log.at("test_accuracy", int(round)) if np.isfinite(round) else float("nan"))
    return np.array(found)


def check_ex8(ctx: Context, *, mistake: str = "") -> Iterator[Finding]:
    """At equal communications, FedPD-SGD with p = 0.5 against p = 0 (Q = 20, batch 2)."""
    s = runs.scale(ctx)
    plain, some = runs.half(ctx, "FedPD"), runs.half(ctx, "FedPD p = 0.5").mistaken(mistake)
    one = plain.logs(ctx)[0]["floats_up"][-1] / s.half_rounds
    budget = np.array([log["floats_up"][-1] for log in some.logs(ctx)]) / one
    yield ordered(
        "test accuracy at equal communications",
        some.last(ctx, "test_accuracy"),
        _after(ctx, plain, budget, one),
        f"{s.what}; {runs.named(ctx, 'mild')}, {s.half_rounds} rounds of Q = 20, of which {mean_and_deviation(budget, 1, 1)} communicate: "
        "p = 0.5 minus p = 0",
        **POINTS,
    )
    rows = []
    for communications in runs.FIGURE_3B["FedPD p = 0.5"]:
        share = budget * communications / max(runs.FIGURE_3B["FedPD p = 0.5"])
        paper = [readings.get(communications) for readings in runs.FIGURE_3B.values()]
        ours = [mean_and_deviation(_after(ctx, group, share, one), 3, 1) for group in (plain, some)]
        rows.append([f"{communications}", *paper, mean_and_deviation(share, 1, 1), *ours])
    yield make_table(
        "Fig. 3(b): test accuracy by communications; ours at the same share of all",
        ["paper's", "paper: p = 0", "paper: p = 0.5", "ours", "ours: p = 0", "ours: p = 0.5"],
        rows,
    )
    curves = {"p = 0": plain, "p = 0.5": some}
    yield draw_curves(ctx, "test accuracy", curves, "test_accuracy", by="floats", ylabel="test accuracy")


CLAIMS += [
    ordering_of_characters(
        "FEDPD-EX8",
        "Fig. 3(b)",
        (
            Clause(
                "For the same number of communications FedPD-SGD with p = 0.5 is better than with p = 0.",
                ("test accuracy at equal communications",),
            ),
        ),
        check_ex8,
        _mistaken("sign of the dual sent", "test accuracy at equal communications"),
        lambda ctx: (runs.half(ctx, name) for name in ("FedPD", "FedPD p = 0.5")),
    )
]


# ---- Figures 4 and 5 -------------------------------------------------------------------------------------------------
def _where(ctx: Context, split: str = "mild") -> str:
    s = runs.scale(ctx)
    return f"{s.what}; {runs.named(ctx, split)}, {s.rounds} rounds of Q = {s.steps}"


def _figures(ctx: Context, *names: str) -> Table:
    """Figs. 4 and 5: the paper's readings, and ours after the same share of the communications."""
    s = runs.scale(ctx)
    rows: list[list[Any]] = []
    for name in names:
        group, paper = runs.trained(ctx, name), runs.FIGURES_4_5[name]
        often = group.trainings[0].settings.get("communicate_every", 1)
        marks = {100: s.rounds // 10, 250: s.rounds // 4, 500: s.rounds // 2, 990: s.rounds}
        for k, quantity in enumerate(("training loss", "training accuracy", "test loss", "test accuracy")):
            metric = {0: "value", 3: "test_accuracy"}.get(k)
            line: list[Any] = [name, quantity]
            for at, mark in marks.items():
                last = at == 990
                readings = [v for c, v in paper.items() if c == at or (c not in marks and abs(c - at) < 10)]
                line.append(readings[0][k] if readings else paper[max(paper)][k] if last else None)
                seen = metric is not None and (last or often * mark <= s.rounds)
                ours = group.at(ctx, metric, s.rounds if last else often * mark) if seen and metric else None
                line.append(None if ours is None else mean_and_deviation(ours, 3, 1))
            rows.append(line)
    columns = [f"{whose}: {label}" for label in ("T/10", "T/4", "T/2", "the end") for whose in ("paper", "ours")]
    title = f"Figs. 4 and 5 by communications, T = 1000 in the paper and {s.rounds} here"
    return make_table(title, ["run", "quantity", *columns], rows)


def check_ex9(ctx: Context, *, own: str = "FedAvg 0.001") -> Iterator[Finding]:
    """FedAvg against FedPD and FedProx with the steps that the figures have; with the step that is best for each as a reading."""
    yield runs.chosen(ctx)
    steps = {name: runs.tuned(ctx, name) for name in TUNED}
    tuned = {name: runs.trained(ctx, name, lr=steps[name]) for name in TUNED}
    slower = runs.trained(ctx, own).last(ctx, "value")
    for other in ("FedPD", "FedProx"):
        text = f"{_where(ctx)}: with the figures' steps, training loss FedAvg (0.001) minus {other} (0.01)"
        faster = runs.trained(ctx, other).last(ctx, "value")
        yield ordered(f"FedAvg slower than {other}", slower, faster, text, diverged="highest")
        a, b = (tuned[name].last(ctx, "value") for name in ("FedAvg", other))
        text = f"{_where(ctx)}: training loss FedAvg (step {steps['FedAvg']:g}) minus {other} ({steps[other]:g})"
        yield ordered(f"reading: each with its best step, {other}", a, b, text, role="reading", diverged="highest")
    yield Reading(
        "The figures have the steps 0.001, 0.01 and 0.01; the text says that FedAvg with 0.01 was tried, too, and became unstable, which is not "
        "seen here."
    )
    yield _figures(ctx, "FedAvg 0.001", "FedProx", "FedPD")
    groups = {name: runs.trained(ctx, name) for name in ("FedAvg 0.001", "FedProx", "FedPD")}
    yield draw_curves(ctx, "training loss by round", groups, "value", ylabel="training loss", logy=True)


CLAIMS += [
    ordering_of_characters(
        "FEDPD-EX9",
        "Figs. 4 and 5",
        (
            Clause("FedAvg is slower than FedPD", ("FedAvg slower than FedPD",)),
            Clause("and FedProx.", ("FedAvg slower than FedProx",)),
        ),
        check_ex9,
        Fault("FedAvg with the others' step", "FedAvg slower than FedPD", {"own": "FedAvg 0.01"}),
        _trained("FedAvg 0.001", "FedAvg 0.01", "FedPD", "FedProx"),
        "the steps of the figures: 0.001 for FedAvg, 0.01 for the others",
        tunes=TUNED,
    )
]


def check_ex10(ctx: Context, *, mistake: str = "") -> Iterator[Finding]:
    """FedProx beside FedPD with p = 0."""
    for split in ("mild", "hard"):
        a = runs.trained(ctx, "FedProx", split).last(ctx, "test_accuracy")
        b = runs.trained(ctx, "FedPD", split).mistaken(mistake).last(ctx, "test_accuracy")
        text = f"{_where(ctx, split)}: FedProx minus FedPD"
        if split == "mild":
            yield alike("test accuracy", a, b, text, within=POINTS_ALIKE, **POINTS)
        else:
            yield alike("reading: two label shards", a, b, text, within=POINTS_ALIKE, role="reading", **POINTS)
    yield Reading("The paper's own curves end 2.4 points of test accuracy apart, FedPD above.")
    yield _figures(ctx, "FedProx", "FedPD")
    groups = {name: runs.trained(ctx, name) for name in ("FedProx", "FedPD")}
    yield draw_curves(ctx, "test accuracy by round", groups, "test_accuracy", ylabel="test accuracy")


CLAIMS += [
    ordering_of_characters(
        "FEDPD-EX10",
        "Figs. 4 and 5",
        (Clause("FedProx performs like FedPD with p = 0.", ("test accuracy",)),),
        check_ex10,
        _mistaken("sign of the dual sent", "test accuracy"),
        _trained("FedProx", "FedPD", splits=("mild", "hard")),
        "equal steps",
    )
]


def _loss_by_communication(ctx: Context, groups: dict[str, Repeated]) -> Picture:
    title = "training loss by communication"
    return draw_curves(ctx, title, groups, "value", by="floats", ylabel="training loss", logy=True)


def check_ex11(ctx: Context, *, others: bool = False) -> Iterator[Finding]:
    """Final loss and accuracy as communication gets rarer, at equal rounds."""
    groups = {name: runs.trained(ctx, name) for name in SKIPPING}
    if others:  # skipping that has no effect: FedPD with other seeds
        groups[SKIPPING[1]] = runs.trained(ctx, "FedPD", seeds=PROTOCOL.judged(replace(ctx, seed=ctx.seed + 1)))
    for often, rare in zip(SKIPPING, SKIPPING[1:], strict=False):
        name, text = f"{rare} against {often}", f"{_where(ctx)}: final training loss, {rare} minus {often}"
        yield ordered(name, groups[rare].last(ctx, "value"), groups[often].last(ctx, "value"), text, diverged="highest")
        a, b = (groups[run].last(ctx, "test_accuracy") for run in (rare, often))
        text = f"{_where(ctx)}: final test accuracy, {often} minus {rare}"
        yield ordered(f"accuracy: {name}", b, a, text, **POINTS)
        yield ordered(f"slightly: {name}", a, b, f"{text}, turned round", by=-POINTS_ALIKE, **POINTS)
    yield Reading(
        "The figure's 'p = 0.25' is the communication rate 1/4, that is p = 0.75: its curve ends after T/4 communications."
    )
    yield _figures(ctx, *SKIPPING)
    yield _loss_by_communication(ctx, groups)


CLAIMS += [
    ordering_of_characters(
        "FEDPD-EX11",
        "Figs. 4 and 5",
        (
            Clause("As FedPD communicates less often, the final accuracy falls", ("accuracy: ",)),
            Clause("slightly", ("slightly: ",)),
            Clause("and the final loss rises.", tuple(f"{b} against {a}" for a, b in pairwise(SKIPPING))),
        ),
        check_ex11,
        Fault(
            "skipping without effect: FedPD with other seeds",
            f"{SKIPPING[1]} against {SKIPPING[0]}",
            {"others": True},
            or_undecided=True,
        ),
        _trained(*SKIPPING),
        "communication in a fixed rhythm",
    )
]


def check_ex12(ctx: Context, *, mistake: str = "") -> Iterator[Finding]:
    """Loss at equal communications."""
    s = runs.scale(ctx)
    at = s.rounds // 4

    def loss(period: int, split: str) -> NDArray[np.float64]:
        """Training loss after ``at`` communications."""
        name = {1: "FedPD", 2: "FedPD every 2nd", 4: "FedPD every 4th"}[period]
        return runs.trained(ctx, name, split).mistaken(mistake if period > 1 else "").at(ctx, "value", period * at)

    def where(split: str) -> str:
        return f"{s.what}; {at} communications of Q = {s.steps}, {runs.named(ctx, split)}: training loss"

    plain, second = loss(1, "mild"), loss(2, "mild")
    text = f"{where('mild')}, p = 0 minus every 2nd"
    yield ordered("p = 0 against every 2nd", plain, second, text, diverged="highest")
    text = f"{where('mild')}, every 2nd minus every 4th"
    yield ordered("every 2nd against every 4th", second, loss(4, "mild"), text, diverged="highest")
    text = f"{where('hard')}, p = 0 minus every 2nd: where it fails skipping does not pay, as Theorem 3's dependence on G suggests"
    yield ordered("reading: strongly heterogeneous clients", loss(1, "hard"), loss(2, "hard"), text, role="reading")
    yield Reading(
        "In the figure training accuracy after 248 to 250 communications is 0.891 with p = 0, 0.911 every 2nd, 0.925 every 4th."
    )
    yield _figures(ctx, *SKIPPING)
    hard = {f"{name}, label shards": runs.trained(ctx, name, "hard") for name in SKIPPING[:2]}
    yield _loss_by_communication(ctx, {name: runs.trained(ctx, name) for name in SKIPPING} | hard)


CLAIMS += [
    ordering_of_characters(
        "FEDPD-EX12",
        "Figs. 4 and 5",
        (
            Clause(
                "At an equal number of communications FedPD with skipping is better.",
                ("p = 0 against every 2nd", "every 2nd against every 4th"),
            ),
        ),
        check_ex12,
        _mistaken("sign of the dual sent", "p = 0 against every 2nd"),
        lambda ctx: [*_trained(*SKIPPING)(ctx), *_trained(*SKIPPING[:2], splits=("hard",))(ctx)],
        "communication in a fixed rhythm",
    )
]
