"""Check a stored derivation that holds for all parameters of a region, with Python's whole numbers and nothing else.

A derivation states: for all parameters of the *region*, whenever the *hypotheses* ``form <= 0`` hold and every pair of the listed
*evaluations* (x, g, f) satisfies the interpolation inequality of its function's class, the *conclusion* ``form <= 0`` holds; in any dimension
and, where vectors have deviations between clients, for any number of clients. Forms are linear in S (the Gram matrix of what clients have in
common), Q (of their deviations, averaged over clients) and the values. Proof:

    conclusion - sum_c multiplier_c * inequality_c  =  constant - sum_k pivot_k <row_k row_k^T, S or Q>

with multipliers >= 0, constant <= 0 and pivots >= 0 on the whole region. Every number is a product of a fraction and powers of the listed
*factors*, polynomials in the parameters with fractions as coefficients; so that sums are zero exactly if a polynomial is. Signs: with

    x = low + t    or    x = (low + high t) / (1 + t),        t in (0, oo), closed where the region is,

a factor becomes P(t)/D(t), both in Bernstein's form on [0, 1]^k (u = t/(1 + t)); coefficients of one sign prove the sign, boxes are halved where
they are not. What stands in a denominator, to whatever power, must not vanish on the region. The interpolation inequalities are written down
here; names and other text decide nothing. Run by itself, without any package, the file checks derivations:

    python checker.py FILE
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

Powers = tuple[int, ...]  # of the parameters, of t, or of the factors
Polynomial = dict[Powers, Fraction]
FactorSum = dict[Powers, Fraction]  # the same in the factors, with powers of any sign
LeafVector = dict[str, dict[int, FactorSum]]
FormEntries = dict[tuple[Any, ...], FactorSum]  # ("S", i, j), ("Q", i, j), ("f", t), ("1",) -> coefficient

DERIVATION_FORMAT = "fedtheory derivation 1"
_FRACTION = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")
_COUNT = re.compile(r"0|[1-9][0-9]{0,3}")
WORDS = re.compile(r"[A-Za-z][A-Za-z0-9 ,_'+*-]{0,99}")
MOST_BYTES, MOST_LEVELS, MOST_LEAVES, MOST_PARAMETERS, MOST_POWER = 10_000_000, 40, 200, 8, 100
#: products of terms, boxes, and coefficients on a box, after which a check gives up
MOST_WORK, MOST_BOXES, MOST_COEFFICIENTS = 5_000_000, 400, 20_000


class DerivationRefused(ValueError):
    """The derivation does not prove what it states; the message names the first step that fails."""


# ---- polynomials, as mappings from powers to coefficients ---------------------------------------------------------------------------


class WorkLimit:
    """Counts products of terms."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def spend(self, products: int) -> None:
        """Give up when it is too much."""
        self.left -= products
        if self.left < 0:
            raise DerivationRefused("the derivation is too long for this checker")


def add(a: Polynomial, b: Polynomial, factor: Fraction = Fraction(1)) -> Polynomial:
    """A + factor * b."""
    total = dict(a)
    for powers, value in b.items():
        new = total.get(powers, Fraction(0)) + factor * value
        if new:
            total[powers] = new
        else:
            total.pop(powers, None)
    return total


def multiply(a: Polynomial, b: Polynomial, work: WorkLimit) -> Polynomial:
    """The product."""
    work.spend(len(a) * len(b))
    total: Polynomial = {}
    for p, x in a.items():
        for q, y in b.items():
            powers = tuple(map(int.__add__, p, q))
            total[powers] = total.get(powers, Fraction(0)) + x * y
    return {powers: value for powers, value in total.items() if value}


def one(width: int) -> Polynomial:
    """The number one."""
    return {(0,) * width: Fraction(1)}


def product_of(polynomials: Iterable[tuple[Polynomial, int]], width: int, work: WorkLimit) -> Polynomial:
    """The product of powers."""
    total = one(width)
    for polynomial, power in polynomials:
        for _ in range(power):
            total = multiply(total, polynomial, work)
    return total


# ---- signs on a box ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sign:
    """What is known of a polynomial on the region: never below zero (1) or never above (-1), and whether it is never zero."""

    direction: int
    strict: bool


def sign_on_box(
    polynomial: Polynomial, closed: tuple[tuple[bool, bool], ...], degrees: Powers, boxes: int = MOST_BOXES
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
    values = [scaled.get(at, Fraction(0)) for at in itertools.product(*(range(d + 1) for d in degrees))]
    direction = 1 if sum(values, Fraction(0)) > 0 else -1
    waiting = [([direction * value for value in values], closed, 0)]
    strict = True
    while waiting:
        box, ends, depth = waiting.pop()
        if min(box) >= 0:
            strict = strict and _positive_on_faces(box, ends, degrees)
            continue
        boxes -= 1
        corners = [box[at] for at in _corners(degrees)]
        if boxes < 0 or min(corners) < 0:
            return None
        axis = next(a % len(degrees) for a in itertools.count(depth) if degrees[a % len(degrees)])
        for half, side in zip(_halves(box, degrees, axis), (0, 1), strict=True):
            inner = (ends[axis][0], True) if side == 0 else (True, ends[axis][1])
            waiting.append((half, (*ends[:axis], inner, *ends[axis + 1 :]), axis + 1))
    return Sign(direction, strict)


def _positive_on_faces(values: list[Fraction], ends: tuple[tuple[bool, bool], ...], degrees: Powers) -> bool:
    """Whether coefficients that are not negative leave no zero: on each smallest face that belongs to the box one is positive."""
    choices: list[list[Any]] = [
        [k for k, is_closed in ((0, low), (d, high)) if is_closed] or [None]
        for (low, high), d in zip(ends, degrees, strict=True)
    ]
    positive = [
        at for at, value in zip(itertools.product(*(range(d + 1) for d in degrees)), values, strict=True) if value
    ]
    return all(
        any(all(want is None or want == index for want, index in zip(face, at, strict=True)) for at in positive)
        for face in itertools.product(*choices)
    )


def _corners(degrees: Powers) -> list[int]:
    places = itertools.product(*(range(d + 1) for d in degrees))
    return [k for k, at in enumerate(places) if all(i in (0, d) for i, d in zip(at, degrees, strict=True))]


def _halves(values: list[Fraction], degrees: Powers, axis: int) -> tuple[list[Fraction], list[Fraction]]:
    """Bernstein's coefficients on both halves of an axis (de Casteljau)."""
    stride, size = math.prod(d + 1 for d in degrees[axis + 1 :]), degrees[axis] + 1
    low, high = list(values), list(values)
    for start in range(len(values)):
        if (start // stride) % size == 0:
            line = [values[start + stride * k] for k in range(size)]
            for k in range(size):
                low[start + stride * k], high[start + stride * (size - 1 - k)] = line[0], line[-1]
                line = [(a + b) / 2 for a, b in zip(line, line[1:], strict=False)]
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
        rows = [[Fraction(p[j] - first[j]) for j in movable] for p in polynomial]
        if _has_weight(rows, movable.index(i)):
            merged: Polynomial = {}
            for (
                powers,
                value,
            ) in polynomial.items():  # no two terms that differ become the same: they differ in weight otherwise
                merged = add(merged, {(*powers[:i], 0, *powers[i + 1 :]): value})
            polynomial = merged
    return polynomial


def _has_weight(rows: list[list[Fraction]], wanted: int) -> bool:
    """Whether some w with rows.w = 0 has w[wanted] != 0: the column is a combination of the others."""
    order = [j for j in range(len(rows[0])) if j != wanted] + [wanted]
    table, pivots = [[row[j] for j in order] for row in rows], 0
    for column in range(len(order)):
        found = next((i for i in range(pivots, len(table)) if table[i][column]), None)
        if found is None:
            if column == len(order) - 1:
                return True
            continue
        table[pivots], table[found] = table[found], table[pivots]
        head = table[pivots]
        for i in range(pivots + 1, len(table)):
            share = table[i][column] / head[column]
            if share:
                table[i] = [a - share * b for a, b in zip(table[i], head, strict=True)]
        pivots += 1
    return False


# ---- the region, and signs of factors on it ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """One parameter: its ends as numbers of earlier parameters, and which ends belong to it."""

    name: str
    low: FactorSum
    high: FactorSum | None
    closed: tuple[bool, bool]


@dataclass
class CheckedRegion:
    """Parameters in order and the factors; parameters are (numerator, denominator), polynomials in t."""

    ranges: tuple[Range, ...]
    factors: Sequence[Polynomial]
    work: WorkLimit = field(default_factory=WorkLimit)
    _at: list[tuple[Polynomial, Polynomial]] = field(default_factory=list)
    _signs: dict[int, Sign | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Write the parameters in t; their denominators must not vanish."""
        width = len(self.ranges)
        for i, part in enumerate(self.ranges):
            t = {tuple(int(j == i) for j in range(width)): Fraction(1)}
            low = self._number(part.low, i)
            if part.high is None:
                numerator, denominator = add(low[0], multiply(low[1], t, self.work)), low[1]
            else:
                high = self._number(part.high, i)
                left = multiply(low[0], high[1], self.work)
                right = multiply(multiply(high[0], low[1], self.work), t, self.work)
                below = multiply(low[1], high[1], self.work)
                numerator, denominator = add(left, right), add(below, multiply(below, t, self.work))
            self._at.append((numerator, denominator))

    @property
    def closed(self) -> tuple[tuple[bool, bool], ...]:
        """Which ends of t belong to the region; oo never does."""
        return tuple((part.closed[0], part.closed[1] and part.high is not None) for part in self.ranges)

    def _number(self, number: FactorSum, known: int) -> tuple[Polynomial, Polynomial]:
        """A number that is one product, of parameters before the given one, as a quotient of polynomials in t."""
        if len(number) > 1:
            raise DerivationRefused("an end of a parameter is not one product")
        top, bottom = one(len(self.ranges)), one(len(self.ranges))
        if not number:
            return {}, bottom
        ((powers, value),) = number.items()
        for k, power in enumerate(powers):
            if power:
                if any(any(p[known:]) for p in self.factors[k]):
                    raise DerivationRefused(
                        f"an end of {self.ranges[known].name!r} depends on a parameter that is not before it"
                    )
                above, below = self.substitute(self.factors[k])
                if power < 0:
                    self.require_nonzero(k)
                    above, below = below, above
                top = multiply(top, product_of([(above, abs(power))], len(self.ranges), self.work), self.work)
                bottom = multiply(bottom, product_of([(below, abs(power))], len(self.ranges), self.work), self.work)
        return {p: v * value for p, v in top.items()}, bottom

    def substitute(self, polynomial: Polynomial) -> tuple[Polynomial, Polynomial]:
        """A polynomial in the parameters as a quotient of polynomials in t; the denominator was not looked at."""
        width = len(self.ranges)
        most = [max((p[i] for p in polynomial), default=0) for i in range(width)]
        used = [i for i in range(width) if most[i]]
        total: Polynomial = {}
        for powers, value in polynomial.items():
            pieces = [(self._at[i][0], powers[i]) for i in used] + [(self._at[i][1], most[i] - powers[i]) for i in used]
            total = add(total, product_of(pieces, width, self.work), value)
        return total, product_of([(self._at[i][1], most[i]) for i in used], width, self.work)

    def sign(self, k: int) -> Sign | None:
        """The sign of a factor on the region, or None."""
        if k not in self._signs:
            self._signs[k] = self.sign_of_polynomial(self.factors[k])
        return self._signs[k]

    def sign_of_polynomial(self, polynomial: Polynomial) -> Sign | None:
        """The sign on the region, or None."""
        top, bottom = self.substitute(polynomial)
        below = self._find(bottom, bottom, top)
        if below is None or not below.strict:
            return None
        above = self._find(top, bottom, top)
        return None if above is None else Sign(above.direction * below.direction, above.strict)

    def _find(self, polynomial: Polynomial, *both: Polynomial) -> Sign | None:
        width = len(self.ranges)
        degrees = tuple(max((p[i] for q in both for p in q), default=0) for i in range(width))
        found = sign_on_box(polynomial, self.closed, degrees, boxes=0)
        if found is not None and found.strict:
            return found
        smaller = without_units(polynomial, self.closed)
        degrees = tuple(
            d if self.closed[i][1] else max((p[i] for p in smaller), default=0) for i, d in enumerate(degrees)
        )
        return sign_on_box(smaller, self.closed, degrees) or found

    def require_nonzero(self, k: int) -> None:
        """Refuse a factor that may vanish on the region."""
        sign = self.sign(k)
        if sign is None or not sign.strict:
            raise DerivationRefused(f"the denominator {self.show(k)} was not shown to be nonzero on the region")

    def sign_of(self, number: FactorSum) -> Sign | None:
        """The sign of a number that is one product (or zero)."""
        if not number:
            return Sign(1, False)
        ((powers, value),) = number.items()
        direction, strict = (1 if value > 0 else -1), True
        for k, power in enumerate(powers):
            if power:
                sign = self.sign(k) if power % 2 or power < 0 else self.sign(k) or Sign(1, False)
                if sign is None or (power < 0 and not sign.strict):
                    return None
                direction *= sign.direction if power % 2 else 1
                strict = strict and sign.strict
        return Sign(direction, strict)

    def require_nonnegative(self, number: FactorSum, what: str) -> None:
        """Refuse a number that was not shown to be at least zero on the region."""
        sign = self.sign_of(number)
        if sign is None or (sign.direction < 0 and number):
            raise DerivationRefused(f"{what} was not shown to be nonnegative on the region")

    def require_positive(self, number: FactorSum, what: str) -> None:
        """Refuse a number that was not shown to be above zero on the region."""
        sign = self.sign_of(number)
        if not number or sign is None or sign.direction < 0 or not sign.strict:
            raise DerivationRefused(f"{what} was not shown to be positive on the region")

    def common(self, number: FactorSum) -> tuple[Polynomial, Powers]:
        """A sum of products as a polynomial times powers of the factors."""
        least = tuple(min((powers[k] for powers in number), default=0) for k in range(len(self.factors)))
        total: Polynomial = {}
        for powers, value in number.items():
            pieces = [(self.factors[k], powers[k] - least[k]) for k in range(len(powers)) if powers[k] > least[k]]
            total = add(total, product_of(pieces, len(self.ranges), self.work), value)
        return total, least

    def is_zero(self, number: FactorSum) -> bool:
        """Whether a sum of products vanishes: brought to one denominator, it is the zero polynomial."""
        return not number or not self.common(number)[0]

    def sign_of_sum(self, number: FactorSum) -> Sign | None:
        """The sign of a sum of products, or None."""
        top, least = self.common(number)
        if not top:
            return Sign(1, False)
        above, below = self.sign_of_polynomial(top), self.sign_of({least: Fraction(1)})
        if above is None or below is None:
            return None
        return Sign(above.direction * below.direction, above.strict and below.strict)

    def show(self, k: int) -> str:
        """A factor, readable."""
        return show_polynomial(self.factors[k], [part.name for part in self.ranges])

    def show_number(self, number: FactorSum) -> str:
        """A product, readable."""
        if not number:
            return "0"
        ((powers, value),) = number.items()

        def text(k: int, power: int) -> str:
            inside = f"({self.show(k)})" if len(self.factors[k]) > 1 else self.show(k)
            return inside if power == 1 else f"{inside}**{power}"

        above = [text(k, power) for k, power in enumerate(powers) if power > 0]
        below = [text(k, -power) for k, power in enumerate(powers) if power < 0]
        size = [str(value)] if value != 1 or not above else []
        return "*".join(size + above) + "".join(f"/{text}" for text in below)

    def __str__(self) -> str:
        pieces = []
        for part in self.ranges:
            high = "" if part.high is None else f" {'<=' if part.closed[1] else '<'} {self.show_number(part.high)}"
            pieces.append(f"{self.show_number(part.low)} {'<=' if part.closed[0] else '<'} {part.name}{high}")
        return ", ".join(pieces) or "no parameters"


def show_polynomial(polynomial: Polynomial, names: list[str]) -> str:
    """A polynomial, readable."""
    terms: list[str] = []
    for powers, value in sorted(polynomial.items(), reverse=True):
        factors = [name if p == 1 else f"{name}**{p}" for name, p in zip(names, powers, strict=True) if p]
        size = [str(abs(value))] if abs(value) != 1 or not factors else []
        sign = ("-" if value < 0 else "") if not terms else ("- " if value < 0 else "+ ")
        terms.append(sign + "*".join(size + factors))
    return " ".join(terms) or "0"


# ---- reading -------------------------------------------------------------------------------------------------------------------------


def read_fraction(value: Any) -> Fraction:
    """A fraction, from "1/3", "2" or 2."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not (isinstance(value, str) and _FRACTION.fullmatch(value)):
        raise ValueError(f"{ascii(value)[:40]} is not a whole number or a fraction of at most 400 digits")
    return Fraction(value)


def read_index(value: Any) -> int:
    """A small whole number, from 3 or "3"."""
    if isinstance(value, bool) or not isinstance(value, int | str) or not _COUNT.fullmatch(str(value)):
        raise ValueError(f"{ascii(value)[:40]} does not count anything")
    return int(value)


def _read_polynomial(terms: Any, width: int) -> Polynomial:
    found: Polynomial = {}
    for value, powers in terms:
        at = tuple(read_index(p) for p in powers)
        if len(at) != width or at in found or max(at, default=0) > MOST_POWER:
            raise ValueError("the powers of a polynomial's term do not fit the parameters")
        found[at] = read_fraction(value)
    found = {powers: value for powers, value in found.items() if value}
    if not found:
        raise ValueError("a factor is zero")
    return found


def _read_name(value: Any) -> str:
    if not (isinstance(value, str) and WORDS.fullmatch(value)):
        raise ValueError(f"{ascii(value)[:40]} is not a name")
    return value


@dataclass(frozen=True)
class Reader:
    """Reads numbers ``"1/3"`` or ``["1/3", {"0": 2, "1": -1}]``: a fraction times powers of factors."""

    factors: int
    denominators: set[int] = field(default_factory=set)

    def number(self, value: Any) -> FactorSum:
        """One product."""
        powers = [0] * self.factors
        if isinstance(value, list):
            value, given = value
            for k, power in given.items():
                at = read_index(k)
                if (
                    at >= self.factors
                    or isinstance(power, bool)
                    or not isinstance(power, int)
                    or abs(power) > MOST_POWER
                ):
                    raise ValueError(f"factor {ascii(k)[:40]} to the power {ascii(power)[:40]} does not exist")
                powers[at] = power
                if power < 0:
                    self.denominators.add(at)
        size = read_fraction(value)
        return {tuple(powers): size} if size else {}

    def range(self, data: Any) -> Range:
        """One parameter."""
        high = None if data["high"] is None else self.number(data["high"])
        closed = (data["low closed"] is True, data["high closed"] is True)
        return Range(_read_name(data["name"]), self.number(data["low"]), high, closed)

    def vector(self, parts: Any) -> LeafVector:
        """Coefficients on the leaves of both matrices."""
        return {
            matrix: {read_index(leaf): self.number(value) for leaf, value in parts.get(matrix, {}).items()}
            for matrix in ("S", "Q")
        }

    def form(self, form: Any) -> FormEntries:
        """``{"S": {"i,j": q}, "Q": {...}, "f": {"t": q}, "1": q}``; an entry i < j stands for the sum of both."""
        found: FormEntries = {}
        for matrix in ("S", "Q"):
            for key, value in form.get(matrix, {}).items():
                i, j = (read_index(k) for k in key.split(","))
                found[(matrix, i, j)] = self.number(value)
        for t, value in form.get("f", {}).items():
            found[("f", read_index(t))] = self.number(value)
        found[("1",)] = self.number(form.get("1", 0))
        return found

    def function(self, data: Any) -> StoredFunction:
        """A class and evaluations."""
        evaluations = tuple(
            (self.vector(e["x"]), self.vector(e["g"]), {read_index(t): self.number(c) for t, c in e["f"].items()})
            for e in data["evaluations"]
        )
        return StoredFunction(
            evaluations, None if data["L"] is None else self.number(data["L"]), self.number(data["mu"])
        )


@dataclass(frozen=True)
class StoredFunction:
    """Evaluations (x, g, coefficients of the value) and the class: L (None: not smooth) and mu."""

    evaluations: tuple[Any, ...]
    L: FactorSum | None
    mu: FactorSum


# ---- the proof -----------------------------------------------------------------------------------------------------------------------


def times(a: FactorSum, b: FactorSum, work: WorkLimit) -> FactorSum:
    """The product of two numbers."""
    return multiply(a, b, work)


def interpolation(function: StoredFunction, i: int, j: int, unit: FactorSum, work: WorkLimit) -> FormEntries:
    """The inequality of evaluations i and j (Taylor, Hendrickx, Glineur 2017, Theorem 4), times 2 (L - mu) for smooth functions.

    f_j - f_i + <g_j, x_i - x_j> + (||dg||^2 + mu L ||dx||^2 - 2 mu <dg, dx>) / (2 (L - mu)) <= 0 ;  without L: the first three terms.
    The factor is positive, and with it nothing is divided. ``unit`` is the number one.
    """
    (xi, gi, fi), (xj, gj, fj) = function.evaluations[i], function.evaluations[j]
    scale = unit if function.L is None else add({}, add(function.L, function.mu, Fraction(-1)), Fraction(2))
    form: FormEntries = {}

    def put(key: tuple[Any, ...], value: FactorSum) -> None:
        form[key] = add(form.get(key, {}), value)

    for values, sign in ((fj, 1), (fi, -1)):
        for t, value in values.items():
            put(("f", t), times(scale, {p: sign * v for p, v in value.items()}, work))
    dx, dg = _difference(xi, xj), _difference(gi, gj)
    terms: list[tuple[LeafVector, LeafVector, FactorSum]] = [(gj, dx, scale)]
    if function.L is not None:
        terms += [
            (dg, dg, unit),
            (dx, dx, times(function.mu, function.L, work)),
            (dg, dx, add({}, function.mu, Fraction(-2))),
        ]
    for u, v, factor in terms:
        for matrix in ("S", "Q"):
            for p, a in u[matrix].items():
                for q, b in v[matrix].items():
                    put((matrix, min(p, q), max(p, q)), times(factor, times(a, b, work), work))
    return form


def _difference(u: LeafVector, v: LeafVector) -> LeafVector:
    return {
        matrix: {
            leaf: add(u[matrix].get(leaf, {}), v[matrix].get(leaf, {}), Fraction(-1))
            for leaf in {*u[matrix], *v[matrix]}
        }
        for matrix in ("S", "Q")
    }


def check_derivation(data: dict[str, Any]) -> CheckedRegion:
    """Return the region on which the derivation proves its conclusion.

    Multipliers of interpolation inequalities (named ``function i j``) of smooth functions are those of the inequality times 2 (L - mu).

    Raises
    ------
    DerivationRefused
        It is malformed, or a step of the proof fails.
    """
    try:
        if data["format"] != DERIVATION_FORMAT:
            raise ValueError(f"its format is not {DERIVATION_FORMAT!r}")
        width = len(data["parameters"])
        if width > MOST_PARAMETERS:
            raise ValueError(f"more than {MOST_PARAMETERS} parameters")
        factors = tuple(_read_polynomial(terms, width) for terms in data["factors"])
        reader = Reader(len(factors))
        ranges = tuple(map(reader.range, data["parameters"]))
        functions = {_read_name(name): reader.function(f) for name, f in data["functions"].items()}
        hypotheses = {_read_name(name): reader.form(form) for name, form in data["hypotheses"].items()}
        conclusion = reader.form(data["conclusion"])
        multipliers = {_read_name(name): reader.number(value) for name, value in data["multipliers"].items()}
        constant = reader.number(data["constant"])
        pivots = {
            matrix: [
                (reader.number(p["pivot"]), {read_index(k): reader.number(v) for k, v in p["row"].items()})
                for p in data["pivots"][matrix]
            ]
            for matrix in ("S", "Q")
        }
        sizes = {"S": read_index(data["mean"]), "Q": read_index(data["deviation"])}
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise DerivationRefused(f"the derivation is malformed: {type(error).__name__} {error}") from error
    if max(sizes.values()) > MOST_LEAVES:
        raise DerivationRefused(f"the derivation is malformed: a Gram matrix of more than {MOST_LEAVES} vectors")
    if len({part.name for part in ranges}) < width:
        raise DerivationRefused("two parameters have one name")

    region = CheckedRegion(ranges, factors)
    for k in sorted(reader.denominators):
        region.require_nonzero(k)
    for name, function in functions.items():
        _require_class(name, function, region)
    for name in hypotheses:
        if name.split()[0] in functions:
            raise DerivationRefused(
                f"the hypothesis {name!r} has the name of an interpolation inequality, which the checker writes down itself"
            )

    left = {key: dict(value) for key, value in conclusion.items()}
    unit = one(len(factors))
    for name, value in multipliers.items():
        region.require_nonnegative(value, f"the multiplier of {name!r}")
        row = hypotheses[name] if name in hypotheses else _pair(name, functions, unit, region.work)
        for key, coefficient in row.items():
            left[key] = add(left.get(key, {}), times(value, coefficient, region.work), Fraction(-1))

    left[("1",)] = add(left.get(("1",), {}), constant, Fraction(-1))
    region.require_nonnegative(add({}, constant, Fraction(-1)), "the opposite of the constant")
    for matrix in ("S", "Q"):
        for k, (pivot, entries) in enumerate(pivots[matrix]):
            region.require_nonnegative(pivot, f"pivot {k} of Z_{matrix}")
            for i, a in entries.items():
                for j, b in entries.items():
                    if i <= j:
                        value = times(pivot, times(a, b, region.work), region.work)
                        left[(matrix, i, j)] = add(left.get((matrix, i, j), {}), value, Fraction(1 + (i < j)))
    for key, number in left.items():
        if key[0] in ("S", "Q") and not 0 <= key[1] <= key[2] < sizes[key[0]]:
            raise DerivationRefused(f"entry {key[1]}, {key[2]} lies outside the block {key[0]} of size {sizes[key[0]]}")
        if not region.is_zero(number):
            what = {"f": "value number", "1": "the constant"}.get(key[0], f"entry of {key[0]}")
            raise DerivationRefused(f"the identity fails: {what} {', '.join(map(str, key[1:]))} does not balance")
    return region


def _pair(name: str, functions: dict[str, StoredFunction], unit: FactorSum, work: WorkLimit) -> FormEntries:
    word, *numbers = name.split()
    function = functions.get(word)
    most = 0 if function is None else len(function.evaluations)
    if function is None or len(numbers) != 2 or not all(_COUNT.fullmatch(k) and int(k) < most for k in numbers):
        raise DerivationRefused(f"{name!r} is neither a hypothesis nor a pair of evaluations")
    return interpolation(function, int(numbers[0]), int(numbers[1]), unit, work)


def _require_class(name: str, function: StoredFunction, region: CheckedRegion) -> None:
    """L > 0 and -L <= mu < L, on the whole region; or convex without L."""
    if function.L is None:
        if function.mu:
            raise DerivationRefused(f"{name!r} is not smooth, and then mu must be 0")
        return
    region.require_positive(function.L, f"L of {name!r}")
    for factor, what in ((-1, "L - mu"), (1, "L + mu")):
        sign = region.sign_of_sum(add(function.L, function.mu, Fraction(factor)))
        if sign is None or sign.direction < 0 or (factor < 0 and not sign.strict):
            raise DerivationRefused(
                f"{what} of {name!r} was not shown to be {'positive' if factor < 0 else 'nonnegative'}"
            )


def read_derivation(path: Path | str) -> dict[str, Any]:
    """Read a stored derivation: JSON with whole numbers and printable ASCII alone.

    Raises
    ------
    DerivationRefused
        The file is not there or holds something else; the message is one line.
    """

    def refuse(text: str) -> Any:
        raise ValueError(f"{text[:20]} is not exact; numbers are whole or fractions in quotes")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise ValueError(f"it is longer than {MOST_BYTES} bytes")
        data = json.loads(raw.decode(), parse_float=refuse, parse_constant=refuse, object_pairs_hook=once)
        level = [data]
        for _ in range(MOST_LEVELS):
            inside = [v for d in level if isinstance(d, dict) for v in (*d, *d.values())]
            inside += [v for d in level if isinstance(d, list) for v in d]
            for v in inside:
                if isinstance(v, str) and not (v.isascii() and v.isprintable() and len(v) <= 1000):
                    raise ValueError(f"{ascii(v)[:40]} is not a short line of printable ASCII")
            level = inside
        if level:
            raise RecursionError
    except RecursionError:
        raise DerivationRefused(f"it is not a readable derivation: it has more than {MOST_LEVELS} levels") from None
    except (OSError, ValueError) as error:
        raise DerivationRefused(
            f"it is not a readable derivation: {getattr(error, 'strerror', None) or error}"
        ) from error
    if not isinstance(data, dict) or data.get("format") != DERIVATION_FORMAT:
        raise DerivationRefused(f"it is not a derivation (JSON with format {DERIVATION_FORMAT!r}) but something else")
    return dict(data)


def describe_derivation(data: dict[str, Any], region: CheckedRegion) -> list[str]:
    """What `check` verified, in lines; the derivation has passed it."""
    used = [name for name in data["hypotheses"] if name in data["multipliers"]]
    classes = [name for name in data["functions"] if any(m.split()[0] == name for m in data["multipliers"])]
    clients = "any number of clients and any dimension" if read_index(data["deviation"]) else "any dimension"
    return [
        f"derivation verified: the conclusion holds in {clients} for all parameters of the region",
        f"  {region}",
        f"  given the hypotheses: {', '.join(used) or 'none'}; and the classes of: {', '.join(classes) or 'no function'}",
    ]


_UNCHECKED = "  not checked: that evaluations, hypotheses and conclusion are those of a lemma or of a method"


if __name__ == "__main__":
    try:
        given = read_derivation(sys.argv[1])
        print(*describe_derivation(given, check_derivation(given)), _UNCHECKED, sep="\n")
    except DerivationRefused as error:
        sys.exit(f"refused: {error}")
    except IndexError:
        sys.exit("usage: python checker.py FILE")
