"""Where a method ends on one instance, exactly: the recurrence that the successive differences of a field obey, and its roots.

Where one round is an affine map s -> M s + v, the differences y_k of a field between rounds k and k + 1 obey a linear recurrence
p(E) y = 0 with constant coefficients, found in fractions. Its roots are the multipliers that this start excites in this field, and no others:
all inside the unit circle, and the field converges, to its start plus

    sum_k y_k = sum_j p_j (y_0 + ... + y_{j-1}) / p(1);

one outside, and the field diverges. Both are decided by the Schur-Cohn test in fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm, State
from fedtheory.core.arrays import Array
from fedtheory.core.errors import CannotTrace, InvalidInput, require
from fedtheory.core.exact import Row, solve_exactly
from fedtheory.core.problem import Problem
from fedtheory.core.randomness import ScriptedKey
from fedtheory.core.states import Layout
from fedtheory.proofs.facts import show_expression, write_fact
from fedtheory.proofs.spectrum import RoundMap, round_map
from fedtheory.proofs.stand_ins import AnyRound
from fedtheory.proofs.symbolic import agree, symbols

#: largest state that is followed
_MOST_NUMBERS = 40


@dataclass(frozen=True, eq=False)
class Recurrence:
    """A field's start, its first differences, and the recurrence that all of them obey.

    Parameters
    ----------
    start : fractions, the entries of the field
    differences : of rounds 0, 1, ..., each with one fraction an entry
    polynomial : fractions
        p_0, ..., p_l with p_l = 1; sum_j p_j y_{k+j} = 0 for every k.
    """

    start: tuple[Fraction, ...]
    differences: tuple[tuple[Fraction, ...], ...]
    polynomial: tuple[Fraction, ...]

    @cached_property
    def squared(self) -> tuple[Fraction, ...]:
        """The polynomial whose roots are the squares: by Graeffe, from p(t) p(-t)."""
        p = self.polynomial
        product = multiply_polynomials(p, [c if k % 2 == 0 else -c for k, c in enumerate(p)])
        return tuple(c / product[-1] for c in product[::2])

    def limit(self) -> tuple[Fraction, ...]:
        """Where the field converges to, if it does.

        Raises
        ------
        InvalidInput
            One is a root, so that the differences do not sum to anything.
        """
        at_one = sum(self.polynomial, Fraction(0))
        if at_one == 0:
            raise InvalidInput("one is a multiplier: the field does not converge")
        total = [Fraction(0)] * len(self.start)
        partial = [Fraction(0)] * len(self.start)
        for j, coefficient in enumerate(self.polynomial):
            total = [t + coefficient * s for t, s in zip(total, partial, strict=True)]
            if j < len(self.differences):
                partial = [s + y for s, y in zip(partial, self.differences[j], strict=True)]
        return tuple(s + t / at_one for s, t in zip(self.start, total, strict=True))

    def stays_bounded(self) -> bool:
        """Whether no root is double, and one is none; so that with no root above one in modulus the field stays bounded. It is a fact."""
        sympy = require("sympy", "double roots")
        p = sympy.Poly([sympy.Rational(c.numerator, c.denominator) for c in self.polynomial[::-1]], sympy.Symbol("t"))
        simple = sympy.gcd(p, p.diff()).degree() <= 0 and p.eval(1) != 0
        if simple:
            write_fact("comparison", f"all roots are simple, and none is 1, of {show_expression(p.as_expr())}")
        return bool(simple)

    def _steps(self, count: int) -> list[tuple[Fraction, ...]]:
        """The differences of so many rounds."""
        length = len(self.polynomial) - 1
        found = list(self.differences[:length])
        while len(found) < count:
            before = list(zip(self.polynomial, found[-length:], strict=False))
            found.append(tuple(-sum((c * y[i] for c, y in before), Fraction(0)) for i in range(len(self.start))))
        return found[:count]

    def largest_step(self, later: int) -> Fraction:
        """The largest entry of a difference among those after ``later`` rounds, as many as the recurrence is long."""
        steps = self._steps(later + len(self.polynomial) - 1)[later:]
        return max(abs(entry) for step in steps for entry in step)

    def largest_value(self, count: int) -> Fraction:
        """The largest entry of the field in so many rounds."""
        entries = zip(self.start, *self._steps(count), strict=True)
        return max((abs(value) for entry in entries for value in itertools.accumulate(entry)), default=Fraction(0))

    def largest_modulus(self) -> float:
        """The largest modulus of a root, in floats."""
        roots = np.roots([float(c) for c in self.polynomial[::-1]])
        return float(np.abs(roots).max(initial=0.0))

    def find_squared_modulus(self) -> Fraction | None:
        """The square of the largest modulus of a root, where it is that of a rational factor: r^2 of t - r, c of t^2 + bt + c."""
        sympy = require("sympy", "factors of polynomials")
        polynomial = sympy.Poly(
            [sympy.Rational(c.numerator, c.denominator) for c in self.polynomial[::-1]], sympy.Symbol("t")
        )
        ends = [(factor.degree(), factor.monic().eval(0)) for factor, _ in polynomial.factor_list()[1]]
        moduli = [
            abs(Fraction(int(end.p), int(end.q))) ** (2 if degree == 1 else 1) for degree, end in ends if degree <= 2
        ]
        return next((modulus for modulus in moduli if _find_side(self.squared, modulus) is None), None)


def follow_field(algorithm: Algorithm, problem: Problem, x0: Array, field: str = "x") -> Recurrence:
    """The recurrence of a field from one start; that rounds are affine is checked in symbols, and is a fact.

    Parameters
    ----------
    problem : unbatched, in fractions
    x0 : object array ``(d,)`` of fractions

    Raises
    ------
    CannotTrace
        The method decides on values, or the state is too large.
    InvalidInput
        A round is not affine, or there is no such field.
    """
    found = round_map(algorithm, problem, x0)
    if found.layout.size > _MOST_NUMBERS:
        raise CannotTrace(f"the state has {found.layout.size} numbers; at most {_MOST_NUMBERS} are followed exactly")
    where = found.layout.slices()
    if field not in where:
        raise InvalidInput(f"the state has no array {field!r}; its arrays are {', '.join(where)}")
    state = to_fractions(found.layout.flatten(algorithm.init(problem, x0[None, :])))
    rows = [[(j, c) for j, c in enumerate(to_fractions(row)) if c != 0] for row in found.matrix]
    offset = to_fractions(found.offset)
    require_affine(algorithm, problem, found)
    start = tuple(state[where[field]])
    new = [sum((c * state[j] for j, c in row), v) for row, v in zip(rows, offset, strict=True)]
    delta = [a - b for a, b in zip(new, state, strict=True)]
    differences: list[tuple[Fraction, ...]] = []
    for _ in range(2 * found.layout.size + 1):
        differences.append(tuple(delta[where[field]]))
        delta = [sum((c * delta[j] for j, c in row), Fraction(0)) for row in rows]
    return Recurrence(start, tuple(differences), _shortest(differences, found.layout.size))


def to_fractions(values: Iterable[Any]) -> list[Fraction]:
    """Whole numbers, fractions and SymPy's rational numbers as fractions.

    Raises
    ------
    CannotTrace
        One is something else, as a float is.
    """
    found = []
    for value in values:
        if isinstance(value, int | Fraction):
            found.append(Fraction(value))
        elif getattr(value, "is_Rational", False):
            found.append(Fraction(int(value.p), int(value.q)))
        else:
            raise CannotTrace(f"{value!r} is no fraction; give the problem as object arrays of fractions")
    return found


def require_affine(algorithm: Algorithm, problem: Problem, found: RoundMap) -> None:
    """Check that every round takes any state s, in symbols, to M s + v.

    Raises
    ------
    CannotTrace
        What a round does depends on its number.
    InvalidInput
        A round is not this map.
    """
    layout: Layout = found.layout
    anything = np.asarray(symbols(f"s1:{layout.size + 1}"), dtype=object).reshape(-1)
    after = layout.flatten(play_any_round(algorithm, problem, layout.unflatten(anything)))
    if not agree(after, found.matrix @ anything + found.offset):
        raise InvalidInput(f"one round of {type(algorithm).__name__} is not affine on {problem.name!r}")


def play_any_round(algorithm: Algorithm, problem: Problem, state: State) -> Any:
    """The state after one round, whatever its number.

    Raises
    ------
    CannotTrace
        What a round does depends on its number.
    """
    number: Any = AnyRound()
    key: Any = ScriptedKey(number)
    return algorithm.round(problem, state, None, key)


def _shortest(differences: Sequence[Sequence[Fraction]], size: int) -> tuple[Fraction, ...]:
    """The shortest recurrence of a sequence that obeys one of length ``size``: it holds for all k if it does for k = 0, ..., size."""
    for length in range(size + 1):
        equations: list[Row] = []
        right: list[Fraction] = []
        for k in range(size + 1):
            for entry in range(len(differences[0])):
                equations.append([differences[k + j][entry] for j in range(length)])
                right.append(-differences[k + length][entry])
        if length == 0:
            if not any(right):
                return (Fraction(1),)
            continue
        solution = solve_exactly(equations, right)
        if solution is not None:
            return (*solution, Fraction(1))
    raise InvalidInput("the differences obey no recurrence as long as the state: rounds are not one affine map")


def lies_within(polynomial: Sequence[Fraction], radius: Fraction) -> bool | None:
    """Whether all roots are below a radius in modulus (True), or one is above it (False); None where the largest lie on the circle.

    It is decided exactly, and what is decided is a fact.
    """
    outcome = _find_side(polynomial, radius)
    said = {True: "all roots are below", False: "a root is above", None: "the largest roots are equal to"}[outcome]
    shown = show_expression(" + ".join(f"{c} t^{k}" for k, c in enumerate(polynomial) if c))
    write_fact("comparison", f"{said} {radius} in modulus, of {shown}")
    return outcome


def _find_side(polynomial: Sequence[Fraction], radius: Fraction) -> bool | None:
    """What `lies_within` answers. Of radius 0 the circle is the number 0: without a root beside it the largest lie on it."""
    if radius == 0:
        return False if any(polynomial[:-1]) else None
    p = [c * radius**k for k, c in enumerate(polynomial)]
    outcome = _schur_cohn(p)
    return _beside_the_circle(p) if outcome is None else outcome


def _schur_cohn(p: Sequence[Fraction]) -> bool | None:
    """Whether all roots lie inside the unit circle, or one outside; None where the test does not tell.

    Of p with |p_0| < |p_l| one root more lies inside than of (p_l p - p_0 p*)/t, p* the reversed one, and as many on the circle and outside. Where
    |p_0| = |p_l| the moduli multiply to one.
    """
    p = list(p)
    while len(p) > 1:
        first, last = p[0], p[-1]
        if abs(first) >= abs(last):
            return False if abs(first) > abs(last) else None
        p = [(last * a - first * b) / last for a, b in zip(p, p[::-1], strict=True)][1:]
    return True


def _beside_the_circle(p: Sequence[Fraction]) -> bool | None:
    """The same where there may be roots on the circle (None, if there are and none lies outside).

    Those are common roots of p and the reversed polynomial, as are pairs t, 1/t. Without them a test that does not tell says that one lies outside.
    """
    sympy = require("sympy", "roots on a circle")
    t = sympy.Symbol("t")
    whole, turned = (sympy.Poly([sympy.Rational(c.numerator, c.denominator) for c in cs], t) for cs in (p[::-1], p))
    common = sympy.gcd(whole, turned)
    if not _lies_on_the_circle(common, t):
        return False
    rest = to_fractions(sympy.quo(whole, common).all_coeffs()[::-1])
    return None if _schur_cohn(rest) else False


def _lies_on_the_circle(common: Any, t: Any) -> bool:
    """Whether all roots have modulus one, where 1/t is a root with every root t: those of t^m q(t + 1/t) do if q's are real, in [-2, 2]."""
    sympy = require("sympy", "roots on a circle")
    for end in (1, -1):
        while common.degree() > 0 and common.eval(end) == 0:
            common = sympy.quo(common, sympy.Poly(t - end, t))
    coefficients = common.all_coeffs()
    half = len(coefficients) // 2
    powers = [sympy.Poly(2, t), sympy.Poly(t, t)]  # t^j + 1/t^j in s = t + 1/t
    for _ in range(half):
        powers.append(sympy.Poly(t, t) * powers[-1] - powers[-2])
    q = sympy.Poly(coefficients[half], t)
    for j in range(1, half + 1):
        q = q + powers[j] * coefficients[half - j]
    if q.degree() <= 0:
        return True
    simple = q.sqf_part()
    return bool(simple.count_roots(-2, 2) == simple.degree())


def without_roots(polynomial: Sequence[Fraction], roots: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The polynomial divided by (t - root) as often as that goes."""
    p = list(polynomial)
    for root in roots:
        while len(p) > 1 and value_at(p, root) == 0:
            quotient, carry = list[Fraction](), Fraction(0)
            for c in p[:0:-1]:
                carry = c + carry * root
                quotient.append(carry)
            p = quotient[::-1]
    return tuple(p)


def value_at(polynomial: Sequence[Fraction], at: Fraction) -> Fraction:
    """The polynomial's value."""
    total = Fraction(0)
    for c in reversed(polynomial):
        total = total * at + c
    return total


def multiply_polynomials(p: Sequence[Fraction], q: Sequence[Fraction]) -> list[Fraction]:
    """The product of two polynomials."""
    found = [Fraction(0)] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found
