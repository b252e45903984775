"""Drawing pictures that are given as data."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.core.errors import InvalidInput, require

#: of curves, in this order: told apart by colour-blind readers, on white and on black (Okabe and Ito)
CURVE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a")
#: so many values on a logarithmic axis are labelled one by one
FEW_VALUES = 8
STYLES: dict[str, dict[str, Any]] = {
    "line": {"linestyle": "-"},
    "dashed": {"linestyle": "--", "alpha": 0.8},
    "points": {"linestyle": "none", "marker": "o", "markersize": 4},
}


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(picture: Mapping[str, Any], size: tuple[float, float] = (6.0, 3.6)) -> Any:
    """Return a matplotlib figure of a picture: the fields of `fedtheory.claims.Picture`, or a heat map.

    With ``nested``, curves get thinner from the first to the last, with a dot at every point, so that those that coincide are all seen. With
    ``diverged``, an infinite value is a cross at the upper edge. A picture with ``z`` is a heat map: a matrix over ``x`` and
    ``y``, rows for ``y``, named by ``zlabel``, logarithmic unless ``logz`` is false; infinite cells are crossed out, cells that are NaN
    are left blank, and cells (row, column) in ``dots`` have a dot.
    """
    require("matplotlib", "pictures")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    fig = Figure(figsize=size, layout="constrained")
    axes = fig.subplots()
    axes.set_prop_cycle(color=CURVE_COLOURS)
    axes.set(title=picture["title"], xlabel=picture["xlabel"], ylabel=picture["ylabel"])
    if "z" in picture:
        _heat_map(fig, axes, picture)
        return fig
    for k, series in enumerate(picture["series"]):
        x, y = np.asarray(series["x"], dtype=float), np.asarray(series["y"], dtype=float)
        keep = np.isfinite(x) & np.isfinite(y)
        keep &= (y > 0) if picture.get("logy") else True
        keep &= (x > 0) if picture.get("logx") else True
        (line,) = axes.plot(x[keep], y[keep], label=series["label"], **STYLES[series.get("style", "line")])
        if picture.get("nested"):
            width = 1.5 + 1.5 * (len(picture["series"]) - 1 - k)
            line.set(linewidth=width, marker="o", markersize=width + 2.5)
        if "low" in series:
            low, high = (np.asarray(series[edge], dtype=float)[keep] for edge in ("low", "high"))
            least = np.min(y[keep], initial=np.inf)
            low = np.where(low > 0, low, least) if picture.get("logy") else low
            axes.fill_between(x[keep], low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        if picture.get("diverged"):
            line.set_marker(".")
            lost = x[np.isposinf(y)]
            edge = axes.get_xaxis_transform()
            axes.plot(lost, np.ones_like(lost), "x", color=line.get_color(), transform=edge, clip_on=False)
    if picture.get("logy"):
        axes.set_yscale("log")
    if picture.get("logx"):
        axes.set_xscale("log")
        shown = np.unique([float(v) for s in picture["series"] for v in s["x"] if 0 < v < np.inf])
        if len(shown) <= FEW_VALUES:  # where the scale's own labels would run into each other
            axes.set_xticks(shown, labels=[f"{v:g}" for v in shown])
            axes.set_xticks([], minor=True)
    elif all(np.all(x == np.round(x)) for x in (np.asarray(s["x"], dtype=float) for s in picture["series"])):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return fig


def _heat_map(fig: Any, axes: Any, picture: Mapping[str, Any]) -> None:
    """Cells of equal size, labelled by their values: a grid may be even in steps or in ratios."""
    from matplotlib.colors import LogNorm

    z = np.asarray(picture["z"], dtype=float)
    finite = z[np.isfinite(z)]
    norm = LogNorm() if picture.get("logz", True) and finite.size and finite.min() > 0 else None
    image = axes.imshow(np.where(np.isfinite(z), z, np.nan), origin="lower", aspect="auto", norm=norm)
    fig.colorbar(image, label=picture["zlabel"])
    rows, columns = np.nonzero(np.isposinf(z))
    axes.plot(columns, rows, "rx")
    for row, column in picture.get("dots", ()):
        axes.plot(column, row, marker="o", color="white", markeredgecolor="black", markersize=4)
    for axis, values in ((axes.xaxis, picture["x"]), (axes.yaxis, picture["y"])):
        axis.set_ticks(range(len(values)), labels=[f"{v:.3g}" for v in values])


def save_picture(picture: Mapping[str, Any], path: Path) -> None:
    """Write a picture to a file; the ending chooses the format."""
    save_figure(draw(picture), path)


def save_figure(drawn: Any, path: Path) -> None:
    """Write a matplotlib figure to a file, whose folder is made; the ending chooses the format, as `require_picture_name` knows them."""
    require_picture_name(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(path, dpi=150)


def require_picture_name(path: Path) -> None:
    """Refuse a file in which no picture could be written, before what it shows is computed.

    Raises
    ------
    InvalidInput
        The ending is that of no format.
    MissingExtra
        matplotlib is not installed.
    """
    require("matplotlib", "pictures")
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in known:
        raise InvalidInput(f"{path} has the ending of no picture format; known are {', '.join(known)}")


def draw_split(counts: Any, classes: Sequence[str], title: str) -> Any:
    """Return a matplotlib figure of how classes are spread over clients.

    Columns are clients and rows classes; darkness is the class's share of the client's samples, and white is none. Above stand
    the clients' sizes. Darkness carries the numbers, for every kind of colour vision, so that 100 clients and 100 classes
    can be read, where stacked bars would need as many colours as classes.

    Parameters
    ----------
    counts : array ``(n, classes)``
        Samples of each class on each client; no client is empty.
    classes : names of the classes
    title : str
    """
    require("matplotlib", "pictures")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    counts = np.asarray(counts)
    n, kinds = counts.shape
    sizes = counts.sum(axis=1)
    fig = Figure(figsize=(7.0, 2.6 + 0.18 * min(kinds, 30)), layout="constrained")
    above, below = fig.subplots(2, 1, sharex=True, height_ratios=(1, 1 + 0.2 * min(kinds, 30)))
    above.bar(np.arange(n), sizes, width=1 if n > 50 else 0.8, color="0.35")
    above.set(title=title, ylabel="samples")
    share = np.ma.masked_equal(counts / sizes[:, None], 0)
    top = max(float(share.max()), 2 / kinds)  # an even spread over the classes is of half darkness, not of full
    image = below.imshow(share.T, aspect="auto", cmap="YlGnBu", vmin=0, vmax=top, interpolation="nearest")
    shown = np.arange(0, kinds, -(-kinds // 30))
    below.set_yticks(shown, [classes[k] for k in shown], fontsize="small")
    below.set(xlabel="client", ylabel="class")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    fig.colorbar(image, ax=[above, below], label="share of the client's samples")
    return fig


def draw_band(axes: Any, x: Any, values: Any) -> None:
    """Shade from the least to the largest of repeated values ``(runs, m)``, in the colour of the curve that was drawn last."""
    found = np.asarray(values, dtype=float)
    colour = axes.lines[-1].get_color()
    axes.fill_between(x, found.min(axis=0), found.max(axis=0), color=colour, alpha=0.15, linewidth=0)


def label_axes(axes: Any, title: str, xlabel: str, ylabel: str, *, legend: bool = True, **limits: Any) -> None:
    """Give axes of one's own what the pictures here have: a title, labels, rounds at whole numbers, a legend; ``limits`` go to ``Axes.set``."""
    from matplotlib.ticker import MaxNLocator

    axes.set(title=title, xlabel=xlabel, ylabel=ylabel, **limits)
    if axes.get_xscale() == "linear" and xlabel.startswith(("round", "communication")):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if legend:
        axes.legend()
