"""Section 6.1, Dual formulation: Fenchel-Rockafellar duality (Proposition 6.1), the dual problem (20), and (21)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from types import SimpleNamespace as State
from typing import Any

import numpy as np

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Lemma,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    at_most,
    bar,
    dot,
    norm2,
    refute,
)
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.duality import dualfl_gap
from fedtheory.core.problem import constant
from fedtheory.measures.ground_truth import ground_truth, solve_consensus
from paper_checks.dualfl.certified_runs import small_problems
from paper_checks.dualfl.notation import CONVEX, claim
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Proposition 6.1 -------------------------------------------------------------------------------------------------


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


@lru_cache(maxsize=4)
def optima(seed: int) -> list[tuple[Any, float, Any, Any, Any]]:
    """Of each instance: problem, nu = mu/2, certified minimum, CVXPY's point and its dual point xi_j = y_j - nu x."""
    found = []
    for problem in small_problems(Context(seed=seed)):
        nu = 0.5 * float(constant(problem, "mu").value)
        truth = ground_truth(problem)
        x, y, _, _ = solve_consensus(problem)
        found.append((problem, nu, truth, x, y - y.mean(axis=0) - nu * x))
    return found


def inclusion_and_optima(context: Context, *, a: str = "2") -> Iterator[Finding]:
    """The printed inclusion in G where G^* belongs; strong duality on instances."""
    yield refute("Kx* in dG(y*)", replay_inclusion, {"a": a})
    for problem, nu, truth, x, xi in optima(context.seed):
        gap = float(dualfl_gap(problem, x[None, :], xi, nu))
        text = f"primal and dual optima differ by {gap:.1g}"
        yield at_most(f"strong duality, {problem.name}", abs(gap), 1e-7 * (1 + abs(truth.f)), "numeric", text)


CLAIMS += [
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
    )
]


# ---- The dual problem (20) -------------------------------------------------------------------------------------------


def play_pair(world: World, p: Parameters, last: int) -> list[State]:
    """Any theta and xi; theta*, where g_j has the subgradient s_j* - nu theta* = xi_j*, mean s_j* = 0."""
    g = world.function(None, 0, client=True, name="g")
    star, s, x, xi = (
        world.vector(name, client) for name, client in (("theta*", False), ("s", True), ("x", False), ("xi", True))
    )
    s = s - bar(s)
    best = s - star * p.nu
    _, at_star = world.at(g, star + s * 0, "g at star", g=best)
    _, at_x = world.at(g, x + s * 0, "g at theta")
    conjugate = world.value("mean conjugate at xi")
    young = at_star + conjugate - dot(xi, star)
    world.assume("Fenchel", -young)
    dual_least = norm2(bar(best)) / (2 * p.nu) + dot(best, star) - at_star
    pair = State(
        x=x, xi=xi, x_star=star, s_star=s, young=young, least=at_star + norm2(star) * (p.nu / 2), dual_least=dual_least
    )
    pair.energy, pair.dual_energy = at_x + norm2(x) * (p.nu / 2), norm2(bar(xi)) / (2 * p.nu) + conjugate
    return [pair] * (last + 1)


PAIR = PlayedStates(play_pair)

#: any theta and xi; E and D are E(theta) and E_d(xi)/N, Emin and Dmin those at theta* and xi*, FY the mean of the gaps of Fenchel and Young at theta*
OF_PAIR: dict[str, Any] = {
    "region": "0 < nu",
    "rounds": {"n": 0},
    "states": PAIR,
    "assumed": {"Fenchel": "g_j^*(xi_j) is at least <xi_j, theta*> - g_j(theta*)"},
    "added": ("s_star",),
}

#: what gives xi*
SUM_RULE = (
    "subgradients s_j* of f_j at theta* with the sum 0 (Moreau and Rockafellar: there are some, as f_j is finite)"
)

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


def dual_optima(context: Context, *, copies: float = 1.0) -> Iterator[Finding]:
    """CVXPY's primal and dual optima of three instances."""
    gaps, limits, told = [], [], []
    for problem, nu, truth, x, xi in optima(context.seed):
        gaps.append(float(dualfl_gap(problem, x[None, :], copies * xi, nu)))
        limits.append(1e-7 * (1 + abs(truth.f)))
        told.append(f"{problem.name}: {gaps[-1]:.1g}, minimum certified to {truth.gap:.1g}")
    text = "E + E_d/N at the solver's points, by conjugates: " + "; ".join(told)
    yield at_most("CVXPY's optima", np.abs(gaps), limits, "numeric", text)


CLAIMS += [
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
    )
]


# ---- The relation (21) -----------------------------------------------------------------------------------------------

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


def primal_from_dual(context: Context, *, sign: float = -1.0) -> Iterator[Finding]:
    """CVXPY's dual optima give its primal ones by (21)."""
    apart, limits, told = [], [], []
    for problem, nu, truth, _, xi in optima(context.seed):
        apart.append(float(np.linalg.norm(sign * xi.mean(axis=0) / nu - truth.x)))
        limits.append(truth.distance + 1e-5 * (1 + float(np.linalg.norm(truth.x))))
        told.append(f"{problem.name}: {apart[-1]:.1g}, theta* certified to {truth.distance:.1g}")
    yield at_most("CVXPY's optima", apart, limits, "numeric", "||-mean xi*/nu - theta*||: " + "; ".join(told))


CLAIMS += [
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
    )
]
