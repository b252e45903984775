"""Small exact instances that statements are tried on, and what the replay of one is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.claim import Assumption
from fedtheory.claims.parts import assume
from fedtheory.claims.statements.runs import SeparableQuadratics
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.expressions import Comparison
from fedtheory.proofs.regions.region import Region

#: curvatures of two or three clients on the line, centres and start, the simplest first
SMALL_SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((1, 1), (0, 0), 1),
    ((1, 1), (0, 1), 0),
    ((1, 2), (0, 0), 1),
    ((1, 2), (0, 1), 0),
    ((1, 3), (1, -1), 2),
    ((1, 2, 3), (0, 1, -1), 1),
)


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
            pairs = given.items() if isinstance(given, Mapping) else (text.split("=") for text in given)
            parameters = {str(name).strip(): Fraction(str(value).strip()) for name, value in pairs}
            found = cls(curvature, centre, Fraction(str(data["start"])), parameters)
        except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise InvalidInput(
                f"an instance has 'curvature', 'centre', 'start' and 'parameters' in numbers ({error})"
            ) from error
        if len(curvature) != len(centre) or not curvature:
            raise InvalidInput(f"{len(curvature)} curvatures and {len(centre)} centres; expected one of each a client")
        return found


def simple_instances(
    region: Region, where: Sequence[Comparison], limits: Any, points: int = 6
) -> Iterator[LineQuadratics]:
    """Instances with small numbers at simple points of a region, the simplest first.

    ``limits`` maps a point to the lowest and highest curvature that are allowed there, None for any positive one.
    """
    found = [p for p in region.simple_points(points) if all(comparison.holds(p) for comparison in where)]
    for curvature, centre, start in SMALL_SHAPES:
        for point in found:
            low, high = limits(point)
            if high is None:
                scaled = tuple(Fraction(a) for a in curvature)
            else:  # the first client is the flattest, the last the steepest
                spread = max(curvature) - 1
                scaled = tuple(high if not spread else low + (high - low) * (a - 1) / spread for a in curvature)
            yield LineQuadratics(scaled, tuple(Fraction(c) for c in centre), Fraction(start), point)


def region_assumptions(region: Region, where: Sequence[Comparison], point: Mapping[str, Fraction]) -> list[Assumption]:
    """That a point belongs to a region and satisfies conditions besides, decided in exact arithmetic."""
    found = []
    for parameter in region.parameters:
        if parameter.name not in point:
            raise InvalidInput(
                f"the instance has no parameter {parameter.name!r}; the statement has {', '.join(region.names)}"
            )
        if parameter.integer:
            met = parameter.contains(point[parameter.name], point)
            found.append(Assumption(f"{parameter}: {point[parameter.name]}", met, "exact arithmetic"))
        else:
            found.append(assume("region", str(parameter), **point))
    return found + [assume("condition", str(comparison), **point) for comparison in where]


def _column(values: Sequence[Fraction], number: Any) -> Any:
    made = np.empty((len(values), 1), dtype=float if number is float else object)
    made[:, 0] = [number(v) for v in values]
    return made
