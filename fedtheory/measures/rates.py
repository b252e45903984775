"""Observed rates: a fitted exponent or contraction factor, with an interval and the window it was fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput

FLOOR = 1e-28  #: squared quantities below this times the start are rounding


@dataclass(frozen=True)
class Fit:
    """A fitted rate.

    ``rate``: the exponent (values ~ round^rate) or the factor a round (values ~ rate^round). ``low``, ``high``: 95 %
    interval. ``window``: first and last round used. ``points``: how many values were used.

    Examples
    --------
    >>> found = fit_contraction(np.arange(30), 0.5 ** np.arange(30))
    >>> print(f"{found.rate:.3f}")
    0.500
    """

    rate: float
    low: float
    high: float
    window: tuple[int, int]
    points: int

    def __str__(self) -> str:
        return f"{self.rate:.4g} [{self.low:.4g}, {self.high:.4g}] on rounds {self.window[0]}-{self.window[1]}"


def find_window(values: NDArray[Any], skip: float = 0.25) -> slice:
    """Return the window to fit on: after the first ``skip`` of the decay, before rounding takes over.

    The end is where values first fall below `FLOOR` times the start or stop being positive and finite.
    """
    values = np.asarray(values, dtype=float)
    fine = np.isfinite(values) & (values > FLOOR * max(values[0], np.finfo(float).tiny)) & (values > 0)
    end = len(values) if fine.all() else int(np.argmin(fine))
    return slice(int(skip * end), end)


def fit_exponent(rounds: Any, values: Any, window: slice | None = None) -> Fit:
    """Fit values ~ C round^rate by least squares in logarithms, points spread evenly in log(round).

    Raises
    ------
    InvalidInput
        Fewer than five positive values lie in the window.
    """
    rounds, values = np.asarray(rounds, dtype=float), np.asarray(values, dtype=float)
    window = window or find_window(values)
    r, v = rounds[window], values[window]
    keep = r > 0
    r, v = r[keep], v[keep]
    if len(r) > 60:  # evenly in log(round), so that the long tail does not decide alone
        picks = np.unique(np.searchsorted(r, np.geomspace(r[0], r[-1], 60)).clip(0, len(r) - 1))
        r, v = r[picks], v[picks]
    return _fit(np.log(r), v, r, np.asarray)


def fit_contraction(rounds: Any, values: Any, window: slice | None = None) -> Fit:
    """Fit values ~ C rate^round by least squares in logarithms.

    Raises
    ------
    InvalidInput
        Fewer than five positive values lie in the window.
    """
    rounds, values = np.asarray(rounds, dtype=float), np.asarray(values, dtype=float)
    window = window or find_window(values)
    return _fit(rounds[window], values[window], rounds[window], np.exp)


def _fit(x: NDArray[Any], values: NDArray[Any], rounds: NDArray[Any], back: Any) -> Fit:
    from scipy import stats

    good = np.isfinite(values) & (values > 0)
    x, values, rounds = x[good], values[good], rounds[good]
    if len(x) < 5:
        raise InvalidInput(f"a rate needs at least five positive values in its window, got {len(x)}")
    line = stats.linregress(x, np.log(values))
    # residuals of a deterministic run are smooth, not independent: widen by their lag-one correlation
    residual = np.log(values) - (line.intercept + line.slope * x)
    spread = float(residual @ residual)
    # residuals at rounding level say nothing about correlation
    correlated = spread > 1e-20 * len(x)
    rho = float(np.clip(residual[1:] @ residual[:-1] / spread, 0, 0.99)) if correlated else 0.0
    # not line.stderr, which is not a number for constant values
    error = np.sqrt(spread / (len(x) - 2) / float(((x - x.mean()) ** 2).sum()))
    half = stats.t.ppf(0.975, len(x) - 2) * error * np.sqrt((1 + rho) / (1 - rho))
    return Fit(
        float(back(line.slope)),
        float(back(line.slope - half)),
        float(back(line.slope + half)),
        (int(rounds[0]), int(rounds[-1])),
        len(x),
    )
