"""Appendix B.3.1: Lemma 4, as a theorem of numbers, and the chance that its proof takes for that of a drawn sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    Replay,
    Theorem,
    assume,
    decided,
    draw_bound,
    refute,
)
from fedtheory.proofs.facts import compare
from paper_checks.afedpd.notation import CHANCE, SAMPLES, claim, printed_chance
from paper_checks.afedpd.played import Number, Slope, local_model, replay_twice
from paper_checks.formulas import formula
from paper_checks.steps import Step

CLAIMS: list[Claim] = []


# ---- Lemma 4, (16) ---------------------------------------------------------------------------------------------------
def right_of_16(distance: Any, chance: Any, G: Any, H: Any) -> Any:
    """Lemma 4's right side, (16), with P(zeta^c) or its bound."""
    return G * distance + H * chance


#: gap = E[f(theta^T, xi) - f(hat theta^T, xi)], distance = E ||theta^T - hat theta^T||
LEMMA_4 = Theorem(
    "0 < G, 0 < H, 1 <= P <= C, 1 <= S, 0 <= tau",
    f"gap[T] <= {formula(right_of_16, distance='distance[T]', chance=CHANCE, G='G', H='H')}",
    "done: claim by combine 1*lipschitz",
    rounds={"T": 0},
    sequences={"gap": "-H", "distance": "0"},
    given={"lipschitz": "gap[T] <= G*distance[T]"},
)
FAR: Mapping[str, Any] = {"S": 5, "K": 5, "rho": "1/1000", "eta": "40"}


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


def draw_lemma_4(rows: Sequence[tuple[int, Any, Any]], lipschitz: float, samples: int) -> Picture:
    """Lemma 4 by K on the instance of its check: rows of (K, E |f - hat f|, E |theta - hat|)."""
    K = [row[0] for row in rows]
    return draw_bound(
        "Lemma 4 by the number of local steps, one round",
        K,
        [lipschitz * float(apart) + 1 / samples for _, _, apart in rows],
        xlabel="local steps K",
        ylabel="E |f(theta, xi) - f(hat theta, xi)|",
        about=f"losses 1/2, and 1/(1 + x^2) of the exchanged one of S = {samples} samples, from x = 1, C = P = T = tau_0 = H = 1; exact, no seeds; "
        "claimed: as printed, with E ||theta - hat|| over all draws",
        more=[
            ("E |f - hat f|", [row[1] for row in rows]),
            ("given zeta: H P tau_0/(CS)", [1 / samples] * len(K)),
            ("given zeta, with K", [k / samples for k in K]),
        ],
    )


def check_l4(ctx: Context) -> Iterator[Finding]:
    """In the form that Theorem 2 uses Lemma 4 fails."""
    yield refute("given zeta in the first term", replay_l4, dict(FAR), role="reading", text="The new sample was drawn.")
    samples, rho, eta = FAR["S"], float(Fraction(FAR["rho"])), float(FAR["eta"])
    rows = [(K, *one_round_apart(samples, K, rho, eta)) for K in range(1, 11)]
    yield draw_lemma_4(rows, 3**1.5 / 8, samples)


CLAIMS += [
    claim(
        "AFEDPD-L4",
        "Lemma 4, (16)",
        "sup E[f(theta^T, xi) - f(hat theta^T, xi)] <= G E ||theta^T - hat theta^T|| + H P tau_0/(CS).",
        [Step("as printed", LEMMA_4)],
        besides=check_l4,
        assumptions=[
            f"{SAMPLES}; so of every xi gap[T] = E[f(theta^T, xi) - f(hat theta^T, xi)] is at most G distance[T], distance[T] = E "
            f"||theta^T - hat theta^T||"
        ],
        readings=[
            "Printed is E ||theta^T - hat theta^T|| over all draws, which makes the lemma trivially true. Its proof ends with G E[||theta^T - hat|| "
            "| zeta], and so does Theorem 2, whose recursion starts from 0 at tau_0; that form is false: its second term lacks K (AFEDPD-L4P)."
        ],
        replay=replay_l4,
        kind="bound",
    )
]

# ---- Proof of Lemma 4 ------------------------------------------------------------------------------------------------
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
DRAWS = {"C": 10, "P": 5, "S": 20, "K": 20, "tau": 1}


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


def check_l4p(ctx: Context, *, instance: Mapping[str, Any] = DRAWS) -> Iterator[Finding]:
    """K draws a round."""
    yield refute("P tau_0/(CS)", replay_l4p, dict(instance), text="K = 20 draws a round.")
    large = probability_drawn(100, 10, 500, 50, 20)
    text = "S = 500, K = 50, C = 100, P = 10, tau_0 = 20, as in the experiments: 43 times as probable as printed"
    yield decided("of the experiments' size", compare(large, ">", 43 * Fraction(200, 50000)), text, role="reading")


CLAIMS += [
    claim(
        "AFEDPD-L4P",
        "Proof of Lemma 4, the display before its end",
        "P(zeta^c) = P(tau <= tau_0) <= P tau_0/(CS).",
        [Step("P K tau_0/(CS)", DRAWN, "repaired")],
        besides=check_l4p,
        faults=[Fault("K = 1", "P tau_0/(CS)", {"instance": DRAWS | {"K": 1}}, holds=True)],
        assumptions=[
            "client i* takes part in a round with probability P/C, and then draws K of its S samples with replacement; z[tau_0] is the chance of zeta"
        ],
        repaired="P(zeta^c) <= P K tau_0/(CS).",
        readings=[
            "P(j*) = 1/S is that of one draw, so that K = 1 is right; Lemma 6 counts 1/S for each of K steps. Of the printed sum's tau_0 + 1 rounds "
            "tau_0 are counted. A pass without replacement draws the sample with probability K/S."
        ],
        replay=replay_l4p,
    )
]
