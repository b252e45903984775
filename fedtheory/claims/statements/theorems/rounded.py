"""Floats that know how large the terms were that they are made of, so that what rounding may have decided is told from what it has not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

#: by what share of its terms' size rounding may change a value, far above what it does
ROUNDS_BY = 1e-9
#: terms that are so many times as large as their sum are no argument of a root or a power
CANCELLED = 1e4


@dataclass(slots=True)
class RoundedNumber:
    """A value, and the same with all terms taken as positive."""

    value: float
    size: float

    @classmethod
    def of(cls, number: RoundedNumber | Fraction | float) -> RoundedNumber:
        """A number as one that was not made of others."""
        return number if isinstance(number, cls) else cls(float(number), abs(float(number)))

    def __add__(self, other: RoundedNumber | Fraction | float) -> RoundedNumber:
        """The sum."""
        b = RoundedNumber.of(other)
        return RoundedNumber(self.value + b.value, self.size + b.size)

    __radd__ = __add__

    def __neg__(self) -> RoundedNumber:
        """The opposite."""
        return RoundedNumber(-self.value, self.size)

    def __sub__(self, other: RoundedNumber | Fraction | float) -> RoundedNumber:
        """The difference."""
        return self + -RoundedNumber.of(other)

    def __rsub__(self, other: Fraction | float) -> RoundedNumber:
        """The difference."""
        return -self + other

    def __mul__(self, other: RoundedNumber | Fraction | float) -> RoundedNumber:
        """The product."""
        b = RoundedNumber.of(other)
        return RoundedNumber(self.value * b.value, self.size * b.size)

    __rmul__ = __mul__

    def __rtruediv__(self, other: Fraction | float) -> RoundedNumber:
        """A number divided by it."""
        found = float(other) / self.value
        return RoundedNumber(found, abs(found) * (self.size / abs(self.value)))

    def __abs__(self) -> RoundedNumber:
        """Its absolute value."""
        return RoundedNumber(abs(self.value), self.size)

    def __lt__(self, other: RoundedNumber | Fraction | float) -> bool:
        """Whether it is less, as far as floats tell."""
        return self.value < RoundedNumber.of(other).value

    def __gt__(self, other: RoundedNumber | Fraction | float) -> bool:
        """Whether it is more, as far as floats tell."""
        return self.value > RoundedNumber.of(other).value

    def __int__(self) -> int:
        """A whole number, such as a round."""
        return round(self.value)

    def __float__(self) -> float:
        """Its value, for roots and powers.

        Raises
        ------
        ArithmeticError
            Its terms cancel, and a root would make much of what rounding left.
        """
        if self.size > CANCELLED * abs(self.value):
            raise ArithmeticError("terms cancel")
        return self.value


def is_less(a: RoundedNumber | Fraction | float, b: RoundedNumber | Fraction | float) -> bool | None:
    """Whether a < b, or a > b; None where rounding may decide it."""
    difference = RoundedNumber.of(a) - b
    if not abs(difference.value) > ROUNDS_BY * difference.size:
        return None
    return difference.value < 0
