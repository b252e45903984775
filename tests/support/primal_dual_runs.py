"""Runs of the primal-dual family and how they are compared."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import close, x0_of

from fedtheory.core.participation import Bernoulli, Fixed, Schedule, Uniform
from fedtheory.core.randomness import Key

# The two sides do the same arithmetic in another order: a few thousand operations on numbers of size 10, in contracting maps.
ROUNDING = 1e-11

SCHEDULES = {
    "uniform": Uniform(2),
    "bernoulli": Bernoulli(0.5),
    "fixed": Fixed((2, 0)),
    "cyclic": Schedule(lambda r: [r % 4, (r + 1) % 4]),
    "one": Uniform(1),
}
schedules = pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)


def runs(algorithm, f, rounds, schedule=None, seed=0):
    """States of the first rounds; a round that nobody joins changes nothing, as in the runner."""
    states = [algorithm.init(f, x0_of(f))]
    for r in range(rounds):
        key = Key(seed, r)
        clients = None if schedule is None else schedule.draw(f.n, key)
        empty = clients is not None and clients.count() == 0
        states.append(states[-1] if empty else algorithm.round(f, states[-1], clients, key))
    return states


def same_iterates(left, right, names=("x", "x_i", "lam_i"), rtol=ROUNDING):
    for r, (ours, theirs) in enumerate(zip(left, right, strict=True)):
        for name in names:
            close(getattr(ours, name), getattr(theirs, name), rtol, f"{name} after round {r}")


def active_sets(f, schedule, rounds, seed=0):
    """Who takes part, as lists of client numbers."""
    found = []
    for r in range(rounds):
        clients = schedule.draw(f.n, Key(seed, r))
        here = np.ones(clients.index.shape, dtype=bool) if clients.present is None else clients.present
        found.append([int(i) for i in clients.index[here]])
    return found
