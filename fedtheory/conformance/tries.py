"""Many changes of a round tried side by side, and numbers found that changes have in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.conformance.building import Base
from fedtheory.conformance.changes.change import NUMBER, SIZE, Edit, RoundChange
from fedtheory.conformance.ways import NOT_FAR, Way

#: so many changes are tried in one batch of runs
_RUNS = 200


class Alternatives:
    """Many values in the place of one, each in a run of its own: row k of the batch has the k-th.

    What cannot be worked out, or has other rows than the value it stands for, leaves its run unchanged and is remembered.
    """

    def __init__(self) -> None:
        self.failed: set[int] = set()
        self.misshapen: set[int] = set()

    def __call__(self, plain: Callable[[], Any], *others: Callable[[], Any]) -> Any:
        """Return the values ``(runs, rows, d)``."""
        value = plain()
        own = np.asarray(value)
        shape = own.shape[-2:] if own.ndim >= 2 else (1, 1)
        return np.stack([self._row(k, other, own, shape) for k, other in enumerate(others)])

    def _row(self, k: int, other: Callable[[], Any], own: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        plain = np.broadcast_to(own[k] if own.ndim > 2 else own, shape)
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(other(), dtype=float)
        except Exception:  # changed code may fail in any way
            self.failed.add(k)
            return plain
        found = found[k] if found.ndim > 2 else found
        if found.ndim and found.shape[-2:] != shape and found.shape[-2:] != (1, shape[-1]):
            self.misshapen.add(k)
            return plain
        if not np.all(np.isfinite(found)):
            self.failed.add(k)
            return plain
        return np.broadcast_to(found, shape)


def judge_together(
    base: Base, changes: Sequence[RoundChange], judge: Callable[[Any, int], NDArray[Any]]
) -> tuple[list[tuple[RoundChange, Any]], list[RoundChange]]:
    """Changes of the same places with what is found of their runs, and those to be run alone: all, where they cannot be run side by side."""
    many = Alternatives()
    base.names["alternatives"] = many
    edits = []
    for place, edit in enumerate(changes[0].edits):
        texts = (base.text[edit.start : edit.end], *(change.edits[place].text for change in changes))
        choices = ", ".join(f"lambda: ({text})" for text in texts)
        edits.append(Edit(edit.start, edit.end, f"alternatives({choices})"))
    try:
        found = judge(base.build(RoundChange("", tuple(edits))), len(changes))
    except (
        Exception
    ):  # changed code may fail in any way, and a number that is many may be none where one number is asked for
        return [], list(changes)
    run = [(change, found[k]) for k, change in enumerate(changes) if k not in many.failed | many.misshapen]
    return run, [change for k, change in enumerate(changes) if k in many.misshapen]


def judge_edits(
    base: Base, changes: Sequence[RoundChange], judge: Callable[[Any, int], NDArray[Any]]
) -> list[tuple[RoundChange, Any]]:
    """Changes without numbers that are to be found, with what is found of their runs; without those whose code fails.

    Changes of one expression are run side by side, in a batch of runs; what cannot be is run alone.

    Parameters
    ----------
    judge : (method, number of runs) -> array ``(runs,)``
    """
    together: dict[tuple[tuple[int, int], ...], list[RoundChange]] = {}
    alone, judged = [], list[tuple[RoundChange, Any]]()
    for change in changes:
        if change.value and change.early is None:
            together.setdefault(tuple((edit.start, edit.end) for edit in change.edits), []).append(change)
        else:
            alone.append(change)
    for place in together.values():
        for first in range(0, len(place), _RUNS):
            found, left = judge_together(base, place[first : first + _RUNS], judge)
            judged += found
            alone += left
    for change in alone:
        try:
            judged.append((change, judge(base.build(change), 1)[0]))
        except Exception:  # changed code may fail in any way
            continue
    return judged


def find_changes(base: Base, way: Way, changes: Sequence[RoundChange]) -> list[RoundChange]:
    """Return the changes with which a method stays near the implementation's way, with their numbers where there are any to be found."""
    plain = [change for change in changes if not change.free]
    near = judge_edits(base, plain, lambda method, runs: way.measure_or_fail(method, runs, beyond=NOT_FAR) <= NOT_FAR)
    # a batch has the numbers of many in the place of one, which may round otherwise: each is run again by itself
    found = [change for change, is_near in near if is_near and way.follow(base.build(change))[0]]
    return found + [fitted for change in changes if change.free for fitted in with_their_number(base, way, change)]


# ---- numbers ------------------------------------------------------------------------------------------------------

#: numbers among which one is looked for; how often the best one's neighbourhood is looked at more closely, and by so many numbers
_SIZES = np.concatenate([[0.0], np.geomspace(1e-4, 1e2, 49)])
_NUMBERS = {NUMBER: np.concatenate([-_SIZES[:0:-1], _SIZES]), SIZE: _SIZES}
_CLOSER, _AMONG = 10, 41
#: shares of a size at which a search for a number is given up: at first, and after having looked twice more closely
_HOPELESS = (1.0, 0.1)
#: numbers are not told apart where they differ by this share, or are this small
_SAME = 1e-6
#: digits of a number, as people write them
_DIGITS = (1, 2, 3, 4, 6, 9, 17)


def with_their_number(base: Base, way: Way, change: RoundChange) -> list[RoundChange]:
    """The change with the number that brings it nearest to the implementation's way, if that is near: the shortest of those that are as near."""
    try:
        method = base.build(change)
    except SyntaxError:
        return []
    numbers, off, best = _NUMBERS[change.free], np.array([np.inf]), 0
    for closer in range(_CLOSER):
        base.names[change.free], hopeless = numbers[:, None, None], _HOPELESS[min(closer, 2) // 2]
        off = way.measure(method, len(numbers), beyond=hopeless)
        best = int(np.argmin(off))
        if not off[best] <= hopeless:
            return []
        ends = [max(best - 1, 0), min(best + 1, len(numbers) - 1)]
        if (closer or best not in ends) and _least(numbers, off, best, *ends) > NOT_FAR:
            return []
        if closer < _CLOSER - 1:
            numbers = np.linspace(numbers[ends[0]], numbers[ends[1]], _AMONG)
    if off[best] > NOT_FAR:
        return []
    found = float(numbers[best])
    shortest = (0.0, *(float(f"{found:.{digits}g}") for digits in _DIGITS))
    return [change.at(next(v for v in shortest if abs(v - found) <= _SAME * max(abs(found), _SAME)))]


def _least(numbers: NDArray[np.float64], off: NDArray[np.float64], best: int, before: int, after: int) -> float:
    """What a convex function that has these values is at least, beside its smallest one; at an end, as if it rose as much beyond."""
    left, right = numbers[best] - numbers[before], numbers[after] - numbers[best]
    left, right = left or right, right or left
    falls = (off[after] - off[best]) * left / right, (off[before] - off[best]) * right / left
    return float(off[best] - max(falls))
