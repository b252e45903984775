"""Theorems about a method over a class of functions, as data: a bound after some rounds, and a potential that falls by a factor.

    Bound("gd", "lr = 1/L", region="0 < L, 0 < R, N in 1..4", functions="L",
          measure="gap", rounds="N", radius="R", claimed="L*R**2/(4*N+2)")

    Contraction("scaffnew", "lr, p", region="0 < mu < L, 0 < lr < 2/L, 0 < p <= 1", functions="L, mu",
                potential={"x_i": 1, "h_i": "(lr/p)**2"}, claimed="max((1-lr*mu)**2, (1-lr*L)**2, 1-p**2)")

All texts are expressions in the parameters of the region (`fedtheory.proofs.regions`), and all numbers are exact. ``name`` alone stands for
``name = name``. `fedtheory.claims.statements.judging.judge_statement` says what is known of a statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

from fedtheory.algorithms.base import Algorithm
from fedtheory.claims.statements.instances import LineQuadratics
from fedtheory.claims.statements.named_methods import (
    Formula,
    NamedMethod,
    ParameterPoint,
    call_with_parameters,
    read_settings,
    whole,
)
from fedtheory.claims.statements.on_region import OnRegion, show_values
from fedtheory.claims.statements.unit_reading import CLASS_UNITS, MEASURE_UNITS, UnitReading, require_units
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.exact import rational
from fedtheory.core.states import arrays_of
from fedtheory.proofs.every_n.program import state_program
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.function_class import FunctionClass, require_question
from fedtheory.proofs.measures import MeasureName, find_measure
from fedtheory.proofs.parameters.methods import sampling_at
from fedtheory.proofs.potentials.invariants import follow_errors
from fedtheory.proofs.potentials.smallest_rate import require_class_of_potentials
from fedtheory.proofs.refutations.asked import AskedBound, AskedDecrease
from fedtheory.proofs.regions.expressions import Expression
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.regions.units import NONE, OF_POINTS, OF_VALUES, Unit, unit_of

#: parts of a class of functions that are there or not
FLAGS = ("composite", "indicator")
#: clients with which a round is followed that is not followed for every number of them
SOME_CLIENTS = Sampling(3, 3)


@dataclass(frozen=True)
class MethodStatement(OnRegion):
    """What statements about a method over a class have in common; `Bound` and `Contraction` are the kinds there are.

    Parameters
    ----------
    method : name of a listed method, or function of parameters to a method
        A function is called with the parameters that its arguments are named after.
    options : str
        Options of the listed method: ``"lr = 1/L, steps = K"``.
    region : str or Region
        The parameters and their ranges, such as ``"0 < mu < L, N in 1..4"``.
    functions : str or function of parameters to a `FunctionClass`
        Its constants: ``"L, mu = -L, zeta"``; G and D are the pair ``bgd``; the words ``composite`` and ``indicator`` stand alone.
    claimed : expression
        The bound, or the factor.
    clients : str
        ``"n, s"``: s of n clients take part, in expectation; ``"n"`` or ``"n = 8"``: n clients, all of them; empty for every n >= 2, all of them.
        A parameter, such as ``n in 2..``, takes whole values only.
    where : comparisons that parameters satisfy besides, such as ``("s < n",)``
    constants : numbers by name
        They occur in ``claimed``, and it is asked how far each of them can be moved.
    name : str
    units : str
        Units of parameters and constants that do not follow, or in which the statement is (`fedtheory.claims.statements.unit_reading`).

    Raises
    ------
    InvalidInput
        A text cannot be read, speaks of something that is neither a parameter nor a constant, or puts unlike units together.
    """

    method: str | Callable[..., Algorithm]
    options: str = ""
    _: KW_ONLY
    region: str | Region
    functions: str | Callable[..., FunctionClass]
    claimed: Formula
    clients: str = ""
    where: tuple[str, ...] = ()
    constants: Mapping[str, Formula] = field(default_factory=dict)
    name: str = ""
    units: str = ""

    def __post_init__(self) -> None:
        """Read every text once, so that a statement that stands can be judged."""
        both = sorted({*self.parameters.names} & set(self.constants))
        if both:
            raise InvalidInput(f"{both[0]!r} is a parameter and a named constant; give one of them another name")
        self.require_parameters("claimed", self.claim_text, *self.constants)
        for what, expression in self.expressions.items():
            self.require_parameters(what, expression)
        for condition in self.conditions:
            self.require_parameters(str(condition), condition)
        require_units(self.unlike_units, self.units)
        self._require_round(self.require_sense(self._build))

    def _build(self, point: ParameterPoint) -> None:
        """The question at a point, and what is claimed there."""
        raise NotImplementedError

    def _follow(self, point: ParameterPoint, participation: Sampling | None) -> object:
        """Follow one round over the class at a point."""
        raise NotImplementedError

    def _require_round(self, point: ParameterPoint) -> None:
        """Refuse what no round can be followed of: a class that needs the number of clients, and a round that reads it, where it is not stated.

        What the engines do not follow for other reasons is not the author's mistake.
        """
        try:
            self._follow(point, self.clients_at(point))
        except InvalidInput as error:
            raise InvalidInput(f"at {show_values(point)}: {error}") from error
        except FedtheoryError as error:
            if self.client_numbers or not self._is_followed_with_clients(point):
                return
            raise InvalidInput(str(error)) from error

    def _is_followed_with_clients(self, point: ParameterPoint) -> bool:
        try:
            self._follow(point, SOME_CLIENTS)
        except FedtheoryError:
            return False
        return True

    @cached_property
    def parameters(self) -> Region:
        """The region; numbers of clients are whole."""
        counts = (Expression.parse(text) for text in read_settings(self.clients).values())
        return Region.parse(self.region).with_whole([str(count) for count in counts if count.kind == "name"])

    @cached_property
    def client_numbers(self) -> dict[str, Expression]:
        """The expressions of n and s, as far as they are given."""
        return {name: self.expressions[f"clients {name}"] for name in read_settings(self.clients)}

    @cached_property
    def claim_text(self) -> Expression:
        """What is claimed, as an expression."""
        return Expression.parse(self.claimed)

    @cached_property
    def exact_constants(self) -> Mapping[str, Fraction]:
        """The named constants as fractions."""
        return {name: Expression.parse(value).at({}) for name, value in self.constants.items()}

    def _read_common_units(self, reading: UnitReading) -> dict[str, Any]:
        """Of the method, whose fields are returned, the class and the clients."""
        for name, what in self._counted().items():
            reading.counts |= dict.fromkeys(self.expressions[name].names, what)
        if callable(self.functions):
            reading.read_class(self.functions)
        for name, text in self.expressions.items():
            kind, _, which = name.partition(" ")
            if kind == "class":
                reading.stand_for(f"the class's {which} =", text, CLASS_UNITS[which], f"{which} of a class")
            elif kind == "clients":
                reading.require(f"{which} =", text, NONE, "a number of clients")
        return reading.read_method(self.named_method)

    def _counted(self) -> dict[str, str]:
        """Texts that are whole numbers: options that count, clients and rounds; with what they are a number of."""
        entry = self.named_method.entry
        found = (
            {f"option {o.name}": f"{entry.name}'s {o.name}" for o in entry.options if o.kind is int} if entry else {}
        )
        known = found | {
            "clients n": "a number of clients",
            "clients s": "a number of clients",
            "rounds": "a number of rounds",
        }
        return {name: what for name, what in known.items() if name in self.expressions}

    @cached_property
    def expressions(self) -> dict[str, Expression]:
        """All texts but the claim, by what they are for."""
        found = {f"option {name}": text for name, text in self.named_method.expressions.items()}
        if isinstance(self.functions, str):
            if "L" not in read_settings(self.functions):
                raise InvalidInput(
                    f"a class of functions needs its smoothness constant L, as in 'L, mu'; got {self.functions!r}"
                )
            known = {f.name for f in fields(FunctionClass)} - {"bgd"} | {"G", "D"}
            for name, text in read_settings(self.functions).items():
                if name not in known:
                    raise InvalidInput(
                        f"{name!r} is no constant of a class of functions; there are {', '.join(sorted(known))}"
                    )
                if name not in FLAGS:
                    found[f"class {name}"] = Expression.parse(text)
        for name, text in read_settings(self.clients).items():
            if name not in ("n", "s"):
                raise InvalidInput(f"clients are 'n, s', numbers or parameters; got {name!r}")
            found[f"clients {name}"] = Expression.parse(text)
        return found | {name: Expression.parse(text) for name, text in self._own_texts().items()}

    def _own_texts(self) -> dict[str, Formula]:
        """Texts that only this kind of statement has."""
        return {}

    def inside(self, point: ParameterPoint) -> bool:
        """Whether a point belongs to the region and satisfies the conditions."""
        return self.parameters.inside(point) and all(comparison.holds(point) for comparison in self.conditions)

    def claim_at(self, point: ParameterPoint, **constants: Fraction) -> Fraction:
        """What is claimed at a point, with other values of named constants if given."""
        return Fraction(self.claim_text.at({**point, **self.exact_constants, **constants}))

    @property
    def stated_methods(self) -> Mapping[str, NamedMethod]:
        """Its method, by the field that has its options."""
        return {"options": self.named_method}

    @cached_property
    def named_method(self) -> NamedMethod:
        """The method as a function of the parameters."""
        return NamedMethod(self.method, self.options)

    def method_at(self, point: ParameterPoint) -> Algorithm:
        """The method, with fractions for its numbers."""
        return self.named_method.at(point)

    def functions_at(self, point: ParameterPoint) -> FunctionClass:
        """The class of functions, with fractions for its constants."""
        if not isinstance(self.functions, str):
            return rational(call_with_parameters(self.functions, point))  # type: ignore[no-any-return]
        texts = read_settings(self.functions)
        values: dict[str, Any] = {
            name: True if name in FLAGS else self.expressions[f"class {name}"].at(point) for name in texts
        }
        if "G" in values or "D" in values:
            values["bgd"] = (values.pop("G", Fraction(0)), values.pop("D", Fraction(0)))
        return FunctionClass(**values)

    def clients_at(self, point: ParameterPoint) -> Sampling | None:
        """How many clients there are and take part; None for every n."""
        given = {name: text.at(point) for name, text in self.client_numbers.items()}
        for name, value in given.items():
            whole(name, value)
        return sampling_at(self.client_numbers, point)


@dataclass(frozen=True)
class Bound(MethodStatement):
    """``measure`` after ``rounds`` rounds is at most ``claimed``, over all functions of the class and all starts.

    Starts have ||x^0 - x*|| <= radius for ``squared_distance`` and ``gap``, f(x^0) - inf f <= radius for the measures of stationarity
    (`fedtheory.proofs.measures`).

    Parameters
    ----------
    measure : str
    rounds, radius : expressions
        1 where they are left out.

    Examples
    --------
    >>> gap = Bound(
    ...     "gd", "lr = 1/L", region="0 < L, 0 < R", functions="L", measure="gap", radius="R", claimed="L*R**2/6"
    ... )
    >>> print(judge_statement(gap).word)
    proved
    """

    measure: MeasureName = "squared_distance"
    rounds: Formula = 1
    radius: Formula = 1

    def __post_init__(self) -> None:
        """Read the texts.

        Raises
        ------
        InvalidInput
            As for every statement, or a parameter is in the claim alone while no radius is given.
        """
        find_measure(self.measure)
        super().__post_init__()
        if (
            self.radius == 1 and isinstance(self.method, str) and isinstance(self.functions, str)
        ):  # not where '1' was written
            used = {name for expression in self.expressions.values() for name in expression.names}
            free = sorted((self.claim_text.names & {*self.parameters.names}) - used)
            if free:
                raise InvalidInput(
                    f"{free[0]!r} occurs in what is claimed and nowhere else, and no radius of the start is given: write "
                    f"radius = {free[0]!r} if that is what it is, an option or rounds that it stands for, or radius = '1' if none of these is meant"
                )

    def _own_texts(self) -> dict[str, Formula]:
        return {"rounds": self.rounds, "radius": self.radius}

    def _build(self, point: ParameterPoint) -> None:
        asked = self.asked_at(point)
        require_question(asked.function_class, find_measure(self.measure), asked.rounds, asked.radius)
        self.claim_at(point)

    def _follow(self, point: ParameterPoint, participation: Sampling | None) -> object:
        asked = self.asked_at(point)
        return state_program(asked.algorithm, asked.function_class, 1, self.measure, asked.radius, participation)

    def _read_units(self, reading: UnitReading) -> None:
        self._read_common_units(reading)
        reading.require("rounds =", self.expressions["rounds"], NONE, "a number of rounds")
        of_minimiser = find_measure(self.measure).of_minimiser
        start = "||x^0 - x*||" if of_minimiser else "f(x^0) - inf f"
        about = f"the radius of a start, which is {start} for {self.measure!r},"
        reading.stand_for("radius =", self.expressions["radius"], OF_POINTS if of_minimiser else OF_VALUES, about)
        reading.read_ranges(self.conditions)
        hint = f"; the radius is {start}"
        reading.require("claimed =", self.claim_text, MEASURE_UNITS[self.measure], f"{self.measure!r}", hint)

    def asked_at(self, point: ParameterPoint) -> AskedBound:
        """The question at a point."""
        rounds, radius = (self.expressions[name].at(point) for name in ("rounds", "radius"))
        return AskedBound(
            self.method_at(point),
            self.functions_at(point),
            whole("rounds", rounds),
            self.measure,
            Fraction(radius),
            self.clients_at(point),
        )


@dataclass(frozen=True)
class Contraction(MethodStatement):
    """E V(after a round) <= ``claimed`` * V(before), for V = sum of weights times mean_i ||error of a field||^2.

    Errors are differences to the method's fixed point at x*; "gap" stands for f(x) - f*. It holds in every round and from every state on which the
    relations between fields hold that rounds keep.

    Parameters
    ----------
    potential : weights, expressions by the names of fields

    Examples
    --------
    >>> falls = Contraction(
    ...     "gd", "lr", region="0 < mu < L, 0 < lr <= 1/L", functions="L, mu", potential={"x": 1}, claimed="(1 - lr*mu)**2"
    ... )
    >>> print(judge_statement(falls).word)
    proved
    """

    potential: Mapping[str, Formula] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the texts."""
        if not self.potential:
            raise InvalidInput("a contraction needs a potential: weights by fields of the method's state")
        super().__post_init__()

    @property
    def written(self) -> ast.expr:
        """V as a formula: weights times mean squares of errors, and f(x) - f*."""
        errors = {name: f"mean(norm2({name} - {name}_star))" for name in self.potential}
        errors["gap"] = f"({find_measure('gap').written})"
        terms = [errors[name] if str(w) == "1" else f"({w})*{errors[name]}" for name, w in self.potential.items()]
        return ast.parse(" + ".join(terms), mode="eval").body

    def _own_texts(self) -> dict[str, Formula]:
        return {f"weight {name}": text for name, text in self.potential.items()}

    def _build(self, point: ParameterPoint) -> None:
        asked = self.asked_at(point)
        method = asked.algorithm
        require_class_of_potentials(asked.function_class)
        case = LineQuadratics((Fraction(1), Fraction(2)), (Fraction(0), Fraction(1)), Fraction(1), point)
        fields = [*arrays_of(method.init(case.problem(), case.x0())), "gap"]
        unknown = [name for name in self.potential if name not in fields]
        if unknown:
            raise InvalidInput(
                f"the state of {self.named_method} has no field {unknown[0]!r}; a potential has weights of {', '.join(fields)}"
            )
        below = [f"{name}: {weight}" for name, weight in asked.weights.items() if weight < 0]
        if below or not any(asked.weights.values()):
            shown = below[0] if below else "all of them zero"
            raise InvalidInput(
                f"a potential is a sum of squares, with weights that are not negative and not all zero; got {shown}"
            )
        self.claim_at(point)

    def _follow(self, point: ParameterPoint, participation: Sampling | None) -> object:
        asked = self.asked_at(point)
        return follow_errors(asked.algorithm, asked.function_class, participation)

    def _read_units(self, reading: UnitReading) -> None:
        terms = {name: entry**2 for name, entry in self._read_common_units(reading).items()}
        terms["gap"] = reading.system.quantity("gap", 1, OF_VALUES)
        reading.read_ranges(self.conditions)
        whole: Unit | None = None
        for name in (name for name in self.potential if terms.get(name)):
            text, unit = self.expressions[f"weight {name}"], unit_of(terms[name])
            whole = unit_of(text.at(reading.values)) * unit if whole is None else whole
            reading.require(f"the weight of {name}", text, whole / unit, "beside those before it one")
        reading.require("claimed =", self.claim_text, NONE, "a factor")

    def asked_at(self, point: ParameterPoint) -> AskedDecrease:
        """The question at a point."""
        weights = {name: Fraction(self.expressions[f"weight {name}"].at(point)) for name in self.potential}
        return AskedDecrease(self.method_at(point), self.functions_at(point), weights, self.clients_at(point))
