"""Exponents that are quotients, such as N mu/L, in the checker's algebra: what is the same, what is not, and what numbers say of both."""

from __future__ import annotations

import math
import random

import pytest

from fedtheory.proofs.checker.algebra import multiply_exponents, value_of
from fedtheory.proofs.checker.formulas import Unreadable, read

SAME = [
    ("exp(-N*mu/L)**2", "exp(-2*N*mu/L)"),
    ("exp((N + 1)*mu/L)", "exp(N*mu/L)*exp(mu/L)"),
    ("exp(mu/L)**L", "exp(mu)"),
    ("(x**(mu/L))**(L/mu)", "x"),
    ("(x**(mu/L))**(2*L/mu)", "x**2"),
    ("exp(mu/L)**(L/(2*mu))", "sqrt(exp(1))"),
    ("1/exp(mu/L)", "exp(-mu/L)"),
    ("exp(N*mu**2/L**2)", "exp(mu**2/L**2)**N"),
    ("(L/mu)**(mu/L)", "L**(mu/L)/mu**(mu/L)"),
]
OTHERS = [
    ("exp(mu/L)", "exp(L/mu)"),
    ("exp(mu/L)", "exp(mu)/exp(L)"),
    ("exp(N*mu/L)", "exp(mu/L)"),
    ("x**(mu/L)", "x**mu/L"),
    ("exp(mu/L)*exp(L/mu)", "exp(1)"),
    ("exp(mu/L**2)", "exp(mu/L)"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_what_is_the_same_has_one_value(left: str, right: str) -> None:
    assert (value_of(read(left)) - value_of(read(right))).zero


@pytest.mark.parametrize(("left", "right"), OTHERS)
def test_what_is_not_has_others(left: str, right: str) -> None:
    assert not (value_of(read(left)) - value_of(read(right))).zero


def evaluate(text: str, numbers: dict[str, float]) -> float:
    """By Python itself; e_ is the base of exp."""
    known = {"exp": math.exp, "sqrt": math.sqrt, "e_": math.e, **numbers}
    return float(eval(text, {"__builtins__": {}}, known))


def test_texts_of_values_have_the_numbers_of_what_was_written() -> None:
    """Products of powers whose exponents are products of names and of what is divided by."""
    lots = random.Random(0)
    for _ in range(300):
        numbers = {name: lots.uniform(0.5, 1.5) for name in ("x", "mu", "L", "N")}
        pieces = []
        for _ in range(lots.randint(1, 3)):
            base = lots.choice(["x", "(mu/L)", "(x + L)", "exp(1)", "x**(mu/L)", "exp(N/L)"])
            above = "*".join(lots.choices(["mu", "L", "N", "2", "3"], k=lots.randint(1, 3)))
            below = "*".join(lots.choices(["mu", "L", "2"], k=lots.randint(1, 2)))
            pieces.append(f"({base})**({lots.choice(['', '-'])}{above}/({below}))")
        text = "*".join(pieces)
        found = value_of(read(text))
        assert evaluate(found.text(), numbers) == pytest.approx(evaluate(text, numbers)), text


def test_exponents_multiply() -> None:
    assert multiply_exponents("1/L*mu", "L*N") == "N*mu" and multiply_exponents("1/L", "1/L") == "1/L*1/L"
    assert multiply_exponents("1/L*mu", "1/mu*L") == ""


@pytest.mark.parametrize("text", ["exp(N*mu/(L + mu))", "exp(sqrt(mu/L))", "x**(1/(1 + N))"])
def test_other_exponents_are_named(text: str) -> None:
    with pytest.raises(Unreadable, match="has a sum below, or roots"):
        value_of(read(text))
