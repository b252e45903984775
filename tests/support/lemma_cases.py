"""Lemmas of textbooks and of papers' proofs, right and wrong by 1 to 5 %, for tests of the engine that judges lemmas."""

from fractions import Fraction as Q
from types import SimpleNamespace as NS

from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.worlds import bar, dot, norm2

TRUE: dict[str, Lemma] = {}
FALSE: dict[str, Lemma] = {}


def _keep(made, true=True):
    (TRUE if true else FALSE)[made.name] = made


def lemma(source, region, *, true=True, **constants):

    def add(build):
        _keep(Lemma(build.__name__, source, region, build, constants), true)
        return build

    return add


@lemma("textbook", "0<L", c=1)
def descent_lemma(w, p, c):
    f = w.function(p.L, -p.L)
    y = w.vector("y")
    x = y * 0
    gx, fx = w.at(f, x, "gx")
    _, fy = w.at(f, y, "gy")
    return fy - fx - dot(gx, y - x) - norm2(y - x) * (c.c * p.L / 2)


@lemma("textbook", "0<L", c=1)
def cocoercivity(w, p, c):
    f = w.function(p.L)
    x = w.vector("x")
    y = x * 0
    gx, _ = w.at(f, x, "gx")
    gy, _ = w.at(f, y, "gy")
    return norm2(gx - gy) * (c.c / p.L) - dot(gx - gy, x - y)


@lemma("textbook", "0<mu<L", c=1)
def strong_cocoercivity(w, p, c):
    f = w.function(p.L, p.mu)
    x = w.vector("x")
    y = x * 0
    gx, _ = w.at(f, x, "gx")
    gy, _ = w.at(f, y, "gy")
    return norm2(x - y) * (c.c * p.mu * p.L / (p.mu + p.L)) + norm2(gx - gy) / (p.mu + p.L) - dot(gx - gy, x - y)


@lemma("textbook", "0<mu<L", c=1)
def pl_inequality(w, p, c):
    f = w.function(p.L, p.mu)
    x = w.vector("x")
    g, fx = w.at(f, x, "g")
    _, fs = w.at(f, x * 0, "0", g=x * 0)
    return fx - fs - norm2(g) / (2 * p.mu) * c.c


@lemma("textbook", "0<s", c=1)
def young(w, p, c):
    a, b = (w.vector("a"), w.vector("b"))
    return norm2(a + b) - norm2(a) * (1 + p.s) - norm2(b) * (c.c * (1 + 1 / p.s))


@lemma("textbook", "0<mu<L, 0<eta<2/(L+mu)", c=1)
def gradient_step_contracts(w, p, c):
    f = w.function(p.L, p.mu)
    x = w.vector("x")
    g, _ = w.at(f, x, "g")
    w.at(f, x * 0, "0", g=x * 0)
    return norm2(x - g * p.eta) - norm2(x) * (c.c * (1 - p.eta * p.mu) ** 2)


def lagrangian(value, x, x0, lam, eta):
    return value + dot(lam, x - x0) + norm2(x - x0) / (2 * eta)


def fedpd(w, p):
    """One round after an exact one: lambda_i = -grad f_i(x_i); x_0 = 0. Any number of clients."""
    f = w.function(p.L, -p.L, client=True)
    x = w.vector("x", True)
    x0 = x * 0
    g, v = w.at(f, x, "g")
    lam = -g
    gn = w.vector("g+", True)
    xn = x0 - (gn + lam) * p.eta
    _, vn = w.at(f, xn, "g+", g=gn)
    lamn = lam + (xn - x0) / p.eta
    x0n = bar(xn + lamn * p.eta)
    return NS(**locals())


@lemma("FedPD (46), x-step", "0<L, 0<eta<1/L", c=1)
def fedpd_x_step(w, p, c):
    r = fedpd(w, p)
    d = norm2(r.xn - r.x)
    return (
        lagrangian(r.vn, r.xn, r.x0, r.lam, p.eta)
        - lagrangian(r.v, r.x, r.x0, r.lam, p.eta)
        + d * (c.c * (1 - p.L * p.eta) / (2 * p.eta))
    )


@lemma("FedPD (47), dual step", "0<L, 0<eta<1/L", c=1)
def fedpd_dual_step(w, p, c):
    r = fedpd(w, p)
    return (
        lagrangian(r.vn, r.xn, r.x0, r.lamn, p.eta)
        - lagrangian(r.vn, r.xn, r.x0, r.lam, p.eta)
        - norm2(r.xn - r.x) * (c.c * p.L**2 * p.eta)
    )


@lemma("FedPD (48), server step", "0<L, 0<eta<1/L", c=1)
def fedpd_server_step(w, p, c):
    r = fedpd(w, p)
    return (
        lagrangian(r.vn, r.xn, r.x0n, r.lamn, p.eta)
        - lagrangian(r.vn, r.xn, r.x0, r.lamn, p.eta)
        + norm2(r.x0n - r.x0) * (c.c / (2 * p.eta))
    )


@lemma("FedPD D1, whole round", "0<L, 0<eta<1/(2*L)", c=1)
def fedpd_round(w, p, c):
    r = fedpd(w, p)
    u = p.L * p.eta
    return (
        lagrangian(r.vn, r.xn, r.x0n, r.lamn, p.eta)
        - lagrangian(r.v, r.x, r.x0, r.lam, p.eta)
        + norm2(r.xn - r.x) * (c.c * (1 - 2 * u) * (1 + u) / (2 * p.eta))
        + norm2(r.x0n - r.x0) / (2 * p.eta)
    )


@lemma("FedPD Lemma 1 (21), inexact solves", "0<L, 0<eta<3/(10*L), 0<eps", c=1)
def fedpd_inexact(w, p, c):
    f = w.function(p.L, -p.L)
    x, lam, gn, e = (w.vector(n) for n in ("x", "lam", "g+", "e"))
    x0 = x * 0
    _, v = w.at(f, x, "g")
    xn = x0 + (e - gn - lam) * p.eta
    _, vn = w.at(f, xn, "g+", g=gn)
    lamn = lam + (xn - x0) / p.eta
    x0n = xn + lamn * p.eta
    w.assume("solve", norm2(e) - p.eps)
    return (
        lagrangian(vn, xn, x0n, lamn, p.eta)
        - lagrangian(v, x, x0, lam, p.eta)
        + norm2(xn - x) * ((1 - 2 * p.L * p.eta) / (2 * p.eta))
        + norm2(x0n - x0) / (2 * p.eta)
        - norm2(lamn - lam) * p.eta
        - p.eps / (2 * p.L) * c.c
    )


def value_below(factor):

    def build(w, p, c):
        f = w.function(p.L, -p.L)
        x = w.vector("x")
        g, v = w.at(f, x, "g")
        x0 = x * 0
        _, v0 = w.at(f, x0, "g0")
        return v0 - lagrangian(v, x, x0, -g, p.eta) + norm2(x - x0) * (c.c * factor * (1 - 2 * p.L * p.eta) / p.eta)

    return build


_keep(
    Lemma(
        "fedpd_value_below",
        "FedPD Lemma 4 (24) with half the constant",
        "0<L, 0<eta<1/(2*L)",
        value_below(Q(1, 2)),
        {"c": 1},
    ),
    true=True,
)
_keep(
    Lemma(
        "fedpd_value_below_printed", "FedPD Lemma 4 (24) as printed", "0<L, 0<eta<3/(10*L)", value_below(1), {"c": 1}
    ),
    true=False,
)


@lemma("FedSLR Lemma 3 (35)", "0<L, 0<eta<1/(2*L)", c=1)
def fedslr_descent(w, p, c):
    eta = p.eta
    f = w.function(p.L, -p.L, name="f")
    reg = w.function(None, 0, name="R")
    gam, s, sn, gn = (w.vector(n) for n in ("gamma", "s", "s+", "g+"))
    y = gam * 0
    wt = y - (gam + s) * eta
    yn = wt - (gn - gam) * eta
    _, v = w.at(f, y, "gamma", g=gam)
    _, vn = w.at(f, yn, "g+", g=gn)
    wn = yn - (gn + sn) * eta
    _, r = w.at(reg, wt, "s", g=s)
    _, rn = w.at(reg, wn, "s+", g=sn)

    def D(fv, rv, a, b, ga):
        return fv + rv + dot(ga, a - b) + norm2(a - b) / (2 * eta)

    return (
        D(vn, rn, wn, yn, gn)
        - D(v, r, wt, y, gam)
        + norm2(yn - y) * (c.c * (1 - 2 * p.L * eta) * (1 + p.L * eta) / (2 * eta))
        + norm2(wn - wt) / (2 * eta)
    )


@lemma("FedSLR Lemma 1 (31), squared", "0<L, 0<eta<1/(2*L)", c=1)
def fedslr_drift(w, p, c):
    f = w.function(p.L, -p.L)
    gam, gn, wt = (w.vector("gamma"), w.vector("g+"), w.vector("w"))
    y = wt * 0
    yn = wt - (gn - gam) * p.eta
    w.at(f, y, "gamma", g=gam)
    w.at(f, yn, "g+", g=gn)
    return norm2(wt - yn) - norm2(yn - y) * (c.c * (p.L * p.eta) ** 2)


@lemma("FedSLR Lemma 5 (86)", "0<eta", c=1)
def fedslr_prox_step(w, p, c):
    reg = w.function(None, 0, name="R")
    a, s = (w.vector("g"), w.vector("s+"))
    x = a * 0
    _, r = w.at(reg, x, "s")
    xn = x - (a + s) * p.eta
    _, rn = w.at(reg, xn, "s+", g=s)
    return rn - r + norm2(xn - x) * (c.c / p.eta) - dot(a, x - xn)


@lemma("A-FedPD descent display (A-FedPD-DESC)", "0<L, 2*L<rho", c=1)
def afedpd_descent(w, p, c):
    f = w.function(p.L, -p.L, client=True)
    lam, gn = (w.vector("lam", True), w.vector("g+", True))
    tb = bar(lam) * 0
    gb, vb = w.at(f, tb, "gbar")
    thn = tb - (gn + lam) / p.rho
    w.at(f, thn, "g+", g=gn)
    tbn = bar(thn + lam / p.rho)
    _, vbn = w.at(f, tbn, "gbar+")
    return vbn - vb - norm2(thn - tb) * (c.c * p.L / 2 * (1 + p.L / p.rho)) + norm2(bar(gb)) / (2 * p.rho)


def afedpd_lemma2(coefficient):

    def build(w, p, c):
        f = w.function(p.L, -p.L, client=True)
        th = w.vector("theta", True)
        th = th - bar(th)
        tb = bar(th)
        g, _ = w.at(f, th, "g")
        gb, _ = w.at(f, tb, "gbar")
        gn = w.vector("g+", True)
        thn = tb - (gn - g + bar(g)) / p.rho
        w.at(f, thn, "g+", g=gn)
        k = p.L**2 / p.rho**2
        return (
            norm2(thn - tb) * (1 - 4 * k)
            - norm2(th - tb) * (8 * k)
            - norm2(bar(gb)) * (c.c * coefficient(p) / p.rho**2)
        )

    return build


_keep(
    Lemma(
        "afedpd_lemma2_repaired",
        "A-FedPD Lemma 2, 4/rho^2 in front of the gradient",
        "0<L, 2*L<rho",
        afedpd_lemma2(lambda p: 4),
        {"c": 1},
    ),
    true=True,
)
_keep(
    Lemma(
        "afedpd_lemma2_printed",
        "A-FedPD Lemma 2 as printed (false for L < 1)",
        "0<L<1/3, 2*L<rho",
        afedpd_lemma2(lambda p: 4 * p.L**2),
        {"c": 1},
    ),
    true=False,
)


@lemma("A-FedPD Lemma 3, P = C, constant 1 (printed: 4)", "0<s", c=1)
def afedpd_lemma3(w, p, c):
    a = w.vector("theta+", True)
    tb = bar(a) * 0
    d = bar(a)
    return norm2(a - d) - norm2(a - tb) * c.c


@lemma("DualFL: accelerated proximal step, potential (dual form)", "0<L, 1<t", c=1)
def dualfl_step(w, p, c):
    """2t^2/L (F(x+) - F*) + |u+|^2 <= 2(t^2 - t)/L (F(x) - F*) + |u|^2, minimiser at 0, F = f + R, y = x + (u - x)/t."""
    f, reg = (w.function(p.L, 0, name="f"), w.function(None, 0, name="R"))
    x, u, s = (w.vector("x"), w.vector("u"), w.vector("s+"))
    gs = w.vector("g*")
    _, fx = w.at(f, x, "gx")
    _, rx = w.at(reg, x, "sx")
    _, fs = w.at(f, x * 0, "g*", g=gs)
    _, rs = w.at(reg, x * 0, "s*", g=-gs)
    y = x * (1 - 1 / p.t) + u / p.t
    gy, _ = w.at(f, y, "gy")
    xn = y - (gy + s) / p.L
    _, fn = w.at(f, xn, "g+")
    _, rn = w.at(reg, xn, "s+", g=s)
    un = x + (xn - x) * p.t
    return (
        (fn + rn - fs - rs) * (c.c * 2 * p.t**2 / p.L)
        + norm2(un)
        - (fx + rx - fs - rs) * (2 * (p.t**2 - p.t) / p.L)
        - norm2(u)
    )


@lemma("DualFL: estimate-sequence step, strongly convex", "0<mu, 1<q", c=1)
def nesterov_strong(w, p, c):
    """L = mu q^2, alpha = 1/q: f(x+) - f* + (mu/2)|z+|^2 <= (1 - alpha) (f(x) - f* + (mu/2)|z|^2)."""
    L = p.mu * p.q**2
    a = 1 / p.q
    f = w.function(L, p.mu)
    x, z = (w.vector("x"), w.vector("z"))
    y = x / (1 + a) + z * (a / (1 + a))
    _, fx = w.at(f, x, "gx")
    gy, _ = w.at(f, y, "gy")
    _, fs = w.at(f, x * 0, "0", g=x * 0)
    xn = y - gy / L
    _, fn = w.at(f, xn, "g+")
    zn = z * (1 - a) + y * a - gy * (a / p.mu)
    return fn - fs + norm2(zn) * (p.mu / 2) - (fx - fs + norm2(z) * (p.mu / 2)) * (1 - c.c * a)


@lemma("textbook: gradient step under PL, nonconvex", "0<mu<L, 0<eta<1/L", c=1)
def pl_gradient_step(w, p, c):
    f = w.function(p.L, -p.L)
    x = w.vector("x")
    x = x * 0
    g, fx = w.at(f, x, "g")
    _, fn = w.at(f, x - g * p.eta, "g+")
    fs = w.value("f*")
    w.assume("PL at x", (fx - fs) * (2 * p.mu) - norm2(g))
    w.assume("minimum", fs - fx)
    return fn - fs - (fx - fs) * (1 - c.c * p.eta * p.mu * (2 - p.L * p.eta))


@lemma("textbook: three points of a proximal step", "0<eta", c=1)
def prox_three_points(w, p, c):
    reg = w.function(None, 0, name="R")
    s, z = (w.vector("s+"), w.vector("z"))
    x = s * 0
    xn = x - s * p.eta
    _, rn = w.at(reg, xn, "s+", g=s)
    _, rz = w.at(reg, z, "sz")
    return (rn - rz) * (2 * p.eta) - norm2(x - z) + norm2(xn - z) + norm2(xn - x) * c.c


@lemma("FedPD D2, T = 1: largest gradient after one round", "0<L, 0<eta<1/(2*L)", c=1)
def fedpd_one_round(w, p, c):
    f = w.function(p.L, -p.L)
    g = w.vector("g")
    x = g * 0
    _, fx = w.at(f, x, "g", g=g)
    gn, fn = w.at(f, x - g * p.eta, "g+")
    fs = w.value("f*")
    u = p.L * p.eta
    w.assume("bounded below at x", fs - fx + norm2(g) / (2 * p.L))
    w.assume("bounded below at x+", fs - fn + norm2(gn) / (2 * p.L))
    return norm2(gn) - (fx - fs) * (c.c * 2 * p.L * (1 + u) ** 2 / (1 + 4 * u + 2 * u**2))


@lemma("A-FedPD T1R (i): potential of a round, P = C", "0<L, 8*L<rho", c=1)
def afedpd_potential(w, p, c):
    f = w.function(p.L, -p.L, client=True)
    th = w.vector("theta", True)
    th = th - bar(th)
    tb = bar(th)
    g, _ = w.at(f, th, "g")
    gb, vb = w.at(f, tb, "gbar")
    gn = w.vector("g+", True)
    thn = tb - (gn - g + bar(g)) / p.rho
    w.at(f, thn, "g+", g=gn)
    tbn = bar(tb - gn / p.rho)
    _, vbn = w.at(f, tbn, "gbar+")
    old = w.vector("theta-bar before")
    k = p.L**2 / (4 * p.rho)
    return vbn + norm2(thn - tb) * k - vb - norm2(th - old) * k + norm2(bar(gb)) * (c.c / (4 * p.rho))


@lemma("FedSLR Lemma 3 at the first round, dual started at 0", "0<L, 0<eta<1/(2*L)", true=False, c=1)
def fedslr_descent_cold(w, p, c):
    eta = p.eta
    f = w.function(p.L, -p.L, name="f")
    reg = w.function(None, 0, name="R")
    s, sn, gn = (w.vector(n) for n in ("s", "s+", "g+"))
    y = s * 0
    wt = y - s * eta
    yn = wt - gn * eta
    _, v = w.at(f, y, "g0")
    _, vn = w.at(f, yn, "g+", g=gn)
    wn = yn - (gn + sn) * eta
    _, r = w.at(reg, wt, "s", g=s)
    _, rn = w.at(reg, wn, "s+", g=sn)

    def D(fv, rv, a, b, ga):
        return fv + rv + dot(ga, a - b) + norm2(a - b) / (2 * eta)

    return D(vn, rn, wn, yn, gn) - D(v, r, wt, y, gn * 0)


@lemma("FedSLR Lemma 5 with the subgradient at p_k, as printed (E16)", "0<eta", true=False, c=1)
def fedslr_prox_step_printed(w, p, c):
    reg = w.function(None, 0, name="R")
    a, s = (w.vector("g"), w.vector("s"))
    x = a * 0
    _, r = w.at(reg, x, "s", g=s)
    xn = x - (a + s) * p.eta
    _, rn = w.at(reg, xn, "s+")
    return rn - r + norm2(xn - x) * (c.c / p.eta) - dot(a, x - xn)


@lemma("wrong in the last 1 % of the region only: step up to 2.02/(L+mu)", "0<mu<L, 0<eta<2.02/(L+mu)", true=False, c=1)
def gradient_step_corner(w, p, c):
    f = w.function(p.L, p.mu)
    x = w.vector("x")
    g, _ = w.at(f, x, "g")
    w.at(f, x * 0, "0", g=x * 0)
    return norm2(x - g * p.eta) - norm2(x) * (c.c * (1 - p.eta * p.mu) ** 2)


@lemma("textbook: long gradient step", "0<mu<L, 2/(L+mu)<eta<2/L", c=1)
def gradient_step_long(w, p, c):
    f = w.function(p.L, p.mu)
    x = w.vector("x")
    g, _ = w.at(f, x, "g")
    w.at(f, x * 0, "0", g=x * 0)
    return norm2(x - g * p.eta) - norm2(x) * (c.c * (1 - p.eta * p.L) ** 2)


@lemma("gradient descent, N = 3, L R^2/(4N+2): size", "0<L", c=1)
def gd_three_steps(w, p, c):
    f = w.function(p.L)
    x0 = w.vector("x0")
    _, fs = w.at(f, x0 * 0, "0", g=x0 * 0)
    x = x0
    for k in range(4):
        g, v = w.at(f, x, f"g{k}")
        x = x - g / p.L
    return v - fs - norm2(x0) * (c.c * p.L / 14)


WRONG = {
    "descent_lemma": "99/100",
    "cocoercivity": "101/100",
    "strong_cocoercivity": "51/50",
    "pl_inequality": "49/50",
    "young": "99/100",
    "gradient_step_contracts": "99/100",
    "fedpd_x_step": "51/50",
    "fedpd_dual_step": "49/50",
    "fedpd_server_step": "101/100",
    "fedpd_round": "51/50",
    "fedpd_inexact": "19/20",
    "fedpd_value_below": "21/20",
    "fedslr_descent": "51/50",
    "fedslr_drift": "49/50",
    "fedslr_prox_step": "51/50",
    "dualfl_step": "51/50",
    "nesterov_strong": "21/20",
    "pl_gradient_step": "51/50",
    "prox_three_points": "101/100",
    "fedpd_one_round": "99/100",
    "afedpd_potential": "5",
    "afedpd_lemma3": "99/100",
    "gradient_step_long": "99/100",
    "gd_three_steps": "99/100",
}
for _name, _value in WRONG.items():
    _true = TRUE.get(_name) or FALSE[_name]
    FALSE[f"{_name}, c = {_value}"] = _true.with_constants(c=_true.constants["c"] * Q(_value))
