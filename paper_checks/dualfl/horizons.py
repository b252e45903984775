"""Beyond the printed theorems, and where they end: DUALFL-N4 (nu > mu), DUALFL-N5 (values), the complexity of Theorem 3.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.algorithms import DualFL
from fedtheory.claims import Claim, Context, Divergence, Fault, Finding, Limit, bar, dot, draw_bound, lemma, norm2
from fedtheory.claims.parts import at_most, holds
from fedtheory.claims.protocol import Clause
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.arrays import squared_norm
from fedtheory.core.problem import objective
from fedtheory.core.randomness import Key
from fedtheory.measures.ground_truth import ground_truth
from fedtheory.measures.rates import fit_exponent
from paper_checks.dualfl import complexity, lemmas
from paper_checks.dualfl.acceleration import smooth
from paper_checks.dualfl.certified_runs import outside, squared_errors
from paper_checks.dualfl.common import CONVEX, SMOOTH, claim, derived
from paper_checks.dualfl.inertia import printed_t
from paper_checks.dualfl.sequence import WITHOUT_MODULUS
from paper_checks.dualfl.theory import OF_SMOOTH
from paper_checks.steps import Conclusion, Step
from problems.chains import nesterov_chain, total_variation_chain
from problems.quadratics import scalar_quadratics

SLOW = ("dual ascent", "gradient descent")


# ---- DUALFL-N4 --------------------------------------------------------------------------------------------------------


def two_parabolas() -> Any:
    """(x - 1)^2/2 and (11/20) (x + 1)^2, in fractions: mu = 1, and the dual mode that x sees has the curvature (1 + 10/11)/2 = 21/22."""
    return scalar_quadratics(np.array([Fraction(1), Fraction(11, 10)], dtype=object), [Fraction(1), Fraction(-1)])


def beside_the_edge(sign: int) -> Callable[..., Any]:
    """DualFL with the same inertia b in every round and nu (1 + sign k) times the edge's."""
    return lambda b, k: DualFL(Fraction(22, 21) * (2 + 2 * b) / (1 + 2 * b) * (1 + sign * k), lambda n: b)


BESIDE = "0 <= b < 1, 0 < k < 1"
BEYOND = Divergence(beside_the_edge(1), problem=two_parabolas, region=BESIDE, name="DualFL beyond the edge")
BELOW = Limit(beside_the_edge(-1), problem=two_parabolas, region=BESIDE, name="DualFL below the edge")
#: p(1) and p(-1) of the polynomial p(x) = x^2 - (1 + b)(1 - h) x + b (1 - h)
AT_ONE = "1 - (1 + b)*(1 - h) + b*(1 - h) == h"
AT_MINUS_ONE = "1 + (1 + b)*(1 - h) + b*(1 - h) == (1 + 2*b)*((2 + 2*b)/(1 + {}*b) - h)"


def unstable_runs(context: Context, *, factor: float = 1.45) -> Iterator[Finding]:
    """The sequence with rho = 0, for nu beyond the edge and below."""
    drawn = [scalar_quadratics(np.array([1.0, 1.1]), c) for c in context.rng().standard_normal((10, 2))]
    ends = [[squared_errors(DualFL(nu), f, f.solution(), 300)[-1] for f in drawn] for nu in (factor, 1.2)]
    grows, falls = min(ends[0]), max(ends[1])
    told = f"rho = 0, 300 rounds of ten draws: error at least {grows:.2g} for nu = {factor} mu, at most {falls:.2g} for nu = 1.2 mu"
    yield at_most("runs", [1e3, falls], [grows, 1e-6], "numeric", told)
    said = outside("nu > mu", drawn[0], factor)
    text = "the checks of Theorems 3.2 and 3.3 refuse such a setting and do not run it" + (
        "" if said is None else f": {said.text}"
    )
    yield holds("told", said is not None and said.holds is None, "numeric", text)


# ---- DUALFL-N5 --------------------------------------------------------------------------------------------------------


@lemma("step against the linearisation", "ours", "0 < nu, 1 <= t", c=1)
def linear_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """t^2 D(s+) + ||s - u+||^2/(2 nu) <= t (t - 1) D(s^n) + t (D(y) + <x, s - y>) + c ||s - u||^2/(2 nu) for every s of zero sum, rho = 0.

    D(s) = mean_j f_j^*(s_j) on points of zero sum, x_j the gradients at y = s^n + (u - s^n)/t, s+ = y - nu (x - mean x), u+ = s^n + t (s+ - s^n).
    """
    h = w.function(1 / p.nu, 0, client=True, name="f*")
    old, u, s = (w.vector(name, True) for name in ("s^n", "u", "s"))
    old, u, s = old - bar(old), u - bar(u), s - bar(s)
    y = old + (u - old) / p.t
    x, at_y = w.at(h, y, "x")
    new = y - (x - bar(x)) * p.nu
    _, at_old = w.at(h, old, "x at s^n")
    _, at_new = w.at(h, new, "x at s+")
    ahead = old + (new - old) * p.t
    left = at_new * p.t**2 + norm2(s - ahead) / (2 * p.nu)
    return left - at_old * (p.t * (p.t - 1)) - (at_y + dot(x, s - y)) * p.t - norm2(s - u) * (c.c / (2 * p.nu))


@lemma("spread of the average", "ours", "0 < nu, 0 < T", c=1)
def spread_of_average(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """<g, x^ - x> - (nu T/2) ||x - x^||^2 <= c ||g - mean g||^2/(2 nu T), x^ = mean x: what is left of E(x^) - E* with T = t_{n-1}^2."""
    x, g = w.vector("average of theta_j", True), w.vector("g_j", True)
    apart = bar(x) - x
    return dot(g, apart) - norm2(apart) * (p.nu * p.T / 2) - norm2(g - bar(g)) * (c.c / (2 * p.nu * p.T))


@lemma("last iterate", "ours", "0 < mu", c=1)
def last_iterate(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """E(theta) - E* <= <g, theta - theta*> - c (mu/2) ||theta - theta*||^2 for a subgradient g at theta, so at most ||g|| ||theta - theta*||."""
    e = w.function(None, 0, name="E")
    x = w.vector("theta")
    g, value = w.at(e, x, "g")
    _, least = w.at(e, x * 0, "theta*", g=x * 0)
    return value + norm2(x) * (p.mu / 2) - least - dot(g + x * p.mu, x) + norm2(x) * (c.c * p.mu / 2)


BY_AVERAGING = (
    "Sum the steps over k < n, with t_k (t_k - 1) = t_{k-1}^2 and T = sum_k t_k = t_{n-1}^2: T D(s^n) <= sum_k t_k "
    "(<x^{k+1}, s> - mean_j f_j(x_j^{k+1})) + ||s||^2/(2 nu) for every s of zero sum. With x^_j the weighted averages "
    "and s = -nu T (x^ - mean x^), by convexity, D(s^n) + mean_j f_j(x^_j) <= -(nu T/2) mean_j ||x^_j - mean x^||^2, "
    "and D(s^n) >= -E* by duality. So E(mean x^) - E* <= mean_j (f_j(mean x^) - f_j(x^_j)) - (nu T/2) spread, and "
    "f_j(mean x^) - f_j(x^_j) <= <g_j, mean x^ - x^_j>; T >= (n+1)^2/4."
)


def averages(context: Context, *, share: float = 1.0, weighted: bool = True) -> Iterator[Finding]:
    """Values of t-weighted averages on the total variation chain, against the bound; the last iterates beside them."""
    chain = total_variation_chain(40)
    least = ground_truth(chain).f
    method, count = DualFL(chain.mu), context.pick(300, 2000)
    state, total, weight, t = method.init(chain, np.zeros((1, chain.d))), np.zeros((1, chain.d)), 0.0, 1.0
    limits, last, mean = [], [], []
    for n in range(1, count + 1):
        state = method.round(chain, state, None, Key(0, n - 1))
        total, weight = total + (t if weighted else 1.0) * state.x, weight + (t if weighted else 1.0)
        t = float(printed_t(t, 0.0))
        x = total / weight
        g = chain.grad(x)
        limits.append(2 / (chain.mu * (n + 1) ** 2) * float(squared_norm(g - g.mean(axis=0)).mean()))
        mean.append(float(objective(chain, x)) - least)
        last.append(float(objective(chain, state.x)) - least)
    ratios = np.array(mean) / (share * np.array(limits))
    text = f"{chain.name}, {count} rounds: at most {ratios.max():.2g} of the bound"
    yield at_most("chain", ratios, 1.0, "numeric", text, error=1e-9)
    about = "DualFL with nu = mu, rho = 0 on the total variation chain with 40 links; the bound is that of the weighted averages"
    more = [("last iterate", last), ("weighted average", mean)]
    yield draw_bound(
        "Values of averages", range(1, count + 1), limits, ylabel="E - E*", about=about, more=more, logx=True
    )


# ---- Theorem 3.3: complexity ------------------------------------------------------------------------------------------


def chain_runs(context: Context, *, fast: str = "DualFL", reach: float = 1.0) -> Iterator[Finding]:
    """Rounds to 1e-6 on the lower-bound chain against kappa: DualFL, and without inertia in the dual and in the primal; the floor q^(2n)."""
    kappas, slack = (10, 25, 60, 150, 350), []
    counts = {name: [smooth(of, k) for k in kappas] for name, of in {"DualFL": fast, **{n: n for n in SLOW}}.items()}
    fits = {name: fit_exponent(kappas, np.array(c), slice(0, 5)) for name, c in counts.items()}
    told = "; ".join(
        f"{n}: {', '.join(f'{v:.0f}' for v in counts[n])}, power {fit.rate:.3f}" for n, fit in fits.items()
    )
    slow = min(fits[name].low for name in SLOW)
    yield at_most("power of kappa", [fits["DualFL"].high, 0.85], [0.65, slow], "numeric", told)
    for kappa in kappas:
        chain = nesterov_chain(120, L=kappa, mu=1.0)
        x_star = chain.solution()
        tails = np.array([np.sum(x_star[int(reach * n) :] ** 2) for n in range(1, 31)])
        slack.append(tails / squared_errors(DualFL(1.0, 1 / kappa), chain, x_star, 30))
    text = (
        "after n rounds the model has at most its first n coordinates, so that ||theta^(n) - theta*||^2 >= sum_{i>n} "
        "theta*_i^2 ~ q^(2n) ||theta*||^2, q = (sqrt(kappa) - 1)/(sqrt(kappa) + 1)"
    )
    yield at_most("support", slack, 1.0, "numeric", text, error=1e-9)
    order = [10 * (k / 10) ** 0.5 for k in kappas]
    about = "DualFL with nu = mu, rho = 1/kappa on Nesterov's chain with 80 links, two clients; claimed: the order sqrt(kappa)"
    title, more = "Rounds to a relative squared distance of 1e-6", [*counts.items()]
    yield draw_bound(title, kappas, order, xlabel="kappa", ylabel="rounds", about=about, more=more, logx=True)


CLAIMS: list[Claim] = [
    derived(
        "DUALFL-N4",
        "the range of nu",
        "On quadratics, with the same inertia b in every round, DualFL diverges for nu > mu (2 + 2 b)/(1 + 2 b) where a mode of the dual has the "
        "curvature 1/mu and the gradients at theta* have a part in it, and converges below; for b -> 1, where the inertia with rho = 0 goes, the "
        "edge tends to 4 mu/3.",
        [Step("beyond it", BEYOND), Step("below it", BELOW)],
        conclusions=[
            Conclusion(
                "edge",
                "a mode of D with the curvature h/nu has s+ = (1 - h) y, y+ = s+ + b (s+ - s), so that its multipliers are the roots of p(x) = x^2 "
                "- (1 + b)(1 - h) x + b (1 - h); p(1) = h > 0, and p(-1) = (1 + 2 b) ((2 + 2 b)/(1 + 2 b) - h) < 0, with a root below -1, exactly "
                "beyond the edge, which tends to 4/3 for b -> 1; from s = y = 0 every root has a part in the error, for none is 1; "
                "below it |b (1 - h)| < 1, and both lie inside (Jury)",
                confirmed=(AT_ONE, AT_MINUS_ONE.format(2)),
                wrong={"an edge with 3 b for 2 b": (AT_ONE, AT_MINUS_ONE.format(3))},
            )
        ],
        assumptions=["f_j mu-strongly convex quadratics, exact local solves"],
        kind="divergence",
        besides=unstable_runs,
        faults=[Fault("nu below the edge", "runs", {"factor": 1.25})],
    ),
    derived(
        "DUALFL-N5",
        "Theorem 3.2 in values",
        [
            Clause(
                "E(theta^(n)) - E* <= ||g|| ||theta^(n) - theta*|| = O(1/n) with a subgradient g at theta^(n);",
                ("order of the last iterate",),
            ),
            Clause(
                "the averages of theta^(1), ..., theta^(n) with weights t_0, ..., t_{n-1} have E - E* <= 2/(nu (n+1)^2) mean_j ||g_j - mean g||^2 "
                "with subgradients g_j of f_j there.",
                ("averages",),
            ),
        ],
        [
            Step("one step", linear_step),
            Step("spread", spread_of_average),
            Step("last iterate", last_iterate),
            Step("(29)", lemmas.primal_error),
        ],
        conclusions=[
            Conclusion(
                "order of the last iterate",
                "||theta^(n) - theta*|| <= 2 sqrt(V*)/(nu (n+1)) by DUALFL-N2; the models stay in a ball, on which subgradients of the finite convex "
                "E are bounded",
                ("last iterate", "(29)"),
                confirmed=(lemmas.STEP, *WITHOUT_MODULUS),
            ),
            Conclusion("averages", BY_AVERAGING, ("one step", "spread"), confirmed=WITHOUT_MODULUS),
        ],
        assumptions=[CONVEX, "exact local solves, rho = 0"],
        readings=[
            "Theorem 3.2 claims a rate of the squared distance only; this adds one of values, which is of order 1/n^2 for averages."
        ],
        kind="bound",
        besides=averages,
        faults=(
            Fault("half of the bound", "chain", {"share": 0.5}),
            Fault("averages with equal weights", "chain", {"weighted": False}),
        ),
    ),
    claim(
        "DUALFL-T3.3c",
        "Theorem 3.3, complexity",
        [
            Clause("O(sqrt(kappa) log(1/eps)) rounds suffice for rho = 1/kappa and nu = mu,", ("upper bound",)),
            Clause("which is the optimal order for smooth strongly convex costs.", ("lower bound",)),
        ],
        [Step("upper bound", complexity.SUFFICE), Step("lower bound", complexity.NEEDED), OF_SMOOTH],
        assumptions=[CONVEX, SMOOTH, "(9)", "kappa > 1"],
        readings=[
            "Optimal is read as in Arjevani and Shamir, whom the sentence cites: among methods whose models gain one coordinate of the chain a "
            "communication, whatever their local work. Of DualFL this is seen on the chain. With n coordinates a model is off by exp(-x n) (1 - "
            "q^(2m)) of ||theta*||^2 or more, x = 4/(sqrt(kappa) - 1), so that ((sqrt(kappa) - 1)/4) log(1/(2 eps)) rounds are needed where m is "
            "large.",
        ],
        kind="rate",
        besides=chain_runs,
        faults=(
            Fault("no inertia", "power of kappa", {"fast": "dual ascent"}),
            Fault("half a coordinate a round", "support", {"reach": 0.5}),
        ),
    ),
]
