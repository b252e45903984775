"""A round of SAFARI's clients, step by step: (45)-(50) and (72)-(77) for every number of local steps and clients.

Every vector is one of each outcome of all that is drawn and of each client that takes part, so that ``mean`` is the expectation, and over clients the
average; F, and F_i, are the functions of the outcome and of its client. After k local steps s and n are a client's sums of gradients and of their
noise, s_bar and n_bar their averages over the clients of the outcome; v = grad F_i(x - eta_c (s + n)), and xi, v_bar, xi_bar are what comes next.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.safari.local_steps import (
    MARTINGALE,
    NOISE_OF,
    STAYS_NEAR,
    STAYS_UNCORRELATED,
    UNCORRELATED_GIVEN,
    UNCORRELATED_OF,
)
from paper_checks.safari.theorems import BY_SERVER_STEP, CLIENT_4, CLIENT_DISTANCE, of_rounds


def client_round(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """Local steps from x on; ``away``: how far y is from x, ``x_next``: the model if the round ends. Begun with empty sums."""
    F, F_i = (w.function(p.L, -p.L, client=True, name=name) for name in ("F", "F_i"))
    x, s, n, s_bar, n_bar = (w.vector(name, True) for name in ("x", "s", "n", "s_bar", "n_bar"))
    if begun:
        s, n, s_bar, n_bar = (x * 0,) * 4
    g, _ = w.at(F, x, "F at x")
    g_i, _ = w.at(F_i, x, "F_i at x")
    eta_c = p.eta_s * 2 / p.K
    states = []
    for k in range(last + 1):
        away = (s + n) * eta_c
        v, _ = w.at(F_i, x - away, f"F_i at y {k}")
        xi, v_bar, xi_bar = (w.vector(f"{name} {k}", True) for name in ("xi", "v_bar", "xi_bar"))
        sums = {"s": s, "n": n, "s_bar": s_bar, "n_bar": n_bar, "x_next": x - (s_bar + n_bar) * eta_c}
        states.append(SimpleNamespace(x=x, g=g, g_i=g_i, away=away, v=v, xi=xi, v_bar=v_bar, xi_bar=xi_bar, **sums))
        s, n, s_bar, n_bar = s + v, n + xi, s_bar + v_bar, n_bar + xi_bar
    return states


#: of a client's sums and steps, and of their averages over clients; what is known of them
OF_STEPS = {
    "S": "mean(norm2(g))",
    "X": "mean(norm2(g_i - g))",
    "Y": "mean(norm2(away))",
    "M": "mean(norm2(v))",
    "a": "mean(norm2(s))",
    "B": "mean(dot(s, v))",
    **NOISE_OF,
    "N": "mean(norm2(s_bar))",
    "W": "mean(norm2(v_bar))",
    "Q": "mean(dot(v_bar, v))",
    "R": "mean(dot(s_bar, v_bar))",
}
GIVEN = {
    "steps": "E == K",
    "dissimilarity": "X[k] <= sigma_G2",
    "size": "d[k] <= sigma2",
    **MARTINGALE,
    "average_own": "Q[k] == W[k]",
}
STEPS = (
    STAYS_NEAR.replace("LAST", "E")
    + """
  large:      0 <= S[k]                                                  by derivation
  same:       S[k+1] == S[k]                                             by identity
  fixed:      S[k] == S[0]                                               by induction k: base combine; step combine ih, same
  near:       sum(Y[j], j, 0, E-1) <= eta_c**2*K**2*sum(M[j], j, 0, E-1) + eta_c**2*K**2*sigma2
             by combine 1*all, (eta_c**2*(E + K)*(sum(M[j], j, 0, E-1) + sigma2))*steps, eta_c**2*E*plus
  slopes:     M[k] <= 2*L**2*Y[k] + 4*X[k] + 4*S[k]                      by derivation
  slope:      sum(M[j], j, 0, E-1) <= 2*L**2*sum(Y[j], j, 0, E-1) + E*(4*sigma_G2 + 4*S[0])
             by induction E: base combine slopes(k=0), 4*dissimilarity(k=0); step combine ih, slopes(k=E), 4*dissimilarity(k=E), 4*fixed(k=E)
  jensen:     2*Q[k] <= W[k] + M[k]                                      by derivation
  average:    W[k] <= M[k]                                               by combine jensen, (-2)*average_own
  first_bar:  N[1] == W[0]                                               by identity
  grown_bar:  N[k+1] == N[k] + 2*R[k] + W[k]                             by identity
  young_bar:  2*k*R[k] <= N[k] + k**2*W[k]                               by derivation
  whole:      N[k+1] <= (k + 1)*sum(M[j], j, 0, k)
             by induction k: base combine first_bar, average(k=0); step combine ((k + 2)/(k + 1))*ih, grown_bar(k=k+1),
               (1/(k + 1))*young_bar(k=k+1), (k + 2)*average(k=k+1)
"""
)
CLIENT_ROUND_4 = Theorem(
    name="(45)-(50)",
    region="0 < L, 0 < eta_s <= 1/(22*L), 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_G2",
    states=PlayedStates(client_round, start=partial(client_round, begun=True)),
    rounds={"k": 0, "j": 0, "E": 1},
    where=BY_SERVER_STEP,
    quantities={
        **OF_STEPS,
        "V": "mean(F(x))",
        "A": "mean(F(x_next))",
        "C": "mean(dot(s_bar, g))",
        "I": "mean(dot(v, g))",
        "J": "mean(dot(v_bar, g))",
        "H": "mean(dot(n_bar, g))",
        "h": "mean(dot(xi_bar, g))",
        "e": "mean(norm2(n_bar))",
        "f": "mean(dot(n_bar, xi_bar))",
        "o": "mean(norm2(xi_bar))",
    },
    given={
        **GIVEN,
        "size_bar": "o[k] <= sigma2/m",
        "centred_bar": "f[k] == 0",
        "centred_slope": "h[k] == 0",
        "average_slope": "J[k] == I[k]",
    },
    claim=f"S[E] <= {of_rounds(CLIENT_4, change='(V[E] - A[E])', G='N[E]')}",
    proof=STEPS
    + """
  clean_bar:  e[0] == 0                                                  by identity
  added_bar:  e[k+1] == e[k] + 2*f[k] + o[k]                             by identity
  noise:      e[k] <= k*sigma2/m
             by induction k: base combine clean_bar; step combine ih, added_bar, centred_bar, size_bar
  no_push:    H[0] == 0                                                  by identity
  pushed:     H[k+1] == H[k] + h[k]                                      by identity
  flat:       H[k] == 0
             by induction k: base combine no_push; step combine ih, pushed, centred_slope
  inner:      -2*I[k] <= 2*X[k] + 2*L**2*Y[k] - S[k] - M[k]              by derivation
  no_pull:    C[0] == 0                                                  by identity
  pulled:     C[k+1] == C[k] + J[k]                                      by identity
  pull:       -2*C[E] <= E*(2*sigma_G2 - S[0]) + 2*L**2*sum(Y[j], j, 0, E-1) - sum(M[j], j, 0, E-1)
             by induction E: base combine (-2)*no_pull, (-2)*pulled(k=0), (-2)*average_slope(k=0), inner(k=0), 2*dissimilarity(k=0);
               step combine ih, (-2)*pulled(k=E), (-2)*average_slope(k=E), inner(k=E), 2*dissimilarity(k=E), (-1)*fixed(k=E)
  descent:    A[k] <= V[k] - eta_c*C[k] - eta_c*H[k] + L*eta_c**2*(N[k] + e[k]) by derivation
  done:       claim
             by combine (2/eta_s)*descent(k=E), (2/K)*pull, (-4/K)*flat(k=E), fixed(k=E), (8*L*eta_s/K**2)*noise(k=E),
               (2/K**2)*whole(k=E-1), ALPHA*near, (4*eta_s**2*ALPHA)*slope, (1 - 16*K*eta_s**2*ALPHA)*large(k=0),
               (2/K**2*sum(M[j], j, 0, E-1) + 4*eta_s**2*ALPHA*(4*sigma_G2 + 4*S[0]) + 2/K*(2*sigma_G2 - S[0]) + 8*L*eta_s/K**2*sigma2/m)*steps
""".replace("ALPHA", "(4*L**2/(K*(1 - 8*L**2*eta_s**2)))"),
)


def convex_round(w: World, p: Parameters, last: int, begun: bool = False) -> list[Any]:
    """The same of strongly convex functions, x* = 0; u = grad F_i(x - eta_c t) without noise, t their sum, ``over`` = F_i(x) - F_i(x*)."""
    F, F_i = (w.function(p.L, p.mu, client=True, name=name) for name in ("F", "F_i"))
    x, s, n, t, s_bar, n_bar = (w.vector(name, True) for name in ("x", "s", "n", "t", "s_bar", "n_bar"))
    if begun:
        s, n, t, s_bar, n_bar = (x * 0,) * 5
    g, _ = w.at(F, x, "F at x")
    w.at(F, x * 0, "F at the minimiser", g=x * 0)
    g_i, here = w.at(F_i, x, "F_i at x")
    _, least = w.at(F_i, x * 0, "F_i at the minimiser")
    states = []
    for k in range(last + 1):
        away = (s + n) * p.eta_c
        v, _ = w.at(F_i, x - away, f"F_i at y {k}")
        u, _ = w.at(F_i, x - t * p.eta_c, f"F_i at z {k}")
        xi, v_bar, xi_bar = (w.vector(f"{name} {k}", True) for name in ("xi", "v_bar", "xi_bar"))
        sums = {"s": s, "n": n, "t": t, "s_bar": s_bar, "n_bar": n_bar, "x_next": x - (s_bar + n_bar) * p.eta_c}
        now = {"away": away, "v": v, "u": u, "xi": xi, "v_bar": v_bar, "xi_bar": xi_bar}
        states.append(SimpleNamespace(x=x, g=g, g_i=g_i, over=here - least, **sums, **now))
        s, n, t, s_bar, n_bar = s + v, n + xi, t + u, s_bar + v_bar, n_bar + xi_bar
    return states


CLIENT_ROUND_5 = Theorem(
    name="(72)-(77)",
    region="0 < mu < L, 1 <= K, 0 < eta_c <= 1/(8*L*K), 1 <= m, 0 <= sigma2, 0 <= sigma_G2",
    states=PlayedStates(convex_round, start=partial(convex_round, begun=True)),
    rounds={"k": 0, "j": 0, "E": 1},
    quantities={
        **OF_STEPS,
        **UNCORRELATED_OF,
        "D": "mean(norm2(x))",
        "H": "over",
        "A": "mean(norm2(x_next))",
        "C": "mean(dot(s_bar, x))",
        "I": "mean(dot(v, x))",
        "J": "mean(dot(v_bar, x))",
        "T": "mean(dot(n_bar, x))",
        "h": "mean(dot(xi_bar, x))",
    },
    given={
        **GIVEN,
        **UNCORRELATED_GIVEN,
        "centred_x": "h[k] == 0",
        "average_x": "J[k] == I[k]",
    },
    claim=f"A[E] <= {of_rounds(CLIENT_DISTANCE, dist='D[E]', G_3='S[E]', G_4='H[E]')}",
    proof=STEPS
    + STAYS_UNCORRELATED
    + """
  dist:       D[k+1] == D[k]                                             by identity
  still:      D[k] == D[0]                                               by induction k: base combine; step combine ih, dist
  excess:     H[k+1] == H[k]                                             by identity
  stays:      H[k] == H[0]                                               by induction k: base combine; step combine ih, excess
  no_push:    T[0] == 0                                                  by identity
  pushed:     T[k+1] == T[k] + h[k]                                      by identity
  flat:       T[k] == 0
             by induction k: base combine no_push; step combine ih, pushed, centred_x
  strong:     -I[k] <= -H[k] - mu/4*D[k] + L*Y[k]                        by derivation
  no_pull:    C[0] == 0                                                  by identity
  pulled:     C[k+1] == C[k] + J[k]                                      by identity
  pull:       -C[E] <= -E*(H[0] + mu/4*D[0]) + L*sum(Y[j], j, 0, E-1)
             by induction E: base combine (-1)*no_pull, (-1)*pulled(k=0), (-1)*average_x(k=0), strong(k=0);
               step combine ih, (-1)*pulled(k=E), (-1)*average_x(k=E), strong(k=E), (-1)*stays(k=E), (-mu/4)*still(k=E)
  moved:      A[k] == D[k] - 2*eta_c*C[k] - 2*eta_c*T[k] + eta_c**2*P[k] by identity
  done:       claim
             by combine 1*moved(k=E), (2*eta_c*K*mu/4)*still(k=E), (2*eta_c*K)*stays(k=E), SLOPE*fixed(k=E), (2*eta_c)*pull,
               (-2*eta_c)*flat(k=E), eta_c**2*moment(k=E), eta_c**2*whole(k=E-1),
               ALPHA*near, BETA*slope, (4*K*(eta_c**2*K*(1 + 15*K*eta_c*L*(1 + K*eta_c*L)) - BETA))*large(k=0),
               (eta_c**2*sum(M[j], j, 0, E-1) + BETA*(4*sigma_G2 + 4*S[0]) - 2*eta_c*(H[0] + mu/4*D[0]) + eta_c**2*sigma2/m)*steps
""".replace("BETA", "(K*eta_c**2*(1 + K*ALPHA))")
    .replace("ALPHA", "(2*eta_c*L*(1 + K*eta_c*L)/(1 - 2*(K*eta_c*L)**2))")
    .replace("SLOPE", "(-4*eta_c**2*K**2*(1 + 15*eta_c*K*L*(1 + eta_c*K*L)))"),
)
