"""Steps and averages of the library on two clients whose gradients are given: what recursions that a paper prints are compared with."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.core.arrays import average
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.local.subproblem import Subproblem
from problems.quadratics import Quadratic

SCRIPT: Any = ScriptedKey(0, {})


def column(*values: Any) -> Any:
    """One number a client, exact: ``(n, 1)``."""
    return np.array(values, dtype=object)[:, None]


def linear(g: Any) -> Quadratic:
    """Two clients whose gradients are g everywhere."""
    return Quadratic(column(0, 0)[..., None], column(-g, -g))


def gradient_step(x: Any, eta: Any, g: Any, lam: Any = 0, rho: Any = 0, x0: Any = None) -> Any:
    """One gradient step from x on <g, x>, or on <g + lam, x> + (rho/2)(x - x0)^2."""
    sub = Subproblem(linear(g), column(lam, lam), rho, column(x, x) if x0 is None else column(x0, x0))
    return GradientSteps(1, eta)(sub, column(x, x), SCRIPT, None)[0][0, 0]


def weight(N: int) -> Any:
    """What the average over N clients multiplies the vector of one of them by."""
    return average(column(Fraction(1), *[Fraction(0)] * (N - 1)))[0, 0]
