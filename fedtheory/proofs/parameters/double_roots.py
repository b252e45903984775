"""Where the determinant of a matrix that changes along a line has a double root: a candidate for the free multiplier of a tight conclusion."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from fedtheory.core.errors import require
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction


def find_double_root(
    field: ParameterField, start: Sequence[Sequence[Any]], along: Sequence[Sequence[Any]]
) -> RationalFunction | None:
    """Return the only double root s of det(start + s along), where there is one.

    The entries are numbers of the field. Denominators are taken out row by row, which leaves a determinant of polynomials in s and the parameters.
    """
    sympy = require("sympy", "proofs for all parameters")
    ring = sympy.ring(("s_", *map(str, field.symbols)), sympy.QQ)[0]

    def with_s(polynomial: Any, power: int) -> Any:
        return ring.from_dict({(power, *powers): value for powers, value in polynomial.terms()})

    rows = []
    for at_zero, slope in zip(start, along, strict=True):
        pairs = [[(field.zero + value).element for value in pair] for pair in zip(at_zero, slope, strict=True)]
        below = reduce(lambda a, b: a.lcm(b), (value.denom for pair in pairs for value in pair))
        whole = [[value.numer * below.exquo(value.denom) for value in pair] for pair in pairs]
        rows.append([with_s(a, 0) + with_s(b, 1) for a, b in whole])
    matrix = sympy.polys.matrices.DomainMatrix(rows, (len(rows), len(rows)), ring.to_domain())
    determinant = matrix.det()
    if not determinant:
        return None
    repeated = determinant.gcd(determinant.diff(ring.gens[0]))
    if repeated.degree(ring.gens[0]) != 1:
        return None
    made = field.elements.field.ring
    constant, linear = (
        field.elements(made.from_dict({powers[1:]: value for powers, value in repeated.terms() if powers[0] == power}))
        for power in (0, 1)
    )
    return RationalFunction(field, -constant / linear)
