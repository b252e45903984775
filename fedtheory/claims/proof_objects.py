"""Proof objects: what makes a part of a check a proof or a disproof, instead of its author's word.

A proof consists of facts, each confirmed and written down by a checker (`fedtheory.proofs.facts`), and of what leads from them to the statement.
That is a proof term whose last line is the statement (`fedtheory.proofs.checker`), or an engine that made both facts and sentence of one statement
as data: then the proof is *closed*, and the statement is proved. Or it is an argument in words, which is its author's and which the verdict prints
beside the facts: then the statement is argued. Without a fact there is no proof, only somebody who vouches for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.facts import Fact, take_facts

_SEAL = object()


@dataclass(frozen=True)
class Proof:
    """Facts, and the argument that leads from them to the statement.

    ``scope``: what it is narrower than its statement in, such as ``n = 2, 3, 4``; empty where it covers the statement. A proof of narrower
    scope supports a statement and does not prove it. ``closed``: nothing in words stands between facts and statement. ``term``: the proof term as
    data; ``given``: names of theorems of the literature that it cites.

    Raises
    ------
    FedtheoryError
        It is made by hand, or rests on nothing.

    Examples
    --------
    >>> try:
    ...     Proof((), "as one sees easily")
    ... except FedtheoryError as error:
    ...     print(error)
    ...
    a proof object is made by 'proved', 'disproved' or 'decided', not by hand
    """

    facts: tuple[Fact, ...]
    argument: str
    scope: str = ""
    closed: bool = False
    term: Mapping[str, Any] | None = None
    given: tuple[str, ...] = ()
    seal: object = None

    def __post_init__(self) -> None:
        """Take the seal off; only `make_proof` has it."""
        if self.seal is not _SEAL:
            raise FedtheoryError("a proof object is made by 'proved', 'disproved' or 'decided', not by hand")
        if not self.facts:
            raise FedtheoryError("a proof rests on facts that a checker confirmed, and there is none")
        object.__setattr__(self, "seal", None)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a verdict; with ``objects``, the proof objects that checkers read, beside its own term."""
        rests_on = list(dict.fromkeys(f"{fact.how}: {fact.what}" for fact in self.facts))
        told: dict[str, Any] = {"rests on": rests_on, "argument": self.argument, "closed": self.closed}
        objects = [dict(fact.data) for fact in self.facts if fact.data is not None and fact.data != self.term]
        if objects:
            told["objects"] = objects
        if self.scope:
            told["scope"] = self.scope
        if self.given:
            told["given"] = list(self.given)
        return told | ({"lines": list(self.term["lines"]), "term": dict(self.term)} if self.term is not None else {})


def make_proof(
    argument: str,
    *,
    resting_on: Iterable[Fact] = (),
    scope: str = "",
    closed: bool = False,
    term: Mapping[str, Any] | None = None,
    given: tuple[str, ...] = (),
) -> Proof | None:
    """A proof object from the facts that were confirmed since the last proof; None where there are none.

    Parameters
    ----------
    argument : str
        Why the statement follows from them.
    resting_on : facts
        What was confirmed before, such as the facts of an earlier part.
    scope : str
        What it is narrower than its statement in.
    closed : bool
        Whether nothing in words stands between the facts and the statement.
    term, given : the proof term as data, and what it cites
    """
    facts = tuple(dict.fromkeys((*resting_on, *take_facts())))
    return Proof(facts, argument, scope, closed, term, given, _SEAL) if facts else None
