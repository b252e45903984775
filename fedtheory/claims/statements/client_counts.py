"""How many clients a statement is about that is tried on instances: every number, some of them, or a whole-number parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.claims.claim import Assumption
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.guard import NUMBERS
from fedtheory.proofs.regions.region import Region

#: most clients that are run, and choices of whole numbers that are looked at for each number of them
MOST, CASES = 1000, 4
_RANGE = re.compile(r"(?:n\s*=\s*)?(\d{1,9})(?:\s*(\.\.)\s*(\d{0,9}))?")


@dataclass(frozen=True)
class ClientCounts:
    """The numbers ``first``, ..., ``last`` (None: without an end), or those that a ``parameter`` of the region takes.

    Examples
    --------
    >>> ClientCounts.read("", Region()).tried
    (2, 3, 5, 8, 30)
    >>> ClientCounts.read("4..7", Region()).tried
    (4, 5, 7)
    """

    first: int = 2
    last: int | None = None
    parameter: str = ""

    @classmethod
    def read(cls, text: str, region: Region) -> ClientCounts:
        """From ``""`` or ``"n"`` (every n >= 2), ``"4"``, ``"n = 4"``, ``"2..8"``, ``"1.."``, or the name of a whole-number parameter.

        Raises
        ------
        InvalidInput
            It is none of these.
        """
        plain = text.strip()
        named = next((p for p in region.parameters if p.name == plain), None)
        if named is not None:
            if not (named.integer or named.whole) or named.low.names or (named.high is not None and named.high.names):
                raise InvalidInput(
                    f"clients are whole: write '{plain} in 2..8' or '{plain} in 2..' in the region, got {named}"
                )
            last = None if named.high is None else int(named.high.at({}))
            return cls(int(named.low.at({})), last, plain)._checked(text)
        if plain in ("", "n"):
            return cls()
        found = _RANGE.fullmatch(plain)
        if found is None:
            raise InvalidInput(
                f"clients are a number, 'n' (any number), a range such as '2..8', or a whole-number parameter of the region; got {text!r}"
            )
        first, dots, last_text = found.groups()
        return cls(int(first), int(last_text) if last_text else None if dots else int(first))._checked(text)

    def _checked(self, text: str) -> ClientCounts:
        if self.first < 1 or (self.last is not None and self.last < self.first) or self.first > MOST:
            raise InvalidInput(f"expected 1 <= n <= {MOST} clients, and ranges that go up; got {text!r}")
        return self

    @property
    def tried(self) -> tuple[int, ...]:
        """The numbers that are run."""
        ends = {self.first} | ({self.last} if self.last is not None and self.last <= MOST else set())
        return tuple(sorted(ends | {n for n in NUMBERS if self.allows(n)}))

    def allows(self, n: int) -> bool:
        """Whether the statement is about n clients, for some parameters."""
        return self.first <= n and (self.last is None or n <= self.last)

    def holds(self, n: int, point: Mapping[str, Any]) -> bool:
        """Whether it is about n clients at a point."""
        return n == point[self.parameter] if self.parameter else self.allows(n)

    def cases(self, region: Region) -> Iterator[tuple[dict[str, Fraction], Region, int]]:
        """Values of the whole numbers, the region of the others, and the number of clients: what instances are drawn for."""
        for n in self.tried:
            own = {self.parameter: Fraction(n)} if self.parameter else {}
            for k, (fixed, rest) in enumerate(region.fix(own).cases()):
                if k == CASES:
                    break
                yield {**own, **fixed}, rest, n

    def assumption(self, n: int, point: Mapping[str, Any]) -> Assumption:
        """That an instance has as many clients as the statement is about."""
        return Assumption(f"{self}: n = {n}", self.holds(n, point), "exact arithmetic")

    def __str__(self) -> str:
        if self.parameter:
            return f"{self.parameter} clients"
        if self.last is None:
            return f"every n >= {self.first}"
        return f"n = {self.first}" if self.first == self.last else f"n = {self.first}, ..., {self.last}"


def describe_clients(given: Mapping[str, Any]) -> str:
    """How many clients there are and take part, in words, by the names n and s."""
    if not given:
        return "every n >= 2"
    n = str(given.get("n", "n"))
    said = n if n == "n" else f"n = {n}"
    return f"{given['s']} of {said} clients, in expectation" if "s" in given else f"{said} clients, all of them"


def name_numbers(numbers: tuple[int, ...]) -> str:
    """``n = 2, 3, 5``."""
    return f"n = {', '.join(map(str, numbers))}"
