"""Numbers of the sequences of a theorem, where its hypotheses say what they are: t[0] == 1, t[n+1] == (1 + sqrt(1 + 4*t[n]**2))/2.

Other numbers are the lower ends of their ranges, or the upper ones where these are zero and no
hypothesis speaks of them, as of steps that may be as small as one likes. A sequence of which no hypothesis speaks may be any within its range: other
choices are its ends in turn. A number with a root is known to some digits, as a fraction.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.algebra import value_of, whole_number_of_rounds
from fedtheory.proofs.checker.formulas import Sentence, indexed, names, quantity_of, read, show_tree

#: largest denominator of a number that is known to some digits, and by how much such numbers may miss a hypothesis
DENOMINATOR, MISSED = 10**12, 1e-9


@dataclass(frozen=True)
class SequenceNumbers:
    """Numbers by sequence and place; ``exact``: whether they are these and not only close to them."""

    values: Mapping[tuple[str, int], Fraction]
    exact: bool


#: which end of its range a number is, by its place: "h" the upper one, or one above where there is none; "" as it is said above
ENDS = ("", "h", "lh", "hl")


def list_ends(theorem: Theorem) -> Sequence[str]:
    """The choices of ends that differ."""
    return ENDS if any(is_free(theorem, name) for name in theorem.sequences) else ENDS[:1]


def find_numbers(
    theorem: Theorem, point: Mapping[str, Fraction], own: Mapping[str, int], count: int, ends: str = ""
) -> SequenceNumbers:
    """The first ``count`` numbers of each sequence at a point, for the rounds ``own`` of the claim.

    Raises
    ------
    InvalidInput
        A hypothesis about them fails, or it speaks of more than them; or a number that a hypothesis gives lies outside of its range.
    """
    numbers = {**point, **own_of_claim(theorem, own)}
    free = {name for name in theorem.sequences if is_free(theorem, name)}
    values: dict[tuple[str, int], Fraction] = {}
    exact = True

    def lookup(name: str, k: int) -> Fraction:
        if (name, k) not in values:
            raise InvalidInput(f"{name}[{k}] is not known by hypotheses on numbers alone")
        return values[name, k]

    for k in range(count):
        for name in theorem.sequences:
            rule, sides = _find_rule(theorem, numbers, name, k), Sides(point, lookup, theorem.formulas)
            if rule is None:
                end = "" if name not in free else ends[k % len(ends)] if ends else "moving"
                values[name, k] = _find_end(theorem, name, sides, end)
                continue
            sentence, rounds = rule
            found = Sides({**numbers, **rounds}, lookup, theorem.formulas).value(sentence.right)
            exact = exact and isinstance(found, Fraction)
            values[name, k] = found if isinstance(found, Fraction) else Fraction(found).limit_denominator(DENOMINATOR)
            _require_inside(theorem, name, values[name, k], sides)
    _require_met(theorem, numbers, count, lookup)
    return SequenceNumbers(values, exact)


def is_free(theorem: Theorem, *names: str) -> bool:
    """Whether no hypothesis speaks of these sequences, or of any where none is named: any numbers go on after the first ones then."""
    spoken = {quantity_of(node) for h in theorem.hypotheses.values() for s in h.sides for node in indexed(s)}
    return not spoken & {*(names or theorem.sequences)}


def _find_end(theorem: Theorem, name: str, sides: Sides, end: str) -> Fraction:
    """The end of its range that a number of a sequence is where nothing says what it is; ``moving``: the upper one if the lower one is zero."""
    least, most = _read_range(theorem, name, sides)
    if end == "h":
        return least + 1 if most is None else most
    return most if end == "moving" and most is not None and not least else least


def _read_range(theorem: Theorem, name: str, sides: Sides) -> tuple[Fraction, Fraction | None]:
    low, _, high = theorem.sequences[name].partition("..")
    return Fraction(sides.value(read(low))), Fraction(sides.value(read(high))) if high else None


def _require_inside(theorem: Theorem, name: str, value: Fraction, sides: Sides) -> None:
    """See that a number that a hypothesis gives lies in the range of its sequence, up to digits."""
    least, most = _read_range(theorem, name, sides)
    room = MISSED * (1 + abs(value))
    if value < least - room or (most is not None and value > most + room):
        raise InvalidInput(f"what hypotheses say of {name} lies outside of its range {theorem.sequences[name]}")


def own_of_claim(theorem: Theorem, own: Mapping[str, int]) -> dict[str, Fraction]:
    """The rounds of hypotheses that are the claim's own; one of which this claim does not speak is the first that it may be."""
    named = frozenset().union(*map(theorem.own_rounds, theorem.hypotheses.values()))
    return {name: Fraction(own.get(name, theorem.rounds[name])) for name in sorted(named)}


def _find_rule(
    theorem: Theorem, numbers: Mapping[str, Fraction], name: str, k: int
) -> tuple[Sentence, dict[str, Fraction]] | None:
    """A hypothesis that says what name[k] is, and the round for which it says so; ``numbers``: the claim's own rounds among them."""
    for sentence in theorem.hypotheses.values():
        match sentence:
            case Sentence(left=ast.Subscript(value=ast.Name(id=said), slice=index), sign="==", exists=None) if (
                said == name
            ):
                variables, shift = whole_number_of_rounds(value_of(index), show_tree(index))
                if not variables and shift == k:
                    return sentence, {}
                t, own = next(iter(variables), ""), theorem.own_rounds(sentence)
                reached = numbers[t] == k - shift if t in own else k - shift >= theorem.rounds.get(t, 0)
                if [*variables.values()] == [1] and reached:
                    return sentence, {t: Fraction(k - shift)}
    return None


def speaks_of_numbers_alone(theorem: Theorem, sentence: Sentence) -> bool:
    """Whether a hypothesis is about parameters and sequences, and no quantity."""
    spoken = {quantity_of(node) for side in sentence.sides for node in indexed(side)}
    return sentence.sign != "->" and not spoken & theorem.quantities.keys()


def _require_met(theorem: Theorem, numbers: Mapping[str, Fraction], count: int, lookup: Any) -> None:
    for name, sentence in theorem.hypotheses.items():
        if not speaks_of_numbers_alone(theorem, sentence):
            continue
        rounds = sorted(sentence.names & theorem.rounds.keys() - theorem.own_rounds(sentence))
        if len(rounds) > 1:
            raise InvalidInput(f"the hypothesis {name} speaks of several rounds")
        for k in range(count) if rounds else (0,):
            at = {n: Fraction(theorem.rounds[n] + k) for n in rounds}
            sides = Sides({**numbers, **at}, lookup, theorem.formulas)
            try:
                left, right = sides.value(sentence.left), sides.value(sentence.right)
            except InvalidInput:
                break  # of numbers beyond those that are asked for
            room = 0 if isinstance(left - right, Fraction) else MISSED * (1 + abs(float(left)) + abs(float(right)))
            fails = {"==": abs(left - right) > room, "<": left - right >= room}
            if fails.get(sentence.sign, left - right > room):
                raise InvalidInput(f"no numbers were found that meet the hypothesis {name}")


def settle_parameters(
    theorem: Theorem, rounds: Mapping[str, int], point: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """A point with the numbers that hypotheses give parameters at these rounds, such as ``m == sqrt(T + 1)``.

    Raises
    ------
    InvalidInput
        Such a number is no fraction, or lies outside of the region.
    """
    settled = dict(point)
    for name, hypothesis in theorem.hypotheses.items():
        match hypothesis:
            case Sentence(left=ast.Name(id=own), sign="==", exists=None) if (
                own in point and hypothesis.names <= {*point, *rounds} and own not in names(hypothesis.right)
            ):
                value = Sides(
                    {**settled, **{name: Fraction(k) for name, k in rounds.items()}}, _nothing, theorem.formulas
                ).value(hypothesis.right)
                if not isinstance(value, Fraction):
                    raise InvalidInput(f"by the hypothesis {name} {own} is no fraction")
                settled[own] = value
    if settled != point and not theorem.parameters.inside(settled):
        raise InvalidInput("what hypotheses say of parameters at these rounds lies outside of the region")
    return settled


def _nothing(name: str, k: int) -> Any:
    raise InvalidInput(f"{name}[{k}] is no number that a hypothesis on parameters may speak of")
