"""Values of unfinished work on disk, under a name made of all that they depend on."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fedtheory.tools.versions import find_versions

JOURNALS = Path(".fedtheory")


class Journal:
    """Values of an unfinished run, on disk, so that it goes on where it was when it was interrupted.

    The file's name is made of everything a value depends on: the identity given, versions, and the source code of this
    package and of the modules and files in ``sources``. The file is removed when the run completes.

    Parameters
    ----------
    kind : str
        First part of the file's name.
    identity : plain data
        What is run: jobs, seeds, budgets.
    sources : module names and paths of Python files
    folder : Path
    accept : value -> bool, optional
        Whether a value counts as done when it is read; all do by default.

    Examples
    --------
    >>> journal = Journal("example", {"jobs": 3})
    >>> journal.add("first", 1.5)
    >>> print(journal.read())
    {'first': 1.5}
    """

    def __init__(
        self,
        kind: str,
        identity: Any,
        sources: Iterable[str] = (),
        folder: Path = JOURNALS,
        accept: Callable[[Any], bool] = lambda value: True,
    ) -> None:
        self.path = folder / f"{kind}-{hash_dependencies(sources, identity)}.jsonl"
        self.accept = accept

    def read(self) -> dict[str, Any]:
        """Values of the interrupted run by key; a line cut short by the interruption is dropped."""
        if not self.path.exists():
            return {}
        found = {}
        for line in self.path.read_text().splitlines():
            try:
                entry = json.loads(line)
                found[entry["job"]] = entry["value"]
            except (ValueError, TypeError, KeyError):
                continue
        return {key: value for key, value in found.items() if self.accept(value)}

    def add(self, key: str, value: Any) -> None:
        """Append one value."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
            cut = size > 0 and file.read(1) != b"\n"  # the line before was cut short: it must not spoil this one
            file.write((b"\n" if cut else b"") + json.dumps({"job": key, "value": value}).encode() + b"\n")

    def close(self) -> None:
        """Remove the journal: the run is complete."""
        self.path.unlink(missing_ok=True)


def hash_dependencies(sources: Iterable[str], identity: Any = None) -> str:
    """Return a name made of plain data, versions, and the source code of this package and of the modules and files in ``sources``."""
    text = json.dumps([identity, find_versions(), _code(sources)])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _code(sources: Iterable[str]) -> str:
    """Hash of the source code that values depend on."""
    digest = hashlib.blake2b(digest_size=8)
    folders = {Path(__file__).parent.parent}
    for source in sorted(set(sources)):
        if source.endswith(".py"):
            digest.update(Path(source).read_bytes())
            continue
        spec = importlib.util.find_spec(source.split(".")[0])
        if spec is not None and spec.submodule_search_locations:
            folders.update(Path(place) for place in spec.submodule_search_locations)
    for folder in sorted(folders):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
