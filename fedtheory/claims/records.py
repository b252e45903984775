"""A ledger as JSON Lines, a statement a line, with the field names that collections of errors in papers use.

``category``: what kind of statement it is; ``location``: where it stands; ``severity``: what the verdict says of the printed statement;
``annotation``: what was found, in words. Further fields say which text it is of, and how it is seen again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fedtheory.claims.publication import Publication
from fedtheory.claims.referee import explain_undecided, find_deciding, name_word, write_commands
from fedtheory.claims.refutation import explain_refutation
from fedtheory.claims.verdict import Verdict
from fedtheory.claims.words import VERDICT_WORDS

#: what is said of a printed statement that is false; of others that it stands, or is open
FALSE, CORRECTABLE = "false, no correction is given", "false, a corrected statement is given"


def write_records(
    verdicts: Sequence[Verdict],
    sources: Mapping[str, str],
    papers: Mapping[str, Publication],
    counterexamples: Path = Path("counterexamples"),
) -> str:
    """Return a line a verdict: ``sources`` by id, ``papers`` by source, ``counterexamples`` the folder of their files."""
    found = (describe_record(v, sources.get(v.id, ""), papers, counterexamples) for v in verdicts)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in found)


def describe_record(
    verdict: Verdict, source: str, papers: Mapping[str, Publication], counterexamples: Path
) -> dict[str, Any]:
    """Return a verdict as a record of a collection."""
    paper = papers.get(source)
    text = {
        "title": paper.title if paper else "",
        "authors": list(paper.authors) if paper else [],
        "year": paper.year if paper else None,
        "identifier": paper.identifier if paper else "",
    }
    shown = verdict.counterexample
    return {
        "id": verdict.id,
        "paper": verdict.paper,
        **text,
        "category": "experiment" if verdict.setting is not None else f"theory: {verdict.kind}",
        "location": verdict.source,
        "severity": grade_severity(verdict),
        "annotation": annotate(verdict),
        "statement": verdict.statement,
        "assumptions": verdict.assumptions,
        "verdict": name_word(verdict),
        "correction": verdict.repaired,
        "correction_stands": verdict.repair or "",
        "of_the_paper": not verdict.derived,
        "instance": None if shown is None else shown["instance"],
        "fields": verdict.fields,
        "replay": write_commands(verdict, source, counterexamples)[0],
        "engines": verdict.engines,
    }


def grade_severity(verdict: Verdict) -> str:
    """Return what a verdict says of the printed statement: that it stands, is open, or is false, with or without a correction."""
    outcome = VERDICT_WORDS[name_word(verdict)].outcome
    if outcome != "false":
        return outcome
    return CORRECTABLE if verdict.repaired else FALSE


def annotate(verdict: Verdict) -> str:
    """Return what was found, in words: the refutation in a sentence, why it is undecided, or what decided."""
    if verdict.error:
        return f"The check could not be run: {verdict.error}"
    refuted = VERDICT_WORDS[name_word(verdict)].outcome == "false"
    if refuted and verdict.counterexample is not None:
        return explain_refutation(verdict.counterexample)
    return explain_undecided(verdict) or "; ".join(f"{part['name']}: {part['text']}" for part in find_deciding(verdict))
