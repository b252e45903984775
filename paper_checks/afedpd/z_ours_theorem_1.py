"""Ours: Theorem 1 corrected, one round of all clients, and what becomes of its sum where one of two or some clients take part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fedtheory.claims import Claim, Lemma, Picture, Theorem, draw_bound, run_on_quadratics, state
from paper_checks.afedpd.notation import ALL, DERIVED, FAMILY, derived, numerator_of_8, of_numbers, rounded_to
from paper_checks.afedpd.rounds import potential_falls
from paper_checks.afedpd.z_ours_drift_a_stability import A_FEDPD
from paper_checks.formulas import formula
from paper_checks.steps import Step

CLAIMS: list[Claim] = []

# ---- T1R: the potential falls ----------------------------------------------------------------------------------------
POTENTIAL = Lemma(
    "potential, exact solves",
    "Theorem 1, corrected",
    "0 < L, 7583/1000*L <= rho",
    potential_falls(lambda p: p.L**2 / (4 * p.rho), lambda p: 1 / (4 * p.rho), False),
    {"c": 1},
)
POTENTIAL_INEXACT = Lemma(
    "potential, inexact solves",
    "Theorem 1, corrected",
    "0 < L, 10325/1000*L <= rho, 0 < epsilon",
    potential_falls(lambda p: p.L**2 / (4 * p.rho), lambda p: 1 / (4 * p.rho), True),
    {"c": 1},
)
CLAIMS += [
    derived(
        "AFEDPD-T1R",
        "Theorem 1, corrected, one round",
        "f(thetabar^{t+1}) + (L^2/(4 rho)) R_t <= f(thetabar^t) + (L^2/(4 rho)) R_{t-1} - ||grad f(thetabar^t)||^2/(4 rho) for t >= 1, rho >= 7.583 "
        "L and exact solves; with 2 epsilon/rho more for rho >= 10.325 L and epsilon-inexact ones.",
        [Step("exact solves", POTENTIAL), Step("inexact solves", POTENTIAL_INEXACT)],
        assumptions=[ALL],
    )
]

# ---- D13: one of two clients -----------------------------------------------------------------------------------------
#: one of the clients ||x -+ c||^2/2 a round, by the method's own code, from any start; off: from the limit of E ||grad f(thetabar^t)||^2
ONE_OF_TWO = Theorem(
    "0 < rho",
    ("off[T] == (rho/(1 + rho))**(2*T)*off[0]", "off[T] -> 0 as T"),
    """
      step: off[t+1] == (rho/(1 + rho))**2*off[t]          by identity
      all:  claim 1            by induction T: base combine; step combine (rho/(1 + rho))**2*ih, step(t=T)
      low:  (rho/(1 + rho))**(2*T)*off[0] <= off[T]        by combine (-1)*all
      high: off[T] <= (rho/(1 + rho))**(2*T)*off[0]        by combine all
      done: claim 2                                        by squeeze low, high
    """,
    states=run_on_quadratics(
        "a-fedpd",
        "rho, exact = true",
        curvatures=("1", "1"),
        centres=("c", "-c"),
        participants=1,
        ties=("mu_1", "mu_2", "x - x_bar - lam/rho"),
    ),
    rounds={"t": 0, "T": 0},
    quantities={"off": "norm2(grad(f, x_bar)) - norm2(c)/(1 + 2*rho)"},
)
CLAIMS += [
    state(
        "AFEDPD-D13",
        DERIVED,
        "Theorem 1, P = 1",
        "f_i = ||x -+ c||^2/2, one of two clients: E ||grad f(thetabar^t)||^2 tends to ||c||^2/(1 + 2 rho), for every rho, where Theorem 1's right "
        "side, whose epsilon exact solves make 0, tends to 0.",
        ONE_OF_TWO,
        kind="divergence",
    )
]


# ---- D14: the sum of all rounds --------------------------------------------------------------------------------------
def sum_of_rounds(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """sum_t E ||grad f(thetabar^t)||^2 over s^0."""
    return (C - P) / (P * (P - 1)) * a**2 * (a + rho) ** 2 / ((a**2 + 2 * a * rho) * (rho**2 + 2 * a * rho))


def numerator_at_optimum(rho: Any, C: Any, P: Any) -> Any:
    """Theorem 1's numerator over s^0, a = 1: f(thetabar^1) - f^* = E ||thetabar^1||^2/2 = v s^0/(2 (1 + rho)^2), and R_0 = s^0/(1 + rho)^2."""
    return numerator_of_8(rho, (C - P) / (P * (C - 1)) / (1 + rho) ** 2 / 2, 1 / (1 + rho) ** 2)


_GIVEN = {"rho": "rho", "C": "C", "P": "P"}
SUM, NUMERATOR = formula(sum_of_rounds, a="a", **_GIVEN), formula(numerator_at_optimum, **_GIVEN)
SUM_OF_ALL = Theorem(
    A_FEDPD.region,
    ("sum(a**2*X[k], k, 0, t) -> u*S[0] as t", "X[1] == v*S[0]/(a + rho)**2"),
    """
      x_pos: 0 <= X[t]                                                    by derivation
      s_pos: 0 <= S[t]                                                    by derivation
      size:  M[t] == a**2*X[t] + S[t]                                     by identity
      duals: S[t+1] == (1 - lost)*S[t]                                    by identity
      model: X[t+1] == (1 - p)*X[t] + v/(a + rho)**2*S[t]                 by identity
      fall:  a**2/p*X[t+1] + u*S[t+1] == a**2/p*X[t] + u*S[t] - a**2*X[t] by combine (a**2/p)*model, u*duals
      all:   sum(a**2*X[k], k, 0, t) == a**2/p*X[0] + u*S[0] - (a**2/p*X[t+1] + u*S[t+1])
               by induction t: base combine 1*fall(t=0); step combine 1*ih, 1*fall(t=t+1)
      next:  a**2/p*X[t+1] + u*S[t+1] <= (1/p + u)*M[t]                   by combine 1*fall, (-1/p - u)*size, (a**2*(1 + u))*x_pos, (1/p)*s_pos
      low:   u*S[0] - (1/p + u)*M[t] <= sum(a**2*X[k], k, 0, t)           by combine (-1)*all, 1*next, (-a**2/p)*optimum
      high:  sum(a**2*X[k], k, 0, t) <= u*S[0]   by combine 1*all, (a**2/p)*optimum, (a**2/p)*x_pos(t=t+1), u*s_pos(t=t+1)
      done:  claim 1                                                      by squeeze low, high, dies
      first: claim 2                                                      by combine 1*model(t=0), (1 - p)*optimum
    """,
    states=A_FEDPD.states,
    rounds={"t": 0, "k": 0},
    where={**{name: text for name, text in A_FEDPD.where.items() if name != "w"}, "u": SUM},
    given={"optimum": "X[0] == 0"},
    rests={"dies": A_FEDPD},
    quantities=A_FEDPD.quantities,
)
#: (C, P) and how many times Theorem 1's numerator the sum is for rho = 20
RATIOS = {(100, 2): "88.8", (100, 10): "5.65", (20, 2): "16.9"}


def times_the_numerator() -> Iterator[str]:
    """The ratios as they are printed."""
    for (C, P), value in RATIOS.items():
        numbers = {"rho": "20", "C": str(C), "P": str(P)}
        yield from rounded_to(
            f"({formula(sum_of_rounds, **numbers)})/({formula(numerator_at_optimum, **numbers)})", value
        )


LARGE_RHO = Theorem(
    "0 < rho, C in 2.., 2 <= P < C",
    f"(C - 1)*((C - P)*rho - 2*P*(C - 1))*({NUMERATOR}) <= (P - 1)*(C - P)*rho*({formula(sum_of_rounds, a='1', **_GIVEN)})",
    "done: claim by combine",
)


def draw_numerator() -> Picture:
    """The sum of all rounds over Theorem 1's numerator, by rho/L, for some P."""
    sizes = [2.0**k for k in range(-3, 8)]
    ratios = {P: [sum_of_rounds(r, 100, P) / numerator_at_optimum(r, 100, P) for r in sizes] for P in (2, 10, 50)}
    return draw_bound(
        "The sum of the rounds over Theorem 1's numerator",
        sizes,
        [1.0] * len(sizes),
        xlabel="rho/L",
        ylabel="sum / numerator",
        about=f"{FAMILY}; A-FedPD with C = 100, x^0 = x*, a = L = 1; closed forms, no seeds",
        more=[(f"P = {P}", values) for P, values in ratios.items()],
        logx=True,
    )


CLAIMS += [
    derived(
        "AFEDPD-D14",
        "Theorem 1, 2 <= P < C",
        "sum_t E ||grad f||^2 = s^0 (C-P)/(P (P-1)) (1+rho)^2/((1+2 rho)(rho^2+2 rho)) from the optimum, up to 88.8 times Theorem 1's numerator, "
        "and at least (C-1)/(P-1) (1 - 2 P (C-1)/((C-P) rho)) times it.",
        [
            Step("sum over all rounds", SUM_OF_ALL),
            Step("times Theorem 1's numerator", of_numbers(times_the_numerator())),
            Step("as rho grows", LARGE_RHO),
        ],
        assumptions=[FAMILY, "a = 1 but in the first part"],
        readings=[
            "With rho = 20 L, which the proof allows. From the optimum E ||thetabar^1||^2 = v s^0/(1 + rho)^2, v = (C-P)/(P (C-1)), and what clients "
            "return is (mu_i^* - mu_i)/(1 + rho) from thetabar^0, so that the numerator is rho (f(thetabar^1) - f^*) + R_0 = (rho v/2 + 1) s^0/(1 + "
            "rho)^2.",
            "A constant free of C and P is impossible.",
        ],
        picture=lambda context: draw_numerator(),
        kind="bound",
    )
]
