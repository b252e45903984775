"""Ours: Theorem 3 repaired, with a bound without N, and the constants of its proof corrected."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.claims import Claim, Clause, Theorem
from paper_checks.fedslr.appendix_c_5_proof_of_theorem_3 import DISTANCES, EARLY
from paper_checks.fedslr.assumptions import EXACT, KL_HOLDS, UNBIASED
from paper_checks.fedslr.notation import CHOICE, RESIDUAL, SERVER, STEPS, VALUES, derived
from paper_checks.fedslr.rounds import ROUNDS, TO_THE_SLOPE, play_with_slope
from paper_checks.fedslr.section_5_c_theorem_2_limit import SLOPE, TRAPPED
from paper_checks.fedslr.section_5_d_theorem_3 import DRAWN_STEPS, LOCAL_STEPS, NEXT_POINT, OF_A_STEP, PROXIMAL_STEPS
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- N17-STEP: one proximal step -------------------------------------------------------------------------------------
PROXIMAL_DESCENT = Theorem(
    "0 < L, 0 < eta < 2/L",
    "phi[k+1] <= phi[k] - (eta - L*eta**2/2)*G2[k]",
    "done: claim by derivation",
    states=PROXIMAL_STEPS,
    rounds={"k": 0},
    quantities={"phi": "f(p) + R(p)", "G2": "norm2(mapping)"},
)
CLAIMS += [
    derived(
        "FEDSLR-N17-STEP",
        "a step of Theorem 3, sigma = 0",
        (
            Clause("phi_i(p_{k+1}) <= phi_i(p_k) - (eta_l - L eta_l^2/2) ||G||^2 for 0 < eta_l < 2/L,", ("descent",)),
            Clause("and dist(0, d phi_i(p_{k+1})) <= (1 + L eta_l) ||G||.", ("stationarity",)),
        ),
        [Step("descent", PROXIMAL_DESCENT), Step("stationarity", NEXT_POINT)],
        assumptions=["exact gradients, w_t fixed"],
        readings=[
            "Theorem 3 asks for eta_l < 2/(L + 1), which Young's inequality with weight 1 brings in. Remark 8 says O(eps) for ||G||^2 <= eps; by "
            "the second part it is O(sqrt(eps)), at p_{k+1}."
        ],
    ),
]


# ---- N17: the sum ----------------------------------------------------------------------------------------------------
#: S_2; and S_1 from a round on from which A4's inequality holds, with k = c C_3/C_2 and phi = 1 - theta
SQUARES = Theorem(
    CHOICE,
    "sum(M[t], t, 0, T) <= 2*eta*r[0]",
    """
      fall:    M[t] <= 2*eta*(r[t] - r[t+1])                  by derivation
      falls:   r[t+1] <= r[t]                                 by derivation
      above:   0 <= r[t]                                      by monotone falls, values
      all:     sum(M[t], t, 0, T) <= 2*eta*(r[0] - r[T+1])    by induction T: base combine fall(t=0); step combine ih, fall(t=T+1)
      done:    claim                                          by combine all, 2*eta*above(t=T+1)
    """,
    states=DISTANCES.states,
    rounds={"t": 0, "T": 0},
    quantities={"r": RESIDUAL, "M": SERVER},
    given={"values": VALUES},
)
PATH = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < k, 0 < phi < 1",
    "sum(sqrt(W[t]), t, 1, T) <= (1 + 2*L*eta)*k*r[1]**(1 - theta)",
    TO_THE_SLOPE
    + f"""
      tangent: (r[t+1]/r[t])**(1 - theta) <= 1 + (1 - theta)*(r[t+1]/r[t] - 1)      by bernoulli r[t+1]/r[t] - 1, 1 - theta
      concave: r[t+1]**(1 - theta) <= r[t]**(1 - theta) - (1 - theta)*C2*S[t]*r[t]**(-theta)
                 by combine (r[t]**(1 - theta))*tangent, ((1 - theta)*r[t]**(-theta))*descent
      steep:   (r[t]**theta)**2 <= {SLOPE("t")}**2                               by combine 1*kl, (c**2*(1 - theta)**2)*slope
      root:    r[t]**theta <= {SLOPE("t")}                                       by root steep
      travel:  sqrt(S[t]) <= k*r[t]**(1 - theta) - k*r[t+1]**(1 - theta)         by combine k*concave, (sqrt(S[t])*r[t]**(-theta))*root
      length:  sum(sqrt(S[t]), t, 1, T) <= k*r[1]**(1 - theta) - k*r[T+1]**(1 - theta)
                 by induction T: base combine 1*travel(t=1); step combine 1*ih, 1*travel(t=T+1)
      size:    0 <= W[t]                                                         by derivation
      apart:   0 <= A[t]                                                         by derivation
      nearer:  sqrt(A[t])**2 <= ((1 + L*eta)*sqrt(S[t]))**2                      by combine 1*near
      close:   sqrt(A[t]) <= (1 + L*eta)*sqrt(S[t])                              by root nearer
      drift:   F[t] <= (L*eta)**2*S[t]                                           by derivation
      far:     0 <= F[t]                                                         by derivation
      step:    W[t] <= (1 + s)*A[t+1] + (1 + 1/s)*F[t]                           by derivation
      both:    W[t] <= A[t+1] + F[t] + 2*sqrt(A[t+1])*sqrt(F[t])                 by least s of step
      squares: sqrt(W[t])**2 <= (sqrt(A[t+1]) + sqrt(F[t]))**2                   by combine 1*both
      sides:   sqrt(W[t]) <= sqrt(A[t+1]) + sqrt(F[t])                           by root squares
      drifted: sqrt(F[t])**2 <= (L*eta*sqrt(S[t]))**2                            by combine 1*drift
      drifts:  sqrt(F[t]) <= L*eta*sqrt(S[t])                                    by root drifted
      round:   sqrt(W[t]) <= (1 + L*eta)*sqrt(S[t+1]) + L*eta*sqrt(S[t])         by combine 1*sides, 1*close(t=t+1), 1*drifts
      first:   0 <= sqrt(S[t])                                                   by combine
      all:     sum(sqrt(W[t]), t, 1, T) <= (1 + L*eta)*sum(sqrt(S[t]), t, 1, T+1) + L*eta*sum(sqrt(S[t]), t, 1, T)
                 by induction T: base combine 1*round(t=1), (1 + L*eta)*first(t=1); step combine 1*ih, 1*round(t=T+1)
      done:    claim                                                   by combine 1*all, (1 + L*eta)*length(T=T+1), (L*eta)*length
    """,
    states=replace(ROUNDS, play=play_with_slope),
    rounds={"t": 1, "T": 1},
    quantities={
        "r": RESIDUAL,
        "S": STEPS,
        "A": "mean(norm2(w - w_i))",
        "E": "distance",
        "W": SERVER,
        "F": "mean(norm2(w - w_i_next))",
    },
    where={name: TRAPPED.where[name] for name in ("theta", "C2", "C3", "c")},
    auxiliary="0 < s",
    given={"above": "0 < r[t]", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    assumed=TRAPPED.assumed,
    units="value = length**2",
)
CLAIMS += [
    derived(
        "FEDSLR-N17",
        "Theorem 3, repaired, sigma = 0",
        "sum_{t<T} sum_{k<K} ||G(w_t, p_{i,t,k})||^2 <= (phi_i(w_0, p_{i,0,0}) - inf_p phi_i(w_T, p) + B S_1 + (L/2) S_2)/(eta_l - L eta_l^2/2) for "
        "0 < eta_l < 2/L, where S_1 and S_2 are the sums of ||w_{t+1} - w_t|| and of its squares, which stay bounded.",
        [
            Step("the sum", LOCAL_STEPS),
            Step("S_2 is bounded", SQUARES),
            Step("S_1 is bounded", PATH),
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
]


# ---- N18: constants corrected ----------------------------------------------------------------------------------------
#: the noise of the corrected bound, in the paper's constant C_6
NOISE = Theorem(
    "0 < L, 0 < eta < 2/(L + 1), 0 < sigma",
    "2*(1 + eta/a)*sigma**2 <= C6*(2/C6 + 2*eta)*sigma**2",
    """
      less:    1/C6 <= a                                               by combine
      done:    claim                                                   by combine (2*eta*sigma**2*C6/a)*less
    """,
    where={"a": OF_A_STEP["a"], "C6": "1/(eta - (L + 1)*eta**2/2)"},
)
CLAIMS += [
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
            Step("the distances", DISTANCES),
            Step("the distances: the rounds up to N", EARLY),
            Step("the noise", DRAWN_STEPS),
            Step("the noise in C_6", NOISE),
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
]
