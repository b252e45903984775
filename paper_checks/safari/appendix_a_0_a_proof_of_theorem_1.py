"""Appendix A: the steps of Theorem 1's proof."""

from __future__ import annotations

from functools import partial
from typing import Any

from fedtheory.claims import Claim, Theorem
from paper_checks.formulas import formula
from paper_checks.safari.learners import DRAWS
from paper_checks.safari.notation import DOMAIN, claim
from paper_checks.safari.section_3_1_impossibility import draw_hidden
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- (9) to (11) -----------------------------------------------------------------------------------------------------
CHERNOFF = Theorem(
    name="(9)-(11)",
    region="0 < p <= 1/2, 0 <= tail <= 1",
    states=DRAWS,
    rounds={"k": 0, "N": 0},
    where={"omega": "1 - 2*p"},
    quantities={"Z": "dot(power, e)", "U": "norm2(e)"},
    given={"unit": "U[0] == 1", "some": "1 <= (1 - omega)*N", "markov": "tail*2**((1 - omega)*N) <= Z[N]"},
    fixed=("N",),
    claim=(
        "tail <= exp(-(1 - omega)*N/6)",
        "exp(-(1 - omega)*N/6) <= exp(-1/6)",
        "exp(-1/6) <= 17/20",
        "3/20 < 1 - tail",
    ),
    proof="""
      step:    Z[k+1] == (1 + p)*Z[k]                       by identity
      begin:   Z[0] == U[0]                                 by identity
      grown:   Z[N] == (1 + p)**N                           by induction N: base combine begin, unit; step combine (1 + p)*ih, step(k=N)
      tangent: 1 + p <= exp(p)                              by exponential p
      moment:  (1 + p)**N <= exp(p*N)
                 by induction N: base combine; step combine (1 + p)*ih, exp(p*N)*tangent
      small:   1 - 1/48 <= exp(-1/48)                       by exponential -1/48
      third:   (47/48)**32 <= exp(-2/3)                     by power small, 32
      twice:   exp(2/3) <= 2                                by combine (2*exp(2/3))*third
      twos:    exp(2/3)**(2*p*N) <= 2**(2*p*N)              by power twice, 2*p*N
      least:   tail <= exp(p*N)*2**(-2*p*N)
                 by combine 2**(-2*p*N)*markov, 2**(-2*p*N)*grown, 2**(-2*p*N)*moment
      one:     claim 1                                      by combine 1*least, (exp(-p*N/3)*2**(-2*p*N))*twos
      above:   1 + p*N/3 - 1/6 <= exp(p*N/3 - 1/6)          by exponential p*N/3 - 1/6
      two:     claim 2                                      by combine exp(-p*N/3)*above, (exp(-p*N/3)/6)*some
      root:    1 + 1/24 <= exp(1/24)                        by exponential 1/24
      sixth:   (25/24)**4 <= exp(1/6)                       by power root, 4
      room:    exp(-1/6) < 17/20                            by combine (17/20*exp(-1/6))*sixth
      three:   claim 3                                      by combine 1*room
      done:    claim 4                                      by combine 1*one, 1*two, 1*room
    """,
)
CLAIMS += [
    claim(
        "SAFARI-T1a",
        "(9)-(11)",
        "P[s >= (1-omega) Mn] <= exp(-(1-omega) Mn/6) <= exp(-1/6) <= 17/20, so that P[s < (1-omega) Mn] > 3/20.",
        [Step("Chernoff's bound", CHERNOFF)],
        kind="bound",
        picture=partial(draw_hidden, claimed="3/20", tails=True),
        assumptions=[DOMAIN],
        readings=[
            "N = M n samples are x_2 with probability p = (1 - omega)/2, s of them; Z is the mean of 2^s, and tail = P[s >= (1 - omega) N], so that "
            "tail times 2^((1 - omega) N) is at most Z. (1 - omega) M n = (M - m) n is a whole number from 1 on."
        ],
    )
]

# ---- (2) to (4) ------------------------------------------------------------------------------------------------------
ONE_IS_MISSED = Theorem(
    name="(2)-(4)",
    region="0 < epsilon <= 1/8, h in 0..1, f_1 in 0..1",
    claim="4*epsilon*abs(h - f_1) + 4*epsilon*abs(h - (1 - f_1)) == 4*epsilon",
    proof="done: claim by values h: (values f_1: combine; combine); (values f_1: combine; combine)",
)
CLAIMS += [
    claim(
        "SAFARI-T1b",
        "(2)-(4)",
        "R'(h, f_1) + R'(h, f_2) = 4 epsilon for every h, where R' counts errors on x_2.",
        [Step("every h", ONE_IS_MISSED)],
        kind="identity",
        assumptions=[DOMAIN],
        readings=[
            "h and f_1 stand for labels of x_2, 0 or 1, and 1 - f_1 is f_2's. (3) prints x_1 where x_2 is meant."
        ],
    )
]


# ---- (5) to (8) ------------------------------------------------------------------------------------------------------
def averaged(e: Any, p: Any) -> Any:
    """What E R' is at most where R' <= 4 e, with p = P[R' >= e]: (6)."""
    return 4 * e * p + e * (1 - p)


A_THIRD = Theorem(
    name="(5)-(8)",
    region="0 < epsilon, 0 <= p <= 1, epsilon <= above <= 4*epsilon, 0 <= below <= epsilon",
    where={"mean": "p*above + (1 - p)*below"},
    given={"least": "2*epsilon <= mean"},
    claim=(f"mean <= {formula(averaged, e='epsilon', p='p')}", "1/3 <= p"),
    proof="""
      most: claim 1     by combine
      done: claim 2     by combine (1/(3*epsilon))*least, (1/(3*epsilon))*most
    """,
)
CLAIMS += [
    claim(
        "SAFARI-T1c",
        "(5)-(8)",
        "E R' >= 2 epsilon and R' <= 4 epsilon give P[R' >= epsilon] >= 1/3.",
        [Step("p >= 1/3", A_THIRD)],
        readings=["p = P[R' >= epsilon]; above and below are the means of R' where R' >= epsilon and elsewhere."],
    )
]
