"""Section 4: clients that are convex only, by DualFL on f_j + (alpha/2) ||.||^2 with nu = alpha; Theorems 4.1 and 4.3.

theta* is the minimiser of E of least norm, theta^alpha that of E + (alpha/2) ||.||^2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import Claim, Context, Covered, Fault, Finding, bar, draw_bound, lemma, norm2
from fedtheory.claims.parts import at_most, holds
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.measures import metrics
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.proofs.symbolic import symbols
from fedtheory.running.runner import run
from paper_checks.dualfl import bounds, lemmas
from paper_checks.dualfl.acceleration import WITHOUT_MOMENTUM
from paper_checks.dualfl.certified_runs import bound_n2, truth_of
from paper_checks.dualfl.common import SMOOTH, claim
from paper_checks.dualfl.convergence import FROM_GAPS, LINEAR, LINEAR_ROUNDS, PLAIN, PLAIN_ROUNDS, RECURSION
from paper_checks.dualfl.equivalences import BY_LEMMA_INEXACT, OF_LEMMA_INEXACT
from paper_checks.steps import Conclusion, Step
from problems.chains import nesterov_chain
from problems.huber import Huber

ALPHA = symbols("alpha", positive=True)
REGIME = "f_j convex, E coercive; DualFL on f_j + (alpha/2)||.||^2 with nu = alpha"


# ---- minimisers of the regularised problem ----------------------------------------------------------------------------


@lemma("value of the regularised minimiser", "(11)", "0 < alpha", c=1)
def regularised_value(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E(theta^alpha) - E* <= (alpha/2) (||theta*||^2 - ||theta^alpha||^2 - c ||theta* - theta^alpha||^2)."""
    e = w.function(None, 0, name="E")
    star, x = w.vector("theta*"), w.vector("theta^alpha")
    _, least = w.at(e, star, "at theta*", g=star * 0)
    _, value = w.at(e, x, "at theta^alpha", g=-(x * p.alpha))
    return value - least - (norm2(star) - norm2(x) - norm2(star - x) * c.c) * (p.alpha / 2)


@lemma("norm of the regularised minimiser", "(13)", "0 <= alpha < beta", c=1)
def regularised_norm(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||theta^beta||^2 <= c ||theta^alpha||^2 for beta >= alpha, and with alpha = 0 for any minimiser of E."""
    e = w.function(None, 0, name="E")
    x, y = w.vector("theta^alpha"), w.vector("theta^beta")
    w.at(e, x, "at theta^alpha", g=-(x * p.alpha))
    w.at(e, y, "at theta^beta", g=-(y * p.beta))
    return norm2(y) - norm2(x) * c.c


@lemma("gradient", "(14)", "0 < L", c=1)
def gradient_error(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad E(theta) - grad E(theta^alpha)||^2 <= c L^2 ||theta - theta^alpha||^2; theta^alpha is the origin."""
    f = w.function(p.L, 0, client=True)
    x, copies = w.vector("theta"), w.vector("copies", True)
    g, _ = w.at(f, copies * 0, "grad f_j(theta^alpha)")
    h, _ = w.at(f, x + g * 0, "grad f_j(theta)")
    return norm2(bar(h - g)) - norm2(x) * (c.c * p.L**2)


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


#: log(1 + 1/t) = log((1 + s)/(1 - s)), and {} s has the smaller derivative in s = 1/(2 t + 1), in (0, 1)
LOGARITHM = ("(1 + s)/(1 - s) == 1 + 1/t where s = 1/(2*t + 1)", "1/(1 + s) + 1/(1 - s) > {} where s = 1/(1 + u)")
GROWS_FASTER = tuple(text.format(2) for text in LOGARITHM)
#: (15) with t^2 = 1 + 2 L R_0/eps
LOGARITHM_OF_15 = (*GROWS_FASTER, "eps/(eps + 2*L*R) == 1/(1 + 2*L*R/eps)", "2/(2/(2*t + 1)) == 1 + 2*t")
#: rho = alpha/(L + alpha) is nu over the smoothness L + alpha
MODULUS = "1 - alpha/(L + alpha) == L/(L + alpha)"


OF_GRADIENTS = {"gradient": gradient_error, "norm": regularised_norm}
THREE_HALVES = Conclusion(
    "reading: 3/2 log(1/eps)",
    "alpha ||theta^alpha|| <= eps/2. "
    + RECURSION
    + LINEAR
    + FROM_GAPS
    + "Of prod_{0<k<n} (1 - 1/t_k), by which models are bounded, the factors up to k = ceil(1/r) have a product of at most 4 r^2, and the others "
    "are at most 1 - r each, so that for r <= 1/2 it is at most 32 r^2 (1 - r)^n from there on; with r^2 = alpha/(L + alpha) <= alpha/L that is "
    "(14) with C = L sqrt(32 V alpha/L)/alpha, V = V* at theta^alpha, which is bounded as theta^alpha is (local gaps as in (9) add 2 L sqrt(2/(N "
    "alpha)) (1 - r)^(-1/2)/(1 - (1 + gamma)^(-1/2)), of the same order in alpha). C (1 + 1/t)^{-M/2} = eps/2 with t = 1/r is solved by M = 2 "
    "log(2 C/eps)/log(1 + 1/t) <= (1 + 2 t) (log(1/eps) + log 2C), by log(1 + 1/t) >= 2/(2 t + 1), which is (1 + 2 t) (3/2 log(1/eps) + "
    "constant); for larger eps, of a bounded interval, the constant is enough",
    ("gradient", "norm", *OF_LEMMA_INEXACT),
    role="reading",
    confirmed=(
        *LOGARITHM_OF_15,
        *PLAIN_ROUNDS,
        *LINEAR_ROUNDS,
        lemmas.primal_error,
        bounds.plain_follows,
        bounds.linear_follows,
        bounds.product_follows,
        bounds.three_halves_follow,
    ),
)
ORDER = Conclusion(
    "order",
    "(1 + 2 sqrt(1 + 2 L R_0/eps)) (3/2 log(1/eps) + constant) is O(eps^{-1/2} log(1/eps))",
    (THREE_HALVES.name,),
)
CLAIMS: list[Claim] = [
    claim(
        "DUALFL-T4.1-aux",
        "proof of Theorem 4.1, (11), (13)",
        "E^alpha decreases to E, E(theta^alpha) -> E* as alpha -> 0+, and all theta^alpha lie in a ball.",
        [Step("value", regularised_value), Step("norm", regularised_norm)],
        conclusions=[
            Conclusion(
                "limit and ball",
                "E^alpha - E = (alpha/2)||.||^2 falls with alpha; E(theta^alpha) - E* <= (alpha/2)||theta*||^2 tends to zero; ||theta^alpha|| "
                "<= ||theta*|| for every alpha, so that R_0 = ||theta*|| serves for all alpha_0",
                ("value", "norm"),
            )
        ],
        assumptions=["E convex with a minimiser; theta* one of least norm"],
    ),
    claim(
        "DUALFL-T4.1",
        "Theorem 4.1",
        "E(theta^(n)) - E* -> 0 as n -> infinity and alpha -> 0+, for rho = 0, nu = alpha, local gaps as in (8).",
        [Step("value", regularised_value), *BY_LEMMA_INEXACT],
        conclusions=[
            Conclusion(
                "iterated limit",
                "f_j + (alpha/2)||.||^2 is alpha-strongly convex, so that for each alpha theta^(n) -> theta^alpha by Theorem 3.2: "
                + RECURSION
                + PLAIN
                + FROM_GAPS
                + "E is "
                "continuous, so that lim_n E(theta^(n)) - E* = E(theta^alpha) - E* <= (alpha/2)||theta*||^2, which "
                "tends to zero.",
                ("value", *OF_LEMMA_INEXACT),
                confirmed=(*PLAIN_ROUNDS, lemmas.primal_error, bounds.plain_order_follows, bounds.errors_of_8_follow),
            )
        ],
        assumptions=[REGIME, "(8) for some gamma > 0"],
        readings=[
            "First n -> infinity and then alpha -> 0+, as the proof takes the limits and the text before it says "
            "('sufficiently small alpha and large n'). As a joint limit it is false."
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
        [Step("gradient", gradient_error), *BY_LEMMA_INEXACT],
        conclusions=[
            Conclusion(
                "every round",
                "grad E(theta^alpha) = -alpha theta^alpha and the triangle inequality leave L ||theta^(n) - theta^alpha||, and f_j + "
                "(alpha/2)||.||^2 is alpha-strongly convex and (L + alpha)-smooth, so that Theorem 3.3 applies with rho = nu/(L + alpha). "
                + RECURSION
                + LINEAR
                + FROM_GAPS
                + f"With exact local solves C = {bounds.show(bounds.gradient_constant, 'L', 'V', 'r', alpha=ALPHA)}, V = V* at theta^alpha.",
                ("gradient", *OF_LEMMA_INEXACT),
                confirmed=(*LINEAR_ROUNDS, lemmas.primal_error, MODULUS, bounds.gradient_order_follows),
            )
        ],
        assumptions=[REGIME, SMOOTH, "(9) for some gamma > 0"],
        readings=["C does not depend on n; it does on alpha, as 1/alpha."],
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
            Clause("which is O(eps^{-1/2} log(1/eps)).", (ORDER.name,)),
        ],
        [*(Step(name, of) for name, of in OF_GRADIENTS.items()), *BY_LEMMA_INEXACT],
        conclusions=[THREE_HALVES, ORDER],
        assumptions=[REGIME, SMOOTH, "(9) for some gamma > 0"],
        readings=[
            "'constant' is read as one that does not depend on eps. The proof has log 2C there, where C depends on eps; with that (15) would say "
            "no more than (14). By (14) with its constant C is of order 1/eps, by the product of the factors 1 - 1/t_k of order eps^{-1/2}, which "
            "gives 3/2 log(1/eps); whether log(1/eps) is right in general is open. The order is right either way."
        ],
        kind="rate",
        besides=rounds_of_15,
        faults=(Fault("dual ascent without inertia", "chain", {"plain": True}),),
    ),
    claim(
        "DUALFL-T4.3-ineq",
        "proof of Theorem 4.3",
        "log(1 + 1/t) >= 2/(2 t + 1) for t > 0.",
        conclusions=[
            Conclusion(
                "inequality",
                "equal to 0 at s = 0, and log((1 + s)/(1 - s)) - 2 s has the derivative 2 s^2/(1 - s^2) > 0",
                confirmed=GROWS_FASTER,
                wrong={"a constant 2 % larger": [text.format("51/25") for text in LOGARITHM]},
            )
        ],
        kind="identity",
    ),
]
