"""Clients that work unlike: numbers of local steps of their own, and neighbours of their own in a graph.

`fedtheory check FILE` judges them; `FALSE` has each with constants that are 3 % off.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates, Theorem, bar, norm2, state
from fedtheory.claims.statements.worlds import Parameters, World

PAPER = "kinds of theorems"


def play_fednova(w: World, p: Parameters, last: int) -> list[Any]:
    """FedNova on two clients of the weights p and 1 - p, one step of the one and two of the other, each of size lr.

    Both moves are divided by their numbers of steps: x+ = x - h (p grad f_1(x) + (1 - p) (grad f_2(x) + grad f_2(y))/2) with y = x - lr grad f_2(x),
    where h is server_lr lr (p + 2 (1 - p)).
    """
    f, g = w.function(p.L, p.mu, name="f_1"), w.function(p.L, p.mu, name="f_2")
    x, star, s = w.vector("x"), w.vector("x_star"), w.vector("s")
    w.at(f, star, "f_1 at x_star", g=s * (1 - p.p))
    w.at(g, star, "f_2 at x_star", g=s * -p.p)
    states = []
    for k in range(last + 1):
        a, _ = w.at(f, x, f"f_1 at x{k}")
        b, _ = w.at(g, x, f"f_2 at x{k}")
        y = x - b * p.lr
        c, _ = w.at(g, y, f"f_2 at y{k}")
        states.append(SimpleNamespace(x=x, y=y, x_star=star, s=s, f_1=f, f_2=g))
        x = x - (a * p.p + (b + c) * ((1 - p.p) / 2)) * p.h
    return states


FEDNOVA = Theorem(
    region="0 < mu < L, 0 < p < 1, 0 < lr <= 1/(4*L), 0 < h <= 1/(2*L)",
    states=PlayedStates(play_fednova),
    rounds={"t": 0, "T": 0},
    quantities={
        "d": "norm2(x - x_star)",
        "dy": "norm2(y - x_star)",
        "z": "p*(1 - p)*norm2(s)",
        "S_1": "norm2(grad(f_1, x) - (1 - p)*s)",
        "S_2": "norm2(grad(f_2, x) + p*s)",
        "S_y": "norm2(grad(f_2, y) + p*s)",
        "G": "norm2(p*grad(f_1, x) + (1 - p)/2*(grad(f_2, x) + grad(f_2, y)))",
        "I_1": "dot(grad(f_1, x) - (1 - p)*s, x - x_star)",
        "I_2": "dot(grad(f_2, x) + p*s, x - x_star)",
        "I_y": "dot(grad(f_2, y) + p*s, x - x_star)",
        "J": "dot(grad(f_2, y) + p*s, y - x_star)",
    },
    where={"rate": "1 - h*mu*(1 + p)/2"},
    claim="d[T] <= rate**T*d[0] + lr*p*z[0]/(mu*(1 + p))*(1 - rate**T)",
    proof="""
      pos_1: 0 <= S_1[t]                                                by derivation
      pos_2: 0 <= S_2[t]                                                by derivation
      pos_y: 0 <= S_y[t]                                                by derivation
      dy_pos: 0 <= dy[t]                                                by derivation
      same:  z[t+1] == z[t]                                             by identity
      fixed: z[T] == z[0]                    by induction T: base combine; step combine ih, same(t=T)
      at_1:  mu*d[t] + S_1[t]/L <= 2*I_1[t]                             by derivation
      at_2:  mu*d[t] + S_2[t]/L <= 2*I_2[t]                             by derivation
      at_y:  mu*dy[t] + S_y[t]/L <= 2*J[t]                              by derivation
      drift: 2*(1 - p)*J[t] <= (1 - p)*(2*I_y[t] + lr*S_2[t] + 2*lr*S_y[t]) + lr*p*z[t]      by derivation
      moved: d[t+1] == d[t] - h*(2*p*I_1[t] + (1 - p)*(I_2[t] + I_y[t])) + h**2*G[t]     by identity
      mixed: G[t] <= p*S_1[t] + (1 - p)*(S_2[t] + S_y[t])/2             by derivation
      step:  d[t+1] <= rate*d[t] + h*lr*p/2*z[t]
               by combine 1*moved, (h**2)*mixed, (h*p)*at_1, (h*(1 - p)/2)*at_2, (h*(1 - p)/2)*at_y, (h/2)*drift, (h*(1 - p)/2*mu)*dy_pos,
                 (h*p*(1/L - h))*pos_1, (h*(1 - p)/2*(1/L - lr - h))*pos_2, (h*(1 - p)/2*(1/L - 2*lr - h))*pos_y
      done:  claim     by induction T: base combine; step combine rate*ih, step(t=T), (h*lr*p/2)*fixed
    """,
)


def play_dgd(w: World, p: Parameters, last: int) -> list[Any]:
    """x_i+ = sum_j w_ij x_j - lr grad f_i(x_i), where mixing keeps the average and shrinks deviations from it by lam."""
    f, x, star, s = (
        w.function(p.L, p.mu, client=True, name="f_i"),
        w.vector("x_i", client=True),
        w.vector("x_star"),
        w.vector("s_i", client=True),
    )
    s = s - bar(s)
    w.at(f, star, "at x_star", g=s)
    states = []
    for k in range(last + 1):
        states.append(SimpleNamespace(x_i=x, x_star=star, s_i=s, f_i=f))
        g, _ = w.at(f, x, f"at x{k}")
        m = w.vector(f"m{k}", client=True)
        m = m - bar(m)
        w.assume(f"mixing {k}", norm2(m) - norm2(x - bar(x)) * p.lam**2)
        x = bar(x) + m - g * p.lr
    return states


DGD_RATE = Theorem(
    region="0 < mu < L, 0 < lam < 1, 0 < lr <= (1 - lam)/(8*L), 0 < zeta",
    states=PlayedStates(play_dgd),
    assumed={"mixing": "mixing shrinks deviations by lam"},
    rounds={"t": 0, "T": 0},
    quantities={
        "d": "norm2(bar(x_i) - x_star)",
        "C": "mean(norm2(x_i - bar(x_i)))",
        "S": "mean(norm2(grad(f_i, x_i) - s_i))",
        "z": "mean(norm2(s_i))",
    },
    given={"unlike": "z[t] <= zeta**2"},
    where={"w": "4*lr*L/(1 - lam)", "floor": "8*lr**2*L*zeta**2/(mu*(1 - lam)**2)"},
    claim="d[T] + w*C[T] <= (1 - lr*mu)**T*(d[0] + w*C[0]) + floor*(1 - (1 - lr*mu)**T)",
    proof="""
      S_pos: 0 <= S[t]                                                                  by derivation
      C_pos: 0 <= C[t]                                                                  by derivation
      apart: C[t+1] <= lam*C[t] + 2*lr**2/(1 - lam)*(S[t] + z[t])                       by derivation
      mean:  d[t+1] <= (1 - lr*mu)*d[t] + 2*lr*L*C[t] - lr*(1/(2*L) - lr)*S[t]          by derivation
      step:  d[t+1] + w*C[t+1] <= (1 - lr*mu)*(d[t] + w*C[t]) + lr*mu*floor
               by combine mean, w*apart, (2*w*lr**2/(1 - lam))*unlike, (lr*(1/(2*L) - lr) - 2*w*lr**2/(1 - lam))*S_pos,
                 (w*(1 - lam - lr*mu) - 2*lr*L)*C_pos
      done:  claim     by induction T: base combine; step combine (1 - lr*mu)*ih, step(t=T)
    """,
)

CLAIMS = [
    state(
        "KIND-FEDNOVA",
        PAPER,
        "Wang et al. 2020, for two clients and strongly convex functions; other constants",
        "FedNova with one step of the one client and two of the other comes linearly to a floor of unlike clients that falls with lr.",
        FEDNOVA,
    ),
    state(
        "KIND-DGD-RATE",
        PAPER,
        "Yuan, Ling and Yin 2016, and Koloskova et al. 2020, without noise; other constants",
        "Decentralised gradient descent over a graph with the spectral gap 1 - lam, any gradients: a linear rate to a floor of unlike clients.",
        DGD_RATE,
    ),
]

#: claims in the place of those above, with constants that are 3 % off
FALSE = {
    "KIND-FEDNOVA": "d[T] <= rate**T*d[0] + 97/100*lr*p*z[0]/(mu*(1 + p))*(1 - rate**T)",
    "KIND-DGD-RATE": "d[T] + w*C[T] <= (1 - 103/100*lr*mu)**T*(d[0] + w*C[0]) + 97/100*floor*(1 - (1 - 103/100*lr*mu)**T)",
}
