"""Systems: whenever some forms are at most zero, and functions belong to their classes, another form is at most zero.

A lemma makes one, and so does a question about a method. Its numbers are fractions, at one point of a region, or rational functions of the
parameters; the latter are evaluated at points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.vectors import Form, Number, Vector
from fedtheory.proofs.parameters.field import RationalFunction


def map_form(form: Form, number: Callable[[Number], Any]) -> Form:
    """A form with other numbers in the place of its own."""
    gram = {key: new for key, old in form.gram.items() if (new := number(old)) != 0}
    values = {key: new for key, old in form.values.items() if (new := number(old)) != 0}
    return Form(gram, values, number(form.constant))


NamedForm = tuple[str, Form]
DenseForm = tuple[list[list[Any]], list[list[Any]], Any]


@dataclass(frozen=True, eq=False)
class System:
    """Hypotheses ``form <= 0`` by name, functions with their evaluations, and the conclusion ``form <= 0``.

    ``mean``, ``deviation``: names of the leaves of the Gram matrices S and Q; ``values``: how many values there are.
    """

    mean: tuple[str, ...]
    deviation: tuple[str, ...]
    values: int
    hypotheses: tuple[NamedForm, ...]
    functions: tuple[Function, ...]
    conclusion: Form

    @cached_property
    def rows(self) -> tuple[NamedForm, ...]:
        """The hypotheses, then the interpolation conditions of every function."""
        return (*self.hypotheses, *(row for f in self.functions for row in f.conditions(None)))

    @property
    def sizes(self) -> tuple[int, int]:
        """Of the Gram matrices S and Q."""
        return len(self.mean), len(self.deviation)

    def at(self, point: Mapping[str, Fraction]) -> System:
        """The system at one point of the region, in fractions.

        Interpolation conditions over rational functions cost a hundred times what they cost in fractions: where they were not formed before,
        they are formed at the point, unless it is a pole of a factor that only their sum is free of.
        """
        known: dict[Any, Fraction] = {}

        def value(number: Number) -> Fraction:
            if not isinstance(number, RationalFunction):
                return Fraction(number)
            if number.element not in known:
                known[number.element] = number.at(point)
            return known[number.element]

        there = self.map(value)
        try:
            rows = self.rows if "rows" in self.__dict__ else there.rows
        except ZeroDivisionError:
            rows = self.rows
        there.__dict__["rows"] = tuple((name, map_form(row, value)) for name, row in rows)
        return there

    def map(self, number: Callable[[Number], Any]) -> System:
        """The same with other numbers in the place of its own."""

        def vector(v: Vector) -> Vector:
            return Vector({key: new for key, old in v.terms.items() if (new := number(old)) != 0})

        functions = tuple(
            replace(
                f,
                evaluations=tuple(replace(e, x=vector(e.x), g=vector(e.g)) for e in f.evaluations),
                L=None if f.L is None else number(f.L),
                mu=number(f.mu),
            )
            for f in self.functions
        )
        hypotheses = tuple((name, map_form(h, number)) for name, h in self.hypotheses)
        conclusion = map_form(self.conclusion, number)
        return replace(self, hypotheses=hypotheses, functions=functions, conclusion=conclusion)

    def with_conclusion(self, conclusion: Form) -> System:
        """The same premises and another conclusion."""
        changed = replace(self, conclusion=conclusion)
        changed.__dict__["rows"] = self.rows
        return changed

    def matrices(self, form: Form, zero: Number = Fraction(0)) -> DenseForm:
        """A form as symmetric matrices on S and Q, and its constant."""
        found = [[[zero] * n for _ in range(n)] for n in self.sizes]
        for (which, i, j), value in form.gram.items():
            m, share = found["SQ".index(which)], value * Fraction(1, 1 if i == j else 2)
            m[i][j] = m[i][j] + share
            if i != j:
                m[j][i] = m[i][j]
        return found[0], found[1], form.constant + zero


def remainder(system: System, multipliers: Sequence[Number], rows: Sequence[NamedForm] | None = None) -> Form:
    """Multipliers times rows, less the conclusion: what must be a positive semidefinite form with balanced values."""
    total = -system.conclusion
    for value, (_, row) in zip(multipliers, system.rows if rows is None else rows, strict=True):
        if value != 0:
            total = total + row * value
    return total
