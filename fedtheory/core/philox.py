"""Philox4x64-10 (Salmon, Moraes, Dror and Shaw 2011) on arrays of keys and counters: the words that NumPy's `Philox` gives, for many streams at once.

NumPy draws from one stream at a time, and making a stream costs more than the few numbers that a run of a batch wants from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COUNTER_WORDS = 4  #: numbers that one value of the counter gives

Words = NDArray[np.uint64]

_LANES = 2**13  # counters worked on together: what an operation reads and writes stays in cache
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS = 10


def draw_words(seed: Words, purpose: int, position: Words, round: int, counters: int) -> Words:
    """Words ``(streams, counters, 4)`` of the streams with keys (seed, purpose) from the counters (position, 0, 0, round) on.

    NumPy raises the counter before it draws, so the first words are those of position + 1.

    Parameters
    ----------
    seed, position : ``(streams,)``
    """
    found = np.empty((len(seed) * counters, COUNTER_WORDS), dtype=np.uint64)
    steps = np.arange(1, counters + 1, dtype=np.uint64)
    block = max(1, _LANES // counters)
    for first in range(0, len(seed), block):
        part = slice(first, first + block)
        place = (position[part, None] + steps).ravel()
        keys = np.repeat(seed[part], counters)
        found[first * counters : first * counters + len(keys)] = _philox(
            place, np.full_like(place, round), keys, purpose
        )
    return found.reshape(len(seed), counters, COUNTER_WORDS)


def draw_ahead(seed: Words, purpose: int, round: int, rounds: int) -> Words:
    """The first words ``(rounds, streams, 1, 4)`` of `draw_words` from position 0, for so many rounds: a round of few streams costs as much alone."""
    at = np.repeat(np.arange(round, round + rounds, dtype=np.uint64), len(seed))
    found = _philox(np.ones_like(at), at, np.tile(seed, rounds), purpose)
    return found.reshape(rounds, len(seed), 1, COUNTER_WORDS)


def _philox(place: Words, round: Words, seed: Words, purpose: int) -> Words:
    a, b, c, d = place, np.zeros_like(place), np.zeros_like(place), round
    for k in range(_ROUNDS):
        high_a, low_a = _multiply(_MULTIPLIERS[0], a)
        high_c, low_c = _multiply(_MULTIPLIERS[1], c)
        high_c ^= b
        high_c ^= seed + np.uint64(k * _WEYL[0] % 2**64)
        high_a ^= d
        high_a ^= np.uint64((purpose + k * _WEYL[1]) % 2**64)
        a, b, c, d = high_c, low_c, high_a, low_a
    return np.stack([a, b, c, d], axis=-1)


def _multiply(m: int, x: Words) -> tuple[Words, Words]:
    """The high and the low word of m x."""
    low, high = np.uint64(m & 0xFFFFFFFF), np.uint64(m >> 32)
    x0, x1 = x & _LOW, x >> _HALF
    middle = x0 * low
    middle >>= _HALF
    middle += x1 * low
    x0 *= high
    x0 += middle & _LOW
    x0 >>= _HALF
    middle >>= _HALF
    x1 *= high
    x1 += middle
    x1 += x0
    return x1, x * np.uint64(m)


def as_uniform(words: Words) -> NDArray[np.float64]:
    """Uniform numbers on [0, 1), the upper 53 bits of each word."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53, dtype=np.float64)


def subsets(words: Words, n: int, m: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The m of {0, ..., n - 1} that NumPy's ``choice`` without replacement and shuffling draws from each stream, in rising order.

    Floyd's algorithm: for j = n - m, ..., n - 1 draw k of {0, ..., j}, and take j where k is in already. A half word h gives k as the upper half
    of (j + 1) h (Lemire 2019); where its lower half is below 2^32 mod (j + 1), h is thrown away. These streams, some m n in 2^32, are
    reported and their rows are not those of NumPy.

    Parameters
    ----------
    words : ``(streams, counters, 4)``
        At least m half words a stream.

    Returns
    -------
    ``(streams, m)``, and ``(streams,)``: which streams have thrown a number away.
    """
    halves = np.stack([words & _LOW, words >> _HALF], axis=-1).reshape(len(words), -1)
    found = np.zeros((m, len(words)), dtype=np.int64)
    rejected = np.zeros(len(words), dtype=bool)
    drawn = 0
    for taken, j in enumerate(range(n - m, n)):
        if j == 0:  # the only choice, for which NumPy draws nothing
            continue
        product = halves[:, drawn] * np.uint64(j + 1)
        drawn += 1
        rejected |= (product & _LOW) < np.uint64(2**32 % (j + 1))
        k = (product >> _HALF).astype(np.int64)
        found[taken] = np.where(np.any(found[:taken] == k, axis=0), j, k)
    return np.sort(found.T, axis=-1), rejected
