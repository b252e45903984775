"""Lemmas on rounds with inexact local solves: Algorithm 2 with errors delta_n, and what the local gap Gamma has to do with them.

Notation of `lemmas`. In the round at eta, with the exact step xi^ (the minimiser of E_d^n) and any point xi+, the error of xi+ is
E_d^n(xi+) - E_d^n(xi^), at most delta_n by (23).
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Lemma, bar, dot, norm2
from paper_checks.dualfl.lemmas import dual


def inexact_round(w: Any, p: Any, rho: Any) -> SimpleNamespace:
    """xi = xi^n, u = u^n, eta by the inertia with t = t_n, the exact step xi^, any point xi+, and E_d^n there."""
    d = dual(w, p, rho / (p.nu * (1 - rho)))
    x, u, s, xn = (w.vector(name, True) for name in ("xi", "u", "theta_j^", "xi+"))
    eta = x + (u - x) * ((1 - p.t * rho) / (p.t * (1 - rho)))
    exact = eta - bar(eta) - s * p.nu
    _, old = d.at(x, "theta")
    _, best = d.at(exact, "theta^", s)
    _, new = d.at(xn, "theta+")
    _, least = d.at(x * 0, "theta*", x * 0)

    def model(xi: Any, value: Any) -> Any:
        """E_d^n(xi)/N of (23), up to what does not depend on xi."""
        return dot(bar(eta), xi - eta) / p.nu + norm2(xi - eta) / (2 * p.nu) + value

    error = model(xn, new) - model(exact, best)
    gaps = d.energy(x, old) - d.energy(x * 0, least), d.energy(xn, new) - d.energy(x * 0, least)
    return SimpleNamespace(x=x, u=u, exact=exact, new=xn, error=error, gap=gaps[0], gap_new=gaps[1])


def inexact_step(smooth: bool) -> Callable[[Any, Any, Any], Any]:
    """One round with t = t_n, where u^ = xi^n + t (xi^ - xi^n) belongs to the exact step, and the error is that of xi+:

    2 nu (1 - rho) t^2 (E_d(xi+) - E_d* - error) + ||u^ - xi*||^2
        <= 2 nu (1 - rho) t (t - 1) (E_d(xi^n) - E_d*) + c (1 - rho t) ||u^n - xi*||^2.
    """

    def build(w: Any, p: Any, c: Any) -> Any:
        rho = p.r**2 if smooth else p.nu * 0
        at = inexact_round(w, p, rho)
        weight = 2 * p.nu * (1 - rho)
        left = (at.gap_new - at.error) * (weight * p.t**2) + norm2(at.exact * p.t - at.x * (p.t - 1))
        return left - at.gap * (weight * p.t * (p.t - 1)) - norm2(at.u) * (c.c * (1 - rho * p.t))

    return build


def error_of_step(smooth: bool) -> Callable[[Any, Any, Any], Any]:
    """||xi+ - xi^||^2 <= c 2 nu (1 - rho) error: E_d^n is 1/(nu (1 - rho))-strongly convex."""

    def build(w: Any, p: Any, c: Any) -> Any:
        rho = p.r**2 if smooth else p.nu * 0
        at = inexact_round(w, p, rho)
        return norm2(at.new - at.exact) - at.error * (c.c * 2 * p.nu * (1 - rho))

    return build


PLAIN, SMOOTH = "0 < nu, 1 <= t", "0 < nu, 0 < r < 1, 1 <= t <= 1/r"
STEP = Lemma("inexact step, rho = 0", "Proposition 6.2", PLAIN, inexact_step(False), {"c": 1})
STEP_SMOOTH = Lemma("inexact step, rho = r^2", "Proposition 6.3", SMOOTH, inexact_step(True), {"c": 1})
ERROR = Lemma("distance to the exact step, rho = 0", "(23)", PLAIN, error_of_step(False), {"c": 1})
ERROR_SMOOTH = Lemma("distance to the exact step, rho = r^2", "(23)", SMOOTH, error_of_step(True), {"c": 1})


def local_problem(w: Any, p: Any) -> SimpleNamespace:
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

    least = dual_of(best, dot(best, o) - at_o)
    return SimpleNamespace(
        zeta=zeta,
        x=x,
        o=o,
        best=best,
        g_x=at_x,
        primal=primal,
        dual_of=dual_of,
        at_x=primal(x, at_x),
        at_o=primal(o, at_o),
        least=least,
    )


def gap_bounds_the_error(w: Any, p: Any, c: Any) -> Any:
    """E_d^{n,j}(xi) - min E_d^{n,j} <= Gamma(theta) - c (nu/2) ||theta - o||^2 at xi = nu (zeta - theta).

    Gamma is the sum of the errors of (2) and of (6), and the value g^*(xi) in it may be any number.
    """
    local = local_problem(w, p)
    value = local.dual_of((local.zeta - local.x) * p.nu, w.value("conjugate of g at xi"))
    return value - local.least - (local.at_x + value) + norm2(local.x - local.o) * (c.c * p.nu / 2)


GAP_BOUNDS_THE_ERROR = Lemma("Gamma bounds the dual error", "Lemma 6.6", "0 < nu", gap_bounds_the_error, {"c": 1})


def repaired_error(w: Any, p: Any, c: Any) -> Any:
    """With a subgradient u of g at theta, xi = u has E_d^{n,j}(xi) - min E_d^{n,j} <= c ||u + nu (theta - zeta)||^2/(2 nu), for every nu <= mu."""
    g = w.function(None, 0, name="g")
    zeta, x, o, u = (w.vector(name) for name in ("zeta", "theta", "o", "u"))
    best = (zeta - o) * p.nu
    _, at_o = w.at(g, o, "g at o", g=best)
    _, at_x = w.at(g, x, "g at theta", g=u)

    def value(xi: Any, y: Any, g_y: Any) -> Any:
        return dot(xi, y) - g_y + norm2(xi - zeta * p.nu) / (2 * p.nu)

    return value(u, x, at_x) - value(best, o, at_o) - norm2(u + (x - zeta) * p.nu) * (c.c / (2 * p.nu))


REPAIRED_ERROR = Lemma("dual error of the repaired upload", "ours", "0 < nu", repaired_error, {"c": 1})
