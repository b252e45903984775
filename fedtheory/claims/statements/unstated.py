"""What a statement on listed methods does not say: the options that it leaves to their defaults, and refutations that hang on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from itertools import chain, combinations
from numbers import Number
from typing import Any, ClassVar, Protocol, Self, TypeVar

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.listing import Listed
from fedtheory.algorithms.options import Option
from fedtheory.claims.claim import Finding, Part, Reading
from fedtheory.claims.context import Context
from fedtheory.claims.statements.named_methods import NOT_USED, NamedMethod
from fedtheory.core.errors import FedtheoryError, require
from fedtheory.proofs.facts import take_facts

S = TypeVar("S", bound="StatesMethods")


class StatesMethods(Protocol):
    """A statement on methods."""

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """Its methods, by the field that has their options."""

    @property
    def some_point(self) -> Mapping[str, Fraction]:
        """Values of what their options speak of."""

    def with_options(self, changed: Mapping[str, str]) -> Self:
        """The same with other options in some of these fields."""


@dataclass(frozen=True)
class Unstated:
    """An option that a statement leaves to its default: the field of the method's options, and the method.

    ``is_number``: the method that is built has the default as a number in it. A default that leaves a part out, such as a decay of step sizes by 1 or
    a batch that is not used, is none.
    """

    field: str
    method: str
    option: Option
    is_number: bool

    def __str__(self) -> str:
        return f"{self.option.name} = {_show(self.option.default)}"


@dataclass(frozen=True)
class OneMethod:
    """A method with options that are given as texts, such as those of a command line."""

    name: str
    options: str

    some_point: ClassVar[Mapping[str, Fraction]] = {}

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """The method."""
        return {"options": NamedMethod(self.name, self.options)}

    @property
    def settings(self) -> dict[str, Any]:
        """The options' values."""
        return NamedMethod(self.name, self.options).settings({})

    def with_options(self, changed: Mapping[str, str]) -> OneMethod:
        """The same with other options."""
        return replace(self, **changed)


def list_unstated(statement: StatesMethods) -> list[Unstated]:
    """Options that are left to their defaults and matter: with another value, and the others as they are, the method is another one."""
    found = []
    for field, named in statement.stated_methods.items():
        entry = named.entry
        if entry is not None:
            given = {o.name for o in entry.options if o.name in named.texts}
            settings = named.settings(statement.some_point)
            for option in (o for o in entry.options if o.name not in given):
                others = _build_others(entry, option, settings)
                if others:
                    parts = _list_parts(entry.build(**settings))
                    is_number = option.kind in (int, float) and parts in map(_list_parts, others)
                    found.append(Unstated(field, entry.name, option, is_number))
    return found


def tell_unstated(statement: StatesMethods) -> str:
    """The same as a sentence; "" where everything is said."""
    by_method: dict[str, list[str]] = {}
    for one in list_unstated(statement):
        by_method.setdefault(one.method, []).append(str(one))
    told = "; ".join(f"{method} with {', '.join(dict.fromkeys(options))}" for method, options in by_method.items())
    return f"Options left to their defaults: {told}." if told else ""


def find_hanging(statement: StatesMethods, is_refuted: Callable[[Any], bool]) -> str:
    """Why a refutation hangs on an option that the statement leaves open; "" where it does not.

    One that is true or false, or one of some words, is changed: with another word the statement is not refuted. Where both methods of a statement
    have it, in either and in both. Not all values of a number can be tried: it hangs on each number of the method that is left open.
    """
    unstated = list_unstated(statement)
    return _find_word(statement, unstated, is_refuted) or _tell_numbers([one for one in unstated if one.is_number])


def _find_word(statement: StatesMethods, unstated: Sequence[Unstated], is_refuted: Callable[[Any], bool]) -> str:
    by_name: dict[str, list[Unstated]] = {}
    for one in unstated:
        if _words(one.option):
            by_name.setdefault(one.option.name, []).append(one)
    for name, several in by_name.items():
        for chosen in chain.from_iterable(combinations(several, k + 1) for k in range(len(several))):
            for word in _words(chosen[0].option):
                try:
                    changed = _with_said(statement, [(one.field, f"{name} = {word}") for one in chosen])
                    refuted = is_refuted(changed)
                except FedtheoryError:
                    continue  # there is no such statement
                finally:
                    take_facts()  # of another statement
                if not refuted:
                    methods = " and ".join(one.method for one in chosen)
                    return (
                        f"it hangs on the option {name!r} of {methods}, which the statement does not say: it is refuted with {chosen[0]}, "
                        f"the default, and not with {name} = {word}; say which is meant"
                    )
    return ""


def say_numbers(statement: S) -> S:
    """The same, with its defaults for the numbers that it leaves open: what a mistake is planted in, so that what refutes it is the mistake."""
    return _with_said(statement, [(one.field, str(one)) for one in list_unstated(statement) if one.is_number])


def _with_said(statement: S, said: Sequence[tuple[str, str]]) -> S:
    """The same with options besides, each in its field."""
    texts = {field: statement.stated_methods[field].options for field, _ in said}
    for field, option in said:
        texts[field] = f"{texts[field]}, {option}".lstrip(", ")
    return statement.with_options(texts) if texts else statement


def _tell_numbers(numbers: Sequence[Unstated]) -> str:
    if not numbers:
        return ""
    told = dict.fromkeys(f"{one.option.name} of {one.method} (default {_show(one.option.default)})" for one in numbers)
    meant = dict.fromkeys(map(str, numbers))
    return (
        f"the statement leaves open {', '.join(told)}: it is refuted with {'this number' if len(told) == 1 else 'these numbers'}, and nothing is "
        f"known of others; say which is meant, as in '{', '.join(meant)}'"
    )


def tell_options(
    statement: Any, context: Context, find: Callable[[Any, Context], Iterator[Finding]]
) -> Iterator[Finding]:
    """Findings on a statement, with what it leaves open; what refutes it decides nothing where that hangs on an option of this kind.

    Raises
    ------
    MissingExtra
        SymPy is not installed, without which less would be found.
    """
    require("sympy", "statements in symbols")
    found = list(find(statement, context))
    told, hangs = tell_unstated(statement), ""
    if told:
        yield Reading(told)
        if any(map(_is_against, found)):
            hangs = find_hanging(statement, lambda other: any(map(_is_against, find(other, context))))
    for finding in found:
        if hangs and isinstance(finding, Part) and _is_against(finding):
            text = f"{hangs}. {finding.text}"
            yield replace(finding, holds=None, text=text, margin=None, disproof=None, counterexample=None)
        else:
            yield finding


def _is_against(finding: Finding) -> bool:
    return isinstance(finding, Part) and finding.holds is False


def _build_others(entry: Listed, option: Option, settings: Mapping[str, Any]) -> list[Algorithm]:
    """The methods with another value of an option that are other ones; none where no other value goes with the others."""
    found = []
    for other in _others(option):
        try:
            made, own = entry.build(**{**settings, option.name: other}), entry.build(**settings)
        except FedtheoryError:
            continue
        found += [made] if made != own else []
    return found


def _list_parts(value: Any) -> Any:
    """The kinds of an object's fields, at any depth; all numbers are of one kind."""
    if is_dataclass(value):
        return type(value), {f.name: _list_parts(getattr(value, f.name)) for f in fields(value)}
    return Number if isinstance(value, Number) else type(value)


def _others(option: Option) -> list[Any]:
    """Values beside the default."""
    if option.kind is bool:
        return [not option.default]
    if option.choices:
        return [word for word in option.choices if word != option.default]
    if option.kind is str:
        return ["another"]
    return [option.kind(value) for value in (option.telling, 2, 0.5) if value not in (None, option.default)]


def _words(option: Option) -> list[str]:
    """The same, as a statement has them, of an option that is one of some words."""
    return [_show(value) for value in _others(option)] if option.kind is bool or option.choices else []


def _show(value: Any) -> str:
    return NOT_USED if value is None else str(value).lower() if isinstance(value, bool) else str(value)
