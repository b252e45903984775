"""Linear equations in fractions, against SymPy's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy

from fedtheory.core.exact import reduce_rows, solve_exactly


def drawn(rng: np.random.Generator, rows: int, columns: int, rank: int) -> list[list[Fraction]]:
    left, right = (rng.integers(-4, 5, size) for size in ((rows, rank), (rank, columns)))
    below = rng.integers(1, 10**9, columns)
    return [[Fraction(int(a), int(b)) for a, b in zip(row, below, strict=True)] for row in left @ right]


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_reduced_as_over_any_field(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = drawn(rng, int(rng.integers(1, 7)), 6, int(rng.integers(1, 5)))
    table, pivots = reduce_rows(rows, 6)
    expected, places = sympy.Matrix([[sympy.Rational(v.numerator, v.denominator) for v in row] for row in rows]).rref()
    assert pivots == list(places)
    assert table == [[Fraction(int(v.p), int(v.q)) for v in expected.row(i)] for i in range(len(rows))]
    symbols, same = reduce_rows([[sympy.Rational(v.numerator, v.denominator) for v in row] for row in rows], 4)
    assert (symbols, same) == reduce_rows(rows, 4), "the rows without a pivot keep their scale, too"


def test_solutions_and_contradictions() -> None:
    rows = [[Fraction(2), Fraction(1, 3)], [Fraction(-4), Fraction(-2, 3)]]
    assert solve_exactly(rows, [Fraction(1), Fraction(-2)]) == [Fraction(1, 2), 0]
    assert solve_exactly(rows, [Fraction(1), Fraction(2)]) is None
    assert solve_exactly([[0, -3], [2, 1]], [Fraction(1), Fraction(1)]) == [Fraction(2, 3), Fraction(-1, 3)]
