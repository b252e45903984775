"""Finding claims, and running their checks and planted faults as jobs.

Claims are addressed by (source, id): the source is a module name or a file with a list ``CLAIMS``. Papers register their
module in the entry-point group ``fedtheory.papers``, so this package imports none of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import importlib
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from fedtheory.claims.claim import (
    Claim,
    Fault,
    Finding,
    Need,
    NothingToPlant,
    Part,
    Status,
)
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import list_trainings
from fedtheory.claims.findings import Findings, gather_findings, is_mistaken, restore_findings
from fedtheory.claims.identity import RefusedRun
from fedtheory.claims.ledger import WITH_FEW_SEEDS, hold_parts, level_of, list_contrary, list_weak
from fedtheory.claims.report import as_json_value
from fedtheory.claims.verdict import (
    AGREE,
    Verdict,
    decide,
    judge_repair,
    list_given,
    list_uncovered,
    list_undecided_clauses,
    list_vouched,
    margin_of,
)
from fedtheory.core.errors import FedtheoryError, InvalidInput, MissingExtra, describe
from fedtheory.running.families import find_problem_modules
from fedtheory.tools.jobs import Outcome, run_jobs
from fedtheory.tools.journal import JOURNALS, Journal, hash_dependencies
from fedtheory.tools.limits import limit_time
from fedtheory.tools.loading import load_file
from fedtheory.tools.versions import find_versions

PAPERS_GROUP = "fedtheory.papers"


@dataclass(frozen=True)
class Reference:
    """Where a claim is: a module name or a path to a file, and the claim's id."""

    source: str
    id: str


@cache
def find_papers() -> dict[str, str]:
    """Known papers: name to module."""
    return {entry.name: entry.value for entry in sorted(metadata.entry_points(group=PAPERS_GROUP))}


@cache
def load_claims(source: str) -> dict[str, Claim]:
    """Return the claims of a module or file, by id.

    Raises
    ------
    InvalidInput
        The module or file is missing, raises while it is read, or has no list ``CLAIMS`` of claims with distinct ids.
    """
    module = load_file(Path(source)) if source.endswith(".py") else _load_module(source)
    found = getattr(module, "CLAIMS", None)
    if not isinstance(found, list | tuple) or not all(isinstance(c, Claim) for c in found) or not found:
        raise InvalidInput(
            f"{source} must define CLAIMS, a list of at least one fedtheory.claims.Claim; {_what_is_there(found)}. "
            "'fedtheory new FILE.py' writes an example"
        )
    by_id = {claim.id: claim for claim in found}
    if len(by_id) != len(found):
        twice = sorted({c.id for c in found if sum(d.id == c.id for d in found) > 1})
        raise InvalidInput(f"{source} uses the ids {', '.join(twice)} more than once")
    return by_id


def _what_is_there(found: Any) -> str:
    """Say what a file has in the place of claims."""
    if found is None:
        return "it defines none"
    if not isinstance(found, list | tuple):
        return f"its CLAIMS is of type {type(found).__name__}"
    others = [type(entry).__name__ for entry in found if not isinstance(entry, Claim)]
    return f"in its CLAIMS is a value of type {others[0]}" if others else "its CLAIMS is empty"


def _load_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except FedtheoryError:
        raise
    except Exception as error:
        raise InvalidInput(f"the module {name} cannot be imported: {describe(error)}") from error


def select(targets: Sequence[str]) -> list[Reference]:
    """Claims for targets that are papers, claim ids or files; all papers for none.

    Raises
    ------
    InvalidInput
        A target is unknown; the message names the nearest known ones.
    """
    known = find_papers()
    chosen: dict[Reference, None] = {}
    for target in targets or known:
        if target.endswith(".py"):
            references = [Reference(str(Path(target).resolve()), id) for id in load_claims(str(Path(target).resolve()))]
        elif target.lower() in known:
            source = known[target.lower()]
            references = [Reference(source, id) for id in load_claims(source)]
        else:
            references = [
                Reference(source, id)
                for source in known.values()
                for id in load_claims(source)
                if id.upper() == target.upper()
            ]
            if not references:
                raise InvalidInput(_unknown(target, known))
        chosen.update(dict.fromkeys(references))
    sources: dict[str, str] = {}
    for reference in chosen:
        if sources.setdefault(reference.id, reference.source) != reference.source:
            raise InvalidInput(
                f"the id {reference.id} is used by {sources[reference.id]} and by {reference.source}; check them one at a time"
            )
    return list(chosen)


def _unknown(target: str, known: dict[str, str]) -> str:
    if Path(target).exists():
        kind = "a folder" if Path(target).is_dir() else "a file"
        return f"{target} is {kind}; expected a claim, a paper, or a Python file of claims, FILE.py ('fedtheory new FILE.py' writes one)"
    ids = [id for source in known.values() for id in load_claims(source)]
    upper = {id.upper(): id for id in ids}
    near = [upper[found] for found in difflib.get_close_matches(target.upper(), upper, n=3, cutoff=0.5)]
    near += difflib.get_close_matches(target.lower(), known, n=2, cutoff=0.5)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"unknown claim, paper or file {target!r}{hint} ('fedtheory list' shows all)"


def check_one(reference: Reference, context: Context) -> Verdict:
    """Run one check to its verdict; an error inside it becomes an inconclusive verdict that says so, what is told of kept runs a reading."""
    ledger = load_claims(reference.source)
    return judge_claim(ledger[reference.id], reference.source, context, ledger.values())


def judge_claim(claim: Claim, source: str, context: Context, ledger: Collection[Claim] = ()) -> Verdict:
    """Run a claim's check to its verdict; ``source`` is where the claim comes from, ``ledger`` the claims among which it stands there."""
    return judge_findings(claim, source, context, gather_findings(claim, context), ledger)


def judge_findings(
    claim: Claim, source: str, context: Context, found: Findings, ledger: Collection[Claim] = ()
) -> Verdict:
    """Make the verdict that the findings of a check add up to, those of a journal as those of a check that has just run."""
    level = level_of(ledger or [claim])
    parts, error, mistaken, judged = list(found.parts), found.error, found.mistaken, None
    if error is None:
        try:
            parts = _hold_parts(claim, parts, level)
            judged = _weigh(claim, source, context, found, parts, level)
        except (Exception, SystemExit) as failure:  # one failing check never takes the others down
            error, mistaken = describe(failure), is_mistaken(failure)
    if judged is None:
        without_data = _write_evidence([dataclasses.replace(part, data={}) for part in parts])
        judged = {"status": "inconclusive", "evidence": without_data, "readings": list(found.readings)}
    status = judged["status"]
    return _verdict(
        claim,
        context,
        repaired=claim.repaired if status == "repaired" else "",
        repair=judge_repair(parts) if status == "repaired" else None,
        given=list_given(parts),
        vouched=list_vouched(parts),
        engines=sorted({part.engine for part in parts}),
        seconds=found.seconds,
        error=error,
        mistaken=mistaken,
        seeded=found.seeded,
        level=level if any(part.chance is not None for part in parts) else None,
        data=dict(found.data),
        **judged | {"readings": [*judged["readings"], *found.told]},
    )


def _hold_parts(claim: Claim, parts: list[Part], level: float) -> list[Part]:
    """Return the parts as the ledger holds them; refuse those that a claim may not have, and a clause that none of them decides."""
    if any(part.chance is not None for part in parts) and not claim.rests_on_draws:
        raise InvalidInput(
            f"{claim.id} has parts that random draws decide; expected 'draws=True', so that its ledger counts it"
        )
    if missing := list_undecided_clauses(claim.clauses, parts):
        raise InvalidInput(f"no printed part of the check decides {'; '.join(missing)}")
    return hold_parts(parts, level, None if claim.needs is None else WITH_FEW_SEEDS)


def _weigh(
    claim: Claim, source: str, context: Context, found: Findings, parts: list[Part], level: float
) -> dict[str, Any]:
    """Return what the parts decide of a verdict: word, margin, evidence, readings, and what is shown."""
    status = _conclude(claim, context, parts)
    readings = [*found.readings, *(claim.protocol.describe(context) if claim.protocol is not None else [])]
    if status == "inconclusive" and decide(claim.kind, parts, clauses=claim.clauses) != status:
        readings.append("The claim gives a corrected statement, yet nothing refuted the printed one.")
    if status in AGREE and (weak := list_weak(parts, level)):
        readings.append(
            f"So at the {WITH_FEW_SEEDS:.0%} a part that this number of seeds allows, and not at the {level:.2g} that the ledger keeps "
            f"for words against a paper: {'; '.join(weak)}."
        )
    if status == "inconclusive" and (against := list_contrary(found.parts, parts)):
        readings.append(
            f"Against the statement at {WITH_FEW_SEEDS:.0%}, though not at the level that the ledger keeps for words against a paper: "
            f"{'; '.join(against)}."
        )
    if claim.kind != "ordering":
        readings += (f"Not supported: {reason}." for reason in list_uncovered(parts))
    shown_by = [part for part in parts if part.counterexample is not None]
    shows = next((part for part in shown_by if part.role == "printed"), shown_by[0] if shown_by else None)
    plain: dict[str, Any] = as_json_value(
        {
            "evidence": _write_evidence(parts),
            "counterexample": None if shows is None else _counterexample(claim, source, shows, status),
            "picture": None if found.picture is None else dataclasses.asdict(found.picture),
            "tables": [dataclasses.asdict(table) for table in found.tables],
        }
    )
    return plain | {"status": status, "margin": margin_of(status, parts), "readings": readings}


def _counterexample(claim: Claim, source: str, part: Part, status: Status) -> dict[str, Any] | None:
    """Return a part's counterexample with what a file says of it."""
    if part.counterexample is None:
        return None
    about = {"claim": claim.id, "source": source, "statement": claim.statement, "part": part.name, "role": part.role}
    return part.counterexample.as_dict() | about | {"status": status}


def _conclude(claim: Claim, context: Context, parts: list[Part]) -> Status:
    """Return what the parts add up to; a claim that corrects a statement which stands contradicts itself and is inconclusive."""
    analogue = claim.setting is not None and not claim.setting(context).own
    status = decide(claim.kind, parts, clauses=claim.clauses, analogue=analogue)
    return "inconclusive" if claim.repaired and status in ("proved", "argued", "supported") else status


def _verdict(claim: Claim, context: Context, **found: Any) -> Verdict:
    """Return a verdict on a claim: what it says, and what was found."""
    nothing: dict[str, Any] = {
        "engines": [],
        "margin": None,
        "evidence": [],
        "seconds": 0.0,
        "readings": [],
        "repaired": "",
    }
    roles = ("printed", "repaired") if found.get("status") == "repaired" else ("printed",)
    told = [one for one in (claim.told or tuple)() if one.role in roles]
    replaced = {line for one in told for line in one.instead_of}
    return Verdict(
        id=claim.id,
        paper=claim.paper,
        kind=claim.kind,
        seed=context.seed,
        versions=find_versions(),
        source=claim.source,
        statement=claim.statement,
        told=[one.as_dict() for one in told],
        assumptions=[
            *(line for line in claim.assumptions if line not in replaced),
            *(line for one in told for line in one.assumed),
        ],
        faults=[fault.name for fault in claim.faults],
        budget=context.budget,
        size=None if claim.needs is None else context.size,
        setting=None if claim.setting is None else str(claim.setting(context)),
        **(nothing | found),
    )


def _write_evidence(parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Parts as plain data; a proof object that stands in the data of one, or in an earlier proof, is not written again."""
    evidence, written = [_evidence(part) for part in parts], list[Any]()
    for part in parts:
        written += [entry for value in part.data.values() for entry in (value if isinstance(value, list) else [value])]
        written += [proof.term for proof in (part.proof, part.disproof) if proof is not None and proof.term is not None]
    for found in evidence:
        for proof in (found.get("proof"), found.get("disproof")):
            if proof is not None and "objects" in proof:
                proof["objects"] = [data for data in proof["objects"] if data not in written]
                written += proof["objects"]
    return evidence


def _evidence(part: Part) -> dict[str, Any]:
    """A part as plain data, without what says nothing."""
    plain = {
        "name": part.name,
        "holds": part.holds,
        "engine": part.engine,
        "text": part.text,
        "role": part.role,
        "margin": part.margin,
        "proves": part.proves,
        "refutes": part.refutes,
        "argued": part.in_words,
        "covered": None if part.covered is None else str(part.covered),
        "proof": None if part.proof is None else part.proof.as_dict(),
        "disproof": None if part.disproof is None else part.disproof.as_dict(),
        "chance": None if part.chance is None else dataclasses.asdict(part.chance),
        "data": part.data,
    }
    return {
        key: value
        for key, value in plain.items()
        if not (value is None or value is False or value == {}) or key == "holds"
    }


def find_store(folder: Path = JOURNALS) -> Path:
    """Return where runs of experiments are kept when no folder is named: it changes with all code and versions they depend on."""
    return folder / f"runs-{hash_dependencies([*find_papers().values(), *find_problem_modules()])}"


def forget_older_runs(store: Path) -> None:
    """Remove the runs of older code."""
    for other in store.parent.glob("runs-*"):
        if other.name != store.name:
            shutil.rmtree(other, ignore_errors=True)


def forget_runs(references: Sequence[Reference], context: Context) -> None:
    """Remove the kept runs that these claims ask for, and no others."""
    if context.results is None:
        return
    for reference in references:
        for training in list_trainings(load_claims(reference.source)[reference.id], context):
            shutil.rmtree(Path(context.results) / training.key, ignore_errors=True)


def list_needs(references: Sequence[Reference], context: Context) -> dict[str, Need]:
    """Work that these claims share and that is not done, by key; nor kept but refused, which the checks tell that read it."""
    found = {need.key: need for reference in references for need in list_needs_of(reference, context)}
    return {key: need for key, need in found.items() if is_to_be_done(need, context)}


def list_needs_of(reference: Reference, context: Context) -> Sequence[Need]:
    """Return the work that a claim's check reads."""
    needs = load_claims(reference.source)[reference.id].needs
    return () if needs is None else needs(context)


def is_to_be_done(need: Need, context: Context) -> bool:
    """Whether work is not kept; what is kept but refused is left as it is."""
    with contextlib.suppress(RefusedRun):
        return not need.is_done(context)
    return False


def make_needs(
    needs: dict[str, Need], context: Context, workers: int = 1, *, scheduler: str | None = None
) -> Iterator[Outcome]:
    """Do the work that checks share, as `fedtheory.tools.jobs.run_jobs` does; what fails is tried again, and reported, by the checks that need it."""
    yield from run_jobs(
        _make, {key: (need, context) for key, need in needs.items()}, workers=workers, scheduler=scheduler
    )


def _make(need: Need, context: Context) -> None:
    need.make(context)


def run_checks(
    references: Sequence[Reference],
    context: Context,
    workers: int = 1,
    *,
    scheduler: str | None = None,
    journal: Journal | None = None,
    apart: bool = False,
    time_limit: float | None = None,
    needs: Mapping[str, Need] | None = None,
    need_workers: int | None = None,
    told: Callable[[Outcome], None] = lambda outcome: None,
    refused: Callable[[str], None] = lambda line: None,
) -> Iterator[Verdict]:
    """Run checks as `fedtheory.tools.jobs.run_jobs` does, each within a number of seconds, and yield verdicts as they come.

    Claims without work to be done come first, those without any before them. Then the work that they share is done, and a claim is judged as
    soon as all is that it reads; what fails is told, and reported by the checks that read it.

    Parameters
    ----------
    needs : mapping
        That work by key, none by default (`list_needs`).
    need_workers : int
        How many processes do it, as many as check by default.
    told : function of an outcome
        Called when a piece of that work is done, or has failed.
    refused : function of a line
        Called where what the journal keeps of a claim is not believed; the claim is checked anew.
    journal : Journal, optional
        Findings of an interrupted run, which are judged again (`fedtheory.claims.findings`); what is found here is added to it.
    """
    kept = {} if journal is None else journal.read()
    work, by_id = dict(needs or {}), {r.id: r for r in references}
    waits = {
        r.id: {need.key for need in list_needs_of(r, context)} & {*work} if work and r.id not in kept else set()
        for r in references
    }
    theory = [r for r in references if load_claims(r.source)[r.id].needs is None]
    order = dict.fromkeys([*theory, *references])
    ready: dict[str, tuple[Any, ...]] = {
        r.id: ("check", r, context, time_limit, kept.get(r.id)) for r in order if not waits[r.id]
    }
    jobs: dict[str, tuple[Any, ...]] = {
        key: ("make", work[key], context)
        for id in sorted(waits, key=lambda id: len(waits[id]))
        for key in sorted(waits[id])
    }

    def then(outcome: Outcome) -> dict[str, tuple[Any, ...]]:
        found = [id for id, keys in waits.items() if outcome.key in keys]
        for id in found:
            waits[id].discard(outcome.key)
        return {id: ("check", by_id[id], context, time_limit) for id in found if not waits[id]}

    several = need_workers or workers
    stages = [(ready | jobs, workers)] if several == workers else [(ready, workers), (jobs, several)]
    for stage, count in stages:
        for outcome in run_jobs(_work, stage, workers=count, scheduler=scheduler, apart=apart, then=then):
            if outcome.key not in by_id:
                told(outcome)
            elif outcome.error is None:
                if outcome.value["refused"]:
                    refused(outcome.value["refused"])
                if journal is not None and outcome.value["kept"] is not None:
                    journal.add(outcome.key, outcome.value["kept"])
                yield Verdict(**outcome.value["verdict"])
            else:
                claim = load_claims(by_id[outcome.key].source)[outcome.key]
                yield _verdict(claim, context, status="inconclusive", error=outcome.error)


def _work(what: Literal["check", "make"], *arguments: Any) -> dict[str, Any] | None:
    if what == "check":
        return check_as_data(*arguments)
    _make(*arguments)
    return None


def check_as_data(
    reference: Reference, context: Context, time_limit: float | None = None, kept: Any = None
) -> dict[str, Any]:
    """Check one claim, or judge again what a journal keeps of it; return plain data, as a worker sends it.

    ``verdict``: what `Verdict` is made of. ``kept``: what a journal is to keep, None where it has it or must not. ``refused``: why what it has was
    not believed, "" where it was.
    """
    ledger = load_claims(reference.source)
    claim = ledger[reference.id]
    with limit_time(time_limit):
        refused = ""
        if kept is not None:
            try:
                again = _judge_kept(claim, reference.source, context, kept, ledger.values())
                return {"verdict": dataclasses.asdict(again), "kept": None, "refused": ""}
            except InvalidInput as error:
                refused = f"{claim.id}: what the journal keeps of it is refused ({error}); it is checked anew"
        found = gather_findings(claim, context)
        verdict = judge_findings(claim, reference.source, context, found, ledger.values())
        keep = {"word": verdict.status, "findings": found.as_data()} if verdict.ran and found.can_be_kept else None
        return {"verdict": dataclasses.asdict(verdict), "kept": keep, "refused": refused}


def _judge_kept(claim: Claim, source: str, context: Context, kept: Any, ledger: Collection[Claim]) -> Verdict:
    """Make the verdict again from kept findings.

    Raises
    ------
    InvalidInput
        They cannot be read, or add up to another word than the one that was kept beside them.
    """
    if not isinstance(kept, dict) or set(kept) != {"word", "findings"}:
        raise InvalidInput("it is no word with findings")
    found = restore_findings(kept["findings"], claim)
    verdict = judge_findings(claim, source, context, found, ledger)
    if not verdict.ran or verdict.status != kept["word"]:
        raise InvalidInput(
            f"its word is {ascii(kept['word'])[:40]}, its evidence says {verdict.error or verdict.status}"
        )
    return verdict


def make_check_journal(references: Sequence[Reference], context: Context, folder: Path = JOURNALS) -> Journal:
    """Return the journal of these checks: findings, from which verdicts are made again; proofs and what could not be run are not kept."""
    return make_journal("check", references, context, folder)


def make_fault_journal(references: Sequence[Reference], context: Context, folder: Path = JOURNALS) -> Journal:
    """Return the journal of these claims' planted faults, of which those with one that was missed are run again."""
    return make_journal("selftest", references, context, folder, lambda faults: all(f["caught"] for f in faults))


def make_journal(
    kind: str,
    references: Sequence[Reference],
    context: Context,
    folder: Path = JOURNALS,
    accept: Callable[[Any], bool] = lambda value: True,
) -> Journal:
    """Return the journal of one kind of work on these claims, in this context."""
    identity = [[dataclasses.astuple(r) for r in references], dataclasses.asdict(context)]
    return Journal(kind, identity, [*(r.source for r in references), *find_problem_modules()], folder, accept)


@dataclass(frozen=True)
class FaultReport:
    """Whether a check rejected a planted fault; ``detail`` says what it saw. Where an extra is missing it could not be ``run``."""

    id: str
    fault: str
    caught: bool
    detail: str
    seconds: float
    ran: bool = True

    @property
    def outcome(self) -> str:
        """In a word."""
        return "caught" if self.caught else "missed" if self.ran else "not run"


def add_faults(verdict: Verdict, reports: Sequence[FaultReport]) -> Verdict:
    """Return the verdict with what its planted faults came to; one without a report asks how sharp a part is that fails anyway."""
    found = {report.fault: (report.outcome, report.detail) for report in reports}
    beside = (
        "not run",
        "it asks how sharp the statement is, and the part that it changes fails without it, or no mistake near it says more",
    )
    outcomes = [(name, *found.get(name, beside)) for name in verdict.faults]
    planted = [{"fault": name, "outcome": outcome, "detail": detail} for name, outcome, detail in outcomes]
    return dataclasses.replace(verdict, planted=planted)


def run_faults(reference: Reference, context: Context, sound: Sequence[Part] | None = None) -> list[FaultReport]:
    """Run every planted fault of a claim: the part it names must come out as the fault says, which it does not without the fault.

    The check is run once without any fault first, unless the parts of such a run are given as ``sound``. The parts that a fault gave up to
    the one it names, and that run's others, then add up to a verdict, which must not keep the word that rested on the part.
    """
    claim = load_claims(reference.source)[reference.id]
    begun = time.perf_counter()
    try:
        sound = [f for f in claim.run(context) if isinstance(f, Part)] if sound is None else list(sound)
        decide(claim.kind, sound)
    except (Exception, SystemExit) as failure:
        said, ran = f"the check fails without a fault: {describe(failure)}", not isinstance(failure, MissingExtra)
        seconds = round(time.perf_counter() - begun, 3)
        return [FaultReport(claim.id, f.name, False, f"{f.part}: {said}", seconds, ran) for f in claim.faults]
    reports = []
    failing = {part.name for part in sound if part.holds is False}
    for fault in claim.faults:
        if fault.sharpness and fault.part in failing:
            continue
        begun, ran = time.perf_counter(), True
        try:
            caught, detail = _judge(
                claim, context, fault, sound, _find_parts(claim.run(context, fault.subject), fault.part)
            )
        except NothingToPlant:
            continue
        except (Exception, SystemExit) as failure:
            caught, detail, ran = False, describe(failure), not isinstance(failure, MissingExtra)
        seconds = round(time.perf_counter() - begun, 3)
        reports.append(FaultReport(claim.id, fault.name, caught, f"{fault.part}: {detail}", seconds, ran))
    return reports


def _judge(claim: Claim, context: Context, fault: Fault, sound: list[Part], found: list[Part]) -> tuple[bool, str]:
    """Return whether a fault was caught, and what was seen. ``sound``: the parts without it; ``found``: those up to the one it names."""
    part = next((p for p in found if p.name == fault.part), None)
    if part is None:
        return False, "the check yields no such part"
    unproved = fault.or_unproved and not part.proves
    if part.holds is not fault.holds and not (fault.or_undecided and part.holds is None) and not unproved:
        return False, part.text
    alike = [p for p in sound if p.name == fault.part and p.holds is part.holds]
    if any(not (unproved and p.proves) for p in alike):
        return False, "this part comes out so without the fault, too"
    names = {p.name for p in found}
    after = found + [p for p in sound if p.name not in names]
    status = _conclude(claim, context, after)
    if _keeps_its_word(part, status) or (unproved and _is_proved(status, after)):
        return False, f"the verdict is {status} all the same"
    return True, part.text


def _is_proved(status: Status, parts: list[Part]) -> bool:
    """Whether a statement, or the corrected one in its place, is proved."""
    return status == "proved" or (status == "repaired" and judge_repair(parts) == "proved")


def _keeps_its_word(part: Part, status: Status) -> bool:
    """Whether a verdict says of a statement what a part of this role, which is no evidence for it, cannot support."""
    if part.supports or part.role == "reading":
        return False
    return status in ("proved", "argued", "supported", *AGREE) if part.role == "printed" else status == "repaired"


def run_all_faults(
    references: Sequence[Reference],
    context: Context,
    workers: int = 1,
    *,
    scheduler: str | None = None,
    journal: Journal | None = None,
    apart: bool = False,
    time_limit: float | None = None,
) -> Iterator[list[FaultReport]]:
    """Run the planted faults of many claims as `fedtheory.tools.jobs.run_jobs` does, yielding reports as they come."""
    jobs = {r.id: (r, context, time_limit) for r in references}
    for outcome in run_jobs(faults_as_data, jobs, workers=workers, scheduler=scheduler, journal=journal, apart=apart):
        if outcome.error is None:
            yield [FaultReport(**report) for report in outcome.value]
        else:
            claim = load_claims(jobs[outcome.key][0].source)[outcome.key]
            yield [FaultReport(claim.id, fault.name, False, outcome.error, outcome.seconds) for fault in claim.faults]


def faults_as_data(reference: Reference, context: Context, time_limit: float | None = None) -> list[dict[str, Any]]:
    """Plant the faults of one claim; return the reports as plain data, as a worker sends them."""
    with limit_time(time_limit):
        return [dataclasses.asdict(report) for report in run_faults(reference, context)]


def _find_parts(findings: Iterator[Finding], name: str) -> list[Part]:
    """Return the parts up to the one of that name, without running what comes after it."""
    found: list[Part] = []
    for finding in findings:
        if isinstance(finding, Part):
            found.append(finding)
            if finding.name == name:
                break
    return found
