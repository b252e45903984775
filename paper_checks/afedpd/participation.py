"""Participation ratios: dual drift (Fig. 1) and the sweep of Fig. 2(a)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Clause, Context, Fault, Finding, Reading, Role
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered
from paper_checks.afedpd.runs import (
    ACTIVE_DUALS,
    HARD_SPLIT,
    RunsByNumber,
    Swap,
    accuracy_entry,
    claim_on_runs,
    final_accuracy,
    final_loss,
    over_seeds,
    scale,
    training,
)


def counts(ctx: Context) -> tuple[int, ...]:
    """Clients a round. Of 50: 4, 10 and 20 %; of 100 at the paper's size its six ratios."""
    chosen: tuple[int, ...] = ctx.sized((2, 5, 10), (2, 5, 10), (5, 10, 20, 50, 80, 100))
    return chosen


def swept(ctx: Context) -> tuple[str, ...]:
    """Methods of Fig. 2(a), whose legend is not in the text; A-FedPD is the last."""
    return (*ctx.sized((), (), ("SCAFFOLD", "FedSpeed")), "FedAvg", "FedDyn", "A-FedPD")


def participation_runs(ctx: Context, labels: Sequence[str]) -> RunsByNumber:
    """Return runs of methods with each number of clients a round."""
    return {
        (label, count): over_seeds(ctx, training(ctx, label, HARD_SPLIT, participants=count))
        for label in labels
        for count in counts(ctx)
    }


def percent(ctx: Context, count: int) -> str:
    """Return a number of clients as a share of all."""
    return f"{100 * count / scale(ctx).clients:g} %"


# ---- Fig. 1 ------------------------------------------------------------------------------------------------------------


def drift_runs(ctx: Context) -> RunsByNumber:
    """FedADMM by equation (6) at every ratio."""
    return participation_runs(ctx, ("FedADMM",))


def forgotten_ratio(ctx: Context) -> RunsByNumber:
    """Return the runs of a sweep that forgets the ratio: the highest one in the place of the lowest, with other seeds."""
    one = training(ctx, "FedADMM", HARD_SPLIT, participants=counts(ctx)[-1])
    return {("FedADMM", counts(ctx)[0]): over_seeds(ctx, one, others=True)}


def inverse_step(ctx: Context) -> RunsByNumber:
    """Return runs at the lowest ratio with one over the step size in its place, 10 for 0.1."""
    one = training(ctx, "FedADMM", HARD_SPLIT, participants=counts(ctx)[0])
    return {
        ("FedADMM", counts(ctx)[0]): over_seeds(
            ctx, replace(one, settings={**one.settings, "lr": 1 / one.settings["lr"]})
        )
    }


def fluctuation(ctx: Context, group: Repeated) -> NDArray[np.float64]:
    """Mean change of the broadcast model's test accuracy from one measurement to the next, over all rounds; a seed an entry."""
    found = [np.nan if log.diverged else np.abs(np.diff(log["test_accuracy"])).mean() for log in group.logs(ctx)]
    return np.array(found)


def check_drift(ctx: Context, *, forgotten: bool = False) -> Iterator[Finding]:
    """Loss and fluctuation of the broadcast model from ratio to ratio; ``forgotten`` has the highest ratio at the lowest."""
    found, several = drift_runs(ctx) | (forgotten_ratio(ctx) if forgotten else {}), counts(ctx)

    def pair(few: int, more: int) -> str:
        return f"{percent(ctx, few)} against {percent(ctx, more)}"

    for few, more in zip(several, several[1:], strict=False):
        text = f"{HARD_SPLIT}, training loss of FedADMM after the last round, {pair(few, more)}"
        a, b = (final_loss(ctx, found["FedADMM", count], broadcast=True) for count in (few, more))
        yield ordered(f"loss: {pair(few, more)}", a, b, text, diverged="highest")
    ends = pair(several[0], several[-1])
    text = f"{HARD_SPLIT}, mean change of FedADMM's test accuracy from one measurement to the next, {ends}"
    a, b = (fluctuation(ctx, found["FedADMM", count]) for count in (several[0], several[-1]))
    yield ordered(f"fluctuation: {ends}", a, b, text, scale=100, unit=" points")
    losses = [mean_and_deviation(final_loss(ctx, found["FedADMM", c], broadcast=True), 3, 1) for c in several]
    yield make_table(
        "training loss of FedADMM's broadcast model after the last round", [percent(ctx, c) for c in several], [losses]
    )
    curves = {percent(ctx, count): found["FedADMM", count] for count in several}
    yield draw_curves(
        ctx, f"FedADMM by equation (6), {HARD_SPLIT}: test accuracy of the broadcast model", curves, "test_accuracy"
    )
    yield Reading(
        "Fig. 1 does not name its method; Appendix A.1 says that FedADMM is shown for dual drift, so it is equation (6), whose server "
        "averages active clients only. Part of what is seen is due to that average: with those of all clients (Wang et al.) the optimum "
        "is a fixed point, with it not (AFEDPD-D12). That it diverges is AFEDPD-Q1-DIVERGES."
    )


def check_divergence(ctx: Context, *, large: bool = False) -> Iterator[Finding]:
    """Whether training ends above the loss from which it started; ``large`` takes one over the step size for it."""
    low = counts(ctx)[0]
    group = (inverse_step(ctx) if large else drift_runs(ctx))["FedADMM", low]
    starts = np.array([log["value"][0] for log in group.logs(ctx)])
    ends = final_loss(ctx, group, broadcast=True)
    beyond = int(np.sum(~(ends <= starts)))
    text = (
        f"{HARD_SPLIT}, {percent(ctx, low)} of the clients, {beyond} of {len(starts)} runs end above the training loss that they "
        "started from, or leave all bounds; loss after the last round minus loss at the start"
    )
    yield ordered("divergence at the lowest ratio", np.where(np.isfinite(ends), ends, 1e9), starts, text)
    rows = [["first model", mean_and_deviation(starts, 3, 1)], ["after the last round", mean_and_deviation(ends, 3, 1)]]
    yield make_table("training loss of FedADMM's broadcast model", ("when", percent(ctx, low)), rows)
    yield Reading(
        "'Diverges' is read as a training loss above that of the first model. How far networks go depends on rho, K and the step size; on "
        "identical quadratics the mean square grows without bound below a threshold of rho (AFEDPD-D11)."
    )


# ---- Fig. 2(a) ---------------------------------------------------------------------------------------------------------


def sweep_runs(ctx: Context) -> RunsByNumber:
    """Return runs of Fig. 2(a)."""
    return participation_runs(ctx, swept(ctx))


def spread(of: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Largest minus smallest over the ratios, a seed an entry."""
    return np.asarray(np.max(of, axis=0) - np.min(of, axis=0))


def check_sweep(ctx: Context, *, swap: Swap | None = None) -> Iterator[Finding]:
    """How much accuracy and loss vary over the ratios."""
    found, several, labels = sweep_runs(ctx) | drift_runs(ctx), counts(ctx), swept(ctx)
    of = {label: [found[(swap or {}).get(label, label), count] for count in several] for label in labels}
    for name, read, by in (("", final_accuracy, 100.0), ("loss: ", final_loss, 1.0)):
        ours = spread([read(ctx, group) for group in of["A-FedPD"]])
        for label in labels[:-1]:
            what = "training loss" if name else "test accuracy"
            text = f"{HARD_SPLIT}, largest minus smallest {what} over the ratios, {label} minus A-FedPD"
            theirs = spread([read(ctx, group) for group in of[label]])
            part = f"{name}A-FedPD steadier than {label}"
            role: Role = "reading" if name else "printed"
            yield ordered(part, theirs, ours, text, scale=by, unit="" if name else " points", role=role)
    columns = ("method", *(percent(ctx, c) for c in several), "largest - smallest")
    rows = [
        [
            label,
            *(accuracy_entry(ctx, group) for group in of[label]),
            mean_and_deviation(spread([final_accuracy(ctx, group) for group in of[label]])),
        ]
        for label in labels
    ]
    yield make_table("test accuracy (%) by participation ratio", columns, rows)
    rows = [[label, *(mean_and_deviation(final_loss(ctx, group), 3, 1) for group in of[label])] for label in labels]
    yield make_table("training loss after the last round by participation ratio", columns[:-1], rows)
    yield draw_curves(
        ctx,
        f"Test accuracy, {percent(ctx, several[0])} of the clients, {HARD_SPLIT}",
        {label: of[label][0] for label in labels},
        "test_accuracy",
    )
    yield Reading(
        "'Steadier' is read as a smaller difference between the best and the worst ratio, at a fixed number of rounds; the paper's ratios "
        f"are 5 to 100 %, those here {percent(ctx, several[0])} to {percent(ctx, several[-1])}. Its 'best in 20 to 80 %' is not judged: "
        "only its own size has ratios above. Fig. 2(a) names no split; this is Dir-0.1."
    )


CLAIMS = [
    claim_on_runs(
        "AFEDPD-Q1-FIG1",
        "Sections 1 and 3.2, Fig. 1",
        (
            Clause("With fewer clients a round the loss of FedADMM (equation (6)) gets worse", ("loss: ",)),
            Clause("and its accuracy fluctuates more.", ("fluctuation: ",)),
        ),
        check_drift,
        drift_runs,
        Fault(
            "the ratio is forgotten: 20 % take part for 4 %, with other seeds",
            "fluctuation: 4 % against 20 %",
            {"forgotten": True},
            or_undecided=True,
        ),
        planted=forgotten_ratio,
    ),
    claim_on_runs(
        "AFEDPD-Q1-DIVERGES",
        "Sections 1 and 3.2, Fig. 1",
        (Clause("With few clients a round FedADMM (equation (6)) diverges.", ("divergence at the lowest ratio",)),),
        check_divergence,
        lambda ctx: {"lowest": drift_runs(ctx)["FedADMM", counts(ctx)[0]]},
        Fault(
            "1/lr in the place of lr, which does diverge",
            "divergence at the lowest ratio",
            {"large": True},
            holds=True,
        ),
        planted=inverse_step,
    ),
    claim_on_runs(
        "AFEDPD-Q7",
        "Section 5 (participation ratios), Fig. 2(a)",
        (
            Clause(
                "Over the participation ratios the accuracy of A-FedPD varies less than those of FedAvg and FedDyn.",
                ("A-FedPD steadier than FedAvg", "A-FedPD steadier than FedDyn"),
            ),
        ),
        check_sweep,
        sweep_runs,
        Fault(ACTIVE_DUALS[0], "A-FedPD steadier than FedDyn", {"swap": ACTIVE_DUALS[1]}),
        planted=drift_runs,
    ),
]
