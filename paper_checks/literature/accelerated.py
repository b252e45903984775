"""Rates of accelerated methods whose proofs are scripts: FISTA and the triple momentum method."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms.triple_momentum import AheadState, TripleMomentum
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World
from paper_checks.literature.sources import PAPER


def play_fista(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """FISTA: y = (1 - 1/t) x + z/t, x+ = prox_{h/L}(y - grad f(y)/L), z+ = z + t (x+ - y)."""
    f, h, x, star = w.function(p.L, 0), w.function(name="h"), w.vector("x"), w.vector("x_star")
    g, _ = w.at(f, star, "f at x_star")
    w.at(h, star, "h at x_star", g=g * -1)
    w.at(h, x, "h at x", g=w.vector("s"))
    z = x if start else w.vector("z")
    states = [SimpleNamespace(x=x, z=z, x_star=star, f=f, h=h)]
    for k in range(last):
        t = getattr(p, f"t_{k}")
        y = x * (1 - 1 / t) + z / t
        g, _ = w.at(f, y, f"f at y{k}")
        s = w.vector(f"s{k}")
        x = y - (g + s) / p.L
        w.at(h, x, f"h at x{k + 1}", g=s)
        z = z + (x - y) * t
        states.append(SimpleNamespace(x=x, z=z, x_star=star, f=f, h=h))
    return states


#: Nesterov's potential t_k^2 gap + L/2 ||z - x*||^2 does not rise
FISTA_FALLS = """
      pos:    0 <= e[k]                                                                     by derivation
      solved: t[k+1]*(t[k+1] - 1) == t[k]**2                by combine (t[k+1] + (1 + sqrt(1 + 4*t[k]**2))/2 - 1)*next
      step:   t[k]**2*gap[k+1] + L/2*e[k+1] <= t[k]*(t[k] - 1)*gap[k] + L/2*e[k]            by derivation
      round:  t[k+1]**2*gap[k+2] + L/2*e[k+2] <= t[k]**2*gap[k+1] + L/2*e[k+1]              by combine step(k=k+1), gap[k+1]*solved
      one:    t[0]**2*gap[1] + L/2*e[1] <= L/2*e[0]                                         by combine step(k=0), (t[0]*gap[0])*first
      same:   e[0] == d[0]                                                                  by identity
      all:    t[k]**2*gap[k+1] + L/2*e[k+1] <= L/2*d[0]     by induction k: base combine one, (L/2)*same; step combine ih, round
"""
FISTA_BY_T = Theorem(
    region="0 < L",
    states=PlayedStates(play_fista, start=partial(play_fista, start=True)),
    rounds={"k": 0, "N": 1},
    sequences={"t": "1"},
    given={"first": "t[0] == 1", "next": "t[k+1] == (1 + sqrt(1 + 4*t[k]**2))/2"},
    quantities={"gap": "f(x) + h(x) - f(x_star) - h(x_star)", "e": "norm2(z - x_star)", "d": "norm2(x - x_star)"},
    claim="gap[N] <= L*d[0]/(2*t[N-1]**2)",
    proof=FISTA_FALLS
    + """
      done:   claim                                         by combine (1/t[N-1]**2)*all(k=N-1), (L/(2*t[N-1]**2))*pos(k=N)
    """,
)
#: t_k is (k + 2)/2 at least
FISTA = replace(
    FISTA_BY_T,
    claim="gap[N] <= 2*L*d[0]/(N + 1)**2",
    proof=FISTA_FALLS
    + """
      least:  0 <= gap[k]                                                                   by derivation
      grows:  (k + 2)/2 <= t[k]
                by induction k: base combine first; step combine (-1)*solved, (t[k] + (k + 2)/2)*ih times t[k+1] + (k + 1)/2
      rate:   (k + 2)**2/4*gap[k+1] <= L/2*d[0]
                by combine all, (L/2)*pos(k=k+1), ((t[k] + (k + 2)/2)*gap[k+1])*grows
      done:   claim                                         by combine (4/(N + 1)**2)*rate(k=N-1)
    """,
)


def play_on_a_slope(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """FISTA on h(x) = max(<c, x - x_star>, 0) from x_star + q c, with f = 0, while h has the slope c."""
    h, c, star = w.function(name="h"), w.vector("c"), w.vector("x_star")
    w.at(h, star, "h at x_star", g=star * 0)
    w.at(h, star, "its slope at x_star", g=c)
    x, z = w.vector("x"), w.vector("z")
    if start:
        x = z = star + c * p.q
    w.at(h, x, "h at x", g=c)
    states = [SimpleNamespace(x=x, z=z, x_star=star, h=h, c=c)]
    for k in range(last):
        t = getattr(p, f"t_{k}")
        y = x * (1 - 1 / t) + z / t
        x = y - c / p.L
        w.at(h, x, f"h at x{k + 1}", g=c)
        z = z + (x - y) * t
        states.append(SimpleNamespace(x=x, z=z, x_star=star, h=h, c=c))
    return states


#: n is ||c||^2, v where z is along c; R^2/(2 q) is L R^2 t_{N-1}^2/(4 (t_0^3 + ... + t_{N-1}^3))
FISTA_ON_A_SLOPE = Theorem(
    region="0 < L, 0 < q",
    states=PlayedStates(play_on_a_slope, start=partial(play_on_a_slope, start=True)),
    rounds={"k": 0, "j": 0, "N": 1},
    sequences=FISTA_BY_T.sequences,
    given={**FISTA_BY_T.given, "far": "q*L*t[N-1]**2 == 2*sum(t[j]**3, j, 0, N-1)"},
    fixed=("N",),
    quantities={"gap": "h(x) - h(x_star)", "v": "dot(c, z - x_star)", "n": "norm2(c)", "d": "norm2(x - x_star)"},
    claim="L*d[0]/(2*t[N-1]*(t[N-1] + 1)) <= gap[N]",
    proof="""
      solved: t[k+1]*(t[k+1] - 1) == t[k]**2                by combine (t[k+1] + (1 + sqrt(1 + 4*t[k]**2))/2 - 1)*next
      same:   n[k+1] == n[k]                                                                by identity
      keep:   n[k] == n[0]                                  by induction k: base combine; step combine ih, same
      begins: v[0] == q*n[0]                                                                by identity
      slide:  v[k+1] == v[k] - t[k]/L*n[k]                                                  by identity
      gone:   v[k+1] == q*n[0] - t[k]**2/L*n[0]
                by induction k: base combine slide(k=0), begins, (n[0]*t[0]/L)*first;
                  step combine ih, slide(k=k+1), (-t[k+1]/L)*keep(k=k+1), (n[0]/L)*solved
      fall:   (t[k] - 1)*gap[k] + v[k] - t[k]/L*n[k] <= t[k]*gap[k+1]                       by derivation
      all:    t[k]**2*q*n[0] - n[0]/L*sum(t[j]**3, j, 0, k) <= t[k]**2*gap[k+1]
                by induction k: base combine t[0]*fall(k=0), (-t[0])*begins, (t[0]*(q*n[0] - t[0]*n[0]/L - gap[0]))*first;
                  step combine ih, t[k+1]*fall(k=k+1), (-t[k+1])*gone, (t[k+1]**2/L)*keep(k=k+1), (q*n[0] - n[0]*t[k+1]/L - gap[k+1])*solved
      start:  d[0] == q**2*n[0]                                                             by identity
      left:   d[0]/(2*q) <= gap[N]
                by combine (1/t[N-1]**2)*all(k=N-1), (-n[0]/(2*L*t[N-1]**2))*far, (1/(2*q))*start
      rises:  t[k] <= t[k+1]                                by combine (-1)*solved times t[k+1] + t[k]
      cubes:  sum(t[j]**3, j, 0, k) <= t[k]**3*(t[k] + 1)/2
                by induction k: base combine (-t[0]**3/2)*first; step combine ih, (t[k]**2/2)*rises, (-(t[k]**2 + t[k+1]**2)/2)*solved
      d_pos:  0 <= d[k]                                                                     by derivation
      done:   claim
                by combine left, (d[0]/(2*q*t[N-1]**3*(t[N-1] + 1)))*far, (d[0]/(q*t[N-1]**3*(t[N-1] + 1)))*cubes(k=N-1)
    """,
)


def play_triple_momentum(w: World, p: Parameters, last: int) -> list[Any]:
    """The triple momentum method with mu = L r^2, by its own code; y is where gradients are taken, z what the source puts out after each of them."""
    f, star, q = w.function(p.L, p.L * p.r**2), w.vector("x_star"), 1 - p.r
    w.at(f, star, "at x_star", g=star * 0)
    ahead = q**2 / ((1 + q) * (2 - q))
    method = TripleMomentum((1 + q) / p.L, q**2 / (2 - q), ahead)
    v, before = w.vector("v"), w.vector("v_before")
    now, states = {"x": v + (v - before) * ahead, "v": v, "before": before}, list[Any]()
    for k in range(last + 1):
        y = now["x"]
        g, _ = w.at(f, y, f"at y{k}")
        now = w.round_of(lambda local: method, AheadState, now, g, at=y)
        z = now["v"] + (now["v"] - now["before"]) * (q**2 / (1 - q**2))
        states.append(SimpleNamespace(y=y, z=z, g=g, x_star=star, f=f))
    return states


TRIPLE_MOMENTUM = Theorem(
    region="0 < L, 0 < r < 1",
    states=PlayedStates(play_triple_momentum),
    rounds={"t": 0, "N": 0},
    quantities={
        "e": "norm2(z - x_star)",
        "V": "f(y) - f(x_star) - norm2(g)/(2*L) - L*r**2/(2*(1 - r**2))*norm2(y - x_star - g/L) + L*r**2/(1 - r**2)*norm2(z - x_star)",
    },
    claim="e[N] <= (1 - r)**(2*N)*(1 - r**2)/(L*r**2)*V[0]",
    proof="""
      step:  V[t+1] <= (1 - r)**2*V[t]                  by derivation
      all:   V[N] <= (1 - r)**(2*N)*V[0]                by contraction in N of step
      below: L*r**2/(1 - r**2)*e[t] <= V[t]             by derivation
      done:  claim                                      by combine ((1 - r**2)/(L*r**2))*all, ((1 - r**2)/(L*r**2))*below(t=N)
    """,
)

CLAIMS = [
    state(
        "LIT-FISTA",
        PAPER,
        "Beck and Teboulle 2009, Theorem 4.4, with the constant step 1/L",
        "FISTA, with t_0 = 1 and t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2, leaves F(x^N) - F* <= 2 L R^2/(N + 1)^2.",
        FISTA,
    ),
    state(
        "LIT-FISTA-BY-T",
        PAPER,
        "Beck and Teboulle 2009, Lemma 4.1 and Theorem 4.4, with the constant step 1/L",
        "FISTA leaves F(x^N) - F* <= L R^2/(2 t_{N-1}^2), which is less than 2 L R^2/(N + 1)^2 from N = 2 on.",
        FISTA_BY_T,
    ),
    state(
        "LIT-FISTA-LEAVES",
        f"{PAPER}, derived",
        "Beck and Teboulle 2009, how sharp Theorem 4.4 is",
        "On h(x) = max(<c, x - x*>, 0) FISTA leaves F(x^N) - F* >= L R^2/(2 t_{N-1} (t_{N-1} + 1)) from a start that depends on N: the bound by t "
        "cannot be better by more than the factor 1 + 1/t_{N-1}, which tends to 1.",
        FISTA_ON_A_SLOPE,
    ),
    state(
        "LIT-TRIPLE-MOMENTUM",
        PAPER,
        "Van Scoy, Freeman and Lynch 2018",
        "The triple momentum method's squared distance falls by (1 - sqrt(mu/L))^2 a step; r is sqrt(mu/L).",
        TRIPLE_MOMENTUM,
    ),
]
