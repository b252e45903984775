"""Axes of one's own in the style of the pictures."""

from __future__ import annotations

import pytest

from fedtheory.tools.pictures import draw, label_axes

figures = pytest.importorskip("matplotlib.figure")


@pytest.mark.parametrize(("xlabel", "whole"), [("round", True), ("communications", True), ("step size", False)])
def test_rounds_are_told_at_whole_numbers(xlabel, whole) -> None:
    axes = figures.Figure().subplots()
    axes.plot([0, 1, 2, 3], [1, 2, 3, 4], label="run")
    label_axes(axes, "GD", xlabel, "gap", xlim=(0, 3))
    assert all(tick == int(tick) for tick in axes.get_xticks()) == whole
    assert axes.get_xlim() == (0, 3) and axes.get_title() == "GD" and axes.get_legend() is not None


def test_few_values_on_a_logarithmic_axis_are_labelled_one_by_one_but_for_those_that_it_has_not() -> None:
    curve = {"label": "run", "x": [0, 1, 3, 10], "y": [4.0, 3.0, 2.0, 1.0]}
    figure = draw({"title": "t", "xlabel": "x", "ylabel": "y", "logx": True, "series": [curve]})
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["1", "3", "10"]
