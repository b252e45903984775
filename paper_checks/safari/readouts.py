"""How accuracies are read off runs and compared: by the best round, as the protocol says; the mean of the last rounds stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.claim import Finding, Part, Reading, Role
from fedtheory.claims.context import Context
from fedtheory.claims.experiments import Repeated
from fedtheory.claims.logs import Log
from fedtheory.claims.magnitudes import PrintedCell, compare_cells, count_within
from fedtheory.claims.orderings import alike, make_table, mean_and_deviation, ordered
from fedtheory.running.families import read_options
from paper_checks.safari.protocol import DOUBT
from paper_checks.safari.runs import ALL, FIVE_PASSES, Draws, Study, server_alone

#: the share of the rounds, at the end, over which the other readout averages: the last 60 of 150
END = 0.4
POINTS: dict[str, Any] = {"scale": 100, "unit": " points"}
Accuracies = NDArray[np.float64]
Read = Callable[[Context, Repeated], Accuracies]


def at_best(ctx: Context, run: Repeated) -> Accuracies:
    """Return each seed's best test accuracy."""
    return run.best(ctx, "test_accuracy")


def at_end(ctx: Context, run: Repeated) -> Accuracies:
    """Return each seed's test accuracy at the end: the mean over the last 40 % of the measurements."""
    return run.last(ctx, "test_accuracy", END)


def after_server(ctx: Context, run: Repeated) -> Accuracies | None:
    """Return each seed's mean accuracy right after the server's rounds of the last 40 %; None where not every round is measured."""
    found = [read_after_server(log) for log in run.logs(ctx)]
    return None if any(mean is None for mean in found) else np.array(found, dtype=float)


def read_after_server(log: Log) -> float | None:
    """Return one run's mean accuracy right after the server's rounds of the last 40 %; None where not every round is measured."""
    if len(log["round"]) < 2 or np.any(np.diff(log["round"]) != 1):
        return None
    silent = np.concatenate([[False], np.diff(log["floats_up"]) == 0])  # nothing is sent in a round of the server's
    silent[: -round(END * len(silent))] = False
    return float(log["test_accuracy"][silent].mean()) if silent.any() else None


@cache
def _parts(dataset: str, data: str | None) -> tuple[Any, Any]:
    from problems.networks.families import load_part

    return load_part(dataset, "train", data), load_part(dataset, "test", data)


def coverage(ctx: Context, run: Repeated) -> Accuracies:
    """Return for each seed the share of the test set whose classes the clients that may take part hold, exactly."""
    found = []
    for training in run.trainings:
        family, options = read_options(training.problem, {"seed": training.seed, **training.options, "data": ctx.data})
        train, test = _parts(family.dataset, ctx.data)
        held = np.concatenate(family.split(train, options)[: training.available])
        found.append(float(np.isin(test.labels, np.unique(train.labels[held])).mean()))
    return np.array(found)


# ---- compared -----------------------------------------------------------------------------------------------------------


def exceeds(ctx: Context, name: str, higher: Repeated, lower: Repeated, text: str, by: float = 0.0) -> Iterator[Part]:
    """Parts: one method's accuracy is above another's by more than ``by`` points; in the mean of the last rounds it is a reading."""
    yield ordered(name, at_best(ctx, higher), at_best(ctx, lower), f"{text}, best round", by=by, **POINTS)
    text = f"{text}, mean of the last rounds"
    other = f"reading, at the end: {name}"
    yield ordered(other, at_end(ctx, higher), at_end(ctx, lower), text, by=by, role="reading", **POINTS)


def exceeds_by_more(
    ctx: Context,
    name: str,
    more: tuple[Repeated, Repeated],
    less: tuple[Repeated, Repeated],
    text: str,
) -> Iterator[Part]:
    """Parts: the difference within one pair of methods is larger than that within another; in the mean of the last rounds it is a reading."""

    def gains(read: Read) -> list[Accuracies]:
        return [read(ctx, higher) - read(ctx, lower) for higher, lower in (more, less)]

    (a, b), (c, d) = gains(at_best), gains(at_end)
    yield ordered(name, a, b, f"{text}, best round", **POINTS)
    other = f"reading, at the end: {name}"
    yield ordered(other, c, d, f"{text}, mean of the last rounds", role="reading", **POINTS)


def is_alike(
    ctx: Context,
    name: str,
    first: Repeated,
    second: Repeated,
    text: str,
    within: float = DOUBT,
    role: Role = "printed",
) -> Iterator[Part]:
    """Parts: two methods' accuracies differ by less than ``within`` points; in the mean of the last rounds it is a reading."""
    best = at_best(ctx, first), at_best(ctx, second)
    yield alike(name, *best, f"{text}, best round", within=within, role=role, **POINTS)
    text = f"{text}, mean of the last rounds"
    other = f"reading, at the end: {name.removeprefix('reading: ')}"
    yield alike(other, at_end(ctx, first), at_end(ctx, second), text, within=within, role="reading", **POINTS)


def beside_server(
    ctx: Context,
    study: Study,
    assisted: Repeated,
    where: str,
    *,
    server: int | None = None,
    work: Mapping[str, float] = FIVE_PASSES,
    draws: Draws = ALL,
) -> Iterator[Part]:
    """Readings: what clients add to training on the server's data alone, a baseline that the paper has not, though Theorem 3 is about it."""
    alone = server_alone(ctx, study, server=server, work=work, draws=draws)
    for read, told in ((at_best, "best round"), (at_end, "mean of the last rounds")):
        text = f"{where}: SAFARI minus training on the server's data without any client, {told}"
        name = f"reading: clients add to the server alone, {told}"
        yield ordered(name, read(ctx, assisted), read(ctx, alone), text, role="reading", **POINTS)


# ---- beside what is printed -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A cell of a paper's table: what it prints (None for "-" and for nothing), with its deviation over ``repeats``, and our run.

    With ``over`` it is the gain over that run.
    """

    name: str
    printed: float | None
    run: Repeated
    over: Repeated | None = None
    deviation: float | None = None
    repeats: int | None = None

    def read(self, ctx: Context, read: Read) -> Accuracies:
        """Return ours of each seed, in points."""
        return 100 * (read(ctx, self.run) - (0.0 if self.over is None else read(ctx, self.over)))


def compare_levels(ctx: Context, study: Study, title: str, cells: Iterable[Cell], unit: str = "%") -> Iterator[Finding]:
    """Printed numbers beside ours, then ours as the other readouts have them."""
    a, printed, rows = study.at(ctx), [], []
    for cell in cells:
        best, end = cell.read(ctx, at_best), cell.read(ctx, at_end)
        after = after_server(ctx, cell.run) if cell.over is None else None
        values = (best, end, None if after is None else 100 * after)
        rows.append([cell.name, *(None if v is None else mean_and_deviation(v, scale=1) for v in values)])
        if cell.printed is not None:
            printed.append(PrintedCell(cell.name, cell.printed, best, cell.deviation, cell.repeats))
    if printed:
        yield compare_cells(f"{title}, {study.name}; ours: {a.title}", printed, unit=unit)
    if printed and a.own:
        yield Reading(f"{title}: {count_within(printed)}.")
    columns = ["", "best round", "mean of the last rounds", "after server rounds"]
    yield make_table(f"{title}: ours by each readout ({unit})", columns, rows)
