r"""Observed rates: a fitted exponent or contraction factor, with an interval and the window it was fitted on.

A rate is a statement about the tail of a run, and a run ends. What is left of its beginning bends the logarithms: fits on different parts of
the window then differ, by more than their residuals explain. An interval is given only where that is over. The window is cut in three,
each third gives a slope :math:`s_1, s_2, s_3` with a half-width :math:`h_k` from its residuals, and

- where the last change :math:`c = |s_3 - s_2|` is a share :math:`q \le 3/4` of the one before, and goes on so, a geometric series is still to
  come: the interval is twice that, and never less than twice the last change, :math:`s_3 \pm (h_3 + 2 c \max\{1, q/(1 - q)\})`;
- where both changes are within :math:`\sqrt{h_k^2 + h_{k+1}^2}` they are noise: the interval is that of one line through all of the
  window, twice as wide as its residuals say, for a change that hides in the noise;
- otherwise, and where a third has fewer than `FEW` values, the fit is *transient*: its interval is everything.

A change below `RESOLUTION` of the slope counts as none, and no interval is narrower than that. No fit sees a slower part that is still too
small to be seen when the run ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput

FLOOR = 1e-22  #: squared quantities below this times the start have a relative rounding above 1e-5
RESOLUTION = 1e-3  #: of a slope: smaller differences of two slopes are not told apart
STILL = 0.75  #: the last change of the slope over the one before it; above, it is not known where this goes
FEW = 4  #: values that a third of a window needs for a slope and its error; fewer are not judged, and called transient


@dataclass(frozen=True)
class Fit:
    """A fitted rate.

    ``rate``: the exponent (values ~ round^rate) or the factor a round (values ~ rate^round). ``low``, ``high``: 95 %
    interval; everything where the fit is ``transient``. ``window``: first and last round used. ``points``: how many values were used.

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
    transient: bool = False

    def __str__(self) -> str:
        found = "(transient)" if self.transient else f"[{self.low:.4g}, {self.high:.4g}]"
        return f"{self.rate:.4g} {found} on rounds {self.window[0]}-{self.window[1]}"


def find_window(values: NDArray[Any], skip: float = 0.25, error: float = 0.0) -> slice:
    """Return the window to fit on: after the first ``skip`` of the decay, before rounding takes over.

    The end is where values first fall below `FLOOR` times the start, or 10^4 times their own ``error`` (of f(x) - f*, say, the rounding of
    f), or stop being positive and finite.
    """
    values = np.asarray(values, dtype=float)
    least = max(FLOOR * max(values[0], np.finfo(float).tiny), 1e4 * error)
    fine = np.isfinite(values) & (values > least)
    end = len(values) if fine.all() else int(np.argmin(fine))
    return slice(int(skip * end), end)


def fit_exponent(rounds: Any, values: Any, window: slice | None = None) -> Fit:
    """Fit values ~ C round^rate by least squares in logarithms, points spread evenly in log(round).

    A ``window`` that is given is fitted as one line, whether or not its parts agree.

    Raises
    ------
    InvalidInput
        Fewer than five positive values lie in the window.
    """
    rounds, values = np.asarray(rounds, dtype=float), np.asarray(values, dtype=float)
    chosen = window or find_window(values)
    r, v = rounds[chosen], values[chosen]
    keep = r > 0
    r, v = r[keep], v[keep]
    if len(r) > 60:  # evenly in log(round), so that the long tail does not decide alone
        picks = np.unique(np.searchsorted(r, np.geomspace(r[0], r[-1], 60)).clip(0, len(r) - 1))
        r, v = r[picks], v[picks]
    return _fit(np.log(r), v, r, np.asarray, judged=window is None)


def fit_contraction(rounds: Any, values: Any, window: slice | None = None, *, error: float = 0.0) -> Fit:
    """Fit values ~ C rate^round by least squares in logarithms.

    A ``window`` that is given is fitted as one line, whether or not its parts agree. ``error``: as for `find_window`.

    Raises
    ------
    InvalidInput
        Fewer than five positive values lie in the window.
    """
    rounds, values = np.asarray(rounds, dtype=float), np.asarray(values, dtype=float)
    chosen = window or find_window(values, error=error)
    return _fit(rounds[chosen], values[chosen], rounds[chosen], np.exp, judged=window is None)


def _fit(x: NDArray[Any], values: NDArray[Any], rounds: NDArray[Any], back: Any, *, judged: bool) -> Fit:
    good = np.isfinite(values) & (values > 0)
    x, y, rounds = x[good], np.log(values[good]), rounds[good]
    if len(x) < 5:
        raise InvalidInput(f"a rate needs at least five positive values in its window, got {len(x)}")
    if judged:
        slope, half, first = _tail(x, y)
    else:
        slope, half, first = *_line(x, y, 1), 0
    used = rounds[first:]
    return Fit(
        float(back(slope)),
        float(back(slope - half)),
        float(back(slope + half)),
        (int(used[0]), int(used[-1])),
        len(used),
        not np.isfinite(half),
    )


def _tail(x: NDArray[Any], y: NDArray[Any]) -> tuple[float, float, int]:
    """Slope, half-width (infinite: transient) and first index used, by the rule above."""
    if len(x) < 3 * FEW:
        return _line(x, y, 1)[0], np.inf, 0
    thirds = np.array_split(np.arange(len(x)), 3)
    (s1, h1), (s2, h2), (s3, h3) = (_line(x[third], y[third], 2) for third in thirds)
    before, last = abs(s2 - s1), abs(s3 - s2)
    least = RESOLUTION * abs(s3) + 1e-10 / float(np.ptp(x))  # logarithms are rounded, of constant values too
    if before <= np.hypot(h1, h2) and last <= np.hypot(h2, h3):
        slope, half = _line(x, y, 1)
        return slope, 2 * half + least, 0
    if last <= max(STILL * before, least):
        share = min(last / before, STILL) if before else 0.0
        return s3, h3 + 2 * last * max(1.0, share / (1 - share)) + least, int(thirds[2][0])
    return s3, np.inf, int(thirds[2][0])


def _line(x: NDArray[Any], y: NDArray[Any], degree: int) -> tuple[float, float]:
    """Slope of the least-squares line, and its 95 % half-width from what a polynomial of this degree leaves over."""
    from scipy import stats

    t = x - x.mean()
    slope = float(t @ y / (t @ t))
    powers = np.vander(t / np.abs(t).max(), degree + 1)
    residual = y - powers @ np.linalg.lstsq(powers, y, rcond=None)[0]
    free, spread = len(x) - degree - 1, float(residual @ residual)
    # residuals of a deterministic run are smooth, not independent: widen by their lag-one correlation;
    # residuals at rounding level say nothing about correlation
    rho = float(np.clip(residual[1:] @ residual[:-1] / spread, 0, 0.99)) if spread > 1e-20 * len(x) else 0.0
    error = np.sqrt(spread / free / float(t @ t))
    return slope, float(stats.t.ppf(0.975, free) * error * np.sqrt((1 + rho) / (1 - rho)))
