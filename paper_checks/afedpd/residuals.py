"""Fig. 7: primal and dual residuals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Claim, Context, Fault, Finding, Picture, Reading
from fedtheory.claims.experiments import Repeated, list_runs
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered
from paper_checks.afedpd.runs import PAPER, grid, residual_ratio

PRIMAL = ("FedAvg", "SCAFFOLD")
DUAL = ("FedDyn", "FedSpeed", "A-FedPD", "A-FedPDSAM")
LATE = 0.2


def residual_runs(ctx: Context) -> dict[tuple[str, str], Repeated]:
    """Fig. 7 does not name its split; the two ends."""
    return grid(ctx, (*PRIMAL, *DUAL), ("IID", "Dir-0.1"))


def late(ctx: Context, group: Repeated) -> list[NDArray[np.float64]]:
    """Return each seed's ratios over the last fifth of the measurements."""
    ratios = [residual_ratio(log) for log in group.logs(ctx)]
    return [ratio[-max(2, round(LATE * len(ratio))) :] for ratio in ratios]


def check_residuals(ctx: Context, *, swap: Mapping[str, str] | None = None) -> Iterator[Finding]:
    """Compare the late ratio of primal to dual residuals of averaging methods with that of A-FedPD."""
    found = residual_runs(ctx)

    def ratio(label: str, split: str) -> NDArray[np.float64]:
        return np.array([part.mean() for part in late(ctx, found[(swap or {}).get(label, label), split])])

    def spread(label: str, split: str) -> NDArray[np.float64]:
        return np.array([part.std() / part.mean() for part in late(ctx, found[(swap or {}).get(label, label), split])])

    splits = [*dict.fromkeys(split for _, split in found)]
    for split in splits:
        for ours in ("A-FedPD", "A-FedPDSAM"):
            for label in PRIMAL:
                text = f"{split}, primal over dual residual in the last fifth of the rounds, {label} minus {ours}"
                yield ordered(f"{label} above {ours}, {split}", ratio(label, split), ratio(ours, split), text)
            for label in ("FedDyn", "FedSpeed"):
                text = f"{split}, primal over dual residual, {label} minus {ours}"
                yield ordered(
                    f"{label} above {ours}, {split}", ratio(label, split), ratio(ours, split), text, role="reading"
                )
            text = f"{split}, relative fluctuation of the ratio, FedAvg minus {ours}"
            yield ordered(
                f"{ours} steadier than FedAvg, {split}",
                spread("FedAvg", split),
                spread(ours, split),
                text,
                role="reading",
            )
    rows = [
        [
            label,
            *(
                mean_and_deviation(part, 3, 1)
                for split in splits
                for part in (ratio(label, split), spread(label, split))
            ),
        ]
        for label in (*PRIMAL, *DUAL)
    ]
    columns = [f"{what}, {split}" for split in splits for what in ("ratio", "relative fluctuation")]
    yield make_table("primal over dual residual, last fifth of the rounds", ["method", *columns], rows)
    yield Reading(
        "The primal residual is the mean distance of the models that came in from the new broadcast model, the dual residual the length of "
        "its step without the factor rho, which methods without a penalty do not have. 'Too small dual residuals' of averaging methods is "
        "read as a larger ratio than A-FedPD's; Fig. 7 has no numbers, and says neither its split nor what clients that were away count."
    )
    series = [
        {
            "label": label,
            "x": found[label, splits[-1]].logs(ctx)[0]["round"][1:].tolist(),
            "y": np.mean([residual_ratio(log) for log in found[label, splits[-1]].logs(ctx)], axis=0).tolist(),
        }
        for label in (*PRIMAL, *DUAL)
    ]
    yield Picture(f"Primal over dual residual, {splits[-1]}", "communication rounds", "ratio", series, logy=True)


CLAIMS = [
    Claim(
        "AFEDPD-Q5",
        PAPER,
        "ordering",
        "Appendix A.4.2, Fig. 7",
        "A-FedPD and A-FedPDSAM keep a lower ratio of primal to dual residuals than FedAvg and SCAFFOLD, whose dual residuals are too small.",
        check_residuals,
        (
            Fault(
                "FedAvg in A-FedPD's place, A-FedPD in SCAFFOLD's",
                "SCAFFOLD above A-FedPD, IID",
                {"swap": {"A-FedPD": "FedAvg", "SCAFFOLD": "A-FedPD"}},
            ),
        ),
        needs=lambda ctx: list_runs(residual_runs(ctx).values()),
    ),
]
