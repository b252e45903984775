"""Verdicts and planted faults of claims: the check is run without a fault once, for the faults and for all tests that ask for its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from fedtheory.claims.checking import Reference, judge_claim, load_claims, run_faults
from fedtheory.claims.claim import Finding, Part
from fedtheory.claims.context import Context
from fedtheory.claims.verdict import Verdict

_SOUND: dict[tuple[str, str], list[Part]] = {}


@cache
def judge(source: str, id: str) -> Verdict:
    """Return a claim's verdict, which no test must change; its parts are kept for `list_missed`."""
    ledger = load_claims(source)
    parts: list[Part] = []

    def check(context: Context) -> Iterator[Finding]:
        for finding in ledger[id].check(context):
            if isinstance(finding, Part):
                parts.append(finding)
            yield finding

    verdict = judge_claim(replace(ledger[id], check=check), source, Context(), ledger.values())
    if verdict.error is None:
        _SOUND[source, id] = parts
    return verdict


def list_missed(source: str, id: str) -> list[str]:
    """What the check made of each fault that it did not catch; a claim has at least one fault."""
    reports = run_faults(Reference(source, id), Context(), _SOUND.pop((source, id), None))
    assert reports, f"{id} has no planted fault that applies"
    return [f"{report.fault}: {report.detail}" for report in reports if not report.caught]
