"""A second reading of a paper's formulas, and whether a claim says the same.

A transcription is a table (tab-separated, ``id part where symbols formula relation reading remarks``) that was made from the paper's text
without sight of the claims. A claim says which of its formulas is which row (`Printed`); both are evaluated at random points where no symbol
is 0 or 1, so that an exponent, a factor or a term that was read differently shows. Where they differ the paper's text decides, and one of
them is mended.
"""

from __future__ import annotations

import ast
import csv
import inspect
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, Unreadable, names, read, show_tree, split_pieces

#: points at which two formulas are compared, how many are tried for one, and how far floats may differ, relative to their size
POINTS, TRIES, ROUNDING = 12, 40, 1e-9
#: a formula that was read, or a function
_Term = ast.expr | Callable[..., Any]
COLUMNS = ("id", "part", "where", "symbols", "formula", "relation", "reading", "remarks")


@dataclass(frozen=True)
class TranscribedRow:
    """One formula of a paper as somebody else read it.

    ``key``: id, part and place, by which a claim names it. ``symbols``: names with their meaning and, after ``|``, their domain.
    ``relation``: ``<=``, ``=``, ... or ``O``.
    """

    id: str
    part: str
    where: str
    symbols: Mapping[str, str]
    formula: str
    relation: str
    reading: str
    remarks: str = ""

    @property
    def key(self) -> str:
        """Id, part, place."""
        return f"{self.id}, {self.part}, {self.where}"


@dataclass(frozen=True)
class Printed:
    """A claim's formula, and the row of the transcription that reads the same place of the paper.

    Parameters
    ----------
    row : str
        Its key, ``"FEDSLR-L3, rhs, Lemma 3, eq (35) = (41)"``.
    formula : str or callable
        The claim's formula in the symbols of the statement: a text, or the function that the claim's check calls. The names of its parameters
        are its symbols; parameters with a value of their own keep it where neither the row nor ``where`` speaks of them.
    symbols : what a symbol of the row is in the statement, where it has another name, or is a formula or function of several
    where : formulas and functions by name that the claim's formula speaks of; one may speak of those before it
    item : which part of what the function returns, where it returns several
    whole : symbols of the statement that are whole numbers, besides those that the row says are
    power : the claim's formula is this power of the row's, 2 where the claim has squares
    """

    row: str
    formula: str | Callable[..., Any]
    symbols: Mapping[str, str | Callable[..., Any]] = field(default_factory=dict)
    where: Mapping[str, str | Callable[..., Any]] = field(default_factory=dict)
    item: int | str | None = None
    whole: tuple[str, ...] = ()
    power: float = 1

    @property
    def text(self) -> str:
        """The formula as a message shows it."""
        return self.formula if isinstance(self.formula, str) else getattr(self.formula, "__qualname__", "the function")


def read_transcription(path: Path | str) -> dict[str, TranscribedRow]:
    """The rows of a transcription by their keys.

    Raises
    ------
    InvalidInput
        The file has other columns, or two rows of one key.
    """
    found: dict[str, TranscribedRow] = {}
    with Path(path).open(encoding="utf-8", newline="") as file:
        table = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
        if missing:
            raise InvalidInput(
                f"{path}: a transcription has the columns {', '.join(COLUMNS)}; {missing[0]!r} is missing"
            )
        for line in table:
            cells = [line[name] or "" for name in COLUMNS]
            row = TranscribedRow(cells[0], cells[1], cells[2], _symbols(cells[3]), *cells[4:])
            if row.key in found:
                raise InvalidInput(f"{path}: two rows are called {row.key!r}")
            found[row.key] = row
    return found


def _symbols(text: str) -> dict[str, str]:
    pairs = (piece.partition("=") for piece in text.split() if "=" in piece)
    return {name: meaning for name, _, meaning in pairs}


def compare_printed(printed: Printed, rows: Mapping[str, TranscribedRow], seed: int = 0) -> str:
    """What is different between a claim's formula and its row: empty where both come to the same numbers.

    Orders (relation ``O``) are the same where their ratio is one number at all points.

    Raises
    ------
    InvalidInput
        There is no such row, a formula cannot be read, or there are too few points at which both have a value.
    """
    row = rows.get(printed.row)
    if row is None:
        near = [key for key in rows if key.startswith(printed.row.split(",")[0] + ",")]
        raise InvalidInput(
            f"the transcription has no row {printed.row!r}; of this claim it has {'; '.join(near) or 'none'}"
        )
    pair = _Pair.of(printed, row)
    rng, compared, ratio = random.Random(seed), 0, None
    for k in range(TRIES * POINTS):
        point = pair.point(rng)
        try:
            a, b = pair.values(point, k)
        except (InvalidInput, ZeroDivisionError, ValueError, OverflowError, TypeError):
            continue  # outside of a root's or logarithm's domain
        if isinstance(a, complex) or isinstance(b, complex):
            continue
        if row.relation == "O" and b:
            ratio = a / b if ratio is None else ratio
            b *= ratio
        if not _alike(a, b):
            at = ", ".join(f"{name} = {value}" for name, value in point.items())
            return (
                f"{printed.row}: {printed.text} is {_show(a)}, the transcription's {row.formula} is {_show(b)} at {at}"
            )
        compared += 1
        if compared == POINTS:
            return ""
    raise InvalidInput(
        f"{printed.row}: {printed.text} and {row.formula} both have a value at {compared} of {TRIES * POINTS} points; "
        f"{POINTS} are needed"
    )


@dataclass(frozen=True)
class _Pair:
    """Both formulas, read; ``terms``: what the row's symbols are in the statement, ``where``: formulas by name, ``free``: names to be drawn."""

    ours: _Term
    theirs: ast.expr
    terms: Mapping[str, _Term]
    where: Mapping[str, _Term]
    free: tuple[str, ...]
    domains: Mapping[Any, str]
    item: int | str | None
    power: float

    @classmethod
    def of(cls, printed: Printed, row: TranscribedRow) -> _Pair:
        try:
            ours, theirs = _read(printed.formula), read(row.formula)
            terms = {name: _read(printed.symbols.get(name, name)) for name in names(theirs)}
            where = {name: _read(term) for name, term in printed.where.items()}
        except Unreadable as error:
            raise InvalidInput(f"{printed.row}: {error}") from None
        spoken = {name for term in (*terms.values(), *where.values()) for name in _names(term, where)}
        domains: dict[Any, str] = {
            printed.symbols.get(name, name): text.partition("|")[2] for name, text in row.symbols.items()
        }
        domains |= dict.fromkeys(printed.whole, "int")
        free = tuple(sorted((_names(ours, spoken | where.keys()) | spoken) - where.keys()))
        return cls(ours, theirs, terms, where, free, domains, printed.item, printed.power)

    def point(self, rng: random.Random) -> dict[str, Fraction]:
        """A number for every free name: a whole one, a probability, or another, as the row says."""
        return {name: _number(rng, self.domains.get(name, "")) for name in self.free}

    def values(self, point: Mapping[str, Fraction], seed: int) -> tuple[Any, Any]:
        """Both formulas there; quantities of rounds have the same random values in both."""

        def lookup(name: str, k: int) -> Fraction:
            return _number(random.Random(f"{name} {k} {seed}"))

        known: dict[str, Any] = dict(point)

        def value(term: _Term) -> Any:
            if isinstance(term, ast.expr):
                return Sides(known, lookup, {}).value(term)
            return _call(term, {name: known[name] for name in _parameters(term, known)})

        for name, term in self.where.items():
            known[name] = value(term)
        ours = value(self.ours)
        inner = {name: value(term) for name, term in self.terms.items()}
        theirs = Sides(inner, lookup, {}).value(self.theirs)
        return ours if self.item is None else ours[self.item], theirs**self.power


def _read(formula: str | Callable[..., Any]) -> _Term:
    return read(formula) if isinstance(formula, str) else formula


def _names(term: _Term, spoken: Collection[str]) -> frozenset[str]:
    """Names of a formula, or the parameters that a function takes from the point."""
    return names(term) if isinstance(term, ast.expr) else frozenset(_parameters(term, spoken))


def _parameters(function: Callable[..., Any], spoken: Collection[str]) -> list[str]:
    """Parameters without a value of their own, and those of the others that row or tie speak of."""
    found = inspect.signature(function).parameters.values()
    return [p.name for p in found if p.default is p.empty or p.name in spoken]


def _call(function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Its value in fractions, or in floats where it has none."""
    exact = {name: int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for name, v in given.items()}
    try:
        return function(**exact)
    except (TypeError, AttributeError):
        return function(**{name: v if isinstance(v, int) else float(v) for name, v in exact.items()})


def _number(rng: random.Random, domain: str = "") -> Fraction:
    """No symbol is 0 or 1, and most are below one, as probabilities and rates are."""
    if domain.startswith("int"):
        return Fraction(rng.randint(2, 9))
    below = (13, 17, 19, 23) if domain.startswith("in") else (13, 17, 19, 23, 4)
    return Fraction(rng.choice((2, 3, 5, 7, 11)), rng.choice(below))


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, int | Fraction) and isinstance(b, int | Fraction):
        return a == b
    return abs(float(a) - float(b)) <= ROUNDING * max(abs(float(a)), abs(float(b)), 1e-30)


def _show(value: Any) -> str:
    return str(value) if isinstance(value, Fraction) and len(str(value)) < 30 else f"{float(value):.9g}"


def bound_of(text: str, symbol: str, *, below: bool = False) -> str:
    """What a region (``"0 < L, 0 < eta <= 1/(5*L)"``) says that a symbol is at most, or with ``below`` at least.

    Raises
    ------
    InvalidInput
        It does not say so, or says it twice.
    """
    found = []
    for piece in split_pieces(text):
        sides = [side.strip() for side in re.split("<=?", piece)]
        found += [pair[not below] for pair in pairwise(sides) if pair[below] == symbol]
    if len(found) != 1:
        raise InvalidInput(
            f"{text!r} bounds {symbol!r} from {'below' if below else 'above'} {len(found)} times; one bound is expected"
        )
    return found[0]


def right_of(sentence: str) -> str:
    """The larger side of a sentence.

    Raises
    ------
    Unreadable
        It is no sentence.
    """
    return show_tree(Sentence.parse(sentence).right)


@dataclass(frozen=True)
class Coverage:
    """How many rows of a paper are tied to a formula of its ledger, how many of the others each reason excuses, and the rows without either."""

    tied: int
    rows: int
    excused: Mapping[str, int]
    forgotten: tuple[str, ...]


def cover(rows: Mapping[str, TranscribedRow], ties: Sequence[Printed], untied: Mapping[str, Sequence[str]]) -> Coverage:
    """Count the rows that ties speak of; ``untied``: for each reason, keys or what keys begin with (``"FEDPD-EQ1"``).

    Raises
    ------
    InvalidInput
        A tie or a reason speaks of no row, or a reason of rows that are tied.
    """
    tied = {tie.row for tie in ties}
    if unknown := sorted(tied - rows.keys()):
        raise InvalidInput(f"the transcription has no row {unknown[0]!r}")
    excused: dict[str, set[str]] = {}
    for reason, starts in untied.items():
        meant = {start: {key for key in rows if key == start or key.startswith(f"{start},")} - tied for start in starts}
        for start, found in meant.items():
            if not found:
                raise InvalidInput(f"{start!r} is excused, but all of its rows are tied, or it is no row; take it out")
        excused[reason] = set().union(*meant.values())
    forgotten = tuple(key for key in rows if key not in tied.union(*excused.values()))
    return Coverage(len(tied), len(rows), {reason: len(found) for reason, found in excused.items()}, forgotten)
