"""The list of all methods: what the modules of this folder name in ``LISTED``.

A listed method goes through the contract tests and all engines; nothing else is edited for a new one.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from fedtheory.algorithms.listing import Listed
from fedtheory.core.errors import InvalidInput, tell_known

FAMILIES = ("control", "averaging", "compressed", "primal-dual", "dual", "accelerated", "composite", "personalised")


def _find() -> list[Listed]:
    folder = Path(__file__).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(folder)]) if module.name != "catalogue")
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    found = [entry for module in modules for entry in getattr(module, "LISTED", ())]
    return sorted(found, key=lambda entry: FAMILIES.index(entry.family))


ALGORITHMS: tuple[Listed, ...] = tuple(_find())


def listed(name: str) -> Listed:
    """Return a method by name.

    Raises
    ------
    InvalidInput
        The name is unknown; the message names those near it, or all.
    """
    for entry in ALGORITHMS:
        if entry.name == name.lower():
            return entry
    raise InvalidInput(f"unknown algorithm {name!r}; {tell_known(name, (e.name for e in ALGORITHMS))}")
