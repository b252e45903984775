"""Every room offers its public names in a stub, and loads them on first use."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STUBS = sorted((ROOT / "fedtheory").rglob("__init__.pyi"))
ROOMS = sorted(path.parent for path in (ROOT / "fedtheory").glob("*/__init__.py"))


def package_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).parts)


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: package_of(stub.parent))
def test_every_name_of_a_stub_is_what_its_module_has(stub) -> None:
    package = importlib.import_module(package_of(stub.parent))
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    assert imports
    for node in imports:
        for alias in node.names:
            assert alias.asname == alias.name, f"{alias.name} is written as `X as X`"
            home = importlib.import_module("." + (node.module or alias.name), package.__name__)
            meant = getattr(home, alias.name) if node.module else home
            assert getattr(package, alias.name) is meant and alias.name in package.__all__


@pytest.mark.parametrize("room", ROOMS, ids=package_of)
def test_every_room_says_what_it_is_what_it_imports_and_where_to_start(room) -> None:
    """The stub says the first sentence; the command line is asked from a terminal and offers no names."""
    said = {path.suffix: ast.get_docstring(ast.parse(path.read_text())) for path in room.glob("__init__.py*")}
    first, nothing, imports, start = said.pop(".py").splitlines()
    assert list(said.values()) == ([] if room.name == "command_line" else [first])
    assert first[-1] in ".?" and not nothing and imports.startswith("It imports ") and start.startswith("Start with ")
    for name in re.findall(r"`([\w/]+\.py|\w+/)`", start):
        assert (room / name).exists(), name


def test_a_name_that_is_misspelled_is_told_with_those_near_it() -> None:
    fedtheory = importlib.import_module("fedtheory")
    with pytest.raises(AttributeError, match="no 'FedAvgg'; did you mean FedAvg"):
        fedtheory.FedAvgg  # noqa: B018
    with pytest.raises(AttributeError, match=r"fedtheory\.algorithms has no 'Scafold'; did you mean Scaffold"):
        fedtheory.algorithms.Scafold  # noqa: B018
    assert not hasattr(fedtheory, "nothing_like_it")
