"""Whether what is given of any round holds in all rounds of a run on quadratics: it does where it holds at every point x.

Quantities that speak of x, of functions and of a stationary point alone are polynomials in x of degree two. So is left side less right side of a
hypothesis that is linear in them, and its largest value over all x is found by elimination, in fractions.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.claims.statements.theorems.claimed_bounds import round_of_quantity
from fedtheory.claims.statements.theorems.on_quadratics import QuadraticRun, give_functions
from fedtheory.claims.statements.theorems.played import ConcreteSpace
from fedtheory.claims.statements.theorems.posing import counts_rounds, expect_at
from fedtheory.claims.statements.theorems.sides import Sides
from fedtheory.claims.statements.theorems.theorem import Theorem
from fedtheory.claims.statements.worlds import Concrete
from fedtheory.core.errors import InvalidInput
from fedtheory.proofs.checker.formulas import Sentence, indexed
from fedtheory.proofs.every_n.vectors import Form

_Matrix = list[list[Fraction]]


def find_largest_gap(theorem: Theorem, hypothesis: Sentence, run: QuadraticRun) -> Fraction:
    """The largest left side less right side over all points, (1, x) M (1, x)^T at its maximiser.

    Raises
    ------
    InvalidInput
        It has none, or the hypothesis speaks of more than x in one round.
    """
    atoms = {ast.unparse(node) for side in hypothesis.sides for node in indexed(side)}
    rounds = {round_of_quantity(atom) for atom in atoms}
    if hypothesis.sign == "==" or len({name for name, _ in rounds}) > 1 or {k for _, k in rounds} != {0}:
        raise InvalidInput(f"{hypothesis} does not compare quantities of one round")
    if counts_rounds(theorem, hypothesis):
        raise InvalidInput(f"{hypothesis} speaks of the number of a round")
    polynomials: dict[str, Form] = {}

    def lookup(name: str, _: int) -> Form:
        if name not in polynomials:
            polynomials[name] = _write_polynomial(theorem, name, run)
        return polynomials[name]

    some_round = {name: Fraction(least) for name, least in theorem.rounds.items()}
    gap = Sides({**run.point, **some_round}, lookup, theorem.formulas).gap(hypothesis)
    return _find_maximum(_read_matrix(gap, len(run.start)))


def _write_polynomial(theorem: Theorem, name: str, run: QuadraticRun) -> Form:
    """A quantity's coefficients of 1, x_i, x_i^2 and x_i x_j, as what is linear in ``len(_monomials(d))`` values."""
    d = len(run.start)

    def at(*ones: tuple[int, int]) -> Fraction:
        x = [sum((Fraction(size) for i, size in ones if i == k), Fraction(0)) for k in range(d)]
        known: Mapping[str, Any] = {"x": Concrete((tuple(x),) * run.clients), **give_functions(run)}
        return Fraction(expect_at(theorem, [(Fraction(1), known)], name, ConcreteSpace(), run.point))

    nothing = at()
    linear = [(at((i, 1)) - at((i, -1))) / 2 for i in range(d)]
    square = [(at((i, 1)) + at((i, -1))) / 2 - nothing for i in range(d)]
    found = (
        {(0, 0): nothing} | {(0, i + 1): linear[i] for i in range(d)} | {(i + 1, i + 1): square[i] for i in range(d)}
    )
    for i in range(d):
        for j in range(i):
            found[j + 1, i + 1] = at((i, 1), (j, 1)) - nothing - linear[i] - linear[j] - square[i] - square[j]
    order = _monomials(d)
    return Form(values={order.index(key): value for key, value in found.items() if value})


def _monomials(d: int) -> list[tuple[int, int]]:
    return [(i, j) for j in range(d + 1) for i in range(j + 1)]


def _read_matrix(gap: Any, d: int) -> _Matrix:
    """M with gap = (1, x) M (1, x)^T."""
    form = gap if isinstance(gap, Form) else Form(constant=gap)
    found = [[Fraction(0)] * (d + 1) for _ in range(d + 1)]
    for k, (i, j) in enumerate(_monomials(d)):
        found[i][j] = found[j][i] = Fraction(form.values.get(k, 0)) / (1 if i == j else 2)
    found[0][0] += Fraction(form.constant)
    return found


def _find_maximum(matrix: _Matrix) -> Fraction:
    """The largest (1, x) M (1, x)^T: one coordinate after the other at its maximiser."""
    left = [row[:] for row in matrix]
    for i in range(len(left) - 1, 0, -1):
        pivot, row = left[i][i], left[i][:i]
        if pivot > 0 or (pivot == 0 and any(row)):
            raise InvalidInput("what is given does not hold at points far away")
        if pivot < 0:
            left = [[left[j][k] - row[j] * row[k] / pivot for k in range(i)] for j in range(i)]
    return left[0][0]
