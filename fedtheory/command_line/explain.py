"""The command ``explain``: proofs as pages for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_targets
from fedtheory.command_line.export import judge_targets
from fedtheory.command_line.options import OutputFile, budget_option, seed_option, time_limit_option, workers_option

if TYPE_CHECKING:
    from fedtheory.claims.explain.document import Document


@click.command()
@click.argument("target", metavar="CLAIM|FILE.py|FILE.json", shell_complete=complete_targets)
@click.option(
    "--to",
    "language",
    type=click.Choice(["markdown", "latex", "pdf"]),
    default="markdown",
    show_default=True,
    help="As what; a PDF needs a TeX.",
)
@click.option(
    "--out", type=OutputFile(), metavar="FILE", help="Where to write [default: the terminal; needed for a PDF]."
)
@workers_option
@budget_option
@seed_option
@time_limit_option
def explain_command(
    target: str, language: str, out: Path | None, workers: int | None, budget: Any, seed: int, time_limit: float | None
) -> None:
    """Write the proofs of a claim, or of a file, as a page that can be followed with a pencil.

    A FILE.json is a certificate, a derivation, a proof term, or verdicts that 'check --json' wrote. Claims are judged first. The page has
    statement and hypotheses, the inequalities that are used with their multipliers, the squares that are left, and the lines of the proof with
    their grounds.

    Exit status: 0 when something was written, 2 when there is nothing to explain, 1 when a proof is refused.
    """
    from fedtheory.claims.explain.latex import find_tex, write_latex_page, write_pdf
    from fedtheory.claims.explain.markdown import write_markdown
    from fedtheory.core.errors import FedtheoryError, InvalidInput
    from fedtheory.proofs.checker.refusals import Refused

    out = None if out == Path("-") else out
    if language == "pdf" and out is None:
        raise InvalidInput("a PDF is written to a file; name it with --out")
    if language == "pdf":
        find_tex()  # before anything is judged
    try:
        page = _explain(target, workers, budget, seed, time_limit)
    except Refused as refusal:
        raise FedtheoryError(f"{target}: a proof is refused: {refusal}") from None
    if language == "pdf":
        assert out is not None
        write_pdf(page, out)
        return
    text = write_markdown(page) if language == "markdown" else write_latex_page(page)
    if out is None:
        click.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8")


def _explain(target: str, workers: int | None, budget: Any, seed: int, time_limit: float | None) -> Document:
    """One page with everything that the target has."""
    from fedtheory.claims.explain.finding import is_explained
    from fedtheory.claims.explain.proofs import explain_file, explain_verdict, join_pages

    if target.endswith(".json"):
        pages = explain_file(Path(target))
    else:
        judged = judge_targets([target], workers, budget, seed, time_limit)
        some = [pair for pair in judged if is_explained(pair[0].evidence)]
        pages = [explain_verdict(verdict, claim) for verdict, claim in some or judged[:1]]
    return pages[0] if len(pages) == 1 else join_pages(Path(target).name, pages)
