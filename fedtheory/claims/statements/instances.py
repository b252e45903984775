"""Small exact instances that statements are tried on, and what the replay of one is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.claim import Assumption
from fedtheory.claims.parts import assume
from fedtheory.claims.statements.client_counts import ClientCounts
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.regions.expressions import Comparison
from fedtheory.proofs.regions.region import Region

#: curvatures of two or three clients on the line, centres and start, the simplest first (`_shapes_of` other numbers of clients)
SMALL_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((1, 1), (0, 0), 1),
    ((1, 1), (0, 1), 0),
    ((1, 2), (0, 0), 1),
    ((1, 2), (0, 1), 0),
    ((1, 3), (1, -1), 2),
    ((1, 2, 3), (0, 1, -1), 1),
    ((1, 4), (0, 1), 3),
    ((1, 1, 2), (1, 0, -2), 0),
)
#: numbers of clients of which there are instances at few points only
MORE_CLIENTS, FEW_POINTS = (1, 4, 5, 8), 2


@dataclass(frozen=True)
class LineQuadratics:
    """Clients f_i(x) = a_i (x - c_i)^2 / 2 on the line, a start, and values of parameters: all of them fractions.

    Parameters
    ----------
    curvature, centre : fractions, one a client
    start : fraction
    parameters : fractions by name
    """

    curvature: tuple[Fraction, ...]
    centre: tuple[Fraction, ...]
    start: Fraction
    parameters: Mapping[str, Fraction]

    def problem(self, number: Any = Fraction) -> SeparableQuadratics:
        """The clients, in fractions or with ``number=float`` in floats."""
        return SeparableQuadratics(_column(self.curvature, number), _column(self.centre, number))

    def x0(self, number: Any = Fraction) -> Any:
        """The start ``(1, 1)``."""
        return _column((self.start,), number)

    def values(self, number: Any = Fraction) -> dict[str, Any]:
        """The parameters."""
        return {name: number(value) for name, value in self.parameters.items()}

    def as_data(self) -> dict[str, Any]:
        """Plain data for a counterexample file."""
        return {
            "curvature": [str(v) for v in self.curvature],
            "centre": [str(v) for v in self.centre],
            "start": str(self.start),
            "parameters": [f"{name} = {value}" for name, value in self.parameters.items()],
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> LineQuadratics:
        """From plain data; every number is read exactly. Parameters are texts ``name = value``, or values by name.

        Raises
        ------
        InvalidInput
            Something is missing, or is no number.
        """
        try:
            curvature, centre = (tuple(Fraction(str(v)) for v in data[name]) for name in ("curvature", "centre"))
            given = data["parameters"]
            pairs = given.items() if isinstance(given, Mapping) else [text.split("=") for text in given]
            parameters = {str(name).strip(): Fraction(str(value).strip()) for name, value in pairs}
            if len(parameters) < len(pairs):
                raise ValueError("a parameter is given twice")
            found = cls(curvature, centre, Fraction(str(data["start"])), parameters)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise InvalidInput(
                f"an instance has 'curvature', 'centre', 'start' and 'parameters' in numbers ({error})"
            ) from error
        if len(curvature) != len(centre) or not curvature:
            raise InvalidInput(f"{len(curvature)} curvatures and {len(centre)} centres; expected one of each a client")
        return found


def simple_instances(
    region: Region, where: Sequence[Comparison], limits: Any, counts: ClientCounts, points: int = 6
) -> Iterator[LineQuadratics]:
    """Instances with small numbers at simple points of a region, the simplest first.

    ``limits`` maps a point to the lowest and highest curvature that are allowed there, None for any positive one.
    """
    found = [p for p in region.simple_points(points) if all(comparison.holds(p) for comparison in where)]
    own = {int(p[counts.parameter]) for p in found} if counts.parameter else {counts.first}
    others = sorted(n for n in {*MORE_CLIENTS, *own} - {2, 3} if counts.allows(n))
    shapes = [*SMALL_SHAPES, *(shape for n in others for shape in _shapes_of(n))]
    for curvature, centre, start in shapes:
        fitting = [p for p in found if counts.holds(len(curvature), p)]
        for point in fitting if len(curvature) in (2, 3) else fitting[:FEW_POINTS]:
            low, high = limits(point)
            spread = max(curvature) - 1
            if high is None:
                scaled = tuple(Fraction(a) for a in curvature)
            else:  # the first client is the flattest, the last the steepest
                scaled = tuple(high if not spread else low + (high - low) * (a - 1) / spread for a in curvature)
            yield LineQuadratics(scaled, tuple(Fraction(c) for c in centre), Fraction(start), point)


def _shapes_of(n: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Clients of which one is apart, and clients that all differ."""
    yield (1,) * n, (1, *(0,) * (n - 1)), 0
    yield tuple(range(1, n + 1)), tuple((0, 1, -1)[k % 3] for k in range(n)), 1


def require_parameters(region: Region, point: Mapping[str, Any]) -> None:
    """Refuse a point that has not exactly the parameters of a region.

    Raises
    ------
    InvalidInput
        One is missing, or there is another one.
    """
    if point.keys() != {*region.names}:
        given, expected = (", ".join(names) or "none" for names in (point, region.names))
        raise InvalidInput(f"the instance has the parameters {given}; the statement has {expected}")


def region_assumptions(region: Region, where: Sequence[Comparison], point: Mapping[str, Fraction]) -> list[Assumption]:
    """That a point belongs to a region and satisfies conditions besides, decided in exact arithmetic."""
    found = []
    for parameter in region.parameters:
        if parameter.integer or parameter.whole:
            met = parameter.contains(point[parameter.name], point)
            found.append(Assumption(f"{parameter}: {point[parameter.name]}", met, "exact arithmetic"))
        else:
            found.append(assume("region", str(parameter), **point))
    return found + [assume("condition", str(comparison), **point) for comparison in where]


def _column(values: Sequence[Fraction], number: Any) -> Any:
    made = np.empty((len(values), 1), dtype=float if number is float else object)
    made[:, 0] = [number(v) for v in values]
    return made
