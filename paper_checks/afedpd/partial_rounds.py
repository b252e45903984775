"""Rounds of some of the clients: Theorem 1, Table 7 and the virtual update, by the moments of `paper_checks.afedpd.moments`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fedtheory.claims import (
    Claim,
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
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.core.errors import require
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import agree, is_positive, is_zero, symbols
from paper_checks.afedpd import lemmas, virtual_update
from paper_checks.afedpd.moment_pictures import SIZES, draw_full_participation, draw_numerator, draw_ratios
from paper_checks.afedpd.moments import OFF, claim, gossip_rate, map_part, rational_matrix
from paper_checks.afedpd.structure import DERIVED, near
from paper_checks.afedpd.theory import PAPER
from paper_checks.steps import Step, claim_steps
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


def check_d14(
    ctx: Context, *, power: int = 1, share: Fraction = Fraction(1), off: Fraction = Fraction(0)
) -> Iterator[Finding]:
    """The sum over all rounds against Theorem 1's numerator, x^0 = 0, a = 1."""
    rho, C, P, s = symbols("rho C P s", positive=True)
    v = (C - P) / (P * (C - 1))
    total = v * s / (1 - gossip_rate(rho, C, P)) / (1 + rho) ** 2 / (1 - (rho / (1 + rho)) ** 2)
    closed = s * (C - P) / (P * (P - power)) * (1 + rho) ** 2 / ((1 + 2 * rho) * (rho**2 + 2 * rho))
    numerator = lemmas.numerator_of_8(rho, v * s / (1 + rho) ** 2 / 2, s / (1 + rho) ** 2)
    ratio = closed / numerator
    values = {(100, 2, 20): "88.8", (100, 10, 20): "5.65", (20, 2, 20): "16.9"}
    found = {k: Fraction(str(ratio.subs({C: k[0], P: k[1], rho: k[2]}))) for k in values}
    summed = {k: Fraction(str(closed.subs({C: k[0], P: k[1], rho: k[2], s: 1}))) for k in values}
    near = all(compare(abs(found[k] - Fraction(value)), "<", Fraction(1, 20)) for k, value in values.items())
    yield proved(
        "sum over all rounds",
        is_zero(total - closed),
        "sum_t E s^t v/(a + rho)^2 over 1 - (rho/(a + rho))^2, against rho (f(thetabar^1) - f*) + R_0 = (rho v/2 + 1) s^0/(1 + rho)^2",
    )
    yield decided(
        "above Theorem 1's numerator",
        near
        and all(compare(f, ">", 1) for f in found.values())
        and all(
            compare(sum_of_squares("a-fedpd", Fraction(k[2]), k[0], k[1], (0, 0, 0, 1)), "==", share * summed[k])
            for k in found
        ),
        "rho = 20 L, which the proof allows: "
        + ", ".join(f"{float(f):.3g} times for C = {k[0]}, P = {k[1]}" for k, f in found.items()),
    )
    yield draw_numerator({p: [ratio.subs({C: 100, P: p, rho: size}) for size in SIZES] for p in (2, 10, 50)})
    limit = agree((ratio * (P - 1) / (C - 1)).subs({C: 101, P: 3}).limit(rho, require("sympy", "limits").oo), 1)
    yield proved(
        "as rho grows",
        limit,
        "the ratio tends to (C-1)/(P-1): a constant free of C and P is impossible",
        role="reading",
    )
    yield map_part(off)


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


def check_tab7(ctx: Context, *, off: Fraction = Fraction(0), factor: int = 2, P: int = 10) -> Iterator[Finding]:
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
    yield map_part(off)
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


def own_parts_are_slower(ctx: Context, *, off: Fraction = Fraction(0)) -> Iterator[Finding]:
    """A client's own part of the duals does not move as with all clients."""
    rho, others, P = symbols("rho others P", positive=True)
    more, slower = others + P + 1, (rho**2 + 2 * rho) / (1 + rho) ** 2 * (others + 1) / (others + P)
    yield disproved(
        "a client's own part",
        is_zero(gossip_rate(rho, more, P) - gossip_rate(rho, more, more) - slower) and is_positive(slower),
        "E s falls by 1 - (1 - kappa^2)(P-1)/(C-1) a round against kappa^2 with all: for P < C slower, for P = 1 not at all",
        role="reading",
    )
    yield map_part(off)


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
    claim(
        "AFEDPD-D14",
        DERIVED,
        "bound",
        "Theorem 1, 2 <= P < C",
        "sum_t E ||grad f||^2 = s^0 (C-P)/(P (P-1)) (1+rho)^2/((1+2 rho)(rho^2+2 rho)) from the optimum, up to 88.8 times Theorem 1's numerator.",
        check_d14,
        Fault("P for P - 1", "sum over all rounds", {"power": 0}),
        Fault("the sum of a hundredth less", "above Theorem 1's numerator", {"share": Fraction(99, 100)}),
    ),
    claim_steps(
        "AFEDPD-Q3",
        PAPER,
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
            Step("equal clients", virtual_update.EQUAL_CLIENTS),
        ],
        besides=own_parts_are_slower,
        faults=[OFF],
        picture=lambda context: draw_full_participation(),
        readings=[
            "The paper says of the whole method that it 'approximates the quasi-full-participation training', and spells out the mean dual. A "
            "client's own part of the duals is approximated the less the fewer take part.",
            "With equal clients the rate is judged on quadratics; whatever the functions are, all return the same, whoever takes part.",
        ],
        kind="rate",
    ),
    claim(
        "AFEDPD-TAB7",
        PAPER,
        "rate",
        "Table 7 and Section 4.1",
        "A-FedPD has the rate O(D/T + R_0/T + epsilon) where FedDyn has O(C D/(P T) + R_0/T), D = f(thetabar^1) - f*.",
        check_tab7,
        Fault("1/(1 + 3 rho)", "O(D/T + R_0/T + epsilon)", {"factor": 3}, holds=True),
    ),
]
