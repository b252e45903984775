"""Section 3.1, Inexact local solvers: the dual of the local problem (Proposition 3.1) and the primal-dual gap (7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    at_most,
    disproved,
    dot,
    equal,
    lemma,
    norm2,
    refute,
)
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.duality import local_dual, local_gap, local_primal
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, play_exactly, symbols
from paper_checks.dualfl.certified_runs import small_problems
from paper_checks.dualfl.notation import CONVEX, claim, local_problem
from paper_checks.steps import Step, equality
from problems.quadratics import random_quadratics, scalar_quadratics

CLAIMS: list[Claim] = []

# ---- Proposition 3.1 -------------------------------------------------------------------------------------------------


def zero_gap(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E^{n,j}(o) + c E_d^{n,j}(nu (zeta - o)) = 0 at the solution o of (2)."""
    local = local_problem(w, p)
    return local.at_o * c.c + local.least


GAP_AT_MOST, GAP_AT_LEAST = equality("gap", "Proposition 3.1", "0 < nu", zero_gap)


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


def local_instances(context: Context, *, gap: Callable[..., Any] = local_gap, step: float = 1.0) -> Iterator[Finding]:
    """The library's local values and gaps at solutions and beside them."""
    sums, sizes = [], []
    for problem in small_problems(context):
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


CLAIMS += [
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
    )
]


# ---- The gap (7) -----------------------------------------------------------------------------------------------------


def play_gap(world: World, p: Parameters, last: int) -> list[SimpleNamespace]:
    """A local problem and its solution o: Gamma at any theta, and the terms of Gamma(o), of which it is the largest."""
    local = local_problem(world, p)
    xi, best = (local.zeta - local.x) * p.nu, (local.zeta - local.o) * p.nu
    conjugate, z = world.value("conjugate of g at xi"), world.vector("z")
    world.assume("Fenchel", dot(xi, local.o) - local.g_at_o - conjugate)
    _, at_z = world.at(local.g, z, "g at z")
    term = local.at_o + local.dual_of(best, dot(best, z) - at_z)
    gap = local.at_x + local.dual_of(xi, conjugate)
    return [SimpleNamespace(x=local.x, o=local.o, Gamma=gap, term=term, own=local.at_o + local.least)] * (last + 1)


#: T is any term of Gamma(o), <xi, z> - g(z) for g^*(xi) at xi = nu (zeta - o), and T_o that of z = o
ZERO = Theorem(
    name="(7)",
    region="0 < nu",
    rounds={"n": 0},
    states=PlayedStates(play_gap),
    assumed={"Fenchel": "g^* at xi is at least <xi, o> - g(o)"},
    quantities={"Gamma": "Gamma", "d2": "norm2(x - o)", "T": "term", "T_o": "own"},
    claim=("0 <= Gamma[n]", "nu*d2[n] <= Gamma[n]", "T[n] <= 0", "T_o[n] == 0"),
    proof="""
      sign:  claim 1    by derivation
      apart: claim 2    by derivation
      terms: claim 3    by derivation
      own:   claim 4    by identity
    """,
)

#: a planted fault
FARTHER = replace(ZERO, claim=(ZERO.claims[0], "11/10*nu*d2[n] <= Gamma[n]", *ZERO.claims[2:]))

CLAIMS += [
    claim(
        "DUALFL-C1",
        "Section 3.1, (7)",
        "Gamma is not negative, and theta_j solves the local problem (2) if and only if Gamma(theta_j) = 0.",
        [Step("the gap", ZERO, wrong={"a tenth more of the squared distance": FARTHER})],
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu; no smoothness"],
        readings=[
            "Gamma(o) is the largest of its terms T, so that it is 0; and where Gamma(theta) is 0, theta is the solution o."
        ],
    )
]


# ---- After (7) -------------------------------------------------------------------------------------------------------


def local_gaps(w: World, p: Parameters) -> tuple[Any, Any]:
    """Gamma(theta) and the gap of the local problem (2) at theta = 0, zeta that of the client; f - (mu/2) ||.||^2 is convex.

    Gamma(theta) = g(theta) + g^*(xi) - <xi, theta> with xi = nu (zeta - theta), g^*(xi) = <xi, z> - g(z) where xi is a subgradient of g at z;
    the local solution o has nu zeta as a subgradient of f.
    """
    h = w.function(None, 0)
    zeta, z, o = w.vector("zeta"), w.vector("z"), w.vector("o")
    x = zeta * 0
    xi = (zeta - x) * p.nu

    def of(y: Any, name: str, slope: Any = None) -> Any:
        """f at y, where it has the subgradient ``slope``."""
        _, value = w.at(h, y, name, g=None if slope is None else slope - y * p.mu)
        return value + norm2(y) * (p.mu / 2)

    f_x, f_z, f_o = of(x, "theta"), of(z, "z", xi + z * p.nu), of(o, "o", zeta * p.nu)
    gap = f_x - norm2(x) * (p.nu / 2) + dot(xi, z) - (f_z - norm2(z) * (p.nu / 2)) - dot(xi, x)
    return gap, f_x - dot(zeta, x) * p.nu - (f_o - dot(zeta, o) * p.nu)


@lemma("primal-dual gap", "ours", "0 < nu < mu", c=1)
def primal_dual_gap(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """Gamma(theta) <= c mu/(mu - nu) times the gap of the local problem (2), without smoothness (`local_gaps`)."""
    gap, local = local_gaps(w, p)
    return gap - local * (c.c * p.mu / (p.mu - p.nu))


@lemma("the residual and the energy gap", "ours", "0 < L", c=1)
def residual_and_energy(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||r||^2 <= c 2 L (E(theta) - E(o)) for r = grad f(theta) - nu zeta, with f convex and L-smooth; theta = 0, s is nu zeta."""
    f = w.function(p.L, 0)
    s, o = w.vector("nu zeta"), w.vector("o")
    g, f_x = w.at(f, o * 0, "grad f(theta)")
    _, f_o = w.at(f, o, "grad f(o)", g=s)
    return norm2(g - s) - (f_x - f_o + dot(s, o)) * (c.c * 2 * p.L)


@lemma("dual error of the repaired upload", "ours", "0 < nu", c=1)
def repaired_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """With a subgradient u of g at theta, xi = u has E_d^{n,j}(xi) - min E_d^{n,j} <= c ||u + nu (theta - zeta)||^2/(2 nu), for every nu <= mu."""
    g = w.function(None, 0, name="g")
    zeta, x, o, u = (w.vector(name) for name in ("zeta", "theta", "o", "u"))
    best = (zeta - o) * p.nu
    _, at_o = w.at(g, o, "g at o", g=best)
    _, at_x = w.at(g, x, "g at theta", g=u)

    def value(xi: Any, y: Any, g_y: Any) -> Any:
        return dot(xi, y) - g_y + norm2(xi - zeta * p.nu) / (2 * p.nu)

    return value(u, x, at_x) - value(best, o, at_o) - norm2(u + (x - zeta) * p.nu) * (c.c / (2 * p.nu))


def replay_gap(instance: Mapping[str, Any]) -> Replay:
    """A term of Gamma of the first client in round 1, after some gradient steps, against a tolerance that its energy gap meets.

    Clients (mu/2) x^2 and (mu/2) x^2 + ((L - mu)/2) (x - 1)^2; DualFL from 0 with K gradient steps of size 1/L, at least 1 round.
    """
    mu, L, nu, tolerance, z = (Fraction(instance[name]) for name in ("mu", "L", "nu", "tolerance", "z"))
    steps = int(instance["steps"])
    found = []
    for number in (float, Fraction):
        a = np.array([number(mu), number(L)], dtype=None if number is float else object)
        centre = np.array([number(0), (a[1] - a[0]) / a[1]], dtype=a.dtype)
        problem = scalar_quadratics(a, centre)
        lr: Any = 1 / number(L)
        method = DualFL(number(nu), number(0), GradientSteps(steps, lr))
        states: Any = play_exactly(method, problem, np.array([number(0)], dtype=object), 2)
        x, zeta = states[2].x_i[0, 0], states[1].zeta_i[0, 0]
        xi, curve = number(nu) * (zeta - x), (number(mu) - number(nu)) / 2
        energy = number(mu) / 2 * (x - number(nu) / number(mu) * zeta) ** 2
        found.append((curve * x**2 + xi * number(z) - curve * number(z) ** 2 - xi * x, energy, zeta))
    measured, (exact, energy, zeta) = found[0][0], (Fraction(str(value)) for value in found[1])
    return Replay(
        f"a term of Gamma after {steps} local steps, where the local energy gap is {float(energy):.3g}",
        float(measured),
        float(tolerance),
        exact,
        tolerance,
        "fractions",
        (
            assume("nu in (0, mu]", "nu <= mu", nu=nu, mu=mu),
            assume("strongly convex and smooth", "mu < L", mu=mu, L=L),
            assume("the energy gap meets the tolerance", "energy <= tolerance", energy=energy, tolerance=tolerance),
            assume("the control variate has moved", "0 < zeta", zeta=zeta),
        ),
    )


#: nu = mu = 1, L = 2, 40 local steps; the tolerance is (8) with N = 2, n = 1, gamma = 1; z is farther out than 1/xi, about 2^43
INSTANCE = {"mu": "1", "L": "2", "nu": "1", "steps": "40", "tolerance": "1/64", "z": str(2**44)}


def infinite_all_the_way(ctx: Context, *, nu: str = INSTANCE["nu"]) -> Iterator[Finding]:
    """An instance after forty steps in fractions, and after any number of them in symbols, against the sentence for nu = mu."""
    text = "Gamma is +infinity at every iterate, see below; here after forty steps."
    yield refute("nu = mu", replay_gap, {**INSTANCE, "nu": nu}, text=text)
    modulus, step = Fraction(nu), 1 / Fraction(INSTANCE["L"])
    x, zeta, z = symbols("x zeta z")
    xi, curve = modulus * (zeta - x), (1 - modulus) / 2
    term = curve * x**2 + xi * z - curve * z**2 - xi * x
    after = x - step * (x - modulus * zeta)
    never = is_zero(after - zeta - (1 - step) * (x - zeta)) and is_zero(term - (zeta - x) * (z - x))
    text = (
        "for f = x^2/2 and nu = mu = 1 the terms of Gamma are (zeta - theta)(z - theta), unbounded in z unless theta is the solution zeta, "
        f"and a gradient step multiplies theta - zeta by 1 - {step}, so that no number of them makes Gamma finite from any other start"
    )
    yield disproved("every number of steps", compare(step, "<", 1) and never, text)


CLAIMS += [
    claim(
        "DUALFL-C2",
        "Section 3.1, after (7)",
        "If the local problem (2) is solved by a convergent iterative algorithm, the gap Gamma can be made arbitrarily small by enough inner "
        "iterations, so that it is an implementable criterion.",
        [
            Step("nu < mu", primal_dual_gap, "repaired"),
            Step("every nu", residual_and_energy, "repaired"),
            Step("what the residual bounds", repaired_error, "repaired"),
        ],
        assumptions=["f_j mu-strongly convex and L-smooth, nu in (0, mu]"],
        repaired="For nu < mu, Gamma(theta) <= mu/(mu - nu) times the gap of the local problem, which a convergent solver drives to zero. For "
        "every nu <= mu it does so to ||r||^2/(2 nu) <= (L/nu) times that gap, r = grad f_j(theta) - nu zeta_j, which needs no conjugate and bounds "
        "the dual error where theta - r/nu is sent.",
        readings=[
            "Read as printed: for nu in (0, mu], a convergent solver makes Gamma arbitrarily small. The theorems only assume (8) and (9), and are "
            "not touched; at nu = mu, which the experiments use, an iterative solver can meet neither. 'Observable by simple arithmetic' needs "
            "g_j^* in closed form, too."
        ],
        besides=infinite_all_the_way,
        faults=[
            Fault(f"nu a little below mu, {part}", part, {"nu": "99/100"}, holds=True)
            for part in ("nu = mu", "every number of steps")
        ],
        replay=replay_gap,
    )
]
