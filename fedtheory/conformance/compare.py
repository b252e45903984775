"""Is somebody's implementation the paper's algorithm?

`conform` plays an implementation (through an `fedtheory.conformance.adapters.Adapter`) and the reference on the same random quadratics and
compares every state variable after every round. Where they differ it names the first variable and round, tries known mistakes and
the published variants in the place of the reference, and says which of them the implementation follows.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms import ALGORITHMS, listed
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.listing import Listed
from fedtheory.algorithms.mistakes import Mistake, StaleMistake, build_as_printed, find_mistakes, show_difference
from fedtheory.conformance.adapters import Adapter, Recording, play
from fedtheory.conformance.coverage import list_unexercised
from fedtheory.conformance.report import Cause, Conformance, Difference, Variant
from fedtheory.conformance.trials import (
    Course,
    Trial,
    Values,
    list_variables,
    make_start,
    make_trials,
    measure_differences,
    measure_rounding,
    play_reference,
    play_round,
    replace_values,
    track_largest,
)
from fedtheory.core.arrays import to_numpy
from fedtheory.core.errors import InvalidInput, describe
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import arrays_of

#: a candidate further off than this share of a variable's size is dropped before the effect of rounding on it is worked out
_FAR = 1e-2
#: a number this large in the reference's state shows that it diverges
_DIVERGED = 1e12


def conform(
    adapter: Adapter,
    method: str,
    *,
    values: Mapping[str, Any] | None = None,
    clients: int = 5,
    dimension: int = 3,
    participants: int | None = 3,
    unequal: bool = True,
    regularisers: bool = True,
    rounds: int = 6,
    seeds: int = 3,
) -> Conformance:
    """Compare an implementation with a listed method, variable by variable and round by round.

    Parameters
    ----------
    adapter : Adapter
    method : str
        Name of a listed method (``fedtheory list algorithms``).
    values : mapping, optional
        Options of both by name; the rest have numbers no two of which coincide (`Option.telling`).
    clients, dimension : int
        Size of the quadratics (mu = 0.1, L = 1).
    participants : int or None
        Clients a round in the trials with partial participation; None leaves those out.
    unequal : bool
        Whether to try unequal numbers of local steps.
    regularisers : bool
        Whether to try shared regularisers, where the method has them.
    rounds, seeds : int
        Length and number of the trials of each kind.

    Raises
    ------
    InvalidInput
        The method is unknown; the settings are outside its definition, or let it diverge; or the adapter raised, changed its inputs, or returned
        something that cannot be compared (see `fedtheory.conformance.adapters.play`).
    NotAvailable
        The method needs more than quadratics give: minibatches, layers.
    """
    for name, value, least in (
        ("clients", clients, 2),
        ("dimension", dimension, 1),
        ("rounds", rounds, 1),
        ("seeds", seeds, 1),
    ):
        if value < least:
            raise InvalidInput(f"{name} must be at least {least}, got {value}")
    entry = listed(method)
    values = entry.telling | dict(values or {})
    trials, left_out = make_trials(
        entry,
        values,
        clients=clients,
        dimension=dimension,
        rounds=rounds,
        seeds=seeds,
        participants=participants,
        unequal=unequal,
        regularisers=regularisers,
    )
    return _Comparison(adapter, entry, values, trials).report(left_out)


@dataclass(frozen=True, eq=False)
class _Case:
    """One trial: the method, its way, and the implementation's."""

    trial: Trial
    method: Algorithm
    way: Course
    played: Recording

    @cached_property
    def allowed(self) -> dict[str, Values]:
        """What rounding may do, by precision, variable and round."""
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


def _shapes(way: Course) -> dict[str, tuple[int, int]]:
    """Clients (1 for the server's) and coordinates of every variable."""
    return {name: (int(v.shape[-2]), int(v.shape[-1])) for name, v in way.states[0].items()}


class _Comparison:
    """One implementation and one method on some trials."""

    def __init__(self, adapter: Adapter, entry: Listed, values: Mapping[str, Any], trials: tuple[Trial, ...]) -> None:
        self.entry, self.values = entry, values
        methods = [build_as_printed(entry, trial.values) for trial in trials]
        ways = [play_reference(method, trial) for method, trial in zip(methods, trials, strict=True)]
        for trial, way in zip(trials, ways, strict=True):
            top = max(float(track_largest(way.states, name)[-1]) for name in way.states[0])
            if not top < _DIVERGED:
                raise InvalidInput(
                    f"with these settings {entry.name} itself diverges (it reaches {top:.3g} in {trial.name}); take a smaller step"
                )
        self.shapes = _shapes(ways[0])
        played = [
            play(adapter, trial.task(), way.rounds, _shapes(way)) for trial, way in zip(trials, ways, strict=True)
        ]
        self.cases = tuple(_Case(*row) for row in zip(trials, methods, ways, played, strict=True))
        self.names = tuple(name for name in self.shapes if name in played[0].states[0])
        again = play(adapter, trials[0].task(), (), self.shapes).states[0]
        self.random = {name for name in self.names if not np.array_equal(again[name], played[0].states[0][name])}

    def report(self, left_out: tuple[str, ...]) -> Conformance:
        """Everything that can be said."""
        agreement: Any = next((level for level in ("double", "single") if not self._differing(level)), None)
        single = any(case.played.single for case in self.cases)
        differing = [] if agreement else self._differing("single" if single else "double")
        mistakes = find_mistakes(self.entry, self.values)
        return Conformance(
            method=self.entry.name,
            source=self.entry.source,
            settings=dict(self.values),
            rounds=len(self.cases[0].trial.clients),
            trials=tuple(case.trial.name for case in self.cases),
            left_out=left_out,
            not_exercised=list_unexercised(
                self.entry, self.values, [case.trial for case in self.cases], [case.way for case in self.cases]
            ),
            compared=self.names,
            not_compared=tuple(name for name in self.shapes if name not in self.names),
            agreement=agreement,
            single=single,
            largest={name: max(case.relative(name) for case in self.cases) for name in self.names},
            first=min(differing, key=lambda found: found.round, default=None),
            differs_in=tuple(found.trial for found in differing),
            starts={} if agreement else self.starts,
            open_starts=() if agreement else tuple(name for name in self.starts if name in self.entry.kind.open_starts),
            updates=None if agreement else self._try_updates(),
            causes=() if agreement else tuple(self._causes(mistakes)),
            variants=tuple(self._variants(agreement is not None)),
            mistakes_tried=len(mistakes),
            not_noticed=tuple(name for name, seen in self._seen.items() if seen is False),
            not_run={name: seen for name, seen in self._seen.items() if isinstance(seen, str)},
        )

    # ---- where it parts ----

    def _differing(self, level: str) -> list[Difference]:
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

    def _try_updates(self) -> dict[str, bool] | None:
        """The same as `_updates`; None also where the reference cannot go on from the implementation's states."""
        try:
            return self._updates()
        except Exception:  # of numbers that the reference never sees: the report goes on without it
            return None

    def _updates(self) -> dict[str, bool] | None:
        """Which variables move as in the paper from the implementation's own state, where its variables fix that state."""
        if not self._names_fix_the_state():
            return None
        right = dict.fromkeys(self.names, True)
        for case in self.cases:
            problem, state = make_start(case.method, case.trial)
            for r in range(len(case.trial.clients)):
                begun = replace_values(state, self._complete(case.played.states[r]))
                state, _ = play_round(case.method, problem, begun, case.trial, r)
                for name, fine in self._agrees(case, r, state).items():
                    right[name] = right[name] and fine
        return right

    def _agrees(self, case: _Case, r: int, after: Any) -> dict[str, bool]:
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

    def _names_fix_the_state(self) -> bool:
        """Whether the variables that were not declared have no say in the next round, or follow from those that were."""
        case = self.cases[0]
        problem, state = make_start(case.method, case.trial)
        state, _ = play_round(case.method, problem, state, case.trial, 0)
        blind = {name: np.zeros(value.shape) for name, value in arrays_of(state).items() if name not in self.names}
        known = {name: to_numpy(value) for name, value in list_variables(state).items() if name in self.names}
        after = [
            list_variables(play_round(case.method, problem, begun, case.trial, 0)[0])
            for begun in (state, replace_values(state, blind | self._complete(known)))
        ]
        exact = 1e-12 * max(float(np.max(np.abs(value))) for value in after[0].values())
        return all(np.max(np.abs(after[0][name] - after[1][name])) <= exact for name in self.names)

    def _complete(self, known: Values) -> Values:
        """Values of the declared variables with those that they fix, by the method's word; that holds from its own start only."""
        found = dict(known)
        if not set(self.starts) <= set(self.entry.kind.open_starts):
            return found
        for name, from_others in self.entry.kind.fixes.items():
            if name not in found:
                with contextlib.suppress(KeyError):  # what it follows from was not declared
                    found[name] = from_others(found)
        return found

    # ---- what it does instead ----

    def _causes(self, mistakes: tuple[Mistake, ...]) -> Iterator[Cause]:
        """What the implementation follows: its own start alone, else single mistakes, else pairs of them."""
        for size in range(0 if self.starts else 1, 3):
            found = [chosen for chosen in itertools.combinations(mistakes, size) if self._follows(chosen)]
            for chosen in found:
                yield Cause(
                    tuple(m.name for m in chosen),
                    show_difference(self.entry.build(**self.values), chosen),
                    tuple(dict.fromkeys(m.seen for m in chosen if m.seen)),
                    all(m.silent for m in chosen) and set(self.starts) <= set(self.entry.kind.open_starts),
                )
            if found:
                return
            if size == 1:
                general = [name for name in (self._lag(), self._own_coins()) if name]
                yield from (Cause((name,), (), ()) for name in general)
                if general:
                    return

    def _lag(self) -> str:
        """The variables that come back as they were a round earlier, where that is all that differs; "" otherwise."""
        late = set()
        for case in self.cases:
            for name in self.names:
                shifted = (case.way.states[0], *case.way.states[:-1])
                if case.parts(name, "single") is None:
                    continue
                off = measure_differences(case.played.states, shifted, name)
                if np.any(off > case.allowed["single"][name]):
                    return ""
                late.add(name)
        return f"{', '.join(name for name in self.names if name in late)} one round old" if late else ""

    def _own_coins(self) -> str:
        """What an implementation does whose rounds are the reference's with one outcome of the coins or another; "" for any other."""
        purposes = sorted({purpose for case in self.cases for asked in case.way.rounds for purpose in asked.coins})
        if not purposes or self.starts or not self._names_fix_the_state():
            return ""
        for case in self.cases:
            problem, start = make_start(case.method, case.trial)
            for r, clients in enumerate(case.trial.clients):
                begun = replace_values(start, self._complete(case.played.states[r]))
                keys: list[Any] = [
                    ScriptedKey(r, dict(zip(purposes, outcome, strict=True)))
                    for outcome in itertools.product((True, False), repeat=len(purposes))
                ]
                reached = (case.method.round(problem, begun, clients, key) for key in keys)
                if not any(all(self._agrees(case, r, after).values()) for after in reached):
                    return ""
        return "coins of its own, not those that it was told"

    def _follows(self, chosen: tuple[Mistake, ...]) -> bool:
        """Whether the reference with these mistakes does what the implementation does in every trial, from its start where that differs."""
        for case in self.cases:
            first = {name: case.played.states[0][name] for name in self.starts}
            if self._try(case, chosen, case.played.states, first) is not True:
                return False
        return True

    def _try(
        self,
        case: _Case,
        chosen: tuple[Mistake, ...],
        states: Sequence[Values],
        first: Mapping[str, NDArray[np.float64]] | None = None,
    ) -> bool | str:
        """Whether the reference with these mistakes goes through these states; or why it cannot be run on this trial.

        It cannot where a mistake takes the method outside its definition, where two edit the same text, or where its code fails with these
        settings. Code with names that are not there is an error of this package.
        """
        try:
            method = build_as_printed(self.entry, case.trial.values, chosen)
            return _matches(method, case.trial, states, self.names, first)
        except StaleMistake:
            raise
        except NameError as error:
            raise StaleMistake(
                f"{self.entry.name} with {' and '.join(repr(m.name) for m in chosen)} uses a name that its code does not have ({error}); "
                f"bring MISTAKES of {self.entry.kind.__module__} up to date with the code"
            ) from error
        except (
            Exception
        ) as error:  # a candidate is an edit of code, and may fail in any way; the report goes on without it
            return describe(error)

    @cached_property
    def _seen(self) -> dict[str, bool | str]:
        """Of every known mistake whether some trial tells it from the method, or why no trial can run it."""
        found: dict[str, bool | str] = {}
        for mistake in find_mistakes(self.entry, self.values):
            answers = []
            for case in self.cases:
                answers.append(self._try(case, (mistake,), case.way.states))
                if answers[-1] is False:
                    break
            why = next((answer for answer in answers if isinstance(answer, str)), "")
            found[mistake.name] = False in answers or (False if True in answers else why)
        return found

    def _variants(self, conforms: bool) -> Iterator[Variant]:
        """Published methods that do what the implementation does, other than the one it was compared with.

        Of an implementation that differs, only a method explains something that has all its variables; of one that conforms, only those are
        of interest that have no variables beyond the reference's.
        """
        for name, source, build in _published(self.entry):
            shared: tuple[str, ...] = ()
            state: dict[str, Any] = {}
            try:
                for case in self.cases:
                    method = build(case.trial.values)
                    state = list_variables(make_start(method, case.trial)[1])
                    if conforms and not set(state) <= set(self.shapes):
                        break
                    shapes = _shapes(case.way)
                    shared = tuple(n for n in self.names if n in state and tuple(state[n].shape) == shapes[n])
                    if not conforms and shared != self.names:
                        break
                    if not _matches(method, case.trial, case.played.states, shared):
                        break
                else:
                    lacks = tuple(n for n in self.names if n not in shared)
                    yield Variant(name, source, shared, lacks, tuple(n for n in state if n not in shared))
            except Exception:  # not defined on these trials, in whatever way that shows
                continue


def _matches(
    method: Algorithm,
    trial: Trial,
    states: Sequence[Values],
    names: tuple[str, ...],
    first: Mapping[str, NDArray[np.float64]] | None = None,
) -> bool:
    """Whether a method goes through these states, up to rounding in single precision."""
    way = play_reference(method, trial, first)
    off = {name: measure_differences(states, way.states, name) for name in names}
    if any(np.any(off[name] > _FAR * track_largest(way.states, name)) for name in names):
        return False
    allowed = measure_rounding(method, trial, way, "single", first)
    return all(np.all(off[name] <= allowed[name]) for name in names)


def _published(entry: Listed) -> Iterator[tuple[str, str, Callable[[Mapping[str, Any]], Any]]]:
    """All other listed methods, and the named options of this one that have no entry of their own: name, source, builder."""
    for other in ALGORITHMS:
        if other.name != entry.name:
            yield other.name, other.source, partial(_with_options_of, entry, other)
    own: Any = entry.build(**entry.telling)
    listed_ones = [_with_options_of(entry, other, entry.telling) for other in ALGORITHMS]
    hints = get_type_hints(type(own))
    for field in dataclasses.fields(own):
        if get_origin(hints[field.name]) is not Literal:
            continue
        for choice in get_args(hints[field.name]):
            change = {field.name: choice}
            if dataclasses.replace(own, **change) not in listed_ones:
                yield f"{entry.name} with {field.name}={choice!r}", entry.source, partial(_with, entry, change)


def _with_options_of(entry: Listed, other: Listed, values: Mapping[str, Any]) -> Any:
    """Another listed method with the values that this one's options have, where they play the same role in both."""
    roles = {option.role: values[option.name] for option in entry.options if option.name in values}
    return other.build(**other.telling | {o.name: roles[o.role] for o in other.options if o.role in roles})


def _with(entry: Listed, change: dict[str, Any], values: Mapping[str, Any]) -> Any:
    built: Any = entry.build(**values)
    return dataclasses.replace(built, **change)
