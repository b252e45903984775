"""Of which rounds a hypothesis is: false theorems were proved, and what nothing meets was called proved, where that was read in another way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from fedtheory.claims import MethodStates, Part, Theorem
from fedtheory.claims.references import find_papers, load_claims
from fedtheory.claims.statements.theorems.as_parts import find_of_rounds, replay_theorem
from fedtheory.claims.statements.theorems.proving import prove_theorem
from fedtheory.claims.statements.theorems.writing import describe_theorem
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.refusals import TermRefused
from paper_checks.said_by_theorems import list_theorems

#: weights of N + 1 outcomes, whose sum is one: of this N, and not of all of them, which would leave one outcome
LAW = {"law": "sum(w[r], r, 0, N) == 1"}
WEIGHTS = {"region": "", "rounds": {"r": 0, "N": 0}, "sequences": {"w": "0"}}
GD = MethodStates("gd", "lr = 1/L", "L, mu = 0")


def judge(theorem: Theorem) -> Part:
    return next(part for part in find_of_rounds(theorem, name="it") if isinstance(part, Part))


def weighted(claim: str, proof: str, **more: Any) -> Theorem:
    return Theorem(claim=claim, proof=proof, **{**WEIGHTS, "given": LAW, **more})


MEAN = weighted(
    "sum(w[r]*x[r], r, 0, N) <= 1",
    """
      all:  sum(w[r]*x[r], r, 0, N) <= sum(w[r], r, 0, N)
              by induction N: base combine w[0]*most(r=0); step combine ih, w[N+1]*most(r=N+1)
      done: claim by combine all, law
    """,
    sequences={"w": "0", "x": "0"},
    given={**LAW, "most": "x[r] <= 1"},
)
TAIL = Theorem(
    region="",
    rounds={"n": 0, "N": 0, "r": 0},
    sequences={"w": "0", "H": "0"},
    given={"law": "sum(w[r], r, 0, N) == H[n]", "half": "H[r+1] <= H[r]/2", "first": "H[0] == 1"},
    fixed=("n",),
    claim="sum(w[r], r, 0, N) <= (1/2)**n",
    proof="""
      falls: H[n] <= (1/2)**n   by induction n: base combine first; step combine 1/2*ih, half(r=n)
      done:  claim              by combine law, falls
    """,
)


@pytest.mark.parametrize("theorem", [MEAN, TAIL])
def test_a_hypothesis_on_the_claims_own_round_is_used_at_it(theorem: Theorem) -> None:
    assert prove_theorem(theorem).data["claims"] == [theorem.claim]


@pytest.mark.parametrize(
    ("claim", "proof", "expected"),
    [
        ("sum(w[r], r, 0, N) <= w[0]", "done: claim by combine law, law(N=0)", "law at N, which a hypothesis is about"),
        (
            "sum(w[r], r, 0, N) <= N + 1",
            "done: claim by induction N: base combine law; step combine ih, law",
            "lines about any N",
        ),
    ],
)
def test_it_is_used_at_no_other(claim: str, proof: str, expected: str) -> None:
    """Each of these claims is false of two outcomes of equal weight, or its proof is."""
    with pytest.raises(TermRefused, match=expected):
        prove_theorem(weighted(claim, proof))


def test_a_line_that_rests_on_it_goes_into_no_induction_over_it() -> None:
    proof = """
      one:  w[0] <= 1   by combine law, rest
      many: w[0] <= N + 1   by induction N: base combine one; step combine ih
      done: claim           by combine many
    """
    given = {**LAW, "rest": "w[0] <= sum(w[r], r, 0, N)"}
    with pytest.raises(TermRefused, match="lines about any N"):
        prove_theorem(weighted("w[0] <= N + 1", proof, given=given))


def test_without_fixed_rounds_a_hypothesis_on_quantities_is_of_all_and_is_shown_so() -> None:
    assert "given law: sum_{r=0}^N w[r] = H[n]; given half: H[r+1] <= H[r]/2 for all r;" in describe_theorem(TAIL)
    every = replace(TAIL, fixed=())
    assert "given law: sum_{r=0}^N w[r] = H[n] for all n;" in describe_theorem(every)
    assert "given law: sum_{r=0}^N w[r] = 1;" in describe_theorem(MEAN)


@pytest.mark.parametrize(("fixed", "why"), [("m", "is no round"), ("k", "no hypothesis speaks of it")])
def test_what_is_fixed_is_a_round_of_hypotheses(fixed: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{fixed}' is said to be fixed, and {why}"):
        replace(TAIL, fixed=(fixed,), rounds={**TAIL.rounds, "k": 0}, claim="sum(w[r], r, 0, N) <= (1/2)**n + 0*k")


def test_a_theorem_that_supposes_it_of_all_rounds_is_not_rested_on_where_it_is_of_one() -> None:
    """That the first weight is at least one follows from the sums of all N, and not from one of them."""
    first = weighted("1 <= w[0]", "done: claim by combine law(N=0)")
    assert prove_theorem(first).data["claims"]
    resting = weighted("sum(w[r], r, 0, N) <= w[0]", "done: claim by combine law, first", rests={"first": first})
    with pytest.raises(TermRefused, match="law of all N"):
        prove_theorem(resting)


LAST = weighted(
    "w[N] <= 1",
    """
      part: w[N] <= sum(w[r], r, 0, N)   by induction N: base combine; step combine
      done: claim                        by combine part, law
    """,
)


def test_what_is_proved_of_one_round_is_known_of_all_where_the_hypothesis_is_of_all() -> None:
    """And of this round alone where it is of one."""
    every = weighted("w[0] <= 1", "done: claim by combine last(N=0)", rests={"last": LAST}, given=LAW)
    with pytest.raises(TermRefused, match="last at N, which a hypothesis is about"):
        prove_theorem(replace(every, claim="w[0] <= 1 + 0*N"))
    assert prove_theorem(every).data["claims"] == ["w[0] <= 1"]


def test_an_instance_meets_hypotheses_on_the_claims_own_round() -> None:
    theorem = Theorem(
        region="0 < z", rounds={"n": 0}, sequences={"a": "0..1"}, given={"size": "z == n + 1"}, claim="z*a[n] <= n"
    )
    found = judge(theorem)
    assert found.holds is False and found.counterexample is not None
    assert replay_theorem(json.loads(json.dumps(found.counterexample.instance)), theorem=theorem).violated
    assert judge(replace(theorem, claim="z*a[n] <= n + 1")).holds is True


@pytest.mark.parametrize(
    ("claim", "holds"),
    [("a[n+1] <= a[n]", False), ("a[n] <= a[n+1]", False), ("a[n] <= 2*a[n+1]", True), ("a[n]*c <= c", False)],
)
def test_numbers_that_nothing_is_said_of_are_tried_at_both_ends_of_their_range(claim: str, holds: bool) -> None:
    """They were the lower ends alone, so that all were the same."""
    theorem = Theorem(region="0 < c" if "c" in claim else "", rounds={"n": 0}, sequences={"a": "1..2"}, claim=claim)
    found = judge(theorem)
    assert found.holds is holds
    if found.counterexample is not None:
        assert replay_theorem(json.loads(json.dumps(found.counterexample.instance)), theorem=theorem).violated


def test_a_refutation_shows_the_numbers_of_sequences() -> None:
    states, quantities = GD, {"gap": "f(x) - f(x_star)", "d": "norm2(x - x_star)"}
    claim = "a[n]*gap[n] <= a[n+1]*L*d[0]/(2*n)"
    found = judge(
        Theorem("0 < L", claim, states=states, quantities=quantities, rounds={"n": 1}, sequences={"a": "1..3"})
    )
    assert found.holds is False and "a[2] = 3, a[3] = 1" in found.text


def test_a_number_outside_of_its_range_is_no_instance() -> None:
    """a is 1/2, 1, and then 2, which it may not be."""
    given = {"first": "a[0] == 1/2", "next": "a[n+1] == 2*a[n]"}
    found = judge(Theorem("", "a[n+2] <= -1", rounds={"n": 0}, sequences={"a": "0..1"}, given=given))
    assert found.holds is None and "lies outside of its range 0..1" in found.text


STRICTLY_NOTHING = Theorem(
    region="0 < L",
    states=GD,
    rounds={"t": 0, "N": 1},
    quantities={"gap": "f(x) - f(x_star)", "d": "norm2(x - x_star)"},
    given={"below": "d[t] + gap[t]/L < 0"},
    claim="d[N] <= -d[0]",
    proof="""
      pos:  0 <= gap[t]   by derivation
      here: d[N] <= 0     by combine below(t=N), (1/L)*pos(t=N)
      zero: d[0] <= 0     by combine below(t=0), (1/L)*pos(t=0)
      done: claim         by combine here, zero
    """,
)


def test_what_only_an_equality_would_meet_is_met_by_nothing() -> None:
    """It was called proved: where all is zero, the hypothesis is an equality, and it is strict."""
    assert prove_theorem(STRICTLY_NOTHING).data["claims"]
    found = judge(STRICTLY_NOTHING)
    assert found.holds is None and "anything was found that meets what is assumed" in found.text


def test_what_a_strict_hypothesis_leaves_room_for_is_tried() -> None:
    moves = replace(STRICTLY_NOTHING, given={"moves": "0 < d[0]"}, claim="d[N] <= d[0]/2", proof="")
    assert judge(moves).holds is False
    assert judge(replace(moves, claim="d[N] <= d[0]")).holds is True


def test_no_hypothesis_of_the_ledgers_is_of_two_rounds_at_once() -> None:
    """``z[t+1] == (1 - w[K])*z[t]`` of all t and all K is met by nothing where w changes; K is the claim's own."""
    claims = [claim for source in find_papers().values() for claim in load_claims(source).values()]
    theorems = [theorem for claim in claims for theorem in list_theorems(claim)]
    assert len(theorems) > 100
    many = {
        (theorem.name, name)
        for theorem in theorems
        for name, said in theorem.hypotheses.items()
        if len(said.names & theorem.rounds.keys() - theorem.own_rounds(said)) > 1
    }
    assert many == set()
