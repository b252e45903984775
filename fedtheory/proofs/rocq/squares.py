"""A positive semidefinite matrix of fractions as a sum of squares with short numbers.

Elimination in exact arithmetic makes numbers of hundreds of digits, which Rocq computes with for minutes. Here the factors are rounded, and what the
rounding leaves is a matrix with a dominant diagonal, whose squares are plain.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

FractionMatrix: TypeAlias = list[list[Fraction]]
Squares: TypeAlias = list[tuple[Fraction, list[Fraction]]]
#: parts of the diagonal that are kept back for the rounding, as powers of two
KEPT_BACK = (8, 16, 24, 32, 48, 64, 96, 128, 192)


def split_into_squares(z: FractionMatrix) -> Squares:
    """Pivots p_k >= 0 and rows r_k with z = sum_k p_k r_k r_k^T.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> squares = split_into_squares([[Fraction(1), half], [half, Fraction(1)]])
    >>> sum(p * row[0] * row[1] for p, row in squares) == half
    True
    """
    exact = _eliminate(z)
    pivots = [next(k for k, value in enumerate(row) if value) for _, row in exact]
    rest = [k for k in range(len(z)) if k not in pivots]
    inner = [[z[i][j] for j in pivots] for i in pivots]
    for back in KEPT_BACK:
        found = _round(inner, back)
        if found is not None:
            spread = _spread(exact, pivots, rest)
            rows: Squares = []
            for p, row in found:
                full = [Fraction(0)] * len(z)
                for value, k in zip(row, pivots, strict=True):
                    full[k] = value
                for k in rest:
                    full[k] = sum((value * spread[a][k] for a, value in enumerate(row)), Fraction(0))
                rows.append((p, full))
            return rows
    return exact


def _eliminate(z: FractionMatrix) -> Squares:
    """By exact elimination; zero pivots are left out."""
    left, squares = [row[:] for row in z], list[tuple[Fraction, list[Fraction]]]()
    for k in range(len(z)):
        pivot = left[k][k]
        if not pivot:
            continue
        row = [Fraction(0)] * k + [value / pivot for value in left[k][k:]]
        squares.append((pivot, row))
        for i in range(k, len(z)):
            if row[i]:
                for j in range(k, len(z)):
                    left[i][j] -= pivot * row[i] * row[j]
    return squares


def _spread(exact: Squares, pivots: Sequence[int], rest: Sequence[int]) -> list[dict[int, Fraction]]:
    """Of every pivot's unit, what it is on the other columns: z = B^T z_PP B with B the identity on the pivots."""
    spread = [dict.fromkeys(rest, Fraction(0)) for _ in pivots]
    for k in rest:  # back substitution with the unit triangular rows
        for a in reversed(range(len(pivots))):
            value = exact[a][1][k]
            for b in range(a + 1, len(pivots)):
                value -= exact[a][1][pivots[b]] * spread[b][k]
            spread[a][k] = value
    return spread


def _round(m: FractionMatrix, back: int) -> Squares | None:
    """Squares of a positive definite matrix with rounded numbers; None where the rounding is too coarse."""
    n, digits = len(m), back + 12
    sizes = [Fraction(2) ** _log(m[k][k]) for k in range(n)]  # about its square root
    scaled = [[m[i][j] / (sizes[i] * sizes[j]) for j in range(n)] for i in range(n)]
    left = [
        [_cut(value * (1 - Fraction(1, 2**back)) if i == j else value, 2 * digits) for j, value in enumerate(row)]
        for i, row in enumerate(scaled)
    ]
    squares: Squares = []
    for k in range(n):
        pivot = _cut(left[k][k], 2 * digits)
        if pivot <= 0:
            return None
        row = [Fraction(0)] * k + [_cut(value / pivot, digits) for value in left[k][k:]]
        squares.append((pivot, row))
        for i in range(k, n):
            for j in range(k, n):
                left[i][j] = _cut(left[i][j] - pivot * row[i] * row[j], 2 * digits)
    for i in range(n):
        for j in range(n):
            scaled[i][j] -= sum((p * row[i] * row[j] for p, row in squares), Fraction(0))
    for i in range(n):
        others = [abs(scaled[i][j]) for j in range(n) if j != i]
        lone = scaled[i][i] - sum(others, Fraction(0))
        if lone < 0:
            return None
        squares.append((lone, [Fraction(int(j == i)) for j in range(n)]))
        for j in range(i):
            value = scaled[i][j]
            squares.append((abs(value), [Fraction((k == i) + (k == j) * (1 if value > 0 else -1)) for k in range(n)]))
    return [(p, [value * sizes[k] for k, value in enumerate(row)]) for p, row in squares if p]


def _cut(value: Fraction, digits: int) -> Fraction:
    """The nearest fraction with so many binary digits after the point."""
    return Fraction(round(value * 2**digits), 2**digits)


def _log(value: Fraction) -> int:
    """Half of the binary logarithm, rounded."""
    return (value.numerator.bit_length() - value.denominator.bit_length()) // 2
