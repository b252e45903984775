"""Regions of parameters: each between ends that may depend on the parameters before it.

    0 < mu < L,  0 < lr < 2/L,  0 < p <= 1,  N in 1..4

is the image of (0, oo)^k (one t for each real parameter; the N are finitely many cases) under

    x = low + t                          without an upper end,
    x = low + (high - low) t / (1 + t)   with one,

taken in the order in which the ends can be computed. Whoever wants signs on a region substitutes this map. ``n in 2..`` is a whole number that is at
least 2: points have whole values of it, and signs are those for all numbers n >= 2.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.regions.expressions import Comparison, Expression, number, split_at_commas

#: t of a point near a lower end; its reciprocal is near the upper one
NEAR_AN_END = Fraction(1, 400)
#: values of t in (0, oo) that simple points are made of, the simplest first
SIMPLE_SIZES = tuple(Fraction(t) for t in ("1", "1/2", "2", "1/4", "4", "1/20", "20", "3"))
#: points of each case that are tried to see that a region has one
SEEN_POINTS = 49
_INTEGERS = re.compile(r"\s*([A-Za-z_]\w*)\s+in\s+(\d{1,6})\s*\.\.\s*(\d{0,6})\s*")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its ends (no upper one: None), whether it may reach them, and whether it is a whole number.

    Whole numbers are ``integer`` where each is a case of its own, and ``whole`` where they are too many: points have whole values of it then,
    and what is proved is proved for all numbers between the ends.
    """

    name: str
    low: Expression
    high: Expression | None
    low_closed: bool = False
    high_closed: bool = False
    integer: bool = False
    whole: bool = False

    def ends(self, earlier: Mapping[str, Any]) -> tuple[Any, Any]:
        """Both ends, where the parameters before have these values."""
        return self.low.at(earlier), None if self.high is None else self.high.at(earlier)

    def contains(self, value: Any, earlier: Mapping[str, Any]) -> bool:
        """Whether the value lies between the ends."""
        low, high = self.ends(earlier)
        above = low < value or (self.low_closed and value == low)
        below = high is None or value < high or (self.high_closed and value == high)
        return bool(above and below and (not (self.integer or self.whole) or value == int(value)))

    def between(self, t: Any, earlier: Mapping[str, Any]) -> Any:
        """The value of t in (0, oo), the next whole number inside if it has to be one and is a number."""
        low, high = self.ends(earlier)
        value = low + t if high is None else low + (high - low) * t / (1 + t)
        if not self.whole or not isinstance(value, int | float | Fraction):
            return value
        first, last = math.ceil(low), None if high is None else math.floor(high)
        near = max(round(value), first + (first == low and not self.low_closed))
        return Fraction(near if last is None else min(near, last - (last == high and not self.high_closed)))

    def at_share(self, u: Fraction, earlier: Mapping[str, Any]) -> Any:
        """The value at u in [0, 1], t = u/(1 - u): an end that is closed is reached, others are approached to `NEAR_AN_END`.

        Above a lower end that is another parameter's, and below nothing, it is t times that end more: a ratio, and no matter of units.
        """
        low, high = self.ends(earlier)
        if u <= 0 and self.low_closed:
            return low
        if u >= 1 and self.high_closed:
            return high
        t = min(max(u / (1 - u) if u < 1 else 1 / NEAR_AN_END, NEAR_AN_END), 1 / NEAR_AN_END)
        return self.between(t * low if high is None and self.low.names and low > 0 else t, earlier)

    def values(self) -> range:
        """All values of a whole number."""
        assert self.high is not None
        return range(int(self.low.at({})), int(self.high.at({})) + 1)

    def __str__(self) -> str:
        if self.integer:
            return f"{self.name} in {self.low}..{self.high}"
        if self.whole and self.high is None and self.low_closed:
            return f"{self.name} in {self.low}.."
        below = "" if self.high is None else f" {'<=' if self.high_closed else '<'} {self.high}"
        return f"{self.low} {'<=' if self.low_closed else '<'} {self.name}{below}"


@dataclass(frozen=True)
class Region:
    """Parameters in an order in which every end depends on earlier ones only.

    Example
    -------
    >>> region = Region.parse("0<mu<L, 0<lr<2/L, 0<p<=1")
    >>> region.names
    ('mu', 'L', 'lr', 'p')
    """

    parameters: tuple[Parameter, ...] = ()

    @classmethod
    def parse(cls, text: str | Region) -> Region:
        """Read a region: chains between commas, and ``N in 1..4`` or ``n in 2..`` for whole numbers.

        A name that occurs for the first time by itself in a chain is bounded by its neighbours; every other one must be bounded elsewhere.

        Raises
        ------
        InvalidInput
            A piece is not a chain of one direction, bounds nothing new, or leaves a parameter without a lower end; or no point is seen to
            satisfy all of them, so that anything would be true on the region.
        """
        return text if isinstance(text, Region) else _parse(text)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def real(self) -> tuple[Parameter, ...]:
        """The parameters that are not whole numbers."""
        return tuple(parameter for parameter in self.parameters if not parameter.integer)

    def inside(self, point: Mapping[str, Any]) -> bool:
        """Whether the point has every parameter, and each between its ends; exact on fractions."""
        if any(name not in point for name in self.names):
            return False
        return all(parameter.contains(point[parameter.name], point) for parameter in self.parameters)

    def point(self, ts: Sequence[Any]) -> dict[str, Any]:
        """The point of t in (0, oo)^k, one t for each real parameter, with numbers of any kind (fractions, rational functions, symbols).

        Raises
        ------
        InvalidInput
            There are as yet whole numbers among the parameters (`cases`), or another number of t.
        """
        if any(parameter.integer for parameter in self.parameters):
            raise InvalidInput(f"the region has whole numbers; take one of its cases first: {self}")
        if len(ts) != len(self.parameters):
            raise InvalidInput(f"expected {len(self.parameters)} numbers t for {', '.join(self.names)}, got {len(ts)}")
        found: dict[str, Any] = {}
        for parameter, t in zip(self.parameters, ts, strict=True):
            found[parameter.name] = parameter.between(t, found)
        return found

    def point_of_box(self, us: Sequence[Fraction]) -> dict[str, Fraction]:
        """The point of u in [0, 1]^k, t = u/(1 - u): ends that are closed are reached, others approached to `NEAR_AN_END`."""
        if len(us) != len(self.real):
            raise InvalidInput(f"expected {len(self.real)} numbers u for {', '.join(p.name for p in self.real)}")
        found: dict[str, Fraction] = {}
        for parameter, u in zip(self.parameters, us, strict=True):
            found[parameter.name] = parameter.at_share(u, found)
        return found

    def corners(self, most: int = 81) -> list[dict[str, Fraction]]:
        """Points at the ends (closed ones) or near them (open ones), combined with the middle; corners first, at most so many a case."""
        found: list[dict[str, Fraction]] = []
        for fixed, case in self.cases():
            for us in itertools.islice(_list_corners(len(case.parameters)), most):
                point = {**fixed, **case.point_of_box(us)}
                if point not in found:
                    found.append(point)
        return found

    def simple_points(self, count: int) -> list[dict[str, Fraction]]:
        """Points inside with small numerators and denominators of t, the simplest first, at most so many a case."""
        return list(self._each_simple_point(count))

    def _each_simple_point(self, count: int) -> Iterator[dict[str, Fraction]]:
        for fixed, case in self.cases():
            for ks in _list_simplest(len(case.parameters))[:count]:
                yield {**fixed, **case.point([SIMPLE_SIZES[j] for j in ks])}

    def simplify(self, point: Mapping[str, Any], tolerance: Fraction = Fraction(1, 100)) -> dict[str, Fraction]:
        """A point inside near the given one, of fractions with small denominators.

        Each differs by at most the tolerance times its distance from the nearer end (times its size at an end).
        """
        found: dict[str, Fraction] = {}
        for parameter in self.parameters:
            value = Fraction(point[parameter.name])
            low, high = parameter.ends(found)
            if parameter.integer or parameter.whole:
                found[parameter.name] = Fraction(round(value))
                continue
            value = min(max(value, low), value if high is None else high)
            room = min(x for x in (abs(value - low), None if high is None else abs(high - value)) if x is not None)
            room = tolerance * (room or abs(value) or Fraction(1))
            for bits in itertools.count():
                near = value.limit_denominator(2**bits)
                if abs(near - value) <= room and parameter.contains(near, found):
                    break
                if 2**bits > value.denominator:
                    near = value if parameter.contains(value, found) else value + (room if value <= low else -room)
                    break
            found[parameter.name] = near
        return found

    def fix(self, values: Mapping[str, Any]) -> Region:
        """The region of the other parameters, where these have the given values."""
        kept = []
        for p in self.parameters:
            if p.name not in values:
                high = None if p.high is None else p.high.substitute(values)
                kept.append(replace(p, low=p.low.substitute(values), high=high))
        return Region(tuple(kept))

    def only(self, names: Iterable[str]) -> Region:
        """The parameters of these names, and those that their ends speak of."""
        kept = set(names)
        for p in reversed(self.parameters):
            if p.name in kept:
                kept |= p.low.names | (frozenset() if p.high is None else p.high.names)
        return Region(tuple(p for p in self.parameters if p.name in kept))

    def with_whole(self, names: Iterable[str]) -> Region:
        """The region in which these parameters are whole numbers."""
        return Region(tuple(replace(p, whole=p.whole or (p.name in names and not p.integer)) for p in self.parameters))

    def cases(self) -> Iterator[tuple[dict[str, Fraction], Region]]:
        """The values of the whole numbers, each with the region of the real parameters there."""
        whole = [parameter for parameter in self.parameters if parameter.integer]
        for values in itertools.product(*(parameter.values() for parameter in whole)):
            fixed = {parameter.name: Fraction(value) for parameter, value in zip(whole, values, strict=True)}
            yield fixed, self.fix(fixed)

    def count_cases(self) -> int:
        """How many values the whole numbers take together."""
        return math.prod(len(parameter.values()) for parameter in self.parameters if parameter.integer)

    def __str__(self) -> str:
        return ", ".join(map(str, self.parameters))


def _add_whole(piece: str, read: re.Match[str], found: dict[str, Parameter]) -> None:
    """Add a parameter of whole numbers."""
    name, first, last = read.groups()
    _require_new(name, piece, found)
    if not last:
        found[name] = Parameter(name, number(int(first)), None, low_closed=True, whole=True)
        return
    if int(first) > int(last):
        raise InvalidInput(f"{piece.strip()!r} contains no number")
    found[name] = Parameter(name, number(int(first)), number(int(last)), True, True, integer=True)


def _add_piece(piece: str, found: dict[str, Parameter]) -> bool:
    """Add the parameters that the piece bounds; False if it has to wait for another piece."""
    whole = _INTEGERS.fullmatch(piece)
    if whole is not None:
        _add_whole(piece, whole, found)
        return True
    try:
        chain = Comparison.parse(piece)
    except InvalidInput as error:
        raise InvalidInput(
            f"{error}; a region is comparisons and ranges of whole numbers with commas between, as in '0 < mu <= L, N in 1..3'"
        ) from error
    terms, signs = chain.terms, chain.signs
    if all(sign in (">", ">=") for sign in signs):
        terms, signs = terms[::-1], tuple(sign.replace(">", "<") for sign in signs[::-1])
    if not all(sign in ("<", "<=") for sign in signs):
        raise InvalidInput(f"{piece.strip()!r} must go in one direction, as in '0 < mu <= L'")
    new = {str(term.value) for term in terms if term.kind == "name" and term.value not in found}
    if any(not term.names <= found.keys() | (new if term.kind == "name" else set()) for term in terms):
        return False
    if not new:
        raise InvalidInput(
            f"{piece.strip()!r} bounds no new parameter; state each parameter's ends once, with min(...) or max(...) for several"
        )
    for k, term in enumerate(terms):
        if term.kind != "name" or term.value in found:
            continue
        name = str(term.value)
        if k == 0:
            raise InvalidInput(f"{name!r} has no lower end in {piece.strip()!r}; write for example '0 < {name}'")
        follows = k + 1 < len(terms) and terms[k + 1].names <= found.keys() | {name}
        if follows and name in terms[k + 1].names:
            raise InvalidInput(f"{name!r} is bounded by itself in {piece.strip()!r}")
        high = terms[k + 1] if follows else None
        found[name] = Parameter(name, terms[k - 1], high, signs[k - 1] == "<=", follows and signs[k] == "<=")
    return True


@lru_cache
def _list_simplest(parameters: int) -> tuple[tuple[int, ...], ...]:
    """Which of `SIMPLE_SIZES` each parameter takes, the simplest combination first; of many parameters, all the same one."""
    numbers = range(len(SIMPLE_SIZES))
    if parameters >= 6:
        return tuple((j,) * parameters for j in numbers)
    return tuple(sorted(itertools.product(numbers, repeat=parameters), key=lambda ks: (sum(ks), ks)))


def _list_corners(parameters: int) -> Iterator[tuple[Fraction, ...]]:
    """Shares 0, 1 and 1/2 in every combination, those with few middles first."""

    def with_middles(left: int, middles: int) -> Iterator[tuple[Fraction, ...]]:
        if not left:
            yield ()
            return
        for end in (Fraction(0), Fraction(1)) if left > middles else ():
            yield from ((end, *rest) for rest in with_middles(left - 1, middles))
        if middles:
            yield from ((Fraction(1, 2), *rest) for rest in with_middles(left - 1, middles - 1))

    for middles in range(parameters + 1):
        yield from with_middles(parameters, middles)


def _require_new(name: str, piece: str, found: Mapping[str, Parameter]) -> None:
    if name in found:
        raise InvalidInput(f"{name!r} is bounded twice, again in {piece.strip()!r}")


@lru_cache(maxsize=4096)
def _parse(text: str) -> Region:
    found: dict[str, Parameter] = {}
    waiting = [piece for piece in split_at_commas(text) if piece.strip()]
    while waiting:
        ready = next((k for k, piece in enumerate(waiting) if _add_piece(piece, found)), None)
        if ready is None:
            raise InvalidInput(
                f"{waiting[0].strip()!r} speaks of a parameter that nothing bounds; bound it too, as in '0 < L, 0 < lr < 2/L'"
            )
        del waiting[ready]
    region = Region(tuple(found.values()))
    _require_points(region, text)
    return region


def _require_points(region: Region, text: str) -> None:
    """Refuse a region without points: one of its simple ones must satisfy every chain as it is written."""
    chains = [
        Comparison.parse(piece) for piece in split_at_commas(text) if piece.strip() and not _INTEGERS.fullmatch(piece)
    ]
    if not any(
        region.inside(p) and all(chain.holds(p) for chain in chains) for p in region._each_simple_point(SEEN_POINTS)
    ):
        raise InvalidInput(f"no point of the region {text!r} was found, so that anything would be true there")
