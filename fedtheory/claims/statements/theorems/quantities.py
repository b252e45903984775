"""Quantities of a round as formulas in the state: ``f(x) - f(x_star)``, ``mean(norm2(h_i - grad(f_i, x_star)))``.

Beside ``+ - * / **`` there are: ``norm2(u)`` and ``dot(u, v)``, numbers of each client where a vector is one of each client; ``mean(...)``, the
average over clients of numbers or of vectors, of which ``bar(u)`` is another name; and functions of the state, ``f(x)`` and ``grad(f, x)``. The same
text is evaluated on symbols of a system, on fractions and on floats: ``space`` says how.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.vectors import Form

#: what is asked of vectors, with the number of arguments
OPERATIONS = {"norm2": 1, "dot": 2, "mean": 1, "bar": 1, "grad": 2}


class ProductSpace(Protocol):
    """Products and averages of vectors of one kind."""

    def dot(self, u: Any, v: Any) -> Any:
        """<u, v>, of each client where u or v is."""

    def mean(self, number: Any) -> Any:
        """The average over clients of a number of each."""

    def bar(self, u: Any) -> Any:
        """The average over clients of vectors."""

    def is_of_each(self, u: Any) -> bool:
        """Whether a vector is one of each client."""


@dataclass(frozen=True)
class OfEachClient:
    """A number of each client, which waits to be averaged; its ``value`` is what the average is made of."""

    value: Any


@lru_cache(maxsize=2000)
def read_quantity(text: str) -> ast.expr:
    """Read the formula of a quantity.

    Raises
    ------
    InvalidInput
        It is none; the message says which piece of it.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        raise InvalidInput(f"{text!r} is not a formula of a quantity; write for example 'f(x) - f(x_star)'") from None
    _require(tree, text)
    return tree


def _require(node: ast.AST, text: str) -> None:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            parts: list[ast.expr] = [inner]
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=right):
            parts = [left, right]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if len(args) == OPERATIONS.get(name, 1):
            parts = list(args)
        case _:
            shown = ast.unparse(node)
            there = f"numbers, names, + - * / **, {', '.join(OPERATIONS)}, f(x)"
            raise InvalidInput(f"{shown!r} cannot stand in the quantity {text!r}; there are {there}")
    for part in parts:
        _require(part, text)


def names_of_quantity(text: str) -> frozenset[str]:
    """Names that occur in a quantity, functions of the state included."""
    tree = read_quantity(text)
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)) - OPERATIONS.keys()


def evaluate_quantity(
    text: str, space: ProductSpace, known: Mapping[str, Any], where: Mapping[str, ast.expr] | None = None
) -> Any:
    """The value of a quantity where names have these values; names of formulas stand for them.

    Raises
    ------
    InvalidInput
        A name has no value, a number stands where a vector must or the other way round, a number of each client was not averaged, or it was
        multiplied by another one before.
    """

    def go(node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=number):
                return Fraction(repr(number))
            case ast.Name(id=name):
                formula = None if where is None else where.get(name)
                if name in known and formula is not None:
                    raise InvalidInput(
                        f"{name!r} in the quantity {text!r} is a name of the state and of a formula; rename the formula"
                    )
                if name in known:
                    return known[name]
                if formula is not None:
                    return go(formula)
                raise InvalidInput(
                    f"{name!r} in the quantity {text!r} is neither in the state nor a parameter; there are {', '.join(sorted(known))}"
                )
            case ast.UnaryOp(operand=inner):
                return _each(lambda a: -a, go(inner))
            case ast.Call(func=ast.Name(id=name), args=args):
                return _call(
                    name, [go(part) for part in args] if name != "grad" else [args[0], go(args[1])], space, known, text
                )
            case ast.BinOp(left=left, op=sign, right=right):
                return _arithmetic(sign, go(left), go(right), text)
        raise InvalidInput(f"{ast.unparse(node)!r} cannot stand in a quantity")

    found = go(read_quantity(text))
    if _is_vector(found):
        raise InvalidInput(
            f"the quantity {text!r} is a vector; a number is made of it by 'norm2({text})' or 'dot(..., ...)'"
        )
    if isinstance(found, OfEachClient):
        raise InvalidInput(
            f"the quantity {text!r} is a number of each client; say which one of them, or their average: 'mean({text})'"
        )
    return found


def expect_quantity(
    text: str,
    space: ProductSpace,
    outcomes: Iterable[tuple[Any, Mapping[str, Any]]],
    told: Mapping[str, Any],
    where: Mapping[str, ast.expr],
    zero: Any,
) -> Any:
    """The expectation of a quantity over the outcomes of the draws, each with its probability and what names stand for; ``zero``: what it adds to."""
    found = (evaluate_quantity(text, space, {**known, **told}, where) * chance for chance, known in outcomes)
    return sum(found, zero)


def _call(name: str, parts: list[Any], space: ProductSpace, known: Mapping[str, Any], text: str) -> Any:
    if name in ("mean", "bar"):
        return _average(parts[0], space)
    if any(isinstance(part, OfEachClient | Form | Fraction) for part in parts):
        raise InvalidInput(f"{name}(...) in the quantity {text!r} is of vectors, and a number stands there")
    if name in ("norm2", "dot"):
        u, v = parts[0], parts[-1]
        product = space.dot(u, v)
        return OfEachClient(product) if space.is_of_each(u) or space.is_of_each(v) else product
    function = parts[0].id if name == "grad" and isinstance(parts[0], ast.Name) else name
    if function not in known or not hasattr(known[function], "at"):
        raise InvalidInput(f"{function!r} in the quantity {text!r} is no function of the state")
    slope, value = known[function].at(parts[-1])
    if name == "grad":
        return slope
    return OfEachClient(value) if known[function].of_each(parts[-1]) else value


def _is_vector(thing: Any) -> bool:
    return hasattr(thing, "averaged")


def _average(thing: Any, space: ProductSpace) -> Any:
    if isinstance(thing, OfEachClient):
        return space.mean(thing.value)
    return space.bar(thing) if _is_vector(thing) else thing


def _each(change: Callable[..., Any], *parts: Any) -> Any:
    if not any(isinstance(part, OfEachClient) for part in parts):
        return change(*parts)
    return OfEachClient(change(*(part.value if isinstance(part, OfEachClient) else part for part in parts)))


def _arithmetic(sign: ast.operator, a: Any, b: Any, text: str) -> Any:
    factors = [a, b] if isinstance(sign, ast.Mult) else [b] if isinstance(sign, ast.Div) else [a]
    if not isinstance(sign, ast.Add | ast.Sub) and all(isinstance(part, OfEachClient | Form) for part in factors):
        raise InvalidInput(
            f"in the quantity {text!r} what is made of vectors or functions is multiplied, divided by or raised to a power; write it in the claim"
        )
    match sign:
        case ast.Add() | ast.Sub():
            try:
                return _each(_add, a, b) if isinstance(sign, ast.Add) else _each(lambda x, y: _add(x, -y), a, b)
            except TypeError:
                raise InvalidInput(f"in the quantity {text!r} a vector and a number are added") from None
        case ast.Mult():
            return _each(_multiply, a, b)
        case ast.Div():
            return _each(lambda x, y: _multiply(x, 1 / y), a, b)
    return _each(lambda x, y: x ** int(y), a, b)


def _add(a: Any, b: Any) -> Any:
    return b + a if isinstance(a, Fraction) and not isinstance(b, Fraction) else a + b


def _multiply(a: Any, b: Any) -> Any:
    """Vectors and forms take numbers from the right."""
    return b * a if hasattr(b, "terms") or hasattr(b, "values") else a * b
