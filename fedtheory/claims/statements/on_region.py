"""What statements have in common whose texts speak of the parameters of a region."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, cast

from fedtheory.claims.statements.named_methods import NamedMethod
from fedtheory.claims.statements.unit_reading import UnitReading, find_unlike_units
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.proofs.regions.expressions import Comparison, Expression
from fedtheory.proofs.regions.region import Region

#: simple points of a region that are looked at for one that satisfies conditions, and how far points are spread at which a statement is built
SEEN_POINTS, SPREAD = 49, (Fraction(1, 20), Fraction(20))


class OnRegion:
    """Reads the fields ``region`` and ``where`` of a statement, texts or a region that has been read, and ``units`` (`unit_reading`)."""

    region: str | Region
    where: tuple[str, ...]
    units: str

    @cached_property
    def parameters(self) -> Region:
        """The region."""
        return Region.parse(self.region)

    @cached_property
    def conditions(self) -> tuple[Comparison, ...]:
        """What parameters satisfy besides their ranges."""
        return tuple(Comparison.parse(text) for text in self.where)

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """Its methods, by the field that has their options."""
        raise NotImplementedError

    @property
    def some_point(self) -> Mapping[str, Fraction]:
        """A point of the region."""
        return self.parameters.simple_points(1)[0]

    def with_options(self, changed: Mapping[str, str]) -> Self:
        """The same with other options of its methods."""
        found: Self = replace(cast("Any", self), **changed)
        return found

    @cached_property
    def exact_constants(self) -> Mapping[str, Fraction]:
        """The named constants as fractions, where there are any."""
        return {}

    @cached_property
    def unlike_units(self) -> str:
        """What the statement puts together that has unlike units; "" where there is nothing."""
        return find_unlike_units(self.parameters, self.units, self._read_units, self.exact_constants)

    def _read_units(self, reading: UnitReading) -> None:
        """Evaluate the statement's texts on numbers with units."""
        raise NotImplementedError

    def require_sense(self, build: Callable[[Mapping[str, Fraction]], object]) -> Mapping[str, Fraction]:
        """`require_sense` on its region and conditions."""
        return require_sense(self.parameters, self.conditions, build)

    def require_parameters(self, what: str, text: Expression | Comparison, *others: str) -> None:
        """Refuse a text that speaks of something else than parameters, and the other names."""
        strange = sorted(text.names - {*self.parameters.names, *others})
        if strange:
            known = ", ".join(self.parameters.names) or "none"
            raise InvalidInput(f"{strange[0]!r} in {what!r} is no parameter of the region ({known})")


def show_values(point: Mapping[str, Fraction]) -> str:
    """A point in words."""
    return ", ".join(f"{name} = {value}" for name, value in point.items()) or "the instance"


def require_sense(
    region: Region, conditions: Sequence[Comparison], build: Callable[[Mapping[str, Fraction]], object]
) -> Mapping[str, Fraction]:
    """Build a statement at some points inside of its region, so that its author is told of mistakes before anything is computed; the first of them.

    Raises
    ------
    InvalidInput
        No point satisfies the conditions, or at a point a part is refused, such as a step size that is negative there; or at every point there is a
        division by zero.
    """

    def admitted(points: Sequence[Mapping[str, Fraction]]) -> list[Mapping[str, Fraction]]:
        return [p for p in points if region.inside(p) and all(condition.holds(p) for condition in conditions)]

    seen = admitted(region.simple_points(SEEN_POINTS)) or admitted(region.corners())
    if not seen:
        raise InvalidInput(
            f"no point of the region {str(region)!r} was found that satisfies {', '.join(map(str, conditions))}, so that anything would be true "
            "there; conditions that belong together go into the region, as in '0 < mu < L'"
        )
    sound, hole = list[Mapping[str, Fraction]](), Exception()
    for point in [*seen[:1], *admitted(_spread(region))]:
        try:
            build(point)
        except (InvalidInput, ZeroDivisionError) as error:
            if not any(isinstance(e, ZeroDivisionError) for e in (error, error.__context__)):
                raise InvalidInput(f"at {show_values(point)}: {error}") from error
            hole = error  # a formula may have some
            continue
        except (FedtheoryError, ArithmeticError):
            pass
        sound.append(point)
    if not sound:
        raise InvalidInput(f"at {show_values(seen[0])}, and at every other point that was tried: {hole}")
    return sound[0]


def no_special_numbers(names: Iterable[str]) -> dict[str, Fraction]:
    """Numbers in the place of what is not known yet, with which a text is evaluated to see whether that can be done."""
    return {name: Fraction(8 + k, 7) for k, name in enumerate(names)}


def _spread(region: Region) -> list[Mapping[str, Fraction]]:
    """Points inside in which one parameter is small or large, for the first and the last choice of whole numbers."""
    cases = list(region.cases())
    found: list[Mapping[str, Fraction]] = []
    for fixed, case in (cases[0], cases[-1])[: len(cases)]:
        middle = [Fraction(1)] * len(case.parameters)
        changed = [[*middle[:k], t, *middle[k + 1 :]] for k in range(len(middle)) for t in SPREAD]
        found += [{**fixed, **case.point(ts)} for ts in (middle, *changed)]
    return found
