"""States of SAFARI's rounds and of its clients' local steps, and lines that several proofs share.

Theorems play a round in law: every vector is one of each outcome of all that is drawn (coins, who takes part, noise), and in local steps of each
client that takes part, so that ``mean`` is the expectation, and over clients the average. x = x_r, G = (1/m) sum_i sum_k grad F_i(x_{r,k}^i),
G + z = Delta_r, g + xi the server's gradient; noise has the mean 0, given what was drawn before it. After k local steps s and n are a client's
sums of gradients and of their noise, s_bar and n_bar their averages over the clients of the outcome; v = grad F_i(x - eta_c (s + n)), and xi,
v_bar, xi_bar are what comes next. What a round of clients does is a hypothesis of the theorems on rounds, and a theorem on local steps.

Lemmas see a pair (i, k) of a client that takes part and a local step as one "client", with the function F_i and the point y = x_{r,k}^i, so that
averages over clients are over all m K pairs, and G is K times an average. Who takes part is free: g = grad F(x) is a vector of its own, and of the
clients it is known that ||grad F_i(x) - g|| <= sigma_G only. Functions are L-smooth and need not be convex unless said.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates
from fedtheory.claims.statements.worlds import Parameters, World, norm2

# ---- A round in law --------------------------------------------------------------------------------------------------
Steps = Callable[[Parameters], tuple[Any, Any]]  #: eta_c and eta_s


def rounds_of(steps: Steps, convex: bool, who: str) -> PlayedStates:
    """Rounds of the "server", or of it or clients by a "coin" that is for clients with probability q; for strongly convex functions x* = 0."""

    def play(w: World, p: Parameters, last: int) -> list[Any]:
        eta_c, eta_s = steps(p)
        F = w.function(p.L, p.mu if convex else -p.L, client=True, name="F")
        x, G, z, xi = (w.vector(name, True) for name in ("x", "G", "z", "xi"))
        g, _ = w.at(F, x, "F at x")
        state = SimpleNamespace(x=x, g=g, G=G, xi=xi, x_clients=x - (G + z) * eta_c, x_server=x - (g + xi) * eta_s)
        if convex:
            w.at(F, x * 0, "F at the minimiser", g=x * 0)
            state.over = w.value("F_i(x) - F_i(x*)")
        else:
            state.least = w.value("F*")
        kept = {} if convex else {"least": state.least}
        clients, server = (SimpleNamespace(x=x, **kept) for x in (state.x_clients, state.x_server))
        return [state, server if who == "server" else [(1 - p.q, server), (p.q, clients)]][: last + 1]

    return PlayedStates(play)


#: what is known of a round of the server
OF_NOISE = {"server_noise": "U[r] <= sigma_s2", "server_centred": "Z[r] == 0"}
SLOPE = {"S": "mean(norm2(g))"}
#: of the local steps of a round: where it begins, and where it ends
ENDS = {"x": "x", "g": "g", "x_clients": "x_next"}
OF_SERVER = {"U": "mean(norm2(xi))", "Z": "mean(dot(g, xi))"}

# ---- Local steps -----------------------------------------------------------------------------------------------------
LOCAL_STEPS = "0 < L, 1 <= K, 0 < eta"


def local_work(w: World, p: Parameters) -> SimpleNamespace:
    """Points y of all pairs, their gradients, those at x, and the gradient g of F there."""
    f = w.function(p.L, -p.L, client=True, name="F_i")
    y, g = w.vector("y", True), w.vector("g")
    x = g * 0
    gx, v = w.at(f, x + y * 0, "F_i")
    gy, vy = w.at(f, y, "F_i(y)")
    w.assume("dissimilarity", norm2(gx - g) - p.G2)
    return SimpleNamespace(**locals())


#: of sums and their noise
NOISE_OF = {"b": "mean(norm2(n))", "c": "mean(dot(n, xi))", "d": "mean(norm2(xi))"}
#: noise has the mean 0, given the past
MARTINGALE = {"centred": "c[k] == 0"}
NOISE_ADDS_UP = """
  from0: b[0] == 0                                   by identity
  added: b[k+1] == b[k] + 2*c[k] + d[k]              by identity
  noisy: b[k] <= k*SIZE                              by induction k: base combine from0; step combine ih, added, centred, size
"""
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
OF_ROUNDS = {
    "steps": "E == K",
    "dissimilarity": "X[k] <= sigma_G2",
    "size": "d[k] <= sigma2",
    **MARTINGALE,
    "average_own": "Q[k] == W[k]",
}
#: how far sums are, and the averages of clients, over E steps
ALONG_THE_STEPS = (
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
  all:   sum(Y[j], j, 0, E-1) <= eta_c**2*(E - 1)*E*(sum(M[j], j, 0, E-1) + sigma2)
           by induction E: base combine start; step combine ih, next(k=E-1), some(k=E)
  plus:  0 <= sum(M[j], j, 0, E-1)                   by induction E: base combine some(k=0); step combine ih, some(k=E)
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
