"""Remark 2 for convex clients: FedAvg with a constant step reaches a neighbourhood of the minimiser, for every n, d, Q and horizon.

Time t counts local steps, whose clients communicate where d_t = 0 (and not where d_t = 1); m_t is how many of the Q steps of a round are left. The
average of the models is the server's at the end of a round. W, how far models are apart, is weighed by what is left of the round.
"""

from __future__ import annotations

from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedAvg
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import PlayedStates, Theorem, bar
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, unasked, vector_of
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from paper_checks.fedpd.identities import AnyGradients
from paper_checks.given_gradients import SCRIPT


def go_on(world: World, p: Parameters, last: int, state: State) -> list[State]:
    """Local steps by the library's solver, and averages by FedAvg's own round."""
    states = [state]
    for k in range(last):
        old = states[-1]
        g, _ = world.at(old.f_i, old.y_i, f"y_i {k}")
        clients: Any = AnyGradients(unasked(g).n, array_of_vectors(g))
        local, _ = GradientSteps(1, p.lr)(Subproblem(clients), array_of_vectors(old.y_i), SCRIPT, None)
        y_i = vector_of(local, g)
        x = world.round_of(FedAvg, PointState, {"x": old.x_star}, y_i)["x"]
        states.append(State(**{**vars(old), "y_i": x + (y_i - x) * getattr(p, f"d_{k}")}))
    return states


def kept(world: World, p: Parameters) -> dict[str, Any]:
    """Convex functions, a minimiser of their average, and their gradients there."""
    f, own = world.function(p.L, 0, client=True, name="f_i"), world.vector("own_i", True)
    own = own - bar(own)
    world.at(f, own * 0, "at x*", g=own)
    return {"f_i": f, "x_star": bar(own) * 0, "own_i": own}


def play(world: World, p: Parameters, last: int) -> list[State]:
    """Any models."""
    return go_on(world, p, last, State(y_i=world.vector("y_i", True), **kept(world, p)))


def start(world: World, p: Parameters, last: int) -> list[State]:
    """All start from x^0."""
    found = kept(world, p)
    return go_on(world, p, last, State(y_i=world.vector("x^0") + found["own_i"] * 0, **found))


def reached(radius: str = "4") -> Theorem:
    """What the mean of f - f* over local steps is at most, times lr and their number; ``radius`` stands for the constant 4."""
    return Theorem(
        name="FedAvg on convex functions",
        region="0 < L, 0 < lr <= 1/L, 1 <= Q",
        states=PlayedStates(play, start),
        rounds={"t": 0, "T": 0},
        sequences={"d": "0..1", "m": "1"},
        given={
            "flag": "d[t]**2 == d[t]",
            "count": "Q - m[t+1] == d[t]*(Q - m[t] + 1)",
            "within": "m[t] <= Q",
            "step": "8*lr**2*L**2*Q*(2*Q + 1) <= 1",
        },
        quantities={
            "D": "norm2(bar(y_i) - x_star)",
            "W": "mean(norm2(y_i - bar(y_i)))",
            "gap": "mean(f_i(bar(y_i))) - mean(f_i(x_star))",
            "S": "mean(norm2(grad(f_i, bar(y_i)) - bar(grad(f_i, bar(y_i)))))",
            "zeta2": "mean(norm2(own_i))",
        },
        claim=f"lr*sum(gap[t], t, 0, T) <= D[0] + (T + 1)*{radius}*lr**3*L*Q*(2*Q + 1)*zeta2[0]",
        proof="""
          some:  0 <= W[t]                                                                            by derivation
          off:   0 <= gap[t]                                                                          by derivation
          zeta:  0 <= zeta2[t]                                                                        by derivation
          fall:  D[t+1] <= D[t] - 2*lr*gap[t] + lr*L*W[t]                                             by derivation
          apart: 2*Q*W[t+1] <= d[t]**2*((2*Q + 1)*W[t] + 2*Q*(2*Q + 1)*lr**2*S[t])                    by derivation
          bends: S[t] <= 4*L*gap[t] + 2*zeta2[t]                                                      by derivation
          low:   0 <= 1 - d[t]                                                                        by combine
          room:  0 <= m[t] - 1                                                                        by combine
          drop:  D[t+1] + 2*lr*L*m[t+1]*W[t+1] <= D[t] + 2*lr*L*m[t]*W[t] - lr*gap[t] + 4*lr**3*L*Q*(2*Q + 1)*zeta2[t]
                   by combine 1*fall, (lr*L*m[t+1]/Q)*apart, (2*lr**3*L*m[t+1]*d[t]**2*(2*Q + 1))*bends, (lr*gap[t])*step,
                     (lr*L*(2*Q + 1)/Q*W[t]*(Q - (Q - m[t] + 1)*(d[t] + 1)))*flag, (-lr*L*(2*Q + 1)/Q*W[t]*d[t]**2)*count,
                     (L*lr*W[t]*(1 - d[t])*(2 + 1/Q))*room, (4*lr**3*L*(2*Q + 1)*zeta2[t]*Q*(1 + d[t]))*low,
                     (8*lr**3*L**2*(2*Q + 1)*gap[t]*Q*(1 + d[t]))*low, (L*lr*W[t]/Q)*within,
                     (4*L*lr**3*(2*Q + 1)*d[t]**2*zeta2[t] + 8*L**2*lr**3*(2*Q + 1)*d[t]**2*gap[t])*within(t=t+1)
          same:  zeta2[t+1] == zeta2[t]                                                               by identity
          kept:  zeta2[T] == zeta2[0]
                   by induction T: base combine; step combine ih, same(t=T)
          none:  W[0] == 0                                                                            by identity
          near:  0 <= D[t]                                                                            by derivation
          all:   lr*sum(gap[t], t, 0, T) + D[T+1] + 2*lr*L*m[T+1]*W[T+1]
                   <= D[0] + 2*lr*L*m[0]*W[0] + (T + 1)*4*lr**3*L*Q*(2*Q + 1)*zeta2[0]
                   by induction T: base combine 1*drop(t=0); step combine 1*ih, 1*drop(t=T+1), (4*lr**3*L*Q*(2*Q + 1))*kept(T=T+1)
          done:  claim                   by combine 1*all, 1*near(t=T+1), (2*lr*L*m[T+1])*some(t=T+1), (2*lr*L*m[0])*none
        """,
    )
