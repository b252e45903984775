"""Runs on random members of a class, for several numbers of clients: at most the worst case, near it where that is simple, above what is false."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fedtheory import FedAvg, FunctionClass, GradientDescent, GradientSteps, Scaffnew, Scaffold, StochasticSteps
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import rational
from fedtheory.proofs import worst_case
from fedtheory.proofs.crowds import MOST_CHOICES, Crowd, choices_of
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.guard import NUMBERS
from fedtheory.proofs.members import OF_CLIENTS, SeparablePieces, SquareOrBox, draw_members, members_of
from fedtheory.proofs.potentials.smallest_rate import rate_of
from fedtheory.proofs.refutations.asked import AskedBound, AskedDecrease
from fedtheory.running.enumeration import enumerate_courses, enumerate_subsets

ONE = Fraction(1)
STRONG = FunctionClass(L=ONE, mu=Fraction(1, 10))
CLASSES = {
    "strongly convex": STRONG,
    "convex": FunctionClass(L=2.0),
    "apart": FunctionClass(L=1.0, mu=0.1, zeta=0.5),
    "similar": FunctionClass(L=1.0, mu=0.1, similarity=0.3),
    "dissimilar": FunctionClass(L=1.0, mu=0.0, bgd=(0.3, 1.0)),
    "no pair apart": FunctionClass(L=1.0, mu=0.0, dissimilarity=0.4),
    "composite": FunctionClass(L=1.0, mu=0.1, composite=True),
    "on a box": FunctionClass(L=1.0, mu=0.1, composite=True, indicator=True),
}


@pytest.mark.parametrize("given", CLASSES.values(), ids=CLASSES)
def test_members_are_in_the_class(given):
    """Interpolation inequalities of random pairs of points, the minimiser, and how far clients' gradients differ there."""
    rng = np.random.default_rng(0)
    functions = members_of(given, draw_members(given, rng, 300, 4), 2.0)
    x, y = 3 * rng.standard_normal((2, 300, 1, 2))
    gap, gx, gy = functions.value(y) - functions.value(x), functions.grad(x), functions.grad(y)
    large, low = float(given.L), float(given.mu)
    step, change = y - x, gy - gx
    least = (gx * step).sum(-1) + (
        (change**2).sum(-1) + low * large * (step**2).sum(-1) - 2 * low * (change * step).sum(-1)
    ) / (2 * (large - low))
    assert (gap >= least - 1e-9 * (1 + np.abs(gap))).all()
    at_origin = functions.grad(np.zeros((1, 2)))
    assert np.abs(at_origin.mean(-2)).max() < 1e-12
    lengths = (at_origin**2).sum(-1)
    if given.zeta is not None:
        assert np.sqrt(lengths.mean(-1)).max() <= given.zeta * (1 + 1e-9)
    if given.bgd is not None:
        apart = ((gx**2).sum(-1)).mean(-1) - (gx.mean(-2) ** 2).sum(-1)
        assert apart.max() <= given.bgd[0] ** 2 * (1 + 1e-9)
    if given.dissimilarity is not None:
        pairs = gx[:, :, None] - gx[:, None, :]
        assert np.sqrt((pairs**2).sum(-1)).max() <= given.dissimilarity * (1 + 1e-9)
    if given.composite:
        z = functions.regulariser.prox(x, 0.5)
        assert ((z * (x - z)).sum(-1) >= -1e-12).all()  # h is convex and least at the origin


def test_oracles_of_members_agree_with_each_other():
    rng = np.random.default_rng(1)
    given = FunctionClass(L=1.0, mu=0.1)
    functions = members_of(given, draw_members(given, rng, 50, 3), 1.0)
    v = rng.standard_normal((50, 3, 2))
    x = functions.prox(v, 0.7)
    assert np.abs(x + 0.7 * functions.grad(x) - v).max() < 1e-12
    assert np.abs(functions.grad(functions.conjugate_grad(v)) - v).max() < 1e-12
    h = 1e-6
    slopes = [(functions.value(v + h * e) - functions.value(v - h * e)) / (2 * h) for e in np.eye(2)]
    assert np.abs(np.stack(slopes, axis=-1) - functions.grad(v)).max() < 1e-5
    assert isinstance(functions, SeparablePieces)
    assert functions.regulariser is None
    assert SquareOrBox(np.ones((1, 1, 1)), np.full((1, 1, 1), 2.0)).prox(np.full((1, 1, 1), 9.0), 1.0) == 2


def test_runs_on_random_functions_come_near_worst_cases():
    """Of one step on quadratics, the worst case is reached."""
    asked = AskedBound(GradientDescent(ONE), STRONG, 1, "squared_distance", ONE)
    found = asked.runs(0.81, 4000)
    assert found.largest == pytest.approx(1, abs=1e-3)
    assert found.numbers == NUMBERS
    assert not found.exceeds


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        (CLASSES["apart"], "squared_distance"),
        (CLASSES["apart"], "gap"),
        (FunctionClass(L=1.0, mu=-1.0, bgd=(1.0, 1.0)), "stationarity"),
        (CLASSES["no pair apart"], "stationarity"),
        (FunctionClass(L=4.0, mu=-4.0, dissimilarity=1.0), "min_stationarity"),
        (FunctionClass(L=1.0, mu=0.1, zeta=0.5, similarity=0.3), "squared_distance"),
    ],
)
def test_no_run_exceeds_the_worst_case(given, measure):
    method = FedAvg(GradientSteps(2, 0.2))
    value = worst_case(method, given, rounds=2, measure=measure).value
    asked = AskedBound(rational(method), rational(given), 2, measure, ONE)
    found = asked.runs(value, 2000)
    assert 0.1 < found.largest <= 1 + 1e-6
    assert asked.runs(value * found.largest / 2, 2000).exceeds


@pytest.mark.parametrize(
    ("method", "weights", "who"),
    [
        (Scaffold(GradientSteps(4, 0.1)), {"x": 1, "c_i": 1}, None),
        (Scaffnew(0.5, 0.5), {"x_i": 1, "h_i": 1}, None),
        (GradientDescent(1.2), {"x": 1}, None),
        (Scaffold(GradientSteps(2, 0.1)), {"x": 1, "c_i": 1}, Sampling(5, 2)),
    ],
    ids=["scaffold", "scaffnew", "gd", "some of the clients"],
)
def test_no_state_exceeds_the_rate_of_a_potential(method, weights, who):
    rate = float(rate_of(method, STRONG, weights, participation=who))
    asked = AskedDecrease(rational(method), STRONG, weights, who)
    found = asked.runs(rate, 2000)
    assert 0.9 < found.largest <= 1 + 1e-6
    assert found.numbers == (NUMBERS if who is None else (5,))
    assert asked.runs(0.9 * rate, 2000).exceeds


def test_units_do_not_matter():
    """The same runs where L is 1e8 and the radius 1e-5."""
    found = []
    for big, radius in ((1, 1), (10**8, Fraction(1, 10**5))):
        given = FunctionClass(L=Fraction(big), mu=Fraction(big, 10), zeta=Fraction(big, 2) * radius)
        asked = AskedBound(FedAvg(GradientSteps(2, Fraction(1, 2 * big))), given, 2, "gap", Fraction(radius))
        found.append(asked.runs(0.1 * big * float(radius) ** 2).largest)
    assert found[0] == pytest.approx(found[1], rel=1e-6)


# ---- some of the clients, more than can be gone through ----------------------------------------------------------------


@pytest.mark.parametrize("kinds", [(2, 2, 2), (1, 5), (3, 2, 1)])
@pytest.mark.parametrize(
    "method", [FedAvg(GradientSteps(2, 0.3)), Scaffold(GradientSteps(2, 0.3))], ids=["fedavg", "scaffold"]
)
def test_choices_up_to_clients_that_are_alike_give_the_expectation_itself(kinds, method):
    """Against all twenty choices of three of six clients."""
    few = Crowd(kinds, tuple(choices_of(kinds, 3)))
    rows = draw_members(CLASSES["apart"], np.random.default_rng(0), 40, len(kinds))
    functions = members_of(CLASSES["apart"], few.of_all(rows, OF_CLIENTS), 1.0)
    start, expected = np.ones((40, 1, 2)), []
    for choices in (few.choices, tuple(enumerate_subsets(6, 3))):
        courses = enumerate_courses(method, functions, start, 1, choices)
        assert sum(weight for weight, _ in courses) == 1
        expected.append(sum(float(weight) * (states[1].x ** 2).sum((-1, -2)) for weight, states in courses))
    assert len(few.choices) < 20
    assert np.allclose(*expected, rtol=1e-12)


@pytest.mark.parametrize(("n", "s"), [(12, 4), (12, 6), (40, 20), (30, 29), (1000, 10), (1000, 500)])
def test_some_of_many_clients_come_in_kinds_that_can_be_gone_through(n, s):
    crowd = Crowd.of(n, Sampling(n, s))
    assert crowd.n == n
    assert 2 <= len(crowd.choices) <= MOST_CHOICES
    assert sum(weight for weight, _ in crowd.choices) == 1
    assert all(len(set(who.index.tolist())) == s for _, who in crowd.choices)


def test_few_choices_are_gone_through_one_by_one():
    assert Crowd.of(6, Sampling(6, 3)).kinds == (1,) * 6
    assert Crowd.of(6, Sampling(6, 6)).choices == ((1, None),)


@pytest.mark.parametrize("who", [Sampling(12, 4), Sampling(40, 20)], ids=str)
def test_runs_with_some_of_many_clients_reach_the_worst_case(who):
    """One step lr = 1/2 of FedAvg: (1 - lr mu)^2 R^2 + lr^2 zeta^2 (n - s)/(s (n - 1))."""
    asked = AskedBound(
        FedAvg(GradientSteps(1, ONE / 2)), FunctionClass(L=ONE, mu=ONE / 2, zeta=ONE), 1, "squared_distance", ONE, who
    )
    worst = worst_case(
        FedAvg(GradientSteps(1, 0.5)), asked.function_class, clients=who.n, participants=who.s, rounds=1
    ).value
    found = asked.runs(worst, 2000)
    assert 0.9 < found.largest <= 1 + 1e-6
    assert found.numbers == (who.n,)
    assert asked.runs(0.9 * worst, 2000).exceeds
    reached = asked.measures_of_runs()
    assert len(reached) > 20
    assert max(reached) <= worst * (1 + 1e-9)


def test_a_potential_with_some_of_many_clients_is_held_against_runs():
    rate = float(rate_of(Scaffold(GradientSteps(2, 0.1)), STRONG, {"x": 1, "c_i": 1}, participation=Sampling(20, 8)))
    asked = AskedDecrease(rational(Scaffold(GradientSteps(2, 0.1))), STRONG, {"x": 1, "c_i": 1}, Sampling(20, 8))
    found = asked.runs(rate, 2000)
    assert 0.9 < found.largest <= 1 + 1e-6
    assert asked.runs(0.9 * rate, 2000).exceeds


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (AskedBound(GradientDescent(ONE), STRONG, 2, "squared_distance", ONE, Sampling(40, 20)), "20 of 40 clients in each of 2 rounds"),
        (AskedBound(GradientDescent(ONE), STRONG, 1, "squared_distance", ONE, Sampling(10**9, 2)), "1000000000 clients"),
        (AskedBound(GradientDescent(ONE), STRONG, 0, "squared_distance", ONE), "rounds >= 1"),
    ],
    ids=["rounds", "clients", "question"],
)  # fmt: skip
def test_where_there_are_no_runs_it_is_said_why(asked, why):
    found = asked.runs(1.0)
    assert not found.exceeds
    assert not found.numbers
    assert str(found).startswith("no runs: ")
    assert why in str(found)
    assert asked.measures_of_runs() == ()


def test_more_choices_than_can_be_gone_through_are_refused_and_not_listed():
    with pytest.raises(InvalidInput, match=r"20 of 40 clients can be chosen in 1\.38e"):
        enumerate_subsets(40, 20)


# ---- noise, and gradients that are bounded -------------------------------------------------------------------------------


def test_a_class_with_noise_has_the_functions_without():
    given = FunctionClass(L=ONE, mu=Fraction(1, 10), sigma=ONE)
    method = FedAvg(StochasticSteps(1, Fraction(1, 2), batch=1))
    asked = AskedBound(method, given, 1, "squared_distance", ONE, Sampling(8, 8))
    without = float(Fraction(19, 20) ** 2)
    found = asked.runs(without, 2000)
    assert 0.9 < found.largest <= 1
    assert asked.runs(0.9 * without, 2000).exceeds


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        (FunctionClass(L=1.0, mu=0.1, bgd=(0.5, 0.5)), "squared_distance"),
        (FunctionClass(L=1.0, mu=-1.0, bgd=(1.0, 0.0)), "stationarity"),
        (FunctionClass(L=1.0, mu=0.0, bgd=(2.0, 0.9)), "gap"),
    ],
    ids=["strongly convex", "not convex", "convex"],
)
def test_members_whose_average_has_a_bounded_gradient_are_run(given, measure):
    """D < 1 bounds the average's gradient at the server's models, by G/(1 - D^2)^(1/2)."""
    method = FedAvg(GradientSteps(2, 0.2))
    value = worst_case(method, given, rounds=1, measure=measure).value
    asked = AskedBound(rational(method), rational(given), 1, measure, ONE)
    found = asked.runs(value, 2000)
    assert 0.05 < found.largest <= 1 + 1e-6
    assert found.numbers == NUMBERS
