"""Section 4.2: stability and generalisation (9), and how far local steps lead, by (10) and the text under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    PlayedStates,
    Replay,
    Theorem,
    assume,
    decided,
    draw_bound,
    norm2,
    refute,
    state,
)
from fedtheory.claims.statements.worlds import Parameters, World
from fedtheory.proofs.facts import compare
from paper_checks.afedpd.notation import PAPER, claim, geometric
from paper_checks.afedpd.played import Number, replay_twice
from paper_checks.afedpd.rounds import local_step
from paper_checks.formulas import formula, over_outcomes
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- Setups, (9) -----------------------------------------------------------------------------------------------------
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


def deviation_of_coins(n: int, number: Number = Fraction) -> Any:
    """E of the distance of the mean of n fair coins from 1/2."""
    return sum((comb(n, k) * abs(1 / number(2) - k / number(n)) for k in range(n + 1)), number(0)) / 2**n


def replay_eq9(instance: Mapping[str, Any]) -> Replay:
    """Losses f(theta, xi) = xi of fair coins xi, whatever theta is: E |F - f| over n = CS samples, and no difference of models."""
    n = int(instance["samples"])
    met = (assume("samples", "1 <= n", n=n), assume("losses are 0 or 1, in [0, H]", "1 <= H", H=1))
    what = "E |F - f| against sup E |f(theta, xi) - f(hat, xi)|"
    return replay_twice(what, lambda number: (deviation_of_coins(n, number), number(0)), met)


def memorised(values: int) -> tuple[Fraction, Fraction]:
    """A model that is its only sample, loss 1 at all others, samples uniform on so many: E[F - f], and sup_xi E |f - hat f| over drawn data."""
    n = range(values)
    gap = Fraction(sum(a != b for a, b in product(n, n)), values**2)
    return gap, max(Fraction(sum((a == xi) != (b == xi) for a, b in product(n, n)), values**2) for xi in n)


def draw_coins(exact: Mapping[int, Any]) -> Picture:
    """E |F - f| of the mean of n fair coins, against no difference of models."""
    n = list(exact)
    return draw_bound(
        "A loss that does not depend on the model: (9) with the modulus inside",
        n,
        [0.0] * len(n),
        xlabel="samples n = CS",
        ylabel="E |F - f|",
        about="losses xi of fair coins xi = 0, 1; exact, no seeds; claimed: sup E |f(theta, xi) - f(hat theta, xi)| = 0",
        more=[("E |F - f|", list(exact.values())), ("|E[F - f]|", [0.0] * len(n))],
    )


def check_eq9(ctx: Context, *, samples: int = 4, values: int = 10) -> Iterator[Finding]:
    """The modulus inside of the expectation is refuted, and the supremum over xi alone is too small."""
    yield refute("modulus inside", replay_eq9, {"samples": samples}, text="The loss does not depend on the model.")
    gap, stable = memorised(values)
    yield decided(
        "data sets drawn, sup over xi alone",
        compare(gap, "<=", stable),
        f"a model that is its only sample, one of {values} values, and a loss that is 0 there and 1 at the others: E[F - f] = {gap}, and E |f - hat "
        f"f| = {stable} for every xi where both data sets are drawn",
        role="reading",
    )
    yield draw_coins({n: deviation_of_coins(n) for n in range(1, 41)})


CLAIMS += [
    claim(
        "AFEDPD-EQ9",
        "Eq. (9)",
        "E |F(theta^T) - f(theta^T)| <= sup_xi E |f(theta^T, xi) - f(hat theta^T, xi)|.",
        [Step("one sample exchanged", ONE_EXCHANGED, "repaired"), Step("modulus outside", ALL_EXCHANGED, "repaired")],
        besides=check_eq9,
        faults=[Fault("a fair coin", "data sets drawn, sup over xi alone", {"values": 2}, holds=True)],
        assumptions=[
            "samples are independent and of one law: that xi_j and a fresh one are a and b is as probable as b and a, with the same others; w[r] is "
            "the probability of both, for any outcomes r of all samples; losses are counted from a number below all of them",
            "epsilon is sup E |f(theta^T, xi) - f(hat theta^T, xi)| over neighbouring data sets and xi, E over what the method draws; ab[r] and "
            "bb[r] are such E f, at b, of models learned with a and with b in the place of xi_j",
            "so E F(theta^T) is the mean of ab and ba, and E f(theta^T, xi_j) that of aa and bb; of each xi_j the mean over samples supposes what "
            "one sample exchanged shows",
        ],
        readings=[
            "A slip: Theorem 2 is on E[F - f], and does not use the modulus. The supremum is over neighbouring data sets, too, as Lemma 4 writes it, "
            "and E on the right over what the method draws."
        ],
        repaired="|E[F(theta^T) - f(theta^T)]| <= sup E |f(theta^T, xi) - f(hat theta^T, xi)|, over neighbouring data sets and xi.",
        replay=replay_eq9,
        kind="bound",
    )
]


# ---- Key properties, (10) --------------------------------------------------------------------------------------------
def displaced(x: Any, g: Any, lam: Any, rho: Any, eta: Any, sign: Any = 1) -> Any:
    """theta_{i,k+1} - theta^t by Eq. (10), from x = theta_{i,k} - theta^t; as printed ``sign`` is +."""
    return (1 - eta * rho) * x + sign * eta * (g + lam)


def play_steps(w: World, p: Parameters, last: int) -> list[Any]:
    """A client's local steps (13) from any model, with any stochastic gradients g, and FedAvg's beside them, without rho and the dual."""
    theta, lam, x, y, states = w.vector("theta"), w.vector("lam"), w.vector("x"), w.vector("y"), []
    for k in range(last + 1):
        g = w.vector(f"g {k}")
        after, fedavg = local_step(x, theta, g, lam, p.rho, p.eta), local_step(y, theta, g, lam * 0, 0, p.eta)
        states.append(SimpleNamespace(theta=theta, lam=lam, g=g, x=x, y=y, x_next=after, y_next=fedavg))
        x, y = after, fedavg
    return states


def equation_10(sign: int | Fraction) -> Theorem:
    """Eq. (10) with this sign before eta."""
    texts = {"g": "g", "eta": "eta"}
    ours = formula(partial(displaced, sign=sign), x="x - theta", lam="lam", rho="rho", **texts)
    fedavg = formula(partial(displaced, sign=sign, lam=0, rho=0), x="y - theta", **texts)
    return Theorem(
        "0 < rho, 0 < eta",
        ("off[k] == 0", "fedavg[k] == 0"),
        "one: claim 1 by identity\ntwo: claim 2 by identity",
        states=PlayedStates(play_steps),
        rounds={"k": 0},
        quantities={"off": f"norm2(x_next - theta - ({ours}))", "fedavg": f"norm2(y_next - theta - ({fedavg}))"},
    )


CLAIMS += [
    state(
        "AFEDPD-EQ10",
        PAPER,
        "Eq. (10)",
        "theta_{i,k+1} - theta^t = (1 - eta rho)(theta_{i,k} - theta^t) + eta (g + lambda_i), and without rho and lambda_i for FedAvg.",
        equation_10(1),
        repaired=equation_10(-1),
        repaired_text="- eta for + eta, in both lines, as the appendix has it after (17).",
        wrong={"a half of eta": equation_10(Fraction(-1, 2))},
        assumptions=("g is the stochastic gradient; with its negative for g the second line is off by 2 eta lambda_i",),
        kind="identity",
    )
]


# ---- Text under (10) -------------------------------------------------------------------------------------------------
def step_of_lengths(U: Any, B: Any, rho: Any, eta: Any, c: Any = 1) -> Any:
    """How far a step leads at most from a displacement of length U along a slope of length B."""
    return (1 - eta * rho) * U + c * eta * B


def play_displacement(w: World, p: Parameters, last: int, start: bool = False) -> list[Any]:
    """v = theta_{i,k} - theta^t under (13) without duals, with any stochastic gradients g of length G at most."""
    v, states = w.vector("v") * (0 if start else 1), []
    for k in range(last + 1):
        g = w.vector(f"g {k}")
        w.assume(f"Lipschitz {k}", norm2(g) - p.G**2)
        states.append(SimpleNamespace(v=v, g=g))
        v = v * (1 - p.eta * p.rho) - g * p.eta
    return states


DRIFT = Theorem(
    "0 < rho, 0 < eta <= 1/rho, 0 < G",
    (
        f"sqrt(D[k+1]) <= {formula(step_of_lengths, U='sqrt(D[k])', B='G', rho='rho', eta='eta')}",
        "sqrt(D[k]) <= (1 - (1 - eta*rho)**k)*G/rho",
        "sqrt(D[k]) <= eta*k*G",
        "sqrt(D[k]) <= G/rho",
    ),
    """
      far:    0 <= D[k]                                   by derivation
      some:   0 <= B[k]                                   by derivation
      short:  B[k] <= G**2                                by derivation
      young:  X[k] <= s*D[k] + B[k]/s                     by derivation
      cauchy: X[k] <= 2*sqrt(D[k])*sqrt(B[k])             by least s of young
      slopes: sqrt(B[k])**2 <= G**2                       by combine short
      length: sqrt(B[k]) <= G                             by root slopes
      next:   D[k+1] == (1 - eta*rho)**2*D[k] + (1 - eta*rho)*eta*X[k] + eta**2*B[k]           by identity
      both:   sqrt(D[k+1])**2 <= ((1 - eta*rho)*sqrt(D[k]) + eta*sqrt(B[k]))**2                by combine next, ((1 - eta*rho)*eta)*cauchy
      step:   sqrt(D[k+1]) <= (1 - eta*rho)*sqrt(D[k]) + eta*sqrt(B[k])                        by root both
      near:   claim 1                                     by combine 1*step, eta*length
      zero:   D[0] == 0                                   by identity
      begin:  sqrt(D[0])**2 <= 0                          by combine zero
      none:   sqrt(D[0]) <= 0                             by root begin
      one:    claim 2    by induction k: base combine 1*none; step combine 1*near(k=k), (1 - eta*rho)*ih
      two:    claim 3    by induction k: base combine 1*none; step combine 1*near(k=k), (1 - eta*rho)*ih
      three:  claim 4    by combine 1*one
    """,
    states=PlayedStates(play_displacement, start=partial(play_displacement, start=True)),
    rounds={"k": 0},
    auxiliary="0 < s",
    quantities={"D": "norm2(v)", "B": "norm2(g)", "X": "-2*dot(v, g)"},
    assumed={"Lipschitz": "stochastic gradients are at most G long (Assumption 2, of every sample)"},
)


def draw_drift(context: Context, *, steps: int = 40, runs: int = 20) -> Picture:
    """A client's way from the server's model in A-FedPD's local steps without duals: a constant gradient of length G = 1, and random ones."""
    eta, rho, rng = 0.1, 1.0, np.random.default_rng(context.seed)
    moved, farthest, found, worst = np.zeros((runs, 5)), 0.0, [], []
    for _ in range(steps):
        gradient = rng.standard_normal((runs, 5)) + 1
        moved = (1 - eta * rho) * moved - eta * gradient / np.linalg.norm(gradient, axis=1, keepdims=True)
        farthest = (1 - eta * rho) * farthest + eta
        found.append(np.linalg.norm(moved, axis=1))
        worst.append(farthest)
    k = np.arange(1, steps + 1)
    return draw_bound(
        "How far a client moves in k local steps",
        k,
        geometric(rho, eta, k),
        xlabel="local steps k",
        ylabel="||theta_k - theta||",
        about=f"A-FedPD's local steps with eta = 0.1, rho = 1, G = 1; random gradients of that length in five dimensions, seed {context.seed}",
        runs=found,
        more=[("a constant gradient, the worst case", worst), ("FedAvg's eta k G", eta * k)],
    )


CLAIMS += [
    claim(
        "AFEDPD-Q-DRIFT",
        "Text under Eq. (10)",
        "With the duals ignored ||theta_{i,k}^t - theta^t|| is a decayed sequence with a bound for every k: it is at most (1 - (1 - eta "
        "rho)^k) G/rho <= min(eta k, 1/rho) G.",
        [Step("k steps", DRIFT)],
        picture=draw_drift,
        readings=["With duals G + ||lambda_i|| for G. A constant gradient attains it; FedAvg then moves by eta k G."],
        kind="bound",
    )
]
