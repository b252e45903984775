"""The subproblem that a client solves: its objective, a linear term, a quadratic term."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from fedtheory.core.arrays import Scalar, inner, is_array
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem, need
from fedtheory.core.shapes import ClientPoints, ClientValues, Points


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
    a : Points, optional
        Linear terms; None for zero.
    rho : number or array ``(*batch, 1, 1)``, optional
        Weight of the quadratic term; None for zero.
    z : Points, optional
        Centres of the quadratic term.
    clients : Clients, optional
        Who the m clients are; None for all. Stochastic solvers draw each client's samples by its number.

    Examples
    --------
    >>> sub = Subproblem(problem, rho=2.0, z=np.zeros((1, 5)))  # f_i + ||x||^2
    >>> x = np.ones((1, 5))
    >>> print(np.allclose(sub.grad(x), problem.grad(x) + 2 * x))
    True
    """

    f: Problem
    a: Points | None = None
    rho: Scalar | None = None
    z: Points | None = None
    clients: Clients | None = None

    def grad(self, x: Points) -> ClientPoints:
        """Gradients of the subproblems at x."""
        return self.shift(self.f.grad(x), x)

    def shift(self, g: Points, x: Points) -> Points:
        """Add what the linear and the quadratic term contribute to a gradient g of f_i at x."""
        if self.a is not None:
            g = g + self.a
        if self.rho is not None:
            g = g + self.rho * (x - self.z)
        return g

    def unshift(self, g: Points, x: Points) -> Points:
        """Gradient of f_i alone, from the subproblem's gradient g at x."""
        if self.a is not None:
            g = g - self.a
        if self.rho is not None:
            g = g - self.rho * (x - self.z)
        return g

    def value(self, x: Points) -> ClientValues:
        """Values of the subproblems at x."""
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
