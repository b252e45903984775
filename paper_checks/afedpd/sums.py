"""Appendix B.3 as theorems of numbers: Lemma 4, the chance that a sample is drawn, and the sums under constant and decaying steps."""

from __future__ import annotations

from typing import Any

from fedtheory.claims import Theorem
from paper_checks.formulas import formula, over_outcomes


def printed_chance(P: Any, tau: Any, C: Any, S: Any) -> Any:
    """What the proof of Lemma 4 bounds P(zeta^c) by."""
    return P * tau / (C * S)


def right_of_16(distance: Any, chance: Any, G: Any, H: Any) -> Any:
    """Lemma 4's right side, (16), with P(zeta^c) or its bound."""
    return G * distance + H * chance


def fixed_sum(w: Any, L: Any, G: Any, N: Any) -> Any:
    """Delta after n rounds of a fixed step, w = (1 + gamma eta K L)^n, N = CS."""
    return 2 * G / (L * N) * (w - 1)


def round_apart(y: Any, gamma: Any, eta: Any, K: Any, L: Any, G: Any, N: Any) -> Any:
    """What Delta + alpha_rho sigma is at most after a round, where it was y, N = CS."""
    return (1 + gamma * eta * K * L) * y + 2 * gamma * eta * K * G / N


def decayed_sum(T: Any, tau: Any, a: Any, L: Any, G: Any, N: Any) -> Any:
    """What Delta^T is at most with decaying steps, a = gamma eta_0 K L <= mu L, N = CS."""
    return 2 * G / (L * N) * (T / tau) ** a


CHANCE = formula(printed_chance, P="P", tau="tau", C="C", S="S")


def _no_further(F: str, own: str) -> tuple[str, str]:
    """|F - own| <= epsilon."""
    return f"{F} - {own} <= epsilon", f"{own} - {F} <= epsilon"


_TWO_ORDERS = {"F": over_outcomes("((ab[r] + ba[r])/2)"), "own": over_outcomes("((aa[r] + bb[r])/2)")}
_APART = "(ab[r] + ba[r])/2 - (aa[r] + bb[r])/2"
#: w[r]: probability that xi_j and a fresh sample are a and b, or b and a, with all other samples of outcome r; ab[r]: E f(theta^T, b), learned with a
ONE_EXCHANGED = Theorem(
    "0 <= epsilon",
    _no_further(**_TWO_ORDERS),
    f"""
      below:  {_APART} <= epsilon                      by combine (1/2)*at_a, (1/2)*at_b
      above:  -epsilon <= {_APART}                     by combine (1/2)*back_a, (1/2)*back_b
      less:   {over_outcomes(f"({_APART})")} <= epsilon*sum(w[r], r, 0, N)
                by induction N: base combine w[0]*below(r=0); step combine ih, w[N+1]*below(r=N+1)
      more:   -epsilon*sum(w[r], r, 0, N) <= {over_outcomes(f"({_APART})")}
                by induction N: base combine w[0]*above(r=0); step combine ih, w[N+1]*above(r=N+1)
      one:    claim 1                                  by combine less, epsilon*law
      two:    claim 2                                  by combine more, epsilon*law
    """,
    name="one sample exchanged",
    rounds={"r": 0, "N": 0},
    sequences=dict.fromkeys(("w", "ab", "ba", "aa", "bb"), "0"),
    given={
        "law": "sum(w[r], r, 0, N) == 1",
        "at_a": "ba[r] - aa[r] <= epsilon",
        "at_b": "ab[r] - bb[r] <= epsilon",
        "back_a": "aa[r] - ba[r] <= epsilon",
        "back_b": "bb[r] - ab[r] <= epsilon",
    },
)
_MEAN = {"F": "F", "own": "(sum(own[j], j, 0, n)/(n + 1))"}
#: F = E F(theta^T), own[j] = E f(theta^T, xi_j) of n + 1 samples
ALL_EXCHANGED = Theorem(
    "0 <= F, 0 <= epsilon",
    _no_further(**_MEAN),
    """
      below:  (n + 1)*F - sum(own[j], j, 0, n) <= (n + 1)*epsilon
                by induction n: base combine fresh(j=0); step combine ih, fresh(j=n+1)
      above:  sum(own[j], j, 0, n) - (n + 1)*F <= (n + 1)*epsilon
                by induction n: base combine back(j=0); step combine ih, back(j=n+1)
      one:    claim 1                                  by combine (1/(n + 1))*below
      two:    claim 2                                  by combine (1/(n + 1))*above
    """,
    name="the mean over samples",
    rounds={"j": 0, "n": 0},
    sequences={"own": "0"},
    given=dict(zip(("fresh", "back"), _no_further("F", "own[j]"), strict=True)),
)
#: gap = E[f(theta^T, xi) - f(hat theta^T, xi)], distance = E ||theta^T - hat theta^T||
LEMMA_4 = Theorem(
    "0 < G, 0 < H, 1 <= P <= C, 1 <= S, 0 <= tau",
    f"gap[T] <= {formula(right_of_16, distance='distance[T]', chance=CHANCE, G='G', H='H')}",
    "done: claim by combine 1*lipschitz",
    rounds={"T": 0},
    sequences={"gap": "-H", "distance": "0"},
    given={"lipschitz": "gap[T] <= G*distance[T]"},
)
#: w[k]: that k draws miss the sample; z[t]: that t rounds do, of which client i* takes part in each with probability P/C
DRAWN = Theorem(
    "1 <= S, 1 <= P <= C",
    f"1 - z[tau] <= K*{CHANCE}",
    """
      steps:  1 - K/S <= w[K]                     by induction K: base combine (-1)*begin; step combine (1 - 1/S)*ih, (-1)*draw(k=K)
      part:   0 <= 1 - z[t]                       by combine
      round:  z[t] - P*K/(C*S) <= z[t+1]          by combine (-1)*play, (P/C)*steps, (P/C*(1 - w[K]))*part
      done:   claim                               by induction tau: base combine (-1)*first; step combine ih, round(t=tau)
    """,
    rounds={"k": 0, "t": 0, "K": 0, "tau": 0},
    sequences={"w": "0..1", "z": "0..1"},
    given={
        "begin": "w[0] == 1",
        "draw": "w[k+1] == (1 - 1/S)*w[k]",
        "first": "z[0] == 1",
        "play": "z[t+1] == (1 - P/C*(1 - w[K]))*z[t]",
    },
    fixed=("K",),
)
_N = {"L": "L", "G": "G", "N": "C*S"}
_ROUND = {**_N, "gamma": "gamma", "K": "K"}
#: y[n] = Delta + alpha_rho sigma after n rounds from tau_0 on, T = tau_0 + n
FIXED_STEPS = Theorem(
    "0 < L, 0 < G, 0 < gamma, 1 <= K, 0 < eta <= 1/(K*L), 1 <= C, 1 <= S",
    f"y[n] < {formula(fixed_sum, w='1 + (1 + gamma)**(n + tau)', **_N)}",
    f"""
      sum:   y[n] <= {formula(fixed_sum, w="(1 + gamma*eta*K*L)**n", **_N)}
               by induction n: base combine zero; step combine round(n=n), (1 + gamma*eta*K*L)*ih
      less:  1 + gamma*eta*K*L <= 1 + gamma                      by combine
      more:  (1 + gamma*eta*K*L)**n <= (1 + gamma)**n            by power less, n
      unit:  1 <= 1 + gamma                                      by combine
      one:   1 <= (1 + gamma)**tau                               by power unit, tau
      done:  claim                                               by combine 1*sum, (2*G/(L*C*S))*more, (2*G/(L*C*S)*(1 + gamma)**n)*one
    """,
    rounds={"n": 0, "tau": 0},
    sequences={"y": "0"},
    given={"zero": "y[0] <= 0", "round": f"y[n+1] <= {formula(round_apart, y='y[n]', **_ROUND, eta='eta')}"},
)
DECAYING_STEPS = Theorem(
    "0 < L, 0 < G, 0 < gamma, 1 <= K, 0 < mu, 0 < eta <= mu/(gamma*K), 1 <= C, 1 <= S, 1 <= tau",
    f"y[n] < {formula(decayed_sum, T='tau + n', tau='tau', a='mu*L', **_N)}",
    f"""
      tangent: 1 + a/(tau + n + 1) <= ((tau + n + 1)/(tau + n))**a      by bernoulli -1/(tau + n + 1), -a
      sum:     y[n] <= {formula(decayed_sum, T="tau + n", tau="tau", a="a", **_N)} - 2*G/(L*C*S)
                 by induction n: base combine zero; step combine round(n=n), (1 + a/(tau + n + 1))*ih, (2*G/(L*C*S)*((tau + n)/tau)**a)*tangent(n=n)
      unit:    1 <= (tau + n)/tau                                       by combine
      more:    1 <= ((tau + n)/tau)**(mu*L - a)                         by power unit, mu*L - a
      done:    claim                                                    by combine 1*sum, (2*G/(L*C*S)*((tau + n)/tau)**a)*more
    """,
    rounds={"n": 0},
    where={"a": "gamma*eta*K*L"},
    sequences={"y": "0"},
    given={
        "zero": "y[0] <= 0",
        "round": f"y[n+1] <= {formula(round_apart, y='y[n]', **_ROUND, eta='eta/(tau + n + 1)')}",
    },
)
BALANCE = Theorem(
    "0 < L, 0 < G, 0 < H, 1 <= P <= C, 1 <= S, 0 < T, 0 < mu, 0 < tau",
    f"H*{CHANCE} == G*({formula(decayed_sum, T='T', tau='tau', a='mu*L', **_N)})",
    "done: claim by combine (H*P/(C*S)*tau**(-mu*L))*balanced",
    given={"balanced": "tau**(1 + mu*L) == 2*G**2/(H*P*L)*T**(mu*L)"},
)
