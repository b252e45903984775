"""Maxima on a region: of which expressions one is the maximum, and the pieces of the region on which it is known which of them is the largest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region


def entries_of(e: Expression, kind: Literal["max", "min"], field: ParameterField) -> list[Expression]:
    """Expressions without max and min, of which an expression is the maximum or minimum on the whole region."""
    if not e.choices:
        return [e]
    other: Literal["max", "min"] = "min" if kind == "max" else "max"
    if e.kind == kind:
        return [entry for part in e.parts for entry in entries_of(part, kind, field)]
    kinds: list[Literal["max", "min"]] = []  # which of the parts' entries make entries, by the part
    if e.kind in ("+", "-", "negative"):
        kinds = [kind] * len(e.parts)
        if e.kind != "+":
            kinds[-1] = other
    elif (
        e.kind in ("*", "/")
        and sum(part.choices for part in e.parts) == 1
        and not (e.kind == "/" and e.parts[1].choices)
    ):
        factor = next(part for part in e.parts if not part.choices)
        sign = field.sign(field.read(factor))
        kinds = [] if sign is None else [kind if sign.direction > 0 else other] * len(e.parts)
    if not kinds:
        raise InvalidInput(f"{e} was not seen to be a {kind} of expressions without max and min")
    parts = [entries_of(part, each, field) for part, each in zip(e.parts, kinds, strict=True)]
    return [Expression(e.kind, chosen) for chosen in itertools.product(*parts)]


def cut_in_pieces(region: Region, entries: Sequence[Expression]) -> Iterator[tuple[Region, list[Expression]]]:
    """Pieces of the region with the entries that are not below another one there."""
    kept = largest_of(ParameterField(region), entries)
    cut = find_cut(region, kept)
    if cut is None:
        yield region, kept
        return
    for part in (cut.first, cut.second):
        yield from cut_in_pieces(part, kept)


def largest_of(field: ParameterField, entries: Sequence[Expression]) -> list[Expression]:
    """The entries that were not seen to be below another one on the whole region."""
    values = [field.read(entry) for entry in entries]

    def is_below(k: int) -> bool:
        others = [v for j, v in enumerate(values) if j != k and (v != values[k] or j < k)]
        return any(_below(field, values[k], other) for other in others)

    return [entry for k, entry in enumerate(entries) if not is_below(k)]


@dataclass(frozen=True)
class Cut:
    """A region in two: up to ``root``, a value of the parameter ``name``, and from there on."""

    name: str
    root: Expression
    first: Region
    second: Region


def find_cut(region: Region, entries: Sequence[Expression]) -> Cut | None:
    """Where the order of two entries changes inside of the region, if that is at one value of a parameter."""
    field = ParameterField(region)
    values = [field.read(entry) for entry in entries]
    cuts = (_cut(field, a - b) for a, b in itertools.combinations(values, 2))
    return next((cut for cut in cuts if cut is not None), None)


def _below(field: ParameterField, value: RationalFunction, other: RationalFunction) -> bool:
    sign = field.sign(other - value)
    return sign is not None and (sign.direction > 0 or value == other)


def _cut(field: ParameterField, difference: RationalFunction) -> Cut | None:
    """The region below and above the value of its last parameters at which a difference changes sign, if that is a rational function."""
    for factor in _factors(field, difference):
        for k in reversed(range(len(field.region.parameters))):
            p = field.region.parameters[k]
            root = _root(field, factor, k)
            if root is None or any(str(s) in root.names for s in field.names[k:]):
                continue
            low, high = p.ends(field.parameters())
            at = field.read(root)
            above = field.sign(at - low)
            below = None if high is None else field.sign(high - at)
            if (
                above is not None
                and above.direction > 0
                and (high is None or (below is not None and below.direction > 0))
            ):
                parameters = field.region.parameters
                first = replace(p, high=root, high_closed=True)
                second = replace(p, low=root, low_closed=True)
                before, after = parameters[:k], parameters[k + 1 :]
                return Cut(p.name, root, Region((*before, first, *after)), Region((*before, second, *after)))
    return None


def _factors(field: ParameterField, value: RationalFunction) -> list[RationalFunction]:
    """Irreducible factors of the numerator whose sign changes on the region."""
    _, factors = value.element.numer.factor_list()
    found = [RationalFunction(field, field.elements(factor)) for factor, power in factors if power % 2]
    return [factor for factor in found if field.sign(factor) is None]


def _root(field: ParameterField, factor: RationalFunction, k: int) -> Expression | None:
    """Where a factor that is linear in parameter k vanishes."""
    x = field.symbols[k]
    polynomial = factor.expression.as_poly(x)
    if polynomial is None or polynomial.degree() != 1:
        return None
    slope, offset = polynomial.all_coeffs()
    return Expression.parse(str(field.sympify(-offset / slope).expression))
