"""Hashes of the definitions that code rests on: functions and classes, and all that they name, module by module.

What is hashed is the syntax without comments, docstrings, formatting, annotations and the texts of errors: a change of these alone changes no
hash, nor does the version of Python. Names are followed as they are written; what is found only at run time (a class in a registry, the
method of an argument) must be a root of its own. Nothing is imported.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.tools.beside import plain_name

Definition = tuple[str, str]  #: a module, and a name in it
LAMBDA = "<lambda>"  #: with ':' and its line, the name of a function without one


def hash_definitions(roots: Iterable[Definition], outside: Iterable[str] = ()) -> dict[str, str]:
    """Return a hash by module of the definitions that the roots rest on.

    Parameters
    ----------
    roots : definitions
    outside : names
        Packages, modules and definitions (``module.name``) that are not followed; nor are packages that hold no root.
    """
    barred = {*outside}
    waiting = [*dict.fromkeys(roots)]
    seen = {*waiting}
    packages = {module.split(".")[0] for module, _ in waiting}
    texts: dict[str, set[str]] = {}
    while waiting:
        place = waiting.pop()
        text, named = _read_definition(*place)
        if text:
            texts.setdefault(place[0], set()).add(text)
        for other in named - seen:
            seen.add(other)
            if other[0].split(".")[0] in packages and not barred & _prefixes(".".join(other)):
                waiting.append(other)
    return {
        plain_name(module): hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()[:12]
        for module, found in sorted(texts.items())
    }


def _prefixes(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[: k + 1]) for k in range(len(parts))}


@cache
def _read_definition(module: str, name: str) -> tuple[str, frozenset[Definition]]:
    """Return a definition's syntax as text, and what it names; of a name that its module imports no text, and where it comes from."""
    tree, imported = _read_module(module)
    nodes: list[Any]
    if name.startswith(LAMBDA):
        line = int(name.partition(":")[2])
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == line]
    else:
        nodes = [node for node in _top_level(tree) if name in _names_of(node)]
    if not nodes:
        return "", frozenset({imported[name]} if imported.get(name, ("", ""))[1] else ())
    known = imported | _list_imports((inner for node in nodes for inner in ast.walk(node)), module)
    own = {other for node in _top_level(tree) for other in _names_of(node)}
    bare = [_Bare().visit(node) for node in nodes]
    named: set[Definition] = set()
    for inner in (inner for node in bare for inner in ast.walk(node)):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            source, what = known.get(inner.value.id, ("", ""))
            named |= {(source, inner.attr)} if source and not what else set()
        elif isinstance(inner, ast.Name):
            if known.get(inner.id, ("", ""))[1]:
                named.add(known[inner.id])
            elif inner.id in own:
                named.add((module, inner.id))
    return "\n".join(_text(node) for node in bare), frozenset(named)


@cache
def _read_module(name: str) -> tuple[ast.Module, dict[str, Definition]]:
    """Return a module's syntax and the names that it imports; a package that imports lazily has them in a stub."""
    path = _find_file(name)
    if path is None:
        return ast.Module([], []), {}
    tree = ast.parse(path.read_text())
    stub = path.with_suffix(".pyi")
    nodes = [*_top_level(tree), *(ast.parse(stub.read_text()).body if stub.exists() else [])]
    return tree, _list_imports(nodes, name if path.name == "__init__.py" else name.rpartition(".")[0])


@cache
def _find_file(module: str) -> Path | None:
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        return None
    places = [Path(place).joinpath(*rest) for place in spec.submodule_search_locations or ()]
    files = [file for place in places for file in (place / "__init__.py", place.with_suffix(".py"))]
    files += [] if rest else [Path(spec.origin)]
    return next((file for file in files if file.is_file()), None)


def _top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements of a module, those in its conditions too, save what only type checkers read."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, ast.If | ast.Try) and "TYPE_CHECKING" not in ast.dump(getattr(node, "test", node))[:80]:
            waiting += [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.stmt)]


def _names_of(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
    return set()


def _list_imports(nodes: Iterable[ast.AST], package: str) -> dict[str, Definition]:
    """Names that are imported, each with its module and the name there; the name is empty where a module itself is imported."""
    found: dict[str, Definition] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (alias.name, "")
        elif isinstance(node, ast.ImportFrom):
            source = f"{package}.{node.module}" if node.level else node.module or ""
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                found[alias.asname or alias.name] = (inner, "") if _find_file(inner) else (source, alias.name)
    return found


class _Bare(ast.NodeTransformer):
    """Syntax without docstrings, annotations and what an error says; it copies what it changes."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Copy a node with what is left of its parts."""
        parts: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_comment", "type_params"):
                parts[name] = None
            elif isinstance(value, list):
                parts[name] = [self.visit(part) if isinstance(part, ast.AST) else part for part in value]
            else:
                parts[name] = self.visit(value) if isinstance(value, ast.AST) else value
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and ast.get_docstring(node) is not None
        ):
            parts["body"] = parts["body"][1:]
        return type(node)(**parts)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """A package of ours has one name, wherever it is installed."""
        return ast.ImportFrom(plain_name(node.module) if node.module else None, node.names, node.level)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """An error ends a run, whatever it says."""
        return ast.Raise(None, None)


def _text(node: Any) -> str:
    """Write a node down, empty parts left out: these come and go with Python's versions."""
    if isinstance(node, ast.AST):
        parts = (f"{name}={_text(value)}" for name, value in ast.iter_fields(node) if name not in ("ctx", "kind"))
        return f"{type(node).__name__}({', '.join(part for part in parts if not part.endswith(('=None', '=[]')))})"
    return f"[{', '.join(map(_text, node))}]" if isinstance(node, list) else repr(node)
