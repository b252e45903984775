"""Ours: nu above mu, which no theorem allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import (
    Claim,
    Clause,
    Context,
    Fault,
    Finding,
    PlayedStates,
    Theorem,
    at_most,
    bar,
    holds,
    lemma,
    norm2,
)
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.dualfl.certified_runs import outside, squared_errors
from paper_checks.dualfl.notation import derived
from paper_checks.dualfl.rounds import method_round, start
from paper_checks.steps import Step
from problems.quadratics import scalar_quadratics

CLAIMS: list[Claim] = []

# ---- nu above mu -----------------------------------------------------------------------------------------------------


@lemma("largest curvature", "ours", "0 < mu, 0 < h", c=1)
def largest_curvature(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """h mean ||w_j||^2 <= (c/mu) mean ||w_j||^2, w_j = A_j v_j with v_j - mean v = h w_j: q_j, <., A_j .>/2 less (mu/2) ||.||^2, is convex."""
    q, v = w.function(None, 0, client=True, name="q"), w.vector("v", True)
    mode = (v - bar(v)) / p.h
    w.at(q, v, "q at v", g=mode - v * p.mu)
    w.at(q, v * 0, "q at 0", g=v * 0)
    return norm2(mode) * (p.h - c.c / p.mu)


def of_mode(world: World, p: Parameters, s: Any) -> dict[str, Any]:
    """A mode of the dual with the curvature h/nu: w_j = A_j v_j with v_j - mean v = (h/nu) w_j, where f_j is <s_j*, .> + <., A_j .>/2, theta* = 0."""
    v = world.vector("v", True)
    return {"s_star": s, "v": v, "w": (v - bar(v)) * (p.nu / p.h)}


def play_mode(world: World, p: Parameters, last: int) -> list[State]:
    """The inertia b in every round; clients answer anything."""
    z, zeta, x_i, s, answers = (world.vector(name, True) for name in ("z", "zeta", "x_i", "s", "theta"))
    mode = of_mode(world, p, s - bar(s))
    n = State(x=world.vector("x"), x_i=x_i, z=z - bar(z), zeta=zeta - bar(zeta), answers=answers, **mode)
    return [n, State(**method_round(world, p, n, p.b, answers), **mode)][: last + 1]


def start_mode(world: World, p: Parameters, last: int) -> list[State]:
    """The same start."""
    (found,) = start(world, p, last)
    return [State(zeta=found.zeta, z=found.z, **of_mode(world, p, found.s_star))]


MODES = PlayedStates(play_mode, start_mode)

#: C and E are the parts of nu z_j - s_j* and nu zeta_j - s_j* in the mode
OF_MODE = """
  moves:  C[n+1] == E[n] - nu*M[n]                              by identity
  bends:  K[n] == h/nu*E[n]                                     by identity
  turn:   E[n+1] == C[n+1] + b*(C[n+1] - C[n])                  by identity
  fall:   C[n+1] == (1 - h)*E[n]                                by combine 1*moves, (-nu)*symmetric, (-nu)*bends
  next:   C[n+2] == (1 - h)*(C[n+1] + b*(C[n+1] - C[n]))        by combine 1*fall(n=n+1), (1 - h)*turn
"""

BEYOND = Theorem(
    name="a mode beyond the edge",
    region="0 < nu, 0 <= b, (2 + 2*b)/(1 + 2*b) < h",
    rounds={"n": 0},
    states=MODES,
    given={"symmetric": "M[n] == K[n]"},
    quantities={
        "C": "mean(dot(w, nu*z - s_star))",
        "E": "mean(dot(w, nu*zeta - s_star))",
        "M": "mean(dot(w, answers))",
        "K": "mean(dot(v, nu*zeta - s_star))",
    },
    where={"q": "h - 1", "r": "(q*(1 + b) + sqrt(q**2*(1 + b)**2 + 4*q*b))/2", "k": "q*b/r"},
    claim=("1 < r", "k*C[2*n] - C[2*n+1] == r**(2*n)*(q + k)*C[0]"),
    proof=OF_MODE
    + """
  same:   C[0] == E[0]                                          by identity
  root:   r**2 == q*(1 + b)*r + q*b                             by combine
  grows:  claim 1                                               by combine 1*root times r + q*b
  step:   C[n+2] - k*C[n+1] == -r*(C[n+1] - k*C[n])             by combine 1*next, (-C[n+1]/r)*root
  first:  C[1] - k*C[0] == -(q + k)*C[0]                        by combine 1*fall(n=0), (h - 1)*same
  done:   claim 2
             by induction n: base combine (-1)*first; step combine (r**2)*ih, r*step(n=2*n), (-1)*step(n=2*n+1)
    """,
)

#: a and s are the product and the sum of the multipliers; both lie inside of the unit circle (Jury), and what ``drop`` says of falls
BELOW = replace(
    BEYOND,
    name="a mode below the edge",
    region="0 < nu, 0 <= b < 1, 0 < h < (2 + 2*b)/(1 + 2*b)",
    rounds={"n": 0, "k": 0},
    where={"a": "b*(1 - h)", "s": "(1 + b)*(1 - h)", "y": "s*a/(1 + a)", "c": "h*(2 + 2*b - (1 + 2*b)*h)/(1 + a)**2"},
    claim="C[n]**2 -> 0 as n",
    proof=OF_MODE
    + """
  drop:   (C[n+2] - y*C[n+1])**2 + c*C[n+1]**2 + c*(1 - a**2)*C[n]**2 == (C[n+1] - y*C[n])**2 + c*C[n]**2
             by combine (C[n+2] + s*C[n+1] - a*C[n] - 2*y*C[n+1])*next
  all:    c*(1 - a**2)*sum(C[k]**2, k, 0, n) + (C[n+2] - y*C[n+1])**2 + c*C[n+1]**2 <= (C[1] - y*C[0])**2 + c*C[0]**2
             by induction n: base combine 1*drop(n=0); step combine 1*ih, 1*drop(n=n+1)
  sums:   sum(C[k]**2, k, 0, n) <= ((C[1] - y*C[0])**2 + c*C[0]**2)/(c*(1 - a**2))
             by combine (1/(c*(1 - a**2)))*all, (1/(c*(1 - a**2)))*square(C[n+2] - y*C[n+1]), (1/(1 - a**2))*square(C[n+1])
  sign:   0 <= C[n]**2                                          by combine 1*square(C[n])
  done:   claim                                                 by series sign, sums
    """,
)


def unstable_runs(context: Context, *, factor: float = 1.45) -> Iterator[Finding]:
    """The sequence with rho = 0, for nu beyond the edge and below."""
    drawn = [scalar_quadratics(np.array([1.0, 1.1]), c) for c in context.rng().standard_normal((10, 2))]
    ends = [[squared_errors(DualFL(nu), f, f.solution(), 300)[-1] for f in drawn] for nu in (factor, 1.2)]
    grows, falls = min(ends[0]), max(ends[1])
    told = f"rho = 0, 300 rounds of ten draws: error at least {grows:.2g} for nu = {factor} mu, at most {falls:.2g} for nu = 1.2 mu"
    yield at_most("runs", [1e3, falls], [grows, 1e-6], "numeric", told)
    said = outside("nu > mu", drawn[0], factor)
    text = "the checks of Theorems 3.2 and 3.3 refuse such a setting and do not run it" + (
        "" if said is None else f": {said.text}"
    )
    yield holds("told", said is not None and said.holds is None, "numeric", text)


CLAIMS += [
    derived(
        "DUALFL-N4",
        "the range of nu",
        [
            Clause(
                "On quadratics, with the same inertia b in every round, the part of nu z_j - s_j* in a mode of the dual of the curvature h/nu grows "
                "without bound for h > (2 + 2 b)/(1 + 2 b), if the gradients s_j* at theta* have a part in it,",
                ("beyond it",),
            ),
            Clause("and falls to zero for h < (2 + 2 b)/(1 + 2 b);", ("below it",)),
            Clause("1/mu is the largest curvature, so that nu = mu (2 + 2 b)/(1 + 2 b) is the edge.", ("largest",)),
        ],
        [Step("beyond it", BEYOND), Step("below it", BELOW), Step("largest", largest_curvature)],
        assumptions=["f_j mu-strongly convex quadratics, exact local solves"],
        readings=[
            "z_j is what the inertia acts on; multipliers are -r and k. Given is that A_j is symmetric: <w_j, theta_j> is <v_j, A_j theta_j>, and "
            "A_j theta_j = nu zeta_j - s_j*. For b = 1, where the inertia with rho = 0 goes, the edge is 4 mu/3.",
            "The server's model need not see a mode: where f_j = (mu/2) ||x - c_j||^2 it is theta* in every round, whatever control variates do.",
        ],
        kind="divergence",
        besides=unstable_runs,
        faults=[Fault("nu below the edge", "runs", {"factor": 1.25})],
    )
]
