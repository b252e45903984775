"""Methods that average what clients make of quadratics: a client's local steps by the library's own code, and rounds whose mean answer is affine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from fedtheory.algorithms.gradient_descent import PointState
from fedtheory.claims.statements.theorems.runs import WorldQuadratics
from fedtheory.claims.statements.theorems.states import PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World, array_of_vectors, bar, vector_of
from fedtheory.core.arrays import gather
from fedtheory.local.solvers import GradientSteps, Memoryless
from paper_checks.given_gradients import SCRIPT


class GivenAnswers(Memoryless):
    """A local solver with given answers, one a client, which remembers what it was asked for."""

    numeric_only = None

    def __init__(self, answers: Any, lr: Any = None) -> None:
        self.answers, self.lr = answers, lr  # the step size is for servers that ask for it
        self.asked: Any = None
        self.start: Any = None

    def __call__(self, sub: Any, start: Any, key: Any, memory: Any) -> tuple[Any, None]:
        """Return the answers of the clients that take part."""
        self.asked, self.start = sub, start
        return gather(self.answers, sub.clients), None


# ---- local steps -----------------------------------------------------------------------------------------------------


def one_quadratic(h: Any, b: Any) -> Any:
    """h ||w - b||^2/2 on vectors of a world."""
    return WorldQuadratics(np.array([[h]], dtype=object), array_of_vectors(b))


def follow_steps(
    w: World, p: Parameters, last: int, asked: GivenAnswers, x: Any, start: bool, steps: int, **known: Any
) -> list[Any]:
    """Gradient steps y on what a round has asked of a client, by the library's own code, from where it starts or from anywhere; x is w_t."""
    y, states = vector_of(asked.start, x) if start else w.vector("y"), []
    for _ in range(last + 1):
        states.append(SimpleNamespace(y=y, w=x, **known))
        y = vector_of(GradientSteps(steps, p.lr)(asked.asked, array_of_vectors(y), SCRIPT, None)[0], y)
    return states


OF_STEPS = {
    "off": "norm2(y - end)",
    "away": "norm2(y - solution)",
    "along": "dot(y - solution, w - solution)",
    "all": "norm2(w - solution)",
}


def script_of_steps(Q: str = "Q", K: str = "K") -> str:
    """How far steps are from a solution and from where they end, when a step leaves q of the way, and Q is q^K."""
    return f"""
  begin: away[0] == all[0]                             by identity
  cross: along[0] == all[0]                            by identity
  same:  all[k+1] == all[k]                            by identity
  next:  away[k+1] == q**2*away[k]                     by identity
  turn:  along[k+1] == q*along[k]                      by identity
  one:   all[{K}] == all[0]                            by induction {K}: base combine; step combine ih, same(k={K})
  two:   away[{K}] == q**(2*{K})*away[0]               by induction {K}: base combine; step combine q**2*ih, next(k={K})
  three: along[{K}] == q**{K}*along[0]                 by induction {K}: base combine; step combine q*ih, turn(k={K})
  parts: off[k] == away[k] - 2*{Q}*along[k] + {Q}**2*all[k]   by identity
  end:   claim 1   by combine parts(k={K}), two, (-2*{Q})*three, {Q}**2*one, (q**(2*{K}))*begin, (-2*{Q}*q**{K})*cross, (({Q} - q**{K})*all[0])*power
"""


def play_local(
    w: World,
    p: Parameters,
    last: int,
    start: bool = False,
    steps: int = 1,
    *,
    method: Callable[[Any], Any],
    of: Callable[[Any], tuple[Any, Any]],
) -> list[Any]:
    """Local steps of a method on f = h ||w - b||^2/2; ``of``: h and Q, of the parameters; ``end``: where the steps end, Q for q^K."""
    b, x = w.vector("b"), w.vector("w")
    h, Q = of(p)
    asked = GivenAnswers(array_of_vectors(x), p.lr)
    method(asked).round(one_quadratic(h, b), PointState(array_of_vectors(x)), None, SCRIPT)
    return follow_steps(w, p, last, asked, x, start, steps, solution=b, end=b + (x - b) * Q)


def local_states(method: Callable[[Any], Any], of: Callable[[Any], tuple[Any, Any]], steps: int = 1) -> PlayedStates:
    """From where a round of the method starts them; ``steps``: as many for one."""
    play = partial(play_local, steps=steps, method=method, of=of)
    return PlayedStates(play, start=partial(play, start=True))


def curvature_and_power(p: Any) -> tuple[Any, Any]:
    """h and Q."""
    return p.h, p.Q


def local_steps_of(method: Callable[[Any], Any], steps: int = 1) -> Theorem:
    """K local steps of a method leave q^K of the way to b, and |q^K| < 1 for K >= 1."""
    return Theorem(
        "0 < h, 0 < lr < 2/h, -1 < Q",
        ("off[K] == 0", "q**(2*(K + 1)) < 1"),
        f"{script_of_steps()}  size: claim 2 by induction K: base combine; step combine q**2*ih",
        states=local_states(method, curvature_and_power, steps),
        rounds={"k": 0, "K": 0},
        where={"q": "1 - lr*h"},
        quantities=OF_STEPS,
        given={"power": "Q == q**K"},
    )


# ---- the mean over clients -------------------------------------------------------------------------------------------


Terms: TypeAlias = Callable[[Parameters, int, Any, Any], Mapping[str, Any]]


def play_sums(w: World, p: Parameters, last: int, start: bool = False, *, names: Sequence[str], of: Terms) -> list[Any]:
    """Sums over the first clients, by their names; ``of``: what client i adds to each, of w and its b_i."""
    x, z, states = w.vector("w"), w.vector("z"), []
    sums = {name: w.vector(name) * (0 if start else 1) for name in names}
    for i in range(last + 1):
        states.append(SimpleNamespace(w=x, z=z, **sums))
        terms = of(p, i, x, w.vector(f"b_{i}"))
        sums = {name: sums[name] + terms[name] for name in names}
    return states


def sums_of_clients(names: Sequence[str], of: Terms) -> PlayedStates:
    """From zero, or from anywhere."""
    play = partial(play_sums, names=names, of=of)
    return PlayedStates(play, start=partial(play, start=True))


def answers_of(p: Parameters, i: int, x: Any, b: Any) -> dict[str, Any]:
    """b_i + Q_i (w - b_i), and (1 - Q_i) b_i."""
    Q = getattr(p, f"Q_{i}")
    return {"answers": b + (x - b) * Q, "weighted": b * (1 - Q)}


#: clients 0, ..., n; a client's number stands for a round
MEAN_OF_CLIENTS = Theorem(
    "",
    (
        "answers[n+1] == sum(Q[i], i, 0, n)*w[n+1] + weighted[n+1]",
        "sum(Q[i], i, 0, n) < n + 1",
        "-(n + 1) < sum(Q[i], i, 0, n)",
    ),
    """
      none:  answers[0] == 0                               by identity
      begin: weighted[0] == 0                              by identity
      same:  w[i+1] == w[i]                                by identity
      next:  answers[i+1] == answers[i] + Q[i]*w[i] + weighted[i+1] - weighted[i]   by identity
      all:   claim 1    by induction n: base combine next(i=0), none, (-1)*begin, (-Q[0])*same(i=0);
                          step combine ih, next(i=n+1), (-Q[n+1])*same(i=n+1), (-sum(Q[i], i, 0, n))*same(i=n+1)
      up:    Q[i] < 1                                      by combine 1/2*size, 1/2*square(1 - Q[i])
      down:  -Q[i] < 1                                     by combine 1/2*size, 1/2*square(1 + Q[i])
      above: claim 2                                       by induction n: base combine up(i=0); step combine ih, up(i=n+1)
      below: claim 3                                       by induction n: base combine down(i=0); step combine ih, down(i=n+1)
    """,
    states=sums_of_clients(("answers", "weighted"), answers_of),
    rounds={"n": 0, "i": 0},
    sequences={"Q": "-1..1"},
    given={"size": "Q[i]**2 < 1"},
    quantities={name: f"dot({name}, z)" for name in ("answers", "weighted", "w")},
)

# ---- rounds ----------------------------------------------------------------------------------------------------------


def play_affine(
    w: World,
    p: Parameters,
    last: int,
    *,
    method: Callable[[Any, Any], Any],
) -> list[Any]:
    """A method's own rounds where the mean of the clients' answers, whatever they are, is P w + k; they end at k/(1 - P)."""
    x, k, states = w.vector("w"), w.vector("k"), []
    for t in range(last + 1):
        states.append(SimpleNamespace(w=x, end=k / (1 - p.P)))
        any_answers = w.vector(f"answers {t}", True)
        answers = any_answers - bar(any_answers) + x * p.P + k
        x = w.round_of(lambda local: method(p, local), PointState, {"x": x}, answers)["x"]
    return states


def ends_there(region: str, method: Callable[[Any, Any], Any]) -> Theorem:
    """Each round multiplies the distance from where rounds end by |P|, which is below 1."""
    return Theorem(
        region,
        ("D[T] == P**(2*T)*D[0]", "D[t] -> 0 as t"),
        """
      next: D[t+1] == P**2*D[t]                                            by identity
      far:  0 <= D[t]                                                      by derivation
      rate: claim 1                                                        by induction T: base combine; step combine P**2*ih, next(t=T)
      all:  (1 - P)*(1 + P)*sum(D[t], t, 0, T) <= D[0] - D[T+1]            by induction T: base combine next(t=0); step combine ih, next(t=T+1)
      sums: (1 - P)*(1 + P)*sum(D[t], t, 0, T) <= D[0]                     by combine all, far(t=T+1)
      done: claim 2                                                        by series far, sums
    """,
        states=PlayedStates(partial(play_affine, method=method)),
        rounds={"t": 0, "T": 0},
        quantities={"D": "norm2(w - end)"},
    )
