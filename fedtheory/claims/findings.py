"""What a check found, before any rule has judged it: gathered from the check, and kept as plain data between an interruption and the next start.

Kept findings are evidence, and no verdict: word, margin and readings are made from them again. What a file cannot show again is not kept: a part
with a proof rests on facts that only their checkers write down, so such a claim is checked anew. A counterexample is measured again on its instance.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fedtheory.claims.chance import Chance
from fedtheory.claims.claim import Claim, Counterexample, Covered, Part, Picture, PictureOfStatement, Reading, Table
from fedtheory.claims.context import Context
from fedtheory.claims.identity import RefusedRun, collect_data, collect_remarks
from fedtheory.claims.parts import draw_shares
from fedtheory.claims.report import as_json_value
from fedtheory.core.errors import InvalidInput, describe
from fedtheory.tools.untrusted import is_same


@dataclass(frozen=True)
class Findings:
    """What a check yielded; ``error`` in one line where it did not come to its end.

    ``told``: what is to be said of kept runs that it read; ``data``: the files that those were made from, with their SHA-256. ``seeded``: whether
    the check read the seed; ``mistaken``: whether the error is one of the statement's author.
    """

    parts: tuple[Part, ...]
    readings: tuple[str, ...] = ()
    picture: Picture | None = None
    tables: tuple[Table, ...] = ()
    told: tuple[str, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)
    seeded: bool = False
    seconds: float = 0.0
    error: str | None = None
    mistaken: bool = False

    @property
    def can_be_kept(self) -> bool:
        """Whether all of it can be shown again from plain data."""
        return self.error is None and all(part.proof is None and part.disproof is None for part in self.parts)

    def as_data(self) -> dict[str, Any]:
        """Return plain data from which `restore_findings` makes the same again."""
        picture = None if self.picture is None else dataclasses.asdict(self.picture)
        plain: dict[str, Any] = as_json_value(
            {
                "parts": [_part_as_data(part) for part in self.parts],
                "readings": self.readings,
                "picture": picture,
                "tables": [dataclasses.asdict(table) for table in self.tables],
                "told": self.told,
                "data": self.data,
                "seeded": self.seeded,
                "seconds": self.seconds,
            }
        )
        return plain


class _Watched(Context):
    """A context that remembers whether its seed was read."""

    seeded = False

    def __getattribute__(self, name: str) -> Any:
        if name == "seed":
            object.__setattr__(self, "seeded", True)
        return super().__getattribute__(name)


def is_mistaken(failure: BaseException) -> bool:
    """Whether an error is a mistake of the statement's author, and no kept run that was refused."""
    return isinstance(failure, InvalidInput) and not isinstance(failure, RefusedRun)


def gather_findings(claim: Claim, context: Context) -> Findings:
    """Run a claim's check; an error inside it ends it, and is told."""
    watched = _Watched(**{field.name: getattr(context, field.name) for field in dataclasses.fields(context)})
    begun, error, mistaken, picture = time.perf_counter(), None, False, None
    parts: list[Part] = []
    readings: list[str] = []
    pictures: list[Picture | PictureOfStatement] = []
    tables: list[Table] = []
    with collect_remarks() as remarks, collect_data() as data:
        try:
            for finding in claim.run(watched):
                if isinstance(finding, Part):
                    parts.append(finding)
                elif isinstance(finding, Reading):
                    readings.append(finding.text)
                elif isinstance(finding, Table):
                    tables.append(finding)
                elif isinstance(finding, Picture | PictureOfStatement):
                    pictures.append(finding)
                else:
                    raise InvalidInput(
                        f"the check yields a {type(finding).__name__}; expected a Part, a Reading, a Picture or a Table"
                    )
            picture = _choose_picture(claim, parts, pictures, context.seed)
        except (Exception, SystemExit) as failure:  # one failing check never takes the others down
            error, mistaken = describe(failure), is_mistaken(failure)
    return Findings(
        tuple(parts),
        tuple(readings),
        picture,
        tuple(tables),
        tuple(f"Kept runs that were read ({len(runs)} of them): {text}." for text, runs in remarks.items()),
        dict(data),
        watched.seeded,
        round(time.perf_counter() - begun, 3),
        error,
        mistaken,
    )


def _choose_picture(
    claim: Claim, parts: Sequence[Part], found: Sequence[Picture | PictureOfStatement], seed: int
) -> Picture | None:
    """Return the last picture of the check's own, or else what can be drawn of the statement, or of the shares of a bound."""
    own = [picture for picture in found if isinstance(picture, Picture)]
    if own:
        return own[-1]
    drawn = (pictured.draw(seed) for pictured in found if isinstance(pictured, PictureOfStatement))
    picture = next((shown for shown in drawn if shown is not None), None)
    return draw_shares(parts, seed) if picture is None and claim.kind in ("bound", "rate") else picture


# ---- as plain data -----------------------------------------------------------------------------------------------------


_PLAIN = ("name", "holds", "engine", "text", "role", "margin", "against", "vouched", "data")


def _part_as_data(part: Part) -> dict[str, Any]:
    structured = {
        "covered": None if part.covered is None else dataclasses.asdict(part.covered),
        "chance": None if part.chance is None else dataclasses.asdict(part.chance),
        "counterexample": None if part.counterexample is None else part.counterexample.as_dict(),
    }
    return {name: getattr(part, name) for name in _PLAIN} | structured


def restore_findings(data: Mapping[str, Any], claim: Claim) -> Findings:
    """Return the findings that plain data hold; counterexamples are measured again by the claim's replay.

    Raises
    ------
    InvalidInput
        They are malformed, or a counterexample does not show what they say.
    """
    expected = {f.name for f in dataclasses.fields(Findings)} - {"error", "mistaken"}
    try:
        if set(data) != expected:
            raise ValueError(f"its fields are not {', '.join(sorted(expected))}")
        return Findings(
            parts=tuple(_restore_part(part, claim) for part in data["parts"]),
            readings=tuple(map(_read_text, data["readings"])),
            picture=None if data["picture"] is None else Picture(**data["picture"]),
            tables=tuple(Table(**table) for table in data["tables"]),
            told=tuple(map(_read_text, data["told"])),
            data={_read_text(name): _read_text(value) for name, value in data["data"].items()},
            seeded=data["seeded"] is True,
            seconds=float(data["seconds"]),
        )
    except Exception as error:  # of any kind: a replay is the claim's own code
        raise InvalidInput(f"it cannot be read: {describe(error)}") from error


def _restore_part(data: Mapping[str, Any], claim: Claim) -> Part:
    if set(data) != {*_PLAIN, "covered", "chance", "counterexample"}:
        raise ValueError("the fields of a part are not those that are kept")
    covered, chance, shown = data["covered"], data["chance"], data["counterexample"]
    return Part(
        **{name: data[name] for name in _PLAIN},
        covered=None if covered is None else Covered(**covered),
        chance=None if chance is None else Chance(**chance),
        counterexample=None if shown is None else _measure_again(shown, claim),
    )


def _measure_again(shown: Mapping[str, Any], claim: Claim) -> Counterexample:
    if claim.replay is None:
        raise ValueError("a counterexample of a claim that has no replay")
    found = Counterexample(shown["instance"], claim.replay(shown["instance"]))
    if not is_same(as_json_value(found.as_dict()), shown):
        raise ValueError("a counterexample comes out otherwise when it is measured again")
    return found


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
