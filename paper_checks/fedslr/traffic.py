"""Traffic along a run: Figure 5, and Table 2 measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedSLR
from fedtheory.claims.claim import Fault, Finding, Picture, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import list_runs
from fedtheory.claims.logs import Log
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered_in_points
from fedtheory.claims.parts import equal
from fedtheory.claims.protocol import Clause
from fedtheory.core.layers import ranks
from fedtheory.measures import metrics
from fedtheory.running.runner import run
from paper_checks.fedslr.protocol import FALL, claim_experiment
from paper_checks.fedslr.runs import GKR, MIXED, NON_IID, of
from paper_checks.fedslr.sensitivity import parameters
from problems.low_rank import low_rank_regression

SENDERS = ("FedAvg", "SCAFFOLD", "APFL", "FedSpa", "LG-FedAvg", "FedRep", GKR)


def downlink(log: Log, up: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the server sent between measurements, as a share of models in full (``up``: what FedAvg's clients sent)."""
    return np.asarray(np.diff(log["floats_down"]) / np.diff(up))


def check_falling(ctx: Context, *, mistake: str = "") -> Iterator[Finding]:
    """Follow the downlink of a round along the run."""
    dense = [log["floats_up"] for log in of(ctx, "FedAvg").logs(ctx)]
    runs = {name: of(ctx, name) for name in (GKR, "FedAvg", "SCAFFOLD")}
    runs[GKR] = runs[GKR].mistaken(mistake)
    shares = {
        name: np.array([downlink(log, up) for log, up in zip(group.logs(ctx), dense, strict=True)])
        for name, group in runs.items()
    }
    ours = shares[GKR]
    text = "downlink of a round, share of the network's size, first measurement minus last"
    yield ordered_in_points("the downlink falls", ours[:, 0], ours[:, -1], text, by=100 * FALL)
    others = np.concatenate([shares["FedAvg"], shares["SCAFFOLD"] / 2])
    text = "one and two networks a round, at every measurement"
    yield equal("FedAvg and SCAFFOLD keep theirs", others, 1.0, "count", text, rtol=1e-12)
    ups = float(np.mean(np.diff(ours, axis=-1) > 0))
    rounds = of(ctx, GKR).logs(ctx)[0]["round"][1:]
    yield Reading(
        f"From one measurement to the next the downlink of {GKR} rises in {ups:.0%} of the cases and falls or stays in the others."
    )
    yield Reading(_from_zero())
    yield make_table(
        f"Traffic of all rounds and parameters, Non-IID, shares of FedAvg's in per cent ({ctx.size} size)",
        ["method", "traffic", "parameters of a client's model"],
        [[name, *_totals(ctx, name)] for name in (*SENDERS, MIXED)],
    )
    series = [repeat_curve(name, rounds, found) for name, found in shares.items()]
    title = f"Downlink of a round ({ctx.size} size)"
    yield Picture(title, "communication rounds", "share of the network's size", series)


def _totals(ctx: Context, name: str) -> tuple[str, str]:
    """All traffic and a client's parameters, as shares of FedAvg's."""
    logs, plain = of(ctx, name).logs(ctx), of(ctx, "FedAvg").logs(ctx)
    both = [
        (a["floats_up"][-1] + a["floats_down"][-1], 2 * b["floats_up"][-1]) for a, b in zip(logs, plain, strict=True)
    ]
    sizes = np.full(len(logs), {"APFL": 2.0, "FedSpa": 0.5}.get(name, 1.0))
    if name in (GKR, MIXED):
        sizes = parameters(ctx, of(ctx, GKR), "mixed" if name == MIXED else "GKR")
    return mean_and_deviation(np.array([ours / theirs for ours, theirs in both]), 1), mean_and_deviation(sizes, 1)


def _from_zero() -> str:
    """Ranks on a convex problem from zero: there they rise with a large eta_g."""
    problem = low_rank_regression().problem
    measured = {"rank": lambda f, state: ranks(state.x, f.layers)[..., 0, 0], "value": metrics.value}
    trace = run(FedSLR(10.0, init_dual="zero"), problem, np.zeros(problem.d), 101, metrics=measured, progress=False)
    told = ", ".join(f"{int(trace['rank'][r])} after {r}" for r in (1, 3, 11, 21, 101))
    return (
        "Ranks need not fall: on federated low-rank regression from w_0 = 0 with eta_g = 10 the rank is "
        f"{told} rounds. In the paper's runs and here weights start random, at full rank."
    )


WRONG = "no proximal step at the server"
CLAIMS = [
    claim_experiment(
        "FEDSLR-C6",
        "Appendix B.3.4; Fig. 5",
        (
            Clause("FedSLR's communication of a round falls during training, because ranks fall;", ("the downlink",)),
            Clause("FedAvg's and SCAFFOLD's stay, the latter at twice the former.", ("FedAvg and SCAFFOLD",)),
        ),
        check_falling,
        (Fault(WRONG, "the downlink falls", {"mistake": WRONG}),),
        lambda ctx: list_runs(of(ctx, name, NON_IID) for name in SENDERS),
    ),
]
