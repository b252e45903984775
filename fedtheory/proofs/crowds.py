"""Clients that are alike in kinds, so that an expectation over who takes part is an exact number where there are too many choices to go through.

s of n clients can be chosen in C(n, s) ways. Where clients come in few kinds, and those of one kind have the same function and the same state, a
round from which everybody starts alike ends in the same model whichever clients of a kind take part. All choices with s_k clients of kind k are one,
of probability prod_k C(n_k, s_k) / C(n, s): what comes out is the expectation itself, for these functions, and no estimate of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import Clients
from fedtheory.running.enumeration import who_takes_part
from fedtheory.running.falsifier import Candidates

#: most choices of who takes part that are gone through, and most clients
MOST_CHOICES, MOST_CLIENTS = 300, 100_000


@dataclass(frozen=True, eq=False)
class Crowd:
    """Clients in kinds, one kind after the other, and every choice of who takes part, up to an exchange of clients of one kind.

    Parameters
    ----------
    kinds : how many clients there are of each kind
    choices : probabilities, and who takes part (None: all)

    Examples
    --------
    >>> few = Crowd.of(5, None)
    >>> print(few.kinds, few.choices)
    (1, 1, 1, 1, 1) ((1, None),)
    """

    kinds: tuple[int, ...]
    choices: tuple[tuple[Any, Clients | None], ...]

    @classmethod
    def of(cls, n: int, who: Any, rounds: int = 1) -> Crowd:
        """With as many kinds as can be gone through: each client its own where that is possible.

        Parameters
        ----------
        who : s of n clients, or None for all

        Raises
        ------
        InvalidInput
            There are too many clients, or too many choices in several rounds, after which those of a kind that took part and the others differ.
        """
        if n > MOST_CLIENTS:
            raise InvalidInput(f"{n} clients are more than the {MOST_CLIENTS} that runs have")
        if who is None or who.s == n:
            return cls((1,) * n, ((1, None),))
        if math.comb(n, who.s) ** rounds <= MOST_CHOICES:
            return cls((1,) * n, who_takes_part(who))
        if rounds > 1:
            raise InvalidInput(
                f"{who.s} of {n} clients in each of {rounds} rounds are more than {MOST_CHOICES} courses"
            )
        kinds: tuple[int, ...] = (1, n - 1)
        for count in range(2, n):
            more = tuple(n // count + (k < n % count) for k in range(count))
            if len([*islice(_compositions(more, who.s), MOST_CHOICES + 1)]) > MOST_CHOICES:
                break
            kinds = more
        return cls(kinds, tuple(choices_of(kinds, who.s)))

    @property
    def n(self) -> int:
        """Number of clients."""
        return sum(self.kinds)

    def of_all(self, drawn: Candidates, names: Sequence[str]) -> Candidates:
        """Arrays ``(count, clients, d)`` from those with a row for each kind; one row stands for all clients."""
        rows = {name: drawn[name] for name in names if drawn[name].shape[-2] == len(self.kinds)}
        return drawn | {name: np.repeat(values, self.kinds, axis=-2) for name, values in rows.items()}


def _compositions(kinds: Sequence[int], s: int) -> Iterator[tuple[int, ...]]:
    """How many of each kind s clients can be."""
    if not kinds:
        yield ()
        return
    others = sum(kinds[1:])
    for first in range(max(0, s - others), min(s, kinds[0]) + 1):
        for rest in _compositions(kinds[1:], s - first):
            yield (first, *rest)


def choices_of(kinds: Sequence[int], s: int) -> Iterator[tuple[Fraction, Clients]]:
    """A choice for each composition: the first clients of every kind."""
    n, begins = sum(kinds), np.cumsum([0, *kinds[:-1]])
    for chosen in _compositions(kinds, s):
        ways = math.prod(math.comb(size, count) for size, count in zip(kinds, chosen, strict=True))
        index = np.concatenate([np.arange(at, at + count) for at, count in zip(begins, chosen, strict=True)])
        yield Fraction(ways, math.comb(n, s)), Clients(n, index)
