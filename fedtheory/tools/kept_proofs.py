"""Proofs that were found before, in files that are named by what they prove. They are proposals: who reads one checks it as if it were new.

A search takes seconds to a minute, and the check of what it found a fraction of that. What is found goes to `OWN`, in the working folder;
ledgers bring theirs along (`SHIPPED`, a folder beside them). With ``FEDTHEORY_PROOFS=none`` nothing is read, and everything is found anew.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.tools.beside import name_here
from fedtheory.tools.untrusted import MOST_BYTES, open_file, parse_json

OWN, SHIPPED = Path(".fedtheory/proofs"), ("paper_checks", "proofs")


def digest_of(statement: Any) -> str:
    """A name for plain data."""
    return hashlib.sha256(json.dumps(statement, sort_keys=True).encode()).hexdigest()[:32]


def read_kept(name: str) -> Iterator[Any]:
    """What is kept under a name, the working folder's first; what cannot be read is passed over."""
    if os.environ.get("FEDTHEORY_PROOFS") == "none":
        return
    for folder in (OWN, *_shipped()):
        with (
            contextlib.suppress(OSError, ValueError, EOFError),
            open_file(folder / f"{name}.json.gz", MOST_BYTES) as file,
        ):
            content = gzip.GzipFile(fileobj=file).read(MOST_BYTES + 1)
            if len(content) <= MOST_BYTES:
                yield parse_json(content.decode())


def keep(name: str, data: Any) -> None:
    """Keep plain data in the working folder, if it can be written to."""
    with contextlib.suppress(OSError):
        OWN.mkdir(parents=True, exist_ok=True)
        content = gzip.compress(json.dumps(data, sort_keys=True, separators=(",", ":")).encode(), mtime=0)
        with tempfile.NamedTemporaryFile(dir=OWN, delete=False) as file:
            file.write(content)
        os.replace(file.name, OWN / f"{name}.json.gz")


@cache
def _shipped() -> tuple[Path, ...]:
    package, folder = SHIPPED
    spec = importlib.util.find_spec(name_here(f"fedtheory.{package}"))
    return tuple(Path(place) / folder for place in (spec.submodule_search_locations or ())) if spec is not None else ()
