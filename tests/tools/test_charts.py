"""Curves on a page: round numbers on axes, and every curve that can be shown."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.tools.charts import DRAWN_POINTS, draw_chart, list_legend, make_axis


def picture(x, y, **more):
    return {"title": "a & b", "xlabel": "<rounds>", "ylabel": "y", "series": [{"label": "c", "x": x, "y": y, **more}]}


def test_ticks_are_round_and_whole_where_rounds_are_counted() -> None:
    assert [label for _, label in make_axis(np.arange(51), log=False).ticks] == ["0", "10", "20", "30", "40", "50"]
    assert [label for _, label in make_axis(np.array([0.0, 0.1, 1.0]), log=False).ticks][1] == "0.2"
    assert [label for _, label in make_axis(np.array([1, 2, 3]), log=False).ticks] == ["1", "2", "3"]
    powers = [label for _, label in make_axis(np.array([1e-6, 2.0]), log=True).ticks]
    assert powers == ["10⁻⁶", "10⁻⁴", "10⁻²", "1"]


def test_what_diverged_is_drawn() -> None:
    assert draw_chart(picture([0, 1, 2], [1.0, 1e200, 1.7e308]) | {"logy": True}).count("polyline") == 1


@given(
    st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=30),
    st.booleans(),
)
def test_values_lie_on_the_axis_and_some_tick_does(values, log) -> None:
    axis = make_axis(np.asarray(values), log)
    assert np.all((axis.place(np.asarray(values)) >= -1e-9) & (axis.place(np.asarray(values)) <= 1 + 1e-9))
    assert axis.high > axis.low and all(math.isfinite(mark) for mark, _ in axis.ticks)
    assert len(axis.ticks) <= 12


def test_curves_that_cannot_be_shown_whole() -> None:
    drawn = ElementTree.fromstring(draw_chart(picture([0, 1, 2], [1.0, np.inf, -1.0]) | {"logy": True}))
    assert len(drawn.findall(".//circle")) == 1, "one point is left"
    long = ElementTree.fromstring(draw_chart(picture(list(range(10_000)), list(range(10_000)))))
    points = long.find("polyline").attrib["points"].split()
    assert len(points) <= DRAWN_POINTS and len(draw_chart(picture([], []))) > 0


@pytest.mark.parametrize("style", ["line", "dashed", "points"])
def test_legend_and_labels(style) -> None:
    shown = picture([0, 1], [1, 2], style=style)
    assert [(s, label) for _, s, label in list_legend(shown)] == [(style, "c")]
    page = draw_chart(shown)
    assert "&lt;rounds&gt;" in page and "a &amp; b" in page
