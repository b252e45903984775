"""A line of a proof term by a derivation: the derivation's own statement, and that it is the line's.

A stored derivation is ``{"at": {"K": 2}, "start": false, "symbols": {"t_0": "t[n]"}, "quantities": {"names": ["L"], "factors": ...,
"forms": {"gap[0]": form, "gap[1]": form}}, "system": ...}``: the system is what `check_derivation` checks. A form is
what a quantity is in the vectors and values of the system, in the round that the line is about (0), the next one (1), and so on; with
*start*, in the rounds of a run from the start of the method. ``symbols`` says which parameters of the system stand for numbers of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from .algebra import Monomial, Quotient, value_of, whole_number_of_rounds, write_index
from .derivations import FormEntries, Reader, check_derivation
from .formulas import Sentence, Unreadable, indexed, read, show_tree
from .polynomials import Polynomial
from .proof_lines import ProofLine
from .ranges import CheckedRegion, FactorSum
from .reading import read_count, read_number, require_fields
from .refusals import NotChecked, Refused, TermNotChecked, TermRefused
from .terms import Checker

FormOfQuotients: TypeAlias = dict[tuple[Any, ...], Quotient]


def check_line(checker: Checker, line: ProofLine, goal: Sentence, data: Mapping[str, Any]) -> None:
    """Check the derivation, that it is one of the goal, and that it holds on the whole region."""

    def refuse(expected: object, found: object) -> TermRefused:
        return TermRefused(line.name, line.rule, expected, found)

    try:
        _require_stored(data, "system")
        system, symbols = data["system"], {str(k): str(v) for k, v in data["symbols"].items()}
        region = check_derivation(dict(system))
        reading = _Reading(region, symbols)
        quantities = reading.forms(data["quantities"])
        at, start = {name: int(k) for name, k in data["at"].items()}, data["start"] is True
        conclusion = reading.form(Reader(len(region.factors)).form(system["conclusion"]), reading.factors)
    except NotChecked as error:
        raise TermNotChecked(f"line {line.name}, by {line.rule}: {error}", line.name, line.rule) from None
    except Refused as error:
        raise refuse(f"{goal} in one round", error) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _malformed(line, error) from None
    if not set(at.items()) <= set(goal.fixed):
        raise refuse(f"a derivation where {goal} is said", f"one at {at}")
    _require_region(checker, refuse, reading)
    _require_classes(checker, refuse, reading, system)
    _require_conclusion(checker, refuse, goal, start, quantities, conclusion)


def check_identity(checker: Checker, line: ProofLine, goal: Sentence, data: Mapping[str, Any]) -> None:
    """Check that both sides are the same form: what is stored are the forms of the quantities, and nothing else."""

    def refuse(expected: object, found: object) -> TermRefused:
        return TermRefused(line.name, line.rule, expected, found)

    try:
        _require_stored(data)
        quantities = _Reading(None, {str(k): str(v) for k, v in data["symbols"].items()}).forms(data["quantities"])
        at, start = {name: int(k) for name, k in data["at"].items()}, data["start"] is True
    except NotChecked:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _malformed(line, error) from None
    if not set(at.items()) <= set(goal.fixed):
        raise refuse(f"forms where {goal} is said", f"those at {at}")
    _require_conclusion(checker, refuse, goal, start, quantities, {})


def _require_stored(data: Mapping[str, Any], *more: str) -> None:
    """What is stored of a line has no field that nothing reads."""
    require_fields(data, ("at", "start", "symbols", "quantities", *more), "a stored derivation")
    require_fields(data["quantities"], ("names", "factors", "forms"), "stored forms")


def _malformed(line: ProofLine, error: Exception) -> TermNotChecked:
    what = f"what is stored is malformed: {type(error).__name__} {error}"
    return TermNotChecked(f"line {line.name}, by {line.rule}: {what}", line.name, line.rule)


class _Reading:
    """Numbers of a derivation as quotients in a term's atoms."""

    def __init__(self, region: CheckedRegion | None, symbols: Mapping[str, str]) -> None:
        self.symbols = symbols
        self.ranges = () if region is None else region.ranges
        self.shown = str(region or "")
        self.atoms = [self._atom(part.name) for part in self.ranges]
        self.factors = [] if region is None else [_in_atoms(f, self.atoms) for f in region.factors]

    def _atom(self, name: str) -> str:
        (atom,) = value_of(read(self.symbols.get(name, name))).atoms
        return atom

    def number(self, number: FactorSum, factors: Sequence[Quotient] | None = None) -> Quotient:
        """A sum of products of factors."""
        total = Quotient.number(0)
        for powers, size in number.items():
            term = Quotient.number(size)
            for k, power in enumerate(powers):
                if power:
                    term = term * (self.factors if factors is None else factors)[k] ** power
            total = total + term
        return total

    def rooms(self) -> Iterator[tuple[str, Literal["low", "high"], Quotient, bool]]:
        """Of each parameter and end, what is between them, and whether it may be zero."""
        for part, atom in zip(self.ranges, self.atoms, strict=True):
            x = Quotient.atom(atom)
            yield part.name, "low", x - self.number(part.low), part.closed[0]
            if part.high is not None:
                yield part.name, "high", self.number(part.high) - x, part.closed[1]

    def form(self, entries: FormEntries, factors: Sequence[Quotient]) -> FormOfQuotients:
        """A form with numbers as quotients."""
        return {key: self.number(entry, factors) for key, entry in entries.items()}

    def forms(self, data: Mapping[str, Any]) -> dict[str, FormOfQuotients]:
        """Forms by name, with factors of their own."""
        atoms = [self._atom(str(name)) for name in data["names"]]
        polynomials = [
            {tuple(read_count(p) for p in powers): read_number(v) for v, powers in terms} for terms in data["factors"]
        ]
        factors, reader = [_in_atoms(polynomial, atoms) for polynomial in polynomials], Reader(len(polynomials))
        return {str(name): self.form(reader.form(form), factors) for name, form in data["forms"].items()}


def _in_atoms(polynomial: Polynomial, atoms: Sequence[str]) -> Quotient:
    terms: dict[Monomial, Fraction] = {}
    for powers, number in polynomial.items():
        terms[tuple(sorted((a, p) for a, p in zip(atoms, powers, strict=True) if p))] = number
    return Quotient(terms)


def rooms_of(region: CheckedRegion, symbols: Mapping[str, str]) -> list[tuple[str, Literal["low", "high"], Quotient]]:
    """How far each parameter of a derivation is from its ends there: its name, the end, and what must not be negative."""
    return [(name, end, room) for name, end, room, _ in _Reading(region, symbols).rooms()]


def _require_region(checker: Checker, refuse: Any, reading: _Reading) -> None:
    """Every parameter of the derivation lies between its ends there, wherever it lies between the term's."""
    for _, _, room, closed in reading.rooms():
        if not (checker.is_nonnegative(room) if closed else checker.is_positive(room)):
            raise refuse("a derivation on a region that holds the term's", reading.shown)


def _require_classes(checker: Checker, refuse: Any, reading: _Reading, system: Mapping[str, Any]) -> None:
    """Functions belong to the classes that the term names, and hypotheses are among its own."""
    read_number = Reader(len(reading.factors)).number
    for name, function in system["functions"].items():
        stated = checker.signature.functions.get(name)
        if stated is None:
            raise refuse(f"the functions {', '.join(checker.signature.functions) or 'of no class'}", name)
        smooth = None if function["L"] is None else reading.number(read_number(function["L"]))
        own = (smooth, reading.number(read_number(function["mu"])))
        same = (
            (own[0] is None) == (stated[0] is None) and (own[0] is None or own[0] == stated[0]) and own[1] == stated[1]
        )
        if not same:
            raise refuse(f"the class of {name} as the term has it", "another one")
    for name in system["hypotheses"]:
        if name in system["multipliers"]:
            assumed = checker.signature.assumed
            said = name if name in assumed else name.rstrip("0123456789").rstrip()  # of a round: "accuracy 0"
            if said not in assumed:
                raise refuse(f"hypotheses among {', '.join(sorted(assumed)) or 'none'}", name)
            checker.hypotheses.add(said)


def _require_conclusion(
    checker: Checker,
    refuse: Any,
    goal: Sentence,
    start: bool,
    quantities: Mapping[str, FormOfQuotients],
    conclusion: FormOfQuotients,
) -> None:
    """With the forms of its quantities in their places, left side less right side is the derivation's conclusion."""
    left = -checker.gap(goal)
    inside = checker.quantities_in(left)
    offsets = {atom: offset_of(refuse, atom, start) for atom in inside}
    variables = {v for v, _ in offsets.values() if v is not None}
    if len(variables) > 1 or any(k < 0 for _, k in offsets.values()):
        raise refuse("a line about one round, D[t], D[t+1]", goal)
    total: dict[tuple[Any, ...], Quotient] = {}
    rest = left
    for atom, (_, k) in offsets.items():
        parts = rest.linear_in(atom)
        name = f"{atom.partition('[')[0]}[{k}]"
        if parts is None or checker.quantities_in(parts[1]):
            raise refuse("a line that is linear in quantities", goal)
        if name not in quantities:
            raise refuse(f"the form of {name}", "none in the derivation")
        rest, factor = parts
        for key, entry in quantities[name].items():
            total[key] = total.get(key, Quotient.number(0)) + factor * entry
    total[("1",)] = total.get(("1",), Quotient.number(0)) + rest
    for key in {*total, *conclusion}:
        own, stored = total.get(key, Quotient.number(0)), conclusion.get(key, Quotient.number(0))
        if not own == stored:
            raise refuse(f"a derivation of {goal}", f"one of something else: entry {', '.join(map(str, key))} differs")


def offset_of(refuse: Any, atom: str, start: bool) -> tuple[str | None, int]:
    """The round's variable and the offset from it; of a run from the start, no variable and the round's number."""
    (node,) = indexed(read(atom))
    try:
        variables, k = whole_number_of_rounds(value_of(node.slice), show_tree(node.slice))
    except Unreadable as error:
        raise refuse("a quantity of one round", error) from None
    if start:
        if variables:
            raise refuse("rounds by their numbers, from the start", atom)
        return None, k
    if len(variables) != 1 or next(iter(variables.values())) != 1:
        if not variables:
            return "", k
        raise refuse("a quantity of a round t, t+1, ...", f"{atom} of {write_index(variables, 0)}")
    return next(iter(variables)), k
