"""Rounds of some of the clients: Theorem 1, Table 7 and the virtual update, by the moments of `paper_checks.afedpd.moments`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from fedtheory.claims import (
    Claim,
    Clause,
    Context,
    Fault,
    Finding,
    Reading,
    Table,
    Theorem,
    decided,
    disproved,
    proved,
    run_on_quadratics,
    state,
)
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.core.errors import require
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd import lemmas, stable, virtual_update
from paper_checks.afedpd.moment_pictures import FAMILY, SIZES, draw_full_participation, draw_numerator, draw_ratios
from paper_checks.afedpd.moments import EQUAL, gossip_rate, rational_matrix
from paper_checks.afedpd.structure import near
from paper_checks.afedpd.tables import of_numbers, rounds_to
from paper_checks.afedpd.theory import DERIVED, PAPER, claim, derived
from paper_checks.formulas import formula
from paper_checks.steps import Step
from problems.dual_drift import active_average_row, moment_map


def tends_to_floor(factor: int = 2) -> bool:
    """One of the clients (x -+ 1)^2/2 a round: E thetabar^2 comes to its limit 1/(1 + 2 rho) > 0 by (rho/(1 + rho))^2 a round."""
    rho, x = symbols("rho x", positive=True)
    floor = 1 / (1 + factor * rho)
    mean_square = ((rho * x + 1) ** 2 + (rho * x - 1) ** 2) / (2 * (1 + rho) ** 2)
    return is_zero(mean_square - floor - rho**2 / (1 + rho) ** 2 * (x**2 - floor)) and is_positive(floor)


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


# ---- Theorem 1 for 2 <= P < C, from the optimum ---------------------------------------------------------------------------


def sum_of_rounds(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """sum_t E ||grad f(thetabar^t)||^2 over s^0."""
    return (C - P) / (P * (P - 1)) * a**2 * (a + rho) ** 2 / ((a**2 + 2 * a * rho) * (rho**2 + 2 * a * rho))


def numerator_at_optimum(rho: Any, C: Any, P: Any) -> Any:
    """Theorem 1's numerator over s^0, a = 1: f(thetabar^1) - f^* = E ||thetabar^1||^2/2 = v s^0/(2 (1 + rho)^2), and R_0 = s^0/(1 + rho)^2."""
    return lemmas.numerator_of_8(rho, (C - P) / (P * (C - 1)) / (1 + rho) ** 2 / 2, 1 / (1 + rho) ** 2)


_GIVEN = {"rho": "rho", "C": "C", "P": "P"}
SUM, NUMERATOR = formula(sum_of_rounds, a="a", **_GIVEN), formula(numerator_at_optimum, **_GIVEN)
SUM_OF_ALL = Theorem(
    stable.A_FEDPD.region,
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
    states=stable.A_FEDPD.states,
    rounds={"t": 0, "k": 0},
    where={**{name: text for name, text in stable.A_FEDPD.where.items() if name != "w"}, "u": SUM},
    given={"optimum": "X[0] == 0"},
    rests={"dies": stable.A_FEDPD},
    quantities=stable.A_FEDPD.quantities,
)
#: (C, P) and how many times Theorem 1's numerator the sum is for rho = 20
RATIOS = {(100, 2): "88.8", (100, 10): "5.65", (20, 2): "16.9"}


def times_the_numerator() -> Iterator[str]:
    """The ratios as they are printed."""
    for (C, P), value in RATIOS.items():
        numbers = {"rho": "20", "C": str(C), "P": str(P)}
        yield from rounds_to(
            f"({formula(sum_of_rounds, **numbers)})/({formula(numerator_at_optimum, **numbers)})", value
        )


def ratios(P: int) -> list[Any]:
    """The sum over Theorem 1's numerator for C = 100, by rho of `SIZES`."""
    return [sum_of_rounds(size, 100, P) / numerator_at_optimum(size, 100, P) for size in SIZES]


LARGE_RHO = Theorem(
    "0 < rho, C in 2.., 2 <= P < C",
    f"(C - 1)*((C - P)*rho - 2*P*(C - 1))*({NUMERATOR}) <= (P - 1)*(C - P)*rho*({formula(sum_of_rounds, a='1', **_GIVEN)})",
    "done: claim by combine",
)


#: rho/a, from where FedDyn's sum is far above A-FedPD's to where both are one
PENALTIES = tuple(map(Fraction, ("1/1000", "1/100", "1/5", "1", "5")))


def sums_compared(C: int, P: int) -> list[tuple[Fraction, Fraction]]:
    """FedDyn's sum of E x_t^2 over A-FedPD's for each of `PENALTIES`: of equal clients, and from the optimum where clients differ."""
    found = []
    for rho in PENALTIES:
        equal, apart = (
            sum_of_squares("feddyn", rho, C, P, start) / sum_of_squares("a-fedpd", rho, C, P, start)
            for start in ((1, 0, 0, 0), (0, 0, 0, 1))
        )
        found.append((equal, apart))
    return found


def check_tab7(ctx: Context, *, factor: int = 2, P: int = 10) -> Iterator[Finding]:
    """The row of A-FedPD fails where some take part; the sums that the two rows bound, compared."""
    C = 100
    ratios = sums_compared(C, P)
    yield disproved(
        "O(D/T + R_0/T + epsilon)",
        tends_to_floor(factor),
        "with one of the two clients (x -+ 1)^2/2 a round and exact solves E ||grad f||^2 tends to 1/(1 + 2 rho) (AFEDPD-D13), and for P "
        ">= 2 the sum exceeds the row's by a factor that tends to (C-1)/(P-1) as rho grows (AFEDPD-D14)",
    )
    yield proved(
        "all clients",
        is_derived(lemmas.POTENTIAL_INEXACT),
        "with all clients and rho >= 10.325 L the row is right (AFEDPD-T1R summed), as that of Zhang et al. (2021) is",
        role="reading",
    )
    small, large = ratios[:2], ratios[2:]
    yield decided(
        "FedDyn's sum over A-FedPD's",
        all(compare(equal, ">", 5) for equal, _ in small)
        and compare(small[0][0], ">", Fraction(C, P))
        and all(compare(equal, "<", Fraction(6, 5)) for equal, _ in large)
        and all(compare(apart, "<", 1) for _, apart in ratios),
        f"C = {C}, P = {P}, exact sums of the moments: for equal clients "
        + ", ".join(f"{float(e):.3g} at rho = {r} a" for r, (e, _) in zip(PENALTIES, ratios, strict=True))
        + f", so that A-FedPD gains the table's C/P and more for a small rho, and little from a/5 on; where clients differ the ratio is between "
        f"{float(min(a for _, a in ratios)):.3g} and {float(max(a for _, a in ratios)):.3g} at all of them",
        role="reading",
    )
    rows = [[f"rho = {r} a", *map(float, pair)] for r, pair in zip(PENALTIES, ratios, strict=True)]
    yield draw_ratios(list(map(float, PENALTIES)), rows, C, P)
    yield Table(f"FedDyn over A-FedPD, C = {C}, P = {P}", ["", "equal clients", "at the optimum, clients differ"], rows)
    yield Reading(
        "The paper compares proven bounds, of D = f(thetabar^1) - f* and of R_0; which sum is the smaller depends on rho and on how much clients "
        "differ, and neither row is contradicted by that. The table's other rows are results of other papers."
    )


def sum_of_squares(name: str, rho: Fraction, C: int, P: int, start: tuple[int, ...]) -> Fraction:
    """sum over t >= 1 of E (thetabar^t)^2: a row on (I - M)^{-1} m_0, in fractions, over the moments that are not 0 for ever."""
    sympy = require("sympy", "linear solves")
    M = rational_matrix(moment_map(name, rho, C, P))
    row = M.row(0) if name == "a-fedpd" else rational_matrix([active_average_row(rho, C, P)])
    used = [i for i in range(4) if any(M[i, j] != 0 for j in range(4))]
    total = (sympy.eye(len(used)) - M[used, used]).LUsolve(sympy.Matrix([start[i] for i in used]))
    found = sum(row[i] * value for i, value in zip(used, total, strict=True))
    return Fraction(int(found.p), int(found.q))


def own_parts_are_slower(ctx: Context) -> Iterator[Finding]:
    """A client's own part of the duals does not move as with all clients."""
    rho, others, P = symbols("rho others P", positive=True)
    more, slower = others + P + 1, (rho**2 + 2 * rho) / (1 + rho) ** 2 * (others + 1) / (others + P)
    yield disproved(
        "a client's own part",
        is_zero(gossip_rate(rho, more, P) - gossip_rate(rho, more, more) - slower) and is_positive(slower),
        "E s falls by 1 - (1 - kappa^2)(P-1)/(C-1) a round against kappa^2 with all: for P < C slower, for P = 1 not at all",
        role="reading",
    )


CLAIMS: list[Claim] = [
    state(
        "AFEDPD-D13",
        DERIVED,
        "Theorem 1, P = 1",
        "f_i = ||x -+ c||^2/2, one of two clients: E ||grad f(thetabar^t)||^2 tends to ||c||^2/(1 + 2 rho), for every rho, where "
        "Theorem 1's right side, whose "
        "epsilon exact solves make 0, tends to 0.",
        ONE_OF_TWO,
        kind="divergence",
    ),
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
        picture=lambda context: draw_numerator({P: ratios(P) for P in (2, 10, 50)}),
        kind="bound",
    ),
    claim(
        "AFEDPD-Q3",
        "Sections 1 and 3.3",
        (
            Clause(
                "The virtual update moves the average of the duals by rho (thetabar^{t+1} - theta^t),",
                ("the mean of the duals",),
            ),
            Clause("as full participation would, in expectation over who takes part;", ("in expectation",)),
            Clause("with equal clients A-FedPD has its rate.", ("equal clients",)),
        ),
        [
            near("the mean of the duals", virtual_update.MEAN_DUAL, "rho*(theta_bar_next", "P/C*rho*(theta_bar_next"),
            near("in expectation", virtual_update.UNBIASED, "rho*(bar(theta_i)", "P/C*rho*(bar(theta_i)"),
            Step("equal clients", EQUAL),
        ],
        besides=own_parts_are_slower,
        picture=lambda context: draw_full_participation(),
        readings=[
            "The paper says of the whole method that it 'approximates the quasi-full-participation training', and spells out the mean dual. A "
            "client's own part of the duals is approximated the less the fewer take part.",
            "With equal clients the rate is judged on quadratics; whatever the functions are, all return the same, whoever takes part.",
        ],
        kind="rate",
    ),
    Claim(
        "AFEDPD-TAB7",
        PAPER,
        "rate",
        "Table 7 and Section 4.1",
        "A-FedPD has the rate O(D/T + R_0/T + epsilon) where FedDyn has O(C D/(P T) + R_0/T), D = f(thetabar^1) - f*.",
        check_tab7,
        (Fault("1/(1 + 3 rho)", "O(D/T + R_0/T + epsilon)", {"factor": 3}, holds=True),),
        (FAMILY,),
    ),
]
