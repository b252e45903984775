"""The verdict that the parts of a check add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fedtheory.claims.claim import Kind, Part, Repair, Status
from fedtheory.core.errors import FedtheoryError

#: fewest instances, points or draws that support a statement, where they are not all that it speaks of
LEAST_COVERED = 8


@dataclass(frozen=True)
class Verdict:
    """Status, margin and evidence of a claim."""

    id: str
    paper: str
    kind: Kind
    status: Status
    engines: list[str]
    margin: float | None
    evidence: list[dict[str, Any]]
    seconds: float
    seed: int
    versions: dict[str, str]
    source: str
    statement: str
    assumptions: list[str]
    repaired: str
    readings: list[str]
    budget: str
    error: str | None = None
    counterexample: dict[str, Any] | None = None
    picture: dict[str, Any] | None = None
    size: str | None = None
    tables: list[dict[str, Any]] = field(default_factory=list)
    repair: Repair | None = None  #: of a repaired statement: how it stands itself
    vouched: list[str] = field(default_factory=list)  #: what somebody vouches for and no checker confirmed

    def __post_init__(self) -> None:
        """Refuse a corrected statement beside a printed one that stands."""
        if (self.repaired or self.repair) and self.status != "repaired":
            raise FedtheoryError(f"{self.id} is {self.status} and yet carries a corrected statement")

    @property
    def ran(self) -> bool:
        """Whether the check ran to its end."""
        return self.error is None


def decide(kind: Kind, parts: list[Part]) -> Status:
    """Return the status that the parts add up to.

    A failing printed part counts as a refutation only with a replayable counterexample or a disproof; otherwise the verdict is
    inconclusive. So it is where nothing fails and a part is no evidence for the statement: one that is undecided, or a refutation
    that did not reproduce. *Proved* takes a proof object at the statement's own scope; *supported*, of the printed statement and of
    a corrected one, that `list_uncovered` has nothing to say. Orderings are reproduced or not.
    """
    printed = [p for p in parts if p.role == "printed"]
    repaired = [p for p in parts if p.role == "repaired"]
    if not printed:
        raise FedtheoryError("a check must yield at least one part with role 'printed'")
    failing = [p for p in printed if p.holds is False]
    if kind == "ordering":
        if failing:
            return "not reproduced"
        return "reproduced" if all(p.supports for p in printed) else "inconclusive"
    if failing:
        if not any(p.refutes for p in failing):
            return "inconclusive"
        stands = repaired and all(p.supports for p in repaired) and not _list_uncovered(repaired)
        return "repaired" if stands else "refuted"
    if not all(p.supports for p in printed) or _list_uncovered(printed):
        return "inconclusive"
    return "proved" if any(p.proves for p in printed) else "supported"


def list_uncovered(parts: list[Part]) -> list[str]:
    """What of the evidence covers too little for the word *supported*, where all that is printed, or repaired, holds and none of it proves.

    Every part without a proof object says what it covered: at least `LEAST_COVERED`, or all that the statement speaks of. A proof of narrower
    scope is evidence whatever its scope, which is printed. What is vouched for covers nothing and asks for nothing, but is not enough alone.
    Orderings have rules of their own.
    """
    roles = ([p for p in parts if p.role == role] for role in ("printed", "repaired"))
    return [reason for of_role in roles if all(p.supports for p in of_role) for reason in _list_uncovered(of_role)]


def _list_uncovered(parts: list[Part]) -> list[str]:
    if not parts or any(p.proves for p in parts):
        return []
    if all(p.vouched for p in parts):
        return ["there is nothing but its author's word"]
    return [reason for p in parts if p.proof is None and not p.vouched for reason in _too_little(p)]


def _too_little(part: Part) -> list[str]:
    covered = part.covered
    if covered is None:
        return [
            f"the part {part.name!r} does not say what it covered; give it 'covered=Covered(number, \"instances\")'"
        ]
    if covered.count >= LEAST_COVERED or (covered.whole and covered.count):
        return []
    return [f"the part {part.name!r} covers {covered}; at least {LEAST_COVERED} are asked for"]


def judge_repair(parts: list[Part]) -> Repair:
    """How the corrected statement of a repaired claim stands: its parts are judged as printed ones are."""
    return "proved" if any(p.proves for p in parts if p.role == "repaired") else "supported"


def list_vouched(parts: list[Part]) -> list[str]:
    """What of the evidence is somebody's word: arguments without facts, and assumptions that no checker confirmed."""
    words = [p.text for p in parts if p.vouched]
    shown = [p.counterexample.replay for p in parts if p.counterexample is not None]
    return words + [a.text for replay in shown for a in replay.assumptions if a.by == "vouched for"]


def margin_of(status: Status, parts: list[Part]) -> float | None:
    """Return the smallest signed margin among the parts that decided."""
    decisive = [p for p in parts if p.role == "printed" and p.margin is not None]
    if status in ("refuted", "repaired", "not reproduced"):
        decisive = [p for p in decisive if p.holds is False]
    return min((p.margin for p in decisive if p.margin is not None), default=None)
