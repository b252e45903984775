"""The claims on CIFAR-10."""

from __future__ import annotations

from paper_checks.safari import degradation, gains, repetitions, rounds
from paper_checks.safari.runs import CIFAR

CLAIMS = [
    *degradation.claims(CIFAR),
    *gains.claims(CIFAR),
    *repetitions.claims(CIFAR),
    *rounds.claims(CIFAR),
    rounds.FIGURE,
]
