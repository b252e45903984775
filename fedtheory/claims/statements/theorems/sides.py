"""Both sides of a sentence as numbers: parameters, rounds and quantities are given, sums and maxima worked out, without the checker's algebra."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from math import isqrt
from typing import Any

from fedtheory.claims.statements.theorems.irrational import Irrational, larger_of, smaller_of
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, exact, show_tree
from fedtheory.proofs.regions.units import Quantity

#: name of a quantity or sequence and its index -> its value
Lookup = Callable[[str, int], Any]


class Sides:
    """Evaluates formulas where names have these values; quantities may be fractions, floats, or forms, in which formulas must be linear.

    ``number``: what a number in a formula becomes, a float for floats. ``irrational``: what a root, power, exponential or logarithm of a fraction
    becomes that is no fraction, by name and arguments; a float where nothing is said.
    """

    def __init__(
        self,
        numbers: Mapping[str, Any],
        lookup: Lookup,
        where: Mapping[str, ast.expr],
        number: Callable[[Fraction], Any] = Fraction,
        irrational: Irrational | None = None,
    ) -> None:
        self.numbers, self.lookup, self.where, self.number = dict(numbers), lookup, where, number
        self.irrational = irrational or _in_floats
        self._worked_out: dict[str, Any] = {}

    def gap(self, sentence: Sentence) -> Any:
        """Left side less right side; of 'exists', the least over its range."""
        return reduce(smaller_of, self.gaps(sentence))

    def gaps(self, sentence: Sentence) -> list[Any]:
        """Left side less right side; of 'exists', for each round of its range, of which there is one at least."""
        if sentence.exists is None:
            return [self.value(sentence.left) - self.value(sentence.right)]
        low, high = int(self.value(sentence.exists.low)), int(self.value(sentence.exists.high))
        if high < low:
            raise InvalidInput(f"there is no round from {low} to {high}")
        every = (self._at(sentence.exists.variable, k) for k in range(low, high + 1))
        return [inner.value(sentence.left) - inner.value(sentence.right) for inner in every]

    def _at(self, variable: str, k: int) -> Sides:
        numbers = {**self.numbers, variable: Fraction(k)}
        return Sides(numbers, self.lookup, self.where, self.number, self.irrational)

    def value(self, tree: ast.expr) -> Any:
        """A formula's value.

        Raises
        ------
        InvalidInput
            A name has no value, or a root is no fraction.
        """
        return _evaluator_of(tree)(self)

    def of_name(self, name: str) -> Any:
        """The value of a name: its own, or that of its formula, which is worked out once.

        Raises
        ------
        InvalidInput
            It has none.
        """
        if name in self.numbers:
            return self.numbers[name]
        if name not in self.where:
            raise InvalidInput(f"{name!r} has no value")
        if name not in self._worked_out:
            self._worked_out[name] = self.value(self.where[name])
        return self._worked_out[name]

    def power(self, a: Any, b: Any) -> Any:
        """a**b."""
        if isinstance(a, Quantity):
            return a**b
        if isinstance(b, Fraction | float) and b % 1 == 0:
            return a ** int(b)
        return a if a == 1 or (a == 0 and b > 0) else self.irrational("power", a, b)

    def total(self, body: ast.expr, variable: str, low: int, high: int) -> Any:
        """The sum of a formula from one round to another."""
        found: Any = Fraction(0)
        for k in range(low, high + 1):
            found = self._at(variable, k).value(body) + found
        return found


@lru_cache(maxsize=50_000)
def _evaluator_of(tree: ast.expr) -> Callable[[Sides], Any]:
    """What evaluates a formula, made once of its tree."""
    match tree:
        case ast.Constant():
            number = exact(tree)
            return lambda sides: sides.number(number)
        case ast.Name(id=name):
            return lambda sides: sides.of_name(name)
        case ast.UnaryOp(operand=inner):
            of_inner = _evaluator_of(inner)
            return lambda sides: -of_inner(sides)
        case ast.BinOp(left=left, op=sign, right=right):
            of_left, of_right, operate = _evaluator_of(left), _evaluator_of(right), _OPERATIONS.get(type(sign))
            if operate is None:
                return lambda sides: _operate(sides.power, of_left(sides), of_right(sides), tree)
            return lambda sides: _operate(operate, of_left(sides), of_right(sides), tree)
        case ast.Subscript(value=ast.Name(id=name), slice=inner):
            index = _evaluator_of(inner)
            return lambda sides: sides.lookup(name, int(index(sides)))
        case ast.Call(func=ast.Name(id="sum"), args=[body, ast.Name(id=variable), low, high]):
            first, last = _evaluator_of(low), _evaluator_of(high)
            return lambda sides: sides.total(body, variable, int(first(sides)), int(last(sides)))
        case ast.Call(func=ast.Name(id=name), args=args):
            parts = [_evaluator_of(part) for part in args]
            return lambda sides: _call(sides.irrational, name, [part(sides) for part in parts], tree)
    raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated")


def _operate(operate: Callable[[Any, Any], Any], a: Any, b: Any, tree: ast.expr) -> Any:
    try:
        return operate(a, b)
    except (TypeError, ArithmeticError, ValueError) as error:
        raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated here: {error}") from None


def _in_floats(name: str, *arguments: Any) -> float:
    return math.pow(*arguments) if name == "power" else float(getattr(math, name)(*arguments))


#: a form that a fraction meets is first, as it knows what to do with it
_OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: b + a if isinstance(a, Fraction) else a + b,
    ast.Sub: lambda a, b: -b + a if isinstance(a, Fraction) else a - b,
    ast.Mult: lambda a, b: b * a if isinstance(a, Fraction) else a * b,
    ast.Div: lambda a, b: a * (1 / b),
}


def _call(irrational: Irrational, name: str, parts: list[Any], tree: ast.expr) -> Any:
    match name, parts:
        case ("max", [a, b]):
            return larger_of(a, b)
        case ("min", [a, b]):
            return smaller_of(a, b)
        case ("abs", [a]):
            return abs(a)
        case ("sqrt", [Quantity() as inside]):
            return inside.sqrt()
        case ("sqrt", [Fraction() as inside]) if inside >= 0:
            above, below = isqrt(inside.numerator), isqrt(inside.denominator)
            if above**2 == inside.numerator and below**2 == inside.denominator:
                return Fraction(above, below)
    if name in ("sqrt", "exp", "log"):
        try:
            return irrational(name, parts[0])
        except (ArithmeticError, ValueError) as error:
            raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated here: {error}") from None
    raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated")
