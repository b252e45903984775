"""FedSLR's Facts 1 to 3: what an exact round leaves (23), (25), (26), in symbols, on unknown functions and against CVXPY."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.claims.claim import Claim, Fault, Finding, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.parts import at_most, equal, proved
from fedtheory.claims.statements.equivalence import Equivalence
from fedtheory.core.arrays import average, spread
from fedtheory.core.errors import require
from fedtheory.core.regularisers import NuclearNorm
from fedtheory.local.solvers import Exact, GradientSteps
from fedtheory.local.subproblem import Subproblem
from fedtheory.proofs.symbolic import agree, is_zero, symbols
from paper_checks.fedpd.structure import SCRIPT
from paper_checks.fedslr.exact_runs import PAPER
from paper_checks.fedslr.operators import COLUMNS, CVXPY_ACCURACY, LAYER, ROWS, column
from problems.low_rank import robust_low_rank_regression
from problems.quadratics import random_indefinite

EXACT = Exact()


def _phase_one(ctx: Context, local: Any) -> float:
    """Largest residual of (23), relative to the gradients, in six rounds on smooth functions without convexity."""
    worst = 0.0
    problems = [robust_low_rank_regression(seed=ctx.seed).problem.inner, random_indefinite(4, 5, seed=ctx.seed)]
    for problem in problems:
        for u in (0.1, 0.3, 0.49):
            eta = u / float(np.max(problem.certify()["L"].value))
            method = FedSLR(eta, local=local)
            state = method.init(problem, ctx.rng().standard_normal((1, problem.d)))
            for _ in range(6):
                new: Any = method.round(problem, state, None, SCRIPT)
                gradient = problem.grad(new.x_i)
                residual = gradient - state.gamma_i - (state.x - new.x_i) / eta
                worst = max(worst, float(np.abs(residual).max() / np.abs(gradient).max()))
                state = new
    return worst


def check_fact_1(ctx: Context, *, sign: int = -1, local: Any = EXACT) -> Iterator[Finding]:
    """The local problem's gradient is (23)'s left side; exact solves make it vanish."""
    n = 3
    gradients, at, gamma = (column(name, n) for name in ("g", "w", "gamma"))
    eta, w = symbols("eta", positive=True), np.array([[symbols("w")]], dtype=object)
    unknown: Any = SimpleNamespace(n=n, d=1, grad=lambda x: gradients)
    sub = Subproblem(unknown, a=sign * gamma, rho=1 / eta, z=w)
    yield proved(
        "the local problem's gradient",
        agree(sub.grad(at), gradients - gamma - (w - at) / eta),
        "whatever grad f_i is, the gradient of (4) is (23)'s left side, client by client and coordinate by coordinate; it vanishes at a minimiser, "
        "as f_i is differentiable",
    )
    yield at_most("runs", _phase_one(ctx, local), 1e-9, "numeric", "six rounds on I-ROB and indefinite quadratics")


@dataclass(frozen=True, eq=False)
class GradientState:
    """FedSLR's state where the duals are the gradients at the local models."""

    x: Any
    x_i: Any
    gamma_i: Any


@dataclass(frozen=True)
class GradientsForDuals:
    """Phase I that takes the gradient at the new local model in the place of (5)."""

    eta: Any

    def init(self, problem: Any, x0: Any) -> GradientState:
        """Start with the gradients at w_0."""
        return GradientState(x0, spread(x0, problem.n), problem.grad(x0))

    def round(self, problem: Any, state: GradientState, clients: Any, key: Any) -> GradientState:
        """Solve (4) as a proximal step, and take gradients."""
        x_i = problem.prox(state.x + self.eta * state.gamma_i, self.eta)
        gamma_i = problem.grad(x_i)
        return GradientState(average(x_i) - self.eta * average(gamma_i), x_i, gamma_i)


def check_fact_2(ctx: Context, *, method: Callable[[Any], Any] = FedSLR) -> Iterator[Finding]:
    """FedSLR beside the method whose duals are gradients; and what local steps in the place of exact solves leave of it."""
    same = Equivalence(
        lambda eta: method(eta),
        lambda eta: GradientsForDuals(eta),  # type: ignore[arg-type,return-value]
        region="0 < eta",
        states={"x": "x", "x_i": "x_i", "gamma_i": "gamma_i"},
        name="duals and gradients",
    )
    yield from same.findings(ctx)
    lr = 0.5
    left = [_phase_one(ctx, GradientSteps(steps, lr=lr)) for steps in (1, 4, 16)] if method is FedSLR else []
    yield Reading(
        "Without a regulariser; the server's step only decides where w_t is, and the clients' part is shown from any w_t. The fact rests "
        "on exact solves: "
        f"with 1, 4 and 16 gradient steps gamma - grad f_i is up to {', '.join(f'{v:.1g}' for v in left)} of the gradients."
    )


def check_fact_3(ctx: Context, *, sign: int = 1) -> Iterator[Finding]:
    """(26): both forms of the server's step differ by a constant; CVXPY solves the second."""
    w, mean, g = symbols("w wbar gbar")
    eta = symbols("eta", positive=True)
    second = g * w + (w - mean) ** 2 / (2 * eta)
    first = (w - (mean - sign * eta * g)) ** 2 / (2 * eta)
    yield proved(
        "both forms",
        is_zero(second - first - (g * mean - eta * g**2 / 2)),
        "in every coordinate the objectives of (26), the first divided by eta, differ by a number without w; so they have one minimiser "
        "for every convex R, "
        "and 0 in the subdifferential of the second there is (27)",
    )
    cp = require("cvxpy", "the server's step from an independent solver")
    rng, ours, theirs = ctx.rng(), [], []
    for eta_g, weight in ((0.5, 0.3), (2.0, 0.4), (10.0, 0.02)):
        models, duals = rng.standard_normal((2, 4, ROWS * COLUMNS))
        step = models.mean(axis=0) - eta_g * duals.mean(axis=0)
        ours.append(NuclearNorm(weight, LAYER).prox(step[None, :], eta_g)[0])
        z = cp.Variable((ROWS, COLUMNS))
        dual, centre = (v.mean(axis=0).reshape(ROWS, COLUMNS) for v in (sign * duals, models))
        objective = weight * cp.normNuc(z) + cp.sum(cp.multiply(dual, z)) + cp.sum_squares(z - centre) / (2 * eta_g)
        cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")
        theirs.append(z.value.ravel())
    yield equal("CVXPY", ours, theirs, "numeric", "three server steps with a nuclear norm", rtol=10 * CVXPY_ACCURACY)


# ---- Fact 5 ----------------------------------------------------------------------------------------------------------


CLAIMS: list[Claim] = [
    Claim(
        "FEDSLR-F1",
        PAPER,
        "identity",
        "Fact 1, (23)",
        "grad f_i(w_{i,t+1}) - gamma_{i,t} - (w_t - w_{i,t+1})/eta_g = 0.",
        check_fact_1,
        (
            Fault("the dual with the other sign", "the local problem's gradient", {"sign": 1}),
            Fault("100 gradient steps", "runs", {"local": GradientSteps(100, lr=0.02)}),
        ),
        assumptions=("exact local solves",),
    ),
    Claim(
        "FEDSLR-F2",
        PAPER,
        "equivalence",
        "Fact 2, (25); Remark 2",
        "gamma_{i,t+1} = grad f_i(w_{i,t+1}) for every t >= 0.",
        check_fact_2,
        (
            Fault(
                "local steps",
                "the same iterates",
                {"method": lambda eta: FedSLR(eta, local=GradientSteps(2, lr=eta / 9))},
            ),
        ),
        assumptions=("exact local solves",),
    ),
    Claim(
        "FEDSLR-F3",
        PAPER,
        "identity",
        "Fact 3, (26) and (27)",
        "The server's step is argmin_w R(w) + <mean_i gamma_{i,t+1}, w> + ||w - mean_i w_{i,t+1}||^2/(2 eta_g).",
        check_fact_3,
        (
            Fault("the dual with the other sign", "both forms", {"sign": -1}),
            Fault("the dual with the other sign", "CVXPY", {"sign": -1}),
        ),
    ),
]
