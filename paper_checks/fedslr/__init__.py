"""FedSLR (Huang, Shen, Sun, Lin, Tao), section by section.

Each section and each appendix of the paper is a module: its statements in the paper's order, each with its proof, its instances and its claim.
Begin with `notation`, the paper's symbols in scripts, and `section_5_a_theorem_1`. `assumptions` has the words that sections share, `bounds`
the paper's constants and right sides, `rounds` the states that theorems speak of, `played` the method's own code on instances, `kl_runs` runs
of known exponent, `networks` what is sent, `runs` the experiments, by the rules of `protocol`. What is ours stands apart, in `z_ours_*`.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.fedslr import (
    appendix_a_1_proximal_operators,
    appendix_a_2_lpgd_and_gpgd,
    appendix_a_3_other_components,
    appendix_a_4_algorithms_2_and_3,
    appendix_a_6_privacy,
    appendix_b_3_1_clients,
    appendix_b_3_2_sensitivity,
    appendix_b_3_3_components_alone,
    appendix_b_3_4_wall_time,
    appendix_c_2_facts,
    appendix_c_3_proof_of_theorem_1,
    appendix_c_4_proof_of_theorem_2,
    appendix_c_5_proof_of_theorem_3,
    section_3_problem_setup,
    section_4_methodology,
    section_5_a_theorem_1,
    section_5_b_theorem_2_rates,
    section_5_c_theorem_2_limit,
    section_5_d_theorem_3,
    section_6_2_a_table_1,
    section_6_2_b_table_2,
    z_ours_by_hand,
    z_ours_descent,
    z_ours_equivalences,
    z_ours_kl_exponents,
    z_ours_phase_two,
)
from paper_checks.instance_fields import FEDSLR

PAPER = Publication(
    "Fusion of Global and Local Knowledge for Personalized Federated Learning",
    ("Tiansheng Huang", "Li Shen", "Yan Sun", "Weiwei Lin", "Dacheng Tao"),
    2023,
    "arXiv:2302.11051",
    read="With its appendix; the text that was read names no version.",
)
SECTIONS = (
    section_3_problem_setup,
    section_4_methodology,
    section_5_a_theorem_1,
    section_5_b_theorem_2_rates,
    section_5_c_theorem_2_limit,
    section_5_d_theorem_3,
    section_6_2_a_table_1,
    section_6_2_b_table_2,
    appendix_a_1_proximal_operators,
    appendix_a_2_lpgd_and_gpgd,
    appendix_a_3_other_components,
    appendix_a_4_algorithms_2_and_3,
    appendix_a_6_privacy,
    appendix_b_3_1_clients,
    appendix_b_3_2_sensitivity,
    appendix_b_3_3_components_alone,
    appendix_b_3_4_wall_time,
    appendix_c_2_facts,
    appendix_c_3_proof_of_theorem_1,
    appendix_c_4_proof_of_theorem_2,
    appendix_c_5_proof_of_theorem_3,
    z_ours_by_hand,
    z_ours_descent,
    z_ours_equivalences,
    z_ours_kl_exponents,
    z_ours_phase_two,
)
CLAIMS: list[Claim] = with_fields([claim for section in SECTIONS for claim in section.CLAIMS], FEDSLR)
