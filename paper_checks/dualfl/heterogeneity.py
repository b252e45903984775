"""What the bounds with constants say of choices and of clients: any rho up to nu/L, any heterogeneity, control variates that tend to gradients.

With exact local solves, s_j* = grad f_j(theta*), V* = mean_j ||s_j*||^2, rho = nu/L (or 0), nu <= mu and n >= 1, DUALFL-N2 bounds ||theta^(n) -
theta*||^2 by B_n. Since E(theta) - E* <= (L/2) ||theta - theta*||^2 and E_d(xi^(n)) - E_d* <= N nu B_n/2, the duality gap is at most (L + nu) B_n/2.
Ours: mean_j ||nu zeta_j^(n) - s_j*||^2 <= (9/rho) (1 - sqrt(rho))^(n-2) V*, for nu zeta_j is the extrapolated point of accelerated gradient on the
consensus dual, whose objective is 1/L-strongly convex, and L <= nu/rho.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import DualAscent, DualFL
from fedtheory.claims import (
    Context,
    Covered,
    Fault,
    Finding,
    Part,
    Picture,
    Reading,
    at_most,
    draw_bound,
    holds,
)
from fedtheory.core.arrays import mean_of_clients, squared_norm
from fedtheory.core.problem import objective
from fedtheory.measures.metrics import squared_distance, value
from fedtheory.measures.primal_dual import gap_of_dual_points, gap_of_dualfl
from fedtheory.running.runner import run
from paper_checks.dualfl import bounds, exact_rates, rates, theory
from paper_checks.dualfl.certified_runs import bound_n2, heterogeneity_at, squared_errors
from paper_checks.dualfl.common import CONVEX, EXACT, SMOOTH, claim, mistaken
from paper_checks.dualfl.theory import OF_SMOOTH
from paper_checks.steps import Step
from problems.chains import nesterov_chain
from problems.quadratics import Quadratic, random_quadratics

L, CLIENTS, DIMENSION, ROUNDS = 1.0, 5, 8, 150
#: shares of nu/L that rho takes, shares of mu that nu takes
RHOS, NUS = (1.0, 1 / 4, 1 / 16), (1.0, 1 / 2, 1 / 10)
#: what rounding leaves of the squares that are compared, relative to the first bound
ROUNDED = 1e-26


def draw(ctx: Context, mu: float, heterogeneity: float = 1.0, draws: int = 10) -> Quadratic:
    """Random quadratics, ten draws on the batch axis."""
    return random_quadratics(CLIENTS, DIMENSION, L=L, mu=mu, heterogeneity=heterogeneity, batch=(draws,), seed=ctx.seed)


def against_bound(ctx: Context, method: Any, problem: Quadratic, nu: float, rho: float, name: str, text: str) -> Part:
    """Part: squared distances of every draw below the bound in every round."""
    star = problem.solution()
    found = squared_errors(method(nu, rho), problem, star, ROUNDS)
    bound = bound_n2(np.arange(1, ROUNDS + 1), nu, rho, heterogeneity_at(problem, star))
    return at_most(name, found, bound, "numeric", text, error=ROUNDED * float(bound.max()))


@dataclass(frozen=True, eq=False)
class GapCurves:
    """A run on the lower-bound chain by rounds 1, ..., R: the energy error, the duality gap, and the bounds of the gap and of the error."""

    rounds: NDArray[np.int64]
    energy: NDArray[np.float64]
    gap: NDArray[np.float64]
    bound: NDArray[np.float64]


@cache
def gap_curves(kappa: int, momentum: bool = True, rounds: int = 120) -> GapCurves:
    """DualFL with nu = mu/2, so that all conjugates are finite, and rho = nu/L; or the same without momentum, plain dual ascent."""
    nu = L / kappa / 2
    rho = nu / L
    problem = nesterov_chain(40, L=L, mu=2 * nu)
    star = problem.solution()[None, :]
    least = float(objective(problem, star))
    if momentum:
        method: Any = DualFL(nu, rho)
        metrics = {"gap": gap_of_dualfl(nu), "value": value}
    else:
        method = DualAscent(nu, None)
        metrics = {"gap": gap_of_dual_points("s_i"), "value": value}
    trace = run(method, problem, np.zeros(problem.d), rounds, metrics=metrics)
    n = trace.rounds[1:]
    bound = bound_n2(n, nu, rho, heterogeneity_at(problem, star[0])) * (L + nu) / 2
    return GapCurves(n, trace["value"][1:] - least, trace["gap"][1:], bound)


def draw_gaps(kappa: int) -> Picture:
    """Return the error, the gap and the bound of DualFL, and the gap without momentum."""
    found, plain = gap_curves(kappa), gap_curves(kappa, momentum=False)
    curves = {"energy error": found.energy, "duality gap": found.gap, "gap of plain dual ascent": plain.gap}
    more = [(label, np.maximum(y, 1e-16)) for label, y in curves.items()]
    about = f"DualFL with nu = mu/2, rho = nu/L on the chain with 40 links, kappa = {kappa}"
    return draw_bound(
        "The duality gap and its bound", found.rounds, found.bound, ylabel="energy", about=about, more=more
    )


def rate_runs(ctx: Context, *, method: Any = DualFL) -> Iterator[Finding]:
    """Runs over a grid of nu and rho, and what happens for larger rho."""
    mu = 1 / 50
    problem, chain = draw(ctx, mu), nesterov_chain(40, L=L, mu=mu)
    for share in NUS:
        for part in RHOS:
            nu = share * mu
            name = f"nu = {share:g} mu, rho = {part:g} nu/L"
            yield against_bound(ctx, method, problem, nu, part * nu / L, name, "ten draws, 150 rounds, kappa = 50")
            text = "the lower-bound chain with 40 links, 150 rounds, kappa = 50"
            yield against_bound(ctx, method, chain, nu, part * nu / L, f"chain, {name}", text)
    curves = gap_curves(50)
    text = "E(theta) + E_d(xi)/N on the chain, 120 rounds, kappa = 50, nu = mu/2"
    room = 1e-14 * float(curves.gap[0])
    yield at_most("duality gap", curves.gap, curves.bound, "numeric", text, error=room)
    yield at_most(
        "the gap bounds the error", curves.energy, curves.gap, "numeric", "E(theta) - E* <= the gap", error=room
    )
    yield draw_gaps(50)
    star = problem.solution()[:, None, :]
    rho = 50 * mu / L * 0.9
    trace = run(DualFL(mu, rho), problem, np.zeros((10, DIMENSION)), ROUNDS, metrics={"d": squared_distance(star)})
    slow = (trace["d"][:, -1] / trace["d"][:, 50]) ** (1 / (ROUNDS - 50))
    text = f"rho = 45 nu/L: factor {slow.max():.3f} a round at worst, 1 - sqrt(rho) is {1 - rho**0.5:.3f}"
    yield holds("beyond the range", (slow <= 1 - rho**0.5).all(), "numeric", text, role="reading")


def distant_runs(ctx: Context, *, method: Any = DualFL) -> Iterator[Finding]:
    """Centres up to a thousand times as far apart."""
    mu = 1 / 50
    for far in (1.0, 30.0, 1000.0):
        problem = draw(ctx, mu, far)
        for rho in (0.0, mu / L):
            name = f"centres {far:g} apart, rho = {rho:g}"
            yield against_bound(ctx, method, problem, mu, rho, name, "ten draws, 150 rounds, kappa = 50")


def check_c9(ctx: Context, *, method: Any = DualFL) -> Iterator[Finding]:
    """Control variates against the gradients at the minimiser, round by round."""
    mu = 1 / 50
    problem = draw(ctx, mu)
    star = problem.solution()[:, None, :]
    slopes, spread = problem.grad(star), heterogeneity_at(problem, problem.solution())

    def apart(p: Any, state: Any) -> Any:
        return mean_of_clients(squared_norm(mu * state.zeta_i - slopes))

    trace = run(method(mu, mu / L), problem, np.zeros((10, DIMENSION)), ROUNDS, metrics={"e": apart})
    bound = bounds.variates(trace.rounds[1:] - 0.0, (mu / L) ** 0.5, spread)
    text = f"mean_j ||nu zeta_j - grad f_j(theta*)||^2 against {VARIATES}, ten draws, 150 rounds"
    found = np.where(np.isfinite(trace["e"][:, 1:]), trace["e"][:, 1:], 1e300)
    covered = Covered(len(found), "draws")
    yield at_most(
        "control variates", found, bound, "numeric", text, error=ROUNDED * float(bound.max()), covered=covered
    )
    left = (trace["e"][:, -1] / spread[:, 0]).max()
    yield at_most("they arrive", left, 1e-8, "numeric", f"after {ROUNDS} rounds {left:.1e} of V* is left, at worst")
    drift = run(method(mu, mu / L), problem, np.zeros((10, DIMENSION)), 1, metrics={"d": squared_distance(star)})
    yield Reading(
        f"Without the shift, local solves end at their own minimisers: after the first round, whose shift is zero, ||theta - theta*||^2 is "
        f"{drift['d'][:, -1].max():.2g} at worst."
    )


def _faults(part: str) -> tuple[Fault, ...]:
    names = (
        "extrapolation backwards",
        "sign of the control variate in local work",
        "control update with the old server model",
    )
    return tuple(Fault(name, part, {"method": mistaken(name)}) for name in names)


VARIATES = bounds.show(bounds.variates, "n", "r", "V")
CLAIMS = [
    claim(
        "DUALFL-C3",
        "after Theorem 3.3",
        "DualFL is linearly convergent with the rate 1 - sqrt(rho) even if its hyper-parameters are not chosen optimally.",
        [Step("every choice in the range", exact_rates.LINEAR_EXPLICIT), OF_SMOOTH],
        assumptions=[CONVEX, "f_j L-smooth with nu < L", "0 < rho <= nu/L", EXACT],
        readings=[
            theory.BY_CODE,
            "The factor is 1 - sqrt(rho) for every nu in (0, mu] and rho in (0, nu/L], not for the best ones alone; larger rho, which the "
            "experiments use, are outside.",
        ],
        kind="rate",
        besides=rate_runs,
        faults=_faults("nu = 1 mu, rho = 1 nu/L"),
    ),
    claim(
        "DUALFL-C9",
        "Section 5",
        "-nu zeta_j serves as a gradient shift that cancels client drift: nu zeta_j^(n) tends to grad f_j(theta*); mean_j ||nu zeta_j^(n) - grad "
        f"f_j(theta*)||^2 is at most {VARIATES}, n >= 2, with V = mean_j ||grad f_j(theta*)||^2 and r^2 = rho.",
        [Step("every round", exact_rates.VARIATES_EXACT), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "nu < L", "0 < rho <= nu/L", EXACT],
        readings=[theory.BY_CODE, "n is m + 1. The sentence gives no rate; this one is ours."],
        kind="rate",
        besides=check_c9,
        faults=_faults("control variates"),
    ),
    claim(
        "DUALFL-C10",
        "Sections 1 and 2",
        "Convergence needs no similarity of the local cost functions.",
        [Step("without smoothness", rates.T32), Step("with smoothness", rates.T33), OF_SMOOTH],
        assumptions=[CONVEX, "(8), or (9) with f_j L-smooth, nu < L and 0 < rho = r^2 <= nu/L, r < 1"],
        readings=[
            theory.BY_CODE,
            "Theorems 3.2 and 3.3 are about all f_j of their classes, which say nothing of how alike these are. The bounds scale with V, the size of "
            "the gradients at theta*, and that is all that heterogeneity does.",
        ],
        kind="rate",
        besides=distant_runs,
        faults=_faults("centres 1000 apart, rho = 0.02"),
    ),
]
