"""Exact instances against a theorem: its claim at a few rounds and parameters, by substitution, and fractions that break it.

At a point of the region and for small rounds the claim is one inequality about the quantities of a few states. What is given of their rounds are
further inequalities. Where a semidefinite program sees the claim fail, fractions are looked for, and the method's own rounds are played on them.
Runs on random quadratics of several clients are tried besides, which ask no engine (`fedtheory.claims.statements.theorems.on_quadratics`).
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.claims.statements.theorems.on_quadratics import (
    QUADRATICS,
    QuadraticRun,
    draw_runs,
    play_run,
    require_run,
)
from fedtheory.claims.statements.theorems.played import ConcreteSpace, play_on_instance
from fedtheory.claims.statements.theorems.quantities import expect_quantity, names_of_quantity
from fedtheory.claims.statements.theorems.sequences import (
    find_numbers,
    is_free,
    list_ends,
    own_of_claim,
    settle_parameters,
)
from fedtheory.claims.statements.theorems.sides import Lookup, Sides
from fedtheory.claims.statements.theorems.squares import require_a_size, tried_sentence
from fedtheory.claims.statements.theorems.states import MethodStates, StateTrace, SymbolicSpace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import FedtheoryError, InvalidInput
from fedtheory.core.exact import in_floats
from fedtheory.proofs.checker.formulas import Sentence, indexed, quantity_of
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.programs import IN_WORDS, SUSPECT, violation
from fedtheory.proofs.parameters.refutations import Instance, find_instance
from fedtheory.proofs.parameters.system import System
from fedtheory.tools.untrusted import parse_json

#: rounds beyond the least that are tried, points of each case, and most states that are unrolled
LATER, POINTS, CORNERS, MOST_STATES = 3, 6, 27, 6
#: the same where a term proves the theorem, and one engine guards the other: rounds, and points from all over those above
LATER_OF_PROVED, MOST_OF_PROVED = 2, 8
#: points at which runs on quadratics are tried, and rounds after those of a claim in which what is given must hold, too
RUN_POINTS, FURTHER = 3, 1
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
        return cls(int(data["claim"]), rounds, instance, instance.left, data.get("ends", ""))


@dataclass(frozen=True)
class Guarded:
    """What was looked at without finding a violation: points, rounds, and why some could not be; ``clients``: numbers of clients that were run.

    ``suspected``: where floats see the claim fail and no exact instance was found. ``impossible``: at how many of the points nothing meets what is
    assumed, so that the claim cannot fail there.
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
    """Floats see a claim fail, and nothing exact does."""


def _tried(theorem: Theorem) -> Iterator[tuple[int, Sentence]]:
    return ((claim, tried_sentence(theorem, claim)) for claim in range(len(theorem.claims)))


def refute_theorem(
    theorem: Theorem, at: Sequence[Mapping[str, Fraction]] = (), later: int = LATER, most: int | None = None
) -> BrokenClaim | Guarded:
    """An exact instance against a claim; or what was looked at.

    ``at``: points of the region, those that are chosen where it is left out, at which runs are tried, too; ``later``: how many rounds are tried from
    the least one on; ``most``: so many of the points that are chosen.
    """
    looked, impossible, left_out, suspected, seen = 0, 0, list[str](), list[str](), list[Mapping[str, int]]()
    for claim, sentence in _tried(theorem):
        if sentence.sign == "->":
            left_out.append("what happens in the limit is not tried on instances")
            continue
        for rounds in _small_rounds(theorem, sentence, later):
            points = at or _spread(_points(theorem, sentence), most)
            for point, ends in itertools.product(points, list_ends(theorem)):
                try:
                    settled = settle_parameters(theorem, rounds, point)
                    found = _refute_at(theorem, claim, sentence, rounds, settled, ends)
                    if found is None:
                        require_a_size(theorem, claim, {**settled, **_fractions(rounds)})
                except _Impossible:
                    impossible += 1
                    continue
                except (FedtheoryError, ArithmeticError, TypeError, ValueError) as error:
                    (suspected if isinstance(error, _Suspected) else left_out).append(str(error))
                    continue
                if found is not None:
                    return found
                looked += 1
                if rounds not in seen:
                    seen.append(rounds)
    clients: tuple[int, ...] = ()
    if not at and isinstance(theorem.states, MethodStates) and not theorem.given and not theorem.sequences:
        against, clients = _try_runs(theorem, theorem.states)
        if against is not None:
            return against
    return Guarded(
        looked, tuple(seen), tuple(dict.fromkeys(left_out)), clients, tuple(dict.fromkeys(suspected)), impossible
    )


def guard_proved(theorem: Theorem) -> BrokenClaim | Guarded:
    """What `refute_theorem` finds with less effort, of a theorem that a term proves; with all of it where nothing meets what is assumed."""
    found = refute_theorem(theorem, later=LATER_OF_PROVED, most=MOST_OF_PROVED)
    empty = isinstance(found, Guarded) and found.impossible and not found.points
    return refute_theorem(theorem) if empty else found


def _try_runs(theorem: Theorem, states: MethodStates) -> tuple[BrokenClaim | None, tuple[int, ...]]:
    """A run on random quadratics that breaks a claim, or None; and the numbers of clients for which all claims were tried."""
    rng, tried = np.random.default_rng(0), set[int]()
    for claim, sentence in _tried(theorem):
        for point in itertools.islice(_points(theorem, sentence), RUN_POINTS):
            for run in draw_runs(states, point, rng):
                for rounds in _small_rounds(theorem, sentence):
                    try:
                        gap = _gap_of_run(theorem, BrokenClaim(claim, rounds, run, Fraction(0)))
                    except (FedtheoryError, ArithmeticError, TypeError, ValueError):
                        continue
                    tried.add(run.clients)
                    if isinstance(gap, Fraction) and (gap > 0 or (gap and sentence.sign == "==")):
                        return BrokenClaim(claim, rounds, replace(run, left=gap), gap), ()
    return None, tuple(sorted(tried))


def _gap_of_run(theorem: Theorem, broken: BrokenClaim, *, floats: bool = False) -> Any:
    """Left side less right side on a run; a fraction where nothing is a root."""
    sentence, run, states = tried_sentence(theorem, broken.claim), broken.instance, theorem.states
    assert isinstance(run, QuadraticRun)
    if not isinstance(states, MethodStates):
        raise InvalidInput("a run on quadratics is one of a listed method")
    require_run(states, run)
    _, last, _ = _extent(theorem, sentence, broken.rounds, run.point)
    played = play_run(states, run, last, floats=floats)
    point: Mapping[str, Any] = in_floats(dict(run.point)) if floats else run.point

    def lookup(name: str, k: int) -> Any:
        return _expected(theorem, played[k], name, ConcreteSpace(), point)

    number = float if floats else Fraction
    return Sides({**point, **_fractions(broken.rounds)}, lookup, theorem.formulas, number).gap(sentence)


def replay_claim(theorem: Theorem, broken: BrokenClaim, *, floats: bool = False) -> Any:
    """Left side less right side on the numbers of an instance, by the states' own rounds: a fraction, or in floats.

    Raises
    ------
    InvalidInput
        The instance lies outside of the region, or does not meet the classes, or what is given.
    """
    sentence, instance = tried_sentence(theorem, broken.claim), broken.instance
    if not theorem.parameters.inside(instance.point):
        raise InvalidInput("the point lies outside of the region")
    low = any(broken.rounds.get(name, least) < least for name, least in theorem.rounds.items())
    if low or any(instance.point.get(name) != k for name, k in sentence.fixed):
        raise InvalidInput("the rounds lie before those that the claim is about")
    if isinstance(instance, QuadraticRun):
        return _gap_of_run(theorem, broken, floats=floats)
    plain = in_floats(instance) if floats else instance
    numbers, number = {**plain.point, **_fractions(broken.rounds)}, float if floats else Fraction
    if theorem.states is None:
        of_sequences, exact = _find_sequences(theorem, sentence, broken.rounds, instance.point, broken.ends)
        if not exact:
            raise InvalidInput("numbers of its sequences are not known exactly, or may not go on")
        return Sides(numbers, of_sequences, theorem.formulas, number).gap(sentence)
    posed, _, _ = _on_symbols(theorem, sentence, broken.rounds, instance.point, broken.ends)
    told = replace(plain, point=in_floats(posed.told) if floats else posed.told)
    played, world = play_on_instance(theorem.states, posed.trace, told, posed.played, start=posed.start)

    def lookup(name: str, k: int) -> Any:
        if name in theorem.sequences:
            return _number_of(posed.numbers, name, k)
        return _expected(theorem, played[k - posed.base], name, ConcreteSpace(), plain.point)

    gap = Sides(numbers, lookup, theorem.formulas, number).gap(sentence)
    unmet = [] if floats else world.broken()
    given = [] if floats else _given(theorem, posed, broken.rounds, instance.point, lookup)
    unmet += [name for name, left, strict in given if left > 0 or (strict and left == 0)]
    if unmet:
        raise InvalidInput(f"the instance does not meet {unmet[0]}")
    return gap


def _expected(theorem: Theorem, outcomes: Any, name: str, space: Any, point: Mapping[str, Any]) -> Any:
    """A quantity's expectation over the outcomes of the draws."""
    zero: Any = Form() if isinstance(space, SymbolicSpace) else Fraction(0)
    return expect_quantity(theorem.quantities[name], space, outcomes, point, theorem.formulas, zero)


#: what is given of some rounds: its name, what is at most zero, and whether it is below
_GivenForm = tuple[str, Form, bool]


@dataclass(frozen=True)
class _Posed:
    """A claim at a point, for some rounds: states from the round ``base`` on, of which the claim speaks of the first ``last`` and one.

    ``played``: how many more there are than one; ``numbers``: of sequences, ``exact`` unless they are known to some digits only; ``told``: parameters
    and these, as states know them.
    """

    trace: StateTrace
    base: int
    last: int
    played: int
    start: bool
    numbers: Mapping[tuple[str, int], Fraction]
    told: Mapping[str, Fraction]
    exact: bool


def _pose(
    theorem: Theorem, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction], ends: str
) -> _Posed:
    base, last, start = _extent(theorem, sentence, rounds, point)
    of_rounds = any(_may_fail_later(theorem, hypothesis) for hypothesis in theorem.hypotheses.values())
    played = last + FURTHER if of_rounds else last
    assert theorem.states is not None
    numbers, exact, told = {}, True, dict(point)
    if theorem.sequences:
        count = max(base + played, _last_number(theorem, sentence, {**point, **_fractions(rounds)})) + 2
        found = find_numbers(theorem, point, rounds, count, ends)
        numbers, exact = dict(found.values), found.exact
        told |= {f"{name}_{k - base}": value for (name, k), value in numbers.items() if k >= base}
    trace = theorem.states.trace(told, theorem.parameters, played, start=start, number=base)
    return _Posed(trace, base, last, played, start, numbers, told, exact)


def _may_fail_later(theorem: Theorem, hypothesis: Sentence) -> bool:
    """Whether a hypothesis speaks of rounds; where clients are drawn, and one round is played, of what is not the same in all of them."""
    if not hypothesis.names & theorem.rounds.keys() - theorem.own_rounds(hypothesis):
        return False
    states, spoken = theorem.states, {quantity_of(node) for side in hypothesis.sides for node in indexed(side)}
    if not isinstance(states, MethodStates) or not states.clients:
        return True
    same = {"f", "f_i", "x_star", *theorem.parameters.names}
    return not all(names_of_quantity(theorem.quantities.get(name, name)) <= same for name in spoken)


def _given(
    theorem: Theorem, posed: _Posed, own: Mapping[str, int], point: Mapping[str, Any], lookup: Any
) -> Iterator[tuple[str, Any, bool]]:
    """What is given of the rounds that are played: by name, left side less right side, which is at most zero, and whether it is below.

    ``own``: the rounds of the claim, about which some hypotheses are (`Theorem.own_rounds`).
    """
    for name, hypothesis in theorem.hypotheses.items():
        if hypothesis.sign == "->" or hypothesis.exists is not None:
            raise InvalidInput("the claim rests on hypotheses about limits, so that it is not tried on instances")
        rounds = sorted(hypothesis.names & theorem.rounds.keys())
        first = [max(theorem.rounds[n], 0 if posed.start else posed.base) for n in rounds]
        fixed = theorem.own_rounds(hypothesis)
        every = [
            (own.get(n, theorem.rounds[n]),) if n in fixed else range(low, posed.base + posed.played + 1)
            for n, low in zip(rounds, first, strict=True)
        ]
        for ks in itertools.product(*every):
            at = dict(zip(rounds, map(Fraction, ks), strict=True))
            asked: list[int] = []
            try:
                _ask(theorem, hypothesis, {**point, **at}, asked)
                if asked and not posed.base <= min(asked) <= max(asked) <= posed.base + posed.played:
                    if fixed.issuperset(rounds):
                        raise InvalidInput(f"the hypothesis {name} speaks of rounds that are not played")
                    continue
                gap = Sides({**point, **at}, lookup, theorem.formulas).gap(hypothesis)
            except (TypeError, KeyError):
                raise InvalidInput(
                    f"the hypothesis {name} is not linear in quantities, or speaks of other rounds"
                ) from None
            yield name, gap, hypothesis.sign == "<"
            if hypothesis.sign == "==":
                yield name, -gap, False


def _ask(theorem: Theorem, sentence: Sentence, numbers: Mapping[str, Any], asked: list[int]) -> None:
    """Note the rounds of the quantities of which a sentence speaks."""

    def lookup(name: str, k: int) -> Fraction:
        if name in theorem.quantities:
            asked.append(k)
        return Fraction(1)

    Sides(numbers, lookup, theorem.formulas).gap(sentence)


def _refute_at(
    theorem: Theorem,
    claim: int,
    sentence: Sentence,
    rounds: Mapping[str, int],
    point: Mapping[str, Fraction],
    ends: str,
) -> BrokenClaim | None:
    if theorem.states is None:
        return _refute_numbers(theorem, claim, sentence, rounds, point, ends)
    posed, gaps, rows = _on_symbols(theorem, sentence, rounds, point, ends)
    exact = posed.exact and not any(map(_has_floats, gaps))
    for side in (1, -1) if sentence.sign == "==" else (1,):
        system = _with_given(_all_above_zero(posed.trace, [gap * side for gap in gaps]), rows)
        _require_possible(system, rows, point)
        found = _instance(theorem, claim, system, rounds, point, ends, exact=exact)
        if found is not None:
            return found
    if sentence.sign == "<" and exact and _are_equal_at_zero(gaps, rows, posed.trace):
        raise _Suspected(
            f"both sides of a strict inequality are equal at {_show(point)}, rounds {dict(rounds)}, where all vectors and values are zero"
        )
    return None


def _are_equal_at_zero(gaps: Sequence[Any], rows: Sequence[_GivenForm], trace: StateTrace) -> bool:
    """Whether the least gap is zero where all vectors and values are, and these meet what is assumed: no instance shows by how much it fails."""
    met = all(form.constant <= 0 for _, form in trace.system(Form()).hypotheses) and all(
        form.constant < 0 or (form.constant == 0 and not strict) for _, form, strict in rows
    )
    return met and min(gap.constant if isinstance(gap, Form) else gap for gap in gaps) == 0


def _has_floats(gap: Any) -> bool:
    """Whether a number of a gap is known to some digits only: a root that is no fraction."""
    numbers = [*gap.gram.values(), *gap.values.values(), gap.constant] if isinstance(gap, Form) else [gap]
    return any(isinstance(number, float) for number in numbers)


def _on_symbols(
    theorem: Theorem, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction], ends: str = ""
) -> tuple[_Posed, list[Any], list[_GivenForm]]:
    """The rounds on leaves, left side less right side as a form (of 'exists', of each round), and what is given of these rounds."""
    posed = _pose(theorem, sentence, rounds, point, ends)

    def lookup(name: str, k: int) -> Any:
        if name in theorem.sequences:
            return _number_of(posed.numbers, name, k)
        return _expected(theorem, posed.trace.states[k - posed.base], name, posed.trace.space, point)

    gaps = Sides({**point, **_fractions(rounds)}, lookup, theorem.formulas).gaps(sentence)
    rows: list[_GivenForm] = []
    for k, (name, left, strict) in enumerate(_given(theorem, posed, rounds, point, lookup)):
        if isinstance(left, Form):
            rows.append((f"given {name} {k}", left, strict))
        elif left > (0 if posed.exact else SUSPECT) or (strict and posed.exact and left == 0):
            raise InvalidInput(f"the point does not meet the hypothesis {name}")
    return posed, gaps, rows


def system_at(theorem: Theorem, claim: int, rounds: Mapping[str, int], point: Mapping[str, Fraction]) -> System:
    """An inequality that is claimed, at a point of the region and for these rounds, as what is to follow from what is given and from the classes.

    Raises
    ------
    FedtheoryError
        The states cannot be followed there, or what is given does not hold.
    """
    posed, gaps, rows = _on_symbols(theorem, tried_sentence(theorem, claim), rounds, point)
    return _with_given(_all_above_zero(posed.trace, gaps), rows)


def _with_given(system: System, rows: Sequence[_GivenForm]) -> System:
    return replace(system, hypotheses=(*system.hypotheses, *((name, form) for name, form, _ in rows)))


def _require_possible(system: System, rows: Sequence[_GivenForm], point: Mapping[str, Fraction]) -> None:
    """See that something meets what is assumed; where each strict inequality can be met beside the others, a sum of such states meets all of them."""
    strict = [-form for _, form, strict in rows if strict and form.constant >= 0]
    supposes = any(form.constant > 0 for _, form in system.rows)  # without such, zero vectors and values meet all
    for most in strict or [Form(constant=1)] * supposes:
        if violation(system.with_conclusion(most), ways=IN_WORDS)[0] <= SUSPECT:
            raise _Impossible(f"nothing meets what is assumed at {_show(point)}")


def _number_of(numbers: Mapping[tuple[str, int], Fraction], name: str, k: int) -> Fraction:
    """A number of a sequence; a sum that begins before its first one asks for what there is not."""
    if (name, k) not in numbers:
        raise InvalidInput(f"{name}[{k}] has no value")
    return numbers[name, k]


def _refute_numbers(
    theorem: Theorem,
    claim: int,
    sentence: Sentence,
    rounds: Mapping[str, int],
    point: Mapping[str, Fraction],
    ends: str,
) -> BrokenClaim | None:
    """A claim about numbers alone."""
    lookup, exact = _find_sequences(theorem, sentence, rounds, point, ends)
    gap = Sides({**point, **_fractions(rounds)}, lookup, theorem.formulas).gap(sentence)
    failed = gap > 0 or (sentence.sign == "==" and gap != 0) or (sentence.sign == "<" and gap == 0)
    if exact and isinstance(gap, Fraction):
        if failed and gap == 0:  # no instance shows by how much
            raise _Suspected(f"both sides of a strict inequality are equal at {_show(point)}, rounds {dict(rounds)}")
        empty = Instance(WITHOUT_STATES, dict(point), (), (), (), gap)
        return BrokenClaim(claim, dict(rounds), empty, gap, ends) if failed else None
    if abs(gap) > SUSPECT_OF_DIGITS and failed:
        raise _Suspected(f"in floats the claim fails by {float(gap):.3g} at {_show(point)}, rounds {dict(rounds)}")
    return None


def _find_sequences(
    theorem: Theorem, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction], ends: str
) -> tuple[Lookup, bool]:
    """Numbers of sequences, of a theorem about numbers alone, and whether any that go on after them have what is given."""
    if not theorem.sequences:
        _require_hypotheses(theorem, {**point, **own_of_claim(theorem, rounds)})
        return _none, True
    count = max(*rounds.values(), 0, _last_number(theorem, sentence, {**point, **_fractions(rounds)})) + 2
    found = find_numbers(theorem, point, rounds, count, ends)
    return partial(_number_of, found.values), found.exact and is_free(theorem)


def _last_number(theorem: Theorem, sentence: Sentence, numbers: Mapping[str, Any]) -> int:
    """The last number of a sequence of which a sentence speaks."""
    return max((k for _, k in _list_numbers(theorem, sentence, numbers)), default=0)


def _list_numbers(theorem: Theorem, sentence: Sentence, numbers: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
    """The numbers of sequences of which a sentence speaks."""
    asked: list[tuple[str, int]] = []

    def lookup(name: str, k: int) -> Fraction:
        asked.append((name, k))
        return Fraction(1)

    Sides(numbers, lookup, theorem.formulas).gap(sentence)
    return [at for at in dict.fromkeys(asked) if at[0] in theorem.sequences]


def show_numbers(theorem: Theorem, broken: BrokenClaim) -> dict[str, Fraction]:
    """The numbers of sequences of which a claim that fails speaks, by name."""
    if not theorem.sequences:
        return {}
    point, sentence = broken.instance.point, tried_sentence(theorem, broken.claim)
    spoken = _list_numbers(theorem, sentence, {**point, **_fractions(broken.rounds)})
    count = max((k for _, k in spoken), default=0) + 1
    values = find_numbers(theorem, point, broken.rounds, count, broken.ends).values
    return {f"{name}[{k}]": values[name, k] for name, k in spoken}


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


def _show(point: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in point.items()) or "no parameters"


def _require_hypotheses(theorem: Theorem, point: Mapping[str, Fraction]) -> None:
    """Parameters, and rounds of the claim, meet what is given of them; where more is spoken of, no point is known to."""
    for name, hypothesis in theorem.hypotheses.items():
        if hypothesis.names & theorem.rounds.keys() - point.keys():
            raise InvalidInput("the claim rests on hypotheses about rounds, so that it is not tried on instances")
        gap = Sides(point, _none, theorem.formulas).gap(hypothesis)
        met = gap == 0 if hypothesis.sign == "==" else gap < 0 if hypothesis.sign == "<" else gap <= 0
        if not met:
            raise InvalidInput(f"the point does not meet the hypothesis {name}")


def _instance(
    theorem: Theorem,
    claim: int,
    system: System,
    rounds: Mapping[str, int],
    point: Mapping[str, Fraction],
    ends: str,
    *,
    exact: bool,
) -> BrokenClaim | None:
    worst, _, _ = violation(system, ways=IN_WORDS)
    if worst <= (SUSPECT if exact else SUSPECT_OF_DIGITS):
        return None
    if np.isnan(worst):
        raise InvalidInput(f"no solver's answer was good at {_show(point)}, rounds {dict(rounds)}")
    instance = find_instance(system, point, worst) if exact else None
    if instance is None:
        raise _Suspected(
            f"floats see the claim fail at {_show(point)}, rounds {dict(rounds)}, and no exact instance was found"
        )
    instance = replace(instance, values=instance.values[: _own_values(theorem, system, instance)])
    broken = BrokenClaim(claim, dict(rounds), instance, instance.left, ends)
    try:
        gap = replay_claim(theorem, broken)
    except InvalidInput as reason:  # it was seen to fail, so that to leave the point out would be to support it
        raise _Suspected(f"the claim is seen to fail at {_show(point)}, rounds {dict(rounds)}, and {reason}") from None
    if theorem.sentences[claim].sign == "==":
        gap = abs(gap)
    if gap < instance.left or gap <= 0:
        raise InvalidInput(f"on the instance the states' own rounds come to {gap}, and not to {instance.left}")
    return replace(broken, gap=gap, instance=replace(instance, left=gap))


def _own_values(theorem: Theorem, system: System, instance: Instance) -> int:
    """How many values of an instance are those of its states, and not the least of several gaps."""
    several = any(name.startswith(_LEAST) for name, _ in system.hypotheses)
    return len(instance.values) - several


def _extent(
    theorem: Theorem, sentence: Sentence, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> tuple[int, int, bool]:
    """The first round of the states that are played, how many follow, and whether they begin at the start."""
    asked: list[int] = []
    _ask(theorem, sentence, {**point, **_fractions(rounds)}, asked)
    # what is given of a round by its number decides about all later ones
    own = own_of_claim(theorem, rounds)
    for hypothesis in theorem.hypotheses.values():
        if (
            hypothesis.sign != "->"
            and hypothesis.exists is None
            and not hypothesis.names & theorem.rounds.keys() - own.keys()
        ):
            _ask(theorem, hypothesis, {**point, **own}, asked)
    begins = theorem.states is None or getattr(theorem.states, "start", True) is not None
    if begins:
        base = 0
    elif _counts_rounds(theorem, sentence):  # what it says of round t need not hold of any state there
        base = min(getattr(theorem.states, "least", 0), *asked, *rounds.values())
    else:
        base = min(asked, default=0) - _states_before(theorem, sentence, point)
    last = max(asked, default=0) - base
    if last >= MOST_STATES:
        raise InvalidInput(f"{last + 1} states are more than the {MOST_STATES} that are unrolled")
    return base, last, begins and theorem.states is not None


def _counts_rounds(theorem: Theorem, sentence: Sentence) -> bool:
    """Whether a claim speaks of a round's number elsewhere than as the index of a quantity, itself or by a formula."""
    trees = [sentence.left, sentence.right, *theorem.formulas.values()]
    inside = {
        id(node)
        for tree in trees
        for part in ast.walk(tree)
        if isinstance(part, ast.Subscript)
        for node in ast.walk(part)
    }
    return any(
        isinstance(node, ast.Name) and node.id in theorem.rounds and id(node) not in inside
        for tree in trees
        for node in ast.walk(tree)
    )


def _states_before(theorem: Theorem, sentence: Sentence, point: Mapping[str, Fraction]) -> int:
    """How many states there are before the first that a claim speaks of: one, where it says something of round t + 1 alone.

    What is known of a state after a round is more than what is known of any state, so that these are played, too.
    """
    asked: list[int] = []
    _ask(theorem, sentence, {**point, **_fractions(next(_small_rounds(theorem, sentence)))}, asked)
    return max(min(asked, default=0) - getattr(theorem.states, "least", 0), 0)


def _small_rounds(theorem: Theorem, sentence: Sentence, later: int = LATER) -> Iterator[dict[str, int]]:
    names = sorted(sentence.names & theorem.rounds.keys())
    for beyond in itertools.product(range(later), repeat=len(names)):
        yield {name: theorem.rounds[name] + k for name, k in zip(names, beyond, strict=True)}


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


def _fractions(rounds: Mapping[str, int]) -> dict[str, Fraction]:
    return {name: Fraction(k) for name, k in rounds.items()}


def _none(name: str, k: int) -> Any:
    raise InvalidInput(f"{name}[{k}] has no value")
