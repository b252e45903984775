"""Ours: the regression (31) with an l1 norm that all clients share, by a variant of DualFL that the paper does not define.

Each f_j keeps its ridge and the norm is the server's: DualFL's step is then a proximal one (`fedtheory.algorithms.dualfl`), as are those of
FedDR and FedDualAvg. The settings are those that Table 2's grids gave on the same data without the norm (`runs.chosen`, written down here).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.claims import Ordering, Side
from fedtheory.claims.protocol import Clause, Setting
from fedtheory.core.regularisers import L1, regularised
from fedtheory.running.families import build_problem
from paper_checks.dualfl.common import derived
from paper_checks.dualfl.runs import MU, STOPPED_AT
from paper_checks.steps import Step

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
CLAIMS = [
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
