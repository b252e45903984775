"""A change of a round: in words, and as edits of its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fedtheory.conformance.reading import VECTORS, PlaceInRound

_LONG = 50


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
    ``rule``: the name of the rule that it comes from.
    """

    words: str
    edits: tuple[Edit, ...]
    early: tuple[Edit, ...] | None = None
    value: bool = False
    rule: str = ""


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
