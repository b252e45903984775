"""FedSLR's Facts 1 to 3: what a round with exact local solves is, on functions of which nothing is known, and the server's step against CVXPY."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import FedSLR
from fedtheory.algorithms.fedslr import FedSLRState
from fedtheory.claims import Claim, Context, Fault, Finding, at_most, holds, proved
from fedtheory.core.layers import Layer
from fedtheory.core.randomness import Key, ScriptedKey
from fedtheory.core.regularisers import L1, NuclearNorm, Regulariser, regularised
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.symbolic import is_zero, symbols
from paper_checks.fedslr.unknown_functions import UnknownFunctions, changed, play_unknown
from problems.low_rank import robust_low_rank_regression

PAPER = "fedslr"
ROWS, COLUMNS, CLIENTS = 6, 5, 3
#: a solver's answer at a gap of 1e-9 is within sqrt(2 eta gap) of the minimiser, for the largest eta that is tried
NEAR = 1e-4


def check_local_facts(ctx: Context, *, method: Callable[[Any], Any] = FedSLR, dual: bool = False) -> Iterator[Finding]:
    """(23) and (25) in symbols, on the code of a round; then by Newton's method on a non-convex instance."""
    before, after, g, eta = play_unknown(method)
    if dual:
        residual, said = after.gamma_i - g, "gamma_{i,t+1} = grad f_i(w_{i,t+1})"
    else:
        residual = g - before.gamma_i - (before.x - after.x_i) / eta
        said = "grad f_i(w_{i,t+1}) - gamma_{i,t} - (w_t - w_{i,t+1})/eta_g = 0"
    found = all(is_zero(r) for r in residual.ravel())
    yield proved("any functions", found, f"{said}, after a round from any state, with any gradient at the minimiser")
    problem = robust_low_rank_regression(seed=ctx.seed).problem
    sizes: dict[str, float] = {}
    L = float(problem.certify()["L"].value)
    for name, local in (("exact", None), ("1 step", 1), ("4 steps", 4)):
        algorithm = method(0.45 / L)
        if local is not None:
            algorithm = replace(algorithm, local=GradientSteps(local, 0.5 / L))
        state = algorithm.init(problem, np.zeros((1, problem.d)))
        for t in range(5):
            old, state = state, algorithm.round(problem, state, None, Key(ctx.seed, t))
        gradient = problem.grad(state.x_i)
        wrong = state.gamma_i - gradient
        if not dual:
            wrong = gradient - old.gamma_i - (old.x - state.x_i) * L / 0.45
        sizes[name] = float(np.abs(wrong).max() / np.abs(gradient).max())
    yield at_most(
        "robust regression",
        sizes["exact"],
        1e-12,
        "numeric",
        f"residual of round 5, of the gradients: {sizes['exact']:.1e}",
    )
    yield holds(
        "inexact solves",
        sizes["1 step"] > 1e-3 and sizes["4 steps"] < 0.5 * sizes["1 step"],
        "numeric",
        f"with gradient steps in the place of the solve it fails: {sizes['1 step']:.1e} after 1 step, "
        f"{sizes['4 steps']:.1e} after 4",
        role="reading",
    )


def server_step_is(method: Callable[[Any], Any]) -> bool:
    """(26): the two objectives of the server's step differ by what does not depend on w, and the method evaluates prox at the first one's centre."""
    seen: list[Any] = []

    class Heard(L1):
        def prox(self, v: Any, step: Any) -> Any:
            seen.extend([v[0, 0], step])
            return v

    eta, w = symbols("eta", positive=True), symbols("w")
    y, g = (
        np.array([[a] for a in symbols("y_1 y_2")], dtype=object),
        np.array([[a] for a in symbols("g_1 g_2")], dtype=object),
    )
    start = FedSLRState(np.array([[w]], dtype=object), y, g - (w - y) / eta, None, None)
    problem: Any = regularised(UnknownFunctions(g), Heard(1.0))
    after = method(eta).round(problem, start, None, ScriptedKey(0))
    if not seen:
        return False
    new, dual = (sum(a[:, 0]) / 2 for a in (after.x_i, after.gamma_i))
    z = symbols("z")
    first = (z - seen[0]) ** 2 / (2 * seen[1])
    second = dual * z + (z - new) ** 2 / (2 * eta)
    return is_zero(first - second - (first - second).subs(z, 0))


def check_server_step(ctx: Context, *, method: Callable[[Any], Any] = FedSLR) -> Iterator[Finding]:
    """(26) and (27) in symbols for any R, then the nuclear norm and the l1 norm against CVXPY and their certificates."""
    yield proved(
        "any regulariser",
        server_step_is(method),
        "eta_g R(w) + ||w - (mean w_i - eta_g mean gamma_i)||^2/2 and eta_g times R(w) + <mean gamma_i, w> + "
        "||w - mean w_i||^2/(2 eta_g) differ by a "
        "constant; both are strongly convex, and (27) is Fermat's rule for the second",
    )
    import cvxpy

    rng = ctx.rng()
    layers = (Layer("matrix", (ROWS, COLUMNS)),)
    regularisers: dict[str, Regulariser] = {"nuclear norm": NuclearNorm(1.5, layers), "l1 norm": L1(0.7)}
    for name, reg in regularisers.items():
        apart, certificate = [], []
        for eta in (0.3, 1.0, 3.0):
            problem = regularised(robust_low_rank_regression(CLIENTS, ROWS, COLUMNS, seed=ctx.seed).problem.inner, reg)
            d = problem.d
            old = FedSLRState(
                rng.normal(size=(1, d)), rng.normal(size=(CLIENTS, d)), rng.normal(size=(CLIENTS, d)), None, None
            )
            algorithm = replace(method(eta), local=GradientSteps(1, 0.1))
            new = algorithm.round(problem, old, None, Key(ctx.seed, 0))
            mean_w, mean_dual = new.x_i.mean(axis=0), (old.gamma_i + (old.x - new.x_i) / eta).mean(axis=0)
            z = cvxpy.Variable(d)
            goal = reg.to_cvxpy(z) + mean_dual @ z + cvxpy.sum_squares(z - mean_w) / (2 * eta)
            cvxpy.Problem(cvxpy.Minimize(goal)).solve(solver="CLARABEL")
            apart.append(np.abs(z.value - new.x[0]).max())
            certificate.append(float(reg.distance(new.x, mean_dual + (new.x - mean_w) / eta)[0]))
        yield at_most(
            f"{name}, CVXPY",
            max(apart),
            NEAR,
            "numeric",
            f"largest entry of the difference for three step sizes: {max(apart):.1e}",
        )
        yield at_most(
            f"{name}, optimality (27)",
            max(certificate),
            1e-12,
            "numeric",
            f"distance of 0 from the right side of (27): {max(certificate):.1e}",
        )


LOCAL_FAULTS = ("sign of the dual in local work", "local penalty doubled", "duals never updated")
FACTS = "exact local solves; f_i differentiable, and no convexity where 1/eta_g exceeds L"


def _faults(names: tuple[str, ...], part: str) -> tuple[Fault, ...]:
    return tuple(Fault(name, part, {"method": changed(name)}) for name in names)


CLAIMS = [
    Claim(
        "FEDSLR-F1",
        PAPER,
        "identity",
        "Fact 1, (22) and (23)",
        "grad f_i(w_{i,t+1}) - gamma_{i,t} - (w_t - w_{i,t+1})/eta_g = 0.",
        check_local_facts,
        _faults(LOCAL_FAULTS[:2], "any functions"),
        assumptions=(FACTS,),
    ),
    Claim(
        "FEDSLR-F2",
        PAPER,
        "identity",
        "Fact 2, (24) and (25); Remark 2",
        "gamma_{i,t+1} = grad f_i(w_{i,t+1}).",
        partial(check_local_facts, dual=True),
        _faults((*LOCAL_FAULTS, "sign of the dual step"), "any functions"),
        assumptions=(FACTS,),
    ),
    Claim(
        "FEDSLR-F3",
        PAPER,
        "identity",
        "Fact 3, (26) and (27)",
        "w_{t+1} = argmin_w R(w) + <mean_i gamma_{i,t+1}, w> + ||w - mean_i w_{i,t+1}||^2/(2 eta_g), and 0 is "
        "in dR(w_{t+1}) + mean_i gamma_{i,t+1} + "
        "(w_{t+1} - mean_i w_{i,t+1})/eta_g.",
        check_server_step,
        (
            *_faults(("sign of the server's dual", "server dual not multiplied by eta"), "any regulariser"),
            *_faults(
                ("no proximal step at the server", "threshold lambda in place of lambda eta"), "nuclear norm, CVXPY"
            ),
        ),
        assumptions=("R proper, closed and convex",),
    ),
]
