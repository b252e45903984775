"""Notebooks have one question each, answer it in their last section, are listed, and no method is programmed in them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.name != "build.py")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_asks_and_answers_one_question(name) -> None:
    text = (HERE / f"{name}.py").read_text(encoding="utf-8")
    headings = re.findall(r"^# (#+) (.*)$", text, flags=re.MULTILINE)
    assert [title for level, title in headings if level == "#"] == [headings[0][1]] and "?" in headings[0][1]
    assert headings[-1][1] == "The answer"
    listed = dict(
        re.findall(r"\| \[(\w+)\]\(\w+\.ipynb\) \| (.*) \|", (HERE / "README.md").read_text(encoding="utf-8"))
    )
    assert listed[name] == headings[0][1] and set(listed) == set(NAMES)
    assert not re.search(r"def round\(|\(Method\)|\(Algorithm\)", text), "methods are imported"


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_stored_small_and_without_errors(name) -> None:
    path = HERE / f"{name}.ipynb"
    outputs = [
        output for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] for output in cell.get("outputs", [])
    ]
    assert outputs and not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    assert path.stat().st_size < 400_000
