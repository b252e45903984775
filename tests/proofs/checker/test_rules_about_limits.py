"""The rules about limits and sums on made-up sequences: what they accept, and what they refuse, with the reason."""

from __future__ import annotations

import re
from typing import Any

import pytest
from small_terms import term

from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.refusals import TermRefused

#: about quantities X and Y, of which hypotheses are given
FALLS = {"falls": "X[t+1] <= X[t]", "along": "X[t] -> a as t in J"}
STEPS = {**FALLS, "step": "Y[t] <= X[t] - X[t+1]", "sign": "0 <= Y[t]"}
NEAR = {**STEPS, "near": "Z[t] -> 0 as t in J", "next": "Z[t+1] <= 2*Z[t] + Y[t]", "far": "0 <= Z[t]"}
SUMMED = {"sign": "0 <= Y[t]", "sum": "a*sum(Y[t], t, 0, T) <= X[0]"}
LIMITS = {
    "a sequence that does not rise and has a cluster point": (
        "X[t] -> a as t",
        "done: claim by monotone falls, along",
        FALLS,
    ),
    "its bound": ("a <= X[t]", "done: claim by monotone falls, along", FALLS),
    "differences of what has a limit": (
        "Y[t] -> 0 as t",
        "all: X[t] -> a as t by monotone falls, along\ndone: claim by squeeze sign, step, all",
        STEPS,
    ),
    "the next round along a set of rounds": (
        "Z[t+1] -> 0 as t in J",
        """
        all:   X[t] -> a as t      by monotone falls, along
        steps: Y[t] -> 0 as t      by squeeze sign, step, all
        above: 0 <= Z[t+1]         by combine 1*far(t=t+1)
        done:  claim               by squeeze above, next, near, steps
        """,
        NEAR,
    ),
    "an inequality in the limit": (
        "a <= 5",
        "done: claim by limit of low, along",
        {"low": "X[t] <= 5 + 1/(t + 1)*0", "along": "X[t] -> a as t in J"},
    ),
    "terms of a sum that stays below a number": ("Y[t] -> 0 as t", "done: claim by series sign, sum", SUMMED),
}
LIMITS["a power of what is above zero"] = (
    "0 <= X[t]**(a/2)",
    "done: claim by combine",
    {"above": "0 < X[t]"},
)
ORDERED = {"all": "X[t] <= Y[t]"}
LIMITS["a multiplier of factors that are at least zero in each case"] = (
    "(X[t] - a)**2*X[t] <= (X[t] - a)**2*Y[t]",
    """
    done: claim by cases X[t] - a: combine ((X[t] - a)*(X[t] - a))*all; combine ((a - X[t])*(a - X[t]))*all
    """,
    ORDERED,
)
NO_LIMITS = {
    "a multiplier with a factor of any sign": (
        "(X[t] - a)*X[t]**2 <= (X[t] - a)*X[t]*Y[t]",
        "done: claim by combine ((X[t] - a)*X[t])*all",
        ORDERED,
        "a multiplier of all that is never negative",
    ),
    "a power of what may be zero": (
        "0 <= X[t]**(a/2)",
        "done: claim by combine",
        {"above": "0 <= X[t]"},
        "a base above zero",
    ),
    "a sequence that may rise": (
        "X[t] -> a as t",
        "done: claim by monotone rises, along",
        {"rises": "X[t] <= X[t+1]", "along": FALLS["along"]},
        "expected X[t+1] <= X[t]",
    ),
    "a limit along some rounds, said of all": (
        "X[t] -> a as t",
        "low: X[t] <= X[t] by combine\ndone: claim by squeeze low, low, along",
        FALLS,
        "limits as t",
    ),
    "another limit": ("X[t] -> 2*a as t", "done: claim by monotone falls, along", FALLS, "-> a as t"),
    "the next round of a limit along some rounds": (
        "a <= 5",
        "done: claim by limit of low, along",
        {"low": "X[t+1] <= 5", "along": FALLS["along"]},
        "nothing that speaks of t",
    ),
    "limits along different sets": (
        "a <= 5",
        "done: claim by limit of low, along, other",
        {"low": "X[t] + Y[t] <= 5", "along": FALLS["along"], "other": "Y[t] -> 0 as t in I"},
        "one set of rounds",
    ),
    "the square of what has a limit": (
        "a**2 <= 5",
        "done: claim by limit of low, along",
        {"low": "X[t]**2 <= 5", "along": FALLS["along"]},
        "first power",
    ),
    "a sum whose bound grows": (
        "Y[t] -> 0 as t",
        "done: claim by series sign, sum",
        {**SUMMED, "sum": "a*sum(Y[t], t, 0, T) <= T"},
        "does not speak of it",
    ),
    "a sum of terms of any sign": (
        "Y[t] -> 0 as t",
        "done: claim by series sign, sum",
        {**SUMMED, "sign": "-1 <= Y[t]"},
        "0 <= Y[t] -> 0",
    ),
    "a sum with a factor that may be zero": (
        "Y[t] -> 0 as t",
        "done: claim by series sign, sum",
        {**SUMMED, "sum": "(a - 1)*sum(Y[t], t, 0, T) <= X[0]"},
        "positive factor",
    ),
    "what is supposed of some rounds": (
        "X[t] -> a as t",
        "done: claim by cases n - t: monotone falls, along; monotone falls, along",
        {"falls": "X[t+1] <= X[t] + t - n", "along": FALLS["along"]},
        "expected X[t+1] <= X[t]",
    ),
    "a limit in the place of a bound": (
        "exists t in 0..T: Y[t] <= 1/(T + 1)",
        "done: claim by mean sum",
        {"sum": "sum(Y[t], t, 0, T) -> 1 as T"},
        "an inequality or equality",
    ),
    "a mean that speaks of the witness's round": (
        "exists t in 0..T: Y[t] <= X[t]/(T + 1)",
        "done: claim by mean sum",
        {"sum": "sum(Y[k], k, 0, T) <= X[t]"},
        "does not speak of t",
    ),
    "a root of what holds in one round": (
        "Y[t] <= a",
        "done: claim by root some",
        {"some": "exists t in 0..T: Y[t]**2 <= a**2"},
        "in every round",
    ),
    "a set of rounds that has a parameter's name": (
        "a <= X[t]",
        "done: claim by monotone falls, along",
        {**FALLS, "along": "X[t] -> a as t in a"},
        "a name of its own",
    ),
}


def about_sequences(claim: str, lines: str, given: dict[str, str]) -> dict[str, Any]:
    return term(claim, lines, "0 < a", given=given, quantities={name: name for name in "XYZ"})


@pytest.mark.parametrize("name", LIMITS)
def test_a_rule_about_limits_accepts_what_follows(name: str) -> None:
    claim, lines, given = LIMITS[name]
    used = {key: text for key, text in given.items() if re.search(rf"\b{key}\b", lines)} or given
    assert check_term(about_sequences(claim, lines, used)).claims == (claim,)


@pytest.mark.parametrize("name", NO_LIMITS)
def test_a_rule_about_limits_refuses_what_does_not_follow(name: str) -> None:
    claim, lines, given, reason = NO_LIMITS[name]
    with pytest.raises(TermRefused) as refusal:
        check_term(about_sequences(claim, lines, given))
    assert reason in str(refusal.value)
