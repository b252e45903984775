"""How likely random draws alone decide a part as it was decided.

A part that compares averages or frequencies of random draws says so with a `Chance`: the test, how many independent draws it rests on, and
the two-sided p-value of what it decided, where the truth lies on the edge of what is claimed. Parts that draw instances on which nothing
may fail have none. `fedtheory.claims.ledger` has the rule that keeps draws from making verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput


@dataclass(frozen=True)
class Chance:
    """How likely draws alone decide a part so: the test, the number of independent draws, and the two-sided p-value."""

    test: str
    draws: int
    value: float

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        if not 0 <= self.value <= 1 or self.draws < 1:
            raise InvalidInput(
                f"{self.test}: a chance of {self.value} over {self.draws} draws; expected one in [0, 1] over at least one"
            )
        object.__setattr__(self, "value", float(self.value))

    def __str__(self) -> str:
        return f"{self.value:.2g} by {self.test} over {self.draws} draws"


def chance_of_signs(successes: int, draws: int) -> Chance:
    """Exact sign test: how likely so many of the draws, or so few, are on one side where either side is as likely."""
    from scipy import stats

    return Chance("the exact sign test", draws, stats.binomtest(successes, draws, 0.5).pvalue)


def chance_of_mean(values: Any, edge: float = 0.0) -> Chance:
    """Student's t-test of a mean against an edge, for differences that are about normal; equal values have the sign test.

    Raises
    ------
    InvalidInput
        Fewer than two values, or some are not finite.
    """
    from scipy import stats

    values = _as_draws(values)
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        return Chance(
            "the exact sign test", values.size, 1.0 if values[0] == edge else min(1.0, 2.0 ** (1 - values.size))
        )
    return Chance("Student's t-test", values.size, stats.ttest_1samp(values, edge).pvalue)


def chance_of_deviation(values: Any, limit: float) -> Chance:
    """Chi-squared test of a standard deviation against a limit, for values that are about normal."""
    from scipy import stats

    values = _as_draws(values)
    score = ((values - values.mean()) ** 2).sum() / limit**2
    below = stats.chi2.cdf(score, values.size - 1)
    return Chance("the chi-squared test", values.size, min(1.0, 2 * min(below, 1 - below)))


def _as_draws(given: Any) -> NDArray[np.float64]:
    values: NDArray[np.float64] = np.asarray(given, dtype=float).ravel()
    if values.size < 2 or not np.isfinite(values).all():
        raise InvalidInput(f"a test needs at least two finite values, one a draw, got {values.tolist()[:5]}")
    return values
