"""The search for a change of a method's round with which it does what an implementation does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.conformance.building import Base, show_change
from fedtheory.conformance.changes.change import NUMBER, SIZE, Edit, RoundChange
from fedtheory.conformance.changes.rules import list_round_changes
from fedtheory.conformance.reading import read_round
from fedtheory.conformance.trials import Trial, Values, goes_through, make_start, play_round, replace_values
from fedtheory.core.arrays import to_numpy
from fedtheory.core.states import arrays_of

#: a change whose variables are further off than this share of their size is none
_FAR = 1e-3
#: what rounding may leave of a number, as a share of the largest
_ROUND = 1e-9
#: so many changes are tried in one batch of runs
_RUNS = 200


@dataclass(frozen=True, eq=False)
class Way:
    """What an implementation did on a trial, and the method as it stands there."""

    method: Algorithm
    trial: Trial
    states: Sequence[Values]
    names: tuple[str, ...]
    first: Mapping[str, NDArray[np.float64]]

    def follow(self, method: Any, runs: int = 1) -> NDArray[np.bool_]:
        """Which runs of a method stay near the implementation's way, round by round; none where its code fails."""
        return self.measure(method, runs, beyond=_FAR) <= _FAR

    def measure(self, method: Any, runs: int = 1, beyond: float = np.inf) -> NDArray[np.float64]:
        """How far runs of a method go from the implementation's way; infinitely far where its code fails."""
        try:
            return self.measure_or_fail(method, runs, beyond)
        except Exception:  # changed code may fail in any way
            return np.full(runs, np.inf)

    def measure_or_fail(self, method: Any, runs: int = 1, beyond: float = np.inf) -> NDArray[np.float64]:
        """The largest distances, as shares of the variables' sizes; of the rounds up to that in which all are beyond some."""
        far = np.zeros(runs)
        problem, state = self._start
        for r in range(len(self.trial.clients)):
            state, _ = play_round(method, problem, state, self.trial, r)
            reached = arrays_of(state)
            for name in self.names:
                value = to_numpy(reached[name] if name in reached else getattr(state, name))
                far = np.maximum(far, self._distance(name, r + 1, value))
            if np.all(far > beyond):
                break
        return far

    @cached_property
    def _start(self) -> tuple[Any, State]:
        problem, state = make_start(self.method, self.trial)
        return problem, replace_values(state, self.first)

    def _distance(self, name: str, r: int, value: Any) -> Any:
        own = self.states[r][name]
        if value.shape[-2:] != own.shape:
            return np.inf
        with np.errstate(all="ignore"):
            off = np.max(np.abs(value - own), axis=(-2, -1)) / (self._sizes[name][r] + _ROUND / _FAR * self._largest)
        return np.where(np.isnan(off), np.inf, off)

    @cached_property
    def _sizes(self) -> dict[str, NDArray[np.float64]]:
        return {
            name: np.maximum.accumulate([np.max(np.abs(state[name])) for state in self.states]) for name in self.names
        }

    @cached_property
    def _largest(self) -> float:
        return max(float(size[-1]) for size in self._sizes.values())

    def agrees(self, method: Any) -> bool:
        """Whether a method goes the implementation's way, up to rounding in single precision."""
        try:
            return goes_through(method, self.trial, self.states, self.names, self.first)
        except Exception:  # changed code may fail in any way
            return False


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


def search_changes(
    ways: Sequence[Way], texts: Sequence[str], other: Way | None
) -> tuple[list[tuple[str, tuple[str, ...]]], int]:
    """Return the changes with which a method goes all these ways, in words and as lines that change, and how many were tried.

    Parameters
    ----------
    ways : sequence of Way
        The first one sorts out.
    texts : sequence of str
        Texts of the method's class that mean the same, of which changes need not.
    other : Way, optional
        A way with other numbers; changes that do not go it agree by a coincidence.
    """
    bases = [Base(ways[0].method, text) for text in texts]
    groups = [list_round_changes(read_round(base.plain, base.text, ways[0].trial)) for base in bases]
    tried = 0
    for group in zip(*groups, strict=True):
        tried += sum(map(len, group))
        found = [
            (base, change)
            for base, changes in zip(bases, group, strict=True)
            for change in find_changes(base, ways[0], changes)
            if all(_agrees(way, base.text, change) for way in ways)
        ]
        sure = [(base, change) for base, change in found if other is None or _agrees(other, base.text, change)]
        if sure:
            return _tell(sure), tried
    return [], tried


def _tell(found: Sequence[tuple[Base, RoundChange]]) -> list[tuple[str, tuple[str, ...]]]:
    """Changes in words and as lines: of those of one rule the shortest words first; of those in one line only the first."""
    rules = list(dict.fromkeys(change.rule for _, change in found))
    told: dict[tuple[str, ...], tuple[str, tuple[str, ...]]] = {}
    for base, change in sorted(found, key=lambda one: (rules.index(one[1].rule), len(one[1].words))):
        lines = show_change(base.text, change)
        told.setdefault(tuple(line for line in lines if line[0] == "-"), (change.words, lines))
    return list(told.values())


def _agrees(way: Way, text: str, change: RoundChange) -> bool:
    return way.agrees(Base(way.method, text).build(change))


def find_changes(base: Base, way: Way, changes: Sequence[RoundChange]) -> list[RoundChange]:
    """Return the changes with which a method stays near the implementation's way.

    Changes of one expression are tried side by side, in a batch of runs; what cannot be is tried alone.
    """
    together: dict[tuple[tuple[int, int], ...], list[RoundChange]] = {}
    alone, fitted = [], []
    for change in changes:
        if change.free:
            fitted += _with_their_number(base, way, change)
        elif change.value and change.early is None:
            together.setdefault(tuple((edit.start, edit.end) for edit in change.edits), []).append(change)
        else:
            alone.append(change)
    for place in together.values():
        for first in range(0, len(place), _RUNS):
            found, left = _try_together(base, way, place[first : first + _RUNS])
            alone += found + left
    return [change for change in alone if _stays_near(base, way, change)] + fitted


def _try_together(base: Base, way: Way, changes: Sequence[RoundChange]) -> tuple[list[RoundChange], list[RoundChange]]:
    """Of changes of the same places those that stay near, and those that have to be tried alone: all, where they cannot be run side by side."""
    many = Alternatives()
    base.names["alternatives"] = many
    edits = []
    for place, edit in enumerate(changes[0].edits):
        texts = (base.text[edit.start : edit.end], *(change.edits[place].text for change in changes))
        choices = ", ".join(f"lambda: ({text})" for text in texts)
        edits.append(Edit(edit.start, edit.end, f"alternatives({choices})"))
    try:
        near = way.measure_or_fail(base.build(RoundChange("", tuple(edits))), len(changes), beyond=_FAR) <= _FAR
    except Exception:  # changed code may fail in any way, and a number that is many may be none where one number is asked for
        return [], list(changes)
    left = [change for k, change in enumerate(changes) if k in many.misshapen]
    return [c for k, c in enumerate(changes) if near[k] and k not in many.failed | many.misshapen], left


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


def _with_their_number(base: Base, way: Way, change: RoundChange) -> list[RoundChange]:
    """The change with the number that brings it nearest to the implementation's way, if that is near: the shortest of those that are as near."""
    try:
        method = base.build(change)
    except SyntaxError:
        return []
    numbers, off, best = _NUMBERS[change.free], np.array([np.inf]), 0
    for closer in range(_CLOSER):
        base.names[change.free] = numbers[:, None, None]
        off = way.measure(method, len(numbers))
        best = int(np.argmin(off))
        if not off[best] <= _HOPELESS[min(closer, 2) // 2]:
            return []
        low, high = numbers[max(best - 1, 0)], numbers[min(best + 1, len(numbers) - 1)]
        if closer < _CLOSER - 1:
            numbers = np.linspace(low, high, _AMONG)
    if off[best] > _FAR:
        return []
    found = float(numbers[best])
    shortest = (0.0, *(float(f"{found:.{digits}g}") for digits in _DIGITS))
    return [change.at(next(v for v in shortest if abs(v - found) <= _SAME * max(abs(found), _SAME)))]


def _stays_near(base: Base, way: Way, change: RoundChange) -> bool:
    try:
        return bool(way.follow(base.build(change))[0])
    except SyntaxError:
        return False
