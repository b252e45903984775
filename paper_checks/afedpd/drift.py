"""Dual drift: when FedADMM as printed, FedDyn and A-FedPD are stable in mean square, on quadratics with one curvature."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fedtheory.claims import Claim, Clause, Context, Finding, Table
from fedtheory.core.errors import require
from paper_checks.afedpd import floors, stable
from paper_checks.afedpd.factors import factor, to_four_digits
from paper_checks.afedpd.moment_pictures import FAMILY, draw_radii, draw_thresholds
from paper_checks.afedpd.tables import of_numbers
from paper_checks.afedpd.theory import claim, derived
from paper_checks.steps import Step
from problems.dual_drift import drift_radius

METHODS = ("equal fedadmm", "feddyn", "a-fedpd")
#: catalogue of the paper's claims: (FedADMM as printed, FedDyn, A-FedPD) for C = 100, exact solves
RADII = {
    ("1/50", 5): ("1.0469", "0.9981", "0.9984"),
    ("1/50", 20): ("1.0153", "0.9922", "0.9925"),
    ("1/10", 5): ("1.0054", "0.9914", "0.9930"),
    ("1/10", 50): ("0.9165", "0.9132", "0.9141"),
    ("1", 10): ("0.9250", "0.9258", "0.9318"),
    ("10", 20): ("0.8839", "0.8276", "0.8264"),
}


def radii(context: Context) -> Iterator[Finding]:
    """The factors in floats."""
    columns = ["", "FedADMM as printed", "FedDyn", "A-FedPD"]
    rows = [
        [
            f"rho = {r} a, P = {P}",
            *(drift_radius(name.removeprefix("equal "), float(Fraction(r)), 100, P) for name in METHODS),
        ]
        for r, P in RADII
    ]
    yield Table("Mean-square factor a round, C = 100", columns, rows)


#: rho/a below which FedADMM as printed is unstable with equal clients
THRESHOLDS = {
    (100, 1): Fraction("0.24906"),
    (100, 2): Fraction("0.19004"),
    (100, 5): Fraction("0.12525"),
    (100, 10): Fraction("0.08347"),
    (100, 20): Fraction("0.04461"),
    (10, 1): Fraction("0.24013"),
    (10, 5): Fraction("0.05034"),
}


def thresholds() -> Iterator[str]:
    """F is negative 0.00002 below each, and positive 0.00002 above; they rise as P falls."""
    near = Fraction(2, 10**5)
    for (C, P), value in THRESHOLDS.items():
        of_r = str(require("sympy", "polynomials in r").expand(stable.threshold_at(C=C, P=P)))
        yield f"{of_r.replace('r', f'({value - near})')} < 0"
        yield f"0 < {of_r.replace('r', f'({value + near})')}"
        yield from (
            f"{THRESHOLDS[C, more]} + {near} < {value} - {near}" for c, more in THRESHOLDS if c == C and more > P
        )


# ---- FedADMM where clients differ -------------------------------------------------------------------------------------

FLOOR = (
    Clause("FedADMM as printed has no fixed point where clients differ and P < C:", ("no fixed point",)),
    Clause("E x^2 keeps above a floor,", ("a floor",)),
    Clause("and for C = 100, P = 10, rho = a/2 it tends to 0.41159 mean b_i^2.", ("limit",)),
)


# ---- few clients, and inexact solves ----------------------------------------------------------------------------------

#: active clients of 100, and numbers between which the factors at rho = a/20 are
FEWER = {
    1: ("1.031", ""),
    2: ("1.027", "1.031"),
    5: ("1.02", "1.027"),
    10: ("1.01", "1.02"),
    20: ("0.98", "0.999"),
    50: ("0.93", "0.98"),
    100: ("", "0.93"),
}


def between(name: str, r: str, P: int, low: str, high: str, left: str = "0") -> Step:
    """The factor of FedADMM as printed with equal clients, P of 100, is between these."""
    least, most = (Fraction(end) if end else None for end in (low, high))
    return Step(name, factor("equal fedadmm", Fraction(r), 100, P, least, most, Fraction(left)))


CLAIMS: list[Claim] = [
    derived(
        "AFEDPD-D10",
        "dual drift",
        "Mean-square factors of the three methods for C = 100, to four digits.",
        [
            to_four_digits(name, r, 100, P, value)
            for (r, P), printed in RADII.items()
            for name, value in zip(METHODS, printed, strict=True)
        ],
        assumptions=[FAMILY, "FedADMM as printed: equal clients"],
        besides=radii,
        picture=lambda context: draw_radii(),
        kind="rate",
    ),
    derived(
        "AFEDPD-D11",
        "dual drift",
        (
            Clause(
                "FedADMM as printed with equal clients, 1 <= P < C, is unstable in mean square below a threshold e of r = rho/a,",
                ("below",),
            ),
            Clause("and stable above, where F(e) = 0;", ("above",)),
            Clause(
                "for C = 100 and P = 1, 2, 5, 10, 20, C = 10 and P = 1, 5 F changes its sign within 0.00002 of a number that rises, for each C, as "
                "P falls.",
                ("thresholds",),
            ),
            Clause("FedDyn and A-FedPD (P >= 2) are stable for every rho.", ("FedDyn", "A-FedPD")),
        ),
        [
            Step("below", stable.UNSTABLE),
            Step("above", stable.STABLE),
            Step("thresholds", of_numbers(thresholds())),
            Step("FedDyn", stable.FEDDYN),
            Step("A-FedPD", stable.A_FEDPD),
        ],
        assumptions=[FAMILY],
        readings=["F rises in r from F(0) = -2 (C - P)^2, so that it has one positive root."],
        picture=lambda context: draw_thresholds(),
        kind="divergence",
    ),
    derived(
        "AFEDPD-D12",
        "Eq. (6)",
        FLOOR,
        [
            Step("no fixed point", floors.NO_FIXED_POINT),
            Step("a floor", floors.ABOVE),
            Step("limit", floors.tends_to_floor("0.41159")),
        ],
        readings=[
            "A round that leaves the model, and all duals, has mean ||lambda_i^*||^2 <= 0, so that all b_i are one point, b_i = c_i - mean c_i.",
            "v_j[n] are numbers that first_j and next_j make, all positive: the weight in E x^2 of a form of n rounds before.",
        ],
        assumptions=[FAMILY],
        kind="divergence",
    ),
    claim(
        "AFEDPD-Q1",
        "Fig. 1, Sections 1 and 3.2",
        "Under partial participation the classical primal-dual method, FedADMM as Eq. (6) writes it, can become unstable; the lower P/C the worse.",
        [between(f"P = {P}", "1/20", P, *ends) for P, ends in FEWER.items()],
        assumptions=[FAMILY, "equal clients, C = 100, rho = a/20"],
        readings=[
            "'Becomes unstable' is read as: it can, which one penalty shows; AFEDPD-D11 has all. The method is Eq. (6) as the paper "
            "writes it, whose server averages active clients alone. That average is the paper's own: Wang et al.'s server averages what all clients "
            "sent last.",
            "The factor of the mean square is above 1 for P = 1, 2, 5 and 10, below 1 for 20 and more, and smaller for each P than for the one "
            "before.",
        ],
        kind="divergence",
    ),
    claim(
        "AFEDPD-Q2",
        "Section 4",
        "Errors of inexact local solves can make dual drift worse.",
        [
            between("a step a tenth too long", "1/100", 10, "1.3", "", left="-1/10"),
            between("exact solves", "1/100", 10, "1.02", "1.05"),
            between("a step half of the way", "1/100", 10, "1.0005", "1.02", left="1/2"),
            between("a step a tenth of the way", "1/100", 10, "", "1.0005", left="9/10"),
        ],
        assumptions=[FAMILY, "equal clients, C = 100, P = 10, rho = a/100"],
        readings=[
            "The paper says that these errors 'can be excessively large', by which drift 'is further exacerbated': it is read as that they can. Read "
            "as 'inexact solves always drift more' it is false: steps that stop short damp the drift. Without noise, on quadratics; stochastic "
            "gradients are not judged."
        ],
        kind="divergence",
    ),
]
