"""FedDyn with all clients and exact solves, which is Douglas and Rachford's splitting: rates, and where its rounds come to rest."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms.feddyn import FedDyn, FedDynState
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import FunctionOf, LemmaConstants, Parameters, World, bar, norm2
from paper_checks.literature.sources import PAPER


def any_state(w: World) -> dict[str, Any]:
    """Any server model, local models and duals, where the server's dual is the average of the clients'."""
    lam_i = w.vector("lam_i", client=True)
    found = {"x": w.vector("x"), "x_bar": w.vector("x_bar"), "lam": bar(lam_i), "x_i": w.vector("x_i", client=True)}
    return {**found, "lam_i": lam_i}


def play_round(w: World, f: FunctionOf, rho: Any, before: dict[str, Any], k: int) -> dict[str, Any]:
    """A round by FedDyn's own code: clients answer x_i+ = argmin f_i(x) + <lam_i, x> + (rho/2) ||x - x^t||^2."""
    x_i = w.vector(f"x_i{k}", client=True)
    w.at(f, x_i, f"at x_i{k}", g=(before["x"] - x_i) * rho - before["lam_i"])
    return w.round_of(lambda local: FedDyn(rho, local), FedDynState, before, x_i)


def play_rounds(w: World, f: FunctionOf, rho: Any, last: int) -> list[Any]:
    """FedDyn from any state; s_i, zero in the mean, is the (sub)gradient of f_i at x*."""
    star, u = w.vector("x_star"), w.vector("u_i", client=True)
    s = u - bar(u)
    w.at(f, star, "at x_star", g=s)
    now = any_state(w)
    states = [SimpleNamespace(**now, x_star=star, s_i=s)]
    for k in range(last):
        now = play_round(w, f, rho, now, k)
        states.append(SimpleNamespace(**now, x_star=star, s_i=s))
    return states


def play_smooth(w: World, p: Parameters, last: int) -> list[Any]:
    """FedDyn with L = b^2, mu = a^2 and rho = a b, so that sqrt(L/mu) is b/a."""
    return play_rounds(w, w.function(p.b**2, p.a**2, client=True, name="f_i"), p.a * p.b, last)


def play_convex(w: World, p: Parameters, last: int) -> list[Any]:
    """FedDyn on closed and convex functions, with any rho."""
    return play_rounds(w, w.function(client=True, name="f_i"), p.rho, last)


#: Douglas and Rachford's variable, x - lam_i/rho, from its fixed point
AWAY = "mean(norm2(x - 1/({rho})*lam_i - x_star - 1/({rho})*s_i))"
LINEAR = Theorem(
    region="0 < a < b",
    states=PlayedStates(play_smooth),
    rounds={"t": 0, "T": 0},
    quantities={"V": AWAY.format(rho="a*b")},
    claim="V[T] <= (b/(a + b))**(2*T)*V[0]",
    proof="""
      step: V[t+1] <= (b/(a + b))**2*V[t]   by derivation
      done: claim                           by contraction of step
    """,
)
CONVEX = Theorem(
    region="0 < rho",
    states=PlayedStates(play_convex),
    rounds={"t": 0, "T": 0},
    quantities={"V": AWAY.format(rho="rho"), "r": "mean(norm2(x - x_i))"},
    claim="exists t in 0..T: r[t+1] <= V[0]/(T + 1)",
    proof="""
      pos:  0 <= V[t]                                                   by derivation
      fall: V[t+1] <= V[t] - r[t+1]                                     by derivation
      all:  sum(r[t+1], t, 0, T) <= V[0] - V[T+1]                       by telescope of fall
      best: exists t in 0..T: r[t+1] <= (V[0] - V[T+1])/(T + 1)         by mean all
      done: claim                                                       by combine best, pos(t=T+1)
    """,
)
#: with m of the rounds left; the worst functions turn the clients' variables in every round, by an angle that depends on how many rounds there are
CONVEX_SHARP = replace(
    CONVEX,
    rounds={"T": 0, "m": 0},
    claim="r[T+2] <= ((T + 1)/(T + 2))**(T + 1)*V[0]/(T + 2)",
    proof="""
      fall: V[T+1] <= V[T] - r[T+1]                                     by derivation
      step: V[T+1] - (T + 1)/(T + m + 1)*V[T+2] + (T + 1)*r[T+2] <= (T + m + 1)/(T + m + 2)*(V[T] - T/(T + m + 1)*V[T+1] + T*r[T+1])
              by derivation
      all:  (T + m + 1)*V[T] - T*V[T+1] + T*(T + m + 1)*r[T+1] <= (T + m + 1)*((T + m + 1)/(T + m + 2))**T*V[0]
              by induction T for every m: base combine; step combine ((T + m + 2)/(T + m + 3))*ih_next, (T + m + 2)*step(m=m+1)
      done: claim   by combine (1/(T + 2))*fall(T=T+1), (1/(T + 2))*step(m=0), (1/(T + 2)**2)*all(m=0)
    """,
)


def stationary(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad f(x)||^2 <= c (L + rho)^2 mean_i ||x - x_i||^2 after a round of FedDyn, f_i L-smooth and not convex."""
    f = w.function(p.L, -p.L, client=True, name="f_i")
    after = play_round(w, f, p.rho, any_state(w), 0)
    slope, _ = w.at(f, after["x"], "at x+")
    return norm2(bar(slope)) - norm2(after["x"] - after["x_i"]) * (c.c * (p.L + p.rho) ** 2)


CLAIMS = [
    state(
        "LIT-FEDDYN",
        PAPER,
        "Giselsson and Boyd 2017, in FedDyn (Acar et al. 2021) with all clients and exact solves",
        "With rho = sqrt(mu L) the variables x - lam_i/rho of FedDyn approach their fixed point by the factor sqrt(kappa)/(sqrt(kappa) + 1) a round.",
        LINEAR,
    ),
    state(
        "LIT-FEDDYN-CONVEX",
        PAPER,
        "Lions and Mercier 1979, in FedDyn (Acar et al. 2021) with all clients and exact solves",
        "The least mean_i ||x - x_i||^2 after rounds 1, ..., T + 1 of FedDyn is at most V^0/(T + 1), for closed and convex f_i and every rho.",
        CONVEX,
    ),
    state(
        "LIT-FEDDYN-CONVEX-SHARP",
        PAPER,
        "Gu and Yang 2020, in FedDyn (Acar et al. 2021) with all clients and exact solves",
        "After N = T + 2 rounds of FedDyn mean_i ||x - x_i||^2 is at most (1 - 1/N)^(N - 1) V^0/N, for closed and convex f_i and every rho.",
        CONVEX_SHARP,
    ),
    state(
        "LIT-FEDDYN-STATIONARY",
        PAPER,
        "Acar et al. 2021, of fixed points, with all clients and exact solves",
        "After a round of FedDyn ||grad f(x)||^2 <= (L + rho)^2 mean_i ||x - x_i||^2, without convexity: where local models are the server's, x is "
        "stationary.",
        Lemma("stationary", "fixed points", "0 < L, 0 < rho", stationary, {"c": 1}),
    ),
]
