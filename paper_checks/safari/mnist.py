"""The claims on MNIST. At paper size they need no GPU: ``check paper_checks/safari/mnist.py --size paper`` (see `runs`)."""

from __future__ import annotations

from paper_checks.safari import degradation, gains, repetitions, rounds, sentences
from paper_checks.safari.runs import MNIST

CLAIMS = [
    *degradation.claims(MNIST),
    *gains.claims(MNIST),
    *repetitions.claims(MNIST),
    *rounds.claims(MNIST),
    *sentences.CLAIMS,
    rounds.EQUIVALENCE,
]
