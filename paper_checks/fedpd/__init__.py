"""FedPD (Zhang, Hong, Dhople, Yin, Liu): every claim of the paper, of its supplement, and of the corrections to it.

The modules follow the paper: Theorem 1 and what belongs to it, the lemmas of its proof, divergence of FedAvg, the communication lower
bound, Theorem 2 (variance reduction), Theorem 3 (skipping), relations between methods, and the experiments.
"""

from __future__ import annotations

from fedtheory.claims import Claim, Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.fedpd import (
    baselines,
    characters,
    communication,
    curvatures,
    divergence,
    equivalences,
    experiments,
    lemmas,
    local_solves,
    oracle_two_lemmas,
    printed_steps,
    skipping,
    step_sizes,
    structure,
    supplement,
    theorem_one,
    variance_reduced,
    worst_cases,
)
from paper_checks.instance_fields import FEDPD

PAPER = Publication(
    "FedPD: A Federated Learning Framework With Adaptivity to Non-IID Data",
    ("Xinwei Zhang", "Mingyi Hong", "Sairaj Dhople", "Wotao Yin", "Yang Liu"),
    2021,
    "doi:10.1109/TSP.2021.3115952",
    published="IEEE Transactions on Signal Processing",
    read="Claims of Appendices E to G are of the authors' separate supplement.",
)

CLAIMS: list[Claim] = with_fields(
    [
        *theorem_one.CLAIMS,
        *worst_cases.CLAIMS,
        *local_solves.CLAIMS,
        *step_sizes.CLAIMS,
        *variance_reduced.CLAIMS,
        *oracle_two_lemmas.CLAIMS,
        *skipping.CLAIMS,
        *curvatures.CLAIMS,
        *lemmas.CLAIMS,
        *printed_steps.CLAIMS,
        *divergence.CLAIMS,
        *communication.CLAIMS,
        *supplement.CLAIMS,
        *structure.CLAIMS,
        *equivalences.CLAIMS,
        *baselines.CLAIMS,
        *experiments.CLAIMS,
        *characters.CLAIMS,
    ],
    FEDPD,
)
