"""Exact arithmetic that was lost on the way, or ended just where it had to decide."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from evidence import judged

from fedtheory.claims import Limit, Rate
from fedtheory.core.arrays import average
from fedtheory.proofs.recurrences import follow_field, lies_within, multiply_polynomials
from fedtheory.proofs.spectrum import round_map
from problems.quadratics import Quadratic, scalar_quadratics

ON_CIRCLE = [Fraction(1), Fraction(-6, 5), Fraction(1)]  # 3/5 +- 4/5 i
OTHERS = [Fraction(1), Fraction(10, 13), Fraction(1)]  # -5/13 +- 12/13 i
INSIDE, OUTSIDE = [Fraction(-1, 2), Fraction(1)], [Fraction(-2), Fraction(1)]
ONE, MINUS = [Fraction(-1), Fraction(1)], [Fraction(1), Fraction(1)]


def _product(*factors):
    found = [Fraction(1)]
    for factor in factors:
        found = multiply_polynomials(found, factor)
    return found


@pytest.mark.parametrize(
    ("factors", "within"),
    [
        ([ON_CIRCLE], None),
        ([ON_CIRCLE, ON_CIRCLE], None),
        ([ON_CIRCLE, OTHERS, INSIDE], None),
        ([ON_CIRCLE, ONE, MINUS, ONE], None),
        ([ON_CIRCLE, OUTSIDE], False),
        ([ON_CIRCLE, OUTSIDE, INSIDE], False),
        ([OUTSIDE, INSIDE], False),
        ([OUTSIDE, INSIDE, INSIDE, ONE], False),
        ([[Fraction(-3, 2), Fraction(1)], OUTSIDE, [Fraction(-1, 3), Fraction(1)]], False),
        ([INSIDE, INSIDE], True),
    ],
)
@pytest.mark.parametrize("radius", [Fraction(1), Fraction(1, 3)])
def test_ties_with_a_circle_are_decided(factors, within, radius):
    p = [c / radius**k for k, c in enumerate(_product(*factors))]
    assert lies_within(p, radius) is within


def test_ties_agree_with_roots_in_floats():
    rng = np.random.default_rng(0)
    for _ in range(100):
        p = [Fraction(int(v)) for v in rng.integers(-3, 4, rng.integers(2, 6))]
        p = [*p, Fraction(1), *reversed(p)] if rng.random() < 0.7 else [*p, Fraction(1)]
        while p and p[-1] == 0:
            p.pop()
        largest = float(np.abs(np.roots([float(c) for c in reversed(p)])).max(initial=0.0))
        found = lies_within(p, Fraction(1))
        assert found is (largest < 1) or (found is None and abs(largest - 1) < 1e-3)
        assert found is not None or abs(largest - 1) < 1e-3


@dataclass(frozen=True)
class _Pair:
    x: Any
    before: Any


@dataclass(frozen=True)
class _HeavyBall:
    lr: Any
    beta: Any

    def init(self, problem, x0):
        return _Pair(x0, x0)

    def round(self, problem, state, clients, key):
        g = average(problem.grad(state.x))
        return _Pair(state.x - self.lr * g + self.beta * (state.x - state.before), state.x)


def _rate(factor, **options):
    problem = scalar_quadratics(np.array([Fraction(1), Fraction(2)]), np.array([Fraction(1), Fraction(-1)]))
    on = {"region": "b in 1..3", "problem": lambda: problem, "start": 3, "metric": "distance"}
    return Rate(lambda b: _HeavyBall(Fraction(1, 2), Fraction(b, 4)), factor=factor, **on, **options)


@pytest.mark.parametrize("tight", [False, True])
def test_a_factor_that_is_the_modulus_of_complex_roots_is_proved(tight):
    """The roots of t^2 - (1 + beta - lr a) t + beta have the product beta: "the factor is .25, more than .25" was said of them."""
    assert judged("rate", _rate("b/4", tight=tight))[0] == "proved"


@pytest.mark.parametrize(("factor", "tight"), [("b/4 - 1/10**12", False), ("b/4 + 1/10**12", True)])
def test_a_factor_next_to_it_is_refuted(factor, tight):
    assert judged("rate", _rate(factor, tight=tight))[0] == "refuted"


def _on_the_plane(a):
    """Two clients with curvature a, whose average is a ||x||^2/2 up to a constant."""
    zero, matrix = 0 * a, np.empty((2, 2, 2), dtype=object)
    matrix[:] = [[a, zero], [zero, a]]
    return Quadratic(matrix, np.array([[a, a], [-a, -a]], dtype=object))


def _gradient_descent(factor, **options):
    on = {"region": "0 < a, 0 < lr < 2/a", "problem": _on_the_plane, "start": 2, "metric": "distance"}
    return Rate("gd", "lr", factor=factor, **on, **options)


@pytest.mark.parametrize("tight", [False, True])
def test_a_factor_that_is_zero_is_met_by_roots_that_are_zero(tight):
    """At lr = 1/a one step ends: "the factor is 0, more than 0" was said of it."""
    status, parts = judged("rate", _gradient_descent("(1 - lr*a)**2", tight=tight))
    assert status == "supported" and parts[0].proof is not None


def test_a_factor_of_zero_is_no_excuse_elsewhere():
    """The point that refutes is one where it fails, its numbers are fractions, and its replay sees it in floats, too."""
    told = {False: "lr = 2/3 the factor is 1/9, more than 1/10", True: "lr = 1 the factor is 0, less than 1/10"}
    for factor, tight in (("9/10*(1 - lr*a)**2", False), ("(1 - lr*a)**2 + lr*a/10", True)):
        stated = _gradient_descent(factor, tight=tight)
        status, parts = judged("rate", stated)
        found = parts[-1].counterexample
        assert status == "refuted" and found is not None and found.replay.violated
        assert told[tight] in parts[-1].text
        assert stated.replay(found.instance) == found.replay


def test_a_rate_towards_another_point_than_the_minimiser_is_replayed():
    problem = scalar_quadratics(np.array([Fraction(1), Fraction(3)]), np.array([Fraction(1), Fraction(-1)]))
    on = {"problem": lambda: problem, "start": 2, "metric": "distance"}
    status, parts = judged(
        "rate", Rate("fedavg", "lr = 1/10, steps = 2, batch = none, lr_decay = 1", factor="9/10", **on)
    )
    found = parts[-1].counterexample
    assert status == "refuted" and "does not fall to zero" in parts[-1].text
    assert found is not None and found.replay.violated and found.replay.exact_measured > 0


def test_a_limit_that_diverges_is_replayed():
    on = {"region": "0 < a, 2/a < lr < 3/a", "problem": _on_the_plane, "start": 2}
    stated = Limit("gd", "lr", point="minimiser", **on)
    part = next(part for part in judged("identity", stated)[1] if part.name == "limit")
    assert part.refutes and "it diverges" in part.text and part.counterexample is not None
    assert (
        part.counterexample.replay.violated
        and stated.replay(part.counterexample.instance) == part.counterexample.replay
    )


def test_an_excess_that_floats_do_not_see_says_so():
    status, parts = judged("rate", _rate("b/4 - 1/10**30"))
    assert status == "refuted" and parts[-1].counterexample is None
    assert "the factor is 1/4, more than" in parts[-1].text and "there is no file to replay" in parts[-1].text


@dataclass(frozen=True)
class _Average:
    """X+ = the average of copies, less a third of the gradient: all numbers of its state are averaged or divided."""

    def init(self, problem, x0):
        return _Pair(x0, np.broadcast_to(x0, (problem.n, x0.shape[-1])))

    def round(self, problem, state, clients, key):
        x = (average(state.before) + state.x) / 2
        return _Pair(x - average(problem.grad(x)) / 3, state.before * 0 + x)


def test_a_method_that_averages_its_state_is_followed_in_fractions():
    """Whole numbers that are averaged or divided become fractions, and no floats."""
    problem = scalar_quadratics(np.array([Fraction(1)] * 3), np.array([Fraction(1), Fraction(0), Fraction(2)]))
    x0 = np.array([Fraction(1)], dtype=object)
    assert all(isinstance(entry, Fraction) for entry in round_map(_Average(), problem, x0).matrix.ravel())
    assert follow_field(_Average(), problem, x0).limit() == (Fraction(1),)


def test_the_average_of_whole_numbers_is_a_fraction():
    whole = np.array([[1], [0], [0]], dtype=object)
    assert average(whole)[0, 0] == Fraction(1, 3)
    assert isinstance(average(whole)[0, 0], Fraction)


def test_what_is_followed_in_floats_says_so():
    problem = scalar_quadratics(np.array([1.0, 2.0]), np.array([1.0, -1.0]))
    stated = Rate("gd", "lr = 1/2", problem=lambda: problem, start=3, metric="distance", factor="1/4")
    told = [part.text for part in judged("rate", stated)[1]]
    assert any("in floats (" in text and "is not in fractions" in text for text in told)
