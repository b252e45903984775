"""SAFARI's theory: exact moments, and instances beyond the assumptions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paper_checks.safari.appendix_a_0_b_proofs_of_theorems_2_and_3 import COIN, replay_l2
from paper_checks.safari.biased_pair import in_fractions
from paper_checks.safari.section_4_a_theorem_4 import FOUR, replay_four
from paper_checks.safari.section_4_b_theorem_5 import FIVE, replay_five
from problems.biased_participation import moments, round_down


def test_moments_rounded_down_stay_below() -> None:
    """And within a rounding error a round."""
    settings = Fraction(1, 2), Fraction(1, 25), Fraction(1, 50), 1, 30, Fraction(12, 5)
    for exact, rounded in zip(moments(*settings), moments(*settings, tidy=round_down), strict=True):
        assert all(0 <= e - r <= Fraction(40, 2**100) for e, r in zip(exact, rounded, strict=True))


@pytest.mark.parametrize(
    "changed",
    [{"eta_s": "1/20"}, {"x0": "1/2"}, {"q": "9/10"}],
    ids=["steps too long", "start too near", "q too large"],
)
def test_an_instance_beyond_the_assumptions_refutes_nothing(changed) -> None:
    """Theorem 4's step condition, its start, and its condition on q."""
    assert not replay_four(FOUR | changed).admissible


@pytest.mark.parametrize(
    "changed", [{"rounds": 1000}, {"lam": 100}], ids=["paths too near the minimiser", "curvature too small"]
)
def test_theorem_5s_condition_is_asked_at_every_point(changed) -> None:
    assert not replay_five(FIVE | changed).admissible


def test_the_condition_on_q_holds_on_drawn_paths() -> None:
    """Theorem 4's condition as printed, on paths of the instance."""
    import numpy as np

    i = in_fractions(FOUR)
    q, h = float(i["q"]), float(i["eta_s"])
    x = np.full(500, float(i["x0"]))
    largest = np.zeros((2, 500))
    rng = np.random.default_rng(0)
    for _ in range(i["rounds"]):
        client = rng.random(500) < q
        slope = np.where(client, (x - 1) ** 2, x**2)
        for kind in (0, 1):
            largest[kind] = np.where(client == bool(kind), np.maximum(largest[kind], slope), largest[kind])
        x = np.where(client, (1 - 2 * h) * x + 2 * h, (1 - h) * x)
    threshold = 1 / ((4 - 4 * largest[1] * (0.5 - 2 * h**2)) / ((1 - h) * largest[0]) + 1)
    assert (threshold >= q).all() and np.isfinite(threshold).all()


def test_lemma_2s_counterexample_needs_clients_that_outweigh_the_server() -> None:
    """Otherwise the pooled minimiser follows the server's sample, and the excess is not what the lemma speaks of."""
    assert replay_l2(COIN).violated
    assert not replay_l2(COIN | {"n_S": 1000}).admissible
