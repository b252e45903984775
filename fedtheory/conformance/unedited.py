"""What an implementation may do that no edit of a round shows: hidden variables that start elsewhere, clients that work one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithms.base import State
from fedtheory.conformance.trials import Values, make_start
from fedtheory.conformance.ways import Way
from fedtheory.core.arrays import Array, average, to_numpy
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.core.states import arrays_of

#: starts of variables that an implementation does not show, in words
_STARTS = ("zero", "x^0", "the clients' gradients at x^0", "minus the clients' gradients at x^0")


def find_starts(ways: Sequence[Way], hidden: Sequence[str]) -> list[str]:
    """Return the other starts of hidden variables with which a method goes all these ways, in words."""
    return [
        f"{name} starts at {how}"
        for name in hidden
        for how in _STARTS
        if all(_starts_at(way, name, how) for way in ways)
    ]


def _starts_at(way: Way, name: str, how: str) -> bool:
    problem, state = make_start(way.method, way.trial)
    own = to_numpy(arrays_of(state)[name])
    grad = problem.grad(way.trial.x0[None, :])
    there = {"zero": 0 * own, "x^0": way.trial.x0[None, :]} | dict(zip(_STARTS[2:], (grad, -grad), strict=True))
    value = there[how] if own.shape[-2] > 1 else np.mean(there[how], axis=-2, keepdims=True)
    if np.array_equal(np.broadcast_to(value, own.shape), own):
        return False
    first: Values = {**way.first, name: np.broadcast_to(value, own.shape).copy()}
    return dataclasses.replace(way, first=first).agrees(way.method)


@dataclass(frozen=True, eq=False)
class OneByOne:
    """A round that clients go through one after the other: these variables of the server move in between, the others are averaged."""

    method: Any
    moving: tuple[str, ...]

    def init(self, problem: Problem, x0: Array) -> State:
        """As the method."""
        return self.method.init(problem, x0)

    def round(self, problem: Problem, state: State, clients: Clients | None, key: Key) -> State:
        """One client after the other."""
        active = np.arange(problem.n) if clients is None else clients.index
        now, reached = state, []
        for i in active:
            after = self.method.round(problem, now, Clients(problem.n, np.array([i])), key)
            new = arrays_of(after)
            reached.append(new)
            held = {name: old for name, old in arrays_of(state).items() if self._is_held(name, old)}
            now = dataclasses.replace(after, **held)
        means = {
            name: average(np.concatenate([new[name] for new in reached], axis=-2))
            for name, old in arrays_of(state).items()
            if self._is_held(name, old)
        }
        return dataclasses.replace(now, **means)

    def _is_held(self, name: str, old: Array) -> bool:
        return old.shape[-2] == 1 and name not in self.moving


def find_orders(ways: Sequence[Way], methods: Sequence[Any]) -> list[str]:
    """Return the variables of the server that move in the loop over clients, where a method then goes all these ways, in words."""
    found = []
    for name in _list_server_variables(ways[0]):
        if all(way.agrees(OneByOne(method, (name,))) for way, method in zip(ways, methods, strict=True)):
            found.append(f"{name} moves after every client, so that the next one sees another")
    return found


def _list_server_variables(way: Way) -> Iterator[str]:
    _, state = make_start(way.method, way.trial)
    yield from (name for name, value in arrays_of(state).items() if value.shape[-2] == 1)
