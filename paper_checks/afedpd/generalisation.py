"""A-FedPD's generalisation: Eq. (9), Lemma 4 and the factor K that its proof drops, constant and decaying steps. Theorem 2 is `theorem_two`.

C clients have S samples each, and P of them take K local steps a round, each with one sample drawn with replacement; tau_0 is a round before
which the sample that was exchanged is not drawn, zeta the event that it is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Replay, assume, decided, disproved, refute
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.afedpd import sums
from paper_checks.afedpd.generalisation_pictures import (
    draw_coins,
    draw_lemma_4,
)
from paper_checks.afedpd.recursion import condition_on_x
from paper_checks.afedpd.stability import (
    Number,
    Slope,
    local_model,
    replay_twice,
)
from paper_checks.afedpd.sums import printed_chance, right_of_16
from paper_checks.afedpd.theory import claim
from paper_checks.steps import Step

GIVEN = "the recursion of AFEDPD-G-REC, which needs rho > L and eta rho <= 1"
FROM_TAU = "y[n] = Delta + alpha_rho sigma after n rounds from tau_0 on, T = tau_0 + n; until tau_0 both runs are one, so that y[0] = 0"
SAMPLES = "every sample's loss is in [0, H], G-Lipschitz and L-smooth, which Assumptions 1 and 2 say of f"


# ---- Eq. (9) --------------------------------------------------------------------------------------------------------


def deviation_of_coins(n: int, number: Number = Fraction) -> Any:
    """E of the distance of the mean of n fair coins from 1/2."""
    return sum((comb(n, k) * abs(1 / number(2) - k / number(n)) for k in range(n + 1)), number(0)) / 2**n


def replay_eq9(instance: Mapping[str, Any]) -> Replay:
    """Losses f(theta, xi) = xi of fair coins xi, whatever theta is: E |F - f| over n = CS samples, and no difference of models."""
    n = int(instance["samples"])
    met = (
        assume("samples", "1 <= n", n=n),
        assume("losses are 0 or 1, in [0, H]", "1 <= H", H=1),
    )
    what = "E |F - f| against sup E |f(theta, xi) - f(hat, xi)|"
    return replay_twice(what, lambda number: (deviation_of_coins(n, number), number(0)), met)


def memorised(values: int) -> tuple[Fraction, Fraction]:
    """A model that is its only sample, loss 1 at all others, samples uniform on so many: E[F - f], and sup_xi E |f - hat f| over drawn data."""
    n = range(values)
    gap = Fraction(sum(a != b for a, b in product(n, n)), values**2)
    return gap, max(Fraction(sum((a == xi) != (b == xi) for a, b in product(n, n)), values**2) for xi in n)


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


# ---- Lemma 4 --------------------------------------------------------------------------------------------------------

FAR: Mapping[str, Any] = {"S": 5, "K": 5, "rho": "1/1000", "eta": "40"}
DRAWN = {"C": 10, "P": 5, "S": 20, "K": 20, "tau": 1}


def one_round_apart(S: int, K: int, rho: Any, eta: Any) -> tuple[Any, Any]:
    """E |f - hat f| at the exchanged sample and E |theta - hat|: K steps from x = 1, loss 1/2 of all samples, 1/(1 + x^2) of the exchanged one."""
    slopes: tuple[Slope, Slope] = (lambda x: 0 * x, lambda x: -2 * x / (1 + x * x) ** 2)
    losses = models = 0 * rho
    one = 1 + 0 * rho  # of the arithmetic in which it is played
    for drawn in product((0, 1), repeat=K):
        model = local_model([slopes[j] for j in drawn], one, 0 * rho, rho, eta)
        weight = one * (S - 1) ** (K - sum(drawn)) / S**K
        losses += weight * abs(1 / (1 + model * model) - one / 2)
        models += weight * abs(model - 1)
    return losses, models


def replay_l4(instance: Mapping[str, Any]) -> Replay:
    """T = tau_0 = 1, one client from x = 1: loss 1/2 of all samples, 1/(1 + x^2) of the exchanged one; E |f - hat f| there, against H tau_0/S."""
    S, K = int(instance["S"]), int(instance["K"])
    rho, eta = Fraction(instance["rho"]), Fraction(instance["eta"])

    def play(number: Number) -> tuple[Any, Any]:
        apart, _ = one_round_apart(S, K, number(rho), number(eta))
        return Fraction(int(apart * 10**12), 10**12) if number is Fraction else apart, right_of_16(
            number(0), printed_chance(number(1), 1, 1, number(S)), number(1), number(1)
        )

    met = (
        assume("losses 1/2 and 1/(1 + x^2) are in [0, H]; given zeta both runs are one", "1 <= H", H=1),
        assume("rho, eta", "0 < e*r <= 1", e=eta, r=rho),
    )
    what = "E |f - hat f| against G E[||theta^T - hat theta^T|| | zeta] + H P tau_0/(CS)"
    return replay_twice(what, play, met, "fractions, rounded down to twelve decimals")


def probability_drawn(C: int, P: int, S: int, K: int, tau: int, number: Number = Fraction) -> Any:
    """Of the exchanged sample in tau rounds: client i* takes part with probability P/C, and then draws K times with replacement."""
    return 1 - (1 - number(P) / C * (1 - (number(S - 1) / S) ** K)) ** tau


def replay_l4p(instance: Mapping[str, Any]) -> Replay:
    """P(zeta^c) for tau_0 rounds against P tau_0/(CS)."""
    C, P, S, K, tau = (int(instance[name]) for name in ("C", "P", "S", "K", "tau"))
    met = (assume("counts", "1 <= P <= C", P=P, C=C), assume("counts", "1 <= S*K*t", S=S, K=K, t=tau))
    return replay_twice(
        "P(zeta^c) against P tau_0/(CS)",
        lambda number: (probability_drawn(C, P, S, K, tau, number), printed_chance(number(P), tau, C, S)),
        met,
    )


def check_l4(ctx: Context) -> Iterator[Finding]:
    """In the form that Theorem 2 uses Lemma 4 fails."""
    yield refute("given zeta in the first term", replay_l4, dict(FAR), role="reading", text="The new sample was drawn.")
    samples, rho, eta = FAR["S"], float(Fraction(FAR["rho"])), float(FAR["eta"])
    rows = [(K, *one_round_apart(samples, K, rho, eta)) for K in range(1, 11)]
    yield draw_lemma_4(rows, 3**1.5 / 8, samples)


def check_l4p(ctx: Context, *, instance: Mapping[str, Any] = DRAWN) -> Iterator[Finding]:
    """K draws a round."""
    yield refute("P tau_0/(CS)", replay_l4p, dict(instance), text="K = 20 draws a round.")
    large = probability_drawn(100, 10, 500, 50, 20)
    text = "S = 500, K = 50, C = 100, P = 10, tau_0 = 20, as in the experiments: 43 times as probable as printed"
    yield decided("of the experiments' size", compare(large, ">", 43 * Fraction(200, 50000)), text, role="reading")


# ---- the sums -------------------------------------------------------------------------------------------------------


def log_balance(g: Any, h: Any, t: Any, b: Any, k: Any = 0, power: int = 1) -> Any:
    """Logarithm of tau_0 that balances, from those of 2 G^2/L, H P, T and K; b = mu L."""
    return (g - h - k) / (1 + b) + power * b * t / (1 + b)


def log_balanced(g: Any, h: Any, t: Any, b: Any, k: Any = 0) -> Any:
    """Logarithm of CS times either term there."""
    return g / (1 + b) + b * (h + k + t) / (1 + b)


def balance_holds(power: int = 1, draws: bool = False) -> bool:
    """H P K tau_0 = (2 G^2/L)(T/tau_0)^b at tau_0 = (2 G^2/(H P K L))^{1/(1+b)} T^{b/(1+b)}, b = mu L, in logarithms; K = 1 unless ``draws``."""
    g, h, t, b, k = symbols("g h t b k")  # of 2 G^2/L, H P, T, mu L, K
    k = k if draws else 0
    tau = log_balance(g, h, t, b, k, power)
    return is_zero(h + k + tau - g - b * (t - tau)) and is_zero(h + k + tau - log_balanced(g, h, t, b, k))


def gamma_grows(rest: int = 1) -> bool:
    """L x^2 - rho x - (L + rho + T (1 + x)/mu) = (1 + x)(L x - L - rho - T/mu), x = alpha rho = gamma - 1."""
    L, rho, T, mu, x = symbols("L rho T mu x", positive=True)
    square = condition_on_x(x, L, rho, mu / (rest * T * (1 + x)))
    return is_zero(square - (1 + x) * (L * x - L - rho - T / mu))


def check_dec(ctx: Context, *, rest: int = 1) -> Iterator[Finding]:
    """What gamma must be."""
    yield disproved(
        "one gamma for every T",
        gamma_grows(rest),
        "alpha rho >= x+ is asked at every t < T, with eta^t K = mu/(gamma (t + 1)); at t = T - 1 that is gamma >= 2 + rho/L + T/(mu L)",
        role="reading",
    )


CLAIMS: list[Claim] = [
    claim(
        "AFEDPD-EQ9",
        "Eq. (9)",
        "E |F(theta^T) - f(theta^T)| <= sup_xi E |f(theta^T, xi) - f(hat theta^T, xi)|.",
        [
            Step("one sample exchanged", sums.ONE_EXCHANGED, "repaired"),
            Step("modulus outside", sums.ALL_EXCHANGED, "repaired"),
        ],
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
    ),
    claim(
        "AFEDPD-L4",
        "Lemma 4, (16)",
        "sup E[f(theta^T, xi) - f(hat theta^T, xi)] <= G E ||theta^T - hat theta^T|| + H P tau_0/(CS).",
        [Step("as printed", sums.LEMMA_4)],
        besides=check_l4,
        assumptions=[
            f"{SAMPLES}; so of every xi gap[T] = E[f(theta^T, xi) - f(hat theta^T, xi)] is at most G distance[T], distance[T] = E "
            f"||theta^T - hat theta^T||"
        ],
        readings=[
            "Printed is E ||theta^T - hat theta^T|| over all draws, which makes the lemma trivially true. Its proof ends with G "
            "E[||theta^T - hat|| | "
            "zeta], and so does Theorem 2, whose recursion starts from 0 at tau_0; that form is false: its second term lacks K (AFEDPD-L4P)."
        ],
        replay=replay_l4,
        kind="bound",
    ),
    claim(
        "AFEDPD-L4P",
        "Proof of Lemma 4, the display before its end",
        "P(zeta^c) = P(tau <= tau_0) <= P tau_0/(CS).",
        [Step("P K tau_0/(CS)", sums.DRAWN, "repaired")],
        besides=check_l4p,
        faults=[Fault("K = 1", "P tau_0/(CS)", {"instance": DRAWN | {"K": 1}}, holds=True)],
        assumptions=[
            "client i* takes part in a round with probability P/C, and then draws K of its S samples with replacement; z[tau_0] is the chance of zeta"
        ],
        repaired="P(zeta^c) <= P K tau_0/(CS).",
        readings=[
            "P(j*) = 1/S is that of one draw, so that K = 1 is right; Lemma 6 counts 1/S for each of K steps. Of the printed sum's tau_0 + 1 rounds "
            "tau_0 are counted. A pass without replacement draws the sample with probability K/S."
        ],
        replay=replay_l4p,
    ),
    claim(
        "AFEDPD-G-FIX",
        "Appendix B.3.2, (1)",
        "With eta^t = eta_0 <= 1/(KL): Delta^T + alpha_rho sigma^T < 2 G (1 + gamma)^T/(LCS).",
        [Step("sum", sums.FIXED_STEPS)],
        assumptions=[GIVEN, FROM_TAU],
        readings=[
            "Exponential in T under a fixed step, where Remark 2.1 claims stability; the main text does not say so."
        ],
    ),
    claim(
        "AFEDPD-G-DEC",
        "Appendix B.3.2, (2)",
        (
            Clause(
                "With eta^t = eta_0/(t+1), eta_0 <= mu/(gamma K): Delta^T + alpha_rho sigma^T < (2 G/(LCS)) (T/tau_0)^{mu L},",
                ("sum",),
            ),
            Clause(
                "which tau_0 = (2 G^2/(HPL))^{1/(1 + mu L)} T^{mu L/(1 + mu L)} balances, times G, with H P tau_0/(CS).",
                ("tau_0",),
            ),
        ),
        [Step("sum", sums.DECAYING_STEPS), Step("tau_0", sums.BALANCE)],
        besides=check_dec,
        assumptions=[GIVEN, FROM_TAU, "one T, and a gamma that serves all t < T", "tau_0 >= 1"],
        readings=[
            "Read for one T and a gamma that serves its rounds, so that eta_0 K <= mu^2 L/T. The printed product starts at j = t, where j = t + 1 is "
            "meant; tau_0 balances, and the least sum has another factor (mu L)^{1/(1 + mu L)}."
        ],
    ),
]
