"""FedPD (Zhang, Hong, Dhople, Yin, Liu), section by section, with the authors' supplement.

Each section and each appendix of the paper is a module: its statements in the paper's order, each with its proof, its instances and its claim.
Begin with `notation`, the paper's symbols in scripts, and `section_4_1_a_theorem_1`. `bounds` has the constants and right sides that sections
share, `rounds` the rounds that theorems speak of, `played` the method's own code on instances, `character_runs` the runs of Appendix D, by the
rules of `protocol`. What is ours stands apart, in `z_ours_*`.
"""

from __future__ import annotations

from fedtheory.claims import Claim, Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.instance_fields import FEDPD
from paper_checks.sections import claims_in_order

PAPER = Publication(
    "FedPD: A Federated Learning Framework With Adaptivity to Non-IID Data",
    ("Xinwei Zhang", "Mingyi Hong", "Sairaj Dhople", "Wotao Yin", "Yang Liu"),
    2021,
    "doi:10.1109/TSP.2021.3115952",
    published="IEEE Transactions on Signal Processing",
    read="Claims of Appendices E to G are of the authors' separate supplement.",
)
CLAIMS: list[Claim] = with_fields(claims_in_order(__name__, __path__), FEDPD)
