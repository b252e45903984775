"""SAFARI's Theorems 4 and 5, corrected, for every number of rounds, from what a round of clients does.

A round is played in law. Every vector is one of each outcome of all that is drawn (coins, who takes part, noise), so that ``mean`` is the
expectation. x = x_r, G = (1/m) sum_i sum_k grad F_i(x_{r,k}^i), G + z = Delta_r, g + xi the server's gradient, whose noise xi has the mean 0. Of a
round of clients the theorem takes what another one says of its local steps (`paper_checks.safari.client_rounds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Inside, PlayedStates, Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.safari.client_rounds import CLIENT_ROUND_4, CLIENT_ROUND_5
from paper_checks.safari.theorems import (
    BOUND_4,
    BOUND_5,
    BY_ETABAR,
    CLIENT_4,
    CLIENT_DISTANCE,
    CORRECTED_5,
    DELTA,
    DELTABAR,
    ETABAR,
    EXCESS_5,
    SERVER_4,
    SERVER_DISTANCE,
    in_symbols,
    of_rounds,
)

Steps = Callable[[Parameters], tuple[Any, Any]]  #: eta_c and eta_s


def at_zero(text: str) -> str:
    """A formula at q = 0, without what is then multiplied by 0."""
    return str(in_symbols(text, q=0))


# ---- a round ----------------------------------------------------------------------------------------------------------


def any_state(w: World, p: Parameters, steps: Steps, convex: bool) -> SimpleNamespace:
    """x with what a round of clients, which is not played here, and one of the server make of it; for strongly convex functions x* = 0."""
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
    return state


def rounds_of(steps: Steps, convex: bool, who: str) -> PlayedStates:
    """Rounds of "clients", of the "server", or of either by a "coin" that is for clients with probability q."""

    def play(w: World, p: Parameters, last: int) -> list[Any]:
        state = any_state(w, p, steps, convex)
        kept = {} if convex else {"least": state.least}
        clients, server = (SimpleNamespace(x=x, **kept) for x in (state.x_clients, state.x_server))
        after = {"clients": clients, "server": server}
        return [state, after[who] if who in after else [(1 - p.q, server), (p.q, clients)]][: last + 1]

    return PlayedStates(play)


#: what is known of a round of the server
SERVER = {"server_noise": "U[r] <= sigma_s2", "server_centred": "Z[r] == 0"}
SLOPE = {"S": "mean(norm2(g))"}
#: of the local steps of a round: where it begins, and where it ends
LAST = {"x": "x", "g": "g", "x_clients": "x_next"}
OF_SERVER = {"U": "mean(norm2(xi))", "Z": "mean(dot(g, xi))"}
# ---- Theorem 4 --------------------------------------------------------------------------------------------------------

#: L eta_c K <= 1/11, which holds where eta_c <= 1/(4 sqrt(30) L K)
REGION_4 = "0 < L, 0 < eta_s <= 1/(22*L), 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_G2, 0 <= sigma_s2, 0 <= q <= 1"
VALUES = {"V": "mean(F(x))"}


def steps_4(p: Parameters) -> tuple[Any, Any]:
    """eta_c = 2 eta_s/K."""
    return 2 * p.eta_s / p.K, p.eta_s


SERVER_4_STEPS = f"""
  server_descent: B[r] <= V[r] - eta_s*S[r] - eta_s*Z[r] + L*eta_s**2/2*W[r]             by derivation
  server_moment:  W[r] == S[r] + 2*Z[r] + U[r]                                           by identity
  server:  S[r] <= {of_rounds(SERVER_4, change="(V[r] - B[r])", slope="S[r]")}
             by combine server_descent, server_moment, {", ".join(SERVER)}
"""
SERVER_4_QUANTITIES = {**VALUES, **OF_SERVER, "B": "mean(F(x_server))", "W": "mean(norm2(g + xi))", "low": "least"}
DESCENDS = """
  same:    low[r+1] == low[r]                                                            by identity
  bottom:  low[R] == low[0]                     by induction R: base combine same(r=0); step combine ih, same(r=R)
"""
BOUNDED = {"bounded_below": "low[r] <= V[r]"}
GAP = "(V[0] - low[0])"
THEOREM_4 = Theorem(
    name="Theorem 4, corrected",
    region=REGION_4,
    states=rounds_of(steps_4, convex=False, who="coin"),
    rounds={"r": 0, "R": 1},
    quantities={**SLOPE, "N": "mean(norm2(G))", "A": "mean(F(x_clients))", **SERVER_4_QUANTITIES},
    given={"clients": f"S[r] <= {of_rounds(CLIENT_4, change='(V[r] - A[r])', G='N[r]')}", **SERVER, **BOUNDED},
    inside={"clients": Inside(CLIENT_ROUND_4, "E", {**LAST, "G": "s_bar"})},
    claim=f"sum(S[r], r, 0, R-1)/R <= {of_rounds(BOUND_4, gap=GAP)} + 4*q*sigma_G2",
    proof=SERVER_4_STEPS
    + DESCENDS
    + f"""
  size:    0 <= S[r]                                                                     by derivation
  pull:    0 <= N[r]                                                                     by derivation
  coin:    V[r+1] == q*A[r] + (1 - q)*B[r]                                               by identity
  step:    S[r] <= 2/eta_s*(V[r] - V[r+1]) + {DELTA} + 4*q*sigma_G2
             by combine (2/eta_s)*coin, q*clients, (1 - q)*server, (1 - q)*(1 - L*eta_s)*size, (q*(2 - 8*L*eta_s)/K**2)*pull
  all:     sum(S[r], r, 0, R-1) <= 2/eta_s*(V[0] - V[R]) + R*({DELTA} + 4*q*sigma_G2)
             by induction R: base combine step(r=0); step combine ih, step(r=R)
  done:    claim                                by combine (1/R)*all, (2/(R*eta_s))*bounded_below(r=R), (-2/(R*eta_s))*bottom
""",
)
#: at most delta/eta_s, for eta_s <= 1/(22 L)
OF_ORDER_4 = "L*(1 - q)*sigma_s2 + 40*q*L/(11*K)*(sigma2 + 6*K*sigma_G2) + 8*L*q/(m*K)*sigma2"
RATE_4 = replace(
    THEOREM_4,
    name="Corollary 1, corrected",
    claim=f"sum(S[r], r, 0, R-1)/R <= 2*{GAP}/(R*eta_s) + eta_s*({OF_ORDER_4}) + 4*q*sigma_G2",
    proof=THEOREM_4.proof.replace("done:    claim ", f"four:    {THEOREM_4.claim} ")
    + """
  done:    claim                                by combine four
""",
)
#: for eta_s = c/sqrt(R), which is in the region from R = (22 L c)^2 on
ROOT_RATE_4 = replace(
    RATE_4,
    region=f"{REGION_4}, 0 < c",
    given={**RATE_4.given, "steps": "eta_s**2*R == c**2"},
    claim=f"sum(S[r], r, 0, R-1)/R <= (2*{GAP}/c + c*({OF_ORDER_4}))/sqrt(R) + 4*q*sigma_G2",
    proof=RATE_4.proof.replace("done:    claim ", f"any:     {RATE_4.claim} ")
    + f"""
  root:    eta_s == c/sqrt(R)                   by combine (1/(R*(eta_s + c/sqrt(R))))*steps
  back:    1/(R*eta_s) == 1/(c*sqrt(R))         by combine (-1/(R*eta_s*c/sqrt(R)))*root
  done:    claim                                by combine any, (2*{GAP})*back, ({OF_ORDER_4})*root
""",
)
SGD = Theorem(
    name="Theorem 4 at q = 0",
    region="0 < L, 0 < eta_s <= 1/L, 0 <= sigma_s2",
    states=rounds_of(lambda p: (0, p.eta_s), convex=False, who="server"),
    rounds={"r": 0, "R": 1},
    quantities={**SLOPE, **SERVER_4_QUANTITIES},
    given={**SERVER, **BOUNDED},
    claim=f"sum(S[r], r, 0, R-1)/R <= {of_rounds(at_zero(BOUND_4), gap=GAP)}",
    proof=SERVER_4_STEPS
    + DESCENDS
    + f"""
  size:    0 <= S[r]                                                                     by derivation
  after:   V[r+1] == B[r]                                                                by identity
  step:    S[r] <= 2/eta_s*(V[r] - V[r+1]) + {at_zero(DELTA)}
             by combine (2/eta_s)*after, server, (1 - L*eta_s)*size
  all:     sum(S[r], r, 0, R-1) <= 2/eta_s*(V[0] - V[R]) + R*({at_zero(DELTA)})
             by induction R: base combine step(r=0); step combine ih, step(r=R)
  done:    claim                                by combine (1/R)*all, (2/(R*eta_s))*bounded_below(r=R), (-2/(R*eta_s))*bottom
""",
)

# ---- Theorem 5 --------------------------------------------------------------------------------------------------------

#: etabar <= mu/(16 L) is eta_c <= 1/(8 L K), and gives eta_s <= 2/(L + mu)
REGION_5 = "0 < mu < L, 0 < etabar <= mu/(16*L), 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_G2, 0 <= sigma_s2, 0 <= q <= 1"
DISTANCE = {"D": "mean(norm2(x))"}
SERVER_5_GIVEN = {**SERVER, "server_centred_x": "O[r] == 0"}


def steps_5(p: Parameters) -> tuple[Any, Any]:
    """Both by etabar."""
    return p.etabar * 2 / (p.mu * p.K), p.etabar * (p.L + p.mu) / (p.L * p.mu * 2)


OF_D = {"dist": "D[r]", "G_3": "S[r]", "G_4": "H[r]"}
SERVER_5_STEPS = f"""
  cocoercive: -Q[r] <= -L*mu/(L + mu)*D[r] - S[r]/(L + mu)                               by derivation
  server_moved: B[r] == D[r] - 2*eta_s*Q[r] - 2*eta_s*O[r] + eta_s**2*(S[r] + 2*Z[r] + U[r])      by identity
  server:  B[r] <= {of_rounds(SERVER_DISTANCE, **OF_D)}
             by combine server_moved, cocoercive, {", ".join(SERVER_5_GIVEN)}
"""
SERVER_5_QUANTITIES = {
    **DISTANCE,
    **OF_SERVER,
    **SLOPE,
    "B": "mean(norm2(x_server))",
    "Q": "mean(dot(g, x))",
    "O": "mean(dot(xi, x))",
}
THEOREM_5 = Theorem(
    name="Theorem 5, corrected",
    region=REGION_5,
    states=rounds_of(steps_5, convex=True, who="coin"),
    rounds={"r": 0, "R": 0},
    where=BY_ETABAR,
    quantities={**SERVER_5_QUANTITIES, "A": "mean(norm2(x_clients))", "H": "over"},
    given={
        "clients": f"A[r] <= {of_rounds(CLIENT_DISTANCE, **OF_D)}",
        **SERVER_5_GIVEN,
        "condition": f"{of_rounds(EXCESS_5.format(**CORRECTED_5), **OF_D)} <= 0",
    },
    inside={"clients": Inside(CLIENT_ROUND_5, "E", {**LAST, "over": "over"})},
    claim=f"D[R] <= {of_rounds(BOUND_5, dist='D[0]')}",
    proof=SERVER_5_STEPS
    + f"""
  coin:    D[r+1] == q*A[r] + (1 - q)*B[r]                                               by identity
  step:    D[r+1] <= (1 - etabar)*D[r] + etabar*({DELTABAR})
             by combine coin, q*clients, (1 - q)*server, etabar*condition
  one:     0 <= {of_rounds(DELTABAR, q="1")}                                             by combine
  none:    0 <= {of_rounds(DELTABAR, q="0")}                                             by combine
  either:  0 <= {DELTABAR}                                                               by combine q*one, (1 - q)*none
  done:    claim             by induction R: base combine either; step combine (1 - etabar)*ih, step(r=R)
""",
)
SGD_STRONGLY = Theorem(
    name="Theorem 5 at q = 0",
    region="0 < mu < L, 0 < eta_s <= 2/(L + mu), 0 <= sigma_s2",
    states=rounds_of(lambda p: (0, p.eta_s), convex=True, who="server"),
    rounds={"r": 0, "R": 0},
    where={"etabar": ETABAR[1]},
    quantities=SERVER_5_QUANTITIES,
    given=SERVER_5_GIVEN,
    claim=f"D[R] <= {of_rounds(BOUND_5.replace(DELTABAR, at_zero(DELTABAR)), dist='D[0]')}",
    proof=SERVER_5_STEPS
    + f"""
  after:   D[r+1] == B[r]                                                                by identity
  size:    0 <= S[r]                                                                     by derivation
  step:    D[r+1] <= (1 - etabar)*D[r] + etabar*({at_zero(DELTABAR)})
             by combine after, server, eta_s*(2/(L + mu) - eta_s)*size
  done:    claim             by induction R: base combine; step combine (1 - etabar)*ih, step(r=R)
""",
)
#: at most deltabar/etabar, for etabar <= mu/(16 L)
OF_ORDER = (
    "16*q*sigma_G2/mu**2 + 4*q*sigma2/(mu**2*m*K) + (1 - q)*(L + mu)**2/(4*L**2*mu**2)*sigma_s2 "
    "+ 45*q/(8*mu**2*K)*(sigma2 + 6*K*sigma_G2)"
)
RATE_5 = replace(
    THEOREM_5,
    name="Corollary 2, corrected",
    claim=f"D[R] <= exp(-etabar*R)*D[0] + etabar*({OF_ORDER})",
    proof=THEOREM_5.proof.replace("done:    claim ", f"five:    {THEOREM_5.claim} ")
    + """
  far:     0 <= D[r]                                                                     by derivation
  tangent: 1 - etabar <= exp(-etabar)                                                    by exponential -etabar
  falls:   (1 - etabar)**R <= exp(-etabar*R)
             by induction R: base combine; step combine (1 - etabar)*ih, exp(-etabar*R)*tangent
  done:    claim                                                                         by combine five, far(r=0), D[0]*falls
""",
)
#: after N rounds with etabar = c log(N)/N; exp(-c log(N)) is N^{-c}
LOG_RATE_5 = replace(
    RATE_5,
    region=f"{REGION_5}, 0 < c",
    rounds={**RATE_5.rounds, "N": 1},
    given={**RATE_5.given, "steps": "etabar*N == c*log(N)"},
    claim=f"D[N] <= exp(-c*log(N))*D[0] + c*log(N)/N*({OF_ORDER})",
    proof=RATE_5.proof.replace("done:    claim ", f"any:     {RATE_5.claim} ")
    + """
  same:    1 + (etabar*N - c*log(N)) <= exp(etabar*N - c*log(N))                         by exponential etabar*N - c*log(N)
  power:   exp(-etabar*N) <= exp(-c*log(N))                                              by combine exp(-etabar*N)*same, (-exp(-etabar*N))*steps
  done:    claim                                                                         by combine any(R=N), D[0]*power, ((ORDER)/N)*steps
""".replace("ORDER", OF_ORDER),
)
