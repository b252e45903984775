"""Published methods that do what an implementation does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args, get_origin, get_type_hints

from fedtheory.algorithms import ALGORITHMS
from fedtheory.algorithms.listing import Listed
from fedtheory.conformance.case import TrialCase
from fedtheory.conformance.report import Variant
from fedtheory.conformance.trials import goes_through, list_variables, make_start


def find_variants(
    entry: Listed, cases: Sequence[TrialCase], names: tuple[str, ...], conforms: bool
) -> Iterator[Variant]:
    """Published methods that do what the implementation does, other than the one it was compared with.

    Of an implementation that differs, only a method explains something that has all its variables; of one that conforms, only those are
    of interest that have no variables beyond the reference's.
    """
    for name, source, build in _published(entry):
        shared: tuple[str, ...] = ()
        state: dict[str, Any] = {}
        try:
            for case in cases:
                method = build(case.trial.values)
                state = list_variables(make_start(method, case.trial)[1])
                if conforms and not set(state) <= set(case.shapes):
                    break
                shared = tuple(n for n in names if n in state and tuple(state[n].shape) == case.shapes[n])
                if not conforms and shared != names:
                    break
                if not goes_through(method, case.trial, case.played.states, shared):
                    break
            else:
                lacks = tuple(n for n in names if n not in shared)
                yield Variant(name, source, shared, lacks, tuple(n for n in state if n not in shared))
        except Exception:  # not defined on these trials, in whatever way that shows
            continue


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
