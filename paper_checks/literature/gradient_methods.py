"""Rates of gradient, accelerated and proximal gradient methods, for every number of steps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms.gradient_descent import AcceleratedGradient, AcceleratedState, GradientDescent, PointState
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.bound import Bound, Contraction
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World, norm2
from paper_checks.literature.sources import PAPER


def step(w: World, L: Any, x: Any, g: Any) -> Any:
    """A step of gradient descent with lr = 1/L, by its own code."""
    return w.round_of(lambda local: GradientDescent(1 / L), PointState, {"x": x}, g, at=x)["x"]


def play_dominated(w: World, p: Parameters, last: int) -> list[Any]:
    """Gradient descent on an L-smooth f, which need not be convex, where 2 mu (f(x) - f*) <= ||grad f(x)||^2."""
    f, x, star = w.function(p.L, -p.L), w.vector("x"), w.vector("x_star")
    _, least = w.at(f, star, "at x_star", g=star * 0)
    states = []
    for k in range(last + 1):
        g, value = w.at(f, x, f"at x{k}")
        w.assume(f"dominated {k}", (value - least) * (2 * p.mu) - norm2(g))
        states.append(SimpleNamespace(x=x, x_star=star, f=f))
        x = step(w, p.L, x, g)
    return states


DOMINATED = Theorem(
    region="0 < mu < L",
    states=PlayedStates(play_dominated),
    assumed={"dominated": "the Polyak-Lojasiewicz inequality"},
    rounds={"t": 0, "T": 0},
    quantities={"gap": "f(x) - f(x_star)"},
    claim="gap[T] <= (1 - mu/L)**T*gap[0]",
    proof="""
      step: gap[t+1] <= (1 - mu/L)*gap[t]   by derivation
      done: claim                           by contraction of step
    """,
)
DOMINATED_SHARP = replace(
    DOMINATED,
    claim="gap[T] <= ((2*L - 2*mu)/(2*L + mu))**T*gap[0]",
    proof="""
      step: gap[t+1] <= (2*L - 2*mu)/(2*L + mu)*gap[t]   by derivation
      done: claim                                        by contraction of step
    """,
)
STRONG_GAP = Theorem(
    region="0 < mu < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu"),
    rounds={"t": 0, "T": 0},
    quantities={"gap": "f(x) - f(x_star)"},
    claim="gap[T] <= (1 - mu/L)**(2*T)*gap[0]",
    proof="""
      step: gap[t+1] <= (1 - mu/L)**2*gap[t]   by derivation
      done: claim                              by contraction of step
    """,
)


def play_smooth(w: World, p: Parameters, last: int) -> list[Any]:
    """Gradient descent on an L-smooth f, which need not be convex."""
    f, x, least = w.function(p.L, -p.L), w.vector("x"), w.value("f_star")
    states = []
    for k in range(last + 1):
        g, _ = w.at(f, x, f"at x{k}")
        states.append(SimpleNamespace(x=x, f=f, least=least))
        x = step(w, p.L, x, g)
    return states


STATIONARY = Theorem(
    region="0 < L",
    states=PlayedStates(play_smooth),
    rounds={"t": 0, "T": 0},
    quantities={"F": "f(x)", "g": "norm2(grad(f, x))", "least": "least"},
    given={"below": "least[t] <= F[t]"},
    claim="exists t in 0..T: g[t] <= 2*L*(F[0] - least[0])/(T + 1)",
    proof="""
      fall:  F[t+1] <= F[t] - g[t]/(2*L)                                  by derivation
      all:   sum(g[t]/(2*L), t, 0, T) <= F[0] - F[T+1]                    by telescope of fall
      same:  least[t+1] == least[t]                                       by identity
      fixed: least[T] == least[0]            by induction T: base combine; step combine ih, same(t=T)
      best:  exists t in 0..T: g[t] <= 2*L*(F[0] - F[T+1])/(T + 1)        by mean all
      done:  claim                                                        by combine best, below(t=T+1), fixed(T=T+1)
    """,
)


#: the same steps; what a step gains is told by the gradients at both of its ends
STATIONARY_SHARP = Theorem(
    region="0 < L",
    states=PlayedStates(play_smooth),
    rounds={"t": 0, "T": 0},
    quantities=STATIONARY.quantities,
    given=STATIONARY.given,
    claim="2*g[0] + 3*sum(g[t], t, 1, T) <= 4*L*(F[0] - least[0])",
    proof="""
      fall:  4*L*F[t+1] + g[t+1] <= 4*L*F[t] - 2*g[t]                                     by derivation
      pos:   0 <= g[t]                                                                    by derivation
      all:   2*g[0] + 3*sum(g[t], t, 1, T) + 4*L*F[T+1] + g[T+1] <= 4*L*F[0]
               by induction T: base combine fall(t=0); step combine ih, fall(t=T+1)
      same:  least[t+1] == least[t]                                                       by identity
      fixed: least[T] == least[0]            by induction T: base combine; step combine ih, same(t=T)
      done:  claim                           by combine all, pos(t=T+1), (4*L)*below(t=T+1), (-4*L)*fixed(T=T+1)
    """,
)


def play_proximal_gradients(w: World, p: Parameters, last: int) -> list[Any]:
    """x+ = prox_{h/L}(x - grad f(x)/L), f convex and L-smooth, h closed and convex, s its subgradient at x; 0 is one of f + h at x_star."""
    f, h, x, star, s = w.function(p.L, 0), w.function(name="h"), w.vector("x"), w.vector("x_star"), w.vector("s")
    g, _ = w.at(f, star, "f at x_star")
    w.at(h, star, "h at x_star", g=g * -1)
    w.at(h, x, "h at x", g=s)
    states = []
    for k in range(last + 1):
        g, _ = w.at(f, x, f"f at x{k}")
        states.append(SimpleNamespace(x=x, x_star=star, s=s, f=f, h=h))
        s = w.vector(f"s{k}")
        x = x - (g + s) / p.L
        w.at(h, x, f"h at x{k + 1}", g=s)
    return states


PROXIMAL_GRADIENTS = Theorem(
    region="0 < L",
    states=PlayedStates(play_proximal_gradients),
    rounds={"t": 0, "N": 1},
    quantities={"gap": "f(x) + h(x) - f(x_star) - h(x_star)", "d": "norm2(x - x_star)"},
    claim="gap[N] <= L*d[0]/(2*N)",
    proof="""
      pos:  0 <= d[t]                                                     by derivation
      step: (t + 1)*gap[t+1] + L/2*d[t+1] <= t*gap[t] + L/2*d[t]          by derivation
      all:  N*gap[N] + L/2*d[N] <= L/2*d[0]            by induction N: base combine step(t=0); step combine ih, step(t=N)
      done: claim                                                         by combine all, pos(t=N)
    """,
)


#: the same steps; G is the gradient of f + h that the next step takes
PROXIMAL_GRADIENTS_SHARP = Theorem(
    region="0 < L",
    states=PlayedStates(play_proximal_gradients),
    rounds={"t": 0, "N": 1},
    quantities={**PROXIMAL_GRADIENTS.quantities, "G": "norm2(grad(f, x) + s)"},
    claim="gap[N] <= L*d[0]/(4*N)",
    proof="""
      step: (t + 1)**2*G[t+1]/(2*L) + (t + 1)*gap[t+1] + L/2*d[t+1] <= t**2*G[t]/(2*L) + t*gap[t] + L/2*d[t]    by derivation
      all:  N**2*G[N]/(2*L) + N*gap[N] + L/2*d[N] <= L/2*d[0]    by induction N: base combine step(t=0); step combine ih, step(t=N)
      last: 2*t*gap[t] <= t**2*G[t]/(2*L) + t*gap[t] + L/2*d[t]                           by derivation
      done: claim                                                                         by combine (1/(2*N))*all, (1/(2*N))*last(t=N)
    """,
)


def play_accelerated(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """Nesterov's method with constant momentum, by its own code, on f L-smooth and L r^2-strongly convex: r is the square root of mu/L."""
    method = AcceleratedGradient(1 / p.L, (1 - p.r) / (1 + p.r))
    f, star, x = w.function(p.L, p.L * p.r**2), w.vector("x_star"), w.vector("x")
    w.at(f, star, "at x_star", g=star * 0)
    w.at(f, x, "at x")
    y, states = x if start else w.vector("y"), []
    for k in range(last + 1):
        states.append(SimpleNamespace(x=x, y=y, x_star=star, f=f))
        g, _ = w.at(f, y, f"at y{k}")
        now = w.round_of(lambda local: method, AcceleratedState, {"x": x, "y": y}, g, at=y)
        x, y = now["x"], now["y"]
        w.at(f, x, f"at x{k + 1}")
    return states


#: proofs of these two are found
ACCELERATED = Theorem(
    region="0 < L, 0 < r < 1",
    states=PlayedStates(play_accelerated, start=partial(play_accelerated, start=True)),
    rounds={"N": 0},
    quantities={
        "gap": "f(x) - f(x_star)",
        "d": "norm2(x - x_star)",
        "e": "dot(x - x_star, y - x)",
        "s": "norm2(y - x)",
    },
    claim="gap[N] <= (1 - r)**N*(gap[0] + L*r**2/2*d[0])",
)
LAST_GRADIENT = Theorem(
    region="0 < L",
    states=MethodStates("gd", "lr = 1/L", "L, mu = 0"),
    rounds={"N": 0},
    quantities={"gap": "f(x) - f(x_star)", "d": "norm2(x - x_star)", "g": "norm2(grad(f, x))"},
    claim="g[N] <= L**2*d[0]/(N + 1)**2",
)


def gap_of(method: str, claimed: str, steps: str = "1..") -> Bound:
    """f - f* after N steps of size 1/L from a distance of R at most; its proof is found."""
    region = f"0 < L, 0 < R, N in {steps}"
    return Bound(
        method, "lr = 1/L", region=region, functions="L", measure="gap", rounds="N", radius="R", claimed=claimed
    )


CLAIMS = [
    state(
        "LIT-GD-GAP",
        PAPER,
        "Nesterov 2004, Corollary 2.1.2",
        "N gradient steps of size 1/L leave f(x^N) - f* <= 2 L R^2/(N + 4).",
        gap_of("gd", "2*L*R**2/(N + 4)"),
    ),
    state(
        "LIT-GD-GAP-SHARP",
        PAPER,
        "Drori and Teboulle 2014, Theorem 3.1, for h = 1",
        "N gradient steps of size 1/L leave f(x^N) - f* <= L R^2/(4 N + 2).",
        gap_of("gd", "L*R**2/(4*N + 2)"),
    ),
    state(
        "LIT-GD-DISTANCE",
        PAPER,
        "Nesterov 2004, Theorem 2.1.15",
        "||x^t - x*||^2 falls by 1 - 2 lr mu L/(mu + L) a step, for lr <= 2/(mu + L).",
        Contraction(
            "gd",
            "lr",
            region="0 < mu < L, 0 < lr <= 2/(mu + L)",
            functions="L, mu",
            potential={"x": 1},
            claimed="1 - 2*lr*mu*L/(mu + L)",
        ),
    ),
    state(
        "LIT-GD-FACTOR",
        PAPER,
        "Polyak 1987, Section 1.4",
        "||x^t - x*||^2 falls by max{(1 - lr mu)^2, (1 - lr L)^2} a step, for lr < 2/L.",
        Contraction(
            "gd",
            "lr",
            region="0 < mu < L, 0 < lr < 2/L",
            functions="L, mu",
            potential={"x": 1},
            claimed="max((1 - lr*mu)**2, (1 - lr*L)**2)",
        ),
    ),
    state(
        "LIT-GD-GAP-LINEAR",
        PAPER,
        "Taylor, Hendrickx and Glineur 2018, for steps of size 1/L and without a second function",
        "f(x^T) - f* <= (1 - mu/L)^(2 T) (f(x^0) - f*).",
        STRONG_GAP,
    ),
    state(
        "LIT-PL-RATE",
        PAPER,
        "Karimi, Nutini and Schmidt 2016, Theorem 1",
        "f(x^T) - f* <= (1 - mu/L)^T (f(x^0) - f*) under the Polyak-Lojasiewicz inequality.",
        DOMINATED,
    ),
    state(
        "LIT-PL-RATE-SHARP",
        PAPER,
        "Abbaszadehpeivasteh, de Klerk and Zamani 2023, for steps of size 1/L",
        "f(x^T) - f* <= ((2 L - 2 mu)/(2 L + mu))^T (f(x^0) - f*) under the Polyak-Lojasiewicz inequality.",
        DOMINATED_SHARP,
    ),
    state(
        "LIT-GD-GRADIENT",
        PAPER,
        "Teboulle and Vaisman 2023",
        "N gradient steps of size 1/L leave ||grad f(x^N)|| <= L R/(N + 1).",
        LAST_GRADIENT,
    ),
    state(
        "LIT-GD-STATIONARY",
        PAPER,
        "Nesterov 2004, (1.2.15)",
        "The least ||grad f(x^t)||^2 for t = 0, ..., T, with steps of size 1/L, f smooth and not convex, is at most 2 L (f(x^0) - f*)/(T + 1).",
        STATIONARY,
    ),
    state(
        "LIT-GD-STATIONARY-SHARP",
        PAPER,
        "Abbaszadehpeivasteh, de Klerk and Zamani 2022, for steps of size 1/L",
        "2 ||grad f(x^0)||^2 + 3 (||grad f(x^1)||^2 + ... + ||grad f(x^T)||^2) <= 4 L (f(x^0) - f*) there, so that the least of them is at most "
        "4 L (f(x^0) - f*)/(3 T + 2).",
        STATIONARY_SHARP,
    ),
    state(
        "LIT-ISTA",
        PAPER,
        "Beck and Teboulle 2009, Theorem 3.1",
        "N proximal gradient steps of size 1/L leave F(x^N) - F* <= L R^2/(2 N).",
        PROXIMAL_GRADIENTS,
    ),
    state(
        "LIT-ISTA-SHARP",
        PAPER,
        "Taylor, Hendrickx and Glineur 2018",
        "N proximal gradient steps of size 1/L leave F(x^N) - F* <= L R^2/(4 N).",
        PROXIMAL_GRADIENTS_SHARP,
    ),
    state(
        "LIT-SGD",
        PAPER,
        "Polyak 1987, Chapter 4",
        "With noise of variance sigma^2 at each of n clients E ||x^N - x*||^2 <= (1 - lr mu)^(2 N) R^2 + lr sigma^2/(n mu), for lr <= 1/L.",
        Bound(
            "fedavg",
            "lr, steps = 1, batch = 1",
            region="0 < mu < L, 0 < lr <= 1/L, 0 < R, 0 < sigma, n in 2.., N in 1..",
            functions="L, mu, sigma",
            clients="n",
            measure="squared_distance",
            rounds="N",
            radius="R",
            claimed="(1 - lr*mu)**(2*N)*R**2 + lr*sigma**2/(n*mu)",
        ),
    ),
    state(
        "LIT-AGD-LINEAR",
        PAPER,
        "Nesterov 2004, Theorem 2.2.3",
        "With constant momentum f(x^N) - f* <= (1 - sqrt(mu/L))^N (f(x^0) - f* + (mu/2) ||x^0 - x*||^2); r is sqrt(mu/L).",
        ACCELERATED,
    ),
    state(
        "LIT-AGD",
        PAPER,
        "Nesterov 1983",
        "N accelerated steps of size 1/L leave f(x^N) - f* <= 2 L R^2/(N + 1)^2.",
        gap_of("agd", "2*L*R**2/(N + 1)**2"),
    ),
    state(
        "LIT-AGD-SHARP",
        f"{PAPER}, derived",
        "Nesterov 1983, with the sharp constant, for N up to 6",
        "N <= 6 accelerated steps of size 1/L leave f(x^N) - f* <= 2 L R^2/((N + 2) (N + 3)).",
        gap_of("agd", "2*L*R**2/((N + 2)*(N + 3))", "1..6"),
    ),
]
