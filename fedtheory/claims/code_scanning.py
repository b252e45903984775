"""Verdicts as findings about the files that state the claims, in SARIF."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from fedtheory.claims.publication import Publication
from fedtheory.claims.report import describe_publication, write_headline
from fedtheory.claims.verdict import Verdict
from fedtheory.claims.words import VERDICT_WORDS, SaysOfPrinted
from fedtheory.tools.sarif import Result, Rule, write_sarif

_NOT_RUN = "not-run"
#: of a word that is no finding
_KINDS: dict[SaysOfPrinted, Literal["fail", "open", "pass"]] = {"false": "fail", "open": "open", "stands": "pass"}

#: one rule a word of a verdict
_RULES = tuple(
    Rule(word.replace(" ", "-"), f"{shown.meaning[0].upper()}{shown.meaning[1:]}.", level=shown.level)
    if shown.level != "none"
    else Rule(word.replace(" ", "-"), f"{shown.meaning[0].upper()}{shown.meaning[1:]}.", kind=_KINDS[shown.outcome])
    for word, shown in VERDICT_WORDS.items()
)


def write_verdicts(
    file: Path,
    verdicts: Sequence[Verdict],
    sources: Mapping[str, str],
    papers: Mapping[str, Publication] | None = None,
) -> None:
    """Write verdicts as SARIF.

    ``sources``: by id the module or file that has the claim, in which its line is looked up; ``papers``: the text that its claims are of.
    """
    results = []
    for verdict in verdicts:
        rule = _NOT_RUN if verdict.error else verdict.status.replace(" ", "-")
        where, line = find_line(sources[verdict.id], verdict.id)
        argued = [str(part["name"]) for part in verdict.evidence if part.get("argued")]
        words = f" -- argued in words: {', '.join(argued)}" if argued else ""
        said = f"{verdict.id} ({verdict.source}): {write_headline(verdict)}{words}"
        results.append(Result(rule, said, verdict.id, where, line))
    told = [describe_publication(source, paper) for source, paper in sorted((papers or {}).items())]
    write_sarif(file, _RULES, results, {"papers": told})


def find_line(source: str, id: str) -> tuple[Path, int]:
    """Return the file and the line, from 1, in which a claim's id first stands in quotes; of a package all files are searched."""
    if source.endswith(".py"):
        files = [Path(source)]
    else:
        spec = importlib.util.find_spec(source)
        home = Path(spec.origin) if spec is not None and spec.origin else Path(source)
        files = [home, *sorted(home.parent.rglob("*.py"))] if home.name == "__init__.py" else [home]
    for file in files:
        for number, text in enumerate(file.read_text().splitlines() if file.is_file() else (), start=1):
            if f'"{id}"' in text or f"'{id}'" in text:
                return file, number
    return files[0], 1
