"""Verdicts and planted faults of claims: the check is run without a fault once, for the faults and for all tests that ask for its verdict.

The seed is one that nobody else judges with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from fedtheory.claims.checking import judge_claim
from fedtheory.claims.claim import Finding, Part
from fedtheory.claims.context import Context
from fedtheory.claims.faults import FaultReport, run_faults
from fedtheory.claims.references import Reference, find_papers, load_claims
from fedtheory.claims.verdict import Verdict
from fedtheory.tools.charts import draw_chart

#: what reads the seed must have one word with both: the project's check judges with 0, whose words are stored
ANOTHER_SEED = Context(seed=2)
#: the stored verdicts, by id: its word, and how a corrected statement stands
_STORED = Path(__file__).resolve().parents[2] / "paper_checks" / "expected.json"
EXPECTED = {v["id"]: (v["status"], v.get("repair")) for v in json.loads(_STORED.read_text())["verdicts"]}
#: theorems without experiments, whose pictures are drawn from their data on their pages
LITERATURE = "paper_checks.literature"
_SOUND: dict[tuple[str, str], list[Part]] = {}


@cache
def judge(source: str, id: str, context: Context = ANOTHER_SEED) -> Verdict:
    """Return a claim's verdict, which no test must change; of a catalogued bound or rate it must have a picture."""
    verdict = judge_anew(source, id, context)
    drawn = source in find_papers().values() and source != LITERATURE
    if verdict.error is None and verdict.kind in ("bound", "rate") and drawn:
        assert verdict.picture is not None, f"{id}: draw what is claimed beside what is exact or measured"
        assert verdict.picture["title"] and verdict.picture["xlabel"] and verdict.picture["ylabel"]
        labels = [series["label"] for series in verdict.picture["series"]]
        assert len(labels) > 1 and len(set(labels)) == len(labels), f"{id}: curves are compared by their labels"
        points = [np.isfinite(np.asarray(series["y"], dtype=float)).sum() for series in verdict.picture["series"]]
        assert sum(points) > 2 and draw_chart(verdict.picture).startswith("<svg")
    return verdict


def judge_anew(source: str, id: str, context: Context = ANOTHER_SEED) -> Verdict:
    """Return the verdict of a claim that may not be the one its name stood for before; its parts are kept for `plant`."""
    ledger = load_claims(source)
    parts: list[Part] = []

    def check(context: Context) -> Iterator[Finding]:
        for finding in ledger[id].check(context):
            if isinstance(finding, Part):
                parts.append(finding)
            yield finding

    verdict = judge_claim(replace(ledger[id], check=check), source, context, ledger.values())
    if verdict.error is None:
        _SOUND[source, id] = parts
    return verdict


def plant(source: str, id: str, context: Context = ANOTHER_SEED) -> list[FaultReport]:
    """Return what the check made of every fault; a claim has at least one."""
    reports = run_faults(Reference(source, id), context, _SOUND.pop((source, id), None))
    assert reports, f"{id} has no planted fault that applies"
    return reports


def list_missed(source: str, id: str) -> list[str]:
    """What the check made of each fault that it did not catch."""
    return [f"{report.fault}: {report.detail}" for report in plant(source, id) if not report.caught]
