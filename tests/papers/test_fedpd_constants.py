"""Derivations of the FedPD ledger: a larger constant passes, a smaller one does not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.algorithms import FedPD
from fedtheory.claims.statements.theorems.as_parts import is_proved
from paper_checks.fedpd import appendix_b_1_b_lemma_2 as lemma_2
from paper_checks.fedpd.played import total
from paper_checks.fedpd.section_4_1_a_theorem_1 import theorem_one_with_errors
from paper_checks.fedpd.section_4_1_b_theorem_2 import expected_stationarity, grows_by, second_moments
from paper_checks.fedpd.section_4_2_b_remark_5 import replay_r5
from paper_checks.fedpd.z_ours_theorem_1 import corrected_theorem_one
from problems.finite_sum import SampledQuadratic


@pytest.mark.parametrize("entry", ["p*u*(1-u)", "0*p", "-p*u", "0.99*p*u*(1+u)", "p*u*(1+u) - p*u**3/100"])
def test_a_smaller_entry_of_lemma_2_is_exceeded(entry: str) -> None:
    left, right = lemma_2.both_sides(lemma_2.APART, entry)
    assert left > right


@pytest.mark.parametrize("entry", ["p*u*(1+u)", "2*p*u", "1.01*p*u*(1+u)", "p*u*(1+u) + u"])
def test_an_entry_as_large_as_the_corrected_one_is_not(entry: str) -> None:
    left, right = lemma_2.both_sides(lemma_2.APART, entry)
    assert left <= right


def test_the_counterexample_to_lemma_2_is_exact_and_attains_the_corrected_entry() -> None:
    replay = lemma_2.replay_l2(lemma_2.APART)
    assert (replay.exact_measured, replay.exact_bound) == (Fraction(489, 1400), Fraction(309, 1400)) and replay.violated
    assert lemma_2.both_sides(lemma_2.APART, "p*u*(1+u)") == (Fraction(489, 1400), Fraction(489, 1400))
    from_the_start = lemma_2.replay_l2(lemma_2.FROM_THE_START)
    assert from_the_start.violated and from_the_start.exact_measured == Fraction(297, 3430)
    left, right = lemma_2.both_sides(lemma_2.FROM_THE_START, "p*u*(1+u)")
    assert left == right


@pytest.mark.parametrize("change", [{"eta": "2/5"}, {"slopes": [["1", "-1/2", "-1", "1"], ["1", "1/2", "-1", "1/2"]]}])
def test_an_instance_outside_the_assumptions_of_lemma_2_accuses_nobody(change: dict[str, object]) -> None:
    assert not lemma_2.replay_l2(lemma_2.APART | change).admissible


@pytest.mark.parametrize(
    ("p", "x0", "admissible", "violated"),
    [
        ("1e-9", "225e-11", True, True),
        ("1e-9", "220e-11", False, False),
        ("1e-9", "0", False, False),
        ("1e-8", "225e-10", True, False),
    ],
)
def test_remark_5_is_accused_where_its_recipe_is_followed_only(
    p: str, x0: str, admissible: bool, violated: bool
) -> None:
    replay = replay_r5({"g": "1", "c": "1/2", "u": "1/5", "p": p, "x0": x0})
    assert (replay.admissible, replay.violated) == (admissible, violated)
    assert 0.99 * replay.measured < replay.exact_measured <= replay.measured * (1 + 1e-12)


@pytest.mark.parametrize(("strength", "holds"), [(4, True), (4.1, True), (40, True), ("399/100", False), (0.2, False)])
def test_the_constant_of_the_corrected_theorem_1(strength: object, holds: bool) -> None:
    assert is_proved(corrected_theorem_one(strength)) is holds


@pytest.mark.parametrize(
    ("strength", "accuracy", "holds"),
    [
        (4, 1, True),
        (4, "101/100", True),
        (40, 3, True),
        (4, "99/100", False),
        (4, "1/50", False),
        ("399/100", 1, False),
    ],
)
def test_both_constants_of_theorem_1_with_errors(strength: object, accuracy: object, holds: bool) -> None:
    assert is_proved(theorem_one_with_errors(strength, accuracy)) is holds


def test_the_exact_second_moments_of_oracle_two_are_those_of_runs_with_different_clients() -> None:
    curvatures, linear, eta, rounds, seeds = [0.6, -0.4, 0.1], [0.5, 0.2, -0.7], 0.2, 12, 4000
    recursion = second_moments(1.0, curvatures, eta, 6 * eta, 5, linear, x0=1.0)
    expected = np.asarray(expected_stationarity(recursion, 0.1, rounds))
    h = np.array([[1.0] * rising + [-1.0] * (20 - rising) for rising in (16, 6, 11)])[..., None]
    b = np.broadcast_to(np.array(linear)[:, None, None], h.shape)
    method = FedPD(eta, FedPD.oracle_two(eta, 6 * eta, 1, 1, 5))
    seen = total(SampledQuadratic(h, b, "samples of curvature +-1"), method, np.ones(1), rounds, np.arange(seeds))
    values = seen["stationarity"]
    error = values.std(axis=0, ddof=1) / np.sqrt(seeds)
    assert np.all(np.abs(values.mean(axis=0) - expected) < 5 * error + 1e-12)
    assert error.max() < 0.05 * expected.max() and np.ptp(expected) > 0.1 * expected.max()


@pytest.mark.parametrize(("factor", "H", "holds"), [(4000, 20, True), (5000, 20, False), (2, 1, False)])
def test_by_how_much_the_second_moment_of_rough_samples_grows(factor: int, H: int, holds: bool) -> None:
    one, eta = Fraction(1), Fraction(79, 1000)
    assert grows_by(second_moments(Fraction(H), [one, one], eta, 6 * eta, 10), 10, factor) is holds
