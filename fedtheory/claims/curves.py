"""Pictures of bounds in one style: what is claimed, the exact worst case where there is one, and typical runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory.claims.claim import Picture


def draw_bound(
    title: str,
    x: Sequence[float] | Any,
    claimed: Sequence[float] | Any,
    *,
    ylabel: str,
    about: str,
    xlabel: str = "round",
    runs: Any = None,
    worst: Sequence[float] | Any = None,
    more: Sequence[tuple[str, Any]] = (),
    logx: bool = False,
) -> Picture:
    """Return the picture of a bound.

    Parameters
    ----------
    x, claimed : numbers ``(m,)``
    ylabel, xlabel : what is bounded, and what along
    about : str
        Method, problem, constants, seeds.
    runs : array ``(m, count)``, optional
        Of which the median with a band from the least to the largest, and the largest, are drawn.
    worst : numbers ``(m,)``, optional
        The exact worst case.
    more : (label, numbers ``(m,)``) ...
        Further curves.
    """
    x = [float(value) for value in x]
    series: list[dict[str, Any]] = [{"label": "claimed", "x": x, "y": _plain(claimed), "style": "dashed"}]
    if worst is not None:
        series.append({"label": "worst case over the class", "x": x, "y": _plain(worst)})
    series += [{"label": label, "x": x, "y": _plain(values)} for label, values in more]
    if runs is not None:
        runs = np.asarray(runs, dtype=float)
        band = {"low": _plain(runs.min(axis=1)), "high": _plain(runs.max(axis=1))} if runs.shape[1] > 1 else {}
        series.append(
            {"label": f"median of {runs.shape[1]} runs", "x": x, "y": _plain(np.median(runs, axis=1)), **band}
        )
        series.append({"label": "largest of them", "x": x, "y": _plain(runs.max(axis=1)), "style": "points"})
    return Picture(title, xlabel, ylabel, series, logx=logx, logy=_spreads(series), about=about)


def repeat_curve(label: str, x: Sequence[float] | Any, values: Any, *, geometric: bool = False) -> dict[str, Any]:
    """Return a curve of a picture from runs with several seeds: their mean, and a band from the least to the largest of them.

    Parameters
    ----------
    x : numbers ``(m,)``
    values : array ``(seeds, m)``
        Where a mean is not finite the curve is left out; one seed has no band.
    geometric : bool
        Whether the mean is that of logarithms.

    Examples
    --------
    >>> curve = repeat_curve("gd", [0, 1], [[1.0, 0.5], [3.0, 1.5]])
    >>> print(curve["y"], curve["low"], curve["high"])
    [2.0, 1.0] [1.0, 0.5] [3.0, 1.5]
    """
    found = np.atleast_2d(np.asarray(values, dtype=float))
    with np.errstate(all="ignore"):
        middle = np.exp(np.log(found).mean(axis=0)) if geometric else found.mean(axis=0)
    fine = np.isfinite(middle)
    curve = {"label": label, "x": np.asarray(x, dtype=float)[fine].tolist(), "y": middle[fine].tolist()}
    if len(found) == 1:
        return curve
    return curve | {"low": found.min(axis=0)[fine].tolist(), "high": found.max(axis=0)[fine].tolist()}


def _plain(values: Any) -> list[float]:
    return [float(value) for value in values]


def _spreads(series: Sequence[dict[str, Any]]) -> bool:
    """Whether values are positive and far enough apart for a logarithmic axis."""
    values = [value for curve in series for value in curve["y"]]
    return bool(values) and min(values) > 0 and max(values) > 20 * min(values)
