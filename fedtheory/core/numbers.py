"""Plain numbers among hyper-parameters, which may also be arrays, symbols or functions."""

from __future__ import annotations

from fractions import Fraction
from numbers import Integral
from typing import Any

from fedtheory.core.errors import InvalidInput


def is_exactly(value: Any, number: int) -> bool:
    """Whether a hyper-parameter is this number, as a plain one or a fraction; arrays and symbols are not."""
    return isinstance(value, int | float | Fraction) and value == number


def at_least_one(name: str, value: Any) -> None:
    """Refuse a count below one."""
    if not isinstance(value, Integral) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, got {value!r}")
