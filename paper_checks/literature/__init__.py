"""Theorems that users of federated optimisation cite, each from its source, as data alone: no check is written for one of them.

inequalities (of smooth and convex functions, and of local steps), operators (subgradients, proximal points, averaged operators, Halpern,
extragradient steps), gradient_methods (rates), federated (rates and biases of federated methods), one_method (methods that are one).
A claim's source names author, year and theorem; `SOURCES` has the texts.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.literature import federated, gradient_methods, inequalities, one_method, operators
from paper_checks.literature.sources import PAPER as PAPER
from paper_checks.literature.sources import SOURCES as SOURCES

CLAIMS: list[Claim] = [
    claim for module in (inequalities, gradient_methods, operators, federated, one_method) for claim in module.CLAIMS
]
