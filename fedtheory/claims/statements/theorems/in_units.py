"""Units of what a theorem says: its quantities on numbers that carry units, and what its claims and hypotheses put together.

Fields of a listed method have the units that its own rounds tell; states that a function plays are played in a world whose numbers have units.
Numbers of a sequence have one unit, whatever their place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.states import MethodStates, PlayedStates, outcomes_of
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.unit_reading import CLASS_UNITS, UnitReading, find_unlike_units
from fedtheory.claims.statements.worlds import Concrete, FunctionOf, UnitWorld
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.regions.units import OF_CURVATURES, OF_GRADIENTS, OF_POINTS, OF_VALUES, Quantity, make_alike


def tell_unlike_units(theorem: Theorem) -> str:
    """What a theorem puts together that has unlike units, in words; "" where there is nothing, or it cannot be followed on such numbers."""
    return find_unlike_units(theorem.all_parameters, theorem.units, lambda reading: _read(reading, theorem))


def _read(reading: UnitReading, theorem: Theorem) -> None:
    known = _known(reading, theorem)
    quantities: dict[str, Any] = {}
    for name, text in theorem.quantities.items():
        values = {**reading.values, **known}
        quantities[name] = evaluate_quantity(text, _UnitSpace(), values, theorem.formulas)

    def lookup(name: str, k: int) -> Any:
        found = quantities.get(name)
        if found is None:
            return reading.system.quantity(f"[{name}]", Fraction(3 + k, 2))
        return reading.named(f"{name}[{k}]", found)

    rounds = {name: Fraction(least + 2) for name, least in theorem.rounds.items()}
    sides = Sides({**reading.values, **rounds}, lookup, theorem.formulas)
    for sentence in (*theorem.hypotheses.values(), *theorem.sentences):
        _require_alike(sides, sentence)
    reading.read_ranges(())


def _require_alike(sides: Sides, sentence: Sentence) -> None:
    if sentence.exists is not None:
        k = sides.value(sentence.exists.low)
        sides = Sides({**sides.numbers, sentence.exists.variable: k}, sides.lookup, sides.where)
    left, right = sides.value(sentence.left), sides.value(sentence.right)
    plain = [value for value in (left, right) if not isinstance(value, Quantity)]
    if len(plain) < 2 and not any(value == 0 for value in plain):
        make_alike(left, sentence.sign, right)


def _known(reading: UnitReading, theorem: Theorem) -> Mapping[str, Any]:
    """What names in quantities stand for."""
    if isinstance(theorem.states, MethodStates):
        for name, text in theorem.states.constants.items():
            reading.stand_for(f"{name} =", text, OF_CURVATURES, f"{name} of the class")
        if theorem.states.sigma is not None:
            reading.stand_for("sigma =", theorem.states.sigma, CLASS_UNITS["sigma"], "sigma of the class")
        fields = reading.read_method(theorem.states.named_method)
        function = _FunctionInUnits(reading)
        return {**fields, "x_star": reading.system.quantity("x_star", 0.2, OF_POINTS), "f": function, "f_i": function}
    if isinstance(theorem.states, PlayedStates):
        world = UnitWorld(reading.system)
        ((_, state), *_) = outcomes_of(theorem.states.play(world, SimpleNamespace(**reading.values), 1)[0])  # type: ignore[arg-type]
        functions = {f.name: _WorldFunctionInUnits(world, f) for f in world.functions}
        held = {name: functions[v.name] if isinstance(v, FunctionOf) else v for name, v in vars(state).items()}
        return {**functions, **held}
    return {}


class _UnitSpace:
    """Numbers mean nothing: products and averages are those of one coordinate of one client."""

    def dot(self, u: Any, v: Any) -> Any:
        return u.dot(v) if isinstance(u, Concrete) else u * v

    def mean(self, number: Any) -> Any:
        return number

    def bar(self, u: Any) -> Any:
        return u

    def is_of_each(self, u: Any) -> bool:
        return False


@dataclass(frozen=True)
class _FunctionInUnits:
    """A function of a class, for a quantity."""

    reading: UnitReading

    def at(self, x: Any) -> tuple[Any, Any]:
        if isinstance(x, Quantity):
            self.reading.make(x, OF_POINTS)
        return tuple(
            self.reading.system.quantity(name, 0.7, unit) for name, unit in (("slope", OF_GRADIENTS), ("f", OF_VALUES))
        )  # type: ignore[return-value]

    def of_each(self, x: Any) -> bool:
        return False


@dataclass(frozen=True)
class _WorldFunctionInUnits:
    world: UnitWorld
    function: FunctionOf

    def at(self, x: Any) -> tuple[Any, Any]:
        return self.world.at(self.function, x, f"at {len(self.world.value_names)}")

    def of_each(self, x: Any) -> bool:
        return False
