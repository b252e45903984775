"""Exact moments of A-FedPD, FedDyn and FedADMM as printed, whoever takes part (`problems.dual_drift.moment_map`), and A-FedPD's rates by them.

The family: f_i(x) = (a/2)(x - b_i)^2 with one curvature, exact solves unless said; P of C clients are drawn uniformly each round. The moments obey
a linear map, so that rates are spectral radii and sums are closed forms; that they are the method's is checked in fractions over every
sequence of subsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from fedtheory.algorithms import AFedPD, FedADMM, FedDyn
from fedtheory.claims import (
    Claim,
    Context,
    Fault,
    Finding,
    decided,
    proved,
)
from fedtheory.core.errors import require
from fedtheory.core.participation import Clients
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.proofs.facts import compare
from fedtheory.proofs.recurrences import lies_within
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.afedpd.moment_pictures import (
    FAMILY,
    draw_equal_clients,
    draw_spread,
)
from paper_checks.afedpd.structure import DERIVED
from problems.dual_drift import active_average_row, moment_map
from problems.quadratics import scalar_quadratics

METHODS: dict[str, Any] = {"fedadmm": partial(FedADMM, averages="active"), "feddyn": FedDyn, "a-fedpd": AFedPD}
#: and FedDyn whose server takes its previous dual, Eq. (7) as printed
PLAYED = METHODS | {"feddyn-printed": partial(FedDyn, server_dual="old")}


# ---- the moments are those of the methods ------------------------------------------------------------------------------


def play_all(
    name: str, centres: tuple[int, ...], active: int, rounds: int, rho: Fraction, x0: Fraction, left: Fraction
) -> list[list[tuple[Any, Any]]]:
    """After each round the states of every sequence of subsets and who was active last, by the library's method in fractions; a = 1.

    ``left``: of the way to local solutions, by one gradient step; 0 for exact ones.
    """
    C = len(centres)
    problem = scalar_quadratics([Fraction(1)] * C, [Fraction(b) for b in centres])
    algorithm: Any = PLAYED[name](rho, local=GradientSteps(1, (1 - left) / (1 + rho)) if left else Exact())
    found: list[list[tuple[Any, Any]]] = [[(algorithm.init(problem, np.array([[x0]], dtype=object)), None)]]
    drawn = [Clients(C, np.array(s)) for s in combinations(range(C), active)]
    for r in range(rounds):
        key: Any = ScriptedKey(r)
        played = product((state for state, _ in found[-1]), drawn)
        found.append([(algorithm.round(problem, state, clients, key), clients) for state, clients in played])
    return found


def enumerate_moments(
    name: str,
    centres: tuple[int, ...],
    active: int,
    rounds: int,
    rho: Fraction,
    x0: Fraction,
    left: Fraction = Fraction(0),
) -> list[list[Any]]:
    """(E x^2, E x h, E h^2, E s) at the start and after each round of `play_all`; mean b_i = 0."""
    optimal, found = np.array([Fraction(b) for b in centres], dtype=object), []
    for states in play_all(name, centres, active, rounds, rho, x0, left):
        moments = [Fraction(0)] * 4
        for state, _ in states:
            x = (state.x_bar if name == "a-fedpd" else state.x).item()
            d = (state.mu_i if name == "a-fedpd" else state.lam_i).ravel() - optimal
            h, s = sum(d) / len(d), sum(d * d) / len(d)
            moments = [m + value / len(states) for m, value in zip(moments, (x * x, x * h, h * h, s), strict=True)]
        found.append(moments)
    return found


def averages_agree(active: int, off: Fraction = Fraction(0)) -> bool:
    """Whether FedDyn's E (mean of the active models)^2 is that of `active_average_row`, two rounds of the clients 1, 2, -3."""
    given: Any = ("feddyn", (1, 2, -3), active, 2, Fraction(3, 2), Fraction(2), Fraction(0))
    row, same = active_average_row(Fraction(3, 2) + off, 3, active), []
    for before, states in zip(enumerate_moments(*given), play_all(*given)[1:], strict=False):
        squares = [(sum(state.x_i.ravel()[clients.index]) / active) ** 2 for state, clients in states]
        expected = sum(entry * moment for entry, moment in zip(row, before, strict=True))
        same.append(compare(expected, "==", sum(squares) / len(squares)))
    return all(same)


def moments_agree(
    name: str,
    centres: tuple[int, ...],
    active: int,
    rounds: int = 2,
    off: Fraction = Fraction(0),
    left: Fraction = Fraction(0),
) -> bool:
    """Whether the map gives the moments of the method; ``off`` is a fault of rho."""
    rho = Fraction(3, 2)
    found = enumerate_moments(name, centres, active, rounds, rho, Fraction(2), left)
    matrix = moment_map(name, rho + off, len(centres), active, 1, left)
    predicted = [[sum(m * v for m, v in zip(row, before, strict=True)) for row in matrix] for before in found[:-1]]
    return all(
        compare(p, "==", f)
        for before, after in zip(predicted, found[1:], strict=True)
        for p, f in zip(before, after, strict=True)
    )


def map_part(off: Fraction = Fraction(0)) -> Finding:
    """Part: the moment maps are those of the three methods."""
    cases = [("feddyn", (1, 2, -3)), ("a-fedpd", (1, 2, -3)), ("fedadmm", (0, 0, 0))]
    agree = all(moments_agree(name, centres, P, off=off) for name, centres in cases for P in (1, 2, 3))
    agree &= all(averages_agree(P, off) for P in (1, 2, 3))
    return proved(
        "moments of the methods",
        agree,
        "three clients, P = 1, 2, 3, two rounds of every sequence of subsets by the library's methods in fractions: E x^2, E x h, E h^2, E s are "
        "those of the map (FedADMM with equal clients), and so is E of FedDyn's squared average of active models",
        "exact",
        scope="three clients, two rounds",
    )


def moves_with_noise(P: int, factor: Fraction = Fraction(1)) -> bool:
    """Whether FedADMM's moments on the clients 1, 2, -3 are the map's and `noise_of_fedadmm`, two rounds of every sequence of subsets."""
    centres, rho = (1, 2, -3), Fraction(3, 2)
    found, matrix = enumerate_moments("fedadmm", centres, P, 2, rho, Fraction(2)), moment_map("fedadmm", rho, 3, P)
    square = Fraction(sum(centre**2 for centre in centres), 3)
    products, same = -square, []
    for before, after in zip(found, found[1:], strict=False):
        expected = [sum((m * value for m, value in zip(row, before, strict=True)), Fraction(0)) for row in matrix]
        noise = noise_of_fedadmm(rho, Fraction(3), Fraction(P), factor * square, factor * products)
        same += [compare(e + n, "==", f) for e, n, f in zip(expected, noise, after, strict=True)]
        products *= products_fall(rho, Fraction(3), Fraction(P))
    return all(same)


def noise_part(factor: Fraction = Fraction(1)) -> Finding:
    """Part: what optimal duals that differ add to FedADMM's moments is so in the library's method."""
    return proved(
        "moments where clients differ",
        all(moves_with_noise(P, factor) for P in (1, 2, 3)),
        "three different clients, two rounds of every sequence of subsets by the library's method in fractions: the drawn mean of the optimal duals "
        "adds v mean (lambda_i^*)^2/rho^2 to E x^2 a round, and terms in mean d_i lambda_i^*, which dies out",
        "exact",
        scope="three clients, two rounds",
    )


def lies_inside(
    name: str, rho: Fraction, clients: int, active: int, radius: Fraction = Fraction(1), left: Fraction = Fraction(0)
) -> bool | None:
    """Whether all roots of the map's characteristic polynomial lie inside of a circle, a = 1, in fractions: for 1, whether the mean square falls."""
    coefficients = rational_matrix(moment_map(name, rho, clients, active, 1, left)).charpoly().all_coeffs()
    return lies_within([Fraction(int(c.p), int(c.q)) for c in reversed(coefficients)], radius)


OFF = Fault("rho a hundredth larger in the map", "moments of the methods", {"off": Fraction(1, 100)})


def noise_of_fedadmm(rho: Any, C: Any, P: Any, squares: Any, products: Any, left: Any = 0) -> tuple[Any, ...]:
    """What FedADMM as printed adds a round to (E x^2, E x h, E h^2, E s) besides its map, a = 1: through the drawn mean of optimal duals.

    ``squares`` = mean (lambda_i^*)^2 and ``products`` = mean d_i lambda_i^*, which a round multiplies by `products_fall`.
    """
    b, v = (1 - left) * rho / (1 + rho), (C - P) / (P * (C - 1))
    return v * (squares + 2 * (1 - 2 * b) * products) / rho**2, -P / C * b * v * products / rho, 0 * rho, 0 * rho


def products_fall(rho: Any, C: Any, P: Any, left: Any = 0) -> Any:
    """Factor of mean d_i lambda_i^* a round, a = 1."""
    return 1 - P / C * (1 - left) * rho / (1 + rho)


def follows_from_a_round(name: str, spare: int = 1, factor: Any = 1) -> bool:
    """Whether the map is what a round does, in symbols: rho/a (a = 1), C, P, and for FedADMM and FedDyn the share of the way that is left.

    The local problem of a client with the dual lambda_i^* + d has the slope y + d + rho (y - x); D is the mean of the active d, and of means
    over them E d = E D = h, E d^2 = s, E d D = E D^2 = h^2 + v (s - h^2). FedADMM's server takes the drawn mean M of the lambda_i^*, too, whose
    average over all clients is 0: E M = 0 given x and h, E M^2 = v mean (lambda_i^*)^2 and E M D = v mean d_i lambda_i^*.
    With ``spare`` = 0 clients are drawn with replacement; ``factor`` scales FedADMM's noise.
    """
    sympy = require("sympy", "moments")
    rho, others, P = symbols("rho others P", positive=True)
    C = others + 1
    left, x, h, d, D, y, X, M, Q, S = symbols("left x h d D y X M Q S")
    star, mean_star, s_star, c = symbols("star mean_star s_star c")
    left = 0 * left if name == "a-fedpd" else left
    model = left * x + (1 - left) * sympy.solve(y + d + rho * (y - x), y)[0]
    mean = model.subs(d, D)
    if name == "a-fedpd":
        dual, common, server = d + rho * (model - mean), 0 * h, mean
    else:
        dual = d + rho * (model - x)
        common = h + P / C * (dual.subs(d, D) - D)
        server = mean + (dual.subs(d, D) + mean_star if name == "fedadmm" else common) / rho
    v = (C - P) / (P * (C - spare))
    square = Q + v * (S - Q)
    known = {x**2: X, x * h: M, x * d: M, x * D: M, h**2: Q, h * d: Q, h * D: Q, d**2: S, d * D: square, D**2: square}
    known |= {x * mean_star: 0, h * mean_star: 0, D * mean_star: v * c, mean_star**2: v * s_star}

    def expected(e: Any) -> Any:
        variables = (x, h, d, D, mean_star)
        return sum(
            coefficient * known[sympy.prod(variable**k for variable, k in zip(variables, powers, strict=True))]
            for powers, coefficient in sympy.Poly(e, *variables).terms()
        )

    found = [
        *(expected(product) if product else 0 for product in (server**2, server * common, common**2)),
        (1 - P / C) * S + P / C * expected(dual**2),
    ]
    noise = noise_of_fedadmm(rho, C, P, factor * s_star, factor * c, left) if name == "fedadmm" else (0, 0, 0, 0)
    kept = (X, S) if name == "a-fedpd" else (X, M, Q, S)  # the mean of A-FedPD's own duals stays 0
    for value, row, added in zip(map(sympy.sympify, found), moment_map(name, rho, C, P, 1, left), noise, strict=True):
        rest = value - sum(entry * m for m, entry in zip((X, M, Q, S), row, strict=True) if m in kept) - added
        if not is_zero(sympy.numer(sympy.together(rest.subs({m: 0 for m in (X, M, Q, S) if m not in kept})))):
            return False
    if name != "fedadmm":
        return True
    # mean d_i lambda_i^*: of a drawn client the product moves by (dual - d) lambda_i^*, and x and the mean of all lambda_i^* drop out
    moved = sympy.Poly(sympy.expand((dual - d) * star), x, d, star).coeff_monomial(d * star)
    return is_zero(1 + P / C * moved - products_fall(rho, C, P, left))


def check_d7(
    ctx: Context, *, spare: int = 1, off: Fraction = Fraction(0), factor: Fraction = Fraction(1)
) -> Iterator[Finding]:
    """A draw, the map from one round in symbols, and the methods."""
    C, P, s, h = symbols("C P s h", positive=True)
    v = (C - P) / (P * (C - 1))
    # pairs of drawn clients: P(i, j drawn)/P^2 for i != j, 1/(P C) for i = j; sum d = C h, sum d^2 = C s
    square = C * s / (P * C) + (C**2 * h**2 - C * s) * (P - 1) / (P * C * (C - 1))
    yield proved("a draw", is_zero(square - (h**2 + v * (s - h**2))), "E D = h, E D^2 = h^2 + v (s - h^2)")
    yield proved(
        "every C and P",
        all(follows_from_a_round(name, spare, factor) for name in METHODS),
        "a round is linear in (x, h), a client's own d, the drawn mean D and, for FedADMM, the drawn mean of the lambda_i^*: the entries of the "
        "maps, and what FedADMM adds to them, are the expectations of its products",
    )
    yield map_part(off)
    yield noise_part(factor)


# ---- A-FedPD --------------------------------------------------------------------------------------------------------


def gossip_rate(rho: Any, C: Any, P: Any, a: Any = 1) -> Any:
    """Factor of E s a round for A-FedPD: 1 - (1 - kappa^2)(P-1)/(C-1), kappa = a/(a + rho)."""
    return 1 - (1 - (a / (a + rho)) ** 2) * (P - 1) / (C - 1)


def check_d8(ctx: Context, *, shift: int = 1, off: Fraction = Fraction(0)) -> Iterator[Finding]:
    """E s and E x^2 of A-FedPD, one round, in symbols."""
    kappa, total, D, P, C, s = symbols("kappa total D P C s", positive=True)
    # active errors d_i with mean D and sum of squares total: they move to D + kappa (d_i - D)
    change = P * D**2 + kappa**2 * (total - P * D**2) - total
    square = (C - P) / (P * (C - 1)) * s
    expected = change.subs(total, P * s).subs(D**2, square)
    yield proved(
        "rates",
        is_zero(s + expected / C - s * (1 - (1 - kappa**2) * (P - shift) / (C - 1)))
        and follows_from_a_round("a-fedpd"),
        "mu_i - mu_i^* = d_i of active clients contract to their mean D by kappa, E sum d_i^2 = P s, E D^2 = v s since sum d_i = 0; and "
        "x^{t+1} = (rho x^t - D)/(a + rho) with E x D = 0 (AFEDPD-D7)",
    )
    yield map_part(off)
    yield draw_spread(float(gossip_rate(Fraction(1, 2), 100, 10)))


def falls_alike(weight: Fraction = Fraction(1)) -> bool:
    """a y + rho (y - x) = 0 at y = rho x/(a + rho)."""
    a, rho, x = symbols("a rho x", positive=True)
    y = weight * rho * x / (a + rho)
    return is_zero(a * y + rho * (y - x))


def check_d9(
    ctx: Context, *, C: int = 100, weight: Fraction = Fraction(1), off: Fraction = Fraction(0)
) -> Iterator[Finding]:
    """Without heterogeneity the model's factor is rho/(a + rho) for every P; rounds against FedDyn."""
    yield proved(
        "every P",
        falls_alike(weight),
        "equal clients whose mu_i are 0 all return rho thetabar/(a + rho), where the local slope is 0 (AFEDPD-D3); so does their mean, and mu_i stay "
        "0 (AFEDPD-D2)",
    )
    counts = {name: _rounds_to(name, Fraction(1, 2), C, 10, Fraction(1, 10**6)) for name in ("a-fedpd", "feddyn")}
    yield decided(
        "rounds to 1e-6",
        compare(counts["a-fedpd"], "==", 7) and compare(counts["feddyn"], "==", 114),
        f"C = {C}, P = 10, rho = a/2: {counts['a-fedpd']} rounds against {counts['feddyn']} of FedDyn",
    )
    yield map_part(off)
    yield draw_equal_clients(C)


def _rounds_to(name: str, rho: Fraction, C: int, P: int, target: Fraction) -> int:
    """Rounds until E (thetabar^t)^2 of equal clients has fallen from 1 to the target, in fractions; at most 500."""
    matrix, moments = moment_map(name, rho, C, P), [Fraction(1), Fraction(0), Fraction(0), Fraction(0)]
    row = matrix[0] if name == "a-fedpd" else active_average_row(rho, C, P)
    for r in range(1, 501):
        if compare(sum(a * m for a, m in zip(row, moments, strict=True)), "<=", target):
            return r
        moments = [sum((a * m for a, m in zip(line, moments, strict=True)), Fraction(0)) for line in matrix]
    return 501


def rational_matrix(rows: Any) -> Any:
    """Rows of fractions as SymPy's matrix of rationals."""
    sympy = require("sympy", "matrices of rationals")
    return sympy.Matrix(rows).applyfunc(lambda e: sympy.Rational(Fraction(e).numerator, Fraction(e).denominator))


def check_d6(ctx: Context, *, memory: int = 1) -> Iterator[Finding]:
    """K gradient steps leave c of the way: heavy-ball momentum with coefficient c."""
    c, rho, a, x, before = symbols("c rho a x before", positive=True)
    after = (1 - c) * rho * x / (a + rho) + c * (2 * x - before)
    claimed = ((1 - c) * rho / (a + rho) + c) * x + c * memory * (x - before)
    yield proved(
        "momentum",
        is_zero(after - claimed),
        "local steps start at theta^t = 2 thetabar^t - thetabar^{t-1} and go 1 - c of the way to rho x/(a + rho) (AFEDPD-D3)",
    )
    rate, steps, weight = Fraction(1, 10), 3, Fraction(3, 2)
    problem = scalar_quadratics([Fraction(1)] * 3)
    algorithm, key = AFedPD(weight, GradientSteps(steps, rate)), ScriptedKey(0)
    states = [algorithm.init(problem, np.array([[Fraction(2)]], dtype=object))]
    for _ in range(4):
        states.append(algorithm.round(problem, states[-1], Clients(3, np.array([0, 2])), key))  # type: ignore[arg-type]
    kept = (1 - rate * (1 + weight)) ** steps
    bars = [state.x_bar.item() for state in states]
    law = [
        ((1 - kept) * weight / (1 + weight) + kept) * now + kept * memory * (now - old)
        for old, now in zip(bars, bars[1:], strict=False)
    ]
    yield decided(
        "the library's method",
        all(compare(p, "==", f) for p, f in zip(law, bars[2:], strict=False)),
        "three rounds with three gradient steps, in fractions",
    )


def claim(
    id: str,
    paper: str,
    kind: Any,
    source: str,
    statement: str,
    check: Any,
    *faults: Fault,
    assumes: Sequence[str] = (),
    **more: Any,
) -> Claim:
    """A claim on the family, and on what it assumes besides, with the fault of the moment maps besides its own."""
    own = faults if check is check_d6 else (*faults, OFF)
    return Claim(id, paper, kind, source, statement, check, own, (FAMILY, *assumes), **more)


CLAIMS: list[Claim] = [
    claim(
        "AFEDPD-D6",
        DERIVED,
        "identity",
        "Algorithm 1, inexact solves",
        "K gradient steps on equal quadratics make heavy-ball momentum of thetabar with coefficient c = (1 - eta (a + rho))^K.",
        check_d6,
        Fault("twice the momentum", "momentum", {"memory": 2}),
    ),
    claim(
        "AFEDPD-D7",
        DERIVED,
        "identity",
        "Eqs. (6), (7), Algorithm 1",
        "The moments (E x^2, E x h, E h^2, E s) obey a linear map for FedDyn and A-FedPD, for every C and P. For FedADMM as printed they obey one "
        "plus v (mean (lambda_i^*)^2 + 2 (1 - 2 b) c)/rho^2 in E x^2 and -(P/C) b v c/rho in E x h, b = rho/(a + rho), where c = mean d_i lambda_i^* "
        "falls by 1 - (P/C) b a round: a linear map alone where clients are equal.",
        check_d7,
        Fault("draws with replacement", "every C and P", {"spare": 0}),
        Fault("a hundredth more noise", "every C and P", {"factor": Fraction(101, 100)}),
    ),
    claim(
        "AFEDPD-D8",
        DERIVED,
        "rate",
        "Algorithm 1",
        "E s^t = s^0 (1 - (1 - kappa^2)(P-1)/(C-1))^t, kappa = a/(a + rho), and E x^2 is driven by v E s/(a + rho)^2.",
        check_d8,
        Fault("P for P - 1", "rates", {"shift": 0}),
    ),
    claim(
        "AFEDPD-D9",
        DERIVED,
        "rate",
        "Algorithm 1, equal clients",
        "x^t = (rho/(a + rho))^t x^0 for every P; to 1e-6 at C = 100, P = 10, rho = a/2 in 7 rounds against 114 of FedDyn.",
        check_d9,
        Fault("C = 50", "rounds to 1e-6", {"C": 50}),
        Fault("a hundredth more", "every P", {"weight": Fraction(101, 100)}),
        assumes=("equal clients",),
    ),
]
