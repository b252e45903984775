"""Worst cases over functions of almost one curvature, mu near L, in coordinates that know it.

The interpolation conditions of f_i have coefficients 1/(1 - mu/L), and what they allow is as small as 1 - mu/L: solvers see noise. With
f_i = (mu/2) ||.||^2 + <grad f_i(x*), .> + phi_i, x* = 0, the same conditions are those of convex, (L - mu)-smooth phi_i that x* minimises. Here the
leaves that stand for gradients of f_i come to stand for those of phi_i, the values likewise, and each has its own size; coefficients and unknowns
are then of size one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.core.errors import CannotTrace
from fedtheory.proofs.every_n.model import Model, find_free_directions
from fedtheory.proofs.every_n.oracles import Evaluation
from fedtheory.proofs.every_n.units import in_units
from fedtheory.proofs.every_n.vectors import Form, Vector, inner_product, square
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.semidefinite.bounded import maximise

#: classes with a smaller 1 - mu/L have almost one curvature
NEARLY_ONE = Fraction(1, 4)

Leaf = tuple[Any, int]


def is_nearly_one_curvature(given: FunctionClass) -> bool:
    """Whether mu is near L."""
    return bool(given.mu > 0 and given.L - given.mu < NEARLY_ONE * Fraction(given.L))


def largest_in_shifted_coordinates(
    model: Model,
    evaluations: Sequence[Evaluation],
    given: FunctionClass,
    known: Mapping[Leaf, float],
    time_limit: float | None = None,
) -> tuple[float, float]:
    """What the maximum of a model's program is at least and at most; infinite where nothing bounds it.

    Parameters
    ----------
    model, evaluations : in fractions, so that what cancels does so exactly
    known : the sizes of leaves that are there before the first evaluation

    Raises
    ------
    CannotTrace
        A gradient is tied to others in a way that is not followed here.
    SolverFailed
        No solver's answer was accepted.
    """
    shift = _Shift(model, Fraction(given.mu), float(given.L - given.mu), dict(known))
    for e in evaluations:
        shift.add(e)
    there = shift.model()
    moved = [replace(e, x=shift.vector(e.x), g=shift.vector(e.g)) for e in evaluations]
    sizes = {
        matrix: np.array([shift.sizes.get((part, k), shift.least) for k in range(count)])
        for matrix, part, count in (("S", "mean", model.leaves.mean), ("Q", "deviation", model.leaves.deviation))
    }
    values = [shift.value_sizes.get(t, shift.least) for t in range(model.leaves.values)]
    stated = in_units(there, find_free_directions(there, moved), sizes, values, shift.goal(there), time_limit)
    solution, unbounded = maximise(stated.program, time_limit=time_limit)
    unit = float("inf") if unbounded else float(stated.units.goal)
    return (solution.value - solution.overshoot) * unit, solution.value * unit


def _all(leaves: Sequence[Leaf]) -> Vector:
    return Vector(dict.fromkeys(leaves, Fraction(1)))


@dataclass(eq=False)
class _Shift:
    """Leaves and values of f_i in terms of those of phi_i, as they become known, and how large those are.

    ``steep`` is L - mu: a gradient of phi_i is at most that times its point. Points shrink where a step is near 1/L, and with them all else.
    ``slopes``: the gradients at x*, once they are asked for.
    """

    whole: Model
    mu: Fraction
    steep: float
    sizes: dict[Leaf, float]
    leaves: dict[Leaf, Vector] = field(default_factory=dict)
    values: dict[int, Form] = field(default_factory=dict)
    value_sizes: dict[int, float] = field(default_factory=dict)
    points: set[Leaf] = field(default_factory=set)
    slopes: Vector = field(default_factory=lambda: Vector({}))

    @property
    def least(self) -> float:
        """A size that stands for none."""
        return 2.0**-60 * max([*self.sizes.values(), self.steep])

    def add(self, e: Evaluation) -> None:
        """The gradient of an evaluation, or its point where that is what was asked for, is put in terms of phi's gradient."""
        if e.minus is not None:
            raise CannotTrace("differences of functions are not followed in shifted coordinates")
        if not e.x.terms:  # x*
            self.slopes = self.vector(e.g)
            return
        new = self._new(e.g)
        if new is not None:  # g = mu x + slopes + gamma, where x = a + b g
            b = {e.x.terms.get(leaf, 0) for leaf in new}
            if len(b) > 1:
                raise CannotTrace("a point depends on the parts of a gradient in different ways")
            share = Fraction(b.pop())
            rest = Vector({leaf: v for leaf, v in e.x.terms.items() if leaf not in new})
            self.points |= {leaf for leaf in rest.terms if leaf not in self.leaves}
            moved = (self.vector(rest) * self.mu + self.slopes + _all(new)) / (1 - self.mu * share)
            self._measure(new, self.vector(rest))
        else:  # the point is new: x = (g - slopes - gamma)/mu
            new = self._new(e.x)
            if new is None:
                raise CannotTrace("neither the gradient nor the point of an evaluation is a new vector")
            moved = (self.vector(e.g) - self.slopes - _all(new)) / self.mu
            self._measure(new, moved + _all(new) / self.mu)
        for leaf in new:
            self.leaves[leaf] = Vector({key: v for key, v in moved.terms.items() if key[0] == leaf[0]})
        self._shift_value(e)

    def _measure(self, new: Sequence[Leaf], point: Vector) -> None:
        """The size of a gradient of phi_i."""
        size = self.steep * max(self._size(point), self.least)
        for leaf in new:
            self.sizes[leaf] = size

    def _size(self, v: Vector) -> float:
        return max((abs(float(c)) * self.sizes.get(leaf, self.least) for leaf, c in v.terms.items()), default=0.0)

    def goal(self, there: Model) -> float:
        """The size of what is asked for."""
        parts = {"S": "mean", "Q": "deviation"}
        found = [
            abs(float(c)) * self.sizes.get((parts[m], i), self.least) * self.sizes.get((parts[m], j), self.least)
            for form in there.objectives
            for (m, i, j), c in form.gram.items()
        ]
        found += [
            abs(float(c)) * self.value_sizes.get(t, self.least)
            for form in there.objectives
            for t, c in form.values.items()
        ]
        return max(found, default=1.0)

    def _new(self, v: Vector) -> list[Leaf] | None:
        """The leaves of a vector that is new: one mean leaf, with its deviations."""
        if not v.terms or any(
            value != 1 or leaf in self.leaves or leaf in self.points for leaf, value in v.terms.items()
        ):
            return None
        means = [leaf for leaf in v.terms if leaf[0] == "mean"]
        return [*v.terms] if len(means) == 1 and len(v.terms) <= 2 else None

    def _shift_value(self, e: Evaluation) -> None:
        if e.value not in self.values:
            x = self.vector(e.x)
            self.values[e.value] = Form(values={e.value: 1}) + square(x) * (self.mu / 2) + inner_product(self.slopes, x)
            self.value_sizes[e.value] = self.steep * max(self._size(x), self.least) ** 2

    def vector(self, v: Vector) -> Vector:
        """The same vector in the new leaves."""
        total = Vector({})
        for leaf, value in v.terms.items():
            total = total + self.leaves.get(leaf, Vector({leaf: 1})) * value
        return total

    def form(self, form: Form) -> Form:
        """The same form in the new leaves and values."""
        gram: dict[tuple[str, int, int], Any] = {}
        for (matrix, i, j), value in form.gram.items():
            for a, u in self._row(matrix, i):
                for b, v in self._row(matrix, j):
                    key = (matrix, min(a, b), max(a, b))
                    gram[key] = gram.get(key, 0) + value * u * v
        total = Form({key: value for key, value in gram.items() if value != 0}, {}, form.constant)
        for t, value in form.values.items():
            total = total + self.values.get(t, Form(values={t: 1})) * value
        return total

    def _row(self, matrix: str, leaf: int) -> Iterator[tuple[int, Any]]:
        key = ("mean" if matrix == "S" else "deviation", leaf)
        terms: Mapping[Leaf, Any] = self.leaves[key].terms if key in self.leaves else {key: 1}
        return ((k, value) for (_, k), value in terms.items())

    def model(self) -> Model:
        """The whole model in the new leaves and values."""
        return replace(
            self.whole,
            inequalities=tuple((name, self.form(form)) for name, form in self.whole.inequalities),
            objectives=tuple(self.form(form) for form in self.whole.objectives),
            equations=tuple((name, self.form(form)) for name, form in self.whole.equations),
        )
