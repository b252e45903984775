"""Section 6.2, Inexact FISTA: Propositions 6.2 and 6.3, and Lemma 6.4. The proofs of Section 3 rest on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFista
from fedtheory.claims import Claim, Context, Picture, Theorem, bar, dot, draw_bound, lemma, norm2
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.duality import dualfl_gap
from fedtheory.running.runner import run
from paper_checks.dualfl import bounds, rounds
from paper_checks.dualfl.bounds import dual_order, linear, plain_order
from paper_checks.dualfl.certified_runs import AtTheLimit
from paper_checks.dualfl.notation import (
    ADD_UP,
    BY_CODE,
    CONVEX,
    FIVE,
    FIVE_SMOOTH,
    GROWS,
    LINEAR_SUM,
    LINEAR_TERMS,
    OF_END,
    OF_RANGE,
    OF_SMOOTH,
    PLAIN_SUM,
    PLAIN_TERMS,
    RANGE_OF_RHO,
    SIGNS,
    SMOOTH,
    SOLVED,
    STATES,
    claim,
    fill,
    solved,
    some,
    strong_conjugate,
)
from paper_checks.formulas import formula
from paper_checks.steps import Step, equality
from problems.quadratics import random_quadratics

CLAIMS: list[Claim] = []

# ---- Below (22) ------------------------------------------------------------------------------------------------------


@lemma("F_d is 1/nu-smooth", "Section 6.2", "0 < nu", c=1)
def smooth_part(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad F_d(xi) - grad F_d(eta)||^2 <= c ||xi - eta||^2/nu^2, where grad F_d(xi) has the blocks mean xi/nu; z = xi - eta."""
    z = w.vector("xi - eta", True)
    return norm2(bar(z) / p.nu) - norm2(z) * (c.c / p.nu**2)


@lemma("G_d is 1/(L - nu)-strongly convex", "Section 6.2", "0 < nu < L", c=1)
def convex_part(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """g_j^*(xi) >= g_j^*(eta) + <theta, xi - eta> + c ||xi - eta||^2/(2 (L - nu)) for any xi, at every eta with a subgradient theta."""
    return strong_conjugate(w, p, c, p.L - p.nu)


CLAIMS += [
    claim(
        "DUALFL-D22",
        "Section 6.2, below (22)",
        "F_d is 1/nu-smooth, and G_d is 1/(L - nu)-strongly convex where f_j is L-smooth.",
        [Step("F_d", smooth_part), Step("G_d", convex_part)],
        assumptions=[CONVEX, "nu < L (for nu = L, G_d is finite at one point only)"],
        readings=["Strong convexity is the paper's: at every point with a subgradient, against any point."],
    )
]


# ---- Proposition 6.2 -------------------------------------------------------------------------------------------------

#: an inexact step: ``some``, ``moved`` and ``step`` with a factor of errors and one of the old potential
INEXACT = """
  before: 0 <= A[n]                             by derivation
  hat:    0 <= Uh[n]                            by derivation
  near:   0 <= d2[n]                            by derivation
  some:   d2[n] <= 2*nu*w*err[n]                by derivation
  sign:   0 <= err[n]                           by combine (1/(2*nu*w))*some, (1/(2*nu*w))*near
  step:   2*nu*w*t[n]**2*(gap[n+1] - err[n]) + Uh[n] <= 2*nu*w*t[n]*A[n] + FALLS*U[n]           by derivation
  young:  U[n+1] - Uh[n] - t[n]**2*d2[n] <= s*Uh[n] + t[n]**2*d2[n]/s                           by derivation
  moved:  U[n+1] <= Uh[n] + t[n]**2*d2[n] + 2*sqrt(Uh[n])*sqrt(t[n]**2*d2[n])                   by least s of young
  small2: sqrt(t[n]**2*d2[n])**2 <= ERROR**2                by combine (t[n]**2)*some
  small:  sqrt(t[n]**2*d2[n]) <= ERROR                      by root small2
  hat2:   sqrt(Uh[n])**2 <= (OLD + ERROR)**2                by combine 1*step, (2*nu*w*t[n]**2)*low
  hats:   sqrt(Uh[n]) <= OLD + ERROR                        by root hat2
  both:   2*nu*w*t[n]**2*gap[n+1] + U[n+1] <= (OLD + 2*ERROR)**2
             by combine 1*step, 1*moved, (t[n]**2)*some, (2*sqrt(t[n]**2*d2[n]))*hats, (2*(OLD + ERROR))*small
"""

TOTAL = "(sqrt(U[0]) + 2*sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n))"

PLAIN_ERRORS = Theorem(
    name="Algorithm 2 with any errors, rho = 0",
    region="0 < nu",
    auxiliary="0 < s",
    rounds={"n": 0, "k": 0, "T": 0},
    states=rounds.ANY,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    given=FIVE,
    quantities=some("gap", "A", "U", "Uh", "d2", "err"),
    claim="gap[T+1] <= 2*(sqrt(U[0]) + 2*sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, T))**2/(nu*(T + 2)**2)",
    proof=fill(
        SOLVED
        + GROWS
        + STATES
        + INEXACT
        + """
  after:  NEW**2 <= (OLD + 2*ERROR)**2          by combine 1*both, (2*nu*gap[n+1])*five, (2*nu*t[n+1])*is
  psi:    NEW <= OLD + 2*ERROR                  by root after
  start2: START**2 <= sqrt(U[0])**2             by combine (2*nu*t[0])*none
  start:  START <= sqrt(U[0])                   by root start2
  all:    NEW <= TOTAL                          by induction n: base combine 1*psi(n=0), 1*start; step combine 1*ih, 1*psi(n=n+1)
  all2:   NEW**2 <= TOTAL**2                    by combine (NEW + TOTAL)*all
  values: 2*nu*t[n]**2*gap[n+1] <= TOTAL**2     by combine 1*all2, (-2*nu*gap[n+1])*five, 1*far(n=n+1), (-2*nu*t[n+1])*is
  rate:   nu*(n + 2)**2/2*gap[n+1] <= TOTAL**2  by combine 1*values, (2*nu*(t[n] + (n + 2)/2)*gap[n+1])*grows
  done:   claim                                 by combine (2/(nu*(T + 2)**2))*rate(n=T)
        """,
        OLD="sqrt(2*nu*t[n]*A[n] + U[n])",
        NEW="sqrt(2*nu*t[n+1]*A[n+1] + U[n+1])",
        START="sqrt(2*nu*t[0]*A[0] + U[0])",
        ERROR="sqrt(2*nu*t[n]**2*err[n])",
        TOTAL=TOTAL,
        FALLS="1",
        w="1",
    ),
)

PROPOSITION_6_2 = Theorem(
    name="Proposition 6.2",
    region="0 < nu, 0 <= B",
    auxiliary="0 < s",
    rounds={"n": 0, "k": 0, "T": 0, "m": 1},
    states=rounds.ANY,
    assumed=rounds.FENCHEL,
    sequences={"t": "1", "b": "0"},
    given={**FIVE, "errors": "err[n] <= b[n]/(n + 1)**2", "finite": "sum(sqrt(b[k]), k, 0, T) <= B"},
    quantities=some("gap", "U", "err"),
    rests={"dual": PLAIN_ERRORS},
    claim=f"gap[m] <= 2*(sqrt(U[0]) + 2*sqrt(2*nu)*B)**2/nu*({formula(plain_order, n='m')})",
    proof=fill(
        SOLVED
        + SIGNS
        + PLAIN_TERMS
        + ADD_UP
        + """
  done:   claim             by combine 1*dual(T=m-1), (2/(nu*(m + 1)**2))*whole2(n=m-1)
        """,
        **PLAIN_SUM,
        SHARE="sqrt(2*nu)",
        OF_N="sqrt(b[n])",
        OF_K="sqrt(b[k])",
        GIVEN="(2*nu*(n + 1)**2)*errors",
        FIRST="sqrt(U[0])",
        LIMIT="(sqrt(2*nu)*B)",
        FROM="2*terms, (2*sqrt(2*nu))*finite(T=n)",
    ),
)

#: the sum of n^(-3/2)
ZETA = 2.6123753486854883


def draw_inexact_runs(context: Context, *, smooth: bool, rounds: int = 40, draws: int = 20) -> Picture:
    """Dual errors over C against Proposition 6.2 or 6.3, with every block's error at delta_n/N: N/(n+1)^5 or a^n for delta_n, start 0."""
    nu, L, N, n = 0.8, 16.0, 4, np.arange(1.0, rounds + 1)
    rho = nu / L if smooth else 0.0
    q = 1 - np.sqrt(rho)
    a = 0.9 * q
    problem = random_quadratics(N, 5, L=L, mu=1.0, batch=(draws,), seed=context.seed)
    x = problem.solution()[:, None, :]
    start = np.sqrt(squared_norm(problem.grad(x) - nu * x).sum(axis=-1, keepdims=True))
    method = DualFista(nu, rho, AtTheLimit(nu, lambda k: a**k / N if smooth else (k + 1.0) ** -5))
    asked = {"error": lambda f, state: N * dualfl_gap(f, x, state.xi_i, nu)}
    trace = run(method, problem, 0 * x[:, 0], rounds, seed=context.seed, metrics=asked, progress=False)
    sums = np.sqrt(2 * nu) / (1 - np.sqrt(a / q)) if smooth else np.sqrt(2 * nu * N) * ZETA
    size = (start + 2 * sums) ** 2 * (1 / (2 * nu * q) if smooth else 2 / nu)
    said = f"rho = nu/L, delta_n = a^n, a = {a:.3g}" if smooth else "rho = 0, delta_n = 4/(n+1)^5"
    about = f"Algorithm 2, nu = 4/5, {said}; random quadratics, N = 4, d = 5, mu = 1, L = 16, {draws} draws, seed {context.seed}"
    ylabel, found = "(E_d(xi^n) - E_d*)/C", (trace["error"][:, 1:] / size).T
    return draw_bound(
        "Dual errors",
        n,
        bounds.dual_order(n, np.sqrt(rho)) if smooth else n**-2,
        ylabel=ylabel,
        about=about,
        runs=found,
    )


CLAIMS += [
    claim(
        "DUALFL-P6.2",
        "Proposition 6.2",
        f"E_d(xi^n) - E_d* <= C {bounds.show(bounds.plain_order, 'n')} for Algorithm 2 with rho = 0 and errors delta_n = b_n/(n+1)^2, sum "
        "sqrt(b_n) < infinity.",
        [Step("every round", PROPOSITION_6_2)],
        assumptions=[CONVEX],
        readings=[
            BY_CODE,
            "'n >= 0' with 1/n^2 is read as n >= 1. C = (2/nu) (||xi^0 - xi*|| + 2 sqrt(2 nu) B)^2 with the sum B. Any xi^{n+1} is nu (zeta - theta) "
            "for some local answers theta, so that these are all runs of Algorithm 2.",
        ],
        kind="rate",
        picture=partial(draw_inexact_runs, smooth=False),
    )
]


PROPOSITION_6_2_STEP = Theorem(
    name="Proposition 6.2, one exact step",
    region="0 < nu",
    rounds={"n": 0},
    states=rounds.EXACT,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    given={"next": FIVE["next"]},
    quantities=some("gap", "A", "U"),
    claim="2*nu*t[n+1]**2*gap[n+2] + U[n+2] <= 2*nu*t[n]**2*gap[n+1] + U[n+1]",
    proof=SOLVED
    + """
  is:     A[n+1] == (t[n+1] - 1)*gap[n+1]                             by identity
  round:  2*nu*t[n]**2*gap[n+1] + U[n+1] <= 2*nu*t[n]*A[n] + U[n]     by derivation
  done:   claim     by combine 1*round(n=n+1), (2*nu*gap[n+1])*five, (2*nu*t[n+1])*is
    """,
)

CLAIMS += [
    claim(
        "DUALFL-P6.2-STEP",
        "Proposition 6.2, one exact step of Algorithm 2",
        "2 nu t_n^2 (E_d(xi^{n+1}) - E_d*) + ||u^{n+1} - xi*||^2 <= 2 nu t_{n-1}^2 (E_d(xi^n) - E_d*) + ||u^n - xi*||^2 for rho = 0 and n >= 1.",
        [Step("one step", PROPOSITION_6_2_STEP)],
        assumptions=[CONVEX, "u^n = xi^n + (t_{n-1} - 1)(xi^n - xi^{n-1})"],
        readings=[
            BY_CODE,
            "The formula is that of n + 1, so that it begins at n = 0. The proposition is quoted by the paper, for inexact steps, too: DUALFL-P6.2.",
        ],
    )
]


# ---- Proposition 6.3 -------------------------------------------------------------------------------------------------

SOLVED_SMOOTH = f"\n  five:   {solved('r**2')}"

#: by what lines about any errors are written; rho = r^2
SMOOTH_WORDS = {
    "OLD": "sqrt(2*nu*(1 - r**2)*t[n]*A[n] + (1 - r**2*t[n])*U[n])",
    "LATER": "sqrt(2*nu*(1 - r**2)*t[n+1]*A[n+1] + (1 - r**2*t[n+1])*U[n+1])",
    "START": "sqrt(2*nu*(1 - r**2)*t[0]*A[0] + (1 - r**2*t[0])*U[0])",
    "NEW": "sqrt(2*nu*(1 - r**2)*gap[n+1] + U[n+1]/t[n]**2)",
    "ERROR": "(t[n]*sqrt(1 - r**2)*sqrt(2*nu)*sqrt(err[n]))",
    "SMALL": "(sqrt(1 - r**2)*sqrt(2*nu)*sqrt(err[n]))",
    "FALLS": "(1 - r**2*t[n])",
    "w": "(1 - r**2)",
}

SMOOTH_ROUND = fill(
    SOLVED_SMOOTH
    + STATES
    + INEXACT
    + """
  after:  NEW**2 <= (OLD/t[n] + 2*SMALL)**2     by combine (1/t[n]**2)*both
  psi:    NEW <= OLD/t[n] + 2*SMALL             by root after
  start2: START**2 <= (sqrt(w)*sqrt(U[0]))**2   by combine (2*nu*w*t[0])*none, (r**2*U[0])*first
  start:  START <= sqrt(w)*sqrt(U[0])           by root start2
    """,
    **SMOOTH_WORDS,
)

LINEAR_ERRORS = Theorem(
    **OF_RANGE,
    name="Algorithm 2 with any errors, rho = r^2",
    rounds={"n": 0, "k": 0, "T": 0},
    given=FIVE_SMOOTH,
    quantities=some("gap", "A", "U", "Uh", "d2", "err"),
    claim="gap[T+1] <= (1 - r)**T*(sqrt(U[0]) + 2*sqrt(2*nu)*sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, T))**2/(2*nu)",
    proof=SMOOTH_ROUND
    + fill(
        """
  falls2: (LATER/t[n+1])**2 <= (sqrt(1 - r)*NEW)**2
             by combine (-U[n+1]/(t[n]**2*t[n+1]**2))*five, (2*nu*w/t[n+1])*is
  falls:  LATER/t[n+1] <= sqrt(1 - r)*NEW       by root falls2
  all:    NEW <= sqrt(w)*(1 - r)**(n/2)*TOTAL
             by induction n: base combine 1*psi(n=0), 1*start; step combine sqrt(1 - r)*ih, 1*psi(n=n+1), 1*falls
  all2:   NEW**2 <= (sqrt(w)*(1 - r)**(n/2)*TOTAL)**2                 by combine (NEW + sqrt(w)*(1 - r)**(n/2)*TOTAL)*all
  done:   claim                                 by combine (1/(2*nu*w))*all2(n=T), (1/(2*nu*w*t[T]**2))*far(n=T+1)
        """,
        **SMOOTH_WORDS,
        TOTAL="(sqrt(U[0]) + 2*sqrt(2*nu)*sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n))",
    ),
)

END_ERRORS = replace(LINEAR_ERRORS, **OF_END, name="Algorithm 2 with any errors, rho = 1/kappa")

PROPOSITION_6_3 = Theorem(
    **OF_RANGE | {"region": f"{RANGE_OF_RHO}, 0 < b < 1", "where": {"a": "(1 - r)*b**2"}},
    name="Proposition 6.3",
    rounds={"n": 0, "k": 0, "T": 0, "m": 1},
    given={**FIVE_SMOOTH, "errors": "err[n] <= a**n"},
    quantities=some("gap", "U", "err"),
    rests={"dual": LINEAR_ERRORS},
    claim=f"gap[m] <= {formula(dual_order, n='m', r='r')}*(sqrt(U[0]) + 2*sqrt(2*nu)/(1 - b))**2/(2*nu*(1 - r))",
    proof=fill(
        SIGNS
        + LINEAR_TERMS
        + ADD_UP
        + """
  done:   claim             by combine 1*dual(T=m-1), ((1 - r)**(m - 1)/(2*nu))*whole2(n=m-1)
        """,
        **LINEAR_SUM,
        SHARE="1",
        GIVEN="1*errors",
        FIRST="sqrt(U[0])",
        LIMIT="(1/(1 - b))",
        FROM="(2*sqrt(2*nu))*terms, (2*sqrt(2*nu))*series",
    ),
)

CLAIMS += [
    claim(
        "DUALFL-P6.3",
        "Proposition 6.3",
        f"E_d(xi^n) - E_d* <= C {bounds.show(bounds.dual_order, 'n', 'r')} for Algorithm 2 with 0 < rho = r^2 <= nu/L and errors delta_n = a^n, "
        "0 <= a < 1 - r.",
        [Step("every round", PROPOSITION_6_3), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "nu < L, rho < 1"],
        readings=[
            BY_CODE,
            "C = (||xi^0 - xi*|| + 2 sqrt(2 nu)/(1 - sqrt(a/q)))^2/(2 nu q) with q = 1 - sqrt(rho); b = sqrt(a/q). a = 0 is below every other a.",
        ],
        kind="rate",
        picture=partial(draw_inexact_runs, smooth=True),
    )
]


PROPOSITION_6_3_EXACT = Theorem(
    **OF_RANGE | {"states": rounds.EXACT_RANGE, "auxiliary": ""},
    name="Proposition 6.3 with exact steps",
    rounds={"n": 0, "m": 1},
    given=FIVE_SMOOTH,
    quantities=some("gap", "A", "U"),
    claim=f"gap[m] <= {formula(linear, n='m', r='r')}*U[0]/(2*nu)",
    proof=fill(
        SOLVED_SMOOTH
        + STATES
        + """
  round:  2*nu*(1 - r**2)*t[n]**2*gap[n+1] + U[n+1] <= OLD            by derivation
  after:  NEW <= OLD/t[n]**2                    by combine (1/t[n]**2)*round
  falls:  LATER/t[n+1]**2 <= (1 - r)*NEW
             by combine (-U[n+1]/(t[n]**2*t[n+1]**2))*five, (2*nu*(1 - r**2)/t[n+1])*is
  all:    NEW <= (1 - r**2)*(1 - r)**n*U[0]
             by induction n: base combine 1*after(n=0), (2*nu*(1 - r**2)/t[0])*none, (-U[0]*((1 - r**2)*t[0] + 1)/t[0]**2)*first;
                             step combine (1 - r)*ih, 1*after(n=n+1), 1*falls
  done:   claim
             by combine (1/(2*nu*(1 - r**2)))*all(n=m-1), (1/(2*nu*(1 - r**2)*t[m-1]**2))*far(n=m)
        """,
        OLD="(2*nu*(1 - r**2)*t[n]*A[n] + (1 - r**2*t[n])*U[n])",
        LATER="(2*nu*(1 - r**2)*t[n+1]*A[n+1] + (1 - r**2*t[n+1])*U[n+1])",
        NEW="(2*nu*(1 - r**2)*gap[n+1] + U[n+1]/t[n]**2)",
    ),
)

PROPOSITION_6_3_STEP = replace(
    PROPOSITION_6_3_EXACT,
    name="Proposition 6.3, one exact step",
    rounds={"n": 0},
    given={"next": FIVE_SMOOTH["next"]},
    quantities=some("gap", "A", "U"),
    claim="2*nu*(1 - r**2)*t[n+1]**2*gap[n+2] + U[n+2] <= (1 - r**2*t[n+1])*(2*nu*(1 - r**2)*t[n]**2*gap[n+1] + U[n+1])",
    proof=SOLVED_SMOOTH
    + """
  is:     A[n+1] == (t[n+1] - 1)*gap[n+1]                             by identity
  round:  2*nu*(1 - r**2)*t[n]**2*gap[n+1] + U[n+1] <= 2*nu*(1 - r**2)*t[n]*A[n] + (1 - r**2*t[n])*U[n]     by derivation
  done:   claim     by combine 1*round(n=n+1), (2*nu*(1 - r**2)*gap[n+1])*five, (2*nu*(1 - r**2)*t[n+1])*is
    """,
)

CLAIMS += [
    claim(
        "DUALFL-P6.3-STEP",
        "Proposition 6.3, one exact step of Algorithm 2",
        "2 nu (1 - rho) t_n^2 (E_d(xi^{n+1}) - E_d*) + ||u^{n+1} - xi*||^2 <= (1 - rho t_n) (2 nu (1 - rho) t_{n-1}^2 "
        "(E_d(xi^n) - E_d*) + ||u^n - xi*||^2) for 0 < rho = r^2 <= nu/L and n >= 1.",
        [Step("one step", PROPOSITION_6_3_STEP), OF_SMOOTH],
        assumptions=[CONVEX, "f_j L-smooth with nu < L", "u^n = xi^n + (t_{n-1} - 1)(xi^n - xi^{n-1})"],
        readings=[
            BY_CODE,
            "The formula is that of n + 1, so that it begins at n = 0. The proposition is quoted by the paper, for inexact steps, too: DUALFL-P6.3.",
        ],
    )
]


# ---- Lemma 6.4 -------------------------------------------------------------------------------------------------------


def round_objective(p: Any, eta: Any, xi: Any, value: Any) -> Any:
    """E_d^n(xi)/N of (23), up to what does not depend on xi, where the mean of g_j^*(xi_j) is ``value``."""
    return dot(bar(eta), xi - eta) / p.nu + norm2(xi - eta) / (2 * p.nu) + value


def block(p: Any, eta: Any, xi: Any, value: Any) -> Any:
    """The blocks' objectives over N, where the mean of g_j^*(xi_j) is ``value``."""
    return norm2(xi - eta + bar(eta)) / (2 * p.nu) + value


def blocks_and_whole(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """The blocks' objectives sum to E_d^n(xi) + c (N/(2 nu)) ||mean eta||^2, divided by N."""
    xi, eta, value = w.vector("xi", True), w.vector("eta", True), w.value("mean of g_j^*(xi_j)")
    return block(p, eta, xi, value) - round_objective(p, eta, xi, value) - norm2(bar(eta)) * (c.c / (2 * p.nu))


SUM_BELOW, SUM_ABOVE = equality("sum of the blocks", "Lemma 6.4", "0 < nu", blocks_and_whole)


@lemma("accuracy of the blocks", "Lemma 6.4", "0 < nu", c=1)
def accuracy(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E_d^n(xi) - E_d^n(z) <= c d for every z, where the blocks' errors at xi are at most d in the mean, and d >= 0."""
    g = w.function(None, 0, client=True, name="g*")
    xi, eta, s, z = (w.vector(name, True) for name in ("xi", "eta", "theta^", "z"))
    best = eta - bar(eta) - s * p.nu
    _, at_best = w.at(g, best, "exact block", g=s)
    (_, at_xi), (_, at_z) = w.at(g, xi, "theta at xi"), w.at(g, z, "theta at z")
    d = w.value("delta/N")

    w.assume("accuracy", block(p, eta, xi, at_xi) - block(p, eta, best, at_best) - d)
    w.assume("size", -d)
    return round_objective(p, eta, xi, at_xi) - round_objective(p, eta, z, at_z) - d * c.c


BLOCKS = [Step("sum, at most", SUM_BELOW), Step("sum, at least", SUM_ABOVE), Step("accuracy", accuracy)]

CLAIMS += [
    claim(
        "DUALFL-L6.4",
        "Lemma 6.4",
        "The blocks' objectives sum to E_d^n plus the constant (N/(2 nu)) ||mean eta||^2; blocks solved to delta_n/N "
        "solve (23) to delta_n.",
        BLOCKS,
        assumptions=["f_j mu-strongly convex, 0 < nu <= mu"],
        kind="identity",
    )
]
