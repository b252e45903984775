"""What FedSLR's potential (10) has to do with the objective: distances to stationarity, KL exponents, best iterates; and the repaired Theorem 3.

Lemmas in the notation of `lemmas`, for every number of clients and every dimension.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import bar, lemma, norm2
from fedtheory.claims.claim import Claim
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.fedslr import kl_theorems, lemmas, phase_two_theorems, theorems
from paper_checks.fedslr.exact_runs import EXACT, KL_HOLDS, UNBIASED, claim, derived
from paper_checks.fedslr.operators import same_states
from paper_checks.fedslr.theorems import ROUNDS, play_rounds
from paper_checks.fedslr.unknown_functions import changed
from paper_checks.steps import Conclusion, Step

# ---- Remarks 2 and 4 -------------------------------------------------------------------------------------------------


def play_beside_proximal_gradient(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds, and where a step of proximal gradient descent goes from w_t."""
    states = play_rounds(w, p, last)
    for k, state in enumerate(states):
        slope, _ = w.at(state.f_i, state.w + state.gamma_i * 0, f"f_i(w) {k}")
        z = w.vector(f"z {k}")
        state.plain = state.w - (bar(slope) + z) * p.eta
        w.at(state.R, state.plain, f"R plain {k}", g=z)
    return states


REDUCES = Theorem(
    "0 < L, 0 < eta",
    "far[t] -> 0 as t",
    """
      size:  0 <= far[t]                           by derivation
      near:  far[t] <= (1 + L*eta)**2*step[t]      by derivation
      done:  claim                                 by squeeze size, near, steps
    """,
    states=replace(ROUNDS, play=play_beside_proximal_gradient),
    rounds={"t": 1},
    quantities={"far": "norm2(w_next - plain)", "step": "mean(norm2(w_i_next - w))"},
    given={"steps": "step[t] -> 0 as t"},
)


def play_towards_a_point(w: World, p: Parameters, last: int) -> list[Any]:
    """An L-smooth f at a point and at any others, and a number."""
    f, x, level = w.function(p.L, -p.L, name="f"), w.vector("limit"), w.value("level")
    w.at(f, x, "f(limit)")
    return [SimpleNamespace(w=w.vector(f"w {k}"), limit=x, level=level, f=f) for k in range(last + 1)]


CLOSED = Theorem(
    "0 < L",
    "excess[0] <= 0",
    """
      near:   excess[t] <= f[t] + a*G[t] + (1/(4*a) + L/2)*d[t]           by derivation
      same_f: excess[t+1] == excess[t]                                       by identity
      same_g: G[t+1] == G[t]                                           by identity
      one_f:  excess[T] == excess[0]                                         by induction T: base combine; step combine ih, same_f(t=T)
      one_g:  G[T] == G[0]                                             by induction T: base combine; step combine ih, same_g(t=T)
      every:  excess[0] <= a*G[0] + (1/(4*a) + L/2)*d[t]                  by combine near, sublevel, (-1)*one_f(T=t), a*one_g(T=t)
      limit:  excess[0] <= a*G[0]                                         by limit of every, points
      sign:   0 <= G[t]                                                by derivation
      done:   claim                                                    by least a of limit
    """,
    states=PlayedStates(play_towards_a_point),
    rounds={"t": 0, "T": 0},
    auxiliary="0 < a",
    quantities={
        "excess": "f(limit) - level",
        "f": "f(w) - level",
        "d": "norm2(w - limit)",
        "G": "norm2(grad(f, limit))",
    },
    given={"points": "d[t] -> 0 as t", "sublevel": "f[t] <= 0"},
)


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


CLAIMS: list[Claim] = [
    derived(
        "FEDSLR-N5",
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
    derived(
        "FEDSLR-N7",
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
    derived(
        "FEDSLR-N8",
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
    derived(
        "FEDSLR-N9",
        "(13), corrected",
        "dist(0, grad f(w_t) + dR(w_t)) <= sqrt(C_1/C_2) ((2 theta - 1) C_4 T)^(-1/(4 theta - 2)) at t = T for theta in (1/2, 1), with C_1 "
        "and C_2 as in FEDSLR-T2-72, C_4 = C_2/(c (1 - theta) C_3)^2 and C_3 = sqrt((1 + eta_g^2)/M) (L + 1/eta_g).",
        [Step("the rate", kl_theorems.SUBLINEAR_SHARPER)],
        assumptions=[EXACT, "0 < eta_g < 1/(2L)", "the KL inequality with this c at every iterate, and r_t > 0"],
        readings=[
            "(13) prints the exponent -(4 theta - 2); both are equal at theta = 3/4 only. Runs on functions of known exponent are at FEDSLR-T2c."
        ],
    ),
    derived(
        "FEDSLR-N10",
        "Theorem 2, without the KL property",
        "min_{1 <= t <= T} dist(0, grad f(w_t) + dR(w_t))^2 <= (C_1/C_2)(D_1 - D_{T+1})/T with C_1 = (1/eta_g + eta_g L^2)^2 and C_2 = (1 - 2 L "
        "eta_g)(1 + L eta_g)/(2 eta_g), for 0 < eta_g < 1/(2L).",
        [Step("the best iterate", theorems.BEST_ITERATE)],
        assumptions=[EXACT],
    ),
    derived(
        "FEDSLR-N17",
        "Theorem 3, repaired, sigma = 0",
        "sum_{t<T} sum_{k<K} ||G(w_t, p_{i,t,k})||^2 <= (phi_i(w_0, p_{i,0,0}) - inf_p phi_i(w_T, p) + B S_1 + (L/2) S_2)/(eta_l - L eta_l^2/2) for "
        "0 < eta_l < 2/L, where S_1 and S_2 are the sums of ||w_{t+1} - w_t|| and of its squares, which stay bounded.",
        [
            Step("the sum", phase_two_theorems.LOCAL_STEPS),
            Step("S_2 is bounded", phase_two_theorems.SQUARES),
            Step("S_1 is bounded", phase_two_theorems.PATH),
        ],
        assumptions=[
            EXACT,
            "A1, A2, p_{i,t,0} = p_{i,t-1,K}",
            f"for S_1 and S_2: 0 < eta_g < 1/(2L), a cluster point exists; for S_1: {KL_HOLDS}",
        ],
        readings=[
            "The sum is over all local steps, between which w moves by m, which is 0 but at the end of a round. S_1 is bounded from the round on "
            "from which A4's inequality holds, counted as 1, with k = c C_3/C_2. Theorem 3 asks for eta_l < 2/(L + 1) and has a constant that "
            "depends on T. Divided by T K this is its rate of O(1/T). At eta_g = 1/(2L), where C_2 = 0, the bound holds, and whether S_1 stays "
            "bounded is open, as the last part of Theorem 2 is (FEDSLR-T2d)."
        ],
    ),
    derived(
        "FEDSLR-N18",
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
            Step("the distances", phase_two_theorems.DISTANCES),
            Step("the distances: the rounds up to N", phase_two_theorems.EARLY),
            Step("the noise", phase_two_theorems.DRAWN_STEPS),
            Step("the noise in C_6", phase_two_theorems.NOISE),
        ],
        assumptions=[
            "exact local solves, gamma_{i,0} = grad f_i(w_0)",
            "0 < eta_g <= 1/(2L), and D_t falls to D*",
            UNBIASED,
        ],
        readings=[
            "late[t] is 1 for t > N and 0 for the others, which add up to (N+1)(N+2)/2; H is T. The paper has t for t + 1, eta_g for 2 eta_g, no "
            "L^2 at the first two terms, and (2/C_6 + 1) sigma^2, which is large enough exactly for eta_l <= 1/2. Instances against its forms are "
            "at FEDSLR-T3 and FEDSLR-T3-100. N still depends on T; FEDSLR-N17 has no such constant."
        ],
    ),
    claim(
        "FEDSLR-R2",
        "Remark 2",
        (
            Clause("gamma_{i,t+1} = grad f_i(w_{i,t+1}),", ("the duals",)),
            Clause(
                "and as w_{i,t+1} - w_t -> 0 a round reduces to w_{t+1} = Prox(w_t - eta_g grad f(w_t)).",
                ("the limit",),
            ),
        ),
        [
            Step(
                "the duals",
                same_states(),
                wrong={"duals of the other sign": same_states(changed("sign of the dual step"))},
            ),
            Step("the limit", REDUCES),
            Step("w_{i,t+1} and w_t", lemmas.lemma_1),
        ],
        assumptions=["exact local solves", "the limit: A1, and Lemma 1 for t >= 1"],
        readings=[
            "By Lemma 1 w_{i,t+1} - w_t -> 0 whenever w_{i,t+1} - w_{i,t} -> 0. One decomposition a round in place of M K is Algorithm 1 itself."
        ],
    ),
    claim(
        "FEDSLR-R4",
        "Remark 4",
        "By Assumption 3 f(w) > -infinity for every w, and f is lower semi-continuous.",
        [Step("closed sublevel sets", CLOSED), Step("bounded below", bounded_below, "reading")],
        readings=[
            "f(w) > -infinity is what proper says, and lower semi-continuity that sublevel sets are closed. Both follow from A1 alone. The remark "
            "calls this 'lower bounded'. In the usual sense, inf f > -infinity, Assumptions 1 to 3 do not give it: the instance falls "
            "by more than 1000 with bounded gradients, as f(w) = w, proper and closed, falls without end. Where the proofs need inf f it is an "
            "assumption of its own."
        ],
        false={"bounded below": "closed sublevel sets"},
    ),
    claim(
        "FEDSLR-R5",
        "Remark 5",
        (
            Clause("A converging subsequence exists when the sequence is bounded", ("by Bolzano and Weierstrass",)),
            Clause("(and, ours, it is bounded for lam > 0, inf f > -inf and eta_g < 1/(2L)).", ("it is bounded",)),
        ),
        [Step("the potential from below", theorems.LOWER_BOUND), Step("the potential falls", theorems.LEMMA_3)],
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
    claim(
        "FEDSLR-R7",
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
