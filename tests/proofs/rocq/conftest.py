"""What tests of theorems for Rocq share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled core is, for all tests of a run."""
    return tmp_path_factory.getbasetemp().parent / "rocq"
