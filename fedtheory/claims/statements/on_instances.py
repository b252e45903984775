"""What statements about a method on an instance, or a family of instances with parameters, have in common."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.claim import Counterexample, Covered, Part, Reading, Replay
from fedtheory.claims.statements.instances import region_assumptions, require_parameters
from fedtheory.claims.statements.named_methods import Formula, NamedMethod, read_settings
from fedtheory.claims.statements.on_region import OnRegion, show_values
from fedtheory.claims.statements.unit_reading import UnitReading, require_units
from fedtheory.core.arrays import is_object
from fedtheory.core.errors import CannotTrace, FedtheoryError, InvalidInput
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import Key
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.recurrences import Recurrence, follow_field, play_any_round, to_fractions
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import NONE, OF_GRADIENTS, OF_POINTS
from fedtheory.proofs.spectrum import round_map

#: simple points of a region that are looked at, for each choice of its whole numbers, and in all
POINTS, MOST_POINTS = 8, 24
#: corners of a region, and points between them, that are looked at besides where that is done in fractions
CORNERS = 16

Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class InstanceStatement(OnRegion):
    """A method on an instance, from a start.

    Parameters
    ----------
    method : name of a listed method, or function of parameters to a method
    options : str
        Options of the listed method, as expressions in parameters.
    problem : function of parameters by name to a problem
        It is called with fractions (then its arrays should be object arrays, so that it is exact) and with floats.
    start : expression, or one for each coordinate
    region, where : the parameters, and comparisons that they satisfy besides
    name : str
    units : str
        As for `fedtheory.claims.Bound`.
    """

    method: str | Callable[..., Algorithm]
    options: str = ""
    _: KW_ONLY
    problem: Callable[..., Problem]
    start: Formula | tuple[Formula, ...] = 1
    region: str | Region = ""
    where: tuple[str, ...] = ()
    name: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        """Read every text once."""
        known = frozenset(self.parameters.names)
        texts = [*self.named_method.expressions.items(), *self._own_texts()]
        for what, expression in [*texts, *(("start", e) for e in read_point(self.start))]:
            self.require_parameters(what, expression)
        for comparison in self.conditions:
            self.require_parameters(str(comparison), comparison)
        takes = inspect.signature(self.problem).parameters
        asked = [name for name, p in takes.items() if name not in known and p.default is inspect.Parameter.empty]
        if asked:
            raise InvalidInput(f"the problem asks for {asked[0]!r}, which is no parameter of the region")
        require_units(self.unlike_units, self.units)
        self.require_sense(self._build)
        if not self.points:
            raise InvalidInput(f"no simple point of {self.region!r} satisfies {', '.join(self.where)}")

    def _build(self, point: Point) -> tuple[Algorithm, Any, Any]:
        """Method, problem and start at a point, in fractions where that can be; what is claimed there is evaluated."""
        for _, text in self._own_texts():
            text.at(point)
        try:
            return self.exact_instance(point)
        except CannotTrace:
            return self.float_instance(point)

    def _read_units(self, reading: UnitReading) -> None:
        reading.system.lenient = True  # numbers within the instance say in which units it is
        problem = self.problem_at(reading.values)
        x0 = self._start(problem.d, reading.values, Fraction)
        for entry in np.ravel(x0):
            reading.make(entry, OF_POINTS)
        for entry in np.ravel(problem.grad(x0[None, :])):
            reading.make(entry, OF_GRADIENTS)
        fields = reading.read_method(self.named_method, problem, x0[None, :])
        if not fields:
            raise CannotTrace("a round cannot be played on numbers with units")
        reading.read_ranges(self.conditions)
        self._read_own_units(reading, fields)

    def _read_own_units(self, reading: UnitReading, fields: Mapping[str, Any]) -> None:
        """The texts that only this kind has."""
        for name, text in self._own_texts():
            reading.require(f"{name} =", text, NONE, f"a {name}")

    def _own_texts(self) -> list[tuple[str, Expression]]:
        """Texts that only this kind of statement has."""
        return []

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """Its method, by the field that has its options."""
        return {"options": self.named_method}

    @cached_property
    def named_method(self) -> NamedMethod:
        """The method as a function of the parameters."""
        return NamedMethod(self.method, self.options)

    @cached_property
    def points(self) -> list[dict[str, Fraction]]:
        """Simple points of the region; all of them where it has whole numbers only, and not too many."""
        found = [p for p in self.parameters.simple_points(POINTS) if all(c.holds(p) for c in self.conditions)]
        step = max(1, -(-len(found) // MOST_POINTS))
        return found[::step]

    @cached_property
    def exact_points(self) -> list[dict[str, Fraction]]:
        """The simple points, then corners of the region, the ends of its parameters or near them."""
        corners = [p for p in self.parameters.corners(CORNERS) if all(c.holds(p) for c in self.conditions)]
        step = max(1, -(-len(corners) // MOST_POINTS))
        return self.points + [p for p in corners[::step] if p not in self.points]

    @property
    def is_whole(self) -> bool:
        """Whether the points are all that the region has."""
        return not self.parameters.real and self.parameters.count_cases() <= MOST_POINTS

    def scope(self, count: int) -> str:
        """What a proof at these points is narrower in."""
        return "" if self.is_whole else f"{count} points of {self.parameters}"

    def covered(self, points: Sequence[Point]) -> Covered:
        """What runs at these points cover."""
        return Covered(len(points), "points", self.is_whole and len(points) == len(self.points))

    def left_out(self) -> Iterator[Reading]:
        """Told: the first corner of the region at which the method is refused, as with a step of size 0."""
        for point in self.exact_points[len(self.points) :]:
            try:
                self.exact_instance(point)
            except CannotTrace:
                return
            except InvalidInput as reason:
                yield Reading(f"{self}: the region contains {show_values(point)}, which was not looked at: {reason}.")
                return

    def problem_at(self, point: Mapping[str, Any]) -> Any:
        """The instance at a point, from the parameters that it asks for."""
        return self.problem(
            **{name: point[name] for name in inspect.signature(self.problem).parameters if name in point}
        )

    def exact_instance(self, point: Mapping[str, Any]) -> tuple[Algorithm, Any, Any]:
        """Method, problem and start ``(d,)`` in fractions, or rational functions of the parameters.

        Raises
        ------
        CannotTrace
            The problem has arrays of floats.
        """
        problem = self.problem_at(point)
        if any(value.dtype.kind == "f" for value in _arrays(problem).values()):
            raise CannotTrace(f"{problem.name!r} is not in fractions; give object arrays of them for exact statements")
        method = self.named_method.at(point) if _are_fractions(point) else self.named_method.over(point)
        return method, problem, self._start(problem.d, point, Fraction)

    def float_instance(self, point: Point) -> tuple[Algorithm, Any, Any]:
        """The same in floats."""
        problem = problem_in_floats(self.problem_at(point))
        return self.named_method.over(point_in_floats(point), float), problem, self._start(problem.d, point, float)

    def _start(self, d: int, point: Mapping[str, Any], number: Any) -> Any:
        texts = read_point(self.start)
        if len(texts) not in (1, d):
            raise InvalidInput(f"the start has {len(texts)} coordinates; expected one for all, or {d}")
        values = [text.at(point) for text in texts * (d // len(texts))]
        made = np.empty(d, dtype=float if number is float else object)
        made[:] = [float(v) for v in values] if number is float else values
        return made

    def read_instance(self, instance: Mapping[str, Any]) -> dict[str, Fraction]:
        """The point of a stored instance.

        Raises
        ------
        InvalidInput
            It has no parameters, or other ones.
        """
        try:
            point = {name: Fraction(text) for name, text in read_settings(instance["parameters"]).items()}
        except (KeyError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise InvalidInput(f"an instance has 'parameters' such as 'a = 1/2, lr = 3' ({error})") from error
        require_parameters(self.parameters, point)
        return point

    def replay(self, instance: Mapping[str, Any]) -> Replay:
        """What is measured at a stored point against what is claimed, in floats and in fractions."""
        point = self.read_instance(instance)
        found = self._measured(point)
        return replace(found, assumptions=tuple(region_assumptions(self.parameters, self.conditions, point)))

    def _measured(self, point: Point) -> Replay:
        """The same, without what is assumed."""
        raise NotImplementedError

    def at_point(self, part: Part, point: Point) -> Part:
        """A failing part, with the point as a counterexample where its replay sees the violation in floats, too; the text says where it does not."""
        instance = store_point(point)
        try:
            seen = self.replay(instance)
            if seen.violated:
                return replace(part, counterexample=Counterexample(instance, seen))
            why = f"floats see {seen.measured!r} against {seen.bound!r}"
        except (FedtheoryError, ArithmeticError) as error:
            why = str(error)[:200]
        return replace(part, text=f"{part.text}; there is no file to replay, for {why}")

    def followed(self, point: Point, field: str = "x") -> Recurrence | None:
        """The recurrence of a field, exactly; None where the method cannot be followed so."""
        try:
            method, problem, x0 = self.exact_instance(point)
            return follow_field(method, problem, x0, field)
        except (FedtheoryError, ArithmeticError, TypeError, AttributeError):
            return None

    def why_in_floats(self, point: Point, field: str = "x") -> str:
        """Why a field was not followed exactly."""
        try:
            method, problem, x0 = self.exact_instance(point)
            follow_field(method, problem, x0, field)
            to_fractions(problem.solution())
        except (FedtheoryError, ArithmeticError, TypeError, AttributeError) as error:
            return str(error)[:200]
        return "exact arithmetic does not say it"

    def played_in_floats(self, point: Point, rounds: int, field: str = "x") -> NDArray[np.float64]:
        """A field, flat, at the start and after each round that the method itself plays in floats."""
        method, problem, x0 = self.float_instance(point)
        state = method.init(problem, x0[None, :])
        seen = [np.ravel(getattr(state, field))]
        for r in range(rounds):
            state = method.round(problem, state, None, Key(0, r))
            seen.append(np.ravel(getattr(state, field)))
        return np.asarray(seen, dtype=float)

    def recurrence_in_floats(self, point: Point, length: int) -> NDArray[np.float64]:
        """The recurrence p_0, ..., p_length = 1 of x's differences, fitted to rounds that the method itself plays in floats.

        Only its length is taken from the one in fractions; the equations are scaled, because differences shrink or grow.
        """
        apart = np.diff(self.played_in_floats(point, 2 * length + 1), axis=0)
        rows = np.concatenate([apart[k : k + length + 1].T for k in range(length + 1)])
        rows = rows[sizes > 0] / sizes[sizes > 0, None] if (sizes := np.abs(rows).max(axis=1)).any() else rows
        return np.append(np.linalg.lstsq(rows[:, :-1], -rows[:, -1])[0], 1.0)

    def for_all_parameters(self) -> Iterator[tuple[ParameterField, dict[str, Any], Any, Any, Any]]:
        """Where the state is one number x -> m x + v: m, v and the start as rational functions, for each choice of the whole numbers.

        Raises
        ------
        FedtheoryError, TypeError
            It is not, or the instance cannot be followed on rational functions.
        """
        for fixed, region in self.parameters.cases():
            field = ParameterField(region)
            values: dict[str, Any] = {**fixed, **field.parameters()}
            method, problem, x0 = self.exact_instance(values)
            found = round_map(method, problem, x0)
            if found.layout.size != 1:
                raise InvalidInput("the state is more than one number")
            play_any_round(method, problem, method.init(problem, x0[None, :]))  # which refuses rounds that differ
            one = field.one
            yield field, values, found.matrix[0, 0] + 0 * one, found.offset[0] + 0 * one, x0[0] + 0 * one

    def __str__(self) -> str:
        return self.name or str(self.named_method)


def read_point(value: Formula | tuple[Formula, ...]) -> list[Expression]:
    """Expressions of coordinates."""
    return [Expression.parse(v) for v in (value if isinstance(value, tuple) else (value,))]


def store_point(point: Point) -> dict[str, str]:
    """A point as a stored instance has it."""
    return {"parameters": ", ".join(f"{name} = {value}" for name, value in point.items())}


def point_in_floats(point: Point) -> dict[str, int | float]:
    """A point with floats, and whole numbers as they are."""
    return {name: int(v) if v.denominator == 1 else float(v) for name, v in point.items()}


def largest_root(polynomial: NDArray[np.float64]) -> float:
    """The largest modulus of a root of p_0 + p_1 t + ..."""
    return float(np.abs(np.roots(polynomial[::-1])).max(initial=0.0))


def fraction_between(low: float, high: float) -> Fraction:
    """A simple fraction in the middle half between two numbers, so that their rounding does not matter.

    Raises
    ------
    InvalidInput
        They are too close, or not in order.
    """
    middle, near = (low + high) / 2, (high - low) / 4
    for digits in range(1, 16):
        found = Fraction(middle).limit_denominator(10**digits)
        if abs(found - middle) < near:
            return found
    raise InvalidInput(f"there is no simple fraction between {low!r} and {high!r}")


def problem_in_floats(problem: Any) -> Any:
    """The same problem with floats in the place of fractions."""
    changed = {name: value.astype(float) for name, value in _arrays(problem).items() if is_object(value)}
    return dataclasses.replace(problem, **changed) if changed else problem


def _arrays(problem: Any) -> dict[str, Any]:
    if not dataclasses.is_dataclass(problem):
        return {}
    held = {entry.name: getattr(problem, entry.name) for entry in dataclasses.fields(problem)}
    return {name: value for name, value in held.items() if isinstance(value, np.ndarray)}


def _are_fractions(point: Mapping[str, Any]) -> bool:
    return all(isinstance(value, int | Fraction) for value in point.values())
