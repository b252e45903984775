"""Axes of one's own in the style of the pictures."""

from __future__ import annotations

import pytest

from fedtheory.tools.pictures import label_axes

figures = pytest.importorskip("matplotlib.figure")


@pytest.mark.parametrize(("xlabel", "whole"), [("round", True), ("communications", True), ("step size", False)])
def test_rounds_are_told_at_whole_numbers(xlabel, whole) -> None:
    axes = figures.Figure().subplots()
    axes.plot([0, 1, 2, 3], [1, 2, 3, 4], label="run")
    label_axes(axes, "GD", xlabel, "gap", xlim=(0, 3))
    assert all(tick == int(tick) for tick in axes.get_xticks()) == whole
    assert axes.get_xlim() == (0, 3) and axes.get_title() == "GD" and axes.get_legend() is not None
