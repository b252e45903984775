"""Notebooks have one question each, answer it in their last section, are listed, and no method is programmed in them."""

from __future__ import annotations

import base64
import copy
import importlib.util
import io
import json
import re
from pathlib import Path

import numpy as np
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


# ---- what 'make check-notebooks' compares -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def build():
    for package in ("jupytext", "nbclient", "nbformat", "matplotlib"):
        pytest.importorskip(package, reason="notebooks are executed with the extra notebooks")
    spec = importlib.util.spec_from_file_location("build_of_notebooks", HERE / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("kept", "now", "same"),
    [
        ("rate 0.8100, 3 clients (0.3 s)", "rate 0.8101, 3 clients (7.5 s)", True),
        ("rate 0.81", "rate 0.86", False),
        ("3 clients", "4 clients", False),
        ("proved at 0.81", "refuted at 0.81", False),
        ("[0.81 0.5]", "[0.81]", False),
        ("1.2e-17", "-3e-16", True),
    ],
)
def test_texts_agree_where_words_and_numbers_do(build, kept, now, same) -> None:
    assert build.same_text(kept, now) == same


def test_pictures_agree_in_every_square(build) -> None:
    """A curve of three pixels elsewhere is another picture; rounding of colours is none."""
    kept = np.ones((200, 320, 3))
    kept[100:103] = (0.1, 0.4, 0.7)
    moved = np.roll(kept, 40, axis=0)
    assert build.same_picture(kept, kept - 0.02) and not build.same_picture(kept, moved)
    assert not build.same_picture(kept, kept[:180])


def test_a_notebook_is_compared_with_its_outputs(build) -> None:
    import nbformat
    from matplotlib.image import imsave

    kept = nbformat.read(HERE / "your_own_theorem.ipynb", 4)
    assert build.differences(kept, kept) == []
    drawn, said, written = (copy.deepcopy(kept) for _ in range(3))
    blank = io.BytesIO()
    output = next(o for c in drawn.cells for o in c.get("outputs", []) if "image/png" in o.get("data", {}))
    imsave(blank, np.ones(next(p.shape for c in kept.cells for p in build.pictures(c))), format="png")
    output["data"]["image/png"] = base64.b64encode(blank.getvalue()).decode()
    next(o for c in said.cells for o in c.get("outputs", []) if "text" in o)["text"] += "7"
    written.cells[0].source += "!"
    assert [len(build.differences(kept, other)) for other in (drawn, said, written)] == [1, 1, 1]
    assert "picture" in build.differences(kept, drawn)[0] and "prints" in build.differences(kept, said)[0]
    assert build.differences(kept, written) == ["its source"]
