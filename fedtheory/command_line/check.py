"""The commands that judge claims: check, replay, selftest."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.experiments import (
    ProgressLines,
    add_long_run_options,
    count_run_workers,
    count_workers,
    find_needs,
    follow_progress,
    make_shared,
    tell_plan,
)
from fedtheory.command_line.later import GroupedCommand
from fedtheory.command_line.options import (
    EXIT_FAILED,
    OutputFile,
    add_experiment_options,
    budget_option,
    data_option,
    fresh_option,
    leave_interrupted,
    make_experiment_context,
    open_journal,
    say_what_is_kept,
    scheduler_option,
    seed_option,
    time_limit_option,
)
from fedtheory.tools.terminal import make_console, print_table

if TYPE_CHECKING:
    from fedtheory.claims.checking import FaultReport, Reference
    from fedtheory.claims.context import Context
    from fedtheory.claims.verdict import Verdict
    from fedtheory.tools.journal import Journal


@click.command(cls=GroupedCommand)
@click.argument("targets", nargs=-1, metavar="[CLAIM|PAPER|FILE.py]...")
@click.option(
    "--json",
    "json_file",
    type=OutputFile(),
    help="Write verdicts as JSON ('-': to the terminal).",
)
@click.option("--html", "html_file", type=OutputFile(), help="Write a self-contained report.")
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
    html_file: Path | None,
    sarif: Path | None,
    referee: Path | None,
    counterexamples: Path | None,
    expect: Path | None,
    repeat: int,
    selftest: bool,
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
    verdict differs; with --repeat, when verdicts differ between seeds; with --selftest, when a fault was missed or not run);
    2 for bad arguments.
    """
    from fedtheory.claims import report
    from fedtheory.claims.checking import add_faults, make_check_journal, run_checks, select
    from fedtheory.claims.pages import write_referee_pages

    def judge(chosen: list[Reference], context: Context) -> tuple[dict[str, Verdict], Journal, ProgressLines, bool]:
        """Return the verdicts, their journal, how far they came, and whether they were interrupted."""
        journal = make_check_journal(chosen, context)
        open_journal(journal, fresh, len(chosen), "claims")
        kept = journal.read()
        needs = find_needs([r for r in chosen if r.id not in kept], context)
        count = count_run_workers(workers, context, needs.values())
        done: dict[str, Verdict] = {}
        with follow_progress("claims", len(chosen), len(needs), log_file) as progress:
            try:
                for verdict in run_checks(
                    *(chosen, context, count_workers(workers)),
                    scheduler=scheduler,
                    journal=journal,
                    apart=True,
                    time_limit=time_limit,
                    needs=needs,
                    need_workers=count,
                    told=progress.ran,
                ):
                    done[verdict.id] = verdict
                    progress.judged(verdict)
            except KeyboardInterrupt:
                return done, journal, progress, True
        return done, journal, progress, False

    stored = report.read_json(expect) if expect else None
    references = select(targets)
    if not targets:
        click.echo(
            f"all {len(references)} claims; 'fedtheory check PAPER' or 'CLAIM' judges fewer ('fedtheory list' names them)",
            err=True,
        )
    forgotten = references if fresh and not dry_run else ()
    context = make_experiment_context(
        budget, seed, data, experiments, remote=scheduler is not None, forgotten=forgotten
    )
    if dry_run:
        tell_plan(references, context, workers)
        return
    done, journal, progress, interrupted = judge(references, context)
    how_far, planted = progress.how_far, None
    if selftest and not interrupted:
        planted = _plant_faults(references, context, fresh, workers, scheduler, log_file, time_limit)
        how_far, interrupted = f"{how_far}, and planted faults of {planted.how_far}", planted.interrupted
        for id, verdict in done.items():
            own = [found for found in planted.reports if found.id == id]
            if own or not interrupted:
                done[id] = add_faults(verdict, own)
    verdicts = [done[r.id] for r in references if r.id in done]
    beside = next((f.parent for f in (json_file, html_file) if f is not None and str(f) != "-"), referee)
    folder = counterexamples or (beside / "counterexamples" if beside is not None else None)
    sources = {reference.id: reference.source for reference in references}
    with say_what_is_kept("verdicts"):
        _write(verdicts, json_file, html_file, folder, sources)
        if sarif is not None:
            from fedtheory.claims.code_scanning import write_verdicts

            write_verdicts(sarif, verdicts, sources)
        if referee is not None and folder is not None:
            write_referee_pages(verdicts, referee, folder, sources)
    if not interrupted:  # only now: what could not be written is not lost
        for kept in (journal, *([planted.journal] if planted is not None else [])):
            kept.close()
    if str(json_file) != "-":
        terminal = make_console()
        if verbose:
            terminal.print(report.describe_verdicts(verdicts))
        elif verdicts:
            print_table(terminal, report.tabulate_verdicts(verdicts, terminal.width))
            terminal.print("--verbose shows statements whole, and what decided")
        terminal.print(report.summarise(verdicts) or "nothing was checked")
        for line in (report.summarise_chances(verdicts), report.summarise_faults(verdicts)):
            if line:
                terminal.print(line)
    if interrupted:
        leave_interrupted(how_far)
    failed = any(not v.ran for v in verdicts) or any(not r.caught for r in (planted.reports if planted else []))
    again = [r for r in references if done[r.id].seeded and done[r.id].size is None]
    again.sort(key=lambda r: -done[r.id].seconds)  # so that no worker is left alone with a long one
    for other in range(seed + 1, seed + repeat):
        found, journal, progress, interrupted = judge(again, replace(context, seed=other))
        if interrupted:
            leave_interrupted(progress.how_far)
        journal.close()
        differences = [line for r in again for line in report.list_differences(done[r.id], found[r.id])]
        click.echo(
            f"seed {other}: {len(again) - len(differences)} of {len(again)} verdicts are those of seed {seed}", err=True
        )
        for line in differences:
            click.echo(f"differs: {line}", err=True)
        failed = failed or bool(differences)
    if stored is not None:
        changed = report.list_changes(verdicts, stored)
        for line in changed:
            click.echo(f"changed: {line}", err=True)
        failed = failed or bool(changed)
    sys.exit(EXIT_FAILED if failed else 0)


def _write(
    verdicts: list[Verdict],
    json_file: Path | None,
    html_file: Path | None,
    folder: Path | None,
    sources: dict[str, str],
) -> None:
    from fedtheory.claims import report
    from fedtheory.claims.pages import as_html

    if json_file is not None:
        text = report.as_json(verdicts)
        if str(json_file) == "-":
            click.echo(text, nl=False)
        else:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(text)
    if html_file is not None:
        html_file.parent.mkdir(parents=True, exist_ok=True)
        page = as_html(
            verdicts,
            "fedtheory: verdicts",
            sources=sources,
            counterexamples=folder or Path("counterexamples"),
            folder=html_file.parent,
        )
        html_file.write_text(page)
    if folder is not None:
        written = report.write_counterexamples(verdicts, folder)
        if written:
            from_file = any(
                v.counterexample is not None and v.counterexample["source"].endswith(".py") for v in verdicts
            )
            click.echo(
                f"{len(written)} counterexamples in {folder}; 'fedtheory replay FILE{' CLAIMS.py' if from_file else ''}' shows one again",
                err=True,
            )


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("claims_file", type=click.Path(path_type=Path), required=False, metavar="[CLAIMS.py]")
def replay_command(file: Path, claims_file: Path | None) -> None:
    """Replay a stored counterexample: measure the violation again, certify the assumptions on it, compare with the file.

    The claim is one of an installed paper, or of CLAIMS.py. Exit status: 0 when the violation is there with the file's numbers.
    """
    from fedtheory.claims.replay import replay_file

    replayed = replay_file(file, claims_file)
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
    click.echo(f"  {replayed.conclusion}")
    sys.exit(0 if replayed.confirmed else EXIT_FAILED)


@click.command(cls=GroupedCommand)
@click.argument("targets", nargs=-1, metavar="[CLAIM|PAPER|FILE.py]...")
@fresh_option
@budget_option
@add_long_run_options
@scheduler_option
@data_option
@seed_option
@time_limit_option
@add_experiment_options
@click.option("--verbose", "-v", is_flag=True, help="Show every fault, not only those that were missed.")
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
    **experiments: Any,
) -> None:
    """Run every planted fault: each check must reject what it was built to reject, and only that.

    Exit status: 0 when every fault was caught; 1 when one was missed, or could not be run for want of an extra.
    """
    from fedtheory.claims.checking import select

    references = select(targets)
    forgotten = references if fresh and not dry_run else ()
    context = make_experiment_context(
        budget, seed, data, experiments, remote=scheduler is not None, forgotten=forgotten
    )
    if dry_run:
        tell_plan(references, context, workers)
        return
    make_shared(references, context, workers, scheduler, log_file)
    planted = _plant_faults(references, context, fresh, workers, scheduler, log_file, time_limit)
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
    sys.exit(0 if caught == len(reports) else EXIT_FAILED)


@dataclass
class _Planted:
    """Reports of planted faults, their journal, and whether running them was interrupted."""

    reports: list[FaultReport]
    journal: Journal
    how_far: str
    interrupted: bool


def _plant_faults(
    references: Sequence[Reference],
    context: Context,
    fresh: bool,
    workers: int | None,
    scheduler: str | None,
    log_file: Path | None,
    time_limit: float | None,
) -> _Planted:
    """Run the planted faults of these claims; what they share is done already."""
    from fedtheory.claims.checking import make_fault_journal, run_all_faults

    journal = make_fault_journal(references, context)
    open_journal(journal, fresh, len(references), "claims")
    reports: list[FaultReport] = []
    interrupted = False
    with follow_progress("claims", len(references), 0, log_file) as progress:
        try:
            for batch in run_all_faults(
                *(references, context, count_workers(workers)),
                scheduler=scheduler,
                journal=journal,
                apart=True,
                time_limit=time_limit,
            ):
                reports += batch
                missed = [fault for fault in batch if not fault.caught]
                progress.count(
                    batch[0].id if batch else "",
                    "; ".join(f"{m.id}: {m.outcome}: {m.fault}" for m in missed),
                )
        except KeyboardInterrupt:
            interrupted = True
    return _Planted(reports, journal, progress.how_far, interrupted)
