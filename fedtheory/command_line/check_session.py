"""Checks and planted faults of many claims, run with progress, kept between an interruption and the next start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fedtheory.command_line.experiments import (
    ProgressLines,
    count_run_workers,
    count_workers,
    find_needs,
    follow_progress,
)
from fedtheory.command_line.options import open_journal

if TYPE_CHECKING:
    from fedtheory.claims.context import Context
    from fedtheory.claims.faults import FaultReport
    from fedtheory.claims.references import Reference
    from fedtheory.claims.sharpness import ChangedClaim
    from fedtheory.claims.verdict import Verdict
    from fedtheory.proofs.rocq.compiling import RocqAnswer
    from fedtheory.tools.journal import Journal


@dataclass
class VerdictsSoFar:
    """Verdicts by id, their journal, how far they came, and whether they were interrupted."""

    done: dict[str, Verdict]
    journal: Journal
    progress: ProgressLines
    interrupted: bool = False


@dataclass
class FaultsSoFar:
    """Reports of planted faults, their journal, how far they came, and whether they were interrupted."""

    reports: list[FaultReport]
    journal: Journal
    how_far: str
    interrupted: bool

    def add_to(self, verdicts: dict[str, Verdict]) -> None:
        """Put what became of its faults into each verdict; of an interrupted run only where there are reports."""
        from fedtheory.claims.faults import add_faults

        for id, verdict in verdicts.items():
            own = [found for found in self.reports if found.id == id]
            if own or not self.interrupted:
                verdicts[id] = add_faults(verdict, own)


@dataclass
class ChangesSoFar:
    """What came of changing the statements of claims, its journal, how far it came, and whether it was interrupted."""

    claims: list[ChangedClaim]
    journal: Journal
    progress: ProgressLines
    interrupted: bool = False


@dataclass(frozen=True)
class SessionFindings:
    """Verdicts in their order, what planted faults showed where they were asked for, how far both came, and whether they were interrupted."""

    verdicts: list[Verdict]
    judged: VerdictsSoFar
    planted: FaultsSoFar | None
    how_far: str
    interrupted: bool

    @property
    def done(self) -> dict[str, Verdict]:
        """Verdicts by id."""
        return self.judged.done

    @property
    def failed(self) -> bool:
        """Whether a check could not be run, a planted fault was missed, or Rocq refused a theorem."""
        missed = self.planted is not None and not all(report.caught for report in self.planted.reports)
        return missed or any(not v.ran or not all(told["accepted"] for told in v.kernel) for v in self.verdicts)

    def close(self) -> None:
        """Forget what was kept for the next start."""
        self.judged.journal.close()
        if self.planted is not None:
            self.planted.journal.close()


@dataclass(frozen=True)
class CheckSession:
    """How claims are run: on so many workers, or a scheduler, afresh or from where they were, each within a time limit."""

    fresh: bool
    workers: int | None
    scheduler: str | None
    log_file: Path | None
    time_limit: float | None

    def find(
        self, references: Sequence[Reference], context: Context, *, selftest: bool, kernel: bool
    ) -> SessionFindings:
        """Judge claims, and where it is asked for run their planted faults and ask Rocq."""
        judged, planted = self.judge(references, context), None
        how_far, interrupted = judged.progress.how_far, judged.interrupted
        if selftest and not interrupted:
            planted = self.plant(references, context)
            how_far, interrupted = f"{how_far}, and planted faults of {planted.how_far}", planted.interrupted
            planted.add_to(judged.done)
        verdicts = [judged.done[r.id] for r in references if r.id in judged.done]
        if kernel and not interrupted:
            verdicts = self.ask_rocq(verdicts, references)
        return SessionFindings(verdicts, judged, planted, how_far, interrupted)

    def judge(self, references: Sequence[Reference], context: Context) -> VerdictsSoFar:
        """Judge claims."""
        from fedtheory.claims.checking import make_check_journal, run_checks

        journal = make_check_journal(references, context)
        open_journal(journal, self.fresh, len(references), "claims")
        kept = journal.read()
        needs = find_needs([r for r in references if r.id not in kept], context)
        with follow_progress("claims", len(references), len(needs), self.log_file) as progress:
            found = VerdictsSoFar({}, journal, progress)
            try:
                for verdict in run_checks(
                    *(references, context, count_workers(self.workers)),
                    scheduler=self.scheduler,
                    journal=journal,
                    apart=True,
                    time_limit=self.time_limit,
                    needs=needs,
                    need_workers=count_run_workers(self.workers, context, needs.values()),
                    told=progress.ran,
                    refused=progress.say,
                ):
                    found.done[verdict.id] = verdict
                    progress.judged(verdict)
            except KeyboardInterrupt:
                found.interrupted = True
        return found

    def change(self, references: Sequence[Reference], context: Context) -> ChangesSoFar:
        """Change the statements of claims, one place at a time."""
        from fedtheory.claims.sharpness import change_claims, make_change_journal

        journal = make_change_journal(references, context)
        open_journal(journal, self.fresh, len(references), "claims")
        with follow_progress("claims", len(references), 0, self.log_file) as progress:
            found = ChangesSoFar([], journal, progress)
            try:
                for claim in change_claims(
                    *(references, context, count_workers(self.workers)),
                    scheduler=self.scheduler,
                    journal=journal,
                    time_limit=self.time_limit,
                ):
                    found.claims.append(claim)
                    progress.count(claim.id, f"{claim.id}: {claim.error}" if claim.error else "")
            except KeyboardInterrupt:
                found.interrupted = True
        return found

    def plant(self, references: Sequence[Reference], context: Context) -> FaultsSoFar:
        """Run the planted faults of claims; what they share is done already."""
        from fedtheory.claims.faults import make_fault_journal, run_all_faults

        journal = make_fault_journal(references, context)
        open_journal(journal, self.fresh, len(references), "claims")
        reports: list[FaultReport] = []
        interrupted = False
        with follow_progress("claims", len(references), 0, self.log_file) as progress:
            try:
                for batch in run_all_faults(
                    *(references, context, count_workers(self.workers)),
                    scheduler=self.scheduler,
                    journal=journal,
                    apart=True,
                    time_limit=self.time_limit,
                ):
                    reports += batch
                    missed = [fault for fault in batch if not fault.caught]
                    progress.count(
                        batch[0].id if batch else "",
                        "; ".join(f"{m.id}: {m.outcome}: {m.fault}" for m in missed),
                    )
            except KeyboardInterrupt:
                interrupted = True
        return FaultsSoFar(reports, journal, progress.how_far, interrupted)

    def ask_rocq(self, verdicts: Sequence[Verdict], references: Sequence[Reference]) -> list[Verdict]:
        """The verdicts with what Rocq says of their proof objects, as it comes."""
        from fedtheory.claims.kernel import ask_kernel
        from fedtheory.claims.references import load_claims

        with follow_progress("theorems", 0, 0, self.log_file) as progress:

            def told(answer: RocqAnswer, how_far: str) -> None:
                word = "accepted" if answer.accepted else f"REFUSED: {answer.said}"
                progress.say(f"Rocq, {how_far}: {answer.name} {word} ({answer.seconds:.1f} s)")

            claims = {r.id: load_claims(r.source)[r.id] for r in references}
            asked = ask_kernel(list(verdicts), count_workers(self.workers), told, claims)
            for line in (line for verdict in asked for line in verdict.unwritten):
                progress.say(f"not written for Rocq: {line}")
            return asked
