"""Quantities of a state: averages of numbers and of vectors, and what is no number."""

from __future__ import annotations

import re

import pytest

from fedtheory.claims import MethodStates, Theorem, state
from fedtheory.claims.checking import judge_claim
from fedtheory.claims.context import Context
from fedtheory.claims.verdict import Verdict
from fedtheory.core.errors import InvalidInput


def judged(quantity: str) -> Verdict:
    """That the quantity of a round of FedAvg is at most L^2 ||x - x*||^2: true of ||grad f(x)||^2, and false of what is positive at x*."""
    theorem = Theorem(
        region="0 < L, 0 < lr < 1/L",
        states=MethodStates("fedavg", "lr = lr, steps = 2", "L = L, mu = 0"),
        rounds={"t": 0},
        quantities={"d": "norm2(x - x_star)", "g": quantity},
        claim="g[t] <= L**2*d[t]",
        proof="done: claim by derivation",
    )
    return judge_claim(state("X-1", "a paper", "Theorem 1", "In words.", theorem), "x.py", Context())


@pytest.mark.parametrize(
    "quantity",
    [
        "norm2(mean(grad(f_i, x)))",
        "norm2(bar(grad(f_i, x)))",
        "mean(norm2(mean(grad(f_i, x))))",
        "norm2(grad(f, x))",
        "dot(grad(f, x), mean(grad(f_i, x)))",
    ],
)
def test_the_average_of_the_clients_gradients_is_that_of_f(quantity: str) -> None:
    assert judged(quantity).status == "proved"


@pytest.mark.parametrize(
    "quantity",
    [
        "mean(norm2(mean(grad(f_i, x)) - grad(f_i, x)))",
        "mean(norm2(grad(f_i, x)))",
        "bar(norm2(grad(f_i, x)))",
    ],
)
def test_gradients_of_clients_differ_from_their_average(quantity: str) -> None:
    """They do at x*, where the average is zero."""
    assert judged(quantity).status == "refuted"


@pytest.mark.parametrize(
    ("quantity", "said"),
    [
        ("norm2(grad(f_i, x) - mean(grad(f_i, x)))", "is a number of each client"),
        ("mean(norm2(grad(f_i, x))**2)", "raised to a power"),
        ("mean(norm2(x)*norm2(grad(f_i, x)))", "is multiplied"),
        ("mean(1/norm2(grad(f_i, x)))", "divided by"),
        ("mean(f_i(x))**2", "raised to a power"),
        ("norm2(f(x))", "is of vectors, and a number stands there"),
        ("dot(x, 1)", "is of vectors, and a number stands there"),
        ("f(norm2(x))", "is of vectors, and a number stands there"),
        ("f(grad(f, 3))", r"grad\(...\) in the quantity 'f\(grad\(f, 3\)\)' is of vectors"),
        ("norm2(x + 1)", "a vector and a number are added"),
        ("mean(x)", r"a number is made of it by 'norm2\(mean\(x\)\)'"),
        ("grad(f, x)", "is a vector"),
    ],
)
def test_what_is_no_number_of_the_state_is_refused(quantity: str, said: str) -> None:
    error = judged(quantity).error
    assert error is not None and error.startswith(InvalidInput.__name__)
    assert re.search(said, error)
