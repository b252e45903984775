"""The command ``sweep``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from fedtheory.command_line.completing import complete_methods, complete_problems
from fedtheory.command_line.later import add_later
from fedtheory.command_line.method_options import PREFIX, MethodCommand
from fedtheory.command_line.options import (
    EXIT_FAILED,
    OutputFile,
    add_metric_option,
    add_place_options,
    data_option,
    find_data_folder,
    fresh_option,
    interrupt_option,
    leave_interrupted,
    list_problem_options,
    open_journal,
    require_one_on_terminal,
    say_what_is_kept,
    scheduler_option,
    start_option,
    weights_option,
    workers_option,
    write_output,
)
from fedtheory.tools.devices import choose_place
from fedtheory.tools.terminal import make_console, print_table, show_progress
from fedtheory.tools.value_lists import EVERYTHING, parse_values

if TYPE_CHECKING:
    from fedtheory.algorithms.options import Option
    from fedtheory.running.sweep import RunRow, Sweep


def _list_of(name: str, kind: Any, default: Any, text: str | None) -> dict[str, Any]:
    """Return what makes an option one that takes a list of values."""

    def read(context: click.Context, parameter: click.Parameter, given: str | None) -> Any:
        return None if given is None else parse_values(name, given, kind, everything=default is None)

    shown = EVERYTHING if default is None else default
    help_text = f"{text or ''} [default: {shown}]".strip() if "[default" not in (text or "") else text
    return {"metavar": "VALUES", "callback": read, "help": help_text}


def _values(name: str, target: str, *described: Any) -> Callable[[Any], Any]:
    return click.option(name, target, **_list_of(name, *described))


class GridCommand(MethodCommand):
    """A `MethodCommand` whose options take lists of values."""

    @staticmethod
    def make_option(option: Option) -> click.Option:
        """Return a method's option with a list of values."""
        name = f"{PREFIX}{option.key}"
        if option.kind is bool:
            return click.Option([option.flag, name], is_flag=True, help=option.help)
        described = _list_of(option.flag, option.choices or option.kind, option.default, option.help)
        return click.Option([option.flag, name], **described)


def _problem_lists(words: Sequence[str]) -> list[click.Option]:
    return [
        click.Option(
            [one.spelled, f"of_{one.name}"],
            hidden=not shown,
            **_list_of(one.spelled, one.kind, one.default, one.help),
        )
        for one, shown in list_problem_options(words)
    ]


@click.command(cls=GridCommand)
@click.argument("methods", shell_complete=complete_methods)
@click.argument("problems", shell_complete=complete_problems)
@click.option("--rounds", type=click.IntRange(min=1), default=100, show_default=True)
@add_later(_problem_lists)
@weights_option
@_values("--participants", "participants", int, None, "Clients drawn a round.")
@_values("--seed", "seeds", int, 0, "Seeds of the runs: samples, clients drawn, coins.")
@_values("--instance", "instances", int, 0, "Seeds of the problems' data.")
@start_option
@add_place_options
@add_metric_option("what settings are ranked by")
@click.option(
    "--every", type=click.IntRange(min=1), metavar="ROUNDS", help="Write the metrics by round, every so many."
)
@click.option("--json", "json_file", type=OutputFile(), help="Write JSON lines, a run each ('-': to the terminal).")
@click.option("--csv", "csv_file", type=OutputFile(), help="Write a table, a run (with --every: a round) a line.")
@click.option("--picture", type=OutputFile(terminal=False), help="Draw the metric at the end against what was swept.")
@fresh_option
@workers_option
@scheduler_option
@data_option
@interrupt_option
def sweep_command(methods: str, problems: str, **options: Any) -> None:
    """Run METHODS on PROBLEMS (lists with commas) for every combination of the VALUES given.

    VALUES are lists and ranges: 0.1,0.5 are two values; 0:4 are the whole numbers 0 to 4; 0.1:0.5:5 are five numbers in even
    steps; 1e-3:1:10log are ten in even ratios; ends are included. 'all' stands for all clients (--participants) or full
    gradients (--batch). A method takes the hyper-parameters it uses. Every line of the result can be run again alone by
    'fedtheory run' with the parameters it names.

    Exit status: 0 when everything ran, diverged or not; 1 when a run could not be run; 2 for bad arguments.
    """
    from fedtheory.running.sweep import run_sweep
    from fedtheory.running.sweep_report import tabulate_sweep
    from fedtheory.tools.pictures import require_picture_name

    require_one_on_terminal(json=options["json_file"], csv=options["csv_file"])
    if options["picture"] is not None:
        require_picture_name(options["picture"])
    workers = _choose_workers(options)
    grid = _make_grid(methods, problems, options)
    batches = grid.batches()
    journal = grid.journal()
    open_journal(journal, options["fresh"], len(batches), "jobs")
    rows: list[RunRow] = []
    done, interrupted = 0, False
    try:
        with show_progress("sweeping", len(batches), lines=True) as advance:
            for found in run_sweep(grid, workers=workers, scheduler=options["scheduler"], journal=journal):
                rows.extend(found)
                done += 1
                advance(f"run {found[0]['run']}")
    except KeyboardInterrupt:
        interrupted = True
    rows.sort(key=lambda row: row["run"])
    with say_what_is_kept("runs"):
        _write(grid, rows, options)
    if not interrupted:  # only now: what could not be written is not lost
        journal.close()
    if rows and "-" not in (str(options["json_file"]), str(options["csv_file"])):
        print_table(make_console(), tabulate_sweep(grid, rows, grid.metrics[0]))
    failed = _tell_failed(rows)
    if interrupted:
        leave_interrupted(f"{done} of {len(batches)} jobs")
    sys.exit(EXIT_FAILED if failed else 0)


def _choose_workers(options: Mapping[str, Any]) -> int:
    """Return the number that is asked for, or one where the runs would share a GPU, each with a context of its own.

    What is missing on this machine is told here, before anything is run; a scheduler's machines have devices of their own.
    """
    workers: int = options["workers"]
    by_default = click.get_current_context().get_parameter_source("workers") is ParameterSource.DEFAULT
    shared = options["scheduler"] is None and choose_place(options["device"], options["library"]).is_gpu
    return 1 if shared and by_default else workers


def _make_grid(methods: str, problems: str, options: Mapping[str, Any]) -> Sweep:
    from fedtheory.running.sweep import Sweep

    chosen = {name: options[name] for name in ("participants", "seeds", "instances") if options[name] is not None}
    return Sweep(
        tuple(dict.fromkeys(methods.lower().split(","))),
        tuple(dict.fromkeys(problems.split(","))),
        _values_of("set_", options),
        _values_of("of_", options),
        rounds=options["rounds"],
        start=options["start"],
        every=options["every"],
        data=find_data_folder(options["data"]),
        metrics=options["metric"],
        device=options["device"],
        library=options["library"],
        weights=options["weights"],
        **chosen,
    )


def _values_of(kind: str, options: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The values of the options whose names begin with this, by the rest of their names."""
    given = {name: value for name, value in options.items() if name.startswith(kind) and value not in (None, False)}
    return {name.removeprefix(kind): value if isinstance(value, tuple) else (value,) for name, value in given.items()}


def _tell_failed(rows: Sequence[RunRow]) -> list[RunRow]:
    """Print each error once, with how many runs had it; the runs that could not be run."""
    failed = [row for row in rows if row["error"] is not None]
    for error in dict.fromkeys(row["error"] for row in failed):
        alike = [row["run"] for row in failed if row["error"] == error]
        click.echo(f"not run: {len(alike)} runs, the first is run {alike[0]}: {error}", err=True)
    return failed


def _write(grid: Sweep, rows: Sequence[RunRow], options: Mapping[str, Any]) -> None:
    from fedtheory.running.sweep_report import as_csv, as_json_lines, describe_sweep_picture
    from fedtheory.tools.pictures import save_picture

    for file, write in ((options["json_file"], as_json_lines), (options["csv_file"], as_csv)):
        if file is not None:
            write_output(write(rows), file)
    if options["picture"] is not None and rows:
        shown = describe_sweep_picture(grid, rows, grid.metrics[0])
        save_picture(shown, options["picture"])
