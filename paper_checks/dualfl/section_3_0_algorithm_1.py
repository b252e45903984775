"""Section 3, Algorithm 1: the sequence t_n and the inertia beta_n of (5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fedtheory.algorithms.momentum import beta
from fedtheory.claims import Claim, Clause, Context, Fault, Finding, Theorem, equal
from paper_checks.dualfl.notation import FIVE, FIVE_SMOOTH, claim, printed_beta, printed_t, solved
from paper_checks.formulas import formula, formula_as_written
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- Equation (5) ----------------------------------------------------------------------------------------------------

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

BETA = {"beta": f"b[n] == {formula(lambda t, new: printed_beta(t, new, 0), t='t[n]', new='t[n+1]')}"}
BETA_SMOOTH = {
    "beta": f"b[n] == {formula_as_written(lambda t, new, r: printed_beta(t, new, r**2), t='t[n]', new='t[n+1]', r='r')}"
}

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


def sixty_rounds(ctx: Context, *, sequence: Callable[[Any, int], Any] = beta) -> Iterator[Finding]:
    """(5) as printed against the sequence of the library."""
    ours, printed = [], []
    for modulus in (0.0, 1e-4, 0.01, 0.3):
        now = 1.0
        for n in range(60):
            new = printed_t(now, modulus)
            printed.append(printed_beta(now, new, modulus))
            ours.append(float(sequence(modulus, n)))
            now = new
    text = "what the methods use is (5): sixty rounds of four rho"
    yield equal("the sequence", ours, printed, "numeric", text, rtol=1e-12)


CLAIMS += [
    claim(
        "DUALFL-T-SEQ",
        "equation (5)",
        [
            Clause("t_{n+1} (t_{n+1} - 1) = t_n^2 (1 - rho t_{n+1});", ("rho > 0", "rho = 0")),
            Clause("1 <= t_n, and t_n <= 1/sqrt(rho) for rho = r^2 > 0;", ("range, rho > 0", "range, rho = 0")),
            Clause("t_n rises to 1/sqrt(rho), or without bound for rho = 0;", ("rho > 0", "rho = 0")),
            Clause("beta_0 = 0;", ("rho > 0", "rho = 0")),
            Clause("beta_n -> (1 - sqrt(rho))/(1 + sqrt(rho)) for rho > 0,", ("rho > 0",)),
            Clause("and beta_n -> 1 for rho = 0.", ("rho = 0",)),
        ],
        [
            Step("range, rho > 0", RANGE),
            Step("range, rho = 0", RANGE_PLAIN),
            Step("rho > 0", LIMITS),
            Step("rho = 0", GROWTH),
        ],
        assumptions=["0 <= rho < 1"],
        kind="identity",
        besides=sixty_rounds,
        faults=(
            Fault("the inertia of the round after", "the sequence", {"sequence": lambda rho, n: beta(rho, n + 1)}),
            Fault("a modulus 2 % off", "the sequence", {"sequence": lambda rho, n: beta(1.02 * rho, n)}),
        ),
    )
]
