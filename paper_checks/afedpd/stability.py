"""A-FedPD's stability over one round (Eq. 10, Lemmas 5 and 6) and the recursion over rounds (Table 8).

A hat marks a run on data of which one sample was exchanged, with the same draws; V, W and M are the norms of (theta_{i,k}^t - theta^t) -
(its hat), of theta^t - its hat, and of lambda_i^t - its hat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD
from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Lemma,
    Part,
    Reading,
    Replay,
    assume,
    decided,
    norm2,
    proved,
    refute,
)
from fedtheory.claims.statements.as_claims import find_of_lemma
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local import GradientSteps
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd.theory import PAPER
from paper_checks.steps import Conclusion, Step, claim_steps
from problems.quadratics import scalar_quadratics

Slope = Callable[[Fraction], Fraction]


def local_model(slopes: Sequence[Slope], theta: Fraction, lam: Fraction, rho: Fraction, eta: Fraction) -> Fraction:
    """Algorithm 1's local training, one stochastic gradient after the other; FedAvg's with rho = lam = 0."""
    x = theta
    for slope in slopes:
        x = x - eta * (slope(x) + lam + rho * (x - theta))
    return x


# ---- lemmas ---------------------------------------------------------------------------------------------------------


def displacement_step(w: Any, p: Any, c: Any) -> Any:
    """||(1 - eta rho) u - eta b|| <= (1 - eta rho) U + c eta B where ||u|| <= U, ||b|| <= B."""
    u, b = w.vector("u"), w.vector("b")
    w.assume("displacement", norm2(u) - p.U**2)
    w.assume("slope", norm2(b) - p.B**2)
    return norm2(u * (1 - p.eta * p.rho) - b * p.eta) - ((1 - p.eta * p.rho) * p.U + c.c * p.eta * p.B) ** 2


def triangle_of_two(w: Any, p: Any, c: Any) -> Any:
    """||a + b|| <= A + c B where ||a|| <= A, ||b|| <= B."""
    a, b = w.vector("a"), w.vector("b")
    w.assume("first", norm2(a) - p.A**2)
    w.assume("second", norm2(b) - p.B**2)
    return norm2(a + b) - (p.A + c.c * p.B) ** 2


def smooth_slopes(w: Any, p: Any, c: Any) -> Any:
    """||grad f(x + v) - grad f(x)||^2 <= c L^2 ||v||^2."""
    f, v = w.function(p.L, -p.L), w.vector("v")
    (near, _), (far, _) = w.at(f, v * 0, "near"), w.at(f, v, "far")
    return norm2(far - near) - norm2(v) * (c.c * p.L**2)


DISPLACEMENT = Lemma("displacement", "(10)", "0<rho, 0<eta<=1/rho, 0<U, 0<B", displacement_step, {"c": 1})
TRIANGLE = Lemma("triangle inequality", "Lemma 5", "0<A, 0<B", triangle_of_two, {"c": 1})
SMOOTH = Lemma("smoothness", "Assumption 1", "0<L", smooth_slopes, {"c": 1})


def steps_add_up(steps: int = 1) -> bool:
    """One step with the factor 1 - eta r and the increment eta leads from (1 - w)/r to (1 - (1 - eta r) w)/r, w = (1 - eta r)^k."""
    eta, r, w = symbols("eta r w", positive=True)
    return is_zero((1 - eta * r) * (1 - w) / r + steps * eta - (1 - (1 - eta * r) * w) / r)


def bernoulli_step(shift: int = 1) -> bool:
    """(1 - x)(1 - k x) = 1 - (k + 1) x + k x^2, so that (1 - x)^k >= 1 - k x on [0, 1] by induction."""
    x, k = symbols("x k", positive=True)
    return is_zero((1 - x) * (1 - k * x) - (1 - (k + shift) * x) - k * x**2)


# ---- Eq. (10) -------------------------------------------------------------------------------------------------------

STEP = {"theta": "1", "x": "5/4", "lam": "1/2", "rho": "1", "eta": "1/10"}


def replay_eq10(instance: Mapping[str, Any]) -> Replay:
    """A step of local training on x^2/2 against the printed second line, with g the gradient or its negative."""
    theta, x, lam, rho, eta = (Fraction(instance[name]) for name in ("theta", "x", "lam", "rho", "eta"))
    moved = x - eta * (x + lam + rho * (x - theta)) - theta
    off = min(abs(moved - ((1 - eta * rho) * (x - theta) + eta * (g + lam))) for g in (x, -x))
    met = (assume("rho, eta", "0 < r*e <= 1", r=rho, e=eta),)
    what = "how far the printed line is off, whichever sign g has"
    return Replay(what, float(off), 0.0, off, Fraction(0), "fractions", met)


def check_eq10(ctx: Context, *, instance: Mapping[str, Any] = STEP, sign: int = 1, extra: int = 0) -> Iterator[Finding]:
    """The printed signs, the corrected ones, and K steps of the library's method."""
    yield refute("as printed", replay_eq10, dict(instance), text="f(x) = x^2/2.")
    x, theta, g, lam, rho, eta = symbols("x theta g lam rho eta")
    after = x - eta * (g + lam + rho * (x - theta)) - theta
    yield proved(
        "with - eta",
        is_zero(after - ((1 - eta * rho) * (x - theta) - sign * eta * (g + lam))),
        "Algorithm 1's local step, less theta^t; without rho and lambda_i it is FedAvg's",
        role="repaired",
    )
    curvatures, centres, start = list(map(Fraction, ("1", "3"))), list(map(Fraction, ("1", "-2"))), Fraction(2)
    r, h, K = Fraction(1, 2), Fraction(1, 10), 3
    problem, key = scalar_quadratics(curvatures, centres), ScriptedKey(0)
    method = AFedPD(r, local=GradientSteps(K, h))
    state = method.init(problem, np.array([[start]], dtype=object))
    u = [Fraction(0)] * 2
    for _ in range(K + extra):
        u = [(1 - h * r) * v - h * a * (v + start - b) for v, a, b in zip(u, curvatures, centres, strict=True)]
    found: Any = method.round(problem, state, None, key)  # type: ignore[arg-type]
    yield decided(
        "the library's local steps",
        all(compare(m, "==", start + v) for m, v in zip(found.x_i.ravel(), u, strict=True)),
        f"{K} steps on two quadratics in fractions",
        role="repaired",
    )
    yield Reading("A slip of signs: the appendix, after (17), has them right.")


# ---- Lemmas 5 and 6 -------------------------------------------------------------------------------------------------

APART = {"L": "1", "R": "1", "rho": "1/10", "eta": "1", "K": 2, "S": 0, "theta": "1/8", "hat": "-1/8"}
APART_SAMPLE = APART | {"S": 100}


def replay_local(instance: Mapping[str, Any]) -> Replay:
    """Local training from two models, f(x) = -(L/2) x^2 up to |x| = R and straight beyond; S > 0: one of S samples has -f in the mirror."""
    L, R, rho, eta, theta, hat = (Fraction(instance[name]) for name in ("L", "R", "rho", "eta", "theta", "hat"))
    K, S = int(instance["K"]), int(instance["S"])
    slope: Slope = lambda x: -L * min(max(x, -R), R)  # noqa: E731
    other: Slope = lambda x: -slope(x)  # noqa: E731
    apart = Fraction(0)
    for drawn in product((0, 1) if S else (0,), repeat=K):
        weight = Fraction(S - 1, S) ** (K - sum(drawn)) / Fraction(S) ** sum(drawn) if S else Fraction(1)
        first = local_model([slope] * K, theta, Fraction(0), rho, eta) - theta
        second = local_model([other if j else slope for j in drawn], hat, Fraction(0), rho, eta) - hat
        apart += weight * abs(first - second)
    limit = eta * K * L * abs(theta - hat) + (2 * eta * K * L * R / S if S else 0)
    met = (
        assume("Assumption 1: f and -f are L-smooth (and L R-Lipschitz)", "0 < L", L=L),
        assume("rho", "0 < r", r=rho),
        assume("eta rho <= 1", "0 < e*r <= 1", e=eta, r=rho),
    )
    what = f"E ||(theta_i^(t+1) - theta^t) - hat|| for K = {K}, rho = {rho} below L = {L}"
    return Replay(what, float(apart), float(limit), apart, limit, "fractions", met)


def check_local(
    ctx: Context,
    *,
    sample: bool = False,
    instance: Mapping[str, Any] | None = None,
    triangle: Lemma = TRIANGLE,
    steps: int = 1,
) -> Iterator[Finding]:
    """Refuted below L; above it one step by the triangle inequality, K of them by a geometric sum and Bernoulli's inequality."""
    yield refute(
        "every rho > 0",
        replay_local,
        dict(instance or (APART_SAMPLE if sample else APART)),
        text="Where rho < L a non-convex local problem drives two models apart by a factor 1 + eta (L - rho) a step.",
    )
    steps_of = [("smoothness", SMOOTH), ("triangle inequality", triangle)]
    parts = [p for name, lemma in steps_of for p in find_of_lemma(lemma, name=name, role="repaired") if isinstance(p, Part)]
    yield from parts
    V, W, M, L, rho, eta, S, G = symbols("V W M L rho eta S G", positive=True)
    same = (1 - eta * (rho - L)) * V + eta * L * W + eta * M
    other = (1 - eta * rho) * V + 2 * eta * G + eta * M
    one = is_zero((1 - eta * rho) * V + eta * L * (V + W) + eta * M - same)
    if sample:
        mixed = (1 - 1 / S) * same + other / S
        one = is_zero(same + 2 * eta * G / S - mixed - eta * L * (V + W) / S) and is_positive(eta * L * (V + W) / S)
    yield proved(
        "K steps, rho > L",
        one and steps_add_up(steps) and bernoulli_step(),
        "a step on one sample multiplies V by 1 - eta (rho - L) in [0, 1] and adds eta (L W + M)"
        + ("; one on the exchanged sample, drawn with probability 1/S, adds eta (2 G + M); the mean" if sample else "")
        + "; from V = 0, K steps give (1 - (1 - eta (rho - L))^K)/(rho - L) times what one adds per eta, at most eta K by Bernoulli",
        role="repaired",
        resting_on=parts,
    )
    yield Reading(
        "rho_L = rho - L is said to be a constant, and nothing of its sign; the last inequality turns round for rho < L. With rho > L and "
        "eta rho <= 1 the printed lemma is true, and the factor (1 - (1 - eta (rho - L))^K)/(rho - L) <= 1/(rho - L), which the proof gives "
        "up for eta K, does not grow with K. 'k + 1' is read as K" + (", 's' as S; samples are drawn with replacement." if sample else ".")
    )


# ---- the recursion --------------------------------------------------------------------------------------------------

ROOT = {"of": "root", "L": "1/10", "rho": "1/5", "s": "399/200", "q": "401/100"}
ABSENT = {"of": "absent", "C": 2, "P": 1, "rho": "2", "eta": "1/4", "G": "1"}


def replay_recursion(instance: Mapping[str, Any]) -> Replay:
    """The root x+ against 1 + rho/L + 2 sqrt(L/(eta K)), eta K = L/s^2; or sigma^1 against rho pi^1, absent models being theta^0."""
    if instance["of"] == "root":
        L, rho, s, q = (Fraction(instance[name]) for name in ("L", "rho", "s", "q"))
        root, limit = (rho + q) / (2 * L), 1 + rho / L + 2 * s
        met = (
            assume("positive", "0 < L*r*s", L=L, r=rho, s=s),
            assume("q^2 is the discriminant, 1/(eta K) = s^2/L", "q*q == (r + 2*L)*(r + 2*L) + 4*s*s", q=q, r=rho, L=L, s=s),
        )
        return Replay("larger root x+", float(root), float(limit), root, limit, "fractions", met)
    C, P = int(instance["C"]), int(instance["P"])
    rho, eta, G = (Fraction(instance[name]) for name in ("rho", "eta", "G"))
    subsets = list(combinations(range(C), P))
    moved = 2 * eta * G  # of client 1, whose sample has the slope G, and -G in the mirror; theta^0 and duals are the same
    sigma = pi = Fraction(0)
    for active in subsets:
        came = [moved if i == 0 and i in active else Fraction(0) for i in range(C)]
        mean = sum(came, Fraction(0)) / P
        sigma += sum((rho * (came[i] if i in active else mean) for i in range(C)), Fraction(0)) / C / len(subsets)
        pi += sum(came, Fraction(0)) / C / len(subsets)
    met = (assume("some are absent", "0 < P < C", P=P, C=C), assume("eta rho <= 1", "0 < e*r <= 1", e=eta, r=rho))
    what = "sigma^1 against sigma^0 + rho pi^1 with theta_i^1 = theta^0 for absent clients"
    return Replay(what, float(sigma), float(rho * pi), sigma, rho * pi, "fractions", met)


def check_recursion(ctx: Context, *, instance: Mapping[str, Any] = ROOT, gamma: int = 1, root: int = 2) -> Iterator[Finding]:
    """Four lines, their combination, the quadratic condition, the bound of its root, and the printed convention for absent clients."""
    L, rho, k, C, P, d = symbols("L rho k C P d", positive=True)  # k = eta K
    yield proved(
        "four lines",
        is_zero(rho / C * (P * d + (C - P) * d) - rho * d) and is_zero(C * (P / C) * d / P - d),
        "triangle inequalities, and Lemmas 5 and 6 averaged over clients. The dual line: active duals move apart by rho times their models, "
        "absent ones by rho times the mean of these; with theta_i^{t+1} of absent clients what they would return, each is active with "
        "probability P/C, and both add up to rho pi^{t+1}",
    )
    D0, D1, s0, s1, d1, p1, c1, c2, c3, x = symbols("D0 D1 s0 s1 d1 p1 c1 c2 c3 x", positive=True)
    alpha, g = x / rho, gamma + x
    added = (d1 + s1 / rho - D1) + alpha * (s0 + rho * p1 - s1) + (p1 + D0 - d1) + g * (c1 * D0 + c2 * s0 + c3 - p1)
    square = L * x**2 - rho * x - (L + rho + 1 / k)
    yield proved(
        "combination and its condition",
        is_zero(added - ((1 + g * c1) * D0 + (alpha + g * c2) * s0 + g * c3 - D1 - (alpha - 1 / rho) * s1))
        and is_zero((1 + g * k * L) * (alpha - 1 / rho) - (alpha + g * k) - k / rho * square)
        and is_zero(square.subs(x, 1 + rho / L) + 1 / k),
        "the lines times 1, alpha, 1 and gamma = 1 + alpha rho; alpha - 1/rho is at least the coefficient of sigma^t where the quadratic in x = "
        "alpha rho is not negative; it is -1/(eta K) at 1 + rho/L, so that x+ > 1 + rho/L and alpha - 1/rho > 1/L",
    )
    yield refute("x+ <= 1 + rho/L + 2 sqrt(L/(eta K))", replay_recursion, dict(instance), text="L < 1/2.")
    r = symbols("r", positive=True)  # sqrt(L/(eta K)) = L/sqrt(L eta K)
    yield proved(
        "x+ <= 1 + rho/L + 1/sqrt(L eta K)",
        is_zero((rho + 2 * L + root * r) ** 2 - ((rho + 2 * L) ** 2 + 4 * r**2) - 4 * r * (rho + 2 * L))
        and is_zero((rho + rho + 2 * L + 2 * r) / (2 * L) - (1 + rho / L + r / L)),
        "the square root is at most rho + 2 L + 2 sqrt(L/(eta K))",
        role="repaired",
    )
    yield refute("theta_i^{t+1} = theta^t for absent clients", replay_recursion, ABSENT, role="reading")
    yield Reading(
        "Nothing after it uses the bound of x+. The dual line is false with absent clients' models set to theta^t, as the appendix says, where "
        "C/P is missing; it is read with the models they would return, as in Appendix B.2. The display after it loses the 2 of 2 gamma eta K G/(CS)."
    )


BELOW_L = "rho > L and eta rho <= 1, which the statement does not say"
CLAIMS: list[Claim] = [
    Claim(
        "AFEDPD-EQ10",
        PAPER,
        "identity",
        "Eq. (10)",
        "theta_{i,k+1} - theta^t = (1 - eta rho)(theta_{i,k} - theta^t) + eta (g + lambda_i), and without rho and lambda_i for FedAvg.",
        check_eq10,
        (
            Fault("1.01 eta", "with - eta", {"sign": Fraction(101, 100)}),
            Fault("no dual and g = 0", "as printed", {"instance": STEP | {"x": "0", "lam": "0"}}, holds=True),
            Fault("a step more", "the library's local steps", {"extra": 1}),
        ),
        repaired="- eta for + eta, in both lines.",
        replay=replay_eq10,
    ),
    claim_steps(
        "AFEDPD-Q-DRIFT",
        PAPER,
        "Text under Eq. (10)",
        "With the duals ignored ||theta_{i,k}^t - theta^t|| is a decayed sequence with a bound for every k: it is at most (1 - (1 - eta "
        "rho)^k) G/rho <= min(eta k, 1/rho) G.",
        [Step("one step", DISPLACEMENT)],
        conclusions=[
            Conclusion(
                "k steps",
                "from 0, with the factor 1 - eta rho and the increment eta G a step; (1 - eta rho)^k lies in [0, 1]",
                ("one step",),
                confirmed=steps_add_up,
            ),
            Conclusion("no more than eta k", "Bernoulli's inequality", ("one step",), confirmed=bernoulli_step),
        ],
        assumptions=["stochastic gradients are at most G long (Assumption 2, of every sample)"],
        readings=[
            "With the dual, G + ||lambda_i|| stands for G. A constant gradient attains the bound; FedAvg then moves by eta k G, without a "
            "limit in k."
        ],
        kind="bound",
    ),
    *(
        Claim(
            id,
            PAPER,
            "proof step",
            source,
            f"E ||(theta_i^{{t+1}} - theta^t) - (hat)|| <= eta K L E ||theta^t - hat|| + eta K E ||lambda_i^t - hat||{more}.",
            partial(check_local, sample=sample),
            (
                Fault("rho = L", "every rho > 0", {"instance": instance | {"rho": "1"}}, holds=True),
                Fault("99/100 of a summand", "triangle inequality", {"triangle": TRIANGLE.with_constants(c="99/100")}),
                Fault("two increments a step", "K steps, rho > L", {"steps": 2}),
            ),
            assumptions=assumed,
            repaired=f"The same with {BELOW_L}.",
            replay=replay_local,
        )
        for id, source, more, sample, instance, assumed in (
            ("AFEDPD-L5", "Lemma 5, (17)", "", False, APART, ("client i has no exchanged sample",)),
            (
                "AFEDPD-L6",
                "Lemma 6, (18)",
                " + 2 eta K G/S",
                True,
                APART_SAMPLE,
                ("client i* has one exchanged sample of S", "every sample's loss is L-smooth and G-Lipschitz"),
            ),
        )
    ),
    Claim(
        "AFEDPD-G-REC",
        PAPER,
        "proof step",
        "Appendix B.3.2, Table 8 and what follows",
        "Delta^{t+1} <= delta^{t+1} + sigma^{t+1}/rho, sigma^{t+1} <= sigma^t + rho pi^{t+1}, delta^{t+1} <= pi^{t+1} + Delta^t, pi^{t+1} <= "
        "eta K (L Delta^t + sigma^t + 2 G/(CS)); combined, for alpha rho >= x+, the larger root of L x^2 - rho x - (L + rho + 1/(eta K)); "
        "x+ <= 1 + rho/L + 2 sqrt(L/(eta K)); alpha - 1/rho > 1/L.",
        check_recursion,
        (
            Fault("gamma = 2 + alpha rho", "combination and its condition", {"gamma": 2}),
            Fault(
                "L = 1/2",
                "x+ <= 1 + rho/L + 2 sqrt(L/(eta K))",
                {"instance": ROOT | {"L": "1/2", "rho": "1", "s": "3/4", "q": "5/2"}},
                holds=True,
            ),
            Fault("one square root", "x+ <= 1 + rho/L + 1/sqrt(L eta K)", {"root": 1}),
        ),
        assumptions=(BELOW_L,),
        repaired="x+ <= 1 + rho/L + 1/sqrt(L eta K).",
        replay=replay_recursion,
    ),
]
