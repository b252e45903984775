"""The claims on MNIST. At paper size they need no GPU: ``check paper_checks/safari/mnist.py --size paper`` (see `runs`)."""

from __future__ import annotations

from paper_checks.safari import degradation, gains, rounds
from paper_checks.safari.runs import MNIST

CLAIMS = [*degradation.claims(MNIST), *gains.claims(MNIST), *rounds.claims(MNIST), rounds.EQUIVALENCE]
