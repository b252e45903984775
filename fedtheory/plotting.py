"""Drawing pictures that are given as data."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.errors import require

STYLES: dict[str, dict[str, Any]] = {
    "line": {"linestyle": "-"},
    "dashed": {"linestyle": "--", "alpha": 0.8},
    "points": {"linestyle": "none", "marker": "o", "markersize": 4},
}


def figure(picture: Mapping[str, Any], size: tuple[float, float] = (6.0, 3.6)) -> Any:
    """Return a matplotlib figure of a picture (the fields of `fedtheory.claims.Picture`)."""
    require("matplotlib", "pictures")
    from matplotlib.figure import Figure

    fig = Figure(figsize=size, layout="constrained")
    axes = fig.subplots()
    for series in picture["series"]:
        x, y = np.asarray(series["x"], dtype=float), np.asarray(series["y"], dtype=float)
        keep = np.isfinite(x) & np.isfinite(y)
        keep &= (y > 0) if picture.get("logy") else True
        keep &= (x > 0) if picture.get("logx") else True
        axes.plot(x[keep], y[keep], label=series["label"], **STYLES[series.get("style", "line")])
    axes.set(title=picture["title"], xlabel=picture["xlabel"], ylabel=picture["ylabel"])
    if picture.get("logx"):
        axes.set_xscale("log")
    if picture.get("logy"):
        axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return fig


def save(picture: Mapping[str, Any], path: Path) -> None:
    """Write a picture to a file; the ending chooses the format."""
    figure(picture).savefig(path, dpi=150)


def as_data_uri(picture: Mapping[str, Any]) -> str:
    """Return a picture as an inline SVG for a self-contained page."""
    buffer = io.BytesIO()
    figure(picture).savefig(buffer, format="svg")
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
