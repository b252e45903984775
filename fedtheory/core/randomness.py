"""Counter-based randomness, addressed by (seed, round, purpose).

A draw depends on its address alone: runs resume at any round, are the same on every array library (numbers are
drawn on the host), and two algorithms that ask for the same purpose see the same numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput

_PHILOX_WORDS = 4  # numbers that one value of the counter gives


def _word(purpose: str) -> int:
    return int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True, eq=False)
class Key:
    """The address of the draws of one round.

    Parameters
    ----------
    seed : int or integer array
        One seed, or one a run of the batch: its axes are the leading axes of every draw, and row k draws exactly
        what a single run with ``seed[k]`` draws.
    round : int
        Number of the round, from 0.
    heading : str
        Sets the draws of one part of a round apart from another's; see `apart`.

    Examples
    --------
    >>> print(Key(seed=0, round=3).subset("clients", n=10, m=4).shape)
    (4,)
    >>> same = Key(0, 3).uniform("coin") == Key(0, 3).uniform("coin")
    >>> print(same)  # an address gives the same draws whenever it is asked
    True
    """

    seed: Any
    round: int
    heading: str = ""

    def apart(self, name: str) -> Key:
        """The same round under another heading: what is drawn there is independent of what is drawn here."""
        return replace(self, heading=f"{self.heading}{name}/")

    def uniform(self, purpose: str, shape: tuple[int, ...] = ()) -> NDArray[np.float64]:
        """Uniform numbers on [0, 1) of shape ``(*seed.shape, *shape)``."""
        seeds = np.asarray(self.seed)
        draws = [self._stream(seed, purpose).random(shape) for seed in seeds.ravel()]
        return np.asarray(draws).reshape(seeds.shape + shape)

    def client_uniform(
        self, purpose: str, n: int, width: int, index: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Uniform numbers of shape ``(*batch, m, width)``, a stretch of the stream for each client.

        A client's numbers do not depend on who else is asked for. ``index`` ``(*batch, m)`` names the clients (None:
        all n); for few of many clients only their stretches are drawn.
        """
        blocks = -(-width // _PHILOX_WORDS)
        if index is None or 8 * index.shape[-1] >= n:
            lots = self.uniform(purpose, (n, blocks * _PHILOX_WORDS))[..., :width]
            if index is None:
                return lots
            batch = np.broadcast_shapes(lots.shape[:-2], index.shape[:-1])
            lots = np.broadcast_to(lots, (*batch, *lots.shape[-2:]))
            index = np.broadcast_to(index, (*batch, index.shape[-1]))
            return np.take_along_axis(lots, index[..., None], axis=-2)
        seeds = np.asarray(self.seed)
        batch = np.broadcast_shapes(seeds.shape, index.shape[:-1])
        rows = np.broadcast_to(index, (*batch, index.shape[-1])).reshape(-1, index.shape[-1])
        draws = [
            [self._stream(seed, purpose, int(client) * blocks).random(width) for client in row]
            for seed, row in zip(np.broadcast_to(seeds, batch).ravel(), rows, strict=True)
        ]
        return np.asarray(draws).reshape(*batch, index.shape[-1], width)

    def subset(self, purpose: str, n: int, m: int) -> NDArray[np.int64]:
        """Draw m of {0, ..., n - 1}, uniform without replacement, in rising order: ``(*seed.shape, m)``."""
        seeds = np.asarray(self.seed)
        draws = [self._stream(seed, purpose).choice(n, m, replace=False, shuffle=False) for seed in seeds.ravel()]
        return np.sort(np.asarray(draws, dtype=np.int64).reshape(*seeds.shape, m), axis=-1)

    def generator(self, purpose: str) -> np.random.Generator:
        """Return a generator at this address, for other kinds of draws; of a single seed only."""
        if np.ndim(self.seed) != 0:
            raise InvalidInput(f"a generator has one seed, got an array of shape {np.shape(self.seed)}")
        return self._stream(self.seed, purpose)

    def _stream(self, seed: Any, purpose: str, position: int = 0) -> np.random.Generator:
        return np.random.Generator(
            np.random.Philox(
                key=np.array([int(seed), _word(self.heading + purpose)], dtype=np.uint64),
                counter=np.array([position, 0, 0, self.round], dtype=np.uint64),
            )
        )

    def coin(self, purpose: str, probability: Any) -> Any:
        """Return one coin a run, heads with the probability given.

        A probability of exactly 0 or 1 (a Python number) gives a plain bool and draws nothing; otherwise a bool
        array of shape ``(*batch, 1, 1)`` that broadcasts against clients and coordinates.
        """
        if isinstance(probability, int | float) and probability in (0, 1):
            return bool(probability)
        return self.uniform(purpose, (1, 1)) < np.asarray(probability)


@dataclass(frozen=True)
class ScriptedKey:
    """A key whose coins are prescribed: for engines that enumerate outcomes instead of drawing them.

    Parameters
    ----------
    round : int
        Number of the round, from 0.
    coins : mapping of purpose to bool

    Examples
    --------
    >>> print(ScriptedKey(0, {"communicate": True}).coin("communicate", 0.1))
    True
    """

    round: int
    coins: Mapping[str, bool] = field(default_factory=dict)
    seed: int = 0

    def apart(self, name: str) -> ScriptedKey:
        """The same key: outcomes are prescribed by purpose alone."""
        return self

    def coin(self, purpose: str, probability: Any) -> Any:
        """Return the prescribed coin."""
        if isinstance(probability, int | float) and probability in (0, 1):
            return bool(probability)
        try:
            return self.coins[purpose]
        except KeyError:
            raise InvalidInput(
                f"this analysis goes through coin outcomes that it is given, and no outcome is prescribed for {purpose!r}; "
                f"pass coins={{{purpose!r}: True or False}}"
            ) from None

    def __getattr__(self, name: str) -> Any:
        """Refuse draws: an engine without numbers has none."""
        if name in {"uniform", "client_uniform", "subset"}:
            raise InvalidInput(
                "this analysis does not draw at random, but the algorithm or its participation asked for it; use full gradients and a "
                "participation that is not random"
            )
        raise AttributeError(name)
