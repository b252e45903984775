"""Where FedAvg, FedProx and FedPD end on (a_i/2)||x - c_i||^2, for every number of clients (D12); w is a model, h and b a client's a_i and c_i."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedAvg, FedProx
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import PlayedStates, Theorem, bar
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, vector_of
from paper_checks.averaged_quadratics import OF_STEPS, ends_there, local_states, one_quadratic, script_of_steps
from paper_checks.fedpd import rounds
from paper_checks.fedpd.theorems import corrected
from paper_checks.given_gradients import SCRIPT

# ---- one client ------------------------------------------------------------------------------------------------------


def curvature_and_rest(p: Any) -> tuple[Any, Any]:
    """Of a client whose local steps go a share, the weight, of the way."""
    return p.a, 1 - p.weight


def steps_of_fedavg(steps: int = 1) -> Theorem:
    """Q local steps of FedAvg go 1 - (1 - lr a)^Q of the way from w to b, which is inside (0, 2) for Q >= 1."""
    return Theorem(
        "0 < a, 0 < lr < 2/a, 0 <= weight",
        ("off[Q] == 0", "0 < 1 - q**(Q + 1)", "1 - q**(Q + 1) < 2"),
        f"""{script_of_steps("(1 - weight)", "Q")}
  size: q**(2*(Q + 1)) < 1   by induction Q: base combine; step combine q**2*ih
  some: claim 2              by combine 1/2*size, 1/2*square(1 - q**(Q + 1))
  most: claim 3              by combine 1/2*size, 1/2*square(1 + q**(Q + 1))
""",
        name="Q local steps of FedAvg",
        states=local_states(FedAvg, curvature_and_rest, steps),
        rounds={"k": 0, "Q": 0},
        where={"q": "1 - lr*a"},
        quantities=OF_STEPS,
        given={"power": "1 - weight == q**Q"},
    )


def play_solve(world: World, p: Parameters, last: int, penalty: Any = 1) -> list[State]:
    """What FedProx's own round makes of one client's exact solve, from any model."""
    b, x, states = world.vector("b"), world.vector("w"), []
    for _ in range(last + 1):
        before = PointState(array_of_vectors(x))
        y = vector_of(FedProx(p.rho * penalty).round(one_quadratic(p.a, b), before, None, SCRIPT).x, x)
        states.append(State(w=x, y=y, end=x - (x - b) * (p.a * p.rho / (p.rho + p.a) / p.rho)))
        x = y
    return states


def solve_of_fedprox(penalty: Any = 1) -> Theorem:
    """An exact solve of FedProx goes weight/rho of the way from w to b, with a weight inside (0, 2 rho)."""
    return Theorem(
        "0 < a, 0 < rho",
        ("off[t] == 0", "0 < weight", "weight < 2*rho"),
        "off: claim 1 by identity\nsome: claim 2 by combine\nmost: claim 3 by combine",
        name="an exact solve of FedProx",
        states=PlayedStates(partial(play_solve, penalty=penalty)),
        rounds={"t": 0},
        where={"weight": "a*rho/(rho + a)"},
        quantities={"off": "norm2(y - end)"},
    )


# ---- all clients -----------------------------------------------------------------------------------------------------


def play_clients_of(world: World, p: Parameters, last: int, start: bool = False) -> list[State]:
    """Sums over the first clients: of w - (weight_i/r) (w - b_i), and of weight_i b_i."""
    x, z = world.vector("w"), world.vector("z")
    answers, weighted = (world.vector(name) * (0 if start else 1) for name in ("answers", "weighted"))
    states = []
    for i in range(last + 1):
        states.append(State(w=x, z=z, answers=answers, weighted=weighted))
        b, weight = world.vector(f"b_{i}"), getattr(p, f"weight_{i}")
        answers, weighted = answers + x - (x - b) * (weight / p.r), weighted + b * weight
    return states


#: clients 0, ..., n; a client's number stands for a round
MEAN_BY_WEIGHTS = Theorem(
    "0 < r",
    (
        "answers[n+1] == (n + 1)*w[n+1] - (sum(weight[i], i, 0, n)*w[n+1] - weighted[n+1])/r",
        "0 < sum(weight[i], i, 0, n)",
        "sum(weight[i], i, 0, n) < 2*(n + 1)*r",
    ),
    """
      none:  answers[0] == 0                               by identity
      begin: weighted[0] == 0                              by identity
      same:  w[i+1] == w[i]                                by identity
      next:  answers[i+1] == answers[i] + (1 - weight[i]/r)*w[i] + (weighted[i+1] - weighted[i])/r   by identity
      all:   claim 1    by induction n: base combine next(i=0), none, (-1/r)*begin, (-1 + weight[0]/r)*same(i=0);
                          step combine ih, next(i=n+1), (-1 + weight[n+1]/r)*same(i=n+1), (sum(weight[i], i, 0, n)/r - n - 1)*same(i=n+1)
      above: claim 2                                       by induction n: base combine some(i=0); step combine ih, some(i=n+1)
      below: claim 3                                       by induction n: base combine most(i=0); step combine ih, most(i=n+1)
    """,
    name="the mean over clients",
    states=PlayedStates(play_clients_of, start=partial(play_clients_of, start=True)),
    rounds={"n": 0, "i": 0},
    sequences={"weight": "0..2*r"},
    given={"some": "0 < weight[i]", "most": "weight[i] < 2*r"},
    quantities={name: f"dot({name}, z)" for name in ("answers", "weighted", "w")},
)


def fedavg_of(p: Any, local: Any) -> FedAvg:
    """FedAvg with these answers."""
    return FedAvg(local)


def fedprox_of(p: Any, local: Any) -> FedProx:
    """FedProx with these answers."""
    return FedProx(p.rho, local)


def affine_of_fedavg(p: Any) -> tuple[Any, Any, Any]:
    """The mean answer is w - (S w - k)/N, with S = sum weight_i, k = sum weight_i b_i and N clients; rounds end at k/S."""
    return 1 - p.S / p.N, 1 / p.N, 1 / p.S


def affine_of_fedprox(p: Any) -> tuple[Any, Any, Any]:
    """The mean answer is w - (S w - k)/(N rho); rounds end at k/S."""
    return 1 - p.S / (p.N * p.rho), 1 / (p.N * p.rho), 1 / p.S


@cache
def fedavg_ends_there() -> Theorem:
    """FedAvg's own rounds end at k/S."""
    made = ends_there("0 < N, 0 < S < 2*N", fedavg_of, affine_of_fedavg, P="1 - S/N")
    return replace(made, name="FedAvg's rounds")


@cache
def fedprox_ends_there() -> Theorem:
    """FedProx's own rounds end at k/S."""
    made = ends_there("0 < N, 0 < rho, 0 < S < 2*N*rho", fedprox_of, affine_of_fedprox, P="1 - S/(N*rho)")
    return replace(made, name="FedProx's rounds")


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
