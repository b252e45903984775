"""Claim II.2 (FedAvg diverges), its non-degenerate versions D9 and D10, FedPD on the same instances (D14), Remark 2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import comb
from typing import Any

import numpy as np
from scipy.optimize import brentq

from fedtheory.algorithms import FedAvg, FedPD
from fedtheory.claims.claim import Claim, Context, Fault, Finding, Picture, Reading
from fedtheory.claims.parts import at_most, equal, holds, proved
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import NotAvailable, require
from fedtheory.core.problem import constant
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.measures import metrics
from fedtheory.measures.rates import fit_exponent
from fedtheory.proofs.spectrum import round_map
from fedtheory.proofs.symbolic import (
    agree,
    is_not_zero,
    is_positive,
    is_zero,
    play_exactly,
    round_matrix,
    symbols,
    vector,
)
from fedtheory.running.runner import run
from paper_checks.fedpd import neighbourhood
from paper_checks.fedpd.common import A1, A2, PAPER, rational, total
from paper_checks.fedpd.draws import DRAWS, draw_batch, exceeds
from paper_checks.fedpd.theorem_one import proof_of_corrected_theorem
from problems.fedavg_divergence import coercive_counterexample, curved_counterexample, fedavg_counterexample
from problems.logistic import fedpd_synthetic
from problems.quadratics import scalar_quadratics
from problems.separable import root_plus_quadratic

# ---- CL2 ----------------------------------------------------------------------------------------------------------


def multiplier(problem: Any, steps: int, lr: Any) -> Any:
    """Return the factor one FedAvg round applies to the server's model on scalar quadratics through the origin."""
    return round_map(FedAvg(GradientSteps(steps, lr)), problem, np.zeros(1)).matrix[0, 0]


def multipliers_grow() -> bool:
    """Check p' = p + z q, q' = q + z p for p_Q = ((1+z)^Q + (1-z)^Q)/2 and q_Q = ((1+z)^Q - (1-z)^Q)/2.

    With p_1 = 1 and q_1 = z this makes p_Q > 1 and q_Q > 0 for every Q >= 2 and z > 0.
    """
    z, Q = symbols("z Q", positive=True)
    up, down = (1 + z) ** Q, (1 - z) ** Q
    p, q = (up + down) / 2, (up - down) / 2
    return is_zero(((1 + z) * up + (1 - z) * down) / 2 - (p + z * q)) and is_zero(
        ((1 + z) * up - (1 - z) * down) / 2 - (q + z * p)
    )


def check_cl2(ctx: Context, *, extra_steps: int = 0, claimed: Any = None) -> Iterator[Finding]:
    """The instance in closed form, by spectrum and by run; then what the printed proof does."""
    yield Reading(
        "Correct as printed (constant eta, Q > 1, any x^0 != 0). f is identically zero on this instance, so every point is "
        "optimal in the paper's own metric; D9 and D10 give instances without that blemish. The printed proof takes other "
        "steps (1/sqrt(r), with 1/2 once a cycle), writes the local maps of x^2/2 instead of x^2, and pairs the steps of "
        "neighbouring cycles; none of this touches the claim."
    )
    eta, z = symbols("eta z", positive=True)
    sympy = require("sympy", "closed forms")
    wrong = []
    for Q in range(2, 10):
        matrix, _ = round_matrix(
            FedAvg(GradientSteps(Q - extra_steps, eta)), scalar_quadratics(np.array([z / eta, -z / eta]))
        )
        m = sympy.expand(sympy.simplify(matrix[0, 0]))
        binomial = sum(comb(Q, 2 * k) * z ** (2 * k) for k in range(Q // 2 + 1))
        if not is_zero(m - (claimed(Q, z) if claimed else binomial)):
            wrong.append(Q)
    yield holds(
        "multiplier, Q = 2..9",
        not wrong,
        "symbolic",
        "one round multiplies the server's model by sum_k binom(Q, 2k) z^{2k}, z = a eta, on +-(a/2) x^2",
    )
    yield proved(
        "m > 1 for every Q >= 2 and eta > 0",
        not wrong and multipliers_grow(),
        "with p_1 = 1 and q_1 = z > 0 the recursion p' = p + z q, q' = q + z p makes p_Q > 1 for all Q >= 2: x^r = m^r x^0 goes "
        "to infinity from every x^0 != 0",
    )
    problem = fedavg_counterexample()
    L = constant(problem, "L")
    try:
        problem.bounded_dissimilarity(10.0)
        bounded = True
    except NotAvailable:
        bounded = False
    x = np.linspace(-3, 3, 7)[:, None, None]
    squares = (problem.grad(x) ** 2).sum(axis=-1).mean(axis=-1)
    yield holds(
        "assumptions on the instance",
        float(L) == 2
        and not bounded
        and bool(np.all(problem.value(x).mean(axis=-1) == 0))
        and np.allclose(squares, 4 * x[:, 0, 0] ** 2),
        "exact",
        "A1 with L = 2; A2 with c = 0 (f = 0); A3 fails: mean ||grad f_i||^2 = 4 x^2 is unbounded while grad f = 0",
    )
    grid = [(Q, e) for Q in (2, 3, 5, 10) for e in (0.001, 0.1, 0.5, 1.0, 3.0)]
    radii = [multiplier(problem, Q - extra_steps, e) for Q, e in grid]
    yield holds(
        "spectrum",
        min(radii) > 1,
        "spectrum",
        f"multiplier read off the round on {len(grid)} pairs (Q, eta): smallest {min(radii):.8f}",
    )
    trace = total(problem, FedAvg(GradientSteps(2, 0.1)), np.ones(1), 50)
    grown = float(np.abs(trace.state.x[0, 0]))
    yield equal("run, Q = 2, eta = 0.1", grown, 1.04**50, "numeric", f"x^50 / x^0 = {grown:.5f}", rtol=1e-12)
    long = run(FedAvg(GradientSteps(8, 0.1)), problem, np.ones(1), 1000, progress=False)
    yield holds(
        "run to divergence",
        bool(long.diverged) and abs(int(long.diverged_at) - np.log(1e100) / np.log(2.2337946)) < 2,
        "numeric",
        f"Q = 8, eta = 0.1: past 1e100 in round {int(long.diverged_at)}, as m = 2.2338 predicts",
    )
    yield from _diminishing(ctx)
    yield from _printed_cycles()
    rounds = np.arange(51)
    yield Picture(
        "FedAvg on f_1 = x^2, f_2 = -x^2 (eta = 0.1)",
        "rounds",
        "|x^r| / |x^0|",
        [
            {
                "label": f"Q = {Q}, closed form",
                "x": rounds.tolist(),
                "y": [float(multiplier(problem, Q, 0.1)) ** int(r) for r in rounds],
            }
            for Q in (2, 4, 8)
        ]
        + [{"label": "FedPD, exact solves", "x": rounds.tolist(), "y": _fedpd_magnitudes(50)}],
        logy=True,
    )


def _fedpd_magnitudes(rounds: int) -> list[float]:
    trace = run(
        FedPD(0.1), fedavg_counterexample(), np.ones(1), rounds, metrics={"x": metrics.magnitude}, progress=False
    )
    return [float(v) for v in np.sqrt(trace["x"])]


def _root_step(Q: int, r: int, q: int) -> float:
    return float((r * Q + q + 1) ** -0.5)


def _harmonic_step(Q: int, r: int, q: int) -> float:
    return 1 / (r * Q + q + 1)


def _diminishing(ctx: Context) -> Iterator[Finding]:
    """Steps c/sqrt(n+1): growth like R^kappa, kappa = (a c)^2 (Q-1)/2; steps 1/(n+1): no divergence."""
    rounds = ctx.pick(4000, 40_000)
    for a, Q in ((1.0, 2), (1.0, 4), (2.0, 2)):
        problem = scalar_quadratics([a, -a])
        marks = np.unique(np.geomspace(100, rounds, 40).astype(int))
        method = FedAvg(GradientSteps(Q, partial(_root_step, Q)))
        trace = run(method, problem, np.ones(1), rounds, metrics={"x": metrics.magnitude}, every=marks, progress=False)
        fit = fit_exponent(trace.rounds[1:], np.sqrt(trace["x"][1:]), slice(0, None))
        kappa = a**2 * (Q - 1) / 2
        yield equal(
            f"steps 1/sqrt(n), a = {a}, Q = {Q}",
            fit.rate,
            kappa,
            "numeric",
            f"|x^R| grows like R^{fit.rate:.4f}, predicted {kappa}",
            rtol=0.02,
            role="reading",
        )
        slow = FedAvg(GradientSteps(Q, partial(_harmonic_step, Q)))
        last = run(slow, problem, np.ones(1), rounds, metrics={"x": metrics.magnitude}, every=marks, progress=False)
        change = np.sqrt(last["x"][-1] / last["x"][-10]) - 1
        yield at_most(
            f"steps 1/n, a = {a}, Q = {Q}",
            change,
            20 * a**2 * Q / rounds,
            "numeric",
            f"|x^R| settles at {np.sqrt(last['x'][-1]):.4f}: square-summable steps do not diverge on this instance",
            role="reading",
        )


def _printed_cycles() -> Iterator[Finding]:
    """The printed eigenvalue is right for the matrix it is attached to, which is not the round's own."""
    differences, below = [], []
    for Q in (2, 3, 5):
        for k in (1, 2, 100):
            steps = [1 / np.sqrt(r) for r in range(k * Q + 2, (k + 1) * Q)]
            before = 1 / np.sqrt(k * Q)
            printed = 0.25 * np.prod([1 - s for s in steps]) * (1 - before) + 0.75 * np.prod([1 + s for s in steps]) * (
                1 + before
            )
            cycle = [0.5, *steps]
            diagonal = np.diag([np.prod([1 - s for s in cycle]), np.prod([1 + s for s in cycle])])
            matrix = 0.5 * diagonal @ np.ones((2, 2)) @ np.diag([1 - before, 1 + before])
            differences.append(abs(np.abs(np.linalg.eigvals(matrix)).max() - printed))
            below.append(printed)
    yield at_most(
        "printed eigenvalue",
        max(differences),
        1e-12,
        "numeric",
        f"Appendix A's lambda is the eigenvalue of the matrix it names (k = 1, 2, 100; Q = 2, 3, 5) and exceeds one "
        f"(smallest {min(below):.5f}); consecutive cycles have different matrices, so this alone does not give divergence",
        role="reading",
    )


# ---- D9 -----------------------------------------------------------------------------------------------------------


def check_d9(ctx: Context, *, factor: int = 2) -> Iterator[Finding]:
    """The threshold in symbols for Q = 2, numerically for Q = 4, 8; runs on both sides; A3's constant."""
    eta, a, b = symbols("eta a b", positive=True)
    matrix, _ = round_matrix(FedAvg(GradientSteps(2, eta)), curved_counterexample(a, b))
    threshold = factor * (a - b) / (a**2 + b**2)
    excess = matrix[0, 0] - 1
    # m - 1 = eta (a^2 + b^2)/2 (eta - threshold), and m >= 0 is a mean of squares
    positive = is_zero(matrix[0, 0] - ((1 - eta * a) ** 2 + (1 + eta * b) ** 2) / 2)
    yield proved(
        "Q = 2",
        positive and is_zero(excess - eta * (a**2 + b**2) / 2 * (eta - threshold)),
        "m >= 0 and m - 1 = (eta/2)(a^2 + b^2)(eta - 2(a-b)/(a^2+b^2)): divergence exactly above the threshold",
    )
    problem = curved_counterexample(2.0, 1.0)
    low = constant(problem, "mu_avg")
    yield holds(
        "f is strongly convex", float(low) == 0.5, "exact", "a = 2, b = 1: f = x^2/4, so A2 holds and x* = 0 is unique"
    )
    for Q, known in ((2, 0.4), (4, 0.153202), (8, 0.0675360)):
        found = brentq(lambda lr, Q=Q: multiplier(problem, Q, lr) - 1, 0.01, 0.9, xtol=1e-14)
        yield equal(f"threshold, Q = {Q}", found, known, "spectrum", f"m = 1 at eta = {found:.7f}", rtol=1e-5)
        rounds = 400
        trace = run(
            FedAvg(GradientSteps(Q, along_batch([0.95 * found, 1.05 * found]))),
            problem,
            np.ones(1),
            rounds,
            metrics={"x": metrics.magnitude},
            progress=False,
        )
        yield holds(
            f"runs around the threshold, Q = {Q}",
            trace["x"][0, -1] < 1 < trace["x"][1, -1],
            "numeric",
            f"x^2 after {rounds} rounds: {trace['x'][0, -1]:.3g} at 0.95 eta*, {trace['x'][1, -1]:.3g} at 1.05 eta*",
        )
    # A3 holds with D^2 = 2 (a^2 + b^2)/(a - b)^2 = 10 (and any G), not with less
    fine = float(problem.bounded_dissimilarity(np.sqrt(10) * (1 + 1e-9)))
    try:
        problem.bounded_dissimilarity(np.sqrt(10) * (1 - 1e-9))
        sharp = False
    except NotAvailable:
        sharp = True
    yield holds(
        "A3 holds with D^2 = 2(a^2+b^2)/(a-b)^2",
        fine == 0 and sharp,
        "exact",
        "on a = 2, b = 1 the smallest D^2 is 10: a large dissimilarity, so this is not an instance of Claim II.2 itself",
    )


# ---- D10 ----------------------------------------------------------------------------------------------------------


class _BoundedPull:
    """+-x^2 plus any function with slope in [-1, 1]: every gradient call brings a fresh symbol for that slope."""

    name = "+-x^2 plus a bounded slope"
    n, d = 2, 1

    def __init__(self) -> None:
        self.slopes: list[Any] = []

    def grad(self, x: Any) -> Any:
        fresh = symbols(f"s{len(self.slopes)} s{len(self.slopes) + 1}")
        self.slopes.extend(fresh)
        return np.array([[2], [-2]], dtype=object) * x + np.asarray(fresh, dtype=object)[:, None]

    def value(self, x: Any) -> Any:
        raise NotImplementedError

    def take(self, clients: Any) -> Any:
        return self


def _pull(eta: Any, Q: int) -> Any:
    """Largest total weight of the bounded slopes in one round: (eta/2) sum_j (|1-2eta|^j + (1+2eta)^j)."""
    return eta / 2 * sum(abs(1 - 2 * eta) ** j + (1 + 2 * eta) ** j for j in range(Q))


def local_steps_go_on(eta: Any) -> bool:
    """Check the induction over local steps, for every q: from c x - eta P a step leads to (1 -+ 2 eta) c x - eta ((1 -+ 2 eta) P + s).

    P holds the slopes so far and s is the new one. So the weights are those of the recursion, (1 -+ 2 eta)^j for the j-th slope from the last.
    """
    functions: Any = _BoundedPull()
    start = np.array([symbols("c1 c2"), symbols("P1 P2")], dtype=object)
    x = symbols("x")
    at = (start[0] * x - eta * start[1])[:, None]
    found, _ = GradientSteps(1, eta)(Subproblem(functions), at, ScriptedKey(0), None)  # type: ignore[arg-type]
    factors = (1 - 2 * eta, 1 + 2 * eta)
    expected = [
        base * c * x - eta * (base * P + s) for base, c, P, s in zip(factors, *start, functions.slopes, strict=True)
    ]
    return all(is_zero(a - b) for a, b in zip(found[:, 0], expected, strict=True))


def check_d10(ctx: Context, *, drop: int = 0, method: Any = FedAvg) -> Iterator[Finding]:
    """A recursion in symbols that proves divergence from far away; runs; FedPD on the same problem."""
    sympy = require("sympy", "closed forms")
    eta = symbols("eta", positive=True)
    agree = []
    for Q in range(2, 6):
        functions: Any = _BoundedPull()
        x = vector("x")
        states = play_exactly(FedAvg(GradientSteps(Q - drop, eta)), functions, x, 1)
        image = sympy.expand(states[1].x[0, 0])
        m = ((1 - 2 * eta) ** Q + (1 + 2 * eta) ** Q) / 2
        weights = [-image.coeff(s) for s in functions.slopes]
        # client 1's slopes carry (eta/2)(1-2eta)^j, client 2's (eta/2)(1+2eta)^j
        first = sum(weights[0::2]) - eta / 2 * sum((1 - 2 * eta) ** j for j in range(Q))
        second = sum(weights[1::2]) - eta / 2 * sum((1 + 2 * eta) ** j for j in range(Q))
        rest = image + sum(w * s for w, s in zip(weights, functions.slopes, strict=True))
        agree.append(is_zero(rest - m * x[0]) and is_zero(first) and is_zero(second))
    yield holds(
        "recursion, Q = 2..5",
        all(agree),
        "symbolic",
        "one round maps x to m x - (weighted slopes), m = ((1-2eta)^Q + (1+2eta)^Q)/2 > 1, the slopes' weights being "
        "(eta/2)(1-+2eta)^j; the local recursion x' = (1 -+ 2 eta) x - eta s gives the same for every Q",
    )
    induction = local_steps_go_on(eta)
    # with B = (eta/2) sum_j (|1-2eta|^j + (1+2eta)^j): |x'| - B/(m-1) >= m (|x| - B/(m-1))
    mm, B, size = symbols("m B size", positive=True)
    growth = is_zero(mm * size - B - B / (mm - 1) - mm * (size - B / (mm - 1)))
    far = all(agree) and induction and growth and multipliers_grow()
    yield holds(
        "divergence from every |x^0| > B/(m-1)",
        far,
        "symbolic",
        "since |slope| <= 1, |x'| - B/(m-1) >= m(|x| - B/(m-1)): geometric growth for every constant eta > 0 and Q >= 2",
    )
    w = symbols("w")
    slope = sympy.sqrt(1 + w**2).diff(w)
    single = is_positive(sympy.simplify(slope.diff(w))) and is_zero(slope.subs(w, 0))
    yield proved(
        "FedAvg diverges, FedPD converges",
        far and single and proof_of_corrected_theorem(4),
        "both: the recursion above, and for FedPD with exact solves and u < 1/2 the sum of ||grad f||^2 is finite (D1), and f' is increasing "
        "with the one zero 0, so that x_0^r goes to the minimiser",
    )
    problem = coercive_counterexample()
    yield holds(
        "assumptions",
        float(constant(problem, "L")) == 3 and float(constant(problem, "mu_avg")) == 0,
        "exact",
        "L = 3; f = sqrt(1+x^2) is convex, coercive, with minimiser 0; A3 fails: mean ||grad f_i||^2 >= 4x^2, |f'| < 1",
    )
    for Q, e, start in ((2, 0.05, 13.0), (8, 0.01, 9.29), (2, 0.05, 7.0)):
        m = ((1 - 2 * e) ** Q + (1 + 2 * e) ** Q) / 2
        limit = _pull(e, Q) / (m - 1)
        trace = run(
            method(GradientSteps(Q - drop, e)),
            problem,
            np.full(1, start),
            3000,
            metrics={"x": metrics.magnitude, "g": metrics.stationarity},
            every=3000,
            progress=False,
        )
        size = float(np.sqrt(trace["x"][-1]))
        if start > limit:
            yield holds(
                f"run eta={e} Q={Q} from {start}",
                size > 1e12,
                "numeric",
                f"|x| = {size:.3g} after 3000 rounds (proved above {limit:.3f}); ||grad f||^2 = {trace['g'][-1]:.4f}",
            )
        else:
            yield holds(
                f"run eta={e} Q={Q} from {start}",
                size < start,
                "numeric",
                f"|x| = {size:.3g} after 3000 rounds: below the threshold {limit:.3f} it may converge",
            )
    starts = np.array([[10.0], [65.0], [300.0]])
    trace = total(problem, FedPD(0.1), starts, ctx.pick(4000, 12_000))
    yield at_most(
        "FedPD converges",
        trace["stationarity"][:, -1],
        1e-6,
        "numeric",
        f"exact solves, eta = 0.1, from 10, 65, 300: ||grad f||^2 = {', '.join(f'{v:.2g}' for v in trace['stationarity'][:, -1])}",
    )


# ---- D14, R2, Q11, Q12 ----------------------------------------------------------------------------------------------


def check_d14(ctx: Context, *, curvature: Any = None) -> Iterator[Finding]:
    """Characteristic polynomial of FedPD's round on +-(a/2) x^2, and a run."""
    sympy = require("sympy", "closed forms")
    eta, a = symbols("eta a", positive=True)
    second = -a if curvature is None else -curvature * a
    matrix, found = round_matrix(FedPD(eta), scalar_quadratics(np.array([a, second])))
    t = sympy.Symbol("t")
    polynomial = sympy.factor(matrix.charpoly().eval(t))
    size = found.layout.size
    yield proved(
        "characteristic polynomial",
        agree(polynomial, t ** (size - 1) * (t - 1)),
        f"{polynomial} for every eta: the multipliers are 0 and 1, FedPD neither diverges nor needs a bound on G",
    )
    trace = run(
        FedPD(along_batch([0.05, 0.2, 0.45])),
        fedavg_counterexample(),
        np.ones(1),
        500,
        metrics={"x": metrics.magnitude},
        progress=False,
    )
    yield at_most(
        "run", trace["x"].max(axis=-1), 1.0 + 1e-9, "numeric", "|x_0| never exceeds its start over 500 rounds"
    )


def fedavg_fixed_point(a: Any, c: Any, lr: Any, steps: int) -> Any:
    """FedAvg's fixed point on (a_i/2)(x - c_i)^2: sum w_i c_i / sum w_i with w_i = 1 - (1 - lr a_i)^K."""
    weights = [1 - (1 - lr * ai) ** steps for ai in a]
    return sum(w * ci for w, ci in zip(weights, c, strict=True)) / sum(weights)


def _convex_runs(ctx: Context, share: float) -> Iterator[Finding]:
    """FedAvg on f_i = g_i x + c_i sqrt(1 + x^2), convex without strong convexity, against the derived bound for every horizon."""
    count, n, rounds = ctx.pick(200, 2000), 4, ctx.pick(300, 2000)
    rng = ctx.rng()
    c = rng.uniform(0.1, 1, (count, n))
    g = rng.normal(size=(count, n))
    g += rng.uniform(-0.9, 0.9, (count, 1)) * c.mean(axis=-1, keepdims=True) - g.mean(axis=-1, keepdims=True)
    clients = root_plus_quadratic(0.0, g, c, "convex roots")
    slope = -g.mean(axis=-1) / c.mean(axis=-1)  # of x/sqrt(1 + x^2) at x*
    star, L = (slope / np.sqrt(1 - slope**2))[:, None], c.max(axis=-1)
    lowest = clients.value(star[:, None, :]).mean(axis=-1)
    zeta2 = ((g + c * slope[:, None]) ** 2).mean(axis=-1)
    start = star + rng.normal(size=(count, 1))
    for Q in (2, 5):
        P = Q * (Q - 1) * (2 * Q - 1) / 6
        lr = rng.uniform(0.3, 1, count) * np.minimum(1, 0.5 / np.sqrt(P)) / L
        trace = total(clients, FedAvg(GradientSteps(Q, along_batch(lr))), start, rounds)
        gaps = np.cumsum(trace["value"] - lowest[:, None], axis=-1)[:, :-1] / np.arange(1, rounds + 1)
        distance2 = ((start - star) ** 2).sum(axis=-1)
        horizons = np.arange(1, rounds + 1)
        limit = neighbourhood.bound(lr[:, None], L[:, None], Q, distance2[:, None], zeta2[:, None], horizons, share)
        left = (trace["value"][:, -1] - lowest) / np.maximum(zeta2, 1e-300)
        yield at_most(
            f"runs on convex clients, Q = {Q}",
            gaps,
            limit,
            "numeric",
            f"{count} convex instances without strong convexity, R = 1..{rounds}: the largest ratio to the bound is "
            f"{float((gaps / limit).max()):.3f}; after {rounds} rounds f(x) - f* is {float(np.median(left)):.2g} zeta^2 at the median",
            error=1e-12,
        )


def check_r2(ctx: Context, *, steps_in_formula: int = 0, share: Any = 1) -> Iterator[Finding]:
    """The neighbourhood derived for convex clients, and seen on runs; the biased fixed point in symbols; the non-convex half is Claim II.2.

    ``share`` scales the radius of the neighbourhood.
    """
    yield Reading("The printed condition sum ||f_i(xhat)||^2 = 0 is read with the gradient sign that is missing in it.")
    reached = neighbourhood.neighbourhood_is_reached(share)
    yield holds(
        "a neighbourhood is reached",
        reached,
        "symbolic",
        "f_i convex and L-smooth, lr <= 1/L, P = sum_{q<Q} q^2 with lr^2 L^2 P <= 1/4: the mean of f(x^r) - f* over r < R is at most "
        "||x^0 - x*||^2/(lr R) + 2 lr^2 L P mean ||grad f_i(x*)||^2, for every n, d, Q and R (premises, multipliers and squares)",
    )
    yield from _convex_runs(ctx, float(rational(share)))
    a1, a2, lr = symbols("a1 a2 lr", positive=True)
    c1, c2 = symbols("c1 c2")
    problem = scalar_quadratics(np.array([a1, a2]), np.array([c1, c2]))
    kept, biased = True, True
    x_star = (a1 * c1 + a2 * c2) / (a1 + a2)
    # for every Q: a client maps x to c_i + (1 - w_i)(x - c_i), whatever w_i is
    w1, w2 = symbols("w1 w2", positive=True)
    any_point = (w1 * c1 + w2 * c2) / (w1 + w2)
    kept &= is_zero(sum(c + (1 - w) * (any_point - c) for w, c in ((w1, c1), (w2, c2))) / 2 - any_point)
    apart = (w1 / a1 - w2 / a2) * a1 * a2 * (c1 - c2) / ((w1 + w2) * (a1 + a2))
    biased &= is_zero(any_point - x_star - apart)
    # w(a)/a = lr sum_{j<Q} (1 - lr a)^j falls in a for lr a < 1 and Q >= 2, so that w_1/a_1 = w_2/a_2 for a_1 = a_2 only
    base, power = symbols("base power", positive=True)
    biased &= is_zero((1 - base**power) + (1 - base) * base**power - (1 - base ** (power + 1)))
    matrix, _ = round_matrix(FedAvg(GradientSteps(2, lr)), scalar_quadratics(np.array([a1, -a1])))
    grows = is_zero(matrix[0, 0] - 1 - (lr * a1) ** 2)
    for Q in (2, 3):
        point = fedavg_fixed_point((a1, a2), (c1, c2), lr, Q + steps_in_formula)
        states = play_exactly(FedAvg(GradientSteps(Q, lr)), problem, np.array([point], dtype=object), 1)
        kept &= is_zero(states[1].x[0, 0] - point)
        slope, _ = round_matrix(FedAvg(GradientSteps(Q, lr)), problem)
        kept &= is_zero(slope[0, 0] - ((1 - lr * a1) ** Q + (1 - lr * a2) ** Q) / 2)
        biased &= is_not_zero(point - x_star)
    single = is_zero(fedavg_fixed_point((a1, a2), (c1, c2), lr, 1) - x_star)
    yield proved(
        "fixed point",
        reached and kept and biased and single and grows,
        "a neighbourhood is reached (above), and on quadratics no more: for every Q the limit is the fixed point sum w_i c_i / sum w_i, "
        "w_i = 1 - (1 - lr a_i)^Q (played for Q = 2, 3), away from x* by a multiple of (w_1/a_1 - w_2/a_2)(c_1 - c_2), which for Q >= 2 and "
        "lr a_i < 1 vanishes for equal curvatures or centres only; with Q = 1 it is x*. On +-(a/2) x^2 the multiplier of Q = 2 is "
        "1 + (lr a)^2 > 1, and at 0 all gradients vanish",
    )
    a, c = (1.0, 5.0, 0.5), (2.0, -1.0, 4.0)
    trace = total(scalar_quadratics(a, c), FedAvg(GradientSteps(8, 0.05)), np.zeros(1), 300)
    expected = fedavg_fixed_point(a, c, 0.05, 8 + steps_in_formula)
    yield equal(
        "run to the biased point",
        trace.state.x[0, 0],
        expected,
        "numeric",
        f"a = (1, 5, 0.5), c = (2, -1, 4), lr = 0.05, Q = 8: {expected:.6f} instead of x* = -0.153846",
        rtol=1e-10,
    )
    yield holds(
        "non-convex case",
        multiplier(fedavg_counterexample(), 2, 0.1) > 1,
        "spectrum",
        "Q = 2 on x^2, -x^2: multiplier 1.04 > 1, and at xhat = 0 every gradient vanishes",
    )


def check_q11(ctx: Context, *, steps: int = 8) -> Iterator[Finding]:
    """FedAvg with several local steps stops at a floor that FedPD passes, with equal steps and rounds."""
    yield Reading(
        "'In most cases' is read as: on strongly and weakly non-iid penalised logistic regression with Q = 8, in the mean over draws of the data."
    )
    rounds = ctx.pick(150, 600)
    curves = []
    n, lr = ctx.pick(20, 100), 0.05
    for kind in ("weak", "strong"):
        make = partial(fedpd_synthetic, kind, n=n, samples=100, d=10)
        problem = draw_batch(make, ctx.seeds(DRAWS), "signed")
        start = np.zeros((DRAWS, problem.d))
        averaging, dual = (
            total(problem, method, start, rounds)
            for method in (
                FedAvg(GradientSteps(steps, lr)),
                FedPD(steps * lr, GradientSteps(8, steps * lr)),
            )
        )
        tail, end = averaging["stationarity"][:, -rounds // 4 :], dual["stationarity"][:, -1]
        said = f"{DRAWS} draws of {kind}ly non-iid data, {rounds} rounds: ||grad f||^2 with Q = {steps} is {tail[:, -1].mean():.3g} in the mean"
        yield exceeds(
            f"stands still on {kind}ly non-iid data",
            tail.min(axis=-1) / tail.max(axis=-1),
            0.99,
            f"{said}; smallest over largest in the last quarter of the rounds",
        )
        yield exceeds(
            f"floor on {kind}ly non-iid data",
            np.log10(tail[:, -1] / end),
            2,
            f"{said}; powers of ten that FedPD is below it, at {end.mean():.2g} in the mean",
        )
        curves += [
            {"label": f"{name} Q=8, {kind}", "x": t.rounds.tolist(), "y": t["stationarity"].mean(axis=0).tolist()}
            for name, t in (("FedAvg", averaging), ("FedPD", dual))
        ]
    yield Picture("Local gradient steps alone stop at a floor", "rounds", "||grad f||^2", curves, logy=True)


def check_q12(ctx: Context, *, method: Any = FedAvg, local_steps: int = 2) -> Iterator[Finding]:
    """Every constant step diverges on one convex, coercive problem (D10), where FedPD converges."""
    problem = coercive_counterexample()
    lrs = np.array([0.02, 0.1, 0.5, 2.0])
    m = ((1 - 2 * lrs) ** 2 + (1 + 2 * lrs) ** 2) / 2
    limit = np.array([_pull(e, 2) for e in lrs]) / (m - 1)
    trace = run(
        method(GradientSteps(local_steps, along_batch(lrs))),
        problem,
        1.1 * limit[:, None],
        12_000,
        metrics={"x": metrics.magnitude},
        every=12_000,
        progress=False,
    )
    yield holds(
        "every constant step diverges from far enough",
        bool(np.all(trace["x"][:, -1] > 1e12)),
        "numeric",
        f"Q = 2, eta = {', '.join(map(str, lrs))}, started 10 % beyond the proved threshold B/(m-1)",
    )
    recursion = next(f for f in check_d10(ctx) if getattr(f, "name", "") == "divergence from every |x^0| > B/(m-1)")
    yield proved(
        "proof",
        recursion.holds,  # type: ignore[union-attr]
        "D10: for every constant eta > 0 and Q >= 2 FedAvg diverges on this problem from far enough away; A1 and A2 hold and "
        "f has a unique minimiser",
    )


CLAIMS = [
    Claim(
        "FEDPD-CL2",
        PAPER,
        "divergence",
        "Claim II.2, Section II-B and Appendix A",
        "For any constant eta > 0 and Q > 1 there is a problem satisfying A1 and A2, but not A3, on which FedAvg diverges.",
        check_cl2,
        (
            Fault("one local step fewer", "multiplier, Q = 2..9", {"extra_steps": 1}),
            Fault("one local step fewer, spectrum", "spectrum", {"extra_steps": 1}),
            Fault("wrong closed form", "multiplier, Q = 2..9", {"claimed": lambda Q, z: (1 + z) ** Q}),
        ),
        (A1, A2, "A3 fails", "constant eta > 0", "Q > 1"),
    ),
    Claim(
        "FEDPD-D9",
        PAPER,
        "divergence",
        "non-degenerate version of Claim II.2, one step at a time",
        "On f_1 = (a/2)x^2, f_2 = -(b/2)x^2 with a > b > 0 (f strongly convex) FedAvg with Q = 2 diverges iff "
        "eta > 2(a-b)/(a^2+b^2).",
        check_d9,
        (Fault("threshold (a-b)/(a^2+b^2)", "Q = 2", {"factor": 1}),),
        (A1, A2),
    ),
    Claim(
        "FEDPD-D10",
        PAPER,
        "divergence",
        "non-degenerate version of Claim II.2, all constant steps at once",
        "On f_{1,2} = +-x^2 + sqrt(1+x^2) (f convex, coercive, unique minimiser; A3 fails) FedAvg diverges for every constant "
        "eta > 0 and Q >= 2 from every sufficiently large |x^0|, while FedPD with exact solves and u < 1/2 converges to the minimiser.",
        check_d10,
        (
            Fault("one local step fewer, symbols", "recursion, Q = 2..5", {"drop": 1}),
            Fault("one local step fewer, run", "run eta=0.05 Q=2 from 13.0", {"drop": 1}),
        ),
        (A1, A2, "A3 fails"),
    ),
    Claim(
        "FEDPD-D14",
        PAPER,
        "identity",
        "FedPD on the instance of Claim II.2",
        "On f_1 = x^2, f_2 = -x^2 the round of FedPD with exact solves has the multipliers 0 and 1 only, for every u < 1.",
        check_d14,
        (Fault("second client flatter", "characteristic polynomial", {"curvature": 0.5}),),
        (A1, "u < 1", "exact local solves"),
    ),
    Claim(
        "FEDPD-R2",
        PAPER,
        "divergence",
        "Remark 2",
        "FedAvg with a constant step reaches only a neighbourhood of the minimiser of convex problems, and in the non-convex case "
        "it can diverge even with Q = 2 and a point where all local gradients vanish.",
        check_r2,
        (
            Fault("fixed point of one step more", "fixed point", {"steps_in_formula": 1}),
            Fault("a radius smaller by a hundredth", "a neighbourhood is reached", {"share": "99/100"}),
        ),
        (
            A1,
            A2,
            "constant step",
            "Q > 1",
            "f_i convex, f has a minimiser, lr <= 1/L and lr^2 L^2 sum_{q<Q} q^2 <= 1/4 (neighbourhood)",
        ),
    ),
    Claim(
        "FEDPD-Q11",
        PAPER,
        "ordering",
        "Section I, related works",
        "Successive local gradient steps lead to sub-optimal communication complexity in most cases.",
        check_q11,
        (Fault("a single local step", "floor on weakly non-iid data", {"steps": 1}),),
        assumptions=(
            A1,
            A2,
            "full participation",
            "constant step",
            "penalised logistic regression, Q = 8",
        ),
    ),
    Claim(
        "FEDPD-Q12",
        PAPER,
        "divergence",
        "Section II-B, after Remark 2",
        "Pure local gradient directions are not compatible with the compute-then-aggregate protocol: on one problem FedAvg with any "
        "constant step and any Q >= 2 diverges from far enough away.",
        check_q12,
        (Fault("a single local step", "every constant step diverges from far enough", {"local_steps": 1}),),
        (A1, A2),
    ),
]
