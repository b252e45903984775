"""Ours: which of the baselines of Section 7 are one method, and FedDualAvg with an l1 term."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.algorithms import FedDR, FedSplit
from fedtheory.claims import Claim, Clause, Equivalence, Ordering, Setting, Side
from fedtheory.core.regularisers import L1, regularised
from fedtheory.running.families import build_problem
from paper_checks.dualfl.notation import derived
from paper_checks.dualfl.runs import MU, STOPPED_AT
from paper_checks.dualfl.section_7_numerical_experiments import feddr, feddyn
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Baselines that are one method -----------------------------------------------------------------------------------


def fedsplit(relaxation: Any) -> Equivalence:
    """FedDR and FedSplit."""
    states, kept = {"x": "x", "z_i": "2*x_i - y_i"}, {"x": "2*mean_x_i - mean_y_i"}
    return Equivalence(
        lambda eta: FedDR(eta, relaxation), lambda eta: FedSplit(eta), region="0 < eta", states=states, kept=kept
    )


CLAIMS += [
    derived(
        "DUALFL-N6",
        "the baselines of Section 7",
        "FedPD(eta) = FedDR(eta, 1) = FedDyn(1/eta), and FedDR(eta, 2) = FedSplit(eta), round by round.",
        [
            Step("FedPD = FedDR", feddr(1), wrong={"FedDR with a relaxation of 1.02": feddr(1.02)}),
            Step("FedPD = FedDyn", feddyn(1), wrong={"FedDyn with half the penalty": feddyn(0.5)}),
            Step("FedDR(2) = FedSplit", fedsplit(2), wrong={"FedDR without over-relaxation": fedsplit(1)}),
        ],
        assumptions=[
            "exact local solves, all clients, duals zero at first; FedDR's first proximal step counts as a round"
        ],
        kind="equivalence",
    )
]


# ---- FedDualAvg with an l1 term --------------------------------------------------------------------------------------

WEIGHT, CLIENTS, ROUNDS, DRAWS = 1e-2, 8, 20, 10


def regression(rng: np.random.Generator) -> Any:
    """The wines, dealt out to clients at random, with the norm."""
    seed = int(rng.integers(2**31))
    smooth = build_problem(
        "wine-softmax", clients=CLIENTS, split="iid", l2=MU, bias=1.0, samples_per_client=22, seed=seed
    )
    return regularised(smooth, L1(WEIGHT))


SHORT = Side("feddualavg", "lr = 1/10, steps = 10, server_lr = 1", problem=regression, name="FedDualAvg, short steps")
AVERAGING = Side("feddualavg", "lr = 1, steps = 10, server_lr = 1", problem=regression, name="FedDualAvg")
OURS = Side(
    "dualfl", f"nu = {MU}, rho = 3/1000, upload = model, accuracy = {STOPPED_AT:.0e}", problem=regression, name="DualFL"
)
SPLITTING = Side("feddr", f"eta = 10, alpha = 1, accuracy = {STOPPED_AT:.0e}", problem=regression, name="FedDR")


def better(first: Side, second: Side) -> Ordering:
    """The objective's gap after the last round, draw by draw; two comparisons share the level."""
    return Ordering(first, second, metric="gap", rounds=ROUNDS, draws=DRAWS, level=0.95, comparisons=2)


TEXT = "With an l1 norm in the objective DualFL outperforms a recent method for such objectives, FedDualAvg."

CLAIMS += [
    derived(
        "DUALFL-X4-L1",
        "a server's regulariser, which the paper does not define",
        [Clause(TEXT, ("below FedDualAvg",))],
        [
            Step(
                "below FedDualAvg",
                better(OURS, AVERAGING),
                wrong={"FedDualAvg with short steps in DualFL's place": better(SHORT, AVERAGING)},
            ),
            Step("below FedDR", better(OURS, SPLITTING), "reading"),
        ],
        assumptions=["the norm is the server's, whose step is proximal"],
        readings=[
            "Ours, and no claim of the paper: neither this variant of DualFL, with a regulariser at the server, nor the experiment is in it. "
            f"Measured on scikit-learn's wines, {CLIENTS} clients, mu = {MU:g}, l1 weight {WEIGHT:g}, {ROUNDS} rounds."
        ],
        kind="ordering",
        setting=lambda ctx: Setting("scikit-learn's wines, 8 clients", "multinomial logistic regression, l1", False),
    )
]
