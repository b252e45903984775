"""The word of a claim of the project's ledgers while one module of the ledger has an edit in its text."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from mutants import forget, word_of


@dataclass
class _EditedText(SourceLoader):
    path: str
    edits: Sequence[tuple[str, str]]

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str | bytes) -> bytes:
        text = Path(self.path).read_text()
        for old, new in self.edits:
            assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {self.path}"
            text = text.replace(old, new)
        return text.encode()


@dataclass
class _Finder(MetaPathFinder):
    module: str
    edits: Sequence[tuple[str, str]]

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if fullname == self.module else None
        if found is not None:
            assert found.origin is not None
            found.loader = _EditedText(found.origin, self.edits)
        return found


@contextmanager
def edited_ledger(module: str, *edits: tuple[str, str]) -> Iterator[None]:
    """A ledger imported anew, with edits (old text, new text) in one of its modules; the old modules come back after."""
    paper = ".".join(module.split(".")[:2])
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if f"{name}.".startswith(f"{paper}.")}
    finder = _Finder(module, edits)
    sys.meta_path.insert(0, finder)
    try:
        forget()
        importlib.import_module(paper)
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if f"{name}.".startswith(f"{paper}.")]:
            del sys.modules[name]
        sys.modules.update(kept)
        forget()


def word_under_edits(module: str, id: str, *edits: tuple[str, str]) -> str:
    """The status of a claim of a paper's ledger with these edits in one module."""
    with edited_ledger(module, *edits):
        return word_of(".".join(module.split(".")[:2]), id)
