"""Multipliers that are polynomials in the parameters, found at many points at once: for conclusions with room.

Where a conclusion has room, nothing forces its multipliers, and many simple ones do. With  y_c(p) = sum_k z_ck m_k(p)  for monomials m_k, the
conditions of a proof at a point are linear in z: values balance, y >= 0, and the remainder is semidefinite. One semidefinite program asks for
them at all points with the largest margin; its z is rounded on the exact solutions of the balance, and the proof is checked on the region.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from fedtheory.core.errors import SolverFailed
from fedtheory.core.exact import reduce_rows
from fedtheory.proofs.parameters.field import ParameterField, RationalFunction
from fedtheory.proofs.parameters.programs import Balanced
from fedtheory.proofs.parameters.quadratics import kernel
from fedtheory.proofs.parameters.scalings import Scaling, restore
from fedtheory.proofs.parameters.system import NamedForm, System
from fedtheory.proofs.semidefinite import solve as conic
from fedtheory.proofs.semidefinite.program import Matrix, Program

#: degrees of the monomials in turn, denominators of coefficients, and what limits multipliers, relative to the conclusion in units
DEGREES, ROUNDINGS, LARGEST = (0, 1, 2), (1, 2, 4, 12, 60, 1000, 10**5), 100.0
#: residuals of answers, which are only proposals, and the least margin that is asked for in proportion
ACCURATE, SMALLEST_MARGIN = 1e-4, 1e-7


def joint_multipliers(
    field: ParameterField,
    rows: Sequence[NamedForm],
    points: Sequence[Mapping[str, Fraction]],
    edges: Sequence[Mapping[str, Fraction]],
    systems: Sequence[System],
    places: Sequence[int],
    scalings: list[Scaling],
) -> Iterator[dict[str, RationalFunction]]:
    """Candidates for the multipliers of some rows, simple ones first.

    Parameters
    ----------
    points, systems : where the bases of the scalings are one, and the systems there in fractions
    edges : points very near the ends of the region, where multipliers are asked not to be negative and nothing else
    places : the numbers of the rows in the systems
    """
    alone = [_alone(system, places) for system in systems]
    points = [point for point, own in zip(points, alone, strict=True) if own is not None]
    systems = [system for system, own in zip(systems, alone, strict=True) if own is not None]
    known = [own for own in alone if own is not None]
    if 2 * len(known) < len(alone):
        return
    bases = {scaling.base for scaling in scalings}
    names = [name for name in field.names if name not in bases]
    parameters = field.parameters()
    for degree in DEGREES if names else DEGREES[:1]:
        powers = [e for e in itertools.product(range(degree + 1), repeat=len(names)) if sum(e) <= degree]
        powers.sort(key=sum)
        monomials = [[_power(point, names, e) for e in powers] for point in points]
        exact = _balanced(systems, places, monomials)
        if exact is None:
            continue
        start, directions = exact
        at_edges = [[_power(point, names, e) for e in powers] for point in edges]
        answer = _solve(systems, places, monomials, start, directions, known, at_edges)
        if answer is None or answer[1] < -ACCURATE:
            continue
        found = answer[0]
        tried: list[list[Fraction]] = []
        for most in ROUNDINGS:
            z = list(start)
            for value, direction in zip(found, directions, strict=True):
                near = Fraction(float(value)).limit_denominator(most)
                if near:
                    z = [a + near * b for a, b in zip(z, direction, strict=True)]
            if z in tried:
                continue
            tried.append(z)
            candidate = {}
            for c, (name, _) in enumerate(rows):
                total = field.zero
                for k, e in enumerate(powers):
                    term = field.number(z[c * len(powers) + k])
                    for parameter, power in zip(names, e, strict=True):
                        term = term * parameters[parameter] ** power
                    total = total + term
                candidate[name] = restore(field, total, name, scalings)
            yield candidate


def _power(point: Mapping[str, Fraction], names: Sequence[str], powers: Sequence[int]) -> Fraction:
    total = Fraction(1)
    for name, power in zip(names, powers, strict=True):
        total *= point[name] ** power
    return total


def _balanced(
    systems: Sequence[System], places: Sequence[int], monomials: Sequence[Sequence[Fraction]]
) -> tuple[list[Fraction], list[list[Fraction]]] | None:
    """All z with which values balance at every point: one of them, and a basis of the differences; None if there are none."""
    width = len(places) * len(monomials[0])
    equations = []
    for system, m in zip(systems, monomials, strict=True):
        for t in range(system.values):
            row = [Fraction(system.rows[c][1].values.get(t, 0)) * value for c in places for value in m]
            equations.append([*row, Fraction(system.conclusion.values.get(t, 0))])
    table, pivots = reduce_rows(equations, width)
    if any(row[-1] != 0 for row in table[len(pivots) :]):
        return None
    start = [Fraction(0)] * width
    for row, column in zip(table, pivots, strict=False):
        start[column] = row[-1]
    return start, kernel([row[:-1] for row in table[: len(pivots)]], width, Fraction(0))


def _alone(system: System, places: Sequence[int]) -> tuple[float, float] | None:
    """The largest margin at one point by itself, and what limits multipliers there, in units; None if no proof was found there."""
    exact = _balanced([system], places, [[Fraction(1)]])
    if exact is None:
        return None
    answer = _solve([system], places, [[Fraction(1)]], *exact, [(1.0, LARGEST)])
    if answer is None or answer[1] < -ACCURATE:
        return None
    return max(answer[1], SMALLEST_MARGIN), LARGEST


def _solve(
    systems: Sequence[System],
    places: Sequence[int],
    monomials: Sequence[Sequence[Fraction]],
    start: Sequence[Fraction],
    directions: Sequence[Sequence[Fraction]],
    known: Sequence[tuple[float, float]],
    edges: Sequence[Sequence[Fraction]] = (),
) -> tuple[Matrix, float] | None:
    """Coefficients of the directions with the largest margin at all points, and that margin; None if none was found.

    Unknown are the coefficients and the margin, at every point relative to what is ``known`` to be possible there; every matrix inequality is a
    block, in the balanced units of its point.
    """
    a, b = np.array(directions, float).reshape(len(directions), len(start)), np.array(start, float)
    count, k = len(directions), len(monomials[0])
    blocks: list[Matrix] = []  # (unknowns, then the constant, size, size): their sum is semidefinite
    for system, m, (margin, limit) in zip(systems, monomials, known, strict=True):
        balanced = Balanced.of(system, [system.rows[c] for c in places])
        units = balanced.rows[-1] / balanced.rows[:-1]  # multipliers in units are times these
        spread = np.zeros((len(places), len(start)))
        for c in range(len(places)):
            spread[c, c * k : (c + 1) * k] = np.array(m, float)
        along, constant = (spread @ a.T) * units[:, None], (spread @ b) * units
        for matrix in balanced.matrices:
            block = np.zeros((count + 2, *matrix.shape[1:]))
            block[:count] = np.einsum("ck,cij->kij", along, matrix[:-1])
            block[count] = -margin * np.eye(matrix.shape[1])
            block[-1] = np.einsum("c,cij->ij", constant, matrix[:-1]) - matrix[-1]
            blocks.append(block)
        size = max(1.0, float(np.abs(constant).max(initial=0.0)))
        for c in range(len(places)):
            low, high = np.zeros((count + 2, 1, 1)), np.zeros((count + 2, 1, 1))
            low[:count, 0, 0], low[-1, 0, 0] = along[c] / size, constant[c] / size
            high[:count, 0, 0], high[-1, 0, 0] = -along[c] / size, limit - constant[c] / size
            blocks += [low, high]
    for m in edges:
        for c in range(len(places)):
            own = slice(c * k, (c + 1) * k)
            along, constant = a[:, own] @ np.array(m, float), b[own] @ np.array(m, float)
            size = max(1.0, float(np.abs(along).max(initial=0.0)), abs(float(constant)))
            low = np.zeros((count + 2, 1, 1))
            low[:count, 0, 0], low[-1, 0, 0] = along / size, constant / size
            blocks.append(low)
    least = np.zeros((count + 2, 1, 1))
    least[count, 0, 0], least[-1, 0, 0] = -1, 1  # a margin of at most one
    blocks.append(least)
    program = Program(
        tuple(block.shape[1] for block in blocks),
        tuple(-block[-1] for block in blocks),
        np.zeros(0),
        tuple(block[:-1] for block in blocks),
        np.zeros((count + 1, 0)),
        np.append(np.zeros(count), -1.0),
        equations=count + 1,
    )
    try:
        found = conic.solve_program(program, tolerance=ACCURATE, solvers=("CLARABEL",))
    except SolverFailed:
        return None
    return np.asarray(found.multipliers[:count]), float(found.multipliers[count])
