"""What the commands share: options, progress, the console."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fedtheory.algorithms.settings import Settings, option_of
from fedtheory.tools.terminal import show_progress

if TYPE_CHECKING:
    from fedtheory.algorithms.base import Listed
    from fedtheory.claims.checking import Reference
    from fedtheory.claims.claim import Context
    from fedtheory.tools.journal import Journal

EXIT_FAILED = 1  # a check or a run could not be run, a fault was missed, a verdict differs
EXIT_INTERRUPTED = 130


def data_folder(folder: Path | None) -> str | None:
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


workers_option = click.option(
    "--workers", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True, help="Processes."
)
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    envvar="FEDTHEORY_SCHEDULER",
    help="Run on a dask scheduler such as tcp://host:8786 instead [default: FEDTHEORY_SCHEDULER, else local processes].",
)
fresh_option = click.option("--fresh", is_flag=True, help="Do not go on with an interrupted run.")
budget_option = click.option(
    "--budget",
    type=click.Choice(["quick", "full"]),
    default="quick",
    show_default=True,
    help="How much to spend.",
)
seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
start_option = click.option(
    "--start", type=float, help="Every coordinate of the starting point [default: 1; a network's own random weights]."
)
_EXPERIMENT_OPTIONS = (
    click.option(
        "--size",
        type=click.Choice(["laptop", "small", "paper"]),
        default="laptop",
        show_default=True,
        help="Of experiments: minutes on a laptop, an hour, or as in the paper.",
    ),
    click.option(
        "--device", default="cpu", show_default=True, help="Where experiments compute networks (cpu, cuda, cuda:1)."
    ),
    click.option(
        "--results",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder in which experiments keep their runs, one folder each, and go on with them [default: one in .fedtheory].",
    ),
)


def experiment_options(function: Any) -> Any:
    """Add the options that checks of experiments read."""
    for option in reversed(_EXPERIMENT_OPTIONS):
        function = option(function)
    return function


def experiment_context(budget: Any, seed: int, data: Path | None, fresh: bool, asked: dict[str, Any]) -> Context:
    """Return what checks may use; ``fresh`` forgets the runs of experiments that were kept without a folder being named."""
    from fedtheory.claims.checking import default_store, forget_runs
    from fedtheory.claims.claim import Context

    results = asked["results"]
    if results is None:
        results = default_store()
        forget_runs(results, fresh)
    return Context(budget, seed, data_folder(data), asked["size"], asked["device"], str(results.resolve()))


data_option = click.option(
    "--data", type=click.Path(path_type=Path), help="Folder with data sets [default: FEDTHEORY_DATA]."
)


@dataclass(frozen=True)
class ProblemOption:
    """An option of families of problems: its name there, its type or its choices, its default, what it is."""

    name: str
    kind: type | tuple[str, ...]
    default: Any
    help: str | None = None

    @property
    def spelled(self) -> str:
        """How it is spelled on the command line."""
        return f"--{self.name.replace('_', '-')}"


#: the fields of a family's options that the command line offers; ``seed`` and ``data`` have options of their own
PROBLEM_OPTIONS = (
    ProblemOption("clients", int, 10),
    ProblemOption("dimension", int, 10),
    ProblemOption("L", float, 1.0, "Smoothness of synthetic quadratics."),
    ProblemOption("mu", float, 0.1, "Strong convexity of synthetic quadratics."),
    ProblemOption("heterogeneity", float, 1.0),
    ProblemOption("l2", float, 0.0),
    ProblemOption("beta", float, 0.0, "Weight of the non-convex penalty."),
    ProblemOption("lam", float, 0.1, "Weight of the nuclear norm of low-rank problems."),
    ProblemOption("nuclear", float, 0.0, "Weight of a nuclear norm of all layers that are matrices."),
    ProblemOption("hidden", int, 32, "Hidden units of a network."),
    ProblemOption("device", ("cpu", "cuda"), "cpu", "Where PyTorch computes networks."),
    ProblemOption(
        "precision", ("single", "double", "mixed"), "single", "Of PyTorch's networks; mixed has layers in bfloat16."
    ),
    ProblemOption("augment", ("none", "crop-flip"), "none", "Random crops and flips of a network's images."),
    ProblemOption(
        "test",
        ("none", "own"),
        "none",
        "Keep the testing part of real data and measure accuracy; networks of PyTorch always do.",
    ),
    ProblemOption("tests_a_client", int, 0, "Test samples of each client, with the class shares of its data."),
    ProblemOption(
        "split",
        ("sorted", "iid", "classes", "shards", "dirichlet", "dirichlet-labels", "group"),
        "sorted",
        "Of real data.",
    ),
    ProblemOption("classes_per_client", int, 2, "Of the split 'classes'."),
    ProblemOption("shards", int, 2, "Of the split 'shards': pieces of the sorted data that a client gets."),
    ProblemOption("samples_per_client", int, None, "Of the splits 'iid', 'classes', 'shards', 'dirichlet-labels'."),
    ProblemOption("concentration", float, 0.5, "Of the Dirichlet splits."),
    ProblemOption(
        "concentration_of", ("class", "total"), "class", "Of 'dirichlet-labels': of each class, or summed over them."
    ),
    ProblemOption(
        "draw",
        ("without", "refill", "with"),
        "without",
        "Of 'dirichlet-labels': without replacement, classes refilled when used up, or with replacement.",
    ),
    ProblemOption(
        "server", str, "none", "Data of the server's own: none, average, or a number of samples of real data."
    ),
    ProblemOption("brightness", float, 0.0, "Spread of the clients' log-brightness, of images."),
    ProblemOption("colour", float, 0.0, "Spread of the log-brightness of a colour channel, of images."),
)


def problem_options(function: Any) -> Any:
    """Add an option for everything a family of problems may be asked for, under the name ``of_<field>``."""
    for option in reversed(PROBLEM_OPTIONS):
        kind = click.Choice(option.kind) if isinstance(option.kind, tuple) else option.kind
        function = click.option(
            option.spelled,
            f"of_{option.name}",
            type=kind,
            default=option.default,
            show_default=True if option.default is not None else "as many as there are",
            help=option.help,
        )(function)
    return function


def settings_options(defaults: Settings) -> Callable[[Any], Any]:
    """Add an option for every common hyper-parameter, under the name ``set_<field>``."""

    def add(function: Any) -> Any:
        for setting in reversed(fields(Settings)):
            kind, default = setting.metadata["type"], getattr(defaults, setting.name)
            given: dict[str, Any] = (
                {"is_flag": True} if kind is bool else {"type": kind, "show_default": default is not None}
            )
            name = f"--{option_of(setting.name)}"
            function = click.option(
                name, f"set_{setting.name}", default=default, help=setting.metadata["help"], **given
            )(function)
        return function

    return add


algorithm_options = settings_options(Settings())


def settings_given(entry: Listed, options: dict[str, Any]) -> Settings:
    """Read the options that `settings_options` adds; one that the method does not use is refused."""
    from fedtheory.core.errors import InvalidInput

    context = click.get_current_context()
    for setting in fields(Settings):
        given = context.get_parameter_source(f"set_{setting.name}") is click.core.ParameterSource.COMMANDLINE
        if given and setting.name not in entry.uses:
            known = ", ".join("--" + option_of(use) for use in entry.uses)
            raise InvalidInput(f"{entry.name} does not use --{option_of(setting.name)}; it uses {known}")
    return Settings(**{f.name: options[f"set_{f.name}"] for f in fields(Settings)})


def build_algorithm(name: str, options: dict[str, Any], problem: Any = None) -> Any:
    """Build a listed method from the options that `algorithm_options` adds; one it does not use, or cannot use on the problem, is refused."""
    from fedtheory.algorithms import listed
    from fedtheory.algorithms.base import needs_convexity

    entry = listed(name)
    settings = settings_given(entry, options)
    if problem is not None:
        needs_convexity(entry, settings, problem)
    return entry.build(settings)


def open_journal(journal: Journal, fresh: bool, total: int, what: str) -> None:
    """Say how much of an interrupted run is done, or forget it."""
    if fresh:
        journal.close()
    done = len(journal.read())
    if done:
        click.echo(f"going on with an interrupted run: {done} of {total} {what} are done", err=True)


def make_shared(references: Sequence[Reference], context: Context, workers: int, scheduler: str | None) -> None:
    """Do the work that these claims share, such as the runs of experiments, and say what could not be done."""
    from fedtheory.claims.checking import make_needs, needs_of

    needs, done = needs_of(references, context), 0
    told: set[str] = set()
    if not needs:
        return
    click.echo(f"{len(needs)} runs of experiments are to be made at {context.size} size", err=True)
    try:
        with show_progress("runs of experiments", len(needs)) as advance:
            for outcome in make_needs(needs, context, workers, scheduler=scheduler):
                done += 1
                advance(outcome.key)
                if outcome.error is not None and outcome.error not in told:  # a missing file fails all runs alike
                    told.add(outcome.error)
                    click.echo(f"{outcome.key}: {outcome.error}", err=True)
    except KeyboardInterrupt:
        leave_interrupted(done, len(needs), "runs of experiments")


def leave_interrupted(done: int, total: int, what: str) -> NoReturn:
    """Say how far an interrupted run came, and leave."""
    click.echo(f"interrupted after {done} of {total} {what}; the same command goes on from there", err=True)
    sys.exit(EXIT_INTERRUPTED)
