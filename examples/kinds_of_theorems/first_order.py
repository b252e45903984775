"""First-order methods, for every number of steps: potentials of the round, averages, the best of rounds and steps that are tuned.

`fedtheory check FILE` judges them; `FALSE` has each with constants that are 3 % off.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import MethodStates, PlayedStates, Theorem, norm2, state
from fedtheory.claims.statements.worlds import Parameters, World

PAPER = "kinds of theorems"


def play_ogm(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """The optimised gradient method: y = x - g/L, x+ = (1 - 1/t) y + z/t, z+ = z - 2 t g+/L; g is the gradient at x."""
    f, x, star = w.function(p.L, 0), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    g, _ = w.at(f, x, "at x")
    z = x if start else w.vector("z")
    states = [SimpleNamespace(x=x, z=z, g=g, x_star=star, f=f)]
    for k in range(last):
        t = getattr(p, f"t_{k}")
        x = (x - g / p.L) * (1 - 1 / t) + z / t
        g, _ = w.at(f, x, f"at x{k + 1}")
        z = z - g * (2 * t / p.L)
        states.append(SimpleNamespace(x=x, z=z, g=g, x_star=star, f=f))
    return states


OGM = Theorem(
    region="0 < L",
    states=PlayedStates(play_ogm, start=partial(play_ogm, start=True)),
    rounds={"k": 0, "N": 0},
    sequences={"t": "1"},
    given={"first": "t[0] == 1", "next": "t[k+1]*(t[k+1] - 1) <= t[k]**2"},
    quantities={"q": "f(x) - f(x_star) - norm2(g)/(2*L)", "e": "norm2(z - x_star)", "d": "norm2(x - x_star)"},
    claim="q[N+1] <= L*d[0]/(4*t[N]**2)",
    proof="""
      least: 0 <= q[k]                                                            by derivation
      e_pos: 0 <= e[k]                                                            by derivation
      step:  2*t[k]**2*q[k+1] + L/2*e[k+1] <= 2*t[k]*(t[k] - 1)*q[k] + L/2*e[k]   by derivation
      round: 2*t[k+1]**2*q[k+2] + L/2*e[k+2] <= 2*t[k]**2*q[k+1] + L/2*e[k+1]     by combine step(k=k+1), (2*q[k+1])*next
      one:   2*t[0]**2*q[1] + L/2*e[1] <= L/2*e[0]                                by combine step(k=0), (2*t[0]*q[0])*first
      same:  e[0] == d[0]                                                         by identity
      all:   2*t[N]**2*q[N+1] + L/2*e[N+1] <= L/2*d[0]    by induction N: base combine one, (L/2)*same; step combine ih, round(k=N)
      done:  claim                                         by combine (1/(2*t[N]**2))*all, (L/(4*t[N]**2))*e_pos(k=N+1)
    """,
)


GRADIENT_FROM_GAP = Theorem(
    region="0 < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu = 0"),
    rounds={"N": 0},
    quantities={"gap": "f(x) - f(x_star)", "g": "norm2(grad(f, x))"},
    claim="g[N] <= 2*L*gap[0]/(2*N + 1)",
)


def play_average(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """Subgradient steps, and m, the average of the points before x; t_k is k + 1."""
    f, x, star = w.function(), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    m = x if start else w.vector("m")
    w.at(f, m, "at m", g=w.vector("gm"))
    states = [SimpleNamespace(x=x, m=m, x_star=star, f=f)]
    for k in range(last):
        t = getattr(p, f"t_{k}")
        g = w.vector(f"g{k}")
        w.at(f, x, f"at x{k}", g=g)
        w.assume(f"bounded {k}", norm2(g) - p.G**2)
        m = m * (1 - 1 / t) + x / t
        w.at(f, m, f"at m{k + 1}", g=w.vector(f"gm{k}"))
        x = x - g * p.lr
        states.append(SimpleNamespace(x=x, m=m, x_star=star, f=f))
    return states


AVERAGE_OF_POINTS = Theorem(
    region="0 < lr, 0 < G",
    states=PlayedStates(play_average),
    sequences={"t": "1"},
    given={"first": "t[0] == 1", "next": "t[k+1] == t[k] + 1"},
    assumed={"bounded": "subgradients are at most G long"},
    rounds={"k": 0, "N": 1},
    quantities={"d": "norm2(x - x_star)", "gap": "f(m) - f(x_star)"},
    claim="gap[N] <= d[0]/(2*lr*N) + lr*G**2/2",
    proof="""
      pos:    0 <= d[k]                      by derivation
      number: t[k] == k + 1                  by induction k: base combine first; step combine ih, next
      step:   t[k]*gap[k+1] + d[k+1]/(2*lr) <= (t[k] - 1)*gap[k] + d[k]/(2*lr) + lr*G**2/2   by derivation
      round:  (k + 1)*gap[k+1] + d[k+1]/(2*lr) <= k*gap[k] + d[k]/(2*lr) + lr*G**2/2
                 by combine step, (-gap[k+1] + gap[k])*number
      all:    N*gap[N] + d[N]/(2*lr) <= d[0]/(2*lr) + N*lr*G**2/2   by induction N: base combine round(k=0); step combine ih, round(k=N)
      done:   claim                          by combine (1/N)*all, (1/(2*lr*N))*pos(k=N)
    """,
)


def play_tuned(w: World, p: Parameters, last: int) -> list[Any]:
    """Subgradient steps of size R/(G m)."""
    f, x, star = w.function(), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    states: list[Any] = []
    for k in range(last + 1):
        g = w.vector(f"g{k}")
        w.at(f, x, f"at x{k}", g=g)
        w.assume(f"bounded {k}", norm2(g) - p.G**2)
        states.append(SimpleNamespace(x=x, x_star=star, f=f))
        x = x - g * (p.R / (p.G * p.m))
    return states


SUBGRADIENT_TUNED = Theorem(
    region="0 < G, 0 < R, 1 <= m",
    states=PlayedStates(play_tuned),
    assumed={"bounded": "subgradients are at most G long"},
    where={"lr": "R/(G*m)"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)"},
    given={"start": "d[0] <= R**2", "horizon": "m == sqrt(T + 1)"},
    claim="exists t in 0..T: gap[t] <= R*G/sqrt(T + 1)",
    proof="""
      pos:  0 <= d[t]                                                        by derivation
      fall: d[t+1] <= d[t] - 2*lr*gap[t] + lr**2*G**2                        by derivation
      all:  sum(2*lr*gap[t] - lr**2*G**2, t, 0, T) <= d[0] - d[T+1]          by telescope of fall
      best: exists t in 0..T: gap[t] <= (d[0] - d[T+1])/(2*lr*(T + 1)) + lr*G**2/2   by mean all
      done: claim     by combine best, (1/(2*lr*(T + 1)))*pos(t=T+1), (1/(2*lr*(T + 1)))*start, (R*G/(2*(T+1)) - R*G/(2*m*sqrt(T+1)))*horizon
    """,
)


CLAIMS = [
    state(
        "KIND-OGM",
        PAPER,
        "Kim and Fessler 2016",
        "The optimised gradient method leaves f(x) - ||g||^2/(2 L) - f* <= L R^2/(4 t_N^2), where t_0 = 1 and t_{k+1} (t_{k+1} - 1) <= t_k^2.",
        OGM,
    ),
    state(
        "KIND-GRADIENT-FROM-GAP",
        PAPER,
        "Taylor, Hendrickx and Glineur 2018",
        "From a gap and not a distance: ||grad f(x^N)||^2 <= 2 L (f(x^0) - f*)/(2 N + 1); its proof is found.",
        GRADIENT_FROM_GAP,
    ),
    state(
        "KIND-AVERAGE-OF-POINTS",
        PAPER,
        "Nemirovski and Yudin 1983",
        "The average of N points of the subgradient method has a gap of at most R^2/(2 lr N) + lr G^2/2.",
        AVERAGE_OF_POINTS,
    ),
    state(
        "KIND-SUBGRADIENT-TUNED",
        PAPER,
        "Nesterov 2004, Theorem 3.2.2",
        "With steps R/(G sqrt(T + 1)) the best of T + 1 points has a gap of at most R G/sqrt(T + 1).",
        SUBGRADIENT_TUNED,
    ),
]

#: claims in the place of those above, with constants that are 3 % off
FALSE = {
    "KIND-OGM": "q[N+1] <= 97/100*L*d[0]/(4*t[N]**2)",
    "KIND-GRADIENT-FROM-GAP": "g[N] <= 97/100*2*L*gap[0]/(2*N + 1)",
    "KIND-AVERAGE-OF-POINTS": "gap[N] <= 97/100*(d[0]/(2*lr*N) + lr*G**2/2)",
    "KIND-SUBGRADIENT-TUNED": "exists t in 0..T: gap[t] <= 97/100*R*G/sqrt(T + 1)",
}
