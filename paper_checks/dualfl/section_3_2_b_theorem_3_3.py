"""Section 3.2, Theorem 3.3: linear convergence under smoothness, its complexity, and what is said after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import DualAscent, DualFL
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Picture, Theorem, at_most, draw_bound, holds
from fedtheory.core.problem import objective
from fedtheory.measures.metrics import squared_distance, value
from fedtheory.measures.primal_dual import gap_of_dual_points, gap_of_dualfl
from fedtheory.measures.rates import fit_exponent
from fedtheory.running.runner import run
from paper_checks.dualfl import bounds, notation, rounds
from paper_checks.dualfl.acceleration import smooth
from paper_checks.dualfl.bounds import dual_order, linear, plain
from paper_checks.dualfl.certified_runs import (
    NOT_FALLING,
    bound_n2,
    draw_exact_runs,
    faults_of_runs,
    heterogeneity_at,
    squared_errors,
    theorem_runs,
)
from paper_checks.dualfl.drawn_runs import DIMENSION, ROUNDS, L, against_bound, draw, wrong_methods
from paper_checks.dualfl.notation import (
    ADD_UP,
    BY_CODE,
    BY_GAPS,
    CONVEX,
    EXACT,
    FIVE,
    FIVE_SMOOTH,
    GAMMA,
    LINEAR_SUM,
    LINEAR_TERMS,
    MODELS,
    NINE,
    OF_END,
    OF_RANGE,
    OF_SMOOTH,
    PLAIN_SUM,
    PLAIN_TERMS,
    RANGE_OF_RHO,
    SIGNS,
    SMOOTH,
    SOLVED,
    TO_START,
    claim,
    fill,
    of_models,
    some,
)
from paper_checks.dualfl.section_6_2_inexact_fista import END_ERRORS, LINEAR_ERRORS, PLAIN_ERRORS, PROPOSITION_6_3_EXACT
from paper_checks.formulas import formula
from paper_checks.steps import Step
from problems.chains import nesterov_chain

CLAIMS: list[Claim] = []

# ---- Theorem 3.3 -----------------------------------------------------------------------------------------------------

VALUES = """
  zero:   0 <= theta2[n]                        by derivation
  values: E[n] <= L/2*theta2[n]                 by derivation
  first1: claim 1                               by combine 1*values(n=m)
  limit:  claim 3                               by squeeze zero(n=m), rate
"""

#: those that (9) allows, for rho = r^2
LINEAR_SUMS = fill(
    SIGNS + BY_GAPS + LINEAR_TERMS + ADD_UP + MODELS,
    **LINEAR_SUM,
    SHARE="sqrt(1/N)",
    GIVEN="1*acc, 1*gaps",
    FIRST="sqrt(V[0])",
    LIMIT="(sqrt(1/N)/(1 - b))",
    FROM="1*root, (2*sqrt(2*nu))*terms, (2*sqrt(2*nu)*sqrt(1/N))*series",
)

#: nu^2 C of Theorem 3.3 for rho > 0, by the root of V
LINEAR_CONSTANT = "({} + 2*sqrt(2*nu)*sqrt(1/N)/(1 - b))**2/(1 - r)"
LINEAR_MODELS = f"theta2[m] <= {of_models(LINEAR_CONSTANT.format('sqrt(V[0])'), dual_order, r='r')}"

THEOREM_3_3 = Theorem(
    **OF_RANGE | {"region": f"{RANGE_OF_RHO}, 0 < b < 1, 1 <= N", "where": GAMMA},
    name="Theorem 3.3, 0 < rho <= nu/L",
    rounds={"n": 0, "k": 0, "T": 0, "m": 1},
    given={**FIVE_SMOOTH, "gaps": f"Gamma[n] <= {NINE}"},
    quantities=some("gap", "U", "err", "Gamma", "theta2", "V", "E"),
    rests={"dual": LINEAR_ERRORS},
    claim=("E[m] <= L/2*theta2[m]", LINEAR_MODELS, "theta2[m] -> 0 as m"),
    proof=LINEAR_SUMS
    + """
  rate:   claim 2               by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), ((1 - r)**(m - 1)/nu**2)*whole2(n=m-1)
    """
    + VALUES,
)

NINE_ZERO = formula(lambda N, nu, gamma, n: allowed_gap(N, nu, gamma, 0)(n), N="N", nu="nu", gamma="gamma", n="n")
SMOOTH_ERRORS = replace(
    PLAIN_ERRORS, region="0 < nu < L", states=rounds.ANY_SMOOTH, name="Algorithm 2, smooth clients, rho = 0"
)

THEOREM_3_3_ZERO = replace(
    THEOREM_3_3,
    name="Theorem 3.3, rho = 0",
    region="0 < nu < L, 0 < b < 1, 1 <= N",
    added=("nu < L",),
    states=rounds.ANY_SMOOTH,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    given={**FIVE, "gaps": f"Gamma[n] <= {NINE_ZERO}"},
    rests={"dual": SMOOTH_ERRORS},
    claim=(
        THEOREM_3_3.claim[0],
        f"theta2[m] <= {of_models('(sqrt(V[0]) + 2*sqrt(2*nu/N)/(1 - b)**2)**2', plain)}",
        THEOREM_3_3.claim[2],
    ),
    proof=fill(
        SOLVED
        + SIGNS
        + BY_GAPS
        + PLAIN_TERMS
        + """
  series: sum((k + 1)*b**k, k, 0, n) <= (1 - (n + 2)*b**(n + 1) + (n + 1)*b**(n + 2))/(1 - b)**2
             by induction n: base combine; step combine ih
  less:   (1 - (n + 2)*b**(n + 1) + (n + 1)*b**(n + 2))/(1 - b)**2 <= 1/(1 - b)**2                 by combine
        """
        + ADD_UP
        + MODELS
        + """
  rate:   claim 2               by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), (4/(nu**2*(m + 1)**2))*whole2(n=m-1)
        """
        + VALUES,
        **PLAIN_SUM,
        SHARE="sqrt(2*nu/N)",
        OF_N="(n + 1)*b**n",
        OF_K="(k + 1)*b**k",
        GIVEN="(2*nu*(n + 1)**2)*acc, (2*nu*(n + 1)**2)*gaps",
        FIRST="sqrt(V[0])",
        LIMIT="(sqrt(2*nu/N)/(1 - b)**2)",
        FROM="1*root, 2*terms, (2*sqrt(2*nu/N))*series, (2*sqrt(2*nu/N))*less",
    ),
)

CLAIMS += [
    claim(
        "DUALFL-T3.3a",
        "Theorem 3.3",
        [
            Clause(
                f"E(theta^(n)) - E* <= C ||theta^(n) - theta*||^2 <= C' {bounds.show(bounds.dual_order, 'n', 'r')} for 0 <= rho = r^2 <= nu/L, "
                "local gaps as in (9),",
                ("every round, rho > 0", "every round, rho = 0"),
            ),
            Clause("and theta^(n) -> theta*.", ("every round, rho > 0", "every round, rho = 0")),
        ],
        [Step("every round, rho > 0", THEOREM_3_3), Step("every round, rho = 0", THEOREM_3_3_ZERO), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "(9) for some gamma > 0", "nu < L, rho < 1"],
        readings=[
            BY_CODE,
            "'rho <= [0, nu/L]' and 'nu <= (0, mu]' are read as 'in'. For rho = 0 the rate is 1, and 1/n^2 is shown.",
        ],
        kind="rate",
        besides=partial(theorem_runs, smooth=True),
        faults=(*faults_of_runs("two clients"), NOT_FALLING),
    )
]


# ---- Theorem 3.3 with exact local solves -----------------------------------------------------------------------------

THEOREM_3_3_EXACT = replace(
    PROPOSITION_6_3_EXACT,
    name="Theorem 3.3 with exact local solves",
    quantities=some("gap", "U", "theta2", "E"),
    rests={"dual": PROPOSITION_6_3_EXACT},
    claim=("E[m] <= L/2*theta2[m]", f"theta2[m] <= {of_models('U[0]', linear, r='r')}"),
    proof=MODELS
    + """
  values: E[n] <= L/2*theta2[n]     by derivation
  first1: claim 1                   by combine 1*values(n=m)
  done:   claim 2                   by combine 1*model(n=m-1), (2/nu)*dual
    """,
)

CLAIMS += [
    claim(
        "DUALFL-T3.3a-EXACT",
        "Theorem 3.3 with exact local solves",
        "E(theta^(n)) - E* <= (L/2) ||theta^(n) - theta*||^2 and ||theta^(n) - theta*||^2 <= "
        f"{bounds.show_models(bounds.linear, 'n', 'r')} for 0 < rho = r^2 <= nu/L, n >= 1, V = mean_j ||xi_j*||^2.",
        [Step("every round", THEOREM_3_3_EXACT), OF_SMOOTH],
        assumptions=[CONVEX, "f_j L-smooth with nu < L", EXACT],
        readings=[
            BY_CODE,
            "U_0 is V for the start of Algorithm 2. The theorem prints 'rho <= [0, nu/L]', read as 'in'; with rho = 0 its rate is 1. It states the "
            "order (1 - sqrt(rho))^n, also for local solves as exact as (9): DUALFL-T3.3a. rho = 1/kappa and nu = mu (second part) is one case.",
        ],
        kind="rate",
        picture=partial(draw_exact_runs, smooth=True),
    )
]


# ---- Theorem 3.3, second part ----------------------------------------------------------------------------------------

THEOREM_3_3_END = replace(
    THEOREM_3_3,
    **OF_END
    | {"region": "0 < nu, 0 < r < 1, 0 < b < 1, 1 <= N", "where": {"kappa": "1/r**2", "L": "kappa*nu", **GAMMA}},
    name="Theorem 3.3, rho = 1/kappa and nu = mu",
    rests={"dual": END_ERRORS},
)

CLAIMS += [
    claim(
        "DUALFL-T3.3b",
        "Theorem 3.3, second part",
        f"E(theta^(n)) - E* <= C ||theta^(n) - theta*||^2 <= C' {bounds.show(bounds.dual_order, 'n', 'r')} with r = 1/sqrt(kappa), for rho = "
        "1/kappa and nu = mu, kappa = L/mu.",
        [Step("every round", THEOREM_3_3_END), OF_SMOOTH],
        assumptions=[
            CONVEX,
            SMOOTH,
            "(9) for some gamma > 0",
            "kappa > 1: for kappa = 1, (5) is 0/0 (and one round is exact)",
        ],
        readings=[
            BY_CODE,
            "With nu = mu the hypothesis (9) can be out of reach of iterative local solvers: DUALFL-G1.",
        ],
        kind="rate",
        besides=partial(theorem_runs, smooth=True),
        faults=(*faults_of_runs("two clients"), NOT_FALLING),
    )
]


# ---- Theorem 3.3, complexity -----------------------------------------------------------------------------------------

SUM, ENOUGH = "({} + 2*sqrt(2*nu)*sqrt(1/N)/(1 - b))", LINEAR_CONSTANT.format("v")

#: for every m and every eps[m] with r m >= log(C/eps[m]), where C is that of Theorem 3.3 with v for the root of V
SUFFICE = replace(
    THEOREM_3_3_END,
    name="Theorem 3.3, rounds that suffice",
    region=f"{THEOREM_3_3_END.region}, 0 <= v",
    rounds={"n": 0, "m": 1},
    quantities=notation.some("Gamma", "theta2", "V", "E"),
    sequences={**THEOREM_3_3_END.sequences, "eps": "0"},
    rests={"rate": THEOREM_3_3_END},
    given={**THEOREM_3_3_END.given, "start": "V[0] <= v**2", "enough": f"{ENOUGH}/nu**2 <= eps[m]*exp(r*m)"},
    claim=("theta2[m] <= eps[m]", "E[m] <= L/2*eps[m]"),
    proof=notation.fill(
        """
      tangent: 1 - r <= exp(-r)                 by exponential -r
      one:     (1 - r)*exp(r) <= 1              by combine exp(r)*tangent
      all:     (1 - r)**n*exp(r*n) <= 1         by induction n: base combine; step combine ((1 - r)*exp(r))*ih, 1*one
      vs:      0 <= V[n]                        by derivation
      root2:   sqrt(V[0])**2 <= v**2            by combine 1*start
      root:    sqrt(V[0]) <= v                  by root root2
      whole:   OLD**2 <= NEW**2                 by combine (OLD + NEW)*root
      models:  claim 1
                 by combine 1*rate_2, ((1 - r)**(m - 1)/nu**2)*whole, ((1 - r)**m)*enough, eps[m]*all(n=m)
      values:  claim 2                          by combine 1*rate_1, (L/2)*models
        """,
        OLD=SUM.format("sqrt(V[0])"),
        NEW=SUM.format("v"),
    ),
)

#: x = 4/(sqrt(kappa) - 1), q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1). On the chain with n + m links, mu = 1, L = kappa and ((kappa - 1)/4) (1 - q)
#: theta^2 added at its end, theta*_i = q^i solves inner rows and the last one. A model with n coordinates is ``head[n]`` away from theta* in
#: these and q^(2(n + i)) in the others; the distance is measured by ||theta*||^2, and q^(2m) -> 0
NEEDED = Theorem(
    name="Theorem 3.3, rounds that are needed",
    region="0 < x, 0 < q < 1",
    rounds={"n": 0, "m": 1, "i": 1},
    sequences={"head": "0"},
    where={"s": "1 + 4/x", "kappa": "s**2"},
    given={"ratio": "q*(2 + x) == 2"},
    claim=(
        "1 + q**2 == (2 + 4/(kappa - 1))*q",
        "1/q == 4/(kappa - 1) + 1 + (1 - q)",
        "exp(-x*n)*(1 - q**(2*m))*(sum(q**(2*i), i, 1, n) + sum(q**(2*(n + i)), i, 1, m)) <= head[n] + sum(q**(2*(n + i)), i, 1, m)",
    ),
    proof="""
  rows:   claim 1                                   by combine ((q - (2 + x)/2)/(2 + x))*ratio
  last:   claim 2                                   by combine ((q - (2 + x)/2)/((2 + x)*q))*ratio
  tangent: 1 + x/2 <= exp(x/2)                      by exponential x/2
  root:   1/q <= exp(x/2)                           by combine 1*tangent, (-1/(2*q))*ratio
  one:    exp(-x) <= q**2                           by combine (q**2*exp(-x)*(exp(x/2) + 1/q))*root
  falls:  exp(-x*n) <= q**(2*n)                     by induction n: base combine; step combine (q**2)*ih, exp(-x*n)*one
  first:  (1 - q**2)*sum(q**(2*i), i, 1, n) == q**2*(1 - q**(2*n))                    by induction n: base combine; step combine 1*ih
  others: (1 - q**2)*sum(q**(2*(n + i)), i, 1, m) == q**(2*n + 2)*(1 - q**(2*m))      by induction m: base combine; step combine 1*ih
  done:   claim 3
            by combine (q**2*(1 - q**(2*m))/(1 - q**2))*falls, (exp(-x*n)*(1 - q**(2*m))/(1 - q**2))*first,
                       (-(1 - exp(-x*n)*(1 - q**(2*m)))/(1 - q**2))*others
    """,
)

SLOW = ("dual ascent", "gradient descent")


def chain_runs(context: Context, *, fast: str = "DualFL", reach: float = 1.0) -> Iterator[Finding]:
    """Rounds to 1e-6 on the lower-bound chain against kappa: DualFL, and without inertia in the dual and in the primal; the floor q^(2n)."""
    kappas, slack = (10, 25, 60, 150, 350), []
    counts = {name: [smooth(of, k) for k in kappas] for name, of in {"DualFL": fast, **{n: n for n in SLOW}}.items()}
    fits = {name: fit_exponent(kappas, np.array(c), slice(0, 5)) for name, c in counts.items()}
    told = "; ".join(
        f"{n}: {', '.join(f'{v:.0f}' for v in counts[n])}, power {fit.rate:.3f}" for n, fit in fits.items()
    )
    slow = min(fits[name].low for name in SLOW)
    yield at_most("power of kappa", [fits["DualFL"].high, 0.85], [0.65, slow], "numeric", told)
    for kappa in kappas:
        chain = nesterov_chain(120, L=kappa, mu=1.0)
        x_star = chain.solution()
        tails = np.array([np.sum(x_star[int(reach * n) :] ** 2) for n in range(1, 31)])
        slack.append(tails / squared_errors(DualFL(1.0, 1 / kappa), chain, x_star, 30))
    text = (
        "after n rounds the model has at most its first n coordinates, so that ||theta^(n) - theta*||^2 >= sum_{i>n} "
        "theta*_i^2 ~ q^(2n) ||theta*||^2, q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1)"
    )
    yield at_most("support", slack, 1.0, "numeric", text, error=1e-9)
    order = [10 * (k / 10) ** 0.5 for k in kappas]
    about = "DualFL with nu = mu, rho = 1/kappa on Nesterov's chain with 80 links, two clients; claimed: the order sqrt(kappa)"
    title, more = "Rounds to a relative squared distance of 1e-6", [*counts.items()]
    yield draw_bound(title, kappas, order, xlabel="kappa", ylabel="rounds", about=about, more=more, logx=True)


CLAIMS += [
    claim(
        "DUALFL-T3.3c",
        "Theorem 3.3, complexity",
        [
            Clause("O(sqrt(kappa) log(1/eps)) rounds suffice for rho = 1/kappa and nu = mu,", ("upper bound",)),
            Clause("which is the optimal order for smooth strongly convex costs.", ("lower bound",)),
        ],
        [Step("upper bound", SUFFICE), Step("lower bound", NEEDED), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "(9)", "kappa > 1"],
        readings=[
            "Optimal is read as in Arjevani and Shamir, whom the sentence cites: among methods whose models gain one coordinate of the chain a "
            "communication, whatever their local work. Of DualFL this is seen on the chain. With n coordinates a model is off by exp(-x n) (1 - "
            "q^(2m)) of ||theta*||^2 or more, x = 4/(sqrt(kappa) - 1), so that ((sqrt(kappa) - 1)/4) log(1/(2 eps)) rounds are needed where m is "
            "large."
        ],
        kind="rate",
        besides=chain_runs,
        faults=(
            Fault("no inertia", "power of kappa", {"fast": "dual ascent"}),
            Fault("half a coordinate a round", "support", {"reach": 0.5}),
        ),
    )
]


# ---- After Theorem 3.3 -----------------------------------------------------------------------------------------------

THEOREM_3_3_EXPLICIT = replace(
    THEOREM_3_3_EXACT,
    name="Theorem 3.3 with constants",
    quantities=some("theta2", "U", "V", "E"),
    rests={"xi": THEOREM_3_3_EXACT},
    claim=("E[m] <= L/2*theta2[m]", f"theta2[m] <= {of_models('V[0]', linear, r='r')}"),
    proof=f"begin: {TO_START}\nvalues: claim 1 by combine 1*xi_1\ndone: claim 2 by combine 1*xi_2, ((1 - r)**(m - 1)/nu**2)*begin",
)

#: shares of nu/L that rho takes, shares of mu that nu takes
RHOS, NUS = (1.0, 1 / 4, 1 / 16), (1.0, 1 / 2, 1 / 10)


@dataclass(frozen=True, eq=False)
class GapCurves:
    """A run on the lower-bound chain by rounds 1, ..., R: the energy error, the duality gap, and the bounds of the gap and of the error."""

    rounds: NDArray[np.int64]
    energy: NDArray[np.float64]
    gap: NDArray[np.float64]
    bound: NDArray[np.float64]


@cache
def gap_curves(kappa: int, momentum: bool = True, rounds: int = 120) -> GapCurves:
    """DualFL with nu = mu/2, so that all conjugates are finite, and rho = nu/L; or the same without momentum, plain dual ascent."""
    nu = L / kappa / 2
    rho = nu / L
    problem = nesterov_chain(40, L=L, mu=2 * nu)
    star = problem.solution()[None, :]
    least = float(objective(problem, star))
    if momentum:
        method: Any = DualFL(nu, rho)
        metrics = {"gap": gap_of_dualfl(nu), "value": value}
    else:
        method = DualAscent(nu, None)
        metrics = {"gap": gap_of_dual_points("s_i"), "value": value}
    trace = run(method, problem, np.zeros(problem.d), rounds, metrics=metrics)
    n = trace.rounds[1:]
    bound = bound_n2(n, nu, rho, heterogeneity_at(problem, star[0])) * (L + nu) / 2
    return GapCurves(n, trace["value"][1:] - least, trace["gap"][1:], bound)


def draw_gaps(kappa: int) -> Picture:
    """Return the error, the gap and the bound of DualFL, and the gap without momentum."""
    found, plain = gap_curves(kappa), gap_curves(kappa, momentum=False)
    curves = {"energy error": found.energy, "duality gap": found.gap, "gap of plain dual ascent": plain.gap}
    more = [(label, np.maximum(y, 1e-16)) for label, y in curves.items()]
    about = f"DualFL with nu = mu/2, rho = nu/L on the chain with 40 links, kappa = {kappa}"
    return draw_bound(
        "The duality gap and its bound", found.rounds, found.bound, ylabel="energy", about=about, more=more
    )


def rate_runs(ctx: Context, *, method: Any = DualFL) -> Iterator[Finding]:
    """Runs over a grid of nu and rho, and what happens for larger rho."""
    mu = 1 / 50
    problem, chain = draw(ctx, mu), nesterov_chain(40, L=L, mu=mu)
    for share in NUS:
        for part in RHOS:
            nu = share * mu
            name = f"nu = {share:g} mu, rho = {part:g} nu/L"
            yield against_bound(ctx, method, problem, nu, part * nu / L, name, "ten draws, 150 rounds, kappa = 50")
            text = "the lower-bound chain with 40 links, 150 rounds, kappa = 50"
            yield against_bound(ctx, method, chain, nu, part * nu / L, f"chain, {name}", text)
    curves = gap_curves(50)
    text = "E(theta) + E_d(xi)/N on the chain, 120 rounds, kappa = 50, nu = mu/2"
    room = 1e-14 * float(curves.gap[0])
    yield at_most("duality gap", curves.gap, curves.bound, "numeric", text, error=room)
    yield at_most(
        "the gap bounds the error", curves.energy, curves.gap, "numeric", "E(theta) - E* <= the gap", error=room
    )
    yield draw_gaps(50)
    star = problem.solution()[:, None, :]
    rho = 50 * mu / L * 0.9
    trace = run(DualFL(mu, rho), problem, np.zeros((10, DIMENSION)), ROUNDS, metrics={"d": squared_distance(star)})
    slow = (trace["d"][:, -1] / trace["d"][:, 50]) ** (1 / (ROUNDS - 50))
    text = f"rho = 45 nu/L: factor {slow.max():.3f} a round at worst, 1 - sqrt(rho) is {1 - rho**0.5:.3f}"
    yield holds("beyond the range", (slow <= 1 - rho**0.5).all(), "numeric", text, role="reading")


CLAIMS += [
    claim(
        "DUALFL-C3",
        "after Theorem 3.3",
        "DualFL is linearly convergent with the rate 1 - sqrt(rho) even if its hyper-parameters are not chosen optimally.",
        [Step("every choice in the range", THEOREM_3_3_EXPLICIT), OF_SMOOTH],
        assumptions=[CONVEX, "f_j L-smooth with nu < L", "0 < rho <= nu/L", EXACT],
        readings=[
            BY_CODE,
            "The factor is 1 - sqrt(rho) for every nu in (0, mu] and rho in (0, nu/L], not for the best ones alone; larger rho, which the "
            "experiments use, are outside.",
        ],
        kind="rate",
        besides=rate_runs,
        faults=wrong_methods("nu = 1 mu, rho = 1 nu/L"),
    )
]
