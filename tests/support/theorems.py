"""Theorems for every round, with proofs, that tests play with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims.claim import Part, Reading
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem

GRADIENT_DESCENT = Theorem(
    region="0 < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu = 0"),
    rounds={"t": 0, "N": 1},
    quantities={"gap": "f(x) - f(x_star)", "dist2": "norm2(x - x_star)"},
    claim="gap[N] <= L*dist2[0]/(2*N)",
    proof="""
      step: (t + 1)*gap[t+1] + L/2*dist2[t+1] <= t*gap[t] + L/2*dist2[t]   by derivation
      pos:  0 <= dist2[t]                                                  by derivation
      all:  N*gap[N] + L/2*dist2[N] <= L/2*dist2[0]                        by induction N: base combine step(t=0); step combine ih, step(t=N)
      done: claim                                                          by combine all, pos(t=N)
    """,
    name="gradient descent's gap",
)

CONVERGES = Theorem(
    region="0 < mu < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu"),
    rounds={"t": 0, "T": 0},
    quantities={"dist2": "norm2(x - x_star)"},
    claim=("dist2[T] <= (1 - mu/L)**(2*T)*dist2[0]", "dist2[T] -> 0 as T"),
    proof="""
      step: dist2[t+1] <= (1 - mu/L)**2*dist2[t]   by derivation
      pos:  0 <= dist2[t]                          by derivation
      all:  claim 1                                by contraction of step
      lim:  claim 2                                by squeeze pos(t=T), all
    """,
    name="gradient descent converges",
)

SCAFFNEW = Theorem(
    region="0 < mu < L, 0 < lr < 2/(mu + L), 0 < p <= 1",
    states=MethodStates("scaffnew", "lr, p", "L, mu"),
    rounds={"t": 0, "T": 0},
    quantities={"X": "mean(norm2(x_i - x_star))", "H": "(lr/p)**2*mean(norm2(h_i - grad(f_i, x_star)))"},
    where={"rho": "max((1 - lr*mu)**2, 1 - p**2)"},
    claim="X[T] + H[T] <= rho**T*(X[0] + H[0])",
    proof="""
      round: X[t+1] + H[t+1] <= (1 - lr*mu)**2*X[t] + (1 - p**2)*H[t]   by derivation
      near:  0 <= X[t]                                                  by derivation
      duals: 0 <= H[t]                                                  by derivation
      falls: X[t+1] + H[t+1] <= rho*(X[t] + H[t])                       by combine round, near, duals
      done:  claim                                                      by contraction of falls
    """,
    name="Scaffnew",
)

FEDAVG = Theorem(
    region="K in 2..3",
    states=MethodStates("fedavg", "lr = 1, steps = K", "L = 1, mu = 1/10"),
    rounds={"t": 0, "T": 0},
    quantities={"V": "norm2(x - x_star)", "G": "mean(norm2(grad(f_i, x_star)))"},
    claim="at K=2: V[T] <= 0.711**T*V[0] + 0.386/(1 - 0.711)*G[0]",
    proof="""
      round: at K=2: V[t+1] <= 0.711*V[t] + 0.386*G[t]                               by derivation
      same:  at K=2: G[t+1] == G[t]                                                  by identity
      pos:   at K=2: 0 <= G[t]                                                       by derivation
      fixed: at K=2: G[T] == G[0]                                                    by induction T: base combine; step combine ih, same(t=T)
      all:   at K=2: V[T] <= 0.711**T*V[0] + 0.386*(1 - 0.711**T)/(1 - 0.711)*G[0]   by induction T: base combine;
                                                                                     step combine ih, round(t=T), 0.386*fixed
      done:  claim                                                                   by combine all, pos(t=0)
    """,
    name="FedAvg's floor",
)


def proximal_point(world: Any, p: Any, last: int) -> list[Any]:
    """Any x, and x+ = x - eta g with g a gradient at x+; y keeps the gradient at x."""
    f, x = world.function(p.L, 0), world.vector("x")
    y, _ = world.at(f, x, "g")
    out = [SimpleNamespace(x=x, y=y, f=f)]
    for k in range(last):
        g = world.vector(f"g{k}")
        x = x - g * p.eta
        world.at(f, x, f"x{k}", g=g)
        out.append(SimpleNamespace(x=x, y=g, f=f))
    return out


def begins(world: Any, p: Any) -> Any:
    """After a step from anywhere."""
    return proximal_point(world, p, 1)[1]


PROXIMAL_POINT = Theorem(
    region="0 < L, 0 < eta",
    states=PlayedStates(proximal_point, begins=begins, least=1),
    rounds={"t": 1, "T": 1},
    quantities={"S": "norm2(y)", "F": "f(x)"},
    claim="exists t in 1..T: S[t+1] <= 2*(F[1] - F[T+1])/(eta*T)",
    proof="""
      fall: F[t+1] <= F[t] - eta/2*S[t+1]               by derivation
      all:  sum(eta/2*S[t+1], t, 1, T) <= F[1] - F[T+1] by telescope of fall
      done: claim                                       by mean all
    """,
    name="proximal point",
)

EXAMPLES = {t.name: t for t in (GRADIENT_DESCENT, CONVERGES, SCAFFNEW, FEDAVG, PROXIMAL_POINT)}


def parts_of(theorem: Theorem) -> tuple[Part, list[str]]:
    """What a theorem comes to, and what is read into it."""
    found = list(find_of_rounds(theorem, name="it"))
    (part,) = (one for one in found if isinstance(one, Part))
    return part, [one.text for one in found if isinstance(one, Reading)]
