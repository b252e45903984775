"""Every public class has an example in its docstring, and examples print what is printed there."""

from __future__ import annotations

import doctest
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from guides import read_blocks

ROOMS = sorted(path.parent.name for path in (Path(__file__).resolve().parents[2] / "fedtheory").glob("*/__init__.pyi"))


def list_public() -> dict[str, Any]:
    """What the rooms offer that has a docstring of its own."""
    found = {}
    for room in ROOMS:
        face = importlib.import_module(f"fedtheory.{room}")
        for name in face.__all__:
            offered = getattr(face, name)
            if inspect.isfunction(offered) or (
                inspect.isclass(offered) and offered.__module__.startswith("fedtheory.")
            ):
                found[f"{room}.{name}"] = offered
    return found


PUBLIC = list_public()
WITH_EXAMPLE = [name for name, offered in PUBLIC.items() if ">>>" in (offered.__doc__ or "")]


def needs_example(offered: Any) -> bool:
    """Errors are raised, and protocols are met; neither is made by a user."""
    return (
        inspect.isclass(offered) and not issubclass(offered, Exception) and not getattr(offered, "_is_protocol", False)
    )


@cache
def begin() -> dict[str, Any]:
    """The names that docs/api/examples.md gives examples to begin with."""
    names: dict[str, Any] = {}
    for block in read_blocks("docs/api/examples.md", "python"):
        exec(compile(block.text, "examples.md", "exec"), names)
    return names


def test_every_public_class_has_an_example() -> None:
    assert [name for name, offered in PUBLIC.items() if needs_example(offered) and name not in WITH_EXAMPLE] == []


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_examples_print_what_they_say(name) -> None:
    offered = PUBLIC[name]
    test = doctest.DocTestParser().get_doctest(offered.__doc__, dict(begin()), name, inspect.getsourcefile(offered), 0)
    said: list[str] = []
    result = doctest.DocTestRunner().run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)
