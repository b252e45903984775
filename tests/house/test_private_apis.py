"""Names that other packages keep to themselves may go without notice: those that are used are named here, and tried."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("fedtheory", "problems", "paper_checks", "benchmarks", "examples", "notebooks")
DOCUMENTED = {"_replace", "_asdict", "_fields"}  # of named tuples, where the underscore avoids the fields' names
USED = {"_list_of_prepared_constraints": "PEPit gives no other way to the constraints of the performance metrics"}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_the_only_private_names_of_other_packages_are_those_named_here() -> None:
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
    assert read == set(USED) and not imported


def test_pepit_keeps_its_constraints_where_they_are_looked_for() -> None:
    """One constraint of the start, one a performance metric, and those of the function: with values and multipliers once solved."""
    PEPit = pytest.importorskip("PEPit", reason="the extra 'verify' is not installed")
    from PEPit.functions import SmoothConvexFunction

    program = PEPit.PEP()
    f = program.declare_function(SmoothConvexFunction, L=1.0)
    x_star, x0 = f.stationary_point(), program.set_initial_point()
    program.set_initial_condition((x0 - x_star) ** 2 <= 1)
    program.set_performance_metric(f(x0) - f(x_star))
    assert program.solve(verbose=0) == pytest.approx(0.5, abs=1e-4)
    found = program._list_of_prepared_constraints
    assert len(found) == 4 and {c.equality_or_inequality for c in found} == {"inequality"}
    assert all(c.eval() < 1e-4 and c.eval_dual() > -1e-4 for c in found)
