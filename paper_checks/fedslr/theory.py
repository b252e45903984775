"""FedSLR's Lemmas 1, 3 and 5 to 7, Fact 4, and steps of its proofs, as statements (`lemmas`): for every number of clients and every dimension.

Read throughout: f_i is L-smooth (A1) and need not be convex, ||.|| is Euclidean, R and the sparse penalty are convex, local problems are
solved exactly. Bounded gradients (A2) and A3 are not needed where something is proved. A counterexample here is a sum of quadratics in
single coordinates near the points at which it is evaluated; beyond those each derivative can be led to 0 with slope L and stay there, so
that A2 and A3 hold, too. Where it has one coordinate and R = 0, f(w) - lam w and a start far from 0 with w > 0 give the same iterates for
R = lam |w|.
"""

from __future__ import annotations

from fedtheory.claims import Claim
from fedtheory.claims.protocol import Clause
from paper_checks.fedslr import kl_theorems, lemmas, theorems
from paper_checks.fedslr.exact_runs import ALONG, CONTINUOUS, EXACT, claim, derived
from paper_checks.steps import Step

ONE_CLIENT = "the counterexample has one client and R = 0, t >= 1"

CLAIMS: list[Claim] = [
    claim(
        "FEDSLR-L1",
        "Lemma 1, (31)",
        "||w_t - w_{i,t+1}|| <= L eta_g ||w_{i,t+1} - w_{i,t}||.",
        [Step("Lemma 1", theorems.LEMMA_1)],
        assumptions=[EXACT],
        readings=["No condition on eta_g is needed. The paper does not say how gamma_{i,0} starts; see FEDSLR-N11."],
    ),
    claim(
        "FEDSLR-L3",
        "Lemma 3, (35) and (41)",
        "D_{t+1} - D_t <= (L^2 eta_g + L/2 - 1/(2 eta_g)) mean_i ||w_{i,t+1} - w_{i,t}||^2 - ||w_{t+1} - w_t||^2/(2 eta_g), and D_{t+1} <= D_t for "
        "0 < eta_g <= 1/(2L).",
        [Step("Lemma 3", theorems.LEMMA_3)],
        assumptions=[EXACT],
        readings=[
            "(35) holds for every eta_g > 0. At eta_g = 1/(2L) its coefficient is 0, where the proof says that it is negative; the potential "
            "still does not rise. Fact 2 holds from t = 1 on; for t = 0 see FEDSLR-N11."
        ],
    ),
    claim(
        "FEDSLR-L5",
        "Lemma 5, (86) and (87)",
        "<grad f_i(w_t + p_k; xi), p_k - p_{k+1}> >= Rt(p_{k+1}) - Rt(p_k) + ||p_{k+1} - p_k||^2/eta_l.",
        [Step("Lemma 5", lemmas.lemma_5), Step("the subgradient of the proof", lemmas.lemma_5_proof, "reading")],
        assumptions=["p_{k+1} = Prox(p_k - eta_l a) with the same drawn gradient a on both sides"],
        readings=[
            "p_{i,t} in the gradient is read as p_{i,t,k}. The lemma is true as printed; its proof takes the subgradient at p_k, with which the "
            "inequality is false: the proximal step has it at p_{k+1}."
        ],
        false={"the subgradient of the proof": "Lemma 5"},
    ),
    claim("FEDSLR-L6", "Lemma 6, (88)", "<a, b> <= ||a||^2/2 + ||b||^2/2.", [Step("Lemma 6", lemmas.lemma_6)]),
    claim(
        "FEDSLR-L7",
        "Lemma 7, (89)",
        "||G_{eta_l, xi} - G_{eta_l}|| <= ||grad f_i(w + p; xi) - grad f_i(w + p)||.",
        [Step("squared", lemmas.lemma_7)],
    ),
    claim(
        "FEDSLR-F4",
        "Fact 4, (28)",
        "0 is in dR(w_{t+1}) + mean_i grad f_i(w_{i,t+1}) + (w_{t+1} - mean_i w_{i,t})/eta_g.",
        [Step("with w_{i,t}", lemmas.fact_4_printed), Step("with w_{i,t+1}", lemmas.fact_4, "repaired")],
        assumptions=[EXACT, ONE_CLIENT],
        repaired="The last term has w_{i,t+1}.",
        readings=[
            "A misprint of an index: (27), (52) and (68) have w_{i,t+1}, and nothing rests on the printed index."
        ],
        false={"with w_{i,t}": "with w_{i,t+1}"},
    ),
    derived(
        "FEDSLR-N1",
        "Lemma 3 and (71)",
        "The potential falls by (1 - 2 L eta_g)(1 + L eta_g)/(2 eta_g) mean_i ||w_{i,t+1} - w_{i,t}||^2 at least, which is positive exactly for "
        "eta_g < 1/(2L).",
        [Step("the descent in factors", theorems.FACTORED)],
        assumptions=[EXACT],
        readings=[
            "This is -C_2: the paper calls C_2 = L^2 eta_g + L/2 - 1/(2 eta_g) positive by assumption, and it is negative."
        ],
    ),
    derived(
        "FEDSLR-N3",
        "Lemma 3 for convex f_i",
        (
            Clause(
                "For convex f_i the potential falls by mean_i ||w_{i,t+1} - w_{i,t}||^2/(2 eta_g) at least for eta_g <= 1/(2L),",
                ("eta_g <= 1/(2L)",),
            ),
            Clause(
                "and by (1/(2 eta_g) - (eta_g - 1/(2L)) L^2) mean_i ||w_{i,t+1} - w_{i,t}||^2 at least for 1/(2L) <= eta_g < 1/L.",
                ("1/(2L) <= eta_g < 1/L",),
            ),
        ),
        [Step("eta_g <= 1/(2L)", theorems.CONVEX_SHORT), Step("1/(2L) <= eta_g < 1/L", theorems.CONVEX_LONG)],
        assumptions=[EXACT, "f_i convex"],
        readings=["One round only; that the method converges for convex f_i and every eta_g is FEDSLR-N13."],
    ),
    derived(
        "FEDSLR-N4",
        "the potential (10)",
        "D(w, {w_i}, {grad f_i(w_i)}) >= f(w) + R(w) + (1/(2 eta_g) - L/2) mean_i ||w - w_i||^2.",
        [Step("from below", theorems.LOWER_BOUND)],
    ),
    claim(
        "FEDSLR-N6",
        "(70) in the proof of Theorem 2",
        "dist^2(0, grad f(w_t) + dR(w_t)) <= C_1 mean_i ||w_{i,t+1} - w_{i,t}||^2 with C_1 = 4 (eta_g L^2 + eta_g^2 L^4 + 1/eta_g + L^2).",
        [
            Step("with C_1 as printed", lemmas.stationary_printed),
            Step("with (1/eta_g + eta_g L^2)^2", lemmas.stationary, "repaired"),
        ],
        assumptions=[EXACT, f"{ONE_CLIENT}, where the distance is ||grad f(w_t)||"],
        repaired="C_1 = (1/eta_g + eta_g L^2)^2, for every eta_g > 0. The second line of (70) loses a square: 2/eta_g stands for 2/eta_g^2.",
        readings=[
            "The printed C_1 is large enough where eta_g >= 1/4 in the units at hand; it has no fixed dimension."
        ],
        false={"with C_1 as printed": "with (1/eta_g + eta_g L^2)^2"},
    ),
    claim(
        "FEDSLR-T2-72",
        "(72) in the proof of Theorem 2",
        "dist(0, grad f(w_t) + dR(w_t)) <= sqrt(C_1/C_2) sqrt(r_t), r_t = D_t - D*.",
        [
            Step("with C_1 as printed", lemmas.residual_printed),
            Step("corrected", kl_theorems.RESIDUALS, "repaired"),
        ],
        assumptions=[
            EXACT,
            f"{ONE_CLIENT}, f strongly convex, so that the iterates converge to its minimiser and D* = min f",
            CONTINUOUS,
            ALONG,
        ],
        repaired="C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L).",
        readings=[
            "C_2 as printed is negative, and no root can be taken; it is read as |C_2|, which is what (71) needs."
        ],
        false={"with C_1 as printed": "corrected"},
    ),
    derived(
        "FEDSLR-N11",
        "Lemma 3 at t = 0, which (43) adds",
        "D_1 <= D_0 - ||w_1 - w_0||^2/(2 eta_g) from w_{i,0} = w_0 and gamma_{i,0} = grad f_i(w_0), for 0 < eta_g <= 1/(2L).",
        [
            Step("gamma_{i,0} = grad f_i(w_0)", theorems.FIRST_ROUND),
            Step("gamma_{i,0} = 0: D_1 <= D_0", lemmas.cold, "reading"),
        ],
        assumptions=["exact local solves"],
        readings=[
            "The paper does not say how gamma_{i,0} and w_{i,0} start. From 0 and w_0, which its public code takes, the potential can rise in the "
            "first round; its sums from t = 0 then begin at t = 1."
        ],
        false={"gamma_{i,0} = 0: D_1 <= D_0": "gamma_{i,0} = grad f_i(w_0)"},
    ),
    derived(
        "FEDSLR-N17-STEP",
        "a step of Theorem 3, sigma = 0",
        (
            Clause("phi_i(p_{k+1}) <= phi_i(p_k) - (eta_l - L eta_l^2/2) ||G||^2 for 0 < eta_l < 2/L,", ("descent",)),
            Clause("and dist(0, d phi_i(p_{k+1})) <= (1 + L eta_l) ||G||.", ("stationarity",)),
        ),
        [Step("descent", theorems.PROXIMAL_DESCENT), Step("stationarity", theorems.NEXT_POINT)],
        assumptions=["exact gradients, w_t fixed"],
        readings=[
            "Theorem 3 asks for eta_l < 2/(L + 1), which Young's inequality with weight 1 brings in. Remark 8 says O(eps) for ||G||^2 <= eps; by "
            "the second part it is O(sqrt(eps)), at p_{k+1}."
        ],
    ),
]
