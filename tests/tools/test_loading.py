"""Files that users hand over, and what hides a package of ours, told in one line."""

from __future__ import annotations

import sys

import pytest

from fedtheory.core.errors import InvalidInput
from fedtheory.tools import loading


@pytest.fixture
def path(monkeypatch):
    """A search path of its own."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    return sys.path


def test_a_file_of_ours_that_is_hidden_is_named(tmp_path, path, monkeypatch) -> None:
    """A package that an installation leaves out cannot be hidden."""
    (tmp_path / "problems.py").write_text("")
    monkeypatch.delitem(sys.modules, "problems", raising=False)
    path.insert(0, str(tmp_path))
    with pytest.raises(InvalidInput, match=r"problems\.py hides fedtheory's own package 'problems': rename it"):
        loading.refuse_shadows()
    monkeypatch.setattr(loading, "SEPARATE", ("not_installed",))
    (tmp_path / "not_installed.py").write_text("")
    loading.refuse_shadows()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("claims.json", "{}", r"claims\.json is not a Python file; expected a name that ends in \.py"),
        ("missing.py", None, r"there is no file .*missing\.py"),
        ("leaves.py", "raise SystemExit('bye')", r"leaves\.py cannot be read: SystemExit in leaves\.py, line 1: bye"),
    ],
)
def test_what_is_no_python_file_that_runs_is_refused(tmp_path, path, name, text, message) -> None:
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        loading.load_file(file)


def test_files_of_one_name_are_two_modules_that_find_their_neighbours_last(tmp_path, path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(f"import json\nvalue = {folder!r}\n")
        (tmp_path / folder / "json.py").write_text("raise RuntimeError('hidden')")
    first, second = (loading.load_file(tmp_path / folder / "same.py") for folder in ("a", "b"))
    assert (first.value, second.value) == ("a", "b") and first.__name__ != second.__name__
    loading.load_file(tmp_path / "a" / "same.py")
    assert path[-2:] == [str((tmp_path / folder).resolve()) for folder in ("a", "b")], "each folder once, and last"
