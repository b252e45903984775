"""Ours: what the primal-dual gap (7) is for nu < mu and for nu = mu, and a stopping rule in its place."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Claim, Context, Covered, Fault, Finding, Theorem, holds
from fedtheory.core.duality import local_gap
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.stopping import ResidualBound
from paper_checks.dualfl.certified_runs import below_inexact
from paper_checks.dualfl.notation import CONVEX, derived
from paper_checks.dualfl.section_3_1_inexact_local_solvers import primal_dual_gap, repaired_error
from paper_checks.steps import Step
from problems.huber import Huber

CLAIMS: list[Claim] = []

# ---- The gap for nu < mu ---------------------------------------------------------------------------------------------

CLAIMS += [
    derived(
        "DUALFL-N1",
        "the primal-dual gap (7)",
        "Gamma(theta) <= mu/(mu - nu) times the gap of the local problem (2) for nu < mu.",
        [Step("the gap", primal_dual_gap)],
        assumptions=["f_j mu-strongly convex, 0 < nu < mu; no smoothness"],
        readings=["For nu = mu, which the paper recommends, Gamma can be infinite at every inexact theta."],
    )
]


# ---- The gap for nu = mu, and a rule in its place --------------------------------------------------------------------

#: what is left of 2 - x^n for f = x^2/2 + |x|, nu = mu = 1, nu zeta = 3 and steps h; ``z`` is where Gamma has the term B
_LEFT = "3/2*(1 - h)**n"
_Z = f"(x[n] + B/({_LEFT}))"

INFINITE = Theorem(
    name="Gamma for nu = mu",
    region="0 < h < 1, 0 <= B",
    rounds={"n": 0},
    sequences={"x": "0"},
    given={"start": "x[0] == 1/2", "next": "x[n+1] == x[n] - h*(x[n] + 1 - 3)"},
    claim=("1/2 <= x[n]", "x[n] -> 2 as n", f"x[n] + (3 - x[n])*{_Z} - {_Z} - (3 - x[n])*x[n] == B"),
    proof=f"""
      all:   x[n] == 2 - {_LEFT}      by induction n: base combine 1*start; step combine (1 - h)*ih, 1*next
      sign:  claim 1                  by combine (-1)*all
      below: 2 - {_LEFT} <= x[n]      by combine (-1)*all
      above: x[n] <= 2                by combine 1*all
      goes:  claim 2                  by squeeze below, above
      term:  claim 3                  by combine (-B/({_LEFT}))*all
    """,
)


def library_and_repaired(context: Context, *, share: float = 1.0, step: str = "1/5") -> Iterator[Finding]:
    """The library's gaps at these iterates; and runs by the repaired rule at nu = mu."""
    one = np.ones((1, 1))
    problem = Huber(one, 0 * one, 0 * one, 0 * one, one, name="|x| + x^2/2")
    x, seen = one / 2, []
    for _ in range(30):
        seen.append(float(local_gap(problem, x, 3 * one / share, share)[0]))
        x = x - float(Fraction(step)) * (problem.grad(x) - 3)
    text = f"the library's gaps of thirty steps of {step}, to {2 - float(x[0, 0]):.2g} from the solution"
    yield holds("library", bool(np.isinf(seen).all()), "numeric", text, covered=Covered(30, "rounds"))

    def repaired_rule(mu: float, L: float) -> DualFL:
        return DualFL(mu, mu / L, Adaptive(ResidualBound(allowed_gap(4, mu, 1.0, mu / L), mu)), "dual")

    text = "ten runs with nu = mu, adaptive gradient steps until the repaired rule holds, Theorem 3.3"
    yield below_inexact("runs by the repaired rule", text, context.seed, repaired_rule, 40, 20.0, 1.0)


CLAIMS += [
    derived(
        "DUALFL-G1",
        "the gap (7) for nu = mu, and a rule in its place",
        "Gamma can be infinite at every iterate of a convergent local solver when nu = mu. With u_j in dg_j(theta_j), "
        "stopping at ||u_j + nu (theta_j - zeta_j)||^2/(2 nu) <= delta_n/N and sending zeta_j - u_j/nu solves the "
        "block of Lemma 6.4 to delta_n/N, for every nu <= mu.",
        [Step("infinite at every iterate", INFINITE), Step("repaired rule", repaired_error)],
        assumptions=[CONVEX],
        readings=[
            "'Can be': f = x^2/2 + |x|, nu = mu = 1, nu zeta = 3, gradient steps h from 1/2, which tend to the solution 2. The terms of "
            "Gamma(x^n) are |x| + xi z - |z| - xi x with xi = 3 - x, and one of them is B, for every B."
        ],
        kind="bound",
        besides=library_and_repaired,
        faults=(
            Fault("nu 10 % below mu", "library", {"share": 0.9}),
            Fault("a step that overshoots", "library", {"step": "6/5"}),
        ),
    )
]
