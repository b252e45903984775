"""The printed formulas that somebody else read, and how many of them are tied to what the ledgers check: ``python -m paper_checks.second_readings``.

Each paper's folder has the second reading (``printed.tsv``, made from the paper's text without sight of the ledger: a row is a formula in symbols)
and the module ``transcribed``: ``TIES`` say which formula of the ledger is which row, ``UNTIED`` has a reason for every other row.

The numbers of the tables were read a second time by a program, from the papers' text: ``printed_tables.tsv``, a line a row, "-" where nothing is
printed. `list_differences` holds the numbers that the ledgers work with against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import zip_longest
from math import isnan
from pathlib import Path

from fedtheory.claims.transcriptions import Coverage, Printed, TranscribedRow, cover, read_transcription

PAPERS = ("fedpd", "afedpd", "safari", "dualfl", "fedslr")
#: papers whose tables of numbers are data, and the modules that have them: ``list_printed_rows() -> rows by table``
TABLES = {"afedpd": "published", "safari": "published", "fedslr": "printed"}


@dataclass(frozen=True)
class SecondReading:
    """A paper's rows, its ties, and the reasons for rows without one."""

    rows: Mapping[str, TranscribedRow]
    ties: Sequence[Printed]
    untied: Mapping[str, Sequence[str]]

    @property
    def coverage(self) -> Coverage:
        """How many rows are tied."""
        return cover(self.rows, self.ties, self.untied)


def read_second(paper: str) -> SecondReading:
    """The second reading of a paper, one of `PAPERS`."""
    module = import_module(f"{__package__}.{paper}.transcribed")
    return SecondReading(read_transcription(Path(__file__).parent / paper / "printed.tsv"), module.TIES, module.UNTIED)


def read_tables(paper: str) -> dict[str, list[tuple[float | None, ...]]]:
    """The second reading of a paper's tables, one of `TABLES`: the rows of each, None where nothing is printed."""
    found: dict[str, list[tuple[float | None, ...]]] = {}
    text = (Path(__file__).parent / paper / "printed_tables.tsv").read_text()
    for line in text.splitlines()[1:]:
        table, row = line.split("\t")
        found.setdefault(table, []).append(tuple(None if entry == "-" else float(entry) for entry in row.split()))
    return found


def list_differences(paper: str) -> list[str]:
    """Rows of a paper's tables in which the ledger has other numbers than the second reading."""
    own = import_module(f"{__package__}.{paper}.{TABLES[paper]}").list_printed_rows()
    second = read_tables(paper)
    if own.keys() != second.keys():
        return [f"the ledger has the tables {', '.join(own)}; the second reading {', '.join(second)}"]
    return [
        f"{table}, row {k + 1}: the ledger has {a}, the second reading {b}"
        for table, rows in second.items()
        for k, (a, b) in enumerate(zip_longest(map(_as_printed, own[table]), rows))
        if a != b
    ]


def _as_printed(row: Sequence[float | None]) -> tuple[float | None, ...]:
    return tuple(None if number is None or isnan(number) else float(number) for number in row)


def summarise() -> str:
    """How many rows of each paper are tied, and why the others are not."""
    lines = []
    for paper in PAPERS:
        found = read_second(paper).coverage
        lines.append(f"{paper}: {found.tied} of {found.rows} printed formulas are tied")
        lines += [f"    {count:3d}  {reason}" for reason, count in found.excused.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    print(summarise())
