"""Where FedAvg, FedProx and FedPD end on (a_i/2)||x - c_i||^2, with every number of clients (D12); h and b are a client's a_i and c_i."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedAvg, FedProx
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import PlayedStates, Theorem, bar
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, vector_of
from paper_checks.averaged_quadratics import ends_there, one_quadratic
from paper_checks.fedpd import rounds
from paper_checks.fedpd.theorems import corrected
from paper_checks.given_gradients import SCRIPT

# ---- FedAvg and FedProx ------------------------------------------------------------------------------------------------


def play_solve(world: World, p: Parameters, last: int, penalty: Any = 1) -> list[State]:
    """What FedProx's own round makes of one client's exact solve, from any model."""
    b, x, states = world.vector("b"), world.vector("w"), []
    for _ in range(last + 1):
        before = PointState(array_of_vectors(x))
        y = vector_of(FedProx(p.rho * penalty).round(one_quadratic(p.h, b), before, None, SCRIPT).x, x)
        states.append(State(w=x, y=y, b=b, end=b + (x - b) * p.Q))
        x = y
    return states


def solve_of_fedprox(penalty: Any = 1) -> Theorem:
    """An exact solve of FedProx leaves Q = s of the way to b."""
    return Theorem(
        "0 < h, 0 < rho, 0 < Q",
        ("off[t] == 0", "Q**2 < 1"),
        """
          parts: off[t] == (s - Q)**2*all[t]   by identity
          off:   claim 1                       by combine parts, ((Q - s)*all[t])*share
          small: s**2 < 1                      by combine
          size:  claim 2                       by combine small, (Q + s)*share
        """,
        name="an exact solve of FedProx",
        states=PlayedStates(partial(play_solve, penalty=penalty)),
        rounds={"t": 0},
        where={"s": "rho/(rho + h)"},
        quantities={"off": "norm2(y - end)", "all": "norm2(w - b)"},
        given={"share": "Q == s"},
    )


def fedavg_of(p: Any, local: Any) -> FedAvg:
    """FedAvg with these answers."""
    return FedAvg(local)


def fedprox_of(p: Any, local: Any) -> FedProx:
    """FedProx with these answers."""
    return FedProx(p.rho, local)


FEDAVG_ENDS_THERE = replace(ends_there("-1 < P < 1", fedavg_of), name="FedAvg's rounds")
FEDPROX_ENDS_THERE = replace(ends_there("0 < rho, -1 < P < 1", fedprox_of), name="FedProx's rounds")


# ---- FedPD -----------------------------------------------------------------------------------------------------------


def play_around(world: World, p: Parameters, last: int, start: bool = False) -> list[State]:
    """FedPD's own rounds with exact solves, as in D1, on f_i that are mu-strongly convex and L-smooth, beside the minimiser x* of their mean."""
    f, star, own = world.function(p.L, p.mu, client=True, name="f_i"), world.vector("x*"), world.vector("g_i", True)
    world.at(f, star + own * 0, "f_i(x*)", g=own - bar(own))
    states = rounds.begin_exact(world, p, last, f, start)
    for state in states:
        state.x_star = star
    return states


def begin_around(world: World, p: Parameters) -> State:
    """The first state."""
    return play_around(world, p, 0, start=True)[0]


@cache
def sums_around(strength: Any = 4) -> Theorem:
    """D1 on these functions."""
    own = corrected(strength)
    return replace(
        own,
        name="Theorem 1 with exact solves on strongly convex functions",
        region="0 < mu < L, 0 < eta < 1/(2*L)",
        states=PlayedStates(play_around, partial(play_around, start=True), begin_around),
    )


@cache
def fedpd_ends_at_the_minimiser(strength: Any = 4) -> Theorem:
    """||x_0^t - x*||^2 -> 0, by D1."""
    own = sums_around(strength)
    return replace(
        own,
        name="FedPD's models",
        rests={"sums": own},
        quantities={name: own.quantities[name] for name in ("f", "grad2")}
        | {"X": "norm2(x - x_star)", "low": "mean(f_i(x_star))"},
        where={name: own.where[name] for name in ("u", "M", "K")},
        claim="X[t] -> 0 as t",
        proof="""
      pos:   0 <= grad2[t]                               by derivation
      least: low[t] <= f[t]                              by derivation
      same:  low[t+1] == low[t]                          by identity
      lows:  low[T] == low[0]                            by induction T: base combine same(t=0); step combine ih, same(t=T)
      bound: sum(grad2[t], t, 1, T) <= K*(f[0] - low[0]) by combine 1*sums, K*least(t=T), (-K)*lows
      flat:  grad2[t] -> 0 as t                          by series pos, bound
      far:   0 <= X[t]                                   by derivation
      near:  X[t] <= grad2[t]/mu**2                      by derivation
      done:  claim                                       by squeeze far, near, flat
    """,
    )
