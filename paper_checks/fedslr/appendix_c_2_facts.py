"""Appendix C.2: Facts 1 to 5, on the steps of a round and of Phase II."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.claims import Claim, Context, Equivalence, Fault, Finding, at_most, equal, lemma, state
from fedtheory.claims.statements.worlds import LemmaConstants, Parameters, World, bar, dot, norm2
from fedtheory.core.arrays import average, spread
from fedtheory.core.errors import require
from fedtheory.core.regularisers import NuclearNorm
from fedtheory.local.solvers import Exact, GradientSteps
from paper_checks.fedslr import assumptions
from paper_checks.fedslr.appendix_a_1_proximal_operators import COLUMNS, CVXPY_ACCURACY, LAYER, ROWS
from paper_checks.fedslr.assumptions import ONE_CLIENT
from paper_checks.fedslr.notation import INSIDE, PAPER, claim
from paper_checks.fedslr.rounds import play_round
from paper_checks.given_gradients import SCRIPT
from paper_checks.steps import Step
from problems.low_rank import robust_low_rank_regression
from problems.quadratics import random_indefinite

CLAIMS: list[Claim] = []


# ---- Fact 1, (23) ----------------------------------------------------------------------------------------------------
def local_problem(eta: Any, value: Any, gamma: Any, x: Any, at: Any) -> Any:
    """(4)'s objective, from f_i there."""
    return value - dot(gamma, at) + norm2(x - at) / (2 * eta)


@lemma("the local problem", "Fact 1, (23)", "0 < L, 0 < eta", c=1)
def fact_1(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(23)'s left side is 0 where w_{i,t+1} is no worse for (4) than the point one step 1/(L + 1/eta) further down; c stands at gamma_{i,t}."""
    f = w.function(p.L, -p.L)
    x, gamma, new = w.vector("w"), w.vector("gamma_i"), w.vector("w_i+")
    slope, value = w.at(f, new, "f_i")
    left = slope - gamma * c.c - (x - new) / p.eta
    other = new - left / (p.L + 1 / p.eta)
    _, elsewhere = w.at(f, other, "f_i elsewhere")
    better = local_problem(p.eta, elsewhere, gamma, x, other) - local_problem(p.eta, value, gamma, x, new)
    w.assume("w_i is a minimiser", -better)
    return norm2(left)


def residual_of_runs(ctx: Context, local: Any) -> float:
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


EXACT_SOLVES = Exact()


def local_runs(ctx: Context, *, local: Any = EXACT_SOLVES) -> Iterator[Finding]:
    """The library's exact solves leave nothing of (23)."""
    yield at_most(
        "runs", residual_of_runs(ctx, local), 1e-9, "numeric", "six rounds on I-ROB and indefinite quadratics"
    )


CLAIMS += [
    claim(
        "FEDSLR-F1",
        "Fact 1, (23)",
        "grad f_i(w_{i,t+1}) - gamma_{i,t} - (w_t - w_{i,t+1})/eta_g = 0.",
        [Step("the local problem's gradient", fact_1)],
        assumptions=["exact local solves", "A1"],
        readings=[
            "Of a minimiser of (4) no more is used than that one other point is no better, which need not be the only minimiser."
        ],
        kind="identity",
        besides=local_runs,
        faults=(Fault("100 gradient steps", "runs", {"local": GradientSteps(100, lr=0.02)}),),
    ),
]


# ---- Fact 2, (25) ----------------------------------------------------------------------------------------------------
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


def same_states(method: Callable[[Any], Any] = FedSLR) -> Equivalence:
    """FedSLR's Phase I has the states of the method whose duals are gradients."""
    return Equivalence(
        lambda eta: method(eta),
        lambda eta: GradientsForDuals(eta),  # type: ignore[arg-type,return-value]
        region="0 < eta",
        states={"x": "x", "x_i": "x_i", "gamma_i": "gamma_i"},
        name="duals and gradients",
    )


CLAIMS += [
    state(
        "FEDSLR-F2",
        PAPER,
        "Fact 2, (25); Remark 2",
        "gamma_{i,t+1} = grad f_i(w_{i,t+1}) for every t >= 0.",
        same_states(),
        assumptions=("exact local solves; without a regulariser, as the server's step only decides where w_t is",),
        wrong={"local steps": same_states(lambda eta: FedSLR(eta, local=GradientSteps(2, lr=eta / 9)))},
    ),
]


# ---- Fact 3, (26) ----------------------------------------------------------------------------------------------------
def server_problem(w: World, p: Parameters, c: LemmaConstants, step: Any) -> Any:
    """(26)'s second problem at w_{t+1} less what it is at any z, where w_{t+1} = Prox(mean w_i - step mean gamma_i); c stands at the duals."""
    reg = w.function(None, 0, name="R")
    y, g, new, z = w.vector("w_i", True), w.vector("gamma_i", True), w.vector("w+"), w.vector("z")
    at_new, at_z = w.at(reg, new, "R")[1], w.at(reg, z, "R elsewhere")[1]
    to = bar(y - g * step)
    w.assume("w is Prox", at_new + norm2(new - to) / (2 * p.eta) - at_z - norm2(z - to) / (2 * p.eta))

    def objective(value: Any, at: Any) -> Any:
        return value + dot(g, at) * c.c + norm2(at - bar(y)) / (2 * p.eta)

    return objective(at_new, new) - objective(at_z, z)


@lemma("the server's problem", "Fact 3, (26)", "0 < eta", c=1)
def fact_3(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """w_{t+1} = Prox(mean w_i - eta mean gamma_i), by what Prox is, is no worse for (26)'s second problem than any z; c stands at the duals."""
    return server_problem(w, p, c, p.eta)


def server_runs(ctx: Context, *, sign: int = 1) -> Iterator[Finding]:
    """CVXPY solves (26) with a nuclear norm."""
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


CLAIMS += [
    claim(
        "FEDSLR-F3",
        "Fact 3, (26)",
        "The server's step is argmin_w R(w) + <mean_i gamma_{i,t+1}, w> + ||w - mean_i w_{i,t+1}||^2/(2 eta_g).",
        [Step("both forms", fact_3)],
        readings=[
            "(27) is Fermat's rule for it; statements about rounds take the subgradient that it leaves for the server's step."
        ],
        kind="identity",
        besides=server_runs,
        faults=(Fault("the dual with the other sign", "CVXPY", {"sign": -1}),),
    ),
]


# ---- Fact 4, (28) ----------------------------------------------------------------------------------------------------
@lemma("Fact 4, printed", "Fact 4, (28)", INSIDE, c=1)
def fact_4_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(28) for one client and R = 0, with w_{i,t} as printed; w_{i,t} = 0, and w_t = -eta gamma_t by the server's step before."""
    f = w.function(p.L, -p.L)
    g, gn = w.vector("gamma"), w.vector("gamma+")
    y = g * 0
    yn = y - gn * p.eta
    w.at(f, y, "f", g=g)
    w.at(f, yn, "f+", g=gn)
    xn = yn - gn * p.eta
    return norm2(gn + (xn - y) * (c.c / p.eta))


@lemma("Fact 4", "Fact 4, (28), with w_{i,t+1}", "0 < L, 0 < eta", c=1)
def fact_4(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(28) with w_{i,t+1}: s_{t+1} + mean grad f_i(w_{i,t+1}) + c (w_{t+1} - mean w_{i,t+1})/eta = 0, as ||.||^2 <= 0."""
    r = play_round(w, p)
    sn = w.vector("s+")
    xn = bar(r.yn - r.gn * p.eta) - sn * p.eta
    return norm2(sn + bar(r.gn) + (xn - bar(r.yn)) * (c.c / p.eta))


CLAIMS += [
    claim(
        "FEDSLR-F4",
        "Fact 4, (28)",
        "0 is in dR(w_{t+1}) + mean_i grad f_i(w_{i,t+1}) + (w_{t+1} - mean_i w_{i,t})/eta_g.",
        [Step("with w_{i,t}", fact_4_printed), Step("with w_{i,t+1}", fact_4, "repaired")],
        assumptions=[assumptions.EXACT, ONE_CLIENT],
        repaired="The last term has w_{i,t+1}.",
        readings=[
            "A misprint of an index: (27), (52) and (68) have w_{i,t+1}, and nothing rests on the printed index."
        ],
        false={"with w_{i,t}": "with w_{i,t+1}"},
    ),
]


# ---- Fact 5, (29) ----------------------------------------------------------------------------------------------------
@lemma("Fact 5, printed", "Fact 5, (29), after a drawn step", "0 < eta", c=1)
def fact_5_printed(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(29) on average over the samples that (7) may draw: the step has the sample's gradient, G their average; p_k = 0 stands for any point.

    s is the subgradient of the l1 norm, the same at both points where no coordinate changes its sign.
    """
    drawn, s = w.vector("grad f_i(xi)", True), w.vector("s")
    new, point = -(drawn + s) * p.eta, -(bar(drawn) + s) * p.eta
    return norm2(point * (c.c / p.eta) - new / p.eta)


@lemma("Fact 5", "Fact 5, (29), with the step's gradient", "0 < eta", c=1)
def fact_5(w: World, p: Parameters, c: LemmaConstants) -> Any:
    """(29) with the gradient a that the step took, from p_k = 0: (p_k - p_{k+1})/eta_l and G are both by the proximal point there; c stands at G."""
    reg = w.function(None, 0, name="R")
    a, s, z = w.vector("a"), w.vector("s"), w.vector("z")
    new, point = -(a + s) * p.eta, -(a + z) * p.eta
    w.at(reg, new, "R+", g=s)
    w.at(reg, point, "R at the proximal point", g=z)
    return norm2(point * (c.c / p.eta) - new / p.eta)


CLAIMS += [
    claim(
        "FEDSLR-F5",
        "Fact 5, (29)",
        "G_{eta_l}(w_t, p_{i,t,k}) = (p_{i,t,k} - p_{i,t,k+1})/eta_l.",
        [
            Step("a drawn gradient", fact_5_printed),
            Step("the gradient of the step", fact_5, "repaired"),
        ],
        repaired="With the gradient that the step took: G_{eta_l,xi} for a drawn sample, G_{eta_l} for the full gradient.",
        readings=[
            "(7) draws a sample, G has none. A slip without consequence: the proof of Theorem 3 has G_xi where it needs it, (94) and (102). With "
            "full gradients (29) is true."
        ],
        false={"a drawn gradient": "the gradient of the step"},
        kind="identity",
    ),
]
