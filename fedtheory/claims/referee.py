"""A page for a referee a paper, and one over all papers, from verdicts: what holds, what is false, what is repaired and how strongly."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from fedtheory.claims.claim import Kind
from fedtheory.claims.verdict import DISAGREE, Verdict
from fedtheory.tools.versions import find_versions

#: words of verdicts in the order in which a referee reads them, and what each section says of its statements
SECTIONS = {
    "refuted": "False as printed",
    "repaired": "False as printed; the corrected statement holds",
    "not reproduced": "Not reproduced by runs",
    "disagrees in an analogue": "Runs on other data, another model or a smaller size disagree",
    "inconclusive": "Undecided",
    "not run": "Not judged: the check could not be run",
    "proved": "Proved",
    "supported": "Supported, not proved",
    "reproduced": "Reproduced by runs",
    "agrees in an analogue": "Runs on other data, another model or a smaller size agree",
}


def name_word(verdict: Verdict) -> str:
    """Return the verdict's word, "not run" where the check did not end."""
    return verdict.status if verdict.ran else "not run"


def name_paper(verdict: Verdict) -> str:
    """Return the paper's name, in small letters since pages are files; what is derived from its statements ("dualfl, derived") stands on its page."""
    return verdict.paper.split(",")[0].lower()


def name_page(paper: str) -> str:
    """Return the file name of a paper's page; what cannot stand in one becomes a dash."""
    return re.sub(r"[^\w.-]+", "-", paper) + ".html"


def find_deciding(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the parts that a verdict rests on: those that refute, repair, prove or support, or that left it undecided."""
    printed = [part for part in verdict.evidence if part.get("role") == "printed"]
    if verdict.status in ("refuted", "repaired"):
        corrected = [part for part in verdict.evidence if part.get("role") == "repaired"]
        strongest = [part for part in corrected if part.get("proves")] or corrected
        return [part for part in printed if part.get("refutes")] + (strongest if verdict.status == "repaired" else [])
    if verdict.status == "proved":
        return [part for part in printed if part.get("proves")]
    if verdict.status in DISAGREE:
        return [part for part in printed if part["holds"] is False]
    if verdict.status == "inconclusive":
        return [part for part in printed if part["holds"] is not True] or printed
    return printed


def describe_instance(instance: Mapping[str, Any]) -> str:
    """Return a counterexample's numbers as "name = value, ..."; what is stored as JSON inside of it is opened."""
    opened: dict[str, Any] = {}
    for name, value in instance.items():
        inner = json.loads(value) if name in ("data", "point") and isinstance(value, str) else value
        opened |= inner if isinstance(inner, dict) else {name: inner}
    return ", ".join(f"{name} = {_plain(value)}" for name, value in opened.items())


def _plain(value: Any) -> str:
    """Lists and mappings of numbers without quotes."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_plain(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(map(_plain, value)) + ")"
    return str(value)


def write_commands(verdict: Verdict, source: str, counterexamples: Path) -> list[str]:
    """Return the commands that show a verdict again: the replay of its counterexample, kept in that folder, and its check.

    ``source``: the module or the Python file that the claim is in.
    """
    target = [shlex.quote(source)] if source.endswith(".py") else []
    settings = [f"--size {verdict.size}"] if verdict.size else []
    settings += [f"--seed {verdict.seed}"] if verdict.seed else []
    settings += [f"--budget {verdict.budget}"] if verdict.budget != "quick" else []
    again = " ".join(["fedtheory check", *(target or [shlex.quote(verdict.id)]), *settings])
    if verdict.counterexample is None:
        return [again]
    return [" ".join(["fedtheory replay", shlex.quote(str(counterexamples / f"{verdict.id}.json")), *target]), again]


def write_referee_pages(
    verdicts: Sequence[Verdict], folder: Path, counterexamples: Path, sources: Mapping[str, str]
) -> list[Path]:
    """Write ``PAPER.html`` for each paper and ``index.html`` over all of them; each page is self-contained.

    Parameters
    ----------
    verdicts : Verdict ...
        In any order; a page keeps the order within each of its sections.
    folder : Path
        Made where it is missing.
    counterexamples : Path
        Where the counterexample files are, as the commands on the pages name them.
    sources : by a claim's id, the module or the Python file that it is in
    """
    papers: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        papers.setdefault(name_paper(verdict), []).append(verdict)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for paper, own in papers.items():
        sections = [(word, title, [v for v in own if name_word(v) == word]) for word, title in SECTIONS.items()]
        entries = [
            (
                word,
                title,
                [
                    {
                        "verdict": v,
                        "deciding": find_deciding(v),
                        "commands": write_commands(v, sources[v.id], counterexamples),
                    }
                    for v in found
                ],
            )
            for word, title, found in sections
            if found
        ]
        written.append(_write(folder / name_page(paper), "referee.html", paper=paper, sections=entries, verdicts=own))
    rows = [(paper, name_page(paper), len(own), Counter(map(name_word, own))) for paper, own in sorted(papers.items())]
    totals = Counter(map(name_word, verdicts))
    used = [word for word in SECTIONS if totals[word]]
    kinds = [(kind, Counter(name_word(v) for v in verdicts if v.kind == kind)) for kind in get_args(Kind)]
    kinds = [(kind, found) for kind, found in kinds if found]
    written.append(_write(folder / "index.html", "papers.html", rows=rows, kinds=kinds, words=used, totals=totals))
    return written


def _write(path: Path, template: str, **values: Any) -> Path:
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("fedtheory.claims", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["numbers"] = describe_instance
    page = environment.get_template(template).render(versions=find_versions(), **values)
    path.write_text(page + "\n")
    return path
