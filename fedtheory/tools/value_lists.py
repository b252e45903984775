"""Lists and ranges of values as text: ``0.1,0.5``, ``0:4``, ``0.1:0.5:5``, ``1e-3:1:10log``."""

from __future__ import annotations

from typing import Any

from fedtheory.core.errors import InvalidInput

#: most values that one range stands for
MOST_VALUES = 100_000
SYNTAX = (
    "a list of values and ranges: 0.1,0.5 | 0:4 (whole numbers, both ends) | 0.1:0.5:5 (five, evenly) | 1e-3:1:10log"
)
EVERYTHING = "all"  #: the word for None: all clients take part, full gradients


def parse_values(name: str, text: str, kind: type | tuple[str, ...], *, everything: bool = False) -> tuple[Any, ...]:
    """Values that a text stands for, each once, in the order given.

    The text is a list with commas; each entry is a value or a range. ``a:b`` are the whole numbers from a to b;
    ``a:b:k`` are k numbers from a to b in even steps, ``a:b:klog`` in even ratios; both ends are included always.

    Parameters
    ----------
    name : what the values are of, for errors
    text : for example ``"1e-3:1:4log,2"``
    kind : int, float, str (any words), or the words that are allowed
    everything : whether ``all`` is a value, which is returned as None

    Raises
    ------
    InvalidInput
        An entry is neither a value of that kind nor a range.
    """
    found: dict[Any, None] = {}
    for entry in text.split(","):
        word = entry.strip()
        if everything and word == EVERYTHING:
            found[None] = None
        elif isinstance(kind, tuple):
            if word not in kind:
                raise InvalidInput(f"{name}: {word!r} is not one of {', '.join(kind)}")
            found[word] = None
        elif kind is str:
            found[word] = None
        else:
            found.update(dict.fromkeys(_numbers(name, word, kind)))
    return tuple(found)


def _numbers(name: str, word: str, kind: type) -> list[Any]:
    import numpy as np  # not for a look at the help text

    ends = word.split(":")
    if len(ends) == 1:
        return [_read(name, word, word, kind)]
    whole = len(ends) == 2 and kind is int
    low, high = (_read(name, word, end, kind) for end in ends[:2])
    spaced = np.geomspace if ends[-1].endswith("log") else np.linspace
    count = high - low + 1 if whole else _read(name, word, ends[-1].removesuffix("log"), int) if len(ends) == 3 else 0
    if count < (1 if whole else 2) or (spaced is np.geomspace and not (low > 0 and high > 0)):
        raise _no_range(name, word, kind)
    if count > MOST_VALUES:
        raise InvalidInput(f"{name}: {word!r} stands for {count} values; at most {MOST_VALUES} are taken")
    if whole:
        return list(range(low, high + 1))
    return [round(float(v)) if kind is int else float(v) for v in spaced(low, high, count)]


def _read(name: str, word: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise _no_range(name, word, kind) from None


def _no_range(name: str, word: str, kind: type) -> InvalidInput:
    numbers = "whole numbers" if kind is int else "numbers"
    return InvalidInput(
        f"{name}: {word!r} is neither a value nor a range of {numbers}; give {SYNTAX} (ten in even ratios between positive ends)"
    )
