"""Values of unfinished work on disk, under a name made of all that they depend on, each with a code that only this user can make."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import importlib.util
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.tools.untrusted import parse_json, read_bytes
from fedtheory.tools.versions import find_versions

JOURNALS = Path(".fedtheory")
_MOST_BYTES = 2_000_000_000  #: of a journal


class Journal:
    """Values of an unfinished run, on disk, so that it goes on where it was when it was interrupted.

    The file's name is made of everything a value depends on: the identity given, versions, and the source code of this
    package and of the modules and files in ``sources``, with a file's neighbours. The file is removed when the run completes.

    A line is an authentication code (HMAC-SHA-256, of the name and the line) and JSON. The key is the user's (`find_key`) and lies outside of the
    folder, so that a line which came with the folder or was edited is known, and dropped. It keeps nothing from who can read the key.

    Parameters
    ----------
    kind : str
        First part of the file's name.
    identity : plain data
        What is run: jobs, seeds, budgets.
    sources : module names and paths of Python files; None of values that do not depend on this package's code and versions
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
        sources: Iterable[str] | None = (),
        folder: Path = JOURNALS,
        accept: Callable[[Any], bool] = lambda value: True,
    ) -> None:
        self.path = folder / f"{kind}-{hash_dependencies(sources, identity)}.journal"
        self.accept = accept
        self.changed: tuple[str, ...] = ()  #: keys of lines, as they were last read, that this user did not write so

    def read(self) -> dict[str, Any]:
        """Values of the interrupted run by key; lines cut short by the interruption are dropped, and those that become `changed`."""
        if not self.path.exists():
            return {}
        found, changed = {}, set()
        for line in read_bytes(self.path, _MOST_BYTES).split(b"\n"):
            code, _, text = line.partition(b" ")
            if hmac.compare_digest(code, self._code(text)):
                entry = json.loads(text)
                found[entry["job"]] = entry["value"]
            else:
                changed |= _find_job(text)
        self.changed = tuple(sorted(changed))
        return {key: value for key, value in found.items() if self.accept(value)}

    def add(self, key: str, value: Any) -> None:
        """Append one value."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"job": key, "value": value}).encode()
        with self.path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
            cut = size > 0 and file.read(1) != b"\n"  # the line before was cut short: it must not spoil this one
            file.write((b"\n" if cut else b"") + self._code(text) + b" " + text + b"\n")

    def _code(self, text: bytes) -> bytes:
        return make_code(self.path.name, text).encode()

    def close(self) -> None:
        """Remove the journal: the run is complete."""
        self.path.unlink(missing_ok=True)


def _find_job(text: bytes) -> set[str]:
    """The key that a whole line names."""
    try:
        entry = parse_json(text.decode())
    except ValueError:
        return set()
    return {entry["job"]} if isinstance(entry, dict) and isinstance(entry.get("job"), str) else set()


def make_code(what: str, *contents: bytes | memoryview) -> str:
    """The authentication code (HMAC-SHA-256, of what it is and its content) under the user's key."""
    code = hmac.new(find_key(), what.encode() + b"\n", "sha256")
    for content in contents:
        code.update(content)
    return code.hexdigest()


@cache
def find_key() -> bytes:
    """Return the user's key, made where it is missing: ``fedtheory/journal.key`` in XDG_STATE_HOME, by default ``~/.local/state``.

    Where it can neither be read nor be kept, the key is this process's own, and no other process believes what it writes.
    """
    try:
        folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "fedtheory"
        path = folder / "journal.key"
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "wb", buffering=0) as file:
                file.write(secrets.token_bytes(32))
        key = _read_key(path)
    except (OSError, RuntimeError, InvalidInput):  # no home, or one that cannot be written
        return secrets.token_bytes(32)
    return key if len(key) >= 32 else secrets.token_bytes(32)


def _read_key(path: Path) -> bytes:
    """A key of 32 bytes or more; another process that has just made its file is waited for."""
    for _ in range(100):
        key = read_bytes(path, 1000)
        if len(key) >= 32:
            break
        time.sleep(0.01)
    return key


def find_cache() -> Path:
    """Return the user's folder for what can be made again, ``fedtheory`` in XDG_CACHE_HOME or ``~/.cache``; `JOURNALS` where it cannot be written."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fedtheory"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home, or one that cannot be written
        return JOURNALS
    return folder if os.access(folder, os.W_OK) else JOURNALS


def hash_dependencies(sources: Iterable[str] | None, identity: Any = None) -> str:
    """Return a name made of plain data, versions, and the code of this package and of ``sources``: modules, and files with their neighbours.

    Without sources (None) it is made of the data alone.
    """
    text = json.dumps(identity if sources is None else [identity, find_versions(), _code(sources)])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _code(sources: Iterable[str]) -> str:
    """Hash of the source code that values depend on."""
    digest = hashlib.blake2b(digest_size=8)
    folders = {Path(__file__).parent.parent}
    for source in sorted(set(sources)):
        if source.endswith(".py"):
            near = Path(source).parent  # it may import its neighbours
            for path in [Path(source), *sorted([*near.glob("*.py"), *near.glob("*/*.py")])]:
                digest.update(path.read_bytes())
            continue
        spec = importlib.util.find_spec(source.split(".")[0])
        if spec is not None and spec.submodule_search_locations:
            folders.update(Path(place) for place in spec.submodule_search_locations)
    for folder in sorted(folders):
        for path in sorted(folder.rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
