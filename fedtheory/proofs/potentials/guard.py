"""Rates of potentials held against rounds from random states, on random functions of the class (`fedtheory.proofs.guard`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.exact import in_floats, rational
from fedtheory.core.problem import objective
from fedtheory.core.states import arrays_of
from fedtheory.proofs.crowds import Crowd
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.guard import CANNOT_RUN, RUNS, Runs, require_within, runs_on
from fedtheory.proofs.members import COORDINATES, OF_CLIENTS, draw_members, members_of
from fedtheory.proofs.potentials.invariants import KINDS, ErrorModel, follow_errors
from fedtheory.running.enumeration import enumerate_outcomes
from fedtheory.running.falsifier import Candidates

PotentialOf = Callable[[Any, Any, Any], Any]  # of functions, the state at x*, and a state


@dataclass(frozen=True, eq=False)
class DecreaseQuestion:
    """E V(after) / V(before) of one round, V = sum of ``weights[field]`` * mean_i ||error of the field||^2, and of f(x) - f* for "gap"."""

    algorithm: Algorithm
    function_class: FunctionClass
    weights: Mapping[str, Fraction]
    participation: Any = None

    def runs(self, claimed: float, budget: int = 5 * RUNS, seed: int = 0) -> Runs:
        """The largest measured / claimed of a search over functions, states and numbers of clients, or why there are no such runs."""
        try:
            question = _DecreaseOnRuns.of(self)
        except CANNOT_RUN as error:
            return Runs.none(error)
        return runs_on(question, self.participation, claimed, budget, seed)


def require_decrease(model: ErrorModel, potential: PotentialOf, rate: Any) -> Runs:
    """Hold the rate of a potential against a few rounds from random states, which are returned.

    Raises
    ------
    EnginesDisagree
        In one of them it falls by less.
    """
    found = runs_on(_DecreaseOnRuns(model, potential), model.participation, float(rate), 5 * RUNS, 0)
    return require_within(found, rate)


class _DecreaseOnRuns:
    """E V(after) / V(before) of a round from random states on which the relations between fields hold."""

    unit, rounds = 1.0, 1

    def __init__(self, model: ErrorModel, potential: PotentialOf) -> None:
        self.model, self.potential = model, potential
        self.algorithm, self.function_class = in_floats(model.algorithm), in_floats(model.function_class)

    @classmethod
    def of(cls, asked: DecreaseQuestion) -> _DecreaseOnRuns:
        """Of a stated potential."""
        model = follow_errors(rational(asked.algorithm), rational(asked.function_class), asked.participation)

        def potential(functions: Any, star: Any, state: Any) -> Any:
            total: Any = 0.0
            for name, weight in asked.weights.items():
                if name == "gap":
                    term = objective(functions, state.x) - objective(functions, star.x)
                else:
                    error = getattr(state, name) - getattr(star, name)
                    term = (error**2).sum(axis=-1).mean(axis=-1)
                total = total + float(weight) * term
            return total

        return cls(model, potential)

    def draw(self, rng: np.random.Generator, count: int, kinds: int) -> Candidates:
        """Random functions, and the free parts of random errors."""
        found = draw_members(self.function_class, rng, count, kinds)
        for kind in KINDS:
            for name in self.model.space.free[kind]:
                shape = (count, 1 if kind == "mean" else kinds, COORDINATES)
                size = np.exp(rng.standard_normal((count, 1, 1))) * float(self.model.units[name])
                found[f"{kind} {name}"] = size * rng.standard_normal(shape)
        return found

    def measured(self, candidates: Candidates, crowd: Crowd) -> NDArray[np.float64]:
        """The ratio on every candidate; -inf where V vanishes at the start."""
        apart = [name for name in candidates if name.startswith("deviation ")]
        candidates = crowd.of_all(candidates, (*OF_CLIENTS, *apart))
        functions = members_of(self.function_class, candidates, 1.0)
        star = self.algorithm.solution_state(functions, np.zeros((len(candidates["inside"]), 1, COORDINATES)))
        at = arrays_of(star)
        errors = _errors(self.model, candidates, {name: values.shape[-2] for name, values in at.items()})
        begin = dataclasses.replace(star, **{name: at[name] + error for name, error in errors.items()})
        before, after = np.asarray(self.potential(functions, star, begin)), 0.0
        for share, clients in crowd.choices:

            def step(key: Any, clients: Any = clients) -> Any:
                return self.algorithm.round(functions, begin, clients, key)

            for chance, state in enumerate_outcomes(step, 0):
                after = after + float(share * chance) * self.potential(functions, star, state)
        return np.where(before > 0, after / np.where(before > 0, before, 1), -np.inf)


def _errors(
    model: ErrorModel, drawn: Mapping[str, NDArray[np.float64]], rows: Mapping[str, int]
) -> dict[str, NDArray[np.float64]]:
    """The errors of all fields, from their free parts: means ``(count, 1, d)``, and ``(count, n, d)`` less their means."""
    found = {}
    for name in model.space.fields:
        total: Any = 0.0
        for kind in KINDS if rows[name] > 1 else KINDS[:1]:
            for free, weight in zip(model.space.free[kind], model.space.basis[kind][name], strict=True):
                part = drawn[f"{kind} {free}"]
                total = total + float(weight) * (part if kind == "mean" else part - part.mean(axis=-2, keepdims=True))
        found[name] = total
    return found
