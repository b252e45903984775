"""Guesses of rational functions from their values at points; whoever uses one checks it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.semidefinite.program import Matrix

#: degrees of numerator and denominator in each variable, in the order in which they are tried
SHAPES = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1), (1, 2), (2, 2), (3, 2), (2, 3), (3, 3), (4, 3), (4, 4))
COEFFICIENT_DENOMINATORS = (1, 2, 4, 12, 48)


def fit(
    field: ParameterField,
    names: Sequence[str],
    points: Sequence[Mapping[str, Fraction]],
    values: Matrix,
    accuracy: float = 1e-3,
) -> RationalFunction | None:
    """The simplest rational function of some parameters through the values, with small fractions as coefficients; or None.

    Numerator P and denominator Q are the kernel of the matrix with rows [monomials, -y monomials].
    """
    if float(np.max(np.abs(values), initial=0.0)) < 1e-6:
        return field.zero
    x = np.array([[float(point[name]) for name in names] for point in points]).reshape(len(points), len(names))
    parameters = field.parameters()
    for above, below in SHAPES:
        top, bottom = (list(itertools.product(range(d + 1), repeat=len(names))) for d in (above, below))
        if len(top) + len(bottom) > len(points) - 3:
            break
        if not names and (above, below) != (0, 0):
            break
        columns = [np.prod(x ** np.array(e), axis=1) if names else np.ones(len(points)) for e in (*top, *bottom)]
        m = np.array([c if k < len(top) else -values * c for k, c in enumerate(columns)]).T
        m = m / np.abs(m).max(axis=1, keepdims=True)
        scale = np.linalg.norm(m, axis=0)
        _, singular, right = np.linalg.svd(m / scale)
        if len(singular) > 1 and singular[-1] > accuracy * singular[0]:
            continue
        vector = right[-1] / scale
        vector = vector / vector[np.argmax(np.abs(vector))]
        for most in COEFFICIENT_DENOMINATORS:
            found = [Fraction(float(v)).limit_denominator(most) for v in vector]
            got = np.array(columns).T[:, : len(top)] @ np.array(found[: len(top)], float)
            under = np.array(columns).T[:, len(top) :] @ np.array(found[len(top) :], float)
            if np.any(under == 0):
                continue
            if np.all(np.abs(got / under - values) <= 2 * accuracy * np.maximum(np.abs(values), 1e-2)):
                sums = [field.zero, field.zero]
                for k, (coefficient, powers) in enumerate(zip(found, (*top, *bottom), strict=True)):
                    term = field.number(coefficient)
                    for name, power in zip(names, powers, strict=True):
                        term = term * parameters[name] ** power
                    sums[k >= len(top)] = sums[k >= len(top)] + term
                return sums[0] / sums[1] if sums[1] != 0 else None
    return None


def monomials(field: ParameterField, names: Sequence[str]) -> Iterator[RationalFunction]:
    """Simple monomials with simple coefficients, the simplest first."""
    parameters = field.parameters()
    powers = sorted(itertools.product((-2, -1, 0, 1, 2), repeat=len(names)), key=lambda e: sum(map(abs, e)))
    for e in powers[:60]:
        for size in (Fraction(1), Fraction(1, 2), Fraction(2), Fraction(1, 4), Fraction(4)):
            found = field.number(size)
            for name, power in zip(names, e, strict=True):
                found = found * parameters[name] ** power
            yield found
