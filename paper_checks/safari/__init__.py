"""SAFARI (Yang, Qiu, Khanduri, Fang, Liu): its optimisation theory, and its experiments at three sizes.

`optimisation` has the steps of the proofs (with the lemmas of `lemmas`); see `runs` for the sizes of experiments and what was chosen.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from paper_checks.safari import cifar, fashion, mnist, optimisation

CLAIMS: list[Claim] = [*mnist.CLAIMS, *cifar.CLAIMS, *fashion.CLAIMS, *optimisation.CLAIMS]
