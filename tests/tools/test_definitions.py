"""Hashes of definitions: what decides numbers changes them, and nothing else does."""

from __future__ import annotations

import sys
from itertools import count

import pytest

from fedtheory.tools.definitions import hash_definitions

NUMBERS = count()
MAIN = '''
"""Doc."""
from __future__ import annotations
from {name}.other import used, unused
from {name} import third

LIMIT: int = 3
ELSE = 4

def helper(x: int) -> int:
    """Doc."""
    if x > LIMIT:
        raise ValueError(f"too large: {{x}}")
    return used(x) + 1  # a comment

class Method:
    """Doc."""
    step = 2
    def round(self, x):
        return helper(x) * self.step + third.last(x)

def beside(x):
    return unused(x) + ELSE

TABLE = [lambda x: helper(x), 3]
'''
OTHER = "def used(x):\n    return x * 2\n\ndef unused(x):\n    return x\n"
THIRD = "import math\n\ndef last(x):\n    from {name}.other import unused\n    return math.sqrt(unused(x))\n\ndef never(x):\n    return x\n"


@pytest.fixture
def hashed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def of(main=(), other=(), third=(), root="Method", outside=()):
        """Hash a package with some texts replaced; names of the package are taken out of the answer."""
        name = f"hashed_package_{next(NUMBERS)}"
        (tmp_path / name).mkdir()
        for file, text, swap in (
            ("__init__", "", ()),
            ("main", MAIN, main),
            ("other", OTHER, other),
            ("third", THIRD, third),
        ):
            whole = text.replace("{name}", "NAME").replace("{{", "{").replace("}}", "}")
            for old, new in swap:
                assert old in whole
                whole = whole.replace(old, new)
            (tmp_path / name / f"{file}.py").write_text(whole.replace("NAME", name))
        found = hash_definitions([(f"{name}.main", root)], [f"{name}.{place}" for place in outside])
        assert name not in sys.modules, "nothing is imported"
        # a definition's text names no package but in its own imports, which `third.last` has
        return {
            module.removeprefix(f"{name}."): value for module, value in found.items() if module != f"{name}.third"
        }, found

    return of


@pytest.mark.parametrize(
    "main",
    [
        [("a comment", "another comment")],
        [('    """Doc."""\n    step', "    step")],
        [("x: int) -> int", "x)")],
        [("LIMIT: int = 3", "LIMIT = 3"), ("LIMIT = 3", "LIMIT: float = 3")],
        [("too large", "far too large")],
        [("ELSE = 4", "ELSE = 5")],
        [("return unused(x) + ELSE", "return 0")],
        [("    return used(x) + 1 ", "\n    return (used( x )\n      + 1)")],
    ],
    ids=["comment", "docstring", "hint", "annotation", "message", "constant", "beside", "format"],
)
def test_what_decides_nothing_changes_nothing(hashed, main) -> None:
    assert hashed(main)[0] == hashed()[0]


@pytest.mark.parametrize(
    ("files", "changed"),
    [
        ({"main": [("step = 2", "step = 3")]}, "main"),
        ({"main": [("LIMIT: int = 3", "LIMIT: int = 2")]}, "main"),
        ({"main": [("used(x) + 1", "used(x) - 1")]}, "main"),
        ({"other": [("return x * 2", "return x * 3")]}, "other"),
        ({"other": [("return x\n", "return -x\n")]}, "other"),
    ],
)
def test_what_is_reached_changes_its_module(hashed, files, changed) -> None:
    before, after = hashed()[0], hashed(**files)[0]
    assert {module for module in before if before[module] != after[module]} == {changed}


def test_only_what_is_reached_is_there(hashed) -> None:
    assert {*hashed(root="beside")[0]} == {"main", "other"}
    assert len(hashed()[1]) == 3 and len(hashed(outside=["third"])[1]) == 2
    assert {*hashed(root="Method", outside=["other", "third"])[0]} == {"main"}
    assert hashed(third=[("def never(x):\n    return x", "def never(x):\n    return 2")])[0] == hashed()[0]


def test_a_function_without_a_name_is_found_by_its_line(hashed) -> None:
    line = MAIN.splitlines().index("TABLE = [lambda x: helper(x), 3]") + 1
    before = hashed(root=f"<lambda>:{line}")[0]
    assert {*before} == {"main", "other"}
    moved = hashed([("ELSE = 4", "ELSE = 4\n\n")], root=f"<lambda>:{line + 2}")[0]
    assert moved == before, "another line is no other code"
    assert hashed([("lambda x: helper(x)", "lambda x: helper(-x)")], root=f"<lambda>:{line}")[0] != before
