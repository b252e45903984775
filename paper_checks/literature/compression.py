"""Rates of methods that compress what clients send: EF21 and DIANA."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from fedtheory.algorithms.diana import Diana, DianaState
from fedtheory.claims.statements.as_claims import state
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Parameters, World, bar, norm2
from fedtheory.local.compression import AnyUnbiased
from paper_checks.literature.sources import PAPER

#: s is the root of 1 - alpha; the source's largest step 1/(L + L sqrt(beta/theta)) is (1 - s)/L
EF21 = Theorem(
    region="0 < L, 0 < s < 1, 0 < lr <= (1 - s)/L",
    states=MethodStates("ef21-any", "lr, error = s", "L, mu = -L"),
    assumed={"accuracy": "||C(v) - v|| <= s ||v||"},
    rounds={"t": 0, "T": 0},
    quantities={
        "gap": "f(x) - f(x_star)",
        "g": "norm2(grad(f, x))",
        "G": "mean(norm2(g_i - grad(f_i, x)))",
        "m": "norm2(bar(g_i))",
    },
    given={"below": "0 <= gap[t]"},
    claim="exists t in 0..T: g[t] <= 2*gap[0]/(lr*(T + 1)) + G[0]/((1 - s)*(T + 1))",
    proof="""
      pos:   0 <= G[t]                                                                          by derivation
      m_pos: 0 <= m[t]                                                                          by derivation
      near:  G[t+1] <= s*G[t] + s**2/(1 - s)*L**2*lr**2*m[t]                                    by derivation
      down:  gap[t+1] <= gap[t] - lr/2*g[t] - lr/2*(1 - L*lr)*m[t] + lr/2*G[t]                  by derivation
      fall:  gap[t+1] + lr/(2*(1 - s))*G[t+1] <= gap[t] + lr/(2*(1 - s))*G[t] - lr/2*g[t]
               by combine down, (lr/(2*(1 - s)))*near, (lr/2*(1 - L*lr - s**2/(1 - s)**2*L**2*lr**2))*m_pos
      all:   sum(lr/2*g[t], t, 0, T) <= gap[0] + lr/(2*(1 - s))*G[0] - gap[T+1] - lr/(2*(1 - s))*G[T+1]   by telescope of fall
      best:  exists t in 0..T: g[t] <= 2*(gap[0] + lr/(2*(1 - s))*G[0] - gap[T+1] - lr/(2*(1 - s))*G[T+1])/(lr*(T + 1))   by mean all
      done:  claim                                                                              by combine best, below(t=T+1), pos(t=T+1)
    """,
)


def play_diana(w: World, p: Parameters, last: int) -> list[Any]:
    """DIANA by its own code, g_i = grad f_i(x), where compressors err by e_i or by -e_i.

    Errors that clients draw by themselves have E ||mean_i e_i||^2 = E mean_i ||e_i||^2/n. Of errors nothing but second moments enters.
    """
    f, x, star = w.function(p.L, p.mu, client=True, name="f_i"), w.vector("x"), w.vector("x_star")
    h, u = w.vector("h_i", client=True), w.vector("u_i", client=True)
    s = u - bar(u)
    w.at(f, star, "at x_star", g=s)
    method = Diana(p.lr, p.alpha, AnyUnbiased(p.omega))
    states = [[(Fraction(1), SimpleNamespace(x=x, h_i=h, x_star=star, s_i=s, f_i=f))]]
    for k in range(last):
        outcomes = []
        for j, (chance, now) in enumerate(states[-1]):
            g, _ = w.at(f, now.x, f"at x{k} {j}")
            draw = 2**k + j
            e = w.vector(f"e_i{draw}", client=True)
            w.assume(f"variance {draw}", norm2(e) - norm2(g - now.h_i) * p.omega)
            w.assume(f"independent {draw}", norm2(bar(e)) - norm2(g - now.h_i) * (p.omega / p.n))
            before = {"x": now.x, "h_i": now.h_i}
            for error in (e, -e):
                after = w.round_of(lambda local: method, DianaState, before, g, at=now.x, errors=error)
                outcomes.append((chance / 2, SimpleNamespace(**after, x_star=star, s_i=s, f_i=f)))
        states.append(outcomes)
    return states


DIANA = Theorem(
    region="0 < mu < L, 0 < omega, n in 1.., 0 < alpha <= 1/(1 + omega), 0 < lr <= 1/(L*(1 + 6*omega/n))",
    states=PlayedStates(play_diana),
    assumed={
        "variance": "E C(v) = v, E ||C(v) - v||^2 <= omega ||v||^2",
        "independent": "n clients compress by themselves, so that the mean of their errors has an n-th of the variance",
    },
    rounds={"t": 0},
    where={"M": "4*omega*lr**2/(n*alpha)"},
    quantities={
        "d": "norm2(x - x_star)",
        "H": "mean(norm2(h_i - s_i))",
        "S": "mean(norm2(grad(f_i, x) - s_i))",
        "I": "mean(dot(grad(f_i, x) - s_i, x - x_star))",
    },
    claim="d[t+1] + M*H[t+1] <= (1 - lr*mu)*d[t] + (1 - alpha/2)*M*H[t]",
    proof="""
      pos:   0 <= S[t]                                                                                      by derivation
      kept:  H[t+1] <= (1 - alpha)*H[t] + alpha*S[t]                                                        by derivation
      moved: d[t+1] <= d[t] - 2*lr*I[t] + lr**2*(1 + 2*omega/n)*S[t] + 2*omega*lr**2/n*H[t]                 by derivation
      slope: mu*d[t] + S[t]/L <= 2*I[t]                                                                     by derivation
      done:  claim    by combine moved, M*kept, lr*slope, (lr/L - lr**2*(1 + 6*omega/n))*pos
    """,
)

CLAIMS = [
    state(
        "LIT-EF21",
        PAPER,
        "Richtarik, Sokolov and Fatkhullin 2021, Theorem 1, for clients of one L and a compressor that draws nothing",
        "EF21 with ||C(v) - v|| <= s ||v|| and lr <= (1 - s)/L, f not convex, with a minimiser: the least ||grad f(x^t)||^2 for t = 0, ..., T is at "
        "most 2 (f(x^0) - f*)/(lr (T + 1)) + G^0/((1 - s) (T + 1)).",
        EF21,
    ),
    state(
        "LIT-DIANA",
        PAPER,
        "Mishchenko et al. 2019; with these constants from Gorbunov, Hanzely and Richtarik 2020",
        "The potential of DIANA falls by max{1 - lr mu, 1 - alpha/2} in expectation, for alpha <= 1/(1 + omega) and lr <= 1/(L (1 + 6 omega/n)).",
        DIANA,
    ),
]
