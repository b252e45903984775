"""Formulas of claims are evaluated by Python itself, a third reading besides those of instances and of the checker of proofs."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.proofs.checker.algebra import value_of
from fedtheory.proofs.checker.formulas import read

NUMBERS = {"L": Fraction(3), "r": Fraction(2, 5), "t": Fraction(2)}


def entry(name: str, k: int) -> Fraction:
    return Fraction(k * k + 1, 7) if name == "D" else Fraction(k + 3, 2)


class Indexed:
    """A quantity or sequence as Python indexes it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, k: Fraction) -> Fraction:
        assert k.denominator == 1
        return entry(self.name, int(k))


class InFractions(ast.NodeTransformer):
    """Sums as sums of a function, powers as those of fractions by whole numbers."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "sum":
            body, variable, low, high = (ast.unparse(part) for part in node.args)
            return ast.parse(f"total(lambda {variable}: {body}, {low}, {high})", mode="eval").body
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Pow):
            return ast.Call(ast.Name("power", ast.Load()), [node.left, node.right], [])
        return node


def by_python(text: str) -> Fraction:
    exact = re.sub(r"(?<![\w.])(\d+\.?\d*)", r"Q('\1')", text)
    tree = ast.fix_missing_locations(InFractions().visit(ast.parse(exact, mode="eval")))
    names: dict[str, Any] = {
        **NUMBERS,
        "Q": Fraction,
        "D": Indexed("D"),
        "s": Indexed("s"),
        "power": lambda a, b: Fraction(a) ** int(b),
        "total": lambda body, low, high: sum((body(Fraction(k)) for k in range(int(low), int(high) + 1)), Fraction(0)),
    }
    return Fraction(eval(compile(tree, "a formula", "eval"), names))


POWERS = ["r**t", "r**(t+1)", "r**(2*t-1)", "L**(-t)", "4**t", "2**(t+1)", "(r**t)**2"]
FORMULA = st.recursive(
    st.sampled_from(["L", "r", "t", "2", "1/3", "0.5", "D[t]", "D[t+1]", "D[2*t]", "s[t]", *POWERS]),
    lambda a: st.one_of(
        st.builds("({} {} {})".format, a, st.sampled_from("+-"), a),
        st.builds("{}*{}".format, a, a),
        st.builds("({})/({})".format, a, a),
        st.builds("({})**{}".format, a, st.sampled_from(["2", "3", "(-1)", "(-2)", "0"])),
        st.builds("-{}".format, a),
        st.builds("({} - {}/2)".format, a, a),
        st.builds(lambda text: f"sum({text.replace('t', 'k')}, k, 1, 3)", a.filter(lambda text: "sum" not in text)),
    ),
    max_leaves=6,
)


@given(FORMULA)
def test_a_formula_has_one_value(text: str) -> None:
    try:
        expected = by_python(text)
    except ZeroDivisionError:
        return
    tree = read(text)
    assert Sides(NUMBERS, entry, {}).value(tree) == expected
    try:
        again = by_python(value_of(tree).text())
    except ZeroDivisionError:  # of a denominator that is not zero at these numbers before it is multiplied out
        return
    assert again == expected
