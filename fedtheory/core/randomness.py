"""Counter-based randomness, addressed by (seed, round, purpose).

A draw depends on its address alone: runs resume at any round, are the same on every array library (numbers are
drawn on the host), and two algorithms that ask for the same purpose see the same numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput
from fedtheory.core.numbers import is_exactly
from fedtheory.core.philox import COUNTER_WORDS, as_uniform, draw_ahead, draw_words, subsets

_FEW_STREAMS = (
    8  # up to so many, and for stretches of more counters than this, NumPy draws from one stream after the other
)
_LONG = 256
_AHEAD, _MANY_STREAMS = 16, 2**11  # rounds of few numbers that are drawn at once, unless the streams are many
_LARGE_SET = 10_000  # NumPy's choice from more shuffles, where it is of more than a twentieth


@lru_cache(maxsize=256)
def _word(purpose: str) -> int:
    return int.from_bytes(hashlib.blake2b(purpose.encode(), digest_size=8).digest(), "little")


@lru_cache(maxsize=16)
def _draw_block(seeds: bytes, word: int, block: int) -> NDArray[np.uint64]:
    """The words of a block of rounds: a coin is tossed in each, and asked for again to count what was sent."""
    found = draw_ahead(np.frombuffer(seeds, dtype=np.uint64), word, block * _AHEAD, _AHEAD)
    found.flags.writeable = False
    return found


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
        if seeds.size == 1:
            return self._stream(seeds.item(), purpose).random((*seeds.shape, *shape))
        return self._draw(purpose, seeds.ravel(), 0, math.prod(shape)).reshape(seeds.shape + shape)

    def client_uniform(
        self, purpose: str, n: int, width: int, index: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Uniform numbers of shape ``(*batch, m, width)``, a stretch of the stream for each client.

        A client's numbers do not depend on who else is asked for. ``index`` ``(*batch, m)`` names the clients (None:
        all n); for few of many clients only their stretches are drawn.
        """
        blocks = -(-width // COUNTER_WORDS)
        if index is None or (8 * index.shape[-1] >= n and np.size(self.seed) <= _FEW_STREAMS):
            lots = self.uniform(purpose, (n, blocks * COUNTER_WORDS))[..., :width]
            if index is None:
                return lots
            batch = np.broadcast_shapes(lots.shape[:-2], index.shape[:-1])
            lots = np.broadcast_to(lots, (*batch, *lots.shape[-2:]))
            index = np.broadcast_to(index, (*batch, index.shape[-1]))
            return np.take_along_axis(lots, index[..., None], axis=-2)
        seeds = np.asarray(self.seed)
        batch = np.broadcast_shapes(seeds.shape, index.shape[:-1])
        shape = (*batch, index.shape[-1])
        rows, positions = np.broadcast_to(seeds[..., None], shape), np.broadcast_to(index * blocks, shape)
        return self._draw(purpose, rows.ravel(), positions.ravel(), width).reshape(*shape, width)

    def subset(self, purpose: str, n: int, m: int) -> NDArray[np.int64]:
        """Draw m of {0, ..., n - 1}, uniform without replacement, in rising order: ``(*seed.shape, m)``."""
        seeds = np.asarray(self.seed)
        if seeds.size <= _FEW_STREAMS or n >= 2**32 or (n > _LARGE_SET and 20 * m > n):
            found, wanting = np.empty((seeds.size, m), dtype=np.int64), np.arange(seeds.size)
        else:
            words = self._words(purpose, seeds.ravel(), 0, -(-m // (2 * COUNTER_WORDS)))
            found, rejected = subsets(words, n, m)
            wanting = np.nonzero(rejected)[0]
        for k in wanting:
            found[k] = np.sort(self._stream(seeds.flat[k], purpose).choice(n, m, replace=False, shuffle=False))
        return found.reshape(*seeds.shape, m)

    def generator(self, purpose: str) -> np.random.Generator:
        """Return a generator at this address, for other kinds of draws; of a single seed only."""
        if np.ndim(self.seed) != 0:
            raise InvalidInput(f"a generator has one seed, got an array of shape {np.shape(self.seed)}")
        return self._stream(self.seed, purpose)

    def _draw(self, purpose: str, seeds: NDArray[Any], positions: Any, width: int) -> NDArray[np.float64]:
        """Uniform numbers ``(streams, width)``; the stream of a seed begins at its position."""
        counters = -(-width // COUNTER_WORDS)
        if len(seeds) > _FEW_STREAMS and counters <= _LONG:
            words = self._words(purpose, seeds, positions, counters)
            return as_uniform(words.reshape(len(seeds), -1)[:, :width])
        found, word = np.empty((len(seeds), width)), _word(self.heading + purpose)
        bits = np.random.Philox(key=np.zeros(2, dtype=np.uint64))
        generator = np.random.Generator(bits)
        state: Any = bits.state
        for row, seed, at in zip(found, seeds, np.broadcast_to(positions, len(seeds)), strict=True):
            state["state"] = self._address(seed, word, at)
            bits.state = state  # a third of the cost of another stream
            generator.random(out=row)
        return found

    def _words(self, purpose: str, seeds: NDArray[Any], positions: Any, counters: int) -> NDArray[np.uint64]:
        keys, word = seeds.astype(np.uint64), _word(self.heading + purpose)
        if counters == 1 and len(keys) <= _MANY_STREAMS and np.ndim(positions) == 0 and positions == 0:
            block, k = divmod(self.round, _AHEAD)
            found: NDArray[np.uint64] = _draw_block(keys.tobytes(), word, block)[k]
            return found
        places = np.broadcast_to(np.asarray(positions, dtype=np.uint64), len(keys))
        return draw_words(keys, word, places, self.round, counters)

    def _stream(self, seed: Any, purpose: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(**self._address(seed, _word(self.heading + purpose))))

    def _address(self, seed: Any, word: int, position: Any = 0) -> dict[str, NDArray[np.uint64]]:
        """Key and counter of Philox."""
        return {
            "key": np.array([int(seed), word], dtype=np.uint64),
            "counter": np.array([int(position), 0, 0, self.round], dtype=np.uint64),
        }

    def coin(self, purpose: str, probability: Any) -> Any:
        """Return one coin a run, heads with the probability given.

        A probability of exactly 0 or 1 (a plain number) gives a plain bool and draws nothing; otherwise a bool
        array of shape ``(*batch, 1, 1)`` that broadcasts against clients and coordinates.
        """
        if is_exactly(probability, 0) or is_exactly(probability, 1):
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
        if is_exactly(probability, 0) or is_exactly(probability, 1):
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
