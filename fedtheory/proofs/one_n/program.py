"""A method's rounds over a class of functions of n clients as one program, stated with PEPit.

The algorithm's own round function is traced on PEPit points: an array element is a whole vector, so client arrays have shape ``(n, 1)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.arrays import Array, average
from fedtheory.core.client_weights import ClientWeights, require_weights_meant
from fedtheory.core.errors import InvalidInput, require
from fedtheory.proofs.function_class import (
    FunctionClass,
    require_question,
    require_worst_case,
    state_conditions,
)
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.one_n.pepit_problem import PointProblem, PointRegulariser, ShortPoints, column
from fedtheory.running.enumeration import enumerate_courses, enumerate_subsets

#: what a class may assume that this program does not state
NOT_STATED = ("similarity", "sigma")


@dataclass(frozen=True, eq=False)
class PointProgram:
    """A program stated in PEPit: the ``pep``, the clients' functions, the start x^0 as a point, and whether outcomes were averaged over."""

    pep: Any
    problem: PointProblem
    start: Any
    random: bool


def state_point_program(
    algorithm: Algorithm,
    function_class: FunctionClass,
    n: int,
    rounds: int,
    measure: MeasureName,
    radius: float,
    coins: Mapping[int, Mapping[str, bool]] | None = None,
    participants: int | None = None,
    weights: ClientWeights | None = None,
) -> PointProgram:
    """Trace the rounds and declare everything that is known; parameters are those of `worst_case_for_one_n`, weights as floats.

    Raises
    ------
    CannotTrace, InvalidInput
        The algorithm, the measure or the class is outside what this program can say.
    """
    require_worst_case(algorithm)
    require_weights_meant(algorithm, weights)
    question = find_measure(measure)
    _require_stated(function_class, n)
    require_question(function_class, question, rounds, radius)
    pep = require("PEPit", "worst cases").PEP()
    expression = require("PEPit.expression", "worst cases").Expression
    origin = require("PEPit.point", "worst cases").null_point
    problem = _make_problem(pep, function_class, n)
    # without a minimiser, the origin may as well be the start
    x0 = pep.set_initial_point() if question.of_minimiser else origin
    if question.of_minimiser:
        _add_minimiser(problem, weights)
    start = column([x0])
    who = ((1, None),) if participants is None else tuple(enumerate_subsets(n, participants))
    runs = enumerate_courses(algorithm, problem, start, rounds, who, coins)
    paths = [(float(weight), [state.x for state in states]) for weight, states in runs]
    quantities = _PointQuantities(problem, column([origin]))

    def quantity_after(r: int) -> Any:
        return np.sum(column([weight * question.quantity(quantities, path[r]) for weight, path in paths]))

    for goal in question.objectives(quantity_after, rounds):
        pep.set_performance_metric(goal)
    models = list({id(x): x for _, path in paths for x in path}.values())
    lowest = None if question.of_minimiser else expression(is_leaf=True)
    for _, form in state_conditions(function_class, question, quantities, start, models, radius, lowest):
        pep.add_constraint(form <= 0)
    return PointProgram(pep, problem, x0, len(paths) > 1 or coins is not None)


def _require_stated(function_class: FunctionClass, n: int) -> None:
    """Refuse a class that this program does not state."""
    if n < 1:
        raise InvalidInput(f"expected n >= 1, got n={n}")
    unknown = [name for name in NOT_STATED if getattr(function_class, name) is not None]
    if unknown:
        raise InvalidInput(
            f"the program of n clients one by one does not state {' and '.join(unknown)}; that of exchangeable clients does: "
            "fedtheory.proofs.worst_case(..., clients=n) chooses it, without prescribed coins and for n >= 2"
        )


def _make_problem(pep: Any, function_class: FunctionClass, n: int) -> PointProblem:
    functions = [function_class.declare(pep) for _ in range(n)]
    h = None
    if function_class.composite:
        kinds = require("PEPit.functions", "worst cases")
        kind = kinds.ConvexIndicatorFunction if function_class.indicator else kinds.ConvexFunction
        h = PointRegulariser(pep.declare_function(kind))
    return PointProblem(functions, function_class.mu, h, ShortPoints(pep))


def _add_minimiser(problem: PointProblem, weights: ClientWeights | None) -> None:
    """State the gradients at the minimiser, which is the origin: no unknown for it, and the Gram matrix keeps an interior."""
    point = require("PEPit.point", "worst cases")
    expression = require("PEPit.expression", "worst cases").Expression
    free = [point.Point(is_leaf=True) for _ in range(problem.n - 1)]
    # sum_i scales_i g_i (+ s / p_n) = 0
    scales = [1] * problem.n if weights is None else [w / weights[-1] for w in weights]
    last = -np.sum(column([k * g for k, g in zip(scales, free, strict=False)])) if free else point.null_point
    if problem.regulariser is not None:  # sum_i p_i grad f_i(x*) + s = 0 with a subgradient s of h at x*
        s = point.Point(is_leaf=True)
        problem.regulariser.function.add_point((point.null_point, s, expression(is_leaf=True)))
        last = last - (problem.n if weights is None else 1 / weights[-1]) * s
    for function, g in zip(problem.functions, [*free, last], strict=True):
        function.add_point((point.null_point, g, expression(is_leaf=True)))


class _PointQuantities:
    """The quantities of measures and assumptions in PEPit's points; models are arrays ``(1, 1)``, one vector a client ``(n, 1)``."""

    def __init__(self, problem: PointProblem, minimiser: Array) -> None:
        self.problem = problem
        self.minimiser = minimiser

    def value(self, x: Array) -> Any:
        smooth = average(self.problem.value(x)[:, None])[0, 0]
        h = self.problem.regulariser
        return smooth if h is None else smooth + h.value(x)[0]

    def gradients(self, x: Array) -> Array:
        return self.problem.grad(x)

    def mean(self, u: Array) -> Array:
        return average(u)

    def square(self, u: Array) -> Any:
        return average(u**2)[0, 0]

    def squares_apart(self, u: Array) -> Sequence[Any]:
        return [(u[i, 0] - u[j, 0]) ** 2 for i in range(len(u)) for j in range(i)]
