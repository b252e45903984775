"""Lemmas as data: a region of parameters, a text that builds hypotheses and a conclusion, and named constants.

    @lemma("descent", "textbook", "0<L", c=1)
    def descent(world, p, c):
        f = world.function(p.L, -p.L)
        y = world.vector("y"); x = y * 0
        gx, fx = world.at(f, x, "gx"); gy, fy = world.at(f, y, "gy")
        return fy - fx - dot(gx, y - x) - norm2(y - x) * (c.c * p.L / 2)

`prove_lemma` proves the conclusion ``form <= 0`` for all parameters, with a derivation that a checker without packages accepts; or refutes it
by an exact instance, on which the same text was run with plain numbers. What it can do neither for is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

from fedtheory.claims.statements.on_region import require_sense
from fedtheory.claims.statements.unit_reading import UNCHECKED, UnitReading, find_unlike_units, require_units
from fedtheory.claims.statements.worlds import (
    ConcreteWorld,
    LemmaConstants,
    Parameters,
    SymbolicWorld,
    UnitWorld,
    World,
)
from fedtheory.core.errors import InvalidInput, require
from fedtheory.core.exact import in_floats, rational
from fedtheory.proofs.checker.derivations import check_derivation
from fedtheory.proofs.checker.refusals import Refused
from fedtheory.proofs.parameters.constants import Sensitivity, SystemOf, judge_through_strongest, sensitivities
from fedtheory.proofs.parameters.derivation import states
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.judge import Judgement, Word, judge_system
from fedtheory.proofs.parameters.programs import IN_WORDS, SUSPECT, violation
from fedtheory.proofs.parameters.refutations import Instance, find_instance
from fedtheory.proofs.parameters.search import SECONDS
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.regions.region import Region
from fedtheory.proofs.semidefinite.solvers import require_solvers

Build = Callable[[World, Parameters, LemmaConstants], Any]
#: points at which premises are left out
TRIED_POINTS = 7


@dataclass(frozen=True)
class Lemma:
    """A statement "conclusion <= 0" about vectors, gradients and values, for all parameters of a region.

    Parameters
    ----------
    name, source : str
        What it is called, and where it stands.
    region : str or Region
        Such as ``"0<mu<L, 0<lr<2/L"``; whole numbers as in ``N in 1..4`` are proved case by case.
    build : function of (world, p, c)
        Fills the world (`fedtheory.claims.statements.worlds`) and returns the conclusion's left side; p has the parameters, c the constants.
    constants : numbers by name
        Whose sensitivity is asked; they are exact (0.3 is 3/10).
    units : str
        As for `fedtheory.claims.Bound`. The first function's points and values have the units of lengths and values; others follow.

    Examples
    --------
    >>> def triangle(world, p, c):
    ...     x, y = world.vector("x"), world.vector("y")
    ...     return norm2(x + y) - (norm2(x) + norm2(y)) * c.c
    >>> lemma = Lemma("triangle", "Lemma 1", "0 < a", triangle, {"c": 2})
    >>> claim = state("L1", "a page", "Lemma 1", "||x + y||^2 <= 2 ||x||^2 + 2 ||y||^2.", lemma)
    >>> print(claim.kind, [fault.name for fault in claim.faults])
    proof step ['c beyond where it is rejected']
    """

    name: str
    source: str
    region: Any
    build: Build = field(compare=False)
    constants: Mapping[str, Any] = field(default_factory=dict)
    units: str = ""

    def __post_init__(self) -> None:
        """Read region and constants.

        Raises
        ------
        InvalidInput
            They cannot be read, or the text puts unlike units together.
        """
        object.__setattr__(self, "region", Region.parse(self.region))
        exact = {
            name: rational(value if not isinstance(value, str) else Fraction(value))
            for name, value in self.constants.items()
        }
        object.__setattr__(self, "constants", {name: Fraction(value) for name, value in exact.items()})
        require_sense(self.region, (), self._build_at)
        require_units(self.unlike_units, self.units)

    def _build_at(self, point: Mapping[str, Fraction]) -> None:
        """Refuse functions of no class, and a text that asks for what is neither a parameter nor a constant."""
        try:
            system = self.system(point)
        except AttributeError as error:
            if not isinstance(error.obj, SimpleNamespace):
                raise
            known = ", ".join([*self.region.names, *self.constants]) or "none"
            raise InvalidInput(
                f"the text of {self.name!r} asks for {error.name!r}; there are the parameters and constants {known}"
            ) from error
        for f in system.functions:
            if f.L is not None and not (f.L > 0 and -f.L <= f.mu < f.L):
                raise InvalidInput(
                    f"there are no functions {f.name!r} with L = {f.L} and mu = {f.mu}; expected 0 < L and -L <= mu < L"
                )

    @cached_property
    def unlike_units(self) -> str:
        """What the text puts together that has unlike units; "" where there is nothing."""
        return find_unlike_units(self.region, self.units, self._read_units, self.constants)

    def _read_units(self, reading: UnitReading) -> None:
        values = reading.values
        constants = {
            name: value if name in self.region.names else values[name] for name, value in self.constants.items()
        }
        self.build(UnitWorld(reading.system), SimpleNamespace(**values), SimpleNamespace(**constants))
        reading.read_ranges(())

    def with_constants(self, **change: Any) -> Lemma:
        """The same with other constants.

        Raises
        ------
        InvalidInput
            It has no constant of this name.
        """
        unknown = [name for name in change if name not in self.constants]
        if unknown:
            raise InvalidInput(
                f"{self.name!r} has the constants {', '.join(self.constants) or 'none'}, not {unknown[0]!r}"
            )
        return replace(self, constants={**self.constants, **change})

    def system(self, parameters: Mapping[str, Any]) -> System:
        """The text read with these numbers."""
        world = SymbolicWorld()
        return world.system(self.build(world, SimpleNamespace(**parameters), SimpleNamespace(**self.constants)))

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """One for each value of the whole numbers."""
        return tuple(Case(self, fixed, ParameterField(region)) for fixed, region in self.region.cases())


def lemma(name: str, source: str, region: Any, *, units: str = "", **constants: Any) -> Callable[[Build], Lemma]:
    """Decorate the function that builds a lemma: it becomes the lemma; what is given besides are its constants.

    Examples
    --------
    >>> @lemma("triangle", "Lemma 1", "0 < a", c=2)
    ... def triangle(world, p, c):
    ...     x, y = world.vector("x"), world.vector("y")
    ...     return norm2(x + y) - (norm2(x) + norm2(y)) * c.c
    >>> print(triangle.name, triangle.constants)
    triangle {'c': Fraction(2, 1)}
    """
    return lambda build: Lemma(name, source, region, build, constants, units)


@dataclass(frozen=True, eq=False)
class Case:
    """A lemma where the whole numbers are fixed, over the rational functions of the other parameters."""

    lemma: Lemma
    fixed: Mapping[str, Fraction]
    field: ParameterField

    @cached_property
    def system(self) -> System:
        """For all other parameters at once."""
        return self.lemma.system({**self.fixed, **self.field.parameters()})

    def system_of(self, name: str) -> SystemOf:
        """The system as a function of one constant."""
        return lambda value: Case(self.lemma.with_constants(**{name: value}), self.fixed, self.field).system


@dataclass(frozen=True)
class LemmaOutcome:
    """What came out for a lemma.

    ``word``: "proved for all parameters", "proved at points", "refuted" or "open". ``derivations``: for each case, data that the checker
    without packages accepted. ``instance``: plain fractions where the conclusion fails, on which `recheck_instance` ran the lemma's text.
    ``scope``: what a proof holds for. ``vacuous``: why it holds of nothing, where its hypotheses contradict each other.
    """

    word: Word
    derivations: tuple[dict[str, Any], ...] = ()
    multipliers: tuple[Mapping[str, str], ...] = ()
    points: tuple[dict[str, Fraction], ...] = ()
    instance: Instance | None = None
    scope: str = ""
    vacuous: str = ""
    log: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.instance is not None:
            at = ", ".join(f"{name} = {value}" for name, value in self.instance.point.items())
            return f"refuted at {at or 'no parameters'}: left side {self.instance.left} > 0 ({self.instance.kind})"
        return f"{self.word}{f', {self.scope}' if self.scope and self.word.startswith('proved') else ''}"


def prove_lemma(lemma: Lemma, seconds: float = SECONDS) -> LemmaOutcome:
    """Prove or refute a lemma; ``seconds`` limits each search for multipliers. Claims share lemmas: one that was judged is not judged again."""
    require_solvers()
    require("sympy", "proofs for all parameters")
    return _prove_lemma(lemma.name, lemma.source, lemma.region, lemma.build, tuple(lemma.constants.items()), seconds)


@lru_cache(maxsize=512)
def _prove_lemma(
    name: str, source: str, region: Any, build: Build, constants: tuple[tuple[str, Fraction], ...], seconds: float
) -> LemmaOutcome:
    lemma = Lemma(name, source, region, build, dict(constants), UNCHECKED)
    found: list[Judgement] = []
    for case in lemma.cases:
        judged = _judge_case(case, seconds)
        if judged.instance is not None:
            instance = replace(judged.instance, point={**case.fixed, **judged.instance.point})
            reason = recheck_instance(lemma, instance)
            if reason is None:
                return LemmaOutcome("refuted", instance=instance, log=judged.log)
            judged = Judgement("open", log={**judged.log, "instance": f"refused by the text itself: {reason}"})
        found.append(judged)
    words = {judged.word for judged in found}
    word: Word = (
        "open"
        if "open" in words
        else "proved at points"
        if "proved at points" in words
        else "proved for all parameters"
    )
    return LemmaOutcome(
        word,
        tuple(judged.derivation for judged in found if judged.derivation is not None),
        tuple(judged.multipliers for judged in found),
        tuple(point for judged in found for point, _ in judged.at_points),
        scope=_scope(lemma),
        vacuous=next((str(judged.log["vacuous"]) for judged in found if "vacuous" in judged.log), ""),
        log=found[0].log if len(found) == 1 else {str(k): judged.log for k, judged in enumerate(found)},
    )


def _judge_case(case: Case, seconds: float) -> Judgement:
    """As stated; where no derivation is found, through the strongest value of one constant after the other."""
    judged = judge_system(case.field, case.system, seconds)
    for name, value in case.lemma.constants.items():
        if judged.word in ("proved for all parameters", "refuted"):
            break
        judged = judge_through_strongest(case.field, case.system_of(name), name, value, judged, seconds)
    return judged


def _scope(lemma: Lemma) -> str:
    clients = "every number of clients, " if any(case.system.deviation for case in lemma.cases) else ""
    return f"{clients}every dimension, {lemma.region}" if lemma.region.parameters else f"{clients}every dimension"


def recheck_instance(lemma: Lemma, instance: Instance) -> str | None:
    """Run the lemma's text on the plain numbers of an instance: None if it breaks the conclusion and nothing else, or why not."""
    if not lemma.region.inside(instance.point):
        return "the point lies outside of the region"
    world = ConcreteWorld(instance)
    left = lemma.build(world, SimpleNamespace(**instance.point), SimpleNamespace(**lemma.constants))
    broken = world.broken()
    if broken:
        return f"the instance does not meet {broken[0]}"
    return None if left > 0 and left == instance.left else f"the left side is {left}"


def play_in_floats(lemma: Lemma, instance: Instance) -> float:
    """The left side of the conclusion, by the lemma's text on the numbers of an instance as floats."""
    numbers, constants = in_floats(instance), in_floats(lemma.constants)
    return float(lemma.build(ConcreteWorld(numbers), SimpleNamespace(**numbers.point), SimpleNamespace(**constants)))


def verify_lemma(lemma: Lemma, outcome: LemmaOutcome) -> str | None:
    """Check stored derivations again: by the checker, and that they state this lemma; None, or what is wrong."""
    if len(outcome.derivations) != len(lemma.cases):
        return f"there are {len(outcome.derivations)} derivations for {len(lemma.cases)} cases"
    for case, data in zip(lemma.cases, outcome.derivations, strict=True):
        try:
            check_derivation(data)
        except Refused as reason:
            return str(reason)
        if not states(case.field, case.system, data):
            return "the derivation proves something else"
    return None


def lemma_sensitivity(lemma: Lemma) -> list[Sensitivity]:
    """For each constant that is not zero, the side on which it fails sooner, in the case where it does."""
    return [*_sensitivity(lemma.name, lemma.source, lemma.region, lemma.build, tuple(lemma.constants.items()))]


@lru_cache(maxsize=512)
def _sensitivity(
    name: str, source: str, region: Any, build: Build, constants: tuple[tuple[str, Fraction], ...]
) -> tuple[Sensitivity, ...]:
    lemma = Lemma(name, source, region, build, dict(constants), UNCHECKED)
    found = []
    for constant, value in lemma.constants.items():
        if value != 0:
            sides = [
                side
                for case in lemma.cases
                for side in sensitivities(case.field, case.system_of(constant), constant, value)
            ]
            found.append(min(sides, key=lambda side: side.distance))
    return tuple(found)


def needed_premises(lemma: Lemma) -> dict[str, bool | None]:
    """Whether each hypothesis, and each function's class, is needed.

    True: without it an exact instance breaks the conclusion; False: floats see no violation at the points looked at; None: undecided.
    """
    case = lemma.cases[0]
    system = case.system
    points = case.field.region.simple_points(TRIED_POINTS)
    found: dict[str, bool | None] = {}
    for name in (*(name for name, _ in system.hypotheses), *(f.name for f in system.functions)):
        rows = tuple(row for row in system.rows if row[0] != name and row[0].rsplit(" ", 2)[0] != name)
        less = replace(system, hypotheses=rows, functions=())
        found[name] = False
        for point in points:
            there = less.at(point)
            value, _, _ = violation(there, ways=IN_WORDS)
            if value > SUSPECT:
                found[name] = True if value == float("inf") or find_instance(there, point, value) is not None else None
                if found[name]:
                    break
    return found
