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


class PointProblem:
    """n functions of a class as a problem whose points are PEPit points: arrays ``(n, 1)`` of objects."""

    name = "function class"
    d = 1

    def __init__(
        self, functions: list[Any], regulariser: PointRegulariser | None = None, vectors: ShortPoints | None = None
    ) -> None:
        self.functions = functions
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
        return self._each(x, lambda f, point: f.gradient(point))

    def value(self, x: Array) -> NDArray[Any]:
        """Values as expressions: ``(n,)``."""
        return self._each(x, lambda f, point: f.value(point))[:, 0]

    def prox(self, v: Array, step: Any) -> NDArray[Any]:
        """Proximal steps as points."""
        proximal = require("PEPit.primitive_steps", "worst cases").proximal_step
        return self._each(v, lambda f, point: proximal(point, f, float(step))[0])

    def conjugate_grad(self, y: Array) -> NDArray[Any]:
        """Points at which the gradients are y, that is grad f_i^*(y_i)."""
        point = require("PEPit.point", "worst cases").Point
        expression = require("PEPit.expression", "worst cases").Expression

        def at(f: Any, slope: Any) -> Any:
            x = point(is_leaf=True)
            f.add_point((x, slope, expression(is_leaf=True)))
            return x

        return self._each(y, at)

    def short(self, asked: Sequence[Array], limit: Any) -> NDArray[Any]:
        """Points e_i with ||e_i||^2 <= ``limit``, a number, or ||e_i|| <= ||limit_i||; the same answer whenever the same is ``asked``."""
        if self.vectors is None:
            raise CannotTrace(
                "errors of local answers are met in whole programs only; pass the problem of `worst_case`"
            )
        rows = [np.broadcast_to(x, (self.n, 1))[:, 0] for x in asked]
        limits = np.broadcast_to(limit, (self.n, 1))[:, 0]
        return column([self.vectors(f, [row[i] for row in rows], limits[i]) for i, f in enumerate(self.functions)])

    def take(self, clients: Clients | None) -> PointProblem:
        """Restrict to the clients that take part."""
        return (
            self
            if clients is None
            else PointProblem([self.functions[i] for i in clients.index], self.regulariser, self.vectors)
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
        return column([self.function.value(point) for point in x[:, 0]])[:, 0]

    def prox(self, v: Array, step: Any) -> NDArray[Any]:
        """Proximal steps as points."""
        proximal = require("PEPit.primitive_steps", "worst cases").proximal_step
        return column([proximal(point, self.function, float(step))[0] for point in v[:, 0]])


def column(entries: list[Any]) -> NDArray[Any]:
    """An object array ``(m, 1)`` of the entries."""
    out = np.empty((len(entries), 1), dtype=object)
    for i, entry in enumerate(entries):
        out[i, 0] = entry
    return out
