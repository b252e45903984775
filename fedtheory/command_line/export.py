"""The command ``export``: proof objects as theorems for a proof assistant."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.completing import complete_targets
from fedtheory.command_line.experiments import count_workers, follow_progress
from fedtheory.command_line.options import budget_option, seed_option, time_limit_option, workers_option

if TYPE_CHECKING:
    from fedtheory.claims.claim import Claim
    from fedtheory.claims.verdict import Verdict


@click.command()
@click.argument(
    "targets", nargs=-1, required=True, metavar="[CLAIM|PAPER|FILE.py|FILE.json]...", shell_complete=complete_targets
)
@click.option(
    "--to", "language", type=click.Choice(["rocq"]), default="rocq", show_default=True, help="In which language."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="FOLDER", help="Where to write."
)
@workers_option
@budget_option
@seed_option
@time_limit_option
def export_command(
    targets: tuple[str, ...],
    language: str,
    out: Path,
    workers: int | None,
    budget: Any,
    seed: int,
    time_limit: float | None,
) -> None:
    """Write the proofs of claims, or of files, as theorems that Rocq checks.

    A FILE.json is a certificate, a derivation, or verdicts that 'check --json' wrote. Claims are judged first. FOLDER gets a statement, its proof and
    its axioms for each theorem, and what they need; its README.md says how to check them. Rocq itself is not needed to write them.

    Exit status: 0 when something was written, 2 when there is nothing to write.
    """
    from fedtheory.claims.kernel import read_theorems, write_theorems
    from fedtheory.core.errors import NotAvailable
    from fedtheory.proofs.rocq.folders import write_folder

    files = [Path(target) for target in targets if target.endswith(".json")]
    claims = [target for target in targets if not target.endswith(".json")]
    written = [found for file in files for found in read_theorems(file)]
    if claims:
        written += [write_theorems(*judged) for judged in judge_targets(claims, workers, budget, seed, time_limit)]
    theorems = {theorem.name: theorem for found in written for theorem in found.theorems}
    for line in (line for found in written for line in found.left):
        click.echo(f"not written: {line}", err=True)
    if not theorems:
        raise NotAvailable(
            f"{', '.join(targets)}: no derivation and no certificate, so there is nothing to write for Rocq"
        )
    write_folder(list(theorems.values()), out)
    click.echo(
        f"{len(theorems)} theorem{'s' * (len(theorems) > 1)} in {out}; {out / 'README.md'} says how Rocq checks them"
    )


def judge_targets(
    targets: list[str], workers: int | None, budget: Any, seed: int, time_limit: float | None
) -> list[tuple[Verdict, Claim]]:
    """The verdicts of claims, with the claims."""
    from fedtheory.claims.checking import run_checks
    from fedtheory.claims.context import Context
    from fedtheory.claims.references import load_claims, select

    found: dict[str, tuple[Verdict, Claim]] = {}
    chosen = select(targets)
    sources = {r.id: r.source for r in chosen}
    with follow_progress("claims", len(chosen), 0, None) as progress:
        for verdict in run_checks(
            chosen, Context(budget, seed), count_workers(workers), apart=len(chosen) > 1, time_limit=time_limit
        ):
            found[verdict.id] = verdict, load_claims(sources[verdict.id])[verdict.id]
            progress.judged(verdict)
    return [found[r.id] for r in chosen if r.id in found]
