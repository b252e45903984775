"""What a wheel has inside of the package: problems and papers, which are folders of a checkout, with their imports written anew.

As top-level packages they would take the names of a user's own modules; see ``fedtheory/tools/beside.py``.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NAMES = ("problems", "paper_checks")
#: results of runs are read from a checkout; a library does not carry them
LEFT = ("results", "__pycache__")
_FROM = re.compile(rf"^(\s*(?:>>> )?from )({'|'.join(NAMES)})(?=[. ])", re.MULTILINE)
_OTHER = re.compile(rf"^\s*(?:>>> )?import ({'|'.join(NAMES)})\b|[\"']({'|'.join(NAMES)})\.", re.MULTILINE)


def move_inside(text: str, where: str) -> str:
    """Write a module's imports for the place that it has in a wheel.

    Raises
    ------
    ValueError
        It names a package in another way than ``from problems... import``, which would not be found there.
    """
    if found := _OTHER.search(text):
        raise ValueError(
            f"{where}: {found[0].strip()!r} names a package that has another name in a wheel; write 'from ... import'"
        )
    return _FROM.sub(r"\1fedtheory.\2", text)


class PackageInside(BuildHookInterface[Any]):
    """Adds the two packages to a wheel; an editable install finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them."""
        if version == "editable":
            return
        self._folder = Path(tempfile.mkdtemp())
        for name in NAMES:
            copy = self._folder / name
            shutil.copytree(Path(self.root) / name, copy, ignore=shutil.ignore_patterns(*LEFT))
            for file in copy.rglob("*.py"):
                file.write_text(
                    move_inside(file.read_text(encoding="utf-8"), str(file.relative_to(self._folder))), encoding="utf-8"
                )
            build_data["force_include"][str(copy)] = f"fedtheory/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copies."""
        if version != "editable":
            shutil.rmtree(self._folder)
