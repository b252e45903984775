"""The documentation: every room has its page of names, and links that lead nowhere are found."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACES = sorted(path.parent.name for path in (ROOT / "fedtheory").glob("*/__init__.pyi"))


@pytest.mark.parametrize("room", FACES)
def test_every_room_has_a_page_of_its_names(room) -> None:
    assert f".. automodule:: fedtheory.{room}\n   :members:" in (ROOT / "docs" / "api" / f"{room}.md").read_text()
    assert f"\napi/{room}\n" in (ROOT / "docs" / "index.md").read_text()


def test_links_that_lead_nowhere_are_found(tmp_path) -> None:
    find_broken = runpy.run_path(str(ROOT / "docs" / "check_links.py"))["find_broken"]
    (tmp_path / "a.html").write_text(
        '<a id="here" href="b.html#there">b</a> <a href="#here"></a> <a href="https://example.org">c</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there"><a href="a.html?q=1#here">a</a></p>')
    assert find_broken(tmp_path) == []
    find_broken = runpy.run_path(str(ROOT / "docs" / "check_links.py"))["find_broken"]  # pages are read once
    (tmp_path / "b.html").write_text(
        '<p id="elsewhere"><a href="c.html">a</a> <img src="lost.png"> <a href="#no">x</a></p>'
    )
    broken = find_broken(tmp_path)
    assert [line.split(":")[0] for line in broken] == ["a.html", "b.html", "b.html", "b.html"]
    assert "no such place" in broken[0] and "no such file" in broken[1]
