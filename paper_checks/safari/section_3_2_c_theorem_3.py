"""Section 3.2: the server's sample on the instance of Theorem 1; Theorem 3, that pooled learning is no worse than the server alone; Remarks 1, 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Claim, Context, Fault, Finding, Picture, Reading, Replay, Theorem, draw_bound
from fedtheory.claims.parts import disproved, proved, refute
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.formulas import over_outcomes
from paper_checks.safari.appendix_a_0_b_proofs_of_theorems_2_and_3 import triangle
from paper_checks.safari.learners import DRAWN_BY_SERVER, DRAWS, ERRS_UNSEEN, OF_DRAWS, UNSEEN, is_flag
from paper_checks.safari.notation import CITED, DOMAIN, PAPER, claim, complexity, exponent, fraction_above
from paper_checks.safari.section_3_2_a_assumption_2 import MISSPECIFIED, OF_RULES, TARGET, replay_misspecified
from paper_checks.safari.section_3_2_b_theorem_2 import thinned_error
from paper_checks.steps import Step
from problems.learning import HiddenPoint
from problems.thresholds import NoisyThreshold

CLAIMS: list[Claim] = []

# ---- The instance of Theorem 1 ---------------------------------------------------------------------------------------
POOL = {**dict.fromkeys(("w", "a", "q", "c"), "0"), **dict.fromkeys(("unseen", "off", "errs"), "0..1")}
OF_POOL = {"pooled": "c[r] <= q[r]", "minimiser": "a[r]*off[r] + q[r]*errs[r] <= 0"}
NONE_MISSED = f"""
      none:    c[r]*errs[r] <= 0                                by combine 1*minimiser, errs[r]*pooled
{ERRS_UNSEEN}"""
WITH_SERVER = Theorem(
    name="Theorem 1 with the server's sample",
    region="0 < p < 1/2",
    states=DRAWS,
    rounds={"k": 0, "n_T": 0, "r": 0, "N": 0},
    where={"epsilon": "p/4"},
    quantities=UNSEEN,
    sequences={**POOL, "F": "0..1"},
    given={
        **DRAWN_BY_SERVER,
        **OF_POOL,
        "risk": "F[r]*((1 - p)*off[r] + p*errs[r] - 4*epsilon) == 0",
        "flag_off": is_flag("off[r]"),
        "flag_errs": is_flag("errs[r]"),
    },
    fixed=("n_T",),
    claim=f"{over_outcomes('F[r]')} <= (1 - 4*epsilon)**n_T",
    proof=f"""{NONE_MISSED}
      event:   F[r]*(1 - errs[r]) == 0
                 by combine (off[r]*(1 - errs[r])/(1 - 2*p) - (1 - off[r])*(1 - errs[r])/p)*risk,
                   (F[r]*(1 - p)*(1 - errs[r])*(1/(1 - 2*p) + 1/p))*flag_off, (F[r]*(1 - off[r]) - F[r]*p/(1 - 2*p)*off[r])*flag_errs
      often:   F[r] <= unseen[r]                                by combine 1*event, F[r]*missed
      all:     {over_outcomes("F[r]")} <= {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*often(r=0); step combine ih, w[N+1]*often(r=N+1)
      done:    claim                                            by combine 1*all, 1*law, 1*hidden
""",
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


CLAIMS += [
    claim(
        "SAFARI-T1-SAFL",
        "Section 3.2",
        "The server's sample makes the instance of Theorem 1 learnable: P[R_P = 4 epsilon] <= (1 - 4 epsilon)^{n_T}.",
        [Step("every n_T", WITH_SERVER)],
        kind="bound",
        picture=draw_pooled,
        assumptions=[DOMAIN, "some client takes part: omega > 0"],
        readings=["p = 4 epsilon. F[r] is 1 where R_P is 4 epsilon, and 0 elsewhere.", OF_DRAWS],
    )
]


# ---- Theorem 3 -------------------------------------------------------------------------------------------------------
def drawn_excess(law: NoisyThreshold, points: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Excess errors of the empirical risk minimiser over thresholds, exact for each sample of ``points`` ``(samples, n)``: ``(samples,)``."""
    x, samples = np.sort(points, axis=1), len(points)
    wrong = np.where(rng.random(x.shape) < law.positive(x), 1, -1)  # errs on what is labelled 1 and lies left of t
    errors = np.concatenate([np.zeros((samples, 1)), np.cumsum(wrong, axis=1)], axis=1)
    edges = np.concatenate([np.zeros((samples, 1)), x, np.ones((samples, 1))], axis=1)
    best = errors.argmin(axis=1)
    rows = np.arange(samples)
    middle = (edges[rows, best] + edges[rows, best + 1]) / 2
    return np.asarray([law.excess(float(t)) for t in middle])


def draw_t3(draws: int = 60, ratio: int = 10) -> Picture:
    """Excess errors of pooled and of the server's minimisers where beta_P = 1/2, against the order n_T^{-2/3}."""
    law, rng, sizes = NoisyThreshold(2.0, 0.85), np.random.default_rng(0), [50, 100, 200, 400, 800]
    pooled: list[float] = []
    alone: list[float] = []
    for n in sizes:
        server, clients = rng.random((draws, n)), 0.3 + 0.4 * rng.random((draws, ratio * n))
        pooled.append(float(np.quantile(drawn_excess(law, np.concatenate([server, clients], axis=1), rng), 0.9)))
        alone.append(float(np.quantile(drawn_excess(law, server, rng), 0.9)))
    return draw_bound(
        "Pooled learning by the server's samples",
        sizes,
        [n ** (-2 / 3) for n in sizes],
        xlabel="n_T",
        ylabel="eps_P",
        about=f"thresholds, kappa = 2 (beta_P = 1/2), t* = 0.85, P uniform on [0, 1], D on [0.3, 0.7], n_S = {ratio} n_T, {draws} samples each, "
        "seed 0; claimed: the order n_T^(-2/3)",
        more=[("pooled, nine of ten samples below", pooled), ("the server alone, nine of ten below", alone)],
        logx=True,
    )


def check_t3(ctx: Context, *, beta: int = 1) -> Iterator[Finding]:
    """With Lemma 2 repaired the exponent of Theorem 3 is what is left."""
    b = symbols("b", positive=True)
    yield proved(
        "(1 + beta_P)/2 >= 1/(2 - beta_P)",
        is_zero((beta + b) / 2 - exponent(b) - b * (1 - b) / (2 * (2 - b))),
        "Lemma 1 and Assumption 1 bound what Lemma 2 leaves out by O(A^{(1 + beta_P)/2}); the difference of the exponents is b (1 - b)/(2 "
        "(2 - b)) >= 0 on [0, 1], so that eps_P(hhat*_Q) = O~((d_H/n_T)^{1/(2 - beta_P)}) stands",
        scope=CITED,
    )
    yield draw_t3()
    yield Reading(
        "It compares upper bounds, and no errors; Rhat_P(hhat*_Q) <= Rhat_P(h*_Q) is a random event, read as given. The picture does not ask for it."
    )


CLAIMS += [
    Claim(
        "SAFARI-T3",
        PAPER,
        "rate",
        "Theorem 3",
        "If Rhat_P(hhat*_Q) <= Rhat_P(h*_Q) and eps_P(h*_Q) = O(A(n_T, delta)), then eps_P(hhat*_Q) = O~((d_H/n_T)^{1/(2 - beta_P)}) with "
        "probability 1 - delta.",
        check_t3,
        (Fault("beta_P/2 for (1 + beta_P)/2", "(1 + beta_P)/2 >= 1/(2 - beta_P)", {"beta": 0}),),
        ("Assumption 1; Lemma 1 in its standard form, which is cited",),
    )
]

# ---- "A weaker condition" --------------------------------------------------------------------------------------------
NO_EXCESS = Theorem(
    **OF_RULES,
    name="with the right rule in H",
    given={"best": "eps_Q <= 0"},
    claim="eps_P <= 0",
    proof="done: claim by combine (1/l)*best",
)


def replay_t3a(instance: Mapping[str, Any]) -> Replay:
    """eps_P(h*_Q) of the misspecified thresholds against A(1000, 1/20), d_H = 1."""
    seen = replay_misspecified(instance)
    limit = fraction_above(log(1000) / 1000 + log(20) / 1000)
    return Replay(
        "eps_P(h*_Q) against A(1000, 1/20)",
        seen.measured,
        log(1000) / 1000 + log(20) / 1000,
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
    found = replay_t3a(instance).exact_measured
    yield disproved(
        "covariate shift gives eps_P(h*_Q) = O(A), every constant",
        compare(Fraction(5, 20), "<", found) and compare(20, "<=", Fraction(2718, 1000) ** 3),
        "eps_P(h*_Q) does not change with n_T where Q does not, and c A(n_T, 1/20) <= c (2 sqrt(n_T) + 3)/n_T <= 5 c/sqrt(n_T) <= 1/4 for "
        "n_T >= 400 c^2",
    )
    sizes = [10, 30, 100, 300, 1000, 3000, 10000]
    yield draw_bound(
        "eps_P(h*_Q) where the right rule is not in H",
        sizes,
        [complexity(n, 0.05) for n in sizes],
        xlabel="n_T",
        ylabel="excess error",
        about="thresholds on three points with labels 1, 0, 1, lambda_1 = 3/5; claimed: A(n_T, 1/20), d_H = 1, c = 1; no seeds",
        more=[("eps_P(h*_Q)", [found] * len(sizes))],
        logx=True,
    )
    yield Reading(
        "Covariate shift is often meant with the right rule in H; then the remark is right. That eps_P(h*_Q) = O(A) is weaker than eps_P(h*_Q) = 0 "
        "is trivial."
    )


CLAIMS += [
    claim(
        "SAFARI-T3a",
        "after Theorem 3",
        "eps_P(h*_Q) = O(A(n_T, delta)) is weaker than eps_P(h*_Q) = 0 and than covariate shift.",
        [Step("with the right rule in H", NO_EXCESS, "repaired")],
        kind="bound",
        besides=check_t3a,
        faults=(
            Fault(
                "D where the best rule stays",
                "covariate shift gives eps_P(h*_Q) = O(A)",
                {"instance": {"d": TARGET, "weight": "3/5"}},
                holds=True,
            ),
        ),
        readings=[
            "P, D, P_star and D_star are risks of h*_Q and of the right rule under both laws, l = lambda_2; h*_Q has the least risk under Q."
        ],
        repaired="Than covariate shift where the right rule is in H and lambda_2 > 0, which gives eps_P(h*_Q) = 0.",
        replay=replay_t3a,
    )
]

# ---- Remark 1 --------------------------------------------------------------------------------------------------------
ENOUGH_AT_SERVER = Theorem(
    name="samples of the server",
    region="0 < p <= 1/2, 0 < delta < 1",
    states=DRAWS,
    rounds={"k": 0, "n_T": 0, "r": 0, "N": 0},
    quantities=UNSEEN,
    sequences=POOL,
    given={**DRAWN_BY_SERVER, **OF_POOL, "enough": "log(1/delta) <= p*n_T"},
    fixed=("n_T",),
    claim=f"{over_outcomes('errs[r]')} <= delta",
    proof=f"""{NONE_MISSED}
      all:     {over_outcomes("errs[r]")} <= {over_outcomes("unseen[r]")}
                 by induction N: base combine w[0]*missed(r=0); step combine ih, w[N+1]*missed(r=N+1)
      few:     {over_outcomes("errs[r]")} <= (1 - p)**n_T       by combine 1*all, 1*law, 1*hidden
      tangent: 1 - p <= exp(-p)                                 by exponential -p
      falls:   (1 - p)**n_T <= exp(-p*n_T)
                 by induction n_T: base combine; step combine (1 - p)*ih, exp(-p*n_T)*tangent
      above:   1 + p*n_T - log(1/delta) <= exp(p*n_T - log(1/delta))      by exponential p*n_T - log(1/delta)
      back:    exp(log(1/delta)) == 1/delta                     by logarithm 1/delta
      done:    claim
                 by combine 1*few, 1*falls, exp(-p*n_T)*above, exp(-p*n_T)*enough, (-delta*exp(-log(1/delta)))*back
""",
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


CLAIMS += [
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
    )
]


# ---- Remark 2 --------------------------------------------------------------------------------------------------------
def draw_r2() -> Picture:
    """Mean error where the server's and the clients' data thin out near t*, against Theorem 3's order."""
    sizes = [25, 50, 100, 200, 400, 800, 1600, 3200]
    return draw_bound(
        "The server's data from another law",
        sizes,
        [1 / n for n in sizes],
        xlabel="n_T = n_S",
        ylabel="mean worst error under P",
        about="thresholds without noise (beta_P = beta_Q = 1), P uniform on [0, 1], D = P' = Q with density 4 |x - 1/2|, beta = 1/2; closed form, "
        "no seeds; claimed: Theorem 3's order 1/n_T",
        more=[
            ("exact", [thinned_error(1.0, 2 * n) for n in sizes]),
            ("Theorem 2's order (n_T + n_S)^(-1/2)", [(2 * n) ** -0.5 for n in sizes]),
        ],
        logx=True,
    )


def check_r2(ctx: Context, *, share: str = "1", at: int = 2) -> Iterator[Finding]:
    """Theorem 2 speaks of Q only; Theorem 3 hangs on what Rhat_P is."""
    yield proved(
        "Theorem 2",
        is_derived(triangle.with_constants(c=share)),
        "SAFARI-T2a holds for any P and Q, and the rest of the proof uses samples of Q alone",
    )
    yield disproved(
        "Theorem 3",
        compare((1 - Fraction(at, 4)) ** 2, ">=", Fraction(1, 4)) and compare(Fraction(1, 4), ">", Fraction(1, 5)),
        "thresholds without noise, t* = 1/2, P uniform on [0, 1], D = P' = Q with density 4 |x - 1/2|, so that Assumption 2 holds with beta = 1/2, "
        "eps_P(h*_Q) = 0 and Rhat_P(hhat*_Q) = 0; no draw falls between t* and t* + 1/sqrt(2 N), N = n_T + n_S = 2 n_T, with probability (1 - "
        "1/N)^N, which rises with N from 1/4 at N = 2: then the first point labelled 1 has eps_P >= 1/(2 sqrt(n_T)), and no O~(1/n_T) holds with "
        "probability 4/5",
    )
    yield Reading(
        "Rhat_P is an empirical risk on the server's samples, which are draws of P' here. Read with samples of P that nobody has, Theorem 3 stays, "
        "and does not speak of the server's data."
    )
    yield draw_r2()


CLAIMS += [
    Claim(
        "SAFARI-R2",
        PAPER,
        "rate",
        "Remark 2",
        "With T drawn from P' != P such that Q = lambda_1 D + lambda_2 P' is positively related to P, Theorems 2 and 3 still hold.",
        check_r2,
        (
            Fault("a hundredth less of the difference", "Theorem 2", {"share": "99/100"}),
            Fault("three draws near t* in the mean for two", "Theorem 3", {"at": 3}, holds=True),
        ),
    )
]
