"""Appendix B.3.4: traffic along a run, Figure 5. Appendix B.3.5: time that a factored layer takes against the layer itself, Table 9."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import FedSLR
from fedtheory.claims import Claim, Context, Fault, Finding, Picture, Reading, equal
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import list_runs
from fedtheory.claims.logs import Log
from fedtheory.claims.orderings import make_table, mean_and_deviation, ordered_in_points
from fedtheory.claims.protocol import Clause, Setting, join_clauses
from fedtheory.core.layers import ranks
from fedtheory.measures import metrics
from fedtheory.running.runner import run
from paper_checks.fedslr import printed
from paper_checks.fedslr.appendix_b_3_2_sensitivity import parameters
from paper_checks.fedslr.notation import PAPER
from paper_checks.fedslr.protocol import FALL, claim_experiment
from paper_checks.fedslr.runs import GKR, MIXED, NON_IID, of
from paper_checks.fedslr.timing import takes_at_most
from problems.low_rank import low_rank_regression

CLAIMS: list[Claim] = []

# ---- Figure 5 --------------------------------------------------------------------------------------------------------
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
CLAIMS += [
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


# ---- Table 9 ---------------------------------------------------------------------------------------------------------
SIDE, RANK, BATCH = 1024, 64, 512


def check_latency(ctx: Context, *, rank: int = RANK) -> Iterator[Finding]:
    """Apply a linear layer and its factors to a batch, in turns."""
    rng = ctx.rng()
    x, u, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((BATCH, SIDE), (SIDE, rank), (SIDE, rank)))
    w: NDArray[np.float32] = v @ u.T
    text = (
        f"CPU time of a {SIDE} x {SIDE} layer by factors of rank {rank} on {BATCH} samples, with {2 * rank / SIDE:.3f} times the layer's "
        "multiplications, in times the layer's"
    )
    yield takes_at_most("factored layer", 1.0, lambda: (x @ v) @ u.T, lambda: x @ w, text)
    yield make_table(
        "Table 9 (Tesla M60, batch of 20, CIFAR-100)",
        ["lam", "GKR parameters (M)", "latency (ms)", "parameters, of all", "latency, of lam = 0"],
        [[lam, size, ms, round(size / 11.17, 3), round(ms / 10.98, 3)] for lam, (size, ms) in printed.TABLE_9.items()],
    )
    yield Reading(
        "Times are a machine's own, so the paper's milliseconds are not compared. Its latencies fall much less than its parameters (6.53 of "
        "10.98 ms at 11 % of the parameters): layers of low rank are two convolutions in place of one."
    )


FASTER_BY_FACTORS = (Clause("Layers of low rank compute faster by their factors.", ("factored layer",)),)
CLAIMS += [
    Claim(
        "FEDSLR-C7",
        PAPER,
        "ordering",
        "Appendix B.3.5; Table 9",
        join_clauses(FASTER_BY_FACTORS),
        check_latency,
        (Fault("factors of full rank", "factored layer", {"rank": SIDE}),),
        setting=lambda ctx: Setting("random batches", f"a layer of {SIDE} x {SIDE} on this machine's processor", False),
        clauses=FASTER_BY_FACTORS,
    ),
]
