"""Traces and sweeps for other programs: rows, CSV, JSON, data frames of pandas, and event files of TensorBoard."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.core.errors import require
from fedtheory.running.record import Trace
from fedtheory.running.sweep import RunRow
from fedtheory.running.sweep_report import flatten_row


def list_rows(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield a row a measured round of each run: its place in the batch (``batch_0``, ...), round, metrics, floats sent, and where it diverged.

    Examples
    --------
    >>> trace = run(GradientDescent(1.0), problem, x0, 20, every=10)
    >>> print([(row["round"], row["floats_up"]) for row in list_rows(trace)])
    [(0, 0.0), (10, 500.0), (20, 1000.0)]
    """
    batch, measured = trace.diverged_at.shape, len(trace.rounds)
    columns = trace.metrics | {"floats_up": trace.floats_up, "floats_down": trace.floats_down}
    whole = {name: np.broadcast_to(values, (*batch, measured)) for name, values in columns.items()}
    for place in np.ndindex(*batch):
        at = {f"batch_{axis}": index for axis, index in enumerate(place)}
        end = {"diverged_at": int(trace.diverged_at[place])}
        for k, rounds in enumerate(trace.rounds.tolist()):
            yield at | {"round": rounds} | {name: float(values[(*place, k)]) for name, values in whole.items()} | end


def as_trace_csv(trace: Trace) -> str:
    """Return a trace as CSV, a line a row of `list_rows`."""
    rows, out = list(list_rows(trace)), io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_trace_json(trace: Trace, metric: str) -> str:
    """Return the trace of one run as a JSON document, which names the ``metric`` that was asked for; values that are no numbers are null."""
    numbers = {name: [float(v) if np.isfinite(v) else None for v in values] for name, values in trace.metrics.items()}
    return json.dumps(
        trace.info
        | {
            "rounds": trace.rounds.tolist(),
            "metric": metric,
            **numbers,
            "floats_up": trace.floats_up.tolist(),
            "floats_down": trace.floats_down.tolist(),
            "diverged_at": int(trace.diverged_at),
        }
    )


def as_frame(found: Trace | Sequence[RunRow]) -> Any:
    """Return a trace, or the rows of a sweep, as a data frame of pandas; of rows with a trace each measured round is a row.

    Raises
    ------
    MissingExtra
        pandas is not installed.
    """
    pandas = require("pandas", "data frames")
    if isinstance(found, Trace):
        return pandas.DataFrame(list(list_rows(found)))
    return pandas.DataFrame([line for row in found for line in flatten_row(row)])


def write_events(trace: Trace, folder: Path) -> list[Path]:
    """Write a trace as event files of TensorBoard, a folder a run of the batch, and return these folders; a metric's steps are rounds.

    Values that are no numbers, those of runs that have diverged, are left out.

    Raises
    ------
    MissingExtra
        tensorboard is not installed.
    """
    writing = require("tensorboard.summary.writer.event_file_writer", "event files")
    events = require("tensorboard.compat.proto.event_pb2", "event files")
    summaries = require("tensorboard.compat.proto.summary_pb2", "event files")
    found: dict[Path, Any] = {}
    for row in list_rows(trace):
        place = [str(value) for name, value in row.items() if name.startswith("batch_")]
        own = folder / f"run_{'_'.join(place)}" if place else folder
        if own not in found:
            found[own] = writing.EventFileWriter(str(own))
        told = {name: value for name, value in row.items() if isinstance(value, float) and np.isfinite(value)}
        values = [summaries.Summary.Value(tag=name, simple_value=value) for name, value in told.items()]
        found[own].add_event(events.Event(step=row["round"], summary=summaries.Summary(value=values)))
    for writer in found.values():
        writer.close()
    return list(found)
