"""Units of a statement's quantities, read off its own texts: its parameters as numbers that carry units, and rounds of its method on such numbers.

A method tells the units of its options and fields by what a round does with them, so that they are declared nowhere. A plain number in the place
of a quantity, such as L = 1, a step size of 1/10 or the end of a range, says in which units the statement is. What is left is free, and texts that
put unlike units together are refused.

``units`` of a statement says more: ``"value = 1"`` that f is in units of its own, ``"c = value/length"`` what a parameter or constant is.
`AS_PRINTED` is for a statement of a paper that puts unlike units together, which its verdict then tells; `UNCHECKED` for one without units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, get_args, get_type_hints

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.algorithms.listing import Listed
from fedtheory.claims.statements.named_methods import NamedMethod, call_with_parameters, read_settings
from fedtheory.core.arrays import Array
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.hyperparameters import momentum_in_range, probability, share
from fedtheory.core.problem import Problem
from fedtheory.core.states import arrays_of
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.parameters.equivalence import for_all_coins
from fedtheory.proofs.regions.expressions import Comparison, Expression
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import (
    LENGTH,
    NONE,
    OF_CURVATURES,
    OF_GRADIENTS,
    OF_POINTS,
    OF_VALUES,
    VALUE,
    Quantity,
    Unit,
    UnitSystem,
    UnlikeUnits,
    make_alike,
    read_unit,
    unit_of,
)
from fedtheory.proofs.spectrum import require_traceable

AS_PRINTED, UNCHECKED = "as printed", "unchecked"
#: rounds that are played to see what a method does with its numbers, and points of the region at which that is tried
ROUNDS, TRIED_POINTS = 2, 5
#: units of what a class of functions has, and of measures
CLASS_UNITS: Mapping[str, Unit] = {
    **dict.fromkeys(("L", "mu", "similarity"), OF_CURVATURES),
    **dict.fromkeys(("zeta", "G", "dissimilarity", "sigma"), OF_GRADIENTS),
    "D": NONE,
}
#: of what an instance certifies (`fedtheory.core.problem.CONSTANTS`)
CONSTANT_UNITS: Mapping[str, Unit] = {
    **CLASS_UNITS,
    **dict.fromkeys(("L_avg", "mu_avg", "L_sample"), OF_CURVATURES),
    **dict.fromkeys(("G_centred", "B"), OF_GRADIENTS),
}
MEASURE_UNITS: Mapping[str, Unit] = {
    "squared_distance": OF_POINTS**2,
    "distance": OF_POINTS**2,
    "gap": OF_VALUES,
    **dict.fromkeys(("stationarity", "sum_stationarity", "min_stationarity"), OF_GRADIENTS**2),
}
#: what a text does that cannot be followed on numbers with units, so that nothing is told
_NOT_FOLLOWED = (FedtheoryError, ArithmeticError, TypeError, AttributeError, ValueError, LookupError)


class UnitReading:
    """A statement's texts on numbers with units, at one point of its region.

    Parameters
    ----------
    parameters : Region
    point : its parameters in fractions; whole numbers have no unit
    constants : named constants in fractions, which have none where ``given`` does not say so
    given : "name = unit" with commas between
    ones : units in which the statement is

    Attributes
    ----------
    numbers : units of what numbers are compared with, in ranges and conditions
    counts : what parameters count, by name: they stand for no quantity with a unit
    last_round : the states before and after the last round that was played of a method, None if none was
    """

    last_round: tuple[Any, Any] | None = None

    def __init__(
        self,
        parameters: Region,
        point: Mapping[str, Fraction],
        constants: Mapping[str, Fraction],
        given: str,
        ones: Sequence[Unit] = (),
    ) -> None:
        self.parameters, self.point, self.system = parameters, point, UnitSystem()
        self.counts: dict[str, str] = {}
        for unit in ones:
            self.system.forget(unit)
        self.values: dict[str, Any] = {**constants}
        for p in parameters.parameters:
            self.values[p.name] = point[p.name] if p.integer else self.system.quantity(p.name, point[p.name])
        ends = [(p, end) for p in parameters.real for one in (p.low, p.high) if one for end, _ in one.branches()]
        self.ends = [(p.name, end) for p, end in ends if end.names]
        self.numbers: list[Unit] = [self.values[p.name].unit for p, end in ends if not end.names and end.at({}) != 0]
        for name, text in read_settings(given).items():
            self._read_given(name, read_unit(text))

    def _read_given(self, name: str, unit: Unit) -> None:
        if name in (LENGTH, VALUE):
            self.system.forget(Unit.of(name) / unit)
        elif name not in self.values:
            known = ", ".join([LENGTH, VALUE, *self.values])
            raise InvalidInput(f"units are given of {known}; got {name!r}")
        elif isinstance(held := self.values[name], Quantity):
            self.system.equate(held.unit, unit)
        else:
            self.values[name] = self.system.quantity(name, held, unit)

    def require(self, what: str, text: Expression, unit: Unit, expected: str, hint: str = "") -> None:
        """Make the unit of a text that of what it stands for.

        Raises
        ------
        UnlikeUnits
            It is another one.
        """
        found = text.at(self.values)
        if found == 0 or self.system.equate(own := unit_of(found), unit):
            return
        shown, wanted = (_show(self.system.find(u)) for u in (own, unit))
        raise UnlikeUnits(f"{what} {str(text)!r} {shown}, and {expected} {wanted}{hint}")

    def stand_for(self, what: str, text: Expression, unit: Unit, expected: str) -> None:
        """The same, where a plain number says in which units the statement is; one that counts something says nothing."""
        if not isinstance(found := text.at(self.values), Quantity):
            count = self.counts.get(str(text))
            if count is not None and self.system.find(unit).powers:
                raise UnlikeUnits(
                    f"{str(text)!r} is {count}, which has no unit, and {expected} {_show(self.system.find(unit))}: take two names for them"
                )
            if found != 0:
                self.system.forget(unit)
            return
        self.require(what, text, unit, expected)

    def tell(self) -> str:
        """The units of the parameters that are told, in parentheses."""
        held = {
            name: self.system.find(value.unit) for name, value in self.values.items() if isinstance(value, Quantity)
        }
        told = [
            f"{name} {_show(unit)}"
            for name, unit in held.items()
            if all(part in self.system.known for part, _ in unit.powers)
        ]
        return f" ({', '.join(told)})" if told else ""

    def named(self, name: str, value: Any) -> Any:
        """A number that came out of a computation, by a name of its own; of an array its first entry."""
        entry = np.ravel(value)[0] if isinstance(value, np.ndarray) else value
        return self.system.quantity(name, entry.value, entry.unit) if isinstance(entry, Quantity) else entry

    def read_ranges(self, conditions: Sequence[Comparison]) -> None:
        """Ranges and conditions; then units that nothing has told.

        Raises
        ------
        UnlikeUnits
            An end has another unit than its parameter, or two sides of a condition differ.
        """
        for name, end in self.ends:
            if isinstance(end.at(self.values), Quantity):
                self.require(f"the end of the range of {name},", end, self.values[name].unit, name)
        for condition in conditions:
            sides = [(text, text.at(self.values)) for text in condition.terms]
            for (_, left), (text, right) in zip(sides, sides[1:], strict=False):
                if isinstance(left, Quantity) and isinstance(right, Quantity):
                    self.require(f"in {str(condition)!r}", text, left.unit, "the other side")
                elif left != 0 and right != 0:
                    self.numbers += [unit_of(left), unit_of(right)]
        for unit in self.numbers:
            if not self.system.is_told(unit):
                self.system.forget(unit)
        self.system.settle()

    def read_class(self, make: Callable[..., FunctionClass]) -> None:
        """What a function of parameters makes of them says of its constants, where it can be called on numbers with units."""
        self.system.lenient = True
        try:
            made = call_with_parameters(make, self.values)
        except _NOT_FOLLOWED:
            return
        finally:
            self.system.lenient = False
        held = {name: getattr(made, name) for name in CLASS_UNITS if hasattr(made, name)}
        for name, value in (held | dict(zip("GD", made.bgd or (), strict=False))).items():
            if isinstance(value, Quantity):
                self.system.equate(value.unit, CLASS_UNITS[name])
            elif value:
                self.system.forget(CLASS_UNITS[name])

    def make(self, value: Any, unit: Unit) -> None:
        """Say what a number in an instance is; a plain one says in which units the instance is."""
        if not self.system.equate(unit_of(value), unit):
            self.system.forget(unit_of(value) / unit)

    def read_method(self, named: NamedMethod, problem: Any = None, x0: Any = None) -> dict[str, Any]:
        """A method's fields by name, each an entry with its unit, from rounds on quadratics with units (or the given problem).

        Its options are told, too. Nothing is told of a method that cannot be played on such numbers, or decides on values.

        Raises
        ------
        UnlikeUnits
            The text of an option has another unit than the method takes it in.
        """
        if problem is None:
            problem, x0 = self.quadratics()
        taken: dict[str, Quantity] = {}
        fields: dict[str, Any] = {}
        self.system.lenient = True
        try:
            method = self._build(named, taken)
            require_traceable(method, "unit")
            self._collect(method.init(problem, x0), fields)
            for self.last_round in _play(method, problem, x0):
                self._collect(self.last_round[1], fields)
        except _NOT_FOLLOWED:
            pass
        finally:
            self.system.lenient = False
        self._tell_options(named, taken)
        return {name: self.named(name, entry) for name, entry in fields.items()}

    def quadratics(self) -> tuple[SeparableQuadratics, Any]:
        """Two clients on the line and a start."""
        curvatures = [self.system.quantity(f"a_{i}", i / 3, OF_CURVATURES) for i in (1, 2)]
        centres = [self.system.quantity(f"b_{i}", i / 7, OF_POINTS) for i in (1, -3)]
        start = self.system.quantity("x", 0.6, OF_POINTS)
        return SeparableQuadratics(_column(curvatures), _column(centres)), _column([start])

    def _build(self, named: NamedMethod, taken: dict[str, Quantity]) -> Algorithm:
        """The method on numbers with units; ``taken`` gets the options of a listed one, whose units the rounds will tell."""
        entry = named.entry
        if entry is None:
            return named.over(self.values)
        settings = {o.name: o.default for o in entry.options} | named.settings(self.point)
        shares = _without_units(entry)
        for option in (o for o in entry.options if o.kind is float and settings[o.name] is not None):
            value = settings[option.name]
            if option.name in shares:
                settings[option.name] = float(value)
            else:
                taken[option.name] = self.system.quantity(option.name, float(value))
        settings |= taken
        return entry.build(**settings)

    def _tell_options(self, named: NamedMethod, taken: Mapping[str, Quantity]) -> None:
        """A number for an option says in which units the statement is; then texts are compared with what the rounds have told."""
        texts = named.expressions
        for name, quantity in taken.items():
            if name not in texts:
                self.system.forget(quantity.unit if quantity.value else NONE)
            elif not texts[name].names & {p.name for p in self.parameters.real}:
                self.stand_for(f"the option {name} =", texts[name], quantity.unit, f"{named.method}'s {name}")
        for name, text in texts.items():
            unit = taken[name].unit if name in taken else NONE
            self.stand_for(f"the option {name} =", text, unit, f"{named.method}'s {name}")

    def _collect(self, state: State, fields: dict[str, Any]) -> None:
        """All entries of a field have one unit; zeros have every one."""
        for name, values in arrays_of(state).items():
            for entry in np.ravel(values):
                first = fields[name] = fields.get(name) or entry
                if entry and (isinstance(first, Quantity) or isinstance(entry, Quantity)):
                    make_alike(first, "==", entry)


def find_unlike_units(
    parameters: Region,
    given: str,
    read: Callable[[UnitReading], None],
    constants: Mapping[str, Fraction] | None = None,
) -> str:
    """What a statement puts together that has unlike units, in words; "" where there is nothing, or its texts cannot be followed.

    Parameters
    ----------
    read : evaluates the statement's texts on a reading
    """
    if given == UNCHECKED:
        return ""
    settings = "" if given == AS_PRINTED else given
    for point in parameters.simple_points(TRIED_POINTS)[:TRIED_POINTS]:
        found, reading = _read_at(UnitReading(parameters, point, constants or {}, settings), read)
        ones = [
            unit for unit in map(reading.system.find, reading.numbers) if unit.powers and reading.system.is_told(unit)
        ]
        if found and ones:  # the statement is in units in which these are one
            found, reading = _read_at(UnitReading(parameters, point, constants or {}, settings, ones), read)
        if found is not None:
            return found and f"{found}{reading.tell()}"
    return ""


def _read_at(reading: UnitReading, read: Callable[[UnitReading], None]) -> tuple[str | None, UnitReading]:
    """What is unlike at a point; None where the texts cannot be followed there, as where there is a division by zero."""
    try:
        read(reading)
    except UnlikeUnits as error:
        return str(error), reading
    except _NOT_FOLLOWED:
        return None, reading
    return "", reading


def require_units(found: str, given: str) -> None:
    """Refuse unlike units, and words on them that are out of place.

    Raises
    ------
    UnlikeUnits
        With what they are, and what can be said instead.
    """
    if given == AS_PRINTED and not found:
        raise InvalidInput(
            f"units = {AS_PRINTED!r} is for statements that put unlike units together, and none are seen here"
        )
    if found and given != AS_PRINTED:
        raise UnlikeUnits(
            f"{found}; a statement in units of its own says in which, as in units = 'value = 1', and one that is wrong in the paper "
            f"units = {AS_PRINTED!r}"
        )


def _play(method: Algorithm, problem: Problem, x0: Array) -> Iterator[tuple[Any, Any]]:
    """States before and after rounds of a method, for all outcomes of the coins of a round; it goes on from the last one."""
    state = method.init(problem, x0)
    for r in range(ROUNDS):
        before = state
        for _, state in for_all_coins(lambda key, at=before: method.round(problem, at, None, key), r):  # type: ignore[misc]
            yield before, state


def _without_units(entry: Listed) -> set[str]:
    """Options whose annotation says that they are shares."""
    hints = get_type_hints(entry.kind, include_extras=True)
    rules = {share, probability, momentum_in_range}
    marks = {
        name: {m for part in (h, *get_args(h)) for m in getattr(part, "__metadata__", ())} for name, h in hints.items()
    }
    return {name for name, found in marks.items() if found & rules}


def _show(unit: Unit) -> str:
    return f"is {unit}" if unit.powers else "has no unit"


def _column(values: Sequence[Any]) -> Any:
    made = np.empty((len(values), 1), dtype=object)
    made[:, 0] = values
    return made
