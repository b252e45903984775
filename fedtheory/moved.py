"""Old import paths of the names that the README used, which go on working for one release.

``from fedtheory.symmetric import symmetric_worst_case`` gives the function at its new place, with a `DeprecationWarning` that names it.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: module -> name -> where it stands now
MOVED: Mapping[str, Mapping[str, str]] = {
    "fedtheory.arrays": {"along_batch": "core.arrays.along_batch"},
    "fedtheory.problem": {"on_library": "core.problem.move_to_library"},
    "fedtheory.symbolic": {"symbols": "proofs.symbolic.symbols"},
    "fedtheory.function_class": {"FunctionClass": "proofs.function_class.FunctionClass"},
    "fedtheory.worst_case": {"worst_case": "proofs.one_n.worst_case.worst_case_for_one_n"},
    "fedtheory.certificates": {"prove": "proofs.certificates.upper_bounds.prove"},
    "fedtheory.exchangeable": {"Sampling": "proofs.every_n.vectors.Sampling"},
    "fedtheory.symmetric": {"symmetric_worst_case": "proofs.every_n.worst_case.worst_case_for_every_n"},
    "fedtheory.tightness": {
        "largest": "proofs.certificates.thresholds.find_threshold",
        "replayed": "proofs.every_n.worst_case.WorstCaseForEveryN.replay",
    },
    "fedtheory.claims": {
        "bound": "claims.parts.at_most",
        "close": "claims.parts.equal",
        "true": "claims.parts.holds",
        "refutation": "claims.parts.refute",
        "assumption": "claims.parts.assume",
    },
}


def find_moved(module: str, name: str) -> Any:
    """Return what a module offered under an old name, with a warning.

    Raises
    ------
    AttributeError
        It offered no such name.
    """
    place = MOVED.get(module, {}).get(name)
    if place is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{module}.{name} is fedtheory.{place} now", DeprecationWarning, stacklevel=3)
    parts = place.split(".")
    deep = 2 if parts[-2][0].isupper() else 1  # a method of a class
    found: Any = importlib.import_module(".".join(["fedtheory", *parts[:-deep]]))
    for part in parts[-deep:]:
        found = getattr(found, part)
    return found


def with_old_names(module: str, present: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` that knows its old names, too."""

    def look_up(name: str) -> Any:
        return find_moved(module, name) if name in MOVED[module] else present(name)

    return look_up


class MovedModules(MetaPathFinder, Loader):
    """Finds the modules of `MOVED` that are gone, as modules that hold their old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to make the module, if it is one of the old ones."""
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Let the names be looked up as they are asked for."""
        module.__getattr__ = lambda name: find_moved(module.__name__, name)  # type: ignore[method-assign]
