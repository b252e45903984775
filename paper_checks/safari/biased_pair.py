"""Biased participation in exact moments: the instance that denies Theorems 4 and 5 as printed, and what follows from them.

f_1 = (lam/2)(x - 1)^2 takes part, f_2 = (lam/2)(x + 1)^2 never does (`problems.biased_participation`), K = 1, no noise. With eta_c = 2 eta_s
(Theorem 4) and with eta_c = 2 etabar/lam (Theorem 5) a round takes E x to (1 - h (1 + q)) E x + 2 q h, h = lam eta_s, so that E x^r -> 2q/(1+q)
for every step, and E x^2 >= (E x)^2 never falls below 4 q^2/(1+q)^2 from a start at or beyond that.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fedtheory.algorithms import Safari
from fedtheory.claims import Assumption, Fault, Finding, holds
from fedtheory.core.randomness import ScriptedKey
from fedtheory.local.solvers import GradientSteps
from fedtheory.proofs.symbolic import is_positive, is_zero, symbols
from problems.biased_participation import FIRST_ONLY, moments, one_sided_pair, round_maps


def in_fractions(instance: Mapping[str, Any]) -> dict[str, Any]:
    """An instance in fractions; rounds stay a whole number."""
    return {name: value if name == "rounds" else Fraction(value) for name, value in instance.items()}


def in_floats(i: Mapping[str, Any]) -> dict[str, Any]:
    """The same instance with floats for fractions."""
    return {name: float(v) if isinstance(v, Fraction) else v for name, v in i.items()}


def floor_holds(ratio: int = 2) -> bool:
    """E x^{r+1} - m = (1 - h (1+q)) (E x^r - m), m = 2q/(1+q) > 0, for every h and q: with h (1+q) <= 1, E x^r >= m from x0 >= m on."""
    q, h, x = symbols("q h x", positive=True)
    s, w, b = round_maps(ratio * h, h, 1)
    m = 2 * q / (1 + q)
    return is_zero((1 - q) * s * x + q * (w * x + b) - m - (1 - h * (1 + q)) * (x - m)) and is_positive(m)


def played(
    q: Fraction, eta_c: Fraction, eta_s: Fraction, steps: int, x0: Fraction, rounds: int, lam: Fraction
) -> tuple[Any, Any]:
    """E x^R and E (x^R)^2 by the library's method: all sequences of coins, in fractions."""
    problem = one_sided_pair(Fraction(1), lam)
    method = Safari(q, GradientSteps(steps, eta_c), GradientSteps(1, eta_s))
    first = second = Fraction(0)
    for path in product([(True, q), (False, 1 - q)], repeat=rounds):
        state, weight = method.init(problem, np.array([[x0]], dtype=object)), Fraction(1)
        for r, (coin, chance) in enumerate(path):
            key: Any = ScriptedKey(r, {"communicate": coin})
            state, weight = method.round(problem, state, FIRST_ONLY.draw(2, key), key), weight * chance
        x = state.x.item()
        first, second = first + weight * x, second + weight * x * x
    return first, second


def method_has_these_moments(lam: int = 1, bias: Fraction = Fraction(0)) -> bool:
    """Whether `played` is `moments` after five rounds, K = 3, in fractions; ``bias`` is a fault."""
    q, x0, scale = Fraction(2, 5), Fraction(5, 2), Fraction(lam)
    eta_c, eta_s = Fraction(1, 7 * lam), Fraction(1, 11 * lam)
    first, second = moments(q + bias, eta_c, eta_s, 3, 5, x0, Fraction(1), scale)
    return played(q, eta_c, eta_s, 3, x0, 5, scale) == (first[-1], second[-1])


def assume_moments(lam: int) -> Assumption:
    """The recursion that a counterexample rests on is that of the library's method."""
    text = "E x and E x^2 of the recursion are those of the method, over all sequences of coins of five rounds"
    return Assumption(text, method_has_these_moments(lam), "exact arithmetic")


def moments_part(lam: int, bias: Fraction) -> Finding:
    """Part: the moments are those of the library's method."""
    return holds(
        "the method's moments",
        method_has_these_moments(lam, bias),
        "exact",
        "all 32 sequences of coins over five rounds, K = 3, played by the library's method in fractions, have the mean and the mean square of "
        "the recursion",
    )


#: a fault that the method's own moments show
BIASED = Fault("another probability in the recursion", "the method's moments", {"bias": Fraction(1, 100)})
