"""The verdict that the parts of a check add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fedtheory.claims.claim import Kind, Part, Repair, Status
from fedtheory.claims.protocol import Clause
from fedtheory.core.errors import FedtheoryError

#: fewest instances, points or draws that support a statement together, where they are not all that it speaks of
LEAST_COVERED = 8
#: words of orderings, on the paper's own data and model and elsewhere
AGREE: tuple[Status, ...] = ("reproduced", "agrees in an analogue")
DISAGREE: tuple[Status, ...] = ("not reproduced", "disagrees in an analogue")


@dataclass(frozen=True)
class Verdict:
    """Status, margin and evidence of a claim.

    Examples
    --------
    >>> def check(context):
    ...     yield holds("a sum", True, "numeric", "1 + 1 = 2")
    ...
    >>> claim = Claim("MINE-1", "my paper", "proof step", "(1)", "1 + 1 = 2.", check, (Fault("a lie", "a sum", {}),))
    >>> from fedtheory.claims.checking import judge_claim
    >>> verdict = judge_claim(claim, "mine.py", Context())
    >>> print(verdict.status)  # one look is no evidence: nothing was covered
    inconclusive
    """

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
    mistaken: bool = False  #: whether the error is a mistake in the claim, such as a negative step size
    counterexample: dict[str, Any] | None = None
    fields: dict[str, str] = field(default_factory=dict)  #: what the fields of its instance are, in the paper's symbols
    picture: dict[str, Any] | None = None
    size: str | None = None
    setting: str | None = None  #: of an experiment: its data and model
    tables: list[dict[str, Any]] = field(default_factory=list)
    repair: Repair | None = None  #: of a repaired statement: how it stands itself
    given: list[str] = field(default_factory=list)  #: theorems of the literature that its proofs cite
    vouched: list[str] = field(default_factory=list)  #: what somebody vouches for and no checker confirmed
    seeded: bool = False  #: whether the check read the seed
    data: dict[str, str] = field(default_factory=dict)  #: files that its kept runs were made from, with their SHA-256
    told: list[dict[str, Any]] = field(
        default_factory=list
    )  #: statements as their data say them (`fedtheory.claims.claim.Told`): "role", "sentence", "formula", "rounds" and "name"
    faults: list[str] = field(default_factory=list)  #: names of the planted faults
    planted: list[dict[str, str]] = field(
        default_factory=list
    )  #: where they were run: each "fault" with its "outcome" (caught, missed or not run) and the "detail" that was seen
    kernel: list[dict[str, Any]] = field(
        default_factory=list
    )  #: where Rocq was asked: of each theorem what it said (`fedtheory.claims.kernel`)
    unwritten: list[str] = field(default_factory=list)  #: where Rocq was asked: what was not written for it, and why
    level: float | None = (
        None  #: of a verdict that rests on draws: what its ledger allows each such claim (`fedtheory.claims.ledger`)
    )

    def __post_init__(self) -> None:
        """Refuse a corrected statement beside a printed one that stands."""
        if (self.repaired or self.repair) and self.status != "repaired":
            raise FedtheoryError(f"{self.id} is {self.status} and yet carries a corrected statement")

    @property
    def derived(self) -> bool:
        """Whether the statement is the ledger's own, derived from what the paper says."""
        return self.paper.endswith(", derived")

    @property
    def ran(self) -> bool:
        """Whether the check ran to its end."""
        return self.error is None


def decide(kind: Kind, parts: list[Part], *, clauses: Sequence[Clause] = (), analogue: bool = False) -> Status:
    """Return the status that the parts add up to.

    A failing printed part counts as a refutation only with a replayable counterexample or a disproof; otherwise the verdict is
    inconclusive. So it is where nothing fails and a part is no evidence for the statement: one that is undecided, or a refutation
    that did not reproduce. *Proved* takes a proof at the statement's own scope with nothing in words, and one for each of its
    ``clauses`` where it has them; *argued* one with an argument in words; *empty* that hypotheses were shown to contradict each other;
    *supported*, of the printed statement and of a corrected one, that `list_uncovered` has nothing to say. Orderings are reproduced
    or not; in an ``analogue``, which has not the paper's own data and model, they agree or disagree.
    """
    printed = [p for p in parts if p.role == "printed"]
    repaired = [p for p in parts if p.role == "repaired"]
    if not printed:
        raise FedtheoryError("a check must yield at least one part with role 'printed'")
    failing = [p for p in printed if p.holds is False]
    if kind == "ordering":
        if failing:
            return DISAGREE[analogue]
        if not all(p.supports for p in printed):
            return "inconclusive"
        return AGREE[analogue]
    if failing:
        if not any(p.refutes for p in failing):
            return "inconclusive"
        stands = repaired and all(p.supports for p in repaired) and not _list_uncovered(repaired)
        return "repaired" if stands else "refuted"
    if any(p.empty for p in printed):
        return "empty"
    if not all(p.supports for p in printed) or _list_uncovered(printed):
        return "inconclusive"
    return _how_well(printed, clauses)


def _how_well(parts: Sequence[Part], clauses: Sequence[Clause]) -> Repair:
    """How well a statement stands whose parts all hold: every clause needs a proof for the word that it gets."""
    proofs = [p for p in parts if p.argues]
    if any(p.engine == "worst case" and not p.argues for p in parts):  # a statement that nothing proved, beside others
        return "supported"
    if not proofs or not all(any(p.name.startswith(clause.decided_by) for p in proofs) for clause in clauses):
        return "supported"
    closed = [p for p in proofs if p.proves]
    of_clauses = all(any(p.name.startswith(clause.decided_by) for p in closed) for clause in clauses)
    return "proved" if closed and of_clauses and (clauses or len(closed) == len(proofs)) else "argued"


def list_uncovered(parts: list[Part]) -> list[str]:
    """Why the evidence covers too little for the word *supported*, where all that is printed, or repaired, holds and none of it proves.

    What the parts of a role say that they covered must come to at least `LEAST_COVERED`, together, for a family that is told in several parts is
    one; or a part covered all that the statement speaks of; or carries a proof of narrower scope, which is printed. A part that says nothing adds
    nothing, and so does what is vouched for. Orderings have rules of their own. Of what is true of nothing that is said, and no more.
    """
    roles = ([p for p in parts if p.role == role] for role in ("printed", "repaired"))
    told = [of_role for of_role in roles if all(p.supports and not p.empty for p in of_role)]
    return [reason for of_role in told for reason in _list_uncovered(of_role)]


def _list_uncovered(parts: list[Part]) -> list[str]:
    said = [p.covered for p in parts if p.covered is not None and not p.vouched]
    enough = sum(covered.count for covered in said) >= LEAST_COVERED or any(c.whole and c.count for c in said)
    if not parts or enough or any(p.proof is not None for p in parts):
        return []
    if all(p.vouched for p in parts):
        return ["there is nothing but its author's word"]
    silent = ", ".join(repr(p.name) for p in parts if p.covered is None and not p.vouched)
    asked = f"; say what {silent} covered, such as 'covered=Covered(200, \"instances\")'" if silent else ""
    told = " and ".join(map(str, said)) or "nothing"
    return [f"the evidence says that it covers {told}, and at least {LEAST_COVERED} are asked for{asked}"]


def list_undecided_clauses(clauses: Sequence[Clause], parts: Sequence[Part]) -> list[str]:
    """Return the names, or beginnings of names, by which clauses say that they are decided, and of which the check yields no printed part."""
    printed = [part.name for part in parts if part.role == "printed"]
    return [
        f"{name!r} of the clause {clause.text!r}"
        for clause in clauses
        for name in clause.decided_by
        if not any(found.startswith(name) for found in printed)
    ]


def judge_repair(parts: list[Part]) -> Repair:
    """How the corrected statement of a repaired claim stands: its parts are judged as printed ones are."""
    return _how_well([p for p in parts if p.role == "repaired"], ())


def list_given(parts: Sequence[Part]) -> list[str]:
    """Theorems of the literature that the proofs of decisive parts cite."""
    return list(
        dict.fromkeys(name for p in parts if p.role != "reading" and p.proof is not None for name in p.proof.given)
    )


def list_vouched(parts: list[Part]) -> list[str]:
    """What of the evidence is somebody's word: arguments without facts, and assumptions that no checker confirmed."""
    words = [p.text for p in parts if p.vouched]
    shown = [p.counterexample.replay for p in parts if p.counterexample is not None]
    return words + [a.text for replay in shown for a in replay.assumptions if a.by == "vouched for"]


def margin_of(status: Status, parts: list[Part]) -> float | None:
    """Return the smallest signed margin among the parts that decided."""
    decisive = [p for p in parts if p.role == "printed" and p.margin is not None]
    if status in ("refuted", "repaired", *DISAGREE):
        decisive = [p for p in decisive if p.holds is False]
    return min((p.margin for p in decisive if p.margin is not None), default=None)
