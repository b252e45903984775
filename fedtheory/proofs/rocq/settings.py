"""Parameters on a region, the factors that numbers are made of, and the factors' signs: what certificates are read in (`core/Settings.v`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from fedtheory.proofs.checker.polynomials import Polynomial, multiply, one
from fedtheory.proofs.checker.reading import StepCount
from fedtheory.proofs.rocq.expressions import ONE, Real, name, real, total, whole_number
from fedtheory.proofs.rocq.signs import Branch, Interval, PolynomialQuotient, branches, find_trees

#: the words of `core/Numbers.v`, with the direction and whether it is strict, in the order in which they are tried
SIGNS = (("Positive", 1, True), ("Negative", -1, True), ("Nonnegative", 1, False), ("Nonpositive", -1, False))


@dataclass(frozen=True)
class NumberRange:
    """Where a number lies: between two expressions in those before it."""

    name: str
    low: Real
    high: Real | None = None
    low_closed: bool = False
    high_closed: bool = False

    def hypotheses(self) -> list[str]:
        """As Rocq reads them."""
        found = [f"{self.low.text(69)} {'<=' if self.low_closed else '<'} {self.name}"]
        if self.high is not None:
            found.append(f"{self.name} {'<=' if self.high_closed else '<'} {self.high.text(69)}")
        return found


@dataclass
class NumberSetting:
    """Numbers with ranges, free ones after them, and compound factors that come up.

    Examples
    --------
    >>> setting = NumberSetting([NumberRange("mu", real(0)), NumberRange("L", name("mu"))])
    >>> setting.product(Fraction(1, 2), [(setting.polynomial(name("L") - name("mu")), -1)])
    '((1 # 2)%Q, [0; 0; -1]%Z)'
    >>> setting.compound, setting.signs()
    (['L - mu'], ['(Positive, [])', '(Positive, [])', '(Positive, [])'])
    """

    ranges: Sequence[NumberRange]
    free: Sequence[str] = ()
    factors: list[tuple[Real, Polynomial]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Of all numbers."""
        return [*(r.name for r in self.ranges), *self.free]

    @property
    def compound(self) -> list[str]:
        """Compound factors, as text."""
        return [factor.text() for factor, _ in self.factors]

    def place(self, e: Real) -> int | None:
        """Where a number, or a compound factor, stands."""
        if e.op in ("name", "apply"):
            return self.names.index(e.parts[0]) if e.parts[0] in self.names else None
        known = [factor for factor, _ in self.factors]
        return len(self.names) + known.index(e) if e in known else None

    def _alone(self, e: Real) -> int | None:
        return self.place(e) if e.op in ("name", "apply") else None

    @cached_property
    def branches(self) -> list[Branch]:
        """The region in t (`fedtheory.proofs.rocq.signs`)."""

        def quotient(e: Real) -> PolynomialQuotient:
            return self.quotient(e, len(self.ranges))

        return branches(
            [
                Interval(
                    quotient(r.low),
                    None if r.high is None else quotient(r.high),
                    r.low_closed,
                    r.high_closed and r.high is not None,
                )
                for r in self.ranges
            ]
        )

    # ---- polynomials

    def quotient(self, e: Real, width: int | None = None) -> PolynomialQuotient:
        """An expression as a quotient of polynomials."""
        width, work = len(self.names) if width is None else width, StepCount()
        match e.op:
            case "name" | "apply":
                at = self.place(e)
                return {tuple(int(j == at) for j in range(width)): Fraction(1)}, one(width)
            case "whole":
                return ({(0,) * width: Fraction(e.parts[0])} if e.parts[0] else {}), one(width)
            case "neg":
                top, bottom = self.quotient(e.parts[0], width)
                return {at: -v for at, v in top.items()}, bottom
            case "^":
                found: PolynomialQuotient = one(width), one(width)
                base = self.quotient(e.parts[0], width)
                for _ in range(e.parts[1]):
                    found = multiply(found[0], base[0], work), multiply(found[1], base[1], work)
                return found
        (a, b), (c, d) = (self.quotient(part, width) for part in e.parts)
        if e.op == "*":
            return multiply(a, c, work), multiply(b, d, work)
        if e.op == "/":
            return multiply(a, d, work), multiply(b, c, work)
        sign = 1 if e.op == "+" else -1
        if b == d:
            return _sum(a, c, sign), b
        return _sum(multiply(a, d, work), multiply(c, b, work), sign), multiply(b, d, work)

    def polynomial(self, e: Real) -> Polynomial:
        """An expression that is a polynomial."""
        top, bottom = self.quotient(e)
        ((powers, value),) = bottom.items()
        assert not any(powers), f"{e} is no polynomial"
        return {at: v / value for at, v in top.items()}

    # ---- factors

    def product(self, size: Fraction, factors: Sequence[tuple[Polynomial, int]]) -> str:
        """A fraction times powers of polynomials, as data of type ``product``."""
        size, powers = self.monomial(size, factors)
        if not size:
            return "(0%Q, [])"
        most = max((k for k, n in powers.items() if n), default=-1)
        shown = "; ".join(str(powers.get(k, 0)) for k in range(most + 1))
        return f"(({whole_number(size.numerator)} # {whole_number(size.denominator)})%Q, [{shown}]%Z)"

    def monomial(self, size: Fraction, factors: Sequence[tuple[Polynomial, int]]) -> tuple[Fraction, dict[int, int]]:
        """A fraction times powers of polynomials, as one times powers of numbers and factors by their places."""
        powers: dict[int, int] = {}
        for polynomial, power in factors:
            if not power:
                continue
            if len(polynomial) == 1:
                ((at, value),) = polynomial.items()
                size *= value**power
                for k, n in enumerate(at):
                    powers[k] = powers.get(k, 0) + n * power
            else:
                share, k = self.factor(polynomial)
                size *= share**power
                powers[k] = powers.get(k, 0) + power
        return size, powers

    def factor(self, polynomial: Polynomial) -> tuple[Fraction, int]:
        """A number c and the place of a factor q so that the polynomial is c q; noted where it was not there."""
        for k, (_, known) in enumerate(self.factors):
            if known.keys() == polynomial.keys():
                first = next(iter(known))
                share = polynomial[first] / known[first]
                if all(value == share * known[at] for at, value in polynomial.items()):
                    return share, len(self.names) + k
        self.factors.append((polynomial_expression(polynomial, self.names), polynomial))
        return Fraction(1), len(self.names) + len(self.factors) - 1

    def note(self, e: Real) -> None:
        """Let an expression be a factor, where it is divided by and is no product of factors already."""
        top, bottom = self.quotient(e)
        for polynomial in (top, bottom):
            if len(polynomial) > 1:
                self.factor(polynomial)

    def note_divisor(self, e: Real) -> None:
        """Let what is left of an expression be a factor, where it is divided by, without the powers that all of its terms have."""
        for polynomial in self.quotient(e):
            least = [min(powers) for powers in zip(*polynomial, strict=True)]
            if len(polynomial) > 1:
                self.factor(
                    {tuple(n - k for n, k in zip(at, least, strict=True)): value for at, value in polynomial.items()}
                )

    # ---- signs

    def sign(self, polynomial: Polynomial) -> tuple[str, list[str]]:
        """The word for it, and the trees that show it."""
        width = len(self.ranges)
        if any(any(at[width:]) for at in polynomial):
            return "Unknown", []
        own = {at[:width]: value for at, value in polynomial.items()}
        for word, direction, strict in SIGNS:
            trees = find_trees({at: direction * value for at, value in own.items()}, self.branches, strict)
            if trees is not None:
                return word, trees
        return "Unknown", []

    def signs(self) -> list[str]:
        """Of all factors, as data."""
        width = len(self.names)
        every = [{tuple(int(j == k) for j in range(width)): Fraction(1)} for k in range(width)]
        every += [polynomial for _, polynomial in self.factors]
        return [f"({word}, [{'; '.join(trees)}])" for word, trees in map(self.sign, every)]

    def data(self) -> str:
        """As data of type ``setting``."""
        own = self._alone
        found = []
        for r in self.ranges:
            high = "None" if r.high is None else f"(Some {r.high.data(own)})"
            closed = boolean(r.high_closed and r.high is not None)
            found.append(f"Range {r.low.data(own)} {boolean(r.low_closed)} {high} {closed}")
        return f"Setting {rocq_list(found)} {len(self.free)}\n    {rocq_list([f.data(own) for f, _ in self.factors])}\n    {rocq_list(self.signs())}"


def _sum(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    found = dict(a)
    for at, value in b.items():
        new = found.get(at, Fraction(0)) + sign * value
        if new:
            found[at] = new
        else:
            found.pop(at, None)
    return found


def polynomial_expression(polynomial: Polynomial, names: Sequence[str]) -> Real:
    """A polynomial as an expression."""
    terms = []
    for powers, value in sorted(polynomial.items(), reverse=True):
        term = ONE
        for word, power in zip(names, powers, strict=False):
            term = term * name(word) ** power if power else term
        if abs(value) == 1 and term != ONE:
            terms.append(term if value > 0 else -term)
        elif term == ONE or value.denominator == 1:
            terms.append(real(value) * term)
        else:
            terms.append(real(value) * term)
    return total(terms)


def boolean(value: bool) -> str:
    """As Rocq writes it."""
    return "true" if value else "false"


def rocq_list(items: Sequence[str], *, apart: bool = False) -> str:
    """A list as Rocq writes it; ``apart``: one a line."""
    return "[" + (";\n     " if apart else "; ").join(items) + "]"


def rename(e: Real, names: Mapping[str, str]) -> Real:
    """Names in the place of others."""
    if e.op == "name":
        return name(names.get(e.parts[0], e.parts[0]))
    return Real(e.op, tuple(rename(part, names) if isinstance(part, Real) else part for part in e.parts))
