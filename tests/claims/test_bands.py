"""Curves of runs with several seeds have bands, on pages and in files."""

import re

import numpy as np

from fedtheory.claims.curves import repeat_curve
from fedtheory.tools.charts import draw_chart
from fedtheory.tools.pictures import draw

VALUES = np.array([[1.0, 0.1, 0.01], [4.0, 0.4, 0.09]])


def _picture(curve: dict) -> dict:
    return {"title": "t", "xlabel": "round", "ylabel": "gap", "series": [curve], "logy": True}


def test_a_band_goes_from_the_least_to_the_largest() -> None:
    curve = repeat_curve("gd", [0, 1, 2], VALUES)
    assert (
        curve["low"] == VALUES[0].tolist()
        and curve["high"] == VALUES[1].tolist()
        and curve["y"] == VALUES.mean(axis=0).tolist()
    )
    logs = repeat_curve("gd", [0, 1, 2], VALUES, geometric=True)
    np.testing.assert_allclose(logs["y"], np.sqrt(VALUES[0] * VALUES[1]))
    assert "low" not in repeat_curve("gd", [0, 1, 2], VALUES[0])


def test_what_is_not_finite_is_left_out_of_curve_and_band() -> None:
    curve = repeat_curve("gd", [0, 1], [[1.0, np.inf], [2.0, 3.0]])
    assert curve["x"] == [0.0] and curve["low"] == [1.0] and curve["high"] == [2.0]


def test_charts_draw_the_band_within_the_frame() -> None:
    curve = repeat_curve("gd", [0, 1, 2], VALUES)
    chart = draw_chart(_picture(curve))
    (points,) = re.findall(r'<polygon points="([^"]+)"', chart)
    assert len(points.split()) == 6
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert min(heights) >= 0 and max(heights) <= 330
    assert "<polygon" not in draw_chart(_picture({k: v for k, v in curve.items() if k not in ("low", "high")}))


def test_files_draw_the_band() -> None:
    axes = draw(_picture(repeat_curve("gd", [0, 1, 2], VALUES))).axes[0]
    assert len(axes.collections) == 1
