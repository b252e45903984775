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
from paper_checks.instance_fields import FEDSLR
from paper_checks.sections import claims_in_order

PAPER = Publication(
    "Fusion of Global and Local Knowledge for Personalized Federated Learning",
    ("Tiansheng Huang", "Li Shen", "Yan Sun", "Weiwei Lin", "Dacheng Tao"),
    2023,
    "arXiv:2302.11051",
    read="With its appendix; the text that was read names no version.",
)
CLAIMS: list[Claim] = with_fields(claims_in_order(__name__, __path__), FEDSLR)
