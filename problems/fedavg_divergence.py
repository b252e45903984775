"""Problems on which FedAvg diverges (FedPD, Claim II.2 and Appendix A) and their non-degenerate variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from problems.quadratics import Quadratic, scalar_quadratics
from problems.separable import RootPlusQuadratic, root_plus_quadratic


def fedavg_counterexample() -> Quadratic:
    """f_1 = x^2, f_2 = -x^2 (FedPD, eq. (13)): L = 2, f = 0 everywhere, A3 fails for every (G, D).

    Mean squared gradient 4 x^2 against gradient zero of the average.
    """
    return scalar_quadratics([2.0, -2.0], name="FedAvg counterexample")


def curved_counterexample(a: Any, b: Any) -> Quadratic:
    """f_1 = (a/2) x^2, f_2 = -(b/2) x^2 with a > b > 0: f = ((a - b)/4) x^2 is strongly convex.

    A3 holds here with D^2 = 2 (a^2 + b^2) / (a - b)^2; FedAvg with Q = 2 diverges iff
    lr > 2 (a - b) / (a^2 + b^2). ``a`` and ``b`` may be numbers, fractions or symbols.
    """
    return scalar_quadratics(np.array([a, -b]), name=f"curved FedAvg counterexample (a={a}, b={b})")


def coercive_counterexample() -> RootPlusQuadratic:
    """f_1 = x^2 + s, f_2 = -x^2 + s, s = sqrt(1 + x^2): f = s is convex and coercive with unique minimiser 0, L = 3.

    A3 fails for every (G, D), since mean ||grad f_i||^2 >= 4 x^2 while |f'| < 1. For every constant step and Q >= 2
    FedAvg diverges from far enough away.
    """
    return root_plus_quadratic([2, -2], [0, 0], [1, 1], name="coercive FedAvg counterexample")
