"""Clients that are unlike: local steps, weights, smoothness and blocks.

`fedtheory check FILE` judges them; `FALSE` has each with constants that are 3 % off.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Contraction, PlayedStates, Theorem, bar, dot, norm2, state
from fedtheory.claims.statements.worlds import Parameters, World

PAPER = "kinds of theorems"


def play_fedavg(w: World, p: Parameters, last: int) -> list[Any]:
    """FedAvg with two local steps."""
    f, x, low = w.function(p.L, -p.L, client=True, name="f_i"), w.vector("x"), w.value("f_inf")
    states: list[Any] = []
    for k in range(last + 1):
        g, value = w.at(f, x, f"at x{k}")
        h, _ = w.at(f, x - g * p.lr, f"at y{k}")
        w.assume(f"unlike {k}", norm2(g - bar(g)) - p.zeta**2)
        states.append(SimpleNamespace(x=x, g_i=g, h_i=h, F=value, low=low))
        x = x - (bar(g) + bar(h)) * p.lr
    return states


FEDAVG_NONCONVEX = Theorem(
    region="0 < L, 0 < zeta, 0 < lr <= 1/(2*L)",
    states=PlayedStates(play_fedavg),
    assumed={"unlike": "mean_i ||grad f_i(x) - grad f(x)||^2 <= zeta^2"},
    rounds={"t": 0, "T": 0},
    quantities={"F": "F", "g": "norm2(bar(g_i))", "D": "mean(norm2(h_i - g_i))", "low": "low"},
    given={"below": "low[t] <= F[t]"},
    claim="exists t in 0..T: g[t] <= ((F[0] - low[0])/(lr*(T + 1)) + L**2*lr**2*zeta**2/4)/(1 - L**2*lr**2/4)",
    proof="""
      near:  D[t] <= L**2*lr**2*(g[t] + zeta**2)                                         by derivation
      down:  F[t+1] <= F[t] - lr*g[t] + lr/4*D[t]                                        by derivation
      fall:  F[t+1] <= F[t] - lr*(1 - L**2*lr**2/4)*g[t] + lr*L**2*lr**2*zeta**2/4       by combine down, (lr/4)*near
      all:   sum(lr*(1 - L**2*lr**2/4)*g[t] - L**2*lr**3*zeta**2/4, t, 0, T) <= F[0] - F[T+1]   by telescope of fall
      same:  low[t+1] == low[t]                                                          by identity
      fixed: low[T] == low[0]               by induction T: base combine; step combine ih, same(t=T)
      best:  exists t in 0..T: g[t] <= ((F[0] - F[T+1])/(lr*(T + 1)) + L**2*lr**2*zeta**2/4)/(1 - L**2*lr**2/4)   by mean all
      done:  claim                          by combine best, below(t=T+1), fixed(T=T+1)
    """,
)


def play_drawn(w: World, p: Parameters, last: int) -> list[Any]:
    """A step of one of two clients, which are drawn with the probabilities p and 1 - p."""
    f, g = w.function(p.L, p.mu, name="f_1"), w.function(p.L, p.mu, name="f_2")
    x, star, s = w.vector("x"), w.vector("x_star"), w.vector("s")
    w.at(f, star, "f_1 at x_star", g=s * (1 - p.p))
    w.at(g, star, "f_2 at x_star", g=s * -p.p)
    states = [[(Fraction(1), SimpleNamespace(x=x, x_star=star, s=s, f_1=f, f_2=g))]]
    for k in range(last):
        outcomes = []
        for j, (chance, now) in enumerate(states[-1]):
            for weight, own in ((p.p, f), (1 - p.p, g)):
                slope, _ = w.at(own, now.x, f"{own.name} at x{k} {j}")
                outcomes.append(
                    (chance * weight, SimpleNamespace(x=now.x - slope * p.lr, x_star=star, s=s, f_1=f, f_2=g))
                )
        states.append(outcomes)
    return states


DRAWN_BY_WEIGHT = Theorem(
    region="0 < mu < L, 0 < p < 1, 0 < lr <= 1/(2*L)",
    states=PlayedStates(play_drawn),
    rounds={"t": 0},
    quantities={
        "d": "norm2(x - x_star)",
        "z": "p*(1 - p)*norm2(s)",
        "S_1": "norm2(grad(f_1, x) - (1 - p)*s)",
        "S_2": "norm2(grad(f_2, x) + p*s)",
        "I_1": "dot(grad(f_1, x) - (1 - p)*s, x - x_star)",
        "I_2": "dot(grad(f_2, x) + p*s, x - x_star)",
    },
    claim="d[t+1] <= (1 - lr*mu)*d[t] + 2*lr**2*z[t]",
    proof="""
      pos_1: 0 <= S_1[t]                          by derivation
      pos_2: 0 <= S_2[t]                          by derivation
      one:   mu*d[t] + S_1[t]/L <= 2*I_1[t]       by derivation
      two:   mu*d[t] + S_2[t]/L <= 2*I_2[t]       by derivation
      moved: d[t+1] <= d[t] - 2*lr*(p*I_1[t] + (1 - p)*I_2[t]) + 2*lr**2*(p*S_1[t] + (1 - p)*S_2[t]) + 2*lr**2*z[t]   by derivation
      done:  claim
               by combine moved, (p*lr)*one, ((1 - p)*lr)*two, (p*(lr/L - 2*lr**2))*pos_1, ((1 - p)*(lr/L - 2*lr**2))*pos_2
    """,
)


def play_unequal(w: World, p: Parameters, last: int) -> list[Any]:
    """Gradient descent on p f_1 + (1 - p) f_2, each with its own L."""
    f, g = w.function(p.L1, 0, name="f_1"), w.function(p.L2, 0, name="f_2")
    x, star, s = w.vector("x"), w.vector("x_star"), w.vector("s")
    w.at(f, star, "f_1 at x_star", g=s * (1 - p.p))
    w.at(g, star, "f_2 at x_star", g=s * (-p.p))
    a, _ = w.at(f, x, "f_1 at x0")
    b, _ = w.at(g, x, "f_2 at x0")
    states = [SimpleNamespace(x=x, x_star=star, f_1=f, f_2=g)]
    for k in range(last):
        x = x - (a * p.p + b * (1 - p.p)) / (p.L1 * p.p + p.L2 * (1 - p.p))
        a, _ = w.at(f, x, f"f_1 at x{k + 1}")
        b, _ = w.at(g, x, f"f_2 at x{k + 1}")
        states.append(SimpleNamespace(x=x, x_star=star, f_1=f, f_2=g))
    return states


UNEQUAL_L = Theorem(
    region="0 < L1, 0 < L2, 0 < p < 1",
    states=PlayedStates(play_unequal),
    where={"L": "p*L1 + (1 - p)*L2"},
    rounds={"t": 0, "N": 1},
    quantities={"d": "norm2(x - x_star)", "gap": "p*(f_1(x) - f_1(x_star)) + (1 - p)*(f_2(x) - f_2(x_star))"},
    claim="gap[N] <= L*d[0]/(2*N)",
    proof="""
      d_pos: 0 <= d[t] by derivation
      step: (t + 1)*gap[t+1] + L/2*d[t+1] <= t*gap[t] + L/2*d[t] by derivation
      all:  N*gap[N] + L/2*d[N] <= L/2*d[0]     by induction N: base combine step(t=0); step combine ih, step(t=N)
      done: claim                                                            by combine all, d_pos(t=N)
""",
)


def play_blocks(w: World, p: Parameters, last: int) -> list[Any]:
    """A step along one of two blocks of coordinates, each with probability 1/2; u is a block of the gradient."""
    f, x, star = w.function(p.L, p.mu), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    w.at(f, x, "at x")
    states = [[(Fraction(1), SimpleNamespace(x=x, x_star=star, f=f))]]
    for k in range(last):
        out = []
        for j, (chance, now) in enumerate(states[-1]):
            g, _ = w.at(f, now.x, f"at x{k} {j}")
            u = w.vector(f"u{k}{j}")
            w.assume(f"block {2 * k + j}", dot(u, g - u))
            w.assume(f"orthogonal {2 * k + j}", dot(u, g - u) * -1)
            for i, part in enumerate((u, g - u)):
                new = now.x - part / p.L
                w.at(f, new, f"at x{k + 1} {j} {i}")
                out.append((chance / 2, SimpleNamespace(x=new, x_star=star, f=f)))
        states.append(out)
    return states


BLOCKS = Theorem(
    region="0 < mu < L",
    states=PlayedStates(play_blocks),
    assumed={"block": "u is orthogonal to the rest of the gradient", "orthogonal": "the same, as <="},
    rounds={"t": 0, "T": 0},
    quantities={"gap": "f(x) - f(x_star)", "g": "norm2(grad(f, x))"},
    claim="gap[T] <= (1 - mu/(2*L))**T*gap[0]",
    proof="""
      down: gap[t+1] <= gap[t] - g[t]/(4*L) by derivation
      dominated: 2*mu*gap[t] <= g[t]   by derivation
      step: gap[t+1] <= (1 - mu/(2*L))*gap[t]   by combine down, (1/(4*L))*dominated
      done: claim                                   by contraction of step
    """,
)


#: r is the square root of mu/L, and the probability of a communication
SCAFFNEW_ROOT = Contraction(
    "scaffnew",
    "lr = 1/L, p = r",
    region="0 < L, 0 < r < 1",
    functions="L, mu = L*r**2",
    potential={"x_i": 1, "h_i": "1/(L*r)**2"},
    claimed="1 - r**2",
)

CLAIMS = [
    state(
        "KIND-SCAFFNEW-ROOT",
        PAPER,
        "Mishchenko et al. 2022, Corollary 3.7",
        "Scaffnew that communicates with the probability sqrt(mu/L) contracts by 1 - mu/L a step.",
        SCAFFNEW_ROOT,
    ),
    state(
        "KIND-FEDAVG-NONCONVEX",
        PAPER,
        "Yu, Yang and Zhu 2019, for two local steps",
        "FedAvg with two local steps, without convexity: the best gradient of T + 1 rounds.",
        FEDAVG_NONCONVEX,
    ),
    state(
        "KIND-DRAWN-BY-WEIGHT",
        PAPER,
        "Needell, Srebro and Ward 2016, other constants",
        "Clients that are drawn by their weights.",
        DRAWN_BY_WEIGHT,
    ),
    state(
        "KIND-UNEQUAL-L",
        PAPER,
        "Nesterov 2004",
        "Clients with constants L_1 and L_2: the step may be 1/(p L_1 + (1 - p) L_2).",
        UNEQUAL_L,
    ),
    state("KIND-BLOCKS", PAPER, "Nesterov 2012", "Of two blocks of coordinates one is drawn.", BLOCKS),
]

#: claims in the place of those above, with constants that are 3 % off; 10 % where the first is not sharp, since f is bounded below in all rounds
FALSE = {
    "KIND-SCAFFNEW-ROOT": "97/100*(1 - r**2)",
    "KIND-FEDAVG-NONCONVEX": "exists t in 0..T: g[t] <= 9/10*((F[0] - low[0])/(lr*(T + 1)) + L**2*lr**2*zeta**2/4)/(1 - L**2*lr**2/4)",
    "KIND-DRAWN-BY-WEIGHT": "d[t+1] <= (1 - 103/100*lr*mu)*d[t] + 97/100*2*lr**2*z[t]",
    "KIND-UNEQUAL-L": "gap[N] <= 97/100*L*d[0]/(2*N)",
    "KIND-BLOCKS": "gap[T] <= (1 - 103/100*mu/(2*L))**T*gap[0]",
}
