"""Theorems that users of federated optimisation cite, each from its source, as data alone: no check is written for one of them.

inequalities (of smooth and convex functions, and of local steps), operators (subgradients, proximal points, averaged operators, Halpern,
extragradient steps), gradient_methods and accelerated (rates), federated (rates and biases of federated methods), feddyn, compression,
unlike_clients (local steps, drawn clients, graphs), local_steps (any number of them), one_method (methods that are one).
A claim's source names author, year and theorem; `SOURCES` has the texts.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.literature import (
    accelerated,
    compression,
    feddyn,
    federated,
    gradient_methods,
    inequalities,
    local_steps,
    one_method,
    operators,
    unlike_clients,
)
from paper_checks.literature.sources import PAPER as PAPER
from paper_checks.literature.sources import SOURCES as SOURCES

MODULES = (
    inequalities,
    gradient_methods,
    accelerated,
    operators,
    federated,
    feddyn,
    unlike_clients,
    local_steps,
    compression,
    one_method,
)
CLAIMS: list[Claim] = [claim for module in MODULES for claim in module.CLAIMS]
