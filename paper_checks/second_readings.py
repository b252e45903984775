"""The printed formulas that somebody else read, and how many of them are tied to what the ledgers check: ``python -m paper_checks.second_readings``.

Each paper's folder has the second reading (``printed.tsv``, made from the paper's text without sight of the ledger: a row is a formula in symbols)
and the module ``transcribed``: ``TIES`` say which formula of the ledger is which row, ``UNTIED`` has a reason for every other row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from fedtheory.claims.transcriptions import Coverage, Printed, TranscribedRow, cover, read_transcription

PAPERS = ("fedpd", "afedpd", "safari", "dualfl", "fedslr")


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
