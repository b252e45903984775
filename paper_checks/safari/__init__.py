"""SAFARI (Yang, Qiu, Khanduri, Fang, Liu), section by section.

Each section and each appendix of the paper is a module: its statements in the paper's order, each with its proof, its instances and its claim.
Begin with `notation`, the paper's symbols and formulas, and `section_4_a_theorem_4`. `rounds` and `learners` have the states that theorems speak
of, `biased_pair` the instance that denies Theorems 4 and 5 as printed, `runs` and `readouts` the experiments, by the rules of `protocol`. What is
ours stands apart, in `z_ours_*`.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.instance_fields import SAFARI
from paper_checks.safari import (
    appendix_a_0_a_proof_of_theorem_1,
    appendix_a_0_b_proofs_of_theorems_2_and_3,
    appendix_a_0_c_proof_of_theorem_4,
    appendix_a_1_a_discussions,
    appendix_a_1_b_proof_of_theorem_5,
    appendix_b_2_additional_results,
    appendix_b_3_fashion_mnist,
    appendix_b_4_random_initializations,
    appendix_b_5_number_of_clients,
    section_3_1_impossibility,
    section_3_2_a_assumption_2,
    section_3_2_b_theorem_2,
    section_3_2_c_theorem_3,
    section_4_a_theorem_4,
    section_4_b_theorem_5,
    section_4_c_remarks_5_and_6,
    section_5_a_fedavg,
    section_5_b_safari,
    z_ours_learning,
    z_ours_where_safari_settles,
)

PAPER = Publication(
    "Understanding Server-Assisted Federated Learning in the Presence of Incomplete Client Participation",
    ("Haibo Yang", "Peiwen Qiu", "Prashant Khanduri", "Minghong Fang", "Jia Liu"),
    2024,
    "arXiv:2405.02745",
    published="ICML",
    read="With its appendix; the text that was read names no version.",
)
SECTIONS = (
    section_3_1_impossibility,
    section_3_2_a_assumption_2,
    section_3_2_b_theorem_2,
    section_3_2_c_theorem_3,
    section_4_a_theorem_4,
    section_4_b_theorem_5,
    section_4_c_remarks_5_and_6,
    section_5_a_fedavg,
    section_5_b_safari,
    appendix_a_0_a_proof_of_theorem_1,
    appendix_a_0_b_proofs_of_theorems_2_and_3,
    appendix_a_0_c_proof_of_theorem_4,
    appendix_a_1_a_discussions,
    appendix_a_1_b_proof_of_theorem_5,
    appendix_b_2_additional_results,
    appendix_b_3_fashion_mnist,
    appendix_b_4_random_initializations,
    appendix_b_5_number_of_clients,
    z_ours_learning,
    z_ours_where_safari_settles,
)
CLAIMS: list[Claim] = with_fields([claim for section in SECTIONS for claim in section.CLAIMS], SAFARI)
