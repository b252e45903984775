"""Appendix A.1: what Corollary 1 needs at once."""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Claim, Theorem, state
from paper_checks.formulas import formula
from paper_checks.safari.notation import PAPER

CLAIMS: list[Claim] = []


# ---- Corollary 1 -----------------------------------------------------------------------------------------------------
def largest_ratio(share: Any, shift: Any = 1) -> Any:
    """R_s/R_c where R_s is this share of all rounds."""
    return share / (shift - share)


BETWEEN = Theorem(
    name="A.1",
    region="0 < m, 0 < K, 0 < c < m*K, 0 <= X, 0 < R_c, 0 <= R_s",
    given={"bias": "X*R_c <= R_s", "noise": "R_s <= c*(R_s + R_c)/(m*K)"},
    claim=("X <= R_s/R_c", f"R_s/R_c <= {formula(largest_ratio, share='c/(m*K)')}", "(1 - c/(m*K))*(R_s + R_c) <= R_c"),
    proof="""
      least: claim 1     by combine (1/R_c)*bias
      most:  claim 2     by combine (m*K/(R_c*(m*K - c)))*noise
      many:  claim 3     by combine noise
    """,
)
CLAIMS += [
    state(
        "SAFARI-C1c",
        PAPER,
        "Appendix A.1",
        "Corollary 1 needs R_s >= X R_c and R_s = O(R/(mK)) at once, that is X <= R_s/R_c <= (c/(mK))/(1 - c/(mK)); then R_c = Omega(R).",
        BETWEEN,
        kind="proof step",
    )
]
