"""A claim at a point of the region, for some rounds: the states of which it speaks, its quantities on them, and what is given of their rounds.

Of a theorem about numbers alone these are numbers of its sequences.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from fedtheory.claims.statements.theorems.bounded_below import LowerBound, find_lower_bound
from fedtheory.claims.statements.theorems.irrational import Irrational, approximate, is_above, place_between
from fedtheory.claims.statements.theorems.quantities import expect_quantity, names_of_quantity
from fedtheory.claims.statements.theorems.sequences import find_numbers, is_free, own_of_claim
from fedtheory.claims.statements.theorems.sides import Lookup, Sides
from fedtheory.claims.statements.theorems.squares import tried_sentence
from fedtheory.claims.statements.theorems.states import MethodStates, StateTrace, SymbolicSpace
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import CannotTrace, InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, indexed, quantity_of
from fedtheory.proofs.every_n.vectors import Form
from fedtheory.proofs.parameters.programs import SUSPECT

#: most states that are unrolled, and rounds after those of a claim in which what is given must hold, too
MOST_STATES, FURTHER = 6, 1


@dataclass(frozen=True)
class ClaimAt:
    """A claim of a theorem, by its place, at a point and for rounds; ``ends``: which ends of their ranges numbers of sequences are."""

    theorem: Theorem
    claim: int
    rounds: Mapping[str, int]
    point: Mapping[str, Fraction]
    ends: str = ""

    @cached_property
    def sentence(self) -> Sentence:
        """What is tried."""
        return tried_sentence(self.theorem, self.claim)

    @cached_property
    def numbers(self) -> Mapping[str, Fraction]:
        """Parameters and rounds."""
        return {**self.point, **{name: Fraction(k) for name, k in self.rounds.items()}}

    def __str__(self) -> str:
        point = ", ".join(f"{name} = {value}" for name, value in self.point.items())
        return f"{point or 'no parameters'}, rounds {dict(self.rounds)}"

    def spoken(self, sentence: Sentence, numbers: Mapping[str, Any]) -> Sequence[tuple[str, int]]:
        """The quantities and numbers of sequences of which a sentence speaks, with their rounds and places."""
        asked: list[tuple[str, int]] = []

        def lookup(name: str, k: int) -> Fraction:
            asked.append((name, k))
            return Fraction(1)

        Sides(numbers, lookup, self.theorem.formulas).gap(sentence)
        return list(dict.fromkeys(asked))

    def rounds_of(self, sentence: Sentence, numbers: Mapping[str, Any]) -> list[int]:
        """The rounds of the quantities of which a sentence speaks."""
        return [k for name, k in self.spoken(sentence, numbers) if name in self.theorem.quantities]

    @property
    def places(self) -> list[tuple[str, int]]:
        """The numbers of sequences of which it speaks."""
        return [at for at in self.spoken(self.sentence, self.numbers) if at[0] in self.theorem.sequences]

    def count(self, last: int) -> int:
        """How many numbers of each sequence it needs, where its last round is this one."""
        return max([last, *(k for _, k in self.places)]) + 2


def small_rounds(theorem: Theorem, sentence: Sentence, later: int) -> Iterator[dict[str, int]]:
    """The first rounds that a sentence may be about, and so many after the least of each."""
    names = sorted(sentence.names & theorem.rounds.keys())
    for beyond in itertools.product(range(later), repeat=len(names)):
        yield {name: theorem.rounds[name] + k for name, k in zip(names, beyond, strict=True)}


def expect_at(theorem: Theorem, outcomes: Any, name: str, space: Any, point: Mapping[str, Any]) -> Any:
    """A quantity's expectation over the outcomes of the draws."""
    zero: Any = Form() if isinstance(space, SymbolicSpace) else Fraction(0)
    return expect_quantity(theorem.quantities[name], space, outcomes, point, theorem.formulas, zero)


#: what is given of some rounds: its name, what is at most zero, and whether it is below
GivenForm = tuple[str, Form, bool]


@dataclass(frozen=True)
class PosedClaim:
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
    given: dict[str, list[Form]] = field(default_factory=dict)  # what is given of these rounds, by name

    def list_everywhere(self, theorem: Theorem) -> list[GivenForm]:
        """What an instance is asked for besides, so that these hypotheses can hold at every point, and so in all rounds."""
        return [
            (f"given {name} everywhere {k}", form, False)
            for name, bound in self.lower_bounds(theorem).items()
            for k, form in enumerate(bound.conditions(self.trace))
        ]

    def lower_bounds(self, theorem: Theorem) -> dict[str, LowerBound]:
        """Hypotheses about all rounds that bound a function from below."""
        functions = self.trace.system(Form()).functions
        asked = {name: find_lower_bound(self.given.get(name, []), functions) for name in list_of_all_rounds(theorem)}
        return {name: bound for name, bound in asked.items() if bound is not None}

    @property
    def rounds(self) -> tuple[int, int, bool]:
        """The first that is played, the last, and whether they begin at the start."""
        return self.base, self.base + self.played, self.start


def pose_claim(at: ClaimAt) -> PosedClaim:
    """The states of which a claim speaks, played on leaves.

    Raises
    ------
    FedtheoryError
        They cannot be followed there, or no numbers of sequences meet what is given.
    """
    theorem, (base, last, start) = at.theorem, find_extent(at)
    played = last + count_further(theorem)
    assert theorem.states is not None
    numbers, exact, told = {}, True, dict(at.point)
    if theorem.sequences:
        found = find_numbers(theorem, at.point, at.rounds, at.count(base + played), at.ends)
        numbers, exact = dict(found.values), found.exact
        told |= {f"{name}_{k - base}": value for (name, k), value in numbers.items() if k >= base}
    trace = theorem.states.trace(told, theorem.parameters, played, start=start, number=base)
    return PosedClaim(trace, base, last, played, start, numbers, told, exact)


def count_further(theorem: Theorem) -> int:
    """How many rounds after those of a claim are played, as what is given must hold there, too."""
    return FURTHER * bool(list_of_all_rounds(theorem))


def list_of_all_rounds(theorem: Theorem) -> dict[str, Sentence]:
    """Hypotheses by name that speak of all rounds, and of what is not the same in all of them; those that are proved of every round are none."""
    return {
        name: one
        for name, one in theorem.hypotheses.items()
        if name not in theorem.inside and _may_fail_later(theorem, one)
    }


def _may_fail_later(theorem: Theorem, hypothesis: Sentence) -> bool:
    if not hypothesis.names & theorem.rounds.keys() - theorem.own_rounds(hypothesis):
        return False
    spoken = {quantity_of(node) for side in hypothesis.sides for node in indexed(side)}
    if spoken <= theorem.sequences.keys():
        return False
    if not isinstance(theorem.states, MethodStates):
        return True
    same = {"f", "f_i", "x_star", *theorem.parameters.names}
    return not all(names_of_quantity(theorem.quantities.get(name, name)) <= same for name in spoken)


def list_supposed(
    at: ClaimAt, rounds_played: tuple[int, int, bool], lookup: Lookup, irrational: Irrational
) -> Iterator[tuple[str, Any, bool]]:
    """What is given of the rounds that are played: by name, left side less right side, which is at most zero, and whether it is below.

    ``rounds_played``: the first, the last, and whether they begin at the start.
    """
    base, last, start = rounds_played
    theorem, point, own = at.theorem, at.point, own_of_claim(at.theorem, at.rounds)
    for name, hypothesis in theorem.hypotheses.items():
        if hypothesis.sign == "->" or hypothesis.exists is not None:
            raise InvalidInput("the claim rests on hypotheses about limits, so that it is not tried on instances")
        rounds = sorted(hypothesis.names & theorem.rounds.keys())
        first = [max(theorem.rounds[n], 0 if start else base) for n in rounds]
        fixed = theorem.own_rounds(hypothesis)
        every: list[Sequence[int]] = [
            (int(own[n]),) if n in fixed else range(low, last + 1) for n, low in zip(rounds, first, strict=True)
        ]
        for ks in itertools.product(*every):
            there = {**point, **{n: Fraction(k) for n, k in zip(rounds, ks, strict=True)}}
            try:
                asked = at.rounds_of(hypothesis, there)
                if asked and not base <= min(asked) <= max(asked) <= last:
                    if fixed.issuperset(rounds):
                        raise InvalidInput(f"the hypothesis {name} speaks of rounds that are not played")
                    continue
                gap = Sides(there, lookup, theorem.formulas, irrational=irrational).gap(hypothesis)
            except CannotTrace as error:
                raise InvalidInput(f"the hypothesis {name}: {error}") from None
            except (TypeError, KeyError):
                raise InvalidInput(
                    f"the hypothesis {name} is not linear in quantities, or speaks of other rounds"
                ) from None
            yield name, gap, hypothesis.sign == "<"
            if hypothesis.sign == "==":
                yield name, -gap, False


def follow_claim(at: ClaimAt) -> tuple[PosedClaim, list[Any], list[GivenForm]]:
    """The rounds on leaves, left side less right side as a form (of 'exists', of each round), and what is given of these rounds.

    Irrational numbers are fractions that are close.

    Raises
    ------
    FedtheoryError
        The states cannot be followed there, or what is given does not hold.
    """
    theorem, posed = at.theorem, pose_claim(at)

    def lookup(name: str, k: int) -> Any:
        if name in theorem.sequences:
            return number_of(posed.numbers, name, k)
        return expect_at(theorem, posed.trace.states[k - posed.base], name, posed.trace.space, at.point)

    gaps = Sides(at.numbers, lookup, theorem.formulas, irrational=approximate).gaps(at.sentence)
    rows: list[GivenForm] = []
    for k, (name, left, strict) in enumerate(list_supposed(at, posed.rounds, lookup, approximate)):
        if isinstance(left, Form):
            rows.append((f"given {name} {k}", left, strict))
            posed.given.setdefault(name, []).append(left)
        elif left > (0 if posed.exact else SUSPECT) or (strict and posed.exact and left == 0):
            raise InvalidInput(f"the point does not meet the hypothesis {name}")
    return posed, gaps, rows


def number_of(numbers: Mapping[tuple[str, int], Fraction], name: str, k: int) -> Fraction:
    """A number of a sequence; a sum that begins before its first one asks for what there is not."""
    if (name, k) not in numbers:
        raise InvalidInput(f"{name}[{k}] has no value")
    return numbers[name, k]


def find_sequences(at: ClaimAt) -> tuple[Lookup, bool]:
    """Numbers of sequences, of a theorem about numbers alone, and whether any that go on after them have what is given.

    Raises
    ------
    InvalidInput
        What is given does not hold, or speaks of more than numbers.
    """
    theorem = at.theorem
    if not theorem.sequences:
        _require_hypotheses(theorem, {**at.point, **own_of_claim(theorem, at.rounds)})
        return _none, True
    found = find_numbers(theorem, at.point, at.rounds, at.count(max([0, *at.rounds.values()])), at.ends)
    return partial(number_of, found.values), found.exact and is_free(theorem)


def show_numbers(at: ClaimAt) -> dict[str, Fraction]:
    """The numbers of sequences of which a claim speaks, by name."""
    places = at.places
    values = find_numbers(at.theorem, at.point, at.rounds, at.count(0), at.ends).values if places else {}
    return {f"{name}[{k}]": values[name, k] for name, k in places}


def _require_hypotheses(theorem: Theorem, point: Mapping[str, Fraction]) -> None:
    """Parameters, and rounds of the claim, meet what is given of them; where more is spoken of, no point is known to."""
    for name, hypothesis in theorem.hypotheses.items():
        if hypothesis.names & theorem.rounds.keys() - point.keys():
            raise InvalidInput("the claim rests on hypotheses about rounds, so that it is not tried on instances")
        gap = Sides(point, _none, theorem.formulas, irrational=place_between).gap(hypothesis)
        if is_above(gap, hypothesis.sign == "<") or (hypothesis.sign == "==" and is_above(-gap, False)):
            raise InvalidInput(f"the point does not meet the hypothesis {name}")


def find_extent(at: ClaimAt) -> tuple[int, int, bool]:
    """The first round of the states that are played, how many follow, and whether they begin at the start."""
    theorem, asked = at.theorem, at.rounds_of(at.sentence, at.numbers)
    # what is given of a round by its number decides about all later ones
    own = own_of_claim(theorem, at.rounds)
    for hypothesis in theorem.hypotheses.values():
        free = hypothesis.names & theorem.rounds.keys() - own.keys()
        if hypothesis.sign != "->" and hypothesis.exists is None and not free:
            asked += at.rounds_of(hypothesis, {**at.point, **own})
    begins = theorem.states is None or getattr(theorem.states, "start", True) is not None
    if begins:
        base = 0
    elif counts_rounds(theorem, at.sentence):  # what it says of round t need not hold of any state there
        base = min(getattr(theorem.states, "least", 0), *asked, *at.rounds.values())
    else:
        base = min(asked, default=0) - _states_before(at)
    last = max(asked, default=0) - base
    if last >= MOST_STATES:
        raise InvalidInput(f"{last + 1} states are more than the {MOST_STATES} that are unrolled")
    return base, last, begins and theorem.states is not None


def counts_rounds(theorem: Theorem, sentence: Sentence) -> bool:
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


def _states_before(at: ClaimAt) -> int:
    """How many states there are before the first that a claim speaks of: one, where it says something of round t + 1 alone.

    What is known of a state after a round is more than what is known of any state, so that these are played, too.
    """
    first = ClaimAt(at.theorem, at.claim, next(small_rounds(at.theorem, at.sentence, 1)), at.point)
    asked = first.rounds_of(first.sentence, first.numbers)
    return max(min(asked, default=0) - getattr(at.theorem.states, "least", 0), 0)


def _none(name: str, k: int) -> Any:
    raise InvalidInput(f"{name}[{k}] has no value")
