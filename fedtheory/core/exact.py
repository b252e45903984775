"""Exact arithmetic: numbers read as fractions, and linear equations in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Row = list[Fraction]


def rational(value: Any) -> Any:
    """The same object with fractions in the place of floats: 0.1 becomes 1/10, in dataclasses at any depth."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float | np.floating):
        return Fraction(repr(float(value)))
    if isinstance(value, tuple):
        return tuple(rational(v) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(value, **{name: rational(v) for name, v in fields.items()})
    return value


def in_floats(value: Any) -> Any:
    """The same object with floats in the place of fractions, in dataclasses at any depth."""
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, Mapping):
        return {name: in_floats(v) for name, v in value.items()}
    if isinstance(value, tuple):
        return tuple(in_floats(v) for v in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(value, **{name: in_floats(v) for name, v in fields.items()})
    return value


def reduce_rows(rows: Sequence[Sequence[Any]], width: int) -> tuple[list[list[Any]], list[int]]:
    """Reduced row echelon form with pivots in the first ``width`` columns: the rows that have one, then the others; and the pivots.

    Over any field. Fractions are reduced in whole numbers, a row being integers over one denominator: a common divisor is then looked for
    once a row and not once a number.
    """
    in_fractions = all(isinstance(value, Fraction | int) for row in rows for value in row)
    table: list[Any] = [(_Fractions if in_fractions else _Numbers).of(row) for row in rows]
    pivots: list[int] = []
    for column in range(width):
        at = len(pivots)
        found = next((i for i in range(at, len(table)) if table[i].numbers[column] != 0), None)
        if found is None:
            continue
        table[at], table[found] = table[found], table[at]
        table[at].divide(column)
        for row in table[at + 1 :]:
            row.clear(column, table[at])
        pivots.append(column)
    for at in range(len(pivots) - 1, 0, -1):
        for row in table[:at]:
            row.clear(pivots[at], table[at])
    return [row.values for row in table], pivots


@dataclasses.dataclass(slots=True)
class _Numbers:
    """A row over any field."""

    numbers: list[Any]

    @classmethod
    def of(cls, row: Sequence[Any]) -> _Numbers:
        return cls(list(row))

    @property
    def values(self) -> list[Any]:
        return self.numbers

    def divide(self, column: int) -> None:
        """Divide by the number in a column."""
        head = self.numbers[column]
        self.numbers = [value / head for value in self.numbers]

    def clear(self, column: int, pivot: _Numbers) -> None:
        """Subtract the multiple of a row with one in a column that leaves zero there."""
        factor = self.numbers[column]
        if factor != 0:
            self.numbers = [a - factor * b for a, b in zip(self.numbers, pivot.numbers, strict=True)]


@dataclasses.dataclass(slots=True)
class _Fractions:
    """A row of fractions as integers over one denominator, of either sign."""

    numbers: list[int]
    denominator: int

    @classmethod
    def of(cls, row: Sequence[Fraction]) -> _Fractions:
        denominator = math.lcm(*(value.denominator for value in row))
        return cls([value.numerator * (denominator // value.denominator) for value in row], denominator)

    @property
    def values(self) -> Row:
        nothing = Fraction(0)
        return [Fraction(value, self.denominator) if value else nothing for value in self.numbers]

    def divide(self, column: int) -> None:
        """Divide by the number in a column."""
        self.denominator = self.numbers[column]
        self._shorten()

    def clear(self, column: int, pivot: _Fractions) -> None:
        """Subtract the multiple of a row with one in a column that leaves zero there."""
        factor, head = self.numbers[column], pivot.denominator
        if not factor:
            return
        common = math.gcd(factor, head)
        factor, head = factor // common, head // common
        self.numbers = [head * a - factor * b for a, b in zip(self.numbers, pivot.numbers, strict=True)]
        self.denominator *= head
        self._shorten()

    def _shorten(self) -> None:
        common = math.gcd(self.denominator, *self.numbers)
        if common > 1:
            self.numbers = [value // common for value in self.numbers]
            self.denominator //= common


def solve_exactly(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Row | None:
    """A solution of linear equations in fractions, zero where it is free; None if there is none."""
    width = len(rows[0])
    table, pivots = reduce_rows([[*row, value] for row, value in zip(rows, right, strict=True)], width)
    if any(row[-1] != 0 for row in table[len(pivots) :]):
        return None
    solution = [Fraction(0)] * width
    for row, column in zip(table, pivots, strict=False):
        solution[column] = row[-1]
    return solution
