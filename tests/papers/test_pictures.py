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


@pytest.mark.slow
@pytest.mark.parametrize("id", sorted(SOURCES))
def test_every_bound_and_rate_has_a_picture(id: str) -> None:
    """Of the quick check; verdicts are shared with the tests that judge the claims."""
    verdict = judge(SOURCES[id], id)
    assert verdict.error is None
    assert verdict.picture is not None, "draw what is claimed beside what is exact or measured"
    assert verdict.picture["title"] and verdict.picture["xlabel"] and verdict.picture["ylabel"]
    labels = [series["label"] for series in verdict.picture["series"]]
    assert len(labels) > 1 and len(set(labels)) == len(labels), "curves are compared by their labels"
    points = [np.isfinite(np.asarray(series["y"], dtype=float)).sum() for series in verdict.picture["series"]]
    assert sum(points) > 2 and draw_chart(verdict.picture).startswith("<svg")
