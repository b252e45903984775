"""Reading what anybody may have written: within limits, whole numbers and fractions alone, and no field that nothing looks at."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path
from typing import Any

from .refusals import NotChecked

NUMBER = re.compile(r"-?[0-9]{1,400}(/[0-9]{1,400})?")  # no exponents: "1e9999999" would take for ever to write down
COUNT = re.compile(r"0|[1-9][0-9]{0,5}")
WORDS_OF_A_NAME = re.compile(r"[A-Za-z][A-Za-z0-9 ,_'+*-]{0,99}")
MOST_BYTES, MOST_NESTED, MOST_TEXT = 10_000_000, 40, 10_000
MOST_STEPS = 600_000  #: after which a check gives up: some two seconds
_SHORT = 2048  #: bits of the numbers of an operation that is one step


class StepCount:
    """Counts steps: operations with short numbers; long ones count by their length, and by its square."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.most = self.left = most

    def spend(self, operations: int, *numbers: Iterable[Fraction | int]) -> None:
        """So many operations, with the longest of these numbers; refuse to go on (`NotChecked`) when there have been too many."""
        bits = sum(max(map(_bits, values), default=0) for values in numbers)
        self.left -= max(operations, 1) * (1 + 4 * bits // _SHORT + (bits // _SHORT) ** 2)
        if self.left < 0:
            raise NotChecked(f"it takes more than {self.most} steps to check; --limit STEPS raises the limit")


def _bits(value: Fraction | int) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


_counted: ContextVar[StepCount | None] = ContextVar("counted", default=None)


@contextmanager
def counting(most: int = MOST_STEPS) -> Iterator[StepCount]:
    """Count the steps of all that is done inside; inside of another count, that one goes on."""
    outer = _counted.get()
    if outer is not None:
        yield outer
        return
    token = _counted.set(StepCount(most))
    try:
        yield current_count()
    finally:
        _counted.reset(token)


def current_count() -> StepCount:
    """The count that goes on; a new one where nothing is counted."""
    return _counted.get() or StepCount()


def is_counting() -> bool:
    """Whether steps are counted."""
    return _counted.get() is not None


def spend(operations: int, *numbers: Iterable[Fraction]) -> None:
    """So many operations of the count that goes on (`StepCount.spend`)."""
    work = _counted.get()
    if work is not None:
        work.spend(operations, *numbers)


def require_fields(data: Any, known: Iterable[str], what: str) -> Any:
    """The data, if they are named and all names are known: a field that nothing reads might be taken for one that is checked."""
    if not isinstance(data, dict):
        raise TypeError(f"{what} is a {type(data).__name__}, not a mapping")
    if unknown := [name for name in data if name not in known]:
        raise ValueError(f"{what} has the unknown field {unknown[0][:40]!a}")
    return data


def read_number(value: Any) -> Fraction:
    """A fraction, from "1/3", "2" or 2; nothing else is a number here."""
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        value = str(value)
    if not (isinstance(value, str) and NUMBER.fullmatch(value)):
        raise ValueError(f"{ascii(value)[:40]} is not a whole number or a fraction of at most 400 digits")
    return Fraction(value)


def read_count(value: Any) -> int:
    """A whole number below a million, from 3 or "3"."""
    if isinstance(value, bool) or not isinstance(value, int | str) or not COUNT.fullmatch(str(value)):
        raise ValueError(f"{ascii(value)[:40]} does not count anything")
    return int(value)


def read_name(value: Any) -> str:
    """A few words in letters, digits and signs."""
    if not (isinstance(value, str) and WORDS_OF_A_NAME.fullmatch(value)):
        raise ValueError(f"{ascii(value)[:40]} is not a name")
    return value


def read_named(data: Any, read: Any) -> dict[str, Any]:
    """A mapping from names."""
    return {read_name(name): read(value) for name, value in data.items()}


def show(value: Fraction) -> str:
    """About how large it is."""
    try:
        return f"{float(value):.12g}"
    except OverflowError:
        return "a number too large to print"


def read_file(path: Path | str) -> dict[str, Any]:
    """Read a stored proof: JSON with whole numbers and printable ASCII alone.

    Raises
    ------
    NotChecked
        The file is not there or holds something else; the message is one line.
    """
    try:
        data = json.loads(
            _read_bytes(path).decode(), parse_float=_refuse, parse_constant=_refuse, object_pairs_hook=_read_once
        )
        _require_plain(data)
    except RecursionError:
        raise NotChecked(f"it is not a readable proof: it has more than {MOST_NESTED} levels") from None
    except (OSError, ValueError) as error:
        raise NotChecked(f"it is not a readable proof: {getattr(error, 'strerror', None) or error}") from error
    if not isinstance(data, dict):
        raise NotChecked("it is not a proof but a list or a word")
    return dict(data)


def _read_bytes(path: Path | str) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe is not waited for
    with open(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no regular file")
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise ValueError(f"it is longer than {MOST_BYTES} bytes")
    return raw


def _refuse(text: str) -> Any:
    raise ValueError(f"{text[:20]} is not exact; numbers are whole or fractions in quotes")


def _read_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice")
    return dict(pairs)


def _require_plain(data: Any) -> None:
    """Refuse words that are no short lines of printable ASCII, and what is nested too deeply."""
    level = [data]
    for _ in range(MOST_NESTED):
        inside = [v for d in level if isinstance(d, dict) for v in (*d, *d.values())]
        inside += [v for d in level if isinstance(d, list) for v in d]
        for v in inside:
            if isinstance(v, str) and not (v.isascii() and v.isprintable() and len(v) <= MOST_TEXT):
                raise ValueError(f"{ascii(v)[:40]} is not a short line of printable ASCII")
        level = inside
    if level:
        raise RecursionError
