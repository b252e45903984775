"""Lemmas as data: a region of parameters, a text that builds hypotheses and a conclusion, and named constants.

    Lemma("descent", "textbook", "0<L", descent, {"c": 1})

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
from functools import cached_property
from typing import Any

from fedtheory.claims.statements.worlds import ConcreteWorld, SymbolicWorld, constants_of
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import rational
from fedtheory.proofs.parameters.checker import DerivationRefused, check_derivation
from fedtheory.proofs.parameters.derivation import NotProved, states, store
from fedtheory.proofs.parameters.field import ParameterField
from fedtheory.proofs.parameters.judge import Judgement, Word, judge_system, refute_at, telling_points
from fedtheory.proofs.parameters.programs import SUSPECT, violation
from fedtheory.proofs.parameters.refutations import Instance, find_instance
from fedtheory.proofs.parameters.search import SECONDS, MultiplierSearch, search_multipliers
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.regions.region import Region

Build = Callable[[Any, Any, Any], Any]
#: how far constants are moved, halvings of the interval in between, and points at which each is tried
FARTHEST, HALVINGS, SENSITIVITY_POINTS, SENSITIVITY_CORNERS = Fraction(8), 14, 7, 9


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
    """

    name: str
    source: str
    region: Region
    build: Build = field(compare=False)
    constants: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read region and constants."""
        object.__setattr__(self, "region", Region.parse(self.region))
        exact = {
            name: rational(value if not isinstance(value, str) else Fraction(value))
            for name, value in self.constants.items()
        }
        object.__setattr__(self, "constants", {name: Fraction(value) for name, value in exact.items()})

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
        return world.system(self.build(world, constants_of(parameters), constants_of(self.constants)))

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """One for each value of the whole numbers."""
        return tuple(Case(self, fixed, ParameterField(region)) for fixed, region in self.region.cases())


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

    def with_constants(self, **change: Any) -> Case:
        """The same with other constants."""
        return Case(self.lemma.with_constants(**change), self.fixed, self.field)


@dataclass(frozen=True)
class LemmaOutcome:
    """What came out for a lemma.

    ``word``: "proved for all parameters", "proved at points", "refuted" or "open". ``derivations``: for each case, data that the checker
    without packages accepted. ``instance``: plain fractions where the conclusion fails, on which `recheck` ran the lemma's text.
    ``scope``: what a proof holds for.
    """

    word: Word
    derivations: tuple[dict[str, Any], ...] = ()
    multipliers: tuple[Mapping[str, str], ...] = ()
    points: tuple[dict[str, Fraction], ...] = ()
    instance: Instance | None = None
    scope: str = ""
    log: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.instance is not None:
            at = ", ".join(f"{name} = {value}" for name, value in self.instance.point.items())
            return f"refuted at {at or 'no parameters'}: left side {self.instance.left} > 0 ({self.instance.kind})"
        return f"{self.word}{f', {self.scope}' if self.scope and self.word.startswith('proved') else ''}"


def prove_lemma(lemma: Lemma, seconds: float = SECONDS) -> LemmaOutcome:
    """Prove or refute a lemma; ``seconds`` limits each search for multipliers."""
    found: list[Judgement] = []
    for case in lemma.cases:
        judged = _judge_case(case, seconds)
        if judged.instance is not None:
            instance = replace(judged.instance, point={**case.fixed, **judged.instance.point})
            reason = recheck(lemma, instance)
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
        log=found[0].log if len(found) == 1 else {str(k): judged.log for k, judged in enumerate(found)},
    )


def _judge_case(case: Case, seconds: float) -> Judgement:
    """As stated; where no derivation is found, from the strongest constants that seem to hold."""
    judged = judge_system(case.field, case.system, seconds)
    if judged.word in ("proved for all parameters", "refuted"):
        return judged
    for name in case.lemma.constants:
        search = _derive_from_stronger(case, name, seconds)
        if search is not None:
            shown = {row: str(value) for row, value in search.multipliers.items()}
            log = {**judged.log, "derived from": f"{name} = {search.log['stronger']}"}
            return Judgement("proved for all parameters", search.data, shown, log=log)
    return judged


def _derive_from_stronger(case: Case, name: str, seconds: float) -> MultiplierSearch | None:
    """A derivation for the strongest value of a constant, and from it one for the stated value.

    If multipliers y prove  form(c*) <= 0  and multipliers z prove  form(c) - form(c*) <= 0,  y + z prove  form(c) <= 0.
    """
    stated = case.lemma.constants[name]
    for value in _strongest(case, name):
        strong = case.with_constants(**{name: value}).system
        search = search_multipliers(case.field, strong, seconds)
        if search.data is None:
            continue
        rest = search_multipliers(
            case.field, case.system.with_conclusion(case.system.conclusion - strong.conclusion), seconds
        )
        added = dict(search.multipliers)
        if rest.data is not None:
            for row, multiplier in rest.multipliers.items():
                added[row] = added.get(row, 0) + multiplier
        try:
            search.data = store(case.field, case.system, added)
        except NotProved:
            continue
        search.multipliers = added
        search.log["stronger"] = f"{value} (stated: {stated})"
        return search
    return None


def _strongest(case: Case, name: str) -> list[Fraction]:
    """Simple values of a constant near the last that floats see hold, on the side where it fails."""
    found = []
    for side in sensitivity_of(case, name):
        if side.fails is not None:
            width = abs(side.fails - side.holds)
            for wide in (100, 10, 1):
                near = _simplest(side.holds, 2 * wide * width)
                if near not in found:
                    found.append(near)
    return found


def _simplest(value: Fraction, room: Fraction) -> Fraction:
    """The fraction of smallest denominator within some room of a value."""
    denominator = 1
    while abs(value.limit_denominator(denominator) - value) > room:
        denominator *= 2
    return value.limit_denominator(denominator)


def _scope(lemma: Lemma) -> str:
    clients = "every number of clients, " if any(case.system.deviation for case in lemma.cases) else ""
    return f"{clients}every dimension, {lemma.region}" if lemma.region.parameters else f"{clients}every dimension"


def recheck(lemma: Lemma, instance: Instance) -> str | None:
    """Run the lemma's text on the plain numbers of an instance: None if it breaks the conclusion and nothing else, or why not."""
    if not lemma.region.inside(instance.point):
        return "the point lies outside of the region"
    world = ConcreteWorld(instance)
    left = lemma.build(world, constants_of(instance.point), constants_of(lemma.constants))
    broken = world.broken()
    if broken:
        return f"the instance does not meet {broken[0]}"
    return None if left > 0 and left == instance.left else f"the left side is {left}"


def verify_derivations(lemma: Lemma, outcome: LemmaOutcome) -> str | None:
    """Check stored derivations again: by the checker, and that they state this lemma; None, or what is wrong."""
    if len(outcome.derivations) != len(lemma.cases):
        return f"there are {len(outcome.derivations)} derivations for {len(lemma.cases)} cases"
    for case, data in zip(lemma.cases, outcome.derivations, strict=True):
        try:
            check_derivation(data)
        except DerivationRefused as reason:
            return str(reason)
        if not states(case.field, case.system, data):
            return "the derivation proves something else"
    return None


@dataclass(frozen=True)
class Sensitivity:
    """How far a constant may be moved to one side: at ``holds`` nothing was found against it, at ``fails`` the exact ``instance`` refutes it.

    ``fails`` is None where nothing was found up to the factor `FARTHEST`.
    """

    name: str
    stated: Fraction
    holds: Fraction
    fails: Fraction | None
    instance: Instance | None = None

    @property
    def slack(self) -> bool:
        """Whether the constant could be better by more than a factor 2."""
        return self.fails is None or not Fraction(1, 2) <= self.fails / self.stated <= 2

    def __str__(self) -> str:
        if self.fails is None:
            return f"nothing found against {self.name} x {float(self.holds / self.stated):.4g}"
        return f"would reject {self.name} from x {float(self.fails / self.stated):.6g}"


def sensitivity(lemma: Lemma) -> list[Sensitivity]:
    """For each constant, on the side where it fails, the factor from which the lemma does."""
    found = []
    for name, value in lemma.constants.items():
        if value == 0:
            continue
        sides = [side for case in lemma.cases for side in sensitivity_of(case, name)]
        failing = [side for side in sides if side.fails is not None]
        found += [min(failing, key=lambda s: abs(_ratio(s)))] if failing else sides[:1]
    return found


def _ratio(side: Sensitivity) -> float:
    assert side.fails is not None
    return float(abs(side.fails / side.stated - 1))


def sensitivity_of(case: Case, name: str) -> list[Sensitivity]:
    """Both sides of a constant in one case, by bisection over points and corners of the region."""
    stated = case.lemma.constants[name]
    points = telling_points(case.field, case.system, SENSITIVITY_POINTS, SENSITIVITY_CORNERS)

    def failing(value: Fraction) -> Instance | None:
        system = case.with_constants(**{name: value}).system
        for k, point in enumerate(points):
            instance = refute_at(system, [point], {})
            if instance is not None:
                points.insert(0, points.pop(k))  # it will probably fail there again
                return instance
        return None

    found = []
    for far in (stated * FARTHEST, stated / FARTHEST):
        instance = failing(far)
        if instance is None:
            found.append(Sensitivity(name, stated, far, None))
            continue
        good, bad = stated, far
        for _ in range(HALVINGS):
            middle = (good + bad) / 2
            shown = failing(middle)
            good, bad, instance = (middle, bad, instance) if shown is None else (good, middle, shown)
        found.append(Sensitivity(name, stated, good, bad, instance))
    return found


def needed_premises(lemma: Lemma) -> dict[str, bool | None]:
    """Whether each hypothesis, and each function's class, is needed.

    True: without it an exact instance breaks the conclusion; False: floats see no violation at the points looked at; None: undecided.
    """
    case = lemma.cases[0]
    system = case.system
    points = case.field.region.simple_points(SENSITIVITY_POINTS)
    found: dict[str, bool | None] = {}
    for name in (*(name for name, _ in system.hypotheses), *(f.name for f in system.functions)):
        rows = tuple(row for row in system.rows if row[0] != name and row[0].rsplit(" ", 2)[0] != name)
        less = replace(system, hypotheses=rows, functions=())
        found[name] = False
        for point in points:
            there = less.at(point)
            value, _, _ = violation(there)
            if value > SUSPECT:
                found[name] = True if value == float("inf") or find_instance(there, point, value) is not None else None
                if found[name]:
                    break
    return found
