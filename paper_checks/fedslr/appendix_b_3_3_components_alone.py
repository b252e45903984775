"""Appendix B.3.3: each component alone, Tables 7 and 8."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading, Role
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered_in_points
from paper_checks.fedslr import printed
from paper_checks.fedslr.appendix_b_3_2_sensitivity import accuracies
from paper_checks.fedslr.protocol import END, claim_experiment
from paper_checks.fedslr.runs import GKR, fedslr, final_accuracy, of, scale

CLAIMS: list[Claim] = []

# ---- Tables 7 and 8 --------------------------------------------------------------------------------------------------
PURE = 10.0  #: the paper's lam that leaves nothing of the global part
STARTS = {"copy": "p_0 = w_0", "zero": "p_0 = 0"}


def alone(ctx: Context, mu: float, component: str) -> Repeated:
    """Return runs whose global part vanishes in the first round."""
    return fedslr(ctx, lam=PURE, mu=mu, component=component)


def check_pure(ctx: Context, *, penalty: float | None = None) -> Iterator[Finding]:
    """Compare the personal component alone with the global one alone."""
    s = scale(ctx)
    best_global = final_accuracy(ctx, GKR)
    rows = []
    for component, text in STARTS.items():
        found = {mu: alone(ctx, mu, component).last(ctx, "personal_accuracy", END) for mu in s.pure}
        best = max(found.values(), key=lambda a: float(np.nanmean(a)))
        top = best_global if penalty is None else accuracies(ctx, fedslr(ctx, lam=penalty), "GKR")
        told = f"accuracy of GKR minus the best personal component alone, {text}"
        yield ordered_in_points(f"global above personal, {text}", top, best, told)
        small, large = s.pure[0], s.pure[-1]
        role: Role = "printed" if component == "copy" else "reading"
        told = f"accuracy of the personal component alone with mu = {small:g} minus mu = {large:g}, {text}"
        yield ordered_in_points(f"sparsity costs accuracy, {text}", found[small], found[large], told, role=role)
        rows += [[text, mu, printed.TABLE_7.get(mu), mean_and_deviation(a)] for mu, a in found.items()]
    yield make_table(
        f"Table 7 (CIFAR-100, Non-IID) and ours ({ctx.size} size)", ["start", "mu", "personal alone", "ours"], rows
    )
    ours = {lam: mean_and_deviation(accuracies(ctx, fedslr(ctx, lam=lam), "GKR")) for lam in s.lam}
    yield make_table(
        f"Table 8 (CIFAR-100, Non-IID) and ours ({ctx.size} size)",
        ["lam", "global alone", "ours"],
        [[lam, printed.TABLE_8.get(lam), ours.get(lam)] for lam in sorted({*printed.TABLE_8, *ours})],
    )
    yield Reading(
        "The paper does not say where components start. From zero, with the global part gone, all weights begin at a point where gradients of the "
        "hidden layers vanish, and clients barely learn; the public code starts at a copy of the first weights. Both are run; the second decides "
        "about mu."
    )
    yield Reading(
        f"Local training reaches {mean_and_deviation(of(ctx, 'Local').last(ctx, 'personal_accuracy', 0.1))} with the same data."
    )


CLAIMS += [
    claim_experiment(
        "FEDSLR-Q9",
        "Appendix B.3.3; Tables 7 and 8",
        (
            Clause("The personal component alone is less accurate than the global one alone,", ("global above",)),
            Clause("the more so the sparser it is.", ("sparsity costs accuracy",)),
        ),
        check_pure,
        (Fault("a global part that vanished", "global above personal, p_0 = w_0", {"penalty": PURE}),),
        lambda ctx: list_runs(
            [
                *(alone(ctx, mu, component) for mu in scale(ctx).pure for component in STARTS),
                *(fedslr(ctx, lam=lam) for lam in scale(ctx).lam),
                of(ctx, GKR),
                of(ctx, "Local"),
            ]
        ),
    ),
]
