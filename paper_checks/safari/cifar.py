"""The claims on CIFAR-10."""

from __future__ import annotations

from paper_checks.safari import degradation, gains, repetitions, rounds
from paper_checks.safari.runs import CIFAR

CLAIMS = [
    degradation.claim_drop(CIFAR),
    degradation.claim_heterogeneity(CIFAR),
    degradation.claim_ceiling(CIFAR),
    gains.claim_gain(CIFAR),
    gains.claim_one_step(CIFAR),
    gains.claim_server_size(CIFAR),
    repetitions.claim_repetitions(CIFAR),
    rounds.claim_probability(CIFAR),
    rounds.claim_participants(CIFAR),
    rounds.FIGURE,
]
