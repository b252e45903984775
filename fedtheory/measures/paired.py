"""Paired comparisons: an interval for the mean difference of two runs that share their randomness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput


@dataclass(frozen=True)
class PairedDifference:
    """Mean of the paired differences with its interval, over ``pairs`` pairs.

    Examples
    --------
    >>> found = paired_difference([1.0, 1.2, 0.9, 1.1], [0.5, 0.6, 0.5, 0.4])
    >>> print(f"{found.mean:.2f}", found.sign)
    0.55 1
    """

    mean: float
    low: float
    high: float
    pairs: int

    @property
    def sign(self) -> int:
        """Return +1 or -1 when the interval lies on one side of zero, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    def __str__(self) -> str:
        return f"{self.mean:+.3g} [{self.low:+.3g}, {self.high:+.3g}] over {self.pairs} pairs"


def paired_difference(first: Any, second: Any, level: float = 0.95) -> PairedDifference:
    """Student interval of a level for the mean of ``first - second``, paired entry by entry.

    Raises
    ------
    InvalidInput
        Fewer than two pairs, or lengths differ.
    """
    a, b = np.asarray(first, dtype=float).ravel(), np.asarray(second, dtype=float).ravel()
    if a.shape != b.shape or a.size < 2:
        raise InvalidInput(
            f"a paired comparison needs two equally long lists of at least two runs, got {a.size} and {b.size}"
        )
    from scipy import stats  # takes half a second, for which not everyone who imports this has a use

    d = a - b
    half = float(stats.t.ppf((1 + level) / 2, d.size - 1) * d.std(ddof=1) / np.sqrt(d.size))
    return PairedDifference(float(d.mean()), float(d.mean()) - half, float(d.mean()) + half, int(d.size))
