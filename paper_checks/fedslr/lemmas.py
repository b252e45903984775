"""FedSLR's proof steps as lemmas, in the paper's notation: w_t, w_{i,t}, gamma_{i,t}, eta = eta_g, M clients, D the potential (10).

Local problems are solved exactly, so that gamma_{i,t+1} = grad f_i(w_{i,t+1}) = gamma_{i,t} + (w_t - w_{i,t+1})/eta (Facts 1 and 2), and
w_{t+1} = mean_i w_{i,t+1} - eta (mean_i gamma_{i,t+1} + s_{t+1}) with a subgradient s_{t+1} of R there (Fact 3). R is any convex
function. Points are seen from w_t = 0 where nothing else is said; L-smooth functions need not be convex (A1).
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import Lemma, bar, dot, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from paper_checks.fedslr.exact_runs import Constants

#: what the paper asks of the global step size
INSIDE = "0 < L, 0 < eta < 1/(2*L)"


def potential(eta: Any, values: Any, r: Any, x: Any, y: Any, g: Any) -> Any:
    """D(x, {y_i}, {g_i}) of (10), where mean_i f_i(y_i) = ``values`` and R(x) = ``r``."""
    return values + r + dot(g, x - y) + norm2(x - y) / (2 * eta)


def c2(p: Any) -> Any:
    """C_2 as printed below (71), which is negative for eta < 1/(2L)."""
    return p.L**2 * p.eta + p.L / 2 - 1 / (2 * p.eta)


def play_round(w: World, p: Parameters, mu: Any = None) -> SimpleNamespace:
    """A round from any w_t = 0 and any w_{i,t}, with gamma_{i,t} = grad f_i(w_{i,t}): all t >= 1, and t = 0 if gamma_{i,0} is started so."""
    f = w.function(p.L, -p.L if mu is None else mu, client=True, name="f")
    y, g, gn = w.vector("w_i", True), w.vector("gamma_i", True), w.vector("gamma_i+", True)
    _, v = w.at(f, y, "f_i", g=g)
    x = bar(y) * 0
    yn = x - (gn - g) * p.eta
    _, vn = w.at(f, yn, "f_i+", g=gn)
    return SimpleNamespace(**locals())


# ---- Lemmas 1 and 3 --------------------------------------------------------------------------------------------------


def play_client(w: World, p: Parameters) -> tuple[Any, Any]:
    """w_t and w_{i,t+1} of a client in any round, seen from w_{i,t} = 0."""
    f = w.function(p.L, -p.L)
    x, g, gn = w.vector("w"), w.vector("gamma"), w.vector("gamma+")
    yn = x - (gn - g) * p.eta
    w.at(f, x * 0, "f", g=g)
    w.at(f, yn, "f+", g=gn)
    return x, yn


def drift_allowed(dy2: Any, L: Any, eta: Any, c: Any = 1) -> Any:
    """(31)'s right side, squared."""
    return dy2 * (c * (L * eta) ** 2)


@lemma("drift", "Lemma 1, (31)", "0 < L, 0 < eta", c=1)
def lemma_1(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(31), squared: ||w_t - w_{i,t+1}||^2 <= c (L eta)^2 ||w_{i,t+1} - w_{i,t}||^2, of a client; w_{i,t} = 0."""
    x, yn = play_client(w, p)
    return norm2(x - yn) - drift_allowed(norm2(yn), p.L, p.eta, c.c)


@lemma("cold start", "Lemma 3 at t = 0, as (43) uses it", INSIDE, c=0)
def cold(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """D_1 <= D_0 - c/(2 eta) ||w_1 - w_0||^2 from w_{i,0} = w_0 = 0 and gamma_{i,0} = 0."""
    f, reg = w.function(p.L, -p.L, client=True, name="f"), w.function(None, 0, name="R")
    g, gn, sn = w.vector("grad f_i(w_0)", True), w.vector("gamma_i+", True), w.vector("s+")
    x = sn * 0
    y = g * 0
    _, v = w.at(f, y, "f_i", g=g)
    gamma = g * 0
    yn = x - (gn - gamma) * p.eta
    _, vn = w.at(f, yn, "f_i+", g=gn)
    xn = bar(yn - gn * p.eta) - sn * p.eta
    _, r_old = w.at(reg, x, "R")
    _, r_new = w.at(reg, xn, "R+", g=sn)
    change = potential(p.eta, vn, r_new, xn, yn, gn) - potential(p.eta, v, r_old, x, y, gamma)
    return change + norm2(xn - x) * (c.c / (2 * p.eta))


# ---- the proof of Theorem 2 ------------------------------------------------------------------------------------------


def subgradient(w: World, r: SimpleNamespace, p: Any) -> Any:
    """The element (69) of grad f(w_t) + dR(w_t), by the server's step of the round before."""
    gx, _ = w.at(r.f, r.x + r.y * 0, "grad f_i(w)")
    return bar(gx) + bar(r.y) / p.eta - bar(r.g)


@lemma("stationarity", "(70), corrected", "0 < L, 0 < eta", c=1)
def stationary(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(70) with its right constant: ||grad f(w_t) + s_t||^2 <= c (1/eta + eta L^2)^2 mean ||w_{i,t+1} - w_{i,t}||^2."""
    r = play_round(w, p)
    return norm2(subgradient(w, r, p)) - norm2(r.yn - r.y) * (c.c * Constants(p.L, p.eta).c1)


@lemma("stationarity, printed", "(70)", INSIDE, units="as printed", c=1)
def stationary_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(70) for one client and R = 0, where the distance is ||grad f(w_t)||; w_{i,t} = 0, and w_t = -eta gamma_t by the server's step."""
    f = w.function(p.L, -p.L)
    g, gn = w.vector("gamma"), w.vector("gamma+")
    y = g * 0
    x, yn = y - g * p.eta, y - gn * p.eta
    w.at(f, y, "f", g=g)
    w.at(f, yn, "f+", g=gn)
    gx, _ = w.at(f, x, "grad f(w)")
    return norm2(gx) - norm2(yn - y) * (c.c * Constants(p.L, p.eta).c1_printed)


@lemma("residual, printed", "(72)", "0 < mu < L, 0 < eta < 1/(2*L)", units="as printed", c=1)
def residual_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(72), squared, with |C_2| for C_2: one strongly convex client and R = 0, so that D* = min f, at z; |C_2| ||grad f(w_t)||^2 <= C_1 r_t."""
    f = w.function(p.L, p.mu)
    g, z = w.vector("gamma"), w.vector("w*")
    y = g * 0
    x = y - g * p.eta
    _, v = w.at(f, y, "f", g=g)
    gx, _ = w.at(f, x, "grad f(w)")
    _, least = w.at(f, z, "f*", g=z * 0)
    residual = v - norm2(g) * (p.eta / 2) - least
    return norm2(gx) * -c2(p) - residual * (c.c * Constants(p.L, p.eta).c1_printed)


# ---- the proof of Theorem 3 ------------------------------------------------------------------------------------------


def gained(old: Any, new: Any, dp2: Any, eta_l: Any, c: Any = 1) -> Any:
    """(86)'s right side, from Rt(p_k), Rt(p_{k+1}) and ||p_{k+1} - p_k||^2."""
    return new - old + dp2 * (c / eta_l)


def proximal_step(w: World, p: Parameters, c: LemmaConstants, at_new: bool) -> Any:
    """(86) with a = grad f_i(w_t + p_k; xi), p_k = 0: Rt(p_{k+1}) - Rt(p_k) + (c/eta_l) ||p_{k+1} - p_k||^2 <= <a, p_k - p_{k+1}>.

    p_{k+1} = p_k - eta_l (a + s) with a subgradient s of Rt at p_{k+1}, or, as the proof says, at p_k.
    """
    reg = w.function(None, 0, name="R")
    a, s = w.vector("a"), w.vector("s")
    x = a * 0
    xn = x - (a + s) * p.eta
    _, old = w.at(reg, x, "R", g=None if at_new else s)
    _, new = w.at(reg, xn, "R+", g=s if at_new else None)
    return gained(old, new, norm2(xn - x), p.eta, c.c) - dot(a, x - xn)


lemma_5 = Lemma("proximal step", "Lemma 5, (86)", "0 < eta", partial(proximal_step, at_new=True), {"c": 1})
lemma_5_proof = Lemma(
    "proximal step, at p_k", "Lemma 5, (87)", "0 < eta", partial(proximal_step, at_new=False), {"c": 1}
)


def halves(na2: Any, nb2: Any, c: Any = 1) -> Any:
    """(88)'s right side."""
    return na2 / 2 + nb2 * (c / 2)


@lemma("Young", "Lemma 6, (88)", "", c=1)
def lemma_6(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(88): <a, b> <= ||a||^2/2 + c ||b||^2/2."""
    a, b = w.vector("a"), w.vector("b")
    return dot(a, b) - halves(norm2(a), norm2(b), c.c)


@lemma("gradient mappings", "Lemma 7, (89)", "0 < eta", c=1)
def lemma_7(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(89), squared, with gradients a (drawn) and b at p = 0: ||G_xi - G||^2 <= c ||a - b||^2."""
    reg = w.function(None, 0, name="R")
    a, b, s, z = (w.vector(name) for name in ("a", "b", "s", "z"))
    drawn, full = -(a + s) * p.eta, -(b + z) * p.eta
    w.at(reg, drawn, "R drawn", g=s)
    w.at(reg, full, "R full", g=z)
    return norm2((drawn - full) / p.eta) - norm2(a - b) * c.c


# ---- Fact 4 ----------------------------------------------------------------------------------------------------------


@lemma("Fact 4", "Fact 4, (28), with w_{i,t+1}", "0 < L, 0 < eta", c=1)
def fact_4(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(28) with w_{i,t+1}: s_{t+1} + mean grad f_i(w_{i,t+1}) + c (w_{t+1} - mean w_{i,t+1})/eta = 0, as ||.||^2 <= 0."""
    r = play_round(w, p)
    sn = w.vector("s+")
    xn = bar(r.yn - r.gn * p.eta) - sn * p.eta
    return norm2(sn + bar(r.gn) + (xn - bar(r.yn)) * (c.c / p.eta))


@lemma("Fact 4, printed", "Fact 4, (28)", INSIDE, c=1)
def fact_4_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(28) for one client and R = 0, with w_{i,t} as printed; w_{i,t} = 0, and w_t = -eta gamma_t by the server's step before."""
    f = w.function(p.L, -p.L)
    g, gn = w.vector("gamma"), w.vector("gamma+")
    y = g * 0
    yn = y - gn * p.eta
    w.at(f, y, "f", g=g)
    w.at(f, yn, "f+", g=gn)
    xn = yn - gn * p.eta
    return norm2(gn + (xn - y) * (c.c / p.eta))


# ---- Fact 5 ----------------------------------------------------------------------------------------------------------


@lemma("Fact 5", "Fact 5, (29), with the step's gradient", "0 < eta", c=1)
def fact_5(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(29) with the gradient a that the step took, from p_k = 0: (p_k - p_{k+1})/eta_l and G are both by the proximal point there; c stands at G."""
    reg = w.function(None, 0, name="R")
    a, s, z = w.vector("a"), w.vector("s"), w.vector("z")
    new, point = -(a + s) * p.eta, -(a + z) * p.eta
    w.at(reg, new, "R+", g=s)
    w.at(reg, point, "R at the proximal point", g=z)
    return norm2(point * (c.c / p.eta) - new / p.eta)


@lemma("Fact 5, printed", "Fact 5, (29), after a drawn step", "0 < eta", c=1)
def fact_5_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(29) on average over the samples that (7) may draw: the step has the sample's gradient, G their average; p_k = 0 stands for any point.

    s is the subgradient of the l1 norm, the same at both points where no coordinate changes its sign.
    """
    drawn, s = w.vector("grad f_i(xi)", True), w.vector("s")
    new, point = -(drawn + s) * p.eta, -(bar(drawn) + s) * p.eta
    return norm2(point * (c.c / p.eta) - new / p.eta)
