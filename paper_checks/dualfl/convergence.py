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
from paper_checks.dualfl import inexact, lemmas
from paper_checks.dualfl.certified_runs import AtTheLimit, below_inexact, draw_inexact_runs, nonsmooth_runs, smooth_runs
from paper_checks.dualfl.common import CONVEX, SMOOTH, claim, derived
from paper_checks.dualfl.sequence import WITH_MODULUS, WITHOUT_MODULUS
from paper_checks.steps import Conclusion, Step

RECURSION = (
    "A round and the distance of an inexact step from the exact one give Psi_{n+1} <= sqrt(1 - rho t_n) Psi_n + 2 t_n "
    "sqrt(2 nu (1 - rho) delta_n), Psi_0 = ||xi^0 - xi*||, 2 nu (1 - rho) t_{n-1}^2 (E_d(xi^n) - E_d*) <= Psi_n^2, by "
    "t_n (t_n - 1) = t_{n-1}^2 (1 - rho t_n) and Minkowski. "
    + lemmas.START
    + "Points where g_j^* has no subgradient are limits, with their values, of "
    "proximal points, which have some. "
)
PLAIN = (
    "For rho = 0, (n + 1)/2 <= t_{n-1} <= n, so that E_d(xi^n) - E_d* <= 2/(nu (n+1)^2) (||xi^0 - xi*|| + 2 sum_{k<n} "
    "sqrt(2 nu b_k))^2 with b_k = (k+1)^2 delta_k. "
)
LINEAR = (
    lemmas.BY_SMOOTHNESS
    + "With q = 1 - sqrt(rho) >= 1 - 1/t_k and 1 - rho t_k = t_k^2 (1 - 1/t_k)/t_{k-1}^2, so that (1 - rho t_{k+1}) ... "
    "(1 - rho t_{n-1}) <= (t_{n-1}/t_k)^2 q^{n-1-k}, E_d(xi^n) - E_d* <= q^{n-1}/(2 nu) (||xi^0 - xi*|| + 2 sum_{k<n} sqrt(2 nu delta_k q^{-k}))^2, "
    "a geometric sum in sqrt(a/q) for delta_k = a^k. "
)
FROM_GAPS = (
    "By Lemma 6.6 (DUALFL-L6.6) DualFL's xi^n is a run of Algorithm 2 with delta_n where every Gamma <= delta_n/N, and theta^(n) = -mean_j "
    "xi_j^n/nu; as beta_0 = 0 and eta_j^0 - mean eta^0 = 0, the start may be taken as xi_j^0 = -nu theta*, for which ||xi^0 - xi*||^2 = N V*. "
)


#: what is said above rests on these, for rho = 0 and for rho > 0
PLAIN_ROUNDS = (inexact.STEP, inexact.ERROR, *WITHOUT_MODULUS)
LINEAR_ROUNDS = (inexact.STEP_SMOOTH, inexact.ERROR_SMOOTH, *lemmas.OF_SMOOTH_CLIENTS, *WITH_MODULUS)
#: N times the right side of (8) is b_n/(n+1)^2 with sqrt(b_n) = nu^(-1/2) (n+1)^(-1-gamma/2), whose sum is finite for gamma > 0; m = n + 1
TOLERANCES_OF_8 = "m**2/(nu*m**(4 + gamma)) == (m**(-1 - gamma/2))**2/nu"


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


#: the sum of (k + 1) x^k for k < n, by induction: from n to n + 1 the right side grows by (n + 1) x^n
SERIES = "(1 - (n + 2)*x**(n + 1) + (n + 1)*x**(n + 2) - 1 + (n + 1)*x**n - n*x**(n + 1))/(1 - x)**2 == (n + 1)*x**n{}"
PLAIN_STEPS = [Step("one round", inexact.STEP), Step("inexact step", inexact.ERROR)]
LINEAR_STEPS = [Step("one round", inexact.STEP_SMOOTH), Step("inexact step", inexact.ERROR_SMOOTH)]
TO_MODELS = Step("(29)", lemmas.primal_error)
TO_VALUES = Step("(30)", lemmas.energy_error)
BY_GAPS = Step("gaps", inexact.gap_bounds_the_error)


def certificates(context: Context, share: Fraction) -> Iterator[Finding]:
    """Worst cases of rounds 1 to 6 for mu = nu = 1, L = 16, every N, against ``share`` of the bound; inertia rounded to four digits."""
    method = DualFL(Fraction(1), lambda n: Fraction(beta(1 / 16, n)).limit_denominator(10**4))
    found, limits, below = [], [], True
    for n in range(1, context.pick(6, 7) + 1):
        certificate = prove(method, FunctionClass(L=16, mu=1, zeta=1), rounds=n)
        confirm("certificate", check, dict(certificate.data))
        limits.append(min(Fraction(4, (n + 1) ** 2), Fraction(5, 4) * Fraction(3, 4) ** n * Fraction(16, 15)))
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
        "E_d(xi^n) - E_d* <= C/n^2 for Algorithm 2 with rho = 0 and errors delta_n = b_n/(n+1)^2, sum sqrt(b_n) < infinity.",
        PLAIN_STEPS,
        conclusions=[
            Conclusion("every round", RECURSION + PLAIN, ("one round", "inexact step"), confirmed=WITHOUT_MODULUS)
        ],
        assumptions=[CONVEX],
        readings=[
            "'n >= 0' with 1/n^2 is read as n >= 1. The constant is explicit: C = (2/nu) (||xi^0 - xi*|| + 2 sum_k sqrt(2 nu b_k))^2."
        ],
        kind="rate",
        picture=partial(draw_inexact_runs, smooth=False),
    ),
    claim(
        "DUALFL-P6.3",
        "Proposition 6.3",
        "E_d(xi^n) - E_d* <= C (1 - sqrt(rho))^n for Algorithm 2 with 0 < rho <= nu/L and errors delta_n = a^n, 0 <= a < 1 - sqrt(rho).",
        LINEAR_STEPS,
        conclusions=[
            Conclusion(
                "every round",
                RECURSION + LINEAR,
                ("one round", "inexact step"),
                confirmed=(*lemmas.OF_SMOOTH_CLIENTS, *WITH_MODULUS),
                wrong=lemmas.TOO_CONVEX,
            )
        ],
        assumptions=[CONVEX, SMOOTH, "rho < 1"],
        readings=["C = (||xi^0 - xi*|| + 2 sqrt(2 nu)/(1 - sqrt(a/q)))^2/(2 nu q) with q = 1 - sqrt(rho)."],
        kind="rate",
        picture=partial(draw_inexact_runs, smooth=True),
    ),
    claim(
        "DUALFL-T3.2",
        "Theorem 3.2",
        "||theta^(n) - theta*||^2 <= C/n^2 for rho = 0, local gaps as in (8), no smoothness.",
        [TO_MODELS, BY_GAPS],
        conclusions=[
            Conclusion(
                "every round",
                RECURSION
                + PLAIN
                + FROM_GAPS
                + "(8) has sqrt(b_k) = nu^(-1/2) (k+1)^(-1-gamma/2), with a sum of at most nu^(-1/2) (1 + 2/gamma); by (29) "
                "||theta^(n) - theta*||^2 <= 4/(nu (n+1))^2 (sqrt(V*) + 2 sqrt(2/N) (1 + 2/gamma))^2.",
                ("(29)", "gaps"),
                confirmed=(*PLAIN_ROUNDS, TOLERANCES_OF_8),
            )
        ],
        assumptions=[CONVEX, "(8) for some gamma > 0"],
        readings=["'n >= 0' with 1/n^2 is read as n >= 1."],
        kind="rate",
        besides=partial(theorem_runs, smooth=False),
        faults=(*faults("total variation chain"), NOT_FALLING),
    ),
    claim(
        "DUALFL-T3.3a",
        "Theorem 3.3",
        [
            Clause(
                "E(theta^(n)) - E* <= C ||theta^(n) - theta*||^2 <= C' (1 - sqrt(rho))^n for 0 <= rho <= nu/L, local gaps as in (9),",
                ("every round",),
            ),
            Clause("and theta^(n) -> theta*.", ("convergence",)),
        ],
        [TO_MODELS, TO_VALUES, BY_GAPS],
        conclusions=[
            Conclusion(
                "every round",
                RECURSION
                + LINEAR
                + FROM_GAPS
                + "(9) is delta_n = a^n with a/q = 1/(1 + gamma); (29) and (30) bound models and values, with C = L/2. For rho = 0 "
                "the rate is 1, and Psi_n stays bounded because delta_n falls geometrically.",
                ("(29)", "(30)", "gaps"),
                confirmed=(*LINEAR_ROUNDS, *PLAIN_ROUNDS),
            ),
            Conclusion(
                "convergence",
                "for rho > 0 by the rate; for rho = 0, whose rate is 1, (9) is 1/(N (1 + gamma)^k), so that sum_k (k + 1) sqrt(delta_k) <= 1/(1 - "
                "(1 + gamma)^(-1/2))^2 is finite and ||theta^(n) - theta*||^2 = O(1/n^2), as in Theorem 3.2",
                ("every round",),
                confirmed=(*PLAIN_ROUNDS, SERIES.format("")),
                wrong={"a sum without the square": (*PLAIN_ROUNDS, SERIES.format("*(1 - x)"))},
            ),
        ],
        assumptions=[CONVEX, SMOOTH, "(9) for some gamma > 0", "rho < 1"],
        readings=["'rho <= [0, nu/L]' and 'nu <= (0, mu]' are read as 'in'."],
        kind="rate",
        besides=partial(theorem_runs, smooth=True),
        faults=(*faults("two clients"), NOT_FALLING),
    ),
    claim(
        "DUALFL-T3.3b",
        "Theorem 3.3, second part",
        "E(theta^(n)) - E* <= C ||theta^(n) - theta*||^2 <= C' (1 - 1/sqrt(kappa))^n for rho = 1/kappa and nu = mu, kappa = L/mu.",
        [TO_MODELS, TO_VALUES],
        conclusions=[
            Conclusion(
                "every round",
                "1/kappa = nu/L for nu = mu, so that it is a case of the first part. " + RECURSION + LINEAR + FROM_GAPS,
                ("(29)", "(30)"),
                confirmed=(*LINEAR_ROUNDS, inexact.gap_bounds_the_error),
            )
        ],
        assumptions=[
            CONVEX,
            SMOOTH,
            "(9) for some gamma > 0",
            "kappa > 1: for kappa = 1, (5) is 0/0 (and one round is exact)",
        ],
        readings=["With nu = mu the hypothesis (9) can be out of reach of iterative local solvers: DUALFL-G1."],
        kind="rate",
        besides=partial(theorem_runs, smooth=True),
        faults=(*faults("two clients"), NOT_FALLING),
    ),
    derived(
        "DUALFL-N2",
        "Theorems 3.2 and 3.3 with constants",
        "||theta^(n) - theta*||^2 <= min{4/(n+1)^2, (1 + sqrt(rho)) (1 - sqrt(rho))^n/(1 - rho)} V*/nu^2 for exact "
        "local solves, n >= 1, and rho = 0 without smoothness or 0 < rho <= nu/L; V* = mean_j ||s_j*||^2.",
        [TO_MODELS],
        conclusions=[
            Conclusion(
                "every round",
                "With delta_n = 0: "
                + RECURSION
                + "Dividing by the products, E_d(xi^n) - E_d* <= Q_n ||xi^0 - xi*||^2/(2 nu) with Q_n = prod_{0<k<n} (1 - 1/t_k), "
                "which is at most (1 - sqrt(rho))^{n-1}, and, because t_k is at most that of rho = 0, at most "
                "4/(n+1)^2. " + FROM_GAPS + "(29) bounds the models.",
                ("(29)",),
                confirmed=(*PLAIN_ROUNDS, *LINEAR_ROUNDS),
            )
        ],
        assumptions=[
            CONVEX,
            "s_j* subgradients of f_j at theta* whose sum is zero; f_j L-smooth for rho > 0",
            "exact local solves",
        ],
        readings=[
            "Better than noted before by the factor 1 - rho in the first term; independent of N, of theta*, and of theta^(0)."
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
