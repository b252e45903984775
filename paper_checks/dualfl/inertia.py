"""Equation (5) as printed, and theorems on its numbers: where t_n lies, that it rises, and where t_n and beta_n go; rho = r^2.

Theorems on rounds take t_n from their ranges, which are those of `RANGE_PLAIN` and `RANGE`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fedtheory.claims import Theorem
from paper_checks.formulas import formula, formula_as_written


def printed_t(t: Any, rho: Any) -> Any:
    """t_{n+1} of (5) from t = t_n."""
    rest = 1 - rho * t**2
    return (rest + (rest**2 + 4 * t**2) ** Fraction(1, 2)) / 2


def printed_beta(t: Any, new: Any, rho: Any) -> Any:
    """beta_n of (5) from t_n and ``new``, t_{n+1}."""
    return (t - 1) / new * (1 - new * rho) / (1 - rho)


def solved(rho: str = "") -> str:
    """The equation that t_{n+1} solves, as a line of a proof from (5); without ``rho`` that of rho = 0."""
    A, right = (f"(1 - {rho}*t[n]**2)", f"t[n]**2*(1 - {rho}*t[n+1])") if rho else ("1", "t[n]**2")
    return f"t[n+1]*(t[n+1] - 1) == {right} by combine (t[n+1] + ({A} + sqrt({A}**2 + 4*t[n]**2))/2 - {A})*next"


#: (5) for rho = 0, and for rho = r^2
FIVE = {"first": "t[0] == 1", "next": f"t[n+1] == {formula(lambda t: printed_t(t, 0), t='t[n]')}"}
FIVE_SMOOTH = FIVE | {"next": f"t[n+1] == {formula_as_written(lambda t, r: printed_t(t, r**2), t='t[n]', r='r')}"}
BETA = {"beta": f"b[n] == {formula(lambda t, new: printed_beta(t, new, 0), t='t[n]', new='t[n+1]')}"}
BETA_SMOOTH = {
    "beta": f"b[n] == {formula_as_written(lambda t, new, r: printed_beta(t, new, r**2), t='t[n]', new='t[n+1]', r='r')}"
}

RANGE_PLAIN = Theorem(
    name="the range of t_n, rho = 0",
    region="",
    rounds={"n": 0},
    sequences={"t": "0"},
    given=FIVE,
    claim="1 <= t[n]",
    proof="""
      least2: 1**2 <= sqrt(1 + 4*t[n]**2)**2            by combine
      least:  1 <= sqrt(1 + 4*t[n]**2)                  by root least2
      done:   claim                                     by induction n: base combine (-1)*first; step combine (-1)*next, (1/2)*least
    """,
)
RANGE = Theorem(
    name="the range of t_n, rho = r^2",
    region="0 < r < 1",
    rounds={"n": 0},
    sequences={"t": "0"},
    given=FIVE_SMOOTH,
    claim=("1 <= t[n]", "t[n] <= 1/r"),
    proof=f"""
  least2: (2 - A)**2 <= sqrt(A**2 + 4*t[n]**2)**2       by combine
  least:  2 - A <= sqrt(A**2 + 4*t[n]**2)               by cases 2 - A: root least2; combine (1)*case
  low:    claim 1                                       by induction n: base combine (-1)*first; step combine (-1)*next, (1/2)*least
  five:   {solved("r**2")}
  high:   claim 2
             by induction n: base combine 1*first; step combine 1*five, ((1 - r)*(1/r + t[n]))*ih times 1/r + t[n+1] - A
        """.replace("A", "(1 - r**2*t[n]**2)"),
)
GROWTH = Theorem(
    name="t_n and beta_n for rho = 0",
    region="",
    rounds={"n": 0},
    sequences={"t": "1", "b": "0"},
    given=FIVE | BETA,
    claim=(
        "t[n+1]*(t[n+1] - 1) == t[n]**2",
        *("(n + 2)/2 <= t[n]", "t[n] < t[n+1]", "t[n+1] <= t[n] + 1", "b[0] == 0", "b[n] -> 1 as n"),
    ),
    proof=f"""
  five:   {solved()}
  same:   claim 1                   by combine 1*five
  grows:  claim 2                   by induction n: base combine first; step combine (-1)*five, (t[n] + (n + 2)/2)*ih times t[n+1] + (n + 1)/2
  rises:  claim 3                   by combine (-1)*five times t[n+1] + t[n]
  slow:   claim 4                   by combine 1*five times t[n+1] + t[n]
  first1: claim 5                   by combine 1*beta(n=0), (1/t[1])*first
  below:  b[n] <= 1                 by combine 1*beta, (1/t[n+1])*rises
  above:  1 - 4/(n + 3) <= b[n]     by combine (-1)*beta, (1/t[n+1])*slow, (2/(t[n+1]*(n + 3)/2))*grows(n=n+1)
  last:   claim 6                   by squeeze above, below
    """,
)
LIMITS = Theorem(
    name="t_n and beta_n for rho = r^2",
    region="0 < r < 1",
    rounds={"n": 0},
    sequences={"t": "1..1/r", "b": "0"},
    given=FIVE_SMOOTH | BETA_SMOOTH,
    claim=(
        "t[n+1]*(t[n+1] - 1) == t[n]**2*(1 - r**2*t[n+1])",
        *("t[n] <= t[n+1]", "b[0] == 0", "t[n] -> 1/r as n", "b[n] -> (1 - r)/(1 + r) as n"),
    ),
    proof=f"""
  five:   {solved("r**2")}
  same:   claim 1                                       by combine 1*five
  roots2: (2*t[n])**2 <= sqrt(A**2 + 4*t[n]**2)**2      by combine
  roots:  2*t[n] <= sqrt(A**2 + 4*t[n]**2)              by root roots2
  rises:  claim 2                                       by combine (-1)*next, (1/2)*roots
  first1: claim 3                                       by combine 1*beta(n=0), ((1 - r**2*t[1])/(t[1]*(1 - r**2)))*first
  falls:  1/r - t[n+1] <= (1 - r/2)*(1/r - t[n])
             by combine (-1)*five, (-(1 - r/2)*(1/r - t[n]))*next, ((1 - r/2)*(1/r - t[n])/2)*roots times 1/r + t[n+1] - A
  all:    1/r - t[n] <= (1 - r/2)**n*(1/r - 1)          by induction n: base combine (-1)*first; step combine (1 - r/2)*ih, 1*falls
  below:  t[n] <= 1/r                                   by combine
  above:  1/r - (1 - r/2)**n*(1/r - 1) <= t[n]          by combine 1*all
  limit:  claim 4                                       by squeeze above, below
  more:   b[n] <= (1 - r)/(1 + r) + r**2/(1 + r)*(1/r - t[n])
             by combine 1*beta, (((1 - r)*(1 - r**2*t[n]) + (t[n] - 1)*r**2)/((1 - r**2)*t[n+1]))*rises
  less:   (1 - r)/(1 + r) - r/(1 + r)*(1/r - t[n]) <= b[n]              by combine (-1)*beta
  more1:  b[n] <= (1 - r)/(1 + r) + r**2/(1 + r)*(1 - r/2)**n*(1/r - 1)    by combine 1*more, (r**2/(1 + r))*all
  less1:  (1 - r)/(1 + r) - r/(1 + r)*(1 - r/2)**n*(1/r - 1) <= b[n]       by combine 1*less, (r/(1 + r))*all
  done:   claim 5                                       by squeeze less1, more1
    """.replace("A", "(1 - r**2*t[n]**2)"),
)
