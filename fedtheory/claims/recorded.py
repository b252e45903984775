"""Which rounds of listed methods a replay plays: an instance that is stored as plain numbers, seen as runs of methods on functions.

A claim's replay knows what its instance means; nothing else does. While it measures, every call of a listed method's ``round`` is noted, and calls
that go on from each other's states make a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fedtheory.algorithms import ALGORITHMS
from fedtheory.algorithms.base import Algorithm, State
from fedtheory.claims.claim import Claim
from fedtheory.core.errors import InvalidInput, NotAvailable, describe
from fedtheory.core.states import arrays_of


@dataclass(eq=False)
class RecordedRun:
    """Rounds of one method, one after the other: its problem, the states before the first and after each, who took part, and the keys."""

    method: Algorithm
    problem: Any
    states: list[State]
    clients: list[Any] = field(default_factory=list)
    keys: list[Any] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        """Whether it was played in fractions."""
        return all(getattr(value.dtype, "kind", "f") == "O" for value in arrays_of(self.states[0]).values())


@contextmanager
def record_rounds() -> Iterator[list[RecordedRun]]:
    """Note the rounds of listed methods that are played inside of the block."""
    runs: list[RecordedRun] = []
    kinds: set[Any] = {entry.kind for entry in ALGORITHMS}
    plain = {kind: vars(kind)["round"] for kind in kinds if "round" in vars(kind)}

    def watched(own: Any) -> Any:
        def round(self: Any, problem: Any, state: Any, clients: Any, key: Any) -> Any:
            after = own(self, problem, state, clients, key)
            run = next((run for run in reversed(runs) if run.states[-1] is state and run.method == self), None)
            if run is None:
                run = RecordedRun(self, problem, [state])
                runs.append(run)
            run.states.append(after)
            run.clients.append(clients)
            run.keys.append(key)
            return after

        return round

    try:
        for kind, own in plain.items():
            kind.round = watched(own)
        yield runs
    finally:
        for kind, own in plain.items():
            kind.round = own


def record_replay(claim: Claim, instance: Mapping[str, Any]) -> list[RecordedRun]:
    """The runs that the replay of a claim's counterexample plays in fractions.

    Raises
    ------
    NotAvailable
        The claim has no replay, or one that cannot read this instance.
    InvalidInput
        The instance violates nothing.
    """
    if claim.replay is None:
        raise NotAvailable(f"{claim.id} has no replay")
    with record_rounds() as runs:
        try:
            seen = claim.replay(dict(instance))
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise NotAvailable(f"the replay of {claim.id} cannot read it: {describe(error)}") from error
    if not seen.violated:
        raise InvalidInput(
            f"the instance {dict(instance)} of {claim.id} violates nothing: {seen.measured} is at most {seen.bound}, or an assumption is not "
            "met; it is no counterexample any more"
        )
    return [run for run in runs if run.exact]
