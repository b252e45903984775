"""Section 3.2: Theorem 2, and what the paper concludes from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any

from fedtheory.claims import Claim, Context, Covered, Fault, Finding, Picture, Replay, Theorem, draw_bound
from fedtheory.claims.parts import assume, at_most, disproved, proved, refute
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, symbols
from paper_checks.formulas import formula
from paper_checks.safari.notation import PAPER, alone_order, claim, pooled_order
from paper_checks.steps import Step
from problems.thresholds import ThinnedThreshold, mean_worst_error, mixture, uniform

CLAIMS: list[Claim] = []

# ---- Theorem 2 -------------------------------------------------------------------------------------------------------
POOLED_ERROR = Theorem(
    name="Theorem 2",
    region="1/2 <= a <= 1, 0 < A, 0 < c, 0 < eps_P, 0 < eps_Q, 0 <= alpha, 0 <= beta",
    given={"related": "abs(eps_P - eps_Q) <= alpha*eps_Q**beta", "of_Q": "eps_Q <= (c*A)**a"},
    claim="eps_P <= (c*A)**a + alpha*(c*A)**(a*beta)",
    proof="""
      lemma:  eps_Q <= (c*A)**a                         by cite Lemma 1 (18), in its standard form from of_Q
      powers: eps_Q**beta <= (c*A)**(a*beta)            by power lemma, beta
      above:  eps_P - eps_Q <= abs(eps_P - eps_Q)       by combine
      done:   claim                                     by combine above, related, lemma, alpha*powers
    """,
)


def thinned_error(g: float, n: int) -> float:
    """Mean error under P of the worst threshold without mistakes on n draws of Q (`ThinnedThreshold`): by tails, each side alike."""
    from scipy.integrate import quad

    law = ThinnedThreshold(g)
    tail = lambda u: 2 * (1 - law.excess(0.5 + u)[1]) ** n - (1 - 2 * law.excess(0.5 + u)[1]) ** n  # noqa: E731
    marks = [0.0, *(0.5 / 2**j for j in range(20, -1, -1))]
    return sum(float(quad(tail, a, b)[0]) for a, b in zip(marks, marks[1:], strict=False))


def draw_t2(ctx: Context) -> Picture:
    """Mean worst error where Q thins out near t*, beta = 1/2, against Theorem 2's order."""
    sizes = [25 * 2**k for k in range(8)]
    return draw_bound(
        "Theorem 2 where Q thins out near the target",
        sizes,
        [float(pooled_order(n, 0.5, 1)) for n in sizes],
        xlabel="N = n_T + n_S",
        ylabel="mean worst error under P",
        about="thresholds without noise (beta_Q = 1), P uniform on [0, 1], Q with density 4 |x - 1/2|, beta = 1/2; closed form, no seeds; claimed: "
        "the order N^(-beta)",
        more=[("exact", [thinned_error(1.0, n) for n in sizes])],
        logx=True,
    )


CLAIMS += [
    claim(
        "SAFARI-T2",
        "Theorem 2, (1)",
        "eps_P(hhat*_Q) = O~((d_H/(n_T + n_S))^{1/(2 - beta_Q)} + (d_H/(n_T + n_S))^{beta/(2 - beta_Q)}) with probability 1 - delta.",
        [Step("given Lemma 1", POOLED_ERROR)],
        kind="rate",
        picture=draw_t2,
        assumptions=["Assumptions 1 and 2; a fixed Q, N = n_T + n_S draws from it"],
        readings=[
            "a = 1/(2 - beta_Q), and A = A(N, delta) in its standard form (SAFARI-L1), (d_H/N) times a logarithm; eps_Q > 0. Lemma 1 is on an event "
            "of probability 1 - delta; the rest is so for every sample of it.",
            "The constant alpha of Assumption 2 is hidden, and grows with n_S/n_T in general (SAFARI-X5): more data of clients at a fixed n_T need "
            "not help (SAFARI-X6).",
        ],
    )
]

# ---- beta >= 1 -------------------------------------------------------------------------------------------------------
#: the orders by a = 1/(2 - beta_Q), in the language of theorems
ALONE = partial(formula, lambda n, a: alone_order(n, 2 - 1 / a), a="a")
POOLED = partial(formula, lambda n, a, beta: pooled_order(n, beta, 2 - 1 / a), a="a", beta="beta")
DOMINATES = Theorem(
    name="the first term dominates",
    region="1/2 <= a <= 1, 1 <= beta, 1 <= n",
    claim=f"{POOLED(n='n')} <= {ALONE(n='n')}",
    proof="""
      many:   1 <= n                                                by combine
      grown:  1**(a*(beta - 1)) <= n**(a*(beta - 1))                by power many, a*(beta - 1)
      done:   claim                                                 by combine n**(-a*beta)*grown
    """,
)
CLAIMS += [
    claim(
        "SAFARI-T2b",
        "after Theorem 2",
        "For beta >= 1 the first term dominates: as centralised learning with n_T + n_S samples.",
        [Step("the first term dominates", DOMINATES)],
        assumptions=["d_H <= n_T + n_S"],
        readings=[
            "n = (n_T + n_S)/d_H, a = 1/(2 - beta_Q); the left side is the second term. With alpha bounded; it is hidden in the order (SAFARI-X5)."
        ],
    )
]

# ---- 0 < beta < 1 ----------------------------------------------------------------------------------------------------
ENOUGH = Theorem(
    name="enough samples of the clients",
    region="1/2 <= a <= 1, 0 < beta < 1, 1 <= n_T, 0 < n_S",
    given={"enough": "n_T <= (n_T + n_S)**beta"},
    claim=f"{POOLED(n='(n_T + n_S)')} <= {ALONE(n='n_T')}",
    proof="""
      powers: n_T**a <= (n_T + n_S)**(a*beta)                       by power enough, a
      done:   claim                                                 by combine n_T**(-a)*(n_T + n_S)**(-a*beta)*powers
    """,
)
#: n_T + n_S is a square, so that both bounds are fractions: beta = 1/2, beta_Q = 1
MORE = {"n_T": 100, "n_S": 8925}


def replay_t2c(instance: Mapping[str, Any]) -> Replay:
    """(n_T + n_S)^{-beta/(2 - beta_Q)} of pooled learning against n_T^{-1/(2 - beta_Q)} of the server alone, beta = 1/2, beta_Q = 1."""
    n_T, n_S = int(instance["n_T"]), int(instance["n_S"])
    root = isqrt(n_T + n_S)
    met = (
        assume("n_T + n_S is a square", "r**2 == n", r=root, n=n_T + n_S),
        assume("the clients have 80 times as many samples as the server, or more", "80*n_T <= n_S", n_T=n_T, n_S=n_S),
    )
    what = f"the bound of pooled learning against the server's, beta = 1/2, beta_Q = 1, n_T = {n_T}, n_S = {n_S}"
    numeric = float(pooled_order(n_T + n_S, 0.5, 1)), float(alone_order(n_T, 1))
    return Replay(what, *numeric, Fraction(1, root), alone_order(Fraction(n_T), Fraction(1)), "fractions", met)


def check_t2c(ctx: Context, *, instance: Mapping[str, Any] = MORE) -> Iterator[Finding]:
    """No multiple of n_T is enough."""
    yield refute("n_S many times n_T", replay_t2c, dict(instance), text="The exponent beta takes more than a factor.")
    ratio = symbols("ratio", positive=True)
    yield disproved(
        "n_S any number of times n_T",
        is_positive(((ratio + 2) ** 2 - (1 + ratio) * (ratio + 2)).expand()),
        "with beta = 1/2 and n_S = ratio n_T pooled learning has the better bound only if (1 + ratio) n_T >= n_T^2, which fails from n_T = ratio + 2 "
        "on, however large the ratio is",
    )


CLAIMS += [
    claim(
        "SAFARI-T2c",
        "after Theorem 2",
        "For 0 < beta < 1 pooled learning improves on the server alone, from O~(n_T^{-1/(2-beta_Q)}) to O~((n_T + "
        "n_S)^{-beta/(2-beta_Q)}), n_S being much larger than n_T.",
        [Step("where n_S >= n_T^{1/beta} - n_T", ENOUGH, "repaired")],
        besides=check_t2c,
        faults=(Fault("n_S = 9900", "n_S many times n_T", {"instance": MORE | {"n_S": 9900}}, holds=True),),
        readings=[
            "The paper assumes n_S much larger than n_T, which is read as a multiple. Bounds are compared, and errors not; a = 1/(2 - beta_Q). The "
            "exponent of the server alone should have beta_P. The paper says itself that an improvement is not guaranteed as beta -> 0."
        ],
        repaired="Where n_S >= n_T^{1/beta} - n_T.",
        replay=replay_t2c,
    )
]


# ---- Domain adaptation -----------------------------------------------------------------------------------------------
def check_t2d(ctx: Context, *, weight: Fraction = Fraction(9, 10), constant: float = 1.5) -> Iterator[Finding]:
    """Fixed mixture: the distance of P and Q stays, the error goes to 0."""
    P, D = uniform(Fraction(0), Fraction(1)), uniform(Fraction(1, 4), Fraction(3, 4))
    Q = mixture(weight, D, P)
    widths = zip(Q.edges, Q.edges[1:], Q.heights, strict=False)
    distance = sum(abs(height - 1) * (b - a) for a, b, height in widths) / 2
    density = float(Q.density(0.5, 1))
    sizes = [100 * 2**k for k in range(8)]
    errors = [mean_worst_error(0.5, [(Q, n)]) for n in sizes]
    limits = [constant / (density * n) for n in sizes]
    yield at_most(
        "error",
        errors,
        limits,
        "numeric",
        f"mean worst error {errors[0]:.3g} to {errors[-1]:.3g} for N = {sizes[0]} to {sizes[-1]}, at most {constant}/(N density at t*), the mean "
        "of the larger of two exponential gaps: as Theorem 2 with beta_Q = beta = 1 says",
        covered=Covered(len(sizes), "points"),
    )
    yield proved(
        "distance",
        compare(distance, ">=", Fraction(9, 20)),
        f"the total variation of P and Q is {distance} for every N, so that O(A) + dist(P, Q) stays above it",
        scope="this pair of laws",
    )
    yield draw_bound(
        "Error of pooled learning, and the distance of P and Q",
        sizes,
        limits,
        xlabel="N = n_T + n_S",
        ylabel="mean worst error under P",
        about=f"thresholds without noise, t* = 1/2, P uniform on [0, 1], D on [1/4, 3/4], Q = {weight} D + {1 - weight} P; claimed: "
        f"{constant}/(N density at t*); integrals in closed form, no seeds",
        more=[("mean worst error", errors), ("total variation of P and Q", [distance] * len(sizes))],
        logx=True,
    )


CLAIMS += [
    Claim(
        "SAFARI-T2d",
        PAPER,
        "bound",
        "after Theorem 2",
        "Bounds of domain adaptation by a distance of P and Q stay away from 0 where Theorem 2's vanishes.",
        check_t2d,
        (
            Fault("one law", "distance", {"weight": Fraction(1, 10)}),
            Fault("a constant 2 per cent smaller", "error", {"constant": 1.47}),
        ),
    )
]
