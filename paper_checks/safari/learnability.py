"""SAFARI's Theorem 1: what cannot be learned under incomplete participation, and what a server's data changes; pictures in exact probabilities.

Two points x_1, x_2 and two targets f in H with f(x_1) = 1 and f(x_2) = 0 or 1. What is learned from copies of x_1 alone has one law under both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    Reading,
    Theorem,
    disproved,
    draw_bound,
    proved,
)
from fedtheory.proofs.facts import compare
from paper_checks.formulas import formula
from paper_checks.safari.learners import (
    CHERNOFF,
    CLIENTS_NOT_LEARNABLE,
    CLIENTS_SELECTED,
    ENOUGH_AT_SERVER,
    SAMPLES_NOT_LEARNABLE,
    SAMPLES_SELECTED,
    SHARPER,
    WITH_SERVER,
    WORSE_RISK,
    WORST_POOLED,
)
from paper_checks.safari.optimisation import PAPER, claim, derived
from paper_checks.steps import Step
from problems.learning import HiddenPoint

NON_TRIVIAL = "H has f_1, f_2 and points x_1, x_2 with f_1(x_1) = f_2(x_1), f_1(x_2) != f_2(x_2)"
DOMAIN = f"{NON_TRIVIAL}; P(x_2) = (1 - omega)/2; x_2 is hidden where it can be"

# ---- Theorem 1 ------------------------------------------------------------------------------------------------------

ONE_IS_MISSED = Theorem(
    name="(2)-(4)",
    region="0 < epsilon <= 1/8, h in 0..1, f_1 in 0..1",
    claim="4*epsilon*abs(h - f_1) + 4*epsilon*abs(h - (1 - f_1)) == 4*epsilon",
    proof="done: claim by values h: (values f_1: combine; combine); (values f_1: combine; combine)",
)


def averaged(e: Any, p: Any) -> Any:
    """What E R' is at most where R' <= 4 e, with p = P[R' >= e]: (6)."""
    return 4 * e * p + e * (1 - p)


A_THIRD = Theorem(
    name="(5)-(8)",
    region="0 < epsilon, 0 <= p <= 1, epsilon <= above <= 4*epsilon, 0 <= below <= epsilon",
    where={"mean": "p*above + (1 - p)*below"},
    given={"least": "2*epsilon <= mean"},
    claim=(f"mean <= {formula(averaged, e='epsilon', p='p')}", "1/3 <= p"),
    proof="""
      most: claim 1     by combine
      done: claim 2     by combine (1/(3*epsilon))*least, (1/(3*epsilon))*most
    """,
)


# ---- pictures and readings ---------------------------------------------------------------------------------------------


def draw_hidden(ctx: Context, *, claimed: str, tails: bool = False, clients: int = 20, samples: int = 10) -> Picture:
    """Exact probabilities by capacity: that x_2 is hidden, or that the best learner fails, against what is claimed."""
    cases = [HiddenPoint(clients, m, samples) for m in range(clients)]
    exact = [case.hidden(strictly=True) if tails else case.failure("fair coin") for case in cases]
    what = (
        "that fewer than (1 - omega) M n copies of x_2 are drawn"
        if tails
        else "that the learner with a fair coin fails"
    )
    return draw_bound(
        "Exact probability against the bound from below",
        [case.omega for case in cases],
        [Fraction(claimed)] * len(cases),
        xlabel="omega = m/M",
        ylabel="probability",
        about=f"two points, P(x_2) = (1 - omega)/2; M = {clients} clients, n = {samples} samples each; binomial probabilities in fractions, no seeds",
        more=[(what, exact)],
    )


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


def draw_pooled(ctx: Context) -> Picture:
    """Exact probabilities of an error on the instance of Theorem 1 by the server's samples, against (1 - 4 epsilon)^{n_T}."""
    counts, curves = list(range(1, 61)), []
    cases = [HiddenPoint(2, 1, 1), HiddenPoint(10, 9, 1)]
    for case in cases:
        exact = [case.hidden() * case.failure_with_server(n) for n in counts]
        curves.append((f"exact, omega = {case.omega}, n = 1", exact))
    curves.append(("claimed, omega = 9/10", [cases[1].failure_with_server(n) for n in counts]))
    return draw_bound(
        "The server's sample makes the instance of Theorem 1 learnable",
        counts,
        [cases[0].failure_with_server(n) for n in counts],
        xlabel="n_T, samples of the server",
        ylabel="P[R_P = 4 epsilon]",
        about="pooled learning errs where the participation process hides x_2 and the server's sample misses it; claimed: (1 - 4 epsilon)^n_T for "
        "omega = 1/2; in fractions, no seeds",
        more=curves,
    )


def draw_needed(ctx: Context, delta: Fraction = Fraction(1, 20)) -> Picture:
    """Least number of the server's samples for a failure probability of 1/20, by the clients' samples, against what suffices for all."""
    counts, curves = [1, 2, 3, 5, 8, 12, 20, 30, 50], []
    cases = {n: HiddenPoint(10, 9, n) for n in counts}
    needed = [
        next(k for k in range(1, 100) if case.hidden() * case.failure_with_server(k) <= delta)
        for case in cases.values()
    ]
    curves.append(("exact", needed))
    return draw_bound(
        "The server's samples that are needed, by the clients' samples",
        counts,
        [cases[1].server_samples_for(delta)] * len(counts),
        xlabel="n, samples a client",
        ylabel="least n_T",
        about="instance of Theorem 1, M = 10, m = 9, failure probability at most 1/20; in fractions, no seeds",
        more=curves,
        logx=True,
    )


CLIENTS_STEP, SAMPLES_STEP = "clients are selected", "samples are selected"
SELECTED = (Step(CLIENTS_STEP, CLIENTS_SELECTED), Step(SAMPLES_STEP, SAMPLES_SELECTED))


LEARNER = (
    "w[r] is the probability of the outcome r of all that is drawn and of the learner's coins; what a learner returns on x_1 and x_2 is one of four "
    "rules, so that finitely many outcomes are enough. F_f[r] is 1 where R_P is above the level under f(x_2) = f."
)
OF_CLIENTS_SHOWN = (
    "Of P_i = delta_{x_1} for i <= m, the others delta_{x_2}, the first m take part, and show x_1 alone for every n."
)
OF_SAMPLES_SHOWN = (
    "Samples are selected, as in the proof: of M n samples s[r] are x_2, (1 - omega) M n/2 on average; where they are fewer than (1 - omega) M n the "
    "process leaves copies of x_1 alone, and hides[r] is 1."
)
OF_T1 = (
    LEARNER,
    OF_CLIENTS_SHOWN,
    OF_SAMPLES_SHOWN,
    "The process selects whole clients in Section 3 and samples in the proof; the theorem stands in both readings. In the first one it takes "
    "clients with laws of their own. SAFARI-T1e, on what it needs, is read as the first, and would be false in the second.",
)
OF_DRAWS = (
    "Outcomes r of all that is drawn have probabilities w[r]; in the pool, of whichever n_S, are a[r] copies of x_1 and q[r] of x_2, of which the "
    "server drew c[r], none where unseen[r] is 1. A rule errs on x_1 where off[r] is 1, on x_2 where errs[r] is; the right rule has no errors."
)
CLAIMS: list[Claim] = [
    claim(
        "SAFARI-T1",
        "Theorem 1",
        "For every learner there are a participation process of capacity omega = m/M, a law P and a target in H with P[R_P > (1-omega)/8] > 1/20.",
        SELECTED,
        kind="bound",
        picture=partial(draw_hidden, claimed="1/20"),
        assumptions=[NON_TRIVIAL],
        readings=OF_T1,
    ),
    derived(
        "SAFARI-X1",
        "Theorem 1, sharper",
        "With theta (1-omega)/2, for any theta < 1, in the place of (1-omega)/8, and 1/4 in that of 1/20 Theorem 1 holds, too: P[R_P > theta "
        "(1-omega)/2] >= 1/4.",
        [Step("samples are selected", SHARPER)],
        kind="bound",
        picture=partial(draw_hidden, claimed="1/4"),
        assumptions=[DOMAIN],
        readings=[LEARNER, OF_SAMPLES_SHOWN],
    ),
    claim(
        "SAFARI-T1a",
        "(9)-(11)",
        "P[s >= (1-omega) Mn] <= exp(-(1-omega) Mn/6) <= exp(-1/6) <= 17/20, so that P[s < (1-omega) Mn] > 3/20.",
        [Step("Chernoff's bound", CHERNOFF)],
        kind="bound",
        picture=partial(draw_hidden, claimed="3/20", tails=True),
        assumptions=[DOMAIN],
        readings=[
            "N = M n samples are x_2 with probability p = (1 - omega)/2, s of them; Z is the mean of 2^s, and tail = P[s >= (1 - omega) N], so that "
            "tail times 2^((1 - omega) N) is at most Z. (1 - omega) M n = (M - m) n is a whole number from 1 on."
        ],
    ),
    claim(
        "SAFARI-T1b",
        "(2)-(4)",
        "R'(h, f_1) + R'(h, f_2) = 4 epsilon for every h, where R' counts errors on x_2.",
        [Step("every h", ONE_IS_MISSED)],
        kind="identity",
        assumptions=[DOMAIN],
        readings=[
            "h and f_1 stand for labels of x_2, 0 or 1, and 1 - f_1 is f_2's. (3) prints x_1 where x_2 is meant."
        ],
    ),
    claim(
        "SAFARI-T1c",
        "(5)-(8)",
        "E R' >= 2 epsilon and R' <= 4 epsilon give P[R' >= epsilon] >= 1/3.",
        [Step("p >= 1/3", A_THIRD)],
        readings=["p = P[R' >= epsilon]; above and below are the means of R' where R' >= epsilon and elsewhere."],
    ),
    claim(
        "SAFARI-T1d",
        "after Theorem 1",
        "The bound of Theorem 1 does not depend on n: more data a client does not help (SAFARI-T1 for every n: the same theorems).",
        SELECTED,
        kind="bound",
        picture=draw_by_samples,
        assumptions=[NON_TRIVIAL],
        readings=OF_T1,
    ),
    Claim(
        "SAFARI-T1e",
        PAPER,
        "bound",
        "after Theorem 1",
        "Theorem 1 needs heterogeneity and arbitrary participation: it does not contradict convergence for equal laws or uniform participation.",
        check_t1e,
        (Fault("n = 2", "equal clients, whole clients selected", {"samples": 2}),),
        ("whole clients take part or do not, as in SAFARI-T1's first part",),
    ),
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
    ),
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
    ),
    derived(
        "SAFARI-X1'",
        "Theorem 1 for clients",
        "Clients i <= m with P_i = delta_{x_1}, the others delta_{x_2}: where the first m take part a deterministic learner has R_P >= 1 - "
        "omega for some target, and a randomised one (1 - omega)/2 or more in the mean.",
        [Step("risk of the worse target", WORSE_RISK)],
        kind="divergence",
        readings=[
            LEARNER.replace(" F_f[r] is 1 where R_P is above the level under f(x_2) = f.", ""),
            OF_CLIENTS_SHOWN,
            "h_1 and h_2 are the labels that a deterministic learner gives to x_1 and x_2.",
        ],
    ),
    claim(
        "SAFARI-T1-SAFL",
        "Section 3.2",
        "The server's sample makes the instance of Theorem 1 learnable: P[R_P = 4 epsilon] <= (1 - 4 epsilon)^{n_T}.",
        [Step("every n_T", WITH_SERVER)],
        kind="bound",
        picture=draw_pooled,
        assumptions=[DOMAIN, "some client takes part: omega > 0"],
        readings=["p = 4 epsilon. F[r] is 1 where R_P is 4 epsilon, and 0 elsewhere.", OF_DRAWS],
    ),
    claim(
        "SAFARI-R1",
        "Remark 1",
        "A small sample at the server is enough to be realistic: what is needed does not grow with the clients' data; from n_T = 2 log(1/delta)/(1 - "
        "omega) on pooled learning fails on the instance of Theorem 1 with probability delta at most.",
        [Step("samples of the server", ENOUGH_AT_SERVER, scope="the instance of Theorem 1")],
        kind="bound",
        picture=draw_needed,
        assumptions=["what is realistic and cheap is not judged"],
        readings=["p = (1 - omega)/2.", OF_DRAWS],
    ),
    derived(
        "SAFARI-X6",
        "Theorem 2, fixed n_T",
        "D = delta_{x_1}, P(x_2) = p: the worst pooled minimiser errs by p with probability (1-p)^{n_T}, whatever n_S is.",
        [Step("probability of an error", WORST_POOLED)],
        kind="identity",
        readings=[
            OF_DRAWS,
            "The worst minimiser is right on x_1 and errs on x_2 where no sample shows it: worst[r] is 1. It makes no error on the pool, errs by p "
            "there, and no minimiser errs on x_2 more often.",
        ],
    ),
]
