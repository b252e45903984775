"""Two runs of the checks, compared: which words, which evidence and which numbers changed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fedtheory.claims.replay import FLOATS
from fedtheory.claims.report import name_outcome, name_word_of
from fedtheory.claims.verdict import Verdict


@dataclass(frozen=True)
class Changes:
    """What changed between two verdicts on one claim, as lines by kind.

    ``words``: the verdict; ``evidence``: parts that come out otherwise, came or went, and what they say; ``numbers``: beyond rounding.

    Examples
    --------
    >>> print(Changes("T-1", ["proved -> refuted"]).lines()[0])
    T-1  word: proved -> refuted
    """

    id: str
    words: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.words or self.evidence or self.numbers)

    def lines(self) -> list[str]:
        """A line a change, each with the claim's id."""
        kinds = (("word", self.words), ("evidence", self.evidence), ("number", self.numbers))
        return [f"{self.id}  {kind}: {line}" for kind, lines in kinds for line in lines]


def compare_verdicts(verdicts: Sequence[Verdict], stored: Mapping[str, Mapping[str, Any]]) -> list[Changes]:
    """Return what changed, claim by claim, against stored verdicts by id (`fedtheory.claims.report.read_json`); claims without a change are left out.

    Of a stored verdict that has a word alone nothing else is compared. Times, versions and what is not evidence play no part.
    """
    found = [_compare(verdict, stored.get(verdict.id)) for verdict in verdicts]
    return [changes for changes in found if changes]


def summarise_changes(changes: Sequence[Changes], compared: int) -> str:
    """Return one line: of how many claims words, evidence and numbers changed.

    Examples
    --------
    >>> print(summarise_changes([Changes("T-1", ["proved -> refuted"])], 12))
    of 12 claims: 1 with another word, 0 with other evidence, 0 with other numbers
    """
    words, evidence, numbers = (sum(bool(getattr(c, k)) for c in changes) for k in ("words", "evidence", "numbers"))
    return (
        f"of {compared} claims: {words} with another word, {evidence} with other evidence, {numbers} with other numbers"
    )


def _compare(verdict: Verdict, before: Mapping[str, Any] | None) -> Changes:
    if before is None:
        return Changes(verdict.id, words=[f"{name_word_of(vars(verdict))}, and it was not judged before"])
    after = dataclasses.asdict(verdict)
    was, now = name_word_of(before, as_stored=before), name_word_of(after, as_stored=before)
    changes = Changes(verdict.id, words=[f"{was} -> {now}"] if was != now else [])
    if "evidence" not in before:
        return changes
    changes.evidence.extend(_compare_parts(before["evidence"], after["evidence"]))
    changes.numbers.extend(_compare_numbers(before, after))
    return changes


def _compare_parts(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Parts by name and role: what came of them, and what they say."""
    old, new = ({(p["name"], p.get("role")): p for p in parts} for parts in (before, after))
    for key in old.keys() - new.keys():
        yield f"the part {key[0]!r} is gone; it was: {_outcome(old[key])}"
    for key, part in new.items():
        if key not in old:
            yield f"the part {key[0]!r} is new: {_outcome(part)}"
        elif _outcome(old[key]) != _outcome(part):
            yield f"{key[0]!r}: {_outcome(old[key])} -> {_outcome(part)}"
        elif old[key].get("text") != part.get("text"):
            yield f"{key[0]!r} said: {old[key].get('text')}; it says: {part.get('text')}"


def _outcome(part: Mapping[str, Any]) -> str:
    """Whether a part holds, and with what: a proof, a counterexample, neither."""
    with_what = "a proof" if part.get("proves") else "an argument" if part.get("argued") else ""
    against = "which refutes" if part.get("refutes") else ""
    return ", ".join(filter(None, (name_outcome(part), with_what, against)))


def _compare_numbers(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Margins, what parts measured, both sides of a counterexample, and entries of tables."""
    new = {(p["name"], p.get("role")): p for p in after["evidence"]}
    for part in before["evidence"]:
        other = new.get((part["name"], part.get("role")))
        if other is not None:
            yield from (f"{part['name']!r}, {line}" for line in _differences(_numbers_of(part), _numbers_of(other)))
    yield from _differences({"margin": before.get("margin")}, {"margin": after["margin"]})
    sides = [{k: (v.get("counterexample") or {}).get(k) for k in ("measured", "bound")} for v in (before, after)]
    yield from (f"counterexample, {line}" for line in _differences(sides[0], sides[1]))
    yield from (f"tables, {line}" for line in _differences(before.get("tables"), after["tables"]))


def _numbers_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part's margin, chance, and what it measured: numbers and lists of them; a proof's multipliers are none."""
    measured = {name: v for name, v in part.get("data", {}).items() if _is_number(v) or _is_list_of_numbers(v)}
    return {"margin": part.get("margin"), "chance": (part.get("chance") or {}).get("value")} | measured


def _is_list_of_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_number, value))


def _differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Numbers of two pieces of plain data that differ beyond rounding, each with where it stands."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _differences(old.get(name), new.get(name), f"{where} {name}".strip())
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{where}[{k}]")
    elif not _is_same(old, new):
        yield f"{where}: {_show(old)} -> {_show(new)}"


def _is_same(old: Any, new: Any) -> bool:
    both = _is_number(old) and _is_number(new)
    return math.isclose(old, new, rel_tol=FLOATS, abs_tol=0.0) if both else bool(old == new)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _show(value: Any) -> str:
    text = "nothing" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
