"""Section 6.4, Proofs of the main theorems: (29) and (30)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Claim, bar, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.dualfl.notation import CONVEX, claim
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- (29) ------------------------------------------------------------------------------------------------------------


def dual(w: World, p: Parameters, modulus: Any) -> SimpleNamespace:
    """The dual problem seen from xi* = 0 and theta* = 0: g_j^* less <theta*, .>, so that all of it is least at 0.

    ``modulus`` is that of the strong convexity of g_j^*. `at` gives g_j^* at a point as its value, with the subgradient.
    """
    h = w.function(None, 0, client=True, name="g*")

    def at(xi: Any, name: str, s: Any = None) -> tuple[Any, Any]:
        slope = None if s is None else s - xi * modulus
        rest, value = w.at(h, xi, name, g=slope)
        return rest + xi * modulus, value + norm2(xi) * (modulus / 2)

    def energy(xi: Any, value: Any) -> Any:
        return norm2(bar(xi)) / (2 * p.nu) + value

    return SimpleNamespace(at=at, energy=energy)


@lemma("primal error", "(29)", "0 < nu", c=1)
def primal_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(29): ||theta - theta*||^2 <= c (2/(N nu)) (E_d(xi) - E_d*), theta = -mean xi/nu."""
    d = dual(w, p, p.nu * 0)
    x = w.vector("xi", True)
    _, value = d.at(x, "theta")
    _, least = d.at(x * 0, "theta*", x * 0)
    return norm2(bar(x) / p.nu) - (d.energy(x, value) - d.energy(x * 0, least)) * (c.c * 2 / p.nu)


CLAIMS += [
    claim(
        "DUALFL-E29",
        "(29)",
        "||theta^(n) - theta*||^2 <= (2/(N nu)) (E_d(xi^(n)) - E_d*).",
        [Step("(29)", primal_error)],
        assumptions=[CONVEX],
    )
]


# ---- (30) ------------------------------------------------------------------------------------------------------------


@lemma("energy error", "(30)", "0 < L", c=1)
def energy_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(30): E(theta) - E* <= c (L/2) ||theta - theta*||^2; theta* = 0, where the mean gradient is 0."""
    f = w.function(p.L, 0, client=True)
    g = w.vector("grad f_j(theta*)", True)
    g = g - bar(g)
    x = w.vector("theta")
    _, least = w.at(f, g * 0, "theta*", g=g)
    _, v = w.at(f, x + g * 0, "grad f_j(theta)")
    return v - least - norm2(x) * (c.c * p.L / 2)


CLAIMS += [
    claim(
        "DUALFL-E30",
        "(30)",
        "E(theta) - E* <= (L/2) ||theta - theta*||^2.",
        [Step("(30)", energy_error)],
        assumptions=["f_j mu-strongly convex and L-smooth"],
    )
]
