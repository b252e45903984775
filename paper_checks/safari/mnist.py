"""The claims on MNIST. At paper size they need no GPU: ``check paper_checks/safari/mnist.py --size paper`` (see `runs`)."""

from __future__ import annotations

from paper_checks.safari import degradation, gains, repetitions, rounds, sentences
from paper_checks.safari.runs import MNIST

CLAIMS = [
    degradation.claim_drop(MNIST),
    degradation.claim_heterogeneity(MNIST),
    degradation.claim_ceiling(MNIST),
    gains.claim_gain(MNIST),
    gains.claim_one_step(MNIST),
    gains.claim_server_size(MNIST),
    repetitions.claim_repetitions(MNIST),
    rounds.claim_probability(MNIST),
    rounds.claim_participants(MNIST),
    *sentences.CLAIMS,
    rounds.EQUIVALENCE,
]
