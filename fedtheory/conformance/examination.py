"""An implementation and a method on some trials: where they differ, from where they start, which variables move as in the paper."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms.listing import Listed
from fedtheory.algorithms.mistakes import build_as_printed
from fedtheory.conformance.adapters import Adapter, play
from fedtheory.conformance.case import TrialCase, list_shapes
from fedtheory.conformance.report import Difference
from fedtheory.conformance.trials import (
    Trial,
    Values,
    list_variables,
    make_start,
    play_reference,
    play_round,
    replace_values,
    track_largest,
)
from fedtheory.core.arrays import to_numpy
from fedtheory.core.errors import InvalidInput
from fedtheory.core.states import arrays_of

#: a number this large in the reference's state shows that it diverges
_DIVERGED = 1e12


class Examination:
    """One implementation and one method on some trials."""

    def __init__(self, adapter: Adapter, entry: Listed, values: Mapping[str, Any], trials: tuple[Trial, ...]) -> None:
        self.entry, self.values, self.adapter = entry, values, adapter
        methods = [build_as_printed(entry, trial.values) for trial in trials]
        ways = [play_reference(method, trial) for method, trial in zip(methods, trials, strict=True)]
        for trial, way in zip(trials, ways, strict=True):
            top = max(float(track_largest(way.states, name)[-1]) for name in way.states[0])
            if not top < _DIVERGED:
                raise InvalidInput(
                    f"with these settings {entry.name} itself diverges (it reaches {top:.3g} in {trial.name}); take a smaller step"
                )
        self.shapes = list_shapes(ways[0])
        played = [
            play(adapter, trial.task(), way.rounds, list_shapes(way)) for trial, way in zip(trials, ways, strict=True)
        ]
        self.cases = tuple(TrialCase(*row) for row in zip(trials, methods, ways, played, strict=True))
        self.names = tuple(name for name in self.shapes if name in played[0].states[0])
        again = play(adapter, trials[0].task(), (), self.shapes).states[0]
        self.random = {name for name in self.names if not np.array_equal(again[name], played[0].states[0][name])}

    @cached_property
    def ignores_regularisers(self) -> bool:
        """Whether the implementation does the same without the shared regularisers of the trials that have one."""
        penalised = [case for case in self.cases if case.trial.penalty is not None]
        return bool(penalised) and all(self._ignores(case) for case in penalised)

    def _ignores(self, case: TrialCase) -> bool:
        smooth = play(self.adapter, replace(case.trial.task(), regulariser=None), case.way.rounds, case.shapes)
        pairs = zip(smooth.states, case.played.states, strict=True)
        return all(np.array_equal(one[name], other[name]) for one, other in pairs for name in self.names)

    def list_differing(self, level: str) -> list[Difference]:
        """The first difference of every trial that has one that rounding does not explain."""
        order = sorted(self.names, key=lambda name: self.shapes[name][0] == 1)  # clients move before the server
        found = []
        for case in self.cases:
            parting = [
                (r, place, name) for place, name in enumerate(order) if (r := case.parts(name, level)) is not None
            ]
            if parting:
                r, _, name = min(parting)
                found.append(case.difference(name, r, level))
        return found

    @cached_property
    def starts(self) -> dict[str, str]:
        """The variables that do not start at the reference's values, and how they start."""
        found = {}
        for name in self.names:
            case = next((case for case in self.cases if case.parts(name, "single") == 0), None)
            if case is not None:
                theirs, ours = case.played.states[0][name], case.way.states[0][name]
                size = np.max(np.abs(theirs))
                how = "at random" if name in self.random else f"with numbers up to {size:.3g}" if size else "at zero"
                at_x0 = np.array_equal(ours, np.broadcast_to(case.trial.x0, ours.shape))
                is_open = name in self.entry.kind.open_starts
                as_here = "as in the reference" if is_open else "as in the paper"
                expected = "at x^0" if at_x0 else "at zero" if not np.any(ours) else as_here
                found[name] = f"starts {how}, not {expected}"
                if is_open:
                    found[name] += f": another choice where the paper is silent ({self.entry.kind.open_starts[name]})"
        return found

    def try_updates(self) -> dict[str, bool] | None:
        """The same as `_updates`; None also where the reference cannot go on from the implementation's states."""
        try:
            return self._updates()
        except Exception:  # of numbers that the reference never sees: the report goes on without it
            return None

    def _updates(self) -> dict[str, bool] | None:
        """Which variables move as in the paper from the implementation's own state, where its variables fix that state."""
        if not self.names_fix_the_state():
            return None
        right = dict.fromkeys(self.names, True)
        for case in self.cases:
            problem, state = make_start(case.method, case.trial)
            for r in range(len(case.trial.clients)):
                begun = replace_values(state, self.complete(case.played.states[r]))
                state, _ = play_round(case.method, problem, begun, case.trial, r)
                for name, fine in self.agrees(case, r, state).items():
                    right[name] = right[name] and fine
        return right

    def agrees(self, case: TrialCase, r: int, after: Any) -> dict[str, bool]:
        """Whether the implementation's variables after round r + 1 are those of this state, up to rounding in single precision."""
        found, reached = {}, list_variables(after)
        for name in self.names:
            ours, theirs = (
                float(track_largest(states, name)[r + 1]) for states in (case.way.states, case.played.states)
            )
            grown = max(1.0, theirs / ours) if ours else 1.0
            off = float(np.max(np.abs(case.played.states[r + 1][name] - to_numpy(reached[name]))))
            found[name] = off <= grown * float(case.allowed["single"][name][r + 1])
        return found

    def names_fix_the_state(self) -> bool:
        """Whether the variables that were not declared have no say in the next round, or follow from those that were."""
        case = self.cases[0]
        problem, state = make_start(case.method, case.trial)
        state, _ = play_round(case.method, problem, state, case.trial, 0)
        blind = {name: np.zeros(value.shape) for name, value in arrays_of(state).items() if name not in self.names}
        known = {name: to_numpy(value) for name, value in list_variables(state).items() if name in self.names}
        after = [
            list_variables(play_round(case.method, problem, begun, case.trial, 0)[0])
            for begun in (state, replace_values(state, blind | self.complete(known)))
        ]
        exact = 1e-12 * max(float(np.max(np.abs(value))) for value in after[0].values())
        return all(np.max(np.abs(after[0][name] - after[1][name])) <= exact for name in self.names)

    def complete(self, known: Values) -> Values:
        """Values of the declared variables with those that they fix, by the method's word; that holds from its own start only."""
        found = dict(known)
        if not set(self.starts) <= set(self.entry.kind.open_starts):
            return found
        for name, from_others in self.entry.kind.fixes.items():
            if name not in found:
                with contextlib.suppress(KeyError):  # what it follows from was not declared
                    found[name] = from_others(found)
        return found
