"""What is kept of Rocq's work, in the user's own cache folder: that it accepted a proof, and the compiled core.

Both are kept under a code that only this user can make (`fedtheory.tools.journal`): lines of answers, and the files of the core. What was changed, or
came from elsewhere, is not believed but made again. A refusal is not kept, since a compiler that was killed, or had no time, memory or disk left, may
have refused nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.rocq.folders import core_digest
from fedtheory.tools.journal import Journal, find_cache, make_code
from fedtheory.tools.untrusted import read_bytes

#: the file of a compiled core that has the code of all others
_CODE = "code"


def find_kept(kept: Path | None) -> Path:
    """The folder of answers and of the core: the given one, or that of the user's cache."""
    return (find_cache() / "rocq" if kept is None else kept).resolve()


def recall_answers(version: str, kept: Path | None) -> dict[str, Any]:
    """What this version of Rocq accepted, by digest: the axioms, the date, and how long it took."""
    return _open(version, kept).read()


def keep_answer(version: str, kept: Path | None, digest: str, axioms: Sequence[str], date: str, seconds: float) -> None:
    """Keep that a proof was accepted, with its axioms; whether these are allowed is asked when it is recalled."""
    _open(version, kept).add(digest, {"axioms": list(axioms), "date": date, "seconds": seconds})


def _open(version: str, kept: Path | None) -> Journal:
    return Journal("answers", version, None, find_kept(kept))


def find_core(version: str, kept: Path | None) -> Path:
    """Where the core's compiled files are, or will be; a name of its own for each user."""
    return find_kept(kept) / f"core-{version}-{make_code('core', core_digest().encode())[:24]}"


def seal_core(folder: Path, name: str) -> None:
    """Write the code of a folder that will have this name."""
    (folder / _CODE).write_text(_code_of(folder, name))


def is_sealed_core(folder: Path) -> bool:
    """Whether a folder is there as this user compiled it: with these files, and no others."""
    try:
        return hmac.compare_digest(read_bytes(folder / _CODE, 1000), _code_of(folder, folder.name).encode())
    except (OSError, InvalidInput):
        return False


def _code_of(folder: Path, name: str) -> str:
    found = [path for path in sorted(folder.iterdir()) if path.name != _CODE]
    lines = [f"{path.name} {hashlib.sha256(read_bytes(path)).hexdigest()}\n".encode() for path in found]
    return make_code(name, *lines)
