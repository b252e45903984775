"""FedPD (Zhang, Hong, Dhople, Yin, Liu), section by section, with the authors' supplement.

Each section and each appendix of the paper is a module: its statements in the paper's order, each with its proof, its instances and its claim.
Begin with `notation`, the paper's symbols in scripts, and `section_4_1_a_theorem_1`. `bounds` has the constants and right sides that sections
share, `rounds` the rounds that theorems speak of, `played` the method's own code on instances, `character_runs` the runs of Appendix D, by the
rules of `protocol`. What is ours stands apart, in `z_ours_*`.
"""

from __future__ import annotations

from fedtheory.claims import Claim, Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.fedpd import (
    appendix_b_1_a_lemma_1,
    appendix_b_1_b_lemma_2,
    appendix_b_1_c_lemmas_3_and_4,
    appendix_b_2_proofs_of_theorems_1_and_3,
    appendix_d_character_recognition,
    section_1_introduction,
    section_2_1_lower_bound,
    section_2_2_fedavg_diverges,
    section_3_fedpd,
    section_4_1_a_theorem_1,
    section_4_1_b_theorem_2,
    section_4_2_a_theorem_3,
    section_4_2_b_remark_5,
    section_4_3_other_algorithms,
    section_5_experiments,
    supplement_f_lower_bound,
    supplement_g_oracle_2,
    z_ours_methods,
    z_ours_section_2,
    z_ours_skipping,
    z_ours_theorem_1,
)
from paper_checks.instance_fields import FEDPD

PAPER = Publication(
    "FedPD: A Federated Learning Framework With Adaptivity to Non-IID Data",
    ("Xinwei Zhang", "Mingyi Hong", "Sairaj Dhople", "Wotao Yin", "Yang Liu"),
    2021,
    "doi:10.1109/TSP.2021.3115952",
    published="IEEE Transactions on Signal Processing",
    read="Claims of Appendices E to G are of the authors' separate supplement.",
)
SECTIONS = (
    section_1_introduction,
    section_2_1_lower_bound,
    section_2_2_fedavg_diverges,
    section_3_fedpd,
    section_4_1_a_theorem_1,
    section_4_1_b_theorem_2,
    section_4_2_a_theorem_3,
    section_4_2_b_remark_5,
    section_4_3_other_algorithms,
    section_5_experiments,
    appendix_b_1_a_lemma_1,
    appendix_b_1_b_lemma_2,
    appendix_b_1_c_lemmas_3_and_4,
    appendix_b_2_proofs_of_theorems_1_and_3,
    appendix_d_character_recognition,
    supplement_f_lower_bound,
    supplement_g_oracle_2,
    z_ours_methods,
    z_ours_section_2,
    z_ours_skipping,
    z_ours_theorem_1,
)
CLAIMS: list[Claim] = with_fields([claim for section in SECTIONS for claim in section.CLAIMS], FEDPD)
