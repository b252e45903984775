"""The paper's character recognition (FEMNIST, Figs. 3 to 5), at three sizes; every verdict names what stood in for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Claim, Context, Fault, Finding, Need, Picture, Reading, Table
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import alike, draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.fedpd.character_runs import (
    COUNTED_METHODS,
    FIGURE_3A,
    FIGURE_3B,
    FIGURES_4_5,
    chosen,
    counted,
    half,
    sample_gradients,
    scale,
    to_goal,
    trained,
)
from paper_checks.fedpd.common import PAPER

POINTS: dict[str, Any] = {"scale": 100, "unit": " (points)"}


def _needs(ctx: Context, runs: Iterable[Repeated], faults: Iterable[Repeated] = ()) -> list[Need]:
    """What a claim reads; runs of its faults alone only at laptop size, where faults are tried."""
    return list(list_runs([*runs, *(faults if ctx.size == "laptop" else ())]))


# ---- Fig. 3(a) -----------------------------------------------------------------------------------------------------


def check_ex7(ctx: Context, *, period: int | None = None) -> Iterator[Finding]:
    """Samples to a test accuracy: FedPD-VR, FedProx-VR, FedAvg-GD."""
    s = scale(ctx)
    yield chosen(ctx)
    groups = {name: counted(ctx, name, period) for name in COUNTED_METHODS}
    found = {name: to_goal(group, group.logs(ctx), s) for name, group in groups.items()}
    names = list(groups)
    for first, second in zip(names, names[1:], strict=False):
        (fewer, sooner), (more, later) = found[first], found[second]
        said = [
            f"{mean_and_deviation(a, 0, 1)} ({int(r.sum())} of {r.size} runs reach it)"
            for a, r in (found[first], found[second])
        ]
        part = ordered(
            f"{first} before {second}",
            more,
            fewer,
            f"{s.what}, two label shards a client: samples to {s.goal:.0%} test accuracy: {first} {said[0]}, {second} {said[1]}; difference",
        )
        # a run that ends before the goal needs more than it took: that can only widen what is seen on the other side
        known = sooner.all() if part.holds else later.all()
        yield part if known else replace(part, holds=None)
    yield make_table(
        "Fig. 3(a): at the end of the curves",
        [
            "method",
            "paper: accuracy",
            "paper: samples",
            "ours: accuracy",
            "ours: samples",
            f"ours: samples to {s.goal:.0%}",
        ],
        [
            [
                name,
                FIGURE_3A[name][0],
                FIGURE_3A[name][1],
                mean_and_deviation(groups[name].last(ctx, "test_accuracy"), 3, 1),
                float(sample_gradients(groups[name].trainings[0], groups[name].trainings[0].rounds, s)),
                mean_and_deviation(found[name][0], 0, 1) if found[name][1].all() else "not reached by all",
            ]
            for name in names
        ],
    )
    yield Reading(
        "Full gradients are counted in the rounds that take them; a minibatch counts at both points that its gradients are taken at."
    )
    yield _by_samples(ctx, groups)


def _by_samples(ctx: Context, groups: dict[str, Repeated]) -> Picture:
    series = []
    for name, group in groups.items():
        logs = group.logs(ctx)
        x = sample_gradients(group.trainings[0], logs[0]["round"], scale(ctx))
        y = np.mean([log["test_accuracy"] for log in logs], axis=0)
        series.append({"label": name, "x": x[1:].tolist(), "y": y[1:].tolist()})
    return Picture("test accuracy against samples", "sample gradients", "test accuracy", series, logx=True)


# ---- Fig. 3(b) -----------------------------------------------------------------------------------------------------


def _after(ctx: Context, group: Repeated, communications: NDArray[np.float64], one: float) -> NDArray[np.float64]:
    """Test accuracy of each seed at its first measurement after so many communications (``one``: floats up of one of them)."""
    found = []
    for log, count in zip(group.logs(ctx), communications, strict=True):
        round = log.first("floats_up", count * one)
        found.append(log.at("test_accuracy", int(round)) if np.isfinite(round) else float("nan"))
    return np.array(found)


def check_ex8(ctx: Context, *, skipping: str = "FedPD p = 0.5") -> Iterator[Finding]:
    """At equal communications, FedPD-SGD with p = 0.5 against p = 0 (Q = 20, batch 2)."""
    s = scale(ctx)
    plain, some = half(ctx, "FedPD"), half(ctx, skipping)
    one = plain.logs(ctx)[0]["floats_up"][-1] / s.half_rounds
    budget = np.array([log["floats_up"][-1] for log in some.logs(ctx)]) / one
    yield ordered(
        "test accuracy at equal communications",
        some.last(ctx, "test_accuracy"),
        _after(ctx, plain, budget, one),
        f"{s.what}; {_named(ctx, 'mild')}, {s.half_rounds} rounds of Q = 20, of which {mean_and_deviation(budget, 1, 1)} communicate: "
        "p = 0.5 minus p = 0",
        **POINTS,
    )
    rows = []
    for communications in FIGURE_3B["FedPD p = 0.5"]:
        share = budget * communications / max(FIGURE_3B["FedPD p = 0.5"])
        entry = [f"{communications}", *(FIGURE_3B[name].get(communications) for name in FIGURE_3B)]
        rows.append(
            [
                *entry,
                mean_and_deviation(share, 1, 1),
                *(mean_and_deviation(_after(ctx, g, share, one), 3, 1) for g in (plain, some)),
            ]
        )
    yield make_table(
        "Fig. 3(b): test accuracy by communications; ours at the same share of all",
        ["paper's", "paper: p = 0", "paper: p = 0.5", "ours", "ours: p = 0", "ours: p = 0.5"],
        rows,
    )
    yield draw_curves(
        ctx, "test accuracy", {"p = 0": plain, "p = 0.5": some}, "test_accuracy", by="floats", ylabel="test accuracy"
    )


# ---- Figs. 4 and 5 -------------------------------------------------------------------------------------------------


def _named(ctx: Context, split: str) -> str:
    return (
        "two label shards a client"
        if split == "hard"
        else "iid split"
        if ctx.size == "laptop"
        else "30 label shards a client"
    )


def _figures(ctx: Context, *names: str) -> Table:
    """Figs. 4 and 5: the paper's readings, and ours after the same share of the communications."""
    s = scale(ctx)
    rows: list[list[Any]] = []
    for name in names:
        group, paper = trained(ctx, name), FIGURES_4_5[name]
        often = group.trainings[0].settings.get("communicate_every", 1)
        ends = s.rounds // often
        marks = {100: s.rounds // 10, 250: s.rounds // 4, 500: s.rounds // 2, 990: s.rounds}
        for k, quantity in enumerate(("training loss", "training accuracy", "test loss", "test accuracy")):
            metric = {0: "value", 3: "test_accuracy"}.get(k)
            line: list[Any] = [name, quantity]
            for at, mark in marks.items():
                last = at == 990
                readings = [v for c, v in paper.items() if c == at or (c not in marks and abs(c - at) < 10)]
                line.append(readings[0][k] if readings else paper[max(paper)][k] if last else None)
                round = s.rounds if last else often * mark
                ours = metric is not None and (last or mark <= ends)
                line.append(mean_and_deviation(group.at(ctx, metric, round), 3, 1) if ours and metric else None)
            rows.append(line)
    columns = ["run", "quantity"]
    for label in ("T/10", "T/4", "T/2", "the end"):
        columns += [f"paper: {label}", f"ours: {label}"]
    return make_table(f"Figs. 4 and 5 by communications, T = 1000 in the paper and {s.rounds} here", columns, rows)


def check_ex9(ctx: Context, *, name: str = "FedAvg 0.001") -> Iterator[Finding]:
    """FedAvg with the paper's step against FedPD and FedProx."""
    s = scale(ctx)
    yield chosen(ctx)
    loss = {run: trained(ctx, run).last(ctx, "value") for run in (name, "FedPD", "FedProx")}
    where = f"{s.what}; {_named(ctx, 'mild')}, {s.rounds} rounds of Q = {s.steps}"
    for other in ("FedPD", "FedProx"):
        yield ordered(
            f"FedAvg slower than {other}",
            loss[name],
            loss[other],
            f"{where}: training loss FedAvg (0.001) minus {other} (0.01)",
        )
    yield ordered(
        "reading: equal steps",
        trained(ctx, "FedAvg 0.01").last(ctx, "value"),
        loss["FedPD"],
        f"{where}: with step 0.01 for both, training loss FedAvg minus FedPD (the paper found 0.01 unstable for FedAvg)",
        role="reading",
    )
    runs = ("FedAvg 0.001", "FedProx", "FedPD")
    yield _figures(ctx, *runs)
    groups = {run: trained(ctx, run) for run in (*runs, "FedAvg 0.01")}
    yield draw_curves(ctx, "training loss by round", groups, "value", ylabel="training loss", logy=True)


def check_ex10(ctx: Context, *, other: str = "FedPD") -> Iterator[Finding]:
    """FedProx beside FedPD with p = 0."""
    s = scale(ctx)
    for split, label, role in (("mild", "test accuracy", "printed"), ("hard", "reading: label shards", "reading")):
        a, b = (trained(ctx, name, split).last(ctx, "test_accuracy") for name in ("FedProx", other))
        yield alike(
            label,
            a,
            b,
            f"{s.what}; {_named(ctx, split)}, {s.rounds} rounds of Q = {s.steps}: FedProx minus FedPD; 'similar' is read as within five points",
            within=5,
            role="printed" if role == "printed" else "reading",
            **POINTS,
        )
    yield Reading("The paper's own curves end 2.4 points of test accuracy apart, FedPD above.")
    yield _figures(ctx, "FedProx", "FedPD")
    groups = {name: trained(ctx, name) for name in ("FedProx", "FedPD")}
    yield draw_curves(ctx, "test accuracy by round", groups, "test_accuracy", ylabel="test accuracy")


SKIPPING = ("FedPD", "FedPD every 2nd", "FedPD every 4th")


def check_ex11(ctx: Context, *, order: tuple[str, ...] = SKIPPING) -> Iterator[Finding]:
    """Final loss and accuracy as communication gets rarer, at equal rounds."""
    s = scale(ctx)
    where = f"{s.what}; {_named(ctx, 'mild')}, {s.rounds} rounds of Q = {s.steps}"
    for first, second in zip(order, order[1:], strict=False):
        often, rare = (trained(ctx, name) for name in (first, second))
        yield ordered(
            f"{second} against {first}",
            rare.last(ctx, "value"),
            often.last(ctx, "value"),
            f"{where}: final training loss, {second} minus {first}",
        )
        yield ordered(
            f"{second} against {first}: accuracy",
            rare.last(ctx, "test_accuracy"),
            often.last(ctx, "test_accuracy"),
            f"{where}: final test accuracy, {second} minus {first}; 'slightly lower' is read as by less than five points",
            by=-5,
            **POINTS,
        )
    yield Reading(
        "The figure's 'p = 0.25' is the communication rate 1/4, that is p = 0.75: its curve ends after T/4 communications."
    )
    yield _figures(ctx, *SKIPPING)
    groups = {name: trained(ctx, name) for name in SKIPPING}
    yield draw_curves(
        ctx, "training loss by communication", groups, "value", by="floats", ylabel="training loss", logy=True
    )


def check_ex12(ctx: Context, *, split: str = "mild") -> Iterator[Finding]:
    """Loss at equal communications."""
    s = scale(ctx)
    at = s.rounds // 4

    def loss(name: str, split: str, period: int) -> NDArray[np.float64]:
        """Training loss after ``at`` communications."""
        return trained(ctx, name, split).at(ctx, "value", period * at)

    where = f"{s.what}; {at} communications of Q = {s.steps}"
    plain, half_of = loss("FedPD", split, 1), loss("FedPD every 2nd", split, 2)
    yield ordered(
        "p = 0 against every 2nd",
        plain,
        half_of,
        f"{where}, {_named(ctx, split)}: training loss, p = 0 minus every 2nd",
    )
    rare = loss("FedPD every 4th", split, 4)
    yield ordered(
        "every 2nd against every 4th",
        half_of,
        rare,
        f"{where}, {_named(ctx, split)}: training loss, every 2nd minus every 4th",
    )
    yield ordered(
        "reading: strongly heterogeneous clients",
        loss("FedPD", "hard", 1),
        loss("FedPD every 2nd", "hard", 2),
        f"{where}, {_named(ctx, 'hard')}: training loss, p = 0 minus every 2nd: where it fails skipping does not pay, as Theorem 3's dependence "
        "on G suggests",
        role="reading",
    )
    yield Reading(
        "In the figure training accuracy after 248 to 250 communications is 0.891 with p = 0, 0.911 every 2nd, 0.925 every 4th."
    )
    yield _figures(ctx, *SKIPPING)
    groups = {f"{name}, label shards": trained(ctx, name, "hard") for name in SKIPPING[:2]}
    yield draw_curves(
        ctx,
        "training loss by communication",
        {name: trained(ctx, name) for name in SKIPPING} | groups,
        "value",
        by="floats",
        ylabel="training loss",
        logy=True,
    )


CLAIMS = [
    Claim(
        "FEDPD-EX7",
        PAPER,
        "ordering",
        "Appendix D, Fig. 3(a)",
        "On character recognition FedPD-VR needs fewer samples than FedProx-VR, which needs fewer than FedAvg-GD.",
        check_ex7,
        (Fault("full gradients every round", "FedPD-VR before FedProx-VR", {"period": 1}),),
        needs=lambda ctx: _needs(
            ctx, (counted(ctx, name) for name in COUNTED_METHODS), [counted(ctx, "FedPD-VR", period=1)]
        ),
        assumptions=(
            "full participation",
            "lam_i^0 = 0 (FedPD)",
            "FEMNIST is not at hand: the data of the size that is run stands in",
            "two label shards a client (laptop size)",
        ),
    ),
    Claim(
        "FEDPD-EX8",
        PAPER,
        "ordering",
        "Appendix D, Fig. 3(b)",
        "For the same number of communications FedPD-SGD with p = 0.5 is better than with p = 0.",
        check_ex8,
        (
            Fault(
                "FedAvg with its small step in the place of p = 0.5",
                "test accuracy at equal communications",
                {"skipping": "FedAvg 0.001"},
            ),
        ),
        needs=lambda ctx: _needs(
            ctx,
            (half(ctx, name) for name in ("FedPD", "FedPD p = 0.5")),
            [half(ctx, "FedAvg 0.001")],
        ),
        assumptions=(
            "full participation",
            "lam_i^0 = 0 (FedPD)",
            "FEMNIST is not at hand: the data of the size that is run stands in",
            "an iid split (laptop size)",
        ),
    ),
    Claim(
        "FEDPD-EX9",
        PAPER,
        "ordering",
        "Appendix D, Figs. 4 and 5",
        "FedAvg is slower than FedPD and FedProx.",
        check_ex9,
        (Fault("FedAvg with the others' step", "FedAvg slower than FedPD", {"name": "FedAvg 0.01"}),),
        needs=lambda ctx: _needs(
            ctx, (trained(ctx, name) for name in ("FedAvg 0.001", "FedAvg 0.01", "FedPD", "FedProx"))
        ),
        assumptions=(
            "full participation",
            "lam_i^0 = 0 (FedPD)",
            "FEMNIST is not at hand: the data of the size that is run stands in",
            "an iid split (laptop size)",
            "steps as in the paper: FedAvg 0.001, the others 0.01",
        ),
    ),
    Claim(
        "FEDPD-EX10",
        PAPER,
        "ordering",
        "Appendix D, Figs. 4 and 5",
        "FedProx performs like FedPD with p = 0.",
        check_ex10,
        (Fault("FedAvg in FedPD's place", "test accuracy", {"other": "FedAvg 0.001"}),),
        needs=lambda ctx: _needs(
            ctx,
            (trained(ctx, name, split) for name in ("FedProx", "FedPD") for split in ("mild", "hard")),
            [trained(ctx, "FedAvg 0.001")],
        ),
        assumptions=(
            "full participation",
            "lam_i^0 = 0 (FedPD)",
            "FEMNIST is not at hand: the data of the size that is run stands in",
            "an iid split (laptop size)",
            "equal steps",
        ),
    ),
    Claim(
        "FEDPD-EX11",
        PAPER,
        "ordering",
        "Appendix D, Figs. 4 and 5",
        "As FedPD communicates less often, the final accuracy falls slightly and the final loss rises.",
        check_ex11,
        (Fault("order reversed", "FedPD against FedPD every 4th", {"order": ("FedPD every 4th", "FedPD")}),),
        needs=lambda ctx: _needs(ctx, (trained(ctx, name) for name in SKIPPING)),
        assumptions=(
            "full participation",
            "lam_i^0 = 0 (FedPD)",
            "FEMNIST is not at hand: the data of the size that is run stands in",
            "an iid split (laptop size)",
            "communication in a fixed rhythm",
        ),
    ),
    Claim(
        "FEDPD-EX12",
        PAPER,
        "ordering",
        "Appendix D, Figs. 4 and 5",
        "At an equal number of communications FedPD with skipping is better.",
        check_ex12,
        (Fault("label shards", "p = 0 against every 2nd", {"split": "hard"}),),
        needs=lambda ctx: _needs(
            ctx, [*(trained(ctx, name) for name in SKIPPING), *(trained(ctx, name, "hard") for name in SKIPPING[:2])]
        ),
        assumptions=(
            "full participation",
            "lam_i^0 = 0 (FedPD)",
            "FEMNIST is not at hand: the data of the size that is run stands in",
            "an iid split (laptop size)",
            "communication in a fixed rhythm",
        ),
    ),
]
