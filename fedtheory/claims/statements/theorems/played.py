"""A trace on the numbers of an instance: the method's own rounds on fractions, with functions that answer from a table of evaluations.

An instance gives every leaf coordinates, for two clients where there are deviations. Functions with these values exist, since every pair of
evaluations satisfies the interpolation inequality of the class, which is checked in fractions for each client.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import State
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates, States, StateTrace, outcomes_of
from fedtheory.claims.statements.worlds import Concrete, ConcreteWorld, FunctionOf, array_of_vectors
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.proofs.crowds import MOST_CHOICES
from fedtheory.proofs.every_n.vectors import Form, Sampling, Vector
from fedtheory.proofs.parameters.refutations import Instance
from fedtheory.proofs.potentials.invariants import outcomes_of_round, vectors_of
from fedtheory.running.enumeration import enumerate_subsets

#: how far floats may be from a point of the table, relative to its size
ROUNDING = 1e-9

PlacedPoints = NDArray[Any]  # (n, d) of fractions or floats; a server's quantity has n = 1


class ConcreteSpace:
    """Products of the vectors of a few clients (`fedtheory.claims.statements.worlds.Concrete`)."""

    def dot(self, u: Concrete, v: Concrete) -> Any:
        """<u, v>, averaged over clients."""
        return u.dot(v)

    def mean(self, number: Any) -> Any:
        """It is averaged."""
        return number

    def bar(self, u: Concrete) -> Concrete:
        """The average over clients."""
        return u.averaged(None)

    def is_of_each(self, u: Concrete) -> bool:
        """Whether clients differ."""
        return any(row != u.clients[0] for row in u.clients)


@dataclass
class TableProblem:
    """Functions of n clients, known at the points of an instance: gradients, values, proximal steps; anything else is refused."""

    evaluations: Sequence[tuple[Concrete, Concrete, Any]]
    clients: Sequence[int]
    d: int
    name: str = "functions of an instance"

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.clients)

    def grad(self, x: PlacedPoints) -> PlacedPoints:
        """Gradients at points of the table."""
        return self._rows(x, lambda e, k: e[0].clients[k], 1)

    def prox(self, v: PlacedPoints, step: Any) -> PlacedPoints:
        """Proximal steps that the table has."""
        step = np.asarray(step).reshape(-1)[0]
        return self._rows(
            v, lambda e, k: tuple(a + step * b for a, b in zip(e[0].clients[k], e[1].clients[k], strict=True)), 0
        )

    def conjugate_grad(self, y: PlacedPoints) -> PlacedPoints:
        """Points with these gradients."""
        return self._rows(y, lambda e, k: e[1].clients[k], 0)

    def take(self, clients: Clients | None) -> TableProblem:
        """Restrict to the clients that take part."""
        return self if clients is None else replace(self, clients=[self.clients[k] for k in clients.index])

    def _rows(self, x: PlacedPoints, asked_at: Any, answer: int) -> PlacedPoints:
        found = np.empty((self.n, self.d), dtype=object)
        for k, (client, row) in enumerate(zip(self.clients, np.broadcast_to(x, (self.n, self.d)), strict=True)):
            known = _nearest([(asked_at(e, client), e) for e in self.evaluations], row)
            if known is None:
                raise InvalidInput("the method asks for a gradient at a point that the instance does not have")
            found[k] = known[answer].clients[client]
        return found


def _nearest(choices: Sequence[tuple[Any, Any]], row: Any) -> Any:
    """What belongs to a point: the very one in fractions, the nearest within rounding in floats; None where there is none."""
    if not choices:
        return None
    away = [max((abs(a - b) for a, b in zip(point, row, strict=True)), default=0) for point, _ in choices]
    k = min(range(len(away)), key=lambda j: away[j])
    size = max((abs(a) for a in choices[k][0]), default=0)
    allowed = ROUNDING * (1 + size) if isinstance(away[k], float) else 0
    return choices[k][1] if away[k] <= allowed else None


def _flat(point: Concrete) -> tuple[Any, ...]:
    return tuple(x for row in point.clients for x in row)


@dataclass(frozen=True)
class TableFunction:
    """f or f_i of an instance, as a quantity asks for it."""

    evaluations: Sequence[tuple[Concrete, Concrete, Any]]
    average: bool

    def at(self, x: Concrete) -> tuple[Concrete, Any]:
        """Gradient and mean value."""
        known = _nearest([(_flat(e[0]), e) for e in self.evaluations], _flat(x))
        if known is None:
            raise InvalidInput("a quantity asks for a value at a point that the instance does not have")
        return known[1].averaged(None) if self.average else known[1], known[2]

    def of_each(self, x: Concrete) -> bool:
        """Whether its values are one of each client."""
        return not self.average


Outcomes = list[list[tuple[Any, Mapping[str, Any]]]]  # of every round, with probabilities and what names stand for


def play_on_instance(
    states: States, trace: StateTrace, instance: Instance, last: int, *, start: bool
) -> tuple[Outcomes, ConcreteWorld]:
    """States on the numbers of an instance; ``trace`` is that of the same rounds on symbols, of which quantities were asked.

    Whether the instance meets the classes is what the world says afterwards (`ConcreteWorld.broken`), once quantities were asked here, too.
    """
    world = ConcreteWorld(instance)
    if isinstance(states, PlayedStates):
        made = states.start if start and states.start is not None else states.play
        played = made(world, SimpleNamespace(**instance.point), last)  # type: ignore[arg-type]
        return [
            [(chance, _names(world, state)) for chance, state in outcomes_of(of_round)] for of_round in played
        ], world
    if isinstance(states, MethodStates):
        return _play_method(states, trace, instance, world, last), world
    raise InvalidInput(f"states of the kind {type(states).__name__} are not played on instances")


def _names(world: ConcreteWorld, state: State) -> dict[str, Any]:
    found = {function.name: function for function in world.functions} | vars(state)
    return {name: _Answers(world, v) if isinstance(v, FunctionOf) else v for name, v in found.items()}


@dataclass(frozen=True)
class _Answers:
    """A function of a concrete world, as a quantity asks for it: in the order in which it was asked on symbols."""

    world: ConcreteWorld
    function: FunctionOf

    def at(self, x: Concrete) -> tuple[Concrete, Any]:
        """Gradient and mean value."""
        known = _nearest([(_flat(e[0]), e) for e in self.function.evaluations], _flat(x))
        return (known[1], known[2]) if known is not None else self.world.at(self.function, x, "a point of a quantity")

    def of_each(self, x: Concrete) -> bool:
        """Whether its values are one of each client."""
        return bool(self.function.client)


def _play_method(
    states: MethodStates, trace: StateTrace, instance: Instance, world: ConcreteWorld, last: int
) -> Outcomes:
    if states.sigma is not None:
        raise InvalidInput("noise is not rebuilt on instances")
    numbers = dict(instance.point)
    choices = list(choices_of_clients(states, numbers))
    place = _Places(instance, _who(states, numbers))
    system = trace.system(Form())
    world.take_all(len(system.mean), len(system.deviation), system.values)
    (function,) = system.functions
    table = [
        (place(e.x), place(e.g), sum(c * instance.values[t] for t, c in e.values().items()))
        for e in function.evaluations
    ]
    problem: Any = TableProblem(table, range(place.clients), place.d)
    algorithm = states.algorithm(numbers)
    first = dataclasses.replace(
        trace.first, **{name: array_of_vectors(place(v)) for name, v in vectors_of(trace.first).items()}
    )
    played: list[list[tuple[Any, Any]]] = [[(Fraction(1), first)]]
    for k in range(last):
        played.append(
            [
                (a * b * c, after)
                for a, before in played[-1]
                for b, clients in choices
                for c, after in outcomes_of_round(algorithm, problem, before, clients, trace.number + k)
            ]
        )
    given = {
        "x_star": Concrete(((Fraction(0),) * place.d,) * place.clients),
        "f": TableFunction(table, average=True),
        "f_i": TableFunction(table, average=False),
    }
    world.functions.append(FunctionOf("f", function.L, function.mu, True, list(table)))
    return [
        [(chance, {**concrete_fields(state, place.clients), **given}) for chance, state in of_round]
        for of_round in played
    ]


def choices_of_clients(states: MethodStates, point: Mapping[str, Any]) -> Sequence[tuple[Any, Any]]:
    """Who takes part in a round, with probabilities.

    Raises
    ------
    InvalidInput
        There are too many choices to go through, or no such clients can be drawn.
    """
    who = _who(states, point)
    if who is None:
        return ((1, None),)
    if math.comb(who.n, who.s) > MOST_CHOICES:
        raise InvalidInput(f"{who.s} of {who.n} clients are more choices than the {MOST_CHOICES} that are gone through")
    return enumerate_subsets(who.n, who.s)


def _who(states: MethodStates, point: Mapping[str, Any]) -> Sampling | None:
    """Who takes part, in whole numbers, as they are at points of a region and in floats."""
    who = states.who(point)
    if who is None:
        return None
    if who.n != int(who.n) or who.s != int(who.s):
        raise InvalidInput(f"{who.s} of {who.n} clients cannot be drawn; these numbers are whole")
    return Sampling(int(who.n), int(who.s))


class _Places:
    """Vectors of leaves as coordinates of two clients, or of one where nothing deviates; of an even number of drawn clients, half of them each."""

    def __init__(self, instance: Instance, who: Sampling | None) -> None:
        if who is not None and instance.deviation and who.n % 2:
            raise InvalidInput(f"instances with draws are made for even numbers of clients, and not for {who.n}")
        self.instance = instance
        self.widths = tuple(len(rows[0]) if rows else 0 for rows in (instance.mean, instance.deviation))
        pairs = 1 if who is None else who.n // 2
        self.signs = (1, -1) * pairs if instance.deviation else (1,) * (1 if who is None else who.n)
        self.clients, self.d = len(self.signs), max(sum(self.widths), 1)

    def __call__(self, v: Vector) -> Concrete:
        rows = []
        for sign in self.signs:
            row = [Fraction(0)] * self.d
            for (part, leaf), size in v.terms.items():
                leaves, first, side = (
                    (self.instance.mean, 0, 1) if part == "mean" else (self.instance.deviation, self.widths[0], sign)
                )
                for j, x in enumerate(leaves[leaf]):
                    row[first + j] += side * size * x
            rows.append(tuple(row))
        return Concrete(tuple(rows))


def concrete_fields(state: State, clients: int) -> dict[str, Concrete]:
    """The vectors of a state, for each client."""
    from fedtheory.core.states import arrays_of

    return {
        name: Concrete(tuple(tuple(row) for row in np.broadcast_to(value, (clients, value.shape[-1]))))
        for name, value in arrays_of(state).items()
        if value.dtype == object and value.ndim == 2
    }
