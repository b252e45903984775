"""A proof by a potential, looked for: V_k = sum_j w_j q_j[k], which no round raises, or which each lowers by a factor or by what is measured.

Weights are polynomials in the round k where a claim about round N is no power of a factor, and the same in all rounds otherwise. A claim follows
where V is at most its right side in the first round, V falls in every round as it should, and V_N is at least its left side
(`fedtheory.claims.statements.theorems.claimed_bounds`). At one point of the region and a few rounds these are linear matrix inequalities in the
coefficients of the weights and in the multipliers of the classes' inequalities, so that a semidefinite program finds coefficients. Each is taken as
the simplest fraction that those before it leave room for, times powers of the parameters; or, where that is none for all parameters, as a rational
function of them. They are written as a script of lines, which is proved, or is not, as any other script.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from fedtheory.claims.statements.theorems.claimed_bounds import ClaimedBound, read_bound, read_step
from fedtheory.claims.statements.theorems.indirect_claims import list_direct
from fedtheory.claims.statements.theorems.one_round import write_of_one_round
from fedtheory.claims.statements.theorems.potential_exponentials import list_without_exponential
from fedtheory.claims.statements.theorems.potential_programs import (
    MISSED,
    PotentialProgram,
    Shape,
    WeightPlace,
    evaluate_all,
    follow,
)
from fedtheory.claims.statements.theorems.potential_scripts import (
    FoundScript,
    Weights,
    write_equality,
    write_of_step,
    write_script,
)
from fedtheory.claims.statements.theorems.potential_weights import NEAR_ROOM, WeightFit
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError
from fedtheory.proofs.checker.formulas import Unreadable
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.scalings import Scaling, find_scalings, normalise, restore
from fedtheory.proofs.regions.expressions import Expression

#: what is said of a claim that has another shape
SHAPES_OF_CLAIMS = (
    "one is looked for where a claim is about a round and the next, q[t+1] <= a*q[t] + c; bounds quantities of round N by those of round 0, "
    "q[N] <= s(N)*start, q[N] <= C*rho**N*start + c or q[N] == rho**N*q[0]; those of some round, "
    "exists t in a..N: q[t] <= C*start/(N - a + 1) + c; a sum, sum(q[t], t, a, N) + b*r[N] <= C*start + c*N; or a limit, q[N] -> 0 as N; "
    "also of square roots, with the larger of several rates, and of an accuracy, where a hypothesis says how many rounds it takes"
)
#: degrees of the weights
DEGREES = (1, 2)
#: powers of parameters, the factor that shows them, and one for where the region leaves room for no more
POWERS, MOVED, NEARBY = (0, 1, -1, 2, -2, 3, -3), Fraction(8), Fraction(3, 2)
#: points by which a rational function of the parameters is known
FIT_POINTS = 16


def find_scripts(theorem: Theorem, claim: int, told: list[str]) -> Iterator[FoundScript]:
    """Scripts that may prove a claim, the simplest first; ``told`` takes what kept others from being looked for or found."""
    try:
        direct, of_one = list(list_direct(theorem, claim)), list(write_of_one_round(theorem, claim))
    except (FedtheoryError, Unreadable) as error:
        told.append(str(error))
        return
    for one in direct:
        yield from map(one.with_own, find_scripts(one.theorem, claim, told))
    if of_one:
        yield from of_one
        yield from _find_of_step(theorem, claim)
        return
    for other in list_without_exponential(theorem, claim):
        yield from map(other.with_exponential, _find_by_shape(other.theorem, claim, told))
    yield from _find_by_shape(theorem, claim, told)


def _find_of_step(theorem: Theorem, claim: int) -> Iterator[FoundScript]:
    """Scripts of a claim about a round and the next: one derivation, and multiples of what hypotheses say of the two."""
    with contextlib.suppress(FedtheoryError, TermRefused, Unreadable, OverflowError, ZeroDivisionError):
        bound = read_step(theorem, theorem.sentences[claim])
        if bound is not None:
            for reading in bound.readings():
                for weights in _Search(theorem, reading, Shape(bound.least, 0)).find_weights():
                    yield write_of_step(theorem, claim, reading, weights)


def _find_by_shape(theorem: Theorem, claim: int, told: list[str]) -> Iterator[FoundScript]:
    try:
        bound = read_bound(theorem, theorem.sentences[claim])
        first = 0 if bound is None else theorem.states.first_round(theorem.parameters)  # type: ignore[union-attr]
    except (FedtheoryError, TermRefused, Unreadable) as error:
        told.append(str(error))
        return
    if bound is None:
        told.append(SHAPES_OF_CLAIMS)
        return
    if theorem.sentences[claim].sign == "==":
        yield write_equality(theorem, claim, bound)
        return
    for reading, shape in itertools.product(bound.readings(), _list_shapes(bound, first)):
        search = _Search(theorem, reading, shape)
        try:
            for weights in search.find_weights():
                yield write_script(theorem, claim, reading, shape, weights)
        except (FedtheoryError, OverflowError, ZeroDivisionError) as error:  # there are no numbers of these rounds
            told.append(str(error))
            return
        if search.why and search.why not in told:
            told.append(search.why)


def _list_shapes(bound: ClaimedBound, first: int) -> Iterator[Shape]:
    """Where the potential may begin, and of which degree its weights may be."""
    if bound.some is not None:
        kept = bound.some.kept_at
        for ahead in (0, 1) if kept is None else (bound.some.ahead + 1 - kept,):
            if ahead in (0, 1) and bound.some.first - ahead >= first:
                yield Shape(bound.some.first - ahead, 0, ahead)
        return
    for degree in DEGREES if bound.of_number else (0,):
        for begin in range(first, min(first + 1, bound.least) + 1):
            yield Shape(begin, degree)


@dataclass
class _Search:
    """Weights of a shape."""

    theorem: Theorem
    bound: ClaimedBound
    shape: Shape
    why: str = ""

    @cached_property
    def places(self) -> list[WeightPlace]:
        """The coefficients, those of high powers first; what is bounded in every round is none of them. Last are multipliers of hypotheses."""
        names = [] if self.bound.step else [n for n in reversed(self._followed) if n not in self.bound.given]
        known = {} if self.bound.of_number else self.bound.related
        related = [(name, 0) for name, one in known.items() if not one.later or {*self._followed} >= one.factors.keys()]
        return [(name, power) for power in range(self.shape.degree, -1, -1) for name in names] + related

    @cached_property
    def _followed(self) -> list[str]:
        """The quantities that are known of a round and of the next."""
        here = dict(self.theorem.parameters.simple_points(1)[0])
        trace = follow(self.theorem, here, 1, self.shape.begin)
        return [name for name, _ in evaluate_all(self.theorem, trace, 1, here)]

    def _program(self, point: Mapping[str, Fraction]) -> PotentialProgram:
        return PotentialProgram(self.theorem, self.bound, self.shape, self.places, point)

    def find_weights(self) -> Iterator[Weights]:
        """The coefficients that are not zero, in the parameters: as products of powers, and where these prove nothing as rational functions."""
        here = dict(self.theorem.parameters.simple_points(1)[0])
        program = self._program(here)
        if program.missed({}) > MISSED:
            at = ", ".join(f"{name} = {value}" for name, value in here.items())
            kind = (
                f"of degree {self.shape.degree} in the round"
                if self.bound.of_number
                else "that is the same in all rounds"
            )
            self.why = f"at {at} floats see none {kind}"
            return
        yield from self._products(here, [_Base(name) for name in self.theorem.parameters.names], [])
        yield from self._products_with_ends(here)
        fitted = self._fitted()
        if fitted is not None:
            yield fitted
        self.why = "one was seen at a point, and no weights for all parameters"

    def _simplest(self, program: PotentialProgram) -> dict[WeightPlace, Fraction] | None:
        """Each coefficient as the simplest number that those before it leave room for, at one point."""
        fixed, found = dict[WeightPlace, float](), dict[WeightPlace, Fraction]()
        for place in self.places:
            room = program.room(place, fixed)
            if room is None:
                return None
            near = (v for v in _list_simple(*room) if program.missed({**fixed, place: float(v)}) <= MISSED)
            chosen = next(near, None)
            if chosen is None:
                return None
            found[place], fixed[place] = chosen, float(chosen)
        return found

    def _products(
        self, here: Mapping[str, Fraction], bases: Sequence[_Base], scalings: list[Scaling]
    ) -> Iterator[Weights]:
        """Each coefficient as the simplest number at a point, times powers of the bases; what these leave open follows from units."""
        found = self._simplest(self._program(here))
        powers = None if found is None else self._powers(here, found, bases, scalings)
        if found is None or powers is None:
            return
        field, restored = self._field, {}
        for place, own in powers.items():
            size = found[place] / math.prod(base.at(here) ** power for base, power in own.items())
            value = math.prod((field.read(str(base)) ** power for base, power in own.items()), start=field.number(size))
            restored[place] = restore(field, value, place[0], scalings)
        yield self._written(restored)

    def _products_with_ends(self, here: Mapping[str, Fraction]) -> Iterator[Weights]:
        """Those with powers of how far parameters are from their open upper ends, too, where some have such."""
        region = self.theorem.parameters
        ends = [_Base(p.name, p.high) for p in region.parameters if p.high is not None and not p.high_closed]
        if ends:
            alone = [_Base(name) for name in region.names if name not in {s.base for s in self._scalings}]
            yield from self._products(normalise(here, self._scalings), alone + ends, self._scalings)

    def _powers(
        self,
        here: Mapping[str, Fraction],
        found: Mapping[WeightPlace, Fraction],
        bases: Sequence[_Base],
        scalings: list[Scaling],
    ) -> dict[WeightPlace, dict[_Base, int]] | None:
        """With which power of each base each coefficient grows that is not zero."""
        powers: dict[WeightPlace, dict[_Base, int]] = {place: {} for place, value in found.items() if value}
        for base in bases:
            there = next((point for point in base.moves(here) if self.theorem.parameters.inside(point)), None)
            if there is None:
                return None
            there = normalise(there, scalings)
            program, fixed = self._program(there), {place: 0.0 for place, value in found.items() if not value}
            for place, own in powers.items():
                room = program.room(place, fixed)
                known = found[place] * math.prod((b.at(there) / b.at(here)) ** power for b, power in own.items())
                values = {power: float(known * (base.at(there) / base.at(here)) ** power) for power in POWERS}
                inside = [p for p in POWERS if room and _is_near(values[p], room)]
                if not inside:
                    return None
                own[base], fixed[place] = inside[0], values[inside[0]]
        return powers

    def _fitted(self) -> Weights | None:
        """Each coefficient as a rational function of the parameters that those before it leave room for, at many points.

        V of the start is taken to be what is claimed of it, if that leaves room for the other coefficients.
        """
        field, scalings = self._field, self._scalings
        every = (normalise(point, scalings) for point in self.theorem.parameters.simple_points(4 * FIT_POINTS))
        points = list({tuple(point.items()): point for point in every}.values())[:FIT_POINTS]
        programs = [self._program(point) for point in points]
        search = WeightFit(field, [n for n in field.names if n not in {s.base for s in scalings}], points, programs)
        at_start = {(name, 0): field.read(r.text()) for name, r in self.bound.start.items()}
        found = search.find(self.places, at_start) or (search.find(self.places, {}) if at_start else None)
        if found is None:
            return None
        restored = {
            place: v if place in at_start and v is at_start[place] else restore(field, v, place[0], scalings)
            for place, v in found.items()
            if v != 0
        }
        return self._written(restored)

    @cached_property
    def _field(self) -> ParameterField:
        return ParameterField(self.theorem.parameters)

    def _written(self, found: Mapping[WeightPlace, RationalFunction]) -> Weights:
        """As expressions in SymPy."""
        import sympy

        symbols = {name: sympy.Symbol(name) for name in self._field.names}
        return {place: sympy.sympify(str(v.expression), locals=symbols) for place, v in found.items()}

    @cached_property
    def _scalings(self) -> list[Scaling]:
        """Changes of units; the multiplier of a quantity changes as its weight does."""
        theorem, field = self.theorem, self._field
        assert theorem.states is not None
        numbers = field.parameters()
        trace = follow(theorem, numbers, 1, 1)
        forms = dict(evaluate_all(theorem, trace, 0, numbers))
        for name, one in self.bound.related.items():
            forms[name] = sum((forms[q] * field.read(e.text()) for q, e in one.factors.items()), Form())
        claimed = [*self.bound.start, *self.bound.measure, *(name for name, _ in self.bound.step)]
        system = trace.system(forms[claimed[0]])
        return find_scalings(field, replace(system, hypotheses=(*system.hypotheses, *forms.items())))


@dataclass(frozen=True)
class _Base:
    """What powers are of: a parameter, or, with its open upper end, how far away that is, 1 - name/end."""

    name: str
    end: Expression | None = None

    def at(self, point: Mapping[str, Fraction]) -> Fraction:
        """Its value at a point."""
        return point[self.name] if self.end is None else 1 - point[self.name] / Fraction(self.end.at(point))

    def moves(self, here: Mapping[str, Fraction]) -> Iterator[dict[str, Fraction]]:
        """Points at which it is another."""
        if self.end is None:
            yield from (
                {**here, self.name: here[self.name] * factor} for factor in (MOVED, 1 / MOVED, NEARBY, 1 / NEARBY)
            )
        else:
            yield {**here, self.name: Fraction(self.end.at(here)) * (1 - self.at(here) / MOVED)}

    def __str__(self) -> str:
        return self.name if self.end is None else f"1 - {self.name}/({self.end})"


def _is_near(value: float, room: tuple[float, float]) -> bool:
    allowed = NEAR_ROOM * abs(value)
    return room[0] - allowed <= value <= room[1] + allowed


def _list_simple(low: float, high: float) -> Iterator[Fraction]:
    """Fractions in an interval or near its ends, those of small denominators first and of these the nearest to zero, up to one well inside of it.

    A solver may put the ends in the other order; one of them is near then.
    """
    low, high = min(low, high), max(low, high)
    near = NEAR_ROOM * max(1.0, abs(low), abs(high))
    inner = (low + (high - low) / 10, high - (high - low) / 10) if high - low > near else (low - near, high + near)
    for below in range(1, math.ceil(1 / NEAR_ROOM) + 1):
        for above in sorted(range(math.ceil((low - near) * below), math.floor((high + near) * below) + 1), key=abs):
            if math.gcd(above, below) == 1:
                yield Fraction(above, below)
                if inner[0] <= above / below <= inner[1]:
                    return
