"""DualFL (Park, Xu): steps of its theory, what follows from them for exact local solves, its comparisons and its experiments."""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.dualfl import (
    acceleration,
    character,
    experiments,
    heterogeneity,
    local_gap,
    optimality,
    same_algorithm,
    sparse,
    theory,
)

CLAIMS: list[Claim] = [
    *theory.CLAIMS,
    *local_gap.CLAIMS,
    *heterogeneity.CLAIMS,
    *character.CLAIMS,
    *acceleration.CLAIMS,
    *optimality.CLAIMS,
    *same_algorithm.CLAIMS,
    *experiments.CLAIMS,
    *sparse.CLAIMS,
]
