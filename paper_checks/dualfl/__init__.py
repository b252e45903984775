"""DualFL (Park, Xu): its theory, the comparisons it draws, and its experiments.

Theorems: rounds (what a round is), inertia (5), rates (Section 3), algorithm_two (Section 6.2), exact_rates, penalised and accuracy (Section 4),
complexity. Claims on theory: theory (exact local solves), sequence (5), convergence (Sections 3 and 6), equivalences (dual FISTA, accelerated
ascent), duality, regularised (Section 4), horizons (explicit bounds), local_work, misprints. Comparisons: local_gap, heterogeneity, character,
optimality (with Table 1 as `acceleration` measures it). Real data: primal_baselines, experiments and sparse, at the sizes of `runs`.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.dualfl import (
    character,
    convergence,
    duality,
    equivalences,
    experiments,
    heterogeneity,
    horizons,
    local_gap,
    local_work,
    misprints,
    optimality,
    primal_baselines,
    regularised,
    sequence,
    sparse,
    theory,
)
from paper_checks.instance_fields import DUALFL

PAPER = Publication(
    "DualFL: A Duality-based Federated Learning Algorithm with Communication Acceleration in the General Convex Regime",
    ("Jongho Park", "Jinchao Xu"),
    2024,
    "arXiv:2305.10294v2",
)

THEORY = (theory, sequence, convergence, equivalences, duality, regularised, horizons, local_work, misprints)
COMPARISONS = (primal_baselines, local_gap, heterogeneity, character, optimality, experiments, sparse)
CLAIMS: list[Claim] = with_fields(
    [claim for module in (*THEORY, *COMPARISONS) for claim in module.CLAIMS],
    DUALFL,
)
