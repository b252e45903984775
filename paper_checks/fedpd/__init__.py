"""FedPD (Zhang, Hong, Dhople, Yin, Liu): every claim of the paper, of its supplement, and of the corrections to it.

The modules follow the paper: Theorem 1 and what belongs to it, the lemmas of its proof, divergence of FedAvg, the communication lower
bound, Theorem 2 (variance reduction), Theorem 3 (skipping), relations between methods, and the experiments.
"""

from __future__ import annotations

from fedtheory.claims import Claim
from paper_checks.fedpd import (
    baselines,
    communication,
    divergence,
    equivalences,
    experiments,
    lemmas,
    skipping,
    theorem_one,
    variance_reduced,
)

CLAIMS: list[Claim] = [
    *theorem_one.CLAIMS,
    *variance_reduced.CLAIMS,
    *skipping.CLAIMS,
    *lemmas.CLAIMS,
    *divergence.CLAIMS,
    *communication.CLAIMS,
    *equivalences.CLAIMS,
    *baselines.CLAIMS,
    *experiments.CLAIMS,
]
