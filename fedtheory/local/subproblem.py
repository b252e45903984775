"""The subproblem that a client solves: its objective, a linear term, a quadratic term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fedtheory.core.arrays import Array, Scalar, inner, is_array
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, need


def take_rows(x: Any, first: int, last: int) -> Any:
    """Clients first, ..., last - 1 of an array ``(..., m, d)``; what is common to all clients comes back as it is."""
    return x[..., first:last, :] if is_array(x) and x.shape[-2] > 1 else x


@dataclass(frozen=True, slots=True, eq=False)
class Subproblem:
    """The clients' subproblems  min_x f_i(x) + <a_i, x> + (rho/2) ||x - z_i||^2.

    Parameters
    ----------
    f : Problem
        The objectives of the m clients that take part.
    a : array ``(..., m, d)``, optional
        Linear terms; None for zero.
    rho : number or array ``(*batch, 1, 1)``, optional
        Weight of the quadratic term; None for zero.
    z : array ``(..., m, d)`` or ``(..., 1, d)``, optional
        Centres of the quadratic term.
    clients : Clients, optional
        Who the m clients are; None for all. Stochastic solvers draw each client's samples by its number.
    """

    f: Problem
    a: Array | None = None
    rho: Scalar | None = None
    z: Array | None = None
    clients: Clients | None = None

    def grad(self, x: Array) -> Array:
        """Gradients of the subproblems at x: ``(..., m, d) -> (..., m, d)``."""
        return self.shift(self.f.grad(x), x)

    def shift(self, g: Array, x: Array) -> Array:
        """Add what the linear and the quadratic term contribute to a gradient g of f_i at x."""
        if self.a is not None:
            g = g + self.a
        if self.rho is not None:
            g = g + self.rho * (x - self.z)
        return g

    def unshift(self, g: Array, x: Array) -> Array:
        """Gradient of f_i alone, from the subproblem's gradient g at x."""
        if self.a is not None:
            g = g - self.a
        if self.rho is not None:
            g = g - self.rho * (x - self.z)
        return g

    def value(self, x: Array) -> Array:
        """Values of the subproblems at x: ``(..., m, d) -> (..., m)``."""
        h = self.f.value(x)
        if self.a is not None:
            h = h + inner(self.a, x)
        if self.rho is not None:
            h = h + inner(self.rho / 2 * (x - self.z), x - self.z)
        return h

    def part(self, first: int, last: int) -> Subproblem:
        """Restrict to the clients first, ..., last - 1."""
        return replace(
            self,
            f=need(self.f, "slice", "working through clients in blocks")(first, last),
            a=take_rows(self.a, first, last),
            z=take_rows(self.z, first, last),
        )
