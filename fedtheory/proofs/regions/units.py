"""Units of the quantities of a statement: numbers that carry them, and the equations that make unlike ones equal or refuse them.

Points have the unit *length* and objectives the unit *value*, and nothing relates the two, so that a gradient is value/length, L is
value/length**2 and a step size length**2/value. Units of other quantities are unknowns until an expression tells them. A text that is evaluated
on numbers of any kind (expressions, lemmas, rounds of methods) is evaluated on `Quantity`: products multiply units, sums and comparisons make them
equal, a plain number has none, and zero has every unit.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.expressions import Expression, number

LENGTH, VALUE = "length", "value"
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
#: the largest expression that a message shows, by its leaves and operations
MOST_SHOWN = 60


class UnlikeUnits(InvalidInput):
    """Quantities of unlike units are added or compared."""


@dataclass(frozen=True)
class Unit:
    """A product of powers of units by name; no power is zero.

    Examples
    --------
    >>> print(Unit.of("value") / Unit.of("length") ** 2, "and", Unit())
    value/length**2 and none
    """

    powers: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def of(cls, name: str) -> Unit:
        """The unit of this name."""
        return cls(((name, Fraction(1)),))

    @classmethod
    def collect(cls, powers: Iterable[tuple[str, Fraction]]) -> Unit:
        """The product of powers, a name of which may occur more than once."""
        total: dict[str, Fraction] = {}
        for name, power in powers:
            total[name] = total.get(name, Fraction(0)) + power
        return cls(tuple(sorted((name, power) for name, power in total.items() if power)))

    def __mul__(self, other: Unit) -> Unit:
        return Unit.collect((*self.powers, *other.powers))

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __pow__(self, power: int | Fraction) -> Unit:
        return Unit.collect((name, own * Fraction(power)) for name, own in self.powers)

    def __str__(self) -> str:
        above = "*".join(_show_power(n, p) for n, p in reversed(self.powers) if p > 0)
        below = [_show_power(n, -p) for n, p in reversed(self.powers) if p < 0]
        if not below:
            return above or "none"
        under = below[0] if len(below) == 1 else f"({'*'.join(below)})"
        return f"{above or 1}/{under}"


def _show_power(name: str, power: Fraction) -> str:
    if power == 1:
        return name
    return f"{name}**{power}" if power.denominator == 1 else f"{name}**({power})"


NONE, OF_POINTS, OF_VALUES = Unit(), Unit.of(LENGTH), Unit.of(VALUE)
OF_GRADIENTS, OF_CURVATURES = OF_VALUES / OF_POINTS, OF_VALUES / OF_POINTS**2


class UnitSystem:
    """Unknown units, and what equations have told of them.

    ``lenient``: where unlike units meet, the numbers are taken to be in units in which they are alike, as a text with L = 1 has them; how numbers
    came about is not kept.
    """

    def __init__(self) -> None:
        self.lenient = False
        self.known = {LENGTH, VALUE}
        self._told: dict[str, Unit] = {}
        self._named = 0

    def quantity(self, name: str, value: Any, unit: Unit | None = None) -> Quantity:
        """A number of a name, whose unit is as yet unknown where none is given."""
        self._named += 1
        own = Unit.of(f"[{name}, {self._named}]") if unit is None else unit
        return Quantity(value, own, self, Expression("name", value=name))

    def find(self, unit: Unit) -> Unit:
        """The unit in those that are known, and unknowns of which nothing is told."""
        return Unit.collect(
            (name, power * own)
            for given, power in unit.powers
            for name, own in (self._told[given].powers if given in self._told else ((given, Fraction(1)),))
        )

    def is_told(self, unit: Unit) -> bool:
        """Whether the unit is known."""
        return all(name in self.known for name, _ in self.find(unit).powers)

    def equate(self, first: Unit, second: Unit) -> bool:
        """Make two units equal by telling an unknown in them; False where they are not and there is none."""
        rest = self.find(first / second)
        unknown = [name for name, _ in rest.powers if name not in self.known]
        if unknown:
            self._tell(unknown[-1], rest)
        return bool(unknown) or not rest.powers

    def forget(self, unit: Unit) -> None:
        """Take units in which this one is one, as where a plain number stands for such a quantity."""
        rest = self.find(unit)
        if rest.powers:
            names = [name for name, _ in rest.powers]
            unknown = [name for name in names if name not in self.known]
            self._tell(unknown[-1] if unknown else names[-1], rest)

    def settle(self) -> None:
        """Take units that are still unknown as free of each other: from now on nothing is told of them."""
        told = {name for unit in self._told.values() for name, _ in unit.powers}
        self.known |= told

    def _tell(self, name: str, one: Unit) -> None:
        """Solve ``one`` = 1 for a name that occurs in it."""
        power = dict(one.powers)[name]
        others = Unit(tuple(pair for pair in one.powers if pair[0] != name))
        self._told[name] = others ** (-1 / power)
        self.known.discard(name)
        self._told = {given: self.find(unit) for given, unit in self._told.items()}


class Quantity:
    """A number with a unit; ``text`` is how it came about, for messages.

    Examples
    --------
    >>> units = UnitSystem()
    >>> L, R = units.quantity("L", 2, OF_CURVATURES), units.quantity("R", 3, OF_POINTS)
    >>> print(units.find((L * R**2).unit))
    value
    >>> L * R + 1
    Traceback (most recent call last):
    ...
    fedtheory.proofs.regions.units.UnlikeUnits: 'L*R + 1' puts unlike units together: L*R is value/length, 1 has none
    """

    __slots__ = ("system", "text", "unit", "value")
    finite = True  #: as hyper-parameters and constants of a class have to be

    def __init__(self, value: Any, unit: Unit, system: UnitSystem, text: Expression | None = None) -> None:
        self.value, self.unit, self.system, self.text = value, unit, system, text

    def _made(self, value: Any, unit: Unit, kind: str, *parts: Any) -> Quantity:
        texts = () if self.system.lenient else tuple(map(_text_of, parts))
        text = Expression(kind, texts) if texts and None not in texts else None  # type: ignore[arg-type]
        return Quantity(value, unit, self.system, text)

    def _sum(self, sign: str, first: Any, second: Any) -> Any:
        """``first`` plus or minus ``second``, one of which is this one."""
        if not (_is_number(first) and _is_number(second)):
            return NotImplemented
        if not isinstance(second, Quantity) and second == 0:
            return first
        if not isinstance(first, Quantity) and first == 0:
            return second if sign == "+" else -second
        make_alike(first, sign, second)
        value = _value_of(first) + _value_of(second) if sign == "+" else _value_of(first) - _value_of(second)
        return self._made(value, self.unit, sign, first, second)

    def __add__(self, other: Any) -> Any:
        return self._sum("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._sum("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._sum("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._sum("-", other, self)

    def __neg__(self) -> Quantity:
        return self._made(-self.value, self.unit, "negative", self)

    def __pos__(self) -> Quantity:
        return self

    def __mul__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        if not isinstance(other, Quantity) and other == 0:
            return Fraction(0)
        if other is self:
            return self**2
        if not isinstance(other, Quantity) and other == 1:
            return self
        return self._made(self.value * _value_of(other), self.unit * unit_of(other), "*", self, other)

    def __rmul__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        if other in (0, 1):
            return self if other else Fraction(0)
        return self._made(other * self.value, self.unit, "*", other, self)

    def __truediv__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        if not isinstance(other, Quantity) and other == 1:
            return self
        return self._made(_exact(self.value) / _value_of(other), self.unit / unit_of(other), "/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        return Fraction(0) if other == 0 else self._made(_exact(other) / self.value, self.unit**-1, "/", other, self)

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Quantity):
            power = power.as_exponent()
        if not isinstance(power, int | float | Fraction):
            return NotImplemented
        return self._made(_exact(self.value) ** power, self.unit ** Fraction(power), "**", self, power)

    def __rpow__(self, base: Any) -> Any:
        return _exact(base) ** self.as_exponent() if _is_number(base) else NotImplemented

    def as_exponent(self) -> Any:
        """The number, which must have no unit.

        Raises
        ------
        UnlikeUnits
            It has one.
        """
        if not self.system.equate(self.unit, NONE):
            if not self.system.lenient:
                raise UnlikeUnits(
                    f"the exponent {_show(self)!r} is {self.system.find(self.unit)}, and an exponent has no unit"
                )
            self.system.forget(self.unit)
        return self.value

    def sqrt(self) -> Quantity:
        """The square root; NumPy asks for it."""
        return Quantity(float(self.value) ** 0.5, self.unit ** Fraction(1, 2), self.system)

    def __abs__(self) -> Quantity:
        return Quantity(abs(self.value), self.unit, self.system, self.text)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == _value_of(other))

    def _compare(self, sign: str, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        if isinstance(other, Quantity) or other != 0:
            make_alike(self, sign, other)
        return bool(_COMPARE[sign](self.value, _value_of(other)))

    def __lt__(self, other: Any) -> Any:
        return self._compare("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compare(">=", other)

    def __repr__(self) -> str:
        return f"{_show(self)} ({self.system.find(self.unit)})"


def read_unit(text: str) -> Unit:
    """A unit such as ``value/length**2``, or 1.

    Raises
    ------
    InvalidInput
        It is something else.
    """
    system = UnitSystem()
    bases = {name: system.quantity(name, Fraction(1), Unit.of(name)) for name in (LENGTH, VALUE)}
    found = Expression.parse(text).at(bases)
    if found != 1:
        raise InvalidInput(f"a unit is a product of powers of {LENGTH} and {VALUE}, or 1; got {text!r}")
    return unit_of(found)


def find_unit(text: str, **units: str) -> Unit:
    """The unit of a formula whose names have these units.

    Raises
    ------
    UnlikeUnits
        It adds or compares quantities of unlike units; the message has both.

    Examples
    --------
    >>> print(find_unit("(1 + L*eta)/eta", L="value/length**2", eta="length**2/value"))
    value/length**2
    >>> find_unit("L**2*eta + L/2 + 1", L="value/length**2", eta="length**2/value")
    Traceback (most recent call last):
    ...
    fedtheory.proofs.regions.units.UnlikeUnits: 'L**2*eta + L/2 + 1' puts unlike units together: L**2*eta + L/2 is value/length**2, 1 has none
    """
    system = UnitSystem()
    values = {name: system.quantity(name, Fraction(k, 7), read_unit(u)) for k, (name, u) in enumerate(units.items(), 8)}
    return system.find(unit_of(Expression.parse(text).at(values)))


def make_alike(first: Any, sign: str, second: Any) -> None:
    """Make the units of two numbers equal, one of which is a quantity.

    Raises
    ------
    UnlikeUnits
        They are not; the message has both.
    """
    system = (first if isinstance(first, Quantity) else second).system
    if system.equate(unit_of(first), unit_of(second)):
        return
    if system.lenient:
        system.forget(unit_of(first) / unit_of(second))
        return
    shown = f"{_show(first)} {sign} {_show(second)}"
    raise UnlikeUnits(f"{shown!r} puts unlike units together: {_tell(first, system)}, {_tell(second, system)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Quantity | np.generic | int | float | Fraction)


def _value_of(value: Any) -> Any:
    return value.value if isinstance(value, Quantity) else value


def unit_of(value: Any) -> Unit:
    """The unit of a number; a plain one has none."""
    return value.unit if isinstance(value, Quantity) else NONE


def _exact(value: Any) -> Any:
    return Fraction(value) if isinstance(value, int) else value


def _text_of(value: Any) -> Expression | None:
    return (
        value.text
        if isinstance(value, Quantity)
        else number(Fraction(float(value) if isinstance(value, np.generic) else value))
    )


def _show(value: Any) -> str:
    """How a number came about, where that can be said in a line."""
    text = _text_of(value)
    if text is None or _count(text) > MOST_SHOWN:
        return "an expression"
    return str(text)


def _count(text: Expression) -> int:
    """Its nodes, up to a little more than are shown."""
    total, waiting = 0, [text]
    while waiting and total <= MOST_SHOWN:
        total += 1
        waiting += waiting.pop().parts
    return total


def _tell(value: Any, system: UnitSystem) -> str:
    unit = system.find(unit_of(value))
    return f"{_show(value)} {f'is {unit}' if unit.powers else 'has none'}"
