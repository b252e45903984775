"""Places in the text of a ledger's module at which one number, sign, exponent, bound or hypothesis of what it states can be changed.

What states something: arguments of kinds of statements (`Theorem`, `Lemma`, ...), formulas that modules name, functions that build lemmas and states
in a world, functions that are made into formulas, and tables of printed numbers. Proofs, names, sources and prose are none of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

#: kinds of statements, and from which argument on they say something
KINDS = {
    "Theorem": 0,
    "Lemma": 2,
    "equality": 2,
    "Bound": 1,
    "Contraction": 1,
    "Inequality": 1,
    "Limit": 1,
    "Divergence": 1,
    "Rate": 1,
}
KINDS |= {"Equivalence": 2, "MethodStates": 1, "run_on_quadratics": 1, "run_on_equal_curvatures": 1}
#: arguments that are proofs, names or words
WORDS = {"proof", "name", "source", "assumed", "units", "added", "measure", "metric", "rests", "repaired_text", "text"}
WORLDS = {"w", "world"}
TABLES = ("published", "printed", "tables")
_PROSE = re.compile(r"[a-z]{2,} [a-z]{2,}")
_FORMULA = re.compile(r"<|\*|/| \+ | - |==")
_TOKEN = re.compile(
    r"\*\*\s*(?P<power>\d+)|(?<![\w.\]])(?P<number>\d+)(?![\w.])|(?P<sign> [+-] )|(?P<less><=?)"
    r"|(?P<factor>(?<![\w*/])[A-Za-z]\w*\*(?!\*))"
)


@dataclass(frozen=True)
class Place:
    """One edit of a module's text: what stands from ``start`` to ``end`` becomes ``new``; ``what``: the kind of the change."""

    path: Path
    start: int
    end: int
    new: str
    what: str

    @property
    def paper(self) -> str:
        """The folder of the paper."""
        return self.path.parent.name

    @property
    def module(self) -> str:
        """The name by which the module is imported."""
        return f"paper_checks.{self.paper}.{self.path.stem}"

    @property
    def edit(self) -> tuple[str, str]:
        """The whole text before and after."""
        text = self.path.read_text()
        return text, text[: self.start] + self.new + text[self.end :]

    def __str__(self) -> str:
        text = self.path.read_text()
        line, first = text.count("\n", 0, self.start) + 1, text.rfind("\n", 0, self.start) + 1
        around = " ".join(text[max(first, self.start - 50) : self.end + 40].split())
        return f"{self.paper}/{self.path.name}:{line}: {self.what}: {text[self.start : self.end]!r} -> {self.new!r} in ... {around} ..."


@dataclass(frozen=True)
class _Module:
    """A module's text and tree; ``formulas``: names of functions that are made into formulas somewhere."""

    path: Path
    formulas: Collection[str]

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def _rows(self) -> list[tuple[int, str]]:
        """Where each line begins, in characters, and the line."""
        found, start = [], 0
        for row in self.text.splitlines(keepends=True):
            found.append((start, row))
            start += len(row)
        return found

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands, in characters; the tree counts bytes."""

        def offset(line: int, column: int) -> int:
            start, row = self._rows[line - 1]
            return start + len(row.encode()[:column].decode())

        return offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)  # type: ignore[attr-defined]

    def place(self, start: int, end: int, new: str, what: str) -> Place:
        return Place(self.path, start, end, new, what)


def list_places(folder: Path) -> list[Place]:
    """All places in the modules of a paper's folder."""
    paths = sorted(folder.glob("*.py"))
    formulas = {name for path in paths for name in _made_into_formulas(ast.parse(path.read_text()))}
    found = [place for path in paths if path.stem != "transcribed" for place in _places_of(_Module(path, formulas))]
    return list(dict.fromkeys(found))


def _made_into_formulas(tree: ast.Module) -> Iterator[str]:
    """Names of functions that statements read as formulas."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and _name(node.func) in ("formula", "formula_as_written", "Printed")
            and node.args
        ):
            yield from (_name(argument) for argument in node.args[:2] if isinstance(argument, ast.Name | ast.Attribute))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _places_of(module: _Module) -> Iterator[Place]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _name(node.func) in KINDS:
            own = [*node.args[KINDS[_name(node.func)] :], *(k.value for k in node.keywords if k.arg not in WORDS)]
            if _name(node.func) == "Theorem":
                own = [*node.args[:2], *(k.value for k in node.keywords if k.arg not in WORDS)]
            for argument in own:
                yield from _of_texts(module, argument, "statement")
            for keyword in node.keywords:
                if keyword.arg == "given" and isinstance(keyword.value, ast.Dict):
                    yield from _without_entries(module, keyword.value)
        if isinstance(node, ast.FunctionDef):
            if any(a.arg in WORLDS for a in node.args.args[:2]):
                yield from _of_code(module, node, "lemma or states")
            elif node.name in module.formulas:
                yield from _of_code(module, node, "formula")
    for statement in module.tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            if isinstance(statement.value, ast.Constant | ast.JoinedStr):
                yield from _of_texts(module, statement.value, "named formula")
            elif module.path.stem in TABLES:
                yield from _of_tables(module, statement.value)


# ---- formulas in texts --------------------------------------------------------------------------------------------------


def _of_texts(module: _Module, node: ast.expr, kind: str) -> Iterator[Place]:
    """Of every text below a node that is a formula; calls of other kinds have their own."""
    if isinstance(node, ast.Call) and _name(node.func) in KINDS:
        return
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        start, end = module.span(node)
        text = module.text[start:end]
        if _FORMULA.search(text) and not _PROSE.search(text):
            yield from _of_text(module, start, text, kind)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _of_texts(module, child, kind)
        elif isinstance(child, ast.keyword):
            yield from _of_texts(module, child.value, kind)


def _of_text(module: _Module, start: int, text: str, kind: str) -> Iterator[Place]:
    indices = [range(m.start(), m.end()) for m in re.finditer(r"\[[^]]*\]|\{[^}]*\}", text)]
    for token in _TOKEN.finditer(text):
        what = token.lastgroup or ""
        if any(token.start(what) in index for index in indices):
            continue
        at, end, old = start + token.start(what), start + token.end(what), token[what]
        if what == "number" and old != "0":
            yield module.place(at, end, f"(2*{old})", f"{kind}: twice a number")
            yield module.place(at, end, f"({old}/2)", f"{kind}: half of a number")
        elif what == "power":
            yield module.place(at, end, str(int(old) + 1), f"{kind}: exponent")
        elif what == "sign":
            yield module.place(at, end, " - " if "+" in old else " + ", f"{kind}: sign")
        elif what == "less":
            yield module.place(at, end, "<" if old == "<=" else "<=", f"{kind}: strictness")
        elif what == "factor":
            yield module.place(at, end, "", f"{kind}: factor dropped")
    for bound in re.finditer(r"(?<=\w) <=? [^,<>=\"'{}]+(?=[,\"'])", text):  # 0 < x <= 1/L
        if re.search(r"<=? \w+$", text[: bound.start()].rpartition(",")[2]):
            yield module.place(start + bound.start(), start + bound.end(), "", f"{kind}: upper end dropped")


def _without_entries(module: _Module, node: ast.Dict) -> Iterator[Place]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            start, end = module.span(key)[0], module.span(value)[1]
            comma = re.match(r"\s*,", module.text[end:])
            yield module.place(start, end + (comma.end() if comma else 0), "", "hypothesis dropped")


# ---- code ---------------------------------------------------------------------------------------------------------------


def _of_code(module: _Module, function: ast.FunctionDef, kind: str) -> Iterator[Place]:
    """Numbers and signs of its arithmetic, and what it assumes."""
    inside = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript | ast.comprehension | ast.For)
        or (isinstance(node, ast.Call) and _name(node.func) in ("range", "vector", "Form"))
        for part in ast.walk(
            node.slice if isinstance(node, ast.Subscript) else node.iter if not isinstance(node, ast.Call) else node
        )
    }
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and id(node) not in inside:
            yield from _of_operation(module, node, kind)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value.func) == "assume":
            yield module.place(*module.span(node), "pass", f"{kind}: hypothesis dropped")


def _of_operation(module: _Module, node: ast.BinOp, kind: str) -> Iterator[Place]:
    for side in (node.left, node.right):
        if isinstance(side, ast.Constant) and isinstance(side.value, int | float) and side.value:
            at = module.span(side)
            if isinstance(node.op, ast.Pow):
                yield module.place(*at, str(side.value + 1), f"{kind}: exponent")
            elif isinstance(node.op, ast.Mult | ast.Div):
                yield module.place(*at, str(2 * side.value), f"{kind}: twice a number")
            else:
                yield module.place(*at, str(side.value + 1), f"{kind}: one more")
    if isinstance(node.op, ast.Add | ast.Sub):
        between = module.span(node.left)[1], module.span(node.right)[0]
        text = module.text[slice(*between)]
        own = "+" if isinstance(node.op, ast.Add) else "-"
        if text.count(own) == 1:
            at = between[0] + text.index(own)
            yield module.place(at, at + 1, "-" if own == "+" else "+", f"{kind}: sign")


def _of_tables(module: _Module, node: ast.expr) -> Iterator[Place]:
    """A printed number, a tenth more, or one more of whole numbers; keys of a table are none."""
    for part in ast.walk(node):
        keys = {
            id(key) for d in ast.walk(node) if isinstance(d, ast.Dict) for key in d.keys for key in ast.walk(key or d)
        }
        if (
            isinstance(part, ast.Constant)
            and isinstance(part.value, int | float)
            and part.value
            and id(part) not in keys
        ):
            digits = len(str(part.value).partition(".")[2])
            new = part.value + 1 if isinstance(part.value, int) else round(part.value * 1.1, digits)
            if new != part.value and not isinstance(part.value, bool):
                yield module.place(*module.span(part), str(new), "table: a number")
