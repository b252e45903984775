"""From a solved program to coordinates: floats for every leaf, and vectors of fractions in the place of combinations of leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.exact import Row
from fedtheory.proofs.every_n.model import Direction
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.semidefinite.program import Matrix

#: length of a free vector, relative to its products with the others: what it costs in accuracy is about the inverse of its square
FREE_LENGTH = 100.0
#: eigenvalues, entries and columns below these count as zero
FLAT, THIN = 1e-7, 1e-4


@dataclass(frozen=True, eq=False)
class WorstData:
    """What a program's solution says of worst-case functions, in sizes that are natural to the question.

    ``rows[m]`` are coordinates of the leaves of the block m, "S" (what clients have in common) or "Q" (deviations), one leaf a row, to be
    multiplied with ``sizes[m]``; ``values`` are to be multiplied with ``value_size``. ``start`` has vectors by the name of a field.
    """

    rows: Mapping[str, Matrix]
    sizes: Mapping[str, Sequence[Fraction]]
    values: Sequence[float]
    value_size: Fraction
    evaluations: tuple[Evaluation, ...]
    start: Mapping[str, Vector]

    def without_column(self, matrix: str, column: int) -> WorstData:
        """With one coordinate less."""
        return replace(self, rows={**self.rows, matrix: np.delete(self.rows[matrix], column, axis=1)})

    def alike(self) -> WorstData:
        """With the same function for every client."""
        return replace(self, rows={**self.rows, "Q": self.rows["Q"][:, :0]})

    def rounded(self, denominator: int, n: int) -> Rounded:
        """All coordinates and values as fractions, for n clients."""
        exact = {
            m: [
                [_near(v, denominator) * size for v in row]
                for row, size in zip(self.rows[m], self.sizes[m], strict=True)
            ]
            for m in ("S", "Q")
        }
        fine = 2 * denominator**2
        return Rounded(exact, [_near(v, fine) * self.value_size for v in self.values], _corners(n, denominator))


@dataclass(frozen=True, eq=False)
class Rounded:
    """Leaves and values as fractions; client i's deviations are multiples of the corner i of a simplex."""

    rows: Mapping[str, list[Row]]
    values: Row
    corners: list[Row]

    @property
    def d(self) -> int:
        """Number of coordinates, at least one."""
        width = {m: len(self.rows[m][0]) if self.rows[m] else 0 for m in ("S", "Q")}
        return max(width["S"] + width["Q"] * len(self.corners[0]), 1)

    def place(self, v: Vector, client: int) -> Row:
        """Client i's vector."""
        width = len(self.rows["S"][0]) if self.rows["S"] else 0
        corner = self.corners[client]
        out = [Fraction(0)] * self.d
        for (part, leaf), c in v.terms.items():
            if part == "mean":
                for k, entry in enumerate(self.rows["S"][leaf]):
                    out[k] += Fraction(c) * entry
            else:
                for k, entry in enumerate(self.rows["Q"][leaf]):
                    for t, share in enumerate(corner):
                        out[width + k * len(corner) + t] += Fraction(c) * entry * share
        return out


def _near(value: Any, denominator: int) -> Fraction:
    return Fraction(round(float(value) * denominator), denominator)


def _corners(n: int, denominator: int) -> list[Row]:
    """N vectors of zero sum and mean square about one: the corners of a simplex."""
    if n == 2:
        return [[Fraction(1)], [Fraction(-1)]]
    fine = 100 * denominator
    root = Fraction(isqrt(n * fine**2 // (n - 1)), fine)  # from below
    return [[root * (Fraction(i == k) - Fraction(1, n)) for k in range(n)] for i in range(n)]


def read_rows(
    block: Matrix,
    units: Matrix,
    sizes: Sequence[Fraction],
    free: Sequence[Direction] = (),
    products: Matrix | None = None,
    first: int | None = None,
) -> Matrix:
    """Coordinates of all leaves of a block, in natural sizes, one leaf a row; later columns matter less.

    Parameters
    ----------
    block : the Gram matrix in units, of the leaves that are left along free directions
    units, sizes : of all leaves
    free : directions of this block, one at most, along which a vector is made long
    products : of the leaves that are left with that vector, in units
    first : the leaf that is laid along the first axis
    """
    count = len(sizes)
    pivots = [next(i for i, v in enumerate(direction) if v != 0) for _, direction in free]
    kept = [i for i in range(count) if i not in pivots]
    rows = np.zeros((count, 0))
    if len(block):
        values, vectors = np.linalg.eigh(block)
        keep = (values > FLAT * max(values[-1], 1e-300)) & (values[-1] > FLAT**1.5)
        part = vectors[:, keep] * np.sqrt(values[keep])
        rows = np.zeros((count, part.shape[1]))
        rows[kept] = _turned(part, None if first is None else kept.index(first))
    if free and products is not None:
        direction = np.array([float(v) for v in free[0][1]])
        length = FREE_LENGTH * (1 + float(np.linalg.norm(products)))
        column = length * direction / direction[pivots[0]] * (units[pivots[0]] / units)
        column[kept] += products / length
        rows = np.concatenate([rows, column[:, None]], axis=1)
    rows = rows * (units / np.array([float(s) for s in sizes]))[:, None]
    return np.asarray(rows[:, np.abs(rows).max(axis=0, initial=0.0) > THIN])


def _turned(rows: Matrix, first: int | None) -> NDArray[np.float64]:
    """The same vectors in axes in which long ones have few coordinates."""
    if not rows.shape[1]:
        return rows
    order = np.argsort([-np.linalg.norm(r) - (1e6 if i == first else 0.0) for i, r in enumerate(rows)], kind="stable")
    lower = np.linalg.qr(rows[order].T)[1].T
    diagonal = np.array([lower[k, k] if k < len(lower) else 1.0 for k in range(lower.shape[1])])
    turned = np.zeros_like(lower)
    turned[order] = lower * np.where(diagonal < 0, -1.0, 1.0)
    return turned
