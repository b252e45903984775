"""How sharp a lemma is: its terms, hypotheses, classes, constants and region, changed one at a time.

A form is linear in the factor k of each of its terms. So an exact instance that refutes the lemma with k = 99/100 refutes it with every smaller
k as well: with one half of the term, without it, and with its sign turned; likewise upwards. A change that no instance refutes is weaker than the
lemma (by the sign of what it adds, or because the conclusion itself implies it), or the lemma has slack there.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

from fedtheory.claims.claim import JudgedChange
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.outcomes import show_point
from fedtheory.claims.statements.terms import WorldOfTerms, WrittenForm
from fedtheory.claims.statements.theorems.mistakes import list_wider_regions
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.vectors import Form, divide
from fedtheory.proofs.parameters.constants import CORNERS, SIMPLE, SystemOf, sensitivities
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.judge import refute_at, search_region, telling_points
from fedtheory.proofs.parameters.system import System

#: the factors of a term, from one outwards on each side, and what they are called
UP = (("number x 101/100", Fraction(101, 100)), ("number x 2", Fraction(2)))
DOWN = (
    ("number x 99/100", Fraction(99, 100)),
    ("number x 1/2", Fraction(1, 2)),
    ("dropped", Fraction(0)),
    ("sign", Fraction(-1)),
)
#: simple points at which exponents are tried: a power of one is one
MANY = 24
#: drawn points at which a change is tried that nothing else refutes, and where on the way between the ends of its range a parameter lies
DRAWS, DRAWN = 48, ("1/1000", "1/50", "1/7", "1/2", "1", "2", "7", "50", "1000")
#: by what part of L a class becomes larger
LARGER = Fraction(1, 100)
#: how what an instance refutes is told
EXACTLY_AT = "refuted exactly at "


@dataclass
class NearLemma:
    """A lemma over one case of its region, with points at which its changes are tried; the last that refuted is tried first."""

    known: ParameterField
    system: System
    points: list[dict[str, Fraction]] = field(default_factory=list)

    def refute(self, system: System, points: list[dict[str, Fraction]] | None = None) -> str:
        """Where a changed system fails, in words: by an exact instance, or by a direction along which it grows; "" where nothing was found."""
        tried = self.points if points is None else points
        for k, point in enumerate(tried):
            log: dict[str, Any] = {}
            found = refute_at(system, [point], log) is not None
            if found or log.get("suspect") == math.inf:
                tried.insert(0, tried.pop(k))
                return (EXACTLY_AT if found else "it grows without bound at ") + (show_point(point) or "every point")
        return ""

    def search(self, system: System) -> str:
        """The same at drawn points, and at the worst that a search of the region finds."""
        region, lots = self.known.region, random.Random(0)
        if not region.parameters:
            return ""
        drawn = [region.point([Fraction(lots.choice(DRAWN)) for _ in region.parameters]) for _ in range(DRAWS)]
        return self.refute(system, drawn) or self.refute(system, [p for p in (search_region(region, system),) if p])

    def follows(self, system: System) -> bool:
        """Whether nothing is found against a system at the points."""
        return not self.refute(system)


@dataclass(frozen=True)
class ChangeOfLemma:
    """A changed system; ``is_weaker``, then ``size``: asked where nothing refutes it; ``points``: its own, where the lemma's are not enough."""

    what: str
    system: System
    is_weaker: Callable[[], bool]
    size: Callable[[], str] = lambda: ""
    points: list[dict[str, Fraction]] | None = None


def judge_near_lemmas(lemma: Lemma) -> Iterator[JudgedChange]:
    """What comes of every change of a lemma; nothing for one that is false as it stands."""
    cases = []
    for case in lemma.cases:
        near = read_near(lemma, case.fixed, case.field)
        if near.refute(near.system):
            return
        cases.append(near)
    near = cases[0]
    for name, form, put in _list_forms(near):
        yield from _of_terms(near, name, form, put)
    for change in (*_of_premises(near), *_of_constants(lemma, near)):
        yield _judge(near, change)
    for what, region in list_wider_regions(str(lemma.region)):
        yield _on_wider_region(lemma, what, region)


def read_near(lemma: Lemma, fixed: Any, known: ParameterField) -> NearLemma:
    """The lemma's text read with its terms."""
    world = WorldOfTerms()
    parameters = SimpleNamespace(**{**fixed, **known.parameters()})
    system = world.system(lemma.build(world, parameters, SimpleNamespace(**lemma.constants)))
    return NearLemma(known, system, telling_points(known, system, SIMPLE, CORNERS))


_Put = Callable[[Form], System]


def _list_forms(near: NearLemma) -> Iterator[tuple[str, Form, _Put]]:
    """The conclusion and the hypotheses, each with what puts another form in its place."""
    system = near.system
    yield "the conclusion", system.conclusion, system.with_conclusion
    for k, (name, form) in enumerate(system.hypotheses):

        def put(other: Form, k: int = k, name: str = name) -> System:
            rows = (*system.hypotheses[:k], (name, other), *system.hypotheses[k + 1 :])
            return replace(system, hypotheses=rows)

        yield f"the hypothesis {name}", form, put


def _of_terms(near: NearLemma, name: str, form: Form, put: _Put) -> Iterator[JudgedChange]:
    terms = form.terms if isinstance(form, WrittenForm) else ()
    for k, term in enumerate(terms):
        if not (term.gram or term.values or term.constant != 0):
            continue  # such as the square of the origin
        where = f"term {k + 1} of {len(terms)} of {name}"
        size = partial(_find_size, near, partial(_with_factor, form, term, put))
        for which, side in enumerate((UP, DOWN)):
            changed = [(what, form + term * (factor - 1)) for what, factor in side]
            yield from _outwards(near, where, changed, form, put, partial(size, which))
        yield from _of_exponents(near, where, term, form, put)


def _with_factor(form: Form, term: Form, put: _Put, factor: Fraction) -> System:
    return put(form + term * (factor - 1))


def _of_exponents(near: NearLemma, where: str, term: Form, form: Form, put: _Put) -> Iterator[JudgedChange]:
    """One more, and one less, of each parameter that stands in a term."""
    for parameter, number in near.known.parameters().items():
        if parameter in _names(term):
            for what, other in ((f"one more {parameter}", term * number), (f"one {parameter} less", term / number)):
                changed = form + other - term
                points = telling_points(near.known, put(changed), MANY, CORNERS)
                weaker = _is_weaker(NearLemma(near.known, near.system, points), form, changed, put)
                yield _judge(near, ChangeOfLemma(f"exponent, {what}: {where}", put(changed), weaker, points=points))


def _outwards(
    near: NearLemma, where: str, forms: Sequence[tuple[str, Form]], form: Form, put: _Put, size: Callable[[], str]
) -> Iterator[JudgedChange]:
    """Factors farther and farther from one: what falls with one, falls by the same instance with those farther out."""
    fallen = None
    for what, changed in forms:
        if fallen is not None:
            yield JudgedChange(f"{what}: {where}", "falls", fallen.detail)
            continue
        judged = _judge(
            near, ChangeOfLemma(f"{what}: {where}", put(changed), _is_weaker(near, form, changed, put), size)
        )
        if judged.outcome == "falls" and judged.detail.startswith(EXACTLY_AT):
            fallen = judged
        yield judged


def _is_weaker(near: NearLemma, form: Form, changed: Form, put: _Put) -> Callable[[], bool]:
    """Whether what is added to a conclusion is at most zero, or is a factor of the whole; of a premise, whether the changed one implies it."""

    def conclusion() -> bool:
        added = changed - form
        return _is_multiple(changed, form) or near.follows(near.system.with_conclusion(added))

    def hypothesis() -> bool:
        return near.follows(put(changed).with_conclusion(form))

    return conclusion if put == near.system.with_conclusion else hypothesis


def _is_multiple(changed: Form, form: Form) -> bool:
    """Whether a form is a positive number times another."""
    pairs = [(changed.constant, form.constant)]
    for mine, other in ((changed.gram, form.gram), (changed.values, form.values)):
        pairs += [(mine.get(key, 0), other.get(key, 0)) for key in {*mine, *other}]  # type: ignore[call-overload]
    ratio = next((divide(new, old) for new, old in pairs if old != 0), None)
    if ratio is None or not all(new == old * ratio for new, old in pairs):
        return False
    return not isinstance(ratio, RationalFunction) and bool(ratio > 0)


def _find_size(near: NearLemma, system_of: SystemOf, which: int, name: str = "it") -> str:
    """How far a factor that is stated as one goes upwards (0) or downwards (1)."""
    return str(sensitivities(near.known, system_of, name, Fraction(1))[which])


def _names(form: Form) -> set[str]:
    numbers = (*form.gram.values(), *form.values.values(), form.constant)
    found = [number.expression.free_symbols for number in numbers if isinstance(number, RationalFunction)]
    return {str(symbol) for symbols in found for symbol in symbols}


def _of_premises(near: NearLemma) -> Iterator[ChangeOfLemma]:
    """Without each hypothesis; with a larger class, and without the class, of each function."""
    system = near.system
    for name, form in system.hypotheses:
        less = replace(system, hypotheses=tuple(row for row in system.hypotheses if row[0] != name))
        implied = partial(near.follows, less.with_conclusion(form))
        yield ChangeOfLemma(f"without the hypothesis {name}", less, implied)
    for k, f in enumerate(system.functions):

        def put(*others: Any, k: int = k) -> System:
            return replace(system, functions=(*system.functions[:k], *others, *system.functions[k + 1 :]))

        yield ChangeOfLemma(f"without the class of {f.name}", put(), lambda: False)
        for grows, what, larger in _LARGER if f.L is not None else ():
            size = partial(_find_size, near, partial(_with_class, f, larger, put), 0, grows)
            yield ChangeOfLemma(f"{what} of {f.name}", put(larger(f, 1 + LARGER)), lambda: False, size)


def _with_class(
    f: Function, larger: Callable[[Function, Fraction], Function], put: Callable[..., System], factor: Fraction
) -> System:
    return put(larger(f, factor))


def _with_larger_L(f: Function, k: Fraction) -> Function:
    L: Any = f.L
    return replace(f, L=L * k)


def _with_smaller_mu(f: Function, k: Fraction) -> Function:
    L: Any = f.L
    return replace(f, mu=f.mu - L * (k - 1))


#: larger classes of a function: what grows, what is told, and the function for a factor k from one on
_LARGER = (("L", "L x 101/100", _with_larger_L), ("k", "mu - (k - 1)*L, k = 101/100,", _with_smaller_mu))


def _of_constants(lemma: Lemma, near: NearLemma) -> Iterator[ChangeOfLemma]:
    case = lemma.cases[0]
    for name, value in lemma.constants.items():
        for factor in (Fraction(101, 100), Fraction(99, 100), Fraction(2), Fraction(1, 2)):
            if value == 0 and factor < 1:
                continue
            other = value * factor if value != 0 else factor / 100
            changed = case.system_of(name)(other)
            weaker = _is_weaker(near, near.system.conclusion, changed.conclusion, near.system.with_conclusion)
            size = partial(_find_size_of_constant, near, case.system_of(name), name, value, int(factor < 1))
            yield ChangeOfLemma(f"constant {name} = {other}", changed, weaker, size)


def _find_size_of_constant(near: NearLemma, system_of: SystemOf, name: str, value: Fraction, which: int) -> str:
    return "" if value == 0 else str(sensitivities(near.known, system_of, name, value)[which])


def _judge(near: NearLemma, change: ChangeOfLemma) -> JudgedChange:
    against = near.refute(change.system, change.points)
    if against:
        return JudgedChange(change.what, "falls", against)
    if change.is_weaker():
        return JudgedChange(change.what, "weaker", "")
    against = near.search(change.system)
    if against:
        return JudgedChange(change.what, "falls", against)
    seen = f"nothing found against it at {len(change.points or near.points)} points, at drawn ones and by a search"
    return JudgedChange(change.what, "slack", change.size() or seen)


def _on_wider_region(lemma: Lemma, what: str, region: str) -> JudgedChange:
    try:
        wider = replace(lemma, region=region)
        for case in wider.cases:
            near = read_near(wider, case.fixed, case.field)
            against = near.refute(near.system) or near.search(near.system)
            if against:
                return JudgedChange(what, "falls", against)
    except (FedtheoryError, ZeroDivisionError) as error:
        return JudgedChange(what, "falls", str(error))
    return JudgedChange(what, "slack", "nothing found against it")
