"""Formulas of statements and proof terms: text that is taken apart by Python's `ast` and never run, and sentences made of them.

A formula is made of whole numbers, decimals (0.1 is one tenth), names, ``+ - * / **``, quantities of a round ``D[t+1]``, sums
``sum(X[t], t, 1, T)`` over rounds, ``max(a, b)``, ``min``, ``abs``, ``sqrt``, ``exp`` and ``log``. A sentence is
``[at K=2:] [exists t in a..b:] left <= right`` with one of ``<= < == >= >``, or a limit, ``D[t] -> 0 as t``, which may be
along an infinite set of rounds, ``D[t] -> 0 as t in J``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from .reading import spend

#: longest text, deepest tree and most digits of a number that are read
MOST_CHARACTERS, MOST_LEVELS, MOST_DIGITS = 20_000, 120, 400
#: most numbers, names and operations of a formula into which others were put
MOST_PIECES = 5_000
#: functions of formulas, with how many arguments they take; sums have a variable and its ends
FUNCTIONS = {"max": 2, "min": 2, "abs": 1, "sqrt": 1, "exp": 1, "log": 1, "sum": 4}

_SIGNS: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "=="}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_EXISTS = re.compile(r"\s*exists\s+([A-Za-z_]\w*)\s+in\s+(.+?)\.\.(.+?):(.*)", re.S)
_LIMIT = re.compile(r"(.*)->(.*)\bas\s+([A-Za-z_]\w*)(?:\s+in\s+([A-Za-z_]\w*))?\s*", re.S)
_AT = re.compile(r"\s*at\s+([A-Za-z_]\w*\s*=\s*\d{1,6}(?:\s*,\s*[A-Za-z_]\w*\s*=\s*\d{1,6})*)\s*:(.*)", re.S)


class Unreadable(ValueError):
    """A text is no formula; the message says which piece of it."""


@lru_cache(maxsize=20_000)
def read(text: str) -> ast.expr:
    """Read a formula; trees are shared and never changed.

    Raises
    ------
    Unreadable
        It is something else.
    """
    tree = _parse(text)
    _require_formula(tree, text)
    return tree


class _Pairs(ast.NodeTransformer):
    """The largest (or least) of several is that of two, one after the other."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="max" | "min"), args=[first, second, *rest], keywords=[]) if rest:
                for part in (second, *rest):
                    first = ast.Call(node.func, [first, part], [])
                return first
        return node


def _parse(text: str) -> ast.expr:
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"a formula of {len(text)} characters is longer than the {MOST_CHARACTERS} that are read")
    spend(len(text))
    try:
        tree: ast.expr = _Pairs().visit(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unreadable(f"{text.strip()[:80]!r} is not a formula") from None
    return tree


def _require_formula(node: ast.expr, text: str, level: int = 0) -> None:
    if level > MOST_LEVELS:
        raise Unreadable(f"a formula has more than {MOST_LEVELS} levels: {text.strip()[:80]!r}")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            if len(repr(value)) > MOST_DIGITS or "e" in repr(value) or "n" in repr(value):
                raise Unreadable(f"{repr(value)[:40]} is not a whole number or a decimal of moderate size")
            return
        case ast.Name():
            return
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            parts = [inner]
        case ast.BinOp(left=left, op=sign, right=right) if isinstance(sign, _ARITHMETIC):
            parts = [left, right]
        case ast.Subscript(value=ast.Name(), slice=inner):
            parts = [inner]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if FUNCTIONS.get(name) == len(args):
            if name == "sum" and not isinstance(args[1], ast.Name):
                raise Unreadable(f"a sum is sum(term, variable, first, last), got {show_tree(node)!r}")
            parts = list(args)
        case _:
            raise Unreadable(
                f"{show_tree(node)[:80]!r} cannot stand in a formula; there are numbers, names, + - * / **, D[t], "
                f"sum(D[t], t, 1, T), {', '.join(FUNCTIONS)}"
            )
    for part in parts:
        _require_formula(part, text, level + 1)


def show_tree(tree: ast.AST) -> str:
    """A tree as text."""
    return ast.unparse(tree)


def exact(node: ast.Constant) -> Fraction:
    """The number of a constant, with the digits that it prints as."""
    return Fraction(repr(node.value))


def substitute(tree: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """Trees in the place of names; the variable of a sum is its own, and what is put inside must not speak of it.

    Raises
    ------
    Unreadable
        It speaks of a variable, or the formula becomes too long.
    """
    found = _substitute(tree, values)
    pieces = _count_pieces(found, {})
    if pieces > MOST_PIECES:
        raise Unreadable(f"a formula of more than {MOST_PIECES} numbers and names, once others are put into it")
    spend(pieces)
    return found


def _count_pieces(tree: ast.AST, known: dict[int, int]) -> int:
    """How many pieces a tree has; those that stand in several places are looked at once, and counted in each."""
    if id(tree) not in known:
        known[id(tree)] = 1 + sum(_count_pieces(part, known) for part in _parts(tree))
    return known[id(tree)]


def _parts(tree: ast.AST) -> list[ast.expr]:
    match tree:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=inner) | ast.Subscript(slice=inner):
            return [inner]
        case ast.Call(args=parts):
            return parts
    return []


def _substitute(tree: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    match tree:
        case ast.Name(id=name):
            return values.get(name, tree)
        case ast.Call(func=ast.Name(id="sum"), args=[body, ast.Name(id=variable), low, high]):
            inner = {k: v for k, v in values.items() if k != variable}
            if any(variable in names(inner[k]) for k in names(body) & inner.keys()):
                raise Unreadable(
                    f"{variable!r} is the variable of {show_tree(tree)!r} and of what is put into it; rename one"
                )
            ends = [_substitute(low, values), _substitute(high, values)]
            return ast.Call(tree.func, [_substitute(body, inner), tree.args[1], *ends], [])
        case ast.Call(args=args):
            return ast.Call(tree.func, [_substitute(part, values) for part in args], [])
        case ast.BinOp(left=left, op=sign, right=right):
            return ast.BinOp(_substitute(left, values), sign, _substitute(right, values))
        case ast.UnaryOp(op=sign, operand=inner):
            return ast.UnaryOp(sign, _substitute(inner, values))
        case ast.Subscript(value=quantity, slice=inner):
            return ast.Subscript(quantity, _substitute(inner, values), ast.Load())
    return tree


def names(tree: ast.expr) -> frozenset[str]:
    """Free names, those inside of brackets included, quantities and functions not."""
    match tree:
        case ast.Name(id=name):
            return frozenset([name])
        case ast.Subscript(slice=inner):
            return names(inner)
        case ast.Call(func=ast.Name(id="sum"), args=[body, ast.Name(id=variable), low, high]):
            return (names(body) - {variable}) | names(low) | names(high)
        case ast.Call(args=parts):
            return frozenset().union(*map(names, parts))
        case ast.BinOp(left=left, right=right):
            return names(left) | names(right)
        case ast.UnaryOp(operand=inner):
            return names(inner)
    return frozenset()


def indexed(tree: ast.expr) -> list[ast.Subscript]:
    """All quantities of rounds that occur in a tree."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]


def quantity_of(node: ast.Subscript) -> str:
    """The name of an indexed quantity."""
    assert isinstance(node.value, ast.Name)  # formulas index names alone
    return node.value.id


@dataclass(frozen=True)
class Exists:
    """There is a round ``variable`` from ``low`` to ``high``."""

    variable: str
    low: ast.expr
    high: ast.expr

    def __str__(self) -> str:
        return f"exists {self.variable} in {show_tree(self.low)}..{show_tree(self.high)}: "


@dataclass(frozen=True)
class Sentence:
    """``left <= right``, ``left < right`` or ``left == right``, for all rounds in it, or for one round in a range; or ``left -> right``.

    ``fixed``: whole numbers for which alone it is said. ``to_infinity``: the round that grows without end, of a limit. ``along``: an infinite
    set of rounds, which may be any, where it is a limit along these alone.

    Examples
    --------
    >>> sentence = Sentence.parse("exists t in 1..T: D[t] <= 4*(F[1] - F[T+1])/T")
    >>> print(sentence.sign, sorted(sentence.names))
    <= ['T']
    """

    left: ast.expr
    sign: str
    right: ast.expr
    exists: Exists | None = None
    fixed: tuple[tuple[str, int], ...] = ()
    to_infinity: str = ""
    along: str = ""

    @classmethod
    def parse(cls, text: str) -> Sentence:
        """Read a sentence.

        Raises
        ------
        Unreadable
            It is something else.
        """
        spend(len(text) ** 2 // 2000)  # what taking it apart may take
        at = _AT.fullmatch(text)
        body = at[2] if at else text
        limit = _LIMIT.fullmatch(body)
        if limit is not None:
            said = cls(read(limit[1]), "->", read(limit[2]), None, _fixed(at, text), limit[3], limit[4] or "")
            return said.substitute({name: ast.Constant(number) for name, number in said.fixed})
        found = _EXISTS.fullmatch(body)
        bound = Exists(found[1], read(found[2]), read(found[3])) if found else None
        if bound is not None and bound.variable in names(bound.low) | names(bound.high):
            raise Unreadable(
                f"{bound.variable!r} is the variable of {str(bound)!r} and stands in its range; rename one"
            )
        tree = _parse(found[4] if found else body)
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in _SIGNS):
            raise Unreadable(f"{text.strip()[:120]!r} is not 'left <= right', 'left < right' or 'left == right'")
        left, right, sign = tree.left, tree.comparators[0], _SIGNS[type(tree.ops[0])]
        for side in (left, right):
            _require_formula(side, text)
        if sign in (">", ">="):
            left, right, sign = right, left, sign.replace(">", "<")
        fixed = _fixed(at, text)
        said = cls(left, sign, right, bound, fixed)
        return said.substitute({name: ast.Constant(number) for name, number in fixed})

    def substitute(self, values: Mapping[str, ast.expr]) -> Sentence:
        """Trees in the place of names; the variable of a quantifier is its own."""
        bound = self.exists
        values = {k: v for k, v in values.items() if k != self.to_infinity}
        if bound is None:
            return replace(self, left=substitute(self.left, values), right=substitute(self.right, values))
        inner = {k: v for k, v in values.items() if k != bound.variable}
        if any(bound.variable in names(v) for v in inner.values()):
            raise Unreadable(f"{bound.variable!r} is the variable of {self} and of what is put into it; rename one")
        ends = Exists(bound.variable, substitute(bound.low, values), substitute(bound.high, values))
        return replace(self, left=substitute(self.left, inner), right=substitute(self.right, inner), exists=ends)

    def at(self, name: str, number: int) -> Sentence:
        """The same for one value of a whole number."""
        fixed = tuple(sorted({**dict(self.fixed), name: number}.items()))
        return replace(self.substitute({name: ast.Constant(number)}), fixed=fixed)

    @property
    def sides(self) -> tuple[ast.expr, ast.expr]:
        """Left and right."""
        return self.left, self.right

    @property
    def names(self) -> frozenset[str]:
        """Free names."""
        found = names(self.left) | names(self.right)
        if self.exists is None:
            return found - {self.to_infinity}
        return (found - {self.exists.variable}) | names(self.exists.low) | names(self.exists.high)

    def own_rounds(self, fixed: frozenset[str], claimed: frozenset[str]) -> frozenset[str]:
        """Of a hypothesis, the rounds that are the claim's own; it is about all others.

        ``fixed``: rounds that are one number in all hypotheses; ``claimed``: the claim's. Of these it is about the claim's own where it speaks of
        them as numbers or ends of sums alone, ``sum(w[r], r, 0, N) == 1``, and not as the place of a quantity; a hypothesis without quantities is
        about the claim's own, whatever it speaks of.
        """
        nodes = [node for side in self.sides for node in indexed(side)]
        places = frozenset().union(*(names(node.slice) for node in nodes))
        return self.names & (fixed | (claimed - places) if nodes else self.names)

    def __str__(self) -> str:
        fixed = f"at {', '.join(f'{name}={k}' for name, k in self.fixed)}: " if self.fixed else ""
        end = f" as {self.to_infinity}" if self.to_infinity else ""
        end += f" in {self.along}" if self.along else ""
        return f"{fixed}{self.exists or ''}{show_tree(self.left)} {self.sign} {show_tree(self.right)}{end}"


def _fixed(found: re.Match[str] | None, text: str) -> tuple[tuple[str, int], ...]:
    """Whole numbers that are fixed before the colon."""
    if found is None:
        return ()
    fixed = tuple(sorted((name.strip(), int(k)) for name, k in (piece.split("=") for piece in found[1].split(","))))
    if len(dict(fixed)) < len(fixed):
        raise Unreadable(f"a number is fixed twice in {text.strip()[:120]!r}")
    return fixed


def split_pieces(text: str) -> list[str]:
    """The pieces between the commas outside of parentheses and brackets, without empty ones."""
    found, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            found.append("")
        else:
            found[-1] += character
    return [piece.strip() for piece in found if piece.strip()]


def subtrees(tree: ast.expr) -> Iterator[ast.expr]:
    """Every formula inside of a formula, itself included."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.expr))
