"""The data of a semidefinite program, and symmetric matrices packed as solvers take them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Program:
    """The data of a program; matrices are symmetric and dense, blocks in the order of ``sizes``.

    Parameters
    ----------
    sizes : sizes of the blocks X_1, ..., X_p
    objective : C, one matrix a block
    objective_values : c ``(v,)``
    rows : A, for each block an array ``(constraints, size, size)``
    rows_values : a ``(constraints, v)``
    bounds : b ``(constraints,)``
    equations : how many of the first rows are equations
    """

    sizes: tuple[int, ...]
    objective: tuple[Matrix, ...]
    objective_values: Matrix
    rows: tuple[Matrix, ...]
    rows_values: Matrix
    bounds: Matrix
    equations: int = 0

    @property
    def constraints(self) -> int:
        """Number of rows."""
        return len(self.bounds)


@cache
def triangle(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Matrix]:
    """Positions of the upper triangle by columns, and the scale sqrt(2) of the entries off the diagonal."""
    columns, rows = np.tril_indices(size)
    found = rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))
    for array in found:
        array.flags.writeable = False  # they are shared
    return found


def pack(matrices: Matrix) -> Matrix:
    """Return the upper triangles ``(..., size (size + 1) / 2)``, off-diagonal entries times sqrt(2), so that <A, B> is a dot product."""
    rows, columns, scale = triangle(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns] * scale)


def unpack(packed: Matrix, size: int) -> Matrix:
    """Return the symmetric matrix of a packed triangle."""
    rows, columns, scale = triangle(size)
    out = np.zeros((size, size))
    out[rows, columns] = packed / scale
    out[columns, rows] = packed / scale
    return out
