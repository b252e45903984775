"""Two pieces of work compared by CPU time, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims import Part, at_most
from fedtheory.claims.chance import chance_of_signs

TURNS, CALLS = 40, 3


def compare_times(first: Callable[[], Any], second: Callable[[], Any]) -> NDArray[np.float64]:
    """Return for each turn how many times the second's CPU time the first takes; both in every turn, so load falls on both."""
    found = []
    for turn in range(TURNS + 2):
        spent = []
        for work in (first, second):
            begun = time.process_time()
            for _ in range(CALLS):
                work()
            spent.append(time.process_time() - begun)
        if turn >= 2:  # the first calls are not counted
            found.append(spent[0] / max(spent[1], 1e-9))
    return np.array(found)


def takes_at_most(name: str, limit: float, first: Callable[[], Any], second: Callable[[], Any], text: str) -> Part:
    """Part: the first takes at most ``limit`` times the second's CPU time, in the median of turns; ``text`` tells that number."""
    turns = compare_times(first, second)
    found = float(np.median(turns))
    chance = chance_of_signs(int((turns > limit).sum()), TURNS)
    return at_most(name, found, limit, "numeric", f"{text}, median of {TURNS} turns: {found:.3f}", chance=chance)
