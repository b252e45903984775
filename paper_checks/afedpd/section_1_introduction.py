"""Section 1: dual drift in experiments (Figure 1), and what becomes of the errors of virtual dual steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading, Theorem, disproved
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.orderings import draw_curves, make_table, mean_and_deviation, ordered
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd.played import identity
from paper_checks.afedpd.rounds import REGION, ROUNDS
from paper_checks.afedpd.runs import HARD_SPLIT, RunsByNumber, claim_on_runs, final_loss, over_seeds, scale, training

CLAIMS: list[Claim] = []


# ---- Figure 1: loss and accuracy -------------------------------------------------------------------------------------
def counts(ctx: Context) -> tuple[int, ...]:
    """Clients a round. Of 50: 4, 10 and 20 %; of 100 at the paper's size its six ratios."""
    chosen: tuple[int, ...] = ctx.sized((2, 5, 10), (2, 5, 10), (5, 10, 20, 50, 80, 100))
    return chosen


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


def drift_runs(ctx: Context) -> RunsByNumber:
    """FedADMM by equation (6) at every ratio."""
    return participation_runs(ctx, ("FedADMM",))


def forgotten_ratio(ctx: Context) -> RunsByNumber:
    """Return the runs of a sweep that forgets the ratio: the highest one in the place of the lowest, with other seeds."""
    one = training(ctx, "FedADMM", HARD_SPLIT, participants=counts(ctx)[-1])
    return {("FedADMM", counts(ctx)[0]): over_seeds(ctx, one, others=True)}


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


CLAIMS += [
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
    )
]


# ---- Figure 1: divergence --------------------------------------------------------------------------------------------
def inverse_step(ctx: Context) -> RunsByNumber:
    """Return runs at the lowest ratio with one over the step size in its place, 10 for 0.1."""
    one = training(ctx, "FedADMM", HARD_SPLIT, participants=counts(ctx)[0])
    inverse = replace(one, settings={**one.settings, "lr": 1 / one.settings["lr"]})
    return {("FedADMM", counts(ctx)[0]): over_seeds(ctx, inverse)}


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


CLAIMS += [
    claim_on_runs(
        "AFEDPD-Q1-DIVERGES",
        "Sections 1 and 3.2, Fig. 1",
        (Clause("With few clients a round FedADMM (equation (6)) diverges.", ("divergence at the lowest ratio",)),),
        check_divergence,
        lambda ctx: {"lowest": drift_runs(ctx)["FedADMM", counts(ctx)[0]]},
        Fault(
            "1/lr in the place of lr, which does diverge", "divergence at the lowest ratio", {"large": True}, holds=True
        ),
        planted=inverse_step,
    )
]

# ---- Errors of virtual updates ---------------------------------------------------------------------------------------
ERRORS = Theorem(
    REGION,
    ("off[t] == 0", "error[t] -> 0 as t"),
    """
      step: claim 1                          by identity
      low:  0 <= error[t]                    by derivation
      high: error[t] <= rho**2*apart[t]      by derivation
      done: claim 2                          by squeeze low, high, consensus
    """,
    states=ROUNDS,
    rounds={"t": 0},
    quantities={
        "off": "norm2(lam_j_next - (lam_j + rho*(theta_j - theta)) - rho*(theta_bar_next - theta_j))",
        "error": "norm2(lam_j_next - (lam_j + rho*(theta_j - theta)))",
        "apart": "norm2(theta_bar_next - theta_j)",
    },
    given={"consensus": "apart[t] -> 0 as t"},
)


def errors_may_stay(ctx: Context) -> Iterator[Finding]:
    """One of the two clients (x -+ 1)^2/2 a round: the error of the absent one's virtual step is 2 rho/(1 + rho) in every round."""
    rho, theta = symbols("rho", positive=True), symbols("theta")
    returned = [(rho * theta + b) / (1 + rho) for b in (1, -1)]  # duals without a part of their own, AFEDPD-D4
    yield disproved(
        "the errors of every run are diminished",
        is_zero(rho * (returned[0] - returned[1]) - 2 * rho / (1 + rho)) and is_positive(2 * rho / (1 + rho)),
        "f_1, f_2 = (x -+ 1)^2/2, one client a round, exact solves: clients have no dual of their own (AFEDPD-D4), what they would return is 2/(1 + "
        "rho) apart in every round, and so the error is 2 rho/(1 + rho) for ever",
        role="reading",
    )


CLAIMS += [
    identity(
        "AFEDPD-S6",
        "Section 1",
        "As consensus is reached the error of a virtual dual step, of what the absent client's own step would be, is diminished: it is rho "
        "(thetabar^{t+1} - theta_j), theta_j the model that the client would return, and tends to 0 where that does.",
        ERRORS,
        ("rho*(theta_bar_next - theta_j)", "2*rho*(theta_bar_next - theta_j)"),
        sizes=(1, 2, 3),
        more=errors_may_stay,
        readings=[
            "Consensus is that of the models that all clients would return. The paper does not say that it is reached, and here nothing of it is "
            "claimed: with one client a round it need not be."
        ],
    )
]
