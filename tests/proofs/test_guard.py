"""Runs on random members of a class, for several numbers of clients: at most the worst case, near it where that is simple, above what is false."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory import FedAvg, FunctionClass, GradientDescent, GradientSteps, Scaffnew, Scaffold
from fedtheory.core.exact import rational
from fedtheory.proofs import worst_case
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.guard import NUMBERS
from fedtheory.proofs.members import SeparablePieces, SquareOrBox, draw_members, members_of
from fedtheory.proofs.potentials.smallest_rate import rate_of
from fedtheory.proofs.refutations.asked import AskedBound, AskedDecrease

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
    """Of one step on quadratics, the worst case is reached; gradient noise is not theirs."""
    asked = AskedBound(GradientDescent(ONE), STRONG, 1, "squared_distance", ONE)
    found = asked.runs(0.81, 4000)
    assert found.largest == pytest.approx(1, abs=1e-3)
    assert found.numbers == NUMBERS
    assert not found.exceeds
    noisy = replace(asked, function_class=FunctionClass(L=ONE, mu=Fraction(1, 10), sigma=ONE))
    assert noisy.runs(1.0) is None
    assert noisy.measures_of_runs() == ()


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


def test_too_many_choices_of_clients_are_not_gone_through():
    asked = AskedBound(GradientDescent(ONE), STRONG, 1, "squared_distance", ONE, Sampling(100, 50))
    assert asked.runs(1.0) is None
