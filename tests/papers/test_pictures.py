"""A picture for every bound and rate that is catalogued, but for those that a picture would say nothing of."""

from __future__ import annotations

import numpy as np
import pytest
from planted import judge

from fedtheory.claims.checking import find_papers, load_claims
from fedtheory.tools.charts import draw_chart

SOURCES = {
    id: source
    for source in find_papers().values()
    for id, claim in load_claims(source).items()
    if claim.kind in ("bound", "rate")
}
#: why a picture makes no sense; what nobody has drawn yet does not belong here
WITHOUT = {
    "FEDSLR-D2a": "whether a mean of matrices has a low rank is one whole number on one instance, and no quantity is bounded",
    "SAFARI-T1b": "an identity of two numbers, 4 epsilon on both sides, for each of the four rules on two points",
    "SAFARI-T1e": "that a theorem does not contradict others: its assumptions are compared, and nothing is measured",
    "SAFARI-X7": "one number, 3/10, on a law of three points",
}


def test_exceptions_are_bounds_and_rates_with_reasons() -> None:
    assert set(WITHOUT) <= set(SOURCES) and all(len(reason.split()) > 5 for reason in WITHOUT.values())


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(SOURCES))
def test_every_bound_and_rate_has_a_picture(id: str) -> None:
    """Of the quick check; verdicts are shared with the tests that judge the claims."""
    verdict = judge(SOURCES[id], id)
    assert verdict.error is None
    if id in WITHOUT:
        assert verdict.picture is None, "it has a picture: take it from the exceptions"
        return
    assert verdict.picture is not None, "draw what is claimed beside what is exact or measured"
    assert verdict.picture["title"] and verdict.picture["xlabel"] and verdict.picture["ylabel"]
    labels = [series["label"] for series in verdict.picture["series"]]
    assert len(labels) > 1 and len(set(labels)) == len(labels), "curves are compared by their labels"
    points = [np.isfinite(np.asarray(series["y"], dtype=float)).sum() for series in verdict.picture["series"]]
    assert max(points) > 1 and "<polyline" in draw_chart(verdict.picture)
