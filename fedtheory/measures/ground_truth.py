"""Ground truth: x* and f* with a certificate computed from the point itself.

CVXPY is the independent witness. A method in float64 refines its answer, and the refinement is kept only if the certificate falls. The
certificate never rests on the solver's word. With P = f + h the objective (h the shared regulariser, zero where there is none):

- f smooth and mu-strongly convex on average (mu certified): for the least subgradient s of P at x, grad f(x) where there is no h,

      P(x) - P* <= ||s||^2 / (2 mu),     ||x - x*|| <= ||s|| / mu.

  Without h Newton's method refines, with h accelerated proximal gradient descent.

- otherwise, with convex clients whose conjugates are known: the duality gap P(x) - D(y) >= P(x) - P* of `fedtheory.core.duality`, with
  the dual points y_i that CVXPY finds for the constraints x_i = x, made feasible, and widened by an estimate of its rounding.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import squared_norm, to_numpy
from fedtheory.core.duality import certified_gap, dual_point
from fedtheory.core.errors import InvalidInput, NotAvailable, SolverFailed, require
from fedtheory.core.problem import Certified, Problem, can, constant, constants, gradient, need, objective
from fedtheory.core.regularisers import Regularised, slope

CVXPY_SOLVERS = ("CLARABEL", "OSQP", "SCS")
#: settings for the last digits, where a solver has them
TIGHT = {"CLARABEL": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}}
NEWTON_STEPS = 100
PROXIMAL_STEPS = 20_000


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """A minimiser and what is certain about it.

    ``x`` ``(d,)``, ``f`` = f(x), the regulariser included; f* lies in [f - gap, f] and x* within ``distance`` of x, which is infinite
    where the average is not certified strongly convex. ``witness`` is CVXPY's own objective value, or None where CVXPY was
    not asked.
    """

    x: NDArray[np.float64]
    f: float
    gap: float
    distance: float
    how: str
    witness: float | None = None

    def good_to(self, gap: float) -> GroundTruth:
        """Return this, or refuse when the certificate is weaker than a check needs.

        Raises
        ------
        SolverFailed
            The certified gap is above ``gap``.
        """
        if not self.gap <= gap:
            raise SolverFailed(
                f"the certificate of the ground truth is too weak: f(x) - f* <= {self.gap:.3g} is certified, the check "
                f"needs {gap:.3g} ({self.how})"
            )
        return self


def ground_truth(problem: Problem, *, witness: bool = True) -> GroundTruth:
    """Minimise the average objective of one instance, with its regulariser, and certify the answer.

    Parameters
    ----------
    problem : Problem
        With a certified strong convexity constant of the average and, without a regulariser, Hessians; or with convex clients and
        conjugates (nonsmooth problems, problems that are convex only).
    witness : bool
        Ask CVXPY first (independent, slower) and compare; otherwise start at zero. Problems certified by a duality gap
        always need CVXPY.

    Raises
    ------
    NotAvailable
        No certificate exists: neither strong convexity nor finite conjugates.
    SolverFailed
        Nothing converged, or CVXPY's value contradicts the certified one.
    """
    mu = constant(problem, "mu_avg")
    if np.ndim(mu.value) > 0:
        raise InvalidInput("ground_truth takes one instance, not a batch; pick one, or use its closed-form solution()")
    composite = can(problem, "regulariser")
    smooth = "L_avg" in constants(problem)
    if float(mu) > 0 and (smooth if composite else can(problem, "hess")):
        truth, solver = _strongly_convex(problem, mu, witness, composite)
    elif can(problem, "conjugate") and float(constant(problem, "mu")) >= 0:
        truth, solver = _from_duality(problem, float(mu))
    elif float(mu) > 0:
        raise NotAvailable(
            f"a certificate for {problem.name!r} needs Hessians (smooth clients) or conjugates (convex ones), and it has neither"
        )
    else:
        raise NotAvailable(
            f"{problem.name!r} is not certified strongly convex (mu_avg = {float(mu):.3g}, {mu.how}), so a minimiser "
            "cannot be certified; add an l2 term, or check stationarity instead"
        )
    if truth.witness is not None and abs(truth.witness - truth.f) > truth.gap + 1e-5 * (1 + abs(truth.f)):
        raise SolverFailed(
            f"{solver} found the value {truth.witness:.9g}, but {truth.f:.9g} is certified to within {truth.gap:.3g}: the CVXPY "
            "model and the problem's own value() disagree"
        )
    return truth


def _strongly_convex(problem: Any, mu: Certified, witness: bool, composite: bool) -> tuple[GroundTruth, str]:
    """Smooth and strongly convex on average: refine, and certify by the gradient's norm."""
    start, value, solver = np.zeros(problem.d), None, "none"
    if witness and can(problem, "to_cvxpy"):
        start, value, solver = solve_with_cvxpy(problem)
    x = _accelerated_proximal(problem, start, float(mu)) if composite else _newton(problem, start)
    gap, distance = certify_point(problem, x, float(mu))
    before, _ = certify_point(problem, start, float(mu))
    if before <= gap:
        x, gap, distance = start, *certify_point(problem, start, float(mu))
    measured = "||s||^2/(2 mu), s the least subgradient of f + h," if composite else "||grad f(x)||^2/(2 mu)"
    how = f"{measured} with mu = {float(mu):.6g} ({mu.how}); start: {solver}"
    return GroundTruth(x, float(objective(problem, x[None, :])), gap, distance, how, value), solver


def _from_duality(problem: Any, mu: float) -> tuple[GroundTruth, str]:
    """Convex clients with conjugates: primal and dual points from CVXPY, made feasible, and their gap."""
    x, y, value, solver = solve_consensus(problem)
    x, y, p = dual_point(problem, x[None, :], y, 1.0)
    gap, rounding = (float(bound) for bound in certified_gap(problem, x, y, p))
    if not np.isfinite(gap):
        raise NotAvailable(
            f"no certificate for {problem.name!r}: some conjugates are infinite at the dual points that {solver} found, which lie "
            "outside their domains, be it by rounding only; add a ridge, or use a closed-form solution()"
        )
    distance = float(np.sqrt(2 * gap / mu)) if mu > 0 else float("inf")
    how = f"duality gap P(x) - D(y), {rounding:.2g} of it for rounding; points: {solver}"
    return GroundTruth(np.asarray(x[0]), float(objective(problem, x)), gap, distance, how, value), solver


def certify_point(problem: Problem, x: NDArray[np.float64], mu: float) -> tuple[float, float]:
    """Return the bounds (f(x) - f*, ||x - x*||) that the least (sub)gradient at x gives under mu-strong convexity."""
    g = float(to_numpy(slope(problem, x[None, :])))
    return g * g / (2 * mu), g / mu


def solve_with_cvxpy(problem: Problem) -> tuple[NDArray[np.float64], float, str]:
    """Minimise with CVXPY, trying the solvers in turn; the answer is a witness, not a certificate.

    Raises
    ------
    SolverFailed
        No solver returned a finite point.
    """
    cp = require("cvxpy", "ground truth from an independent solver")
    x, expression = need(problem, "to_cvxpy", "ground truth")()
    model = cp.Problem(cp.Minimize(expression))
    solver = _solve(cp, model, x, problem.name, {})
    return np.asarray(x.value, dtype=float).ravel(), float(model.value), solver


def solve_consensus(problem: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], float, str]:
    """Minimise with CVXPY over x and copies x_i = x of it, one a client.

    Returns
    -------
    x : array ``(d,)``
    y : array ``(n, d)``
        Approximate subgradients of f_i at x with mean in minus the subdifferential of h: -n times the constraints' multipliers.
    value : float
    solver : str

    Raises
    ------
    SolverFailed
        No solver returned a finite point.
    """
    cp = require("cvxpy", "ground truth from an independent solver")
    base = problem.inner if isinstance(problem, Regularised) else problem  # the model needs the regulariser once
    cut = need(base, "slice", "a CVXPY model with one copy of x a client")
    x, total, constraints = cp.Variable(problem.d), 0, []
    for i in range(problem.n):
        x_i, expression = need(cut(i, i + 1), "to_cvxpy", "ground truth")()
        total = total + expression / problem.n
        constraints.append(x_i == x)
    if can(problem, "regulariser"):
        total = total + problem.regulariser.to_cvxpy(x)
    model = cp.Problem(cp.Minimize(total), constraints)
    solver = _solve(cp, model, x, problem.name, TIGHT)
    y = np.array([-problem.n * np.asarray(constraint.dual_value) for constraint in constraints])
    return np.asarray(x.value, dtype=float).ravel(), y, float(model.value), solver


def _solve(cp: Any, model: Any, x: Any, name: str, settings: dict[str, dict[str, float]]) -> str:
    """Try the solvers in turn; the name of the first that gives a finite point."""
    failures = []
    for solver in CVXPY_SOLVERS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.solve(solver=solver, **settings.get(solver, {}))
        except (cp.error.SolverError, ValueError, ArithmeticError) as error:
            failures.append(f"{solver}: {error}")
            continue
        if x.value is not None and np.isfinite(x.value).all():
            return solver
        failures.append(f"{solver}: {model.status}")
    raise SolverFailed(f"no solver minimised {name!r} ({'; '.join(failures)})")


def _newton(problem: Any, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Damped Newton on the average until the gradient norm stops falling."""
    x = start[None, :]
    g = gradient(problem, x)
    norm, f = float(squared_norm(g)[0]), float(objective(problem, x))
    for _ in range(NEWTON_STEPS):
        curvature = np.broadcast_to(problem.hess(x), (problem.n, problem.d, problem.d)).mean(axis=0)
        try:
            direction = np.linalg.solve(curvature, g[0])
        except np.linalg.LinAlgError:
            break
        step, moved = 1.0, False
        while step > 1e-10 and not moved:
            trial = x - step * direction
            g_trial = gradient(problem, trial)
            n_trial, f_trial = float(squared_norm(g_trial)[0]), float(objective(problem, trial))
            # far away the value must fall, near the solution the gradient norm
            moved = n_trial < norm if norm < 1e-12 else f_trial < f - 1e-4 * step * float(g[0] @ direction)
            moved = moved or n_trial < 0.25 * norm
            step /= 2
        if not moved:
            break
        x, g, norm, f = trial, g_trial, n_trial, f_trial
    return np.asarray(x[0])


def _accelerated_proximal(problem: Any, start: NDArray[np.float64], mu: float) -> NDArray[np.float64]:
    """Accelerated proximal gradient descent on f + h, step 1/L, until the least subgradient has long stopped falling."""
    L = float(constant(problem, "L_avg"))
    q = np.sqrt(mu / L)
    momentum = (1 - q) / (1 + q)
    x = y = best = start[None, :]
    least, idle = float(slope(problem, x)), 0
    patience = 10 * int(np.ceil(1 / q))  # far more than the method needs to gain a digit
    for _ in range(PROXIMAL_STEPS):
        new = problem.regulariser.prox(y - gradient(problem, y) / L, 1 / L)
        y, x = new + momentum * (new - x), new
        now, idle = float(slope(problem, x)), idle + 1
        if now < least:
            best, least, idle = x, now, 0
        if idle > patience:
            break
    return np.asarray(best[0])
