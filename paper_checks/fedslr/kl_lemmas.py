"""Steps of FedSLR's Theorems 1 and 2 that `lemmas` has not: the end point eta = 1/(2L), how far copies are from w_t, D around a stationary point."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fedtheory.claims import bar, dot, lemma, norm2
from paper_checks.fedslr.lemmas import play_client, play_round, potential


@lemma("midpoint of subgradients", "ours, eta = 1/(2L)", "0 < L", c=5)
def midpoint(w: Any, p: Any, c: Any) -> Any:
    """For eta = 1/(2L): ||mean grad f_i(w_t) + (s_t + s_{t+1})/2||^2 <= c L (D_t - D_{t+1}), s_t in dR(w_t) of the server's step before."""
    q = SimpleNamespace(L=p.L, eta=1 / (2 * p.L))
    r = play_round(w, q)
    reg, new = w.function(None, 0, name="R"), w.vector("s+")
    old = (bar(r.y) - r.x) / q.eta - bar(r.g)
    x_new = bar(r.yn - r.gn * q.eta) - new * q.eta
    _, r_old = w.at(reg, r.x, "R", g=old)
    _, r_new = w.at(reg, x_new, "R+", g=new)
    fall = potential(q.eta, r.v, r_old, r.x, r.y, r.g) - potential(q.eta, r.vn, r_new, x_new, r.yn, r.gn)
    gx, _ = w.at(r.f, r.x + r.y * 0, "grad f_i(w)")
    return norm2(bar(gx) + (old + new) / 2) - fall * (c.c * p.L)


@lemma("copies", "proof of Theorem 2, (79)", "0 < L, 0 < eta", c=1)
def copies(w: Any, p: Any, c: Any) -> Any:
    """||w_t - w_{i,t}||^2 <= c (1 + L eta)^2 ||w_{i,t+1} - w_{i,t}||^2, of a client seen from w_{i,t} = 0; what (79) needs."""
    x, yn = play_client(w, p)
    return norm2(x) - norm2(yn) * (c.c * (1 + p.L * p.eta) ** 2)


@lemma("growth in the copies", "ours", "0 < L, 0 < eta < 1/L", c=1)
def bowl(w: Any, p: Any, c: Any) -> Any:
    """D(x, {x + u_i}, {grad f_i(x)}) >= f(x) + R(x) + c (1/(2 eta) - L/2) mean ||u_i||^2; R stands on both sides."""
    f = w.function(p.L, -p.L, client=True)
    u, g = w.vector("u_i", True), w.vector("grad f_i(x)", True)
    x = bar(u) * 0
    _, least = w.at(f, u * 0, "f_i(x)", g=g)
    _, v = w.at(f, u, "f_i(x + u)")
    return least - potential(p.eta, v, v * 0, x, u, g) + norm2(u) * (c.c * (1 / (2 * p.eta) - p.L / 2))


@lemma("drift of the loss", "ours", "0 < L", c=1)
def drift_of_loss(w: Any, p: Any, c: Any) -> Any:
    """f_i(v) <= f_i(u) + <grad f_i(u), v - u> + (c L/2) ||v - u||^2, with u at the origin."""
    f = w.function(p.L, -p.L)
    v, g = w.vector("v"), w.vector("grad f(u)")
    _, at_u = w.at(f, v * 0, "f(u)", g=g)
    _, at_v = w.at(f, v, "f(v)")
    return at_v - at_u - dot(g, v) - norm2(v) * (c.c * p.L / 2)
