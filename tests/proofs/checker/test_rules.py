"""Each rule of proof terms on statements about numbers: what it accepts, and what it refuses, by line, rule and reason."""

from __future__ import annotations

import pytest
from small_terms import term

from fedtheory.proofs.checker.check import check_term
from fedtheory.proofs.checker.refusals import TermRefused

TWO_SUMS = """
  y:    y**k <= 1                                                   by induction k: base combine; step combine (y)*ih
  z:    z**k <= 1                                                   by induction k: base combine; step combine (z)*ih
  all:  sum(y**k, k, 0, n) + 2*sum(z**k, k, {0}, n) <= 3*(n + 1)    by induction n: base combine; step combine 1*ih, 1*y(k=n+1), 2*z(k=n+1)
  done: claim                                                       by mean all
"""

ACCEPTED = {
    "the mean of two sums": (
        "exists k in 0..n: y**k + 2*z**k <= 3",
        TWO_SUMS.format(0),
        "0 <= y <= 1, 0 <= z <= 1",
    ),
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
    "through what holds in a case": (
        "a*b <= max(a, b)**2",
        """
        done: claim by cases a - b: (through a*b <= a**2: combine (a)*case; combine 1*that);
                                    (through a*b <= b**2: combine (b)*case; combine 1*that)
        """,
        "0 < a, 0 < b",
    ),
    "the size of a number": ("0 <= abs(a - b)*abs(b - c)", "done: claim by combine", "0 < a, 0 < b, 0 < c"),
    "through two sentences": (
        "a <= a + b + c",
        "done: claim by through 0 <= b: combine; (through 0 <= c: combine; combine 1*that, 1*that2)",
        "0 < a, 0 < b, 0 < c",
    ),
    "an even power as a factor": (
        "(a - b)**2*a <= (a - b)**2*(a + 1)",
        "one: a <= a + 1 by combine\ndone: claim by combine ((a - b)**2)*one",
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
    "an induction for every value of another round": (
        "(n + k)*y**n <= n + k",
        "done: claim by induction n for every k: base combine; step combine (y)*ih_next",
        "0 <= y <= 1",
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
    "the largest of three": (
        "max(a, b, a + b) <= a + b",
        "done: claim by larger of: (larger of: combine; combine); combine",
        "0 <= a, 0 <= b",
    ),
    "a power of what is at least one": ("1 <= (1 + a)**n", "done: claim by combine", "0 <= a"),
}

REFUSED = {
    "a mean of two sums that is less": (
        "exists k in 0..n: y**k + 2*z**k <= 29/10",
        TWO_SUMS.format(0),
        "0 <= y <= 1, 0 <= z <= 1",
        "not shown to be nonnegative",
    ),
    "a mean of two sums with other weights": (
        "exists k in 0..n: 2*y**k + z**k <= 3",
        TWO_SUMS.format(0),
        "0 <= y <= 1, 0 <= z <= 1",
        "not shown to be nonnegative",
    ),
    "a mean of sums over other rounds": (
        "exists k in 0..n: y**k + 2*z**k <= 3",
        TWO_SUMS.format(1),
        "0 <= y <= 1, 0 <= z <= 1",
        "exists k in 1..n",
    ),
    "the larger of two that may both be negative": (
        "0 <= max(a - b, a - c)",
        "done: claim by combine",
        "0 < a, 0 < b, 0 < c",
        "not shown to be nonnegative",
    ),
    "the square of what is divided by zero as a factor": (
        "0 <= a",
        "one: 0 <= (b - c)**2*a by combine\ndone: claim by combine (1/(b - c))**2*one",
        "0 <= a, 0 < b, 0 < c",
        "divisors",
    ),
    "the square of a root that may not be one as a factor": (
        "0 <= -a",
        "one: b - c <= b - c + a by combine\ndone: claim by combine (sqrt(b - c)**2)*one",
        "0 <= a, 0 < b, 0 < c",
        "a root of",
    ),
    "through what does not hold": (
        "a <= b",
        "done: claim by through a <= b - 1: combine; combine 1*that",
        "0 < a, 0 < b",
        "not shown to be nonnegative",
    ),
    "through what holds in the other case": (
        "a*b <= max(a, b)**2",
        "done: claim by cases a - b: (through a*b <= b**2: combine (b)*case; combine 1*that); combine",
        "0 < a, 0 < b",
        "not shown to be nonnegative",
    ),
    "what is shown first from itself": (
        "a <= b",
        "done: claim by through a <= b: combine 1*that; combine 1*that",
        "0 < a, 0 < b",
        "a line before it",
    ),
    "what was shown inside of another line": (
        "0 <= a",
        "one: 0 <= a by through 0 <= 2*a: combine; combine (1/2)*that\ndone: claim by combine 1*that",
        "0 < a",
        "a line before it",
    ),
    "a line with the name of what is shown first": (
        "0 <= a",
        "that: 0 <= a by combine\ndone: claim by combine 1*that",
        "0 < a",
        "a name of its own",
    ),
    "an induction on the way, in a case that speaks of its round": (
        "n <= 0",
        "done: claim by cases -n: combine 1*case; (through n <= 0: (induction n: base combine; step combine 1*ih); combine 1*that)",
        "",
        "cases that do not speak of n",
    ),
    "an odd power as a factor": (
        "(a - b)**3*a <= (a - b)**3*(a + 1)",
        "one: a <= a + 1 by combine\ndone: claim by combine ((a - b)**3)*one",
        "0 < a, 0 < b",
        "never negative",
    ),
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
    "the next value of a round that an induction keeps": (
        "(n + k)*y**n <= n + k",
        "done: claim by induction n: base combine; step combine (y)*ih_next",
        "0 <= y <= 1",
        "a line before it",
    ),
    "an induction for every value of its own round": (
        "(n + k)*y**n <= n + k",
        "done: claim by induction n for every n: base combine; step combine (y)*ih_next",
        "0 <= y <= 1",
        "another round m",
    ),
    "an induction for every value of a parameter": (
        "(n + k)*y**n <= n + k",
        "done: claim by induction n for every y: base combine; step combine (y)*ih",
        "0 <= y <= 1",
        "another round m",
    ),
    "an induction for every value of a round in a case that speaks of it": (
        "(n + k)*y**n <= n + k",
        "done: claim by cases k - 3: (induction n for every k: base combine; step combine (y)*ih_next); combine",
        "0 <= y <= 1",
        "cases that do not speak of n or k",
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
