"""Lists and ranges of values as text: ``0.1,0.5``, ``0:4``, ``0.1:0.5:5``, ``1e-3:1:10log``."""

from __future__ import annotations

from typing import Any

from fedtheory.core.errors import InvalidInput

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
    try:
        if len(ends) == 1:
            return [kind(word)]
        if len(ends) == 2 and kind is int:
            low, high = int(ends[0]), int(ends[1])
            if low > high:
                raise ValueError
            return list(range(low, high + 1))
        low_end, high_end = kind(ends[0]), kind(ends[1])
        spaced = np.geomspace if ends[2].endswith("log") else np.linspace
        count = int(ends[2].removesuffix("log"))
        if len(ends) > 3 or count < 2 or (spaced is np.geomspace and not (low_end > 0 and high_end > 0)):
            raise ValueError
    except (ValueError, IndexError):
        numbers = "whole numbers" if kind is int else "numbers"
        raise InvalidInput(
            f"{name}: {word!r} is neither a value nor a range of {numbers}; give {SYNTAX} (ten in even ratios between "
            "positive ends)"
        ) from None
    values = spaced(low_end, high_end, count)
    return [round(float(v)) if kind is int else float(v) for v in values]
