"""The packages of problems and of papers, which are folders of a checkout, and stand inside this package where it is installed from a wheel.

In a checkout, and in an editable install of one, they are imported as ``problems`` and ``paper_checks``, and ``fedtheory.problems`` is another name
for the same modules. A wheel has them as ``fedtheory.problems`` and ``fedtheory.paper_checks`` alone, so that a user's own module may be called
``problems``. What is written into files names them in one way (`plain_name`), so that a wheel reads the files of a checkout.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

#: packages under names that a user's own files may have
BESIDE = ("problems", "paper_checks")
_PREFIX = f"{__name__.split('.', maxsplit=1)[0]}."
_PACKAGE = Path(__file__).resolve().parents[1]
#: those that are folders beside this package, and not inside of it
SEPARATE = tuple(name for name in BESIDE if not (_PACKAGE / name / "__init__.py").is_file())


def plain_name(module: str) -> str:
    """Return the name by which files know a module: ``problems.quadratics``, also where it is imported as ``fedtheory.problems.quadratics``."""
    rest = module.removeprefix(_PREFIX)
    return rest if rest.split(".")[0] in BESIDE else module


def name_here(module: str) -> str:
    """Return the name by which a module of ``fedtheory.problems`` or ``fedtheory.paper_checks`` is imported here; other names as they are."""
    plain = plain_name(module)
    return plain if plain.split(".")[0] in SEPARATE else module


class _Alias(Loader):
    """Loads a module under its own name, and gives it a second one."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import it."""
        module = importlib.import_module(self._own)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give back what the machinery of imports has overwritten: where the module comes from."""
        module.__spec__ = self._spec


class _Aliases(MetaPathFinder):
    """Finds ``fedtheory.problems`` and ``fedtheory.paper_checks`` where they are folders beside this package."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of theirs is."""
        own = name_here(fullname)
        if own == fullname or not (_PACKAGE.parent / own.split(".")[0] / "__init__.py").is_file():
            return None
        found = importlib.util.find_spec(own)
        if found is None:
            return None
        if found.origin is None or _PACKAGE.parent not in Path(found.origin).resolve().parents:
            raise ModuleNotFoundError(
                f"{found.origin} hides fedtheory's own {own!r}: rename it, or run from another folder", name=fullname
            )
        return ModuleSpec(fullname, _Alias(own), is_package=found.submodule_search_locations is not None)


def offer_aliases() -> None:
    """Let ``fedtheory.problems`` and ``fedtheory.paper_checks`` be imported in a checkout."""
    if SEPARATE and not any(isinstance(finder, _Aliases) for finder in sys.meta_path):
        # before those that read paths: they would load a second copy, since fedtheory.problems has the path of problems
        sys.meta_path.insert(0, _Aliases())
