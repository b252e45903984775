"""Section 4, Theorem 4.1: costs that are not strongly convex, made so by a penalty (12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import Claim, Context, Fault, Finding, PlayedStates, Theorem, at_most, draw_bound, holds, norm2
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.measures import metrics
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.running.runner import run
from paper_checks.dualfl import notation
from paper_checks.dualfl.notation import EIGHT, FIVE, claim
from paper_checks.dualfl.rounds import play_any, play_any_end, start
from paper_checks.dualfl.section_3_2_a_theorem_3_2 import PLAIN_SUMS, THEOREM_3_2
from paper_checks.dualfl.section_6_2_inexact_fista import PLAIN_ERRORS
from paper_checks.steps import Step
from problems.huber import Huber

CLAIMS: list[Claim] = []

# ---- Penalised clients -----------------------------------------------------------------------------------------------

REGIME = "f_j convex, E coercive; DualFL on f_j + (alpha/2)||.||^2 with nu = alpha"


def penalise(played: Callable[..., list[State]], world: World, p: Any, last: int) -> list[State]:
    """Rounds on f_j + (alpha/2) ||.||^2 with nu = alpha, where theta* is theta^alpha: f_j is g_j + alpha <origin, .>, up to a number.

    ``origin`` is the origin of the paper's coordinates, -theta^alpha, ``y`` any point.
    """
    states = played(world, State(nu=p.alpha, **vars(p)), last)
    origin, y = world.vector("origin"), world.vector("y")
    for state in states:
        state.origin, state.y = origin, y
    return states


def play_penalised(world: World, p: Parameters, last: int) -> list[State]:
    """rho = 0; clients are convex and answer anything."""
    return penalise(play_any, world, p, last)


def play_penalised_smooth(world: World, p: Parameters, last: int) -> list[State]:
    """rho = alpha/(L + alpha) = r^2; clients are L-smooth and answer anything."""
    return penalise(play_any_end, world, p, last)


def start_penalised(world: World, p: Parameters, last: int) -> list[State]:
    """The same start."""
    return start(world, State(nu=p.alpha, **vars(p)), last)


PENALISED_ROUNDS, PENALISED_SMOOTH_ROUNDS = (
    PlayedStates(made, start_penalised) for made in (play_penalised, play_penalised_smooth)
)


# ---- Theorem 4.1 -----------------------------------------------------------------------------------------------------


def play_path(world: World, p: Parameters, last: int) -> list[State]:
    """theta^alpha for two alpha, the minimiser theta* of E of least norm, and any y; ``penalised`` is E^alpha(y), ``bare`` is E(y)."""
    e = world.function(None, 0, name="E")
    star, y, n, o = (world.vector(name) for name in ("theta*", "y", "theta^n", "theta^{n+1}"))
    _, least = world.at(e, star, "E at theta*", g=star * 0)
    _, at_y = world.at(e, y, "E at y")

    def of(x: Any, alpha: Any, name: str) -> State:
        _, value = world.at(e, x, name, g=-(x * alpha))
        return State(x=x, x_star=star, y=y, gap=value - least, penalised=at_y + norm2(y) * (alpha / 2), bare=at_y)

    return [of(n, p.alpha_0, "E at theta^n"), of(o, p.alpha_1, "E at theta^{n+1}")][: last + 1]


#: along any alpha[n] > 0 that falls to zero; w is its inverse. P is E^alpha(y), B is E(y)
PATH = Theorem(
    name="(11) and (13)",
    region="",
    rounds={"n": 0},
    states=PlayedStates(play_path),
    sequences={"alpha": "0", "w": "0"},
    given={"inverse": "alpha[n]*w[n] == 1", "falls": "alpha[n+1] <= alpha[n]", "vanishes": "alpha[n] -> 0 as n"},
    quantities={"gap": "gap", "R": "norm2(x)", "D": "norm2(x_star)", "P": "penalised", "B": "bare", "Y": "norm2(y)"},
    claim=("P[n+1] <= P[n]", "P[n] - B[n] -> 0 as n", "gap[n] -> 0 as n", "R[n] <= D[0]"),
    proof="""
      ysame:  Y[n+1] == Y[n]                          by identity
      yall:   Y[n] == Y[0]                            by induction n: base combine; step combine 1*ih, 1*ysame
      pos:    0 <= Y[n]                               by derivation
      bsame:  B[n+1] == B[n]                          by identity
      is:     P[n] == B[n] + alpha[n]/2*Y[n]          by identity
      fall:   claim 1                                 by combine 1*is(n=n+1), (-1)*is, 1*bsame, (alpha[n+1]/2)*ysame, (Y[n]/2)*falls
      apart:  P[n] - B[n] == alpha[n]/2*Y[0]          by combine 1*is, (alpha[n]/2)*yall
      above:  P[n] - B[n] <= alpha[n]/2*Y[0]          by combine 1*apart
      below:  0 <= P[n] - B[n]                        by combine (-1)*apart, (alpha[n]/2)*pos(n=0)
      down:   claim 2                                 by squeeze below, above, vanishes
      same:   D[n+1] == D[n]                          by identity
      all:    D[n] == D[0]                            by induction n: base combine; step combine 1*ih, 1*same
      low:    0 <= gap[n]                             by derivation
      high:   gap[n] <= alpha[n]/2*D[n]               by derivation
      high0:  gap[n] <= alpha[n]/2*D[0]               by combine 1*high, (alpha[n]/2)*all
      least:  claim 3                                 by squeeze low, high0, vanishes
      times:  alpha[n]*R[n] <= alpha[n]*D[n]          by derivation
      near:   R[n] <= D[n]                            by combine w[n]*times, (D[n] - R[n])*inverse
      ball:   claim 4                                 by combine 1*near, 1*all
    """,
)

#: nu is alpha, and E^alpha is alpha/r^2-smooth
PENALISED: dict[str, Any] = {"states": PENALISED_ROUNDS, "where": {"nu": "alpha"}}
#: gamma = 2 h, for g is a function here
HALF = {"g": "h"}

#: E is E(theta^(n)) - E(theta^alpha), F is E(theta^alpha) - E(y), Y is ||y||^2; E^alpha is g less what is linear in it, of which C is the part of x
THEOREM_4_1 = replace(
    THEOREM_3_2,
    name="Theorem 4.1",
    **PENALISED,
    region="0 < alpha, 0 < h, 1 <= N",
    given={**FIVE, "gaps": f"Gamma[n] <= {notation.fill(EIGHT, **HALF)}"},
    added=(),
    quantities=notation.some("gap", "U", "err", "Gamma", "theta2", "V")
    | {
        "W": "norm2(origin)",
        "H": "mean(g(x)) - mean(g(x_star))",
        "C": "dot(origin, x - x_star)",
        "E": "mean(g(x)) + alpha*dot(origin, x) - mean(g(x_star)) - alpha*dot(origin, x_star)",
        "F": "mean(g(x_star)) + alpha*dot(origin, x_star) - mean(g(y)) - alpha*dot(origin, y)",
        "Y": "norm2(y - origin)",
    },
    rests={"dual": replace(PLAIN_ERRORS, region="0 < alpha", **PENALISED, name="Algorithm 2, penalised, rho = 0")},
    claim=("theta2[m] -> 0 as m", "E[m] -> 0 as m", "F[n] <= alpha/2*Y[n]"),
    proof=notation.fill(PLAIN_SUMS, **HALF)
    + notation.fill(
        """
  zero:   0 <= theta2[n]                                            by derivation
  home:   0 <= W[n]                                                 by derivation
  rate:   theta2[m] <= 4*TOP**2/(nu**2*(m + 1)**2)
             by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), (4/(nu**2*(m + 1)**2))*whole2(n=m-1)
  models: claim 1                                                   by squeeze zero(n=m), rate
  roots2: sqrt(theta2[m])**2 <= (2*TOP/(nu*(m + 1)))**2             by combine 1*rate
  roots:  sqrt(theta2[m]) <= 2*TOP/(nu*(m + 1))                     by root roots2
  same:   W[n+1] == W[n]                                            by identity
  all:    W[n] == W[0]                                              by induction n: base combine; step combine 1*ih, 1*same
  size2:  sqrt(W[n])**2 <= sqrt(W[0])**2                            by combine 1*all
  size:   sqrt(W[n]) <= sqrt(W[0])                                  by root size2
  up:     2*C[n] <= s*theta2[n] + W[n]/s                            by derivation
  up2:    2*C[n] <= 2*sqrt(theta2[n])*sqrt(W[n])                    by least s of up
  down:   -2*C[n] <= s*theta2[n] + W[n]/s                           by derivation
  down2:  -2*C[n] <= 2*sqrt(theta2[n])*sqrt(W[n])                   by least s of down
  above:  C[m] <= 2*TOP/(nu*(m + 1))*sqrt(W[0])
             by combine (1/2)*up2(n=m), sqrt(theta2[m])*size(n=m), sqrt(W[0])*roots
  below:  -2*TOP/(nu*(m + 1))*sqrt(W[0]) <= C[m]
             by combine (1/2)*down2(n=m), sqrt(theta2[m])*size(n=m), sqrt(W[0])*roots
  linear: C[m] -> 0 as m                                            by squeeze below, above
  convex: H[m] -> 0 as m                                            by cite CONTINUOUS from models
  parts:  E[n] == H[n] + alpha*C[n]                                 by identity
  low:    H[m] + alpha*C[m] <= E[m]                                 by combine (-1)*parts(n=m)
  high:   E[m] <= H[m] + alpha*C[m]                                 by combine 1*parts(n=m)
  values: claim 2                                                   by squeeze low, high, convex, linear
  path:   claim 3                                                   by derivation
        """,
        TOP="(sqrt(V[0]) + 2*sqrt(2/N)*(1 + 1/h))",
        CONTINUOUS="Rockafellar, Convex Analysis, Theorem 10.1 (a finite convex function is continuous)",
    ),
)


def two_hubers() -> Huber:
    """HUB of the claims: Hub_2(x - 1) and 3 Hub_2(x + 1), least at -1/2, where E* = 3/4."""
    column = np.array([[1.0], [3.0]])
    return Huber(2 * column, np.array([[1.0], [-1.0]]), 2 + 0 * column, 0 * column, 0 * column, name="two Huber losses")


def huber_gaps(rounds: Callable[[float], int], weights: tuple[float, ...]) -> np.ndarray:
    """E(theta^(n)) - E* after n = rounds(alpha) rounds, for each alpha."""
    problem, asked = two_hubers(), {"f": metrics.value}
    least = ground_truth(problem, witness=False).f
    return (
        np.array(
            [
                run(DualFL.regularised(alpha), problem, np.zeros(1), rounds(alpha), metrics=asked, progress=False)["f"][
                    -1
                ]
                for alpha in weights
            ]
        )
        - least
    )


def iterated_limit(
    context: Context, *, rounds: Callable[[float], int] = lambda alpha: int(30 / alpha)
) -> Iterator[Finding]:
    """The gap after 30/alpha rounds against alpha ||theta*||^2/2 = alpha/8; and, as a reading, twenty rounds whatever alpha."""
    weights = (0.1, 0.03, 0.01, context.pick(0.003, 0.001))
    gaps, limits = huber_gaps(rounds, weights), np.array(weights) / 8
    said = ", ".join(f"{gap:.2g}" for gap in gaps)
    text = f"after 30/alpha rounds the gaps are {said}; theta* is certified"
    yield at_most("two Huber losses", gaps, limits + 1e-3, "numeric", text, error=1e-12)
    few = (0.1, 0.01, 0.001, 1e-5)
    fixed = huber_gaps(lambda alpha: 20, few)
    yield holds(
        "joint limit",
        fixed[-1] < 0.1,
        "numeric",
        "n and alpha at once, in any way: for a fixed n every local answer tends to the client's own minimiser as "
        f"alpha falls, so that the gap tends to 1/4; it is {', '.join(f'{gap:.3g}' for gap in fixed)} after twenty rounds with alpha = {few}",
        role="reading",
    )
    more = [("after 30/alpha rounds", gaps), ("after 20 rounds", huber_gaps(lambda alpha: 20, weights))]
    about = (
        "DualFL with nu = alpha, rho = 0 on two Huber losses, start 0; claimed: alpha ||theta*||^2/2, the limit in n"
    )
    title = "First n, then alpha"
    yield draw_bound(title, weights, limits, xlabel="alpha", ylabel="E - E*", about=about, more=more, logx=True)


CLAIMS += [
    claim(
        "DUALFL-T4.1",
        "Theorem 4.1",
        "E(theta^(n)) - E* -> 0 as n -> infinity and alpha -> 0+, for rho = 0, nu = alpha, local gaps as in (8).",
        [Step("first n", THEOREM_4_1), Step("then alpha", PATH)],
        assumptions=[REGIME, "(8) for some gamma > 0"],
        readings=[
            "f_j is finite at every point, as Theorem 10.1 needs.",
            "First n -> infinity and then alpha -> 0+, as the proof takes the limits and the text before it says "
            "('sufficiently small alpha and large n'). As a joint limit it is false.",
            "E(theta^(n)) -> E(theta^alpha) for every alpha > 0, and E(theta^alpha) - E(y) <= (alpha/2) ||y||^2 for every y, theta* among them.",
        ],
        kind="rate",
        besides=iterated_limit,
        faults=(Fault("twenty rounds, whatever alpha", "two Huber losses", {"rounds": lambda alpha: 20}),),
    )
]


# ---- Proof of Theorem 4.1 --------------------------------------------------------------------------------------------

CLAIMS += [
    claim(
        "DUALFL-T4.1-aux",
        "proof of Theorem 4.1, (11), (13)",
        "E^alpha decreases to E, E(theta^alpha) -> E* as alpha -> 0+, and all theta^alpha lie in a ball.",
        [Step("the path", PATH)],
        assumptions=["E convex with a minimiser; theta* one of least norm"],
        readings=[
            "As alpha -> 0+: along every sequence alpha[n] > 0 that falls to zero. D = ||theta*||^2, so that R_0 = ||theta*|| serves for all alpha_0."
        ],
    )
]
