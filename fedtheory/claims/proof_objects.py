"""Proof objects: what makes a part of a check a proof or a disproof, instead of its author's word.

A proof consists of facts, each confirmed and written down by a checker (`fedtheory.proofs.facts`), and of what leads from them to the statement.
That is a proof term whose last line is the statement (`fedtheory.proofs.checker`), or an engine that made both facts and sentence of one statement
as data: then the proof is *closed*, and the statement is proved. Or it is an argument in words, which is its author's: numbered lines, each with its
ground, a fact by its number, an earlier line, or words alone. The verdict prints it beside the facts, and the statement is argued. Without a fact
there is no proof, only somebody who vouches for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.facts import Fact, take_facts

_SEAL = object()
#: the ground of a line that rests on nothing but what it says
WORDS = "words"
_GROUND = re.compile(r"(facts?|lines?) (\d+(?: ?, ?\d+)*)|words")
#: what ends with a point and ends no sentence
_SHORT = ("App.", "Eq.", "Eqs.", "Fig.", "Sec.", "Thm.", "Cor.", "Prop.", "cf.", "e.g.", "i.e.", "vs.")
#: an argument as an author writes it: a text, or lines, each with its ground or without one
Argument: TypeAlias = "str | Sequence[str | tuple[str, str]]"


@dataclass(frozen=True)
class ArgumentLine:
    """One line of an argument, and its ground: ``"fact 1"``, ``"facts 1, 3; line 2"``, or ``"words"``."""

    text: str
    ground: str = WORDS


def read_argument(argument: Argument) -> tuple[ArgumentLine, ...]:
    """Lines of an argument; a text is split into its sentences, whose grounds are words.

    Examples
    --------
    >>> print([line.text for line in read_argument("It falls (Eq. (3)). So it converges.")])
    ['It falls (Eq. (3)).', 'So it converges.']
    """
    if isinstance(argument, str):
        return tuple(ArgumentLine(text) for text in _sentences(argument))
    return tuple(ArgumentLine(line) if isinstance(line, str) else ArgumentLine(*line) for line in argument)


def write_argument(argument: Argument) -> str:
    """An argument as one text."""
    return argument if isinstance(argument, str) else " ".join(line.text for line in read_argument(argument))


def _sentences(text: str) -> Iterator[str]:
    """Pieces that end with a point outside of brackets, before a capital letter or a bracket."""
    begun, depth = 0, 0
    for k, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        ends = character == "." and depth <= 0 and re.match(r"\s+[A-Z(]", text[k + 1 :])
        if ends and not text[begun : k + 1].endswith(_SHORT):
            yield text[begun : k + 1].strip()
            begun = k + 1
    if text[begun:].strip():
        yield text[begun:].strip()


def _require_grounds(lines: Sequence[ArgumentLine], facts: int) -> None:
    """Each ground is words, facts that are there, or lines that come before."""
    for k, line in enumerate(lines, 1):
        for piece in line.ground.split(";"):
            found = _GROUND.fullmatch(piece.strip())
            if found is None:
                raise InvalidInput(
                    f"{line.ground!r} is no ground of the line {line.text[:60]!r}; expected 'fact 1', 'lines 1, 2', 'fact 1; line 2' or 'words'"
                )
            most, what = (facts, "facts") if piece.strip().startswith("fact") else (k - 1, "lines before it")
            for number in map(int, (found[2] or "").split(",") if found[2] else ()):
                if not 1 <= number <= most:
                    raise InvalidInput(
                        f"the line {line.text[:60]!r} rests on {piece.strip()}, and there are {most} {what}"
                    )


@dataclass(frozen=True)
class Proof:
    """Facts, and the argument that leads from them to the statement, line by line.

    ``scope``: what it is narrower than its statement in, such as ``n = 2, 3, 4``; empty where it covers the statement. A proof of narrower
    scope supports a statement and does not prove it. ``closed``: nothing in words stands between facts and statement. ``term``: the proof term as
    data; ``given``: names of theorems of the literature that it cites.

    Raises
    ------
    FedtheoryError
        It is made by hand, or rests on nothing.
    InvalidInput
        A line rests on a fact that is not there, or on a line that does not come before it.

    Examples
    --------
    >>> try:
    ...     Proof((), ())
    ... except FedtheoryError as error:
    ...     print(error)
    ...
    a proof object is made by 'proved', 'disproved' or 'decided', not by hand
    """

    facts: tuple[Fact, ...]
    argument: tuple[ArgumentLine, ...]
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
        _require_grounds(self.argument, len(self.facts))
        object.__setattr__(self, "seal", None)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for a verdict; with ``objects``, the proof objects that checkers read, beside its own term."""
        told: dict[str, Any] = {"facts": [fact.as_dict() for fact in self.facts], "closed": self.closed}
        if not self.closed:
            told["argument"] = [{"line": line.text, "ground": line.ground} for line in self.argument]
        objects = [dict(fact.data) for fact in self.facts if fact.data is not None and fact.data != self.term]
        if objects:
            told["objects"] = objects
        if self.scope:
            told["scope"] = self.scope
        if self.given:
            told["given"] = list(self.given)
        return told | ({"lines": list(self.term["lines"]), "term": dict(self.term)} if self.term is not None else {})


def make_proof(
    argument: Argument,
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
    argument : str, or lines
        Why the statement follows from them. A line is a text, or a text with its ground.
    resting_on : facts
        What was confirmed before, such as the facts of an earlier part.
    scope : str
        What it is narrower than its statement in.
    closed : bool
        Whether nothing in words stands between the facts and the statement.
    term, given : the proof term as data, and what it cites
    """
    facts = tuple(dict.fromkeys((*resting_on, *take_facts())))
    return Proof(facts, read_argument(argument), scope, closed, term, given, _SEAL) if facts else None
