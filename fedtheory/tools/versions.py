"""Which versions produced a number."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

PACKAGES = ("fedtheory", "numpy", "scipy", "cvxpy", "clarabel", "scs", "sympy", "pepit", "scikit-learn", "torch")


@cache
def find_versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that can change a number."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
