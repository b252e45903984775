"""Where the search for the smallest rate begins: at the rate on quadratics of one curvature, which many methods have over the whole class.

Nothing rests on it: the search asks at that rate, one step of the accuracy below it, and goes further from there where it has to.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fedtheory.proofs.every_n.vectors import Vector
from fedtheory.proofs.potentials.invariants import KINDS, ErrorModel, PartKind, TracedRound

#: by what the steps of the search grow, away from where it began
GROWTH = 8


def rate_on_quadratics(model: ErrorModel, step: TracedRound) -> float | None:
    """The largest factor of second moments in a round, where every client has the curvature mu, or L, or the one in the middle.

    None where some clients take part, or answers are no gradients alone.
    """
    if model.participation is not None or step.problem.conditions:
        return None
    mu, big_l = float(model.function_class.mu), float(model.function_class.L)
    found = [_radius(model, step, kind, h) for kind in KINDS for h in (mu, (mu + big_l) / 2, big_l)]
    known = [radius for radius in found if radius is not None]
    return max(known) if len(known) == len(found) else None


def _radius(model: ErrorModel, step: TracedRound, kind: PartKind, curvature: float) -> float | None:
    """The spectral radius of E M (x) M, the state after the round being M times the one before it, in one part."""
    names = model.space.free[kind]
    count, size = len(names), {"mean": step.leaves.mean, "deviation": step.leaves.deviation}[kind]
    if not names:
        return 0.0
    asked = [(e.g, e.x) for e in step.problem.evaluations]
    rows = np.array([_row(g, kind, size) - curvature * _row(x, kind, size) for g, x in asked]).reshape(-1, size)
    known, unknown = rows[:, :count], rows[:, count:]
    if np.linalg.matrix_rank(unknown) < size - count:
        return None
    leaves = np.concatenate([np.eye(count), -np.linalg.lstsq(unknown, known, rcond=None)[0]])
    total = np.zeros((count**2, count**2))
    for chance, errors in step.after:
        moved = np.array([_row(errors[name], kind, size) for name in names]) @ leaves
        total += float(chance) * np.kron(moved, moved)
    return float(np.abs(np.linalg.eigvals(total)).max())


def _row(v: Vector, kind: PartKind, size: int) -> NDArray[np.float64]:
    """The coefficients of a part, by leaf."""
    found = np.zeros(size)
    for (part, leaf), value in v.terms.items():
        if part == kind:
            found[leaf] = float(value)
    return found


def least_that_holds(holds: Callable[[int], bool], most: int, guess: float | None) -> int | None:
    """The smallest k from 1 to ``most`` that holds, where all above it do; None where ``most`` does not.

    The search begins at the guess, goes away from it in growing steps, and halves the range that is left.

    Examples
    --------
    >>> least_that_holds(lambda k: k >= 70, 100, 68.2), least_that_holds(lambda k: k >= 70, 100, None), least_that_holds(lambda k: False, 100, 5)
    (70, 70, None)
    """
    low, high, stride = 0, most, 1
    k = most if guess is None or not guess < most else max(math.ceil(guess), 1)
    if holds(k):
        high = k
        while k < most and high - stride > low:
            if not holds(high - stride):
                low = high - stride
                break
            high, stride = high - stride, stride * GROWTH
    else:
        low = k
        while low < most:
            k, stride = min(low + stride, most), stride * GROWTH
            if holds(k):
                high = k
                break
            low = k
        else:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
