"""Subgradient and proximal steps, and operators: averaged, Halpern's iteration, extragradient steps."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World, dot, norm2
from paper_checks.literature.sources import PAPER


def play_subgradients(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - lr g, g any subgradient at x, of length G at most, of a convex f with a minimiser x_star."""
    f, x, star = w.function(), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    states = []
    for k in range(last + 1):
        g = w.vector(f"g{k}")
        w.at(f, x, f"at x{k}", g=g)
        w.assume(f"bounded {k}", norm2(g) - p.G**2)
        states.append(SimpleNamespace(x=x, x_star=star, f=f))
        x = x - g * p.lr
    return states


def play_proximal_points(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = prox_{lam f}(x) = x - lam s+, s+ a subgradient at x+, f convex with a minimiser x_star."""
    f, x, star, s = w.function(), w.vector("x"), w.vector("x_star"), w.vector("s")
    w.at(f, star, "at x_star", g=star * 0)
    w.at(f, x, "at x", g=s)
    states = [SimpleNamespace(x=x, x_star=star, s=s, f=f)]
    for k in range(last):
        s = w.vector(f"s{k}")
        x = x - s * p.lam
        w.at(f, x, f"at x{k}", g=s)
        states.append(SimpleNamespace(x=x, x_star=star, s=s, f=f))
    return states


def play_averaged(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = (1 - a) x + a T x for a nonexpansive T with a fixed point x_star."""
    x, star = w.vector("x"), w.vector("x_star")
    states = []
    for k in range(last + 1):
        moved = w.vector(f"T x{k}")
        w.assume(f"nonexpansive {k}", norm2(moved - star) - norm2(x - star))
        states.append(SimpleNamespace(x=x, x_star=star, moved=moved))
        x = x * (1 - p.a) + moved * p.a
    return states


def play_halpern(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """x+ = x^0/t + (1 - 1/t) T x for a nonexpansive T with a fixed point x_star, with t = k + 2 in round k."""
    first, star = w.vector("first"), w.vector("x_star")
    x = first if start else w.vector("x")
    states: list[Any] = []
    for k in range(last + 1):
        moved = w.vector(f"T x{k}")
        w.assume(f"fixed {k}", norm2(moved - star) - norm2(x - star))
        if states:
            w.assume(f"nonexpansive {k}", norm2(moved - states[-1].moved) - norm2(x - states[-1].x))
        states.append(SimpleNamespace(x=x, x_star=star, first=first, moved=moved))
        t = getattr(p, f"t_{k}")
        x = first / t + moved * (1 - 1 / t)
    return states


def play_extragradient(w: World, p: Parameters, last: int) -> list[Any]:
    """y = x - lr F(x), x+ = x - lr F(y), for a monotone, L-Lipschitz F with F(x_star) = 0."""
    x, star = w.vector("x"), w.vector("x_star")
    states = []
    for k in range(last + 1):
        at_x, at_y = w.vector(f"F x{k}"), w.vector(f"F y{k}")
        y = x - at_x * p.lr
        w.assume(f"monotone {k}", -dot(at_y, y - star))
        w.assume(f"Lipschitz {k}", norm2(at_x - at_y) - norm2(x - y) * p.L**2)
        states.append(SimpleNamespace(x=x, x_star=star, y=y))
        x = x - at_y * p.lr
    return states


SUBGRADIENTS = Theorem(
    region="0 < lr, 0 < G",
    states=PlayedStates(play_subgradients),
    assumed={"bounded": "subgradients are at most G long"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)"},
    claim="exists t in 0..T: gap[t] <= d[0]/(2*lr*(T + 1)) + lr*G**2/2",
    proof="""
      pos:  0 <= d[t]                                                        by derivation
      fall: d[t+1] <= d[t] - 2*lr*gap[t] + lr**2*G**2                        by derivation
      all:  sum(2*lr*gap[t] - lr**2*G**2, t, 0, T) <= d[0] - d[T+1]          by telescope of fall
      best: exists t in 0..T: gap[t] <= (d[0] - d[T+1])/(2*lr*(T + 1)) + lr*G**2/2   by mean all
      done: claim                                                            by combine best, pos(t=T+1)
    """,
)
PROXIMAL_POINTS = Theorem(
    region="0 < lam",
    states=PlayedStates(play_proximal_points),
    rounds={"t": 0, "N": 1},
    quantities={"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)"},
    claim="gap[N] <= d[0]/(2*lam*N)",
    proof="""
      pos:  0 <= d[t]                                                        by derivation
      step: (t + 1)*gap[t+1] + d[t+1]/(2*lam) <= t*gap[t] + d[t]/(2*lam)     by derivation
      all:  N*gap[N] + d[N]/(2*lam) <= d[0]/(2*lam)     by induction N: base combine step(t=0); step combine ih, step(t=N)
      done: claim                                                            by combine all, pos(t=N)
    """,
)
#: its proof is found
PROXIMAL_POINTS_SHARP = Theorem(
    region="0 < lam",
    states=PlayedStates(play_proximal_points, start=play_proximal_points),
    rounds={"N": 1},
    quantities={"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)", "g": "norm2(s)"},
    claim="gap[N] <= d[0]/(4*lam*N)",
)
AVERAGED = Theorem(
    region="0 < a < 1",
    states=PlayedStates(play_averaged),
    assumed={"nonexpansive": "T is nonexpansive, and x_star a fixed point"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)", "r": "norm2(moved - x)"},
    claim="exists t in 0..T: r[t] <= d[0]/(a*(1 - a)*(T + 1))",
    proof="""
      pos:  0 <= d[t]                                                        by derivation
      fall: d[t+1] <= d[t] - a*(1 - a)*r[t]                                  by derivation
      all:  sum(a*(1 - a)*r[t], t, 0, T) <= d[0] - d[T+1]                    by telescope of fall
      best: exists t in 0..T: r[t] <= (d[0] - d[T+1])/(a*(1 - a)*(T + 1))    by mean all
      done: claim                                                            by combine best, pos(t=T+1)
    """,
)
#: r is the squared residual; the potential is k (k + 1)/2 r + (k + 1) e, which is at most 0
HALPERN = Theorem(
    region="",
    states=PlayedStates(play_halpern, start=partial(play_halpern, start=True)),
    assumed={"nonexpansive": "T is nonexpansive", "fixed": "T is nonexpansive, and x_star a fixed point"},
    rounds={"k": 0, "N": 0},
    auxiliary="0 < s",
    sequences={"t": "2"},
    given={"start": "t[0] == 2", "next": "t[k+1] == t[k] + 1"},
    quantities={"r": "norm2(x - moved)", "e": "dot(x - moved, x - first)", "d": "norm2(first - x_star)"},
    claim="r[N] <= 4*d[0]/(N + 1)**2",
    proof="""
      number: t[k] == k + 2               by induction k: base combine start; step combine ih, next
      step:   (t[k] - 1)*t[k]/2*r[k+1] + t[k]*e[k+1] <= (t[k] - 2)*(t[k] - 1)/2*r[k] + (t[k] - 1)*e[k]   by derivation
      round:  (k + 1)*(k + 2)/2*r[k+1] + (k + 2)*e[k+1] <= k*(k + 1)/2*r[k] + (k + 1)*e[k]
                by combine step, (-(t[k] + k + 1)/2*r[k+1] - e[k+1] + (t[k] + k - 1)/2*r[k] + e[k])*number
      zero:   e[0] == 0                   by identity
      all:    N*(N + 1)/2*r[N] + (N + 1)*e[N] <= 0   by induction N: base combine zero; step combine ih, round(k=N)
      same:   d[k+1] == d[k]              by identity
      there:  d[N] == d[0]                by induction N: base combine; step combine ih, same(k=N)
      r_pos:  0 <= r[k]                   by derivation
      d_pos:  0 <= d[k]                   by derivation
      far:    r[k] - 2*e[k] <= s*r[k] + d[k]/s           by derivation
      near:   r[k] - 2*e[k] <= 2*sqrt(r[k])*sqrt(d[k])   by least s of far
      done:   claim
                by combine (4/(N + 1)**2)*all, (2/(N + 1))*near(k=N), (4/(N + 1)**2)*there, 1*square(sqrt(r[N]) - 2*sqrt(d[N])/(N + 1))
    """,
)
EXTRAGRADIENT = Theorem(
    region="0 < L, 0 < lr < 1/L",
    states=PlayedStates(play_extragradient),
    assumed={"monotone": "F is monotone, F(x_star) = 0", "Lipschitz": "F is L-Lipschitz"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)", "r": "norm2(x - y)"},
    claim="exists t in 0..T: r[t] <= d[0]/((1 - lr**2*L**2)*(T + 1))",
    proof="""
      pos:  0 <= d[t]                                                        by derivation
      fall: d[t+1] <= d[t] - (1 - lr**2*L**2)*r[t]                           by derivation
      all:  sum((1 - lr**2*L**2)*r[t], t, 0, T) <= d[0] - d[T+1]             by telescope of fall
      best: exists t in 0..T: r[t] <= (d[0] - d[T+1])/((1 - lr**2*L**2)*(T + 1))   by mean all
      done: claim                                                            by combine best, pos(t=T+1)
    """,
)

CLAIMS = [
    state(
        "LIT-SUBGRADIENTS",
        PAPER,
        "Nesterov 2004, Section 3.2.3",
        "The best of T + 1 subgradient steps of constant size lr has a gap of at most R^2/(2 lr (T + 1)) + lr G^2/2.",
        SUBGRADIENTS,
    ),
    state(
        "LIT-PROXIMAL-POINTS",
        PAPER,
        "Güler 1991, Theorem 2.1",
        "N proximal steps leave f(x^N) - f* <= ||x^0 - x*||^2/(2 lam N).",
        PROXIMAL_POINTS,
    ),
    state(
        "LIT-PROXIMAL-POINTS-SHARP",
        PAPER,
        "Taylor, Hendrickx and Glineur 2017",
        "N proximal steps leave f(x^N) - f* <= ||x^0 - x*||^2/(4 lam N), which is sharp.",
        PROXIMAL_POINTS_SHARP,
    ),
    state(
        "LIT-AVERAGED",
        PAPER,
        "Mann 1953, with the rate that Fejér monotonicity gives",
        "For x+ = (1 - a) x + a T x, T nonexpansive, the least ||T x^t - x^t||^2 is at most R^2/(a (1 - a) (T + 1)).",
        AVERAGED,
    ),
    state(
        "LIT-HALPERN",
        PAPER,
        "Lieder 2021, Theorem 2.1",
        "Halpern's iteration with weights 1/(k + 2) has ||x^N - T x^N|| <= 2 ||x^0 - x*||/(N + 1).",
        HALPERN,
    ),
    state(
        "LIT-EXTRAGRADIENT",
        PAPER,
        "Korpelevich 1976",
        "Extragradient steps of size lr < 1/L: the least ||x^t - y^t||^2 is at most R^2/((1 - lr^2 L^2) (T + 1)).",
        EXTRAGRADIENT,
    ),
]
