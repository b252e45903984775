"""Lemmas on inexact local solves, in the notation of `lemmas`: Algorithm 2 with errors delta_n, and what the local gap Gamma says of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import dot, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World


def local_problem(w: World, p: Parameters) -> SimpleNamespace:
    """(2) and (6) of a client: zeta, a point theta, the solution o; g = f - (nu/2) ||.||^2 is convex.

    By the optimality of o, g^*(nu (zeta - o)) = <nu (zeta - o), o> - g(o).
    """
    g = w.function(None, 0, name="g")
    zeta, x, o = w.vector("zeta"), w.vector("theta"), w.vector("o")
    best = (zeta - o) * p.nu
    _, at_o = w.at(g, o, "g at o", g=best)
    _, at_x = w.at(g, x, "g at theta")

    def primal(y: Any, value: Any) -> Any:
        return value + norm2(y) * (p.nu / 2) - dot(zeta, y) * p.nu

    def dual_of(xi: Any, conjugate: Any) -> Any:
        return conjugate + norm2(xi - zeta * p.nu) / (2 * p.nu)

    values = {"at_x": primal(x, at_x), "at_o": primal(o, at_o), "least": dual_of(best, dot(best, o) - at_o)}
    return SimpleNamespace(g=g, zeta=zeta, x=x, o=o, g_at_o=at_o, dual_of=dual_of, **values)


@lemma("Gamma bounds the dual error", "Lemma 6.6", "0 < nu", c=1)
def gap_bounds_the_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E_d^{n,j}(xi) - min E_d^{n,j} <= Gamma(theta) - c (nu/2) ||theta - o||^2 at xi = nu (zeta - theta).

    Gamma is the sum of the errors of (2) and of (6), and the value g^*(xi) in it may be any number.
    """
    local = local_problem(w, p)
    value = local.dual_of((local.zeta - local.x) * p.nu, w.value("conjugate of g at xi"))
    return value - local.least - (local.at_x + value) + norm2(local.x - local.o) * (c.c * p.nu / 2)


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
