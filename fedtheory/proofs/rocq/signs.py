"""Signs of polynomials on regions for `core/Regions.v`: which halvings and units, if any, show that a polynomial is not negative.

Polynomials are mappings from powers to coefficients. A parameter is low + t, or (low + high t)/(1 + t), with t >= 0; where its high end belongs to
the region, that end is a branch of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from fedtheory.proofs.checker.polynomials import Polynomial, Powers, add, multiply, one
from fedtheory.proofs.checker.reading import StepCount

#: most halvings that are tried
MOST_HALVES = 200
PolynomialQuotient: TypeAlias = tuple[Polynomial, Polynomial]


@dataclass(frozen=True)
class Interval:
    """Where a parameter lies: ends are quotients of polynomials in all parameters, of which those before it occur."""

    low: PolynomialQuotient
    high: PolynomialQuotient | None
    low_closed: bool
    high_closed: bool


@dataclass(frozen=True)
class Branch:
    """Parameters as quotients of polynomials in t, and which t are above zero."""

    at: tuple[PolynomialQuotient, ...]
    positive: tuple[bool, ...]


def branches(intervals: Sequence[Interval]) -> list[Branch]:
    """One, and one more for every high end that belongs to the region; in the order in which Rocq goes through them."""
    return _branches(intervals, Branch((), ()), StepCount())


def _branches(intervals: Sequence[Interval], begun: Branch, work: StepCount) -> list[Branch]:
    k, width = len(begun.at), len(intervals)
    if k == width:
        return [begun]
    part, t = intervals[k], {tuple(int(j == k) for j in range(width)): Fraction(1)}
    low, ends = _substitute_quotient(part.low, begun, width, work), list[Branch]()
    if part.high is None:
        inside = (add(low[0], multiply(low[1], t, work)), low[1])
    else:
        high = _substitute_quotient(part.high, begun, width, work)
        top = add(multiply(low[0], high[1], work), multiply(multiply(high[0], low[1], work), t, work))
        both = multiply(low[1], high[1], work)
        inside = (top, add(both, multiply(both, t, work)))
        if part.high_closed:
            ends = _branches(intervals, Branch((*begun.at, high), (*begun.positive, True)), work)
    within = Branch((*begun.at, inside), (*begun.positive, not part.low_closed))
    return _branches(intervals, within, work) + ends


def _substitute_quotient(
    quotient: PolynomialQuotient, branch: Branch, width: int, work: StepCount
) -> PolynomialQuotient:
    top, below_top = substitute_quotients(quotient[0], branch.at, width, work)
    bottom, below_bottom = substitute_quotients(quotient[1], branch.at, width, work)
    return multiply(top, below_bottom, work), multiply(bottom, below_top, work)


def substitute_quotients(
    polynomial: Polynomial, at: Sequence[PolynomialQuotient], width: int, work: StepCount
) -> PolynomialQuotient:
    """A polynomial in the first parameters, brought to one denominator."""
    degrees = [max((p[k] for p in polynomial), default=0) for k in range(len(at))]
    tables = [[_power(at[k][0], j, width, work) for j in range(d + 1)] for k, d in enumerate(degrees)]
    below = [[_power(at[k][1], j, width, work) for j in range(d + 1)] for k, d in enumerate(degrees)]
    total: Polynomial = {}
    for powers, value in polynomial.items():
        term = one(width)
        for k, d in enumerate(degrees):
            if d:
                term = multiply(multiply(term, tables[k][powers[k]], work), below[k][d - powers[k]], work)
        total = add(total, term, value)
    bottom = one(width)
    for k, d in enumerate(degrees):
        bottom = multiply(bottom, below[k][d], work)
    return total, bottom


def _power(p: Polynomial, n: int, width: int, work: StepCount) -> Polynomial:
    found = one(width)
    for _ in range(n):
        found = multiply(found, p, work)
    return found


def find_trees(polynomial: Polynomial, region: Sequence[Branch], strict: bool) -> list[str] | None:
    """For every branch a tree as Rocq reads it, by which the polynomial is at least zero there (above zero: strict); None where one was not found."""
    first = next(iter(polynomial.values()), Fraction(1))
    direction = (
        1 if first >= 0 else -1
    )  # a polynomial and what it is less than zero of are brought to the branches once
    terms = tuple((at, direction * value) for at, value in polynomial.items())
    places = tuple((_terms_of(branch.at), branch.positive) for branch in region)
    return _find_trees(terms, direction, places, strict)


_Terms: TypeAlias = tuple[tuple[Powers, Fraction], ...]
_Place: TypeAlias = tuple[tuple[tuple[_Terms, _Terms], ...], tuple[bool, ...]]


def _terms_of(at: Sequence[PolynomialQuotient]) -> tuple[tuple[_Terms, _Terms], ...]:
    return tuple((tuple(top.items()), tuple(bottom.items())) for top, bottom in at)


@lru_cache(maxsize=20_000)
def _find_trees(terms: _Terms, direction: int, places: tuple[_Place, ...], strict: bool) -> list[str] | None:
    found = []
    for place in places:
        top = {at: direction * value for at, value in _on_branch(terms, place).items()}
        tree = _find(top, place[1], strict, [MOST_HALVES], 0)
        if tree is None:
            return None
        found.append(tree)
    return [] if all(tree == "Leaf" for tree in found) else found


@lru_cache(maxsize=20_000)
def _on_branch(terms: _Terms, place: _Place) -> Polynomial:
    """What a polynomial is above its denominator there."""
    at, positive = place
    return substitute_quotients(dict(terms), [(dict(a), dict(b)) for a, b in at], len(positive), StepCount())[0]


def _find(p: Polynomial, positive: tuple[bool, ...], strict: bool, left: list[int], depth: int) -> str | None:
    if all(value >= 0 for value in p.values()):
        some = any(value > 0 and all(not n or positive[k] for k, n in enumerate(at)) for at, value in p.items())
        if some or not strict:
            return "Leaf"
    at_ones = sum(p.values())
    if at_ones < 0 or (strict and not at_ones):  # it is so inside of the branch
        return None
    unit = next(_units(p, positive), None)
    if unit is not None:
        k, weights = unit
        merged: Polynomial = {}
        for at, value in p.items():
            merged = add(merged, {(*at[:k], 0, *at[k + 1 :]): value})
        inner = _find(merged, positive, strict, left, depth)
        return None if inner is None else f"(Unit {k} [{'; '.join(map(str, weights))}]%Z {inner})"
    axes = [k for k in range(len(positive)) if any(at[k] for at in p)]
    left[0] -= 1
    if left[0] < 0 or not axes or p.get((0,) * len(positive), Fraction(0)) < 0:
        return None
    k = axes[depth % len(axes)]
    below = _find(_half(p, k, below=True), positive, strict, left, depth + 1)
    if below is None:
        return None
    above = _find(_half(p, k, below=False), (*positive[:k], False, *positive[k + 1 :]), strict, left, depth + 1)
    return None if above is None else f"(Half {k} {below} {above})"


def _half(p: Polynomial, k: int, *, below: bool) -> Polynomial:
    """t = s/(2 + s), times (2 + s)^degree; or t = 1 + 2 s."""
    degree, total = max(at[k] for at in p), dict[Powers, Fraction]()
    for at, value in p.items():
        n = at[k]
        size = degree - n if below else n
        for j in range(size + 1):
            factor = math.comb(size, j) * 2 ** (size - j if below else j)
            power = n + j if below else j
            key = (*at[:k], power, *at[k + 1 :])
            total[key] = total.get(key, Fraction(0)) + value * factor
    return {at: value for at, value in total.items() if value}


def _units(p: Polynomial, positive: tuple[bool, ...]) -> Iterator[tuple[int, list[int]]]:
    """Variables that can be set to 1, with whole weights that all terms share."""
    width, powers = len(positive), list(p)
    if len(powers) < 2:
        return
    rows = [[Fraction(at[j] - powers[0][j]) for j in range(width)] for at in powers[1:]]
    for k in range(width):
        if positive[k] and any(at[k] for at in powers):
            weights = _kernel_with(rows, k)
            if weights is not None:
                yield k, weights


def _kernel_with(rows: list[list[Fraction]], wanted: int) -> list[int] | None:
    """A whole vector that all rows are orthogonal to, and whose entry ``wanted`` is not zero."""
    width = len(rows[0])
    order = [j for j in range(width) if j != wanted]
    table, pivots = [list(row) for row in rows], list[tuple[int, int]]()
    row_number = 0
    for j in order:
        found = next((r for r in range(row_number, len(table)) if table[r][j]), None)
        if found is None:
            continue
        table[row_number], table[found] = table[found], table[row_number]
        head = [value / table[row_number][j] for value in table[row_number]]
        table[row_number] = head
        for r in range(len(table)):
            if r != row_number and table[r][j]:
                share = table[r][j]
                table[r] = [a - share * b for a, b in zip(table[r], head, strict=True)]
        pivots.append((row_number, j))
        row_number += 1
    if any(table[r][wanted] for r in range(row_number, len(table))):
        return None
    weights = [Fraction(0)] * width
    weights[wanted] = Fraction(1)
    for r, j in pivots:
        weights[j] = -table[r][wanted]
    scale = math.lcm(*(w.denominator for w in weights))
    return [int(w * scale) for w in weights]
