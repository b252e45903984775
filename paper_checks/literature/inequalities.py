"""Inequalities of smooth and convex functions that proofs of rates use, and two lemmas on local steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fedtheory.claims.claim import Claim
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, dot, norm2
from paper_checks.literature.sources import PAPER


def two_points(w: World, L: Any, mu: Any) -> tuple[Any, ...]:
    """x, y, and gradients and values of f at both."""
    f, x, y = w.function(L, mu), w.vector("x"), w.vector("y")
    (gx, fx), (gy, fy) = w.at(f, x, "at x"), w.at(f, y, "at y")
    return x, y, gx, gy, fx, fy


def descent(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(y) <= f(x) + <grad f(x), y - x> + (c L/2) ||y - x||^2."""
    x, y, gx, _, fx, fy = two_points(w, p.L, -p.L)
    return fy - fx - dot(gx, y - x) - norm2(y - x) * (c.c * p.L / 2)


def interpolation(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(x) + <grad f(x), y - x> + c ||grad f(x) - grad f(y)||^2/(2 L) <= f(y)."""
    x, y, gx, gy, fx, fy = two_points(w, p.L, 0)
    return fx + dot(gx, y - x) + norm2(gx - gy) * (c.c / (2 * p.L)) - fy


def cocoercive(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """c ||grad f(x) - grad f(y)||^2/L <= <grad f(x) - grad f(y), x - y>."""
    x, y, gx, gy, _, _ = two_points(w, p.L, 0)
    return norm2(gx - gy) * (c.c / p.L) - dot(gx - gy, x - y)


def strongly_cocoercive(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """c (mu L ||x - y||^2 + ||grad f(x) - grad f(y)||^2)/(mu + L) <= <grad f(x) - grad f(y), x - y>."""
    x, y, gx, gy, _, _ = two_points(w, p.L, p.mu)
    return (norm2(x - y) * (p.mu * p.L) + norm2(gx - gy)) * (c.c / (p.mu + p.L)) - dot(gx - gy, x - y)


def bregman(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """c ||grad f(x) - grad f(y)||^2 <= 2 L (f(x) - f(y) - <grad f(y), x - y>)."""
    x, y, gx, gy, fx, fy = two_points(w, p.L, 0)
    return norm2(gx - gy) * c.c - (fx - fy - dot(gy, x - y)) * (2 * p.L)


def gradient_dominates(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """2 c mu (f(x) - f(y)) <= ||grad f(x)||^2 for every y."""
    _, _, gx, _, fx, fy = two_points(w, p.L, p.mu)
    return (fx - fy) * (c.c * 2 * p.mu) - norm2(gx)


def three_points(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """h(z) + (||z - x||^2 + c ||y - z||^2)/(2 lam) <= h(y) + ||y - x||^2/(2 lam) for z = prox_{lam h}(x)."""
    h, x, y, g = w.function(), w.vector("x"), w.vector("y"), w.vector("g")
    z = x - g * p.lam
    (_, hz), (_, hy) = w.at(h, z, "at z", g=g), w.at(h, y, "at y", g=w.vector("other"))
    return hz - hy + (norm2(z - x) - norm2(y - x) + norm2(y - z) * c.c) / (2 * p.lam)


def firmly_nonexpansive(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||u - v||^2 + c ||(x - u) - (y - v)||^2 <= ||x - y||^2 for u = prox_{lam h}(x), v = prox_{lam h}(y)."""
    h, u, v, g, k = w.function(), w.vector("u"), w.vector("v"), w.vector("g"), w.vector("k")
    w.at(h, u, "at u", g=g)
    w.at(h, v, "at v", g=k)
    x, y = u + g * p.lam, v + k * p.lam
    return norm2(u - v) + norm2(x - u - y + v) * c.c - norm2(x - y)


def proximal_contraction(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||u - v||^2 (1 + c lam mu)^2 <= ||x - y||^2 for u = prox_{lam f}(x), v = prox_{lam f}(y), f mu-strongly convex."""
    u, v, gu, gv, _, _ = two_points(w, p.L, p.mu)
    return norm2(u - v) * (1 + c.c * p.lam * p.mu) ** 2 - norm2(u + gu * p.lam - v - gv * p.lam)


def perturbed_strong_convexity(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """f(z) - f(y) + (mu/4) ||y - z||^2 - c L ||z - x||^2 <= <grad f(x), z - y>."""
    f, x, y, z = w.function(p.L, p.mu), w.vector("x"), w.vector("y"), w.vector("z")
    (gx, _), (_, fy), (_, fz) = w.at(f, x, "at x"), w.at(f, y, "at y"), w.at(f, z, "at z")
    return fz - fy + norm2(y - z) * (p.mu / 4) - norm2(z - x) * (c.c * p.L) - dot(gx, z - y)


def contractive_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||x - eta grad f(x) - y + eta grad f(y)||^2 <= (1 - c mu eta) ||x - y||^2."""
    x, y, gx, gy, _, _ = two_points(w, p.L, p.mu)
    return norm2(x - gx * p.eta - y + gy * p.eta) - norm2(x - y) * (1 - c.c * p.mu * p.eta)


def lemma(id: str, source: str, text: str, region: str, conclusion: Callable[..., Any]) -> Claim:
    """A lemma with one constant, c = 1."""
    return state(
        id, PAPER, source, text, Lemma(conclusion.__name__.replace("_", " "), source, region, conclusion, {"c": 1})
    )


CLAIMS = [
    lemma(
        "LIT-DESCENT",
        "Nesterov 2004, Lemma 1.2.3",
        "f(y) <= f(x) + <grad f(x), y - x> + (L/2) ||y - x||^2 for L-smooth f.",
        "0 < L",
        descent,
    ),
    lemma(
        "LIT-INTERPOLATION",
        "Nesterov 2004, Theorem 2.1.5",
        "f(x) + <grad f(x), y - x> + ||grad f(x) - grad f(y)||^2/(2 L) <= f(y) for convex, L-smooth f.",
        "0 < L",
        interpolation,
    ),
    lemma(
        "LIT-COCOERCIVE",
        "Baillon and Haddad 1977",
        "||grad f(x) - grad f(y)||^2/L <= <grad f(x) - grad f(y), x - y> for convex, L-smooth f.",
        "0 < L",
        cocoercive,
    ),
    lemma(
        "LIT-STRONGLY-COCOERCIVE",
        "Nesterov 2004, Theorem 2.1.12",
        "mu L/(mu + L) ||x - y||^2 + ||grad f(x) - grad f(y)||^2/(mu + L) <= <grad f(x) - grad f(y), x - y> for mu-strongly convex, L-smooth f.",
        "0 < mu < L",
        strongly_cocoercive,
    ),
    lemma(
        "LIT-BREGMAN",
        "Nesterov 2004, Theorem 2.1.5",
        "||grad f(x) - grad f(y)||^2 <= 2 L D_f(x, y), the Bregman distance, for convex, L-smooth f.",
        "0 < L",
        bregman,
    ),
    lemma(
        "LIT-PL",
        "Polyak 1963",
        "2 mu (f(x) - f*) <= ||grad f(x)||^2 for mu-strongly convex f.",
        "0 < mu < L",
        gradient_dominates,
    ),
    lemma(
        "LIT-THREE-POINTS",
        "Chen and Teboulle 1993, Lemma 3.2",
        "h(z) + ||z - x||^2/(2 lam) + ||y - z||^2/(2 lam) <= h(y) + ||y - x||^2/(2 lam) for z = prox_{lam h}(x), h closed and convex.",
        "0 < lam",
        three_points,
    ),
    lemma(
        "LIT-FIRM",
        "Moreau 1965",
        "Proximal steps are firmly nonexpansive.",
        "0 < lam",
        firmly_nonexpansive,
    ),
    lemma(
        "LIT-PROXIMAL-CONTRACTION",
        "Rockafellar 1976",
        "Proximal steps of mu-strongly convex functions bring points nearer by 1/(1 + lam mu).",
        "0 < mu < L, 0 < lam",
        proximal_contraction,
    ),
    lemma(
        "LIT-PERTURBED",
        "Karimireddy et al. 2020, Lemma 5",
        "f(z) - f(y) + (mu/4) ||y - z||^2 - L ||z - x||^2 <= <grad f(x), z - y> for mu-strongly convex, L-smooth f.",
        "0 < mu < L",
        perturbed_strong_convexity,
    ),
    lemma(
        "LIT-CONTRACTIVE",
        "Karimireddy et al. 2020, Lemma 6",
        "A gradient step of size eta <= 1/L brings any two points nearer: their squared distance falls by 1 - mu eta.",
        "0 < mu < L, 0 < eta <= 1/L",
        contractive_step,
    ),
]
