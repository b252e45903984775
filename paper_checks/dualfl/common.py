"""What DualFL's checks share: how its claims are made, and assumptions in words."""

from __future__ import annotations

from typing import Any

from fedtheory.algorithms import DualFL, listed
from fedtheory.algorithms.mistakes import build_mistaken, find_code_mistakes
from paper_checks.steps import claims_of

claim, derived = claims_of("dualfl"), claims_of("dualfl, derived")

CONVEX = "f_j mu-strongly convex (f_j - (mu/2)||.||^2 convex), 0 < nu <= mu"
#: the paper works with it: kappa = L/mu, (30), and g_j^* 1/(L - nu)-strongly convex; what its displayed definition says is strong convexity again
SMOOTH = "f_j L-smooth in the usual sense, under which the paper works throughout (its displayed definition repeats strong convexity)"
EXACT = "exact local solves; the start xi^(0) = 0 of Algorithm 2"


def mistaken(name: str) -> Any:
    """DualFL with a known mistake, as a function of its hyper-parameters."""
    found = next(m for m in find_code_mistakes(DualFL) if m.name == name)

    def made(nu: float, rho: float, alpha: float | None = None) -> Any:
        given = {"nu": nu, "rho": rho, "exact": True} | ({} if alpha is None else {"alpha": alpha})
        return build_mistaken(listed("dualfl" if alpha is None else "dualfl-regularised"), given, (found,))

    return made
