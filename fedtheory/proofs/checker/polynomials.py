"""Polynomials with fractions as coefficients, as mappings from powers to coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from .reading import StepCount, spend

Powers = tuple[int, ...]  # of the parameters, of t, or of the factors
Polynomial = dict[Powers, Fraction]
At = TypeVar("At")  # what a monomial is


def add(a: Polynomial, b: Polynomial, factor: Fraction = Fraction(1)) -> Polynomial:
    """A + factor * b."""
    total = dict(a)
    add_to(total, b, factor)
    return total


def add_to(total: Polynomial, b: Polynomial, factor: Fraction = Fraction(1)) -> None:
    """Add factor * b to a polynomial, in place."""
    spend(1 + len(b), b.values(), [total[powers] for powers in b if powers in total])
    for powers, value in b.items():
        new = total.get(powers, Fraction(0)) + factor * value
        if new:
            total[powers] = new
        else:
            total.pop(powers, None)


def multiply(a: Polynomial, b: Polynomial, work: StepCount) -> Polynomial:
    """The product: of whole numbers over one denominator, which are added up before fractions are made."""
    work.spend(1 + len(a) * len(b), a.values(), b.values())
    for single, other in ((a, b), (b, a)):
        if len(single) == 1:  # nothing is added up
            ((at, factor),) = single.items()
            return {tuple(map(int.__add__, at, q)): factor * value for q, value in other.items() if factor and value}
    (first, below_first), (second, below_second) = whole_numbers(a), whole_numbers(b)
    total: dict[Powers, int] = {}
    for p, x in first.items():
        for q, y in second.items():
            powers = tuple(map(int.__add__, p, q))
            total[powers] = total.get(powers, 0) + x * y
    below = below_first * below_second
    return {powers: Fraction(value, below) for powers, value in total.items() if value}


def whole_numbers(polynomial: Mapping[At, Fraction]) -> tuple[dict[At, int], int]:
    """Its coefficients as whole numbers over one positive denominator."""
    below = math.lcm(*(value.denominator for value in polynomial.values()))
    return {powers: value.numerator * (below // value.denominator) for powers, value in polynomial.items()}, below


def one(width: int) -> Polynomial:
    """The number one."""
    return {(0,) * width: Fraction(1)}


def product_of(polynomials: Iterable[tuple[Polynomial, int]], width: int, work: StepCount) -> Polynomial:
    """The product of powers."""
    total = one(width)
    for polynomial, power in polynomials:
        for _ in range(power):
            total = multiply(total, polynomial, work)
    return total


def show_polynomial(polynomial: Polynomial, names: list[str]) -> str:
    """A polynomial, readable."""
    terms: list[str] = []
    for powers, value in sorted(polynomial.items(), reverse=True):
        factors = [name if p == 1 else f"{name}**{p}" for name, p in zip(names, powers, strict=True) if p]
        size = [str(abs(value))] if abs(value) != 1 or not factors else []
        sign = ("-" if value < 0 else "") if not terms else ("- " if value < 0 else "+ ")
        terms.append(sign + "*".join(size + factors))
    return " ".join(terms) or "0"
