"""Old import paths of the README's names go on working, and say where the name stands now."""

from __future__ import annotations

import importlib

import pytest

from fedtheory.moved import MOVED

OLD = [(module, name, place) for module, names in MOVED.items() for name, place in names.items()]


@pytest.mark.parametrize(("module", "name", "place"), OLD, ids=lambda part: part)
def test_old_paths_lead_to_the_new_place(module, name, place) -> None:
    with pytest.warns(DeprecationWarning, match=rf"{module}\.{name} is fedtheory\.{place} now"):
        found = getattr(importlib.import_module(module), name)
    parts = place.split(".")
    assert found.__name__ == parts[-1] and found.__module__.startswith(f"fedtheory.{parts[0]}")


def test_other_names_of_old_modules_are_errors() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = importlib.import_module("fedtheory.symmetric").nothing
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("fedtheory.never_there")
