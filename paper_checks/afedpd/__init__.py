"""A-FedPD (Sun, Shen, Tao), section by section.

Each section and each appendix of the paper is a module: its statements in the paper's order, each with its proof, its instances and its claim.
Begin with `notation`, the paper's symbols in scripts, and `section_3_3_a_fedpd`. `rounds` has the states that theorems speak of, `played`
Algorithm 1 on instances, `moments` second moments of the methods on quadratics; `runs` has the experiments, by the rules of `protocol`, and
`published` the numbers that the paper prints. What is ours stands apart, in `z_ours_*`.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.afedpd import (
    appendix_a_2_hyperparameters,
    appendix_a_3_splitting,
    appendix_a_4_1_training_curves,
    appendix_a_4_2_residuals,
    appendix_a_4_3_communication,
    appendix_a_4_4_wall_clock_time,
    appendix_b_2_1_lemmas,
    appendix_b_2_2_proof_of_theorem_1,
    appendix_b_3_1_a_lemma_4,
    appendix_b_3_1_b_lemmas_5_and_6,
    appendix_b_3_2_a_recursion,
    appendix_b_3_2_b_sums,
    section_1_introduction,
    section_3_2_primal_dual_family,
    section_3_3_a_fedpd,
    section_4_1_optimization,
    section_4_2_a_key_properties,
    section_4_2_b_theorem_2,
    section_5_1_a_table_2,
    section_5_1_b_figures_2_and_3,
    section_6_limitations,
    z_ours_algorithm_1,
    z_ours_drift_a_stability,
    z_ours_drift_b_floor,
    z_ours_moments,
    z_ours_theorem_1,
)
from paper_checks.instance_fields import AFEDPD

PAPER = Publication(
    "A-FedPD: Aligning Dual-Drift is All Federated Primal-Dual Learning Needs",
    ("Yan Sun", "Li Shen", "Dacheng Tao"),
    2024,
    "arXiv:2409.18915",
    published="NeurIPS",
    read="With its appendix; the text that was read names no version.",
)
SECTIONS = (
    section_1_introduction,
    section_3_2_primal_dual_family,
    section_3_3_a_fedpd,
    section_4_1_optimization,
    section_4_2_a_key_properties,
    section_4_2_b_theorem_2,
    section_5_1_a_table_2,
    section_5_1_b_figures_2_and_3,
    section_6_limitations,
    appendix_a_2_hyperparameters,
    appendix_a_3_splitting,
    appendix_a_4_1_training_curves,
    appendix_a_4_2_residuals,
    appendix_a_4_3_communication,
    appendix_a_4_4_wall_clock_time,
    appendix_b_2_1_lemmas,
    appendix_b_2_2_proof_of_theorem_1,
    appendix_b_3_1_a_lemma_4,
    appendix_b_3_1_b_lemmas_5_and_6,
    appendix_b_3_2_a_recursion,
    appendix_b_3_2_b_sums,
    z_ours_algorithm_1,
    z_ours_drift_a_stability,
    z_ours_drift_b_floor,
    z_ours_moments,
    z_ours_theorem_1,
)
CLAIMS: list[Claim] = with_fields([claim for section in SECTIONS for claim in section.CLAIMS], AFEDPD)
