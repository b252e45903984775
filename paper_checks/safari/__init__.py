"""SAFARI (Yang, Qiu, Khanduri, Fang, Liu): the paper's experiments, at three sizes; see `runs` for the sizes and what was chosen."""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.safari import cifar, fashion, mnist

CLAIMS: list[Claim] = [*mnist.CLAIMS, *cifar.CLAIMS, *fashion.CLAIMS]
