"""Thresholds with both sides certified, replays of expectations, curves."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from fedtheory import FedAvg, FedPD, FunctionClass, GradientSteps, Scaffnew, Scaffold
from fedtheory.algorithms import FedADMM
from fedtheory.core.errors import InvalidInput, SolverFailed
from fedtheory.proofs.certificates.thresholds import find_threshold, worst_cases_along
from fedtheory.proofs.checker.certificates import check
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.every_n.worst_case import WorstCaseForEveryN, worst_case_for_every_n

STRONG = FunctionClass(L=1.0, mu=0.1, zeta=1.0)
SMOOTH = FunctionClass(L=1.0, mu=-1.0)


def one_step(lr):
    return FedAvg(GradientSteps(1, lr))


def stated(lr):
    """(1 - lr mu)^2 and a little: an exact certificate is some 1e-7 above the worst case, which is this one itself."""
    return (1 - lr / 10) ** 2 + Fraction(1, 10**6)


@pytest.fixture(scope="module")
def contraction():
    """One gradient step contracts by (1 - lr/10)^2 as long as 1 - lr mu >= lr L - 1, that is lr <= 2/(L + mu) = 20/11."""
    return find_threshold(
        one_step,
        stated,
        Fraction(1),
        Fraction(19, 10),
        STRONG,
        rounds=1,
        accuracy=Fraction(1, 500),
    )


def test_the_largest_step_is_found_from_both_sides(contraction):
    edge = Fraction(20, 11)
    assert edge - Fraction(5, 1000) <= contraction.holds <= edge <= contraction.fails <= edge + Fraction(2, 1000)


def test_the_holding_side_is_a_certificate(contraction):
    assert check(dict(contraction.proof.data)) == contraction.proof.bound <= stated(contraction.holds)


def test_the_failing_side_is_a_run(contraction):
    assert contraction.reached > float(contraction.stated)
    assert contraction.reached == pytest.approx((float(contraction.fails) - 1) ** 2, rel=1e-5)


BAD = {
    "no interval": ((1, 1), {}, "expected low < high"),
    "accuracy": ((1, 2), {"accuracy": Fraction(0)}, "accuracy > 0"),
    "fails at once": ((Fraction(19, 10), 3), {}, "fails at the lower end 19/10 already; give a smaller one"),
    "never fails": ((Fraction(1, 10), 1), {}, "still holds at the upper end 1; give a larger one"),
}


@pytest.mark.parametrize("name", BAD)
def test_ends_that_make_no_sense_are_refused(name):
    ends, options, message = BAD[name]
    with pytest.raises(InvalidInput, match=message):
        find_threshold(
            one_step,
            stated,
            *map(Fraction, ends),
            STRONG,
            rounds=1,
            **options,
        )


def test_a_class_without_instances_is_refused_before_the_bisection():
    functions = dataclasses.replace(STRONG, composite=True)
    with pytest.raises(InvalidInput, match="cannot be shown by a run: the class is composite"):
        find_threshold(
            lambda eta: FedADMM(eta), lambda eta: Fraction(100), Fraction(1), Fraction(2), functions, rounds=1
        )


def test_a_failing_side_that_does_not_exceed_the_claim_is_no_certificate(monkeypatch):
    monkeypatch.setattr(WorstCaseForEveryN, "replay", lambda self: 0)
    with pytest.raises(SolverFailed, match="reach 0, which does not exceed"):
        find_threshold(
            one_step,
            stated,
            Fraction(1),
            Fraction(19, 10),
            STRONG,
            rounds=1,
        )


def test_thresholds_of_an_expectation():
    """Two of four clients a round: the largest step with E ||x - x*||^2 <= 1."""
    found = find_threshold(
        lambda lr: FedAvg(GradientSteps(2, lr)),
        lambda lr: Fraction(1),
        Fraction(1, 10),
        Fraction(1),
        STRONG,
        rounds=1,
        participation=Sampling(4, 2),
        accuracy=Fraction(1, 100),
    )
    assert found.reached > 1 >= found.proof.bound
    full = find_threshold(
        lambda lr: FedAvg(GradientSteps(2, lr)),
        lambda lr: Fraction(1),
        Fraction(1, 10),
        Fraction(1),
        STRONG,
        rounds=1,
        accuracy=Fraction(1, 100),
    )
    assert found.fails < full.holds


REPLAYED = {
    "subsets": (Scaffold(GradientSteps(2, 0.5)), STRONG, {"rounds": 1, "participation": Sampling(4, 2)}),
    "all of five": (FedAvg(GradientSteps(2, 0.5)), STRONG, {"rounds": 2, "participation": Sampling(5, 5)}),
    "coins": (Scaffnew(0.9, 0.4), STRONG, {"rounds": 2}),
    "gap": (FedAvg(GradientSteps(2, 0.5)), STRONG, {"rounds": 2, "measure": "gap"}),
    "sum": (FedPD(0.3), SMOOTH, {"rounds": 2, "measure": "sum_stationarity"}),
    "least": (FedPD(0.3), SMOOTH, {"rounds": 2, "measure": "min_stationarity"}),
    "last": (
        FedAvg(GradientSteps(2, 0.3)),
        dataclasses.replace(SMOOTH, dissimilarity=1.0),
        {"rounds": 1, "measure": "stationarity", "participation": Sampling(3, 3)},
    ),
}


@pytest.mark.parametrize("name", REPLAYED)
def test_runs_reach_the_value_also_in_expectation(name):
    algorithm, functions, options = REPLAYED[name]
    found = worst_case_for_every_n(algorithm, functions, **options)
    assert found.why_not_replayed() is None
    # the Gram matrices are known to 1e-8 or so, their factors to the square root of that
    assert found.replay() == pytest.approx(found.value, rel=1e-3)


def test_a_claim_that_is_tight_below_its_threshold_is_proved_there():
    """(1 - lr mu)^2 is the worst case up to lr = 2/(mu + L) = 20/11."""
    found = find_threshold(one_step, lambda lr: (1 - lr / 10) ** 2, Fraction(1), Fraction(19, 10), STRONG, rounds=1)
    assert found.holds <= Fraction(20, 11) < found.fails
    assert found.proof.bound == (1 - found.holds / 10) ** 2


def test_a_claim_that_fails_by_less_than_numbers_tell_says_that_it_has_no_room():
    with pytest.raises(SolverFailed, match="state it with more room"):
        find_threshold(
            one_step,
            lambda lr: (1 - lr / 10) ** 2 * (1 - Fraction(1, 10**10)),
            Fraction(1),
            Fraction(19, 10),
            STRONG,
            rounds=1,
        )


@pytest.mark.parametrize(("n", "s", "message"), [(10**6, 10, "too many to rebuild"), (40, 20, "more than 1000 ways")])
def test_what_cannot_be_run_is_refused(n, s, message):
    found = worst_case_for_every_n(FedAvg(GradientSteps(1, 0.5)), STRONG, rounds=1, participation=Sampling(n, s))
    with pytest.raises(InvalidInput, match=message):
        found.replay()


def test_curves_have_their_least_value_where_theory_says():
    """max(|1 - lr mu|, |1 - lr L|)^2 along the step size."""
    steps = [Fraction(k, 4) for k in range(1, 9)]
    found = worst_cases_along(one_step, steps, STRONG, rounds=1)
    assert found == pytest.approx([max(abs(1 - 0.1 * float(v)), abs(1 - float(v))) ** 2 for v in steps], rel=1e-6)
    assert all(a >= b for a, b in pairwise(found[:7])) and found[-1] > found[-2]


def test_curves_are_infinite_where_no_bound_exists():
    found = worst_cases_along(
        lambda eta: FedPD(eta, init_dual="zero"), [Fraction(1, 5)], SMOOTH, rounds=1, measure="sum_stationarity"
    )
    assert found == [np.inf]
