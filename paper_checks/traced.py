"""A method's own round on vectors of a world, with local answers that are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.claims.statements.worlds import Unasked
from fedtheory.core.randomness import Key
from fedtheory.local.solvers import Memoryless
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.stand_ins import ANY_CLIENTS


def nobody_asks(beside: Any) -> Any:
    """The problem of a round on vectors of a world; ``beside``: one of every client."""
    return Unasked(ANY_CLIENTS if isinstance(beside, Vector) else len(beside.clients))


@dataclass(frozen=True)
class Given(Memoryless):
    """Local answers that are given."""

    answers: Any

    def __call__(self, sub: Any, start: Any, key: Key, memory: None) -> tuple[Any, None]:
        """They are these."""
        return self.answers, None
