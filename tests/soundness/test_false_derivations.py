"""Derivations and instances that are wrong in one place and right in all others: each is refused for what is wrong with it.

The identity of every derivation balances, so that it is its signs, its class or its hypotheses alone that give it away.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fedtheory.claims import Lemma, dot, norm2, prove_lemma
from fedtheory.claims.statements.lemma import recheck_instance
from fedtheory.proofs import compare
from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT, check_derivation
from fedtheory.proofs.checker.refusals import Refused

#: 0 < a
ABOVE_ZERO = {"name": "a", "low": "0", "high": None, "low closed": False, "high closed": False}


def derivation(**changes: Any) -> dict[str, Any]:
    """``a <= 0`` where ``a <= 0`` is a hypothesis: true, and refused with any of the changes."""
    sound = {
        "format": DERIVATION_FORMAT,
        "parameters": [ABOVE_ZERO],
        "factors": [[["1", [1]]]],
        "functions": {},
        "hypotheses": {"known": {"f": {"0": "1"}}},
        "conclusion": {"f": {"0": "1"}},
        "multipliers": {"known": "1"},
        "constant": "0",
        "pivots": {"S": [], "Q": []},
        "mean": 1,
        "deviation": 0,
    }
    return sound | changes


CONVEX = {
    "L": "1",
    "mu": "0",
    "evaluations": [{"x": {}, "g": {}, "f": {"0": "1"}}, {"x": {}, "g": {}, "f": {"1": "1"}}],
}
FALSE = {
    "a constant above zero": (
        {"conclusion": {"1": "1"}, "multipliers": {}, "constant": "1"},
        "the opposite of the constant was not shown to be nonnegative",
    ),
    "a constant above zero for every a": (
        {"conclusion": {"1": ["1", {"0": 1}]}, "multipliers": {}, "constant": ["1", {"0": 1}]},
        "the opposite of the constant was not shown to be nonnegative",
    ),
    "a multiplier below zero": (
        {"conclusion": {"f": {"0": "-1"}}, "multipliers": {"known": "-1"}},
        "the multiplier of 'known' was not shown to be nonnegative",
    ),
    "a pivot below zero": (
        {
            "conclusion": {"S": {"0,0": "1"}},
            "multipliers": {},
            "pivots": {"S": [{"pivot": "-1", "row": {"0": "1"}}], "Q": []},
        },
        "pivot 0 of Z_S was not shown to be nonnegative",
    ),
    "a hypothesis that is not there": (
        {"hypotheses": {}},
        "'known' is neither a hypothesis nor a pair of evaluations",
    ),
    "a hypothesis with the name of an inequality": (
        {
            "functions": {"f": CONVEX},
            "hypotheses": {"f 0 1": {"f": {"0": "1"}}},
            "multipliers": {"f 0 1": "1"},
        },
        "has the name of an interpolation inequality",
    ),
    "a class that there is not": (
        {"functions": {"f": CONVEX | {"mu": "2"}}},
        "L - mu of 'f' was not shown to be positive",
    ),
    "a denominator that vanishes": (
        {
            "parameters": [ABOVE_ZERO | {"low closed": True}],
            "conclusion": {"f": {"0": ["1", {"0": -1}]}},
            "multipliers": {"known": ["1", {"0": -1}]},
        },
        "was not shown to be nonzero on the region",
    ),
    "an entry outside of its block": (
        {
            "conclusion": {"S": {"1,1": "-1"}},
            "multipliers": {},
            "pivots": {"S": [{"pivot": "1", "row": {"1": "1"}}], "Q": []},
        },
        "lies outside the block S",
    ),
}


def test_the_derivation_that_they_are_made_from_is_accepted() -> None:
    check_derivation(derivation())


@pytest.mark.parametrize("name", FALSE)
def test_a_false_derivation_whose_identity_balances_is_refused_for_what_is_wrong(name: str) -> None:
    change, why = FALSE[name]
    with pytest.raises(Refused, match=why):
        check_derivation(derivation(**change))


def small(world: Any, p: Any, c: Any) -> Any:
    """<x, y> <= 1/4 for ||x||^2 <= 1: false without a bound of y."""
    x, y = world.vector("x"), world.vector("y")
    world.assume("x is small", norm2(x) - 1)
    return dot(x, y) - c.c / 4


def smaller(world: Any, p: Any, c: Any) -> Any:
    """The same for ||x||^2 <= 0: true."""
    x, y = world.vector("x"), world.vector("y")
    world.assume("x is small", norm2(x))
    return dot(x, y) - c.c / 4


def test_an_instance_that_breaks_a_hypothesis_is_no_counterexample() -> None:
    lemma = Lemma("small", "here", "0 < a", small, {"c": 1})
    found = prove_lemma(lemma)
    assert found.instance is not None and recheck_instance(lemma, found.instance) is None
    said = recheck_instance(replace(lemma, build=smaller), found.instance)
    assert said == "the instance does not meet x is small"


@pytest.mark.parametrize(("sign", "holds"), [("<", False), ("<=", True), (">", False), (">=", True), ("==", True)])
def test_equal_numbers_are_compared_by_the_sign_that_is_asked_for(sign: str, holds: bool) -> None:
    assert compare(2, sign, 2) is holds
