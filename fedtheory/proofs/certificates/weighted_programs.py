"""A method's rounds over a class of functions of clients with weights, one by one, as one exact program.

Every client has evaluations of its own, on vectors that are leaves of one Gram matrix; averages are by the weights. What is proved is for these
weights alone, where a proof for every n bounds all weights and need not be attained by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.client_weights import check_weights, require_weights_meant, weighing_by
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.exact import solve_exactly
from fedtheory.core.problem import Pooled
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.model import Direction, Function, Model
from fedtheory.proofs.every_n.oracles import Evaluation, Leaves, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Form, Number, Vector, square
from fedtheory.proofs.function_class import FunctionClass, require_question, require_worst_case, state_conditions
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.one_n.pepit_problem import column
from fedtheory.proofs.stand_ins import ANY_DIMENSION
from fedtheory.running.enumeration import enumerate_courses

VectorRows = NDArray[Any]  # (n, 1) of vectors, one a client, or (1, 1) of the server's
#: what a class may assume that this program does not state
NOT_STATED_EXACTLY = ("composite", "indicator", "similarity", "sigma", "dissimilarity", "bgd")


class _OwnLeaves(Leaves):
    """Leaves that are vectors of one client, or of the server: nothing deviates."""

    def vector(self, *depends: Vector, common: bool = True) -> Vector:
        return super().vector(*depends, common=True)


class UnequalClients:
    """n functions of a class as a problem on arrays ``(n, 1)`` of vectors."""

    name = "function class, clients one by one"
    d: Any = ANY_DIMENSION
    regulariser = None

    def __init__(self, mu: Number, n: int) -> None:
        self.leaves = _OwnLeaves()
        self.clients = [SymmetricProblem(self.leaves, mu, n=1) for _ in range(n)]

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.clients)

    @property
    def evaluations(self) -> list[Evaluation]:
        """Those of all clients."""
        return [e for client in self.clients for e in client.evaluations]

    def _each(self, x: VectorRows, oracle: str, *more: Any) -> VectorRows:
        rows = np.broadcast_to(x, (self.n, 1))[:, 0]
        answers = [getattr(client, oracle)(cell(row), *more) for client, row in zip(self.clients, rows, strict=True)]
        return column([entry(answer) for answer in answers])

    def grad(self, x: VectorRows) -> VectorRows:
        """Gradients."""
        return self._each(x, "grad")

    def value(self, x: VectorRows) -> NDArray[Any]:
        """Values, as forms ``(n,)``."""
        rows = np.broadcast_to(x, (self.n, 1))[:, 0]
        values = [client.value(cell(row))[0] for client, row in zip(self.clients, rows, strict=True)]
        found = np.empty(self.n, dtype=object)
        found[:] = values
        return found

    def prox(self, v: VectorRows, step: Any) -> VectorRows:
        """Proximal steps."""
        return self._each(v, "prox", step)

    def conjugate_grad(self, y: VectorRows) -> VectorRows:
        """VectorRows at which the gradients are y."""
        return self._each(y, "conjugate_grad")

    def take(self, clients: Any) -> UnequalClients:
        """All of them take part.

        Raises
        ------
        CannotTrace
            Some do.
        """
        if clients is not None:
            raise CannotTrace("in the program of clients with weights all of them take part in every round")
        return self

    @property
    def server(self) -> Pooled:
        """A server that knows the average."""
        return Pooled(self)


class _WeightedQuantities:
    """The quantities of measures and assumptions, with means by the weights."""

    minimiser: VectorRows

    def __init__(self, problem: UnequalClients, weights: Sequence[Fraction]) -> None:
        self.problem, self.weights = problem, weights
        self.minimiser = column([Vector({})])

    def value(self, x: VectorRows) -> Form:
        total = Form()
        for client, p in zip(self.problem.clients, self.weights, strict=True):
            total = total + Form(values={client.at(x[0, 0]).value: 1}) * p
        return total

    def gradients(self, x: VectorRows) -> VectorRows:
        return self.problem.grad(x)

    def mean(self, u: VectorRows) -> VectorRows:
        total = Vector({})
        for row, p in zip(u[:, 0], self.weights, strict=True):
            total = total + row * p
        return column([total])

    def square(self, u: VectorRows) -> Form:
        if len(u) == 1:
            return square(u[0, 0])
        total = Form()
        for row, p in zip(u[:, 0], self.weights, strict=True):
            total = total + square(row) * p
        return total

    def squares_apart(self, u: VectorRows) -> Sequence[Any]:
        raise InvalidInput("bounded dissimilarity is not stated for clients with weights")


def state_program_of_weights(
    algorithm: Algorithm,
    function_class: FunctionClass,
    rounds: int,
    measure: MeasureName,
    radius: Number,
    weights: Sequence[Fraction],
) -> tuple[Model, UnequalClients, Vector]:
    """Trace the rounds of all clients and collect the program's conditions: the model, the problem, and the start.

    Raises
    ------
    CannotTrace, InvalidInput
        The algorithm, the measure, the class or the weights are outside what this program can say.
    """
    require_worst_case(algorithm)
    weights = [Fraction(w) for w in check_weights(weights, len(weights))]
    if sum(weights) != 1:
        raise InvalidInput(
            f"exact weights have the sum 1, and {', '.join(map(str, weights))} have the sum {sum(weights)}"
        )
    require_weights_meant(algorithm, tuple(weights))
    unknown = [name for name in NOT_STATED_EXACTLY if getattr(function_class, name) not in (None, False)]
    question = find_measure(measure)
    if unknown or not question.of_minimiser:
        raise InvalidInput(
            f"exact proofs for weights are of squared_distance and gap over convex classes with L, mu and zeta; got {measure} and {function_class}"
        )
    require_question(function_class, question, rounds, radius)
    problem = UnequalClients(function_class.mu, len(weights))
    x0 = problem.leaves.vector()
    _add_minimiser(problem, weights)
    start, quantities = column([x0]), _WeightedQuantities(problem, weights)
    with weighing_by(tuple(weights)):
        runs = enumerate_courses(algorithm, problem, start, rounds)
    paths = [(weight, [state.x for state in states]) for weight, states in runs]

    def quantity_after(r: int) -> Form:
        total = Form()
        for weight, path in paths:
            total = total + question.quantity(quantities, path[r]) * weight
        return total

    objectives = question.objectives(quantity_after, rounds)
    found = state_conditions(function_class, question, quantities, start, (), radius)
    functions = [
        Function(
            "interpolation" if i == 0 else f"client_{i + 1}",
            tuple(client.evaluations),
            function_class.L,
            function_class.mu,
        )
        for i, client in enumerate(problem.clients)
    ]
    for function in functions:
        found += function.conditions(None)
    return Model(problem.leaves, tuple(found), tuple(objectives), functions=tuple(functions)), problem, x0


def _add_minimiser(problem: UnequalClients, weights: Sequence[Fraction]) -> None:
    """The gradients at the minimiser, which is the origin: their mean by the weights is zero."""
    free = [problem.leaves.vector() for _ in weights[1:]]
    last = Vector({})
    for g, p in zip(free, weights, strict=False):
        last = last - g * (p / weights[-1])
    for client, g in zip(problem.clients, [*free, last], strict=True):
        client.add(Vector({}), g)


def find_shifts(model: Model, problem: UnequalClients, weights: Sequence[Fraction]) -> list[Direction]:
    """Directions along which vectors may grow without limit: linear terms <b_i, x> with sum_i p_i b_i = 0, where nothing limits them."""
    forms = [*(form for _, form in model.inequalities), *model.objectives]
    size, found = model.leaves.mean, list[Direction]()
    for i in range(problem.n - 1):
        rows, right = [], []
        for k, client in enumerate(problem.clients):
            moved = Fraction(1) if k == i else -weights[i] / weights[-1] if k == problem.n - 1 else Fraction(0)
            for e in client.evaluations:
                for v, value in ((e.x, Fraction(0)), (e.g, moved)):
                    rows.append([Fraction(v.terms.get(("mean", leaf), 0)) for leaf in range(size)])
                    right.append(value)
        shift = solve_exactly(rows, right)
        if shift is not None and all(_along(form, shift) == 0 for form in forms):
            found.append(("S", shift))
    return found


def _along(form: Form, v: Sequence[Fraction]) -> Fraction:
    return sum((Fraction(c) * v[i] * v[j] for (_, i, j), c in form.gram.items()), Fraction(0))
