"""A quantity's formula is evaluated on vectors of clients by what its signs mean, in a second reading that shares nothing with the library's."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.claims.said_by_data import FunctionOfRun, concrete
from fedtheory.claims.statements.theorems.played import ConcreteSpace
from fedtheory.claims.statements.theorems.quantities import evaluate_quantity
from fedtheory.core.errors import InvalidInput

N = 3
#: f_i(x) = a_i ||x||^2/2 + <b_i, x>
A = np.array([[Fraction(2)], [Fraction(1, 2)], [Fraction(-1)]])
B = np.array([[Fraction(1), Fraction(0)], [Fraction(-2), Fraction(3)], [Fraction(1, 3), Fraction(1)]])
VECTORS = {
    "x": np.array([[Fraction(1), Fraction(-2)]] * N),
    "x_star": np.array([[Fraction(1, 2), Fraction(5)]] * N),
    "u_i": np.array([[Fraction(k + 1, 2), Fraction(3 - k * k)] for k in range(N)]),
    "v_i": np.array([[Fraction(-k), Fraction(1, k + 1)] for k in range(N)]),
}
NUMBERS = {"L": Fraction(3), "a": Fraction(-1, 5)}


def value(x: Any) -> Any:
    return (A[: len(x), 0] * (x * x).sum(-1) / 2) + (B[: len(x)] * x).sum(-1)


def slope(x: Any) -> Any:
    return A * x + B


class NotANumber(Exception):
    """A number of each client is left, or there is a vector."""


def read(text: str) -> Fraction:
    """The value where vectors are arrays (n, d), numbers of each client (n,), and an average is NumPy's."""
    names = dict(NUMBERS, **VECTORS) | {
        "norm2": lambda u: (u * u).sum(-1),
        "dot": lambda u, v: (u * v).sum(-1),
        "mean": average,
        "bar": average,
        "f_i": value,
        "f": lambda x: value(x).mean(),
        "grad": lambda f, x: slope(x) if f is value else np.broadcast_to(slope(x).mean(0), x.shape),
        "Q": Fraction,
    }
    exact = re.sub(r"(?<![\w.])(\d+)", r"Q(\1)", text)
    found = eval(compile(ast.parse(exact, mode="eval"), "a quantity", "eval"), {}, names)
    if np.ndim(found) == 1 and all(entry == found[0] for entry in found):
        return found[0]  # of vectors that all clients have in common
    if np.ndim(found):
        raise NotANumber
    return found


def average(thing: Any) -> Any:
    return np.broadcast_to(thing.mean(0), thing.shape) if np.ndim(thing) == 2 else np.mean(thing)


VECTOR = st.recursive(
    st.sampled_from([*VECTORS, "grad(f_i, x)", "grad(f, x)", "grad(f_i, u_i)"]),
    lambda u: st.one_of(
        st.builds("({} {} {})".format, u, st.sampled_from("+-"), u),
        st.builds("{}*{}".format, st.sampled_from(["2", "a", "(a + L)"]), u),
        st.builds("{}/L".format, u),
        st.builds("(-{})".format, u),
        st.builds("{}({})".format, st.sampled_from(["mean", "bar"]), u),
        st.builds("grad(f_i, {})".format, u),
    ),
    max_leaves=4,
)
NUMBER = st.recursive(
    st.one_of(
        st.builds("norm2({})".format, VECTOR),
        st.builds("dot({}, {})".format, VECTOR, VECTOR),
        st.builds("f_i({})".format, VECTOR),
        st.sampled_from(["f(x)", "f(x_star)", "L", "a", "7"]),
    ),
    lambda a: st.one_of(
        st.builds("({} {} {})".format, a, st.sampled_from("+-*/"), a),
        st.builds("mean({})".format, a),
        st.builds("{}**2".format, a),
        st.builds("(-{})".format, a),
    ),
    max_leaves=4,
)


def library(text: str) -> Any:
    rows = {name: concrete(v, N) for name, v in VECTORS.items()}
    of_clients = FunctionOfRun(value, slope)
    f = SimpleNamespace(
        at=lambda x: (of_clients.at(x)[0].averaged(None), of_clients.at(x)[1]),  # type: ignore[union-attr]
        of_each=lambda x: False,
    )
    return evaluate_quantity(text, ConcreteSpace(), {**rows, **NUMBERS, "f_i": of_clients, "f": f})


@given(st.one_of(NUMBER, st.builds("mean({})".format, NUMBER), VECTOR))
def test_a_quantity_has_the_value_of_its_formula_or_is_refused(text: str) -> None:
    """What the library refuses may have a value; where it gives one, it is this."""
    try:
        found = library(text)
    except (InvalidInput, ZeroDivisionError):
        return
    assert found == read(text)


@given(
    st.builds(
        "mean({} {} {})".format,
        *[st.builds("norm2({})".format, VECTOR)] * 1,
        st.sampled_from("+-"),
        st.builds("f_i({})".format, VECTOR),
    )
)
def test_averages_of_sums_have_a_value(text: str) -> None:
    assert library(text) == read(text)
