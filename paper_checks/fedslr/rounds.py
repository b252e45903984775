"""States of Phase I's rounds, as theorems (`PlayedStates`) and lemmas speak of them, and lines that several proofs share.

Local problems are solved exactly, so that gamma_{i,t+1} = grad f_i(w_{i,t+1}) = gamma_{i,t} + (w_t - w_{i,t+1})/eta (Facts 1 and 2), and
w_{t+1} = mean_i w_{i,t+1} - eta (mean_i gamma_{i,t+1} + s_{t+1}) with a subgradient s_{t+1} of R there (Fact 3). Lemmas see points from w_t = 0
where nothing else is said.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates
from fedtheory.claims.statements.worlds import Parameters, World, bar, norm2
from paper_checks.fedslr.assumptions import DISTANCE


# ---- Rounds from any state -------------------------------------------------------------------------------------------
def server_step(w: World, p: Parameters, y: Any, g: Any, reg: Any, name: str) -> tuple[Any, Any, Any]:
    """w = Prox(mean w_i - eta mean gamma_i), the subgradient of R there that the step leaves (Fact 3), and R(w)."""
    s = w.vector(f"s{name}")
    x = bar(y) - (bar(g) + s) * p.eta
    _, value = w.at(reg, x, f"R{name}", g=s)
    return x, s, value


def play_rounds(w: World, p: Parameters, last: int, convex: bool = False) -> list[Any]:
    """Any state of a round t >= 1, and the ``last`` ones after it: (4) and (5) with exact solves, then the server's step (6)."""
    f, reg = w.function(p.L, p.L * 0 if convex else -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    y, g = w.vector("w_i", True), w.vector("gamma_i", True)
    w.at(f, y, "f_i 0", g=g)
    x, s, value = server_step(w, p, y, g, reg, "0")
    return play_on(w, p, last, SimpleNamespace(w=x, w_i=y, gamma_i=g, s=s, r=value, f_i=f, R=reg))


def play_on(w: World, p: Parameters, last: int, state: Any) -> list[Any]:
    """A state and the ``last`` ones after it, each with what the round makes of it."""
    states = [state]
    for k in range(1, max(last, 1) + 1):
        old = states[-1]
        gn = w.vector(f"gamma_i{k}", True)
        yn = old.w - (gn - old.gamma_i) * p.eta
        w.at(old.f_i, yn, f"f_i {k}", g=gn)
        xn, sn, value = server_step(w, p, yn, gn, old.R, f"{k}")
        old.w_next, old.w_i_next, old.gamma_i_next = xn, yn, gn
        states.append(SimpleNamespace(w=xn, w_i=yn, gamma_i=gn, s=sn, r=value, f_i=old.f_i, R=old.R))
    return states[: last + 1]


def first_round(w: World, p: Parameters, convex: bool = False) -> Any:
    """The state of round 1: after any w_0 and gamma_{i,0}."""
    f, reg = w.function(p.L, p.L * 0 if convex else -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, g, gn = w.vector("w_0"), w.vector("gamma_i0", True), w.vector("gamma_i1", True)
    y = x - (gn - g) * p.eta
    w.at(f, y, "f_i 1", g=gn)
    xn, s, _ = server_step(w, p, y, gn, reg, "1")
    return SimpleNamespace(w=xn, w_i=y, gamma_i=gn, s=s, f_i=f, R=reg)


ROUNDS = PlayedStates(play_rounds, begins=first_round, least=1)


def play_round(w: World, p: Parameters, mu: Any = None) -> SimpleNamespace:
    """A round from any w_t = 0 and any w_{i,t}, with gamma_{i,t} = grad f_i(w_{i,t}): all t >= 1, and t = 0 if gamma_{i,0} is started so."""
    f = w.function(p.L, -p.L if mu is None else mu, client=True, name="f")
    y, g, gn = w.vector("w_i", True), w.vector("gamma_i", True), w.vector("gamma_i+", True)
    _, v = w.at(f, y, "f_i", g=g)
    x = bar(y) * 0
    yn = x - (gn - g) * p.eta
    _, vn = w.at(f, yn, "f_i+", g=gn)
    return SimpleNamespace(**locals())


# ---- Distances -------------------------------------------------------------------------------------------------------
def distance_below(w: World, name: str, element: Any) -> Any:
    """The square of a set's distance from 0: a number of which nothing is known but that it is at most the square of an element's norm, and 0."""
    found = w.value(name)
    w.assume(f"an element {name}", found - norm2(element))
    w.assume(f"a square {name}", -found)
    return found


def play_with_slope(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with r_t = D_t - D* and dist(0, dD_t)^2; the parts of dD are those of (75) to (77), in the space of (w, {w_i}, {gamma_i})."""
    states, value = play_rounds(w, p, last), w.value("D*")
    for k, state in enumerate(states):
        apart = state.w - state.w_i
        d_w = state.s + bar(state.gamma_i) + bar(apart) / p.eta
        d_w_i = state.gamma_i - state.gamma_i - apart / p.eta  # grad f_i(w_i) is gamma_i
        found = w.value(f"distance {k}")
        w.assume(f"an element {k}", found - norm2(d_w) - (norm2(d_w_i) + norm2(apart)) / p.M)
        vars(state).update(distance=found, D_star=value)
    return states


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


OF_THE_OBJECTIVE = {"an element of the objective": DISTANCE}
WITH_BOTH = replace(ROUNDS, play=play_with_both)


# ---- A cluster point -------------------------------------------------------------------------------------------------
def play_near_cluster_point(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds of a run with a cluster point (w*, {w_i*}, {gamma_i*}), at which D is some number."""
    states = play_rounds(w, p, last)
    star = {"w_star": w.vector("w*"), "w_i_star": w.vector("w_i*", True), "gamma_i_star": w.vector("gamma_i*", True)}
    value = w.value("D*")
    for state in states:
        vars(state).update(star, D_star=value)
    return states


NEAR = PlayedStates(play_near_cluster_point, begins=first_round, least=1)


# ---- Lines that several proofs share ---------------------------------------------------------------------------------
COPIES = """
      copies:  0 <= S[t]                                     by derivation"""
#: how far 0 is from dD, by the steps of the copies
TO_THE_SLOPE = f"""
      descent: r[t+1] <= r[t] - C2*S[t]                      by derivation{COPIES}
      near:    A[t] <= (1 + L*eta)**2*S[t]                   by derivation
      sharp:   E[t] <= (1 + eta**2)/(M*eta**2)*A[t]          by derivation
      slope:   E[t] <= C3**2*S[t]                            by combine sharp, (1 + eta**2)/(M*eta**2)*near, copies
"""
