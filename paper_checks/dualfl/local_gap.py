"""The local primal-dual gap Gamma of (7): what its zero says, and where it is no stopping criterion.

Gamma(theta) = g(theta) + g^*(xi) - <xi, theta> with g = f - (nu/2) ||.||^2 and xi = nu (zeta - theta), which is the largest value of
g(theta) + <xi, z> - g(z) - <xi, theta> over z. The local problem (2) is f - nu <zeta, .>, its solution o, where nu zeta is a subgradient of f.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import (
    Context,
    Fault,
    Finding,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    disproved,
    dot,
    lemma,
    norm2,
    refute,
)
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, play_exactly, symbols
from paper_checks.dualfl import inexact, lemmas
from paper_checks.dualfl.common import claim
from paper_checks.steps import Step
from problems.quadratics import scalar_quadratics


def play_gap(world: World, p: Parameters, last: int) -> list[SimpleNamespace]:
    """A local problem and its solution o: Gamma at any theta, and the terms of Gamma(o), of which it is the largest."""
    local = inexact.local_problem(world, p)
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


@lemma("the residual and the energy gap", "ours", "0 < L", c=1)
def residual_and_energy(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||r||^2 <= c 2 L (E(theta) - E(o)) for r = grad f(theta) - nu zeta, with f convex and L-smooth; theta = 0, s is nu zeta."""
    f = w.function(p.L, 0)
    s, o = w.vector("nu zeta"), w.vector("o")
    g, f_x = w.at(f, o * 0, "grad f(theta)")
    _, f_o = w.at(f, o, "grad f(o)", g=s)
    return norm2(g - s) - (f_x - f_o + dot(s, o)) * (c.c * 2 * p.L)


# ---- C2: an iterative solver whose gap is infinite all the way -----------------------------------------------------------------


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


CLAIMS = [
    claim(
        "DUALFL-C1",
        "Section 3.1, (7)",
        "Gamma is not negative, and theta_j solves the local problem (2) if and only if Gamma(theta_j) = 0.",
        [Step("the gap", ZERO, wrong={"a tenth more of the squared distance": FARTHER})],
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu; no smoothness"],
        readings=[
            "Gamma(o) is the largest of its terms T, so that it is 0; and where Gamma(theta) is 0, theta is the solution o."
        ],
    ),
    claim(
        "DUALFL-C2",
        "Section 3.1, after (7)",
        "If the local problem (2) is solved by a convergent iterative algorithm, the gap Gamma can be made arbitrarily small by enough inner "
        "iterations, so that it is an implementable criterion.",
        [
            Step("nu < mu", lemmas.primal_dual_gap, "repaired"),
            Step("every nu", residual_and_energy, "repaired"),
            Step("what the residual bounds", inexact.repaired_error, "repaired"),
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
    ),
]
