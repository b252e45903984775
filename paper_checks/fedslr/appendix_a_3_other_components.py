"""Appendix A.3: other low-rank and sparse components, what they express and what a step on them costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedtheory.algorithms import ProximalGradient
from fedtheory.claims import Claim, Context, Fault, Finding, Reading, Role, Setting, Table, holds
from fedtheory.core.arrays import along_batch
from fedtheory.core.layers import Layer
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from fedtheory.core.regularisers import L1, NuclearNorm, Regulariser, regularised
from fedtheory.local.proximal_steps import ProximalSteps, ShiftedProblem
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures import paired_difference
from fedtheory.running.runner import run
from paper_checks.fedslr.appendix_a_1_proximal_operators import SIDE
from paper_checks.fedslr.notation import PAPER
from paper_checks.fedslr.timing import takes_at_most
from problems.low_rank import low_rank_regression

CLAIMS: list[Claim] = []

# ---- What components express -----------------------------------------------------------------------------------------
GLOBAL_WEIGHTS, PERSONAL_WEIGHTS = (0.03, 0.1, 0.3), (0.01, 0.03, 0.1)
DRAWS = 10


def recovery_error(task: Any, low_rank_global: bool, low_rank_personal: bool) -> float:
    """Least mean error of W_i = w + p_i over a grid of weights, (P1) and (P2) solved by proximal gradient steps."""
    inner, layers = task.problem.inner, task.problem.layers
    lr = 1 / float(constant(inner, "L"))

    def penalty(low_rank: bool, weights: tuple[float, ...], axes: int) -> Regulariser:
        weight = along_batch(list(weights)).reshape(-1, *[1] * (axes + 1))
        return NuclearNorm(weight, layers) if low_rank else L1(weight)

    outer = regularised(inner, penalty(low_rank_global, GLOBAL_WEIGHTS, 1))
    start = np.zeros((len(GLOBAL_WEIGHTS), inner.d))
    w = run(ProximalGradient(lr), outer, start, 150, every=150, progress=False).state.x
    personal = penalty(low_rank_personal, PERSONAL_WEIGHTS, 2)
    p0 = np.zeros((len(PERSONAL_WEIGHTS), len(GLOBAL_WEIGHTS), inner.n, inner.d))
    p, _ = ProximalSteps(200, lr, personal)(Subproblem(ShiftedProblem(inner, w[None])), p0, Key(0, 0), None)
    return float(task.error(w[None] + p).min())


def check_components(ctx: Context, *, low_rank: bool = True, draws: int = DRAWS) -> Iterator[Finding]:
    """LR+S against S+S, LR+LR and S+LR on models that are low rank plus sparse, each with its best weights, paired over draws."""
    names = {"LR+S": (low_rank, False), "S+S": (False, False), "LR+LR": (True, True), "S+LR": (False, True)}
    found = {
        name: [
            recovery_error(low_rank_regression(10, nonzeros=6, seed=10 * ctx.seed + k), *kinds) for k in range(draws)
        ]
        for name, kinds in names.items()
    }
    yield Table(
        f"Mean relative error of W_i, {draws} draws",
        ["components", "error"],
        [[name, float(np.mean(errors))] for name, errors in found.items()],
    )
    for name in ("S+S", "LR+LR", "S+LR"):
        difference = paired_difference(found[name], found["LR+S"])
        role: Role = "printed" if name == "S+S" else "reading"
        text = f"error of {name} less that of LR+S: {difference}"
        yield holds(f"LR+S before {name}", difference.sign > 0, "numeric", text, role=role)
    yield Reading(
        "Of models that are low rank plus sparse, where the statement is to be expected; the paper reports no experiment with other components. Of "
        "S+LR and LR+LR it says that they would be inefficient, and nothing of what they express: here they are readings."
    )


CLAIMS += [
    Claim(
        "FEDSLR-D3",
        PAPER,
        "ordering",
        "Appendix A.3",
        "The expressiveness of sparse global and personal components (S+S) is limited compared to a low-rank global and a sparse personal one "
        "(LR+S).",
        check_components,
        (Fault("S+S on both sides", "LR+S before S+S", {"low_rank": False, "draws": 3}),),
        setting=lambda ctx: Setting("random models of clients", "fits by components", False),
    ),
]


# ---- What a step costs -----------------------------------------------------------------------------------------------
#: what "extremely inefficient" is read as: an l1 step takes at most this share of the time
SHARE_OF_A_STEP = 0.1


def check_cost_of_components(ctx: Context, *, low_rank: bool = True) -> Iterator[Finding]:
    """A proximal gradient step on a personal component under ||.||_1 and under the nuclear norm, by CPU time in turns."""
    layer = (Layer("matrix", (SIDE, SIDE)),)
    w = ctx.rng().standard_normal((1, SIDE * SIDE))
    sparse, other = L1(1.0), NuclearNorm(1.0, layer) if low_rank else L1(1.0)
    text = f"CPU time of the prox of ||.||_1 on a {SIDE} x {SIDE} layer, in times that of the nuclear norm"
    yield takes_at_most("a sparse step", SHARE_OF_A_STEP, lambda: sparse.prox(w, 1.0), lambda: other.prox(w, 1.0), text)
    yield Reading(
        f"'Extremely inefficient' is read as: ten times the time at least. Weights of a {SIDE} x {SIDE} layer."
    )


CLAIMS += [
    Claim(
        "FEDSLR-D3-COST",
        PAPER,
        "ordering",
        "Appendix A.3",
        "A low-rank personal component needs a singular value decomposition in every personalised step, which is extremely inefficient beside the "
        "sparse one, and S+S is not.",
        check_cost_of_components,
        (Fault("a sparse one on both sides", "a sparse step", {"low_rank": False}),),
        setting=lambda ctx: Setting("random matrices", "this machine's processor", False),
    ),
]
