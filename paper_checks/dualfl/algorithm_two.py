"""Section 6.2: Algorithm 2 with any errors, and Propositions 6.2 and 6.3, for every round (`rounds` says what one is, `inertia` where t_n lies)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fedtheory.claims import Theorem
from paper_checks.dualfl import rounds
from paper_checks.dualfl.bounds import dual_order, plain_order
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
  low:    0 <= gap[n+1]                         by derivation
  is:     A[n+1] == (t[n+1] - 1)*gap[n+1]       by identity
  none:   A[0] == 0                             by identity
"""
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


def fill(script: str, **texts: str) -> str:
    """A script with formulas in the place of words in capitals."""
    return re.sub(rf"\b({'|'.join(texts)})\b", lambda found: texts[found[0]], script)


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

# ---- Propositions 6.2 and 6.3: errors whose sum is finite --------------------------------------------------------------------

SIGNS = """
  sign:   0 <= err[n]                           by derivation
  far:    0 <= U[n]                             by derivation
"""
#: for t_n <= n + 1, where GIVEN says that err[n] is at most (SHARE OF_N)^2/(2 nu (n + 1)^2)
PLAIN_TERMS = """
  least:  t[n] <= n + 1     by induction n: base combine first; step combine 1*five, (t[n] + n + 1)*ih times t[n+1] + n + 1
  term2:  sqrt(2*nu*t[n]**2*err[n])**2 <= (SHARE*OF_N)**2                     by combine (2*nu*err[n]*(t[n] + n + 1))*least, GIVEN
  term:   sqrt(2*nu*t[n]**2*err[n]) <= SHARE*OF_N                             by root term2
  terms:  sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n) <= SHARE*sum(OF_K, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, 1*term(n=n+1)
"""
#: where GIVEN says that err[n] is at most SHARE^2 (1 - r)^n b^(2n)
LINEAR_TERM = """
  term2:  sqrt(err[n])**2 <= (SHARE*(1 - r)**(n/2)*b**n)**2                   by combine GIVEN
  term:   sqrt(err[n]) <= SHARE*(1 - r)**(n/2)*b**n                           by root term2
"""
SERIES = """
  series: sum(b**k, k, 0, n) <= (1 - b**(n + 1))/(1 - b)                      by induction n: base combine; step combine ih
"""
LINEAR_TERMS = (
    LINEAR_TERM
    + SERIES
    + """
  terms:  sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n) <= SHARE*sum(b**k, k, 0, n)
             by induction n: base combine 1*term(n=0); step combine 1*ih, ((1 - r)**(-(n + 1)/2))*term(n=n+1)
"""
)
#: the errors' sum SUM is at most LIMIT by FROM, times FACTOR
ADD_UP = """
  whole:  sqrt(U[0]) + FACTOR*SUM <= FIRST + FACTOR*LIMIT              by combine FROM
  whole2: (sqrt(U[0]) + FACTOR*SUM)**2 <= (FIRST + FACTOR*LIMIT)**2    by combine (sqrt(U[0]) + FACTOR*SUM + FIRST + FACTOR*LIMIT)*whole
"""
#: the sum of errors, its factor, and the start, of rho = 0 and of rho = r^2
PLAIN_SUM = {"FACTOR": "2", "SUM": "sum(sqrt(2*nu*t[k]**2*err[k]), k, 0, n)"}
LINEAR_SUM = {"FACTOR": "2*sqrt(2*nu)", "SUM": "sum(sqrt(err[k])*(1 - r)**(-k/2), k, 0, n)"}
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
P63 = Theorem(
    **OF_RANGE | {"region": f"{SMOOTH}, 0 < b < 1", "where": {"a": "(1 - r)*b**2"}},
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
