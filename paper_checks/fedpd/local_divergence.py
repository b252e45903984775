"""FedAvg on clients of opposite curvatures grows, for every constant step and every way to communicate that leaves local steps to themselves.

Time t counts local steps. After step t clients take over the share 1 - d_t of their average: d_t = 0 where they communicate, 1 where they do not.
FedAvg with Q >= 2 local steps a round has d_t = 0 after every Q-th step, so that 1 <= d_t + d_{t+1}; with Q = 1 it has not. Steps are those of the
library's local solver, averages those of FedAvg's own round, and the server's model of round r is the average at t = r Q.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace as State
from typing import Any

from fedtheory.algorithms import FedAvg
from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims import PlayedStates, Theorem, norm2, run_on_quadratics
from fedtheory.claims.statements.worlds import GivenAnswers, Parameters, World
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from paper_checks.given_gradients import SCRIPT, column


@dataclass(frozen=True)
class OppositeCurvatures:
    """(a/2)||x||^2 and -(a/2)||x||^2, and functions besides that have these slopes where they are asked."""

    a: Any
    slopes: Any = 0
    n, d, name = 2, 1, "opposite curvatures"

    def grad(self, x: Any) -> Any:
        """a x and -a x, and the slopes."""
        return x * column(self.a, -self.a) + self.slopes

    def take(self, clients: None) -> OppositeCurvatures:
        """Both take part."""
        return self


def bounded(world: World, name: str) -> Any:
    """A vector of length at most one."""
    v = world.vector(name)
    world.assume(name, norm2(v) - 1)
    return v


def go_on(world: World, p: Parameters, last: int, state: State) -> list[State]:
    """Local steps of both clients, after which they take over a share of their average; where there is a direction u, with slopes besides."""
    states = [state]
    for k in range(last + 1):
        old = states[-1]
        kept = {"u": old.u} if hasattr(old, "u") else {}
        clients: Any = OppositeCurvatures(
            p.a, column(*(bounded(world, f"slope {2 * k + i}") for i in (1, 2))) if kept else 0
        )
        y, _ = GradientSteps(1, p.lr)(Subproblem(clients), column(old.y_1, old.y_2), SCRIPT, None)
        x = FedAvg(GivenAnswers(y)).round(clients, PointState(column(old.y_1)), None, SCRIPT).x[0, 0]
        mean = (old.y_1 + old.y_2) / 2
        old.g_1, old.g_2 = OppositeCurvatures(p.a).grad(column(mean, mean))[:, 0]
        y_1, y_2 = (x + (y[i, 0] - x) * getattr(p, f"d_{k}") for i in (0, 1))
        states.append(State(y_1=y_1, y_2=y_2, **kept))
    return states[: last + 1]


def play(world: World, p: Parameters, last: int, pulled: bool) -> list[State]:
    """Any models."""
    kept = {"u": bounded(world, "direction")} if pulled else {}
    return go_on(world, p, last, State(y_1=world.vector("y_1"), y_2=world.vector("y_2"), **kept))


def start(world: World, p: Parameters, last: int, pulled: bool) -> list[State]:
    """Both start from x^0."""
    x, kept = world.vector("x^0"), {"u": bounded(world, "direction")} if pulled else {}
    return go_on(world, p, last, State(y_1=x, y_2=x, **kept))


def states(pulled: bool) -> PlayedStates:
    """Of the quadratics alone, or with slopes besides."""
    return PlayedStates(partial(play, pulled=pulled), partial(start, pulled=pulled))


GROWS = Theorem(
    name="FedAvg on +-(a/2)||x||^2",
    region="0 < a, 0 < lr",
    states=states(False),
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

_PUSHED = "((d[3*k+1] + z**2)*d[3*k]*z + z*(d[3*k+1] + 1))"
#: p and q are half the sum and half the difference of the models along u
GROWS_FROM_AFAR = Theorem(
    name="FedAvg on +-(a/2)||x||^2 and functions of bounded slopes",
    region="0 < a, 0 < lr",
    states=states(True),
    quantities={"p": "dot(y_1 + y_2, u)/2", "q": "dot(y_2 - y_1, u)/2"},
    rounds={"t": 0, "k": 0},
    sequences={"d": "0..1", "e": "0"},
    where={"z": "lr*a", "far": "lr*(3/z**2 + 1/z + 2)"},
    assumed={"slope": "||s|| <= 1, s a slope besides a x and -a x", "direction": "||u|| <= 1"},
    given={"local": "d[t] + d[t+1] == 1 + e[t]", "start": "far <= p[0]"},
    claim="(1 + z**2)**k*(p[0] - far) <= p[3*k] - far",
    proof=f"""
      down:  p[t] + z*q[t] - lr <= p[t+1]                                    by derivation
      push:  d[t]*(q[t] + z*p[t] - lr) <= q[t+1]                             by derivation
      alike: q[0] == 0                                                       by identity
      both:  max((1 + z**2)**k*(p[0] - far) - (p[3*k] - far), -q[3*k]) <= 0
               by induction k: base (larger of: combine; combine (-1)*alike); step (larger of:
                 combine 1*down(t=3*k+2), 1*down(t=3*k+1), z*push(t=3*k+1), (1 + z**2*d[3*k+1])*down(t=3*k), (z*(1 + d[3*k+1]))*push(t=3*k),
                   (z*(1 + z**2*d[3*k+1]) + z*(1 + d[3*k+1])*d[3*k])*ih_2, (1 + z**2 + z**2*e[3*k] + z**2*d[3*k]*d[3*k+1])*ih_1,
                   (z**2*(e[3*k] + d[3*k]*d[3*k+1])*(1 + z**2)**k)*start, (z*lr - z**2*p[3*k])*local(t=3*k);
                 combine 1*push(t=3*k+2), d[3*k+2]*push(t=3*k+1), (d[3*k+2]*z)*down(t=3*k+1), (d[3*k+2]*(d[3*k+1] + z**2))*push(t=3*k),
                   (d[3*k+2]*z*(d[3*k+1] + 1))*down(t=3*k), (d[3*k+2]*((d[3*k+1] + z**2)*d[3*k] + z**2*(d[3*k+1] + 1)))*ih_2,
                   (d[3*k+2]*{_PUSHED})*ih_1, (d[3*k+2]*{_PUSHED}*(1 + z**2)**k)*start)
      one:   (1 + z**2)**k*(p[0] - far) - (p[3*k] - far) <= 0                by larger in both
      done:  claim                                                           by combine 1*one
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
