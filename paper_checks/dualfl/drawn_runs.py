"""Runs on random quadratics, held against the bounds of Theorem 3.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.claims import Context, Fault, Part, at_most
from paper_checks.dualfl.certified_runs import bound_n2, heterogeneity_at, squared_errors
from paper_checks.dualfl.notation import mistaken
from problems.quadratics import Quadratic, random_quadratics

L, CLIENTS, DIMENSION, ROUNDS = 1.0, 5, 8, 150
#: what rounding leaves of the squares that are compared, relative to the first bound
ROUNDED = 1e-26


def draw(ctx: Context, mu: float, heterogeneity: float = 1.0, draws: int = 10) -> Quadratic:
    """Random quadratics, ten draws on the batch axis."""
    return random_quadratics(CLIENTS, DIMENSION, L=L, mu=mu, heterogeneity=heterogeneity, batch=(draws,), seed=ctx.seed)


def against_bound(ctx: Context, method: Any, problem: Quadratic, nu: float, rho: float, name: str, text: str) -> Part:
    """Part: squared distances of every draw below the bound in every round."""
    star = problem.solution()
    found = squared_errors(method(nu, rho), problem, star, ROUNDS)
    bound = bound_n2(np.arange(1, ROUNDS + 1), nu, rho, heterogeneity_at(problem, star))
    return at_most(name, found, bound, "numeric", text, error=ROUNDED * float(bound.max()))


def wrong_methods(part: str) -> tuple[Fault, ...]:
    """DualFL with mistakes that the bound must reject."""
    names = (
        "extrapolation backwards",
        "sign of the control variate in local work",
        "control update with the old server model",
    )
    return tuple(Fault(name, part, {"method": mistaken(name)}) for name in names)
