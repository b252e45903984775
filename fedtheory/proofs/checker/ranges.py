"""A region of parameters, whose ends may be products of powers of factors, and the signs of factors on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from .boxes import Sign, sign_on_box, without_units
from .polynomials import Polynomial, Powers, add, add_to, multiply, one, product_of, show_polynomial
from .reading import StepCount, current_count
from .refusals import Refused

FactorSum = dict[Powers, Fraction]  # a polynomial in the factors, with powers of any sign


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
    work: StepCount = field(default_factory=current_count)
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
            raise Refused("an end of a parameter is not one product")
        top, bottom = one(len(self.ranges)), one(len(self.ranges))
        if not number:
            return {}, bottom
        ((powers, value),) = number.items()
        for k, power in enumerate(powers):
            if power:
                if any(any(p[known:]) for p in self.factors[k]):
                    raise Refused(f"an end of {self.ranges[known].name!r} depends on a parameter that is not before it")
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
        above, below = ({i: self._powers(self._at[i][end], most[i]) for i in used} for end in (0, 1))
        total: Polynomial = {}
        for powers, value in polynomial.items():
            term = one(width)
            for i in used:
                term = multiply(term, above[i][powers[i]], self.work)
                term = multiply(term, below[i][most[i] - powers[i]], self.work)
            add_to(total, term, value)
        return total, product_of([(below[i][most[i]], 1) for i in used], width, self.work)

    def _powers(self, polynomial: Polynomial, most: int) -> list[Polynomial]:
        """Its powers from 0 on."""
        found = [one(len(self.ranges))]
        for _ in range(most):
            found.append(multiply(found[-1], polynomial, self.work))
        return found

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
        found = sign_on_box(polynomial, self.closed, degrees, 0, self.work)
        self.work.spend(len(polynomial) * width**3)  # what looking for changes of units takes
        if found is not None and found.strict:
            return found
        smaller = without_units(polynomial, self.closed)
        degrees = tuple(
            d if self.closed[i][1] else max((p[i] for p in smaller), default=0) for i, d in enumerate(degrees)
        )
        return sign_on_box(smaller, self.closed, degrees, work=self.work) or found

    def require_points(self) -> None:
        """Refuse a region that was seen to be empty, on which everything is true."""
        for part in self.ranges:
            if part.high is None:
                continue
            width, both = add(part.high, part.low, Fraction(-1)), all(part.closed)
            sign = self.sign_of_sum(width)
            below = sign is not None and sign.direction < 0 and (sign.strict or not both)
            if below or (self.is_zero(width) and not both):
                raise Refused(f"the region {self} is empty, and everything is true of nothing")

    def require_nonzero(self, k: int) -> None:
        """Refuse a factor that may vanish on the region."""
        sign = self.sign(k)
        if sign is None or not sign.strict:
            raise Refused(f"the denominator {self.show(k)} was not shown to be nonzero on the region")

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
            raise Refused(f"{what} was not shown to be nonnegative on the region")

    def require_positive(self, number: FactorSum, what: str) -> None:
        """Refuse a number that was not shown to be above zero on the region."""
        sign = self.sign_of(number)
        if not number or sign is None or sign.direction < 0 or not sign.strict:
            raise Refused(f"{what} was not shown to be positive on the region")

    def common(self, number: FactorSum) -> tuple[Polynomial, Powers]:
        """A sum of products as a polynomial times powers of the factors."""
        least = tuple(min((powers[k] for powers in number), default=0) for k in range(len(self.factors)))
        total: Polynomial = {}
        for powers, value in number.items():
            pieces = [(self.factors[k], powers[k] - least[k]) for k in range(len(powers)) if powers[k] > least[k]]
            add_to(total, product_of(pieces, len(self.ranges), self.work), value)
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
