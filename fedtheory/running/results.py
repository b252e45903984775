"""A folder for a long run: its configuration, a checkpoint, metrics by round as a table, pictures.

configuration.json   what is run, and what it was asked for; a folder belongs to one configuration
checkpoint.npz       from which an interrupted run resumes
metrics.csv          one line a measured round: round, metrics, floats sent (pandas.read_csv reads it)
summary.json         versions, decisions by measurement, divergence
METRIC.png, METRIC-by-communication.png
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput
from fedtheory.measures.catalogue import axis_of
from fedtheory.running.record import Trace
from fedtheory.tools.untrusted import read_json_file

_SHOWN = 5  #: differences of two configurations that an error names


@dataclass(frozen=True)
class Results:
    """The folder of one run, made if it is not there."""

    folder: Path
    configuration: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Write the configuration, or refuse a folder of another.

        Raises
        ------
        InvalidInput
            The folder holds the results of another configuration; the message names what differs.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        path, asked = self.folder / "configuration.json", json.loads(json.dumps(self.configuration))
        if path.exists():
            stored = read_json_file(path, "the configuration of a run")
            if not isinstance(stored, dict):
                raise InvalidInput(f"{path} is not the configuration of a run; give another folder")
            differ = sorted(key for key in {*stored, *asked} if stored.get(key) != asked.get(key))
            if differ:
                known = [f"{key!s:.40} was {_shown(stored.get(key))}, is {_shown(asked.get(key))}" for key in differ]
                known[_SHOWN:] = [f"and {len(known) - _SHOWN} more"] if len(known) > _SHOWN else []
                raise InvalidInput(
                    f"{self.folder} holds the results of another run: {'; '.join(known)}; give another folder"
                )
        _write(path, json.dumps(asked, indent=1) + "\n")

    @property
    def checkpoint(self) -> Path:
        """The file from which an interrupted run resumes."""
        return self.folder / "checkpoint.npz"

    def table(self, trace: Trace) -> None:
        """Write what has been measured so far; of a single run, not of a batch."""
        columns = {
            "round": trace.rounds,
            **trace.metrics,
            "floats_up": trace.floats_up,
            "floats_down": trace.floats_down,
        }
        if any(values.ndim != 1 for values in columns.values()):
            raise InvalidInput("a folder of results holds one run, not a batch; give every run a folder of its own")
        temporary = self.folder / f"metrics.csv.{os.getpid()}.part"
        with temporary.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
        temporary.replace(self.folder / "metrics.csv")
        summary = trace.info | {"diverged_at": int(trace.diverged_at), "measured": len(trace.rounds)}
        _write(self.folder / "summary.json", json.dumps(summary, indent=1) + "\n")

    def pictures(self, trace: Trace, title: str) -> None:
        """Draw every metric against rounds and against the floats sent."""
        from fedtheory.tools.pictures import save_picture

        sent = trace.floats_up + trace.floats_down
        for name, values in trace.metrics.items():
            ylabel, logy = axis_of(name)
            for x, label, end in (
                (trace.rounds, "communication rounds", ""),
                (sent, "floats sent", "-by-communication"),
            ):
                series = [{"label": name, "x": np.asarray(x).tolist(), "y": values.tolist()}]
                shown = {"title": title, "xlabel": label, "ylabel": ylabel, "series": series, "diverged": True}
                save_picture(shown | {"logy": logy}, self.folder / f"{name}{end}.png")


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    temporary.write_text(text)
    temporary.replace(path)
