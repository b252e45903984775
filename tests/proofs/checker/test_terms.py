"""What holds of whole terms: which rounds, values and draws a line is about, what it rests on, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from small_terms import term

from fedtheory.proofs.checker.algebra import value_of
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.files import describe_term
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.checker.refusals import TermRefused


def test_a_formula_over_a_multiple_of_itself_is_that_number() -> None:
    ratio = "(1/(2*eta) - L/2 - L**2*eta)/((1 + eta)**2*(L + 1/eta)**2*c**2*(1 - theta)**2)"
    left, right = (value_of(read(text)) for text in (f"1 - {ratio}", f"-2*({ratio} - 1)/x"))
    assert (left / right).text() == "(1/2)*x"
    assert (left / (right + left)).text() != "(1/2)*x"


def test_the_best_of_all_s_is_cauchy_and_schwarz() -> None:
    """From 2 c <= s a + b/s for all s > 0, given as a hypothesis, c <= sqrt(a b)."""
    lines = "done: claim by least s of young"
    given = {"young": "2*c <= s*a + b/s"}
    region = "0 < a, 0 < b, 0 < c, 0 < s"
    more: dict[str, Any] = {"given": given, "auxiliary": ["s"]}
    assert check_term(term("2*c <= 2*sqrt(a)*sqrt(b)", lines, region, **more)).given == ("young",)
    with pytest.raises(TermRefused, match="not shown to be nonnegative"):
        check_term(term("2*c <= 1.9*sqrt(a)*sqrt(b)", lines, region, **more))
    with pytest.raises(TermRefused, match="of which quantities and claims know nothing"):
        check_term(term("2*c <= 2*sqrt(a)*sqrt(b)", lines, region, given=given))


def test_values_of_a_whole_number_are_all_looked_at() -> None:
    lines = "done: claim by values K: combine; combine; combine"
    assert check_term(term("0 <= (K - 1)*(K - 2)", lines, wholes={"K": [1, 3]})).claims
    with pytest.raises(TermRefused, match="3 rules"):
        check_term(term("0 <= (K - 1)*(K - 2)", "done: claim by values K: combine; combine", wholes={"K": [1, 3]}))


def test_a_line_about_one_value_is_not_used_for_another() -> None:
    lines = """
      one:  at K=1: K <= 1   by combine
      done: claim            by values K: combine 1*one; combine 1*one
    """
    with pytest.raises(TermRefused, match="a premise that holds where"):
        check_term(term("K <= 1", lines, wholes={"K": [1, 2]}))


def test_what_is_cited_is_told() -> None:
    lines = "known: 2*a <= a**2 + 1 by cite Young's inequality\ndone: claim by combine 1*known"
    assert check_term(term("2*a <= a**2 + 1", lines, "0 < a")).cited == ("Young's inequality",)


def test_what_a_cited_theorem_is_applied_to_are_earlier_lines() -> None:
    lines = "pos: 0 <= a by combine\nknown: 2*a <= a**2 + 1 by cite Young's inequality from {}\ndone: claim by combine 1*known"
    found = check_term(term("2*a <= a**2 + 1", lines.format("pos"), "0 < a"))
    assert found.cited == ("Young's inequality",)
    with pytest.raises(TermRefused, match="a line before it"):
        check_term(term("2*a <= a**2 + 1", lines.format("nothing"), "0 < a"))


def test_quantities_of_draws_are_not_multiplied() -> None:
    """E XY is not E X E Y."""
    quantities, drawn = {"X": "x", "Y": "y"}, ["p", "1 - p"]
    with pytest.raises(TermRefused, match="linear in quantities"):
        check_term(
            term("X[t]*Y[t] <= 2*X[t]*Y[t]", "done: claim by combine", "0 < p < 1", quantities=quantities, drawn=drawn)
        )


def test_probabilities_are_between_zero_and_one() -> None:
    with pytest.raises(TermRefused, match="probabilities"):
        check_term(term("0 <= p", "done: claim by combine", "0 < p < 2", drawn=["p", "1 - p"]))


def test_a_theorem_rests_on_another_where_that_one_holds() -> None:
    lemma = term("a <= a**2", "done: claim by combine", "1 <= a")
    lines = "done: claim by combine 2*low"
    assert check_term(term("2*a <= 2*a**2", lines, "2 <= a", rests={"low": lemma})).claims
    with pytest.raises(TermRefused, match="on this region"):
        check_term(term("2*a <= 2*a**2", lines, "0 < a", rests={"low": lemma}))
    resting = {"low": check_term(lemma)}
    assert check_term(term("2*a <= 2*a**2", lines, "2 <= a", rests={"low": lemma}), resting=resting).claims
    with pytest.raises(TermRefused, match="on this region"):
        check_term(term("2*a <= 2*a**2", lines, "0 < a", rests={"low": lemma}), resting=resting)


def test_a_quantity_of_the_next_round_is_at_least_zero_from_the_first_round_on_that_was_shown() -> None:
    """From 0 <= X[n+1] for n >= 0 a root of X[T+1] is taken, and none of X[T], which may be X[0]."""
    more: dict[str, Any] = {"quantities": {"X": "x"}, "given": {"low": "0 <= X[n+1]"}}
    assert check_term(term("0 <= sqrt(X[T+1])", "done: claim by combine 0*low(n=T)", **more)).claims
    with pytest.raises(TermRefused, match="nowhere negative"):
        check_term(term("0 <= sqrt(X[T])", "done: claim by combine 0*low(n=T)", **more))


def test_numbers_of_a_sequence_lie_between_both_ends_of_its_range() -> None:
    claim, line = "r*t[n] <= 1", "done: claim by combine"
    without = {"rounds": {"n": 0}}
    assert check_term(term(claim, line, "0 < r < 1", sequences={"t": "1..1/r"}, **without)).claims
    with pytest.raises(TermRefused, match="not shown to be nonnegative"):
        check_term(term(claim, line, "0 < r < 1", sequences={"t": "1"}, **without))


@pytest.mark.parametrize(
    "claim, lines, said",
    [
        ("n <= y", "done: claim by combine 1*steps", ""),
        ("y + 1 <= y", "done: claim by combine 1*steps(n=n+1), (-1)*steps", "a hypothesis is about"),
        (
            "y + 1 <= y",
            "one: n <= y by combine 1*steps\ndone: claim by combine 1*one(n=n+1), (-1)*steps",
            "a hypothesis is about",
        ),
        ("n <= y", "done: claim by induction n: base combine 1*steps(n=0); step combine 1*steps(n=n+1)", "about any n"),
        ("sum(1, k, 1, n) <= y", "done: claim by induction n: base combine 0*steps; step combine 1*ih", "about any n"),
    ],
)
def test_a_hypothesis_about_numbers_is_about_the_rounds_of_the_claim(claim: str, lines: str, said: str) -> None:
    data = term(claim, lines, "0 <= y", given={"steps": "n == y"})
    if said:
        with pytest.raises(TermRefused, match=said):
            check_term(data)
    else:
        assert check_term(data).given == ("steps",)


STEPS_INSIDE = {"quantities": {"A": "norm2(y)", "D": "norm2(x)"}, "given": {"low": "A[k] <= c*D[k]"}}
ROUND: dict[str, Any] = {"quantities": {"A": "norm2(x_new)", "D": "norm2(x)"}, "where": {"c": "1 - a/2"}}


@pytest.mark.parametrize(
    ("claim", "given", "region", "last", "said"),
    [
        ("A[k] <= c*D[k]", "A[t] <= (1 - a/2)*D[t]", "0 < a < 1", "k", ""),
        ("A[k] <= c*D[k]", "A[t] <= (1 - a/3)*D[t]", "0 < a < 1", "k", "inside"),
        ("A[k] <= c*D[k]", "A[t] <= (1 - a/2)*D[t+1]", "0 < a < 1", "k", "inside"),
        ("A[k] <= c*D[k]", "A[t] <= (1 - a/2)*D[t]", "0 < a < 2", "k", "on this region"),
        ("A[k] <= c*D[k]", "A[t] <= (1 - a/2)*D[t]", "0 < a < 1", "n", "about n alone"),
        ("A[k] <= c*D[k] + k*D[k]", "A[t] <= (1 - a/2)*D[t] + t*D[t]", "0 < a < 1", "k", "in quantities alone"),
    ],
)
def test_a_hypothesis_is_what_a_theorem_says_of_states_inside(
    claim: str, given: str, region: str, last: str, said: str
) -> None:
    other = term(claim, "done: claim by combine 1*low", "1/2 < c < 1", **{**STEPS_INSIDE, "given": {"low": claim}})
    data = term(given, "done: claim by combine 1*step", region, **ROUND, given={"step": given})
    assert check_term(data).given == ("step",)
    data["inside"] = {"step": {"term": other, "last": last}}
    if said:
        with pytest.raises(TermRefused, match=said):
            check_term(data)
    else:
        assert check_term(data).given == ("low inside of step",)
        assert "  given low inside of step: A[k] <= c*D[k]" in describe_term(check_term(data), data)
