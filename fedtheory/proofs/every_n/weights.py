"""What a proof for every number of clients says of clients with weights.

Weights k_1/N, ..., k_m/N are N clients that count equally, of whom k_i have the function f_i. Where everyone takes part in every round, and what is
drawn is drawn once for all, the k_i copies of a client do the same for ever: averages of the N are averages by the weights, and so are f, x*, the
mean in zeta and the means in a potential. Whatever is proved of every n holds for these weights; it need not be attained by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.client_weights import require_weights_meant
from fedtheory.core.errors import InvalidInput
from fedtheory.local.compression import AnyUnbiased


def count_equal_clients(weights: Sequence[Fraction]) -> tuple[int, tuple[int, ...]]:
    """N, and k_1, ..., k_m with p_i = k_i/N; the smallest N.

    Examples
    --------
    >>> count_equal_clients((Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)))
    (10, (5, 3, 2))
    """
    total = math.lcm(*(w.denominator for w in weights))
    return total, tuple(int(w * total) for w in weights)


def require_proofs_for_weights(method: Algorithm, weights: Sequence[Fraction]) -> None:
    """Refuse a method of which copies of a client would not do the same, or that is stated for clients that count equally.

    Raises
    ------
    InvalidInput
        With the reason, and what to do.
    """
    require_weights_meant(method, tuple(weights))
    for f in fields(method):  # type: ignore[arg-type]
        value = getattr(method, f.name)
        if isinstance(value, AnyUnbiased) and value.numeric_only is not None:
            raise InvalidInput(
                f"errors of {f.name} are drawn by every client for itself, so that clients of one weight are not several equal ones; "
                "leave --weights out, or ask 'fedtheory worst-case --weights' for a number of rounds"
            )
