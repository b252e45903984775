"""Curves as a small ``<svg>`` element for a page: round numbers on the axes, colours that colour-blind readers tell apart, ink that is the page's.

Title and legend are left to the page, where they wrap; `fedtheory.tools.pictures` draws the same pictures into files.
"""

from __future__ import annotations

import html
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.tools.pictures import CURVE_COLOURS

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 330, 66, 14, 10, 46
#: points of a curve that are drawn; more are not seen
DRAWN_POINTS = 100
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Axis:
    """An axis: its ends as they are drawn, its ticks with their labels, and whether it is logarithmic."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool

    def place(self, values: Any) -> Any:
        """Return where values are, as shares of the axis."""
        seen = np.log10(values) if self.log else np.asarray(values, dtype=float)
        return (seen - self.low) / (self.high - self.low)


def make_axis(values: Any, log: bool, most: int = 6) -> Axis:
    """Return an axis for finite values (positive ones, if logarithmic): ticks are 1, 2 or 5 times a power of ten, or powers of ten."""
    values = np.log10(values) if log else np.asarray(values, dtype=float)
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    whole_numbers = not log and high - low >= 1 and bool(np.all(values == np.round(values)))
    if log and high - low > 1:
        step = math.ceil((high - low) / most)
        whole = range(math.floor(low + 1e-9), math.ceil(high - 1e-9) + 1)
        powers = [power for power in whole if power % step == 0 and power <= sys.float_info.max_10_exp]
        ticks = [(10.0**power, _power_of_ten(power)) for power in powers]
        return _with_margin(min([low, *map(float, powers)]), high, ticks, True)
    if log:
        low, high = math.pow(10, low), math.pow(10, high)
    if high == low:
        room = abs(low) / 2 or 1.0
        low, high = low - room, high + room
    if log:
        low = max(low, high / 1000.0)
    gap = _round_step((high - low) / most)
    gap = max(gap, 1.0) if whole_numbers else gap
    marks = [k * gap for k in range(math.ceil(low / gap - 1e-9), math.floor(high / gap + 1e-9) + 1)]
    labelled = tuple((mark, f"{mark:.10g}") for mark in marks if not log or mark > 0)
    if log:
        low, high = math.log10(low), math.log10(high)
    return _with_margin(low, high, labelled, log)


def _with_margin(low: float, high: float, ticks: Sequence[tuple[float, str]], log: bool) -> Axis:
    gap = 0.03 * (high - low)
    return Axis(low - gap, high + gap, tuple(ticks), log)


def _round_step(step: float) -> float:
    """The least of 1, 2 and 5 times a power of ten that is no smaller."""
    unit = 10.0 ** math.floor(math.log10(step))
    return next(times * unit for times in (1, 2, 5, 10) if times * unit >= step * (1 - 1e-9))


def _power_of_ten(power: int) -> str:
    return f"{10**power}" if 0 <= power <= 3 else f"10{str(power).translate(_RAISED)}"


def draw_chart(picture: Mapping[str, Any]) -> str:
    """Return the curves of a picture (the fields of `fedtheory.claims.Picture`) as SVG; values that cannot be shown are left out."""
    logx, logy = bool(picture.get("logx")), bool(picture.get("logy"))
    curves = [_visible(series, logx, logy) for series in picture["series"]]
    across = make_axis(np.concatenate([x for x, _ in curves]), logx, 8)
    bands = [_band(series, logx, logy) for series in picture["series"]]
    up = make_axis(np.concatenate([y for _, y in (*curves, *(edge for band in bands for edge in band))]), logy)
    found = [*_frame(across, up, picture["xlabel"], picture["ylabel"])]
    legend = list_legend(picture)
    for k, band in enumerate(bands):
        found += [_area(across, up, band, legend[k][0])] if band else []
    for k in sorted(range(len(curves)), key=lambda k: legend[k][1] == "dashed"):  # what is claimed lies on top
        colour, style, _ = legend[k]
        found.append(_curve(across.place(curves[k][0]), up.place(curves[k][1]), style, colour))
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(picture["title"])}">{"".join(found)}</svg>'


def list_legend(picture: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return colour, style and label of each curve."""
    return [
        (CURVE_COLOURS[k % len(CURVE_COLOURS)], series.get("style", "line"), series["label"])
        for k, series in enumerate(picture["series"])
    ]


def _visible(series: Mapping[str, Any], logx: bool, logy: bool) -> tuple[Any, Any]:
    x, y = np.asarray(series["x"], dtype=float), np.asarray(series["y"], dtype=float)
    keep = np.isfinite(x) & np.isfinite(y) & ((x > 0) | (not logx)) & ((y > 0) | (not logy))
    x, y = x[keep], y[keep]
    if len(x) <= DRAWN_POINTS:
        return x, y
    even = np.linspace(0, len(x) - 1, DRAWN_POINTS)
    chosen = np.geomspace(1, len(x), DRAWN_POINTS) - 1 if logx else even
    places = np.unique(np.round(chosen).astype(int))
    return x[places], y[places]


def _band(series: Mapping[str, Any], logx: bool, logy: bool) -> list[tuple[Any, Any]]:
    """The lower and the upper edge of a curve's band, as far as they can be shown; nothing where it has none."""
    if "low" not in series:
        return []
    edges = [_visible({"x": series["x"], "y": series[edge]}, logx, logy) for edge in ("low", "high")]
    return edges if all(len(x) for x, _ in edges) else []


def _area(across: Axis, up: Axis, band: Sequence[tuple[Any, Any]], colour: str) -> str:
    """A band, light enough that curves are seen through it."""
    there, back = (_pixels(across.place(x), up.place(y)) for x, y in band)
    points = " ".join(f"{a},{b}" for a, b in [*there, *reversed(back)])
    return f'<polygon points="{points}" fill="{colour}" fill-opacity="0.15" />'


def _pixels(across: Any, up: Any) -> list[tuple[str, str]]:
    x, y = LEFT + (WIDTH - LEFT - RIGHT) * across, TOP + (HEIGHT - TOP - BOTTOM) * (1 - up)
    return [(f"{a:.1f}".removesuffix(".0"), f"{b:.1f}".removesuffix(".0")) for a, b in zip(x, y, strict=True)]


def _curve(across: Any, up: Any, style: str, colour: str) -> str:
    points = _pixels(np.atleast_1d(across), np.atleast_1d(up))
    if style == "points" or len(points) == 1:
        circles = "".join(f'<circle cx="{a}" cy="{b}" r="3.2" />' for a, b in points)
        return f'<g fill="{colour}">{circles}</g>'
    dashes = ' stroke-dasharray="7 5"' if style == "dashed" else ""
    return f'<polyline points="{" ".join(f"{a},{b}" for a, b in points)}" fill="none" stroke="{colour}" stroke-width="2"{dashes} />'


def _frame(across: Axis, up: Axis, xlabel: str, ylabel: str) -> Sequence[str]:
    """Grid, ticks and the axes' names."""
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
    found = []
    for value, label in across.ticks:
        share = float(across.place(value))
        if 0 <= share <= 1:
            x = f"{LEFT + (right - LEFT) * share:.1f}"
            found.append(
                f'<path d="M{x} {TOP}V{low}" /><text x="{x}" y="{low + 16}" text-anchor="middle">{label}</text>'
            )
    for value, label in up.ticks:
        share = float(up.place(value))
        if 0 <= share <= 1:
            y = TOP + (low - TOP) * (1 - share)
            found.append(
                f'<path d="M{LEFT} {y:.1f}H{right}" /><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
            )
    found.append(f'<path class="edge" d="M{LEFT} {TOP}V{low}H{right}" />')
    middle = (TOP + low) / 2
    found.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{html.escape(xlabel)}</text>')
    found.append(
        f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">{html.escape(ylabel)}</text>'
    )
    return found
