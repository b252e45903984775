"""FedSLR (Huang, Shen, Sun, Lin, Tao): its experiments, the arithmetic of its tables, and steps of its theory.

`runs` has the three sizes and the settings that the paper leaves open; the other modules follow the paper: comparison (Table 1, Figs. 2
and 3), sensitivity (Tables 3 to 6), components (Tables 7 and 8), traffic (Fig. 5), communication (Table 2), latency (Table 9); theory
(appendix C, with the lemmas of `lemmas`), facts (Facts 1 to 3), convergence (Theorem 1, the
residual), kl_cases (Theorem 2), phase_two (Theorem 3), designs (Appendix A).
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.fedslr import (
    communication,
    comparison,
    components,
    convergence,
    designs,
    facts,
    kl_cases,
    latency,
    phase_two,
    sensitivity,
    theory,
    traffic,
)

CLAIMS: list[Claim] = [
    *communication.CLAIMS,
    *latency.CLAIMS,
    *traffic.CLAIMS,
    *comparison.CLAIMS,
    *sensitivity.CLAIMS,
    *components.CLAIMS,
    *theory.CLAIMS,
    *facts.CLAIMS,
    *convergence.CLAIMS,
    *kl_cases.CLAIMS,
    *phase_two.CLAIMS,
    *designs.CLAIMS,
]
