"""Exact arithmetic: numbers read as fractions, and linear equations in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
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


def reduce_rows(rows: Sequence[Sequence[Fraction]], width: int) -> tuple[list[Row], list[int]]:
    """Reduced row echelon form with pivots in the first ``width`` columns: the rows that have one, then the others; and the pivots."""
    table = [list(row) for row in rows]
    pivots: list[int] = []
    for column in range(width):
        at = len(pivots)
        found = next((i for i in range(at, len(table)) if table[i][column] != 0), None)
        if found is None:
            continue
        table[at], table[found] = table[found], table[at]
        head = table[at][column]
        table[at] = [value / head for value in table[at]]
        for i, row in enumerate(table):
            if i != at and row[column] != 0:
                factor = row[column]
                table[i] = [a - factor * b for a, b in zip(row, table[at], strict=True)]
        pivots.append(column)
    return table, pivots


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
