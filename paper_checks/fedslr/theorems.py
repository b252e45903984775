"""FedSLR's statements about all rounds as theorems with proof terms, in the paper's notation (`fedtheory.claims.statements.theorems`).

A state is that of a round t >= 1 of Phase I with exact local solves: any w_t that a server step has led to, any w_{i,t}, and gamma_{i,t} =
grad f_i(w_{i,t}) (Fact 2). f_i is L-smooth and need not be convex (A1), R is convex. Bounded gradients (A2) are not used.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import bar, norm2
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World

DISTANCE = "the square of a set's distance from 0 is at most that of the norm of each of its elements"
#: the potential (10), and what rounds are measured by
POTENTIAL = "mean(f_i(w_i)) + R(w) + mean(dot(gamma_i, w - w_i)) + mean(norm2(w - w_i))/(2*eta)"
STEPS, SERVER = "mean(norm2(w_i_next - w_i))", "norm2(w_next - w)"


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


def play_convex(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with convex f_i."""
    return play_rounds(w, p, last, convex=True)


def play_start(w: World, p: Parameters, last: int) -> list[Any]:
    """A run from w_{i,0} = w_0 and gamma_{i,0} = grad f_i(w_0); w_0 is no server step's, and s any subgradient of R there."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    x, g, s = w.vector("w_0"), w.vector("gamma_i0", True), w.vector("s0")
    w.at(f, x + g * 0, "f_i 0", g=g)
    w.at(reg, x, "R0", g=s)
    return play_on(w, p, last, SimpleNamespace(w=x, w_i=x + g * 0, gamma_i=g, s=s, f_i=f, R=reg))


def distance_below(w: World, name: str, element: Any) -> Any:
    """The square of a set's distance from 0: a number of which nothing is known but that it is at most the square of an element's norm, and 0."""
    found = w.value(name)
    w.assume(f"an element {name}", found - norm2(element))
    w.assume(f"a square {name}", -found)
    return found


def play_with_distance(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds with dist(0, grad f(w_t) + dR(w_t))^2, of which the server's step before has left an element."""
    states = play_rounds(w, p, last)
    for k, state in enumerate(states):
        slope, _ = w.at(state.f_i, state.w + state.gamma_i * 0, f"grad f_i(w) {k}")
        state.distance = distance_below(w, f"{k}", bar(slope) + state.s)
    return states


def play_near_cluster_point(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds of a run with a cluster point (w*, {w_i*}, {gamma_i*}), at which D is some number."""
    states = play_rounds(w, p, last)
    star = {"w_star": w.vector("w*"), "w_i_star": w.vector("w_i*", True), "gamma_i_star": w.vector("gamma_i*", True)}
    value = w.value("D*")
    for state in states:
        vars(state).update(star, D_star=value)
    return states


def play_with_values(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds, and the values of D, f + R and mean ||w - w_i||^2 at a cluster point."""
    states = play_rounds(w, p, last)
    numbers = {name: w.value(name) for name in ("D_star", "F_star", "away_star")}
    for state in states:
        vars(state).update(numbers)
    return states


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


def play_bounded_below(w: World, p: Parameters, last: int) -> list[Any]:
    """Rounds where f + R is at least a number."""
    states, low = play_rounds(w, p, last), w.value("m")
    for k, state in enumerate(states):
        _, value = w.at(state.f_i, state.w + state.gamma_i * 0, f"f_i(w) {k}")
        w.assume(f"bounded below {k}", low - value - state.r)
        state.low = low
    return states


def play_towards_stationarity(w: World, p: Parameters, last: int, before: bool = False) -> list[Any]:
    """Rounds of a run with a cluster point, f and R there, and any point z; of a state by itself what `any_points` knows."""
    states = play_near_cluster_point(w, p, last) if last else [any_points(w, p, before)]
    for old, new in zip(states, states[1:], strict=False):
        vars(new).update(w_before=old.w, w_i_before=old.w_i, s_before=old.s)
    first, z, s_star = states[0], w.vector("z"), w.vector("s*")
    w.at(first.f_i, first.w_star, "f_i(w*)")
    w.at(first.R, first.w_star, "R(w*)", g=s_star)
    w.at(first.R, z, "R(z)")
    for state in states:
        vars(state).update(z=z, s_star=s_star)
    return states


def any_points(w: World, p: Parameters, before: bool) -> Any:
    """w_t, and w_{t-1} where it is asked for, with subgradients of R there: less than is known of a state, for lines that speak of nothing else."""
    f, reg = w.function(p.L, -p.L, client=True, name="f_i"), w.function(None, 0, name="R")
    state = SimpleNamespace(w=w.vector("w"), s=w.vector("s"), f_i=f, R=reg, w_star=w.vector("w*"))
    w.at(reg, state.w, "R(w)", g=state.s)
    if before:
        state.w_before, state.s_before = w.vector("w before"), w.vector("s before")
        w.at(reg, state.w_before, "R(w before)", g=state.s_before)
    return state


def play_at_the_end(w: World, p: Parameters, last: int) -> list[Any]:
    """The same for eta = 1/(2L)."""
    return play_towards_stationarity(w, SimpleNamespace(L=p.L, eta=1 / (2 * p.L)), last, before=True)


def first_at_the_end(w: World, p: Parameters) -> Any:
    """The state of round 1 for eta = 1/(2L)."""
    return first_round(w, SimpleNamespace(L=p.L, eta=1 / (2 * p.L)))


def play_client(w: World, p: Parameters, last: int) -> list[Any]:
    """A client in any round: any w_t, any w_{i,t} with gamma_{i,t} = grad f_i(w_{i,t}), and what it makes of them."""
    f, y, g = w.function(p.L, -p.L), w.vector("w_i"), w.vector("gamma_i")
    w.at(f, y, "f 0", g=g)
    states = []
    for k in range(last + 1):
        x, gn = w.vector(f"w {k}"), w.vector(f"gamma_i{k + 1}")
        yn = x - (gn - g) * p.eta
        w.at(f, yn, f"f {k + 1}", g=gn)
        states.append(SimpleNamespace(w=x, w_i=y, gamma_i=g, w_i_next=yn))
        y, g = yn, gn
    return states


def play_proximal_steps(w: World, p: Parameters, last: int) -> list[Any]:
    """Phase II of a client, (7) with full gradients: p_k, its proximal step, G = (p_k - p_{k+1})/eta_l; f is f_i(w_t + .)."""
    f, reg, x = w.function(p.L, -p.L, name="f"), w.function(None, 0, name="R"), w.vector("p_0")
    g, s = w.vector("grad f 0"), w.vector("s0")
    w.at(f, x, "f 0", g=g)
    w.at(reg, x, "R 0", g=s)
    states = []
    for k in range(max(last, 1) + 1):
        state = SimpleNamespace(p=x, distance=distance_below(w, f"{k}", g + s))
        s = w.vector(f"s{k + 1}")
        state.mapping = g + s
        x = x - state.mapping * p.eta
        g, _ = w.at(f, x, f"f {k + 1}")
        w.at(reg, x, f"R {k + 1}", g=s)
        states.append(state)
    return states[: last + 1]


#: the steps of the server in Lemma 3 and Theorems 1 and 2
SERVER_STEP = "0 < eta <= 1/(2*L)"
CHOICE = f"0 < L, {SERVER_STEP}"
ROUNDS = PlayedStates(play_rounds, begins=first_round, least=1)


LEMMA_3 = Theorem(
    CHOICE,
    (
        "D[t+1] - D[t] <= (L**2*eta + L/2 - 1/(2*eta))*S[t] - 1/(2*eta)*M[t]",
        "D[t+1] <= D[t]",
    ),
    """
      descent: claim 1            by derivation
      copies:  0 <= S[t]          by derivation
      moved:   0 <= M[t]          by derivation
      done:    claim 2            by combine descent, copies, moved
    """,
    states=ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "S": STEPS, "M": SERVER},
)


#: C_2 as it has to be for (71), and C_1 as it comes out of (70)
C2, C1 = "(1 - 2*L*eta)*(1 + L*eta)/(2*eta)", "(1/eta + eta*L**2)**2"
LEMMA_1 = Theorem(
    "0 < L, 0 < eta",
    "sqrt(drift[t]) <= L*eta*sqrt(step[t])",
    """
      far:     0 <= drift[t]                                      by derivation
      moved:   0 <= step[t]                                       by derivation
      squared: drift[t] <= L**2*eta**2*step[t]                    by derivation
      squares: sqrt(drift[t])**2 <= (L*eta*sqrt(step[t]))**2      by combine squared
      done:    claim                                              by root squares
    """,
    states=PlayedStates(play_client, least=1),
    rounds={"t": 1},
    quantities={"drift": "norm2(w - w_i_next)", "step": "norm2(w_i_next - w_i)"},
)
FACTORED = Theorem(
    "0 < L, 0 < eta",
    (
        "D[t+1] <= D[t] - C2*S[t]",
        "C2 == (1 - 2*L*eta)*((1 + L*eta)/(2*eta))",
        "0 < (1 + L*eta)/(2*eta)",
    ),
    """
      descent: claim 1   by derivation
      factors: claim 2   by combine
      sign:    claim 3   by combine
    """,
    states=ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "S": STEPS},
    where={"C2": "1/(2*eta) - L/2 - L**2*eta"},
)
CONVEX_ROUNDS = PlayedStates(play_convex, begins=partial(first_round, convex=True), least=1)
CONVEX_SHORT = Theorem(
    CHOICE,
    "D[t+1] <= D[t] - 1/(2*eta)*S[t]",
    "done: claim by derivation",
    states=CONVEX_ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "S": STEPS},
)
CONVEX_LONG = replace(
    CONVEX_SHORT,
    region="0 < L, 1/(2*L) <= eta < 1/L",
    claim="D[t+1] <= D[t] - (1/(2*eta) - (eta - 1/(2*L))*L**2)*S[t]",
)
BEST_ITERATE = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "exists t in 1..T: dist2[t] <= C1*(D[1] - D[T+1])/(C2*T)",
    """
      descent:  D[t+1] <= D[t] - C2*S[t]                           by derivation
      distance: dist2[t] <= C1*S[t]                                by derivation on 0 < L, 0 < eta
      total:    C2*sum(S[t], t, 1, T) <= D[1] - D[T+1]             by telescope of descent
      best:     exists t in 1..T: S[t] <= (D[1] - D[T+1])/(C2*T)   by mean total
      done:     claim                                              by combine distance, best
    """,
    states=replace(ROUNDS, play=play_with_distance),
    rounds={"t": 1, "T": 1},
    quantities={"D": POTENTIAL, "S": STEPS, "dist2": "distance"},
    where={"C1": C1, "C2": C2},
    assumed={"an element": DISTANCE},
)
LOWER_BOUND = Theorem(
    "0 < L, 0 < eta < 1/L",
    "F[t] + (1/(2*eta) - L/2)*away[t] <= D[t]",
    "done: claim by derivation",
    states=ROUNDS,
    rounds={"t": 1},
    quantities={"D": POTENTIAL, "F": "mean(f_i(w)) + R(w)", "away": "mean(norm2(w - w_i))"},
)
FIRST_ROUND = Theorem(
    CHOICE,
    "D[1] <= D[0] - 1/(2*eta)*M[0]",
    "done: claim by derivation",
    states=PlayedStates(play_rounds, start=play_start),
    quantities={"D": POTENTIAL, "M": SERVER},
)
PROXIMAL_STEPS = PlayedStates(play_proximal_steps, least=0)
PROXIMAL_DESCENT = Theorem(
    "0 < L, 0 < eta < 2/L",
    "phi[k+1] <= phi[k] - (eta - L*eta**2/2)*G2[k]",
    "done: claim by derivation",
    states=PROXIMAL_STEPS,
    rounds={"k": 0},
    quantities={"phi": "f(p) + R(p)", "G2": "norm2(mapping)"},
)
NEXT_POINT = Theorem(
    "0 < L, 0 < eta",
    "sqrt(dist2[k+1]) <= (1 + L*eta)*sqrt(G2[k])",
    """
      size:    0 <= G2[k]                                                by derivation
      far:     0 <= dist2[k]                                             by derivation
      squared: dist2[k+1] <= (1 + L*eta)**2*G2[k]                        by derivation
      squares: sqrt(dist2[k+1])**2 <= ((1 + L*eta)*sqrt(G2[k]))**2       by combine squared
      done:    claim                                                     by root squares
    """,
    states=PROXIMAL_STEPS,
    rounds={"k": 0},
    quantities={"dist2": "distance", "G2": "norm2(mapping)"},
    assumed={"an element": DISTANCE, "a square": "it is at least 0"},
)

NEAR = PlayedStates(play_near_cluster_point, begins=first_round, least=1)
RESIDUAL = f"{POTENTIAL} - D_star"
VALUES, MODELS = "r[t] -> 0 as t in J", "w[t] -> 0 as t in J"
#: what is at most 0 for all z where 0 is in dR(w*) + grad f(w*), and what does not change from round to round
EXCESS = "R(w_star) - R(z) - dot(bar(grad(f_i, w_star)), z - w_star)"
CONSTANTS = "norm2(z - w_star) + norm2(s_star) + norm2(bar(grad(f_i, w_star)))"
LEMMA_4 = Theorem(
    CHOICE,
    ("0 <= r[t]", "r[t] -> 0 as t"),
    """
      falls: r[t+1] <= r[t]   by derivation
      above: claim 1          by monotone falls, values
      done:  claim 2          by monotone falls, values
    """,
    states=NEAR,
    rounds={"t": 1},
    quantities={"r": RESIDUAL},
    given={"values": VALUES},
)
SHIFTED = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    ("w[t+1] -> 0 as t in J", "w_i[t+1] -> 0 as t in J", "gamma_i[t+1] -> 0 as t in J"),
    """
      descent: r[t+1] <= r[t] - C2*S[t] - 1/(2*eta)*M[t]    by derivation
      copies:  0 <= S[t]                                    by derivation
      moved:   0 <= M[t]                                    by derivation
      falls:   r[t+1] <= r[t]                               by combine descent, copies, moved
      r_lim:   r[t] -> 0 as t                               by monotone falls, values
      S_above: S[t] <= (r[t] - r[t+1])/C2                   by combine descent, moved
      M_above: M[t] <= 2*eta*(r[t] - r[t+1])                by combine descent, copies
      S_lim:   S[t] -> 0 as t                               by squeeze copies, S_above, r_lim
      M_lim:   M[t] -> 0 as t                               by squeeze moved, M_above, r_lim
      w_low:   0 <= w[t+1]                                  by derivation
      i_low:   0 <= w_i[t+1]                                by derivation
      g_low:   0 <= gamma_i[t+1]                            by derivation
      w_next:  w[t+1] <= 2*w[t] + 2*M[t]                    by derivation
      i_next:  w_i[t+1] <= 2*w_i[t] + 2*S[t]                by derivation
      g_next:  gamma_i[t+1] <= 2*gamma_i[t] + 2*L**2*S[t]   by derivation
      w_lim:   claim 1                                      by squeeze w_low, w_next, models, M_lim
      i_lim:   claim 2                                      by squeeze i_low, i_next, copies_near, S_lim
      g_lim:   claim 3                                      by squeeze g_low, g_next, duals, S_lim
    """,
    states=NEAR,
    rounds={"t": 1},
    quantities={
        "r": RESIDUAL,
        "S": STEPS,
        "M": SERVER,
        "w": "norm2(w - w_star)",
        "w_i": "mean(norm2(w_i - w_i_star))",
        "gamma_i": "mean(norm2(gamma_i - gamma_i_star))",
    },
    where={"C2": C2},
    given={
        "values": VALUES,
        "models": MODELS,
        "copies_near": "w_i[t] -> 0 as t in J",
        "duals": "gamma_i[t] -> 0 as t in J",
    },
)
DUALS_APPROACH = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "error[t] -> 0 as t",
    """
      descent: D[t+1] <= D[t] - C2*S[t]                              by derivation
      above:   low[t] <= D[t]                                        by derivation
      same:    low[t+1] == low[t]                                    by identity
      fixed:   low[T] == low[1]                                      by induction T: base combine; step combine ih, same(t=T)
      copies:  error[t] <= L**2*(1 + L*eta)**2*S[t]                  by derivation
      size:    0 <= error[t]                                         by derivation
      round:   C2/(L**2*(1 + L*eta)**2)*error[t] <= D[t] - D[t+1]    by combine descent, copies
      sum:     C2/(L**2*(1 + L*eta)**2)*sum(error[t], t, 1, T) <= D[1] - D[T+1]   by telescope of round
      bound:   C2/(L**2*(1 + L*eta)**2)*sum(error[t], t, 1, T) <= D[1] - low[1]   by combine sum, above(t=T+1), fixed(T=T+1)
      done:    claim                                                 by series size, bound
    """,
    states=PlayedStates(play_bounded_below, begins=first_round, least=1),
    rounds={"t": 1, "T": 1},
    quantities={"D": POTENTIAL, "S": STEPS, "error": "mean(norm2(gamma_i - grad(f_i, w)))", "low": "low"},
    where={"C2": C2},
    assumed={"bounded below": "f + R is at least some number, as Remark 4 reads A3"},
)
STATIONARY = Theorem(
    "0 < L, 0 < eta < 1/(2*L)",
    "excess[1] <= 0",
    """
      descent: r[t+1] <= r[t] - C2*S[t+1]                             by derivation
      copies:  0 <= S[t+1]                                            by derivation
      falls:   r[t+1] <= r[t]                                       by combine descent, copies
      r_lim:   r[t] -> 0 as t                                       by monotone falls, values
      S_above: S[t+1] <= (r[t] - r[t+1])/C2                           by combine descent
      size:    0 <= Q[t]                                            by derivation
      Q_above: Q[t] <= C1*S[t+1]                                      by derivation on 0 < L, 0 < eta
      Q_after: Q[t] <= C1/C2*(r[t] - r[t+1])                        by combine Q_above, S_above
      Q_lim:   Q[t] -> 0 as t                                       by squeeze size, Q_after, r_lim
      near:    excess[t] <= a*A[t] + (Q[t] + (L**2 + 1)*w[t])/(2*a) + Q[t]/2 + (1/2 + L)*w[t]   by derivation
      same_e:  excess[t+1] == excess[t]                             by identity
      same_a:  A[t+1] == A[t]                                       by identity
      one_e:   excess[T] == excess[1]                               by induction T: base combine; step combine ih, same_e(t=T)
      one_a:   A[T] == A[1]                                         by induction T: base combine; step combine ih, same_a(t=T)
      every:   excess[1] <= a*A[1] + (Q[t] + (L**2 + 1)*w[t])/(2*a) + Q[t]/2 + (1/2 + L)*w[t]   by combine near, one_e(T=t), a*one_a(T=t)
      limit:   excess[1] <= a*A[1]                                  by limit of every, models, Q_lim
      sign:    0 <= A[t]                                            by derivation
      done:    claim                                                by least a of limit
    """,
    states=PlayedStates(play_towards_stationarity, begins=first_round, least=1),
    rounds={"t": 1, "T": 1},
    auxiliary="0 < a",
    quantities={
        "r": RESIDUAL,
        "S": "mean(norm2(w_i - w_i_before))",
        "w": "norm2(w - w_star)",
        "Q": "norm2(bar(grad(f_i, w)) + s)",
        "excess": EXCESS,
        "A": CONSTANTS,
    },
    where={"C1": C1, "C2": C2},
    given={"values": VALUES, "models": MODELS},
)
STATIONARY_AT_THE_END = Theorem(
    "0 < L",
    "excess[1] <= 0",
    """
      falls:   r[t+1] <= r[t]                                       by derivation
      r_lim:   r[t] -> 0 as t                                       by monotone falls, values
      middle:  E[t+1] <= 5*L*(r[t] - r[t+1])                        by derivation
      moved:   M[t+1] <= 1/L*(r[t] - r[t+1])                        by derivation
      server:  O[t+1] <= 4*K[t] + 16*L**2*(w_i[t] + w[t]) + 4*gamma_i[t]      by derivation
      next:    P[t] <= 12*E[t] + 24*L**2*v[t] + 24*A[t] + 3*O[t]    by derivation
      near:    excess[t] <= a*(A[t] + P[t]) + (8*E[t] + (12 + 8*L**2)*v[t] + 3*M[t])/(16*a) + E[t]/2 + (1/2 + L)*v[t]   by derivation
      same_v:  v[t+1] == w[t]                                       by identity
      same_e:  excess[t+1] == excess[t]                             by identity
      same_a:  A[t+1] == A[t]                                       by identity
      same_k:  K[t+1] == K[t]                                       by identity
      one_e:   excess[T] == excess[1]                               by induction T: base combine; step combine ih, same_e(t=T)
      one_a:   A[T] == A[1]                                         by induction T: base combine; step combine ih, same_a(t=T)
      one_k:   K[T] == K[1]                                         by induction T: base combine; step combine ih, same_k(t=T)
      size:    P[t+1] <= 60*L*(r[t] - r[t+1]) + 24*L**2*w[t] + 24*A[1] + 12*K[1] + 48*L**2*(w_i[t] + w[t]) + 12*gamma_i[t]
                       by combine next(t=t+1), 12*middle, (24*L**2)*same_v, 24*one_a(T=t+1), 3*server, 12*one_k(T=t)
      every:   excess[1] <= a*(25*A[1] + 12*K[1] + 60*L*(r[t] - r[t+1]) + 24*L**2*w[t] + 48*L**2*(w_i[t] + w[t]) + 12*gamma_i[t])
                       + ((40*L + 3/L)*(r[t] - r[t+1]) + (12 + 8*L**2)*w[t])/(16*a) + 5*L/2*(r[t] - r[t+1]) + (1/2 + L)*w[t]
                       by combine near(t=t+1), (-1)*one_e(T=t+1), a*one_a(T=t+1), a*size, (1/(2*a) + 1/2)*middle,
                       ((12 + 8*L**2)/(16*a) + 1/2 + L)*same_v, (3/(16*a))*moved
      limit:   excess[1] <= a*(25*A[1] + 12*K[1])                   by limit of every, models, copies_near, duals, r_lim
      a_sign:  0 <= A[t]                                            by derivation
      k_sign:  0 <= K[t+1]                                          by derivation
      k_one:   0 <= K[T]                                            by combine k_sign(t=T), one_k(T=T+1), one_k
      done:    claim                                                by least a of limit
    """,
    states=PlayedStates(play_at_the_end, begins=first_at_the_end, least=1),
    rounds={"t": 1, "T": 1},
    auxiliary="0 < a",
    quantities={
        "r": RESIDUAL,
        "M": "norm2(w - w_before)",
        "w": "norm2(w - w_star)",
        "w_i": "mean(norm2(w_i - w_i_star))",
        "gamma_i": "mean(norm2(gamma_i - gamma_i_star))",
        "v": "norm2(w_before - w_star)",
        "E": "norm2(bar(grad(f_i, w_before)) + (s_before + s)/2)",
        "P": "norm2(s)",
        "O": "norm2(s_before)",
        "excess": EXCESS,
        "A": CONSTANTS,
        "K": "norm2(2*L*(bar(w_i_star) - w_star) - bar(gamma_i_star))",
    },
    where={"eta": "1/(2*L)"},
    given={
        "values": VALUES,
        "models": MODELS,
        "copies_near": "w_i[t] -> 0 as t in J",
        "duals": "gamma_i[t] -> 0 as t in J",
    },
)
LEMMA_2 = Theorem(
    "0 < L, 0 < eta < 1/L",
    "gap[1] <= 0",
    """
      low:     gap[t] <= d[t] - f[t] - (1/(2*eta) - L/2)*apart[t]      by derivation
      same:    gap[t+1] == gap[t]                                  by identity
      one:     gap[T] == gap[1]                                    by induction T: base combine; step combine ih, same(t=T)
      every:   gap[1] <= d[t] - f[t] - (1/(2*eta) - L/2)*apart[t]      by combine low, (-1)*one(T=t)
      done:    claim                                               by limit of every, potentials, values, distances
    """,
    states=PlayedStates(play_with_values, begins=first_round, least=1),
    rounds={"t": 1, "T": 1},
    quantities={
        "gap": "F_star + (1/(2*eta) - L/2)*away_star - D_star",
        "d": RESIDUAL,
        "f": "mean(f_i(w)) + R(w) - F_star",
        "apart": "mean(norm2(w - w_i)) - away_star",
    },
    given={
        "potentials": "d[t] -> 0 as t in J",
        "values": "f[t] -> 0 as t in J",
        "distances": "apart[t] -> 0 as t in J",
    },
)
RECURSION = Theorem(
    "0 < L, 0 < eta < 1/(2*L), 1 <= M, 0 < c, 0 < theta < 1",
    "C4*r[t]**(2*theta) <= r[t] - r[t+1]",
    """
      descent: r[t+1] <= r[t] - C2*S[t]     by derivation
      copies:  0 <= S[t]                    by derivation
      near:    A[t] <= (1 + L*eta)**2*S[t]  by derivation
      sharp:   E[t] <= (1 + eta**2)/(M*eta**2)*A[t]   by derivation
      slope:   E[t] <= C3**2*S[t]           by combine sharp, (1 + eta**2)/(M*eta**2)*near, copies
      done:    claim                        by combine descent, (C2/C3**2)*slope, C4*kl
    """,
    states=PlayedStates(play_with_slope, begins=first_round, least=1),
    rounds={"t": 1},
    quantities={"r": RESIDUAL, "S": STEPS, "A": "mean(norm2(w - w_i))", "E": "distance"},
    where={"C2": "1/(2*eta) - L/2 - L**2*eta", "C3": "L + eta*L + 1/eta + 1", "C4": "C2/(C3**2*c**2*(1 - theta)**2)"},
    given={"above": "0 < r[t]", "kl": "r[t]**(2*theta) <= c**2*(1 - theta)**2*E[t]"},
    assumed={"an element": DISTANCE},
    units="value = length**2",
)
