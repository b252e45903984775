"""A method's rounds over a class of functions as one semidefinite program."""

from __future__ import annotations

import time
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.conditions import average_and_differences
from fedtheory.proofs.every_n.model import Function, Model
from fedtheory.proofs.every_n.noise import Noise
from fedtheory.proofs.every_n.oracles import Evaluation, Leaves, SharedRegulariser, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Form, Number, Sampling, Vector, divide, square
from fedtheory.proofs.function_class import (
    FunctionClass,
    require_question,
    require_worst_case,
    state_conditions,
)
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.stand_ins import ANY_CLIENTS, STATE_CLIENTS
from fedtheory.running.enumeration import enumerate_courses

LONGEST_SECONDS = 3600.0  #: that a program may be expected to take where no time limit is given


def state_program(
    algorithm: Algorithm,
    function_class: FunctionClass,
    rounds: int,
    measure: MeasureName,
    radius: Number,
    participation: Sampling | None,
    time_limit: float | None = None,
) -> tuple[Model, SymmetricProblem, Vector, bool]:
    """Trace the rounds and collect the program's conditions; the model, the problem, the start, and whether coins were enumerated.

    Raises
    ------
    CannotTrace, InvalidInput
        The algorithm, the measure or the class is outside what this program can say.
    TooLarge
        Tracing took longer than ``time_limit`` seconds, or the program traced would.
    """
    require_worst_case(algorithm, noise=function_class.sigma is not None)
    question = find_measure(measure)
    require_question(function_class, question, rounds, radius)
    # at the least: a gradient of every round, and a condition of every ordered pair of them
    conic.require_time((rounds,), rounds * (rounds - 1), LONGEST_SECONDS if time_limit is None else time_limit)
    problem, noise = _make_problem(function_class, participation, time_limit)
    leaves, n = problem.leaves, None if participation is None else participation.n
    # without a minimiser, the origin may as well be the start
    x0 = leaves.vector(common=True) if question.of_minimiser else Vector({})
    if question.of_minimiser:
        _add_minimiser(problem)
    everyone = participation is None or participation.s == participation.n
    runs = enumerate_courses(algorithm, problem, cell(x0), rounds, ((1, None if everyone else participation),))
    paths = [(weight, [entry(state.x) for state in states]) for weight, states in runs]

    quantities = _ExchangeableQuantities(problem, participation)

    def quantity_after(r: int) -> Form:
        total = Form()
        for weight, path in paths:
            total = total + question.quantity(quantities, path[r]) * weight
        return total

    objectives = question.objectives(quantity_after, rounds)
    models = list({id(v): v for _, path in paths for v in path}.values())
    lowest = None if question.of_minimiser else Form(values={leaves.value(): 1})
    found = state_conditions(function_class, question, quantities, x0, models, radius, lowest)
    found += problem.conditions
    functions, relaxed = _list_functions(problem, function_class)
    relaxed = [*function_class.relaxations(measure), *relaxed]
    equations: list[tuple[str, Form]] = []
    if noise is not None:
        found += noise.inequalities()
        equations = noise.equations()
        if noise.reach(e for f in functions for e in f.evaluations):
            relaxed.append("conditions between different outcomes of the noise are left out")
    drawn = {leaf for error in problem.errors for leaf in error.terms}
    if any(drawn & e.x.terms.keys() for f in functions for e in f.evaluations):
        relaxed.append("conditions between different outcomes of compressors are left out")
    traced = len(problem.evaluations)  # an ordered pair of them gives a condition
    conic.require_time((leaves.mean, leaves.deviation), traced * (traced - 1) + len(found), time_limit)
    for function in functions:
        problem.require_time()
        found += function.conditions(n)
    model = Model(
        leaves, tuple(found), tuple(objectives), tuple(equations), tuple(relaxed), functions=tuple(functions), clients=n
    )
    return model, problem, x0, len(paths) > 1


def _make_problem(
    function_class: FunctionClass, participation: Sampling | None, time_limit: float | None
) -> tuple[_Timed, Noise | None]:
    """The problem whose gradients and steps are noted, and the noise of its gradients where the class has some."""
    leaves, n = Leaves(), None if participation is None else participation.n
    h = SharedRegulariser(leaves, indicator=function_class.indicator) if function_class.composite else None
    noise = None
    if function_class.sigma is not None:
        if n is None:
            raise InvalidInput(f"noise averages out over the clients, so that their number n matters; {STATE_CLIENTS}")
        noise = Noise(leaves, function_class.sigma, n)
    problem = _Timed(leaves, function_class.mu, h, noise, n=ANY_CLIENTS if n is None else n)
    problem.time_limit = time_limit
    return problem, noise


def _add_minimiser(problem: SymmetricProblem) -> None:
    """Note the gradients at the minimiser, which is the origin: with those of h they average to zero."""
    h = problem.regulariser
    star = problem.add(Vector({}), problem.leaves.deviation_only() if h is None else problem.leaves.vector())
    if h is not None:
        h.add(Vector({}), -star.g.averaged(None))


def _list_functions(problem: SymmetricProblem, function_class: FunctionClass) -> tuple[list[Function], list[str]]:
    """The functions that are interpolated, each with its points, and what is lost by taking each by itself."""
    big_l, delta, h = function_class.L, function_class.similarity, problem.regulariser
    functions = [Function("interpolation", tuple(problem.evaluations), big_l, function_class.mu)]
    if h is not None:
        functions.append(Function("regulariser", tuple(h.evaluations), None, 0, shared=True))
    if delta is None:
        return functions, []
    average, difference = average_and_differences(problem.leaves, problem.evaluations)
    functions.append(Function("average", tuple(average), big_l, function_class.mu, shared=True))
    functions.append(Function("difference", tuple(difference), delta, -delta))
    relaxed = ["the clients' functions, the average f and the differences f_i - f are interpolated each by itself"]
    if not all(e.x.common for e in average):
        relaxed.append("the average f is tied to the clients' functions only at points that they have in common")
    return functions, relaxed


class _Timed(SymmetricProblem):
    """A problem that looks at the clock whenever a gradient or a proximal step is noted."""

    time_limit: float | None = None

    def __init__(self, *parts: Any, **options: Any) -> None:
        super().__init__(*parts, **options)
        self.begun = time.perf_counter()

    def require_time(self) -> None:
        """Refuse to go on once the time is over."""
        if self.time_limit is not None and time.perf_counter() - self.begun > self.time_limit:
            raise conic.TooLarge(
                f"following the rounds took more than the time limit of {self.time_limit:g} s ({len(self.evaluations)} gradients so far); "
                "lower the rounds or the local steps, or allow more time"
            )

    def add(self, x: Vector, g: Vector) -> Evaluation:
        self.require_time()
        return super().add(x, g)


class _ExchangeableQuantities:
    """The quantities of measures and assumptions in exchangeable vectors."""

    minimiser = Vector({})

    def __init__(self, problem: SymmetricProblem, participation: Sampling | None) -> None:
        self.problem = problem
        self.participation = participation

    def value(self, x: Vector) -> Form:
        h = self.problem.regulariser
        smooth = Form(values={self.problem.at(x).value: 1})
        return smooth if h is None else smooth + Form(values={h.at(x).value: 1})

    def gradients(self, x: Vector) -> Vector:
        return self.problem.at(x).g

    def mean(self, u: Vector) -> Vector:
        return u.averaged(None)

    def square(self, u: Vector) -> Form:
        return square(u, self.participation)

    def squares_apart(self, u: Vector) -> list[Form]:
        """The mean over pairs is 2n/(n-1) times the mean square deviation; every n allows what n -> infinity does."""
        n = None if self.participation is None else self.participation.n
        return [square(u - self.mean(u)) * (2 if n is None else divide(2 * n, n - 1))]
