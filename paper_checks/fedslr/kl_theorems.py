"""Theorem 2 as theorems with proof terms: (72), (12) and (13) with their right constants, why A4's inequality holds along a run, exponents of D.

States are those of `theorems`. r_t = D_t - D* at the cluster point, and dist is that of 0 from grad f(w_t) + dR(w_t), or, of the potential, from
dD_t, in the space of (w, {w_i}, {gamma_i}).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import bar
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.fedslr.theorems import (
    C1,
    C2,
    DISTANCE,
    POTENTIAL,
    RESIDUAL,
    ROUNDS,
    STEPS,
    VALUES,
    distance_below,
    play_rounds,
    play_with_slope,
)


def play_with_both(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with r_t, a number m_t, and both distances; of that from dD nothing is known where lines do not speak of the number of clients M."""
    if hasattr(p, "M"):
        states = play_with_slope(w, p, last)
    else:
        states, value = play_rounds(w, p, last), w.value("D*")
        for k, state in enumerate(states):
            vars(state).update(distance=w.value(f"distance {k}"), D_star=value)
    for k, state in enumerate(states):
        slope, _ = w.at(state.f_i, state.w + state.gamma_i * 0, f"grad f_i(w) {k}")
        vars(state).update(
            stationarity=distance_below(w, f"of the objective {k}", bar(slope) + state.s), root=w.value(f"root {k}")
        )
    return states


def play_near_a_stationary_point(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with r_t and dist(0, dD_t), and a point (w*, {w*}, {grad f_i(w*)})."""
    states = play_with_slope(w, p, last)
    star, slopes = w.vector("w*"), w.vector("gamma_i*", True)
    w.at(states[0].f_i, star + slopes * 0, "f_i(w*)", g=slopes)
    for state in states:
        vars(state).update(w_star=star, gamma_i_star=slopes)
    return states


OF_THE_OBJECTIVE = {"an element of the objective": DISTANCE}
WITH_BOTH = replace(ROUNDS, play=play_with_both)
#: how r_t bounds the distance, which is the same in every case
TO_THE_DISTANCE = """
      distance: dist2[t] <= C1*S[t]                          by derivation on 0 < L, 0 < eta
"""
COPIES = """
      copies:  0 <= S[t]                                     by derivation"""
#: how far 0 is from dD, by the steps of the copies
TO_THE_SLOPE = f"""
      descent: r[t+1] <= r[t] - C2*S[t]                      by derivation{COPIES}
      near:    A[t] <= (1 + L*eta)**2*S[t]                   by derivation
      sharp:   E[t] <= (1 + eta**2)/(M*eta**2)*A[t]          by derivation
      slope:   E[t] <= C3**2*S[t]                            by combine sharp, (1 + eta**2)/(M*eta**2)*near, copies
"""
RESIDUALS = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "dist2[t] <= C1/C2*r[t]",
    """
      descent:  r[t+1] <= r[t] - C2*S[t]      by derivation
      copies:   0 <= S[t]                     by derivation
      falls:    r[t+1] <= r[t]                by combine descent, copies
      above:    0 <= r[t]                     by monotone falls, values
      distance: dist2[t] <= C1*S[t]           by derivation on 0 < L, 0 < eta
      done:     claim                         by combine distance, C1/C2*descent, C1/C2*above(t=t+1)
    """,
    states=WITH_BOTH,
    rounds={"t": 1},
    quantities={"r": RESIDUAL, "S": STEPS, "dist2": "stationarity"},
    where={"C1": C1, "C2": C2},
    given={"values": VALUES},
    assumed=OF_THE_OBJECTIVE,
)
QUANTITIES = {"r": RESIDUAL, "S": STEPS, "A": "mean(norm2(w - w_i))", "E": "distance", "dist2": "stationarity"}
CONSTANTS = {
    "C1": C1,
    "C2": "1/(2*eta) - L/2 - L**2*eta",
    "C3": "L + eta*L + 1/eta + 1",
    "c": "sqrt(C2/C4)/(C3*(1 - theta))",
}
#: C_4 = C_2/(C_3 c (1 - theta))^2 is the parameter, and c what it is of; rounds are counted from t_0, which is 1
LINEAR = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < C4, 0 < theta <= 1/2",
    "dist2[T] <= C1*r[1]/C2*(1 - C4)**(T - 1)",
    TO_THE_SLOPE
    + """
      rec:     C4*r[t]**(2*theta) <= r[t] - r[t+1]           by combine descent, (C2/C3**2)*slope, C4*kl
      small:   r[t]**(1 - 2*theta) <= 1                      by power short, 1 - 2*theta
      more:    r[t] <= r[t]**(2*theta)                       by combine (r[t]**(2*theta))*small
      round:   r[t+1] <= (1 - C4)*r[t]                       by combine rec, C4*more
      all:     r[T] <= (1 - C4)**(T - 1)*r[1]                by cases 1 - C4:
                 (induction T: base combine; step combine (1 - C4)*ih, 1*round(t=T));
                 (cases (1 - C4)**(T - 1)*r[1] - r[T]: combine case2; combine ((r[T] - (1 - C4)**(T - 1)*r[1])/r[2])*round(t=1),
                 ((r[T] - (1 - C4)**(T - 1)*r[1])/r[2]*r[1])*case)
    """
    + TO_THE_DISTANCE
    + """
      done:    claim                                         by combine distance(t=T), (C1/C2)*descent(t=T), (C1/C2)*above(t=T+1), (C1/C2)*all
    """,
    states=WITH_BOTH,
    rounds={"t": 1, "T": 1},
    quantities=QUANTITIES,
    where=CONSTANTS,
    given={"above": "0 < r[t]", "short": "r[t] <= 1", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    assumed={"an element": DISTANCE, **OF_THE_OBJECTIVE},
    units="value = 1, length = 1",
)
#: theta = 1/2 + 1/(4 p), so that p = 1/(4 theta - 2) > 1/2; m_t is the root r_t^(1/(2p)) = r_t^(2 theta - 1)
SUBLINEAR = replace(
    LINEAR,
    region="0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < C4, 0 < q",
    claim="dist2[T] <= (C5*T**(-p))**2",
    proof=TO_THE_SLOPE
    + """
      rec:     C4*m[t]**(2*p + 1) <= m[t]**(2*p) - m[t+1]**(2*p)      by combine descent, (C2/C3**2)*slope, C4*kl, root, root(t=t+1)
      tangent: 1 - 2*p*(m[t]/m[t+1] - 1) <= (m[t]/m[t+1])**(-2*p)     by bernoulli m[t]/m[t+1] - 1, -2*p
      grows:   1/m[t] + C4/(2*p) <= 1/m[t+1]                 by combine (1/(2*p*m[t]))*tangent, (1/(2*p*m[t]**(2*p + 1)))*rec
      first:   C4/(2*p) <= 1/m[1]                            by combine (1/m[1]**(2*p + 1))*rec(t=1)
      all:     C4/(2*p)*T <= 1/m[T]                          by induction T: base combine first; step combine ih, grows(t=T)
      small:   m[T] <= 2*p/(C4*T)                            by combine (2*p*m[T]/(C4*T))*all
      rate:    m[T]**(2*p) <= (2*p/(C4*T))**(2*p)            by power small, 2*p
    """
    + TO_THE_DISTANCE
    + """
      done:    claim                                         by combine 1*distance(t=T), (C1/C2)*descent(t=T), (C1/C2)*root(t=T),
                 (-C1/C2)*root(t=T+1), (C1/C2)*rate
    """,
    quantities={**QUANTITIES, "m": "root"},
    where={
        "p": "1/2 + q",
        "theta": "1/2 + 1/(4*p)",
        **CONSTANTS,
        "C5": "sqrt(C1/C2)*((2*theta - 1)*C4)**(-p)",
    },
    given={
        "above": "0 < m[t]",
        "root": "r[t] == m[t]**(2*p)",
        "kl": "m[t]**(2*p + 1) <= c**2*(1 - theta)**2*E[t]",
    },
    units="value = length**2",
)

#: with a sharper C_3, by which the copies' distances give dist(0, dD_t) exactly (FEDSLR-N5)
SUBLINEAR_SHARPER = replace(
    SUBLINEAR,
    where={**SUBLINEAR.where, "C3": "sqrt((1 + eta**2)/M)*(L + 1/eta)"},
    proof=SUBLINEAR.proof.replace("*near, copies", "*near").replace(COPIES, ""),
)

V = "(sqrt(Y[{0}]) + k*r[{0}]**(1 - theta))".format
SLOPE = "(c*(1 - theta)*C3*sqrt(S[{0}]))".format
RISES, CLOSE, KL = f"({V('T+1')} - {V('T')})", "(2*(1 + L*eta)**2/C2)", "(r[T]**(2*theta) - c**2*(1 - theta)**2*E[T])"
#: A4 is local: its inequality holds where the square of the distance from the stationary point, near[t], is less than b; the maximum says so.
#: k = c C_3/C_2 is the parameter, and phi = 1 - theta
TRAPPED = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < k, 0 < phi < 1, 0 < a < b",
    (
        "near[T] <= a",
        "r[T]**(2*theta) <= c**2*(1 - theta)**2*E[T]",
        "sum(sqrt(S[t]), t, 1, T) <= k*r[1]**(1 - theta)",
    ),
    TO_THE_SLOPE.replace("near", "apart")
    + f"""
      size:     0 <= Y[t]                                    by derivation
      step:     Y[t+1] <= (1 + s)*Y[t] + (1 + 1/s)*S[t]      by derivation
      both:     Y[t+1] <= Y[t] + S[t] + 2*sqrt(Y[t])*sqrt(S[t])       by least s of step
      squares:  sqrt(Y[t+1])**2 <= (sqrt(Y[t]) + sqrt(S[t]))**2       by combine 1*both
      triangle: sqrt(Y[t+1]) <= sqrt(Y[t]) + sqrt(S[t])      by root squares
      falls:    r[t+1] <= r[t]                               by combine descent, copies
      fallen:   r[T] <= r[1]                                 by induction T: base combine; step combine ih, falls(t=T)
      tangent:  (r[t+1]/r[t])**(1 - theta) <= 1 + (1 - theta)*(r[t+1]/r[t] - 1)      by bernoulli r[t+1]/r[t] - 1, 1 - theta
      concave:  r[t+1]**(1 - theta) <= r[t]**(1 - theta) - (1 - theta)*C2*S[t]*r[t]**(-theta)
                  by combine (r[t]**(1 - theta))*tangent, ((1 - theta)*r[t]**(-theta))*descent
      moved:    {V("t+1")} - {V("t")} <= sqrt(S[t])*r[t]**(-theta)*(r[t]**theta - {SLOPE("t")})      by combine 1*triangle, k*concave
      far:      0 <= near[t]                                 by derivation
      inside:   (r[t]**(2*theta) - {SLOPE("t")}**2)*max(b - near[t], 0) <= 0
                  by combine 1*local, (c**2*(1 - theta)**2*max(b - near[t], 0))*slope
      rooted:   (r[t]**theta - {SLOPE("t")})*max(b - near[t], 0) <= 0      by combine (1/(r[t]**theta + {SLOPE("t")}))*inside
      trapped:  ({V("t+1")} - {V("t")})*max(b - near[t], 0) <= 0
                  by combine (max(b - near[t], 0))*moved, (sqrt(S[t])*r[t]**(-theta))*rooted
      top:      b - near[t] <= max(b - near[t], 0)           by combine
      parts:    near[t] <= (3 + L**2)*Y[t] + 2*A[t]          by derivation
      close:    near[t] <= (3 + L**2)*Y[t] + {CLOSE}*r[t]
                  by combine 1*parts, 2*apart, {CLOSE}*descent, {CLOSE}*above(t=t+1)
      begun:    (3 + L**2)*{V("1")}**2 + {CLOSE}*r[1] <= a
                  by combine 1*start, (3 + L**2)*square(sqrt(Y[1]) - k*r[1]**(1 - theta))
      ball:     near[T] <= (3 + L**2)*({V("T")}**2 - {V("1")}**2) + a      by combine 1*close(t=T), {CLOSE}*fallen, 1*begun
      within:   {V("T")} <= {V("1")}                         by induction T: base combine;
                  step (cases {RISES}: combine (b - a)*ih, 1*trapped(t=T), {RISES}*top(t=T), {RISES}*ball,
                  ({RISES}*(3 + L**2)*({V("1")} + {V("T")}))*ih times b - a; combine 1*ih, 1*case)
      stays:    claim 1                                      by combine 1*ball, ((3 + L**2)*({V("1")} + {V("T")}))*within
      holds:    claim 2                                      by cases {KL}:
                  combine 1*local(t=T), {KL}*top(t=T), {KL}*stays times b - a; combine 1*case
      steep:    (r[T]**theta)**2 <= {SLOPE("T")}**2          by combine 1*holds, (c**2*(1 - theta)**2)*slope(t=T)
      root:     r[T]**theta <= {SLOPE("T")}                  by root steep
      travel:   sqrt(S[T]) <= k*r[T]**(1 - theta) - k*r[T+1]**(1 - theta)
                  by combine k*concave(t=T), (sqrt(S[T])*r[T]**(-theta))*root
      path:     sum(sqrt(S[t]), t, 1, T) <= k*r[1]**(1 - theta) - k*r[T+1]**(1 - theta)
                  by induction T: base combine 1*travel(T=1); step combine 1*ih, 1*travel(T=T+1)
      length:   claim 3                                      by combine 1*path
    """,
    states=replace(ROUNDS, play=play_near_a_stationary_point),
    rounds={"t": 1, "T": 1},
    quantities={
        "r": RESIDUAL,
        "S": STEPS,
        "A": "mean(norm2(w - w_i))",
        "E": "distance",
        "Y": "mean(norm2(w_i - w_star))",
        "near": "norm2(w - w_star) + mean(norm2(w_i - w_star)) + mean(norm2(gamma_i - gamma_i_star))",
    },
    where={"theta": "1 - phi", "C2": CONSTANTS["C2"], "C3": CONSTANTS["C3"], "c": "k*C2/C3"},
    auxiliary="0 < s",
    given={
        "above": "0 < r[t]",
        "local": "(r[t]**(2*theta) - c**2*(1 - theta)**2*E[t])*max(b - near[t], 0) <= 0",
        "start": f"2*(3 + L**2)*(Y[1] + (k*r[1]**(1 - theta))**2) + {CLOSE}*r[1] <= a",
    },
    assumed={"an element": DISTANCE},
    units="value = length**2",
)

#: a smaller exponent is a larger p = 1/(4 theta - 2) in (13), corrected, for 1/2 < theta < 1
FASTER = Theorem(
    "1/2 < p, 0 < d",
    ("theta < phi", "T**(-(p + d)) <= T**(-p)"),
    "smaller: claim 1 by combine\nfaster: claim 2 by combine",
    rounds={"T": 1},
    where={"theta": "1/2 + 1/(4*(p + d))", "phi": "1/2 + 1/(4*p)"},
)

# ---- exponents of D, in the space of (w, {w_i}, {gamma_i}) ------------------------------------------------------------


def set_elements(p: Parameters, state: Any, s: Any, slope: Any) -> None:
    """The parts of an element of dD at a state, by a subgradient s of R at w and grad f_i(w_i)."""
    apart = state.w - state.w_i
    state.d_w, state.d_w_i = s + bar(state.gamma_i) + bar(apart) / p.eta, slope - state.gamma_i - apart / p.eta


def play_with_elements(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with two elements of dD: that of the subgradient which the server's step leaves, and that of any other."""
    states = play_rounds(w, p, last)
    for k, state in enumerate(states):
        state.q = w.vector(f"q {k}")
        w.at(state.R, state.w, f"R again {k}", g=state.q)
        set_elements(p, state, state.s, state.gamma_i)
        state.e_w = state.d_w - state.s + state.q
    return states


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


def play_moved_copies(w: World, p: Parameters, last: int) -> list[Any]:
    """A stationary point (w*, {w*}, {grad f_i(w*)}), and points whose copies alone are others; eta = 1/(L + 2 a), so a = 1/(2 eta) - L/2."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, gamma = w.vector("w*"), w.vector("gamma_i*", True)
    w.at(f, x + gamma * 0, "f_i(w*)", g=gamma)
    w.at(reg, x, "R(w*)", g=-bar(gamma))
    states = []
    for k in range(last + 1):
        state = SimpleNamespace(w=x, w_i=w.vector(f"w_i {k}", True), gamma_i=gamma, f_i=f, R=reg)
        slope, _ = w.at(f, state.w_i, f"f_i {k}")
        set_elements(SimpleNamespace(eta=1 / (p.L + 2 * p.a)), state, -bar(gamma), slope)
        states.append(state)
    return states


APART, OF_F = "mean(norm2(w - w_i))", "mean(f_i(w)) + R(w)"
#: the square of an element of dD: the parts of the w_i and gamma_i are 1/M of what stands here
ELEMENT = f"norm2({{}}) + (mean(norm2(d_w_i)) + {APART})/M".format
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
NO_SMALLER = Theorem(
    "0 < L, 0 < a, 1 <= M, 0 < c, 0 <= theta < 1/2",
    "a**(2*theta) <= c**2*(1 - theta)**2*b*U[t]**(1 - 2*theta)",
    """
      growth: a*U[t] <= r[t]                            by derivation
      slope:  E[t] <= b*U[t]                            by derivation
      power:  (a*U[t])**(2*theta) <= r[t]**(2*theta)    by power growth, 2*theta
      done:   claim       by combine (U[t]**(-2*theta))*power, (U[t]**(-2*theta))*kl, (c**2*(1 - theta)**2*U[t]**(-2*theta))*slope
    """,
    states=PlayedStates(play_moved_copies),
    rounds={"t": 0},
    quantities={"U": APART, "E": ELEMENT("d_w"), "r": f"{POTENTIAL} - ({OF_F})"},
    where={"eta": "1/(L + 2*a)", "b": "1/eta**2 + (L + 1/eta)**2 + 1"},
    given={"moved": "0 < U[t]", "above": "0 < r[t]", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    units="value = length**2",
)
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
