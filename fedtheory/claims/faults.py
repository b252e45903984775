"""Planted faults: each has to take its word from the part that it names."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedtheory.claims.checking import make_journal
from fedtheory.claims.claim import Claim, Fault, Finding, NothingToPlant, Part, Status
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.verdict import AGREE, Verdict, decide, judge_repair
from fedtheory.claims.weighing import conclude
from fedtheory.core.errors import MissingExtra, describe
from fedtheory.tools.jobs import run_jobs
from fedtheory.tools.journal import JOURNALS, Journal
from fedtheory.tools.limits import limit_time


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
    status = conclude(claim, context, after)
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


def make_fault_journal(references: Sequence[Reference], context: Context, folder: Path = JOURNALS) -> Journal:
    """Return the journal of these claims' planted faults, of which those with one that was missed are run again."""
    return make_journal("selftest", references, context, folder, lambda faults: all(f["caught"] for f in faults))
