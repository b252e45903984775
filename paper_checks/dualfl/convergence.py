"""Theorems 3.2 and 3.3 with local solves as inexact as (8) and (9), Propositions 6.2 and 6.3 behind them, and DUALFL-N2.

The argument is one for all. With Delta_n = E_d(xi^n) - E_d*, u^ the point that the exact step would lead to, and
Phi_n^2 = 2 nu (1 - rho) t_{n-1}^2 Delta_n + ||u^_n - xi*||^2, a round with an error delta_n gives
Phi_{n+1}^2 <= (1 - rho t_n) (Phi_n + e_n)^2 + e_{n+1}^2, where e_{n+1} = t_n sqrt(2 nu (1 - rho) delta_n) bounds ||u^{n+1} - u^_{n+1}||.
So Psi_n = Phi_n + e_n has Psi_{n+1} <= sqrt(1 - rho t_n) Psi_n + 2 e_{n+1}, Psi_0 = ||xi^0 - xi*||.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.algorithms.momentum import beta
from fedtheory.claims import Claim, Context, Fault, Finding, draw_bound
from fedtheory.claims.parts import proved
from fedtheory.claims.protocol import Clause
from fedtheory.proofs import FunctionClass, check, prove
from fedtheory.proofs.facts import compare, confirm
from paper_checks.dualfl import algorithm_two, bounds, exact_rates, rates
from paper_checks.dualfl.certified_runs import AtTheLimit, below_inexact, draw_inexact_runs, nonsmooth_runs, smooth_runs
from paper_checks.dualfl.common import CONVEX, SMOOTH, claim, derived
from paper_checks.dualfl.theory import BY_CODE, OF_SMOOTH
from paper_checks.steps import Step


def theorem_runs(context: Context, *, smooth: bool, falling: bool = True, **changed: Any) -> Iterator[Finding]:
    """Exact local solves, and quadratics with every local gap exactly at (8) or (9), gamma = 1; or at its first value in all rounds."""

    def at_the_limit(mu: float, L: float) -> DualFL:
        nu = 0.8 * mu
        rho = nu / L if smooth else 0.0
        limit = allowed_gap(4, nu, 1.0, rho if smooth else None)
        return DualFL(nu, rho, AtTheLimit(nu, limit if falling else lambda n: limit(0)))

    yield from (smooth_runs if smooth else nonsmooth_runs)(context, **changed)
    text, rounds = "ten draws of quadratics and errors, gamma = 1", context.pick(200, 400)
    yield below_inexact("gaps at the limit", text, context.seed, at_the_limit, rounds, 50.0 if smooth else 4.0, 1.0)


def certificates(context: Context, share: Fraction) -> Iterator[Finding]:
    """Worst cases of rounds 1 to 6 for mu = nu = 1, L = 16, every N, against ``share`` of the bound; inertia rounded to four digits."""
    method = DualFL(Fraction(1), lambda n: Fraction(beta(1 / 16, n)).limit_denominator(10**4))
    found, limits, below = [], [], True
    for n in range(1, context.pick(6, 7) + 1):
        certificate = prove(method, FunctionClass(L=16, mu=1, zeta=1), rounds=n)
        confirm("certificate", check, dict(certificate.data))
        limits.append(min(bounds.plain(Fraction(n)), bounds.linear(n, Fraction(1, 4))))
        found.append(certificate.bound)
        below = compare(certificate.bound, "<=", share * limits[-1]) and below
    told = ", ".join(f"{float(a):.4g} of {float(b):.4g}" for a, b in zip(found, limits, strict=True))
    text = f"worst cases for V* = 1, rounds 1 to {len(found)}, every N and dimension: {told}"
    yield proved("certificates", below, text, "exact", scope="L = 16, inertia to four digits")
    rounds, label = range(1, len(found) + 1), "||theta^n - theta*||^2"
    about = "DualFL with nu = mu = 1, L = 16, V* = 1, exact local solves, inertia to four digits; every N and dimension"
    yield draw_bound("Errors against the bound", rounds, limits, ylabel=label, about=about, worst=found)


def bound_runs(context: Context, **changed: Any) -> Iterator[Finding]:
    """Both regimes, exact local solves."""
    yield from nonsmooth_runs(context, **changed)
    yield from smooth_runs(context, **changed)
    yield from certificates(context, Fraction(str(changed.get("share", 1))))


def faults(part: str) -> list[Fault]:
    """What a part of the exact runs, or of the inexact ones, must reject."""
    return [
        Fault("nu beyond mu, where nothing is claimed", part, {"factor": 1.5}, holds=None),
        Fault("a tenth of the bound", part, {"share": 0.1}),
    ]


NOT_FALLING = Fault("local gaps that do not fall", "gaps at the limit", {"falling": False})
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-P6.2",
        "Proposition 6.2",
        f"E_d(xi^n) - E_d* <= C {bounds.show(bounds.plain_order, 'n')} for Algorithm 2 with rho = 0 and errors delta_n = b_n/(n+1)^2, sum "
        "sqrt(b_n) < infinity.",
        [Step("every round", algorithm_two.P62)],
        assumptions=[CONVEX],
        readings=[
            BY_CODE,
            "'n >= 0' with 1/n^2 is read as n >= 1. C = (2/nu) (||xi^0 - xi*|| + 2 sqrt(2 nu) B)^2 with the sum B. Any xi^{n+1} is nu (zeta - theta) "
            "for some local answers theta, so that these are all runs of Algorithm 2.",
        ],
        kind="rate",
        picture=partial(draw_inexact_runs, smooth=False),
    ),
    claim(
        "DUALFL-P6.3",
        "Proposition 6.3",
        f"E_d(xi^n) - E_d* <= C {bounds.show(bounds.dual_order, 'n', 'r')} for Algorithm 2 with 0 < rho = r^2 <= nu/L and errors delta_n = a^n, "
        "0 <= a < 1 - r.",
        [Step("every round", algorithm_two.P63), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "nu < L, rho < 1"],
        readings=[
            BY_CODE,
            "C = (||xi^0 - xi*|| + 2 sqrt(2 nu)/(1 - sqrt(a/q)))^2/(2 nu q) with q = 1 - sqrt(rho); b = sqrt(a/q). a = 0 is below every other a.",
        ],
        kind="rate",
        picture=partial(draw_inexact_runs, smooth=True),
    ),
    claim(
        "DUALFL-T3.2",
        "Theorem 3.2",
        f"||theta^(n) - theta*||^2 <= C {bounds.show(bounds.plain_order, 'n')} for rho = 0, local gaps as in (8), no smoothness.",
        [Step("every round", rates.T32)],
        assumptions=[CONVEX, "(8) for some gamma > 0"],
        readings=[
            BY_CODE,
            "'n >= 0' with 1/n^2 is read as n >= 1. C is explicit; V = mean_j ||s_j*||^2; of (8) its mean over clients is used.",
        ],
        kind="rate",
        besides=partial(theorem_runs, smooth=False),
        faults=(*faults("total variation chain"), NOT_FALLING),
    ),
    claim(
        "DUALFL-T3.3a",
        "Theorem 3.3",
        [
            Clause(
                f"E(theta^(n)) - E* <= C ||theta^(n) - theta*||^2 <= C' {bounds.show(bounds.dual_order, 'n', 'r')} for 0 <= rho = r^2 <= nu/L, "
                "local gaps as in (9),",
                ("every round, rho > 0", "every round, rho = 0"),
            ),
            Clause("and theta^(n) -> theta*.", ("every round, rho > 0", "every round, rho = 0")),
        ],
        [Step("every round, rho > 0", rates.T33), Step("every round, rho = 0", rates.T33_ZERO), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "(9) for some gamma > 0", "nu < L, rho < 1"],
        readings=[
            BY_CODE,
            "'rho <= [0, nu/L]' and 'nu <= (0, mu]' are read as 'in'. For rho = 0 the rate is 1, and 1/n^2 is shown.",
        ],
        kind="rate",
        besides=partial(theorem_runs, smooth=True),
        faults=(*faults("two clients"), NOT_FALLING),
    ),
    claim(
        "DUALFL-T3.3b",
        "Theorem 3.3, second part",
        f"E(theta^(n)) - E* <= C ||theta^(n) - theta*||^2 <= C' {bounds.show(bounds.dual_order, 'n', 'r')} with r = 1/sqrt(kappa), for rho = "
        "1/kappa and nu = mu, kappa = L/mu.",
        [Step("every round", rates.T33_END), OF_SMOOTH],
        assumptions=[
            CONVEX,
            SMOOTH,
            "(9) for some gamma > 0",
            "kappa > 1: for kappa = 1, (5) is 0/0 (and one round is exact)",
        ],
        readings=[
            BY_CODE,
            "With nu = mu the hypothesis (9) can be out of reach of iterative local solvers: DUALFL-G1.",
        ],
        kind="rate",
        besides=partial(theorem_runs, smooth=True),
        faults=(*faults("two clients"), NOT_FALLING),
    ),
    derived(
        "DUALFL-N2",
        "Theorems 3.2 and 3.3 with constants",
        f"||theta^(n) - theta*||^2 is at most {bounds.show_models(bounds.plain, 'n')} and {bounds.show_models(bounds.linear, 'n', 'r')} for exact "
        "local solves, n >= 1, and rho = 0 without smoothness or 0 < rho = r^2 <= nu/L; V = mean_j ||s_j*||^2.",
        [Step("rho = 0", exact_rates.PLAIN_EXPLICIT), Step("rho > 0", exact_rates.LINEAR_EXPLICIT), OF_SMOOTH],
        assumptions=[
            CONVEX,
            "s_j* subgradients of f_j at theta* whose sum is zero; f_j L-smooth with nu < L for rho > 0",
            "exact local solves",
        ],
        readings=[
            BY_CODE,
            "Better than noted before by the factor 1 - rho in the first term; independent of N, of theta*, and of theta^(0).",
        ],
        kind="bound",
        besides=bound_runs,
        faults=(
            *faults("two clients"),
            *faults("total variation chain"),
            Fault("a tenth of the bound", "certificates", {"share": 0.1}),
        ),
    ),
]
