"""A change of a round: in words, and as edits of its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from fedtheory.conformance.reading import VECTORS, PlaceInRound

_LONG = 50
#: what stands for a number that the search finds, in code and in words: any number, or one that is not negative
NUMBER, SIZE = "_number_", "_size_"


@dataclass(frozen=True)
class Edit:
    """Characters ``start`` to ``end`` of a class's text, and what stands there instead."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class RoundChange:
    """One change.

    ``early``: where the changed text reads the state ``after`` that the round leads to, those of the edits with which that state is worked out
    in a first pass; None where one pass does. ``value``: whether what stands there instead is a vector or a number.
    ``rule``: the name of the rule that it comes from. Where `NUMBER` or `SIZE` stands in words and edits, the search finds a number for it.
    """

    words: str
    edits: tuple[Edit, ...]
    early: tuple[Edit, ...] | None = None
    value: bool = False
    rule: str = ""

    @property
    def free(self) -> str:
        """`NUMBER` or `SIZE`, where one is to be found."""
        return next((name for name in (NUMBER, SIZE) if any(name in edit.text for edit in self.edits)), "")

    def at(self, number: float) -> RoundChange:
        """Return it with a number."""
        edits = tuple(replace(edit, text=edit.text.replace(self.free, repr(number))) for edit in self.edits)
        return replace(self, words=self.words.replace(self.free, f"{number:.9g}"), edits=edits)


def put(place: PlaceInRound, text: str, words: str) -> RoundChange:
    """Return the change that puts a text in the place of an expression."""
    return RoundChange(words, (Edit(place.start, place.end, text),), value=place.kind in (*VECTORS, "number"))


def enclose(text: str) -> str:
    """Put a text in brackets where it is more than a name, a field or a call."""
    tree = ast.parse(f"({text})", mode="eval").body
    return text if isinstance(tree, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"


def name_of(place: PlaceInRound) -> str:
    """Return the expression as it is named in words: its text, shortened where it is long."""
    text = " ".join(place.text.split())
    return text if len(text) <= _LONG else text[: _LONG - 4] + " ..."
