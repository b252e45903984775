"""The search finds what was planted, respects assumptions and its budget, and repeats itself."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.algorithms import GradientDescent
from fedtheory.core.arrays import along_batch
from fedtheory.core.errors import InvalidInput
from fedtheory.core.problem import constant
from fedtheory.measures import metrics
from fedtheory.running.falsifier import Search, falsify
from fedtheory.running.runner import run
from problems.quadratics import scalar_quadratics

PEAK = np.array([0.3, -0.7, 0.2])


def sample(rng, count):
    return {"c": rng.uniform(-1, 1, (count, 3))}


def hill(candidates):
    """1.2 at the planted place, less around it."""
    return 1.2 - ((candidates["c"] - PEAK) ** 2).sum(-1)


def test_a_planted_maximum_is_found() -> None:
    found = falsify(Search(sample, hill), 4000, batch=64)
    assert found.violated and found.ratio == pytest.approx(1.2, abs=1e-6)
    np.testing.assert_allclose(found.candidate["c"], PEAK, atol=1e-3)
    # 2000 uniform points in a cube of volume 8: the nearest is about 0.1 away, so local search added something
    assert found.random < found.ratio - 1e-4
    assert found.instance() == {"c": found.candidate["c"].tolist()}


def test_the_same_seed_finds_the_same() -> None:
    one, two, other = (falsify(Search(sample, hill), 600, seed=s) for s in (1, 1, 2))
    assert one.ratio == two.ratio and np.array_equal(one.candidate["c"], two.candidate["c"])
    assert one.ratio != other.ratio


def test_the_budget_is_kept_and_counted() -> None:
    for budget, batch in ((2, 1024), (100, 7), (1000, 64)):
        counted = []
        search = Search(sample, lambda c, counted=counted: counted.append(len(c["c"])) or hill(c))
        found = falsify(search, budget, batch=batch)
        assert sum(counted) == found.evaluations <= budget
        assert max(counted) <= batch


def test_candidates_that_break_an_assumption_never_win() -> None:
    def admissible(c):
        return np.where(c["c"][:, 0] < 0, hill(c), -np.inf)  # the peak lies outside

    found = falsify(Search(sample, admissible), 4000, batch=64)
    assert found.candidate["c"][0] < 0
    assert found.ratio == pytest.approx(1.2 - 0.09, abs=1e-3)  # on the border, where half the steps fail


def test_numbers_that_are_not_numbers_never_win() -> None:
    found = falsify(Search(sample, lambda c: np.where(c["c"][:, 0] > 0, np.nan, hill(c))), 1000)
    assert np.isfinite(found.ratio) and found.candidate["c"][0] <= 0


def test_repairs_keep_candidates_admissible() -> None:
    seen = []

    def clip(c):
        return {"c": np.clip(c["c"], -1, 0.1)}

    def ratio(c):
        seen.append(c["c"].max())
        return hill(c)

    found = falsify(Search(lambda rng, n: clip(sample(rng, n)), ratio, clip), 3000)
    assert max(seen) <= 0.1
    assert found.ratio == pytest.approx(1.2 - 0.2**2 - 0.1**2, abs=1e-4)


def test_several_arrays_stay_together() -> None:
    """Row k of every array is candidate k, through selection and local search."""

    def pairs(rng, count):
        x = rng.standard_normal((count, 2))
        return {"x": x, "copy": x[:, 0].copy()}

    def ratio(c):
        return np.where(np.abs(c["copy"] - c["x"][:, 0]) < 1e-12, -np.abs(c["x"]).sum(-1), -np.inf)

    found = falsify(Search(pairs, ratio, lambda c: {"x": c["x"], "copy": c["x"][:, 0].copy()}), 500)
    assert found.candidate["copy"] == found.candidate["x"][0]


def test_searches_without_admissible_candidates_are_refused() -> None:
    with pytest.raises(InvalidInput, match="no candidate of the search met the claim's assumptions; widen"):
        falsify(Search(sample, lambda c: np.full(len(c["c"]), -np.inf)), 100)
    with pytest.raises(InvalidInput, match="at least 2 candidates, got 1"):
        falsify(Search(sample, hill), 1)


@pytest.mark.parametrize(("slack", "violated"), [(1.0, False), (0.98, True)])
def test_a_tightened_theorem_is_broken_and_the_true_one_is_not(slack, violated) -> None:
    """||x^5 - x*||^2 <= (1 - lr mu)^10 ||x^0 - x*||^2 for lr <= 1/L is tight on quadratics; 2 % less is false."""

    def draw(rng, count):
        return {
            "a": rng.uniform(0.05, 1, (count, 2)),
            "c": rng.standard_normal((count, 2)),
            "x0": rng.standard_normal((count, 1)),
        }

    def ratio(c):
        inside = (c["a"].min(-1) >= 0.05) & (c["a"].max(-1) <= 1)
        f = scalar_quadratics(np.clip(c["a"], 0.05, 1), c["c"])
        x_star = f.solution()
        lr = 1 / np.asarray(constant(f, "L_avg").value)
        trace = run(
            GradientDescent(along_batch(0.3 * lr)),
            f,
            c["x0"],
            5,
            metrics={"d": metrics.squared_distance(x_star[:, None, :])},
        )
        bound = slack * (1 - 0.3 * lr * constant(f, "mu_avg").value) ** 10 * trace["d"][:, 0]
        usable = inside & (trace["d"][:, 0] > 1e-6)
        return np.where(usable, trace["d"][:, -1] / np.maximum(bound, 1e-300), -np.inf)

    found = falsify(Search(draw, ratio), 2000)
    assert found.violated == violated or found.ratio == pytest.approx(1, abs=1e-9)
    assert found.ratio == pytest.approx(1 / slack, rel=1e-9)  # one dimension: equality everywhere
