"""Expressions and comparisons in named parameters: read from text, printed, and evaluated on whatever numbers are put in.

An expression is a tree of sums, differences, products, quotients, integer powers, ``max`` and ``min`` of names and exact numbers. Text is taken
apart by Python's `ast` and never run: a decimal such as 0.1 is the fraction 1/10 that it prints as. The same expression is evaluated on
fractions (exactly), on floats, on rational functions of the parameters, and as a SymPy expression.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.exact import rational

#: the largest exponent in absolute value, and the longest text and deepest tree that are read
MOST_POWER, MOST_CHARACTERS, MOST_LEVELS = 1000, 10_000, 100
MOST_BITS_OF_A_POWER = 1_000_000  #: of a power, numerator and denominator

_BINARY: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2, "negative": 3, "**": 4}
_COMPARISONS: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}


@dataclass(frozen=True)
class Expression:
    """A number, a name, or an operation on expressions.

    ``kind`` is "number", "name", "negative", "max", "min" or one of ``+ - * / **``; ``value`` is the fraction or the name of a leaf.

    Examples
    --------
    >>> rate = Expression.parse("max((1 - lr*mu)**2, 1 - p**2)")
    >>> print(sorted(rate.names), rate.at({"lr": 1, "mu": Fraction(1, 10), "p": Fraction(1, 2)}))
    ['lr', 'mu', 'p'] 81/100
    """

    kind: str
    parts: tuple[Expression, ...] = ()
    value: Fraction | str | None = None

    @classmethod
    def parse(cls, text: Any) -> Expression:
        """Read an expression from text, or from a number (a float is the decimal it prints as).

        Raises
        ------
        InvalidInput
            It is something else; the message says which piece of it.
        """
        if isinstance(text, Expression):
            return text
        if isinstance(text, str):
            return _parse(text)
        found = rational(text)
        if isinstance(found, bool) or not isinstance(found, int | Fraction):
            raise InvalidInput(f"expected a number or an expression as text, got {text!r}")
        return number(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """The parameters that occur in it."""
        if self.kind == "name":
            return frozenset([str(self.value)])
        return frozenset().union(*(part.names for part in self.parts))

    @property
    def choices(self) -> bool:
        """Whether a maximum or minimum occurs in it, so that it is not one rational function."""
        return self.kind in ("max", "min") or any(part.choices for part in self.parts)

    def at(self, values: Mapping[str, Any], constant: Callable[[Fraction], Any] = Fraction) -> Any:
        """Its value where the names have these values: exact on fractions and whole numbers.

        Parameters
        ----------
        values : numbers of any one kind by name; more names than occur are no harm
        constant : what an exact number of the expression is turned into; fractions go with floats and rational functions

        Raises
        ------
        InvalidInput
            A name has no value, there is a division by zero, or a power is not a whole number of moderate size.
        """
        if self.kind == "number":
            assert isinstance(self.value, Fraction)
            return constant(self.value)
        if self.kind == "name":
            if self.value not in values:
                raise InvalidInput(f"{self.value!r} has no value; there are {', '.join(values) or 'none'}")
            given = values[str(self.value)]
            return Fraction(given) if isinstance(given, int) and not isinstance(given, bool) else given
        if self.kind == "**":
            base, power = self.parts
            return _power(base.at(values, constant), power.at(values), self)
        parts = [part.at(values, constant) for part in self.parts]
        if self.kind == "negative":
            return -parts[0]
        if self.kind in ("max", "min"):
            return _choose(self.kind, parts)
        try:
            return reduce(_ARITHMETIC[self.kind], parts)
        except ZeroDivisionError:
            raise InvalidInput(f"there is a division by zero in {self}") from None

    def sympy(self, symbols: Mapping[str, Any] | None = None) -> Any:
        """The same in SymPy, in plain symbols or the given ones."""
        sympy = require("sympy", "expressions in symbols")
        known = {name: sympy.Symbol(name) for name in self.names} | dict(symbols or {})
        return self.at(known, lambda value: sympy.Rational(value.numerator, value.denominator))

    def substitute(self, values: Mapping[str, Any]) -> Expression:
        """Expressions, or numbers, in the place of names."""
        if self.kind == "name":
            return Expression.parse(values[str(self.value)]) if self.value in values else self
        return Expression(self.kind, tuple(part.substitute(values) for part in self.parts), self.value)

    def branches(self) -> Iterator[tuple[Expression, tuple[tuple[Expression, Expression], ...]]]:
        """Every way to resolve its maxima and minima: the expression without them, and the pairs (a, b) with a <= b under which it is it."""
        if not self.parts:
            yield self, ()
            return
        for parts, premises in _products([list(part.branches()) for part in self.parts]):
            if self.kind not in ("max", "min"):
                yield Expression(self.kind, parts), premises
                continue
            for k, chosen in enumerate(parts):
                others = [other for j, other in enumerate(parts) if j != k]
                pairs = [(other, chosen) if self.kind == "max" else (chosen, other) for other in others]
                yield chosen, (*premises, *pairs)

    def __str__(self) -> str:
        if self.kind in ("number", "name"):
            return str(self.value)
        if self.kind in ("max", "min"):
            return f"{self.kind}({', '.join(map(str, self.parts))})"
        level = _BINDING[self.kind]
        if self.kind == "negative":
            return f"-{_inside(self.parts[0], level)}"
        left, right = self.parts
        if self.kind == "**":
            return f"{_inside(left, level + 1)}**{_inside(right, level + 1)}"
        gap = " " if level == 1 else ""
        return f"{_inside(left, level)}{gap}{self.kind}{gap}{_inside(right, level + 1)}"


def number(value: int | Fraction) -> Expression:
    """An exact number as an expression."""
    return Expression("number", value=Fraction(value))


@dataclass(frozen=True)
class Comparison:
    """A chain such as ``0 < mu <= L``: terms, and the signs between them."""

    terms: tuple[Expression, ...]
    signs: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Comparison:
        """Read a chain of ``< <= > >= ==``.

        Raises
        ------
        InvalidInput
            It is something else.
        """
        tree = _tree(text)
        if not isinstance(tree, ast.Compare) or any(type(sign) not in _COMPARISONS for sign in tree.ops):
            raise InvalidInput(f"expected a comparison such as '0 < mu <= L', got {text!r}")
        terms = tuple(_read(node, text) for node in (tree.left, *tree.comparators))
        return cls(terms, tuple(_COMPARISONS[type(sign)] for sign in tree.ops))

    @cached_property
    def names(self) -> frozenset[str]:
        """The parameters that occur in it."""
        return frozenset().union(*(term.names for term in self.terms))

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether it is true where the names have these values; exact on fractions."""
        found = [term.at(values) for term in self.terms]
        return all(_COMPARE[sign](a, b) for sign, a, b in zip(self.signs, found, found[1:], strict=False))

    def __str__(self) -> str:
        first, *others = map(str, self.terms)
        return " ".join([first, *(f"{sign} {term}" for sign, term in zip(self.signs, others, strict=True))])


def split_at_commas(text: str) -> list[str]:
    """The pieces between the commas outside of parentheses."""
    found, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return found


def _tree(text: str) -> ast.expr:
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(
            f"an expression of {len(text)} characters is longer than the {MOST_CHARACTERS} that are read"
        )
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidInput(
            f"{text[:80]!r} is not an expression in numbers, names, + - * / ** and max, min; write for example '2*L/(mu + L)'"
        ) from None


@lru_cache(maxsize=16_384)
def _parse(text: str) -> Expression:
    """Statements and proofs say the same few expressions again and again."""
    return _read(_tree(text), text)


def _read(node: ast.expr, text: str, level: int = 0) -> Expression:
    if level > MOST_LEVELS:
        raise InvalidInput(f"the expression has more than {MOST_LEVELS} levels: {text[:80]!r}")

    def read(part: ast.expr) -> Expression:
        return _read(part, text, level + 1)

    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return number(value)
        case ast.Constant(value=float() as value):
            written = ast.get_source_segment(text.strip(), node) or repr(value)
            return number(_exact(written.replace("_", ""), text))
        case ast.Name(id=name) if name.isidentifier() and name not in ("max", "min"):
            return Expression("name", value=name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Expression("negative", (read(operand),))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return read(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return Expression(_BINARY[type(sign)], (read(left), read(right)))
        case ast.Call(func=ast.Name(id="max" | "min" as kind), args=args, keywords=[]) if args:
            return Expression(kind, tuple(read(part) for part in args))
    piece = ast.get_source_segment(text.strip(), node) or text
    roots = "; exp, log and sqrt are for the claims of a Theorem" if re.match(r"(exp|log|sqrt)\(", piece) else ""
    raise InvalidInput(
        f"{piece[:80]!r} cannot stand in an expression; there are numbers, names, + - * / **, max(...) and min(...){roots}"
    )


def _exact(written: str, text: str) -> Fraction:
    """All digits that were written; a power of ten is kept small, since the number is written out."""
    exponent = written.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > MOST_POWER:
        raise InvalidInput(
            f"{written[:80]!r} cannot stand in an expression; the power of ten is at most {MOST_POWER}: {text[:80]!r}"
        )
    return Fraction(written)


def _power(base: Any, power: Any, whole: Expression) -> Any:
    if hasattr(power, "as_exponent"):  # a number with a unit, if it has none
        power = power.as_exponent()
    if not isinstance(power, Fraction) or power.denominator != 1 or abs(power) > MOST_POWER:
        raise InvalidInput(f"a power must be a whole number of at most {MOST_POWER} in absolute value, in {whole}")
    if (
        isinstance(base, Fraction)
        and abs(power) * (base.numerator.bit_length() + base.denominator.bit_length()) > MOST_BITS_OF_A_POWER
    ):
        raise InvalidInput(f"a power has more than {MOST_BITS_OF_A_POWER} bits, in {str(whole)[:80]}")
    try:
        return base ** int(power)
    except ZeroDivisionError:
        raise InvalidInput(f"there is a division by zero in {whole}") from None


def _choose(kind: str, parts: list[Any]) -> Any:
    if any(hasattr(part, "free_symbols") for part in parts):
        sympy = require("sympy", "expressions in symbols")
        return (sympy.Max if kind == "max" else sympy.Min)(*parts)
    if any(getattr(part, "ndim", 0) for part in parts):  # arrays, entry by entry
        return reduce(np.maximum if kind == "max" else np.minimum, parts)
    return max(parts) if kind == "max" else min(parts)


def _inside(part: Expression, level: int) -> str:
    inside = _BINDING.get(part.kind, 9)
    if part.kind == "number":
        assert isinstance(part.value, Fraction)
        inside = 2 if part.value.denominator != 1 else 9
        inside = 1 if part.value < 0 else inside
    return f"({part})" if inside < level else str(part)


def _products(choices: list[Any]) -> Iterator[tuple[tuple[Expression, ...], tuple[Any, ...]]]:
    if not choices:
        yield (), ()
        return
    for rest, premises in _products(choices[1:]):
        for part, own in choices[0]:
            yield (part, *rest), (*own, *premises)
