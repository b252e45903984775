"""Exact proofs at single points: a solver's multipliers turned into fractions that prove the conclusion."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.core.exact import solve_exactly
from fedtheory.proofs.parameters.derivation import check_at_point
from fedtheory.proofs.parameters.programs import Balanced, cheapest
from fedtheory.proofs.parameters.system import System
from fedtheory.proofs.semidefinite.program import Matrix

#: by how much the remainder is kept away from the boundary in turn, and denominators of multipliers
PROOF_MARGINS = (1e-2, 1e-3, 1e-4, 1e-5, 0.0, -1e-9, -1e-7)
#: with each the multipliers of least sum are asked for; in the end any, which an interior point method finds in the middle of all there are
ASKED = (*((margin, 1.0) for margin in PROOF_MARGINS), (0.0, 0.0))
MULTIPLIER_DENOMINATORS = (1, 2, 6, 12, 60, 250, 1000, 10**4, 10**6)


def prove_at_point(system: System) -> dict[str, Fraction] | None:
    """Multipliers by name that prove the conclusion at this point, or None.

    With a margin they are rounded inside the feasible set; without one on the face that the kernel of the remainder spans. Where no remainder is
    definite, those of least sum lie on the boundary, and rounded ones beside it: then those in the middle are rounded.
    """
    for margin, weight in ASKED:
        found = cheapest(system, system.rows, np.full(len(system.rows), weight), margin)
        if found is None:
            continue
        for denominator in MULTIPLIER_DENOMINATORS:
            for face in (False, True) if margin <= 0 else (False,):
                exact = _rounded(system, found, denominator, face)
                if exact is not None and check_at_point(system, exact):
                    return {name: value for (name, _), value in zip(system.rows, exact, strict=True) if value != 0}
    return None


def _rounded(system: System, found: Matrix, denominator: int, face: bool) -> list[Fraction] | None:
    """Fractions near the multipliers whose values balance exactly, and (face) that keep the kernel of the remainder."""
    near = [Fraction(float(v)).limit_denominator(denominator) if v > 1e-7 else Fraction(0) for v in found]
    used = [k for k, v in enumerate(found) if v > 1e-7]
    if not used:
        return near
    equations: list[tuple[list[Any], Any]] = [
        ([system.rows[k][1].values.get(t, 0) for k in used], system.conclusion.values.get(t, 0))
        for t in range(system.values)
    ]
    if face:
        equations += _kernel_equations(system, found, used)
    left = [
        Fraction(right) - sum((Fraction(a) * near[k] for a, k in zip(row, used, strict=True)), Fraction(0))
        for row, right in equations
    ]
    change = (
        solve_exactly([[Fraction(a) for a in row] for row, _ in equations], left)
        if equations
        else [Fraction(0)] * len(used)
    )
    if change is None:
        return None
    for k, value in zip(used, change, strict=True):
        near[k] += value
    return near


def _kernel_equations(system: System, found: Matrix, used: Sequence[int]) -> list[tuple[list[Any], Any]]:
    """Z n = 0 for the kernel of the floats' remainder, in echelon form with small fractions."""
    balanced = Balanced.of(system, system.rows)
    exact = [system.matrices(form)[:2] for _, form in system.rows]
    goal = system.matrices(system.conclusion)[:2]
    equations: list[tuple[list[Any], Any]] = []
    for block, m, unit in zip(balanced.blocks, balanced.matrices, balanced.leaves, strict=True):
        if block > 1:
            continue
        z = np.tensordot(found * balanced.rows[-1] / balanced.rows[:-1], m[:-1], 1) - m[-1]
        sizes, vectors = np.linalg.eigh(z)
        kernel = vectors[:, sizes < 1e-5 * max(1.0, sizes[-1])].T * unit
        for direction in _echelon(kernel) if len(kernel) else []:
            n = [Fraction(float(v)).limit_denominator(200) for v in direction]
            for i in range(len(n)):
                row = [sum(exact[k][block][i][j] * n[j] for j in range(len(n))) for k in used]
                equations.append((row, sum(goal[block][i][j] * n[j] for j in range(len(n)))))
    return equations


def _echelon(m: Matrix) -> Matrix:
    """Reduced row echelon form of floats."""
    m, done = m.copy(), 0
    for column in range(m.shape[1]):
        if done == len(m):
            break
        k = done + int(np.argmax(np.abs(m[done:, column])))
        if abs(m[k, column]) < 1e-6:
            continue
        m[[done, k]] = m[[k, done]]
        m[done] /= m[done, column]
        for i in range(len(m)):
            if i != done:
                m[i] -= m[i, column] * m[done]
        done += 1
    return m[:done]
