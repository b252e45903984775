"""Signs of formulas for all parameters of a region and all rounds: atoms that are no parameters become parameters with ends of their own."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from .algebra import AtomPolynomial, Monomial, Quotient, value_of
from .boxes import Sign
from .formulas import Unreadable, names, read, show_tree
from .polynomials import Polynomial as Dense
from .ranges import CheckedRegion, FactorSum, Range
from .reading import is_counting, require_fields
from .refusals import NotChecked, Refused

#: most parameters and atoms that a sign may depend on
MOST_ATOMS = 8
#: largest power of an atom, once its root takes its place
MOST_DEGREE = 1000
#: most ways to choose among what is known of atoms
MOST_ORDERS = 8
#: of choices that are looked through for these, since what an atom that is not reached lies between makes no difference
MOST_ORDERS_SEEN = 64


@dataclass(frozen=True)
class Ends:
    """Where a parameter or an atom lies: between two formulas, of which those that belong to it are *closed*."""

    low: Quotient
    high: Quotient | None = None
    low_closed: bool = False
    high_closed: bool = False

    @property
    def atoms(self) -> frozenset[str]:
        """Of both ends."""
        return self.low.atoms | (frozenset() if self.high is None else self.high.atoms)


@dataclass(frozen=True)
class TermParameter:
    """A parameter of a statement, and where it lies; ends speak of parameters before it."""

    name: str
    ends: Ends

    def __str__(self) -> str:
        high = "" if self.ends.high is None else f" {'<=' if self.ends.high_closed else '<'} {self.ends.high.text()}"
        return f"{self.ends.low.text()} {'<=' if self.ends.low_closed else '<'} {self.name}{high}"


EndsOfAtom: TypeAlias = Callable[[str], Sequence[Ends]]


def read_range(text: str, where: Mapping[str, ast.expr]) -> Ends:
    """Where the numbers of a sequence lie: ``"1"``, at least 1, or ``"1..1/r"``, between two formulas that belong to it."""
    low, _, high = text.partition("..")
    return Ends(value_of(read(low), where), value_of(read(high), where) if high else None, True, bool(high))


def read_parameters(data: Sequence[Mapping[str, object]]) -> tuple[TermParameter, ...]:
    """Parameters in order: ``{"name": "eta", "low": "0", "high": "1/(2*L)", "closed": [False, False]}``.

    Raises
    ------
    Unreadable
        A parameter is named twice, or an end speaks of one that is not before it.
    """
    found: list[TermParameter] = []
    for entry in data:
        require_fields(entry, ("name", "low", "high", "closed"), "a parameter")
        name, known = str(entry["name"]), {p.name for p in found}
        closed = entry["closed"]
        if name in known or not (isinstance(closed, list) and len(closed) == 2):
            raise Unreadable(f"the parameter {name!r} is given twice, or without two ends")
        trees: list[ast.expr | None] = [
            None if entry[end] is None else read(str(entry[end])) for end in ("low", "high")
        ]
        for tree in trees:
            if tree is not None and names(tree) - known:
                raise Unreadable(f"an end of {name!r} speaks of a parameter that is not before it: {show_tree(tree)}")
        low, high = trees
        if low is None:
            raise Unreadable(f"the parameter {name!r} has no lower end")
        ends = Ends(value_of(low), None if high is None else value_of(high), closed[0] is True, closed[1] is True)
        found.append(TermParameter(name, ends))
    return tuple(found)


@dataclass
class Domain:
    """All parameters of a region, and all values that atoms can have.

    ``ends_of`` says where an atom lies that is no parameter, by formulas in parameters and other atoms: one after the other is tried, of which
    each is true; none where nothing is known of it.
    """

    parameters: tuple[TermParameter, ...]
    ends_of: EndsOfAtom
    _regions: dict[tuple[Any, ...], CheckedRegion] = field(default_factory=dict)
    _signs: dict[str, Sign | None] = field(default_factory=dict)

    def forget(self) -> None:
        """Forget signs, since more or less is known of atoms."""
        self._regions.clear()
        self._signs.clear()

    def sign(self, quotient: Quotient) -> Sign | None:
        """Whether a formula is never below zero (direction 1) or never above, and whether it is never zero (strict); or None."""
        if quotient.zero:
            return Sign(1, False)
        number = quotient.constant()
        if number is not None:
            return Sign(1 if number > 0 else -1, True)
        key = quotient.text()
        if key not in self._signs:
            self._signs[key] = self._find(quotient)
        return self._signs[key]

    def is_nonnegative(self, quotient: Quotient) -> bool:
        """Whether it was shown to be at least zero."""
        sign = self.sign(quotient)
        return quotient.zero or (sign is not None and sign.direction > 0)

    def is_positive(self, quotient: Quotient) -> bool:
        """Whether it was shown to be above zero."""
        sign = self.sign(quotient)
        return not quotient.zero and sign is not None and sign.direction > 0 and sign.strict

    def is_nonzero(self, quotient: Quotient) -> bool:
        """Whether it was shown to be nowhere zero."""
        sign = self.sign(quotient)
        return not quotient.zero and sign is not None and sign.strict

    def _find(self, quotient: Quotient) -> Sign | None:
        powers = _root_powers(quotient)
        found = None
        for order in self._orders(quotient.atoms):
            try:
                found = self._on(order, quotient, powers)
            except Refused as error:  # too long for the checker
                if isinstance(error, NotChecked) and is_counting():
                    raise
                found = None
            if found is not None:
                return found
        return None

    def _on(self, order: Sequence[tuple[str, Ends]], quotient: Quotient, powers: Mapping[str, int]) -> Sign | None:
        key = tuple((name, ends.low.text()) for name, ends in order)
        if key not in self._regions:
            self._regions[key] = _build(order)
        region, names_in_order = self._regions[key], [name for name, _ in order]
        found = _sign_of_laurent(region, names_in_order, quotient.numerator, powers)
        for polynomial, power in quotient.below.items():
            below = _sign_of_laurent(region, names_in_order, dict(polynomial), powers)
            if found is None or below is None or not below.strict:
                return None
            found = Sign(found.direction * below.direction**power, found.strict)
        return found

    def _orders(self, atoms: frozenset[str]) -> Iterator[list[tuple[str, Ends]]]:
        """Parameters and atoms in an order in which ends speak of those before, for every choice of what is known of the atoms."""
        named = {p.name: p for p in self.parameters}
        choices: dict[str, Sequence[Ends]] = {}
        waiting = sorted(atoms - named.keys())
        while waiting:
            atom = waiting.pop()
            if atom not in choices:
                choices[atom] = self.ends_of(atom)
                for ends in choices[atom]:
                    waiting += sorted(ends.atoms - named.keys() - choices.keys())
        seen: set[tuple[tuple[str, int], ...]] = set()
        places = itertools.product(*(range(len(ends)) for ends in choices.values()))
        for chosen in itertools.islice(places, MOST_ORDERS_SEEN):
            lies = {name: choices[name][k] for name, k in zip(choices, chosen, strict=True)}
            reached, new = set(atoms), set(atoms)
            while new:
                new = {a for name in reached & lies.keys() for a in lies[name].atoms} - reached
                reached |= new
            key = tuple((name, k) for name, k in zip(choices, chosen, strict=True) if name in reached)
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MOST_ORDERS:
                return
            for p in reversed(self.parameters):
                if p.name in reached:
                    reached |= p.ends.atoms
            order = [(p.name, p.ends) for p in self.parameters if p.name in reached]
            order += _in_order({name: at for name, at in lies.items() if name in reached})
            if len(order) <= MOST_ATOMS:
                yield order


def _root_powers(quotient: Quotient) -> dict[str, int]:
    """Of atoms with fractions as exponents, the root that takes their place: the least common denominator."""
    found: dict[str, int] = {}
    for polynomial in (quotient.numerator, *(dict(key) for key in quotient.below)):
        for at in polynomial:
            for name, power in at:
                found[name] = math.lcm(found.get(name, 1), Fraction(power).denominator)
    return found


def _sign_of_laurent(
    region: CheckedRegion, order: Sequence[str], polynomial: AtomPolynomial, roots: Mapping[str, int]
) -> Sign | None:
    """Monomials may have powers of any sign: the largest one that all terms have is taken out. Of atoms with roots, the root is the parameter."""
    every = sorted({name for at in polynomial for name, _ in at})
    if any(abs(Fraction(power)) * roots[name] > MOST_DEGREE for at in polynomial for name, power in at):
        return None
    scaled = {
        tuple((name, int(power * roots[name])) for name, power in at): number for at, number in polynomial.items()
    }
    least = {name: min(dict(at).get(name, 0) for at in scaled) for name in every}
    direction, strict = 1, True
    for name, power in least.items():
        if power:
            own = region.sign_of_polynomial({tuple(int(other == name) for other in order): Fraction(1)})
            if own is None or (power < 0 and not own.strict):
                return None
            direction *= own.direction ** abs(power)
            strict = strict and own.strict
    rest: Dense = {}
    for at, number in scaled.items():
        powers = dict(at)
        rest[tuple(powers.get(name, 0) - least.get(name, 0) for name in order)] = number
    sign = region.sign_of_polynomial(rest)
    return None if sign is None else Sign(sign.direction * direction, sign.strict and strict)


def _in_order(ends: Mapping[str, Ends]) -> list[tuple[str, Ends]]:
    """Atoms after those that their ends speak of."""
    left, found = dict(sorted(ends.items())), list[tuple[str, Ends]]()
    while left:
        ready = [name for name, at in left.items() if not at.atoms & left.keys()]
        if not ready:
            raise Unreadable(f"the ends of {', '.join(left)} speak of each other")
        found += [(name, left.pop(name)) for name in ready]
    return found


def _build(order: Sequence[tuple[str, Ends]]) -> CheckedRegion:
    names_in_order = [name for name, _ in order]
    factors: list[Dense] = []

    def product(quotient: Quotient) -> list[tuple[int, int]] | None:
        """Which factors to which powers, after they were noted; None for zero."""
        if quotient.zero:
            return None
        least = _least(quotient.numerator)
        pieces: list[tuple[Dense, int]] = [
            ({tuple(int(n == name) for n in names_in_order): Fraction(1)}, int(p)) for name, p in least
        ]
        away = {name: -int(power) for name, power in least}
        pieces.append((_dense(quotient.numerator, names_in_order, away), 1))
        pieces += [(_dense(dict(key), names_in_order, {}), -power) for key, power in quotient.below.items()]
        found = []
        for polynomial, power in pieces:
            if polynomial not in factors:
                factors.append(polynomial)
            found.append((factors.index(polynomial), power))
        return found

    ends = [(product(at.low), None if at.high is None else product(at.high), at) for _, at in order]
    width = len(factors)

    def number(powers: list[tuple[int, int]] | None) -> FactorSum:
        if powers is None:
            return {}
        total = [0] * width
        for k, power in powers:
            total[k] += power
        return {tuple(total): Fraction(1)}

    ranges = tuple(
        Range(f"x{k}", number(low), None if at.high is None else number(high), (at.low_closed, at.high_closed))
        for k, (low, high, at) in enumerate(ends)
    )
    region = CheckedRegion(ranges, factors)
    region.ranges = tuple(Range(name, r.low, r.high, r.closed) for name, r in zip(names_in_order, ranges, strict=True))
    for low, high, _ in ends:
        for k, power in (low or []) + (high or []):
            if power < 0:
                region.require_nonzero(k)
    return region


def _least(polynomial: AtomPolynomial) -> Monomial:
    every = {name for at in polynomial for name, _ in at}
    return tuple((name, power) for name in sorted(every) if (power := min(dict(at).get(name, 0) for at in polynomial)))


def _dense(polynomial: AtomPolynomial, order: Sequence[str], away: Mapping[str, int]) -> Dense:
    found: Dense = {}
    for at, number in polynomial.items():
        powers = dict(at)
        shifted = [powers.get(name, 0) + away.get(name, 0) for name in order]
        if any(power != int(power) or power < 0 for power in shifted):
            raise Unreadable("an end of a range has a root in it")
        found[tuple(map(int, shifted))] = number
    return found
