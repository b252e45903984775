"""Plays as a next-character task with a natural split: each speaking role is a group of its own."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput
from problems.datasets.base import Dataset, first_file, not_found, read_packed, root_folder
from problems.datasets.known import checksum, name_of

#: white space, the letters whatever their case, and everything else
CHARACTERS = ("space", *string.ascii_lowercase, "other")
CONTEXT = 3  #: characters that are seen before the one to predict
FILES = [f"{place}tinyshakespeare.txt{ending}" for place in ("shakespeare/", "") for ending in (".bz2", ".gz", "")]


def shakespeare(folder: str | Path | None = None) -> Dataset:
    """Shakespeare by role: the next of 28 characters from the three before it, one-hot ``(samples, 3 * 28)``.

    Read from ``shakespeare/tinyshakespeare.txt[.bz2|.gz]``: speeches apart by an empty line, each under a line ``ROLE:``. A speech
    gives a sample at every fourth character, so that no two samples share one. ``groups`` numbers the roles in alphabetical
    order, those that speak a sample at least.

    Raises
    ------
    NotAvailable
        No folder was given, or the file is not in it.
    InvalidInput
        The file is damaged, or has no speeches.
    """
    path = find_shakespeare(root_folder("shakespeare", folder))
    windows, roles = [], []
    for speech in read_packed(path).decode("latin-1").replace("\r\n", "\n").split("\n\n"):
        role, colon, words = speech.strip("\n").partition(":\n")
        count = len(words) // (CONTEXT + 1)
        if colon and count:
            windows.append(_numbers(words)[: count * (CONTEXT + 1)].reshape(count, CONTEXT + 1))
            roles.append(np.full(count, role))
    if not windows:
        raise InvalidInput(
            f"{path} has no speeches; expected lines 'ROLE:', each with its speech below, apart by empty lines"
        )
    seen = np.concatenate(windows)
    features = np.eye(len(CHARACTERS), dtype=np.float32)[seen[:, :CONTEXT]].reshape(len(seen), -1)
    groups = np.unique(np.concatenate(roles), return_inverse=True)[1]
    told = name_of("shakespeare", path, len(seen), checksum(seen, groups.astype(np.int64)))
    return Dataset(features, seen[:, CONTEXT].astype(np.int64), told, classes=CHARACTERS, groups=groups)


def find_shakespeare(root: Path) -> Path:
    """Return the file that `shakespeare` reads."""
    path = first_file(root, FILES)
    if path is None:
        raise not_found("shakespeare", root, FILES)
    return path


def _numbers(words: str) -> NDArray[np.uint8]:
    """Class of each character of a Latin-1 text."""
    table = np.full(256, CHARACTERS.index("other"), dtype=np.uint8)
    table[[ord(c) for c in string.whitespace]] = CHARACTERS.index("space")
    for letters in (string.ascii_lowercase, string.ascii_uppercase):
        table[[ord(c) for c in letters]] = np.arange(1, 27)
    return table[np.frombuffer(words.encode("latin-1"), np.uint8)]
