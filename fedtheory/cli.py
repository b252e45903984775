"""The command line: check, conform, list, replay, run, sweep, worst-case, lyapunov, selftest."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.cli_common import (
    EXIT_FAILED,
    PROBLEM_OPTIONS,
    Progress,
    algorithm_options,
    budget_option,
    build_algorithm,
    console,
    data_folder,
    data_option,
    experiment_context,
    experiment_options,
    fresh_option,
    leave_interrupted,
    make_shared,
    open_journal,
    problem_options,
    scheduler_option,
    seed_option,
    start_option,
    workers_option,
)
from fedtheory.cli_conform import conform
from fedtheory.cli_lyapunov import lyapunov
from fedtheory.cli_sweep import sweep
from fedtheory.cli_worst_case import verify_certificate, worst_case
from fedtheory.grid import METRICS

if TYPE_CHECKING:
    from fedtheory.claims import Verdict


class Commands(click.Group):
    """Shows the project's own errors as one line, and keeps exit status 2 for bad arguments."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        from fedtheory.errors import CannotTrace, FedtheoryError, InvalidInput, NotAvailable

        try:
            return super().invoke(ctx)
        except (CannotTrace, InvalidInput, NotAvailable) as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(2)
        except OSError as error:
            place = f": {error.filename}" if error.filename else ""
            click.echo(f"error: a file cannot be read or written ({error.strerror or error}{place})", err=True)
            sys.exit(2)
        except FedtheoryError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(EXIT_FAILED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="fedtheory")
def main() -> None:
    """Check the theory of federated optimisation: verdicts with evidence on the claims of papers."""


main.add_command(conform)
main.add_command(sweep)
main.add_command(worst_case)
main.add_command(lyapunov)
main.add_command(verify_certificate)


@main.command()
@click.argument("targets", nargs=-1, metavar="[CLAIM|PAPER|FILE.py]...")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    help="Write verdicts as JSON ('-': to the terminal).",
)
@click.option("--html", "html_file", type=click.Path(path_type=Path), help="Write a self-contained report.")
@click.option(
    "--counterexamples",
    type=click.Path(path_type=Path),
    help="Folder for counterexample files [default: beside the JSON or HTML file].",
)
@click.option("--expect", type=click.Path(path_type=Path), help="Compare with stored verdicts; exit 1 on a difference.")
@fresh_option
@budget_option
@workers_option
@scheduler_option
@data_option
@seed_option
@experiment_options
def check(
    targets: tuple[str, ...],
    json_file: Path | None,
    html_file: Path | None,
    counterexamples: Path | None,
    expect: Path | None,
    fresh: bool,
    budget: Any,
    workers: int,
    scheduler: str | None,
    data: Path | None,
    seed: int,
    **experiments: Any,
) -> None:
    """Run checks and print the table of verdicts; all papers when nothing is named.

    Exit status: 0 when every check ran, whatever the verdicts; 1 when one could not be run (or, with --expect, when a
    verdict differs); 2 for bad arguments.
    """
    from fedtheory import report
    from fedtheory.checking import check_journal, run_checks, select

    stored = report.read_json(expect) if expect else None
    references = select(targets)
    context = experiment_context(budget, seed, data, fresh, experiments)
    journal = check_journal(references, context)
    open_journal(journal, fresh, len(references), "claims")
    make_shared(references, context, workers, scheduler)
    done = {}
    interrupted = False
    try:
        with Progress("checking", len(references)) as advance:
            for verdict in run_checks(references, context, workers, scheduler=scheduler, journal=journal):
                done[verdict.id] = verdict
                advance(verdict.id)
    except KeyboardInterrupt:
        interrupted = True
    verdicts = [done[r.id] for r in references if r.id in done]
    _write(verdicts, json_file, html_file, counterexamples)
    if not interrupted:  # only now: what could not be written is not lost
        journal.close()
    if str(json_file) != "-":
        terminal = console()
        terminal.print(report.table(verdicts))
        terminal.print(report.summary(verdicts) or "nothing was checked")
    if interrupted:
        leave_interrupted(len(verdicts), len(references), "claims")
    failed = any(not v.ran for v in verdicts)
    if stored is not None:
        changed = report.differences(verdicts, stored)
        for line in changed:
            click.echo(f"changed: {line}", err=True)
        failed = failed or bool(changed)
    sys.exit(EXIT_FAILED if failed else 0)


def _write(
    verdicts: list[Verdict], json_file: Path | None, html_file: Path | None, counterexamples: Path | None
) -> None:
    from fedtheory import report

    if json_file is not None:
        text = report.as_json(verdicts)
        if str(json_file) == "-":
            click.echo(text, nl=False)
        else:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(text)
    if html_file is not None:
        html_file.parent.mkdir(parents=True, exist_ok=True)
        html_file.write_text(report.as_html(verdicts, "fedtheory: verdicts"))
    beside = next((f.parent for f in (json_file, html_file) if f is not None and str(f) != "-"), None)
    folder = counterexamples or (beside / "counterexamples" if beside is not None else None)
    if folder is not None:
        written = report.write_counterexamples(verdicts, folder)
        if written:
            click.echo(
                f"{len(written)} counterexamples in {folder}; 'fedtheory replay FILE' shows one again",
                err=True,
            )


@main.command("list")
@click.argument("what", type=click.Choice(["claims", "algorithms", "problems"]), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(what: str | None, as_json: bool) -> None:
    """List claims, algorithms and problems."""
    shown = {
        name: rows()
        for name, rows in (("claims", _claims), ("algorithms", _algorithms), ("problems", _problems))
        if what in (None, name)
    }
    if as_json:
        click.echo(json.dumps(shown, indent=1))
        return
    from rich.table import Table

    for name, rows in shown.items():
        if name == "algorithms":
            for table in _algorithm_tables(rows):
                console().print(table)
            continue
        view = Table(title=name, expand=True)
        for column in rows[0]:
            view.add_column(column, overflow="fold")
        for row in rows:
            view.add_row(*(str(v) for v in row.values()))
        console().print(view)


def _claims() -> list[dict[str, Any]]:
    from fedtheory.checking import load_claims, papers

    return [
        {"id": c.id, "paper": name, "kind": c.kind, "source": c.source, "statement": c.statement}
        for name, source in papers().items()
        for c in load_claims(source).values()
    ]


def _algorithms() -> list[dict[str, Any]]:
    from fedtheory.algorithms import ALGORITHMS
    from fedtheory.engines import ENGINES, why_not
    from fedtheory.settings import option_of

    rows = []
    for entry in ALGORITHMS:
        reasons = why_not(entry)
        rows.append(
            {
                "name": entry.name,
                "family": entry.family,
                "source": entry.source,
                "settings": list(entry.uses),
                "options": [f"--{option_of(name)}" for name in entry.uses],
                "partial_participation": entry.partial,
                "engines": [engine for engine in ENGINES if engine not in reasons],
                "not_run_by": reasons,
            }
        )
    return rows


def _algorithm_tables(rows: list[dict[str, Any]]) -> list[Any]:
    """One table a family, with a line below for what an engine cannot run."""
    from rich.table import Table

    tables = []
    for family in dict.fromkeys(row["family"] for row in rows):
        view = Table(title=f"algorithms: {family}", expand=True)
        for column in ("name", "source", "options", "partial participation", "engines"):
            view.add_column(column, overflow="fold")
        for row in (row for row in rows if row["family"] == family):
            grouped: dict[str, list[str]] = {}
            for engine, reason in row["not_run_by"].items():
                grouped.setdefault(reason, []).append(engine)
            refused = [f"not {', '.join(engines)}: {reason}" for reason, engines in grouped.items()]
            view.add_row(
                row["name"],
                row["source"],
                " ".join(row["options"]),
                "yes" if row["partial_participation"] else "no",
                "\n".join([", ".join(row["engines"]), *refused]),
            )
        tables.append(view)
    return tables


def _problems() -> list[dict[str, Any]]:
    from fedtheory.families import problem_families

    return [{"name": name, "description": family.description} for name, (family, _) in problem_families().items()]


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
def replay(file: Path) -> None:
    """Replay a stored counterexample: measure the violation again, and certify the assumptions on it."""
    from fedtheory.replay import replay_file

    stored, seen = replay_file(file)
    click.echo(f"{stored['claim']}: {stored.get('statement', '')}")
    for text, met in seen.assumptions:
        click.echo(f"  {'certified' if met else 'NOT MET'}: {text}")
    click.echo(f"  {seen.what}")
    click.echo(f"  measured {seen.measured:.12g} against the bound {seen.bound:.12g} (floating point)")
    click.echo(f"  measured {seen.exact_measured} against the bound {seen.exact_bound} ({seen.arithmetic})")
    click.echo("  VIOLATED" if seen.violated else "  not violated")
    sys.exit(0 if seen.violated else EXIT_FAILED)


@main.command()
@click.argument("targets", nargs=-1, metavar="[CLAIM|PAPER|FILE.py]...")
@fresh_option
@budget_option
@workers_option
@scheduler_option
@data_option
@seed_option
@experiment_options
@click.option("--verbose", "-v", is_flag=True, help="Show every fault, not only those that were missed.")
def selftest(
    targets: tuple[str, ...],
    fresh: bool,
    budget: Any,
    workers: int,
    scheduler: str | None,
    data: Path | None,
    seed: int,
    verbose: bool,
    **experiments: Any,
) -> None:
    """Run every planted fault: each check must reject what it was built to reject."""
    from fedtheory.checking import fault_journal, run_all_faults, select

    references = select(targets)
    context = experiment_context(budget, seed, data, fresh, experiments)
    journal = fault_journal(references, context)
    open_journal(journal, fresh, len(references), "claims")
    make_shared(references, context, workers, scheduler)
    done = []
    try:
        with Progress("planted faults", len(references)) as advance:
            for batch in run_all_faults(references, context, workers, scheduler=scheduler, journal=journal):
                done.append(batch)
                advance(batch[0].id)
    except KeyboardInterrupt:
        leave_interrupted(len(done), len(references), "claims")
    journal.close()
    reports = [report for batch in done for report in batch]
    for found in sorted(reports, key=lambda r: r.id):
        if verbose or not found.caught:
            click.echo(f"{'caught' if found.caught else 'MISSED'}  {found.id}: {found.fault} [{found.detail}]")
    caught = sum(r.caught for r in reports)
    click.echo(f"planted faults caught: {caught} / {len(reports)}")
    sys.exit(0 if caught == len(reports) else EXIT_FAILED)


_LABELS = {
    "stationarity": "||grad f(x)||^2",
    "value": "f(x)",
    "magnitude": "||x||^2",
    "consensus": "mean_i ||x_i - x||^2",
    "primal_dual_gap": "f(x) - D(lambda)",
    "mean_dual": "||mean_i lambda_i||^2",
    "personal_value": "mean_i f_i(personal_i)",
    "personal_stationarity": "mean_i ||grad f_i(personal_i)||^2",
    "test_accuracy": "share of test samples right",
    "average_value": "f(mean of the active clients' models)",
    "average_accuracy": "share of test samples that the mean of the active clients' models gets right",
    "personal_accuracy": "mean share of clients' own test samples right",
    "common_accuracy": "the same, by the server's model",
    "factored_size": "numbers of the server's model, by factors",
    "component_size": "mean nonzeros of p_i",
    "gap": "f(x) - f*",
    "distance": "||x - x*||^2",
}


def _configuration(algorithm: str, problem: str, options: dict[str, Any]) -> dict[str, Any]:
    """What decides the numbers of a run: everything but where they are written, and where data lies."""
    elsewhere = {"results", "checkpoint", "picture", "json_file", "show_split", "data"}
    kept = {name: value for name, value in options.items() if name not in elsewhere}
    return {"algorithm": algorithm, "problem": problem} | kept


@main.command()
@click.argument("algorithm")
@click.argument("problem")
@click.option("--rounds", type=click.IntRange(min=1), default=100, show_default=True)
@problem_options
@click.option("--instance", type=click.IntRange(min=0), help="Seed of the problem's data [default: --seed].")
@click.option("--participants", type=int, help="Clients drawn a round [default: all].")
@click.option("--available", type=int, help="Clients that ever take part, the first so many [default: all].")
@start_option
@click.option(
    "--show-split",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=Path(),
    help="Draw how real data is split, too [file: split-PROBLEM.png].",
)
@click.option(
    "--metric",
    default="stationarity",
    show_default=True,
    help=f"What to measure, with commas between, of {', '.join(METRICS)}, where the method and the problem have it; the first is drawn.",
)
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Measure every so many rounds.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Folder for a long run: configuration, checkpoint, metrics by round as CSV, pictures; the same command goes on from there.",
)
@click.option("--checkpoint", type=click.Path(path_type=Path), help="File to stop and go on with.")
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="Where to draw the curve [default: ALGORITHM-PROBLEM.png].",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    help="Write the trace as JSON ('-': to the terminal).",
)
@algorithm_options
@data_option
@seed_option
def run(algorithm: str, problem: str, **options: Any) -> None:
    """Run one ALGORITHM on one PROBLEM ('fedtheory list' names them) and draw the curve."""
    import numpy as np

    from fedtheory.errors import InvalidInput
    from fedtheory.families import build_and_draw, build_problem, first_model
    from fedtheory.metrics import named
    from fedtheory.participation import who_takes_part
    from fedtheory.plotting import save
    from fedtheory.results import SHARES, Results
    from fedtheory.runner import run as run_rounds
    from fedtheory.runner import start_point

    data_seed = options["seed"] if options["instance"] is None else options["instance"]
    asked = {o.name: options[f"of_{o.name}"] for o in PROBLEM_OPTIONS} | {
        "seed": data_seed,
        "data": data_folder(options["data"]),
    }
    if options["show_split"] is None:
        instance = build_problem(problem, **asked)
    else:
        shown_in = options["show_split"] if options["show_split"].name else Path(f"split-{problem}.png")
        instance = build_and_draw(problem, shown_in, **asked)
        click.echo(f"picture of the split: {shown_in}", err=True)
    method = build_algorithm(algorithm, options, instance)
    x0 = first_model(instance, options["start"], data_seed)
    begun = method.init(instance, start_point(instance, x0))
    metrics = {name.strip(): named(name.strip(), instance, begun) for name in options["metric"].split(",")}
    metric = next(iter(metrics))
    results = (
        None if options["results"] is None else Results(options["results"], _configuration(algorithm, problem, options))
    )
    if results is not None and options["checkpoint"] is not None:
        raise InvalidInput("a folder of --results has a checkpoint of its own; leave out --checkpoint")
    trace = run_rounds(
        method,
        instance,
        x0,
        options["rounds"],
        participation=who_takes_part(options["participants"], options["available"]),
        seed=options["seed"],
        metrics=metrics,
        every=options["every"],
        checkpoint=options["checkpoint"] if results is None else results.checkpoint,
        watch=None if results is None else results.table,
    )
    curve, label = trace[metric], _LABELS.get(metric, metric)
    shown = {
        "title": f"{algorithm} on {instance.name}",
        "xlabel": "communication rounds",
        "ylabel": label,
        "series": [{"label": algorithm, "x": trace.rounds.tolist(), "y": curve.tolist()}],
        "logy": metric not in SHARES,
    }
    if results is not None:
        results.table(trace)
        results.pictures(trace, f"{algorithm} on {instance.name}")
    if options["json_file"] is not None:
        document = json.dumps(
            trace.info
            | {
                "rounds": trace.rounds.tolist(),
                "metric": metric,
                **{
                    name: [float(v) if np.isfinite(v) else None for v in values]
                    for name, values in trace.metrics.items()
                },
                "floats_up": trace.floats_up.tolist(),
                "floats_down": trace.floats_down.tolist(),
                "diverged_at": int(trace.diverged_at),
            }
        )
        if str(options["json_file"]) == "-":
            click.echo(document)
            return
        options["json_file"].parent.mkdir(parents=True, exist_ok=True)
        options["json_file"].write_text(document + "\n")
    picture = options["picture"]
    if picture is None and results is None:
        picture = Path(f"{algorithm}-{problem}.png")
    if picture is not None:
        picture.parent.mkdir(parents=True, exist_ok=True)
        save(shown, picture)
    wrote = f"results: {results.folder}" if results is not None and picture is None else f"picture: {picture}"
    click.echo(f"{method!r} on {instance.name} (n={instance.n}, d={instance.d})")
    if trace.diverged_at >= 0:
        click.echo(f"diverged in round {int(trace.diverged_at)}")
    click.echo(f"{label}: {curve[0]:.6g} at the start, {curve[-1]:.6g} after {trace.rounds[-1]} rounds")
    click.echo(f"floats sent: {trace.floats_up[-1]:.0f} up, {trace.floats_down[-1]:.0f} down; {wrote}")
