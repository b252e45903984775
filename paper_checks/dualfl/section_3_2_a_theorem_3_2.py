"""Section 3.2, Theorem 3.2: convergence without smoothness, with local solves to (8) and with exact ones."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fedtheory.claims import Claim, Theorem
from paper_checks.dualfl import bounds, rounds
from paper_checks.dualfl.bounds import plain, plain_order
from paper_checks.dualfl.certified_runs import NOT_FALLING, draw_exact_runs, faults_of_runs, theorem_runs
from paper_checks.dualfl.notation import (
    ADD_UP,
    BY_CODE,
    BY_GAPS,
    CONVEX,
    EIGHT,
    EXACT,
    FIVE,
    GROWS,
    MODELS,
    PLAIN_SUM,
    PLAIN_TERMS,
    SIGNS,
    SOLVED,
    STATES,
    claim,
    fill,
    of_models,
    some,
)
from paper_checks.dualfl.section_6_2_inexact_fista import PLAIN_ERRORS, PROPOSITION_6_2_STEP
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Theorem 3.2 -----------------------------------------------------------------------------------------------------

#: the errors that (8) allows add up: ``whole2``
PLAIN_SUMS = fill(
    SOLVED
    + SIGNS
    + BY_GAPS
    + PLAIN_TERMS
    + """
  tangent: 1 + g/(n + 2) <= ((n + 1)/(n + 2))**(-g)             by bernoulli -1/(n + 2), -g
  series: sum((k + 1)**(-1 - g), k, 0, n) <= 1 + 1/g - (n + 1)**(-g)/g
             by induction n: base combine; step combine 1*ih, ((n + 2)**(-g)/g)*tangent
        """
    + ADD_UP
    + MODELS,
    **PLAIN_SUM,
    SHARE="sqrt(2/N)",
    OF_N="(n + 1)**(-1 - g)",
    OF_K="(k + 1)**(-1 - g)",
    GIVEN="(2*nu*(n + 1)**2)*acc, (2*nu*(n + 1)**2)*gaps",
    FIRST="sqrt(V[0])",
    LIMIT="(sqrt(2/N)*(1 + 1/g))",
    FROM="1*root, 2*terms, (2*sqrt(2/N))*series",
)

THEOREM_3_2 = Theorem(
    name="Theorem 3.2",
    region="0 < nu, 0 < g, 1 <= N",
    auxiliary="0 < s",
    rounds={"n": 0, "k": 0, "T": 0, "m": 1},
    states=rounds.ANY,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    given={**FIVE, "gaps": f"Gamma[n] <= {EIGHT}"},
    quantities=some("gap", "U", "err", "Gamma", "theta2", "V"),
    rests={"dual": PLAIN_ERRORS},
    claim=f"theta2[m] <= {of_models('4*(sqrt(V[0]) + 2*sqrt(2/N)*(1 + 1/g))**2', plain_order)}",
    proof=PLAIN_SUMS
    + """
  done:   claim             by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), (4/(nu**2*(m + 1)**2))*whole2(n=m-1)
    """,
)

CLAIMS += [
    claim(
        "DUALFL-T3.2",
        "Theorem 3.2",
        f"||theta^(n) - theta*||^2 <= C {bounds.show(bounds.plain_order, 'n')} for rho = 0, local gaps as in (8), no smoothness.",
        [Step("every round", THEOREM_3_2)],
        assumptions=[CONVEX, "(8) for some gamma > 0"],
        readings=[
            BY_CODE,
            "'n >= 0' with 1/n^2 is read as n >= 1. C is explicit; V = mean_j ||s_j*||^2; of (8) its mean over clients is used.",
        ],
        kind="rate",
        besides=partial(theorem_runs, smooth=False),
        faults=(*faults_of_runs("total variation chain"), NOT_FALLING),
    )
]


# ---- Theorem 3.2 with exact local solves -----------------------------------------------------------------------------

THEOREM_3_2_EXACT = replace(
    PROPOSITION_6_2_STEP,
    name="Theorem 3.2 with exact local solves",
    rounds={"n": 0, "m": 1},
    given=FIVE,
    quantities=some("gap", "A", "U", "theta2"),
    claim=f"theta2[m] <= {of_models('U[0]', plain)}",
    proof=SOLVED
    + GROWS
    + STATES
    + MODELS
    + """
  round:  2*nu*t[n]**2*gap[n+1] + U[n+1] <= 2*nu*t[n]*A[n] + U[n]     by derivation
  all:    2*nu*t[n]**2*gap[n+1] + U[n+1] <= U[0]
             by induction n: base combine 1*round(n=0), (2*nu*t[0])*none;
                             step combine 1*ih, 1*round(n=n+1), (2*nu*gap[n+1])*five, (2*nu*t[n+1])*is
  values: nu*(n + 2)**2/2*gap[n+1] <= U[0]      by combine 1*all, 1*far(n=n+1), (2*nu*(t[n] + (n + 2)/2)*gap[n+1])*grows
  done:   claim                                 by combine 1*model(n=m-1), (4/(nu**2*(m + 1)**2))*values(n=m-1)
    """,
)

CLAIMS += [
    claim(
        "DUALFL-T3.2-EXACT",
        "Theorem 3.2 with exact local solves",
        f"||theta^(n) - theta*||^2 <= {bounds.show_models(bounds.plain, 'n')} for rho = 0 and n >= 1, V = mean_j ||xi_j*||^2, xi_j* = s_j* - nu "
        "theta* with subgradients s_j* of f_j at theta* whose sum is 0.",
        [Step("every round", THEOREM_3_2_EXACT)],
        assumptions=[CONVEX, EXACT],
        readings=[
            BY_CODE,
            "U_0 = mean_j ||eta_j^0 - xi_j*||^2, which is V for the start eta^0 = xi^0 = 0 of Algorithm 2. The theorem states the order 1/n^2, also "
            "for local solves as exact as (8): DUALFL-T3.2.",
        ],
        kind="rate",
        picture=partial(draw_exact_runs, smooth=False),
    )
]
