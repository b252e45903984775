"""Lemmas 1, 3 and 4 of the proof of Theorems 1 and 3 (`statements`); Lemma 2 is `spreads`."""

from __future__ import annotations

from fedtheory.claims import Claim
from paper_checks.fedpd import statements
from paper_checks.fedpd.common import A1, A2, STEP, HalfDualStep, WithoutDuals, claim
from paper_checks.steps import Conclusion, Runs, Step

PRINTED_FOUR = "printed constant (1 - 2u)/(N eta)"
PROOFS_THREE = "uploads on the left, as in its proof and in (37)"
UPLOADS_THREE = "uploads on both sides"


CLAIMS: list[Claim] = [
    claim(
        "FEDPD-L1",
        "Lemma 1, (21)",
        "A round changes L_i by at most -((1-2u)/(2 eta))||dx_i||^2 - (1/(2 eta))||x_{0,i}^{r+} - x_{0,i}^r||^2 + eta ||dlam_i||^2 "
        "+ epsilon_1/(2L).",
        [
            Step("Lemma 1", statements.LEMMA_ONE),
            Step("(46)", statements.LOCAL_STEP),
            Step("(47)", statements.DUAL_STEP),
            Step("(48)", statements.SERVER_STEP),
        ],
        runs=[
            Runs(
                "rounds with exact solves, 1 - u in the place of 1 - 2u",
                statements.in_rounds("change <= eta*dual2 - (1 - L*eta)/(2*eta)*dx2 - d0_2/(2*eta)", "Lemma 1"),
                {"half a dual step": lambda eta: HalfDualStep(eta)},
            )
        ],
        assumptions=(A1, "local solves satisfy (16)"),
    ),
    claim(
        "FEDPD-L3",
        "Lemma 3, (23), as its proof and (37) have it",
        "mean_i [L_i at the upload x_{0,i}^{r+} minus L_i at their average] >= -((N-1)/(2 N eta)) (spread of x_{0,i}^{r+1})^2.",
        [
            Step(PROOFS_THREE, statements.UPLOADS_APART),
            Step(UPLOADS_THREE, statements.LEMMA_THREE, "repaired"),
            Step("half of the constant, from what pairs have on average", statements.LEMMA_THREE_ON_AVERAGE, "reading"),
        ],
        conclusions=[
            Conclusion(
                "x_{0,i}^{r+1} on the left, as (23) prints it",
                "in a round that skips x_{0,i}^{r+1} is the upload, so that it is the corrected lemma; in one that communicates all x_{0,i}^{r+1} "
                "are their average, and both sides vanish",
                (UPLOADS_THREE,),
                "reading",
            ),
        ],
        assumptions=(A1, "the round of the instance communicates"),
        repaired="The spread is that of the uploads x_{0,i}^{r+}, too; so it is true of each client, and not of their mean alone.",
        readings=(
            "(23) prints x_{0,i}^{r+1} on its left side, and so read it is true, with nothing to say of rounds that communicate. Its proof ends "
            "with the uploads x_{0,i}^{r+}, and (37) needs them there: at a fixed point of clients that differ the left side is negative and the "
            "spread of the common x_0^{r+1} is 0.",
        ),
        false={PROOFS_THREE: UPLOADS_THREE},
    ),
    claim(
        "FEDPD-L4",
        "Lemma 4, (24)",
        "f(x_0^r) <= L(x_{0:N}^r, lam^r) - ((1-2u)/(N eta)) sum_i ||x_i^r - x_0^r||^2 + epsilon_1/(2L).",
        [
            Step(PRINTED_FOUR, statements.LEMMA_FOUR_PRINTED),
            Step("halved constant", statements.LEMMA_FOUR, "repaired"),
        ],
        runs=[
            Runs(
                "halved constant in rounds",
                statements.in_rounds(
                    "value <= level - (1 - 2*L*eta)/(2*eta)*w2", "Lemma 4 with exact solves", bounded_below=True
                ),
                {"duals never move": lambda eta: WithoutDuals(eta)},
                "repaired",
            )
        ],
        assumptions=(A1, A2, STEP, "local solves satisfy (16)"),
        readings=(
            "The instance is a state that the algorithm reaches: the first round from x^0 with exact solves and lam_i^0 = -grad f_i(x^0), where "
            "x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0). On f_i = (L/2) x^2 the inequality needs u >= 1/3.",
        ),
        repaired="The constant is (1-2u)/(2 N eta), which is what the proof in Appendix C-D gives.",
        false={PRINTED_FOUR: "halved constant"},
    ),
]
