"""Claims on lengths, as they are held against instances: "sqrt(q) <= r" is one on squares, which asks for no root of a form."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, indexed


def tried_sentence(theorem: Theorem, claim: int) -> Sentence:
    """A claim as instances are held against it: "sqrt(q) <= r" as "q <= max(0, r)^2", which fails only where that does."""
    return _on_squares(theorem.sentences[claim])[0]


def square_of(sentence: Sentence) -> Sentence | None:
    """A claim "sqrt(q) <= r" as "q <= r^2", which says as much where r is not below zero; None of another one."""
    match _on_squares(sentence)[0].right:
        case ast.BinOp(left=ast.BinOp(left=ast.Call(args=[_, factor])), right=squares) if isinstance(
            sentence.left, ast.Call
        ):
            right = ast.BinOp(ast.BinOp(factor, ast.Pow(), ast.Constant(2)), ast.Mult(), squares)
            return replace(_on_squares(sentence)[0], right=right)
    return None


@lru_cache(maxsize=1000)
def _on_squares(sentence: Sentence) -> tuple[Sentence, ast.expr | None]:
    """A sentence on squares, and what must not be below zero for it to say as much; the sentence itself, and None, where its left side is no root."""
    match sentence.left:
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]) if sentence.sign != "->" and any(indexed(inner)):
            factor, squares = _split_roots(sentence.right)
            least = ast.Call(ast.Name("max"), [ast.Constant(0), factor], [])
            right = ast.BinOp(ast.BinOp(least, ast.Pow(), ast.Constant(2)), ast.Mult(), squares)
            return replace(sentence, left=inner, right=right), factor
    return sentence, None


def _split_roots(tree: ast.expr) -> tuple[ast.expr, ast.expr]:
    """A formula's factors that are no roots, and the squares of those that are."""
    one = ast.Constant(1)
    match tree:
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            return one, inner
        case ast.BinOp(left=left, op=(ast.Mult() | ast.Div()) as sign, right=right):
            (a, b), (c, d) = _split_roots(left), _split_roots(right)
            return ast.BinOp(a, sign, c), ast.BinOp(b, sign, d)
    return tree, one


def require_a_size(theorem: Theorem, claim: int, numbers: Mapping[str, Any]) -> None:
    """That no instance has "q > max(0, r)^2" says nothing of "sqrt(q) <= r" where r is below zero."""
    factor = _on_squares(theorem.sentences[claim])[1]
    if factor is not None and Sides(numbers, _nothing, theorem.formulas).value(factor) < 0:
        raise InvalidInput("its right side is below zero, where roots are not")


def _nothing(name: str, k: int) -> Any:
    raise InvalidInput(f"{name}[{k}] has no value")
