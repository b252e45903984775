"""A-FedPD's remarks on optimisation: the range of rho, rounds and local steps (Remarks 1.1 and 1.2), and the duality gap as a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Lemma,
    Part,
    Reading,
    bar,
    decided,
    disproved,
    dot,
    norm2,
    proved,
)
from fedtheory.claims.statements.as_claims import find_of_lemma, is_derived
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd import lemmas
from paper_checks.afedpd.partial_rounds import tends_to_floor
from paper_checks.afedpd.stability import bernoulli_step, stated
from paper_checks.afedpd.structure import CENTRES, CURVATURES, DERIVED, Played, play_method, sequences
from paper_checks.afedpd.theory import ALL
from paper_checks.afedpd.theory_pictures import draw_noisy_steps, draw_one_of_two

# ---- the range of rho -----------------------------------------------------------------------------------------------


def twice_q(L: Any, rho: Any) -> Any:
    """2 q of the proof of Theorem 1."""
    return L * (rho**2 + rho * L) / (rho**2 - 36 * L**2)


def limit_of_twice_q(L: Any, rho: Any) -> Any:
    """What 2 q has to be below, so that `gradient_weight` is positive."""
    return rho / (4 * L**2)


def weight_after(q: Any, L: Any, rho: Any) -> Any:
    """What stands before R_t in the sum of the proof's two inequalities."""
    return q * (1 - 4 * L**2 / rho**2) - (L / 2) * (1 + L / rho)


def weight_before(q: Any, L: Any, rho: Any) -> Any:
    """What stands before R_{t-1} there."""
    return q * 32 * L**2 / rho**2


def gradient_weight(q: Any, L: Any, rho: Any) -> Any:
    """What stands before -||grad f(thetabar^t)||^2 there."""
    return 1 / (2 * rho) - 4 * q * L**2 / rho**2


def range_of_rho(L: Any, rho: Any, four: Any = 4) -> Any:
    """What has to be positive."""
    return rho**2 - four * L**3 * rho - 36 * L**2 - 4 * L**4


def check_range(ctx: Context, *, four: int = 4) -> Iterator[Finding]:
    """2 q < rho/(4 L^2) as a quadratic in rho, as printed and with Lemma 2 corrected."""
    L, rho = symbols("L rho", positive=True)
    twice, form, limit = twice_q(L, rho), range_of_rho(L, rho, four), limit_of_twice_q(L, rho)
    yield proved(
        "as printed",
        is_zero((limit - twice) * (rho**2 - 36 * L**2) / limit - form)
        and is_zero(weight_after(twice / 2, L, rho) - weight_before(twice / 2, L, rho))
        and is_zero(gradient_weight(limit / 2, L, rho)),
        "q makes the weights of R_t and R_{t-1} equal, and the gradient's is positive below rho/(8 L^2); "
        "for rho > 6 L, so that q > 0, both sides are multiplied by 4 L^2 (rho^2 - 36 L^2)/rho; at L = 1 the root is 2 + sqrt(44)",
    )
    right = rho**2 - 4 * L * rho - 40 * L**2
    yield proved(
        "with 4/rho^2 in Lemma 2",
        is_zero((rho / 4 - twice) * (rho**2 - 36 * L**2) * 4 / rho - right),
        "then 2 q < rho/4, that is rho^2 - 4 L rho - 40 L^2 > 0: rho > (2 + 2 sqrt(11)) L, of the dimension of rho",
        role="reading",
    )
    c = symbols("c", positive=True)
    yield disproved(
        "rho > c L^3 is enough",
        is_zero(form.subs(rho, c * L**3) - L**2 * (L**4 * c * (c - 4) - 36 - 4 * L**2))
        and compare(Fraction(1, 10) ** 4 * 100 * 96, "<", 36),
        "at rho = c L^3 the condition is L^4 c (c - 4) > 36 + 4 L^2, which fails for every c where L is small (c = 100: L = 1/10)",
        role="reading",
    )
    yield Reading(
        "The algebra is judged, given Lemma 2 as printed, which is corrected in AFEDPD-L2. 'rho > O(L^3) satisfies all' is right for L >= 1."
    )


# ---- Remark 1.1 -----------------------------------------------------------------------------------------------------


def check_t1a(ctx: Context, *, potential: Lemma = lemmas.POTENTIAL, factor: int = 2) -> Iterator[Finding]:
    """One client a round: a floor. All clients: the sum of the potential's falls."""
    yield disproved(
        "any P",
        tends_to_floor(factor),
        "P = 1, f_1, f_2 = (x -+ 1)^2/2, exact solves: thetabar+ = (rho thetabar +- 1)/(1 + rho) by AFEDPD-D4, so that E (thetabar^t)^2 = E ||grad "
        "f(thetabar^t)||^2 tends to 1/(1 + 2 rho), by (rho/(1 + rho))^2 a round; below that no number of rounds leads",
    )
    yield proved(
        "all clients",
        is_derived(potential),
        "AFEDPD-T1R summed: (1/T) sum_t ||grad f(thetabar^t)||^2 <= (4 rho (f(thetabar^1) - f*) + L^2 R_0)/T",
        role="reading",
    )
    yield Reading(
        "The epsilon of the solves is that of clients that train, which Remark 1.2 ties to K; an absent client's residual at thetabar^{t+1}, "
        "which no K makes small, is not counted. With all clients, exact solves and rho >= 7.583 L it does; that is less than the remark says, "
        "and no repair. 2 <= P < C is not judged."
    )
    yield draw_one_of_two(ctx)


# ---- Remark 1.2 -----------------------------------------------------------------------------------------------------


def noisy_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E ||x - eta (grad F(x) + xi) - x*||^2 <= (1 - eta m) ||x - x*||^2 + c eta^2 sigma^2, F m-strongly convex and M-smooth."""
    f, x, drawn = w.function(p.M, p.m), w.vector("x"), w.vector("xi", True)
    xi = drawn - bar(drawn)
    w.assume("noise", norm2(xi) - p.s2)
    g, _ = w.at(f, x, "at x")
    w.at(f, x * 0, "at x*", g=x * 0)
    return norm2(x - (xi + g) * p.eta) - norm2(x) * (1 - p.eta * p.m) - c.c * p.eta**2 * p.s2


NOISY_STEP = Lemma("a noisy step", "Remark 1.2", "0 < m < M, 0 < eta <= 1/M, 0 < s2", noisy_step, {"c": 1})


def check_t1b(ctx: Context, *, lemma: Lemma = NOISY_STEP, loss: int = 1, shift: int = 1) -> Iterator[Finding]:
    """Decaying steps on the local problem: the distance falls as 1/k."""
    m, eta, q, sigma = symbols("m eta q sigma", positive=True)
    kept = 1 - eta * m  # of the error a step, on the slope m x; q = kept^(2K)
    yield disproved(
        "one step size a round",
        is_zero(eta**2 * sigma**2 * (1 - q) / (1 - kept**2) - eta * sigma**2 * (1 - q) / (m * (2 - eta * m)))
        and bernoulli_step(shift),
        "slope m x with noise +-sigma, from x_0: E |m x_K|^2 = m^2 q x_0^2 + m eta sigma^2 (1 - q)/(2 - eta m), q = (1 - eta m)^{2K}. To be at most "
        "epsilon <= (m x_0)^2/2 it needs q <= 1/2, so that eta m <= 4 epsilon/sigma^2, and q >= (1 - 4 epsilon/sigma^2)^{2K}, for K = c/epsilon at "
        "least 2^{-16 c/sigma^2} by Bernoulli's inequality, whatever epsilon is; but q <= epsilon/(m x_0)^2: no c serves, whatever the step size is",
    )
    parts = [part for part in find_of_lemma(lemma, name="one step", role="repaired") if isinstance(part, Part)]
    yield from parts
    s, Q = symbols("s Q", positive=True)
    kept = Q / (s + 1) - ((1 - 2 / s) * Q / s + loss * Q / s**2)  # 4 sigma^2/(m s)^2 <= Q/s^2
    yield proved(
        "K = O(1/epsilon)",
        is_zero(kept - Q / (s**2 * (s + 1))) and is_positive(Q / (s**2 * (s + 1))),
        "m = rho - L, M = rho + L; with eta_k = 2/(m s), s = k + k_0, k_0 >= 2 M/m, E ||x_k - x*||^2 <= Q/s for Q = max(k_0 ||x_0 - x*||^2, 4 "
        "sigma^2/m^2), as (1 - 2/s) Q/s + Q/s^2 <= Q/(s + 1); so E ||grad L_i||^2 <= M^2 Q/(K + k_0). Times O(1/epsilon) rounds (AFEDPD-T1a)",
        role="repaired",
        resting_on=parts,
    )
    yield Reading(
        "Algorithm 1 has one step size eta^t a round, with which K = c/epsilon is not enough for any c; on this slope a logarithm of "
        "1/epsilon comes on top. The remark gives 'a general selection' for 'different local optimizers': one whose steps decay in the round has it."
    )
    yield Reading(
        "The paper asks for ||grad L_i||^2 <= epsilon itself; here it is meant in expectation. The discussion that the remark promises in "
        "Appendix B.2.2 is not there. Without noise log(1/epsilon) steps are enough."
    )
    yield draw_noisy_steps(ctx)


# ---- the duality gap ------------------------------------------------------------------------------------------------


def weak_duality(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """mean_i inf_y [f_i(y) + <mu_i, y>] <= f(x) for every x, mu_i = lambda_i - c mean lambda_i, from inf <= the value at x."""
    f, lam, x = w.function(None, 0, client=True), w.vector("lambda_i", True), w.vector("x")
    _, v = w.at(f, x + lam * 0, "f_i(x)")
    dual = w.value("dual")
    w.assume("infima", dual - v - dot(lam - bar(lam) * c.c, x + lam * 0))
    return dual - v


WEAK_DUALITY = Lemma("weak duality", "Algorithm 1", "", weak_duality, {"c": 1})


def average_loss(x: Fraction) -> Fraction:
    """f of the four quadratics."""
    return sum((a / 2 * (x - b) ** 2 for a, b in zip(CURVATURES, CENTRES, strict=True)), Fraction(0)) / len(CENTRES)


def gap_at(state: Played, share: int = 1) -> tuple[Fraction, Fraction]:
    """f(thetabar) - mean_i inf_x [f_i(x) + mu_i x], and the clients' own gaps, mean (a_i/2)(thetabar - x_i)^2, x_i = b_i - mu_i/a_i the minimiser."""
    lower = own = Fraction(0)
    for a, b, dual in zip(CURVATURES, CENTRES, state.lam, strict=True):
        mu = dual - share * state.mean_lam
        lower += (mu * b - mu * mu / (2 * a)) / len(CENTRES)
        own += a / 2 * (state.bar - b + mu / a) ** 2 / len(CENTRES)
    return average_loss(state.bar) - lower, own


def check_d15(ctx: Context, *, lemma: Lemma = WEAK_DUALITY, share: int = 1, floor: int = 1) -> Iterator[Finding]:
    """Weak duality for all; the gap in fractions on all sequences of subsets; that it closes, or not."""
    yield from find_of_lemma(lemma, name="weak duality")
    weighted = [a * b for a, b in zip(CURVATURES, CENTRES, strict=True)]
    least = average_loss(sum(weighted, Fraction(0)) / sum(CURVATURES, Fraction(0)))
    states = [state for P in (1, 2, 3, 4) for subsets in sequences(P) for state in play_method(subsets)]
    seen = [(state, gap_at(state, share)) for state in states]
    yield decided(
        "the method",
        all(compare(gap, ">=", average_loss(state.bar) - least) for state, (gap, _) in seen)
        and all(compare(gap, "==", own) for _, (gap, own) in seen),
        f"{len(states)} states of two rounds, P = 1..4: at least f(thetabar) - f*, and the mean of the clients' own gaps, as sum mu_i = 0",
    )
    yield decided(
        "P = 1",
        all(
            compare(gap_at(state)[0], ">=", floor * least) for subsets in sequences(1) for state in play_method(subsets)
        ),
        f"mu_i stays 0 (AFEDPD-D4): the gap is f(thetabar) - mean min f_i, at least f* = {least} here in every round",
        role="reading",
    )
    yield Reading(
        "It can close for convex f_i only, and is finite for strongly convex ones; FedDyn's duals serve, too."
    )


CLAIMS: list[Claim] = [
    stated(
        "AFEDPD-Q-RANGE",
        "Appendix B.2.2, the choice of q",
        "2 q = L (rho^2 + rho L)/(rho^2 - 36 L^2) < rho/(4 L^2) is rho^2 - 4 L^3 rho - 36 L^2 - 4 L^4 > 0.",
        check_range,
        Fault("5 L^3 rho", "as printed", {"four": 5}),
        assumptions=("rho > 6 L", "Lemma 2 as printed"),
    ),
    stated(
        "AFEDPD-T1a",
        "Remark 1.1",
        "(1/T) sum_t E ||grad f(thetabar^t)||^2 <= epsilon takes O(1/epsilon) rounds.",
        check_t1a,
        Fault("1/(1 + 3 rho)", "any P", {"factor": 3}, holds=True),
        Fault("332/100 of the fall", "all clients", {"potential": lemmas.POTENTIAL.with_constants(c="332/100")}),
        kind="rate",
    ),
    stated(
        "AFEDPD-T1b",
        "Remark 1.2",
        "K = O(1/epsilon) steps of Algorithm 1's local training give E ||grad L_i(theta_i^{t+1})||^2 <= epsilon, with O(1/epsilon^2) samples in all.",
        check_t1b,
        Fault("99/100 of the noise", "one step", {"lemma": NOISY_STEP.with_constants(c="99/100")}),
        Fault("twice the noise", "K = O(1/epsilon)", {"loss": 2}),
        Fault("k + 2 for k + 1", "one step size a round", {"shift": 2}, holds=True),
        assumptions=(
            "stochastic gradients are unbiased, their variance at most sigma^2",
            f"O(1/epsilon) rounds, as AFEDPD-T1a has for {ALL}",
        ),
        repaired="With local steps that decay in the round as 1/k, rho > L, and local solutions at a bounded distance from theta^t.",
        kind="rate",
    ),
    stated(
        "AFEDPD-D15",
        "Algorithm 1",
        "gap_t = f(thetabar^t) - mean_i inf_x [f_i(x) + <mu_i^t, x>] >= f(thetabar^t) - f* >= 0, mu_i = lambda_i - lambdabar: a certificate for "
        "free.",
        check_d15,
        Fault("1 % of the mean left in", "weak duality", {"lemma": WEAK_DUALITY.with_constants(c="99/100")}),
        Fault("the mean taken off twice", "the method", {"share": 2}),
        Fault("twice f*", "P = 1", {"floor": 2}),
        kind="identity",
        paper=DERIVED,
    ),
]
