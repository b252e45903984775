"""Roots, powers, exponentials and logarithms of fractions that are no fractions: between which two they lie, or one that is close.

Functions are mpmath's on intervals; all else is done in fractions. Arrays of floats with their errors are in `fedtheory.tools.enclosures`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from fedtheory.core.errors import InvalidInput, require

#: bits of the ends between which a number lies
BITS_OF_ENDS = 200
#: digits that are shown of a number's lower end
SHOWN_DIGITS = 4


@dataclass(frozen=True)
class Between:
    """A number that lies between two fractions, ends included."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, number: Between | Fraction | int) -> Between:
        """A number as one that lies between itself and itself."""
        return number if isinstance(number, cls) else cls(Fraction(number), Fraction(number))  # type: ignore[arg-type]

    def __add__(self, other: Between | Fraction | int) -> Between:
        """The sum."""
        b = Between.of(other)
        return Between(self.low + b.low, self.high + b.high)

    __radd__ = __add__

    def __neg__(self) -> Between:
        """The opposite."""
        return Between(-self.high, -self.low)

    def __sub__(self, other: Between | Fraction | int) -> Between:
        """The difference."""
        return self + -Between.of(other)

    def __rsub__(self, other: Fraction | int) -> Between:
        """The difference."""
        return -self + other

    def __mul__(self, other: Between | Fraction | int) -> Between:
        """The product."""
        b = Between.of(other)
        ends = [x * y for x in (self.low, self.high) for y in (b.low, b.high)]
        return Between(min(ends), max(ends))

    __rmul__ = __mul__

    def __rtruediv__(self, other: Between | Fraction | int) -> Between:
        """A number divided by it.

        Raises
        ------
        ZeroDivisionError
            It may be zero.
        """
        if self.low <= 0 <= self.high:
            raise ZeroDivisionError("what is divided by may be zero")
        return Between.of(other) * Between(1 / self.high, 1 / self.low)

    def __pow__(self, power: int) -> Between:
        """A whole power."""
        if power < 0:
            return Between.of(1) * (1 / self**-power)
        ends = sorted((self.low**power, self.high**power))
        return Between(Fraction(0) if power % 2 == 0 and self.low <= 0 <= self.high and power else ends[0], ends[1])

    def __abs__(self) -> Between:
        """Its absolute value."""
        found: Between = larger_of(self, -self)
        return found

    @property
    def least(self) -> Fraction:
        """A short fraction below it, close where it is above zero."""
        if self.low <= 0:
            return self.low
        below = int(1 / self.low)
        unit = 10 ** (SHOWN_DIGITS + (len(str(below)) if below else 0))
        return Fraction(int(self.low * unit), unit)


def is_above(number: Between | Fraction, or_at: bool) -> bool:
    """Whether a number may be above zero, or at zero where that counts."""
    high = number.high if isinstance(number, Between) else number
    return high > 0 or (or_at and high == 0)


def larger_of(a: Any, b: Any) -> Any:
    """The larger of two numbers, of which one may lie between two."""
    if not (isinstance(a, Between) or isinstance(b, Between)):
        return max(a, b)
    a, b = Between.of(a), Between.of(b)
    return Between(max(a.low, b.low), max(a.high, b.high))


def smaller_of(a: Any, b: Any) -> Any:
    """The smaller of two numbers, of which one may lie between two."""
    return -larger_of(-a, -b) if isinstance(a, Between) or isinstance(b, Between) else min(a, b)


#: the name of a function, and its arguments -> its value
Irrational: TypeAlias = Callable[..., Any]


@cache
def _contexts() -> tuple[Any, Any]:
    """mpmath's intervals, and its numbers with room for their ends."""
    mpmath = require("mpmath", "claims with roots, exponentials and logarithms")
    intervals, numbers = mpmath.ctx_iv.MPIntervalContext(), mpmath.mp.clone()
    intervals.prec, numbers.prec = BITS_OF_ENDS, 2 * BITS_OF_ENDS
    return intervals, numbers


def place_between(name: str, *arguments: Any) -> Between:
    """sqrt, exp, log, or ``power`` of a base above zero and an exponent, of fractions or of numbers that lie between two.

    Raises
    ------
    InvalidInput
        There is no such number.
    """
    iv, _ = _contexts()
    first, *rest = (Between.of(x) for x in arguments)
    if (name in ("log", "power") and first.low <= 0) or (name == "sqrt" and first.low < 0):
        raise InvalidInput(f"{name} of {arguments[0]} is no number")
    x = _interval(first)
    found = iv.exp(_interval(rest[0]) * iv.log(x)) if name == "power" else getattr(iv, name)(x)
    return Between(_fraction(found.a), _fraction(found.b))


def approximate(name: str, *arguments: Fraction) -> Fraction:
    """A fraction as close as the ends of `place_between` are."""
    found = place_between(name, *arguments)
    return (found.low + found.high) / 2


def _interval(x: Between) -> Any:
    iv, _ = _contexts()
    low, high = (iv.mpf(end.numerator) / end.denominator for end in (x.low, x.high))
    return iv.mpf([low.a, high.b])


def _fraction(end: Any) -> Fraction:
    """An end of an interval."""
    _, numbers = _contexts()
    number = numbers.mpf(end)
    if not numbers.isfinite(number):
        raise InvalidInput("a number is too large")
    mantissa, exponent = number.man_exp
    size = Fraction(int(mantissa)) * 2**exponent if exponent >= 0 else Fraction(int(mantissa), 2**-exponent)
    return -abs(size) if number < 0 else size
