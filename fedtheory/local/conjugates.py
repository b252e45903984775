"""Convex conjugates computed by Newton's method, with a bound on their error."""

from __future__ import annotations

from fedtheory.core.arrays import inner, squared_norm
from fedtheory.core.problem import Problem
from fedtheory.core.shapes import ClientPoints, ClientValues, Points
from fedtheory.local.newton import newton
from fedtheory.local.subproblem import Subproblem


def newton_conjugate(problem: Problem, y: Points, mu: float) -> tuple[ClientValues, ClientValues]:
    """f_i^*(y_i) = max_x <x, y_i> - f_i(x) from above, for mu-strongly convex f_i with Hessians.

    Newton's method minimises f_i(x) - <x, y_i>. With its answer x_i and r_i = y_i - grad f_i(x_i), strong convexity gives
    f_i(z) >= f_i(x_i) + <y_i - r_i, z - x_i> + (mu/2) ||z - x_i||^2 for all z, and therefore

        <x_i, y_i> - f_i(x_i)  <=  f_i^*(y_i)  <=  <x_i, y_i> - f_i(x_i) + ||r_i||^2 / (2 mu).

    Parameters
    ----------
    y : Points
    mu : number
        A certified strong convexity constant of every f_i.

    Returns
    -------
    upper, error : ClientValues
        The right-hand side, so that dual values made of it stay lower bounds, whether Newton's method has arrived or not; and how much
        it may exceed the conjugate, ||r_i||^2 / (2 mu).
    """
    x = newton_maximiser(problem, y, 0 * y)
    error = squared_norm(y - problem.grad(x)) / (2 * mu)
    return inner(x, y) - problem.value(x) + error, error


def newton_maximiser(problem: Problem, y: Points, start: Points) -> ClientPoints:
    """argmax_x <x, y_i> - f_i(x) by Newton's method from the points given."""
    return newton(Subproblem(problem, a=-y), start)
