"""What commands that run experiments do before and meanwhile: say what it will cost, choose how many at once, tell what is done."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedtheory.command_line.options import OutputFile, leave_interrupted
from fedtheory.core.errors import NotAvailable
from fedtheory.tools.terminal import TOLD_SECONDS, make_console, print_table, show_progress

if TYPE_CHECKING:
    from fedtheory.claims.claim import Need
    from fedtheory.claims.context import Context
    from fedtheory.claims.estimates import Cost, Workload
    from fedtheory.claims.references import Reference
    from fedtheory.claims.verdict import Verdict
    from fedtheory.tools.jobs import Outcome


_OPTIONS = (
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Number of worker processes [default: one a core; of experiments on a GPU as many as fit into its memory].",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Say which runs of experiments would be made, how long they would take (a round of each kind is played and measured), what they "
        "would hold in memory and on disk; make none, and judge nothing.",
    ),
    click.option(
        "--log",
        "log_file",
        type=OutputFile(),
        help="File to which lines of progress and verdicts are added as they come "
        "[default: .fedtheory/progress.log where runs are to be made].",
    ),
)


def add_long_run_options(function: Any) -> Any:
    """Add the options of commands that may take long."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


# ---- meanwhile ---------------------------------------------------------------------------------------------------------


class ProgressLines:
    """Lines on standard error and in a file as things are done, and a bar where standard error is a terminal.

    Parameters
    ----------
    what : what is counted, beside runs
    total, runs : how many things, and runs, there are
    log : file that lines are added to, with the time; None for none
    """

    def __init__(self, what: str, total: int, runs: int, log: Path | None, advance: Callable[..., None]) -> None:
        self.what, self.total, self.runs, self.log, self._advance = what, total, runs, log, advance
        self.done = self.runs_done = 0
        self._told, self._errors = time.monotonic(), set[str]()

    def say(self, line: str) -> None:
        """Say a line, above the bar where there is one."""
        click.echo(line, err=True)
        if self.log is None:
            return
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {line}\n")

    def count(self, name: str, line: str = "") -> None:
        """Count one thing, and say what became of it."""
        self.done += 1
        if line:
            self.say(line)
        self._advance(name)

    def judged(self, verdict: Verdict) -> None:
        """Count a verdict, and say it."""
        new = verdict.error is not None and verdict.error not in self._errors
        word = f"could not be run{f': {verdict.error}' if new else ''}" if verdict.error else verdict.status
        size = f", {verdict.size} size" if verdict.size else ""
        self.count(verdict.id, f"{verdict.id}: {word} ({verdict.seconds:.1f} s{size})")

    def ran(self, outcome: Outcome) -> None:
        """Count a run; say an error once, and from time to time how many are done."""
        self.runs_done += 1
        if outcome.error is not None and outcome.error not in self._errors:  # a missing file fails all runs alike
            self._errors.add(outcome.error)
            self.say(f"{outcome.key}: {outcome.error}")
        if time.monotonic() - self._told > TOLD_SECONDS or self.runs_done == self.runs:
            self._told = time.monotonic()
            self.say(
                f"{self.runs_done} of {self.runs} runs of experiments are done, the last {outcome.key} in {outcome.seconds:.1f} s"
            )
        self._advance(outcome.key)

    @property
    def how_far(self) -> str:
        """What is done of what there is, in words."""
        parts = [f"{self.done} of {self.total} {self.what}"] if self.total else []
        parts += [f"{self.runs_done} of {self.runs} runs of experiments"] if self.runs else []
        return " and ".join(parts)


@contextlib.contextmanager
def follow_progress(what: str, total: int, runs: int, log: Path | None) -> Iterator[ProgressLines]:
    """Show a bar over things and runs; give what they are told to."""
    from fedtheory.tools.journal import JOURNALS

    with show_progress(what, total + runs) as advance:
        yield ProgressLines(what, total, runs, log or (JOURNALS / "progress.log" if runs else None), advance)


def make_shared(
    references: Sequence[Reference], context: Context, workers: int | None, scheduler: str | None, log: Path | None
) -> None:
    """Do the work that these claims share, such as the runs of experiments, and say what could not be done."""
    from fedtheory.claims.needs import make_needs

    needs = find_needs(references, context)
    if not needs:
        return
    count = count_run_workers(workers, context, needs.values())
    with follow_progress("", 0, len(needs), log) as progress:
        try:
            for outcome in make_needs(needs, context, count, scheduler=scheduler):
                progress.ran(outcome)
        except KeyboardInterrupt:
            leave_interrupted(progress.how_far)


def find_needs(references: Sequence[Reference], context: Context) -> dict[str, Need]:
    """Return the work that these claims share and that is to be done, and say how much that is."""
    from fedtheory.claims.needs import list_needs

    needs = list_needs(references, context)
    if needs:
        click.echo(f"{len(needs)} runs of experiments are to be made at {context.size} size", err=True)
    return needs


# ---- before ------------------------------------------------------------------------------------------------------------


def count_workers(asked: int | None) -> int:
    """Return the number of workers: that asked for, or one a core."""
    return asked or os.cpu_count() or 1


def count_run_workers(asked: int | None, context: Context, needs: Collection[Need]) -> int:
    """Return how many runs are made at once: the number asked for; else one a core, on a GPU as many as fit by what one was seen to take."""
    if asked is not None or not needs or not context.device.startswith("cuda"):
        return count_workers(asked)
    from fedtheory.claims.estimates import count_fitting
    from fedtheory.tools.jobs import run_jobs

    # in a process of its own, which gives the memory back
    [found] = run_jobs(_measure_memory, {"memory": ([*needs], context)}, workers=1, apart=True)
    if found.error is not None:
        click.echo(
            f"the memory of a run on {context.device} could not be measured ({found.error}): one at a time", err=True
        )
        return 1
    needed, free = found.value
    fit = count_fitting(free, needed, count_workers(None))
    click.echo(
        f"a run takes up to {_size(needed)} of {_size(free)} free on {context.device}: {fit} at once (--workers)",
        err=True,
    )
    return fit


def _measure_memory(needs: list[Need], context: Context) -> tuple[int, int]:
    """Return the most that a run of the first of each problem takes on the GPU, and what is free there before."""
    from fedtheory.claims.estimates import measure_cost
    from fedtheory.claims.experiments import OfRuns
    from fedtheory.tools.memory import find_free_gpu_bytes

    free = find_free_gpu_bytes(context.device)
    firsts = {
        (t.problem, t.method): t
        for need in reversed(needs)
        if isinstance(need, OfRuns)
        for t in need.trainings(context)[:1]
    }
    return max(measure_cost(training, context).on_gpu or 0 for training in firsts.values()), free


def tell_plan(references: Sequence[Reference], context: Context, workers: int | None) -> None:
    """Print the runs that these claims ask for: made, kept, refused, minutes, memory, disk."""
    from fedtheory.claims.estimates import count_fitting
    from fedtheory.claims.references import load_claims
    from fedtheory.tools.jobs import run_jobs

    claims = [load_claims(reference.source)[reference.id] for reference in references]
    # in a process like those that make the runs
    [found] = run_jobs(_estimate, {"estimate": (list(references), context)}, workers=1, apart=True)
    if found.error is not None:
        raise NotAvailable(f"the runs could not be measured: {found.error}")
    kinds, free = found.value
    console = make_console()
    if kinds:
        print_table(console, _tabulate(kinds, context))
    made, kept = sum(len(kind.trainings) for kind in kinds), sum(kind.kept for kind in kinds)
    refused = [reason for kind in kinds for reason in kind.refused]
    without = sum(claim.needs is None for claim in claims)
    console.print(
        f"{len(claims)} claims, {without} of them without runs; of {made + kept + len(refused)} runs at {context.size} size {kept} are kept, "
        f"{len(refused)} refused, {made} to be made"
    )
    for reason in dict.fromkeys(refused):
        console.print(f"refused ({refused.count(reason)} runs): {reason}")
    for error in dict.fromkeys(kind.error for kind in kinds if kind.error):
        console.print(f"not measured: {error}")
    costs = [kind.cost for kind in kinds if kind.cost is not None and kind.trainings]
    if not costs:
        return
    needed = max(cost.on_gpu or 0 for cost in costs)
    at_once = count_workers(workers)
    if needed:
        fit = count_fitting(free, needed, count_workers(None))
        at_once = workers or fit
        console.print(f"memory on {context.device}: up to {_size(needed)} a run of {_size(free)} free; {fit} fit")
    singles = [cost.seconds(t) for kind in kinds if (cost := kind.cost) is not None for t in kind.trainings]
    seconds = max(sum(singles) / at_once, *singles)
    shared = " if the runs do not slow each other down" if at_once > 1 else ""
    unknown = sum(len(kind.trainings) for kind in kinds if kind.cost is None)
    if unknown:
        console.print(f"the cost of {unknown} runs is not known, and not counted in what follows")
    console.print(
        f"about {_duration(seconds)} with {at_once} worker{'s' * (at_once > 1)}{shared}: {_duration(sum(singles))} of computing, measured on rounds; "
        "checks and verdicts come on top"
    )
    checkpoints = at_once * max(cost.state for cost in costs)
    console.print(
        f"disk: {_size(sum(kind.disk for kind in kinds))} for the runs, and up to {_size(checkpoints)} of checkpoints meanwhile, in {context.results}"
    )


def _estimate(references: list[Reference], context: Context) -> tuple[list[Workload], int]:
    """Return the runs that claims ask for by kind, and the memory that is free on the GPU; of the host 0."""
    from fedtheory.claims.estimates import estimate
    from fedtheory.claims.references import load_claims
    from fedtheory.tools.memory import find_free_gpu_bytes

    free = find_free_gpu_bytes(context.device) if context.device.startswith("cuda") else 0
    return estimate([load_claims(r.source)[r.id] for r in references], context), free


def _tabulate(kinds: Sequence[Workload], context: Context) -> Any:
    """One line a method and problem."""
    from rich.table import Table

    table = Table(title=f"runs at {context.size} size on {context.device}")
    for column in ("method", "problem"):
        table.add_column(column)
    for column in ("to make", "kept", "refused", "s to begin", "s a round", "minutes", "on the GPU"):
        table.add_column(column, justify="right")
    groups: dict[tuple[str, str], list[Workload]] = {}
    for kind in kinds:
        groups.setdefault(kind.name, []).append(kind)
    for (method, problem), group in sorted(groups.items(), key=lambda item: -sum(kind.seconds for kind in item[1])):
        costs = [kind.cost for kind in group if kind.cost is not None and kind.trainings]
        rough = any(kind.alike and kind.trainings for kind in group)
        table.add_row(
            *(method, problem, str(sum(len(kind.trainings) for kind in group))),
            *(str(sum(kind.kept for kind in group)), str(sum(len(kind.refused) for kind in group))),
            _range(costs, lambda cost: cost.prepared),
            _range(costs, lambda cost: cost.round),
            f"{'~' if rough else ''}{_short(sum(kind.seconds for kind in group) / 60)}"
            if costs
            else "?"
            if any(k.trainings for k in group)
            else "-",
            _range(costs, lambda cost: (cost.on_gpu or 0) / 2**30, " GiB")
            if any(cost.on_gpu for cost in costs)
            else "-",
        )
    return table


def _range(costs: Sequence[Cost], of: Callable[[Cost], float], unit: str = "") -> str:
    if not costs:
        return "-"
    low, high = min(map(of, costs)), max(map(of, costs))
    shown = dict.fromkeys((_short(low), _short(high)))
    return f"{' to '.join(shown)}{unit}"


def _short(value: float) -> str:
    """Two digits, or all before the point."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} minutes"
        if seconds < 6000
        else f"{seconds / 3600:.1f} hours"
    )


def _size(count: int) -> str:
    return f"{_short(count / 2**30)} GiB" if count >= 2**29 else f"{_short(count / 2**20)} MiB"
