"""The commands that judge claims: check, replay, selftest."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.check_session import CheckSession
from fedtheory.command_line.completing import complete_targets
from fedtheory.command_line.experiments import add_long_run_options, make_shared, tell_plan
from fedtheory.command_line.later import GroupedCommand
from fedtheory.command_line.options import (
    EXIT_FAILED,
    EXIT_MISTAKEN,
    OutputFile,
    add_experiment_options,
    budget_option,
    data_option,
    fresh_option,
    interrupt_option,
    is_terminal,
    leave_interrupted,
    make_experiment_context,
    require_one_on_terminal,
    say_what_is_kept,
    scheduler_option,
    seed_option,
    time_limit_option,
)
from fedtheory.command_line.verdict_files import VerdictFiles, show_verdicts

if TYPE_CHECKING:
    from fedtheory.claims.claim import JudgedChange
    from fedtheory.claims.context import Context
    from fedtheory.claims.references import Reference
    from fedtheory.claims.verdict import Verdict

    StoredVerdicts = dict[str, dict[str, Any]]


@click.command(cls=GroupedCommand)
@click.argument("targets", nargs=-1, metavar="[CLAIM|PAPER|FILE.py]...", shell_complete=complete_targets)
@click.option(
    "--json",
    "json_file",
    type=OutputFile(),
    help="Write verdicts as JSON ('-': to the terminal).",
)
@click.option(
    "--jsonl",
    type=OutputFile(),
    help="Write a line of JSON a statement: category, location, severity, annotation, replay ('-': to the terminal).",
)
@click.option("--html", "html_file", type=OutputFile(terminal=False), help="Write a self-contained report.")
@click.option(
    "--sarif",
    type=OutputFile(),
    help="Write verdicts as SARIF 2.1.0, which code hosts show beside the files.",
)
@click.option(
    "--referee",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write a page for a referee a paper, and one over all of them.",
)
@click.option(
    "--counterexamples",
    type=click.Path(path_type=Path),
    help="Folder for counterexample files [default: beside the JSON or HTML file, or in that of the referee's pages].",
)
@click.option("--expect", type=click.Path(path_type=Path), help="Compare with stored verdicts; exit 1 on a difference.")
@click.option(
    "--compare",
    type=click.Path(path_type=Path),
    metavar="OLD.json",
    help="Show which words, evidence and numbers changed since 'check --json OLD.json'; exit 1 where any did.",
)
@click.option(
    "--badge",
    type=OutputFile(terminal=False),
    help="Write how many are proved, refuted, open as FILE.svg, or FILE.json for shields.io.",
)
@click.option(
    "--repeat",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Judge the claims that read the seed so often, with seeds from --seed on; exit 1 where their verdicts differ. "
    "Experiments have seeds of their own (--seeds).",
)
@click.option(
    "--selftest",
    is_flag=True,
    help="Run every planted fault, too; verdicts and pages say which were caught. Exit 1 where one was not.",
)
@click.option(
    "--kernel",
    is_flag=True,
    help="Let Rocq check the proofs of the verdicts, too (it needs 'coqc'). Exit 1 where it refuses one.",
)
@click.option("--theory", is_flag=True, help="Leave out the claims that are about experiments.")
@click.option("--verbose", "-v", is_flag=True, help="Show statements whole, and what decided.")
@fresh_option
@budget_option
@add_long_run_options
@scheduler_option
@data_option
@seed_option
@time_limit_option
@add_experiment_options
def check_command(
    targets: tuple[str, ...],
    json_file: Path | None,
    jsonl: Path | None,
    html_file: Path | None,
    sarif: Path | None,
    referee: Path | None,
    counterexamples: Path | None,
    expect: Path | None,
    compare: Path | None,
    badge: Path | None,
    repeat: int,
    selftest: bool,
    kernel: bool,
    theory: bool,
    verbose: bool,
    fresh: bool,
    budget: Any,
    workers: int | None,
    dry_run: bool,
    log_file: Path | None,
    scheduler: str | None,
    data: Path | None,
    seed: int,
    time_limit: float | None,
    **experiments: Any,
) -> None:
    """Run checks and print the table of verdicts; all papers when nothing is named.

    Exit status: 0 when every check ran, whatever the verdicts; 1 when one could not be run (or, with --expect, when a
    verdict differs; with --compare, when a word, evidence or a number does; with --repeat, when verdicts differ between seeds; with --selftest,
    when a fault was missed or not run; with --kernel, when Rocq refuses a theorem);
    2 for bad arguments, and for mistakes in claims, such as a negative step size.
    """
    files = VerdictFiles(json_file, html_file, sarif, referee, counterexamples, badge, jsonl)
    stored, before = _read_stored(files, kernel, (expect, compare))
    references = _choose(targets, theory=theory)
    forgotten = references if fresh and not dry_run else ()
    context = make_experiment_context(
        budget, seed, data, experiments, remote=scheduler is not None, forgotten=forgotten
    )
    if dry_run:
        tell_plan(references, context, workers)
        return
    session = CheckSession(fresh, workers, scheduler, log_file, time_limit)
    found = session.find(references, context, selftest=selftest, kernel=kernel)
    sources = {reference.id: reference.source for reference in references}
    with say_what_is_kept("findings", "judges them again, and proves again what was proved"):
        files.write(found.verdicts, sources)
    if not found.interrupted:
        found.close()  # only now: what could not be written is not lost
    quiet = is_terminal(json_file) or is_terminal(jsonl)
    if not quiet:
        show_verdicts(found.verdicts, sources, whole=verbose)
    if found.interrupted:
        leave_interrupted(found.how_far)
    differs = _repeat(session, references, context, found.done, repeat)
    changed = _tell_stored(found.verdicts, stored)
    changed += [] if before is None else _show_changes(found.verdicts, before, elsewhere=quiet)
    failed = found.failed or differs or bool(changed)
    sys.exit(EXIT_MISTAKEN if any(v.mistaken for v in found.verdicts) else EXIT_FAILED if failed else 0)


def _read_stored(files: VerdictFiles, kernel: bool, stored: tuple[Path | None, ...]) -> list[StoredVerdicts | None]:
    """Read the files to compare with, and refuse, before hours of checks, what could not be done after them."""
    from fedtheory.claims import report
    from fedtheory.claims.badge import require_badge_name

    require_one_on_terminal(json=files.json, jsonl=files.jsonl)
    if kernel:
        from fedtheory.proofs.rocq.compiling import require_compiler

        require_compiler()
    found = [report.read_json(file) if file else None for file in stored]
    if files.badge is not None:
        require_badge_name(files.badge)
    return found


def _tell_stored(verdicts: Sequence[Verdict], stored: StoredVerdicts | None) -> list[str]:
    """Print in which words verdicts differ from stored ones; the lines."""
    from fedtheory.claims import report

    changed = [] if stored is None else report.list_changes(verdicts, stored)
    for line in changed:
        click.echo(f"changed: {line}", err=True)
    return changed


def _choose(targets: Sequence[str], *, theory: bool) -> list[Reference]:
    from fedtheory.claims.references import load_claims, select
    from fedtheory.core.errors import InvalidInput

    references = select(targets)
    if theory:
        references = [r for r in references if not load_claims(r.source)[r.id].is_experiment]
    if not references:
        raise InvalidInput(f"every claim of {', '.join(targets)} is about experiments, which '--theory' leaves out")
    if not targets:
        click.echo(
            f"all {len(references)} claims{' but those about experiments' if theory else ''}; 'fedtheory check PAPER' or 'CLAIM' judges fewer "
            "('fedtheory list' names them)",
            err=True,
        )
    return references


def _show_changes(verdicts: Sequence[Verdict], before: StoredVerdicts, *, elsewhere: bool) -> list[str]:
    """Print what changed since verdicts were stored, ``elsewhere`` where the output is a document's; the lines."""
    from fedtheory.claims.comparison import compare_verdicts, summarise_changes

    changes = compare_verdicts(verdicts, before)
    lines = [line for found in changes for line in found.lines()]
    for line in lines:
        click.echo(line, err=elsewhere)
    click.echo(summarise_changes(changes, len(verdicts)), err=elsewhere)
    return lines


def _repeat(
    session: CheckSession, references: Sequence[Reference], context: Context, done: dict[str, Verdict], times: int
) -> bool:
    """Judge what read the seed with further ones; whether a verdict differs."""
    from fedtheory.claims import report

    again = [r for r in references if done[r.id].seeded and done[r.id].size is None]
    again.sort(key=lambda r: -done[r.id].seconds)  # so that no worker is left alone with a long one
    differs = False
    for other in range(context.seed + 1, context.seed + times):
        found = session.judge(again, replace(context, seed=other))
        if found.interrupted:
            leave_interrupted(found.progress.how_far)
        found.journal.close()
        differences = [line for r in again for line in report.list_differences(done[r.id], found.done[r.id])]
        said = (
            f"seed {other}: {len(again) - len(differences)} of {len(again)} verdicts are those of seed {context.seed}"
        )
        for line in (said, *(f"differs: {line}" for line in differences)):
            click.echo(line, err=True)
        differs = differs or bool(differences)
    return differs


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("claims_file", type=click.Path(path_type=Path), required=False, metavar="[CLAIMS.py]")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Largest number of an instance that is replayed, be it clients or rounds, and how many numbers it has "
    "[default: 1000, or twice what the check shows].",
)
@click.option("--latex", is_flag=True, help="Write LaTeX to paste into a review, and nothing else.")
@interrupt_option
def replay_command(file: Path, claims_file: Path | None, limit: int | None, latex: bool) -> None:
    """Replay a stored counterexample: measure the violation again, certify the assumptions on it, compare with the file.

    The claim is one of an installed paper, or of CLAIMS.py. Exit status: 0 when the violation is there with the file's numbers, 1 when it is not, 2
    when the file cannot be replayed.
    """
    from fedtheory.claims.replay import replay_file

    replayed = replay_file(file, claims_file, limit)
    if latex:
        from fedtheory.claims.review import write_review

        click.echo(write_review(replayed, file, claims_file), nl=False)
        sys.exit(0 if replayed.confirmed else EXIT_FAILED)
    seen = replayed.seen
    click.echo(f"{replayed.claim.id}: {replayed.claim.statement}")
    for assumption in seen.assumptions:
        click.echo(f"  {'met' if assumption.met else 'NOT MET'}, {assumption.by}: {assumption.text}")
    click.echo(f"  {seen.what}")
    click.echo(f"  measured {seen.measured:.12g} against the bound {seen.bound:.12g} (floating point)")
    click.echo(f"  measured {seen.exact_measured} against the bound {seen.exact_bound} ({seen.arithmetic})")
    for name, number in replayed.differences.items():
        if number:
            click.echo(f"  the file has {number} for {name}")
    if seen.violated:
        click.echo(f"  {replayed.explanation}")
    click.echo(f"  {replayed.conclusion}")
    sys.exit(0 if replayed.confirmed else EXIT_FAILED)


@click.command(cls=GroupedCommand)
@click.argument("targets", nargs=-1, metavar="[CLAIM|PAPER|FILE.py]...", shell_complete=complete_targets)
@fresh_option
@budget_option
@add_long_run_options
@scheduler_option
@data_option
@seed_option
@time_limit_option
@add_experiment_options
@click.option("--verbose", "-v", is_flag=True, help="Show every fault, not only those that were missed.")
@click.option(
    "--near-misses",
    "near",
    is_flag=True,
    help="Change each number, sign, exponent, term and hypothesis of statements that are data, and print the score; no planted faults.",
)
def selftest_command(
    targets: tuple[str, ...],
    fresh: bool,
    budget: Any,
    workers: int | None,
    dry_run: bool,
    log_file: Path | None,
    scheduler: str | None,
    data: Path | None,
    seed: int,
    time_limit: float | None,
    verbose: bool,
    near: bool,
    **experiments: Any,
) -> None:
    """Run every planted fault: each check must reject what it was built to reject, and only that.

    Exit status: 0 when every fault was caught; 1 when one was missed, or could not be run for want of an extra. With --near-misses a change
    against which there is nothing is slack of the statement, and told with its size; 1 where an instance refutes what a proof proves, or a claim
    could not be run.
    """
    from fedtheory.claims.references import select

    references = select(targets)
    forgotten = references if fresh and not dry_run else ()
    context = make_experiment_context(
        budget, seed, data, experiments, remote=scheduler is not None, forgotten=forgotten
    )
    if dry_run:
        tell_plan(references, context, workers)
        return
    session = CheckSession(fresh, workers, scheduler, log_file, time_limit)
    if near:
        sys.exit(_tell_changes(session, references, context, verbose))
    make_shared(references, context, workers, scheduler, log_file)
    planted = session.plant(references, context)
    if planted.interrupted:
        leave_interrupted(planted.how_far)
    planted.journal.close()
    reports = planted.reports
    for found in sorted(reports, key=lambda r: r.id):
        if verbose or not found.caught:
            word = found.outcome.upper() if found.outcome == "missed" else found.outcome
            click.echo(f"{word}  {found.id}: {found.fault} [{found.detail}]")
    caught, left_out = sum(r.caught for r in reports), sum(not r.ran for r in reports)
    click.echo(
        f"planted faults caught: {caught} / {len(reports) - left_out}"
        + (f"; {left_out} could not be run" if left_out else "")
    )
    click.echo("how sharp the statements are: fedtheory selftest --near-misses", err=True)
    sys.exit(0 if caught == len(reports) else EXIT_FAILED)


def _tell_changes(session: CheckSession, references: Sequence[Reference], context: Context, verbose: bool) -> int:
    """Change statements that are data; print what does not fall, which claims have none, and the score of each paper; the exit status."""
    from fedtheory.claims.sharpness import list_scores

    changed = session.change(references, context)
    if changed.interrupted:
        leave_interrupted(changed.progress.how_far)
    changed.journal.close()
    told: set[JudgedChange] = set()  # of statements that several claims share once
    for claim in sorted(changed.claims, key=lambda c: c.id):
        for change in claim.changes:
            if change not in told and (verbose or change.outcome in ("slack", "survives")):
                word = change.outcome.upper() if change.outcome == "survives" else change.outcome
                click.echo(f"{word}  {claim.id}: {change.about}: {change.what} [{change.detail}]")
            told.add(change)
    scores = list(list_scores(changed.claims))
    for paper, score in scores:
        if score.not_data and (paper != "all" or len(scores) == 1):
            click.echo(f"not data, {paper}: {', '.join(sorted(score.not_data))}")
    for paper, score in scores:
        click.echo(f"{paper}: {score}")
    failed = any(score.outcomes["survives"] or score.not_run for _, score in scores)
    return EXIT_FAILED if failed else 0
