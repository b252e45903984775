"""The search for a change of a method's round, or two, with which it does what an implementation does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedtheory.conformance.building import Base, apply_edits, show_lines
from fedtheory.conformance.changes.change import RoundChange
from fedtheory.conformance.changes.rules import LIKELY_GROUPS, RULE_GROUPS, list_round_changes
from fedtheory.conformance.reading import read_round
from fedtheory.conformance.tries import find_changes, judge_edits
from fedtheory.conformance.ways import Way

#: so many changes that mend a part are tried with a second one
_HALVES = 10


@dataclass(frozen=True)
class FoundChange:
    """A change, or two, in words; the class's text before and after, and the rule that it comes from."""

    words: str
    before: str
    after: str
    rule: str

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that change."""
        return show_lines(self.before, self.after)


class ChangeSearch:
    """The search for changes of a method's round; ``tried`` says how many it has tried.

    Parameters
    ----------
    ways : sequence of Way
        What an implementation did; the first one sorts out.
    texts : sequence of str
        Texts of the method's class that mean the same, of which changes need not.
    other : Way, optional
        A way with other numbers; changes that do not go it agree by a coincidence.
    """

    def __init__(self, ways: Sequence[Way], texts: Sequence[str], other: Way | None) -> None:
        self._searches = [_Search(ways, text, other) for text in texts]

    @property
    def tried(self) -> int:
        """How many changes were tried."""
        return sum(search.tried for search in self._searches)

    def find(self) -> list[FoundChange]:
        """The changes with which the method goes all ways, of the first group that has any."""
        groups = ([one for search in self._searches for one in search.find(k)] for k in range(len(RULE_GROUPS)))
        return _sorted(next(filter(None, groups), []))

    def find_pairs(self) -> list[FoundChange]:
        """The same for two likely changes, of which one alone mends a part."""
        return _sorted(next(filter(None, (search.find_pairs() for search in self._searches)), []))


class _Search:
    """The search from one text; ``tried`` counts changes."""

    def __init__(self, ways: Sequence[Way], text: str, other: Way | None) -> None:
        self.ways, self.other, self.tried = ways, other, 0
        self.base = Base(ways[0].method, text)
        reading = read_round(self.base.plain, text, ways[0].trial)
        self._listed = list_round_changes(reading)
        self._known: list[tuple[RoundChange, ...]] = []

    def changes(self, group: int) -> tuple[RoundChange, ...]:
        """The changes of a group."""
        while len(self._known) <= group:
            self._known.append(next(self._listed))
        return self._known[group]

    def find(self, group: int) -> list[FoundChange]:
        """The changes of a group that go all ways."""
        changes = self.changes(group)
        self.tried += len(changes)
        found = []
        for change in find_changes(self.base, self.ways[0], changes):
            after = apply_edits(self.base.text, change.edits)
            if self._goes(change):
                found.append(FoundChange(change.words, self.base.text, after, change.rule))
        return found

    def _goes(self, change: RoundChange) -> bool:
        every = (*self.ways, *([] if self.other is None else [self.other]))
        return all(way.agrees(Base(way.method, self.base.text).build(change)) for way in every)

    def find_pairs(self) -> list[FoundChange]:
        """A likely change that mends a part, and another one with it that mends the rest."""
        found = []
        for change in self._mending():
            half = _Search(self.ways, apply_edits(self.base.text, change.edits), self.other)
            for group in LIKELY_GROUPS:
                found += [
                    FoundChange(f"{change.words}, and {one.words}", self.base.text, one.after, change.rule)
                    for one in half.find(group)
                ]
            self.tried += half.tried
            if found:
                break
        return found

    def _mending(self) -> list[RoundChange]:
        """The likely changes with which more variables agree in single rounds, those with most first."""
        way = self.ways[0]
        before = int(way.count_agreeing(self.base.plain)[0])
        single = [c for group in LIKELY_GROUPS for c in self.changes(group) if not c.free and c.early is None]
        judged = [(c, int(n)) for c, n in judge_edits(self.base, single, way.count_agreeing) if n > before]
        return [change for change, _ in sorted(judged, key=lambda one: -one[1])[:_HALVES]]


def _sorted(found: Sequence[FoundChange]) -> list[FoundChange]:
    """Of those of one rule the shortest words first; of those in one line only the first."""
    rules = list(dict.fromkeys(one.rule for one in found))
    told: dict[tuple[str, ...], FoundChange] = {}
    for one in sorted(found, key=lambda one: (rules.index(one.rule), len(one.words))):
        told.setdefault(tuple(line for line in one.lines if line[0] == "-"), one)
    return list(told.values())
