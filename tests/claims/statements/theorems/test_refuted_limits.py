"""Limits of theorems are refuted by runs that come back: at the end of a range of steps, where f is flat, and where a method stays beside x*."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from fedtheory.claims.statements.theorems.refuting import BrokenClaim, Guarded, refute_theorem, replay_claim
from fedtheory.claims.statements.theorems.states import MethodStates
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.core.errors import InvalidInput

DISTANCE = {"d": "norm2(x - x_star)"}


def ends(region: str, states: MethodStates, claim: str = "d[T] -> 0 as T", least: int = 0) -> Theorem:
    return Theorem(region=region, states=states, rounds={"T": least}, quantities=DISTANCE, claim=claim)


STRONGLY, CONVEX = MethodStates("gd", "lr", "L, mu"), MethodStates("gd", "lr", "L, mu = 0")
TO_AND_FRO = ends("0 < mu < L, 0 < lr <= 2/L", STRONGLY)
FALSE = {
    "steps of 2/L go to and fro": TO_AND_FRO,
    "a function may be flat": ends("0 < L, 0 < lr < 2/L", CONVEX),
    "two local steps of unlike clients": ends("0 < mu < L, 0 < lr < 1/L", MethodStates("fedavg", "lr, steps = 2", "L, mu")),
    "four clients": ends("0 < mu < L, 0 < lr < 1/L", MethodStates("fedavg", "lr, steps = 2", "L, mu", clients="n = 4")),
    "another limit": ends("0 < L, 0 < lr < 2/L", CONVEX, "d[T] -> 2*d[0] as T"),
}  # fmt: skip
TRUE = {
    "steps below 2/L": ends("0 < mu < L, 0 < lr < 2/L", STRONGLY),
    "differences": ends("0 < L, 0 < lr < 2/L", CONVEX, "d[T] - d[T+1] -> 0 as T"),
    "a share of the round": ends("0 < L, 0 < lr < 2/L", CONVEX, "d[T]/T -> 0 as T", 1),
    "one local step": ends("0 < mu < L, 0 < lr < 1/L", MethodStates("fedavg", "lr, steps = 1", "L, mu")),
    "another step in every round": ends("0 < L", MethodStates("agd", "lr = 1/L", "L, mu = 0")),
    "draws": ends("0 < mu < L, 0 < lr < 1/L", MethodStates("scaffnew", "lr, p = 1/2", "L, mu")),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_limit_is_refuted_by_a_run_that_comes_back(name: str) -> None:
    broken = refute_theorem(FALSE[name])
    assert isinstance(broken, BrokenClaim) and broken.gap > 0
    again = BrokenClaim.read(broken.store())
    assert abs(replay_claim(FALSE[name], again)) == broken.gap
    assert abs(replay_claim(FALSE[name], again, floats=True)) == pytest.approx(float(broken.gap))


@pytest.mark.parametrize("name", TRUE)
def test_a_true_limit_is_not(name: str) -> None:
    found = refute_theorem(TRUE[name])
    assert isinstance(found, Guarded) and not found.points and "come back" in found.left_out[0]


def test_a_run_that_does_not_come_back_says_nothing_of_a_limit() -> None:
    broken = refute_theorem(TO_AND_FRO)
    assert isinstance(broken, BrokenClaim)
    shorter = {**broken.instance.point, "lr": broken.instance.point["lr"] * Fraction(9, 10)}
    with pytest.raises(InvalidInput, match="does not come back"):
        replay_claim(TO_AND_FRO, replace(broken, instance=replace(broken.instance, point=shorter)))
    with pytest.raises(InvalidInput, match="along some rounds"):
        replay_claim(replace(TO_AND_FRO, claim="d[T] -> 0 as T in J"), broken)


def test_a_run_has_as_many_clients_as_the_theorem() -> None:
    of_four = FALSE["four clients"]
    broken, of_two = refute_theorem(of_four), refute_theorem(FALSE["two local steps of unlike clients"])
    assert isinstance(broken, BrokenClaim) and isinstance(of_two, BrokenClaim)
    assert broken.instance.clients == 4 and of_two.instance.clients == 2
    with pytest.raises(InvalidInput, match="about 4 clients, and the run has 2"):
        replay_claim(of_four, of_two)
