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
