"""Versions that can change a number: of Python and of what is installed."""

from __future__ import annotations

import platform

import numpy as np

from fedtheory.tools import versions


def test_what_is_not_installed_has_no_version(monkeypatch) -> None:
    monkeypatch.setattr(versions, "PACKAGES", ("numpy", "nobody-has-this"))
    versions.find_versions.cache_clear()
    found = versions.find_versions()
    versions.find_versions.cache_clear()
    assert found == {"python": platform.python_version(), "numpy": np.__version__}


def test_the_commit_of_a_checkout_is_read_from_its_files(tmp_path) -> None:
    commit, other = "a" * 40, "b" * 40
    assert versions.find_commit(tmp_path) is None
    store = tmp_path / ".git"
    (store / "refs/heads").mkdir(parents=True)
    (store / "HEAD").write_text("ref: refs/heads/main\n")
    assert versions.find_commit(tmp_path) is None, "nothing is committed"
    (store / "packed-refs").write_text(f"# pack-refs\n{other} refs/heads/main\n")
    assert versions.find_commit(tmp_path) == other
    (store / "refs/heads/main").write_text(f"{commit}\n")
    assert versions.find_commit(tmp_path) == commit
    further = tmp_path / "further"
    further.mkdir()
    (further / ".git").write_text("gitdir: ../.git/worktrees/further\n")
    (store / "worktrees/further").mkdir(parents=True)
    (store / "worktrees/further/commondir").write_text("../..\n")
    (store / "worktrees/further/HEAD").write_text("ref: refs/heads/main\n")
    assert versions.find_commit(further) == commit
    (store / "worktrees/further/HEAD").write_text(f"{other}\n")
    assert versions.find_commit(further) == other
    (store / "HEAD").write_text("not a commit\n")
    assert versions.find_commit(tmp_path) is None
