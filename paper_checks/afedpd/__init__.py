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
from paper_checks.instance_fields import AFEDPD
from paper_checks.sections import claims_in_order

PAPER = Publication(
    "A-FedPD: Aligning Dual-Drift is All Federated Primal-Dual Learning Needs",
    ("Yan Sun", "Li Shen", "Dacheng Tao"),
    2024,
    "arXiv:2409.18915",
    published="NeurIPS",
    read="With its appendix; the text that was read names no version.",
)
CLAIMS: list[Claim] = with_fields(claims_in_order(__name__, __path__), AFEDPD)
