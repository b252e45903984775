"""Theorems 3.2 and 3.3: local gaps as in (8) and (9), for every round (`algorithm_two` is about any errors)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Theorem
from paper_checks.dualfl import rounds
from paper_checks.dualfl.algorithm_two import (
    ADD_UP,
    END_ERRORS,
    LINEAR_ERRORS,
    LINEAR_SUM,
    LINEAR_TERMS,
    OF_END,
    OF_RANGE,
    PLAIN_ERRORS,
    PLAIN_SUM,
    PLAIN_TERMS,
    SIGNS,
    SMOOTH,
    SOLVED,
    fill,
    some,
)
from paper_checks.dualfl.bounds import dual_order, models, plain, plain_order
from paper_checks.dualfl.inertia import FIVE, FIVE_SMOOTH
from paper_checks.formulas import formula


def of_models(constant: str, share: Callable[..., Any], **more: str) -> str:
    """`models` at a constant, with the rate ``share`` of round m."""
    return formula(lambda V, nu, n, **rest: models(share(n, **rest), V, nu), V=constant, nu="nu", n="m", **more)


# ---- what (8) and (9) allow ---------------------------------------------------------------------------------------------------

#: what (8) allows with gamma = 2 g; what (9) allows, also with rho = 0
EIGHT = formula(lambda N, nu, g, n: allowed_gap(N, nu, 2 * g)(n), N="N", nu="nu", g="g", n="n")
NINE = formula(
    lambda N, nu, gamma, r, n: allowed_gap(N, nu, gamma, r**2)(n), N="N", nu="nu", gamma="gamma", r="r", n="n"
)
NINE_ZERO = formula(lambda N, nu, gamma, n: allowed_gap(N, nu, gamma, 0)(n), N="N", nu="nu", gamma="gamma", n="n")
#: a local gap bounds the error of the step; the start
BY_GAPS = """
  acc:    err[n] <= Gamma[n]                    by derivation
  vs:     0 <= V[n]                             by derivation
  begin:  U[0] <= V[0]                          by derivation
  root2:  sqrt(U[0])**2 <= sqrt(V[0])**2        by combine 1*begin
  root:   sqrt(U[0]) <= sqrt(V[0])              by root root2
"""
MODELS = """
  model:  theta2[n+1] <= 2/nu*gap[n+1]          by derivation
"""
VALUES = """
  zero:   0 <= theta2[n]                        by derivation
  values: E[n] <= L/2*theta2[n]                 by derivation
  first1: claim 1                               by combine 1*values(n=m)
  limit:  claim 3                               by squeeze zero(n=m), rate
"""

# ---- Theorem 3.2 ----------------------------------------------------------------------------------------------------------------

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
T32 = Theorem(
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

# ---- Theorem 3.3 with rho > 0 -------------------------------------------------------------------------------------------------

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
#: b = (1 + gamma)^(-1/2)
GAMMA = {"gamma": "1/b**2 - 1"}
T33 = Theorem(
    **OF_RANGE | {"region": f"{SMOOTH}, 0 < b < 1, 1 <= N", "where": GAMMA},
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
T33_END = replace(
    T33,
    **OF_END
    | {"region": "0 < nu, 0 < r < 1, 0 < b < 1, 1 <= N", "where": {"kappa": "1/r**2", "L": "kappa*nu", **GAMMA}},
    name="Theorem 3.3, rho = 1/kappa and nu = mu",
    rests={"dual": END_ERRORS},
)

# ---- Theorem 3.3 with rho = 0 ----------------------------------------------------------------------------------------------

SMOOTH_ERRORS = replace(
    PLAIN_ERRORS, region="0 < nu < L", states=rounds.ANY_SMOOTH, name="Algorithm 2, smooth clients, rho = 0"
)
T33_ZERO = replace(
    T33,
    name="Theorem 3.3, rho = 0",
    region="0 < nu < L, 0 < b < 1, 1 <= N",
    added=("nu < L",),
    states=rounds.ANY_SMOOTH,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    given={**FIVE, "gaps": f"Gamma[n] <= {NINE_ZERO}"},
    rests={"dual": SMOOTH_ERRORS},
    claim=(
        T33.claim[0],
        f"theta2[m] <= {of_models('(sqrt(V[0]) + 2*sqrt(2*nu/N)/(1 - b)**2)**2', plain)}",
        T33.claim[2],
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
