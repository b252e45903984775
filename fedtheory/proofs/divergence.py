"""Exact instances on which a method's error does not fall as fast as is asked: one-dimensional quadratics, in fractions.

Two clients have f_i(x) = a_i x^2/2 + s_i x with s_1 + s_2 = 0, so x* = 0, and the method starts at x^0 = 1 as it always does. A round is
then an affine map of the state, which is read off the method's own code. The errors y_r = x^r (with coins: the expectations of its square)
obey a linear recurrence with constant coefficients, of an order of at most the state's size and one. The shortest one follows from finitely
many terms (Berlekamp and Massey), and every root of its characteristic polynomial has a part in y_r. So y_r tends to zero if and only if all
roots lie inside the unit circle, which Schur and Cohn's recursion decides in fractions: nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fedtheory.algorithms.base import Algorithm
from fedtheory.core.errors import InvalidInput
from fedtheory.core.exact import Row, rational
from fedtheory.core.states import Layout
from fedtheory.proofs.function_class import FunctionClass
from fedtheory.proofs.members import SeparableQuadratics
from fedtheory.proofs.spectrum import require_traceable
from fedtheory.proofs.stand_ins import AnyRound
from fedtheory.running.enumeration import enumerate_outcomes

#: numbers of digits to which a square root that is no fraction is rounded upwards
ROOT_DIGITS = 12


@dataclass(frozen=True)
class DivergentQuadratics:
    """An instance on which E ||x^r - x*||^2 is not of the order rate^r; for the rate 1: does not tend to zero.

    Parameters
    ----------
    curvatures, slopes : a_i and s_i of the two clients' functions a_i x^2/2 + s_i x
    rate : the factor a round that is not kept
    order : that of the recurrence of the errors
    random : whether the errors are second moments, over coins
    """

    curvatures: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    rate: Fraction
    order: int
    random: bool

    def __str__(self) -> str:
        signs = {1: " + x", 0: "", -1: " - x"}
        functions = ", ".join(f"{a} x^2/2{signs[int(s)]}" for a, s in zip(self.curvatures, self.slopes, strict=True))
        error = "E (x^r - x*)^2" if self.random else "(x^r - x*)^2"
        said = "does not tend to 0" if self.rate == 1 else f"is not of the order ({self.rate})^r"
        return f"two clients with {functions}, from x^0 = 1: {error} {said}"


def find_divergence(
    algorithm: Algorithm, function_class: FunctionClass, rate: Fraction = Fraction(1)
) -> DivergentQuadratics | None:
    """A member of the class on which the method's squared error does not fall by the rate, or None where those that are tried show nothing.

    Tried are two quadratics on the line with curvatures mu, (L + mu)/2 and L and one minimiser, then those with mu and L and the slopes 1 and -1
    at x* (unless zeta = 0). Numbers are read as the decimals that they print as.

    Parameters
    ----------
    algorithm : with rounds that are all alike
    function_class : L-smooth, strongly convex or convex, with zeta or without; functions and start may be scaled together until zeta is met
    rate : number in (0, 1]

    Raises
    ------
    CannotTrace
        The method decides on values, draws what cannot be enumerated, or has rounds that depend on their number.
    InvalidInput
        The rate lies outside (0, 1], or the class is not convex or has conditions that are not looked at.

    Examples
    --------
    >>> print(find_divergence(GradientDescent(2.0), FunctionClass(L=1.0, mu=0.1)))
    two clients with 1 x^2/2, 1 x^2/2, from x^0 = 1: (x^r - x*)^2 does not tend to 0
    """
    plain = FunctionClass(function_class.L, function_class.mu, function_class.zeta)
    if not 0 < rate <= 1 or not function_class.convex or function_class != plain:
        raise InvalidInput(
            f"expected a rate in (0, 1] and a convex class without conditions but zeta; got the rate {rate} and {function_class}"
        )
    require_traceable(algorithm, "exact")
    method, given = rational(algorithm), rational(function_class)
    low, high = Fraction(given.mu), Fraction(given.L)
    pairs = sorted(combinations_with_replacement((low, (low + high) / 2, high), 2), reverse=True)
    cases = [(pair, (Fraction(0), Fraction(0))) for pair in pairs]
    if low > 0 and function_class.zeta != 0:
        cases += [(pair, (Fraction(1), Fraction(-1))) for pair in pairs if {*pair} <= {low, high}]
    for pair, slopes in cases:
        errors, random = _errors(method, pair, slopes)
        polynomial = shortest_recurrence(errors)
        if not all_roots_inside(polynomial, _least_modulus(rate, random)):
            return DivergentQuadratics(pair, slopes, rate, len(polynomial) - 1, random)
    return None


def _least_modulus(rate: Fraction, random: bool) -> Fraction:
    """A root of this modulus contradicts the rate: 1 for the rate 1, else a little more than the rate, or its square root."""
    if rate == 1:
        return Fraction(1)
    scale = 10**ROOT_DIGITS
    size = rate if random else Fraction(math.isqrt(rate.numerator * scale**2 // rate.denominator), scale)
    return size + Fraction(1, scale)


def _errors(method: Algorithm, curvatures: Sequence[Fraction], slopes: Sequence[Fraction]) -> tuple[Row, bool]:
    """Twice as many terms of the errors as their recurrence may have coefficients, and whether they are second moments."""
    centres = [-s / a if s else Fraction(0) for a, s in zip(curvatures, slopes, strict=True)]
    functions: Any = SeparableQuadratics(_column(curvatures), _column(centres))
    start = method.init(functions, np.array([[Fraction(1)]], dtype=object))
    layout = Layout.of(start)
    at, maps = layout.slices()["x"].start, list(_maps(method, functions, layout))
    state = np.full(layout.size + 1, Fraction(1), dtype=object)
    state[:-1] = layout.flatten(start)
    if not any(s for s in slopes):  # then the maps are linear, or the method moves away from x*
        linear = all(not any(matrix[:-1, -1]) for _, matrix in maps)
        maps = [(chance, matrix[:-1, :-1]) for chance, matrix in maps] if linear else maps
        state = state[:-1] if linear else state
    size, found = len(state), []
    if len(maps) == 1:
        for _ in range(2 * size):
            found.append(Fraction(state[at]))
            state = maps[0][1] @ state
        return found, False
    moments = np.outer(state, state)
    for _ in range(size * (size + 1)):  # a symmetric matrix has size (size + 1)/2 entries
        found.append(Fraction(moments[at, at]))
        moments = sum(chance * (matrix @ moments @ matrix.T) for chance, matrix in maps)
    return found, True


def _maps(method: Algorithm, functions: Any, layout: Layout) -> Iterator[tuple[Fraction, NDArray[Any]]]:
    """The matrices of a round on states with a 1 behind them, one an outcome of its coins, with their probabilities."""
    size = layout.size
    basis = np.full((size + 1, size), Fraction(0), dtype=object)
    basis[np.arange(1, size + 1), np.arange(size)] = Fraction(1)
    states = layout.unflatten(basis)
    any_round: Any = AnyRound()
    for chance, after in enumerate_outcomes(lambda key: method.round(functions, states, None, key), any_round):
        images = np.broadcast_to(layout.flatten(after), (size + 1, size))
        matrix = np.full((size + 1, size + 1), Fraction(0), dtype=object)
        matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, -1] = (images[1:] - images[0]).T, images[0], Fraction(1)
        yield Fraction(chance), matrix


def _column(values: Sequence[Fraction]) -> NDArray[Any]:
    found = np.empty((len(values), 1), dtype=object)
    found[:, 0] = values
    return found


def shortest_recurrence(terms: Sequence[Fraction]) -> Row:
    """The characteristic polynomial, highest power first, of the shortest recurrence of a sequence (Berlekamp, Massey).

    It is that of the whole sequence where there are at least twice as many terms as some recurrence of it has coefficients.
    """
    current, before = [Fraction(1)], [Fraction(1)]
    length, shift, last = 0, 1, Fraction(1)
    for n in range(len(terms)):
        miss = sum((current[i] * terms[n - i] for i in range(min(length, len(current) - 1) + 1)), Fraction(0))
        if miss == 0:
            shift += 1
            continue
        changed = current + [Fraction(0)] * max(0, len(before) + shift - len(current))
        for i, value in enumerate(before):
            changed[i + shift] -= miss / last * value
        if 2 * length <= n:
            length, before, last, shift = n + 1 - length, current, miss, 1
        else:
            shift += 1
        current = changed
    return (current + [Fraction(0)] * (length + 1))[: length + 1]


def all_roots_inside(polynomial: Sequence[Fraction], radius: Fraction = Fraction(1)) -> bool:
    """Whether all roots of a polynomial, highest power first, lie in the open disc of the radius (Schur, Cohn); exact.

    Examples
    --------
    >>> all_roots_inside([Fraction(1), Fraction(-1, 2)]), all_roots_inside([Fraction(1), Fraction(-1)])
    (True, False)
    """
    p = [value * radius ** (len(polynomial) - 1 - k) for k, value in enumerate(polynomial)]
    while len(p) > 1:
        if not abs(p[-1]) < abs(p[0]):
            return False
        p = [(p[0] * a - p[-1] * b) / p[0] for a, b in zip(p[:-1], reversed(p[1:]), strict=True)]
    return True
