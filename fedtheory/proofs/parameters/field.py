"""Numbers that are rational functions of the parameters of a region: exact, with comparisons decided on the whole region.

They take the place of fractions in vectors and forms (`fedtheory.proofs.every_n.vectors`), in lemmas and in the rounds of methods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from fedtheory.core.errors import CannotTrace, InvalidInput, require
from fedtheory.proofs.checker.boxes import Sign
from fedtheory.proofs.checker.derivations import Reader
from fedtheory.proofs.checker.polynomials import Polynomial
from fedtheory.proofs.checker.ranges import CheckedRegion
from fedtheory.proofs.checker.reading import StepCount
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region


class ParameterField:
    """The field of rational functions of a region's parameters (real ones: whole numbers are fixed before)."""

    def __init__(self, region: Region) -> None:
        if any(parameter.integer for parameter in region.parameters):
            raise InvalidInput(f"whole numbers are not symbols; take one of the region's cases first: {region}")
        for parameter in region.parameters:
            if parameter.low.choices or (parameter.high is not None and parameter.high.choices):
                raise InvalidInput(
                    f"the ends of {parameter.name!r} have max or min in them; state the region's pieces one by one: {region}"
                )
        sympy = require("sympy", "proofs for all parameters")
        self.region = region
        self.names = region.names
        self.symbols = sympy.symbols(region.names or ("nothing",))
        self.elements = sympy.QQ.frac_field(*self.symbols)
        self.zero, self.one = self.number(0), self.number(1)
        self._signs = Products(self)

    def number(self, value: int | Fraction) -> RationalFunction:
        """An exact number."""
        return RationalFunction(self, self.raw(value))

    def raw(self, value: int | Fraction) -> Any:
        """The same as an element of SymPy's field."""
        return self.elements(self.elements.domain(value.numerator, value.denominator))

    def parameters(self) -> dict[str, RationalFunction]:
        """The parameters themselves, by name."""
        return {
            name: RationalFunction(self, self.elements(g))
            for name, g in zip(self.names, self.elements.gens, strict=False)
        }

    def read(self, expression: Expression | str | int | Fraction) -> RationalFunction:
        """The value of an expression without max and min."""
        value = Expression.parse(expression).at(self.parameters())
        return value if isinstance(value, RationalFunction) else self.number(value)

    def sympify(self, expression: Any) -> RationalFunction:
        """A SymPy expression as a number of this field."""
        return RationalFunction(self, self.elements.from_sympy(expression))

    def sign(self, value: Any) -> Sign | None:
        """The sign on the whole region, proved; or None."""
        if not isinstance(value, RationalFunction):
            return Sign(1 if value >= 0 else -1, value != 0)
        return self._signs.sign(value)


@lru_cache(maxsize=64)
def field_over(region: Region) -> ParameterField:
    """The field of a region; asked again, the same one, with the signs that are known."""
    return ParameterField(region)


def carry_over(value: Any, field: ParameterField) -> Any:
    """A number of another field, whose parameters that it speaks of this field has in the same order; other numbers as they are."""
    if not isinstance(value, RationalFunction) or value.field is field:
        return value
    place = [field.names.index(name) if name in field.names else None for name in value.field.names]
    made, width = field.elements.field, len(field.elements.gens)

    def carried(polynomial: Any) -> Any:
        terms = {}
        for powers, coefficient in polynomial.terms():
            moved = [0] * width
            for k, power in zip(place, powers, strict=False):
                if power:
                    if k is None:
                        raise InvalidInput(f"{value} speaks of more than the parameters {', '.join(field.names)}")
                    moved[k] = power
            terms[tuple(moved)] = coefficient
        return made.ring.from_dict(terms)

    return RationalFunction(field, made.raw_new(carried(value.element.numer), carried(value.element.denom)))


class RationalFunction:
    """A quotient of polynomials in the parameters; fractions and whole numbers mix with it.

    ``a < b`` is decided on the whole region, or refused.
    """

    __slots__ = ("element", "field")
    finite = True  # for those who refuse infinities and NaN

    def __init__(self, field: ParameterField, element: Any) -> None:
        self.field = field
        self.element = element

    def _other(self, value: Any) -> Any:
        if isinstance(value, RationalFunction):
            return value.element
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float):
            value = Fraction(repr(value))
        return self.field.raw(value) if isinstance(value, int | Fraction) else None

    def __add__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else RationalFunction(self.field, self.element + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else RationalFunction(self.field, self.element - b)

    def __rsub__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else RationalFunction(self.field, b - self.element)

    def __mul__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else RationalFunction(self.field, self.element * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else RationalFunction(self.field, self.element / b)

    def __rtruediv__(self, other: Any) -> RationalFunction:
        b = self._other(other)
        return NotImplemented if b is None else RationalFunction(self.field, b / self.element)

    def __pow__(self, power: int) -> RationalFunction:
        return RationalFunction(self.field, self.element**power)

    def __neg__(self) -> RationalFunction:
        return RationalFunction(self.field, -self.element)

    def __abs__(self) -> RationalFunction:
        return self if self >= 0 else -self

    def __eq__(self, other: object) -> bool:
        b = self._other(other)
        return b is not None and bool(self.element == b)

    def __hash__(self) -> int:
        """Of a constant, that of the fraction it equals."""
        above, below = self.element.numer, self.element.denom
        if not (above.is_ground and below.is_ground):
            return hash(self.element)
        value = above.coeff(1) / below.coeff(1)
        return hash(Fraction(int(value.numerator), int(value.denominator)))

    def __bool__(self) -> bool:
        return bool(self.element)

    def _compare(self, other: Any) -> tuple[Sign, bool]:
        difference = self - other
        sign = self.field.sign(difference)
        if sign is None:
            raise CannotTrace(
                f"{self} is neither above nor below {other} on all of the region {self.field.region}; split the region there"
            )
        return sign, not difference

    def __lt__(self, other: Any) -> bool:
        sign, equal = self._compare(other)
        if equal or sign.direction > 0:
            return False
        return self._strict(sign, other)

    def __gt__(self, other: Any) -> bool:
        sign, equal = self._compare(other)
        if equal or sign.direction < 0:
            return False
        return self._strict(sign, other)

    def __le__(self, other: Any) -> bool:
        sign, equal = self._compare(other)
        return equal or sign.direction < 0 or not self._strict(sign, other)

    def __ge__(self, other: Any) -> bool:
        sign, equal = self._compare(other)
        return equal or sign.direction > 0 or not self._strict(sign, other)

    def _strict(self, sign: Sign, other: Any) -> bool:
        if not sign.strict:
            raise CannotTrace(
                f"{self} may equal {other} on the region {self.field.region}; state the region without it"
            )
        return True

    def at(self, point: Mapping[str, Fraction]) -> Fraction:
        """Its value at a point, exact.

        Raises
        ------
        ZeroDivisionError
            There is a pole.
        """
        values = [point[name] for name in self.field.names]
        return evaluate(self.element.numer, values) / evaluate(self.element.denom, values)

    @property
    def expression(self) -> Any:
        """The same in SymPy."""
        return self.element.as_expr()

    def __str__(self) -> str:
        return str(self.expression)

    __repr__ = __str__


def evaluate(polynomial: Any, values: Sequence[Fraction]) -> Fraction:
    """A SymPy polynomial at a point, in fractions."""
    total = Fraction(0)
    for powers, value in polynomial.terms():
        term = Fraction(int(value.numerator), int(value.denominator))
        for base, power in zip(values, powers, strict=False):
            if power:
                term *= base**power
        total += term
    return total


MOST_SEARCHED = (
    20_000_000  #: steps that a search may spend on signs; each derivation that it stores is checked by itself
)


class Products:
    """Rational functions taken apart into irreducible factors, which are numbered as they come; signs by `CheckedRegion`."""

    def __init__(self, field: ParameterField) -> None:
        self.field = field
        self.factors: list[Polynomial] = []
        self._number: dict[Any, int] = {}
        self._taken: dict[Any, tuple[Fraction, dict[int, int]]] = {}
        self._region: CheckedRegion | None = None

    def take_apart(self, value: Any) -> tuple[Fraction, dict[int, int]]:
        """A fraction, and powers by number of factor, whose product it is."""
        if not isinstance(value, RationalFunction):
            return Fraction(value), {}
        if value.element not in self._taken:
            size, powers = Fraction(1), dict[int, int]()
            if not value:
                size = Fraction(0)
            else:
                for part, direction in ((value.element.numer, 1), (value.element.denom, -1)):
                    constant, factors = part.factor_list()
                    size *= Fraction(int(constant.numerator), int(constant.denominator)) ** direction
                    for factor, power in factors:
                        k = self._of(factor)
                        powers[k] = powers.get(k, 0) + direction * power
            self._taken[value.element] = size, powers
        return self._taken[value.element]

    def _of(self, factor: Any) -> int:
        if factor not in self._number:
            width = len(self.field.names)
            self._number[factor] = len(self.factors)
            self.factors.append(
                {tuple(p[:width]): Fraction(int(v.numerator), int(v.denominator)) for p, v in factor.terms()}
            )
        return self._number[factor]

    def number(self, value: Any) -> Any:
        """A number as the checker reads it: ``"1/3"`` or ``["1/3", {"0": 2, "1": -1}]``."""
        size, powers = self.take_apart(value)
        return [str(size), {str(k): power for k, power in sorted(powers.items())}] if powers else str(size)

    def ends(self) -> list[dict[str, Any]]:
        """The region's parameters as the checker reads them."""
        parameters = self.field.parameters()
        found = []
        for p in self.field.region.parameters:
            low, high = p.ends(parameters)
            found.append(
                {
                    "name": p.name,
                    "low": self.number(low),
                    "high": None if high is None else self.number(high),
                    "low closed": p.low_closed,
                    "high closed": p.high_closed,
                }
            )
        return found

    def stored_factors(self) -> list[Any]:
        """All factors as the checker reads them."""
        return [[[str(value), list(powers)] for powers, value in factor.items()] for factor in self.factors]

    def sign(self, value: RationalFunction) -> Sign | None:
        """The sign on the region, by the checker's own argument; None if it was not found."""
        size, powers = self.take_apart(value)
        if self._region is None:
            ends = self.ends()
            reader = Reader(len(self.factors))
            ranges = tuple(map(reader.range, ends))
            self._region = CheckedRegion(ranges, self.factors, StepCount(MOST_SEARCHED))
        return self._region.sign_of({tuple(powers.get(k, 0) for k in range(len(self.factors))): size} if size else {})
