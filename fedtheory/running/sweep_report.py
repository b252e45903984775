"""What a sweep found: the best settings of every method, a picture, files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput
from fedtheory.measures.catalogue import axis_of, look_up
from fedtheory.running.sweep import RunRow, Sweep
from fedtheory.tools.value_lists import EVERYTHING

LINES = 12  #: lines in a picture at most
MOST_WINNERS = 4  #: settings that won along a line, in its label at most
EQUAL_MEDIANS = 1e-12  #: medians that differ by a smaller share of themselves differ by rounding
GROWN = 1e3  #: a metric that has grown by this factor is drawn as if the run had diverged: it is about to


@dataclass(frozen=True)
class Cell:
    """Runs that differ only in their seed and instance.

    ``values``: the metric at the end of every run, infinite for a diverged one. ``more_is_better``: whether the metric is a share.
    ``rounding``: below this share of the start the metric shows rounding (`fedtheory.measures.catalogue.NamedMetric`).
    """

    method: str
    setup: dict[str, Any]  # what was swept of problem, its options, participation
    settings: dict[str, Any]  # what was swept of the method's hyper-parameters
    values: tuple[float, ...]
    at_start: float
    diverged: int
    failed: int
    more_is_better: bool = False
    rounding: float = 1e-28

    @property
    def loss(self) -> float:
        """Median of the values, with the sign that makes less better; infinite when it is a diverged run's, or a run could not be run."""
        if self.failed:
            return np.inf
        values = np.asarray(self.values)
        with np.errstate(invalid="ignore"):
            middle = float(np.median(np.where(np.isfinite(values) & self.more_is_better, -values, values)))
        return np.inf if np.isnan(middle) else middle

    @property
    def score(self) -> float | None:
        """Median of the values; infinite when it is a diverged run's, None when a run could not be run."""
        if self.failed:
            return None
        return -self.loss if self.more_is_better and np.isfinite(self.loss) else self.loss


def collect_cells(sweep: Sweep, rows: Iterable[RunRow], metric: str) -> list[Cell]:
    """Rows by method, setup and settings, in the order of the grid."""
    setup = [
        *(["problem"] if len(sweep.problems) > 1 else []),
        *(name for name, values in sweep.options.items() if len(values) > 1),
        *(["participants"] if len(sweep.participants) > 1 else []),
    ]
    settings = sweep.swept()
    groups: dict[tuple[Any, ...], list[RunRow]] = {}
    for row in sorted(rows, key=lambda r: r["run"]):
        key = (row["method"], *(row[name] for name in setup), *(row.get(name) for name in settings))
        groups.setdefault(key, []).append(row)
    found = []
    for group in groups.values():
        first = group[0]
        ran = [row for row in group if row["error"] is None]
        found.append(
            Cell(
                first["method"],
                {name: first[name] for name in setup},
                {name: first[name] for name in settings if name in first},
                tuple(np.inf if row[metric] is None else row[metric] for row in ran),
                max((row[f"{metric}_at_start"] or 0.0 for row in ran), default=0.0),
                sum(row["diverged_at"] is not None for row in ran),
                len(group) - len(ran),
                look_up(metric).is_share,
                look_up(metric).rounding,
            )
        )
    return found


def _drawn(cell: Cell) -> float:
    """Return the score of a cell that ran, as a picture shows it."""
    score = np.inf if cell.score is None else cell.score
    return np.inf if not cell.more_is_better and 0 < GROWN * cell.at_start < score else score


def find_best_cells(found: Sequence[Cell]) -> list[tuple[Cell, list[Cell]]]:
    """For every method in every setup its best cell, and all its cells; cells with runs that could not be run come last.

    Of cells that end alike up to rounding it is the first in the grid, so that rounding chooses none.
    """
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in found:
        groups.setdefault((*cell.setup.values(), cell.method), []).append(cell)
    return [(_find_best(group), group) for group in groups.values()]


def _find_best(group: Sequence[Cell]) -> Cell:
    lowest = min(group, key=lambda cell: (cell.failed > 0, cell.loss))
    return next(cell for cell in group if cell is lowest or _are_alike(cell, lowest))


def list_alike(best: Cell, group: Sequence[Cell]) -> list[Cell]:
    """Other cells that end where the best one does, up to rounding: nothing says that they are worse."""
    return [cell for cell in group if cell is not best and _are_alike(cell, best)]


def _are_alike(one: Cell, other: Cell) -> bool:
    if not (np.isfinite(one.loss) and np.isfinite(other.loss)):
        return False
    far = abs(one.loss - other.loss)
    return (_is_rounding(one) and _is_rounding(other)) or far <= EQUAL_MEDIANS * max(abs(one.loss), abs(other.loss))


def tabulate_sweep(sweep: Sweep, rows: Sequence[RunRow], metric: str) -> Any:
    """Return a rich table: the best settings of each method in each setup, and how many others end there, up to rounding."""
    from fedtheory.tools.terminal import make_plain_table

    found = find_best_cells(collect_cells(sweep, rows, metric))
    extreme = "highest" if found[0][0].more_is_better else "lowest"
    title = f"{extreme} {metric} after {sweep.rounds} rounds (median over seeds)"
    setup = (f"{name}#" for name in found[0][0].setup)  # as they are, also where they are names
    view = make_plain_table(
        *setup, "method#", "settings", f"{metric}#", "range#", "runs#", "diverged#", "not run#", title=title
    )
    for column in view.columns[: len(found[0][0].setup) + 1]:
        column.justify = "left"
    for cell, group in found:
        ran = cell.score is not None
        view.add_row(
            *(_shown(value) for value in cell.setup.values()),
            cell.method,
            _tell_settings(cell, group) if ran else "",
            ("diverged" if cell.score == np.inf else f"{cell.score:.6g}") if ran else "not run",
            f"{min(cell.values):.3g} to {max(cell.values):.3g}" if ran and len(cell.values) > 1 else "",
            *(
                str(sum(count))
                for count in zip(*((len(c.values) + c.failed, c.diverged, c.failed) for c in group), strict=True)
            ),
        )
    return view


def _tell_settings(best: Cell, group: Sequence[Cell]) -> str:
    settings, alike = (
        ", ".join(f"{name} {_shown(value)}" for name, value in best.settings.items()),
        list_alike(best, group),
    )
    return f"{settings}; {len(alike)} more alike up to rounding" if alike else settings


def _shown(value: Any) -> str:
    if value is None:
        return EVERYTHING
    return f"{value:.6g}" if isinstance(value, float) else str(value)


# ---- pictures -----------------------------------------------------------------------------------------------------


def describe_sweep_picture(sweep: Sweep, rows: Sequence[RunRow], metric: str) -> dict[str, Any]:
    """Return the picture of a sweep, as data: the metric at the end against what was swept.

    Two numeric parameters of one method in one setup give a heat map. Otherwise the parameter with the most values is the
    horizontal axis, and each method has a line: its best median over the other settings.

    Raises
    ------
    InvalidInput
        No numeric parameter was swept.
    """
    found = [cell for cell in collect_cells(sweep, rows, metric) if cell.score is not None]
    axes = _numeric(found)
    if not axes:
        raise InvalidInput(
            "a picture needs a numeric parameter with at least two values, for example --lr 1e-3:1:10log"
        )
    name = max(axes, key=lambda a: len(axes[a]))
    ylabel, logy = axis_of(metric)
    title = f"after {sweep.rounds} rounds (x: diverged{f', or {GROWN:g} times the start' if logy else ''})"
    shown = {"title": title, "xlabel": name, "logx": _wide(axes[name]), "diverged": True}
    groups = {(cell.method, *cell.setup.values()) for cell in found}
    if len(groups) == 1 and len(axes) == 2 and all({*cell.settings} == {*axes} for cell in found):
        other = next(a for a in axes if a != name)
        score = {(cell.settings[other], cell.settings[name]): _drawn(cell) for cell in found}
        z = [[score.get((y, x), np.nan) for x in axes[name]] for y in axes[other]]
        x, y = (list(map(float, axes[a])) for a in (name, other))
        return shown | {
            "title": f"{found[0].method} {title}",
            "ylabel": other,
            "zlabel": ylabel,
            "logz": logy,
            "x": x,
            "y": y,
            "z": z,
        }
    lines: dict[str, dict[float, list[Cell]]] = {}
    for cell in found:
        at = {**cell.setup, **cell.settings}
        if at.get(name) is None:
            continue
        label = ", ".join([cell.method, *(f"{k} {_shown(v)}" for k, v in cell.setup.items() if k != name)])
        lines.setdefault(label, {}).setdefault(float(at[name]), []).append(cell)
    if len(lines) > LINES:
        raise InvalidInput(f"a picture holds {LINES} lines, this sweep has {len(lines)}; sweep fewer methods or setups")
    series = [_draw_line(label, line, name) for label, line in lines.items()]
    return shown | {"ylabel": ylabel, "series": series, "logy": logy}


def _draw_line(label: str, line: dict[float, list[Cell]], along: str) -> dict[str, Any]:
    """A method's line: at each place the median of the best cell there, what its other settings are, and a band over its seeds."""
    places = sorted(line)
    cells = [min(line[x], key=lambda cell: cell.loss) for x in places]
    won = [cell for cell, x in zip(cells, places, strict=True) if not list_alike(cell, line[x])]
    drawn = {
        "label": ", ".join(filter(None, (label, _say_winners(cells, won, along)))),
        "x": places,
        "y": [*map(_drawn, cells)],
    }
    if any(len(cell.values) > 1 for cell in cells) and all(np.isfinite(cell.values).all() for cell in cells):
        drawn |= {"low": [min(cell.values) for cell in cells], "high": [max(cell.values) for cell in cells]}
    return drawn


def _say_winners(cells: Sequence[Cell], won: Sequence[Cell], along: str) -> str:
    """Which values of the other settings won along the axis: ``local-steps 16, then 4`` from the first place to the last.

    Nobody wins where all diverged, where others end as low up to rounding, nor where only rounding is left.
    """
    told, finite = list[str](), [cell for cell in won if np.isfinite(_drawn(cell)) and not _is_rounding(cell)]
    for name in cells[0].settings:
        values = [_shown(cell.settings.get(name)) for cell in finite]
        runs = [value for k, value in enumerate(values) if k == 0 or values[k - 1] != value]
        if name != along and runs:
            told.append(
                f"{name} {', then '.join(runs)}"
                if len(runs) <= MOST_WINNERS
                else f"{name} changing {len(runs) - 1} times"
            )
    told += (
        [f"below {cells[0].rounding:g} of the start not told apart"]
        if len(cells[0].settings) > 1 and any(map(_is_rounding, cells))
        else []
    )
    return ", ".join(told)


def _is_rounding(cell: Cell) -> bool:
    """Whether what is left is so little that settings are not told apart by it."""
    return not cell.more_is_better and cell.score is not None and cell.score < cell.rounding * cell.at_start


def _numeric(found: Sequence[Cell]) -> dict[str, list[float]]:
    """Swept parameters that are numbers, with their values in rising order."""
    values: dict[str, set[Any]] = {}
    for cell in found:
        for name, value in {**cell.setup, **cell.settings}.items():
            if value is not None:
                values.setdefault(name, set()).add(value)
    return {name: sorted(v) for name, v in values.items() if len(v) > 1 and all(type(x) in (int, float) for x in v)}


def _wide(values: Sequence[float]) -> bool:
    return values[0] > 0 and values[-1] >= 10 * values[0]


# ---- files --------------------------------------------------------------------------------------------------------


def as_json_lines(rows: Iterable[RunRow]) -> str:
    """One JSON object a run."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows: Sequence[RunRow]) -> str:
    """One line a run, or one a measured round where the rows have a trace; columns of another method are empty."""
    flat = [line for row in rows for line in flatten_row(row)]
    columns = list(dict.fromkeys(name for line in flat for name in line if name not in ("diverged_at", "error")))
    out = io.StringIO()
    writer = csv.DictWriter(out, [*columns, "diverged_at", "error"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return out.getvalue()


def flatten_row(row: RunRow) -> list[RunRow]:
    """Return a run's row, or where it has a trace a row a measured round."""
    trace = row.get("trace")
    if trace is None:
        return [row]
    rest = {name: value for name, value in row.items() if name != "trace"}
    return [rest | dict(zip(trace, values, strict=True)) for values in zip(*trace.values(), strict=True)]
