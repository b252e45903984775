"""Duality: Propositions 3.1 and 6.1, the dual problem (20) and the primal-dual relation (21), the local gap (7) where nu = mu.

Proofs are of what needs no theorem but Fenchel's inequality; that subgradients s_j* of zero sum exist at theta* is the sum rule for finite convex
functions (Moreau and Rockafellar). Numbers: CVXPY's optima, held against conjugates and certified minimisers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Claim, Context, Covered, Fault, Finding, Lemma, Replay, Theorem, dot, lemma, norm2
from fedtheory.claims.parts import assume, at_most, equal, holds, refute
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.duality import dualfl_gap, local_dual, local_gap, local_primal
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from fedtheory.local.adaptive_gradient import Adaptive
from fedtheory.local.solvers import Exact
from fedtheory.local.stopping import ResidualBound
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures.ground_truth import ground_truth, solve_consensus
from paper_checks.dualfl import inexact, rounds
from paper_checks.dualfl.certified_runs import below_inexact, hinge_machines
from paper_checks.dualfl.common import CONVEX, claim, derived
from paper_checks.steps import Step, equality
from problems.chains import total_variation_chain
from problems.huber import Huber
from problems.logistic import logistic
from problems.quadratics import random_quadratics

# ---- the local problem: Proposition 3.1 -------------------------------------------------------------------------------


def zero_gap(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E^{n,j}(o) + c E_d^{n,j}(nu (zeta - o)) = 0 at the solution o of (2)."""
    local = inexact.local_problem(w, p)
    return local.at_o * c.c + local.least


@lemma("solution of (6)", "Proposition 3.1", "0 < nu", c=1)
def dual_solution(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E_d^{n,j}(xi_j) <= E_d^{n,j}(xi) - c ||xi - xi_j||^2/(2 nu) for every xi, with xi_j = nu (zeta - o), of which o is a subgradient of g^*."""
    g = w.function(None, 0, name="g*")
    zeta, o, xi = w.vector("zeta"), w.vector("o"), w.vector("xi")
    best = (zeta - o) * p.nu
    _, at_best = w.at(g, best, "at xi_j", g=o)
    _, at_xi = w.at(g, xi, "theta at xi")
    difference = at_best - at_xi + (norm2(best - zeta * p.nu) - norm2(xi - zeta * p.nu)) / (2 * p.nu)
    return difference + norm2(xi - best) * (c.c / (2 * p.nu))


GAP_AT_MOST, GAP_AT_LEAST = equality("gap", "Proposition 3.1", "0 < nu", zero_gap)


def problems(context: Context) -> list[Any]:
    """A smooth, a hinge and a total variation instance, small enough for CVXPY."""
    rng = np.random.default_rng(context.seed)
    features = [rng.standard_normal((12, 4)) for _ in range(3)]
    labels = [np.sign(x[:, 0] + 0.5 * rng.standard_normal(12)) for x in features]
    return [logistic(features, labels, l2=0.1), hinge_machines(), total_variation_chain(12)]


def local_instances(context: Context, *, gap: Callable[..., Any] = local_gap, step: float = 1.0) -> Iterator[Finding]:
    """The library's local values and gaps at solutions and beside them."""
    sums, sizes = [], []
    for problem in problems(context):
        nu = 0.8 * float(constant(problem, "mu").value)
        zeta = context.rng().standard_normal((problem.n, problem.d))
        zeta = zeta - zeta.mean(axis=0)
        solved, _ = Exact()(Subproblem(problem, a=-nu * zeta), zeta, Key(0, 0), None)
        primal, dual = (
            local_primal(problem, solved, zeta, nu),
            local_dual(problem, nu * step * (zeta - solved), zeta, nu),
        )
        sums.append(np.abs(primal + dual).max())
        sizes.append(1e-9 * (1 + np.abs(primal).max()))
    text = "|E + E_d| at solutions of (2): logistic, hinge, total variation; conjugates in closed form or by programs"
    yield at_most("instances", sums, sizes, "numeric", text)
    problem = random_quadratics(4, 3, L=20.0, mu=1.0, batch=(10,), seed=context.seed)
    nu = 0.7 * float(constant(problem, "mu").value.min())
    zeta, x = context.rng().standard_normal((2, 10, problem.n, problem.d))
    residual = problem.grad(x) - nu * zeta
    inverse = np.linalg.inv(problem.A - nu * np.eye(problem.d))
    closed = np.einsum("...a,...ab,...b->...", residual, inverse, residual) / 2
    text = "Gamma on ten draws of quadratics is r^T (A - nu I)^{-1} r/2, r the residual of (2)"
    yield equal("the gap", gap(problem, x, zeta, nu), closed, "numeric", text, rtol=1e-10)


# ---- the dual problem: (20), (21) -------------------------------------------------------------------------------------

#: any theta and xi; E and D are E(theta) and E_d(xi)/N, Emin and Dmin those at theta* and xi*, FY the mean of the gaps of Fenchel and Young at theta*
OF_PAIR: dict[str, Any] = {
    "region": "0 < nu",
    "rounds": {"n": 0},
    "states": rounds.PAIR,
    "assumed": {"Fenchel": "g_j^*(xi_j) is at least <xi_j, theta*> - g_j(theta*)"},
    "added": ("s_star",),
}
DUALITY = Theorem(
    **OF_PAIR,
    name="(20)",
    quantities={"E": "energy", "D": "dual_energy", "Emin": "least", "Dmin": "dual_least"},
    claim=("Emin[n] + Dmin[n] == 0", "Emin[n] <= E[n]", "Dmin[n] <= D[n]"),
    proof="""
      equal:  claim 1 by identity
      primal: claim 2 by derivation
      dual:   claim 3 by derivation
    """,
)
RELATION = Theorem(
    **OF_PAIR,
    name="(21)",
    quantities={"D": "dual_energy", "Dmin": "dual_least", "R2": "norm2(x_star + bar(xi)/nu)", "FY": "young"},
    given={"minimal": "D[n] <= Dmin[n]"},
    claim=("R2[n] <= 0", "FY[n] <= 0"),
    proof="""
      young: 0 <= FY[n]                                 by derivation
      apart: 0 <= R2[n]                                 by derivation
      split: FY[n] + nu/2*R2[n] == D[n] - Dmin[n]       by identity
      model: claim 1                                    by combine (2/nu)*minimal, (2/nu)*young, (2/nu)*split
      slope: claim 2                                    by combine 1*minimal, (nu/2)*apart, 1*split
    """,
)


@lru_cache(maxsize=4)
def optima(seed: int) -> list[tuple[Any, float, Any, Any, Any]]:
    """Of each instance: problem, nu = mu/2, certified minimum, CVXPY's point and its dual point xi_j = y_j - nu x."""
    found = []
    for problem in problems(Context(seed=seed)):
        nu = 0.5 * float(constant(problem, "mu").value)
        truth = ground_truth(problem)
        x, y, _, _ = solve_consensus(problem)
        found.append((problem, nu, truth, x, y - y.mean(axis=0) - nu * x))
    return found


def dual_optima(context: Context, *, copies: float = 1.0) -> Iterator[Finding]:
    """CVXPY's primal and dual optima of three instances."""
    gaps, limits, told = [], [], []
    for problem, nu, truth, x, xi in optima(context.seed):
        gaps.append(float(dualfl_gap(problem, x[None, :], copies * xi, nu)))
        limits.append(1e-7 * (1 + abs(truth.f)))
        told.append(f"{problem.name}: {gaps[-1]:.1g}, minimum certified to {truth.gap:.1g}")
    text = "E + E_d/N at the solver's points, by conjugates: " + "; ".join(told)
    yield at_most("CVXPY's optima", np.abs(gaps), limits, "numeric", text)


def primal_from_dual(context: Context, *, sign: float = -1.0) -> Iterator[Finding]:
    """CVXPY's dual optima give its primal ones by (21)."""
    apart, limits, told = [], [], []
    for problem, nu, truth, _, xi in optima(context.seed):
        apart.append(float(np.linalg.norm(sign * xi.mean(axis=0) / nu - truth.x)))
        limits.append(truth.distance + 1e-5 * (1 + float(np.linalg.norm(truth.x))))
        told.append(f"{problem.name}: {apart[-1]:.1g}, theta* certified to {truth.distance:.1g}")
    yield at_most("CVXPY's optima", apart, limits, "numeric", "||-mean xi*/nu - theta*||: " + "; ".join(told))


# ---- Proposition 6.1 --------------------------------------------------------------------------------------------------


def gap_where_values_agree(w: World, p: Parameters, c: LemmaConstants, of_g: bool) -> Any:
    """The Fenchel-Young gap of F at (x, v), v = -K^T y, or of G at (z, y), z = Kx, is at most zero where F(x) + G(z) = -F^*(v) - G^*(y).

    Of the linear K it is used that <x, v> + <z, y> = 0; the other gap is not negative. c is that of the gap's product.
    """
    x, slope, image, y = (w.vector(name) for name in ("x", "v", "z", "y"))
    of_f = (w.value("F at x and its conjugate at v"), dot(x, slope))
    of_both = (of_f, (w.value("G at z and its conjugate at y"), dot(image, y)))
    value, product = of_both[of_g]
    other, other_product = of_both[not of_g]
    w.assume("Fenchel", other_product - other)
    w.assume("equal values", value + other)
    w.assume("adjoint", -(product + other_product))
    return value - product * c.c


GAPS_OF_18 = [
    Step(
        f"gap of {name}",
        Lemma(f"gap of {name}", "(18)", "", partial(gap_where_values_agree, of_g=name == "G"), {"c": 1}),
        "repaired",
    )
    for name in ("F", "G")
]


def replay_inclusion(instance: Mapping[str, Any]) -> Replay:
    """F(x) = (x - 1)^2/2, G(y) = a y^2/2 and K = 1: x* = 1/(1 + a), y* = a x*, and the printed inclusion asks that x* = a y*."""
    a = Fraction(str(instance["a"]))

    def solve(a: Any) -> tuple[Any, Any, Any]:
        x = 1 / (1 + a)
        y = a * x
        return x, y, abs(x - a * y)

    x, y, apart = solve(a)
    return Replay(
        "|K x* - grad G(y*)|",
        solve(float(a))[2],
        0.0,
        apart,
        Fraction(0),
        "fractions",
        (
            assume("x* minimises (x - 1)^2/2 + a x^2/2", "x - 1 + a*x == 0", x=x, a=a),
            assume("y* minimises F^*(-y) + G^*(y) = y^2/2 - y + y^2/(2 a)", "y - 1 + y/a == 0", y=y, a=a),
            assume("G is convex", "0 < a", a=a),
        ),
    )


def inclusion_and_optima(context: Context, *, a: str = "2") -> Iterator[Finding]:
    """The printed inclusion in G where G^* belongs; strong duality on instances."""
    yield refute("Kx* in dG(y*)", replay_inclusion, {"a": a})
    for problem, nu, truth, x, xi in optima(context.seed):
        gap = float(dualfl_gap(problem, x[None, :], xi, nu))
        text = f"primal and dual optima differ by {gap:.1g}"
        yield at_most(f"strong duality, {problem.name}", abs(gap), 1e-7 * (1 + abs(truth.f)), "numeric", text)


# ---- nu = mu ----------------------------------------------------------------------------------------------------------


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


#: what gives xi*
SUM_RULE = (
    "subgradients s_j* of f_j at theta* with the sum 0 (Moreau and Rockafellar: there are some, as f_j is finite)"
)
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-P3.1",
        "Proposition 3.1",
        "If theta_j solves (2), xi_j = nu (zeta_j - theta_j) solves (6), and E^{n,j}(theta_j) + E_d^{n,j}(xi_j) = 0.",
        [Step("at most", GAP_AT_MOST), Step("at least", GAP_AT_LEAST), Step("solves (6)", dual_solution)],
        assumptions=[CONVEX],
        kind="identity",
        besides=local_instances,
        faults=(
            Fault(
                "a gap without the conjugate",
                "the gap",
                {"gap": lambda f, x, zeta, nu: local_primal(f, x, zeta, nu) + nu / 2 * squared_norm(x)},
            ),
            Fault("a dual point 5 % too long", "instances", {"step": 1.05}),
        ),
    ),
    claim(
        "DUALFL-P6.1",
        "Proposition 6.1, (18)",
        "Fenchel-Rockafellar duality, with -K^T y* in dF(x*) and Kx* in dG(y*).",
        GAPS_OF_18,
        assumptions=[
            "F, G proper, convex, lower semicontinuous; a point in the relative interiors of their domains",
            "the equality of values, which the proposition quotes (Rockafellar, Corollary 31.2.1)",
        ],
        readings=[
            "F(x) + G(Kx) + F^*(-K^T y) + G^*(y) is the sum of the Fenchel-Young gaps of F at (x, -K^T y) and of G at (Kx, y). A gap that is zero "
            "says that -K^T y* is in dF(x*), and Kx* in dG^*(y*)."
        ],
        repaired="(18) with the conjugate: -K^T y* in dF(x*) and Kx* in dG^*(y*), that is y* in dG(Kx*).",
        kind="identity",
        besides=inclusion_and_optima,
        faults=[Fault("a = 1, where G = G^*", "Kx* in dG(y*)", {"a": "1"}, holds=True)],
        replay=replay_inclusion,
    ),
    claim(
        "DUALFL-D20",
        "(20)",
        "N min E = -min E_d for E_d(xi) = sum_j g_j^*(xi_j) + ||sum_j xi_j||^2/(2 N nu).",
        [Step("(20)", DUALITY)],
        assumptions=[CONVEX, "f_j finite everywhere", SUM_RULE],
        readings=[
            "E and D are E(theta) and E_d(xi)/N at any points, Emin and Dmin those at theta* and xi_j* = s_j* - nu theta*."
        ],
        kind="identity",
        besides=dual_optima,
        faults=(Fault("dual points 5 % too long", "CVXPY's optima", {"copies": 1.05}),),
    ),
    claim(
        "DUALFL-D21",
        "(21)",
        "theta* = -sum_j xi_j*/(N nu), and xi_j* is a subgradient of g_j at theta*.",
        [Step("(21)", RELATION)],
        assumptions=[CONVEX, "'grad g_j' is read as a subgradient where g_j is not smooth", SUM_RULE],
        readings=[
            "R2 = ||theta* + mean xi*/nu||^2, and FY is the mean of g_j^*(xi_j*) + g_j(theta*) - <xi_j*, theta*>, none of which is negative: where "
            "it is zero xi_j* is a subgradient of g_j at theta*. Dmin is E_d/N at s_j* - nu theta*, which is its minimum (DUALFL-D20)."
        ],
        kind="identity",
        besides=primal_from_dual,
        faults=(Fault("the sign of (21)", "CVXPY's optima", {"sign": 1.0}),),
    ),
    derived(
        "DUALFL-G1",
        "the gap (7) for nu = mu, and a rule in its place",
        "Gamma can be infinite at every iterate of a convergent local solver when nu = mu. With u_j in dg_j(theta_j), "
        "stopping at ||u_j + nu (theta_j - zeta_j)||^2/(2 nu) <= delta_n/N and sending zeta_j - u_j/nu solves the "
        "block of Lemma 6.4 to delta_n/N, for every nu <= mu.",
        [Step("infinite at every iterate", INFINITE), Step("repaired rule", inexact.repaired_error)],
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
    ),
]
