"""SAFARI's proof steps as lemmas, in the paper's notation: x = x_r, g = grad F(x), K local steps of size eta_c, one server step of size eta_s.

A pair (i, k) of a client that takes part and a local step counts as one "client" of the lemma, with the function F_i and the point
y = x_{r,k}^i, so that averages over clients are averages over all m K pairs, whatever m and K are, and G = (1/m) sum_i sum_k grad F_i(y) is
K times an average. Who takes part is free: g is a vector of its own, and of the clients it is known that ||grad F_i(x) - g|| <= sigma_G
only. Noise has the mean 0: where it matters, outcomes are the "clients". Functions are L-smooth and need not be convex unless said.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Lemma, bar, dot, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World

STEPS = "0 < L, 1 <= K, 0 < eta"
NOISE = "0 < L, 0 < eta, 0 < s2"


# ---- a round of the server ------------------------------------------------------------------------------------------


def server_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(28): ||g||^2 <= (2/eta)(F(x) - E F(x+)) + (L eta - 1) ||g||^2 + c L eta sigma_s^2, x+ = x - eta (g + xi)."""
    f = w.function(p.L, -p.L, client=True, name="F")
    g, drawn = w.vector("g"), w.vector("xi", True)
    xi = drawn - bar(drawn)
    w.assume("noise", norm2(xi) - p.s2)
    x = g * 0
    _, v = w.at(f, x, "F", g=g)
    _, vn = w.at(f, x - (xi + g) * p.eta, "F+")
    return norm2(g) - (v - vn) * (2 / p.eta) - norm2(g) * (p.L * p.eta - 1) - c.c * p.L * p.eta * p.s2


SERVER_STEP = Lemma("server step", "(25)-(28)", NOISE, server_step, {"c": 1})


# ---- a round of clients ---------------------------------------------------------------------------------------------


def local_work(w: World, p: Parameters, convex: bool = False) -> SimpleNamespace:
    """Points y of all pairs, their gradients, those at x, and the gradient g of F there."""
    f = w.function(p.L, 0 if convex else -p.L, client=True, name="F_i")
    y, g = w.vector("y", True), w.vector("g")
    x = g * 0
    gx, v = w.at(f, x + y * 0, "F_i")
    gy, vy = w.at(f, y, "F_i(y)")
    w.assume("dissimilarity", norm2(gx - g) - p.G2)
    return SimpleNamespace(**locals())


def inner_product_below(
    slope: Any, G: Any, drift: Any, eta: Any, K: Any, L: Any, sigma_G2: Any, c: Any = 1, d: Any = 1
) -> Any:
    """Right side of (36), with squared lengths of the gradient at x, of G, and of y - x."""
    return slope * (-K * eta / 2) - G * (eta / (2 * K)) + drift * (d * eta * K * L**2) + c * eta * K * sigma_G2


def inner_product_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(36): <g, -eta G> <= -(K eta/2)||g||^2 - (eta/(2K))||G||^2 + c eta K sigma_G^2 + d eta K L^2 mean ||y - x||^2."""
    r = local_work(w, p)
    G = bar(r.gy) * p.K
    allowed = inner_product_below(norm2(r.g), norm2(G), norm2(r.y - r.x), p.eta, p.K, p.L, p.G2, c.c, c.d)
    return allowed * -1 - dot(r.g, G) * p.eta


INNER_PRODUCT = Lemma("inner product", "(31)-(36)", f"{STEPS}, 0 <= G2", inner_product_step, {"c": 1, "d": 1})


# ---- strongly convex ------------------------------------------------------------------------------------------------


def server_distance(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(58): E||x+ - x*||^2 <= (1 - 2 c eta L mu/(L+mu))||x - x*||^2 + eta (eta - 2/(L+mu))||g||^2 + eta^2 sigma_s^2; x* = 0."""
    f = w.function(p.L, p.mu, name="F")
    x, drawn = w.vector("x"), w.vector("xi", True)
    xi = drawn - bar(drawn)
    w.assume("noise", norm2(xi) - p.s2)
    w.at(f, x * 0, "F*", g=x * 0)
    g, _ = w.at(f, x, "F")
    shrunk = norm2(x) * (1 - 2 * c.c * p.eta * p.L * p.mu / (p.L + p.mu))
    allowed = shrunk + norm2(g) * (p.eta * (p.eta - 2 / (p.L + p.mu))) + p.eta**2 * p.s2
    return norm2(x - (xi + g) * p.eta) - allowed


SERVER_DISTANCE = Lemma("server step", "(56)-(58)", "0 < mu < L, 0 < eta, 0 <= s2", server_distance, {"c": 1})


def perturbed_below(f_z: Any, f_y: Any, zy2: Any, zx2: Any, mu: Any, L: Any, c: Any = "1/4") -> Any:
    """Right side of (63), with squared distances of z to y and to x."""
    return f_z - f_y + zy2 * (c * mu) - zx2 * L


def perturbed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(63): <grad f(x), z - y> >= f(z) - f(y) + c mu ||z - y||^2 - L ||z - x||^2."""
    f = w.function(p.L, p.mu)
    x, y, z = w.vector("x"), w.vector("y"), w.vector("z")
    g, _ = w.at(f, x, "f(x)")
    _, vy = w.at(f, y, "f(y)")
    _, vz = w.at(f, z, "f(z)")
    return perturbed_below(vz, vy, norm2(z - y), norm2(z - x), p.mu, p.L, c.c) - dot(g, z - y)


PERTURBED = Lemma("perturbed strong convexity", "(63)", "0 < mu < L", perturbed, {"c": "1/4"})


def moment_below(drift: Any, slope: Any, K: Any, L: Any, sigma_G2: Any, c: Any = 4) -> Any:
    """Right side of (70), with squared lengths of y - x and of the gradient at x."""
    return drift * (2 * K**2 * L**2) + 4 * K**2 * sigma_G2 + slope * (c * K**2)


def moment_of_gradients(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(70): ||G||^2 <= 2 K^2 L^2 mean ||y - x||^2 + 4 K^2 sigma_G^2 + c K^2 ||g||^2."""
    r = local_work(w, p)
    return norm2(bar(r.gy) * p.K) - moment_below(norm2(r.y - r.x), norm2(r.g), p.K, p.L, p.G2, c.c)


MOMENT = Lemma("second moment", "(67)-(70)", f"{STEPS}, 0 <= G2", moment_of_gradients, {"c": 4})


# ---- what the limits of small steps obey ------------------------------------------------------------------------------


def ball(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(1-q) g + q rho g_D = 0 and ||g_D - g|| <= sigma_G give ||g||^2 <= c (q rho/(1-q+q rho))^2 sigma_G^2; g_D = -(1-q) e, g = q rho e."""
    e = w.vector("e")
    g, g_D = e * (p.q * p.rho), e * (p.q - 1)
    w.assume("dissimilarity", norm2(g_D - g) - p.G2)
    return norm2(g) - c.c * (p.q * p.rho / (1 - p.q + p.q * p.rho)) ** 2 * p.G2


BALL = Lemma("limit", "Algorithm 1, small steps", "0 < q <= 1, 0 < rho, 0 < G2", ball, {"c": 1})


def mixed_round(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """One round with K = 1, eta_c = 2 eta, against c (1+q)/2 eta (4 q^2/(1+q)^2 sigma_G^2 - ||g||^2), up to order eta^2.

    E F(x+) - F(x) <= (1+q)/2 eta (c 4 q^2/(1+q)^2 sigma_G^2 - ||g||^2) + (L eta^2/2)((1-q) ||g||^2 + 4 q ||g_1||^2).
    """
    F = w.function(p.L, -p.L, name="F")
    g, g_1 = w.vector("g"), w.vector("g_1")
    x = g * 0
    w.assume("dissimilarity", norm2(g_1 - g) - p.G2)
    _, v = w.at(F, x, "F", g=g)
    _, server = w.at(F, x - g * p.eta, "F after the server")
    _, client = w.at(F, x - g_1 * (2 * p.eta), "F after a client")
    change = server * (1 - p.q) + client * p.q - v
    small = (norm2(g) * (1 - p.q) + norm2(g_1) * (4 * p.q)) * (p.L * p.eta**2 / 2)
    push = c.c * 2 * p.q**2 / (1 + p.q) * p.eta * p.G2
    return change - push + norm2(g) * ((1 + p.q) / 2 * p.eta) - small


MIXED_ROUND = Lemma("one round", "Algorithm 1, K = 1", "0 < q < 1, 0 < L, 0 < eta, 0 <= G2", mixed_round, {"c": 1})


def dropped_terms(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """At a limit of small steps, rho = 2, the terms of (54) a round: (1-q)||g||^2 + 2 q E||g_S||^2 <= c 2 q sigma_G^2; 4 q sigma_G^2 is needed.

    The possible sets S of a client round are the "clients"; (1-q) g + 2 q E g_S = 0.
    """
    drawn = w.vector("g_S", True)
    g = bar(drawn) * (-2 * p.q / (1 - p.q))
    w.assume("dissimilarity", norm2(drawn - g) - p.G2)
    return norm2(g) * (1 - p.q) + norm2(drawn) * (2 * p.q) - c.c * 2 * p.q * p.G2


DROPPED = Lemma("terms of (54)", "(52)-(54)", "0 < q < 1, 0 <= G2", dropped_terms, {"c": 1})
