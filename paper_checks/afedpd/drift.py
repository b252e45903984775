"""Dual drift: when FedADMM as printed, FedDyn and A-FedPD are stable in mean square, by the moments of `paper_checks.afedpd.moments`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    Picture,
    Reading,
    Table,
    decided,
    disproved,
    proved,
)
from fedtheory.core.errors import require
from fedtheory.proofs.facts import compare
from fedtheory.proofs.symbolic import is_positive, symbols
from paper_checks.afedpd.moment_pictures import draw_radii
from paper_checks.afedpd.moments import (
    METHODS,
    claim,
    enumerate_moments,
    lies_inside,
    map_part,
    moments_agree,
    rational_matrix,
)
from paper_checks.afedpd.structure import DERIVED
from paper_checks.afedpd.theory import PAPER
from problems.dual_drift import drift_radius, moment_map

#: catalogue of the paper's claims: (FedADMM as printed, FedDyn, A-FedPD) for C = 100, exact solves
RADII = {
    ("1/50", 5): ("1.0469", "0.9981", "0.9984"),
    ("1/50", 20): ("1.0153", "0.9922", "0.9925"),
    ("1/10", 5): ("1.0054", "0.9914", "0.9930"),
    ("1/10", 50): ("0.9165", "0.9132", "0.9141"),
    ("1", 10): ("0.9250", "0.9258", "0.9318"),
    ("10", 20): ("0.8839", "0.8276", "0.8264"),
}


def check_d10(ctx: Context, *, C: int = 100, off: Fraction = Fraction(0)) -> Iterator[Finding]:
    """Radii to four digits, decided in fractions: all roots inside of r + 0.00005, and not of r - 0.00005."""
    half = Fraction(1, 20000)
    rows, good = [], []
    for (rho, P), printed in RADII.items():
        for name, value in zip(METHODS, printed, strict=True):
            inside = [lies_inside(name, Fraction(rho), C, P, Fraction(value) + sign * half) for sign in (1, -1)]
            good.append(inside == [True, False])
        rows.append([f"rho = {rho} a, P = {P}", *(drift_radius(name, float(Fraction(rho)), C, P) for name in METHODS)])
    yield decided(
        "radii",
        all(good),
        f"{len(good)} spectral radii of 4 x 4 maps to four digits, by the Schur-Cohn test in fractions",
    )
    yield map_part(off)
    yield Table("Mean-square factor a round, C = 100", ["", "FedADMM as printed", "FedDyn", "A-FedPD"], rows)
    yield draw_radii()


#: rho/a below which FedADMM as printed is unstable with equal clients
THRESHOLDS = {
    (100, 1): "0.24906",
    (100, 2): "0.19004",
    (100, 5): "0.12525",
    (100, 10): "0.08347",
    (100, 20): "0.04461",
    (10, 1): "0.24013",
    (10, 5): "0.05034",
}


def edges_of_stability(name: str, C: int, P: int, count: int) -> bool:
    """Whether det(I - M(rho)), a = 1, has so many roots rho > 0: one, because its numerator rises from below 0, or none, because it is positive.

    The map keeps the cone of second moments, so that its spectral radius is an eigenvalue (Perron and Frobenius): it passes 1 at these roots only.
    """
    sympy = require("sympy", "determinants")
    rho = symbols("rho", positive=True)
    matrix = (sympy.eye(4) - sympy.Matrix(moment_map(name, rho, C, P))).to_DM(field=True)
    above, below = sympy.fraction(sympy.factor(matrix.domain.to_sympy(matrix.det())))
    if not count:
        return is_positive(above / below)
    above = sympy.expand(above)
    return is_positive(below) and is_positive(above.diff(rho)) and is_positive(-above.subs(rho, 0))


def check_d11(
    ctx: Context, *, moved: str = "0", crosses: str = "fedadmm", off: Fraction = Fraction(0)
) -> Iterator[Finding]:
    """Thresholds bracketed in fractions, where the other two methods are stable; and that no other penalty is on the edge of stability."""
    near = Fraction(1, 50000)
    good = []
    for (C, P), value in THRESHOLDS.items():
        rho = Fraction(value) + Fraction(moved)
        stable = [lies_inside("fedadmm", rho + sign * near, C, P) for sign in (1, -1)]
        others = [lies_inside(name, rho, C, P) for name in ("feddyn", "a-fedpd") if name == "feddyn" or P > 1]
        good.append(stable == [True, False] and all(others))
    thresholds = decided(
        "thresholds",
        all(good),
        f"{len(good)} pairs (C, P): FedADMM as printed is unstable 0.00002 below and stable 0.00002 above, FedDyn and A-FedPD (P >= 2) are "
        "stable; the threshold rises from 0.045 at P/C = 1/5 to 0.249 at 1/100",
    )
    yield thresholds
    yield proved(
        "one crossing",
        all(
            edges_of_stability(name, C, P, count)
            for C, P in THRESHOLDS
            for name, count in ((crosses, 1), ("feddyn", 0), ("a-fedpd", 0))
            if name != "a-fedpd" or P > 1
        ),
        "the map keeps the cone of second moments, so that its spectral radius is an eigenvalue, and passes 1 where det(I - M) = 0 only: at one "
        "rho > 0 for FedADMM as printed, at none for FedDyn and A-FedPD. So each is on one side for all rho/a above, and below",
        resting_on=[thresholds],
    )
    yield map_part(off)
    grid = [float(r) for r in np.geomspace(0.005, 10, 60)]
    series = [
        {
            "label": f"{label}, P = {P} of 100",
            "x": grid,
            "y": [drift_radius(name, r, 100, P) for r in grid],
            "style": style,
        }
        for P, style in ((5, "line"), (50, "dashed"))
        for name, label in (("fedadmm", "FedADMM as printed"), ("feddyn", "FedDyn"), ("a-fedpd", "A-FedPD"))
    ]
    yield Picture("Dual drift: factor of the mean square a round", "rho/a", "spectral radius", series, logx=True)


def moves_with_noise(P: int, factor: Fraction = Fraction(1)) -> bool:
    """Whether FedADMM's E x^2 and E x h on the clients 1, 2, -3 are the map's and what their optimal duals add.

    The mean of the drawn lambda_i^* adds v s*/rho^2 to E x^2, s* = mean (lambda_i^*)^2; with c = mean d_i lambda_i^*, which falls by 1 - (P/C) b
    a round, b = rho/(1 + rho), it adds 2 (1 - 2 b) v c/rho^2 to E x^2 and -(P/C) b v c/rho to E x h.
    """
    centres, rho = (1, 2, -3), Fraction(3, 2)
    b, share, v = rho / (1 + rho), Fraction(P, 3), Fraction(3 - P, 2 * P) * factor
    found, matrix = enumerate_moments("fedadmm", centres, P, 2, rho, Fraction(2)), moment_map("fedadmm", rho, 3, P)
    square = Fraction(sum(centre**2 for centre in centres), 3)
    c, same = -square, []
    for before, after in zip(found, found[1:], strict=False):
        expected = [sum((m * value for m, value in zip(row, before, strict=True)), Fraction(0)) for row in matrix]
        expected[0] += v * (square + 2 * (1 - 2 * b) * c) / rho**2
        expected[1] -= share * b * v * c / rho
        same += [compare(e, "==", f) for e, f in zip(expected, after, strict=True)]
        c *= 1 - share * b
    return all(same)


def check_d12(ctx: Context, *, factor: str = "1", off: Fraction = Fraction(0)) -> Iterator[Finding]:
    """The floor of FedADMM as printed: first entry of (I - M)^{-1} (v s*/rho^2, 0, 0, 0), C = 100, P = 10, rho = a/2."""
    sympy = require("sympy", "linear solves")
    rho, C, P = Fraction(1, 2), 100, 10
    M = rational_matrix(moment_map("fedadmm", rho, C, P))
    v = Fraction(C - P, P * (C - 1)) * Fraction(factor)
    noise = sympy.Matrix([sympy.Rational(v.numerator, v.denominator) * 4, 0, 0, 0])
    floor = (sympy.eye(4) - M).LUsolve(noise)[0]
    found = Fraction(int(floor.p), int(floor.q))
    yield decided(
        "floor",
        compare(abs(found - Fraction("0.41159")), "<", Fraction(1, 100000))
        and lies_inside("fedadmm", rho, C, P) is True,
        f"E x^2 -> {float(found):.5f} mean b_i^2 for C = 100, P = 10, rho = a/2, where the map's roots are inside the unit circle",
    )
    yield proved(
        "moments where clients differ",
        all(moves_with_noise(P, Fraction(factor)) for P in (1, 2, 3)),
        "the drawn mean of the optimal duals adds v mean (lambda_i^*)^2/rho^2 to E x^2 a round, and terms in mean d_i lambda_i^*, which dies out: "
        "two rounds of every sequence of subsets by the library's method, in fractions",
        "exact",
        scope="three clients, two rounds",
    )
    stale = enumerate_moments("fedadmm", (1, 2, -3), 1, 1, Fraction(3, 2), Fraction(0))[1][0]
    kept = enumerate_moments("feddyn", (0, 0, 0), 1, 1, Fraction(3, 2), Fraction(0))[1][0]
    yield decided(
        "no fixed point",
        compare(stale, ">", 0) and compare(kept, "==", 0),
        "a round of the method from the optimum leaves it where clients differ, and not where they are equal",
    )
    yield map_part(off)


#: active clients of 100, and numbers between the factors at rho = a/20 of one and the next
ACTIVE = (1, 2, 5, 10, 20, 50, 100)
BETWEEN = tuple(map(Fraction, ("1.031", "1.027", "1.02", "1", "0.98", "0.93")))


def check_q1(ctx: Context, *, rho: str = "1/20", off: Fraction = Fraction(0)) -> Iterator[Finding]:
    """Instability of the classical method with few clients, stability with many, and factors that fall with P."""
    above = [lies_inside("fedadmm", Fraction(rho), 100, P, edge) for P, edge in zip(ACTIVE, BETWEEN, strict=False)]
    below = [lies_inside("fedadmm", Fraction(rho), 100, P, edge) for P, edge in zip(ACTIVE[1:], BETWEEN, strict=True)]
    yield proved(
        "the fewer the worse",
        not any(above) and all(below),
        f"FedADMM as printed with equal clients, C = 100, rho = {rho} a: the mean square's factors fall from P to the next in {ACTIVE}; for P up "
        "to 10 it grows, for P = 20 and more it falls",
    )
    yield map_part(off)
    yield Reading(
        "'Becomes unstable' is read as: it can, which one penalty shows; AFEDPD-D11 has all of them. The method is Eq. (6), whose server averages "
        "active clients alone; servers that average what all clients sent last are not judged."
    )


def check_q2(
    ctx: Context, *, beyond: str = "1/10", left: str = "1/2", off: Fraction = Fraction(0)
) -> Iterator[Finding]:
    """A gradient step that goes too far makes the factor larger; steps that stop short make it smaller."""
    rho, edge = Fraction(1, 100), Fraction(51, 50)
    far = -Fraction(beyond)
    yield proved(
        "steps that go too far",
        lies_inside("fedadmm", rho, 100, 10, Fraction(13, 10), far) is False
        and lies_inside("fedadmm", rho, 100, 10, Fraction(21, 20)) is True,
        f"FedADMM as printed, C = 100, P = 10, rho = a/100: one gradient step of size (1 + {beyond})/(a + rho) on each local problem, which leaves "
        f"{far} of the way, has a factor above 1.3, exact solves one below 1.05",
    )
    shares = (Fraction(0), Fraction(left), Fraction(9, 10))
    edges = edge, Fraction(10005, 10000)  # between the three factors
    inside = [[lies_inside("fedadmm", rho, 100, 10, edge, share) for share in shares] for edge in edges]
    shown = ", ".join(f"{drift_radius('fedadmm', float(rho), 100, 10, left=float(share)):.4f}" for share in shares)
    yield disproved(
        "always worse",
        inside == [[False, True, True], [False, False, True]],
        f"the same, gradient steps that leave 0, {left} and 9/10 of the way: factors {shown}, told apart in fractions; exact solves drift fastest "
        "of these",
        role="reading",
    )
    agree = all(
        moments_agree("fedadmm", (0, 0, 0), P, off=off, left=share) for P in (1, 2) for share in (far, Fraction(left))
    )
    yield proved(
        "moments of the methods",
        agree,
        "the map's moments are those of the library's method with one gradient step, two rounds of every sequence of subsets of three clients",
        "exact",
        scope="three clients, two rounds",
    )
    yield Reading(
        "The paper says that these errors 'can be excessively large', by which drift 'is further exacerbated': it is read as that they can. Read as "
        "'inexact solves always drift more' it is false: steps that stop short damp the drift. Without noise, on quadratics; stochastic "
        "gradients are not judged."
    )


CLAIMS: list[Claim] = [
    claim(
        "AFEDPD-D10",
        DERIVED,
        "rate",
        "dual drift",
        "Mean-square factors of the three methods for C = 100, to four digits.",
        check_d10,
        Fault("C = 99", "radii", {"C": 99}),
    ),
    claim(
        "AFEDPD-D11",
        DERIVED,
        "divergence",
        "dual drift",
        "C = 100 and P = 1, 2, 5, 10, 20, C = 10 and P = 1, 5: FedADMM as printed is unstable in mean square with equal clients below a threshold "
        "of rho/a that rises as P/C falls, and stable above; FedDyn and A-FedPD (P >= 2) are stable for every rho.",
        check_d11,
        Fault("thresholds 0.0001 higher", "thresholds", {"moved": "1/10000"}),
        Fault("FedDyn in the place of FedADMM", "one crossing", {"crosses": "feddyn"}),
    ),
    claim(
        "AFEDPD-D12",
        DERIVED,
        "divergence",
        "Eq. (6)",
        "FedADMM as printed has no fixed point where clients differ and P < C: E x^2 tends to a floor, 0.41159 mean b_i^2 for C = 100, P = 10, "
        "rho = a/2.",
        check_d12,
        Fault("a hundredth more noise", "floor", {"factor": "101/100"}),
        Fault("a hundredth more noise in the rounds", "moments where clients differ", {"factor": "101/100"}),
    ),
    claim(
        "AFEDPD-Q1",
        PAPER,
        "divergence",
        "Fig. 1, Sections 1 and 3.2",
        "Under partial participation the classical primal-dual method can become unstable; the lower P/C the worse.",
        check_q1,
        Fault("rho = a/19", "the fewer the worse", {"rho": "1/19"}),
    ),
    claim(
        "AFEDPD-Q2",
        PAPER,
        "divergence",
        "Section 4",
        "Errors of inexact local solves can make dual drift worse.",
        check_q2,
        Fault("a step 9/100 too long", "steps that go too far", {"beyond": "9/100"}),
        Fault("in the other order", "always worse", {"left": "19/20"}, holds=True),
    ),
]
