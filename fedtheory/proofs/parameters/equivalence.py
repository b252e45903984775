"""Two methods side by side, for every number of clients, every dimension, any functions and all parameters at once.

Both play on the same unknown functions (`fedtheory.proofs.every_n.oracles.SymmetricProblem`: what is asked for twice is answered by the same
vector), with rational functions of the parameters for their numbers. A correspondence says what fields of the second method's state are in
terms of the first's. It holds in every round if it holds at a start, and if one round keeps it from every pair of states on which it holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.core.arrays import average
from fedtheory.core.errors import InvalidInput
from fedtheory.core.states import arrays_of
from fedtheory.proofs.every_n.cells import cell, entry
from fedtheory.proofs.every_n.oracles import Leaves, SymmetricProblem
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.facts import write_fact
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.spectrum import require_traceable
from fedtheory.proofs.stand_ins import ANY_CLIENTS, AnyRound

MEAN = "mean_"  #: before the name of a field: its average over clients


@dataclass(frozen=True, eq=False)
class Correspondence:
    """What two states have to do with each other, as expressions in fields by name, ``mean_`` of them, and parameters.

    Parameters
    ----------
    pairs : expressions in the second state's fields, each with the one in the first's fields that it equals
    kept : fields of the first state that others, or those before them, give in every state, such as clients' copies of the server's model
        Where a field stands in its own expression, that is a projection: ``{"h_i": "h_i - mean_h_i"}`` says that the h_i average to zero.
    """

    pairs: tuple[tuple[Expression, Expression], ...]
    kept: Mapping[str, Expression] = field(default_factory=dict)

    def sides(self, first: State, second: State, parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """Each relation in words, with the arrays on its two sides: those between the states, then those that the first keeps."""
        a, b = ({**parameters, **read_fields(state)} for state in (first, second))
        for left, right in self.pairs:
            yield f"{left} = {right}", left.at(b), right.at(a)
        for name, given in self.kept.items():
            yield f"{name} = {given} in the first", a[name], given.at(a)

    def maps_all(self, state: State) -> bool:
        """Whether it gives every array of the second method's state."""
        return {*arrays_of(state)} <= {left.value for left, _ in self.pairs if left.kind == "name"}

    def second_state(self, first: State, template: State, parameters: Mapping[str, Any]) -> State:
        """The second method's state that corresponds to one of the first."""
        values = {**parameters, **read_fields(first)}
        names = {*arrays_of(template)}
        return dataclasses.replace(
            template, **{str(left.value): right.at(values) for left, right in self.pairs if left.value in names}
        )


def read_fields(state: State) -> dict[str, Any]:
    """The arrays of a state, and their averages over clients, by name."""
    arrays = arrays_of(state)
    return arrays | {MEAN + name: average(values) for name, values in arrays.items()}


class CoinsByPurpose:
    """A key whose coins are given by purpose, so that two methods see the same; others are True, and noted."""

    seed = 0

    def __init__(self, round: Any, given: Mapping[str, bool]) -> None:
        self.round = round
        self.shown = dict(given)

    def apart(self, name: str) -> CoinsByPurpose:
        """The same key."""
        return self

    def coin(self, purpose: str, probability: Any) -> bool:
        """The given outcome; a probability of exactly 0 or 1 is none."""
        if probability in (0, 1):
            return bool(probability)
        return self.shown.setdefault(purpose, True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InvalidInput(f"the methods toss coins that can be prescribed, and one of them draws {name!r}")


def for_all_coins(play: Callable[[Any], Any], round: Any) -> Iterator[tuple[dict[str, bool], Any]]:
    """What ``play(key)`` returns for every outcome of the coins of a round, with the outcome."""
    waiting: list[dict[str, bool]] = [{}]
    while waiting:
        given = waiting.pop()
        key = CoinsByPurpose(round, given)
        yield key.shown, play(key)
        known = dict(given)
        for purpose in key.shown.keys() - given.keys():
            waiting.append({**known, purpose: False})
            known[purpose] = True


def agree_at_start(
    first: Algorithm,
    second: Algorithm,
    relations: Correspondence,
    parameters: Mapping[str, Any],
    rounds: int,
    n: Any = ANY_CLIENTS,
) -> bool:
    """Whether the states correspond after so many rounds from their own start at one point, in all courses of the coins; of n clients."""
    return all(
        _same(relations, a, b, parameters, f"after {rounds} rounds from the start{_told(coins)}")
        for coins, a, b in _courses(first, second, rounds, n)
    )


def agree_in_every_round(
    first: Algorithm,
    second: Algorithm,
    relations: Correspondence,
    parameters: Mapping[str, Any],
    common: frozenset[str],
    rounds: int,
    n: Any = ANY_CLIENTS,
) -> bool:
    """Whether the states correspond in every round from ``rounds`` on.

    Parameters
    ----------
    relations : of which the pairs give every field of the second method's state
    common : fields of the first method's state that are the server's
    n : the number of clients, or what stands for many

    Returns
    -------
    True is a proof; False says only that the fields came out as different combinations of gradients that may coincide.
    """
    if not agree_at_start(first, second, relations, parameters, rounds, n):
        return False
    _, a, b = next(iter(_courses(first, second, rounds, n)))

    def play(key: Any) -> tuple[State, State]:
        leaves = Leaves()
        problem: Any = SymmetricProblem(leaves, 0, one_solution=True, n=n)
        free = {
            name: cell(leaves.vector(common=name in common), 1 if name in common else problem.n)
            for name in arrays_of(a)
            if name not in relations.kept or relations.kept[name].names & {name, MEAN + name}
        }
        one = dataclasses.replace(a, **free)
        for name, given in relations.kept.items():
            one = dataclasses.replace(one, **{name: given.at({**parameters, **read_fields(one)})})
        other = relations.second_state(one, b, parameters)
        if not _same(relations, one, other, parameters, "in the states that correspond"):
            raise InvalidInput(
                "what the first method's state keeps does not hold where it is put in; state each relation as a projection"
            )
        return first.round(problem, one, None, key), second.round(problem, other, None, key)

    return all(
        _same(
            relations,
            states[0],
            states[1],
            parameters,
            f"after a round from any states that correspond{_told([coins])}",
        )
        for coins, states in for_all_coins(play, AnyRound())
    )


def _courses(
    first: Algorithm, second: Algorithm, rounds: int, n: Any
) -> Iterator[tuple[list[dict[str, bool]], State, State]]:
    """Both methods' states after so many rounds from one point, for every course of the coins; each on functions of its own.

    Raises
    ------
    CannotTrace
        One of them decides on values or coordinates.
    """
    for method in (first, second):
        require_traceable(method, "symbolic")
    waiting: list[list[dict[str, bool]]] = [[]]
    while waiting:
        course = waiting.pop()
        leaves = Leaves()
        problem: Any = SymmetricProblem(leaves, 0, one_solution=True, n=n)
        x0 = cell(leaves.vector(common=True))
        a, b = first.init(problem, x0), second.init(problem, x0)
        shown: list[dict[str, bool]] = []
        for r in range(rounds):
            given = course[r] if r < len(course) else {}
            key: Any = CoinsByPurpose(r, given)
            a, b = first.round(problem, a, None, key), second.round(problem, b, None, key)
            known = dict(given)
            for purpose in key.shown.keys() - given.keys():
                waiting.append([*shown, {**known, purpose: False}])
                known[purpose] = True
            shown.append(dict(key.shown))
        yield shown, a, b


def _same(relations: Correspondence, first: State, second: State, parameters: Mapping[str, Any], when: str) -> bool:
    """Whether every relation holds as one between vectors; each that does is a fact."""
    for words, left, right in relations.sides(first, second, parameters):
        u, v = (entry(side) if hasattr(side, "shape") else side for side in (left, right))
        difference = u - v
        if not isinstance(difference, Vector) or difference.terms:
            return False
        write_fact("identity", f"{words}, {when}: both are one combination of {len(u.terms)} vectors")
    return True


def _told(coins: list[dict[str, bool]]) -> str:
    tossed = [", ".join(f"{name}: {value}" for name, value in sorted(given.items())) for given in coins if given]
    return f" with coins {'; '.join(tossed)}" if tossed else ""
