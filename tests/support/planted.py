"""Planted faults of a claim, in a test that has judged it: what both share is done once in a process."""

from __future__ import annotations

from fedtheory.claims.checking import Reference, run_faults
from fedtheory.claims.claim import Context


def list_missed(source: str, id: str) -> list[str]:
    """What the check made of each fault that it did not catch; a claim has at least one fault."""
    reports = run_faults(Reference(source, id), Context())
    assert reports, f"{id} has no planted fault that applies"
    return [f"{report.fault}: {report.detail}" for report in reports if not report.caught]
