"""Pages of verdicts, of one design: one that holds all claims, or one over all papers and one a paper. Each loads nothing and needs no JavaScript."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args

from fedtheory.claims.claim import Kind
from fedtheory.claims.kernel import describe_kernel, summarise_kernel
from fedtheory.claims.publication import Publication
from fedtheory.claims.referee import (
    SECTIONS,
    explain_undecided,
    find_deciding,
    group_readings,
    list_instance,
    name_page,
    name_paper,
    name_word,
    show_number,
    write_commands,
)
from fedtheory.claims.refutation import explain_refutation
from fedtheory.claims.report import (
    MOST_FACTS,
    name_outcome,
    summarise,
    summarise_chances,
    summarise_faults,
)
from fedtheory.claims.verdict import Verdict
from fedtheory.claims.words import VERDICT_WORDS, describe_told
from fedtheory.tools.charts import draw_chart, list_legend
from fedtheory.tools.typesetting import typeset, typeset_formula
from fedtheory.tools.versions import find_commit, find_versions

#: what a caption says of bands
BANDS = "bands go from the least to the largest over seeds"


@dataclass(frozen=True)
class _Setting:
    """Where claims come from, where their counterexamples are kept, and the folder that the pages will be in."""

    sources: Mapping[str, str]
    counterexamples: Path
    folder: Path
    publications: Mapping[str, Publication]
    proofs: Mapping[str, Path]


def as_html(
    verdicts: Sequence[Verdict],
    title: str,
    *,
    sources: Mapping[str, str] | None = None,
    counterexamples: Path = Path("counterexamples"),
    folder: Path = Path(),
    publications: Mapping[str, Publication] | None = None,
    proofs: Mapping[str, Path] | None = None,
) -> str:
    """Return one page with all claims: at a glance, then by paper and word, each with its evidence.

    Parameters
    ----------
    verdicts : Verdict ...
        In any order; the page keeps the order within each paper and word.
    title : str
    sources : by a claim's id, the module or the Python file that it is in
        Of claims that are not named nothing but the id stands in the commands.
    counterexamples : Path
        Where the counterexample files are, as the commands on the page name them.
    folder : Path
        The folder that the page will be in: links to counterexample files are relative to it.
    publications : by a source, the paper that its claims are of
        What the headings say.
    proofs : by a claim's id, the page that has its proof
        Linked to, relative to the folder.
    """
    setting = _Setting(sources or {}, counterexamples, folder, publications or {}, proofs or {})
    papers = [_paper(name, own, setting) for name, own in _by_paper(verdicts).items()]
    return _render(verdicts, title, papers, claims=True)


def write_referee_pages(
    verdicts: Sequence[Verdict],
    folder: Path,
    counterexamples: Path,
    sources: Mapping[str, str],
    publications: Mapping[str, Publication] | None = None,
    proofs: Mapping[str, Path] | None = None,
) -> list[Path]:
    """Write ``PAPER.html`` for each paper and ``index.html`` over all of them; parameters are those of `as_html`."""
    folder.mkdir(parents=True, exist_ok=True)
    setting = _Setting(sources, counterexamples, folder, publications or {}, proofs or {})
    written, over = [], []
    for name, own in _by_paper(verdicts).items():
        page = name_page(name)
        paper = _paper(name, own, setting)
        over.append(paper | {"page": page, "href": page})
        for entry in paper["claims"]:
            entry["page"] = page
        path = folder / page
        path.write_text(_render(own, f"{name}: its statements, judged", [paper], claims=True, up="index.html"))
        written.append(path)
        paper["claims"] = [entry | {"href": page + entry["href"]} for entry in paper["claims"]]
        over[-1]["claims"] = paper["claims"]
    index = folder / "index.html"
    index.write_text(_render(verdicts, "All papers: their statements, judged", over, claims=False))
    return [*written, index]


def _by_paper(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    papers: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        papers.setdefault(name_paper(verdict), []).append(verdict)
    return papers


def _paper(name: str, own: Sequence[Verdict], setting: _Setting) -> dict[str, Any]:
    """A paper's claims, also by word, as the templates read them."""
    entries = [_entry(verdict, setting) for verdict in own]
    sections = [(word, heading, [e for e in entries if e["word"] == word]) for word, heading in SECTIONS.items()]
    sources = [setting.sources.get(verdict.id, "") for verdict in own]
    anchor = "paper-" + name_page(name).removesuffix(".html")
    return {
        "name": name,
        "publications": list(dict.fromkeys(p for s in sources if (p := setting.publications.get(s)) is not None)),
        "anchor": anchor,
        "href": f"#{anchor}",
        "page": "",
        "claims": entries,
        "sections": [section for section in sections if section[2]],
        "counts": Counter(e["word"] for e in entries),
    }


def _entry(verdict: Verdict, setting: _Setting) -> dict[str, Any]:
    """A claim as the templates read it."""
    word, deciding = name_word(verdict), find_deciding(verdict)
    said = verdict.statement if len(verdict.statement) <= 160 else verdict.statement[:157] + "..."
    source = setting.sources.get(verdict.id, "")
    kept, proof = setting.counterexamples / f"{verdict.id}.json", setting.proofs.get(verdict.id)
    return {
        "v": verdict,
        "word": word,
        "style": _style(word),
        "glyph": VERDICT_WORDS[word].glyph,
        "href": f"#{verdict.id}",
        "label": f"{verdict.id}, {word}: {said}",
        "text": f"{verdict.id} {verdict.statement} {verdict.repaired}".lower(),
        "deciding": deciding,
        "others": [part for part in verdict.evidence if part not in deciding],
        "why": explain_undecided(verdict),
        "runs": "; ".join(filter(None, (verdict.setting, verdict.size and f"{verdict.size} size"))),
        "refutation": explain_refutation(verdict.counterexample) if verdict.counterexample else "",
        "instance": [
            (n, show_number(v), verdict.fields.get(n, ""))
            for n, v in list_instance((verdict.counterexample or {}).get("instance", {}))
        ],
        "file": Path(os.path.relpath(kept, setting.folder)).as_posix() if verdict.counterexample else "",
        "proof": Path(os.path.relpath(proof, setting.folder)).as_posix() if proof is not None else "",
        "about": _about(verdict),
        "told": _told(verdict),
        "curves": list_legend(verdict.picture) if verdict.picture is not None else [],
        "readings": group_readings(verdict.readings),
        "target": source if source.endswith(".py") else verdict.id,
        "caught": Counter(found["outcome"] for found in verdict.planted),
        "kernel": describe_kernel(verdict),
        "commands": write_commands(verdict, source, setting.counterexamples),
    }


def _told(verdict: Verdict) -> list[dict[str, Any]]:
    """Statements as their data say them, each with what it is to the verdict; the rounds of states once."""
    told: list[dict[str, Any]] = []
    for one in verdict.told:
        what = describe_told(verdict.status, verdict.repair, str(one["role"]))
        seen = [other.get("rounds") for other in told]
        shown = {**one, "rounds": [] if one.get("rounds") in seen else one.get("rounds", [])}
        shown["name"] = one.get("name", "") if len(verdict.told) > 1 else ""
        told.append(shown | {"label": f"What was {what}, as its data say it"})
    return told


def _about(verdict: Verdict) -> str:
    """What a picture's caption says beside its title: its own words, or what the verdict says of setting, size and seed."""
    own = (verdict.picture or {}).get("about", "")
    known = (verdict.setting, verdict.size and f"{verdict.size} size", f"seed {verdict.seed}" if verdict.seeded else "")
    bands = any("low" in series for series in (verdict.picture or {}).get("series", ()))
    return "; ".join(filter(None, [own or "; ".join(filter(None, known)), BANDS if bands else ""]))


def _style(word: str) -> str:
    return word.replace(" ", "")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("fedtheory.claims", "templates"),
        autoescape=lambda name: name is None or name.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "typeset": lambda text: Markup(typeset(text)),
        "formula": lambda text: Markup(typeset_formula(text)),
        "number": show_number,
        "outcome": lambda part: name_outcome(part).lower(),
        "chart": lambda picture: Markup(draw_chart(picture)),
        "style": _style,
        "anchor": lambda word: word.replace(" ", "-"),
    }
    return environment


def _render(
    verdicts: Sequence[Verdict], title: str, papers: Sequence[Mapping[str, Any]], *, claims: bool, up: str = ""
) -> str:
    totals = Counter(map(name_word, verdicts))
    kinds = [kind for kind in get_args(Kind) if any(v.kind == kind for v in verdicts)]
    page = (
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            up=up,
            claims=claims,
            summary=summarise(verdicts) or "nothing was checked",
            chances=summarise_chances(verdicts),
            faults=summarise_faults(verdicts),
            kernel=summarise_kernel(verdicts),
            papers=papers,
            kinds=kinds,
            words=[word for word in VERDICT_WORDS if totals[word]],
            totals=totals,
            total=len(verdicts),
            by_kind={kind: Counter(name_word(v) for v in verdicts if v.kind == kind) for kind in kinds},
            legend=[(word, shown.meaning) for word, shown in VERDICT_WORDS.items()],
            glyphs={word: shown.glyph for word, shown in VERDICT_WORDS.items()},
            most_facts=MOST_FACTS,
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            commit=find_commit(),
            versions=find_versions(),
            settings=sorted({v.setting for v in verdicts if v.setting}),
            checksums=_find_checksums(verdicts),
        )
    )
    return str(page).lstrip() + "\n"


def _find_checksums(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Files that verdicts rest on, with the first digits of their SHA-256."""
    return {name: value[:16] for v in verdicts for name, value in sorted(v.data.items())}
