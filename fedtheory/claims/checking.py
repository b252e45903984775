"""Running the checks of claims, one or many as jobs; findings of an interrupted run are kept, and judged again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from fedtheory.claims.claim import Claim, Need
from fedtheory.claims.context import Context
from fedtheory.claims.findings import gather_findings, restore_findings
from fedtheory.claims.needs import group_needs, list_needs_of, make_group, split_outcome
from fedtheory.claims.references import Reference, load_claims
from fedtheory.claims.verdict import Verdict
from fedtheory.claims.weighing import judge_findings, write_verdict
from fedtheory.core.errors import InvalidInput
from fedtheory.running.families import find_problem_modules
from fedtheory.tools.jobs import Outcome, run_jobs
from fedtheory.tools.journal import JOURNALS, Journal
from fedtheory.tools.limits import limit_time


def check_one(reference: Reference, context: Context) -> Verdict:
    """Run one check to its verdict; an error inside it becomes an inconclusive verdict that says so, what is told of kept runs a reading."""
    ledger = load_claims(reference.source)
    return judge_claim(ledger[reference.id], reference.source, context, ledger.values())


def judge_claim(claim: Claim, source: str, context: Context, ledger: Collection[Claim] = ()) -> Verdict:
    """Run a claim's check to its verdict; ``source`` is where the claim comes from, ``ledger`` the claims among which it stands there."""
    return judge_findings(claim, source, context, gather_findings(claim, context), ledger)


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
    asked = [key for id in sorted(waits, key=lambda id: len(waits[id])) for key in sorted(waits[id])]
    groups = group_needs({key: work[key] for key in asked}, context)
    jobs: dict[str, tuple[Any, ...]] = {
        key: ("make", [work[member] for member in group], context) for key, group in groups.items()
    }

    def then(outcome: Outcome) -> dict[str, tuple[Any, ...]]:
        done = groups.get(outcome.key, ())
        found = [id for id, keys in waits.items() if not keys.isdisjoint(done)]
        for id in found:
            waits[id].difference_update(done)
        return {id: ("check", by_id[id], context, time_limit) for id in found if not waits[id]}

    several = need_workers or workers
    stages = [(ready | jobs, workers)] if several == workers else [(ready, workers), (jobs, several)]
    for stage, count in stages:
        for outcome in run_jobs(_work, stage, workers=count, scheduler=scheduler, apart=apart, then=then):
            if outcome.key not in by_id:
                for each in split_outcome(outcome, groups[outcome.key]):
                    told(each)
            elif outcome.error is None:
                if outcome.value["refused"]:
                    refused(outcome.value["refused"])
                if journal is not None and outcome.value["kept"] is not None:
                    journal.add(outcome.key, outcome.value["kept"])
                yield Verdict(**outcome.value["verdict"])
            else:
                claim = load_claims(by_id[outcome.key].source)[outcome.key]
                yield write_verdict(claim, context, status="inconclusive", error=outcome.error)


def _work(what: Literal["check", "make"], *arguments: Any) -> dict[str, Any] | None:
    if what == "check":
        return check_as_data(*arguments)
    make_group(*arguments)
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
