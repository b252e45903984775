"""Ground truth: x* and f* with a certificate computed from the point itself.

CVXPY is the independent witness. A method in float64 refines its answer, and the refinement is kept only if the certificate falls. The
certificate never rests on the solver's word. With P = f + h the objective (h the shared regulariser, zero where there is none):

- f smooth and mu-strongly convex on average (mu certified): for the least subgradient s of P at x, grad f(x) where there is no h,

      P(x) - P* <= ||s||^2 / (2 mu),     ||x - x*|| <= ||s|| / mu.

  Without h Newton's method refines, with h accelerated proximal gradient descent.

- otherwise, with convex clients whose conjugates are known: the duality gap P(x) - D(y) >= P(x) - P* of `fedtheory.core.duality`, with
  the dual points y_i that CVXPY finds for the constraints x_i = x, made feasible.

- convex, not strongly, and a problem that encloses its own minimisers in exact arithmetic (``bracket``): by the subgradients there.

s, P(x) and the duality gap are enclosed (`fedtheory.tools.enclosures`): the bounds are of the exact quantities, for the data as the
floats that they are. Where the evaluation cannot be enclosed, ``how`` says so and ``rounding`` is None: the bounds are then what floating point
gave.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import average, mean_of_clients, squared_norm, to_numpy
from fedtheory.core.client_weights import by_weights_of_argument, weights_of
from fedtheory.core.duality import certified_gap, dual_point
from fedtheory.core.errors import FedtheoryError, InvalidInput, NotAvailable, SolverFailed, require
from fedtheory.core.problem import (
    Certified,
    Problem,
    average_hessian,
    can,
    constant,
    constants,
    gradient,
    need,
    objective,
)
from fedtheory.core.regularisers import Regularised, slope
from fedtheory.core.weighted import Weighted
from fedtheory.tools.enclosures import UNIT, WIDER, enclosed, enclosed_problem

CVXPY_SOLVERS = ("CLARABEL", "OSQP", "SCS")
#: settings for the last digits, where a solver has them
TIGHT = {"CLARABEL": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}}
NEWTON_STEPS = 100
PROXIMAL_STEPS = 20_000
#: squared gradient norm from which on Newton's method looks at it instead of the value; largest dimension of linear systems that are solved directly
NEAR, DIRECT = 1e-12, 2000
#: samples up to which CVXPY is asked unless told otherwise: its models have variables of their own for each
WITNESSED = 5000


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """A minimiser and what is certain about it.

    ``x`` ``(d,)`` and ``f``, the value there as a float, the regulariser included. Of the exact value P(x): P* lies in
    [P(x) - gap, P(x)], and P(x) within ``rounding`` of ``f``. x* lies within ``distance`` of x, which is infinite where no unique minimiser
    is certified. ``rounding`` is None where the rounding of these bounds is not itself bounded; ``how`` then says why.
    ``witness`` is CVXPY's own objective value, or None where CVXPY was not asked.

    Examples
    --------
    >>> from fedtheory.measures.ground_truth import ground_truth
    >>> found = ground_truth(problem)
    >>> print(found.gap < 1e-10, found.distance < 1e-5, found.lowest <= found.f)
    True True True
    """

    x: NDArray[np.float64]
    f: float
    gap: float
    distance: float
    how: str
    witness: float | None = None
    rounding: float | None = None

    @property
    def lowest(self) -> float:
        """A number that P* is not below.

        Raises
        ------
        SolverFailed
            The rounding of the certificate is not bounded.
        """
        if self.rounding is None:
            raise SolverFailed(f"the rounding of the certificate is not bounded, so f* is not enclosed ({self.how})")
        return float(
            np.nextafter((self.f - self.gap * WIDER) - self.rounding * WIDER, -np.inf) - 2 * UNIT * abs(self.f)
        )

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


@by_weights_of_argument(0)
def ground_truth(problem: Problem, *, witness: bool | None = None) -> GroundTruth:
    """Minimise the average objective of one instance, with its regulariser, and certify the answer.

    Parameters
    ----------
    problem : Problem
        With a certified strong convexity constant of the average and, without a regulariser, Hessians; or with convex clients and
        conjugates (nonsmooth problems, problems that are convex only).
    witness : bool, optional
        Ask CVXPY first (independent, slower) and compare; otherwise start at zero. By default it is asked about problems of at most 5000
        samples (`WITNESSED`). Problems certified by a duality gap always need CVXPY.

    Raises
    ------
    NotAvailable
        No certificate exists: neither strong convexity nor finite conjugates.
    SolverFailed
        Nothing converged, or CVXPY's value contradicts the certified one.
    """
    if witness is None:
        witness = int(np.sum(getattr(problem, "n_samples", 0))) <= WITNESSED
    mu = constant(problem, "mu_avg")
    if np.ndim(mu.value) > 0:
        raise InvalidInput("ground_truth takes one instance, not a batch; pick one, or use its closed-form solution()")
    composite = can(problem, "regulariser")
    smooth = "L_avg" in constants(problem)
    if float(mu) > 0 and (smooth if composite else can(problem, "hess")):
        truth, solver = _strongly_convex(problem, mu, witness, composite)
    elif not float(mu) > 0 and can(problem, "bracket"):
        truth, solver = _from_bracket(problem), "none"
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
    if _size(problem, start) <= _size(problem, x):
        x = start
    bound, unknown = residual(problem, x)
    gap, distance = _bounds(bound, float(mu))
    measured = "||s||^2/(2 mu), s the least subgradient of f + h," if composite else "||grad f(x)||^2/(2 mu)"
    how = f"{measured} with mu = {float(mu):.6g} ({mu.how}); {_said(unknown)}; start: {solver}"
    f, rounding = _value(problem, x)
    return GroundTruth(x, f, gap, distance, how, value, None if unknown else rounding), solver


def _from_duality(problem: Any, mu: float) -> tuple[GroundTruth, str]:
    """Convex clients with conjugates: primal and dual points from CVXPY, made feasible, and their gap."""
    x, y, value, solver = solve_consensus(problem)
    x, y, p = dual_point(problem, x[None, :], y, 1.0)
    gap, room = (float(bound) for bound in certified_gap(problem, x, y, p))
    if not np.isfinite(gap):
        raise NotAvailable(
            f"no certificate for {problem.name!r}: some conjugates are infinite at the dual points that {solver} found, which lie "
            "outside their domains, be it by rounding only; add a ridge, or use a closed-form solution()"
        )
    proved, unknown = _enclosed_gap(problem, x, y)
    f, rounding = _value(problem, np.asarray(x[0]))
    gap = gap if proved is None else proved
    said = f"{room:.2g} of it an estimate of its rounding; {_said(unknown)}" if unknown else _said(None)
    distance = float(np.sqrt(2 * gap / mu)) * WIDER if mu > 0 else float("inf")
    how = f"duality gap P(x) - D(y), {said}; points: {solver}"
    return GroundTruth(np.asarray(x[0]), f, gap, distance, how, value, None if unknown else rounding), solver


def _from_bracket(problem: Any) -> GroundTruth:
    """A minimiser that the problem encloses itself, in exact arithmetic."""
    x, gap, distance = problem.bracket()
    f, rounding = _value(problem, x)
    how = "closed form, its optimality conditions checked in exact arithmetic"
    return GroundTruth(
        x,
        f,
        gap,
        distance,
        how if rounding is not None else f"{how}; the rounding of f(x) is not bounded",
        None,
        rounding,
    )


def certify_point(problem: Problem, x: NDArray[np.float64], mu: float) -> tuple[float, float]:
    """Return the bounds (f(x) - f*, ||x - x*||) that the least (sub)gradient at x gives under mu-strong convexity, with its rounding.

    Where `residual` cannot bound the rounding, they are as floating point gives them.
    """
    return _bounds(residual(problem, x)[0], mu)


def _bounds(size: float, mu: float) -> tuple[float, float]:
    return size * size / (2 * mu) * WIDER, size / mu * WIDER


def residual(problem: Problem, x: NDArray[np.float64]) -> tuple[float, str | None]:
    """Bound the least (sub)gradient's norm at x: the bound, and why its rounding is not covered, or None where it is."""

    def upper(enclosing: Any, point: Any) -> float:
        return float(slope(enclosing, point[None, :]).upper())

    found, unknown = _enclosed(problem, x, upper)
    return (_size(problem, x) if found is None else found), unknown


def _size(problem: Problem, x: NDArray[np.float64]) -> float:
    """Norm of the least (sub)gradient as floating point gives it."""
    return float(to_numpy(slope(problem, x[None, :])))


def _value(problem: Problem, x: NDArray[np.float64]) -> tuple[float, float | None]:
    """P(x) as a float, and a bound of how far that is from the exact value, None where there is none."""
    f = float(objective(problem, x[None, :]))

    def apart(enclosing: Any, point: Any) -> float:
        return float((objective(enclosing, point[None, :]) - f).upper())

    return f, _enclosed(problem, x, apart)[0]


def _enclosed_gap(problem: Any, x: Any, y: Any) -> tuple[float | None, str | None]:
    """P(x) - D(y - mean y), without a regulariser, rounding included; or why there is none."""
    if can(problem, "regulariser"):
        return None, "a proximal step made the dual point"

    def upper(enclosing: Any, point: Any) -> float:
        dual = enclosed(y)
        dual = dual - average(dual)  # sums to zero exactly: this encloses the exact difference
        total = mean_of_clients(enclosing.value(point[None, :]) + enclosing.conjugate(dual))
        return float(total.middle + total.radius) * WIDER if float(total.middle) > 0 else float(total.upper())

    return _enclosed(problem, np.asarray(x[0]), upper)


def _enclosed(
    problem: Any, x: NDArray[np.float64], measure: Callable[[Any, Any], float]
) -> tuple[float | None, str | None]:
    """Measure a problem on enclosures: the bound, or None and why there is none."""
    try:
        with np.errstate(all="ignore"):
            found = measure(enclosed_problem(problem), enclosed(x))
    except (FedtheoryError, AttributeError, TypeError) as error:
        return None, str(error)
    return (found, None) if np.isfinite(found) else (None, "the enclosure is not finite")


def _said(unknown: str | None) -> str:
    return "rounding included" if unknown is None else f"rounding is not bounded ({unknown})"


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
        Approximate subgradients of f_i at x with mean in minus the subdifferential of h: -n times the constraints' multipliers, or
        -1/p_i times where clients have weights.
    value : float
    solver : str

    Raises
    ------
    SolverFailed
        No solver returned a finite point.
    """
    cp = require("cvxpy", "ground truth from an independent solver")
    weights = weights_of(problem)
    base = problem.inner if isinstance(problem, Weighted) else problem
    base = base.inner if isinstance(base, Regularised) else base  # the model needs the regulariser once
    cut = need(base, "slice", "a CVXPY model with one copy of x a client")
    x, total, constraints = cp.Variable(problem.d), 0, []
    for i in range(problem.n):
        x_i, expression = need(cut(i, i + 1), "to_cvxpy", "ground truth")()
        total = total + (expression / problem.n if weights is None else float(weights[i]) * expression)
        constraints.append(x_i == x)
    if can(problem, "regulariser"):
        total = total + problem.regulariser.to_cvxpy(x)
    model = cp.Problem(cp.Minimize(total), constraints)
    solver = _solve(cp, model, x, problem.name, TIGHT)
    scales = [problem.n] * problem.n if weights is None else [1 / float(w) for w in weights]
    y = np.array([-k * np.asarray(found.dual_value) for k, found in zip(scales, constraints, strict=True)])
    return np.asarray(x.value, dtype=float).ravel(), y, float(model.value), solver


def _solve(cp: Any, model: Any, x: Any, name: str, settings: dict[str, dict[str, float]]) -> str:
    """Try the solvers in turn; the name of the first that gives a finite point."""
    failures = []
    for solver in CVXPY_SOLVERS:
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):  # solvers write of errors, too
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
    solve, fresh = None, False
    for _ in range(NEWTON_STEPS):
        if solve is None:
            solve, fresh = _newton_system(problem, x), True
        try:
            direction = solve(g[0])
        except np.linalg.LinAlgError:
            break
        step, moved = 1.0, False
        while step > 1e-10 and not moved:
            trial = x - step * direction
            g_trial = gradient(problem, trial)
            n_trial, f_trial = float(squared_norm(g_trial)[0]), float(objective(problem, trial))
            # far away the value must fall, near the solution the gradient norm
            moved = n_trial < norm if norm < NEAR else f_trial < f - 1e-4 * step * float(g[0] @ direction)
            moved = moved or n_trial < 0.25 * norm
            step /= 2
        if not moved and fresh:
            break
        if moved:
            x, g, norm, f = trial, g_trial, n_trial, f_trial
        if (
            not moved or norm > NEAR
        ):  # near the solution Hessians do not change, and an old one serves as long as the norm falls
            solve = None
        fresh = False
    return np.asarray(x[0])


def _newton_system(problem: Any, x: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The solution of H(x) v = g as a function of g: directly, or by conjugate gradients where a Hessian of f is too large."""
    if problem.d <= DIRECT or not can(problem, "hess_times"):
        curvature = np.broadcast_to(average_hessian(problem, x), (problem.d, problem.d))
        return lambda g: np.asarray(np.linalg.solve(curvature, g))
    from scipy.sparse.linalg import LinearOperator, cg

    def product(v: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(average(problem.hess_times(x, v.reshape(1, -1)))[0])

    operator = LinearOperator((problem.d, problem.d), product, dtype=float)
    return lambda g: np.asarray(cg(operator, g, rtol=1e-6, maxiter=10 * problem.d)[0])


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
