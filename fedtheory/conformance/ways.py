"""What an implementation did on a trial, and how far a method goes from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.conformance.trials import Trial, Values, goes_through, make_start, play_round, replace_values
from fedtheory.core.arrays import to_numpy
from fedtheory.core.states import arrays_of

#: a change whose variables are further off than this share of their size is none
NOT_FAR = 1e-3
#: what rounding may leave of a number, as a share of the largest
_ROUND = 1e-9


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
        return self.measure(method, runs, beyond=NOT_FAR) <= NOT_FAR

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

    def count_agreeing(self, method: Any, runs: int = 1) -> NDArray[np.int64]:
        """How many variables are near after single rounds of a method's runs, each from the implementation's own state as far as that is known.

        Raises
        ------
        Exception
            The method's code fails.
        """
        found = np.zeros(runs, dtype=int)
        problem, state = self._start
        for r in range(len(self.trial.clients)):
            held = {name: self.states[r][name] for name in self.names if name in arrays_of(state)}
            state, _ = play_round(method, problem, dataclasses.replace(state, **held), self.trial, r)
            reached = arrays_of(state)
            for name in self.names:
                value = to_numpy(reached[name] if name in reached else getattr(state, name))
                found = found + (self._distance(name, r + 1, value) <= NOT_FAR)
        return found

    def _distance(self, name: str, r: int, value: Any) -> Any:
        own = self.states[r][name]
        if value.shape[-2:] != own.shape or value.ndim > 3:  # runs are one axis
            return np.inf
        with np.errstate(all="ignore"):
            off = np.max(np.abs(value - own), axis=(-2, -1)) / (self._sizes[name][r] + _ROUND / NOT_FAR * self._largest)
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
