"""What FedSLR's potential (10) has to do with the objective: distances to stationarity, KL exponents, best iterates; and the repaired Theorem 3.

Lemmas in the notation of `lemmas`, for every number of clients and every dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fedtheory.algorithms import FedSLR
from fedtheory.claims import bar, dot, lemma, norm2
from fedtheory.claims.claim import Claim
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.proofs.symbolic import agree
from paper_checks.fedslr import kl_theorems, lemmas, theorems
from paper_checks.fedslr.exact_runs import EXACT, KL_HOLDS, PAPER, UNBIASED
from paper_checks.fedslr.theory import DERIVED
from paper_checks.fedslr.unknown_functions import changed, play_unknown
from paper_checks.steps import Conclusion, Step, claim_steps

# ---- towards proximal gradient descent; Theorem 3 --------------------------------------------------------------------


@lemma("proximal gradient", "Remark 2", "0 < L, 0 < eta", c=1)
def proximal_gradient(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||w_{t+1} - prox(w_t - eta grad f(w_t))||^2 <= c (1 + L eta)^2 mean ||w_{i,t+1} - w_t||^2."""
    f, reg = w.function(p.L, -p.L, client=True, name="f"), w.function(None, 0, name="R")
    yn, s, z = w.vector("w_i+", True), w.vector("s"), w.vector("z")
    gn, _ = w.at(f, yn, "f_i+")
    gx, _ = w.at(f, yn * 0, "f_i(w)")
    new, plain = bar(yn - gn * p.eta) - s * p.eta, -bar(gx) * p.eta - z * p.eta
    w.at(reg, new, "R+", g=s)
    w.at(reg, plain, "R plain", g=z)
    return norm2(new - plain) - norm2(yn) * (c.c * (1 + p.L * p.eta) ** 2)


@lemma("tangents", "ours", "0 < L", c=1)
def below_tangents(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x + step) >= f(x) + <grad f(x), step> - c (L/2) ||step||^2."""
    f = w.function(p.L, -p.L)
    step = w.vector("step")
    g, v = w.at(f, step * 0, "f")
    _, vn = w.at(f, step, "f+")
    return v + dot(g, step) - norm2(step) * (c.c * p.L / 2) - vn


@lemma("bounded below", "Remark 4, another reading", "0 < L, 0 < B", units="c = value", c=1000)
def bounded_below(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x + step) >= f(x) - c, for an L-smooth f with gradients at most B at the two points."""
    f = w.function(p.L, -p.L)
    step = w.vector("step")
    g, v = w.at(f, step * 0, "f")
    gn, vn = w.at(f, step, "f+")
    w.assume("A2 at x", norm2(g) - p.B**2)
    w.assume("A2 at y", norm2(gn) - p.B**2)
    return v - c.c - vn


@lemma("firmly nonexpansive", "ours", "0 < eta", c=1)
def firm(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """Convex f_i: mean ||z_i+ - z_i*||^2 <= mean ||z_i - z_i*||^2 - c mean ||z_i+ - z_i||^2.

    z_i = w_{i,t} + eta gamma_{i,t} and z_i+ = w_t + eta gamma_{i,t}, which by (4) and (5) is w_{i,t+1} + eta gamma_{i,t+1}. The minimiser is 0,
    with gradients gamma_i* and -mean gamma_i* in dR.
    """
    f, reg = w.function(None, 0, client=True, name="f"), w.function(None, 0, name="R")
    y, g, g_star, s = w.vector("w_i", True), w.vector("gamma_i", True), w.vector("gamma_i*", True), w.vector("s")
    x = bar(y - g * p.eta) - s * p.eta
    w.at(f, y, "f_i", g=g)
    w.at(f, y * 0, "f_i*", g=g_star)
    w.at(reg, x, "R", g=s)
    w.at(reg, x * 0, "R*", g=-bar(g_star))
    z, new, star = y + g * p.eta, x + g * p.eta, g_star * p.eta
    return norm2(new - star) - norm2(z - star) + norm2(new - z) * c.c


# ---- what the conclusions need of algebra ----------------------------------------------------------------------------


def _duals_are_gradients(method: Callable[[Any], Any] = FedSLR) -> bool:
    """Whether a round of the code leaves gamma_{i,t+1} = grad f_i(w_{i,t+1}) from any state."""
    _, after, gradients, _ = play_unknown(method)
    return agree(after.gamma_i, gradients)


#: how Theorem 3 is proved, with the right constants
TELESCOPES = (
    "phi_i(w_t, .) falls by (eta_l - L eta_l^2/2) ||G||^2 in every local step, and rises by at most B ||w_{t+1} - w_t|| + (L/2) ||w_{t+1} - "
    "w_t||^2 when w_t moves, by A2; both telescope over k and t, as components start where they ended, p_{t+1,0} = p_{t,K}; the last value, "
    "phi_i(w_T, p_{T,0}), is at least the infimum over p"
)
DISTANCES = (
    "w_t - w* is a sum of t + 1 vectors, w_0 - w* and t steps, so by one vector more at a time ||w_t - w*||^2 <= (t + 1)(||w_0 - w*||^2 + 2 eta_g "
    "(D_0 - D_t)), and D_t >= D*; the first N + 1 of these sum to (N+1)(N+2)/2 times the bracket, and at most T others are at most 1/T each"
)
#: the sum of t + 1 over t = 0, ..., N, by induction
SUMMED = ("(N + 1)*(N + 2)/2 + (N + 2) == (N + 2)*(N + 3)/2",)
CLAIMS: list[Claim] = [
    claim_steps(
        "FEDSLR-N5",
        DERIVED,
        "(75) to (78) in the proof of Theorem 2",
        "dist(0, dD_t) = (1/M) sqrt(1 + 1/eta_g^2) (sum_i ||w_t - w_{i,t}||^2)^(1/2) for t >= 1, which is at most sqrt((1 + eta_g^2)/M) (L + "
        "1/eta_g) (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2).",
        [Step("the distance", kl_theorems.SLOPE_OF_ROUNDS)],
        assumptions=[EXACT],
        readings=[
            "At a round's end the parts of dD in y_i, g_i and x are (grad f_i(w_i) - gamma_i - (w - w_i)/eta)/M, (w - w_i)/M and s + mean gamma_i + "
            "mean (w - w_i)/eta with s in dR(w). Every element is at least as long as the one that the server's step leaves. The paper has (1 + "
            "eta_g)(L + 1/eta_g) times the mean of ||w_{i,t+1} - w_{i,t}||. The formula is `potentials.fedslr_subgradient`."
        ],
    ),
    claim_steps(
        "FEDSLR-N7",
        DERIVED,
        "Assumption 4 and (11)",
        "The potential has no KL exponent theta < 1/2 at a stationary point (x*, {x*}, {grad f_i(x*)}), for eta_g < 1/L: with any c the inequality "
        "fails where the copies alone are moved by little, at least where mean_i ||y_i - x*||^2 is below a number that depends on L, eta_g, c and "
        "theta alone.",
        [Step("no exponent below 1/2", kl_theorems.NO_SMALLER)],
        readings=[
            "Where the inequality holds U = mean_i ||y_i - x*||^2 has U^(1 - 2 theta) >= a^(2 theta)/(b c^2 (1 - theta)^2), a = 1/(2 eta_g) - L/2; "
            "and D -> D* as U -> 0. So the case theta = 0 of Theorem 2, (11), is true of nothing, and of (12) only theta = 1/2 occurs. Iterates can "
            "still reach a minimiser of f + R that is sharp in finitely many rounds: (11) is no way to show it."
        ],
    ),
    claim_steps(
        "FEDSLR-N8",
        DERIVED,
        "Remark 6",
        "For theta in [1/2, 1), D has KL exponent theta at (x*, {x*}, {grad f_i(x*)}) exactly when f + R has it at x*; where f + R has a smaller "
        "one, D has 1/2.",
        [
            Step("from f + R to D, above its value", kl_theorems.FROM_THE_OBJECTIVE),
            Step("from f + R to D, below its value", kl_theorems.WHERE_BELOW),
            Step("a smaller exponent of f + R gives 1/2", kl_theorems.SMALLER_ONES),
            Step("from D to f + R", kl_theorems.TO_THE_OBJECTIVE),
        ],
        readings=[
            "D* = (f + R)(x*). E and G are the squares of an element of dD and of that of d(f + R) with the same subgradient of R, and phi is (f + "
            "R)(x) - (f + R)(x*), which is in the window where r and E are small. From D to f + R: at (x, {x}, {grad f_i(x)}) both inequalities are "
            "one. That D has exactly 1/2 where f + R has less uses FEDSLR-N7, for eta_g < 1/L. Exponents are those for which the inequality holds."
        ],
    ),
    claim_steps(
        "FEDSLR-N9",
        DERIVED,
        "(13), corrected",
        "dist(0, grad f(w_t) + dR(w_t)) <= sqrt(C_1/C_2) ((2 theta - 1) C_4 T)^(-1/(4 theta - 2)) at t = T for theta in (1/2, 1), with C_1 "
        "and C_2 as in FEDSLR-T2-72, C_4 = C_2/(c (1 - theta) C_3)^2 and C_3 = sqrt((1 + eta_g^2)/M) (L + 1/eta_g).",
        [Step("the rate", kl_theorems.SUBLINEAR_SHARPER)],
        assumptions=[EXACT, "0 < eta_g < 1/(2L)", "the KL inequality with this c at every iterate, and r_t > 0"],
        readings=[
            "(13) prints the exponent -(4 theta - 2); both are equal at theta = 3/4 only. Runs on functions of known exponent are at FEDSLR-T2c."
        ],
    ),
    claim_steps(
        "FEDSLR-N10",
        DERIVED,
        "Theorem 2, without the KL property",
        "min_{1 <= t <= T} dist(0, grad f(w_t) + dR(w_t))^2 <= (C_1/C_2)(D_1 - D_{T+1})/T with C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L "
        "eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L).",
        [Step("the best iterate", theorems.BEST_ITERATE)],
        assumptions=[EXACT],
    ),
    claim_steps(
        "FEDSLR-N17",
        DERIVED,
        "Theorem 3, repaired, sigma = 0",
        "sum_{t<T} sum_{k<K} ||G(w_t, p_{i,t,k})||^2 <= (phi_i(w_0, p_{i,0,0}) - inf_p phi_i(w_T, p) + B S_1 + (L/2) S_2)/(eta_l - L eta_l^2/2) for "
        "0 < eta_l < 2/L, where S_1 and S_2 are the sums of ||w_{t+1} - w_t|| and of its squares, which stay bounded.",
        [
            Step("a local step", lemmas.proximal_descent),
            Step("a moved model", lemmas.drift_of_loss),
            Step("drift", lemmas.lemma_1),
            Step("the descent", lemmas.factored),
            Step("the first round", lemmas.warm),
            Step("the models are close", lemmas.copies),
        ],
        conclusions=[
            Conclusion(
                "the sum",
                TELESCOPES,
                ("a local step", "a moved model"),
            ),
            Conclusion(
                "both sums are bounded",
                "S_2 <= 2 eta_g (D_0 - D*), as D_t falls to its value D* at the cluster point. From some round on the KL inequality, phi(v) = c "
                "v^(1 - theta) concave, and dist(0, dD_t) <= C_3 m_t with m_t = (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2) (FEDSLR-N5) give phi(r_t) - "
                "phi(r_{t+1}) >= (C_2/C_3) m_t, so that sum m_t is finite; w_{t+1} - w_t is the mean of (w_{t+1} - w_{i,t+2}) + (w_{i,t+2} - "
                "w_{i,t+1}) + (w_{i,t+1} - w_t), so ||w_{t+1} - w_t|| <= (1 + L eta_g) m_{t+1} + L eta_g m_t for t >= 1",
                ("drift", "the descent", "the first round", "the models are close"),
            ),
        ],
        assumptions=[
            EXACT,
            "A1, A2, p_{i,t,0} = p_{i,t-1,K}",
            f"for S_1 and S_2: 0 < eta_g < 1/(2L), a cluster point exists; for S_1: {KL_HOLDS}",
        ],
        readings=[
            "Theorem 3 asks for eta_l < 2/(L + 1) and has a constant that depends on T. Divided by T K this is its rate of O(1/T). At eta_g = "
            "1/(2L), where C_2 = 0, the bound holds, and whether S_1 stays bounded is open, as the last part of Theorem 2 is (FEDSLR-T2d)."
        ],
    ),
    claim_steps(
        "FEDSLR-N18",
        DERIVED,
        "(97) to (102) in the proof of Theorem 3, corrected",
        (
            Clause(
                "(1/T) sum_{t<T} L^2 ||w_t - w*||^2 <= C_7/T with C_7 = L^2 ((N+1)(N+2)/2 (||w_0 - w*||^2 + 2 eta_g (D_0 - D*)) + 1), for every N "
                "such that ||w_t - w*|| <= 1/sqrt(T) for N < t < T;",
                ("the distances",),
            ),
            Clause("and the noise of (14) is (2/C_6 + 2 eta_l) sigma^2.", ("the noise",)),
        ),
        [
            Step("one vector more", lemmas.one_vector_more),
            Step("a round", lemmas.lemma_3_monotone),
            Step("the first round", lemmas.warm),
            Step("Lemma 7", lemmas.lemma_7),
        ],
        conclusions=[
            Conclusion(
                "the distances",
                DISTANCES,
                ("one vector more", "a round", "the first round"),
                confirmed=SUMMED,
            ),
            Conclusion(
                "the noise",
                "in (92) the step is -eta_l G_xi, so that T_2 has expectation eta_l E <a_xi - a, G_xi - G> <= eta_l sigma^2 for unbiased a_xi, by "
                "Lemma 7; (95) then has 2 eta_l sigma^2, and E ||G||^2 <= 2 E ||G_xi||^2 + 2 sigma^2",
                ("Lemma 7",),
                confirmed=["C6*(2/C6 + 2*lr)*sigma**2 == 2*(C6/2)*(2*lr*sigma**2) + 2*sigma**2"],
            ),
        ],
        assumptions=[
            "exact local solves, gamma_{i,0} = grad f_i(w_0)",
            "0 < eta_g <= 1/(2L), and D_t falls to D*",
            UNBIASED,
        ],
        readings=[
            "The paper has t for t + 1, eta_g for 2 eta_g, no L^2 at the first two terms, and (2/C_6 + 1) sigma^2, which is large enough exactly "
            "for eta_l <= 1/2. Instances against its forms are at FEDSLR-T3 and FEDSLR-T3-100. N still depends on T; FEDSLR-N17 has no such "
            "constant."
        ],
    ),
    claim_steps(
        "FEDSLR-R2",
        PAPER,
        "Remark 2",
        (
            Clause("gamma_{i,t+1} = grad f_i(w_{i,t+1}),", ("the duals",)),
            Clause(
                "and as w_{i,t+1} - w_t -> 0 a round reduces to w_{t+1} = Prox(w_t - eta_g grad f(w_t)).",
                ("the limit",),
            ),
        ),
        [Step("the round and proximal gradient descent", proximal_gradient), Step("w_{i,t+1} and w_t", lemmas.lemma_1)],
        conclusions=[
            Conclusion(
                "the duals",
                "a round of the method's own code from any state on two clients of which nothing is known: an exact local solve leaves w_t + eta_g "
                "gamma_{i,t} - w_{i,t+1} = eta_g grad f_i(w_{i,t+1}), of which (5) makes gamma_{i,t+1}; clients do not enter each other's",
                confirmed=_duals_are_gradients,
                wrong={"duals of the other sign": (partial(_duals_are_gradients, changed("sign of the dual step")),)},
            ),
            Conclusion(
                "the limit",
                "the difference is at most (1 + L eta_g) (mean_i ||w_{i,t+1} - w_t||^2)^(1/2), which tends to zero with its right side; by Lemma "
                "1 it does whenever w_{i,t+1} - w_{i,t} -> 0",
                ("the round and proximal gradient descent", "w_{i,t+1} and w_t"),
            ),
        ],
        assumptions=["exact local solves", "the limit: A1, and Lemma 1 for t >= 1"],
        readings=["One decomposition a round in place of M K is Algorithm 1 itself."],
    ),
    claim_steps(
        "FEDSLR-R4",
        PAPER,
        "Remark 4",
        "By Assumption 3 f(w) > -infinity for every w, and f is lower semi-continuous.",
        [Step("above its tangents", below_tangents), Step("bounded below", bounded_below, "reading")],
        conclusions=[
            Conclusion(
                "both parts",
                "f(w) > -infinity is what proper says, and closed sublevel sets are lower semi-continuity. Both follow from A1 alone: f is "
                "finite, and f(y) >= f(x) + <grad f(x), y - x> - (L/2)||y - x||^2, whose right side tends to f(x) as y -> x",
                ("above its tangents",),
            )
        ],
        readings=[
            "The remark calls this 'lower bounded'. In the usual sense, inf f > -infinity, Assumptions 1 to 3 do not give it: the instance falls "
            "by more than 1000 with bounded gradients, as f(w) = w, proper and closed, falls without end. Where the proofs need inf f it is an "
            "assumption of its own."
        ],
        false={"bounded below": "above its tangents"},
    ),
    claim_steps(
        "FEDSLR-R5",
        PAPER,
        "Remark 5",
        (
            Clause("A converging subsequence exists when the sequence is bounded", ("by Bolzano and Weierstrass",)),
            Clause("(and, ours, it is bounded for lam > 0, inf f > -inf and eta_g < 1/(2L)).", ("it is bounded",)),
        ),
        [Step("the potential from below", lemmas.lower_bound), Step("the potential falls", lemmas.lemma_3_monotone)],
        conclusions=[
            Conclusion(
                "by Bolzano and Weierstrass",
                "a bounded sequence in finitely many dimensions has a converging subsequence",
            ),
            Conclusion(
                "it is bounded",
                "R(w_t) + (1/(2 eta_g) - L/2) mean_i ||w_t - w_{i,t}||^2 <= D_t - inf f <= D_1 - inf f for t >= 1, R is a norm of the matrices, and "
                "gamma_{i,t} = grad f_i(w_{i,t}) is continuous",
                ("the potential from below", "the potential falls"),
            ),
        ],
        assumptions=[EXACT, "every parameter belongs to a matrix, so that R bounds it"],
        readings=[
            "The remark assumes what is shown here under conditions of the paper and inf f > -inf, which Assumption 3 does not give (FEDSLR-R4)."
        ],
    ),
    claim_steps(
        "FEDSLR-R7",
        PAPER,
        "Remark 7",
        (
            Clause("A smaller exponent theta guarantees a faster rate:", ("a smaller exponent",)),
            Clause("linear for theta <= 1/2,", ("linear",)),
            Clause("sublinear above.", ("sublinear",)),
        ),
        [
            Step("a smaller exponent is faster above 1/2", kl_theorems.FASTER),
            Step("linear up to 1/2", kl_theorems.LINEAR),
            Step("sublinear above 1/2", kl_theorems.SUBLINEAR),
        ],
        assumptions=[EXACT, "the KL inequality at every iterate"],
        readings=[
            "(13) as printed, T^(-(4 theta - 2)), says the opposite: faster for larger theta. The remark goes with its correction (FEDSLR-N9). "
            "theta < 1/2 does not occur (FEDSLR-N7)."
        ],
    ),
]
