"""Theorem 3 as theorems with proof terms: Phase II while the global model moves, with full and with drawn gradients, and how far models are from w*.

phi_i(w, p) = f_i(w + p) + mu ||p||_1. A state of Phase II is that of any of a client's local steps, from p_k at w_t: after it w may move by any step
m, which is 0 but for the last step of a round, so that a sum over all steps is one over t and k. `R` is the l1 norm; it may be any convex function.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import dot, norm2
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.fedslr import kl_theorems
from paper_checks.fedslr.kl_theorems import SLOPE, TO_THE_SLOPE
from paper_checks.fedslr.theorems import CHOICE, RESIDUAL, ROUNDS, SERVER, STEPS, VALUES, play_on, play_with_slope


def end_step(w: World, p: Parameters, k: int, state: Any, x: Any, reached: Any, s: Any, phi: Any) -> None:
    """s is R's subgradient where the step ends; A2 there; and phi, of where it began, is at least the infimum."""
    w.at(state.R, x, f"R+ {k}", g=s)
    slope, _ = w.at(state.f, reached, f"f+ {k}")
    w.assume(f"A2 {k}", norm2(slope) - p.b)
    w.assume(f"infimum {k}", state.low - phi)


def play_local_steps(w: World, p: Parameters, last: int) -> list[Any]:
    """Steps with full gradients: p_k from any w + p_k, G = (p_k - p_{k+1})/eta_l, and w + m with any m."""
    f, reg = w.function(p.L, -p.L, name="f"), w.function(None, 0, name="R")
    x, at = w.vector("p"), w.vector("w + p")
    states = []
    for k in range(last + 1):
        (g, value), (_, penalty) = w.at(f, at, f"f {k}"), w.at(reg, x, f"R {k}")
        s, moved, low = w.vector(f"s {k}"), w.vector(f"m {k}"), w.value(f"infimum {k}")
        state = SimpleNamespace(p=x, at=at, f=f, R=reg, mapping=g + s, moved=moved, low=low)
        x, reached = x - (g + s) * p.eta, at - (g + s) * p.eta
        end_step(w, p, k, state, x, reached, s, value + penalty)
        states.append(state)
        at = reached + moved
    return states


def play_drawn_steps(w: World, p: Parameters, last: int) -> list[Any]:
    """Steps with drawn gradients; an average is the expectation over all that was drawn, and of G nothing is drawn in its own step."""
    f, reg = w.function(p.L, -p.L, name="f", client=True), w.function(None, 0, name="R", client=True)
    x, at = w.vector("p", True), w.vector("w + p", True)
    states = []
    for k in range(last + 1):
        (g, value), (_, penalty) = w.at(f, at, f"f {k}"), w.at(reg, x, f"R {k}")
        s, full, noise = (w.vector(f"{name} {k}", True) for name in ("s", "z", "noise"))
        moved, low = w.vector(f"m {k}"), w.value(f"infimum {k}")
        drawn, mapping = g + noise + s, g + full
        w.at(reg, x - mapping * p.eta, f"R of the full step {k}", g=full)
        w.assume(f"A5 {k}", norm2(noise) - p.sigma**2)
        w.assume(f"unbiased {k}", dot(noise, mapping))
        state = SimpleNamespace(p=x, at=at, f=f, R=reg, drawn=drawn, mapping=mapping, moved=moved, low=low)
        x, reached = x - drawn * p.eta, at - drawn * p.eta
        state.p_next, state.reached = x, reached
        end_step(w, p, k, state, x, reached, s, value + penalty)
        states.append(state)
        at = reached + moved
    return states


#: b is B^2
A = {"a": "eta - L*eta**2/2", "B": "sqrt(b)"}
LOCAL_STEPS = Theorem(
    "0 < L, 0 < eta < 2/L, 0 < b",
    "a*sum(G2[k], k, 0, N) <= phi[0] - low[N+1] + B*sum(sqrt(m2[k]), k, 0, N) + L/2*sum(m2[k], k, 0, N)",
    """
      moves:   2*phi[k+1] <= 2*phi[k] - 2*a*G2[k] + L*m2[k] + s*m2[k] + b/s                by derivation
      size:    0 <= m2[k]                                                                  by derivation
      twice:   2*phi[k+1] <= 2*phi[k] - 2*a*G2[k] + L*m2[k] + 2*B*sqrt(m2[k])              by least s of moves
      round:   phi[k+1] <= phi[k] - a*G2[k] + L/2*m2[k] + B*sqrt(m2[k])                    by combine 1/2*twice
      least:   low[k] <= phi[k]                                                            by derivation
      all:     a*sum(G2[k], k, 0, N) <= phi[0] - phi[N+1] + B*sum(sqrt(m2[k]), k, 0, N) + L/2*sum(m2[k], k, 0, N)
                 by induction N: base combine 1*round(k=0); step combine 1*ih, 1*round(k=N+1)
      done:    claim                                                                       by combine 1*all, 1*least(k=N+1)
    """,
    states=PlayedStates(play_local_steps),
    rounds={"k": 0, "N": 0},
    auxiliary="0 < s",
    quantities={"phi": "f(at) + R(p)", "G2": "norm2(mapping)", "m2": "norm2(moved)", "low": "low"},
    where=A,
    assumed={"A2": "gradients are at most B", "infimum": "low is the least phi_i(w_t, p) of all p"},
)
DRAWN_STEPS = Theorem(
    "0 < L, 0 < eta < 2/L, 0 < b, 0 < sigma",
    "sum(G2[k], k, 0, N) <= 2/a*(phi[0] - low[N+1] + B*sum(sqrt(m2[k]), k, 0, N) + L/2*sum(m2[k], k, 0, N)) + 2*(N + 1)*(1 + eta/a)*sigma**2",
    """
      step:    reached[k] <= phi[k] - a*E2[k] + eta*sigma**2                               by derivation
      moved:   2*phi[k+1] <= 2*reached[k] + L*m2[k] + v*m2[k] + b/v                        by derivation
      moves:   2*phi[k+1] <= 2*phi[k] - 2*a*E2[k] + 2*eta*sigma**2 + L*m2[k] + v*m2[k] + b/v        by combine 2*step, moved
      size:    0 <= m2[k]                                                                  by derivation
      twice:   2*phi[k+1] <= 2*phi[k] - 2*a*E2[k] + 2*eta*sigma**2 + L*m2[k] + 2*B*sqrt(m2[k])      by least v of moves
      full:    G2[k] <= 2*E2[k] + 2*sigma**2                                               by derivation
      round:   G2[k] <= 2/a*(phi[k] - phi[k+1] + B*sqrt(m2[k]) + L/2*m2[k]) + 2*(1 + eta/a)*sigma**2
                 by combine 1/a*twice, 1*full
      least:   low[k] <= phi[k]                                                            by derivation
      all:     sum(G2[k], k, 0, N) <= 2/a*(phi[0] - phi[N+1] + B*sum(sqrt(m2[k]), k, 0, N) + L/2*sum(m2[k], k, 0, N)) + 2*(N + 1)*(1 + eta/a)*sigma**2
                 by induction N: base combine 1*round(k=0); step combine 1*ih, 1*round(k=N+1)
      done:    claim                                                                       by combine 1*all, 2/a*least(k=N+1)
    """,
    states=PlayedStates(play_drawn_steps),
    rounds={"k": 0, "N": 0},
    auxiliary="0 < v",
    quantities={
        "phi": "mean(f(at)) + mean(R(p))",
        "G2": "mean(norm2(mapping))",
        "E2": "mean(norm2(drawn))",
        "reached": "mean(f(reached)) + mean(R(p_next))",
        "m2": "norm2(moved)",
        "low": "low",
    },
    where=A,
    assumed={
        **LOCAL_STEPS.assumed,
        "A5": "a drawn gradient is away from the gradient by sigma^2 on average",
        "unbiased": "and not in the direction of what was known before it was drawn",
    },
)


def play_from_the_start(w: World, p: Parameters, last: int) -> list[Any]:
    """Any w_t, and w_{i,t} with gamma_{i,t} = grad f_i(w_{i,t}), so that t = 0 is one of them; the rounds after it, w*, and D there."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, y, g = w.vector("w"), w.vector("w_i", True), w.vector("gamma_i", True)
    w.at(f, y, "f_i 0", g=g)
    w.at(reg, x, "R0")
    star, value = w.vector("w*"), w.value("D*")
    states = play_on(w, p, last, SimpleNamespace(w=x, w_i=y, gamma_i=g, f_i=f, R=reg))
    for state in states:
        vars(state).pop("s", None)
        vars(state).pop("r", None)
        vars(state).update(w_star=star, D_star=value)
    return states


def start(w: World, p: Parameters) -> Any:
    """w_{i,0} = w_0 and gamma_{i,0} = grad f_i(w_0)."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, g = w.vector("w_0"), w.vector("gamma_i0", True)
    w.at(f, x + g * 0, "f_i 0", g=g)
    w.at(reg, x, "R0")
    return SimpleNamespace(w=x, w_i=x + g * 0, gamma_i=g, f_i=f, R=reg, w_star=w.vector("w*"), D_star=w.value("D*"))


#: late[t] is 1 where ||w_t - w*||^2 <= 1/H is known, as it is for t > N, and 0 elsewhere
DISTANCES = Theorem(
    f"{CHOICE}, 0 < H",
    "sum(L**2*d[t], t, 0, T) <= L**2*(sum((1 - late[t])*(t + 1), t, 0, T)*(d[0] + 2*eta*r[0]) + (T + 1)/H)",
    """
      fall:    M[t] <= 2*eta*(r[t] - r[t+1])                            by derivation
      falls:   r[t+1] <= r[t]                                           by derivation
      above:   0 <= r[t]                                                by monotone falls, values
      size:    0 <= M[t]                                                by derivation
      far:     0 <= d[t]                                                by derivation
      step:    d[t+1] <= (1 + s)*d[t] + (1 + 1/s)*M[t]                  by derivation
      both:    d[t+1] <= d[t] + M[t] + 2*sqrt(d[t])*sqrt(M[t])          by least s of step
      reached: d[T] <= (T + 1)*(d[0] + 2*eta*(r[0] - r[T]))             by induction T: base combine;
                 step combine 1*both(t=T), (1/(T + 1))*square(sqrt(d[T]) - (T + 1)*sqrt(M[T])), ((T + 2)/(T + 1))*ih, (T + 2)*fall(t=T)
      each:    d[t] <= (1 - late[t])*(t + 1)*(d[0] + 2*eta*r[0]) + late[t]/H
                 by combine 1*known, (1 - late[t])*reached(T=t), ((1 - late[t])*(t + 1)*2*eta)*above
      done:    claim    by induction T: base combine (L**2)*each(t=0); step combine 1*ih, (L**2)*each(t=T+1)
    """,
    states=PlayedStates(play_from_the_start, begins=start),
    rounds={"t": 0, "T": 0},
    auxiliary="0 < s",
    sequences={"late": "0..1"},
    quantities={"r": RESIDUAL, "M": SERVER, "d": "norm2(w - w_star)"},
    given={"values": VALUES, "known": "late[t]*(d[t] - 1/H) <= 0"},
)
#: what the rounds t <= N come to where they are the others
EARLY = Theorem(
    "",
    "sum(t + 1, t, 0, N) == (N + 1)*(N + 2)/2",
    "done: claim by induction N: base combine; step combine ih",
    rounds={"t": 0, "N": 0},
)
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
    where={name: kl_theorems.TRAPPED.where[name] for name in ("theta", "C2", "C3", "c")},
    auxiliary="0 < s",
    given={"above": "0 < r[t]", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    assumed=kl_theorems.TRAPPED.assumed,
    units="value = length**2",
)
#: the noise of the corrected bound, in the paper's constant C_6
NOISE = Theorem(
    "0 < L, 0 < eta < 2/(L + 1), 0 < sigma",
    "2*(1 + eta/a)*sigma**2 <= C6*(2/C6 + 2*eta)*sigma**2",
    """
      less:    1/C6 <= a                                               by combine
      done:    claim                                                   by combine (2*eta*sigma**2*C6/a)*less
    """,
    where={"a": A["a"], "C6": "1/(eta - (L + 1)*eta**2/2)"},
)
