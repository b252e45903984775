"""SAFARI's Theorems 2 and 3 and their lemmas: excess errors of pooled learning, in closed form, exact probabilities and drawn samples.

A(n, delta) is read in its standard form (d_H/n) log(max(n, d_H)/d_H) + log(1/delta)/n unless the printed one is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import ceil, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import (
    Claim,
    Context,
    Covered,
    Fault,
    Finding,
    Lemma,
    Part,
    Picture,
    Reading,
    Replay,
    assume,
    at_most,
    decided,
    holds,
    norm2,
    proved,
    refute,
)
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.safari.learnability import MISSPECIFIED, TARGET, instance_claim, replay_misspecified
from paper_checks.safari.optimisation import DERIVED, PAPER
from paper_checks.steps import Step, claim_steps
from problems.learning import FiniteClass, binomial_at_most
from problems.thresholds import NoisyThreshold, ThinnedThreshold, mean_worst_error, mixture, uniform

#: how far a fitted exponent may be from the stated one, as the catalogue of the paper's claims fixed it
WITHIN = 0.05
DRAWS = 10


def above(x: float) -> Fraction:
    """A fraction a little above a logarithm computed in floats."""
    return Fraction(ceil(x * 10**9) + 1, 10**9)


# ---- the lemmas -----------------------------------------------------------------------------------------------------

FEW = {"m": 15, "p": "39/100", "root": "3/5"}
COIN = {"n_T": 1000}


def replay_l1(instance: Mapping[str, Any]) -> Replay:
    """Two hypotheses that differ on x_2, P(x_2) = p: with x_2 undrawn (16) needs p <= A; its probability against delta = root^m."""
    m, p, root = int(instance["m"]), Fraction(instance["p"]), Fraction(instance["root"])
    printed = above(log(m + log(1 / root)) / m)
    failure, delta = (1 - p) ** m, root**m
    met = (
        assume(
            "c = 1, d_H = 1: the right side of (16) is A when x_2 is not drawn, and p is above it",
            "A < p",
            A=printed,
            p=p,
        ),
        assume("0 < delta < 1", "0 < r < 1", r=root),
    )
    what = f"probability that (16) fails with A as printed, m = {m}, against delta = ({root})^m"
    return Replay(what, float(failure), float(delta), failure, delta, "fractions", met)


def check_l1(ctx: Context, *, instance: Mapping[str, Any] = FEW) -> Iterator[Finding]:
    """The printed A is refuted by a point that is not drawn."""
    yield refute("A as printed", replay_l1, dict(instance), text="A point of mass p that is not drawn.")
    yield Reading(
        "Printed is A = (d_H/m) log(m/d_H + log(1/delta)/m); the cited form has log(1/delta)/m outside of the logarithm. With delta = "
        "(3/5)^m the printed A tends "
        "to 0, so that no constant c helps; the cited one is log(5/3) > p. For fixed delta and large m both agree up to a factor 2. (18) "
        "prints = for <=."
    )


def replay_l2(instance: Mapping[str, Any]) -> Replay:
    """Labels at x_2 tossed: P[Rhat(h*_Q) - Rhat(h*_P) > A] against delta = 1/20, h*_P and h*_Q two rules with equal risks."""
    n = int(instance["n_T"])
    limit = above(2 * log(n / 2) / n + log(20) / n) * n
    # each sample adds -1, 0, 1 with probabilities 1/4, 1/2, 1/4: the sum is Binomial(2n, 1/2) - n
    failure = 1 - binomial_at_most(2 * n, Fraction(1, 2), n + int(limit))
    labelings = tuple(product((0, 1), repeat=2))
    excess = FiniteClass(labelings, (Fraction(1), Fraction(1, 2))).excess((Fraction(1, 2), Fraction(1, 2)))
    met = (
        assume("d_H = 2: H has all labelings of two points", "2**2 == h", h=len(labelings)),
        assume("h*_P and h*_Q label x_1 alike and x_2 apart, with equal risks", "a == b", a=excess[2], b=excess[3]),
        assume("eps_P(h*_Q) = 0, so that it is O(A)", "e == 0", e=excess[2]),
    )
    what = f"P[Rhat_P(hhat*_Q) - Rhat_P(h*_P) > eps_P(h*_Q) + A(n_T, 1/20)], n_T = {n}, against 1/20"
    shown = Fraction(int(failure * 10**12), 10**12)
    return Replay(what, float(failure), 0.05, shown, Fraction(1, 20), "fractions, rounded down to twelve decimals", met)


def check_l2(ctx: Context, *, instance: Mapping[str, Any] = COIN, power: float = 0.5) -> Iterator[Finding]:
    """The square root that is left out: A^{(1 + beta_P)/2} with beta_P = 0 here."""
    yield refute("order A", replay_l2, dict(instance), text="The sum of fair labels is of order sqrt(n_T).")
    sizes = [100 * 2**k for k in range(10)]
    found = []
    for n in sizes:
        A = 2 * log(n / 2) / n + log(20) / n
        found.append(float(1 - binomial_at_most(2 * n, Fraction(1, 2), n + int(A**power * n))))
    yield at_most(
        "order A^{(1 + beta_P)/2}",
        found,
        [0.05] * len(found),
        "exact",
        f"on this instance, beta_P = 0: probabilities that the excess is above A^{power:g}, n_T = {sizes[0]} to {sizes[-1]}",
        covered=Covered(len(sizes), "points"),
        role="repaired",
    )
    yield Reading(
        "Theorem 3 needs no more (SAFARI-T3). With beta_P = 1 and the hypotheses of Theorem 3 the printed lemma stands. (22) prints = for <=."
    )


def triangle(w: Any, p: Any, c: Any) -> Any:
    """eps_P <= c |eps_P - eps_Q| + eps_Q: numbers as differences of squares."""
    at_p, at_q, apart = (norm2(w.vector(name)) for name in ("root of eps_P", "root of eps_Q", "root of the difference"))
    w.assume("the difference", at_p - at_q - apart)
    return at_p - apart * c.c - at_q


TRIANGLE = Lemma("decomposition", "(12)-(15)", "", triangle, {"c": 1})


# ---- Theorem 2 ------------------------------------------------------------------------------------------------------


def drawn_excess(law: NoisyThreshold, n: int, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Excess errors of the empirical risk minimiser over thresholds, exact for each of ``samples`` drawn samples of size n: ``(samples,)``."""
    x = np.sort(rng.random((samples, n)), axis=1)
    wrong = np.where(rng.random((samples, n)) < law.positive(x), 1, -1)  # errs on what is labelled 1 and lies left of t
    errors = np.concatenate([np.zeros((samples, 1)), np.cumsum(wrong, axis=1)], axis=1)
    edges = np.concatenate([np.zeros((samples, 1)), x, np.ones((samples, 1))], axis=1)
    best = errors.argmin(axis=1)
    rows = np.arange(samples)
    middle = (edges[rows, best] + edges[rows, best + 1]) / 2
    return np.asarray([law.excess(float(t)) for t in middle])


def thinned_error(g: float, n: int) -> float:
    """Mean error under P of the worst threshold without mistakes on n draws of Q (`ThinnedThreshold`): by tails, each side alike."""
    from scipy.integrate import quad

    law = ThinnedThreshold(g)
    tail = lambda u: 2 * (1 - law.excess(0.5 + u)[1]) ** n - (1 - 2 * law.excess(0.5 + u)[1]) ** n  # noqa: E731
    marks = [0.0, *(0.5 / 2**j for j in range(20, -1, -1))]
    return sum(float(quad(tail, a, b)[0]) for a, b in zip(marks, marks[1:], strict=False))


def slope(sizes: Any, errors: Any) -> float:
    """Least-squares slope of log error against log size."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def check_t2(ctx: Context, *, law_of_exponent: Any = lambda b: 1 / (2 - b), shift: float = 0.0) -> Iterator[Finding]:
    """Fitted exponents against 1/(2 - beta_Q) on noisy thresholds, and against beta where Q thins out near the target."""
    sizes, each = [200, 800, 3200, 12800], ctx.pick(120, 600)
    rows = []
    for kappa in (1.0, 2.0, 3.0):
        rng = np.random.default_rng([ctx.seed, int(kappa)])
        means = np.array(
            [[drawn_excess(NoisyThreshold(kappa), n, each, rng).mean() for n in sizes] for _ in range(DRAWS)]
        )
        slopes = [slope(sizes, row) for row in means]
        error = float(np.std(slopes, ddof=1) / np.sqrt(DRAWS))
        claimed = -law_of_exponent(1 / kappa)
        rows.append((f"beta_Q = {1 / kappa:.3g}", claimed, float(np.mean(slopes)), error))
        yield Part(
            f"exponent for beta_Q = {1 / kappa:.3g}",
            abs(float(np.mean(slopes)) - claimed) <= WITHIN,
            "numeric",
            f"fitted {np.mean(slopes):.3f} +- {2 * error:.3f}, stated {claimed:.3f}: exact minimisers on {DRAWS} x {each} samples of {sizes[0]} to "
            f"{sizes[-1]} draws",
            covered=Covered(DRAWS * each, "draws"),
        )
    sizes_q = [100, 400, 1600, 6400]
    for g in (0.0, 1.0, 3.0):
        beta = ThinnedThreshold(g).relatedness()[1]
        fitted = slope(sizes_q, [thinned_error(g, n) for n in sizes_q])
        yield holds(
            f"exponent for beta = {beta:.3g}",
            abs(fitted + beta + shift) <= WITHIN,
            "numeric",
            f"fitted {fitted:.3f}, stated {-beta:.3f}: mean error in closed form, N = {sizes_q[0]} to {sizes_q[-1]}",
            covered=Covered(len(sizes_q), "points"),
        )
    P, D = uniform(0.0, 1.0), uniform(0.3, 0.7)
    gains = {t: [mean_worst_error(t, [(P, 50), (D, n)]) for n in (0, 100, 1000)] for t in (0.5, 0.9)}
    yield holds(
        "reading: n_S grows at fixed n_T",
        gains[0.9][-1] < 0.5 * gains[0.9][0],
        "numeric",
        f"P uniform on [0, 1], D on [3/10, 7/10], n_T = 50, n_S = 0 to 1000: mean error {gains[0.5][0]:.3g} to {gains[0.5][-1]:.2g} for t* = 1/2, "
        f"{gains[0.9][0]:.3g} to {gains[0.9][-1]:.3g} for t* = 9/10, where clients' data say nothing",
        role="reading",
    )
    yield Reading(
        "Read for a fixed law Q and N draws from it. The constant alpha of Assumption 2 is hidden, and grows with n_S/n_T in general "
        "(SAFARI-X5): more data of "
        "clients at a fixed n_T need not help."
    )
    series = [{"label": name, "x": [claimed], "y": [found], "style": "points"} for name, claimed, found, _ in rows]
    yield Picture("Exponents of pooled learning", "stated", "fitted", series)


def check_t2b(ctx: Context, *, power: int = 1) -> Iterator[Finding]:
    """u^{beta/(2-b)} <= u^{1/(2-b)} for 0 < u <= 1: the difference of the exponents is not negative for beta >= 1, b <= 1."""
    s, r = symbols("s r", positive=True)  # beta = 1 + s, 2 - b = 1 + r
    yield proved(
        "first term dominates",
        is_zero((1 + s) / (1 + r) - power / (1 + r) - s / (1 + r)),
        "for d_H <= N the base is at most 1, and the second exponent exceeds the first by (beta - 1)/(2 - beta_Q) >= 0",
    )
    yield Reading("With alpha bounded; it is hidden in the order (SAFARI-X5).")


def check_t2c(ctx: Context, *, beta: int = 2, n_S: int = 9900) -> Iterator[Finding]:
    """Comparison of the bounds at n_T = 100, beta = 1/2: (n_T + n_S)^beta >= n_T."""
    n_T = 100
    u, v, b = symbols("u v b", positive=True)
    yield proved(
        "improvement where n_S >= n_T^{1/beta} - n_T",
        compare(n_T + n_S, ">=", n_T**beta)
        and is_zero((u * v) ** (1 / (1 + b)) - u ** (1 / (1 + b)) * v ** (1 / (1 + b))),
        "(n_T + n_S)^{-beta/(2-b)} <= n_T^{-1/(2-b)} is (n_T + n_S)^beta >= n_T: the paper assumes n_S much larger than n_T, which is read "
        "so; at n_T = 100, "
        "beta = 1/2 that is n_S >= 9900",
    )
    yield decided(
        "reading: any n_S",
        compare(n_T + 1000, ">=", n_T**2),
        "n_T = 100, beta = 1/2, n_S = 1000: no improvement of the bound",
        role="reading",
    )
    yield Reading(
        "Bounds are compared, and errors not. The exponent of the server alone should have beta_P. The paper says itself that an "
        "improvement is not guaranteed as beta -> 0."
    )


def check_t2d(ctx: Context, *, weight: float = 0.9) -> Iterator[Finding]:
    """Fixed mixture: the distance of P and Q stays, the error goes to 0."""
    P, D = uniform(0.0, 1.0), uniform(0.25, 0.75)
    Q = mixture(weight, D, P)
    distance = sum(abs(Q.density(e, 1) - 1.0) * w for e, w in ((0.0, 0.25), (0.25, 0.5), (0.75, 0.25))) / 2
    sizes = [100 * 2**k for k in range(8)]
    errors = [mean_worst_error(0.5, [(Q, n)]) for n in sizes]
    yield at_most(
        "error against distance",
        [n * e for n, e in zip(sizes, errors, strict=True)],
        [1.6 / Q.density(0.5, 1)] * len(sizes),
        "numeric",
        f"total variation of P and Q {distance:.2f} for every N; mean worst error {errors[0]:.3g} to {errors[-1]:.3g} for N = {sizes[0]} to "
        f"{sizes[-1]}, below "
        "1.6/(N density at t*), as Theorem 2 with beta_Q = beta = 1 says, where O(A) + dist(P, Q) stays above the distance",
        covered=Covered(len(sizes), "points"),
    )
    yield holds("distance", distance > 0.4, "numeric", f"{distance:.3f}")


# ---- Theorem 3 ------------------------------------------------------------------------------------------------------


def check_t3(ctx: Context, *, beta: int = 1) -> Iterator[Finding]:
    """With Lemma 2 repaired the exponent of Theorem 3 is what is left."""
    b = symbols("b", positive=True)
    yield proved(
        "(1 + beta_P)/2 >= 1/(2 - beta_P)",
        is_zero((beta + b) / 2 - 1 / (2 - b) - b * (1 - b) / (2 * (2 - b))),
        "Lemma 1 and Assumption 1 bound what Lemma 2 leaves out by O(A^{(1 + beta_P)/2}); the difference of the exponents is b (1 - b)/(2 "
        "(2 - b)) >= 0 on [0, 1], "
        "so that eps_P(hhat*_Q) = O~((d_H/n_T)^{1/(2 - beta_P)}) stands",
        scope="given Lemma 2 as repaired, which is supported only",
    )
    yield Reading(
        "It compares upper bounds, and no errors; Rhat_P(hhat*_Q) <= Rhat_P(h*_Q) is a random event, read as given."
    )


def replay_t3a(instance: Mapping[str, Any]) -> Replay:
    """eps_P(h*_Q) of the misspecified thresholds against A(1000, 1/20), d_H = 1."""
    seen = replay_misspecified(instance)
    limit = above(log(1000) / 1000 + log(20) / 1000)
    return Replay(
        "eps_P(h*_Q) against A(1000, 1/20)",
        seen.measured,
        float(limit),
        seen.exact_measured,
        limit,
        "fractions",
        seen.assumptions,
    )


def check_t3a(ctx: Context, *, instance: Mapping[str, Any] = MISSPECIFIED) -> Iterator[Finding]:
    """Labels given x have one law, and eps_P(h*_Q) = 3/10."""
    yield refute(
        "covariate shift gives eps_P(h*_Q) = O(A)",
        replay_t3a,
        dict(instance),
        text="Thresholds on three points with labels 1, 0, 1.",
    )
    yield Reading(
        "With the right rule in H covariate shift gives eps_P(h*_Q) = 0 and the remark is right (SAFARI-X5). That it is weaker than "
        "eps_P(h*_Q) = 0 is trivial."
    )


def check_r2(ctx: Context, *, share: str = "1") -> Iterator[Finding]:
    """Theorem 2 speaks of Q only; nothing is known of Theorem 3."""
    yield proved(
        "Theorem 2",
        is_derived(TRIANGLE.with_constants(c=share)),
        "SAFARI-T2a holds for any P and Q, and the rest of the proof uses samples of Q alone",
    )
    yield Part(
        "Theorem 3",
        None,
        "numeric",
        "its proof compares empirical risks on samples of P, which the server has none of; no proof and no counterexample is given",
    )


# ---- what experiments can reach ---------------------------------------------------------------------------------------

#: test images of the ten digits
DIGITS = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
#: Table 1, p = 1: clients that never take part, digits or classes seen, MNIST, CIFAR-10 (percent)
TABLE_1 = ((4, 6, "57.05", "50.7"), (2, 8, "71.58", "64.56"))


def check_x8(ctx: Context, *, seen: int = 0) -> Iterator[Finding]:
    """Accuracies of Table 1 at p = 1 against the share of the classes that take part."""
    for absent, classes, mnist, cifar in TABLE_1:
        ceiling = Fraction(100 * sum(DIGITS[: classes - seen]), sum(DIGITS)), Fraction(100 * (classes - seen), 10)
        yield decided(
            f"{absent} clients never",
            all(compare(Fraction(value), "<=", top) for value, top in zip((mnist, cifar), ceiling, strict=True)),
            f"MNIST {mnist} <= {float(ceiling[0]):.2f}, CIFAR-10 {cifar} <= {float(ceiling[1]):.0f}: the share of test images whose class is seen",
        )


CLAIMS: list[Claim] = [
    instance_claim(
        "SAFARI-L1",
        PAPER,
        "Lemma 1, (16)",
        "R(h) - R(h') <= Rhat(h) - Rhat(h') + c sqrt(min{P_S(h != h'), Phat_S(h != h')} A) + c A with probability 1 - delta, A = (d_H/m) "
        "log(m/d_H + log(1/delta)/m).",
        check_l1,
        Fault("p a thousandth above 2/5", "A as printed", {"instance": FEW | {"p": "401/1000"}}, holds=True),
        "c = 1 in the counterexample; delta = root^m",
        replay=replay_l1,
    ),
    instance_claim(
        "SAFARI-L2",
        PAPER,
        "Lemma 2, (22)-(24)",
        "If Rhat_P(hhat*_Q) <= Rhat_P(h*_Q) then Rhat_P(hhat*_Q) - Rhat_P(h*_P) <= eps_P(h*_Q) + O(A(n_T, delta)) with probability 1 - delta.",
        check_l2,
        Fault("n_T = 20", "order A", {"instance": {"n_T": 20}}, holds=True),
        "c = 1 in the counterexample; beta_P = 0",
        repaired="O(A^{(1 + beta_P)/2}) for O(A).",
        replay=replay_l2,
    ),
    claim_steps(
        "SAFARI-T2a",
        PAPER,
        "(12)-(15)",
        "eps_P(hhat*_Q) <= |eps_P - eps_Q|(hhat*_Q) + eps_Q(hhat*_Q) <= alpha eps_Q^beta + eps_Q.",
        [Step("decomposition", TRIANGLE)],
        assumptions=["Assumption 2"],
    ),
    instance_claim(
        "SAFARI-T2",
        PAPER,
        "Theorem 2, (1)",
        "eps_P(hhat*_Q) = O~((d_H/(n_T + n_S))^{1/(2 - beta_Q)} + (d_H/(n_T + n_S))^{beta/(2 - beta_Q)}) with probability 1 - delta.",
        check_t2,
        Fault("slow rates whatever beta_Q is", "exponent for beta_Q = 0.5", {"law_of_exponent": lambda b: 0.5}),
        "Assumptions 1 and 2; a fixed Q, N draws from it",
        kind="rate",
    ),
    instance_claim(
        "SAFARI-T2b",
        PAPER,
        "after Theorem 2",
        "For beta >= 1 the first term dominates: as centralised learning with n_T + n_S samples.",
        check_t2b,
        Fault("twice the exponent", "first term dominates", {"power": 2}),
        "d_H <= n_T + n_S",
        kind="proof step",
    ),
    instance_claim(
        "SAFARI-T2c",
        PAPER,
        "after Theorem 2",
        "For 0 < beta < 1 pooled learning improves on the server alone, from O~(n_T^{-1/(2-beta_Q)}) to O~((n_T + "
        "n_S)^{-beta/(2-beta_Q)}), n_S being much larger than n_T.",
        check_t2c,
        Fault("n_S = 9800", "improvement where n_S >= n_T^{1/beta} - n_T", {"n_S": 9800}),
        "n_S >= n_T^{1/beta} - n_T",
        kind="proof step",
    ),
    instance_claim(
        "SAFARI-T2d",
        PAPER,
        "after Theorem 2",
        "Bounds of domain adaptation by a distance of P and Q stay away from 0 where Theorem 2's vanishes.",
        check_t2d,
        Fault("one law", "distance", {"weight": 0.1}),
    ),
    instance_claim(
        "SAFARI-T3",
        PAPER,
        "Theorem 3",
        "If Rhat_P(hhat*_Q) <= Rhat_P(h*_Q) and eps_P(h*_Q) = O(A(n_T, delta)), then eps_P(hhat*_Q) = O~((d_H/n_T)^{1/(2 - beta_P)}) with "
        "probability 1 - delta.",
        check_t3,
        Fault("beta_P/2 for (1 + beta_P)/2", "(1 + beta_P)/2 >= 1/(2 - beta_P)", {"beta": 0}),
        "Assumption 1; Lemma 1 in its standard form, which is cited",
        kind="rate",
    ),
    instance_claim(
        "SAFARI-T3a",
        PAPER,
        "after Theorem 3",
        "eps_P(h*_Q) = O(A(n_T, delta)) is weaker than eps_P(h*_Q) = 0 and than covariate shift.",
        check_t3a,
        Fault(
            "D where the best rule stays",
            "covariate shift gives eps_P(h*_Q) = O(A)",
            {"instance": {"d": TARGET, "weight": "3/5"}},
            holds=True,
        ),
        replay=replay_t3a,
    ),
    instance_claim(
        "SAFARI-R2",
        PAPER,
        "Remark 2",
        "With T drawn from P' != P such that Q = lambda_1 D + lambda_2 P' is positively related to P, Theorems 2 and 3 still hold.",
        check_r2,
        Fault("a hundredth less of the difference", "Theorem 2", {"share": "99/100"}),
    ),
    instance_claim(
        "SAFARI-X8",
        DERIVED,
        "Table 1, p = 1",
        "A model that never outputs an unseen class has at most the accuracy P(class seen); Table 1's FedAvg at p = 1 lies below.",
        check_x8,
        Fault("one class fewer", "4 clients never", {"seen": 1}),
        kind="identity",
    ),
]
