"""Quadratics on the line as members of the classes: f_i(x) = (h/2) x^2 + b_i x, the curvature h at the ends of the class.

On them a system's leaves solve linear equations (gradients are h x + b), and every form is a quadratic form of the solutions: an instance
can be written down exactly, with numbers of any kind. Where one makes the conclusion an equality it says what multipliers must be.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from fedtheory.core.exact import reduce_rows
from fedtheory.proofs.every_n.vectors import Form, Number
from fedtheory.proofs.parameters.system import System

Entries = list[list[Any]]
Sparse = list[tuple[int, Any]]
PARTS = ("mean", "deviation")
HALF = Fraction(1, 2)
#: how many choices of curvatures are tried
MOST_CHOICES = 30


def curvatures(system: System) -> Iterator[tuple[Number, ...]]:
    """A curvature for each function: the ends of its class, and 0 between L and -L."""
    menus: list[list[Number]] = []
    for f in system.functions:
        if f.L is None:
            menus.append([f.mu, f.mu + 1])
        else:
            menus.append([f.mu, f.L, *([f.mu * 0] if f.L + f.mu == 0 else [])])
    return itertools.islice(itertools.product(*menus), MOST_CHOICES)


@dataclass(frozen=True, eq=False)
class Quadratics:
    """All such instances for some curvatures: ``bases`` of what the leaves (then the b of every function) of S and of Q can be."""

    system: System
    curvatures: tuple[Number, ...]
    zero: Number
    bases: tuple[list[list[Any]], list[list[Any]]]

    @classmethod
    def of(cls, system: System, chosen: Sequence[Number], zero: Number = Fraction(0)) -> Quadratics:
        """Solve  g = h x + b  for every evaluation."""
        bases = []
        for part, size in zip(PARTS, system.sizes, strict=True):
            equations = []
            for k, (f, h) in enumerate(zip(system.functions, chosen, strict=True)):
                for e in f.evaluations:
                    row = [zero] * (size + len(system.functions))
                    for (kind, leaf), value in (e.g - e.x * h).terms.items():
                        if kind == part:
                            row[leaf] = row[leaf] + value
                    row[size + k] = row[size + k] - 1
                    equations.append(row)
            bases.append(kernel(equations, size + len(system.functions), zero) if size else [])
        return cls(system, tuple(chosen), zero, (bases[0], bases[1]))

    @cached_property
    def coordinates(self) -> list[list[Sparse]]:
        """What every leaf of a block, then every b, is of the basis: coordinate and coefficient, those that are not zero."""
        return [
            [[(c, v[i]) for c, v in enumerate(basis) if v[i]] for i in range(size + len(self.system.functions))]
            for basis, size in zip(self.bases, self.system.sizes, strict=True)
        ]

    def restricted(self, form: Form) -> tuple[Entries, Entries]:
        """A form without its constant as quadratic forms on the bases."""
        system, found = self.system, []
        for block, (basis, size, part) in enumerate(zip(self.bases, system.sizes, PARTS, strict=True)):
            terms = {(i, j): value for (which, i, j), value in form.gram.items() if "SQ".index(which) == block}
            for k, (f, h) in enumerate(zip(system.functions, self.curvatures, strict=True)):
                for e in f.evaluations:
                    if weight := form.values.get(e.value, 0):  # h x^2 / 2 + b x
                        x = [(leaf, value) for (kind, leaf), value in e.x.terms.items() if kind == part]
                        for i, a in x:
                            for j, b in x:
                                terms[i, j] = terms.get((i, j), 0) + weight * h * a * b * HALF
                            terms[i, size + k] = terms.get((i, size + k), 0) + weight * a
            entries = [[self.zero] * len(basis) for _ in basis]
            rows = self.coordinates[block]
            for (i, j), value in terms.items():
                for c, u in rows[i]:
                    for d, v in rows[j]:
                        share = value * u * v * HALF
                        entries[c][d] = entries[c][d] + share
                        entries[d][c] = entries[d][c] + share
            found.append(entries)
        return found[0], found[1]

    def leaves(self, block: int, coordinates: Sequence[Any]) -> list[Any]:
        """Leaves, then the b, of a combination of the basis."""
        width = self.system.sizes[block] + len(self.system.functions)
        columns = self.bases[block]
        used = [(c, v) for c, v in zip(coordinates, columns, strict=True) if c]
        return [sum((c * v[i] for c, v in used if v[i]), self.zero) for i in range(width)]

    def values(self, parts: Sequence[Sequence[Any]]) -> list[Any]:
        """All values, where the leaves of both blocks are these; those of no function are zero."""
        system = self.system
        found = [self.zero] * system.values
        for block, (size, part) in enumerate(zip(system.sizes, PARTS, strict=True)):
            if not size:
                continue
            for k, (f, h) in enumerate(zip(system.functions, self.curvatures, strict=True)):
                for e in f.evaluations:
                    x = sum(
                        (v * parts[block][leaf] for (kind, leaf), v in e.x.terms.items() if kind == part), self.zero
                    )
                    found[e.value] = found[e.value] + h * x * x * HALF + parts[block][size + k] * x
        return found


def necessary_equations(system: System, zero: Number, rows: Sequence[Form]) -> list[tuple[list[Any], Any]]:
    """Equations sum_c a_c multiplier_c = right that hold for every proof: at an instance where the conclusion is an equality Z n = 0.

    Right only where the instance meets the hypotheses, which is not looked at: whoever uses them checks what comes out.
    """
    found: list[tuple[list[Any], Any]] = []
    dense = [system.matrices(form, zero)[:2] for form in rows]
    goal = system.matrices(system.conclusion, zero)[:2]
    for chosen in curvatures(system):
        quadratics = Quadratics.of(system, chosen, zero)
        for block, restricted in enumerate(quadratics.restricted(system.conclusion)):
            size = system.sizes[block]
            for combination in kernel(restricted, len(restricted), zero) if restricted else []:
                n = quadratics.leaves(block, combination)[:size]
                if all(value == 0 for value in n):
                    continue
                for i in range(size):
                    left = [_dot(m[block][i], n, zero) for m in dense]
                    right = _dot(goal[block][i], n, zero)
                    if right != 0 or any(a != 0 for a in left):
                        found.append((left, right))
    return found


def kernel(rows: Sequence[Sequence[Any]], width: int, zero: Any) -> list[list[Any]]:
    """A basis of the solutions of homogeneous equations, over any field."""
    table, pivots = reduce_rows(rows, width) if rows else ([], [])
    found = []
    for free in (c for c in range(width) if c not in pivots):
        vector = [zero] * width
        vector[free] = zero + 1
        for row, column in zip(table, pivots, strict=False):
            vector[column] = -row[free]
        found.append(vector)
    return found


def _dot(u: Sequence[Any], v: Sequence[Any], zero: Any) -> Any:
    return sum((a * b for a, b in zip(u, v, strict=False) if a and b), zero)
