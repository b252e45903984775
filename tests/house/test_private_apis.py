"""Names that other packages keep to themselves may go without notice: none is used; nor is what a name happens to be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fedtheory", "problems", "paper_checks", "benchmarks", "examples", "notebooks")
DOCUMENTED = {"_replace", "_asdict", "_fields"}  # of named tuples, where the underscore avoids the fields' names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_no_private_names_of_other_packages_are_used() -> None:
    """A private attribute that no file of the project defines belongs to somebody else."""
    trees = [ast.parse(path.read_text()) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    defined |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute) and is_private(node.attr)]
    defined |= {node.attr for node in attributes if isinstance(node.ctx, ast.Store)}
    read = {node.attr for node in attributes if isinstance(node.ctx, ast.Load)} - defined - DOCUMENTED
    imported = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and not node.level:
            paths = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        else:
            continue
        imported |= {p for p in paths if p.split(".")[0] not in PACKAGES and any(map(is_private, p.split(".")))}
    assert not read and not imported


DERIVED = re.compile(r"^ *class \w+\([^)]*\b(NDArray|ArrayLike)\b", re.MULTILINE)


def test_no_class_derives_from_a_name_for_annotations() -> None:
    """``NDArray[Any]`` is a class up to NumPy 2.4, and from 2.5 on an alias that nothing can derive from."""
    texts = {path: path.read_text() for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))}
    assert not [path for path, text in texts.items() if DERIVED.search(text)]
    assert DERIVED.search("class Rows(NDArray[Any]):")
