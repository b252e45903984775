"""Certificates with numbers as derivations without parameters, so that both are written for Rocq by the same code.

A certificate's inequalities are those of `fedtheory.proofs.checker.certificates`; its slack matrices are taken apart into squares here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.core.errors import NotAvailable
from fedtheory.proofs.checker.certificates import Linear, check, pair, read_form, read_functions
from fedtheory.proofs.checker.derivations import DERIVATION_FORMAT, Reader
from fedtheory.proofs.checker.ranges import CheckedRegion, FactorSum
from fedtheory.proofs.checker.reading import read_number
from fedtheory.proofs.rocq.derivations import Derivation
from fedtheory.proofs.rocq.squares import split_into_squares


class NumericDerivation(Derivation):
    """A certificate, which its own checker accepted, as a derivation; its squares may have numbers of any length."""

    def checked(self) -> CheckedRegion:
        """No parameters."""
        return CheckedRegion((), [])

    def make_reader(self) -> Reader:
        """Numbers as text, or exact ones."""
        return _ExactReader(0)


class _ExactReader(Reader):
    def number(self, value: Any) -> FactorSum:
        """An exact number of any length is one already."""
        if isinstance(value, Fraction):
            return {(): value} if value else {}
        return super().number(value)


def as_derivation(certificate: Mapping[str, Any]) -> NumericDerivation:
    """The certificate as a derivation: the weighted sum of its objectives is at most its bound.

    Raises
    ------
    Refused
        The checker of certificates does not accept it.
    NotAvailable
        It compares different clients' vectors with each other, or has equations, which derivations do not.
    """
    data = dict(certificate)
    bound = check(data)
    if data.get("equations") or any(f.get("shared") for f in (data, *data.get("functions", {}).values())):
        raise NotAvailable(
            "a certificate with equations, or with a function that clients share, is not written for Rocq"
        )
    functions = read_functions(data)
    conclusion: Linear = {("1",): -bound}
    for goal in data["objectives"]:
        _add(conclusion, read_form(goal["form"]), read_number(goal["weight"]))
    hypotheses = {name: read_form(form) for name, form in data["hypotheses"].items()}
    left, multipliers = dict(conclusion), dict[str, Fraction]()
    for name, value in data["multipliers"].items():
        size = read_number(value)
        row, word = hypotheses.get(name), name.split()[0]
        _add(left, pair(name, functions, Fraction(0)) if row is None else row, -size)
        big_l, mu = functions[word][1:3] if row is None else (None, 0)
        multipliers[name] = size if big_l is None else size / (2 * (big_l - mu))
    stated = {"interpolation": data, **data.get("functions", {})}
    found = {
        "format": DERIVATION_FORMAT,
        "parameters": [],
        "factors": [],
        "mean": data["mean"],
        "deviation": data["deviation"],
        "functions": {name: {key: f[key] for key in ("L", "mu", "evaluations")} for name, f in stated.items()},
        "hypotheses": {name: _store(form) for name, form in hypotheses.items()},
        "conclusion": _store(conclusion),
        "multipliers": multipliers,
        "constant": left.get(("1",), Fraction(0)),
        "pivots": {matrix: _squares(matrix, left) for matrix in ("S", "Q")},
    }
    return NumericDerivation(found)


def _add(to: Linear, form: Linear, factor: Fraction) -> None:
    for key, value in form.items():
        to[key] = to.get(key, Fraction(0)) + factor * value


def _store(form: Linear) -> dict[str, Any]:
    found: dict[str, Any] = {"S": {}, "Q": {}, "f": {}, "1": form.get(("1",), Fraction(0))}
    for key, value in form.items():
        if key[0] != "1" and value:
            found[key[0]][",".join(map(str, key[1:]))] = value
    return found


def _squares(matrix: str, left: Linear) -> list[dict[str, Any]]:
    """Pivots and rows whose squares are what a block lacks to zero."""
    entries = {
        (key[1], key[2]): -value / (1 + (key[1] != key[2])) for key, value in left.items() if key[0] == matrix and value
    }
    leaves = sorted({leaf for entry in entries for leaf in entry})
    z = [[entries.get((min(i, j), max(i, j)), Fraction(0)) for j in leaves] for i in leaves]
    squares = []
    for pivot, row in split_into_squares(z):
        whole = math.lcm(*(value.denominator for value in row))
        kept = {str(leaf): value * whole for leaf, value in zip(leaves, row, strict=True) if value}
        squares.append({"pivot": pivot / whole**2, "row": kept})
    return squares
