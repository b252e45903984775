"""Appendix B.3.1: Figure 3, which clients gain over FedAvg."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Reading
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered_in_points
from paper_checks.fedslr.protocol import claim_experiment
from paper_checks.fedslr.runs import GKR, METHODS, MIXED, NON_IID, of
from paper_checks.fedslr.section_6_2_a_table_1 import list_rows

CLAIMS: list[Claim] = []


# ---- Figure 3 --------------------------------------------------------------------------------------------------------
def check_clients(ctx: Context, *, label: str = MIXED) -> Iterator[Finding]:
    """Compare every client's accuracy with the one that FedAvg's model has there."""
    plain = np.array([log.clients for log in of(ctx, "FedAvg").logs(ctx)])

    def shares(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        ours = np.array([log.clients for log in of(ctx, name).logs(ctx)])
        return (ours > plain).mean(axis=-1), (ours < plain).mean(axis=-1)

    gain, lose = shares(label)
    text = "share of clients that are better off than with FedAvg minus share that is worse off, mixed model"
    yield ordered_in_points("more clients gain than lose", gain, lose, text)
    others = [name for name in METHODS if name not in ("FedAvg", GKR)]
    yield make_table(
        f"Clients against FedAvg, Non-IID ({ctx.size} size)",
        ["method", "better off (%)", "as well off (%)", "worse off (%)"],
        [[name, *(mean_and_deviation(v, 1) for v in (g, 1 - g - w, w))] for name in others for g, w in [shares(name)]],
    )
    yield Reading(
        "Figure 3 is read as a sign: which clients gain over FedAvg. Figure 4 (a t-SNE of one client's last hidden layer) is left out: its "
        "picture has no number that could be compared."
    )


CLAIMS += [
    claim_experiment(
        "FEDSLR-Q10",
        "Appendix B.3.1; Fig. 3",
        (
            Clause(
                "With Non-IID clients most are better off with FedSLR's mixed model than with FedAvg.",
                ("more clients gain than lose",),
            ),
        ),
        check_clients,
        (Fault("clients that never communicate", "more clients gain than lose", {"label": "Local"}),),
        lambda ctx: list_rows(ctx, NON_IID),
    ),
]
