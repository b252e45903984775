"""Dual drift: when FedADMM as printed, FedDyn and A-FedPD are stable in mean square, by the moments of `paper_checks.afedpd.moments`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from fedtheory.algorithms import FedADMM
from fedtheory.algorithms.fedadmm import FedADMMState
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
from fedtheory.claims.protocol import Clause, join_clauses
from fedtheory.core.errors import require
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.proofs.facts import compare
from fedtheory.proofs.recurrences import lies_within
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from paper_checks.afedpd.moment_pictures import draw_radii
from paper_checks.afedpd.moments import (
    METHODS,
    claim,
    follows_from_a_round,
    lies_inside,
    map_part,
    moments_agree,
    noise_of_fedadmm,
    noise_part,
    rational_matrix,
)
from paper_checks.afedpd.structure import DERIVED
from paper_checks.afedpd.theory import PAPER
from problems.dual_drift import drift_radius, moment_map
from problems.quadratics import scalar_quadratics

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
    (100, 1): Fraction("0.24906"),
    (100, 2): Fraction("0.19004"),
    (100, 5): Fraction("0.12525"),
    (100, 10): Fraction("0.08347"),
    (100, 20): Fraction("0.04461"),
    (10, 1): Fraction("0.24013"),
    (10, 5): Fraction("0.05034"),
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


def of_clients(C: int) -> list[int]:
    """The P whose threshold is listed."""
    return [P for clients, P in THRESHOLDS if clients == C]


def check_d11(
    ctx: Context, *, moved: str = "0", crosses: str = "fedadmm", off: Fraction = Fraction(0)
) -> Iterator[Finding]:
    """Thresholds bracketed in fractions, where the other two methods are stable; and that no other penalty is on the edge of stability."""
    near = Fraction(1, 50000)
    good = []
    for (C, P), value in THRESHOLDS.items():
        rho = value + Fraction(moved)
        stable = [lies_inside("fedadmm", rho + sign * near, C, P) for sign in (1, -1)]
        others = [lies_inside(name, rho, C, P) for name in ("feddyn", "a-fedpd") if name == "feddyn" or P > 1]
        good.append(stable == [True, False] and all(others))
        good += [compare(value, ">", THRESHOLDS[C, more]) for more in of_clients(C) if more > P]
    thresholds = decided(
        "thresholds",
        all(good),
        f"{len(good)} pairs (C, P): FedADMM as printed is unstable 0.00002 below and stable 0.00002 above, FedDyn and A-FedPD (P >= 2) are "
        "stable; for C = 100 the threshold rises from 0.045 at P = 20 to 0.249 at P = 1, and for C = 10 as fewer take part, too",
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


def stands_still_where_alike(exchanged: int = 1) -> bool:
    """Whether a state that a round keeps whoever is drawn has lambda_i = 0 for all: P < C clients of which one is exchanged for another.

    Where nothing moves every model is x and lambda_i = -grad f_i(x); the server's x + mean over the active lambda_i/rho is x for every subset. Of two
    subsets that differ in i and j the means are (lambda_i - lambda_j)/P apart: all duals are alike, and so 0.
    """
    rho, P, others, mine, yours, x = symbols("rho P sum_of_others lambda_i lambda_j x")
    servers = [x + (others + dual) / (P * rho) for dual in (mine, yours)]
    return is_zero(servers[0] - servers[1] - exchanged * (mine - yours) / (P * rho))


def floor_of(rho: Fraction, C: int, P: int, factor: Fraction = Fraction(1)) -> Fraction:
    """The limit of E x^2 over mean (lambda_i^*)^2: first entry of (I - M)^{-1} (v/rho^2, 0, 0, 0), where M's roots are inside the unit circle."""
    sympy = require("sympy", "linear solves")
    M = rational_matrix(moment_map("fedadmm", rho, C, P))
    noise = noise_of_fedadmm(rho, Fraction(C), Fraction(P), factor, Fraction(0))
    found = (sympy.eye(4) - M).LUsolve(rational_matrix([[n] for n in noise]))[0]
    return Fraction(int(found.p), int(found.q))


def check_d12(ctx: Context, *, factor: str = "1", off: Fraction = Fraction(0), exchanged: int = 1) -> Iterator[Finding]:
    """No fixed point unless all local gradients vanish at one; the noise that keeps E x^2 up; its limit for one setting."""
    rho, C, P = Fraction(1, 2), 100, 10
    yield proved(
        "no fixed point",
        stands_still_where_alike(exchanged),
        "a state that a round keeps whoever takes part has models x and duals -grad f_i(x), whose averages over subsets of P < C clients are 0: they "
        "are all alike, and 0, so that x minimises every f_i. The clients (a/2)(x - b_i)^2 have no such point unless the b_i are equal",
    )
    others, more, r, s = symbols("others more rho s_star", positive=True)
    active = 1 + more
    yield proved(
        "a floor",
        follows_from_a_round("fedadmm") and is_positive(noise_of_fedadmm(r, others + active, active, s, 0 * s)[0]),
        "a round adds v mean (lambda_i^*)^2/rho^2 > 0 to E x^2, besides the square of what the state gives and a term in mean d_i lambda_i^*, which "
        "dies out (AFEDPD-D7): E x^2 does not come below it",
    )
    found = floor_of(rho, C, P, Fraction(factor))
    yield decided(
        "floor",
        compare(abs(found - Fraction("0.41159")), "<", Fraction(1, 100000))
        and lies_inside("fedadmm", rho, C, P) is True,
        f"E x^2 -> {float(found):.5f} mean b_i^2 for C = 100, P = 10, rho = a/2, where the map's roots are inside the unit circle",
    )
    yield noise_part(Fraction(factor))
    yield map_part(off)


#: active clients of 100, and numbers between the factors at rho = a/20 of one and the next
ACTIVE = (1, 2, 5, 10, 20, 50, 100)
BETWEEN = tuple(map(Fraction, ("1.031", "1.027", "1.02", "1", "0.98", "0.93")))


def published_map(rho: Any, C: int, P: int) -> list[list[Any]]:
    """(E mean lambda_i^2, E (mean lambda_i)^2) over a round of FedADMM as published, equal clients, exact solves, a = 1.

    Its server averages z_i = theta_i + lambda_i/rho of all clients, whoever was active. Once all have been, lambda_i = -theta_i, so that x =
    (1/rho - 1) h for h = mean lambda_i, and a client that is active moves lambda_i to (lambda_i - (1 - rho) h)/(1 + rho).
    """
    share, v = Fraction(P, C), Fraction(C - P, P * (C - 1))
    k, r = share / (1 + rho), 1 - rho
    drawn = (k * rho) ** 2  # of E D^2 = h^2 + v (s - h^2), D the mean of the active lambda_i
    return [
        [1 - share + share / (1 + rho) ** 2, share * (r * r - 2 * r) / (1 + rho) ** 2],
        [drawn * v, (1 - k * r) ** 2 - 2 * (1 - k * r) * k * rho + drawn * (1 - v)],
    ]


def published_moments_agree(P: int, off: Fraction = Fraction(0)) -> bool:
    """Whether the library's FedADMM that averages all has these moments: a round of every subset of three equal clients with different duals."""
    rho, duals = Fraction(3, 2), np.array([[Fraction(n)] for n in (2, -5, 7)], dtype=object)
    problem, method = scalar_quadratics([Fraction(1)] * 3), FedADMM(rho, averages="all")
    server = np.array([[(1 / rho - 1) * sum(duals.ravel()) / 3]], dtype=object)
    key: Any = ScriptedKey(0)

    def moments(lam: Any) -> list[Fraction]:
        return [sum(lam.ravel() ** 2) / 3, (sum(lam.ravel()) / 3) ** 2]

    before, drawn = moments(duals), [Clients(3, np.array(subset)) for subset in combinations(range(3), P)]
    start = FedADMMState(server, server, -duals, duals)
    after = [method.round(problem, start, clients, key) for clients in drawn]
    if not all(compare(a.x.item(), "==", (1 / rho - 1) * sum(a.lam_i.ravel()) / 3) for a in after):
        return False
    found = [sum(moments(a.lam_i)[k] for a in after) / len(after) for k in (0, 1)]
    told = [sum(m * value for m, value in zip(row, before, strict=True)) for row in published_map(rho + off, 3, P)]
    return all(compare(t, "==", f) for t, f in zip(told, found, strict=True))


def published_is_stable(rho: Fraction, C: int, P: int) -> bool | None:
    """Whether the mean square of the duals falls, and with it that of the model, decided in fractions."""
    coefficients = rational_matrix(published_map(rho, C, P)).charpoly().all_coeffs()
    return lies_within([Fraction(int(c.p), int(c.q)) for c in reversed(coefficients)], Fraction(1))


def check_q1(ctx: Context, *, rho: str = "1/20", off: Fraction = Fraction(0), least: str = "1/20") -> Iterator[Finding]:
    """Instability of the classical method with few clients, stability with many, and factors that fall with P."""
    above = [lies_inside("fedadmm", Fraction(rho), 100, P, edge) for P, edge in zip(ACTIVE, BETWEEN, strict=False)]
    below = [lies_inside("fedadmm", Fraction(rho), 100, P, edge) for P, edge in zip(ACTIVE[1:], BETWEEN, strict=True)]
    yield proved(
        "the fewer the worse",
        not any(above) and all(below),
        f"Eq. (6) with equal clients, C = 100, rho = {rho} a: the mean square's factors fall from P to the next in {ACTIVE}; for P up to 10 it "
        "grows, for P = 20 and more it falls",
    )
    yield map_part(off)
    cases = [*((Fraction(rho), 100, P) for P in ACTIVE[:-1]), (Fraction(least), 4, 1)]
    yield disproved(
        "FedADMM as published",
        all(published_is_stable(*case) for case in cases)
        and lies_inside("fedadmm", Fraction(least), 4, 1, Fraction(123, 100)) is False
        and all(published_moments_agree(P, off) for P in (1, 2)),
        "Wang et al.'s server averages what all clients sent last. On the same instances, and for C = 4, P = 1, rho = a/20, where the mean square "
        "of Eq. (6) grows more than 1.23 times a round, its mean square falls",
        "exact",
        "reading",
    )
    yield Reading(
        "'Becomes unstable' is read as: it can, which one penalty shows; AFEDPD-D11 has all of them. The method is FedADMM as the paper writes it, "
        "Eq. (6), whose server averages active clients alone. That average is the paper's own: FedADMM as published is stable here."
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


FLOOR = (
    Clause("FedADMM as printed has no fixed point where clients differ and P < C:", ("no fixed point",)),
    Clause("E x^2 keeps above a floor,", ("a floor",)),
    Clause("to which it tends where it is stable, 0.41159 mean b_i^2 for C = 100, P = 10, rho = a/2.", ("floor",)),
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
        "of rho/a that rises, for each C, as P falls, and stable above; FedDyn and A-FedPD (P >= 2) are stable for every rho.",
        check_d11,
        Fault("thresholds 0.0001 higher", "thresholds", {"moved": "1/10000"}),
        Fault("FedDyn in the place of FedADMM", "one crossing", {"crosses": "feddyn"}),
    ),
    claim(
        "AFEDPD-D12",
        DERIVED,
        "divergence",
        "Eq. (6)",
        join_clauses(FLOOR),
        check_d12,
        Fault("a hundredth more noise", "floor", {"factor": "101/100"}),
        Fault("a hundredth more noise in the rounds", "moments where clients differ", {"factor": "101/100"}),
        Fault("another mean after an exchange", "no fixed point", {"exchanged": 2}),
        clauses=FLOOR,
    ),
    claim(
        "AFEDPD-Q1",
        PAPER,
        "divergence",
        "Fig. 1, Sections 1 and 3.2",
        "Under partial participation the classical primal-dual method, FedADMM as Eq. (6) writes it, can become unstable; the lower P/C the worse.",
        check_q1,
        Fault("a larger penalty", "FedADMM as published", {"least": "1/4"}, holds=True),
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
