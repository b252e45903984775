"""The search for the smallest rate: what it finds does not depend on where it begins."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import FunctionClass, GradientSteps, Scaffnew, Scaffold, smallest_rate
from fedtheory.algorithms import EF21, GradientDescent
from fedtheory.local import AnyContractive
from fedtheory.proofs.every_n.vectors import Sampling
from fedtheory.proofs.potentials import smallest_rate as searching
from fedtheory.proofs.potentials.first_guess import least_that_holds, rate_on_quadratics
from fedtheory.proofs.potentials.smallest_rate import search_potentials

CLASS = FunctionClass(1, Fraction(1, 10))


@given(st.integers(1, 400), st.integers(1, 420), st.none() | st.floats(-5, 500))
def test_the_least_is_found_from_anywhere_and_each_is_asked_once(most: int, least: int, guess: float | None) -> None:
    asked: list[int] = []

    def holds(k: int) -> bool:
        asked.append(k)
        return k >= least

    assert least_that_holds(holds, most, guess) == (least if least <= most else None)
    assert len(set(asked)) == len(asked) and all(1 <= k <= most for k in asked)
    assert least == 1 or least > most or least - 1 in asked  # what is told of the one below was seen


def test_a_good_guess_needs_two_questions() -> None:
    asked: list[int] = []
    least_that_holds(lambda k: asked.append(k) or k >= 8515, 10**4, 8514.6)
    assert asked == [8515, 8514]


def rate_of(algorithm: Any, participation: Sampling | None = None) -> float | None:
    search = search_potentials(algorithm, CLASS, participation)
    return rate_on_quadratics(search.model, search.step)


def test_the_rate_on_quadratics_is_that_of_closed_forms() -> None:
    """Gradient descent, local steps in a row, and a coin: E M (x) M for Scaffnew's (x, h) with the curvature mu."""
    assert rate_of(GradientDescent(Fraction(3, 2))) == pytest.approx((1 - 0.15) ** 2)
    assert rate_of(GradientDescent(Fraction(19, 10))) == pytest.approx(0.9**2)
    assert rate_of(Scaffold(GradientSteps(4, Fraction(1, 4)))) == pytest.approx((1 - 0.025) ** 8)
    assert rate_of(Scaffnew(1.0, 0.5)) == pytest.approx(0.81)


def test_there_is_none_where_answers_are_no_gradients_or_clients_are_drawn() -> None:
    assert rate_of(EF21(0.5, AnyContractive(0.5))) is None
    assert rate_of(Scaffold(GradientSteps(1, 0.5)), Sampling(4, 2)) is None


@pytest.mark.parametrize("guess", [None, 0.01, 0.81, 0.9999])
def test_a_wrong_guess_changes_no_rate(monkeypatch: pytest.MonkeyPatch, guess: float | None) -> None:
    algorithm, asked = Scaffold(GradientSteps(2, 0.5)), {"accuracy": Fraction(1, 1000), "proof": False}
    right = smallest_rate(algorithm, CLASS, **asked)
    monkeypatch.setattr(searching, "rate_on_quadratics", lambda model, step: guess)
    found = smallest_rate(algorithm, CLASS, **asked)
    assert (found.rate, found.none_at) == (right.rate, right.none_at) == (0.815, 0.814)
