"""What Rocq says of a verdict's proof objects: theorems are written of them, its compiler is run, and the verdict carries the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fedtheory.claims.claim import Claim
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.verdict import Verdict
from fedtheory.core.errors import InvalidInput, NotAvailable
from fedtheory.proofs.rocq.compiling import RocqAnswer, check_theorems
from fedtheory.proofs.rocq.folders import RocqTheorem
from fedtheory.proofs.rocq.objects import find_objects, name_folder, name_theorems
from fedtheory.tools.untrusted import read_json_file


@dataclass(frozen=True)
class WrittenTheorems:
    """Theorems of a claim or a file, and why others could not be written."""

    id: str
    theorems: Sequence[RocqTheorem]
    left: Sequence[str]


def write_theorems(verdict: Verdict, claim: Claim | None = None) -> WrittenTheorems:
    """Theorems of a verdict: whole those that its claim states with proof terms, and the derivations and certificates of all else."""
    whole, left = _write_whole(verdict, claim) if claim is not None else ({}, [])
    alone = [part for part in verdict.evidence if part["name"] not in whole]
    beside = [part for part in verdict.evidence if part["name"] in whole]
    pieces = [*find_objects(alone), *find_objects(beside, in_terms=False)]
    theorems, other = name_theorems(verdict.id, pieces, verdict.statement)
    return WrittenTheorems(verdict.id, [*whole.values(), *theorems], [*left, *other])


def _theorems_of(verdict: Verdict, claim: Claim) -> Iterator[tuple[str, Theorem, str, str]]:
    """Of every theorem that a claim states and a term proves: the part's name, the theorem, its name for Rocq, and its title."""
    stated = getattr(claim.check, "keywords", {})
    proved = {part["name"]: part["role"] for part in verdict.evidence if part.get("proves")}
    word = name_folder(verdict.id)
    for key, role in (("statement", "printed"), ("repaired", "repaired")):
        part = next((name for name, own in proved.items() if own == role), None)
        if isinstance(stated.get(key), Theorem) and part is not None:
            said = verdict.statement if role == "printed" else verdict.repaired
            yield (
                part,
                stated[key],
                f"{word}_{'theorem' if role == 'printed' else 'repaired_theorem'}",
                f"{verdict.id}: {said}",
            )
    steps = [step for step in stated.get("steps", ()) if isinstance(getattr(step, "statement", None), Theorem)]
    for k, step in enumerate(steps, 1):
        if step.name in proved:
            number = f"_{k}" if len(steps) > 1 else ""
            yield (
                step.name,
                step.statement,
                f"{word}_theorem{number}",
                f"{verdict.id}, {step.name}: {verdict.statement}",
            )


def _write_whole(verdict: Verdict, claim: Claim) -> tuple[dict[str, RocqTheorem], list[str]]:
    """Theorems that a claim states, by the parts that are about them, and why one could not be written."""
    written, left = dict[str, RocqTheorem](), list[str]()
    for part, theorem, name, title in _theorems_of(verdict, claim):
        from fedtheory.claims.statements.theorems.as_parts import find_proof
        from fedtheory.claims.statements.theorems.rocq.exporting import write_theorem_for_rocq

        proof = find_proof(theorem)
        try:
            if not isinstance(proof, str):
                written[part] = write_theorem_for_rocq(proof, name, title)
        except NotAvailable as reason:
            left.append(f"{name}: {reason}")
    return written, left


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


def ask_kernel(
    verdicts: Sequence[Verdict],
    workers: int = 1,
    told: Callable[[RocqAnswer, int], None] = lambda answer, total: None,
    claims: Mapping[str, Claim] | None = None,
) -> list[Verdict]:
    """The verdicts with what Rocq says of their proof objects; a theorem that several have is checked once.

    Raises
    ------
    NotAvailable
        There is no Rocq.
    """
    written = {v.id: write_theorems(v, (claims or {}).get(v.id)) for v in verdicts}
    first = {body_of(t): t for w in reversed(list(written.values())) for t in reversed(w.theorems)}
    answers = dict[str, RocqAnswer]()
    for theorem, answer in check_theorems(list(first.values()), workers):
        answers[body_of(theorem)] = answer
        told(answer, len(first))
    return [replace(v, kernel=_told(written[v.id], answers)) for v in verdicts]


def body_of(theorem: RocqTheorem) -> str:
    """What of a theorem does not depend on its name and title."""
    return "\0".join([theorem.says, theorem.proves, theorem.definitions, theorem.statement, theorem.proof])


def _told(written: WrittenTheorems, answers: Mapping[str, RocqAnswer]) -> list[dict[str, Any]]:
    found = []
    for t in written.theorems:
        answer = answers[body_of(t)]
        found.append({**asdict(answer), "name": t.name, "axioms": list(answer.axioms), "whole": t.proves == "Rounds"})
    return found


def describe_kernel(verdict: Verdict) -> str:
    """One line on what Rocq said of a verdict's proof objects; "" where it has none."""
    if not verdict.kernel:
        count = len(find_objects(verdict.evidence))
        if not count:
            return ""
        things = f"{count} derivations or certificates" if count > 1 else "a derivation or certificate"
        return f"Rocq: {things}, which it did not check here; 'fedtheory check --kernel {verdict.id}' lets it (Debian: 'apt install coq')"
    accepted = [found for found in verdict.kernel if found["accepted"]]
    axioms = sorted({name.rpartition(".")[2] for found in accepted for name in found["axioms"]})
    pieces = [found for found in verdict.kernel if not found["whole"]]
    said = (
        [_count(accepted, whole=True) + " of the statement for every round"]
        if len(pieces) < len(verdict.kernel)
        else []
    )
    if pieces:
        said.append(
            f"{_count(accepted, whole=False)} of {len(pieces)} derivations and certificates, "
            "as theorems about any vectors and functions of their classes"
        )
    last = verdict.kernel[-1]
    head = f"checked by Rocq {last['version']} on {last['date']}: {' and '.join(said)}; axioms: {', '.join(axioms) or 'none'}"
    return "; ".join(
        [head, *(f"{found['name']} refused: {found['said']}" for found in verdict.kernel if not found["accepted"])]
    )


def _count(accepted: Sequence[Mapping[str, Any]], *, whole: bool) -> str:
    number = sum(found["whole"] is whole for found in accepted)
    return f"{number} theorem{'s' * (number != 1)}" if whole else str(number)


def summarise_kernel(verdicts: Sequence[Verdict]) -> str:
    """How many verdicts have a theorem that Rocq accepts; "" where it was not asked."""
    answers = [found for v in verdicts for found in v.kernel]
    if not answers:
        return ""
    own = sum(any(found["accepted"] for found in v.kernel) for v in verdicts)
    whole = sum(found["accepted"] and found["whole"] for found in answers)
    pieces = sum(found["accepted"] and not found["whole"] for found in answers)
    refused = sum(not found["accepted"] for found in answers)
    return (
        f"{own} of {len(verdicts)} claims have a theorem that Rocq {answers[0]['version']} accepts: "
        f"{whole} statements for every round, whole, and {pieces} derivations and certificates; it refuses {refused}"
    )
