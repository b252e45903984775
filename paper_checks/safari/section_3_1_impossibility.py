"""Section 3.1: Theorem 1, what cannot be learned under incomplete participation, and what the paper says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from fedtheory.claims import Claim, Context, Fault, Finding, Picture, Reading, Theorem, disproved, draw_bound, proved
from fedtheory.proofs.facts import compare
from paper_checks.formulas import over_outcomes
from paper_checks.safari.learners import (
    FLAGS,
    LEARNER,
    OF_CLIENTS,
    OF_CLIENTS_SHOWN,
    OF_SAMPLES,
    OF_SAMPLES_SHOWN,
    WEIGHTS,
    is_flag,
    risk,
)
from paper_checks.safari.notation import NON_TRIVIAL, PAPER, claim
from paper_checks.steps import Step
from problems.learning import HiddenPoint

CLAIMS: list[Claim] = []

# ---- Theorem 1 -------------------------------------------------------------------------------------------------------
RISES = f"max({over_outcomes('F_0[r]')}, {over_outcomes('F_1[r]')})"
_LEARNS = [over_outcomes(f"(1 - F_{label}[r])") for label in (0, 1)]
#: by how much the probability that the risk is at most the level falls short of one, under the target where that is more
SHORT = f"max(1 - {_LEARNS[0]}, 1 - {_LEARNS[1]})"
#: how a proof ends where the claim is about the probability of a risk above the level, and where it is about that of one at most the level
ENDS_RISES = f"""
      worse_0: {over_outcomes("F_0[r]")} <= {RISES}             by combine
      worse_1: {over_outcomes("F_1[r]")} <= {RISES}             by combine
      done:    claim                                            by combine (1/2)*worse_0, (1/2)*worse_1, (1/2)*all, (1/2)*half"""
ENDS_LEARNS = f"""
      rest_0:  {_LEARNS[0]} == {over_outcomes("1")} - {over_outcomes("F_0[r]")}
                 by induction N: base combine; step combine ih
      rest_1:  {_LEARNS[1]} == {over_outcomes("1")} - {over_outcomes("F_1[r]")}
                 by induction N: base combine; step combine ih
      short_0: 1 - {_LEARNS[0]} <= {SHORT}                      by combine
      short_1: 1 - {_LEARNS[1]} <= {SHORT}                      by combine
      done:    claim
                 by combine (1/2)*short_0, (1/2)*short_1, (1/2)*rest_0, (1/2)*rest_1, 1*weights, (1/2)*all, (1/2)*half"""


def worse_target(
    name: str, law: tuple[str, str], level: str, claimed: str, hidden: tuple[str, Mapping[str, str], str], **more: Any
) -> Theorem:
    """That under one of the targets the risk is often above a level.

    ``hidden``: a flag of outcomes where samples hide x_2, what is known of it, and lines on its probability, of which the last is ``half``.
    """
    flag, known, half = hidden
    room = f"({law[1]} - {level})"
    return Theorem(
        name=name,
        region=f"0 <= omega < 1{more.pop('region', '')}",
        rounds={"r": 0, "N": 0},
        sequences={"w": "0", **dict.fromkeys(FLAGS, "0..1"), **more.pop("sequences", {})},
        given={
            **WEIGHTS,
            **known,
            "same": f"{flag}*(k_0[r] - k_1[r]) == 0",
            "above_0": f"{risk(law, 'j_0[r]', 'k_0[r]', 0)} <= {level} + F_0[r]",
            "above_1": f"{risk(law, 'j_1[r]', 'k_1[r]', 1)} <= {level} + F_1[r]",
            **{f"flag_{name}": is_flag(f"{name}[r]") for name in ("k_0", "k_1", "F_0", "F_1")},
        },
        claim=claimed,
        proof=f"""
      size_0:  0 <= abs(j_0[r] - 1)                             by combine
      size_1:  0 <= abs(j_1[r] - 1)                             by combine
      wide_0:  k_0[r] <= abs(k_0[r] - 0)                        by combine
      wide_1:  1 - k_1[r] <= abs(k_1[r] - 1)                    by combine
      net_0:   {law[1]}*k_0[r] - {level} <= F_0[r]              by combine above_0, ({law[0]})*size_0, ({law[1]})*wide_0
      net_1:   {law[1]}*(1 - k_1[r]) - {level} <= F_1[r]        by combine above_1, ({law[0]})*size_1, ({law[1]})*wide_1
      low_0:   {room}*k_0[r]*(1 - F_0[r]) <= 0
                 by combine (k_0[r]*(1 - F_0[r]))*net_0, k_0[r]*flag_F_0, ({law[1]}*(1 - F_0[r]))*flag_k_0
      low_1:   {room}*(1 - k_1[r])*(1 - F_1[r]) <= 0
                 by combine ((1 - k_1[r])*(1 - F_1[r]))*net_1, (1 - k_1[r])*flag_F_1, ({law[1]}*(1 - F_1[r]))*flag_k_1
      miss_0:  k_0[r] <= F_0[r]                                 by combine (1/{room})*low_0
      miss_1:  1 - k_1[r] <= F_1[r]                             by combine (1/{room})*low_1
      either:  {flag} <= F_0[r] + F_1[r]                        by combine ({flag})*miss_0, ({flag})*miss_1, (-1)*same
      all:     {over_outcomes(flag)} <= {over_outcomes("F_0[r]")} + {over_outcomes("F_1[r]")}
                 by induction N: base combine w[0]*either(r=0); step combine ih, w[N+1]*either(r=N+1)
      {half}{more.pop("ends", ENDS_RISES)}
""",
        **more,
    )


#: the first m clients, all of whose samples are x_1, take part
ALWAYS = ("1", dict[str, str](), f"half:    1 <= {over_outcomes('1')}       by combine weights")
CLIENTS_SELECTED = worse_target("clients are selected", OF_CLIENTS, "(1 - omega)/8", f"1/20 < {RISES}", hidden=ALWAYS)
#: s[r] of M n samples are x_2, which is hidden where it can be: where they are fewer than (1 - omega) M n
WHERE_IT_CAN_BE = (
    "hides[r]",
    {"mean": f"{over_outcomes('s[r]')} == (1 - omega)/2*M*n", "shown": "(1 - omega)*M*n*(1 - hides[r]) <= s[r]"},
    f"""few:     (1 - omega)*M*n*({over_outcomes("1")} - {over_outcomes("hides[r]")}) <= {over_outcomes("s[r]")}
                 by induction N: base combine w[0]*shown(r=0); step combine ih, w[N+1]*shown(r=N+1)
      half:    1/2 <= {over_outcomes("hides[r]")}
                 by combine (1/((1 - omega)*M*n))*few, weights, (1/((1 - omega)*M*n))*mean""",
)


def samples_selected(theta: str, claimed: str, region: str = "", **more: Any) -> Theorem:
    """The risk is above theta (1 - omega)/2."""
    theta_is = f", 0 <= {theta} < 1" if theta.isidentifier() else ""
    return worse_target(
        "samples are selected",
        OF_SAMPLES,
        f"{theta}*(1 - omega)/2",
        claimed,
        hidden=WHERE_IT_CAN_BE,
        region=f", 1 <= M, 1 <= n{theta_is}{region}",
        sequences={"s": "0", "hides": "0..1"},
        **more,
    )


SAMPLES_SELECTED = samples_selected("1/4", f"1/20 < {RISES}")


def draw_hidden(ctx: Context, *, claimed: str, tails: bool = False, clients: int = 20, samples: int = 10) -> Picture:
    """Exact probabilities by capacity: that x_2 is hidden, or that the best learner fails, against what is claimed."""
    cases = [HiddenPoint(clients, m, samples) for m in range(clients)]
    exact = [case.hidden(strictly=True) if tails else case.failure("fair coin") for case in cases]
    few, fails = "that fewer than (1 - omega) M n copies of x_2 are drawn", "that the learner with a fair coin fails"
    return draw_bound(
        "Exact probability against the bound from below",
        [case.omega for case in cases],
        [Fraction(claimed)] * len(cases),
        xlabel="omega = m/M",
        ylabel="probability",
        about=f"two points, P(x_2) = (1 - omega)/2; M = {clients} clients, n = {samples} samples each; binomial probabilities in fractions, no seeds",
        more=[(few if tails else fails, exact)],
    )


CLIENTS_STEP, SAMPLES_STEP = "clients are selected", "samples are selected"
SELECTED = (Step(CLIENTS_STEP, CLIENTS_SELECTED), Step(SAMPLES_STEP, SAMPLES_SELECTED))
OF_T1 = (
    LEARNER,
    OF_CLIENTS_SHOWN,
    OF_SAMPLES_SHOWN,
    "The process selects whole clients in Section 3 and samples in the proof; the theorem stands in both readings. In the first one it takes "
    "clients with laws of their own. SAFARI-T1e, on what it needs, is read as the first, and would be false in the second.",
)
CLAIMS += [
    claim(
        "SAFARI-T1",
        "Theorem 1",
        "For every learner there are a participation process of capacity omega = m/M, a law P and a target in H with P[R_P > (1-omega)/8] > 1/20.",
        SELECTED,
        kind="bound",
        picture=partial(draw_hidden, claimed="1/20"),
        assumptions=[NON_TRIVIAL],
        readings=OF_T1,
    )
]

# ---- "Not PAC-learnable" ---------------------------------------------------------------------------------------------
#: the number delta of Definition 4
DELTA = ", 0 < delta <= 1/20"
CLIENTS_NOT_LEARNABLE = worse_target(
    "clients are selected",
    OF_CLIENTS,
    "(1 - omega)/8",
    f"delta < {SHORT}",
    hidden=ALWAYS,
    region=DELTA,
    ends=ENDS_LEARNS,
)
SAMPLES_NOT_LEARNABLE = samples_selected("1/4", f"delta < {SHORT}", DELTA, ends=ENDS_LEARNS)
CLAIMS += [
    claim(
        "SAFARI-T1-PAC",
        "after Theorem 1, Definition 4",
        "FL with incomplete participation is not PAC-learnable: where Definition 4 asks for P[R_P <= epsilon] >= 1 - delta, for epsilon = "
        "(1-omega)/8 and every delta <= 1/20 each learner falls short under some process, law and target, for every number of samples.",
        (Step(CLIENTS_STEP, CLIENTS_NOT_LEARNABLE), Step(SAMPLES_STEP, SAMPLES_NOT_LEARNABLE)),
        kind="divergence",
        assumptions=[NON_TRIVIAL],
        readings=[
            *OF_T1,
            "R_P <= epsilon where F_f[r] is 0. Definition 4 asks for it from a polynomial number of samples on, of one algorithm for all laws; here "
            "no number is enough. Its text has one law from which samples are drawn and errors are counted; the paper's sentence is about the "
            "system, whose samples are those that the process leaves.",
        ],
    )
]


# ---- "Independent of the number of samples per client" ---------------------------------------------------------------
def draw_by_samples(ctx: Context) -> Picture:
    """Exact probability that the learner with a fair coin fails, by the number of samples a client."""
    counts, pairs = [1, 2, 3, 5, 10, 20, 50, 100], ((2, 1), (10, 5), (10, 9))
    return draw_bound(
        "More samples a client do not help",
        counts,
        [Fraction(1, 20)] * len(counts),
        xlabel="n, samples a client",
        ylabel="probability",
        about="two points, P(x_2) = (1 - omega)/2; the learner tosses a fair coin on x_2; binomial probabilities in fractions, no seeds",
        more=[(f"M = {M}, m = {m}", [HiddenPoint(M, m, n).failure("fair coin") for n in counts]) for M, m in pairs],
        logx=True,
    )


CLAIMS += [
    claim(
        "SAFARI-T1d",
        "after Theorem 1",
        "The bound of Theorem 1 does not depend on n: more data a client does not help (SAFARI-T1 for every n: the same theorems).",
        SELECTED,
        kind="bound",
        picture=draw_by_samples,
        assumptions=[NON_TRIVIAL],
        readings=OF_T1,
    )
]


# ---- "Not contradictory to previous works" ---------------------------------------------------------------------------
def draw_clients(clients: int = 10, active: int = 9) -> Picture:
    """Probability that enough clients never saw x_2, by samples a client, under its union bound; and where samples are selected instead."""
    counts = [1, 2, 5, 10, 20, 40, 80, 120, 160, 200]
    cases = [HiddenPoint(clients, active, n) for n in counts]
    return draw_bound(
        "Equal laws: selecting clients hides x_2 less and less often",
        counts,
        [min(Fraction(1), clients * (1 - case.mass) ** case.samples) for case in cases],
        xlabel="n, samples a client",
        ylabel="probability that x_2 can be hidden",
        about=f"two points, P(x_2) = (1 - omega)/2, M = {clients}, m = {active}; claimed: M (1 - P(x_2))^n, at most 1; in fractions, no seeds",
        more=[
            ("clients are selected, exact", [case.hidden_by_clients() for case in cases]),
            ("samples are selected, exact", [case.hidden() for case in cases]),
        ],
        logx=True,
    )


def check_t1e(ctx: Context, *, samples: int = 180, counts: Sequence[int] = (1, 10, 100)) -> Iterator[Finding]:
    """If clients are selected without looking at their samples the construction fails as n grows; where samples are, it does not."""
    settings = [(M, m) for M in (2, 5, 10) for m in (1, M - 1)]
    found = [HiddenPoint(M, m, samples).hidden_by_clients() for M, m in settings]
    bound = [M * (1 - HiddenPoint(M, m, samples).mass) ** samples for M, m in settings]
    yield proved(
        "equal clients, whole clients selected",
        all(compare(p, "<=", b) for p, b in zip(found, bound, strict=True))
        and all(compare(b, "<", Fraction(1, 1000)) for b in bound),
        f"m >= 1 clients that all miss x_2 exist with probability at most M (1 - (1-omega)/2)^n, here below 1/1000 at n = {samples}: the "
        "construction does not apply to large n, as the paper says",
        scope=f"equal laws, {len(settings)} pairs (M, m), n = {samples}; uniform participation of unequal clients is not judged",
    )
    failures = [HiddenPoint(10, 5, n).failure("fair coin") for n in counts]
    yield disproved(
        "reading: equal clients, samples selected",
        all(compare(failure, ">", Fraction(48, 100)) for failure in failures),
        "where samples are selected, as in the theorem's proof, its clients have one law, and no learner fails less than with probability "
        f"{float(min(failures)):.3f} (M = 10, m = 5, n = {', '.join(map(str, counts))}): then the theorem applies to equal laws",
        role="reading",
    )
    yield draw_clients()
    yield Reading(
        "Read as SAFARI-T1 is: whole clients take part or do not. With n = 1 selecting samples is selecting clients: then equal clients are hidden "
        "with probability at least 1/2, so that heterogeneity is not needed for every n."
    )


CLAIMS += [
    Claim(
        "SAFARI-T1e",
        PAPER,
        "bound",
        "after Theorem 1",
        "Theorem 1 needs heterogeneity and arbitrary participation: it does not contradict convergence for equal laws or uniform participation.",
        check_t1e,
        (Fault("n = 2", "equal clients, whole clients selected", {"samples": 2}),),
        ("whole clients take part or do not, as in SAFARI-T1's first part",),
    )
]

# ---- Byzantine clients -----------------------------------------------------------------------------------------------
CLAIMS += [
    claim(
        "SAFARI-T1f",
        "after Theorem 1",
        "The same limit holds for full participation with Byzantine clients.",
        [Step("any number of Byzantine clients", CLIENTS_SELECTED)],
        kind="divergence",
        assumptions=[NON_TRIVIAL],
        readings=[
            LEARNER,
            "The first m clients have P_i = delta_{x_1}, the others delta_{x_2}; they report (x_1, f(x_1)), so that all reports are "
            "copies of x_1 under either target.",
            "The paper gives no statement with numbers. Read as Theorem 1 with omega = m/M < 1 the share of honest clients, and P the law of all "
            "clients' data, those of Byzantine clients among them.",
        ],
    )
]
