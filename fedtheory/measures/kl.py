"""Kurdyka-Lojasiewicz exponents seen along a trajectory, and the rates they imply.

F has exponent theta in [0, 1) at x* when (F(x) - F*)^theta <= c (1 - theta) dist(0, dF(x)) near x*. Along one trajectory
log dist = theta' log gap + const, so the slope of one against the other estimates theta'. What a trajectory shows is a lower bound: theta
must serve every path to x*, theta >= theta'. The slope is local, and how it still drifts over the window is part of the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fedtheory.core.errors import InvalidInput

#: gaps below this multiple of the error of F - F* are not looked at
ERROR_MARGIN = 100.0
#: windows in log(gap) and points in each, at most; fewest points of a window
WINDOWS, POINTS, LEAST = 12, 8, 3
#: exponents this close to 1/2 or 0 are not told from it
EXPONENT_ROUNDING = 1e-9


@dataclass(frozen=True)
class ImpliedRate:
    """What an exponent implies for a descent method: sufficient decrease and relative error.

    ``kind``: finite (theta = 0), linear (0 < theta <= 1/2) or sublinear. In the sublinear case after T rounds the gap is of order
    T^``gap``, the least subgradient T^``subgradient`` and the distance to the limit T^``distance``.
    """

    kind: Literal["finite", "linear", "sublinear"]
    gap: float | None = None
    subgradient: float | None = None
    distance: float | None = None


def implied_rate(theta: float) -> ImpliedRate:
    """Return the rate that goes with a Kurdyka-Lojasiewicz exponent.

    From r_{t+1} <= r_t - C r_t^(2 theta) the gap is of order T^{-1/(2 theta - 1)} for theta > 1/2; a subgradient of order
    gap^theta is the law of a trajectory that meets the inequality with equality. For FedSLR's Theorem 2 take its potential's exponent, which is
    max(theta, 1/2) of f + h; its (13) prints T^{-(4 theta - 2)} for the subgradient's bound T^{-1/(4 theta - 2)}.

    Raises
    ------
    InvalidInput
        theta is outside [0, 1).
    """
    if not 0 <= theta < 1:
        raise InvalidInput(f"a Kurdyka-Lojasiewicz exponent lies in [0, 1), got {theta}")
    if theta == 0:
        return ImpliedRate("finite")
    if theta <= 0.5:
        return ImpliedRate("linear")
    power = 1 / (2 * theta - 1)
    return ImpliedRate("sublinear", -power, -theta * power, -(1 - theta) * power)


@dataclass(frozen=True)
class Exponent:
    """An exponent seen along a trajectory.

    ``theta`` in [``low``, ``high``]: mean of the local slopes over the later half of the windows, and their 95 % Student interval widened by
    ``drift``. ``drift``: later half minus earlier half. ``decades``: how many powers of ten of the gap were seen. ``windows``: how many local
    slopes. The interval covers the limit when the bias of the slope at least halves from the earlier to the later half.

    Examples
    --------
    >>> gaps = 1 / np.arange(1.0, 2001) ** 2
    >>> found = Exponent(theta=0.75, low=0.74, high=0.76, drift=0.0, decades=6.0, windows=10)
    >>> print(found.kinds)
    ('sublinear',)
    """

    theta: float
    low: float
    high: float
    drift: float
    decades: float
    windows: int

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of rate that the interval leaves open, fastest first."""
        kinds = []
        if self.low <= EXPONENT_ROUNDING:
            kinds.append("finite")
        if self.low <= 0.5 + EXPONENT_ROUNDING and self.high > EXPONENT_ROUNDING:
            kinds.append("linear")
        if self.high > 0.5 + EXPONENT_ROUNDING:
            kinds.append("sublinear")
        return tuple(kinds)

    def __str__(self) -> str:
        return f"{self.theta:.4g} [{self.low:.4g}, {self.high:.4g}], {'/'.join(self.kinds)}, {self.decades:.1f} decades of the gap"


def kl_exponent(gaps: Any, subgradients: Any, *, error: float = 0.0, skip: float = 0.5) -> Exponent:
    """Estimate the exponent from F(x_t) - F* and dist(0, dF(x_t)) along one run.

    Parameters
    ----------
    gaps, subgradients : arrays ``(R,)``
        Measured at the same rounds, as by `fedtheory.measures.metrics.gap` and the root of `fedtheory.measures.metrics.stationarity`.
    error : number
        Error of the gaps (certified error of F*, rounding of F); gaps below `ERROR_MARGIN` times it are left out.
    skip : number
        Share of the decades of the gap, from the start, that is left out.

    Raises
    ------
    InvalidInput
        Shapes differ, or the usable gaps span less than a decade or too few rounds.
    """
    from scipy import stats

    r, s = np.asarray(gaps, dtype=float), np.asarray(subgradients, dtype=float)
    if r.ndim != 1 or r.shape != s.shape:
        raise InvalidInput(f"expected gaps and subgradients of one run, of one shape (R,); got {r.shape} and {s.shape}")
    usable = np.isfinite(r) & np.isfinite(s) & (r > max(ERROR_MARGIN * error, 0.0)) & (s > 0)
    level, slope = np.log(r[usable]), np.log(s[usable])
    if len(level) < 4 * LEAST or level.max() - level.min() < np.log(10) / (1 - skip):
        raise InvalidInput(
            f"{len(level)} rounds with a gap above its error span {(np.ptp(level) if len(level) else 0) / np.log(10):.2g} decades; expected "
            f"{4 * LEAST} rounds and {1 / (1 - skip):.2g} decades: run longer, measure more often, or give a better F*"
        )
    slopes, span = _local_slopes(level, slope, skip)
    half = len(slopes) // 2
    early, late = slopes[:half], slopes[half:]
    theta, drift = float(late.mean()), float(late.mean() - early.mean())
    width = float(stats.t.ppf(0.975, len(late) - 1) * late.std(ddof=1) / np.sqrt(len(late))) + abs(drift)
    return Exponent(theta, theta - width, theta + width, drift, span / np.log(10), len(slopes))


def _local_slopes(level: NDArray[Any], slope: NDArray[Any], skip: float) -> tuple[NDArray[Any], float]:
    """Least-squares slopes on windows in log(gap), from large gaps to small, and the length in log(gap) of all of them.

    Points are first thinned evenly in log(gap), so that a slow tail does not outweigh the rest.
    """
    from scipy import stats

    top, bottom = level.max() - skip * (level.max() - level.min()), level.min()
    order = np.argsort(level)
    places = np.searchsorted(level[order], np.linspace(bottom, top, WINDOWS * POINTS)).clip(0, len(level) - 1)
    picks = order[np.unique(places)][::-1]
    if len(picks) < 4 * LEAST:
        raise InvalidInput(
            f"the later part of the run holds {len(picks)} distinct gaps, local slopes need {4 * LEAST}: measure more often, take smaller "
            "steps, or lower skip"
        )
    windows = np.array_split(picks, min(WINDOWS, len(picks) // LEAST))
    return np.asarray([stats.linregress(level[w], slope[w]).slope for w in windows]), float(top - bottom)


def kl_constant(gaps: Any, subgradients: Any, theta: float) -> float:
    """Smallest c for which gap^theta <= c (1 - theta) dist holds at all points given; infinite where dist is zero and the gap is not."""
    r, s = np.asarray(gaps, dtype=float), np.asarray(subgradients, dtype=float)
    if not 0 <= theta < 1:
        raise InvalidInput(f"a Kurdyka-Lojasiewicz exponent lies in [0, 1), got {theta}")
    r, s = r[r > 0], s[r > 0]
    with np.errstate(divide="ignore"):
        return float(np.max(r**theta / ((1 - theta) * s), initial=0.0))
