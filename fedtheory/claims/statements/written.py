"""A lemma's text read once more, on names: what it says, as a sentence, with its functions and hypotheses.

Vectors are sums of names with factors, numbers are formulas; what is subtracted in the conclusion stands on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.worlds import FunctionOf, _World

#: characters of a sentence; a longer one is not shown
MOST_WRITTEN = 1500
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 4, 9


class Written:
    """A vector or number as text: signed terms; of a product, one term. ``level`` is how tightly a single term binds."""

    __slots__ = ("terms",)

    def __init__(self, terms: Sequence[tuple[int, str, int]]) -> None:
        self.terms = tuple(terms)

    @classmethod
    def name(cls, text: str, level: int = _ATOM) -> Written:
        """A name, or a term as it is written."""
        return cls([(1, text, level)])

    @classmethod
    def of(cls, value: Any) -> Written:
        """A number, or what is written already."""
        if isinstance(value, Written):
            return value
        number = Fraction(value)
        return cls(
            []
            if number == 0
            else [(1 if number > 0 else -1, str(abs(number)), _ATOM if number.denominator == 1 else _PRODUCT)]
        )

    def __add__(self, other: Any) -> Written:
        return Written([*self.terms, *Written.of(other).terms])

    def __radd__(self, other: Any) -> Written:
        return Written.of(other) + self

    def __neg__(self) -> Written:
        return Written([(-sign, text, level) for sign, text, level in self.terms])

    def __sub__(self, other: Any) -> Written:
        return self + -Written.of(other)

    def __rsub__(self, other: Any) -> Written:
        return Written.of(other) - self

    def __mul__(self, other: Any) -> Written:
        factor = Written.of(other)
        if not self.terms or not factor.terms:
            return Written([])
        if factor.is_one:
            return self
        if self.is_one:
            return factor
        sign, a, b = 1, self, factor
        if len(a.terms) == 1 and a.terms[0][0] < 0:
            sign, a = -sign, -a
        if len(b.terms) == 1 and b.terms[0][0] < 0:
            sign, b = -sign, -b
        first, last = sorted((a, b), key=_rank)
        return Written([(sign, f"{first.inside(_PRODUCT)} {last.inside(_PRODUCT)}", _PRODUCT)])

    def __rmul__(self, other: Any) -> Written:
        product: Written = Written.of(other) * self
        return product

    def __truediv__(self, other: Any) -> Written:
        other = Written.of(other)
        if other.is_one or not self.terms:
            return self
        sign = -1 if len(other.terms) == 1 and other.terms[0][0] < 0 else 1
        below = (other if sign > 0 else -other).inside(_POWER)
        if len(self.terms) == 1 and self.terms[0][0] < 0:
            return Written([(-sign, f"{(-self).inside(_PRODUCT)}/{below}", _PRODUCT)])
        return Written([(sign, f"{self.inside(_PRODUCT)}/{below}", _PRODUCT)])

    def __rtruediv__(self, other: Any) -> Written:
        return Written.of(other) / self

    def __pow__(self, power: int) -> Written:
        return Written.name(f"{self.inside(_POWER + 1)}^{power}", _POWER) if power != 1 else self

    @property
    def is_one(self) -> bool:
        """Whether it is the number one."""
        return self.terms == ((1, "1", _ATOM),)

    def inside(self, level: int) -> str:
        """The text inside of what binds more tightly."""
        if len(self.terms) == 1 and self.terms[0][0] > 0 and self.terms[0][2] >= level:
            return self.terms[0][1]
        return f"({self})" if len(self.terms) != 1 or level > _SUM else str(self)

    def dot(self, other: Written) -> Written:
        """<u, v>, or ||u||^2."""
        if not self.terms or not other.terms:
            return Written([])
        if str(self) == str(other):
            return Written.name(f"||{self}||^2")
        return Written.name(f"<{self}, {other}>")

    def averaged(self, clients: None = None) -> Written:
        """The average over clients."""
        return Written.name(f"mean({self})") if self.terms else self

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        pieces = [f"{'-' if sign < 0 else '+'} {text}" for sign, text, _ in self.terms]
        text = " ".join(pieces)
        return text[2:] if text.startswith("+ ") else f"-{text[2:]}"


def _rank(factor: Written) -> int:
    """Numbers stand first in a product, then symbols, sums, and last what is made of vectors."""
    text = str(factor)
    if text.replace("/", "").isdigit():
        return 0
    return 3 if "||" in text or "<" in text else 2 if len(factor.terms) > 1 else 1


class WrittenWorld(_World):
    """Names for vectors, gradients and values; what was asked of functions is kept, to be told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def vector(self, name: str, client: bool = False) -> Written:
        """Its name."""
        return Written.name(name if name.replace("_", "").replace("*", "").isalnum() else f"[{name}]")

    def at(self, f: FunctionOf, x: Written, name: str, g: Written | None = None) -> tuple[Written, Written]:
        """A gradient, which has a name unless it is given, and a value."""
        kind = "grad" if f.L is not None else "subgradient of"
        slope = Written.name(f"{kind} {f.name}({x})", _PRODUCT) if g is None else g
        if g is not None and g.terms:
            self.told.append(f"{g} is {'the gradient' if f.L is not None else 'a subgradient'} of {f.name} at {x}")
        elif g is not None:
            self.told.append(f"{x} is a stationary point of {f.name}")
        return slope, Written.name(f"{f.name}({x})")

    def value(self, name: str) -> Written:
        """Its name."""
        return Written.name(f"[{name}]")


def write_lemma(conclusion: Written, world: WrittenWorld, region: str) -> str:
    """The sentence of a lemma: conclusion, functions, hypotheses, parameters."""
    left = [term for term in conclusion.terms if term[0] > 0]
    right = [(-sign, text, level) for sign, text, level in conclusion.terms if sign < 0]
    said = f"{Written(left)} <= {Written(right)}"
    functions = [f"{f.name} {_class(f)}" for f in world.functions]
    given = [f"{name}: {form} <= 0" for name, form in world.hypotheses]
    told = list(dict.fromkeys(world.told))
    return "; ".join(filter(None, [said, ", ".join(functions), "; ".join(told), "; ".join(given), region])) + "."


def _class(f: FunctionOf) -> str:
    each = " of each client" if f.client else ""
    if f.L is None:
        return f"closed and convex{each}"
    mu = str(f.mu)
    if mu == "0":
        return f"convex and {f.L}-smooth{each}"
    if mu == f"-{f.L}":
        return f"{f.L}-smooth{each}"
    return f"{mu}-strongly convex and {f.L}-smooth{each}"
