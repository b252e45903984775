"""Damped Newton's method for the clients' subproblems; every client and run goes down to its own rounding errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedtheory.core.arrays import Scalar, fetch, identity, is_array, namespace, solve_linear, squared_norm
from fedtheory.core.problem import need
from fedtheory.core.shapes import ClientPoints, ClientValues, Points

if TYPE_CHECKING:
    from fedtheory.local.subproblem import Subproblem


def newton(sub: Subproblem, start: Points, iterations: int = 60) -> ClientPoints:
    """Minimise  f_i(x) + <a_i, x> + (rho/2) ||x - z_i||^2  from the points given.

    The subproblem must be strongly convex. A step is taken only where it lowers the gradient norm; below the rounding of the
    terms that make up the gradient a client stands still.
    """
    hess = need(sub.f, "hess", "an exact local solve")
    xp = namespace(start, sub.a, sub.z)
    g = sub.grad(start)
    x = start + 0 * g  # the full shape from the beginning
    weight: Scalar = 0.0 if sub.rho is None else sub.rho
    ridge = (weight[..., None] if is_array(weight) else weight) * identity(sub.f.d, x)
    damping = xp.ones_like(x[..., :1])
    rounding = (4 * float(xp.finfo(x.dtype).eps)) ** 2
    better = xp.ones_like(damping) > 0
    for _ in range(iterations):
        going = (squared_norm(g) > rounding * measure_terms(sub, x, g))[..., None]
        some_going, some_better = fetch([xp.any(going & (damping > 1e-3)), xp.any(better)])
        if not some_going:
            break
        if some_better:
            direction = solve_linear(hess(x) + ridge, g)
        trial = x - damping * direction
        g_trial = sub.grad(trial)
        better = going & (squared_norm(g_trial) < squared_norm(g))[..., None]
        x = xp.where(better, trial, x)
        g = xp.where(better, g_trial, g)
        damping = xp.where(better, xp.minimum(2 * damping, xp.ones_like(damping)), damping / 4)
    return x


def measure_terms(sub: Subproblem, x: Points, g: Points) -> ClientValues:
    """Sum of the squared norms of the terms of a subproblem's gradient g at x.

    Each term carries an error relative to its own size, so g is rounding once ||g||^2 is below eps^2 times this.
    """
    size = squared_norm(sub.unshift(g, x))
    if sub.a is not None:
        size = size + squared_norm(sub.a)
    if sub.rho is not None:
        size = size + squared_norm(sub.rho * x) + squared_norm(sub.rho * sub.z)
    return size
