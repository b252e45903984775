"""Files that anybody may have written: read within limits, and refused in one line that says what is wrong.

Only regular files are opened, since a device or a pipe may never end. JSON is read up to a number of bytes, of levels and of digits; a name that
occurs twice, NaN and infinity are refused, since two readers may understand them differently. What the data mean is for their reader to check.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.core.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_BYTES = 50_000_000  #: of a file
MOST_LEVELS = 40  #: of lists and names inside each other
MOST_DIGITS = 300  #: of a whole number, so that it is one as a float, too
MOST_EXPONENT = 400  #: of a number in a text: "1e99999999" would take for ever to write down
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_EXPONENT = re.compile(r"(?<=[\d._])[eE][-+]?([\d_]+)")
_DIGITS = re.compile(rf"[\d_]{{{MOST_EXPONENT + 1},}}")


class _Malformed(ValueError):
    """What is wrong with a text."""


@contextmanager
def open_file(path: Path | str, most: int | None = None) -> Iterator[BufferedReader]:
    """Open a regular file, to be read.

    Raises
    ------
    InvalidInput
        It is not there, is something else, or is longer than ``most`` bytes.
    """
    shown = show_path(path)
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except IsADirectoryError as error:
        raise InvalidInput(f"{shown} is a folder; expected a file") from error
    except (OSError, ValueError) as error:  # a name may hold a null byte
        raise InvalidInput(f"cannot read {shown}: {getattr(error, 'strerror', None) or error}") from error
    found = os.fstat(handle)
    kind = next((words for test, words in _KINDS if test(found.st_mode)), None)
    if kind is not None or (most is not None and found.st_size > most):
        os.close(handle)
        raise InvalidInput(f"{shown} is {kind}; expected a file" if kind else f"{shown} is longer than {most} bytes")
    with os.fdopen(handle, "rb") as file:
        yield file


def read_bytes(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file.

    Raises
    ------
    InvalidInput
        It cannot be read, or is longer than ``most`` bytes.
    """
    with open_file(path, most) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InvalidInput(f"{show_path(path)} is longer than {most} bytes")
    return content


def stamp_file(path: Path) -> tuple[int, ...] | None:
    """Return what tells a file from one that took its place or was changed; None where there is none. Caches of what was read are keyed by it."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def read_text(path: Path | str, most: int = MOST_BYTES) -> str:
    """Return the content of a regular file of UTF-8.

    Raises
    ------
    InvalidInput
        It cannot be read, or is no text.
    """
    try:
        return read_bytes(path, most).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{show_path(path)} is no text in UTF-8") from error


def read_json_file(path: Path | str, expected: str, most: int = MOST_BYTES, *, finite: bool = True) -> Any:
    """Return what a file of JSON holds.

    Parameters
    ----------
    expected : str
        What the file should be, in words that end a sentence: ``"a verdict file"``.
    finite : bool
        Whether NaN and infinity are refused.

    Raises
    ------
    InvalidInput
        It cannot be read, or is no JSON within the limits.
    """
    try:
        return parse_json(read_text(path, most), finite=finite)
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(f"{show_path(path)} is not {expected} ({error})") from error


def parse_json(text: str, *, finite: bool = True) -> Any:
    """Return what a text of JSON says.

    Raises
    ------
    ValueError
        It is no JSON within the limits; the message is one line.
    """
    try:
        found = json.loads(
            text,
            parse_int=_read_whole,
            parse_float=_read_float,
            parse_constant=_refuse if finite else float,
            object_pairs_hook=_once,
        )
        _require_levels(found)
    except RecursionError:
        raise _Malformed(f"it has more than {MOST_LEVELS} levels") from None
    except _Malformed:
        raise
    except ValueError as error:
        raise _Malformed(f"it is no JSON: {error}") from error
    return found


def read_arrays(path: Path | str, *names: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that `numpy.savez` wrote, all of them or those that are named.

    Raises
    ------
    InvalidInput
        It is another file; or one of its arrays is compressed, has objects, or says that it is larger than it is.
    """
    import numpy as np

    with open_file(path) as raw:
        try:
            with zipfile.ZipFile(raw) as file:
                for entry in file.infolist():
                    _require_array(file, entry)
            raw.seek(0)
            with np.load(raw, allow_pickle=False) as arrays:
                return {name: arrays[name] for name in (names or arrays.files)}
        except (OSError, EOFError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
            raise InvalidInput(f"{show_path(path)} is no file of arrays ({error})") from error


def _require_array(file: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Refuse what would take more memory than the file is long."""
    from numpy.lib import format as layout

    if entry.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{entry.filename[:40]!a} is compressed")
    with file.open(entry) as inside:
        version = layout.read_magic(inside)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{entry.filename[:40]!a} has the unknown version {version}")
        read = layout.read_array_header_1_0 if version == (1, 0) else layout.read_array_header_2_0
        shape, _, dtype = read(inside)
        if dtype.hasobject or math.prod(shape) * dtype.itemsize != entry.file_size - inside.tell():
            raise ValueError(f"{entry.filename[:40]!a} has not the size that it says")


def require_short_numbers(text: str) -> None:
    """Refuse a text with a number in it that would take for ever to write down.

    Raises
    ------
    ValueError
        A number has too many digits, or too large an exponent.
    """
    found = _DIGITS.search(text)
    if found is None:
        exponents = _EXPONENT.finditer(text)
        found = next((e for e in exponents if len(e[1]) > 3 or int(e[1].replace("_", "") or 0) > MOST_EXPONENT), None)
    if found is not None:
        near = text[max(0, found.start() - 20) : found.start() + 20]
        raise _Malformed(f"{near!a} has a number of more than {MOST_EXPONENT} digits, or an exponent above that")


def is_same(one: Any, other: Any) -> bool:
    """Whether plain data are alike, to the kind of each value: True is not 1, and 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def show_path(path: Path | str) -> str:
    """Return a path as it may be printed: one line of printable characters."""
    text = str(path)
    return text if text.isprintable() else ascii(text)[1:-1]


def _read_whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise _Malformed(f"{text[:20]}... has more than {MOST_DIGITS} digits")
    return int(text)


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Malformed(f"{text[:20]} is no finite number")
    return value


def _refuse(text: str) -> Any:
    raise _Malformed(f"{text} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _Malformed(f"the name {ascii(twice)[:40]} occurs twice")
    return found


def _require_levels(value: Any) -> None:
    """Refuse what lies too deep: others follow it by recursion."""
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise _Malformed(f"it has more than {MOST_LEVELS} levels")
