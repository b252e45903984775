"""What worst cases are taken of: each measure once, for every engine that states it and for the runs that replay it.

A measure is a quantity of the server's model x^r, and what is made of it over the rounds r = 1..R. The quantity is written in the quantities of
`Quantities`, which an engine interprets in its own vectors and forms (linear expressions in inner products and function values); its ``metric`` is
the same quantity as a number, on functions whose minimiser x* is the origin, as worst-case functions have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import State
from fedtheory.core.arrays import Array
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import Problem, objective
from fedtheory.measures import metrics
from fedtheory.measures.metrics import Metric

MeasureName = Literal["squared_distance", "gap", "stationarity", "sum_stationarity", "min_stationarity"]


class Quantities(Protocol):
    """What an engine calls the quantities that measures and assumptions are made of; x is one model of the server, u one vector a client."""

    minimiser: Any  #: x*, the origin

    def value(self, x: Any) -> Any:
        """The objective at x: f = mean_i f_i, plus the shared h of a composite class; a form."""

    def gradients(self, x: Any) -> Any:
        """The clients' gradients grad f_i(x), one vector a client."""

    def mean(self, u: Any) -> Any:
        """mean_i u_i, one vector."""

    def square(self, u: Any) -> Any:
        """mean_i ||u_i||^2, in expectation over who takes part; a form."""

    def squares_apart(self, u: Any) -> Sequence[Any]:
        """||u_i - u_j||^2 of all pairs of clients, or the mean over pairs where clients are alike; forms."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure of worst cases.

    ``of_minimiser``: it speaks of x*, and starts have ||x^0 - x*|| <= radius; otherwise f(x^0) - inf f <= radius. ``written``: the quantity of the
    last round, as a theorem's quantities are written.
    """

    name: MeasureName
    of_minimiser: bool
    quantity: Callable[[Quantities, Any], Any]
    metric: Metric
    over_rounds: Literal["last", "sum", "least"] = "last"
    written: str = ""

    def objectives(self, quantity_after: Callable[[int], Any], rounds: int) -> list[Any]:
        """What is maximised, as forms of which the least counts; ``quantity_after(r)`` is the expected quantity after round r."""
        if self.over_rounds == "last":
            return [quantity_after(rounds)]
        each = [quantity_after(r) for r in range(1, rounds + 1)]
        if self.over_rounds == "least":
            return each
        total = each[0]
        for form in each[1:]:
            total = total + form
        return [total]

    def reached(self, values: NDArray[np.float64]) -> float:
        """The measure of a run whose ``metric`` was ``values`` ``(R + 1,)`` after 0..R rounds."""
        return float(self.summarise(values))

    def summarise(self, values: NDArray[Any]) -> Any:
        """The measure of runs whose ``metric`` was ``values`` ``(R + 1, *batch)`` after 0..R rounds."""
        if self.over_rounds == "last":
            return values[-1]
        return values[1:].sum(axis=0) if self.over_rounds == "sum" else values[1:].min(axis=0)


def find_measure(name: str) -> Measure:
    """The measure of a name.

    Raises
    ------
    InvalidInput
        There is none.
    """
    if name not in MEASURES:
        raise InvalidInput(f"unknown measure {name!r}; known are {', '.join(MEASURES)}")
    return MEASURES[name]


def _squared_gradient(quantities: Quantities, x: Any) -> Any:
    return quantities.square(quantities.mean(quantities.gradients(x)))


def _gap_to_origin(problem: Problem, state: State) -> Array:
    return metrics.value(problem, state) - objective(problem, np.zeros((1, problem.d)))


#: every measure by its name
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            "squared_distance",
            True,
            lambda quantities, x: quantities.square(x),
            metrics.magnitude,
            written="norm2(x - x_star)",
        ),
        Measure(
            "gap",
            True,
            lambda quantities, x: quantities.value(x) - quantities.value(quantities.minimiser),
            _gap_to_origin,
            written="f(x) - f(x_star)",
        ),
        Measure("stationarity", False, _squared_gradient, metrics.stationarity, written="norm2(grad(f, x))"),
        Measure("sum_stationarity", False, _squared_gradient, metrics.stationarity, "sum"),
        Measure("min_stationarity", False, _squared_gradient, metrics.stationarity, "least"),
    )
}
assert tuple(MEASURES) == get_args(MeasureName)
