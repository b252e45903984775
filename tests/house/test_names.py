"""A public name stands for one thing: it is defined in one module of `fedtheory` only."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "fedtheory"
CONVENTION = {"LISTED", "MISTAKES", "AS_PRINTED"}  # what a module of algorithms/ says about its method


def defined(path: Path) -> set[str]:
    """Functions, classes and constants at the top level of a module."""
    body = ast.parse(path.read_text()).body
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [t for node in body for t in getattr(node, "targets", [getattr(node, "target", None)])]
    return names | {target.id for target in targets if isinstance(target, ast.Name)}


def test_a_public_name_is_defined_in_one_module() -> None:
    modules = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in defined(path):
            modules[name].append(str(path.relative_to(PACKAGE)))
    public = {name: found for name, found in modules.items() if not name.startswith("_") and name not in CONVENTION}
    doubles = {name: found for name, found in public.items() if len(found) > 1}
    assert not doubles, f"public names in several modules; give each thing a name of its own: {doubles}"
