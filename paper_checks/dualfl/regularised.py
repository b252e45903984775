"""Section 4: clients that are convex only, by DualFL on f_j + (alpha/2) ||.||^2 with nu = alpha; Theorems 4.1 and 4.3.

theta* is the minimiser of E of least norm, theta^alpha that of E + (alpha/2) ||.||^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import Claim, Context, Covered, Fault, Finding, draw_bound
from fedtheory.claims.parts import at_most, holds
from fedtheory.claims.protocol import Clause
from fedtheory.measures import metrics
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.running.runner import run
from paper_checks.dualfl import accuracy, bounds, penalised
from paper_checks.dualfl.acceleration import WITHOUT_MOMENTUM
from paper_checks.dualfl.certified_runs import bound_n2, truth_of
from paper_checks.dualfl.common import SMOOTH, claim
from paper_checks.dualfl.theory import BY_CODE, OF_SMOOTH
from paper_checks.steps import Step
from problems.chains import nesterov_chain
from problems.huber import Huber

REGIME = "f_j convex, E coercive; DualFL on f_j + (alpha/2)||.||^2 with nu = alpha"


# ---- Theorem 4.1 ------------------------------------------------------------------------------------------------------


def two_hubers() -> Huber:
    """HUB of the claims: Hub_2(x - 1) and 3 Hub_2(x + 1), least at -1/2, where E* = 3/4."""
    column = np.array([[1.0], [3.0]])
    return Huber(2 * column, np.array([[1.0], [-1.0]]), 2 + 0 * column, 0 * column, 0 * column, name="two Huber losses")


def huber_gaps(rounds: Callable[[float], int], weights: tuple[float, ...]) -> np.ndarray:
    """E(theta^(n)) - E* after n = rounds(alpha) rounds, for each alpha."""
    problem, asked = two_hubers(), {"f": metrics.value}
    least = ground_truth(problem, witness=False).f
    return (
        np.array(
            [
                run(DualFL.regularised(alpha), problem, np.zeros(1), rounds(alpha), metrics=asked, progress=False)["f"][
                    -1
                ]
                for alpha in weights
            ]
        )
        - least
    )


def iterated_limit(
    context: Context, *, rounds: Callable[[float], int] = lambda alpha: int(30 / alpha)
) -> Iterator[Finding]:
    """The gap after 30/alpha rounds against alpha ||theta*||^2/2 = alpha/8; and, as a reading, twenty rounds whatever alpha."""
    weights = (0.1, 0.03, 0.01, context.pick(0.003, 0.001))
    gaps, limits = huber_gaps(rounds, weights), np.array(weights) / 8
    said = ", ".join(f"{gap:.2g}" for gap in gaps)
    text = f"after 30/alpha rounds the gaps are {said}; theta* is certified"
    yield at_most("two Huber losses", gaps, limits + 1e-3, "numeric", text, error=1e-12)
    few = (0.1, 0.01, 0.001, 1e-5)
    fixed = huber_gaps(lambda alpha: 20, few)
    yield holds(
        "joint limit",
        fixed[-1] < 0.1,
        "numeric",
        "n and alpha at once, in any way: for a fixed n every local answer tends to the client's own minimiser as "
        f"alpha falls, so that the gap tends to 1/4; it is {', '.join(f'{gap:.3g}' for gap in fixed)} after twenty rounds with alpha = {few}",
        role="reading",
    )
    more = [("after 30/alpha rounds", gaps), ("after 20 rounds", huber_gaps(lambda alpha: 20, weights))]
    about = (
        "DualFL with nu = alpha, rho = 0 on two Huber losses, start 0; claimed: alpha ||theta*||^2/2, the limit in n"
    )
    title = "First n, then alpha"
    yield draw_bound(title, weights, limits, xlabel="alpha", ylabel="E - E*", about=about, more=more, logx=True)


# ---- Theorem 4.3 ------------------------------------------------------------------------------------------------------


#: CH(40, 0, 1/2) of the claims, of L = 1
CHAIN = nesterov_chain(40, L=1.0, mu=0.0)


def gradient_norms(method: Any, rounds: int) -> np.ndarray:
    """||grad E(theta^(n))|| on the chain, n = 0..rounds."""
    asked = {"g": metrics.stationarity}
    return np.asarray(np.sqrt(run(method, CHAIN, np.zeros(CHAIN.d), rounds, metrics=asked, progress=False)["g"]))


def gradient_runs(context: Context, *, share: float = 1.0) -> Iterator[Finding]:
    """||grad E(theta^(n))|| on the chain for three alpha, against (14) with the constant of DUALFL-N2: sqrt(bound) + alpha ||theta^alpha||."""
    worst, n = [], np.arange(1, 151)
    for alpha in (0.1, 0.01, 0.001):
        truth = truth_of(CHAIN.ridged(alpha))
        bound = np.sqrt(bound_n2(n, alpha, alpha / (1 + alpha), truth.heterogeneity))
        bound = share * (bound + alpha * float(np.linalg.norm(truth.x)))
        worst.append(gradient_norms(DualFL.regularised(alpha, 1.0), 150)[1:] / bound)
    text = f"150 rounds of three alpha: at most {np.max(worst):.2g} of (14) with its constant"
    yield at_most("chain", worst, 1.0, "numeric", text, error=1e-9)


def rounds_of_15(context: Context, *, plain: bool = False) -> Iterator[Finding]:
    """Rounds to ||grad E|| <= eps on the chain against (15) with 0 for its constant, whatever eps is; R_0 = ||theta*||."""
    needed, allowed, radius = [], [], float(np.sqrt(40))
    levels = [10 ** (-2 - 0.2 * k) for k in range(8)]
    for eps in levels:
        alpha = eps / (2 * radius)
        allowed.append(float(bounds.rounds_of_15(eps, 1.0, radius, 0)))
        method = WITHOUT_MOMENTUM(alpha, alpha / (1 + alpha), alpha) if plain else DualFL.regularised(alpha, 1.0)
        above = np.flatnonzero(gradient_norms(method, min(int(allowed[-1]) + 1, 6000)) > eps)
        needed.append(float(above[-1]) + 1)
    told = ", ".join(f"{m:.0f} of {limit:.0f}" for m, limit in zip(needed, allowed, strict=True))
    text = f"rounds from which on the gradient stays below eps, for eight eps from 1/100 to {levels[-1]:.2g}, of (15) with the constant 0: {told}"
    yield at_most("chain", needed, allowed, "numeric", text, covered=Covered(len(levels), "points"))
    about = "DualFL with nu = alpha = eps/(2 R_0), rho = alpha/(L + alpha) on Nesterov's chain with 40 links, L = 1, two clients, start 0"
    title, more = "Rounds from which on ||grad E|| <= eps", [("on the chain", needed)]
    yield draw_bound(title, levels, allowed, xlabel="eps", ylabel="rounds", about=about, more=more, logx=True)


#: (15) with 3/2 log(1/eps), which is of the printed order
ORDER = (
    Step("order: after the first rounds", accuracy.T43_LATE),
    Step("order: rounds that suffice", accuracy.COUNT),
)
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-T4.1-aux",
        "proof of Theorem 4.1, (11), (13)",
        "E^alpha decreases to E, E(theta^alpha) -> E* as alpha -> 0+, and all theta^alpha lie in a ball.",
        [Step("the path", penalised.PATH)],
        assumptions=["E convex with a minimiser; theta* one of least norm"],
        readings=[
            "As alpha -> 0+: along every sequence alpha[n] > 0 that falls to zero. D = ||theta*||^2, so that R_0 = ||theta*|| serves for all alpha_0."
        ],
    ),
    claim(
        "DUALFL-T4.1",
        "Theorem 4.1",
        "E(theta^(n)) - E* -> 0 as n -> infinity and alpha -> 0+, for rho = 0, nu = alpha, local gaps as in (8).",
        [
            Step("first n", penalised.T41),
            Step("then alpha", penalised.PATH),
        ],
        assumptions=[REGIME, "(8) for some gamma > 0"],
        readings=[
            "f_j is finite at every point, as Theorem 10.1 needs.",
            "First n -> infinity and then alpha -> 0+, as the proof takes the limits and the text before it says "
            "('sufficiently small alpha and large n'). As a joint limit it is false.",
            "E(theta^(n)) -> E(theta^alpha) for every alpha > 0, and E(theta^alpha) - E(y) <= (alpha/2) ||y||^2 for every y, theta* among them.",
        ],
        kind="rate",
        besides=iterated_limit,
        faults=(Fault("twenty rounds, whatever alpha", "two Huber losses", {"rounds": lambda alpha: 20}),),
    ),
    claim(
        "DUALFL-T4.3a",
        "Theorem 4.3, (14)",
        f"||grad E(theta^(n))|| <= C {bounds.show(bounds.gradient_order, 'n', 'r')} + alpha ||theta^alpha|| for rho = r^2 = alpha/(L + alpha), nu "
        "= alpha, local gaps as in (9).",
        [Step("every round", penalised.T43), OF_SMOOTH],
        assumptions=[REGIME, SMOOTH, "(9) for some gamma > 0"],
        readings=[
            BY_CODE,
            "C does not depend on n; it does on alpha, as 1/alpha. n >= 1: for n = 0 a constant is all that is said.",
        ],
        kind="rate",
        besides=gradient_runs,
        faults=(Fault("a bound 5 % lower", "chain", {"share": 0.95}),),
    ),
    claim(
        "DUALFL-T4.3b",
        "Theorem 4.3, (15)",
        [
            Clause(
                "With alpha = eps/(2 R_0), ||grad E|| <= eps after at most (1 + 2 sqrt(1 + 2 L R_0/eps)) (log(1/eps) + constant) rounds,",
                ("chain",),
            ),
            Clause("which is O(eps^{-1/2} log(1/eps)).", tuple(step.name for step in ORDER)),
        ],
        [*ORDER, OF_SMOOTH],
        assumptions=[REGIME, SMOOTH, "(9) for some gamma > 0"],
        readings=[
            "'constant' is read as one that does not depend on eps. The proof has log 2C there, where C depends on eps; with that (15) would say "
            "no more than (14).",
            "Proved is (15) with 3/2 log(1/eps) in the place of log(1/eps): after n + 1 rounds ||grad E|| is at most eps/2 + (q^n/(1 - q^n)) K "
            "sqrt(R/eps), q = 1 - r/2, which is eps for every n >= (1 + 2 sqrt(1 + 2 L R/eps)) (3/2 log(1/eps) + c), where exp(c) is at least "
            "eps^(3/2) + 2 K sqrt(R), for all eps of a bounded interval. K holds L, R = R_0, N, gamma and the gradients at theta*, and not eps. "
            "Whether log(1/eps) is right in general is open, and is seen on the chain; the order is right either way.",
        ],
        kind="rate",
        besides=rounds_of_15,
        faults=(Fault("dual ascent without inertia", "chain", {"plain": True}),),
    ),
    claim(
        "DUALFL-T4.3-ineq",
        "proof of Theorem 4.3",
        "log(1 + 1/t) >= 2/(2 t + 1) for t > 0.",
        [Step("the inequality", accuracy.LOGARITHM)],
        kind="identity",
    ),
]
