"""Enclosures and conditions that rounding may leave open: against every choice of what is open, and what cannot be enclosed refused."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from fedtheory.core.arrays import average, namespace, take
from fedtheory.core.errors import NotAvailable
from fedtheory.tools import enclosures
from fedtheory.tools.enclosures import Enclosed, Functions, Truth, enclosed, enclosed_problem

#: what may be the case where nothing is known, the condition holds, it does not
KINDS = {"open": (False, True), "holds": (True,), "fails": (False,)}
PAIRS = list(product(KINDS, KINDS))


def truth(*names: str) -> Truth:
    return Truth(np.array([all(KINDS[n]) for n in names]), np.array([any(KINDS[n]) for n in names]))


def names(found: Truth) -> list[str]:
    kinds = {(False, True): "open", (True, True): "holds", (False, False): "fails"}
    return [kinds[bool(c), bool(p)] for c, p in zip(found.certain, found.possible, strict=True)]


def named(values: set[bool]) -> str:
    return "open" if len(values) == 2 else "holds" if values == {True} else "fails"


@pytest.mark.parametrize(
    ("of_conditions", "of_one"),
    [
        (lambda a, b: a & b, lambda a, b: a and b),
        (lambda a, b: a | b, lambda a, b: a or b),
        (lambda a, b: ~a & b, lambda a, b: not a and b),
        (lambda a, b: Functions.all(Functions.stack([a, b]), axis=0), lambda a, b: a and b),
        (lambda a, b: Functions.any(Functions.stack([a, b]), axis=0), lambda a, b: a or b),
        (lambda a, b: Functions.where(a, b, Functions.ones_like(b)), lambda a, b: b if a else True),
        (lambda a, b: Functions.where(a, Functions.zeros_like(b), b), lambda a, b: False if a else b),
    ],
    ids=["and", "or", "not", "all", "any", "b where a, else true", "false where a, else b"],
)
def test_conditions_follow_every_case_that_is_open(of_conditions, of_one) -> None:
    found = names(of_conditions(truth(*(p for p, _ in PAIRS)), truth(*(q for _, q in PAIRS))))
    assert found == [named({of_one(a, b) for a in KINDS[p] for b in KINDS[q]}) for p, q in PAIRS]


@pytest.mark.parametrize("other", [0.0, 1.0, 2.0])
def test_comparisons_hold_fail_or_are_open_by_the_ends_of_the_interval(other) -> None:
    """[1 - 1/2, 1 + 1/2] and the point 1."""
    intervals = [(1.0, 0.5), (1.0, 0.0)]
    x = Enclosed(*map(np.array, zip(*intervals, strict=True)))
    ends = [(m - r, m + r) for m, r in intervals]
    assert names(x < other) == [named({low < other, high < other}) for low, high in ends]
    assert names(x > other) == names(other < x) == [named({low > other, high > other}) for low, high in ends]


def test_conditions_as_numbers_lie_between_zero_and_one_where_they_are_open() -> None:
    found = Functions.astype(truth("open", "holds", "fails"), np.dtype(float))
    assert (found.middle - found.radius).tolist() == [0, 1, 0] and (found.middle + found.radius).tolist() == [1, 1, 0]
    numbers = Enclosed([1.0, 2.0], 0.25)
    assert Functions.astype(numbers, np.dtype(float)) is numbers and (+numbers) is numbers


def test_clients_are_selected_in_conditions_as_in_arrays() -> None:
    one = truth("open", "holds", "fails")
    assert namespace(one) is Functions and (one.ndim, one.dtype, one.device) == (1, np.dtype(bool), "cpu")
    assert names(take(one, np.array([2, 0, 0]), axes_behind=0)) == ["fails", "open", "open"]
    shares = average(Functions.astype(one, np.dtype(float))[:, None])
    assert shares.middle - shares.radius <= 1 / 3 and shares.middle + shares.radius >= 2 / 3, "one or two of the three"


def test_an_infinite_radius_is_not_finite() -> None:
    found = Functions.isfinite(Enclosed([1.0, np.inf, 1.0, np.nan], [0.5, 0.0, np.inf, 0.0]))
    assert names(found) == ["holds", "fails", "fails", "fails"]
    apart = Enclosed(1.0) / Enclosed([1.0, 0.25], [0.5, 0.5])
    assert names(Functions.isfinite(apart)) == ["holds", "fails"], "the divisor may be zero"


@pytest.mark.parametrize("power", [1 / 3, 2.25, 65, "2", None])
def test_powers_that_are_not_known_are_refused(power) -> None:
    with pytest.raises(
        NotAvailable, match=f"the power {power} of an enclosure is not known; whole and half powers are"
    ):
        Enclosed([2.0]) ** power


def test_what_no_bound_is_known_of_is_refused() -> None:
    with pytest.raises(NotAvailable, match="a condition was used as a number"):
        enclosed(1.0) + truth("holds")
    with pytest.raises(NotAvailable, match=f"a sum of {2**41} terms is too long for a bound of its rounding"):
        enclosures._gamma(2**41)


@dataclass(frozen=True)
class Data:
    weights: Any
    labels: Any = None
    inner: Any = None


def test_data_of_a_problem_are_enclosed_where_they_are_double_precision() -> None:
    found = enclosed_problem(Data(np.ones(2), np.arange(2), Data(0.5)))
    assert isinstance(found.weights, Enclosed) and isinstance(found.inner.weights, Enclosed)
    assert found.labels.dtype.kind == "i", "whole numbers are exact as they are"
    for wrong in (np.ones(2, np.float32), np.array([1j]), np.array([None])):
        with pytest.raises(NotAvailable, match=f"its weights holds {wrong.dtype}, not numbers in double precision"):
            enclosed_problem(Data(1.0, inner=Data(wrong)))
