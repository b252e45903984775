"""A wrapped problem has the abilities that are true of it, and no others."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from helpers import PROBLEMS, problem

from fedtheory.algorithms.changed_gradients import ChangedGradients
from fedtheory.core.errors import NotAvailable
from fedtheory.core.participation import Clients
from fedtheory.core.problem import ABILITIES, Pooled, can, need
from fedtheory.core.regularisers import L1, Regularised
from fedtheory.core.wrapped import Wrapped
from fedtheory.local.proximal_steps import ShiftedProblem


@dataclass(frozen=True, eq=False)
class Doubled(Wrapped):
    """2 f_i, as far as it says."""

    note: str = ""

    withheld: ClassVar[frozenset[str]] = frozenset({"certify"})

    def changed_grad(self, given, x):
        return 2 * given(x)

    def changed_hess(self, given, x):
        return 2 * given(x)


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_it_hands_on_what_is_there_and_nothing_else(name) -> None:
    f = problem(name)
    for ability in ABILITIES:
        assert can(Doubled(f), ability) == (can(f, ability) and ability != "certify"), ability
        assert can(Wrapped(f), ability) == can(f, ability), ability
        of_samples = ("n_samples", "variants", "sample_grad")
        for closed in (ChangedGradients(f, lambda x, g: g(x)), ShiftedProblem(f, np.zeros((f.n, f.d)))):
            assert can(closed, ability) == (ability in of_samples and can(f, ability)), (type(closed), ability)
        if not can(f, "regulariser"):
            own = {"solution": False, "bracket": False, "regulariser": True}
            assert can(Regularised(f, L1(0.1)), ability) == own.get(ability, can(f, ability)), ability


def test_a_shifted_problem_is_the_problem_elsewhere() -> None:
    """p -> f_i(c_i + p), for some clients as for all; a pooled one is their average."""
    f = problem("quadratics")
    centre, p = np.random.default_rng(3).standard_normal((2, f.n, f.d))
    shifted = ShiftedProblem(f, centre)
    assert shifted.name == f"{f.name}, shifted" and Pooled(f).name == f"average of {f.name}"
    np.testing.assert_array_equal(shifted.value(p), f.value(centre + p))
    np.testing.assert_array_equal(shifted.grad(p), f.grad(centre + p))
    some = np.array([2, 0])
    part = shifted.take(Clients(f.n, some))
    np.testing.assert_allclose(part.value(p[some]), shifted.value(p)[some], rtol=1e-13)
    np.testing.assert_allclose(part.grad(p[some]), shifted.grad(p)[some], rtol=1e-13)
    np.testing.assert_allclose(Pooled(f).value(p[:1]), f.value(p[:1]).mean(keepdims=True), rtol=1e-13)


def test_changes_take_the_place_of_abilities_and_problems_stay_wrapped() -> None:
    f, x = problem("quadratics"), np.ones((1, problem("quadratics").d))
    twice = Doubled(f, "a note")
    np.testing.assert_array_equal(twice.grad(x), 2 * f.grad(x))
    np.testing.assert_array_equal(twice.value(x), f.value(x))
    some = twice.take(Clients(f.n, np.array([1])))
    for part, inner in ((some, f.take(Clients(f.n, np.array([1])))), (twice.slice(1, 2), f.slice(1, 2))):
        assert (part.note, part.n) == ("a note", 1)
        np.testing.assert_array_equal(part.grad(x), 2 * inner.grad(x))
    np.testing.assert_array_equal(twice.ridged(0.5).hess(x), 2 * f.ridged(0.5).hess(x))
    assert twice.take(None) is twice
    with pytest.raises(NotAvailable, match=r"needs 'certify'.*gives value, grad, prox, hess"):
        need(twice, "certify", "this")


def test_it_survives_copying_and_processes() -> None:
    twice, x = Doubled(problem("quadratics"), "a note"), np.ones((1, problem("quadratics").d))
    for twin in (copy.copy(twice), copy.deepcopy(twice), pickle.loads(pickle.dumps(twice))):
        np.testing.assert_array_equal(twin.grad(x), twice.grad(x))
