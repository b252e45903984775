"""Declared oracles: exact line search, inexact gradients, operators, compressors and draws.

`fedtheory check FILE` judges them; `FALSE` has each with constants that are 3 % off.
"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import MethodStates, PlayedStates, Theorem, bar, dot, norm2, state
from fedtheory.claims.statements.worlds import Parameters, World

PAPER = "kinds of theorems"


HALF = Fraction(1, 2)


def play_line(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - move, where the new gradient is orthogonal to the old one and to the move, as after an exact line search."""
    f, x, star = w.function(p.L, p.mu), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    g, _ = w.at(f, x, "at x")
    states = [SimpleNamespace(x=x, x_star=star, f=f)]
    for k in range(last):
        move = w.vector(f"move{k}")
        x = x - move
        new, _ = w.at(f, x, f"at x{k + 1}")
        for name, form in (("gradients", dot(new, g)), ("search", dot(new, move))):
            w.assume(f"{name} {k}", form)
            w.assume(f"{name} back {k}", form * -1)
        g = new
        states.append(SimpleNamespace(x=x, x_star=star, f=f))
    return states


LINE_SEARCH = Theorem(
    region="0 < mu < L",
    states=PlayedStates(play_line),
    assumed={
        "gradients": "grad f(x+) is orthogonal to grad f(x)",
        "gradients back": "the same, as <=",
        "search": "grad f(x+) is orthogonal to the move",
        "search back": "the same, as <=",
    },
    rounds={"t": 0, "T": 0},
    quantities={"gap": "f(x) - f(x_star)"},
    claim="gap[T] <= ((L - mu)/(L + mu))**(2*T)*gap[0]",
    proof="""
      step: gap[t+1] <= ((L - mu)/(L + mu))**2*gap[t]   by derivation
      done: claim                                       by contraction of step
    """,
)


def play_relative(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - d/L, d a gradient with a relative error of at most e."""
    f, x, star = w.function(p.L, p.mu), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    g, _ = w.at(f, x, "at x")
    states = [SimpleNamespace(x=x, x_star=star, f=f)]
    for k in range(last):
        d = w.vector(f"d{k}")
        w.assume(f"relative {k}", norm2(d - g) - norm2(g) * p.e**2)
        x = x - d / p.L
        g, _ = w.at(f, x, f"at x{k + 1}")
        states.append(SimpleNamespace(x=x, x_star=star, f=f))
    return states


RELATIVE_ERROR = Theorem(
    region="0 < mu < L, 0 < e < 1",
    states=PlayedStates(play_relative),
    assumed={"relative": "||d - grad f(x)|| <= e ||grad f(x)||"},
    rounds={"t": 0, "T": 0},
    quantities={"gap": "f(x) - f(x_star)", "g": "norm2(grad(f, x))"},
    claim="gap[T] <= (1 - (1 - e**2)*mu/L)**T*gap[0]",
    proof="""
      down: gap[t+1] <= gap[t] - (1 - e**2)/(2*L)*g[t]   by derivation
      dominated: 2*mu*gap[t] <= g[t]   by derivation
      step: gap[t+1] <= (1 - (1 - e**2)*mu/L)*gap[t]   by combine down, ((1 - e**2)/(2*L))*dominated
      done: claim                                   by contraction of step
    """,
)


def play_absolute(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - lr d, d a gradient with an absolute error of at most delta."""
    f, x, star = w.function(p.L, p.mu), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    states: list[Any] = []
    for k in range(last + 1):
        g, _ = w.at(f, x, f"at x{k}")
        states.append(SimpleNamespace(x=x, x_star=star, f=f))
        d = w.vector(f"d{k}")
        w.assume(f"absolute {k}", norm2(d - g) - p.delta**2)
        x = x - d * p.lr
    return states


ABSOLUTE_ERROR = Theorem(
    region="0 < mu < L, 0 < delta, 0 < lr <= 1/L",
    states=PlayedStates(play_absolute),
    assumed={"absolute": "||d - grad f(x)|| <= delta"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)"},
    claim="d[T] <= (1 - lr*mu)**T*d[0] + delta**2/mu**2*(1 - (1 - lr*mu)**T)",
    proof="""
      step: d[t+1] <= (1 - lr*mu)*d[t] + lr*delta**2/mu   by derivation
      done: claim  by induction T: base combine; step combine (1 - lr*mu)*ih, step(t=T)
    """,
)


def play_resolvent(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - lam a, a in A x+."""
    x, star = w.vector("x"), w.vector("x_star")
    states = [SimpleNamespace(x=x, x_star=star)]
    for k in range(last):
        a = w.vector(f"a{k}")
        x = x - a * p.lam
        w.assume(f"monotone {k}", norm2(x - star) * p.mu - dot(a, x - star))
        states.append(SimpleNamespace(x=x, x_star=star))
    return states


RESOLVENT = Theorem(
    region="0 < lam, 0 < mu",
    states=PlayedStates(play_resolvent),
    assumed={"monotone": "A is mu-strongly monotone, and 0 is in A x_star"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)"},
    claim="d[T] <= (1/(1 + lam*mu))**(2*T)*d[0]",
    proof="""
      step: d[t+1] <= (1/(1 + lam*mu))**2*d[t]   by derivation
      done: claim                                by contraction of step
    """,
)


def play_unbiased(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - lr C(grad f(x)), C(v) = v + e or v - e, each with probability 1/2."""
    f, x, star = w.function(p.L, p.mu), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    states = [[(Fraction(1), SimpleNamespace(x=x, x_star=star, f=f))]]
    for k in range(last):
        outcomes = []
        for j, (chance, now) in enumerate(states[-1]):
            g, _ = w.at(f, now.x, f"at x{k} {j}")
            e = w.vector(f"e{k} {j}")
            w.assume(f"omega {2**k + j}", norm2(e) - norm2(g) * p.omega)
            outcomes += [(chance / 2, SimpleNamespace(x=now.x - (g + s) * p.lr, x_star=star, f=f)) for s in (e, -e)]
        states.append(outcomes)
    return states


UNBIASED = Theorem(
    region="0 < mu < L, 0 < omega, 0 < lr <= 1/(L*(1 + omega))",
    states=PlayedStates(play_unbiased),
    assumed={"omega": "E C(v) = v, E ||C(v) - v||^2 <= omega ||v||^2"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)", "S": "norm2(grad(f, x))", "I": "dot(grad(f, x), x - x_star)"},
    claim="d[T] <= (1 - lr*mu)**T*d[0]",
    proof="""
      pos:   0 <= S[t]                                              by derivation
      moved: d[t+1] <= d[t] - 2*lr*I[t] + lr**2*(1 + omega)*S[t]    by derivation
      slope: mu*d[t] + S[t]/L <= 2*I[t]                             by derivation
      step:  d[t+1] <= (1 - lr*mu)*d[t]                             by combine moved, lr*slope, (lr/L - lr**2*(1 + omega))*pos
      done:  claim                                                  by contraction of step
    """,
)


SGD_NOISE = Theorem(
    region="0 < L, 0 < lr <= 1/L, 0 < R, 0 < sigma, n in 2..",
    states=MethodStates("fedavg", "lr, steps = 1, batch = 1", "L, mu = 0, sigma", clients="n"),
    rounds={"N": 1, "t": 0},
    quantities={"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)"},
    given={"start": "d[0] <= R**2"},
    assumed={"noise": "E mean_i ||xi_i||^2 <= sigma^2, independent, zero in the mean"},
    claim="exists t in 0..N-1: gap[t] <= R**2/(lr*N) + lr*sigma**2/n",
)


def play_averaged_noise(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = x - lr mean_i (grad f_i(x) + e_i), or with - e_i; the mean of n independent errors is sigma/sqrt(n) long."""
    f, x, star, s = (
        w.function(p.L, p.mu, client=True, name="f_i"),
        w.vector("x"),
        w.vector("x_star"),
        w.vector("s_i", client=True),
    )
    w.at(f, star, "at x_star", g=s - bar(s))
    states = [[(Fraction(1), SimpleNamespace(x=x, x_star=star, f_i=f))]]
    for k in range(last):
        outcomes = []
        for j, (chance, now) in enumerate(states[-1]):
            g, _ = w.at(f, now.x, f"at x{k} {j}")
            e = w.vector(f"e{k} {j}", client=True)
            w.assume(f"noise {2**k + j}", norm2(bar(e)) - p.sigma**2 / p.n)
            outcomes += [
                (chance / 2, SimpleNamespace(x=now.x - bar(g + e * i) * p.lr, x_star=star, f_i=f)) for i in (1, -1)
            ]
        states.append(outcomes)
    return states


SGD_FLOOR = Theorem(
    region="0 < mu < L, 0 < lr <= 1/L, 0 < sigma, 1 <= n",
    states=PlayedStates(play_averaged_noise),
    assumed={"noise": "E ||mean_i e_i||^2 <= sigma^2/n, as of independent ones, zero in the mean"},
    rounds={"t": 0, "T": 0},
    quantities={"d": "norm2(x - x_star)"},
    where={"floor": "lr*sigma**2/(n*mu*(2 - lr*mu))"},
    claim="d[T] <= (1 - lr*mu)**(2*T)*d[0] + floor*(1 - (1 - lr*mu)**(2*T))",
    proof="""
      step: d[t+1] <= (1 - lr*mu)**2*d[t] + lr**2*sigma**2/n   by derivation
      done: claim     by induction T: base combine; step combine (1 - lr*mu)**2*ih, step(t=T)
    """,
)


def play_svrg(w: World, p: Parameters, last: int) -> list[Any]:
    """Loopless SVRG for two functions; y becomes x with probability q."""
    f, g = w.function(p.L, p.mu, name="f_1"), w.function(p.L, p.mu, name="f_2")
    x, star, s, y = (w.vector(name) for name in ("x", "x_star", "s", "y"))
    w.at(f, star, "f_1 at x_star", g=s)
    w.at(g, star, "f_2 at x_star", g=-s)
    states = [[(Fraction(1), SimpleNamespace(x=x, y=y, x_star=star, s=s, f_1=f, f_2=g))]]
    for k in range(last):
        outcomes = []
        for j, (chance, now) in enumerate(states[-1]):
            u, _ = w.at(f, now.x, f"f_1 at x{k} {j}")
            v, _ = w.at(g, now.x, f"f_2 at x{k} {j}")
            a, _ = w.at(f, now.y, f"f_1 at y{k} {j}")
            b, _ = w.at(g, now.y, f"f_2 at y{k} {j}")
            for new, old in ((u, a), (v, b)):
                after = now.x - (new - old + (a + b) * HALF) * p.lr
                for coin, y in ((p.q, now.x), (1 - p.q, now.y)):
                    outcomes.append((chance * coin / 2, SimpleNamespace(x=after, y=y, x_star=star, s=s, f_1=f, f_2=g)))
        states.append(outcomes)
    return states


SVRG = Theorem(
    region="0 < mu < L, 0 < q < 1, 0 < lr <= 1/(6*L)",
    states=PlayedStates(play_svrg),
    rounds={"t": 0},
    quantities={
        "d": "norm2(x - x_star)",
        "S": "(norm2(grad(f_1, x) - s) + norm2(grad(f_2, x) + s))/2",
        "I": "dot(grad(f_1, x) + grad(f_2, x), x - x_star)/2",
        "H": "(norm2(grad(f_1, y) - s) + norm2(grad(f_2, y) + s))/2",
    },
    claim="d[t+1] + 4*lr**2/q*H[t+1] <= (1 - lr*mu)*d[t] + (1 - q/2)*4*lr**2/q*H[t]",
    proof="""
      pos:   0 <= S[t]                                                 by derivation
      kept:  H[t+1] <= (1 - q)*H[t] + q*S[t]                           by derivation
      moved: d[t+1] <= d[t] - 2*lr*I[t] + 2*lr**2*S[t] + 2*lr**2*H[t]  by derivation
      slope: mu*d[t] + S[t]/L <= 2*I[t]                                by derivation
      done:  claim                          by combine moved, (4*lr**2/q)*kept, lr*slope, (lr/L - 6*lr**2)*pos
    """,
)


CLAIMS = [
    state(
        "KIND-LINE-SEARCH",
        PAPER,
        "De Klerk, Glineur and Taylor 2017",
        "Exact line search lowers the gap by ((L - mu)/(L + mu))^2 a step.",
        LINE_SEARCH,
    ),
    state(
        "KIND-RELATIVE-ERROR",
        PAPER,
        "De Klerk, Glineur and Taylor 2020, not sharp",
        "Gradients with a relative error e lower the gap by 1 - (1 - e^2) mu/L a step.",
        RELATIVE_ERROR,
    ),
    state(
        "KIND-ABSOLUTE-ERROR",
        PAPER,
        "Polyak 1987, Section 4.2",
        "Gradients with an absolute error delta lead to a ball of radius delta/mu.",
        ABSOLUTE_ERROR,
    ),
    state(
        "KIND-RESOLVENT",
        PAPER,
        "Rockafellar 1976",
        "Resolvents of mu-strongly monotone operators contract by 1/(1 + lam mu).",
        RESOLVENT,
    ),
    state(
        "KIND-UNBIASED",
        PAPER,
        "Khirirat, Feyzmahdavian and Johansson 2018",
        "Gradients that are compressed without bias contract by 1 - lr mu, for lr <= 1/(L (1 + omega)).",
        UNBIASED,
    ),
    state(
        "KIND-SGD-NOISE",
        PAPER,
        "Nemirovski, Juditsky, Lan and Shapiro 2009, not sharp",
        "Noise of n clients leaves sigma^2/n; the proof is found.",
        SGD_NOISE,
    ),
    state(
        "KIND-SGD-FLOOR",
        PAPER,
        "Polyak 1987, Chapter 4, with the sharp floor",
        "Noise of n clients leaves exactly lr sigma^2/(n mu (2 - lr mu)) of a strongly convex function.",
        SGD_FLOOR,
    ),
    state("KIND-SVRG", PAPER, "Kovalev, Horvath and Richtarik 2020", "Loopless SVRG on two functions contracts.", SVRG),
]

#: claims in the place of those above, with constants that are 3 % off
FALSE = {
    "KIND-LINE-SEARCH": "gap[T] <= (97/100)**T*((L - mu)/(L + mu))**(2*T)*gap[0]",
    "KIND-RELATIVE-ERROR": "gap[T] <= (1 - 103/100*(1 - e**2)*mu/L)**T*gap[0]",
    "KIND-ABSOLUTE-ERROR": "d[T] <= (1 - lr*mu)**T*d[0] + 97/100*delta**2/mu**2*(1 - (1 - lr*mu)**T)",
    "KIND-RESOLVENT": "d[T] <= (97/100/(1 + lam*mu))**(2*T)*d[0]",
    "KIND-UNBIASED": "d[T] <= (1 - 103/100*lr*mu)**T*d[0]",
    "KIND-SGD-FLOOR": "d[T] <= (1 - lr*mu)**(2*T)*d[0] + 97/100*floor*(1 - (1 - lr*mu)**(2*T))",
    "KIND-SVRG": "d[t+1] + 4*lr**2/q*H[t+1] <= (1 - 103/100*lr*mu)*d[t] + 97/100*(1 - q/2)*4*lr**2/q*H[t]",
}
