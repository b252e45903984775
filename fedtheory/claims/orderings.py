"""Claims that A beats B: paired differences over seeds or draws, their tables and curves.

`ordered` is the rule of them all: of experiments, which read runs that were kept, and of `fedtheory.claims.Ordering`, which makes its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from fedtheory.claims.chance import chance_of_mean, chance_of_signs
from fedtheory.claims.claim import Engine, Part, Picture, Role, Table
from fedtheory.claims.context import Context
from fedtheory.claims.curves import repeat_curve
from fedtheory.claims.experiments import Repeated
from fedtheory.core.errors import InvalidInput
from fedtheory.measures.paired import paired_difference


def ordered(
    name: str,
    higher: Any,
    lower: Any,
    text: str,
    *,
    by: float = 0.0,
    role: Role = "printed",
    unit: str = "",
    scale: float = 1.0,
    engine: Engine = "real data",
    level: float = 0.95,
    diverged: Literal["lowest", "highest"] = "lowest",
) -> Part:
    """Part: one quantity exceeds another by more than ``by``, over seeds, or draws, that both share.

    It holds where the interval of this level of the mean paired difference lies above ``by``, fails where it lies below, and is undecided where it
    contains it. A diverged run is a NaN, and counts as the lowest, as of an accuracy, or as the ``highest``, as of a loss: where all runs of
    one side diverged and none of the other, it holds or fails by that; otherwise it is undecided. A single
    seed has no interval: it is undecided, and the difference is told.
    """
    a, b = np.asarray(higher, dtype=float), np.asarray(lower, dtype=float)
    if a.shape != b.shape:
        raise InvalidInput(f"{name}: {a.size} runs against {b.size}; expected the same seeds on both sides")
    if (np.isnan(a) | np.isnan(b)).any():
        gone_a, gone_b = int(np.isnan(a).sum()), int(np.isnan(b).sum())
        first, last = (gone_a, gone_b) if diverged == "lowest" else (gone_b, gone_a)
        holds = True if first == 0 and last == a.size else False if last == 0 and first == a.size else None
        text += f": {gone_a} and {gone_b} of {a.size} runs diverged"
        chance = None if holds is None else chance_of_signs(a.size, a.size)
        return Part(name, holds, engine, text, role=role, chance=chance)
    data = {"higher": (scale * a).tolist(), "lower": (scale * b).tolist()}
    if a.size == 1:
        said = f"{text}: {scale * (a - b).item():+.3g}{unit} with one seed, which has no interval"
        return Part(name, None, engine, said, role=role, data=data)
    difference = paired_difference(scale * a, scale * b, level)
    holds = True if difference.low > by else False if difference.high < by else None
    size = max(abs(difference.low), abs(difference.high), abs(by), float(np.finfo(float).tiny))
    said = f"{text}: {difference}{unit}" + (f" at level {level:.6g}" if level != 0.95 else "")
    edge = difference.high if holds is False else difference.low
    return Part(
        name,
        holds,
        engine,
        said + (f", against {by:g}{unit}" if by else ""),
        role=role,
        margin=(edge - by) / size,
        data=data,
        chance=chance_of_mean(scale * (a - b), by),
    )


def ordered_in_points(
    name: str, higher: Any, lower: Any, text: str, *, by: float = 0.0, role: Role = "printed"
) -> Part:
    """Part: one share, such as an accuracy, exceeds another by more than ``by`` percentage points; as `ordered`."""
    return ordered(name, higher, lower, text, by=by, role=role, unit=" points", scale=100)


def alike(
    name: str,
    first: Any,
    second: Any,
    text: str,
    *,
    within: float,
    role: Role = "printed",
    unit: str = "",
    scale: float = 1.0,
    engine: Engine = "real data",
) -> Part:
    """Part: two quantities differ by less than ``within``, over seeds that both share.

    It holds where the 95 % interval of the mean paired difference lies inside (-within, within), fails where it lies outside, and is
    undecided otherwise, as where a run diverged.
    """
    a, b = scale * np.asarray(first, dtype=float), scale * np.asarray(second, dtype=float)
    if np.isnan(a).any() or np.isnan(b).any():
        gone = f"{int(np.isnan(a).sum())} and {int(np.isnan(b).sum())} of {a.size} runs diverged"
        return Part(name, None, engine, f"{text}: {gone}", role=role)
    difference = paired_difference(a, b)
    widest = max(abs(difference.low), abs(difference.high))
    outside = difference.low > within or difference.high < -within
    holds = True if widest < within else False if outside else None
    return Part(
        name,
        holds,
        engine,
        f"{text}: {difference}{unit}, against {within:g}{unit} either way",
        role=role,
        margin=(within - widest) / max(within, widest),
        data={"first": a.tolist(), "second": b.tolist()},
        chance=chance_of_mean(a - b, np.copysign(within, difference.mean)),
    )


def mean_and_deviation(values: Any, digits: int = 2, scale: float = 100.0) -> str:
    """Return mean and deviation over seeds as papers print them; ``--`` where a run diverged."""
    a = scale * np.asarray(values, dtype=float)
    if not np.isfinite(a).all():
        return "--"
    return f"{a.mean():.{digits}f}" + (f" +- {a.std(ddof=1):.{digits}f}" if a.size > 1 else "")


def make_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table whose entries are text, numbers or None."""
    return Table(title, [*columns], [[*row] for row in rows])


def tabulate_best_and_final(ctx: Context, title: str, groups: Mapping[str, Repeated], metric: str) -> Table:
    """Return the best value over the rounds beside the final one, in percent, by the runs' labels; over seeds, mean and deviation.

    The best of many looks at a small test set is too good by what chance adds; the final value has no such gain.
    """
    rows = []
    for label, group in groups.items():
        best, final = group.best(ctx, metric), group.last(ctx, metric)
        rows.append([label, mean_and_deviation(best), mean_and_deviation(final), mean_and_deviation(best - final)])
    return make_table(title, ["", f"{metric}, best round", "last round", "best less last"], rows)


def draw_curves(
    context: Context,
    title: str,
    runs: Mapping[str, Repeated],
    metric: str,
    *,
    by: str = "round",
    ylabel: str = "",
    logy: bool = False,
) -> Picture:
    """Return the mean over seeds of a metric with a band about it, one line a label, against rounds or floats sent (``by="floats"``)."""
    series, counts = [], set()
    for label, group in runs.items():
        logs = group.logs(context)
        counts.add(len(logs))
        x = (
            logs[0]["round"]
            if by == "round"
            else np.mean([log["floats_up"] + log["floats_down"] for log in logs], axis=0)
        )
        series.append(repeat_curve(label, x, [log[metric] for log in logs]))
    xlabel = "communication rounds" if by == "round" else "floats sent"
    about = f"means over {' or '.join(map(str, sorted(counts)))} seeds at the {context.size} size"
    return Picture(title, xlabel, ylabel or metric, series, logy=logy, about=about)
