"""Replaying a stored counterexample: the file is data, and only claims that are installed or named are asked to measure it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from pathlib import Path
from typing import Any, get_args

from fedtheory.claims.claim import By, Claim, Counterexample, Part, Replay, Role, Status
from fedtheory.claims.context import Context
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.claims.refutation import explain_refutation
from fedtheory.claims.report import COUNTEREXAMPLE_FORMAT, as_json_value
from fedtheory.claims.verdict import DISAGREE
from fedtheory.core.errors import InvalidInput, MissingExtra, NotAvailable, describe
from fedtheory.tools.beside import plain_name
from fedtheory.tools.untrusted import MOST_EXPONENT, is_same, read_json_file, require_short_numbers

#: relative differences that another machine's rounding explains: of floats, and of numbers in high precision
FLOATS, DIGITS = 1e-6, Decimal("1e-12")
#: what a verdict can be where the printed statement has a counterexample
AGAINST = ("refuted", "repaired", *DISAGREE)
#: whole numbers up to which an instance is replayed that the check does not show: it may be clients, rounds or steps
MOST_COUNT = 1000
#: bytes of a file
_MOST_BYTES = 1_000_000
_READ_AS = {
    "printed": "as printed",
    "repaired": "in the corrected statement",
    "reading": "under another reading, not as printed",
}


@dataclass(frozen=True)
class Replayed:
    """A counterexample measured again.

    ``part``, ``role`` and ``status``: which part of the check it belongs to, how that part reads the statement, and the verdict on
    the claim when the file was written. ``differences``: the fields in which the file says something else than was measured, and the
    number that it has there, if it is one. ``source``: the module or file that the claim is in.
    """

    claim: Claim
    part: str
    role: Role
    status: Status
    seen: Replay
    differences: Mapping[str, str]
    instance: Mapping[str, Any]
    source: str

    @property
    def confirmed(self) -> bool:
        """Whether the violation is there, with the numbers that the file has."""
        return self.seen.violated and not self.differences

    @property
    def explanation(self) -> str:
        """The violation in one sentence, with by how much the bound is exceeded."""
        found = Counterexample(dict(self.instance), self.seen).as_dict()
        return explain_refutation(found | {"role": self.role})

    @property
    def conclusion(self) -> str:
        """Reading, verdict and agreement in one line."""
        found = f"{'VIOLATED' if self.seen.violated else 'not violated'} {_READ_AS[self.role]} (part {self.part!r})"
        agreement = (
            f"the file DISAGREES in: {', '.join(self.differences)}" if self.differences else "the file's numbers agree"
        )
        return f"{found}; verdict on {self.claim.id} when the file was written: {self.status}; {agreement}"


def replay_file(path: Path, claims_file: Path | None = None, limit: int | None = None) -> Replayed:
    """Measure the violation of a counterexample file again, from its instance alone, and compare with the numbers in the file.

    Nothing is imported because a file names it: its claim is one of an installed paper, or of ``claims_file``. The claim's check is run, with
    the default seed and budget, up to the part that shows the instance, which must have the name and the role that the file says.

    Parameters
    ----------
    limit : int, optional
        The largest number of an instance, and how many numbers it has; by default `MOST_COUNT`, or twice what the check itself shows.

    Raises
    ------
    InvalidInput
        The file is missing or malformed, its claim is unknown, its instance is not one that the claim can read, or its check fails.
    NotAvailable
        The claim has no replay.
    """
    stored = _read(path)
    source = _find_source(path, stored["source"], claims_file)
    claims = load_claims(source)
    if stored["claim"] not in claims:
        raise InvalidInput(
            f"{path} speaks of the claim {stored['claim']!r}, which {claims_file or stored['source']} does not have"
        )
    claim = claims[stored["claim"]]
    if claim.replay is None:
        raise NotAvailable(f"the claim {claim.id} has no replay")
    shown = _Shown(claim, path)
    _require_small(stored["instance"], shown, path, limit)
    instance = _Fields(stored["instance"])
    try:
        seen = claim.replay(instance)
        found = Counterexample(stored["instance"], seen).as_dict() | {"statement": claim.statement}
        if not (_is_number(seen.measured) and _is_number(seen.bound)):
            raise InvalidInput(f"{seen.measured!r} against {seen.bound!r} is no comparison of numbers")
    except MissingExtra:
        raise
    except Exception as error:
        lacks = isinstance(error, KeyError) and error.args and error.args[0] not in stored["instance"]
        why = f"it lacks {error.args[0]!r}" if lacks else describe(error)
        raise InvalidInput(f"the instance in {path} cannot be replayed: {why}") from error
    if unread := [name for name in stored["instance"] if name not in instance.read]:
        raise InvalidInput(f"the instance in {path} has fields that {claim.id} does not read: {', '.join(unread)}")
    differences = dict(_list_differences(stored, found)) | _list_wrong_part(shown, stored, path)
    return Replayed(
        claim, stored["part"], stored["role"], stored["status"], seen, differences, stored["instance"], source
    )


class _Shown:
    """The counterexamples that a claim's check shows with the default seed and budget, each with its part; it runs as far as it is asked."""

    def __init__(self, claim: Claim, path: Path) -> None:
        self._claim, self._path = claim, path
        self._found: list[tuple[Part, dict[str, Any]]] = []
        self._left = claim.run(Context())

    def __iter__(self) -> Iterator[tuple[Part, dict[str, Any]]]:
        yield from self._found
        try:
            for finding in self._left:
                if isinstance(finding, Part) and finding.counterexample is not None:
                    self._found.append((finding, as_json_value(finding.counterexample.instance)))
                    yield self._found[-1]
        except MissingExtra:
            raise
        except Exception as error:
            raise InvalidInput(
                f"the check of {self._claim.id} fails before the part that {self._path} names: {describe(error)}"
            ) from error


def _require_small(instance: dict[str, Any], shown: _Shown, path: Path, limit: int | None) -> None:
    """Refuse numbers that would be counted for ever, or so many, or so long, unless the check itself shows such."""
    sizes, most = _find_sizes(instance), _find_most(limit or MOST_COUNT)
    larger = [what for what in sizes if sizes[what] > most[what]]
    if larger and limit is None:
        for _, own in shown:
            most = {what: max(most[what], _TWICE[what] * size) for what, size in _find_sizes(own).items()}
            larger = [what for what in sizes if sizes[what] > most[what]]
            if not larger:
                return
    if larger:
        raise InvalidInput(
            f"the instance in {path} has {larger[0]} {most[larger[0]]:.0f}; --limit NUMBER raises the limit"
        )


#: what the work of a replay grows with, in words that go on with a number
_NUMBERS, _COUNT, _WORK = "numbers larger than", "more numbers than", "more operations on digits in it than"
#: how much larger each is where numbers, their count and their digits are twice as large
_TWICE = {_NUMBERS: 2, _COUNT: 2, _WORK: 2 * 2**3 * 2**2}
#: digits that stand together in a text, and a whole number that stands alone in it: no part of a fraction, a decimal or a name
_DIGITS, _WHOLE = re.compile(r"\d+", re.ASCII), re.compile(r"(?<![\w./])\d+(?![\w./])", re.ASCII)


def _find_most(limit: float) -> dict[str, float]:
    """What is allowed for numbers up to a limit; at 1000 a second or two."""
    return {_NUMBERS: limit, _COUNT: limit, _WORK: 20 * limit**3}


def _find_sizes(instance: Mapping[str, Any]) -> dict[str, float]:
    """The largest whole number (or entries of a list; of other numbers their size), how many numbers there are, and about how long arithmetic takes.

    A sum of fractions is as long as all their denominators, a product of k is k times as long, and an operation takes the square of the length:
    for each number and each of k steps, of numbers whose different digits are d in all, (k d)^2. Floats have powers of two below.
    """
    largest, whole, count, different = 1.0, 1.0, 0, set[str]()
    waiting: list[Any] = [dict(instance)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
            largest = max(largest, len(value))
        elif isinstance(value, str):
            found = _DIGITS.findall(value)
            different.update(found)
            count += len(found)
            whole = max([whole, *(int(digits) for digits in {*_WHOLE.findall(value)})])
        elif value is not None:
            different.update([str(abs(value))] if isinstance(value, int) else [])
            count, whole = count + 1, max(whole, abs(value))
    work = count * float(whole) ** 3 * max(1, sum(map(len, different))) ** 2 if whole < 1e50 else math.inf
    return {_NUMBERS: max(largest, whole), _COUNT: count, _WORK: work}


def _list_wrong_part(shown: _Shown, stored: dict[str, Any], path: Path) -> dict[str, str]:
    """``part`` if the check has no part of that name and role that shows the instance; where none shows it, as with another seed, any like it.

    Raises
    ------
    InvalidInput
        Such a part shows an instance, and one of other kinds of values.
    """
    named, elsewhere = [], False
    for part, instance in shown:
        asked, same = (part.name, part.role) == (stored["part"], stored["role"]), is_same(instance, stored["instance"])
        if asked and same:
            return {}
        named += [instance] if asked else []
        elsewhere = elsewhere or same
    if not named or elsewhere:
        return {"part": ""}
    unlike = [_find_unlike(stored["instance"], instance) for instance in named]
    if all(unlike):
        raise InvalidInput(f"the instance in {path} is not like the one that the check shows: {unlike[0]}")
    return {}


def _find_unlike(value: Any, shown: Any, where: str = "it") -> str:
    """Say what of an instance is of another kind than what is shown, or another word; "" where nothing is."""
    if isinstance(shown, dict) and isinstance(value, dict) and value.keys() == shown.keys():
        return next((text for name in shown if (text := _find_unlike(value[name], shown[name], repr(name)))), "")
    if isinstance(shown, list) and isinstance(value, list):
        inside = (
            (_find_unlike(entry, shown[0], where) for entry in value) if shown else iter([""] if not value else [where])
        )
        return next((text for text in inside if text), "")
    kinds = _kind_of(value), _kind_of(shown)
    if kinds[0] != kinds[1] and kinds != ("a whole number", "a number"):
        return f"{where} is {kinds[0]}, there {kinds[1]}"
    return "" if kinds[1] != "a word" or value == shown else f"{where} is {value[:40]!a}, there {shown[:40]!a}"


_NUMERAL = re.compile(r"[-+]?[\d./]+(e[-+]?\d+)?", re.ASCII)


def _kind_of(value: Any) -> str:
    """The kind of a value of an instance; a text that is a number is one, and a text without digits is a word."""
    if isinstance(value, bool) or value is None:
        return "a truth value" if isinstance(value, bool) else "nothing"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float) or (isinstance(value, str) and _NUMERAL.fullmatch(value)):
        return "a number"
    if isinstance(value, str):
        return "a text with numbers" if any(c.isdigit() for c in value) else "a word"
    return f"a {type(value).__name__}"


def _find_source(path: Path, source: str, claims_file: Path | None) -> str:
    """Return where the claim is looked for."""
    papers = {plain_name(module): module for module in find_papers().values()}
    installed = plain_name(source) in papers
    if claims_file is not None:
        if installed:
            raise InvalidInput(f"{path} speaks of a claim of the paper {source}: replay it without {claims_file}")
        if claims_file.suffix != ".py":
            raise InvalidInput(f"{claims_file} is not a Python file with claims; expected a name that ends in .py")
        return str(claims_file.resolve())
    if not installed:
        raise InvalidInput(
            f"{path} speaks of a claim of {source!r}, which is no installed paper; if it came from a file of claims, name that file: "
            f"fedtheory replay {path} CLAIMS.py"
        )
    return papers[plain_name(source)]


class _Fields(dict[str, Any]):
    """An instance that knows which of its fields were read."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self.read.update(super().keys())
        return super().__iter__()

    def items(self) -> Any:
        self.read.update(super().keys())
        return super().items()


# ---- the file ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, Any]:
    """Return the fields of a counterexample file, all of them checked."""
    stored = read_json_file(path, "a counterexample file written by 'fedtheory check'", _MOST_BYTES)
    if not isinstance(stored, dict) or "claim" not in stored:
        raise InvalidInput(_malformed(path, "it names no claim"))
    if stored.get("format") != COUNTEREXAMPLE_FORMAT:
        raise InvalidInput(
            f"{path} has the format {stored.get('format')!r}; expected {COUNTEREXAMPLE_FORMAT}: write it again with 'fedtheory check'"
        )
    if wrong := _list_wrong_fields(stored):
        raise InvalidInput(_malformed(path, "; ".join(wrong)))
    if stored["role"] == "printed" and stored["status"] not in AGAINST:
        raise InvalidInput(
            _malformed(path, f"the printed statement cannot have a counterexample and be {stored['status']}")
        )
    return stored


def _malformed(path: Path, what: str) -> str:
    return f"{path} is not a counterexample file ({what}); 'fedtheory check' writes them"


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable()


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_plain(value: Any) -> bool:
    """Whether a value of an instance is a number, a line of text, a truth value, or a list of such."""
    if isinstance(value, list):
        return all(_is_plain(entry) for entry in value)
    return value is None or isinstance(value, bool) or (_is_line(value) and _is_short(value)) or _is_number(value)


def _is_short(text: str) -> bool:
    try:
        require_short_numbers(text)
    except ValueError:
        return False
    return True


def _is_instance(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_line(name) and _is_plain(entry) for name, entry in value.items())


def _is_exact(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"measured", "bound", "arithmetic"}
        and all(_is_line(entry) for entry in value.values())
    )


def _is_assumptions(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and set(entry) == {"assumption", "by", "met"}
        and _is_line(entry["assumption"])
        and entry["by"] in get_args(By)
        and isinstance(entry["met"], bool)
        for entry in value
    )


#: every field: what it must be, in words and as a test
_FIELDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "format": ("a whole number", lambda value: type(value) is int),
    "claim": ("a line of text", _is_line),
    "source": ("a line of text", _is_line),
    "statement": ("a line of text", _is_line),
    "part": ("a line of text", _is_line),
    "role": (f"one of {', '.join(get_args(Role))}", lambda value: value in get_args(Role)),
    "status": (f"one of {', '.join(get_args(Status))}", lambda value: value in get_args(Status)),
    "instance": (f"named numbers, texts and lists, with numbers of at most {MOST_EXPONENT} digits", _is_instance),
    "what": ("a line of text", _is_line),
    "measured": ("a finite number", _is_number),
    "bound": ("a finite number", _is_number),
    "exact": ("the texts measured, bound and arithmetic", _is_exact),
    "assumptions": (
        f"a list of texts 'assumption', who says so ('by': {', '.join(get_args(By))}), and truth values 'met'",
        _is_assumptions,
    ),
}


def _list_wrong_fields(stored: dict[str, Any]) -> list[str]:
    unknown = [f"unknown field {name!r}" for name in stored if name not in _FIELDS]
    missing = [f"{name!r} is missing" for name in _FIELDS if name not in stored]
    wrong = [
        f"{name!r} must be {words}"
        for name, (words, test) in _FIELDS.items()
        if name in stored and not test(stored[name])
    ]
    return missing + wrong + unknown


def _list_differences(stored: dict[str, Any], found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields in which a file says something else than was measured, and the number that it has there; words are not handed on."""
    yield from ((name, "") for name in ("statement", "what", "assumptions") if stored[name] != found[name])
    for name in ("measured", "bound"):
        if not math.isclose(stored[name], found[name], rel_tol=FLOATS, abs_tol=0.0):
            yield name, f"{stored[name]:.12g}"
    if stored["exact"]["arithmetic"] != found["exact"]["arithmetic"]:
        yield "arithmetic", ""
    for name in ("measured", "bound"):
        if not _is_same_number(said := stored["exact"][name], found["exact"][name]):
            yield f"exact {name}", said if re.fullmatch(r"[-+\d./e]{1,200}", said) else ""


def _is_same_number(one: str, other: str) -> bool:
    """Whether two texts are the same number: fractions exactly, decimals up to `DIGITS`."""
    if one == other:
        return True
    if not ("." in one and "." in other):
        return False
    try:
        return bool(abs(Decimal(one) - Decimal(other)) <= DIGITS * abs(Decimal(other)))
    except DecimalException:  # not a number, or beyond all bounds
        return False
