"""Local steps of SAFARI's clients, one after the other: how far they go, and how their noise adds up. For every number of steps.

Every vector is one of each outcome of what is drawn, and of each client that takes part, so that ``mean`` is the expectation and over clients the
average. Noise has the mean 0, given what was drawn before it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.safari.theorems import DRIFT, MOMENT_4, NOISE_5, of_rounds


def any_sums(w: World) -> SimpleNamespace:
    """After some local steps: the sums s of gradients and n of their noise so far, the next gradient v and its noise xi."""
    return SimpleNamespace(**{name: w.vector(name, True) for name in ("s", "n", "v", "xi")})


def add_up(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """s and n become s + v and n + xi; begun at 0."""
    state = any_sums(w)
    if begun:
        state.s, state.n = state.s * 0, state.n * 0
    states = [state]
    for k in range(last):
        before, state = state, SimpleNamespace(**{name: w.vector(f"{name}{k + 1}", True) for name in ("v", "xi")})
        state.s, state.n = before.s + before.v, before.n + before.xi
        states.append(state)
    return states


def add_up_from_zero(w: World, p: Parameters, last: int) -> list[Any]:
    """The same, begun at 0."""
    return add_up(w, p, last, begun=True)


SUMS = PlayedStates(add_up, start=add_up_from_zero)
#: of sums and their noise
NOISE_OF = {"b": "mean(norm2(n))", "c": "mean(dot(n, xi))", "d": "mean(norm2(xi))"}
#: noise has the mean 0, given the past
MARTINGALE = {"centred": "c[k] == 0"}
NOISE_ADDS_UP = """
  from0: b[0] == 0                                   by identity
  added: b[k+1] == b[k] + 2*c[k] + d[k]              by identity
  noisy: b[k] <= k*SIZE                              by induction k: base combine from0; step combine ih, added, centred, size
"""
#: of sums s of gradients v and n of noise: how far they are, over LAST steps
STAYS_NEAR = (
    NOISE_ADDS_UP.replace("SIZE", "sigma2")
    + """
  first: a[1] == M[0]                                by identity
  grown: a[k+1] == a[k] + 2*B[k] + M[k]              by identity
  young: 2*k*B[k] <= a[k] + k**2*M[k]                by derivation
  long:  a[k+1] <= (k + 1)*sum(M[j], j, 0, k)
           by induction k: base combine first; step combine ((k + 2)/(k + 1))*ih, grown(k=k+1), (1/(k + 1))*young(k=k+1)
  far:   Y[k] <= 2*eta_c**2*(a[k] + b[k])            by derivation
  start: Y[0] == 0                                   by identity
  next:  Y[k+1] <= 2*eta_c**2*(k + 1)*(sum(M[j], j, 0, k) + sigma2)    by combine far(k=k+1), long, noisy(k=k+1)
  some:  0 <= M[k]                                   by derivation
  all:   sum(Y[j], j, 0, LAST-1) <= eta_c**2*(LAST - 1)*LAST*(sum(M[j], j, 0, LAST-1) + sigma2)
           by induction LAST: base combine start; step combine ih, next(k=LAST-1), some(k=LAST)
  plus:  0 <= sum(M[j], j, 0, LAST-1)                   by induction LAST: base combine some(k=0); step combine ih, some(k=LAST)
"""
)
SPLIT_NOISE = Theorem(
    name="(42)-(44)",
    region="0 < L, 0 < eta_c, 1 <= m, 0 <= sigma2",
    states=SUMS,
    rounds={"k": 0, "K": 0},
    quantities={
        "G": "mean(norm2(s))",
        **NOISE_OF,
        "P": "mean(norm2(s + n))",
    },
    given={**MARTINGALE, "size": "d[k] <= sigma2/m"},
    claim=f"L*eta_c**2/2*P[K] <= {of_rounds(MOMENT_4, G='G[K]')}",
    proof=NOISE_ADDS_UP.replace("SIZE", "sigma2/m")
    + """
  young: P[k] <= 2*G[k] + 2*b[k]     by derivation
  done:  claim                       by combine (L*eta_c**2/2)*young(k=K), (L*eta_c**2)*noisy(k=K)
""",
)


def step_beside(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """The same where v = grad F_i(x), x = x_0 - eta_c (s + n), beside steps without noise: u = grad F_i(z), z = x_0 - eta_c t, t their sum.

    ``s_bar``, ``n_bar``: the averages of s and n over the clients.
    """
    f, x_0 = w.function(p.L, 0, client=True, name="F_i"), w.vector("x_0", True)
    state = SimpleNamespace(x_0=x_0, **{name: w.vector(name, True) for name in ("s", "n", "t")})
    if begun:
        state.s, state.n, state.t = x_0 * 0, x_0 * 0, x_0 * 0
    states = []
    for k in range(last + 1):
        state.v, _ = w.at(f, x_0 - (state.s + state.n) * p.eta_c, f"F_i at x {k}")
        state.u, _ = w.at(f, x_0 - state.t * p.eta_c, f"F_i at z {k}")
        state.xi, state.s_bar, state.n_bar = (w.vector(f"{name} {k}", True) for name in ("xi", "s_bar", "n_bar"))
        states.append(state)
        state = SimpleNamespace(x_0=x_0, s=state.s + state.v, n=state.n + state.xi, t=state.t + state.u)
    return states


def step_beside_from_zero(w: World, p: Parameters, last: int) -> list[Any]:
    """The same, begun at 0."""
    return step_beside(w, p, last, begun=True)


#: how far sums are from those of steps without noise; sums of clients, and what is known of them
UNCORRELATED_OF = {
    "N": "mean(norm2(s_bar))",
    "ab": "mean(dot(s_bar, n_bar))",
    "bb": "mean(norm2(n_bar))",
    "P": "mean(norm2(s_bar + n_bar))",
    "sn": "mean(dot(s, n))",
    "e": "mean(dot(s, xi))",
    "f": "mean(dot(v, xi))",
    "o": "mean(dot(u, n))",
    "Z": "mean(norm2(s - t))",
    "O": "mean(dot(v - u, 2*(s + n - t) + v - u))",
}
UNCORRELATED_GIVEN = {
    "sum_before": "e[k] == 0",
    "gradient_before": "f[k] == 0",
    "not_drawn": "o[k] == 0",
    "clients_apart": "ab[k] == sn[k]/m",
    "noise_apart": "bb[k] == b[k]/m",
}
STAYS_UNCORRELATED = """
  begin:   2*sn[0] + Z[0] == 0                                           by identity
  changed: 2*sn[k+1] + Z[k+1] == 2*sn[k] + Z[k] + 2*e[k] + 2*f[k] + 2*o[k] + O[k]  by identity
  falls:   O[k] <= 0                                                     by derivation
  below:   2*sn[k] + Z[k] <= 0
             by induction k: base combine begin; step combine ih, changed, falls, sum_before, gradient_before, not_drawn
  apart:   0 <= Z[k]                                                     by derivation
  parts:   P[k] == N[k] + 2*ab[k] + bb[k]                                by identity
  moment:  P[k] <= N[k] + k*sigma2/m
             by combine parts, clients_apart, noise_apart, (1/m)*below, (1/m)*apart, (1/m)*noisy
"""
UNCORRELATED = Theorem(
    name="(60)-(61)",
    region="0 < L, 0 < eta_c <= 2/L, 1 <= m, 0 <= sigma2",
    states=PlayedStates(step_beside, start=step_beside_from_zero),
    rounds={"k": 0, "K": 0},
    quantities={**NOISE_OF, **UNCORRELATED_OF},
    given={**MARTINGALE, "size": "d[k] <= sigma2", **UNCORRELATED_GIVEN},
    claim=f"P[K] <= N[K] + {NOISE_5}",
    proof=NOISE_ADDS_UP.replace("SIZE", "sigma2")
    + STAYS_UNCORRELATED
    + """
  done:    claim                                                         by combine moment(k=K)
""",
)


def from_the_model(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Local steps of length e_k with noise xi from x on: d is how far they went, v = grad F_i(x + d), g = grad F(x)."""
    f = w.function(p.L, -p.L, client=True, name="F_i")
    x, g, d = (w.vector(name, True) for name in ("x", "g", "d"))
    g_i, _ = w.at(f, x, "F_i at x")
    d = d * 0 if begun else d
    states = []
    for k in range(last + 1):
        v, _ = w.at(f, x + d, f"F_i at y {k}")
        xi = w.vector(f"xi {k}", True)
        states.append(SimpleNamespace(x=x, g=g, g_i=g_i, d=d, v=v, xi=xi))
        d = d - (v + xi) * getattr(p, f"e_{k}")
    return states


def from_the_model_on(w: World, p: Parameters, last: int) -> list[Any]:
    """The same, begun at x."""
    return from_the_model(w, p, last, begun=True)


ADDED = "(8*K*eta_c*(sigma_G2 + S[0]) + eta_c*sigma2)"
GONE = "sum(e[j], j, 0, k)"
#: K steps of length eta_c are one case of steps that are no longer than that, and together no longer than K of them
DRIFT_OF_STEPS = Theorem(
    name="(40)-(41)",
    region="0 < L, 1 <= K, 0 < eta_c <= 1/(8*L*K), 0 <= sigma2, 0 <= sigma_G2",
    states=PlayedStates(from_the_model, start=from_the_model_on),
    rounds={"k": 0, "j": 0, "n": 0},
    sequences={"e": "0..eta_c"},
    quantities={
        "Y": "mean(norm2(d))",
        "S": "mean(norm2(g))",
        "X": "mean(norm2(g_i - g))",
        "M": "mean(norm2(v))",
        "a": "mean(dot(d, v))",
        "b": "mean(dot(v, xi))",
        "c": "mean(dot(d, xi))",
        "E": "mean(norm2(xi))",
    },
    given={
        "dissimilarity": "X[k] <= sigma_G2",
        "noise": "E[k] <= sigma2",
        "centred": "c[k] == 0",
        "gradient_before": "b[k] == 0",
        "steps": "sum(e[j], j, 0, n) <= K*eta_c",
    },
    claim=f"Y[k] <= {of_rounds(DRIFT, G_3='S[k]')}",
    proof=f"""
  same:    S[k+1] == S[k]                                                     by identity
  fixed:   S[k] == S[0]                                  by induction k: base combine; step combine ih, same
  moved:   Y[k+1] == Y[k] - 2*e[k]*a[k] - 2*e[k]*c[k] + e[k]**2*(M[k] + 2*b[k] + E[k])         by identity
  slopes:  M[k] <= 2*L**2*Y[k] + 4*X[k] + 4*S[k]                              by derivation
  young:   -2*a[k] <= Y[k]/(K*eta_c) + K*eta_c*M[k]                           by derivation
  far:     0 <= Y[k]                                                          by derivation
  size:    0 <= S[k]                                                          by derivation
  grow:    Y[k+1] <= (1 + 17*e[k]/(16*K*eta_c))*Y[k] + e[k]*(8*K*eta_c*(sigma_G2 + S[k]) + eta_c*sigma2)
             by combine moved, e[k]*young, slopes, far, size, noise, dissimilarity, centred, gradient_before
  zero:    Y[0] <= 0                                                          by derivation
  first:   Y[1] <= {ADDED}*(e[0] + 3*e[0]**2/(2*K*eta_c))                     by combine grow(k=0), zero
  all:     Y[k+1] <= {ADDED}*({GONE} + 3*{GONE}**2/(2*K*eta_c))
             by induction k: base combine first; step combine (1 + 17*e[k+1]/(16*K*eta_c))*ih, 1*grow(k=k+1), (8*K*eta_c*e[k+1])*fixed(k=k+1),
               (51*e[k+1]*{ADDED}*{GONE}/(32*(K*eta_c)**2))*steps(n=k)
  last:    Y[k+1] <= {ADDED}*(5/2)*K*eta_c
             by combine 1*all, ({ADDED}*(1 + 3*({GONE} + K*eta_c)/(2*K*eta_c)))*steps(n=k)
  done:    claim
             by induction k: base combine 1*zero, (30*K**2*eta_c**2)*size(k=0); step combine 1*last, (-30*K**2*eta_c**2)*fixed(k=k+1),
               (10*K**2*eta_c**2)*size(k=0)
""",
)
