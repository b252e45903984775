"""Section 1, Introduction: acceleration without smoothness or without strong convexity, any local solver, and determinism."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL, Scaffnew
from fedtheory.claims import (
    Claim,
    Clause,
    Context,
    Covered,
    Fault,
    Finding,
    Reading,
    at_most,
    draw_bound,
    holds,
    lemma,
    norm2,
)
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.inexact import ToAccuracy
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.local.stopping import ResidualBound
from fedtheory.running.families import build_problem
from paper_checks.dualfl.acceleration import FLAT_CHAIN, LENGTHS, SQRT, below, exponent, flat_readings, nonsmooth
from paper_checks.dualfl.certified_runs import server_models
from paper_checks.dualfl.notation import CONVEX, claim, local_problem
from paper_checks.dualfl.section_4_b_theorem_4_3 import ORDER
from paper_checks.dualfl.section_5_comparison import REGIMES, WITHOUT_SMOOTHNESS
from paper_checks.dualfl.section_6_3_duality_of_dualfl_and_fista import dualfl_is_ascent
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Acceleration without smoothness, or without strong convexity ----------------------------------------------------


def check_c6(ctx: Context, *, fast: Any = DualFL.__name__) -> Iterator[Finding]:
    """Rounds on both chains, beside plain dual ascent and gradient descent."""
    slow = [nonsmooth(False, k) for k in LENGTHS]
    times = [nonsmooth(fast == "DualFL", k) for k in LENGTHS]
    limit = SQRT * exponent(LENGTHS, slow)
    text = f"rounds on total variation chains of {LENGTHS}"
    yield below("reading: nonsmooth", LENGTHS, times, limit, text, role="reading")
    order = [times[0] * k / LENGTHS[0] for k in LENGTHS]
    about = "DualFL with nu = mu = 1, rho = 0 on total variation chains, to 1/100 of the first squared distance; claimed: the order of the length"
    title, more = "Rounds without smoothness", [("DualFL", times), ("plain dual ascent", slow)]
    yield draw_bound(title, LENGTHS, order, xlabel="length", ylabel="rounds", about=about, more=more, logx=True)
    for name in ("DualFL", "gradient descent"):
        yield from flat_readings(name)
    yield Reading(FLAT_CHAIN)
    yield Reading(
        "'Accelerates' is read as: O(eps^{-1/2}) rounds up to a logarithm, which the theorems give; the chains stand beside it. "
        "That it is the first, and that the duality technique is new to the area, is a matter of literature, which no check decides; judged is "
        "that it accelerates. With exact local solves it is accelerated dual ascent for consensus, which is known from distributed "
        "optimisation. 'General convex' is proved for nonsmooth or not strongly convex costs, not for both at once."
    )


CLAIMS += [
    claim(
        "DUALFL-C6",
        "Sections 1, 5 and 8",
        [
            Clause("DualFL accelerates communication for costs that are nonsmooth,", (WITHOUT_SMOOTHNESS.name,)),
            Clause(
                "or not strongly convex; that it is the first to do so is not judged.",
                tuple(step.name for step in ORDER),
            ),
        ],
        [*REGIMES, Step("accelerated dual ascent", dualfl_is_ascent(DualFL, Exact()), "reading")],
        kind="rate",
        besides=check_c6,
        faults=(Fault("plain dual ascent", "reading: nonsmooth", {"fast": "none"}),),
        assumptions=(CONVEX, "(8), or (9) and f_j L-smooth where they are not strongly convex"),
    )
]


# ---- Any local solver ------------------------------------------------------------------------------------------------

MU = 0.1
#: squared residual of local solves, and what the models of solvers that meet it may differ by
RESIDUAL, APART = 1e-20, 1e-7


def regression(ctx: Context) -> Any:
    """Penalised logistic regression of four clients."""
    return build_problem("breast-cancer", clients=4, split="iid", l2=MU, seed=ctx.seed)


@lemma("Gamma bounds the dual error", "Lemma 6.6", "0 < nu", c=1)
def gap_bounds_the_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E_d^{n,j}(xi) - min E_d^{n,j} <= Gamma(theta) - c (nu/2) ||theta - o||^2 at xi = nu (zeta - theta).

    Gamma is the sum of the errors of (2) and of (6), and the value g^*(xi) in it may be any number.
    """
    local = local_problem(w, p)
    value = local.dual_of((local.zeta - local.x) * p.nu, w.value("conjugate of g at xi"))
    return value - local.least - (local.at_x + value) + norm2(local.x - local.o) * (c.c * p.nu / 2)


def check_c8(ctx: Context, *, count: int = 0) -> Iterator[Finding]:
    """Models after 15 rounds with Newton's method against those with two iterative solvers of equal accuracy."""
    problem = regression(ctx)
    L = float(problem.certify()["L"].value)
    reference = server_models(DualFL(MU, MU / L), problem, 15)
    solvers: dict[str, Any] = {
        "gradient descent": GradientSteps(count, 1 / L) if count else ToAccuracy(RESIDUAL, 1 / L),
        "optimised gradient method": Adaptive(ResidualBound(RESIDUAL, 1 / 2)),
    }
    for name, solver in solvers.items():
        apart = np.abs(server_models(DualFL(MU, MU / L, solver), problem, 15) - reference).max()
        text = f"models of 15 rounds against Newton's method, logistic regression on breast_cancer, mu = {MU:g}; residuals of {RESIDUAL**0.5:g}"
        covered = Covered(len(reference), "rounds")
        yield at_most(name, apart, APART * np.abs(reference).max(), "numeric", text, covered=covered)
    yield Reading("Any solver that meets (8) or (9) is covered by the theorems; see DUALFL-C2 for nu = mu.")


CLAIMS += [
    claim(
        "DUALFL-C8",
        "Section 1",
        "DualFL can adopt any optimisation algorithm as its local solver.",
        [Step("whatever made the answer", gap_bounds_the_error, scope="answers whose gap meets (8) or (9)")],
        kind="identity",
        besides=check_c8,
        faults=(Fault("forty gradient steps, whatever is left", "gradient descent", {"count": 40}),),
        assumptions=(CONVEX,),
    )
]


# ---- Determinism -----------------------------------------------------------------------------------------------------


def check_c7(ctx: Context, *, local: Any = None) -> Iterator[Finding]:
    """Runs with ten seeds, bit by bit, with three local solvers; Scaffnew's beside them."""
    problem = regression(ctx)
    solvers = (Exact(), GradientSteps(20, 0.3), Adaptive(ResidualBound(RESIDUAL, 1 / 2)))
    for solver in solvers if local is None else (local,):
        method = DualFL(MU, 0.01, solver)
        runs = [server_models(method, problem, 8, seed) for seed in range(ctx.seed, ctx.seed + 10)]
        same = all(np.array_equal(runs[0], other) for other in runs[1:])
        name = f"local {type(solvers[0] if local is not None else solver).__name__}"
        text = f"models of 8 rounds, ten seeds of coins, {solver!r}"
        yield holds(name, same, "numeric", text, covered=Covered(len(runs), "draws"))
    coins = [server_models(Scaffnew(0.3, 0.2), problem, 8, seed) for seed in range(ctx.seed, ctx.seed + 10)]
    differ = not all(np.array_equal(coins[0], other) for other in coins[1:])
    yield holds("Scaffnew differs", differ, "numeric", "the same comparison sees Scaffnew's coins", role="reading")
    yield Reading("Deterministic is the outer method; a local solver may draw samples.")


CLAIMS += [
    claim(
        "DUALFL-C7",
        "Sections 1 and 5, Table 1",
        "DualFL is deterministic: neither the method nor its analysis needs coins.",
        kind="identity",
        besides=check_c7,
        faults=(
            Fault("a local solver that draws samples", "local Exact", {"local": StochasticSteps(3, 0.1, batch=8)}),
        ),
    )
]
