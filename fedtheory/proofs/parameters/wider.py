"""Systems on other regions: without parameters that do not occur, and with fewer bounds on the others.

What is proved on a region is proved on every part of it, but the search for multipliers does not know that: bounds make other points, and
parameters that do not occur make more of them. So a derivation is looked for without what is not needed; its multipliers are then checked on
the region that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fedtheory.proofs.every_n.vectors import Form, Vector
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.regions.expressions import number
from fedtheory.proofs.regions.region import Parameter, Region


def move_number(value: Any, field: ParameterField) -> Any:
    """A rational function as one of another field's parameters; those that the other field lacks must not occur in it."""
    if not isinstance(value, RationalFunction):
        return value
    known = {name: k for k, name in enumerate(value.field.names)}
    places = [known.get(name) for name in field.names] or [None]

    def polynomial(part: Any) -> Any:
        terms = {tuple(0 if k is None else powers[k] for k in places): c for powers, c in part.terms()}
        return field.elements(field.elements.field.ring.from_dict(terms))

    return RationalFunction(field, polynomial(value.element.numer) / polynomial(value.element.denom))


def move_system(system: System, field: ParameterField) -> System:
    """A system with its numbers in another field."""

    def moved(value: Any) -> Any:
        return move_number(value, field)

    def vector(v: Vector) -> Vector:
        return Vector({key: moved(value) for key, value in v.terms.items()})

    functions = tuple(
        replace(
            f,
            evaluations=tuple(replace(e, x=vector(e.x), g=vector(e.g)) for e in f.evaluations),
            L=None if f.L is None else moved(f.L),
            mu=moved(f.mu),
        )
        for f in system.functions
    )
    hypotheses = tuple((name, _form(form, moved)) for name, form in system.hypotheses)
    return replace(system, hypotheses=hypotheses, functions=functions, conclusion=_form(system.conclusion, moved))


def _form(form: Form, moved: Callable[[Any], Any]) -> Form:
    gram = {key: moved(value) for key, value in form.gram.items()}
    return Form(gram, {t: moved(value) for t, value in form.values.items()}, moved(form.constant))


def region_of_used(field: ParameterField, system: System) -> Region:
    """The region of the parameters that occur in a system, or in the ends of those that do."""
    used = {
        field.names[k]
        for value in _numbers(system)
        if isinstance(value, RationalFunction)
        for part in (value.element.numer, value.element.denom)
        for powers, _ in part.terms()
        for k, power in enumerate(powers)
        if power
    }
    kept: list[Parameter] = []
    for p in reversed(field.region.parameters):
        if p.name in used:
            kept.append(p)
            used |= p.low.names | (frozenset() if p.high is None else p.high.names)
    return Region(tuple(reversed(kept)))


def _numbers(system: System) -> Iterator[Any]:
    forms = [*(form for _, form in system.hypotheses), system.conclusion]
    for form in forms:
        yield from (*form.gram.values(), *form.values.values(), form.constant)
    for f in system.functions:
        yield from (f.L, f.mu)
        for e in f.evaluations:
            yield from (*e.x.terms.values(), *e.g.terms.values())


def widest_region(region: Region, holds: Callable[[Region], bool]) -> Region:
    """The region with as many bounds dropped, one parameter's after the other, as a test lets be dropped."""
    for k, p in enumerate(region.parameters):
        positive = p.low.kind == "number" and p.low.at({}) > 0
        wide = replace(p, high=None, high_closed=False)
        wide = replace(wide, low=number(0), low_closed=False) if positive else wide
        if wide != p:
            tried = Region((*region.parameters[:k], wide, *region.parameters[k + 1 :]))
            region = tried if holds(tried) else region
    return region


def lift(multipliers: Mapping[str, Any], field: ParameterField) -> dict[str, Any]:
    """Multipliers that were found with fewer parameters, by the names of rows."""
    return {name: move_number(value, field) for name, value in multipliers.items()}
