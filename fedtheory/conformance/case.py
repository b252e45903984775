"""One trial of a comparison: the method, its way, and the implementation's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.conformance.adapters import Recording
from fedtheory.conformance.report import Difference
from fedtheory.conformance.trials import Course, Trial, Values, measure_differences, measure_rounding, track_largest


@dataclass(frozen=True, eq=False)
class TrialCase:
    """One trial: the method, its way, and the implementation's."""

    trial: Trial
    method: Algorithm
    way: Course
    played: Recording

    @cached_property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """Clients (1 for the server's) and coordinates of every variable."""
        return list_shapes(self.way)

    @cached_property
    def allowed(self) -> dict[str, Values]:
        """The differences that rounding explains, by precision, variable and round."""
        return {level: measure_rounding(self.method, self.trial, self.way, level) for level in ("double", "single")}

    def parts(self, name: str, level: str) -> int | None:
        """The first round after which the variable is further off than rounding explains, or None."""
        late = np.flatnonzero(
            measure_differences(self.played.states, self.way.states, name) > self.allowed[level][name]
        )
        return int(late[0]) if late.size else None

    def difference(self, name: str, r: int, level: str) -> Difference:
        """What is different then."""
        got, expected = self.played.states[r][name], self.way.states[r][name]
        client, coordinate = np.unravel_index(np.argmax(np.abs(got - expected)), got.shape)
        ours, theirs = float(got[client, coordinate]), float(expected[client, coordinate])
        size = float(track_largest(self.way.states, name)[r]) or float(track_largest(self.played.states, name)[r])
        whose = None if got.shape[0] == 1 else int(client)
        allowed = float(self.allowed[level][name][r])
        return Difference(
            name, r, self.trial.name, whose, int(coordinate), ours, theirs, abs(ours - theirs) / size, allowed / size
        )

    def relative(self, name: str) -> float:
        """The largest difference of a variable over its size so far."""
        size = np.maximum(track_largest(self.way.states, name), track_largest(self.played.states, name))
        off = measure_differences(self.played.states, self.way.states, name)
        return float(np.max(np.divide(off, size, out=np.zeros_like(off), where=size > 0)))


def list_shapes(way: Course) -> dict[str, tuple[int, int]]:
    """Clients (1 for the server's) and coordinates of every variable."""
    return {name: (int(v.shape[-2]), int(v.shape[-1])) for name, v in way.states[0].items()}
