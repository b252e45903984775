"""Piecewise linear gradients: values, gradients and proximal points in fractions, and certified constants."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from problems.ramps import Ramps


def fractions(values):
    return np.vectorize(Fraction, otypes=[object])(np.array(values, dtype=object))


LEVEL, KNOTS = fractions([["-41/10"], ["-21/5"]]), fractions(["1", "6/5", "2"])
SLOPES = fractions([["1", "-1/2", "-1", "1"], ["1", "1/2", "-1", "1"]])
RAMPS = Ramps(LEVEL, SLOPES, KNOTS)


@pytest.mark.parametrize("x", ["-3", "1", "11/10", "3/2", "2", "7"])
def test_gradients_are_those_of_the_values(x):
    at, h = fractions([[x], [x]]), Fraction(1, 10**6)
    slope = (RAMPS.value(at + h) - RAMPS.value(at - h)) / (2 * h)
    assert max(abs(slope - RAMPS.grad(at)[:, 0])) <= h


@pytest.mark.parametrize("v", ["-5", "0", "1", "3/2", "9/4", "20"])
def test_proximal_points_solve_their_equation_exactly(v):
    v, step = fractions([[v], [v]]), Fraction(3, 10)
    x = RAMPS.prox(v, step)
    assert (x + step * RAMPS.grad(x) == v).all()


def test_constants_are_reached():
    assert RAMPS.steepest == 1 and RAMPS.certify()["L"].value == 1
    points = fractions([Fraction(k, 20) for k in range(-40, 100)])
    seen = max(abs(np.ptp(RAMPS.grad(fractions([[p], [p]])))) for p in points)
    assert seen == RAMPS.apart == Fraction(1, 10)
    assert np.isinf(Ramps(LEVEL, fractions([["1", "1", "1", "1"], ["1", "1", "1", "1/2"]]), KNOTS).apart)
