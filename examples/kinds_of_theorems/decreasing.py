"""Steps that fall like 1/k: stochastic gradients, and local steps of unlike clients with noise in each.

`fedtheory check FILE` judges them; `FALSE` has each with constants that are 3 % off.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims import PlayedStates, Theorem, bar, norm2, state
from fedtheory.claims.statements.worlds import Parameters, World

PAPER = "kinds of theorems"
NOISE = {"noise": "E ||e||^2 <= sigma^2, zero in the mean"}
MEAN_NOISE = {"noise": "E ||mean_i e_i||^2 <= sigma^2/n, as of independent ones, zero in the mean"}
#: of the clients' models: how far their mean is from x_star, and they from it, gradients there, and their product with the way to x_star
OF_MODELS = {
    "d": "norm2(bar(x_i) - x_star)",
    "D": "mean(norm2(x_i - bar(x_i)))",
    "S": "mean(norm2(grad(f_i, x_i)))",
    "I": "dot(bar(grad(f_i, x_i)), bar(x_i) - x_star)",
}
#: lines of both theorems on local steps
MOVED = """
      pos:   0 <= d[k]                                                                 by derivation
      up:    0 <= gap[k]                                                               by derivation
      moved: d[k+1] <= d[k] - 2*h[k]*I[k] + h[k]**2*S[k] + h[k]**2*sigma**2/n          by derivation
"""


def play_sgd(w: World, p: Parameters, last: int, strongly: bool = True) -> list[Any]:
    """x+ = x - h_k (grad f(x) + e) or x - h_k (grad f(x) - e), each with probability 1/2."""
    f, x, star = w.function(p.L, p.mu if strongly else 0), w.vector("x"), w.vector("x_star")
    w.at(f, star, "at x_star", g=star * 0)
    states = [[(Fraction(1), SimpleNamespace(x=x, x_star=star, f=f))]]
    for k in range(last):
        outcomes, h = [], getattr(p, f"h_{k}")
        for j, (chance, now) in enumerate(states[-1]):
            g, _ = w.at(f, now.x, f"at x{k} {j}")
            e = w.vector(f"e{k} {j}")
            w.assume(f"noise {2**k + j}", norm2(e) - p.sigma**2)
            outcomes += [(chance / 2, SimpleNamespace(x=now.x - (g + s) * h, x_star=star, f=f)) for s in (e, -e)]
        states.append(outcomes)
    return states


SGD_DECREASING = Theorem(
    region="0 < mu < L, 0 < sigma, 2*L/mu <= gamma",
    states=PlayedStates(play_sgd),
    sequences={"h": "0..1/L"},
    given={"steps": "h[k] == 2/(mu*(gamma + k))"},
    assumed=NOISE,
    rounds={"k": 0, "N": 0},
    quantities={"d": "norm2(x - x_star)"},
    claim="d[N] <= (gamma*d[0] + 4*sigma**2/mu**2)/(gamma + N)",
    proof="""
      pos:   0 <= d[k]                                                     by derivation
      one:   d[k+1] <= (1 - mu*h[k])*d[k] + h[k]**2*sigma**2               by derivation
      round: d[k+1] <= (1 - 2/(gamma + k))*d[k] + 4*sigma**2/(mu**2*(gamma + k)**2)
               by combine one, (-mu*d[k] + (h[k] + 2/(mu*(gamma + k)))*sigma**2)*steps
      done:  claim
               by induction N: base combine;
                 step combine (1 - 2/(gamma + N))*ih, round(k=N), (gamma*(gamma + N + 2)/((gamma + N)**2*(gamma + N + 1)))*pos(k=0)
    """,
)


SGD_ANY_STEPS = Theorem(
    region="0 < L, 0 < sigma",
    states=PlayedStates(partial(play_sgd, strongly=False)),
    sequences={"h": "0..1/L"},
    assumed=NOISE,
    rounds={"k": 0, "N": 0},
    quantities={"d": "norm2(x - x_star)", "gap": "f(x) - f(x_star)"},
    claim="sum(2*h[k]*gap[k], k, 0, N) <= d[0] + sum(h[k]**2*sigma**2, k, 0, N)",
    proof="""
      pos:   0 <= d[k]                                                     by derivation
      step:  2*h[k]*gap[k] + d[k+1] <= d[k] + h[k]**2*sigma**2             by derivation
      all:   sum(2*h[k]*gap[k], k, 0, N) + d[N+1] <= d[0] + sum(h[k]**2*sigma**2, k, 0, N)
               by induction N: base combine step(k=0); step combine ih, step(k=N+1)
      done:  claim                                                         by combine all, pos(k=N+1)
    """,
)


def play_local(w: World, p: Parameters, last: int, unlike: bool = True) -> list[Any]:
    """One local step of every client, x_i - h_k (grad f_i(x_i) + e_i) or with - e_i; then models are averaged, or not: only their mean is told.

    m_i is a client's own minimiser; where clients are not ``unlike`` it is x_star for all of them.
    """
    f = w.function(p.L, p.mu, client=True, name="f_i")
    x, star = w.vector("x_i", client=True), w.vector("x_star")
    low = w.vector("m_i", client=True) if unlike else star
    if unlike:
        s = w.vector("s_i", client=True)
        w.at(f, star, "at x_star", g=s - bar(s))
    w.at(f, low, "at m_i", g=low * 0)
    states = [[(Fraction(1), SimpleNamespace(x_i=x, x_star=star, m_i=low, f_i=f))]]
    for k in range(last):
        outcomes, h = [], getattr(p, f"h_{k}")
        for j, (chance, now) in enumerate(states[-1]):
            g, _ = w.at(f, now.x_i, f"at x{k} {j}")
            e = w.vector(f"e{k} {j}", client=True)
            w.assume(f"noise {2**k + j}", norm2(bar(e)) - p.sigma**2 / p.n)
            for i, sign in enumerate((1, -1)):
                u = w.vector(f"u{k} {j} {i}", client=True)
                after = bar(now.x_i - (g + e * sign) * h) + u - bar(u)
                outcomes.append((chance / 2, SimpleNamespace(x_i=after, x_star=star, m_i=low, f_i=f)))
        states.append(outcomes)
    return states


LOCAL_DECREASING = Theorem(
    region="0 < mu < L, 0 < sigma, 1 <= n, 0 < G, 0 < Gam, 1 <= E, 8*L/mu <= gamma",
    states=PlayedStates(play_local),
    sequences={"h": "0..1/(4*L)"},
    given={
        "steps": "h[k] == 2/(mu*(gamma + k))",
        "unlike": "Z[k] <= Gam",
        "near": "D[k] <= 4*(E - 1)**2*h[k]**2*G**2",
    },
    where={"B": "sigma**2/n + 6*L*Gam + 8*(E - 1)**2*G**2"},
    assumed=MEAN_NOISE,
    rounds={"k": 0, "N": 0},
    quantities={
        **OF_MODELS,
        "P": "mean(f_i(x_i) - f_i(m_i))",
        "Z": "mean(f_i(x_star) - f_i(m_i))",
        "gap": "mean(f_i(bar(x_i)) - f_i(x_star))",
    },
    claim="gap[N] <= L/(mu*(gamma + N))*(2*B/mu + mu*gamma/2*d[0])",
    proof=MOVED
    + """
      Z_pos: 0 <= Z[k]                                                                 by derivation
      D_pos: 0 <= D[k]                                                                 by derivation
      smooth: gap[k] <= L/2*d[k]                                                       by derivation
      size:  S[k] <= 2*L*P[k]                                                          by derivation
      slope: h[k]*mu*d[k] + 2*h[k]*(P[k] - Z[k]) <= 2*h[k]*I[k] + D[k] + h[k]**2*S[k]  by derivation
      low:   h[k]*gap[k] - h[k]**2*L*(gap[k] + Z[k]) - D[k]/2 <= h[k]*(P[k] - Z[k])    by derivation
      one:   d[k+1] <= (1 - mu*h[k])*d[k] + h[k]**2*(sigma**2/n + 6*L*Z[k]) + 2*D[k]
               by combine moved, slope, (2*h[k]**2)*size, (2*(1 - 2*h[k]*L))*low,
                 (2*h[k]*(1 - 2*h[k]*L)*(1 - h[k]*L))*up, (4*h[k]**3*L**2)*Z_pos, (2*h[k]*L)*D_pos
      round: d[k+1] <= (1 - 2/(gamma + k))*d[k] + 4*B/(mu**2*(gamma + k)**2)
               by combine one, (6*h[k]**2*L)*unlike, 2*near, (-mu*d[k] + (h[k] + 2/(mu*(gamma + k)))*B)*steps
      B_pos: 0 <= B                                                                    by combine (8*G**2)*square(E - 1)
      all:   d[N] <= (gamma*d[0] + 4*B/mu**2)/(gamma + N)
               by induction N: base combine;
                 step combine (1 - 2/(gamma + N))*ih, round(k=N), (gamma*(gamma + N + 2)/((gamma + N)**2*(gamma + N + 1)))*pos(k=0),
                 (4/(mu**2*(gamma + N)**2*(gamma + N + 1)))*B_pos
      done:  claim                                                                     by combine smooth(k=N), (L/2)*all
    """,
)


LOCAL_SGD = Theorem(
    region="0 < mu < L, 0 < sigma, 1 <= n, 0 < G, 1 <= H, 16*L/mu <= a",
    states=PlayedStates(partial(play_local, unlike=False)),
    sequences={"h": "0..1/(4*L)"},
    given={"steps": "h[k] == 4/(mu*(a + k))", "near": "D[k] <= 4*H**2*h[k]**2*G**2"},
    assumed=MEAN_NOISE,
    rounds={"k": 0, "N": 0},
    quantities={
        **OF_MODELS,
        "gap": "mean(f_i(x_i) - f_i(x_star))",
    },
    claim="sum((a + k)**2*gap[k], k, 0, N) <= mu*a**3/2*d[0] + 4*(N + 1)*(N + 1 + 2*a)/mu*sigma**2/n + 256*(N + 1)/mu**2*G**2*H**2*L",
    proof=MOVED
    + """
      size:  S[k] <= 2*L*gap[k]                                                     by derivation
      slope: mu*d[k] + 2*gap[k] <= 2*I[k] + 2*L*D[k] + S[k]/(2*L)                   by derivation
      one:   h[k]/2*gap[k] + d[k+1] <= (1 - mu*h[k])*d[k] + h[k]**2*sigma**2/n + 2*h[k]*L*D[k]
               by combine moved, h[k]*slope, (h[k]**2 + h[k]/(2*L))*size, (h[k]/2*(1 - 4*h[k]*L))*up
      near_h: h[k]*D[k] <= 4*h[k]**3*H**2*G**2                                      by combine h[k]*near
      step:  (a + k)**2*gap[k] + mu*(a + k)**3/2*d[k+1]
               <= mu*(a + k)**3/2*(1 - 4/(a + k))*d[k] + 8*(a + k)/mu*sigma**2/n + 256/mu**2*G**2*H**2*L
               by combine (mu*(a + k)**3/2)*one, (mu*(a + k)**3*L)*near_h,
                 (mu*(a + k)**3/2*(-gap[k]/2 - mu*d[k] + (h[k] + 4/(mu*(a + k)))*sigma**2/n
                   + 8*L*H**2*G**2*(h[k]**2 + 4*h[k]/(mu*(a + k)) + 16/(mu*(a + k))**2)))*steps
      all:   sum((a + k)**2*gap[k], k, 0, N) + mu*(a + N)**3/2*d[N+1]
               <= mu*a**3/2*d[0] + 4*(N + 1)*(N + 1 + 2*a)/mu*sigma**2/n + 256*(N + 1)/mu**2*G**2*H**2*L
               by induction N: base combine step(k=0), (2*mu*a**2)*pos(k=0);
                 step combine ih, step(k=N+1), (mu/2*((a + N)**2 + 5*(a + N) + 3))*pos(k=N+1)
      done:  claim                                                                  by combine all, (mu*(a + N)**3/2)*pos(k=N+1)
    """,
)


def play_drift(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """Local steps since clients had the same model c, x_i - h_k (g_i + e_i) or with - e_i."""
    c = w.vector("c")
    states = [[(Fraction(1), SimpleNamespace(x_i=c if start else w.vector("x_i", client=True), c=c))]]
    for k in range(last):
        outcomes, h = [], getattr(p, f"h_{k}")
        for j, (chance, now) in enumerate(states[-1]):
            g, e = (w.vector(f"{name}{k} {j}", client=True) for name in "ge")
            w.assume(f"bounded {2**k + j}", norm2(g) + norm2(e) - p.G**2)
            outcomes += [(chance / 2, SimpleNamespace(x_i=now.x_i - (g + s) * h, c=c)) for s in (e, -e)]
        states.append(outcomes)
    return states


DRIFT = Theorem(
    region="0 < mu, 0 < G, 1 <= E <= a",
    states=PlayedStates(play_drift, start=partial(play_drift, start=True)),
    sequences={"h": "0..2/(mu*a)"},
    given={"steps": "h[r] == 2/(mu*(a + r))", "few": "N <= E - 1"},
    assumed={"bounded": "E mean_i ||g_i + e_i||^2 <= G^2"},
    rounds={"k": 1, "N": 1, "r": 0},
    quantities={"D": "mean(norm2(x_i - bar(x_i)))", "M": "mean(norm2(x_i - c))"},
    claim=("D[N] <= N**2*(2*G/(mu*a))**2", "D[N] <= 4*(E - 1)**2*h[N]**2*G**2"),
    proof="""
      within: D[k] <= M[k]                                                              by derivation
      small:  h[k] <= 2/(mu*a)             by combine
      first:  M[1] <= (2*G/(mu*a))**2                                                   by derivation
      step:   M[k+1] <= (1 + 1/k)*M[k] + (1 + k)*h[k]**2*G**2                           by derivation
      wide:   h[k]**2 <= (2/(mu*a))**2     by combine (2/(mu*a) + h[k])*small
      all:    M[N] <= N**2*(2*G/(mu*a))**2  by induction N: base combine first; step combine (1 + 1/N)*ih, step(k=N), ((1 + N)*G**2)*wide(k=N)
      done:   claim 1                       by combine within(k=N), all
      short:  N**2*(2*G/(mu*a))**2 <= 4*(E - 1)**2*(2/(mu*(a + N)))**2*G**2
                by combine ((2*a + N)*(2*(E - 1)*a + N*(a + N))/(a**2*(a + N)**2)*(2*G/mu)**2)*few
      lemma:  claim 2                       by combine 1*done, 1*short, (-4*(E - 1)**2*G**2*(h[N] + 2/(mu*(a + N))))*steps(r=N)
    """,
)

CLAIMS = [
    state(
        "KIND-SGD-DECREASING",
        PAPER,
        "Bottou, Curtis and Nocedal 2018, Theorem 4.7, for distances and steps 2/(mu (gamma + k))",
        "Stochastic gradients with falling steps: E ||x^N - x*||^2 <= (gamma ||x^0 - x*||^2 + 4 sigma^2/mu^2)/(gamma + N).",
        SGD_DECREASING,
    ),
    state(
        "KIND-SGD-ANY-STEPS",
        PAPER,
        "Nemirovski, Juditsky, Lan and Shapiro 2009, for smooth f",
        "Stochastic gradients without strong convexity, steps as one likes up to 1/L: the gaps weighted by steps, and so the gap at that average.",
        SGD_ANY_STEPS,
    ),
    state(
        "KIND-LOCAL-DECREASING",
        PAPER,
        "Li, Huang, Yang, Wang and Zhang 2020, Theorem 1, for equal weights; Lemma 3, how far models are apart, is KIND-LOCAL-DRIFT",
        "FedAvg with E local steps of size 2/(mu (gamma + k)), unlike clients and noise in each step: the gap after N steps.",
        LOCAL_DECREASING,
    ),
    state(
        "KIND-LOCAL-SGD",
        PAPER,
        "Stich 2019, Theorem 2.2, for clients with one minimiser; Lemma 3.3, how far models are apart, is KIND-LOCAL-DRIFT",
        "Local SGD with H local steps of size 4/(mu (a + k)): gaps, weighted by (a + k)^2, so that f at the weighted average is bounded.",
        LOCAL_SGD,
    ),
    state(
        "KIND-LOCAL-DRIFT",
        PAPER,
        "Li, Huang, Yang, Wang and Zhang 2020, Lemma 3, and a sharp bound before it",
        "N local steps after clients had one model: how far they are from their mean, where E mean_i ||g_i||^2 <= G^2.",
        DRIFT,
    ),
]

#: claims in the place of those above, with constants that are 3 % off
FALSE = {
    "KIND-SGD-DECREASING": "d[N] <= 97/100*(gamma*d[0] + 4*sigma**2/mu**2)/(gamma + N)",
    "KIND-SGD-ANY-STEPS": "sum(2*h[k]*gap[k], k, 0, N) <= 97/100*(d[0] + sum(h[k]**2*sigma**2, k, 0, N))",
    "KIND-LOCAL-DECREASING": "gap[N] <= 97/100*L/(mu*(gamma + N))*(2*B/mu + mu*gamma/2*d[0])",
    "KIND-LOCAL-DRIFT": ("D[N] <= 97/100*N**2*(2*G/(mu*a))**2", DRIFT.claims[1]),
}
