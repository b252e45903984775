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
from paper_checks.sections import claims_in_order

PAPER = Publication(
    "Understanding Server-Assisted Federated Learning in the Presence of Incomplete Client Participation",
    ("Haibo Yang", "Peiwen Qiu", "Prashant Khanduri", "Minghong Fang", "Jia Liu"),
    2024,
    "arXiv:2405.02745",
    published="ICML",
    read="With its appendix; the text that was read names no version.",
)
CLAIMS: list[Claim] = with_fields(claims_in_order(__name__, __path__), SAFARI)
