"""What explains that an implementation differs: another start, known mistakes, a delay, coins of its own, a change of the round."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.mistakes import (
    Mistake,
    StaleMistake,
    build_as_printed,
    find_print,
    read_source,
    show_difference,
)
from fedtheory.conformance.adapters import play
from fedtheory.conformance.case import TrialCase, list_shapes
from fedtheory.conformance.examination import Examination
from fedtheory.conformance.report import Cause
from fedtheory.conformance.search import ChangeSearch, FoundChange
from fedtheory.conformance.trials import (
    Values,
    goes_through,
    make_other_trial,
    make_start,
    measure_differences,
    play_reference,
    replace_values,
)
from fedtheory.conformance.unedited import find_orders, find_starts
from fedtheory.conformance.ways import Way
from fedtheory.core.errors import describe
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import arrays_of

#: so many changes that agree equally well are told
_TOLD = 3


@dataclass(frozen=True)
class Causes:
    """What explains the differences, and how many changes of the round were tried for it."""

    found: tuple[Cause, ...]
    changes_tried: int = 0


def find_causes(comparison: Examination, mistakes: tuple[Mistake, ...], search: bool) -> Causes:
    """Return what explains the differences.

    That is the initial state alone, else single mistakes, else a delay, else one change of the round (where ``search``), else coins of the
    implementation's own, else pairs of mistakes, else two changes of the round.
    """
    for size in (0, 1) if comparison.starts else (1,):
        found = _find_mistakes(comparison, mistakes, size)
        if found:
            return Causes(found)
    late = _name_late(comparison)
    if late:
        return Causes((Cause((late,), (), ()),))
    ways = _ways(comparison)
    unedited = _find_unedited(comparison, ways) if search else ()
    if unedited:
        return Causes(unedited)
    changes = _changes(comparison, ways) if search else None
    changed = _as_causes(changes.find()) if changes else ()
    coins = "" if changed else _name_own_coins(comparison)
    found = changed or ((Cause((coins,), (), ()),) if coins else _find_mistakes(comparison, mistakes, 2))
    if changes is None:
        return Causes(found)
    return Causes(found or _as_causes(changes.find_pairs()), changes.tried)


def try_all(comparison: Examination, mistakes: tuple[Mistake, ...]) -> dict[str, bool | str]:
    """Return of every known mistake whether some trial tells it from the method, or why no trial can run it."""
    found: dict[str, bool | str] = {}
    for mistake in mistakes:
        answers = []
        for case in comparison.cases:
            answers.append(_try(comparison, case, (mistake,), case.way.states))
            if answers[-1] is False:
                break
        why = next((answer for answer in answers if isinstance(answer, str)), "")
        found[mistake.name] = False in answers or (False if True in answers else why)
    return found


# ---- known mistakes ----------------------------------------------------------------------------------------------------


def _find_mistakes(comparison: Examination, mistakes: tuple[Mistake, ...], size: int) -> tuple[Cause, ...]:
    """The sets of so many mistakes with which the reference does what the implementation does."""
    entry, starts = comparison.entry, set(comparison.starts)
    return tuple(
        Cause(
            tuple(m.name for m in chosen),
            show_difference(entry.build(**comparison.values), chosen),
            tuple(dict.fromkeys(m.seen for m in chosen if m.seen)),
            all(m.silent for m in chosen) and starts <= set(entry.kind.open_starts),
        )
        for chosen in itertools.combinations(mistakes, size)
        if _follows(comparison, chosen)
    )


def _follows(comparison: Examination, chosen: tuple[Mistake, ...]) -> bool:
    """Whether the reference with these mistakes does what the implementation does in every trial, from its start where that differs."""
    return all(
        _try(comparison, case, chosen, case.played.states, _first(comparison, case)) is True
        for case in comparison.cases
    )


def _first(comparison: Examination, case: TrialCase) -> Values:
    """The variables that start elsewhere, as they start."""
    return {name: case.played.states[0][name] for name in comparison.starts}


def _try(
    comparison: Examination,
    case: TrialCase,
    chosen: tuple[Mistake, ...],
    states: Sequence[Values],
    first: Mapping[str, NDArray[np.float64]] | None = None,
) -> bool | str:
    """Whether the reference with these mistakes goes through these states; or why it cannot be run on this trial.

    It cannot where a mistake takes the method outside its definition, where two edit the same text, or where its code fails with these
    settings. Code with names that are not there is an error of this package.
    """
    entry = comparison.entry
    try:
        method = build_as_printed(entry, case.trial.values, chosen)
        return goes_through(method, case.trial, states, comparison.names, first)
    except StaleMistake:
        raise
    except NameError as error:
        raise StaleMistake(
            f"{entry.name} with {' and '.join(repr(m.name) for m in chosen)} uses a name that its code does not have ({error}); "
            f"bring MISTAKES of {entry.kind.__module__} up to date with the code"
        ) from error
    except Exception as error:  # a candidate is an edit of code, and may fail in any way; the report goes on without it
        return describe(error)


# ---- what no edit shows --------------------------------------------------------------------------------------------------


def _name_late(comparison: Examination) -> str:
    """The variables that come back as they were a round earlier, where that is all that differs; "" otherwise."""
    late = set()
    for case in comparison.cases:
        for name in comparison.names:
            shifted = (case.way.states[0], *case.way.states[:-1])
            if case.parts(name, "single") is None:
                continue
            off = measure_differences(case.played.states, shifted, name)
            if np.any(off > case.allowed["single"][name]):
                return ""
            late.add(name)
    return f"{', '.join(name for name in comparison.names if name in late)} one round old" if late else ""


def _name_own_coins(comparison: Examination) -> str:
    """What an implementation does whose rounds are the reference's with one outcome of the coins or another; "" for any other."""
    purposes = sorted({purpose for case in comparison.cases for asked in case.way.rounds for purpose in asked.coins})
    if not purposes or comparison.starts or not comparison.names_fix_the_state():
        return ""
    for case in comparison.cases:
        problem, start = make_start(case.method, case.trial)
        for r, clients in enumerate(case.trial.clients):
            begun = replace_values(start, comparison.complete(case.played.states[r]))
            keys: Iterator[Any] = (
                ScriptedKey(r, dict(zip(purposes, outcome, strict=True)))
                for outcome in itertools.product((True, False), repeat=len(purposes))
            )
            reached = (case.method.round(problem, begun, clients, key) for key in keys)
            if not any(all(comparison.agrees(case, r, after).values()) for after in reached):
                return ""
    return "coins of its own, not those that it was told"


# ---- changes of the round --------------------------------------------------------------------------------------------------


def _ways(comparison: Examination) -> list[Way]:
    """What the implementation did on all trials, those that say most first."""
    return [_way(comparison, case) for case in sorted(comparison.cases, key=lambda case: _rank(comparison, case))]


def _find_unedited(comparison: Examination, ways: Sequence[Way]) -> tuple[Cause, ...]:
    """What no edit of the round shows, and explains the differences."""
    fields = arrays_of(make_start(ways[0].method, ways[0].trial)[1])
    hidden = [name for name in fields if name not in comparison.names]
    methods = {id(case.trial): case.method for case in comparison.cases}
    found = find_starts(ways, hidden) or find_orders(ways, [methods[id(way.trial)] for way in ways])
    return tuple(Cause((words,), (), ()) for words in found[:_TOLD])


def _changes(comparison: Examination, ways: Sequence[Way]) -> ChangeSearch:
    """The search for changes of the round with which the reference does what the implementation does in every trial.

    Numbers may coincide: (n - 1)/n is the server's step, say. So a change counts that agrees with other numbers as well.
    """
    kind: Any = comparison.entry.kind
    source, printed = read_source(kind), find_print(kind)
    texts = (source,) if printed is None else (source.replace(printed.old, printed.new), source)
    return ChangeSearch(ways, texts, _other_way(comparison))


def _as_causes(found: Sequence[FoundChange]) -> tuple[Cause, ...]:
    return tuple(Cause((one.words,), one.lines, ()) for one in found[:_TOLD])


def _rank(comparison: Examination, case: TrialCase) -> tuple[bool, bool, bool, bool]:
    """The trials that say most of a mistake come first: those that differ, with some of the clients and unequal steps."""
    differs = any(case.parts(name, "single") is not None for name in comparison.names)
    uneven = np.ndim(case.trial.values.get("steps", 1)) > 0
    return not differs, case.trial.penalty is not None, case.trial.clients[0] is None, not uneven


def _way(comparison: Examination, case: TrialCase) -> Way:
    plain = comparison.entry.build(**case.trial.values)
    return Way(plain, case.trial, case.played.states, comparison.names, _first(comparison, case))


def _other_way(comparison: Examination) -> Way | None:
    """What the implementation does on a trial with other numbers; None where it cannot be run there."""
    try:
        trial = make_other_trial(comparison.entry, comparison.values, comparison.cases[-1].trial)
        method = comparison.entry.build(**trial.values)
        way = play_reference(method, trial)
        played = play(comparison.adapter, trial.task(), way.rounds, list_shapes(way))
    except Exception:  # settings outside the method's definition, or an adapter that is made for one size
        return None
    first = {name: played.states[0][name] for name in comparison.starts}
    return Way(method, trial, played.states, comparison.names, first)
