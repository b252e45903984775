"""SAFARI (Yang, Qiu, Khanduri, Fang, Liu): its optimisation theory, and its experiments at three sizes.

`optimisation` has the steps of the proofs (with the lemmas of `lemmas`), `biased` and
`strongly_convex` the theorems where participation is biased, `limits` where the methods go; see `runs` for
the sizes of experiments and what was chosen.
"""

from __future__ import annotations

from fedtheory.claims.claim import Claim
from fedtheory.claims.publication import Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.instance_fields import SAFARI
from paper_checks.safari import (
    biased,
    cifar,
    fashion,
    generalisation,
    learnability,
    lemma_one,
    limits,
    mnist,
    no_worse,
    optimisation,
    positively_related,
    strongly_convex,
    tables,
)

PAPER = Publication(
    "Understanding Server-Assisted Federated Learning in the Presence of Incomplete Client Participation",
    ("Haibo Yang", "Peiwen Qiu", "Prashant Khanduri", "Minghong Fang", "Jia Liu"),
    2024,
    "arXiv:2405.02745",
    published="ICML",
    read="With its appendix; the text that was read names no version.",
)

CLAIMS: list[Claim] = with_fields(
    [
        *mnist.CLAIMS,
        *cifar.CLAIMS,
        *fashion.CLAIMS,
        *tables.CLAIMS,
        *optimisation.CLAIMS,
        *biased.CLAIMS,
        *strongly_convex.CLAIMS,
        *limits.CLAIMS,
        *learnability.CLAIMS,
        *positively_related.CLAIMS,
        *generalisation.CLAIMS,
        *lemma_one.CLAIMS,
        *no_worse.CLAIMS,
    ],
    SAFARI,
)
