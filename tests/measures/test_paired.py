"""Paired comparisons agree with SciPy's paired t-test, and say when there is nothing to compare."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from fedtheory.core.errors import InvalidInput
from fedtheory.measures.paired import paired_difference


@pytest.mark.parametrize("pairs", [2, 3, 20])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_interval_is_that_of_the_paired_t_test(pairs, scale) -> None:
    a, b = scale * np.random.default_rng(pairs).standard_normal((2, pairs))
    found, known = paired_difference(a, b), stats.ttest_rel(a, b).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((known.low, known.high), rel=1e-12)
    assert found.mean == pytest.approx((a - b).mean()) and found.pairs == pairs
    assert found.sign == int(known.low > 0) - int(known.high < 0)


def test_equal_differences_have_a_point_for_an_interval() -> None:
    """SciPy's test warns of these, which are common among accuracies."""
    found = paired_difference([0.5, 0.75], [0.25, 0.5])
    assert (found.mean, found.low, found.high, found.sign) == (0.25, 0.25, 0.25, 1)
    assert paired_difference([1, 2], [1, 2]).sign == 0


@pytest.mark.parametrize(("first", "second"), [([1.0], [2.0]), ([1.0, 2.0], [1.0, 2.0, 3.0])])
def test_what_cannot_be_paired_is_refused(first, second) -> None:
    with pytest.raises(InvalidInput, match="two equally long lists of at least two runs"):
        paired_difference(first, second)
