"""Theorems 3.2 and 3.3, and Propositions 6.2 and 6.3 behind them, for every round (`rounds` says what a round is, `inertia` where t_n lies)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Theorem
from paper_checks.dualfl import rounds
from paper_checks.dualfl.bounds import dual_order, linear, models, plain, plain_order, variates
from paper_checks.dualfl.inertia import FIVE, FIVE_SMOOTH, solved
from paper_checks.formulas import formula

QUANTITIES = {
    "gap": "gap",
    "A": "A",
    "U": "mean(norm2(u))",
    "Uh": "mean(norm2(u_best))",
    "d2": "mean(norm2(apart))",
    "err": "error",
    "Gamma": "Gamma",
    "theta2": "norm2(x)",
    "V": "mean(norm2(s_star))",
    "E": "mean(g(x)) + nu/2*norm2(x) - mean(g(x_star))",
}


def some(*names: str) -> dict[str, str]:
    """Quantities by name."""
    return {name: QUANTITIES[name] for name in names}


#: what is so of every state, and of every round
STATES = """
  far:    0 <= U[n]                             by derivation
  before: 0 <= A[n]                             by derivation
  low:    0 <= gap[n+1]                         by derivation
  is:     A[n+1] == (t[n+1] - 1)*gap[n+1]       by identity
  none:   A[0] == 0                             by identity
"""
#: an inexact step: ``some``, ``moved`` and ``step`` with a factor of errors and one of the old potential
INEXACT = """
  hat:    0 <= Uh[n]                            by derivation
  near:   0 <= d2[n]                            by derivation
  some:   d2[n] <= 2*nu*w*err[n]                by derivation
  acc:    0 <= err[n]                           by combine (1/(2*nu*w))*some, (1/(2*nu*w))*near
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


def fill(script: str, **texts: str) -> str:
    """A script with formulas in the place of words in capitals."""
    return re.sub(rf"\b({'|'.join(texts)})\b", lambda found: texts[found[0]], script)


def of_models(constant: str, share: Callable[..., Any], **more: str) -> str:
    """`models` at a constant, with the rate ``share`` of round m."""
    return formula(lambda V, nu, n, **rest: models(share(n, **rest), V, nu), V=constant, nu="nu", n="m", **more)


# ---- rho = 0 ------------------------------------------------------------------------------------------------------------

SOLVED = f"\n  five:   {solved()}"
GROWS = """
  grows:  (n + 2)/2 <= t[n]     by induction n: base combine first; step combine (-1)*five, (t[n] + (n + 2)/2)*ih times t[n+1] + (n + 1)/2
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

# ---- rho = r^2 ----------------------------------------------------------------------------------------------------------

SOLVED_SMOOTH = f"\n  five:   {solved('r**2')}"
SMOOTH = "0 < nu, 0 < r < 1, nu < L <= nu/r**2"
#: at the ends (5) is 0/0, or G_d has no class; the paper prints 0 <= rho <= nu/L and nu <= mu
OFF_THE_ENDS = ("nu < L", "r < 1")
OF_RANGE: dict[str, Any] = {
    "region": SMOOTH,
    "auxiliary": "0 < s",
    "states": rounds.ANY_RANGE,
    "assumed": rounds.FENCHEL_SMOOTH,
    "sequences": {"t": "1..1/r"},
    "added": OFF_THE_ENDS,
}
#: the end rho = 1/kappa of the range, for nu = mu and L = kappa mu
OF_END = OF_RANGE | {"region": "0 < nu, 0 < r < 1", "states": rounds.ANY_END, "added": ("r < 1",)}
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
SMOOTH_STEPS = fill(
    SOLVED_SMOOTH
    + STATES
    + INEXACT
    + """
  after:  NEW**2 <= (OLD/t[n] + 2*SMALL)**2     by combine (1/t[n]**2)*both
  psi:    NEW <= OLD/t[n] + 2*SMALL             by root after
  falls2: (LATER/t[n+1])**2 <= (sqrt(1 - r)*NEW)**2
             by combine (-U[n+1]/(t[n]**2*t[n+1]**2))*five, (2*nu*w/t[n+1])*is
  falls:  LATER/t[n+1] <= sqrt(1 - r)*NEW       by root falls2
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
    proof=SMOOTH_STEPS
    + fill(
        """
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

# ---- the errors that the paper allows -------------------------------------------------------------------------------------

#: what (8) allows with gamma = 2 g; what (9) allows, also with rho = 0
EIGHT = formula(lambda N, nu, g, n: allowed_gap(N, nu, 2 * g)(n), N="N", nu="nu", g="g", n="n")
NINE = formula(
    lambda N, nu, gamma, r, n: allowed_gap(N, nu, gamma, r**2)(n), N="N", nu="nu", gamma="gamma", r="r", n="n"
)
NINE_ZERO = formula(lambda N, nu, gamma, n: allowed_gap(N, nu, gamma, 0)(n), N="N", nu="nu", gamma="gamma", n="n")
#: a local gap bounds the error of the step; the start; the errors' sum SUM is at most LIMIT by ``terms`` and ``series``, times FACTOR
BY_GAPS = """
  acc:    err[n] <= Gamma[n]                    by derivation
  sign:   0 <= err[n]                           by derivation
  far:    0 <= U[n]                             by derivation
  vs:     0 <= V[n]                             by derivation
  begin:  U[0] <= V[0]                          by derivation
  start2: sqrt(U[0])**2 <= sqrt(V[0])**2        by combine 1*begin
  start:  sqrt(U[0]) <= sqrt(V[0])              by root start2
"""
ADD_UP = """
  whole:  sqrt(U[0]) + FACTOR*SUM <= FIRST + FACTOR*LIMIT              by combine FROM
  whole2: (sqrt(U[0]) + FACTOR*SUM)**2 <= (FIRST + FACTOR*LIMIT)**2    by combine (sqrt(U[0]) + FACTOR*SUM + FIRST + FACTOR*LIMIT)*whole
"""
MODELS = """
  model:  theta2[n+1] <= 2/nu*gap[n+1]          by derivation
"""
#: the errors that (8) allows add up: ``whole2``
PLAIN_SUMS = fill(
    SOLVED
    + BY_GAPS
    + """
  least:  t[n] <= n + 1     by induction n: base combine first; step combine 1*five, (t[n] + n + 1)*ih times t[n+1] + n + 1
  term2:  sqrt(2*nu*t[n]**2*err[n])**2 <= (sqrt(2/N)*(n + 1)**(-1 - g))**2
             by combine (2*nu*err[n]*(t[n] + n + 1))*least, (2*nu*(n + 1)**2)*acc, (2*nu*(n + 1)**2)*gaps
  term:   sqrt(2*nu*t[n]**2*err[n]) <= sqrt(2/N)*(n + 1)**(-1 - g)      by root term2
  terms:  SUM <= sqrt(2/N)*sum((k + 1)**(-1 - g), k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, 1*term(n=n+1)
  tangent: 1 + g/(n + 2) <= ((n + 1)/(n + 2))**(-g)             by bernoulli -1/(n + 2), -g
  series: sum((k + 1)**(-1 - g), k, 0, n) <= 1 + 1/g - (n + 1)**(-g)/g
             by induction n: base combine; step combine 1*ih, ((n + 2)**(-g)/g)*tangent
        """
    + ADD_UP
    + MODELS,
    FACTOR="2",
    SUM="sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n)",
    FIRST="sqrt(V[0])",
    LIMIT="(sqrt(2/N)*(1 + 1/g))",
    FROM="1*start, 2*terms, (2*sqrt(2/N))*series",
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
P62 = Theorem(
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
        + """
  sign:   0 <= err[n]       by derivation
  far:    0 <= U[n]         by derivation
  least:  t[n] <= n + 1     by induction n: base combine first; step combine 1*five, (t[n] + n + 1)*ih times t[n+1] + n + 1
  term2:  sqrt(2*nu*t[n]**2*err[n])**2 <= (sqrt(2*nu)*sqrt(b[n]))**2
             by combine (2*nu*err[n]*(t[n] + n + 1))*least, (2*nu*(n + 1)**2)*errors
  term:   sqrt(2*nu*t[n]**2*err[n]) <= sqrt(2*nu)*sqrt(b[n])                  by root term2
  terms:  SUM <= sqrt(2*nu)*sum(sqrt(b[k]), k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, 1*term(n=n+1)
        """
        + ADD_UP
        + """
  done:   claim             by combine 1*dual(T=m-1), (2/(nu*(m + 1)**2))*whole2(n=m-1)
        """,
        FACTOR="2",
        SUM="sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n)",
        FIRST="sqrt(U[0])",
        LIMIT="(sqrt(2*nu)*B)",
        FROM="2*terms, (2*sqrt(2*nu))*finite(T=n)",
    ),
)
P63 = Theorem(
    **OF_RANGE | {"region": f"{SMOOTH}, 0 < b < 1", "where": {"a": "(1 - r)*b**2"}},
    name="Proposition 6.3",
    rounds={"n": 0, "k": 0, "T": 0, "m": 1},
    given={**FIVE_SMOOTH, "errors": "err[n] <= a**n"},
    quantities=some("gap", "U", "err"),
    rests={"dual": LINEAR_ERRORS},
    claim=f"gap[m] <= {formula(dual_order, n='m', r='r')}*(sqrt(U[0]) + 2*sqrt(2*nu)/(1 - b))**2/(2*nu*(1 - r))",
    proof=fill(
        """
  sign:   0 <= err[n]       by derivation
  far:    0 <= U[n]         by derivation
  term2:  sqrt(err[n])**2 <= ((1 - r)**(n/2)*b**n)**2                         by combine 1*errors
  term:   sqrt(err[n]) <= (1 - r)**(n/2)*b**n                                 by root term2
  terms:  SUM <= sum(b**k, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, ((1 - r)**(-(n + 1)/2))*term(n=n+1)
  series: sum(b**k, k, 0, n) <= (1 - b**(n + 1))/(1 - b)                      by induction n: base combine; step combine ih
        """
        + ADD_UP
        + """
  done:   claim             by combine 1*dual(T=m-1), ((1 - r)**(m - 1)/(2*nu))*whole2(n=m-1)
        """,
        FACTOR="2*sqrt(2*nu)",
        SUM="sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n)",
        FIRST="sqrt(U[0])",
        LIMIT="(1/(1 - b))",
        FROM="(2*sqrt(2*nu))*terms, (2*sqrt(2*nu))*series",
    ),
)

BY_NINE = """
  term2:  sqrt(err[n])**2 <= (sqrt(1/N)*(1 - r)**(n/2)*b**n)**2               by combine 1*acc, 1*gaps
  term:   sqrt(err[n]) <= sqrt(1/N)*(1 - r)**(n/2)*b**n                       by root term2
  terms:  SUM <= sqrt(1/N)*sum(b**k, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, ((1 - r)**(-(n + 1)/2))*term(n=n+1)
  series: sum(b**k, k, 0, n) <= (1 - b**(n + 1))/(1 - b)                      by induction n: base combine; step combine ih
"""
LINEAR_SUMS = fill(
    BY_GAPS + BY_NINE + ADD_UP + MODELS,
    FACTOR="2*sqrt(2*nu)",
    SUM="sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n)",
    FIRST="sqrt(V[0])",
    LIMIT="(sqrt(1/N)/(1 - b))",
    FROM="1*start, (2*sqrt(2*nu))*terms, (2*sqrt(2*nu)*sqrt(1/N))*series",
)
#: nu^2 C of Theorem 3.3 for rho > 0, by the root of V
LINEAR_CONSTANT = "({} + 2*sqrt(2*nu)*sqrt(1/N)/(1 - b))**2/(1 - r)"
LINEAR_MODELS = f"theta2[m] <= {of_models(LINEAR_CONSTANT.format('sqrt(V[0])'), dual_order, r='r')}"
LINEAR: dict[str, Any] = {
    "rounds": {"n": 0, "k": 0, "T": 0, "m": 1},
    "given": {**FIVE_SMOOTH, "gaps": f"Gamma[n] <= {NINE}"},
    "quantities": some("gap", "U", "err", "Gamma", "theta2", "V", "E"),
    "proof": LINEAR_SUMS
    + """
  zero:   0 <= theta2[n]        by derivation
  values: E[n] <= L/2*theta2[n] by derivation
  first1: claim 1               by combine 1*values(n=m)
  rate:   claim 2               by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), ((1 - r)**(m - 1)/nu**2)*whole2(n=m-1)
  limit:  claim 3               by squeeze zero(n=m), rate
    """,
}
#: b = (1 + gamma)^(-1/2)
GAMMA = {"gamma": "1/b**2 - 1"}
T33 = Theorem(
    **OF_RANGE | LINEAR | {"region": f"{SMOOTH}, 0 < b < 1, 1 <= N", "where": GAMMA},
    name="Theorem 3.3, 0 < rho <= nu/L",
    rests={"dual": LINEAR_ERRORS},
    claim=(
        "E[m] <= L/2*theta2[m]",
        LINEAR_MODELS,
        "theta2[m] -> 0 as m",
    ),
)
T33_END = Theorem(
    **OF_END
    | LINEAR
    | {"region": "0 < nu, 0 < r < 1, 0 < b < 1, 1 <= N", "where": {"kappa": "1/r**2", "L": "kappa*nu", **GAMMA}},
    name="Theorem 3.3, rho = 1/kappa and nu = mu",
    rests={"dual": END_ERRORS},
    claim=(
        "E[m] <= L/2*theta2[m]",
        LINEAR_MODELS,
        "theta2[m] -> 0 as m",
    ),
)

# ---- Theorem 3.3 with rho = 0 ----------------------------------------------------------------------------------------------

SMOOTH_ERRORS = replace(
    PLAIN_ERRORS, region="0 < nu < L", states=rounds.ANY_SMOOTH, name="Algorithm 2, smooth clients, rho = 0"
)
T33_ZERO = Theorem(
    name="Theorem 3.3, rho = 0",
    region="0 < nu < L, 0 < b < 1, 1 <= N",
    added=("nu < L",),
    auxiliary="0 < s",
    rounds={"n": 0, "k": 0, "T": 0, "m": 1},
    states=rounds.ANY_SMOOTH,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    where=GAMMA,
    given={**FIVE, "gaps": f"Gamma[n] <= {NINE_ZERO}"},
    quantities=some("gap", "U", "err", "Gamma", "theta2", "V", "E"),
    rests={"dual": SMOOTH_ERRORS},
    claim=(
        "E[m] <= L/2*theta2[m]",
        f"theta2[m] <= {of_models('(sqrt(V[0]) + 2*sqrt(2*nu/N)/(1 - b)**2)**2', plain)}",
        "theta2[m] -> 0 as m",
    ),
    proof=fill(
        SOLVED
        + BY_GAPS
        + """
  least:  t[n] <= n + 1     by induction n: base combine first; step combine 1*five, (t[n] + n + 1)*ih times t[n+1] + n + 1
  term2:  sqrt(2*nu*t[n]**2*err[n])**2 <= (sqrt(2*nu/N)*(n + 1)*b**n)**2
             by combine (2*nu*err[n]*(t[n] + n + 1))*least, (2*nu*(n + 1)**2)*acc, (2*nu*(n + 1)**2)*gaps
  term:   sqrt(2*nu*t[n]**2*err[n]) <= sqrt(2*nu/N)*(n + 1)*b**n              by root term2
  terms:  SUM <= sqrt(2*nu/N)*sum((k + 1)*b**k, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, 1*term(n=n+1)
  series: sum((k + 1)*b**k, k, 0, n) <= (1 - (n + 2)*b**(n + 1) + (n + 1)*b**(n + 2))/(1 - b)**2
             by induction n: base combine; step combine ih
  less:   (1 - (n + 2)*b**(n + 1) + (n + 1)*b**(n + 2))/(1 - b)**2 <= 1/(1 - b)**2                 by combine
        """
        + ADD_UP
        + MODELS
        + """
  zero:   0 <= theta2[n]        by derivation
  values: E[n] <= L/2*theta2[n] by derivation
  first1: claim 1               by combine 1*values(n=m)
  rate:   claim 2               by combine 1*model(n=m-1), (2/nu)*dual(T=m-1), (4/(nu**2*(m + 1)**2))*whole2(n=m-1)
  limit:  claim 3               by squeeze zero(n=m), rate
        """,
        FACTOR="2",
        SUM="sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n)",
        FIRST="sqrt(V[0])",
        LIMIT="(sqrt(2*nu/N)/(1 - b)**2)",
        FROM="1*start, 2*terms, (2*sqrt(2*nu/N))*series, (2*sqrt(2*nu/N))*less",
    ),
)

# ---- exact local solves ------------------------------------------------------------------------------------------------------

ROUNDS = {"n": 0, "m": 1}
PLAIN_EXACT = Theorem(
    name="Theorem 3.2 with exact local solves",
    region="0 < nu",
    rounds=ROUNDS,
    states=rounds.EXACT,
    assumed=rounds.FENCHEL,
    sequences={"t": "1"},
    given=FIVE,
    quantities=some("gap", "A", "U", "theta2"),
    claim=f"theta2[m] <= {of_models('U[0]', plain)}",
    proof=SOLVED
    + GROWS
    + STATES.replace("  before: 0 <= A[n]                             by derivation\n", "")
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
STEP = replace(
    PLAIN_EXACT,
    name="Proposition 6.2, one exact step",
    rounds={"n": 0},
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
TO_START = "U[0] <= V[0]                          by derivation"
PLAIN_EXPLICIT = replace(
    PLAIN_EXACT,
    name="Theorem 3.2 with constants",
    quantities=some("theta2", "U", "V"),
    rests={"xi": PLAIN_EXACT},
    claim=f"theta2[m] <= {of_models('V[0]', plain)}",
    proof=f"begin: {TO_START}\ndone: claim by combine 1*xi, (4/(nu**2*(m + 1)**2))*begin",
)
LINEAR_DUAL = Theorem(
    **OF_RANGE | {"states": rounds.EXACT_RANGE, "auxiliary": ""},
    name="Proposition 6.3 with exact steps",
    rounds=ROUNDS,
    given=FIVE_SMOOTH,
    quantities=some("gap", "A", "U"),
    claim=f"gap[m] <= {formula(linear, n='m', r='r')}*U[0]/(2*nu)",
    proof=fill(
        SOLVED_SMOOTH
        + STATES.replace("  before: 0 <= A[n]                             by derivation\n", "")
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
LINEAR_EXACT = replace(
    LINEAR_DUAL,
    name="Theorem 3.3 with exact local solves",
    quantities=some("gap", "U", "theta2", "E"),
    rests={"dual": LINEAR_DUAL},
    claim=("E[m] <= L/2*theta2[m]", f"theta2[m] <= {of_models('U[0]', linear, r='r')}"),
    proof=MODELS
    + """
  values: E[n] <= L/2*theta2[n]     by derivation
  first1: claim 1                   by combine 1*values(n=m)
  done:   claim 2                   by combine 1*model(n=m-1), (2/nu)*dual
    """,
)
#: nu zeta_j and nu z_j, what the inertia acts on, against s_j*
VARIATES_EXACT = replace(
    LINEAR_DUAL,
    name="control variates with exact local solves",
    quantities=some("gap", "U", "V") | {"Z": "mean(norm2(nu*zeta - s_star))", "S": "mean(norm2(nu*z - s_star))"},
    rests={"dual": LINEAR_DUAL},
    claim=(f"Z[m+1] <= {formula(variates, n='(m + 1)', r='r', V='V[0]')}", "Z[m+1] -> 0 as m"),
    proof=fill(
        """
  begin:  U[0] <= V[0]                                              by derivation
  zero:   0 <= Z[n+1]                                               by derivation
  apart:  0 <= S[n]                                                 by derivation
  vs:     0 <= V[n]                                                 by derivation
  near:   S[n+1] <= 2*nu/r**2*gap[n+1]                              by derivation
  moved:  Z[n+1] <= (1 + B)*(1 + 2*B)*S[n+1] + B*(1 + 2*B)*S[n]     by derivation
  roots2: (2*t[n])**2 <= sqrt((1 - r**2*t[n]**2)**2 + 4*t[n]**2)**2 by combine
  roots:  2*t[n] <= sqrt((1 - r**2*t[n]**2)**2 + 4*t[n]**2)         by root roots2
  rises:  t[n] <= t[n+1]                                            by combine (-1)*next, (1/2)*roots
  less:   B <= 1                                                    by combine ((1 - t[n+1]*r**2)/(t[n+1]*(1 - r**2)))*rises
  bound:  Z[n+1] <= 6*S[n+1] + 3*S[n]                               by combine 1*moved, ((2*B + 5)*S[n+1] + (2*B + 3)*S[n])*less
  before: S[m] <= 2*nu/r**2*gap[m]                                  by combine 1*near(n=m-1)
  rate:   claim 1
             by combine 1*bound(n=m), 6*near(n=m), 3*before, (12*nu/r**2)*dual(m=m+1), (6*nu/r**2)*dual, ((6*(1 - r) + 3)*(1 - r)**(m - 1)/r**2)*begin
  limit:  claim 2                                                   by squeeze zero(n=m), rate
        """,
        B="((t[n] - 1)/t[n+1]*(1 - t[n+1]*r**2)/(1 - r**2))",
    ),
)
STEP_SMOOTH = replace(
    LINEAR_DUAL,
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
LINEAR_EXPLICIT = replace(
    LINEAR_EXACT,
    name="Theorem 3.3 with constants",
    quantities=some("theta2", "U", "V", "E"),
    rests={"xi": LINEAR_EXACT},
    claim=("E[m] <= L/2*theta2[m]", f"theta2[m] <= {of_models('V[0]', linear, r='r')}"),
    proof=f"begin: {TO_START}\nvalues: claim 1 by combine 1*xi_1\ndone: claim 2 by combine 1*xi_2, ((1 - r)**(m - 1)/nu**2)*begin",
)

# ---- Lemma 6.6, (26) and (27): DualFL is Algorithm 2 ---------------------------------------------------------------------

#: any rho = q/(1 + q)
OF_INERTIA: dict[str, Any] = {
    "region": "0 < nu, 0 <= q",
    "rounds": {"n": 0},
    "states": rounds.ANY_INERTIA,
    "assumed": rounds.FENCHEL,
    "sequences": {"t": "1"},
}
PREDUAL = Theorem(
    **OF_INERTIA,
    name="DualFL is Algorithm 2",
    quantities={
        "err": "error",
        "Gamma": "Gamma",
        "R25": "mean(norm2(xi - xi_25a))",
        "R24": "mean(norm2(eta_25b - eta_24))",
    },
    claim=("R25[n+1] == 0", "R24[n+1] == 0", "err[n] <= Gamma[n]"),
    proof="""
      local:   claim 1 by identity
      inertia: claim 2 by identity
      gaps:    claim 3 by derivation
    """,
)
#: y_j = nu zeta_j and s_j = nu z_j, of which the method has zeta_j and z_j
ASCENT = Theorem(
    **OF_INERTIA,
    name="(26)",
    quantities={"Z": "norm2(bar(zeta))", "S26": "mean(norm2(z - z_26))", "Y26": "mean(norm2(zeta - zeta_26))"},
    claim=("Z[n] == 0", "S26[n+1] == 0", "Y26[n+1] == 0"),
    proof="""
      sum:     claim 1 by identity
      step:    claim 2 by identity
      inertia: claim 3 by identity
    """,
)
VARIATES = Theorem(
    **OF_INERTIA,
    name="(27)",
    quantities={"R27": "mean(norm2(zeta - zeta_27))"},
    claim="R27[n+1] == 0",
    proof="done: claim by identity",
)

# ---- duality: (20) and (21) ------------------------------------------------------------------------------------------------

#: any theta and xi; E and D are E(theta) and E_d(xi)/N, Emin and Dmin those at theta* and xi*, FY the mean of the gaps of Fenchel and Young at theta*
OF_PAIR: dict[str, Any] = {
    "region": "0 < nu",
    "rounds": {"n": 0},
    "states": rounds.PAIR,
    "assumed": {"Fenchel": "g_j^*(xi_j) is at least <xi_j, theta*> - g_j(theta*)"},
    "added": ("s_star",),
}
DUALITY = Theorem(
    **OF_PAIR,
    name="(20)",
    quantities={"E": "energy", "D": "dual_energy", "Emin": "least", "Dmin": "dual_least"},
    claim=("Emin[n] + Dmin[n] == 0", "Emin[n] <= E[n]", "Dmin[n] <= D[n]"),
    proof="""
      equal:  claim 1 by identity
      primal: claim 2 by derivation
      dual:   claim 3 by derivation
    """,
)
RELATION = Theorem(
    **OF_PAIR,
    name="(21)",
    quantities={"D": "dual_energy", "Dmin": "dual_least", "R2": "norm2(x_star + bar(xi)/nu)", "FY": "young"},
    given={"minimal": "D[n] <= Dmin[n]"},
    claim=("R2[n] <= 0", "FY[n] <= 0"),
    proof="""
      young: 0 <= FY[n]                                 by derivation
      apart: 0 <= R2[n]                                 by derivation
      split: FY[n] + nu/2*R2[n] == D[n] - Dmin[n]       by identity
      model: claim 1                                    by combine (2/nu)*minimal, (2/nu)*young, (2/nu)*split
      slope: claim 2                                    by combine 1*minimal, (nu/2)*apart, 1*split
    """,
)
