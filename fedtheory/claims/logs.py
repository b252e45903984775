"""What a run measured, round by round, and how it is read off its folder of results."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.claims.identity import RefusedRun
from fedtheory.core.errors import InvalidInput
from fedtheory.tools.untrusted import read_json_file, read_text, stamp_file


@dataclass(frozen=True, eq=False)
class Log:
    """What a run measured: ``rounds`` ``(R,)``, metrics and floats sent by name ``(R,)``; a diverged run has infinite metrics from then on.

    ``clients`` ``(n,)``: share of its own test samples that each client's model gets right at the end; None where clients have none.
    """

    columns: Mapping[str, NDArray[np.float64]]
    seconds: float
    clients: NDArray[np.float64] | None = None

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a column: ``round``, a metric, ``floats_up`` or ``floats_down``."""
        return self.columns[name]

    @property
    def diverged(self) -> bool:
        """Whether the run diverged."""
        return not np.isfinite(next(values[-1] for name, values in self.columns.items() if name not in COUNTS))

    def last(self, name: str, share: float = 0.0) -> float:
        """Return the mean of a metric over the last ``share`` of its measurements, at least the last one; a diverged run has NaN."""
        values = self[name]
        tail = values[-max(1, round(share * len(values))) :]
        return float(tail.mean()) if np.isfinite(tail).all() else float("nan")

    def best(self, name: str) -> float:
        """Return the largest finite value of a metric, as papers report accuracies; NaN for a diverged run."""
        return float("nan") if self.diverged else float(self[name].max())

    def at(self, name: str, round: int) -> float:
        """Return a metric after a round; NaN where the run had diverged.

        Raises
        ------
        InvalidInput
            It was not measured then.
        """
        there = np.flatnonzero(self["round"] == round)
        if not there.size:
            raise InvalidInput(f"{name} was not measured after round {round}; measure more often")
        value = float(self[name][there[0]])
        return value if np.isfinite(value) else float("nan")

    def first(self, name: str, level: float, *, above: bool = True) -> float:
        """Return the first measured round at which a metric is at a level or beyond; infinity if it never is."""
        there = self[name] >= level if above else self[name] <= level
        return float(self["round"][there.argmax()]) if there.any() else float("inf")


COUNTS = ("round", "floats_up", "floats_down")
BY_CLIENT = "personal_accuracy_by_client"  #: in a run's summary


def read_log(folder: Path, rounds: int) -> Log | None:
    """Return what the run in a folder of results measured; None where it is not complete.

    Raises
    ------
    RefusedRun
        A file of it is there and cannot be read.
    """
    stamps = stamp_file(folder / "metrics.csv"), stamp_file(folder / "summary.json")
    return None if None in stamps else _read_log(folder, rounds, stamps)


@lru_cache(maxsize=4096)
def _read_log(folder: Path, rounds: int, stamps: Any) -> Log | None:
    """The same of files that are there; claims share runs."""
    table, about = folder / "metrics.csv", folder / "summary.json"
    try:
        columns = _read_table(read_text(table))
        summary = read_json_file(about, "the summary of a run", finite=False)
        if not columns["round"].size or columns["round"][-1] != rounds or "seconds" not in summary:
            return None  # which is written when all is done
        return Log(columns, float(summary["seconds"]), by_client(summary))
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise RefusedRun(f"the run in {folder} cannot be read ({error}); remove the folder, or give another") from error


def _read_table(text: str) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a table of numbers, by name."""
    names, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    if len({*names}) < len(names) or any(len(line) != len(names) for line in lines):
        raise ValueError("metrics.csv: a column occurs twice, or a line is longer or shorter than the first")
    values = np.asarray(lines, dtype=float).reshape(len(lines), len(names))
    values.flags.writeable = False  # claims share it
    return dict(zip(names, values.T, strict=True))


def by_client(info: Mapping[str, Any]) -> NDArray[np.float64] | None:
    """What a run's summary says of each client's model; None where it says nothing."""
    return np.asarray(info[BY_CLIENT], dtype=float) if BY_CLIENT in info else None
