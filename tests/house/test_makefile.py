"""The Makefile tells a Python that is too old before it sets anything up."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_an_old_python_is_named(tmp_path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    old = tmp_path / "old-python"
    old.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; sys.version_info = (3, 10, 0); exec(sys.argv[1])" "$2"\n'
    )
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "-C", str(tmp_path), f"PYTHON={old}", "check"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "setting up" not in done.stdout
    assert (
        "3.10 is too old: fedtheory needs Python 3.11 or newer. Name one: make PYTHON=python3.13 check" in done.stderr
    )
