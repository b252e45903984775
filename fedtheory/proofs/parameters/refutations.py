"""Exact instances that break a conclusion: plain fractions that meet every hypothesis and every class.

Vectors with mean and deviation parts are those of two clients, mean + deviation and mean - deviation with the deviations in coordinates of
their own: then each client satisfies what the average does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.proofs.checker.reading import read_number
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.programs import violation
from fedtheory.proofs.parameters.quadratics import Quadratics, curvatures
from fedtheory.proofs.parameters.system import System

LeafCoordinates = tuple[tuple[Fraction, ...], ...]
#: what the functions of an instance are, if there are any
ON_THE_LINE, INTERPOLATED, VECTORS = "quadratics on the line", "interpolated functions", "vectors"
#: denominators tried for coordinates, and margins of the program, relative to its value
INSTANCE_DENOMINATORS, INSTANCE_MARGINS = (1, 2, 3, 5, 10, 30, 100, 1000, 10**5, 10**7), (0.3, 0.1, 0.03, 0.01)
#: of the hypotheses against the conclusion, where quadratics that break it are looked for
WEIGHTS = (0.0, 0.3, 1.0, 3.0, 10.0, 100.0)
#: by how much smaller classes leave room
CLASS_MARGINS = (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))


@dataclass(frozen=True)
class Instance:
    """Where a conclusion fails.

    ``mean``, ``deviation``: coordinates of the leaves; ``values``: of the functions; ``left``: the conclusion's left side, above zero;
    ``kind``: `ON_THE_LINE`, with the curvature of each function, `INTERPOLATED`, or `VECTORS` where there are no functions.
    """

    kind: str
    point: Mapping[str, Fraction]
    mean: LeafCoordinates
    deviation: LeafCoordinates
    values: tuple[Fraction, ...]
    left: Fraction
    curvatures: tuple[Fraction, ...] = ()

    @property
    def dimension(self) -> int:
        """Of the space in which it lives."""
        return sum(len(rows[0]) for rows in (self.mean, self.deviation) if rows)

    @property
    def clients(self) -> int:
        """How many clients it has: two where vectors have deviations."""
        return 2 if self.deviation else 1

    def store(self) -> dict[str, Any]:
        """The instance as plain data: fractions as text."""

        def text(rows: LeafCoordinates) -> list[list[str]]:
            return [[str(x) for x in row] for row in rows]

        return {
            "kind": self.kind,
            "point": {name: str(value) for name, value in self.point.items()},
            "mean": text(self.mean),
            "deviation": text(self.deviation),
            "values": [str(value) for value in self.values],
            "left": str(self.left),
            "curvatures": [str(value) for value in self.curvatures],
        }

    @classmethod
    def read(cls, data: Mapping[str, Any], more: Collection[str] = ()) -> Instance:
        """The instance that plain data hold; ``more``: kinds beside those of a lemma.

        Raises
        ------
        ValueError
            They are malformed; the message is one line.
        """

        def numbers(given: Any) -> tuple[Fraction, ...]:
            if not isinstance(given, list):
                raise ValueError("coordinates, values and curvatures are lists")
            return tuple(map(read_number, given))

        def rows(lines: Any) -> LeafCoordinates:
            found = tuple(map(numbers, lines)) if isinstance(lines, list) else ()
            if not isinstance(lines, list) or len({len(row) for row in found}) > 1:
                raise ValueError("the leaves are no list of rows of the same length")
            return found

        if not isinstance(data, Mapping) or {*data} != {f.name for f in fields(cls)}:
            raise ValueError(f"the instance of a lemma has the fields {', '.join(f.name for f in fields(cls))}")
        if data["kind"] not in (ON_THE_LINE, INTERPOLATED, VECTORS, *more):
            raise ValueError(f"its kind is none of {ON_THE_LINE!r}, {INTERPOLATED!r} and {VECTORS!r}")
        if not isinstance(data["point"], Mapping):
            raise ValueError("its point is no mapping")
        return cls(
            data["kind"],
            {name: read_number(value) for name, value in data["point"].items()},
            rows(data["mean"]),
            rows(data["deviation"]),
            numbers(data["values"]),
            read_number(data["left"]),
            numbers(data["curvatures"]),
        )

    @property
    def denominator(self) -> int:
        """The largest of the coordinates and values."""
        numbers = [*self.values, *(x for row in (*self.mean, *self.deviation) for x in row)]
        return max((x.denominator for x in numbers), default=1)


def left_side(
    system: System, form: Form, mean: LeafCoordinates, deviation: LeafCoordinates, values: Sequence[Fraction]
) -> Fraction:
    """A form where the leaves and values are these."""
    total = Fraction(form.constant)
    for (which, i, j), value in form.gram.items():
        leaves = mean if which == "S" else deviation
        total += value * sum((a * b for a, b in zip(leaves[i], leaves[j], strict=True)), Fraction(0))
    return total + sum((c * values[t] for t, c in form.values.items()), Fraction(0))


def find_instance(system: System, point: Mapping[str, Fraction], value: float | None = None) -> Instance | None:
    """An exact instance for a system in fractions, or None; quadratics first.

    Parameters
    ----------
    value : the left side that a solver found; it is asked anew where it is missing
    """
    return _quadratic(system, point) or _interpolated(system, point, violation(system)[0] if value is None else value)


def _quadratic(system: System, point: Mapping[str, Fraction]) -> Instance | None:
    evaluated = {e.value for f in system.functions for e in f.evaluations}
    if any(t not in evaluated for form in (system.conclusion, *(h for _, h in system.hypotheses)) for t in form.values):
        return None
    forms = [system.conclusion, *(form for _, form in system.hypotheses)]
    constants = np.array([float(form.constant) for form in forms])
    for chosen in curvatures(system):
        family = Quadratics.of(system, chosen)
        restricted = [family.restricted(form) for form in forms]
        matrices = [np.array([_floats(entries[block]) for entries in restricted]) for block in (0, 1)]
        starts = [
            (block, vector)
            for weight in (WEIGHTS if system.hypotheses else WEIGHTS[:1])
            for block in (0, 1)
            for vector in _directions(matrices[block], weight)
        ]
        for denominator in INSTANCE_DENOMINATORS[:6]:
            for block, vector in starts:
                for scale in (Fraction(1), Fraction(1, 10), Fraction(10)):
                    combination = [
                        Fraction(round(float(t) * denominator), denominator) * scale
                        for t in vector / np.abs(vector).max()
                    ]
                    if _excluded(matrices[block], constants, combination):
                        continue
                    parts = [
                        family.leaves(b, combination if b == block else [Fraction(0)] * len(family.bases[b]))
                        for b in (0, 1)
                    ]
                    made = _made(
                        ON_THE_LINE,
                        system,
                        point,
                        tuple((x,) for x in parts[0][: system.sizes[0]]),
                        tuple((x,) for x in parts[1][: system.sizes[1]]),
                        tuple(family.values(parts)),
                        chosen,
                    )
                    if made is not None:
                        return made
    return None


def _directions(matrices: Any, weight: float) -> list[Any]:
    """Where the conclusion, less a weight times the hypotheses, is above zero."""
    if matrices.size == 0:
        return []
    sizes, vectors = np.linalg.eigh(matrices[0] - weight * matrices[1:].sum(axis=0))
    return [vectors[:, k] for k in range(len(sizes)) if sizes[k] > 1e-9]


def _excluded(matrices: Any, constants: Any, combination: Sequence[Fraction]) -> bool:
    """Whether the conclusion holds there, or a hypothesis does not: by more than rounding can do."""
    x = np.array([float(t) for t in combination])
    values = (matrices @ x) @ x + constants
    rounding = 1e-9 * ((np.abs(matrices) @ np.abs(x)) @ np.abs(x) + np.abs(constants))
    return bool(values[0] < -rounding[0] or (values[1:] > rounding[1:]).any())


def _floats(matrix: Sequence[Sequence[Any]]) -> Any:
    return np.array([[float(v) for v in row] for row in matrix])


def _interpolated(system: System, point: Mapping[str, Fraction], value: float) -> Instance | None:
    """The solver's answer with some room in every condition, factored and rounded.

    Room is made in two ways: every row is asked to be below zero by a margin, or the classes are made smaller, which leaves room in proportion
    where points of a function are close to each other.
    """
    if not np.isfinite(value) or value <= 0:
        return None
    for share in INSTANCE_MARGINS:
        made = _rounded(system, system, point, value, share * value)
        if made is not None:
            return made
    for smaller in CLASS_MARGINS:
        made = _rounded(system, _with_smaller_classes(system, smaller), point, value, 0.0)
        if made is not None:
            return made
    return None


def _with_smaller_classes(system: System, share: Fraction) -> System:
    """The same system with L - mu of every smooth function smaller by a share, on both sides."""
    functions = []
    for f in system.functions:
        if f.L is not None:
            room = (f.L - f.mu) * share / 2
            functions.append(replace(f, L=f.L - room, mu=f.mu + room))
        else:
            functions.append(f)
    return replace(system, functions=tuple(functions))


def _rounded(
    system: System, asked: System, point: Mapping[str, Fraction], value: float, margin: float
) -> Instance | None:
    """An instance of the system, from the answer to the one that leaves room."""
    _, found, balanced = violation(asked, margin=margin)
    if found is None or found.value <= 0:
        return None
    units = dict(zip(balanced.blocks, zip(found.blocks, balanced.leaves, strict=True), strict=True))
    scale = 10 / value
    if 2 in units:  # the constant is what it is
        block, unit = units[2]
        scale = 1 / max(float(block[0, 0] * unit[0] ** 2), 1e-12)
    for denominator in INSTANCE_DENOMINATORS:
        coordinates = []
        for k, size in enumerate(system.sizes):
            rows: Any = np.zeros((size, 0))
            if k in units:
                block, unit = units[k]
                sizes_found, vectors = np.linalg.eigh(block * np.outer(unit, unit) * scale)
                kept = sizes_found > 1e-7 * max(sizes_found[-1], 1e-300)
                rows = vectors[:, kept] * np.sqrt(sizes_found[kept])
            coordinates.append(
                tuple(tuple(Fraction(round(float(x) * denominator), denominator) for x in row) for row in rows)
            )
        values = tuple(
            Fraction(round(float(v) * scale * denominator**2), denominator**2) for v in found.values * balanced.numbers
        )
        made = _made(INTERPOLATED, system, point, coordinates[0], coordinates[1], values)
        if made is not None:
            return made
    return None


def _made(
    kind: str,
    system: System,
    point: Mapping[str, Fraction],
    mean: LeafCoordinates,
    deviation: LeafCoordinates,
    values: tuple[Fraction, ...],
    chosen: Sequence[Fraction] = (),
) -> Instance | None:
    left = left_side(system, system.conclusion, mean, deviation, values)
    if left > 0 and all(left_side(system, form, mean, deviation, values) <= 0 for _, form in system.rows):
        return Instance(
            kind if system.functions else VECTORS, dict(point), mean, deviation, values, left, tuple(chosen)
        )
    return None
