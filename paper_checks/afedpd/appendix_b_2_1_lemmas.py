"""Appendix B.2.1: Lemmas 1 to 3.

For P of C clients, drawn uniformly, and v_i = theta_i^{t+1} - thetabar^t, the mean of the drawn v_i has the expectation mean v, and the
expectation of its square is ||mean v||^2 + phi mean ||v_i - mean v||^2.
"""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Claim, Lemma, bar, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.afedpd.notation import ALL, EXACT_ONE, INEXACT, SAMPLING, claim
from paper_checks.afedpd.rounds import play_round_of_all
from paper_checks.steps import Conclusion, Step

CLAIMS: list[Claim] = []


# ---- Lemma 1 ---------------------------------------------------------------------------------------------------------
def average_moves_less(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E ||thetabar^{t+1} - thetabar^t||^2 <= c mean ||theta_i^{t+1} - thetabar^t||^2."""
    v = w.vector("theta_i+ - thetabar", True)
    return norm2(bar(v)) + norm2(v - bar(v)) * p.phi - norm2(v) * c.c


LEMMA_1 = Lemma("Lemma 1", "Lemma 1", "0 <= phi <= 1", average_moves_less, {"c": 1})
CLAIMS += [
    claim(
        "AFEDPD-L1",
        "Appendix B.2.1, Lemma 1",
        "E ||thetabar^{t+1} - thetabar^t||^2 <= mean_i E ||theta_i^{t+1} - thetabar^t||^2.",
        [Step("Lemma 1", LEMMA_1)],
        assumptions=[SAMPLING],
    )
]


# ---- Lemma 2, (14) ---------------------------------------------------------------------------------------------------
def left_of_14(R: Any, L: Any, rho: Any) -> Any:
    """Lemma 2's left side, (14)."""
    return R * (1 - 4 * L**2 / rho**2)


def right_of_14(J: Any, g2: Any, epsilon: Any, L: Any, rho: Any, c: Any = 1) -> Any:
    """Lemma 2's right side, (14), as printed."""
    return J * (8 * L**2 / rho**2) + g2 * (c * 4 * L**2 / rho**2) + 4 * epsilon / rho**2


def lemma_2(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(1 - 4 L^2/rho^2) R_t <= (8 L^2/rho^2) J_t + (c 4/rho^2) ||grad f(thetabar)||^2 + 16 epsilon/rho^2."""
    r = play_round_of_all(w, p, True)
    k = p.L**2 / p.rho**2
    left = left_of_14(norm2(r.xn_i - r.x), p.L, p.rho) - norm2(r.th - r.x) * (8 * k)
    return left - norm2(bar(r.gx)) * (c.c * 4 / p.rho**2) - 16 * p.epsilon / p.rho**2


LEMMA_2 = Lemma("Lemma 2, corrected", "Lemma 2, (14), corrected", INEXACT, lemma_2, {"c": 1})


def lemma_2_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(14) for one client and exact solves: theta^t = thetabar^t, so that J_t = 0, and theta^{t+1} = theta^t - grad f(theta^{t+1})/rho."""
    f = w.function(p.L, -p.L)
    gn = w.vector("grad f+")
    x = gn * 0
    g, _ = w.at(f, x, "f")
    w.at(f, x - gn / p.rho, "f+", g=gn)
    return left_of_14(norm2(gn / p.rho), p.L, p.rho) - right_of_14(norm2(x), norm2(g), 0, p.L, p.rho, c.c)


LEMMA_2_PRINTED = Lemma(
    "Lemma 2, printed", "Lemma 2, (14)", "0 < L, 4*L**3 + 6*L <= rho", lemma_2_printed, {"c": 1}, units="as printed"
)
CLAIMS += [
    claim(
        "AFEDPD-L2",
        "Appendix B.2.1, Lemma 2, (14)",
        "(1 - 4 L^2/rho^2) R_t <= (8 L^2/rho^2) J_t + (4 L^2/rho^2) E ||grad f(thetabar^t)||^2 + 4 epsilon/rho^2.",
        [
            Step("with 4 L^2/rho^2 before the gradient", LEMMA_2_PRINTED),
            Step("with 4/rho^2 and 16 epsilon/rho^2", LEMMA_2, "repaired"),
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
    )
]


# ---- Lemma 3, (15) ---------------------------------------------------------------------------------------------------
def consistency(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(15): mean E ||theta_i^{t+1} - thetabar^{t+1}||^2 <= c mean ||theta_i^{t+1} - thetabar^t||^2."""
    v = w.vector("theta_i+ - thetabar", True)
    return norm2(v - bar(v)) * (1 + p.phi) - norm2(v) * c.c


LEMMA_3 = Lemma("Lemma 3", "Lemma 3, (15)", "0 <= phi <= 1", consistency, {"c": 4})
CLAIMS += [
    claim(
        "AFEDPD-L3",
        "Appendix B.2.1, Lemma 3, (15)",
        "mean_i E ||theta_i^{t+1} - thetabar^{t+1}||^2 <= 4 mean_i E ||theta_i^{t+1} - thetabar^t||^2.",
        [Step("Lemma 3", LEMMA_3)],
        assumptions=[SAMPLING],
        readings=["2 for 4 is enough, and 1 where all take part."],
    )
]
