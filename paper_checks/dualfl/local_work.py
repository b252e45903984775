"""Theorems 3.4 and 3.5: local iterations for the tolerances (8) and (9).

Both substitute a tolerance into the complexity of a local solver. Where that is one of the energy of (2), as complexities are, nu < mu turns it
into one of Gamma (DUALFL-N1, `lemmas.primal_dual_gap`); for nu = mu nothing does, see DUALFL-G1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.algorithms.dualfl import allowed_gap
from fedtheory.claims import Claim, Context, Fault, Finding, draw_bound
from fedtheory.claims.parts import at_most
from fedtheory.claims.protocol import Clause
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from paper_checks.dualfl import lemmas
from paper_checks.dualfl.common import claim
from paper_checks.steps import Conclusion, Step
from problems.huber import Huber
from problems.quadratics import random_quadratics

BY_ENERGY = (
    "'Iteration complexity' is read as that of the accuracy which is asked, Gamma, or of the energy of (2) with nu < "
    "mu, where Gamma <= mu/(mu - nu) times the error in energy.",
    "For nu = mu and a complexity of energies both orders can fail, for Gamma can be infinite at every iterate (DUALFL-G1).",
)


#: 1/(the right side of (8)), which is N nu eps^(-2-gamma/2) at m = n + 1 = eps^(-1/2)
SUBSTITUTION_OF_8 = "N*nu*m**(4 + gamma) == N*nu*eps**(-2 - gamma/2) where m = eps**(-1/2)"
#: log(1/(the right side of (9))) = log N + n log(1 + gamma) - n log(1 - x), x = sqrt(rho), and -log(1 - x) <= x/(1 - x) by the derivatives
SUBSTITUTION_OF_9 = (
    "(1 + gamma)**n*N*(1 - x)**(-n)*((1 - x)/(1 + gamma))**n/N == 1 where x = 1/(1 + u)",
    "1/(1 - x)**2 > 1/(1 - x) where x = 1/(1 + u)",
)


#: gamma = x/(1 + v) <= x = sqrt(rho), and log(1 + gamma) <= gamma by the derivatives
SMALL_GAMMA = ("x > x/(1 + v)", "1 > 1/(1 + gamma)")


def subgradient_counts(context: Context, *, power: float = 4.0, gamma: float = 0.5) -> Iterator[Finding]:
    """Weighted subgradient steps until the energy error is mu/(mu - nu) times less than (8), against the solver's own bound."""
    N, mu, nu, rounds = 3, 1.0, 0.5, context.pick(6, 8)
    ones = np.ones((10, N, 2))
    centre = context.rng().standard_normal(ones.shape)
    problem = Huber(ones, centre, 0 * ones, 0 * ones, mu * ones, name="distances with a ridge")
    method = DualFL(nu)
    state, counts, limits = method.init(problem, np.zeros((1, 2))), [], []
    for n in range(rounds):
        after = method.round(problem, state, None, Key(0, n))
        least = problem.value(after.x_i) - nu * np.sum(state.zeta_i * after.x_i, axis=-1)
        tolerance = (mu - nu) / mu * allowed_gap(N, nu, gamma)(n)
        x, mean, weight, largest, k = 0 * ones, 0 * ones, 0.0, 0.0, 0
        left = np.full((10, N), np.inf)
        while left.max() > tolerance and k < 60_000:
            k += 1
            g = problem.grad(x) - nu * state.zeta_i
            largest = max(largest, float(np.sum(g**2, axis=-1).max()))
            mean, weight = mean + k * x, weight + k
            x = x - 2 / (mu * (k + 1)) * g
            point = mean / weight
            left = problem.value(point) - nu * np.sum(state.zeta_i * point, axis=-1) - least
        counts.append(float(k))
        limits.append(2 * largest / mu * N * nu * mu / (mu - nu) * (n + 1) ** (power + gamma) + 1)
        state = after
    told = ", ".join(str(int(k)) for k in counts)
    text = f"ten draws: at most {told} steps in rounds 0 to {rounds - 1}, below 2 G^2/mu times N (n+1)^(4+gamma) nu mu/(mu - nu)"
    yield at_most("counts", counts, limits, "numeric", text)
    about = f"weighted subgradient steps for DualFL, nu = 1/2, on distances with a ridge, mu = 1; N = 3, d = 2, gamma = {gamma}, ten draws"
    title, more = "Local steps for (8)", [("largest of ten draws", counts)]
    yield draw_bound(
        title, range(1, rounds + 1), limits, xlabel="round n + 1", ylabel="steps", about=about, more=more, logx=True
    )


def accelerated_counts(context: Context, *, share: float = 1.0, momentum: bool = True) -> Iterator[Finding]:
    """Accelerated gradient steps until the energy error is mu/(mu - nu) times less than (9), against sqrt(kappa) times the logarithm."""
    counts, limits, gamma = [], [], 0.1
    for kappa in (25.0, 100.0, 400.0):
        problem = random_quadratics(4, 10, L=kappa, mu=1.0, batch=(10,), seed=context.seed)
        L, mu = float(constant(problem, "L").value.max()), float(constant(problem, "mu").value.min())
        nu = mu / 2
        rho = nu / L
        method = DualFL(nu, rho)
        state = method.init(problem, np.zeros((1, 10)))
        b = (np.sqrt(L) - np.sqrt(mu)) / (np.sqrt(L) + np.sqrt(mu)) if momentum else 0.0
        for n in range(25):
            after = method.round(problem, state, None, Key(0, n))
            tolerance = (mu - nu) / mu * allowed_gap(4, nu, gamma, rho)(n)

            def error(x: np.ndarray, solved: np.ndarray = after.x_i, f: np.ndarray = problem.A) -> float:
                return float(np.einsum("...a,...ab,...b->...", x - solved, f, x - solved).max() / 2)

            x = y = np.zeros((10, 4, 10))
            first, k = error(x), 0
            while error(x) > tolerance and k < 20_000:
                k += 1
                new = y - (problem.grad(y) - nu * state.zeta_i) / L
                x, y = new, new + b * (new - x)
            counts.append(float(k))
            logarithm = np.log(2 * first / tolerance * (1 - np.sqrt(rho)) ** n) + n * np.sqrt(rho) / (1 - np.sqrt(rho))
            limits.append(share * np.sqrt(L / mu) * max(logarithm, 0.0) + 1)
            state = after
    worst = np.max(np.array(counts) / np.array(limits))
    text = f"ten draws, 25 rounds of three kappa, cold starts: at most {worst:.2g} of sqrt(kappa) (log(2 e mu/(mu - nu) N (1+gamma)^n) + n x/(1-x))"
    yield at_most("counts", counts, limits, "numeric", text)


CLAIMS: list[Claim] = [
    claim(
        "DUALFL-T3.4",
        "Theorem 3.4",
        "M_n = O(N (n+1)^(4+gamma)) = O(N eps_out^(-2-gamma/2)) local iterations suffice for (8), for a local solver of complexity O(1/eps).",
        [Step("from energies to gaps", lemmas.primal_dual_gap)],
        conclusions=[
            Conclusion(
                "substitution",
                "the tolerance (8) put into O(1/eps); at the last round (n+1)^2 is of order 1/eps_out by Theorem 3.2 (DUALFL-T3.2)",
                ("from energies to gaps",),
                confirmed=[SUBSTITUTION_OF_8],
            )
        ],
        assumptions=["those of Theorem 3.2"],
        readings=BY_ENERGY,
        kind="bound",
        besides=subgradient_counts,
        faults=(Fault("an exponent of 2 + gamma", "counts", {"power": 2.0}),),
    ),
    claim(
        "DUALFL-T3.5",
        "Theorem 3.5",
        [
            Clause(
                "M_n = O(sqrt(kappa) (log(N (1+gamma)^n) + n sqrt(rho))) = O(sqrt(kappa) log(N (1+gamma)^n/eps_out)) for (9) and a local solver of "
                "complexity O(sqrt(kappa) log(1/eps));",
                ("substitution",),
            ),
            Clause("O(sqrt(kappa) log(N/eps_out)) as gamma -> 0+.", ("small gamma",)),
        ],
        [Step("from energies to gaps", lemmas.primal_dual_gap)],
        conclusions=[
            Conclusion(
                "substitution",
                "the tolerance (9) put into O(sqrt(kappa) log(1/eps)) leaves n (-log(1 - sqrt(rho))) <= n sqrt(rho)/(1 - sqrt(rho)), of order n "
                "sqrt(rho) where rho is bounded away from 1; n sqrt(rho) is log(1/eps_out) at the last round, by Theorem 3.3 (DUALFL-T3.3a)",
                ("from energies to gaps",),
                confirmed=SUBSTITUTION_OF_9,
            ),
            Conclusion(
                "small gamma",
                "for every gamma <= sqrt(rho), n log(1 + gamma) <= n sqrt(rho), which is of order log(1/eps_out) at the last round; such a gamma, "
                "and with it the constant of Theorem 3.3, depends neither on n nor on eps_out. For rho = 0, (1+gamma)^n -> 1 for each n",
                ("substitution",),
                confirmed=SMALL_GAMMA,
                wrong={"gamma 2 % above sqrt(rho)": ["x > 51*x/50", SMALL_GAMMA[1]]},
            ),
        ],
        assumptions=["those of Theorem 3.3", "rho <= 1/4, or any bound below 1, behind the O"],
        readings=(
            *BY_ENERGY,
            "For rho > 0 no limit is needed: gamma = sqrt(rho) will do, with a constant of order 1/rho in Theorem 3.3 (DUALFL-P6.3), so that eps_out "
            "is small against rho. For rho = 0 the limit gamma -> 0+ is one of the formula.",
        ),
        kind="bound",
        besides=accelerated_counts,
        faults=(
            Fault("gradient steps without momentum", "counts", {"momentum": False}),
            Fault("a tenth of the bound", "counts", {"share": 0.1}),
        ),
    ),
]
