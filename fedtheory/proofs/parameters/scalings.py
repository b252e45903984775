"""Changes of units under which a system and its region keep their form, so that some parameters may be set to one.

A scaling multiplies every parameter, leaf and value by a power of one number s. If every coefficient of every row then changes by a power that
is that of the row, multipliers change by the power of the conclusion less that of their row. The powers solve linear equations.
"""

from __future__ import annotations

import itertools
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
    weights = _Weights(field, system)
    weights.require_terms()
    weights.require_ends()
    last = len(field.names)
    turned = [[*row[:last][::-1], *row[last:]] for row in kernel(weights.equations, weights.width, Fraction(0))]
    table, pivots = reduce_rows(turned, last)
    found = []
    for turned_row, turned_column in zip(table, pivots, strict=False):
        row, column = [*turned_row[:last][::-1], *turned_row[last:]], last - 1 - turned_column
        of_rows = row[weights.offsets["row"] :]
        goal = of_rows[-1]  # that of the conclusion
        powers = {name: row[k] for k, name in enumerate(field.names)}
        multipliers = {name: goal - of_rows[r] for r, (name, _) in enumerate(system.rows)}
        if all(v.denominator == 1 for v in (*powers.values(), *multipliers.values())):
            found.append(
                Scaling(
                    field.names[column],
                    {name: int(v) for name, v in powers.items()},
                    {name: int(v) for name, v in multipliers.items()},
                )
            )
    return found


class _Weights:
    """Linear equations for the powers of what a system is made of: its parameters, vectors (S and Q), values (f), and rows, the conclusion last."""

    def __init__(self, field: ParameterField, system: System) -> None:
        self.field = field
        self.forms = [form for _, form in [*system.rows, ("", system.conclusion)]]
        counts = {
            "parameter": len(field.names),
            "S": len(system.mean),
            "Q": len(system.deviation),
            "f": system.values,
            "row": len(self.forms),
        }
        self.offsets = dict(zip(counts, itertools.accumulate(counts.values(), initial=0), strict=False))
        self.width = sum(counts.values())
        self.equations: list[list[Fraction]] = []

    def require(self, value: Any, weights: Mapping[int, int]) -> None:
        """All terms of the value have one weight, and that with the weights of some unknowns is zero."""
        numerators, denominators = _powers(self.field, value)
        pairs = [(n, denominators[0]) for n in numerators] + [(numerators[0], d) for d in denominators[1:]]
        for numerator, denominator in pairs:
            row = [Fraction(0)] * self.width
            for k, (a, b) in enumerate(zip(numerator, denominator, strict=True)):
                row[self.offsets["parameter"] + k] += a - b
            for k, weight in weights.items():
                row[k] += weight
            if any(row):
                self.equations.append(row)

    def require_terms(self) -> None:
        """All terms of a row have its weight."""
        at = self.offsets
        for r, form in enumerate(self.forms):
            of_row = {at["row"] + r: -1}
            for (which, i, j), value in form.gram.items():
                leaves = {at[which] + i: 2} if i == j else {at[which] + i: 1, at[which] + j: 1}
                self.require(value, {**leaves, **of_row})
            for t, value in form.values.items():
                self.require(value, {at["f"] + t: 1, **of_row})
            if form.constant != 0:
                self.require(form.constant, of_row)

    def require_ends(self) -> None:
        """The ends of a parameter have its weight."""
        parameters = self.field.parameters()
        for k, p in enumerate(self.field.region.parameters):
            for end in p.ends(parameters):
                if end is not None and end != 0:
                    self.require(end, {self.offsets["parameter"] + k: -1})


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
