"""FedSLR (Huang, Shen, Sun, Lin, Tao): its experiments, the arithmetic of its tables, and its theory.

`runs` has the three sizes and the settings that the paper leaves open; the other modules follow the paper: comparison (Table 1, Figs. 2 and
3), sensitivity (Tables 3 to 6), components (Tables 7 and 8), traffic (Fig. 5), communication (Table 2), latency (Table 9); theory (lemmas
of appendix C, by `lemmas`), convergence (Theorem 1, what its proof and that of Theorem 2 rest on), kl_cases (Theorem 2's three rates, by
`kl_theorems` and the runs of `kl_runs`), phase_two (Theorem 3, by `phase_two_theorems`), designs (Appendix A), operators (with Facts 1, 2,
3 and 5), potential (KL exponents, best iterates, Theorem 3 repaired), variants (what Phase I equals) and closed_forms (instances by hand).
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.fedslr import (
    closed_forms,
    communication,
    comparison,
    components,
    convergence,
    designs,
    kl_cases,
    latency,
    operators,
    phase_two,
    potential,
    sensitivity,
    theory,
    traffic,
    variants,
)
from paper_checks.instance_fields import FEDSLR

PAPER = Publication(
    "Fusion of Global and Local Knowledge for Personalized Federated Learning",
    ("Tiansheng Huang", "Li Shen", "Yan Sun", "Weiwei Lin", "Dacheng Tao"),
    2023,
    "arXiv:2302.11051",
    read="With its appendix; the text that was read names no version.",
)

CLAIMS: list[Claim] = with_fields(
    [
        *communication.CLAIMS,
        *latency.CLAIMS,
        *traffic.CLAIMS,
        *comparison.CLAIMS,
        *sensitivity.CLAIMS,
        *components.CLAIMS,
        *theory.CLAIMS,
        *convergence.CLAIMS,
        *kl_cases.CLAIMS,
        *phase_two.CLAIMS,
        *designs.CLAIMS,
        *operators.CLAIMS,
        *potential.CLAIMS,
        *variants.CLAIMS,
        *closed_forms.CLAIMS,
    ],
    FEDSLR,
)
