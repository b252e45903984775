"""Changes of units under which a system and its region keep their form, so that some parameters may be set to one.

A scaling multiplies every parameter, leaf and value by a power of one number s. If every coefficient of every row then changes by a power that
is that of the row, multipliers change by the power of the conclusion less that of their row. The powers solve linear equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.core.exact import reduce_rows
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.quadratics import kernel
from fedtheory.proofs.parameters.system import System


@dataclass(frozen=True)
class Scaling:
    """Powers of one parameter, ``base``: of the other parameters and of the multipliers of rows, by name."""

    base: str
    parameters: Mapping[str, int]
    multipliers: Mapping[str, int]


def find_scalings(field: ParameterField, system: System) -> list[Scaling]:
    """Independent scalings, each with a parameter of power one that the others leave alone.

    Late parameters rather than early ones, because ends depend on earlier ones: with L = 1 in 0 < mu < L the others stay bounded.
    """
    forms = [*system.rows, ("", system.conclusion)]
    offsets, width = {}, 0
    for kind, count in (
        ("parameter", len(field.names)),
        ("S", len(system.mean)),
        ("Q", len(system.deviation)),
        ("f", system.values),
        ("row", len(forms)),
    ):
        offsets[kind] = width
        width += count
    equations: list[list[Fraction]] = []

    def require(value: Any, weights: Mapping[int, int]) -> None:
        """All terms of the value have one weight, and that with the weights of some unknowns is zero."""
        numerators, denominators = _powers(field, value)
        for numerator, denominator in [(n, denominators[0]) for n in numerators] + [
            (numerators[0], d) for d in denominators[1:]
        ]:
            row = [Fraction(0)] * width
            for k, (a, b) in enumerate(zip(numerator, denominator, strict=True)):
                row[offsets["parameter"] + k] += a - b
            for k, weight in weights.items():
                row[k] += weight
            if any(row):
                equations.append(row)

    for r, (_, form) in enumerate(forms):
        of_row = {offsets["row"] + r: -1}
        for (which, i, j), value in form.gram.items():
            leaves = {offsets[which] + i: 2} if i == j else {offsets[which] + i: 1, offsets[which] + j: 1}
            require(value, {**leaves, **of_row})
        for t, value in form.values.items():
            require(value, {offsets["f"] + t: 1, **of_row})
        if form.constant != 0:
            require(form.constant, of_row)
    parameters = field.parameters()
    for k, p in enumerate(field.region.parameters):
        for end in p.ends(parameters):
            if end is not None and end != 0:
                require(end, {offsets["parameter"] + k: -1})
    last = len(field.names)
    turned = [[*row[:last][::-1], *row[last:]] for row in kernel(equations, width, Fraction(0))]
    table, pivots = reduce_rows(turned, last)
    found = []
    for turned_row, turned_column in zip(table, pivots, strict=False):
        row, column = [*turned_row[:last][::-1], *turned_row[last:]], last - 1 - turned_column
        goal = row[offsets["row"] + len(forms) - 1]
        powers = {name: row[k] for k, name in enumerate(field.names)}
        multipliers = {name: goal - row[offsets["row"] + r] for r, (name, _) in enumerate(system.rows)}
        if all(v.denominator == 1 for v in (*powers.values(), *multipliers.values())):
            found.append(
                Scaling(
                    field.names[column],
                    {name: int(v) for name, v in powers.items()},
                    {name: int(v) for name, v in multipliers.items()},
                )
            )
    return found


def normalise(point: Mapping[str, Fraction], scalings: list[Scaling]) -> dict[str, Fraction]:
    """The point with the same answer at which the bases of the scalings are one."""
    found = dict(point)
    for scaling in scalings:
        size = found[scaling.base]
        if size == 0:  # at a closed end there is no other unit
            continue
        found = {name: value / size ** scaling.parameters[name] for name, value in found.items()}
    return found


def restore(field: ParameterField, value: RationalFunction, row: str, scalings: list[Scaling]) -> RationalFunction:
    """The multiplier of a row for all parameters, from what it is where the bases are one (a function of the other parameters)."""
    parameters = field.parameters()
    at = {name: parameters[name] for name in field.names}
    size = field.one
    for scaling in scalings:
        base = parameters[scaling.base]
        at = {name: v * base ** -scaling.parameters[name] for name, v in at.items()}
        size = size * base ** scaling.multipliers[row]
    top, bottom = (
        _substitute(part, [at[name] for name in field.names], field)
        for part in (value.element.numer, value.element.denom)
    )
    return top / bottom * size


def _substitute(polynomial: Any, values: list[RationalFunction], field: ParameterField) -> RationalFunction:
    total = field.zero
    for powers, coefficient in polynomial.terms():
        term = field.number(Fraction(int(coefficient.numerator), int(coefficient.denominator)))
        for value, power in zip(values, powers, strict=False):
            if power:
                term = term * value**power
        total = total + term
    return total


def _powers(field: ParameterField, value: Any) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Powers of the terms of the numerator and of the denominator."""
    width = len(field.names)
    if not isinstance(value, RationalFunction):
        return [(0,) * width], [(0,) * width]
    return [tuple(p[:width]) for p, _ in value.element.numer.terms()], [
        tuple(p[:width]) for p, _ in value.element.denom.terms()
    ]
