"""Expectations by enumeration: every outcome that coins and uniform participation can have, with its probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.core.arrays import Array
from fedtheory.core.client_weights import playing
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey

Weight = Any  # a number, exact where the probabilities are
#: most choices of clients that are listed
MOST_SUBSETS = 1000


class EnumeratedKey:
    """A key whose coins have given outcomes, and are True after these; it records the probability of what it returned."""

    seed = 0

    def __init__(self, round: int, given: tuple[bool, ...]) -> None:
        self.round = round
        self.given = given
        self.heading = ""
        self.shown: list[bool] = []
        self.chances: list[Weight] = []

    @property
    def weight(self) -> Weight:
        """Probability of the outcomes that were shown."""
        return math.prod(self.chances)

    def apart(self, name: str) -> EnumeratedKey:
        """The same coins, told apart by their order, under another heading for draws that are not coins."""
        other = copy(self)
        other.heading = f"{self.heading}{name}/"
        return other

    def coin(self, purpose: str, probability: Any) -> bool:
        """Return the next outcome; a probability of exactly 0 or 1 is none."""
        if isinstance(probability, np.ndarray):
            probability = probability.reshape(-1)[0]
        if probability in (0, 1):
            return bool(probability)
        heads = self.given[len(self.shown)] if len(self.shown) < len(self.given) else True
        self.shown.append(heads)
        self.chances.append(probability if heads else 1 - probability)
        return heads

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise CannotTrace(f"this engine enumerates coins, and the round draws {name!r}, which it cannot enumerate")


def enumerate_outcomes(step: Callable[[Any], Any], round: int) -> list[tuple[Weight, Any]]:
    """All results of a step that tosses coins, with their probabilities."""
    found: list[tuple[Weight, Any]] = []
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        given = waiting.pop()
        key = EnumeratedKey(round, given)
        found.append((1, step(key)))
        found[-1] = (key.weight, found[-1][1])
        waiting += [(*key.shown[:k], False) for k in range(len(given), len(key.shown))]
    return found


def enumerate_subsets(n: int, s: int) -> list[tuple[Weight, Clients]]:
    """All choices of s of n clients, equally likely.

    Raises
    ------
    InvalidInput
        There are more than `MOST_SUBSETS`.
    """
    if math.comb(n, s) > MOST_SUBSETS:
        raise InvalidInput(
            f"{s} of {n} clients can be chosen in {math.comb(n, s):.3g} ways, and at most {MOST_SUBSETS} are gone through; take fewer clients"
        )
    subsets = list(combinations(range(n), s))
    return [(Fraction(1, len(subsets)), Clients(n, np.array(subset))) for subset in subsets]


def who_takes_part(participation: Any) -> tuple[tuple[Any, Any], ...]:
    """Every choice of s of n clients with its probability; one, all of them, for None and s = n."""
    if participation is None or participation.s == participation.n:
        return ((1, None),)
    return tuple(enumerate_subsets(participation.n, participation.s))


def enumerate_courses(
    algorithm: Algorithm,
    problem: Problem,
    start: Array,
    rounds: int,
    clients: Sequence[tuple[Weight, Any]] = ((1, None),),
    coins: Mapping[int, Mapping[str, bool]] | None = None,
) -> list[tuple[Weight, list[State]]]:
    """Every possible course of a run: its probability, and the states from the start on.

    Parameters
    ----------
    clients : sequence of (probability, clients)
        Who may take part in a round.
    coins : mapping of round to outcomes, optional
        Prescribed coins; None enumerates them.
    """
    found: list[tuple[Weight, list[State]]] = [(1, [algorithm.init(problem, start)])]
    for r in range(rounds):
        longer: list[tuple[Weight, list[State]]] = []
        for weight, states in found:
            for share, who in clients:

                def step(key: Any, state: State = states[-1], who: Any = who) -> State:
                    with playing(who):
                        return algorithm.round(problem, state, who, key)

                if coins is None:
                    results = enumerate_outcomes(step, r)
                else:
                    scripted: Any = ScriptedKey(r, coins.get(r, {}))
                    results = [(1, step(scripted))]
                longer += [(weight * share * chance, [*states, new]) for chance, new in results]
        found = longer
    return found
