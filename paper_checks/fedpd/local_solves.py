"""How much local work condition (8) costs (R3), and the first round with lam_i^0 = -grad f_i(x^0) (D13)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import FedPD
from fedtheory.claims import Context, Covered, Fault, Finding, Lemma, Reading, at_most, equal, norm2, proved
from fedtheory.claims.statements.as_claims import is_derived
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World
from fedtheory.core.problem import constant
from fedtheory.core.randomness import Key
from fedtheory.local.inexact import ToAccuracy
from fedtheory.local.stochastic import StochasticSteps
from fedtheory.local.subproblem import Subproblem
from paper_checks.fedpd import identities
from paper_checks.fedpd.common import A1, STEP, checked, derived
from paper_checks.fedpd.draws import DRAWS, draw_batch, exceeds
from paper_checks.steps import Step
from problems.logistic import fedpd_synthetic
from problems.quadratics import random_quadratics
from problems.separable import random_sines

# ---- R3: how much local work condition (8) costs ---------------------------------------------------------------


def _gradient_step(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """||grad L_i(x')|| <= u ||grad L_i(x)|| for x' = x - eta grad L_i(x), squared; x = 0."""
    f, dual, x0 = w.function(p.L, -p.L), w.vector("lam"), w.vector("x0")
    x = dual * 0
    g, _ = w.at(f, x, "g")
    slope = g + dual + (x - x0) / p.eta
    new = x - slope * p.eta
    new_g, _ = w.at(f, new, "g+")
    return norm2(new_g + dual + (new - x0) / p.eta) - norm2(slope) * (c.factor * (p.L * p.eta) ** 2)


GRADIENT_STEP = Lemma("a gradient step with eta_1 = eta", "Remark 3", "0 < L, 0 < eta", _gradient_step, {"factor": 1})


def check_r3(ctx: Context, *, lr_factor: float = 1.0, factor: Any = 1, power: float = 1.0) -> Iterator[Finding]:
    """Gradient steps to reach (8): a contraction, so log(1/epsilon_1) of them, counted; stochastic steps: O(1/epsilon_1)."""
    yield Reading("Remark 3 prints Q_i = O(log(epsilon)); read as O(log(1/epsilon)), since Q_i grows as epsilon falls.")
    yield proved(
        "contraction of a gradient step",
        is_derived(GRADIENT_STEP.with_constants(factor=factor)),
        "with eta_1 = eta, ||grad L_i(x')|| <= u ||grad L_i(x)|| for every smooth f_i and u < 1, so log(1/epsilon_1)/(2 log(1/u)) steps are enough",
        scope="gradient steps",
    )
    problem, u = fedpd_synthetic("strong", n=10, samples=100, d=10, seed=ctx.seed), 0.3
    L = float(constant(problem, "L"))
    eta, x0 = u / L, np.zeros((1, problem.d))
    sub = Subproblem(problem, a=-0.5 * problem.grad(x0), rho=1 / eta, z=x0 + 0.5)
    start, key, epsilons = np.zeros((problem.n, problem.d)), Key(ctx.seed, 0), 10.0 ** -np.arange(2, 21, 2)
    first = np.sqrt((sub.grad(start) ** 2).sum(axis=-1))
    counts = np.array([ToAccuracy(e, lr_factor * eta, 2000).count_steps(sub, start, key)[1] for e in epsilons.tolist()])
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
    # stochastic: squared gradient norm of the subproblem after q steps of size 1/(m (q + q0)) falls like 1/q
    seeds, norms, marks = ctx.seeds(DRAWS), [], [2**k for k in range(4, ctx.pick(11, 14))]
    drawn = draw_batch(partial(fedpd_synthetic, "strong", n=10, samples=100, d=10), seeds, "signed")
    eta, x0 = u / float(np.max(constant(drawn, "L").value)), np.zeros((DRAWS, 1, drawn.d))
    m, sub = (1 - u) / eta, Subproblem(drawn, a=-0.5 * drawn.grad(x0), rho=1 / eta, z=x0 + 0.5)
    for q in marks:
        solver = StochasticSteps(q, lambda r, j: 1 / (m * (j + 1 / (m * eta) + 4) ** power), 1)
        x, _ = solver(sub, np.zeros((DRAWS, drawn.n, drawn.d)), Key(seeds, 0), None)
        norms.append((sub.grad(x) ** 2).sum(axis=-1).mean(axis=-1))
    text = (
        f"mean of ||grad L_i||^2 over clients after q steps falls like q^-rate, q from {marks[0]} to {marks[-1]}, {DRAWS} draws of data and coins, "
        "so O(1/epsilon_1) steps reach (9); rate"
    )
    yield exceeds("stochastic steps", -np.polyfit(np.log(marks), np.log(norms), 1)[0], 0.8, text)


# ---- D13: the first round -----------------------------------------------------------------------------------------


def first_round_of_runs(ctx: Context, *, init_dual: Any = "grad") -> Iterator[Finding]:
    """x_0^1 = x^0 - eta grad f(x^0) where the method's own solver solves exactly, to rounding."""
    problems: dict[str, Any] = {
        "quadratics": random_quadratics(5, 3, seed=ctx.seed),
        "sines": random_sines(5, 3, seed=ctx.seed),
        "logistic regression": fedpd_synthetic("weak", n=5, samples=40, d=4, seed=ctx.seed),
    }
    for name, problem in problems.items():
        eta, x0 = 0.3 / float(constant(problem, "L")), np.full((1, problem.d), 0.7)
        method = FedPD(eta, init_dual=init_dual)
        state = method.round(problem, method.init(problem, x0), None, Key(0, 0))
        expected = x0 - eta * problem.grad(x0).mean(axis=0)
        yield equal(f"run on {name}", state.x, expected, "numeric", "x_0^1 against a gradient step", rtol=1e-12)


CLAIMS = [
    checked(
        "FEDPD-R3",
        "rate",
        "Remark 3",
        "Local accuracy epsilon_1 costs O(log(1/epsilon_1)) gradient steps, or O(1/epsilon_1) stochastic gradient steps.",
        check_r3,
        Fault("inner step a tenth of eta", "gradient steps", {"lr_factor": 0.1}),
        Fault("contraction a hundredth better", "contraction of a gradient step", {"factor": "99/100"}),
        Fault("stochastic steps decay too fast", "stochastic steps", {"power": 1.7}),
        assumes=(A1, STEP),
        draws=True,
    ),
    derived(
        "FEDPD-D13",
        "first round of Algorithm 2 with lam_i^0 = -grad f_i(x^0)",
        "The first round is one gradient step: x_i^1 = x^0 and x_0^1 = x^0 - eta grad f(x^0).",
        [Step("one gradient step", identities.FIRST_ROUND)],
        kind="identity",
        assumptions=(A1, "exact local solves", "p = 0"),
        besides=first_round_of_runs,
        faults=(Fault("zero initial duals", "run on quadratics", {"init_dual": "zero"}),),
    ),
]
