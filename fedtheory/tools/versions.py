"""Which versions produced a number."""

from __future__ import annotations

import platform
import re
from functools import cache
from importlib import metadata
from pathlib import Path

PACKAGES = (
    *("fedtheory", "numpy", "scipy", "array-api-compat", "cvxpy", "clarabel", "scs", "sympy", "pepit", "scikit-learn"),
    *("torch", "cupy-cuda12x", "cupy-cuda13x"),
)
#: the checkout that this file is in, if it is in one
HERE = Path(__file__).resolve().parents[2]


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


def find_commit(folder: Path = HERE) -> str | None:
    """Return the commit that a git checkout is at, or None; git's files are read, and nothing is run."""
    try:
        store = folder / ".git"
        if store.is_file():  # of a further working tree: where its store is
            store = folder / store.read_text().removeprefix("gitdir:").strip()
        shared = store / "commondir"
        stores = [store, store / shared.read_text().strip()] if shared.exists() else [store]
        head = (store / "HEAD").read_text().strip()
        name = head.removeprefix("ref:").strip()
        found = head if name == head else _find_reference(stores, name)
    except (OSError, UnicodeDecodeError):
        return None
    return found if found and re.fullmatch("[0-9a-f]{40,64}", found) else None


def _find_reference(stores: list[Path], name: str) -> str | None:
    """The commit that a name stands for, in a file of its own or in the list of packed ones."""
    for store in stores:
        if (store / name).is_file():
            return (store / name).read_text().strip()
    for store in stores:
        packed = store / "packed-refs"
        for line in packed.read_text().splitlines() if packed.is_file() else ():
            if line.endswith(f" {name}"):
                return line.split()[0]
    return None
