"""What Rocq says of a verdict's proof objects: theorems are written of them, its compiler is run, and the verdict carries the answers.

A theorem is *whole* where it says what a claim states itself in one of its parts: a theorem for every round, a lemma. All else is a *piece*: a line
of such a proof, or a derivation or certificate that a claim rests on. A piece that is a line of a whole theorem is not compiled once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fedtheory.claims.claim import Claim, Role
from fedtheory.claims.statements.lemma import Lemma
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.verdict import Verdict
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs.checked_before import recheck_term
from fedtheory.proofs.rocq.compiling import RocqAnswer, check_together, compile_core
from fedtheory.proofs.rocq.folders import RocqTheorem
from fedtheory.proofs.rocq.objects import find_objects, make_theorem, name_folder, name_theorems
from fedtheory.tools.jobs import run_jobs
from fedtheory.tools.untrusted import read_json_file

Evidence = Mapping[str, Any]
#: characters of the proof objects that one run of the compiler is given, where it is given several
LONGEST_BATCH = 120_000


@dataclass(frozen=True)
class WrittenTheorems:
    """Theorems of a claim or a file, and why others could not be written."""

    id: str
    theorems: Sequence[RocqTheorem]
    left: Sequence[str]


@dataclass(frozen=True)
class OwnStatement:
    """What a claim states in one of its parts, and a proof object proves; ``name`` and ``title``: those of its theorem."""

    part: Evidence
    statement: Theorem | Lemma
    name: str
    title: str

    def write(self) -> list[RocqTheorem]:
        """Its theorems: one, or of a lemma one for each case.

        Raises
        ------
        NotAvailable
            It has what is not written for Rocq.
        """
        from fedtheory.claims.statements.theorems.proving import ProvedTheorem
        from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq
        from fedtheory.claims.statements.theorems.rocq.lemmas import write_lemma_for_rocq

        if isinstance(self.statement, Lemma):
            return write_lemma_for_rocq(self.statement, self.part["data"]["derivations"], self.name, self.title)
        term = self.part["proof"]["term"]
        return [write_theorem_for_rocq(ProvedTheorem(self.statement, term, recheck_term(term)), self.name, self.title)]

    @cached_property
    def pieces(self) -> frozenset[str]:
        """The derivations inside of its proof."""
        return frozenset(map(_key, find_objects(self._proof)))

    @property
    def _proof(self) -> Any:
        return self.part["data"]["derivations"] if isinstance(self.statement, Lemma) else self.part["proof"]["term"]


@dataclass(frozen=True)
class ProofPiece:
    """A derivation or certificate of a claim's part."""

    part: Evidence
    data: Mapping[str, Any]
    name: str
    title: str

    def write(self) -> list[RocqTheorem]:
        """Its theorem.

        Raises
        ------
        NotAvailable
            It has what is not written for Rocq.
        """
        return [make_theorem(self.data, self.name, self.title)]


def list_statements(verdict: Verdict, claim: Claim) -> list[OwnStatement]:
    """What a claim states, part by part, where it was proved."""
    return [
        OwnStatement(part, statement, name, title)
        for part, statement, name, title in _statements_of(verdict, claim)
        if ("term" in part["proof"] if isinstance(statement, Theorem) else part.get("data", {}).get("derivations"))
    ]


def _statements_of(verdict: Verdict, claim: Claim) -> Iterator[tuple[Evidence, Theorem | Lemma, str, str]]:
    """Of every theorem or lemma that a claim states and that is proved: the part, the statement, its name for Rocq, and its title."""
    stated = getattr(claim.check, "keywords", {})
    proved = {part["name"]: part for part in verdict.evidence if part.get("proves") and part.get("proof")}
    word = name_folder(verdict.id)
    for key, role in (("statement", "printed"), ("repaired", "repaired")):
        own = next((part for part in proved.values() if part["role"] == role), None)
        if isinstance(stated.get(key), Theorem | Lemma) and own is not None:
            said, kind = verdict.statement if role == "printed" else verdict.repaired, _kind(stated[key])
            yield (
                own,
                stated[key],
                f"{word}_{kind if role == 'printed' else f'repaired_{kind}'}",
                f"{verdict.id}: {said}",
            )
    for of_kind in (Theorem, Lemma):
        steps = [step for step in stated.get("steps", ()) if isinstance(getattr(step, "statement", None), of_kind)]
        for k, step in enumerate(steps, 1):
            if step.name in proved:
                name = f"{word}_{_kind(step.statement)}{f'_{k}' if len(steps) > 1 else ''}"
                yield proved[step.name], step.statement, name, f"{verdict.id}, {step.name}: {verdict.statement}"


def _kind(statement: Theorem | Lemma) -> str:
    return "theorem" if isinstance(statement, Theorem) else "lemma"


def list_pieces(verdict: Verdict, written: Sequence[OwnStatement] = ()) -> list[ProofPiece]:
    """Derivations and certificates of a verdict, each once, but those inside of statements that are written whole."""
    whole = frozenset[str]().union(*(own.pieces for own in written))
    parts = sorted(verdict.evidence, key=lambda part: part["role"] == "reading")
    known = {_key(data): (part, data) for part in reversed(parts) for data in reversed(find_objects(part))}
    left = [found for key, found in reversed(known.items()) if key not in whole]
    word = name_folder(verdict.id)
    return [
        ProofPiece(part, data, word if len(left) == 1 else f"{word}_{k}", f"{verdict.id}: {verdict.statement}")
        for k, (part, data) in enumerate(left, 1)
    ]


def _key(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True)


def write_theorems(verdict: Verdict, claim: Claim | None = None) -> WrittenTheorems:
    """Theorems of a verdict: whole those that its claim states, and the derivations and certificates of all else."""
    whole, written, left = list[RocqTheorem](), list[OwnStatement](), list[str]()
    for own in [] if claim is None else list_statements(verdict, claim):
        found, why = _try_to_write(own.write)
        whole += found
        written += [own] if not why else []
        left += [f"{own.name}: {why}"] if why else []
    theorems = list[RocqTheorem]()
    for piece in list_pieces(verdict, written):
        found, why = _try_to_write(piece.write)
        theorems += found
        left += [f"{piece.name}: {why}"] if why else []
    return WrittenTheorems(verdict.id, [*whole, *theorems], left)


def _try_to_write(write: Callable[[], list[RocqTheorem]]) -> tuple[list[RocqTheorem], str]:
    """Theorems, or none and why: a text that cannot be written takes nothing from those beside it."""
    try:
        return write(), ""
    except (NotAvailable, InvalidInput) as reason:
        return [], str(reason)
    except Exception as error:
        return [], f"an error: {type(error).__name__}: {error}"


def read_theorems(path: Path) -> list[WrittenTheorems]:
    """Theorems of a file: a derivation, a certificate, or verdicts as JSON.

    Raises
    ------
    InvalidInput
        The file is missing, or holds no proof object.
    """
    data = read_json_file(path, "a derivation, a certificate, or verdicts")
    verdicts = data.get("verdicts") if isinstance(data, dict) else None
    if isinstance(verdicts, list) and all(isinstance(v, dict) and "id" in v for v in verdicts):
        found = [(str(v["id"]), find_objects(v.get("evidence", [])), str(v.get("statement", ""))) for v in verdicts]
    else:
        found = [(path.stem, find_objects(data), "")]
    written = [WrittenTheorems(id, *name_theorems(id, proofs, title)) for id, proofs, title in found if proofs]
    if not written:
        raise InvalidInput(f"{path} holds no derivation and no certificate; what can be written for Rocq are these")
    return written


# ---- asking Rocq ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """What was asked of one statement or piece: Rocq's answers, or why nothing was written."""

    answers: tuple[RocqAnswer, ...] = ()
    left: str = ""

    @property
    def accepted(self) -> bool:
        """Whether there are answers, and all accept."""
        return bool(self.answers) and all(answer.accepted for answer in self.answers)


def ask_kernel(
    verdicts: Sequence[Verdict],
    workers: int = 1,
    told: Callable[[RocqAnswer, str], None] = lambda answer, how_far: None,
    claims: Mapping[str, Claim] | None = None,
) -> list[Verdict]:
    """The verdicts with what Rocq says of their proof objects; what several have is written, and checked, once, by one of so many workers.

    Each answer is ``told`` as it comes, with how far this is: "statement 3 of 26", then "piece 2 of 17" for what is no whole statement.

    Raises
    ------
    NotAvailable
        There is no Rocq.
    """
    compile_core()
    own = {v.id: list_statements(v, claims[v.id]) if claims and v.id in claims else [] for v in verdicts}
    stated = {_proves(s): s for found in reversed(list(own.values())) for s in reversed(found)}
    asked = _ask(_ask_statements, _batches(stated), workers, told, "statement")
    sound = [s for key, s in stated.items() if asked[key].accepted]
    inside = {key: s.name for s in reversed(sound) for key in s.pieces}
    written = {id: [s for s in found if asked[_proves(s)].accepted] for id, found in own.items()}
    pieces = {v.id: list_pieces(v, written[v.id]) for v in verdicts}
    alone = {_key(p.data): p for found in reversed(list(pieces.values())) for p in reversed(found)}
    others = {key: p for key, p in alone.items() if key not in inside}
    asked |= _ask(_ask_pieces, _batches(others), workers, told, "piece")
    of_lines = {s.name: asked[key].answers[0] for key, s in stated.items() if asked[key].accepted}

    def answers_of(id: str) -> tuple[list[dict[str, Any]], list[str]]:
        told_of, left = list[dict[str, Any]](), list[str]()
        for s in own[id]:
            found = asked[_proves(s)]
            told_of += [_tell(answer, s.part, _rename(answer.name, s.name), whole=True) for answer in found.answers]
            left += [f"{s.name}: {found.left}"] * bool(found.left)
        for p in pieces[id]:
            if (line_of := inside.get(_key(p.data))) is not None:
                told_of.append(_tell(of_lines[line_of], p.part, p.name, whole=False) | {"line of": line_of})
                continue
            found = asked[_key(p.data)]
            told_of += [_tell(answer, p.part, p.name, whole=False) for answer in found.answers]
            left += [f"{p.name}: {found.left}"] * bool(found.left)
        return told_of, left

    both = {v.id: answers_of(v.id) for v in verdicts}
    return [replace(v, kernel=both[v.id][0], unwritten=both[v.id][1]) for v in verdicts]


def _proves(own: OwnStatement) -> str:
    """What a statement's theorem depends on: what it states, and its proof."""
    return f"{own.statement!r}\n{json.dumps(own._proof, sort_keys=True)}"


def _rename(answered: str, own: str) -> str:
    """The name of a theorem that another claim was asked for; the number of a case is kept."""
    number = answered.rpartition("_")[2]
    return f"{own}_{number}" if number.isdigit() and not own.endswith(f"_{number}") else own


def _ask(
    task: Callable[[Any], list[_Asked]],
    batches: Sequence[Mapping[str, Any]],
    workers: int,
    told: Callable[[RocqAnswer, str], None],
    what: str,
) -> dict[str, _Asked]:
    """Answers by the keys of what was asked, batch by batch."""
    found, total = dict[str, _Asked](), sum(map(len, batches))
    jobs = {str(k): ([*batch.values()],) for k, batch in enumerate(batches)}
    for outcome in run_jobs(task, jobs, workers=workers):
        batch = batches[int(outcome.key)]
        failed = [_Asked(left=f"an error: {outcome.error}")] * len(batch)
        for key, answered in zip(batch, failed if outcome.error is not None else outcome.value, strict=True):
            found[key] = answered
            for answer in answered.answers:
                told(answer, f"{what} {len(found)} of {total}")
    return found


def _batches(things: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those whose key, their data, is long by themselves and first; the others several at a time."""
    order = sorted(things, key=len, reverse=True)
    found, room = list[dict[str, Any]](), 0
    for key in order:
        if len(key) > room:
            found.append({})
            room = LONGEST_BATCH
        found[-1][key] = things[key]
        room -= len(key)
    return found


def _ask_statements(owns: Sequence[OwnStatement]) -> list[_Asked]:
    """Write statements whole, and let Rocq check them."""
    return _check_all([own.write for own in owns])


def _ask_pieces(pieces: Sequence[ProofPiece]) -> list[_Asked]:
    """Write derivations or certificates, and let Rocq check them."""
    return _check_all([piece.write for piece in pieces])


def _check_all(writers: Sequence[Callable[[], list[RocqTheorem]]]) -> list[_Asked]:
    written, left = list[list[RocqTheorem]](), list[str]()
    for write in writers:
        theorems, why = _try_to_write(write)
        written.append(theorems)
        left.append(why)
    every = [t for theorems in written for t in theorems]
    apart = len({t.name for t in every}) < len(every)
    groups = written if apart else [every]
    answers = iter([answer for group in groups for answer in check_together(group)])
    return [_Asked(tuple(next(answers) for _ in theorems), why) for theorems, why in zip(written, left, strict=True)]


def _tell(answer: RocqAnswer, part: Evidence, name: str, *, whole: bool) -> dict[str, Any]:
    own = {"name": name, "axioms": list(answer.axioms), "whole": whole, "part": part["name"], "role": part["role"]}
    return {**asdict(answer), **own}


# ---- in words -------------------------------------------------------------------------------------------------------------


def describe_kernel(verdict: Verdict) -> str:
    """One line on what Rocq said of a verdict's proof objects; "" where it has none."""
    left = [f"not written: {line}" for line in verdict.unwritten]
    if not verdict.kernel:
        return "; ".join(filter(None, [_describe_unasked(verdict), *left]))
    accepted = [found for found in verdict.kernel if found["accepted"]]
    axioms = sorted({name.rpartition(".")[2] for found in accepted for name in found["axioms"]})
    pieces = [found for found in verdict.kernel if not found["whole"]]
    said = []
    if len(pieces) < len(verdict.kernel):
        how = "" if is_whole(verdict) else ", which are not all of it" if accepted else ""
        said.append(f"{_count(accepted, whole=True)} of the statement, whole{how}")
    if pieces:
        said.append(
            f"{_count(accepted, whole=False)} of {len(pieces)} derivations and certificates, "
            "as theorems about any vectors and functions of their classes"
        )
    last = verdict.kernel[-1]
    head = f"checked by Rocq {last['version']} on {last['date']}: {' and '.join(said)}; axioms: {', '.join(axioms) or 'none'}"
    refused = [f"{found['name']} refused: {found['said']}" for found in verdict.kernel if not found["accepted"]]
    return "; ".join([head, *refused, *left])


def _describe_unasked(verdict: Verdict) -> str:
    """What there is for Rocq in a verdict: theorems that its proofs are terms of, derivations and certificates."""
    if verdict.unwritten:
        return ""
    terms = sum("term" in (part.get("proof") or {}) for part in verdict.evidence)
    count = len(find_objects([part for part in verdict.evidence if "term" not in (part.get("proof") or {})]))
    things = [f"{terms} theorem{'s' * (terms > 1)}"] if terms else []
    if count:
        things.append(f"{count} derivations or certificates" if count > 1 else "a derivation or certificate")
    if not things:
        return ""
    return (
        f"Rocq: {' and '.join(things)}, which it did not check here; 'fedtheory check --kernel {verdict.id}' lets it "
        "(Debian: 'apt install coq')"
    )


def _count(accepted: Sequence[Mapping[str, Any]], *, whole: bool) -> str:
    number = sum(found["whole"] is whole for found in accepted)
    return f"{number} theorem{'s' * (number != 1)}" if whole else str(number)


def is_whole(verdict: Verdict) -> bool:
    """Whether Rocq accepts what a claim states itself, all of it: each part that proves it, or its corrected statement, is a whole theorem."""
    role: Role = "repaired" if verdict.status == "repaired" else "printed"
    if "proved" not in (verdict.status, verdict.repair):
        return False
    deciding = [part["name"] for part in verdict.evidence if part.get("proves") and part["role"] == role]
    own = {name: [k for k in verdict.kernel if k["part"] == name and k["whole"]] for name in deciding}
    return bool(own) and all(found and all(k["accepted"] for k in found) for found in own.values())


@dataclass(frozen=True)
class KernelCount:
    """Claims by what Rocq accepts of them, each in one list; names of theorems that it refuses; and what was not written.

    ``whole``: all that the claim states. ``pieces``: a part of it, or lines and derivations that it rests on. ``readings``: such of other readings
    of it, alone.
    """

    claims: int
    version: str
    whole: tuple[str, ...]
    pieces: tuple[str, ...]
    readings: tuple[str, ...]
    refused: tuple[str, ...]
    unwritten: tuple[str, ...]

    @property
    def accepted(self) -> int:
        """How many claims have a theorem that Rocq accepts, of themselves or of what they rest on."""
        return len(self.whole) + len(self.pieces)

    def __str__(self) -> str:
        beside = f"; {len(self.readings)} more have one of another reading alone" if self.readings else ""
        left = f"; {len(self.unwritten)} were not written" if self.unwritten else ""
        return (
            f"{self.accepted} of {self.claims} claims have a theorem that Rocq {self.version} accepts: {len(self.whole)} their own statement, whole, "
            f"and {len(self.pieces)} a part of it, or lines and derivations that it rests on{beside}; it refuses {len(self.refused)}{left}"
        )


def count_kernel(verdicts: Sequence[Verdict]) -> KernelCount | None:
    """How many verdicts have a theorem that Rocq accepts; None where it was not asked."""
    answers = [found for v in verdicts for found in v.kernel]
    if not answers:
        return None
    whole = [v.id for v in verdicts if is_whole(v)]
    of_role = {v.id: {found["role"] for found in v.kernel if found["accepted"]} for v in verdicts}
    pieces = [id for id, roles in of_role.items() if id not in whole and roles - {"reading"}]
    readings = [id for id, roles in of_role.items() if roles == {"reading"}]
    return KernelCount(
        *(len(verdicts), answers[0]["version"], tuple(whole), tuple(pieces), tuple(readings)),
        tuple(found["name"] for found in answers if not found["accepted"]),
        tuple(line for v in verdicts for line in v.unwritten),
    )


def summarise_kernel(verdicts: Sequence[Verdict]) -> str:
    """How many verdicts have a theorem that Rocq accepts, in one line; "" where it was not asked."""
    found = count_kernel(verdicts)
    return "" if found is None else str(found)
