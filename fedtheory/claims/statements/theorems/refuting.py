"""Exact instances against a theorem: its claim at a few rounds and parameters, by substitution, and fractions that break it.

At a point of the region and for small rounds the claim is one inequality about the quantities of a few states. What is given of their rounds are
further inequalities. Where a semidefinite program sees the claim fail, fractions are looked for, and the method's own rounds are played on them.
Runs on random quadratics of several clients are tried besides, which ask no engine (`fedtheory.claims.statements.theorems.on_quadratics`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims.statements.theorems.at_every_point import find_largest_gap
from fedtheory.claims.statements.theorems.irrational import Between, is_above, place_between
from fedtheory.claims.statements.theorems.later_rounds import require_later_rounds
from fedtheory.claims.statements.theorems.on_quadratics import (
    QUADRATICS,
    QuadraticRun,
    comes_back,
    draw_plain_runs,
    draw_runs,
    list_end_runs,
    play_run,
    require_run,
)
from fedtheory.claims.statements.theorems.played import ConcreteSpace, Outcomes, play_on_instance
from fedtheory.claims.statements.theorems.posing import (
    ClaimAt,
    GivenForm,
    counts_rounds,
    expect_at,
    find_extent,
    find_sequences,
    follow_claim,
    list_of_all_rounds,
    list_supposed,
    number_of,
    small_rounds,
)
from fedtheory.claims.statements.theorems.sequences import ENDS, list_ends, settle_parameters
from fedtheory.claims.statements.theorems.sides import Lookup, Sides
from fedtheory.claims.statements.theorems.squares import require_a_size, tried_sentence
from fedtheory.claims.statements.theorems.states import MethodStates, StateTrace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.theorems.tight_points import list_tight_points
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.exact import in_floats
from fedtheory.proofs.checker.formulas import Sentence
from fedtheory.proofs.every_n.conditions import is_relaxed
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.programs import IN_WORDS, SUSPECT, violation
from fedtheory.proofs.parameters.refutations import Instance, find_instance
from fedtheory.proofs.parameters.system import System
from fedtheory.tools.untrusted import parse_json

#: rounds beyond the least that are tried, and points of each case
LATER, POINTS, CORNERS = 3, 6, 27
#: the same where a term proves the theorem, and one engine guards the other: rounds, and points from all over those above
LATER_OF_PROVED, MOST_OF_PROVED = 2, 8
#: points at which runs on quadratics are tried
RUN_POINTS = 3
#: sizes of a run that are tried are multiples of one over this
SIZES = 2**10
#: by how much a claim must fail, in floats, where numbers of a sequence are known to some digits only
SUSPECT_OF_DIGITS = 1e-4
#: the kind of an instance that has parameters and rounds alone
WITHOUT_STATES = "numbers"


@dataclass(frozen=True)
class BrokenClaim:
    """A claim that fails: which one, for which rounds, and the instance; ``gap``, left side less right side, is above zero.

    ``ends``: which ends of their ranges numbers of sequences are (`fedtheory.claims.statements.theorems.sequences`).
    """

    claim: int
    rounds: Mapping[str, int]
    instance: Instance | QuadraticRun
    gap: Fraction
    ends: str = ""

    @classmethod
    def of(cls, at: ClaimAt, instance: Instance) -> BrokenClaim:
        """A claim that fails by what an instance says."""
        return cls(at.claim, dict(at.rounds), instance, instance.left, at.ends)

    def at(self, theorem: Theorem) -> ClaimAt:
        """The claim at the instance's point."""
        return ClaimAt(theorem, self.claim, self.rounds, self.instance.point, self.ends)

    def store(self) -> dict[str, str]:
        """As plain data."""
        return {
            "statement": "theorem for every round",
            "claim": str(self.claim),
            "rounds": json.dumps(dict(self.rounds)),
            "data": json.dumps(self.instance.store()),
        } | ({"ends": self.ends} if self.ends else {})

    @classmethod
    def read(cls, data: Mapping[str, str]) -> BrokenClaim:
        """From plain data."""
        stored = parse_json(data["data"])
        of_run = isinstance(stored, Mapping) and stored.get("kind") == QUADRATICS
        instance = QuadraticRun.read(stored) if of_run else Instance.read(stored, (WITHOUT_STATES,))
        rounds = {str(name): int(k) for name, k in parse_json(data["rounds"]).items()}
        if (ends := data.get("ends", "")) not in ENDS:
            raise InvalidInput(f"the ends of ranges are chosen by one of {', '.join(map(repr, ENDS))}, got {ends!r}")
        return cls(int(data["claim"]), rounds, instance, instance.left, ends)


@dataclass(frozen=True)
class Guarded:
    """What was looked at without finding a violation: points, rounds, and why some could not be; ``clients``: numbers of clients that were run.

    ``suspected``: where floats see the claim fail, or what is known of values lets it, and no exact instance was found. ``impossible``: at how many
    of the points nothing meets what is assumed, so that the claim cannot fail there.
    """

    points: int
    rounds: tuple[Mapping[str, int], ...]
    left_out: tuple[str, ...] = ()
    clients: tuple[int, ...] = ()
    suspected: tuple[str, ...] = ()
    impossible: int = 0


class _Impossible(InvalidInput):
    """Nothing meets what is assumed at a point."""


class _Suspected(InvalidInput):
    """Floats see a claim fail, or what is known of values does, and nothing exact."""


def _tried(theorem: Theorem, *, limits: bool = False) -> Iterator[tuple[int, Sentence]]:
    every = ((claim, tried_sentence(theorem, claim)) for claim in range(len(theorem.claims)))
    return (pair for pair in every if (pair[1].sign == "->") == limits)


def refute_theorem(
    theorem: Theorem, at: Sequence[Mapping[str, Fraction]] = (), later: int = LATER, most: int | None = None
) -> BrokenClaim | Guarded:
    """An exact instance against a claim; or what was looked at.

    ``at``: points of the region, those that are chosen where it is left out, at which runs are tried, too; ``later``: how many rounds are tried from
    the least one on; ``most``: so many of the points that are chosen.
    """
    looked, impossible, left_out, suspected, seen = 0, 0, list[str](), list[str](), list[Mapping[str, int]]()
    if (against := _refute_limits(theorem)) is not None:
        return against
    left_out += [
        "what happens in the limit is tried on runs that come back alone" for _ in _tried(theorem, limits=True)
    ]
    for claim, sentence in _tried(theorem):
        for rounds in small_rounds(theorem, sentence, later):
            chosen = _spread(_points(theorem, sentence), most)
            points = at or [one for point in chosen for one in list_tight_points(theorem, sentence, rounds, point)]
            for point, ends in itertools.product(points, list_ends(theorem)):
                try:
                    tried = ClaimAt(theorem, claim, rounds, settle_parameters(theorem, rounds, point), ends)
                    found = _refute_at(tried)
                    if found is None:
                        require_a_size(theorem, claim, tried.numbers)
                except _Impossible:
                    impossible += 1
                    continue
                except (FedtheoryError, ArithmeticError, TypeError, ValueError) as error:
                    (suspected if isinstance(error, _Suspected) else left_out).append(_tell_error(error, point))
                    continue
                if found is not None:
                    return found
                looked += 1
                if rounds not in seen:
                    seen.append(rounds)
    clients: tuple[int, ...] = ()
    if not at and isinstance(theorem.states, MethodStates) and _is_tried_on_runs(theorem, theorem.states):
        few = most is not None and theorem.given  # each run is then held against what is given, at every point
        against, clients = _try_runs(theorem, theorem.states, *((1, later) if few else (RUN_POINTS, LATER)))
        if against is not None:
            return against
    return Guarded(
        looked, tuple(seen), tuple(dict.fromkeys(left_out)), clients, tuple(dict.fromkeys(suspected)), impossible
    )


def _tell_error(error: Exception, point: Mapping[str, Fraction]) -> str:
    """What kept a point from being looked at; Python's own words on a division by zero say nothing."""
    if not isinstance(error, ZeroDivisionError):
        return str(error)
    return f"something is divided by zero at {', '.join(f'{name} = {number}' for name, number in point.items())}"


def guard_proved(theorem: Theorem) -> BrokenClaim | Guarded:
    """What `refute_theorem` finds with less effort, of a theorem that a term proves; with all of it where nothing meets what is assumed."""
    found = refute_theorem(theorem, later=LATER_OF_PROVED, most=MOST_OF_PROVED)
    empty = isinstance(found, Guarded) and found.impossible and not found.points
    return refute_theorem(theorem) if empty else found


def _is_tried_on_runs(theorem: Theorem, states: MethodStates) -> bool:
    """Whether runs on quadratics are of the theorem: clients need have no minimiser in common. What is given is held against each run."""
    return not (theorem.sequences or states.shares_minimiser)


def _try_runs(
    theorem: Theorem, states: MethodStates, points: int, later: int
) -> tuple[BrokenClaim | None, tuple[int, ...]]:
    """A run on random quadratics that breaks a claim, or None; and the numbers of clients for which all claims were tried."""
    rng, tried = np.random.default_rng(0), set[int]()
    for claim, sentence in _tried(theorem):
        for point in itertools.islice(_points(theorem, sentence), points):
            runs = [] if theorem.given else [*draw_runs(states, point, rng)]
            if theorem.given or states.clients:
                runs += draw_plain_runs(states, point, rng)
            for run, rounds in itertools.product(runs, small_rounds(theorem, sentence, later)):
                try:
                    sized = _sized(theorem, BrokenClaim(claim, rounds, run, Fraction(0)))
                    gap = _gap_of_run(theorem, BrokenClaim(claim, rounds, sized, Fraction(0)))
                except (FedtheoryError, ArithmeticError, TypeError, ValueError):
                    continue
                tried.add(run.clients)
                if failed := _fails_by(gap, sentence):
                    return BrokenClaim(claim, rounds, replace(sized, left=failed), failed), ()
    return None, tuple(sorted(tried))


def _sized(theorem: Theorem, broken: BrokenClaim) -> QuadraticRun:
    """A run whose start and centres are as large as what is given allows, and values as small, where quantities are squares of lengths or values."""
    run, at = broken.instance, broken.at(theorem)
    assert isinstance(run, QuadraticRun)
    if not theorem.given:
        return run
    point_like = run.times(Fraction(0))
    asked = (run, point_like, replace(point_like, offset=Fraction(1)))
    every = [[left for _, left, _ in _given_of_run(at, one)] for one in asked]
    rows = [(whole - nothing, nothing, raised - nothing) for whole, nothing, raised in zip(*every, strict=True)]
    least = min((-nothing / of_size for of_size, nothing, raised in rows if of_size > 0 and not raised), default=1)
    size = Fraction(math.isqrt(int(least * SIZES**2)), SIZES)
    offsets = [-(size**2 * of_size + nothing) / raised for of_size, nothing, raised in rows if raised < 0]
    return replace(run.times(size), offset=max(offsets, default=Fraction(0)))


def _given_of_run(at: ClaimAt, run: QuadraticRun) -> list[tuple[str, Any, bool]]:
    """What is given, of all rounds of a run where these may differ: at the point that is worst for it."""
    theorem, (base, last, start) = at.theorem, find_extent(at)
    assert isinstance(theorem.states, MethodStates)
    later, played = list_of_all_rounds(theorem), play_run(theorem.states, run, last)
    points = [fields.get("x") for of_round in played for _, fields in of_round]
    if later and any(x is None or ConcreteSpace().is_of_each(x) for x in points):
        raise InvalidInput("clients have no point x in common")
    found = [(name, find_largest_gap(theorem, one, run), one.sign == "<") for name, one in later.items()]
    if later.keys() == theorem.hypotheses.keys():
        return found
    lookup = _looked_up(theorem, played, run.point)
    supposed = list_supposed(at, (base, base + last, start), lookup, place_between)
    return found + [row for row in supposed if row[0] not in later]


def _refute_limits(theorem: Theorem) -> BrokenClaim | None:
    """A run that comes back to a state it had, with a quantity that is not the limit: it is not so in infinitely many rounds."""
    states = theorem.states
    if (
        not isinstance(states, MethodStates)
        or theorem.assumed
        or theorem.given
        or not _is_tried_on_runs(theorem, states)
    ):
        return None
    for claim, sentence in _tried(theorem, limits=True):
        name = sentence.to_infinity
        alone = not sentence.names & theorem.rounds.keys()  # it speaks of no other round
        for point in _points(theorem, sentence) if alone else ():
            for run in list_end_runs(states, point):
                broken = BrokenClaim(claim, {name: theorem.rounds[name]}, run, Fraction(0))
                with contextlib.suppress(FedtheoryError, ArithmeticError, TypeError, ValueError):
                    if failed := _fails_by(_gap_of_run(theorem, broken), sentence):
                        return replace(broken, instance=replace(run, left=failed), gap=failed)
    return None


def _gap_of_run(theorem: Theorem, broken: BrokenClaim, *, floats: bool = False) -> Any:
    """Left side less right side on a run: a fraction, or between two where something is irrational."""
    at, run, states = broken.at(theorem), broken.instance, theorem.states
    assert isinstance(run, QuadraticRun)
    if not isinstance(states, MethodStates):
        raise InvalidInput("a run on quadratics is one of a listed method")
    if states.shares_minimiser:
        raise InvalidInput("the clients of a run on quadratics have no minimiser in common")
    require_run(states, run)
    _, last, _ = find_extent(at)
    if at.sentence.sign == "->":
        _require_return(at, states, run)
    unmet = [] if floats else [name for name, left, strict in _given_of_run(at, run) if is_above(left, strict)]
    if unmet:
        raise InvalidInput(f"the run does not meet {unmet[0]}")
    point: Mapping[str, Any] = in_floats(dict(run.point)) if floats else run.point
    lookup = _looked_up(theorem, play_run(states, run, last, floats=floats), point)
    return _gap(at, {**at.numbers, **point}, lookup, floats=floats)


def _looked_up(theorem: Theorem, played: Outcomes, point: Mapping[str, Any]) -> Lookup:
    """Quantities of the rounds of a run."""
    return lambda name, k: expect_at(theorem, played[k], name, ConcreteSpace(), point)


def _require_return(at: ClaimAt, states: MethodStates, run: QuadraticRun) -> None:
    """See that what a limit is claimed of is, in every second round, what it is in the instance's."""
    if at.sentence.along or counts_rounds(at.theorem, at.sentence) or states.is_numbered(at.theorem.parameters):
        raise InvalidInput(
            "a limit along some rounds, or of what depends on their number, is not refuted by a run that comes back"
        )
    if not comes_back(states, run, min(at.rounds_of(at.sentence, at.numbers))):
        raise InvalidInput("the run does not come back to a state that it had")


def _gap(at: ClaimAt, numbers: Mapping[str, Any], lookup: Lookup, *, floats: bool) -> Any:
    number, irrational = (float, None) if floats else (Fraction, place_between)
    return Sides(numbers, lookup, at.theorem.formulas, number, irrational).gap(at.sentence)


def replay_claim(theorem: Theorem, broken: BrokenClaim, *, floats: bool = False) -> Any:
    """Left side less right side on the numbers of an instance, by the states' own rounds: a fraction, between two of them, or in floats.

    Raises
    ------
    InvalidInput
        The instance lies outside of the region, or does not meet the classes, or what is given.
    """
    at, instance = broken.at(theorem), broken.instance
    if not theorem.parameters.inside(instance.point):
        raise InvalidInput("the point lies outside of the region")
    low = any(broken.rounds.get(name, least) < least for name, least in theorem.rounds.items())
    if low or any(instance.point.get(name) != k for name, k in at.sentence.fixed):
        raise InvalidInput("the rounds lie before those that the claim is about")
    if isinstance(instance, QuadraticRun):
        return _gap_of_run(theorem, broken, floats=floats)
    plain = in_floats(instance) if floats else instance
    numbers = {**at.numbers, **plain.point}
    if theorem.states is None:
        of_sequences, exact = find_sequences(at)
        if not exact:
            raise InvalidInput("numbers of its sequences are not known exactly, or may not go on")
        return _gap(at, numbers, of_sequences, floats=floats)
    posed, _, _ = follow_claim(at)
    told = replace(plain, point=in_floats(posed.told) if floats else posed.told)
    played, world = play_on_instance(theorem.states, posed.trace, told, posed.played, start=posed.start)

    def lookup(name: str, k: int) -> Any:
        if name in theorem.sequences:
            return number_of(posed.numbers, name, k)
        return expect_at(theorem, played[k - posed.base], name, ConcreteSpace(), plain.point)

    gap = _gap(at, numbers, lookup, floats=floats)
    unmet = [] if floats else world.broken()
    if not floats:
        require_later_rounds(at, posed, world)
    given = [] if floats else list_supposed(at, posed.rounds, lookup, place_between)
    unmet += [name for name, left, strict in given if is_above(left, strict)]
    if unmet:
        raise InvalidInput(f"the instance does not meet {unmet[0]}")
    return gap


def _refute_at(at: ClaimAt) -> BrokenClaim | None:
    if at.theorem.states is None:
        return _refute_numbers(at)
    posed, gaps, rows = follow_claim(at)
    _require_possible(_with_given(posed.trace.system(Form()), rows), rows, at)
    exact = posed.exact
    for side in (1, -1) if at.sentence.sign == "==" else (1,):
        system = _with_given(_all_above_zero(posed.trace, [gap * side for gap in gaps]), rows)
        try:
            found = _instance(at, system, exact=exact)
        except (
            _Suspected
        ):  # where what is given must hold at every point an instance may be found whose later rounds are known
            everywhere = posed.list_everywhere(at.theorem)
            found = _instance(at, _with_given(system, everywhere), exact=exact) if everywhere else None
            if found is None:
                raise
        if found is not None:
            return found
    if at.sentence.sign == "<" and exact and _are_equal_at_zero(gaps, rows, posed.trace):
        raise _Suspected(f"both sides of a strict inequality are equal at {at}, where all vectors and values are zero")
    return None


def _are_equal_at_zero(gaps: Sequence[Any], rows: Sequence[GivenForm], trace: StateTrace) -> bool:
    """Whether the least gap is zero where all vectors and values are, and these meet what is assumed: no instance shows by how much it fails."""
    met = all(form.constant <= 0 for _, form in trace.system(Form()).hypotheses) and all(
        form.constant < 0 or (form.constant == 0 and not strict) for _, form, strict in rows
    )
    return met and min(gap.constant if isinstance(gap, Form) else gap for gap in gaps) == 0


def system_at(theorem: Theorem, claim: int, rounds: Mapping[str, int], point: Mapping[str, Fraction]) -> System:
    """An inequality that is claimed, at a point of the region and for these rounds, as what is to follow from what is given and from the classes.

    Raises
    ------
    FedtheoryError
        The states cannot be followed there, or what is given does not hold.
    """
    posed, gaps, rows = follow_claim(ClaimAt(theorem, claim, rounds, point))
    return _with_given(_all_above_zero(posed.trace, gaps), rows)


def _with_given(system: System, rows: Sequence[GivenForm]) -> System:
    return replace(system, hypotheses=(*system.hypotheses, *((name, form) for name, form, _ in rows)))


def _require_possible(system: System, rows: Sequence[GivenForm], at: ClaimAt) -> None:
    """See that something meets what is assumed; where each strict inequality can be met beside the others, a sum of such states meets all of them."""
    strict = [-form for _, form, strict in rows if strict and form.constant >= 0]
    supposes = any(form.constant > 0 for _, form in system.rows)  # without such, zero vectors and values meet all
    for most in strict or [Form(constant=1)] * supposes:
        if violation(system.with_conclusion(most), ways=IN_WORDS)[0] <= SUSPECT:
            raise _Impossible(f"nothing meets what is assumed at {at}")


def _refute_numbers(at: ClaimAt) -> BrokenClaim | None:
    """A claim about numbers alone."""
    lookup, exact = find_sequences(at)
    gap = _gap(at, at.numbers, lookup, floats=False)
    if failed := _fails_by(gap, at.sentence):
        if exact:
            return BrokenClaim.of(at, Instance(WITHOUT_STATES, dict(at.point), (), (), (), failed))
        if failed > SUSPECT_OF_DIGITS:
            raise _Suspected(f"in floats the claim fails by {float(failed):.3g} at {at}")
    elif exact and at.sentence.sign == "<" and gap == 0:  # no instance shows by how much
        raise _Suspected(f"both sides of a strict inequality are equal at {at}")
    elif is_above(gap, at.sentence.sign == "<") or (at.sentence.sign == "==" and is_above(-gap, or_at=False)):
        raise InvalidInput(f"whether it holds was not found out at {at}")
    return None


def _fails_by(gap: Any, sentence: Sentence) -> Fraction:
    """By how much a claim fails for certain; 0 where it does not."""
    between = Between.of(gap)
    sides = (between, -between) if sentence.sign in ("==", "->") else (between,)
    return next((side.least if isinstance(gap, Between) else side.low for side in sides if side.low > 0), Fraction(0))


#: names of what is said of the least of several gaps, beside names that authors give
_LEAST = "the least gap is at most number "


def _all_above_zero(trace: StateTrace, gaps: list[Any]) -> System:
    """The system whose conclusion fails where all of these are above zero: a number that is below each of them is at most zero."""
    forms = [gap if isinstance(gap, Form) else Form(constant=gap) for gap in gaps]
    if len(forms) == 1:
        return trace.system(forms[0])
    system = trace.system(Form())
    least = Form(values={system.values: 1})
    below = tuple((f"{_LEAST}{k}", least - form) for k, form in enumerate(forms))
    return replace(system, values=system.values + 1, hypotheses=(*system.hypotheses, *below), conclusion=least)


def _instance(at: ClaimAt, system: System, *, exact: bool) -> BrokenClaim | None:
    worst, answer, _ = violation(system, ways=IN_WORDS)
    if worst <= (SUSPECT if exact else SUSPECT_OF_DIGITS):
        return None
    if np.isnan(worst):
        raise InvalidInput(f"no solver's answer was good at {at}")
    if is_relaxed(system.hypotheses):
        raise _Suspected(f"what is known of values at points that depend on who takes part lets the claim fail at {at}")
    instance = find_instance(system, at.point, worst) if exact else None
    if instance is None:
        # where what is given lets a square be zero alone, a residual moves the worst case by its root
        if answer is not None and worst <= math.sqrt(answer.worst()):
            raise InvalidInput(f"no solver's answer was good at {at}")
        raise _Suspected(f"floats see the claim fail at {at}, and no exact instance was found")
    broken = BrokenClaim.of(at, replace(instance, values=instance.values[: _own_values(system, instance)]))
    try:  # it was seen to fail, so that to leave the point out would be to support it
        gap = replay_claim(at.theorem, broken)
    except FedtheoryError as reason:
        raise _Suspected(f"the claim is seen to fail at {at}, and {reason}") from None
    failed = _fails_by(gap, at.sentence)
    if not failed or (failed < instance.left and not isinstance(gap, Between)):
        raise _Suspected(
            f"the claim is seen to fail at {at}; the states' own rounds come to {gap}, and not to {instance.left}"
        )
    return replace(broken, gap=failed, instance=replace(broken.instance, left=failed))


def _own_values(system: System, instance: Instance) -> int:
    """How many values of an instance are those of its states, and not the least of several gaps."""
    several = any(name.startswith(_LEAST) for name, _ in system.hypotheses)
    return len(instance.values) - several


def _spread(points: Iterator[dict[str, Fraction]], most: int | None) -> Sequence[dict[str, Fraction]]:
    every = list(points)
    return every if most is None else every[:: max(1, -(-len(every) // most))]


def _points(theorem: Theorem, sentence: Sentence) -> Iterator[dict[str, Fraction]]:
    for fixed, region in theorem.parameters.cases():
        if all(fixed.get(name) == k for name, k in sentence.fixed):
            points = [*region.simple_points(POINTS), *region.corners(CORNERS)]
            for k, point in enumerate(points):
                if point not in points[:k]:
                    yield {**fixed, **point}
