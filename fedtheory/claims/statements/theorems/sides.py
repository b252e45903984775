"""Both sides of a sentence as numbers: parameters, rounds and quantities are given, sums and maxima worked out, without the checker's algebra."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, exact, show_tree
from fedtheory.proofs.regions.units import Quantity

#: name of a quantity or sequence and its index -> its value
Lookup = Callable[[str, int], Any]


class Sides:
    """Evaluates formulas where names have these values; quantities may be fractions, floats, or forms, in which formulas must be linear.

    ``number``: what a number in a formula becomes, a float for floats.
    """

    def __init__(
        self,
        numbers: Mapping[str, Any],
        lookup: Lookup,
        where: Mapping[str, ast.expr],
        number: Callable[[Fraction], Any] = Fraction,
    ) -> None:
        self.numbers, self.lookup, self.where, self.number = dict(numbers), lookup, where, number

    def gap(self, sentence: Sentence) -> Any:
        """Left side less right side; of 'exists', the least over its range."""
        gaps = self.gaps(sentence)
        return gaps[0] if len(gaps) == 1 else min(gaps)

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
        return Sides({**self.numbers, variable: Fraction(k)}, self.lookup, self.where, self.number)

    def value(self, tree: ast.expr) -> Any:
        """A formula's value.

        Raises
        ------
        InvalidInput
            A name has no value, or a root is no fraction.
        """
        match tree:
            case ast.Constant():
                return self.number(exact(tree))
            case ast.Name(id=name):
                if name in self.numbers:
                    return self.numbers[name]
                if name in self.where:
                    return self.value(self.where[name])
                raise InvalidInput(f"{name!r} has no value")
            case ast.UnaryOp(operand=inner):
                return -self.value(inner)
            case ast.BinOp(left=left, op=sign, right=right):
                return _operate(sign, self.value(left), self.value(right), tree)
            case ast.Subscript(value=ast.Name(id=name), slice=inner):
                return self.lookup(name, int(self.value(inner)))
            case ast.Call(func=ast.Name(id="sum"), args=[body, ast.Name(id=variable), low, high]):
                total: Any = Fraction(0)
                for k in range(int(self.value(low)), int(self.value(high)) + 1):
                    total = self._at(variable, k).value(body) + total
                return total
            case ast.Call(func=ast.Name(id=name), args=args):
                return _call(name, [self.value(part) for part in args], tree)
        raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated")


def _operate(sign: ast.operator, a: Any, b: Any, tree: ast.expr) -> Any:
    try:
        match sign:
            case ast.Add():
                return b + a if isinstance(a, Fraction) else a + b
            case ast.Sub():
                return -b + a if isinstance(a, Fraction) else a - b
            case ast.Mult():
                return b * a if isinstance(a, Fraction) else a * b
            case ast.Div():
                return a * (1 / b)
        whole = isinstance(b, Fraction | float) and b % 1 == 0
        if isinstance(a, Quantity):
            return a**b
        return a ** int(b) if whole else float(a) ** float(b)
    except (TypeError, ArithmeticError) as error:
        raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated here: {error}") from None


def _call(name: str, parts: list[Any], tree: ast.expr) -> Any:
    import math

    if name in ("max", "min"):
        return (max if name == "max" else min)(parts)
    if name == "abs":
        return abs(parts[0])
    if name == "sqrt":
        (inside,) = parts
        if isinstance(inside, Quantity):
            return inside.sqrt()
        if isinstance(inside, Fraction):
            above, below = isqrt(inside.numerator), isqrt(inside.denominator)
            if above**2 == inside.numerator and below**2 == inside.denominator:
                return Fraction(above, below)
        return math.sqrt(inside)
    if name in ("exp", "log"):
        try:
            return getattr(math, name)(parts[0])
        except ArithmeticError as error:
            raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated here: {error}") from None
    raise InvalidInput(f"{show_tree(tree)!r} cannot be evaluated")
