"""Claims with roots, exponentials and logarithms: false ones are refuted by fractions between which these lie, true ones are not accused."""

from __future__ import annotations

import json
import random
import re
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from fedtheory.claims.claim import Part
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds, replay_theorem
from fedtheory.claims.statements.theorems.irrational import Between, place_between
from fedtheory.claims.statements.theorems.refuting import BrokenClaim, Guarded, refute_theorem
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput


def of_gradient_descent(claim: str, **more: Any) -> Theorem:
    """Its squared distance falls by (1 - mu/L)^2 a round, and by no less on a quadratic with the curvature mu."""
    return Theorem(
        region="0 < mu < L",
        states=MethodStates("gd", "lr = 1/L", "L, mu"),
        rounds={name: 0 for name in ("t", "N") if name in re.findall(r"\w+", claim)},
        quantities={"d": "norm2(x - x_star)"},
        claim=claim,
        **more,
    )


FALSE = {
    "an exponential": of_gradient_descent("d[N] <= exp(-4*N*mu/L)*d[0]"),
    "a root in a rate": of_gradient_descent("d[N] <= (1 - sqrt(mu/L))**(4*N)*d[0]"),
    "a power of a number": of_gradient_descent("d[N] <= 2**(-4*N*mu/L)*d[0]"),
    "some round": of_gradient_descent("exists t in 0..N: d[t] <= exp(-8*N*mu/L)*d[0]"),
    "the least of two": of_gradient_descent("d[N] <= min(exp(-N*mu/L), 2**(-3*N*mu/L))*d[0]"),
    "a hair too fast": of_gradient_descent("d[N] <= exp(2.001*N*log(1 - mu/L))*d[0]"),
    "a distance": of_gradient_descent("sqrt(d[N]) <= exp(-2*N*mu/L)*sqrt(d[0])"),
    "Bernoulli's inequality for roots": Theorem("0 < s < 1, 0 <= x", "1 + s*x <= (1 + x)**s"),
    "an equality": Theorem("0 < x", "log(1 + x) == x"),
}
TRUE = {
    "an exponential": of_gradient_descent("d[N] <= exp(-2*N*mu/L)*d[0]"),
    "as fast as it is": of_gradient_descent("d[N] <= exp(2*N*log(1 - mu/L))*d[0]"),
    "the largest of two": of_gradient_descent("d[N] <= max(exp(-N*mu/L), 2**(-8*N*mu/L))*d[0]"),
    "Bernoulli's inequality for roots": Theorem("0 < s < 1, 0 <= x", "(1 + x)**s <= 1 + s*x"),
    "both sides are one number": Theorem("0 < x", "sqrt(x)*sqrt(x + 1) == sqrt(x*(x + 1))"),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_refuted_and_replayed(name: str) -> None:
    (part,) = (one for one in find_of_rounds(FALSE[name], name="it") if isinstance(one, Part))
    assert part.holds is False and part.counterexample is not None
    again = replay_theorem(json.loads(json.dumps(part.counterexample.instance)), theorem=FALSE[name])
    assert again.violated and again.exact_measured == part.counterexample.replay.exact_measured > 0
    assert float(again.exact_measured) == pytest.approx(again.measured, rel=1e-3)
    assert again.arithmetic == "fractions between which irrational numbers lie" and again.what.endswith("at least")


@pytest.mark.parametrize("name", TRUE)
def test_true_claims_are_not_accused(name: str) -> None:
    assert isinstance(refute_theorem(TRUE[name]), Guarded)


def test_an_instance_breaks_the_false_claim_and_not_the_true_one() -> None:
    broken = refute_theorem(FALSE["an exponential"])
    assert isinstance(broken, BrokenClaim)
    assert not replay_theorem(broken.store(), theorem=TRUE["an exponential"]).violated


def test_what_is_given_is_met_for_certain() -> None:
    """A start on the border of what is given is met by fractions that are close on one side of it alone."""
    start = {"start": "d[0] <= exp(1)"}
    below, above = (of_gradient_descent(f"d[N] <= {e}*(1 - mu/L)**(2*N)", given=start) for e in ("2.718", "2.7183"))
    assert isinstance(refute_theorem(below), BrokenClaim) and isinstance(refute_theorem(above), Guarded)


def test_the_ends_are_on_both_sides() -> None:
    rng = random.Random(0)
    with mpmath.workdps(120):
        for _ in range(200):
            x, y = (Fraction(rng.randrange(1, 10**20), rng.randrange(1, 10**20)) for _ in range(2))
            x, y = min(x, Fraction(500)), min(y, Fraction(40))
            for name, arguments in (("sqrt", [x]), ("exp", [-x]), ("log", [x]), ("power", [x, y])):
                found = place_between(name, *arguments)
                numbers = [mpmath.mpf(a.numerator) / a.denominator for a in arguments]
                true = numbers[0] ** numbers[1] if name == "power" else getattr(mpmath, name)(*numbers)
                low, high = (mpmath.mpf(e.numerator) / e.denominator for e in (found.low, found.high))
                assert low <= true <= high and high - low <= abs(true) * mpmath.mpf(2) ** -150 + mpmath.mpf(2) ** -150


def test_sums_products_and_quotients_of_ends() -> None:
    rng = random.Random(1)
    for _ in range(500):
        low, high, c, d = sorted(Fraction(rng.randrange(-50, 50), rng.randrange(1, 9)) for _ in range(4))
        a, b = Between(low, c), Between(high, d)
        for x in (a.low, (a.low + a.high) / 2, a.high):
            for y in (b.low, b.high):
                for found, true in ((a + b, x + y), (a - b, x - y), (a * b, x * y), (a**2, x**2), (abs(a), abs(x))):
                    assert found.low <= true <= found.high
                if b.low > 0 or b.high < 0:
                    assert (a * (1 / b)).low <= x / y <= (a * (1 / b)).high
        assert 0 < Between(Fraction(1, 7), high).least <= Fraction(1, 7)


@pytest.mark.parametrize(
    "call", [("log", Fraction(0)), ("sqrt", Fraction(-1)), ("power", Fraction(-1), Fraction(1, 2))]
)
def test_what_is_no_number_is_refused(call: Any) -> None:
    with pytest.raises(InvalidInput, match="is no number"):
        place_between(*call)
