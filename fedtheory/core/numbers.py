"""Plain numbers among hyper-parameters, which may also be arrays, symbols or functions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def is_exactly(value: Any, number: int) -> bool:
    """Whether a hyper-parameter is this number, as a plain one or a fraction; arrays and symbols are not."""
    return isinstance(value, int | float | Fraction) and value == number
