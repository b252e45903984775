"""How sharp the statements of claims are: their near misses, judged as jobs, and the score of a paper and of all."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fedtheory.claims.checking import make_journal
from fedtheory.claims.claim import JudgedChange
from fedtheory.claims.context import Context
from fedtheory.claims.references import Reference, load_claims
from fedtheory.core.errors import describe
from fedtheory.tools.jobs import run_jobs
from fedtheory.tools.journal import Journal
from fedtheory.tools.limits import limit_time


@dataclass(frozen=True)
class ChangedClaim:
    """What came of every change of a claim's statements; ``error``: why they could not be tried."""

    id: str
    paper: str
    changes: tuple[JudgedChange, ...] = ()
    is_data: bool = True
    error: str = ""


@dataclass(frozen=True)
class Score:
    """Changes of different statements: how many fall, are not reached by a proof, are slack, survive, or are weaker (and asked of nobody).

    Beside them claims without data, and those that were not run.

    Examples
    --------
    >>> outcomes = ("falls", "slack", "not reached")
    >>> found = [ChangedClaim("A", "a page", tuple(JudgedChange(word, word, "") for word in outcomes))]
    >>> print(Score.of([*found, ChangedClaim("B", "a page", is_data=False)]))
    1 of 3 changes of 1 statement fall (33.3 %), 1 is not reached by the proof (33.3 %), 1 is slack; left out: 0 weaker ones. Not data: 1 of 2 claims
    """

    outcomes: Counter[str]
    statements: int
    claims: int
    not_data: tuple[str, ...]
    not_run: tuple[str, ...]

    @classmethod
    def of(cls, found: Sequence[ChangedClaim]) -> Score:
        """The score of some claims; a statement that several of them share counts once."""
        changes = {(claim.paper, c.about, c.what): c.outcome for claim in found for c in claim.changes}
        statements = {(paper, about) for paper, about, _ in changes}
        not_data = tuple(claim.id for claim in found if not claim.is_data)
        not_run = tuple(claim.id for claim in found if claim.error)
        return cls(Counter(changes.values()), len(statements), len(found), not_data, not_run)

    @property
    def asked(self) -> int:
        """How many changes say more than their statement."""
        return sum(count for outcome, count in self.outcomes.items() if outcome != "weaker")

    def __str__(self) -> str:
        falls, open_, slack, survives = (self.outcomes[w] for w in ("falls", "not reached", "slack", "survives"))

        def share(count: int) -> str:
            return f" ({100 * count / self.asked:.1f} %)" if self.asked else ""

        said = f"{falls} of {self.asked} changes of {self.statements} statement{'s' * (self.statements != 1)} fall{share(falls)}"
        said += f", {open_} {'is' if open_ == 1 else 'are'} not reached by the proof{share(open_)}" if open_ else ""
        said += f", {slack} {'is' if slack == 1 else 'are'} slack"
        said += f", {survives} SURVIVE" if survives else ""
        said += (
            f"; left out: {self.outcomes['weaker']} weaker ones. Not data: {len(self.not_data)} of {self.claims} claims"
        )
        return said + (f". Not run: {', '.join(self.not_run)}" if self.not_run else "")


def make_change_journal(references: Sequence[Reference], context: Context) -> Journal:
    """Return the journal of these claims' changes; claims that could not be run are run again."""
    return make_journal("near-misses", references, context, accept=lambda value: not value["error"])


def change_claim(reference: Reference, context: Context) -> ChangedClaim:
    """Change each of a claim's statements towards stronger ones, one place at a time."""
    claim = load_claims(reference.source)[reference.id]
    if claim.near_misses is None:
        return ChangedClaim(claim.id, claim.paper, is_data=False)
    try:
        return ChangedClaim(claim.id, claim.paper, tuple(claim.near_misses(context)))
    except (Exception, SystemExit) as failure:
        return ChangedClaim(claim.id, claim.paper, error=describe(failure))


def change_claims(
    references: Sequence[Reference],
    context: Context,
    workers: int = 1,
    *,
    scheduler: str | None = None,
    journal: Journal | None = None,
    time_limit: float | None = None,
) -> Iterator[ChangedClaim]:
    """Change the statements of many claims as `fedtheory.tools.jobs.run_jobs` does, yielding what came of it as it comes."""
    jobs = {r.id: (r, context, time_limit) for r in references}
    for outcome in run_jobs(change_as_data, jobs, workers=workers, scheduler=scheduler, journal=journal, apart=True):
        if outcome.error is None:
            changes = tuple(JudgedChange(**change) for change in outcome.value["changes"])
            yield ChangedClaim(**{**outcome.value, "changes": changes})
        else:
            claim = load_claims(jobs[outcome.key][0].source)[outcome.key]
            yield ChangedClaim(claim.id, claim.paper, error=outcome.error)


def change_as_data(reference: Reference, context: Context, time_limit: float | None = None) -> dict[str, Any]:
    """Change the statements of one claim; return what came of it as plain data, as a worker sends it."""
    with limit_time(time_limit):
        return dataclasses.asdict(change_claim(reference, context))


def list_scores(found: Iterable[ChangedClaim]) -> Iterator[tuple[str, Score]]:
    """The score of each paper, then of all where there are several."""
    by_paper: dict[str, list[ChangedClaim]] = {}
    for claim in found:
        by_paper.setdefault(claim.paper, []).append(claim)
    yield from ((paper, Score.of(claims)) for paper, claims in sorted(by_paper.items()))
    if len(by_paper) > 1:
        yield "all", Score.of([claim for claims in by_paper.values() for claim in claims])
