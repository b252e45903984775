"""DualFL (Park, Xu): its theory, the comparisons it draws, and its experiments.

A file is a section of the paper, in the paper's order; in it each statement stands beside its proof, its instance and its claim. Begin with
`notation`, which says what the symbols mean, with `rounds` (what a round of DualFL is to a theorem) and `bounds` (the bounds with their
constants). Proofs rest on Section 6.2, as the paper's do. What the paper does not state is in the files `z_ours_...`. Machinery of runs:
`certified_runs` and `drawn_runs` (theorems), `acceleration` (lower-bound chains), `runs` and `comparisons` (Section 7, by `protocol`).
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.instance_fields import DUALFL
from paper_checks.sections import claims_in_order

PAPER = Publication(
    "DualFL: A Duality-based Federated Learning Algorithm with Communication Acceleration in the General Convex Regime",
    ("Jongho Park", "Jinchao Xu"),
    2024,
    "arXiv:2305.10294v2",
)
CLAIMS: list[Claim] = with_fields(claims_in_order(__name__, __path__), DUALFL)
