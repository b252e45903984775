"""How much local work condition (8) costs (R3), and the first round with lam_i^0 = -grad f_i(x^0) (D13)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD
from fedtheory.claims.claim import Claim, Context, Covered, Fault, Finding, Reading
from fedtheory.claims.parts import at_most, equal, proved
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from fedtheory.local.inexact import ToAccuracy
from fedtheory.local.solvers import Exact
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.symbolic import is_zero, play_exactly, symbols, vector
from paper_checks.fedpd.common import A1, PAPER, STEP, Prescribed, rational
from paper_checks.fedpd.draws import DRAWS, draw_batch, exceeds
from problems.logistic import fedpd_synthetic
from problems.quadratics import random_quadratics
from problems.separable import random_sines

# ---- R3: how much local work condition (8) costs ---------------------------------------------------------------


def gradient_step_contracts(lr_factor: float = 1) -> bool:
    """Check x' - x = -eta grad L_i(x), x' = x_0 - eta (g + lam), and grad L_i(x') = g' - g with g, g' the gradients of f_i at x, x'."""
    x, x0, lam, g, new_g = symbols("x x0 lam g new_g")
    eta = symbols("eta", positive=True)
    slope = g + lam + (x - x0) / eta
    new = x - rational(lr_factor) * eta * slope
    left = new_g + lam + (new - x0) / eta
    return is_zero(left - (new_g - g)) and is_zero(new - x0 + eta * (g + lam))


def check_r3(ctx: Context, *, lr_factor: float = 1.0, power: float = 1.0) -> Iterator[Finding]:
    """Gradient steps to reach (8): linear in log(1/epsilon_1) and below the closed form; stochastic steps: O(1/epsilon_1)."""
    yield Reading("Remark 3 prints Q_i = O(log(epsilon)); read as O(log(1/epsilon)), since Q_i grows as epsilon falls.")
    problem = fedpd_synthetic("strong", n=10, samples=100, d=10, seed=ctx.seed)
    L = float(constant(problem, "L"))
    u = 0.3
    eta = u / L
    x0 = np.zeros((1, problem.d))
    sub = Subproblem(problem, a=-0.5 * problem.grad(x0), rho=1 / eta, z=x0 + 0.5)
    start = np.zeros((problem.n, problem.d))
    key = Key(ctx.seed, 0)
    epsilons = 10.0 ** -np.arange(2, 21, 2)
    taken = []
    first = np.sqrt((sub.grad(start) ** 2).sum(axis=-1))
    for epsilon in epsilons:
        x, steps = ToAccuracy(float(epsilon), lr_factor * eta, 2000).count_steps(sub, start, key)
        taken.append(steps)
        assert ((sub.grad(x) ** 2).sum(axis=-1) <= epsilon).all() or lr_factor != 1
    yield proved(
        "contraction of a gradient step",
        gradient_step_contracts(lr_factor),
        "with eta_1 = eta, x' = x_0 - eta (grad f_i(x) + lam_i) leaves grad L_i(x') = grad f_i(x') - grad f_i(x), of norm at most "
        "L ||x' - x|| = u ||grad L_i(x)||, for every smooth f_i and u < 1",
        scope="the gradient half of the statement",
    )
    counts = np.asarray(taken)
    closed = np.ceil(np.maximum(0, np.log(first / np.sqrt(epsilons)[:, None]) / np.log(1 / u)))
    yield at_most(
        "gradient steps",
        counts,
        closed,
        "numeric",
        f"with eta_1 = eta a client needs at most log(||grad L_i||/sqrt(epsilon_1))/log(1/u) steps; at epsilon_1 = 1e-20: "
        f"{int(counts[-1].max())} against {int(closed[-1].max())}",
        covered=Covered(problem.n, "instances"),
    )
    slope = np.polyfit(np.log(1 / epsilons), counts.max(axis=-1), 1)[0]
    yield at_most(
        "logarithmic growth",
        slope,
        1 / (2 * np.log(1 / u)),
        "numeric",
        f"steps per unit of log(1/epsilon_1): {slope:.3f}, at most 1/(2 log(1/u)) = {1 / (2 * np.log(1 / u)):.3f}",
        covered=Covered(len(epsilons), "points"),
    )
    # stochastic: squared gradient norm of the subproblem after q steps of size 1/(m (q + q0)) falls like 1/q
    seeds = ctx.seeds(DRAWS)
    drawn = draw_batch(partial(fedpd_synthetic, "strong", n=10, samples=100, d=10), seeds, "signed")
    eta = u / float(np.max(constant(drawn, "L").value))
    x0 = np.zeros((DRAWS, 1, drawn.d))
    sub = Subproblem(drawn, a=-0.5 * drawn.grad(x0), rho=1 / eta, z=x0 + 0.5)
    m = (1 - u) / eta
    horizon = ctx.pick(1024, 8192)
    marks = [2**k for k in range(4, int(np.log2(horizon)) + 1)]
    norms = []
    for q in marks:
        solver = StochasticSteps(q, lambda r, j: 1 / (m * (j + 1 / (m * eta) + 4) ** power), 1)
        x, _ = solver(sub, np.zeros((DRAWS, drawn.n, drawn.d)), Key(seeds, 0), None)
        norms.append((sub.grad(x) ** 2).sum(axis=-1).mean(axis=-1))
    rates = np.polyfit(np.log(marks), np.log(norms), 1)[0]
    yield exceeds(
        "stochastic steps",
        -rates,
        0.8,
        f"mean of ||grad L_i||^2 over clients after q steps falls like q^-rate, q from {marks[0]} to {marks[-1]}, {DRAWS} draws of data and coins, "
        "so O(1/epsilon_1) steps reach (9); rate",
    )


# ---- D13: the first round -----------------------------------------------------------------------------------------


class _AnySmooth:
    """n functions known only by one gradient each, at the starting point: symbols g_i."""

    name = "any smooth functions"
    d = 1

    def __init__(self, n: int) -> None:
        self.n = n
        self.gradients = np.asarray(symbols(f"g1:{n + 1}"), dtype=object)[:, None]

    def grad(self, x: Any) -> Any:
        return self.gradients

    def value(self, x: Any) -> Any:
        raise NotImplementedError

    def take(self, clients: Any) -> Any:
        return self


def check_d13(ctx: Context, *, init_dual: str = "grad") -> Iterator[Finding]:
    """x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0), in symbols for any smooth f_i, and on instances."""
    eta = symbols("eta", positive=True)
    x = vector("x")
    functions: Any = _AnySmooth(3)
    start = FedPD(eta, init_dual=init_dual).init(functions, x[None, :])  # type: ignore[arg-type]
    sub = Subproblem(functions, a=start.lam_i, rho=1 / eta, z=start.x0_i)
    stationary = all(is_zero(entry) for entry in sub.grad(start.x_i).ravel())
    # the subproblem is strongly convex for u < 1, so its stationary point x^0 is its solution
    states = play_exactly(FedPD(eta, Prescribed(lambda r: start.x_i), init_dual=init_dual), functions, x, 1)  # type: ignore[arg-type]
    step = is_zero(states[1].x[0, 0] - (x[0] - eta * functions.gradients.sum() / 3))
    yield proved(
        "one gradient step",
        stationary and step,
        "x^0 is stationary for every client's first subproblem, and the server then moves to x^0 - eta grad f(x^0)",
    )
    problems: list[Any] = [
        random_quadratics(5, 3, seed=ctx.seed),
        random_sines(5, 3, seed=ctx.seed),
        fedpd_synthetic("weak", n=5, samples=40, d=4, seed=ctx.seed),
    ]
    for problem in problems:
        eta_ = 0.3 / float(constant(problem, "L"))
        x0 = np.full((1, problem.d), 0.7)
        algorithm = FedPD(eta_, Exact(), init_dual=init_dual)  # type: ignore[arg-type]
        state = algorithm.round(problem, algorithm.init(problem, x0), None, Key(0, 0))
        expected = x0 - eta_ * problem.grad(x0).mean(axis=0)
        yield equal(problem.name, state.x, expected, "numeric", "x_0^1 against a gradient step", rtol=1e-12)


CLAIMS = [
    Claim(
        "FEDPD-R3",
        PAPER,
        "rate",
        "Remark 3",
        "Local accuracy epsilon_1 costs O(log(1/epsilon_1)) gradient steps, or O(1/epsilon_1) stochastic gradient steps.",
        check_r3,
        (
            Fault("inner step a tenth of eta", "gradient steps", {"lr_factor": 0.1}),
            Fault("inner step a tenth of eta, symbols", "contraction of a gradient step", {"lr_factor": 0.1}),
            Fault("stochastic steps decay too fast", "stochastic steps", {"power": 1.7}),
        ),
        (A1, STEP),
        draws=True,
    ),
    Claim(
        "FEDPD-D13",
        PAPER,
        "identity",
        "first round of Algorithm 2 with lam_i^0 = -grad f_i(x^0)",
        "The first round is one gradient step: x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0).",
        check_d13,
        (Fault("zero initial duals", "one gradient step", {"init_dual": "zero"}),),
        (A1, "u < 1"),
    ),
]
