"""Theorems on parameters and rounds alone: their instances once could not be stored, and were looked for where hypotheses fail."""

from __future__ import annotations

import json

from fedtheory.claims import Part, Theorem
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds, replay_theorem

BELOW = {"below": "y <= z"}


def judge(theorem: Theorem) -> Part:
    return next(part for part in find_of_rounds(theorem, name="it") if isinstance(part, Part))


def test_an_instance_of_a_round_is_stored_and_replayed() -> None:
    theorem = Theorem("0 < y", "1 + 2*n*(y - 1) <= y**n", rounds={"n": 0})
    found = judge(theorem)
    assert found.holds is False
    assert replay_theorem(json.loads(json.dumps(found.counterexample.instance)), theorem=theorem).violated


def test_where_a_hypothesis_fails_nothing_is_refuted() -> None:
    assert judge(Theorem("0 < y, 0 < z", "y <= 2*z", given=BELOW)).holds is not False
    true = Theorem("0 < y, 0 < z", "y <= 2*z", "done: claim by combine 1*below", given=BELOW)
    assert judge(true).engine == "symbolic"


def test_where_it_holds_a_false_claim_is_refuted() -> None:
    theorem = Theorem("0 < y, 0 < z", "y <= z/2", given=BELOW)
    found = judge(theorem)
    assert found.holds is False and replay_theorem(found.counterexample.instance, theorem=theorem).violated


def test_a_hypothesis_on_a_sequence_is_met_by_no_point() -> None:
    theorem = Theorem(
        "0 < y, 0 < z",
        "y <= z",
        rounds={"n": 0},
        sequences={"t": "0"},
        given={"above": "y <= t[n]", "low": "t[n] <= z"},
    )
    assert judge(theorem).holds is None


def test_an_equality_that_fails_from_below_is_refuted() -> None:
    theorem = Theorem("0 < y", "y == y + y**2")
    found = judge(theorem)
    assert found.holds is False and found.counterexample.replay.violated
