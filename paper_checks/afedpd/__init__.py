"""A-FedPD (Sun, Shen, Tao): the experiments, and steps of the theory.

`runs` has the three sizes and what was chosen where the paper leaves it open, `published` the numbers that the paper prints; the other
modules follow its figures and tables; `theory` has statements of Appendix B.2 as lemmas (`lemmas`), `theorem_one` Theorem 1, `remarks` what is
said of them, `moments` has exact moments of the methods on quadratics, from which `drift` and `partial_rounds` follow, `stability`,
`recursion`, `generalisation` and `theorem_two` have Appendix B.3 and Theorem 2.
"""

from __future__ import annotations

from fedtheory.claims import Claim, Publication
from fedtheory.claims.refutation import with_fields
from paper_checks.afedpd import (
    accuracies,
    costs,
    drift,
    generalisation,
    hyperparameters,
    intervals,
    label_shares,
    moments,
    partial_rounds,
    participation,
    printed_methods,
    recursion,
    remarks,
    residuals,
    speed,
    stability,
    structure,
    tables,
    theorem_one,
    theorem_two,
    theory,
)
from paper_checks.instance_fields import AFEDPD

PAPER = Publication(
    "A-FedPD: Aligning Dual-Drift is All Federated Primal-Dual Learning Needs",
    ("Yan Sun", "Li Shen", "Dacheng Tao"),
    2024,
    "arXiv:2409.18915",
    published="NeurIPS",
    read="With its appendix; the text that was read names no version.",
)

CLAIMS: list[Claim] = with_fields(
    [
        *participation.CLAIMS,
        *speed.CLAIMS,
        *residuals.CLAIMS,
        *intervals.CLAIMS,
        *accuracies.CLAIMS,
        *tables.CLAIMS,
        *label_shares.CLAIMS,
        *costs.CLAIMS,
        *hyperparameters.CLAIMS,
        *theory.CLAIMS,
        *theorem_one.CLAIMS,
        *structure.CLAIMS,
        *printed_methods.CLAIMS,
        *moments.CLAIMS,
        *drift.CLAIMS,
        *partial_rounds.CLAIMS,
        *stability.CLAIMS,
        *recursion.CLAIMS,
        *generalisation.CLAIMS,
        *theorem_two.CLAIMS,
        *remarks.CLAIMS,
    ],
    AFEDPD,
)
