"""Theorem 2 as theorems with proof terms: (72), the rates (12) and (13) with their right constants, and why A4's inequality holds along a run.

States are those of `theorems`. r_t = D_t - D* at the cluster point, and dist is that of 0 from grad f(w_t) + dR(w_t), or, of the potential, from
dD_t, in the space of (w, {w_i}, {gamma_i}).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fedtheory.claims import bar
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.fedslr.theorems import (
    C1,
    C2,
    DISTANCE,
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
