"""Where the slack of an exact proof must vanish: the range of the optimal Gram matrices, in small fractions.

At an optimal pair the slack Z of the multipliers and the Gram matrix X have Z X = 0. Multipliers in fractions that prove the worst case
itself, and not a little more, therefore have a slack that vanishes exactly on the range of X (facial reduction: Borwein and Wolkowicz 1981). The
range is read off a solver's X: an orthonormal basis in reduced echelon form, whose entries are fractions with small denominators when
hyper-parameters and the worst-case functions are. Nothing rests on the guess being right: what is made of it passes the checker or is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fedtheory.proofs.every_n.model import Direction
from fedtheory.proofs.semidefinite.program import Matrix

#: eigenvalues below this share of the largest count as zero, tried in turn
RANKS = (1e-6, 1e-4, 1e-8)
#: a block whose largest eigenvalue, in units, is below this is zero
EMPTY = 1e-7
#: the largest denominator of an entry of the basis, and how far it may be from what the solver said, relatively
DENOMINATOR, CLOSE = 2000, 1e-5


def read_faces(
    blocks: Sequence[Matrix], free: Sequence[Direction], sizes: Sequence[Matrix], constants: Sequence[Fraction] = ()
) -> list[list[Direction]]:
    """Directions that span the range of the Gram matrices, for every number of eigenvalues that may count as zero.

    Parameters
    ----------
    blocks : S and Q in units, of the leaves that are left along free directions
    free : those directions, whose pivots are not among the leaves of the blocks
    sizes : sizes of all leaves of S and of Q
    constants : positive numbers that entries may be multiples of: L, the radius, zeta
    """
    scales = sorted(_products(constants), key=lambda scale: scale != 1)
    found: list[list[Direction]] = []
    for share in RANKS:
        face: list[Direction] = []
        for matrix, block, size in zip(("S", "Q"), blocks, sizes, strict=True):
            kept = _kept(matrix, len(size), free)
            for row in _echelon(_range(block, share)):
                pivot = float(size[kept[int(np.argmax(row == 1))]])
                full = [Fraction(0)] * len(size)
                for k, value in zip(kept, row, strict=True):
                    full[k] = (
                        _simplest(float(value) * float(size[k]) / pivot, scales) if abs(value) > CLOSE else Fraction(0)
                    )
                face.append((matrix, full))
        if face not in found:
            found.append(face)
    return found


def _products(constants: Sequence[Fraction]) -> set[Fraction]:
    """Products of powers -1, 0, 1 of some numbers."""
    found = {Fraction(1)}
    for powers in product((-1, 0, 1), repeat=len(constants)):
        value = Fraction(1)
        for constant, power in zip(constants, powers, strict=True):
            value *= constant**power
        found.add(value)
    return found


def _simplest(value: float, scales: Sequence[Fraction]) -> Fraction:
    """The multiple of a scale near a number whose factor is the simplest fraction; the first of equally simple ones."""
    near = [(Fraction(value / float(scale)).limit_denominator(DENOMINATOR), scale) for scale in scales]
    close = [(q, scale) for q, scale in near if abs(float(q * scale) - value) <= CLOSE * abs(value)]
    factor, scale = min(close or near[:1], key=lambda pair: abs(pair[0].numerator) * pair[0].denominator)
    return factor * scale


def _kept(matrix: str, count: int, free: Sequence[Direction]) -> list[int]:
    """The leaves of a block once the pivots of its free directions are gone (`fedtheory.proofs.every_n.model.Model.freed`)."""
    kept = list(range(count))
    for which, direction in free:
        if which == matrix:
            kept.remove(next(i for i in kept if direction[i] != 0))
    return kept


def _range(block: Matrix, share: float) -> Matrix:
    """An orthonormal basis of the range, one vector a row."""
    if not len(block):
        return np.zeros((0, 0))
    values, vectors = np.linalg.eigh(block)
    keep = (values > share * values[-1]) & (values[-1] > EMPTY)
    return np.asarray(vectors[:, keep].T)


def _echelon(basis: Matrix) -> NDArray[np.float64]:
    """The same space by vectors each of which is one where the others are zero; pivots are the largest entries left."""
    rows = basis.copy()
    waiting = list(range(len(rows)))
    while waiting:
        at, column = np.unravel_index(int(np.argmax(np.abs(rows[waiting]))), rows[waiting].shape)
        pivot = waiting.pop(int(at))
        rows[pivot] /= rows[pivot, column]
        rows[pivot, column] = 1
        for other in range(len(rows)):
            if other != pivot:
                rows[other] -= rows[other, column] * rows[pivot]
    return rows
