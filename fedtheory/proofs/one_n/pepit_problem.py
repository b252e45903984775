"""A class of functions as a problem on PEPit's points: an array element is a whole vector, so client arrays have shape ``(n, 1)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.arrays import Array
from fedtheory.core.errors import CannotTrace, require
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Pooled
from fedtheory.proofs.stand_ins import ANY_DIMENSION


class PointProblem:
    """n functions of a class as a problem whose points are PEPit points: arrays ``(n, 1)`` of objects."""

    name = "function class"
    d: Any = ANY_DIMENSION

    def __init__(
        self,
        functions: list[Any],
        mu: float,
        regulariser: PointRegulariser | None = None,
        vectors: ShortPoints | None = None,
    ) -> None:
        self.functions = functions
        self.mu = mu
        self.regulariser = regulariser
        self.vectors = vectors

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.functions)

    def _each(self, x: Array, oracle: Any) -> NDArray[Any]:
        full = np.broadcast_to(x, (self.n, 1))
        return column([oracle(f, full[i, 0]) for i, f in enumerate(self.functions)])

    def grad(self, x: Array) -> NDArray[Any]:
        """Gradients as points."""
        return self._each(x, lambda f, point: _evaluated(f, point)[1])

    def value(self, x: Array) -> NDArray[Any]:
        """Values as expressions: ``(n,)``."""
        return self._each(x, lambda f, point: _evaluated(f, point)[2])[:, 0]

    def prox(self, v: Array, step: Any) -> NDArray[Any]:
        """Proximal steps as points; one that is known is recognised where the minimiser is unique."""
        return self._each(v, lambda f, point: _proximal(f, point, float(step), recognise=step * -self.mu < 1))

    def conjugate_grad(self, y: Array) -> NDArray[Any]:
        """Points at which the gradients are y, that is grad f_i^*(y_i); one that is known is recognised where it is the only one."""
        point = require("PEPit.point", "worst cases").Point
        expression = require("PEPit.expression", "worst cases").Expression

        def at(f: Any, slope: Any) -> Any:
            if self.mu > 0:
                for x, g, _ in f.list_of_points:
                    if _same(slope, g):
                        return x
            x = point(is_leaf=True)
            f.add_point((x, slope, expression(is_leaf=True)))
            return x

        return self._each(y, at)

    def short(self, asked: Sequence[Array], limit: Any) -> NDArray[Any]:
        """Points e_i with ||e_i||^2 <= ``limit``, a number, or ||e_i|| <= ||limit_i||; the same answer whenever the same is ``asked``."""
        if self.vectors is None:
            raise CannotTrace(
                "bounds on the errors of local solves are conditions of a program, and this problem was made without one; use `worst_case`"
            )
        rows = [np.broadcast_to(x, (self.n, 1))[:, 0] for x in asked]
        limits = np.broadcast_to(limit, (self.n, 1))[:, 0]
        return column([self.vectors(f, [row[i] for row in rows], limits[i]) for i, f in enumerate(self.functions)])

    def take(self, clients: Clients | None) -> PointProblem:
        """Restrict to the clients that take part."""
        return (
            self
            if clients is None
            else PointProblem([self.functions[i] for i in clients.index], self.mu, self.regulariser, self.vectors)
        )

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)


class ShortPoints:
    """Points of a program that are only known to be short; one for each thing that is asked of a function."""

    def __init__(self, pep: Any) -> None:
        self.pep = pep
        self.answers: dict[Any, Any] = {}

    def __call__(self, function: Any, asked: Sequence[Any], limit: Any) -> Any:
        """The point that a function answers with."""
        kind = require("PEPit.point", "worst cases").Point
        key = (function, *(frozenset(a.decomposition_dict.items()) if isinstance(a, kind) else a for a in asked))
        if key not in self.answers:
            self.answers[key] = point = kind(is_leaf=True)
            self.pep.add_constraint(point**2 <= (limit**2 if isinstance(limit, kind) else float(limit)))
        return self.answers[key]


class PointRegulariser:
    """A shared convex function h on PEPit points ``(m, 1)``: values and proximal steps."""

    numeric_only = None

    def __init__(self, function: Any) -> None:
        self.function = function

    def value(self, x: Array) -> NDArray[Any]:
        """h(x_i) as expressions: ``(m,)``."""
        return column([_evaluated(self.function, point)[2] for point in x[:, 0]])[:, 0]

    def prox(self, v: Array, step: Any) -> NDArray[Any]:
        """Proximal steps as points."""
        return column([_proximal(self.function, point, float(step), recognise=True) for point in v[:, 0]])


#: coefficients that differ by less than this share of the largest differ by rounding
SAME_POINT = 1e-14


def _same(p: Any, *others: Any) -> bool:
    """Whether a point is the sum of others, up to rounding of the coefficients."""
    left = dict(p.decomposition_dict)
    largest = max((abs(weight) for q in (p, *others) for weight in q.decomposition_dict.values()), default=0.0)
    for other in others:
        for leaf, weight in other.decomposition_dict.items():
            left[leaf] = left.get(leaf, 0.0) - weight
    return all(abs(weight) <= SAME_POINT * largest for weight in left.values())


def _evaluated(function: Any, point: Any) -> tuple[Any, Any, Any]:
    """Point, gradient and value of a function; those of a point that is known are the known ones.

    PEPit knows a point by its coefficients to the last bit. Two points that rounding keeps apart make a program with a condition that
    holds on the edge only, which solvers answer with few digits.
    """
    for triple in function.list_of_points:
        if _same(point, triple[0]):
            return tuple(triple)
    gradient, value = function.oracle(point)
    return point, gradient, value


def _proximal(function: Any, v: Any, step: float, *, recognise: bool) -> Any:
    """The proximal step x = v - step g, g the gradient at x; a known x with v = x + step g is recognised.

    Recognising it keeps the program's multipliers finite: the two points would have to coincide without the program saying so.
    """
    if recognise:
        for x, g, _ in function.list_of_points:
            if _same(v, x, step * g):
                return x
    return require("PEPit.primitive_steps", "worst cases").proximal_step(v, function, step)[0]


def column(entries: list[Any]) -> NDArray[Any]:
    """An object array ``(m, 1)`` of the entries."""
    out = np.empty((len(entries), 1), dtype=object)
    for i, entry in enumerate(entries):
        out[i, 0] = entry
    return out
