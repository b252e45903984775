"""Where SAFARI and FedAvg go: exact fixed points and plateaus of the mean and of the mean square."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import Safari
from fedtheory.claims import Claim, Context, Covered, Fault, Finding, Reading, Theorem, at_most, holds, proved, state
from fedtheory.core.participation import Fixed
from fedtheory.core.problem import Pooled, constant
from fedtheory.local.solvers import GradientSteps
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.measures.mean_round import mean_fixed_point
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.formulas import formula
from paper_checks.safari.biased import BIASED, moments_part, played
from paper_checks.safari.optimisation import DERIVED, PAPER
from paper_checks.safari.theorems import largest_ratio
from problems.biased_participation import round_maps
from problems.datasets import breast_cancer
from problems.logistic import logistic
from problems.server import ServerAssisted

#: how many of ten clients ever take part, and local steps
PRESENT, STEPS = 6, 5


def sorted_clients() -> tuple[ServerAssisted, Any]:
    """Ten clients with 56 samples of the breast-cancer set each, cut after sorting by label, l2 = 1/10; and the clients alone."""
    data = breast_cancer()
    parts = np.split(np.argsort(data.labels, kind="stable")[:560], 10)
    clients = logistic([data.features[p] for p in parts], [data.labels[p] for p in parts], l2=0.1)
    return ServerAssisted(clients, Pooled(clients)), clients


def settle(
    q: float, ratio: float, share: float = 0.02, off: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Fixed point of SAFARI's mean round, minimiser of (1-q) F + q ratio F_D, and minimiser of F, on `sorted_clients`.

    eta_s = share/L, eta_c = off ratio eta_s/K; both minimisers have certificates (`fedtheory.measures.ground_truth`).
    """
    problem, clients = sorted_clients()
    eta = share / float(constant(clients, "L").value)
    method = Safari(q, GradientSteps(STEPS, off * ratio * eta / STEPS), GradientSteps(1, eta))
    found = mean_fixed_point(method, problem, np.zeros(problem.d), {"communicate": q}, tuple(range(PRESENT)))
    weights = np.full(clients.n, 1 - q) + q * ratio * clients.n / PRESENT * (np.arange(clients.n) < PRESENT)
    weighted = replace(clients, weights=clients.weights * (weights / weights.mean())[:, None])
    return found, np.asarray(ground_truth(weighted).x).ravel(), np.asarray(ground_truth(clients).x).ravel()


def check_x2(ctx: Context, *, ratio: int = 1, bias: Fraction = Fraction(0), weight: float = 1.0) -> Iterator[Finding]:
    """The fixed point of the mean, for every K: w = (1 - eta_c lam)^K stays a symbol; one eigenvalue lam of A at a time."""
    q, eta_s, lam, w, b = symbols("q eta_s lam w b")
    limit = q * (1 - w) * b / ((1 - q) * eta_s * lam + q * (1 - w))
    after = (1 - q) * (1 - eta_s * lam) * limit + q * (w * limit + ratio * (1 - w) * b)
    yield proved(
        "fixed point",
        is_zero(after - limit),
        "with one Hessian A for all, a client round is x -> (1 - w) b_i + w x in each eigenvector of A and a server round x -> (1 - eta_s "
        "lam) x; the mean "
        "of a round is affine with this fixed point, and contracts where both steps are at most 1/lam",
    )
    yield moments_part(1, bias)
    cases = [(q, rho) for q in (0.3, 0.6, 0.9) for rho in (2.0, 5.0, 10.0)]
    ends = []
    for q, rho in cases:
        settled, weighted, true = settle(q, rho, 0.04 / rho, weight)
        ends.append((np.linalg.norm(settled - weighted), np.linalg.norm(weighted - true)))
    yield at_most(
        "logistic regression",
        [near for near, _ in ends],
        [0.01 * far for _, far in ends],
        "numeric",
        "fixed points of the mean round against the minimisers of (1-q) F + q rho F_D, within a hundredth of the way from the minimiser of F "
        f"({min(far for _, far in ends):.3g} to {max(far for _, far in ends):.3g}): ten clients sorted by label, of whom six ever take part",
        covered=Covered(len(cases), "points"),
    )


def check_x9(ctx: Context, *, order: int = 2, extra: int = 0) -> Iterator[Finding]:
    """Variance of K noisy local steps on a quadratic of curvature L, averaged over m clients, at rest."""
    eta, L, m, s, c = symbols("eta L m s c", positive=True)  # c = (1 - eta L)^2
    K = symbols("K", integer=True, positive=True)
    added, at_rest = (1 - c**K) / (1 - c), 1 / (1 - c)
    contraction = (1 - eta * L) ** 2
    yield proved(
        "plateau",
        is_zero((1 - c ** (K + 1)) / (1 - c) - c * added - 1)
        and is_zero(c ** (K + extra) * at_rest + added - at_rest)
        and is_zero(L**2 * eta**2 * s / m / (1 - contraction) - eta * L * s / (m * (order - eta * L))),
        "K steps add eta^2 (sigma^2/m) sum_{j<K} c^j, c = (1 - eta L)^2, whatever K is, and shrink the square by c^K: eta^2 (sigma^2/m)/(1 - c) is "
        "at rest, and K drops out",
    )


def check_x10(ctx: Context, *, drawn: int = 1, bias: Fraction = Fraction(0)) -> Iterator[Finding]:
    """One of two clients at +-1 is drawn: the mean square at rest, against the printed delta."""
    q, h = symbols("q h", positive=True)
    s, w, b = round_maps(2 * h, h, 1)
    rest = drawn * q * b**2 / (1 - (1 - q) * s**2 - q * w**2)
    beneath = (1 - q) * (2 - h) + 4 * q * (1 - h)
    yield proved(
        "plateau",
        is_zero(rest - 4 * q * h / beneath)
        and is_zero(2 * (1 + q) - beneath - h * (1 + 3 * q))
        and is_zero(2 * q * h / (1 + q) - 480 * q * h**2 - 2 * q * h / (1 + q) * (1 - 240 * (1 + q) * h)),
        "E x = 0 stays from x_0 = 0, and E x^2 -> 4 q eta_s/((1-q)(2 - eta_s) + 4 q (1 - eta_s)), which is at least 2 q eta_s/(1+q): more "
        "than 480 q eta_s^2 for eta_s < 1/(240 (1+q))",
    )
    chance, step, rounds = Fraction(2, 5), Fraction(1, 7), 4
    s, w, b = round_maps(2 * step, step, 1)
    square = Fraction(0)
    for _ in range(rounds):
        square = (1 - chance - bias) * s**2 * square + (chance + bias) * (w**2 * square + b**2)
    yield holds(
        "the method's moments",
        played(chance, 2 * step, step, 1, Fraction(0), rounds, Fraction(1), (Fixed((0,)), Fixed((1,)))) == (0, square),
        "exact",
        f"all {3**rounds} sequences of coins and clients over {rounds} rounds, played by the library's method in fractions, have the mean 0 and the "
        "mean square of the recursion",
    )
    yield Reading("The condition on q of Theorem 4 is not asked for here; the rate O(1/sqrt(R)) is not denied.")


def check_q1(ctx: Context, *, ratio: int = 1, bias: Fraction = Fraction(0)) -> Iterator[Finding]:
    """FedAvg, q = 1: x -> 1, the minimiser of the client that takes part, for every K and every step below 2."""
    w, x = symbols("w x")
    yield proved(
        "limit",
        is_zero(w * x + ratio * (1 - w) - 1 - w * (x - 1)),
        "a round is x -> w x + (1 - w), w = (1 - eta_c)^K in (-1, 1): x_r -> 1, where ||grad F||^2 = sigma_G^2",
    )
    yield moments_part(1, bias)


BETWEEN = Theorem(
    name="A.1",
    region="0 < m, 0 < K, 0 < c < m*K, 0 <= X, 0 < R_c, 0 <= R_s",
    given={"bias": "X*R_c <= R_s", "noise": "R_s <= c*(R_s + R_c)/(m*K)"},
    claim=(
        "X <= R_s/R_c",
        f"R_s/R_c <= {formula(largest_ratio, share='c/(m*K)')}",
        "(1 - c/(m*K))*(R_s + R_c) <= R_c",
    ),
    proof="""
      least: claim 1     by combine (1/R_c)*bias
      most:  claim 2     by combine (m*K/(R_c*(m*K - c)))*noise
      many:  claim 3     by combine noise
    """,
)


CLAIMS: list[Claim] = [
    state(
        "SAFARI-C1c",
        PAPER,
        "Appendix A.1",
        "Corollary 1 needs R_s >= X R_c and R_s = O(R/(mK)) at once, that is X <= R_s/R_c <= (c/(mK))/(1 - c/(mK)); then R_c = Omega(R).",
        BETWEEN,
        kind="proof step",
    ),
    Claim(
        "SAFARI-Q1",
        PAPER,
        "divergence",
        "Section 4",
        "FedAvg under incomplete participation may fail to converge to a stationary point.",
        check_q1,
        (Fault("a step twice as long", "limit", {"ratio": 2}), BIASED),
        ("f_i smooth, some clients never take part, a constant step",),
    ),
    Claim(
        "SAFARI-X2",
        DERIVED,
        "identity",
        "Algorithm 1",
        "On quadratics with one Hessian A and client minimisers b_i (that of F at 0), E x_r tends to [(1-q) eta_s A + q H]^{-1} q H "
        "bbar_D, H = I - (I - eta_c A)^K, bbar_D "
        "the mean of the b_i that take part.",
        check_x2,
        (
            Fault("a step twice as long", "fixed point", {"ratio": 2}),
            BIASED,
            Fault("rho a tenth larger", "logistic regression", {"weight": 1.1}),
        ),
        ("steps at most 1/L",),
    ),
    Claim(
        "SAFARI-X9",
        DERIVED,
        "identity",
        "Theorem 4, noise",
        "Equal clients on a quadratic of curvature L, q = 1: E ||grad F||^2 tends to eta_c L sigma^2/(m (2 - eta_c L)), whatever K is.",
        check_x9,
        (
            Fault("1 - eta_c L", "plateau", {"order": 1}),
            Fault("one step more in the contraction", "plateau", {"extra": 1}),
        ),
    ),
    Claim(
        "SAFARI-X10",
        DERIVED,
        "identity",
        "Theorem 4, unbiased participation",
        "Two clients at +-1 of which one is drawn: the plateau is at least 2 q eta_s sigma_G^2/(1+q), above the printed delta for eta_s < "
        "1/(240 (1+q)).",
        check_x10,
        (Fault("drawn with twice the weight", "plateau", {"drawn": 2}), BIASED),
    ),
]
