"""Proof objects: what makes a part of a check a proof or a disproof, instead of its author's word.

A proof consists of facts, each confirmed and written down by a checker (`fedtheory.proofs.facts`), and of the argument in words that leads
from them to the statement. The argument is its author's: the verdict prints it beside the facts. Without a fact there is no proof, only
somebody who vouches for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.facts import Fact, collect_facts

_SEAL = object()


@dataclass(frozen=True)
class Proof:
    """Facts, and the argument that leads from them to the statement.

    ``scope``: what it is narrower than its statement in, such as ``n = 2, 3, 4``; empty where it covers the statement. A proof of narrower
    scope supports a statement and does not prove it.

    Raises
    ------
    FedtheoryError
        It is made by hand, or rests on nothing.
    """

    facts: tuple[Fact, ...]
    argument: str
    scope: str = ""
    seal: object = None

    def __post_init__(self) -> None:
        """Take the seal off; only `reason` has it."""
        if self.seal is not _SEAL:
            raise FedtheoryError("a proof object is made by 'proved', 'disproved' or 'decided', not by hand")
        if not self.facts:
            raise FedtheoryError("a proof rests on facts that a checker confirmed, and there is none")
        object.__setattr__(self, "seal", None)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a verdict."""
        rests_on = [f"{fact.how}: {fact.what}" for fact in self.facts]
        return {"rests on": rests_on, "argument": self.argument} | ({"scope": self.scope} if self.scope else {})


def reason(
    condition: Callable[[], Any], argument: str, *, resting_on: Sequence[Fact] = (), scope: str = ""
) -> tuple[bool, Proof | None]:
    """Evaluate a condition and say what it rests on: its outcome, and a proof object where checkers confirmed facts meanwhile.

    Parameters
    ----------
    condition : callable
        Asks checkers (`is_zero`, `compare`, `confirm`, ...) and puts their answers together.
    argument : str
        Why the statement follows.
    resting_on : facts
        What was confirmed before, such as those of an earlier part.
    scope : str
        What it is narrower than its statement in.
    """
    with collect_facts() as facts:
        outcome = bool(condition())
    all_facts = (*resting_on, *facts)
    return outcome, Proof(all_facts, argument, scope, _SEAL) if all_facts else None
