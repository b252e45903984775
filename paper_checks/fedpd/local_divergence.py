"""FedAvg on clients of opposite curvatures grows, for every constant step and every way to communicate that leaves local steps to themselves.

Time t counts local steps. After step t clients take over the share 1 - d_t of their average: d_t = 0 where they communicate, 1 where they do not.
FedAvg with Q >= 2 local steps a round has d_t = 0 after every Q-th step, so that 1 <= d_t + d_{t+1}; with Q = 1 it has not. Steps are those of the
library's local solver, averages those of FedAvg's own round, and the server's model of round r is the average at t = r Q.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace as State
from typing import Any, cast

from fedtheory.algorithms import FedAvg
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import PlayedStates, Theorem, run_on_quadratics
from fedtheory.claims.statements.worlds import GivenAnswers, Parameters, World
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from paper_checks.given_gradients import SCRIPT, column


@dataclass(frozen=True)
class OppositeCurvatures:
    """(a/2)||x||^2 and -(a/2)||x||^2."""

    a: Any
    n, d, name = 2, 1, "opposite curvatures"

    def grad(self, x: Any) -> Any:
        """a x and -a x."""
        return x * column(self.a, -self.a)

    def take(self, clients: None) -> OppositeCurvatures:
        """Both take part."""
        return self


def go_on(p: Parameters, last: int, y_1: Any, y_2: Any) -> list[State]:
    """Local steps of both clients, after which they take over a share of their average."""
    states, clients = [State(y_1=y_1, y_2=y_2)], OppositeCurvatures(p.a)
    for k in range(last + 1):
        old, problem = states[-1], cast(Any, clients)
        mean = (old.y_1 + old.y_2) / 2
        old.g_1, old.g_2 = clients.grad(column(mean, mean))[:, 0]
        y, _ = GradientSteps(1, p.lr)(Subproblem(problem), column(old.y_1, old.y_2), SCRIPT, None)
        x = FedAvg(GivenAnswers(y)).round(problem, PointState(column(old.y_1)), None, SCRIPT).x[0, 0]
        y_1, y_2 = (x + (y[i, 0] - x) * getattr(p, f"d_{k}") for i in (0, 1))
        states.append(State(y_1=y_1, y_2=y_2))
    return states[: last + 1]


def play(world: World, p: Parameters, last: int) -> list[State]:
    """Any models."""
    return go_on(p, last, world.vector("y_1"), world.vector("y_2"))


def start(world: World, p: Parameters, last: int) -> list[State]:
    """Both start from x^0."""
    x = world.vector("x^0")
    return go_on(p, last, x, x)


GROWS = Theorem(
    name="FedAvg on +-(a/2)||x||^2",
    region="0 < a, 0 < lr",
    states=PlayedStates(play, start),
    quantities={
        "X": "norm2((y_1 + y_2)/2)",
        "S": "dot(y_1 + y_2, y_2 - y_1)/4",
        "R": "norm2(y_2 - y_1)/4",
        "slope": "norm2((g_1 + g_2)/2)",
        "slopes": "norm2(g_1)/2 + norm2(g_2)/2",
    },
    rounds={"t": 0, "T": 0, "k": 0},
    sequences={"d": "0..1"},
    where={"z": "lr*a"},
    given={"local": "1 <= d[t] + d[t+1]"},
    claim=("(1 + z**2)**k*X[0] <= X[3*k]", "X[t] <= X[t+1]", "slope[t] == 0", "slopes[t] == a**2*X[t]"),
    proof="""
      none:   claim 3 by identity
      steep:  claim 4 by identity
      mean:   X[t+1] == X[t] + 2*z*S[t] + z**2*R[t]                           by identity
      turn:   S[t+1] == d[t]*(z*X[t] + (1 + z**2)*S[t] + z*R[t])              by identity
      some:   0 <= X[t] by derivation
      away:   0 <= R[t] by derivation
      alike:  S[0] == 0 by identity
      turned: 0 <= S[T]
                by induction T: base combine alike; step combine (-1)*turn(t=T), (d[T]*z)*some(t=T), (d[T]*(1 + z**2))*ih, (d[T]*z)*away(t=T)
      rises:  claim 2 by combine (-1)*mean, (2*z)*turned(T=t), (z**2)*away
      later:  (1 + 2*z**2*d[t])*X[t] <= X[t+2]
                by combine (-1)*mean(t=t+1), 1*rises, (-2*z)*turn, (2*z*d[t]*(1 + z**2))*turned(T=t), (2*z**2*d[t])*away, (z**2)*away(t=t+1)
      three:  (1 + z**2)*X[t] <= X[t+3]
                by combine (1/2)*later, (1/2)*rises(t=t+2), (1/2)*later(t=t+1), (1/2 + z**2*d[t+1])*rises, (z**2*X[t])*local
      done:   claim 1 by induction k: base combine; step combine 1*three(t=3*k), (1 + z**2)*ih
    """,
)


# ---- FedPD there (D14) -----------------------------------------------------------------------------------------------------

_FIELDS = ("x", "x_1", "x_2", "x0_1", "x0_2", "lam_1", "lam_2")


def fedpd_stands_still(second: str = "-a") -> Theorem:
    """FedPD with exact solves on curvatures a and ``second``: from any state, the third round changes nothing that the second left."""
    run = run_on_quadratics(
        "fedpd", "eta, init_dual = grad, exact, p = 0", curvatures=("a", second), centres=("0", "0")
    )

    def play_ahead(world: World, p: Parameters, last: int) -> list[Any]:
        played = run.play(world, p, last + 3)
        for k in range(last + 1):
            ((_, now),), *later = played[k : k + 4]
            for name in _FIELDS:
                second, third = (getattr(state, name) for ((_, state),) in later[1:])
                setattr(now, f"{name}_moved", third - second)
        return list(played[: last + 1])

    return Theorem(
        name="FedPD on +-(a/2)||x||^2",
        region="0 < a, 0 < eta < 1/a",
        states=PlayedStates(play_ahead),
        rounds={"t": 0},
        quantities={f"{name}_moves": f"norm2({name}_moved)" for name in _FIELDS},
        claim=tuple(f"{name}_moves[t] == 0" for name in _FIELDS),
        proof="\n".join(f"{name}: claim {k} by identity" for k, name in enumerate(_FIELDS, start=1)),
    )
