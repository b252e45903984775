"""Printed numbers beside measured ones: a paper's cells with our intervals, and the numbers in a statement's sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.claims.chance import chance_of_mean
from fedtheory.claims.claim import Engine, Part, Role, Table
from fedtheory.core.errors import InvalidInput
from fedtheory.measures.paired import paired_difference


@dataclass(frozen=True)
class PrintedCell:
    """A number of a paper's table, and what we measured of it, one value a seed.

    ``deviation``: what the paper prints behind a plus-minus, and ``repeats`` the number of its own runs; without them the printed number is
    taken as it stands.

    Examples
    --------
    >>> cell = PrintedCell("MNIST, FedAvg", 92.7, [92.5, 92.6, 92.9, 92.7])
    >>> print(cell.within, "({:.2f}, {:.2f}, {:.2f})".format(*cell.interval))
    True (92.67, 92.40, 92.95)
    """

    name: str
    printed: float
    ours: Any
    deviation: float | None = None
    repeats: int | None = None

    @property
    def interval(self) -> tuple[float, float, float] | None:
        """Mean and 95 % Student interval of ours; None with a single seed, or where a run diverged."""
        values = np.asarray(self.ours, dtype=float)
        if values.size < 2 or not np.isfinite(values).all():
            return None
        found = paired_difference(values, np.zeros(values.size))
        return found.mean, found.low, found.high

    @property
    def within(self) -> bool | None:
        """Whether the printed number, give or take twice the standard error that the paper's deviation implies, meets our interval."""
        if self.interval is None:
            return None
        _, low, high = self.interval
        error = 2 * (self.deviation or 0.0) / np.sqrt(self.repeats or 1)
        return bool(low - error <= self.printed <= high + error)


def compare_cells(title: str, cells: Iterable[PrintedCell], *, unit: str = "%", digits: int = 2) -> Table:
    """Return a table of printed numbers beside ours with their intervals, each "within" or "outside"."""
    rows: list[list[Any]] = []
    for cell in cells:
        printed = f"{cell.printed:.{digits}f}" + ("" if cell.deviation is None else f" +- {cell.deviation:.{digits}f}")
        if cell.interval is None:
            rows.append([cell.name, printed, "--", ""])
            continue
        mean, low, high = cell.interval
        ours = f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
        rows.append([cell.name, printed, ours, "within" if cell.within else "outside"])
    return Table(f"{title} ({unit})" if unit else title, ["cell", "paper", "ours, 95 %", "paper's number is"], rows)


def count_within(cells: Sequence[PrintedCell]) -> str:
    """Return how many printed numbers lie within our intervals, in words."""
    told = [cell.within for cell in cells if cell.within is not None]
    return f"{sum(told)} of {len(told)} printed numbers lie within our intervals"


def matches(
    name: str,
    printed: float,
    ours: Any,
    text: str,
    *,
    within: float,
    role: Role = "printed",
    unit: str = "",
    engine: Engine = "real data",
) -> Part:
    """Part: a number in a statement's sentence is what we measure, up to ``within``, over seeds.

    It holds where our 95 % interval lies inside (printed - within, printed + within), fails where it lies outside, and is undecided otherwise.

    Raises
    ------
    InvalidInput
        ``within`` is no number above zero: it must say how precisely the sentence speaks, such as the half of its last digit.
    """
    if not within > 0:
        raise InvalidInput(f"{name}: a sentence's number is meant up to something above zero, got {within}")
    found = PrintedCell(name, printed, ours).interval
    if found is None:
        return Part(name, None, engine, f"{text}: one seed or a diverged run has no interval", role=role)
    mean, low, high = found
    inside, outside = (
        printed - within < low and high < printed + within,
        high < printed - within or low > printed + within,
    )
    values = np.asarray(ours, dtype=float)
    return Part(
        name,
        True if inside else False if outside else None,
        engine,
        f"{text}: printed {printed:g}, ours {mean:.4g} [{low:.4g}, {high:.4g}]{unit}, meant up to {within:g}",
        role=role,
        margin=(within - max(abs(low - printed), abs(high - printed))) / within,
        data={"ours": values.tolist(), "printed": printed},
        chance=chance_of_mean(values, printed + np.copysign(within, mean - printed)),
    )
