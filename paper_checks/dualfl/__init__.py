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
from paper_checks.dualfl import (
    section_1_introduction,
    section_2_problem_description,
    section_3_0_algorithm_1,
    section_3_1_inexact_local_solvers,
    section_3_2_a_theorem_3_2,
    section_3_2_b_theorem_3_3,
    section_3_3_local_iteration_complexity,
    section_4_a_theorem_4_1,
    section_4_b_theorem_4_3,
    section_5_comparison,
    section_6_1_dual_formulation,
    section_6_2_inexact_fista,
    section_6_3_duality_of_dualfl_and_fista,
    section_6_4_proofs,
    section_7_numerical_experiments,
    section_8_conclusion,
    z_ours_baselines,
    z_ours_bounds,
    z_ours_local_gap,
    z_ours_range_of_nu,
)
from paper_checks.instance_fields import DUALFL

PAPER = Publication(
    "DualFL: A Duality-based Federated Learning Algorithm with Communication Acceleration in the General Convex Regime",
    ("Jongho Park", "Jinchao Xu"),
    2024,
    "arXiv:2305.10294v2",
)

MODULES = (
    section_1_introduction,
    section_2_problem_description,
    section_3_0_algorithm_1,
    section_3_1_inexact_local_solvers,
    section_3_2_a_theorem_3_2,
    section_3_2_b_theorem_3_3,
    section_3_3_local_iteration_complexity,
    section_4_a_theorem_4_1,
    section_4_b_theorem_4_3,
    section_5_comparison,
    section_6_1_dual_formulation,
    section_6_2_inexact_fista,
    section_6_3_duality_of_dualfl_and_fista,
    section_6_4_proofs,
    section_7_numerical_experiments,
    section_8_conclusion,
    z_ours_baselines,
    z_ours_bounds,
    z_ours_local_gap,
    z_ours_range_of_nu,
)
CLAIMS: list[Claim] = with_fields([claim for module in MODULES for claim in module.CLAIMS], DUALFL)
