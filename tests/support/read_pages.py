"""Pages of proofs read back: formulas are evaluated on random vectors and fractions, and multipliers, inequalities and squares are added up.

Nothing of the proof object is used, only what stands on the page. A vector u_i of each client is its average and a deviation with average zero.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.explain.document import Block, Display, Document, Heading, Math, PageTable

CLIENTS, SIZE = 3, 2


def sections(page: Document) -> Iterator[list[Block]]:
    """The blocks of each derivation: from one conclusion on, with the tables before it, to the next heading."""
    own: list[Block] = []
    for block in (*page.blocks, Heading("end")):
        if isinstance(block, Heading):
            if any(getattr(b, "name", "") == "conclusion" for b in own):
                yield own
            own = []
        own.append(block)


@dataclass
class Random:
    """Random values for the names of formulas, the same whenever a name is asked again."""

    names: frozenset[str]
    seed: int = 0
    numbers: dict[str, Fraction] = field(default_factory=dict)
    vectors: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A source of whole numbers."""
        self.rng = np.random.default_rng(self.seed)

    def number(self, name: str) -> Fraction:
        """A parameter, a value, or a number of a sequence."""
        if name not in self.numbers:
            self.numbers[name] = Fraction(int(self.rng.integers(2, 50)), int(self.rng.integers(51, 99)))
        return self.numbers[name]

    def vector(self, name: str) -> Any:
        """An array of a row for each client."""
        if name not in self.vectors:
            base = name.removesuffix("_i")
            pair = {f"bar_{base}", f"tilde_{base}_i"} & self.names
            if base != name and not name.startswith("tilde_") and pair:
                self.vectors[name] = self.vector(f"bar_{base}") + self.vector(f"tilde_{base}_i")
            else:
                self.vectors[name] = self._draw(one=base == name)
        return self.vectors[name]

    def _draw(self, one: bool) -> Any:
        drawn = np.empty((CLIENTS, SIZE), dtype=object)
        for k in np.ndindex(drawn.shape):
            drawn[k] = Fraction(int(self.rng.integers(-9, 10)), int(self.rng.integers(1, 5)))
        return drawn[:1].repeat(CLIENTS, axis=0) if one else drawn - drawn.sum(axis=0) / Fraction(CLIENTS)


def evaluate(tree: ast.expr, known: Random) -> Any:
    """A number of each client, or one."""
    match tree:
        case ast.Constant(value=value):
            return Fraction(repr(value))
        case ast.Name(id=name):
            return known.number(name)
        case ast.Subscript():
            return known.number(ast.unparse(tree))
        case ast.UnaryOp(operand=inner):
            return -evaluate(inner, known)
        case ast.Call(func=ast.Name(id="norm2" | "dot"), args=args):
            u, v = _vector(args[0], known), _vector(args[-1], known)
            return (u * v).sum(axis=1)
        case ast.Call(func=ast.Name(id="mean"), args=[inner]):
            return np.sum(evaluate(inner, known) + np.zeros(CLIENTS, dtype=object)) / Fraction(CLIENTS)
        case ast.BinOp(left=left, op=sign, right=right):
            a, b = evaluate(left, known), evaluate(right, known)
            match sign:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
            return a ** int(b)
    raise AssertionError(ast.unparse(tree))


def _vector(tree: ast.expr, known: Random) -> Any:
    match tree:
        case ast.Constant(value=0):
            return np.full((CLIENTS, SIZE), Fraction(0), dtype=object)
        case ast.Name(id=name):
            return known.vector(name)
        case ast.UnaryOp(operand=inner):
            return -_vector(inner, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _vector(left, known) + _vector(right, known)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _vector(left, known) - _vector(right, known)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return evaluate(left, known) * _vector(right, known)
    raise AssertionError(ast.unparse(tree))


def left_over(blocks: Sequence[Block], seed: int = 0) -> Any:
    """What the page's conclusion is more than its multipliers times inequalities, less its squares: zero where the page is right."""
    known = Random(_names(blocks), seed)
    tables = {b.name: b for b in blocks if isinstance(b, PageTable)}
    displays = {b.name: b.math for b in blocks if isinstance(b, Display)}
    for name, table in tables.items():
        if name.startswith("factor "):
            terms = [evaluate(_tree(row[0]), known) * evaluate(_tree(row[1]), known) for row in table.rows]
            known.numbers[name.removeprefix("factor ")] = sum(terms, Fraction(0))
    total = _conclusion(displays, tables, known)
    for name, table in tables.items():
        if name.startswith("multipliers "):
            general = displays[f"interpolation {name.removeprefix('multipliers ')}"]
            for a, b, multiplier in table.rows:
                _put_in(tables["evaluations"], {"a": a[0], "b": b[0]}, known)
                total = total - evaluate(_tree(multiplier), known) * evaluate(_tree((general,)), known)
    for _, form, multiplier in tables["hypotheses"].rows if "hypotheses" in tables else ():
        total = total - evaluate(_tree(multiplier), known) * evaluate(_tree(form), known)
    for weight, square in tables["squares"].rows if "squares" in tables else ():
        total = total + evaluate(_tree(weight), known) * evaluate(_tree(square), known)
    if "constant" in displays:
        total = total - evaluate(_tree((displays["constant"],)), known)
    return total


def adds_up(blocks: Sequence[Block]) -> bool:
    """Whether nothing is left over, for two choices of all vectors and numbers."""
    return all(not np.any(left_over(blocks, seed) != 0) for seed in (1, 2))


def _conclusion(displays: Any, tables: Any, known: Random) -> Any:
    if "conclusion" in displays:
        return evaluate(_tree((displays["conclusion"],)), known)
    rows = tables["conclusion"].rows
    return sum((evaluate(_tree(what), known) * evaluate(_tree(size), known) for what, size in rows), Fraction(0))


def _put_in(evaluations: PageTable, which: dict[str, Any], known: Random) -> None:
    """The points, gradients and values of evaluations a and b."""
    for letter, number in which.items():
        (row,) = (row for row in evaluations.rows if row[0] == (number,))
        x, g = (_vector(_tree(cell), known) for cell in row[2:4])
        for i in ("", "_i"):
            known.vectors |= {f"x_{letter}{i}": x, f"g_{letter}{i}": g}
        known.numbers[f"F_{letter}"] = evaluate(_tree(row[4]), known)


def _tree(cell: Any) -> ast.expr:
    (math,) = cell
    assert isinstance(math, Math) and math.tree is not None
    return math.tree


def _names(blocks: Sequence[Block]) -> frozenset[str]:
    cells = [cell for b in blocks if isinstance(b, PageTable) for row in b.rows for cell in row]
    maths = [m for cell in cells for m in cell if isinstance(m, Math)] + [
        b.math for b in blocks if isinstance(b, Display)
    ]
    return frozenset(n.id for m in maths if m.tree is not None for n in ast.walk(m.tree) if isinstance(n, ast.Name))


# ---- from the text ---------------------------------------------------------------------------------------------------


def read_latex(text: str) -> ast.expr:
    r"""A number in LaTeX as it stands on a page, ``\frac{2 \text{lr}}{L - \mu}``, read without the tree that it was made of."""
    while (at := text.find("\\frac{")) >= 0:
        above = _closing(text, at + 5)
        below = _closing(text, above + 1)
        text = f"{text[:at]}(({text[at + 6 : above]})/({text[above + 2 : below]})){text[below + 1 :]}"
    text = re.sub(r"\\text\{(\w+)\}", r"\1", text).replace("\\cdot", "*")
    text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text).replace("\\", "")
    text = re.sub(r"(\w)_\{(\w+)\}", r"\1_\2", text)
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text)
    return ast.parse(text, mode="eval").body


def _closing(text: str, opening: int) -> int:
    depth = 0
    for k in range(opening, len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth == 0:
            return k
    raise AssertionError(text)
