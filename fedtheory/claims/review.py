"""A counterexample as a passage of LaTeX, to be pasted into a review."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fedtheory.claims.claim import Counterexample
from fedtheory.claims.referee import list_instance, show_number
from fedtheory.claims.references import find_publication
from fedtheory.claims.refutation import describe_fields, explain_refutation
from fedtheory.claims.replay import Replayed
from fedtheory.tools.latex import escape, write_latex_text
from fedtheory.tools.versions import find_versions

_HEADINGS = {
    "printed": "a counterexample to the statement as printed",
    "repaired": "a counterexample to a corrected statement",
    "reading": "a counterexample in another reading, which does not decide the verdict",
}


def write_review(replayed: Replayed, file: Path, claims_file: Path | None = None) -> str:
    """Return a replayed counterexample as LaTeX for a review; amsmath is all that it needs.

    It has the statement, the instance with what its numbers are, the hypotheses on it, both numbers, and the command that shows them again.

    Parameters
    ----------
    file, claims_file : Path
        As the command names them.
    """
    return "\n".join(_write_lines(replayed, file, claims_file)) + "\n"


def _write_lines(replayed: Replayed, file: Path, claims_file: Path | None) -> Iterator[str]:
    claim = replayed.claim
    stored = Counterexample(dict(replayed.instance), replayed.seen).as_dict() | {"role": replayed.role}
    paper = find_publication(replayed.source)
    yield f"\\paragraph{{{write_latex_text(claim.source)}: {_HEADINGS[replayed.role]}.}}"
    yield f"The statement, in our words: {write_latex_text(claim.statement)}"
    yield ""
    yield write_latex_text(explain_refutation(stored)) if replayed.seen.violated else "No violation was seen."
    yield ""
    yield "\\noindent The instance:"
    yield from _itemize(_list_fields(replayed))
    yield "\\noindent The hypotheses on it:"
    met = ("met" if one.met else "NOT met" for one in replayed.seen.assumptions)
    yield from _itemize(
        [
            f"{write_latex_text(one.text)} ({word}, {'' if one.by == 'vouched for' else 'by '}{escape(one.by)})"
            for one, word in zip(replayed.seen.assumptions, met, strict=True)
        ]
    )
    exact = stored["exact"]
    yield (
        f"\\noindent Measured: {escape(show_number(exact['measured']))}. Allowed: {escape(show_number(exact['bound']))} "
        f"({escape(exact['arithmetic'])}; in floating point {replayed.seen.measured:.6g} and {replayed.seen.bound:.6g})."
    )
    yield ""
    command = " ".join(["fedtheory replay", str(file), *([str(claims_file)] if claims_file is not None else [])])
    yield f"\\noindent Seen again with \\texttt{{{escape(command)}}} (fedtheory {find_versions()['fedtheory']}, claim {escape(claim.id)})."
    if paper is not None:
        yield f"The text that was read: {escape(str(paper))}"


def _list_fields(replayed: Replayed) -> list[str]:
    """The instance's numbers, each with what it is."""
    told = describe_fields(replayed.instance, replayed.claim.fields)
    lines = []
    for name, value in list_instance(replayed.instance):
        meaning = f": {write_latex_text(told[name])}" if name in told else ""
        lines.append(f"\\texttt{{{escape(name)}}} = {escape(show_number(value))}{meaning}")
    return lines


def _itemize(lines: list[str]) -> list[str]:
    return ["\\begin{itemize}", *(f"\\item {line}" for line in lines), "\\end{itemize}"] if lines else []
