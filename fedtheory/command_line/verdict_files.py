"""Where verdicts go: files for people and programs, and the terminal."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fedtheory.command_line.options import is_terminal, write_output
from fedtheory.tools.terminal import make_console, print_table

if TYPE_CHECKING:
    from fedtheory.claims.publication import Publication
    from fedtheory.claims.verdict import Verdict


@dataclass(frozen=True)
class VerdictFiles:
    """The files and folders that are asked for; ``-`` is the terminal."""

    json: Path | None = None
    html: Path | None = None
    sarif: Path | None = None
    referee: Path | None = None
    counterexamples: Path | None = None
    badge: Path | None = None
    jsonl: Path | None = None

    @property
    def folder(self) -> Path | None:
        """Of counterexamples: the one that is named, or beside the other files."""
        beside = next(
            (f.parent for f in (self.json, self.html, self.jsonl) if f is not None and not is_terminal(f)), self.referee
        )
        return self.counterexamples or (beside / "counterexamples" if beside is not None else None)

    def write(self, verdicts: list[Verdict], sources: dict[str, str]) -> None:
        """Write all of them; ``sources``: by id the module or file that a claim is in."""
        if self.json is not None:
            self._write_json(self.json, verdicts, sources)
        if self.html is not None:
            self._write_page(self.html, verdicts, sources)
        if self.folder is not None:
            _write_instances(self.folder, verdicts, sources)
        else:  # of somebody's own claims the instance is what they want to see
            own = [v for v in verdicts if sources[v.id].endswith(".py")]
            _write_instances(Path("counterexamples"), own, sources)
        if self.jsonl is not None:
            from fedtheory.claims.records import write_records

            kept = self.folder or Path("counterexamples")
            write_output(write_records(verdicts, sources, _find_publications(sources), kept), self.jsonl)
        if self.badge is not None:
            from fedtheory.claims.badge import write_badge

            write_badge(verdicts, self.badge)
        if self.sarif is not None:
            from fedtheory.claims.code_scanning import write_verdicts

            write_verdicts(self.sarif, verdicts, sources, _find_publications(sources))
        if self.referee is not None and self.folder is not None:
            from fedtheory.claims.pages import write_referee_pages

            write_referee_pages(verdicts, self.referee, self.folder, sources, _find_publications(sources))

    def _write_json(self, file: Path, verdicts: list[Verdict], sources: Mapping[str, str]) -> None:
        from fedtheory.claims import report

        write_output(report.as_json(verdicts, _find_publications(sources)), file)

    def _write_page(self, file: Path, verdicts: list[Verdict], sources: dict[str, str]) -> None:
        from fedtheory.claims.pages import as_html

        file.parent.mkdir(parents=True, exist_ok=True)
        page = as_html(
            verdicts,
            "fedtheory: verdicts",
            sources=sources,
            counterexamples=self.folder or Path("counterexamples"),
            folder=file.parent,
            publications=_find_publications(sources),
        )
        file.write_text(page)


def _find_publications(sources: Mapping[str, str]) -> dict[str, Publication]:
    from fedtheory.claims.references import find_publication

    return {source: found for source in set(sources.values()) if (found := find_publication(source)) is not None}


def _write_instances(folder: Path, verdicts: Sequence[Verdict], sources: Mapping[str, str]) -> None:
    from fedtheory.claims import report

    written = report.write_counterexamples(verdicts, folder)
    if len(written) == 1:
        source = sources[written[0].stem]
        of = f" {os.path.relpath(source)}" if source.endswith(".py") else ""
        click.echo(f"counterexample: {written[0]}; 'fedtheory replay {written[0]}{of}' shows it again", err=True)
    elif written:
        shown = [v.counterexample for v in verdicts if v.counterexample is not None]
        claims_file = " CLAIMS.py" if any(found["source"].endswith(".py") for found in shown) else ""
        click.echo(
            f"{len(written)} counterexamples in {folder}; 'fedtheory replay FILE{claims_file}' shows one again",
            err=True,
        )


def show_verdicts(verdicts: Sequence[Verdict], sources: Mapping[str, str], *, whole: bool) -> None:
    """Print a line a verdict, or all of it, which texts they are of, and how many of each word there are."""
    from fedtheory.claims import report
    from fedtheory.claims.kernel import summarise_kernel
    from fedtheory.claims.refutation import explain_refutation

    terminal = make_console()
    if whole:
        terminal.print(report.describe_verdicts(verdicts))
    elif verdicts:
        print_table(terminal, report.tabulate_verdicts(verdicts, terminal.width))
        terminal.print("--verbose shows statements whole, and what decided")
        if len(verdicts) == 1 and verdicts[0].counterexample is not None:
            terminal.print(explain_refutation(verdicts[0].counterexample), highlight=False)
    for paper in dict.fromkeys(_find_publications({v.id: sources[v.id] for v in verdicts}).values()):
        terminal.print(f"judged text: {paper}", highlight=False)
    terminal.print(report.summarise(verdicts) or "nothing was checked")
    for line in (report.summarise_chances(verdicts), report.summarise_faults(verdicts), summarise_kernel(verdicts)):
        if line:
            terminal.print(line)
