"""The page that follows one theorem through the house names things that are there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
NAMES = sorted(set(re.findall(r"`((?:fedtheory|paper_checks)\.[\w.]+)`", PAGE)))


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_is_there(name) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, thing = name.rpartition(".")
        assert hasattr(importlib.import_module(module), thing), f"{module} has no {thing}"


def test_the_picture_names_what_the_page_names() -> None:
    drawn = set(
        re.findall(r'"(\w+_\w+|state|decide)(?::[^"]*)?", \(', (ROOT / "docs" / "architecture_picture.py").read_text())
    )
    assert len(drawn) == 9
    assert drawn <= {name.rpartition(".")[2] for name in NAMES}
