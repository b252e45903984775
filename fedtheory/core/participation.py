"""Which clients a round sees.

A schedule is any object with ``draw(n, key) -> Clients | None``; None means all clients. Work in a round grows
with the number of clients that take part, not with n.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.client_weights import weights_here
from fedtheory.core.errors import InvalidInput
from fedtheory.core.numbers import at_least_one
from fedtheory.core.randomness import Key


@dataclass(frozen=True, eq=False)
class Clients:
    """The clients of one round.

    Parameters
    ----------
    n : int
        Number of clients in all.
    index : integer array ``(*batch, m)``
        Which clients, without repetition.
    present : bool array ``(*batch, m)``, optional
        Rows of a batch may differ in how many clients take part: entries that are False only fill the row up.
    times : integer array ``(*batch, m)``, optional
        How often each was drawn, where that was with replacement; an average counts a client so many times. 0 where it only fills the row up.

    Examples
    --------
    >>> half = Clients(10, np.array([0, 3, 4, 7, 9]))
    >>> print(half.count(), problem.take(half).n)
    5 5
    """

    n: int
    index: NDArray[np.int64]
    present: NDArray[np.bool_] | None = None
    times: NDArray[np.int64] | None = None

    @cached_property
    def positions(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For every client its place in ``index`` (0 if absent), and whether it takes part."""
        shape = (*self.index.shape[:-1], self.n)
        place = np.zeros(shape, dtype=np.int64)
        taken = np.zeros(shape, dtype=bool)
        order = np.broadcast_to(np.arange(self.index.shape[-1]), self.index.shape)
        np.put_along_axis(place, self.index, order, axis=-1)
        np.put_along_axis(taken, self.index, True if self.present is None else self.present, axis=-1)
        return place, taken

    def count(self) -> NDArray[np.int64]:
        """How many clients take part, by row of the batch."""
        if self.present is None:
            return np.full(self.index.shape[:-1], self.index.shape[-1])
        return np.asarray(self.present.sum(axis=-1))


class Participation(Protocol):
    """A schedule of who takes part."""

    def draw(self, n: int, key: Key) -> Clients | None:
        """Return the clients of the round ``key.round``, or None for all n."""
        ...


@dataclass(frozen=True)
class All:
    """Every client, every round.

    Examples
    --------
    >>> print(All().draw(10, Key(0, 0)))  # None stands for all clients
    None
    """

    def draw(self, n: int, key: Key) -> None:
        """Return all clients."""
        return None


@dataclass(frozen=True)
class Uniform:
    """m of n clients, uniform without replacement, independent rounds.

    ``among``: only the first so many clients ever take part (incomplete participation; SAFARI, Section 5); all by default.

    Examples
    --------
    >>> print(Uniform(3).draw(10, Key(0, 0)).count())
    3
    """

    m: int
    among: int | None = None

    def draw(self, n: int, key: Key) -> Clients:
        """Return m clients out of n."""
        at_least_one("the number m of clients that take part", self.m)
        among = n if self.among is None else self.among
        at_least_one("among", among)
        if not among <= n:
            raise InvalidInput(
                f"clients are to be drawn among the first {among}, and there are n={n}; choose among <= n"
            )
        if self.m > among:
            raise InvalidInput(f"cannot draw m={self.m} of n={among} clients; choose 1 <= m <= n")
        return Clients(n, key.subset("participation", among, self.m))


@dataclass(frozen=True)
class Bernoulli:
    """Each client with probability q, independently; a round that nobody joins changes nothing.

    Examples
    --------
    >>> print(Bernoulli(0.5).draw(1000, Key(seed=0, round=0)).count() < 600)
    True
    """

    q: float

    def draw(self, n: int, key: Key) -> Clients:
        """Return the clients whose coin shows heads."""
        if not isinstance(self.q, numbers.Real) or not 0 < self.q <= 1:
            raise InvalidInput(f"participation probability q={self.q!r} is outside (0, 1]")
        heads = key.uniform("participation", (n,)) < self.q
        m = max(1, int(heads.sum(axis=-1).max()))
        index = np.argsort(~heads, axis=-1, kind="stable")[..., :m]
        return Clients(n, index, np.take_along_axis(heads, index, axis=-1))


@dataclass(frozen=True)
class ByWeight:
    """m draws with replacement, client i with its weight p_i in the problem; the average is the mean over the draws (`Clients.times`).

    E of the average is sum_i p_i x_i (Li et al. 2020, On the Convergence of FedAvg on Non-IID Data, Scheme I). Without weights every
    client is drawn with the probability 1/n. A client that is drawn twice works once, sends once, and counts twice.

    Examples
    --------
    >>> who = ByWeight(4).draw(2, Key(0, 0))
    >>> print(who.index, who.times)
    [0 1] [3 1]
    """

    m: int

    def draw(self, n: int, key: Key) -> Clients:
        """Return the clients that were drawn, and how often.

        Raises
        ------
        InvalidInput
            There are no draws, or the weights are those of another number of clients.
        """
        at_least_one("the number m of draws", self.m)
        weights = weights_here()
        shares = np.full(n, 1 / n) if weights is None else np.array([float(w) for w in weights])
        if len(shares) != n:
            raise InvalidInput(
                f"there are {len(shares)} weights, and n = {n} clients are drawn from; give one weight a client"
            )
        upper = np.cumsum(shares)
        drawn = np.searchsorted(upper[:-1], key.uniform("participation", (self.m,)), side="right")
        times = (drawn[..., None] == np.arange(n)).sum(axis=-2)
        most = int((times > 0).sum(axis=-1).max())
        index = np.argsort(times == 0, axis=-1, kind="stable")[..., :most]
        counts = np.take_along_axis(times, index, axis=-1)
        return Clients(n, index, None if (counts > 0).all() else counts > 0, counts)


@dataclass(frozen=True)
class Fixed:
    """The same subset for ever: the others never take part (incomplete participation).

    Examples
    --------
    >>> print(Fixed((0, 2)).draw(10, Key(0, 0)).index)
    [0 2]
    """

    subset: tuple[int, ...]

    def draw(self, n: int, key: Key) -> Clients:
        """Return the subset."""
        return _checked(n, self.subset)


@dataclass(frozen=True)
class Schedule:
    """Any schedule: a function of the round number that returns the clients' numbers.

    Examples
    --------
    >>> odd_and_even = Schedule(lambda round: range(round % 2, 10, 2))
    >>> print(odd_and_even.draw(10, Key(0, 1)).index)
    [1 3 5 7 9]
    """

    choose: Callable[[int], Sequence[int]]

    def draw(self, n: int, key: Key) -> Clients:
        """Return the clients prescribed for this round.

        Raises
        ------
        InvalidInput
            What chooses is no function, or it returned something else than distinct numbers of clients.
        """
        if not callable(self.choose):
            raise InvalidInput(
                f"a schedule is a function of the round, got {self.choose!r}; Fixed(subset) is the same every round"
            )
        return _checked(n, self.choose(key.round))


def choose_participation(
    participants: int | None, available: int | None = None, *, by_weight: bool = False
) -> Participation:
    """Return the participation of ``participants`` clients a round (all by default) of the first ``available`` (all by default).

    ``by_weight``: they are drawn by their weights, with replacement (`ByWeight`).

    Raises
    ------
    InvalidInput
        Clients are to be drawn by weight, and it is not said how many, or only some are ever available.
    """
    if by_weight:
        if participants is None or available is not None:
            raise InvalidInput(
                "clients that are drawn by weight need a number of draws (participants), and all must be available"
            )
        return ByWeight(participants)
    if participants is None:
        return All() if available is None else Fixed(tuple(range(available)))
    return Uniform(participants, available)


def require_participation(value: Any) -> None:
    """Refuse what is no schedule of who takes part.

    Raises
    ------
    InvalidInput
        It has no ``draw``; the message names the schedules that there are.
    """
    if isinstance(value, type):
        raise InvalidInput(f"participation is the class {value.__name__}; expected an instance, such as Uniform(3)")
    if not hasattr(value, "draw"):
        text = " ".join(repr(value).split())
        raise InvalidInput(
            f"participation is {text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__}); expected None or All() for all clients, "
            "Uniform(m) for m of them, Bernoulli(q) for each with probability q, ByWeight(m), Fixed(subset) or Schedule(function of the round)"
        )


def require_clients(drawn: Any, participation: Participation) -> None:
    """Refuse what a schedule of a user's own returned where that is no `Clients`."""
    if drawn is not None and not isinstance(drawn, Clients):
        raise InvalidInput(
            f"{type(participation).__name__}.draw returned a {type(drawn).__name__}; expected Clients(n, index), or None for all clients"
        )


def _checked(n: int, subset: Any) -> Clients:
    index = np.asarray([*subset] if isinstance(subset, Iterable) else subset)
    whole = index.ndim == 1 and index.dtype.kind in "iu" and index.size > 0
    if not whole or len(np.unique(index)) != index.size or index.min() < 0 or index.max() >= n:
        raise InvalidInput(f"clients {index.tolist()} are not distinct numbers from 0 to {n - 1}, at least one of them")
    return Clients(n, index.astype(np.int64))
