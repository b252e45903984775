"""Theorems 3.2 and 3.3, and Propositions 6.2 and 6.3 behind them, with exact local solves, for every round."""

from __future__ import annotations

from dataclasses import replace

from fedtheory.claims import Theorem
from paper_checks.dualfl import rounds
from paper_checks.dualfl.algorithm_two import GROWS, OF_RANGE, SOLVED, SOLVED_SMOOTH, STATES, fill, some
from paper_checks.dualfl.bounds import linear, plain, variates
from paper_checks.dualfl.inertia import FIVE, FIVE_SMOOTH
from paper_checks.dualfl.rates import MODELS, of_models
from paper_checks.formulas import formula

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
