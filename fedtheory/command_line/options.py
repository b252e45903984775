"""What the commands share: options, progress, the console."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fedtheory.command_line.completing import complete_metrics
from fedtheory.command_line.later import add_later
from fedtheory.tools.devices import AUTOMATIC, LIBRARIES, choose_place
from fedtheory.tools.untrusted import show_path

if TYPE_CHECKING:
    from fedtheory.claims.context import Context
    from fedtheory.claims.references import Reference
    from fedtheory.running.families import ProblemOption
    from fedtheory.tools.journal import Journal

EXIT_FAILED = 1  # a check or a run could not be run, a fault was missed, a verdict differs
EXIT_MISTAKEN = 2  # a bad argument, or a mistake in a claim
EXIT_INTERRUPTED = 130


def find_data_folder(folder: Path | None) -> str | None:
    """Return the folder of data sets: the one given, else ``FEDTHEORY_DATA``.

    Raises
    ------
    InvalidInput
        The folder given does not exist.
    """
    if folder is not None and not folder.is_dir():
        from fedtheory.core.errors import InvalidInput

        raise InvalidInput(f"the data folder {folder} does not exist or is not a folder")
    return str(folder.resolve()) if folder is not None else os.environ.get("FEDTHEORY_DATA") or None


class OutputFile(click.Path):
    """A file to be written, or ``-`` unless ``terminal`` is false: where it cannot be, that is told before anything is computed."""

    def __init__(self, *, terminal: bool = True) -> None:
        super().__init__(dir_okay=False, writable=True, allow_dash=terminal, path_type=Path)
        self.terminal = terminal

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.name:
            self.fail(f"{str(value)!r} names no file", param, ctx)
        if str(path) == "-" and not self.terminal:
            self.fail("this is not written to the terminal; name a file", param, ctx)
        if str(path) != "-":
            folder = next(parent for parent in path.absolute().parents if parent.exists())
            if not folder.is_dir():
                self.fail(f"{path} cannot be written: {folder} is a file, and no folder", param, ctx)
            if not os.access(folder, os.W_OK):
                self.fail(f"{path} cannot be written: the folder {folder} is read-only", param, ctx)
        return path


class FiniteNumber(click.FloatRange):
    """A number of a range that is neither infinite nor nan."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


def write_output(text: str, file: Path) -> None:
    """Write a text into a file, whose folder is made, or to the terminal where the file is ``-``."""
    if is_terminal(file):
        click.echo(text, nl=False)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def is_terminal(file: Path | None) -> bool:
    """Whether an output goes to the terminal, which then has nothing else."""
    return str(file) == "-"


def require_one_on_terminal(**files: Path | None) -> None:
    """Refuse two outputs on the terminal: neither could be read there; ``files`` by the option's name.

    Raises
    ------
    InvalidInput
        Two or more are ``-``.
    """
    shown = [f"--{name}" for name, file in files.items() if is_terminal(file)]
    if len(shown) > 1:
        from fedtheory.core.errors import InvalidInput

        raise InvalidInput(f"{' and '.join(shown)} cannot both be written to the terminal; name a file for one of them")


def write_answer(answer: Mapping[str, Any], file: Path | None) -> bool:
    """Write an answer as JSON where a file is named; return whether it went to the terminal."""
    if file is not None:
        write_output(json.dumps(answer, indent=1, allow_nan=False, default=str) + "\n", file)
    return is_terminal(file)


workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default=True,
    help="Number of worker processes.",
)
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    envvar="FEDTHEORY_SCHEDULER",
    help="Run on a dask scheduler such as tcp://host:8786 instead [default: FEDTHEORY_SCHEDULER, else local processes].",
)
fresh_option = click.option("--fresh", is_flag=True, help="Start afresh instead of resuming an interrupted run.")
budget_option = click.option(
    "--budget",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="How many instances and rounds the checks take.",
)
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
time_limit_option = click.option(
    "--time-limit",
    type=FiniteNumber(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop a claim that takes longer, on local processes; it counts as not run [default: none].",
)
solver_limit_option = click.option(
    "--time-limit",
    type=FiniteNumber(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up a semidefinite program after this time.",
)


def _interrupt_later(context: click.Context, parameter: click.Parameter, seconds: float | None) -> None:
    """Interrupt the command after this time, until its context is left."""
    from fedtheory.tools.limits import interrupt_after

    if seconds is not None and not context.resilient_parsing:
        context.with_resource(interrupt_after(seconds))


interrupt_option = click.option(
    "--time-limit",
    type=FiniteNumber(min=0, min_open=True),
    metavar="SECONDS",
    expose_value=False,
    callback=_interrupt_later,
    help="Interrupt the command after this time, as Ctrl-C does [default: none].",
)
answer_option = click.option(
    "--json", "json_file", type=OutputFile(), help="Write the answer as JSON ('-': to the terminal)."
)
proofs_option = click.option(
    "--certificate",
    type=OutputFile(terminal=False),
    help="Write exact proofs: the decrease to FILE, V >= ||x - x*||^2 beside it.",
)
smoothness_option = click.option(
    "--L", "big_l", type=float, default=1.0, show_default=True, help="Smoothness constant."
)


def convexity_option(more: str = "", default: float = 0.1) -> Callable[[Any], Any]:
    """Add ``--mu``; ``more`` says what its value 0 is."""
    return click.option(
        "--mu", type=float, default=default, show_default=True, help=f"Strong convexity constant{more}."
    )


def stated_option(more: str) -> Callable[[Any], Any]:
    """Add ``--stated FIELD WEIGHT``, which may be repeated; ``more`` says what is done with that potential."""
    return click.option(
        "--stated",
        type=(str, FiniteNumber()),
        multiple=True,
        metavar="FIELD WEIGHT",
        help=f"A term WEIGHT * mean_i||FIELD - its fixed point||^2 of a stated potential, {more}; repeat.",
    )


weights_option = click.option(
    "--weights",
    metavar="P1,...,PN|data",
    help="Weights p_i of the clients, with the sum 1: f is sum_i p_i f_i, and every average is by them; 'data': their shares of the samples "
    "[default: all alike].",
)
start_option = click.option(
    "--start", type=float, help="Every coordinate of the starting point [default: 1; a network's own random weights]."
)
device_option = click.option(
    "--device",
    default="cpu",
    show_default=True,
    metavar="DEVICE",
    help="Where arrays live and networks are trained: cpu, cuda, cuda:1, ... ('fedtheory devices' shows what is there).",
)
library_option = click.option(
    "--library",
    type=click.Choice(LIBRARIES),
    default=AUTOMATIC,
    show_default=True,
    help="Of arrays: auto is NumPy on the CPU, and on a GPU CuPy, or PyTorch where CuPy cannot use it; networks are PyTorch's.",
)
_EXPERIMENT_OPTIONS = (
    click.option(
        "--size",
        type=click.Choice(["laptop", "small", "paper"]),
        default="laptop",
        show_default=True,
        help="Size of experiments: minutes on a laptop, an hour, or as in the paper.",
    ),
    device_option,
    library_option,
    click.option(
        "--results",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder in which the runs of experiments are kept, and resumed [default: one in .fedtheory; those kept with a paper are read].",
    ),
    click.option(
        "--seeds",
        type=click.IntRange(min=1),
        metavar="N",
        help="Seeds of each experiment; those whose runs are kept are among them [default: as its protocol fixes].",
    ),
)


def add_experiment_options(function: Any) -> Any:
    """Add the options that checks of experiments read."""
    for option in reversed(_EXPERIMENT_OPTIONS):
        function = option(function)
    return function


def make_experiment_context(
    budget: Any,
    seed: int,
    data: Path | None,
    asked: dict[str, Any],
    *,
    remote: bool,
    forgotten: Sequence[Reference] = (),
) -> Context:
    """Return what checks may use; of ``forgotten`` claims it removes the runs that were kept without a folder being named, and makes all anew.

    A device is looked for here, before anything is run, unless ``remote`` machines are to do the work.
    """
    from fedtheory.claims.context import Context
    from fedtheory.claims.needs import find_kept_runs, find_store, forget_older_runs, forget_runs

    results = asked["results"]
    kept: tuple[str, ...] = ()
    if results is None:
        results = find_store()
        forget_older_runs(results)
        kept = () if forgotten else find_kept_runs(asked["size"])
    if not remote:
        choose_place(asked["device"], asked["library"])
    context = Context(
        *(budget, seed, find_data_folder(data), asked["size"], asked["device"], str(results.resolve())),
        kept=kept,
        experiment_seeds=asked["seeds"],
        library=asked["library"],
    )
    if asked["results"] is None:
        forget_runs(forgotten, context)
    return context


data_option = click.option(
    "--data", type=click.Path(path_type=Path), help="Folder with data sets [default: FEDTHEORY_DATA]."
)


def add_place_options(function: Any) -> Any:
    """Add ``--device`` and ``--library``."""
    return device_option(library_option(function))


def add_problem_options(function: Any) -> Any:
    """Add an option for everything a family of problems may be asked for, under the name ``of_<field>``.

    Where the words on the command line name families, the help text shows the options that these read.
    """
    return add_later(lambda words: [_option(option, shown) for option, shown in list_problem_options(words)])(function)


def list_problem_options(words: Sequence[str]) -> list[tuple[ProblemOption, bool]]:
    """Return the options of the families that the words name, lists with commas among them, and whether one of these reads it; without any, all."""
    from fedtheory.running.families import list_family_options, load_families

    families = load_families()
    named = [name for word in words for name in word.split(",") if name in families]
    return [
        (option, not named or any(name in option.readers for name in named)) for option in list_family_options(named)
    ]


def _option(option: ProblemOption, shown: bool) -> click.Option:
    return click.Option(
        [option.spelled, f"of_{option.name}"],
        type=click.Choice(option.kind) if isinstance(option.kind, tuple) else option.kind,
        default=option.default,
        show_default=True if option.default is not None else "as many as there are",
        help=option.help,
        hidden=not shown,
    )


def add_metric_option(first: str) -> Callable[[Any], Any]:
    """Add ``--metric``, names with commas between, as a tuple of names; ``first`` says what the first one is for."""

    def make(words: Sequence[str]) -> list[click.Option]:
        from fedtheory.measures.catalogue import METRICS, RANK_OF

        text = (
            f"What to measure, with commas between, of {', '.join(METRICS)}, and '{RANK_OF}LAYER', where the method and the problem "
            f"have it ('fedtheory list metrics' says what each is and needs); the first is {first}."
        )
        return [
            click.Option(
                ["--metric"],
                default="stationarity",
                show_default=True,
                metavar="NAMES",
                help=text,
                callback=_names,
                shell_complete=complete_metrics,
            )
        ]

    return add_later(make)


def _names(context: click.Context, parameter: click.Parameter, given: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in given.split(",")))


def open_journal(journal: Journal, fresh: bool, total: int, what: str) -> None:
    """Say how much of an interrupted run is done, or forget it."""
    if fresh:
        journal.close()
    done = len(journal.read())
    if journal.changed:
        more = f" and {len(journal.changed) - 5} more" if len(journal.changed) > 5 else ""
        named = ", ".join(map(show_path, journal.changed[:5])) + more
        click.echo(
            f"{journal.path} was changed after it was written, or written by somebody else, and is not believed: {named}",
            err=True,
        )
    if done:
        click.echo(f"resuming an interrupted run: {done} of {total} {what} are done", err=True)


@contextlib.contextmanager
def say_what_is_kept(what: str, then: str = "writes them at once") -> Iterator[None]:
    """Add to the error of a file that cannot be written that what was computed is not lost."""
    try:
        yield
    except OSError as error:
        error.add_note(f"the {what} are kept: the same command with another file {then}")
        raise


def leave_interrupted(how_far: str) -> NoReturn:
    """Say how far an interrupted run came and how it goes on, and leave."""
    click.echo(f"interrupted after {how_far}; the same command goes on from there", err=True)
    sys.exit(EXIT_INTERRUPTED)
