"""The program of exchangeable clients: linear conditions on two Gram matrices and values, and what is maximised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.exact import solve_exactly
from fedtheory.proofs.every_n.conditions import (
    interpolate_evaluations,
    interpolate_evaluations_apart,
    name_pairs,
    name_pairs_apart,
)
from fedtheory.proofs.every_n.oracles import Evaluation, Leaves
from fedtheory.proofs.every_n.vectors import Form, Number
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite.program import Program

Direction = tuple[str, list[Fraction]]  # of which Gram matrix, coefficients of its leaves


@dataclass(frozen=True, eq=False)
class Function:
    """What is known of a function of every client, or of one that all clients share: evaluations and a class (L None: not smooth)."""

    name: str
    evaluations: tuple[Evaluation, ...]
    L: Number | None
    mu: Number
    shared: bool = False

    def conditions(self, n: int | None) -> list[tuple[str, Form]]:
        """Interpolation conditions; those of a shared function also between different clients, of which there are n (None: any number)."""
        if not self.shared:
            return [*self._own]
        return self._own + interpolate_evaluations_apart(self.name, self.evaluations, self.L, self.mu, n)

    def names_of_conditions(self) -> set[str]:
        """The names of these conditions, which are not written down for it."""
        pairs = [*name_pairs(self.name, self.evaluations)]
        pairs += [*name_pairs_apart(self.name, self.evaluations)] if self.shared else []
        return {label for label, _, _ in pairs}

    @cached_property
    def _own(self) -> list[tuple[str, Form]]:
        return interpolate_evaluations(self.name, self.evaluations, self.L, self.mu)


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a program is made of: inequalities ``form <= 0`` and equations ``form = 0`` by name, and what is maximised.

    Of several objectives it is the least. ``relaxations`` says which conditions are necessary for the class without being sufficient; the
    value is then an upper bound of the worst case.
    """

    leaves: Leaves
    inequalities: tuple[tuple[str, Form], ...]
    objectives: tuple[Form, ...]
    equations: tuple[tuple[str, Form], ...] = ()
    relaxations: tuple[str, ...] = ()
    functions: tuple[Function, ...] = ()
    clients: int | None = None

    def along(self, direction: Sequence[Fraction], matrix: str = "Q") -> Model:
        """The same model once vectors may be arbitrarily large along a direction that no condition sees the square of.

        With delta_i = gamma_i + direction_i b, the products <gamma_i, b> are then free: they become values, and the Gram matrix is that of
        gamma. Its program has finite multipliers where that of the original has not.
        """
        pivot = next(i for i, v in enumerate(direction) if v != 0)
        first = self.leaves.values
        place = {i: k for k, i in enumerate(j for j in range(len(direction)) if j != pivot)}
        scaled = [v / direction[pivot] for v in direction]

        def changed(form: Form) -> Form:
            gram = {key: value for key, value in form.gram.items() if key[0] != matrix}
            values = dict(form.values)
            for (which, i, j), value in form.gram.items():
                if which != matrix:
                    continue
                if pivot not in (i, j):
                    a, b = sorted((place[i], place[j]))
                    gram[(matrix, a, b)] = gram.get((matrix, a, b), 0) + value
                for one, other in ((i, j), (j, i)):
                    if one != pivot:
                        t = first + place[one]
                        values[t] = values.get(t, 0) + value * scaled[other]
            return Form(gram, {t: v for t, v in values.items() if v != 0}, form.constant)

        leaves = Leaves()
        leaves.mean, leaves.deviation = self.leaves.mean - (matrix == "S"), self.leaves.deviation - (matrix == "Q")
        leaves.values = first + len(place)
        return replace(
            self,
            leaves=leaves,
            inequalities=tuple((name, changed(form)) for name, form in self.inequalities),
            objectives=tuple(changed(form) for form in self.objectives),
            equations=tuple((name, changed(form)) for name, form in self.equations),
        )

    def freed(self, directions: Sequence[Direction]) -> Model:
        """The model along several directions, of which those of one matrix do not meet the pivots of the ones before."""
        model, removed = self, {"S": list[int](), "Q": list[int]()}
        for matrix, direction in directions:
            kept = [v for i, v in enumerate(direction) if i not in removed[matrix]]
            removed[matrix].append(next(i for i, v in enumerate(direction) if v != 0))
            model = model.along(kept, matrix)
        return model

    def program(self, time_limit: float | None = None) -> Program:
        """Floats for the solver: equations, then inequalities; two blocks, the values, and, for several objectives, their minimum."""
        several = len(self.objectives) > 1
        sizes = (self.leaves.mean, self.leaves.deviation)
        extra = int(several)
        rows = [form for _, form in (*self.equations, *self.inequalities)]
        last = len(rows)
        conic.require_time(sizes, len(rows), time_limit)
        if several:  # tau <= objective
            rows += [-form for form in self.objectives]
        goal = Form() if several else self.objectives[0]
        matrices = tuple(np.zeros((len(rows), size, size)) for size in sizes)
        values = np.zeros((len(rows), self.leaves.values + extra))
        bounds = np.zeros(len(rows))
        for k, form in enumerate(rows):
            _fill(form, matrices[0][k], matrices[1][k], values[k])
            bounds[k] = -float(form.constant)
        if several:
            values[last:, -1] = 1
        top = tuple(np.zeros((size, size)) for size in sizes)
        linear = np.zeros(self.leaves.values + extra)
        _fill(goal, top[0], top[1], linear)
        if several:
            linear[-1] = 1
        return Program(sizes, top, linear, matrices, values, bounds, len(self.equations))


def _fill(form: Form, s: NDArray[Any], q: NDArray[Any], values: NDArray[Any]) -> None:
    for (matrix, i, j), value in form.gram.items():
        into = s if matrix == "S" else q
        into[i, j] += float(value) / 2
        into[j, i] += float(value) / 2
    for t, value in form.values.items():
        values[t] += float(value)


def find_free_directions(model: Model, evaluations: Sequence[Evaluation]) -> list[Direction]:
    """Directions along which vectors may grow without limit, because no condition sees the square of it.

    A slack that is semidefinite must vanish on them, which rounded multipliers have to respect exactly. One is what linear terms
    <b_i, x> with sum b_i = 0 add to the clients' functions, if nothing limits them: every gradient moves by b_i, no point moves. The
    others are single vectors, such as the subgradient of a regulariser at a point where only its value is asked for.
    """
    forms = [*(form for _, form in (*model.inequalities, *model.equations)), *model.objectives]
    rows, right = [], []
    for e in evaluations:
        for v, value in ((e.x, 0), (e.g, 1)):
            row = [Fraction(0)] * model.leaves.deviation
            for (part, leaf), coefficient in v.terms.items():
                if part == "deviation":
                    row[leaf] += Fraction(coefficient)
            rows.append(row)
            right.append(Fraction(value))
    found: list[Direction] = []
    shift = solve_exactly(rows, right)
    if shift is not None and all(_quadratic(form, shift) == 0 for form in forms):
        found.append(("Q", shift))
    for leaf in range(model.leaves.mean):
        if all(form.gram.get(("S", leaf, leaf), 0) == 0 for form in forms):
            found.append(("S", [Fraction(i == leaf) for i in range(model.leaves.mean)]))
    return found


def _quadratic(form: Form, v: Sequence[Fraction]) -> Fraction:
    return sum((Fraction(c) * v[i] * v[j] for (m, i, j), c in form.gram.items() if m == "Q"), Fraction(0))
