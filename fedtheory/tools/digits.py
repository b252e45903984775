"""Numbers with the digits that are known of them."""

from __future__ import annotations

import math


def known_digits(value: float, error: float, most: int = 9) -> str:
    """Write a value that is known up to an error: significant digits, at most ``most`` and at least one, none below the error.

    >>> known_digits(0.8100004, 3e-6)
    '0.81'
    >>> known_digits(123.456789, 0.02)
    '123.5'
    """
    if not (math.isfinite(value) and value and error > 0):
        return f"{value:.{most}g}"
    count = math.floor(math.log10(abs(value))) - math.ceil(math.log10(error)) + 1 if math.isfinite(error) else 1
    return f"{value:.{min(max(count, 1), most)}g}"
