"""Each rule of proof terms on statements about numbers: what it accepts, and what it refuses, by line, rule and reason."""

from __future__ import annotations

import re
from typing import Any

import pytest

from fedtheory.proofs.checker.algebra import value_of
from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.files import describe_term
from fedtheory.proofs.checker.formulas import read
from fedtheory.proofs.checker.refusals import TermRefused
from fedtheory.proofs.checker.terms import join_lines


def term(claim: str | list[str], lines: str, region: str = "", **more: Any) -> dict[str, Any]:
    """A term about numbers; a region is "0 <= y < 1, 0 < g"."""
    parameters = []
    for piece in filter(None, (p.strip() for p in region.split(","))):
        low, first, name, *rest = piece.split()
        high = rest[1] if rest else None
        parameters.append(
            {"name": name, "low": low, "high": high, "closed": [first == "<=", bool(rest) and rest[0] == "<="]}
        )
    empty: dict[str, Any] = {
        key: {} for key in ("wholes", "sequences", "functions", "given", "where", "derivations", "rests", "quantities")
    }
    rounds = {"n": 0, "k": 0, "t": 0, "T": 0}
    return {
        **empty,
        "format": "fedtheory proof 1",
        "parameters": parameters,
        "rounds": rounds,
        "states": "",
        "assumed": [],
        "drawn": [],
        "auxiliary": [],
        "claims": [claim] if isinstance(claim, str) else claim,
        "lines": join_lines(lines),
        **more,
    }


ACCEPTED = {
    "a sign": ("0 <= (1 - y)*y", "done: claim by combine", "0 <= y <= 1"),
    "an identity": ("(a - b)*(a + b) == a**2 - b**2", "done: claim by combine", "0 < a, 0 < b"),
    "a square": ("2*a*b <= a**2 + b**2", "done: claim by combine 1*square(a - b)", "0 < a, 0 < b"),
    "Bernoulli's inequality by induction": (
        "1 + n*(y - 1) <= y**n",
        "done: claim by induction n: base combine; step combine (y)*ih",
        "0 <= y",
    ),
    "a geometric sum": (
        "sum(y**k, k, 0, n) == (1 - y**(n + 1))/(1 - y)",
        "done: claim by induction n: base combine; step combine (1)*ih",
        "0 <= y < 1",
    ),
    "a sum of powers that are no whole numbers": (
        "sum((k + 1)**(-1 - g), k, 0, n) <= 1 + 1/g",
        """
        tangent: 1 + g/(k + 2) <= ((k + 2)/(k + 1))**g                              by bernoulli -1/(k + 2), -g
        all:     sum((k + 1)**(-1 - g), k, 0, n) <= 1 + 1/g - 1/(g*(n + 1)**g)      by induction n: base combine;
                                                                                    step combine (1)*ih, (1/(g*(n + 2)**g))*tangent(k=n)
        done:    claim                                                              by combine (1)*all
        """,
        "0 < g",
    ),
    "powers with one exponent": (
        "(a + b)**(2*s + 1) <= (a + 2*b)**(2*s + 1)",
        "less: a + b <= a + 2*b by combine\ndone: claim by power less, 2*s + 1",
        "0 < a, 0 < b, 0 <= s",
    ),
    "two cases": (
        "0 <= max(a - b, b - a)",
        "done: claim by cases a - b: combine 1*case; combine 1*case",
        "0 < a, 0 < b",
    ),
    "two sides in one induction": (
        "a**n*(a - 1) <= b",
        """
        both: max(a**n*(a - 1) - b, a**n - 1) <= 0
                by induction n: base (larger of: combine; combine); step (larger of: combine (a)*ih_1, 0*ih_2; combine (a)*ih_2, 0*ih_1)
        one:  a**n*(a - 1) - b <= 0                by larger in both
        done: claim                                by combine 1*one
        """,
        "0 <= a <= 1, 0 <= b",
    ),
    "a root": (
        "sqrt(a*b) <= (a + b)/2",
        """
        squares: sqrt(a*b)**2 <= ((a + b)/2)**2   by combine (1/4)*square(a - b)
        done:    claim                            by root squares
        """,
        "0 < a, 0 < b",
    ),
    "one plus x": ("1 - a <= exp(-a)", "done: claim by exponential -a", "0 < a"),
    "a limit": (
        "y**t/(1 + t) -> 0 as t",
        """
        below: 0 <= y**t/(1 + t)                by combine
        above: y**t/(1 + t) <= 0 + y**t/(1 + t) by combine
        done:  claim                            by squeeze below, above
        """,
        "0 < y <= 1",
    ),
    "strictly": ("a < a + b", "done: claim by combine", "0 < a, 0 < b"),
    "a logarithm": (
        "log(1 + a) <= a",
        """
        low:  1 + log(1 + a) <= exp(log(1 + a))   by exponential log(1 + a)
        is:   exp(log(1 + a)) == 1 + a            by logarithm 1 + a
        done: claim                               by combine 1*low, 1*is
        """,
        "0 < a",
    ),
    "a logarithm of powers, in an exponent": (
        "exp(2*log(1 + (1/2)**n)) == (1 + (1/2)**n)**2",
        """
        is:   exp(log(1 + (1/2)**n)) == 1 + (1/2)**n    by logarithm 1 + (1/2)**n
        done: claim                                     by combine (exp(log(1 + (1/2)**n)) + 1 + (1/2)**n)*is
        """,
        "",
    ),
    "what vanishes in the limit": (
        "a <= b + 1",
        "less: a - (1/2)**n <= b + 1 by combine\ndone: claim by limit as n of less",
        "0 < b, 0 < a <= b",
    ),
    "a power of what is at least one": ("1 <= (1 + a)**n", "done: claim by combine", "0 <= a"),
}

REFUSED = {
    "an induction without its base": (
        "2 + n*(y - 1) <= y**n",
        "done: claim by induction n: base combine; step combine (y)*ih",
        "0 <= y",
        "done, by induction",
    ),
    "the larger of two from one side": (
        "max(a, b) <= a + b",
        "done: claim by larger of: combine",
        "0 <= a, 0 <= b",
        "RULE; RULE",
    ),
    "what is no side of the larger": (
        "a - b <= a + b",
        "both: max(a, b) <= a + b by larger of: combine; combine\ndone: claim by larger in both",
        "0 <= a, 0 <= b",
        "one side of a line",
    ),
    "the hypothesis of an induction elsewhere": (
        "1 + n*(y - 1) <= y**n",
        "done: claim by induction n: base combine; step combine (y)*ih(n=n+1)",
        "0 <= y",
        "as it stands",
    ),
    "a negative multiplier": (
        "a <= 2*a",
        "one: 0 <= a by combine\ndone: claim by combine (-1)*one",
        "0 < a",
        "never negative",
    ),
    "a division by what may be zero": (
        "sum(y**k, k, 0, n) == (1 - y**(n + 1))/(1 - y)",
        "done: claim by combine",
        "0 <= y <= 2",
        "divisors",
    ),
    "a root of what may be negative": ("0 <= sqrt(a - b)", "done: claim by combine", "0 < a, 0 < b", "a root of"),
    "a power that is no whole number of what may be negative": (
        "0 <= (a - b)**g + 1",
        "done: claim by combine",
        "0 < a, 0 < b, 0 < g",
        "a base above zero",
    ),
    "half a round": (
        "0 <= y**n",
        "all: 0 <= y**n by combine\ndone: claim by combine 1*all(n=n/2)",
        "0 <= y",
        "whole number",
    ),
    "a round before the first": (
        "0 <= y**n",
        "all: 0 <= y**n by combine\ndone: claim by combine 1*all(n=n-1)",
        "0 <= y",
        "n >= 0",
    ),
    "less for at most": ("a < 2*a", "done: claim by combine", "0 <= a", "above zero"),
    "an equality from an inequality": (
        "a == 2*a",
        "low: a <= 2*a by combine\ndone: claim by combine 1*low",
        "0 < a",
        "equalities",
    ),
    "a case left out": (
        "1 + n*(y - 1) <= y**n",
        "done: claim by cases y - 1: combine",
        "0 <= y",
        "for 0 <= e and for e <= 0",
    ),
    "an induction inside of a case that speaks of its round": (
        "n <= 0",
        "done: claim by cases -n: combine 1*case; (induction n: base combine; step combine 1*ih)",
        "",
        "cases that do not speak of n",
    ),
    "an idle line": (
        "0 <= a",
        "idle: a <= a by combine\ndone: claim by combine",
        "0 < a",
        "a line that a later one uses",
    ),
    "another claim": ("0 <= a", "done: 0 <= 2*a by combine", "0 < a", "no line that says it"),
    "a line of its own name": ("0 <= a", "done: claim by combine 1*done", "0 < a", "a line before it"),
    "Bernoulli's inequality between 0 and 1": (
        "1 + s*x <= (1 + x)**s",
        "done: claim by bernoulli x, s",
        "0 < x, 0 < s < 1",
        "nonnegative",
    ),
    "powers with an exponent that may be negative": (
        "(a + b)**s <= (a + 2*b)**s",
        "less: a + b <= a + 2*b by combine\ndone: claim by power less, s",
        "0 < a, 0 < b, -1 < s < 1",
        "an exponent that is never negative",
    ),
    "powers of what may be negative": (
        "(a - 1)**s <= a**s",
        "less: a - 1 <= a by combine\ndone: claim by power less, s",
        "0 < a, 0 < s",
        "above zero",
    ),
    "powers the other way": (
        "(a + 2*b)**s <= (a + b)**s",
        "less: a + b <= a + 2*b by combine\ndone: claim by power less, s",
        "0 < a, 0 < b, 0 < s",
        "nonnegative",
    ),
    "a limit of what stays": (
        "a -> 0 as t",
        "low: 0 <= a by combine\nhigh: a <= a by combine\ndone: claim by squeeze low, high",
        "0 < a",
        "vanishes",
    ),
    "a limit of powers that need not fall": (
        "y**t -> 0 as t",
        "low: 0 <= y**t by combine\nhigh: y**t <= y**t by combine\ndone: claim by squeeze low, high",
        "0 < y <= 1",
        "vanishes",
    ),
    "a logarithm of what may be zero": (
        "exp(log(a)) == a",
        "done: claim by logarithm a",
        "0 <= a",
        "above zero",
    ),
    "the logarithm of another number": (
        "exp(log(1 + a)) == a",
        "done: claim by logarithm 1 + a",
        "0 < a",
        "an equality",
    ),
    "a limit of what does not vanish": (
        "a <= 1",
        "less: a - n <= 1 by combine\ndone: claim by limit as n of less",
        "0 < a <= 1",
        "vanishes",
    ),
    "a limit of less": (
        "a <= 1",
        "less: a <= 2 + (1/2)**n by combine\ndone: claim by limit as n of less",
        "0 < a <= 2",
        "not shown to be nonnegative",
    ),
    "a power of what may be below one": ("1 <= (1 - a)**n", "done: claim by combine", "0 <= a < 1", "not shown"),
    "an unknown rule": ("0 <= a", "done: claim by magic", "0 < a", "a rule"),
    "an unknown name": ("0 <= b", "done: claim by combine", "0 < a", "names that are explained"),
    "a sum that may end before it starts": (
        "0 <= sum(y**k, k, 2, n)",
        "done: claim by combine",
        "0 <= y",
        "which may be less",
    ),
    "a name with two meanings": ("0 <= n", "done: claim by combine", "0 < n", "one meaning"),
    "a round that is the witness's, in the range of the witness": (
        "exists t in 0..t: t <= n",
        "done: claim by combine",
        "",
        "stands in its range",
    ),
    "a witness before the first round": (
        "exists t in -1..T: t <= T",
        "done: claim by combine",
        "",
        "a range in which t >= 0",
    ),
    "cases that speak of the witness": (
        "exists t in 0..T: 0 <= t",
        "done: claim by cases t - 1: combine; combine",
        "",
        "cases that do not speak of t",
    ),
    "squares without a sign of the root": (
        "a <= -a",
        "sq: a**2 <= (-a)**2 by combine\ndone: claim by root sq",
        "0 < a",
        "0 <= -a",
    ),
}

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


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_rule_accepts_what_follows(name: str) -> None:
    claim, lines, region = ACCEPTED[name]
    assert check_term(term(claim, lines, region)).claims == (claim,)


@pytest.mark.parametrize("name", REFUSED)
def test_a_rule_refuses_what_does_not_follow_and_says_why(name: str) -> None:
    claim, lines, region, reason = REFUSED[name]
    with pytest.raises(TermRefused) as refusal:
        check_term(term(claim, lines, region))
    assert reason in str(refusal.value)


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
