"""Functions and forms as the plain data of certificates and witnesses (`fedtheory.proofs.checker.certificates` reads them)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.every_n.model import Function
from fedtheory.proofs.every_n.vectors import Form, Number, Vector


def store_function(function: Function) -> dict[str, Any]:
    """Its class and evaluations.

    Raises
    ------
    InvalidInput
        A coefficient is not rational.
    """
    return {
        "L": None if function.L is None else str(Fraction(function.L)),
        "mu": str(Fraction(function.mu)),
        "shared": function.shared,
        "evaluations": [
            {"x": _parts(e.x), "g": _parts(e.g), "f": {str(t): _exact(c) for t, c in e.values().items()}}
            for e in function.evaluations
        ],
    }


def _exact(value: Number) -> str:
    if not isinstance(value, int | Fraction):
        raise InvalidInput(
            f"an exact certificate needs rational coefficients, and the round made {value!r}; give hyper-parameters as decimal numbers or "
            "fractions (not square roots or exponentials)"
        )
    return str(value)


def _parts(v: Vector) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"S": {}, "Q": {}}
    for (part, leaf), value in v.terms.items():
        found["S" if part == "mean" else "Q"][str(leaf)] = _exact(value)
    return found


def store_form(form: Form) -> dict[str, Any]:
    """Its coefficients, by matrix entries and values.

    Raises
    ------
    InvalidInput
        A coefficient is not rational.
    """
    found: dict[str, Any] = {"S": {}, "Q": {}}
    for (matrix, i, j), value in form.gram.items():
        found[matrix][f"{i},{j}"] = _exact(value)
    found["f"] = {str(t): _exact(value) for t, value in form.values.items()}
    found["1"] = _exact(form.constant)
    return found
