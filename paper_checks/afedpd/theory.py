"""A-FedPD's Lemmas 1 to 3, its descent, and a round of Theorem 1 where all clients take part, as statements (`lemmas`).

Read throughout: f_i is L-smooth (Assumption 1) and need not be convex, which is how "non-convex" is read; an epsilon-inexact solution has
||grad L_i(theta_i^{t+1})||^2 <= epsilon, so that epsilon = 0 for exact ones; f(theta) = mean_i f_i(theta); theta^0 is any start and
lambda_i^0 = 0. What is proved asks only for the mean of ||e_i||^2. A counterexample with one client is one with C equal ones.
"""

from __future__ import annotations

from fedtheory.claims import Claim
from paper_checks.afedpd import lemmas
from paper_checks.steps import Conclusion, Step, claims_of

PAPER = "a-fedpd"
DERIVED = f"{PAPER}, derived"
claim, derived = claims_of(PAPER), claims_of(DERIVED)
ALL = "all clients take part (P = C)"
EXACT_ONE = "the counterexample has one client, who solves exactly (epsilon = 0)"
SAMPLING = (
    "P of C clients are drawn uniformly; theta_i^{t+1} of the others is what they would return; phi = (C - P)/(P (C - 1)), with which "
    "E ||mean_P v||^2 = ||mean v||^2 + phi mean ||v_i - mean v||^2"
)

CLAIMS: list[Claim] = [
    claim(
        "AFEDPD-L1",
        "Appendix B.2.1, Lemma 1",
        "E ||thetabar^{t+1} - thetabar^t||^2 <= mean_i E ||theta_i^{t+1} - thetabar^t||^2.",
        [Step("Lemma 1", lemmas.LEMMA_1)],
        assumptions=[SAMPLING],
    ),
    claim(
        "AFEDPD-L2",
        "Appendix B.2.1, Lemma 2, (14)",
        "(1 - 4 L^2/rho^2) R_t <= (8 L^2/rho^2) J_t + (4 L^2/rho^2) E ||grad f(thetabar^t)||^2 + 4 epsilon/rho^2.",
        [
            Step("with 4 L^2/rho^2 before the gradient", lemmas.LEMMA_2_PRINTED),
            Step("with 4/rho^2 and 16 epsilon/rho^2", lemmas.LEMMA_2, "repaired"),
        ],
        conclusions=[
            Conclusion(
                "L >= 1 and exact solves",
                "where L >= 1 the printed 4 L^2/rho^2 is at least the corrected 4/rho^2, and epsilon may be as small as one likes",
                ("with 4/rho^2 and 16 epsilon/rho^2",),
                "reading",
            )
        ],
        assumptions=[ALL, "t >= 1", EXACT_ONE, "rho^2 - 4 L^3 rho - 36 L^2 - 4 L^4 > 0, as Appendix B.2.2 asks"],
        repaired="4/rho^2 stands before ||grad f(thetabar^t)||^2, and 16 epsilon/rho^2 for 4 epsilon/rho^2; for every rho > 0.",
        readings=[
            "L^2 ||grad f||^2/rho^2 has another dimension than the left side. For L >= 1, exact solves, all clients and t >= "
            "1 the printed lemma is true.",
            "With some of the clients lambda_i^t is no longer -grad f_i(theta_i^t), which the proof uses; that is not judged here.",
        ],
        false={"with 4 L^2/rho^2 before the gradient": "with 4/rho^2 and 16 epsilon/rho^2"},
    ),
    claim(
        "AFEDPD-L3",
        "Appendix B.2.1, Lemma 3, (15)",
        "mean_i E ||theta_i^{t+1} - thetabar^{t+1}||^2 <= 4 mean_i E ||theta_i^{t+1} - thetabar^t||^2.",
        [Step("Lemma 3", lemmas.LEMMA_3)],
        assumptions=[SAMPLING],
        readings=["2 for 4 is enough, and 1 where all take part."],
    ),
    claim(
        "AFEDPD-DESC",
        "Appendix B.2.2, the descent before R_t is defined",
        "E f(thetabar^{t+1}) <= f(thetabar^t) + (L/2)(1 + L/rho) R_t - ||grad f(thetabar^t)||^2/(2 rho) for epsilon-inexact solves.",
        [
            Step("without epsilon", lemmas.DESCENT_PRINTED),
            Step("with epsilon/rho", lemmas.DESCENT, "repaired"),
            Step("exact solves", lemmas.MOVES, "reading"),
        ],
        assumptions=[SAMPLING, "the counterexample has one client with ||e||^2 <= epsilon"],
        repaired="... + (L/2)(1 + 2 L/rho) R_t + epsilon/rho - ...; with exact solves the printed display is true. Every rho > 0, any P.",
        readings=[
            "Between two lines of the proof e is dropped: (grad f_i + lambda_i - e) becomes grad f_i. The O(epsilon) of Theorem 1 is not touched."
        ],
        false={"without epsilon": "with epsilon/rho"},
    ),
    claim(
        "AFEDPD-T1P",
        "Appendix B.2.2, the display that is summed",
        "E f(thetabar^{t+1}) + R_t/rho <= f(thetabar^t) + R_{t-1}/rho - ||grad f(thetabar^t)||^2/rho + epsilon/(8 L^2 rho).",
        [Step("1/rho", lemmas.ONE_STEP_PRINTED), Step("3/(8 rho)", lemmas.ONE_STEP, "repaired")],
        assumptions=[ALL, EXACT_ONE, "L >= 1 and rho >= 16 L^3 + 6 L, which allows q = rho/(32 L^2)"],
        repaired="3/(8 rho) stands before ||grad f(thetabar^t)||^2, and 2 epsilon/rho for epsilon/(8 L^2 rho).",
        readings=[
            "1/(2 rho) - 4 q L^2/rho^2 is 3/(8 rho) with q = rho/(32 L^2); a larger coefficient is no relaxation."
        ],
        false={"1/rho": "3/(8 rho)"},
    ),
    derived(
        "AFEDPD-T1R",
        "Theorem 1, corrected, one round",
        "f(thetabar^{t+1}) + (L^2/(4 rho)) R_t <= f(thetabar^t) + (L^2/(4 rho)) R_{t-1} - ||grad f(thetabar^t)||^2/(4 rho) "
        "for t >= 1, rho >= 7.583 L and exact "
        "solves; with 2 epsilon/rho more for rho >= 10.325 L and epsilon-inexact ones.",
        [Step("exact solves", lemmas.POTENTIAL), Step("inexact solves", lemmas.POTENTIAL_INEXACT)],
        assumptions=[ALL],
    ),
]
