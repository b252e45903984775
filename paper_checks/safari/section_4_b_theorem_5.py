"""Section 4: Theorem 5 as printed, on the biased pair, and corrected; Corollary 2 and Remark 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Context, Inside, Theorem, assume, assume_constant, disproved, draw_bound, refute
from fedtheory.claims.claim import Assumption, Claim, Fault, Finding, Picture, Reading, Replay
from fedtheory.claims.statements.worlds import Parameters
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.safari import transcribed
from paper_checks.safari.appendix_a_1_b_proof_of_theorem_5 import CLIENT_ROUND_5
from paper_checks.safari.biased_pair import BIASED, assume_moments, floor_holds, in_floats, in_fractions, moments_part
from paper_checks.safari.notation import (
    BOUND_5,
    BY_ETABAR,
    CLIENT_DISTANCE,
    CLIENTS_5,
    CONVEX,
    CORRECTED_5,
    DELTABAR,
    ETABAR,
    EXCESS_5,
    INDEPENDENT,
    PRINTED_5,
    SERVER_5,
    SERVER_DISTANCE,
    STEP_5,
    THRESHOLD_5,
    claim,
    of_rounds,
    value,
)
from paper_checks.safari.rounds import ENDS, OF_NOISE, OF_SERVER, SLOPE, rounds_of
from paper_checks.safari.transcribed import assume_transcribed
from paper_checks.steps import Step
from problems.biased_participation import moments, one_sided_pair, round_down, round_maps

CLAIMS: list[Claim] = []

# ---- Theorem 5 -------------------------------------------------------------------------------------------------------
#: etabar <= mu/(16 L) is eta_c <= 1/(8 L K), and gives eta_s <= 2/(L + mu)
REGION_5 = "0 < mu < L, 0 < etabar <= mu/(16*L), 1 <= K, 1 <= m, 0 <= sigma2, 0 <= sigma_G2, 0 <= sigma_s2, 0 <= q <= 1"
SERVER_5_GIVEN = {**OF_NOISE, "server_centred_x": "O[r] == 0"}


def steps_5(p: Parameters) -> tuple[Any, Any]:
    """Both by etabar."""
    return p.etabar * 2 / (p.mu * p.K), p.etabar * (p.L + p.mu) / (p.L * p.mu * 2)


OF_D = {"dist": "D[r]", "G_3": "S[r]", "G_4": "H[r]"}
SERVER_5_STEPS = f"""
  cocoercive: -Q[r] <= -L*mu/(L + mu)*D[r] - S[r]/(L + mu)                               by derivation
  server_moved: B[r] == D[r] - 2*eta_s*Q[r] - 2*eta_s*O[r] + eta_s**2*(S[r] + 2*Z[r] + U[r])      by identity
  server:  B[r] <= {of_rounds(SERVER_DISTANCE, **OF_D)}
             by combine server_moved, cocoercive, {", ".join(SERVER_5_GIVEN)}
"""
SERVER_5_QUANTITIES = {
    "D": "mean(norm2(x))",
    **OF_SERVER,
    **SLOPE,
    "B": "mean(norm2(x_server))",
    "Q": "mean(dot(g, x))",
    "O": "mean(dot(xi, x))",
}
THEOREM_5 = Theorem(
    name="Theorem 5, corrected",
    region=REGION_5,
    states=rounds_of(steps_5, convex=True, who="coin"),
    rounds={"r": 0, "R": 0},
    where=BY_ETABAR,
    quantities={**SERVER_5_QUANTITIES, "A": "mean(norm2(x_clients))", "H": "over"},
    given={
        "clients": f"A[r] <= {of_rounds(CLIENT_DISTANCE, **OF_D)}",
        **SERVER_5_GIVEN,
        "condition": f"{of_rounds(EXCESS_5.format(**CORRECTED_5), **OF_D)} <= 0",
    },
    inside={"clients": Inside(CLIENT_ROUND_5, "E", {**ENDS, "over": "over"})},
    claim=f"D[R] <= {of_rounds(BOUND_5, dist='D[0]')}",
    proof=SERVER_5_STEPS
    + f"""
  coin:    D[r+1] == q*A[r] + (1 - q)*B[r]                                               by identity
  step:    D[r+1] <= (1 - etabar)*D[r] + etabar*({DELTABAR})
             by combine coin, q*clients, (1 - q)*server, etabar*condition
  one:     0 <= {of_rounds(DELTABAR, q="1")}                                             by combine
  none:    0 <= {of_rounds(DELTABAR, q="0")}                                             by combine
  either:  0 <= {DELTABAR}                                                               by combine q*one, (1 - q)*none
  done:    claim             by induction R: base combine either; step combine (1 - etabar)*ih, step(r=R)
""",
)
#: how near to x* a path of Theorem 5's instance comes
NEAREST = Fraction(1, 100)
#: Theorem 5's instance: mu = L = lam, etabar = lam eta_s
FIVE = {"q": "1/2", "etabar": "1/200", "x0": "1", "rounds": 900, "lam": 1000}


def values_five(i: Mapping[str, Any]) -> dict[str, Any]:
    """What Theorem 5 speaks of on the pair: mu = L = sigma_G = lam, no noise, K = m = 1, x* = 0."""
    h, lam = i["etabar"], i["lam"]
    constants = {"L": lam, "mu": lam, "K": 1, "m": 1, "sigma2": 0, "sigma_s2": 0, "sigma_G2": lam**2}
    steps = {"etabar": h, "eta_c": 2 * h / lam, "eta_s": h / lam}
    return {**constants, **steps, "q": i["q"], "R": i["rounds"], "dist": i["x0"] ** 2}


def slopes_at(x: Any, b: Any, lam: Any) -> dict[str, Any]:
    """G_3 and G_4 at x where the client with f = (lam/2)(x - b)^2 is chosen."""
    return {"G_3": lam**2 * x**2, "G_4": lam / 2 * (x**2 - 2 * b * x)}


def assume_condition_five(i: Mapping[str, Any], constants: Mapping[str, str] = PRINTED_5) -> tuple[Assumption, ...]:
    """Theorem 5's condition on q at every x in [1/100, 1] where f_1 is chosen: (.. G_3 - .. G_4)/G_3 is affine in 1/x there."""
    values, condition = values_five(i), f"q <= {THRESHOLD_5.format(**constants)}"
    ends = {x: slopes_at(x, 1, values["L"]) for x in (NEAREST, Fraction(1))}
    u, lam = symbols("u lam", positive=True)
    at = slopes_at(1 / u, 1, lam)
    affine = is_zero((at["G_4"] / at["G_3"]).diff(u, 2))
    return (
        assume("server rounds in the condition on q", f"0 < {SERVER_5.format(**constants)}", **values),
        *(assume(f"the condition on q at x = {x}", condition, **values, **slopes) for x, slopes in ends.items()),
        *(
            assume(
                f"its quotient is positive at x = {x}",
                f"0 < {CLIENTS_5.format(**constants)}*G_3 - 4/mu*G_4",
                **values,
                **slopes,
            )
            for x, slopes in ends.items()
        ),
        Assumption("and between, since G_4/G_3 is affine in 1/x", affine, "exact arithmetic"),
    )


def assumed_five(i: Mapping[str, Any]) -> tuple[Assumption, ...]:
    """Every assumption of Theorem 5 as printed, the condition on q at every point that a path can reach."""
    values = values_five(i)
    return (
        assume_moments(1000),
        assume_transcribed("the bound", transcribed.T5_BOUND),
        assume_transcribed("the condition on q", transcribed.T5_CONDITION),
        assume("F_i = (lam/2)(x - b_i)^2, so that L = mu = lam", "0 < L == mu", **values),
        assume_constant("Assumption 5 over lam, for lam = 1", one_sided_pair(), "G_centred", "<=", 1),
        assume("eta_s is at most 2/(L + mu)", STEP_5, **values),
        assume("etabar by the clients' step and by the server's", f"{ETABAR[0]} == etabar == {ETABAR[1]}", **values),
        assume("eta_c <= 1/(8LK), which the proof needs besides", "eta_c <= 1/(8*L*K)", **values),
        assume("x stays at 1/100 or above on every path", f"{NEAREST} <= (1 - etabar)**R", **values),
        assume("and at 1 or below", "x <= 1", x=i["x0"]),
        *assume_condition_five(i),
    )


def replay_five(instance: Mapping[str, Any]) -> Replay:
    """E (x_R - x*)^2 against the printed bound."""
    i = in_fractions(instance)
    numeric = in_floats(i)
    exact, floats = (
        moments(
            v["q"], 2 * v["etabar"] / v["lam"], v["etabar"] / v["lam"], 1, v["rounds"], v["x0"], 1, v["lam"], **more
        )[1][-1]
        for v, more in ((i, {"tidy": round_down}), (numeric, {}))
    )
    return Replay(
        f"E ||x_R - x*||^2 against (1 - etabar)^R ||x_0 - x*||^2 + deltabar, R = {i['rounds']}, etabar = {i['etabar']}, L = mu = {i['lam']}",
        float(floats),
        float(value(BOUND_5, values_five(numeric))),
        exact,
        -round_down(-value(BOUND_5, values_five(i))),
        "fractions, moments rounded down and the bound up",
        assumed_five(i),
    )


def draw_five(i: Mapping[str, Any]) -> Picture:
    """The printed bound and the exact E x_R^2 by the number of rounds."""
    q, h, lam, last = float(i["q"]), float(i["etabar"]), float(i["lam"]), int(i["rounds"])
    counts = range(0, last + 1, max(1, last // 90))
    squares = moments(q, 2 * h / lam, h / lam, 1, last, float(i["x0"]), 1.0, lam)[1]
    return draw_bound(
        "Theorem 5 as printed, and the method on the biased pair",
        counts,
        [value(BOUND_5, values_five({**i, "rounds": count})) for count in counts],
        xlabel="rounds R",
        ylabel="E ||x_R - x*||^2",
        about=f"SAFARI, q = {q:g}, etabar = {h:g}, L = mu = lam = {lam:g}, x_0 = {float(i['x0']):g}, K = 1; exact moments, no seeds",
        more=[("exact", [squares[count] for count in counts])],
    )


def check_t5(ctx: Context, *, instance: Mapping[str, Any] = FIVE, bias: Fraction = Fraction(0)) -> Iterator[Finding]:
    """The printed bound on the biased pair."""
    yield refute(
        "printed bound", replay_five, dict(instance), text="The one client that takes part pulls to its own minimiser."
    )
    yield moments_part(1000, bias)
    yield draw_five(in_fractions(instance))
    yield Reading(
        "4 and 1/(L + mu) may be slips for 16 and 1/(L mu): (78) has the former, and 1/(L + mu) is no length over a gradient squared, so that a "
        "change of units breaks the theorem. So corrected it is true, and says little where participation is biased: on this pair its condition on q "
        "fails at x < 4q/(1+q), twice as far out as where the method goes, for every fixed q > 0."
    )


CLAIMS += [
    claim(
        "SAFARI-T5",
        "Theorem 5",
        "E ||x_R - x*||^2 <= (1 - etabar)^R ||x_0 - x*||^2 + deltabar, for q at most a threshold with 4 etabar/mu^2 and 1/(L + mu).",
        [Step("with 16 and 1/(L mu)", THEOREM_5, "repaired")],
        kind="rate",
        besides=check_t5,
        faults=(Fault("no client rounds", "printed bound", {"instance": FIVE | {"q": "0"}}, holds=True), BIASED),
        assumptions=(
            *CONVEX,
            INDEPENDENT,
            "eta_s <= 2/(L+mu)",
            "etabar = eta_c K mu/2 = 2 eta_s L mu/(L+mu)",
            "q at most the printed threshold at every r",
        ),
        readings=(
            "The corrected condition is asked for in expectation only, which is less than in every round of every path.",
            "Its G_3 and G_4 are those of the run itself, which depends on q: it cannot be used to choose q beforehand.",
        ),
        repaired="The threshold has 16 etabar/mu^2 and 1/(L mu), and eta_c <= 1/(8LK), which is etabar <= mu/(16 L).",
        replay=replay_five,
    )
]

# ---- Corollary 2 -----------------------------------------------------------------------------------------------------
#: at most deltabar/etabar, for etabar <= mu/(16 L)
OF_ORDER_5 = "16*q*sigma_G2/mu**2 + 4*q*sigma2/(mu**2*m*K) + (1 - q)*(L + mu)**2/(4*L**2*mu**2)*sigma_s2 + 45*q/(8*mu**2*K)*(sigma2 + 6*K*sigma_G2)"
RATE_5 = replace(
    THEOREM_5,
    name="Corollary 2, corrected",
    claim=f"D[R] <= exp(-etabar*R)*D[0] + etabar*({OF_ORDER_5})",
    proof=THEOREM_5.proof.replace("done:    claim ", f"five:    {THEOREM_5.claim} ")
    + """
  far:     0 <= D[r]                                                                     by derivation
  tangent: 1 - etabar <= exp(-etabar)                                                    by exponential -etabar
  falls:   (1 - etabar)**R <= exp(-etabar*R)
             by induction R: base combine; step combine (1 - etabar)*ih, exp(-etabar*R)*tangent
  done:    claim                                                                         by combine five, far(r=0), D[0]*falls
""",
)
#: after N rounds with etabar = c log(N)/N; exp(-c log(N)) is N^{-c}
LOG_RATE_5 = replace(
    RATE_5,
    region=f"{REGION_5}, 0 < c",
    rounds={**RATE_5.rounds, "N": 1},
    given={**RATE_5.given, "steps": "etabar*N == c*log(N)"},
    claim=f"D[N] <= exp(-c*log(N))*D[0] + c*log(N)/N*({OF_ORDER_5})",
    proof=RATE_5.proof.replace("done:    claim ", f"any:     {RATE_5.claim} ")
    + """
  same:    1 + (etabar*N - c*log(N)) <= exp(etabar*N - c*log(N))                         by exponential etabar*N - c*log(N)
  power:   exp(-etabar*N) <= exp(-c*log(N))                                              by combine exp(-etabar*N)*same, (-exp(-etabar*N))*steps
  done:    claim                                                                         by combine any(R=N), D[0]*power, ((ORDER)/N)*steps
""".replace("ORDER", OF_ORDER_5),
)
CONCENTRATES = (
    "where f_1 takes part in every client round E x_r >= 2q/(1+q) = 2/3 from x_0 = 1 on, and one coin moves x_r by h |2 - x| (1 - h)^k <= 2 h "
    "(1 - h)^k, k rounds later, so that the squares of what the coins can do add up to at most 4h/(2 - h) <= 4h and, by McDiarmid's inequality, "
    "x_r < 1/2 in any of R rounds with probability at most R e^{-1/(72 h)}. Let f_1 take part while x_r >= 1/100, and f_2 from the first x_r below "
    "on: the condition on q as printed holds in every round of every path (more so for shorter steps), and E x_R^2 >= (1 - R e^{-1/(72 h)})/4, "
    "which tends to 1/4 for h = etabar = c log(R)/R"
)


def stays_away(ratio: int = 2) -> bool:
    """The facts of `CONCENTRATES`: the mean, what a coin does to x, and the sum of squares."""
    h, x = symbols("h x", positive=True)
    s, w, b = round_maps(ratio * h, h, 1)
    moved = s * x - (w * x + b)
    summed = (2 * h) ** 2 / (1 - (1 - h) ** 2)
    exponent = 2 * (Fraction(2, 3) - Fraction(1, 2)) ** 2 / 4
    return (
        floor_holds(ratio)
        and is_zero(moved + h * (2 - x))
        and is_zero(summed - 4 * h / (2 - h))
        and compare(exponent, "==", Fraction(1, 72))
    )


def draw_rate(rounds: int = 3000) -> Picture:
    """E x_R^2 on the biased pair with etabar = 2 log(R)/R, against the order 1/R."""
    counts = [100 * 2**k for k in range(9)]
    steps = [2 * float(np.log(count)) / count for count in counts]
    found = [moments(0.5, 2 * h, h, 1, count, 1.0)[1][-1] for h, count in zip(steps, counts, strict=True)]
    return draw_bound(
        "Corollary 2 where only f_1 takes part",
        counts,
        [1 / count for count in counts],
        xlabel="rounds R",
        ylabel="E ||x_R - x*||^2",
        about="SAFARI on the biased pair, q = 1/2, x_0 = 1, etabar = 2 log(R)/R, K = 1; exact moments, no seeds; claimed: the order "
        "1/R; for L = mu = 1000 the condition on q as printed holds while x_r >= 1/100, and corrected while x_r >= 4/3",
        more=[("exact", found), ("1/4", [0.25] * len(counts))],
        logx=True,
    )


RATE = "the condition on q as printed gives the rate"


def check_rate(
    ctx: Context, *, ratio: int = 2, bias: Fraction = Fraction(0), printed: Mapping[str, str] = PRINTED_5
) -> Iterator[Finding]:
    """Under Theorem 5's condition on q as printed no rate follows."""
    yield moments_part(1, bias)
    i = in_fractions(FIVE)
    neutral = assume(
        "where the client with its minimiser at 0 is chosen, at every x != 0",
        f"q <= {THRESHOLD_5.format(**printed)}",
        **values_five(i),
        **slopes_at(Fraction(1), 0, i["lam"]),
    )
    met = all(assumption.met for assumption in (*assume_condition_five(i, printed), neutral))
    yield disproved(
        RATE,
        met and stays_away(ratio),
        "f_i = (lam/2)(x - b_i)^2 with b = 1, 0, -1, of which the last never takes part; L = mu = lam = 1000, q = 1/2, every gradient exact, "
        f"h = etabar <= 1/200: {CONCENTRATES}",
    )
    yield draw_rate()
    yield Reading(
        "Corollary 2 and Remark 4 inherit Theorem 5's assumptions, its condition on q among them, and one check decides both: what is wrong with "
        "them is what is wrong with that condition (SAFARI-T5). Who takes part is arbitrary in the paper, and may depend on the model. Printed is "
        "Omega(log(R)/R) of the steps, which is read as of that order."
    )
    yield Reading(
        "So corrected they say little where participation is biased: for fixed q > 0 the condition fails near x*, where server rounds lead."
    )


def claim_rate(id: str, source: str, statement: str) -> Claim:
    """What is concluded from Theorem 5 for steps of order log(R)/R, under its condition on q."""
    return claim(
        id,
        source,
        statement,
        [
            Step("under the corrected condition on q", RATE_5, "repaired"),
            Step("etabar = c log(R)/R", LOG_RATE_5, "repaired"),
        ],
        kind="rate",
        besides=check_rate,
        faults=(
            BIASED,
            Fault("the client's step not doubled", RATE, {"ratio": 1}, holds=True),
            Fault(
                "the corrected condition in the place of the printed one", RATE, {"printed": CORRECTED_5}, holds=True
            ),
        ),
        assumptions=(*CONVEX, INDEPENDENT, "Theorem 5's condition on q"),
        repaired="With 16 etabar/mu^2 and 1/(L mu) in Theorem 5's condition on q, and eta_c <= 1/(8LK): the bound falls like e^{-etabar R} to a "
        "constant times etabar, so that etabar = c log(R)/R gives R^{-c} and c log(R)/R.",
    )


CLAIMS += [
    claim_rate(
        "SAFARI-C2",
        "Corollary 2",
        "Under Theorem 5's assumptions, its condition on q among them, eta_c and eta_s of order log(R)/R give E ||x_R - x*||^2 = O~(1/R).",
    )
]

# ---- Remark 4 --------------------------------------------------------------------------------------------------------
CLAIMS += [
    claim_rate(
        "SAFARI-R4",
        "Remark 4",
        "Theorem 5 shows that with proper hyperparameters, its condition on q among them, SAFARI converges in the strongly convex case although "
        "participation is incomplete.",
    )
]
