"""DualFL (Park, Xu): steps of its theory, and what follows from them for exact local solves."""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.dualfl import (
    convergence,
    duality,
    equivalences,
    horizons,
    local_work,
    primal_baselines,
    regularised,
    sequence,
    theory,
)

CLAIMS: list[Claim] = [
    *theory.CLAIMS,
    *sequence.CLAIMS,
    *convergence.CLAIMS,
    *equivalences.CLAIMS,
    *duality.CLAIMS,
    *regularised.CLAIMS,
    *horizons.CLAIMS,
    *local_work.CLAIMS,
    *primal_baselines.CLAIMS,
]
