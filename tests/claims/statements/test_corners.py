"""Statements in corners: one client, no radius, no rounds, ends of regions, regions of one point or of none, constants of any size."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.claims import Bound, Claim, Context, Divergence, Fault, Lemma, Limit, Rate, norm2
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.statements.as_claims import find_of_statement
from fedtheory.core.errors import InvalidInput
from problems.quadratics import scalar_quadratics

PAIR = scalar_quadratics(np.array([Fraction(1), Fraction(1)]), np.array([Fraction(1), Fraction(-1)]))
LINE: dict[str, Any] = {"problem": lambda: PAIR, "start": 3}
GAP: dict[str, Any] = {"functions": "L", "measure": "gap", "radius": "R"}
ONE: dict[str, Any] = {"functions": "L=1", "measure": "gap", "radius": 1, "region": "1/2 <= lr <= 1/2"}
HUGE: dict[str, Any] = {"functions": "L=10**12", "measure": "gap", "radius": "R/10**12", "region": "0 < R"}
SQUARED: dict[str, Any] = {"metric": "distance", "region": "0 < lr < 1", **LINE}


def descent(w: Any, p: Any, c: Any) -> Any:
    """f(x - grad f(x)/L) <= f(x) - c ||grad f(x)||^2/(2 L)."""
    f, x = w.function(p.L), w.vector("x")
    g, before = w.at(f, x, "g")
    return w.at(f, x - g * (1 / p.L), "after")[1] - before + norm2(g) * (c.c / (2 * p.L))


#: whether it is true; what it is judged as
CASES = {
    "radius from 0 on": (True, Bound("gd", "lr=1/L", region="0<L, 0<=R", claimed="L*R**2/6", **GAP), "proved"),
    "one point": (True, Bound("gd", "lr", claimed="1/4", **ONE), "proved"),
    "one point, 1 %": (False, Bound("gd", "lr", claimed="99/400", **ONE), "refuted"),
    "huge L, tiny radius": (True, Bound("gd", "lr=1/10**12", claimed="R**2/(6*10**12)", **HUGE), "proved"),
    "huge L, 1 %": (False, Bound("gd", "lr=1/10**12", claimed="99/100*R**2/(6*10**12)", **HUGE), "refuted"),
    "open end": (True, Limit("gd", "lr", region="0 < lr < 2", **LINE), "proved"),
    "closed end": (False, Limit("gd", "lr", region="0 < lr <= 2", **LINE), "refuted"),
    "diverges": (True, Divergence("gd", "lr", region="2 < lr", **LINE), "proved"),
    "modulus one": (False, Divergence("gd", "lr", region="2 <= lr", **LINE), "refuted"),
    "tight": (True, Rate("gd", "lr", factor="(1-lr)**2", tight=True, **SQUARED), "proved"),
    "1e-12 less": (False, Rate("gd", "lr", factor="(1-1/10**12)*(1-lr)**2", **SQUARED), "refuted"),
    "tight, 1e-12 more": (False, Rate("gd", "lr", factor="(1+1/10**12)*(1-lr)**2", tight=True, **SQUARED), "refuted"),
    "tiny L": (True, Lemma("descent", "textbook", "0 < L < 1/10**12", descent, {"c": 1}), "proved"),
    "lemma, 1e-12 more": (False, Lemma("descent", "textbook", "0 < L", descent, {"c": Fraction(10**12 + 1, 10**12)}), "inconclusive"),
    "lemma at one point, 1 %": (False, Lemma("descent", "textbook", "1 <= L <= 1", descent, {"c": "101/100"}), "refuted"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_no_true_statement_is_accused_and_no_false_one_stands(name: str) -> None:
    truth, statement, word = CASES[name]
    kind: Any = {Limit: "identity", Divergence: "divergence", Rate: "rate"}.get(type(statement), "bound")
    check = lambda context: find_of_statement(statement, context)  # noqa: E731
    verdict = judge_claim(Claim("X", "toy", kind, "", "", check, (Fault("none", "none", {}),)), "toy.py", Context())
    found = verdict.status
    assert verdict.error is None
    assert found == word
    assert (
        found
        not in {
            True: ("refuted", "repaired"),
            False: ("proved", "supported"),
        }[truth]
    )


def test_a_region_without_points_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no point of the region '0 < lr < 1' was found that satisfies lr > 2"):
        Rate("gd", "lr", factor=0, where=("lr > 2",), **SQUARED)


def test_an_end_of_the_region_at_which_the_method_is_refused_is_told() -> None:
    """A step of size 0 stays where it is, so that this is false there."""
    readings = [
        f.text for f in Limit("gd", "lr", region="0 <= lr < 2", **LINE).findings(Context()) if hasattr(f, "text")
    ]
    assert any("the region contains lr = 0, which was not looked at: lr must be positive" in text for text in readings)
