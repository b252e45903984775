"""A public name stands for one thing: it is defined in one module of `fedtheory` only."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "fedtheory"

#: names that are still defined more than once, with the number of their modules; entries may go and numbers fall, nothing may be added
DOUBLES = {
    "CoinKey": 2,
    "Conditions": 2,
    "FORMAT": 3,
    "Kind": 2,
    "LISTED": 26,
    "Matrix": 4,
    "Part": 3,
    "Progress": 2,
    "SEEN": 2,
    "Step": 2,
    "alike": 2,
    "apart": 2,
    "check": 2,
    "conform": 2,
    "decide": 2,
    "in_turn": 2,
    "inner": 2,
    "largest": 2,
    "observed": 2,
    "play": 2,
    "run": 2,
    "shown": 2,
    "table": 2,
    "worst_case": 2,
}


def defined(path: Path) -> set[str]:
    """Public functions, classes and constants at the top level of a module."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_a_public_name_is_defined_in_one_module() -> None:
    modules = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in defined(path):
            modules[name].append(str(path.relative_to(PACKAGE)))
    doubles = {name: found for name, found in modules.items() if len(found) > 1}
    more = {name: found for name, found in doubles.items() if len(found) > DOUBLES.get(name, 1)}
    assert not more, f"public names in several modules; give each thing a name of its own: {more}"
    fewer = {name: len(doubles.get(name, ())) for name, count in DOUBLES.items() if len(doubles.get(name, ())) < count}
    assert not fewer, f"the list DOUBLES may shrink: {fewer} (0: take the name out)"
