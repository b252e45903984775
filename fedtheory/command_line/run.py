"""The command that runs one method on one problem."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fedtheory.command_line.completing import complete_methods, complete_problems
from fedtheory.command_line.method_options import MethodCommand, build_algorithm
from fedtheory.command_line.options import (
    EXIT_INTERRUPTED,
    OutputFile,
    add_metric_option,
    add_place_options,
    add_problem_options,
    data_option,
    find_data_folder,
    interrupt_option,
    is_terminal,
    require_one_on_terminal,
    seed_option,
    start_option,
    weights_option,
    write_output,
)
from fedtheory.tools.devices import AUTOMATIC, Placement

if TYPE_CHECKING:
    from fedtheory.algorithms.base import Algorithm
    from fedtheory.measures.metrics import Metric
    from fedtheory.running.record import Trace
    from fedtheory.running.results import Results

#: options that folders from before them do not name, and their defaults
_LATER = {"weights": None, "drawn": "uniform"}


def _configuration(algorithm: str, problem: str, options: dict[str, Any]) -> dict[str, Any]:
    """What decides the numbers of a run: everything but where they are written, and where data lies."""
    elsewhere = {"results", "checkpoint", "picture", "json_file", "csv_file", "show_split", "data"}
    kept = {name: value for name, value in options.items() if name not in elsewhere}
    kept = {name: value for name, value in kept.items() if name not in _LATER or value != _LATER[name]}
    kept["of_device"] = kept.pop("device")  # its name in folders that were written before it was the command's own
    if kept["library"] == AUTOMATIC:
        del kept["library"]
    return {"algorithm": algorithm, "problem": problem} | kept


def _what_is_kept(checkpoint: Path | None, rounds: int) -> str:
    """Say from where an interrupted run goes on."""
    from fedtheory.running.record import count_kept_rounds

    if checkpoint is None:
        return "nothing is kept of a run without --results DIR"
    if not checkpoint.exists():
        return "nothing was kept yet (a checkpoint is written every half minute): the same command begins anew"
    return f"the same command goes on after round {count_kept_rounds(checkpoint)} of {rounds}, the last that was kept"


@click.command(cls=MethodCommand)
@click.argument("algorithm", shell_complete=complete_methods)
@click.argument("problem", shell_complete=complete_problems)
@click.option("--rounds", type=click.IntRange(min=1), default=100, show_default=True)
@add_problem_options
@add_place_options
@click.option("--instance", type=click.IntRange(min=0), help="Seed of the problem's data [default: --seed].")
@weights_option
@click.option("--participants", type=int, help="Clients drawn a round [default: all].")
@click.option(
    "--drawn",
    type=click.Choice(["uniform", "by-weight"]),
    default="uniform",
    show_default=True,
    help="How participants are: uniformly, and averaged by the weights of those drawn; or by weight, with replacement, and averaged equally.",
)
@click.option("--available", type=int, help="Number of clients that ever take part, the first ones [default: all].")
@start_option
@click.option(
    "--show-split",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=Path(),
    help="Draw how real data is split, too [file: split-PROBLEM.png].",
)
@add_metric_option("drawn")
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Measure every so many rounds.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Folder for a long run: configuration, checkpoint, metrics by round as CSV, pictures; the same command resumes it.",
)
@click.option("--checkpoint", type=click.Path(path_type=Path), help="File from which an interrupted run resumes.")
@click.option(
    "--picture",
    type=OutputFile(terminal=False),
    help="Where to draw the curve [default: ALGORITHM-PROBLEM.png, where matplotlib is installed].",
)
@click.option(
    "--json",
    "json_file",
    type=OutputFile(),
    help="Write the trace as JSON ('-': to the terminal).",
)
@click.option(
    "--csv",
    "csv_file",
    type=OutputFile(),
    help="Write the trace as CSV, a measured round a line ('-': to the terminal).",
)
@click.option(
    "--tensorboard",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write event files of TensorBoard to this folder (extra tensorboard).",
)
@data_option
@seed_option
@interrupt_option
def run_command(algorithm: str, problem: str, **options: Any) -> None:
    """Run one ALGORITHM on one PROBLEM ('fedtheory list' names them): print numbers, and draw the curve."""
    from fedtheory.core.errors import InvalidInput
    from fedtheory.running.results import Results
    from fedtheory.tools.pictures import can_draw, save_picture

    _require_outputs(options)
    asked = _prepare(algorithm, problem, options)
    title = f"{algorithm} on {asked.problem.name}"
    results = (
        None if options["results"] is None else Results(options["results"], _configuration(algorithm, problem, options))
    )
    if results is not None and options["checkpoint"] is not None:
        raise InvalidInput("a folder of --results has a checkpoint of its own; leave out --checkpoint")
    trace = _follow(asked, results, options)
    if results is not None:
        results.table(trace)
        if can_draw():
            results.pictures(trace, title)
    _write_trace(trace, options)
    curve = _describe_curve(trace, options["metric"][0], algorithm, title)
    if options["picture"] is not None:
        save_picture(curve, options["picture"])
    if is_terminal(options["json_file"]) or is_terminal(options["csv_file"]):
        return
    if options["picture"] is not None:
        wrote = [f"picture: {options['picture']}"]
    elif results is not None:
        wrote = [f"results: {results.folder}"]
    else:
        wrote = _draw_unasked(curve, Path(f"{algorithm}-{problem}.png"))
    wrote += [] if can_draw() else ["no picture, for matplotlib is not installed (pip install 'fedtheory[plot]')"]
    _tell(asked, trace, curve, wrote)


class _Asked(NamedTuple):
    """What is run: a method, a problem, a start, what is measured, and where arrays live."""

    method: Algorithm
    problem: Any
    start: Any
    metrics: Mapping[str, Metric]
    place: Placement


def _require_outputs(options: Mapping[str, Any]) -> None:
    """Refuse what could not be written, before anything is run."""
    from fedtheory.core.errors import require
    from fedtheory.tools.pictures import require_picture_name

    require_one_on_terminal(json=options["json_file"], csv=options["csv_file"])
    if options["picture"] is not None:
        require_picture_name(options["picture"])
    if options["tensorboard"] is not None:
        require("tensorboard", "event files")


def _prepare(algorithm: str, problem: str, options: Mapping[str, Any]) -> _Asked:
    """Build the problem and the method, and draw the split where that is asked for."""
    from fedtheory.measures.catalogue import choose_metrics
    from fedtheory.running.families import build_and_draw, build_at, build_problem, make_first_model
    from fedtheory.running.room import require_room_for_clients
    from fedtheory.running.runner import shape_start

    data_seed = options["seed"] if options["instance"] is None else options["instance"]
    given = {name.removeprefix("of_"): value for name, value in options.items() if name.startswith("of_")} | {
        "seed": data_seed,
        "data": find_data_folder(options["data"]),
        "weights": options["weights"],
    }
    require_room_for_clients(problem, **given)
    build, shown_in = build_problem, options["show_split"]
    if shown_in is not None:
        shown_in = shown_in if shown_in.name else Path(f"split-{problem}.png")
        build = partial(build_and_draw, path=shown_in)
    instance, on_host, place = build_at(problem, options["device"], options["library"], build, **given)
    if shown_in is not None:
        click.echo(f"picture of the split: {shown_in}", err=True)
    method = build_algorithm(algorithm, options, on_host)
    x0 = make_first_model(instance, options["start"], data_seed, place)
    method, metrics = choose_metrics(options["metric"], method, instance, shape_start(instance, x0), on_host)
    return _Asked(method, instance, x0, metrics, place)


def _follow(asked: _Asked, results: Results | None, options: Mapping[str, Any]) -> Trace:
    """Run the rounds; leave the program where somebody interrupts it."""
    from fedtheory.core.participation import choose_participation
    from fedtheory.running.runner import run

    checkpoint = options["checkpoint"] if results is None else results.checkpoint
    try:
        return run(
            asked.method,
            asked.problem,
            asked.start,
            options["rounds"],
            participation=choose_participation(
                options["participants"], options["available"], by_weight=options["drawn"] == "by-weight"
            ),
            seed=options["seed"],
            metrics=asked.metrics,
            every=options["every"],
            checkpoint=checkpoint,
            watch=None if results is None else results.table,
        )
    except KeyboardInterrupt:
        click.echo(f"interrupted; {_what_is_kept(checkpoint, options['rounds'])}", err=True)
        sys.exit(EXIT_INTERRUPTED)


def _write_trace(trace: Trace, options: Mapping[str, Any]) -> None:
    """Write the files and folders for other programs that are asked for."""
    from fedtheory.running.tables import as_trace_csv, as_trace_json, write_events

    if options["json_file"] is not None:
        write_output(as_trace_json(trace, options["metric"][0]) + "\n", options["json_file"])
    if options["csv_file"] is not None:
        write_output(as_trace_csv(trace), options["csv_file"])
    if options["tensorboard"] is not None:
        write_events(trace, options["tensorboard"])


def _describe_curve(trace: Trace, metric: str, algorithm: str, title: str) -> dict[str, Any]:
    from fedtheory.measures.catalogue import axis_of

    label, logy = axis_of(metric)
    return {
        "title": title,
        "xlabel": "communication rounds",
        "ylabel": label,
        "series": [{"label": algorithm, "x": trace.rounds.tolist(), "y": trace[metric].tolist()}],
        "logy": logy,
    }


def _draw_unasked(curve: Mapping[str, Any], file: Path) -> list[str]:
    """Draw a curve that nobody asked for, where that is possible: the numbers do not depend on it. What is said of it."""
    from fedtheory.tools.pictures import can_draw, save_picture

    if not can_draw():
        return []
    try:
        save_picture(curve, file)
    except OSError as error:
        return [f"no picture, for {file} cannot be written ({error.strerror})"]
    return [f"picture: {file}"]


def _tell(asked: _Asked, trace: Trace, curve: Mapping[str, Any], wrote: Sequence[str]) -> None:
    """Print what was run, the metric at both ends, what was sent, and what was written."""
    problem, values = asked.problem, curve["series"][0]["y"]
    where = "" if asked.place == Placement() else f", {asked.place}"
    click.echo(f"{asked.method!r} on {problem.name} (n={problem.n}, d={problem.d}){where}")
    if trace.diverged_at >= 0:
        click.echo(f"diverged in round {int(trace.diverged_at)}")
    click.echo(f"{curve['ylabel']}: {values[0]:.6g} at the start, {values[-1]:.6g} after {trace.rounds[-1]} rounds")
    click.echo(f"floats sent: {trace.floats_up[-1]:.0f} up, {trace.floats_down[-1]:.0f} down; {'; '.join(wrote)}")
