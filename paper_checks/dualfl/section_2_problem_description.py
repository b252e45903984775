"""Section 2, Problem description: no similarity of the clients is asked for; and what the definition of L-smoothness says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fedtheory.algorithms import DualFL
from fedtheory.claims import Claim, Context, Finding, bar, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.dualfl.drawn_runs import L, against_bound, draw, wrong_methods
from paper_checks.dualfl.notation import BY_CODE, CONVEX, OF_SMOOTH, claim
from paper_checks.dualfl.section_3_2_a_theorem_3_2 import THEOREM_3_2
from paper_checks.dualfl.section_3_2_b_theorem_3_3 import THEOREM_3_3
from paper_checks.dualfl.section_6_4_proofs import energy_error
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- No similarity of the local cost functions -----------------------------------------------------------------------


def distant_runs(ctx: Context, *, method: Any = DualFL) -> Iterator[Finding]:
    """Centres up to a thousand times as far apart."""
    mu = 1 / 50
    for far in (1.0, 30.0, 1000.0):
        problem = draw(ctx, mu, far)
        for rho in (0.0, mu / L):
            name = f"centres {far:g} apart, rho = {rho:g}"
            yield against_bound(ctx, method, problem, mu, rho, name, "ten draws, 150 rounds, kappa = 50")


CLAIMS += [
    claim(
        "DUALFL-C10",
        "Sections 1 and 2",
        "Convergence needs no similarity of the local cost functions.",
        [Step("without smoothness", THEOREM_3_2), Step("with smoothness", THEOREM_3_3), OF_SMOOTH],
        assumptions=[CONVEX, "(8), or (9) with f_j L-smooth, nu < L and 0 < rho = r^2 <= nu/L, r < 1"],
        readings=[
            BY_CODE,
            "Theorems 3.2 and 3.3 are about all f_j of their classes, which say nothing of how alike these are. The bounds scale with V, the size of "
            "the gradients at theta*, and that is all that heterogeneity does.",
        ],
        kind="rate",
        besides=distant_runs,
        faults=wrong_methods("centres 1000 apart, rho = 0.02"),
    )
]


# ---- L-smoothness ----------------------------------------------------------------------------------------------------


@lemma("energy error by the printed definition", "Section 2, (30)", "0 < mu, 0 < L", c=1)
def by_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(30) where f_j(y) >= f_j(x) + <grad f_j(x), y - x> + (mu/2) ||y - x||^2 is all that is known; theta* = 0."""
    h = w.function(None, 0, client=True)  # f_j less (mu/2) ||.||^2
    g = w.vector("grad f_j(theta*)", True)
    g = g - bar(g)
    x = w.vector("theta")
    _, least = w.at(h, g * 0, "at theta*", g=g)
    _, value = w.at(h, x + g * 0, "at theta")
    return value + norm2(x) * (p.mu / 2) - least - norm2(x) * (c.c * p.L / 2)


CLAIMS += [
    claim(
        "DUALFL-SMOOTH",
        "Section 2, the definition of L-smooth",
        "h is L-smooth when h(theta) >= h(phi) + <grad h(phi), theta - phi> + (mu/2) ||theta - phi||^2, so that (30) holds of such f_j.",
        [Step("the printed definition", by_printed), Step("the usual definition", energy_error, "repaired")],
        repaired="h is L-smooth when h(theta) <= h(phi) + <grad h(phi), theta - phi> + (L/2) ||theta - phi||^2, so that (30) holds of "
        "such f_j.",
        readings=[
            "What is displayed is the definition of strong convexity again, without L. A definition is judged by what the paper makes of it: (30) is "
            "false of it. All other claims of this ledger read L-smooth in its usual sense, under which the paper works."
        ],
        false={"the printed definition": "the usual definition"},
        kind="identity",
    )
]
