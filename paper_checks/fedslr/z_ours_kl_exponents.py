"""Ours: exponents of the potential (10) and of f + R, (13) with its right exponent, and why A4's inequality holds along a run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Claim, PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World, bar
from paper_checks.fedslr.assumptions import EXACT
from paper_checks.fedslr.notation import APART, OF_F, POTENTIAL, STEPS, derived
from paper_checks.fedslr.rounds import COPIES, ROUNDS, play_rounds
from paper_checks.fedslr.section_5_b_theorem_2_rates import ELEMENT, NO_SMALLER, SUBLINEAR, set_elements
from paper_checks.fedslr.section_5_c_theorem_2_limit import TRAPPED
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- N5: the distance of 0 from dD -----------------------------------------------------------------------------------
def play_with_elements(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with two elements of dD: that of the subgradient which the server's step leaves, and that of any other."""
    states = play_rounds(w, p, last)
    for k, state in enumerate(states):
        state.q = w.vector(f"q {k}")
        w.at(state.R, state.w, f"R again {k}", g=state.q)
        set_elements(p, state, state.s, state.gamma_i)
        state.e_w = state.d_w - state.s + state.q
    return states


SLOPE_OF_ROUNDS = Theorem(
    "0 < L, 0 < eta, 1 <= M",
    (
        "own[t] == (1 + 1/eta**2)/M*A[t]",
        "own[t] <= every[t]",
        "own[t] <= (1 + eta**2)/M*(L + 1/eta)**2*S[t]",
    ),
    """
      equal:   claim 1                        by identity
      least:   claim 2                        by derivation
      near:    A[t] <= (1 + L*eta)**2*S[t]    by derivation
      steps:   claim 3                        by combine equal, (1 + 1/eta**2)/M*near
    """,
    states=replace(ROUNDS, play=play_with_elements),
    rounds={"t": 1},
    quantities={"own": ELEMENT("d_w"), "every": ELEMENT("e_w"), "A": APART, "S": STEPS},
    units="value = length**2",
)
CLAIMS += [
    derived(
        "FEDSLR-N5",
        "(75) to (78) in the proof of Theorem 2",
        "dist(0, dD_t) = (1/M) sqrt(1 + 1/eta_g^2) (sum_i ||w_t - w_{i,t}||^2)^(1/2) for t >= 1, which is at most sqrt((1 + eta_g^2)/M) (L + "
        "1/eta_g) (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2).",
        [Step("the distance", SLOPE_OF_ROUNDS)],
        assumptions=[EXACT],
        readings=[
            "At a round's end the parts of dD in y_i, g_i and x are (grad f_i(w_i) - gamma_i - (w - w_i)/eta)/M, (w - w_i)/M and s + mean gamma_i + "
            "mean (w - w_i)/eta with s in dR(w). Every element is at least as long as the one that the server's step leaves. The paper has (1 + "
            "eta_g)(L + 1/eta_g) times the mean of ||w_{i,t+1} - w_{i,t}||. The formula is `potentials.fedslr_subgradient`."
        ],
    ),
]


# ---- N7: no exponent below 1/2 ---------------------------------------------------------------------------------------
CLAIMS += [
    derived(
        "FEDSLR-N7",
        "Assumption 4 and (11)",
        "The potential has no KL exponent theta < 1/2 at a stationary point (x*, {x*}, {grad f_i(x*)}), for eta_g < 1/L: with any c the inequality "
        "fails where the copies alone are moved by little, at least where mean_i ||y_i - x*||^2 is below a number that depends on L, eta_g, c and "
        "theta alone.",
        [Step("no exponent below 1/2", NO_SMALLER)],
        readings=[
            "Where the inequality holds U = mean_i ||y_i - x*||^2 has U^(1 - 2 theta) >= a^(2 theta)/(b c^2 (1 - theta)^2), a = 1/(2 eta_g) - L/2; "
            "and D -> D* as U -> 0. So the case theta = 0 of Theorem 2, (11), is true of nothing, and of (12) only theta = 1/2 occurs. Iterates can "
            "still reach a minimiser of f + R that is sharp in finitely many rounds: (11) is no way to show it."
        ],
    ),
]


# ---- N8: exponents of D and of f + R ---------------------------------------------------------------------------------
def play_any_point(w: World, p: Parameters, last: int, at_one: bool = False) -> list[Any]:
    """Any points with an element of dD, that of d(f + R) with the same subgradient of R, and numbers; ``at_one``: w_i = w, gamma_i = grad f_i(w)."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    least, states = w.value("F*"), list[Any]()
    for k in range(last + 1):
        x, s, gamma = w.vector(f"w {k}"), w.vector(f"s {k}"), w.vector(f"gamma_i {k}", True)
        w.at(reg, x, f"R {k}", g=s)
        here, _ = w.at(f, x + gamma * 0, f"f_i(w) {k}", g=gamma if at_one else None)
        y = x + gamma * 0 if at_one else w.vector(f"w_i {k}", True)
        state = SimpleNamespace(w=x, w_i=y, gamma_i=gamma, f_i=f, R=reg, F_star=least, of_F=bar(here) + s)
        set_elements(p, state, s, gamma if at_one else w.at(f, y, f"f_i(w_i) {k}")[0])
        state.middle = w.value(f"middle {k}")
        states.append(state)
    return states


#: A4's inequality for f + R, with k for (c (1 - theta))^2, gives it for D where 0 < E <= 1; m is the middle of phi and C E
FROM_THE_OBJECTIVE = Theorem(
    "0 < L, 0 < eta, 1 <= M, 0 < k, 1/2 <= theta < 1",
    ("r[t]**(2*theta) <= 2**(2*theta - 1)*(k*K + C**(2*theta))*E[t]", "phi[t] <= r[t] + C*E[t]"),
    """
      over:    r[t] <= phi[t] + C*E[t]                       by derivation
      window:  claim 2                                       by derivation
      parts:   E[t] == N[t] + (P[t] + A[t])/M                by identity
      n_size:  0 <= N[t]                                     by derivation
      p_size:  0 <= P[t]                                     by derivation
      a_size:  0 <= A[t]                                     by derivation
      sharp:   G[t] <= 3*N[t] + 3*P[t] + 3*L**2*A[t]         by derivation
      slope:   G[t] <= K*E[t]                                by combine 1*sharp, (-K)*parts, (K - 3)*n_size, (3*L**2)*p_size, 3*a_size
      small:   E[t]**(2*theta - 1) <= 1                      by power short, 2*theta - 1
      less:    E[t]**(2*theta) <= E[t]                       by combine E[t]*small
      first:   1 + 2*theta*(phi[t]/m[t] - 1) <= (phi[t]/m[t])**(2*theta)        by bernoulli phi[t]/m[t] - 1, 2*theta
      second:  1 + 2*theta*(C*E[t]/m[t] - 1) <= (C*E[t]/m[t])**(2*theta)        by bernoulli C*E[t]/m[t] - 1, 2*theta
      convex:  2*m[t]**(2*theta) <= phi[t]**(2*theta) + (C*E[t])**(2*theta)
                 by combine (m[t]**(2*theta))*first, (m[t]**(2*theta))*second, (4*theta*m[t]**(2*theta - 1))*middle
      twice:   r[t] <= 2*m[t]                                by combine over, middle
      power:   r[t]**(2*theta) <= (2*m[t])**(2*theta)        by power twice, 2*theta
      done:    claim 1    by combine power, (2**(2*theta - 1))*convex, (2**(2*theta - 1))*kl, (2**(2*theta - 1)*k)*slope,
                 (2**(2*theta - 1)*C**(2*theta))*less
    """,
    states=PlayedStates(play_any_point),
    rounds={"t": 0},
    quantities={
        "r": f"{POTENTIAL} - F_star",
        "phi": f"{OF_F} - F_star",
        "E": ELEMENT("d_w"),
        "G": "norm2(of_F)",
        "N": "norm2(d_w)",
        "P": "mean(norm2(d_w_i))",
        "A": APART,
        "m": "middle",
    },
    where={"C": "M*(L + 1/eta + 2)", "K": "3*M*(1 + L**2)"},
    given={
        "positive": "0 < r[t]",
        "steep": "0 < E[t]",
        "short": "E[t] <= 1",
        "above": "0 < phi[t]",
        "between": "0 < m[t]",
        "middle": "m[t] == (phi[t] + C*E[t])/2",
        "kl": "phi[t]**(2*theta) <= k*G[t]",
    },
    units="value = 1, length = 1",
)
OF_D = ("positive", "steep", "short")
WHERE_BELOW = replace(
    FROM_THE_OBJECTIVE,
    region="0 < L, 0 < eta, 1 <= M, 1/2 <= theta < 1",
    claim="r[t]**(2*theta) <= C**(2*theta)*E[t]",
    proof="""
      over:    r[t] <= phi[t] + C*E[t]                       by derivation
      small:   E[t]**(2*theta - 1) <= 1                      by power short, 2*theta - 1
      less:    E[t]**(2*theta) <= E[t]                       by combine E[t]*small
      under:   r[t] <= C*E[t]                                by combine over, below
      power:   r[t]**(2*theta) <= (C*E[t])**(2*theta)        by power under, 2*theta
      done:    claim                                         by combine power, (C**(2*theta))*less
    """,
    quantities={name: FROM_THE_OBJECTIVE.quantities[name] for name in ("r", "phi", "E")},
    where={"C": FROM_THE_OBJECTIVE.where["C"]},
    given={**{name: FROM_THE_OBJECTIVE.given[name] for name in OF_D}, "below": "phi[t] <= 0"},
)
SMALLER_ONES = replace(
    FROM_THE_OBJECTIVE,
    region="0 < L, 0 < eta, 0 < k, 0 <= theta < 1/2",
    claim="phi[t] <= k*G[t]",
    proof="""
      small:   phi[t]**(1 - 2*theta) <= 1                    by power low, 1 - 2*theta
      done:    claim                                         by combine (phi[t]**(2*theta))*small, kl
    """,
    quantities={name: FROM_THE_OBJECTIVE.quantities[name] for name in ("phi", "G")},
    where={},
    given={"above": "0 < phi[t]", "low": "phi[t] <= 1", "kl": "phi[t]**(2*theta) <= k*G[t]"},
)
TO_THE_OBJECTIVE = Theorem(
    "0 < L, 0 < eta, 1 <= M",
    ("r[t] == phi[t]", "E[t] == G[t]"),
    "values: claim 1 by identity\nslopes: claim 2 by identity",
    states=PlayedStates(partial(play_any_point, at_one=True)),
    rounds={"t": 0},
    quantities={name: FROM_THE_OBJECTIVE.quantities[name] for name in ("r", "phi", "E", "G")},
    units="value = length**2",
)
CLAIMS += [
    derived(
        "FEDSLR-N8",
        "Remark 6",
        "For theta in [1/2, 1), D has KL exponent theta at (x*, {x*}, {grad f_i(x*)}) exactly when f + R has it at x*; where f + R has a smaller "
        "one, D has 1/2.",
        [
            Step("from f + R to D, above its value", FROM_THE_OBJECTIVE),
            Step("from f + R to D, below its value", WHERE_BELOW),
            Step("a smaller exponent of f + R gives 1/2", SMALLER_ONES),
            Step("from D to f + R", TO_THE_OBJECTIVE),
        ],
        readings=[
            "D* = (f + R)(x*). E and G are the squares of an element of dD and of that of d(f + R) with the same subgradient of R, and phi is (f + "
            "R)(x) - (f + R)(x*), which is in the window where r and E are small. From D to f + R: at (x, {x}, {grad f_i(x)}) both inequalities are "
            "one. That D has exactly 1/2 where f + R has less uses FEDSLR-N7, for eta_g < 1/L. Exponents are those for which the inequality holds."
        ],
    ),
]


# ---- N9: (13), corrected ---------------------------------------------------------------------------------------------
#: with a sharper C_3, by which the copies' distances give dist(0, dD_t) exactly (FEDSLR-N5)
SUBLINEAR_SHARPER = replace(
    SUBLINEAR,
    where={**SUBLINEAR.where, "C3": "sqrt((1 + eta**2)/M)*(L + 1/eta)"},
    proof=SUBLINEAR.proof.replace("*near, copies", "*near").replace(COPIES, ""),
)
CLAIMS += [
    derived(
        "FEDSLR-N9",
        "(13), corrected",
        "dist(0, grad f(w_t) + dR(w_t)) <= sqrt(C_1/C_2) ((2 theta - 1) C_4 T)^(-1/(4 theta - 2)) at t = T for theta in (1/2, 1), with C_1 "
        "and C_2 as in FEDSLR-T2-72, C_4 = C_2/(c (1 - theta) C_3)^2 and C_3 = sqrt((1 + eta_g^2)/M) (L + 1/eta_g).",
        [Step("the rate", SUBLINEAR_SHARPER)],
        assumptions=[EXACT, "0 < eta_g < 1/(2L)", "the KL inequality with this c at every iterate, and r_t > 0"],
        readings=[
            "(13) prints the exponent -(4 theta - 2); both are equal at theta = 3/4 only. Runs on functions of known exponent are at FEDSLR-T2c."
        ],
    ),
]


# ---- N23: A4's inequality holds along the run ------------------------------------------------------------------------
CLAIMS += [
    derived(
        "FEDSLR-N23",
        "Theorem 2, that A4's inequality holds along the run",
        "From a round on in which the copies and r_t are near enough to a stationary point and to 0, states stay in any ball around it in which "
        "A4's inequality holds, so that it holds at all of them, and sum_t (mean_i ||w_{i,t+1} - w_{i,t}||^2)^(1/2) is at most c (C_3/C_2) r^(1 - "
        "theta), for 0 < eta_g < 1/(2L).",
        [Step("the trap", TRAPPED)],
        assumptions=["A1", EXACT, "A4's inequality in a ball, and r_t > 0"],
        readings=[
            "The paper uses the inequality of A4, which is local, at the iterates, as they converge, and shows with it that they converge. This "
            "closes the circle: along the subsequence of Theorem 1 some round is near enough."
        ],
    ),
]
