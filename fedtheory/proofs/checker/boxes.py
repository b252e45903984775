"""Signs of polynomials on a box, which may reach to infinity, by Bernstein's coefficients."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .polynomials import Polynomial, Powers, add_to, whole_numbers
from .reading import StepCount

#: boxes, and coefficients on a box, after which a check gives up
MOST_BOXES, MOST_COEFFICIENTS = 400, 20_000


@dataclass(frozen=True)
class Sign:
    """What is known of a polynomial on the region: never below zero (1) or never above (-1), and whether it is never zero."""

    direction: int
    strict: bool


def sign_on_box(
    polynomial: Polynomial,
    closed: tuple[tuple[bool, bool], ...],
    degrees: Powers,
    boxes: int = MOST_BOXES,
    work: StepCount | None = None,
) -> Sign | None:
    """The sign for all t in (0, oo)^k, with the ends that are closed; None if it was not found.

    Parameters
    ----------
    degrees : of every t, at least those that occur; at t = oo the value is the part of this degree
    """
    if not polynomial:
        return Sign(1, False)
    if math.prod(d + 1 for d in degrees) > MOST_COEFFICIENTS:
        return None
    scaled = {
        powers: value / math.prod(map(math.comb, degrees, powers)) for powers, value in polynomial.items()
    }  # Bernstein's coefficients
    strict, work = True, work or StepCount()
    whole, _ = whole_numbers(scaled)  # only signs count
    work.spend(len(whole), scaled.values(), whole.values())
    direction = 1 if sum(whole.values()) > 0 else -1
    values = [whole.get(at, 0) for at in itertools.product(*(range(d + 1) for d in degrees))]
    work.spend(len(values))
    waiting = [([direction * value for value in values], closed, 0)]
    while waiting:
        box, ends, depth = waiting.pop()
        if min(box) >= 0:
            strict = strict and _positive_on_faces(box, ends, degrees, work)
            continue
        boxes -= 1
        corners = [box[at] for at in _corners(degrees)]
        if boxes < 0 or min(corners) < 0:
            return None
        axis = next(a % len(degrees) for a in itertools.count(depth) if degrees[a % len(degrees)])
        work.spend(len(box) * (degrees[axis] + 1) // 2, box)
        for half, side in zip(_halves(box, degrees, axis), (0, 1), strict=True):
            inner = (ends[axis][0], True) if side == 0 else (True, ends[axis][1])
            waiting.append((half, (*ends[:axis], inner, *ends[axis + 1 :]), axis + 1))
    return Sign(direction, strict)


def _positive_on_faces(
    values: list[int], ends: tuple[tuple[bool, bool], ...], degrees: Powers, work: StepCount
) -> bool:
    """Whether coefficients that are not negative leave no zero: on each smallest face that belongs to the box one is positive."""
    choices: list[list[Any]] = [
        [k for k, is_closed in ((0, low), (d, high)) if is_closed] or [None]
        for (low, high), d in zip(ends, degrees, strict=True)
    ]
    positive = [
        at for at, value in zip(itertools.product(*(range(d + 1) for d in degrees)), values, strict=True) if value
    ]
    for face in itertools.product(*choices):
        on_it = (all(want is None or want == index for want, index in zip(face, at, strict=True)) for at in positive)
        first = next((k for k, found in enumerate(on_it) if found), None)
        work.spend((len(positive) if first is None else first) // 2)
        if first is None:
            return False
    return True


def _corners(degrees: Powers) -> list[int]:
    places = itertools.product(*(range(d + 1) for d in degrees))
    return [k for k, at in enumerate(places) if all(i in (0, d) for i, d in zip(at, degrees, strict=True))]


def _halves(values: list[int], degrees: Powers, axis: int) -> tuple[list[int], list[int]]:
    """Bernstein's coefficients on both halves of an axis (de Casteljau), times a power of two that leaves them whole."""
    stride, size = math.prod(d + 1 for d in degrees[axis + 1 :]), degrees[axis] + 1
    low, high = list(values), list(values)
    for start in range(len(values)):
        if (start // stride) % size == 0:
            line = [values[start + stride * k] for k in range(size)]
            for k in range(size):
                # sums in the place of means: 2^k times as much
                low[start + stride * k], high[start + stride * (size - 1 - k)] = (
                    line[0] << (size - 1 - k),
                    line[-1] << (size - 1 - k),
                )
                line = [a + b for a, b in zip(line, line[1:], strict=False)]
    return low, high


def without_units(polynomial: Polynomial, closed: tuple[tuple[bool, bool], ...]) -> Polynomial:
    """One t after the other set to 1 where a change of units allows it.

    If all terms have the same weight w.powers, P(s^w t) = s^weight P(t), and with s = t_i^(-1/w_i) the sign is that at t_i = 1. The other t
    that change must not reach oo, and t_i neither 0 nor oo.
    """
    width = len(closed)
    for i, (low, high) in enumerate(closed):
        if low or high or all(powers[i] == 0 for powers in polynomial):
            continue
        movable = [j for j in range(width) if not closed[j][1] and any(powers[j] for powers in polynomial)]
        first = next(iter(polynomial))
        rows = {tuple(p[j] - first[j] for j in movable) for p in polynomial}
        if _has_weight(rows, movable.index(i)):
            # no two terms that differ become the same: they differ in weight otherwise
            merged: Polynomial = {}
            for powers, value in polynomial.items():
                add_to(merged, {(*powers[:i], 0, *powers[i + 1 :]): value})
            polynomial = merged
    return polynomial


def _has_weight(rows: set[tuple[int, ...]], wanted: int) -> bool:
    """Whether some w with rows.w = 0 has w[wanted] != 0: with that column last, it is no pivot of the rows."""
    width = len(next(iter(rows)))
    order = [j for j in range(width) if j != wanted] + [wanted]
    heads: dict[int, list[Fraction]] = {}
    for given in sorted(rows):
        row = [Fraction(given[j]) for j in order]
        for column in range(width):
            if row[column]:
                if column not in heads:
                    if column == width - 1:
                        return False
                    heads[column] = row
                    break
                share = row[column] / heads[column][column]
                row = [a - share * b for a, b in zip(row, heads[column], strict=True)]
    return True
