"""Clients: who takes part, and under which numbers, changes what it should and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import (
    ROUNDS,
    Case,
    Library,
    assert_same,
    build,
    close,
    fields,
    for_every_method,
    play,
    problem,
    rows,
    rows_beside_numpy,
    start,
)

from fedtheory.algorithms import ALGORITHMS
from fedtheory.core.errors import InvalidInput
from fedtheory.core.participation import All, Bernoulli, Clients, Fixed, Schedule, Uniform
from fedtheory.core.states import arrays_of
from fedtheory.running.runner import run

PARTIAL = {
    "uniform": Uniform(2),
    "bernoulli": Bernoulli(0.6),
    "fixed": Fixed((1, 0)),
    "schedule": Schedule(lambda r: [r % 2]),
}


@for_every_method(rows_beside_numpy(lambda c: c.entry.partial, tuple(PARTIAL)))
def test_partial_participation_is_numpys(case: Case, xp: Library, variant: str) -> None:
    x0 = xp.array(case.x0)
    ours = play(case.algorithm(), xp.problem(case.problem), x0, ROUNDS, PARTIAL[variant])[-1]
    theirs = play(case.algorithm(), case.problem, case.x0, ROUNDS, PARTIAL[variant])[-1]
    for name, value in arrays_of(ours).items():
        assert type(value) is type(x0), name
        close(value, getattr(theirs, name), case.tolerance, name)


@for_every_method(rows(lambda c: c.entry.partial))
def test_naming_all_clients_is_full_participation(case: Case) -> None:
    everyone = Fixed(tuple(range(case.problem.n)))
    named = play(case.algorithm(), case.problem, case.x0, ROUNDS, everyone)[-1]
    assert_same(named, case.played[-1], case.tolerance)


@pytest.mark.parametrize("entry", [e for e in ALGORITHMS if not e.partial], ids=lambda e: e.name)
def test_full_participation_methods_refuse_a_subset_by_name(entry) -> None:
    f = problem("quadratics")
    algorithm = build(entry)
    with pytest.raises(InvalidInput, match=r"full participation only; use participation=All\(\), or "):
        run(algorithm, f, start(f), 1, participation=Uniform(2))
    run(algorithm, f, start(f), 1, participation=All())


# ---- other numbers ------------------------------------------------------------------------------------------------


@for_every_method(rows(lambda c: not c.by_number))
def test_relabelling_clients_changes_nothing(case: Case) -> None:
    """On the relabelled problem the server's quantities are the same and the clients' are relabelled."""
    n = case.problem.n
    order = np.roll(np.arange(n), 1)
    relabelled = case.problem.take(Clients(n, order))
    ours = fields(case.played[-1])
    theirs = fields(play(case.algorithm(), relabelled, case.x0, ROUNDS)[-1])
    for name, value in ours.items():
        close(theirs[name], value if value.shape[-2] == 1 else value[..., order, :], case.tolerance, name)


@for_every_method(rows(lambda c: c.entry.partial and not c.by_number))
def test_relabelling_clients_and_the_subset(case: Case) -> None:
    f, n = case.problem, case.problem.n
    order = np.roll(np.arange(n), 1)  # new client k is old client order[k]
    relabelled = f.take(Clients(n, order))
    subset = [0, n - 1]
    same = [int(np.flatnonzero(order == i)[0]) for i in subset]
    ours = fields(play(case.algorithm(), f, case.x0, ROUNDS, Fixed(tuple(subset)))[-1])
    theirs = fields(play(case.algorithm(), relabelled, case.x0, ROUNDS, Fixed(tuple(same)))[-1])
    for name, value in ours.items():
        close(theirs[name], value if value.shape[-2] == 1 else value[..., order, :], case.tolerance, name)
