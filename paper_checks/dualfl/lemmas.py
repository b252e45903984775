"""DualFL's proof steps as lemmas, in the paper's notation: f_j, g_j = f_j - (nu/2) ||.||^2, their conjugates, N clients, E = mean_j f_j.

The dual problem is E_d(xi) = F_d(xi) + G_d(xi) with F_d = ||sum_j xi_j||^2/(2 N nu) and G_d = sum_j g_j^*(xi_j) (20), (22); forms below
are divided by N. Its minimisers have theta* = -mean_j xi_j*/nu in the subdifferential of every g_j^* at xi_j* (21). "L-smooth" has its
usual meaning (the displayed definition of Section 2 repeats strong convexity).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import bar, dot, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World


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


def round_objective(p: Any, eta: Any, xi: Any, value: Any) -> Any:
    """E_d^n(xi)/N of (23), up to what does not depend on xi, where the mean of g_j^*(xi_j) is ``value``."""
    return dot(bar(eta), xi - eta) / p.nu + norm2(xi - eta) / (2 * p.nu) + value


@lemma("primal error", "(29)", "0 < nu", c=1)
def primal_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(29): ||theta - theta*||^2 <= c (2/(N nu)) (E_d(xi) - E_d*), theta = -mean xi/nu."""
    d = dual(w, p, p.nu * 0)
    x = w.vector("xi", True)
    _, value = d.at(x, "theta")
    _, least = d.at(x * 0, "theta*", x * 0)
    return norm2(bar(x) / p.nu) - (d.energy(x, value) - d.energy(x * 0, least)) * (c.c * 2 / p.nu)


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


@lemma("F_d is 1/nu-smooth", "Section 6.2", "0 < nu", c=1)
def smooth_part(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad F_d(xi) - grad F_d(eta)||^2 <= c ||xi - eta||^2/nu^2, where grad F_d(xi) has the blocks mean xi/nu; z = xi - eta."""
    z = w.vector("xi - eta", True)
    return norm2(bar(z) / p.nu) - norm2(z) * (c.c / p.nu**2)


def strong_conjugate(w: World, p: Parameters, c: LemmaConstants, bend: Any) -> Any:
    """g^*(xi) >= <xi, y> - g(y) + c ||xi - grad g(y)||^2/(2 bend) for any xi and y, where g is convex and (L - nu)-smooth, L - nu <= bend.

    By Fenchel's inequality at y + (xi - grad g(y))/bend; <grad g(y), y> - g(y) is g^* at grad g(y), of which y is a subgradient.
    """
    g = w.function(p.L - p.nu, 0, name="g")
    y, xi, conjugate = w.vector("y"), w.vector("xi"), w.value("conjugate at xi")
    slope, value = w.at(g, y, "gradient at y")
    near = y + (xi - slope) / bend
    _, at_near = w.at(g, near, "gradient near y")
    w.assume("Fenchel", dot(xi, near) - at_near - conjugate)
    return dot(xi, y) - value + norm2(xi - slope) * (c.c / (2 * bend)) - conjugate


@lemma("G_d is 1/(L - nu)-strongly convex", "Section 6.2", "0 < nu < L", c=1)
def convex_part(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """g_j^*(xi) >= g_j^*(eta) + <theta, xi - eta> + c ||xi - eta||^2/(2 (L - nu)) for any xi, at every eta with a subgradient theta."""
    return strong_conjugate(w, p, c, p.L - p.nu)


@lemma("conjugates of smooth clients", "Section 6.2", "0 < nu, 0 < r < 1, nu < L <= nu/r**2", c=1)
def smooth_conjugate(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The same with the modulus rho/(nu (1 - rho)), rho = r^2 <= nu/L."""
    return strong_conjugate(w, p, c, p.nu * (1 - p.r**2) / p.r**2)


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


@lemma("first round", "ours", "0 < mu < L", c=1)
def first_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||theta^(1) - theta*||^2 <= c (1/mu - 1/L)^2 V*/4, V* = mean ||grad f_j(theta*)||^2; theta* = 0, and theta_j^(1) minimises f_j."""
    f = w.function(p.L, p.mu, client=True)
    x, g = w.vector("theta_j", True), w.vector("grad f_j(theta*)", True)
    g = g - bar(g)
    w.at(f, x, "f_j(theta_j)", g=x * 0)
    w.at(f, x * 0, "f_j(theta*)", g=g)
    return norm2(bar(x)) - norm2(g) * (c.c * (1 / p.mu - 1 / p.L) ** 2 / 4)


@lemma("second round", "ours", "0 < mu, 0 < nu <= mu", c=1)
def second_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||theta^(2) - theta*||^2 <= c V*/(4 mu (mu + nu)) without smoothness: zeta_j^(1) = theta^(1) - theta_j^(1); theta* = 0."""
    h = w.function(None, 0, client=True)
    x, y, g = w.vector("theta_j 1", True), w.vector("theta_j 2", True), w.vector("s_j*", True)
    g = g - bar(g)
    w.at(h, x, "round 1", g=-(x * p.mu))
    w.at(h, y, "round 2", g=(bar(x) - x) * p.nu - y * p.mu)
    w.at(h, x * 0, "theta*", g=g)
    return norm2(bar(y)) - norm2(g) * (c.c / (4 * p.mu * (p.mu + p.nu)))
