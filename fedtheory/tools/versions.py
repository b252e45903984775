"""Which versions produced a number."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

PACKAGES = (
    *("fedtheory", "numpy", "scipy", "array-api-compat", "cvxpy", "clarabel", "scs", "sympy", "pepit", "scikit-learn"),
    *("torch", "cupy-cuda12x", "cupy-cuda13x"),
)


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
